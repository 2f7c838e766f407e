//! Sessions of any length in rings of any size, polled and taken out in any order; and any bytes.
//!
//! Random sessions belong here, literal bytes in `by_hand.rs`, single sessions in `sessions.rs`.

use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat};
use blueflame::cq::mode::Compressed;
use blueflame::types::Qpn;
use proptest::prelude::*;

use super::packer::{Completion, Packer, completion};
use crate::device::put32;

/// A test's actions on a queue.
type Steps = Box<dyn FnMut(&mut Packer, Step) -> usize>;

/// Each format and layout, as a number and as types.
fn with<R>(
    enhanced: bool,
    format: u8,
    packer: &mut Packer,
    mut run: impl FnMut(&mut Packer, &mut dyn FnMut(&mut Packer, Step) -> usize) -> R,
) -> R {
    fn steps<F: MiniFormat + 'static, const ENHANCED: bool>(packer: &mut Packer) -> Steps {
        let mut cq = packer.queue::<F, ENHANCED>();
        Box::new(move |packer, step| match step {
            Step::Poll(max) => packer.poll(&mut cq, max),
            Step::Forget(tag) => {
                let before = packer.expected.len();
                // The device compresses no further completions of a queue pair that is gone.
                packer.title = packer.title.filter(|(title, _)| title.tag != tag);
                packer.expected.retain(|c| c.is_ok_and(|c| c.tag != tag));
                let removed = cq.forget(Qpn::truncate(tag));
                assert_eq!(removed, before - packer.expected.len());
                removed
            }
        })
    }
    let mut steps = match (enhanced, format) {
        (false, 0) => steps::<Hash, BASIC>(packer),
        (false, 1) => steps::<Checksum, BASIC>(packer),
        (false, 2) => steps::<FlowTag, BASIC>(packer),
        (false, 3) => steps::<ChecksumStride, BASIC>(packer),
        (false, _) => steps::<Headers, BASIC>(packer),
        (true, 0) => steps::<Hash, ENHANCED>(packer),
        (true, 1) => steps::<Checksum, ENHANCED>(packer),
        (true, 2) => steps::<FlowTag, ENHANCED>(packer),
        (true, 3) => steps::<ChecksumStride, ENHANCED>(packer),
        (true, _) => steps::<Headers, ENHANCED>(packer),
    };
    run(packer, &mut *steps)
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Poll(usize),
    Forget(u32),
}

/// The device's bytes, and the polled completions.
#[derive(Clone, Debug)]
enum Move {
    /// Writes `count` completions like each other, with this opcode and tag.
    Write {
        count: usize,
        opcode: u8,
        tag: u32,
    },
    Step(Step),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let tag = 1..4u32;
    let one = prop_oneof![
        4 => (1..40usize, prop_oneof![Just(0u8), Just(2), Just(2), Just(2)], tag.clone())
            .prop_map(|(count, opcode, tag)| Move::Write { count, opcode, tag }),
        4 => (1..20usize).prop_map(|max| Move::Step(Step::Poll(max))),
        1 => tag.prop_map(|tag| Move::Step(Step::Forget(tag))),
    ];
    prop::collection::vec(one, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Sessions of any length, in rings of any size, across the ends of the ring and of the index. They are expanded in
    /// pieces of any size, and completions of one queue pair are taken out at any time.
    #[test]
    fn what_was_compressed_is_expanded(
        (enhanced, format, wide) in any::<(bool, u8, bool)>(),
        log_cqes in 0..6u32,
        first in prop_oneof![Just(0u32), Just(0x00ff_fff0), 0..0x0100_0000u32],
        moves in moves(),
    ) {
        let (format, cqes) = (format % 5, 1 << log_cqes);
        // The number of a pass has 8 bits, and begins at 0.
        let first = if enhanced { 0 } else { first };
        let mut packer = Packer::new(cqes, if wide { 128 } else { 64 }, first, enhanced, format);
        with(enhanced, format, &mut packer, |packer, step| {
            for (n, next) in moves.iter().enumerate() {
                match *next {
                    Move::Write { count, opcode, tag } => {
                        // Completions of a session that is half polled are not given back.
                        let told = u64::from(packer.device.record_words()[0]);
                        let told = if told == u64::from(crate::device::POISON) { u64::from(first) } else { told };
                        let written = (packer.device.pi as u32).wrapping_sub(told as u32) & 0x00ff_ffff;
                        let count = count.min((cqes - written) as usize);
                        if count != 0 {
                            let all: Vec<_> = (0..count as u32).map(|i| Completion {
                                opcode, tag,
                                request: if opcode == 0 { i as u8 } else { 0 },
                                ..completion(n as u32 * 100 + i)
                            }).collect();
                            packer.session(&all);
                        }
                    }
                    Move::Step(to) => {
                        step(packer, to);
                    }
                }
            }
            step(packer, Step::Poll(1000));
        });
        prop_assert!(packer.expected.is_empty());
    }

    /// Any bytes: polling ends, and each completion is a value.
    #[test]
    fn any_bytes_are_completions_or_errors(
        (enhanced, wide) in any::<(bool, bool)>(),
        log_cqes in 0..5u32,
        bytes in prop::collection::vec(any::<[u8; 64]>(), 0..16),
        ends in prop::collection::vec(prop_oneof![Just(0x2cu8), Just(0x2d), Just(0x6c), Just(0xfc), Just(0x0c), any::<u8>()], 16),
        counts in prop::collection::vec(prop_oneof![0..40u32, any::<u32>()], 16),
    ) {
        let cqes = 1u32 << log_cqes;
        let mut packer = Packer::new(cqes, if wide { 128 } else { 64 }, 0, enhanced, 0);
        let mut cq = if enhanced { Any::Enhanced(packer.queue()) } else { Any::Basic(packer.queue()) };
        for (slot, bytes) in (0..cqes).zip(&bytes) {
            let (end, count) = (ends[slot as usize], counts[slot as usize]);
            let cqe = packer.device.cqe(slot);
            cqe.copy_from_slice(bytes);
            put32(cqe, 44, count);
            cqe[62..].copy_from_slice(&[0, end]);
        }
        let found = cq.poll(100 * cqes as usize);
        // Polled CQEs of sessions are marked. The others were valid in one pass of two, or of 256, and a session goes
        // on into the next.
        prop_assert!(found <= 2 * cqes as usize, "{} of {}", found, cqes);
        cq.forget();
    }
}

enum Any {
    Basic(CompletionQueue<Compressed<Hash, BASIC>>),
    Enhanced(CompletionQueue<Compressed<Hash, ENHANCED>>),
}

impl Any {
    fn poll(&mut self, max: usize) -> usize {
        match self {
            Self::Basic(cq) => cq.poll_with(max, |cqe| drop(format!("{cqe:?}"))),
            Self::Enhanced(cq) => cq.poll_with(max, |cqe| drop(format!("{cqe:?}"))),
        }
    }

    fn forget(&mut self) {
        match self {
            Self::Basic(cq) => cq.forget(Qpn::truncate(1)),
            Self::Enhanced(cq) => cq.forget(Qpn::truncate(1)),
        };
    }
}
