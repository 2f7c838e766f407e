//! The fields of a completion.
//!
//! Single CQEs belong here, the order in which a queue takes them in `polling.rs`.

use std::net::Ipv6Addr;

use blueflame::cq::cqe::{Grh, GrhKind, L3Header, Merged, SignaturePart, SignatureSide};
use blueflame::cq::error::InlineError;
use blueflame::cq::layout::OpOwn;
use blueflame::cq::mode::Standard;
use blueflame::cq::{CqeCopy, CqeError, CqeFormat, CqeOpcode, Side, Syndrome, WcOpcode, WcStatus};
use blueflame::types::{CqCi, Qpn, Rkey};
use proptest::prelude::*;

use crate::device::{Device, POISON, put16, put32};

/// Lends the one completion that `fields` make, and copies it, to the same checks.
fn one(
    op_own: u8,
    fields: impl Fn(&mut [u8]),
    lent: impl FnOnce(&blueflame::cq::Cqe<'_>),
    copied: impl FnOnce(&CqeCopy),
) {
    let mut device = Device::new(2, 64, 0);
    let mut cq = device.queue::<Standard>();
    device.complete(op_own, &fields);
    let mut lent = Some(lent);
    assert_eq!(cq.poll_with(2, |cqe| lent.take().unwrap()(&cqe)), 1);
    device.complete(op_own, &fields);
    copied(&cq.poll().expect("one was written"));
    assert_eq!(device.record_words()[0], 2);
}

macro_rules! both {
    ($op_own:expr, $fields:expr, |$cqe:ident| $body:expr) => {
        one($op_own, $fields, |$cqe| $body, |$cqe| $body)
    };
}

#[test]
fn fields_are_where_the_prm_has_them() {
    let fields = |cqe: &mut [u8]| {
        for (i, byte) in cqe.iter_mut().enumerate().take(63) {
            *byte = i as u8 | 0x80;
        }
    };
    both!(0x32, fields, |cqe| {
        assert_eq!(cqe.check(), Ok(Side::Responder));
        assert_eq!(cqe.opcode(), CqeOpcode::RespSendImm);
        assert_eq!(cqe.wc_opcode(), WcOpcode::Recv);
        assert_eq!(cqe.format(), CqeFormat::Plain);
        assert!(cqe.solicited());
        assert_eq!(cqe.dlid_path_bits(), 0x91 & 0x7f);
        assert_eq!(cqe.slid(), 0x9697);
        assert_eq!(cqe.sl(), 0x98 & 0xf);
        assert!(cqe.has_grh());
        assert_eq!(cqe.src_qp(), Qpn::new(0x0099_9a9b).unwrap());
        assert_eq!(cqe.uidx(), 0x00a1_a2a3);
        assert_eq!(cqe.srqn().get(), 0x00a1_a2a3);
        assert_eq!(cqe.imm(), Some(0xa4a5_a6a7));
        assert_eq!(cqe.invalidated_rkey(), None);
        assert_eq!(cqe.pkey_index(), 0xa6a7);
        assert_eq!(cqe.byte_len(), 0xacad_aeaf);
        assert_eq!(cqe.timestamp(), 0xb0b1_b2b3_b4b5_b6b7);
        assert_eq!(cqe.request_opcode(), 0xb8);
        assert_eq!(cqe.qpn(), Qpn::new(0x00b9_babb).unwrap());
        assert_eq!(cqe.wqe_counter(), 0xbcbd);
    });
}

#[test]
fn immediate_data_and_keys_only_where_they_mean_something() {
    let fields = |cqe: &mut [u8]| put32(cqe, 36, 0x0102_0304);
    for (opcode, imm, rkey) in [
        (0, None, None),
        (1, Some(0x0102_0304), None),
        (2, None, None),
        (3, Some(0x0102_0304), None),
        (4, None, Some(Rkey(0x0102_0304))),
    ] {
        both!(opcode << 4, fields, |cqe| {
            assert_eq!((cqe.imm(), cqe.invalidated_rkey()), (imm, rkey));
            assert!(!cqe.solicited());
        });
    }
}

#[test]
fn datagram_flags_and_checksums() {
    both!(
        0x20,
        |cqe: &mut [u8]| {
            put32(cqe, 24, 0x0f00_0001);
            (cqe[28], cqe[29]) = (0x06, 0x08);
        },
        |cqe| {
            assert!(!cqe.has_grh(), "bits 29:28 are clear");
            assert_eq!(cqe.sl(), 15);
            assert!(cqe.checksum_ok());
        }
    );
    for (ok, kind) in [(0x04, 0x08), (0x02, 0x08), (0x06, 0x04), (0x06, 0x00)] {
        both!(0x20, |cqe: &mut [u8]| (cqe[28], cqe[29]) = (ok, kind), |cqe| {
            assert!(!cqe.checksum_ok());
            // Linux `include/linux/mlx5/device.h`, `CQE_L3_OK`, `CQE_L4_OK`.
            assert_eq!((cqe.l3_ok(), cqe.l4_ok()), (ok & 0x02 != 0, ok & 0x04 != 0));
        });
    }
}

/// Bits 8, 7 and 1 of DPDK's `hdr_type_etc` (`drivers/common/mlx5/mlx5_prm.h`): `MLX5_CQE_RX_L2_HDR_VALID`,
/// `MLX5_CQE_RX_IP_FRAG_PACKET` and `MLX5_CQE_RX_IP_EXT_OPTS_PACKET`. VPP's `foreach_cqe_rx_field` agrees
/// (`src/plugins/rdma/rdma_mlx5dv.h`).
#[test]
fn fragments_and_options_are_told() {
    for bit in [8, 7, 1] {
        for word in [1 << bit, !(1 << bit)] {
            let put = |cqe: &mut [u8]| cqe[28..30].copy_from_slice(&u16::to_be_bytes(word));
            both!(0x20, put, |cqe| {
                let told = cqe.verdicts();
                assert_eq!(told.l2_ok(), word >> 8 & 1 != 0);
                assert_eq!(told.is_fragment(), word >> 7 & 1 != 0);
                assert_eq!(told.has_ip_options(), word >> 1 & 1 != 0);
            });
        }
    }
}

/// Byte 0, `pkt_info` of DPDK (`drivers/common/mlx5/mlx5_prm.h`): `MLX5_CQE_RX_TUNNEL_PACKET` and
/// `MLX5_CQE_RX_OUTER_PACKET`. Linux' `cqe_is_tunneled` reads bit 0 of it (`include/linux/mlx5/device.h`).
#[test]
fn tunnels_are_told() {
    for (info, outside) in [
        (0, None),
        (1, Some(L3Header::Ipv4)),
        (3, Some(L3Header::Ipv6)),
        (2, None),
        (0xfc, None),
        (0xfd, Some(L3Header::Ipv4)),
    ] {
        both!(0x20, |cqe: &mut [u8]| cqe[0] = info, |cqe| assert_eq!(cqe.tunnel(), outside, "{info:#x}"));
    }
}

/// `ft_metadata` of Linux' `struct mlx5_cqe64`, `flow_table_metadata` of DPDK's `struct mlx5_cqe`.
#[test]
fn metadata_of_rules_is_told() {
    both!(0x20, |cqe: &mut [u8]| cqe[36..40].copy_from_slice(&[0xc1, 0xc2, 0xc3, 0xc4]), |cqe| {
        assert_eq!(cqe.flow_metadata(), 0xc1c2_c3c4);
    });
}

/// The structure `lro` and `lro_num_seg` of Linux' `struct mlx5_cqe64` and DPDK's `struct mlx5_cqe`. One segment is not
/// merged with anything: both drivers ask for more than one.
#[test]
fn merged_segments_are_told() {
    let merged = Merged { segments: 9, push: true, min_ttl: 0x3f, window: 0x7172, ack: 0x8182_8384 };
    for (segments, bits, found) in
        [(9, 0x40, Some(merged)), (9, 0xbf, Some(Merged { push: false, ..merged })), (1, 0x40, None), (0, 0x40, None)]
    {
        let put = |cqe: &mut [u8]| {
            cqe[4..12].copy_from_slice(&[bits, 0x3f, 0x71, 0x72, 0x81, 0x82, 0x83, 0x84]);
            cqe[32..36].copy_from_slice(&[segments, 0x12, 0x34, 0x56]);
        };
        both!(0x20, put, |cqe| {
            assert_eq!((cqe.merged(), cqe.uidx()), (found, 0x0012_3456));
            assert_eq!(cqe.sums_tcp_data(), segments != 0);
        });
    }
}

#[test]
fn requests_are_told_apart_as_verbs_does() {
    // mlx5 opcode, ibv_wc_opcode (libibverbs/verbs.h)
    for (opcode, ibv) in [
        (0x01, Some(0)),
        (0x0a, Some(0)),
        (0x0b, Some(0)),
        // Several frames in one WQE, and an operation on a list of tags.
        (0x29, Some(0)),
        (0x28, None),
        (0x08, Some(1)),
        (0x09, Some(1)),
        (0x10, Some(2)),
        (0x11, Some(3)),
        (0x12, Some(4)),
        (0x0e, Some(7)),
        (0x00, None),
        (0x25, None),
        (0x77, None),
    ] {
        both!(0x00, |cqe: &mut [u8]| cqe[56] = opcode, |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), ibv));
    }
    both!(0x10, |_: &mut [u8]| (), |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), Some(129)));
    both!(0x40, |_: &mut [u8]| (), |cqe| assert_eq!(cqe.wc_opcode().ibv_value(), Some(128)));
}

