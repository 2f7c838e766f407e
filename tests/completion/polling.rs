//! The completions that a queue finds, and the index that it tells the device.
//!
//! Owner bits, records and wrong parts belong here, fields of a CQE in `fields.rs`.

use std::ptr::NonNull;

use blueflame::SetupError;
use blueflame::cq::mode::{Conservative, NoOverrun, OncePerCall, PollMode, Prefetch, Publish, Standard};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, Notify, Side};
use blueflame::types::CqCi;

use crate::device::{Device, POISON, nth, put32};

fn many_passes<M: PollMode<Compression = ()>>(cqe_cnt: u32, cqe_size: u32, start: u32, per_call: usize) {
    let mut device = Device::new(cqe_cnt, cqe_size, start);
    let mut cq = device.queue::<M>();
    assert_eq!(cq.poll_with(usize::MAX, |_| ()), 0, "nothing was written");
    assert_eq!(device.record_words()[0], POISON, "an empty call stores nothing");
    let (mut written, mut seen) = (0_u32, 0_u32);
    let total = cqe_cnt * 5 + 3;
    while seen < total {
        while written - seen < cqe_cnt && written < total {
            nth(&mut device, written);
            written += 1;
        }
        let before = seen;
        let found = cq.poll_with(per_call, |cqe| {
            assert_eq!(cqe.check(), Ok(Side::Requester));
            assert_eq!(cqe.wqe_counter(), seen as u16);
            assert_eq!(cqe.byte_len(), seen);
            assert_eq!(cqe.qpn().get(), seen & 0x00ff_ffff);
            seen += 1;
        });
        assert_eq!(found as u32, seen - before);
        assert_eq!(found, per_call.min((written - before) as usize), "all that was there, up to the limit");
        let ci = if M::PUBLISH != Publish::Never { start.wrapping_add(seen) & 0x00ff_ffff } else { POISON };
        assert_eq!(device.record_words(), [ci, POISON]);
    }
    assert_eq!(cq.poll_with(1, |_| ()), 0, "the last pass's entries do not look new");
    assert!(cq.poll().is_none());
    assert_eq!(cq.consumer_index().get(), start.wrapping_add(total) & 0x00ff_ffff);
}

/// The next program of a queue sees what the one before has not finished with, from its record alone.
#[test]
fn a_queue_goes_on_at_its_record() {
    for start in [0, 5, 0x00ff_fffe] {
        let mut device = Device::new(8, 64, start);
        let mut parts = device.parts();
        let mut before = device.queue::<Standard>();
        (1..6).for_each(|n| nth(&mut device, n));
        assert_eq!(before.poll_with(2, |_| ()), 2);
        parts.ci = CqCi::truncate(0x77);
        // SAFETY: the record of the test's device.
        let parts = unsafe { parts.recorded() };
        assert_eq!(parts.ci.get(), start.wrapping_add(2) & 0x00ff_ffff);
        // SAFETY: as in `Device::queue`; the queue before is gone.
        let mut cq = unsafe { CompletionQueue::from_parts(parts) }.expect("a queue in use");
        let mut seen = Vec::new();
        cq.poll_with(usize::MAX, |cqe| seen.push(cqe.wqe_counter()));
        assert_eq!(seen, [3, 4, 5], "from {start:#x}");
    }
}

#[test]
fn every_completion_is_seen_once_over_many_passes() {
    for cqe_size in [64, 128] {
        for cqe_cnt in [1, 2, 8, 64] {
            for per_call in [1, 3, usize::MAX] {
                many_passes::<Standard>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Conservative>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<NoOverrun>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Prefetch>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<OncePerCall>(cqe_cnt, cqe_size, 0, per_call);
                many_passes::<Prefetch<NoOverrun, 1>>(cqe_cnt, cqe_size, 0, per_call);
            }
        }
    }
}

#[test]
fn the_consumer_index_wraps_at_24_bits() {
    for start in [0x00ff_fff8_u32, 0x0080_0000, 0x007f_fff8] {
        many_passes::<Standard>(8, 64, start, 3);
    }
}

#[test]
fn the_largest_queue_has_2_to_the_23_entries() {
    let mut device = Device::new(1, 64, 0);
    let parts = device.parts();
    // SAFETY: refused before anything is touched, or, the valid one, with a buffer of its size; nothing is polled.
    let build = |parts| unsafe { CompletionQueue::from_parts(parts) }.map(|cq| cq.capacity());
    for bad in [0, 3, 1 << 24, u32::MAX] {
        let what = "CQEs of a completion queue";
        let refused = SetupError::NotPowerOfTwo { what, value: bad.into(), min: 1, max: 1 << 23 };
        assert_eq!(build(CqParts { cqe_cnt: bad, ..parts }), Err(refused));
    }
    // Half a gigabyte; the operating system gives only touched pages, of which there are none.
    let layout = std::alloc::Layout::from_size_align(64 << 23, 64).unwrap();
    // SAFETY: not of size 0.
    let buf = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).expect("address space");
    let last = (1 << 23) - 1;
    let zeros = Err(SetupError::WrittenCqe { slot: last, opcode: 0 });
    assert_eq!(build(CqParts { buf, cqe_cnt: 1 << 23, ..parts }), zeros, "of the largest size");
    // SAFETY: allocated with this layout, and the queue is gone.
    unsafe { std::alloc::dealloc(buf.as_ptr(), layout) };
}

