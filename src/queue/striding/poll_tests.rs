//! [`StridingRecvQueue::poll_with`] beside [`StridingRecvQueue::receive`]: any completions, whole and compressed.
use std::vec::Vec;

use proptest::prelude::*;

use super::tests::{CQES, Rig, STRIDES};
use super::{LentFrame, StridingRecvQueue};
use crate::cq::CompletionQueue;
use crate::cq::compressed::{BASIC, Checksum, ChecksumStride, FlowTag, Hash, Headers, MiniFormat, Strided};
use crate::cq::cqe::{L3Header, Verdicts};
use crate::cq::mode::{Compressed, OncePerCall, PollMode};
use crate::queue::RetireError;
use crate::queue::outcome::CompleteError;
use crate::types::Qpn;

/// A frame as it is lent, or an error.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Frame { at: usize, len: usize, tag: u32, tunnel: Option<L3Header>, verdicts: Verdicts },
    Error(CompleteError<()>),
}

fn seen(frame: &LentFrame<'_>) -> Seen {
    let at = frame.as_ptr().addr().get();
    Seen::Frame { at, len: frame.len(), tag: frame.flow_tag(), tunnel: frame.tunnel(), verdicts: frame.verdicts() }
}

/// Completions of the device: of one WQE, which is the oldest most of the time.
#[derive(Clone, Debug)]
struct Session {
    wqe_id: u16,
    op: u8,
    tag: u32,
    /// Checksum or tag, distance to the first stride, word.
    minis: Vec<(u16, i16, u32)>,
    /// The number of completions that the title says, if it is not the right one.
    said: Option<u32>,
}

fn sessions() -> impl Strategy<Value = Vec<Session>> {
    let op = prop_oneof![12 => Just(2_u8 << 4), 1 => Just(14_u8 << 4), 1 => (0..15_u8).prop_map(|op| op << 4)];
    let len = prop_oneof![8 => 1..130_u32, 1 => 0..0x1_0000_u32, 1 => Just(0)];
    let word = (prop_oneof![9 => Just(0_u32), 1 => Just(1_u32 << 31)], 0..4_u32, len)
        .prop_map(|(filler, count, len)| filler | count << 16 | len);
    let away = prop_oneof![12 => Just(0_i16), 1 => -2..5_i16, 1 => any::<i16>()];
    let minis = prop::collection::vec((any::<u16>(), away, word), 1..40);
    let wqe_id = prop_oneof![1 => 0..3_u16, 1 => any::<u16>()];
    let said = prop_oneof![20 => Just(None), 1 => any::<u32>().prop_map(Some)];
    let session = (wqe_id, op, any::<u32>(), minis, said).prop_map(|(wqe_id, op, tag, minis, said)| Session {
        wqe_id,
        op,
        tag,
        minis,
        said,
    });
    prop::collection::vec(session, 1..16)
}

/// The CQEs of sessions from index `ci` on, in the basic layout: a session of one is a whole CQE.
fn cqes(ci: u32, sessions: &[Session]) -> Vec<[u8; 64]> {
    let (mut cqes, mut wqe, mut next): (Vec<[u8; 64]>, u16, u32) = (Vec::new(), 0, 0);
    for session in sessions {
        let count = session.minis.len();
        // The WQE that is probably open.
        let id = if session.wqe_id > 2 { wqe } else { session.wqe_id };
        let firsts: Vec<u16> = session
            .minis
            .iter()
            .map(|&(_, away, word)| {
                let first = (next as u16).wrapping_add_signed(away);
                let needed = (word & 0xffff).div_ceil(64).max(word >> 16 & 0x3fff);
                next =
                    if word >> 31 == 0 { u32::from(first) + needed } else { u32::from(first) + (word >> 16 & 0x3fff) };
                first
            })
            .collect();
        let mut title = [0; 64];
        title[0] = (session.tag >> 4) as u8;
        title[2..4].copy_from_slice(&id.to_be_bytes());
        title[28..30].copy_from_slice(&(session.tag as u16).to_be_bytes());
        let whole = count == 1;
        let word = if whole { session.minis[0].2 } else { session.said.unwrap_or(count as u32) };
        title[44..48].copy_from_slice(&word.to_be_bytes());
        title[56..60].copy_from_slice(&session.tag.to_be_bytes());
        title[60..62].copy_from_slice(&firsts[0].to_be_bytes());
        let start = cqes.len();
        let owner = (ci as usize + start) / CQES % 2;
        title[63] = session.op | if whole { 0 } else { 3 << 2 } | owner as u8;
        cqes.push(title);
        if !whole {
            cqes.resize(start + count, {
                let mut empty = [0; 64];
                empty[63] = 0xf0;
                empty
            });
            for (n, (&(other, _, word), first)) in session.minis.iter().zip(&firsts).enumerate() {
                let place = start + if n < 8 { 1 } else { n / 8 * 8 };
                if n % 8 == 0 && place < cqes.len() {
                    cqes[place] = [0; 64];
                }
                if let Some(cqe) = cqes.get_mut(place) {
                    let mini = &mut cqe[n % 8 * 8..][..8];
                    mini[..2].copy_from_slice(&other.to_be_bytes());
                    mini[2..4].copy_from_slice(&first.to_be_bytes());
                    mini[4..].copy_from_slice(&word.to_be_bytes());
                }
            }
        }
        if next >= STRIDES {
            (wqe, next) = (wqe.wrapping_add(1), 0);
        }
        next %= STRIDES;
    }
    cqes.truncate(CQES);
    cqes
}

