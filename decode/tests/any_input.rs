//! Any bytes and any text: a report that is in proportion to the input, in time that is, too.
//!
//! Input with no meaning belongs here. Real dumps belong in `dumps.rs` and `golden.rs`.

use std::time::{Duration, Instant};

use blueflame_decode::capture::capture;
use blueflame_decode::{Input, Options, Report, Styled, Transport, decode};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Pieces that the decoder looks for, in any order.
const PIECES: &[&str] = &[
    "mlx5: cn10: got completion with error:",
    "dump error cqe",
    "WC error: 4, Message: x",
    "WQE DUMP: WQ size 4 WQ cur size 0, WQE index 0x0, len: 64",
    "MLX5 Error SQ: at [0x0], len=64",
    "MLX5 Error RQ: at [0x0], len=64",
    "(synd 0x4 vend 0x51 hw_synd 0/2)",
    "RC QP 0x169 wqe[3]: SEND s-- [inl len 10] [va 0x7f1c len 1 lkey 0xb]",
    "cqe: syndrome=0x2 vendor=0x68 hw=0x9c (type=0x0) wqe_opcode_qpn=0xa0010a6 wqe_counter=0x11 wqe=0000010a00001201",
    "CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x19c6d6)",
    "Got completion with error 12, opcode 1, len 0, vendor err 129",
    "status IBV_WC_WR_FLUSH_ERR vendor_err f9 qp_num 0x1a2b",
    "transport retry counter exceeded (12/0x81)",
    "wc->status == IBV_WC_SUCCESS (12 vs. 0)",
    "mlx5_0/1: QP 77 error: general error (0x81 0x2 0x93)",
    "mlx5_core 0000:3b:00.0: CQ error on CQN 0x51c, syndrom 0x1",
    "mlx5_core 0000:3b:00.0: print_health_info:433: assert_var[0] 0x41 synd 0x1: severity(2)",
    "mlx5_core 0000:3b:00.0: poll_health: device's health compromised - reached miss count",
    "CREATE_MKEY(0x200) timeout. Will cause a leak of a command resource",
    "non-zero status: 121 Error in mlx5dv_devx_obj_modify(503) for INIT2RTR_QP with syndrome 1a2b3c",
    "Call to ibv_modify_qp failed with error Connection timed out errno 110",
    "IBV_EVENT_QP_FATAL",
    "mlx5 Fatal error",
    "Fatal error 1 detected",
    "cqe opcode 13",
    "kiblnd_tx_complete failed: 5",
    "CQ error on CQN",
    "QP 1 error:",
    "status (",
    "mlx5dv_devx_obj_create(",
    "failed on",
    "MLX5_CQE_REQ_ERR",
    "peer_nic: 192.0.2.1@mlx5_0",
    "\u{1b}[31m",
    "\u{202e}",
    "status",
    "wr_id_wr_id",
    "((((",
    "12",
    "-",
    "/",
    "00000000",
    "00000010:",
    "0x7ffff7fa0000 <cq+16>:",
    "00008813",
    "0dd0c1d3",
    "00000110a",
    "00 00 01 0a 00 00 12 02",
    "0000012500001208",
    "0xd3c1d00d",
    "*",
    "|",
    "\n",
    "\n\n",
    " ",
    "  ",
    "\t",
    "ffffffffffffffff:",
    "é",
    "\\x00",
];

fn options() -> impl Strategy<Value = Options> {
    use Input::*;
    let kinds = vec![Auto, Wqe, RecvWqe, SrqWqe, Cqe, MiniCqes, QpRecord, CqRecord, SqDoorbell, CqDoorbell];
    let transports = vec![None, Some(Transport::Rc), Some(Transport::Ud), Some(Transport::Xrc), Some(Transport::Eth)];
    let sizes = vec![None, Some(64), Some(128), Some(0), Some(7)];
    (prop_oneof![Just(Auto), select(kinds)], select(transports), select(sizes), any::<bool>())
        .prop_map(|(input, transport, cqe_bytes, binary)| Options { input, transport, order: None, cqe_bytes, binary })
}

/// A report is in proportion to its input, and its parts lie in their records.
fn check(report: &Report, len: usize) {
    let bytes: usize = report.records.iter().map(|record| record.bytes.len()).sum();
    assert!(bytes <= 2 * len + (1 << 16), "{bytes} bytes of {len}");
    for record in &report.records {
        for part in &record.parts {
            let end = part.offset + part.bytes;
            assert!(end <= record.bytes.len(), "{report}");
            for field in &part.fields {
                assert!(part.bytes == 0 || (part.offset..end).contains(&field.offset), "{}: {report}", field.name);
            }
        }
    }
    assert!(report.to_string().len() <= Styled(report).to_string().len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..400), options in options()) {
        check(&decode(&bytes, &options), bytes.len());
    }

    /// Any WQE whose control segment makes it look like one.
    #[test]
    fn any_wqe(opcode in any::<u8>(), opmod in any::<u8>(), ds in 1..64_u8, bytes in vec(any::<u8>(), 8..1100), options in options()) {
        let mut bytes = bytes;
        bytes[..8].copy_from_slice(&[opmod, 0, 1, opcode, 0, 0, 0x12, ds]);
        check(&decode(&bytes, &Options { input: Input::Wqe, binary: true, ..options }), bytes.len());
    }

    #[test]
    fn any_text(pieces in vec(select(PIECES), 0..60), options in options()) {
        let text = pieces.join(" ");
        check(&decode(text.as_bytes(), &Options { binary: false, ..options }), text.len());
    }
}

