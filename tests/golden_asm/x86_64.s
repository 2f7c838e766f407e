# rustc 1.95.0 (59807616e 2026-04-14)

hot_batch:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 56
    mov qword ptr [rsp], rdi
    test r9, r9
    je L6
    mov eax, dword ptr [rsi + 48]
    cmp rax, 8
    jb L2
    mov qword ptr [rsp + 8], r9
    lea rax, [r8 + 8*r9]
    mov qword ptr [rsp + 24], rax
    mov edi, dword ptr [rsi + 80]
    bswap rdx
    mov r14d, dword ptr [rsi + 84]
    mov r11, qword ptr [rsi]
    mov r15, qword ptr [rsi + 8]
    bswap ecx
    mov ebx, dword ptr [rsi + 76]
    movabs r12, 216172782248001536
    mov qword ptr [rsp + 16], rsi
    or r12, qword ptr [rsi + 40]
    xor r10d, r10d
L1:
    cmp ebx, edi
    je L8
    lea r9, [r8 + 8*r10]
    mov r13d, ebx
    bswap r13d
    shr r13d, 8
    or r13, r12
    mov eax, dword ptr [r9]
    mov esi, dword ptr [r9 + 4]
    shl rax, 32
    or rax, 134217856
    mov ebp, ebx
    shl ebp, 4
    and ebp, r14d
    mov qword ptr [r11 + 4*rbp], r13
    mov qword ptr [r11 + 4*rbp + 8], 134217728
    mov qword ptr [r11 + 4*rbp + 16], rdx
    mov qword ptr [r11 + 4*rbp + 24], rcx
    mov qword ptr [r11 + 4*rbp + 32], rax
    mov qword ptr [r11 + 4*rbp + 40], rsi
    mov qword ptr [r15 + rbp], r10
    inc r10
    mov word ptr [r15 + rbp + 8], 1
    inc ebx
    movzx ebx, bx
    add r9, 8
    cmp r9, qword ptr [rsp + 24]
    jne L1
    mov rdi, qword ptr [rsp + 16]
    mov dword ptr [rdi + 76], ebx
    mov rax, qword ptr [rdi + 16]
    bswap ebx
    mov dword ptr [rax], ebx
    cmp qword ptr [rsp + 8], 1
    jne L4
    mov qword ptr [rsp + 32], r13
    mov qword ptr [rsp + 40], rbp
    mov word ptr [rsp + 48], 259
    cmp dword ptr [rdi + 64], 63
    jbe L5
    sfence
    mov rax, qword ptr [rdi + 24]
    mov rcx, qword ptr [r11 + 4*rbp]
    mov rdx, qword ptr [r11 + 4*rbp + 8]
    mov rsi, qword ptr [r11 + 4*rbp + 16]
    mov r8, qword ptr [r11 + 4*rbp + 24]
    mov r9, qword ptr [r11 + 4*rbp + 32]
    mov rbx, rdi
    mov r10, qword ptr [r11 + 4*rbp + 40]
    mov r14, qword ptr [r11 + 4*rbp + 48]
    mov rdi, qword ptr [r11 + 4*rbp + 56]
    mov qword ptr [rax], rcx
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 16], rsi
    mov qword ptr [rax + 24], r8
    mov qword ptr [rax + 32], r9
    mov qword ptr [rax + 40], r10
    mov qword ptr [rax + 48], r14
    mov qword ptr [rax + 56], rdi
    sfence
    xor rax, qword ptr [rbx + 32]
    mov qword ptr [rbx + 24], rax
    jmp L6
L2:
    shl rax, 24
    or rax, 63
    mov cl, 3
L3:
    mov rdx, qword ptr [rsp]
    mov byte ptr [rdx], cl
    mov dword ptr [rdx + 1], eax
    mov rcx, rax
    shr rcx, 48
    mov byte ptr [rdx + 7], cl
    shr rax, 32
    mov word ptr [rdx + 5], ax
    mov qword ptr [rdx + 8], 8
    jmp L7
L4:
    sfence
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rax], r13
    sfence
    xor rax, qword ptr [rdi + 32]
    mov qword ptr [rdi + 24], rax
    jmp L6
L5:
    lea rsi, [rsp + 32]
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::ring_other@GOTPCREL]
L6:
    mov rax, qword ptr [rsp]
    mov byte ptr [rax], 7
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
    mov eax, 256
    mov cl, 5
    jmp L3

hot_drain_and_retire:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 104
    mov r15, qword ptr [rdi]
    mov ecx, dword ptr [r15 + 60]
    mov r11d, dword ptr [rdi + 40]
    bswap ecx
    xor ecx, r11d
    mov eax, ecx
    ror al
    cmp al, 119
    ja L8
    mov r12d, dword ptr [rdi + 8]
    mov r13, qword ptr [rdx]
    mov rax, qword ptr [rdi + 32]
    mov qword ptr [rsp + 64], rax
    mov eax, dword ptr [rsi + 84]
    mov qword ptr [rsp + 56], rax
    not eax
    shr eax, 4
    mov qword ptr [rsp + 80], rax
    movzx eax, word ptr [rsi + 76]
    mov dword ptr [rsp + 12], eax
    mov rbp, qword ptr [rsi + 8]
    mov rax, qword ptr [rdi + 24]
    mov qword ptr [rsp + 72], rax
    mov rax, qword ptr [rdi + 16]
    mov qword ptr [rsp + 48], rax
    mov ebx, dword ptr [rsi + 80]
    mov r8d, 1
L1:
    mov rax, r8
    mov r14d, ecx
    cmp cl, 12
    jae L2
    xor ecx, ecx
    jmp L3
L2:
    mov ecx, r14d
    shr cl, 2
    movzx r8d, cl
    mov cl, 1
    mov r9d, 489335
    bt r9, r8
    jae L7
L3:
    shr r14d, 16
    mov r8, qword ptr [rsp + 80]
    lea r9d, [r8 + rbx]
    mov r8d, r14d
    sub r8d, r9d
    mov r10d, dword ptr [rsp + 12]
    sub r10d, r9d
    cmp r8w, r10w
    jae L4
    shl r14d, 4
    and r14d, dword ptr [rsp + 56]
    movzx r10d, word ptr [rbp + r14 + 8]
    test r10w, r10w
    je L4
    mov r9, qword ptr [rbp + r14]
    add r8d, ebx
    add r10d, r8d
    movzx ebx, r10w
    mov dword ptr [rsi + 80], ebx
    test cl, 1
    jne L4
    add r13, r9
    mov qword ptr [rdx], r13
L4:
    inc r12d
    cmp r15, qword ptr [rsp + 72]
    je L6
    add r15, qword ptr [rsp + 64]
    cmp rax, 16
    je L9