/// All ways over the same CQEs, from index `ci` on: each completion by itself, frames at once, and both in turns.
fn compare<M: PollMode>(
    (ci, bytes): (u32, &[[u8; 64]]),
    shifted: bool,
    maxima: &[usize],
    mode: impl Fn(CompletionQueue) -> CompletionQueue<M>,
) -> Result<(), TestCaseError> {
    type Way<M> = fn(&mut CompletionQueue<M>, &mut StridingRecvQueue, usize, &mut Vec<Seen>) -> usize;
    type Ways<M> = [Way<M>; 2];
    let one_by_one: Way<M> = |cq, rq, max, all| {
        cq.poll_with(max, |cqe| match rq.receive(&cqe) {
            Ok(Some(frame)) => all.push(seen(&frame)),
            Ok(None) => {
                all.extend(cqe.check().err().map(|error| Seen::Error(CompleteError::Failed { done: (), error })))
            }
            Err(error) => all.push(Seen::Error(CompleteError::Foreign(error))),
        })
    };
    let at_once: Way<M> = |cq, rq, max, all| match rq.poll_with(cq, max, |frame| all.push(seen(&frame))) {
        Ok(polled) => polled,
        Err(error) => {
            all.push(Seen::Error(error));
            1
        }
    };
    let all: [Ways<M>; 4] = [[one_by_one; 2], [at_once; 2], [one_by_one, at_once], [at_once, one_by_one]];
    let answers = all.map(|ways| {
        let rig = Rig::at(ci, shifted);
        for (n, cqe) in bytes.iter().enumerate() {
            // SAFETY: a CQE that was never polled: there are no more than the ring has.
            unsafe { rig.put(ci as usize + n, *cqe) };
        }
        let told = rig.told();
        let (mut rq, cq, memory, _rest) = rig.apart();
        let (mut cq, mut all) = (mode(cq), Vec::new());
        for (&max, way) in maxima.iter().cycle().zip(ways.iter().cycle()) {
            if way(&mut cq, &mut rq, max, &mut all) == 0 {
                break;
            }
        }
        for seen in &mut all {
            if let Seen::Frame { at, .. } = seen {
                *at -= memory;
            }
            // Identities differ by rig.
            if let Seen::Error(CompleteError::Foreign(error)) = seen {
                let text = std::string::ToString::to_string(error);
                prop_assert!(!text.contains("completion queue"), "{}", text);
            }
        }
        Ok((all, rq.posted(), told()))
    });
    let [first, rest @ ..] = answers;
    let first = first?;
    for other in rest {
        prop_assert_eq!(&first, &other?);
    }
    Ok(())
}

