# rustc 1.95.0 (59807616e 2026-04-14)

hot_batch:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 152
    mov rax, rdi
    test r9, r9
    je L9
    mov r15, r9
    mov r12, r8
    mov r14, rsi
    mov qword ptr [rsp + 16], rax
    shl r15, 3
    mov ebx, dword ptr [rsi + 56]
    mov r9, rdx
    bswap r9
    mov r10d, ecx
    bswap r10d
    xor r8d, r8d
    xor ebp, ebp
    mov dword ptr [rsp], eax
    mov qword ptr [rsp + 8], rax
    xor r13d, r13d
    xor r11d, r11d
    mov dword ptr [rsp + 4], ecx
    mov qword ptr [rsp + 24], rdx
    mov qword ptr [rsp + 40], r9
    mov qword ptr [rsp + 32], r10
L1:
    cmp dword ptr [r14 + 72], 7
    jbe L3
    cmp ebx, dword ptr [r14 + 60]
    je L12
    mov r13d, ebx
    bswap r13d
    shr r13d, 8
    or r13, qword ptr [r14 + 16]
    movabs rax, 216172782248001536
    or r13, rax
    mov eax, dword ptr [r12]
    mov edi, dword ptr [r12 + 4]
    mov r8d, ebx
    shl r8d, 4
    and r8d, dword ptr [r14 + 68]
    mov rsi, qword ptr [r14 + 40]
    mov qword ptr [rsi + r8], rbp
    mov qword ptr [rsi + r8 + 8], 1
    mov rsi, qword ptr [r14 + 32]
    mov qword ptr [rsi + 4*r8], r13
    mov qword ptr [rsi + 4*r8 + 8], 134217728
    mov qword ptr [rsi + 4*r8 + 16], r9
    mov qword ptr [rsi + 4*r8 + 24], r10
    shl rax, 32
    or rax, 134217856
    mov qword ptr [rsi + 4*r8 + 32], rax
    mov qword ptr [rsi + 4*r8 + 40], rdi
    inc ebx
    movzx ebx, bx
    inc r11
    mov r8d, 259
L2:
    add r12, 8
    inc rbp
    add r15, -8
    jne L1
    jmp L5
L3:
    mov qword ptr [rsp + 64], r8
    mov qword ptr [rsp + 48], r11
    mov qword ptr [rsp + 96], r14
    mov dword ptr [rsp + 144], ebx
    mov qword ptr [rsp + 104], r12
    mov qword ptr [rsp + 112], rdx
    mov dword ptr [rsp + 120], ecx
    mov qword ptr [rsp + 128], rbp
    mov byte ptr [rsp + 136], 8
    lea rdi, [rsp + 72]
    lea rsi, [rsp + 96]
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<blueflame::queue::send::place::in_ring::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>, blueflame::queue::send::staged::Staged<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::stage_unchecked<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#0}>::{closure#0}>@GOTPCREL]
    mov rax, qword ptr [rsp + 80]
    mov rdx, qword ptr [rsp + 88]
    cmp byte ptr [rsp + 72], 0
    je L4
    mov ecx, eax
    shr ecx, 8
    mov dword ptr [rsp], ecx
    mov rcx, rax
    shr rcx, 48
    mov qword ptr [rsp + 8], rcx
    movzx ecx, al
    cmp rcx, 23
    mov r9, qword ptr [rsp + 40]
    mov r10, qword ptr [rsp + 32]
    mov r11, qword ptr [rsp + 48]
    mov r8, qword ptr [rsp + 64]
    jne L11
    mov qword ptr [rsp + 56], rdx
    mov ecx, dword ptr [rsp + 4]
    mov rdx, qword ptr [rsp + 24]
    jmp L2
L4:
    movzx ecx, dl
    add ecx, 3
    shr ecx, 2
    add ecx, ebx
    movzx ebx, cx
    mov r11, qword ptr [rsp + 48]
    inc r11
    mov r8, rdx
    mov r13, rax
    mov ecx, dword ptr [rsp + 4]
    mov rdx, qword ptr [rsp + 24]
    mov r9, qword ptr [rsp + 40]
    mov r10, qword ptr [rsp + 32]
    jmp L2
L5:
    test r11, r11
    mov rax, qword ptr [rsp + 16]
    je L9
    mov r15, rax
    mov esi, dword ptr [r14 + 56]
    mov dword ptr [r14 + 56], ebx
    mov rax, qword ptr [r14 + 48]
    movzx ecx, bx
    bswap ecx
    mov dword ptr [rax], ecx
    cmp r11, 1
    jne L6
    movzx eax, r8b
    add eax, 3
    and eax, -4
    cmp ax, 4
    setne al
    test r8b, -2
    sete cl
    or cl, al
    cmp cl, 1
    je L7
    xor eax, eax
    test r8d, 256
    sete al
    cmp dword ptr [r14 + 4*rax + 92], 64
    jb L7
    shl esi, 4
    and esi, dword ptr [r14 + 68]
    mov rax, qword ptr [r14 + 32]
    sfence
    mov rcx, qword ptr [r14]
    movsd xmm0, qword ptr [rax + 4*rsi]
    movsd xmm1, qword ptr [rax + 4*rsi + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rax + 4*rsi + 16]
    movsd xmm2, qword ptr [rax + 4*rsi + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rax + 4*rsi + 32]
    movsd xmm3, qword ptr [rax + 4*rsi + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rax + 4*rsi + 48]
    movsd xmm4, qword ptr [rax + 4*rsi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [r14 + 8]
    mov qword ptr [r14], rcx
    jmp L8
L6:
    sfence
    mov rax, qword ptr [r14]
    mov qword ptr [rax], r13
    sfence
    xor rax, qword ptr [r14 + 8]
    mov qword ptr [r14], rax
    jmp L8
L7:
    mov rdi, r14
    mov rdx, r13
    mov rcx, r8
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L8:
    mov rax, r15
L9:
    mov byte ptr [rax], 23
L10:
    add rsp, 152
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L11:
    movabs rsi, 281470681743360
    and rsi, rax
    and eax, -65536
    mov rdi, rdx
    jmp L13
L12:
    xor eax, eax
    cmp dword ptr [r14 + 64], 0
    sete al
    lea rcx, [rax + 2*rax]
    add rcx, 18
    mov eax, 65536
    xor esi, esi
    mov rdi, qword ptr [rsp + 56]
L13:
    movzx edx, word ptr [rsp + 8]
    shl rdx, 48
    or rdx, rsi
    movzx esi, byte ptr [rsp]
    shl esi, 8
    or rsi, rax
    or rsi, rdx
    or rsi, rcx
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rsi
    mov qword ptr [rax + 8], rdi
    jmp L10

hot_batch_datagrams:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 200
    mov rbx, rdi
    test r8, r8
    je L8
    mov r12, r8
    mov r13, rcx
    mov r14, rsi
    mov qword ptr [rsp], rbx
    shl r12, 3
    mov ebp, dword ptr [rsi + 56]
    movups xmm0, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm2, xmmword ptr [rdx + 32]
    xor r15d, r15d
    movabs r10, 360287970357411840
    xor ebx, ebx
    xor ecx, ecx
    xor r9d, r9d
    mov qword ptr [rsp + 8], rdx
    movaps xmmword ptr [rsp + 64], xmm0
    movaps xmmword ptr [rsp + 48], xmm1
    movaps xmmword ptr [rsp + 32], xmm2
L1:
    cmp dword ptr [r14 + 72], 7
    jbe L3
    mov ecx, dword ptr [r14 + 60]
    sub ecx, ebp
    cmp cx, 1
    jbe L11
    mov r15d, ebp
    bswap r15d
    shr r15d, 8
    or r15, qword ptr [r14 + 16]
    or r15, r10
    mov eax, dword ptr [r13]
    mov ecx, dword ptr [r13 + 4]
    shl rax, 32
    mov r8d, ebp
    shl r8d, 4
    mov esi, dword ptr [r14 + 68]
    and esi, r8d
    mov rdi, qword ptr [r14 + 40]
    mov qword ptr [rdi + rsi], rbx
    mov qword ptr [rdi + rsi + 8], 2
    mov rdi, qword ptr [r14 + 32]
    mov qword ptr [rdi + 4*rsi], r15
    mov qword ptr [rdi + 4*rsi + 8], 134217728
    movups xmmword ptr [rdi + 4*rsi + 16], xmm0
    movups xmmword ptr [rdi + 4*rsi + 32], xmm1
    movups xmmword ptr [rdi + 4*rsi + 48], xmm2
    add r8d, 16
    and r8d, dword ptr [r14 + 68]
    or rax, 134217856
    and r8d, 1048560
    mov rsi, qword ptr [r14 + 40]
    mov qword ptr [rsi + r8], rbx
    mov qword ptr [rsi + r8 + 8], 0
    mov rsi, qword ptr [r14 + 32]
    mov qword ptr [rsi + 4*r8], rax
    mov qword ptr [rsi + 4*r8 + 8], rcx
    add ebp, 2
    movzx ebp, bp
    inc r9
    mov ecx, 261
L2:
    add r13, 8
    inc rbx
    add r12, -8
    jne L1
    jmp L5
L3:
    mov qword ptr [rsp + 24], rcx
    mov qword ptr [rsp + 16], r9
    mov qword ptr [rsp + 112], r14
    mov dword ptr [rsp + 192], ebp
    mov qword ptr [rsp + 120], r13
    movups xmm0, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm2, xmmword ptr [rdx + 32]
    lea rax, [rsp + 128]
    movups xmmword ptr [rax + 32], xmm2
    movups xmmword ptr [rax + 16], xmm1
    movups xmmword ptr [rax], xmm0
    mov qword ptr [rsp + 176], rbx
    mov byte ptr [rsp + 184], 8
    lea rdi, [rsp + 88]
    lea rsi, [rsp + 112]
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<blueflame::queue::send::place::in_ring::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::payload::Inline<&[u8; 8]>>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#0}>::{closure#0}>@GOTPCREL]
    mov rax, qword ptr [rsp + 96]
    mov rsi, qword ptr [rsp + 104]
    cmp byte ptr [rsp + 88], 0
    je L4
    cmp al, 23
    mov rdx, qword ptr [rsp + 8]
    movaps xmm0, xmmword ptr [rsp + 64]
    mov r9, qword ptr [rsp + 16]
    movaps xmm1, xmmword ptr [rsp + 48]
    movaps xmm2, xmmword ptr [rsp + 32]
    movabs r10, 360287970357411840
    mov rcx, qword ptr [rsp + 24]
    je L2
    jmp L10
L4:
    movzx edx, sil
    add edx, 3
    shr edx, 2
    add edx, ebp
    movzx ebp, dx
    mov r9, qword ptr [rsp + 16]
    inc r9
    mov r15, rax
    mov rcx, rsi
    mov rdx, qword ptr [rsp + 8]
    movaps xmm0, xmmword ptr [rsp + 64]
    movaps xmm1, xmmword ptr [rsp + 48]
    movaps xmm2, xmmword ptr [rsp + 32]
    movabs r10, 360287970357411840
    jmp L2
L5:
    test r9, r9
    mov rbx, qword ptr [rsp]
    je L8
    mov esi, dword ptr [r14 + 56]
    mov dword ptr [r14 + 56], ebp
    mov rax, qword ptr [r14 + 48]
    movzx edx, bp
    bswap edx
    mov dword ptr [rax], edx
    cmp r9, 1
    jne L6
    movzx eax, cl
    add eax, 3
    and eax, -4
    cmp ax, 4
    setne al
    test cl, -2
    sete dl
    or dl, al
    cmp dl, 1
    je L7
    xor eax, eax
    test ecx, 256
    sete al
    cmp dword ptr [r14 + 4*rax + 92], 64
    jb L7
    shl esi, 4
    and esi, dword ptr [r14 + 68]
    mov rax, qword ptr [r14 + 32]
    sfence
    mov rcx, qword ptr [r14]
    movsd xmm0, qword ptr [rax + 4*rsi]
    movsd xmm1, qword ptr [rax + 4*rsi + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rax + 4*rsi + 16]
    movsd xmm2, qword ptr [rax + 4*rsi + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rax + 4*rsi + 32]
    movsd xmm3, qword ptr [rax + 4*rsi + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rax + 4*rsi + 48]
    movsd xmm4, qword ptr [rax + 4*rsi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [r14 + 8]
    mov qword ptr [r14], rcx
    jmp L8
L6:
    sfence
    mov rax, qword ptr [r14]
    mov qword ptr [rax], r15
    sfence
    xor rax, qword ptr [r14 + 8]
    mov qword ptr [r14], rax
    jmp L8
L7:
    mov rdi, r14
    mov rdx, r15
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L8:
    mov byte ptr [rbx], 23
L9:
    mov rax, rbx
    add rsp, 200
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L10:
    mov rdx, rax
    and rdx, -256
    mov rbx, qword ptr [rsp]
    jmp L14
L11:
    movzx esi, word ptr [r14 + 64]
    test si, si
    je L12
    mov edx, dword ptr [r14 + 68]
    shr edx, 4
    inc edx
    mov eax, 19
    cmp dx, 2
    mov rbx, qword ptr [rsp]
    jb L13
    xor eax, eax
    cmp si, 1
    sete al
    mov edx, 1
    cmovne edx, ecx
    lea rax, [2*rax + 18]
    jmp L13
L12:
    mov eax, 21
    mov rbx, qword ptr [rsp]
L13:
    movzx edx, dx
    shl rdx, 32
    or rdx, 131072
    mov esi, 2
L14:
    movzx eax, al
    or rax, rdx
    mov qword ptr [rbx], rax
    mov qword ptr [rbx + 8], rsi
    jmp L9

hot_batch_list:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 280
    mov rax, rdi
    mov r14d, dword ptr [rsi + 56]
    mov byte ptr [rsp + 75], 0
    mov word ptr [rsp + 73], 0
    pxor xmm0, xmm0
    movdqu xmmword ptr [rsp + 88], xmm0
    movdqu xmmword ptr [rsp + 104], xmm0
    mov ebp, edx
    or ebp, -256
    bswap ebp
    movdqa xmmword ptr [rsp + 224], xmm0
    movdqu xmmword ptr [rsp + 236], xmm0
    movdqu xmmword ptr [rsp + 252], xmm0
    mov rbx, qword ptr [rcx]
    mov edi, dword ptr [rcx + 8]
    mov r10d, dword ptr [rcx + 20]
    mov dword ptr [rsp + 148], r10d
    mov r10, qword ptr [rcx + 12]
    mov qword ptr [rsp + 140], r10
    mov r10d, dword ptr [rcx + 24]
    mov r11d, dword ptr [rcx + 36]
    mov dword ptr [rsp + 164], r11d
    mov r11, qword ptr [rcx + 28]
    mov qword ptr [rsp + 156], r11
    mov r15d, dword ptr [rcx + 40]
    mov r11d, r15d
    mov r12d, dword ptr [rcx + 52]
    mov dword ptr [rsp + 180], r12d
    mov r12, qword ptr [rcx + 44]
    mov qword ptr [rsp + 172], r12
    mov r12, r10
    add r12, rdi
    mov r13d, dword ptr [rsp + 264]
    mov dword ptr [rsp + 56], r13d
    movdqu xmm1, xmmword ptr [rsp + 248]
    movdqu xmmword ptr [rsp + 40], xmm1
    movdqu xmmword ptr [rsp + 16], xmm0
    mov qword ptr [rsp], rsi
    mov dword ptr [rsp + 216], r14d
    mov dword ptr [rsp + 8], 0
    mov dword ptr [rsp + 12], ebp
    mov qword ptr [rsp + 60], 0
    mov dword ptr [rsp + 68], 0
    mov byte ptr [rsp + 72], -128
    mov dword ptr [rsp + 76], 1024
    movabs r13, 81064930731622400
    mov qword ptr [rsp + 80], r13
    mov dword ptr [rsp + 120], edx
    mov qword ptr [rsp + 128], rbx
    mov dword ptr [rsp + 136], edi
    mov dword ptr [rsp + 152], r10d
    mov dword ptr [rsp + 168], r15d
    mov rbx, qword ptr [rcx + 56]
    mov ecx, dword ptr [rcx + 56]
    add r15, rcx
    add r15, r12
    bswap r15
    mov qword ptr [rsp + 32], r15
    mov qword ptr [rsp + 184], rbx
    mov word ptr [rsp + 192], 4
    mov qword ptr [rsp + 200], 0
    mov byte ptr [rsp + 208], 0
    test edi, edi
    js L1
    test r10d, r10d
    js L2
    test r11d, r11d
    js L3
    test ecx, ecx
    js L4
    mov edi, dword ptr [rsi + 60]
    sub edi, r14d
    cmp di, 2
    jbe L18
    mov ecx, dword ptr [rsi + 68]
    mov edi, r14d
    shl edi, 4
    mov r11d, ecx
    and ecx, edi
    mov r10, qword ptr [rsi + 32]
    lea ebx, [4*r11 + 64]
    and ebx, 4194240
    lea r11, [r10 + rbx]
    movzx r15d, byte ptr [rsi + 122]
    mov r12d, r14d
    bswap r12d
    shr r12d, 8
    or r12, qword ptr [rsi + 16]
    movabs r13, 864691129075892224
    or r13, r12
    mov r12d, edx
    bswap r12d
    shl r15, 27
    shl r12, 32
    or r12, r15
    mov qword ptr [r10 + 4*rcx], r13
    mov qword ptr [r10 + 4*rcx + 8], r12
    movups xmm0, xmmword ptr [rsp + 72]
    movups xmm1, xmmword ptr [rsp + 88]
    movups xmm2, xmmword ptr [rsp + 104]
    movups xmmword ptr [r10 + 4*rcx + 16], xmm0
    movups xmmword ptr [r10 + 4*rcx + 32], xmm1
    movups xmmword ptr [r10 + 4*rcx + 48], xmm2
    lea r15, [r10 + 4*rcx]
    add r15, 64
    lea r12, [4*rcx + 64]
    cmp r12, rbx
    cmove r15, r10
    lea r12, [r15 + 16]
    cmp r12, r11
    cmove r12, r10
    lea r13, [r12 + 16]
    cmp r13, r11
    cmove r13, r10
    lea rbx, [r13 + 16]
    cmp rbx, r11
    cmove rbx, r10
    movdqu xmm0, xmmword ptr [rsp + 8]
    movdqu xmm1, xmmword ptr [rsp + 24]
    movups xmm2, xmmword ptr [rsp + 40]
    movups xmm3, xmmword ptr [rsp + 56]
    movdqu xmmword ptr [r15], xmm0
    movdqu xmmword ptr [r12], xmm1
    movups xmmword ptr [r13], xmm2
    movups xmmword ptr [rbx], xmm3
    add rbx, 16
    cmp rbx, r11
    cmove rbx, r10
    mov r15d, dword ptr [rsp + 140]
    mov r12, qword ptr [rsp + 128]
    bswap r12
    mov r13d, dword ptr [rsp + 136]
    shl r13, 32
    or r13, r15
    bswap r13
    mov qword ptr [rbx], r13
    mov qword ptr [rbx + 8], r12
    add rbx, 16
    cmp rbx, r11
    cmove rbx, r10
    mov r15d, dword ptr [rsp + 156]
    mov r12, qword ptr [rsp + 144]
    bswap r12
    mov r13d, dword ptr [rsp + 152]
    shl r13, 32
    or r13, r15
    bswap r13
    mov qword ptr [rbx], r13
    mov qword ptr [rbx + 8], r12
    add rbx, 16
    cmp rbx, r11
    cmove rbx, r10
    mov r15d, dword ptr [rsp + 172]
    mov r12, qword ptr [rsp + 160]
    bswap r12
    mov r13d, dword ptr [rsp + 168]
    shl r13, 32
    or r13, r15
    bswap r13
    mov qword ptr [rbx], r13
    mov qword ptr [rbx + 8], r12
    add rbx, 16
    cmp rbx, r11
    cmove rbx, r10
    mov r10d, dword ptr [rsp + 188]
    mov r11, qword ptr [rsp + 176]
    bswap r11
    mov r15d, dword ptr [rsp + 184]
    shl r15, 32
    or r15, r10
    bswap r15
    mov qword ptr [rbx], r15
    mov qword ptr [rbx + 8], r11
    mov r10, qword ptr [rsp + 200]
    mov r11d, r14d
    shl r11d, 4
    and r11d, dword ptr [rsi + 68]
    and r11d, 1048560
    mov rbx, qword ptr [rsi + 40]
    mov qword ptr [rbx + r11], r10
    mov qword ptr [rbx + r11 + 8], 3
    lea r11d, [rdi + 16]
    and r11d, dword ptr [rsi + 68]
    and r11d, 1048560
    mov rbx, qword ptr [rsi + 40]
    mov qword ptr [rbx + r11], r10
    mov qword ptr [rbx + r11 + 8], 0
    add edi, 32
    and edi, dword ptr [rsi + 68]
    and edi, 1048560
    mov r11, qword ptr [rsi + 40]
    mov qword ptr [r11 + rdi], r10
    mov qword ptr [r11 + rdi + 8], 0
    mov rdi, qword ptr [rsi + 32]
    mov rbx, qword ptr [rdi + 4*rcx]
    add r14d, 3
    movzx r14d, r14w
    mov r13d, 12
    xor ebp, ebp
    jmp L7
L1:
    lea rcx, [rsp + 128]
    jmp L5
L2:
    lea rcx, [rsp + 144]
    jmp L5
L3:
    lea rcx, [rsp + 160]
    jmp L5
L4:
    lea rcx, [rsp + 176]
L5:
    mov edi, dword ptr [rcx + 8]
    shl rdi, 32
    mov ecx, 1
    mov r10d, 2147483647
    or rcx, rdi
    cmp cl, 23
    jne L21
L6:
    mov bpl, 1
    xor r13d, r13d
    xor ebx, ebx
L7:
    mov rcx, qword ptr [rsp + 336]
    cmp dword ptr [rsi + 76], 0
    je L13
    cmp r14d, dword ptr [rsi + 60]
    je L17
    mov r10d, r14d
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs rdi, 216172782248001536
    or rdi, r10
    bswap r8
    bswap r9d
    bswap edx
    mov r10d, 1073741824
    movd xmm0, r10d
    movd xmm1, edx
    punpckldq xmm0, xmm1
    movd xmm1, r9d
    punpcklqdq xmm1, xmm0
    mov edx, r14d
    shl edx, 4
    and edx, dword ptr [rsi + 68]
    mov r9, qword ptr [rsi + 40]
    mov qword ptr [r9 + rdx], rcx
    mov qword ptr [r9 + rdx + 8], 1
    mov rcx, qword ptr [rsi + 32]
    mov qword ptr [rcx + 4*rdx], rdi
    mov qword ptr [rcx + 4*rdx + 8], 671088640
    mov qword ptr [rcx + 4*rdx + 16], r8
    movdqu xmmword ptr [rcx + 4*rdx + 24], xmm1
    mov qword ptr [rcx + 4*rdx + 40], 0
    inc r14d
    mov edx, 3
    mov ecx, r14d
L8:
    movzx r14d, cx
    mov rbx, rdi
    mov rcx, rdx
L9:
    mov edx, dword ptr [rsi + 56]
    mov dword ptr [rsi + 56], r14d
    mov rdi, qword ptr [rsi + 48]
    movzx r8d, r14w
    bswap r8d
    mov dword ptr [rdi], r8d
    test bpl, bpl
    je L10
    movzx edi, cl
    add edi, 3
    and edi, -4
    cmp di, 4
    sete dil
    test cl, -2
    setne r8b
    test dil, r8b
    je L11
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [rsi + 4*rdi + 92], 64
    jb L11
    shl edx, 4
    and edx, dword ptr [rsi + 68]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdi, qword ptr [rsi]
    movq xmm0, qword ptr [rcx + 4*rdx]
    movq xmm1, qword ptr [rcx + 4*rdx + 8]
    punpcklqdq xmm0, xmm1
    movq xmm1, qword ptr [rcx + 4*rdx + 16]
    movq xmm2, qword ptr [rcx + 4*rdx + 24]
    punpcklqdq xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*rdx + 32]
    movsd xmm3, qword ptr [rcx + 4*rdx + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rcx + 4*rdx + 48]
    movsd xmm4, qword ptr [rcx + 4*rdx + 56]
    movlhps xmm3, xmm4
    movdqa xmmword ptr [rdi], xmm0
    movdqa xmmword ptr [rdi + 16], xmm1
    movaps xmmword ptr [rdi + 32], xmm2
    movaps xmmword ptr [rdi + 48], xmm3
    sfence
    xor rdi, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdi
    jmp L12
L10:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rbx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    jmp L12
L11:
    mov rdi, rsi
    mov esi, edx
    mov rdx, rbx
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
L12:
    mov byte ptr [rax], 23
    jmp L22
L13:
    mov r12, rax
    mov r15, rsi
    mov qword ptr [rsp], rsi
    mov dword ptr [rsp + 56], r14d
    mov qword ptr [rsp + 8], r8
    mov dword ptr [rsp + 16], r9d
    mov qword ptr [rsp + 24], 0
    mov dword ptr [rsp + 32], 64
    mov dword ptr [rsp + 36], edx
    mov qword ptr [rsp + 40], rcx
    mov byte ptr [rsp + 48], 40
    lea rdi, [rsp + 224]
    mov rsi, rsp
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<blueflame::queue::send::place::in_ring::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#0}>::{closure#0}>@GOTPCREL]
    mov rdi, qword ptr [rsp + 232]
    mov rdx, qword ptr [rsp + 240]
    cmp byte ptr [rsp + 224], 0
    je L14
    movzx esi, dil
    cmp rsi, 23
    mov rax, r12
    jne L15
    mov rcx, r13
    test bpl, bpl
    mov bpl, 1
    mov rsi, r15
    je L9
    jmp L12
L14:
    movzx ecx, dl
    add ecx, 3
    shr ecx, 2
    add ecx, r14d
    mov rax, r12
    mov rsi, r15
    jmp L8
L15:
    movabs r8, -281474976710656
    and r8, rdi
    mov rcx, rdi
L16:
    movabs r9, 281470681743360
    and r9, rcx
    and edi, -65536
    and ecx, 65280
    or rcx, rsi
    or rcx, rdi
    or rcx, r9
    or rcx, r8
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
    jmp L22
L17:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea rsi, [rcx + 2*rcx]
    add rsi, 18
    mov edi, 65536
    xor ecx, ecx
    xor r8d, r8d
    jmp L16
L18:
    movzx r10d, word ptr [rsi + 64]
    test r10w, r10w
    je L19
    mov r11d, dword ptr [rsi + 68]
    shr r11d, 4
    inc r11d
    mov ecx, 19
    cmp r11w, 3
    jb L20
    xor ecx, ecx
    cmp r10w, 3
    setb cl
    cmovb edi, r10d
    lea rcx, [2*rcx + 18]
    mov r11d, edi
    jmp L20
L19:
    mov ecx, 21
L20:
    movzx edi, r11w
    shl rdi, 32
    or rdi, 196608
    mov r10d, 3
    or rcx, rdi
    cmp cl, 23
    je L6
L21:
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], r10
L22:
    add rsp, 280
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_batch_rebind:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 40
    mov rax, rdx
    mov rbx, rdi
    mov r15d, dword ptr [rsi + 56]
    mov edx, dword ptr [rsi + 60]
    sub edx, r15d
    cmp dx, 1
    jbe L5
    mov qword ptr [rsp + 8], rbx
    mov r13d, dword ptr [rax + 4]
    movzx edi, byte ptr [rsi + 122]
    mov r10d, r15d
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs rdx, 576460752924180480
    or rdx, r10
    bswap r13d
    shl rdi, 27
    shl r13, 32
    or rdi, r13
    mov ebp, dword ptr [rsi + 68]
    mov r10d, r15d
    shl r10d, 4
    mov ebx, ebp
    and ebx, r10d
    mov r14, qword ptr [rsi + 40]
    mov qword ptr [r14 + rbx], 0
    mov qword ptr [r14 + rbx + 8], 2
    mov r11, qword ptr [rsi + 32]
    mov qword ptr [r11 + 4*rbx], rdx
    mov qword ptr [r11 + 4*rbx + 8], rdi
    movaps xmm0, xmmword ptr [rip + .LCPI_0]
    movups xmmword ptr [r11 + 4*rbx + 16], xmm0
    xorps xmm0, xmm0
    movups xmmword ptr [r11 + 4*rbx + 32], xmm0
    movups xmmword ptr [r11 + 4*rbx + 48], xmm0
    lea edi, [r10 + 16]
    and edi, ebp
    and edi, 1048560
    movups xmmword ptr [r14 + rdi], xmm0
    movsd xmm1, qword ptr [rip + .LCPI_2]
    movups xmmword ptr [r11 + 4*rdi], xmm1
    movups xmmword ptr [r11 + 4*rdi + 16], xmm0
    movups xmmword ptr [r11 + 4*rdi + 32], xmm0
    movups xmmword ptr [r11 + 4*rdi + 48], xmm0
    mov qword ptr [rsp + 24], r15
    lea r14d, [r15 + 2]
    movzx r12d, r14w
    mov qword ptr [rsp + 32], r8
    mov r15d, dword ptr [r8 + 8]
    mov edi, dword ptr [rax]
    mov eax, dword ptr [rax + 8]
    shl eax, 8
    test rdi, rdi
    mov ebx, -256
    cmovne ebx, eax
    test r15d, r15d
    js L6
    mov eax, dword ptr [rsi + 60]
    sub eax, r14d
    cmp ax, 2
    jbe L7
    mov rax, rdi
    shl rax, 54
    movabs rdx, 4692816919856676864
    or rdx, rax
    movzx eax, cl
    or ebx, eax
    mov ecx, r12d
    shl ecx, 6
    lea eax, [4*rbp]
    and eax, ecx
    bswap r12d
    shr r12d, 8
    or r12, qword ptr [rsi + 16]
    mov qword ptr [rsp + 16], r9
    movabs r9, 864691129075892224
    or r9, r12
    mov r8, qword ptr [rsp + 32]
    mov rcx, qword ptr [r8]
    mov r8d, dword ptr [r8 + 12]
    mov qword ptr [r11 + rax], r9
    lea r12d, [4*rbp + 64]
    and r12d, 4194240
    or r13, 134217728
    mov qword ptr [r11 + rax + 8], r13
    movabs r9, 4398046511248
    test dil, dil
    lea rdi, [r9 + 32]
    cmove rdi, r9
    mov qword ptr [r11 + rax + 16], rdi
    bswap ebx
    mov qword ptr [r11 + rax + 24], rdx
    mov edx, eax
    add edx, 64
    cmp edx, r12d
    lea rdi, [r11 + rax + 64]
    cmove rdi, r11
    shl rbx, 32
    or rbx, 2097152
    movups xmmword ptr [r11 + rax + 32], xmm0
    movups xmmword ptr [r11 + rax + 48], xmm0
    mov qword ptr [rdi], rbx
    mov r9, r15
    bswap r9
    bswap rcx
    lea rdx, [r11 + r12]
    mov qword ptr [rdi + 8], 0
    add rdi, 16
    cmp rdi, rdx
    cmove rdi, r11
    mov qword ptr [rdi], rcx
    mov qword ptr [rdi + 8], r9
    add rdi, 16
    cmp rdi, rdx
    cmove rdi, r11
    lea r9, [rdi + 16]
    cmp r9, rdx
    cmove r9, r11
    movups xmmword ptr [rdi], xmm0
    lea rdi, [r9 + 16]
    cmp rdi, rdx
    cmove rdi, r11
    shl r15, 32
    or r15, r8
    movups xmmword ptr [r9], xmm0
    bswap r15
    mov qword ptr [rdi], r15
    mov qword ptr [rdi + 8], rcx
    add rdi, 16
    cmp rdi, rdx
    cmove rdi, r11
    movups xmmword ptr [rdi], xmm0
    add rdi, 16
    cmp rdi, rdx
    cmove rdi, r11
    movups xmmword ptr [rdi], xmm0
    add rdi, 16
    cmp rdi, rdx
    cmove rdi, r11
    movups xmmword ptr [rdi], xmm0
    shl r14d, 4
    mov ecx, dword ptr [rsi + 68]
    and r14d, ecx
    and r14d, 1048560
    mov rdx, qword ptr [rsi + 40]
    mov r8, qword ptr [rsp + 16]
    mov qword ptr [rdx + r14], r8
    mov qword ptr [rdx + r14 + 8], 3
    lea edi, [r10 + 48]
    and edi, ecx
    and edi, 1048560
    mov qword ptr [rdx + rdi], r8
    mov qword ptr [rdx + rdi + 8], 0
    add r10d, 64
    and r10d, ecx
    and r10d, 1048560
    mov qword ptr [rdx + r10], r8
    mov qword ptr [rdx + r10 + 8], 0
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rcx + rax]
    mov rax, qword ptr [rsp + 24]
    add eax, 5
    movzx r12d, ax
    mov ecx, 12
    xor edi, edi
    mov rbx, qword ptr [rsp + 8]
L1:
    mov eax, dword ptr [rsi + 56]
    mov dword ptr [rsi + 56], r12d
    mov r8, qword ptr [rsi + 48]
    bswap r12d
    mov dword ptr [r8], r12d
    test dil, dil
    je L2
    mov rdi, rsi
    mov esi, eax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    jmp L3
L2:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rdx
    sfence
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
L3:
    mov byte ptr [rbx], 23
L4:
    mov rax, rbx
    add rsp, 40
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L5:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L8
    mov eax, dword ptr [rsi + 68]
    shr eax, 4
    inc eax
    mov ecx, 19
    cmp ax, 2
    jb L9
    xor ecx, ecx
    cmp di, 1
    sete cl
    mov eax, 1
    cmovne eax, edx
    lea rcx, [2*rcx + 18]
    jmp L9
L6:
    shl r15, 32
    mov ecx, 1
    mov eax, 2147483647
    mov rbx, qword ptr [rsp + 8]
    jmp L12
L7:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L10
    shr ebp, 4
    inc ebp
    mov ecx, 19
    cmp bp, 3
    mov rbx, qword ptr [rsp + 8]
    jb L11
    xor ecx, ecx
    cmp di, 3
    setb cl
    cmovb eax, edi
    lea rcx, [2*rcx + 18]
    mov ebp, eax
    jmp L11
L8:
    mov ecx, 21
