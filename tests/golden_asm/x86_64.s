# rustc 1.95.0 (59807616e 2026-04-14)

hot_batch:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 312
    mov rax, rdi
    test r9, r9
    je L9
    mov r15, r9
    mov r12, r8
    mov r14, rsi
    mov qword ptr [rsp + 24], rax
    shl r15, 3
    mov r13d, dword ptr [rsi + 64]
    bswap rdx
    bswap ecx
    movq xmm3, rdx
    movd xmm0, ecx
    pslldq xmm0, 8
    shufps xmm3, xmm0, 36
    xor r9d, r9d
    movabs rdi, 216172782248001536
    movaps xmm4, xmmword ptr [rip + .LCPI_0]
    xor ebp, ebp
    mov dword ptr [rsp + 8], eax
    mov qword ptr [rsp + 16], rax
    xor ebx, ebx
    xor r8d, r8d
    mov dword ptr [rsp + 12], ecx
    mov qword ptr [rsp + 32], rdx
    movaps xmmword ptr [rsp + 64], xmm3
L1:
    cmp dword ptr [r14 + 76], 8
    jb L3
    cmp r13d, dword ptr [r14 + 68]
    je L12
    mov ebx, r13d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [r14 + 48]
    or rbx, rdi
    movq xmm0, rbx
    shufps xmm0, xmm4, 228
    mov eax, dword ptr [r12]
    shl rax, 32
    or rax, 134217856
    movd xmm1, dword ptr [r12 + 4]
    movq xmm2, rax
    punpcklqdq xmm2, xmm1
    mov rax, qword ptr [r14 + 40]
    mov esi, r13d
    shl esi, 4
    and esi, dword ptr [r14 + 56]
    mov qword ptr [rax + rsi], rbp
    mov qword ptr [rax + rsi + 8], 1
    mov rax, qword ptr [r14 + 32]
    movups xmmword ptr [rax + 4*rsi], xmm0
    movups xmmword ptr [rax + 4*rsi + 16], xmm3
    movdqu xmmword ptr [rax + 4*rsi + 32], xmm2
    inc r13d
    movzx r13d, r13w
    inc r8
    mov r9d, 259
L2:
    add r12, 8
    inc rbp
    add r15, -8
    jne L1
    jmp L5
L3:
    mov qword ptr [rsp + 56], r9
    mov qword ptr [rsp + 40], r8
    lea rax, [rsp + 296]
    xorps xmm0, xmm0
    movups xmmword ptr [rax - 96], xmm0
    movups xmmword ptr [rax - 112], xmm0
    movups xmmword ptr [rax - 128], xmm0
    mov qword ptr [rsp + 112], r14
    mov dword ptr [rsp + 120], r13d
    mov qword ptr [rsp + 152], rdx
    mov dword ptr [rsp + 160], ecx
    mov dword ptr [rsp + 164], 0
    mov qword ptr [rsp + 216], 0
    mov qword ptr [rsp + 224], 134217728
    mov qword ptr [rsp + 232], rbp
    mov qword ptr [rsp + 240], 0
    mov qword ptr [rsp + 248], 1
    mov qword ptr [rsp + 256], 0
    mov qword ptr [rsp + 264], r12
    mov qword ptr [rsp + 272], 8
    mov byte ptr [rsp + 280], 18
    mov dword ptr [rax + 8], 0
    mov qword ptr [rax], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rax - 168], xmm0
    mov qword ptr [rax - 152], 0
    lea rdi, [rsp + 88]
    lea rsi, [rsp + 112]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>@GOTPCREL]
    mov rax, qword ptr [rsp + 96]
    mov rdx, qword ptr [rsp + 104]
    cmp byte ptr [rsp + 88], 0
    je L4
    mov ecx, eax
    shr ecx, 8
    mov dword ptr [rsp + 8], ecx
    mov rcx, rax
    shr rcx, 48
    mov qword ptr [rsp + 16], rcx
    movzx ecx, al
    cmp rcx, 25
    movaps xmm3, xmmword ptr [rsp + 64]
    movabs rdi, 216172782248001536
    mov r8, qword ptr [rsp + 40]
    movaps xmm4, xmmword ptr [rip + .LCPI_0]
    mov r9, qword ptr [rsp + 56]
    jne L11
    mov qword ptr [rsp + 48], rdx
    mov ecx, dword ptr [rsp + 12]
    mov rdx, qword ptr [rsp + 32]
    jmp L2
L4:
    movzx ecx, dl
    add ecx, 3
    shr ecx, 2
    add ecx, r13d
    movzx r13d, cx
    mov r8, qword ptr [rsp + 40]
    inc r8
    mov r9, rdx
    mov rbx, rax
    mov ecx, dword ptr [rsp + 12]
    mov rdx, qword ptr [rsp + 32]
    movaps xmm3, xmmword ptr [rsp + 64]
    movabs rdi, 216172782248001536
    movaps xmm4, xmmword ptr [rip + .LCPI_0]
    jmp L2
L5:
    test r8, r8
    mov rax, qword ptr [rsp + 24]
    je L9
    mov r15, rax
    mov esi, dword ptr [r14 + 64]
    mov dword ptr [r14 + 64], r13d
    mov rax, qword ptr [r14 + 24]
    movzx ecx, r13w
    bswap ecx
    mov dword ptr [rax], ecx
    cmp r8, 1
    jne L6
    movzx eax, r9b
    add eax, 3
    and eax, -4
    cmp ax, 4
    setne al
    test r9b, -2
    sete cl
    or cl, al
    jne L7
    xor eax, eax
    test r9d, 256
    sete al
    cmp dword ptr [r14 + 4*rax + 96], 63
    jbe L7
    shl esi, 4
    and esi, dword ptr [r14 + 56]
    mov rax, qword ptr [r14 + 32]
    sfence
    mov rcx, qword ptr [r14]
    movsd xmm0, qword ptr [rax + 4*rsi]
    movsd xmm1, qword ptr [rax + 4*rsi + 8]
    movlhps xmm0, xmm1
    movq xmm1, qword ptr [rax + 4*rsi + 16]
    movq xmm2, qword ptr [rax + 4*rsi + 24]
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [rax + 4*rsi + 32]
    movq xmm3, qword ptr [rax + 4*rsi + 40]
    punpcklqdq xmm2, xmm3
    movsd xmm3, qword ptr [rax + 4*rsi + 48]
    movsd xmm4, qword ptr [rax + 4*rsi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [r14 + 8]
    mov qword ptr [r14], rcx
    jmp L8
L6:
    sfence
    mov rax, qword ptr [r14]
    mov qword ptr [rax], rbx
    sfence
    xor rax, qword ptr [r14 + 8]
    mov qword ptr [r14], rax
    jmp L8
L7:
    mov rdi, r14
    mov rdx, rbx
    mov rcx, r9
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L8:
    mov rax, r15
L9:
    mov byte ptr [rax], 25
L10:
    add rsp, 312
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
    cmp dword ptr [r14 + 72], 0
    sete al
    lea rcx, [rax + 2*rax]
    add rcx, 18
    mov eax, 65536
    xor esi, esi
    mov rdi, qword ptr [rsp + 48]
L13:
    movzx edx, word ptr [rsp + 16]
    shl rdx, 48
    or rdx, rsi
    movzx esi, byte ptr [rsp + 8]
    shl esi, 8
    or rsi, rax
    or rsi, rdx
    or rsi, rcx
    mov rax, qword ptr [rsp + 24]
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
    sub rsp, 328
    mov rbp, rdi
    test r8, r8
    je L8
    mov r15, r8
    mov r12, rcx
    mov r14, rsi
    mov qword ptr [rsp + 8], rbp
    shl r15, 3
    mov ebx, dword ptr [rsi + 64]
    movdqu xmm4, xmmword ptr [rdx]
    movups xmm5, xmmword ptr [rdx + 16]
    movups xmm6, xmmword ptr [rdx + 32]
    xor ecx, ecx
    movabs r8, 360287970357411840
    movaps xmm7, xmmword ptr [rip + .LCPI_0]
    movd xmm8, dword ptr [rip + .LCPI_2]
    mov eax, 2
    movq xmm9, rax
    xor ebp, ebp
    xor r13d, r13d
    xor r9d, r9d
    movdqa xmmword ptr [rsp + 80], xmm4
    movaps xmmword ptr [rsp + 64], xmm5
    movaps xmmword ptr [rsp + 48], xmm6
    movdqa xmmword ptr [rsp + 32], xmm9
L1:
    cmp dword ptr [r14 + 76], 8
    jb L3
    mov ecx, dword ptr [r14 + 68]
    sub ecx, ebx
    cmp cx, 1
    jbe L11
    mov r13d, ebx
    bswap r13d
    shr r13d, 8
    or r13, qword ptr [r14 + 48]
    or r13, r8
    movq xmm0, r13
    shufps xmm0, xmm7, 228
    movq xmm1, qword ptr [r12]
    pslldq xmm1, 4
    por xmm1, xmm8
    movq xmm2, rbp
    mov rax, qword ptr [r14 + 40]
    mov ecx, ebx
    shl ecx, 4
    mov edx, dword ptr [r14 + 56]
    mov esi, edx
    and esi, ecx
    movdqa xmm3, xmm2
    punpcklqdq xmm3, xmm9
    movdqa xmmword ptr [rax + rsi], xmm3
    mov rdi, qword ptr [r14 + 32]
    movaps xmmword ptr [rdi + 4*rsi], xmm0
    movdqa xmmword ptr [rdi + 4*rsi + 16], xmm4
    movaps xmmword ptr [rdi + 4*rsi + 32], xmm5
    movaps xmmword ptr [rdi + 4*rsi + 48], xmm6
    add ecx, 16
    and ecx, edx
    and ecx, 1048560
    movdqa xmmword ptr [rax + rcx], xmm2
    movdqa xmmword ptr [rdi + 4*rcx], xmm1
    add ebx, 2
    movzx ebx, bx
    inc r9
    mov ecx, 261
L2:
    add r12, 8
    inc rbp
    add r15, -8
    jne L1
    jmp L5
L3:
    mov qword ptr [rsp + 24], rcx
    mov qword ptr [rsp + 16], r9
    lea rax, [rsp + 312]
    xorps xmm0, xmm0
    movups xmmword ptr [rax - 96], xmm0
    mov qword ptr [rsp + 128], r14
    mov dword ptr [rsp + 136], ebx
    movdqu xmmword ptr [rsp + 168], xmm4
    movups xmmword ptr [rsp + 184], xmm5
    movups xmmword ptr [rsp + 200], xmm6
    mov qword ptr [rsp + 232], 0
    mov qword ptr [rsp + 240], 134217728
    mov qword ptr [rsp + 248], rbp
    mov qword ptr [rsp + 256], 0
    mov qword ptr [rsp + 264], 1
    mov qword ptr [rsp + 272], 0
    mov qword ptr [rsp + 280], r12
    mov qword ptr [rsp + 288], 8
    mov byte ptr [rsp + 296], 18
    mov dword ptr [rax + 8], 0
    mov qword ptr [rax], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rax - 168], xmm0
    mov qword ptr [rax - 152], 0
    lea rdi, [rsp + 104]
    lea rsi, [rsp + 128]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>@GOTPCREL]
    mov rax, qword ptr [rsp + 112]
    mov rsi, qword ptr [rsp + 120]
    cmp byte ptr [rsp + 104], 0
    je L4
    cmp al, 25
    movdqa xmm4, xmmword ptr [rsp + 80]
    movaps xmm5, xmmword ptr [rsp + 64]
    movaps xmm6, xmmword ptr [rsp + 48]
    movabs r8, 360287970357411840
    mov r9, qword ptr [rsp + 16]
    movaps xmm7, xmmword ptr [rip + .LCPI_0]
    movd xmm8, dword ptr [rip + .LCPI_2]
    movdqa xmm9, xmmword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 24]
    je L2
    jmp L10
L4:
    movzx edx, sil
    add edx, 3
    shr edx, 2
    add edx, ebx
    movzx ebx, dx
    mov r9, qword ptr [rsp + 16]
    inc r9
    mov rcx, rsi
    mov r13, rax
    movdqa xmm4, xmmword ptr [rsp + 80]
    movaps xmm5, xmmword ptr [rsp + 64]
    movaps xmm6, xmmword ptr [rsp + 48]
    movabs r8, 360287970357411840
    movaps xmm7, xmmword ptr [rip + .LCPI_0]
    movd xmm8, dword ptr [rip + .LCPI_2]
    movdqa xmm9, xmmword ptr [rsp + 32]
    jmp L2
L5:
    test r9, r9
    mov rbp, qword ptr [rsp + 8]
    je L8
    mov esi, dword ptr [r14 + 64]
    mov dword ptr [r14 + 64], ebx
    mov rax, qword ptr [r14 + 24]
    movzx edx, bx
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
    jne L7
    xor eax, eax
    test ecx, 256
    sete al
    cmp dword ptr [r14 + 4*rax + 96], 63
    jbe L7
    shl esi, 4
    and esi, dword ptr [r14 + 56]
    mov rax, qword ptr [r14 + 32]
    sfence
    mov rcx, qword ptr [r14]
    movsd xmm0, qword ptr [rax + 4*rsi]
    movsd xmm1, qword ptr [rax + 4*rsi + 8]
    movlhps xmm0, xmm1
    movq xmm1, qword ptr [rax + 4*rsi + 16]
    movq xmm2, qword ptr [rax + 4*rsi + 24]
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [rax + 4*rsi + 32]
    movq xmm3, qword ptr [rax + 4*rsi + 40]
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [rax + 4*rsi + 48]
    movq xmm4, qword ptr [rax + 4*rsi + 56]
    punpcklqdq xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
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
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L8:
    mov byte ptr [rbp], 25
L9:
    mov rax, rbp
    add rsp, 328
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
    mov rbp, qword ptr [rsp + 8]
    jmp L14
L11:
    movzx esi, word ptr [r14 + 72]
    test si, si
    je L12
    mov edx, dword ptr [r14 + 56]
    shr edx, 4
    inc edx
    mov eax, 19
    cmp dx, 2
    mov rbp, qword ptr [rsp + 8]
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
    mov rbp, qword ptr [rsp + 8]
L13:
    movzx edx, dx
    shl rdx, 32
    or rdx, 131072
    mov esi, 2
L14:
    movzx eax, al
    or rax, rdx
    mov qword ptr [rbp], rax
    mov qword ptr [rbp + 8], rsi
    jmp L9

hot_batch_list:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 248
    mov rax, rdi
    mov edi, dword ptr [rcx + 8]
    test edi, edi
    js L5
    mov r11d, dword ptr [rcx + 24]
    test r11d, r11d
    js L2
    movsxd r15, dword ptr [rcx + 40]
    test r15, r15
    js L3
    movsxd rbx, dword ptr [rcx + 56]
    test rbx, rbx
    js L4
    mov qword ptr [rsp + 8], rax
    mov eax, dword ptr [rsi + 64]
    mov r10d, dword ptr [rsi + 68]
    sub r10d, eax
    cmp r10w, 2
    jbe L15
    mov r12d, edx
    or r12d, -256
    bswap r12d
    bswap edx
    mov r13, rdx
    shl r13, 32
    add edi, r11d
    add r15, rbx
    add r15, rdi
    bswap r15
    shl r12, 32
    mov rdi, qword ptr [rsi + 32]
    mov r10, qword ptr [rsi + 40]
    mov qword ptr [rsp + 16], r10
    mov ebp, dword ptr [rsi + 56]
    movzx ebx, byte ptr [rsi + 60]
    mov r11, rax
    mov r14d, r11d
    shl r14d, 4
    mov r10d, ebp
    and r10d, r14d
    bswap eax
    shr eax, 8
    shl rbx, 27
    or rbx, r13
    or rax, qword ptr [rsi + 48]
    movabs r13, 864691129075892224
    or r13, rax
    mov qword ptr [rdi + 4*r10], r13
    mov eax, ebp
    shr eax
    and eax, -8
    mov qword ptr [rdi + 4*r10 + 8], rbx
    movabs rbx, 4398046511232
    mov qword ptr [rdi + 4*r10 + 16], rbx
    movabs rbx, 81064930731622400
    mov qword ptr [rdi + 4*r10 + 24], rbx
    lea r13, [rdi + 8*rax]
    add r13, 64
    shl rax, 3
    xorpd xmm0, xmm0
    movupd xmmword ptr [rdi + 4*r10 + 32], xmm0
    lea rbx, [4*r10]
    cmp rbx, rax
    lea rax, [rdi + 4*r10 + 64]
    cmove rax, rdi
    movupd xmmword ptr [rdi + 4*r10 + 48], xmm0
    lea rbx, [rax + 16]
    cmp rbx, r13
    cmove rbx, rdi
    mov qword ptr [rax], r12
    lea r12, [rbx + 16]
    cmp r12, r13
    cmove r12, rdi
    mov qword ptr [rax + 8], 0
    mov qword ptr [rbx], 0
    mov qword ptr [rbx + 8], r15
    lea rax, [r12 + 16]
    cmp rax, r13
    cmove rax, rdi
    movupd xmmword ptr [r12], xmm0
    lea rbx, [rax + 16]
    cmp rbx, r13
    cmove rbx, rdi
    movupd xmmword ptr [rax], xmm0
    mov eax, dword ptr [rcx + 12]
    lea r15, [rbx + 16]
    cmp r15, r13
    cmove r15, rdi
    mov r12d, dword ptr [rcx + 8]
    shl r12, 32
    or r12, rax
    mov rax, qword ptr [rcx]
    bswap r12
    bswap rax
    mov qword ptr [rbx], r12
    mov qword ptr [rbx + 8], rax
    lea r12, [r15 + 16]
    cmp r12, r13
    cmove r12, rdi
    mov eax, dword ptr [rcx + 28]
    mov ebx, dword ptr [rcx + 24]
    shl rbx, 32
    or rbx, rax
    mov rax, qword ptr [rcx + 16]
    bswap rbx
    mov qword ptr [r15], rbx
    bswap rax
    mov qword ptr [r15 + 8], rax
    mov eax, dword ptr [rcx + 44]
    lea rbx, [r12 + 16]
    cmp rbx, r13
    cmove rbx, rdi
    mov r15d, dword ptr [rcx + 40]
    shl r15, 32
    or r15, rax
    mov rax, qword ptr [rcx + 32]
    bswap r15
    bswap rax
    mov qword ptr [r12], r15
    mov qword ptr [r12 + 8], rax
    mov eax, dword ptr [rcx + 60]
    mov r15d, dword ptr [rcx + 56]
    shl r15, 32
    or r15, rax
    bswap r15
    mov rax, qword ptr [rcx + 48]
    mov qword ptr [rbx], r15
    bswap rax
    mov qword ptr [rbx + 8], rax
    and ebp, 1048560
    mov eax, ebp
    and eax, r14d
    mov rcx, qword ptr [rsp + 16]
    mov qword ptr [rcx + rax], 0
    mov qword ptr [rcx + rax + 8], 3
    lea eax, [r14 + 16]
    and eax, ebp
    movupd xmmword ptr [rcx + rax], xmm0
    mov rax, rcx
    add r14d, 32
    and r14d, ebp
    mov rcx, qword ptr [rsp + 304]
    movupd xmmword ptr [rax + r14], xmm0
    lea ebp, [r11 + 3]
    bswap r8
    movzx r14d, bp
    bswap r9d
    cmp dword ptr [rsi + 80], 0
    je L11
    cmp r14d, dword ptr [rsi + 68]
    je L16
    mov rbx, r11
    mov eax, r14d
    bswap eax
    shr eax, 8
    or rax, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, rax
    movq xmm0, r10
    movq xmm1, r8
    movd xmm2, r9d
    punpcklqdq xmm1, xmm2
    movd xmm2, edx
    movd xmm3, dword ptr [rip + .LCPI_2]
    punpcklqdq xmm2, xmm3
    shufps xmm2, xmm3, 226
    shufpd xmm0, xmmword ptr [rip + .LCPI_1], 2
    mov rax, qword ptr [rsi + 40]
    shl r14d, 4
    and r14d, dword ptr [rsi + 56]
    mov qword ptr [rax + r14], rcx
    mov qword ptr [rax + r14 + 8], 1
    mov rax, qword ptr [rsi + 32]
    movupd xmmword ptr [rax + 4*r14], xmm0
    movdqu xmmword ptr [rax + 4*r14 + 16], xmm1
    movups xmmword ptr [rax + 4*r14 + 32], xmm2
    add ebx, 4
    movzx r14d, bx
    mov ecx, 3
    xor edi, edi
    mov rax, qword ptr [rsp + 8]
L1:
    mov edx, dword ptr [rsi + 64]
    mov dword ptr [rsi + 64], r14d
    mov r8, qword ptr [rsi + 24]
    bswap r14d
    mov dword ptr [r8], r14d
    test dil, dil
    je L8
    movzx edi, cl
    add edi, 3
    and edi, -4
    cmp di, 4
    setne dil
    test cl, -2
    sete r8b
    or r8b, dil
    jne L9
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [rsi + 4*rdi + 96], 63
    jbe L9
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdi, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*rdx]
    movsd xmm1, qword ptr [rcx + 4*rdx + 8]
    unpcklpd xmm0, xmm1
    movq xmm1, qword ptr [rcx + 4*rdx + 16]
    movq xmm2, qword ptr [rcx + 4*rdx + 24]
    punpcklqdq xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*rdx + 32]
    movsd xmm3, qword ptr [rcx + 4*rdx + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rcx + 4*rdx + 48]
    movsd xmm4, qword ptr [rcx + 4*rdx + 56]
    movlhps xmm3, xmm4
    movapd xmmword ptr [rdi], xmm0
    movdqa xmmword ptr [rdi + 16], xmm1
    movaps xmmword ptr [rdi + 32], xmm2
    movaps xmmword ptr [rdi + 48], xmm3
    sfence
    xor rdi, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdi
    jmp L10
L2:
    mov edi, r11d
    jmp L5
L3:
    mov edi, r15d
    jmp L5
L4:
    mov edi, ebx
L5:
    shl rdi, 32
    or rdi, 262144
    mov ecx, 1
    mov edx, 2147483647
L6:
    or rcx, rdi
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
L7:
    add rsp, 248
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L8:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    jmp L10
L9:
    mov rdi, rsi
    mov esi, edx
    mov rdx, r10
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, qword ptr [rsp + 8]
L10:
    mov byte ptr [rax], 25
    jmp L7
L11:
    mov r12, qword ptr [rdi + 4*r10]
    mov rax, r8
    shr rax, 32
    mov r15, rsi
    mov qword ptr [rsp + 48], rsi
    mov dword ptr [rsp + 56], r14d
    mov dword ptr [rsp + 88], r8d
    mov dword ptr [rsp + 92], eax
    mov qword ptr [rsp + 96], r9
    mov dword ptr [rsp + 104], 1073741824
    mov dword ptr [rsp + 108], edx
    movupd xmmword ptr [rsp + 112], xmm0
    movupd xmmword ptr [rsp + 128], xmm0
    movupd xmmword ptr [rsp + 144], xmm0
    mov qword ptr [rsp + 160], 671088640
    mov qword ptr [rsp + 168], rcx
    mov qword ptr [rsp + 176], 0
    mov qword ptr [rsp + 184], 1
    mov qword ptr [rsp + 192], 0
    mov qword ptr [rsp + 200], 1
    mov qword ptr [rsp + 208], 0
    mov byte ptr [rsp + 216], 18
    mov qword ptr [rsp + 232], 0
    mov dword ptr [rsp + 240], 0
    movupd xmm0, xmmword ptr [rip + .Lanon]
    movupd xmmword ptr [rsp + 64], xmm0
    mov qword ptr [rsp + 80], 0
    lea rdi, [rsp + 24]
    lea rsi, [rsp + 48]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>@GOTPCREL]
    mov r10, qword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 24], 0
    je L12
    movzx edx, r10b
    cmp rdx, 25
    mov rax, qword ptr [rsp + 8]
    jne L13
    mov dil, 1
    mov ecx, 12
    mov r10, r12
    mov rsi, r15
    jmp L1
L12:
    movzx eax, cl
    add eax, 3
    shr eax, 2
    add eax, ebp
    movzx r14d, ax
    xor edi, edi
    mov rax, qword ptr [rsp + 8]
    mov rsi, r15
    jmp L1
L13:
    movabs rdi, -281474976710656
    and rdi, r10
    mov rsi, r10
L14:
    movabs r8, 281470681743360
    and r8, rsi
    and r10d, -65536
    and esi, 65280
    or rsi, rdx
    or rsi, r10
    or rsi, r8
    or rsi, rdi
    mov qword ptr [rax], rsi
    mov qword ptr [rax + 8], rcx
    jmp L7
