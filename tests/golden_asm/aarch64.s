# rustc 1.95.0 (59807616e 2026-04-14)

hot_batch:
    sub sp, sp, #432
    stp x29, x30, [sp, #336]
    stp x28, x27, [sp, #352]
    stp x26, x25, [sp, #368]
    stp x24, x23, [sp, #384]
    stp x22, x21, [sp, #400]
    stp x20, x19, [sp, #416]
    add x29, sp, #336
    mov x19, x8
    cbz x4, L9
    rev x8, x1
    rev w9, w2
    str x19, [sp, #24]
    fmov d2, x8
    str x8, [sp, #96]
    mov w8, #134217728
    dup v3.2d, x8
    adrp x8, .LCPI_0
    lsl x19, x4, #3
    ldr w28, [x0, #64]
    mov x14, #134217728
    mov w26, #128
    mov v2.s[2], w9
    ldr q0, [x8, :lo12:.LCPI_0]
    mov x21, x3
    mov x20, x0
    mov x23, xzr
    mov x25, xzr
    mov x22, xzr
    mov x24, xzr
    movk x14, #768, lsl #48
    movk w26, #2048, lsl #16
    mov w27, #1
    str w9, [sp, #92]
    mov v2.s[3], wzr
    stp q0, q3, [sp, #32]
    str x8, [sp, #8]
    str x8, [sp, #16]
    str q2, [sp, #64]
L1:
    ldr w8, [x20, #76]
    cmp w8, #8
    b.lo L3
    ldr w8, [x20, #68]
    cmp w28, w8
    b.eq L12
    lsl w8, w28, #4
    ldr w9, [x20, #56]
    rev w10, w28
    ldp x12, x11, [x20, #40]
    lsr w10, w10, #8
    and x8, x9, x8
    mov v0.16b, v3.16b
    add x24, x24, #1
    mov w23, #259
    orr x9, x11, x14
    add x11, x12, x8
    ldp w12, w13, [x21]
    orr x22, x9, x10
    stp x25, x27, [x11]
    mov v0.d[0], x22
    ldr x10, [x20, #32]
    orr x9, x26, x12, lsl #32
    add x8, x10, x8, lsl #2
    fmov d1, x9
    add w9, w28, #1
    and w28, w9, #0xffff
    stp q0, q2, [x8]
    mov v1.d[1], x13
    str q1, [x8, #32]
L2:
    subs x19, x19, #8
    add x21, x21, #8
    add x25, x25, #1
    b.ne L1
    b L5
L3:
    ldr x8, [sp, #96]
    movi v0.2d, #0000000000000000
    add x9, sp, #128
    add x0, sp, #128
    str x20, [sp, #128]
    str x8, [sp, #168]
    ldr w8, [sp, #92]
    str w28, [sp, #136]
    stp w8, wzr, [sp, #176]
    mov w8, #8
    stur q0, [x9, #88]
    stur q0, [x9, #72]
    stur q0, [x9, #56]
    ldr q0, [sp, #32]
    stp x21, x8, [sp, #280]
    mov w8, #18
    strb w8, [sp, #296]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stur q0, [sp, #232]
    ldr q0, [x8]
    add x8, sp, #104
    stp x25, xzr, [sp, #248]
    stp x27, xzr, [sp, #264]
    stur xzr, [x9, #184]
    stur wzr, [x9, #192]
    stur xzr, [x9, #32]
    stur q0, [x9, #16]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>
    ldp x11, x10, [sp, #112]
    ldr w8, [sp, #104]
    tbz w8, #0, L4
    lsr x9, x11, #8
    ldp q3, q2, [sp, #48]
    and x8, x11, #0xff
    mov x14, #134217728
    str x9, [sp, #16]
    lsr x9, x11, #48
    cmp x8, #25
    movk x14, #768, lsl #48
    str x9, [sp, #8]
    b.ne L11
    str x10, [sp]
    b L2
L4:
    and w8, w10, #0xff
    ldp q3, q2, [sp, #48]
    add w8, w8, #3
    mov x14, #134217728
    add x24, x24, #1
    add w8, w28, w8, lsr #2
    mov x23, x10
    mov x22, x11
    movk x14, #768, lsl #48
    and w28, w8, #0xffff
    b L2
L5:
    ldr x19, [sp, #24]
    cbz x24, L9
    ldr w1, [x20, #64]
    str w28, [x20, #64]
    and w9, w28, #0xffff
    dmb oshst
    rev w9, w9
    cmp x24, #1
    ldr x8, [x20, #24]
    str w9, [x8]
    b.ne L6
    and w8, w23, #0xff
    add w8, w8, #3
    and w8, w8, #0x1fc
    cmp w8, #4
    b.ne L8
    and x8, x23, #0xfe
    cbz x8, L8
    add x8, x20, #96
    add x9, x20, #100
    tst x23, #0x100
    csel x8, x9, x8, eq
    ldr w8, [x8]
    cmp w8, #63
    b.ls L8
    ldr w8, [x20, #56]
    ldr x9, [x20, #32]
    dsb st
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldr x9, [x20]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x20]
    b L7
L6:
    dsb st
    ldr x8, [x20]
    str x22, [x8]
    dsb st
L7:
    ldr x9, [x20, #8]
    eor x8, x9, x8
    str x8, [x20]
    b L9
L8:
    mov x0, x20
    mov x2, x22
    mov x3, x23
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
L9:
    mov w8, #25
    strb w8, [x19]
L10:
    ldp x20, x19, [sp, #416]
    ldp x22, x21, [sp, #400]
    ldp x24, x23, [sp, #384]
    ldp x26, x25, [sp, #368]
    ldp x28, x27, [sp, #352]
    ldp x29, x30, [sp, #336]
    add sp, sp, #432
    ret
L11:
    and x9, x11, #0xffff00000000
    and x11, x11, #0xffff0000
    mov x13, x10
    b L13
L12:
    ldr w8, [x20, #72]
    mov w10, #21
    ldr x13, [sp]
    mov x9, xzr
    mov w11, #65536
    cmp w8, #0
    mov w8, #18
    csel x8, x10, x8, eq
L13:
    ldp x10, x12, [sp, #8]
    orr x9, x9, x10, lsl #48
    ubfiz x10, x12, #8, #8
    orr x9, x9, x11
    orr x9, x9, x10
    orr x8, x9, x8
    ldr x9, [sp, #24]
    stp x8, x13, [x9]
    b L10

hot_batch_datagrams:
    stp x29, x30, [sp, #-96]!
    stp x28, x27, [sp, #16]
    stp x26, x25, [sp, #32]
    stp x24, x23, [sp, #48]
    stp x22, x21, [sp, #64]
    stp x20, x19, [sp, #80]
    mov x29, sp
    sub sp, sp, #448
    mov x19, x8
    cbz x3, L9
    ldp d2, d0, [x1, #8]
    adrp x8, .LCPI_1
    ldr d1, [x1]
    ldp d3, d4, [x1, #24]
    ldr d5, [x1, #40]
    mov w9, #2
    lsl x27, x3, #3
    mov v6.16b, v1.16b
    mov v7.16b, v0.16b
    ldr q16, [x8, :lo12:.LCPI_1]
    stp q5, q4, [sp, #112]
    mov v4.d[1], v5.d[0]
    movi v5.2d, #0000000000000000
    adrp x8, .LCPI_2
    dup v18.2d, x9
    ldr w26, [x0, #64]
    mov v6.d[1], v2.d[0]
    mov v7.d[1], v3.d[0]
    ldr q17, [x8, :lo12:.LCPI_2]
    adrp x8, .LCPI_0
    sub x28, x29, #208
    stp q3, q2, [sp, #144]
    stp q16, q4, [sp, #48]
    mov x21, x2
    mov x20, x0
    stp q1, q0, [sp, #176]
    ldr q0, [x8, :lo12:.LCPI_0]
    mov x23, xzr
    mov x25, xzr
    mov x22, xzr
    mov x24, xzr
    stp q0, q18, [sp]
    stp q7, q6, [sp, #80]
    str q17, [sp, #32]
L1:
    ldr w8, [x20, #76]
    cmp w8, #8
    b.lo L3
    ldr w8, [x20, #68]
    sub w8, w8, w26
    and w9, w8, #0xffff
    cmp w9, #1
    b.ls L12
    rev w8, w26
    movi v0.2d, #0000000000000000
    ldr x9, [x20, #48]
    lsr w8, w8, #8
    mov v1.16b, v18.16b
    ldr w10, [x20, #56]
    movi v3.2d, #0000000000000000
    ldr d2, [x21]
    add x24, x24, #1
    orr x8, x9, x8
    lsl w9, w26, #4
    mov w23, #261
    mov v0.d[0], x8
    ldp x11, x8, [x20, #32]
    mov v1.d[0], x25
    and x12, x10, x9
    add w9, w9, #16
    mov v3.d[0], x25
    and w9, w9, w10
    add x13, x11, x12, lsl #2
    and w9, w9, #0xffff0
    str q1, [x8, x12]
    ext v1.16b, v5.16b, v2.16b, #12
    orr v0.16b, v0.16b, v16.16b
    stp q7, q4, [x13, #32]
    ubfiz x10, x9, #2, #32
    fmov x22, d0
    stp q0, q6, [x13]
    orr v1.16b, v1.16b, v17.16b
    str q3, [x8, w9, uxtw]
    add w8, w26, #2
    and w26, w8, #0xffff
    str q1, [x11, x10]
L2:
    subs x27, x27, #8
    add x21, x21, #8
    add x25, x25, #1
    b.ne L1
    b L5
L3:
    ldp q0, q1, [sp, #160]
    mov w8, #1
    ldp q4, q3, [sp, #128]
    sub x0, x29, #208
    stp x8, xzr, [x29, #-72]
    mov w8, #8
    ldr q2, [sp, #192]
    stp d1, d0, [x29, #-168]
    ldr q0, [sp, #112]
    stp x21, x8, [x29, #-56]
    mov w8, #18
    stp d4, d0, [x29, #-136]
    ldr q0, [sp]
    sturb w8, [x29, #-40]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stur q0, [x29, #-104]
    ldr q0, [x8]
    add x8, sp, #216
    stp xzr, xzr, [x28, #88]
    stur x20, [x29, #-208]
    stur w26, [x29, #-200]
    stp d2, d3, [x29, #-152]
    stp x25, xzr, [x29, #-88]
    stur xzr, [x28, #184]
    stur wzr, [x28, #192]
    stur xzr, [x28, #32]
    stur q0, [x28, #16]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>
    ldp x8, x9, [sp, #224]
    ldr w10, [sp, #216]
    tbz w10, #0, L4
    movi v5.2d, #0000000000000000
    ldp q7, q6, [sp, #80]
    ldp q16, q4, [sp, #48]
    and x10, x8, #0xff
    ldp q18, q17, [sp, #16]
    cmp x10, #25
    b.eq L2
    b L11
L4:
    and w10, w9, #0xff
    ldp q7, q6, [sp, #80]
    add w10, w10, #3
    ldp q16, q4, [sp, #48]
    add w10, w26, w10, lsr #2
    ldp q18, q17, [sp, #16]
    add x24, x24, #1
    mov x23, x9
    mov x22, x8
    and w26, w10, #0xffff
    movi v5.2d, #0000000000000000
    b L2
L5:
    cbz x24, L9
    ldr w1, [x20, #64]
    str w26, [x20, #64]
    and w9, w26, #0xffff
    dmb oshst
    rev w9, w9
    cmp x24, #1
    ldr x8, [x20, #24]
    str w9, [x8]
    b.ne L6
    and w8, w23, #0xff
    add w8, w8, #3
    and w8, w8, #0x1fc
    cmp w8, #4
    b.ne L8
    and x8, x23, #0xfe
    cbz x8, L8
    add x8, x20, #96
    add x9, x20, #100
    tst x23, #0x100
    csel x8, x9, x8, eq
    ldr w8, [x8]
    cmp w8, #63
    b.ls L8
    ldr w8, [x20, #56]
    ldr x9, [x20, #32]
    dsb st
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldr x9, [x20]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x20]
    b L7
L6:
    dsb st
    ldr x8, [x20]
    str x22, [x8]
    dsb st
L7:
    ldr x9, [x20, #8]
    eor x8, x9, x8
    str x8, [x20]
    b L9
L8:
    mov x0, x20
    mov x2, x22
    mov x3, x23
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
L9:
    mov w8, #25
    strb w8, [x19]
L10:
    add sp, sp, #448
    ldp x20, x19, [sp, #80]
    ldp x22, x21, [sp, #64]
    ldp x24, x23, [sp, #48]
    ldp x26, x25, [sp, #32]
    ldp x28, x27, [sp, #16]
    ldp x29, x30, [sp], #96
    ret
L11:
    and x10, x8, #0xffffffffffffff00
    b L16
L12:
    ldrh w10, [x20, #72]
    cbz w10, L13
    ldr w9, [x20, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w11, w9, #0xffff
    cmp w11, #2
    b.hs L14
    mov w8, #19
    b L15
L13:
    mov w8, #21
    b L15
L14:
    cmp w10, #1
    mov w10, #18
    mov w11, #20
    csinc w9, w8, wzr, ne
    csel x8, x11, x10, eq
L15:
    and w9, w9, #0xffff
    mov w10, #131072
    orr x10, x10, x9, lsl #32
    mov w9, #2
L16:
    and x8, x8, #0xff
    orr x8, x10, x8
    stp x8, x9, [x19]
    b L10

hot_batch_list:
    sub sp, sp, #288
    stp x29, x30, [sp, #224]
    stp x28, x23, [sp, #240]
    stp x22, x21, [sp, #256]
    stp x20, x19, [sp, #272]
    add x29, sp, #224
    ldr w15, [x2, #8]
    tbnz w15, #31, L5
    ldr w18, [x2, #24]
    tbnz w18, #31, L2
    ldr w17, [x2, #40]
    tbnz w17, #31, L3
    ldr w6, [x2, #56]
    tbnz w6, #31, L4
    mov x19, x8
    ldp w8, w9, [x0, #64]
    sub w9, w9, w8
    and w10, w9, #0xffff
    cmp w10, #2
    b.ls L15
    rev w9, w1
    ldr w13, [x0, #56]
    lsl w12, w8, #4
    ldrb w16, [x0, #60]
    lsl x7, x9, #32
    ldr x10, [x0, #48]
    ldp x14, x11, [x0, #32]
    and w20, w13, w12
    rev w21, w8
    mov x22, #620756992
    ubfiz x20, x20, #2, #32
    lsr w21, w21, #8
    movk x22, #3072, lsl #48
    orr x16, x7, x16, lsl #27
    lsl x7, x13, #2
    orr x10, x10, x22
    orr w1, w1, #0xffffff00
    orr x21, x10, x21
    add x10, x14, x20
    adrp x22, .LCPI_0
    and x7, x7, #0x3ffffffc0
    stp x21, x16, [x10]
    add x16, x10, #64
    cmp x20, x7
    add x7, x7, x14
    rev w1, w1
    csel x20, x14, x16, eq
    add x16, x7, #64
    ldr q0, [x22, :lo12:.LCPI_0]
    add x7, x20, #16
    lsl x1, x1, #32
    add w15, w15, w18
    cmp x7, x16
    str q0, [x10, #16]
    add x17, x17, x6
    csel x18, x14, x7, eq
    stp xzr, xzr, [x10, #32]
    add x15, x15, x17
    stp xzr, xzr, [x10, #48]
    rev x15, x15
    add w22, w8, #3
    stp x1, xzr, [x20]
    add x1, x18, #16
    and w20, w22, #0xffff
    cmp x1, x16
    stp xzr, x15, [x18]
    csel x17, x14, x1, eq
    adrp x1, .LCPI_1
    add x15, x17, #16
    stp xzr, xzr, [x17]
    ldr q0, [x1, :lo12:.LCPI_1]
    cmp x15, x16
    and w1, w13, #0xffff0
    csel x15, x14, x15, eq
    stp xzr, xzr, [x15], #16
    cmp x15, x16
    ldp w18, w17, [x2, #8]
    csel x15, x14, x15, eq
    orr x17, x17, x18, lsl #32
    ldr x18, [x2]
    rev x17, x17
    rev x18, x18
    stp x17, x18, [x15], #16
    cmp x15, x16
    ldp w18, w17, [x2, #24]
    csel x15, x14, x15, eq
    orr x17, x17, x18, lsl #32
    ldr x18, [x2, #16]
    rev x17, x17
    rev x18, x18
    stp x17, x18, [x15], #16
    cmp x15, x16
    ldp w18, w17, [x2, #40]
    csel x15, x14, x15, eq
    orr x17, x17, x18, lsl #32
    ldr x18, [x2, #32]
    rev x17, x17
    rev x18, x18
    stp x17, x18, [x15], #16
    cmp x15, x16
    ldp w18, w17, [x2, #56]
    ldr x16, [x2, #48]
    csel x14, x14, x15, eq
    orr x17, x17, x18, lsl #32
    and w18, w12, #0xffff0
    rev x16, x16
    and x13, x18, x13
    rev x15, x17
    add w17, w12, #16
    add w12, w12, #32
    stp x15, x16, [x14]
    and w15, w17, w1
    and w12, w12, w1
    add x14, x11, x15
    str q0, [x11, x13]
    add x11, x11, x12
    stp xzr, xzr, [x14]
    rev x12, x3
    stp xzr, xzr, [x11]
    rev w11, w4
    ldr w13, [x0, #80]
    cbz w13, L11
    ldr w10, [x0, #68]
    cmp w20, w10
    b.eq L16
    mov w13, #1073741824
    ldp x16, x14, [x0, #40]
    fmov s0, w13
    ldr w13, [x0, #56]
    rev w15, w20
    lsr w15, w15, #8
    fmov d2, x12
    fmov d3, x11
    orr x14, x14, #0x8000000
    add w8, w8, #4
    mov w10, wzr
    mov v0.s[1], w9
    lsl w9, w20, #4
    orr x14, x14, #0x300000000000000
    orr x2, x14, x15
    mov v2.d[1], v3.d[0]
    and w20, w8, #0xffff
    and x9, x13, x9
    mov w13, #671088640
    mov w3, #3
    dup v1.2d, x13
    add x13, x16, x9
    mov w16, #1
    mov v0.s[2], wzr
    stp x5, x16, [x13]
    mov x8, x19
    ldr x11, [x0, #32]
    mov v1.d[0], x2
    add x9, x11, x9, lsl #2
    mov v0.s[3], wzr
    stp q1, q2, [x9]
    str q0, [x9, #32]
L1:
    ldr w1, [x0, #64]
    str w20, [x0, #64]
    rev w11, w20
    dmb oshst
    ldr x9, [x0, #24]
    str w11, [x9]
    cbz w10, L7
    and w9, w3, #0xff
    add w9, w9, #3
    and w9, w9, #0x1fc
    cmp w9, #4
    b.ne L9
    and x9, x3, #0xfe
    cbz x9, L9
    add x9, x0, #96
    add x10, x0, #100
    tst x3, #0x100
    csel x9, x10, x9, eq
    ldr w9, [x9]
    cmp w9, #63
    b.ls L9
    ldr w9, [x0, #56]
    ldr x10, [x0, #32]
    dsb st
    and w9, w9, w1, lsl #4
    add x9, x10, w9, uxtw #2
    ldr x10, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x9, [x0]
    b L8
L2:
    mov w15, w18
    b L5
L3:
    mov w15, w17
    b L5
L4:
    mov w15, w6
L5:
    mov w10, w15
    mov w9, #1
    mov w11, #2147483647
    mov w12, #262144
L6:
    orr x10, x12, x10, lsl #32
    orr x9, x10, x9
    stp x9, x11, [x8]
    ldp x20, x19, [sp, #272]
    ldp x22, x21, [sp, #256]
    ldp x28, x23, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #288
    ret
L7:
    dsb st
    ldr x9, [x0]
    str x2, [x9]
    dsb st
L8:
    ldr x10, [x0, #8]
    eor x9, x10, x9
    str x9, [x0]
    b L10
L9:
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov x8, x19
L10:
    mov w9, #25
    strb w9, [x8]
    ldp x20, x19, [sp, #272]
    ldp x22, x21, [sp, #256]
    ldp x28, x23, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #288
    ret
L11:
    lsr x8, x12, #32
    movi v0.2d, #0000000000000000
    mov x21, x0
    str x0, [sp, #24]
    ldr x23, [x10]
    add x0, sp, #24
    stp w12, w8, [sp, #64]
    mov w8, #1073741824
    stp w8, w9, [sp, #80]
    mov w8, #671088640
    stp x8, x5, [sp, #136]
    mov w8, #1
    stp xzr, x8, [sp, #152]
    stp xzr, x8, [sp, #168]
    mov w8, #18
    strb w8, [sp, #192]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stur q0, [sp, #88]
    stur q0, [sp, #104]
    stur q0, [sp, #120]
    ldr q0, [x8]
    mov x8, sp
    str w20, [sp, #32]
    str x11, [sp, #72]
    str xzr, [sp, #184]
    str xzr, [sp, #208]
    str wzr, [sp, #216]
    str xzr, [sp, #56]
    stur q0, [sp, #40]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>
    ldp x2, x3, [sp, #8]
    ldr w8, [sp]
    tbz w8, #0, L12
    and x10, x2, #0xff
    mov x8, x19
    cmp x10, #25
    b.ne L13
    mov w10, #1
    mov w3, #12
    mov x2, x23
    mov x0, x21
    b L1
L12:
    and w8, w3, #0xff
    mov w10, wzr
    mov x0, x21
    add w8, w8, #3
    add w8, w22, w8, lsr #2
    and w20, w8, #0xffff
    mov x8, x19
    b L1
L13:
    and x9, x2, #0xffff000000000000
    mov x11, x2
L14:
    and x12, x11, #0xffff00000000
    and x13, x2, #0xffff0000
    and x11, x11, #0xff00
    orr x12, x13, x12
    orr x9, x12, x9
    orr x9, x9, x10
    orr x9, x9, x11
    stp x9, x3, [x8]
    ldp x20, x19, [sp, #272]
    ldp x22, x21, [sp, #256]
    ldp x28, x23, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #288
    ret
L15:
    ldr w10, [x0, #72]
    tst w10, #0xffff
    b.eq L17
    ldr w8, [x0, #56]
    lsr w8, w8, #4
    add w8, w8, #1
    and w11, w8, #0xffff
    cmp w11, #3
    b.hs L18
    mov w9, #19
    b L19
L16:
    ldr w8, [x0, #72]
    mov w10, #21
    mov x9, xzr
    mov x11, xzr
    mov w2, #65536
    cmp w8, #0
    mov w8, #18
    csel x10, x10, x8, eq
    mov x8, x19
    b L14
L17:
    mov w9, #21
    b L19
L18:
    and w8, w10, #0xffff
    mov w11, #18
    mov w12, #20
    cmp w8, #3
    csel w8, w10, w9, lo
    csel x9, x12, x11, lo
L19:
    and x10, x8, #0xffff
    mov w11, #3
    mov w12, #196608
    mov x8, x19
    b L6

hot_batch_rebind:
    sub sp, sp, #480
    stp x29, x30, [sp, #416]
    str x28, [sp, #432]
    stp x22, x21, [sp, #448]
    stp x20, x19, [sp, #464]
    add x29, sp, #416
    ldp w9, w10, [x0, #64]
    mov x19, x8
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L10
    ldp w8, w10, [x1]
    mov w13, #-112
    mov w14, #-80
    ldrb w11, [x0, #60]
    rev w12, w9
    movi v1.2d, #0000000000000000
    movi v2.2d, #0000000000000000
    cmp w8, #0
    rev w8, w10
    lsr w12, w12, #8
    csel w13, w14, w13, ne
    lsl x10, x8, #32
    movi v3.2d, #0000000000000000
    fmov s0, w13
    ldp x14, x8, [x0, #40]
    orr x11, x10, x11, lsl #27
    ldr w13, [x0, #56]
    add w22, w9, #2
    and w20, w22, #0xffff
    mov v0.b[1], wzr
    orr x12, x8, x12
    mov v1.d[1], x11
    mov v2.d[0], x12
    lsl w8, w9, #4
    adrp x11, .LCPI_1
    adrp x12, .LCPI_0
    ldr q4, [x11, :lo12:.LCPI_1]
    and x11, x13, x8
    mov v0.b[2], wzr
    str q4, [x14, x11]
    orr v1.16b, v2.16b, v1.16b
    ldr q2, [x12, :lo12:.LCPI_0]
    adrp x12, .LCPI_2
    ldr x15, [x0, #32]
    mov v0.b[3], wzr
    orr v5.16b, v1.16b, v2.16b
    ldr q1, [x12, :lo12:.LCPI_2]
    add w12, w8, #16
    add x11, x15, x11, lsl #2
    mov w15, #-256
    and w12, w12, w13
    ldr w13, [x1, #8]
    movi v2.2s, #32, lsl #16
    and w12, w12, #0xffff0
    stp q5, q1, [x11]
    mov v0.b[4], wzr
    lsl w13, w13, #8
    stp q3, q3, [x11, #32]
    mov w11, #4
    add x14, x14, x12
    stp xzr, xzr, [x14]
    adrp x14, .LCPI_3
    ldr q1, [x14, :lo12:.LCPI_3]
    mov x14, #66108136620032
    mov v0.b[5], w11
    csel w11, w13, w15, ne
    ldr x13, [x0, #32]
    bfxil w11, w2, #0, #8
    movk x14, #16736, lsl #48
    add x12, x13, w12, uxtw #2
    mov x13, #66108136620032
    rev w11, w11
    movk x13, #16672, lsl #48
    mov v0.b[6], wzr
    dup v4.2s, w11
    stp q1, q3, [x12]
    ldr d1, [x3, #8]
    stp q3, q3, [x12, #32]
    ldr x12, [x3]
    ldr w11, [x3, #8]
    csel x14, x14, x13, ne
    rev32 v1.8b, v1.8b
    rev x12, x12
    mov v0.b[7], wzr
    mov v2.s[1], v4.s[1]
    rev x13, x11
    tbnz w11, #31, L6
    ldr w11, [x0, #68]
    sub w11, w11, w22
    and w15, w11, #0xffff
    cmp w15, #2
    b.ls L11
    mov w15, #3
    orr x10, x10, #0x8000000
    rev w16, w20
    dup v4.2d, x15
    ldp x1, x15, [x0, #40]
    movi v5.2d, #0000000000000000
    lsr w16, w16, #8
    mov v3.d[1], x10
    adrp x10, .LCPI_4
    ldr w17, [x0, #56]
    lsl w18, w20, #4
    mov v4.d[0], x4
    ldr q6, [x10, :lo12:.LCPI_4]
    orr x10, x15, x16
    fmov d7, x14
    and x15, x17, x18
    add w14, w8, #48
    mov v5.d[0], x10
    orr v3.16b, v3.16b, v6.16b
    movi v6.2d, #0000000000000000
    str q4, [x1, x15]
    movi v4.2d, #0000000000000000
    and w14, w14, w17
    ldr x10, [x0, #32]
    mov v0.d[1], v7.d[0]
    and w14, w14, #0xffff0
    add w8, w8, #64
    add w9, w9, #5
    mov w11, wzr
    orr v3.16b, v3.16b, v5.16b
    add x10, x10, x15, lsl #2
    mov v6.d[0], x4
    and w8, w8, w17
    and w20, w9, #0xffff
    mov w3, #12
    stp q4, q4, [x10, #32]
    and w8, w8, #0xffff0
    stp q3, q0, [x10]
    fmov d0, d2
    fmov d2, x12
    str q6, [x1, w14, uxtw]
    fmov x2, d3
    ldr x10, [x0, #32]
    mov v2.d[1], x13
    add x10, x10, w14, uxtw #2
    stp q4, q4, [x10, #32]
    stp q0, q2, [x10]
    fmov d0, x12
    str q6, [x1, w8, uxtw]
    ldr x10, [x0, #32]
    mov v1.d[1], v0.d[0]
    add x8, x10, w8, uxtw #2
    stp q4, q4, [x8, #32]
    stp q1, q4, [x8]
L1:
    ldr w1, [x0, #64]
    str w20, [x0, #64]
    rev w9, w20
    dmb oshst
    ldr x8, [x0, #24]
    str w9, [x8]
    cbz w11, L2
    tst x3, #0xfe
    b.eq L4
    and w8, w3, #0xff
    add w8, w8, #3
    and w8, w8, #0x1fc
    cmp w8, #4
    b.ne L4
    add x8, x0, #96
    add x9, x0, #100
    tst x3, #0x100
    csel x8, x9, x8, eq
    ldr w8, [x8]
    cmp w8, #63
    b.ls L4
    ldr w8, [x0, #56]
    ldr x9, [x0, #32]
    dsb st
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldr x9, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x0]
    b L3
L2:
    dsb st
    ldr x8, [x0]
    str x2, [x8]
    dsb st
L3:
    ldr x9, [x0, #8]
    eor x8, x9, x8
    str x8, [x0]
    b L5
L4:
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
L5:
    mov w8, #25
    strb w8, [x19]
    ldp x20, x19, [sp, #464]
    ldr x28, [sp, #432]
    ldp x22, x21, [sp, #448]
    ldp x29, x30, [sp, #416]
    add sp, sp, #480
    ret
L6:
    fmov d4, x14
    orr x8, x10, #0x8000000
    add x9, sp, #40
    stp x8, x4, [sp, #88]
    add x8, sp, #40
    add x9, x9, #200
    stur q3, [x8, #104]
    mov x21, x0
    stp d0, d4, [sp, #112]
    movi v0.2d, #0000000000000000
    stur q3, [x8, #152]
    stur q3, [x8, #168]
    stur q3, [x8, #248]
    stp d2, d0, [sp, #160]
    fmov d2, x12
    fmov d0, x13
    stur q3, [x8, #232]
    stur q3, [x8, #216]
    stur q3, [x8, #200]
    mov w8, #1
    stp x8, xzr, [sp, #352]
    stp x8, xzr, [sp, #368]
    strb w8, [sp, #384]
    mov w8, #2147483647
    str w8, [sp, #392]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stp d2, d0, [sp, #176]
    ldr q0, [x8]
    add x8, sp, #16
    str x0, [sp, #40]
    add x0, sp, #40
    stp q3, q3, [x9, #80]
    str q3, [x9, #64]
    mov w9, #65536
    str q5, [sp]
    str w20, [sp, #48]
    str xzr, [sp, #104]
    stur q3, [sp, #128]
    stp d1, d2, [sp, #224]
    str w11, [sp, #388]
    str xzr, [sp, #400]
    str wzr, [sp, #408]
    stp x9, xzr, [sp, #72]
    stur q0, [sp, #56]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::put_request<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::table::BindWindow, blueflame::wqe::data::Named>::{closure#0}>::{closure#1}>::{closure#2}>
    ldp x2, x3, [sp, #24]
    ldr w8, [sp, #16]
    tbz w8, #0, L7
    and x8, x2, #0xff
    cmp x8, #25
    b.ne L8
    ldr q0, [sp]
    mov w11, #1
    mov w3, #8
    mov x0, x21
    fmov x2, d0
    b L1
L7:
    and w8, w3, #0xff
    mov w11, wzr
    mov x0, x21
    add w8, w8, #3
    add w8, w22, w8, lsr #2
    and w20, w8, #0xffff
    b L1
L8:
    and x8, x2, #0xffffffffffffff00
L9:
    and x9, x2, #0xff
    orr x8, x8, x9
    stp x8, x3, [x19]
    ldp x20, x19, [sp, #464]
    ldr x28, [sp, #432]
    ldp x22, x21, [sp, #448]
    ldp x29, x30, [sp, #416]
    add sp, sp, #480
    ret
L10:
    ldrh w9, [x0, #72]
    cbz w9, L12
    ldr w8, [x0, #56]
    lsr w8, w8, #4
    add w8, w8, #1
    and w11, w8, #0xffff
    cmp w11, #2
    b.hs L14
    mov w9, #19
    b L15
L11:
    ldr w9, [x0, #72]
    tst w9, #0xffff
    b.eq L13
    ldr w8, [x0, #56]
    lsr w8, w8, #4
    add w8, w8, #1
    and w10, w8, #0xffff
    cmp w10, #3
    b.hs L16
    mov w2, #19
    b L17
L12:
    mov w9, #21
    b L15
L13:
    mov w2, #21
    b L17
L14:
    cmp w9, #1
    mov w9, #18
    mov w11, #20
    csinc w8, w10, wzr, ne
    csel w9, w11, w9, eq
L15:
    strb w9, [x19]
    mov w9, #2
    and w8, w8, #0xffff
    strh w9, [x19, #2]
    str w8, [x19, #4]
    strh w9, [x19, #8]
    ldp x20, x19, [sp, #464]
    ldr x28, [sp, #432]
    ldp x22, x21, [sp, #448]
    ldp x29, x30, [sp, #416]
    add sp, sp, #480
    ret
L16:
    and w8, w9, #0xffff
    mov w10, #18
    mov w12, #20
    cmp w8, #3
    csel w8, w9, w11, lo
    csel x2, x12, x10, lo
L17:
    and w8, w8, #0xffff
    mov w9, #196608
    mov w3, #3
    orr x8, x9, x8, lsl #32
    b L9

hot_burst:
    sub sp, sp, #48
    stp x29, x30, [sp, #16]
    str x19, [sp, #32]
    add x29, sp, #16
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L10
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w10, w10, #0xffff
    cmp x4, x10
    b.hi L11
    ldrb w10, [x0, #60]
    cmp w10, #2
    b.ne L1
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L1:
    ldr x10, [x0, #32]
    ldr w11, [x0, #56]
    cbz x4, L4
    rev x13, x1
    rev w14, w2
    mov w16, #128
    fmov d0, x13
    mov w13, #134217728
    mov x12, xzr
    dup v1.2d, x13
    ldp x13, x15, [x0, #40]
    movk w16, #2048, lsl #16
    mov w17, #1
    mov v0.s[2], w14
    add x14, x3, x4, lsl #3
    orr x15, x15, #0x8000000
    orr x15, x15, #0x300000000000000
    mov v0.s[3], wzr
L2:
    cmp x4, x12
    b.eq L9
    ldp w1, w2, [x3], #8
    rev w18, w9
    mov v2.16b, v1.16b
    lsl w5, w9, #4
    lsr w18, w18, #8
    add w9, w9, #1
    cmp x3, x14
    orr x1, x16, x1, lsl #32
    and w9, w9, #0xffff
    orr x18, x18, x15
    fmov d3, x1
    mov v2.d[0], x18
    and x18, x5, x11
    add x1, x13, x18
    add x18, x10, x18, lsl #2
    stp x12, x17, [x1]
    add x12, x12, #1
    mov v3.d[1], x2
    stp q2, q0, [x18]
    str q3, [x18, #32]
    b.ne L2
    ldr w1, [x0, #64]
    sub w12, w9, w1
    ands w12, w12, #0xffff
    b.eq L5
L3:
    mov w13, #1048560
    cmp w12, #1
    add w13, w13, w9, lsl #4
    and w11, w11, w13
    and w11, w11, #0xffff0
    ubfiz x11, x11, #2, #32
    ldr x2, [x10, x11]
    str w9, [x0, #64]
    and w9, w9, #0xffff
    dmb oshst
    rev w9, w9
    ldr x10, [x0, #24]
    str w9, [x10]
    b.ne L6
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L8
    ldr w9, [x0, #56]
    ldr x10, [x0, #32]
    dsb st
    and w9, w9, w1, lsl #4
    add x9, x10, w9, uxtw #2
    ldr x10, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x9, [x0, #8]
    eor x9, x9, x10
    b L7
L4:
    mov w1, w9
    sub w12, w9, w9
    ands w12, w12, #0xffff
    b.ne L3
L5:
    mov w9, #25
    strb w9, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L6:
    dsb st
    ldr x9, [x0]
    str x2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
L7:
    str x9, [x0]
    mov w9, #25
    strb w9, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L8:
    mov w3, #259
    mov x19, x8
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov w9, #25
    strb w9, [x19]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L9:
    mov w9, #18
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L10:
    adrp x1, .Lanon
    add x1, x1, :lo12:.Lanon
    mov x19, x8
    mov x8, sp
    add x0, x0, #76
    bl <blueflame::wqe::error::EncodeError>::uncovered
    ldp x4, x0, [sp]
    stp x4, x0, [x19]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L11:
    mov w11, #65535
    ldr w9, [x0, #72]
    cmp x4, x11
    csel x11, x4, x11, lo
    tst w9, #0xffff
    b.eq L12
    ldr w12, [x0, #56]
    lsr w12, w12, #4
    add w12, w12, #1
    and w12, w12, #0xffff
    cmp w12, w11, uxth
    b.hs L13
    lsl x9, x12, #32
    mov w10, #19
    orr x4, x10, x9
    stp x4, x11, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L12:
    mov w10, #21
    orr x4, x10, xzr
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L13:
    and x9, x9, #0xffff
    lsl x12, x11, #16
    cmp w9, w11, uxth
    b.hs L14
    orr x9, x12, x9, lsl #32
    mov w10, #20
    orr x4, x10, x9
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L14:
    orr x9, x12, x10, lsl #32
    mov w10, #18
    orr x4, x10, x9
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret

hot_burst_fill:
    sub sp, sp, #48
    stp x29, x30, [sp, #16]
    str x19, [sp, #32]
    add x29, sp, #16
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L9
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w10, w10, #0xffff
    cmp x4, x10
    b.hi L10
    ldrb w10, [x0, #60]
    cmp w10, #2
    b.ne L1
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L1:
    ldr x10, [x0, #32]
    ldr w11, [x0, #56]
    cbz x4, L4
    rev x13, x1
    rev w14, w2
    mov w16, #128
    fmov d0, x13
    ldr x13, [x0, #48]
    mov x12, xzr
    movk w16, #2048, lsl #16
    mov w17, #1
    orr x15, x13, #0x8000000
    ldr x13, [x0, #40]
    mov v0.s[2], w14
    mov w14, #134217728
    dup v1.2d, x14
    orr x14, x15, #0x300000000000000
    add x15, x3, #4
    mov v0.s[3], wzr
L2:
    ldp w1, w3, [x15, #-4]
    rev w18, w9
    mov v2.16b, v1.16b
    lsl w2, w9, #4
    lsr w18, w18, #8
    add w9, w9, #1
    add x15, x15, #8
    orr x1, x16, x1, lsl #32
    and x2, x2, x11
    and w9, w9, #0xffff
    orr x18, x18, x14
    fmov d3, x1
    mov v2.d[0], x18
    add x18, x13, x2
    add x1, x10, x2, lsl #2
    stp x12, x17, [x18]
    add x12, x12, #1
    cmp x4, x12
    mov v3.d[1], x3
    stp q2, q0, [x1]
    str q3, [x1, #32]
    b.ne L2
    ldr w1, [x0, #64]
    sub w12, w9, w1
    ands w12, w12, #0xffff
    b.eq L5
L3:
    mov w13, #1048560
    cmp w12, #1
    add w13, w13, w9, lsl #4
    and w11, w11, w13
    and w11, w11, #0xffff0
    ubfiz x11, x11, #2, #32
    ldr x2, [x10, x11]
    str w9, [x0, #64]
    and w9, w9, #0xffff
    dmb oshst
    rev w9, w9
    ldr x10, [x0, #24]
    str w9, [x10]
    b.ne L6
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L8
    ldr w9, [x0, #56]
    ldr x10, [x0, #32]
    dsb st
    and w9, w9, w1, lsl #4
    add x9, x10, w9, uxtw #2
    ldr x10, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x9, [x0, #8]
    eor x9, x9, x10
    b L7
L4:
    mov w1, w9
    sub w12, w9, w9
    ands w12, w12, #0xffff
    b.ne L3
L5:
    mov w9, #25
    strb w9, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L6:
    dsb st
    ldr x9, [x0]
    str x2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
L7:
    str x9, [x0]
    mov w9, #25
    strb w9, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L8:
    mov w3, #259
    mov x19, x8
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov w9, #25
    strb w9, [x19]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L9:
    adrp x1, .Lanon
    add x1, x1, :lo12:.Lanon
    mov x19, x8
    mov x8, sp
    add x0, x0, #76
    bl <blueflame::wqe::error::EncodeError>::uncovered
    ldp x4, x0, [sp]
    stp x4, x0, [x19]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L10:
    mov w11, #65535
    ldr w9, [x0, #72]
    cmp x4, x11
    csel x11, x4, x11, lo
    tst w9, #0xffff
    b.eq L11
    ldr w12, [x0, #56]
    lsr w12, w12, #4
    add w12, w12, #1
    and w12, w12, #0xffff
    cmp w12, w11, uxth
    b.hs L12
    lsl x9, x12, #32
    mov w10, #19
    orr x4, x10, x9
    stp x4, x11, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L11:
    mov w10, #21
    orr x4, x10, xzr
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L12:
    and x9, x9, #0xffff
    lsl x12, x11, #16
    cmp w9, w11, uxth
    b.hs L13
    orr x9, x12, x9, lsl #32
    mov w10, #20
    orr x4, x10, x9
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret
L13:
    orr x9, x12, x10, lsl #32
    mov w10, #18
    orr x4, x10, x9
    stp x4, x0, [x8]
    ldp x29, x30, [sp, #16]
    ldr x19, [sp, #32]
    add sp, sp, #48
    ret

hot_burst_frames:
    sub sp, sp, #208
    stp x29, x30, [sp, #112]
    stp x28, x27, [sp, #128]
    stp x26, x25, [sp, #144]
    stp x24, x23, [sp, #160]
    stp x22, x21, [sp, #176]
    stp x20, x19, [sp, #192]
    add x29, sp, #112
    ldr w9, [x0, #80]
    mov x19, x8
    cbz w9, L12
    ldp w20, w8, [x0, #64]
    mov x22, x2
    sub w8, w8, w20
    and w8, w8, #0xffff
    cmp x2, x8
    b.hi L13
    ldrb w8, [x0, #60]
    cmp w8, #2
    b.ne L2
L1:
    stp x22, x0, [x19]
    b L11
L2:
    mov w10, #134217728
    ldp x23, x26, [x0, #32]
    ldr x8, [x0, #48]
    mov x11, #167772160
    dup v3.2d, x10
    adrp x10, .LCPI_0
    ldr w24, [x0, #56]
    sub x9, x29, #16
    movk x11, #768, lsl #48
    ldr q4, [x10, :lo12:.LCPI_0]
    str x19, [sp, #56]
    mov x25, xzr
    orr x21, x9, #0x1
    orr x19, x8, x11
    add x28, x1, #12
    mov w11, #1
    mov w27, w20
    str x0, [sp, #8]
L3:
    cmp x22, x25
    b.eq L6
    ldur w0, [x28, #-4]
    cmp w0, #1
    b.lt L4
    rev w9, w0
    ldr w8, [x28]
    rev w10, w27
    fmov s0, w9
    ldur x9, [x28, #-12]
    lsr w10, w10, #8
    rev w8, w8
    mov v1.16b, v3.16b
    rev x9, x9
    orr x10, x10, x19
    mov v0.s[1], w8
    fmov d2, x9
    lsl w8, w27, #4
    mov v1.d[0], x10
    and x8, x8, x24
    add x9, x26, x8
    add x8, x23, x8, lsl #2
    mov v0.d[1], v2.d[0]
    stp x25, x11, [x9]
    add w9, w27, #1
    stp q1, q4, [x8]
    and w27, w9, #0xffff
    str q0, [x8, #32]
    mov w8, #25
    cmp w8, #25
    add x28, x28, #16
    add x25, x25, #1
    b.eq L3
    b L5
L4:
    sub x8, x29, #16
    stp q4, q3, [sp, #16]
    bl <blueflame::wqe::error::EncodeError>::odd_entry
    ldp q4, q3, [sp, #16]
    mov w11, #1
    ldr x9, [x21]
    ldur x10, [x21, #7]
    ldurb w8, [x29, #-16]
    stur x9, [x29, #-48]
    stur x10, [x29, #-41]
    cmp w8, #25
    add x28, x28, #16
    add x25, x25, #1
    b.eq L3
L5:
    ldur x9, [x29, #-48]
    ldur x10, [x29, #-41]
    stur x9, [x29, #-32]
    stur x10, [x29, #-25]
    ldr x10, [sp, #56]
    ldur x9, [x29, #-32]
    strb w8, [x10]
    ldur x8, [x29, #-25]
    stur x9, [x10, #1]
    str x8, [x10, #8]
    b L11
L6:
    sub w8, w27, w20
    ldr x19, [sp, #56]
    ands w8, w8, #0xffff
    b.eq L10
    mov w9, #1048560
    ldr x0, [sp, #8]
    and w10, w27, #0xffff
    add w9, w9, w27, lsl #4
    rev w10, w10
    cmp w8, #1
    and w9, w24, w9
    and w9, w9, #0xffff0
    ubfiz x9, x9, #2, #32
    ldr x2, [x23, x9]
    str w27, [x0, #64]
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    b.ne L7
    ldr w8, [x0, #100]
    cmp w8, #63
    b.ls L9
    and w8, w24, w20, lsl #4
    dsb st
    ldr x9, [x0]
    add x8, x23, w8, uxtw #2
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x0, #8]
    eor x8, x8, x9
    b L8
L7:
    dsb st
    ldr x8, [x0]
    str x2, [x8]
    dsb st
    ldr x9, [x0, #8]
    eor x8, x9, x8
L8:
    str x8, [x0]
    b L10
L9:
    mov w1, w20
    mov w3, #3
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
L10:
    mov w8, #25
    strb w8, [x19]
L11:
    ldp x20, x19, [sp, #192]
    ldp x22, x21, [sp, #176]
    ldp x24, x23, [sp, #160]
    ldp x26, x25, [sp, #144]
    ldp x28, x27, [sp, #128]
    ldp x29, x30, [sp, #112]
    add sp, sp, #208
    ret
L12:
    adrp x1, .Lanon
    add x1, x1, :lo12:.Lanon
    sub x8, x29, #16
    add x0, x0, #76
    bl <blueflame::wqe::error::EncodeError>::uncovered
    ldp x22, x0, [x29, #-16]
    b L1
L13:
    mov w10, #65535
    ldr w9, [x0, #72]
    cmp x22, x10
    csel x10, x22, x10, lo
    tst w9, #0xffff
    b.eq L14
    ldr w11, [x0, #56]
    lsr w11, w11, #4
    add w11, w11, #1
    and w11, w11, #0xffff
    cmp w11, w10, uxth
    b.hs L15
    lsl x8, x11, #32
    mov w9, #19
    mov x0, x10
    orr x22, x9, x8
    b L1
L14:
    mov w9, #21
    orr x22, x9, xzr
    b L1
L15:
    and x9, x9, #0xffff
    lsl x11, x10, #16
    cmp w9, w10, uxth
    b.hs L16
    orr x8, x11, x9, lsl #32
    mov w9, #20
    orr x22, x9, x8
    b L1
L16:
    orr x8, x11, x8, lsl #32
    mov w9, #18
    orr x22, x9, x8
    b L1

hot_poll:
    sub sp, sp, #80
    stp x29, x30, [sp, #64]
    add x29, sp, #64
    ldr x13, [x0]
    ldr w8, [x13, #60]
    ldr w12, [x0, #40]
    rev w8, w8
    eor w8, w8, w12
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L3
    dmb oshld
    ldp x16, x15, [x0, #24]
    ldr q0, [x13]
    ldr q0, [x13, #16]
    ldr q0, [x13, #32]
    ldr x11, [x13, #48]
    ldr x10, [x13, #56]
    ldr w14, [x0, #8]
    cmp x13, x16
    add w14, w14, #1
    str w14, [x0, #8]
    b.eq L6
    add x13, x13, x15
L1:
    and w12, w8, #0xff
    ldr x15, [x0, #48]
    str x13, [x0]
    rev w13, w14
    cmp w12, #3
    str w13, [x15]
    b.hi L4
L2:
    mov w11, v0.s[3]
    and w10, w10, #0xffffff00
    ldr x12, [x1]
    rev w10, w10
    add x10, x10, x12
    rev w11, w11
    add x8, x11, x8, lsr #16
    add x8, x8, x10
    str x8, [x1]
L3:
    cmp w9, #120
    cset w0, lo
    ldp x29, x30, [sp, #64]
    add sp, sp, #80
    ret
L4:
    ubfx w12, w8, #4, #4
    mov w13, #207
    orr w12, w12, w8, lsl #4
    and w12, w12, w13
    cmp w12, #5
    b.hs L7
L5:
    ldr w8, [x1, #8]
    add w8, w8, #1
    str w8, [x1, #8]
    cmp w9, #120
    cset w0, lo
    ldp x29, x30, [sp, #64]
    add sp, sp, #80
    ret
L6:
    ldr x13, [x0, #16]
    and w14, w14, #0xffffff
    eor w12, w12, #0x1
    str w14, [x0, #8]
    str w12, [x0, #40]
    b L1
L7:
    rev x2, x11
    rev w3, w10
    sub x0, x29, #16
    stur x1, [x29, #-24]
    mov x1, x8
    stp x8, x10, [sp, #24]
    str w9, [sp, #20]
    str q0, [sp]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x8, x10, [sp, #24]
    ldurb w11, [x29, #-16]
    ldr q0, [sp]
    ldr w9, [sp, #20]
    ldur x1, [x29, #-24]
    cmp w11, #8
    b.ne L5
    ldurb w11, [x29, #-15]
    cbz w11, L2
    b L5

hot_poll_and_complete:
    sub sp, sp, #192
    stp x29, x30, [sp, #96]
    stp x28, x27, [sp, #112]
    stp x26, x25, [sp, #128]
    stp x24, x23, [sp, #144]
    stp x22, x21, [sp, #160]
    stp x20, x19, [sp, #176]
    add x29, sp, #96
    ldr x21, [x0]
    ldr w8, [x21, #60]
    ldr w20, [x0, #40]
    rev w8, w8
    eor w8, w8, w20
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L10
    ldp x25, x14, [x0, #24]
    mov w9, #1
    ldp w28, w16, [x1, #68]
    ldr w22, [x0, #8]
    ldr x23, [x2]
    mov w4, #207
    ldr x13, [x0, #64]
    ldr x15, [x1, #16]
    ldr w17, [x1, #56]
    ldr x18, [x1, #40]
    ldr x3, [x0, #16]
    ldr x26, [x0, #48]
    ldr w27, [x1, #64]
L1:
    dmb oshld
    and w10, w8, #0xff
    mov x19, x9
    cmp w10, #4
    mov w8, w8
    b.hs L6
L2:
    ldr w9, [x21, #56]
    orr x9, x13, x9
    eor x9, x9, x15
    cmp x9, #256
    b.hs L8
    lsr x10, x8, #16
    sub w11, w28, w16
    sub w9, w10, w11
    sub w11, w27, w11
    and w12, w9, #0xffff
    cmp w12, w11, uxth
    b.hs L4
    and w10, w17, w10, lsl #4
    add x10, x18, x10
    ldr x11, [x10, #8]
    cbz x11, L4
    add w9, w9, w28
    and w12, w8, #0xff
    ldr x24, [x10]
    add w9, w9, w11
    cmp w12, #4
    and w28, w9, #0xffff
    str w28, [x1, #68]
    b.lo L3
    ubfx w9, w8, #4, #4
    orr w9, w9, w8, lsl #4
    and w9, w9, w4
    cmp w9, #5
    b.hs L9
L3:
    add x23, x23, x24
    str x23, [x2]
L4:
    cmp x21, x25
    add w22, w22, #1
    b.eq L7
    add x21, x21, x14
    rev w8, w22
    cmp x19, #16
    str w8, [x26]
    b.eq L11
L5:
    ldr w8, [x21, #60]
    rev w8, w8
    eor w8, w8, w20
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L11
L6:
    ubfx w9, w8, #4, #4
    cmp w9, #13
    b.eq L2
    cbnz w9, L4
    ubfx w9, w8, #2, #2
    sub w9, w9, #1
    cmp w9, #1
    b.ls L2
    b L4
L7:
    eor w20, w20, #0x1
    and w22, w22, #0xffffff
    mov x21, x3
    str w20, [x0, #40]
    rev w8, w22
    cmp x19, #16
    str w8, [x26]
    b.ne L5
    b L11
L8:
    ldr wzr, [x21, #56]
    b L4
L9:
    ldr x9, [x21, #48]
    ldr w10, [x21, #56]
    str x3, [sp, #8]
    stp x1, x0, [x29, #-32]
    sub x0, x29, #16
    mov x1, x8
    rev x9, x9
    rev w3, w10
    stur x2, [x29, #-40]
    mov w2, w9
    stp x14, x13, [sp, #40]
    str x15, [sp, #32]
    stp w17, w16, [sp, #24]
    str x18, [sp, #16]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x3, x18, [sp, #8]
    mov w4, #207
    ldp w17, w16, [sp, #24]
    ldp x15, x14, [sp, #32]
    ldurb w8, [x29, #-16]
    ldp x2, x1, [x29, #-40]
    ldr x13, [sp, #48]
    cmp w8, #8
    ldur x0, [x29, #-24]
    b.eq L3
    b L4
L10:
    mov x19, xzr
    b L12
L11:
    str x21, [x0]
    str w22, [x0, #8]
L12:
    mov x0, x19
    ldp x20, x19, [sp, #176]
    ldp x22, x21, [sp, #160]
    ldp x24, x23, [sp, #144]
    ldp x26, x25, [sp, #128]
    ldp x28, x27, [sp, #112]
    ldp x29, x30, [sp, #96]
    add sp, sp, #192
    ret

hot_poll_and_complete_receives:
    sub sp, sp, #160
    stp x29, x30, [sp, #64]
    stp x28, x27, [sp, #80]
    stp x26, x25, [sp, #96]
    stp x24, x23, [sp, #112]
    stp x22, x21, [sp, #128]
    stp x20, x19, [sp, #144]
    add x29, sp, #64
    ldr x23, [x0]
    ldr w8, [x23, #60]
    ldr w22, [x0, #40]
    rev w8, w8
    eor w8, w8, w22
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L14
    ldp x28, x13, [x0, #24]
    mov w9, #1
    ldr w24, [x0, #8]
    ldr x25, [x2]
    ldr x12, [x0, #64]
    ldr x14, [x0, #16]
    ldr x21, [x0, #48]
L1:
    lsl w10, w8, #4
    dmb oshld
    and w11, w8, #0xff
    cmp w11, #4
    mov x19, x9
    mov w20, w8
    and w26, w10, #0xffffffc0
    bfxil w26, w8, #4, #4
    b.lo L10
    and w8, w26, #0xff
    cmp w8, #5
    b.hs L10
L2:
    ldp x9, x8, [x1, #24]
    mov x10, #-4294967296
    cmp x8, x10
    b.ne L4
    and x8, x9, #0xffffffff00000000
    cmp x12, x8
    b.eq L5
L3:
    ldr wzr, [x23, #56]
    b L8
L4:
    ldr w10, [x23, #56]
    orr x10, x12, x10
    eor x9, x10, x9
    tst x9, x8
    b.ne L3
L5:
    ldp w9, w8, [x1, #60]
    cmp w8, w9
    b.eq L11
    and w9, w8, #0xffff
    ldr w10, [x1, #68]
    eor w9, w9, w20, lsr #16
    orr w9, w9, w10
    cbnz w9, L11
    ldr w9, [x1, #40]
    ldr x10, [x1, #16]
    and w9, w9, w8
    add w8, w8, #1
    ldr x27, [x10, w9, uxtw #3]
    str w8, [x1, #64]
    and w8, w20, #0xff
    cmp w8, #4
    b.lo L7
L6:
    and w8, w26, #0xff
    cmp w8, #5
    b.hs L13
L7:
    ldr w8, [x23, #44]
    ldr wzr, [x23, #36]
    ldr wzr, [x23, #24]
    rev w8, w8
    add x8, x8, x25
    add x25, x27, x8
    str x25, [x2]
L8:
    cmp x23, x28
    add w24, w24, #1
    b.eq L12
    add x23, x23, x13
    rev w8, w24
    cmp x19, #16
    str w8, [x21]
    b.eq L15
L9:
    ldr w8, [x23, #60]
    rev w8, w8
    eor w8, w8, w22
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L15
L10:
    ubfx w8, w20, #4, #4
    cmp w8, #14
    b.eq L2
    sub w8, w8, #1
    cmp w8, #3
    b.hi L8
    ubfx w8, w20, #2, #2
    sub w8, w8, #1
    cmp w8, #1
    b.ls L2
    b L8
L11:
    lsr w8, w20, #16
    stp x0, x1, [sp, #24]
    sub x0, x29, #24
    stp x14, x2, [sp, #8]
    mov x27, x12
    mov w2, w8
    str x13, [sp]
    bl <blueflame::queue::recv::queue::RecvQueue>::retire_any
    ldp x13, x14, [sp]
    mov x12, x27
    ldp x0, x1, [sp, #24]
    ldurb w8, [x29, #-24]
    ldr x2, [sp, #16]
    cmp w8, #11
    b.ne L8
    ldur x27, [x29, #-16]
    and w8, w20, #0xff
    cmp w8, #4
    b.hs L6
    b L7
L12:
    eor w22, w22, #0x1
    and w24, w24, #0xffffff
    mov x23, x14
    str w22, [x0, #40]
    rev w8, w24
    cmp x19, #16
    str w8, [x21]
    b.ne L9
    b L15
L13:
    ldr x8, [x23, #48]
    ldr w9, [x23, #56]
    mov x26, x12
    stp x0, x1, [sp, #24]
    sub x0, x29, #24
    mov x1, x20
    rev x8, x8
    rev w3, w9
    stp x14, x2, [sp, #8]
    mov w2, w8
    mov x20, x13
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x14, x2, [sp, #8]
    mov x13, x20
    ldp x0, x1, [sp, #24]
    mov x12, x26
    ldurb w8, [x29, #-24]
    cmp w8, #8
    b.eq L7
    b L8
L14:
    mov x19, xzr
    b L16
L15:
    str x23, [x0]
    str w24, [x0, #8]
L16:
    mov x0, x19
    ldp x20, x19, [sp, #144]
    ldp x22, x21, [sp, #128]
    ldp x24, x23, [sp, #112]
    ldp x26, x25, [sp, #96]
    ldp x28, x27, [sp, #80]
    ldp x29, x30, [sp, #64]
    add sp, sp, #160
    ret

hot_poll_and_retire:
    sub sp, sp, #192
    stp x29, x30, [sp, #96]
    stp x28, x27, [sp, #112]
    stp x26, x25, [sp, #128]
    stp x24, x23, [sp, #144]
    stp x22, x21, [sp, #160]
    stp x20, x19, [sp, #176]
    add x29, sp, #96
    ldr x21, [x0]
    ldr w8, [x21, #60]
    ldr w20, [x0, #40]
    rev w8, w8
    eor w8, w8, w20
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L10
    ldp x25, x14, [x0, #24]
    mov w9, #1
    ldp w28, w16, [x1, #68]
    ldr w22, [x0, #8]
    ldr x23, [x2]
    mov w4, #207
    ldr x13, [x0, #64]
    ldr x15, [x1, #16]
    ldr w17, [x1, #56]
    ldr x18, [x1, #40]
    ldr x3, [x0, #16]
    ldr x26, [x0, #48]
    ldr w27, [x1, #64]
L1:
    dmb oshld
    and w10, w8, #0xff
    mov x19, x9
    cmp w10, #4
    mov w8, w8
    b.hs L6
L2:
    ldr w9, [x21, #56]
    orr x9, x13, x9
    eor x9, x9, x15
    cmp x9, #256
    b.hs L8
    lsr x10, x8, #16
    sub w11, w28, w16
    sub w9, w10, w11
    sub w11, w27, w11
    and w12, w9, #0xffff
    cmp w12, w11, uxth
    b.hs L4
    and w10, w17, w10, lsl #4
    add x10, x18, x10
    ldr x11, [x10, #8]
    cbz x11, L4
    add w9, w9, w28
    and w12, w8, #0xff
    ldr x24, [x10]
    add w9, w9, w11
    cmp w12, #4
    and w28, w9, #0xffff
    str w28, [x1, #68]
    b.lo L3
    ubfx w9, w8, #4, #4
    orr w9, w9, w8, lsl #4
    and w9, w9, w4
    cmp w9, #5
    b.hs L9
L3:
    add x23, x23, x24
    str x23, [x2]
L4:
    cmp x21, x25
    add w22, w22, #1
    b.eq L7
    add x21, x21, x14
    rev w8, w22
    cmp x19, #16
    str w8, [x26]
    b.eq L11
L5:
    ldr w8, [x21, #60]
    rev w8, w8
    eor w8, w8, w20
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L11
L6:
    ubfx w9, w8, #4, #4
    cmp w9, #13
    b.eq L2
    cbnz w9, L4
    ubfx w9, w8, #2, #2
    sub w9, w9, #1
    cmp w9, #1
    b.ls L2
    b L4
L7:
    eor w20, w20, #0x1
    and w22, w22, #0xffffff
    mov x21, x3
    str w20, [x0, #40]
    rev w8, w22
    cmp x19, #16
    str w8, [x26]
    b.ne L5
    b L11
L8:
    ldr wzr, [x21, #56]
    b L4
L9:
    ldr x9, [x21, #48]
    ldr w10, [x21, #56]
    str x3, [sp, #8]
    stp x1, x0, [x29, #-32]
    sub x0, x29, #16
    mov x1, x8
    rev x9, x9
    rev w3, w10
    stur x2, [x29, #-40]
    mov w2, w9
    stp x14, x13, [sp, #40]
    str x15, [sp, #32]
    stp w17, w16, [sp, #24]
    str x18, [sp, #16]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x3, x18, [sp, #8]
    mov w4, #207
    ldp w17, w16, [sp, #24]
    ldp x15, x14, [sp, #32]
    ldurb w8, [x29, #-16]
    ldp x2, x1, [x29, #-40]
    ldr x13, [sp, #48]
    cmp w8, #8
    ldur x0, [x29, #-24]
    b.eq L3
    b L4
L10:
    mov x19, xzr
    b L12
L11:
    str x21, [x0]
    str w22, [x0, #8]
L12:
    mov x0, x19
    ldp x20, x19, [sp, #176]
    ldp x22, x21, [sp, #160]
    ldp x24, x23, [sp, #144]
    ldp x26, x25, [sp, #128]
    ldp x28, x27, [sp, #112]
    ldp x29, x30, [sp, #96]
    add sp, sp, #192
    ret

hot_poll_collapsed:
    ldr x11, [x0]
    ldr w9, [x11, #60]
    ldr w10, [x0, #16]
    cmp w9, w10
    b.eq L3
    and w12, w9, #0xfeffffff
    mov x8, x1
    str w9, [x0, #16]
    rev w1, w12
    dmb oshld
    and w12, w1, #0xfe
    ubfx w14, w1, #4, #4
    ldr x13, [x0, #8]
    ldr q0, [x11]
    ldr q0, [x11, #16]
    ldr q0, [x11, #32]
    cmp w12, #4
    ldr x12, [x11, #48]
    ldr x11, [x11, #56]
    ccmp w14, #13, #4, hs
    b.ne L4
L1:
    ldr x14, [x8, #16]
    and x15, x11, #0xffffff00
    orr x13, x15, x13
    eor x13, x14, x13
    cmp x13, #255
    b.hi L3
    ldp w13, w14, [x8, #68]
    lsr w15, w1, #16
    ldr w16, [x8, #64]
    sub w17, w13, w14
    sub w14, w15, w17
    sub w16, w16, w17
    and w18, w14, #0xffff
    cmp w18, w16, uxth
    b.hs L3
    ldr w16, [x8, #56]
    and w15, w16, w15, lsl #4
    ldr x16, [x8, #40]
    add x15, x16, x15
    ldr x16, [x15, #8]
    cbz x16, L3
    add w13, w14, w13
    and w14, w1, #0xff
    add w16, w13, w16
    ldr x13, [x15]
    cmp w14, #4
    and w15, w16, #0xffff
    str w15, [x8, #68]
    b.lo L2
    ubfx w8, w1, #4, #4
    mov w14, #207
    orr w8, w8, w1, lsl #4
    and w8, w8, w14
    cmp w8, #5
    b.hs L5
L2:
    ldr x8, [x2]
    add x8, x8, x13
    str x8, [x2]
L3:
    cmp w9, w10
    cset w0, ne
    ret
L4:
    cbnz w14, L3
    ubfx w14, w1, #2, #2
    sub w14, w14, #1
    cmp w14, #1
    b.ls L1
    b L3
L5:
    sub sp, sp, #64
    stp x29, x30, [sp, #48]
    add x29, sp, #48
    rev x8, x12
    rev w3, w11
    sub x0, x29, #16
    stp x13, x2, [sp, #16]
    mov w2, w8
    stp w10, w9, [sp, #8]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x13, x2, [sp, #16]
    ldurb w8, [x29, #-16]
    ldp w10, w9, [sp, #8]
    cmp w8, #8
    ldp x29, x30, [sp, #48]
    add sp, sp, #64
    b.eq L2
    b L3

hot_poll_compressed:
    stp x29, x30, [sp, #-96]!
    stp x28, x27, [sp, #16]
    stp x26, x25, [sp, #32]
    stp x24, x23, [sp, #48]
    stp x22, x21, [sp, #64]
    stp x20, x19, [sp, #80]
    mov x29, sp
    sub x9, sp, #160
    and sp, x9, #0xffffffffffffffc0
    mov x8, x0
    ldr x20, [x1]
    ldr w15, [x1, #8]
    mov x0, xzr
    add x21, x8, #64
    mov w23, #12
    mov w24, #-14
    mov w25, #1
    mov w26, #44
    mov w27, #207
    b L3
L1:
    ldr x9, [x8, #240]
    rev w10, w22
    str w10, [x9]
L2:
    add x0, x0, #1
    cmp x0, #16
    b.eq L27
L3:
    ldp w9, w10, [x8, #128]
    ldr x28, [x8, #224]
    cmp w9, w10
    b.ne L4
    ldr w9, [x28, #60]
    ldr w10, [x8, #216]
    rev w9, w9
    eor w19, w9, w10
    ubfx w9, w19, #1, #7
    orr w9, w9, w19, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L27
    dmb oshld
    bics wzr, w23, w19
    b.ne L13
    str wzr, [x8, #128]
    ldr x11, [x8, #208]
    lsr w9, w19, #16
    ldr q0, [x28]
    ldr q1, [x28, #16]
    and w14, w19, #0xff
    ldr q2, [x28, #32]
    ldr x10, [x28, #48]
    cmp w14, #79
    ldr x12, [x28, #56]
    stp q0, q1, [x8]
    mov w13, v2.s[3]
    str q2, [x8, #32]
    stp x10, x12, [x8, #48]
    and w10, w19, w24
    strh w9, [x8, #140]
    strb w10, [x8, #142]
    rev w12, w13
    str w12, [x8, #132]
    b.hi L18
    cmp w12, #2
    b.lo L18
    ldr w13, [x8, #220]
    cmp w12, w13
    cset w12, ls
    strb w12, [x8, #144]
    b.hi L19
    ldp x13, x12, [x8, #192]
    add x11, x28, x11
    cmp x28, x12
    csel x11, x13, x11, eq
    and w13, w19, #0xff
    ldr q0, [x11]
    ldr q1, [x11, #16]
    ldr q2, [x11, #32]
    ldr x12, [x11, #48]
    ldr x11, [x11, #56]
    cmp w13, #15
    stp q0, q1, [x8, #64]
    ldr w14, [x8, #64]
    stp x12, x11, [x8, #112]
    str q2, [x8, #96]
    rev w11, w14
    str w25, [x8, #128]
    b.hi L21
    lsr w12, w11, #8
    lsr w9, w11, #16
    strb w12, [x8, #56]
    b L22
L4:
    add w10, w9, #1
    str w10, [x8, #128]
    cbz w9, L5
    ldrb w10, [x8, #144]
    tst w9, #0x7
    b.ne L6
    tbz w10, #0, L6
    ldr q0, [x28]
    ldr q1, [x28, #16]
    ldr q2, [x28, #32]
    ldr x10, [x28, #48]
    ldr x11, [x28, #56]
    ldrb w12, [x8, #143]
    ldrb w13, [x8, #216]
    stp q0, q1, [x8, #64]
    stp x10, x11, [x8, #112]
    orr w12, w12, w13, lsl #8
    str q2, [x8, #96]
    orr w10, w12, #0xf000
    strh w10, [x28, #62]
    b L7
L5:
    ldrb w10, [x8, #144]
    ldrb w19, [x8, #142]
    cmp w10, #1
    b.ne L12
    ldp w11, w10, [x8, #64]
    cmp x19, #15
    rev w11, w11
    b.ls L8
    b L10
L6:
    ldrb w11, [x8, #143]
    ldrb w12, [x8, #216]
    orr w11, w11, w12, lsl #8
    orr w11, w11, #0xf000
    strh w11, [x28, #62]
    tbz w10, #0, L25
L7:
    ubfiz x10, x9, #3, #3
    ldrb w19, [x8, #142]
    add x10, x21, x10
    cmp w19, #16
    ldp w11, w10, [x10]
    rev w11, w11
    b.hs L9
L8:
    lsr w12, w11, #8
    str w10, [x8, #44]
    lsr w9, w11, #16
    strb w12, [x8, #56]
    b L11
L9:
    ldr w12, [x8, #16]
    and w12, w12, #0xffffff00
    stp wzr, w12, [x8, #12]
L10:
    ldrh w12, [x8, #140]
    rev w11, w11
    str w10, [x8, #44]
    strh w11, [x8, #20]
    add w9, w12, w9
L11:
    lsl w9, w9, #16
    orr x19, x9, x19
L12:
    mov x28, x8
L13:
    ldr w10, [x8, #232]
    ldr x9, [x8, #224]
    ldr x11, [x8, #200]
    add w22, w10, #1
    cmp x9, x11
    str w22, [x8, #232]
    b.eq L23
    ldr x10, [x8, #208]
    add x9, x9, x10
    and w10, w19, #0xff
    str x9, [x8, #224]
    cmp w10, #4
    b.lo L15
L14:
    ubfx w9, w19, #4, #4
    orr w9, w9, w19, lsl #4
    and w9, w9, w27
    cmp w9, #4
    b.hi L24
L15:
    ldr w9, [x28, #56]
    ldr w10, [x28, #44]
L16:
    rev w10, w10
    and w9, w9, #0xffffff00
    rev w9, w9
    add x10, x10, x19, lsr #16
    add x9, x20, x9
    add x20, x10, x9
    str x20, [x1]
    ldr w9, [x8, #128]
    cbz w9, L1
L17:
    ldr w10, [x8, #132]
    cmp w9, w10
    b.ne L2
    b L1
L18:
    cmp w12, #2
    b.lo L19
    ldr w9, [x8, #220]
    cmp w12, w9
    csinc w9, w12, wzr, ls
    b L20
L19:
    mov w9, #1
L20:
    strb wzr, [x8, #144]
    mov x28, x8
    mov w19, #44
    strb w26, [x8, #142]
    stp w25, w9, [x8, #128]
    b L13
L21:
    rev w11, w11
    strh w11, [x8, #20]
L22:
    and x10, x10, #0xff
    ldr w11, [x8, #68]
    orr x19, x10, x9, lsl #16
    str w11, [x8, #44]
    b L12
L23:
    ldr w10, [x8, #216]
    ldr x9, [x8, #192]
    and w22, w22, #0xffffff
    str w22, [x8, #232]
    eor w10, w10, #0x1
    str w10, [x8, #216]
    and w10, w19, #0xff
    str x9, [x8, #224]
    cmp w10, #4
    b.hs L14
    b L15
L24:
    str w15, [sp, #36]
    stp x0, x8, [sp, #48]
    add x0, sp, #144
    str x1, [sp, #40]
    mov x1, x19
    ldr x8, [x28, #48]
    ldr w9, [x28, #56]
    rev x2, x8
    rev w3, w9
    bl <blueflame::cq::error::completion::CqeError>::new
    ldrb w8, [sp, #144]
    ldr w9, [x28, #56]
    ldr w10, [x28, #44]
    cmp w8, #8
    b.ne L26
    ldp x1, x0, [sp, #40]
    ldr x8, [sp, #56]
    ldr w15, [sp, #36]
    b L16
L25:
    ldrb w19, [x8, #142]
    b L12
L26:
    ldr w15, [sp, #36]
    ldp x1, x0, [sp, #40]
    ldr x8, [sp, #56]
    add w15, w15, #1
    str w15, [x1, #8]
    ldr w9, [x8, #128]
    cbnz w9, L17
    b L1
L27:
    mov sp, x29
    ldp x20, x19, [sp, #80]
    ldp x22, x21, [sp, #64]
    ldp x24, x23, [sp, #48]
    ldp x26, x25, [sp, #32]
    ldp x28, x27, [sp, #16]
    ldp x29, x30, [sp], #96
    ret

hot_poll_counter:
    sub sp, sp, #64
    stp x29, x30, [sp, #48]
    add x29, sp, #48
    ldr x13, [x0]
    ldr w8, [x13, #60]
    ldr w12, [x0, #40]
    rev w8, w8
    eor w8, w8, w12
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L3
    dmb oshld
    ldp x16, x15, [x0, #24]
    ldr q0, [x13]
    ldr q0, [x13, #16]
    ldr q0, [x13, #32]
    ldr x11, [x13, #48]
    ldr x10, [x13, #56]
    ldr w14, [x0, #8]
    cmp x13, x16
    add w14, w14, #1
    str w14, [x0, #8]
    b.eq L6
    add x13, x13, x15
L1:
    and w12, w8, #0xff
    ldr x15, [x0, #48]
    str x13, [x0]
    rev w13, w14
    cmp w12, #4
    str w13, [x15]
    b.hs L4
L2:
    ldr x10, [x1]
    add x8, x10, x8, lsr #16
    str x8, [x1]
L3:
    cmp w9, #120
    cset w0, lo
    ldp x29, x30, [sp, #48]
    add sp, sp, #64
    ret
L4:
    ubfx w12, w8, #4, #4
    mov w13, #207
    orr w12, w12, w8, lsl #4
    and w12, w12, w13
    cmp w12, #5
    b.hs L7
L5:
    ldr w8, [x1, #8]
    add w8, w8, #1
    str w8, [x1, #8]
    cmp w9, #120
    cset w0, lo
    ldp x29, x30, [sp, #48]
    add sp, sp, #64
    ret
L6:
    ldr x13, [x0, #16]
    and w14, w14, #0xffffff
    eor w12, w12, #0x1
    str w14, [x0, #8]
    str w12, [x0, #40]
    b L1
L7:
    rev x2, x11
    rev w3, w10
    sub x0, x29, #16
    stp x8, x1, [sp, #16]
    mov x1, x8
    str w9, [sp, #12]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x8, x1, [sp, #16]
    ldurb w10, [x29, #-16]
    ldr w9, [sp, #12]
    cmp w10, #8
    b.ne L5
    ldurb w10, [x29, #-15]
    cbz w10, L2
    b L5

hot_poll_no_overrun:
    sub sp, sp, #144
    stp x29, x30, [sp, #48]
    stp x28, x27, [sp, #64]
    stp x26, x25, [sp, #80]
    stp x24, x23, [sp, #96]
    stp x22, x21, [sp, #112]
    stp x20, x19, [sp, #128]
    add x29, sp, #48
    ldr x22, [x0]
    ldr w8, [x22, #60]
    ldr w21, [x0, #40]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L9
    ldp x26, x25, [x0, #24]
    mov w9, #1
    ldr w23, [x0, #8]
    ldr x24, [x1]
    mov w27, #207
    ldr x11, [x0, #16]
    ldr w28, [x1, #8]
L1:
    dmb oshld
    and w10, w8, #0xff
    mov x19, x9
    cmp w10, #3
    mov w20, w8
    b.hi L3
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
L2:
    rev w9, w9
    and w8, w8, #0xffffff00
    rev w8, w8
    add x9, x9, x20, lsr #16
    add x8, x24, x8
    add x24, x9, x8
    str x24, [x1]
    b L5
L3:
    ubfx w8, w20, #4, #4
    orr w8, w8, w20, lsl #4
    and w8, w8, w27
    cmp w8, #4
    b.hi L8
    ldr wzr, [x22, #56]
    ldr wzr, [x22, #44]
L4:
    add w28, w28, #1
    str w28, [x1, #8]
L5:
    cmp x22, x26
    add w23, w23, #1
    b.eq L7
    add x22, x22, x25
    cmp x19, #16
    b.eq L10
L6:
    ldr w8, [x22, #60]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L10
L7:
    eor w21, w21, #0x1
    and w23, w23, #0xffffff
    mov x22, x11
    str w21, [x0, #40]
    cmp x19, #16
    b.ne L6
    b L10
L8:
    ldr x8, [x22, #48]
    ldr w9, [x22, #56]
    stp x1, x0, [sp, #16]
    sub x0, x29, #16
    mov x1, x20
    str x11, [sp, #8]
    rev x2, x8
    rev w3, w9
    bl <blueflame::cq::error::completion::CqeError>::new
    ldurb w11, [x29, #-16]
    ldp x1, x0, [sp, #16]
    ldurb w10, [x29, #-15]
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
    cmp w11, #8
    ldr x11, [sp, #8]
    b.ne L4
    cbz w10, L2
    b L4
L9:
    mov x19, xzr
    b L11
L10:
    str x22, [x0]
    str w23, [x0, #8]
L11:
    mov x0, x19
    ldp x20, x19, [sp, #128]
    ldp x22, x21, [sp, #112]
    ldp x24, x23, [sp, #96]
    ldp x26, x25, [sp, #80]
    ldp x28, x27, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #144
    ret

hot_poll_once_per_call:
    sub sp, sp, #144
    stp x29, x30, [sp, #48]
    stp x28, x27, [sp, #64]
    stp x26, x25, [sp, #80]
    stp x24, x23, [sp, #96]
    stp x22, x21, [sp, #112]
    stp x20, x19, [sp, #128]
    add x29, sp, #48
    ldr x22, [x0]
    ldr w8, [x22, #60]
    ldr w21, [x0, #40]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L9
    ldp x26, x25, [x0, #24]
    mov w9, #1
    ldr w23, [x0, #8]
    ldr x24, [x1]
    mov w27, #207
    ldr x11, [x0, #16]
    ldr w28, [x1, #8]
L1:
    dmb oshld
    and w10, w8, #0xff
    mov x19, x9
    cmp w10, #3
    mov w20, w8
    b.hi L3
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
L2:
    rev w9, w9
    and w8, w8, #0xffffff00
    rev w8, w8
    add x9, x9, x20, lsr #16
    add x8, x24, x8
    add x24, x9, x8
    str x24, [x1]
    b L5
L3:
    ubfx w8, w20, #4, #4
    orr w8, w8, w20, lsl #4
    and w8, w8, w27
    cmp w8, #4
    b.hi L8
    ldr wzr, [x22, #56]
    ldr wzr, [x22, #44]
L4:
    add w28, w28, #1
    str w28, [x1, #8]
L5:
    cmp x22, x26
    add w23, w23, #1
    b.eq L7
    add x22, x22, x25
    cmp x19, #16
    b.eq L10
L6:
    ldr w8, [x22, #60]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L10
L7:
    eor w21, w21, #0x1
    and w23, w23, #0xffffff
    mov x22, x11
    str w21, [x0, #40]
    cmp x19, #16
    b.ne L6
    b L10
L8:
    ldr x8, [x22, #48]
    ldr w9, [x22, #56]
    stp x1, x0, [sp, #16]
    sub x0, x29, #16
    mov x1, x20
    str x11, [sp, #8]
    rev x2, x8
    rev w3, w9
    bl <blueflame::cq::error::completion::CqeError>::new
    ldurb w11, [x29, #-16]
    ldp x1, x0, [sp, #16]
    ldurb w10, [x29, #-15]
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
    cmp w11, #8
    ldr x11, [sp, #8]
    b.ne L4
    cbz w10, L2
    b L4
L9:
    mov x19, xzr
    b L11
L10:
    ldr x8, [x0, #48]
    rev w9, w23
    str x22, [x0]
    str w23, [x0, #8]
    str w9, [x8]
L11:
    mov x0, x19
    ldp x20, x19, [sp, #128]
    ldp x22, x21, [sp, #112]
    ldp x24, x23, [sp, #96]
    ldp x26, x25, [sp, #80]
    ldp x28, x27, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #144
    ret

hot_poll_one:
    ldr x10, [x0]
    ldr w8, [x10, #60]
    ldr w9, [x0, #40]
    rev w8, w8
    eor w8, w8, w9
    ubfx w11, w8, #1, #7
    orr w11, w11, w8, lsl #7
    and w11, w11, #0xff
    cmp w11, #119
    b.hi L2
    sub sp, sp, #96
    stp x29, x30, [sp, #80]
    add x29, sp, #80
    ldr w12, [x0, #8]
    dmb oshld
    and w13, w8, #0xff
    ldr x11, [x0, #32]
    cmp w13, #3
    b.hi L3
    ldr w13, [x10, #56]
    ldr w14, [x10, #44]
L1:
    rev w14, w14
    and w13, w13, #0xffffff00
    ldr x15, [x1]
    rev w13, w13
    add x8, x14, x8, lsr #16
    add x13, x15, x13
    add x8, x8, x13
    str x8, [x1]
    b L5
L2:
    mov x0, xzr
    ret
L3:
    ubfx w13, w8, #4, #4
    mov w14, #207
    orr w13, w13, w8, lsl #4
    and w13, w13, w14
    cmp w13, #4
    b.hi L8
    ldr wzr, [x10, #56]
    ldr wzr, [x10, #44]
L4:
    ldr w8, [x1, #8]
    add w8, w8, #1
    str w8, [x1, #8]
L5:
    ldr x8, [x0, #24]
    cmp x10, x8
    add w8, w12, #1
    b.eq L7
    add x10, x10, x11
L6:
    ldr x9, [x0, #48]
    rev w11, w8
    str w11, [x9]
    str x10, [x0]
    str w8, [x0, #8]
    mov w0, #1
    ldp x29, x30, [sp, #80]
    add sp, sp, #96
    ret
L7:
    ldr x10, [x0, #16]
    eor w9, w9, #0x1
    and w8, w8, #0xffffff
    str w9, [x0, #40]
    b L6
L8:
    ldr x13, [x10, #48]
    ldr w14, [x10, #56]
    stp x1, x0, [x29, #-32]
    sub x0, x29, #16
    mov x1, x8
    str x8, [sp, #8]
    rev x2, x13
    rev w3, w14
    stur w9, [x29, #-36]
    stp x10, x11, [sp, #24]
    str w12, [sp, #20]
    bl <blueflame::cq::error::completion::CqeError>::new
    ldp x10, x11, [sp, #24]
    ldurb w15, [x29, #-16]
    ldp x1, x0, [x29, #-32]
    ldr w12, [sp, #20]
    cmp w15, #8
    ldur w9, [x29, #-36]
    ldurb w8, [x29, #-15]
    ldr w13, [x10, #56]
    ldr w14, [x10, #44]
    b.ne L4
    cbnz w8, L4
    ldr x8, [sp, #8]
    b L1

hot_poll_sixteen:
    sub sp, sp, #144
    stp x29, x30, [sp, #48]
    stp x28, x27, [sp, #64]
    stp x26, x25, [sp, #80]
    stp x24, x23, [sp, #96]
    stp x22, x21, [sp, #112]
    stp x20, x19, [sp, #128]
    add x29, sp, #48
    ldr x22, [x0]
    ldr w8, [x22, #60]
    ldr w21, [x0, #40]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L9
    ldp x26, x25, [x0, #24]
    mov w9, #1
    ldr w23, [x0, #8]
    ldr x24, [x1]
    mov w12, #207
    ldr x11, [x0, #16]
    ldr x28, [x0, #48]
    ldr w27, [x1, #8]
L1:
    dmb oshld
    and w10, w8, #0xff
    mov x19, x9
    cmp w10, #3
    mov w20, w8
    b.hi L3
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
L2:
    rev w9, w9
    and w8, w8, #0xffffff00
    rev w8, w8
    add x9, x9, x20, lsr #16
    add x8, x24, x8
    add x24, x9, x8
    str x24, [x1]
    b L5
L3:
    ubfx w8, w20, #4, #4
    orr w8, w8, w20, lsl #4
    and w8, w8, w12
    cmp w8, #4
    b.hi L8
    ldr wzr, [x22, #56]
    ldr wzr, [x22, #44]
L4:
    add w27, w27, #1
    str w27, [x1, #8]
L5:
    cmp x22, x26
    add w23, w23, #1
    b.eq L7
    add x22, x22, x25
    rev w8, w23
    cmp x19, #16
    str w8, [x28]
    b.eq L10
L6:
    ldr w8, [x22, #60]
    rev w8, w8
    eor w8, w8, w21
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x19, #1
    b.lo L1
    b L10
L7:
    eor w21, w21, #0x1
    and w23, w23, #0xffffff
    mov x22, x11
    str w21, [x0, #40]
    rev w8, w23
    cmp x19, #16
    str w8, [x28]
    b.ne L6
    b L10
L8:
    ldr x8, [x22, #48]
    ldr w9, [x22, #56]
    stp x1, x0, [sp, #16]
    sub x0, x29, #16
    mov x1, x20
    str x11, [sp, #8]
    rev x2, x8
    rev w3, w9
    bl <blueflame::cq::error::completion::CqeError>::new
    ldurb w11, [x29, #-16]
    ldp x1, x0, [sp, #16]
    ldurb w10, [x29, #-15]
    mov w12, #207
    ldr w8, [x22, #56]
    ldr w9, [x22, #44]
    cmp w11, #8
    ldr x11, [sp, #8]
    b.ne L4
    cbz w10, L2
    b L4
L9:
    mov x19, xzr
    b L11
L10:
    str x22, [x0]
    str w23, [x0, #8]
L11:
    mov x0, x19
    ldp x20, x19, [sp, #128]
    ldp x22, x21, [sp, #112]
    ldp x24, x23, [sp, #96]
    ldp x26, x25, [sp, #80]
    ldp x28, x27, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #144
    ret

hot_pool_give_back:
    mov x8, x0
    ldr x0, [x0]
    ldr x9, [x0, #8]
    str x8, [x0, #8]
    str x9, [x8, #16]
    ldr x8, [x0, #16]
    subs x8, x8, #1
    str x8, [x0, #16]
    b.eq L1
    ret
L1:
    b blueflame::queue::owning::pooled::release

hot_pool_take:
    ldr x8, [x0]
    ldr x0, [x8, #8]
    cbz x0, L1
    ldr x10, [x8, #16]
    ldr x9, [x0, #16]
    add x10, x10, #1
    stp x9, x10, [x8, #8]
L1:
    ret

hot_post_after:
    sub sp, sp, #304
    stp x29, x30, [sp, #240]
    stp x28, x23, [sp, #256]
    stp x22, x21, [sp, #272]
    stp x20, x19, [sp, #288]
    add x29, sp, #240
    ldp w9, w10, [x0, #64]
    mov x19, x8
    cmp w9, w10
    b.eq L10
    ldp x14, x8, [x0, #40]
    rev w11, w9
    ldrb w10, [x0, #60]
    lsr w11, w11, #8
    mov w12, #67108864
    mov w13, #134217728
    adrp x15, .LCPI_0
    add w23, w9, #1
    orr x8, x8, #0xf000000
    cmp w10, #0
    lsl w10, w9, #4
    orr x8, x8, #0x200000000000000
    csel x12, x13, x12, ne
    ldr w13, [x0, #56]
    orr x21, x8, x11
    adrp x8, .LCPI_1
    ldr q0, [x15, :lo12:.LCPI_0]
    fmov d2, x21
    and x10, x13, x10
    ldr q1, [x8, :lo12:.LCPI_1]
    str q1, [x14, x10]
    rev w8, w2
    and w20, w23, #0xffff
    ldr x11, [x0, #32]
    str q0, [sp, #32]
    mov v2.d[1], x12
    rev w12, w1
    stp w8, w12, [sp, #48]
    add x8, x11, x10, lsl #2
    rev x10, x3
    ldur q0, [sp, #40]
    rev w11, w4
    stp q2, q0, [x8]
    ldr w8, [x0, #76]
    cmp w8, #7
    b.ls L6
    ldr w8, [x0, #68]
    cmp w20, w8
    b.eq L11
    fmov d0, x10
    ldp x13, x10, [x0, #40]
    lsl w14, w20, #4
    ldr w15, [x0, #56]
    rev w12, w20
    lsr w12, w12, #8
    mov w17, #128
    add w9, w9, #2
    and x14, x15, x14
    orr x10, x10, #0x8000000
    movk w17, #2048, lsl #16
    ldp w16, w15, [x5]
    orr x10, x10, #0x300000000000000
    mov v0.s[2], w11
    mov w11, #134217728
    orr x2, x10, x12
    dup v1.2d, x11
    add x11, x13, x14
    orr x10, x17, x16, lsl #32
    mov w13, #1
    mov w8, wzr
    stp x6, x13, [x11]
    and w20, w9, #0xffff
    mov w3, #259
    fmov d2, x10
    mov v1.d[0], x2
    ldr x11, [x0, #32]
    mov v0.s[3], wzr
    add x10, x11, x14, lsl #2
    mov v2.d[1], x15
    stp q1, q0, [x10]
    str q2, [x10, #32]
L1:
    ldr w1, [x0, #64]
    str w20, [x0, #64]
    rev w10, w20
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    cbz w8, L2
    and w8, w3, #0xff
    add w8, w8, #3
    and w8, w8, #0x1fc
    cmp w8, #4
    b.ne L4
    and x8, x3, #0xfe
    cbz x8, L4
    add x8, x0, #96
    add x9, x0, #100
    tst x3, #0x100
    csel x8, x9, x8, eq
    ldr w8, [x8]
    cmp w8, #63
    b.ls L4
    ldr w8, [x0, #56]
    ldr x9, [x0, #32]
    dsb st
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldr x9, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x0]
    b L3
L2:
    dsb st
    ldr x8, [x0]
    str x2, [x8]
    dsb st
L3:
    ldr x9, [x0, #8]
    eor x8, x9, x8
    str x8, [x0]
    b L5
L4:
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
L5:
    mov w8, #25
    strb w8, [x19]
    ldp x20, x19, [sp, #288]
    ldp x22, x21, [sp, #272]
    ldp x28, x23, [sp, #256]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret
L6:
    mov w8, #134217728
    movi v0.2d, #0000000000000000
    mov x22, x0
    stp x8, x6, [sp, #144]
    mov w8, #1
    stp xzr, x8, [sp, #160]
    mov w8, #8
    str x8, [sp, #192]
    mov w8, #18
    strb w8, [sp, #200]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stur q0, [sp, #84]
    stur q0, [sp, #100]
    stur q0, [sp, #116]
    str q0, [sp, #128]
    ldr q0, [x8]
    add x8, sp, #8
    str x0, [sp, #32]
    add x0, sp, #32
    str w20, [sp, #40]
    str w11, [sp, #80]
    stp xzr, x5, [sp, #176]
    str xzr, [sp, #216]
    str wzr, [sp, #224]
    stp xzr, x10, [sp, #64]
    str q0, [sp, #48]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>
    ldp x2, x3, [sp, #16]
    ldr w8, [sp, #8]
    tbz w8, #0, L7
    and x9, x2, #0xff
    cmp x9, #25
    b.ne L8
    mov w8, #1
    mov w3, #2
    mov x2, x21
    mov x0, x22
    b L1
L7:
    and w9, w3, #0xff
    mov w8, wzr
    mov x0, x22
    add w9, w9, #3
    add w9, w23, w9, lsr #2
    and w20, w9, #0xffff
    b L1
L8:
    and x8, x2, #0xffff000000000000
    mov x10, x2
L9:
    and x11, x10, #0xffff00000000
    and x12, x2, #0xffff0000
    and x10, x10, #0xff00
    orr x11, x12, x11
    orr x8, x11, x8
    orr x8, x8, x9
    orr x8, x8, x10
    stp x8, x3, [x19]
    ldp x20, x19, [sp, #288]
    ldp x22, x21, [sp, #272]
    ldp x28, x23, [sp, #256]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret
L10:
    ldr w8, [x0, #72]
    mov w9, #18
    mov w10, #21
    cmp w8, #0
    csel w8, w10, w9, eq
    mov w9, #1
    strb w8, [x19]
    stur w9, [x19, #2]
    ldp x20, x19, [sp, #288]
    ldp x22, x21, [sp, #272]
    ldp x28, x23, [sp, #256]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret
L11:
    ldr w9, [x0, #72]
    mov w11, #21
    mov x8, xzr
    mov x10, xzr
    mov w2, #65536
    cmp w9, #0
    mov w9, #18
    csel x9, x11, x9, eq
    b L9

hot_post_datagram:
    ldr w9, [x0, #104]
    ldp d1, d0, [x1]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x2]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x3
    mov v2.d[0], x10
    adrp x10, .LCPI_1
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_1]
    adrp x10, .LCPI_2
    ldr q5, [x10, :lo12:.LCPI_2]
    ldr x12, [x0, #32]
    orr v0.16b, v2.16b, v3.16b
    movi v3.2d, #0000000000000000
    orr v2.16b, v4.16b, v5.16b
    add x10, x12, x11, lsl #2
    stp q0, q1, [x10]
    str q2, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x2]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x3
    mov v2.d[0], x10
    adrp x10, .LCPI_1
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_1]
    adrp x10, .LCPI_2
    ldr q0, [x10, :lo12:.LCPI_2]
    ldr x12, [x0, #32]
    orr v2.16b, v2.16b, v3.16b
    orr v0.16b, v4.16b, v0.16b
    add x10, x12, x11, lsl #2
    stp q2, q1, [x10]
    str q0, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x9, .LCPI_0
    movi v2.2d, #0000000000000000
    stp d1, d0, [sp, #32]
    ldr q0, [x9, :lo12:.LCPI_0]
    mov w9, #1
    str x0, [sp]
    stp x9, xzr, [sp, #128]
    mov w9, #8
    mov x0, sp
    stp x2, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp q2, q2, [sp, #48]
    stp q2, q0, [sp, #80]
    ldr q0, [x9]
    stp x3, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_datagram_entry:
    ldr d2, [x2, #8]
    ldp d1, d0, [x1]
    ldr w10, [x2, #8]
    ldr x9, [x2]
    rev32 v4.8b, v2.8b
    ldp d2, d6, [x1, #16]
    ldp d3, d5, [x1, #32]
    cmp w10, #1
    rev x9, x9
    b.lt L2
    ldr w11, [x0, #80]
    cbz w11, L2
    ldp w10, w11, [x0, #64]
    sub w11, w11, w10
    and w12, w11, #0xffff
    cmp w12, #1
    b.ls L3
    mov w11, #2
    rev w12, w10
    movi v7.2d, #0000000000000000
    dup v16.2d, x11
    ldp x14, x11, [x0, #40]
    lsr w12, w12, #8
    ldr w13, [x0, #56]
    lsl w15, w10, #4
    mov v3.d[1], v5.d[0]
    fmov d5, x9
    mov v1.d[1], v0.d[0]
    mov v16.d[0], x3
    orr x11, x11, x12
    and x12, x13, x15
    mov v7.d[0], x11
    adrp x11, .LCPI_0
    mov v2.d[1], v6.d[0]
    ldr q17, [x11, :lo12:.LCPI_0]
    add w9, w15, #16
    mov v4.d[1], v5.d[0]
    str q16, [x14, x12]
    movi v16.2d, #0000000000000000
    and w9, w9, w13
    ldr x11, [x0, #32]
    and w9, w9, #0xffff0
    add w10, w10, #2
    orr v0.16b, v7.16b, v17.16b
    ubfiz x13, x9, #2, #32
    add x12, x11, x12, lsl #2
    mov v16.d[0], x3
    stp q0, q1, [x12]
    stp q2, q3, [x12, #32]
    str q16, [x14, w9, uxtw]
    and w9, w10, #0xffff
    str q4, [x11, x13]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #100]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v1.2d, #0000000000000000
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    stp x9, xzr, [sp, #88]
    mov w9, #134217728
    cmp w10, #1
    stp x9, x3, [sp, #104]
    mov w9, #1
    stp xzr, x9, [sp, #120]
    stp xzr, x9, [sp, #136]
    mov w9, #18
    strb w9, [sp, #160]
    cset w9, lt
    strb w9, [sp, #187]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp d1, d0, [sp, #32]
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp d2, d6, [sp, #48]
    stp d3, d5, [sp, #64]
    str d4, [sp, #80]
    str xzr, [sp, #152]
    str xzr, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldrh w10, [x0, #72]
    cbz w10, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w10, #1
    mov w10, #18
    mov w12, #20
    csinc w9, w11, wzr, ne
    csel w10, w12, w10, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_datagram_full:
    ldp d1, d0, [x1]
    ldr w9, [x0, #76]
    ldp d2, d5, [x1, #16]
    ldp d3, d4, [x1, #32]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L3
    mov w10, #2
    rev w11, w9
    movi v6.2d, #0000000000000000
    dup v7.2d, x10
    ldp x13, x10, [x0, #40]
    lsr w11, w11, #8
    movi v16.2d, #0000000000000000
    ldr w12, [x0, #56]
    lsl w14, w9, #4
    ldr d17, [x2]
    mov v3.d[1], v4.d[0]
    orr x10, x10, x11
    mov v7.d[0], x3
    adrp x15, .LCPI_2
    mov v6.d[0], x10
    adrp x10, .LCPI_1
    and x11, x12, x14
    ext v4.16b, v16.16b, v17.16b, #12
    add w14, w14, #16
    mov v1.d[1], v0.d[0]
    str q7, [x13, x11]
    ldr q7, [x10, :lo12:.LCPI_1]
    mov v2.d[1], v5.d[0]
    ldr x10, [x0, #32]
    ldr q5, [x15, :lo12:.LCPI_2]
    and w12, w14, w12
    orr v0.16b, v6.16b, v7.16b
    mov v16.d[0], x3
    and w12, w12, #0xffff0
    add x11, x10, x11, lsl #2
    ubfiz x14, x12, #2, #32
    orr v4.16b, v4.16b, v5.16b
    add w9, w9, #2
    and w9, w9, #0xffff
    stp q0, q1, [x11]
    stp q2, q3, [x11, #32]
    str q16, [x13, w12, uxtw]
    str q4, [x10, x14]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v1.2d, #0000000000000000
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x9, .LCPI_0
    stp d1, d0, [sp, #32]
    ldr q0, [x9, :lo12:.LCPI_0]
    mov w9, #1
    str x0, [sp]
    stp x9, xzr, [sp, #128]
    mov w9, #8
    mov x0, sp
    stp x2, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    str q0, [sp, #96]
    ldr q0, [x9]
    stp xzr, xzr, [sp, #80]
    stp d2, d5, [sp, #48]
    stp d3, d4, [sp, #64]
    stp x3, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldrh w11, [x0, #72]
    cbz w11, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_doorbell_fence:
    movi v0.2d, #0000000000000000
    rev w9, w2
    rev x10, x1
    fmov d1, x10
    mov v0.s[0], w9
    ldr w9, [x0, #104]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q5, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v0.16b, v2.16b, v3.16b
    movi v3.2d, #0000000000000000
    orr v2.16b, v4.16b, v5.16b
    add x10, x12, x11, lsl #2
    stp q0, q1, [x10]
    str q2, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dgh
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q0, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v2.16b, v2.16b, v3.16b
    orr v0.16b, v4.16b, v0.16b
    add x10, x12, x11, lsl #2
    stp q2, q1, [x10]
    str q0, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v2.2d, #0000000000000000
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp q2, q2, [sp, #48]
    str q2, [sp, #80]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::DoorbellFence>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_dynamic:
    movi v3.2d, #0000000000000000
    rev w9, w3
    rev x10, x2
    ldp d1, d0, [x1]
    fmov d2, x10
    mov v3.s[0], w9
    ldr w9, [x0, #104]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v4.2d, #0000000000000000
    dup v5.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v6.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d7, [x4]
    mov v2.d[1], v3.d[0]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v5.d[0], x5
    mov v4.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v6.16b, v6.16b, v7.16b, #12
    and w9, w9, #0xffff
    str q5, [x12, x11]
    adrp x12, .LCPI_1
    ldr q5, [x10, :lo12:.LCPI_0]
    ldr q3, [x12, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    orr v0.16b, v4.16b, v5.16b
    orr v3.16b, v6.16b, v3.16b
    add x10, x10, x11, lsl #2
    stp q0, q1, [x10]
    stp q2, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v4.2d, #0000000000000000
    dup v5.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v6.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d7, [x4]
    mov v2.d[1], v3.d[0]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v5.d[0], x5
    mov v4.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v6.16b, v6.16b, v7.16b, #12
    and w9, w9, #0xffff
    str q5, [x12, x11]
    adrp x12, .LCPI_1
    ldr q5, [x10, :lo12:.LCPI_0]
    ldr q3, [x12, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    orr v0.16b, v4.16b, v5.16b
    orr v3.16b, v6.16b, v3.16b
    add x10, x10, x11, lsl #2
    stp q0, q1, [x10]
    stp q2, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v4.2d, #0000000000000000
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x4, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp d2, d3, [sp, #48]
    stp q4, q4, [sp, #64]
    stp x5, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_dynamic_full:
    movi v5.2d, #0000000000000000
    rev w10, w3
    rev x9, x2
    ldp d1, d0, [x1]
    fmov d4, x9
    ldp d2, d7, [x1, #16]
    ldp d3, d6, [x1, #32]
    mov v5.s[0], w10
    ldr w10, [x0, #76]
    cmp w10, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L3
    mov w10, #2
    rev w11, w9
    movi v16.2d, #0000000000000000
    dup v17.2d, x10
    ldp x13, x10, [x0, #40]
    movi v18.2d, #0000000000000000
    lsr w11, w11, #8
    ldr d19, [x4]
    ldr w12, [x0, #56]
    lsl w14, w9, #4
    mov v3.d[1], v6.d[0]
    orr x10, x10, x11
    mov v17.d[0], x5
    adrp x15, .LCPI_1
    mov v16.d[0], x10
    adrp x10, .LCPI_0
    and x11, x12, x14
    ext v6.16b, v18.16b, v19.16b, #12
    mov v2.d[1], v7.d[0]
    ldr q7, [x15, :lo12:.LCPI_1]
    str q17, [x13, x11]
    ldr q17, [x10, :lo12:.LCPI_0]
    add w14, w14, #16
    ldr x10, [x0, #32]
    mov v1.d[1], v0.d[0]
    mov v4.d[1], v5.d[0]
    and w12, w14, w12
    orr v0.16b, v16.16b, v17.16b
    mov v18.d[0], x5
    and w12, w12, #0xffff0
    orr v5.16b, v6.16b, v7.16b
    add x11, x10, x11, lsl #2
    add x10, x10, w12, uxtw #2
    add w9, w9, #2
    and w9, w9, #0xffff
    stp q0, q1, [x11]
    stp q2, q3, [x11, #32]
    str q18, [x13, w12, uxtw]
    stp q4, q5, [x10]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x4, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp d2, d7, [sp, #48]
    stp d3, d6, [sp, #64]
    stp d4, d5, [sp, #80]
    stp x5, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldrh w11, [x0, #72]
    cbz w11, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_dynamic_stream:
    ldrh w9, [x1, #48]
    movi v5.2d, #0000000000000000
    rev w11, w3
    rev x12, x2
    ldp d1, d0, [x1]
    rev w9, w9
    ldp d2, d7, [x1, #16]
    lsr w10, w9, #8
    lsr w9, w9, #24
    fmov d4, x12
    mov v5.s[0], w11
    ldr w11, [x0, #76]
    and x10, x10, #0xff00
    ldp d3, d6, [x1, #32]
    orr x9, x10, x9, lsl #16
    cmp w11, #7
    orr x10, x9, #0x8000000
    b.ls L2
    ldp w9, w11, [x0, #64]
    sub w11, w11, w9
    and w12, w11, #0xffff
    cmp w12, #1
    b.ls L3
    mov w12, #2
    rev w11, w9
    movi v16.2d, #0000000000000000
    ldp x14, x13, [x0, #40]
    dup v17.2d, x12
    lsr w11, w11, #8
    ldr w12, [x0, #56]
    movi v18.2d, #0000000000000000
    ldr d19, [x4]
    mov v2.d[1], v7.d[0]
    adrp x15, .LCPI_1
    orr x11, x13, x11
    lsl w13, w9, #4
    mov v17.d[0], x5
    mov v16.d[0], x11
    adrp x11, .LCPI_0
    mov v3.d[1], v6.d[0]
    ldr q20, [x11, :lo12:.LCPI_0]
    and x11, x12, x13
    mov v18.d[1], x10
    str q17, [x14, x11]
    movi v17.2d, #0000000000000000
    ldr q6, [x15, :lo12:.LCPI_1]
    add w13, w13, #16
    ldr x10, [x0, #32]
    mov v1.d[1], v0.d[0]
    orr v7.16b, v16.16b, v20.16b
    mov v4.d[1], v5.d[0]
    and w12, w13, w12
    and w12, w12, #0xffff0
    add x11, x10, x11, lsl #2
    add w9, w9, #2
    ext v16.16b, v17.16b, v19.16b, #12
    mov v17.d[0], x5
    add x10, x10, w12, uxtw #2
    orr v0.16b, v18.16b, v7.16b
    and w9, w9, #0xffff
    stp q2, q3, [x11, #32]
    orr v5.16b, v16.16b, v6.16b
    stp q0, q1, [x11]
    str q17, [x14, w12, uxtw]
    stp q4, q5, [x10]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #1
    stp d1, d0, [sp, #32]
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x4, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp d2, d7, [sp, #48]
    stp d3, d6, [sp, #64]
    stp d4, d5, [sp, #80]
    stp xzr, x10, [sp, #96]
    stp x5, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldrh w10, [x0, #72]
    cbz w10, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w10, #1
    mov w10, #18
    mov w12, #20
    csinc w9, w11, wzr, ne
    csel w10, w12, w10, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_entries:
    sub sp, sp, #448
    stp x29, x30, [sp, #368]
    stp x28, x25, [sp, #384]
    stp x24, x23, [sp, #400]
    stp x22, x21, [sp, #416]
    stp x20, x19, [sp, #432]
    add x29, sp, #368
    ldur q0, [x3, #104]
    ldr s1, [x3, #120]
    rev x9, x1
    ldur q2, [x3, #56]
    ldur q3, [x3, #40]
    rev w16, w2
    zip1 v1.4s, v0.4s, v1.4s
    ldur q4, [x3, #88]
    ldur q5, [x3, #72]
    zip1 v2.4s, v3.4s, v2.4s
    ldur q6, [x3, #24]
    ldur q7, [x3, #8]
    zip1 v16.4s, v5.4s, v4.4s
    ldr d4, [x3, #40]
    ldr w5, [x3, #136]
    zip1 v7.4s, v7.4s, v6.4s
    ldr w24, [x3, #152]
    ldr w25, [x3, #168]
    ext v0.16b, v0.16b, v1.16b, #8
    ldr d1, [x3, #8]
    rev32 v6.8b, v4.8b
    ext v3.16b, v3.16b, v2.16b, #8
    cmp w5, #1
    ldr w6, [x3, #184]
    rev32 v2.8b, v1.8b
    ldr d1, [x3, #24]
    ldr d20, [x3, #136]
    ldr d21, [x3, #152]
    cset w5, lt
    cmp w24, #1
    mov v16.d[1], v0.d[1]
    ldr d0, [x3, #72]
    ldr w23, [x3, #200]
    mov v7.d[1], v3.d[1]
    rev32 v3.8b, v1.8b
    ccmp w25, #1, #8, ge
    rev32 v4.8b, v0.8b
    ldr d0, [x3, #88]
    ldr x2, [x3]
    ldr x18, [x3, #16]
    ldr x15, [x3, #32]
    ldr x14, [x3, #48]
    rev32 v17.8b, v0.8b
    ldr d0, [x3, #104]
    ldr x13, [x3, #64]
    cmle v1.4s, v7.4s, #0
    cmle v7.4s, v16.4s, #0
    ldr d16, [x3, #120]
    rev32 v18.8b, v0.8b
    ldr x12, [x3, #80]
    ldr x10, [x3, #96]
    ldr x11, [x3, #112]
    ldr x17, [x3, #128]
    ldr x1, [x3, #144]
    uzp1 v0.8h, v1.8h, v7.8h
    ldr x7, [x3, #160]
    ldr x19, [x3, #176]
    ldr x20, [x3, #192]
    ldr x21, [x3, #208]
    ldr w22, [x3, #216]
    ldr d5, [x3, #56]
    rev32 v19.8b, v16.8b
    rev32 v16.8b, v20.8b
    rev32 v7.8b, v21.8b
    ldr d1, [x3, #168]
    ldr d20, [x3, #184]
    umaxv h24, v0.8h
    movi v0.2d, #0000000000000000
    ldr d21, [x3, #200]
    ldr d25, [x3, #216]
    cset w3, lt
    cmp w6, #1
    ccmp w23, #1, #8, ge
    rev32 v5.8b, v5.8b
    rev32 v23.8b, v1.8b
    ccmp w22, #1, #8, ge
    rev32 v22.8b, v20.8b
    rev32 v21.8b, v21.8b
    fmov w22, s24
    rev32 v20.8b, v25.8b
    mov v0.s[0], w16
    cset w23, lt
    rev x6, x17
    rev x2, x2
    orr w17, w3, w23
    rev x18, x18
    rev x15, x15
    orr w16, w22, w5
    rev x14, x14
    rev x13, x13
    rev x12, x12
    rev x10, x10
    rev x11, x11
    rev x5, x1
    rev x3, x7
    orr w7, w16, w17
    rev x1, x19
    rev x17, x20
    rev x16, x21
    tbnz w7, #0, L4
    ldr w19, [x0, #80]
    cmp w19, #13
    b.ls L4
    ldp w7, w19, [x0, #64]
    sub w19, w19, w7
    and w20, w19, #0xffff
    cmp w20, #3
    b.ls L5
    mov w19, #4
    rev w20, w7
    movi v24.2d, #0000000000000000
    dup v1.2d, x19
    ldp x19, x21, [x0, #40]
    lsr w22, w20, #8
    ldr w20, [x0, #56]
    lsl w23, w7, #4
    movi v26.2d, #0000000000000000
    mov v2.d[1], x2
    mov v3.d[1], x18
    mov v1.d[0], x4
    orr x21, x21, x22
    and x22, x20, x23
    mov v24.d[0], x21
    adrp x21, .LCPI_0
    add w18, w23, #16
    ldr q25, [x21, :lo12:.LCPI_0]
    and w18, w18, w20
    mov v6.d[1], x15
    str q1, [x19, x22]
    fmov d1, x9
    mov v26.d[0], x4
    ldr x9, [x0, #32]
    and w18, w18, #0xffff0
    mov v5.d[1], x14
    mov v4.d[1], x13
    mov v17.d[1], x12
    add w12, w23, #32
    mov v1.d[1], v0.d[0]
    orr v0.16b, v24.16b, v25.16b
    add x9, x9, x22, lsl #2
    and w12, w12, w20
    mov v18.d[1], x10
    mov v19.d[1], x11
    stp q2, q3, [x9, #32]
    and w12, w12, #0xffff0
    mov v16.d[1], x6
    mov v7.d[1], x5
    add w10, w23, #48
    mov v23.d[1], x3
    stp q0, q1, [x9]
    and w10, w10, w20
    mov v22.d[1], x1
    str q26, [x19, w18, uxtw]
    and w10, w10, #0xffff0
    mov v21.d[1], x17
    ldr x9, [x0, #32]
    mov v20.d[1], x16
    add x9, x9, w18, uxtw #2
    stp q6, q5, [x9]
    stp q4, q17, [x9, #32]
    str q26, [x19, w12, uxtw]
    ldr x9, [x0, #32]
    add x9, x9, w12, uxtw #2
    stp q18, q19, [x9]
    stp q16, q7, [x9, #32]
    str q26, [x19, w10, uxtw]
    ldr x9, [x0, #32]
    add x9, x9, w10, uxtw #2
    add w10, w7, #4
    and w10, w10, #0xffff
    stp q23, q22, [x9]
    stp q21, q20, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    ldr w9, [x0, #100]
    cmp w9, #255
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    mov v0.16b, v6.16b
    mov v1.16b, v5.16b
    mov v2.16b, v4.16b
    mov v3.16b, v17.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    add x11, x9, #128
    mov v0.16b, v18.16b
    mov v1.16b, v19.16b
    mov v2.16b, v16.16b
    mov v3.16b, v7.16b
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x11]
    add x10, x9, #192
    mov v0.16b, v23.16b
    mov v1.16b, v22.16b
    mov v2.16b, v21.16b
    mov v3.16b, v20.16b
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    b L2
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
L2:
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
L3:
    ldp x20, x19, [sp, #432]
    ldp x22, x21, [sp, #416]
    ldp x24, x23, [sp, #400]
    ldp x28, x25, [sp, #384]
    ldp x29, x30, [sp, #368]
    add sp, sp, #448
    ret
L4:
    str x9, [sp, #64]
    mov w9, #1
    stp x16, x9, [sp, #296]
    stp xzr, x9, [sp, #312]
    mov w9, #18
    strb w9, [sp, #336]
    and w9, w7, #0x1
    str x0, [sp]
    adrp x0, .LCPI_1
    strb w9, [sp, #363]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q1, [x0, :lo12:.LCPI_1]
    stp d0, d2, [sp, #72]
    ldr q0, [x9]
    mov x0, sp
    stp x4, xzr, [sp, #48]
    str q1, [sp, #32]
    str x2, [sp, #88]
    str d3, [sp, #96]
    str x18, [sp, #104]
    str d6, [sp, #112]
    str x15, [sp, #120]
    str d5, [sp, #128]
    str x14, [sp, #136]
    str d4, [sp, #144]
    str x13, [sp, #152]
    str d17, [sp, #160]
    str x12, [sp, #168]
    str d18, [sp, #176]
    str x10, [sp, #184]
    str d19, [sp, #192]
    str x11, [sp, #200]
    str d16, [sp, #208]
    str x6, [sp, #216]
    str d7, [sp, #224]
    str x5, [sp, #232]
    str d23, [sp, #240]
    str x3, [sp, #248]
    str d22, [sp, #256]
    str x1, [sp, #264]
    str d21, [sp, #272]
    str x17, [sp, #280]
    str d20, [sp, #288]
    str xzr, [sp, #328]
    str xzr, [sp, #352]
    strh wzr, [sp, #360]
    strb wzr, [sp, #362]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<0, 14>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<0, 14>>::{closure#2}>::{closure#2}>
    b L3
L5:
    ldr w10, [x0, #72]
    tst w10, #0xffff
    b.eq L6
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w11, w9, #0xffff
    cmp w11, #4
    b.hs L7
    mov w10, #19
    b L8
L6:
    mov w10, #21
    b L8
L7:
    and w9, w10, #0xffff
    mov w11, #18
    mov w12, #20
    cmp w9, #4
    csel w9, w10, w19, lo
    csel w10, w12, w11, lo
L8:
    strb w10, [x8]
    mov w10, #4
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    b L3

hot_post_entry:
    movi v0.2d, #0000000000000000
    ldr d1, [x3, #8]
    rev w9, w2
    ldr w10, [x3, #8]
    movi v3.2d, #0000000000000000
    rev32 v2.8b, v1.8b
    cmp w10, #1
    rev x10, x1
    mov v0.s[0], w9
    ldr x9, [x3]
    cset w11, lt
    rev x9, x9
    b.lt L2
    fmov d1, x10
    ldr w12, [x0, #108]
    cbz w12, L1
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    mov w12, #1
    rev w11, w10
    ldr w14, [x0, #56]
    dup v4.2d, x12
    ldp x13, x12, [x0, #40]
    lsr w11, w11, #8
    fmov d5, x9
    mov v1.d[1], v0.d[0]
    orr x11, x12, x11
    lsl w12, w10, #4
    mov v4.d[0], x4
    mov v3.d[0], x11
    mov v2.d[1], v5.d[0]
    add w10, w10, #1
    and x11, x14, x12
    adrp x12, .LCPI_0
    and w10, w10, #0xffff
    str q4, [x13, x11]
    ldr q4, [x12, :lo12:.LCPI_0]
    ldr x12, [x0, #32]
    orr v0.16b, v3.16b, v4.16b
    movi v3.2d, #0000000000000000
    add x9, x12, x11, lsl #2
    stp q0, q1, [x9]
    str q2, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w12, [x0, #80]
    cbz w12, L2
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    mov w12, #1
    rev w11, w10
    ldr w14, [x0, #56]
    dup v4.2d, x12
    ldp x13, x12, [x0, #40]
    lsr w11, w11, #8
    mov v1.d[1], v0.d[0]
    fmov d0, x9
    orr x11, x12, x11
    lsl w12, w10, #4
    mov v4.d[0], x4
    mov v3.d[0], x11
    mov v2.d[1], v0.d[0]
    add w10, w10, #1
    and x11, x14, x12
    adrp x12, .LCPI_0
    and w10, w10, #0xffff
    str q4, [x13, x11]
    ldr q4, [x12, :lo12:.LCPI_0]
    ldr x12, [x0, #32]
    orr v3.16b, v3.16b, v4.16b
    add x9, x12, x11, lsl #2
    stp q3, q1, [x9]
    str q2, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    str d3, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    str x9, [sp, #56]
    mov w9, #134217728
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    stp x9, xzr, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp d0, d2, [sp, #40]
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp q3, q3, [sp, #64]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    strb w11, [sp, #187]
    stp xzr, x10, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_frame:
    ldp w11, w14, [x2, #8]
    ldr x9, [x2]
    fmov d0, x3
    cmp w11, #1
    rev x9, x9
    cset w13, lt
    b.lt L2
    ldr w15, [x0, #108]
    rev w10, w14
    rev w12, w11
    cbz w15, L1
    ldp w11, w13, [x0, #64]
    cmp w11, w13
    b.eq L3
    fmov s3, w12
    mov w12, #1
    rev w13, w11
    fmov d1, x12
    lsr w13, w13, #8
    movi v4.2d, #0000000000000000
    lsl w12, w11, #4
    ldur d5, [x1, #10]
    ldur d2, [x1, #2]
    mov v3.s[1], w10
    ldp x14, x10, [x0, #40]
    mov v0.d[1], v1.d[0]
    movi v1.2d, #0000000000000000
    mov x15, #19791209299968
    mov v2.d[1], v5.d[0]
    orr x10, x10, x13
    ldr w13, [x0, #56]
    mov v4.d[0], x10
    adrp x10, .LCPI_0
    and x12, x13, x12
    ldrh w13, [x1]
    ldr q5, [x10, :lo12:.LCPI_0]
    str q0, [x14, x12]
    fmov d0, x9
    orr x10, x15, x13, lsl #48
    ldr x9, [x0, #32]
    mov v3.d[1], v0.d[0]
    mov v1.d[1], x10
    orr v0.16b, v4.16b, v5.16b
    add x9, x9, x12, lsl #2
    add w10, w11, #1
    stp q0, q1, [x9]
    stp q2, q3, [x9, #32]
    and w9, w10, #0xffff
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w15, [x0, #80]
    cbz w15, L2
    ldp w11, w13, [x0, #64]
    cmp w11, w13
    b.eq L3
    fmov s2, w12
    mov w12, #1
    rev w13, w11
    fmov d3, x12
    lsr w13, w13, #8
    movi v1.2d, #0000000000000000
    lsl w12, w11, #4
    ldur d4, [x1, #10]
    ldur d5, [x1, #2]
    mov v2.s[1], w10
    ldp x14, x10, [x0, #40]
    mov v0.d[1], v3.d[0]
    movi v3.2d, #0000000000000000
    mov x15, #19791209299968
    mov v5.d[1], v4.d[0]
    orr x10, x10, x13
    ldr w13, [x0, #56]
    mov v1.d[0], x10
    adrp x10, .LCPI_0
    and x12, x13, x12
    ldrh w13, [x1]
    ldr q4, [x10, :lo12:.LCPI_0]
    str q0, [x14, x12]
    fmov d0, x9
    orr x10, x15, x13, lsl #48
    ldr x9, [x0, #32]
    mov v2.d[1], v0.d[0]
    mov v3.d[1], x10
    orr v0.16b, v1.16b, v4.16b
    add x9, x9, x12, lsl #2
    add w10, w11, #1
    stp q0, q3, [x9]
    stp q5, q2, [x9, #32]
    and w9, w10, #0xffff
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x10, .LCPI_1
    str d0, [sp, #112]
    ldr q1, [x10, :lo12:.LCPI_1]
    orr x10, x14, x11, lsl #32
    str x0, [sp]
    mov x0, sp
    stp xzr, x1, [sp, #120]
    rev x10, x10
    str q1, [sp, #32]
    movi v1.2d, #0000000000000000
    stp x10, x9, [sp, #48]
    mov w9, #134217728
    mov w10, #1
    stp xzr, x9, [sp, #96]
    mov w9, #18
    stp x9, x10, [sp, #136]
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    stp q1, q1, [sp, #64]
    str xzr, [sp, #152]
    str x11, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    strb w13, [sp, #187]
    str x10, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_frame_inline:
    ldr w9, [x0, #76]
    fmov d6, x2
    cmp w9, #59
    b.ls L2
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L3
    ldr s0, [x1, #8]
    ldr d1, [x1]
    mov w14, #2
    rev w11, w9
    movi v2.2d, #0000000000000000
    movi v7.2d, #0000000000000000
    mov v1.d[1], v0.d[0]
    fmov d0, x14
    mov v17.16b, v6.16b
    ldp x14, x10, [x0, #40]
    lsr w11, w11, #8
    ldr w13, [x0, #56]
    adrp x12, .LCPI_0
    ldur d3, [x1, #12]
    mov v17.d[1], v0.d[0]
    ldur d16, [x1, #20]
    ldr q0, [x12, :lo12:.LCPI_0]
    orr x10, x10, x11
    lsl w11, w9, #4
    ext v1.16b, v2.16b, v1.16b, #12
    mov v7.d[0], x10
    adrp x12, .LCPI_1
    ldur d4, [x1, #28]
    and x10, x13, x11
    ldur d18, [x1, #36]
    ldur d5, [x1, #44]
    ldur d19, [x1, #52]
    str q17, [x14, x10]
    ldr q2, [x12, :lo12:.LCPI_1]
    ldr x15, [x0, #32]
    mov v3.d[1], v16.d[0]
    adrp x12, .LCPI_2
    orr v0.16b, v7.16b, v0.16b
    orr v2.16b, v1.16b, v2.16b
    add w11, w11, #16
    add x10, x15, x10, lsl #2
    ldr q1, [x12, :lo12:.LCPI_2]
    mov v4.d[1], v18.d[0]
    and w11, w11, w13
    mov v5.d[1], v19.d[0]
    fmov d6, d6
    and w11, w11, #0xffff0
    stp q0, q1, [x10]
    add w9, w9, #2
    stp q2, q3, [x10, #32]
    add x10, x15, w11, uxtw #2
    and w9, w9, #0xffff
    str q6, [x14, w11, uxtw]
    stp q4, q5, [x10]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    movi v0.2d, #0000000000000000
    mov w10, #60
    adrp x11, .Lanon
    add x11, x11, :lo12:.Lanon
    mov w9, #134217728
    str x10, [sp, #152]
    mov w10, #18
    str x0, [sp]
    mov x0, sp
    str x9, [sp, #104]
    mov w9, #1
    stur q0, [sp, #40]
    stur q0, [sp, #56]
    stur q0, [sp, #72]
    stur q0, [sp, #88]
    ldr q0, [x11]
    strb w10, [sp, #160]
    mov x10, #824633720832
    str d6, [sp, #112]
    stp xzr, x9, [sp, #120]
    stp xzr, x1, [sp, #136]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    stp x9, x10, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldrh w11, [x0, #72]
    cbz w11, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_frame_pointer:
    ldp w11, w14, [x1, #8]
    ldr x9, [x1]
    fmov d0, x2
    cmp w11, #1
    rev x9, x9
    cset w12, lt
    b.lt L2
    ldr w15, [x0, #108]
    rev w10, w14
    rev w13, w11
    cbz w15, L1
    ldp w11, w12, [x0, #64]
    cmp w11, w12
    b.eq L3
    fmov s2, w13
    mov w13, #1
    rev w14, w11
    fmov d3, x13
    movi v1.2d, #0000000000000000
    lsr w14, w14, #8
    ldp x13, x12, [x0, #40]
    lsl w15, w11, #4
    mov v2.s[1], w10
    ldr w10, [x0, #56]
    mov v0.d[1], v3.d[0]
    fmov d3, x9
    orr x12, x12, x14
    and x10, x10, x15
    mov v1.d[0], x12
    adrp x12, .LCPI_0
    str q0, [x13, x10]
    ldr q0, [x12, :lo12:.LCPI_0]
    mov v2.d[1], v3.d[0]
    ldr x9, [x0, #32]
    movi v3.2d, #0000000000000000
    orr v0.16b, v1.16b, v0.16b
    add x9, x9, x10, lsl #2
    adrp x10, .LCPI_1
    ldr q1, [x10, :lo12:.LCPI_1]
    add w10, w11, #1
    and w10, w10, #0xffff
    stp q1, q2, [x9, #16]
    str q0, [x9]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w15, [x0, #80]
    cbz w15, L2
    ldp w11, w12, [x0, #64]
    cmp w11, w12
    b.eq L3
    fmov s2, w13
    mov w13, #1
    rev w14, w11
    fmov d3, x13
    movi v1.2d, #0000000000000000
    lsr w14, w14, #8
    ldp x13, x12, [x0, #40]
    lsl w15, w11, #4
    mov v2.s[1], w10
    ldr w10, [x0, #56]
    mov v0.d[1], v3.d[0]
    fmov d3, x9
    orr x12, x12, x14
    and x10, x10, x15
    mov v1.d[0], x12
    adrp x12, .LCPI_0
    str q0, [x13, x10]
    ldr q0, [x12, :lo12:.LCPI_0]
    mov v2.d[1], v3.d[0]
    ldr x9, [x0, #32]
    orr v0.16b, v1.16b, v0.16b
    add x9, x9, x10, lsl #2
    adrp x10, .LCPI_1
    ldr q1, [x10, :lo12:.LCPI_1]
    add w10, w11, #1
    and w10, w10, #0xffff
    stp q1, q2, [x9, #16]
    str q0, [x9]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x10, .LCPI_1
    str d0, [sp, #112]
    ldr q1, [x10, :lo12:.LCPI_1]
    orr x10, x14, x11, lsl #32
    str x0, [sp]
    mov x0, sp
    str xzr, [sp, #152]
    rev x10, x10
    str q1, [sp, #32]
    movi v1.2d, #0000000000000000
    stp x10, x9, [sp, #48]
    mov w10, #18
    mov w9, #134217728
    strb w10, [sp, #160]
    adrp x10, .Lanon
    add x10, x10, :lo12:.Lanon
    ldr q0, [x10]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp q1, q1, [sp, #64]
    stp xzr, x9, [sp, #120]
    stp xzr, x9, [sp, #136]
    str x11, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    strb w12, [sp, #187]
    str x9, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_header:
    ldr d0, [x2, #8]
    ldr w9, [x2, #8]
    ldr x10, [x2]
    rev32 v2.8b, v0.8b
    cmp w9, #1
    rev x9, x10
    cset w10, lt
    b.lt L2
    ldr w11, [x0, #104]
    cmp w11, #8
    b.lo L1
    ldr w11, [x0, #108]
    cbz w11, L1
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    mov w11, #1
    rev w12, w10
    movi v1.2d, #0000000000000000
    dup v0.2d, x11
    ldp x13, x11, [x0, #40]
    lsr w12, w12, #8
    movi v3.2d, #0000000000000000
    ldr d4, [x1]
    ldr w14, [x0, #56]
    orr x11, x11, x12
    lsl w12, w10, #4
    mov v0.d[0], x3
    mov v1.d[0], x11
    adrp x11, .LCPI_0
    add w10, w10, #1
    ext v3.16b, v3.16b, v4.16b, #12
    ldr q4, [x11, :lo12:.LCPI_0]
    and x12, x14, x12
    str q0, [x13, x12]
    adrp x14, .LCPI_1
    and w10, w10, #0xffff
    ldr q5, [x14, :lo12:.LCPI_1]
    ldr x11, [x0, #32]
    orr v0.16b, v1.16b, v4.16b
    fmov d1, x9
    add x9, x11, x12, lsl #2
    mov v2.d[1], v1.d[0]
    orr v1.16b, v3.16b, v5.16b
    movi v3.2d, #0000000000000000
    stp q0, q1, [x9]
    str q2, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w11, [x0, #76]
    cmp w11, #8
    b.lo L2
    ldr w11, [x0, #80]
    cbz w11, L2
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    mov w11, #1
    rev w12, w10
    movi v1.2d, #0000000000000000
    dup v0.2d, x11
    ldp x13, x11, [x0, #40]
    lsr w12, w12, #8
    movi v3.2d, #0000000000000000
    ldr d4, [x1]
    ldr w14, [x0, #56]
    orr x11, x11, x12
    lsl w12, w10, #4
    mov v0.d[0], x3
    mov v1.d[0], x11
    adrp x11, .LCPI_0
    add w10, w10, #1
    ext v3.16b, v3.16b, v4.16b, #12
    ldr q4, [x11, :lo12:.LCPI_0]
    and x12, x14, x12
    adrp x14, .LCPI_1
    str q0, [x13, x12]
    and w10, w10, #0xffff
    ldr q0, [x14, :lo12:.LCPI_1]
    ldr x11, [x0, #32]
    orr v1.16b, v1.16b, v4.16b
    fmov d4, x9
    orr v0.16b, v3.16b, v0.16b
    add x9, x11, x12, lsl #2
    mov v2.d[1], v4.d[0]
    stp q1, q0, [x9]
    str q2, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    str d1, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    str x9, [sp, #40]
    mov w9, #134217728
    movi v0.2d, #0000000000000000
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x1, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp q0, q0, [sp, #48]
    str q0, [sp, #80]
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    str d2, [sp, #32]
    stp x3, xzr, [sp, #112]
    str xzr, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    strb w10, [sp, #187]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_invalidate:
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L2
    movi v0.2d, #0000000000000000
    rev w10, w1
    mov w11, #134217728
    orr x10, x11, x10, lsl #32
    rev w12, w9
    movi v1.2d, #0000000000000000
    ldr x11, [x0, #48]
    mov w13, #2
    lsr w12, w12, #8
    dup v2.2d, x13
    movi v5.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.d[1], x10
    adrp x10, .LCPI_0
    ldr q4, [x10, :lo12:.LCPI_0]
    orr x10, x11, x12
    ldr w11, [x0, #56]
    lsl w12, w9, #4
    mov v1.d[0], x10
    mov v2.d[0], x2
    ldp x10, x13, [x0, #32]
    mov v5.d[0], x2
    orr v0.16b, v0.16b, v4.16b
    and x14, x11, x12
    add w12, w12, #16
    and w11, w12, w11
    adrp x12, .LCPI_2
    add w9, w9, #2
    add x15, x10, x14, lsl #2
    str q2, [x13, x14]
    adrp x14, .LCPI_1
    orr v0.16b, v0.16b, v1.16b
    and w11, w11, #0xffff0
    ldr q1, [x14, :lo12:.LCPI_1]
    ldr q4, [x12, :lo12:.LCPI_2]
    add x10, x10, w11, uxtw #2
    and w9, w9, #0xffff
    stp q3, q3, [x15, #32]
    stp q0, q1, [x15]
    str q5, [x13, w11, uxtw]
    stp q4, q3, [x10]
    stp q3, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #100]
    cmp w9, #127
    b.ls L1
    dsb st
    movi v2.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v1.2d, #0000000000000000
    mov v0.16b, v4.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldrh w11, [x0, #72]
    cbz w11, L3
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L4
    mov w10, #19
    b L5
L3:
    mov w10, #21
    b L5
L4:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L5:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_large:
    ldp w9, w11, [x2, #8]
    ldr x10, [x2]
    fmov d7, x3
    cmp w9, #1
    rev x10, x10
    cset w12, lt
    b.lt L1
    ldr w13, [x0, #84]
    cbz w13, L1
    cmp w9, w13
    b.hi L1
    ldr w13, [x0, #80]
    cbz w13, L1
    ldp w12, w13, [x0, #64]
    sub w13, w13, w12
    and w14, w13, #0xffff
    cmp w14, #1
    b.ls L3
    adrp x16, .LCPI_0
    rev w14, w12
    movi v0.2d, #0000000000000000
    ldr q6, [x16, :lo12:.LCPI_0]
    ldp x16, x15, [x0, #40]
    lsr w17, w14, #8
    mov v16.16b, v7.16b
    rev w9, w9
    mov x18, #824633720832
    ldrh w13, [x1]
    mov x14, #59373627899904
    orr x15, x15, x17
    mov w17, #2
    movk x18, #46085, lsl #48
    mov v0.d[0], x15
    fmov d3, x17
    ldr w15, [x0, #56]
    lsl w17, w12, #4
    dup v1.2d, x18
    ldur d2, [x1, #2]
    ldur d17, [x1, #10]
    ldur d18, [x1, #26]
    orr x13, x14, x13, lsl #48
    mov v16.d[1], v3.d[0]
    ldur d3, [x1, #18]
    and x18, x15, x17
    orr v0.16b, v0.16b, v6.16b
    fmov s6, w9
    rev w9, w11
    ldur d4, [x1, #34]
    ldur d19, [x1, #42]
    ldur s5, [x1, #50]
    str q16, [x16, x18]
    fmov d16, x10
    mov v1.d[1], x13
    mov v6.s[1], w9
    ldr x14, [x0, #32]
    mov v2.d[1], v17.d[0]
    mov v3.d[1], v18.d[0]
    add w9, w17, #16
    fmov d7, d7
    add x11, x14, x18, lsl #2
    mov v4.d[1], v19.d[0]
    and w9, w9, w15
    and w9, w9, #0xffff0
    mov v6.d[1], v16.d[0]
    stp q0, q1, [x11]
    add x10, x14, w9, uxtw #2
    stp q2, q3, [x11, #32]
    str q7, [x16, w9, uxtw]
    add w9, w12, #2
    and w9, w9, #0xffff
    stp q4, q5, [x10]
    str q6, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #100]
    cmp w9, #127
    b.ls L2
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    mov v2.16b, v6.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x13, .LCPI_1
    orr x11, x11, x9, lsl #32
    str x9, [sp, #176]
    ldr q0, [x13, :lo12:.LCPI_1]
    mov w9, #1460
    str x0, [sp]
    rev x11, x11
    strh w9, [sp, #184]
    mov w9, #257
    str q0, [sp, #32]
    movi v0.2d, #0000000000000000
    mov x0, sp
    stp x11, x10, [sp, #48]
    mov w10, #134217728
    mov w11, #1
    stp xzr, x10, [sp, #96]
    mov w10, #54
    stp x10, x11, [sp, #136]
    mov w10, #18
    strb w10, [sp, #160]
    adrp x10, .Lanon
    add x10, x10, :lo12:.Lanon
    stp q0, q0, [sp, #64]
    ldr q0, [x10]
    str d7, [sp, #112]
    stp xzr, x1, [sp, #120]
    str xzr, [sp, #152]
    strb w11, [sp, #186]
    strb w12, [sp, #187]
    str x9, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L2:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L3:
    ldrh w10, [x0, #72]
    cbz w10, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w11, w9, #0xffff
    cmp w11, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w10, #1
    mov w10, #18
    mov w11, #20
    csinc w9, w13, wzr, ne
    csel w10, w11, w10, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_long_inline:
    sub sp, sp, #288
    stp d15, d14, [sp, #192]
    stp d13, d12, [sp, #208]
    stp d11, d10, [sp, #224]
    stp d9, d8, [sp, #240]
    stp x29, x30, [sp, #256]
    str x28, [sp, #272]
    add x29, sp, #256
    movi v2.2d, #0000000000000000
    rev w9, w2
    movi v0.2d, #0000000000000000
    rev x10, x1
    fmov d1, x10
    mov v2.s[0], w9
    ldr w9, [x0, #76]
    cmp w9, #219
    b.ls L4
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #3
    b.ls L5
    ldp x13, x11, [x0, #40]
    rev w10, w9
    lsr w12, w10, #8
    ldr s3, [x3, #8]
    ldr d7, [x3]
    movi v24.2d, #0000000000000000
    adrp x10, .LCPI_0
    ldur d26, [x3, #20]
    orr x11, x11, x12
    mov v7.d[1], v3.d[0]
    lsl w12, w9, #4
    mov v0.d[0], x11
    mov w11, #4
    ldur d3, [x3, #12]
    dup v10.2d, x11
    ldr w11, [x0, #56]
    ldur d4, [x3, #28]
    ldur d25, [x3, #36]
    ldur d5, [x3, #44]
    ldur d29, [x3, #52]
    ext v31.16b, v24.16b, v7.16b, #12
    and x14, x11, x12
    ldur d6, [x3, #60]
    mov v10.d[0], x4
    ldur d30, [x3, #68]
    ldur d16, [x3, #76]
    ldur d8, [x3, #84]
    ldur d7, [x3, #92]
    ldur d28, [x3, #100]
    ldur d17, [x3, #108]
    ldur d9, [x3, #116]
    ldur d19, [x3, #124]
    ldur d11, [x3, #132]
    ldur d20, [x3, #140]
    ldur d12, [x3, #148]
    ldur d18, [x3, #156]
    ldur d27, [x3, #164]
    ldur d21, [x3, #172]
    ldur d13, [x3, #180]
    ldur d22, [x3, #188]
    mov v1.d[1], v2.d[0]
    ldur d14, [x3, #196]
    ldur d23, [x3, #204]
    mov v3.d[1], v26.d[0]
    ldur d15, [x3, #212]
    str q10, [x13, x14]
    mov v24.d[0], x4
    ldr q10, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr x15, [x0, #32]
    ldr q2, [x10, :lo12:.LCPI_1]
    mov v4.d[1], v25.d[0]
    mov v5.d[1], v29.d[0]
    orr v0.16b, v0.16b, v10.16b
    add x10, x15, x14, lsl #2
    add w14, w12, #16
    orr v2.16b, v31.16b, v2.16b
    and w14, w14, w11
    mov v6.d[1], v30.d[0]
    mov v16.d[1], v8.d[0]
    mov v7.d[1], v28.d[0]
    mov v17.d[1], v9.d[0]
    stp q0, q1, [x10]
    mov v19.d[1], v11.d[0]
    mov v20.d[1], v12.d[0]
    stp q2, q3, [x10, #32]
    and w10, w14, #0xffff0
    mov v18.d[1], v27.d[0]
    str q24, [x13, w10, uxtw]
    mov v21.d[1], v13.d[0]
    mov v22.d[1], v14.d[0]
    ldr x14, [x0, #32]
    mov v23.d[1], v15.d[0]
    add w9, w9, #4
    and w9, w9, #0xffff
    add x10, x14, w10, uxtw #2
    add w14, w12, #32
    add w12, w12, #48
    and w14, w14, w11
    and w11, w12, w11
    stp q4, q5, [x10]
    stp q6, q16, [x10, #32]
    and w10, w14, #0xffff0
    str q24, [x13, w10, uxtw]
    ldr x14, [x0, #32]
    add x10, x14, w10, uxtw #2
    stp q7, q17, [x10]
    stp q19, q20, [x10, #32]
    and w10, w11, #0xffff0
    str q24, [x13, w10, uxtw]
    ldr x11, [x0, #32]
    add x10, x11, w10, uxtw #2
    stp q18, q21, [x10]
    stp q22, q23, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #255
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    mov v2.16b, v6.16b
    mov v3.16b, v16.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    add x11, x9, #128
    mov v0.16b, v7.16b
    mov v1.16b, v17.16b
    mov v2.16b, v19.16b
    mov v3.16b, v20.16b
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x11]
    add x10, x9, #192
    mov v0.16b, v18.16b
    mov v1.16b, v21.16b
    mov v2.16b, v22.16b
    mov v3.16b, v23.16b
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    b L2
L1:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
L2:
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
L3:
    ldp x29, x30, [sp, #256]
    ldr x28, [sp, #272]
    ldp d9, d8, [sp, #240]
    ldp d11, d10, [sp, #224]
    ldp d13, d12, [sp, #208]
    ldp d15, d14, [sp, #192]
    add sp, sp, #288
    ret
L4:
    mov w9, #134217728
    stp q0, q0, [sp, #48]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #220
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    str q0, [sp, #80]
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp d1, d2, [sp, #32]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    b L3
L5:
    ldr w11, [x0, #72]
    tst w11, #0xffff
    b.eq L6
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #4
    b.hs L7
    mov w10, #19
    b L8
L6:
    mov w10, #21
    b L8
L7:
    and w9, w11, #0xffff
    mov w12, #18
    mov w13, #20
    cmp w9, #4
    csel w9, w11, w10, lo
    csel w10, w13, w12, lo
L8:
    strb w10, [x8]
    mov w10, #4
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    b L3

hot_post_memcpy:
    ldp w9, w10, [x2, #8]
    movi v1.2d, #0000000000000000
    ldr x13, [x1]
    ldr x15, [x2]
    ldp w12, w11, [x1, #8]
    and w14, w9, #0x7fffffff
    rev w10, w10
    mov w16, #-2147483648
    rev w14, w14
    fmov s3, w14
    rev w12, w12
    rev x14, x3
    mov v1.s[1], w12
    rev x12, x13
    rev x13, x15
    fmov d0, x12
    fmov d5, x13
    fmov d4, x14
    mov v3.s[1], w10
    cmp w11, w16
    csel w10, w11, w16, lo
    cmp w9, w16
    b.hi L2
    sub w12, w9, #1
    cmp w12, w11
    b.hs L2
    ldr w9, [x0, #100]
    cmp w9, #64
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w11, #1
    rev w10, w9
    movi v6.2d, #0000000000000000
    dup v2.2d, x11
    ldp x12, x11, [x0, #40]
    lsr w10, w10, #8
    ldr w13, [x0, #56]
    mov v1.d[1], v0.d[0]
    orr x10, x11, x10
    lsl w11, w9, #4
    mov v2.d[0], x4
    mov v6.d[0], x10
    adrp x10, .LCPI_1
    add w9, w9, #1
    and x11, x13, x11
    ldr q7, [x10, :lo12:.LCPI_1]
    and w9, w9, #0xffff
    str q2, [x12, x11]
    mov v2.16b, v3.16b
    mov v3.d[1], v4.d[0]
    ldr x10, [x0, #32]
    orr v0.16b, v6.16b, v7.16b
    mov v2.d[1], v5.d[0]
    add x10, x10, x11, lsl #2
    stp q0, q1, [x10]
    stp q2, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w11, #1
    rev w10, w9
    movi v2.2d, #0000000000000000
    dup v6.2d, x11
    ldp x12, x11, [x0, #40]
    lsr w10, w10, #8
    ldr w13, [x0, #56]
    mov v1.d[1], v0.d[0]
    mov v0.16b, v3.16b
    mov v3.d[1], v4.d[0]
    orr x10, x11, x10
    lsl w11, w9, #4
    mov v6.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_1
    add w9, w9, #1
    and x11, x13, x11
    mov v0.d[1], v5.d[0]
    and w9, w9, #0xffff
    str q6, [x12, x11]
    ldr q6, [x10, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    orr v2.16b, v2.16b, v6.16b
    add x10, x10, x11, lsl #2
    stp q2, q1, [x10]
    stp q0, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    adrp x11, .LCPI_0
    stp d1, d0, [sp, #32]
    ldr q0, [x11, :lo12:.LCPI_0]
    stp w9, w10, [sp, #164]
    adrp x10, .Lanon
    add x10, x10, :lo12:.Lanon
    mov w11, #1
    str x0, [sp]
    str q0, [sp, #96]
    ldr q0, [x10]
    mov w9, #65536
    stp x11, xzr, [sp, #128]
    mov x0, sp
    stp x11, xzr, [sp, #144]
    mov w11, #17
    stp xzr, xzr, [sp, #80]
    stp d3, d5, [sp, #48]
    stp d3, d4, [sp, #64]
    stp x4, xzr, [sp, #112]
    strb w11, [sp, #160]
    str wzr, [sp, #184]
    str xzr, [sp, #176]
    str x9, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_one_fence:
    movi v0.2d, #0000000000000000
    rev w9, w2
    rev x10, x1
    fmov d1, x10
    mov v0.s[0], w9
    ldr w9, [x0, #104]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q5, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v0.16b, v2.16b, v3.16b
    movi v3.2d, #0000000000000000
    orr v2.16b, v4.16b, v5.16b
    add x10, x12, x11, lsl #2
    stp q0, q1, [x10]
    str q2, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q0, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v2.16b, v2.16b, v3.16b
    orr v0.16b, v4.16b, v0.16b
    add x10, x12, x11, lsl #2
    stp q2, q1, [x10]
    str q0, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v2.2d, #0000000000000000
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp q2, q2, [sp, #48]
    str q2, [sp, #80]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::exclusive::ExclusiveRegister<blueflame::db::mode::OneFence>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_order:
    ldr x9, [x1, #112]
    cmp x9, #4
    b.lo L1
    ldr w9, [x1, #56]
    rev w10, w2
    ldrh w11, [x1, #122]
    movi v0.2d, #0000000000000000
    ldr q1, [x1, #48]
    movi v2.2d, #0000000000000000
    mvn w9, w9
    add x9, x9, x10
    mov v1.s[2], wzr
    add x11, x9, x11
    ror x12, x11, #32
    mov v0.d[1], x10
    mov w10, #65535
    add x11, x12, x11
    lsr x11, x11, #32
    orr v0.16b, v1.16b, v0.16b
    ror w12, w11, #16
    add w11, w12, w11
    ldrh w12, [x1, #124]
    mov v0.h[3], wzr
    lsr w11, w11, #16
    add x9, x9, x12
    cmp w11, w10
    mov w10, #-1
    ror x12, x9, #32
    csinv w10, w10, w11, eq
    strh w11, [x1, #122]
    lsr w13, w10, #8
    lsl x10, x10, #48
    add x9, x12, x9
    lsr x9, x9, #32
    orr x10, x10, x13, lsl #56
    ror w12, w9, #16
    mov v2.d[0], x10
    add w9, w12, w9
    lsr w9, w9, #16
    orr v0.16b, v2.16b, v0.16b
    strh w9, [x1, #124]
    str q0, [x1, #48]
L1:
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L3
    rev w11, w9
    movi v0.2d, #0000000000000000
    ldr x10, [x0, #48]
    lsr w11, w11, #8
    movi v1.2d, #0000000000000000
    ldrh w13, [x1, #14]
    mov x14, #107752139522048
    ldp d2, d7, [x1, #16]
    orr x10, x10, x11
    adrp x12, .LCPI_0
    ldr w11, [x0, #56]
    mov v0.d[0], x10
    orr x10, x14, x13, lsl #48
    adrp x13, .LCPI_1
    ldp d3, d6, [x1, #32]
    mov v2.d[1], v7.d[0]
    ldp d4, d16, [x1, #48]
    ldr q7, [x12, :lo12:.LCPI_0]
    ldp d5, d17, [x1, #64]
    lsl w12, w9, #4
    mov v1.d[1], x10
    ldp x14, x10, [x0, #32]
    orr v0.16b, v0.16b, v7.16b
    and x15, x11, x12
    ldr q7, [x13, :lo12:.LCPI_1]
    mov v3.d[1], v6.d[0]
    mov v4.d[1], v16.d[0]
    mov v5.d[1], v17.d[0]
    str q7, [x10, x15]
    ldp d6, d16, [x1, #80]
    ldp d7, d17, [x1, #96]
    add w12, w12, #16
    add x13, x14, x15, lsl #2
    ldr x14, [x0, #32]
    and w11, w12, w11
    mov v6.d[1], v16.d[0]
    and w11, w11, #0xffff0
    add w9, w9, #2
    mov v7.d[1], v17.d[0]
    add x10, x10, x11
    add x11, x14, w11, uxtw #2
    and w9, w9, #0xffff
    stp q0, q1, [x13]
    stp q2, q3, [x13, #32]
    stp xzr, xzr, [x10]
    stp q4, q5, [x11]
    stp q6, q7, [x11, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L2
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    mov v2.16b, v6.16b
    mov v3.16b, v7.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L3:
    ldrh w11, [x0, #72]
    cbz w11, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_receive:
    ldp w10, w9, [x0, #60]
    ldr w12, [x0, #52]
    sub w9, w10, w9
    cmp w9, w12
    b.hs L1
    ldr w12, [x0, #56]
    mov w11, #1
    lsl x9, x11, x12
    lsr x9, x9, #4
    cmp x2, x9
    b.ls L2
    stp w11, w12, [x8]
    stp x2, x9, [x8, #8]
    ret
L1:
    mov w11, wzr
    stp w11, w12, [x8]
    stp x2, x9, [x8, #8]
    ret
L2:
    and x13, x12, #0x3f
    cbz x2, L8
    lsl x11, x2, #4
    mov x14, x1
    sub x15, x11, #16
    mvn w12, w15
    tst x12, #0x30
    b.eq L4
    lsr w12, w15, #4
    mov x14, x1
    add w12, w12, #1
    and x12, x12, #0x3
    neg x16, x12
L3:
    ldr w12, [x14, #8]
    tbnz w12, #31, L13
    adds x16, x16, #1
    add x14, x14, #16
    b.lo L3
L4:
    cmp x15, #48
    b.hs L11
L5:
    ldr w12, [x0, #40]
    ldr x15, [x0]
    mov x14, xzr
    and w12, w12, w10
    lsl x13, x12, x13
    add x13, x15, x13
    add x15, x1, #12
    b L7
L6:
    subs x11, x11, #16
    add x15, x15, #16
    b.eq L9
L7:
    ldur w16, [x15, #-4]
    cbz w16, L6
    ldr w17, [x15]
    ldur x18, [x15, #-12]
    orr x16, x17, x16, lsl #32
    add x17, x13, x14, lsl #4
    rev x18, x18
    add x14, x14, #1
    rev x16, x16
    str x16, [x17]
    str x18, [x17, #8]
    b L6
L8:
    ldr w11, [x0, #40]
    mov x14, xzr
    and w12, w11, w10
    ldr x11, [x0]
    lsl x13, x12, x13
    add x13, x11, x13
L9:
    cmp x14, x9
    b.hs L10
    add x9, x13, x14, lsl #4
    mov x11, #281474976710656
    str x11, [x9]
    str xzr, [x9, #8]
L10:
    ldr x9, [x0, #16]
    add w10, w10, #1
    mov w11, #3
    str w10, [x0, #60]
    str x3, [x9, x12, lsl #3]
    and w9, w10, #0xffff
    dmb oshst
    rev w9, w9
    ldr x10, [x0, #8]
    str w9, [x10]
    str w11, [x8]
    ret
L11:
    add x15, x1, x11
L12:
    ldr w12, [x14, #8]
    tbnz w12, #31, L13
    ldr w12, [x14, #24]
    tbnz w12, #31, L13
    ldr w12, [x14, #40]
    tbnz w12, #31, L13
    ldr w12, [x14, #56]
    tbnz w12, #31, L13
    add x14, x14, #64
    cmp x14, x15
    b.ne L12
    b L5
L13:
    mov w11, #2
    stp w11, w12, [x8]
    stp x2, x9, [x8, #8]
    ret

hot_post_recordless:
    movi v0.2d, #0000000000000000
    rev w9, w2
    movi v2.2d, #0000000000000000
    rev x10, x1
    fmov d1, x10
    mov v0.s[0], w9
    ldr w9, [x0, #68]
    cmp w9, #7
    b.ls L1
    ldp w9, w10, [x0, #56]
    cmp w9, w10
    b.eq L2
    mov w12, #1
    rev w11, w9
    movi v4.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #32]
    lsr w11, w11, #8
    ldr w13, [x0, #48]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    ext v4.16b, v4.16b, v5.16b, #12
    and x11, x13, x11
    add w9, w9, #1
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q0, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #24]
    and w9, w9, #0xffff
    orr v2.16b, v2.16b, v3.16b
    orr v0.16b, v4.16b, v0.16b
    add x10, x12, x11, lsl #2
    stp q2, q1, [x10]
    str q0, [x10, #32]
    str w9, [x0, #56]
    dmb oshst
    dsb st
    ldr x9, [x0, #16]
    str d2, [x9]
    mov w9, #25
    dsb st
    strb w9, [x8]
    ret
L1:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp q2, q2, [sp, #48]
    str q2, [sp, #80]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, blueflame::db::recordless::RecordlessRegister>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L2:
    ldr w9, [x0, #64]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_segment:
    ldp q0, q1, [x2]
    ldrh w12, [x1, #122]
    uaddl2 v2.2d, v0.4s, v1.4s
    uaddl v0.2d, v0.2s, v1.2s
    add v0.2d, v0.2d, v2.2d
    addp d0, v0.2d
    fmov x9, d0
    ldp q0, q1, [x2]
    ror x10, x9, #32
    stp q0, q1, [x1, #80]
    add x9, x10, x9
    ldrh w10, [x1, #124]
    lsr x9, x9, #32
    eor w13, w10, #0xffff
    ror w11, w9, #16
    add w10, w11, w9
    add w9, w13, w12
    add w11, w9, w10, lsr #16
    ldr x9, [x1, #112]
    ror w12, w11, #16
    cmp x9, #32
    add w11, w12, w11
    lsr w11, w11, #16
    b.eq L1
    mov w12, #-53
    ldrh w13, [x1, #120]
    mov w15, #-33
    sub w12, w12, w9
    movi v0.2d, #0000000000000000
    sub w9, w15, w9
    rev w12, w12
    ldp q1, q2, [x1, #16]
    add w12, w13, w12, lsr #16
    mov w13, #21504
    rev w9, w9
    add w9, w11, w9, lsr #16
    adrp x11, .LCPI_0
    add w12, w12, w13
    mov v1.h[7], wzr
    mov v2.h[3], wzr
    ror w13, w12, #16
    add w9, w9, #4, lsl #12
    ldr q3, [x11, :lo12:.LCPI_0]
    mov w11, #32
    add w12, w13, w12
    str x11, [x1, #112]
    lsr w12, w12, #16
    orr v1.16b, v1.16b, v3.16b
    mvn w13, w12
    strh w12, [x1, #120]
    lsr w14, w13, #8
    lsl x14, x14, #56
    orr x13, x14, x13, lsl #48
    mov v0.d[0], x13
    ror w13, w9, #16
    add w9, w13, w9
    lsr w11, w9, #16
    orr v0.16b, v0.16b, v2.16b
    stp q1, q0, [x1, #16]
L1:
    movi v0.2d, #0000000000000000
    ldr q2, [x1, #64]
    eor w9, w11, #0xffff
    movi v1.2d, #0000000000000000
    lsr w13, w10, #16
    strh w11, [x1, #122]
    mov v2.h[0], wzr
    strh w13, [x1, #124]
    mov v0.s[0], w9
    ldp w9, w12, [x0, #64]
    orr v0.16b, v2.16b, v0.16b
    sub w10, w12, w9
    and w11, w10, #0xffff
    cmp w11, #1
    str q0, [x1, #64]
    b.ls L3
    rev w10, w9
    movi v0.2d, #0000000000000000
    ldrh w11, [x1, #14]
    ldp x12, x15, [x0, #40]
    lsr w10, w10, #8
    ldp d2, d3, [x1, #16]
    mov x13, #107752139522048
    adrp x14, .LCPI_1
    orr x11, x13, x11, lsl #48
    lsl w13, w9, #4
    orr x10, x15, x10
    ldp d4, d7, [x1, #48]
    mov v0.d[0], x10
    mov v2.d[1], v3.d[0]
    ldr w10, [x0, #56]
    ldp d3, d6, [x1, #32]
    ldr q17, [x14, :lo12:.LCPI_1]
    ldp d5, d16, [x1, #64]
    mov v1.d[1], x11
    adrp x11, .LCPI_2
    and x15, x10, x13
    mov v4.d[1], v7.d[0]
    orr v0.16b, v0.16b, v17.16b
    ldr q17, [x11, :lo12:.LCPI_2]
    mov v3.d[1], v6.d[0]
    str q17, [x12, x15]
    mov v5.d[1], v16.d[0]
    ldr x14, [x0, #32]
    ldp d6, d16, [x1, #80]
    add w13, w13, #16
    ldp d7, d17, [x1, #96]
    add x11, x14, x15, lsl #2
    ldr x14, [x0, #32]
    and w10, w13, w10
    add w9, w9, #2
    mov v6.d[1], v16.d[0]
    and w10, w10, #0xffff0
    stp q0, q1, [x11]
    mov v7.d[1], v17.d[0]
    stp q2, q3, [x11, #32]
    add x11, x12, x10
    add x10, x14, w10, uxtw #2
    and w9, w9, #0xffff
    stp xzr, xzr, [x11]
    str w9, [x0, #64]
    rev w9, w9
    stp q4, q5, [x10]
    stp q6, q7, [x10, #32]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L2
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    mov v2.16b, v6.16b
    mov v3.16b, v7.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L3:
    ldrh w11, [x0, #72]
    cbz w11, L4
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L5
    mov w10, #19
    b L6
L4:
    mov w10, #21
    b L6
L5:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L6:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_post_send:
    ldr w9, [x0, #104]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w10, #1
    rev w11, w9
    movi v1.2d, #0000000000000000
    dup v0.2d, x10
    ldp x12, x10, [x0, #40]
    movi v2.2d, #0000000000000000
    lsr w11, w11, #8
    ldr d3, [x1]
    ldr w13, [x0, #56]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v0.d[0], x2
    mov v1.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    ext v2.16b, v2.16b, v3.16b, #12
    and x11, x13, x11
    adrp x13, .LCPI_1
    ldr q3, [x10, :lo12:.LCPI_0]
    str q0, [x12, x11]
    ldr q4, [x13, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    and w9, w9, #0xffff
    orr v0.16b, v1.16b, v3.16b
    movi v3.2d, #0000000000000000
    orr v1.16b, v2.16b, v4.16b
    add x10, x10, x11, lsl #2
    movi v2.2d, #0000000000000000
    stp q0, q1, [x10]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w10, #1
    rev w11, w9
    movi v1.2d, #0000000000000000
    dup v0.2d, x10
    ldp x12, x10, [x0, #40]
    movi v2.2d, #0000000000000000
    lsr w11, w11, #8
    ldr d3, [x1]
    ldr w13, [x0, #56]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v0.d[0], x2
    mov v1.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    ext v2.16b, v2.16b, v3.16b, #12
    and x11, x13, x11
    adrp x13, .LCPI_1
    ldr q3, [x10, :lo12:.LCPI_0]
    str q0, [x12, x11]
    ldr q0, [x13, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    and w9, w9, #0xffff
    orr v1.16b, v1.16b, v3.16b
    orr v0.16b, v2.16b, v0.16b
    add x10, x10, x11, lsl #2
    stp q1, q0, [x10]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d1, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v0.2d, #0000000000000000
    str x0, [sp]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    mov x0, sp
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x1, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp q0, q0, [sp, #32]
    stp q0, q0, [sp, #64]
    ldr q0, [x9]
    stp x2, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_shared:
    sub sp, sp, #304
    stp x29, x30, [sp, #240]
    str x28, [sp, #256]
    stp x22, x21, [sp, #272]
    stp x20, x19, [sp, #288]
    add x29, sp, #240
    movi v0.2d, #0000000000000000
    mov x19, x8
    rev w8, w2
    rev x9, x1
    fmov d5, x9
    mov v0.s[0], w8
    ldr w8, [x0, #96]
    cmp w8, #8
    b.lo L4
    ldp w8, w9, [x0, #56]
    cmp w8, w9
    b.eq L12
    mov w11, #1
    rev w10, w8
    movi v1.2d, #0000000000000000
    dup v2.2d, x11
    ldp x11, x9, [x0, #32]
    lsr w10, w10, #8
    movi v3.2d, #0000000000000000
    ldr w12, [x0, #48]
    ldr d4, [x3]
    mov v5.d[1], v0.d[0]
    orr x9, x9, x10
    lsl w10, w8, #4
    mov v2.d[0], x4
    mov v1.d[0], x9
    adrp x9, .LCPI_0
    add w8, w8, #1
    and x10, x12, x10
    ext v3.16b, v3.16b, v4.16b, #12
    and w8, w8, #0xffff
    str q2, [x11, x10]
    ldr q2, [x9, :lo12:.LCPI_0]
    adrp x9, .LCPI_1
    ldr q0, [x9, :lo12:.LCPI_1]
    ldr x11, [x0, #24]
    orr v1.16b, v1.16b, v2.16b
    orr v0.16b, v3.16b, v0.16b
    add x9, x11, x10, lsl #2
    stp q1, q5, [sp, #16]
    stp q1, q5, [x9]
    str q0, [sp]
    str q0, [x9, #32]
    str w8, [x0, #56]
    rev w8, w8
    dmb oshst
    ldr x9, [x0, #8]
    str w8, [x9]
    ldr x21, [x0, #16]
    add x20, x21, #24
L1:
    add x2, x21, #24
    mov w0, wzr
    mov w1, #1
    bl __aarch64_cas1_acq
    cmp w0, #0
    b.ne L3
    b L8
L2:
    isb
L3:
    ldrb w8, [x21, #24]
    cbnz w8, L2
    b L1
L4:
    ldr w8, [x0, #68]
    cmp w8, #7
    b.ls L11
    ldp w8, w9, [x0, #56]
    cmp w8, w9
    b.eq L12
    mov w11, #1
    rev w10, w8
    movi v1.2d, #0000000000000000
    dup v2.2d, x11
    ldp x11, x9, [x0, #32]
    lsr w10, w10, #8
    movi v3.2d, #0000000000000000
    ldr w12, [x0, #48]
    ldr d4, [x3]
    mov v5.d[1], v0.d[0]
    orr x9, x9, x10
    lsl w10, w8, #4
    mov v2.d[0], x4
    mov v1.d[0], x9
    adrp x9, .LCPI_0
    add w8, w8, #1
    and x10, x12, x10
    ext v3.16b, v3.16b, v4.16b, #12
    and w8, w8, #0xffff
    str q2, [x11, x10]
    ldr q2, [x9, :lo12:.LCPI_0]
    adrp x9, .LCPI_1
    ldr q0, [x9, :lo12:.LCPI_1]
    ldr x11, [x0, #24]
    orr v1.16b, v1.16b, v2.16b
    orr v0.16b, v3.16b, v0.16b
    add x9, x11, x10, lsl #2
    stp q1, q5, [x9]
    fmov x22, d1
    str q0, [x9, #32]
    str w8, [x0, #56]
    rev w8, w8
    dmb oshst
    ldr x9, [x0, #8]
    str w8, [x9]
    ldr x21, [x0, #16]
    add x20, x21, #24
L5:
    add x2, x21, #24
    mov w0, wzr
    mov w1, #1
    bl __aarch64_cas1_acq
    cmp w0, #0
    b.ne L7
    b L9
L6:
    isb
L7:
    ldrb w8, [x21, #24]
    cbnz w8, L6
    b L5
L8:
    ldp q0, q1, [sp, #16]
    movi v3.2d, #0000000000000000
    ldr q2, [sp]
    dsb st
    ldr x8, [x21]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    dsb st
    b L10
L9:
    dsb st
    ldr x8, [x21]
    str x22, [x8]
    dsb st
L10:
    ldp x8, x9, [x21]
    eor x8, x9, x8
    str x8, [x21]
    mov w8, #25
    stlrb wzr, [x20]
    strb w8, [x19]
    ldp x20, x19, [sp, #288]
    ldr x28, [sp, #256]
    ldp x22, x21, [sp, #272]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret
L11:
    mov w8, #134217728
    movi v1.2d, #0000000000000000
    stp d5, d0, [sp, #80]
    stp xzr, x8, [sp, #144]
    mov w8, #1
    stp x8, xzr, [sp, #176]
    mov w8, #8
    stp x3, x8, [sp, #192]
    mov w8, #18
    strb w8, [sp, #208]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    ldr q0, [x8]
    str x0, [sp, #48]
    add x0, sp, #48
    mov x8, x19
    stp q1, q1, [sp, #96]
    str q1, [sp, #128]
    stp x4, xzr, [sp, #160]
    str xzr, [sp, #224]
    str wzr, [sp, #232]
    str xzr, [sp, #72]
    stur q0, [sp, #56]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Rc, &blueflame::db::shared::SharedRegister>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>
    ldp x20, x19, [sp, #288]
    ldr x28, [sp, #256]
    ldp x22, x21, [sp, #272]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret
L12:
    ldr w8, [x0, #64]
    mov w9, #18
    mov w10, #21
    cmp w8, #0
    csel w8, w10, w9, eq
    mov w9, #1
    strb w8, [x19]
    stur w9, [x19, #2]
    ldp x20, x19, [sp, #288]
    ldr x28, [sp, #256]
    ldp x22, x21, [sp, #272]
    ldp x29, x30, [sp, #240]
    add sp, sp, #304
    ret

hot_post_signed:
    movi v3.2d, #0000000000000000
    rev w9, w2
    ldr w10, [x0, #104]
    cmp w10, #8
    mov v3.s[0], w9
    rev x9, x1
    fmov d1, x9
    b.lo L1
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    movi v0.2d, #0000000000000000
    ldr d2, [x3]
    adrp x12, .LCPI_0
    rev w13, w10
    fmov x14, d3
    mov v1.d[1], v3.d[0]
    lsr w13, w13, #8
    movi v3.2d, #0000000000000000
    ext v0.16b, v0.16b, v2.16b, #12
    ldr q2, [x12, :lo12:.LCPI_0]
    ldp x12, x11, [x0, #40]
    orr x11, x11, #0x8000000
    orr v2.16b, v0.16b, v2.16b
    orr x11, x11, #0x300000000000000
    orr x11, x11, x13
    mov x13, v0.d[1]
    and x15, x11, #0xfffffffff7ffffff
    eor x14, x15, x14
    fmov x15, d2
    eor x14, x14, x15
    eor x13, x14, x13
    lsl w14, w10, #4
    add w10, w10, #1
    eor x9, x13, x9
    mov w13, #1
    and w10, w10, #0xffff
    eor x9, x9, x9, lsr #32
    dup v0.2d, x13
    lsr x13, x9, #16
    mov v0.d[0], x4
    eor w9, w13, w9
    ldr w13, [x0, #56]
    eor w9, w9, w9, lsr #8
    and x13, x13, x14
    and x9, x9, #0xff
    str q0, [x12, x13]
    fmov d0, x11
    eor x9, x9, #0xff
    ldr x12, [x0, #32]
    eor x9, x9, #0x8000000
    mov v0.d[1], x9
    add x9, x12, x13, lsl #2
    stp q1, q2, [x9, #16]
    str q0, [x9]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w10, [x0, #76]
    cmp w10, #7
    b.ls L2
    ldp w10, w11, [x0, #64]
    cmp w10, w11
    b.eq L3
    movi v0.2d, #0000000000000000
    ldr d2, [x3]
    adrp x12, .LCPI_0
    rev w13, w10
    fmov x14, d3
    mov v1.d[1], v3.d[0]
    lsr w13, w13, #8
    ext v0.16b, v0.16b, v2.16b, #12
    ldr q2, [x12, :lo12:.LCPI_0]
    ldp x12, x11, [x0, #40]
    orr x11, x11, #0x8000000
    orr v2.16b, v0.16b, v2.16b
    orr x11, x11, #0x300000000000000
    orr x11, x11, x13
    mov x13, v0.d[1]
    and x15, x11, #0xfffffffff7ffffff
    eor x14, x15, x14
    fmov x15, d2
    eor x14, x14, x15
    eor x13, x14, x13
    lsl w14, w10, #4
    add w10, w10, #1
    eor x9, x13, x9
    mov w13, #1
    and w10, w10, #0xffff
    eor x9, x9, x9, lsr #32
    dup v0.2d, x13
    lsr x13, x9, #16
    mov v0.d[0], x4
    eor w9, w13, w9
    ldr w13, [x0, #56]
    eor w9, w9, w9, lsr #8
    and x13, x13, x14
    and x9, x9, #0xff
    str q0, [x12, x13]
    fmov d0, x11
    eor x9, x9, #0xff
    ldr x12, [x0, #32]
    eor x9, x9, #0x8000000
    mov v0.d[1], x9
    add x9, x12, x13, lsl #2
    stp q1, q2, [x9, #16]
    str q0, [x9]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    str x11, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v0.2d, #0000000000000000
    str x0, [sp]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    mov x0, sp
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp q0, q0, [sp, #48]
    str q0, [sp, #80]
    ldr q0, [x9]
    stp d1, d3, [sp, #32]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::post_composed<blueflame::wqe::table::Write, blueflame::wqe::data::Given<8, 0>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_slice:
    stp x29, x30, [sp, #-32]!
    str x19, [sp, #16]
    mov x29, sp
    ldr w10, [x0, #76]
    mov x19, x8
    cmp x4, x10
    b.hi L27
    mov x9, x1
    ldr w1, [x0, #64]
    cbz x4, L4
    add x8, x4, #4
    lsr x11, x8, #4
    tst x8, #0xf
    cinc x8, x11, ne
    add x8, x8, #2
    cmp x8, #63
    b.hi L28
    add w10, w8, #3
    ldr w12, [x0, #68]
    ubfx w11, w10, #2, #14
    sub w12, w12, w1
    cmp w11, w12, uxth
    b.hi L5
L1:
    rev w12, w1
    ldr w15, [x0, #56]
    ldr x17, [x0, #48]
    lsr w13, w12, #8
    lsl w12, w1, #4
    rev x9, x9
    ldp x16, x14, [x0, #32]
    orr x18, x13, x8, lsl #56
    and w13, w15, w12
    add x13, x16, w13, uxtw #2
    orr x17, x18, x17
    mov w18, #134217728
    orr x17, x17, #0x8000000
    stp x17, x18, [x13]
    rev w17, w2
    stp x9, x17, [x13, #16]
    cbz x4, L15
    orr w9, w4, #0x80000000
    cmp x4, #3
    rev w9, w9
    b.ls L6
    ldr w17, [x3]
    cmp x4, #11
    orr x9, x9, x17, lsl #32
    b.ls L7
    sub x17, x4, #12
    ldur x4, [x3, #4]
    add x18, x3, #12
    ands x2, x17, #0x7ffffffffffffff0
    and x17, x17, #0x800000000000000f
    stp x9, x4, [x13, #32]
    add x9, x13, #48
    b.eq L3
    lsl x3, x15, #2
    mov x4, x2
    mov x6, x18
    and x3, x3, #0x3ffffffc0
    add x3, x3, x16
    add x3, x3, #64
L2:
    ldr q0, [x6], #16
    str q0, [x9], #16
    cmp x9, x3
    csel x9, x16, x9, eq
    subs x4, x4, #16
    b.ne L2
L3:
    cbz x17, L15
    cmp x17, #7
    add x18, x18, x2
    b.ls L11
    ldr x16, [x18]
    cmp x17, #12
    sub x2, x17, #8
    b.ge L20
    cmp x17, #9
    b.gt L22
    cbz x2, L26
    ldrb w2, [x18, #8]
    b L26
L4:
    mov w8, #2
    add w10, w8, #3
    ldr w12, [x0, #68]
    ubfx w11, w10, #2, #14
    sub w12, w12, w1
    cmp w11, w12, uxth
    b.ls L1
L5:
    ldr w8, [x0, #72]
    tst w8, #0xffff
    b.eq L30
    ldr w9, [x0, #56]
    cmp w11, w8, uxth
    mov w14, #18
    mov w15, #20
    mov w13, #19
    csel w8, w8, w12, hi
    lsr w9, w9, #4
    csel x12, x15, x14, hi
    add w10, w9, #1
    cmp w11, w10, uxth
    csinc w10, w8, w9, ls
    csel x9, x13, x12, hi
    b L31
L6:
    cmp x4, #1
    b.ne L8
    ldrb w16, [x3]
    b L9
L7:
    cmp x4, #8
    sub x16, x4, #4
    b.hs L10
    cmp x4, #5
    b.hi L12
    cbz x16, L14
    ldrb w16, [x3, #4]
    b L14
L8:
    add x16, x3, x4
    lsl w17, w4, #3
    ldrh w18, [x3]
    ldurb w16, [x16, #-1]
    sub w17, w17, #8
    lsl x16, x16, x17
    orr x16, x16, x18
L9:
    orr x9, x9, x16, lsl #32
    mov x16, xzr
    b L14
L10:
    add x17, x3, x4
    lsl w16, w16, #3
    ldr w18, [x3, #4]
    ldur w17, [x17, #-4]
    sub w16, w16, #32
    b L13
L11:
    cmp x17, #4
    b.hs L21
    cmp x17, #1
    b.ne L24
    ldrb w16, [x18]
    mov x2, xzr
    b L26
L12:
    add x17, x3, x4
    lsl w16, w16, #3
    ldrh w18, [x3, #4]
    ldurb w17, [x17, #-1]
    sub w16, w16, #8
L13:
    lsl x16, x17, x16
    orr x16, x16, x18
L14:
    stp x9, x16, [x13, #32]
L15:
    ubfiz w9, w1, #4, #16
    cmp w11, #1
    and x9, x9, x15
    add x9, x14, x9
    stp x5, x11, [x9]
    b.eq L18
L16:
    lsl w16, w1, #4
    and w9, w15, #0xffff0
    sub w11, w11, #1
    add w15, w16, #16
L17:
    and x16, x15, x9
    subs w11, w11, #1
    add w15, w15, #16
    add x16, x14, x16
    stp x5, xzr, [x16]
    b.ne L17
L18:
    add w9, w8, #3
    ldr x2, [x13]
    and w10, w10, #0x7c
    add w9, w1, w9, lsr #2
    cmp w10, #4
    and w9, w9, #0xffff
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x11, [x0, #24]
    str w9, [x11]
    b.ne L19
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L19
    ldr w8, [x0, #56]
    ldr x9, [x0, #32]
    dsb st
    and w8, w8, w12
    add x8, x9, w8, uxtw #2
    ldr x9, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x8, [x0, #8]
    eor x8, x8, x9
    str x8, [x0]
    mov w8, #25
    strb w8, [x19]
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
L19:
    orr x3, x8, #0x100
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov w8, #25
    strb w8, [x19]
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
L20:
    add x17, x18, x17
    lsl w2, w2, #3
    ldr w18, [x18, #8]
    ldur w17, [x17, #-4]
    sub w2, w2, #32
    b L23
L21:
    add x16, x18, x17
    lsl w17, w17, #3
    ldr w18, [x18]
    ldur w16, [x16, #-4]
    mov x2, xzr
    sub w17, w17, #32
    b L25
L22:
    add x17, x18, x17
    lsl w2, w2, #3
    ldrh w18, [x18, #8]
    ldurb w17, [x17, #-1]
    sub w2, w2, #8
L23:
    lsl x17, x17, x2
    orr x2, x17, x18
    b L26
L24:
    add x16, x18, x17
    lsl w17, w17, #3
    ldrh w18, [x18]
    ldurb w16, [x16, #-1]
    mov x2, xzr
    sub w17, w17, #8
L25:
    lsl x16, x16, x17
    orr x16, x16, x18
L26:
    stp x16, x2, [x9]
    ubfiz w9, w1, #4, #16
    cmp w11, #1
    and x9, x9, x15
    add x9, x14, x9
    stp x5, x11, [x9]
    b.ne L16
    b L18
L27:
    mov w9, #4
    b L29
L28:
    mov w9, #5
    mov x4, x8
L29:
    lsl x10, x10, #16
    mov w8, #16128
    orr x8, x8, x10, lsl #16
    orr x8, x8, x9
    stp x8, x4, [x19]
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
L30:
    mov w9, #21
L31:
    orr w10, w11, w10, lsl #16
    orr x8, xzr, x10, lsl #16
    orr x8, x8, x9
    stp x8, x11, [x19]
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret

hot_post_tag:
    ldr w11, [x3, #8]
    cbz w11, L1
    ldr w9, [x3, #12]
    ldr x13, [x3]
    rev w10, w11
    rev w12, w9
    rev x9, x13
    b L2
L1:
    mov x9, xzr
    mov w10, wzr
    mov w12, #65536
L2:
    fmov s3, w10
    rev w10, w2
    mov w13, #49168
    and w10, w10, #0xffff0000
    orr x10, x10, x13
    mov v3.s[1], w12
    rev x12, x1
    fmov d2, x12
    tbnz w11, #31, L4
    ldr w12, [x0, #108]
    cbz w12, L3
    ldp w11, w12, [x0, #64]
    cmp w11, w12
    b.eq L5
    ldrb w12, [x0, #60]
    movi v0.2d, #0000000000000000
    mov w13, #1
    dup v4.2d, x13
    movi v1.2d, #0xffffffffffffffff
    rev w14, w11
    lsl x12, x12, #27
    ldp x17, x13, [x0, #40]
    movi v5.2d, #0000000000000000
    lsl w15, w11, #4
    ldr w16, [x0, #56]
    lsr w14, w14, #8
    mov v0.d[1], x12
    mov v4.d[0], x4
    adrp x12, .LCPI_0
    mov v2.d[1], v1.d[0]
    movi v1.2d, #0000000000000000
    ldr q6, [x12, :lo12:.LCPI_0]
    and x12, x16, x15
    orr x13, x13, x14
    str q4, [x17, x12]
    mov v5.d[0], x13
    fmov d4, x9
    orr v0.16b, v0.16b, v6.16b
    ldr x9, [x0, #32]
    mov v1.d[0], x10
    add w10, w11, #1
    mov v3.d[1], v4.d[0]
    add x9, x9, x12, lsl #2
    and w10, w10, #0xffff
    orr v0.16b, v5.16b, v0.16b
    stp q0, q1, [x9]
    stp q2, q3, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L3:
    ldr w12, [x0, #80]
    cbz w12, L4
    ldp w11, w12, [x0, #64]
    cmp w11, w12
    b.eq L5
    ldrb w12, [x0, #60]
    movi v0.2d, #0000000000000000
    mov w13, #1
    dup v4.2d, x13
    movi v1.2d, #0xffffffffffffffff
    rev w14, w11
    lsl x12, x12, #27
    ldp x17, x13, [x0, #40]
    movi v5.2d, #0000000000000000
    lsl w15, w11, #4
    ldr w16, [x0, #56]
    mov v0.d[1], x12
    mov v4.d[0], x4
    lsr w14, w14, #8
    adrp x12, .LCPI_0
    mov v2.d[1], v1.d[0]
    ldr q1, [x12, :lo12:.LCPI_0]
    and x12, x16, x15
    orr x13, x13, x14
    str q4, [x17, x12]
    movi v4.2d, #0000000000000000
    mov v5.d[0], x13
    orr v0.16b, v0.16b, v1.16b
    fmov d1, x9
    ldr x9, [x0, #32]
    add x9, x9, x12, lsl #2
    mov v3.d[1], v1.d[0]
    mov v4.d[0], x10
    orr v0.16b, v5.16b, v0.16b
    add w10, w11, #1
    and w10, w10, #0xffff
    stp q0, q4, [x9]
    stp q2, q3, [x9, #32]
    str w10, [x0, #64]
    rev w10, w10
    dmb oshst
    ldr x9, [x0, #24]
    str w10, [x9]
    dsb st
    ldr x9, [x0]
    str d0, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L4:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    stp x9, xzr, [sp, #72]
    mov w9, #1
    fmov d0, x10
    stp xzr, x9, [sp, #120]
    mov x10, #-1
    stp xzr, x9, [sp, #136]
    mov w9, #18
    strb w9, [sp, #160]
    lsr w9, w11, #31
    str d0, [sp, #32]
    strb w9, [sp, #187]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    str xzr, [sp, #40]
    str d2, [sp, #48]
    str x10, [sp, #56]
    str d3, [sp, #64]
    stp xzr, xzr, [sp, #88]
    stp xzr, x4, [sp, #104]
    str xzr, [sp, #152]
    str xzr, [sp, #176]
    strh wzr, [sp, #184]
    strb wzr, [sp, #186]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L5:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_two_fences:
    movi v0.2d, #0000000000000000
    rev w9, w2
    rev x10, x1
    fmov d1, x10
    mov v0.s[0], w9
    ldr w9, [x0, #104]
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q5, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v0.16b, v2.16b, v3.16b
    movi v3.2d, #0000000000000000
    orr v2.16b, v4.16b, v5.16b
    add x10, x12, x11, lsl #2
    stp q0, q1, [x10]
    str q2, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v2.2d, #0000000000000000
    dup v3.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v4.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d5, [x3]
    mov v1.d[1], v0.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v3.d[0], x4
    mov v2.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v4.16b, v4.16b, v5.16b, #12
    and w9, w9, #0xffff
    str q3, [x12, x11]
    ldr q3, [x10, :lo12:.LCPI_0]
    adrp x10, .LCPI_1
    ldr q0, [x10, :lo12:.LCPI_1]
    ldr x12, [x0, #32]
    orr v2.16b, v2.16b, v3.16b
    orr v0.16b, v4.16b, v0.16b
    add x10, x12, x11, lsl #2
    stp q2, q1, [x10]
    str q0, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v2.2d, #0000000000000000
    stp d1, d0, [sp, #32]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x3, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    ldr q0, [x9]
    str x0, [sp]
    mov x0, sp
    stp q2, q2, [sp, #48]
    str q2, [sp, #80]
    stp x4, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_post_xrc:
    movi v0.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    rev w9, w3
    rev w10, w1
    mov v3.s[0], w9
    mov v0.s[0], w10
    rev x10, x2
    ldr w9, [x0, #104]
    fmov d2, x10
    cmp w9, #8
    b.lo L1
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v4.2d, #0000000000000000
    dup v1.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v5.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d6, [x4]
    mov v2.d[1], v3.d[0]
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v1.d[0], x5
    mov v4.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v5.16b, v5.16b, v6.16b, #12
    ldr q7, [x10, :lo12:.LCPI_0]
    str q1, [x12, x11]
    adrp x12, .LCPI_1
    fmov d1, d0
    ldr q3, [x12, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    and w9, w9, #0xffff
    orr v0.16b, v4.16b, v7.16b
    orr v3.16b, v5.16b, v3.16b
    add x10, x10, x11, lsl #2
    stp q0, q1, [x10]
    stp q2, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    ldr w9, [x0, #76]
    cmp w9, #7
    b.ls L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    mov w12, #1
    rev w11, w9
    movi v1.2d, #0000000000000000
    dup v4.2d, x12
    ldp x12, x10, [x0, #40]
    lsr w11, w11, #8
    movi v5.2d, #0000000000000000
    ldr w13, [x0, #56]
    ldr d6, [x4]
    mov v2.d[1], v3.d[0]
    fmov d0, d0
    orr x10, x10, x11
    lsl w11, w9, #4
    mov v4.d[0], x5
    mov v1.d[0], x10
    adrp x10, .LCPI_0
    add w9, w9, #1
    and x11, x13, x11
    ext v5.16b, v5.16b, v6.16b, #12
    and w9, w9, #0xffff
    str q4, [x12, x11]
    adrp x12, .LCPI_1
    ldr q4, [x10, :lo12:.LCPI_0]
    ldr q3, [x12, :lo12:.LCPI_1]
    ldr x10, [x0, #32]
    orr v1.16b, v1.16b, v4.16b
    orr v3.16b, v5.16b, v3.16b
    add x10, x10, x11, lsl #2
    stp q1, q0, [x10]
    stp q2, q3, [x10, #32]
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    dsb st
    ldr x9, [x0]
    str d1, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    sub sp, sp, #208
    stp x29, x30, [sp, #192]
    add x29, sp, #192
    mov w9, #134217728
    movi v1.2d, #0000000000000000
    str x0, [sp]
    stp xzr, x9, [sp, #96]
    mov w9, #1
    mov x0, sp
    stp x9, xzr, [sp, #128]
    mov w9, #8
    stp x4, x9, [sp, #144]
    mov w9, #18
    strb w9, [sp, #160]
    adrp x9, .Lanon
    add x9, x9, :lo12:.Lanon
    stp d0, d1, [sp, #32]
    ldr q0, [x9]
    stp d2, d3, [sp, #48]
    stp q1, q1, [sp, #64]
    stp x5, xzr, [sp, #112]
    str xzr, [sp, #176]
    str wzr, [sp, #184]
    str xzr, [sp, #24]
    stur q0, [sp, #8]
    bl blueflame::queue::send::post::cold::<core::result::Result<(), blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>, core::result::Result<(), blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::RawPacket<18>>>::post_composed<blueflame::wqe::frame::Frame<18>, blueflame::wqe::data::Given<0, 1>>::{closure#2}>::{closure#0}>
    ldp x29, x30, [sp, #192]
    add sp, sp, #208
    ret
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_at:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    movi v5.2d, #0000000000000000
    ldr d3, [x4]
    rev x12, x2
    orr x10, x11, x10
    rev w11, w3
    lsl w13, w9, #4
    fmov d7, x10
    ext v16.16b, v0.16b, v3.16b, #12
    adrp x10, .LCPI_0
    ldp d6, d2, [x1, #16]
    add w9, w9, #1
    mov v5.s[0], w11
    ldr w11, [x0, #56]
    and w9, w9, #0xffff
    orr v3.8b, v7.8b, v1.8b
    fmov d1, x12
    ldr q7, [x10, :lo12:.LCPI_0]
    ldp x12, x10, [x0, #32]
    mov v6.d[1], v2.d[0]
    and x11, x11, x13
    orr v2.16b, v16.16b, v7.16b
    str w9, [x0, #64]
    mov v0.16b, v3.16b
    mov v1.d[1], v5.d[0]
    rev w9, w9
    add x12, x12, x11, lsl #2
    str q6, [x10, x11]
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldp x9, x10, [x0]
    str d3, [x9]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_datagram:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    ldr d2, [x2]
    ldp d5, d6, [x1, #16]
    orr x10, x11, x10
    lsl w11, w9, #4
    ldr w12, [x0, #56]
    fmov d3, x10
    ext v2.16b, v0.16b, v2.16b, #12
    adrp x10, .LCPI_0
    ldr q16, [x10, :lo12:.LCPI_0]
    ldp x13, x10, [x0, #32]
    mov v5.d[1], v6.d[0]
    and x11, x12, x11
    add w9, w9, #1
    orr v3.8b, v3.8b, v1.8b
    ldp d1, d7, [x1, #32]
    orr v2.16b, v2.16b, v16.16b
    add x12, x13, x11, lsl #2
    and w9, w9, #0xffff
    str q5, [x10, x11]
    mov v0.16b, v3.16b
    mov v1.d[1], v7.d[0]
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d3, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_datagram_full:
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L2
    rev w10, w9
    ldp x12, x11, [x0, #40]
    lsr w10, w10, #8
    ldp d0, d4, [x1]
    ldp d6, d7, [x1, #16]
    movi v19.2d, #0000000000000000
    orr x10, x11, x10
    ldp d2, d17, [x1, #48]
    fmov d5, x10
    ldr w10, [x0, #56]
    lsl w11, w9, #4
    ldp d1, d16, [x1, #32]
    ldr x13, [x0, #32]
    mov v2.d[1], v17.d[0]
    mov v17.16b, v6.16b
    and x14, x10, x11
    orr v5.8b, v5.8b, v0.8b
    ldp d3, d18, [x1, #64]
    add x15, x13, x14, lsl #2
    add w11, w11, #16
    mov v1.d[1], v16.d[0]
    mov v17.d[1], v7.d[0]
    and w10, w11, w10
    add w9, w9, #2
    mov v0.16b, v5.16b
    mov v3.d[1], v18.d[0]
    and w10, w10, #0xffff0
    ubfiz x11, x10, #2, #32
    and w9, w9, #0xffff
    str q17, [x12, x14]
    adrp x14, .LCPI_0
    mov v0.d[1], v4.d[0]
    ldr d4, [x2]
    ldr q7, [x14, :lo12:.LCPI_0]
    stp q1, q2, [x15, #16]
    ext v4.16b, v19.16b, v4.16b, #12
    str q3, [x15, #48]
    str w9, [x0, #64]
    rev w9, w9
    str q0, [x15]
    str q6, [x12, w10, uxtw]
    orr v4.16b, v4.16b, v7.16b
    str q4, [x13, x11]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v1.2d, #0000000000000000
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d5, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldrh w11, [x0, #72]
    cbz w11, L3
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L4
    mov w10, #19
    b L5
L3:
    mov w10, #21
    b L5
L4:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L5:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_prepared_dynamic:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v1.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d0, d5, [x1]
    ldr d4, [x2]
    ldp d2, d7, [x1, #48]
    orr x10, x11, x10
    ldp d6, d3, [x1, #16]
    fmov d16, x10
    ext v17.16b, v1.16b, v4.16b, #12
    adrp x11, .LCPI_0
    mov v2.d[1], v7.d[0]
    ldp d1, d7, [x1, #32]
    ldp x12, x10, [x0, #32]
    lsl w13, w9, #4
    orr v4.8b, v16.8b, v0.8b
    ldr q16, [x11, :lo12:.LCPI_0]
    ldr w11, [x0, #56]
    mov v1.d[1], v7.d[0]
    mov v6.d[1], v3.d[0]
    add w9, w9, #1
    and x11, x11, x13
    orr v3.16b, v17.16b, v16.16b
    and w9, w9, #0xffff
    mov v0.16b, v4.16b
    add x12, x12, x11, lsl #2
    str w9, [x0, #64]
    str q6, [x10, x11]
    rev w9, w9
    stp q2, q3, [x12, #32]
    mov v0.d[1], v5.d[0]
    stp q0, q1, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d4, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_entry:
    ldr w9, [x2, #8]
    ldr x10, [x1, #400]
    cmp w9, #1
    b.lt L2
    ldrb w11, [x1, #432]
    tbnz w11, #0, L2
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L3
    rev w10, w9
    ldr x11, [x0, #48]
    ldr d0, [x2, #8]
    lsr w10, w10, #8
    ldr x12, [x2]
    ldp d1, d4, [x1]
    rev32 v2.8b, v0.8b
    orr x10, x11, x10
    rev x11, x12
    ldr w12, [x0, #56]
    fmov d0, x10
    ldp d5, d6, [x1, #16]
    lsl w10, w9, #4
    add w9, w9, #1
    and w9, w9, #0xffff
    orr v3.8b, v0.8b, v1.8b
    fmov d0, x11
    mov v5.d[1], v6.d[0]
    ldp d1, d7, [x1, #32]
    and x10, x12, x10
    ldp x11, x13, [x0, #32]
    str w9, [x0, #64]
    mov v2.d[1], v0.d[0]
    mov v0.16b, v3.16b
    rev w9, w9
    mov v1.d[1], v7.d[0]
    add x11, x11, x10, lsl #2
    str q5, [x13, x10]
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x11, #16]
    str q0, [x11]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #100]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d3, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    add w0, w9, w10
    b <blueflame::wqe::error::EncodeError>::odd_entry
L3:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_frame:
    ldp w9, w10, [x0, #64]
    sub w10, w10, w9
    and w11, w10, #0xffff
    cmp w11, #1
    b.ls L2
    rev w10, w9
    ldr x11, [x0, #48]
    ldr x12, [x1, #40]
    lsr w10, w10, #8
    ldrh w13, [x2]
    movi v17.2d, #0000000000000000
    ldp d0, d4, [x1]
    ldr d1, [x1, #32]
    orr x10, x11, x10
    ldp d6, d5, [x1, #16]
    fmov d7, x10
    orr x10, x12, x13, lsl #48
    ldrh w11, [x2, #58]
    ldur d2, [x2, #2]
    ldur d16, [x2, #10]
    ldur d3, [x2, #18]
    mov v18.16b, v6.16b
    mov v17.s[0], w11
    ldr w12, [x0, #56]
    orr v7.8b, v7.8b, v0.8b
    fmov d0, x10
    lsl w10, w9, #4
    ldp x14, x13, [x0, #32]
    mov v2.d[1], v16.d[0]
    mov v18.d[1], v5.d[0]
    ldur d5, [x2, #26]
    ldur d16, [x2, #42]
    mov v1.d[1], v0.d[0]
    mov v0.16b, v7.16b
    and x11, x12, x10
    mov v3.d[1], v5.d[0]
    ldur d5, [x2, #50]
    add w10, w10, #16
    str q18, [x13, x11]
    add x11, x14, x11, lsl #2
    and w10, w10, w12
    mov v0.d[1], v4.d[0]
    ldur d4, [x2, #34]
    mov v5.d[1], v17.d[0]
    and w10, w10, #0xffff0
    add w9, w9, #2
    mov v4.d[1], v16.d[0]
    stp q2, q3, [x11, #32]
    and w9, w9, #0xffff
    str w9, [x0, #64]
    rev w9, w9
    stp q0, q1, [x11]
    add x11, x14, w10, uxtw #2
    str q6, [x13, w10, uxtw]
    stp q4, q5, [x11]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #127
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    mov v0.16b, v4.16b
    mov v1.16b, v5.16b
    add x10, x9, #64
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d7, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldrh w11, [x0, #72]
    cbz w11, L3
    ldr w9, [x0, #56]
    lsr w9, w9, #4
    add w9, w9, #1
    and w12, w9, #0xffff
    cmp w12, #2
    b.hs L4
    mov w10, #19
    b L5
L3:
    mov w10, #21
    b L5
L4:
    cmp w11, #1
    mov w11, #18
    mov w12, #20
    csinc w9, w10, wzr, ne
    csel w10, w12, w11, eq
L5:
    strb w10, [x8]
    mov w10, #2
    and w9, w9, #0xffff
    strh w10, [x8, #2]
    str w9, [x8, #4]
    strh w10, [x8, #8]
    ret

hot_prepared_one_fence:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    ldr d2, [x2]
    ldp d5, d6, [x1, #16]
    orr x10, x11, x10
    lsl w11, w9, #4
    ldr w12, [x0, #56]
    fmov d3, x10
    ext v2.16b, v0.16b, v2.16b, #12
    adrp x10, .LCPI_0
    ldr q16, [x10, :lo12:.LCPI_0]
    ldp x13, x10, [x0, #32]
    mov v5.d[1], v6.d[0]
    and x11, x12, x11
    add w9, w9, #1
    orr v3.8b, v3.8b, v1.8b
    ldp d1, d7, [x1, #32]
    orr v2.16b, v2.16b, v16.16b
    add x12, x13, x11, lsl #2
    and w9, w9, #0xffff
    str q5, [x10, x11]
    mov v0.16b, v3.16b
    mov v1.d[1], v7.d[0]
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldp x9, x10, [x0]
    str d3, [x9]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_send:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldp x13, x11, [x0, #40]
    lsr w10, w10, #8
    ldp d0, d3, [x1]
    movi v1.2d, #0000000000000000
    ldr d4, [x2]
    ldr w12, [x0, #56]
    orr x10, x11, x10
    lsl w11, w9, #4
    add w9, w9, #1
    fmov d2, x10
    adrp x10, .LCPI_0
    and w9, w9, #0xffff
    and x11, x12, x11
    str w9, [x0, #64]
    rev w9, w9
    ext v1.16b, v1.16b, v4.16b, #12
    ldr q4, [x10, :lo12:.LCPI_0]
    ldr x10, [x0, #32]
    orr v2.8b, v2.8b, v0.8b
    ldp d5, d0, [x1, #16]
    add x10, x10, x11, lsl #2
    mov v5.d[1], v0.d[0]
    mov v0.16b, v2.16b
    orr v1.16b, v1.16b, v4.16b
    mov v0.d[1], v3.d[0]
    str q5, [x13, x11]
    stp q0, q1, [x10]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v2.2d, #0000000000000000
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_signaled_if:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v3.2d, #0000000000000000
    lsr w10, w10, #8
    ldr d0, [x1]
    ldr d5, [x4]
    ldp x12, x13, [x1, #256]
    cmp w2, #0
    orr x10, x11, x10
    ldp d2, d1, [x1, #24]
    fmov d6, x10
    ext v5.16b, v3.16b, v5.16b, #12
    ldr d4, [x1, #40]
    csel x11, x13, xzr, ne
    adrp x10, .LCPI_0
    lsl w13, w9, #4
    eor x11, x11, x12
    ldr w12, [x0, #56]
    ldr q7, [x10, :lo12:.LCPI_0]
    orr v3.8b, v6.8b, v0.8b
    fmov d16, x11
    fmov d6, x3
    ldp x11, x10, [x0, #32]
    mov v1.d[1], v4.d[0]
    and x12, x12, x13
    add w9, w9, #1
    mov v0.16b, v3.16b
    mov v6.d[1], v2.d[0]
    orr v2.16b, v5.16b, v7.16b
    add x11, x11, x12, lsl #2
    and w9, w9, #0xffff
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v16.d[0]
    str q6, [x10, x12]
    stp q1, q2, [x11, #16]
    str q0, [x11]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldp x9, x10, [x0]
    str d3, [x9]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_two_fences:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    ldr d2, [x2]
    ldp d5, d6, [x1, #16]
    orr x10, x11, x10
    lsl w11, w9, #4
    ldr w12, [x0, #56]
    fmov d3, x10
    ext v2.16b, v0.16b, v2.16b, #12
    adrp x10, .LCPI_0
    ldr q16, [x10, :lo12:.LCPI_0]
    ldp x13, x10, [x0, #32]
    mov v5.d[1], v6.d[0]
    and x11, x12, x11
    add w9, w9, #1
    orr v3.8b, v3.8b, v1.8b
    ldp d1, d7, [x1, #32]
    orr v2.16b, v2.16b, v16.16b
    add x12, x13, x11, lsl #2
    and w9, w9, #0xffff
    str q5, [x10, x11]
    mov v0.16b, v3.16b
    mov v1.d[1], v7.d[0]
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d3, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_prepared_xrc_at:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v1.2d, #0000000000000000
    lsr w10, w10, #8
    movi v3.2d, #0000000000000000
    ldr d5, [x4]
    ldp d0, d4, [x1]
    rev w12, w3
    orr x10, x11, x10
    rev x13, x2
    adrp x11, .LCPI_0
    fmov d16, x10
    mov v1.s[0], w12
    fmov d2, x13
    ldp d6, d7, [x1, #16]
    ext v3.16b, v3.16b, v5.16b, #12
    ldp x12, x10, [x0, #32]
    lsl w13, w9, #4
    orr v5.8b, v16.8b, v0.8b
    ldr q16, [x11, :lo12:.LCPI_0]
    ldr w11, [x0, #56]
    mov v6.d[1], v7.d[0]
    mov v2.d[1], v1.d[0]
    add w9, w9, #1
    ldp d1, d7, [x1, #32]
    and x11, x11, x13
    mov v0.16b, v5.16b
    orr v3.16b, v3.16b, v16.16b
    add x12, x12, x11, lsl #2
    and w9, w9, #0xffff
    str q6, [x10, x11]
    mov v1.d[1], v7.d[0]
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q2, q3, [x12, #32]
    stp q0, q1, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d5, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

hot_receive_frames:
    sub sp, sp, #112
    stp x29, x30, [sp, #32]
    str x25, [sp, #48]
    stp x24, x23, [sp, #64]
    stp x22, x21, [sp, #80]
    stp x20, x19, [sp, #96]
    add x29, sp, #32
    ldr x8, [x0, #64]
    ldr w10, [x1, #68]
    mov x9, x0
    cmp x8, x10, lsl #32
    b.ne L8
    ldr x19, [x2]
    mov x0, xzr
    mov w20, #16
    mov w21, #253
L1:
    ldp w10, w7, [x1, #80]
    ldp x4, x16, [x9, #24]
    mov x8, xzr
    ldp w17, w3, [x1, #88]
    ldr x12, [x1, #56]
    ldr w11, [x9, #8]
    sub x13, x20, x0
    ldr x14, [x9]
    ldr w15, [x1, #72]
    and x7, x7, #0x3f
    ldr x5, [x9, #16]
    ldr x6, [x9, #48]
    sub x22, x0, #16
    ldr w18, [x9, #40]
L2:
    ldr w23, [x14, #60]
    rev w23, w23
    eor w23, w23, w18
    and w24, w23, w21
    cmp w24, #32
    b.ne L5
    dmb oshld
    ldr w24, [x14, #44]
    ldrh w25, [x14, #2]
    rev w25, w25
    eor w25, w17, w25, lsr #16
    tst w25, w3
    b.ne L5
    lsr w23, w23, #16
    cmp w23, w15, uxth
    b.ne L5
    rev w23, w24
    lsr w24, w23, #16
    add w15, w24, w15
    cmp w15, w10
    b.hi L5
    and w23, w23, #0xffff
    lsl x24, x24, x7
    sub w25, w23, #1
    add x25, x12, x25
    cmp x25, x24
    b.hs L5
    str w15, [x1, #72]
    cmp x14, x4
    add w11, w11, #1
    ldr w24, [x14, #56]
    ldrb wzr, [x14]
    ldrh wzr, [x14, #28]
    and w24, w24, #0xffffff00
    rev w24, w24
    add w23, w24, w23
    add x19, x19, x23
    str x19, [x2]
    b.eq L3
    add x14, x14, x16
    sub x8, x8, #1
    rev w23, w11
    cmp x22, x8
    str w23, [x6]
    b.ne L2
    b L4
L3:
    eor w18, w18, #0x1
    and w11, w11, #0xffffff
    mov x14, x5
    str w18, [x9, #40]
    sub x8, x8, #1
    rev w23, w11
    cmp x22, x8
    str w23, [x6]
    b.ne L2
L4:
    str x14, [x9]
    str w11, [x9, #8]
    add x0, x13, x0
    cmp x0, #16
    b.lo L1
    b L9
L5:
    str x14, [x9]
    str w11, [x9, #8]
    cbz x8, L6
    neg x13, x8
    add x0, x13, x0
    cmp x0, #16
    b.lo L1
    b L9
L6:
    ldr w8, [x14, #60]
    eor w8, w18, w8, lsr #24
    ubfx w10, w8, #1, #7
    orr w8, w10, w8, lsl #7
    and w8, w8, #0xff
    cmp w8, #119
    b.hi L9
    mov x25, x0
    mov x8, sp
    mov x22, x1
    mov x0, x1
    mov x1, x9
    mov x24, x2
    mov x23, x9
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Standard>
    ldrb w8, [sp]
    cmp w8, #2
    b.ne L10
    ldr x8, [sp, #8]
    mov x0, x25
    mov x2, x24
    cbz x8, L7
    ldr x8, [sp, #16]
    lsr x9, x8, #32
    and x8, x8, #0xffffff
    add x8, x8, w9, uxth
    add x19, x8, x19
    str x19, [x2]
L7:
    mov x9, x23
    mov x1, x22
    add x0, x0, #1
    cmp x0, #16
    b.lo L1
    b L9
L8:
    mov x8, sp
    mov x0, x1
    mov x1, x9
    mov w2, #16
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Standard>
    ldrb w8, [sp]
    ldr x9, [sp, #8]
    cmp w8, #2
    csel x0, x9, xzr, eq
L9:
    ldp x20, x19, [sp, #96]
    ldr x25, [sp, #48]
    ldp x22, x21, [sp, #80]
    ldp x24, x23, [sp, #64]
    ldp x29, x30, [sp, #32]
    add sp, sp, #112
    ret
L10:
    mov x0, xzr
    b L9

hot_receive_frames_and_completions:
    sub sp, sp, #192
    stp x29, x30, [sp, #96]
    stp x28, x27, [sp, #112]
    stp x26, x25, [sp, #128]
    stp x24, x23, [sp, #144]
    stp x22, x21, [sp, #160]
    stp x20, x19, [sp, #176]
    add x29, sp, #96
    ldr x25, [x0]
    ldr w8, [x25, #60]
    ldr w24, [x0, #40]
    rev w8, w8
    eor w8, w8, w24
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L10
    ldp x18, x17, [x0, #24]
    mov x20, x2
    ldr x9, [x0, #16]
    ldr w26, [x0, #8]
    mov x21, x1
    ldr x27, [x2]
    ldr w16, [x2, #8]
    mov w1, #253
    ldr x28, [x0, #64]
    ldr x19, [x0, #48]
    str x9, [sp, #8]
    mov w9, #1
L1:
    dmb oshld
    mov w8, w8
    mov x22, x9
    ldr w10, [x25, #44]
    and x11, x8, x1
    lsr w2, w8, #16
    cmp x11, #32
    rev w23, w10
    b.ne L5
    ldr w9, [x21, #68]
    cmp x28, x9, lsl #32
    b.ne L5
    ldr w11, [x21, #72]
    ldr x9, [x21, #56]
    ldp w12, w10, [x21, #80]
    ldrh w13, [x25, #2]
    cmp w2, w11, uxth
    b.ne L5
    ldp w14, w15, [x21, #88]
    rev w13, w13
    eor w13, w14, w13, lsr #16
    and w13, w13, w15
    cbnz w13, L5
    lsr w13, w23, #16
    add w11, w13, w11
    cmp w11, w12
    b.hi L5
    and x12, x10, #0x3f
    and w10, w23, #0xffff
    sub w14, w10, #1
    lsl x12, x13, x12
    add x9, x9, x14
    cmp x9, x12
    b.hs L5
    str w11, [x21, #72]
L2:
    ldr w8, [x25, #56]
    ldrb wzr, [x25]
    ldrh wzr, [x25, #28]
    and w8, w8, #0xffffff00
    rev w8, w8
    add w8, w8, w10
    add x27, x27, x8
    str x27, [x20]
    cmp x25, x18
    add w26, w26, #1
    b.eq L8
L3:
    add x25, x25, x17
    rev w8, w26
    cmp x22, #16
    str w8, [x19]
    b.eq L9
L4:
    ldr w8, [x25, #60]
    rev w8, w8
    eor w8, w8, w24
    ubfx w9, w8, #1, #7
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #120
    add x9, x22, #1
    b.lo L1
    b L9
L5:
    stp x0, x18, [sp, #24]
    sub x1, x29, #24
    mov x0, x21
    str x17, [sp, #16]
    mov w3, w23
    str w16, [sp, #44]
    ldr w9, [x25, #56]
    ldrh w10, [x25, #2]
    stp x8, x28, [x29, #-24]
    rev w8, w10
    rev w9, w9
    lsr w8, w8, #16
    stur w9, [x29, #-8]
    sturh w8, [x29, #-4]
    add x8, sp, #48
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::settle::<blueflame::cq::source::InQueue>
    ldrb w8, [sp, #48]
    cmp w8, #11
    b.ne L6
    ldr x8, [sp, #56]
    ldr w16, [sp, #44]
    mov w1, #253
    ldr x18, [sp, #32]
    cbz x8, L7
    ldp x17, x0, [sp, #16]
    and w10, w23, #0xffff
    b L2
L6:
    ldr w16, [sp, #44]
    ldr x18, [sp, #32]
    mov w1, #253
L7:
    ldp x17, x0, [sp, #16]
    add w16, w16, #1
    str w16, [x20, #8]
    cmp x25, x18
    add w26, w26, #1
    b.ne L3
L8:
    ldr x25, [sp, #8]
    eor w24, w24, #0x1
    and w26, w26, #0xffffff
    str w24, [x0, #40]
    rev w8, w26
    cmp x22, #16
    str w8, [x19]
    b.ne L4
L9:
    str x25, [x0]
    str w26, [x0, #8]
    b L11
L10:
    mov x22, xzr
L11:
    mov x0, x22
    ldp x20, x19, [sp, #176]
    ldp x22, x21, [sp, #160]
    ldp x24, x23, [sp, #144]
    ldp x26, x25, [sp, #128]
    ldp x28, x27, [sp, #112]
    ldp x29, x30, [sp, #96]
    add sp, sp, #192
    ret

hot_receive_frames_compressed:
    sub sp, sp, #128
    stp x29, x30, [sp, #32]
    stp x28, x27, [sp, #48]
    stp x26, x25, [sp, #64]
    stp x24, x23, [sp, #80]
    stp x22, x21, [sp, #96]
    stp x20, x19, [sp, #112]
    add x29, sp, #32
    ldr x8, [x0, #256]
    ldr w9, [x1, #68]
    mov x20, x1
    mov x19, x0
    cmp x8, x9, lsl #32
    b.ne L25
    ldr x27, [x2]
    mov x22, x2
    mov x21, xzr
    mov w28, #8
L1:
    ldp w10, w9, [x19, #128]
    ldr x16, [x19, #224]
    cmp w10, w9
    b.ne L2
    ldr w8, [x16, #60]
    ldr w9, [x19, #216]
    eor w8, w9, w8, lsr #24
    mov w9, #253
    and w9, w8, w9
    cmp w9, #44
    b.ne L20
    dmb oshld
    ldr w9, [x16, #44]
    rev w9, w9
    cmp w9, #2
    b.lo L20
    ldr w10, [x19, #220]
    cmp w9, w10
    b.hi L20
    ldr x10, [x19, #200]
    cmp x16, x10
    mov w10, #34
    and w2, w8, w10
    b.eq L22
    ldr x8, [x19, #208]
    mov w10, wzr
    add x11, x16, x8
    b L3
L2:
    ldrb w8, [x19, #144]
    cmp w8, #1
    b.ne L20
    ldrb w2, [x19, #142]
    tst w10, #0x7
    add x11, x19, #64
    csel x11, x16, x11, eq
    and w8, w2, #0xfffffffd
    cmp w8, #32
    b.ne L20
    mov x16, x19
L3:
    ldr w12, [x20, #72]
    ldr x14, [x20, #56]
    ldp w13, w17, [x20, #80]
    ldrh w8, [x16, #2]
    ldp w15, w18, [x20, #88]
    rev w8, w8
    eor w8, w15, w8, lsr #16
    tst w8, w18
    b.ne L20
    mov w8, #16
    ldr w18, [x16, #56]
    ldrb wzr, [x16]
    sub x15, x8, x21
    subs w8, w9, w10
    ldrh wzr, [x16, #28]
    cmp x15, x8
    mov w23, wzr
    csel x15, x15, x8, lo
    cmp w9, w10
    b.eq L9
    and w0, w18, #0xffffff00
    ldp x3, x18, [x19, #200]
    ldr x16, [x19, #224]
    ldr x1, [x19, #192]
    and x17, x17, #0x3f
    rev w0, w0
    mov x5, x27
    mov x6, x27
    sub x3, x3, x16
    add x4, x18, x3
L4:
    mov w7, w23
    add w27, w23, w10
    sub w24, w15, w23
    mul x7, x18, x7
    sub x30, x7, x4
    add x26, x16, x7
    cmp x7, x3
    add x30, x1, x30
    and w7, w27, #0x7
    csel x26, x26, x30, ls
    cmp w23, #0
    add w24, w24, w7
    csel x30, x11, x26, eq
    cmp w24, #8
    csel w27, w24, w28, lo
    cmp w15, w23
    b.ne L5
    mov x27, x5
    cmp w23, w15
    b.lo L4
    b L9
L5:
    ldr x24, [x30, x7, lsl #3]
    rev x24, x24
    ubfx x26, x24, #32, #16
    cmp w26, w12, uxth
    b.ne L23
    add x26, x30, x7, lsl #3
    mvn x30, x7
    add x30, x30, x27
    mov x27, x6
    add x7, x26, #8
L6:
    lsr w6, w24, #16
    and x24, x24, #0xffff
    sub w25, w24, #1
    mov w26, w6
    add w6, w6, w12
    add x25, x25, x14
    lsl x26, x26, x17
    cmp w6, w13
    ccmp x25, x26, #2, ls
    b.hs L8
    add x12, x24, x0
    add x27, x12, x27
    mov w12, w6
    str x27, [x22]
    cbz x30, L7
    ldr x5, [x7], #8
    sub x30, x30, #1
    add w23, w23, #1
    rev x24, x5
    ubfx x5, x24, #32, #16
    cmp w5, w6, uxth
    mov x5, x27
    b.eq L6
    b L9
L7:
    add w23, w23, #1
    mov x6, x27
    mov x5, x27
    cmp w23, w15
    b.lo L4
    b L9
L8:
    mov x27, x5
L9:
    cmp w23, w8
    str w12, [x20, #72]
    b.ne L11
L10:
    ldp x14, x11, [x19, #200]
    ldr x12, [x19, #224]
    mul x13, x11, x8
    sub x14, x14, x12
    cmp x13, x14
    b.ls L12
L11:
    cbz w23, L20
    mov w8, w9
    mov x0, x19
    mov w3, w23
    orr x1, x8, x10, lsl #32
    bl <blueflame::cq::completion_queue::CompletionQueue<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>>::leave_run
    b L18
L12:
    and w10, w8, #0xfffffff8
    ldrb w9, [x19, #216]
    ldrb w15, [x19, #143]
    mul x14, x11, x10
    orr w9, w9, #0xfffffff0
    orr w9, w15, w9, lsl #8
    cbz x14, L14
    lsl x16, x11, #3
    add x15, x12, x14
    add x17, x12, #62
    sub x18, x11, #62
L13:
    add x0, x17, x11
    strh w9, [x17]
    add x17, x17, x16
    add x1, x0, x11
    strh w9, [x0]
    add x2, x1, x11
    strh w9, [x1]
    add x0, x2, x11
    strh w9, [x2]
    add x1, x0, x11
    strh w9, [x0]
    add x2, x1, x11
    strh w9, [x1]
    add x0, x2, x11
    strh w9, [x2]
    add x1, x0, x18
    strh w9, [x0]
    cmp x1, x15
    b.ne L13
    add x13, x12, x13
    cmp x15, x13
    b.ne L15
    b L17
L14:
    add x13, x12, x13
    cmp x12, x13
    b.eq L17
L15:
    sub x10, x8, x10
    add x12, x12, x14
    mov x15, xzr
    mul x10, x11, x10
    add x12, x12, #62
L16:
    strh w9, [x12, x15]
    add x15, x15, x11
    cmp x10, x15
    b.ne L16
L17:
    ldr w9, [x19, #232]
    ldr w10, [x19, #132]
    str x13, [x19, #224]
    add w8, w9, w8
    ldr x9, [x19, #240]
    str w10, [x19, #128]
    str w8, [x19, #232]
    rev w8, w8
    str w8, [x9]
    cbz w23, L20
L18:
    mov w8, w23
L19:
    add x21, x21, x8
    cmp x21, #16
    b.lo L1
    b L26
L20:
    ldp w8, w9, [x19, #128]
    cmp w8, w9
    b.ne L21
    ldr x8, [x19, #224]
    ldr w8, [x8, #60]
    ldr w9, [x19, #216]
    eor w8, w9, w8, lsr #24
    ubfx w9, w8, #1, #7
    orr w8, w9, w8, lsl #7
    and w8, w8, #0xff
    cmp w8, #120
    b.hs L26
L21:
    mov x8, sp
    mov x0, x20
    mov x1, x19
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>
    ldrb w8, [sp]
    cmp w8, #2
    b.ne L27
    ldr x8, [sp, #8]
    cbz x8, L24
    ldr x8, [sp, #16]
    lsr x9, x8, #32
    and x8, x8, #0xffffff
    add x8, x8, w9, uxth
    add x27, x8, x27
    mov w8, #1
    str x27, [x22]
    b L19
L22:
    ldr x11, [x19, #192]
    mov w10, wzr
    b L3
L23:
    mov x27, x5
    cmp w23, w8
    str w12, [x20, #72]
    b.eq L10
    b L11
L24:
    mov w8, #1
    b L19
L25:
    mov x8, sp
    mov x0, x20
    mov x1, x19
    mov w2, #16
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride>>
    ldrb w8, [sp]
    ldr x9, [sp, #8]
    cmp w8, #2
    csel x21, x9, xzr, eq
L26:
    mov x0, x21
    ldp x20, x19, [sp, #112]
    ldp x22, x21, [sp, #96]
    ldp x24, x23, [sp, #80]
    ldp x26, x25, [sp, #64]
    ldp x28, x27, [sp, #48]
    ldp x29, x30, [sp, #32]
    add sp, sp, #128
    ret
L27:
    mov x21, xzr
    b L26

hot_retire_receive:
    ldp w10, w9, [x0, #60]
    mov w2, w1
    mov x1, x0
    cmp w9, w10
    b.eq L1
    eor w10, w2, w9
    ldr w11, [x1, #68]
    and w10, w10, #0xffff
    orr w10, w11, w10
    cbnz w10, L1
    ldr w10, [x1, #40]
    ldr x11, [x1, #16]
    and w10, w10, w9
    add w9, w9, #1
    ldr x10, [x11, w10, uxtw #3]
    str w9, [x1, #64]
    mov w9, #11
    strb w9, [x8]
    str x10, [x8, #8]
    ret
L1:
    mov x0, x8
    b <blueflame::queue::recv::queue::RecvQueue>::retire_any

hot_retire_send:
    ldp w9, w10, [x0, #68]
    ldr w11, [x0, #64]
    sub w12, w9, w10
    sub w10, w1, w12
    sub w14, w11, w12
    and w13, w10, #0xffff
    cmp w13, w14, uxth
    b.hs L1
    ldr w11, [x0, #56]
    ldr x12, [x0, #40]
    and w11, w11, w1, lsl #4
    and w11, w11, #0xffff0
    add x12, x12, x11
    ldr x11, [x12, #8]
    cbz x11, L2
    add w10, w10, w11
    lsr w11, w11, #16
    ldr x12, [x12]
    add w9, w10, w9
    strh w10, [x8, #18]
    and w9, w9, #0xffff
    add w10, w11, #1
    str x12, [x8, #8]
    str w9, [x0, #68]
    mov w9, #11
    strh w10, [x8, #16]
    strb w9, [x8]
    ret
L1:
    mov w9, #4
    strh w1, [x8, #2]
    strb w9, [x8]
    strh w12, [x8, #4]
    strh w11, [x8, #6]
    ret
L2:
    mov w9, #6
    strh w1, [x8, #2]
    strb w9, [x8]
    ret

hot_ring_staged:
    mov x8, x0
    ldr x0, [x0]
    ldp w1, w9, [x8, #24]
    ldp x2, x3, [x8, #8]
    ldrb w10, [x8, #32]
    str w9, [x0, #64]
    and w9, w9, #0xffff
    dmb oshst
    rev w9, w9
    ldr x8, [x0, #24]
    str w9, [x8]
    tbz w10, #0, L1
    ldr w8, [x0, #56]
    ldr x9, [x0, #32]
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldp q2, q3, [x8, #32]
    ldp q0, q1, [x8]
    dsb st
    ldr x8, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    dsb st
    ldr x9, [x0, #8]
    eor x8, x9, x8
    str x8, [x0]
    ret
L1:
    tst x3, #0xfe
    b.eq L2
    and w8, w3, #0xff
    add w8, w8, #3
    and w8, w8, #0x1fc
    cmp w8, #4
    b.ne L2
    add x8, x0, #96
    add x9, x0, #100
    tst x3, #0x100
    csel x8, x9, x8, eq
    ldr w8, [x8]
    cmp w8, #63
    b.ls L2
    ldr w8, [x0, #56]
    ldr x9, [x0, #32]
    dsb st
    and w8, w8, w1, lsl #4
    add x8, x9, w8, uxtw #2
    ldr x9, [x0]
    ld1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x8]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dsb st
    ldp x8, x9, [x0]
    eor x8, x9, x8
    str x8, [x0]
    ret
L2:
    b <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other

hot_session_inline:
    sub sp, sp, #208
    stp x29, x30, [sp, #112]
    stp x28, x27, [sp, #128]
    stp x26, x25, [sp, #144]
    stp x24, x23, [sp, #160]
    stp x22, x21, [sp, #176]
    stp x20, x19, [sp, #192]
    add x29, sp, #112
    ldrb w9, [x0, #88]
    cmp w9, #1
    b.ne L11
    ldp w20, w9, [x0, #64]
    subs w9, w9, w20
    b.eq L12
    ubfiz w9, w9, #2, #16
    mov w10, #63
    cmp w9, #63
    csel w19, w9, w10, lo
    cbz x2, L9
    ldr w9, [x0, #56]
    lsl w22, w20, #4
    ldr x11, [x0, #32]
    lsl x12, x2, #6
    mov w27, #128
    mov w21, wzr
    lsr w10, w9, #4
    and w9, w9, w22
    movk w27, #15360, lsl #16
    sub x25, x12, x2, lsl #2
    add w10, w10, #1
    and x10, x10, #0xffff
    sub x10, x10, x9, lsr #4
    add x9, x11, w9, uxtw #2
    lsl x10, x10, #2
    add x26, x9, #32
    cmp x10, x19
    csel x10, x10, x19, lo
    add x24, x9, x10, lsl #4
    sub x9, x29, #24
    sub x23, x19, x10
    orr x28, x9, #0x1
L1:
    add x9, x26, #64
    cmp x9, x24
    b.hi L3
    ldr w10, [x1]
    ldur x11, [x1, #4]
    add w21, w21, #1
    orr x10, x27, x10, lsl #32
    stp x10, x11, [x26]
    ldur q0, [x1, #12]
    str q0, [x26, #16]
    ldur q0, [x1, #28]
    str q0, [x26, #32]
    ldur q0, [x1, #44]
    str q0, [x26, #48]
    mov x26, x9
L2:
    subs x25, x25, #60
    add x1, x1, #60
    b.ne L1
    b L5
L3:
    ldr x9, [x0, #32]
    stp x8, x3, [sp, #16]
    sub x8, x29, #48
    str x0, [sp, #8]
    sub x0, x29, #24
    mov x2, x1
    mov x1, x9
    mov w3, #60
    mov w4, #4
    stp x26, x24, [x29, #-24]
    stur x23, [x29, #-8]
    str x2, [sp]
    bl <blueflame::queue::send::session::Room>::around
    ldur x8, [x29, #-48]
    cbz x8, L4
    ldp x24, x23, [x29, #-40]
    mov x26, x8
    ldp x0, x8, [sp, #8]
    add w21, w21, #1
    ldr x3, [sp, #24]
    ldr x1, [sp]
    b L2
L4:
    sub x8, x24, x26
    add x9, x19, #4
    mov x0, x19
    add x8, x23, x8, lsr #4
    sub x1, x9, x8
    sub x8, x29, #24
    bl <blueflame::queue::send::error::PostError>::session_full
    ldr x8, [x28]
    ldurb w9, [x29, #-24]
    ldur x10, [x28, #7]
    ldr x3, [sp, #24]
    ldr x1, [sp]
    str x8, [sp, #32]
    cmp w9, #25
    ldp x0, x8, [sp, #8]
    stur x10, [sp, #39]
    b.eq L2
    ldr x10, [sp, #32]
    ldur x11, [sp, #39]
    strb w9, [x8]
    str x10, [sp, #48]
    mov x9, x11
    stur x11, [sp, #55]
    ldr x10, [sp, #48]
    stur x10, [x8, #1]
    b L14
L5:
    tst w21, #0xffff
    b.eq L9
    sub x9, x24, x26
    ldr x16, [x0, #48]
    adrp x17, .LCPI_0
    add x9, x23, x9, lsr #4
    fmov d1, x3
    ldr w11, [x0, #56]
    ldr q0, [x17, :lo12:.LCPI_0]
    mov w17, #687865856
    sub x12, x19, x9
    rev w9, w20
    orr x16, x16, x17
    and w13, w12, #0xff
    lsr w14, w9, #8
    add w10, w13, #3
    cmp w13, #5
    lsr w9, w10, #2
    ldp x15, x10, [x0, #32]
    orr x12, x14, x12, lsl #56
    and w14, w11, w22
    orr w18, w9, w21, lsl #16
    add x15, x15, w14, uxtw #2
    orr x2, x12, x16
    sub x17, x18, #16, lsl #12
    mov v1.d[1], x17
    stur q0, [x15, #8]
    str x2, [x15]
    str xzr, [x15, #24]
    str q1, [x10, w14, uxtw]
    b.lo L7
    fmov d0, x3
    and x11, x11, #0xffff0
    add w12, w22, #16
    sub w13, w9, #1
    fmov d0, d0
L6:
    and x14, x12, x11
    subs w13, w13, #1
    add w12, w12, #16
    str q0, [x10, x14]
    b.ne L6
L7:
    add w9, w9, w20
    ldr w1, [x0, #64]
    and w11, w21, #0xffff
    and w9, w9, #0xffff
    cmp w11, #1
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    b.ne L8
    mov x3, xzr
    mov x19, x8
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov x8, x19
    b L9
L8:
    dsb st
    ldr x9, [x0]
    str x2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    str x9, [x0]
L9:
    mov w9, #25
    strb w9, [x8]
L10:
    ldp x20, x19, [sp, #192]
    ldp x22, x21, [sp, #176]
    ldp x24, x23, [sp, #160]
    ldp x26, x25, [sp, #144]
    ldp x28, x27, [sp, #128]
    ldp x29, x30, [sp, #112]
    add sp, sp, #208
    ret
L11:
    mov w9, #24
    b L13
L12:
    ldr w9, [x0, #72]
    mov w10, #21
    cmp w9, #0
    mov w9, #18
    csel w9, w10, w9, eq
L13:
    strb w9, [x8]
    mov w9, #1
    stur w9, [x8, #2]
    mov w9, #134217728
    strh wzr, [x8, #6]
L14:
    str x9, [x8, #8]
    b L10

hot_session_pointers:
    sub sp, sp, #176
    stp x29, x30, [sp, #80]
    stp x28, x27, [sp, #96]
    stp x26, x25, [sp, #112]
    stp x24, x23, [sp, #128]
    stp x22, x21, [sp, #144]
    stp x20, x19, [sp, #160]
    add x29, sp, #80
    ldrb w9, [x0, #88]
    cmp w9, #1
    b.ne L14
    ldp w20, w9, [x0, #64]
    subs w9, w9, w20
    b.eq L15
    ubfiz w9, w9, #2, #16
    mov w10, #63
    cmp w9, #63
    csel w19, w9, w10, lo
    cbz x2, L12
    ldr w9, [x0, #56]
    lsl w22, w20, #4
    ldr x11, [x0, #32]
    add x24, x1, x2, lsl #4
    mov w21, wzr
    lsr w10, w9, #4
    and w9, w9, w22
    add w10, w10, #1
    and x10, x10, #0xffff
    sub x10, x10, x9, lsr #4
    add x9, x11, w9, uxtw #2
    sub x11, x29, #16
    orr x26, x11, #0x1
    lsl x10, x10, #2
    add x25, x9, #32
    cmp x10, x19
    csel x10, x10, x19, lo
    add x23, x9, x10, lsl #4
    sub x27, x19, x10
L1:
    ldr w9, [x1, #8]
    cmp w9, #1
    b.lt L4
    ldr x10, [x1]
    ldr w11, [x1, #12]
    cmp x25, x23
    b.eq L6
L2:
    orr x9, x11, x9, lsl #32
    rev x10, x10
    add w21, w21, #1
    rev x9, x9
    stp x9, x10, [x25], #16
L3:
    add x1, x1, #16
    cmp x1, x24
    b.ne L1
    b L8
L4:
    str x0, [sp, #8]
    mov x28, x8
    sub x8, x29, #16
    mov w0, w9
    stp x3, x1, [sp, #16]
    bl <blueflame::wqe::error::EncodeError>::frame_size
L5:
    ldr x8, [x26]
    ldurb w9, [x29, #-16]
    ldur x10, [x26, #7]
    ldp x0, x3, [sp, #8]
    ldr x1, [sp, #24]
    cmp w9, #25
    str x8, [sp, #32]
    mov x8, x28
    stur x10, [sp, #39]
    b.eq L3
    b L17
L6:
    cbz x27, L7
    ldr x25, [x0, #32]
    add x23, x25, x27, lsl #4
    mov x27, xzr
    b L2
L7:
    stp x3, x1, [sp, #16]
    mov x28, x8
    sub x8, x29, #16
    str x0, [sp, #8]
    add x1, x19, #1
    mov x0, x19
    bl <blueflame::queue::send::error::PostError>::session_full
    b L5
L8:
    tst w21, #0xffff
    b.eq L12
    sub x9, x23, x25
    ldr x16, [x0, #48]
    adrp x17, .LCPI_0
    add x9, x27, x9, lsr #4
    fmov d1, x3
    ldr w11, [x0, #56]
    ldr q0, [x17, :lo12:.LCPI_0]
    mov w17, #687865856
    sub x12, x19, x9
    rev w9, w20
    orr x16, x16, x17
    and w13, w12, #0xff
    lsr w14, w9, #8
    add w10, w13, #3
    cmp w13, #5
    lsr w9, w10, #2
    ldp x15, x10, [x0, #32]
    orr x12, x14, x12, lsl #56
    and w14, w11, w22
    orr w18, w9, w21, lsl #16
    add x15, x15, w14, uxtw #2
    orr x2, x12, x16
    sub x17, x18, #16, lsl #12
    mov v1.d[1], x17
    stur q0, [x15, #8]
    str x2, [x15]
    str xzr, [x15, #24]
    str q1, [x10, w14, uxtw]
    b.lo L10
    fmov d0, x3
    and x11, x11, #0xffff0
    add w12, w22, #16
    sub w13, w9, #1
    fmov d0, d0
L9:
    and x14, x12, x11
    subs w13, w13, #1
    add w12, w12, #16
    str q0, [x10, x14]
    b.ne L9
L10:
    add w9, w9, w20
    ldr w1, [x0, #64]
    and w11, w21, #0xffff
    and w9, w9, #0xffff
    cmp w11, #1
    str w9, [x0, #64]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    b.ne L11
    mov x3, xzr
    mov x19, x8
    bl <blueflame::queue::send::queue::SendQueue<blueflame::transport::Signed<blueflame::transport::Rc>>>::ring_other
    mov x8, x19
    b L12
L11:
    dsb st
    ldr x9, [x0]
    str x2, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    str x9, [x0]
L12:
    mov w9, #25
    strb w9, [x8]
L13:
    ldp x20, x19, [sp, #160]
    ldp x22, x21, [sp, #144]
    ldp x24, x23, [sp, #128]
    ldp x26, x25, [sp, #112]
    ldp x28, x27, [sp, #96]
    ldp x29, x30, [sp, #80]
    add sp, sp, #176
    ret
L14:
    mov w9, #24
    b L16
L15:
    ldr w9, [x0, #72]
    mov w10, #21
    cmp w9, #0
    mov w9, #18
    csel w9, w10, w9, eq
L16:
    strb w9, [x8]
    mov w9, #1
    stur w9, [x8, #2]
    mov w9, #134217728
    strh wzr, [x8, #6]
    str x9, [x8, #8]
    b L13
L17:
    ldr x10, [sp, #32]
    ldur x11, [sp, #39]
    strb w9, [x8]
    stur x10, [x29, #-32]
    stur x11, [x29, #-25]
    ldur x10, [x29, #-32]
    stur x10, [x8, #1]
    str x11, [x8, #8]
    b L13

hot_stage:
    sub sp, sp, #272
    stp x29, x30, [sp, #224]
    stp x28, x21, [sp, #240]
    stp x20, x19, [sp, #256]
    add x29, sp, #224
    ldr w9, [x0, #76]
    ldr w19, [x0, #64]
    rev w10, w2
    cmp w9, #8
    rev x9, x1
    b.lo L2
    ldr w11, [x0, #68]
    cmp w19, w11
    b.eq L5
    fmov d0, x9
    ldp x12, x9, [x0, #40]
    lsl w13, w19, #4
    ldr w14, [x0, #56]
    rev w11, w19
    lsr w11, w11, #8
    mov w16, #128
    str w19, [x8, #24]
    and x13, x14, x13
    orr x9, x9, #0x8000000
    movk w16, #2048, lsl #16
    ldp w15, w14, [x3]
    orr x9, x9, #0x300000000000000
    mov v0.s[2], w10
    mov w10, #134217728
    orr x9, x9, x11
    dup v1.2d, x10
    add x10, x12, x13
    orr x11, x16, x15, lsl #32
    mov w12, #1
    stp x0, x9, [x8]
    stp x4, x12, [x10]
    fmov d2, x11
    mov v1.d[0], x9
    ldr x10, [x0, #32]
    mov v0.s[3], wzr
    mov w9, #259
    add w11, w19, #1
    add x10, x10, x13, lsl #2
    str x9, [x8, #16]
    mov v2.d[1], x14
    stp q1, q0, [x10]
    str q2, [x10, #32]
    ldr w10, [x0, #96]
    cmp w10, #63
    and w10, w11, #0xffff
    cset w9, hi
L1:
    str w10, [x8, #28]
    strb w9, [x8, #32]
    ldp x20, x19, [sp, #256]
    ldp x28, x21, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #272
    ret
L2:
    mov x21, x8
    mov w8, #134217728
    movi v0.2d, #0000000000000000
    stp x8, x4, [sp, #136]
    mov w8, #1
    mov x20, x0
    stp xzr, x8, [sp, #152]
    mov w8, #8
    str x8, [sp, #184]
    mov w8, #18
    strb w8, [sp, #192]
    adrp x8, .Lanon
    add x8, x8, :lo12:.Lanon
    stur q0, [sp, #76]
    stur q0, [sp, #92]
    stur q0, [sp, #108]
    stur q0, [sp, #120]
    ldr q0, [x8]
    mov x8, sp
    str x0, [sp, #24]
    add x0, sp, #24
    str w19, [sp, #32]
    str w10, [sp, #72]
    stp xzr, x3, [sp, #168]
    str xzr, [sp, #208]
    str wzr, [sp, #216]
    stp xzr, x9, [sp, #56]
    stur q0, [sp, #40]
    bl blueflame::queue::send::post::cold::<core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, blueflame::queue::send::post::out_of_line<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, core::result::Result<blueflame::queue::send::place::WqeInRing, blueflame::queue::send::error::PostError>, <blueflame::queue::send::queue::SendQueue<blueflame::transport::Ud>>::put_request<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>, (), <blueflame::queue::send::batch::SendBatch<blueflame::transport::Ud, blueflame::db::exclusive::ExclusiveRegister>>::push_unchecked<blueflame::wqe::operation::Addressed<blueflame::wqe::table::Send, blueflame::wqe::address::vector::UdAddress>, blueflame::wqe::data::Given<8, 0>>::{closure#0}>::{closure#1}>::{closure#0}>
    ldp x8, x11, [sp]
    ldr x10, [sp, #16]
    cmp x8, #1
    b.ne L3
    stp x11, x10, [x21]
    mov w9, #2
    strb w9, [x21, #32]
    ldp x20, x19, [sp, #256]
    ldp x28, x21, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #272
    ret
L3:
    tst x10, #0xfe
    mov w9, wzr
    mov x8, x21
    b.eq L4
    and w12, w10, #0xff
    add w12, w12, #3
    and w12, w12, #0x1fc
    cmp w12, #4
    b.ne L4
    add x9, x20, #96
    add x12, x20, #100
    tst x10, #0x100
    csel x9, x12, x9, eq
    ldr w9, [x9]
    cmp w9, #63
    cset w9, hi
L4:
    and w12, w10, #0xff
    stp x20, x11, [x8]
    add w12, w12, #3
    str x10, [x8, #16]
    add w12, w19, w12, lsr #2
    str w19, [x8, #24]
    and w10, w12, #0xffff
    b L1
L5:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    mov w9, #2
    stur w10, [x8, #2]
    strb w9, [x8, #32]
    ldp x20, x19, [sp, #256]
    ldp x28, x21, [sp, #240]
    ldp x29, x30, [sp, #224]
    add sp, sp, #272
    ret

hot_warm_order:
    ldr w8, [x0, #64]
    ldr w9, [x0, #56]
    ldp x10, x12, [x0, #32]
    lsl w8, w8, #4
    and w11, w9, w8
    add w8, w8, #16
    add x13, x10, w11, uxtw #2
    and w8, w9, w8
    prfm pstl1keep, [x13]
    and w8, w8, #0xffff0
    add x9, x12, x11
    prfm pstl1keep, [x9]
    add x10, x10, w8, uxtw #2
    prfm pstl1keep, [x10]
    add x8, x12, x8
    prfm pstl1keep, [x8]
    add x9, x1, #14
    ldr x8, [x0, #24]
    prfm pstl1keep, [x8]
    prfm pldl1keep, [x9]
    add x8, x1, #78
    prfm pldl1keep, [x8]
    ret

other_arm:
    ldr w8, [x0, #72]
    ldr w9, [x0, #8]
    ubfiz w8, w8, #28, #2
    orr w9, w9, w1
    orr w8, w9, w8
    ldr x9, [x0, #48]
    rev w10, w8
    str w10, [x9, #4]
    dsb st
    ldr w9, [x0, #76]
    orr x8, x9, x8, lsl #32
    ldr x9, [x0, #56]
    rev x8, x8
    str x8, [x9]
    dsb st
    ret

other_drop_frame_shared:
    stp x29, x30, [sp, #-32]!
    str x19, [sp, #16]
    mov x29, sp
    ldr x19, [x0, #16]
    mov w0, #-1
    add x1, x19, #16
    bl __aarch64_ldadd4_rel
    cmp w0, #1
    b.eq L1
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    ret
L1:
    mov x0, x19
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    b <blueflame::queue::striding::memory::BufferState>::free

other_flush:
    dsb st
    ret

other_flush_thread_register:
    dsb st
    ret

other_memory_arrived:
    ldp x8, x9, [x0]
    ldrb w8, [x8, x9]
    cmp w8, w1, uxtb
    b.ne L1
    dmb oshld
L1:
    cmp w8, w1, uxtb
    cset w0, eq
    ret

other_poll_compressed_enhanced:
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    sub x9, sp, #112
    and sp, x9, #0xffffffffffffffc0
    mov x8, x0
    ldr x10, [x1]
    mov x0, xzr
    add x9, x8, #64
    mov w11, #240
    mov w12, #12
    mov w13, #1
    mov w14, #44
    mov w15, #207
    b L3
L1:
    ldr x16, [x8, #240]
    rev w17, w18
    str w17, [x16]
L2:
    add x0, x0, #1
    cmp x0, #16
    b.eq L28
L3:
    ldp w3, w18, [x8, #128]
    ldr x16, [x8, #224]
    cmp w3, w18
    b.ne L4
    ldrb w18, [x8, #143]
    ldr w17, [x16, #60]
    rev w17, w17
    bics wzr, w11, w17
    b.eq L28
    lsr w2, w17, #8
    cmp w18, w2, uxtb
    b.ne L28
    dmb oshld
    bics wzr, w12, w17
    b.ne L6
    str wzr, [x8, #128]
    ubfx w17, w17, #4, #4
    ldr q0, [x16]
    ldr q1, [x16, #16]
    ldr q2, [x16, #32]
    ldr x18, [x16, #48]
    ldr x2, [x16, #56]
    cmp w17, #7
    stp q0, q1, [x8, #64]
    stp x18, x2, [x8, #112]
    add w18, w17, #1
    str q2, [x8, #96]
    str w18, [x8, #132]
    b.hs L25
    ldr w2, [x8, #220]
    cmp w17, w2
    b.hs L24
    ldrb w3, [x8, #144]
    tbz w3, #0, L24
    mov w2, v0.s[1]
    ldrb w18, [x8, #142]
    fmov w3, s0
    str w13, [x8, #128]
    cmp x18, #15
    b.hi L11
    rev w3, w3
    str w2, [x8, #44]
    lsr w4, w3, #8
    lsr w3, w3, #16
    strb w4, [x8, #56]
    cbnz w17, L13
    b L12
L4:
    add w2, w3, #1
    str w2, [x8, #128]
    cbz w3, L7
    ldrb w17, [x8, #143]
    ldrb w4, [x8, #216]
    orr w17, w17, w4, lsl #8
    orr w17, w17, #0xf000
    strh w17, [x16, #62]
    ldrb w4, [x8, #144]
    ldrb w17, [x8, #142]
    cmp w4, #1
    b.ne L14
    ubfiz x4, x3, #3, #3
    cmp x17, #16
    add x4, x9, x4
    ldp w5, w4, [x4]
    b.hs L8
L5:
    rev w3, w5
    str w4, [x8, #44]
    lsr w5, w3, #8
    lsr w3, w3, #16
    strb w5, [x8, #56]
    cmp w2, w18
    b.eq L9
    b L10
L6:
    and w17, w17, #0xfffffffe
    mov w2, #1
    b L15
L7:
    ldrb w4, [x8, #144]
    ldrb w17, [x8, #142]
    cmp w4, #1
    b.ne L14
    ldp w5, w4, [x8, #64]
    cmp x17, #15
    b.ls L5
L8:
    ldrh w6, [x8, #22]
    str w5, [x8, #12]
    ldrh w5, [x8, #140]
    str w4, [x8, #44]
    lsl w6, w6, #16
    add w3, w5, w3
    str w6, [x8, #20]
    cmp w2, w18
    b.ne L10
L9:
    ldrh w2, [x8, #140]
    add w18, w2, w18
    strh w18, [x8, #140]
L10:
    lsl w18, w3, #16
    mov w2, wzr
    orr x17, x18, x17
    b L15
L11:
    ldrh w4, [x8, #22]
    str w3, [x8, #12]
    ldrh w3, [x8, #140]
    str w2, [x8, #44]
    lsl w4, w4, #16
    str w4, [x8, #20]
    cbnz w17, L13
L12:
    ldrh w17, [x8, #140]
    add w17, w17, #1
    strh w17, [x8, #140]
L13:
    orr x17, x18, x3, lsl #16
L14:
    mov w2, wzr
L15:
    ldr w18, [x8, #232]
    ldr x3, [x8, #224]
    ldr x4, [x8, #200]
    add w18, w18, #1
    cmp x3, x4
    str w18, [x8, #232]
    b.eq L22
    ldr x4, [x8, #208]
    ldr x5, [x8, #192]
    add x3, x3, x4
    cmp x3, x5
    str x3, [x8, #224]
    b.eq L23
    mov x4, x8
    tbz w2, #0, L21
L16:
    ubfx w2, w17, #4, #4
    ldrb w4, [x8, #143]
    orr w2, w2, w17, lsl #4
    and w5, w2, w15
    ldr w2, [x3, #60]
    cmp w5, #4
    b.hi L19
    rev w3, w2
    mov w2, #1
    bics wzr, w11, w3
    b.eq L17
    lsr w5, w3, #8
    cmp w4, w5, uxtb
    b.ne L17
    bics wzr, w12, w3
    cset w2, eq
L17:
    ldr w3, [x8, #136]
    cmp w18, w3
    csel w2, wzr, w2, eq
    strb w2, [x8, #144]
    tbz w2, #0, L20
L18:
    ldr q0, [x16]
    ldr q1, [x16, #16]
    lsr w4, w17, #16
    ldr q2, [x16, #32]
    ldr x2, [x16, #48]
    ldr x3, [x16, #56]
    stp q0, q1, [x8]
    stp x2, x3, [x8, #48]
    add w2, w4, #1
    mov x4, x16
    str q2, [x8, #32]
    strb w17, [x8, #142]
    strh w2, [x8, #140]
    b L21
L19:
    ldr w3, [x8, #136]
    cmp w18, w3
    csel w2, wzr, wzr, eq
    strb w2, [x8, #144]
    tbnz w2, #0, L18
L20:
    mov x4, x16
L21:
    ldr w16, [x4, #44]
    add x10, x10, x17, lsr #16
    rev w17, w16
    ldr w16, [x8, #128]
    add x10, x10, x17
    str x10, [x1]
    cbz w16, L1
    ldr w17, [x8, #132]
    cmp w16, w17
    b.ne L2
    b L1
L22:
    ldr w4, [x8, #216]
    ldr x3, [x8, #192]
    and w18, w18, #0xffffff
    str w18, [x8, #232]
    eor w4, w4, #0x1
    str x3, [x8, #224]
    str w4, [x8, #216]
L23:
    ldrb w4, [x8, #143]
    add w4, w4, #1
    strb w4, [x8, #143]
    mov x4, x8
    tbnz w2, #0, L16
    b L21
L24:
    ldp q0, q1, [x9]
    cmp w17, w2
    stp q0, q1, [sp]
    ldp q0, q2, [x9, #32]
    stp q0, q2, [sp, #32]
    b.hs L26
    b L27
L25:
    ldp q0, q1, [x9]
    stp q0, q1, [sp]
    ldp q0, q2, [x9, #32]
    stp q0, q2, [sp, #32]
L26:
    mov w18, #1
L27:
    ldp q0, q1, [sp]
    mov w2, wzr
    strb wzr, [x8, #144]
    mov w17, #44
    strb w14, [x8, #142]
    stp q0, q1, [x8]
    ldp q0, q2, [sp, #32]
    stp w13, w18, [x8, #128]
    stp q0, q2, [x8, #32]
    b L15
L28:
    mov sp, x29
    ldp x29, x30, [sp], #16
    ret

other_poll_conservative:
    ldr x11, [x0]
    ldr w8, [x11, #60]
    ldr w10, [x0, #40]
    rev w8, w8
    eor w9, w8, w10
    ubfx w8, w9, #1, #7
    orr w8, w8, w9, lsl #7
    and w8, w8, #0xff
    cmp w8, #119
    b.hi L2
    dsb ld
    ldp x14, x13, [x0, #24]
    ldr q0, [x11]
    ldr q0, [x11, #16]
    ldr q0, [x11, #32]
    ldr xzr, [x11, #48]
    ldr xzr, [x11, #56]
    ldr w12, [x0, #8]
    cmp x11, x14
    add w12, w12, #1
    str w12, [x0, #8]
    b.eq L3
    add x11, x11, x13
L1:
    ldr x10, [x0, #48]
    str x11, [x0]
    rev w11, w12
    mov w12, v0.s[3]
    lsr w9, w9, #16
    str w11, [x10]
    ldr x10, [x1]
    rev w11, w12
    add x9, x9, x10
    add x9, x11, x9
    str x9, [x1]
L2:
    cmp w8, #120
    cset w0, lo
    ret
L3:
    ldr x11, [x0, #16]
    and w12, w12, #0xffffff
    eor w10, w10, #0x1
    str w12, [x0, #8]
    str w10, [x0, #40]
    b L1

other_post_shared_receive:
    ldrh w10, [x0, #44]
    ldrh w9, [x0, #46]
    cmp w10, w9
    b.ne L1
    ldr w13, [x0, #36]
    mov w11, wzr
    stp w11, w13, [x8]
    stp x2, x9, [x8, #8]
    ret
L1:
    ldr w12, [x0, #28]
    mov w11, #1
    lsl x9, x11, x12
    lsr x9, x9, #4
    sub x9, x9, #1
    cmp x2, x9
    b.ls L2
    stp w11, w13, [x8]
    stp x2, x9, [x8, #8]
    ret
L2:
    and x12, x12, #0x3f
    cbz x2, L8
    lsl x11, x2, #4
    mov x14, x1
    sub x15, x11, #16
    mvn w13, w15
    tst x13, #0x30
    b.eq L4
    lsr w13, w15, #4
    mov x14, x1
    add w13, w13, #1
    and x13, x13, #0x3
    neg x16, x13
L3:
    ldr w13, [x14, #8]
    tbnz w13, #31, L15
    adds x16, x16, #1
    add x14, x14, #16
    b.lo L3
L4:
    cmp x15, #48
    b.hs L13
L5:
    ldr x14, [x0]
    lsl x12, x10, x12
    mov x13, xzr
    add x15, x1, #12
    add x12, x14, x12
    add x14, x12, #16
    b L7
L6:
    subs x11, x11, #16
    add x15, x15, #16
    b.eq L9
L7:
    ldur w16, [x15, #-4]
    cbz w16, L6
    ldr w17, [x15]
    ldur x18, [x15, #-12]
    orr x16, x17, x16, lsl #32
    add x17, x14, x13, lsl #4
    rev x18, x18
    add x13, x13, #1
    rev x16, x16
    str x16, [x17]
    str x18, [x17, #8]
    b L6
L8:
    ldr x11, [x0]
    lsl x12, x10, x12
    mov x13, xzr
    add x12, x11, x12
L9:
    cmp x13, x9
    b.hs L10
    add x9, x12, x13, lsl #4
    mov x11, #281474976710656
    str x11, [x9, #16]
    str xzr, [x9, #24]
L10:
    ldr x11, [x0, #16]
    add x12, x11, x10, lsl #4
    ldrh w9, [x12, #8]
    str x3, [x12]
    cmp w10, w9
    b.eq L12
L11:
    add x12, x11, w10, uxtw #4
    ldrh w10, [x12, #8]
    orr w13, w10, #0x8000
    cmp w10, w9
    strh w13, [x12, #8]
    b.ne L11
L12:
    ldr w10, [x0, #32]
    ldrh w11, [x0, #48]
    strh w9, [x0, #44]
    add w9, w10, #1
    add w10, w11, #1
    mov w11, #3
    str w9, [x0, #32]
    and w9, w10, #0xffff
    strh w10, [x0, #48]
    rev w9, w9
    dmb oshst
    ldr x10, [x0, #8]
    str w9, [x10]
    str w11, [x8]
    ret
L13:
    add x15, x1, x11
L14:
    ldr w13, [x14, #8]
    tbnz w13, #31, L15
    ldr w13, [x14, #24]
    tbnz w13, #31, L15
    ldr w13, [x14, #40]
    tbnz w13, #31, L15
    ldr w13, [x14, #56]
    tbnz w13, #31, L15
    add x14, x14, #64
    cmp x14, x15
    b.ne L14
    b L5
L15:
    mov w11, #2
    stp w11, w13, [x8]
    stp x2, x9, [x8, #8]
    ret

other_prepared_doorbell_fence:
    ldp w9, w10, [x0, #64]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #48]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    ldr d2, [x2]
    ldp d5, d6, [x1, #16]
    orr x10, x11, x10
    lsl w11, w9, #4
    ldr w12, [x0, #56]
    fmov d3, x10
    ext v2.16b, v0.16b, v2.16b, #12
    adrp x10, .LCPI_0
    ldr q16, [x10, :lo12:.LCPI_0]
    ldp x13, x10, [x0, #32]
    mov v5.d[1], v6.d[0]
    and x11, x12, x11
    add w9, w9, #1
    orr v3.8b, v3.8b, v1.8b
    ldp d1, d7, [x1, #32]
    orr v2.16b, v2.16b, v16.16b
    add x12, x13, x11, lsl #2
    and w9, w9, #0xffff
    str q5, [x10, x11]
    mov v0.16b, v3.16b
    mov v1.d[1], v7.d[0]
    str w9, [x0, #64]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #24]
    str w9, [x10]
    ldr w9, [x0, #96]
    cmp w9, #63
    b.ls L1
    dsb st
    movi v3.2d, #0000000000000000
    ldr x9, [x0]
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x9]
    dgh
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L1:
    dsb st
    ldr x9, [x0]
    str d3, [x9]
    dsb st
    ldr x10, [x0, #8]
    eor x9, x10, x9
    mov w10, #25
    str x9, [x0]
    strb w10, [x8]
    ret
L2:
    ldr w9, [x0, #72]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

other_prepared_thread_register:
    ldp w9, w10, [x0, #56]
    cmp w9, w10
    b.eq L2
    rev w10, w9
    ldr x11, [x0, #40]
    movi v0.2d, #0000000000000000
    lsr w10, w10, #8
    ldp d1, d4, [x1]
    ldr d2, [x2]
    ldp d5, d6, [x1, #16]
    orr x10, x11, x10
    lsl w11, w9, #4
    ldr w12, [x0, #48]
    fmov d3, x10
    ext v2.16b, v0.16b, v2.16b, #12
    adrp x10, .LCPI_0
    ldr q16, [x10, :lo12:.LCPI_0]
    ldp x13, x10, [x0, #24]
    mov v5.d[1], v6.d[0]
    and x11, x12, x11
    add w9, w9, #1
    orr v3.8b, v3.8b, v1.8b
    ldp d1, d7, [x1, #32]
    orr v2.16b, v2.16b, v16.16b
    add x12, x13, x11, lsl #2
    and w9, w9, #0xffff
    str q5, [x10, x11]
    mov v0.16b, v3.16b
    mov v1.d[1], v7.d[0]
    str w9, [x0, #56]
    rev w9, w9
    mov v0.d[1], v4.d[0]
    stp q1, q2, [x12, #16]
    str q0, [x12]
    dmb oshst
    ldr x10, [x0, #8]
    str w9, [x10]
    ldr w9, [x0, #88]
    cmp w9, #63
    b.ls L1
    ldr x9, [x0, #16]
    movi v3.2d, #0000000000000000
    ldp x10, x11, [x9]
    dsb st
    st1 { v0.2d, v1.2d, v2.2d, v3.2d }, [x10]
    dsb st
    eor x10, x11, x10
    stp x10, x11, [x9]
    mov w9, #25
    strb w9, [x8]
    ret
L1:
    ldr x9, [x0, #16]
    ldp x10, x11, [x9]
    dsb st
    str d3, [x10]
    dsb st
    eor x10, x11, x10
    stp x10, x11, [x9]
    mov w9, #25
    strb w9, [x8]
    ret
L2:
    ldr w9, [x0, #64]
    mov w10, #18
    mov w11, #21
    cmp w9, #0
    csel w9, w11, w10, eq
    mov w10, #1
    strb w9, [x8]
    stur w10, [x8, #2]
    ret

other_receive_frame:
    sub sp, sp, #80
    stp x29, x30, [sp, #48]
    stp x20, x19, [sp, #64]
    add x29, sp, #48
    ldr x20, [x1, #16]
    ldr x8, [x1]
    mov w9, #253
    ldr w10, [x20, #44]
    and x9, x8, x9
    cmp x9, #32
    rev w19, w10
    b.ne L2
    ldr w9, [x0, #68]
    ldr x10, [x1, #8]
    lsl x9, x9, #32
    cmp x10, x9
    b.ne L3
    ldr w11, [x0, #72]
    lsr w15, w8, #16
    ldr x10, [x0, #56]
    ldp w13, w12, [x0, #80]
    ldrh w14, [x20, #2]
    cmp w15, w11, uxth
    b.ne L4
    ldp w15, w16, [x0, #88]
    rev w14, w14
    eor w14, w15, w14, lsr #16
    and w14, w14, w16
    cbnz w14, L4
    lsr w15, w19, #16
    add w14, w11, w15
    cmp w14, w13
    b.hi L4
    and x12, x12, #0x3f
    and w11, w19, #0xffff
    sub w13, w11, #1
    lsl x12, x15, x12
    add x10, x10, x13
    cmp x10, x12
    b.hs L4
    str w14, [x0, #72]
L1:
    ldr w8, [x20, #56]
    ldrb wzr, [x20]
    ldrh wzr, [x20, #28]
    and w8, w8, #0xffffff00
    rev w8, w8
    add w0, w11, w8
    ldp x20, x19, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #80
    ret
L2:
    ldr x9, [x1, #8]
    b L4
L3:
    mov x9, x10
L4:
    ldr w10, [x20, #56]
    ldrh w11, [x20, #2]
    lsr x2, x8, #16
    stp x8, x9, [sp, #24]
    mov x8, sp
    add x1, sp, #24
    rev w11, w11
    rev w10, w10
    mov w3, w19
    lsr w11, w11, #16
    str w10, [sp, #40]
    strh w11, [sp, #44]
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::settle::<blueflame::cq::source::InQueue>
    ldrb w8, [sp]
    cmp w8, #11
    b.ne L5
    ldr x8, [sp, #8]
    cbz x8, L5
    and w11, w19, #0xffff
    b L1
L5:
    mov x0, xzr
    ldp x20, x19, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #80
    ret

other_receive_frames_enhanced:
    sub sp, sp, #144
    str d8, [sp, #32]
    stp x29, x30, [sp, #48]
    stp x28, x27, [sp, #64]
    stp x26, x25, [sp, #80]
    stp x24, x23, [sp, #96]
    stp x22, x21, [sp, #112]
    stp x20, x19, [sp, #128]
    add x29, sp, #48
    ldr x8, [x0, #256]
    ldr w10, [x1, #68]
    mov x9, x0
    cmp x8, x10, lsl #32
    b.ne L23
    movi d8, #0xffff0000ffffff00
    ldr x26, [x2]
    mov x0, xzr
    add x22, x9, #64
    mov w24, #16
    mov w23, #240
    mov w25, #8
L1:
    ldp w11, w10, [x9, #128]
    ldr x12, [x9, #224]
    cmp w11, w10
    b.ne L2
    ldrb w10, [x9, #143]
    ldr w8, [x12, #60]
    rev w8, w8
    bics wzr, w23, w8
    b.eq L19
    lsr w11, w8, #8
    cmp w10, w11, uxtb
    mov w10, #12
    bic w10, w10, w8
    ccmp w10, #0, #0, eq
    b.ne L19
    and w8, w8, #0xff
    dmb oshld
    cmp w8, #111
    b.hi L19
    lsr w8, w8, #4
    ldr w11, [x9, #220]
    add w10, w8, #1
    cmp w11, w10
    b.lo L19
    mov w11, wzr
    b L3
L2:
    tst w11, #0x7
    csel x12, x12, x22, eq
L3:
    ldrb w8, [x9, #144]
    tbz w8, #0, L19
    ldrb w8, [x9, #142]
    and w8, w8, #0xfffffffd
    cmp w8, #32
    b.ne L19
    ldr w13, [x1, #72]
    ldr x15, [x1, #56]
    ldp w14, w3, [x1, #80]
    ldrh w8, [x9, #2]
    ldp w16, w17, [x1, #88]
    rev w8, w8
    eor w8, w16, w8, lsr #16
    tst w8, w17
    b.ne L19
    sub x16, x24, x0
    subs w8, w10, w11
    ldr wzr, [x9, #56]
    cmp x16, x8
    ldrb wzr, [x9]
    ldrh wzr, [x9, #28]
    csel x16, x16, x8, lo
    cmp w10, w11
    mov w19, wzr
    b.eq L9
    ldp x5, x18, [x9, #200]
    and x3, x3, #0x3f
    ldr x17, [x9, #224]
    ldr x4, [x9, #192]
    mov x7, x26
    mov x20, x26
    sub x5, x5, x17
    add x6, x18, x5
L4:
    mov w24, w19
    add w26, w19, w11
    sub w27, w16, w19
    mul x24, x18, x24
    and w26, w26, #0x7
    sub x28, x24, x6
    add x30, x17, x24
    cmp x24, x5
    add x28, x4, x28
    csel x24, x30, x28, ls
    cmp w19, #0
    add w28, w27, w26
    csel x27, x12, x24, eq
    cmp w28, #8
    csel w28, w28, w25, lo
    cmp w16, w19
    b.ne L5
    mov x26, x7
    cmp w19, w16
    b.lo L4
    b L9
L5:
    ldr x24, [x27, x26, lsl #3]
    rev x30, x24
    ubfx x24, x30, #32, #16
    cmp w24, w13, uxth
    b.ne L22
    add x24, x27, x26, lsl #3
    mvn x26, x26
    add x28, x26, x28
    mov x26, x20
    add x27, x24, #8
L6:
    lsr w20, w30, #16
    and x30, x30, #0xffff
    sub w21, w30, #1
    mov w24, w20
    add w20, w20, w13
    add x21, x21, x15
    lsl x24, x24, x3
    cmp w20, w14
    ccmp x21, x24, #2, ls
    b.hs L8
    add x26, x26, x30
    mov w13, w20
    str x26, [x2]
    cbz x28, L7
    ldr x7, [x27], #8
    sub x28, x28, #1
    add w19, w19, #1
    rev x30, x7
    ubfx x7, x30, #32, #16
    cmp w7, w20, uxth
    mov x7, x26
    b.eq L6
    b L9
L7:
    add w19, w19, #1
    mov x20, x26
    mov x7, x26
    cmp w19, w16
    b.lo L4
    b L9
L8:
    mov x26, x7
L9:
    cmp w19, w8
    str w13, [x1, #72]
    b.ne L11
L10:
    ldp x15, x12, [x9, #200]
    ldr x13, [x9, #224]
    mul x14, x12, x8
    sub x15, x15, x13
    cmp x14, x15
    b.ls L13
L11:
    cbz w19, L12
    mov w8, w10
    mov x27, x0
    mov x0, x9
    orr x8, x8, x11, lsl #32
    mov x28, x1
    mov w3, w19
    mov x20, x9
    mov x24, x2
    mov x1, x8
    bl <blueflame::cq::completion_queue::CompletionQueue<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>>::leave_run
    mov x2, x24
    mov x1, x28
    mov x9, x20
    mov w24, #16
    mov w8, w19
    add x0, x27, x8
    cmp x0, #16
    b.lo L1
    b L24
L12:
    mov w24, #16
    b L19
L13:
    and w11, w8, #0xfffffff8
    ldrb w10, [x9, #216]
    ldrb w16, [x9, #143]
    mul x15, x12, x11
    orr w10, w10, #0xfffffff0
    orr w10, w16, w10, lsl #8
    cbz x15, L15
    lsl x17, x12, #3
    add x16, x13, x15
    add x18, x13, #62
    sub x3, x12, #62
L14:
    add x4, x18, x12
    strh w10, [x18]
    add x18, x18, x17
    add x5, x4, x12
    strh w10, [x4]
    add x6, x5, x12
    strh w10, [x5]
    add x4, x6, x12
    strh w10, [x6]
    add x5, x4, x12
    strh w10, [x4]
    add x6, x5, x12
    strh w10, [x5]
    add x4, x6, x12
    strh w10, [x6]
    add x5, x4, x3
    strh w10, [x4]
    cmp x5, x16
    b.ne L14
    add x14, x13, x14
    mov w24, #16
    cmp x16, x14
    b.ne L16
    b L18
L15:
    add x14, x13, x14
    mov w24, #16
    cmp x13, x14
    b.eq L18
L16:
    sub x11, x8, x11
    add x13, x13, x15
    mov x16, xzr
    mul x11, x12, x11
    add x13, x13, #62
L17:
    strh w10, [x13, x16]
    add x16, x16, x12
    cmp x11, x16
    b.ne L17
L18:
    ldr d0, [x9, #16]
    ldr w10, [x9, #232]
    ldr w11, [x9, #132]
    str x14, [x9, #224]
    and v0.8b, v0.8b, v8.8b
    add w8, w10, w8
    ldr x10, [x9, #240]
    str w8, [x9, #232]
    rev w8, w8
    str wzr, [x9, #12]
    str w11, [x9, #128]
    str d0, [x9, #16]
    str w8, [x10]
    cbz w19, L19
    mov w8, w19
    add x0, x0, x8
    cmp x0, #16
    b.lo L1
    b L24
L19:
    ldp w8, w10, [x9, #128]
    cmp w8, w10
    b.ne L20
    ldr x10, [x9, #224]
    ldrb w8, [x9, #143]
    ldr w10, [x10, #60]
    rev w10, w10
    bics wzr, w23, w10
    b.eq L24
    lsr w10, w10, #8
    cmp w8, w10, uxtb
    b.ne L24
L20:
    mov x28, x0
    mov x8, sp
    mov x19, x1
    mov x0, x1
    mov x1, x9
    mov x27, x2
    mov x20, x9
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>
    ldrb w8, [sp]
    cmp w8, #2
    b.ne L25
    ldr x8, [sp, #8]
    mov x0, x28
    mov x2, x27
    cbz x8, L21
    ldr x8, [sp, #16]
    lsr x8, x8, #32
    add x26, x26, w8, uxth
    str x26, [x2]
L21:
    mov w8, #1
    mov x9, x20
    mov x1, x19
    add x0, x0, x8
    cmp x0, #16
    b.lo L1
    b L24
L22:
    mov x26, x7
    cmp w19, w8
    str w13, [x1, #72]
    b.eq L10
    b L11
L23:
    mov x8, sp
    mov x0, x1
    mov x1, x9
    mov w2, #16
    bl <blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::ChecksumStride, true>>
    ldrb w8, [sp]
    ldr x9, [sp, #8]
    cmp w8, #2
    csel x0, x9, xzr, eq
L24:
    ldp x20, x19, [sp, #128]
    ldr d8, [sp, #32]
    ldp x22, x21, [sp, #112]
    ldp x24, x23, [sp, #96]
    ldp x26, x25, [sp, #80]
    ldp x28, x27, [sp, #64]
    ldp x29, x30, [sp, #48]
    add sp, sp, #144
    ret
L25:
    mov x0, xzr
    b L24

other_refill_shared:
    ldp w10, w11, [x0, #100]
    ldr w9, [x0, #88]
    sub w8, w10, w9
    cmp w8, w11
    b.ne L1
    ldp w12, w13, [x0, #72]
    cmp w12, w13
    b.eq L1
    mov w0, wzr
    ret
L1:
    stp x29, x30, [sp, #-64]!
    str x23, [sp, #16]
    stp x22, x21, [sp, #32]
    stp x20, x19, [sp, #48]
    mov x29, sp
    ldrb w12, [x0, #112]
    cmp w12, #1
    b.ne L4
    ldp w12, w13, [x0, #72]
    cmp w12, w13
    b.ne L4
    ldr x20, [x0, #8]
    strb wzr, [x0, #112]
    mov w10, #-2147483648
    ldr w8, [x0, #96]
    add x9, x20, #16
    ldar w9, [x9]
    sub w8, w10, w8
    cmp w9, w8
    b.eq L2
    ldr x21, [x20, #8]
    mov x19, x0
    mov w0, #1
    add x22, x20, #16
    mov w23, w8
    add x1, x21, #16
    bl __aarch64_ldadd8_relax
    neg w0, w23
    mov x1, x22
    bl __aarch64_ldadd4_acq_rel
    mov w8, w0
    mov x0, x19
    cmp w8, w23
    b.ne L3
    add x1, x21, #16
    mov x0, #-1
    bl __aarch64_ldadd8_relax
    mov x0, x19
L2:
    ldr w8, [x0, #48]
    str w8, [x20, #20]
    ldr w8, [x20, #24]
    str w8, [x0, #48]
L3:
    ldr w8, [x0, #88]
    ldp w10, w11, [x0, #100]
    add w9, w8, #1
    str w9, [x0, #88]
    sub w8, w10, w9
L4:
    cmp w8, w11
    b.hs L10
    ldr w8, [x0, #48]
    ldr x12, [x0, #40]
    mov w19, wzr
    mov w20, #-2147483648
    mov w21, #1
    b L7
L5:
    ldp w10, w11, [x0, #100]
    ldr x12, [x0, #40]
    ldr w9, [x0, #88]
L6:
    ldr x13, [x12]
    mov w8, w8
    add w19, w19, #1
    add x13, x13, x8, lsl #6
    ldr w8, [x13, #20]
    str w8, [x0, #48]
    str w20, [x13, #16]
    ldrb w14, [x12, #37]
    ldrb w15, [x12, #38]
    ldr w16, [x12, #32]
    ldr x17, [x0, #16]
    add w14, w15, w14
    ldr w15, [x0, #92]
    lsl w14, w21, w14
    and w15, w15, w10
    add w10, w10, #1
    orr x14, x16, x14, lsl #32
    ldr x16, [x13]
    add x17, x17, x15, lsl #5
    rev x14, x14
    rev x16, x16
    str x14, [x17, #16]
    str x16, [x17, #24]
    sub w16, w10, w9
    ldr x14, [x0, #24]
    ldr w13, [x13, #24]
    cmp w16, w11
    str w10, [x0, #100]
    str x13, [x14, w15, uxtw #3]
    b.hs L9
L7:
    cmn w8, #1
    b.ne L6
    ldr w8, [x12, #24]
    cmn w8, #1
    b.eq L8
    add x1, x12, #24
    mov x22, x0
    mov w0, #-1
    bl __aarch64_swp4_acq
    mov w8, w0
    mov x0, x22
    cmn w8, #1
    str w8, [x22, #48]
    b.ne L5
    b L9
L8:
    str w8, [x0, #48]
L9:
    cbz w19, L10
    dmb oshst
    ldrh w8, [x0, #100]
    ldr x9, [x0, #32]
    mov w0, w19
    rev w8, w8
    str w8, [x9]
    ldp x20, x19, [sp, #48]
    ldr x23, [sp, #16]
    ldp x22, x21, [sp, #32]
    ldp x29, x30, [sp], #64
    ret
L10:
    mov w0, wzr
    ldp x20, x19, [sp, #48]
    ldr x23, [sp, #16]
    ldp x22, x21, [sp, #32]
    ldp x29, x30, [sp], #64
    ret

setup_carry_over:
    sub sp, sp, #128
    stp x29, x30, [sp, #32]
    stp x28, x27, [sp, #48]
    stp x26, x25, [sp, #64]
    stp x24, x23, [sp, #80]
    stp x22, x21, [sp, #96]
    stp x20, x19, [sp, #112]
    add x29, sp, #32
    mov x19, x0
    cmp w2, #2048, lsl #12
    mov w0, wzr
    b.hi L5
    sub w8, w2, #1
    mov w20, w2
    eor w9, w2, w8
    cmp w9, w8
    b.ls L5
    ldr x23, [x19, #32]
    cbz x23, L7
    udiv x9, x1, x23
    msub x9, x9, x23, x1
    cbz x9, L1
    mov w0, wzr
    b L5
L1:
    ldr w24, [x19, #8]
    mov w9, w20
    add x10, x1, x23
    sub x9, x9, #1
    sub x10, x10, #64
    ldr w25, [x19, #44]
    add w11, w24, #1
    madd x9, x23, x9, x10
    str x23, [sp, #16]
    and w21, w11, #0xffffff
    tst w11, w20
    and w8, w21, w8
    madd x22, x23, x8, x10
    cset w8, ne
    stp w8, w20, [sp, #24]
    stp x10, x9, [sp]
    cbz w25, L3
    ldur x26, [x19, #16]
    sub w27, w25, #1
    mov w28, w25
L2:
    and w1, w24, #0xffffff
    and w8, w1, w27
    tst w1, w25
    madd x8, x23, x8, x26
    ldr w9, [x8, #60]
    cset w8, ne
    eor w8, w8, w9, lsr #24
    lsr w9, w9, #25
    orr w9, w9, w8, lsl #7
    and w9, w9, #0xff
    cmp w9, #119
    b.hi L3
    dmb oshld
    and w8, w8, #0xf0
    cmp w8, #80
    b.eq L6
    cbz w20, L3
    add w24, w24, #1
    add x0, x19, #16
    mov x2, sp
    and w3, w24, #0xffffff
    bl <blueflame::cq::ring::Ring>::copy_cqe
    subs w28, w28, #1
    sub w20, w20, #1
    b.ne L2
L3:
    mov w0, wzr
L4:
    ldp q0, q1, [sp]
    rev w9, w21
    ldr x8, [x19, #48]
    str x22, [x19]
    str w21, [x19, #8]
    stp q0, q1, [x19, #16]
    str w9, [x8]
L5:
    ldp x20, x19, [sp, #112]
    ldp x22, x21, [sp, #96]
    ldp x24, x23, [sp, #80]
    ldp x26, x25, [sp, #64]
    ldp x28, x27, [sp, #48]
    ldp x29, x30, [sp, #32]
    add sp, sp, #128
    ret
L6:
    mov w0, #1
    b L4
L7:
    adrp x0, .Lanon
    add x0, x0, :lo12:.Lanon
    bl core::panicking::panic_const::panic_const_rem_by_zero

setup_forget:
    sub sp, sp, #112
    stp x29, x30, [sp, #32]
    stp x26, x25, [sp, #48]
    stp x24, x23, [sp, #64]
    stp x22, x21, [sp, #80]
    stp x20, x19, [sp, #96]
    add x29, sp, #32
    ldr w8, [x0, #44]
    ldr w9, [x0, #8]
    mov x19, x0
    mov w20, w1
    cbz w8, L3
    ldr x11, [x19, #16]
    mov w13, #16777215
    ldr x12, [x19, #32]
    mov x10, xzr
    add w13, w8, w13
L1:
    add w14, w9, w10
    and w14, w14, #0xffffff
    and w15, w14, w13
    tst w14, w8
    madd x15, x12, x15, x11
    cset w14, ne
    ldr w15, [x15, #60]
    eor w14, w14, w15, lsr #24
    lsr w15, w15, #25
    orr w14, w15, w14, lsl #7
    and w14, w14, #0xff
    cmp w14, #119
    b.hi L2
    add x10, x10, #1
    cmp x8, x10
    b.ne L1
    b L3
L2:
    mov w8, w10
L3:
    add w9, w8, w9
    stp w8, wzr, [sp, #16]
    and w21, w9, #0xffffff
    strb wzr, [sp, #28]
    str w21, [sp, #24]
    stp wzr, w20, [sp]
    str x19, [sp, #8]
    cbz w8, L8
    mov w22, wzr
    mov w25, wzr
    mov w24, wzr
    mov w26, wzr
    sub w23, w8, #1
    b L6
L4:
    add w8, w8, #1
    add w22, w26, #1
    and w8, w8, #0xffffff
    mov w26, w22
    cmp w8, w21
    cset w8, eq
    orr w24, w24, w8
    and w25, w24, #0x1
L5:
    sub w23, w23, #1
    cmn w23, #1
    b.eq L7
L6:
    ldr w8, [x19, #8]
    ldr w9, [x19, #44]
    ldr x10, [x19, #32]
    ldr x11, [x19, #16]
    add w8, w23, w8
    sub w9, w9, #1
    and w1, w8, #0xffffff
    and w9, w9, w1
    madd x9, x10, x9, x11
    ldr wzr, [x9, #60]
    dmb oshld
    ldr w9, [x9, #56]
    and w9, w9, #0xffffff00
    rev w9, w9
    cmp w9, w20
    b.eq L4
    cbz w26, L5
    ldr w8, [x19, #8]
    add w9, w23, w26
    add w8, w9, w8
    add x0, x19, #16
    add x2, x19, #16
    and w3, w8, #0xffffff
    bl <blueflame::cq::ring::Ring>::copy_cqe
    b L5
L7:
    strb w25, [sp, #28]
    stp wzr, w22, [sp, #16]
L8:
    mov x0, sp
    bl core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>
    ldp x20, x19, [sp, #96]
    ldp x22, x21, [sp, #80]
    ldp x24, x23, [sp, #64]
    ldp x26, x25, [sp, #48]
    ldp x29, x30, [sp, #32]
    add sp, sp, #112
    ret
    mov x19, x0
    strb w25, [sp, #28]
    stp w23, w22, [sp, #16]
    mov x0, sp
    bl core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>
    mov x0, x19
    bl _Unwind_Resume
    bl core::panicking::panic_in_cleanup

setup_forget_compressed:
    stp x29, x30, [sp, #-96]!
    stp x28, x27, [sp, #16]
    stp x26, x25, [sp, #32]
    stp x24, x23, [sp, #48]
    stp x22, x21, [sp, #64]
    stp x20, x19, [sp, #80]
    mov x29, sp
    sub x9, sp, #480
    and sp, x9, #0xffffffffffffffc0
    ldp q0, q1, [x0]
    mov w19, w1
    ldp w8, w28, [x0, #128]
    ldrh w26, [x0, #140]
    ldrb w27, [x0, #142]
    mov x20, x0
    stp q0, q1, [sp, #320]
    ldp q0, q2, [x0, #32]
    ldr x22, [x0, #224]
    ldrb w21, [x0, #143]
    ldrb w9, [x0, #144]
    ldr w10, [x0, #232]
    str w8, [sp, #192]
    stp q0, q2, [sp, #352]
    ldp q1, q0, [x0, #64]
    strh w26, [sp, #204]
    strb w27, [sp, #206]
    stp q1, q0, [sp, #384]
    ldp q2, q0, [x0, #96]
    str x10, [sp, #48]
    strb w21, [sp, #207]
    stp q2, q0, [sp, #416]
    ldp q1, q0, [x0, #192]
    strb w9, [sp, #208]
    stp q1, q0, [sp, #288]
    ldp q2, q0, [sp, #384]
    ldr w25, [sp, #316]
    stp q2, q0, [sp, #128]
    ldp q1, q0, [sp, #416]
    stp q1, q0, [sp, #160]
    ldp q2, q0, [sp, #320]
    stp q2, q0, [sp, #64]
    ldp q1, q0, [sp, #352]
    stp q1, q0, [sp, #96]
    ldur d0, [x0, #132]
    stur d0, [sp, #196]
    cbz w25, L14
    add x10, sp, #64
    add x10, x10, #64
    str x10, [sp, #56]
    ldr x10, [sp, #48]
    mov w23, w10
L1:
    cmp w8, w28
    b.ne L2
    ldr w10, [x22, #60]
    ldr w11, [sp, #312]
    rev w10, w10
    eor w10, w10, w11
    ubfx w11, w10, #1, #7
    orr w11, w11, w10, lsl #7
    and w11, w11, #0xff
    cmp w11, #119
    b.hi L14
    dmb oshld
    mov w11, #12
    mov w28, w8
    bics wzr, w11, w10
    b.ne L12
    str wzr, [sp, #192]
    ldr x9, [sp, #304]
    lsr w26, w10, #16
    ldr q0, [x22]
    ldr q1, [x22, #16]
    mov w13, #-14
    ldr q2, [x22, #32]
    ldr x11, [x22, #48]
    and w27, w10, w13
    ldr x8, [x22, #56]
    stp q0, q1, [sp, #64]
    mov w12, v2.s[3]
    str q2, [sp, #96]
    stp x11, x8, [sp, #112]
    and w11, w10, #0xff
    cmp w11, #79
    strh w26, [sp, #204]
    strb w27, [sp, #206]
    rev w28, w12
    str w28, [sp, #196]
    b.hi L14
    cmp w28, #2
    b.lo L14
    ldr w11, [sp, #316]
    cmp w28, w11
    cset w11, ls
    strb w11, [sp, #208]
    b.hi L14
    ldp x12, x11, [sp, #288]
    add x9, x22, x9
    and w10, w10, #0xff
    cmp x22, x11
    csel x9, x12, x9, eq
    cmp w10, #15
    ldr q0, [x9]
    ldr q1, [x9, #16]
    ldr q2, [x9, #32]
    ldr x11, [x9, #48]
    ldr x9, [x9, #56]
    stp q0, q1, [sp, #128]
    stp x11, x9, [sp, #176]
    mov w9, #1
    str w9, [sp, #192]
    fmov w9, s0
    str q2, [sp, #160]
    b.hi L9
    rev w9, w9
    bfxil w8, w9, #8, #8
    lsr w9, w9, #16
    str w8, [sp, #120]
    b L10
L2:
    add w24, w8, #1
    str w24, [sp, #192]
    cbz w8, L3
    tst w8, #0x7
    cset w10, eq
    and w10, w10, w9
    tbz w10, #0, L4
    ldr q0, [x22]
    ldr q1, [x22, #16]
    ldr q2, [x22, #32]
    ldr x9, [x22, #48]
    ldr x10, [x22, #56]
    ldrb w11, [sp, #312]
    stp q0, q1, [sp, #128]
    orr w11, w21, w11, lsl #8
    stp x9, x10, [sp, #176]
    str q2, [sp, #160]
    orr w9, w11, #0xf000
    strh w9, [x22, #62]
    b L5
L3:
    tbz w9, #0, L14
    ldp w9, w10, [sp, #128]
    and w11, w27, #0xff
    cmp w11, #15
    b.ls L6
    b L8
L4:
    ldrb w10, [sp, #312]
    orr w10, w21, w10, lsl #8
    orr w10, w10, #0xf000
    strh w10, [x22, #62]
    tbz w9, #0, L14
L5:
    ubfiz w9, w8, #1, #3
    ldr x10, [sp, #56]
    and w11, w27, #0xff
    cmp w11, #16
    add x10, x10, w9, uxtw #2
    ldp w9, w10, [x10]
    b.hs L7
L6:
    rev w8, w9
    str w10, [sp, #108]
    lsr w11, w8, #8
    lsr w9, w8, #16
    strb w11, [sp, #120]
    b L11
L7:
    ldrh w11, [sp, #86]
    lsl w11, w11, #16
    str w11, [sp, #84]
L8:
    str w9, [sp, #76]
    add w9, w26, w8
    str w10, [sp, #108]
    b L11
L9:
    str w9, [sp, #76]
    mov w9, w26
L10:
    mov w8, v0.s[1]
    mov w24, #1
    str w8, [sp, #108]
L11:
    lsl w4, w9, #16
    add x0, sp, #288
    add x3, sp, #64
    mov x1, x22
    mov w2, w23
    mov w5, w21
    bfxil x4, x27, #0, #8
    bl <blueflame::cq::ring::Ring>::store
    mov w9, #1
    mov w8, w24
    str xzr, [x20, #128]
L12:
    ldr x10, [sp, #296]
    add w23, w23, #1
    cmp x22, x10
    b.eq L13
    ldr x10, [sp, #304]
    add x22, x22, x10
    subs w25, w25, #1
    b.ne L1
    b L14
L13:
    ldr w10, [sp, #312]
    ldr x22, [sp, #288]
    and w23, w23, #0xffffff
    eor w10, w10, #0x1
    str w10, [sp, #312]
    subs w25, w25, #1
    b.ne L1
L14:
    ldr w8, [x20, #220]
    cbz w8, L16
    ldr x10, [x20, #192]
    mov w12, #16777215
    ldr x11, [x20, #208]
    ldr x15, [sp, #48]
    mov x9, xzr
    add w12, w8, w12
L15:
    add w13, w15, w9
    and w13, w13, #0xffffff
    and w14, w13, w12
    tst w13, w8
    madd x14, x11, x14, x10
    cset w13, ne
    ldr w14, [x14, #60]
    eor w13, w13, w14, lsr #24
    lsr w14, w14, #25
    orr w13, w14, w13, lsl #7
    and w13, w13, #0xff
    cmp w13, #119
    b.hi L17
    add x9, x9, #1
    cmp x8, x9
    b.ne L15
    b L18
L16:
    ldr x15, [sp, #48]
    b L18
L17:
    mov w8, w9
L18:
    add w9, w8, w15
    stp w8, wzr, [sp, #80]
    and w21, w9, #0xffffff
    strb wzr, [sp, #92]
    str w21, [sp, #88]
    stp wzr, w19, [sp, #64]
    str x20, [sp, #72]
    cbz w8, L23
    mov w22, wzr
    mov w25, wzr
    mov w24, wzr
    mov w26, wzr
    sub w23, w8, #1
    b L21
L19:
    add w8, w8, #1
    add w22, w26, #1
    and w8, w8, #0xffffff
    mov w26, w22
    cmp w8, w21
    cset w8, eq
    orr w24, w24, w8
    and w25, w24, #0x1
L20:
    sub w23, w23, #1
    cmn w23, #1
    b.eq L22
L21:
    ldr w8, [x20, #232]
    ldr w9, [x20, #220]
    ldr x10, [x20, #208]
    ldr x11, [x20, #192]
    add w8, w23, w8
    sub w9, w9, #1
    and w1, w8, #0xffffff
    and w9, w9, w1
    madd x9, x10, x9, x11
    ldr wzr, [x9, #60]
    dmb oshld
    ldr w9, [x9, #56]
    and w9, w9, #0xffffff00
    rev w9, w9
    cmp w9, w19
    b.eq L19
    cbz w26, L20
    ldr w8, [x20, #232]
    add w9, w23, w26
    add w8, w9, w8
    add x0, x20, #192
    add x2, x20, #192
    and w3, w8, #0xffffff
    bl <blueflame::cq::ring::Ring>::copy_cqe
    b L20
L22:
    strb w25, [sp, #92]
    stp wzr, w22, [sp, #80]
L23:
    add x0, sp, #64
    bl core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>
    mov sp, x29
    ldp x20, x19, [sp, #80]
    ldp x22, x21, [sp, #64]
    ldp x24, x23, [sp, #48]
    ldp x26, x25, [sp, #32]
    ldp x28, x27, [sp, #16]
    ldp x29, x30, [sp], #96
    ret
    mov x19, x0
    strb w25, [sp, #92]
    stp w23, w22, [sp, #80]
    add x0, sp, #64
    bl core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>
    mov x0, x19
    bl _Unwind_Resume
    bl core::panicking::panic_in_cleanup

setup_holds:
    ldr w8, [x0, #44]
    cbz w8, L2
    ldr w9, [x0, #8]
    ldr x10, [x0, #16]
    sub w12, w8, #1
    ldr x11, [x0, #32]
    mov w13, w8
L1:
    and w15, w9, #0xffffff
    and w14, w15, w12
    tst w15, w8
    madd x14, x11, x14, x10
    cset w15, ne
    ldr w16, [x14, #60]
    eor w15, w15, w16, lsr #24
    lsr w16, w16, #25
    orr w15, w16, w15, lsl #7
    and w15, w15, #0xff
    cmp w15, #119
    b.hi L2
    dmb oshld
    ldr w14, [x14, #56]
    and w14, w14, #0xffffff00
    rev w14, w14
    cmp w14, w1
    b.eq L3
    subs w13, w13, #1
    add w9, w9, #1
    b.ne L1
L2:
    mov w0, wzr
    ret
L3:
    mov w0, #1
    ret

setup_recordless_with_mode:
    dsb st
    ret

setup_with_mode:
    dsb st
    ret

core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Standard>>:
    stp x29, x30, [sp, #-96]!
    str x27, [sp, #16]
    stp x26, x25, [sp, #32]
    stp x24, x23, [sp, #48]
    stp x22, x21, [sp, #64]
    stp x20, x19, [sp, #80]
    mov x29, sp
    ldr w8, [x0, #16]
    mov x19, x0
    cbz w8, L9
    ldp w21, w22, [x19, #20]
    ldp w23, w24, [x19]
    ldr x20, [x19, #8]
    ldrb w25, [x19, #28]
    sub w26, w8, #1
    mov w27, w21
    b L4
L1:
    lsl w10, w9, #4
    and w11, w9, #0xff
    cmp w11, #4
    and w10, w10, #0xffffffc0
    bfxil w10, w9, #4, #4
    and w11, w10, #0xff
    ubfx w10, w9, #4, #4
    ccmp w11, #5, #2, hs
    ccmp w10, #14, #4, hs
    b.ne L7
L2:
    add w8, w26, w8
    add w21, w27, #1
    add w8, w8, #1
    mov w27, w21
    str w21, [x19, #20]
    and w8, w8, #0xffffff
    cmp w8, w22
    cset w8, eq
    orr w25, w25, w8
    and w8, w25, #0x1
    strb w8, [x19, #28]
L3:
    sub w26, w26, #1
    cmn w26, #1
    b.eq L10
L4:
    ldr w8, [x20, #8]
    ldr w11, [x20, #44]
    ldr x10, [x20, #32]
    ldr x12, [x20, #16]
    str w26, [x19, #16]
    add w9, w26, w8
    and w1, w9, #0xffffff
    sub w9, w11, #1
    and w9, w9, w1
    tst w1, w11
    madd x10, x10, x9, x12
    cset w11, ne
    ldr w9, [x10, #60]
    dmb oshld
    cbz w23, L5
    rev w9, w9
    cmp w23, #1
    eor w9, w9, w11
    b.ne L1
    ldr w10, [x10, #56]
    and w10, w10, #0xffffff00
    rev w10, w10
    cmp w10, w24
    b.ne L6
    and w9, w9, #0xff
    cmp w9, #4
    b.lo L2
    lsr w10, w9, #4
    cbz w10, L8
    cmp w10, #13
    b.eq L2
    b L6
L5:
    ldr w9, [x10, #56]
    and w9, w9, #0xffffff00
    rev w9, w9
    cmp w9, w24
    b.eq L2
L6:
    cbz w27, L3
    ldr w8, [x20, #8]
    add w9, w26, w27
    add x0, x20, #16
    add x2, x20, #16
    add w8, w9, w8
    and w3, w8, #0xffffff
    bl <blueflame::cq::ring::Ring>::copy_cqe
    b L3
L7:
    ubfx w9, w9, #2, #2
    sub w10, w10, #1
    cmp w10, #3
    sub w9, w9, #1
    ccmp w9, #2, #2, ls
    b.lo L2
    b L6
L8:
    ubfx w9, w9, #2, #2
    sub w9, w9, #1
    cmp w9, #2
    b.lo L2
    b L6
L9:
    ldr w21, [x19, #20]
L10:
    cbz w21, L11
    ldr x8, [x19, #8]
    ldr w9, [x8, #8]
    ldr w10, [x8, #44]
    ldr x11, [x8, #32]
    ldr x13, [x8, #16]
    add w9, w9, w21
    sub w12, w10, #1
    and w9, w9, #0xffffff
    and w12, w9, w12
    tst w9, w10
    str w9, [x8, #8]
    madd x11, x11, x12, x13
    cset w10, ne
    str w10, [x8, #40]
    str x11, [x8]
    dmb oshst
    ldr w9, [x8, #8]
    ldr x8, [x8, #48]
    rev w9, w9
    str w9, [x8]
L11:
    ldp x20, x19, [sp, #80]
    ldr x27, [sp, #16]
    ldp x22, x21, [sp, #64]
    ldp x24, x23, [sp, #48]
    ldp x26, x25, [sp, #32]
    ldp x29, x30, [sp], #96
    ret

core::ptr::drop_in_place::<blueflame::cq::forget::Sweep<blueflame::cq::mode::Compressed<blueflame::cq::compressed::mini::Hash>>>:
    stp x29, x30, [sp, #-96]!
    str x27, [sp, #16]
    stp x26, x25, [sp, #32]
    stp x24, x23, [sp, #48]
    stp x22, x21, [sp, #64]
    stp x20, x19, [sp, #80]
    mov x29, sp
    ldr w8, [x0, #16]
    mov x19, x0
    cbz w8, L9
    ldp w20, w22, [x19, #20]
    ldp w23, w24, [x19]
    ldr x21, [x19, #8]
    ldrb w25, [x19, #28]
    sub w26, w8, #1
    mov w27, w20
    b L4
L1:
    lsl w10, w9, #4
    and w11, w9, #0xff
    cmp w11, #4
    and w10, w10, #0xffffffc0
    bfxil w10, w9, #4, #4
    and w11, w10, #0xff
    ubfx w10, w9, #4, #4
    ccmp w11, #5, #2, hs
    ccmp w10, #14, #4, hs
    b.ne L7
L2:
    add w8, w26, w8
    add w20, w27, #1
    add w8, w8, #1
    mov w27, w20
    str w20, [x19, #20]
    and w8, w8, #0xffffff
    cmp w8, w22
    cset w8, eq
    orr w25, w25, w8
    and w8, w25, #0x1
    strb w8, [x19, #28]
L3:
    sub w26, w26, #1
    cmn w26, #1
    b.eq L10
L4:
    ldr w8, [x21, #232]
    ldr w11, [x21, #220]
    ldr x10, [x21, #208]
    ldr x12, [x21, #192]
    str w26, [x19, #16]
    add w9, w26, w8
    and w1, w9, #0xffffff
    sub w9, w11, #1
    and w9, w9, w1
    tst w1, w11
    madd x10, x10, x9, x12
    cset w11, ne
    ldr w9, [x10, #60]
    dmb oshld
    cbz w23, L5
    rev w9, w9
    cmp w23, #1
    eor w9, w9, w11
    b.ne L1
    ldr w10, [x10, #56]
    and w10, w10, #0xffffff00
    rev w10, w10
    cmp w10, w24
    b.ne L6
    and w9, w9, #0xff
    cmp w9, #4
    b.lo L2
    lsr w10, w9, #4
    cbz w10, L8
    cmp w10, #13
    b.eq L2
    b L6
L5:
    ldr w9, [x10, #56]
    and w9, w9, #0xffffff00
    rev w9, w9
    cmp w9, w24
    b.eq L2
L6:
    cbz w27, L3
    ldr w8, [x21, #232]
    add w9, w26, w27
    add x0, x21, #192
    add x2, x21, #192
    add w8, w9, w8
    and w3, w8, #0xffffff
    bl <blueflame::cq::ring::Ring>::copy_cqe
    b L3
L7:
    ubfx w9, w9, #2, #2
    sub w10, w10, #1
    cmp w10, #3
    sub w9, w9, #1
    ccmp w9, #2, #2, ls
    b.lo L2
    b L6
L8:
    ubfx w9, w9, #2, #2
    sub w9, w9, #1
    cmp w9, #2
    b.lo L2
    b L6
L9:
    ldr w20, [x19, #20]
L10:
    cbz w20, L12
    ldr x8, [x19, #8]
    ldr w9, [x8, #220]
    cbz w9, L13
    ldr w11, [x8, #232]
    sub w10, w9, #1
    and w13, w20, #0xffffff
    ldrb w14, [x8, #143]
    ldrb w15, [x19, #28]
    and w12, w10, w11
    add w11, w11, w20
    add w12, w12, w13
    and w11, w11, #0xffffff
    udiv w13, w12, w9
    ldr w12, [x19, #24]
    add w13, w14, w13
    strb w13, [x8, #143]
    tbz w15, #0, L11
    cmp w12, w11
    ldrb w13, [x8, #144]
    str w12, [x8, #136]
    cset w14, ne
    and w13, w14, w13
    strb w13, [x8, #144]
L11:
    ldr x12, [x8, #208]
    and w10, w10, w11
    ldr x13, [x8, #192]
    tst w9, w11
    str w11, [x8, #232]
    madd x10, x12, x10, x13
    cset w9, ne
    str w9, [x8, #216]
    str x10, [x8, #224]
    dmb oshst
    ldp w9, w10, [x8, #128]
    ldr w11, [x8, #232]
    ldr x8, [x8, #240]
    cmp w9, w10
    csel w9, wzr, w9, eq
    sub w9, w11, w9
    and w9, w9, #0xffffff
    rev w9, w9
    str w9, [x8]
L12:
    ldp x20, x19, [sp, #80]
    ldr x27, [sp, #16]
    ldp x22, x21, [sp, #64]
    ldp x24, x23, [sp, #48]
    ldp x26, x25, [sp, #32]
    ldp x29, x30, [sp], #96
    ret
L13:
    adrp x0, .Lanon
    add x0, x0, :lo12:.Lanon
    bl core::panicking::panic_const::panic_const_div_by_zero
