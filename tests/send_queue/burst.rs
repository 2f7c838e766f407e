//! Bursts against batches of the same requests: the same bytes, indices and tags. And the limits of a burst.
//!
//! Bursts belong here. The bytes of requests belong in `golden.rs`, those of batches in `properties.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use blueflame::queue::{Done, PostError, SendQueue};
use blueflame::transport::{RawPacket, Rc, Transport};
use blueflame::types::{SqPi, Wqebbs, WrId};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, EncodeError, Request, Sge, SupportedOn};

use crate::requests::{LOCAL, REMOTE};
use crate::rig::{OLD, Rig, Setup};

/// A way to post the requests 0, 1, 2, …
#[derive(Clone, Copy, Debug)]
enum Way {
    Batch,
    /// Some by one, the rest by `fill`.
    Burst(usize),
}

/// Posts `n` requests, and retires each. The ring, the record, the register, and the tags.
fn posted<'d, T: Transport, O: SupportedOn<T>, D: Data>(
    way: Way,
    n: usize,
    setup: Setup,
    request: impl Fn(usize) -> Request<'d, O, D>,
) -> (Vec<u8>, [[u8; 4]; 2], Vec<u8>, Vec<Done>) {
    let rig = Rig::new(setup);
    let mut sq: SendQueue<T> = rig.queue();
    // SAFETY: no device looks, nor below.
    unsafe {
        match way {
            Way::Batch => {
                let mut batch = sq.batch();
                for n in 0..n {
                    batch.push_unchecked(&request(n)).expect("room");
                }
                batch.ring_doorbell();
            }
            Way::Burst(pushed) => {
                let mut burst = sq.batch_of(n).expect("room");
                for n in 0..pushed {
                    burst.push_unchecked(&request(n)).expect("room");
                }
                assert_eq!((burst.len(), burst.is_empty()), (pushed, pushed == 0));
                burst.fill_unchecked(|n| request(pushed + n)).expect("the size of the type");
                assert_eq!(burst.len(), n);
                let full = burst.push_unchecked(&request(0));
                assert!(matches!(full, Err(PostError::Full { free: Wqebbs(0), .. })), "{full:?}");
                burst.ring_doorbell();
            }
        }
    }
    let each = sq.pi().since(SqPi(setup.pi)).0 / n as u16;
    let retired = (0..n as u16).map(|n| setup.pi.wrapping_add(n * each));
    // SAFETY: no device looks.
    let retired = retired.map(|at| unsafe { sq.retire_index(at) }.expect("outstanding")).collect();
    (rig.ring(), rig.dbrec(), rig.page().to_vec(), retired)
}

fn same<'d, T: Transport, O: SupportedOn<T>, D: Data>(
    n: usize,
    pushed: usize,
    setup: Setup,
    request: impl Fn(usize) -> Request<'d, O, D>,
) {
    let expected = posted::<T, O, D>(Way::Batch, n, setup, &request);
    assert!(posted::<T, O, D>(Way::Burst(pushed), n, setup, &request) == expected, "{n}, {pushed} pushed, {setup:?}");
}

proptest! {
    #[test]
    fn a_burst_is_a_batch(n in 1..17_usize, pushed in 0..17_usize, pi in any::<u16>(), signal_all in any::<bool>()) {
        let (setup, pushed) = (Setup { wqebbs: 32, pi, signal_all, ..Setup::default() }, pushed.min(n));
        let data: Vec<[u8; 60]> = (0..n).map(|n| [n as u8; 60]).collect();
        let place = |n: usize| REMOTE.at(64 * n as u64);
        let tag = |n: usize| WrId(1 << 40 | n as u64);
        // One WQEBB, signalled or not.
        let small = |n: usize| data[n].first_chunk::<8>().expect("60 bytes");
        same::<Rc, _, _>(n, pushed, setup, |n| wqe::write(place(n)).inline(small(n)).signaled_if(n % 3 == 0, tag(n)));
        same::<Rc, _, _>(n, pushed, setup, |n| wqe::write(place(n)).gather([LOCAL]).wr_id(tag(n)));
        // Two, around the ring's end.
        same::<Rc, _, _>(n, pushed, setup, |n| wqe::write(place(n)).inline(&data[n]).signaled(tag(n)));
        same::<RawPacket<0>, _, _>(n, pushed, setup, |n| wqe::frame().inline(&data[n]).signaled(tag(n)));
        same::<RawPacket, _, _>(n, pushed, setup, |n| {
            let headers = data[n].first_chunk::<18>().expect("60 bytes");
            wqe::frame().inline_headers(headers).gather([LOCAL]).l3_checksum().signaled(tag(n))
        });
    }
}