#[test]
fn error_cqes_become_statuses_of_verbs() {
    // syndrome (mlx5dv.h), ibv_wc_status (verbs.h)
    let known = [
        (0x01, 1),
        (0x02, 2),
        (0x04, 4),
        (0x05, 5),
        (0x06, 6),
        (0x10, 7),
        (0x11, 8),
        (0x12, 9),
        (0x13, 10),
        (0x14, 11),
        (0x15, 12),
        (0x16, 13),
        (0x22, 16),
    ];
    for syndrome in 0..=255 {
        let status = known.iter().find(|(known, _)| *known == syndrome).map_or(21, |(_, status)| *status);
        // NICs set the bit of solicited events, and a signature.
        for (op_own, side) in [
            (0xd0, Side::Requester),
            (0xd2, Side::Requester),
            (0xe0, Side::Responder),
            (0xe2, Side::Responder),
            (0xdc, Side::Requester),
        ] {
            let fields = |cqe: &mut [u8]| {
                cqe[52..56].copy_from_slice(&[0x93, 0x40, 0x8a, syndrome]);
                cqe[62] = 0xb0;
                put32(cqe, 56, 0x0812_3456);
                put16(cqe, 60, 0xfffe);
            };
            both!(op_own, fields, |cqe| {
                let error = match cqe.check() {
                    Err(CqeError::Completion(error)) if syndrome != 0x22 => error,
                    Err(CqeError::Aborted(error)) if syndrome == 0x22 => error,
                    other => panic!("{other:?}: {cqe:?}"),
                };
                assert_eq!(error.status() as u32, status);
                assert_eq!(error.syndrome.value(), syndrome);
                assert_eq!(matches!(error.syndrome, Syndrome::Known(_)), status != 21);
                assert_eq!((error.side, error.vendor_err_synd), (side, 0x8a));
                assert_eq!((error.hw_err_synd, error.hw_synd_type), (0x93, 0x40));
                assert_eq!((error.qpn.get(), error.wqe_counter), (0x0012_3456, 0xfffe));
                let text = error.to_string();
                assert!(text.contains(error.status().name()) && text.contains("0x8a"), "{text}");
            });
        }
    }
}

