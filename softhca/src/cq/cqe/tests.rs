//! CQEs of each kind, byte by byte.
//!
//! The bytes of one CQE belong here, its place in a ring in `queue/tests.rs`.

use super::super::completion::{InCqe, ReceivedTag, Syndrome, TagOutcome};
use super::*;
use smallvec::smallvec;

const NOW: u64 = 0x0102_0304_0506_0708;

fn receive(kind: ReceiveKind, inline: Option<Vec<u8>>) -> Completion {
    Completion::Receive {
        qpn: 0x00a1_b2c3,
        uidx: 0x0045_6789,
        kind,
        wqe_counter: 0xbeef,
        byte_cnt: 0x1122_3344,
        imm: 0xcafe_f00d,
        solicited: true,
        source: None,
        inline: inline.map(InCqe::from_vec),
    }
}

/// A CQE of zeroes with these bytes in it (offsets of `struct mlx5_cqe64`).
fn cqe(parts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    for &(at, part) in parts {
        bytes[at..at + part.len()].copy_from_slice(part);
    }
    bytes
}

#[test]
fn request() {
    let c = Completion::Request {
        qpn: 0x00a1_b2c3,
        uidx: 0x0045_6789,
        opcode: 0x10,
        wqe_counter: 0xbeef,
        byte_cnt: 0x1122_3344,
        inline: None,
    };
    let expected = cqe(&[
        (32, &[0x00, 0x45, 0x67, 0x89]),
        (44, &[0x11, 0x22, 0x33, 0x44]),
        (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (56, &[0x10, 0xa1, 0xb2, 0xc3]),
        (60, &[0xbe, 0xef, 0x00, 0x01]),
    ]);
    assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
    let wide = Encoded::new(&c, 128, true, NOW);
    assert_eq!(wide.as_bytes(), [vec![0; 64], expected].concat());
}

#[test]
fn receives_differ_in_opcode() {
    let opcodes = [
        (ReceiveKind::WriteImm, 0x12),
        (ReceiveKind::Send, 0x22),
        (ReceiveKind::SendImm, 0x32),
        (ReceiveKind::SendInval, 0x42),
    ];
    for (kind, op_own) in opcodes {
        let expected = cqe(&[
            (32, &[0x00, 0x45, 0x67, 0x89]),
            (36, &[0xca, 0xfe, 0xf0, 0x0d]),
            (44, &[0x11, 0x22, 0x33, 0x44]),
            (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
            (56, &[0x00, 0xa1, 0xb2, 0xc3]),
            (60, &[0xbe, 0xef, 0x00, op_own]),
        ]);
        assert_eq!(Encoded::new(&receive(kind, None), 64, false, NOW).as_bytes(), expected, "{kind:?}");
    }
}

#[test]
fn datagram() {
    let mut c = receive(ReceiveKind::Send, None);
    if let Completion::Receive { source, imm, .. } = &mut c {
        *imm = 0;
        *source = Some(Source {
            slid: 0x1234,
            src_qpn: 0x00fe_dcba,
            sl: 0xa,
            dlid_path_bits: 0x7f,
            grh: true,
            pkey_index: 0x0506,
        });
    }
    let bytes = Encoded::new(&c, 64, false, NOW);
    let bytes = bytes.as_bytes();
    assert_eq!(bytes[17], 0x7f);
    assert_eq!(bytes[22..28], [0x12, 0x34, 0x1a, 0xfe, 0xdc, 0xba]);
    assert_eq!(bytes[36..40], [0, 0, 0x05, 0x06]);
}

#[test]
fn frame() {
    let info = FrameInfo {
        rss_hash: 0x5566_7788,
        rss_hash_type: 0x44,
        sum: 0x99aa,
        layers_ok: 7,
        headers: 0x29,
        tunnel: 3,
        vlan: 0xa005,
        flow_tag: 0x00c1_c2c3,
        metadata: 0xd1d2_d3d4,
        merged: None,
    };
    let (rqn, uidx, wqe_counter, byte_cnt) = (5, 0x0045_6789, 0xbeef, 0x1122);
    let c = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt, strides: None, info };
    let expected = cqe(&[
        (0, &[3]),
        (12, &[0x55, 0x66, 0x77, 0x88, 0x44]),
        (20, &[0x99, 0xaa]),
        (28, &[7, 0x29, 0xa0, 5]),
        (32, &[0x00, 0x45, 0x67, 0x89]),
        // `ft_metadata` of Linux' `struct mlx5_cqe64`, `flow_table_metadata` of DPDK's `struct mlx5_cqe`.
        (36, &[0xd1, 0xd2, 0xd3, 0xd4]),
        (44, &[0, 0, 0x11, 0x22]),
        (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (56, &[0x00, 0xc1, 0xc2, 0xc3]),
        (60, &[0xbe, 0xef, 0x00, 0x21]),
    ]);
    assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
    // In a striding queue: `wqe_id`, the number of strides, and the first one's index.
    let strides = TakenStrides { wqe: 0x0a0b, first: 0x1c1d, count: 0x123 };
    let c = Completion::Frame { rqn, uidx, wqe_counter, byte_cnt, strides: Some(strides), info };
    let mut strided = expected;
    strided[2..4].copy_from_slice(&[0x0a, 0x0b]);
    strided[44..48].copy_from_slice(&[0x01, 0x23, 0x11, 0x22]);
    strided[60..62].copy_from_slice(&[0x1c, 0x1d]);
    assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), strided);
    let filler = cqe(&[
        (2, &[0x0a, 0x0b]),
        (32, &[0x00, 0x45, 0x67, 0x89]),
        (44, &[0x81, 0x23, 0, 0]),
        (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (60, &[0x1c, 0x1d, 0x00, 0x21]),
    ]);
    let c = Completion::Filler { rqn, uidx, strides };
    assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), filler);
}

