//! Failed completions, as programs and the kernel report them.
//!
//! Lines about a completion belong here.

use super::*;

/// A status by number, by name or by text, with a vendor syndrome in any spelling.
#[test]
fn statuses_of_completions() {
    use Kind::LoggedCompletion as Completion;
    check(&[
        // NCCL and its plugins.
        (
            "h1:120:144 [0] transport/net_ib.cc:921 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len \
             0, vendor err 129",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81), ("wc_opcode", 1)],
            &["129 in the line", "undefined in a failed completion", "nothing came back from the peer"],
        ),
        (
            "h1:120:144 [2] ib_plugin.c:1007 NCCL WARN NET/IB : Got completion from peer 192.0.2.7<40001> with \
             error 5, opcode 0, len 0, \
             vendor err 249 (Recv)",
            Completion,
            &[("status", 5), ("vendor_err_synd", 0xf9)],
            &["IBV_WC_WR_FLUSH_ERR", "look for the first completion with another status"],
        ),
        (
            "NET/IB : Got completion from peer 192.0.2.7<40001> with status=4 opcode=32564 len=32564 vendor err 81 \
             (Send) localGid ::1",
            Completion,
            &[("status", 4), ("vendor_err_synd", 0x51)],
            &["IBV_WC_LOC_PROT_ERR"],
        ),
        // RDMAmojo's example, and the many programs after it.
        (
            "number 3 got bad completion with status: 0xc, vendor syndrome: 0x81",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "got bad completion with status: 5, vendor syndrome: 249",
            Completion,
            &[("status", 5), ("vendor_err_synd", 0xf9)],
            &["flushed"],
        ),
        (
            "got bad completion with status: 0xd, vendor syndrome: 0x83, with error RNR retry counter exceeded, qp \
             n:0 t:1",
            Completion,
            &[("status", 13), ("vendor_err_synd", 0x83)],
            &["side: this one gave up; look at the receives of the peer"],
        ),
        // perftest, rdma-core's examples and librdmacm's.
        (
            " Failed status 12: wr_id 7 syndrom 0x81",
            Completion,
            &[("status", 12), ("wr_id", 7), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        ("Work completion error 10", Completion, &[("status", 10)], &["IBV_WC_REM_ACCESS_ERR"]),
        ("cq completion failed status 5", Completion, &[("status", 5)], &["IBV_WC_WR_FLUSH_ERR"]),
        ("Failed status local length error (1) for wr_id 3", Completion, &[("status", 1), ("wr_id", 3)], &["LOC_LEN"]),
        // libfabric.
        (
            "libfabric:4242:ofi_rxm:cq:rxm_handle_error():811<warn> fi_cq_readerr: err: Input/output error (5), \
             prov_err: transport retry \
             counter exceeded (12)",
            Completion,
            &[("status", 12)],
            &["IBV_WC_RETRY_EXC_ERR"],
        ),
        (
            "cq_readerr: err 5, prov_errno: 9 vendor_err 0x8a",
            Completion,
            &[("status", 9), ("vendor_err_synd", 0x8a)],
            &[],
        ),
        // uccl, eRPC, gloo: a failed check prints its operands.
        (
            "F0821 13:22:09.976752 31 rdma_io.cc:811] Check failed: wc->status == IBV_WC_SUCCESS RC send CQ state \
             error: 12, 0",
            Completion,
            &[("status", 12)],
            &["IBV_WC_RETRY_EXC_ERR"],
        ),
        (
            "Check failed: wc.status == IBV_WC_SUCCESS (10 vs. 0) READ failed",
            Completion,
            &[("status", 10)],
            &["REM_ACCESS"],
        ),
        (
            "[pair.cc:510] wc->status == IBV_WC_SUCCESS. 12 vs 0. Send for slot 3: transport retry counter exceeded",
            Completion,
            &[("status", 12)],
            &[],
        ),
        (
            "[WARN h2 17 18 pollOnce ib_channel.cc:203] channel_id: 4, CQE error, wr_id=19, status=10 (remote \
             access error), opcode=1, \
             byte_len=0, vendor_err=0x88, qp_num=0x2c21, wc_flags=0x0",
            Completion,
            &[("status", 10), ("wr_id", 19), ("vendor_err_synd", 0x88), ("qpn", 0x2c21)],
            &[],
        ),
        (
            "[WARN] pollOnce - channel_id: 1, WR_FLUSH_ERR, qp_num=0x2c79",
            Completion,
            &[("status", 5), ("qpn", 0x2c79)],
            &[],
        ),
        ("Bad wc status 12.", Completion, &[("status", 12)], &[]),
        // Mooncake.
        (
            "E0404 01:02:03.000004 42 worker_pool.cpp:271] Worker: Process failed for slice (opcode: 1, \
             source_addr: 0x7f0000001000, \
             length: 65536, dest_addr: 0x7f0000002000, local_nic: mlx5_3, peer_nic: 192.0.2.1:15000@mlx5_0, dest_rkey: 77, \
             retry_cnt: 0): \
             transport retry counter exceeded",
            Completion,
            &[("status", 12), ("source_addr", 0x7f00_0000_1000), ("dest_rkey", 77)],
            &["local_nic", "mlx5_3", "192.0.2.1:15000@mlx5_0"],
        ),
        (
            "E0404 worker_pool.cpp:291] Worker: Process failed for slice (opcode: 0, local_nic: mlx5_1, peer_nic: \
             h9:7712@mlx5_0): general error",
            Completion,
            &[("status", 21)],
            &["IBV_WC_GENERAL_ERR"],
        ),
        // Names alone, of every header.
        (
            "wc error: status IBV_WC_REM_ACCESS_ERR vendor_err 136 qp_num 0x1a2b",
            Completion,
            &[("status", 10), ("vendor_err_synd", 0x88), ("qpn", 0x1a2b)],
            &[],
        ),
        (
            ".status 9 (IBV_WC_REM_INV_REQ_ERR), .vendor_err 138",
            Completion,
            &[("status", 9), ("vendor_err_synd", 0x8a)],
            &[],
        ),
        (
            "error is MLX5_CQE_REQ_ERR with syndrome MLX5_CQE_SYNDROME_LOCAL_PROT_ERR (vendor_err_synd byte is 0x52",
            Completion,
            &[("syndrome", 4), ("vendor_err_synd", 0x52), ("op_own:opcode", 13)],
            &["a requester's"],
        ),
        ("opcode MLX5_CQE_RESP_ERR on the receive CQ", Completion, &[("op_own:opcode", 14)], &["a responder's"]),
        (
            "WorkCompletionError { wr_id: 7, status: RetryExcErr, vendor_err: 129 }",
            Completion,
            &[("status", 12), ("wr_id", 7), ("vendor_err_synd", 0x81)],
            &[],
        ),
        ("CRITICAL_EVENT:RdmaError:RECV FF.0.A6 failed: IBV_WC_RNR_RETRY_EXC_ERR", Completion, &[("status", 13)], &[]),
        (
            "{wr_id = 0x5, status = IBV_WC_SUCCESS, opcode = IBV_WC_RECV, vendor_err = 0, qp_num = 25}, {wr_id = \
             0x6, status = \
             IBV_WC_WR_FLUSH_ERR, opcode = IBV_WC_SEND, vendor_err = 249, qp_num = 25}",
            Completion,
            &[("status", 5), ("vendor_err_synd", 0xf9), ("qpn", 25)],
            &[],
        ),
        // Open MPI, MVAPICH, GlusterFS, QEMU, Ceph, SPDK, brpc.
        (
            "[[5,1],12][btl_openib_component.c:3556:handle_wc] from h1 to: h2 error polling LP CQ with status \
             REMOTE ACCESS ERROR status number \
             10 for wr_id 19059c8 opcode 4  vendor error 136 qp_idx 3",
            Completion,
            &[("status", 10), ("wr_id", 0x190_59c8), ("vendor_err_synd", 0x88)],
            &[],
        ),
        (
            "error polling HP CQ with status RETRY EXCEEDED ERROR status number 12 for wr_id 5 opcode 1  vendor \
             error 129 qp_idx 0",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "[3] Abort: [] Got completion with error 12, vendor code=0x81, dest rank=9",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "W [rdma.c:4272:gf_rdma_disconnect] send work request on `mlx5_0' returned error wc.status = 12, \
             wc.vendor_err = 129, post->buf = \
             0x2aab, wc.byte_len = 0, post->reused = 5",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        ("ibv_poll_cq wc.status=12 transport retry counter exceeded!", Completion, &[("status", 12)], &[]),
        (
            "7f RDMAStack handle_tx_event work request returned error for buffer(0x55) status(12:RETRY_EXC_ERR)",
            Completion,
            &[("status", 12)],
            &[],
        ),
        (
            "rdma.c:3918:nvmf_rdma_poller_poll: *ERROR*: Error on CQ 0x7fb64c021d80, request 0x140420817435824, \
             type 2, status: (5): Work \
             Request Flushed Error",
            Completion,
            &[("status", 5)],
            &[],
        ),
        (
            "Fail to handle RDMA completion, error status(9): remote invalid request error",
            Completion,
            &[("status", 9)],
            &[],
        ),
        // UCX: with the device's numbers, over verbs, and before 1.5.
        (
            "[h1:15:0:15] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 \
             hw_synd 0/7)",
            Completion,
            &[("syndrome", 0x15), ("vendor_err_synd", 0x81), ("rsvd1:hw_synd_type", 0), ("rsvd1:hw_err_synd", 7)],
            RETRIES,
        ),
        (
            "[1.0] [h1:15:0] dc_verbs.c:614  UCX  ERROR Send completion with error on qp 0x6214: remote access \
             error syndrome 0x88",
            Completion,
            &[("status", 10), ("vendor_err_synd", 0x88), ("qpn", 0x6214)],
            &[],
        ),
        // GPU-initiated: NIXL, DOCA GPUNetIO, NVSHMEM.
        (
            "got completion with err: syndrome=0x5, vendor_err_synd=0xf9, hw_err_synd=0, hw_synd_type=0, \
             wqe_counter=65281 wqe_qpn=ed020008",
            Completion,
            &[("syndrome", 5), ("vendor_err_synd", 0xf9), ("wqe_counter", 65281), ("qpn", 0x02_0008)],
            &[],
        ),
        // DPDK's crypto drivers.
        (
            "mlx5_crypto: CQE ERR:0x4, Vendor_ERR:0x52, OP:0xd, QPN:0x1f4, WQE_CNT:0x3",
            Completion,
            &[("vendor_err_synd", 0x52), ("qpn", 0x1f4), ("wqe_counter", 3)],
            &["LOC_PROT"],
        ),
        // Solaris prints the device's syndrome as the status.
        (
            "WARNING: mcxnex0: CQE ERR: cqe ffffa100fbff5fa0 QPN 0x40064 indx 0x1d81 status 0x13 vendor syndrome \
             0x88",
            Completion,
            &[("syndrome", 0x13), ("vendor_err_synd", 0x88), ("qpn", 0x40064)],
            &["IBV_WC_REM_ACCESS_ERR"],
        ),
        // A vendor syndrome is better than nothing.
        (
            "rc: request lost, vendor_err 129",
            Completion,
            &[("vendor_err_synd", 0x81)],
            &["known beside IBV_WC_RETRY_EXC_ERR"],
        ),
        // Colours of a terminal are no part of the words.
        (
            "\x1b[31mstatus=12\x1b[0m opcode=0 \x1b[1;33mvendor_err=129\x1b[0m",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
    ]);
}

/// Completions of the kernel's own users.
#[test]
fn completions_of_the_kernel() {
    use Kind::LoggedCompletion as Completion;
    check(&[
        (
            "nvme nvme1: RECV for CQE 0x00000000a1b2c3d4 failed with status WR flushed (5)",
            Completion,
            &[("status", 5)],
            &[],
        ),
        (
            "nvme nvme0: MEMREG for CQE 0x000000001234abcd failed with status memory management operation error (6)",
            Completion,
            &[("status", 6)],
            &[],
        ),
        (
            "iser: iser_err_comp: command failure: transport retry counter exceeded (12) vend_err 0x81",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "iser: iser_err_comp: memreg failure: local protection error (4) vend_err 51",
            Completion,
            &[("status", 4), ("vendor_err_synd", 0x51)],
            &[],
        ),
        (
            "rpcrdma: frwr: fastreg: remote access error (10/0x88)",
            Completion,
            &[("status", 10), ("vendor_err_synd", 0x88)],
            &[],
        ),
        (
            "svcrdma: Send: transport retry counter exceeded (12/0x81)",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "xprtrdma_wc_send: cq.id=4 cid=9 status=WR_FLUSH_ERR (5/0xf9)",
            Completion,
            &[("status", 5), ("vendor_err_synd", 0xf9)],
            &[],
        ),
        (
            "scsi host3: ib_srp: failed RECV status WR flushed (5) for CQE 00000000abcd0123",
            Completion,
            &[("status", 5)],
            &[],
        ),
        (
            "ib0: failed send event (status=12, wrid=4 vend_err 81)",
            Completion,
            &[("status", 12), ("wr_id", 4), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "RDS/IB: send completion on <192.0.2.1,192.0.2.2,0> had status 12 vendor err 0x81, disconnecting and \
             reconnecting",
            Completion,
            &[("status", 12), ("vendor_err_synd", 0x81)],
            RETRIES,
        ),
        (
            "LNetError: 42:0:(o2iblnd_cb.c:1055:kiblnd_tx_complete()) Tx -> 192.0.2.9@o2ib cookie 0x5 sending 1 \
             waiting 1: failed 12",
            Completion,
            &[("status", 12)],
            &["IBV_WC_RETRY_EXC_ERR"],
        ),
        (
            "LNetError: 42:0:(o2iblnd_cb.c:477:kiblnd_rx_complete()) Rx from 192.0.2.9@o2ib failed: 5",
            Completion,
            &[("status", 5)],
            &[],
        ),
        (
            "infiniband mlx5_0: mlx5_poll_one:530:(pid 0): syndrome 0x13, vendor syndrome 0x88",
            Completion,
            &[("syndrome", 0x13), ("vendor_err_synd", 0x88)],
            &[],
        ),
        (
            "mlx5_core 0000:08:00.0 ens1: Error cqe on cqn 0x418, ci 0x3ff, qn 0x10a6, opcode 0xd, syndrome 0x2, \
             vendor syndrome 0x68",
            Completion,
            &[("cqn", 0x418), ("qpn", 0x10a6), ("op_own:opcode", 13), ("syndrome", 2), ("vendor_err_synd", 0x68)],
            &["IBV_WC_LOC_QP_OP_ERR"],
        ),
    ]);
}