L9:
    movzx eax, ax
    shl rax, 32
    add rax, rcx
    add rax, 131072
    mov qword ptr [rbx], rax
    mov qword ptr [rbx + 8], 2
    jmp L4
L10:
    mov ecx, 21
    mov rbx, qword ptr [rsp + 8]
L11:
    movzx r15d, bp
    shl r15, 32
    or r15, 196608
    mov eax, 3
L12:
    mov edi, r15d
    or edi, ecx
    cmp dil, 23
    jne L13
    mov ecx, 8
    mov dil, 1
    jmp L1
L13:
    or rcx, r15
    mov qword ptr [rbx], rcx
    mov qword ptr [rbx + 8], rax
    jmp L4

hot_burst:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov qword ptr [rsp + 16], r8
    mov qword ptr [rsp], rdi
    cmp dword ptr [rsi + 72], 7
    jbe L9
    mov eax, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, eax
    movzx edi, di
    cmp r9, rdi
    ja L10
    mov r8d, ecx
    mov r15, qword ptr [rsi + 32]
    mov qword ptr [rsp + 8], rsi
    mov edi, dword ptr [rsi + 68]
    mov rsi, rax
    mov ecx, eax
    test r9, r9
    je L2
    mov rax, qword ptr [rsp + 8]
    mov r14, qword ptr [rax + 40]
    mov rcx, qword ptr [rsp + 16]
    lea rcx, [rcx + 8*r9]
    mov qword ptr [rsp + 24], rcx
    bswap rdx
    bswap r8d
    movabs r12, 216172782248001536
    or r12, qword ptr [rax + 16]
    xor r13d, r13d
    mov ecx, esi
L1:
    cmp r9, r13
    je L8
    mov rax, qword ptr [rsp + 16]
    lea rbp, [rax + 8*r13]
    mov r10d, ecx
    bswap r10d
    shr r10d, 8
    or r10, r12
    mov eax, dword ptr [rbp]
    mov ebx, ecx
    shl ebx, 4
    mov r11d, edi
    and r11d, ebx
    mov ebx, dword ptr [rbp + 4]
    mov qword ptr [r14 + r11], r13
    mov qword ptr [r14 + r11 + 8], 1
    mov qword ptr [r15 + 4*r11], r10
    mov qword ptr [r15 + 4*r11 + 8], 134217728
    mov qword ptr [r15 + 4*r11 + 16], rdx
    mov qword ptr [r15 + 4*r11 + 24], r8
    shl rax, 32
    or rax, 134217856
    mov qword ptr [r15 + 4*r11 + 32], rax
    mov qword ptr [r15 + 4*r11 + 40], rbx
    inc r13
    inc ecx
    movzx ecx, cx
    add rbp, 8
    cmp rbp, qword ptr [rsp + 24]
    jne L1
L2:
    mov eax, ecx
    sub eax, esi
    test ax, ax
    je L6
    mov edx, ecx
    shl edx, 4
    add edx, 1048560
    and edx, edi
    and edx, 1048560
    mov rdx, qword ptr [r15 + 4*rdx]
    mov r10, qword ptr [rsp + 8]
    mov dword ptr [r10 + 56], ecx
    mov r8, qword ptr [r10 + 48]
    movzx r9d, cx
    bswap r9d
    mov dword ptr [r8], r9d
    cmp ax, 1
    jne L3
    cmp dword ptr [r10 + 92], 63
    jbe L5
    shl esi, 4
    and esi, edi
    sfence
    mov rcx, qword ptr [r10]
    movsd xmm0, qword ptr [r15 + 4*rsi]
    movsd xmm1, qword ptr [r15 + 4*rsi + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [r15 + 4*rsi + 16]
    movsd xmm2, qword ptr [r15 + 4*rsi + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [r15 + 4*rsi + 32]
    movsd xmm3, qword ptr [r15 + 4*rsi + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [r15 + 4*rsi + 48]
    movsd xmm4, qword ptr [r15 + 4*rsi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L4
L3:
    sfence
    mov rcx, qword ptr [r10]
    mov qword ptr [rcx], rdx
    sfence
L4:
    xor rcx, qword ptr [r10 + 8]
    mov qword ptr [r10], rcx
    jmp L6
L5:
    mov ecx, 259
    mov rdi, r10
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L6:
    mov rax, qword ptr [rsp]
    mov byte ptr [rax], 23
L7:
    mov rax, qword ptr [rsp]
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L8:
    mov rax, qword ptr [rsp]
    mov byte ptr [rax], 18
    mov dword ptr [rax + 2], 1
    jmp L7
L9:
    add rsi, 72
    mov ecx, dword ptr [rsi + 16]
    mov dword ptr [rsp + 64], ecx
    movups xmm0, xmmword ptr [rsi]
    movaps xmmword ptr [rsp + 48], xmm0
    lea rdx, [rip + .Lanon]
    lea rdi, [rsp + 32]
    lea rsi, [rsp + 48]
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rdi, qword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 40]
    jmp L16
L10:
    cmp r9, 65535
    mov ecx, 65535
    cmovb rcx, r9
    mov edx, dword ptr [rsi + 64]
    test dx, dx
    je L11
    mov esi, dword ptr [rsi + 68]
    shr esi, 4
    inc esi
    cmp si, cx
    jae L12
    movzx edi, si
    shl rdi, 32
    mov edx, 19
    jmp L15
L11:
    mov edx, 21
    xor edi, edi
    jmp L14
L12:
    mov rsi, rcx
    shl rsi, 16
    cmp cx, dx
    jbe L13
    movzx edi, dx
    shl rdi, 32
    or rdi, rsi
    mov edx, 20
    jmp L14
L13:
    shl rdi, 32
    or rdi, rsi
    mov edx, 18
L14:
L15:
    or rdi, rdx
L16:
    mov rax, qword ptr [rsp]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], rcx
    jmp L7

hot_burst_fill:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 56
    mov qword ptr [rsp], rdi
    cmp dword ptr [rsi + 72], 7
    jbe L8
    mov eax, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, eax
    movzx edi, di
    cmp r9, rdi
    ja L10
    mov rdi, qword ptr [rsi + 32]
    mov r11d, dword ptr [rsi + 68]
    mov qword ptr [rsp + 8], rax
    mov ebx, eax
    test r9, r9
    je L2
    mov r14, qword ptr [rsi + 40]
    bswap rdx
    bswap ecx
    movabs r15, 216172782248001536
    or r15, qword ptr [rsi + 16]
    xor r12d, r12d
    mov rax, qword ptr [rsp + 8]
    mov ebx, eax
L1:
    mov r13d, dword ptr [r8 + 8*r12]
    mov ebp, dword ptr [r8 + 8*r12 + 4]
    mov r10d, ebx
    shl r10d, 4
    and r10d, r11d
    mov qword ptr [r14 + r10], r12
    inc r12
    mov eax, ebx
    bswap eax
    shr eax, 8
    or rax, r15
    mov qword ptr [r14 + r10 + 8], 1
    mov qword ptr [rdi + 4*r10], rax
    mov qword ptr [rdi + 4*r10 + 8], 134217728
    mov qword ptr [rdi + 4*r10 + 16], rdx
    mov qword ptr [rdi + 4*r10 + 24], rcx
    shl r13, 32
    or r13, 134217856
    mov qword ptr [rdi + 4*r10 + 32], r13
    mov qword ptr [rdi + 4*r10 + 40], rbp
    inc ebx
    movzx ebx, bx
    cmp r9, r12
    jne L1
L2:
    mov ecx, ebx
    mov r9, qword ptr [rsp + 8]
    sub ecx, r9d
    test cx, cx
    je L6
    mov eax, ebx
    shl eax, 4
    add eax, 1048560
    and eax, r11d
    and eax, 1048560
    mov rdx, qword ptr [rdi + 4*rax]
    mov dword ptr [rsi + 56], ebx
    mov rax, qword ptr [rsi + 48]
    movzx r8d, bx
    bswap r8d
    mov dword ptr [rax], r8d
    cmp cx, 1
    jne L3
    cmp dword ptr [rsi + 92], 63
    jbe L5
    shl r9d, 4
    and r9d, r11d
    sfence
    mov rax, qword ptr [rsi]
    movsd xmm0, qword ptr [rdi + 4*r9]
    movsd xmm1, qword ptr [rdi + 4*r9 + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rdi + 4*r9 + 16]
    movsd xmm2, qword ptr [rdi + 4*r9 + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rdi + 4*r9 + 32]
    movsd xmm3, qword ptr [rdi + 4*r9 + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rdi + 4*r9 + 48]
    movsd xmm4, qword ptr [rdi + 4*r9 + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    jmp L4
L3:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rdx
    sfence
L4:
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    jmp L6
L5:
    mov ecx, 259
    mov rdi, rsi
    mov esi, r9d
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L6:
    mov rax, qword ptr [rsp]
    mov byte ptr [rax], 23
L7:
    mov rax, qword ptr [rsp]
    add rsp, 56
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L8:
    add rsi, 72
    mov ecx, dword ptr [rsi + 16]
    mov dword ptr [rsp + 48], ecx
    movups xmm0, xmmword ptr [rsi]
    movaps xmmword ptr [rsp + 32], xmm0
    lea rdx, [rip + .Lanon]
    lea rdi, [rsp + 16]
    lea rsi, [rsp + 32]
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rdi, qword ptr [rsp + 16]
    mov rcx, qword ptr [rsp + 24]
L9:
    mov rax, qword ptr [rsp]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], rcx
    jmp L7
L10:
    cmp r9, 65535
    mov ecx, 65535
    cmovb rcx, r9
    mov edx, dword ptr [rsi + 64]
    test dx, dx
    je L11
    mov esi, dword ptr [rsi + 68]
    shr esi, 4
    inc esi
    cmp si, cx
    jae L12
    movzx edi, si
    shl rdi, 32
    mov edx, 19
    or rdi, rdx
    jmp L9
L11:
    mov edx, 21
    xor edi, edi
    or rdi, rdx
    jmp L9
L12:
    mov rsi, rcx
    shl rsi, 16
    cmp cx, dx
    jbe L13
    movzx edi, dx
    shl rdi, 32
    or rdi, rsi
    mov edx, 20
    or rdi, rdx
    jmp L9
L13:
    shl rdi, 32
    or rdi, rsi
    mov edx, 18
    or rdi, rdx
    jmp L9

hot_burst_frames:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    mov r8, rsi
    mov rbx, rdi
    cmp dword ptr [rsi + 76], 0
    je L10
    mov r9d, dword ptr [r8 + 56]
    mov eax, dword ptr [r8 + 60]
    sub eax, r9d
    movzx eax, ax
    cmp rcx, rax
    ja L11
    mov r13, rdx
    mov qword ptr [rsp + 8], rbx
    mov rbp, qword ptr [r8 + 32]
    mov r14, qword ptr [r8 + 40]
    mov r10d, dword ptr [r8 + 68]
    movabs rbx, 216172782281555968
    or rbx, qword ptr [r8 + 16]
    add r13, 12
    xor r12d, r12d
    movsd xmm0, qword ptr [rip + .LCPI_1]
    lea rax, [r8 + 72]
    mov qword ptr [rsp + 112], rax
    mov r15d, r9d
L1:
    cmp rcx, r12
    je L4
    mov rax, qword ptr [r13 - 12]
    movsxd r11, dword ptr [r13 - 4]
    mov edx, dword ptr [r13]
    test r11, r11
    jle L2
    mov esi, r15d
    bswap esi
    shr esi, 8
    or rsi, rbx
    bswap rax
    shl r11, 32
    or r11, rdx
    bswap r11
    mov edx, r15d
    shl edx, 4
    mov edi, r10d
    and edi, edx
    mov qword ptr [r14 + rdi], r12
    mov qword ptr [r14 + rdi + 8], 1
    mov qword ptr [rbp + 4*rdi], rsi
    mov qword ptr [rbp + 4*rdi + 8], 134217728
    movups xmmword ptr [rbp + 4*rdi + 16], xmm0
    mov qword ptr [rbp + 4*rdi + 32], r11
    mov qword ptr [rbp + 4*rdi + 40], rax
    inc r15d
    movzx r15d, r15w
    mov al, 23
    add r13, 16
    inc r12
    cmp al, 23
    je L1
    jmp L3
L2:
    mov qword ptr [rsp + 32], rax
    mov dword ptr [rsp + 40], r11d
    mov dword ptr [rsp + 44], edx
    mov qword ptr [rsp + 48], r12
    mov word ptr [rsp + 56], 2240
    lea rdi, [rsp + 16]
    lea rsi, [rsp + 32]
    mov rdx, qword ptr [rsp + 112]
    mov qword ptr [rsp + 104], r8
    mov qword ptr [rsp + 96], r9
    mov qword ptr [rsp + 88], r10
    mov qword ptr [rsp + 80], rcx
    call qword ptr [rip + <blueflame::queue::send::error::PostError>::other_size::<blueflame::transport::RawPacket<blueflame::transport::InlineNone>, blueflame::wqe::request::Request<blueflame::wqe::operations::frame::Frame, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>@GOTPCREL]
    movsd xmm0, qword ptr [rip + .LCPI_1]
    mov rcx, qword ptr [rsp + 80]
    mov r10, qword ptr [rsp + 88]
    mov r9, qword ptr [rsp + 96]
    mov r8, qword ptr [rsp + 104]
    movzx eax, byte ptr [rsp + 16]
    lea rdx, [rsp + 17]
    mov rsi, qword ptr [rdx]
    mov rdx, qword ptr [rdx + 7]
    mov qword ptr [rsp + 64], rsi
    mov qword ptr [rsp + 71], rdx
    add r13, 16
    inc r12
    cmp al, 23
    je L1
L3:
    mov rcx, qword ptr [rsp + 64]
    mov rdx, qword ptr [rsp + 71]
    mov rbx, qword ptr [rsp + 8]
    mov qword ptr [rbx + 8], rdx
    mov qword ptr [rbx + 1], rcx
    mov byte ptr [rbx], al
    jmp L9
L4:
    mov eax, r15d
    sub eax, r9d
    test ax, ax
    mov rbx, qword ptr [rsp + 8]
    je L8
    mov ecx, r15d
    shl ecx, 4
    add ecx, 1048560
    and ecx, r10d
    and ecx, 1048560
    mov rdx, qword ptr [rbp + 4*rcx]
    mov dword ptr [r8 + 56], r15d
    mov rcx, qword ptr [r8 + 48]
    movzx esi, r15w
    bswap esi
    mov dword ptr [rcx], esi
    cmp ax, 1
    jne L5
    cmp dword ptr [r8 + 96], 63
    jbe L7
    shl r9d, 4
    and r9d, r10d
    sfence
    mov rax, qword ptr [r8]
    movsd xmm0, qword ptr [rbp + 4*r9]
    movsd xmm1, qword ptr [rbp + 4*r9 + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rbp + 4*r9 + 16]
    movsd xmm2, qword ptr [rbp + 4*r9 + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rbp + 4*r9 + 32]
    movsd xmm3, qword ptr [rbp + 4*r9 + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rbp + 4*r9 + 48]
    movsd xmm4, qword ptr [rbp + 4*r9 + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    jmp L6
L5:
    sfence
    mov rax, qword ptr [r8]
    mov qword ptr [rax], rdx
    sfence
L6:
    xor rax, qword ptr [r8 + 8]
    mov qword ptr [r8], rax
    jmp L8
L7:
    mov ecx, 3
    mov rdi, r8
    mov esi, r9d
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L8:
    mov byte ptr [rbx], 23
L9:
    mov rax, rbx
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L10:
    mov eax, dword ptr [r8 + 88]
    mov dword ptr [rsp + 48], eax
    movups xmm0, xmmword ptr [r8 + 72]
    movaps xmmword ptr [rsp + 32], xmm0
    lea rdx, [rip + .Lanon]
    lea rdi, [rsp + 16]
    lea rsi, [rsp + 32]
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rax, qword ptr [rsp + 16]
    mov rdi, qword ptr [rsp + 24]
    jmp L17
L11:
    cmp rcx, 65535
    mov edi, 65535
    cmovb rdi, rcx
    mov edx, dword ptr [r8 + 64]
    test dx, dx
    je L12
    mov esi, dword ptr [r8 + 68]
    shr esi, 4
    inc esi
    cmp si, di
    jae L13
    movzx eax, si
    shl rax, 32
    mov edx, 19
    jmp L16
L12:
    mov edx, 21
    xor eax, eax
    jmp L15
L13:
    mov rsi, rdi
    shl rsi, 16
    cmp di, dx
    jbe L14
    movzx eax, dx
    shl rax, 32
    or rax, rsi
    mov edx, 20
    jmp L15
L14:
    shl rax, 32
    or rax, rsi
    mov edx, 18
L15:
L16:
    or rax, rdx
L17:
    mov qword ptr [rbx], rax
    mov qword ptr [rbx + 8], rdi
    jmp L9

hot_fire_at:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    bswap rcx
    bswap r8d
    movd xmm1, r8d
    movq xmm0, rcx
    mov ecx, edi
    bswap ecx
    shr ecx, 8
    or rcx, qword ptr [rsi + 16]
    punpcklqdq xmm0, xmm1
    movq xmm1, rcx
    por xmm1, xmmword ptr [rdx + 32]
    movq xmm2, qword ptr [r9]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movdqa xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_datagram:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_datagram_full:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    mov r8d, dword ptr [rsi + 60]
    sub r8d, edi
    cmp r8w, 1
    jbe L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movaps xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 80]
    movq xmm4, qword ptr [rcx]
    pslldq xmm4, 4
    por xmm4, xmmword ptr [rdx + 96]
    movdqa xmm5, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm5
    movdqa xmmword ptr [rcx + 4*r10], xmm0
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm5, xmm5
    movdqa xmmword ptr [rdx + r8], xmm5
    movdqa xmmword ptr [rcx + 4*r8], xmm4
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    movdqa xmmword ptr [rcx + 64], xmm4
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 80], xmm0
    movdqa xmmword ptr [rcx + 96], xmm0
    movdqa xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L3
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L4
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r8d
    add dl, dl
    add dl, 18
    jmp L4
L3:
    mov dl, 21
L4:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_fire_dynamic:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movaps xmm2, xmmword ptr [rdx + 64]
    movaps xmm4, xmmword ptr [rdx + 304]
    movq xmm3, qword ptr [rcx]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rdx + 80]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movaps xmmword ptr [rcx + 4*r8 + 32], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 48], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_entry:
    movsxd r8, dword ptr [rcx + 8]
    test r8, r8
    jle L3
    mov eax, dword ptr [rsi + 56]
    cmp eax, dword ptr [rsi + 60]
    je L4
    mov r9d, eax
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 16]
    movq xmm0, r9
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov edx, dword ptr [rcx + 12]
    mov rcx, qword ptr [rcx]
    bswap rcx
    shl r8, 32
    or r8, rdx
    bswap r8
    movq xmm2, r8
    movq xmm4, rcx
    punpcklqdq xmm2, xmm4
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, eax
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 56], eax
    mov rcx, qword ptr [rsi + 48]
    bswap eax
    mov dword ptr [rcx], eax
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rax, qword ptr [rsi]
    movdqa xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movdqa xmmword ptr [rax + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rax + 48], xmm0
    sfence
    jmp L2
L1:
    sfence
    mov rax, qword ptr [rsi]
    movq qword ptr [rax], xmm0
    sfence
L2:
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    mov byte ptr [rdi], 23
    mov rax, rdi
    ret
L3:
    push rbx
    mov rbx, rdi
    mov rsi, rcx
    call qword ptr [rip + blueflame::queue::send::shot::refuse::<blueflame::wqe::template::GatherLen<1>>@GOTPCREL]
    mov rax, rbx
    pop rbx
    ret
L4:
    xor eax, eax
    cmp dword ptr [rsi + 64], 0
    sete al
    lea eax, [rax + 2*rax]
    add eax, 18
    mov byte ptr [rdi], al
    mov dword ptr [rdi + 2], 1
    mov rax, rdi
    ret

hot_fire_frame:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    mov r8d, dword ptr [rsi + 60]
    sub r8d, edi
    cmp r8w, 1
    jbe L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movzx r8d, word ptr [rcx]
    shl r8, 48
    movabs r9, 281474976710655
    and r9, qword ptr [rdx + 56]
    or r9, r8
    movq xmm2, r9
    movdqa xmm1, xmmword ptr [rdx + 48]
    punpcklqdq xmm1, xmm2
    movdqa xmm6, xmmword ptr [rdx + 304]
    movups xmm2, xmmword ptr [rcx + 2]
    movups xmm3, xmmword ptr [rcx + 18]
    movups xmm4, xmmword ptr [rcx + 34]
    movzx edx, word ptr [rcx + 58]
    movq xmm5, qword ptr [rcx + 50]
    movd xmm7, edx
    punpcklqdq xmm5, xmm7
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm6
    movdqa xmmword ptr [rcx + 4*r10], xmm0
    movdqa xmmword ptr [rcx + 4*r10 + 16], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm6, xmm6
    movdqa xmmword ptr [rdx + r8], xmm6
    movaps xmmword ptr [rcx + 4*r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm5
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    movaps xmmword ptr [rcx + 64], xmm4
    movdqa xmmword ptr [rcx + 80], xmm5
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 96], xmm0
    movdqa xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L3
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L4
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r8d
    add dl, dl
    add dl, 18
    jmp L4
L3:
    mov dl, 21
L4:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_fire_one_fence:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_order:
    mov rax, rdi
    cmp qword ptr [rcx + 112], 4
    jb L1
    bswap r8d
    mov edi, dword ptr [rcx + 56]
    not edi
    add rdi, r8
    movzx r9d, word ptr [rcx + 124]
    add r9, rdi
    mov r10, r9
    rol r10, 32
    add r10, r9
    shr r10, 32
    mov r9d, r10d
    rol r9d, 16
    add r9d, r10d
    shr r9d, 16
    mov word ptr [rcx + 124], r9w
    movzx r9d, word ptr [rcx + 122]
    add r9, rdi
    mov rdi, r9
    rol rdi, 32
    add rdi, r9
    shr rdi, 32
    mov r9d, edi
    rol r9d, 16
    add r9d, edi
    shr r9d, 16
    mov word ptr [rcx + 122], r9w
    movq xmm0, r8
    pslldq xmm0, 8
    movdqa xmm1, xmmword ptr [rcx + 48]
    pand xmm1, xmmword ptr [rip + .LCPI_0]
    por xmm1, xmm0
    mov edi, r9d
    not edi
    cmp r9d, 65535
    cmove edi, r9d
    mov r8d, edi
    shr r8d, 8
    shl r8, 56
    shl rdi, 48
    or rdi, r8
    movq xmm0, rdi
    pand xmm1, xmmword ptr [rip + .LCPI_1]
    por xmm1, xmm0
    movdqa xmmword ptr [rcx + 48], xmm1
L1:
    mov edi, dword ptr [rsi + 56]
    mov r8d, dword ptr [rsi + 60]
    sub r8d, edi
    cmp r8w, 1
    jbe L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movzx r8d, word ptr [rcx + 14]
    shl r8, 48
    movabs r9, 281474976710655
    and r9, qword ptr [rdx + 56]
    or r9, r8
    movq xmm2, r9
    movdqa xmm1, xmmword ptr [rdx + 48]
    punpcklqdq xmm1, xmm2
    movdqa xmm8, xmmword ptr [rdx + 304]
    movaps xmm2, xmmword ptr [rcx + 16]
    movaps xmm3, xmmword ptr [rcx + 32]
    movaps xmm4, xmmword ptr [rcx + 48]
    movaps xmm5, xmmword ptr [rcx + 64]
    movaps xmm6, xmmword ptr [rcx + 80]
    movaps xmm7, xmmword ptr [rcx + 96]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm8
    movdqa xmmword ptr [rcx + 4*r10], xmm0
    movdqa xmmword ptr [rcx + 4*r10 + 16], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm8, xmm8
    movdqa xmmword ptr [rdx + r8], xmm8
    movaps xmmword ptr [rcx + 4*r8], xmm4
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm5
    movaps xmmword ptr [rcx + 4*r8 + 32], xmm6
    movaps xmmword ptr [rcx + 4*r8 + 48], xmm7
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L2
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    movaps xmmword ptr [rcx + 64], xmm4
    movaps xmmword ptr [rcx + 80], xmm5
    movaps xmmword ptr [rcx + 96], xmm6
    movaps xmmword ptr [rcx + 112], xmm7
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L3:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L5
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r8d
    add dl, dl
    add dl, 18
    jmp L5
L4:
    mov dl, 21
L5:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_fire_segment:
    mov rax, rdi
    movups xmm0, xmmword ptr [r8]
    movups xmmword ptr [rcx + 80], xmm0
    movdqu xmm0, xmmword ptr [r8]
    movdqu xmm1, xmmword ptr [r8 + 16]
    pxor xmm2, xmm2
    movdqa xmm3, xmm1
    punpckldq xmm3, xmm2
    movdqa xmm4, xmm0
    punpckldq xmm4, xmm2
    paddq xmm4, xmm3
    movups xmm3, xmmword ptr [r8 + 16]
    punpckhdq xmm1, xmm2
    punpckhdq xmm0, xmm2
    paddq xmm0, xmm1
    paddq xmm0, xmm4
    pshufd xmm1, xmm0, 238
    paddq xmm1, xmm0
    movq rdi, xmm1
    mov r8, rdi
    rol r8, 32
    movups xmmword ptr [rcx + 96], xmm3
    add r8, rdi
    shr r8, 32
    mov edi, r8d
    rol edi, 16
    add edi, r8d
    shr edi, 16
    movzx r8d, word ptr [rcx + 122]
    movzx r10d, word ptr [rcx + 124]
    xor r10d, 65535
    add r10d, r8d
    add r10d, edi
    mov r8d, r10d
    rol r8d, 16
    mov r9, qword ptr [rcx + 112]
    add r8d, r10d
    shr r8d, 16
    cmp r9, 32
    je L1
    mov qword ptr [rcx + 112], 32
    mov r10d, -33
    sub r10d, r9d
    rol r10w, 8
    movzx r10d, r10w
    lea r11d, [r10 + r8]
    add r8d, r10d
    add r8d, 16384
    rol r8d, 16
    add r8d, r11d
    add r8d, 16384
    shr r8d, 16
    movzx r10d, word ptr [rcx + 120]
    mov r11d, -53
    sub r11d, r9d
    rol r11w, 8
    movzx r9d, r11w
    lea r11d, [r9 + r10]
    add r9d, r10d
    add r9d, 21504
    rol r9d, 16
    add r9d, r11d
    add r9d, 21504
    shr r9d, 16
    mov word ptr [rcx + 120], r9w
    movaps xmm0, xmmword ptr [rcx + 16]
    movdqa xmm1, xmmword ptr [rcx + 32]
    andps xmm0, xmmword ptr [rip + .LCPI_0]
    orps xmm0, xmmword ptr [rip + .LCPI_1]
    movaps xmmword ptr [rcx + 16], xmm0
    not r9d
    mov r10d, r9d
    shr r10d, 8
    shl r10, 56
    shl r9, 48
    or r9, r10
    movq xmm0, r9
    pand xmm1, xmmword ptr [rip + .LCPI_2]
    por xmm1, xmm0
    movdqa xmmword ptr [rcx + 32], xmm1
L1:
    mov word ptr [rcx + 122], r8w
    mov word ptr [rcx + 124], di
    xor r8d, 65535
    movd xmm1, r8d
    movdqa xmm0, xmmword ptr [rcx + 64]
    pand xmm0, xmmword ptr [rip + .LCPI_3]
    por xmm0, xmm1
    movdqa xmmword ptr [rcx + 64], xmm0
    mov edi, dword ptr [rsi + 56]
    mov r8d, dword ptr [rsi + 60]
    sub r8d, edi
    cmp r8w, 1
    jbe L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm1, r8
    por xmm1, xmmword ptr [rdx + 32]
    movzx r8d, word ptr [rcx + 14]
    shl r8, 48
    movabs r9, 281474976710655
    and r9, qword ptr [rdx + 56]
    or r9, r8
    movq xmm3, r9
    movdqa xmm2, xmmword ptr [rdx + 48]
    punpcklqdq xmm2, xmm3
    movdqa xmm8, xmmword ptr [rdx + 304]
    movaps xmm5, xmmword ptr [rcx + 16]
    movaps xmm6, xmmword ptr [rcx + 32]
    movaps xmm7, xmmword ptr [rcx + 48]
    movaps xmm3, xmmword ptr [rcx + 80]
    movaps xmm4, xmmword ptr [rcx + 96]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm8
    movdqa xmmword ptr [rcx + 4*r10], xmm1
    movdqa xmmword ptr [rcx + 4*r10 + 16], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm5
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm6
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm8, xmm8
    movdqa xmmword ptr [rdx + r8], xmm8
    movaps xmmword ptr [rcx + 4*r8], xmm7
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 32], xmm3
    movaps xmmword ptr [rcx + 4*r8 + 48], xmm4
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L2
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movdqa xmmword ptr [rcx + 16], xmm2
    movaps xmmword ptr [rcx + 32], xmm5
    movaps xmmword ptr [rcx + 48], xmm6
    movaps xmmword ptr [rcx + 64], xmm7
    movdqa xmmword ptr [rcx + 80], xmm0
    movaps xmmword ptr [rcx + 96], xmm3
    movaps xmmword ptr [rcx + 112], xmm4
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L3:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L5
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r8d
    add dl, dl
    add dl, 18
    jmp L5
L4:
    mov dl, 21
L5:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_fire_send:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rdx + 48]
    movaps xmm2, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm2
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_signaled_if:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movzx ecx, cl
    shl ecx, 4
    movq xmm0, r10
    por xmm0, xmmword ptr [rdx + rcx]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [r9]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_0], 2
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movapd xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_two_fences:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_fire_xrc_at:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    bswap rcx
    bswap r8d
    movd xmm1, r8d
    movq xmm0, rcx
    punpcklqdq xmm0, xmm1
    mov ecx, edi
    bswap ecx
    shr ecx, 8
    or rcx, qword ptr [rsi + 16]
    movq xmm1, rcx
    por xmm1, xmmword ptr [rdx + 32]
    movaps xmm2, xmmword ptr [rdx + 48]
    movaps xmm4, xmmword ptr [rdx + 304]
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rdx + 80]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8], xmm1
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 48], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_poll:
    push rbp
    push r15
    push r14
    push rbx
    sub rsp, 40
    mov rax, qword ptr [rdi]
    mov ebx, dword ptr [rax + 60]
    mov ecx, dword ptr [rdi + 40]
    bswap ebx
    xor ebx, ecx
    mov ebp, ebx
    ror bpl
    cmp bpl, 119
    ja L5
    mov r9, qword ptr [rdi + 32]
    movaps xmm0, xmmword ptr [rax]
    movaps xmm0, xmmword ptr [rax + 16]
    movdqa xmm0, xmmword ptr [rax + 32]
    mov rdx, qword ptr [rax + 48]
    mov r14, qword ptr [rax + 56]
    mov r8d, dword ptr [rdi + 8]
    inc r8d
    mov dword ptr [rdi + 8], r8d
    cmp rax, qword ptr [rdi + 24]
    je L6
    add rax, r9
L1:
    mov qword ptr [rdi], rax
    mov rax, qword ptr [rdi + 48]
    bswap r8d
    mov dword ptr [rax], r8d
    cmp bl, 3
    ja L3
L2:
    pshufd xmm0, xmm0, 255
    movd eax, xmm0
    bswap eax
    and r14d, -256
    bswap r14d
    shr ebx, 16
    add r14, rbx
    add rax, r14
    add qword ptr [rsi], rax
    jmp L5
L3:
    mov eax, ebx
    and al, -4
    rol al, 4
    cmp al, 5
    jae L7
L4:
    inc dword ptr [rsi + 8]
L5:
    cmp bpl, 120
    setb al
    add rsp, 40
    pop rbx
    pop r14
    pop r15
    pop rbp
    ret
L6:
    mov rax, qword ptr [rdi + 16]
    and r8d, 16777215
    mov dword ptr [rdi + 8], r8d
    xor ecx, 1
    mov dword ptr [rdi + 40], ecx
    jmp L1
L7:
    bswap rdx
    mov ecx, r14d
    bswap ecx
    mov rdi, rsp
    mov r15, rsi
    mov rsi, rbx
    movdqa xmmword ptr [rsp + 16], xmm0
    call <blueflame::cq::error::completion::CqeError>::new
    movdqa xmm0, xmmword ptr [rsp + 16]
    mov rsi, r15
    cmp byte ptr [rsp], 8
    jne L4
    cmp byte ptr [rsp + 1], 0
    je L2
    jmp L4

hot_poll_and_complete:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    mov r14, qword ptr [rdi]
    mov ecx, dword ptr [r14 + 60]
    mov eax, dword ptr [rdi + 40]
    bswap ecx
    mov dword ptr [rsp + 4], eax
    xor ecx, eax
    mov eax, ecx
    ror al
    cmp al, 119
    ja L10
    mov r15d, dword ptr [rdi + 8]
    mov r12, qword ptr [rdx]
    mov rax, qword ptr [rdi + 64]
    mov qword ptr [rsp + 80], rax
    mov rax, qword ptr [rdi + 32]
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsi + 24]
    mov qword ptr [rsp + 72], rax
    mov rbx, qword ptr [rsi + 40]
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsp + 12], eax
    mov eax, dword ptr [rsi + 56]
    mov dword ptr [rsp + 8], eax
    mov eax, dword ptr [rsi + 68]
    mov qword ptr [rsp + 56], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 96], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 88], rax
    mov r13d, dword ptr [rsi + 60]
    mov r8d, 1
L1:
    mov rax, r8
    cmp cl, 4
    jae L6
L2:
    mov r8d, dword ptr [r14 + 56]
    or r8, qword ptr [rsp + 80]
    xor r8, qword ptr [rsp + 72]
    cmp r8, 256
    jae L8
    mov r9d, ecx
    mov r8d, r9d
    shr r8d, 16
    mov r11d, r13d
    sub r11d, dword ptr [rsp + 12]
    mov r10d, r8d
    sub r10d, r11d
    mov ebp, dword ptr [rsp + 8]
    sub ebp, r11d
    cmp r10w, bp
    jae L4
    shl r8d, 4
    and r8d, dword ptr [rsp + 56]
    mov r11, qword ptr [rbx + r8 + 8]
    test r11, r11
    je L4
    add r10d, r13d
    add r10d, r11d
    mov rbp, qword ptr [rbx + r8]
    movzx r13d, r10w
    mov dword ptr [rsi + 60], r13d
    cmp cl, 4
    jb L3
    and cl, -4
    rol cl, 4
    cmp cl, 5
    jae L9