/// The structure `lro` and `lro_num_seg` of Linux' `struct mlx5_cqe64` and DPDK's `struct mlx5_cqe`; the stamps by
/// FreeBSD's `mlx5e_lro_update_hdr`.
#[test]
fn merged_segments() {
    let merged = MergedSegments {
        segments: 9,
        has_push: true,
        min_ttl: 0x3f,
        window: 0x7172,
        acknowledgement: 0x8182_8384,
        stamps: Some([0x9192_9394, 0xa1a2_a3a4]),
    };
    let info = FrameInfo { sum: 0x99aa, merged: Some(merged), ..FrameInfo::default() };
    let c = |info| Completion::Frame { rqn: 5, uidx: 0x45_6789, wqe_counter: 1, byte_cnt: 2, strides: None, info };
    let expected = cqe(&[
        (4, &[0xc0, 0x3f, 0x71, 0x72, 0x81, 0x82, 0x83, 0x84]),
        (20, &[0x99, 0xaa]),
        (32, &[9, 0x45, 0x67, 0x89]),
        (47, &[2, 0x91, 0x92, 0x93, 0x94, 0xa1, 0xa2, 0xa3, 0xa4]),
        (60, &[0, 1, 0, 0x20]),
    ]);
    assert_eq!(Encoded::new(&c(info), 64, false, NOW).as_bytes(), expected);
    let mut plain = expected;
    plain[4] = 0;
    plain[48..56].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let merged = MergedSegments { has_push: false, stamps: None, ..merged };
    let info = FrameInfo { merged: Some(merged), ..info };
    assert_eq!(Encoded::new(&c(info), 64, false, NOW).as_bytes(), plain);
}

#[test]
fn tags() {
    let tag = |message, outcome| {
        let report = TagReport { outcome, index: 0x0102, head: *b"0123456789abcdef", message };
        Completion::Tag { qpn: 0x00a1_b2c3, uidx: 0x0045_6789, wqe_counter: 0xbeef, report }
    };
    let parts: [(usize, &[u8]); 5] = [
        (0, b"0123456789abcdef"),
        (32, &[0x00, 0x45, 0x67, 0x89]),
        (48, &[1, 2, 3, 4, 5, 6, 7, 8]),
        (56, &[0x00, 0xa1, 0xb2, 0xc3]),
        (60, &[0xbe, 0xef]),
    ];
    let operation = cqe(&[&parts[..], &[(40, &[1, 5, 1, 2]), (63, &[0x60])]].concat());
    assert_eq!(Encoded::new(&tag(None, TagOutcome::Append), 64, false, NOW).as_bytes(), operation);
    let message = |inline| {
        let kind = ReceiveKind::SendImm;
        Some(ReceivedTag { kind, byte_cnt: 3, imm: 0xcafe_f00d, solicited: true, inline })
    };
    let told: [(usize, &[u8]); 4] =
        [(36, &[0xca, 0xfe, 0xf0, 0x0d]), (40, &[1, 0x0a, 1, 2]), (44, &[0, 0, 0, 3]), (63, &[0x33])];
    let received = cqe(&[&parts[..], &told].concat());
    let outcome = TagOutcome::ConsumedMessage;
    assert_eq!(Encoded::new(&tag(message(None), outcome), 64, true, NOW).as_bytes(), received);
    // However little it is, data lies before the header.
    let encoded = Encoded::new(&tag(message(Some(smallvec![7, 8, 9])), outcome), 128, true, NOW);
    assert_eq!(encoded.as_bytes()[..4], [7, 8, 9, 0]);
    assert_eq!((&encoded.as_bytes()[64..127], encoded.as_bytes()[127]), (&received[..63], 0x3b));
}

