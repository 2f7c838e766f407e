//! Seeds of the decoder: logs, dumps and lines of the field.

use blueflame_fuzz_targets::decode;

/// Something of each form that the decoder knows.
pub(crate) fn decode() -> Vec<(&'static str, decode::Input)> {
    let text = |text: &str| decode::Input { kind: 0, transport: 0, flags: 0, bytes: text.as_bytes().to_vec() };
    let binary = |kind, bytes: &[u8]| decode::Input { kind, transport: 0, flags: 16, bytes: bytes.to_vec() };
    let cqe = "00000000 00000000 00000000 00000000\n00000000 00000000 00000000 00000000\n\
               00000002 00000000 00000000 00000000\n00000000 00008813 10012abe 0dd0c1d3\n";
    let ctrl = |opcode: u8, ds: u8| [0, 0, 1, opcode, 0, 0, 0x12, ds, 0, 0, 0, 8, 0, 0, 0, 7];
    let data = [0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0x7f, 0, 0, 0, 0x10, 0];
    vec![
        ("libmlx5", text(&format!("mlx5: cn10: got completion with error:\n{cqe}"))),
        (
            "kernel",
            text("[1.2] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe\n[1.3] 00000000: 00 00 00 00\n"),
        ),
        ("squeezed", text("0000000 0000 0000 0000 0000\n*\n0000060 0000 0000 0000 1388\n0000070\n")),
        ("gdb", text("0x7f00 <cq+16>:\t0x00000000\t0xd3c1d00d\n")),
        (
            "ucx",
            text(
                "(synd 0x4 vend 0x51 hw_synd 0/2)\nRC QP 0x169 wqe[3]: SEND s-- [inl len 10] [va 0x7f1c len 1 lkey \
                0xb]\n",
            ),
        ),
        (
            "xlio",
            text(
                "cqe: syndrome=0x2 vendor=0x68 hw=0x9c (type=0x0) wqe_opcode_qpn=0xa0010a6 wqe_counter=0x11 \
                wqe=0000010a0000",
            ),
        ),
        (
            "command",
            text("CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6), err(-12)"),
        ),
        (
            "completion",
            text(
                "net_ib.cc:921 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129\n\
                 number 4 got bad completion with status: 0x5, vendor syndrome: 0xf9\n",
            ),
        ),
        (
            "named",
            text(
                "wc error: status IBV_WC_REM_ACCESS_ERR vendor_err 136 qp_num 0x1a2b\n\
                 svcrdma: Send: transport retry counter exceeded (12/0x81)\n\
                 MLX5_CQE_REQ_ERR MLX5_CQE_SYNDROME_LOCAL_PROT_ERR (vendor_err_synd byte is 0x52\n",
            ),
        ),
        (
            "events",
            text(
                "mlx5_core 0000:3b:00.0: CQ error on CQN 0x51c, syndrom 0x1\n\
                 mlx5_0/1: QP 91 error: unrecognized status (0x41 0x0 0x0)\n\
                 mlx5_0/1: QP 92 error: general error (0x81 0x2 0x93)\n\
                 IBV_EVENT_QP_FATAL\n",
            ),
        ),
        (
            "health",
            text(
                "mlx5_core 0000:3b:00.0: poll_health:840: device's health compromised - reached miss count\n\
                 mlx5_core 0000:3b:00.0: Health issue observed, firmware internal error, severity(2) CRITICAL:\n\
                 mlx5_core 0000:3b:00.0: print_health_info:433: assert_var[0] 0x00000041\n\
                 mlx5_core 0000:3b:00.0: print_health_info:440: fw_ver 28.39.1002\n\
                 mlx5_core 0000:3b:00.0: print_health_info:446: synd 0x10: High temperature\n",
            ),
        ),
        (
            "devx",
            text(
                "non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 1a2b3c\n\
                 mlx5dv_devx_qp_modify(503) failed, syndrome 0: Invalid argument\n\
                 DESTROY_RMP(0x90e) timeout. Will cause a leak of a command resource\n",
            ),
        ),
        (
            "call",
            text(
                "non-zero status: 110 ibv_modify_qp failed\n\
                 Call to ibv_reg_mr failed with error Cannot allocate memory\n",
            ),
        ),
        ("send", binary(1, &[ctrl(0x0a, 2), data].concat())),
        ("umr", binary(1, &[&ctrl(0x25, 14)[..], &[0x80, 0, 0, 0, 0, 4], &[0; 106], &data, &[0; 48]].concat())),
        ("masked", binary(1, &[ctrl(0x14, 5), data, data, data, data].concat())),
        ("frame", binary(1, &[&ctrl(0x0e, 4)[..], &[0; 12], &[0, 18], &[1; 34]].concat())),
        ("receive", binary(3, &[[0; 16], data].concat())),
        ("compressed", binary(4, &[&[0; 44][..], &[0, 0, 0, 3], &[0; 15], &[0x2c], &[0; 64]].concat())),
        ("doorbells", binary(7, &[1; 24])),
    ]
}
