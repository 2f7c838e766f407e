//! WQEs of several frames that DPDK itself made, in `dpdk.wqes`: the same requests by this crate are the same bytes.
//!
//! Recorded WQEs belong here, WQEs worked out from sources in `multi_packet.rs`. DPDK names here are of
//! `drivers/common/mlx5/mlx5_prm.h`.

use blueflame::transport::{InlineNone, RawPacket};
use blueflame::types::Lkey;
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::{self, CompletionMode, Sge};

use crate::rig::{OLD, QPN, Rig, Setup};

/// `MLX5_OPCODE_ENHANCED_MPSW`, the fourth byte of the control segment.
const SEVERAL_FRAMES: u8 = 0x29;
/// `MLX5_ETH_WQE_L3_CSUM` and `MLX5_ETH_WQE_L4_CSUM`.
const CHECKSUMS: [u8; 2] = [1 << 6, 1 << 7];
/// `MLX5_ETH_WQE_DATA_INLINE`: a data segment has the frame's bytes behind its length.
const INLINE: u32 = 1 << 31;

/// A frame of a WQE.
#[derive(Debug)]
enum Frame<'a> {
    Inline(&'a [u8]),
    Pointer(Sge),
}

fn recorded() -> Vec<Vec<u8>> {
    let mut wqes = vec![Vec::new()];
    for line in include_str!("dpdk.wqes").lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            wqes.push(Vec::new());
        }
        let bytes =
            (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).expect("hexadecimal"));
        wqes.last_mut().expect("one").extend(bytes);
    }
    wqes.retain(|wqe| !wqe.is_empty());
    wqes
}

fn word(wqe: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(wqe[at..at + 4].try_into().expect("four"))
}

/// The frames behind the control and the Ethernet segment (`mlx5_wqe_dseg`).
fn frames(wqe: &[u8]) -> Vec<Frame<'_>> {
    let (mut at, mut frames) = (32, Vec::new());
    while at < wqe.len() {
        let length = word(wqe, at) & !INLINE;
        if word(wqe, at) & INLINE == 0 {
            let addr = u64::from(word(wqe, at + 8)) << 32 | u64::from(word(wqe, at + 12));
            frames.push(Frame::Pointer(Sge { addr, length, lkey: Lkey(word(wqe, at + 4)) }));
            at += 16;
        } else {
            let bytes = length as usize;
            frames.push(Frame::Inline(&wqe[at + 4..at + 4 + bytes]));
            at += (4 + bytes).next_multiple_of(16);
        }
    }
    frames
}

#[test]
fn sessions_are_the_bytes_that_dpdk_made() {
    let (mut inline, mut pointers, mut mixed) = (0, 0, 0);
    for mut expected in recorded() {
        // The number of this queue, in place of that of DPDK's.
        let number = QPN << 8 | word(&expected, 4) & 0xff;
        expected[4..8].copy_from_slice(&number.to_be_bytes());
        let index = u16::from_be_bytes([expected[1], expected[2]]);
        assert_eq!(expected[3], SEVERAL_FRAMES);
        let frames = frames(&expected);

        let rig = Rig::new(Setup { wqebbs: 16, pi: index, ..Setup::default() });
        let mut sq = rig.queue::<RawPacket<InlineNone>>();
        sq.set_frame_offloads(FrameOffloads { multi_packet: true, ..FrameOffloads::NONE });
        let mut batch = sq.batch();
        // `MLX5_COMP_MODE_OFFSET` of `flags`: DPDK wants a completion of each WQE, or of the first one that fails.
        let mode = match expected[11] >> 2 {
            1 => CompletionMode::OnFirstError,
            2 => CompletionMode::Always,
            other => panic!("completion mode {other}"),
        };
        let mut head = wqe::frame().completion(mode);
        let flags = CHECKSUMS.map(|flag| expected[20] & flag != 0);
        head = if flags[0] { head.l3_checksum() } else { head };
        head = if flags[1] { head.l4_checksum() } else { head };
        let mut session = batch.session(&head).expect("room");
        for frame in &frames {
            match frame {
                Frame::Inline(bytes) => session.inline(*bytes),
                // SAFETY: no device looks.
                Frame::Pointer(sge) => unsafe { session.gather_unchecked(*sge) },
            }
            .expect("room");
        }
        session.close();
        batch.ring_doorbell();

        let by_pointer = frames.iter().filter(|frame| matches!(frame, Frame::Pointer(_))).count();
        pointers += by_pointer;
        inline += frames.len() - by_pointer;
        mixed += usize::from(by_pointer != 0 && by_pointer != frames.len());
        let mut ring = vec![OLD; 16 * 64];
        for (n, byte) in expected.into_iter().enumerate() {
            ring[(usize::from(index) * 64 + n) % (16 * 64)] = byte;
        }
        assert_eq!(rig.ring(), ring, "index {index:#x}");
    }
    assert!(inline >= 5 && pointers >= 50 && mixed >= 4, "{inline} inline, {pointers} by pointer, {mixed} mixed");
}