L3:
    add r12, rbp
    mov qword ptr [rdx], r12
L4:
    inc r15d
    cmp r14, qword ptr [rsp + 96]
    je L7
    add r14, qword ptr [rsp + 64]
L5:
    mov ecx, r15d
    bswap ecx
    mov r8, qword ptr [rsp + 88]
    mov dword ptr [r8], ecx
    cmp rax, 16
    je L11
    mov ecx, dword ptr [r14 + 60]
    bswap ecx
    xor ecx, dword ptr [rsp + 4]
    mov r9d, ecx
    ror r9b
    lea r8, [rax + 1]
    cmp r9b, 120
    jb L1
    jmp L11
L6:
    mov r8d, ecx
    shr r8b, 4
    cmp r8b, 13
    je L2
    movzx r8d, r8b
    test r8d, r8d
    jne L4
    mov r8d, ecx
    shr r8b, 2
    and r8b, 3
    dec r8b
    cmp r8b, 1
    jbe L2
    jmp L4
L7:
    and r15d, 16777215
    mov ecx, dword ptr [rsp + 4]
    xor ecx, 1
    mov dword ptr [rsp + 4], ecx
    mov dword ptr [rdi + 40], ecx
    mov r14, qword ptr [rsp + 48]
    jmp L5
L8:
    mov ecx, dword ptr [r14 + 56]
    jmp L4
L9:
    mov r8, qword ptr [r14 + 48]
    bswap r8
    mov ecx, dword ptr [r14 + 56]
    bswap ecx
    mov qword ptr [rsp + 40], rdi
    lea rdi, [rsp + 104]
    mov qword ptr [rsp + 32], rsi
    mov rsi, r9
    mov qword ptr [rsp + 24], rdx
    mov edx, r8d
    mov qword ptr [rsp + 16], rax
    call <blueflame::cq::error::completion::CqeError>::new
    mov rax, qword ptr [rsp + 16]
    mov rsi, qword ptr [rsp + 32]
    mov rdx, qword ptr [rsp + 24]
    mov rdi, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 104], 8
    je L3
    jmp L4
L10:
    xor eax, eax
    jmp L12
L11:
    mov qword ptr [rdi], r14
    mov dword ptr [rdi + 8], r15d
L12:
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_and_complete_receives:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 104
    mov r13, qword ptr [rdi]
    mov ebp, dword ptr [r13 + 60]
    mov r9d, dword ptr [rdi + 40]
    bswap ebp
    xor ebp, r9d
    mov eax, ebp
    ror al
    cmp al, 119
    ja L14
    movabs r11, -4294967296
    mov r10d, dword ptr [rdi + 8]
    mov r12, qword ptr [rdx]
    mov rax, qword ptr [rdi + 64]
    mov qword ptr [rsp + 32], rax
    mov rax, qword ptr [rdi + 32]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 40], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 56], rax
    mov r8d, 1
L1:
    mov qword ptr [rsp + 72], r8
    mov ebx, ebp
    and bl, -4
    rol bl, 4
    cmp bpl, 4
    jb L10
    cmp bl, 5
    jae L10
L2:
    mov rax, qword ptr [rsi + 24]
    mov rcx, qword ptr [rsi + 32]
    cmp rcx, r11
    jne L4
    and rax, r11
    cmp qword ptr [rsp + 32], rax
    je L5
L3:
    mov eax, dword ptr [r13 + 56]
    jmp L8
L4:
    mov r8d, dword ptr [r13 + 56]
    or r8, qword ptr [rsp + 32]
    xor r8, rax
    test r8, rcx
    jne L3
L5:
    mov r14, r12
    mov r15d, ebp
    mov eax, r15d
    shr eax, 16
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 60]
    je L11
    movzx r8d, cx
    xor r8d, eax
    or r8d, dword ptr [rsi + 68]
    jne L11
    mov rax, qword ptr [rsi + 16]
    mov r8d, dword ptr [rsi + 40]
    and r8d, ecx
    mov r12, qword ptr [rax + 8*r8]
    inc ecx
    mov dword ptr [rsi + 64], ecx
L6:
    cmp bl, 5
    setb al
    cmp bpl, 4
    setb cl
    or cl, al
    je L13
L7:
    mov eax, dword ptr [r13 + 44]
    mov ecx, dword ptr [r13 + 36]
    mov ecx, dword ptr [r13 + 24]
    bswap eax
    add rax, r14
    add r12, rax
    mov qword ptr [rdx], r12
L8:
    inc r10d
    cmp r13, qword ptr [rsp + 64]
    mov rax, qword ptr [rsp + 72]
    je L12
    add r13, qword ptr [rsp + 48]
L9:
    mov r8d, r10d
    bswap r8d
    mov rcx, qword ptr [rsp + 56]
    mov dword ptr [rcx], r8d
    cmp rax, 16
    je L15
    mov ebp, dword ptr [r13 + 60]
    bswap ebp
    xor ebp, r9d
    mov ecx, ebp
    ror cl
    lea r8, [rax + 1]
    cmp cl, 120
    jb L1
    jmp L15
L10:
    mov eax, ebp
    shr al, 4
    cmp al, 14
    je L2
    dec al
    cmp al, 3
    ja L8
    mov eax, ebp
    shr al, 2
    and al, 3
    dec al
    cmp al, 1
    jbe L2
    jmp L8
L11:
    mov qword ptr [rsp + 16], rdi
    lea rdi, [rsp + 80]
    mov qword ptr [rsp], rsi
    mov rsi, qword ptr [rsp]
    mov qword ptr [rsp + 8], rdx
    mov edx, eax
    mov r12d, r9d
    mov dword ptr [rsp + 28], r10d
    call <blueflame::queue::recv::queue::RecvQueue>::retire_any
    movabs r11, -4294967296
    mov r10d, dword ptr [rsp + 28]
    mov r9d, r12d
    mov rsi, qword ptr [rsp]
    mov rdx, qword ptr [rsp + 8]
    mov rdi, qword ptr [rsp + 16]
    cmp byte ptr [rsp + 80], 11
    mov r12, r14
    jne L8
    mov r12, qword ptr [rsp + 88]
    jmp L6
L12:
    and r10d, 16777215
    xor r9d, 1
    mov dword ptr [rdi + 40], r9d
    mov r13, qword ptr [rsp + 40]
    jmp L9
L13:
    mov rax, qword ptr [r13 + 48]
    bswap rax
    mov ecx, dword ptr [r13 + 56]
    bswap ecx
    mov qword ptr [rsp + 16], rdi
    lea rdi, [rsp + 80]
    mov qword ptr [rsp], rsi
    mov rsi, r15
    mov qword ptr [rsp + 8], rdx
    mov edx, eax
    mov ebx, r9d
    mov ebp, r10d
    mov r15, r11
    call <blueflame::cq::error::completion::CqeError>::new
    mov r11, r15
    mov r10d, ebp
    mov r9d, ebx
    mov rsi, qword ptr [rsp]
    mov rdx, qword ptr [rsp + 8]
    mov rdi, qword ptr [rsp + 16]
    cmp byte ptr [rsp + 80], 8
    je L7
    mov r12, r14
    jmp L8
L14:
    xor eax, eax
    jmp L16
L15:
    mov qword ptr [rdi], r13
    mov dword ptr [rdi + 8], r10d
L16:
    add rsp, 104
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_and_retire:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    mov r14, qword ptr [rdi]
    mov ecx, dword ptr [r14 + 60]
    mov eax, dword ptr [rdi + 40]
    bswap ecx
    mov dword ptr [rsp + 4], eax
    xor ecx, eax
    mov eax, ecx
    ror al
    cmp al, 119
    ja L10
    mov r15d, dword ptr [rdi + 8]
    mov r12, qword ptr [rdx]
    mov rax, qword ptr [rdi + 64]
    mov qword ptr [rsp + 80], rax
    mov rax, qword ptr [rdi + 32]
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsi + 24]
    mov qword ptr [rsp + 72], rax
    mov rbx, qword ptr [rsi + 40]
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsp + 12], eax
    mov eax, dword ptr [rsi + 56]
    mov dword ptr [rsp + 8], eax
    mov eax, dword ptr [rsi + 68]
    mov qword ptr [rsp + 56], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 96], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 88], rax
    mov r13d, dword ptr [rsi + 60]
    mov r8d, 1
L1:
    mov rax, r8
    cmp cl, 4
    jae L6
L2:
    mov r8d, dword ptr [r14 + 56]
    or r8, qword ptr [rsp + 80]
    xor r8, qword ptr [rsp + 72]
    cmp r8, 256
    jae L8
    mov r9d, ecx
    mov r8d, r9d
    shr r8d, 16
    mov r11d, r13d
    sub r11d, dword ptr [rsp + 12]
    mov r10d, r8d
    sub r10d, r11d
    mov ebp, dword ptr [rsp + 8]
    sub ebp, r11d
    cmp r10w, bp
    jae L4
    shl r8d, 4
    and r8d, dword ptr [rsp + 56]
    mov r11, qword ptr [rbx + r8 + 8]
    test r11, r11
    je L4
    add r10d, r13d
    add r10d, r11d
    mov rbp, qword ptr [rbx + r8]
    movzx r13d, r10w
    mov dword ptr [rsi + 60], r13d
    cmp cl, 4
    jb L3
    and cl, -4
    rol cl, 4
    cmp cl, 5
    jae L9
L3:
    add r12, rbp
    mov qword ptr [rdx], r12
L4:
    inc r15d
    cmp r14, qword ptr [rsp + 96]
    je L7
    add r14, qword ptr [rsp + 64]
L5:
    mov ecx, r15d
    bswap ecx
    mov r8, qword ptr [rsp + 88]
    mov dword ptr [r8], ecx
    cmp rax, 16
    je L11
    mov ecx, dword ptr [r14 + 60]
    bswap ecx
    xor ecx, dword ptr [rsp + 4]
    mov r9d, ecx
    ror r9b
    lea r8, [rax + 1]
    cmp r9b, 120
    jb L1
    jmp L11
L6:
    mov r8d, ecx
    shr r8b, 4
    cmp r8b, 13
    je L2
    movzx r8d, r8b
    test r8d, r8d
    jne L4
    mov r8d, ecx
    shr r8b, 2
    and r8b, 3
    dec r8b
    cmp r8b, 1
    jbe L2
    jmp L4
L7:
    and r15d, 16777215
    mov ecx, dword ptr [rsp + 4]
    xor ecx, 1
    mov dword ptr [rsp + 4], ecx
    mov dword ptr [rdi + 40], ecx
    mov r14, qword ptr [rsp + 48]
    jmp L5
L8:
    mov ecx, dword ptr [r14 + 56]
    jmp L4
L9:
    mov r8, qword ptr [r14 + 48]
    bswap r8
    mov ecx, dword ptr [r14 + 56]
    bswap ecx
    mov qword ptr [rsp + 40], rdi
    lea rdi, [rsp + 104]
    mov qword ptr [rsp + 32], rsi
    mov rsi, r9
    mov qword ptr [rsp + 24], rdx
    mov edx, r8d
    mov qword ptr [rsp + 16], rax
    call <blueflame::cq::error::completion::CqeError>::new
    mov rax, qword ptr [rsp + 16]
    mov rsi, qword ptr [rsp + 32]
    mov rdx, qword ptr [rsp + 24]
    mov rdi, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 104], 8
    je L3
    jmp L4
L10:
    xor eax, eax
    jmp L12
L11:
    mov qword ptr [rdi], r14
    mov dword ptr [rdi + 8], r15d
L12:
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_compressed:
    push rbp
    mov rbp, rsp
    push r15
    push r14
    push r13
    push r12
    push rbx
    and rsp, -64
    sub rsp, 192
    mov r13, qword ptr [rsi]
    mov r11d, dword ptr [rsi + 8]
    xor eax, eax
    mov r12d, 1
    jmp L3
L1:
    mov rcx, qword ptr [rdi + 240]
    bswap r15d
    mov dword ptr [rcx], r15d
L2:
    inc rax
    cmp rax, 16
    je L30
L3:
    mov rbx, qword ptr [rdi + 224]
    mov ecx, dword ptr [rdi + 128]
    cmp ecx, dword ptr [rdi + 132]
    jne L4
    mov ecx, dword ptr [rbx + 60]
    bswap ecx
    xor ecx, dword ptr [rdi + 216]
    mov edx, ecx
    ror dl
    cmp dl, 119
    ja L31
    mov edx, ecx
    not dl
    test dl, 12
    jne L5
    mov dword ptr [rdi + 128], 0
    mov r9, qword ptr [rdi + 208]
    movaps xmm0, xmmword ptr [rbx]
    movaps xmm1, xmmword ptr [rbx + 16]
    movdqa xmm2, xmmword ptr [rbx + 32]
    mov rdx, qword ptr [rbx + 48]
    mov r8, qword ptr [rbx + 56]
    movaps xmmword ptr [rdi], xmm0
    movaps xmmword ptr [rdi + 16], xmm1
    movdqa xmmword ptr [rdi + 32], xmm2
    mov qword ptr [rdi + 48], rdx
    mov qword ptr [rdi + 56], r8
    mov edx, ecx
    shr edx, 16
    mov word ptr [rdi + 140], dx
    mov r8d, ecx
    and r8b, -14
    mov byte ptr [rdi + 142], r8b
    pshufd xmm0, xmm2, 255
    movd r10d, xmm0
    bswap r10d
    mov dword ptr [rdi + 132], r10d
    cmp cl, 79
    ja L19
    cmp r10d, 2
    jb L19
    cmp r10d, dword ptr [rdi + 220]
    setbe byte ptr [rdi + 144]
    ja L29
    cmp rbx, qword ptr [rdi + 200]
    jne L21
    mov rbx, qword ptr [rdi + 192]
    jmp L22
L4:
    lea edx, [rcx + 1]
    mov dword ptr [rdi + 128], edx
    test rcx, rcx
    je L6
    test cl, 7
    sete r8b
    movzx edx, byte ptr [rdi + 144]
    test r8b, dl
    je L7
    movaps xmm0, xmmword ptr [rbx]
    movaps xmm1, xmmword ptr [rbx + 16]
    movaps xmm2, xmmword ptr [rbx + 32]
    mov rdx, qword ptr [rbx + 48]
    mov r8, qword ptr [rbx + 56]
    movaps xmmword ptr [rdi + 64], xmm0
    movaps xmmword ptr [rdi + 80], xmm1
    movaps xmmword ptr [rdi + 96], xmm2
    mov qword ptr [rdi + 112], rdx
    mov qword ptr [rdi + 120], r8
    movzx edx, byte ptr [rdi + 143]
    mov r8d, dword ptr [rdi + 216]
    shl r8d, 8
    or r8d, edx
    or r8d, 61440
    mov word ptr [rbx + 62], r8w
    jmp L8
L5:
    mov r14d, ecx
    jmp L14
L6:
    movzx edx, byte ptr [rdi + 142]
    cmp byte ptr [rdi + 144], 0
    je L28
    mov ebx, dword ptr [rdi + 64]
    mov r8d, dword ptr [rdi + 68]
    bswap ebx
    cmp dl, 15
    jbe L9
    jmp L11
L7:
    movzx r8d, byte ptr [rdi + 143]
    mov r9d, dword ptr [rdi + 216]
    shl r9d, 8
    or r9d, r8d
    or r9d, 61440
    mov word ptr [rbx + 62], r9w
    test dl, 1
    je L27
L8:
    mov edx, ecx
    and edx, 7
    mov ebx, dword ptr [rdi + 8*rdx + 64]
    mov r8d, dword ptr [rdi + 8*rdx + 68]
    bswap ebx
    movzx edx, byte ptr [rdi + 142]
    cmp dl, 16
    jae L10
L9:
    mov dword ptr [rdi + 44], r8d
    mov byte ptr [rdi + 56], bh
    shr ebx, 16
    jmp L12
L10:
    mov dword ptr [rdi + 12], 0
    mov byte ptr [rdi + 16], 0
L11:
    bswap ebx
    mov word ptr [rdi + 20], bx
    mov dword ptr [rdi + 44], r8d
    add cx, word ptr [rdi + 140]
    mov ebx, ecx
L12:
    shl ebx, 16
    movzx r14d, dl
    or r14, rbx
L13:
    mov rbx, rdi
L14:
    mov r15d, dword ptr [rdi + 232]
    inc r15d
    mov dword ptr [rdi + 232], r15d
    mov rcx, qword ptr [rdi + 224]
    cmp rcx, qword ptr [rdi + 200]
    je L25
    add rcx, qword ptr [rdi + 208]
    mov qword ptr [rdi + 224], rcx
    cmp r14b, 4
    jb L16
L15:
    mov ecx, r14d
    and cl, -4
    rol cl, 4
    cmp cl, 4
    ja L26
L16:
    mov edx, dword ptr [rbx + 56]
    mov ecx, dword ptr [rbx + 44]
L17:
    bswap ecx
    and edx, -256
    bswap edx
    shr r14d, 16
    add rcx, r13
    add rcx, rdx
    add rcx, r14
    mov qword ptr [rsi], rcx
    mov r13, rcx
    mov ecx, dword ptr [rdi + 128]
    test ecx, ecx
    je L1
L18:
    cmp ecx, dword ptr [rdi + 132]
    jne L2
    jmp L1
L19:
    mov ecx, 1
    cmp r10d, 2
    jb L20
    cmp r10d, dword ptr [rdi + 220]
    cmova r10d, r12d
    mov ecx, r10d
L20:
    movaps xmm0, xmmword ptr [rdi]
    movaps xmm1, xmmword ptr [rdi + 16]
    movaps xmm2, xmmword ptr [rdi + 32]
    movaps xmm3, xmmword ptr [rdi + 48]
    movaps xmmword ptr [rsp + 64], xmm0
    movaps xmmword ptr [rsp + 112], xmm3
    movaps xmmword ptr [rsp + 96], xmm2
    movaps xmmword ptr [rsp + 80], xmm1
    mov byte ptr [rdi + 144], 0
    mov byte ptr [rdi + 142], 44
    mov dword ptr [rdi + 132], ecx
    mov dword ptr [rdi + 128], 1
    mov r14d, 44
    jmp L13
L21:
    add rbx, r9
L22:
    movaps xmm0, xmmword ptr [rbx]
    movaps xmm1, xmmword ptr [rbx + 16]
    movaps xmm2, xmmword ptr [rbx + 32]
    mov r9, qword ptr [rbx + 48]
    mov r10, qword ptr [rbx + 56]
    movaps xmmword ptr [rdi + 64], xmm0
    movaps xmmword ptr [rdi + 80], xmm1
    movaps xmmword ptr [rdi + 96], xmm2
    mov qword ptr [rdi + 112], r9
    mov qword ptr [rdi + 120], r10
    mov dword ptr [rdi + 128], 1
    mov ebx, dword ptr [rdi + 64]
    bswap ebx
    cmp cl, 15
    ja L23
    mov byte ptr [rdi + 56], bh
    shr ebx, 16
    mov edx, ebx
    jmp L24
L23:
    bswap ebx
    mov word ptr [rdi + 20], bx
L24:
    mov ecx, dword ptr [rdi + 68]
    mov dword ptr [rdi + 44], ecx
    shl edx, 16
    movzx r14d, r8b
    or r14, rdx
    jmp L13
L25:
    mov rcx, qword ptr [rdi + 192]
    and r15d, 16777215
    mov dword ptr [rdi + 232], r15d
    xor byte ptr [rdi + 216], 1
    mov qword ptr [rdi + 224], rcx
    cmp r14b, 4
    jae L15
    jmp L16
L26:
    mov rdx, qword ptr [rbx + 48]
    bswap rdx
    mov ecx, dword ptr [rbx + 56]
    bswap ecx
    mov qword ptr [rsp + 56], rdi
    lea rdi, [rsp + 64]
    mov qword ptr [rsp + 48], rsi
    mov rsi, r14
    mov qword ptr [rsp + 40], rax
    mov dword ptr [rsp + 36], r11d
    call <blueflame::cq::error::completion::CqeError>::new
    mov r11d, dword ptr [rsp + 36]
    mov rdi, qword ptr [rsp + 56]
    mov rsi, qword ptr [rsp + 48]
    mov rax, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 64], 8
    mov edx, dword ptr [rbx + 56]
    mov ecx, dword ptr [rbx + 44]
    je L17
    inc r11d
    mov dword ptr [rsi + 8], r11d
    mov ecx, dword ptr [rdi + 128]
    test ecx, ecx
    jne L18
    jmp L1
L27:
    movzx edx, byte ptr [rdi + 142]
L28:
    movzx r14d, dl
    jmp L13
L29:
    mov ecx, 1
    jmp L20
L30:
    mov eax, 16
L31:
    lea rsp, [rbp - 40]
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_counter:
    push rbp
    push r14
    push rbx
    sub rsp, 16
    mov rax, qword ptr [rdi]
    mov ebx, dword ptr [rax + 60]
    mov r8d, dword ptr [rdi + 40]
    bswap ebx
    xor ebx, r8d
    mov ebp, ebx
    ror bpl
    cmp bpl, 119
    ja L5
    mov r10, qword ptr [rdi + 32]
    movaps xmm0, xmmword ptr [rax]
    movaps xmm0, xmmword ptr [rax + 16]
    movaps xmm0, xmmword ptr [rax + 32]
    mov rdx, qword ptr [rax + 48]
    mov rcx, qword ptr [rax + 56]
    mov r9d, dword ptr [rdi + 8]
    inc r9d
    mov dword ptr [rdi + 8], r9d
    cmp rax, qword ptr [rdi + 24]
    je L6
    add rax, r10
L1:
    mov qword ptr [rdi], rax
    mov rax, qword ptr [rdi + 48]
    bswap r9d
    mov dword ptr [rax], r9d
    cmp bl, 4
    jae L3
L2:
    shr ebx, 16
    add qword ptr [rsi], rbx
    jmp L5
L3:
    mov eax, ebx
    and al, -4
    rol al, 4
    cmp al, 5
    jae L7
L4:
    inc dword ptr [rsi + 8]
L5:
    cmp bpl, 120
    setb al
    add rsp, 16
    pop rbx
    pop r14
    pop rbp
    ret
L6:
    mov rax, qword ptr [rdi + 16]
    and r9d, 16777215
    mov dword ptr [rdi + 8], r9d
    xor r8d, 1
    mov dword ptr [rdi + 40], r8d
    jmp L1
L7:
    bswap rdx
    bswap ecx
    mov rdi, rsp
    mov r14, rsi
    mov rsi, rbx
    call <blueflame::cq::error::completion::CqeError>::new
    mov rsi, r14
    cmp byte ptr [rsp], 8
    jne L4
    cmp byte ptr [rsp + 1], 0
    je L2
    jmp L4

hot_poll_no_overrun:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov r15, qword ptr [rdi]
    mov ecx, dword ptr [r15 + 60]
    mov ebp, dword ptr [rdi + 40]
    bswap ecx
    xor ecx, ebp
    mov eax, ecx
    ror al
    cmp al, 119
    ja L9
    mov r12d, dword ptr [rdi + 8]
    mov rbx, qword ptr [rsi]
    mov r9, qword ptr [rdi + 32]
    mov r10, qword ptr [rdi + 24]
    mov r11, qword ptr [rdi + 16]
    mov r13d, dword ptr [rsi + 8]
    mov edx, 1
L1:
    mov rax, rdx
    mov r14d, ecx
    cmp cl, 3
    ja L3
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
L2:
    bswap edx
    and ecx, -256
    bswap ecx
    shr r14d, 16
    add r14, rbx
    add r14, rdx
    add r14, rcx
    mov qword ptr [rsi], r14
    mov rbx, r14
    jmp L5
L3:
    and cl, -4
    rol cl, 4
    cmp cl, 4
    ja L8
    mov ecx, dword ptr [r15 + 56]
    mov ecx, dword ptr [r15 + 44]
L4:
    inc r13d
    mov dword ptr [rsi + 8], r13d
L5:
    inc r12d
    cmp r15, r10
    je L7
    add r15, r9
    cmp rax, 16
    je L10
L6:
    mov ecx, dword ptr [r15 + 60]
    bswap ecx
    xor ecx, ebp
    mov r8d, ecx
    ror r8b
    lea rdx, [rax + 1]
    cmp r8b, 120
    jb L1
    jmp L10
L7:
    and r12d, 16777215
    xor ebp, 1
    mov dword ptr [rdi + 40], ebp
    mov r15, r11
    cmp rax, 16
    jne L6
    jmp L10
L8:
    mov rdx, qword ptr [r15 + 48]
    bswap rdx
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 48], rdi
    lea rdi, [rsp + 56]
    mov qword ptr [rsp + 40], rsi
    mov rsi, r14
    mov qword ptr [rsp + 32], rax
    mov qword ptr [rsp + 24], r9
    mov qword ptr [rsp + 16], r10
    mov qword ptr [rsp + 8], r11
    call <blueflame::cq::error::completion::CqeError>::new
    mov r11, qword ptr [rsp + 8]
    mov r10, qword ptr [rsp + 16]
    mov r9, qword ptr [rsp + 24]
    mov rax, qword ptr [rsp + 32]
    mov rsi, qword ptr [rsp + 40]
    mov rdi, qword ptr [rsp + 48]
    movzx r8d, byte ptr [rsp + 57]
    cmp byte ptr [rsp + 56], 8
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
    jne L4
    test r8b, r8b
    je L2
    jmp L4
L9:
    xor eax, eax
    jmp L11
L10:
    mov qword ptr [rdi], r15
    mov dword ptr [rdi + 8], r12d
L11:
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_once_per_call:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov r15, qword ptr [rdi]
    mov ecx, dword ptr [r15 + 60]
    mov ebp, dword ptr [rdi + 40]
    bswap ecx
    xor ecx, ebp
    mov eax, ecx
    ror al
    cmp al, 119
    ja L9
    mov r12d, dword ptr [rdi + 8]
    mov rbx, qword ptr [rsi]
    mov r9, qword ptr [rdi + 32]
    mov r10, qword ptr [rdi + 24]
    mov r11, qword ptr [rdi + 16]
    mov r13d, dword ptr [rsi + 8]
    mov edx, 1
L1:
    mov rax, rdx
    mov r14d, ecx
    cmp cl, 3
    ja L3
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
L2:
    bswap edx
    and ecx, -256
    bswap ecx
    shr r14d, 16
    add r14, rbx
    add r14, rdx
    add r14, rcx
    mov qword ptr [rsi], r14
    mov rbx, r14
    jmp L5
L3:
    and cl, -4
    rol cl, 4
    cmp cl, 4
    ja L8
    mov ecx, dword ptr [r15 + 56]
    mov ecx, dword ptr [r15 + 44]
L4:
    inc r13d
    mov dword ptr [rsi + 8], r13d
L5:
    inc r12d
    cmp r15, r10
    je L7
    add r15, r9
    cmp rax, 16
    je L10
L6:
    mov ecx, dword ptr [r15 + 60]
    bswap ecx
    xor ecx, ebp
    mov r8d, ecx
    ror r8b
    lea rdx, [rax + 1]
    cmp r8b, 120
    jb L1
    jmp L10
L7:
    and r12d, 16777215
    xor ebp, 1
    mov dword ptr [rdi + 40], ebp
    mov r15, r11
    cmp rax, 16
    jne L6
    jmp L10
L8:
    mov rdx, qword ptr [r15 + 48]
    bswap rdx
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 48], rdi
    lea rdi, [rsp + 56]
    mov qword ptr [rsp + 40], rsi
    mov rsi, r14
    mov qword ptr [rsp + 32], rax
    mov qword ptr [rsp + 24], r9
    mov qword ptr [rsp + 16], r10
    mov qword ptr [rsp + 8], r11
    call <blueflame::cq::error::completion::CqeError>::new
    mov r11, qword ptr [rsp + 8]
    mov r10, qword ptr [rsp + 16]
    mov r9, qword ptr [rsp + 24]
    mov rax, qword ptr [rsp + 32]
    mov rsi, qword ptr [rsp + 40]
    mov rdi, qword ptr [rsp + 48]
    movzx r8d, byte ptr [rsp + 57]
    cmp byte ptr [rsp + 56], 8
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
    jne L4
    test r8b, r8b
    je L2
    jmp L4
L9:
    xor eax, eax
    jmp L11
L10:
    mov qword ptr [rdi], r15
    mov dword ptr [rdi + 8], r12d
    mov rcx, qword ptr [rdi + 48]
    bswap r12d
    mov dword ptr [rcx], r12d
L11:
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_poll_one:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 24
    mov r14, qword ptr [rdi]
    mov ebx, dword ptr [r14 + 60]
    mov r15d, dword ptr [rdi + 40]
    bswap ebx
    xor ebx, r15d
    mov eax, ebx
    ror al
    cmp al, 119
    ja L2
    mov ebp, dword ptr [rdi + 8]
    mov r12, qword ptr [rdi + 32]
    cmp bl, 3
    ja L3
    mov eax, dword ptr [r14 + 56]
    mov ecx, dword ptr [r14 + 44]
L1:
    bswap ecx
    and eax, -256
    bswap eax
    shr ebx, 16
    add rcx, rbx
    add rcx, qword ptr [rsi]
    add rcx, rax
    mov qword ptr [rsi], rcx
    jmp L5
L2:
    xor eax, eax
    jmp L7
L3:
    mov eax, ebx
    and al, -4
    rol al, 4
    cmp al, 4
    ja L9
    mov eax, dword ptr [r14 + 56]
    mov eax, dword ptr [r14 + 44]
L4:
    inc dword ptr [rsi + 8]
L5:
    inc ebp
    cmp r14, qword ptr [rdi + 24]
    je L8
    add r14, r12
L6:
    mov rax, qword ptr [rdi + 48]
    mov ecx, ebp
    bswap ecx
    mov dword ptr [rax], ecx
    mov qword ptr [rdi], r14
    mov dword ptr [rdi + 8], ebp
    mov eax, 1
L7:
    add rsp, 24
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L8:
    mov r14, qword ptr [rdi + 16]
    and ebp, 16777215
    xor r15d, 1
    mov dword ptr [rdi + 40], r15d
    jmp L6
L9:
    mov rdx, qword ptr [r14 + 48]
    bswap rdx
    mov ecx, dword ptr [r14 + 56]
    bswap ecx
    lea rax, [rsp + 8]
    mov qword ptr [rsp], rdi
    mov rdi, rax
    mov r13, rsi
    mov rsi, rbx
    call <blueflame::cq::error::completion::CqeError>::new
    mov rsi, r13
    mov rdi, qword ptr [rsp]
    movzx edx, byte ptr [rsp + 9]
    cmp byte ptr [rsp + 8], 8
    mov eax, dword ptr [r14 + 56]
    mov ecx, dword ptr [r14 + 44]
    jne L4
    test dl, dl
    je L1
    jmp L4

hot_poll_sixteen:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov r15, qword ptr [rdi]
    mov ecx, dword ptr [r15 + 60]
    mov ebp, dword ptr [rdi + 40]
    bswap ecx
    xor ecx, ebp
    mov eax, ecx
    ror al
    cmp al, 119
    ja L9
    mov r12d, dword ptr [rdi + 8]
    mov r13, qword ptr [rsi]
    mov r9, qword ptr [rdi + 32]
    mov r10, qword ptr [rdi + 24]
    mov r11, qword ptr [rdi + 16]
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 48], rax
    mov ebx, dword ptr [rsi + 8]
    mov edx, 1
L1:
    mov rax, rdx
    mov r14d, ecx
    cmp cl, 3
    ja L3
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
L2:
    bswap edx
    and ecx, -256
    bswap ecx
    shr r14d, 16
    add r14, r13
    add r14, rdx
    add r14, rcx
    mov qword ptr [rsi], r14
    mov r13, r14
    jmp L5
L3:
    and cl, -4
    rol cl, 4
    cmp cl, 4
    ja L8
    mov ecx, dword ptr [r15 + 56]
    mov ecx, dword ptr [r15 + 44]
L4:
    inc ebx
    mov dword ptr [rsi + 8], ebx
L5:
    inc r12d
    cmp r15, r10
    je L7
    add r15, r9
L6:
    mov ecx, r12d
    bswap ecx
    mov rdx, qword ptr [rsp + 48]
    mov dword ptr [rdx], ecx
    cmp rax, 16
    je L10
    mov ecx, dword ptr [r15 + 60]
    bswap ecx
    xor ecx, ebp
    mov r8d, ecx
    ror r8b
    lea rdx, [rax + 1]
    cmp r8b, 120
    jb L1
    jmp L10
L7:
    and r12d, 16777215
    xor ebp, 1
    mov dword ptr [rdi + 40], ebp
    mov r15, r11
    jmp L6
L8:
    mov rdx, qword ptr [r15 + 48]
    bswap rdx
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 40], rdi
    lea rdi, [rsp + 56]
    mov qword ptr [rsp + 32], rsi
    mov rsi, r14
    mov qword ptr [rsp + 24], rax
    mov qword ptr [rsp + 16], r9
    mov qword ptr [rsp + 8], r10
    mov qword ptr [rsp], r11
    call <blueflame::cq::error::completion::CqeError>::new
    mov r11, qword ptr [rsp]
    mov r10, qword ptr [rsp + 8]
    mov r9, qword ptr [rsp + 16]
    mov rax, qword ptr [rsp + 24]
    mov rsi, qword ptr [rsp + 32]
    mov rdi, qword ptr [rsp + 40]
    movzx r8d, byte ptr [rsp + 57]
    cmp byte ptr [rsp + 56], 8
    mov ecx, dword ptr [r15 + 56]
    mov edx, dword ptr [r15 + 44]
    jne L4
    test r8b, r8b
    je L2
    jmp L4
L9:
    xor eax, eax
    jmp L11
L10:
    mov qword ptr [rdi], r15
    mov dword ptr [rdi + 8], r12d
L11:
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_pool_give_back:
    mov rax, qword ptr [rdi]
    mov rcx, qword ptr [rax]
    mov qword ptr [rax], rdi
    mov qword ptr [rdi + 16], rcx
    dec qword ptr [rax + 8]
    ret