L15:
    movzx eax, word ptr [rsi + 72]
    test ax, ax
    je L17
    mov edx, dword ptr [rsi + 56]
    shr edx, 4
    inc edx
    mov ecx, 19
    cmp dx, 3
    jb L18
    xor ecx, ecx
    cmp ax, 3
    setb cl
    cmovb r10d, eax
    lea rcx, [2*rcx + 18]
    mov edx, r10d
    jmp L18
L16:
    xor eax, eax
    cmp dword ptr [rsi + 72], 0
    sete al
    lea rdx, [rax + 2*rax]
    add rdx, 18
    mov r10d, 65536
    xor esi, esi
    xor edi, edi
    mov rax, qword ptr [rsp + 8]
    jmp L14
L17:
    mov ecx, 21
L18:
    movzx edi, dx
    shl rdi, 32
    or rdi, 196608
    mov edx, 3
    mov rax, qword ptr [rsp + 8]
    jmp L6

hot_batch_rebind:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 424
    mov rbx, rdi
    mov eax, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, eax
    cmp di, 1
    jbe L11
    mov qword ptr [rsp + 8], rbx
    mov r10d, dword ptr [rdx + 4]
    bswap r10d
    shl r10, 32
    mov edi, eax
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 48]
    movzx r11d, byte ptr [rsi + 60]
    shl r11, 27
    or r11, r10
    movq xmm0, r11
    movabs r15, 576460752924180480
    or r15, rdi
    movq xmm1, r15
    punpcklqdq xmm1, xmm0
    mov r11, qword ptr [rsi + 40]
    mov edi, eax
    shl edi, 4
    mov ebx, dword ptr [rsi + 56]
    lea r14d, [rdi + 16]
    and r14d, ebx
    and ebx, edi
    movaps xmm0, xmmword ptr [rip + .LCPI_0]
    movaps xmmword ptr [r11 + rbx], xmm0
    mov r12, qword ptr [rsi + 32]
    movdqa xmmword ptr [r12 + 4*rbx], xmm1
    movdqa xmm0, xmmword ptr [rip + .LCPI_1]
    movdqa xmmword ptr [r12 + 4*rbx + 16], xmm0
    and r14d, 1048560
    pxor xmm0, xmm0
    movdqa xmmword ptr [r12 + 4*rbx + 32], xmm0
    movdqa xmmword ptr [r12 + 4*rbx + 48], xmm0
    movdqa xmmword ptr [r11 + r14], xmm0
    mov r11, qword ptr [rsi + 32]
    movsd xmm1, qword ptr [rip + .LCPI_6]
    movaps xmmword ptr [r11 + 4*r14], xmm1
    movdqa xmmword ptr [r11 + 4*r14 + 16], xmm0
    movdqa xmmword ptr [r11 + 4*r14 + 32], xmm0
    movdqa xmmword ptr [r11 + 4*r14 + 48], xmm0
    mov ebx, dword ptr [rdx]
    mov r14d, dword ptr [rdx + 8]
    mov rdx, qword ptr [r8]
    mov r11d, dword ptr [r8 + 8]
    mov r12d, r11d
    lea ebp, [rax + 2]
    shl r14d, 8
    test bl, bl
    mov r13d, -256
    cmovne r13d, r14d
    movzx r14d, bp
    movzx ecx, cl
    bswap rdx
    or ecx, r13d
    mov r13, r11
    bswap r13
    bswap ecx
    mov r8d, dword ptr [r8 + 12]
    shl rcx, 32
    or rcx, 2097152
    shl r11, 32
    or r11, r8
    or r10, 134217728
    movq xmm1, rbx
    pshufd xmm1, xmm1, 0
    pslld xmm1, 31
    psrad xmm1, 31
    movdqa xmm2, xmm1
    pandn xmm2, xmmword ptr [rip + .LCPI_3]
    pand xmm1, xmmword ptr [rip + .LCPI_4]
    por xmm1, xmm2
    bswap r11
    test r12d, r12d
    js L7
    mov r8d, dword ptr [rsi + 68]
    sub r8d, ebp
    cmp r8w, 2
    jbe L12
    mov r8d, r14d
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm0, r10
    movdqa xmm2, xmmword ptr [rip + .LCPI_5]
    punpcklqdq xmm2, xmm0
    movq xmm0, r8
    por xmm0, xmm2
    movq xmm4, rcx
    movq xmm3, r13
    movq xmm5, rdx
    movq xmm2, r11
    punpcklqdq xmm2, xmm5
    punpcklqdq xmm5, xmm3
    movq xmm3, r9
    mov rcx, qword ptr [rsi + 40]
    shl r14d, 4
    mov edx, dword ptr [rsi + 56]
    and r14d, edx
    mov r8d, 3
    movq xmm6, r8
    movdqa xmm7, xmm3
    punpcklqdq xmm7, xmm6
    movdqa xmmword ptr [rcx + r14], xmm7
    mov r8, qword ptr [rsi + 32]
    movdqa xmmword ptr [r8 + 4*r14], xmm0
    movdqa xmmword ptr [r8 + 4*r14 + 16], xmm1
    lea r9d, [rdi + 48]
    and r9d, edx
    and r9d, 1048560
    pxor xmm1, xmm1
    movdqa xmmword ptr [r8 + 4*r14 + 32], xmm1
    movdqa xmmword ptr [r8 + 4*r14 + 48], xmm1
    movdqa xmmword ptr [rcx + r9], xmm3
    mov r8, qword ptr [rsi + 32]
    movdqa xmmword ptr [r8 + 4*r9], xmm4
    movdqa xmmword ptr [r8 + 4*r9 + 16], xmm5
    add edi, 64
    and edi, edx
    and edi, 1048560
    movdqa xmmword ptr [r8 + 4*r9 + 32], xmm1
    movdqa xmmword ptr [r8 + 4*r9 + 48], xmm1
    movdqa xmmword ptr [rcx + rdi], xmm3
    mov rcx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rcx + 4*rdi], xmm2
    movq rdx, xmm0
    add eax, 5
    movzx r14d, ax
    movdqa xmmword ptr [rcx + 4*rdi + 16], xmm1
    movdqa xmmword ptr [rcx + 4*rdi + 32], xmm1
    movdqa xmmword ptr [rcx + 4*rdi + 48], xmm1
    mov ecx, 12
    xor edi, edi
L1:
    mov rbx, qword ptr [rsp + 8]
L2:
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsi + 64], r14d
    mov r8, qword ptr [rsi + 24]
    bswap r14d
    mov dword ptr [r8], r14d
    test dil, dil
    je L3
    test cl, -2
    je L4
    movzx edi, cl
    add edi, 3
    and edi, -4
    cmp di, 4
    jne L4
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [rsi + 4*rdi + 96], 63
    jbe L4
    shl eax, 4
    and eax, dword ptr [rsi + 56]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdx, qword ptr [rsi]
    movq xmm0, qword ptr [rcx + 4*rax]
    movq xmm1, qword ptr [rcx + 4*rax + 8]
    punpcklqdq xmm0, xmm1
    movq xmm1, qword ptr [rcx + 4*rax + 16]
    movq xmm2, qword ptr [rcx + 4*rax + 24]
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [rcx + 4*rax + 32]
    movq xmm3, qword ptr [rcx + 4*rax + 40]
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [rcx + 4*rax + 48]
    movq xmm4, qword ptr [rcx + 4*rax + 56]
    punpcklqdq xmm3, xmm4
    movdqa xmmword ptr [rdx], xmm0
    movdqa xmmword ptr [rdx + 16], xmm1
    movdqa xmmword ptr [rdx + 32], xmm2
    movdqa xmmword ptr [rdx + 48], xmm3
    sfence
    xor rdx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdx
    jmp L5
L3:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rdx
    sfence
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    jmp L5
L4:
    mov rdi, rsi
    mov esi, eax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L5:
    mov byte ptr [rbx], 25
L6:
    mov rax, rbx
    add rsp, 424
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L7:
    mov qword ptr [rsp + 16], rsi
    mov qword ptr [rsp + 48], rsi
    mov dword ptr [rsp + 56], r14d
    mov qword ptr [rsp + 88], 0
    mov qword ptr [rsp + 96], r10
    mov qword ptr [rsp + 104], r9
    mov qword ptr [rsp + 112], 0
    movdqu xmmword ptr [rsp + 120], xmm1
    movdqu xmmword ptr [rsp + 136], xmm0
    movdqu xmmword ptr [rsp + 152], xmm0
    mov qword ptr [rsp + 168], rcx
    mov qword ptr [rsp + 176], 0
    mov qword ptr [rsp + 184], rdx
    mov qword ptr [rsp + 192], r13
    movdqu xmmword ptr [rsp + 200], xmm0
    movdqu xmmword ptr [rsp + 216], xmm0
    mov qword ptr [rsp + 232], r11
    mov qword ptr [rsp + 240], rdx
    movdqu xmmword ptr [rsp + 248], xmm0
    movdqu xmmword ptr [rsp + 264], xmm0
    movdqu xmmword ptr [rsp + 280], xmm0
    movdqu xmmword ptr [rsp + 296], xmm0
    movdqu xmmword ptr [rsp + 312], xmm0
    movdqu xmmword ptr [rsp + 328], xmm0
    movdqu xmmword ptr [rsp + 344], xmm0
    mov qword ptr [rsp + 360], 1
    mov qword ptr [rsp + 368], 0
    mov qword ptr [rsp + 376], 1
    mov qword ptr [rsp + 384], 0
    mov byte ptr [rsp + 392], 1
    mov dword ptr [rsp + 396], r12d
    mov dword ptr [rsp + 400], 2147483647
    mov qword ptr [rsp + 408], 0
    mov dword ptr [rsp + 416], 0
    movdqu xmm0, xmmword ptr [rip + .Lanon]
    movdqu xmmword ptr [rsp + 64], xmm0
    mov qword ptr [rsp + 80], 65536
    lea rdi, [rsp + 24]
    lea rsi, [rsp + 48]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named>::{closure#0}>::{closure#1}>::{closure#2}>@GOTPCREL]
    mov rdx, qword ptr [rsp + 32]
    mov rcx, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 24], 0
    je L8
    cmp dl, 25
    mov rbx, qword ptr [rsp + 8]
    jne L9
    mov dil, 1
    mov ecx, 8
    mov rdx, r15
    mov rsi, qword ptr [rsp + 16]
    jmp L2
L8:
    movzx eax, cl
    add eax, 3
    shr eax, 2
    add eax, ebp
    movzx r14d, ax
    xor edi, edi
    mov rsi, qword ptr [rsp + 16]
    jmp L1
L9:
    mov rax, rdx
    and rax, -256
L10:
    movzx edx, dl
    or rdx, rax
    mov qword ptr [rbx], rdx
    mov qword ptr [rbx + 8], rcx
    jmp L6
L11:
    movzx edx, word ptr [rsi + 72]
    test dx, dx
    je L13
    mov eax, dword ptr [rsi + 56]
    shr eax, 4
    inc eax
    mov cl, 19
    cmp ax, 2
    jb L14
    cmp dx, 1
    sete cl
    mov eax, 1
    cmovne eax, edi
    add cl, cl
    add cl, 18
    jmp L14
L12:
    movzx eax, word ptr [rsi + 72]
    test ax, ax
    mov rbx, qword ptr [rsp + 8]
    je L15
    mov ecx, dword ptr [rsi + 56]
    shr ecx, 4
    inc ecx
    mov edx, 19
    cmp cx, 3
    jb L16
    xor ecx, ecx
    cmp ax, 3
    setb cl
    cmovb r8d, eax
    lea rdx, [2*rcx + 18]
    mov ecx, r8d
    jmp L16
L13:
    mov cl, 21
L14:
    movzx eax, ax
    mov byte ptr [rbx], cl
    mov word ptr [rbx + 2], 2
    mov dword ptr [rbx + 4], eax
    mov word ptr [rbx + 8], 2
    jmp L6
L15:
    mov edx, 21
L16:
    movzx eax, cx
    shl rax, 32
    or rax, 196608
    mov ecx, 3
    jmp L10

hot_burst:
    push rbp
    push r15
    push r14
    push r12
    push rbx
    sub rsp, 16
    mov rax, rdi
    cmp dword ptr [rsi + 76], 7
    jbe L11
    mov edi, dword ptr [rsi + 64]
    mov r10d, dword ptr [rsi + 68]
    sub r10d, edi
    movzx r10d, r10w
    cmp r9, r10
    ja L12
    cmp byte ptr [rsi + 60], 2
    jne L2
L1:
    mov qword ptr [rax], r9
    mov qword ptr [rax + 8], rsi
    jmp L9
L2:
    mov r10, qword ptr [rsi + 32]
    mov r11d, dword ptr [rsi + 56]
    test r9, r9
    je L4
    mov rbx, qword ptr [rsi + 40]
    lea r14, [r8 + 8*r9]
    bswap rdx
    bswap ecx
    movabs r15, 216172782248001536
    or r15, qword ptr [rsi + 48]
    movq xmm0, rdx
    movd xmm1, ecx
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    xor ecx, ecx
    movaps xmm1, xmmword ptr [rip + .LCPI_0]
L3:
    cmp r9, rcx
    je L10
    lea rdx, [r8 + 8*rcx]
    mov r12d, edi
    bswap r12d
    shr r12d, 8
    or r12, r15
    movq xmm2, r12
    shufps xmm2, xmm1, 228
    mov r12d, dword ptr [rdx]
    shl r12, 32
    or r12, 134217856
    movd xmm3, dword ptr [rdx + 4]
    movq xmm4, r12
    punpcklqdq xmm4, xmm3
    mov ebp, edi
    shl ebp, 4
    mov r12d, r11d
    and r12d, ebp
    mov qword ptr [rbx + r12], rcx
    mov qword ptr [rbx + r12 + 8], 1
    movups xmmword ptr [r10 + 4*r12], xmm2
    movups xmmword ptr [r10 + 4*r12 + 16], xmm0
    movdqu xmmword ptr [r10 + 4*r12 + 32], xmm4
    inc edi
    movzx edi, di
    add rdx, 8
    inc rcx
    cmp rdx, r14
    jne L3
    mov r8d, dword ptr [rsi + 64]
    mov ecx, edi
    sub ecx, r8d
    test cx, cx
    jne L5
    jmp L8
L4:
    mov r8d, edi
    mov ecx, edi
    sub ecx, r8d
    test cx, cx
    je L8
L5:
    mov edx, edi
    shl edx, 4
    add edx, 1048560
    and edx, r11d
    and edx, 1048560
    mov rdx, qword ptr [r10 + 4*rdx]
    mov dword ptr [rsi + 64], edi
    mov r9, qword ptr [rsi + 24]
    movzx edi, di
    bswap edi
    mov dword ptr [r9], edi
    cmp cx, 1
    jne L6
    cmp dword ptr [rsi + 96], 63
    jbe L7
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdx, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*r8]
    movsd xmm1, qword ptr [rcx + 4*r8 + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rcx + 4*r8 + 16]
    movsd xmm2, qword ptr [rcx + 4*r8 + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*r8 + 32]
    movsd xmm3, qword ptr [rcx + 4*r8 + 40]
    movlhps xmm2, xmm3
    movq xmm3, qword ptr [rcx + 4*r8 + 48]
    movq xmm4, qword ptr [rcx + 4*r8 + 56]
    punpcklqdq xmm3, xmm4
    movaps xmmword ptr [rdx], xmm0
    movaps xmmword ptr [rdx + 16], xmm1
    movaps xmmword ptr [rdx + 32], xmm2
    movdqa xmmword ptr [rdx + 48], xmm3
    sfence
    xor rdx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdx
    jmp L8
L6:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    jmp L8
L7:
    mov ecx, 259
    mov rdi, rsi
    mov esi, r8d
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
L8:
    mov byte ptr [rax], 25
L9:
    add rsp, 16
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret
L10:
    mov byte ptr [rax], 18
    mov dword ptr [rax + 2], 1
    jmp L9
L11:
    add rsi, 76
    lea rdx, [rip + .Lanon]
    mov rdi, rsp
    mov rbx, rax
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rax, rbx
    mov r9, qword ptr [rsp]
    mov rsi, qword ptr [rsp + 8]
    jmp L1
L12:
    cmp r9, 65535
    mov ecx, 65535
    cmovb rcx, r9
    mov edx, dword ptr [rsi + 72]
    test dx, dx
    je L13
    mov esi, dword ptr [rsi + 56]
    shr esi, 4
    inc esi
    cmp si, cx
    jae L14
    movzx r9d, si
    shl r9, 32
    mov edx, 19
    mov rsi, rcx
    or r9, rdx
    jmp L1
L13:
    mov edx, 21
    xor r9d, r9d
    or r9, rdx
    jmp L1
L14:
    mov rsi, rcx
    shl rsi, 16
    cmp cx, dx
    jbe L15
    movzx r9d, dx
    shl r9, 32
    or r9, rsi
    mov edx, 20
    or r9, rdx
    jmp L1
L15:
    shl r10, 32
    or r10, rsi
    mov edx, 18
    mov r9, r10
    or r9, rdx
    jmp L1

hot_burst_fill:
    push r15
    push r14
    push rbx
    sub rsp, 16
    mov rax, rdi
    cmp dword ptr [rsi + 76], 7
    jbe L10
    mov edi, dword ptr [rsi + 64]
    mov r10d, dword ptr [rsi + 68]
    sub r10d, edi
    movzx r10d, r10w
    cmp r9, r10
    ja L11
    cmp byte ptr [rsi + 60], 2
    jne L2
L1:
    mov qword ptr [rax], r9
    mov qword ptr [rax + 8], rsi
    jmp L9
L2:
    mov r10, qword ptr [rsi + 32]
    mov r11d, dword ptr [rsi + 56]
    test r9, r9
    je L4
    mov rbx, qword ptr [rsi + 40]
    bswap ecx
    bswap rdx
    movabs r14, 216172782248001536
    or r14, qword ptr [rsi + 48]
    movq xmm0, rdx
    movd xmm1, ecx
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    xor ecx, ecx
    movaps xmm1, xmmword ptr [rip + .LCPI_0]
L3:
    mov edx, edi
    bswap edx
    shr edx, 8
    or rdx, r14
    movq xmm2, rdx
    mov edx, dword ptr [r8 + 8*rcx]
    movd xmm3, dword ptr [r8 + 8*rcx + 4]
    mov r15d, edi
    shl r15d, 4
    and r15d, r11d
    mov qword ptr [rbx + r15], rcx
    inc rcx
    shufps xmm2, xmm1, 228
    shl rdx, 32
    or rdx, 134217856
    movq xmm4, rdx
    punpcklqdq xmm4, xmm3
    mov qword ptr [rbx + r15 + 8], 1
    movups xmmword ptr [r10 + 4*r15], xmm2
    movups xmmword ptr [r10 + 4*r15 + 16], xmm0
    movdqu xmmword ptr [r10 + 4*r15 + 32], xmm4
    inc edi
    movzx edi, di
    cmp r9, rcx
    jne L3
    mov r8d, dword ptr [rsi + 64]
    mov ecx, edi
    sub ecx, r8d
    test cx, cx
    jne L5
    jmp L8
L4:
    mov r8d, edi
    mov ecx, edi
    sub ecx, r8d
    test cx, cx
    je L8
L5:
    mov edx, edi
    shl edx, 4
    add edx, 1048560
    and edx, r11d
    and edx, 1048560
    mov rdx, qword ptr [r10 + 4*rdx]
    mov dword ptr [rsi + 64], edi
    mov r9, qword ptr [rsi + 24]
    movzx edi, di
    bswap edi
    mov dword ptr [r9], edi
    cmp cx, 1
    jne L6
    cmp dword ptr [rsi + 96], 63
    jbe L7
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdx, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*r8]
    movsd xmm1, qword ptr [rcx + 4*r8 + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rcx + 4*r8 + 16]
    movsd xmm2, qword ptr [rcx + 4*r8 + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rcx + 4*r8 + 32]
    movsd xmm3, qword ptr [rcx + 4*r8 + 40]
    movlhps xmm2, xmm3
    movq xmm3, qword ptr [rcx + 4*r8 + 48]
    movq xmm4, qword ptr [rcx + 4*r8 + 56]
    punpcklqdq xmm3, xmm4
    movaps xmmword ptr [rdx], xmm0
    movaps xmmword ptr [rdx + 16], xmm1
    movaps xmmword ptr [rdx + 32], xmm2
    movdqa xmmword ptr [rdx + 48], xmm3
    sfence
    xor rdx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdx
    jmp L8
L6:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    jmp L8
L7:
    mov ecx, 259
    mov rdi, rsi
    mov esi, r8d
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
L8:
    mov byte ptr [rax], 25
L9:
    add rsp, 16
    pop rbx
    pop r14
    pop r15
    ret
L10:
    add rsi, 76
    lea rdx, [rip + .Lanon]
    mov rdi, rsp
    mov rbx, rax
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rax, rbx
    mov r9, qword ptr [rsp]
    mov rsi, qword ptr [rsp + 8]
    jmp L1
L11:
    cmp r9, 65535
    mov ecx, 65535
    cmovb rcx, r9
    mov edx, dword ptr [rsi + 72]
    test dx, dx
    je L12
    mov esi, dword ptr [rsi + 56]
    shr esi, 4
    inc esi
    cmp si, cx
    jae L13
    movzx r9d, si
    shl r9, 32
    mov edx, 19
    mov rsi, rcx
    or r9, rdx
    jmp L1
L12:
    mov edx, 21
    xor r9d, r9d
    or r9, rdx
    jmp L1
L13:
    mov rsi, rcx
    shl rsi, 16
    cmp cx, dx
    jbe L14
    movzx r9d, dx
    shl r9, 32
    or r9, rsi
    mov edx, 20
    or r9, rdx
    jmp L1
L14:
    shl r10, 32
    or r10, rsi
    mov edx, 18
    mov r9, r10
    or r9, rdx
    jmp L1

hot_burst_frames:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov rbx, rdi
    cmp dword ptr [rsi + 80], 0
    je L12
    mov r8d, dword ptr [rsi + 64]
    mov eax, dword ptr [rsi + 68]
    sub eax, r8d
    movzx eax, ax
    cmp rcx, rax
    ja L13
    cmp byte ptr [rsi + 60], 2
    jne L2
L1:
    mov qword ptr [rbx], rcx
    mov qword ptr [rbx + 8], rsi
    jmp L11
L2:
    mov r13, rdx
    mov qword ptr [rsp + 16], rbx
    mov rbp, qword ptr [rsi + 32]
    mov r14, qword ptr [rsi + 40]
    mov r9d, dword ptr [rsi + 56]
    movabs rbx, 216172782281555968
    mov qword ptr [rsp + 40], rsi
    or rbx, qword ptr [rsi + 48]
    add r13, 12
    xor r12d, r12d
    mov rdi, rsp
    movaps xmm3, xmmword ptr [rip + .LCPI_0]
    movsd xmm4, qword ptr [rip + .LCPI_2]
    mov r15d, r8d
L3:
    cmp rcx, r12
    je L6
    mov esi, dword ptr [r13 - 4]
    test esi, esi
    jle L4
    bswap esi
    mov eax, dword ptr [r13]
    mov r10, qword ptr [r13 - 12]
    bswap r10
    bswap eax
    mov edx, r15d
    bswap edx
    shr edx, 8
    or rdx, rbx
    movq xmm0, rdx
    shufps xmm0, xmm3, 228
    movd xmm1, esi
    movd xmm2, eax
    punpckldq xmm1, xmm2
    movq xmm2, r10
    punpcklqdq xmm1, xmm2
    mov eax, r15d
    shl eax, 4
    mov edx, r9d
    and edx, eax
    mov qword ptr [r14 + rdx], r12
    mov qword ptr [r14 + rdx + 8], 1
    movups xmmword ptr [rbp + 4*rdx], xmm0
    movups xmmword ptr [rbp + 4*rdx + 16], xmm4
    movdqu xmmword ptr [rbp + 4*rdx + 32], xmm1
    inc r15d
    movzx r15d, r15w
    mov al, 25
    add r13, 16
    inc r12
    cmp al, 25
    je L3
    jmp L5
L4:
    mov qword ptr [rsp + 64], r8
    mov qword ptr [rsp + 56], rcx
    mov qword ptr [rsp + 48], r9
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::odd_entry@GOTPCREL]
    movsd xmm4, qword ptr [rip + .LCPI_2]
    movaps xmm3, xmmword ptr [rip + .LCPI_0]
    mov rdi, rsp
    lea rdx, [rsp + 1]
    mov r9, qword ptr [rsp + 48]
    mov rcx, qword ptr [rsp + 56]
    mov r8, qword ptr [rsp + 64]
    movzx eax, byte ptr [rsp]
    mov rsi, qword ptr [rdx]
    mov rdx, qword ptr [rdx + 7]
    mov qword ptr [rsp + 24], rsi
    mov qword ptr [rsp + 31], rdx
    add r13, 16
    inc r12
    cmp al, 25
    je L3
