//! A queue moves to another ring. It takes waiting completions along, and the device goes on there. If the device does
//! not do its part, the call says so.
//!
//! Rings in memory belong here, libmlx5's resizing in `tests/differential/resize.rs`.

use blueflame::SetupError;
use blueflame::cq::CompletionQueue;
use blueflame::cq::mode::{OncePerCall, PollMode, Prefetch, Standard};
use blueflame::cq::setup::mark_unwritten;

use crate::device::{Device, nth};

/// The CQE that ends a ring.
const RESIZE: u8 = 0x50;

/// A new ring for what `old` has written so far.
fn fresh(old: &Device, cqe_cnt: u32) -> Device {
    let mut fresh = Device::new(cqe_cnt, old.cqe_size, 0);
    // Memory of zeros, which would be completions.
    (0..cqe_cnt).for_each(|slot| fresh.cqe(slot)[63] = 0);
    // SAFETY: a ring of this size, which nobody else has.
    unsafe { mark_unwritten(fresh.parts().buf, cqe_cnt, old.cqe_size) };
    fresh.pi = old.pi;
    fresh
}

fn carry<M: PollMode<Compression = ()>>(queue: &mut CompletionQueue<M>, to: &mut Device) -> Result<u32, SetupError> {
    // SAFETY: the ring lives as long as the queue is used; the test's device writes there from now on.
    unsafe { queue.carry_over(to.parts().buf, to.cqe_cnt) }
}

/// All that can be polled, by number.
fn drain<M: PollMode<Compression = ()>>(queue: &mut CompletionQueue<M>) -> Vec<u32> {
    let mut seen = Vec::new();
    queue.poll_with(1000, |cqe| seen.push(cqe.byte_len()));
    seen
}

/// From rings of any size to any other, twice, with any number of completions polled and waiting.
fn moves<M: PollMode<Compression = ()>>() {
    for (old, new, first) in
        (0..5).flat_map(|a| (0..5).flat_map(move |b| [0, 5, 0x00ff_fff0].map(|c| (1 << a, 1 << b, c))))
    {
        for (cqe_bytes, polled, waiting) in [64, 128].into_iter().flat_map(|size| {
            (0..old + 2).flat_map(move |polled| (0..old.min(new + 1)).map(move |waiting| (size, polled, waiting)))
        }) {
            let mut device = Device::new(old, cqe_bytes, first);
            let mut queue = device.queue::<M>();
            for n in 0..polled {
                nth(&mut device, n);
                assert_eq!(drain(&mut queue), [n]);
            }
            (polled..polled + waiting).for_each(|n| nth(&mut device, n));
            device.complete(RESIZE, |_| ());
            let mut other = fresh(&device, new);
            // The device may have gone on already.
            let mut next = polled + waiting;
            if waiting < new {
                nth(&mut other, next);
                next += 1;
            }
            assert_eq!(carry(&mut queue, &mut other), Ok(waiting), "{old} to {new}, {polled} polled");
            assert_eq!(queue.capacity(), new);
            let told = (first + polled + 1) & 0x00ff_ffff;
            assert_eq!((queue.consumer_index().get(), device.record_words()[0]), (told, told));
            let expected: Vec<u32> = (polled..next).collect();
            assert_eq!(
                drain(&mut queue),
                expected,
                "{old} to {new} of {cqe_bytes} bytes, {polled} polled of {waiting}"
            );
            for n in next..next + 2 * new + 1 {
                nth(&mut other, n);
                assert_eq!(drain(&mut queue), [n]);
            }
            // And back, with nothing that waits.
            other.complete(RESIZE, |_| ());
            let mut back = fresh(&other, old);
            assert_eq!(carry(&mut queue, &mut back), Ok(0));
            assert_eq!(drain(&mut queue), []);
            nth(&mut back, 7);
            assert_eq!(drain(&mut queue), [7]);
        }
    }
}

#[test]
fn nothing_is_lost_between_rings() {
    moves::<Standard>();
    moves::<OncePerCall<Prefetch>>();
}

#[test]
fn all_of_a_wide_cqe_is_carried_over() {
    let mut device = Device::new(4, 128, 0);
    let mut queue = device.queue::<Standard>();
    device.first_half(0).copy_from_slice(&[7; 64]);
    // A receive of 64 bytes, which are in the first half.
    device.complete(0x28, |cqe| crate::device::put32(cqe, 44, 64));
    device.complete(RESIZE, |_| ());
    let mut other = fresh(&device, 8);
    assert_eq!(carry(&mut queue, &mut other), Ok(1));
    let mut bytes = [0; 64];
    queue.poll_with(1, |cqe| assert_eq!(cqe.copy_inline(&mut bytes), Ok(64)));
    assert_eq!(bytes, [7; 64]);
}

#[test]
fn a_device_that_does_not_do_its_part_is_told() {
    for waiting in 0..4 {
        let mut device = Device::new(4, 64, 0x00ff_fffe);
        let mut queue = device.queue::<Standard>();
        (0..waiting).for_each(|n| nth(&mut device, n));
        let mut other = fresh(&device, 8);
        assert_eq!(carry(&mut queue, &mut other), Err(SetupError::RingNotEnded { carried: waiting }));
        assert_eq!(drain(&mut queue), (0..waiting).collect::<Vec<_>>());
        assert_eq!(drain(&mut queue), []);
    }
    // A ring that is full of completions has no end.
    let mut device = Device::new(4, 64, 0);
    let mut queue = device.queue::<Standard>();
    (0..4).for_each(|n| nth(&mut device, n));
    let mut other = fresh(&device, 8);
    assert_eq!(carry(&mut queue, &mut other), Err(SetupError::RingNotEnded { carried: 4 }));

    let mut device = Device::new(8, 64, 0);
    let mut queue = device.queue::<Standard>();
    (0..5).for_each(|n| nth(&mut device, n));
    device.complete(RESIZE, |_| ());
    let mut other = fresh(&device, 4);
    assert_eq!(carry(&mut queue, &mut other), Err(SetupError::RingTooSmall { carried: 4 }));
    assert_eq!(queue.poll_with(100, |_| ()), 4);
}

#[test]
fn a_ring_that_cannot_be_is_refused_before_anything_happens() {
    let mut device = Device::new(8, 128, 3);
    let mut queue = device.queue::<Standard>();
    nth(&mut device, 1);
    let mut other = fresh(&device, 8);
    let buf = other.parts().buf;
    for count in [0, 3, 1 << 24] {
        // SAFETY: a number of CQEs that is refused before the ring is used.
        let refused = unsafe { queue.carry_over(buf, count) };
        let (what, value) = ("CQEs of a completion queue", count.into());
        assert_eq!(refused, Err(SetupError::NotPowerOfTwo { what, value, min: 1, max: 1 << 23 }));
    }
    assert_eq!(queue.check_ring(buf, 1 << 23), Ok(()), "the largest");
    // SAFETY: inside of the other ring; refused before the ring is used.
    let refused = unsafe { queue.carry_over(buf.add(64), 4) };
    let (what, address) = ("ring of a completion queue", buf.addr().get() + 64);
    assert_eq!(refused, Err(SetupError::Misaligned { what, address, alignment: 128 }));
    assert_eq!((queue.capacity(), drain(&mut queue)), (8, vec![1]));
}