hot_pool_take:
    mov rcx, qword ptr [rdi]
    mov rax, qword ptr [rcx]
    test rax, rax
    je L1
    mov rdx, qword ptr [rax + 16]
    mov qword ptr [rcx], rdx
    inc qword ptr [rcx + 8]
L1:
    ret

hot_post_after:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 88
    mov r14, rdi
    mov edi, dword ptr [rsi + 56]
    mov ebx, dword ptr [rsi + 60]
    cmp edi, ebx
    je L10
    mov eax, edx
    mov qword ptr [rsp], r14
    mov r10, qword ptr [rsp + 144]
    mov rdx, qword ptr [rsi + 16]
    mov r11, qword ptr [rsi + 40]
    movzx r14d, byte ptr [rsi + 122]
    mov r15d, edi
    bswap r15d
    shr r15d, 8
    movabs r12, 144115188327514112
    or r12, rdx
    or r12, r15
    shl r14d, 26
    add r14, 67108864
    mov r15d, dword ptr [rsi + 68]
    mov ebp, edi
    shl ebp, 4
    and ebp, r15d
    mov qword ptr [r11 + rbp], 0
    mov qword ptr [r11 + rbp + 8], 1
    mov r13, qword ptr [rsi + 32]
    mov qword ptr [r13 + 4*rbp], r12
    mov qword ptr [r13 + 4*rbp + 8], r14
    mov eax, eax
    shl rcx, 32
    or rcx, rax
    bswap rcx
    mov qword ptr [r13 + 4*rbp + 16], 0
    mov qword ptr [r13 + 4*rbp + 24], rcx
    lea r14d, [rdi + 1]
    movzx ebp, r14w
    cmp dword ptr [rsi + 72], 7
    jbe L6
    cmp ebp, ebx
    je L11
    mov eax, ebp
    bswap eax
    shr eax, 8
    movabs rcx, 216172782248001536
    or rdx, rcx
    bswap r8
    or rdx, rax
    bswap r9d
    mov eax, dword ptr [r10]
    mov ecx, dword ptr [r10 + 4]
    shl ebp, 4
    and r15d, ebp
    mov r10, qword ptr [rsp + 152]
    mov qword ptr [r11 + r15], r10
    mov qword ptr [r11 + r15 + 8], 1
    mov qword ptr [r13 + 4*r15], rdx
    mov qword ptr [r13 + 4*r15 + 8], 134217728
    mov qword ptr [r13 + 4*r15 + 16], r8
    mov qword ptr [r13 + 4*r15 + 24], r9
    shl rax, 32
    or rax, 134217856
    mov qword ptr [r13 + 4*r15 + 32], rax
    mov qword ptr [r13 + 4*r15 + 40], rcx
    add edi, 2
    movzx ebp, di
    mov ecx, 259
    xor edi, edi
L1:
    mov r14, qword ptr [rsp]
    mov eax, dword ptr [rsi + 56]
    mov dword ptr [rsi + 56], ebp
    mov r8, qword ptr [rsi + 48]
    bswap ebp
    mov dword ptr [r8], ebp
    test dil, dil
    je L2
    movzx edi, cl
    add edi, 3
    and edi, -4
    cmp di, 4
    sete dil
    test cl, -2
    setne r8b
    test dil, r8b
    je L3
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [rsi + 4*rdi + 92], 64
    jb L3
    shl eax, 4
    and eax, dword ptr [rsi + 68]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdx, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*rax]
    movsd xmm1, qword ptr [rcx + 4*rax + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rcx + 4*rax + 16]
    movsd xmm2, qword ptr [rcx + 4*rax + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*rax + 32]
    movsd xmm3, qword ptr [rcx + 4*rax + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rcx + 4*rax + 48]
    movsd xmm4, qword ptr [rcx + 4*rax + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rdx], xmm0
    movaps xmmword ptr [rdx + 16], xmm1
    movaps xmmword ptr [rdx + 32], xmm2
    movaps xmmword ptr [rdx + 48], xmm3
    sfence
    xor rdx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdx
    jmp L4
L2:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rdx
    sfence
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    jmp L4
L3:
    mov rdi, rsi
    mov esi, eax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L4:
    mov byte ptr [r14], 23
L5:
    mov rax, r14
    add rsp, 88
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L6:
    mov rbx, rsi
    mov qword ptr [rsp + 32], rsi
    mov dword ptr [rsp + 80], ebp
    mov qword ptr [rsp + 40], r10
    mov qword ptr [rsp + 48], r8
    mov dword ptr [rsp + 56], r9d
    mov rax, qword ptr [rsp + 152]
    mov qword ptr [rsp + 64], rax
    mov byte ptr [rsp + 72], 8
    lea rdi, [rsp + 8]
    lea rsi, [rsp + 32]
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<blueflame::queue::send::place::in_ring::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>, blueflame::queue::send::staged::Staged<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::stage_unchecked<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#0}>::{closure#0}>@GOTPCREL]
    mov rdx, qword ptr [rsp + 16]
    mov rcx, qword ptr [rsp + 24]
    cmp byte ptr [rsp + 8], 0
    je L7
    movzx eax, dl
    cmp rax, 23
    jne L8
    mov dil, 1
    mov ecx, 2
    mov rdx, r12
    mov rsi, rbx
    jmp L1
L7:
    movzx eax, cl
    add eax, 3
    shr eax, 2
    add eax, r14d
    movzx ebp, ax
    xor edi, edi
    mov rsi, rbx
    jmp L1
L8:
    movabs rdi, -281474976710656
    and rdi, rdx
    mov rsi, rdx
L9:
    mov r14, qword ptr [rsp]
    movabs r8, 281470681743360
    and r8, rsi
    and edx, -65536
    and esi, 65280
    or rsi, rax
    or rsi, rdx
    or rsi, r8
    or rsi, rdi
    mov qword ptr [r14], rsi
    mov qword ptr [r14 + 8], rcx
    jmp L5
L10:
    xor eax, eax
    cmp dword ptr [rsi + 64], 0
    sete al
    lea rax, [rax + 2*rax]
    add rax, 65554
    mov qword ptr [r14], rax
    jmp L5
L11:
    xor eax, eax
    cmp dword ptr [rsi + 64], 0
    sete al
    lea rax, [rax + 2*rax]
    add rax, 18
    mov edx, 65536
    xor esi, esi
    xor edi, edi
    jmp L9

hot_post_datagram:
    mov rax, rdi
    movups xmm0, xmmword ptr [rdx]
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edx, dword ptr [rsi + 56]
    cmp edx, dword ptr [rsi + 60]
    je L3
    mov edi, edx
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 16]
    movabs r9, 216172782281555968
    or r9, rdi
    movq xmm1, r9
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_2]
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdi, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + rcx], xmm3
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*rcx], xmm1
    movaps xmmword ptr [rdi + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdi + 4*rcx + 32], xmm2
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm2
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edx, dword ptr [rsi + 56]
    cmp edx, dword ptr [rsi + 60]
    je L3
    mov r9d, edx
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 16]
    movabs rdi, 216172782281555968
    or rdi, r9
    movq xmm1, rdi
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    mov r9d, edx
    shl r9d, 4
    and r9d, dword ptr [rsi + 68]
    mov r10, qword ptr [rsi + 40]
    movq xmm2, r8
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movq xmm3, qword ptr [rcx]
    movapd xmmword ptr [r10 + r9], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*r9], xmm1
    movaps xmmword ptr [rcx + 4*r9 + 16], xmm0
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rcx + 4*r9 + 32], xmm3
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rcx
    movups xmmword ptr [rsp + 16], xmm0
    mov qword ptr [rsp + 32], r8
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Send, blueflame::wqe::address::vector::UdAddress<blueflame::wqe::address::vector::CompactAv>>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_datagram_entry:
    mov rax, rdi
    movups xmm2, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm0, xmmword ptr [rdx + 32]
    mov rdi, qword ptr [rcx]
    movsxd r9, dword ptr [rcx + 8]
    mov r10d, dword ptr [rcx + 12]
    test r9, r9
    jle L2
    cmp dword ptr [rsi + 76], 0
    je L2
    mov ecx, dword ptr [rsi + 56]
    mov edx, dword ptr [rsi + 60]
    sub edx, ecx
    cmp dx, 1
    jbe L3
    mov r11d, ecx
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rdx, 360287970357411840
    or rdx, r11
    movq xmm3, rdx
    shufpd xmm3, xmmword ptr [rip + .LCPI_0], 2
    shl r9, 32
    or r9, r10
    bswap r9
    bswap rdi
    movq xmm4, r9
    movq xmm5, rdi
    punpcklqdq xmm4, xmm5
    mov edi, ecx
    shl edi, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, edi
    mov r11, qword ptr [rsi + 40]
    movq xmm5, r8
    mov r8d, 2
    movq xmm6, r8
    movdqa xmm7, xmm5
    punpcklqdq xmm7, xmm6
    movdqa xmmword ptr [r11 + r10], xmm7
    mov r8, qword ptr [rsi + 32]
    movapd xmmword ptr [r8 + 4*r10], xmm3
    movaps xmmword ptr [r8 + 4*r10 + 16], xmm2
    movaps xmmword ptr [r8 + 4*r10 + 32], xmm1
    movaps xmmword ptr [r8 + 4*r10 + 48], xmm0
    add edi, 16
    and edi, r9d
    and edi, 1048560
    movdqa xmmword ptr [r11 + rdi], xmm5
    movdqa xmmword ptr [r8 + 4*rdi], xmm4
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 56], ecx
    mov rdi, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdi], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm3
    movaps xmmword ptr [rcx + 16], xmm2
    movaps xmmword ptr [rcx + 32], xmm1
    movaps xmmword ptr [rcx + 48], xmm0
    movdqa xmmword ptr [rcx + 64], xmm4
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 80], xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 96
    mov qword ptr [rsp + 8], rsi
    movups xmmword ptr [rsp + 16], xmm2
    movups xmmword ptr [rsp + 32], xmm1
    movups xmmword ptr [rsp + 48], xmm0
    mov qword ptr [rsp + 64], rdi
    mov dword ptr [rsp + 72], r9d
    mov dword ptr [rsp + 76], r10d
    mov qword ptr [rsp + 80], r8
    mov byte ptr [rsp + 88], 8
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 96
    pop rbx
    ret
L3:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov sil, 19
    cmp cx, 2
    jb L5
    cmp di, 1
    sete sil
    mov ecx, 1
    cmovne ecx, edx
    add sil, sil
    add sil, 18
    jmp L5
L4:
    mov sil, 21
L5:
    movzx ecx, cx
    mov byte ptr [rax], sil
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_post_datagram_full:
    mov rax, rdi
    movups xmm2, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm0, xmmword ptr [rdx + 32]
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edx, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, edx
    cmp di, 1
    jbe L3
    mov r9d, edx
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 16]
    movabs rdi, 360287970357411840
    or rdi, r9
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_0], 2
    movq xmm3, qword ptr [rcx]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    mov ecx, edx
    shl ecx, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, ecx
    mov r11, qword ptr [rsi + 40]
    movq xmm5, r8
    mov r8d, 2
    movq xmm6, r8
    movdqa xmm7, xmm5
    punpcklqdq xmm7, xmm6
    movdqa xmmword ptr [r11 + r10], xmm7
    mov r8, qword ptr [rsi + 32]
    movapd xmmword ptr [r8 + 4*r10], xmm4
    movaps xmmword ptr [r8 + 4*r10 + 16], xmm2
    movaps xmmword ptr [r8 + 4*r10 + 32], xmm1
    movaps xmmword ptr [r8 + 4*r10 + 48], xmm0
    add ecx, 16
    and ecx, r9d
    and ecx, 1048560
    movdqa xmmword ptr [r11 + rcx], xmm5
    movdqa xmmword ptr [r8 + 4*rcx], xmm3
    add edx, 2
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm4
    movaps xmmword ptr [rcx + 16], xmm2
    movaps xmmword ptr [rcx + 32], xmm1
    movaps xmmword ptr [rcx + 48], xmm0
    movdqa xmmword ptr [rcx + 64], xmm3
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 80], xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 80
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rcx
    movups xmmword ptr [rsp + 16], xmm2
    movups xmmword ptr [rsp + 32], xmm1
    movups xmmword ptr [rsp + 48], xmm0
    mov qword ptr [rsp + 64], r8
    mov byte ptr [rsp + 72], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 80
    pop rbx
    ret
L3:
    movzx r8d, word ptr [rsi + 64]
    test r8w, r8w
    je L4
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L5
    cmp r8w, 1
    sete dl
    mov ecx, 1
    cmovne ecx, edi
    add dl, dl
    add dl, 18
    jmp L5
L4:
    mov dl, 21
L5:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_post_doorbell_fence:
    mov rax, rdi
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm2, ecx
    movq xmm1, rdx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_2]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm1, ecx
    movq xmm2, rdx
    punpcklqdq xmm2, xmm1
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm1, r9
    shufpd xmm1, xmmword ptr [rip + .LCPI_1], 2
    movq xmm3, qword ptr [r8]
    movapd xmmword ptr [rdx + rcx], xmm1
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm2
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r8
    mov qword ptr [rsp + 16], rdx
    mov dword ptr [rsp + 24], ecx
    mov qword ptr [rsp + 32], r9
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::DoorbellFence>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_dynamic:
    push rbx
    sub rsp, 64
    mov rax, rdi
    mov rdi, qword ptr [rsp + 80]
    movups xmm0, xmmword ptr [rdx]
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edx, dword ptr [rsi + 56]
    cmp edx, dword ptr [rsi + 60]
    je L4
    mov r10d, edx
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs r11, 288230376285929472
    or r11, r10
    movq xmm1, r11
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    bswap rcx
    bswap r8d
    movd xmm3, r8d
    movq xmm2, rcx
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov r8, qword ptr [rsi + 40]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [r8 + rcx], xmm4
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*rcx], xmm1
    movaps xmmword ptr [rdi + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdi + 4*rcx + 32], xmm2
    movdqa xmmword ptr [rdi + 4*rcx + 48], xmm3
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L3
    mov edx, dword ptr [rsi + 56]
    cmp edx, dword ptr [rsi + 60]
    je L4
    mov r11d, edx
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 288230376285929472
    or r10, r11
    movq xmm1, r10
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    bswap rcx
    bswap r8d
    movd xmm2, r8d
    movq xmm3, rcx
    punpcklqdq xmm3, xmm2
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov r8, qword ptr [rsi + 40]
    movq xmm2, rdi
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movq xmm4, qword ptr [r9]
    movapd xmmword ptr [r8 + rcx], xmm2
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*rcx], xmm1
    movaps xmmword ptr [rdi + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdi + 4*rcx + 32], xmm3
    pslldq xmm4, 4
    por xmm4, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rdi + 4*rcx + 48], xmm4
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 64
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r9
    mov qword ptr [rsp + 16], rcx
    mov dword ptr [rsp + 24], r8d
    movups xmmword ptr [rsp + 32], xmm0
    mov qword ptr [rsp + 48], rdi
    mov byte ptr [rsp + 56], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Dci>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Write, blueflame::wqe::address::vector::DcAddress<blueflame::wqe::address::vector::CompactAv>>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 64
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 64
    pop rbx
    ret

hot_post_dynamic_full:
    push rbx
    sub rsp, 96
    mov rax, rdi
    mov r10, qword ptr [rsp + 112]
    movups xmm2, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm0, xmmword ptr [rdx + 32]
    cmp dword ptr [rsi + 72], 7
    jbe L3
    mov edx, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, edx
    cmp di, 1
    jbe L4
    mov r11d, edx
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rdi, 432345564361785344
    or rdi, r11
    movq xmm3, rdi
    shufpd xmm3, xmmword ptr [rip + .LCPI_0], 2
    bswap rcx
    bswap r8d
    movd xmm5, r8d
    movq xmm4, rcx
    punpcklqdq xmm4, xmm5
    movq xmm5, qword ptr [r9]
    pslldq xmm5, 4
    por xmm5, xmmword ptr [rip + .LCPI_1]
    mov ecx, edx
    shl ecx, 4
    mov r8d, dword ptr [rsi + 68]
    mov r9d, r8d
    and r9d, ecx
    mov r11, qword ptr [rsi + 40]
    movq xmm6, r10
    mov r10d, 2
    movq xmm7, r10
    movdqa xmm8, xmm6
    punpcklqdq xmm8, xmm7
    movdqa xmmword ptr [r11 + r9], xmm8
    mov r10, qword ptr [rsi + 32]
    movapd xmmword ptr [r10 + 4*r9], xmm3
    movaps xmmword ptr [r10 + 4*r9 + 16], xmm2
    movaps xmmword ptr [r10 + 4*r9 + 32], xmm1
    movaps xmmword ptr [r10 + 4*r9 + 48], xmm0
    add ecx, 16
    and ecx, r8d
    and ecx, 1048560
    movdqa xmmword ptr [r11 + rcx], xmm6
    movdqa xmmword ptr [r10 + 4*rcx], xmm4
    movdqa xmmword ptr [r10 + 4*rcx + 16], xmm5
    add edx, 2
    movzx ecx, dx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm3
    movaps xmmword ptr [rcx + 16], xmm2
    movaps xmmword ptr [rcx + 32], xmm1
    movaps xmmword ptr [rcx + 48], xmm0
    movdqa xmmword ptr [rcx + 64], xmm4
    movdqa xmmword ptr [rcx + 80], xmm5
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    jmp L2
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 96
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r9
    mov qword ptr [rsp + 16], rcx
    mov dword ptr [rsp + 24], r8d
    movups xmmword ptr [rsp + 32], xmm2
    movups xmmword ptr [rsp + 48], xmm1
    movups xmmword ptr [rsp + 64], xmm0
    mov qword ptr [rsp + 80], r10
    mov byte ptr [rsp + 88], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Dci>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Write, blueflame::wqe::address::vector::DcAddress>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 96
    pop rbx
    ret
L4:
    movzx r8d, word ptr [rsi + 64]
    test r8w, r8w
    je L5
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L6
    cmp r8w, 1
    sete dl
    mov ecx, 1
    cmovne ecx, edi
    add dl, dl
    add dl, 18
    jmp L6
L5:
    mov dl, 21
L6:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    add rsp, 96
    pop rbx
    ret

hot_post_dynamic_stream:
    push rbx
    sub rsp, 112
    mov rax, rdi
    mov r10, qword ptr [rsp + 128]
    movups xmm2, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm0, xmmword ptr [rdx + 32]
    movzx r11d, word ptr [rdx + 48]
    cmp dword ptr [rsi + 72], 7
    jbe L3
    mov edi, dword ptr [rsi + 56]
    mov edx, dword ptr [rsi + 60]
    sub edx, edi
    cmp dx, 1
    jbe L4
    mov edx, edi
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 16]
    rol r11w, 8
    movzx r11d, r11w
    shl r11d, 8
    movq xmm3, rdx
    movd xmm4, r11d
    punpcklqdq xmm3, xmm4
    por xmm3, xmmword ptr [rip + .LCPI_0]
    bswap rcx
    bswap r8d
    movd xmm5, r8d
    movq xmm4, rcx
    punpcklqdq xmm4, xmm5
    movq xmm5, qword ptr [r9]
    pslldq xmm5, 4
    por xmm5, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    mov r8d, dword ptr [rsi + 68]
    mov r9d, r8d
    and r9d, ecx
    mov r11, qword ptr [rsi + 40]
    movq xmm6, r10
    mov r10d, 2
    movq xmm7, r10
    movdqa xmm8, xmm6
    punpcklqdq xmm8, xmm7
    movdqa xmmword ptr [r11 + r9], xmm8
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm3
    movaps xmmword ptr [r10 + 4*r9 + 16], xmm2
    movaps xmmword ptr [r10 + 4*r9 + 32], xmm1
    movaps xmmword ptr [r10 + 4*r9 + 48], xmm0
    add ecx, 16
    and ecx, r8d
    and ecx, 1048560
    movdqa xmmword ptr [r11 + rcx], xmm6
    movdqa xmmword ptr [r10 + 4*rcx], xmm4
    movdqa xmmword ptr [r10 + 4*rcx + 16], xmm5
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdi, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdi], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm3
    movaps xmmword ptr [rcx + 16], xmm2
    movaps xmmword ptr [rcx + 32], xmm1
    movaps xmmword ptr [rcx + 48], xmm0
    movdqa xmmword ptr [rcx + 64], xmm4
    movdqa xmmword ptr [rcx + 80], xmm5
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    jmp L2
L1:
    movabs rcx, 432345564361785344
    or rdx, rcx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 112
    pop rbx
    ret
L3:
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 16], r9
    mov qword ptr [rsp + 24], rcx
    mov dword ptr [rsp + 32], r8d
    movups xmmword ptr [rsp + 40], xmm2
    movups xmmword ptr [rsp + 56], xmm1
    movups xmmword ptr [rsp + 72], xmm0
    mov word ptr [rsp + 88], r11w
    mov ecx, dword ptr [rdx + 50]
    mov dword ptr [rsp + 90], ecx
    movzx ecx, word ptr [rdx + 54]
    mov word ptr [rsp + 94], cx
    mov qword ptr [rsp + 96], r10
    mov byte ptr [rsp + 104], 8
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::DciStreams>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Write, blueflame::wqe::address::vector::DcStream>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 112
    pop rbx
    ret
L4:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L5
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov sil, 19
    cmp cx, 2
    jb L6
    cmp di, 1
    sete sil
    mov ecx, 1
    cmovne ecx, edx
    add sil, sil
    add sil, 18
    jmp L6
L5:
    mov sil, 21
L6:
    movzx ecx, cx
    mov byte ptr [rax], sil
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    add rsp, 112
    pop rbx
    ret

hot_post_entry:
    push r14
    push rbx
    sub rsp, 56
    mov rax, rdi
    mov rdi, qword ptr [r8]
    movsxd r10, dword ptr [r8 + 8]
    mov r8d, dword ptr [r8 + 12]
    test r10, r10
    jle L3
    cmp dword ptr [rsi + 104], 0
    je L1
    mov r11d, dword ptr [rsi + 56]
    cmp r11d, dword ptr [rsi + 60]
    je L4
    mov ebx, r11d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 16]
    movabs r14, 216172782248001536
    or r14, rbx
    movq xmm0, r14
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm2, ecx
    movq xmm1, rdx
    shl r10, 32
    or r10, r8
    bswap r10
    bswap rdi
    punpcklqdq xmm1, xmm2
    movq xmm2, r10
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc r11d
    movzx ecx, r11w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 0
    je L3
    mov r11d, dword ptr [rsi + 56]
    cmp r11d, dword ptr [rsi + 60]
    je L4
    mov r14d, r11d
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 16]
    movabs rbx, 216172782248001536
    or rbx, r14
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm1, ecx
    movq xmm2, rdx
    shl r10, 32
    or r10, r8
    bswap r10
    bswap rdi
    punpcklqdq xmm2, xmm1
    movq xmm1, r10
    movq xmm3, rdi
    punpcklqdq xmm1, xmm3
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm1
    inc r11d
    movzx ecx, r11w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rbx
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 56
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov dword ptr [rsp + 16], ecx
    mov qword ptr [rsp + 24], rdi
    mov dword ptr [rsp + 32], r10d
    mov dword ptr [rsp + 36], r8d
    mov qword ptr [rsp + 40], r9
    mov byte ptr [rsp + 48], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r14
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 56
    pop rbx
    pop r14
    ret

hot_post_frame:
    push r14
    push rbx
    sub rsp, 56
    mov rax, rdi
    mov rdi, qword ptr [rcx]
    movsxd r9, dword ptr [rcx + 8]
    mov ecx, dword ptr [rcx + 12]
    test r9, r9
    jle L3
    cmp dword ptr [rsi + 104], 0
    je L1
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov r11d, r10d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rbx, 288230376319483904
    or rbx, r11
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movzx r11d, word ptr [rdx]
    shl r11, 48
    movabs rbx, 19791209299968
    or rbx, r11
    movq xmm1, rbx
    pslldq xmm1, 8
    shl r9, 32
    or r9, rcx
    bswap r9
    bswap rdi
    movups xmm2, xmmword ptr [rdx + 2]
    movq xmm3, r9
    movq xmm4, rdi
    punpcklqdq xmm3, xmm4
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm4, r8
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm4
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movaps xmmword ptr [rdx + 4*rcx + 32], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm3
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 0
    je L3
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov ebx, r10d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 16]
    movabs r11, 288230376319483904
    or r11, rbx
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movzx ebx, word ptr [rdx]
    shl rbx, 48
    movabs r14, 19791209299968
    or r14, rbx
    movq xmm1, r14
    pslldq xmm1, 8
    movups xmm2, xmmword ptr [rdx + 2]
    shl r9, 32
    or r9, rcx
    bswap r9
    bswap rdi
    movq xmm3, r9
    movq xmm4, rdi
    punpcklqdq xmm3, xmm4
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm4, r8
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm4
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movaps xmmword ptr [rdx + 4*rcx + 32], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm3
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r11
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 56
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov byte ptr [rsp + 16], 0
    mov qword ptr [rsp + 24], rdi
    mov dword ptr [rsp + 32], r9d
    mov dword ptr [rsp + 36], ecx
    mov qword ptr [rsp + 40], r8
    mov byte ptr [rsp + 48], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::frame::Frame<&[u8; 18]>, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r14
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 56
    pop rbx
    pop r14
    ret

hot_post_frame_inline:
    mov rax, rdi
    cmp dword ptr [rsi + 72], 59
    jbe L2
    mov edi, dword ptr [rsi + 56]
    mov r8d, dword ptr [rsi + 60]
    sub r8d, edi
    cmp r8w, 1
    jbe L3
    mov r9d, edi
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 16]
    movabs r8, 432345564395339776
    or r8, r9
    movq xmm0, r8
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movdqu xmm1, xmmword ptr [rdx]
    movups xmm2, xmmword ptr [rdx + 12]
    movups xmm3, xmmword ptr [rdx + 28]
    movups xmm4, xmmword ptr [rdx + 44]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    mov edx, edi
    shl edx, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, edx
    mov r11, qword ptr [rsi + 40]
    movq xmm6, rcx
    mov ecx, 2
    movq xmm5, rcx
    movdqa xmm7, xmm6
    punpcklqdq xmm7, xmm5
    movdqa xmmword ptr [r11 + r10], xmm7
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*r10], xmm0
    movsd xmm5, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm5
    movdqa xmmword ptr [rcx + 4*r10 + 32], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm2
    add edx, 16
    and edx, r9d
    and edx, 1048560
    movdqa xmmword ptr [r11 + rdx], xmm6
    movaps xmmword ptr [rcx + 4*rdx], xmm3
    movaps xmmword ptr [rcx + 4*rdx + 16], xmm4
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm5
    movdqa xmmword ptr [rcx + 32], xmm1
    movaps xmmword ptr [rcx + 48], xmm2
    movaps xmmword ptr [rcx + 64], xmm3
    movaps xmmword ptr [rcx + 80], xmm4
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 96], xmm0
    movapd xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r8
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 32
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], rcx
    mov word ptr [rsp + 24], 2240
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<blueflame::transport::InlineNone>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::frame::Frame, blueflame::wqe::payload::Inline<&[u8; 60]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 32
    pop rbx
    ret
L3:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L5
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r8d
    add dl, dl
    add dl, 18
    jmp L5
L4:
    mov dl, 21
L5:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_post_frame_pointer:
    mov rax, rdi
    mov rdi, qword ptr [rdx]
    movsxd r8, dword ptr [rdx + 8]
    mov edx, dword ptr [rdx + 12]
    test r8, r8
    jle L2
    cmp dword ptr [rsi + 104], 0
    je L1
    mov r9d, dword ptr [rsi + 56]
    cmp r9d, dword ptr [rsi + 60]
    je L3
    mov r10d, r9d
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs r11, 216172782281555968
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    shl r8, 32
    or r8, rdx
    bswap r8
    bswap rdi
    movq xmm1, r8
    movq xmm2, rdi
    punpcklqdq xmm1, xmm2
    mov edx, r9d
    shl edx, 4
    and edx, dword ptr [rsi + 68]
    mov rdi, qword ptr [rsi + 40]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + rdx], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movsd xmm2, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdx + 16], xmm2
    movdqa xmmword ptr [rcx + 4*rdx + 32], xmm1
    inc r9d
    movzx ecx, r9w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 76], 0
    je L2
    mov r9d, dword ptr [rsi + 56]
    cmp r9d, dword ptr [rsi + 60]
    je L3
    mov r11d, r9d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782281555968
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    shl r8, 32
    or r8, rdx
    bswap r8
    bswap rdi
    movq xmm1, r8
    movq xmm2, rdi
    punpcklqdq xmm1, xmm2
    mov edx, r9d
    shl edx, 4
    and edx, dword ptr [rsi + 68]
    mov rdi, qword ptr [rsi + 40]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + rdx], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movsd xmm0, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdx + 16], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 32], xmm1
    inc r9d
    movzx ecx, r9w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 16], rdi
    mov dword ptr [rsp + 24], r8d
    mov dword ptr [rsp + 28], edx
    mov qword ptr [rsp + 32], rcx
    mov word ptr [rsp + 40], 2240
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<blueflame::transport::InlineNone>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::frame::Frame, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_header:
    push rbx
    sub rsp, 48
    mov rax, rdi
    mov rdi, qword ptr [rcx]
    movsxd r9, dword ptr [rcx + 8]
    mov ecx, dword ptr [rcx + 12]
    test r9, r9
    jle L3
    cmp dword ptr [rsi + 100], 8
    jb L1
    cmp dword ptr [rsi + 104], 0
    je L1
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov r11d, r10d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rbx, 216172782281555968
    or rbx, r11
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    shl r9, 32
    or r9, rcx
    bswap r9
    bswap rdi
    movq xmm2, r9
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 72], 8
    jb L3
    cmp dword ptr [rsi + 76], 0
    je L3
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov ebx, r10d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 16]
    movabs r11, 216172782281555968
    or r11, rbx
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    shl r9, 32
    or r9, rcx
    bswap r9
    bswap rdi
    movq xmm2, r9
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r11
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 48
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], rdi
    mov dword ptr [rsp + 24], r9d
    mov dword ptr [rsp + 28], ecx
    mov qword ptr [rsp + 32], r8
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Send, blueflame::wqe::payload::InlineThen<&[u8; 8], [blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 48
    pop rbx
    ret

hot_post_invalidate:
    mov rax, rdi
    mov r8d, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, r8d
    cmp di, 1
    jbe L2
    mov edi, r8d
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 16]
    bswap edx
    movq xmm0, rdi
    movd xmm1, edx
    psllq xmm1, 32
    punpcklqdq xmm0, xmm1
    por xmm0, xmmword ptr [rip + .LCPI_0]
    mov edx, r8d
    shl edx, 4
    mov r9d, dword ptr [rsi + 68]
    mov r10d, r9d
    and r10d, edx
    mov r11, qword ptr [rsi + 40]
    movq xmm3, rcx
    mov ecx, 2
    movq xmm1, rcx
    movdqa xmm2, xmm3
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [r11 + r10], xmm2
    mov rcx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rcx + 4*r10], xmm0
    movaps xmm2, xmmword ptr [rip + .LCPI_1]
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm2
    pxor xmm1, xmm1
    movdqa xmmword ptr [rcx + 4*r10 + 32], xmm1
    movdqa xmmword ptr [rcx + 4*r10 + 48], xmm1
    add edx, 16
    and edx, r9d
    and edx, 1048560
    movdqa xmmword ptr [r11 + rdx], xmm3
    movsd xmm3, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdx], xmm3
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    movdqa xmmword ptr [rcx + 4*rdx + 32], xmm1
    movdqa xmmword ptr [rcx + 4*rdx + 48], xmm1
    add r8d, 2
    movzx ecx, r8w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    movdqa xmmword ptr [rcx + 48], xmm1
    movaps xmmword ptr [rcx + 64], xmm3
    movdqa xmmword ptr [rcx + 80], xmm1
    movdqa xmmword ptr [rcx + 96], xmm1
    movdqa xmmword ptr [rcx + 112], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    movabs rcx, 576460752924180480
    or rdi, rcx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    movzx r8d, word ptr [rsi + 64]
    test r8w, r8w
    je L3
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L4
    cmp r8w, 1
    sete dl
    mov ecx, 1
    cmovne ecx, edi
    add dl, dl
    add dl, 18
    jmp L4
L3:
    mov dl, 21
L4:
    movzx ecx, cx
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 2
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 2
    ret

hot_post_large:
    push r14
    push rbx
    sub rsp, 56
    mov rbx, rdi
    mov rdi, qword ptr [rcx]
    movsxd r9, dword ptr [rcx + 8]
    mov r10d, dword ptr [rcx + 12]
    test r9, r9
    jle L1
    cmp r9d, dword ptr [rsi + 80]
    ja L1
    cmp dword ptr [rsi + 76], 0
    jne L2