#[test]
fn the_limits_of_a_burst_are_named() {
    let rig = Rig::new(Setup { wqebbs: 8, max_inline: 8, max_sge: 1, ..Setup::default() });
    let mut sq = rig.queue::<Rc>();
    let small = wqe::write(REMOTE).inline(&[1; 8]);
    let mut begin = |n| sq.batch_of(n).map(|mut burst| burst.push(&small)).err();
    assert_eq!(begin(9), Some(PostError::LargerThanRing { needed: Wqebbs(9), ring: 8 }));
    assert_eq!(begin(usize::MAX), Some(PostError::LargerThanRing { needed: Wqebbs(u16::MAX), ring: 8 }));
    assert_eq!(begin(8), None);
    sq.post(&wqe::nop()).expect("room");
    let full = sq.batch_of(8).map(|mut burst| burst.push(&small)).err();
    assert_eq!(full, Some(PostError::Full { needed: Wqebbs(8), free: Wqebbs(7) }));

    let before = rig.ring();
    let long = sq.batch_of(1).map(|mut burst| burst.push(&wqe::send().inline(&[1; 9]))).err();
    assert_eq!(long, Some(EncodeError::InlineTooLong { bytes: 9, limit: 8 }.into()));
    // SAFETY: no device looks, nor below.
    let two = sq.batch_of(1).map(|mut burst| unsafe { burst.push_unchecked(&wqe::send().gather([LOCAL; 2])) }).err();
    assert_eq!(two, Some(EncodeError::TooManySges { count: 2, limit: 1 }.into()));
    let both = wqe::send().inline(&[1; 9]).then_gather([LOCAL]);
    // SAFETY: no device looks.
    let long = sq.batch_of(1).map(|mut burst| unsafe { burst.push_unchecked(&both) }).err();
    assert_eq!(long, Some(EncodeError::InlineTooLong { bytes: 9, limit: 8 }.into()));
    let mut burst = sq.batch_of(3).expect("room");
    // SAFETY: no device looks.
    let mut push = |length| unsafe { burst.push_unchecked(&wqe::send().gather([Sge { length, ..LOCAL }])) };
    assert_eq!(push(0), Err(EncodeError::EmptySge.into()));
    assert_eq!(push(1 << 31), Err(EncodeError::SgeTooLong { bytes: 1 << 31, limit: i32::MAX as u32 }.into()));
    assert_eq!(rig.ring(), before, "nothing was written");

    // A refusal in the middle leaves room for the rest.
    let entry = |n| Sge { length: if n == 1 { 0 } else { 5 }, ..LOCAL };
    // SAFETY: no device looks.
    let filled = unsafe { burst.fill_unchecked(|n| wqe::send().gather([entry(n)])) };
    assert_eq!((filled, burst.len()), (Err(EncodeError::EmptySge.into()), 1));
    // SAFETY: no device looks.
    unsafe { burst.fill_unchecked(|_| wqe::send().gather([LOCAL])) }.expect("room");
    assert_eq!(burst.len(), 3);
    burst.ring_doorbell();
    assert_eq!(sq.pi(), SqPi(4));
}

#[test]
fn requests_without_memory_of_this_side_need_no_promise() {
    let (rig, expected) = (Rig::new(Setup::default()), Rig::new(Setup::default()));
    let data = [*b"one", *b"two", *b"six"];
    let request = |n: usize| wqe::send().inline(&data[n]).signaled(WrId(n as u64));
    let (mut sq, mut other) = (rig.queue::<Rc>(), expected.queue::<Rc>());
    let mut burst = sq.batch_of(3).expect("room");
    burst.push(&request(0)).expect("room");
    burst.fill(|n| request(1 + n)).expect("the size of the type");
    burst.ring_doorbell();
    let mut batch = other.batch();
    for n in 0..3 {
        batch.push(&request(n)).expect("room");
    }
    batch.ring_doorbell();
    assert_eq!((sq.pi(), rig.ring(), rig.dbrec()), (SqPi(3), expected.ring(), expected.dbrec()));
}

#[test]
fn a_burst_that_is_dropped_or_empty_posts_nothing() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<Rc>();
    let mut burst = sq.batch_of(2).expect("room");
    burst.push(&wqe::send().inline(b"not sent")).expect("room");
    drop(burst);
    let mut burst = sq.batch_of(0).expect("room");
    burst.fill(|_| wqe::send().inline(b"not sent")).expect("nothing to do");
    burst.ring_doorbell();
    assert_eq!((sq.pi(), rig.dbrec()), (SqPi(0), [[OLD; 4]; 2]));
    sq.set_depth(Wqebbs(0)).expect("nothing is outstanding");
    let refused = sq.batch_of(1).map(|mut burst| burst.push(&wqe::send().inline(b"not sent"))).err();
    assert_eq!(refused, Some(PostError::NotReadyToSend));
}

#[test]
fn a_fill_that_panics_gives_no_room_twice() {
    let rig = Rig::new(Setup::default());
    let mut sq: SendQueue<Rc> = rig.queue();
    let depth = sq.depth();
    let mut burst = sq.batch_of(usize::from(depth.0)).expect("room");
    let fill = || burst.fill(|n| if n == 5 { panic!("of the test") } else { wqe::nop() });
    assert!(catch_unwind(AssertUnwindSafe(fill)).is_err());
    burst.fill(|_| wqe::nop()).expect("nothing to put");
    assert_eq!(burst.len(), 5);
    burst.ring_doorbell();
    assert_eq!(sq.free(), Wqebbs(depth.0 - 5));
}
