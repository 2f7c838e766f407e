//! Single sessions: impossible ones, ones with a completion taken out, and the places that they give back.
//!
//! Single sessions belong here, random ones in `any.rs`.

use blueflame::cq::compressed::{BASIC, Checksum, ENHANCED, Hash};
use blueflame::cq::mode::{Compressed, OncePerCall};
use blueflame::cq::setup::Whose;
use blueflame::cq::{CompletionQueue, CqeError, Side};
use blueflame::types::Qpn;

use super::packer::{Completion, Packer, completion};
use crate::device::{Device, put32};

#[test]
fn what_cannot_be_expanded_is_an_error_for_each_completion_lost() {
    // Basic: no completions, one, more than the ring has; a title that is an error's.
    for (count, op_own, lost) in
        [(0, 0x2c, 1), (1, 0x2c, 1), (9, 0x2c, 1), (u32::MAX, 0x2c, 1), (2, 0xec, 2), (8, 0xec, 8), (3, 0x6c, 3)]
    {
        let mut device = Device::new(8, 64, 0);
        // SAFETY: the test writes completions of this format.
        let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Hash, BASIC>() };
        device.complete(op_own, |cqe| put32(cqe, 44, count));
        let mut found = Vec::new();
        cq.poll_with(100, |cqe| found.push((cqe.check(), cqe.byte_len())));
        assert_eq!(found, vec![(Err(CqeError::Compressed), count); lost], "{count} {op_own:#x}");
        assert_eq!(device.record_words()[0], lost as u32);
    }
    // Enhanced: no title before, a title that failed, more mini-CQEs than there is room for.
    for (title, op_own, lost) in [(None, 0x6c, 7), (Some(0xe0), 0x1c, 2), (Some(0x20), 0x7c, 1), (Some(0x20), 0xec, 1)]
    {
        let mut packer = Packer::new(16, 64, 0, true, 0);
        let mut cq = packer.queue::<Hash, ENHANCED>();
        for op_own in title.into_iter().chain([op_own]) {
            let end = packer.end(op_own);
            packer.slot(0)[62..].copy_from_slice(&end);
            packer.device.pi += 1;
        }
        let mut found = Vec::new();
        cq.poll_with(100, |cqe| found.push(cqe.check()));
        found.drain(..usize::from(title.is_some()));
        assert_eq!(found, vec![Err(CqeError::Compressed); lost], "{title:?} {op_own:#x}");
    }
}

#[test]
fn what_is_compressed_with_a_completion_taken_out_is_lost() {
    let mut packer = Packer::new(16, 64, 0, true, 0);
    let mut cq = packer.queue::<Hash, ENHANCED>();
    let [other, title, third] = [0, 1, 2].map(completion);
    packer.plain(&Completion { tag: 1, ..other });
    packer.plain(&Completion { tag: 2, ..title });
    assert_eq!(cq.forget(Qpn::truncate(2)), 1);
    packer.block(&[third]);
    packer.plain(&Completion { tag: 3, ..other });
    let mut found = Vec::new();
    cq.poll_with(9, |cqe| found.push((cqe.check(), cqe.qpn().get())));
    assert_eq!(
        (found[0], found[1].0, found[2]),
        ((Ok(Side::Responder), 1), Err(CqeError::Compressed), (Ok(Side::Responder), 3))
    );
}

#[test]
fn places_are_given_back_with_the_whole_session() {
    let mut packer = Packer::new(16, 64, 0, false, 0);
    let mut cq = packer.queue::<Hash, BASIC>();
    let all: Vec<_> = (0..10).map(completion).collect();
    packer.session(&all);
    for n in 0..10 {
        assert_eq!(packer.poll(&mut cq, 1), 1);
        assert_eq!(packer.device.record_words()[0], if n < 9 { crate::device::POISON } else { 10 });
    }
    let mut cq = cq.with_mode::<OncePerCall<Compressed<Hash>>>();
    packer.session(&all[..3]);
    packer.poll(&mut cq, 2);
    assert_eq!((cq.consumer_index().get(), packer.device.record_words()[0]), (12, 10));
    packer.poll(&mut cq, 2);
    assert_eq!(packer.device.record_words()[0], 13);
}

#[test]
fn a_panic_loses_one_completion_of_a_session() {
    let mut packer = Packer::new(16, 64, 0, true, 1);
    let mut cq = packer.queue::<Checksum, ENHANCED>();
    packer.session(&(0..5).map(completion).collect::<Vec<_>>());
    packer.poll(&mut cq, 2);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cq.poll_with(9, |_| {
            if true {
                panic!("of the test")
            }
        })
    }));
    assert!(panic.is_err());
    packer.expected.pop_front();
    assert_eq!(packer.poll(&mut cq, 9), 2);
}