L1:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov word ptr [rsp + 16], 1460
    mov byte ptr [rsp + 18], -64
    mov qword ptr [rsp + 24], rdi
    mov dword ptr [rsp + 32], r9d
    mov dword ptr [rsp + 36], r10d
    mov qword ptr [rsp + 40], r8
    mov byte ptr [rsp + 48], 8
    mov rsi, rsp
    mov rdi, rbx
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<blueflame::transport::InlineNone>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::frame::Frame<&[u8; 54], blueflame::wqe::operations::frame_options::Large>, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>::{closure#2}>@GOTPCREL]
    jmp L5
L2:
    mov eax, dword ptr [rsi + 56]
    mov ecx, dword ptr [rsi + 60]
    sub ecx, eax
    cmp cx, 1
    jbe L6
    mov r11d, eax
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rcx, 504403158500376576
    or rcx, r11
    movq xmm0, rcx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movzx r11d, word ptr [rdx]
    shl r11, 48
    movabs r14, 59373627899904
    or r14, r11
    movq xmm2, r14
    movdqa xmm1, xmmword ptr [rip + .LCPI_1]
    punpcklqdq xmm1, xmm2
    movups xmm2, xmmword ptr [rdx + 2]
    movups xmm3, xmmword ptr [rdx + 18]
    movups xmm4, xmmword ptr [rdx + 34]
    movss xmm5, dword ptr [rdx + 50]
    shl r9, 32
    or r9, r10
    bswap r9
    bswap rdi
    movq xmm6, r9
    movq xmm7, rdi
    punpcklqdq xmm6, xmm7
    mov edx, eax
    shl edx, 4
    mov edi, dword ptr [rsi + 68]
    mov r9d, edi
    and r9d, edx
    mov r10, qword ptr [rsi + 40]
    movq xmm7, r8
    mov r8d, 2
    movq xmm8, r8
    movdqa xmm9, xmm7
    punpcklqdq xmm9, xmm8
    movdqa xmmword ptr [r10 + r9], xmm9
    mov r8, qword ptr [rsi + 32]
    movapd xmmword ptr [r8 + 4*r9], xmm0
    movdqa xmmword ptr [r8 + 4*r9 + 16], xmm1
    movaps xmmword ptr [r8 + 4*r9 + 32], xmm2
    movaps xmmword ptr [r8 + 4*r9 + 48], xmm3
    add edx, 16
    and edx, edi
    and edx, 1048560
    movdqa xmmword ptr [r10 + rdx], xmm7
    movaps xmmword ptr [r8 + 4*rdx], xmm4
    movaps xmmword ptr [r8 + 4*rdx + 16], xmm5
    movdqa xmmword ptr [r8 + 4*rdx + 32], xmm6
    add eax, 2
    movzx eax, ax
    mov dword ptr [rsi + 56], eax
    mov rdx, qword ptr [rsi + 48]
    bswap eax
    mov dword ptr [rdx], eax
    cmp dword ptr [rsi + 96], 127
    jbe L3
    sfence
    mov rax, qword ptr [rsi]
    movapd xmmword ptr [rax], xmm0
    movdqa xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    movaps xmmword ptr [rax + 64], xmm4
    movaps xmmword ptr [rax + 80], xmm5
    movdqa xmmword ptr [rax + 96], xmm6
    xorpd xmm0, xmm0
    movapd xmmword ptr [rax + 112], xmm0
    sfence
    jmp L4
L3:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rcx
    sfence
L4:
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    mov byte ptr [rbx], 23
L5:
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r14
    ret
L6:
    movzx edi, word ptr [rsi + 64]
    test di, di
    je L7
    mov eax, dword ptr [rsi + 68]
    shr eax, 4
    inc eax
    mov dl, 19
    cmp ax, 2
    jb L8
    cmp di, 1
    sete dl
    mov eax, 1
    cmovne eax, ecx
    add dl, dl
    add dl, 18
    jmp L8
L7:
    mov dl, 21
L8:
    movzx eax, ax
    mov byte ptr [rbx], dl
    mov word ptr [rbx + 2], 2
    mov dword ptr [rbx + 4], eax
    mov word ptr [rbx + 8], 2
    jmp L5

hot_post_memcpy:
    push rbp
    push r15
    push r14
    push rbx
    sub rsp, 72
    mov rax, rdi
    mov r11, qword ptr [rdx]
    mov r10d, dword ptr [rdx + 8]
    mov ebx, dword ptr [rdx + 12]
    mov edx, dword ptr [rcx + 12]
    bswap r10d
    bswap r11
    mov rdi, qword ptr [rcx]
    mov ecx, dword ptr [rcx + 8]
    mov r14d, 2147483648
    cmp rcx, r14
    ja L4
    lea ebp, [rcx - 1]
    cmp ebp, ebx
    jae L4
    cmp dword ptr [rsi + 104], 0
    je L1
    mov ebx, dword ptr [rsi + 56]
    cmp ebx, dword ptr [rsi + 60]
    je L5
    mov r14d, ebx
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 16]
    movabs r15, 288230376940240897
    or r15, r14
    movq xmm0, r15
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm2, r11
    movd xmm1, r10d
    psllq xmm1, 32
    punpcklqdq xmm1, xmm2
    and ecx, 2147483647
    bswap rdi
    shl rcx, 32
    or rcx, rdx
    bswap rcx
    movq xmm2, rcx
    movq xmm4, rdi
    movdqa xmm3, xmm2
    punpcklqdq xmm3, xmm4
    bswap r8
    movq xmm4, r8
    punpcklqdq xmm2, xmm4
    mov ecx, ebx
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm4
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm2
    inc ebx
    movzx ecx, bx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm3
    movdqa xmmword ptr [rcx + 48], xmm2
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 0
    je L4
    mov ebx, dword ptr [rsi + 56]
    cmp ebx, dword ptr [rsi + 60]
    je L5
    mov r15d, ebx
    bswap r15d
    shr r15d, 8
    or r15, qword ptr [rsi + 16]
    movabs r14, 288230376940240897
    or r14, r15
    movq xmm0, r14
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm2, r11
    movd xmm1, r10d
    psllq xmm1, 32
    punpcklqdq xmm1, xmm2
    and ecx, 2147483647
    bswap rdi
    shl rcx, 32
    or rcx, rdx
    bswap rcx
    movq xmm2, rcx
    movq xmm3, rdi
    movdqa xmm4, xmm2
    punpcklqdq xmm4, xmm3
    mov ecx, ebx
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm4
    bswap r8
    movq xmm0, r8
    punpcklqdq xmm2, xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm2
    inc ebx
    movzx ecx, bx
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r14
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
L3:
    add rsp, 72
    pop rbx
    pop r14
    pop r15
    pop rbp
    ret
L4:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdi
    mov dword ptr [rsp + 16], ecx
    mov dword ptr [rsp + 20], edx
    mov qword ptr [rsp + 24], r8
    mov dword ptr [rsp + 32], edx
    mov dword ptr [rsp + 36], ebx
    mov dword ptr [rsp + 40], 0
    mov dword ptr [rsp + 44], r10d
    mov qword ptr [rsp + 48], r11
    mov qword ptr [rsp + 56], r9
    mov byte ptr [rsp + 64], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Memcpy, blueflame::wqe::operations::copy::Copied>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    jmp L3
L5:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    jmp L3

hot_post_one_fence:
    mov rax, rdi
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm3, ecx
    movq xmm1, rdx
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_2]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    punpcklqdq xmm1, xmm3
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    mov rdx, qword ptr [rsi + 40]
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm1, ecx
    movq xmm2, rdx
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    punpcklqdq xmm2, xmm1
    movq xmm1, r9
    shufpd xmm1, xmmword ptr [rip + .LCPI_1], 2
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, qword ptr [r8]
    movapd xmmword ptr [rdx + rcx], xmm1
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r8
    mov qword ptr [rsp + 16], rdx
    mov dword ptr [rsp + 24], ecx
    mov qword ptr [rsp + 32], r9
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::OneFence>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_receive:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    mov r9, rcx
    mov rax, rdi
    mov r11d, dword ptr [rsi + 52]
    mov edi, dword ptr [rsi + 60]
    mov ecx, edi
    sub ecx, dword ptr [rsi + 64]
    cmp ecx, r11d
    jae L1
    mov ecx, dword ptr [rsi + 56]
    and ecx, 63
    mov r10d, 1
    shl r10, cl
    shr r10, 4
    cmp r9, r10
    jbe L4
    mov ecx, 1
    jmp L2
L1:
    xor ecx, ecx
L2:
    mov dword ptr [rax], ecx
    mov dword ptr [rax + 4], r11d
    mov qword ptr [rax + 8], r9
    mov qword ptr [rax + 16], r10
L3:
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L4:
    test r9, r9
    je L8
    mov rbx, r9
    shl rbx, 4
    xor r14d, r14d
L5:
    mov r11d, dword ptr [rdx + r14 + 8]
    test r11d, r11d
    js L11
    add r14, 16
    cmp rbx, r14
    jne L5
    mov r9d, dword ptr [rsi + 40]
    and r9d, edi
    mov r11, r9
    shl r11, cl
    add r11, qword ptr [rsi]
    xor ecx, ecx
    xor r14d, r14d
    jmp L7
L6:
    add r14, 16
    cmp rbx, r14
    je L9
L7:
    mov r15d, dword ptr [rdx + r14 + 8]
    test r15, r15
    je L6
    mov r12, rcx
    mov r13d, dword ptr [rdx + r14 + 12]
    mov rbp, qword ptr [rdx + r14]
    bswap rbp
    shl r15, 32
    or r15, r13
    bswap r15
    shl r12, 4
    mov qword ptr [r11 + r12], r15
    mov qword ptr [r11 + r12 + 8], rbp
    inc rcx
    jmp L6
L8:
    mov r9d, dword ptr [rsi + 40]
    and r9d, edi
    mov r11, r9
    shl r11, cl
    add r11, qword ptr [rsi]
    xor ecx, ecx
L9:
    cmp rcx, r10
    jae L10
    shl rcx, 4
    movabs rdx, 281474976710656
    mov qword ptr [r11 + rcx], rdx
    mov qword ptr [r11 + rcx + 8], 0
L10:
    mov rcx, qword ptr [rsi + 16]
    mov qword ptr [rcx + 8*r9], r8
    inc edi
    mov dword ptr [rsi + 60], edi
    mov rcx, qword ptr [rsi + 8]
    movzx edx, di
    bswap edx
    mov dword ptr [rcx], edx
    mov dword ptr [rax], 3
    jmp L3
L11:
    mov ecx, 2
    jmp L2

hot_post_send:
    mov rax, rdi
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movabs r9, 144115188243628032
    or r9, r8
    movq xmm0, r9
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_2]
    mov edx, edi
    shl edx, 4
    and edx, dword ptr [rsi + 68]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    mov rcx, qword ptr [rsi + 40]
    movapd xmmword ptr [rcx + rdx], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 32], xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r9d, edi
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 16]
    movabs r8, 144115188243628032
    or r8, r9
    movq xmm0, r8
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    mov r9d, edi
    shl r9d, 4
    and r9d, dword ptr [rsi + 68]
    movq xmm1, rcx
    shufpd xmm1, xmmword ptr [rip + .LCPI_1], 2
    mov rcx, qword ptr [rsi + 40]
    movq xmm2, qword ptr [rdx]
    movapd xmmword ptr [rcx + r9], xmm1
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*r9], xmm0
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rcx + 4*r9 + 16], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r8
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 32
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], rcx
    mov byte ptr [rsp + 24], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Send, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 32
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_shared:
    push r14
    push rbx
    sub rsp, 56
    cmp dword ptr [rsi + 92], 7
    jbe L4
    mov eax, dword ptr [rsi + 48]
    cmp eax, dword ptr [rsi + 52]
    je L13
    mov r11d, eax
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi]
    movabs r10, 216172782248001536
    bswap rdx
    or r10, r11
    bswap ecx
    mov r11d, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    shl r11, 32
    or r11, 134217856
    mov ebx, eax
    shl ebx, 4
    and ebx, dword ptr [rsi + 60]
    mov r14, qword ptr [rsi + 24]
    mov qword ptr [r14 + rbx], r9
    mov qword ptr [r14 + rbx + 8], 1
    mov r9, qword ptr [rsi + 16]
    mov qword ptr [r9 + 4*rbx], r10
    mov qword ptr [r9 + 4*rbx + 8], 134217728
    mov qword ptr [r9 + 4*rbx + 16], rdx
    mov qword ptr [r9 + 4*rbx + 24], rcx
    mov qword ptr [r9 + 4*rbx + 32], r11
    mov qword ptr [r9 + 4*rbx + 40], r8
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 48], eax
    mov r9, qword ptr [rsi + 32]
    bswap eax
    mov dword ptr [r9], eax
    mov rsi, qword ptr [rsi + 40]
    mov r9b, 1
L1:
    xor eax, eax
    lock cmpxchg byte ptr [rsi + 24], r9b
    jne L3
    jmp L8
L2:
    pause
L3:
    movzx eax, byte ptr [rsi + 24]
    test al, al
    jne L2
    jmp L1
L4:
    cmp dword ptr [rsi + 64], 7
    jbe L12
    mov eax, dword ptr [rsi + 48]
    cmp eax, dword ptr [rsi + 52]
    je L13
    mov r11d, eax
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi]
    movabs r10, 216172782248001536
    bswap rdx
    or r10, r11
    bswap ecx
    mov r11d, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    mov ebx, eax
    shl ebx, 4
    and ebx, dword ptr [rsi + 60]
    mov r14, qword ptr [rsi + 24]
    mov qword ptr [r14 + rbx], r9
    mov qword ptr [r14 + rbx + 8], 1
    mov r9, qword ptr [rsi + 16]
    mov qword ptr [r9 + 4*rbx], r10
    mov qword ptr [r9 + 4*rbx + 8], 134217728
    mov qword ptr [r9 + 4*rbx + 16], rdx
    mov qword ptr [r9 + 4*rbx + 24], rcx
    shl r11, 32
    or r11, 134217856
    mov qword ptr [r9 + 4*rbx + 32], r11
    mov qword ptr [r9 + 4*rbx + 40], r8
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 48], eax
    mov rcx, qword ptr [rsi + 32]
    bswap eax
    mov dword ptr [rcx], eax
    mov rcx, qword ptr [rsi + 40]
    mov dl, 1
L5:
    xor eax, eax
    lock cmpxchg byte ptr [rcx + 24], dl
    jne L7
    jmp L9
L6:
    pause
L7:
    movzx eax, byte ptr [rcx + 24]
    test al, al
    jne L6
    jmp L5
L8:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], r10
    mov qword ptr [rax + 8], 134217728
    mov qword ptr [rax + 16], rdx
    mov qword ptr [rax + 24], rcx
    mov qword ptr [rax + 32], r11
    mov qword ptr [rax + 40], r8
    mov qword ptr [rax + 48], 0
    mov qword ptr [rax + 56], 0
    sfence
    mov rax, qword ptr [rsi + 8]
    xor qword ptr [rsi], rax
    mov byte ptr [rsi + 24], 0
    jmp L10
L9:
    sfence
    mov rax, qword ptr [rcx]
    mov qword ptr [rax], r10
    sfence
    mov rax, qword ptr [rcx + 8]
    xor qword ptr [rcx], rax
    mov byte ptr [rcx + 24], 0
L10:
    mov byte ptr [rdi], 23
L11:
    mov rax, rdi
    add rsp, 56
    pop rbx
    pop r14
    ret
L12:
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 16], r8
    mov qword ptr [rsp + 24], rdx
    mov dword ptr [rsp + 32], ecx
    mov qword ptr [rsp + 40], r9
    mov byte ptr [rsp + 48], 8
    lea rsi, [rsp + 8]
    mov rbx, rdi
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, &blueflame::db::shared::SharedRegister>>::post_composed<blueflame::wqe::words::ds::DsWords, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rdi, rbx
    jmp L11
L13:
    xor eax, eax
    cmp dword ptr [rsi + 56], 0
    sete al
    lea eax, [rax + 2*rax]
    add eax, 18
    mov byte ptr [rdi], al
    mov dword ptr [rdi + 2], 1
    jmp L11

hot_post_signed:
    mov rax, rdi
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    bswap rdx
    or r10, r11
    bswap ecx
    movq xmm0, rdx
    movq xmm1, rcx
    punpcklqdq xmm0, xmm1
    movq xmm1, qword ptr [r8]
    pshufd xmm3, xmm1, 153
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movq xmm2, r10
    and r10, -134217729
    movq r8, xmm1
    xor r8, r10
    movq r10, xmm3
    xor r10, rdx
    xor r10, r8
    xor rcx, r10
    shr r10, 32
    xor r10, rcx
    mov rcx, r10
    shr rcx, 16
    xor ecx, r10d
    mov edx, ecx
    shr edx, 8
    xor edx, ecx
    movzx ecx, dl
    xor ecx, 134217983
    movd xmm3, ecx
    punpcklqdq xmm2, xmm3
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*rcx], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm2
    movdqa xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    bswap rdx
    or r10, r11
    bswap ecx
    movq xmm0, rdx
    movq xmm1, rcx
    punpcklqdq xmm0, xmm1
    movq xmm1, qword ptr [r8]
    pshufd xmm2, xmm1, 153
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    mov r8, r10
    and r8, -134217729
    movq r11, xmm1
    xor r11, r8
    movq r8, xmm2
    xor r8, rdx
    xor r8, r11
    xor rcx, r8
    shr r8, 32
    xor r8, rcx
    mov rcx, r8
    shr rcx, 16
    xor ecx, r8d
    mov edx, ecx
    shr edx, 8
    xor edx, ecx
    movzx ecx, dl
    xor ecx, 134217983
    movd xmm2, ecx
    movq xmm3, r10
    punpcklqdq xmm3, xmm2
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm2, r9
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm2
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*rcx], xmm3
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r8
    mov qword ptr [rsp + 16], rdx
    mov dword ptr [rsp + 24], ecx
    mov qword ptr [rsp + 32], r9
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_slice:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    push rax
    mov rax, rdi
    mov r10d, dword ptr [rsi + 72]
    cmp r9, r10
    ja L37
    mov r13d, dword ptr [rsi + 56]
    test r9, r9
    je L1
    lea rdi, [r9 + 19]
    shr rdi, 4
    add rdi, 2
    cmp r9, 972
    jbe L2
    mov esi, 5
    mov r10d, 16128
    mov r9, rdi
    jmp L41
L1:
    mov edi, 2
L2:
    lea r10d, [rdi + 3]
    movzx r14d, r10w
    shr r14d, 2
    mov r10d, dword ptr [rsi + 60]
    sub r10d, r13d
    cmp r14w, r10w
    ja L38
    mov qword ptr [rsp], rax
    mov ebp, dword ptr [rsi + 68]
    mov r10d, r13d
    shl r10d, 4
    mov r11d, ebp
    and r11d, r10d
    mov r12, qword ptr [rsi + 32]
    mov ebx, r13d
    bswap ebx
    shr ebx, 8
    mov r15, rdi
    shl r15, 56
    or r15, rbx
    or r15, qword ptr [rsi + 16]
    or r15, 134217728
    mov qword ptr [r12 + 4*r11], r15
    mov qword ptr [r12 + 4*r11 + 8], 134217728
    bswap rdx
    bswap ecx
    mov qword ptr [r12 + 4*r11 + 16], rdx
    mov qword ptr [r12 + 4*r11 + 24], rcx
    test r9, r9
    je L20
    lea rdx, [r12 + 4*r11]
    mov ecx, r9d
    or ecx, -2147483648
    bswap ecx
    mov r15d, ecx
    cmp r9, 3
    jbe L11
    mov ecx, dword ptr [r8]
    shl rcx, 32
    or r15, rcx
    cmp r9, 11
    jbe L12
    add r9, -12
    mov rcx, qword ptr [r8 + 4]
    mov qword ptr [rdx + 32], r15
    mov qword ptr [rdx + 40], rcx
    add rdx, 48
    movabs rax, 9223372036854775792
    mov rbx, r9
    and rbx, rax
    lea r15, [r8 + rbx]
    add r15, 12
    add rax, 31
    and rax, r9
    test rbx, rbx
    je L5
    lea ecx, [4*rbp + 64]
    and ecx, 4194240
    add rcx, r12
    add r8, 12
    add rbx, -16
    mov r9d, ebx
    not r9d
    test r9b, 48
    je L4
    mov r9d, ebx
    shr r9d, 4
    inc r9d
    and r9d, 3
L3:
    movups xmm0, xmmword ptr [r8]
    add r8, 16
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    cmp rdx, rcx
    cmove rdx, r12
    dec r9
    jne L3
L4:
    cmp rbx, 48
    jae L7
L5:
    test rax, rax
    je L20
    cmp rax, 7
    jbe L16
    lea rcx, [rax - 8]
    mov r8, qword ptr [r15]
    cmp rax, 12
    jae L28
    cmp rax, 9
    ja L31
    test rcx, rcx
    je L35
    movzx r9d, byte ptr [r15 + 8]
    jmp L36
L6:
    add r8, 64
    cmp r8, r15
    je L5
L7:
    movups xmm0, xmmword ptr [r8]
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    mov r9, r12
    cmp rdx, rcx
    je L8
    mov r9, rdx
L8:
    movups xmm0, xmmword ptr [r8 + 16]
    movups xmmword ptr [r9], xmm0
    add r9, 16
    mov rdx, r12
    cmp r9, rcx
    je L9
    mov rdx, r9
L9:
    movups xmm0, xmmword ptr [r8 + 32]
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    mov r9, r12
    cmp rdx, rcx
    je L10
    mov r9, rdx
L10:
    movups xmm0, xmmword ptr [r8 + 48]
    movups xmmword ptr [r9], xmm0
    add r9, 16
    mov rdx, r12
    cmp r9, rcx
    je L6
    mov rdx, r9
    jmp L6
L11:
    cmp r9, 1
    jne L13
    movzx r8d, byte ptr [r8]
    jmp L14
L12:
    lea rcx, [r9 - 4]
    cmp r9, 8
    jae L15
    cmp r9, 5
    ja L17
    test rcx, rcx
    je L30
    movzx r8d, byte ptr [r8 + 4]
    jmp L19
L13:
    mov ecx, 4294967288
    lea ecx, [rcx + 8*r9]
    movzx ebx, word ptr [r8]
    movzx r8d, byte ptr [r8 + r9 - 1]
    shl r8, cl
    or r8, rbx
L14:
    shl r8, 32
    or r15, r8
    xor r8d, r8d
    jmp L19
L15:
    shl ecx, 3
    mov ebx, dword ptr [r8 + 4]
    mov r8d, dword ptr [r8 + r9 - 4]
    add cl, -32
    jmp L18
L16:
    cmp rax, 4
    jae L29
    cmp rax, 1
    jne L33
    movzx r8d, byte ptr [r15]
    jmp L35
L17:
    mov ebx, 4294967288
    lea ecx, [rbx + 8*rcx]
    movzx ebx, word ptr [r8 + 4]
    movzx r8d, byte ptr [r8 + r9 - 1]
L18:
    shl r8, cl
    or r8, rbx
L19:
    mov qword ptr [rdx + 32], r15
    mov qword ptr [rdx + 40], r8
L20:
    shl r11, 2
    test r14w, r14w
    je L24
L21:
    mov rcx, qword ptr [rsp + 64]
    mov r8d, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movzx r9d, r14w
    mov ebx, r13d
    shl ebx, 4
    and ebx, r8d
    and ebx, 1048560
    mov qword ptr [rdx + rbx], rcx
    mov qword ptr [rdx + rbx + 8], r9
    cmp r14w, 1
    je L24
    and r8d, 1048560
    mov ebx, 1
    cmp r14w, 2
    je L23
    dec r9d
    mov r14d, r13d
    shl r14d, 4
    add r14d, 32
    mov r15d, r9d
    and r15d, -2
    neg r15d
    mov ebx, 1
L22:
    lea r12d, [r14 - 16]
    and r12d, r8d
    mov qword ptr [rdx + r12], rcx
    mov qword ptr [rdx + r12 + 8], 0
    mov r12d, r14d
    and r12d, r8d
    mov qword ptr [rdx + r12], rcx
    mov qword ptr [rdx + r12 + 8], 0
    add r14d, 32
    mov r12d, ebx
    add ebx, 2
    lea ebp, [r15 + r12]
    add ebp, 2
    cmp ebp, 1
    jne L22
    test r9b, 1
    je L24
L23:
    lea r9d, [rbx + r13]
    shl r9d, 4
    and r9d, r8d
    mov qword ptr [rdx + r9], rcx
    mov qword ptr [rdx + r9 + 8], 0
L24:
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rcx + r11]
    movzx r8d, dil
    add r8d, 3
    shr r8d, 2
    add r8d, r13d
    movzx r8d, r8w
    mov dword ptr [rsi + 56], r8d
    mov r9, qword ptr [rsi + 48]
    bswap r8d
    mov dword ptr [r9], r8d
    test dil, -2
    je L25
    movzx r8d, dil
    add r8d, 3
    and r8d, -4
    cmp r8w, 4
    jne L25
    cmp dword ptr [rsi + 92], 63
    jbe L25
    and r10d, dword ptr [rsi + 68]
    sfence
    mov rax, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*r10]
    movsd xmm1, qword ptr [rcx + 4*r10 + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rcx + 4*r10 + 16]
    movsd xmm2, qword ptr [rcx + 4*r10 + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*r10 + 32]
    movsd xmm3, qword ptr [rcx + 4*r10 + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rcx + 4*r10 + 48]
    movsd xmm4, qword ptr [rcx + 4*r10 + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    jmp L26
L25:
    movzx ecx, dil
    or rcx, 256
    mov rdi, rsi
    mov esi, r13d
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L26:
    mov rax, qword ptr [rsp]
    mov byte ptr [rax], 23
L27:
    add rsp, 8
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L28:
    shl ecx, 3
    mov ebx, dword ptr [r15 + 8]
    mov r9d, dword ptr [r15 + rax - 4]
    add cl, -32
    jmp L32
L29:
    lea ecx, [8*rax]
    mov r8d, dword ptr [r15 + rax - 4]
    add cl, -32
    shl r8, cl
    mov ecx, dword ptr [r15]
    jmp L34
L30:
    xor r8d, r8d
    jmp L19
L31:
    mov r9d, 4294967288
    lea ecx, [r9 + 8*rcx]
    movzx ebx, word ptr [r15 + 8]
    movzx r9d, byte ptr [r15 + rax - 1]
L32:
    shl r9, cl
    or r9, rbx
    jmp L36
L33:
    mov ecx, 4294967288
    lea ecx, [rcx + 8*rax]
    movzx r8d, byte ptr [r15 + rax - 1]
    shl r8, cl
    movzx ecx, word ptr [r15]
L34:
    or r8, rcx
L35:
    xor r9d, r9d
L36:
    mov qword ptr [rdx], r8
    mov qword ptr [rdx + 8], r9
    shl r11, 2
    test r14w, r14w
    jne L21
    jmp L24
L37:
    shl r10, 32
    mov esi, 4
    jmp L41
L38:
    movzx edx, word ptr [rsi + 64]
    test dx, dx
    je L39
    mov ecx, dword ptr [rsi + 68]
    shr ecx, 4
    inc ecx
    mov esi, 19
    cmp r14w, cx
    ja L40
    xor ecx, ecx
    cmp r14w, dx
    cmova r10d, edx
    seta cl
    lea rsi, [2*rcx + 18]
    mov ecx, r10d
    jmp L40
L39:
    mov esi, 21
L40:
    movzx r9d, r14w
    shl r14d, 16
    movzx r10d, cx
    shl r10, 32
    or r10, r14
L41:
    or r10, rsi
    mov qword ptr [rax], r10
    mov qword ptr [rax + 8], r9
    jmp L27

hot_post_tag:
    push rbp
    push r15
    push r14
    push rbx
    sub rsp, 72
    mov rax, rdi
    rol cx, 8
    bswap rdx
    mov r10, qword ptr [r8]
    mov edi, dword ptr [r8 + 8]
    mov r8d, dword ptr [r8 + 12]
    shl ecx, 16
    or rcx, 49168
    test edi, edi
    js L4
    cmp dword ptr [rsi + 104], 0
    je L1
    mov r11d, dword ptr [rsi + 56]
    cmp r11d, dword ptr [rsi + 60]
    je L5
    movzx ebx, byte ptr [rsi + 122]
    mov r14d, r11d
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 16]
    movabs r15, 288230376822800384
    or r15, r14
    movq xmm0, r15
    movd xmm1, ebx
    pslld xmm1, 27
    punpcklqdq xmm0, xmm1
    movd xmm1, ecx
    movq xmm2, rdx
    shufpd xmm2, xmmword ptr [rip + .LCPI_0], 2
    xor ecx, ecx
    test edi, edi
    bswap edi
    bswap r8d
    bswap r10
    cmovne rcx, r10
    mov edx, 65536
    cmovne edx, r8d
    shl rdx, 32
    or rdx, rdi
    movq xmm4, rcx
    movq xmm3, rdx
    punpcklqdq xmm3, xmm4
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm4
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movapd xmmword ptr [rdx + 4*rcx + 32], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm3
    inc r11d
    movzx ecx, r11w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movapd xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 0
    je L4
    mov r11d, dword ptr [rsi + 56]
    cmp r11d, dword ptr [rsi + 60]
    je L5
    mov r14d, r11d
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 16]
    movzx ebp, byte ptr [rsi + 122]
    movabs rbx, 288230376822800384
    or rbx, r14
    movq xmm0, rbx
    movd xmm1, ebp
    pslld xmm1, 27
    punpcklqdq xmm0, xmm1
    movd xmm1, ecx
    movq xmm2, rdx
    shufpd xmm2, xmmword ptr [rip + .LCPI_0], 2
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movapd xmmword ptr [rdx + 4*rcx + 32], xmm2
    xor r9d, r9d
    test edi, edi
    bswap r8d
    mov r14d, 65536
    cmovne r14d, r8d
    bswap r10
    bswap edi
    cmovne r9, r10
    shl r14, 32
    or r14, rdi
    movq xmm0, r9
    movq xmm1, r14
    punpcklqdq xmm1, xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm1
    inc r11d
    movzx ecx, r11w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rbx
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
L3:
    add rsp, 72
    pop rbx
    pop r14
    pop r15
    pop rbp
    ret
L4:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], rcx
    mov qword ptr [rsp + 16], 0
    mov qword ptr [rsp + 24], rdx
    mov qword ptr [rsp + 32], -1
    mov qword ptr [rsp + 40], r10
    mov dword ptr [rsp + 48], edi
    mov dword ptr [rsp + 52], r8d
    mov qword ptr [rsp + 56], r9
    mov byte ptr [rsp + 64], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::TagAppend, blueflame::wqe::tags::entry::TagBuffer>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    jmp L3
L5:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    jmp L3

hot_post_two_fences:
    mov rax, rdi
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 16]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm2, ecx
    movq xmm1, rdx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_2]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    xorpd xmm0, xmm0
    movapd xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L2
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap rdx
    bswap ecx
    movd xmm1, ecx
    movq xmm2, rdx
    punpcklqdq xmm2, xmm1
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm1, r9
    shufpd xmm1, xmmword ptr [rip + .LCPI_1], 2
    movq xmm3, qword ptr [r8]
    movapd xmmword ptr [rdx + rcx], xmm1
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm2
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    push rbx
    sub rsp, 48
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 8], r8
    mov qword ptr [rsp + 16], rdx
    mov dword ptr [rsp + 24], ecx
    mov qword ptr [rsp + 32], r9
    mov byte ptr [rsp + 40], 8
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 48
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_xrc:
    push rbx
    sub rsp, 64
    mov rax, rdi
    mov rdi, qword ptr [rsp + 80]
    cmp dword ptr [rsi + 100], 7
    jbe L1
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov r11d, r10d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 16]
    movabs rbx, 288230376285929472
    or rbx, r11
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap edx
    movd xmm1, edx
    bswap rcx
    bswap r8d
    movd xmm3, r8d
    movq xmm2, rcx
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_2]
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm4
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm3
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 72], 7
    jbe L3
    mov r10d, dword ptr [rsi + 56]
    cmp r10d, dword ptr [rsi + 60]
    je L4
    mov ebx, r10d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 16]
    movabs r11, 288230376285929472
    or r11, rbx
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    bswap edx
    movd xmm1, edx
    bswap rcx
    bswap r8d
    movd xmm2, r8d
    movq xmm3, rcx
    punpcklqdq xmm3, xmm2
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 68]
    mov rdx, qword ptr [rsi + 40]
    movq xmm2, rdi
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movq xmm4, qword ptr [r9]
    movapd xmmword ptr [rdx + rcx], xmm2
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    pslldq xmm4, 4
    por xmm4, xmmword ptr [rip + .LCPI_2]
    movdqa xmmword ptr [rdx + 4*rcx + 48], xmm4
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r11
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    add rsp, 64
    pop rbx
    ret
L3:
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 16], r9
    mov qword ptr [rsp + 24], rcx
    mov dword ptr [rsp + 32], r8d
    mov dword ptr [rsp + 40], edx
    mov qword ptr [rsp + 48], rdi
    mov byte ptr [rsp + 56], 8
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::XrcInitiator>>::post_composed<blueflame::arch::wide::Wide, blueflame::wqe::request::Request<blueflame::wqe::address::to::To<blueflame::wqe::operations::table::Write, blueflame::types::Srqn>, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#2}>@GOTPCREL]
    mov rax, rbx
    add rsp, 64
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 64
    pop rbx
    ret

hot_receive_frames:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 104
    mov qword ptr [rsp + 24], rdx
    mov eax, dword ptr [rsi + 68]
    shl rax, 32
    mov qword ptr [rsp + 16], rdi
    cmp qword ptr [rdi + 64], rax
    jne L12
    mov rax, qword ptr [rsp + 24]
    mov r14, qword ptr [rax]
    mov qword ptr [rsp + 8], 0
L1:
    mov ecx, 16
    mov rdi, qword ptr [rsp + 8]
    sub rcx, rdi
    mov qword ptr [rsp + 72], rcx
    mov eax, dword ptr [rsi + 80]
    mov dword ptr [rsp + 36], eax
    mov ecx, dword ptr [rsi + 84]
    mov rax, qword ptr [rsi + 56]
    mov qword ptr [rsp + 96], rax
    and ecx, 63
    mov r8, qword ptr [rsp + 16]
    mov r11d, dword ptr [r8 + 8]
    mov r13, qword ptr [r8]
    mov r15d, dword ptr [rsi + 72]
    mov rax, qword ptr [r8 + 32]
    mov qword ptr [rsp + 80], rax
    mov ebx, dword ptr [rsi + 88]
    mov eax, dword ptr [rsi + 92]
    mov r9, qword ptr [r8 + 24]
    mov rdx, qword ptr [r8 + 16]
    mov qword ptr [rsp + 64], rdx
    mov rdx, qword ptr [r8 + 48]
    mov r12d, dword ptr [r8 + 40]
    add rdi, -16
    mov qword ptr [rsp + 88], rdi
    xor r8d, r8d
L2:
    mov r10d, dword ptr [r13 + 60]
    bswap r10d
    xor r10d, r12d
    mov edi, r10d
    and edi, 253
    cmp edi, 32
    jne L5
    mov edi, dword ptr [r13 + 44]
    movzx ebp, word ptr [r13 + 2]
    rol bp, 8
    movzx ebp, bp
    xor ebp, ebx
    test ebp, eax
    jne L5
    shr r10d, 16
    cmp r10w, r15w
    jne L5
    bswap edi
    mov r10d, edi
    shr r10d, 16
    add r15d, r10d
    shl r10, cl
    cmp r15d, dword ptr [rsp + 36]
    ja L5
    movzx edi, di
    lea ebp, [rdi - 1]
    add rbp, qword ptr [rsp + 96]
    cmp rbp, r10
    jae L5
    mov dword ptr [rsi + 72], r15d
    mov r10d, dword ptr [r13 + 56]
    mov ebp, -256
    and r10d, ebp
    bswap r10d
    movzx ebp, word ptr [r13 + 28]
    add r10d, edi
    add r14, r10
    mov rdi, qword ptr [rsp + 24]
    mov qword ptr [rdi], r14
    inc r11d
    cmp r13, r9
    je L4
    add r13, qword ptr [rsp + 80]
