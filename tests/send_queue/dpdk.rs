//! WQEs that DPDK itself made, in `dpdk.wqes`: the same requests by this crate are the same bytes.
//!
//! Recorded WQEs belong here, WQEs worked out from sources in `multi_packet.rs` and `offloads.rs`. DPDK names here come
//! from `drivers/common/mlx5/mlx5_prm.h`.

use blueflame::queue::{SendBatch, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::types::Lkey;
use blueflame::wqe::cross_channel::DeviceClock;
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::operations::Frame;
use blueflame::wqe::{self, CompletionMode, Request, Sge};
use core::num::NonZeroU32;

use crate::rig::{QPN, Rig, Setup};

/// `MLX5_OPCODE_SEND`, `MLX5_OPCODE_TSO`, `MLX5_OPCODE_WAIT` and `MLX5_OPCODE_ENHANCED_MPSW`, the fourth byte of the
/// control segment.
const SEND: u8 = 0x0a;
const LARGE_SEND: u8 = 0x0e;
const WAIT: u8 = 0x0f;
const SEVERAL_FRAMES: u8 = 0x29;
/// `MLX5_ETH_WQE_L3_CSUM` and `MLX5_ETH_WQE_L4_CSUM`.
const CHECKSUMS: [u8; 2] = [1 << 6, 1 << 7];
/// `MLX5_ETH_WQE_DATA_INLINE`: a data segment has the frame's bytes behind its length.
const INLINE: u32 = 1 << 31;

type Batch<'a> = SendBatch<'a, RawPacket<0>, blueflame::db::ExclusiveRegister>;

/// A frame of a WQE.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Inline(&'a [u8]),
    Pointer(Sge),
}

/// The WQEs below the headings that begin with `heading`.
fn recorded(heading: &str) -> Vec<Vec<u8>> {
    let (mut wqes, mut wanted) = (vec![Vec::new()], false);
    for line in include_str!("dpdk.wqes").lines() {
        if let Some(title) = line.strip_prefix("# dpdk, ") {
            wanted = title.starts_with(heading);
        }
        if line.is_empty() {
            wqes.push(Vec::new());
        }
        if wanted && !line.starts_with('#') {
            let bytes =
                (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).expect("hexadecimal"));
            wqes.last_mut().expect("one").extend(bytes);
        }
    }
    wqes.retain(|wqe| !wqe.is_empty());
    wqes
}

fn half(wqe: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(wqe[at..at + 2].try_into().expect("two"))
}

fn word(wqe: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(wqe[at..at + 4].try_into().expect("four"))
}

fn double_word(wqe: &[u8], at: usize) -> u64 {
    u64::from(word(wqe, at)) << 32 | u64::from(word(wqe, at + 4))
}

/// The segments from a place on (`mlx5_wqe_dseg`).
fn pieces(wqe: &[u8], mut at: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while at < wqe.len() {
        let length = word(wqe, at) & !INLINE;
        if word(wqe, at) & INLINE == 0 {
            pieces.push(Piece::Pointer(Sge { addr: double_word(wqe, at + 8), length, lkey: Lkey(word(wqe, at + 4)) }));
            at += 16;
        } else {
            let bytes = length as usize;
            pieces.push(Piece::Inline(&wqe[at + 4..at + 4 + bytes]));
            at += (4 + bytes).next_multiple_of(16);
        }
    }
    pieces
}

/// A frame's options, as a WQE has them.
fn head(wqe: &[u8]) -> Request<'static, Frame> {
    let flags = CHECKSUMS.map(|flag| wqe[20] & flag != 0);
    let head = wqe::frame().completion(mode(wqe));
    let head = if flags[0] { head.l3_checksum() } else { head };
    if flags[1] { head.l4_checksum() } else { head }
}

/// `MLX5_COMP_MODE_OFFSET` of `flags`: DPDK wants a completion of each WQE, or of the first one that fails.
fn mode(wqe: &[u8]) -> CompletionMode {
    match wqe[11] >> 2 {
        1 => CompletionMode::OnFirstError,
        2 => CompletionMode::Always,
        other => panic!("completion mode {other}"),
    }
}