L5:
    mov ecx, dword ptr [r15 + 60]
    bswap ecx
    xor ecx, r11d
    mov r9d, ecx
    ror r9b
    lea r8, [rax + 1]
    cmp r9b, 120
    jb L1
    jmp L9
L6:
    and r12d, 16777215
    xor r11d, 1
    mov dword ptr [rdi + 40], r11d
    mov r15, qword ptr [rsp + 48]
    cmp rax, 16
    jne L5
    jmp L9
L7:
    movzx r8d, word ptr [r15 + 54]
    rol r8w, 8
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 40], rdi
    lea rdi, [rsp + 92]
    mov qword ptr [rsp + 32], rsi
    mov rsi, r14
    mov qword ptr [rsp + 24], rdx
    mov edx, r8d
    mov qword ptr [rsp + 16], rax
    mov dword ptr [rsp + 8], r11d
    call <blueflame::cq::error::CqeError>::new
    mov r11d, dword ptr [rsp + 8]
    mov rax, qword ptr [rsp + 16]
    mov rsi, qword ptr [rsp + 32]
    mov rdx, qword ptr [rsp + 24]
    mov rdi, qword ptr [rsp + 40]
    cmp byte ptr [rsp + 101], 7
    setne cl
    or cl, byte ptr [rsp + 92]
    jmp L3
L8:
    xor eax, eax
    jmp L10
L9:
    mov qword ptr [rdi], r15
    mov dword ptr [rdi + 8], r12d
    mov rcx, qword ptr [rdi + 48]
    bswap r12d
    mov dword ptr [rcx], r12d
L10:
    add rsp, 104
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_drain_no_overrun:
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
    cmp cl, 11
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
    mov ecx, r14d
    shr cl, 2
    movzx ecx, cl
    mov edx, 489335
    bt rdx, rcx
    jae L8
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
    movzx edx, word ptr [r15 + 54]
    rol dx, 8
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 48], rdi
    lea rdi, [rsp + 60]
    mov qword ptr [rsp + 40], rsi
    mov rsi, r14
    mov qword ptr [rsp + 32], rax
    mov qword ptr [rsp + 24], r9
    mov qword ptr [rsp + 16], r10
    mov qword ptr [rsp + 8], r11
    call <blueflame::cq::error::CqeError>::new
    mov r11, qword ptr [rsp + 8]
    mov r10, qword ptr [rsp + 16]
    mov r9, qword ptr [rsp + 24]
    mov rax, qword ptr [rsp + 32]
    mov rsi, qword ptr [rsp + 40]
    mov rdi, qword ptr [rsp + 48]
    movzx r8d, byte ptr [rsp + 60]
    cmp byte ptr [rsp + 69], 7
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

hot_drain_one:
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
    cmp bl, 11
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
    shr al, 2
    movzx eax, al
    mov ecx, 489335
    bt rcx, rax
    jae L9
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
    mov qword ptr [rdi], r14
    mov dword ptr [rdi + 8], ebp
    mov rax, qword ptr [rdi + 48]
    bswap ebp
    mov dword ptr [rax], ebp
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
    movzx edx, word ptr [r14 + 54]
    rol dx, 8
    mov ecx, dword ptr [r14 + 56]
    bswap ecx
    lea rax, [rsp + 12]
    mov qword ptr [rsp], rdi
    mov rdi, rax
    mov r13, rsi
    mov rsi, rbx
    call <blueflame::cq::error::CqeError>::new
    mov rsi, r13
    mov rdi, qword ptr [rsp]
    movzx edx, byte ptr [rsp + 12]
    cmp byte ptr [rsp + 21], 7
    mov eax, dword ptr [r14 + 56]
    mov ecx, dword ptr [r14 + 44]
    jne L4
    test dl, dl
    je L1
    jmp L4

hot_drain_sixteen:
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
    cmp cl, 11
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
    mov ecx, r14d
    shr cl, 2
    movzx ecx, cl
    mov edx, 489335
    bt rdx, rcx
    jae L8
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
    movzx edx, word ptr [r15 + 54]
    rol dx, 8
    mov ecx, dword ptr [r15 + 56]
    bswap ecx
    mov qword ptr [rsp + 48], rdi
    lea rdi, [rsp + 60]
    mov qword ptr [rsp + 40], rsi
    mov rsi, r14
    mov qword ptr [rsp + 32], rax
    mov qword ptr [rsp + 24], r9
    mov qword ptr [rsp + 16], r10
    mov qword ptr [rsp + 8], r11
    call <blueflame::cq::error::CqeError>::new
    mov r11, qword ptr [rsp + 8]
    mov r10, qword ptr [rsp + 16]
    mov r9, qword ptr [rsp + 24]
    mov rax, qword ptr [rsp + 32]
    mov rsi, qword ptr [rsp + 40]
    mov rdi, qword ptr [rsp + 48]
    movzx r8d, byte ptr [rsp + 60]
    cmp byte ptr [rsp + 69], 7
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

hot_fire_entry:
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 32
    mov rax, rdi
    mov ebx, dword ptr [rcx + 8]
    test ebx, ebx
    jle L5
L1:
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L6
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 84]
    mov r9, qword ptr [rsi + 8]
    movaps xmm0, xmmword ptr [rdx + 256]
    movaps xmmword ptr [r9 + r8], xmm0
    mov r9d, edi
    bswap r9d
    movd xmm0, r9d
    psrld xmm0, 8
    por xmm0, xmmword ptr [rdx]
    movaps xmm1, xmmword ptr [rdx + 16]
    mov edx, dword ptr [rcx + 12]
    mov rcx, qword ptr [rcx]
    bswap rcx
    shl rbx, 32
    or rbx, rdx
    bswap rbx
    movq xmm2, rbx
    movq xmm3, rcx
    punpcklqdq xmm2, xmm3
    mov rcx, qword ptr [rsi]
    inc edi
    movzx edx, di
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    mov dword ptr [rsi + 76], edx
    mov rcx, qword ptr [rsi + 16]
    bswap edx
    mov dword ptr [rcx], edx
    cmp dword ptr [rsi + 68], 63
    jbe L2
    sfence
    mov rcx, qword ptr [rsi + 24]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    jmp L3
L2:
    sfence
    mov rcx, qword ptr [rsi + 24]
    movq qword ptr [rcx], xmm0
    sfence