#[test]
fn every_last_byte_is_taken_apart_as_libmlx5_does() {
    for byte in 0..=255_u8 {
        let (opcode, format, owner) = (byte >> 4, byte >> 2 & 3, byte & 1);
        for phase in 0..=1 {
            assert_eq!(OpOwn(byte).is_software_owned(phase), opcode != 15 && owner == phase, "{byte:#x}");
        }
        assert_eq!(OpOwn(byte).is_success(), opcode <= 4 && format == 0, "{byte:#x}");
        assert_eq!(OpOwn(byte).is_requester_success(), opcode == 0 && format == 0, "{byte:#x}");
        if !OpOwn(byte).is_success() {
            let [send, receive] = [Side::Requester, Side::Responder].map(|side| OpOwn(byte).ends_otherwise(side));
            assert_eq!(send, opcode == 13 || opcode == 0 && format != 3, "{byte:#x}");
            assert_eq!(receive, opcode == 14 || matches!(opcode, 1..=4) && format != 3, "{byte:#x}");
        }
        assert_eq!(OpOwn(byte).solicited(), byte >> 1 & 1 == 1);
    }
}

#[test]
fn statuses_have_the_values_of_verbs() {
    let values: Vec<u32> = WcStatus::ALL.iter().map(|status| *status as u32).collect();
    assert_eq!(values, (0..24).collect::<Vec<_>>());
    assert_eq!(WcStatus::RnrRetryExcErr.name(), "IBV_WC_RNR_RETRY_EXC_ERR");
    let mut texts: Vec<_> = WcStatus::ALL.iter().map(|status| status.text()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 24, "every status has its own text");
}