/// `post` posts the request of a recorded WQE by this crate. Compares the rings.
fn assert_same(mut expected: Vec<u8>, post: impl FnOnce(&mut Batch<'_>, &[u8])) {
    // The number of this queue, in place of that of DPDK's.
    let number = QPN << 8 | word(&expected, 4) & 0xff;
    expected[4..8].copy_from_slice(&number.to_be_bytes());
    let index = half(&expected, 1);
    let rig = Rig::new(Setup { wqebbs: 16, pi: index, ..Setup::default() });
    let mut sq: SendQueue<RawPacket<0>> = rig.queue();
    sq.set_frame_offloads(FrameOffloads { multi_packet: true, max_large_send: 1 << 18, ..FrameOffloads::NONE });
    let mut batch = sq.batch();
    post(&mut batch, &expected);
    batch.ring_doorbell();
    assert_eq!(rig.ring(), rig.ring_with(index, &expected), "{expected:02x?}");
}

#[test]
fn sessions_are_the_bytes_that_dpdk_made() {
    let (mut inline, mut pointers, mut mixed) = (0, 0, 0);
    for expected in recorded("session") {
        assert_eq!(expected[3], SEVERAL_FRAMES);
        let frames = pieces(&expected, 32).len();
        let by_pointer = pieces(&expected, 32).iter().filter(|piece| matches!(piece, Piece::Pointer(_))).count();
        assert_same(expected, |batch, wqe| {
            let mut session = batch.session(&head(wqe)).expect("room");
            for piece in pieces(wqe, 32) {
                match piece {
                    Piece::Inline(bytes) => session.inline(bytes),
                    // SAFETY: no device looks.
                    Piece::Pointer(sge) => unsafe { session.gather_unchecked(sge) },
                }
                .expect("room");
            }
            session.close();
        });
        pointers += by_pointer;
        inline += frames - by_pointer;
        mixed += usize::from(by_pointer != 0 && by_pointer != frames);
    }
    assert!(inline >= 5 && pointers >= 50 && mixed >= 4, "{inline} inline, {pointers} by pointer, {mixed} mixed");
}

/// The place behind the inline headers of a WQE (`inline_hdr_sz`, `inline_hdr` of `mlx5_wqe_eseg`).
fn behind_headers(wqe: &[u8]) -> (usize, usize) {
    let headers = usize::from(half(wqe, 28));
    (headers, (30 + headers.max(2)).next_multiple_of(16))
}

/// Posts a frame whose first `N` bytes are in the Ethernet segment.
fn post_with_headers<const N: usize>(batch: &mut Batch<'_>, wqe: &[u8]) {
    let headers: [u8; N] = wqe[30..30 + N].try_into().expect("so many");
    let (request, mss) = (head(wqe).inline_headers(&headers), half(wqe, 22));
    match (&pieces(wqe, behind_headers(wqe).1)[..], mss) {
        ([], 0) => batch.push(&request),
        // SAFETY: no device looks, nor below.
        ([Piece::Pointer(rest)], 0) => unsafe { batch.push_unchecked(&request.gather([*rest])) },
        // SAFETY: no device looks.
        ([Piece::Pointer(rest)], mss) => unsafe { batch.push_unchecked(&request.large(mss).gather([*rest])) },
        other => panic!("{other:?}"),
    }
    .expect("room");
}

/// Posts the frame of a recorded WQE.
fn post_frame(batch: &mut Batch<'_>, wqe: &[u8]) {
    match behind_headers(wqe).0 {
        0 => {
            let [Piece::Pointer(frame)] = pieces(wqe, 32)[..] else { panic!("one piece") };
            // SAFETY: no device looks.
            unsafe { batch.push_unchecked(&head(wqe).gather([frame])) }.expect("room");
        }
        18 => post_with_headers::<18>(batch, wqe),
        54 => post_with_headers::<54>(batch, wqe),
        66 => post_with_headers::<66>(batch, wqe),
        74 => post_with_headers::<74>(batch, wqe),
        other => panic!("{other} bytes of headers"),
    }
}

/// A WQE for each frame: by pointer, whole in the WQE, or with its first 18 bytes there, among them a VLAN tag. Some
/// leave checksums to the device.
#[test]
fn single_frames_are_the_bytes_that_dpdk_made() {
    let wqes = recorded("single");
    for expected in &wqes {
        assert_eq!(expected[3], SEND);
        assert_same(expected.clone(), post_frame);
    }
    let count = |bytes| wqes.iter().filter(|wqe| behind_headers(wqe).0 == bytes).count();
    let tagged = wqes.iter().filter(|wqe| half(wqe, 28) == 18 && half(wqe, 42) == 0x8100).count();
    assert!(count(0) >= 4 && count(66) >= 2 && tagged >= 2, "{wqes:02x?}");
    for flags in [0, 0x80, 0xc0] {
        assert!(wqes.iter().any(|wqe| wqe[20] == flags), "none has the checksums {flags:#x}");
    }
}

#[test]
fn large_sends_are_the_bytes_that_dpdk_made() {
    let wqes = recorded("large send");
    for expected in &wqes {
        assert_eq!(expected[3], LARGE_SEND);
        assert_same(expected.clone(), post_frame);
    }
    assert!([54, 74].into_iter().all(|headers| wqes.iter().any(|wqe| half(wqe, 28) == headers)), "{wqes:02x?}");
}

/// The device's clock runs freely at 1 GHz: DPDK takes the mask from that, and this crate does.
#[test]
fn waits_for_a_time_are_the_bytes_that_dpdk_made() {
    let wqes = recorded("wait");
    let clock = DeviceClock::free_running(NonZeroU32::new(1_000_000).expect("kilohertz"));
    for expected in &wqes {
        assert_eq!(expected[3], WAIT);
        assert_same(expected.clone(), |batch, wqe| {
            // `value` of `mlx5_wqe_wseg`.
            let time = double_word(wqe, 32);
            let wait = clock.at(time).wait_until(time).expect("now");
            batch.push(&wait).expect("room");
        });
    }
    assert!(wqes.len() >= 2);
}