L3:
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
L4:
    add rsp, 32
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    ret
L5:
    lea rdi, [rsp + 16]
    mov r14, rsi
    mov esi, ebx
    mov r15, rax
    mov r13, rcx
    mov r12, rdx
    call qword ptr [rip + <blueflame::wqe::error::EncodeError>::sge_size@GOTPCREL]
    mov rdx, r12
    mov rcx, r13
    mov rsi, r14
    mov rax, r15
    movzx edi, byte ptr [rsp + 16]
    mov r8, qword ptr [rsp + 17]
    mov qword ptr [rsp], r8
    mov r8, qword ptr [rsp + 24]
    mov qword ptr [rsp + 7], r8
    cmp dil, 5
    je L1
    mov rcx, qword ptr [rsp]
    mov rdx, qword ptr [rsp + 7]
    mov qword ptr [rax + 8], rdx
    mov qword ptr [rax + 1], rcx
    mov byte ptr [rax], dil
    jmp L4
L6:
    mov byte ptr [rax], 5
    mov dword ptr [rax + 2], 1
    jmp L4

hot_fire_one_fence:
    mov rax, rdi
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L2
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 84]
    mov r9, qword ptr [rsi + 8]
    movaps xmm0, xmmword ptr [rdx + 256]
    movaps xmmword ptr [r9 + r8], xmm0
    mov r9d, edi
    bswap r9d
    movd xmm0, r9d
    psrld xmm0, 8
    por xmm0, xmmword ptr [rdx]
    movaps xmm1, xmmword ptr [rdx + 16]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi]
    inc edi
    movzx edx, di
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    mov dword ptr [rsi + 76], edx
    mov rcx, qword ptr [rsi + 16]
    bswap edx
    mov dword ptr [rcx], edx
    cmp dword ptr [rsi + 64], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi + 24]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi + 24]
    movq qword ptr [rcx], xmm0
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L2:
    mov byte ptr [rax], 5
    mov dword ptr [rax + 2], 1
    ret

hot_fire_send:
    mov rax, rdi
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L2
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 84]
    mov r9, qword ptr [rsi + 8]
    movaps xmm0, xmmword ptr [rdx + 256]
    movaps xmmword ptr [r9 + r8], xmm0
    mov r9d, edi
    bswap r9d
    movd xmm0, r9d
    psrld xmm0, 8
    por xmm0, xmmword ptr [rdx]
    movq xmm1, qword ptr [rcx]
    pslldq xmm1, 4
    por xmm1, xmmword ptr [rdx + 16]
    mov rcx, qword ptr [rsi]
    inc edi
    movzx edx, di
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movdqa xmmword ptr [rcx + 4*r8 + 16], xmm1
    mov dword ptr [rsi + 76], edx
    mov rcx, qword ptr [rsi + 16]
    bswap edx
    mov dword ptr [rcx], edx
    cmp dword ptr [rsi + 64], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi + 24]
    movdqa xmmword ptr [rcx], xmm0
    movdqa xmmword ptr [rcx + 16], xmm1
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 32], xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi + 24]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L2:
    mov byte ptr [rax], 5
    mov dword ptr [rax + 2], 1
    ret

hot_fire_two_fences:
    mov rax, rdi
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L2
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 84]
    mov r9, qword ptr [rsi + 8]
    movaps xmm0, xmmword ptr [rdx + 256]
    movaps xmmword ptr [r9 + r8], xmm0
    mov r9d, edi
    bswap r9d
    movd xmm0, r9d
    psrld xmm0, 8
    por xmm0, xmmword ptr [rdx]
    movaps xmm1, xmmword ptr [rdx + 16]
    movq xmm2, qword ptr [rcx]
    pslldq xmm2, 4
    por xmm2, xmmword ptr [rdx + 32]
    mov rcx, qword ptr [rsi]
    inc edi
    movzx edx, di
    movdqa xmmword ptr [rcx + 4*r8], xmm0
    movaps xmmword ptr [rcx + 4*r8 + 16], xmm1
    movdqa xmmword ptr [rcx + 4*r8 + 32], xmm2
    mov dword ptr [rsi + 76], edx
    mov rcx, qword ptr [rsi + 16]
    bswap edx
    mov dword ptr [rcx], edx
    cmp dword ptr [rsi + 64], 63
    jbe L1
    sfence
    mov rcx, qword ptr [rsi + 24]
    movdqa xmmword ptr [rcx], xmm0
    movaps xmmword ptr [rcx + 16], xmm1
    movdqa xmmword ptr [rcx + 32], xmm2
    pxor xmm0, xmm0
    movdqa xmmword ptr [rcx + 48], xmm0
    sfence
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L1:
    sfence
    mov rcx, qword ptr [rsi + 24]
    movq qword ptr [rcx], xmm0
    sfence
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    mov byte ptr [rax], 7
    ret
L2:
    mov byte ptr [rax], 5
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
    cmp bl, 11
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
    shr al, 2
    movzx eax, al
    mov ecx, 489335
    bt rcx, rax
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
    lea rdi, [rsp + 4]
    mov r15, rsi
    mov rsi, rbx
    movdqa xmmword ptr [rsp + 16], xmm0
    call <blueflame::cq::error::CqeError>::new
    movdqa xmm0, xmmword ptr [rsp + 16]
    mov rsi, r15
    cmp byte ptr [rsp + 13], 7
    jne L4
    cmp byte ptr [rsp + 4], 0
    je L2
    jmp L4

hot_post_entry:
    push r14
    push rbx
    sub rsp, 56
    mov rbx, rdi
    mov rax, qword ptr [r8]
    mov r11d, dword ptr [r8 + 8]
    mov r10d, dword ptr [r8 + 12]
    cmp dword ptr [rsi + 60], 0
    setne dil
    test r11d, r11d
    setg r8b
    test dil, r8b
    je L1
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L3
    mov r14d, edi
    bswap r14d
    shr r14d, 8
    or r14, qword ptr [rsi + 40]
    mov r8d, r11d
    movabs r11, 216172782248001536
    bswap rdx
    or r11, r14
    bswap ecx
    bswap rax
    shl r8, 32
    or r8, r10
    bswap r8
    mov r10d, edi
    shl r10d, 4
    and r10d, dword ptr [rsi + 84]
    mov r14, qword ptr [rsi]
    mov qword ptr [r14 + 4*r10], r11
    mov qword ptr [r14 + 4*r10 + 8], 134217728
    mov qword ptr [r14 + 4*r10 + 16], rdx
    mov qword ptr [r14 + 4*r10 + 24], rcx
    mov qword ptr [r14 + 4*r10 + 32], r8
    mov qword ptr [r14 + 4*r10 + 40], rax
    mov r14, qword ptr [rsi + 8]
    mov qword ptr [r14 + r10], r9
    mov word ptr [r14 + r10 + 8], 1
    inc edi
    movzx edi, di
    mov dword ptr [rsi + 76], edi
    mov r9, qword ptr [rsi + 16]
    bswap edi
    mov dword ptr [r9], edi
    sfence
    mov rdi, qword ptr [rsi + 24]
    mov qword ptr [rdi], r11
    mov qword ptr [rdi + 8], 134217728
    mov qword ptr [rdi + 16], rdx
    mov qword ptr [rdi + 24], rcx
    mov qword ptr [rdi + 32], r8
    mov qword ptr [rdi + 40], rax
    mov qword ptr [rdi + 48], 0
    mov qword ptr [rdi + 56], 0
    sfence
    xor rdi, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rdi
    mov byte ptr [rbx], 7
    jmp L2