L3:
    mov edi, r11d
    bswap edi
    mov dword ptr [rdx], edi
    dec r8
    cmp qword ptr [rsp + 88], r8
    jne L2
    jmp L8
L4:
    and r11d, 16777215
    xor r12d, 1
    mov rdi, qword ptr [rsp + 16]
    mov dword ptr [rdi + 40], r12d
    mov r13, qword ptr [rsp + 64]
    jmp L3
L5:
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], r13
    mov dword ptr [rax + 8], r11d
    test r8, r8
    je L6
    neg r8
    jmp L9
L6:
    mov eax, dword ptr [r13 + 60]
    shr eax, 24
    xor eax, r12d
    ror al
    cmp al, 119
    ja L11
    mov rdx, qword ptr [rsp + 16]
    lea rdi, [rsp + 40]
    mov rbx, rsi
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Standard>@GOTPCREL]
    cmp byte ptr [rsp + 40], 12
    jne L13
    cmp qword ptr [rsp + 48], 0
    je L7
    mov rax, qword ptr [rsp + 56]
    mov ecx, eax
    shr rax, 32
    movzx eax, ax
    add rcx, r14
    add rcx, rax
    mov rax, qword ptr [rsp + 24]
    mov qword ptr [rax], rcx
    mov r14, rcx
L7:
    mov rsi, rbx
    inc qword ptr [rsp + 8]
    jmp L10
L8:
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], r13
    mov dword ptr [rax + 8], r11d
    mov r8, qword ptr [rsp + 72]
L9:
    add qword ptr [rsp + 8], r8
L10:
    cmp qword ptr [rsp + 8], 16
    jb L1
L11:
    mov rax, qword ptr [rsp + 8]
    add rsp, 104
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L12:
    lea rdi, [rsp + 40]
    mov ecx, 16
    mov rdx, qword ptr [rsp + 16]
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Standard>@GOTPCREL]
    cmp byte ptr [rsp + 40], 12
    jne L13
    mov rax, qword ptr [rsp + 48]
    mov qword ptr [rsp + 8], rax
    jmp L11
L13:
    mov qword ptr [rsp + 8], 0
    jmp L11

hot_receive_frames_and_completions:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    mov rbx, qword ptr [rdi]
    mov r11d, dword ptr [rbx + 60]
    mov eax, dword ptr [rdi + 40]
    bswap r11d
    mov dword ptr [rsp + 8], eax
    xor r11d, eax
    mov eax, r11d
    ror al
    cmp al, 119
    ja L9
    mov r15, rsi
    mov r13d, dword ptr [rdi + 8]
    mov r14, qword ptr [rdx]
    mov eax, dword ptr [rdx + 8]
    mov dword ptr [rsp + 12], eax
    mov rax, qword ptr [rdi + 64]
    mov qword ptr [rsp + 32], rax
    mov rax, qword ptr [rdi + 32]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 40], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 56], rax
    mov eax, 1
L1:
    mov rbp, rax
    mov eax, r11d
    shr eax, 16
    mov r12d, dword ptr [rbx + 44]
    bswap r12d
    mov ecx, r11d
    and ecx, 253
    cmp ecx, 32
    jne L5
    mov ecx, dword ptr [r15 + 68]
    shl rcx, 32
    cmp qword ptr [rsp + 32], rcx
    jne L5
    mov esi, dword ptr [r15 + 72]
    mov r8d, dword ptr [r15 + 80]
    mov ecx, dword ptr [r15 + 84]
    mov r10, qword ptr [r15 + 56]
    movzx r9d, word ptr [rbx + 2]
    cmp ax, si
    jne L5
    rol r9w, 8
    movzx r9d, r9w
    xor r9d, dword ptr [r15 + 88]
    and r9d, dword ptr [r15 + 92]
    jne L5
    and ecx, 63
    mov r9d, r12d
    shr r9d, 16
    add esi, r9d
    shl r9, cl
    cmp esi, r8d
    ja L5
    movzx ecx, r12w
    lea r8d, [rcx - 1]
    add r10, r8
    cmp r10, r9
    jae L5
    mov dword ptr [r15 + 72], esi
L2:
    mov eax, dword ptr [rbx + 56]
    mov esi, -256
    and eax, esi
    bswap eax
    add eax, ecx
    movzx ecx, word ptr [rbx + 28]
    add r14, rax
    mov qword ptr [rdx], r14
    inc r13d
    cmp rbx, qword ptr [rsp + 64]
    je L8
L3:
    add rbx, qword ptr [rsp + 48]
L4:
    mov eax, r13d
    bswap eax
    mov rcx, qword ptr [rsp + 56]
    mov dword ptr [rcx], eax
    cmp rbp, 16
    je L10
    mov r11d, dword ptr [rbx + 60]
    bswap r11d
    xor r11d, dword ptr [rsp + 8]
    mov ecx, r11d
    ror cl
    lea rax, [rbp + 1]
    cmp cl, 120
    jb L1
    jmp L10
L5:
    mov qword ptr [rsp + 24], rdx
    mov qword ptr [rsp + 16], rdi
    mov ecx, r11d
    mov edx, dword ptr [rbx + 56]
    bswap edx
    movzx esi, word ptr [rbx + 2]
    rol si, 8
    mov qword ptr [rsp + 72], rcx
    mov rcx, qword ptr [rsp + 32]
    mov qword ptr [rsp + 80], rcx
    mov dword ptr [rsp + 88], edx
    mov word ptr [rsp + 92], si
    lea rdi, [rsp + 96]
    mov rsi, r15
    lea rdx, [rsp + 72]
    mov ecx, eax
    mov r8d, r12d
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::settle::<blueflame::cq::source::InQueue>@GOTPCREL]
    cmp byte ptr [rsp + 96], 11
    jne L6
    cmp qword ptr [rsp + 104], 0
    mov rdx, qword ptr [rsp + 24]
    je L7
    movzx ecx, r12w
    mov rdi, qword ptr [rsp + 16]
    jmp L2
L6:
    mov rdx, qword ptr [rsp + 24]
L7:
    mov eax, dword ptr [rsp + 12]
    inc eax
    mov dword ptr [rsp + 12], eax
    mov dword ptr [rdx + 8], eax
    mov rdi, qword ptr [rsp + 16]
    inc r13d
    cmp rbx, qword ptr [rsp + 64]
    jne L3
L8:
    and r13d, 16777215
    mov eax, dword ptr [rsp + 8]
    xor eax, 1
    mov dword ptr [rsp + 8], eax
    mov dword ptr [rdi + 40], eax
    mov rbx, qword ptr [rsp + 40]
    jmp L4
L9:
    xor ebp, ebp
    jmp L11
L10:
    mov qword ptr [rdi], rbx
    mov dword ptr [rdi + 8], r13d
L11:
    mov rax, rbp
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_receive_frames_compressed:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov r15, rsi
    mov rbx, rdi
    mov eax, dword ptr [rsi + 68]
    shl rax, 32
    cmp qword ptr [rdi + 256], rax
    jne L26
    mov qword ptr [rsp + 64], rdx
    mov r13, qword ptr [rdx]
    xor ebp, ebp
    mov qword ptr [rsp + 40], r15
L1:
    mov rdx, qword ptr [rbx + 224]
    mov r8d, dword ptr [rbx + 128]
    mov edi, dword ptr [rbx + 132]
    cmp r8d, edi
    jne L2
    mov esi, dword ptr [rdx + 60]
    shr esi, 24
    xor esi, dword ptr [rbx + 216]
    mov eax, esi
    and al, -3
    cmp al, 44
    jne L24
    mov edi, dword ptr [rdx + 44]
    bswap edi
    cmp edi, 2
    jb L24
    cmp edi, dword ptr [rbx + 220]
    ja L24
    and sil, 34
    cmp rdx, qword ptr [rbx + 200]
    je L3
    mov rax, qword ptr [rbx + 208]
    add rax, rdx
    jmp L4
L2:
    cmp byte ptr [rbx + 144], 1
    jne L24
    test r8b, 7
    lea rax, [rbx + 64]
    cmovne rdx, rax
    mov qword ptr [rsp + 16], rdx
    movzx esi, byte ptr [rbx + 142]
    mov eax, esi
    and al, -3
    mov rdx, rbx
    cmp al, 32
    je L5
    jmp L24
L3:
    mov rax, qword ptr [rbx + 192]
L4:
    mov qword ptr [rsp + 16], rax
    xor r8d, r8d
L5:
    mov r14d, dword ptr [r15 + 72]
    mov r9d, dword ptr [r15 + 80]
    mov ecx, dword ptr [r15 + 84]
    mov rax, qword ptr [r15 + 56]
    mov qword ptr [rsp + 24], rax
    movzx eax, word ptr [rdx + 2]
    rol ax, 8
    movzx eax, ax
    xor eax, dword ptr [r15 + 88]
    test dword ptr [r15 + 92], eax
    jne L24
    mov dword ptr [rsp + 36], esi
    mov r12d, 16
    mov qword ptr [rsp + 8], rbp
    sub r12, rbp
    mov eax, edi
    sub eax, r8d
    cmp r12, rax
    mov qword ptr [rsp + 48], rax
    cmovae r12, rax
    xor ebp, ebp
    mov r15d, dword ptr [rdx + 56]
    movzx eax, word ptr [rdx + 28]
    mov dword ptr [rsp + 32], edi
    mov qword ptr [rsp + 56], r8
    cmp edi, r8d
    jne L9
L6:
    mov esi, r14d
L7:
    mov r15, qword ptr [rsp + 40]
    mov dword ptr [r15 + 72], esi
    mov r11, qword ptr [rsp + 48]
    cmp ebp, r11d
    jne L8
    mov rdx, qword ptr [rbx + 224]
    mov rax, qword ptr [rbx + 200]
    mov r8, qword ptr [rbx + 208]
    mov rcx, r8
    imul rcx, r11
    sub rax, rdx
    cmp rcx, rax
    jbe L16
L8:
    test ebp, ebp
    je L23
    mov rax, qword ptr [rsp + 56]
    shl rax, 32
    mov esi, dword ptr [rsp + 32]
    or rsi, rax
    movzx edx, byte ptr [rsp + 36]
    mov rdi, rbx
    mov ecx, ebp
    call qword ptr [rip + <blueflame::cq::completion_queue::CompletionQueue<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>>::leave_run@GOTPCREL]
    jmp L21
L9:
    and ecx, 63
    and r15d, -256
    bswap r15d
    mov rax, qword ptr [rbx + 224]
    mov rdx, qword ptr [rbx + 208]
    mov rsi, qword ptr [rbx + 192]
    mov qword ptr [rsp + 104], rsi
    mov rsi, qword ptr [rbx + 200]
    mov qword ptr [rsp + 112], rax
    sub rsi, rax
    mov qword ptr [rsp + 128], rdx
    mov qword ptr [rsp + 120], rsi
    lea rax, [rdx + rsi]
    mov qword ptr [rsp + 96], rax
    xor ebp, ebp
L10:
    mov r8, qword ptr [rsp + 16]
    test ebp, ebp
    je L11
    mov r8d, ebp
    imul r8, qword ptr [rsp + 128]
    cmp r8, qword ptr [rsp + 120]
    ja L15
    add r8, qword ptr [rsp + 112]
L11:
    mov r11d, r12d
    sub r11d, ebp
    mov rax, qword ptr [rsp + 56]
    lea edx, [rax + rbp]
    and edx, 7
    add r11d, edx
    cmp r11d, 8
    mov eax, 8
    cmovae r11d, eax
    cmp r12d, ebp
    jne L12
    mov esi, r14d
    mov r14d, esi
    cmp ebp, r12d
    jb L10
    jmp L7
L12:
    mov rdi, qword ptr [r8 + 8*rdx]
    bswap rdi
    mov rax, rdi
    shr rax, 32
    cmp ax, r14w
    jne L6
    dec r11
L13:
    mov eax, edi
    shr eax, 16
    lea esi, [rax + r14]
    shl rax, cl
    cmp esi, r9d
    ja L6
    movzx edi, di
    lea r10d, [rdi - 1]
    add r10, qword ptr [rsp + 24]
    cmp r10, rax
    jae L6
    add rdi, r15
    add r13, rdi
    mov rax, qword ptr [rsp + 64]
    mov qword ptr [rax], r13
    cmp r11, rdx
    je L14
    mov rdi, qword ptr [r8 + 8*rdx + 8]
    bswap rdi
    mov rax, rdi
    shr rax, 32
    inc rdx
    inc ebp
    mov r14d, esi
    cmp ax, si
    je L13
    jmp L7
L14:
    inc ebp
    mov r14d, esi
    cmp ebp, r12d
    jb L10
    jmp L7
L15:
    sub r8, qword ptr [rsp + 96]
    add r8, qword ptr [rsp + 104]
    jmp L11
L16:
    movzx eax, byte ptr [rbx + 143]
    movzx esi, byte ptr [rbx + 216]
    or sil, -16
    mov edi, r11d
    and edi, -8
    mov r9, r8
    imul r9, rdi
    movzx eax, ax
    movzx esi, sil
    mov r10, rdx
    test r9, r9
    je L18
    lea r10, [rdx + r9]
    mov r11d, esi
    shl r11d, 8
    mov dword ptr [rsp + 24], eax
    or r11d, eax
    lea r14, [8*r8]
    lea r15, [rdx + 62]
    lea r12, [r8 - 62]
    add r12, r8
L17:
    mov word ptr [r15], r11w
    lea rax, [r15 + r8]
    mov word ptr [r15 + r8], r11w
    mov word ptr [r8 + rax], r11w
    add rax, r8
    mov word ptr [r8 + rax], r11w
    add rax, r8
    mov word ptr [r8 + rax], r11w
    add rax, r8
    mov word ptr [r8 + rax], r11w
    add rax, r8
    mov word ptr [r8 + rax], r11w
    add rax, r8
    mov word ptr [r8 + rax], r11w
    add r15, r14
    add rax, r12
    cmp rax, r10
    jne L17
    mov r15, qword ptr [rsp + 40]
    mov r11, qword ptr [rsp + 48]
    mov eax, dword ptr [rsp + 24]
L18:
    add rcx, rdx
    cmp r10, rcx
    je L20
    shl esi, 8
    or esi, eax
    lea rax, [rdx + r9]
    add rax, 62
    mov rdx, r11
    sub rdx, rdi
    imul rdx, r8
    xor edi, edi
L19:
    mov word ptr [rax + rdi], si
    add rdi, r8
    cmp rdx, rdi
    jne L19
L20:
    mov qword ptr [rbx + 224], rcx
    add r11d, dword ptr [rbx + 232]
    mov dword ptr [rbx + 232], r11d
    mov eax, dword ptr [rbx + 132]
    mov dword ptr [rbx + 128], eax
    mov rax, qword ptr [rbx + 240]
    bswap r11d
    mov dword ptr [rax], r11d
    test ebp, ebp
    je L23
L21:
    mov eax, ebp
    mov rbp, qword ptr [rsp + 8]
L22:
    add rbp, rax
    cmp rbp, 16
    jb L1
    jmp L28
L23:
    mov rbp, qword ptr [rsp + 8]
L24:
    mov eax, dword ptr [rbx + 128]
    cmp eax, dword ptr [rbx + 132]
    jne L25
    mov rax, qword ptr [rbx + 224]
    mov eax, dword ptr [rax + 60]
    shr eax, 24
    xor eax, dword ptr [rbx + 216]
    ror al
    cmp al, 120
    jae L28
L25:
    lea rdi, [rsp + 72]
    mov rsi, r15
    mov rdx, rbx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>@GOTPCREL]
    cmp byte ptr [rsp + 72], 12
    jne L27
    cmp qword ptr [rsp + 80], 0
    mov eax, 1
    je L22
    mov rcx, qword ptr [rsp + 88]
    mov edx, ecx
    shr rcx, 32
    movzx ecx, cx
    add rdx, r13
    add rdx, rcx
    mov rcx, qword ptr [rsp + 64]
    mov qword ptr [rcx], rdx
    mov r13, rdx
    jmp L22
L26:
    lea rdi, [rsp + 72]
    mov ecx, 16
    mov rsi, r15
    mov rdx, rbx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>@GOTPCREL]
    cmp byte ptr [rsp + 72], 12
    jne L27
    mov rbp, qword ptr [rsp + 80]
    jmp L28
L27:
    xor ebp, ebp
L28:
    mov rax, rbp
    add rsp, 136
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_retire_receive:
    mov eax, dword ptr [rsi + 64]
    cmp eax, dword ptr [rsi + 60]
    je L1
    mov ecx, edx
    xor ecx, eax
    movzx ecx, cx
    or ecx, dword ptr [rsi + 68]
    jne L1
    mov rcx, qword ptr [rsi + 16]
    mov edx, dword ptr [rsi + 40]
    and edx, eax
    mov rcx, qword ptr [rcx + 8*rdx]
    inc eax
    mov dword ptr [rsi + 64], eax
    mov qword ptr [rdi + 8], rcx
    mov byte ptr [rdi], 11
    mov rax, rdi
    ret
L1:
    push rbx
    mov rbx, rdi
    call <blueflame::queue::recv::queue::RecvQueue>::retire_any
    mov rax, rbx
    pop rbx
    ret

hot_retire_send:
    mov rax, rdi
    mov ecx, edx
    mov r8d, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    mov r9d, edi
    sub r9d, dword ptr [rsi + 64]
    sub edx, r9d
    mov r10d, r8d
    sub r10d, r9d
    cmp dx, r10w
    jae L1
    movzx r9d, cx
    shl r9d, 4
    and r9d, dword ptr [rsi + 68]
    mov r10, qword ptr [rsi + 40]
    mov r8, qword ptr [r10 + r9 + 8]
    test r8, r8
    je L2
    mov rcx, qword ptr [r10 + r9]
    add edx, r8d
    mov r9d, edx
    add edx, edi
    movzx edx, dx
    mov dword ptr [rsi + 60], edx
    shr r8d, 16
    inc r8d
    mov qword ptr [rax + 8], rcx
    mov word ptr [rax + 16], r8w
    mov word ptr [rax + 18], r9w
    mov byte ptr [rax], 11
    ret
L1:
    mov byte ptr [rax], 4
    mov word ptr [rax + 2], cx
    mov word ptr [rax + 4], r9w
    mov word ptr [rax + 6], r8w
    ret
L2:
    mov byte ptr [rax], 6
    mov word ptr [rax + 2], cx
    ret

hot_ring_staged:
    mov rax, rdi
    mov rdi, qword ptr [rdi]
    mov rdx, qword ptr [rax + 8]
    mov esi, dword ptr [rax + 24]
    mov r8d, dword ptr [rax + 28]
    mov rcx, qword ptr [rax + 16]
    cmp byte ptr [rax + 32], 0
    mov dword ptr [rdi + 56], r8d
    mov rax, qword ptr [rdi + 48]
    movzx r8d, r8w
    bswap r8d
    mov dword ptr [rax], r8d
    je L1
    shl esi, 4
    and esi, dword ptr [rdi + 68]
    mov rax, qword ptr [rdi + 32]
    movaps xmm0, xmmword ptr [rax + 4*rsi]
    movaps xmm1, xmmword ptr [rax + 4*rsi + 16]
    movaps xmm2, xmmword ptr [rax + 4*rsi + 32]
    movaps xmm3, xmmword ptr [rax + 4*rsi + 48]
    sfence
    mov rax, qword ptr [rdi]
    movaps xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    xor rax, qword ptr [rdi + 8]
    mov qword ptr [rdi], rax
    ret
L1:
    test cl, -2
    je L2
    movzx eax, cl
    add eax, 3
    and eax, -4
    cmp ax, 4
    jne L2
    xor eax, eax
    test ecx, 256
    sete al
    cmp dword ptr [rdi + 4*rax + 92], 64
    jb L2
    shl esi, 4
    and esi, dword ptr [rdi + 68]
    mov rax, qword ptr [rdi + 32]
    sfence
    mov rcx, qword ptr [rdi]
    movsd xmm0, qword ptr [rax + 4*rsi]
    movsd xmm1, qword ptr [rax + 4*rsi + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rax + 4*rsi + 16]
    movsd xmm2, qword ptr [rax + 4*rsi + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rax + 4*rsi + 32]
    movsd xmm3, qword ptr [rax + 4*rsi + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rax + 4*rsi + 48]
    movsd xmm4, qword ptr [rax + 4*rsi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rdi + 8]
    mov qword ptr [rdi], rcx
    ret
L2:
    jmp qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]

hot_session_inline:
    mov rax, rdi
    cmp byte ptr [rsi + 84], 1
    jne L14
    mov r11d, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    sub edi, r11d
    je L15
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 120
    movzx edi, di
    shl edi, 2
    cmp edi, 63
    mov ebx, 63
    cmovb ebx, edi
    test rcx, rcx
    je L12
    mov r13d, r11d
    shl r13d, 4
    imul rbp, rcx, 60
    mov ecx, dword ptr [rsi + 68]
    mov edi, ecx
    shr edi, 4
    inc edi
    movzx r15d, di
    and ecx, r13d
    mov rdi, qword ptr [rsi + 32]
    lea r9, [rdi + 4*rcx]
    mov r10d, ecx
    shr r10d, 4
    sub r15, r10
    shl r15, 2
    cmp r15, rbx
    cmovae r15, rbx
    lea r14, [rdi + 4*rcx]
    add r14, 32
    mov r10, rbx
    sub r10, r15
    shl r15d, 4
    add r15, r9
    xor r12d, r12d
L1:
    lea rcx, [r14 + 64]
    cmp rcx, r15
    ja L4
    mov edi, dword ptr [rdx]
    shl rdi, 32
    or rdi, 1006633088
    mov r9, qword ptr [rdx + 4]
    mov qword ptr [r14], rdi
    mov qword ptr [r14 + 8], r9
    movups xmm0, xmmword ptr [rdx + 12]
    movups xmmword ptr [r14 + 16], xmm0
    movups xmm0, xmmword ptr [rdx + 28]
    movups xmmword ptr [r14 + 32], xmm0
    movdqu xmm0, xmmword ptr [rdx + 44]
    movdqu xmmword ptr [r14 + 48], xmm0
L2:
    inc r12d
    mov r14, rcx
L3:
    add rdx, 60
    add rbp, -60
    jne L1
    jmp L6
L4:
    mov dword ptr [rsp + 20], r11d
    mov qword ptr [rsp + 48], r8
    mov qword ptr [rsp + 40], rax
    mov qword ptr [rsp + 56], r14
    mov qword ptr [rsp + 64], r15
    mov qword ptr [rsp + 72], r10
    mov qword ptr [rsp + 32], rsi
    mov rax, qword ptr [rsi + 32]
    mov r8d, 4
    lea rdi, [rsp + 96]
    lea rsi, [rsp + 56]
    mov rcx, rdx
    mov rdx, rax
    mov qword ptr [rsp + 24], rcx
    mov qword ptr [rsp + 8], r10
    call qword ptr [rip + <blueflame::queue::send::session::Room>::around::<blueflame::wqe::payload::Inline<&[u8; 60]>>@GOTPCREL]
    mov rcx, qword ptr [rsp + 96]
    test rcx, rcx
    je L5
    mov r15, qword ptr [rsp + 104]
    mov r10, qword ptr [rsp + 112]
    mov rax, qword ptr [rsp + 40]
    mov rsi, qword ptr [rsp + 32]
    mov r8, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 24]
    mov r11d, dword ptr [rsp + 20]
    jmp L2
L5:
    mov rax, r15
    sub rax, r14
    shr rax, 4
    add rax, qword ptr [rsp + 8]
    lea rdx, [rbx + 4]
    sub rdx, rax
    lea rdi, [rsp + 56]
    mov rsi, rbx
    call qword ptr [rip + <blueflame::queue::send::error::PostError>::session_full@GOTPCREL]
    movzx ecx, byte ptr [rsp + 56]
    lea rdx, [rsp + 57]
    mov rax, qword ptr [rdx]
    mov rdx, qword ptr [rdx + 7]
    mov qword ptr [rsp + 80], rax
    mov qword ptr [rsp + 87], rdx
    cmp cl, 23
    mov rax, qword ptr [rsp + 40]
    mov rsi, qword ptr [rsp + 32]
    mov r8, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 24]
    mov r11d, dword ptr [rsp + 20]
    mov r10, qword ptr [rsp + 8]
    je L3
    mov rdx, qword ptr [rsp + 80]
    mov rsi, qword ptr [rsp + 87]
    mov qword ptr [rax + 8], rsi
    mov qword ptr [rax + 1], rdx
    mov byte ptr [rax], cl
    jmp L13
L6:
    test r12w, r12w
    je L12
    sub r15, r14
    shr r15, 4
    add r10, r15
    mov rdx, rbx
    mov qword ptr [rsp + 8], r10
    sub rdx, r10
    movzx r10d, dl
    mov r9d, r10d
    add r10d, 3
    shr r10d, 2
    mov r15d, r11d
    mov ecx, r11d
    bswap ecx
    shr ecx, 8
    shl rdx, 56
    or rdx, rcx
    or rdx, qword ptr [rsi + 16]
    or rdx, 687865856
    mov ecx, dword ptr [rsi + 68]
    mov r11d, ecx
    and r11d, r13d
    mov rdi, qword ptr [rsi + 32]
    mov qword ptr [rdi + 4*r11], rdx
    mov qword ptr [rdi + 4*r11 + 8], 134217728
    movabs r14, 824633720832
    mov qword ptr [rdi + 4*r11 + 16], r14
    mov qword ptr [rdi + 4*r11 + 24], 0
    mov r14d, r12d
    shl r14d, 16
    or r14d, r10d
    add r14, -65536
    mov rdi, qword ptr [rsi + 40]
    movq xmm0, r8
    movq xmm1, r14
    movdqa xmm2, xmm0
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [rdi + r11], xmm2
    movzx r8d, r10w
    cmp r9w, 5
    jb L10
    movq xmm0, xmm0
    and ecx, 1048560
    lea r10d, [r8 - 2]
    mov r9d, 1
    cmp r10w, 3
    jb L8
    lea r10d, [r8 - 1]
    add r13d, 64
    mov r9d, ebx
    sub r9b, byte ptr [rsp + 8]
    movzx r11d, r9b
    add r11d, 3
    shr r11d, 2
    dec r11d
    and r11d, -4
    neg r11d
    mov r9d, 1
L7:
    lea r14d, [r13 - 48]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    lea r14d, [r13 - 32]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    lea r14d, [r13 - 16]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    mov r14d, r13d
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    add r13d, 64
    mov r14d, r9d
    add r9d, 4
    lea ebp, [r11 + r14]
    add ebp, 4
    cmp ebp, 1
    jne L7
    test r10b, 3
    je L10
L8:
    add r9d, r15d
    shl r9d, 4
    sub bl, byte ptr [rsp + 8]
    add bl, 3
    shr bl, 2
    dec bl
    movzx r10d, bl
    and r10d, 3
L9:
    mov r11d, r9d
    and r11d, ecx
    movdqa xmmword ptr [rdi + r11], xmm0
    add r9d, 16
    dec r10d
    jne L9
L10:
    add r8d, r15d
    movzx edi, r8w
    mov ecx, dword ptr [rsi + 56]
    mov dword ptr [rsi + 56], edi
    mov r8, qword ptr [rsi + 48]
    bswap edi
    mov dword ptr [r8], edi
    cmp r12w, 1
    jne L11
    mov rdi, rsi
    mov esi, ecx
    xor ecx, ecx
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
    mov byte ptr [rbx], 23
    jmp L13
L11:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
L12:
    mov byte ptr [rax], 23
L13:
    add rsp, 120
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L14:
    mov ecx, 22
    mov qword ptr [rax], rcx
    ret
L15:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea rcx, [rcx + 2*rcx]
    add rcx, 65554
    mov qword ptr [rax], rcx
    ret

hot_session_pointers:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov rax, rdi
    cmp byte ptr [rsi + 84], 1
    jne L17
    mov r9d, dword ptr [rsi + 56]
    mov edi, dword ptr [rsi + 60]
    mov dword ptr [rsp + 12], r9d
    sub edi, r9d
    je L18
    movzx edi, di
    shl edi, 2
    cmp edi, 63
    mov ebx, 63
    cmovb ebx, edi
    test rcx, rcx
    je L15
    mov edi, dword ptr [rsp + 12]
    mov r15d, edi
    shl r15d, 4
    shl rcx, 4
    add rcx, rdx
    mov edi, dword ptr [rsi + 68]
    mov r9d, edi
    shr r9d, 4
    inc r9d
    movzx r14d, r9w
    and edi, r15d
    mov r9, qword ptr [rsi + 32]
    lea r10, [r9 + 4*rdi]
    lea rbp, [r9 + 4*rdi]
    add rbp, 32
    shr edi, 4
    sub r14, rdi
    shl r14, 2
    cmp r14, rbx
    cmovae r14, rbx
    mov r12, rbx
    sub r12, r14
    shl r14d, 4
    add r14, r10
    xor r13d, r13d
    jmp L3
L1:
    bswap rdi
    shl r9, 32
    or r9, r11
    bswap r9
    mov qword ptr [rbp], r9
    mov qword ptr [rbp + 8], rdi
    add rbp, 16
    inc r13d
L2:
    add rdx, 16
    cmp rdx, rcx
    je L9
L3:
    movsxd r9, dword ptr [rdx + 8]
    test r9, r9
    jle L5
    mov rdi, qword ptr [rdx]
    mov r11d, dword ptr [rdx + 12]
    cmp rbp, r14
    jne L1
    cmp rbp, -16
    jb L7
    lea r10, [rbp + 16]
    bswap rdi
    shl r9, 32
    or r9, r11
    bswap r9
    mov qword ptr [rbp], r9
    mov qword ptr [rbp + 8], rdi
L4:
    inc r13d
    mov rbp, r10
    jmp L2
L5:
    mov qword ptr [rsp + 40], rdx
    mov qword ptr [rsp + 48], rcx
    mov qword ptr [rsp + 32], r8
    mov qword ptr [rsp + 16], rsi
    mov qword ptr [rsp + 24], rax
    lea rdi, [rsp + 56]
    mov esi, r9d
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::frame_size@GOTPCREL]
L6:
    movzx edi, byte ptr [rsp + 56]
    lea rcx, [rsp + 57]
    mov rax, qword ptr [rcx]
    mov rcx, qword ptr [rcx + 7]
    mov qword ptr [rsp + 80], rax
    mov qword ptr [rsp + 87], rcx
    cmp dil, 23
    mov rax, qword ptr [rsp + 24]
    mov rsi, qword ptr [rsp + 16]
    mov r8, qword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 40]
    je L2
    jmp L19
L7:
    mov qword ptr [rsp + 40], rdx
    mov qword ptr [rsp + 48], rcx
    mov qword ptr [rsp + 32], r8
    mov qword ptr [rsp + 24], rax
    mov qword ptr [rsp + 56], rbp
    mov qword ptr [rsp + 64], r14
    mov qword ptr [rsp + 72], r12
    mov qword ptr [rsp + 16], rsi
    mov rdx, qword ptr [rsi + 32]
    mov qword ptr [rsp + 96], rdi
    mov dword ptr [rsp + 104], r9d
    mov dword ptr [rsp + 108], r11d
    mov r8d, 1
    lea rdi, [rsp + 112]
    lea rsi, [rsp + 56]
    lea rcx, [rsp + 96]
    call qword ptr [rip + <blueflame::queue::send::session::Room>::around::<blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>@GOTPCREL]
    mov r10, qword ptr [rsp + 112]
    test r10, r10
    je L8
    mov r14, qword ptr [rsp + 120]
    mov r12, qword ptr [rsp + 128]
    mov rax, qword ptr [rsp + 24]
    mov rsi, qword ptr [rsp + 16]
    mov r8, qword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 40]
    jmp L4
L8:
    lea rdx, [rbx + 1]
    sub rdx, r12
    lea rdi, [rsp + 56]
    mov rsi, rbx
    call qword ptr [rip + <blueflame::queue::send::error::PostError>::session_full@GOTPCREL]
    jmp L6
L9:
    test r13w, r13w
    je L15
    sub r14, rbp
    shr r14, 4
    add r12, r14
    mov rdx, rbx
    sub rdx, r12
    movzx r10d, dl
    mov r9d, r10d
    add r10d, 3
    shr r10d, 2
    mov ecx, dword ptr [rsp + 12]
    bswap ecx
    shr ecx, 8
    shl rdx, 56
    or rdx, rcx
    or rdx, qword ptr [rsi + 16]
    or rdx, 687865856
    mov ecx, dword ptr [rsi + 68]
    mov r11d, ecx
    and r11d, r15d
    mov rdi, qword ptr [rsi + 32]
    mov qword ptr [rdi + 4*r11], rdx
    mov qword ptr [rdi + 4*r11 + 8], 134217728
    movabs r14, 824633720832
    mov qword ptr [rdi + 4*r11 + 16], r14
    mov qword ptr [rdi + 4*r11 + 24], 0
    mov r14d, r13d
    shl r14d, 16
    or r14d, r10d
    add r14, -65536
    mov rdi, qword ptr [rsi + 40]
    movq xmm0, r8
    movq xmm1, r14
    movdqa xmm2, xmm0
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [rdi + r11], xmm2
    movzx r8d, r10w
    cmp r9w, 5
    jb L13
    movq xmm0, xmm0
    and ecx, 1048560
    lea r10d, [r8 - 2]
    mov r9d, 1
    cmp r10w, 3
    jb L11
    lea r10d, [r8 - 1]
    add r15d, 64
    mov r9d, ebx
    sub r9b, r12b
    movzx r11d, r9b
    add r11d, 3
    shr r11d, 2
    dec r11d
    and r11d, -4
    neg r11d
    mov r9d, 1
L10:
    lea r14d, [r15 - 48]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    lea r14d, [r15 - 32]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    lea r14d, [r15 - 16]
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    mov r14d, r15d
    and r14d, ecx
    movdqa xmmword ptr [rdi + r14], xmm0
    add r15d, 64
    mov r14d, r9d
    add r9d, 4
    lea ebp, [r11 + r14]
    add ebp, 4
    cmp ebp, 1
    jne L10
    test r10b, 3
    je L13