/// Input on which a step for each pair of lines or words would take hours takes seconds.
#[test]
fn long_inputs_take_seconds() {
    let len = if std::env::var_os("LONG").is_some() { 1 << 20 } else { 1 << 16 };
    let pieces = PIECES.iter().map(|piece| piece.repeat(len / piece.len()));
    let lines = PIECES.iter().map(|piece| format!("{piece}\n").repeat(len / (piece.len() + 1)));
    let words = PIECES.iter().map(|piece| format!("{piece} ").repeat(len / (piece.len() + 1)));
    for text in pieces.chain(lines).chain(words) {
        let begin = Instant::now();
        let report = decode(text.as_bytes(), &Options::default());
        let took = begin.elapsed();
        assert!(took < Duration::from_secs(20), "{took:?} for {:?}…", text.chars().take(80).collect::<String>());
        drop(report);
    }
}

/// A packet of RC: the LIDs that it goes from and to, its queue pair, its opcode and its PSN.
type Sent = ([u8; 2], u32, u8, u32);

/// A capture of these packets on a link of InfiniBand (`LINKTYPE_INFINIBAND`).
fn pcap(packets: impl Iterator<Item = Sent>) -> Vec<u8> {
    let mut file = [0xa1b2_c3d4_u32, 2 << 16 | 4, 0, 0, 0xffff, 247].map(u32::to_be_bytes).concat();
    for ([from, to], qpn, opcode, psn) in packets {
        let mut packet = vec![0, 2, 0, to, 0, 7, 0, from, opcode, 0, 0xff, 0xff];
        packet.extend([qpn, 1 << 31 | psn].map(u32::to_be_bytes).concat());
        // AETH or payload, and the CRCs.
        packet.extend([0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let len = packet.len() as u32;
        file.extend([0, 0, len, len].map(u32::to_be_bytes).concat());
        file.extend(packet);
    }
    file
}

/// Each answer of a capture takes the same time, however many requests and queue pairs wait for theirs.
#[test]
fn long_captures_take_a_time_in_proportion() {
    const SEND_ONLY: u8 = 0x04;
    const ACKNOWLEDGE: u8 = 0x11;
    let waiting = |n: u32| {
        let sends = (0..n).map(|psn| ([1, 2], 0x22, SEND_ONLY, psn));
        pcap(sends.chain((0..n).map(|_| ([2, 1], 0x11, ACKNOWLEDGE, 0))))
    };
    // The answers are to none of the requests.
    let strangers = |n: u32| {
        let sends = (0..n).map(|qpn| ([1, 2], qpn, SEND_ONLY, 0));
        pcap(sends.chain((0..n).map(|_| ([2, 1], 0x11, ACKNOWLEDGE, 0x80_0000))))
    };
    let time = |file: &[u8]| {
        let begin = Instant::now();
        let packets = capture(file).expect("a capture").packets;
        (begin.elapsed(), packets)
    };
    for (name, make) in [("waiting", &waiting as &dyn Fn(u32) -> Vec<u8>), ("strangers", &strangers)] {
        let (few, many) = (make(4000), make(16_000));
        // Others use the CPUs, too: the best of a few measurements counts.
        let ratios = (0..10).map(|_| {
            let ((few, of_few), (many, of_many)) = (time(&few), time(&many));
            assert_eq!((of_few, of_many), (8000, 32_000));
            many.as_secs_f64() / few.as_secs_f64()
        });
        let ratio = ratios.fold(f64::INFINITY, f64::min);
        assert!(ratio < 8.0, "four times the packets take {ratio} times the time: {name}");
    }
}

/// A frame that ends with the segment that says how many of its bytes follow: libFuzzer found a field behind the end.
#[test]
fn headers_that_are_not_there_are_no_field() {
    let mut wqe = [0_u8; 30];
    (wqe[3], wqe[7]) = (0x0a, 2);
    // `inline_hdr_sz`.
    wqe[29] = 18;
    let options =
        Options { input: Input::Wqe, transport: Some(Transport::Eth), order: None, cqe_bytes: None, binary: true };
    let report = decode(&wqe, &options);
    assert!(report.to_string().contains("inline_hdr_sz"), "{report}");
    check(&report, wqe.len());
}
