//! Commands that were refused or got no answer, and calls that failed.
//!
//! Lines about a command or a call belong here.

use super::*;

/// Commands: refused by the firmware, unanswered, or failed before it.
#[test]
fn commands() {
    use Kind::Command;
    check(&[
        (
            "ibgda.cpp:1345: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome \
             1a2b3c",
            Command,
            &[("opcode", 0x503), ("syndrome", 0x1a_2b3c), ("errno", 121)],
            &["the firmware refused INIT2RTR_QP", "EREMOTEIO", "object    QP"],
        ),
        (
            "ibgda.cpp:1393: non-zero status: 121 Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome \
             764216",
            Command,
            &[("syndrome", 0x76_4216)],
            &[],
        ),
        (
            "ib_mlx5_dv.c:217  UCX  ERROR mlx5dv_devx_qp_modify(503) failed, syndrome 0: Invalid argument",
            Command,
            &[("opcode", 0x503), ("syndrome", 0), ("errno", 22)],
            &["INIT2RTR_QP failed, but the firmware did not refuse it", "EINVAL", "object    QP"],
        ),
        (
            "dc_mlx5_devx.c:78   UCX  ERROR mlx5dv_devx_obj_create(DCT) failed, syndrome 0: Connection timed out",
            Command,
            &[("opcode", 0x710), ("syndrome", 0), ("errno", 110)],
            &["CREATE_DCT failed", "did not refuse", "did not answer in time", "object    DCT"],
        ),
        (
            "ib_mlx5_dv.c:430  UCX  ERROR   mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndrome 0x2c4154: Remote \
             I/O error",
            Command,
            &[("opcode", 0x500), ("syndrome", 0x2c_4154), ("errno", 121)],
            &["the firmware refused CREATE_QP", "device    mlx5_0"],
        ),
        (
            "ib_mlx5_dv.c:464  UCX  ERROR   mlx5dv_devx_general_cmd(ALLOW_OTHER_VHCA_ACCESS) failed on mlx5_bond_1, \
             syndrome 0x88f347: Remote \
             I/O error",
            Command,
            &[("syndrome", 0x88_f347)],
            &["ALLOW_OTHER_VHCA_ACCESS", "mlx5_bond_1"],
        ),
        (
            "ib_mlx5_dv.c:349 UCX ERROR mlx5dv_devx_qp_modify(opcode=0x502) failed, syndrome 0x5f1d2a: Remote I/O \
             error",
            Command,
            &[("opcode", 0x502), ("syndrome", 0x5f_1d2a)],
            &["RST2INIT_QP"],
        ),
        (
            "mlx5_common: DevX create QP failed errno=121 status=0x3 syndrome=0x6bb7f4",
            Command,
            &[("errno", 121), ("status", 3), ("syndrome", 0x6b_b7f4)],
            &["create QP", "BAD_PARAM_ERR"],
        ),
        (
            "mlx5_core 0000:3b:00.0: mlx5_cmd_out_err:816:(pid 8): CREATE_CQ(0x400) op_mod(0x0) failed, status bad \
             parameter(0x3), syndrome \
             (0x6bb7f4), err(-22)",
            Command,
            &[("opcode", 0x400), ("op_mod", 0), ("status", 3), ("syndrome", 0x6b_b7f4), ("errno", 22)],
            &["the firmware refused CREATE_CQ", "bad parameter"],
        ),
        (
            "mlx5_core 0000:3b:00.0: cmd_status_print:792: MODIFY_RQ(0x909) op_mod(0x0) uid(4) failed, status bad \
             resource state(0x9), syndrome \
             (0x1d2f3e), err(-22)",
            Command,
            &[("opcode", 0x909), ("uid", 4), ("status", 9)],
            &[],
        ),
        (
            "mlx5_core 0000:04:00.0: mlx5_cmd_check:795:(pid 9): 2ERR_QP(0x507) op_mod(0x0) failed, status bad \
             system state(0x4), syndrome \
             (0x4bb88f)",
            Command,
            &[("opcode", 0x507), ("status", 4)],
            &["2ERR_QP"],
        ),
        (
            "mlx5_core 0000:04:00.0: command failed, status bad resource(0x5), syndrome 0x2c3d4e",
            Command,
            &[("status", 5), ("syndrome", 0x2c_3d4e)],
            &["BAD_RES_ERR"],
        ),
        (
            "mlx5_cmd_check: CREATE_MKEY(0x200) op_mod(0x0) failed, status (0xfe), syndrome (0xbadd00de)",
            Command,
            &[("opcode", 0x200), ("status", 0xfe)],
            &["the driver aborted CREATE_MKEY"],
        ),
        (
            "mlx5_core 0000:3b:00.0: wait_func:1136:(pid 3): DESTROY_RMP(0x90e) timeout. Will cause a leak of a \
             command resource",
            Command,
            &[("opcode", 0x90e)],
            &["DESTROY_RMP: the firmware did not answer in time", "pci/0000:3b:00.0"],
        ),
        (
            "mlx5_core 0000:3b:00.0: cb_timeout_handler:880: cmd[3]: CREATE_MKEY(0x200) Async, timeout. Will cause \
             a leak of a command resource",
            Command,
            &[("opcode", 0x200)],
            &["did not answer in time"],
        ),
        (
            "mlx5_core 0000:3b:00.0: wait_func_handle_exec_timeout:1128:(pid 5): cmd[0]: ACCESS_REG(0x805) No done \
             completion",
            Command,
            &[("opcode", 0x805)],
            &["did not answer in time"],
        ),
        (
            "mlx5_core 0000:3b:00.0: wait_func:1140:(pid 5): QUERY_QP(0x50b) canceled on out of queue timeout.",
            Command,
            &[("opcode", 0x50b)],
            &["no free slot"],
        ),
        (
            "mlx5_core 0000:3b:00.0: wait_func_handle_exec_timeout:1120: cmd[1]: CREATE_EQ(0x301) recovered after \
             timeout",
            Command,
            &[("opcode", 0x301)],
            &["interrupt was lost"],
        ),
    ]);
}

/// A number behind a call is an errno, not a status.
#[test]
fn calls() {
    use Kind::Call;
    check(&[
        ("ibrc.cpp:417: non-zero status: 110 ibv_modify_qp failed", Call, &[("errno", 110)], &["ETIMEDOUT", "ARP"]),
        ("ibrc.cpp:420: non-zero status: 22 ibv_modify_qp failed.", Call, &[("errno", 22)], &["EINVAL", "path MTU"]),
        (
            "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out errno 110",
            Call,
            &[("errno", 110)],
            &["ibv_modify_qp failed: ETIMEDOUT"],
        ),
        ("Call to ibv_reg_mr failed with error Cannot allocate memory", Call, &[("errno", 12)], &["ulimit -l"]),
        (
            "NCCL WARN Call to ibv_create_cq failed with error 12",
            Call,
            &[("errno", 12)],
            &["not the status of a completion"],
        ),
        ("ibv_post_send return error 12", Call, &[("errno", 12)], &["the send queue is full"]),
        (
            "ib_md.c:287  UCX  ERROR ibv_reg_mr(address=0x7f, length=4096) failed: Bad address",
            Call,
            &[("errno", 14)],
            &["EFAULT"],
        ),
        (
            "rdma_endpoint.cpp:420] Failed to modify QP to RTR, check mtu, gid, peer lid: Connection timed out [110]",
            Call,
            &[("errno", 110)],
            &["ibv_modify_qp failed: ETIMEDOUT"],
        ),
        ("mlx5dv_devx_create_event_channel() failed: Protocol not supported", Call, &[("errno", 93)], &[]),
    ]);
}