L1:
    mov qword ptr [rsp + 8], rdx
    mov dword ptr [rsp + 16], ecx
    mov qword ptr [rsp + 24], rax
    mov dword ptr [rsp + 32], r11d
    mov dword ptr [rsp + 36], r10d
    mov qword ptr [rsp + 40], r9
    mov byte ptr [rsp + 48], 8
    lea rdx, [rsp + 8]
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::operation::Write, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>@GOTPCREL]
L2:
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rbx], 65541
    jmp L2

hot_post_frame:
    push r14
    push rbx
    sub rsp, 56
    mov rbx, rdi
    mov rax, qword ptr [rcx]
    mov r9d, dword ptr [rcx + 8]
    mov r10d, dword ptr [rcx + 12]
    cmp dword ptr [rsi + 60], 0
    setne cl
    test r9d, r9d
    setg dil
    test cl, dil
    je L1
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L3
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 40]
    mov ecx, r9d
    movabs r9, 288230376319483904
    or r9, r11
    movzx r14d, word ptr [rdx]
    shl r14, 48
    movabs r11, 19791209299968
    or r11, r14
    movdqu xmm0, xmmword ptr [rdx + 2]
    bswap rax
    shl rcx, 32
    or rcx, r10
    bswap rcx
    pshufd xmm1, xmm0, 238
    mov edx, edi
    shl edx, 4
    and edx, dword ptr [rsi + 84]
    mov r10, qword ptr [rsi]
    mov qword ptr [r10 + 4*rdx], r9
    mov qword ptr [r10 + 4*rdx + 8], 134217728
    mov qword ptr [r10 + 4*rdx + 16], 0
    mov qword ptr [r10 + 4*rdx + 24], r11
    movdqu xmmword ptr [r10 + 4*rdx + 32], xmm0
    mov qword ptr [r10 + 4*rdx + 48], rcx
    mov qword ptr [r10 + 4*rdx + 56], rax
    mov r10, qword ptr [rsi + 8]
    mov qword ptr [r10 + rdx], r8
    mov word ptr [r10 + rdx + 8], 1
    inc edi
    movzx edx, di
    mov dword ptr [rsi + 76], edx
    mov rdi, qword ptr [rsi + 16]
    bswap edx
    mov dword ptr [rdi], edx
    sfence
    mov rdx, qword ptr [rsi + 24]
    mov qword ptr [rdx], r9
    mov qword ptr [rdx + 8], 134217728
    mov qword ptr [rdx + 16], 0
    mov qword ptr [rdx + 24], r11
    movq qword ptr [rdx + 32], xmm0
    movq qword ptr [rdx + 40], xmm1
    mov qword ptr [rdx + 48], rcx
    mov qword ptr [rdx + 56], rax
    sfence
    xor rdx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rdx
    mov byte ptr [rbx], 7
    jmp L2
L1:
    mov qword ptr [rsp + 8], rdx
    mov byte ptr [rsp + 16], 0
    mov qword ptr [rsp + 24], rax
    mov dword ptr [rsp + 32], r9d
    mov dword ptr [rsp + 36], r10d
    mov qword ptr [rsp + 40], r8
    mov byte ptr [rsp + 48], 8
    lea rdx, [rsp + 8]
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::RawPacket>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::ethernet::Frame<&[u8; 18]>, blueflame::wqe::payload::Registered<[blueflame::wqe::payload::Sge; 1]>>>@GOTPCREL]
L2:
    mov rax, rbx
    add rsp, 56
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rbx], 65541
    jmp L2

hot_post_one_fence:
    push r14
    push rbx
    sub rsp, 40
    mov rbx, rdi
    cmp dword ptr [rsi + 56], 7
    jbe L1
    mov eax, dword ptr [rsi + 76]
    cmp eax, dword ptr [rsi + 80]
    je L3
    mov r10d, eax
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 40]
    movabs rdi, 216172782248001536
    or rdi, r10
    bswap rdx
    bswap ecx
    mov r10d, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    shl r10, 32
    mov r11d, eax
    shl r11d, 4
    and r11d, dword ptr [rsi + 84]
    or r10, 134217856
    mov r14, qword ptr [rsi]
    mov qword ptr [r14 + 4*r11], rdi
    mov qword ptr [r14 + 4*r11 + 8], 134217728
    mov qword ptr [r14 + 4*r11 + 16], rdx
    mov qword ptr [r14 + 4*r11 + 24], rcx
    mov qword ptr [r14 + 4*r11 + 32], r10
    mov qword ptr [r14 + 4*r11 + 40], r8
    mov r14, qword ptr [rsi + 8]
    mov qword ptr [r14 + r11], r9
    mov word ptr [r14 + r11 + 8], 1
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 76], eax
    mov r9, qword ptr [rsi + 16]
    bswap eax
    mov dword ptr [r9], eax
    sfence
    mov rax, qword ptr [rsi + 24]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], 134217728
    mov qword ptr [rax + 16], rdx
    mov qword ptr [rax + 24], rcx
    mov qword ptr [rax + 32], r10
    mov qword ptr [rax + 40], r8
    mov qword ptr [rax + 48], 0
    mov qword ptr [rax + 56], 0
    xor rax, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rax
    mov byte ptr [rbx], 7
    jmp L2
L1:
    mov qword ptr [rsp], r8
    mov qword ptr [rsp + 8], rdx
    mov dword ptr [rsp + 16], ecx
    mov qword ptr [rsp + 24], r9
    mov byte ptr [rsp + 32], 8
    mov rdx, rsp
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::exclusive::OneFence>>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::operation::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>@GOTPCREL]
L2:
    mov rax, rbx
    add rsp, 40
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rbx], 65541
    jmp L2

hot_post_receive:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    mov r9, rcx
    mov rax, rdi
    mov r10d, dword ptr [rsi + 24]
    mov edi, dword ptr [rsi + 32]
    mov ecx, edi
    sub ecx, dword ptr [rsi + 36]
    cmp ecx, r10d
    jbe L1
    inc r10d
    xor ecx, ecx
    mov ebp, r10d
    jmp L10