#[test]
fn parts_that_cannot_be_are_refused() {
    const RING: &str = "ring of a completion queue";
    let mut device = Device::new(4, 64, 0);
    let parts = device.parts();
    // SAFETY: refused before anything is touched.
    let build = |parts| unsafe { CompletionQueue::from_parts(parts) }.err();
    // SAFETY: within the buffers.
    let (buf, dbrec, uar) = unsafe { (parts.buf.add(8), parts.dbrec.add(1), parts.cq_uar.add(4)) };
    let size = SetupError::NotPowerOfTwo { what: "bytes of a CQE", value: 32, min: 64, max: 128 };
    assert_eq!(build(CqParts { cqe_size: 32, ..parts }), Some(size));
    let misaligned = |what, address, alignment| Some(SetupError::Misaligned { what, address, alignment });
    assert_eq!(build(CqParts { buf, ..parts }), misaligned(RING, buf.addr().get(), 64));
    let record = "doorbell record of a completion queue";
    assert_eq!(build(CqParts { dbrec, ..parts }), misaligned(record, dbrec.addr().get(), 8));
    assert_eq!(build(CqParts { cq_uar: uar, ..parts }), misaligned("UAR page", uar.addr().get(), 8));
    // SAFETY: within the buffer. A 128-byte CQE must be aligned to its size.
    let half = unsafe { parts.buf.add(64) };
    let refused = misaligned(RING, half.addr().get(), 128);
    assert_eq!(build(CqParts { buf: half, cqe_size: 128, ..parts }), refused);
}

#[test]
fn arming_writes_record_and_doorbell() {
    let mut device = Device::new(8, 64, 0x00ff_fffe);
    let mut cq = device.queue::<Standard>();
    assert_eq!(cq.cqn().get(), 0x00ab_cdef);
    for _ in 0..5 {
        nth(&mut device, 0);
    }
    assert_eq!(cq.poll_with(8, |_| ()), 5);
    // 0xfffffe + 5 is 3 in 24 bits; the sequence number counts events modulo 4, in bits 29:28.
    let expected = [
        (Notify::Any, 0, 0x0000_0003_u32),
        (Notify::Solicited, 1, 0x1100_0003),
        (Notify::Any, 1, 0x2000_0003),
        (Notify::Solicited, 1, 0x3100_0003),
        (Notify::Any, 1, 0x0000_0003),
    ];
    for (notify, events, request) in expected {
        for _ in 0..events {
            cq.event_received();
        }
        device.uar.fill(0xa5a5_a5a5_a5a5_a5a5);
        cq.arm(notify);
        assert_eq!(device.record_words(), [3, request]);
        let mut doorbell = [0; 8];
        doorbell[..4].copy_from_slice(&request.to_be_bytes());
        doorbell[4..].copy_from_slice(&[0x00, 0xab, 0xcd, 0xef]);
        for (i, word) in device.uar.iter().enumerate() {
            let expected = if i == 4 { doorbell } else { [0xa5; 8] };
            assert_eq!(word.to_ne_bytes(), expected, "word {i}: only offset 0x20 is written");
        }
    }
}

#[test]
fn a_panic_in_the_closure_consumes_what_it_was_given() {
    // Three completions, so that each is the last of a ring of four once, also where the index wraps.
    for start in (0..4).chain(0x00ff_fffc..0x0100_0000) {
        for fails in 0..3 {
            let mut device = Device::new(4, 64, start);
            let mut cq = device.queue::<Standard>();
            for n in 0..3 {
                nth(&mut device, n);
            }
            let mut seen = Vec::new();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                cq.poll_with(3, |cqe| {
                    seen.push(cqe.wqe_counter());
                    assert_ne!(cqe.wqe_counter(), fails, "this one fails");
                });
            }));
            assert!(panicked.is_err());
            assert_eq!(cq.consumer_index(), CqCi::truncate(start).add(u32::from(fails) + 1));
            let told = if fails == 0 { POISON } else { start.wrapping_add(fails.into()) & 0x00ff_ffff };
            assert_eq!(device.record_words()[0], told, "of this one the next call tells the device");
            nth(&mut device, 3);
            cq.poll_with(4, |cqe| seen.push(cqe.wqe_counter()));
            assert_eq!(seen, [0, 1, 2, 3], "neither lost nor reported twice");
            assert_eq!(device.record_words()[0], start.wrapping_add(4) & 0x00ff_ffff);
        }
    }
}