L5:
    mov rcx, qword ptr [rsp + 24]
    mov rdx, qword ptr [rsp + 31]
    mov rbx, qword ptr [rsp + 16]
    mov qword ptr [rbx + 8], rdx
    mov qword ptr [rbx + 1], rcx
    mov byte ptr [rbx], al
    jmp L11
L6:
    mov eax, r15d
    sub eax, r8d
    test ax, ax
    mov rbx, qword ptr [rsp + 16]
    je L10
    mov ecx, r15d
    shl ecx, 4
    add ecx, 1048560
    and ecx, r9d
    and ecx, 1048560
    mov rdx, qword ptr [rbp + 4*rcx]
    mov rdi, qword ptr [rsp + 40]
    mov dword ptr [rdi + 64], r15d
    mov rcx, qword ptr [rdi + 24]
    movzx esi, r15w
    bswap esi
    mov dword ptr [rcx], esi
    cmp ax, 1
    jne L7
    cmp dword ptr [rdi + 100], 63
    jbe L9
    shl r8d, 4
    and r8d, r9d
    sfence
    mov rax, qword ptr [rdi]
    movsd xmm0, qword ptr [rbp + 4*r8]
    movsd xmm1, qword ptr [rbp + 4*r8 + 8]
    movlhps xmm0, xmm1
    movq xmm1, qword ptr [rbp + 4*r8 + 16]
    movq xmm2, qword ptr [rbp + 4*r8 + 24]
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [rbp + 4*r8 + 32]
    movq xmm3, qword ptr [rbp + 4*r8 + 40]
    punpcklqdq xmm2, xmm3
    movsd xmm3, qword ptr [rbp + 4*r8 + 48]
    movsd xmm4, qword ptr [rbp + 4*r8 + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rax], xmm0
    movdqa xmmword ptr [rax + 16], xmm1
    movdqa xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    jmp L8
L7:
    sfence
    mov rax, qword ptr [rdi]
    mov qword ptr [rax], rdx
    sfence
L8:
    xor rax, qword ptr [rdi + 8]
    mov qword ptr [rdi], rax
    jmp L10
L9:
    mov ecx, 3
    mov esi, r8d
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L10:
    mov byte ptr [rbx], 25
L11:
    mov rax, rbx
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L12:
    add rsi, 76
    lea rdx, [rip + .Lanon]
    mov rdi, rsp
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::uncovered@GOTPCREL]
    mov rcx, qword ptr [rsp]
    mov rsi, qword ptr [rsp + 8]
    jmp L1
L13:
    cmp rcx, 65535
    mov edi, 65535
    cmovb rdi, rcx
    mov edx, dword ptr [rsi + 72]
    test dx, dx
    je L14
    mov esi, dword ptr [rsi + 56]
    shr esi, 4
    inc esi
    cmp si, di
    jae L15
    movzx ecx, si
    shl rcx, 32
    mov edx, 19
    mov rsi, rdi
    or rcx, rdx
    jmp L1
L14:
    mov edx, 21
    xor ecx, ecx
    or rcx, rdx
    jmp L1
L15:
    mov rsi, rdi
    shl rsi, 16
    cmp di, dx
    jbe L16
    movzx ecx, dx
    shl rcx, 32
    or rcx, rsi
    mov edx, 20
    or rcx, rdx
    jmp L1
L16:
    shl rax, 32
    or rax, rsi
    mov edx, 18
    mov rcx, rax
    or rcx, rdx
    jmp L1

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
    mov rax, qword ptr [rsi + 16]
    mov qword ptr [rsp + 72], rax
    mov rbx, qword ptr [rsi + 40]
    mov eax, dword ptr [rsi + 72]
    mov dword ptr [rsp + 12], eax
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsp + 8], eax
    mov eax, dword ptr [rsi + 56]
    mov qword ptr [rsp + 56], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 96], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 88], rax
    mov r13d, dword ptr [rsi + 68]
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
    mov dword ptr [rsi + 68], r13d
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
    mov rax, qword ptr [rsi + 16]
    mov qword ptr [rsp + 72], rax
    mov rbx, qword ptr [rsi + 40]
    mov eax, dword ptr [rsi + 72]
    mov dword ptr [rsp + 12], eax
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsp + 8], eax
    mov eax, dword ptr [rsi + 56]
    mov qword ptr [rsp + 56], rax
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 96], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rdi + 48]
    mov qword ptr [rsp + 88], rax
    mov r13d, dword ptr [rsi + 68]
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
    mov dword ptr [rsi + 68], r13d
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

hot_poll_collapsed:
    push rbp
    push r15
    push r14
    push rbx
    sub rsp, 24
    mov rcx, qword ptr [rdi]
    mov ebx, dword ptr [rcx + 60]
    mov ebp, dword ptr [rdi + 16]
    cmp ebx, ebp
    je L3
    mov r8, rsi
    mov dword ptr [rdi + 16], ebx
    mov esi, ebx
    and esi, -16777217
    bswap esi
    mov rdi, qword ptr [rdi + 8]
    movaps xmm0, xmmword ptr [rcx]
    movaps xmm0, xmmword ptr [rcx + 16]
    movaps xmm0, xmmword ptr [rcx + 32]
    mov rax, qword ptr [rcx + 48]
    mov rcx, qword ptr [rcx + 56]
    cmp sil, 4
    jae L4
L1:
    mov r9d, ecx
    and r9d, -256
    or r9, rdi
    xor r9, qword ptr [r8 + 16]
    cmp r9, 255
    ja L3
    mov edi, esi
    shr edi, 16
    mov r11d, dword ptr [r8 + 64]
    mov r10d, dword ptr [r8 + 68]
    mov r14d, r10d
    sub r14d, dword ptr [r8 + 72]
    mov r9d, edi
    sub r9d, r14d
    sub r11d, r14d
    cmp r9w, r11w
    jae L3
    shl edi, 4
    and edi, dword ptr [r8 + 56]
    mov r11, qword ptr [r8 + 40]
    mov r14, qword ptr [r11 + rdi + 8]
    test r14, r14
    je L3
    add r9d, r10d
    add r9d, r14d
    mov r14, qword ptr [r11 + rdi]
    movzx edi, r9w
    mov dword ptr [r8 + 68], edi
    cmp sil, 4
    jb L2
    mov edi, esi
    and dil, -4
    rol dil, 4
    cmp dil, 5
    jae L5
L2:
    add qword ptr [rdx], r14
L3:
    cmp ebx, ebp
    setne al
    add rsp, 24
    pop rbx
    pop r14
    pop r15
    pop rbp
    ret
L4:
    mov r9d, esi
    shr r9b, 4
    cmp r9b, 13
    je L1
    movzx r9d, r9b
    test r9d, r9d
    jne L3
    mov r9d, esi
    shr r9b, 2
    and r9b, 3
    dec r9b
    cmp r9b, 1
    jbe L1
    jmp L3
L5:
    bswap rax
    bswap ecx
    lea rdi, [rsp + 8]
    mov r15, rdx
    mov edx, eax
    call <blueflame::cq::error::completion::CqeError>::new
    mov rdx, r15
    cmp byte ptr [rsp + 8], 8
    je L2
    jmp L3

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
    mov rax, rdi
    mov rdi, qword ptr [rdi]
    mov rcx, qword ptr [rdi + 8]
    mov qword ptr [rdi + 8], rax
    mov qword ptr [rax + 16], rcx
    dec qword ptr [rdi + 16]
    je L1
    ret
L1:
    jmp qword ptr [rip + blueflame::queue::owning::pooled::release@GOTPCREL]

hot_pool_take:
    mov rcx, qword ptr [rdi]
    mov rax, qword ptr [rcx + 8]
    test rax, rax
    je L1
    mov rdx, qword ptr [rax + 16]
    mov qword ptr [rcx + 8], rdx
    inc qword ptr [rcx + 16]
L1:
    ret

hot_post_after:
    push rbp
    push r15
    push r14
    push r12
    push rbx
    sub rsp, 224
    mov rbx, rdi
    mov eax, dword ptr [rsi + 64]
    cmp eax, dword ptr [rsi + 68]
    je L10
    mov rdi, qword ptr [rsp + 280]
    mov r10, qword ptr [rsp + 272]
    bswap edx
    bswap ecx
    movzx r11d, byte ptr [rsi + 60]
    mov r14d, eax
    bswap r14d
    shr r14d, 8
    shl r11d, 26
    add r11d, 67108864
    or r14, qword ptr [rsi + 48]
    movabs r15, 144115188327514112
    or r15, r14
    movd xmm0, edx
    movd xmm1, ecx
    punpckldq xmm1, xmm0
    pslldq xmm1, 8
    movq xmm0, r15
    movd xmm2, r11d
    punpcklqdq xmm0, xmm2
    mov rcx, qword ptr [rsi + 40]
    mov edx, eax
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov qword ptr [rcx + rdx], 0
    mov qword ptr [rcx + rdx + 8], 1
    mov rcx, qword ptr [rsi + 32]
    movdqu xmmword ptr [rcx + 4*rdx], xmm0
    movdqu xmmword ptr [rcx + 4*rdx + 16], xmm1
    lea ebp, [rax + 1]
    bswap r8
    movzx r14d, bp
    bswap r9d
    cmp dword ptr [rsi + 76], 7
    jbe L6
    cmp r14d, dword ptr [rsi + 68]
    je L11
    mov ecx, r14d
    bswap ecx
    shr ecx, 8
    or rcx, qword ptr [rsi + 48]
    movabs rdx, 216172782248001536
    or rdx, rcx
    movq xmm0, rdx
    movq xmm1, r8
    movd xmm2, r9d
    pslldq xmm2, 8
    shufps xmm1, xmm2, 36
    mov ecx, dword ptr [r10]
    shl rcx, 32
    or rcx, 134217856
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movd xmm2, dword ptr [r10 + 4]
    movq xmm3, rcx
    punpcklqdq xmm3, xmm2
    mov rcx, qword ptr [rsi + 40]
    shl r14d, 4
    and r14d, dword ptr [rsi + 56]
    mov qword ptr [rcx + r14], rdi
    mov qword ptr [rcx + r14 + 8], 1
    mov rcx, qword ptr [rsi + 32]
    movupd xmmword ptr [rcx + 4*r14], xmm0
    movups xmmword ptr [rcx + 4*r14 + 16], xmm1
    movdqu xmmword ptr [rcx + 4*r14 + 32], xmm3
    add eax, 2
    movzx r14d, ax
    mov ecx, 259
    xor edi, edi
L1:
    mov eax, dword ptr [rsi + 64]
    mov dword ptr [rsi + 64], r14d
    mov r8, qword ptr [rsi + 24]
    bswap r14d
    mov dword ptr [r8], r14d
    test dil, dil
    je L2
    movzx edi, cl
    add edi, 3
    and edi, -4
    cmp di, 4
    setne dil
    test cl, -2
    sete r8b
    or r8b, dil
    jne L3
    xor edi, edi
    test ecx, 256
    sete dil
    cmp dword ptr [rsi + 4*rdi + 96], 63
    jbe L3
    shl eax, 4
    and eax, dword ptr [rsi + 56]
    mov rcx, qword ptr [rsi + 32]
    sfence
    mov rdx, qword ptr [rsi]
    movsd xmm0, qword ptr [rcx + 4*rax]
    movsd xmm1, qword ptr [rcx + 4*rax + 8]
    unpcklpd xmm0, xmm1
    movq xmm1, qword ptr [rcx + 4*rax + 16]
    movq xmm2, qword ptr [rcx + 4*rax + 24]
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [rcx + 4*rax + 32]
    movq xmm3, qword ptr [rcx + 4*rax + 40]
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [rcx + 4*rax + 48]
    movq xmm4, qword ptr [rcx + 4*rax + 56]
    punpcklqdq xmm3, xmm4
    movapd xmmword ptr [rdx], xmm0
    movdqa xmmword ptr [rdx + 16], xmm1
    movdqa xmmword ptr [rdx + 32], xmm2
    movdqa xmmword ptr [rdx + 48], xmm3
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
    mov byte ptr [rbx], 25
L5:
    mov rax, rbx
    add rsp, 224
    pop rbx
    pop r12
    pop r14
    pop r15
    pop rbp
    ret
L6:
    mov r12, rsi
    mov qword ptr [rsp + 24], rsi
    mov dword ptr [rsp + 32], r14d
    mov qword ptr [rsp + 64], r8
    mov dword ptr [rsp + 72], r9d
    pxor xmm0, xmm0
    movdqu xmmword ptr [rsp + 76], xmm0
    movdqu xmmword ptr [rsp + 92], xmm0
    movdqu xmmword ptr [rsp + 108], xmm0
    movdqu xmmword ptr [rsp + 120], xmm0
    mov qword ptr [rsp + 136], 134217728
    mov qword ptr [rsp + 144], rdi
    mov qword ptr [rsp + 152], 0
    mov qword ptr [rsp + 160], 1
    mov qword ptr [rsp + 168], 0
    mov qword ptr [rsp + 176], r10
    mov qword ptr [rsp + 184], 8
    mov byte ptr [rsp + 192], 18
    mov qword ptr [rsp + 208], 0
    mov dword ptr [rsp + 216], 0
    movupd xmm0, xmmword ptr [rip + .Lanon]
    movupd xmmword ptr [rsp + 40], xmm0
    mov qword ptr [rsp + 56], 0
    mov rdi, rsp
    lea rsi, [rsp + 24]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>@GOTPCREL]
    mov rdx, qword ptr [rsp + 8]
    mov rcx, qword ptr [rsp + 16]
    cmp byte ptr [rsp], 0
    je L7
    movzx eax, dl
    cmp rax, 25
    jne L8
    mov dil, 1
    mov ecx, 2
    mov rdx, r15
    mov rsi, r12
    jmp L1
L7:
    movzx eax, cl
    add eax, 3
    shr eax, 2
    add eax, ebp
    movzx r14d, ax
    xor edi, edi
    mov rsi, r12
    jmp L1
L8:
    movabs rdi, -281474976710656
    and rdi, rdx
    mov rsi, rdx
L9:
    movabs r8, 281470681743360
    and r8, rsi
    and edx, -65536
    and esi, 65280
    or rsi, rax
    or rsi, rdx
    or rsi, r8
    or rsi, rdi
    mov qword ptr [rbx], rsi
    mov qword ptr [rbx + 8], rcx
    jmp L5
L10:
    xor eax, eax
    cmp dword ptr [rsi + 72], 0
    sete al
    lea eax, [rax + 2*rax]
    add eax, 18
    mov byte ptr [rbx], al
    mov dword ptr [rbx + 2], 1
    jmp L5
L11:
    xor eax, eax
    cmp dword ptr [rsi + 72], 0
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
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edx, dword ptr [rsi + 64]
    cmp edx, dword ptr [rsi + 68]
    je L3
    mov edi, edx
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 48]
    movabs r9, 216172782281555968
    or r9, rdi
    movq xmm1, r9
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdi, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdi + rcx], xmm3
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*rcx], xmm1
    movaps xmmword ptr [rdi + 4*rcx + 16], xmm0
    movdqa xmmword ptr [rdi + 4*rcx + 32], xmm2
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edx, dword ptr [rsi + 64]
    cmp edx, dword ptr [rsi + 68]
    je L3
    mov r9d, edx
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 48]
    movabs rdi, 216172782281555968
    or rdi, r9
    movq xmm1, rdi
    shufpd xmm1, xmmword ptr [rip + .LCPI_0], 2
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov r9, qword ptr [rsi + 40]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [r9 + rcx], xmm3
    mov r8, qword ptr [rsi + 32]
    movapd xmmword ptr [r8 + 4*rcx], xmm1
    movaps xmmword ptr [r8 + 4*rcx + 16], xmm0
    movdqa xmmword ptr [r8 + 4*rcx + 32], xmm2
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm0
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r8
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], rcx
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
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
    mov rdx, qword ptr [rcx]
    mov edi, dword ptr [rcx + 8]
    mov r9d, dword ptr [rcx + 12]
    bswap rdx
    test edi, edi
    jle L2
    cmp dword ptr [rsi + 80], 0
    je L2
    mov ecx, dword ptr [rsi + 64]
    mov r10d, dword ptr [rsi + 68]
    sub r10d, ecx
    cmp r10w, 1
    jbe L3
    bswap r9d
    mov r10d, ecx
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    bswap edi
    movq xmm3, r10
    por xmm3, xmmword ptr [rip + .LCPI_0]
    movd xmm5, r9d
    movd xmm4, edi
    punpckldq xmm4, xmm5
    movq xmm5, rdx
    punpcklqdq xmm4, xmm5
    movq xmm5, r8
    mov rdx, qword ptr [rsi + 40]
    mov edi, ecx
    shl edi, 4
    mov r8d, dword ptr [rsi + 56]
    mov r9d, r8d
    and r9d, edi
    mov r10d, 2
    movq xmm6, r10
    movdqa xmm7, xmm5
    punpcklqdq xmm7, xmm6
    movdqa xmmword ptr [rdx + r9], xmm7
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm3
    movaps xmmword ptr [r10 + 4*r9 + 16], xmm2
    movaps xmmword ptr [r10 + 4*r9 + 32], xmm1
    movaps xmmword ptr [r10 + 4*r9 + 48], xmm0
    add edi, 16
    and edi, r8d
    and edi, 1048560
    movdqa xmmword ptr [rdx + rdi], xmm5
    movdqa xmmword ptr [r10 + 4*rdi], xmm4
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 100], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm3
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
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov ecx, edi
    shl rdi, 32
    or rdi, r9
    test ecx, ecx
    bswap rdi
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm2
    movups xmmword ptr [rsp + 48], xmm1
    movups xmmword ptr [rsp + 64], xmm0
    mov qword ptr [rsp + 80], rdi
    mov qword ptr [rsp + 88], rdx
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r8
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], 1
    mov qword ptr [rsp + 152], 0
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov word ptr [rsp + 184], 0
    mov byte ptr [rsp + 186], 0
    setle byte ptr [rsp + 187]
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 56]
    shr ecx, 4
    inc ecx
    mov dl, 19
    cmp cx, 2
    jb L5
    cmp di, 1
    sete dl
    mov ecx, 1
    cmovne ecx, r10d
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

hot_post_datagram_full:
    mov rax, rdi
    movups xmm2, xmmword ptr [rdx]
    movups xmm1, xmmword ptr [rdx + 16]
    movups xmm0, xmmword ptr [rdx + 32]
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edx, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, edx
    cmp di, 1
    jbe L3
    mov r9d, edx
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 48]
    movabs rdi, 360287970357411840
    or rdi, r9
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_0], 2
    movq xmm3, qword ptr [rcx]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    movq xmm5, r8
    mov rcx, qword ptr [rsi + 40]
    mov r8d, edx
    shl r8d, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, r8d
    mov r11d, 2
    movq xmm6, r11
    movdqa xmm7, xmm5
    punpcklqdq xmm7, xmm6
    movdqa xmmword ptr [rcx + r10], xmm7
    mov r11, qword ptr [rsi + 32]
    movapd xmmword ptr [r11 + 4*r10], xmm4
    movaps xmmword ptr [r11 + 4*r10 + 16], xmm2
    movaps xmmword ptr [r11 + 4*r10 + 32], xmm1
    movaps xmmword ptr [r11 + 4*r10 + 48], xmm0
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movdqa xmmword ptr [rcx + r8], xmm5
    movdqa xmmword ptr [r11 + 4*r8], xmm3
    add edx, 2
    movzx ecx, dx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
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
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    xorps xmm3, xmm3
    movups xmmword ptr [rsp + 80], xmm3
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm2
    movups xmmword ptr [rsp + 48], xmm1
    movups xmmword ptr [rsp + 64], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r8
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], rcx
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    movzx r8d, word ptr [rsi + 72]
    test r8w, r8w
    je L4
    mov ecx, dword ptr [rsi + 56]
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
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::DoorbellFence>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_dynamic:
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov rdi, qword ptr [rsp + 208]
    bswap rcx
    bswap r8d
    movq xmm0, rcx
    movd xmm1, r8d
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    movups xmm1, xmmword ptr [rdx]
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L4
    mov edx, ecx
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 48]
    movq xmm2, rdx
    por xmm2, xmmword ptr [rip + .LCPI_0]
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    mov edx, ecx
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov r8, qword ptr [rsi + 40]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [r8 + rdx], xmm4
    mov rdi, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdi + 4*rdx], xmm2
    movaps xmmword ptr [rdi + 4*rdx + 16], xmm1
    movaps xmmword ptr [rdi + 4*rdx + 32], xmm0
    movdqa xmmword ptr [rdi + 4*rdx + 48], xmm3
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm2
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L3
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L4
    mov edx, ecx
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 48]
    movq xmm2, rdx
    por xmm2, xmmword ptr [rip + .LCPI_0]
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, ecx
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + r8], xmm4
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*r8], xmm2
    movaps xmmword ptr [rdx + 4*r8 + 16], xmm1
    movaps xmmword ptr [rdx + 4*r8 + 32], xmm0
    movdqa xmmword ptr [rdx + 4*r8 + 48], xmm3
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm2
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 192
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm1
    movups xmmword ptr [rsp + 48], xmm0
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rdi
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r9
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 192
    pop rbx
    ret

hot_post_dynamic_full:
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov rdi, qword ptr [rsp + 208]
    bswap rcx
    bswap r8d
    movq xmm0, rcx
    movd xmm1, r8d
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    movups xmm3, xmmword ptr [rdx]
    movups xmm2, xmmword ptr [rdx + 16]
    movups xmm1, xmmword ptr [rdx + 32]
    cmp dword ptr [rsi + 76], 7
    jbe L3
    mov ecx, dword ptr [rsi + 64]
    mov edx, dword ptr [rsi + 68]
    sub edx, ecx
    cmp dx, 1
    jbe L4
    mov edx, ecx
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 48]
    movq xmm4, rdx
    por xmm4, xmmword ptr [rip + .LCPI_0]
    movq xmm5, qword ptr [r9]
    pslldq xmm5, 4
    por xmm5, xmmword ptr [rip + .LCPI_1]
    movq xmm6, rdi
    mov rdx, qword ptr [rsi + 40]
    mov edi, ecx
    shl edi, 4
    mov r8d, dword ptr [rsi + 56]
    mov r9d, r8d
    and r9d, edi
    mov r10d, 2
    movq xmm7, r10
    movdqa xmm8, xmm6
    punpcklqdq xmm8, xmm7
    movdqa xmmword ptr [rdx + r9], xmm8
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm4
    movaps xmmword ptr [r10 + 4*r9 + 16], xmm3
    movaps xmmword ptr [r10 + 4*r9 + 32], xmm2
    movaps xmmword ptr [r10 + 4*r9 + 48], xmm1
    add edi, 16
    and edi, r8d
    and edi, 1048560
    movdqa xmmword ptr [rdx + rdi], xmm6
    movaps xmmword ptr [r10 + 4*rdi], xmm0
    movdqa xmmword ptr [r10 + 4*rdi + 16], xmm5
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm4
    movaps xmmword ptr [rcx + 16], xmm3
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm1
    movaps xmmword ptr [rcx + 64], xmm0
    movdqa xmmword ptr [rcx + 80], xmm5
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    jmp L2
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm4
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 192
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm3
    movups xmmword ptr [rsp + 48], xmm2
    movups xmmword ptr [rsp + 64], xmm1
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rdi
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r9
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L4:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L5
    mov ecx, dword ptr [rsi + 56]
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
    add rsp, 192
    pop rbx
    ret

hot_post_dynamic_stream:
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov rdi, qword ptr [rsp + 208]
    bswap rcx
    bswap r8d
    movzx r10d, word ptr [rdx + 48]
    rol r10w, 8
    movzx r10d, r10w
    shl r10d, 8
    movq xmm0, rcx
    movd xmm1, r8d
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    movups xmm3, xmmword ptr [rdx]
    movups xmm2, xmmword ptr [rdx + 16]
    movups xmm1, xmmword ptr [rdx + 32]
    or r10, 134217728
    cmp dword ptr [rsi + 76], 7
    jbe L3
    mov ecx, dword ptr [rsi + 64]
    mov edx, dword ptr [rsi + 68]
    sub edx, ecx
    cmp dx, 1
    jbe L4
    mov edx, ecx
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 48]
    movd xmm5, r10d
    movq xmm4, rdx
    punpcklqdq xmm4, xmm5
    por xmm4, xmmword ptr [rip + .LCPI_0]
    movq xmm5, qword ptr [r9]
    pslldq xmm5, 4
    por xmm5, xmmword ptr [rip + .LCPI_1]
    movq xmm6, rdi
    mov rdx, qword ptr [rsi + 40]
    mov edi, ecx
    shl edi, 4
    mov r8d, dword ptr [rsi + 56]
    mov r9d, r8d
    and r9d, edi
    mov r10d, 2
    movq xmm7, r10
    movdqa xmm8, xmm6
    punpcklqdq xmm8, xmm7
    movdqa xmmword ptr [rdx + r9], xmm8
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm4
    movaps xmmword ptr [r10 + 4*r9 + 16], xmm3
    movaps xmmword ptr [r10 + 4*r9 + 32], xmm2
    movaps xmmword ptr [r10 + 4*r9 + 48], xmm1
    add edi, 16
    and edi, r8d
    and edi, 1048560
    movdqa xmmword ptr [rdx + rdi], xmm6
    movaps xmmword ptr [r10 + 4*rdi], xmm0
    movdqa xmmword ptr [r10 + 4*rdi + 16], xmm5
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm4
    movaps xmmword ptr [rcx + 16], xmm3
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm1
    movaps xmmword ptr [rcx + 64], xmm0
    movdqa xmmword ptr [rcx + 80], xmm5
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    jmp L2
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm4
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 192
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm3
    movups xmmword ptr [rsp + 48], xmm2
    movups xmmword ptr [rsp + 64], xmm1
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], r10
    mov qword ptr [rsp + 112], rdi
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r9
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L4:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L5
    mov ecx, dword ptr [rsi + 56]
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
    add rsp, 192
    pop rbx
    ret