#[test]
fn errors() {
    for (requester, op_own) in [(true, 0xd3), (false, 0xe3)] {
        let c = Completion::Error {
            qpn: 0x00a1_b2c3,
            uidx: 0x0045_6789,
            requester,
            opcode: 0x08,
            wqe_counter: 0xbeef,
            strides: None,
            syndrome: Syndrome::RemoteAccess,
            vendor_syndrome: 0x88,
            hardware_syndrome: 0x93,
        };
        let expected = cqe(&[
            (32, &[0x00, 0x45, 0x67, 0x89]),
            (52, &[0x93, 0x00, 0x88, 0x13]),
            (56, &[0x08, 0xa1, 0xb2, 0xc3]),
            (60, &[0xbe, 0xef, 0x00, op_own]),
        ]);
        assert_eq!(Encoded::new(&c, 64, true, NOW).as_bytes(), expected);
        assert!(c.is_solicited());
    }
}

/// Dumps of error CQEs from NICs: Juniper/warp17 issue 81, whose addresses show the places 0 and 2 of the rings
/// (DPDK has written "seen" into bytes 1 to 4, which were 0); UCX issue 6414, of the first request of its queue.
#[test]
fn signatures_of_errors_are_those_of_dumps() {
    let dumps: [(u32, u8, [u8; 12]); 3] = [
        (0, 0x13, [0x9d, 0x00, 0x53, 0x04, 0x0a, 0x00, 0x15, 0x42, 0x00, 0x19, 0xb0, 0xd2]),
        (2, 0x0c, [0x9d, 0x00, 0x53, 0x04, 0x0a, 0x00, 0x15, 0x34, 0x00, 0x5a, 0x98, 0xd2]),
        (0, 0x01, [0x92, 0x00, 0x52, 0x04, 0x0a, 0x00, 0x08, 0x2f, 0x00, 0x00, 0xc5, 0xd2]),
    ];
    for (index, uidx, end) in dumps {
        let dump = cqe(&[(35, &[uidx]), (52, &end)]);
        let mut fields = *dump.last_chunk().unwrap();
        fields[62] = 0xa5;
        sign(&mut fields, index);
        assert_eq!(fields[..], dump[..], "{index}");
    }
    let mut success = [0x02; 64];
    sign(&mut success, 7);
    assert_eq!(success, [0x02; 64]);
}

/// DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_error_cqe`.
#[test]
fn errors_of_strides() {
    let c = Completion::Error {
        qpn: 5,
        uidx: 6,
        requester: false,
        opcode: 0,
        wqe_counter: 0x0a0b,
        strides: Some(TakenStrides { wqe: 0x0a0b, first: 0x1c1d, count: 0xffff }),
        syndrome: Syndrome::WrFlush,
        vendor_syndrome: 0,
        hardware_syndrome: 0,
    };
    let expected = cqe(&[
        (2, &[0x0a, 0x0b]),
        (20, &[0x1c, 0x1d]),
        (32, &[0, 0, 0, 6]),
        (44, &[0x3f, 0xff, 0, 0]),
        (54, &[0, 5]),
        (56, &[0, 0, 0, 5]),
        (60, &[0x0a, 0x0b, 0, 0xe2]),
    ]);
    assert_eq!(Encoded::new(&c, 64, false, NOW).as_bytes(), expected);
}

#[test]
fn scattered_data() {
    let data: Vec<u8> = (1..=64).collect();
    // 32 bytes lie at the start of the CQE64, in a 128-byte CQE too; bits 3:2 of the last byte are 01.
    for (cqe_bytes, at) in [(64, 0), (128, 64)] {
        let e = Encoded::new(&receive(ReceiveKind::Send, Some(data[..32].to_vec())), cqe_bytes, false, NOW);
        assert_eq!(e.as_bytes()[at..at + 32], data[..32]);
        assert_eq!(e.as_bytes()[at + 63], 0x26);
    }
    // 64 bytes lie in the half before; bits 3:2 are 10.
    let e = Encoded::new(&receive(ReceiveKind::Send, Some(data.clone())), 128, false, NOW);
    assert_eq!(e.as_bytes()[..64], data);
    assert_eq!(e.as_bytes()[127], 0x2a);
    // Excess bytes are cut, never written past the end.
    let e = Encoded::new(&receive(ReceiveKind::Send, Some(vec![9; 500])), 64, false, NOW);
    assert_eq!(e.as_bytes().len(), 64);
    assert_eq!(e.as_bytes()[63], 0x26);
}

#[test]
fn resize() {
    let e = Encoded::resize(128, true, NOW);
    assert_eq!(e.as_bytes().len(), 128);
    assert_eq!(e.as_bytes()[127], 0x51);
}
