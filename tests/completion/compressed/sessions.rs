//! Single sessions: impossible ones, ones with a completion taken out, and the places that they give back.
//!
//! Single sessions belong here, random ones in `any.rs`.

use blueflame::cq::compressed::{Basic, Checksum, Enhanced, Hash};
use blueflame::cq::mode::{Compressed, OncePerCall};
use blueflame::cq::{CqeError, Side};
use blueflame::types::Qpn;

use super::packer::{Completion, Packer, completion};
use crate::device::{Device, put32};

#[test]
fn what_cannot_be_expanded_is_an_error_for_each_completion_lost() {
    // Basic: no completions, one, more than the ring has; a title that is an error's.
    for (count, op_own, lost) in
        [(0, 0x2c, 1), (1, 0x2c, 1), (9, 0x2c, 1), (u32::MAX, 0x2c, 1), (3, 0xec, 3), (3, 0x6c, 3)]
    {
        let mut device = Device::new(8, 64, 0);
        // SAFETY: the test writes completions of this format.
        let mut cq = unsafe { device.queue::<blueflame::cq::mode::Standard>().compressed::<Hash, Basic>() };
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
        let mut cq = packer.queue::<Hash, Enhanced>();
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
    let mut cq = packer.queue::<Hash, Enhanced>();
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
    let mut cq = packer.queue::<Hash, Basic>();
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
    let mut cq = packer.queue::<Checksum, Enhanced>();
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