hot_post_entries:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 680
    mov qword ptr [rsp + 280], r9
    mov qword ptr [rsp + 40], rdi
    bswap rdx
    mov qword ptr [rsp + 288], rdx
    mov eax, dword ptr [r8 + 8]
    mov ebx, dword ptr [r8 + 24]
    mov edx, dword ptr [r8 + 40]
    mov edi, dword ptr [r8 + 56]
    mov r9d, dword ptr [r8 + 72]
    mov r10d, dword ptr [r8 + 88]
    mov r11d, dword ptr [r8 + 104]
    mov qword ptr [rsp + 48], rax
    test eax, eax
    setle al
    mov qword ptr [rsp + 64], rbx
    test ebx, ebx
    setle bl
    or bl, al
    mov qword ptr [rsp + 32], rdx
    test edx, edx
    setle al
    mov qword ptr [rsp + 24], rdi
    test edi, edi
    setle dl
    or dl, al
    or dl, bl
    mov qword ptr [rsp + 16], r9
    test r9d, r9d
    setle al
    mov qword ptr [rsp + 8], r10
    test r10d, r10d
    setle dil
    or dil, al
    mov qword ptr [rsp], r11
    test r11d, r11d
    setle al
    or al, dil
    mov rdi, qword ptr [r8]
    bswap rdi
    mov qword ptr [rsp + 160], rdi
    or al, dl
    mov rdx, qword ptr [r8 + 16]
    bswap rdx
    mov qword ptr [rsp + 272], rdx
    mov rdx, qword ptr [r8 + 32]
    bswap rdx
    mov qword ptr [rsp + 264], rdx
    mov rdx, qword ptr [r8 + 48]
    bswap rdx
    mov qword ptr [rsp + 256], rdx
    mov edx, dword ptr [r8 + 120]
    mov qword ptr [rsp + 240], rdx
    test edx, edx
    setle dil
    mov edx, dword ptr [r8 + 136]
    mov qword ptr [rsp + 224], rdx
    test edx, edx
    setle dl
    or dl, dil
    mov edi, dword ptr [r8 + 152]
    mov qword ptr [rsp + 208], rdi
    test edi, edi
    setle r9b
    or r9b, dl
    mov edx, dword ptr [r8 + 168]
    mov qword ptr [rsp + 192], rdx
    test edx, edx
    setle dil
    or dil, r9b
    mov rdx, qword ptr [r8 + 64]
    bswap rdx
    mov qword ptr [rsp + 248], rdx
    or dil, al
    mov rax, qword ptr [r8 + 80]
    bswap rax
    mov qword ptr [rsp + 232], rax
    mov rax, qword ptr [r8 + 96]
    bswap rax
    mov qword ptr [rsp + 216], rax
    mov rax, qword ptr [r8 + 112]
    bswap rax
    mov qword ptr [rsp + 200], rax
    mov ebx, dword ptr [r8 + 184]
    test ebx, ebx
    setle al
    mov r9d, dword ptr [r8 + 200]
    test r9d, r9d
    setle r10b
    or r10b, al
    mov edx, dword ptr [r8 + 216]
    test edx, edx
    setle r11b
    or r11b, r10b
    mov rax, qword ptr [r8 + 128]
    bswap rax
    mov qword ptr [rsp + 184], rax
    or r11b, dil
    mov rax, qword ptr [r8 + 144]
    bswap rax
    mov qword ptr [rsp + 176], rax
    bswap ecx
    mov rax, qword ptr [r8 + 160]
    bswap rax
    mov qword ptr [rsp + 168], rax
    mov rax, qword ptr [r8 + 176]
    bswap rax
    mov qword ptr [rsp + 152], rax
    mov rax, qword ptr [r8 + 192]
    bswap rax
    mov qword ptr [rsp + 128], rax
    mov r12d, dword ptr [r8 + 12]
    mov eax, dword ptr [r8 + 28]
    mov qword ptr [rsp + 144], rax
    mov eax, dword ptr [r8 + 44]
    mov qword ptr [rsp + 136], rax
    mov eax, dword ptr [r8 + 60]
    mov qword ptr [rsp + 120], rax
    mov eax, dword ptr [r8 + 76]
    mov qword ptr [rsp + 112], rax
    mov eax, dword ptr [r8 + 92]
    mov qword ptr [rsp + 96], rax
    mov eax, dword ptr [r8 + 108]
    mov qword ptr [rsp + 88], rax
    mov eax, dword ptr [r8 + 124]
    mov qword ptr [rsp + 80], rax
    mov r14d, dword ptr [r8 + 140]
    mov r15d, dword ptr [r8 + 156]
    mov ebp, dword ptr [r8 + 172]
    mov edi, dword ptr [r8 + 188]
    mov r13d, dword ptr [r8 + 204]
    mov rax, qword ptr [r8 + 208]
    mov r10d, dword ptr [r8 + 220]
    bswap rax
    mov qword ptr [rsp + 104], rax
    test r11b, 1
    jne L4
    cmp dword ptr [rsi + 80], 13
    jbe L4
    mov r8d, dword ptr [rsi + 64]
    mov r11d, dword ptr [rsi + 68]
    sub r11d, r8d
    cmp r11w, 3
    jbe L5
    movq xmm6, qword ptr [rsp + 288]
    movd xmm1, ecx
    bswap r12d
    movd xmm10, r12d
    mov rcx, qword ptr [rsp + 48]
    bswap ecx
    movd xmm3, ecx
    movq xmm15, qword ptr [rsp + 160]
    movq xmm7, qword ptr [rsp + 104]
    bswap r10d
    movd xmm11, r10d
    bswap edx
    movd xmm4, edx
    movq xmm0, qword ptr [rsp + 128]
    bswap r13d
    movd xmm12, r13d
    bswap r9d
    movd xmm2, r9d
    movq xmm8, qword ptr [rsp + 152]
    bswap edi
    movd xmm14, edi
    bswap ebx
    movd xmm5, ebx
    movq xmm9, qword ptr [rsp + 168]
    bswap ebp
    movd xmm13, ebp
    mov rcx, qword ptr [rsp + 192]
    bswap ecx
    punpcklqdq xmm6, xmm1
    movdqa xmmword ptr [rsp + 288], xmm6
    movd xmm6, ecx
    punpckldq xmm3, xmm10
    movq xmm1, qword ptr [rsp + 176]
    bswap r15d
    punpcklqdq xmm3, xmm15
    movd xmm15, r15d
    mov rcx, qword ptr [rsp + 208]
    bswap ecx
    punpckldq xmm4, xmm11
    movd xmm10, ecx
    punpcklqdq xmm4, xmm7
    movdqa xmmword ptr [rsp + 48], xmm4
    movq xmm11, qword ptr [rsp + 184]
    bswap r14d
    punpckldq xmm2, xmm12
    movd xmm12, r14d
    mov rcx, qword ptr [rsp + 224]
    bswap ecx
    punpcklqdq xmm2, xmm0
    movd xmm7, ecx
    punpckldq xmm5, xmm14
    movq xmm0, qword ptr [rsp + 200]
    mov rax, qword ptr [rsp + 80]
    bswap eax
    punpcklqdq xmm5, xmm8
    movd xmm14, eax
    mov rax, qword ptr [rsp + 240]
    bswap eax
    punpckldq xmm6, xmm13
    movd xmm4, eax
    punpcklqdq xmm6, xmm9
    movq xmm13, qword ptr [rsp + 216]
    mov rax, qword ptr [rsp + 88]
    bswap eax
    punpckldq xmm10, xmm15
    movd xmm15, eax
    mov rax, qword ptr [rsp]
    bswap eax
    punpcklqdq xmm10, xmm1
    movd xmm9, eax
    punpckldq xmm7, xmm12
    movq xmm12, qword ptr [rsp + 232]
    mov rax, qword ptr [rsp + 96]
    bswap eax
    punpcklqdq xmm7, xmm11
    movd xmm1, eax
    mov rax, qword ptr [rsp + 8]
    bswap eax
    punpckldq xmm4, xmm14
    movd xmm8, eax
    punpcklqdq xmm4, xmm0
    movq xmm0, qword ptr [rsp + 248]
    mov rax, qword ptr [rsp + 112]
    bswap eax
    punpckldq xmm9, xmm15
    movd xmm14, eax
    mov rax, qword ptr [rsp + 16]
    bswap eax
    punpcklqdq xmm9, xmm13
    movd xmm11, eax
    punpckldq xmm8, xmm1
    movq xmm1, qword ptr [rsp + 256]
    mov rax, qword ptr [rsp + 120]
    bswap eax
    punpcklqdq xmm8, xmm12
    movd xmm13, eax
    mov rax, qword ptr [rsp + 24]
    bswap eax
    punpckldq xmm11, xmm14
    movd xmm12, eax
    punpcklqdq xmm11, xmm0
    movq xmm0, qword ptr [rsp + 264]
    mov rdx, qword ptr [rsp + 144]
    bswap edx
    mov rax, qword ptr [rsp + 64]
    bswap eax
    mov rdi, qword ptr [rsp + 136]
    bswap edi
    mov rcx, qword ptr [rsp + 32]
    bswap ecx
    punpckldq xmm12, xmm13
    punpcklqdq xmm12, xmm1
    movd xmm1, edi
    movd xmm13, ecx
    punpckldq xmm13, xmm1
    punpcklqdq xmm13, xmm0
    movd xmm0, edx
    movd xmm14, eax
    punpckldq xmm14, xmm0
    movq xmm0, qword ptr [rsp + 272]
    punpcklqdq xmm14, xmm0
    movq xmm15, qword ptr [rsp + 280]
    mov eax, 4
    movq xmm0, rax
    movdqa xmm1, xmm15
    punpcklqdq xmm1, xmm0
    mov r9d, r8d
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 48]
    mov rdx, qword ptr [rsi + 40]
    mov ecx, r8d
    shl ecx, 4
    mov edi, dword ptr [rsi + 56]
    mov r10d, edi
    and r10d, ecx
    movdqa xmmword ptr [rdx + r10], xmm1
    movaps xmm1, xmmword ptr [rsp + 288]
    movabs rax, 1152921504741064704
    or rax, r9
    movq xmm0, rax
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    mov r9, qword ptr [rsi + 32]
    movapd xmmword ptr [r9 + 4*r10], xmm0
    movaps xmmword ptr [r9 + 4*r10 + 16], xmm1
    movdqa xmmword ptr [rsp + 64], xmm3
    movdqa xmmword ptr [r9 + 4*r10 + 32], xmm3
    movdqa xmm3, xmm2
    movdqa xmmword ptr [r9 + 4*r10 + 48], xmm14
    lea r9d, [rcx + 16]
    and r9d, edi
    and r9d, 1048560
    movdqa xmmword ptr [rdx + r9], xmm15
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm13
    movdqa xmmword ptr [r10 + 4*r9 + 16], xmm12
    movdqa xmmword ptr [r10 + 4*r9 + 32], xmm11
    movdqa xmmword ptr [r10 + 4*r9 + 48], xmm8
    lea r9d, [rcx + 32]
    and r9d, edi
    and r9d, 1048560
    movdqa xmmword ptr [rdx + r9], xmm15
    mov r10, qword ptr [rsi + 32]
    movdqa xmmword ptr [r10 + 4*r9], xmm9
    movdqa xmmword ptr [r10 + 4*r9 + 16], xmm4
    movdqa xmmword ptr [r10 + 4*r9 + 32], xmm7
    movdqa xmmword ptr [r10 + 4*r9 + 48], xmm10
    add ecx, 48
    and ecx, edi
    and ecx, 1048560
    movdqa xmmword ptr [rdx + rcx], xmm15
    movaps xmm2, xmmword ptr [rsp + 48]
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*rcx], xmm6
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm5
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    movaps xmmword ptr [rdx + 4*rcx + 48], xmm2
    add r8d, 4
    movzx ecx, r8w
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 100], 255
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movapd xmm0, xmmword ptr [rsp + 64]
    movapd xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm14
    movdqa xmmword ptr [rcx + 64], xmm13
    movdqa xmmword ptr [rcx + 80], xmm12
    movdqa xmmword ptr [rcx + 96], xmm11
    movdqa xmmword ptr [rcx + 112], xmm8
    movdqa xmmword ptr [rcx + 128], xmm9
    movdqa xmmword ptr [rcx + 144], xmm4
    movdqa xmmword ptr [rcx + 160], xmm7
    movdqa xmmword ptr [rcx + 176], xmm10
    movdqa xmmword ptr [rcx + 192], xmm6
    movdqa xmmword ptr [rcx + 208], xmm5
    movdqa xmmword ptr [rcx + 224], xmm3
    movaps xmmword ptr [rcx + 240], xmm2
    sfence
    jmp L2
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rax
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov rax, qword ptr [rsp + 40]
    mov byte ptr [rax], 25
L3:
    mov rax, qword ptr [rsp + 40]
    add rsp, 680
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L4:
    mov rax, qword ptr [rsp + 48]
    shl rax, 32
    or rax, r12
    mov qword ptr [rsp + 48], rax
    mov rax, qword ptr [rsp + 64]
    shl rax, 32
    add rax, qword ptr [rsp + 144]
    mov qword ptr [rsp + 64], rax
    mov rax, qword ptr [rsp + 32]
    shl rax, 32
    add rax, qword ptr [rsp + 136]
    mov qword ptr [rsp + 32], rax
    mov rax, qword ptr [rsp + 24]
    shl rax, 32
    add rax, qword ptr [rsp + 120]
    mov qword ptr [rsp + 24], rax
    mov rax, qword ptr [rsp + 16]
    shl rax, 32
    add rax, qword ptr [rsp + 112]
    mov qword ptr [rsp + 16], rax
    mov rax, qword ptr [rsp + 8]
    shl rax, 32
    add rax, qword ptr [rsp + 96]
    mov qword ptr [rsp + 8], rax
    mov rax, qword ptr [rsp]
    shl rax, 32
    add rax, qword ptr [rsp + 88]
    mov qword ptr [rsp], rax
    mov r12, qword ptr [rsp + 240]
    shl r12, 32
    add r12, qword ptr [rsp + 80]
    mov r8, qword ptr [rsp + 224]
    shl r8, 32
    or r8, r14
    mov r14, qword ptr [rsp + 208]
    shl r14, 32
    or r14, r15
    mov r15, qword ptr [rsp + 192]
    shl r15, 32
    or r15, rbp
    shl rbx, 32
    or rbx, rdi
    shl r9, 32
    or r9, r13
    shl rdx, 32
    or rdx, r10
    mov qword ptr [rsp + 312], rsi
    mov qword ptr [rsp + 344], 0
    mov qword ptr [rsp + 352], 134217728
    mov rax, qword ptr [rsp + 280]
    mov qword ptr [rsp + 360], rax
    mov qword ptr [rsp + 368], 0
    mov rax, qword ptr [rsp + 288]
    mov qword ptr [rsp + 376], rax
    mov rax, qword ptr [rsp + 48]
    bswap rax
    mov qword ptr [rsp + 384], rcx
    mov qword ptr [rsp + 392], rax
    mov rcx, qword ptr [rsp + 64]
    bswap rcx
    mov rax, qword ptr [rsp + 160]
    mov qword ptr [rsp + 400], rax
    mov qword ptr [rsp + 408], rcx
    mov rcx, qword ptr [rsp + 32]
    bswap rcx
    mov rax, qword ptr [rsp + 272]
    mov qword ptr [rsp + 416], rax
    mov qword ptr [rsp + 424], rcx
    mov rcx, qword ptr [rsp + 24]
    bswap rcx
    mov rax, qword ptr [rsp + 264]
    mov qword ptr [rsp + 432], rax
    mov qword ptr [rsp + 440], rcx
    mov rcx, qword ptr [rsp + 16]
    bswap rcx
    mov rax, qword ptr [rsp + 256]
    mov qword ptr [rsp + 448], rax
    mov qword ptr [rsp + 456], rcx
    mov rcx, qword ptr [rsp + 8]
    bswap rcx
    mov rax, qword ptr [rsp + 248]
    mov qword ptr [rsp + 464], rax
    mov qword ptr [rsp + 472], rcx
    mov rcx, qword ptr [rsp]
    bswap rcx
    mov rax, qword ptr [rsp + 232]
    mov qword ptr [rsp + 480], rax
    mov qword ptr [rsp + 488], rcx
    bswap r12
    mov rax, qword ptr [rsp + 216]
    mov qword ptr [rsp + 496], rax
    mov qword ptr [rsp + 504], r12
    bswap r8
    mov rax, qword ptr [rsp + 200]
    mov qword ptr [rsp + 512], rax
    mov qword ptr [rsp + 520], r8
    bswap r14
    mov rax, qword ptr [rsp + 184]
    mov qword ptr [rsp + 528], rax
    mov qword ptr [rsp + 536], r14
    bswap r15
    mov rax, qword ptr [rsp + 176]
    mov qword ptr [rsp + 544], rax
    mov qword ptr [rsp + 552], r15
    bswap rbx
    mov rax, qword ptr [rsp + 168]
    mov qword ptr [rsp + 560], rax
    mov qword ptr [rsp + 568], rbx
    bswap r9
    mov rax, qword ptr [rsp + 152]
    mov qword ptr [rsp + 576], rax
    mov qword ptr [rsp + 584], r9
    bswap rdx
    mov rax, qword ptr [rsp + 128]
    mov qword ptr [rsp + 592], rax
    mov qword ptr [rsp + 600], rdx
    mov rax, qword ptr [rsp + 104]
    mov qword ptr [rsp + 608], rax
    and r11b, 1
    mov qword ptr [rsp + 616], 1
    mov qword ptr [rsp + 624], 0
    mov qword ptr [rsp + 632], 1
    mov qword ptr [rsp + 640], 0
    mov byte ptr [rsp + 648], 18
    mov qword ptr [rsp + 664], 0
    mov word ptr [rsp + 672], 0
    mov byte ptr [rsp + 674], 0
    mov byte ptr [rsp + 675], r11b
    movupd xmm0, xmmword ptr [rip + .Lanon]
    movupd xmmword ptr [rsp + 320], xmm0
    mov qword ptr [rsp + 336], 0
    lea rsi, [rsp + 312]
    mov rdi, qword ptr [rsp + 40]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<0, 14>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<0, 14>>::{closure#2}>::{closure#2}>@GOTPCREL]
    jmp L3
L5:
    movzx eax, word ptr [rsi + 72]
    test ax, ax
    je L6
    mov edx, dword ptr [rsi + 56]
    shr edx, 4
    inc edx
    mov cl, 19
    cmp dx, 4
    jb L7
    cmp ax, 4
    cmovb r11d, eax
    setb cl
    add cl, cl
    add cl, 18
    mov edx, r11d
    jmp L7
L6:
    mov cl, 21
L7:
    movzx eax, dx
    mov rdx, qword ptr [rsp + 40]
    mov byte ptr [rdx], cl
    mov word ptr [rdx + 2], 4
    mov dword ptr [rdx + 4], eax
    mov word ptr [rdx + 8], 4
    jmp L3

hot_post_entry:
    push r14
    push rbx
    sub rsp, 200
    mov rax, rdi
    bswap rdx
    bswap ecx
    mov rdi, qword ptr [r8]
    mov ebx, dword ptr [r8 + 8]
    mov r14d, dword ptr [r8 + 12]
    bswap rdi
    test ebx, ebx
    setle r11b
    jle L3
    mov r10d, ebx
    mov r8d, r14d
    bswap r8d
    bswap r10d
    cmp dword ptr [rsi + 108], 0
    je L1
    mov r11d, dword ptr [rsi + 64]
    cmp r11d, dword ptr [rsi + 68]
    je L4
    mov ebx, r11d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 48]
    movabs r14, 216172782248001536
    or r14, rbx
    movq xmm0, r14
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movd xmm3, r8d
    movd xmm2, r10d
    punpckldq xmm2, xmm3
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    cmp dword ptr [rsi + 80], 0
    je L3
    mov r11d, dword ptr [rsi + 64]
    cmp r11d, dword ptr [rsi + 68]
    je L4
    mov r14d, r11d
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 48]
    movabs rbx, 216172782248001536
    or rbx, r14
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movd xmm2, r8d
    movd xmm3, r10d
    punpckldq xmm3, xmm2
    movq xmm2, rdi
    punpcklqdq xmm3, xmm2
    mov ecx, r11d
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdx, qword ptr [rsi + 40]
    movq xmm2, r9
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rcx], xmm2
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    inc r11d
    movzx ecx, r11w
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rbx
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 200
    pop rbx
    pop r14
    ret
L3:
    shl rbx, 32
    or rbx, r14
    bswap rbx
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 40], rdx
    mov qword ptr [rsp + 48], rcx
    mov qword ptr [rsp + 56], rbx
    mov qword ptr [rsp + 64], rdi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 72], xmm0
    movups xmmword ptr [rsp + 88], xmm0
    mov qword ptr [rsp + 104], 0
    mov qword ptr [rsp + 112], 134217728
    mov qword ptr [rsp + 120], r9
    mov qword ptr [rsp + 128], 0
    mov qword ptr [rsp + 136], 1
    mov qword ptr [rsp + 144], 0
    mov qword ptr [rsp + 152], 1
    mov qword ptr [rsp + 160], 0
    mov byte ptr [rsp + 168], 18
    mov qword ptr [rsp + 184], 0
    mov word ptr [rsp + 192], 0
    mov byte ptr [rsp + 194], 0
    mov byte ptr [rsp + 195], r11b
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 16], xmm0
    mov qword ptr [rsp + 32], 0
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 200
    pop rbx
    pop r14
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 200
    pop rbx
    pop r14
    ret

hot_post_frame:
    push r14
    push rbx
    sub rsp, 200
    mov rax, rdi
    mov rdi, qword ptr [rcx]
    mov r10d, dword ptr [rcx + 8]
    mov ebx, dword ptr [rcx + 12]
    bswap rdi
    test r10d, r10d
    setle r11b
    jle L3
    mov r9d, r10d
    mov ecx, ebx
    bswap ecx
    bswap r9d
    cmp dword ptr [rsi + 108], 0
    je L1
    mov r10d, dword ptr [rsi + 64]
    cmp r10d, dword ptr [rsi + 68]
    je L4
    mov r11d, r10d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
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
    movups xmm2, xmmword ptr [rdx + 2]
    movd xmm4, ecx
    movd xmm3, r9d
    punpckldq xmm3, xmm4
    movq xmm4, rdi
    punpcklqdq xmm3, xmm4
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    cmp dword ptr [rsi + 80], 0
    je L3
    mov r10d, dword ptr [rsi + 64]
    cmp r10d, dword ptr [rsi + 68]
    je L4
    mov ebx, r10d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 48]
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
    movd xmm3, ecx
    movd xmm4, r9d
    punpckldq xmm4, xmm3
    movq xmm3, rdi
    punpcklqdq xmm4, xmm3
    mov rcx, qword ptr [rsi + 40]
    mov edx, r10d
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    movq xmm3, r8
    shufpd xmm3, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rcx + rdx], xmm3
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    movaps xmmword ptr [rcx + 4*rdx + 32], xmm2
    movdqa xmmword ptr [rcx + 4*rdx + 48], xmm4
    inc r10d
    movzx ecx, r10w
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r11
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 200
    pop rbx
    pop r14
    ret