/// The title that was polled is not that of completions behind one taken out.
#[test]
fn a_polled_completion_is_no_title_for_those_behind_one_taken_out() {
    let mut packer = Packer::new(16, 64, 0, true, 0);
    let mut cq = packer.queue::<Hash, ENHANCED>();
    let [first, gone, third] = [0, 1, 2].map(completion);
    packer.plain(&Completion { tag: 1, ..first });
    assert_eq!(packer.poll(&mut cq, 9), 1);
    packer.plain(&Completion { tag: 2, ..gone });
    assert_eq!(cq.forget(Qpn::truncate(2)), 1);
    packer.block(&[third]);
    let mut found = Vec::new();
    cq.poll_with(9, |cqe| found.push(cqe.check()));
    assert_eq!(found, [Err(CqeError::Compressed)]);
}

/// A session belongs to the side of its title, however far it is polled.
#[test]
fn receives_in_a_session_are_held_until_they_are_polled() {
    let mut packer = Packer::new(16, 64, 0, false, 0);
    let mut cq = packer.queue::<Hash, BASIC>();
    let completions = [0, 1, 2].map(completion);
    packer.session(&completions);
    let number = Qpn::truncate(completions[0].tag);
    for _ in 0..3 {
        assert_eq!((cq.holds(Whose::Receives), cq.holds(Whose::Sends(number))), (true, false));
        assert_eq!(packer.poll(&mut cq, 1), 1);
    }
    assert!(!cq.holds(Whose::Receives));
}

/// Whose completions wait, across the ring's end, where the number of the pass tells new from old.
#[test]
fn completions_of_a_queue_pair_are_held_until_they_are_polled() {
    fn held<const ENHANCED: bool>(cq: &CompletionQueue<Compressed<Hash, ENHANCED>>) -> [bool; 3] {
        [1, 2, 3].map(|tag| cq.holds(Qpn::truncate(tag)))
    }
    let of = |tag, n| Completion { tag, ..completion(n) };
    let mut packer = Packer::new(16, 64, 14, true, 0);
    let mut cq = packer.queue::<Hash, ENHANCED>();
    for pass in 0..4 {
        assert_eq!(held(&cq), [false; 3], "{pass}");
        packer.plain(&of(1, 0));
        packer.block(&[of(1, 1), of(1, 2), of(1, 3)]);
        packer.plain(&of(2, 4));
        assert_eq!(held(&cq), [true, true, false], "{pass}");
        // Nothing tells whose compressed ones are if the completion before them is polled.
        assert_eq!(packer.poll(&mut cq, 1), 1);
        assert_eq!(held(&cq), [true; 3], "{pass}");
        assert_eq!(packer.poll(&mut cq, 3), 3);
        assert_eq!(held(&cq), [false, true, false], "{pass}");
        assert_eq!(packer.poll(&mut cq, 1), 1);
        (0..11).for_each(|n| packer.plain(&of(3, n)));
        assert_eq!(held(&cq), [false, false, true], "{pass}");
        assert_eq!(packer.poll(&mut cq, 11), 11);
    }
    // Those of pass 255 are old in the next, which has the number 0.
    let mut packer = Packer::new(16, 64, 16 * 255, true, 0);
    let mut cq = packer.queue::<Hash, ENHANCED>();
    (0..16).for_each(|n| packer.plain(&of(1, n)));
    assert_eq!(held(&cq), [true, false, false]);
    assert_eq!(packer.poll(&mut cq, 16), 16);
    assert_eq!(held(&cq), [false; 3]);
    // The index has 24 bits: in a ring of 2^17 it counts 128 passes, and the CQE the rest of 256.
    let mut packer = Packer::new(1 << 17, 64, 1 << 24, true, 0);
    let cq = packer.queue::<Hash, ENHANCED>();
    packer.plain(&of(1, 0));
    packer.plain(&of(2, 0));
    assert_eq!(held(&cq), [true, true, false]);

    let mut packer = Packer::new(16, 64, 14, false, 0);
    let mut cq = packer.queue::<Hash, BASIC>();
    for pass in 0..3 {
        packer.session(&[of(1, 0), of(1, 1), of(1, 2)]);
        packer.plain(&of(2, 3));
        assert_eq!(held(&cq), [true, true, false], "{pass}");
        packer.poll(&mut cq, 3);
        assert_eq!(held(&cq), [false, true, false], "{pass}");
        packer.poll(&mut cq, 1);
        assert_eq!(held(&cq), [false; 3], "{pass}");
        (0..12).for_each(|n| packer.plain(&of(3, n)));
        packer.poll(&mut cq, 12);
    }
}
