//! Any bytes and any text: a report that is in proportion to the input, in time that is, too.
//!
//! Input with no meaning belongs here. Real dumps belong in `dumps.rs` and `golden.rs`.

use std::time::{Duration, Instant};

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