L1:
    mov ecx, dword ptr [rsi + 28]
    and ecx, 63
    mov r11d, 1
    shl r11, cl
    shr r11, 4
    cmp r9, r11
    jbe L2
    mov ecx, 1
    jmp L10
L2:
    test r9, r9
    je L6
    mov rbx, r9
    shl rbx, 4
    xor r14d, r14d
L3:
    mov ebp, dword ptr [rdx + r14 + 8]
    test ebp, ebp
    js L9
    add r14, 16
    cmp rbx, r14
    jne L3
    and r10d, edi
    mov r9, r10
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
    mov qword ptr [r9 + r12], r15
    mov qword ptr [r9 + r12 + 8], rbp
    inc rcx
    jmp L4
L6:
    and r10d, edi
    mov r9, r10
    shl r9, cl
    add r9, qword ptr [rsi]
    xor ecx, ecx
L7:
    cmp rcx, r11
    jae L8
    shl rcx, 4
    movabs rdx, 281474976710656
    mov qword ptr [r9 + rcx], rdx
    mov qword ptr [r9 + rcx + 8], 0
L8:
    mov rcx, qword ptr [rsi + 16]
    mov qword ptr [rcx + 8*r10], r8
    inc edi
    mov dword ptr [rsi + 32], edi
    mov rcx, qword ptr [rsi + 8]
    movzx edx, di
    bswap edx
    mov dword ptr [rcx], edx
    mov dword ptr [rax], 3
    jmp L11
L9:
    mov ecx, 2
L10:
    mov dword ptr [rax], ecx
    mov dword ptr [rax + 4], ebp
    mov qword ptr [rax + 8], r9
    mov qword ptr [rax + 16], r11
L11:
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret

hot_post_send:
    push rbx
    sub rsp, 32
    mov rbx, rdi
    cmp dword ptr [rsi + 56], 7
    jbe L1
    mov eax, dword ptr [rsi + 76]
    cmp eax, dword ptr [rsi + 80]
    je L2
    mov r8d, eax
    bswap r8d
    shr r8d, 8
    or r8, qword ptr [rsi + 40]
    movabs rdi, 144115188243628032
    or rdi, r8
    mov r8d, dword ptr [rdx]
    mov edx, dword ptr [rdx + 4]
    shl r8, 32
    or r8, 134217856
    mov r9d, eax
    shl r9d, 4
    and r9d, dword ptr [rsi + 84]
    mov r10, qword ptr [rsi]
    mov qword ptr [r10 + 4*r9], rdi
    mov qword ptr [r10 + 4*r9 + 8], 134217728
    mov qword ptr [r10 + 4*r9 + 16], r8
    mov qword ptr [r10 + 4*r9 + 24], rdx
    mov r10, qword ptr [rsi + 8]
    mov qword ptr [r10 + r9], rcx
    mov word ptr [r10 + r9 + 8], 1
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 76], eax
    mov rcx, qword ptr [rsi + 16]
    bswap eax
    mov dword ptr [rcx], eax
    sfence
    mov rax, qword ptr [rsi + 24]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], 134217728
    mov qword ptr [rax + 16], r8
    mov qword ptr [rax + 24], rdx
    mov qword ptr [rax + 32], 0
    mov qword ptr [rax + 40], 0
    mov qword ptr [rax + 48], 0
    mov qword ptr [rax + 56], 0
    sfence
    xor rax, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rax
    mov byte ptr [rbx], 7
    mov rax, rbx
    add rsp, 32
    pop rbx
    ret
L1:
    mov qword ptr [rsp + 8], rdx
    mov qword ptr [rsp + 16], rcx
    mov byte ptr [rsp + 24], 8
    lea rdx, [rsp + 8]
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::operation::Send, blueflame::wqe::payload::Inline<&[u8; 8]>>>@GOTPCREL]
    mov rax, rbx
    add rsp, 32
    pop rbx
    ret
L2:
    mov qword ptr [rbx], 65541
    mov rax, rbx
    add rsp, 32
    pop rbx
    ret

hot_post_shared:
    push r14
    push rbx
    sub rsp, 40
    mov rbx, rdi
    cmp dword ptr [rsi + 48], 7
    jbe L4
    mov eax, dword ptr [rsi + 68]
    cmp eax, dword ptr [rsi + 72]
    je L7
    mov r10d, eax
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 32]
    movabs rdi, 216172782248001536
    bswap rdx
    or rdi, r10
    bswap ecx
    mov r10d, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    shl r10, 32
    or r10, 134217856
    mov r11d, eax
    shl r11d, 4
    and r11d, dword ptr [rsi + 76]
    mov r14, qword ptr [rsi]
    mov qword ptr [r14 + 4*r11], rdi
    mov qword ptr [r14 + 4*r11 + 8], 134217728
    mov qword ptr [r14 + 4*r11 + 16], rdx
    mov qword ptr [r14 + 4*r11 + 24], rcx
    mov qword ptr [r14 + 4*r11 + 32], r10
    mov qword ptr [r14 + 4*r11 + 40], r8
    mov r14, qword ptr [rsi + 8]
    mov qword ptr [r14 + r11], r9
    mov word ptr [r14 + r11 + 8], 1
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 68], eax
    mov r9, qword ptr [rsi + 16]
    bswap eax
    mov dword ptr [r9], eax
    mov rsi, qword ptr [rsi + 24]
    mov r9b, 1
L1:
    xor eax, eax
    lock cmpxchg byte ptr [rsi + 24], r9b
    jne L3
    jmp L5
L2:
    pause
L3:
    movzx eax, byte ptr [rsi + 24]
    test al, al
    jne L2
    jmp L1
L4:
    mov qword ptr [rsp], r8
    mov qword ptr [rsp + 8], rdx
    mov dword ptr [rsp + 16], ecx
    mov qword ptr [rsp + 24], r9
    mov byte ptr [rsp + 32], 8
    mov rdx, rsp
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc, &blueflame::db::shared::SharedRegister>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::operation::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>@GOTPCREL]
    jmp L6
L5:
    sfence
    mov rax, qword ptr [rsi]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], 134217728
    mov qword ptr [rax + 16], rdx
    mov qword ptr [rax + 24], rcx
    mov qword ptr [rax + 32], r10
    mov qword ptr [rax + 40], r8
    mov qword ptr [rax + 48], 0
    mov qword ptr [rax + 56], 0
    sfence
    mov rax, qword ptr [rsi + 8]
    xor qword ptr [rsi], rax
    mov byte ptr [rsi + 24], 0
    mov byte ptr [rbx], 7
L6:
    mov rax, rbx
    add rsp, 40
    pop rbx
    pop r14
    ret
