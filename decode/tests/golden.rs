//! Dumps that users have pasted into public threads, and their meaning. The dumps come from real NICs.
//!
//! Text that somebody published belongs here. Dumps written by hand belong in `dumps.rs` and `wqes.rs`.

use blueflame_decode::{Kind, Options, decode};

/// A record that must be found: its kind, its title, and some of its fields.
type Expected = (Kind, &'static str, &'static [(&'static str, u64)]);

/// The printing program and the thread; the text; its content.
const CASES: &[(&str, &str, &[Expected])] = &[
    (
        "libmlx5 and libfabric; https://github.com/ofiwg/libfabric/issues/4283",
        "mlx5: cn10: got completion with error:
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000002 00000000 00000000 00000000
00000000 00008813 10012abe 0dd0c1d3
libfabric:ofi_rxm:cq:rxm_cq_read_write_error():819<warn> fi_cq_readerr: err: 5, prov_err: remote access error (10)
",
        &[
            (
                Kind::Cqe,
                "MLX5_CQE_REQ_ERR, queue pair 0x12abe",
                &[
                    ("srqn:srqn", 2),
                    ("vendor_err_synd", 0x88),
                    ("syndrome", 0x13),
                    ("s_wqe_opcode_qpn:s_wqe_opcode", 0x10),
                    ("s_wqe_opcode_qpn:qpn", 0x12abe),
                    ("wqe_counter", 0x0dd0),
                    ("signature", 0xc1),
                    ("op_own:opcode", 13),
                    ("op_own:owner", 1),
                ],
            ),
            (Kind::LoggedCompletion, "a failed request, from a log", &[("status", 10)]),
        ],
    ),
    (
        "libmlx5, with the hardware's syndrome, and SPDK; https://github.com/spdk/spdk/issues/961",
        "mlx5: ogden-rust.west.isilon.com: got completion with error:
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
000000b3 00000000 00000000 00000000
00000000 93005204 0a0019a1 c0921cd2
nvme_rdma.c:1748:nvme_rdma_qpair_process_completions: *ERROR*: CQ error on Queue Pair 0x7efd94490ac0, Opcode 128, Response Index \
         139627583889688 (4): local protection error
",
        &[
            (
                Kind::Cqe,
                "MLX5_CQE_REQ_ERR, queue pair 0x19a1",
                &[
                    ("rsvd1:hw_err_synd", 0x93),
                    ("rsvd1:hw_synd_type", 0),
                    ("vendor_err_synd", 0x52),
                    ("syndrome", 4),
                    ("s_wqe_opcode_qpn:s_wqe_opcode", 0x0a),
                    ("wqe_counter", 0xc092),
                ],
            ),
            (Kind::LoggedCompletion, "a failed request, from a log", &[("status", 4)]),
        ],
    ),
    (
        "libmlx5 under a CI that puts the time in front; https://github.com/openucx/ucx/issues/1770",
        "19:34:56 mlx5: hpc-test-node2: got completion with error:
19:34:56 00000000 00000000 00000000 00000000
19:34:56 00000000 00000000 00000000 00000000
19:34:56 00000002 00000000 00000000 00000000
19:34:56 00000000 00008a12 1002a8af 0001a2d2
",
        &[(
            Kind::Cqe,
            "MLX5_CQE_REQ_ERR, queue pair 0x2a8af",
            &[("vendor_err_synd", 0x8a), ("syndrome", 0x12), ("wqe_counter", 1)],
        )],
    ),
    (
        "libmlx5, another line begins in its last; https://github.com/openucx/ucx/issues/1569",
        "mlx5: vegas06: got completion with error:
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000000 00008813 08006214 0000f6d2[1496344648.549828] [vegas06:14872:0]       dc_verbs.c:614  UCX  ERROR Send
",
        &[(
            Kind::Cqe,
            "MLX5_CQE_REQ_ERR, queue pair 0x6214",
            &[("syndrome", 0x13), ("s_wqe_opcode_qpn:s_wqe_opcode", 8), ("signature", 0xf6)],
        )],
    ),
    (
        "Linux; the message of the commit \"Fixes: f0093fb1a7cb\" for unaligned regions registered on demand",
        "infiniband mlx5_0: dump_cqe:273:(pid 0): dump error cqe
00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
00000030: 00 00 00 00 0f 00 78 06 25 00 00 58 00 da ac d2
infiniband mlx5_0: mlx5_ib_post_send_wait:806:(pid 20311): reg umr
failed (6)
",
        &[(
            Kind::Cqe,
            "MLX5_CQE_REQ_ERR, queue pair 0x58",
            &[
                ("rsvd1:hw_err_synd", 0x0f),
                ("vendor_err_synd", 0x78),
                ("syndrome", 6),
                ("s_wqe_opcode_qpn:s_wqe_opcode", 0x25),
                ("wqe_counter", 0xda),
            ],
        )],
    ),
    (
        "dmesg of a receive; linux-nvme mailing list, an I/O page fault of an NVMe over RDMA host",
        "[  408.368677] mlx5_core 0000:c1:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x002f address=0x24d08000 flags=0x0000]
[  408.372201] infiniband mlx5_0: mlx5_handle_error_cqe:332:(pid 0): WC error: 4, Message: local protection error
[  408.380181] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe
[  408.380187] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  408.380189] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  408.380191] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  408.380192] 00000030: 00 00 00 00 a9 00 56 04 00 00 01 e9 00 54 e8 e2
[  408.380235] nvme nvme15: starting error recovery
",
        &[(
            Kind::Cqe,
            "MLX5_CQE_RESP_ERR, queue pair 0x1e9",
            &[("vendor_err_synd", 0x56), ("syndrome", 4), ("wqe_counter", 0x54), ("status", 4)],
        )],
    ),
    (
        "dmesg; linux-rdma mailing list, 2021-12-27, a patch for mlx5_handle_error_cqe",
        "[166755.330649] infiniband mlx5_0: mlx5_handle_error_cqe:333:(pid 0): WC error: 10, message: remote access error
[166755.332323] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe
[166755.332944] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[166755.333574] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[166755.334202] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[166755.334837] 00000030: 00 00 00 00 00 00 88 13 08 03 61 b3 1e a1 42 d3
",
        &[(
            Kind::Cqe,
            "MLX5_CQE_REQ_ERR, queue pair 0x361b3",
            &[("syndrome", 0x13), ("s_wqe_opcode_qpn:s_wqe_opcode", 8), ("wqe_counter", 0x1ea1), ("status", 10)],
        )],
    ),
    (
        "dmesg without dumps; https://github.com/linux-nvme/nvme-cli/issues/3268",
        "[15601.662156] infiniband rocep33s0f0: mlx5_poll_one:527:(pid 0): Responder error cqe on cqn 0x406:
[15601.662158] infiniband rocep33s0f0: mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9
[15601.662159] infiniband rocep33s0f0: mlx5_poll_one:527:(pid 0): Responder error cqe on cqn 0x406:
[15601.662161] infiniband rocep33s0f0: mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9
",
        &[LOGGED_FLUSH, LOGGED_FLUSH],
    ),
    (
        "DPDK, which writes \"seen\" into the CQE; https://github.com/Juniper/warp17/issues/81",
        "warp17> MLX5 Error CQE: at [0x7f6a7d20c000], len=64
00000000: 00 73 65 65 6E 00 00 00 00 00 00 00 00 00 00 00 | .seen...........
00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000020: 00 00 00 13 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000030: 00 00 00 00 9D 00 53 04 0A 00 15 42 00 19 B0 D2 | ......S....B....
MLX5 Error CQE: at [0x7f5b64e01080], len=64
00000000: 00 73 65 65 6E 00 00 00 00 00 00 00 00 00 00 00 | .seen...........
00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000020: 00 00 00 0C 00 00 00 00 00 00 00 00 00 00 00 00 | ................
00000030: 00 00 00 00 9D 00 53 04 0A 00 15 34 00 5A 98 D2 | ......S....4.Z..
[root@localhost warp17]#
",
        &[
            (
                Kind::Cqe,
                "MLX5_CQE_REQ_ERR, queue pair 0x1542",
                &[("rsvd1:hw_err_synd", 0x9d), ("vendor_err_synd", 0x53), ("syndrome", 4), ("wqe_counter", 0x19)],
            ),
            (Kind::Cqe, "MLX5_CQE_REQ_ERR, queue pair 0x1534", &[("srqn:srqn", 0x0c), ("wqe_counter", 0x5a)]),
        ],
    ),
    (
        "UCX; https://github.com/openucx/ucx/issues/9515",
        "[a670n1:162239:0:162239] ib_mlx5_log.c:177  Local protection on mlx5_0:1/IB (synd 0x4 vend 0x51 hw_synd 0/2)
[a670n1:162239:0:162239] ib_mlx5_log.c:177  RC QP 0x169 wqe[3]: SEND s-- [inl len 10] [va 0x7f1c3c800000 len 1 lkey 0xb5d2] [rqpn \
         0x169 dlid=12 sl=0 port=1 src_path_bits=0]
",
        &[
            (
                Kind::LoggedCompletion,
                "a failed request, from a log",
                &[("syndrome", 4), ("vendor_err_synd", 0x51), ("rsvd1:hw_synd_type", 0), ("rsvd1:hw_err_synd", 2)],
            ),
            (
                Kind::LoggedWqe,
                "a WQE, from a log, queue pair 0x169",
                &[("wqe_counter", 3), ("byte_count", 10), ("addr", 0x7f1c_3c80_0000), ("lkey", 0xb5d2), ("dlid", 12)],
            ),
        ],
    ),
    (
        "UCX, DC; https://github.com/openucx/ucx/issues/5472",
        "[sh03-01n02:14791:0:14791] ib_mlx5_log.c:139  Remote QP on mlx5_0:1/IB (synd 0x14 vend 0x89 hw_synd 0/0)
[sh03-01n02:14791:0:14791] ib_mlx5_log.c:139  DCI QP 0x1ca1 wqe[6]: RDMA_READ s-- [rqpn 0x20fc rlid 93] [rva 0x7fb33a733188 rkey \
         0x6029] [va 0x7fbdea5c1388 len 632 lkey 0x41e6]
",
        &[
            (
                Kind::LoggedCompletion,
                "a failed request, from a log",
                &[("syndrome", 0x14), ("vendor_err_synd", 0x89)],
            ),
            (
                Kind::LoggedWqe,
                "a WQE, from a log, queue pair 0x1ca1",
                &[("rlid", 93), ("raddr", 0x7fb3_3a73_3188), ("rkey", 0x6029), ("byte_count", 632)],
            ),
        ],
    ),
    (
        "what UCX 1.13 prints on the software device, whose network loses everything: `softhca-run --faults drop=1000 -- ucx_perftest`",
        "[vm:21860:0:21860] ib_mlx5_log.c:171  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)
[vm:21860:0:21860] ib_mlx5_log.c:171  RC QP 0x41 wqe[0]: SEND --e [inl len 10] [rqpn 0x41 dlid=1 sl=0 port=1 src_path_bits=0]
[1795368268.266636] [vm:21860:0]     ib_mlx5_log.c:171  UCX  DEBUG Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 \
         hw_synd 0/0)
[1795368268.266636] [vm:21860:0]     ib_mlx5_log.c:171  UCX  DEBUG RC QP 0x41 wqe[0]: opcode SEND
[vm:22506:0:22506] ib_mlx5_log.c:171  DCI QP 0x42 wqe[0]: RDMA_WRITE s-- [rqpn 0x41 rlid 1] [rva 0x7f6d09095750 rkey 0x1f00] [inl len 64]
",
        &[
            RETRIES,
            (Kind::LoggedWqe, "a WQE, from a log, queue pair 0x41", &[("byte_count", 10), ("rqpn", 0x41), ("port", 1)]),
            RETRIES,
            (Kind::LoggedWqe, "a WQE, from a log, queue pair 0x41", &[("wqe_counter", 0)]),
            (
                Kind::LoggedWqe,
                "a WQE, from a log, queue pair 0x42",
                &[("rlid", 1), ("raddr", 0x7f6d_0909_5750), ("rkey", 0x1f00), ("byte_count", 64)],
            ),
        ],
    ),
    (
        "UCX before 1.5; https://github.com/openucx/ucx/issues/1834",
        "14:22:35 [     INFO ] < Error on QP 0xdb87 wqe[0]: Remote access (synd 0x13 vend 0x88) opcode RDMA_WRITE >\n",
        &[(
            Kind::LoggedCompletion,
            "a failed request, from a log, queue pair 0xdb87",
            &[("syndrome", 0x13), ("vendor_err_synd", 0x88), ("wqe_counter", 0)],
        )],
    ),
    (
        "UCX over verbs, its status as text; https://github.com/openucx/ucx/issues/7774",
        "[swx-rdmz-ucx-gpu-02:1884 :0:1884] rc_verbs_iface.c:124  send completion with error: local protection error [qpn 0xf9db wrid \
         0x149vendor_err 0x51]
[swx-rdmz-ucx-gpu-02:1884 :0:1884] rc_verbs_iface.c:124  [rqpn 0xf9e9 dlid=10 sl=0 port=1 src_path_bits=0]
",
        &[(
            Kind::LoggedCompletion,
            "a failed request, from a log, queue pair 0xf9db",
            &[("wr_id", 0x149), ("vendor_err_synd", 0x51), ("status", 4)],
        )],
    ),
    (
        "dmesg of a refused command, with a reader's emphasis; https://github.com/ofiwg/libfabric/issues/7368",
        "[1899678.679848] mlx5_core 0000:5e:00.0: mlx5_cmd_check:824:(pid 46096): CREATE_QP(0x500) op_mod(0x0) failed, **status limits \
         exceeded(0x8),** syndrome (0x19c6d6)\n",
        &[(
            Kind::Command,
            "a command that the firmware refused",
            &[("opcode", 0x500), ("op_mod", 0), ("status", 8), ("syndrome", 0x19_c6d6)],
        )],
    ),
    (
        "UCX of a refused command; https://github.com/openucx/ucx/issues/10451",
        "1737742661.094513] [cn0244:260472:0]      ib_mlx5_dv.c:430  UCX  ERROR   mlx5dv_devx_obj_create(QP) failed on mlx5_0, syndrome \
         0x2c4154: Remote I/O error\n",
        &[(Kind::Command, "a command that the firmware refused", &[("syndrome", 0x2c_4154)])],
    ),
    (
        "SPDK; https://github.com/spdk/spdk/issues/414 and 1387",
        "rdma.c:2633:spdk_nvmf_rdma_poller_poll: *WARNING*: CQ error on CQ 0x613000001c40, Request 0x139876681056184 (12): transport \
         retry counter exceeded
2020-05-19 07:10:07,156 7927 E rdma.c:spdk_nvmf_rdma_poller_poll:3868 Error on CQ 0x7f38b89f66e0, request 0x139881274694768, type 2, \
         status: (5): Work Request Flushed Error
",
        &[
            (Kind::LoggedCompletion, "a failed request, from a log", &[("status", 12)]),
            (Kind::LoggedCompletion, "a failed request, from a log", &[("status", 5)]),
        ],
    ),
];