L3:
    mov rcx, r10
    shl rcx, 32
    or rcx, rbx
    bswap rcx
    mov qword ptr [rsp + 8], rsi
    mov qword ptr [rsp + 40], 0
    movabs rsi, 19791209299968
    mov qword ptr [rsp + 48], rsi
    mov qword ptr [rsp + 56], rcx
    mov qword ptr [rsp + 64], rdi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 72], xmm0
    movups xmmword ptr [rsp + 88], xmm0
    mov qword ptr [rsp + 104], 0
    mov qword ptr [rsp + 112], 134217728
    mov qword ptr [rsp + 120], r8
    mov qword ptr [rsp + 128], 0
    mov qword ptr [rsp + 136], rdx
    mov qword ptr [rsp + 144], 18
    mov qword ptr [rsp + 152], 1
    mov qword ptr [rsp + 160], 0
    mov byte ptr [rsp + 168], 18
    mov qword ptr [rsp + 184], r10
    mov word ptr [rsp + 192], 0
    mov byte ptr [rsp + 194], 0
    mov byte ptr [rsp + 195], r11b
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 16], xmm0
    mov qword ptr [rsp + 32], 1
    lea rsi, [rsp + 8]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 200
    pop rbx
    pop r14
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 200
    pop rbx
    pop r14
    ret

hot_post_frame_inline:
    mov rax, rdi
    cmp dword ptr [rsi + 76], 59
    jbe L2
    mov edi, dword ptr [rsi + 64]
    mov r8d, dword ptr [rsi + 68]
    sub r8d, edi
    cmp r8w, 1
    jbe L3
    mov r9d, edi
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 48]
    movabs r8, 432345564395339776
    or r8, r9
    movq xmm0, r8
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movdqu xmm1, xmmword ptr [rdx]
    movd xmm2, dword ptr [rdx + 8]
    punpcklqdq xmm1, xmm2
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    movups xmm2, xmmword ptr [rdx + 12]
    movups xmm3, xmmword ptr [rdx + 28]
    movups xmm4, xmmword ptr [rdx + 44]
    movq xmm6, rcx
    mov rcx, qword ptr [rsi + 40]
    mov edx, edi
    shl edx, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, edx
    mov r11d, 2
    movq xmm5, r11
    movdqa xmm7, xmm6
    punpcklqdq xmm7, xmm5
    movdqa xmmword ptr [rcx + r10], xmm7
    mov r11, qword ptr [rsi + 32]
    movapd xmmword ptr [r11 + 4*r10], xmm0
    movsd xmm5, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [r11 + 4*r10 + 16], xmm5
    movdqa xmmword ptr [r11 + 4*r10 + 32], xmm1
    movaps xmmword ptr [r11 + 4*r10 + 48], xmm2
    add edx, 16
    and edx, r9d
    and edx, 1048560
    movdqa xmmword ptr [rcx + rdx], xmm6
    movaps xmmword ptr [r11 + 4*rdx], xmm3
    movaps xmmword ptr [r11 + 4*rdx + 16], xmm4
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
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
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r8
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    movabs rsi, 824633720832
    mov qword ptr [rsp + 32], rsi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 40], xmm0
    movups xmmword ptr [rsp + 56], xmm0
    movups xmmword ptr [rsp + 72], xmm0
    movups xmmword ptr [rsp + 88], xmm0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rcx
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], rdx
    mov qword ptr [rsp + 152], 60
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 1
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L4
    mov ecx, dword ptr [rsi + 56]
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
    mov r9d, dword ptr [rdx + 8]
    mov r11d, dword ptr [rdx + 12]
    bswap rdi
    test r9d, r9d
    setle r10b
    jle L2
    mov r8d, r9d
    mov edx, r11d
    bswap edx
    bswap r8d
    cmp dword ptr [rsi + 108], 0
    je L1
    mov r9d, dword ptr [rsi + 64]
    cmp r9d, dword ptr [rsi + 68]
    je L3
    mov r10d, r9d
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movabs r11, 216172782281555968
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movd xmm2, edx
    movd xmm1, r8d
    punpckldq xmm1, xmm2
    movq xmm2, rdi
    punpcklqdq xmm1, xmm2
    mov rdx, qword ptr [rsi + 40]
    mov edi, r9d
    shl edi, 4
    and edi, dword ptr [rsi + 56]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rdi], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdi], xmm0
    movsd xmm2, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdi + 16], xmm2
    movdqa xmmword ptr [rcx + 4*rdi + 32], xmm1
    inc r9d
    movzx ecx, r9w
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 80], 0
    je L2
    mov r9d, dword ptr [rsi + 64]
    cmp r9d, dword ptr [rsi + 68]
    je L3
    mov r11d, r9d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782281555968
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movd xmm1, edx
    movd xmm2, r8d
    punpckldq xmm2, xmm1
    movq xmm1, rdi
    punpcklqdq xmm2, xmm1
    mov rdx, qword ptr [rsi + 40]
    mov edi, r9d
    shl edi, 4
    and edi, dword ptr [rsi + 56]
    movq xmm1, rcx
    shufpd xmm1, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdx + rdi], xmm1
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdi], xmm0
    movsd xmm0, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdi + 16], xmm0
    movdqa xmmword ptr [rcx + 4*rdi + 32], xmm2
    inc r9d
    movzx ecx, r9w
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov rdx, r9
    shl rdx, 32
    or rdx, r11
    bswap rdx
    mov qword ptr [rsp], rsi
    movabs rsi, 824633720832
    mov qword ptr [rsp + 32], rsi
    mov qword ptr [rsp + 40], 0
    mov qword ptr [rsp + 48], rdx
    mov qword ptr [rsp + 56], rdi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rcx
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], 1
    mov qword ptr [rsp + 152], 0
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], r9
    mov word ptr [rsp + 184], 0
    mov byte ptr [rsp + 186], 0
    mov byte ptr [rsp + 187], r10b
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 1
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_header:
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov rdi, qword ptr [rcx]
    movsxd r9, dword ptr [rcx + 8]
    mov ecx, dword ptr [rcx + 12]
    bswap rdi
    test r9, r9
    setle r10b
    jle L3
    cmp dword ptr [rsi + 104], 8
    jb L1
    cmp dword ptr [rsi + 108], 0
    je L1
    mov r10d, dword ptr [rsi + 64]
    cmp r10d, dword ptr [rsi + 68]
    je L4
    mov r11d, r10d
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs rbx, 216172782281555968
    or rbx, r11
    movq xmm0, rbx
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    shl r9, 32
    or r9, rcx
    bswap r9
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    movq xmm2, r9
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    cmp dword ptr [rsi + 76], 8
    jb L3
    cmp dword ptr [rsi + 80], 0
    je L3
    mov r10d, dword ptr [rsi + 64]
    cmp r10d, dword ptr [rsi + 68]
    je L4
    mov ebx, r10d
    bswap ebx
    shr ebx, 8
    or rbx, qword ptr [rsi + 48]
    movabs r11, 216172782281555968
    or r11, rbx
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    shl r9, 32
    or r9, rcx
    bswap r9
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    movq xmm2, r9
    movq xmm3, rdi
    punpcklqdq xmm2, xmm3
    mov ecx, r10d
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r11
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 192
    pop rbx
    ret
L3:
    bswap ecx
    bswap r9d
    mov qword ptr [rsp], rsi
    mov dword ptr [rsp + 32], r9d
    mov dword ptr [rsp + 36], ecx
    mov qword ptr [rsp + 40], rdi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r8
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], rdx
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov word ptr [rsp + 184], 0
    mov byte ptr [rsp + 186], 0
    mov byte ptr [rsp + 187], r10b
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 192
    pop rbx
    ret

hot_post_invalidate:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    mov r8d, dword ptr [rsi + 68]
    sub r8d, edi
    cmp r8w, 1
    jbe L2
    bswap edx
    shl rdx, 32
    or rdx, 134217728
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm0, rdx
    movdqa xmm1, xmmword ptr [rip + .LCPI_0]
    punpcklqdq xmm1, xmm0
    movq xmm0, r8
    por xmm0, xmm1
    movq xmm3, rcx
    mov rcx, qword ptr [rsi + 32]
    mov r8, qword ptr [rsi + 40]
    mov edx, edi
    shl edx, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, edx
    mov r11d, 2
    movq xmm1, r11
    movdqa xmm2, xmm3
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [r8 + r10], xmm2
    movdqa xmmword ptr [rcx + 4*r10], xmm0
    movaps xmm1, xmmword ptr [rip + .LCPI_1]
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm1
    add edx, 16
    and edx, r9d
    and edx, 1048560
    pxor xmm2, xmm2
    movdqa xmmword ptr [rcx + 4*r10 + 32], xmm2
    movdqa xmmword ptr [rcx + 4*r10 + 48], xmm2
    movdqa xmmword ptr [r8 + rdx], xmm3
    movsd xmm3, qword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rcx + 4*rdx], xmm3
    add edi, 2
    movzx edi, di
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm2
    movdqa xmmword ptr [rcx + 4*rdx + 32], xmm2
    movdqa xmmword ptr [rcx + 4*rdx + 48], xmm2
    mov dword ptr [rsi + 64], edi
    mov rcx, qword ptr [rsi + 24]
    bswap edi
    mov dword ptr [rcx], edi
    cmp dword ptr [rsi + 100], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm2
    movaps xmmword ptr [rcx + 64], xmm3
    movdqa xmmword ptr [rcx + 80], xmm2
    movdqa xmmword ptr [rcx + 96], xmm2
    movdqa xmmword ptr [rcx + 112], xmm2
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L3
    mov ecx, dword ptr [rsi + 56]
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

hot_post_large:
    push r14
    push rbx
    sub rsp, 200
    mov rbx, rdi
    mov rdi, qword ptr [rcx]
    mov eax, dword ptr [rcx + 8]
    mov r10d, dword ptr [rcx + 12]
    bswap rdi
    test eax, eax
    setle cl
    jle L1
    mov r9d, dword ptr [rsi + 84]
    test r9d, r9d
    je L1
    cmp eax, r9d
    ja L1
    cmp dword ptr [rsi + 80], 0
    je L1
    mov ecx, dword ptr [rsi + 64]
    mov r9d, dword ptr [rsi + 68]
    sub r9d, ecx
    cmp r9w, 1
    jbe L5
    bswap r10d
    bswap eax
    mov r11d, ecx
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r9, 504403158500376576
    or r9, r11
    movq xmm0, r9
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
    movd xmm7, r10d
    movd xmm6, eax
    punpckldq xmm6, xmm7
    movq xmm7, rdi
    punpcklqdq xmm6, xmm7
    movq xmm7, r8
    mov rax, qword ptr [rsi + 40]
    mov edx, ecx
    shl edx, 4
    mov edi, dword ptr [rsi + 56]
    mov r8d, edi
    and r8d, edx
    mov r10d, 2
    movq xmm8, r10
    movdqa xmm9, xmm7
    punpcklqdq xmm9, xmm8
    movdqa xmmword ptr [rax + r8], xmm9
    mov r10, qword ptr [rsi + 32]
    movapd xmmword ptr [r10 + 4*r8], xmm0
    movdqa xmmword ptr [r10 + 4*r8 + 16], xmm1
    movaps xmmword ptr [r10 + 4*r8 + 32], xmm2
    movaps xmmword ptr [r10 + 4*r8 + 48], xmm3
    add edx, 16
    and edx, edi
    and edx, 1048560
    movdqa xmmword ptr [rax + rdx], xmm7
    movaps xmmword ptr [r10 + 4*rdx], xmm4
    movaps xmmword ptr [r10 + 4*rdx + 16], xmm5
    movdqa xmmword ptr [r10 + 4*rdx + 32], xmm6
    add ecx, 2
    movzx eax, cx
    mov dword ptr [rsi + 64], eax
    mov rcx, qword ptr [rsi + 24]
    bswap eax
    mov dword ptr [rcx], eax
    cmp dword ptr [rsi + 100], 127
    jbe L2
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
    jmp L3
L1:
    mov r9, rax
    shl r9, 32
    or r9, r10
    bswap r9
    mov qword ptr [rsp + 8], rsi
    movabs rsi, -5474968947365249024
    mov qword ptr [rsp + 40], rsi
    movabs rsi, 59373627899904
    mov qword ptr [rsp + 48], rsi
    mov qword ptr [rsp + 56], r9
    mov qword ptr [rsp + 64], rdi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 72], xmm0
    movups xmmword ptr [rsp + 88], xmm0
    mov qword ptr [rsp + 104], 0
    mov qword ptr [rsp + 112], 134217728
    mov qword ptr [rsp + 120], r8
    mov qword ptr [rsp + 128], 0
    mov qword ptr [rsp + 136], rdx
    mov qword ptr [rsp + 144], 54
    mov qword ptr [rsp + 152], 1
    mov qword ptr [rsp + 160], 0
    mov byte ptr [rsp + 168], 18
    mov qword ptr [rsp + 184], rax
    mov word ptr [rsp + 192], 1460
    mov byte ptr [rsp + 194], 1
    mov byte ptr [rsp + 195], cl
    movupd xmm0, xmmword ptr [rip + .Lanon]
    movupd xmmword ptr [rsp + 16], xmm0
    mov qword ptr [rsp + 32], 257
    lea rsi, [rsp + 8]
    mov rdi, rbx
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    jmp L4
L2:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], r9
    sfence
L3:
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    mov byte ptr [rbx], 25
L4:
    mov rax, rbx
    add rsp, 200
    pop rbx
    pop r14
    ret
L5:
    movzx edx, word ptr [rsi + 72]
    test dx, dx
    je L6
    mov eax, dword ptr [rsi + 56]
    shr eax, 4
    inc eax
    mov cl, 19
    cmp ax, 2
    jb L7
    cmp dx, 1
    sete cl
    mov eax, 1
    cmovne eax, r9d
    add cl, cl
    add cl, 18
    jmp L7
L6:
    mov cl, 21
L7:
    movzx eax, ax
    mov byte ptr [rbx], cl
    mov word ptr [rbx + 2], 2
    mov dword ptr [rbx + 4], eax
    mov word ptr [rbx + 8], 2
    jmp L4

hot_post_long_inline:
    push rbx
    sub rsp, 208
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 76], 219
    jbe L3
    mov edi, dword ptr [rsi + 64]
    mov r10d, dword ptr [rsi + 68]
    sub r10d, edi
    cmp r10w, 3
    jbe L4
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movq xmm0, rdx
    movd xmm1, ecx
    punpcklqdq xmm0, xmm1
    movdqu xmm1, xmmword ptr [r8]
    movd xmm2, dword ptr [r8 + 8]
    punpcklqdq xmm1, xmm2
    movups xmm13, xmmword ptr [r8 + 12]
    movups xmm4, xmmword ptr [r8 + 28]
    movups xmm5, xmmword ptr [r8 + 44]
    movups xmm6, xmmword ptr [r8 + 60]
    movups xmm7, xmmword ptr [r8 + 76]
    movups xmm8, xmmword ptr [r8 + 92]
    movups xmm9, xmmword ptr [r8 + 108]
    movups xmm10, xmmword ptr [r8 + 124]
    movups xmm11, xmmword ptr [r8 + 140]
    movups xmm2, xmmword ptr [r8 + 156]
    movaps xmmword ptr [rsp], xmm2
    movups xmm12, xmmword ptr [r8 + 172]
    movq xmm3, r9
    mov ecx, 4
    movq xmm2, rcx
    movdqa xmm15, xmm3
    punpcklqdq xmm15, xmm2
    movups xmm2, xmmword ptr [r8 + 188]
    mov r9, qword ptr [rsi + 40]
    mov edx, edi
    shl edx, 4
    mov r11d, dword ptr [rsi + 56]
    mov ebx, r11d
    and ebx, edx
    movups xmm14, xmmword ptr [r8 + 204]
    movdqa xmmword ptr [r9 + rbx], xmm15
    movaps xmm15, xmm13
    movaps xmm13, xmm2
    movabs rcx, 1152921504741064704
    or rcx, r10
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_0], 2
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    mov r8, qword ptr [rsi + 32]
    movapd xmmword ptr [r8 + 4*rbx], xmm2
    movdqa xmmword ptr [r8 + 4*rbx + 16], xmm0
    movdqa xmmword ptr [r8 + 4*rbx + 32], xmm1
    movaps xmmword ptr [r8 + 4*rbx + 48], xmm15
    lea r8d, [rdx + 16]
    and r8d, r11d
    and r8d, 1048560
    movdqa xmmword ptr [r9 + r8], xmm3
    mov r10, qword ptr [rsi + 32]
    movaps xmmword ptr [r10 + 4*r8], xmm4
    movaps xmmword ptr [r10 + 4*r8 + 16], xmm5
    movaps xmmword ptr [r10 + 4*r8 + 32], xmm6
    movaps xmmword ptr [r10 + 4*r8 + 48], xmm7
    lea r8d, [rdx + 32]
    and r8d, r11d
    and r8d, 1048560
    movdqa xmmword ptr [r9 + r8], xmm3
    mov r10, qword ptr [rsi + 32]
    movaps xmmword ptr [r10 + 4*r8], xmm8
    movaps xmmword ptr [r10 + 4*r8 + 16], xmm9
    movaps xmmword ptr [r10 + 4*r8 + 32], xmm10
    movaps xmmword ptr [r10 + 4*r8 + 48], xmm11
    add edx, 48
    and edx, r11d
    and edx, 1048560
    movdqa xmmword ptr [r9 + rdx], xmm3
    movaps xmm3, xmmword ptr [rsp]
    mov r8, qword ptr [rsi + 32]
    movaps xmmword ptr [r8 + 4*rdx], xmm3
    movaps xmmword ptr [r8 + 4*rdx + 16], xmm12
    movaps xmmword ptr [r8 + 4*rdx + 32], xmm13
    movaps xmmword ptr [r8 + 4*rdx + 48], xmm14
    add edi, 4
    movzx edx, di
    mov dword ptr [rsi + 64], edx
    mov rdi, qword ptr [rsi + 24]
    bswap edx
    mov dword ptr [rdi], edx
    cmp dword ptr [rsi + 96], 255
    jbe L1
    sfence
    mov rdx, qword ptr [rsi]
    movapd xmmword ptr [rdx], xmm2
    movdqa xmmword ptr [rdx + 16], xmm0
    movdqa xmmword ptr [rdx + 32], xmm1
    movaps xmmword ptr [rdx + 48], xmm15
    movaps xmmword ptr [rdx + 64], xmm4
    movaps xmmword ptr [rdx + 80], xmm5
    movaps xmmword ptr [rdx + 96], xmm6
    movaps xmmword ptr [rdx + 112], xmm7
    movaps xmmword ptr [rdx + 128], xmm8
    movaps xmmword ptr [rdx + 144], xmm9
    movaps xmmword ptr [rdx + 160], xmm10
    movaps xmmword ptr [rdx + 176], xmm11
    movaps xmmword ptr [rdx + 192], xmm3
    movaps xmmword ptr [rdx + 208], xmm12
    movaps xmmword ptr [rdx + 224], xmm13
    movaps xmmword ptr [rdx + 240], xmm14
    sfence
    jmp L2
L1:
    sfence
    mov rdx, qword ptr [rsi]
    mov qword ptr [rdx], rcx
    sfence
L2:
    xor rdx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rdx
    mov byte ptr [rax], 25
    add rsp, 208
    pop rbx
    ret
L3:
    mov qword ptr [rsp + 16], rsi
    mov qword ptr [rsp + 48], rdx
    mov qword ptr [rsp + 56], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    movups xmmword ptr [rsp + 96], xmm0
    mov qword ptr [rsp + 112], 0
    mov qword ptr [rsp + 120], 134217728
    mov qword ptr [rsp + 128], r9
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], 1
    mov qword ptr [rsp + 152], 0
    mov qword ptr [rsp + 160], r8
    mov qword ptr [rsp + 168], 220
    mov byte ptr [rsp + 176], 18
    mov qword ptr [rsp + 192], 0
    mov dword ptr [rsp + 200], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 24], xmm0
    mov qword ptr [rsp + 40], 0
    lea rsi, [rsp + 16]
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 208
    pop rbx
    ret
L4:
    movzx ecx, word ptr [rsi + 72]
    test cx, cx
    je L5
    mov esi, dword ptr [rsi + 56]
    shr esi, 4
    inc esi
    mov dl, 19
    cmp si, 4
    jb L6
    cmp cx, 4
    cmovb r10d, ecx
    setb dl
    add dl, dl
    add dl, 18
    mov esi, r10d
    jmp L6
L5:
    mov dl, 21
L6:
    movzx ecx, si
    mov byte ptr [rax], dl
    mov word ptr [rax + 2], 4
    mov dword ptr [rax + 4], ecx
    mov word ptr [rax + 8], 4
    add rsp, 208
    pop rbx
    ret

hot_post_memcpy:
    push rbp
    push r14
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov r11d, dword ptr [rcx + 12]
    mov edi, dword ptr [rcx + 8]
    mov r10d, dword ptr [rdx + 12]
    mov ebx, dword ptr [rdx + 8]
    mov r14, qword ptr [rdx]
    cmp r10d, -2147483648
    mov edx, -2147483648
    cmovb edx, r10d
    mov rcx, qword ptr [rcx]
    mov ebp, edi
    and ebp, 2147483647
    bswap ebx
    bswap r14
    bswap ebp
    bswap r11d
    bswap rcx
    bswap r8
    movd xmm0, ebx
    movq xmm1, r14
    shufps xmm0, xmm1, 65
    movd xmm2, r11d
    movd xmm1, ebp
    punpckldq xmm1, xmm2
    movq xmm3, rcx
    movdqa xmm2, xmm1
    punpcklqdq xmm2, xmm3
    movq xmm3, r8
    punpcklqdq xmm1, xmm3
    cmp edi, -2147483648
    ja L4
    lea ecx, [rdi - 1]
    cmp ecx, r10d
    jae L4
    cmp dword ptr [rsi + 100], 64
    jb L1
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L5
    mov edx, ecx
    bswap edx
    shr edx, 8
    or rdx, qword ptr [rsi + 48]
    movabs rdi, 288230376940240897
    or rdi, rdx
    movq xmm3, rdi
    shufpd xmm3, xmmword ptr [rip + .LCPI_0], 2
    mov edx, ecx
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov rdi, qword ptr [rsi + 40]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + rdx], xmm4
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*rdx], xmm3
    movaps xmmword ptr [rdi + 4*rdx + 16], xmm0
    movdqa xmmword ptr [rdi + 4*rdx + 32], xmm2
    movdqa xmmword ptr [rdi + 4*rdx + 48], xmm1
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm3
    movaps xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm1
    sfence
    jmp L2
L1:
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L5
    mov edi, ecx
    bswap edi
    shr edi, 8
    or rdi, qword ptr [rsi + 48]
    movabs rdx, 288230376940240897
    or rdx, rdi
    movq xmm3, rdx
    shufpd xmm3, xmmword ptr [rip + .LCPI_0], 2
    mov rdi, qword ptr [rsi + 40]
    mov r8d, ecx
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + r8], xmm4
    mov rdi, qword ptr [rsi + 32]
    movapd xmmword ptr [rdi + 4*r8], xmm3
    movaps xmmword ptr [rdi + 4*r8 + 16], xmm0
    movdqa xmmword ptr [rdi + 4*r8 + 32], xmm2
    movdqa xmmword ptr [rdi + 4*r8 + 48], xmm1
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdi, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdi], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
L3:
    add rsp, 192
    pop rbx
    pop r14
    pop rbp
    ret
L4:
    pxor xmm3, xmm3
    movdqu xmmword ptr [rsp + 80], xmm3
    mov qword ptr [rsp], rsi
    movups xmmword ptr [rsp + 32], xmm0
    movdqu xmmword ptr [rsp + 48], xmm2
    movdqu xmmword ptr [rsp + 64], xmm1
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], 1
    mov qword ptr [rsp + 152], 0
    mov byte ptr [rsp + 160], 17
    mov dword ptr [rsp + 164], edi
    mov dword ptr [rsp + 168], edx
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 65536
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    jmp L3
L5:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    jmp L3

hot_post_one_fence:
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm3, ecx
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    punpcklqdq xmm1, xmm3
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    mov rdx, qword ptr [rsi + 40]
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    movq xmm3, qword ptr [r8]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    punpcklqdq xmm1, xmm2
    movq xmm2, r9
    shufpd xmm2, xmmword ptr [rip + .LCPI_2], 2
    mov rdx, qword ptr [rsi + 40]
    movapd xmmword ptr [rdx + rcx], xmm2
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::OneFence>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_order:
    mov rax, rdi
    cmp qword ptr [rdx + 112], 4
    jb L1
    bswap ecx
    mov edi, dword ptr [rdx + 56]
    not edi
    add rdi, rcx
    movzx r8d, word ptr [rdx + 124]
    add r8, rdi
    mov r9, r8
    rol r9, 32
    add r9, r8
    shr r9, 32
    mov r8d, r9d
    rol r8d, 16
    add r8d, r9d
    shr r8d, 16
    mov word ptr [rdx + 124], r8w
    movzx r8d, word ptr [rdx + 122]
    add r8, rdi
    mov rdi, r8
    rol rdi, 32
    add rdi, r8
    shr rdi, 32
    mov r8d, edi
    rol r8d, 16
    add r8d, edi
    shr r8d, 16
    mov word ptr [rdx + 122], r8w
    movq xmm0, rcx
    pslldq xmm0, 8
    movdqa xmm1, xmmword ptr [rdx + 48]
    pand xmm1, xmmword ptr [rip + .LCPI_0]
    por xmm1, xmm0
    mov ecx, r8d
    not ecx
    cmp r8d, 65535
    cmove ecx, r8d
    mov edi, ecx
    shr edi, 8
    shl rdi, 56
    shl rcx, 48
    or rcx, rdi
    movq xmm0, rcx
    pand xmm1, xmmword ptr [rip + .LCPI_1]
    por xmm1, xmm0
    movdqa xmmword ptr [rdx + 48], xmm1