L7:
    mov qword ptr [rbx], 65541
    jmp L6

hot_post_slice:
    push rbp
    push r15
    push r14
    push r13
    push r12
    push rbx
    sub rsp, 72
    mov rax, r9
    mov r15, rdi
    mov edi, dword ptr [rsi + 48]
    cmp r9, rdi
    ja L39
    mov r10d, dword ptr [rsi + 76]
    test rax, rax
    je L1
    lea r12, [rax + 19]
    shr r12, 4
    add r12, 2
    cmp rax, 972
    jbe L2
    mov ecx, 4
    mov rax, r12
    jmp L41
L1:
    mov r12d, 2
L2:
    mov edi, dword ptr [rsi + 80]
    mov r11d, dword ptr [rsi + 84]
    lea r9d, [r12 + 3]
    movzx r13d, r9w
    shr r13d, 2
    sub edi, r10d
    cmp r13w, di
    ja L40
    mov qword ptr [rsp + 16], r15
    mov r14, qword ptr [rsp + 128]
    mov r15d, r10d
    shl r15d, 4
    mov edi, r11d
    and edi, r15d
    mov rbx, qword ptr [rsi]
    mov r9d, r10d
    bswap r9d
    shr r9d, 8
    mov rbp, r12
    shl rbp, 56
    or rbp, r9
    or rbp, qword ptr [rsi + 40]
    or rbp, 134217728
    lea r9, [rbx + 4*rdi]
    mov qword ptr [rbx + 4*rdi], rbp
    mov qword ptr [rbx + 4*rdi + 8], 134217728
    bswap rdx
    bswap ecx
    mov qword ptr [rbx + 4*rdi + 16], rdx
    mov qword ptr [rbx + 4*rdi + 24], rcx
    test rax, rax
    je L21
    mov ecx, eax
    or ecx, -2147483648
    bswap ecx
    mov edx, ecx
    cmp rax, 3
    jbe L6
    mov ecx, dword ptr [r8]
    shl rcx, 32
    or rdx, rcx
    cmp rax, 11
    jbe L7
    lea rbp, [rax - 12]
    mov rcx, qword ptr [r8 + 4]
    mov qword ptr [r9 + 32], rdx
    mov qword ptr [r9 + 40], rcx
    mov qword ptr [rsp + 8], r9
    lea rdx, [r9 + 48]
    mov ecx, ebp
    and ecx, 15
    mov qword ptr [rsp + 40], rcx
    mov qword ptr [rsp + 32], rbp
    and rbp, -16
    je L5
    mov qword ptr [rsp + 24], rbp
    lea ecx, [4*r11 + 64]
    and ecx, 4194240
    add rcx, rbx
    lea rbp, [r8 + 12]
    add rax, -28
    mov r9d, eax
    not r9d
    test r9b, 48
    je L4
    mov r9d, eax
    shr r9d, 4
    inc r9d
    and r9d, 3
L3:
    movups xmm0, xmmword ptr [rbp]
    add rbp, 16
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    cmp rdx, rcx
    cmove rdx, rbx
    dec r9
    jne L3
L4:
    cmp rax, 48
    jae L11
L5:
    mov rbx, qword ptr [rsp + 40]
    test rbx, rbx
    mov r9, qword ptr [rsp + 8]
    je L21
    movabs rax, 9223372036854775792
    mov rcx, qword ptr [rsp + 32]
    and rcx, rax
    lea r9, [r8 + rcx]
    add r9, 12
    cmp ebx, 7
    jbe L17
    lea rcx, [rbx - 8]
    mov r8, qword ptr [r9]
    cmp rbx, 12
    jae L30
    cmp ebx, 9
    ja L33
    test rcx, rcx
    je L37
    movzx r9d, byte ptr [r9 + 8]
    jmp L38
L6:
    cmp rax, 1
    jne L8
    movzx eax, byte ptr [r8]
    jmp L9
L7:
    lea rcx, [rax - 4]
    cmp rax, 8
    jae L10
    cmp rax, 5
    ja L18
    test rcx, rcx
    je L32
    movzx r8d, byte ptr [r8 + 4]
    jmp L20
L8:
    mov ecx, 4294967288
    lea ecx, [rcx + 8*rax]
    mov rbx, r9
    movzx r9d, word ptr [r8]
    movzx eax, byte ptr [r8 + rax - 1]
    shl rax, cl
    or rax, r9
    mov r9, rbx
L9:
    shl rax, 32
    or rdx, rax
    xor r8d, r8d
    jmp L20
L10:
    shl ecx, 3
    mov rbx, r9
    mov r9d, dword ptr [r8 + 4]
    mov r8d, dword ptr [r8 + rax - 4]
    add cl, -32
    jmp L19
L11:
    mov rax, qword ptr [rsp + 24]
    lea r9, [r8 + rax]
    add r9, 12
    jmp L13
L12:
    add rbp, 64
    cmp rbp, r9
    je L5
L13:
    movups xmm0, xmmword ptr [rbp]
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    mov rax, rbx
    cmp rdx, rcx
    je L14
    mov rax, rdx
L14:
    movups xmm0, xmmword ptr [rbp + 16]
    movups xmmword ptr [rax], xmm0
    add rax, 16
    mov rdx, rbx
    cmp rax, rcx
    je L15
    mov rdx, rax
L15:
    movups xmm0, xmmword ptr [rbp + 32]
    movups xmmword ptr [rdx], xmm0
    add rdx, 16
    mov rax, rbx
    cmp rdx, rcx
    je L16
    mov rax, rdx
L16:
    movups xmm0, xmmword ptr [rbp + 48]
    movups xmmword ptr [rax], xmm0
    add rax, 16
    mov rdx, rbx
    cmp rax, rcx
    je L12
    mov rdx, rax
    jmp L12
L17:
    cmp ebx, 4
    jae L31
    cmp ebx, 1
    jne L35
    movzx r8d, byte ptr [r9]
    jmp L37
L18:
    mov rbx, r9
    mov r9d, 4294967288
    lea ecx, [r9 + 8*rcx]
    movzx r9d, word ptr [r8 + 4]
    movzx r8d, byte ptr [r8 + rax - 1]
L19:
    shl r8, cl
    or r8, r9
    mov r9, rbx
L20:
    mov qword ptr [r9 + 32], rdx
    mov qword ptr [r9 + 40], r8
L21:
    mov rcx, qword ptr [rsi + 8]
    mov eax, r15d
    and eax, r11d
    and eax, 1048560
    mov qword ptr [rcx + rax], r14
    mov word ptr [rcx + rax + 8], r13w
    cmp r13w, 1
    je L24
    and r11d, 1048560
    mov edx, 1
    cmp r13w, 2
    je L23
    mov rbx, r9
    movzx r8d, r13w
    dec r8d
    add r15d, 32
    mov r9d, r8d
    and r9d, -2
    neg r9d
    mov edx, 1