const RETRIES: Expected = (
    Kind::LoggedCompletion,
    "a failed request, from a log",
    &[("syndrome", 0x15), ("vendor_err_synd", 0x81), ("rsvd1:hw_synd_type", 0)],
);

const LOGGED_FLUSH: Expected = (
    Kind::LoggedCompletion,
    "a failed request, from a log",
    &[("cqn", 0x406), ("syndrome", 5), ("vendor_err_synd", 0xf9)],
);

/// The words of UCX about a WQE, beside its numbers.
#[test]
fn words_of_ucx() {
    for (words, opcode, flags) in
        [("SEND --e [inl len 10]", "SEND", Some("--e")), ("opcode RDMA_READ", "RDMA_READ", None)]
    {
        let report = decode(format!("RC QP 0x41 wqe[7]: {words}").as_bytes(), &Options::default());
        let text = |name| {
            let fields = &report.records[0].parts[0].fields;
            fields.iter().find(|field| field.name == name).map(|field| field.value.to_string())
        };
        let expected = (Some("RC".to_owned()), Some(opcode.to_owned()), flags.map(str::to_owned));
        assert_eq!((text("transport"), text("opcode"), text("flags")), expected);
    }
}

#[test]
fn public_dumps_are_read() {
    for (source, input, expected) in CASES {
        let report = decode(input.as_bytes(), &Options::default());
        let titles: Vec<_> = report.records.iter().map(|record| &record.title).collect();
        assert_eq!(report.records.len(), expected.len(), "{source}: {titles:?}");
        for (record, (kind, title, fields)) in report.records.iter().zip(*expected) {
            assert_eq!((record.kind, record.title.as_str()), (*kind, *title), "{source}");
            for (name, value) in *fields {
                assert_eq!(record.number(name), Some(*value), "{source}: {name}\n{report}");
            }
            assert_eq!(record.diagnosis.is_some(), *kind != Kind::LoggedWqe, "{source}");
            assert_eq!(record.notes, [""; 0], "{source}");
        }
    }
}