/// A completion whose closure fails is consumed, too. The device is told of it, unless the mode tells nothing.
fn an_error_consumes<M: PollMode<Compression = ()>>(tells: bool) {
    for fails in 0..3 {
        let start = 0x00ff_fffe;
        let mut device = Device::new(4, 64, start);
        let mut cq = device.queue::<M>();
        (0..3).for_each(|n| nth(&mut device, n));
        let mut seen = Vec::new();
        let polled = cq.try_poll_with(3, |cqe| {
            seen.push(cqe.wqe_counter());
            if cqe.wqe_counter() == fails { Err("this one fails") } else { Ok(()) }
        });
        assert_eq!(polled, Err("this one fails"));
        assert_eq!(cq.consumer_index(), CqCi::truncate(start).add(u32::from(fails) + 1));
        let told = start.wrapping_add(u32::from(fails) + 1) & 0x00ff_ffff;
        assert_eq!(device.record_words()[0], if tells { told } else { POISON });
        let rest = cq.try_poll_with(4, |cqe| {
            seen.push(cqe.wqe_counter());
            Ok::<_, ()>(())
        });
        assert_eq!(rest, Ok(2 - usize::from(fails)), "how many there were");
        assert_eq!(seen, [0, 1, 2], "neither lost nor reported twice");
    }
}

#[test]
fn an_error_of_the_closure_consumes_what_it_was_given() {
    an_error_consumes::<Standard>(true);
    an_error_consumes::<OncePerCall>(true);
    an_error_consumes::<Conservative>(true);
    an_error_consumes::<NoOverrun>(false);
}

/// The queue over this ring, each of whose CQEs has an `op_own` and a queue pair `qpn`.
fn adopted(ci: u32, cqes: &[(u8, u32)]) -> Result<u32, SetupError> {
    let mut device = Device::new(cqes.len() as u32, 64, ci);
    for (slot, &(op_own, qpn)) in cqes.iter().enumerate() {
        let cqe = device.cqe(slot as u32);
        put32(cqe, 56, qpn);
        cqe[63] = op_own;
    }
    // SAFETY: as in `Device::queue`.
    let mut cq = unsafe { CompletionQueue::from_parts(device.parts()) }?;
    Ok(cq.poll_with(8, |_| ()) as u32)
}

#[test]
fn a_ring_that_was_never_initialised_is_refused() {
    const INVALID: (u8, u32) = (0xf0, 0);
    let refused = |slot, opcode| Err(SetupError::WrittenCqe { slot, opcode });
    for ci in [0, 1, 4, 6, 0x00ff_fffc] {
        assert_eq!(adopted(ci, &[(0, 0); 4]), refused((ci + 3) % 4, 0), "zeros, at {ci}");
        assert_eq!(adopted(ci, &[INVALID; 4]), Ok(0));
        assert_eq!(adopted(ci, &[(0xff, u32::MAX); 4]), Ok(0));
        assert_eq!(adopted(ci, &[(0xa5, 0xa5a5_a5a5); 4]), refused((ci + 3) % 4, 0xa));
    }
    // In use: completions of sends, of receives, with errors, pending or of the pass before.
    let (now, before) = ([0x00, 0x20, 0xd0, 0xe0].map(|op_own| (op_own, 7)), [(0x01, 7); 4]);
    assert_eq!(adopted(0, &now), Ok(4));
    assert_eq!(adopted(8, &before), Ok(0));
    assert_eq!(adopted(0, &[now[0], now[1], INVALID, INVALID]), Ok(2));
    assert_eq!(adopted(10, &now), Ok(2));
    assert_eq!(adopted(10, &[(0x21, 7), now[1], now[2], now[3]]), Ok(3), "on into the next pass");
    assert_eq!(adopted(2, &[now[0], now[1], INVALID, INVALID]), Ok(0), "polled");
    // A completion behind one that is missing.
    assert_eq!(adopted(0, &[now[0], INVALID, now[2], INVALID]), refused(1, 0xf));
    assert_eq!(adopted(8, &[before[0], now[1], before[2], before[3]]), refused(0, 0));
    // A send of no queue pair; an opcode that does not exist. The number of a frame received may be 0: it is the flow
    // tag.
    assert_eq!(adopted(0, &[now[0], (0x00, 0), INVALID, INVALID]), refused(1, 0));
    assert_eq!(adopted(0, &[now[0], (0x20, 0), INVALID, INVALID]), Ok(2));
    assert_eq!(adopted(0, &[(0x70, 7), INVALID, INVALID, INVALID]), refused(0, 7));
}