#[test]
fn what_is_no_completion_is_an_error_value() {
    for (op_own, error) in [
        (0x0c, CqeError::Compressed),
        (0x2e, CqeError::Compressed),
        (0x50, CqeError::ResizeCq),
        (0x60, CqeError::NoPacket),
        (0x70, CqeError::UnknownOpcode(7)),
        (0xb0, CqeError::UnknownOpcode(11)),
        (0xc0, CqeError::Signature),
    ] {
        both!(op_own, |_: &mut [u8]| (), |cqe| {
            assert_eq!(cqe.check(), Err(error));
            assert!(!error.to_string().is_empty());
        });
    }
}

/// rdma-core `providers/mlx5/cq.c`, `struct mlx5_sigerr_cqe`; `verbs.c`, `mlx5_decode_sigerr`.
#[test]
fn signature_errors() {
    let fields = |syndrome: u32| {
        move |cqe: &mut [u8]| {
            for (at, value) in [(16, 0x0102_0304), (20, 0x1112_1314), (24, 0x2122_2324), (28, 0x3132_3334)] {
                put32(cqe, at, value);
            }
            put32(cqe, 32, syndrome << 16 | 1);
            put32(cqe, 36, 0x1800);
            put32(cqe, 40, 5);
            put32(cqe, 44, 6);
            put32(cqe, 56, 0x00a1_b2c3);
        }
    };
    let cases = [
        (1 << 13, Some(SignaturePart::Guard), [0x0102, 0x1112]),
        (3 << 12, Some(SignaturePart::AppTag), [0x0304, 0x1314]),
        (1 << 11 | 1 << 13, Some(SignaturePart::RefTag), [0x2122_2324, 0x3132_3334]),
        (1, None, [0; 2]),
    ];
    for (syndrome, part, values) in cases {
        both!(0xc0, fields(syndrome), |cqe| {
            let error = cqe.signature_error().expect("one");
            assert_eq!((error.key, error.qpn, error.side), (Rkey(0x1800), cqe.qpn(), SignatureSide::Memory));
            assert_eq!((error.offset, error.transaction, error.part()), (5 << 32 | 6, false, part));
            assert_eq!((error.found, error.made), (0x0102_0304_2122_2324, 0x1112_1314_3132_3334));
            assert_eq!(error.values(16), part.map(|_| values));
            if part == Some(SignaturePart::Guard) {
                assert_eq!(error.values(32), Some([0x0102_0304, 0x1112_1314]));
                assert_eq!(error.values(64), Some([error.found, error.made]));
                assert_eq!([error.values(0), error.values(65)], [None; 2]);
            }
        });
    }
    both!(0x00, fields(1 << 13), |cqe| assert_eq!(cqe.signature_error(), None));
}