L1:
    mov ecx, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, ecx
    cmp di, 1
    jbe L3
    mov r8d, ecx
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movabs rdi, 576460752471195648
    or rdi, r8
    movq xmm0, rdi
    shufpd xmm0, xmmword ptr [rip + .LCPI_2], 2
    movzx r8d, word ptr [rdx + 14]
    shl r8, 48
    movabs r9, 107752139522048
    or r9, r8
    movq xmm1, r9
    pslldq xmm1, 8
    movaps xmm2, xmmword ptr [rdx + 16]
    movaps xmm3, xmmword ptr [rdx + 32]
    movaps xmm4, xmmword ptr [rdx + 48]
    movaps xmm5, xmmword ptr [rdx + 64]
    movaps xmm6, xmmword ptr [rdx + 80]
    movaps xmm7, xmmword ptr [rdx + 96]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, ecx
    shl r8d, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, r8d
    movaps xmm8, xmmword ptr [rip + .LCPI_3]
    movaps xmmword ptr [rdx + r10], xmm8
    mov r11, qword ptr [rsi + 32]
    movapd xmmword ptr [r11 + 4*r10], xmm0
    movdqa xmmword ptr [r11 + 4*r10 + 16], xmm1
    movaps xmmword ptr [r11 + 4*r10 + 32], xmm2
    movaps xmmword ptr [r11 + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    xorps xmm8, xmm8
    movaps xmmword ptr [rdx + r8], xmm8
    mov rdx, qword ptr [rsi + 32]
    movaps xmmword ptr [rdx + 4*r8], xmm4
    movaps xmmword ptr [rdx + 4*r8 + 16], xmm5
    movaps xmmword ptr [rdx + 4*r8 + 32], xmm6
    movaps xmmword ptr [rdx + 4*r8 + 48], xmm7
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L2
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
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
    mov byte ptr [rax], 25
    ret
L2:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L3:
    movzx r8d, word ptr [rsi + 72]
    test r8w, r8w
    je L4
    mov ecx, dword ptr [rsi + 56]
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

hot_post_recordless:
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 68], 7
    jbe L1
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L2
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 40]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov rcx, qword ptr [rsi + 32]
    mov edx, edi
    shl edx, 4
    and edx, dword ptr [rsi + 48]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rcx + rdx], xmm3
    mov rcx, qword ptr [rsi + 24]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    movdqa xmmword ptr [rcx + 4*rdx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    sfence
    mov rcx, qword ptr [rsi + 16]
    mov qword ptr [rcx], r10
    sfence
    mov byte ptr [rax], 25
    ret
L1:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::recordless::RecordlessRegister>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
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

hot_post_segment:
    mov rax, rdi
    movups xmm0, xmmword ptr [rcx]
    movups xmmword ptr [rdx + 80], xmm0
    movdqu xmm0, xmmword ptr [rcx]
    movdqu xmm1, xmmword ptr [rcx + 16]
    pxor xmm2, xmm2
    movdqa xmm3, xmm1
    punpckldq xmm3, xmm2
    movdqa xmm4, xmm0
    punpckldq xmm4, xmm2
    paddq xmm4, xmm3
    movups xmm3, xmmword ptr [rcx + 16]
    punpckhdq xmm1, xmm2
    punpckhdq xmm0, xmm2
    paddq xmm0, xmm1
    paddq xmm0, xmm4
    pshufd xmm1, xmm0, 238
    paddq xmm1, xmm0
    movq rcx, xmm1
    mov rdi, rcx
    rol rdi, 32
    movups xmmword ptr [rdx + 96], xmm3
    add rdi, rcx
    shr rdi, 32
    mov ecx, edi
    rol ecx, 16
    add ecx, edi
    shr ecx, 16
    movzx edi, word ptr [rdx + 122]
    movzx r9d, word ptr [rdx + 124]
    xor r9d, 65535
    add r9d, edi
    add r9d, ecx
    mov edi, r9d
    rol edi, 16
    mov r8, qword ptr [rdx + 112]
    add edi, r9d
    shr edi, 16
    cmp r8, 32
    je L1
    mov qword ptr [rdx + 112], 32
    mov r9d, -33
    sub r9d, r8d
    rol r9w, 8
    movzx r9d, r9w
    lea r10d, [r9 + rdi]
    add edi, r9d
    add edi, 16384
    rol edi, 16
    add edi, r10d
    add edi, 16384
    shr edi, 16
    movzx r9d, word ptr [rdx + 120]
    mov r10d, -53
    sub r10d, r8d
    rol r10w, 8
    movzx r8d, r10w
    lea r10d, [r8 + r9]
    add r8d, r9d
    add r8d, 21504
    rol r8d, 16
    add r8d, r10d
    add r8d, 21504
    shr r8d, 16
    mov word ptr [rdx + 120], r8w
    movaps xmm0, xmmword ptr [rdx + 16]
    movdqa xmm1, xmmword ptr [rdx + 32]
    andps xmm0, xmmword ptr [rip + .LCPI_0]
    orps xmm0, xmmword ptr [rip + .LCPI_1]
    movaps xmmword ptr [rdx + 16], xmm0
    not r8d
    mov r9d, r8d
    shr r9d, 8
    shl r9, 56
    shl r8, 48
    or r8, r9
    movq xmm0, r8
    pand xmm1, xmmword ptr [rip + .LCPI_2]
    por xmm1, xmm0
    movdqa xmmword ptr [rdx + 32], xmm1
L1:
    mov word ptr [rdx + 122], di
    mov word ptr [rdx + 124], cx
    xor edi, 65535
    movd xmm0, edi
    movdqa xmm1, xmmword ptr [rdx + 64]
    pand xmm1, xmmword ptr [rip + .LCPI_3]
    por xmm1, xmm0
    movdqa xmmword ptr [rdx + 64], xmm1
    mov ecx, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, ecx
    cmp di, 1
    jbe L3
    mov r8d, ecx
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movabs rdi, 576460752471195648
    or rdi, r8
    movq xmm0, rdi
    shufpd xmm0, xmmword ptr [rip + .LCPI_4], 2
    movzx r8d, word ptr [rdx + 14]
    shl r8, 48
    movabs r9, 107752139522048
    or r9, r8
    movq xmm1, r9
    pslldq xmm1, 8
    movaps xmm2, xmmword ptr [rdx + 16]
    movaps xmm3, xmmword ptr [rdx + 32]
    movaps xmm4, xmmword ptr [rdx + 48]
    movaps xmm5, xmmword ptr [rdx + 64]
    movaps xmm6, xmmword ptr [rdx + 80]
    movaps xmm7, xmmword ptr [rdx + 96]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, ecx
    shl r8d, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, r8d
    movaps xmm8, xmmword ptr [rip + .LCPI_5]
    movaps xmmword ptr [rdx + r10], xmm8
    mov r11, qword ptr [rsi + 32]
    movapd xmmword ptr [r11 + 4*r10], xmm0
    movdqa xmmword ptr [r11 + 4*r10 + 16], xmm1
    movaps xmmword ptr [r11 + 4*r10 + 32], xmm2
    movaps xmmword ptr [r11 + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    xorps xmm8, xmm8
    movaps xmmword ptr [rdx + r8], xmm8
    mov rdx, qword ptr [rsi + 32]
    movaps xmmword ptr [rdx + 4*r8], xmm4
    movaps xmmword ptr [rdx + 4*r8 + 16], xmm5
    movaps xmmword ptr [rdx + 4*r8 + 32], xmm6
    movaps xmmword ptr [rdx + 4*r8 + 48], xmm7
    add ecx, 2
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L2
    sfence
    mov rcx, qword ptr [rsi]
    movapd xmmword ptr [rcx], xmm0
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
    mov byte ptr [rax], 25
    ret
L2:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdi
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L3:
    movzx r8d, word ptr [rsi + 72]
    test r8w, r8w
    je L4
    mov ecx, dword ptr [rsi + 56]
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

hot_post_send:
    mov rax, rdi
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movabs r9, 144115188243628032
    or r9, r8
    movq xmm0, r9
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    mov edx, edi
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_2], 2
    mov rcx, qword ptr [rsi + 40]
    movapd xmmword ptr [rcx + rdx], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r9d, edi
    bswap r9d
    shr r9d, 8
    or r9, qword ptr [rsi + 48]
    movabs r8, 144115188243628032
    or r8, r9
    movq xmm0, r8
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, qword ptr [rdx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_1]
    mov edx, edi
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    movq xmm2, rcx
    shufpd xmm2, xmmword ptr [rip + .LCPI_2], 2
    mov rcx, qword ptr [rsi + 40]
    movapd xmmword ptr [rcx + rdx], xmm2
    mov rcx, qword ptr [rsi + 32]
    movapd xmmword ptr [rcx + 4*rdx], xmm0
    movdqa xmmword ptr [rcx + 4*rdx + 16], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r8
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 32], xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rcx
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], rdx
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_shared:
    push rbx
    sub rsp, 192
    bswap rdx
    bswap ecx
    cmp dword ptr [rsi + 96], 8
    jb L4
    mov eax, dword ptr [rsi + 56]
    cmp eax, dword ptr [rsi + 60]
    je L12
    mov r11d, eax
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 40]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    movq xmm1, rdx
    movd xmm2, ecx
    pslldq xmm2, 8
    shufps xmm1, xmm2, 36
    mov r11d, dword ptr [r8]
    mov ecx, dword ptr [r8 + 4]
    shl r11, 32
    or r11, 134217856
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm3, rcx
    movq xmm4, r11
    punpcklqdq xmm4, xmm3
    mov r8, qword ptr [rsi + 32]
    mov ebx, eax
    shl ebx, 4
    and ebx, dword ptr [rsi + 48]
    mov qword ptr [r8 + rbx], r9
    mov qword ptr [r8 + rbx + 8], 1
    mov r8, qword ptr [rsi + 24]
    movupd xmmword ptr [r8 + 4*rbx], xmm0
    movups xmmword ptr [r8 + 4*rbx + 16], xmm1
    movdqu xmmword ptr [r8 + 4*rbx + 32], xmm4
    pshufd xmm0, xmm2, 34
    movq r8, xmm0
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 56], eax
    mov r9, qword ptr [rsi + 8]
    bswap eax
    mov dword ptr [r9], eax
    mov rsi, qword ptr [rsi + 16]
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
    cmp dword ptr [rsi + 68], 7
    jbe L11
    mov eax, dword ptr [rsi + 56]
    cmp eax, dword ptr [rsi + 60]
    je L12
    mov r11d, eax
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 40]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    movq xmm1, rdx
    movd xmm2, ecx
    pslldq xmm2, 8
    shufps xmm1, xmm2, 36
    mov ecx, dword ptr [r8]
    shl rcx, 32
    or rcx, 134217856
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movd xmm2, dword ptr [r8 + 4]
    movq xmm3, rcx
    punpcklqdq xmm3, xmm2
    mov rcx, qword ptr [rsi + 32]
    mov edx, eax
    shl edx, 4
    and edx, dword ptr [rsi + 48]
    mov qword ptr [rcx + rdx], r9
    mov qword ptr [rcx + rdx + 8], 1
    mov rcx, qword ptr [rsi + 24]
    movupd xmmword ptr [rcx + 4*rdx], xmm0
    movups xmmword ptr [rcx + 4*rdx + 16], xmm1
    movdqu xmmword ptr [rcx + 4*rdx + 32], xmm3
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 56], eax
    mov rcx, qword ptr [rsi + 8]
    bswap eax
    mov dword ptr [rcx], eax
    mov rcx, qword ptr [rsi + 16]
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
    mov qword ptr [rax + 24], r8
    mov qword ptr [rax + 32], r11
    mov qword ptr [rax + 40], rcx
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
    mov byte ptr [rdi], 25
    mov rax, rdi
    add rsp, 192
    pop rbx
    ret
L11:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov dword ptr [rsp + 40], ecx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 44], xmm0
    movups xmmword ptr [rsp + 60], xmm0
    movups xmmword ptr [rsp + 76], xmm0
    movups xmmword ptr [rsp + 88], xmm0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rdi
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, &blueflame::db::shared::SharedRegister>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rdi, rbx
    mov rax, rdi
    add rsp, 192
    pop rbx
    ret
L12:
    xor eax, eax
    cmp dword ptr [rsi + 64], 0
    sete al
    lea eax, [rax + 2*rax]
    add eax, 18
    mov byte ptr [rdi], al
    mov dword ptr [rdi + 2], 1
    mov rax, rdi
    add rsp, 192
    pop rbx
    ret

hot_post_signed:
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm1, rcx
    movq xmm0, rdx
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
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm1, rcx
    movq xmm0, rdx
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
    and ecx, dword ptr [rsi + 56]
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
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
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
    sub rsp, 40
    mov rax, rdi
    mov edi, dword ptr [rsi + 76]
    cmp r9, rdi
    ja L36
    mov r10d, dword ptr [rsi + 64]
    test r9, r9
    je L1
    lea r11, [r9 + 4]
    mov rbp, r11
    shr rbp, 4
    and r11d, 15
    cmp r11, 1
    sbb rbp, -1
    add rbp, 2
    cmp rbp, 63
    jbe L2
    mov edx, 5
    mov r9, rbp
    jmp L37
L1:
    mov ebp, 2
L2:
    lea edi, [rbp + 3]
    movzx r11d, di
    shr r11d, 2
    mov ebx, dword ptr [rsi + 68]
    sub ebx, r10d
    cmp r11w, bx
    ja L38
    mov dword ptr [rsp + 20], edi
    mov qword ptr [rsp + 24], rax
    bswap rdx
    mov r14, qword ptr [rsp + 96]
    bswap ecx
    mov r15d, dword ptr [rsi + 56]
    mov edi, r10d
    shl edi, 4
    mov ebx, r15d
    and ebx, edi
    mov qword ptr [rsp + 32], r10
    mov r12, r10
    bswap r12d
    shr r12d, 8
    mov r10, rbp
    shl r10, 56
    or r10, r12
    or r10, qword ptr [rsi + 48]
    or r10, 134217728
    mov r12, qword ptr [rsi + 32]
    mov r13, qword ptr [rsi + 40]
    lea rax, [r12 + 4*rbx]
    mov qword ptr [rsp + 8], rax
    mov qword ptr [r12 + 4*rbx], r10
    mov qword ptr [r12 + 4*rbx + 8], 134217728
    mov qword ptr [r12 + 4*rbx + 16], rdx
    mov qword ptr [r12 + 4*rbx + 24], rcx
    test r9, r9
    je L20
    mov ecx, r9d
    or ecx, -2147483648
    bswap ecx
    mov ebx, ecx
    cmp r9, 3
    jbe L11
    mov ecx, dword ptr [r8]
    shl rcx, 32
    or rbx, rcx
    cmp r9, 11
    jbe L12
    add r9, -12
    mov rcx, qword ptr [r8 + 4]
    mov rax, qword ptr [rsp + 8]
    lea rdx, [rax + 48]
    mov qword ptr [rax + 32], rbx
    mov qword ptr [rax + 40], rcx
    movabs r10, 9223372036854775792
    mov rbx, r9
    and rbx, r10
    lea rax, [r8 + rbx]
    add rax, 12
    add r10, 31
    and r10, r9
    test rbx, rbx
    je L5
    mov ecx, r15d
    shr ecx
    and ecx, -8
    lea r9, [r12 + 8*rcx]
    add r9, 64
    add r8, 12
    add rbx, -16
    mov ecx, ebx
    not ecx
    test cl, 48
    je L4
    mov ecx, ebx
    shr ecx, 4
    inc ecx
    and ecx, 3
L3:
    movups xmm0, xmmword ptr [r8]
    add r8, 16
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    cmp rdx, r9
    cmove rdx, r12
    dec rcx
    jne L3
L4:
    cmp rbx, 48
    jae L7
L5:
    test r10, r10
    je L20
    cmp r10, 7
    jbe L16
    lea r8, [r10 - 8]
    mov r9, qword ptr [rax]
    cmp r10, 12
    jge L27
    cmp r10, 9
    jg L30
    test r8, r8
    je L34
    movzx ebx, byte ptr [rax + 8]
    jmp L35
L6:
    movups xmm0, xmmword ptr [r8 + 48]
    movups xmmword ptr [rcx], xmm0
    add r8, 64
    cmp r8, rax
    je L5
L7:
    lea rbx, [rdx + 16]
    mov rcx, r12
    cmp rbx, r9
    je L8
    mov rcx, rbx
L8:
    movups xmm0, xmmword ptr [r8]
    movups xmmword ptr [rdx], xmm0
    lea rbx, [rcx + 16]
    mov rdx, r12
    cmp rbx, r9
    je L9
    mov rdx, rbx
L9:
    movups xmm0, xmmword ptr [r8 + 16]
    movups xmmword ptr [rcx], xmm0
    lea rbx, [rdx + 16]
    mov rcx, r12
    cmp rbx, r9
    je L10
    mov rcx, rbx
L10:
    movups xmm0, xmmword ptr [r8 + 32]
    movups xmmword ptr [rdx], xmm0
    lea rbx, [rcx + 16]
    mov rdx, r12
    cmp rbx, r9
    je L6
    mov rdx, rbx
    jmp L6
L11:
    cmp r9, 1
    jne L13
    movzx edx, byte ptr [r8]
    jmp L14
L12:
    lea rcx, [r9 - 4]
    cmp r9, 8
    jae L15
    cmp r9, 5
    ja L17
    test rcx, rcx
    je L29
    movzx edx, byte ptr [r8 + 4]
    jmp L19
L13:
    mov ecx, 4294967288
    lea ecx, [rcx + 8*r9]
    movzx r10d, word ptr [r8]
    movzx edx, byte ptr [r8 + r9 - 1]
    shl rdx, cl
    or rdx, r10
L14:
    shl rdx, 32
    or rbx, rdx
    xor edx, edx
    jmp L19
L15:
    shl ecx, 3
    mov r10d, dword ptr [r8 + 4]
    mov edx, dword ptr [r8 + r9 - 4]
    add cl, -32
    jmp L18
L16:
    cmp r10, 4
    jae L28
    cmp r10, 1
    jne L32
    movzx r9d, byte ptr [rax]
    jmp L34
L17:
    mov edx, 4294967288
    lea ecx, [rdx + 8*rcx]
    movzx r10d, word ptr [r8 + 4]
    movzx edx, byte ptr [r8 + r9 - 1]
L18:
    shl rdx, cl
    or rdx, r10
L19:
    mov rax, qword ptr [rsp + 8]
    mov qword ptr [rax + 32], rbx
    mov qword ptr [rax + 40], rdx
L20:
    movzx ecx, r11w
    mov rax, qword ptr [rsp + 32]
    mov edx, eax
    shl edx, 4
    mov r8d, r15d
    and r8d, edx
    and r8d, 1048560
    mov qword ptr [r13 + r8], r14
    mov qword ptr [r13 + r8 + 8], rcx
    cmp r11w, 1
    je L23
    and r15d, 1048560
    mov edx, 1
    cmp r11w, 2
    je L22
    dec ecx
    mov r8d, eax
    shl r8d, 4
    add r8d, 32
    mov r9d, ecx
    and r9d, -2
    neg r9d
    mov edx, 1
L21:
    lea r10d, [r8 - 16]
    and r10d, r15d
    mov qword ptr [r13 + r10], r14
    mov qword ptr [r13 + r10 + 8], 0
    mov r10d, r8d
    and r10d, r15d
    mov qword ptr [r13 + r10], r14
    mov qword ptr [r13 + r10 + 8], 0
    add r8d, 32
    mov r10d, edx
    add edx, 2
    add r10d, r9d
    add r10d, 2
    cmp r10d, 1
    jne L21
    test cl, 1
    je L23
L22:
    lea ecx, [rax + rdx]
    shl ecx, 4
    and ecx, r15d
    mov qword ptr [r13 + rcx], r14
    mov qword ptr [r13 + rcx + 8], 0
L23:
    mov rcx, qword ptr [rsp + 8]
    mov rdx, qword ptr [rcx]
    lea ecx, [rbp + 3]
    shr ecx, 2
    add ecx, eax
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov r8, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [r8], ecx
    mov ecx, dword ptr [rsp + 20]
    and ecx, 124
    cmp cx, 4
    jne L24
    cmp dword ptr [rsi + 96], 63
    jbe L24
    and edi, dword ptr [rsi + 56]
    mov rax, qword ptr [rsi + 32]
    sfence
    mov rcx, qword ptr [rsi]
    movsd xmm0, qword ptr [rax + 4*rdi]
    movsd xmm1, qword ptr [rax + 4*rdi + 8]
    movlhps xmm0, xmm1
    movsd xmm1, qword ptr [rax + 4*rdi + 16]
    movsd xmm2, qword ptr [rax + 4*rdi + 24]
    movlhps xmm1, xmm2
    movsd xmm2, qword ptr [rax + 4*rdi + 32]
    movsd xmm3, qword ptr [rax + 4*rdi + 40]
    movlhps xmm2, xmm3
    movsd xmm3, qword ptr [rax + 4*rdi + 48]
    movsd xmm4, qword ptr [rax + 4*rdi + 56]
    movlhps xmm3, xmm4
    movaps xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    jmp L25
L24:
    or rbp, 256
    mov rdi, rsi
    mov esi, eax
    mov rcx, rbp
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
L25:
    mov rax, qword ptr [rsp + 24]
    mov byte ptr [rax], 25
L26:
    add rsp, 40
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L27:
    shl r8d, 3
    mov rcx, r10
    mov r10d, dword ptr [rax + 8]
    mov ebx, dword ptr [rax + rcx - 4]
    add r8b, -32
    mov ecx, r8d
    jmp L31
L28:
    lea r8d, [8*r10]
    mov r9d, dword ptr [rax + r10 - 4]
    add r8b, -32
    mov ecx, r8d
    shl r9, cl
    mov ecx, dword ptr [rax]
    jmp L33
L29:
    xor edx, edx
    jmp L19
L30:
    mov ecx, 4294967288
    lea r8d, [rcx + 8*r8]
    mov rcx, r10
    movzx r10d, word ptr [rax + 8]
    movzx ebx, byte ptr [rax + rcx - 1]
    mov ecx, r8d
L31:
    shl rbx, cl
    or rbx, r10
    jmp L35
L32:
    mov ecx, 4294967288
    lea r8d, [rcx + 8*r10]
    movzx r9d, byte ptr [rax + r10 - 1]
    mov ecx, r8d
    shl r9, cl
    movzx ecx, word ptr [rax]
L33:
    or r9, rcx
L34:
    xor ebx, ebx
L35:
    mov qword ptr [rdx], r9
    mov qword ptr [rdx + 8], rbx
    jmp L20
L36:
    mov edx, 4
L37:
    shl rdi, 16
    mov ecx, 16128
    jmp L41
L38:
    movzx ecx, word ptr [rsi + 72]
    test cx, cx
    je L39
    mov edi, dword ptr [rsi + 56]
    shr edi, 4
    inc edi
    mov edx, 19
    cmp r11w, di
    ja L40
    xor edx, edx
    cmp r11w, cx
    cmova ebx, ecx
    seta dl
    lea rdx, [2*rdx + 18]
    mov edi, ebx
    jmp L40
L39:
    mov edx, 21
L40:
    movzx r9d, r11w
    shl edi, 16
    or rdi, r9
    xor ecx, ecx
L41:
    shl rdi, 16
    or rdi, rcx
    or rdi, rdx
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], r9
    jmp L26

hot_post_tag:
    mov rax, rdi
    mov r10d, dword ptr [r8 + 8]
    test r10, r10
    je L1
    mov r11d, dword ptr [r8 + 12]
    mov rdi, qword ptr [r8]
    bswap rdi
    mov r8, r10
    shl r8, 32
    or r8, r11
    bswap r8
    jmp L2
L1:
    xor edi, edi
    movabs r8, 281474976710656
