//! Frames that the device changes before it sends them, as literal bytes: large sends, inner checksums, offsets of
//! headers for the software parser, metadata. And the refusals where the device lacks the offload, or a value is out of
//! its limits.
//!
//! Offsets are those of Linux (`include/linux/mlx5/qp.h`, `struct mlx5_wqe_eth_seg`) and of DPDK
//! (`drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_eseg`).
//!
//! Offloads belong here, frames without them in `ethernet.rs`.

use blueflame::queue::{PostError, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::types::{Wqebbs, WrId};
use blueflame::wqe::limits::{FrameOffload, FrameOffloads};
use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
use blueflame::wqe::{self, CompletionMode, EncodeError, Sge};

use crate::requests::{self, Ds, count, ctrl, entry};
use crate::rig::{OLD, Rig, Setup};

const LOCAL: Sge = Sge { length: 0x3100, ..requests::LOCAL };
const DATA: Ds = entry(LOCAL);
const ALL: FrameOffloads = FrameOffloads {
    multi_packet: true,
    inner_checksums: true,
    header_offsets: true,
    header_offsets_of_large: true,
    metadata: true,
    max_large_send: 1 << 18,
};

/// Ethernet, IPv6, UDP, Geneve without options, Ethernet, IPv4, TCP.
const GENEVE: HeaderOffsets = offsets(
    HeadersAt { ip: Ip::V6, l3: 14, l4: Some((L4::Udp, 54)) },
    Some(HeadersAt { ip: Ip::V4, l3: 84, l4: Some((L4::Tcp, 104)) }),
);

const fn offsets(outer: HeadersAt, inner: Option<HeadersAt>) -> HeaderOffsets {
    match HeaderOffsets::new(outer, inner) {
        Ok(offsets) => offsets,
        Err(_) => panic!("offsets that the device takes"),
    }
}

/// A queue of a device with these offloads, whose next WQE has the index 0x1234.
fn queue(rig: &Rig, offloads: FrameOffloads) -> SendQueue<RawPacket<0>> {
    let mut sq = rig.queue();
    sq.set_frame_offloads(offloads);
    sq
}

fn rig() -> Rig {
    Rig::new(Setup { wqebbs: 16, pi: 0x1234, ..Setup::default() })
}

/// The ring's bytes from 0x1234 on, and the rest as it was.
fn assert_written(rig: &Rig, wqe: &[Ds]) {
    assert_eq!(rig.ring(), rig.ring_with(0x1234, wqe.as_flattened()));
}

/// rdma-core `providers/mlx5/qp.c`, `set_tso_eth_seg`; DPDK `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_packet_multi_tso`.
#[test]
fn a_large_send_has_its_headers_and_the_size_of_its_frames() {
    let rig = rig();
    let mut sq = queue(&rig, ALL);
    let headers = count::<54>();
    let request = wqe::frame().inline_headers(&headers).l3_checksum().l4_checksum().large(1460);
    // SAFETY: no device looks, nor below.
    unsafe { sq.post_unchecked(&request.gather([LOCAL]).signaled(WrId(1))) }.expect("room");
    let wqe = [
        ctrl(0, 0x0e, 7, 0x08),
        [0, 0, 0, 0, 0xc0, 0, 0x05, 0xb4, 0, 0, 0, 0, 0, 54, 1, 2],
        [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34],
        [35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50],
        [51, 52, 53, 54, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        DATA,
    ];
    assert_written(&rig, &wqe);
}

#[test]
fn a_frame_with_an_offload_goes_by_blueflame() {
    let rig = rig();
    let mut sq = queue(&rig, ALL);
    sq.post(&wqe::frame().inner_l3_checksum().inline(&count::<20>()).signaled(WrId(1))).expect("room");
    assert_eq!(rig.page()[..64], rig.ring()[4 * 64..5 * 64]);
}

/// The Ethernet segment of a frame with these options, without inline headers.
macro_rules! segment_of {
    ($request:expr) => {{
        let rig = rig();
        let mut sq = queue(&rig, ALL);
        // SAFETY: no device looks.
        unsafe { sq.post_unchecked(&$request.gather([LOCAL]).signaled(WrId(1))) }.expect("room");
        let ring = rig.ring();
        let wqe = [ring[4 * 64..4 * 64 + 16].to_vec(), ring[4 * 64 + 32..4 * 64 + 48].to_vec()];
        assert_eq!(wqe[0], ctrl(0, 0x0a, 3, 0x08));
        assert_eq!(wqe[1], DATA);
        ring[4 * 64 + 16..4 * 64 + 32].to_vec()
    }};
}

/// Linux `include/linux/mlx5/qp.h`, `MLX5_ETH_WQE_L3_INNER_CSUM` and its neighbours, and DPDK
/// `drivers/common/mlx5/mlx5_prm.h`. For a tunnel both set the outer layer 3 and both inner ones (Linux `en_tx.c`,
/// `mlx5e_txwqe_build_eseg_csum`; DPDK `mlx5_rxtx.c`, `mlx5_set_cksum_table`).
#[test]
fn checksums_of_inner_headers_are_the_flags_of_linux_and_dpdk() {
    let tunnel = segment_of!(wqe::frame().l3_checksum().inner_l3_checksum().inner_l4_checksum());
    assert_eq!(tunnel, [0, 0, 0, 0, 0x70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let flags = [
        segment_of!(wqe::frame().inner_l3_checksum())[4],
        segment_of!(wqe::frame().inner_l4_checksum())[4],
        segment_of!(wqe::frame().inner_l4_checksum().l4_checksum())[4],
        segment_of!(wqe::frame().inner_l4_checksum().inner_l3_checksum().l3_checksum().l4_checksum())[4],
    ];
    assert_eq!(flags, [0x10, 0x20, 0xa0, 0xf0]);
}

/// Linux `en/txrx.h`, `mlx5e_set_eseg_swp`, for Geneve (`en_accel/en_accel.h`, `mlx5e_tx_tunnel_accel`); DPDK
/// `mlx5_tx.h`, `txq_mbuf_to_swp` (outer L4 in the low byte of a little-endian word, then outer L3, inner L4, inner L3)
/// and `mlx5_rxtx.c`, `mlx5_set_swp_types_table`. All offsets are half of those in bytes.
#[test]
fn offsets_of_headers_are_the_bytes_of_linux_and_dpdk() {
    // IPv6 and UDP outside (0x10, 0x20); IPv4 and TCP inside have no flags.
    let geneve = segment_of!(wqe::frame().header_offsets(GENEVE));
    assert_eq!(geneve, [27, 7, 52, 42, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let v4 = HeadersAt { ip: Ip::V4, l3: 14, l4: None };
    for (outer, inner, expected) in [
        // An IP tunnel has no outer L4. Inside, IPv6 (1) and UDP (2).
        (v4, Some(HeadersAt { ip: Ip::V6, l3: 34, l4: Some((L4::Udp, 74)) }), [0, 7, 37, 17, 3]),
        // As Linux has it of IPsec without a tunnel: both L3 are the same (`mlx5e_ipsec_set_swp`).
        (v4, Some(HeadersAt { ip: Ip::V4, l3: 14, l4: Some((L4::Tcp, 42)) }), [0, 7, 21, 7, 0]),
        (HeadersAt { ip: Ip::V6, l3: 18, l4: Some((L4::Tcp, 510)) }, None, [255, 9, 0, 0, 0x10]),
    ] {
        let found = segment_of!(wqe::frame().header_offsets(offsets(outer, inner)));
        assert_eq!([found[0], found[1], found[2], found[3], found[5]], expected, "{outer:?} {inner:?}");
    }
}

/// Linux `include/linux/mlx5/qp.h`, `flow_table_metadata`; DPDK `mlx5_prm.h`, `metadata`, big endian (`mlx5_tx.h`,
/// `mlx5_tx_eseg_none`).
#[test]
fn metadata_is_where_linux_and_dpdk_have_it() {
    let found = segment_of!(wqe::frame().metadata(0x0102_0304));
    assert_eq!(found, [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]);
}

/// All options in any order, with a large send: DPDK `mlx5_tx.h`, `mlx5_tx_packet_multi_tso`, where the headers inline
/// are those of both layers (`vlan`, `outer_l2_len` to `l4_len`).
#[test]
fn options_add_up_in_any_order() {
    let mut wqes = Vec::new();
    for order in 0..3 {
        let rig = rig();
        let mut sq = queue(&rig, ALL);
        let headers = count::<124>();
        let frame = wqe::frame().inline_headers(&headers).l3_checksum();
        // SAFETY: no device looks.
        unsafe {
            match order {
                0 => sq.post_unchecked(
                    &frame
                        .large(1400)
                        .header_offsets(GENEVE)
                        .metadata(5)
                        .inner_l3_checksum()
                        .inner_l4_checksum()
                        .gather([LOCAL]),
                ),
                1 => sq.post_unchecked(
                    &frame
                        .inner_l4_checksum()
                        .metadata(5)
                        .inner_l3_checksum()
                        .header_offsets(GENEVE)
                        .large(1400)
                        .gather([LOCAL]),
                ),
                _ => sq.post_unchecked(
                    &frame
                        .metadata(5)
                        .large(1400)
                        .inner_l4_checksum()
                        .inner_l3_checksum()
                        .header_offsets(GENEVE)
                        .gather([LOCAL]),
                ),
            }
        }
        .expect("room");
        wqes.push(rig.ring());
    }
    let mut wqe = vec![ctrl(0, 0x0e, 11, 0), [27, 7, 52, 42, 0x70, 0x30, 0x05, 0x78, 0, 0, 0, 5, 0, 124, 1, 2]];
    let mut rest = count::<124>()[2..].to_vec();
    rest.resize(8 * 16, 0);
    wqe.extend(rest.chunks_exact(16).map(|ds| <[u8; 16]>::try_from(ds).expect("16 bytes")));
    wqe.push(DATA);
    for found in wqes {
        assert_eq!(found, rig().ring_with(0x1234, wqe.as_flattened()));
    }
}

/// DPDK `mlx5_tx.h`, `mlx5_tx_burst_empw_simple` with the segment of `mlx5_tx_eseg_none`; all frames of the WQE have its
/// offsets, flags and metadata (`mlx5_tx_match_empw`).
#[test]
fn frames_of_a_session_share_the_options() {
    let rig = rig();
    let mut sq = queue(&rig, ALL);
    let mut batch = sq.batch();
    let head = wqe::frame().l3_checksum().inner_l4_checksum().header_offsets(GENEVE).metadata(0x0a0b_0c0d);
    let mut session = batch.session(&head.completion(CompletionMode::OnFirstError).wr_id(WrId(7))).expect("room");
    for _ in 0..2 {
        // SAFETY: no device looks.
        unsafe { session.gather_unchecked(LOCAL) }.expect("room");
    }
    session.close();
    batch.ring_doorbell();
    let wqe = [ctrl(0, 0x29, 4, 0x04), [27, 7, 52, 42, 0x60, 0x30, 0, 0, 10, 11, 12, 13, 0, 0, 0, 0], DATA, DATA];
    assert_written(&rig, &wqe);
}

/// A prepared request has the options. Each post brings other headers.
#[test]
fn a_prepared_request_has_the_options() {
    let rig = rig();
    let mut sq = queue(&rig, ALL);
    let first = [0xee; 20];
    let frame = wqe::frame().inline_headers(&first).inner_l4_checksum().header_offsets(GENEVE).metadata(6);
    let headers = count::<20>();
    let prepared = sq.prepare::<_, _, 12, 0>(&frame).expect("within the limits");
    sq.post(&prepared.inline_headers(&headers).signaled_if(true, WrId(1)).inline(&[9; 12])).expect("room");
    let wqe = [
        ctrl(0, 0x0a, 5, 0x08),
        [27, 7, 52, 42, 0x20, 0x30, 0, 0, 0, 0, 0, 6, 0, 20, 1, 2],
        [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18],
        [19, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0x80, 0, 0, 12, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
    ];
    assert_written(&rig, &wqe);
    let bare = queue(&rig, FrameOffloads::NONE).prepare::<_, _, 12, 0>(&frame);
    assert_eq!(bare.err(), Some(EncodeError::NoOffload { offload: FrameOffload::HeaderOffsets }));
}

/// Each option, without the one offload that it needs: single frames and sessions.
#[test]
fn each_option_needs_its_own_offload() {
    let no = |offload| Err(PostError::Encode(EncodeError::NoOffload { offload }));
    let rig = rig();
    let plain = wqe::frame();
    let mut sq = queue(&rig, FrameOffloads { inner_checksums: false, ..ALL });
    assert_eq!(sq.post(&plain.inner_l3_checksum().inline(b"x")), no(FrameOffload::InnerChecksums));
    assert_eq!(sq.batch().session(&plain.inner_l4_checksum()).map(drop), no(FrameOffload::InnerChecksums));
    // With offsets, the device need not find the headers by itself.
    assert_eq!(sq.batch().session(&plain.inner_l3_checksum().header_offsets(GENEVE)).map(drop), Ok(()));
    assert_eq!(sq.batch().session(&plain.header_offsets(GENEVE).inner_l3_checksum()).map(drop), Ok(()));
    sq.set_frame_offloads(FrameOffloads { header_offsets: false, ..ALL });
    assert_eq!(sq.post(&plain.header_offsets(GENEVE).inline(b"x")), no(FrameOffload::HeaderOffsets));
    assert_eq!(sq.batch().session(&plain.header_offsets(GENEVE)).map(drop), no(FrameOffload::HeaderOffsets));
    sq.set_frame_offloads(FrameOffloads { metadata: false, ..ALL });
    assert_eq!(sq.post(&plain.metadata(0).inline(b"x")), no(FrameOffload::Metadata));
    assert_eq!(sq.batch().session(&plain.metadata(0)).map(drop), no(FrameOffload::Metadata));
    sq.set_frame_offloads(FrameOffloads { header_offsets_of_large: false, ..ALL });
    let headers = plain.inline_headers(&[0; 54]);
    let large = headers.large(1).header_offsets(GENEVE);
    assert_eq!(sq.post(&large.inline(&[0; 2])), no(FrameOffload::HeaderOffsetsOfLarge));
    assert_eq!(
        sq.post(&headers.header_offsets(GENEVE).large(1).inline(&[0; 2])),
        no(FrameOffload::HeaderOffsetsOfLarge)
    );
    assert!(rig.ring().iter().all(|&byte| byte == OLD));
    assert_eq!(sq.post(&headers.header_offsets(GENEVE).inline(&[0; 2])), Ok(()));
}

#[test]
fn offsets_that_the_device_cannot_take_are_named() {
    let at = |l3, l4| HeadersAt { ip: Ip::V4, l3, l4: Some((L4::Udp, l4)) };
    for (headers, bytes) in [(at(0, 34), 0), (at(15, 34), 15), (at(14, 35), 35), (at(14, 512), 512), (at(14, 0), 0)] {
        let error = Err(EncodeError::HeaderOffset { bytes });
        assert_eq!(HeaderOffsets::new(headers, None), error);
        assert_eq!(HeaderOffsets::new(at(14, 34), Some(headers)), error);
    }
    assert!(HeaderOffsets::new(at(2, HeaderOffsets::MAX), None).is_ok());
    assert_eq!(
        EncodeError::HeaderOffset { bytes: 15 }.to_string(),
        "header at byte 15 of a frame, but the device takes even offsets from 2 to 510"
    );
    let said = [
        FrameOffload::InnerChecksums,
        FrameOffload::HeaderOffsets,
        FrameOffload::HeaderOffsetsOfLarge,
        FrameOffload::Metadata,
    ];
    assert_eq!(
        said.map(|offload| offload.to_string()),
        [
            "checksums of inner headers",
            "offsets of headers (software parser)",
            "offsets of headers of large sends (software parser)",
            "metadata for rules"
        ]
    );
}

/// A device without the offload: whatever way a request goes, and nothing is written.
#[test]
fn a_device_without_the_offload_gets_no_such_request() {
    let rig = rig();
    let large = PostError::Encode(EncodeError::NoOffload { offload: FrameOffload::LargeSends });
    let mut sq = queue(&rig, FrameOffloads { max_large_send: 0, ..ALL });
    let request = wqe::frame().inline_headers(&[0; 54]).large(1);
    let short = wqe::frame().inline_headers(&[0; 18]).large(1);
    assert_eq!(sq.post(&short), Err(large), "one WQEBB");
    assert_eq!(sq.post(&request.inline(&[0; 2])), Err(large), "two WQEBBs");
    assert_eq!(sq.post(&request.inline_slice(&[0; 60])), Err(large), "any length");
    assert_eq!(sq.batch().push(&request.inline(&[0; 2])), Err(large), "a batch");
    let burst = sq.batch_of(2).and_then(|mut burst| burst.push(&request.inline(&[0; 2])));
    assert_eq!(burst.err(), Some(large), "a burst");
    assert!(rig.ring().iter().all(|&byte| byte == OLD));

    let mut sq = queue(&rig, ALL);
    sq.set_depth(Wqebbs(16)).expect("the ring's");
    sq.post(&request.inline(&[0; 2])).expect("a large send");
}

#[test]
fn values_past_their_limits_are_named() {
    let rig = rig();
    let mut sq = queue(&rig, FrameOffloads { max_large_send: 1000, ..ALL });
    let headers = wqe::frame().inline_headers(&[0; 54]);
    assert_eq!(sq.post(&headers.large(0).inline(&[0; 2])), Err(EncodeError::LargeSendMss.into()));
    let piece = |length| Sge { length, ..LOCAL };
    let too_long = |bytes| Err(PostError::Encode(EncodeError::LargeSendTooLong { bytes, limit: 1000 }));
    // SAFETY: no device looks.
    let mut post = |pieces: [Sge; 2]| unsafe { sq.post_unchecked(&headers.large(1).gather(pieces)) };
    assert_eq!(post([piece(1000), piece(1)]), too_long(1001));
    // The sum has more than 32 bits.
    assert_eq!(post([piece(u32::MAX), piece(1001)]), too_long(u64::from(u32::MAX) + 1001));
    // Inline data counts, alone and before a list.
    let request = headers.large(1).inline(&[0; 400]);
    // SAFETY: no device looks.
    let mut post_behind = |pieces: [Sge; 2]| unsafe { sq.post_unchecked(&request.then_gather(pieces)) };
    assert_eq!(post_behind([piece(600), piece(1)]), too_long(1001));
    assert!(rig.ring().iter().all(|&byte| byte == OLD));
    assert_eq!(post_behind([piece(599), piece(1)]), Ok(()));
    sq.set_frame_offloads(FrameOffloads { max_large_send: 399, ..ALL });
    let error = EncodeError::LargeSendTooLong { bytes: 400, limit: 399 };
    assert_eq!(sq.post(&request), Err(error.into()));
    sq.set_frame_offloads(FrameOffloads { max_large_send: 1000, ..ALL });
    // SAFETY: no device looks.
    let mut post = |pieces: [Sge; 2]| unsafe { sq.post_unchecked(&headers.large(1).gather(pieces)) };
    assert_eq!(post([piece(500), piece(500)]), Ok(()));
    let said = [EncodeError::LargeSendMss, EncodeError::NoOffload { offload: FrameOffload::LargeSends }];
    assert_eq!(
        said.map(|error| error.to_string()),
        [
            "large send with an mss of 0 bytes, 1 to 65535 are possible",
            "the device has no large sends for frames of this queue"
        ]
    );
}
