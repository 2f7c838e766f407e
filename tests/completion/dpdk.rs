//! CQEs of the software device that DPDK has read, with DPDK's description of each frame, in `dpdk.cqes`: this crate
//! describes the frames alike.
//!
//! Recorded CQEs belong here, literal bytes in `compressed/by_hand.rs`.

use blueflame::cq::compressed::{BASIC, ChecksumStride, Hash, MiniFormat};
use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::cq::mode::Standard;
use blueflame::cq::{CqeView, Source};

use crate::device::Device;

/// Places of a ring, more than a queue of the record has used.
const CQES: u32 = 64;
/// Mini-CQEs in a place (Linux `include/linux/mlx5/device.h`, `MLX5_MINI_CQE_ARRAY_SIZE`).
const ARRAY: usize = 8;
/// The format bits of a CQE's last byte, if mini-CQEs follow.
const COMPRESSED: u8 = 3 << 2;

/// A queue's CQEs, and testpmd's description of each frame.
struct Queue<'a> {
    format: &'a str,
    cqes: Vec<[u8; 64]>,
    frames: Vec<&'a str>,
}

fn recorded() -> Vec<Queue<'static>> {
    let mut queues: Vec<Queue<'_>> = Vec::new();
    for line in include_str!("dpdk.cqes").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').expect("two words");
        if kind == "queue" {
            queues.push(Queue { format: rest, cqes: Vec::new(), frames: Vec::new() });
            continue;
        }
        let queue = queues.last_mut().expect("a queue comes first");
        let byte = |n: usize| u8::from_str_radix(&rest[2 * n..2 * n + 2], 16).expect("hexadecimal");
        match kind {
            "cqe" => queue.cqes.push(core::array::from_fn(byte)),
            "frame" => queue.frames.push(rest),
            other => panic!("what is {other}?"),
        }
    }
    queues
}

/// The frame of a completion, in the words of the record: bytes, headers, and the verdict on the checksums.
fn described<S: Source>(cqe: &CqeView<S>) -> String {
    let l3 = match cqe.l3_header() {
        L3Header::None => "-",
        L3Header::Ipv4 => "ipv4",
        L3Header::Ipv6 => "ipv6",
        other => panic!("{other:?}"),
    };
    let l4 = match cqe.l4_header() {
        L4Header::None => "-",
        L4Header::Udp => "udp",
        L4Header::Tcp | L4Header::TcpAckNoData | L4Header::TcpAckAndData => "tcp",
        other => panic!("{other:?}"),
    };
    let verdict = if cqe.l3_ok() && cqe.l4_ok() { "good" } else { "unknown" };
    // The number of strides is in the upper half.
    format!("{} {l3} {l4} {verdict}", cqe.byte_len() & 0xffff)
}

/// Reads a queue; returns how many completions were compressed.
fn read<F: MiniFormat>(queue: &Queue<'_>) -> usize {
    let mut device = Device::new(CQES, 64, 0);
    // SAFETY: the record's completions are of this format.
    let mut cq = unsafe { device.queue::<Standard>().compressed::<F, BASIC>() };
    let (mut lines, mut place, mut compressed) = (queue.cqes.iter(), 0, 0);
    while let Some(title) = lines.next() {
        device.cqe(place).copy_from_slice(title);
        let mut count = 1;
        if title[63] & COMPRESSED == COMPRESSED {
            count = usize::from(title[47]);
            compressed += count;
            // Arrays are in the place behind the title, and in each eighth one from the title on.
            for (n, minis) in lines.by_ref().take(count.div_ceil(ARRAY)).enumerate() {
                device.cqe(place + if n == 0 { 1 } else { (n * ARRAY) as u32 }).copy_from_slice(minis);
            }
        }
        place += count as u32;
    }
    assert!(place <= CQES);
    let mut found = Vec::new();
    assert_eq!(cq.poll_with(usize::MAX, |cqe| found.push(described(&cqe))), queue.frames.len());
    assert_eq!(found, queue.frames, "{}", queue.format);
    compressed
}

#[test]
fn frames_are_those_that_dpdk_saw() {
    let (mut whole, mut compressed) = (0, 0);
    for queue in recorded() {
        let minis = match queue.format {
            "hash" => read::<Hash>(&queue),
            "checksum" => read::<ChecksumStride>(&queue),
            other => panic!("what is {other}?"),
        };
        compressed += minis;
        whole += queue.frames.len() - minis;
    }
    assert!(whole >= 40 && compressed >= 20, "{whole} whole, {compressed} compressed");
}