L2:
    rol cx, 8
    shl ecx, 16
    bswap rdx
    movq xmm0, rdx
    pslldq xmm0, 8
    movq xmm1, r8
    or rcx, 49168
    test r10d, r10d
    js L4
    cmp dword ptr [rsi + 108], 0
    je L3
    mov edx, dword ptr [rsi + 64]
    cmp edx, dword ptr [rsi + 68]
    je L5
    mov r8d, edx
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movzx r10d, byte ptr [rsi + 60]
    movd xmm3, r10d
    pslld xmm3, 27
    movabs r10, 288230376822800384
    or r10, r8
    movq xmm2, r10
    punpcklqdq xmm2, xmm3
    movd xmm3, ecx
    pcmpeqd xmm4, xmm4
    punpckhqdq xmm0, xmm4
    movq xmm4, rdi
    punpcklqdq xmm1, xmm4
    mov ecx, edx
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdi, qword ptr [rsi + 40]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rdi + rcx], xmm4
    mov rdi, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdi + 4*rcx], xmm2
    movdqa xmmword ptr [rdi + 4*rcx + 16], xmm3
    movdqa xmmword ptr [rdi + 4*rcx + 32], xmm0
    movdqa xmmword ptr [rdi + 4*rcx + 48], xmm1
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm2
    movdqa xmmword ptr [rcx + 16], xmm3
    movdqa xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L3:
    cmp dword ptr [rsi + 80], 0
    je L4
    mov edx, dword ptr [rsi + 64]
    cmp edx, dword ptr [rsi + 68]
    je L5
    movzx r8d, byte ptr [rsi + 60]
    mov r10d, edx
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movd xmm2, r8d
    pslld xmm2, 27
    movabs r8, 288230376822800384
    or r8, r10
    movq xmm3, r8
    punpcklqdq xmm3, xmm2
    movd xmm2, ecx
    pcmpeqd xmm4, xmm4
    punpckhqdq xmm0, xmm4
    movq xmm4, rdi
    punpcklqdq xmm1, xmm4
    mov rcx, qword ptr [rsi + 40]
    mov edi, edx
    shl edi, 4
    and edi, dword ptr [rsi + 56]
    movq xmm4, r9
    shufpd xmm4, xmmword ptr [rip + .LCPI_1], 2
    movapd xmmword ptr [rcx + rdi], xmm4
    mov rcx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rcx + 4*rdi], xmm3
    movdqa xmmword ptr [rcx + 4*rdi + 16], xmm2
    movdqa xmmword ptr [rcx + 4*rdi + 32], xmm0
    movdqa xmmword ptr [rcx + 4*rdi + 48], xmm1
    inc edx
    movzx ecx, dx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r8
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L4:
    push rbx
    sub rsp, 192
    movdqa xmm2, xmmword ptr [rip + .LCPI_0]
    punpcklqdq xmm2, xmm1
    shr r10d, 31
    pxor xmm1, xmm1
    movdqu xmmword ptr [rsp + 80], xmm1
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rcx
    movdqu xmmword ptr [rsp + 40], xmm0
    movdqu xmmword ptr [rsp + 56], xmm2
    mov qword ptr [rsp + 72], rdi
    movdqu xmmword ptr [rsp + 96], xmm1
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], 1
    mov qword ptr [rsp + 152], 0
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov word ptr [rsp + 184], 0
    mov byte ptr [rsp + 186], 0
    mov byte ptr [rsp + 187], r10b
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L5:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_two_fences:
    bswap rdx
    mov rax, rdi
    bswap ecx
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movabs r11, 216172782248001536
    or r11, r10
    movq xmm0, r11
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
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
    mov byte ptr [rax], 25
    ret
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L2
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 48]
    movabs r10, 216172782248001536
    or r10, r11
    movq xmm0, r10
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movq xmm1, rdx
    movd xmm2, ecx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r8]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov ecx, edi
    shl ecx, 4
    and ecx, dword ptr [rsi + 56]
    mov rdx, qword ptr [rsi + 40]
    movq xmm3, r9
    shufpd xmm3, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + rcx], xmm3
    mov rdx, qword ptr [rsi + 32]
    movapd xmmword ptr [rdx + 4*rcx], xmm0
    movdqa xmmword ptr [rdx + 4*rcx + 16], xmm1
    movdqa xmmword ptr [rdx + 4*rcx + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], r10
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    push rbx
    sub rsp, 192
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], rcx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 48], xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], r9
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r8
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L3:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_post_xrc:
    push rbx
    sub rsp, 192
    mov rax, rdi
    mov rdi, qword ptr [rsp + 208]
    bswap rcx
    bswap r8d
    movq xmm0, rcx
    movd xmm1, r8d
    pslldq xmm1, 8
    shufps xmm0, xmm1, 36
    bswap edx
    cmp dword ptr [rsi + 104], 8
    jb L1
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L4
    mov r8d, ecx
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm1, r8
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movd xmm3, edx
    movq xmm2, qword ptr [r9]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_1]
    mov edx, ecx
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov r8, qword ptr [rsi + 40]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [r8 + rdx], xmm4
    mov rdi, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdi + 4*rdx], xmm1
    movdqa xmmword ptr [rdi + 4*rdx + 16], xmm3
    movaps xmmword ptr [rdi + 4*rdx + 32], xmm0
    movdqa xmmword ptr [rdi + 4*rdx + 48], xmm2
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movdqa xmmword ptr [rcx + 16], xmm3
    movaps xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm2
    sfence
    jmp L2
L1:
    cmp dword ptr [rsi + 76], 7
    jbe L3
    mov ecx, dword ptr [rsi + 64]
    cmp ecx, dword ptr [rsi + 68]
    je L4
    mov r8d, ecx
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm1, r8
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movd xmm2, edx
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_1]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, ecx
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movq xmm4, rdi
    shufpd xmm4, xmmword ptr [rip + .LCPI_2], 2
    movapd xmmword ptr [rdx + r8], xmm4
    mov rdx, qword ptr [rsi + 32]
    movdqa xmmword ptr [rdx + 4*r8], xmm1
    movdqa xmmword ptr [rdx + 4*r8 + 16], xmm2
    movaps xmmword ptr [rdx + 4*r8 + 32], xmm0
    movdqa xmmword ptr [rdx + 4*r8 + 48], xmm3
    inc ecx
    movzx ecx, cx
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
L2:
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    add rsp, 192
    pop rbx
    ret
L3:
    mov qword ptr [rsp], rsi
    mov qword ptr [rsp + 32], rdx
    mov qword ptr [rsp + 40], 0
    movups xmmword ptr [rsp + 48], xmm0
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 64], xmm0
    movups xmmword ptr [rsp + 80], xmm0
    mov qword ptr [rsp + 96], 0
    mov qword ptr [rsp + 104], 134217728
    mov qword ptr [rsp + 112], rdi
    mov qword ptr [rsp + 120], 0
    mov qword ptr [rsp + 128], 1
    mov qword ptr [rsp + 136], 0
    mov qword ptr [rsp + 144], r9
    mov qword ptr [rsp + 152], 8
    mov byte ptr [rsp + 160], 18
    mov qword ptr [rsp + 176], 0
    mov dword ptr [rsp + 184], 0
    movups xmm0, xmmword ptr [rip + .Lanon]
    movups xmmword ptr [rsp + 8], xmm0
    mov qword ptr [rsp + 24], 0
    mov rsi, rsp
    mov rbx, rax
    mov rdi, rax
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>@GOTPCREL]
    mov rax, rbx
    add rsp, 192
    pop rbx
    ret
L4:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    add rsp, 192
    pop rbx
    ret

hot_prepared_at:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    bswap rcx
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movq xmm0, r10
    por xmm0, xmmword ptr [rdx]
    bswap r8d
    movd xmm2, r8d
    movq xmm1, rcx
    punpcklqdq xmm1, xmm2
    movq xmm2, qword ptr [r9]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_0]
    movaps xmm3, xmmword ptr [rdx + 16]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_datagram:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm3, xmmword ptr [rdx + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movaps xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_datagram_full:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    mov r8d, dword ptr [rsi + 68]
    sub r8d, edi
    cmp r8w, 1
    jbe L2
    movdqa xmm5, xmmword ptr [rdx + 16]
    movaps xmm0, xmmword ptr [rdx + 32]
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm2, xmmword ptr [rdx + 48]
    movq xmm1, r8
    por xmm1, xmmword ptr [rdx]
    movq xmm3, qword ptr [rcx]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_0]
    movaps xmm4, xmmword ptr [rdx + 64]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm5
    movdqa xmmword ptr [rcx + 4*r10], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm0
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm4
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm5, xmm5
    movdqa xmmword ptr [rdx + r8], xmm5
    movdqa xmmword ptr [rcx + 4*r8], xmm3
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm0
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm4
    movdqa xmmword ptr [rcx + 64], xmm3
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 80], xmm0
    movaps xmmword ptr [rcx + 96], xmm0
    movaps xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L3
    mov ecx, dword ptr [rsi + 56]
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

hot_prepared_dynamic:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    movaps xmm4, xmmword ptr [rdx + 16]
    movaps xmm0, xmmword ptr [rdx + 32]
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm2, xmmword ptr [rdx + 48]
    movq xmm1, r8
    por xmm1, xmmword ptr [rdx]
    movq xmm3, qword ptr [rcx]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_0]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8], xmm1
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 32], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 48], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm0
    movaps xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_entry:
    mov eax, dword ptr [rcx + 8]
    mov r8, qword ptr [rdx + 400]
    test eax, eax
    jle L3
    test byte ptr [rdx + 432], 1
    jne L3
    mov r8d, dword ptr [rsi + 64]
    cmp r8d, dword ptr [rsi + 68]
    je L4
    mov r9, qword ptr [rcx]
    mov ecx, dword ptr [rcx + 12]
    movaps xmm3, xmmword ptr [rdx + 16]
    movaps xmm0, xmmword ptr [rdx + 32]
    bswap r9
    bswap ecx
    mov r10d, r8d
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    bswap eax
    movq xmm1, r10
    por xmm1, xmmword ptr [rdx]
    movd xmm4, ecx
    movd xmm2, eax
    punpckldq xmm2, xmm4
    movq xmm4, r9
    punpcklqdq xmm2, xmm4
    mov rax, qword ptr [rsi + 32]
    mov rcx, qword ptr [rsi + 40]
    mov edx, r8d
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    movaps xmmword ptr [rcx + rdx], xmm3
    movdqa xmmword ptr [rax + 4*rdx], xmm1
    movaps xmmword ptr [rax + 4*rdx + 16], xmm0
    movdqa xmmword ptr [rax + 4*rdx + 32], xmm2
    inc r8d
    movzx eax, r8w
    mov dword ptr [rsi + 64], eax
    mov rcx, qword ptr [rsi + 24]
    bswap eax
    mov dword ptr [rcx], eax
    cmp dword ptr [rsi + 100], 63
    jbe L1
    sfence
    mov rax, qword ptr [rsi]
    movdqa xmmword ptr [rax], xmm1
    movaps xmmword ptr [rax + 16], xmm0
    movdqa xmmword ptr [rax + 32], xmm2
    xorps xmm0, xmm0
    movaps xmmword ptr [rax + 48], xmm0
    sfence
    jmp L2
L1:
    sfence
    mov rax, qword ptr [rsi]
    movq qword ptr [rax], xmm1
    sfence
L2:
    xor rax, qword ptr [rsi + 8]
    mov qword ptr [rsi], rax
    mov byte ptr [rdi], 25
    mov rax, rdi
    ret
L3:
    push rbx
    add eax, r8d
    mov rbx, rdi
    mov esi, eax
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::odd_entry@GOTPCREL]
    mov rax, rbx
    pop rbx
    ret
L4:
    xor eax, eax
    cmp dword ptr [rsi + 72], 0
    sete al
    lea eax, [rax + 2*rax]
    add eax, 18
    mov byte ptr [rdi], al
    mov dword ptr [rdi + 2], 1
    mov rax, rdi
    ret

hot_prepared_frame:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    mov r8d, dword ptr [rsi + 68]
    sub r8d, edi
    cmp r8w, 1
    jbe L2
    movdqa xmm5, xmmword ptr [rdx + 16]
    movdqa xmm0, xmmword ptr [rdx + 32]
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm1, r8
    por xmm1, xmmword ptr [rdx]
    movzx r8d, word ptr [rcx]
    shl r8, 48
    or r8, qword ptr [rdx + 40]
    movq xmm2, r8
    punpcklqdq xmm0, xmm2
    movups xmm2, xmmword ptr [rcx + 2]
    movups xmm3, xmmword ptr [rcx + 18]
    movups xmm4, xmmword ptr [rcx + 34]
    movzx edx, word ptr [rcx + 58]
    movq xmm6, qword ptr [rcx + 50]
    movd xmm7, edx
    punpcklqdq xmm6, xmm7
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    mov r9d, dword ptr [rsi + 56]
    mov r10d, r9d
    and r10d, r8d
    movdqa xmmword ptr [rdx + r10], xmm5
    movdqa xmmword ptr [rcx + 4*r10], xmm1
    movdqa xmmword ptr [rcx + 4*r10 + 16], xmm0
    movaps xmmword ptr [rcx + 4*r10 + 32], xmm2
    movaps xmmword ptr [rcx + 4*r10 + 48], xmm3
    add r8d, 16
    and r8d, r9d
    and r8d, 1048560
    movq xmm5, xmm5
    movdqa xmmword ptr [rdx + r8], xmm5
    movaps xmmword ptr [rcx + 4*r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm6
    add edi, 2
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 127
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movdqa xmmword ptr [rcx + 16], xmm0
    movaps xmmword ptr [rcx + 32], xmm2
    movaps xmmword ptr [rcx + 48], xmm3
    movaps xmmword ptr [rcx + 64], xmm4
    movdqa xmmword ptr [rcx + 80], xmm6
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 96], xmm0
    movdqa xmmword ptr [rcx + 112], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    movzx edi, word ptr [rsi + 72]
    test di, di
    je L3
    mov ecx, dword ptr [rsi + 56]
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

hot_prepared_one_fence:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm3, xmmword ptr [rdx + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movaps xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_send:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    movaps xmm2, xmmword ptr [rdx + 16]
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm2
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
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
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_signaled_if:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    xor r10d, r10d
    test cl, cl
    cmovne r10, qword ptr [rdx + 264]
    movdqa xmm2, xmmword ptr [rdx]
    xor r10, qword ptr [rdx + 256]
    movaps xmm0, xmmword ptr [rdx + 32]
    mov ecx, edi
    bswap ecx
    shr ecx, 8
    or rcx, qword ptr [rsi + 48]
    movq xmm1, r10
    punpcklqdq xmm2, xmm1
    movq xmm1, rcx
    por xmm1, xmm2
    movq xmm2, qword ptr [r9]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rip + .LCPI_0]
    mov rcx, qword ptr [rsi + 32]
    mov r9, qword ptr [rsi + 40]
    mov r10d, edi
    shl r10d, 4
    and r10d, dword ptr [rsi + 56]
    movq xmm3, qword ptr [rdx + 24]
    movq xmm4, r8
    punpcklqdq xmm4, xmm3
    movdqa xmmword ptr [r9 + r10], xmm4
    movdqa xmmword ptr [rcx + 4*r10], xmm1
    movaps xmmword ptr [rcx + 4*r10 + 16], xmm0
    movdqa xmmword ptr [rcx + 4*r10 + 32], xmm2
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm1
    movaps xmmword ptr [rcx + 16], xmm0
    movdqa xmmword ptr [rcx + 32], xmm2
    xorps xmm0, xmm0
    movaps xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm1
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_two_fences:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm3, xmmword ptr [rdx + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movaps xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_prepared_xrc_at:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    movaps xmm4, xmmword ptr [rdx + 16]
    bswap rcx
    mov r10d, edi
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movaps xmm1, xmmword ptr [rdx + 32]
    movq xmm0, r10
    por xmm0, xmmword ptr [rdx]
    bswap r8d
    movd xmm3, r8d
    movq xmm2, rcx
    punpcklqdq xmm2, xmm3
    movq xmm3, qword ptr [r9]
    pslldq xmm3, 4
    por xmm3, xmmword ptr [rip + .LCPI_0]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm4
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 48], xmm3
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    movdqa xmmword ptr [rcx + 48], xmm3
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

hot_receive_frames:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 104
    mov qword ptr [rsp + 16], rdx
    mov eax, dword ptr [rsi + 68]
    shl rax, 32
    mov qword ptr [rsp + 8], rdi
    cmp qword ptr [rdi + 64], rax
    jne L12
    mov rax, qword ptr [rsp + 16]
    mov r14, qword ptr [rax]
    mov qword ptr [rsp], 0
L1:
    mov ecx, 16
    mov rdi, qword ptr [rsp]
    sub rcx, rdi
    mov qword ptr [rsp + 40], rcx
    mov eax, dword ptr [rsi + 80]
    mov dword ptr [rsp + 28], eax
    mov ecx, dword ptr [rsi + 84]
    mov rax, qword ptr [rsi + 56]
    mov qword ptr [rsp + 64], rax
    and ecx, 63
    mov r8, qword ptr [rsp + 8]
    mov r11d, dword ptr [r8 + 8]
    mov r13, qword ptr [r8]
    mov r15d, dword ptr [rsi + 72]
    mov rax, qword ptr [r8 + 32]
    mov qword ptr [rsp + 48], rax
    mov ebx, dword ptr [rsi + 88]
    mov eax, dword ptr [rsi + 92]
    mov r9, qword ptr [r8 + 24]
    mov rdx, qword ptr [r8 + 16]
    mov qword ptr [rsp + 32], rdx
    mov rdx, qword ptr [r8 + 48]
    mov r12d, dword ptr [r8 + 40]
    add rdi, -16
    mov qword ptr [rsp + 56], rdi
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
    cmp r15d, dword ptr [rsp + 28]
    ja L5
    movzx edi, di
    lea ebp, [rdi - 1]
    add rbp, qword ptr [rsp + 64]
    cmp rbp, r10
    jae L5
    mov dword ptr [rsi + 72], r15d
    mov r10d, dword ptr [r13 + 56]
    mov ebp, -256
    and r10d, ebp
    bswap r10d
    movzx ebp, byte ptr [r13]
    movzx ebp, word ptr [r13 + 28]
    add r10d, edi
    add r14, r10
    mov rdi, qword ptr [rsp + 16]
    mov qword ptr [rdi], r14
    inc r11d
    cmp r13, r9
    je L4
    add r13, qword ptr [rsp + 48]
L3:
    mov edi, r11d
    bswap edi
    mov dword ptr [rdx], edi
    dec r8
    cmp qword ptr [rsp + 56], r8
    jne L2
    jmp L8
L4:
    and r11d, 16777215
    xor r12d, 1
    mov rdi, qword ptr [rsp + 8]
    mov dword ptr [rdi + 40], r12d
    mov r13, qword ptr [rsp + 32]
    jmp L3
L5:
    mov rax, qword ptr [rsp + 8]
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
    mov rdx, qword ptr [rsp + 8]
    lea rdi, [rsp + 72]
    mov rbx, rsi
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Standard>@GOTPCREL]
    cmp byte ptr [rsp + 72], 2
    jne L13
    cmp qword ptr [rsp + 80], 0
    je L7
    mov rcx, qword ptr [rsp + 88]
    mov rax, rcx
    shr rax, 32
    movzx eax, ax
    and ecx, 16777215
    add rcx, r14
    add rcx, rax
    mov rax, qword ptr [rsp + 16]
    mov qword ptr [rax], rcx
    mov r14, rcx
L7:
    mov rsi, rbx
    inc qword ptr [rsp]
    jmp L10
L8:
    mov rax, qword ptr [rsp + 8]
    mov qword ptr [rax], r13
    mov dword ptr [rax + 8], r11d
    mov r8, qword ptr [rsp + 40]
L9:
    add qword ptr [rsp], r8
L10:
    cmp qword ptr [rsp], 16
    jb L1
L11:
    mov rax, qword ptr [rsp]
    add rsp, 104
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L12:
    lea rdi, [rsp + 72]
    mov ecx, 16
    mov rdx, qword ptr [rsp + 8]
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Standard>@GOTPCREL]
    cmp byte ptr [rsp + 72], 2
    jne L13
    mov rax, qword ptr [rsp + 80]
    mov qword ptr [rsp], rax
    jmp L11
L13:
    mov qword ptr [rsp], 0
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
    movzx ecx, byte ptr [rbx]
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
    mov qword ptr [rsp + 56], rdx
    mov r13, qword ptr [rdx]
    xor ebp, ebp
    mov qword ptr [rsp + 32], r15
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
    mov qword ptr [rsp + 8], rdx
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
    mov qword ptr [rsp + 8], rax
    xor r8d, r8d
L5:
    mov r14d, dword ptr [r15 + 72]
    mov r9d, dword ptr [r15 + 80]
    mov ecx, dword ptr [r15 + 84]
    mov rax, qword ptr [r15 + 56]
    mov qword ptr [rsp + 16], rax
    movzx eax, word ptr [rdx + 2]
    rol ax, 8
    movzx eax, ax
    xor eax, dword ptr [r15 + 88]
    test dword ptr [r15 + 92], eax
    jne L24
    mov dword ptr [rsp + 28], esi
    mov r12d, 16
    mov qword ptr [rsp], rbp
    sub r12, rbp
    mov eax, edi
    sub eax, r8d
    cmp r12, rax
    mov qword ptr [rsp + 40], rax
    cmovae r12, rax
    xor ebp, ebp
    mov r15d, dword ptr [rdx + 56]
    movzx eax, byte ptr [rdx]
    movzx eax, word ptr [rdx + 28]
    mov dword ptr [rsp + 24], edi
    mov qword ptr [rsp + 48], r8
    cmp edi, r8d
    jne L9
L6:
    mov esi, r14d
L7:
    mov r15, qword ptr [rsp + 32]
    mov dword ptr [r15 + 72], esi
    mov r11, qword ptr [rsp + 40]
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
    mov rax, qword ptr [rsp + 48]
    shl rax, 32
    mov esi, dword ptr [rsp + 24]
    or rsi, rax
    movzx edx, byte ptr [rsp + 28]
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
    mov qword ptr [rsp + 72], rsi
    mov rsi, qword ptr [rbx + 200]
    mov qword ptr [rsp + 80], rax
    sub rsi, rax
    mov qword ptr [rsp + 96], rdx
    mov qword ptr [rsp + 88], rsi
    lea rax, [rdx + rsi]
    mov qword ptr [rsp + 64], rax
    xor ebp, ebp
L10:
    mov r8, qword ptr [rsp + 8]
    test ebp, ebp
    je L11
    mov r8d, ebp
    imul r8, qword ptr [rsp + 96]
    cmp r8, qword ptr [rsp + 88]
    ja L15
    add r8, qword ptr [rsp + 80]
L11:
    mov r11d, r12d
    sub r11d, ebp
    mov rax, qword ptr [rsp + 48]
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
    add r10, qword ptr [rsp + 16]
    cmp r10, rax
    jae L6
    add rdi, r15
    add r13, rdi
    mov rax, qword ptr [rsp + 56]
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
    sub r8, qword ptr [rsp + 64]
    add r8, qword ptr [rsp + 72]
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
    mov dword ptr [rsp + 16], eax
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
    mov r15, qword ptr [rsp + 32]
    mov r11, qword ptr [rsp + 40]
    mov eax, dword ptr [rsp + 16]
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
    mov rbp, qword ptr [rsp]
L22:
    add rbp, rax
    cmp rbp, 16
    jb L1
    jmp L28
L23:
    mov rbp, qword ptr [rsp]
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
    lea rdi, [rsp + 104]
    mov rsi, r15
    mov rdx, rbx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>@GOTPCREL]
    cmp byte ptr [rsp + 104], 2
    jne L27
    cmp qword ptr [rsp + 112], 0
    mov eax, 1
    je L22
    mov rcx, qword ptr [rsp + 120]
    mov rdx, rcx
    shr rdx, 32
    movzx edx, dx
    and ecx, 16777215
    add rcx, r13
    add rcx, rdx
    mov rdx, qword ptr [rsp + 56]
    mov qword ptr [rdx], rcx
    mov r13, rcx
    jmp L22
L26:
    lea rdi, [rsp + 104]
    mov ecx, 16
    mov rsi, r15
    mov rdx, rbx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>@GOTPCREL]
    cmp byte ptr [rsp + 104], 2
    jne L27
    mov rbp, qword ptr [rsp + 112]
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
    mov r8d, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    mov r9d, edi
    sub r9d, dword ptr [rsi + 72]
    sub edx, r9d
    mov r10d, r8d
    sub r10d, r9d
    cmp dx, r10w
    jae L1
    movzx r9d, cx
    shl r9d, 4
    and r9d, dword ptr [rsi + 56]
    mov r10, qword ptr [rsi + 40]
    mov r8, qword ptr [r10 + r9 + 8]
    test r8, r8
    je L2
    mov rcx, qword ptr [r10 + r9]
    add edx, r8d
    mov r9d, edx
    add edx, edi
    movzx edx, dx
    mov dword ptr [rsi + 68], edx
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
    mov dword ptr [rdi + 64], r8d
    mov rax, qword ptr [rdi + 24]
    movzx r8d, r8w
    bswap r8d
    mov dword ptr [rax], r8d
    je L1
    shl esi, 4
    and esi, dword ptr [rdi + 56]
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
    cmp dword ptr [rdi + 4*rax + 96], 63
    jbe L2
    shl esi, 4
    and esi, dword ptr [rdi + 56]
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
    cmp byte ptr [rsi + 88], 1
    jne L14
    mov r9d, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, r9d
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
    mov dword ptr [rsp + 20], r9d
    mov r13d, r9d
    shl r13d, 4
    imul rbp, rcx, 60
    mov ecx, dword ptr [rsi + 56]
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
    lea rdi, [rsp + 96]