L11:
    add r9d, dword ptr [rsp + 12]
    shl r9d, 4
    sub bl, r12b
    add bl, 3
    shr bl, 2
    dec bl
    movzx r10d, bl
    and r10d, 3
L12:
    mov r11d, r9d
    and r11d, ecx
    movdqa xmmword ptr [rdi + r11], xmm0
    add r9d, 16
    dec r10d
    jne L12
L13:
    add r8d, dword ptr [rsp + 12]
    movzx edi, r8w
    mov ecx, dword ptr [rsi + 56]
    mov dword ptr [rsi + 56], edi
    mov r8, qword ptr [rsi + 48]
    bswap edi
    mov dword ptr [r8], edi
    cmp r13w, 1
    jne L14
    mov rdi, rsi
    mov esi, ecx
    xor ecx, ecx
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
    jmp L15
L14:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
L15:
    mov byte ptr [rax], 23
L16:
    add rsp, 136
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L17:
    mov ecx, 22
    mov qword ptr [rax], rcx
    jmp L16
L18:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea rcx, [rcx + 2*rcx]
    add rcx, 65554
    mov qword ptr [rax], rcx
    jmp L16
L19:
    mov rcx, qword ptr [rsp + 80]
    mov rdx, qword ptr [rsp + 87]
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 1], rcx
    mov byte ptr [rax], dil
    jmp L16

hot_stage:
    push r15
    push r14
    push rbx
    sub rsp, 80
    mov rax, rdi
    mov ebx, dword ptr [rsi + 56]
    cmp dword ptr [rsi + 72], 7
    jbe L2
    cmp ebx, dword ptr [rsi + 60]
    je L6
    mov edi, ebx
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 16]
    movabs r10, 216172782248001536
    or r10, rdi
    bswap rdx
    bswap ecx
    mov edi, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    mov r11d, ebx
    shl r11d, 4
    and r11d, dword ptr [rsi + 68]
    mov r14, qword ptr [rsi + 40]
    mov qword ptr [r14 + r11], r9
    mov qword ptr [r14 + r11 + 8], 1
    mov r9, qword ptr [rsi + 32]
    mov qword ptr [r9 + 4*r11], r10
    mov qword ptr [r9 + 4*r11 + 8], 134217728
    mov qword ptr [r9 + 4*r11 + 16], rdx
    mov qword ptr [r9 + 4*r11 + 24], rcx
    shl rdi, 32
    or rdi, 134217856
    mov qword ptr [r9 + 4*r11 + 32], rdi
    mov qword ptr [r9 + 4*r11 + 40], r8
    cmp dword ptr [rsi + 92], 64
    setae dil
    lea ecx, [rbx + 1]
    movzx ecx, cx
    mov qword ptr [rax], rsi
    mov qword ptr [rax + 8], r10
    mov qword ptr [rax + 16], 259
    mov dword ptr [rax + 24], ebx
    mov dword ptr [rax + 28], ecx
L1:
    mov byte ptr [rax + 32], dil
    add rsp, 80
    pop rbx
    pop r14
    pop r15
    ret
L2:
    mov r15, rax
    mov r14, rsi
    mov qword ptr [rsp + 24], rsi
    mov dword ptr [rsp + 72], ebx
    mov qword ptr [rsp + 32], r8
    mov qword ptr [rsp + 40], rdx
    mov dword ptr [rsp + 48], ecx
    mov qword ptr [rsp + 56], r9
    mov byte ptr [rsp + 64], 8
    mov rdi, rsp
    lea rsi, [rsp + 24]
    call qword ptr [rip + blueflame::queue::send::place::short::out_of_line::<core::result::Result<blueflame::queue::send::place::in_ring::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>, blueflame::queue::send::staged::Staged<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::stage_unchecked<blueflame::wqe::request::Request<blueflame::wqe::operations::table::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>::{closure#0}>::{closure#0}>@GOTPCREL]
    mov rdx, qword ptr [rsp + 8]
    mov rcx, qword ptr [rsp + 16]
    cmp byte ptr [rsp], 0
    je L3
    mov rax, r15
    mov qword ptr [r15], rdx
    mov qword ptr [r15 + 8], rcx
    mov dil, 2
    jmp L1
L3:
    movzx esi, cl
    add esi, 3
    shr esi, 2
    cmp si, 1
    setne al
    test cl, -2
    sete dil
    or dil, al
    mov rax, r15
    je L4
    xor edi, edi
    jmp L5
L4:
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [r14 + 4*rdi + 92], 64
    setae dil
L5:
    movzx esi, si
    add esi, ebx
    movzx esi, si
    mov qword ptr [rax], r14
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 16], rcx
    mov dword ptr [rax + 24], ebx
    mov dword ptr [rax + 28], esi
    jmp L1
L6:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    mov dil, 2
    jmp L1

hot_warm_order:
    mov eax, dword ptr [rdi + 56]
    mov ecx, dword ptr [rdi + 68]
    mov rdx, qword ptr [rdi + 32]
    mov r8, qword ptr [rdi + 40]
    shl eax, 4
    mov r9d, ecx
    and r9d, eax
    lea r10, [rdx + 4*r9]
    prefetchw byte ptr [r10]
    add r9, r8
    prefetchw byte ptr [r9]
    add eax, 16
    and eax, ecx
    and eax, 1048560
    lea rcx, [rdx + 4*rax]
    prefetchw byte ptr [rcx]
    add r8, rax
    prefetchw byte ptr [r8]
    mov rax, qword ptr [rdi + 48]
    prefetchw byte ptr [rax]
    prefetcht0 byte ptr [rsi]
    prefetcht0 byte ptr [rsi + 64]
    prefetcht0 byte ptr [rsi + 128]
    prefetcht0 byte ptr [rsi + 192]
    prefetcht0 byte ptr [rsi + 256]
    ret

other_arm:
    mov eax, dword ptr [rdi + 72]
    and eax, 3
    shl eax, 28
    or esi, dword ptr [rdi + 8]
    or esi, eax
    mov rax, qword ptr [rdi + 48]
    mov ecx, esi
    bswap ecx
    mov dword ptr [rax + 4], ecx
    sfence
    shl rsi, 32
    mov eax, dword ptr [rdi + 76]
    or rax, rsi
    mov rcx, qword ptr [rdi + 56]
    bswap rax
    mov qword ptr [rcx], rax
    sfence
    ret

other_drop_frame_shared:
    mov rdi, qword ptr [rdi + 16]
    lock dec dword ptr [rdi + 16]
    je L1
    ret
L1:
    jmp qword ptr [rip + <blueflame::queue::striding::memory::BufferState>::free@GOTPCREL]

other_fire_doorbell_fence:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 68]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 48]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 92], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 23
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 64], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

other_fire_thread_register:
    mov rax, rdi
    mov edi, dword ptr [rsi + 48]
    cmp edi, dword ptr [rsi + 52]
    je L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx + 32]
    movaps xmm1, xmmword ptr [rdx + 48]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 64]
    movaps xmm3, xmmword ptr [rdx + 304]
    mov rcx, qword ptr [rsi + 16]
    mov rdx, qword ptr [rsi + 24]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 60]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 48], ecx
    mov rdx, qword ptr [rsi + 32]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 84], 63
    jbe L1
    mov rcx, qword ptr [rsi + 40]
    mov rdx, qword ptr [rcx]
    mov rsi, qword ptr [rcx + 8]
    sfence
    movdqa xmmword ptr [rdx], xmm0
    movaps xmmword ptr [rdx + 16], xmm1
    movdqa xmmword ptr [rdx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rdx + 48], xmm0
    sfence
    jmp L2
L1:
    mov rcx, qword ptr [rsi + 40]
    mov rdx, qword ptr [rcx]
    mov rsi, qword ptr [rcx + 8]
    sfence
    movq qword ptr [rdx], xmm0
    sfence
L2:
    xor rdx, rsi
    mov qword ptr [rcx], rdx
    mov qword ptr [rcx + 8], rsi
    mov byte ptr [rax], 23
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 56], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

other_flush:
    sfence
    ret

other_flush_thread_register:
    sfence
    ret

other_memory_arrived:
    mov rax, qword ptr [rdi]
    mov rcx, qword ptr [rdi + 8]
    movzx eax, byte ptr [rax + rcx]
    cmp al, sil
    jne L1
L1:
    cmp al, sil
    sete al
    ret

other_poll_compressed_enhanced:
    push rbp
    mov rbp, rsp
    push r15
    push r14
    push r12
    push rbx
    and rsp, -64
    sub rsp, 128
    mov rcx, qword ptr [rsi]
    lea r10, [rdi + 64]
    xor eax, eax
    jmp L3
L1:
    mov rdx, qword ptr [rdi + 240]
    bswap r9d
    mov dword ptr [rdx], r9d
L2:
    inc rax
    cmp rax, 16
    je L28
L3:
    mov r8, qword ptr [rdi + 224]
    mov edx, dword ptr [rdi + 128]
    mov r9d, dword ptr [rdi + 132]
    cmp edx, r9d
    jne L4
    movzx r11d, byte ptr [rdi + 143]
    mov edx, dword ptr [r8 + 60]
    bswap edx
    mov r9d, edx
    not r9d
    test r9b, -16
    je L29
    mov ebx, edx
    shr ebx, 8
    cmp r11b, bl
    jne L29
    test r9b, 12
    jne L6
    mov dword ptr [rdi + 128], 0
    shr edx, 4
    and edx, 15
    lea r9d, [rdx + 1]
    movdqa xmm0, xmmword ptr [r8]
    movaps xmm1, xmmword ptr [r8 + 16]
    movaps xmm2, xmmword ptr [r8 + 32]
    mov r11, qword ptr [r8 + 48]
    mov rbx, qword ptr [r8 + 56]
    movdqa xmmword ptr [rdi + 64], xmm0
    movaps xmmword ptr [rdi + 80], xmm1
    movaps xmmword ptr [rdi + 96], xmm2
    mov qword ptr [rdi + 112], r11
    mov qword ptr [rdi + 120], rbx
    mov dword ptr [rdi + 132], r9d
    cmp edx, 7
    jae L25
    mov r11d, dword ptr [rdi + 220]
    cmp edx, r11d
    jae L24
    cmp byte ptr [rdi + 144], 0
    je L24
    movd ebx, xmm0
    pshufd xmm0, xmm0, 85
    movd r11d, xmm0
    mov dword ptr [rdi + 128], 1
    movzx r9d, byte ptr [rdi + 142]
    cmp r9, 15
    ja L11
    bswap ebx
    mov dword ptr [rdi + 44], r11d
    mov byte ptr [rdi + 56], bh
    shr ebx, 16
    test edx, edx
    jne L13
    jmp L12
L4:
    lea ebx, [rdx + 1]
    mov dword ptr [rdi + 128], ebx
    test rdx, rdx
    je L7
    movzx r11d, byte ptr [rdi + 143]
    mov r14d, dword ptr [rdi + 216]
    shl r14d, 8
    or r14d, r11d
    or r14d, 61440
    mov word ptr [r8 + 62], r14w
    movzx r11d, byte ptr [rdi + 142]
    cmp byte ptr [rdi + 144], 1
    jne L23
    mov r14d, edx
    and r14d, 7
    mov r15d, dword ptr [r10 + 8*r14]
    mov r14d, dword ptr [r10 + 8*r14 + 4]
    cmp r11b, 16
    jae L8
L5:
    bswap r15d
    mov edx, r15d
    mov dword ptr [rdi + 44], r14d
    mov byte ptr [rdi + 56], dh
    shr edx, 16
    cmp ebx, r9d
    je L9
    jmp L10
L6:
    and edx, -2
    mov r11b, 1
    mov rbx, rdx
    jmp L15
L7:
    movzx r11d, byte ptr [rdi + 142]
    cmp byte ptr [rdi + 144], 0
    je L23
    mov r15d, dword ptr [rdi + 64]
    mov r14d, dword ptr [rdi + 68]
    cmp r11b, 15
    jbe L5
L8:
    movzx r12d, word ptr [rdi + 22]
    shl r12d, 16
    mov dword ptr [rdi + 20], r12d
    mov dword ptr [rdi + 12], r15d
    mov dword ptr [rdi + 44], r14d
    add dx, word ptr [rdi + 140]
    cmp ebx, r9d
    jne L10
L9:
    add word ptr [rdi + 140], r9w
L10:
    shl edx, 16
    movzx ebx, r11b
    or rbx, rdx
    jmp L14
L11:
    movzx r14d, word ptr [rdi + 22]
    shl r14d, 16
    mov dword ptr [rdi + 20], r14d
    mov dword ptr [rdi + 12], ebx
    mov dword ptr [rdi + 44], r11d
    movzx ebx, word ptr [rdi + 140]
    test edx, edx
    jne L13
L12:
    inc word ptr [rdi + 140]
L13:
    shl ebx, 16
    or rbx, r9
L14:
    xor r11d, r11d
L15:
    mov r9d, dword ptr [rdi + 232]
    inc r9d
    mov dword ptr [rdi + 232], r9d
    mov rdx, qword ptr [rdi + 224]
    cmp rdx, qword ptr [rdi + 200]
    je L21
    add rdx, qword ptr [rdi + 208]
    cmp rdx, qword ptr [rdi + 192]
    mov qword ptr [rdi + 224], rdx
    je L22
    mov r14, rdi
    test r11b, r11b
    je L20
L16:
    movzx r11d, byte ptr [rdi + 143]
    mov r14d, dword ptr [rdx + 60]
    mov edx, ebx
    and dl, -4
    rol dl, 4
    cmp dl, 4
    ja L17
    bswap r14d
    mov r15d, r14d
    not r15d
    mov dl, 1
    test r15b, -16
    je L18
    shr r14d, 8
    cmp r11b, r14b
    jne L18
    test r15b, 12
    sete dl
    jmp L18
L17:
    xor edx, edx
L18:
    cmp r9d, dword ptr [rdi + 136]
    setne r11b
    and r11b, dl
    mov byte ptr [rdi + 144], r11b
    je L19
    movdqa xmm0, xmmword ptr [r8]
    movaps xmm1, xmmword ptr [r8 + 16]
    movaps xmm2, xmmword ptr [r8 + 32]
    mov rdx, qword ptr [r8 + 48]
    mov r11, qword ptr [r8 + 56]
    movdqa xmmword ptr [rdi], xmm0
    movaps xmmword ptr [rdi + 16], xmm1
    movaps xmmword ptr [rdi + 32], xmm2
    mov qword ptr [rdi + 48], rdx
    mov qword ptr [rdi + 56], r11
    mov byte ptr [rdi + 142], bl
    mov edx, ebx
    shr edx, 16
    inc edx
    mov word ptr [rdi + 140], dx
L19:
    mov r14, r8
L20:
    shr ebx, 16
    mov edx, dword ptr [r14 + 44]
    bswap edx
    add rcx, rdx
    add rcx, rbx
    mov qword ptr [rsi], rcx
    mov edx, dword ptr [rdi + 128]
    test edx, edx
    je L1
    cmp edx, dword ptr [rdi + 132]
    jne L2
    jmp L1
L21:
    mov rdx, qword ptr [rdi + 192]
    and r9d, 16777215
    mov dword ptr [rdi + 232], r9d
    xor byte ptr [rdi + 216], 1
    mov qword ptr [rdi + 224], rdx
L22:
    inc byte ptr [rdi + 143]
    mov r14, rdi
    test r11b, r11b
    jne L16
    jmp L20
L23:
    movzx ebx, r11b
    jmp L14
L24:
    movaps xmm0, xmmword ptr [r10]
    movaps xmm1, xmmword ptr [r10 + 16]
    movaps xmm2, xmmword ptr [r10 + 32]
    movaps xmm3, xmmword ptr [r10 + 48]
    movaps xmmword ptr [rsp + 48], xmm3
    movaps xmmword ptr [rsp + 32], xmm2
    movaps xmmword ptr [rsp + 16], xmm1
    movaps xmmword ptr [rsp], xmm0
    cmp edx, r11d
    jae L26
    jmp L27
L25:
    movaps xmm0, xmmword ptr [r10]
    movaps xmm1, xmmword ptr [r10 + 16]
    movaps xmm2, xmmword ptr [r10 + 32]
    movaps xmm3, xmmword ptr [r10 + 48]
    movaps xmmword ptr [rsp + 48], xmm3
    movaps xmmword ptr [rsp + 32], xmm2
    movaps xmmword ptr [rsp + 16], xmm1
    movaps xmmword ptr [rsp], xmm0
L26:
    mov r9d, 1
L27:
    movdqa xmm0, xmmword ptr [rsp]
    movaps xmm1, xmmword ptr [rsp + 16]
    movaps xmm2, xmmword ptr [rsp + 32]
    movaps xmm3, xmmword ptr [rsp + 48]
    movaps xmmword ptr [rdi + 48], xmm3
    movaps xmmword ptr [rdi + 32], xmm2
    movaps xmmword ptr [rdi + 16], xmm1
    movdqa xmmword ptr [rdi], xmm0
    mov byte ptr [rdi + 144], 0
    mov byte ptr [rdi + 142], 44
    mov dword ptr [rdi + 132], r9d
    mov dword ptr [rdi + 128], 1
    mov ebx, 44
    jmp L14
L28:
    mov eax, 16
L29:
    lea rsp, [rbp - 32]
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret

other_poll_conservative:
    mov rdx, qword ptr [rdi]
    mov eax, dword ptr [rdx + 60]
    mov r8d, dword ptr [rdi + 40]
    bswap eax
    xor eax, r8d
    mov ecx, eax
    ror cl
    cmp cl, 119
    ja L2
    lfence
    mov r10, qword ptr [rdi + 32]
    movaps xmm0, xmmword ptr [rdx]
    movaps xmm0, xmmword ptr [rdx + 16]
    movdqa xmm0, xmmword ptr [rdx + 32]
    mov r9, qword ptr [rdx + 48]
    mov r9, qword ptr [rdx + 56]
    mov r9d, dword ptr [rdi + 8]
    inc r9d
    mov dword ptr [rdi + 8], r9d
    cmp rdx, qword ptr [rdi + 24]
    je L3
    add rdx, r10
L1:
    mov qword ptr [rdi], rdx
    mov rdx, qword ptr [rdi + 48]
    bswap r9d
    mov dword ptr [rdx], r9d
    shr eax, 16
    pshufd xmm0, xmm0, 255
    movd edx, xmm0
    bswap edx
    add rdx, rax
    add qword ptr [rsi], rdx
L2:
    cmp cl, 120
    setb al
    ret
L3:
    mov rdx, qword ptr [rdi + 16]
    and r9d, 16777215
    mov dword ptr [rdi + 8], r9d
    xor r8d, 1
    mov dword ptr [rdi + 40], r8d
    jmp L1

other_post_shared_receive:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    mov r9, rcx
    mov rax, rdi
    movzx edi, word ptr [rsi + 44]
    cmp di, word ptr [rsi + 46]
    jne L1
    mov ebp, dword ptr [rsi + 36]
    xor ecx, ecx
    jmp L12
L1:
    mov ecx, dword ptr [rsi + 28]
    and ecx, 63
    mov r10d, 1
    shl r10, cl
    shr r10, 4
    dec r10
    cmp r9, r10
    jbe L2
    mov ecx, 1
    jmp L12
L2:
    movzx r11d, di
    test r9, r9
    je L6
    mov rbx, r9
    shl rbx, 4
    xor r14d, r14d
L3:
    mov ebp, dword ptr [rdx + r14 + 8]
    test ebp, ebp
    js L11
    add r14, 16
    cmp rbx, r14
    jne L3
    mov r9, r11
    shl r9, cl
    add r9, qword ptr [rsi]
    xor ecx, ecx
    xor r14d, r14d
    jmp L5
L4:
    add r14, 16
    cmp rbx, r14
    je L7
L5:
    mov r15d, dword ptr [rdx + r14 + 8]
    test r15, r15
    je L4
    mov r12, rcx
    mov r13d, dword ptr [rdx + r14 + 12]
    mov rbp, qword ptr [rdx + r14]
    bswap rbp
    shl r15, 32
    or r15, r13
    bswap r15
    shl r12, 4
    mov qword ptr [r9 + r12 + 16], r15
    mov qword ptr [r9 + r12 + 24], rbp
    inc rcx
    jmp L4
L6:
    mov r9, r11
    shl r9, cl
    add r9, qword ptr [rsi]
    xor ecx, ecx
L7:
    cmp rcx, r10
    jae L8
    shl rcx, 4
    movabs rdx, 281474976710656
    mov qword ptr [r9 + rcx + 16], rdx
    mov qword ptr [r9 + rcx + 24], 0
L8:
    mov rcx, qword ptr [rsi + 16]
    shl r11d, 4
    movzx edx, word ptr [rcx + r11 + 8]
    mov qword ptr [rcx + r11], r8
    cmp di, dx
    je L10
L9:
    movzx r8d, di
    shl r8d, 4
    mov edi, dword ptr [rcx + r8 + 8]
    mov r9d, edi
    or r9d, 32768
    mov word ptr [rcx + r8 + 8], r9w
    cmp di, dx
    jne L9
L10:
    mov word ptr [rsi + 44], dx
    inc dword ptr [rsi + 32]
    mov ecx, dword ptr [rsi + 48]
    inc ecx
    mov word ptr [rsi + 48], cx
    mov rdx, qword ptr [rsi + 8]
    movzx ecx, cx
    bswap ecx
    mov dword ptr [rdx], ecx
    mov dword ptr [rax], 3
    jmp L13
L11:
    mov ecx, 2
L12:
    mov dword ptr [rax], ecx
    mov dword ptr [rax + 4], ebp
    mov qword ptr [rax + 8], r9
    mov qword ptr [rax + 16], r10
L13:
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

other_receive_frame:
    push r14
    push rbx
    sub rsp, 56
    mov rdx, qword ptr [rsi]
    mov r14, qword ptr [rsi + 16]
    mov eax, edx
    shr eax, 16
    mov ebx, dword ptr [r14 + 44]
    bswap ebx
    mov ecx, edx
    and ecx, 253
    cmp ecx, 32
    jne L5
    mov r8d, dword ptr [rdi + 68]
    shl r8, 32
    mov rcx, qword ptr [rsi + 8]
    cmp rcx, r8
    jne L3
    mov esi, dword ptr [rdi + 72]
    mov r10d, dword ptr [rdi + 80]
    mov ecx, dword ptr [rdi + 84]
    mov r9, qword ptr [rdi + 56]
    movzx r11d, word ptr [r14 + 2]
    cmp ax, si
    jne L2
    rol r11w, 8
    movzx r11d, r11w
    xor r11d, dword ptr [rdi + 88]
    and r11d, dword ptr [rdi + 92]
    jne L2
    and ecx, 63
    mov r11d, ebx
    shr r11d, 16
    add esi, r11d
    shl r11, cl
    cmp esi, r10d
    ja L2
    movzx r10d, bx
    lea ecx, [r10 - 1]
    add r9, rcx
    mov rcx, r8
    cmp r9, r11
    jae L3
    mov dword ptr [rdi + 72], esi
L1:
    mov eax, -256
    and eax, dword ptr [r14 + 56]
    bswap eax
    add eax, r10d
    movzx ecx, word ptr [r14 + 28]
    add rsp, 56
    pop rbx
    pop r14
    ret
L2:
    mov rcx, r8
L3:
    mov esi, dword ptr [r14 + 56]
    bswap esi
    movzx r8d, word ptr [r14 + 2]
    rol r8w, 8
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], rcx
    mov dword ptr [rsp + 24], esi
    mov word ptr [rsp + 28], r8w
    lea rcx, [rsp + 32]
    lea rdx, [rsp + 8]
    mov rsi, rdi
    mov rdi, rcx
    mov ecx, eax
    mov r8d, ebx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::settle::<blueflame::cq::source::InQueue>@GOTPCREL]
    cmp byte ptr [rsp + 32], 11
    jne L4
    cmp qword ptr [rsp + 40], 0
    je L4
    movzx r10d, bx
    jmp L1
L4:
    xor eax, eax
    add rsp, 56
    pop rbx
    pop r14
    ret
L5:
    mov rcx, qword ptr [rsi + 8]
    jmp L3

other_receive_frames_enhanced:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov qword ptr [rsp + 32], rdx
    mov eax, dword ptr [rsi + 68]
    shl rax, 32
    cmp qword ptr [rdi + 256], rax
    jne L24
    lea r12, [rdi + 64]
    mov rax, qword ptr [rsp + 32]
    mov r13, qword ptr [rax]
    mov qword ptr [rsp + 8], 0
    movsd xmm1, qword ptr [rip + .LCPI_0]
L1:
    mov r10, qword ptr [rdi + 224]
    mov r8d, dword ptr [rdi + 128]
    mov r9d, dword ptr [rdi + 132]
    cmp r8d, r9d
    jne L2
    movzx ecx, byte ptr [rdi + 143]
    mov eax, dword ptr [r10 + 60]
    bswap eax
    mov edx, eax
    not edx
    test dl, -16
    je L21
    mov edx, eax
    shr edx, 8
    cmp cl, dl
    jne L21
    mov ecx, eax
    not cl
    test cl, 12
    jne L21
    cmp al, 111
    ja L21
    shr al, 4
    inc al
    movzx r9d, al
    xor r8d, r8d
    cmp dword ptr [rdi + 220], r9d
    jae L3
    jmp L21
L2:
    test r8b, 7
    cmovne r10, r12
L3:
    cmp byte ptr [rdi + 144], 0
    je L21
    movzx eax, byte ptr [rdi + 142]
    and al, -3
    cmp al, 32
    jne L21
    mov ebx, dword ptr [rsi + 72]
    mov r15d, dword ptr [rsi + 80]
    mov ecx, dword ptr [rsi + 84]
    mov rbp, qword ptr [rsi + 56]
    movzx eax, word ptr [rdi + 2]
    rol ax, 8
    movzx eax, ax
    xor eax, dword ptr [rsi + 88]
    test dword ptr [rsi + 92], eax
    jne L21
    mov qword ptr [rsp + 64], rsi
    mov qword ptr [rsp + 48], r12
    mov eax, 16
    sub rax, qword ptr [rsp + 8]
    mov edx, r9d
    sub edx, r8d
    cmp rax, rdx
    mov qword ptr [rsp + 56], rdx
    cmovae rax, rdx
    xor r14d, r14d
    mov edx, dword ptr [rdi + 56]
    movzx edx, word ptr [rdi + 28]
    mov qword ptr [rsp + 16], r8
    mov dword ptr [rsp + 44], r9d
    cmp r9d, r8d
    jne L7
L4:
    mov edx, ebx
L5:
    mov rsi, qword ptr [rsp + 64]
    mov dword ptr [rsi + 72], edx
    mov r11, qword ptr [rsp + 56]
    cmp r14d, r11d
    jne L6
    mov rdx, qword ptr [rdi + 224]
    mov r8, qword ptr [rdi + 200]
    mov rcx, qword ptr [rdi + 208]
    mov rax, rcx
    imul rax, r11
    sub r8, rdx
    cmp rax, r8
    jbe L14
L6:
    test r14d, r14d
    mov r12, qword ptr [rsp + 48]
    je L21
    mov rax, qword ptr [rsp + 16]
    shl rax, 32
    mov ecx, dword ptr [rsp + 44]
    or rcx, rax
    mov r15, rdi
    mov rbx, rsi
    mov rsi, rcx
    mov ecx, r14d
    call qword ptr [rip + <blueflame::cq::completion_queue::CompletionQueue<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, blueflame::cq::compressed::layout::Enhanced>>>::leave_run@GOTPCREL]
    movsd xmm1, qword ptr [rip + .LCPI_0]
    mov rsi, rbx
    mov rdi, r15
    jmp L19
L7:
    mov qword ptr [rsp + 24], r10
    and ecx, 63
    mov rdx, qword ptr [rdi + 224]
    mov rsi, qword ptr [rdi + 208]
    mov r8, qword ptr [rdi + 192]
    mov qword ptr [rsp + 104], r8
    mov r8, qword ptr [rdi + 200]
    mov qword ptr [rsp + 112], rdx
    sub r8, rdx
    mov qword ptr [rsp + 128], rsi
    mov qword ptr [rsp + 120], r8
    lea rdx, [rsi + r8]
    mov qword ptr [rsp + 96], rdx
    xor r14d, r14d
L8:
    mov r11, qword ptr [rsp + 24]
    test r14d, r14d
    mov rdx, qword ptr [rsp + 16]
    je L9
    mov r11d, r14d
    imul r11, qword ptr [rsp + 128]
    cmp r11, qword ptr [rsp + 120]
    ja L13
    add r11, qword ptr [rsp + 112]
L9:
    mov r12d, eax
    sub r12d, r14d
    lea esi, [r14 + rdx]
    and esi, 7
    add r12d, esi
    cmp r12d, 8
    mov edx, 8
    cmovae r12d, edx
    cmp eax, r14d
    jne L10
    mov edx, ebx
    mov ebx, edx
    cmp r14d, eax
    jb L8
    jmp L5
L10:
    mov r8, qword ptr [r11 + 8*rsi]
    bswap r8
    mov rdx, r8
    shr rdx, 32
    cmp dx, bx
    jne L4
    dec r12
L11:
    mov r10d, r8d
    shr r10d, 16
    lea edx, [r10 + rbx]
    shl r10, cl
    cmp edx, r15d
    ja L4
    movzx r8d, r8w
    lea r9d, [r8 - 1]
    add r9, rbp
    cmp r9, r10
    jae L4
    add r13, r8
    mov r8, qword ptr [rsp + 32]
    mov qword ptr [r8], r13
    cmp r12, rsi
    je L12
    mov r8, qword ptr [r11 + 8*rsi + 8]
    bswap r8
    mov r10, r8
    shr r10, 32
    inc rsi
    inc r14d
    mov ebx, edx
    cmp r10w, dx
    je L11
    jmp L5
L12:
    inc r14d
    mov ebx, edx
    cmp r14d, eax
    jb L8
    jmp L5
L13:
    sub r11, qword ptr [rsp + 96]
    add r11, qword ptr [rsp + 104]
    jmp L9
L14:
    movzx r10d, byte ptr [rdi + 143]
    movzx r8d, byte ptr [rdi + 216]
    or r8b, -16
    mov r15d, r11d
    and r15d, -8
    mov r9, rcx
    imul r9, r15
    movzx r12d, r10w
    movzx r10d, r8b
    mov rbx, rdx
    test r9, r9
    je L16
    mov qword ptr [rsp + 16], r15
    lea rbx, [rdx + r9]
    mov ebp, r10d
    shl ebp, 8
    mov dword ptr [rsp + 24], r12d
    or ebp, r12d
    lea r15, [8*rcx]
    lea r12, [rdx + 62]
    lea r11, [rcx - 62]
    add r11, rcx
L15:
    mov word ptr [r12], bp
    lea r8, [r12 + rcx]
    mov word ptr [r12 + rcx], bp
    mov word ptr [rcx + r8], bp
    add r8, rcx
    mov word ptr [rcx + r8], bp
    add r8, rcx
    mov word ptr [rcx + r8], bp
    add r8, rcx
    mov word ptr [rcx + r8], bp
    add r8, rcx
    mov word ptr [rcx + r8], bp
    add r8, rcx
    mov word ptr [rcx + r8], bp
    add r12, r15
    add r8, r11
    cmp r8, rbx
    jne L15
    mov rsi, qword ptr [rsp + 64]
    mov r11, qword ptr [rsp + 56]
    mov r15, qword ptr [rsp + 16]
    mov r12d, dword ptr [rsp + 24]
L16:
    add rax, rdx
    cmp rbx, rax
    je L18
    shl r10d, 8
    or r10d, r12d
    add rdx, r9
    add rdx, 62
    mov r8, r11
    sub r8, r15
    imul r8, rcx
    xor r9d, r9d
L17:
    mov word ptr [rdx + r9], r10w
    add r9, rcx
    cmp r8, r9
    jne L17
L18:
    mov qword ptr [rdi + 224], rax
    add r11d, dword ptr [rdi + 232]
    mov dword ptr [rdi + 232], r11d
    mov eax, dword ptr [rdi + 132]
    mov dword ptr [rdi + 128], eax
    mov dword ptr [rdi + 12], 0
    movsd xmm0, qword ptr [rdi + 16]
    andps xmm0, xmm1
    movlps qword ptr [rdi + 16], xmm0
    mov rax, qword ptr [rdi + 240]
    bswap r11d
    mov dword ptr [rax], r11d
    test r14d, r14d
    mov r12, qword ptr [rsp + 48]
    je L21
L19:
    mov eax, r14d
L20:
    mov rcx, qword ptr [rsp + 8]
    add rcx, rax
    mov qword ptr [rsp + 8], rcx
    cmp rcx, 16
    jb L1
    jmp L26
L21:
    mov eax, dword ptr [rdi + 128]
    cmp eax, dword ptr [rdi + 132]
    jne L22
    mov rcx, qword ptr [rdi + 224]
    movzx eax, byte ptr [rdi + 143]
    mov ecx, dword ptr [rcx + 60]
    bswap ecx
    mov edx, ecx
    not edx
    test dl, -16
    je L26
    shr ecx, 8
    cmp al, cl
    jne L26
L22:
    mov rdx, rdi
    lea rdi, [rsp + 72]
    mov rbx, rsi
    mov r14, rdx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, blueflame::cq::compressed::layout::Enhanced>>@GOTPCREL]
    cmp byte ptr [rsp + 72], 12
    jne L25
    cmp qword ptr [rsp + 80], 0
    mov eax, 1
    movsd xmm1, qword ptr [rip + .LCPI_0]
    je L23
    mov rcx, qword ptr [rsp + 88]
    shr rcx, 32
    movzx ecx, cx
    add r13, rcx
    mov rcx, qword ptr [rsp + 32]
    mov qword ptr [rcx], r13
L23:
    mov rdi, r14
    mov rsi, rbx
    jmp L20
L24:
    lea rax, [rsp + 72]
    mov ecx, 16
    mov rdx, rdi
    mov rdi, rax
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, blueflame::cq::compressed::layout::Enhanced>>@GOTPCREL]
    cmp byte ptr [rsp + 72], 12
    jne L25
    mov rax, qword ptr [rsp + 80]
    mov qword ptr [rsp + 8], rax
    jmp L26
L25:
    mov qword ptr [rsp + 8], 0