L22:
    lea eax, [r15 - 16]
    and eax, r11d
    mov qword ptr [rcx + rax], r14
    mov word ptr [rcx + rax + 8], 0
    mov eax, r11d
    and eax, r15d
    mov qword ptr [rcx + rax], r14
    mov word ptr [rcx + rax + 8], 0
    add r15d, 32
    mov eax, edx
    add edx, 2
    add eax, r9d
    add eax, 2
    cmp eax, 1
    jne L22
    test r8b, 1
    mov r9, rbx
    je L24
L23:
    add edx, r10d
    shl edx, 4
    and edx, r11d
    mov qword ptr [rcx + rdx], r14
    mov word ptr [rcx + rdx + 8], 0
L24:
    mov rax, qword ptr [r9]
    mov ecx, edi
    and ecx, -65536
    and edi, 65520
    or rdi, rcx
    mov qword ptr [rsp + 48], rax
    mov qword ptr [rsp + 56], rdi
    mov byte ptr [rsp + 64], r12b
    mov eax, r12d
    shr eax, 2
    and eax, 63
    xor ecx, ecx
    test r12b, 3
    setne cl
    add ecx, eax
    add cx, word ptr [rsi + 76]
    mov byte ptr [rsp + 65], 1
    movzx ecx, cx
    mov dword ptr [rsi + 76], ecx
    mov rdx, qword ptr [rsi + 16]
    bswap ecx
    mov dword ptr [rdx], ecx
    test r12b, 3
    je L25
    test ax, ax
    mov r15, qword ptr [rsp + 16]
    jne L27
    jmp L26
L25:
    cmp ax, 1
    mov r15, qword ptr [rsp + 16]
    jne L27
L26:
    cmp dword ptr [rsi + 64], 64
    jb L27
    mov rax, qword ptr [rsi]
    sfence
    mov rcx, qword ptr [rsi + 24]
    mov rdx, qword ptr [rax + 4*rdi]
    mov r8, qword ptr [rax + 4*rdi + 8]
    mov r9, qword ptr [rax + 4*rdi + 16]
    mov r10, qword ptr [rax + 4*rdi + 24]
    mov r11, qword ptr [rax + 4*rdi + 32]
    mov rbx, qword ptr [rax + 4*rdi + 40]
    mov r14, qword ptr [rax + 4*rdi + 48]
    mov rax, qword ptr [rax + 4*rdi + 56]
    mov qword ptr [rcx], rdx
    mov qword ptr [rcx + 8], r8
    mov qword ptr [rcx + 16], r9
    mov qword ptr [rcx + 24], r10
    mov qword ptr [rcx + 32], r11
    mov qword ptr [rcx + 40], rbx
    mov qword ptr [rcx + 48], r14
    mov qword ptr [rcx + 56], rax
    sfence
    xor rcx, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rcx
    jmp L28
L27:
    lea rax, [rsp + 48]
    mov rdi, rsi
    mov rsi, rax
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::ring_other@GOTPCREL]
L28:
    mov byte ptr [r15], 7
L29:
    mov rax, r15
    add rsp, 72
    pop rbx
    pop r12
    pop r13
    pop r14
    pop r15
    pop rbp
    ret
L30:
    shl ecx, 3
    mov eax, dword ptr [r9 + 8]
    mov r9d, dword ptr [r9 + rbx - 4]
    add cl, -32
    jmp L34
L31:
    lea ecx, [8*rbx]
    mov r8d, dword ptr [r9 + rbx - 4]
    add cl, -32
    shl r8, cl
    mov eax, dword ptr [r9]
    jmp L36
L32:
    xor r8d, r8d
    jmp L20
L33:
    mov eax, 4294967288
    lea ecx, [rax + 8*rcx]
    movzx eax, word ptr [r9 + 8]
    movzx r9d, byte ptr [r9 + rbx - 1]
L34:
    shl r9, cl
    or r9, rax
    jmp L38
L35:
    mov eax, 4294967288
    lea ecx, [rax + 8*rbx]
    movzx r8d, byte ptr [r9 + rbx - 1]
    shl r8, cl
    movzx eax, word ptr [r9]
L36:
    or r8, rax
L37:
    xor r9d, r9d
L38:
    mov qword ptr [rdx], r8
    mov qword ptr [rdx + 8], r9
    mov r9, qword ptr [rsp + 8]
    jmp L21
L39:
    mov ecx, 3
    jmp L41
L40:
    shr r11d, 4
    inc r11d
    xor ecx, ecx
    cmp r13w, r11w
    seta cl
    cmova edi, r11d
    movzx eax, r13w
    shl r13d, 16
    add rcx, r13
    add rcx, 5
    movzx edi, di
L41:
    shl rdi, 32
    or rdi, rcx
    or rdi, 16128
    mov qword ptr [r15], rdi
    mov qword ptr [r15 + 8], rax
    jmp L29

hot_post_two_fences:
    push r14
    push rbx
    sub rsp, 40
    mov rbx, rdi
    cmp dword ptr [rsi + 56], 7
    jbe L1
    mov eax, dword ptr [rsi + 76]
    cmp eax, dword ptr [rsi + 80]
    je L3
    mov r10d, eax
    bswap r10d
    shr r10d, 8
    or r10, qword ptr [rsi + 40]
    movabs rdi, 216172782248001536
    or rdi, r10
    bswap rdx
    bswap ecx
    mov r10d, dword ptr [r8]
    mov r8d, dword ptr [r8 + 4]
    shl r10, 32
    or r10, 134217856
    mov r11d, eax
    shl r11d, 4
    and r11d, dword ptr [rsi + 84]
    mov r14, qword ptr [rsi]
    mov qword ptr [r14 + 4*r11], rdi
    mov qword ptr [r14 + 4*r11 + 8], 134217728
    mov qword ptr [r14 + 4*r11 + 16], rdx
    mov qword ptr [r14 + 4*r11 + 24], rcx
    mov qword ptr [r14 + 4*r11 + 32], r10
    mov qword ptr [r14 + 4*r11 + 40], r8
    mov r14, qword ptr [rsi + 8]
    mov qword ptr [r14 + r11], r9
    mov word ptr [r14 + r11 + 8], 1
    inc eax
    movzx eax, ax
    mov dword ptr [rsi + 76], eax
    mov r9, qword ptr [rsi + 16]
    bswap eax
    mov dword ptr [r9], eax
    sfence
    mov rax, qword ptr [rsi + 24]
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], 134217728
    mov qword ptr [rax + 16], rdx
    mov qword ptr [rax + 24], rcx
    mov qword ptr [rax + 32], r10
    mov qword ptr [rax + 40], r8
    mov qword ptr [rax + 48], 0
    mov qword ptr [rax + 56], 0
    sfence
    xor rax, qword ptr [rsi + 32]
    mov qword ptr [rsi + 24], rax
    mov byte ptr [rbx], 7
    jmp L2