L1:
    lea rcx, [r14 + 64]
    cmp rcx, r15
    ja L4
    mov r11, qword ptr [rdx + 4]
    mov r9d, dword ptr [rdx]
    shl r9, 32
    or r9, 1006633088
    mov qword ptr [r14], r9
    mov qword ptr [r14 + 8], r11
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
    mov qword ptr [rsp + 48], r8
    mov qword ptr [rsp + 40], rax
    mov qword ptr [rsp + 56], r14
    mov qword ptr [rsp + 64], r15
    mov qword ptr [rsp + 72], r10
    mov qword ptr [rsp + 32], rsi
    mov rax, qword ptr [rsi + 32]
    mov r8d, 60
    mov r9d, 4
    lea rsi, [rsp + 56]
    mov rcx, rdx
    mov rdx, rax
    mov qword ptr [rsp + 24], rcx
    mov qword ptr [rsp + 8], r10
    call qword ptr [rip + <blueflame::queue::send::session::Room>::around@GOTPCREL]
    mov rcx, qword ptr [rsp + 96]
    test rcx, rcx
    je L5
    mov r15, qword ptr [rsp + 104]
    mov r10, qword ptr [rsp + 112]
    mov rax, qword ptr [rsp + 40]
    mov rsi, qword ptr [rsp + 32]
    mov r8, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 24]
    lea rdi, [rsp + 96]
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
    cmp cl, 25
    mov rax, qword ptr [rsp + 40]
    mov rsi, qword ptr [rsp + 32]
    mov r8, qword ptr [rsp + 48]
    mov rdx, qword ptr [rsp + 24]
    mov r10, qword ptr [rsp + 8]
    lea rdi, [rsp + 96]
    je L3
    mov rdx, qword ptr [rsp + 80]
    mov rsi, qword ptr [rsp + 87]
    mov qword ptr [rax + 8], rsi
    mov qword ptr [rax + 1], rdx
    mov byte ptr [rax], cl
    jmp L13
L6:
    test r12w, r12w
    mov ebp, dword ptr [rsp + 20]
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
    mov r11, qword ptr [rsi + 32]
    mov rcx, qword ptr [rsi + 40]
    mov edi, ebp
    bswap edi
    shr edi, 8
    shl rdx, 56
    or rdx, rdi
    or rdx, qword ptr [rsi + 48]
    mov edi, dword ptr [rsi + 56]
    or rdx, 687865856
    mov r14d, edi
    and r14d, r13d
    mov qword ptr [r11 + 4*r14], rdx
    mov qword ptr [r11 + 4*r14 + 8], 134217728
    movabs r15, 824633720832
    mov qword ptr [r11 + 4*r14 + 16], r15
    mov qword ptr [r11 + 4*r14 + 24], 0
    mov r11d, r12d
    shl r11d, 16
    or r11d, r10d
    add r11, -65536
    movq xmm0, r8
    movq xmm1, r11
    movdqa xmm2, xmm0
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [rcx + r14], xmm2
    movzx r8d, r10w
    cmp r9w, 5
    jb L10
    movq xmm0, xmm0
    and edi, 1048560
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
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    lea r14d, [r13 - 32]
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    lea r14d, [r13 - 16]
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    mov r14d, r13d
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    add r13d, 64
    mov r14d, r9d
    add r9d, 4
    lea ebp, [r11 + r14]
    add ebp, 4
    cmp ebp, 1
    jne L7
    test r10b, 3
    mov ebp, dword ptr [rsp + 20]
    je L10
L8:
    add r9d, ebp
    shl r9d, 4
    sub bl, byte ptr [rsp + 8]
    add bl, 3
    shr bl, 2
    dec bl
    movzx r10d, bl
    and r10d, 3
L9:
    mov r11d, r9d
    and r11d, edi
    movdqa xmmword ptr [rcx + r11], xmm0
    add r9d, 16
    dec r10d
    jne L9
L10:
    add r8d, ebp
    movzx edi, r8w
    mov ecx, dword ptr [rsi + 64]
    mov dword ptr [rsi + 64], edi
    mov r8, qword ptr [rsi + 24]
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
    mov byte ptr [rbx], 25
    jmp L13
L11:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
L12:
    mov byte ptr [rax], 25
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
    mov cl, 24
    jmp L16
L15:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
L16:
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    mov word ptr [rax + 6], 0
    mov qword ptr [rax + 8], 134217728
    ret

hot_session_pointers:
    mov rax, rdi
    cmp byte ptr [rsi + 88], 1
    jne L16
    mov r11d, dword ptr [rsi + 64]
    mov edi, dword ptr [rsi + 68]
    sub edi, r11d
    je L17
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 88
    movzx edi, di
    shl edi, 2
    cmp edi, 63
    mov ebx, 63
    cmovb ebx, edi
    test rcx, rcx
    je L14
    mov r13d, r11d
    shl r13d, 4
    shl rcx, 4
    add rcx, rdx
    mov edi, dword ptr [rsi + 56]
    mov r9d, edi
    shr r9d, 4
    inc r9d
    movzx r14d, r9w
    and edi, r13d
    mov r9, qword ptr [rsi + 32]
    lea r10, [r9 + 4*rdi]
    lea rbp, [r9 + 4*rdi]
    add rbp, 32
    shr edi, 4
    sub r14, rdi
    shl r14, 2
    cmp r14, rbx
    cmovae r14, rbx
    mov r15, rbx
    sub r15, r14
    shl r14d, 4
    add r14, r10
    xor r12d, r12d
L1:
    movsxd r9, dword ptr [rdx + 8]
    test r9, r9
    jle L4
    mov rdi, qword ptr [rdx]
    mov r10d, dword ptr [rdx + 12]
    cmp rbp, r14
    je L6
L2:
    bswap rdi
    shl r9, 32
    or r9, r10
    bswap r9
    mov qword ptr [rbp], r9
    mov qword ptr [rbp + 8], rdi
    add rbp, 16
    inc r12d
L3:
    add rdx, 16
    cmp rdx, rcx
    jne L1
    jmp L8
L4:
    mov dword ptr [rsp + 12], r11d
    mov qword ptr [rsp + 56], rdx
    mov qword ptr [rsp + 64], rcx
    mov qword ptr [rsp + 40], r8
    mov qword ptr [rsp + 48], rsi
    mov qword ptr [rsp + 32], rax
    lea rdi, [rsp + 72]
    mov esi, r9d
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::frame_size@GOTPCREL]
    movzx edi, byte ptr [rsp + 72]
    lea rcx, [rsp + 73]
    mov rax, qword ptr [rcx]
    mov rcx, qword ptr [rcx + 7]
    mov qword ptr [rsp + 16], rax
    mov qword ptr [rsp + 23], rcx
L5:
    cmp dil, 25
    mov rax, qword ptr [rsp + 32]
    mov rsi, qword ptr [rsp + 48]
    mov r8, qword ptr [rsp + 40]
    mov rcx, qword ptr [rsp + 64]
    mov rdx, qword ptr [rsp + 56]
    mov r11d, dword ptr [rsp + 12]
    je L3
    jmp L19
L6:
    test r15, r15
    je L7
    mov rbp, qword ptr [rsi + 32]
    shl r15, 4
    mov r14, r15
    add r14, rbp
    xor r15d, r15d
    jmp L2
L7:
    mov dword ptr [rsp + 12], r11d
    mov qword ptr [rsp + 56], rdx
    mov qword ptr [rsp + 64], rcx
    mov qword ptr [rsp + 40], r8
    mov qword ptr [rsp + 48], rsi
    mov qword ptr [rsp + 32], rax
    lea rdi, [rsp + 72]
    mov rsi, rbx
    lea rdx, [rbx + 1]
    call qword ptr [rip + <blueflame::queue::send::error::PostError>::session_full@GOTPCREL]
    movzx edi, byte ptr [rsp + 72]
    lea rcx, [rsp + 73]
    mov rax, qword ptr [rcx]
    mov rcx, qword ptr [rcx + 7]
    mov qword ptr [rsp + 16], rax
    mov qword ptr [rsp + 23], rcx
    xor r15d, r15d
    jmp L5
L8:
    test r12w, r12w
    je L14
    sub r14, rbp
    shr r14, 4
    add r15, r14
    mov rdx, rbx
    sub rdx, r15
    movzx r10d, dl
    mov r9d, r10d
    add r10d, 3
    shr r10d, 2
    mov edi, r11d
    mov r11, qword ptr [rsi + 32]
    mov rcx, qword ptr [rsi + 40]
    mov dword ptr [rsp + 12], edi
    bswap edi
    shr edi, 8
    shl rdx, 56
    or rdx, rdi
    or rdx, qword ptr [rsi + 48]
    mov edi, dword ptr [rsi + 56]
    or rdx, 687865856
    mov r14d, edi
    and r14d, r13d
    mov qword ptr [r11 + 4*r14], rdx
    mov qword ptr [r11 + 4*r14 + 8], 134217728
    movabs rbp, 824633720832
    mov qword ptr [r11 + 4*r14 + 16], rbp
    mov qword ptr [r11 + 4*r14 + 24], 0
    mov r11d, r12d
    shl r11d, 16
    or r11d, r10d
    add r11, -65536
    movq xmm0, r8
    movq xmm1, r11
    movdqa xmm2, xmm0
    punpcklqdq xmm2, xmm1
    movdqa xmmword ptr [rcx + r14], xmm2
    movzx r8d, r10w
    cmp r9w, 5
    jb L12
    movq xmm0, xmm0
    and edi, 1048560
    lea r10d, [r8 - 2]
    mov r9d, 1
    cmp r10w, 3
    jb L10
    lea r10d, [r8 - 1]
    add r13d, 64
    mov r9d, ebx
    sub r9b, r15b
    movzx r11d, r9b
    add r11d, 3
    shr r11d, 2
    dec r11d
    and r11d, -4
    neg r11d
    mov r9d, 1
L9:
    lea r14d, [r13 - 48]
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    lea r14d, [r13 - 32]
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    lea r14d, [r13 - 16]
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    mov r14d, r13d
    and r14d, edi
    movdqa xmmword ptr [rcx + r14], xmm0
    add r13d, 64
    mov r14d, r9d
    add r9d, 4
    lea ebp, [r11 + r14]
    add ebp, 4
    cmp ebp, 1
    jne L9
    test r10b, 3
    je L12
L10:
    add r9d, dword ptr [rsp + 12]
    shl r9d, 4
    sub bl, r15b
    add bl, 3
    shr bl, 2
    dec bl
    movzx r10d, bl
    and r10d, 3
L11:
    mov r11d, r9d
    and r11d, edi
    movdqa xmmword ptr [rcx + r11], xmm0
    add r9d, 16
    dec r10d
    jne L11
L12:
    add r8d, dword ptr [rsp + 12]
    movzx edi, r8w
    mov ecx, dword ptr [rsi + 64]
    mov dword ptr [rsi + 64], edi
    mov r8, qword ptr [rsi + 24]
    bswap edi
    mov dword ptr [r8], edi
    cmp r12w, 1
    jne L13
    mov rdi, rsi
    mov esi, ecx
    xor ecx, ecx
    mov rbx, rax
    call qword ptr [rip + <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other@GOTPCREL]
    mov rax, rbx
    jmp L14
L13:
    sfence
    mov rcx, qword ptr [rsi]
    mov qword ptr [rcx], rdx
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
L14:
    mov byte ptr [rax], 25
L15:
    add rsp, 88
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L16:
    mov cl, 24
    jmp L18
L17:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
L18:
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    mov word ptr [rax + 6], 0
    mov qword ptr [rax + 8], 134217728
    ret
L19:
    mov rcx, qword ptr [rsp + 16]
    mov rdx, qword ptr [rsp + 23]
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 1], rcx
    mov byte ptr [rax], dil
    jmp L15

hot_stage:
    push r15
    push r14
    push rbx
    sub rsp, 224
    mov rax, rdi
    bswap rdx
    bswap ecx
    mov ebx, dword ptr [rsi + 64]
    cmp dword ptr [rsi + 76], 8
    jb L2
    cmp ebx, dword ptr [rsi + 68]
    je L5
    mov r10d, ebx
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 48]
    movabs rdi, 216172782248001536
    or rdi, r10
    movq xmm0, rdi
    movq xmm1, rdx
    movd xmm2, ecx
    pslldq xmm2, 8
    shufps xmm1, xmm2, 36
    mov ecx, dword ptr [r8]
    shl rcx, 32
    or rcx, 134217856
    shufpd xmm0, xmmword ptr [rip + .LCPI_0], 2
    movd xmm2, dword ptr [r8 + 4]
    movq xmm3, rcx
    punpcklqdq xmm3, xmm2
    mov rcx, qword ptr [rsi + 40]
    mov edx, ebx
    shl edx, 4
    and edx, dword ptr [rsi + 56]
    mov qword ptr [rcx + rdx], r9
    mov qword ptr [rcx + rdx + 8], 1
    mov rcx, qword ptr [rsi + 32]
    movupd xmmword ptr [rcx + 4*rdx], xmm0
    movups xmmword ptr [rcx + 4*rdx + 16], xmm1
    movdqu xmmword ptr [rcx + 4*rdx + 32], xmm3
    cmp dword ptr [rsi + 96], 64
    setae cl
    lea edx, [rbx + 1]
    movzx edx, dx
    mov qword ptr [rax], rsi
    mov qword ptr [rax + 8], rdi
    mov qword ptr [rax + 16], 259
    mov dword ptr [rax + 24], ebx
    mov dword ptr [rax + 28], edx
L1:
    mov byte ptr [rax + 32], cl
    add rsp, 224
    pop rbx
    pop r14
    pop r15
    ret
L2:
    mov r15, rax
    mov r14, rsi
    mov qword ptr [rsp + 24], rsi
    mov dword ptr [rsp + 32], ebx
    mov qword ptr [rsp + 64], rdx
    mov dword ptr [rsp + 72], ecx
    xorps xmm0, xmm0
    movups xmmword ptr [rsp + 76], xmm0
    movups xmmword ptr [rsp + 92], xmm0
    movups xmmword ptr [rsp + 108], xmm0
    movups xmmword ptr [rsp + 120], xmm0
    mov qword ptr [rsp + 136], 134217728
    mov qword ptr [rsp + 144], r9
    mov qword ptr [rsp + 152], 0
    mov qword ptr [rsp + 160], 1
    mov qword ptr [rsp + 168], 0
    mov qword ptr [rsp + 176], r8
    mov qword ptr [rsp + 184], 8
    mov byte ptr [rsp + 192], 18
    mov qword ptr [rsp + 208], 0
    mov dword ptr [rsp + 216], 0
    movupd xmm0, xmmword ptr [rip + .Lanon]
    movupd xmmword ptr [rsp + 40], xmm0
    mov qword ptr [rsp + 56], 0
    mov rdi, rsp
    lea rsi, [rsp + 24]
    call qword ptr [rip + blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>@GOTPCREL]
    mov rsi, qword ptr [rsp + 8]
    mov rdx, qword ptr [rsp + 16]
    cmp dword ptr [rsp], 1
    jne L3
    mov rax, r15
    mov qword ptr [r15], rsi
    mov qword ptr [r15 + 8], rdx
    mov cl, 2
    jmp L1
L3:
    xor ecx, ecx
    test dl, -2
    mov rax, r15
    je L4
    movzx edi, dl
    add edi, 3
    and edi, -4
    cmp di, 4
    jne L4
    xor ecx, ecx
    test edx, 256
    sete cl
    cmp dword ptr [r14 + 4*rcx + 96], 64
    setae cl
L4:
    movzx edi, dl
    add edi, 3
    shr edi, 2
    add edi, ebx
    movzx edi, di
    mov qword ptr [rax], r14
    mov qword ptr [rax + 8], rsi
    mov qword ptr [rax + 16], rdx
    mov dword ptr [rax + 24], ebx
    mov dword ptr [rax + 28], edi
    jmp L1
L5:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    mov cl, 2
    jmp L1

hot_warm_order:
    mov eax, dword ptr [rdi + 64]
    mov ecx, dword ptr [rdi + 56]
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
    mov rax, qword ptr [rdi + 24]
    prefetchw byte ptr [rax]
    prefetcht0 byte ptr [rsi + 14]
    prefetcht0 byte ptr [rsi + 78]
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

other_prepared_doorbell_fence:
    mov rax, rdi
    mov edi, dword ptr [rsi + 64]
    cmp edi, dword ptr [rsi + 68]
    je L2
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 48]
    movaps xmm3, xmmword ptr [rdx + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movaps xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi + 32]
    mov rdx, qword ptr [rsi + 40]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 56]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 64], ecx
    mov rdx, qword ptr [rsi + 24]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 96], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm2
    movdqa xmmword ptr [rcx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 8]
    mov qword ptr [rsi], rcx
    mov byte ptr [rax], 25
    ret
L2:
    xor ecx, ecx
    cmp dword ptr [rsi + 72], 0
    sete cl
    lea ecx, [rcx + 2*rcx]
    add ecx, 18
    mov byte ptr [rax], cl
    mov dword ptr [rax + 2], 1
    ret

other_prepared_thread_register:
    mov rax, rdi
    mov edi, dword ptr [rsi + 56]
    cmp edi, dword ptr [rsi + 60]
    je L3
    mov r8d, edi
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 40]
    movaps xmm3, xmmword ptr [rdx + 16]
    movq xmm0, r8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rip + .LCPI_0]
    movaps xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi + 24]
    mov rdx, qword ptr [rsi + 32]
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 48]
    movaps xmmword ptr [rdx + r8], xmm3
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm2
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm1
    inc edi
    movzx ecx, di
    mov dword ptr [rsi + 56], ecx
    mov rdx, qword ptr [rsi + 8]
    bswap ecx
    mov dword ptr [rdx], ecx
    cmp dword ptr [rsi + 88], 63
    jbe L1
    mov rcx, qword ptr [rsi + 16]
    mov rdx, qword ptr [rcx]
    mov rsi, qword ptr [rcx + 8]
    sfence
    movdqa xmmword ptr [rdx], xmm0
    movaps xmmword ptr [rdx + 16], xmm2
    movdqa xmmword ptr [rdx + 32], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rdx + 48], xmm0
    sfence
    jmp L2
L1:
    mov rcx, qword ptr [rsi + 16]
    mov rdx, qword ptr [rcx]
    mov rsi, qword ptr [rcx + 8]
    sfence
    movq qword ptr [rdx], xmm0
    sfence
L2:
    xor rdx, rsi
    mov qword ptr [rcx], rdx
    mov qword ptr [rcx + 8], rsi
    mov byte ptr [rax], 25
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
    mov r10, qword ptr [rsi + 8]
    cmp r10, r8
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
    movzx ecx, bx
    lea r10d, [rcx - 1]
    add r9, r10
    mov r10, r8
    cmp r9, r11
    jae L3
    mov dword ptr [rdi + 72], esi
L1:
    mov eax, -256
    and eax, dword ptr [r14 + 56]
    movzx edx, byte ptr [r14]
    movzx edx, word ptr [r14 + 28]
    bswap eax
    add eax, ecx
    add rsp, 56
    pop rbx
    pop r14
    ret
L2:
    mov r10, r8
L3:
    mov ecx, dword ptr [r14 + 56]
    bswap ecx
    movzx esi, word ptr [r14 + 2]
    rol si, 8
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], r10
    mov dword ptr [rsp + 24], ecx
    mov word ptr [rsp + 28], si
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
    movzx ecx, bx
    jmp L1
L4:
    xor eax, eax
    add rsp, 56
    pop rbx
    pop r14
    ret
L5:
    mov r10, qword ptr [rsi + 8]
    jmp L3

other_receive_frames_enhanced:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 136
    mov qword ptr [rsp + 24], rdx
    mov eax, dword ptr [rsi + 68]
    shl rax, 32
    cmp qword ptr [rdi + 256], rax
    jne L24
    lea r12, [rdi + 64]
    mov rax, qword ptr [rsp + 24]
    mov r13, qword ptr [rax]
    mov qword ptr [rsp], 0
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
    mov qword ptr [rsp + 56], rsi
    mov qword ptr [rsp + 40], r12
    mov eax, 16
    sub rax, qword ptr [rsp]
    mov edx, r9d
    sub edx, r8d
    cmp rax, rdx
    mov qword ptr [rsp + 48], rdx
    cmovae rax, rdx
    xor r14d, r14d
    mov edx, dword ptr [rdi + 56]
    movzx edx, byte ptr [rdi]
    movzx edx, word ptr [rdi + 28]
    mov qword ptr [rsp + 8], r8
    mov dword ptr [rsp + 36], r9d
    cmp r9d, r8d
    jne L7
L4:
    mov edx, ebx
L5:
    mov rsi, qword ptr [rsp + 56]
    mov dword ptr [rsi + 72], edx
    mov r11, qword ptr [rsp + 48]
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
    mov r12, qword ptr [rsp + 40]
    je L21
    mov rax, qword ptr [rsp + 8]
    shl rax, 32
    mov ecx, dword ptr [rsp + 36]
    or rcx, rax
    mov r15, rdi
    mov rbx, rsi
    mov rsi, rcx
    mov ecx, r14d
    call qword ptr [rip + <blueflame::cq::completion_queue::CompletionQueue<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>>::leave_run@GOTPCREL]
    movsd xmm1, qword ptr [rip + .LCPI_0]
    mov rsi, rbx
    mov rdi, r15
    jmp L19
L7:
    mov qword ptr [rsp + 16], r10
    and ecx, 63
    mov rdx, qword ptr [rdi + 224]
    mov rsi, qword ptr [rdi + 208]
    mov r8, qword ptr [rdi + 192]
    mov qword ptr [rsp + 72], r8
    mov r8, qword ptr [rdi + 200]
    mov qword ptr [rsp + 80], rdx
    sub r8, rdx
    mov qword ptr [rsp + 96], rsi
    mov qword ptr [rsp + 88], r8
    lea rdx, [rsi + r8]
    mov qword ptr [rsp + 64], rdx
    xor r14d, r14d
L8:
    mov r11, qword ptr [rsp + 16]
    test r14d, r14d
    mov rdx, qword ptr [rsp + 8]
    je L9
    mov r11d, r14d
    imul r11, qword ptr [rsp + 96]
    cmp r11, qword ptr [rsp + 88]
    ja L13
    add r11, qword ptr [rsp + 80]
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
    mov r8, qword ptr [rsp + 24]
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
    sub r11, qword ptr [rsp + 64]
    add r11, qword ptr [rsp + 72]
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
    mov qword ptr [rsp + 8], r15
    lea rbx, [rdx + r9]
    mov ebp, r10d
    shl ebp, 8
    mov dword ptr [rsp + 16], r12d
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
    mov rsi, qword ptr [rsp + 56]
    mov r11, qword ptr [rsp + 48]
    mov r15, qword ptr [rsp + 8]
    mov r12d, dword ptr [rsp + 16]
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
    mov r12, qword ptr [rsp + 40]
    je L21
L19:
    mov eax, r14d
L20:
    mov rcx, qword ptr [rsp]
    add rcx, rax
    mov qword ptr [rsp], rcx
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
    lea rdi, [rsp + 104]
    mov rbx, rsi
    mov r14, rdx
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>@GOTPCREL]
    cmp byte ptr [rsp + 104], 2
    jne L25
    cmp qword ptr [rsp + 112], 0
    mov eax, 1
    movsd xmm1, qword ptr [rip + .LCPI_0]
    je L23
    mov rcx, qword ptr [rsp + 120]
    shr rcx, 32
    movzx ecx, cx
    add r13, rcx
    mov rcx, qword ptr [rsp + 24]
    mov qword ptr [rcx], r13
L23:
    mov rdi, r14
    mov rsi, rbx
    jmp L20
L24:
    lea rax, [rsp + 104]
    mov ecx, 16
    mov rdx, rdi
    mov rdi, rax
    call qword ptr [rip + <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>@GOTPCREL]
    cmp byte ptr [rsp + 104], 2
    jne L25
    mov rax, qword ptr [rsp + 112]
    mov qword ptr [rsp], rax
    jmp L26
L25:
    mov qword ptr [rsp], 0
L26:
    mov rax, qword ptr [rsp]
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

setup_recordless_with_mode:
    mov rax, rdi
    sfence
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