fn compressed<F: MiniFormat>(bytes: (u32, &[[u8; 64]]), shifted: bool, maxima: &[usize]) -> Result<(), TestCaseError> {
    // SAFETY: nothing was polled; a wrong format harms nothing here, as no device uses the memory.
    compare(bytes, shifted, maxima, |cq| unsafe { cq.compressed::<F, BASIC>() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    /// For any bytes of the device, all ways lend the same frames, report the same errors, and tell the device the same
    /// index in the end.
    #[test]
    fn frames_are_the_same_by_either_way(
        ci in prop_oneof![Just(0), CQES as u32 - 200..CQES as u32],
        sessions in sessions(),
        shifted: bool,
        maxima in prop::collection::vec(1..40_usize, 1..8),
    ) {
        let bytes = cqes(ci, &sessions);
        let bytes = (ci, &bytes[..]);
        compare(bytes, shifted, &maxima, |cq| cq)?;
        compare(bytes, shifted, &maxima, |cq| cq.with_mode::<OncePerCall>())?;
        compressed::<ChecksumStride>(bytes, shifted, &maxima)?;
        compressed::<Headers>(bytes, shifted, &maxima)?;
        compressed::<Strided<FlowTag>>(bytes, shifted, &maxima)?;
        compressed::<Strided<Hash>>(bytes, shifted, &maxima)?;
        compressed::<Strided<Checksum>>(bytes, shifted, &maxima)?;
        // Without strides: neither way makes sense of it.
        compressed::<Checksum>(bytes, shifted, &maxima)?;
    }
}

/// Polls a session of 20 frames in four calls, from index `at` on.
fn a_session<M: PollMode>(at: u32, mode: impl Fn(CompletionQueue) -> CompletionQueue<M>) {
    let minis = (0..20).map(|n| (n, 0, 0x1_0028 + u32::from(n))).collect();
    let bytes = cqes(at, &[Session { wqe_id: 0, op: 2 << 4, tag: 7, minis, said: None }]);
    let rig = Rig::at(at, false);
    // Frames of another length wherever the device has written nothing.
    let mut old = [0; 64];
    old.chunks_exact_mut(8).for_each(|mini| mini[4..].copy_from_slice(&(1_u32 << 16 | 99).to_be_bytes()));
    old[63] = 0xf0;
    for n in 0..CQES {
        let written = bytes.get(n).filter(|cqe| cqe[63] != 0xf0);
        // SAFETY: a CQE that was never polled: there are no more than the ring has.
        unsafe { rig.put(at as usize + n, *written.unwrap_or(&old)) };
    }
    let told = rig.told();
    let (mut rq, cq, memory, _rest) = rig.apart();
    let (mut cq, mut places) = (mode(cq), Vec::new());
    // The places of a session go back together. Before, nothing was told, or where it begins.
    for (max, polled, all) in [(5, 5, false), (7, 7, false), (8, 8, true), (9, 0, true)] {
        let found = rq.poll_with(&mut cq, max, |frame| {
            assert_eq!((frame.len(), frame.flow_tag()), (40 + places.len(), 7));
            places.push(frame.as_ptr().addr().get() - memory);
        });
        assert_eq!(found, Ok(polled));
        assert!(if all { told() == at + 20 } else { [0, at].contains(&told()) }, "{} from {at}", told());
    }
    assert!(places.into_iter().eq((0..20).map(|n| n * 64)));
}

#[test]
fn a_session_of_frames_is_lent_whole() {
    // Some sessions cross the ring's end. The arrays behind it have places of their own.
    for at in [0, CQES as u32 - 1, CQES as u32 - 7, CQES as u32 - 8, CQES as u32 - 16] {
        // SAFETY: as in `compressed`.
        a_session(at, |cq| unsafe { cq.compressed::<ChecksumStride, BASIC>() });
        // SAFETY: as in `compressed`: nothing was polled, and no device uses the memory.
        a_session(at, |cq| unsafe { cq.compressed::<Strided<Hash>, BASIC>() });
        // SAFETY: as in `compressed`: nothing was polled, and no device uses the memory.
        let once = |cq: CompletionQueue| unsafe { cq.compressed::<ChecksumStride, BASIC>() };
        a_session(at, |cq| once(cq).with_mode::<OncePerCall<Compressed<ChecksumStride>>>());
    }
}

/// A rig with frames in whole CQEs: first stride, and word.
fn rig_with(frames: &[(u16, u32)]) -> Rig {
    let rig = Rig::new(false);
    for (n, &(first, word)) in frames.iter().enumerate() {
        let mut cqe = [0; 64];
        cqe[44..48].copy_from_slice(&word.to_be_bytes());
        cqe[60..62].copy_from_slice(&first.to_be_bytes());
        cqe[63] = 2 << 4;
        // SAFETY: in the ring, and the queue does not poll yet.
        unsafe { rig.put(n, cqe) };
    }
    rig
}

#[test]
fn a_call_takes_as_many_frames_as_it_may() {
    // The first frame opens the WQE, and is taken by itself.
    let rig = rig_with(&[0, 1, 2, 3, 4].map(|n| (n, 1 << 16 | 60)));
    let (mut rq, mut cq, _, _rest) = rig.apart();
    for (max, polled) in [(0, 0), (3, 3), (1, 1), (9, 1), (9, 0)] {
        let mut frames = 0;
        assert_eq!(rq.poll_with(&mut cq, max, |_| frames += 1), Ok(polled));
        assert_eq!(frames, polled);
    }
}

#[test]
fn frames_of_another_completion_queue_are_refused() {
    let (mut rq, mut cq, _, _rest) = rig_with(&[(0, 1 << 16 | 60)]).apart();
    let (_, mut other, _, _rest) = rig_with(&[1, 2].map(|n| (n, 1 << 16 | 60))).apart();
    let mut poll = |cq: &mut CompletionQueue, max| rq.poll_with(cq, max, |frame| assert_eq!(frame.len(), 60));
    assert_eq!(poll(&mut cq, 1), Ok(1));
    assert_eq!(poll(&mut other, 0), Ok(0));
    for _ in 0..2 {
        let refused = poll(&mut other, 9);
        let foreign = |error| matches!(error, CompleteError::Foreign(RetireError::WrongCompletionQueue { .. }));
        assert!(refused.is_err_and(foreign), "{refused:?}");
    }
    assert_eq!((poll(&mut other, 9), poll(&mut cq, 9)), (Ok(0), Ok(0)));
}

/// 64 bytes fill a stride, 65 need another, which a completion may leave uncounted.
#[test]
fn strides_that_are_not_counted_are_taken() {
    let strides = |first, end, next| CompleteError::Foreign(RetireError::Strides { first, end, next, count: STRIDES });
    let full = 1 << 16 | 64;
    let (mut rq, mut cq, _, _rest) =
        rig_with(&[(0, full), (1, full), (2, full + 1), (3, full), (4, 250 << 16 | 60), (254, full), (255, full + 1)])
            .apart();
    let mut lens = Vec::new();
    let mut poll = || rq.poll_with(&mut cq, 9, |frame| lens.push(frame.len()));
    assert_eq!(poll(), Err(strides(3, 4, 4)));
    assert_eq!(poll(), Err(strides(255, 257, 255)));
    assert_eq!(lens, [64, 64, 65, 60, 64]);
}

/// Polls a session whose closure panics at some frames. The others are lent once, each in its place.
#[test]
fn a_panic_consumes_its_frame_alone() {
    let minis: Vec<_> = (0..20).map(|n| (n, 0, 1 << 16 | 60)).collect();
    for bad in 0..20 {
        for at in [0, CQES as u32 - 7] {
            let session = Session { wqe_id: 0, op: 2 << 4, tag: 7, minis: minis.clone(), said: None };
            // The first one opens the WQE.
            let opens = Session { minis: minis[..1].to_vec(), ..session.clone() };
            let bytes = cqes(at, &[opens, session]);
            let rig = Rig::at(at, false);
            // SAFETY: in the ring, and the queue does not poll yet.
            (0..bytes.len()).for_each(|n| unsafe { rig.put(at as usize + n, bytes[n]) });
            let (mut rq, cq, memory, _rest) = rig.apart();
            // SAFETY: the sessions are of this format and layout, and nothing was polled.
            let mut cq = unsafe { cq.compressed::<ChecksumStride, BASIC>() };
            let mut places = Vec::new();
            let mut poll = || {
                rq.poll_with(&mut cq, 64, |frame| {
                    let place = (frame.as_ptr().addr().get() - memory) / 64;
                    places.push(place);
                    // Once: the place is not lent again.
                    assert_ne!(place, 1 + bad, "this frame is bad");
                })
            };
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut poll));
            assert!(caught.is_err());
            assert_eq!(poll(), Ok(19 - bad));
            assert!(places.into_iter().eq(0..21));
            assert_eq!(cq.consumer_index().get(), at + 21);
        }
    }
}

#[test]
fn a_session_left_in_the_middle_is_held() {
    let minis: Vec<_> = (0..8).map(|n| (n, 0, 1 << 16 | 60)).collect();
    let session = Session { wqe_id: 0, op: 2 << 4, tag: 7, minis, said: None };
    // Frames before it open the WQE, so that a call leaves the session and does not expand it.
    let opens = Session { minis: session.minis[..1].to_vec(), ..session.clone() };
    let bytes = cqes(0, &[opens, session]);
    let rig = Rig::at(0, false);
    for (n, bytes) in bytes.iter().enumerate() {
        // SAFETY: in the ring, and the queue does not poll yet.
        unsafe { rig.put(n, *bytes) };
    }
    let (mut rq, cq, _, _rest) = rig.apart();
    // SAFETY: the sessions are of this format and layout.
    let mut cq = unsafe { cq.compressed::<ChecksumStride, BASIC>() };
    for (frames, left) in [(1, true), (1, true), (3, true), (4, false)] {
        assert_eq!(rq.poll_with(&mut cq, frames, |_| ()), Ok(frames));
        assert_eq!(cq.holds(Qpn::truncate(7)), left);
    }
}