L26:
    mov rax, qword ptr [rsp + 8]
    add rsp, 136
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

other_refill_shared:
    mov edx, dword ptr [rdi + 88]
    mov esi, dword ptr [rdi + 100]
    mov eax, esi
    sub eax, edx
    mov r8d, dword ptr [rdi + 104]
    cmp eax, r8d
    jne L1
    mov ecx, dword ptr [rdi + 72]
    cmp ecx, dword ptr [rdi + 76]
    je L1
    xor eax, eax
    ret
L1:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    cmp byte ptr [rdi + 112], 1
    jne L4
    mov ecx, dword ptr [rdi + 72]
    cmp ecx, dword ptr [rdi + 76]
    jne L4
    mov byte ptr [rdi + 112], 0
    mov rax, qword ptr [rdi + 8]
    mov ecx, -2147483648
    sub ecx, dword ptr [rdi + 96]
    mov edx, dword ptr [rax + 16]
    cmp edx, ecx
    je L2
    mov rdx, qword ptr [rax + 8]
    lock inc qword ptr [rdx + 16]
    lea rsi, [rax + 16]
    lock sub dword ptr [rsi], ecx
    jne L3
    lock dec qword ptr [rdx + 16]
L2:
    mov ecx, dword ptr [rdi + 48]
    mov dword ptr [rax + 20], ecx
    mov eax, dword ptr [rax + 24]
    mov dword ptr [rdi + 48], eax
L3:
    mov edx, dword ptr [rdi + 88]
    mov esi, dword ptr [rdi + 100]
    inc edx
    mov dword ptr [rdi + 88], edx
    mov r8d, dword ptr [rdi + 104]
    mov eax, esi
    sub eax, edx
L4:
    cmp eax, r8d
    jae L10
    mov r10d, dword ptr [rdi + 48]
    mov r9, qword ptr [rdi + 40]
    xor eax, eax
    jmp L7
L5:
    mov r9, qword ptr [rdi + 40]
    mov esi, dword ptr [rdi + 100]
    mov edx, dword ptr [rdi + 88]
    mov r8d, dword ptr [rdi + 104]
L6:
    mov r11, qword ptr [r9]
    mov ebx, r10d
    shl rbx, 6
    mov r10d, dword ptr [r11 + rbx + 20]
    mov dword ptr [rdi + 48], r10d
    mov dword ptr [r11 + rbx + 16], -2147483648
    mov r14d, dword ptr [rdi + 92]
    and r14d, esi
    mov r15, qword ptr [r11 + rbx]
    movzx ecx, byte ptr [r9 + 38]
    add cl, byte ptr [r9 + 37]
    mov r12d, 1
    shl r12d, cl
    mov ecx, dword ptr [r9 + 32]
    bswap r15
    mov r13, qword ptr [rdi + 16]
    mov rbp, r14
    shl r12, 32
    or r12, rcx
    bswap r12
    shl rbp, 5
    mov qword ptr [r13 + rbp + 16], r12
    mov qword ptr [r13 + rbp + 24], r15
    mov rcx, qword ptr [rdi + 24]
    mov r11d, dword ptr [r11 + rbx + 24]
    mov qword ptr [rcx + 8*r14], r11
    inc esi
    mov dword ptr [rdi + 100], esi
    inc eax
    mov ecx, esi
    sub ecx, edx
    cmp ecx, r8d
    jae L9
L7:
    cmp r10d, -1
    jne L6
    mov ecx, dword ptr [r9 + 24]
    cmp ecx, -1
    je L8
    mov r10d, -1
    xchg dword ptr [r9 + 24], r10d
    mov dword ptr [rdi + 48], r10d
    cmp r10d, -1
    jne L5
    jmp L9
L8:
    mov dword ptr [rdi + 48], -1
L9:
    test eax, eax
    je L10
    movzx ecx, word ptr [rdi + 100]
    mov rdx, qword ptr [rdi + 32]
    bswap ecx
    mov dword ptr [rdx], ecx
    jmp L11
L10:
    xor eax, eax
L11:
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

setup_carry_over:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    xor ebp, ebp
    cmp edx, 8388608
    ja L9
    mov r14d, edx
    lea ecx, [r14 - 1]
    mov eax, edx
    xor eax, ecx
    cmp eax, ecx
    jbe L9
    mov r13, qword ptr [rdi + 32]
    test r13, r13
    je L10
    mov rax, rsi
    or rax, r13
    shr rax, 32
    je L2
    mov rax, rsi
    xor edx, edx
    div r13
    test rdx, rdx
    je L3
L1:
    xor ebp, ebp
    jmp L9
L2:
    mov eax, esi
    xor edx, edx
    div r13d
    test rdx, rdx
    jne L1
L3:
    lea rbx, [rdi + 16]
    mov r12d, dword ptr [rdi + 8]
    lea eax, [r12 + 1]
    mov r10d, eax
    and r10d, 16777215
    lea rdx, [rsi + r13]
    add rdx, -64
    add rsi, r13
    mov r8d, r14d
    dec r8
    imul r8, r13
    lea r9, [r8 + rsi]
    add r9, -64
    xor r8d, r8d
    test eax, r14d
    setne r8b
    and ecx, r10d
    imul rcx, r13
    lea rax, [rcx + rsi]
    add rax, -64
    mov qword ptr [rsp + 40], rdx
    mov qword ptr [rsp + 48], r9
    mov qword ptr [rsp + 56], r13
    mov dword ptr [rsp + 64], r8d
    mov dword ptr [rsp + 68], r14d
    mov r15d, dword ptr [rdi + 44]
    xor ebp, ebp
    test r15d, r15d
    je L8
    mov qword ptr [rsp + 8], rax
    mov dword ptr [rsp + 4], r10d
    mov qword ptr [rsp + 16], rdi
    mov rax, qword ptr [rbx]
    mov qword ptr [rsp + 32], rax
    lea eax, [r15 - 1]
    mov dword ptr [rsp + 28], eax
L4:
    mov esi, r12d
    and esi, 16777215
    mov eax, esi
    and eax, dword ptr [rsp + 28]
    imul rax, r13
    mov rcx, qword ptr [rsp + 32]
    mov eax, dword ptr [rcx + rax + 60]
    xor ecx, ecx
    test esi, r15d
    setne cl
    shr eax, 24
    xor eax, ecx
    mov ecx, eax
    ror cl
    cmp cl, 119
    ja L5
    and al, -16
    cmp al, 80
    je L6
    cmp r14d, ebp
    je L5
    inc ebp
    inc r12d
    mov ecx, r12d
    and ecx, 16777215
    mov rdi, rbx
    lea rdx, [rsp + 40]
    call qword ptr [rip + <blueflame::cq::ring::Ring>::copy_cqe@GOTPCREL]
    cmp r15d, ebp
    jne L4
L5:
    xor ebp, ebp
    jmp L7
L6:
    mov bpl, 1
L7:
    mov rdi, qword ptr [rsp + 16]
    mov r10d, dword ptr [rsp + 4]
    mov rax, qword ptr [rsp + 8]
L8:
    movups xmm0, xmmword ptr [rsp + 40]
    movups xmm1, xmmword ptr [rsp + 56]
    movups xmmword ptr [rbx + 16], xmm1
    movups xmmword ptr [rbx], xmm0
    mov qword ptr [rdi], rax
    mov dword ptr [rdi + 8], r10d
    mov rax, qword ptr [rdi + 48]
    bswap r10d
    mov dword ptr [rax], r10d
L9:
    mov eax, ebp
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L10:
    lea rdi, [rip + .Lanon]
    call qword ptr [rip + core::panicking::panic_const::panic_const_rem_by_zero@GOTPCREL]

setup_forget:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 40
    mov r12d, esi
    mov r14, rdi
    mov ebx, dword ptr [rdi + 8]
    mov r13d, dword ptr [rdi + 44]
    test r13, r13
    je L2
    mov rax, qword ptr [r14 + 16]
    mov rcx, qword ptr [r14 + 32]
    lea esi, [r13 + 16777215]
    xor edx, edx
L1:
    lea edi, [rbx + rdx]
    and edi, 16777215
    mov r8d, edi
    and r8d, esi
    imul r8, rcx
    mov r8d, dword ptr [rax + r8 + 60]
    xor r9d, r9d
    test edi, r13d
    setne r9b
    shr r8d, 24
    xor r8d, r9d
    ror r8b
    cmp r8b, 119
    ja L3
    inc rdx
    cmp r13, rdx
    jne L1
    jmp L4
L2:
    xor r13d, r13d
    jmp L4
L3:
    mov r13d, edx
L4:
    add ebx, r13d
    and ebx, 16777215
    mov dword ptr [rsp + 24], r13d
    mov dword ptr [rsp + 28], 0
    mov dword ptr [rsp + 32], ebx
    mov byte ptr [rsp + 36], 0
    mov dword ptr [rsp + 8], 0
    mov dword ptr [rsp + 12], r12d
    mov qword ptr [rsp + 16], r14
    test r13d, r13d
    je L10
    dec r13d
    mov dword ptr [rsp + 4], 0
    mov r8d, -256
    mov dword ptr [rsp], 0
    xor ebp, ebp
    xor r15d, r15d
    jmp L7
L5:
    add eax, r13d
    inc eax
    and eax, 16777215
    cmp eax, ebx
    sete al
    or bpl, al
    mov eax, ebp
    and al, 1
    mov dword ptr [rsp], eax
    inc r15d
    mov dword ptr [rsp + 4], r15d
L6:
    add r13d, -1
    jae L9
L7:
    mov eax, dword ptr [r14 + 8]
    lea esi, [rax + r13]
    and esi, 16777215
    mov rcx, qword ptr [r14 + 16]
    mov edx, dword ptr [r14 + 44]
    dec edx
    and edx, esi
    imul rdx, qword ptr [r14 + 32]
    mov edi, dword ptr [rcx + rdx + 60]
    mov ecx, dword ptr [rcx + rdx + 56]
    and ecx, r8d
    bswap ecx
    cmp ecx, r12d
    je L5
    test r15d, r15d
    je L8
    mov ecx, dword ptr [r14 + 8]
    add ecx, r15d
    add ecx, r13d
    and ecx, 16777215
    lea rdi, [r14 + 16]
    mov rdx, rdi
    call qword ptr [rip + <blueflame::cq::ring::Ring>::copy_cqe@GOTPCREL]
    mov r8d, -256
    jmp L6
L8:
    xor r15d, r15d
    jmp L6
L9:
    mov dword ptr [rsp + 24], 0
    mov eax, dword ptr [rsp]
    mov byte ptr [rsp + 36], al
    mov eax, dword ptr [rsp + 4]
    mov dword ptr [rsp + 28], eax
L10:
    lea rdi, [rsp + 8]
    call core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>
    add rsp, 40
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
    mov rbx, rax
    mov dword ptr [rsp + 24], r13d
    mov eax, dword ptr [rsp]
    mov byte ptr [rsp + 36], al
    mov eax, dword ptr [rsp + 4]
    mov dword ptr [rsp + 28], eax
    lea rdi, [rsp + 8]
    call core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>
    mov rdi, rbx
    call _Unwind_Resume@PLT
    call qword ptr [rip + core::panicking::panic_in_cleanup@GOTPCREL]

setup_forget_compressed:
    push rbp
    mov rbp, rsp
    push r15
    push r14
    push r13
    push r12
    push rbx
    and rsp, -64
    sub rsp, 448
    mov dword ptr [rsp + 24], esi
    mov r14, rdi
    mov r15, qword ptr [rdi + 224]
    mov eax, dword ptr [rdi + 232]
    mov qword ptr [rsp + 8], rax
    movaps xmm0, xmmword ptr [rdi]
    movaps xmm1, xmmword ptr [rdi + 16]
    movaps xmm2, xmmword ptr [rdi + 32]
    movaps xmm3, xmmword ptr [rdi + 48]
    movaps xmmword ptr [rsp + 256], xmm0
    movaps xmmword ptr [rsp + 304], xmm3
    movaps xmmword ptr [rsp + 288], xmm2
    movaps xmmword ptr [rsp + 272], xmm1
    movaps xmm0, xmmword ptr [rdi + 64]
    movaps xmmword ptr [rsp + 320], xmm0
    movaps xmm0, xmmword ptr [rdi + 80]
    movaps xmm1, xmmword ptr [rdi + 96]
    movaps xmm2, xmmword ptr [rdi + 112]
    movaps xmmword ptr [rsp + 336], xmm0
    movaps xmmword ptr [rsp + 352], xmm1
    movaps xmmword ptr [rsp + 368], xmm2
    mov eax, dword ptr [rdi + 128]
    movzx edi, word ptr [rdi + 140]
    movzx r8d, byte ptr [r14 + 142]
    movzx edx, byte ptr [r14 + 143]
    movzx ecx, byte ptr [r14 + 144]
    movups xmm0, xmmword ptr [r14 + 192]
    movups xmm1, xmmword ptr [r14 + 208]
    movaps xmmword ptr [rsp + 48], xmm1
    movaps xmmword ptr [rsp + 32], xmm0
    movaps xmm0, xmmword ptr [rsp + 368]
    movaps xmmword ptr [rsp + 176], xmm0
    movaps xmm0, xmmword ptr [rsp + 352]
    movaps xmmword ptr [rsp + 160], xmm0
    movaps xmm0, xmmword ptr [rsp + 336]
    movaps xmmword ptr [rsp + 144], xmm0
    movaps xmm0, xmmword ptr [rsp + 320]
    movaps xmmword ptr [rsp + 128], xmm0
    movdqa xmm0, xmmword ptr [rsp + 256]
    movaps xmm1, xmmword ptr [rsp + 272]
    movaps xmm2, xmmword ptr [rsp + 288]
    movaps xmm3, xmmword ptr [rsp + 304]
    movaps xmmword ptr [rsp + 112], xmm3
    movaps xmmword ptr [rsp + 96], xmm2
    movaps xmmword ptr [rsp + 80], xmm1
    movdqa xmmword ptr [rsp + 64], xmm0
    mov dword ptr [rsp + 192], eax
    mov rsi, qword ptr [r14 + 132]
    mov r9d, dword ptr [r14 + 132]
    mov qword ptr [rsp + 196], rsi
    mov dword ptr [rsp + 4], edi
    mov word ptr [rsp + 204], di
    mov byte ptr [rsp], r8b
    mov byte ptr [rsp + 206], r8b
    mov byte ptr [rsp + 207], dl
    mov byte ptr [rsp + 208], cl
    mov ebx, dword ptr [rsp + 60]
    test ebx, ebx
    je L16
    movzx edx, dx
    mov dword ptr [rsp + 28], edx
    or edx, 61440
    mov dword ptr [rsp + 16], edx
    mov rdx, qword ptr [rsp + 8]
    mov r12d, edx
L1:
    cmp eax, r9d
    jne L2
    mov edi, dword ptr [r15 + 60]
    bswap edi
    xor edi, dword ptr [rsp + 56]
    mov esi, edi
    ror sil
    cmp sil, 119
    ja L16
    mov esi, edi
    not sil
    mov r9d, eax
    test sil, 12
    jne L14
    mov dword ptr [rsp + 192], 0
    mov rax, qword ptr [rsp + 48]
    movaps xmm0, xmmword ptr [r15]
    movaps xmm1, xmmword ptr [r15 + 16]
    movdqa xmm2, xmmword ptr [r15 + 32]
    mov rsi, qword ptr [r15 + 48]
    mov rcx, qword ptr [r15 + 56]
    movaps xmmword ptr [rsp + 64], xmm0
    movaps xmmword ptr [rsp + 80], xmm1
    movdqa xmmword ptr [rsp + 96], xmm2
    mov qword ptr [rsp + 112], rsi
    mov qword ptr [rsp + 120], rcx
    mov esi, edi
    shr esi, 16
    mov dword ptr [rsp + 4], esi
    mov word ptr [rsp + 204], si
    mov esi, edi
    and sil, -14
    mov byte ptr [rsp], sil
    mov byte ptr [rsp + 206], sil
    pshufd xmm0, xmm2, 255
    movd r8d, xmm0
    bswap r8d
    mov dword ptr [rsp + 196], r8d
    cmp dil, 79
    ja L16
    cmp r8d, 2
    jb L16
    cmp r8d, dword ptr [rsp + 60]
    setbe byte ptr [rsp + 208]
    ja L16
    cmp r15, qword ptr [rsp + 40]
    jne L9
    mov rax, qword ptr [rsp + 32]
    jmp L10
L2:
    lea r13d, [rax + 1]
    mov dword ptr [rsp + 192], r13d
    test eax, eax
    mov dword ptr [rsp + 20], r9d
    je L3
    test al, 7
    sete sil
    test sil, cl
    je L4
    movdqa xmm0, xmmword ptr [r15]
    movaps xmm1, xmmword ptr [r15 + 16]
    movaps xmm2, xmmword ptr [r15 + 32]
    mov rcx, qword ptr [r15 + 48]
    mov rsi, qword ptr [r15 + 56]
    movdqa xmmword ptr [rsp + 128], xmm0
    movaps xmmword ptr [rsp + 144], xmm1
    movaps xmmword ptr [rsp + 160], xmm2
    mov qword ptr [rsp + 176], rcx
    mov qword ptr [rsp + 184], rsi
    mov ecx, dword ptr [rsp + 56]
    shl ecx, 8
    movsx esi, word ptr [rsp + 16]
    or esi, ecx
    mov word ptr [r15 + 62], si
    jmp L5
L3:
    cmp cl, 1
    jne L16
    mov edi, dword ptr [rsp + 128]
    mov ecx, dword ptr [rsp + 132]
    cmp byte ptr [rsp], 15
    jbe L6
    jmp L8
L4:
    mov edi, dword ptr [rsp + 56]
    shl edi, 8
    movsx esi, word ptr [rsp + 16]
    or esi, edi
    mov word ptr [r15 + 62], si
    test cl, 1
    je L16
L5:
    mov ecx, eax
    and ecx, 7
    mov edi, dword ptr [rsp + 8*rcx + 128]
    mov ecx, dword ptr [rsp + 8*rcx + 132]
    cmp byte ptr [rsp], 16
    jae L7
L6:
    bswap edi
    mov eax, edi
    mov dword ptr [rsp + 108], ecx
    mov byte ptr [rsp + 120], ah
    shr eax, 16
    jmp L13
L7:
    movzx esi, word ptr [rsp + 86]
    shl esi, 16
    mov dword ptr [rsp + 84], esi
L8:
    mov dword ptr [rsp + 76], edi
    mov dword ptr [rsp + 108], ecx
    add eax, dword ptr [rsp + 4]
    jmp L13
L9:
    add rax, r15
L10:
    movdqa xmm0, xmmword ptr [rax]
    movaps xmm1, xmmword ptr [rax + 16]
    movaps xmm2, xmmword ptr [rax + 32]
    mov rsi, qword ptr [rax + 48]
    mov rax, qword ptr [rax + 56]
    movdqa xmmword ptr [rsp + 128], xmm0
    movaps xmmword ptr [rsp + 144], xmm1
    movaps xmmword ptr [rsp + 160], xmm2
    mov qword ptr [rsp + 176], rsi
    mov qword ptr [rsp + 184], rax
    mov dword ptr [rsp + 192], 1
    movd eax, xmm0
    cmp dil, 15
    mov dword ptr [rsp + 20], r8d
    ja L11
    bswap eax
    and ecx, -256
    movzx esi, ah
    or esi, ecx
    mov dword ptr [rsp + 120], esi
    shr eax, 16
    jmp L12
L11:
    mov dword ptr [rsp + 76], eax
    mov eax, dword ptr [rsp + 4]
L12:
    pshufd xmm0, xmm0, 85
    movd ecx, xmm0
    mov dword ptr [rsp + 108], ecx
    mov r13d, 1
L13:
    shl eax, 16
    movzx r8d, byte ptr [rsp]
    or r8, rax
    lea rdi, [rsp + 32]
    mov rsi, r15
    mov edx, r12d
    lea rcx, [rsp + 64]
    mov r9d, dword ptr [rsp + 28]
    call qword ptr [rip + <blueflame::cq::ring::Ring>::store@GOTPCREL]
    mov qword ptr [r14 + 128], 0
    mov cl, 1
    mov eax, r13d
    mov r9d, dword ptr [rsp + 20]
L14:
    inc r12d
    cmp r15, qword ptr [rsp + 40]
    je L15
    add r15, qword ptr [rsp + 48]
    dec ebx
    jne L1
    jmp L16
L15:
    mov r15, qword ptr [rsp + 32]
    and r12d, 16777215
    xor byte ptr [rsp + 56], 1
    dec ebx
    jne L1
L16:
    mov r12d, dword ptr [r14 + 220]
    test r12, r12
    je L18
    mov rax, qword ptr [r14 + 192]
    mov rcx, qword ptr [r14 + 208]
    lea esi, [r12 + 16777215]
    xor edx, edx
L17:
    mov rdi, qword ptr [rsp + 8]
    add edi, edx
    and edi, 16777215
    mov r8d, edi
    and r8d, esi
    imul r8, rcx
    mov r8d, dword ptr [rax + r8 + 60]
    xor r9d, r9d
    test edi, r12d
    setne r9b
    shr r8d, 24
    xor r8d, r9d
    ror r8b
    cmp r8b, 119
    ja L19
    inc rdx
    cmp r12, rdx
    jne L17
    jmp L20
L18:
    xor r12d, r12d
    jmp L20
L19:
    mov r12d, edx
L20:
    mov rax, qword ptr [rsp + 8]
    add eax, r12d
    and eax, 16777215
    mov dword ptr [rsp + 80], r12d
    mov dword ptr [rsp + 84], 0
    mov qword ptr [rsp + 8], rax
    mov dword ptr [rsp + 88], eax
    mov byte ptr [rsp + 92], 0
    mov dword ptr [rsp + 64], 0
    mov eax, dword ptr [rsp + 24]
    mov dword ptr [rsp + 68], eax
    mov qword ptr [rsp + 72], r14
    test r12d, r12d
    je L26
    dec r12d
    mov dword ptr [rsp], 0
    mov r8d, -256
    xor r15d, r15d
    xor ebx, ebx
    xor r13d, r13d
    jmp L23
L21:
    add eax, r12d
    inc eax
    and eax, 16777215
    cmp eax, dword ptr [rsp + 8]
    sete al
    or bl, al
    mov r15d, ebx
    and r15b, 1
    inc r13d
    mov dword ptr [rsp], r13d
L22:
    add r12d, -1
    jae L25
L23:
    mov eax, dword ptr [r14 + 232]
    lea esi, [r12 + rax]
    and esi, 16777215
    mov rcx, qword ptr [r14 + 192]
    mov edx, dword ptr [r14 + 220]
    dec edx
    and edx, esi
    imul rdx, qword ptr [r14 + 208]
    mov edi, dword ptr [rcx + rdx + 60]
    mov ecx, dword ptr [rcx + rdx + 56]
    and ecx, r8d
    bswap ecx
    cmp ecx, dword ptr [rsp + 24]
    je L21
    test r13d, r13d
    je L24
    mov ecx, dword ptr [r14 + 232]
    add ecx, r13d
    add ecx, r12d
    and ecx, 16777215
    lea rdi, [r14 + 192]
    mov rdx, rdi
    call qword ptr [rip + <blueflame::cq::ring::Ring>::copy_cqe@GOTPCREL]
    mov r8d, -256
    jmp L22
L24:
    xor r13d, r13d
    jmp L22
L25:
    mov dword ptr [rsp + 80], 0
    mov byte ptr [rsp + 92], r15b
    mov eax, dword ptr [rsp]
    mov dword ptr [rsp + 84], eax
L26:
    lea rdi, [rsp + 64]
    call core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>
    lea rsp, [rbp - 40]
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
    mov r14, rax
    mov dword ptr [rsp + 80], r12d
    mov byte ptr [rsp + 92], r15b
    mov eax, dword ptr [rsp]
    mov dword ptr [rsp + 84], eax
    lea rdi, [rsp + 64]
    call core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>
    mov rdi, r14
    call _Unwind_Resume@PLT
    call qword ptr [rip + core::panicking::panic_in_cleanup@GOTPCREL]

setup_holds:
    mov ecx, dword ptr [rdi + 44]
    xor eax, eax
    test ecx, ecx
    je L5
    push rbp
    push r14
    push rbx
    mov edx, dword ptr [rdi + 8]
    mov r8, qword ptr [rdi + 16]
    mov rdi, qword ptr [rdi + 32]
    lea r9d, [rcx - 1]
    mov r10d, -256
L1:
    lea ebx, [rdx + rax]
    and ebx, 16777215
    mov r11d, ebx
    and r11d, r9d
    imul r11, rdi
    mov ebp, dword ptr [r8 + r11 + 60]
    xor r14d, r14d
    test ebx, ecx
    setne r14b
    shr ebp, 24
    xor ebp, r14d
    ror bpl
    cmp bpl, 119
    ja L2
    mov r11d, dword ptr [r8 + r11 + 56]
    and r11d, r10d
    bswap r11d
    cmp r11d, esi
    je L3
    inc eax
    cmp ecx, eax
    jne L1
L2:
    xor eax, eax
    jmp L4
L3:
    mov al, 1
L4:
    pop rbx
    pop r14
    pop rbp
L5:
    ret

setup_with_mode:
    mov rdx, rsi
    mov rax, rdi
    sfence
    ret

core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 24
    mov rbx, rdi
    mov r15d, dword ptr [rdi + 16]
    test r15d, r15d
    je L12
    mov r12, qword ptr [rbx + 8]
    mov r14d, dword ptr [rbx]
    mov r11d, dword ptr [rbx + 4]
    mov r13d, dword ptr [rbx + 24]
    mov r10d, dword ptr [rbx + 20]
    movzx eax, byte ptr [rbx + 28]
    mov byte ptr [rsp + 11], al
    dec r15d
    mov ebp, r10d
    mov qword ptr [rsp + 16], rbx
    mov dword ptr [rsp + 12], r13d
    jmp L4
L1:
    cmp cl, 4
    jae L11
L2:
    add eax, r15d
    inc eax
    and eax, 16777215
    cmp eax, r13d
    sete al
    or al, byte ptr [rsp + 11]
    and al, 1
    mov byte ptr [rbx + 28], al
    inc ebp
    mov dword ptr [rbx + 20], ebp
    mov r10d, ebp
    mov byte ptr [rsp + 11], al
L3:
    add r15d, -1
    jae L13
L4:
    mov dword ptr [rbx + 16], r15d
    mov eax, dword ptr [r12 + 8]
    lea esi, [r15 + rax]
    and esi, 16777215
    mov rdx, qword ptr [r12 + 16]
    mov r9d, dword ptr [r12 + 44]
    lea edi, [r9 - 1]
    and edi, esi
    imul rdi, qword ptr [r12 + 32]
    mov ecx, dword ptr [rdx + rdi + 60]
    xor r8d, r8d
    test esi, r9d
    setne r9b
    test r14d, r14d
    je L5
    mov r8b, r9b
    bswap ecx
    xor ecx, r8d
    cmp r14d, 1
    jne L7
    mov edx, dword ptr [rdx + rdi + 56]
    mov edi, -256
    and edx, edi
    bswap edx
    cmp edx, r11d
    je L1
    jmp L6
L5:
    mov ecx, dword ptr [rdx + rdi + 56]
    mov edx, -256
    and ecx, edx
    bswap ecx
    cmp ecx, r11d
    je L2
L6:
    test ebp, ebp
    je L10
    mov ecx, dword ptr [r12 + 8]
    add ecx, ebp
    add ecx, r15d
    and ecx, 16777215
    lea rdi, [r12 + 16]
    mov rdx, rdi
    mov ebx, r14d
    mov r14d, r10d
    mov r13d, r11d
    call qword ptr [rip + <blueflame::cq::ring::Ring>::copy_cqe@GOTPCREL]
    mov r11d, r13d
    mov r13d, dword ptr [rsp + 12]
    mov r10d, r14d
    mov r14d, ebx
    mov rbx, qword ptr [rsp + 16]
    jmp L3
L7:
    cmp cl, 4
    jb L8
    mov edx, ecx
    and dl, -4
    rol dl, 4
    cmp dl, 5
    jb L2
L8:
    mov edx, ecx
    shr dl, 4
    cmp dl, 14
    je L2
    dec dl
    cmp dl, 3
    ja L6
L9:
    shr cl, 2
    and cl, 3
    dec cl
    cmp cl, 2
    jb L2
    jmp L6
L10:
    xor ebp, ebp
    jmp L3
L11:
    mov edx, ecx
    shr dl, 4
    je L9
    movzx ecx, dl
    cmp ecx, 13
    je L2
    jmp L6
L12:
    mov r10d, dword ptr [rbx + 20]
L13:
    test r10d, r10d
    je L14
    mov rax, qword ptr [rbx + 8]
    add r10d, dword ptr [rax + 8]
    and r10d, 16777215
    mov ecx, dword ptr [rax + 44]
    xor edx, edx
    test r10d, ecx
    setne dl
    mov dword ptr [rax + 40], edx
    dec ecx
    and ecx, r10d
    imul rcx, qword ptr [rax + 32]
    add rcx, qword ptr [rax + 16]
    mov qword ptr [rax], rcx
    mov dword ptr [rax + 8], r10d
    mov ecx, dword ptr [rax + 8]
    mov rax, qword ptr [rax + 48]
    bswap ecx
    mov dword ptr [rax], ecx
L14:
    add rsp, 24
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 24
    mov rbx, rdi
    mov r12d, dword ptr [rdi + 16]
    test r12d, r12d
    je L12
    mov r13, qword ptr [rbx + 8]
    mov ebp, dword ptr [rbx]
    mov r11d, dword ptr [rbx + 4]
    mov r15d, dword ptr [rbx + 24]
    mov r10d, dword ptr [rbx + 20]
    movzx eax, byte ptr [rbx + 28]
    mov byte ptr [rsp + 11], al
    dec r12d
    mov r14d, r10d
    mov qword ptr [rsp + 16], rbx
    mov dword ptr [rsp + 12], r15d
    jmp L4
L1:
    cmp cl, 4
    jae L11
L2:
    add eax, r12d
    inc eax
    and eax, 16777215
    cmp eax, r15d
    sete al
    or al, byte ptr [rsp + 11]
    and al, 1
    mov byte ptr [rbx + 28], al
    inc r14d
    mov dword ptr [rbx + 20], r14d
    mov r10d, r14d
    mov byte ptr [rsp + 11], al
L3:
    add r12d, -1
    jae L13
L4:
    mov dword ptr [rbx + 16], r12d
    mov eax, dword ptr [r13 + 232]
    lea esi, [r12 + rax]
    and esi, 16777215
    mov rdx, qword ptr [r13 + 192]
    mov r9d, dword ptr [r13 + 220]
    lea edi, [r9 - 1]
    and edi, esi
    imul rdi, qword ptr [r13 + 208]
    mov ecx, dword ptr [rdx + rdi + 60]
    xor r8d, r8d
    test esi, r9d
    setne r9b
    test ebp, ebp
    je L5
    mov r8b, r9b
    bswap ecx
    xor ecx, r8d
    cmp ebp, 1
    jne L7
    mov edx, dword ptr [rdx + rdi + 56]
    mov edi, -256
    and edx, edi
    bswap edx
    cmp edx, r11d
    je L1
    jmp L6
L5:
    mov ecx, dword ptr [rdx + rdi + 56]
    mov edx, -256
    and ecx, edx
    bswap ecx
    cmp ecx, r11d
    je L2
L6:
    test r14d, r14d
    je L10
    mov ecx, dword ptr [r13 + 232]
    add ecx, r14d
    add ecx, r12d
    and ecx, 16777215
    lea rdi, [r13 + 192]
    mov rdx, rdi
    mov r15, r10
    mov ebx, ebp
    mov ebp, r11d
    call qword ptr [rip + <blueflame::cq::ring::Ring>::copy_cqe@GOTPCREL]
    mov r11d, ebp
    mov ebp, ebx
    mov rbx, qword ptr [rsp + 16]
    mov r10, r15
    mov r15d, dword ptr [rsp + 12]
    jmp L3
L7:
    cmp cl, 4
    jb L8
    mov edx, ecx
    and dl, -4
    rol dl, 4
    cmp dl, 5
    jb L2
L8:
    mov edx, ecx
    shr dl, 4
    cmp dl, 14
    je L2
    dec dl
    cmp dl, 3
    ja L6
L9:
    shr cl, 2
    and cl, 3
    dec cl
    cmp cl, 2
    jb L2
    jmp L6
L10:
    xor r14d, r14d
    jmp L3
L11:
    mov edx, ecx
    shr dl, 4
    je L9
    movzx ecx, dl
    cmp ecx, 13
    je L2
    jmp L6
L12:
    mov r10d, dword ptr [rbx + 20]
L13:
    test r10d, r10d
    je L15
    mov rcx, qword ptr [rbx + 8]
    mov r8d, dword ptr [rcx + 220]
    test r8d, r8d
    je L16
    mov edx, dword ptr [rcx + 232]
    lea esi, [rdx + r10]
    and esi, 16777215
    movzx r11d, byte ptr [rbx + 28]
    mov rax, r10
    mov r10d, dword ptr [rbx + 24]
    lea r9d, [r8 - 1]
    and edx, r9d
    and eax, 16777215
    add eax, edx
    xor edi, edi
    xor edx, edx
    div r8d
    add byte ptr [rcx + 143], al
    test r11b, r11b
    je L14
    cmp r10d, esi
    setne al
    and byte ptr [rcx + 144], al
    mov dword ptr [rcx + 136], r10d
L14:
    xor eax, eax
    test r8d, esi
    setne al
    mov dword ptr [rcx + 216], eax
    and r9d, esi
    imul r9, qword ptr [rcx + 208]
    add r9, qword ptr [rcx + 192]
    mov qword ptr [rcx + 224], r9
    mov dword ptr [rcx + 232], esi
    mov eax, dword ptr [rcx + 128]
    cmp eax, dword ptr [rcx + 132]
    mov edx, dword ptr [rcx + 232]
    cmovne edi, eax
    sub edx, edi
    and edx, 16777215
    mov rax, qword ptr [rcx + 240]
    bswap edx
    mov dword ptr [rax], edx
L15:
    add rsp, 24
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L16:
    lea rdi, [rip + .Lanon]
    call qword ptr [rip + core::panicking::panic_const::panic_const_div_by_zero@GOTPCREL]