L1:
    mov qword ptr [rsp], r8
    mov qword ptr [rsp + 8], rdx
    mov dword ptr [rsp + 16], ecx
    mov qword ptr [rsp + 24], r9
    mov byte ptr [rsp + 32], 8
    mov rdx, rsp
    mov rdi, rbx
    call qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::post_other::<blueflame::wqe::request::Request<blueflame::wqe::operation::Write, blueflame::wqe::payload::Inline<&[u8; 8]>>>@GOTPCREL]
L2:
    mov rax, rbx
    add rsp, 40
    pop rbx
    pop r14
    ret
L3:
    mov qword ptr [rbx], 65541
    jmp L2

hot_retire_receive:
    mov eax, dword ptr [rdi + 36]
    cmp eax, dword ptr [rdi + 32]
    jne L1
    mov eax, 1
    ret
L1:
    mov rcx, qword ptr [rdi + 16]
    mov edx, dword ptr [rdi + 24]
    and edx, eax
    mov rdx, qword ptr [rcx + 8*rdx]
    inc eax
    mov dword ptr [rdi + 36], eax
    xor eax, eax
    ret

hot_retire_send:
    mov rax, rdi
    mov r9d, dword ptr [rsi + 76]
    mov ecx, dword ptr [rsi + 80]
    mov edi, dword ptr [rsi + 84]
    mov r10d, edi
    shr r10d, 4
    not r10d
    add r10d, ecx
    mov r8d, edx
    sub r8d, r10d
    mov r11d, r9d
    sub r11d, r10d
    cmp r8w, r11w
    jae L1
    movzx r9d, dx
    shl r9d, 4
    and edi, r9d
    mov r10, qword ptr [rsi + 8]
    movzx r9d, word ptr [r10 + rdi + 8]
    test r9w, r9w
    je L2
    mov rdx, qword ptr [r10 + rdi]
    add r9d, r8d
    add ecx, r9d
    movzx ecx, cx
    mov dword ptr [rsi + 80], ecx
    mov qword ptr [rax + 8], rdx
    mov word ptr [rax + 16], r9w
    xor ecx, ecx
    mov word ptr [rax], cx
    ret
L1:
    movzx ecx, r9w
    shl rcx, 48
    movzx esi, r10w
    shl rsi, 32
    or rsi, rcx
    shl edx, 16
    or rdx, rsi
    mov qword ptr [rax + 2], rdx
    mov cx, 1
    mov word ptr [rax], cx
    ret
L2:
    shl edx, 16
    inc rdx
    mov qword ptr [rax + 2], rdx
    mov cx, 1
    mov word ptr [rax], cx
    ret

hot_ring_staged:
    mov rsi, rdi
    mov rdi, qword ptr [rdi + 64]
    mov eax, dword ptr [rsi + 96]
    mov dword ptr [rdi + 76], eax
    mov rcx, qword ptr [rdi + 16]
    movzx eax, ax
    bswap eax
    mov dword ptr [rcx], eax
    cmp byte ptr [rsi + 100], 0
    je L1
    sfence
    mov rax, qword ptr [rdi + 24]
    movaps xmm0, xmmword ptr [rsi]
    movaps xmm1, xmmword ptr [rsi + 16]
    movaps xmm2, xmmword ptr [rsi + 32]
    movaps xmm3, xmmword ptr [rsi + 48]
    movaps xmmword ptr [rax], xmm0
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 48], xmm3
    sfence
    xor rax, qword ptr [rdi + 32]
    mov qword ptr [rdi + 24], rax
    ret
L1:
    add rsi, 72
    jmp qword ptr [rip + <blueflame::queue::send::SendQueue<blueflame::wqe::transport::Rc>>::ring_other@GOTPCREL]

hot_stage:
    mov rax, rdi
    mov edi, dword ptr [rsi + 48]
    cmp rdi, 7
    jbe L1
    mov edi, dword ptr [rsi + 76]
    cmp edi, dword ptr [rsi + 80]
    je L3
    push r14
    push rbx
    mov r11d, edi
    bswap r11d
    shr r11d, 8
    or r11, qword ptr [rsi + 40]
    movabs r10, 216172782248001536
    or r10, r11
    bswap rdx
    bswap ecx
    mov r11d, dword ptr [r8]
    mov ebx, dword ptr [r8 + 4]
    shl r11, 32
    or r11, 134217856
    mov r8d, edi
    shl r8d, 4
    and r8d, dword ptr [rsi + 84]
    mov r14, qword ptr [rsi]
    mov qword ptr [r14 + 4*r8], r10
    mov qword ptr [r14 + 4*r8 + 8], 134217728
    mov qword ptr [r14 + 4*r8 + 16], rdx
    mov qword ptr [r14 + 4*r8 + 24], rcx
    mov qword ptr [r14 + 4*r8 + 32], r11
    mov qword ptr [r14 + 4*r8 + 40], rbx
    mov rcx, qword ptr [rsi + 8]
    mov qword ptr [rcx + r8], r9
    mov word ptr [rcx + r8 + 8], 1
    movaps xmm0, xmmword ptr [r14 + 4*r8]
    movaps xmm1, xmmword ptr [r14 + 4*r8 + 16]
    movaps xmm2, xmmword ptr [r14 + 4*r8 + 32]
    movaps xmm3, xmmword ptr [r14 + 4*r8 + 48]
    movaps xmmword ptr [rax + 48], xmm3
    movaps xmmword ptr [rax + 32], xmm2
    movaps xmmword ptr [rax + 16], xmm1
    movaps xmmword ptr [rax], xmm0
    cmp dword ptr [rsi + 64], 64
    setae cl
    inc edi
    movzx edx, di
    mov qword ptr [rax + 64], rsi
    mov qword ptr [rax + 72], r10
    mov qword ptr [rax + 80], r8
    mov word ptr [rax + 88], 259
    mov dword ptr [rax + 96], edx
    pop rbx
    pop r14
    mov byte ptr [rax + 100], cl
    ret
L1:
    shl rdi, 32
    or rdi, 16131
L2:
    mov qword ptr [rax], rdi
    mov qword ptr [rax + 8], 8
    mov cl, 2
    mov byte ptr [rax + 100], cl
    ret
L3:
    mov edi, 65541
    jmp L2