/// Formats of which no dump was found in public: a line as their source prints it (the sources are named in
/// `src/logs.rs`).
#[test]
fn lines_of_other_sources_are_read() {
    let cases: &[(&str, &[(&str, u64)])] = &[
        (
            "mlx5_core 0000:08:00.0 ens1: Error cqe on cqn 0x418, ci 0x3ff, qn 0x10a6, opcode 0xd, syndrome 0x4, vendor syndrome 0x51",
            &[
                ("cqn", 0x418),
                ("ci", 0x3ff),
                ("qpn", 0x10a6),
                ("op_own:opcode", 13),
                ("syndrome", 4),
                ("vendor_err_synd", 0x51),
            ],
        ),
        (
            "Unexpected CQE error syndrome 0x04 CQN = 1042 SQN = 5442 wqe_counter = 25 wq_ci = 32 cq_ci = 7",
            &[("syndrome", 4), ("cqn", 1042), ("qpn", 5442), ("wqe_counter", 25), ("wq_ci", 32), ("cq_ci", 7)],
        ),
        (
            " cqm_tx[0x55]:210:log_cqe_error() cqe: syndrome=0x2 vendor=0x68 hw=0x9c (type=0x0) wqe_opcode_qpn=0xa0010a6 \
             wqe_counter=0x11",
            &[("syndrome", 2), ("vendor_err_synd", 0x68), ("rsvd1:hw_err_synd", 0x9c), ("opcode", 10), ("qpn", 0x10a6)],
        ),
        (" Failed status 10: wr_id 0 syndrom 0x88", &[("status", 10), ("wr_id", 0), ("vendor_err_synd", 0x88)]),
        ("Failed status transport retry counter exceeded (12) for wr_id 2", &[("status", 12), ("wr_id", 2)]),
        (
            "node:1:2 [0] misc/ibvwrap.cc:9 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<37284> with status=12 opcode=0 len=0 \
             vendor err 129 (Recv)",
            &[("status", 12), ("wc_opcode", 0), ("vendor_err_synd", 129)],
        ),
        (
            "NCCL WARN NET/IB: Got completion from peer 10.0.0.1<37284> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) \
             vendor_err=129 hca mlx5_0",
            &[("status", 12), ("vendor_err_synd", 129)],
        ),
        (
            "   syndrome=0x13, vendor_err_synd=0x88, hw_err_synd=0, hw_synd_type=0,",
            &[("syndrome", 0x13), ("vendor_err_synd", 0x88), ("rsvd1:hw_err_synd", 0)],
        ),
        (
            "mlx5_core 0000:00:04.0: mlx5_cmd_out_err:816:(pid 812): CREATE_CQ(0x400) op_mod(0x0) failed, status bad parameter(0x3), \
             syndrome (0x6bb7f4), err(-22)",
            &[("opcode", 0x400), ("status", 3), ("syndrome", 0x6b_b7f4)],
        ),
    ];
    for (line, fields) in cases {
        let report = decode(line.as_bytes(), &Options::default());
        assert_eq!(report.records.len(), 1, "{line}\n{report}");
        for (name, value) in *fields {
            assert_eq!(report.records[0].number(name), Some(*value), "{line}: {name}\n{report}");
        }
        assert!(report.records[0].diagnosis.is_some(), "{line}");
    }
}