#[test]
fn messages_inside_32_byte_formats() {
    let fields = |cqe: &mut [u8]| {
        for (i, byte) in cqe.iter_mut().enumerate().take(32) {
            *byte = i as u8 + 1;
        }
        put32(cqe, 44, 13);
        put32(cqe, 56, 0x1000_0000);
    };
    for op_own in [0x04, 0x24] {
        both!(op_own, fields, |cqe| {
            let side = if op_own == 0x04 { Side::Requester } else { Side::Responder };
            assert_eq!(
                cqe.check(),
                Err(CqeError::DataInCqe { side, qpn: cqe.qpn() }),
                "never as if it were in the buffer"
            );
            assert_eq!(cqe.side(), Some(side), "and yet complete");
            let mut dst = [0xa5; 16];
            assert_eq!(cqe.copy_inline(&mut dst), Ok(13));
            assert_eq!(dst[..13], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
            assert_eq!(dst[13..], [0xa5; 3]);
            let mut short = [0xa5; 12];
            let error = InlineError::DestinationTooShort { len: 13, room: 12 };
            assert_eq!(cqe.copy_inline(&mut short), Err(error));
            assert_eq!(short, [0xa5; 12]);
        });
    }
}

#[test]
fn atomics_are_eight_bytes_whatever_the_count_says() {
    for opcode in [0x11_u8, 0x12] {
        let fields = |cqe: &mut [u8]| {
            cqe[..8].copy_from_slice(&[9, 8, 7, 6, 5, 4, 3, 2]);
            put32(cqe, 44, 0xffff_ffff);
            put32(cqe, 56, u32::from(opcode) << 24);
        };
        both!(0x04, fields, |cqe| {
            let mut dst = [0; 32];
            assert_eq!(cqe.copy_inline(&mut dst), Ok(8));
            assert_eq!(dst[..8], [9, 8, 7, 6, 5, 4, 3, 2]);
        });
    }
}

#[test]
fn messages_inside_128_byte_cqes() {
    let mut device = Device::new(2, 128, 0);
    let mut cq = device.queue::<Standard>();
    for len in [0_u32, 1, 31, 64, 65, u32::MAX] {
        let slot = (device.pi % 2) as u32;
        for (i, byte) in device.first_half(slot).iter_mut().enumerate() {
            *byte = i as u8 ^ len as u8;
        }
        device.complete(0x28, |cqe| put32(cqe, 44, len));
        let found = cq.poll_with(1, |cqe| {
            let mut dst = [0xa5; 80];
            let result = cqe.copy_inline(&mut dst);
            if len > 64 {
                assert_eq!(result, Err(InlineError::TooLong { len, capacity: 64 }));
                assert_eq!(dst, [0xa5; 80]);
            } else {
                assert_eq!(result, Ok(len as usize));
                assert!(dst[..len as usize].iter().enumerate().all(|(i, byte)| *byte == i as u8 ^ len as u8));
                assert!(dst[len as usize..].iter().all(|byte| *byte == 0xa5));
                if len != 0 {
                    assert_eq!(cqe.copy().copy_inline(&mut dst), Err(InlineError::NotInReach));
                }
            }
        });
        assert_eq!(found, 1);
    }
}

#[test]
fn a_64_byte_cqe_never_reads_its_neighbour() {
    both!(0x28, |cqe: &mut [u8]| put32(cqe, 44, 64), |cqe| {
        assert_eq!(cqe.copy_inline(&mut [0; 64]), Err(InlineError::NotInReach));
    });
    both!(0x20, |cqe: &mut [u8]| put32(cqe, 44, 8), |cqe| {
        assert_eq!(cqe.copy_inline(&mut [0; 64]), Err(InlineError::NotInline));
    });
}

/// Every accessor, so that none of them can fail on any bytes.
pub(crate) fn look_at<S: blueflame::cq::Source>(cqe: &blueflame::cq::CqeView<S>) {
    let text = format!("{cqe:?}");
    assert!(text.contains("wqe_counter"));
    let mut dst = [0xa5; 70];
    let inline = cqe.copy_inline(&mut dst);
    match inline {
        Ok(len) => assert!(len <= 64 && dst[len..].iter().all(|byte| *byte == 0xa5)),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(dst, [0xa5; 70]);
        }
    }
    assert!(cqe.qpn().get() <= 0x00ff_ffff && cqe.src_qp().get() <= 0x00ff_ffff && cqe.uidx() <= 0x00ff_ffff);
    assert!(cqe.sl() < 16 && cqe.dlid_path_bits() < 128);
    let _ = (cqe.imm(), cqe.invalidated_rkey(), cqe.timestamp(), cqe.slid(), cqe.has_grh(), cqe.pkey_index());
    let _ = (cqe.checksum_ok(), cqe.srqn(), cqe.solicited(), cqe.wc_opcode().ibv_value(), cqe.request_opcode());
    match cqe.check() {
        Ok(_) => assert!(inline.is_ok() || cqe.format() != CqeFormat::Compressed),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_value(
        bytes in prop::collection::vec(any::<u8>(), 4 * 128),
        wide: bool,
        ci in 0_u32..0x0100_0000,
    ) {
        let (cqe_cnt, cqe_size) = if wide { (4, 128) } else { (8, 64) };
        let mut device = Device::new(cqe_cnt, cqe_size, ci);
        let mut cq = device.queue::<Standard>();
        // SAFETY: the ring is 512 bytes either way.
        unsafe { device.ring.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        // A slot whose bytes do not change looks new on one of two passes.
        let found = cq.poll_with(usize::MAX, |cqe| {
            look_at(&cqe);
            look_at(&cqe.copy());
        });
        prop_assert!(found <= cqe_cnt as usize);
        prop_assert!(cq.poll().is_none());
        prop_assert_eq!(cq.consumer_index(), CqCi::truncate(ci).add(found as u32));
        let record = device.record_words()[0];
        prop_assert_eq!(record, if found == 0 { POISON } else { cq.consumer_index().get() });
    }
}

/// libibverbs' rule (`libibverbs/verbs.c`, `get_grh_header_version`), with its checksum as it is computed there: over
/// the header with a checksum of zero.
fn version(bytes: &[u8; 40]) -> u8 {
    let ip = &bytes[20..];
    if bytes[0] >> 4 != 6 {
        return if ip[0] >> 4 == 4 { 4 } else { 0 };
    }
    let words = ip.chunks(2).enumerate().filter(|(n, _)| *n != 5);
    let mut sum: u32 = words.map(|(_, word)| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    if ip[0] & 0xf == 5 && !(sum as u16) == u16::from_be_bytes([ip[10], ip[11]]) { 4 } else { 6 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn headers_of_datagrams_are_what_libibverbs_takes_them_for(
        first: [u8; 20], second: [u8; 20], v6: bool, v4 in 0..4_u8, next in prop::sample::select(vec![17, 0x1b, 6]),
    ) {
        let mut bytes = [0; 40];
        bytes[..20].copy_from_slice(&first);
        bytes[20..].copy_from_slice(&second);
        if v6 {
            (bytes[0], bytes[6]) = (0x60 | bytes[0] & 0xf, next);
        }
        if v4 > 0 {
            bytes[20] = 0x45;
        }
        if v4 > 1 {
            // A checksum that is right, and one that is not.
            bytes[30..32].fill(0);
            let sum: u32 = bytes[20..].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
            bytes[30..32].copy_from_slice(&(sum ^ u16::from(v4 == 3)).to_be_bytes());
        }
        let header = Grh::new(bytes);
        let be = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let expected = match (version(&bytes), bytes[6]) {
            (4, _) => GrhKind::Ipv4,
            (6, 17) => GrhKind::Ipv6,
            (6, 0x1b) => GrhKind::GlobalRoute,
            _ => GrhKind::Unknown,
        };
        // One sum has two forms, 0 and 0xffff, of which senders use the first (RFC 1624, 3).
        prop_assume!(bytes[30..32] != [0xff, 0xff]);
        prop_assert_eq!(header.kind(), expected);
        let (fields, gids) = if expected == GrhKind::Ipv4 {
            let mapped = |at: usize| 0xffff_0000_0000_u128 | u128::from(be(at));
            ((bytes[21], 0, bytes[28]), [mapped(32), mapped(36)])
        } else {
            let gid = |at: usize| u128::from_be_bytes(bytes[at..at + 16].try_into().expect("16 bytes"));
            (((be(0) >> 20) as u8, be(0) & 0xf_ffff, bytes[7]), [gid(8), gid(24)])
        };
        prop_assert_eq!((header.traffic_class(), header.flow_label(), header.hop_limit()), fields);
        prop_assert_eq!([header.source_gid(), header.destination_gid()].map(u128::from_be_bytes), gids);
        let to = Ipv6Addr::from(gids[1]);
        prop_assert_eq!(header.is_multicast(), to.to_ipv4_mapped().map_or(to.is_multicast(), |v4| v4.is_multicast()));
    }
}
