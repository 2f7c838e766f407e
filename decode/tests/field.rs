//! Lines of the field's programs about failures, and lines of ordinary logs, in which nothing failed. The forms are the
//! programs'; numbers and names are made up.
//!
//! A line by itself belongs here. Public text belongs in `golden.rs`, forms of dumps in `dumps.rs`.

use blueflame_decode::{Kind, Options, Report, decode};

/// A line; the kind of its record; some of its numbers; words that the report has.
type Case = (&'static str, Kind, &'static [(&'static str, u64)], &'static [&'static str]);

fn read(text: &str) -> Report {
    decode(text.as_bytes(), &Options::default())
}

/// Compares all, and names each that differs.
fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (line, kind, fields, words) in cases {
        let report = read(line);
        let [record] = &report.records[..] else {
            wrong.push(format!("{} records: {line}\n{report}", report.records.len()));
            continue;
        };
        let differing =
            fields.iter().filter(|(name, value)| record.number(name) != Some(*value)).map(|(name, _)| *name);
        let shown = report.to_string();
        let missing = words.iter().filter(|word| !shown.contains(**word)).copied();
        let differences: Vec<_> = differing.chain(missing).collect();
        if record.kind != *kind || record.diagnosis.is_none() || !differences.is_empty() {
            wrong.push(format!("{:?}, {differences:?}: {line}\n{report}", record.kind));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const RETRIES: &[&str] = &["IBV_WC_RETRY_EXC_ERR", "nothing came back from the peer"];

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
        // uccl, eRPC, gloo: a check that failed prints what it compared.
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

/// Queue pairs, completion queues and devices, as the kernel reports them in its versions.
#[test]
fn events_of_the_kernel() {
    use Kind::Event;
    check(&[
        (
            "[Tue Mar  3 10:00:00 2026] mlx5_bond_0/1: QP 40123 error: local length error (0x8e 0x0 0x0)",
            Event,
            &[
                ("qpn", 40123),
                ("syndrome", 1),
                ("vendor_err_synd", 0x8e),
                ("rsvd1:hw_synd_type", 0),
                ("rsvd1:hw_err_synd", 0),
            ],
            &["IBV_WC_LOC_LEN_ERR", "a receive: its buffers", "mlx5_ib"],
        ),
        // The text is the status's, the number the syndrome's.
        (
            "mlx5_0/1: QP 77 error: general error (0x81 0x2 0x93)",
            Event,
            &[
                ("qpn", 77),
                ("syndrome", 0x15),
                ("vendor_err_synd", 0x81),
                ("rsvd1:hw_synd_type", 2),
                ("rsvd1:hw_err_synd", 0x93),
            ],
            &["IBV_WC_RETRY_EXC_ERR", "but the number is the device's syndrome"],
        ),
        ("mlx5_0/1: QP 77 error: fatal error (0x88 0x0 0x0)", Event, &[("syndrome", 0x13)], &["IBV_WC_REM_ACCESS_ERR"]),
        (
            "rocep9s0/1: QP 91 error: unrecognized status (0x41 0x0 0x0)",
            Event,
            &[("qpn", 91), ("vendor_err_synd", 0x41)],
            &["no text for its syndrome", "CQ error on CQN"],
        ),
        (
            "[12001.1] mlx5_core 0000:3b:00.0: mlx5_eq_int:556:(pid 0): CQ error on CQN 0x51c, syndrom 0x1",
            Event,
            &[("cqn", 0x51c), ("syndrome", 1)],
            &["CQ_OVERRUN", "more completions than it has room for"],
        ),
        (
            "mlx5_core 0000:3b:00.0: cq_err_event_notifier:517:(pid 812): CQ error on CQN 0x51d, syndrome 0x2",
            Event,
            &[("cqn", 0x51d), ("syndrome", 2)],
            &["CQ_ACCESS_VIOLATION_ERROR", "IOMMU"],
        ),
        (
            "mlx5_core 0000:3b:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count",
            Event,
            &[],
            &["the firmware has stopped answering", "pci/0000:3b:00.0"],
        ),
        (
            "mlx5_core 0000:3b:00.0: print_health_info:429:(pid 0): Health issue observed, High temperature, \
             severity(3) ERROR:",
            Event,
            &[("severity", 3)],
            &["health syndrome 0x10", "cooling"],
        ),
        (
            "mlx5_core 0000:3b:00.1: poll_health:810:(pid 0): Fatal error 1 detected",
            Event,
            &[("fatal_error", 1)],
            &["all ones"],
        ),
        ("mlx5_core 0000:3b:00.1: print_health_info:420:(pid 0): PCI slot is unavailable", Event, &[], &["all ones"]),
        (
            "mlx5_core 0000:3b:00.1: mlx5_health_try_recover:381:(pid 1): health recovery flow aborted, PCI reads \
             still not working",
            Event,
            &[],
            &["does not answer on PCIe"],
        ),
        (
            "mlx5_core 0000:3b:00.0 ens1: TX timeout on queue: 3, SQ: 0x1f8, CQ: 0x418, SQ Cons: 0x12 SQ Prod: \
             0x40, usecs since last trans: \
             15360000",
            Event,
            &[("queue", 3), ("sqn", 0x1f8), ("cqn", 0x418), ("sq_cons", 0x12), ("sq_prod", 0x40)],
            &["no send of a queue"],
        ),
        (
            "NETDEV WATCHDOG: ens1 (mlx5_core): transmit queue 3 timed out 5123 ms",
            Event,
            &[],
            &["no send of a \
         queue"],
        ),
        ("mlx5_core 0000:3b:00.0 ens1: ERR CQE on SQ: 0x1f8", Event, &[("sqn", 0x1f8)], &["Error cqe on cqn"]),
        (
            "mlx5_core 0000:3b:00.0: Port module event[error]: module 0, Cable error, High Temperature",
            Event,
            &[("module", 0)],
            &["ethtool -m"],
        ),
        (
            "mlx5_core 0000:3b:00.0: mlx5_pcie_event:326:(pid 5): Detected insufficient power on the PCIe slot \
             (27W).",
            Event,
            &[],
            &["often harmless"],
        ),
        (
            "mlx5_core 0000:3b:00.0: temp_warn:171:(pid 0): High temperature on sensors with bit set 0 1",
            Event,
            &[],
            &["cooling"],
        ),
        (
            "infiniband mlx5_0: mlx5_ib_page_fault_resume:404:(pid 9): Failed to resolve the page fault on WQ 0x1f8 \
             err -5",
            Event,
            &[("wqn", 0x1f8)],
            &["on demand"],
        ),
        ("mlx5_core 0000:3b:00.0: Async event for bogus CQ 0x51c", Event, &[("cqn", 0x51c)], &["no longer has"]),
        ("mlx5_0: got async event IBV_EVENT_QP_FATAL, qpn 0x55", Event, &[], &["IBV_EVENT_QP_FATAL"]),
        ("NCCL WARN NET/IB : mlx5_0:1 Got async event : port error", Event, &[], &["IBV_EVENT_PORT_ERR"]),
        (
            "worker_pool.cpp:399] Worker: Received context async event local work queue catastrophic error for \
             context mlx5_1",
            Event,
            &[],
            &["QP_FATAL"],
        ),
    ]);
}

/// The block of lines about a device's health is one record; another device has its own.
#[test]
fn health_is_one_block() {
    let block = "\
[70.1] mlx5_core 0000:3b:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count
[70.2] mlx5_core 0000:3b:00.0: print_health_info:429: Health issue observed, firmware internal error, severity(2) CRITICAL:
[70.3] mlx5_core 0000:3b:00.0: print_health_info:433:(pid 0): assert_var[0] 0x00000041
[70.3] mlx5_core 0000:3b:00.0: print_health_info:433:(pid 0): assert_var[1] 0x00000000
[70.4] mlx5_core 0000:3b:00.0: print_health_info:436:(pid 0): assert_exit_ptr 0x20a1b2c3
[70.5] mlx5_core 0000:3b:00.0: print_health_info:437:(pid 0): assert_callra 0x20a1b2d4
[70.6] mlx5_core 0000:3b:00.0: print_health_info:440:(pid 0): fw_ver 28.39.1002
[70.7] mlx5_core 0000:3b:00.0: print_health_info:441:(pid 0): time 1700000000
[70.7] mlx5_core 0000:3b:00.0: print_health_info:442:(pid 0): hw_id 0x00000218
[70.7] mlx5_core 0000:3b:00.0: print_health_info:443:(pid 0): rfr 0
[70.7] mlx5_core 0000:3b:00.0: print_health_info:444:(pid 0): severity 2 (CRITICAL)
[70.8] mlx5_core 0000:3b:00.0: print_health_info:445:(pid 0): irisc_index 3
[70.8] mlx5_core 0000:3b:00.0: print_health_info:446:(pid 0): synd 0x1: firmware internal error
[70.8] mlx5_core 0000:3b:00.0: print_health_info:448:(pid 0): ext_synd 0x8d1f
[70.9] mlx5_core 0000:3b:00.0: print_health_info:449:(pid 0): raw fw_ver 0x1c2703ea
[71.0] mlx5_core 0000:5e:00.0: poll_health:840:(pid 0): device's health compromised - reached miss count
";
    let report = read(block);
    assert_eq!(report.records.len(), 2, "{report}");
    let record = &report.records[0];
    let expected = [
        ("severity", 2),
        ("assert_var[0]", 0x41),
        ("assert_exit_ptr", 0x20a1_b2c3),
        ("assert_callra", 0x20a1_b2d4),
        ("hw_id", 0x218),
        ("irisc_index", 3),
        ("synd", 1),
        ("ext_synd", 0x8d1f),
        ("raw_fw_ver", 0x1c27_03ea),
    ];
    for (name, value) in expected {
        assert_eq!(record.number(name), Some(value), "{name}\n{report}");
    }
    assert_eq!(record.log.len(), 15);
    let diagnosis = record.diagnosis.as_ref().expect("a diagnosis");
    assert!(diagnosis.summary.contains("stopped answering"), "{report}");
    assert!(diagnosis.details.iter().any(|detail| detail.contains("firmware internal error")), "{report}");
    assert!(report.to_string().contains("28.39.1002"), "{report}");
    // Kernels before 5.x print the version raw, and no head.
    let old = read("mlx5_core 0000:3b:00.0: print_health_info:300:(pid 0): synd 0x7: irisc not responding");
    assert_eq!(old.records[0].number("synd"), Some(7), "{old}");
}

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

/// A flush names the error before it, of its own queue pair if it is known; a queue pair without a syndrome names the
/// completion queue.
#[test]
fn consequences_name_their_cause() {
    let detail =
        |text: &str, at: usize| read(text).records[at].diagnosis.as_ref().expect("a failure").details.join("\n");
    let log = "\
wc error: status IBV_WC_REM_ACCESS_ERR vendor_err 136 qp_num 0x11
something else
wc error: status IBV_WC_RETRY_EXC_ERR vendor_err 129 qp_num 0x22
wc error: status IBV_WC_WR_FLUSH_ERR vendor_err 249 qp_num 0x11
wc error: status IBV_WC_WR_FLUSH_ERR vendor_err 249 qp_num 0x33
number 1 got bad completion with status: 0x5, vendor syndrome: 0xf9
";
    assert!(detail(log, 2).contains("the error before it here: line 1, "), "{}", detail(log, 2));
    assert!(!detail(log, 3).contains("before it here"), "{}", detail(log, 3));
    assert!(detail(log, 4).contains("the error before it here: line 3, "), "{}", detail(log, 4));
    let queue = "\
mlx5_core 0000:3b:00.0: cq_err_event_notifier:517:(pid 8): CQ error on CQN 0x51d, syndrome 0x1
rocep9s0/1: QP 91 error: unrecognized status (0x41 0x0 0x0)
";
    assert!(detail(queue, 1).contains("the CQ error before it here: line 1, "), "{}", detail(queue, 1));
}

/// Lines of logs, tables and code in which nothing failed, or nothing of RDMA.
#[test]
fn ordinary_lines_are_no_failures() {
    let lines = [
        "status: 0",
        "error 0",
        "status 12",
        "error 12",
        "exit status 9",
        "completed 12 of 80",
        "completed 12 of 80 with 5 errors",
        "job completion status: 1",
        "completion of step 4: status 2",
        "got completion with status 0, vendor err 0",
        "wc.status = 0, vendor_err = 0",
        "wc status IBV_WC_SUCCESS opcode IBV_WC_SEND vendor_err 0",
        "{wr_id = 4, status = IBV_WC_SUCCESS, opcode = IBV_WC_RECV, vendor_err = 63216832, byte_len = 16}",
        "if (wc.status != IBV_WC_SUCCESS) {",
        "CQE 12 of 64, cq error count 5",
        "mlx5_core 0000:3b:00.0: firmware version: 28.39.1002",
        "mlx5_core 0000:3b:00.0: 126.028 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x4 link)",
        "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged",
        "mlx5_core 0000:3b:00.0 ens1: Link up",
        "mlx5_core 0000:3b:00.0: query_mcia_reg failed: status: 0x3",
        "mlx5_core 0000:3b:00.0: health recovery succeeded",
        "mlx5_core 0000:3b:00.0: PCIe slot advertised sufficient power (27W).",
        "3b:00.0 Infiniband controller: Mellanox Technologies MT2894 Family [ConnectX-6 Lx] vendor 0x15b3 device \
         0x101f",
        "vendor_id: 0x02c9, vendor_part_id: 4129, hw_ver: 0x0",
        "pci bus 0x0081 cardnum 0x00 function 0x00: vendor 0x15b3 device 0x1017",
        "link mlx5_0/1 rx_write_requests 0 req_cqe_error 12 req_cqe_flush_error 5 resp_cqe_error 9 \
         local_ack_timeout_err 12",
        "     tx_cqe_err: 12",
        "     ch3_eq_rearm: 5",
        "rnr_nak_retry_err 4",
        " 65536      10000            95.12              94.80              0.180810",
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
        " 2       1000          1.01           5.12         1.05  1.06  0.12  1.31  4.90",
        " local address: LID 0000 QPN 0x27d8 PSN 0x79f042",
        "Completion latency: 12 us, error margin 5%",
        "vdrd 4.12.9 started, error level 5",
        "HTTP request completed with status 200",
        "RTNETLINK answers: File exists",
        "nvme nvme0: creating 12 I/O queues.",
        "Failed to create CQ, error 12",
        "thread 12 exited with status 5",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE",
        "NCCL INFO transport/net.cc:1302 -> 6",
        "[rank0]: work WorkNCCL(SeqNum=5, OpType=ALLREDUCE) timed out in 600000 ms",
        "UCX  DEBUG mlx5_0: crossing_vhca_mkey is not supported",
        "syndrome 0x1 of Down's disease, chapter 12",
        "fatal error: file.h: No such file or directory",
        "operation aborted by user",
        "on fatal error, or on successful completion",
        "error: general error in line 12",
        "ports: 18515 is in use",
        "Jan 01 00:00:00 host sshd[12]: error: kex_exchange_identification: Connection reset by peer",
        "rdma_rxe: loaded",
    ];
    let is_known = |line: &&&str| read(line).records.iter().any(|record| record.kind != Kind::Unknown);
    let wrong: Vec<_> = lines.iter().filter(is_known).map(|line| format!("{line}\n{}", read(line))).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

/// Text of a log cannot change what a terminal shows: control characters and those that direct text are escaped.
#[test]
fn foreign_text_is_escaped() {
    let report = read("status=12 vendor_err=129 \u{202e}txt\u{200f} \u{8}bell \u{feff}x peer_nic: \u{2066}a\u{2069}");
    let shown = report.to_string();
    assert!(shown.contains("\\u{202e}txt\\u{200f}"), "{shown}");
    let directs = |c: char| {
        c.is_control() && c != '\n'
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2060}'..='\u{206f}').contains(&c)
            || c == '\u{feff}'
    };
    assert!(!shown.contains(directs), "{shown:?}");
}
