//! The receive queue of a queue pair.
//!
//! Own queues belong here, shared ones in `shared.rs`.

use blueflame::SetupError;
use std::num::NonZeroU64;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use blueflame::Sge;
use blueflame::cq::CqId;
use blueflame::queue::owning::DeviceBuffer;
use blueflame::queue::recv::RqParts;
use blueflame::queue::{RecvError, RecvQueue, RetireError};
use blueflame::transport::{PlainRecv, SignedRecv};
use blueflame::types::{Qpn, WrId};
use nix::sys::signal::Signal;
use proptest::prelude::*;

use crate::memory::{Memory, POISON, QPN, Step, entries, expected, recv_memory, sge, steps};

fn recv_parts(memory: &mut Memory<u64>, head: u16) -> RqParts {
    RqParts {
        buf: memory.buf(),
        wqe_cnt: memory.wqe_cnt(),
        stride: memory.stride as u32,
        dbrec: memory.record(),
        qpn: Qpn::truncate(QPN),
        cq: CqId::NONE,
        flow_tags: false,
        head,
        shadow: memory.shadow(),
    }
}

fn recv_queue(memory: &mut Memory<u64>, head: u16) -> RecvQueue {
    // SAFETY: the memory outlives the queue in every test, and nobody else uses it.
    unsafe { RecvQueue::from_parts(recv_parts(memory, head)) }.unwrap()
}

#[test]
fn golden_bytes_of_a_receive_wqe() {
    let mut memory = recv_memory(4, 64);
    let mut rq = recv_queue(&mut memory, 0);
    assert_eq!((rq.max_sge(), rq.capacity(), rq.posted()), (4, 4, 0));
    let list = [sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd), sge(7, 0, 7), sge(0x10, 0x7fff_ffff, 0x20)];
    // SAFETY: there is no device.
    unsafe { rq.post_unchecked(WrId(1), &list) }.unwrap();
    #[rustfmt::skip]
    let golden = [
        0x11, 0x22, 0x33, 0x44, 0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
        0x7f, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5,
    ];
    assert_eq!(memory.wqe(0), golden);
    assert_eq!(memory.wqe(1), [0xa5; 64], "the neighbour is untouched");
    assert_eq!((memory.counter(), memory.record[1]), (1, 0xa5a5_a5a5), "word 0 alone is the receive queue's");
}

/// A signature in front (rdma-core `providers/mlx5/qp.c`, `set_sig_seg`), of the WQE's bytes up to as many entries as
/// were given, of the queue pair's number, and of the index.
#[test]
fn golden_bytes_of_a_signed_receive_wqe() {
    let mut memory = recv_memory(4, 64);
    // SAFETY: as in `recv_queue`.
    let mut rq = unsafe { RecvQueue::<SignedRecv>::from_parts(recv_parts(&mut memory, 0x0201)) }.unwrap();
    assert_eq!((rq.max_sge(), rq.capacity(), rq.posted()), (3, 4, 0));
    // SAFETY: there is no device.
    let post = |rq: &mut RecvQueue<SignedRecv>, id: u64, list: &[Sge]| unsafe { rq.post_unchecked(WrId(id), list) };
    post(&mut rq, 7, &[sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd), sge(7, 0, 7)]).unwrap();
    assert_eq!(post(&mut rq, 8, &[sge(1, 1, 1); 4]), Err(RecvError::TooManySges { given: 4, max: 3 }));
    let number = QPN.to_be_bytes().iter().fold(0, |sum, byte| sum ^ byte);
    // The entry's part: 0x11 ^ 0x22 ^ 0x33 ^ 0x44 = 0x44, 0xaa ^ 0xbb ^ 0xcc ^ 0xdd = 0, 1 ^ 2 ^ .. ^ 8 = 8.
    // The part of the end mark, which is the second unit of two: 1. The part of the index: 3.
    let signature = !(0x44 ^ 8 ^ 1 ^ 3 ^ number);
    #[rustfmt::skip]
    let golden = [
        0x00, 0x00, 0x00, 0x00, signature, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x11, 0x22, 0x33, 0x44, 0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];
    assert_eq!(memory.wqe(1), golden);
    assert_eq!(memory.wqe(2), [0xa5; 64], "the neighbour is untouched");
    // Without an empty entry, the end mark is no unit that was given. The part of index 0x0202 is 0.
    post(&mut rq, 6, &[sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd)]).unwrap();
    assert_eq!(memory.wqe(2)[4], !(0x44 ^ 8 ^ number));
    assert_eq!(memory.wqe(2)[16..], golden[16..]);
    for n in 0..2 {
        post(&mut rq, n, &[]).unwrap();
    }
    assert_eq!(post(&mut rq, 9, &[]), Err(RecvError::Full(4)));
    // SAFETY: there is no device.
    assert_eq!(unsafe { rq.retire_index(0x0201) }, Ok(WrId(7)));
    assert_eq!(post(&mut rq, 9, &[]), Ok(()));
}

#[test]
fn bad_requests_leave_no_trace() {
    let mut memory = recv_memory(2, 32);
    let mut rq = recv_queue(&mut memory, 0);
    let one = sge(1, 1, 1);
    // SAFETY: there is no device, here and below.
    let post = |rq: &mut RecvQueue, list: &[Sge]| unsafe { rq.post_unchecked(WrId(9), list) };
    assert_eq!(post(&mut rq, &[one; 3]), Err(RecvError::TooManySges { given: 3, max: 2 }));
    assert_eq!(post(&mut rq, &[one, sge(0, 1 << 31, 0)]), Err(RecvError::SgeTooLong(1 << 31)));
    assert_eq!(memory.ring, [POISON; 4]);
    assert_eq!(memory.counter(), 0xa5a5_a5a5);
    // SAFETY: there is no device.
    let retired = unsafe { rq.retire_index(0) };
    assert_eq!(retired, Err(RetireError::NotOutstanding { wqe_counter: 0, oldest: 0, next: 0 }));
    post(&mut rq, &[one]).unwrap();
    post(&mut rq, &[one]).unwrap();
    let before = memory.ring.clone();
    assert_eq!(post(&mut rq, &[sge(2, 2, 2)]), Err(RecvError::Full(2)));
    assert_eq!(memory.ring, before);
    assert_eq!(memory.counter(), 2);
}

#[test]
fn a_batch_is_told_once_or_not_at_all() {
    let mut memory = recv_memory(8, 16);
    let mut rq = recv_queue(&mut memory, 0xfffe);
    // SAFETY: there is no device, here and below.
    let push = |batch: &mut blueflame::queue::recv::RecvBatch<'_>, id| unsafe {
        batch.push_unchecked(WrId(id), &[sge(id, 1, 1)])
    };
    let mut dropped = rq.batch();
    push(&mut dropped, 1).unwrap();
    drop(dropped);
    assert_eq!((rq.posted(), memory.counter()), (0, 0xa5a5_a5a5));
    rq.batch().ring_doorbell();
    assert_eq!(memory.counter(), 0xa5a5_a5a5, "an empty batch tells nothing");
    let mut batch = rq.batch();
    for id in 10..13 {
        push(&mut batch, id).unwrap();
        assert_eq!(memory.counter(), 0xa5a5_a5a5);
    }
    batch.ring_doorbell();
    assert_eq!(memory.counter(), 1, "0xfffe + 3, 16 bits");
    assert_eq!(rq.posted(), 3);
    // SAFETY: there is no device.
    let mut retire = |index| unsafe { rq.retire_index(index) };
    for wqe_counter in [1, 2, 0x8000, 0xfffd] {
        assert_eq!(retire(wqe_counter), Err(RetireError::NotOutstanding { wqe_counter, oldest: 0xfffe, next: 1 }));
    }
    for (index, id) in [(0xfffe, 10), (0xffff, 11), (0, 12)] {
        assert_eq!(retire(index), Ok(WrId(id)));
        assert!(retire(index).is_err(), "reported twice");
    }
    assert_eq!(retire(1), Err(RetireError::NotOutstanding { wqe_counter: 1, oldest: 1, next: 1 }));
}

#[test]
fn a_receive_done_early_keeps_its_place_until_the_older_ones_are_done() {
    let mut memory = recv_memory(4, 16);
    let mut rq = recv_queue(&mut memory, 0xfffe);
    // SAFETY: there is no device, here and below.
    let post = |rq: &mut RecvQueue, id| unsafe { rq.post_unchecked(WrId(id), &[sge(id, 1, 1)]) };
    // SAFETY: there is no device.
    let retire = |rq: &mut RecvQueue, index| unsafe { rq.retire_index(index) };
    for id in [u64::MAX, 0, 12, 13] {
        post(&mut rq, id).unwrap();
    }
    assert_eq!(retire(&mut rq, 0), Ok(WrId(12)));
    assert_eq!(retire(&mut rq, 0), Err(RetireError::CompletedTwice { wqe_counter: 0 }));
    assert_eq!(retire(&mut rq, 0xffff), Ok(WrId(0)));
    assert_eq!(rq.posted(), 2);
    let ring = memory.ring.clone();
    assert_eq!(post(&mut rq, 14), Err(RecvError::Full(4)), "the oldest holds the others' places");
    assert_eq!(memory.ring, ring);
    assert_eq!(retire(&mut rq, 0xfffe), Ok(WrId(u64::MAX)));
    for wqe_counter in [0xfffe, 0xffff, 0] {
        let gone = RetireError::NotOutstanding { wqe_counter, oldest: 1, next: 2 };
        assert_eq!(retire(&mut rq, wqe_counter), Err(gone), "its place is free");
    }
    for id in 14..17 {
        post(&mut rq, id).unwrap();
    }
    assert_eq!(post(&mut rq, 17), Err(RecvError::Full(4)));
    for (index, id) in [(1, 13), (2, 14), (3, 15), (4, 16)] {
        assert_eq!(retire(&mut rq, index), Ok(WrId(id)), "in order again");
    }
    assert_eq!(rq.posted(), 0);
}

#[test]
fn any_place_of_a_large_ring_can_be_done_early() {
    let mut memory = recv_memory(256, 16);
    let mut rq = recv_queue(&mut memory, 0xff80);
    for id in 0..256 {
        // SAFETY: there is no device, nor below.
        unsafe { rq.post_unchecked(WrId(id), &[]) }.unwrap();
    }
    for id in (0..256).rev() {
        // SAFETY: there is no device.
        assert_eq!(unsafe { rq.retire_index(0xff80_u16.wrapping_add(id)) }, Ok(WrId(id.into())));
        assert_eq!(rq.posted(), u32::from(id));
    }
}

#[test]
fn a_window_counts_outstanding_receives_where_the_ring_is_larger() {
    let mut memory = recv_memory(4, 16);
    let mut rq = recv_queue(&mut memory, 0);
    rq.set_depth(2);
    // SAFETY: there is no device, here and below.
    let post = |rq: &mut RecvQueue| unsafe { rq.post_unchecked(WrId(1), &[]) };
    // SAFETY: there is no device.
    let retire = |rq: &mut RecvQueue, index| unsafe { rq.retire_index(index) };
    for (held, done) in [(0, 1), (1, 2)] {
        while rq.posted() < 2 {
            post(&mut rq).unwrap();
        }
        assert_eq!(post(&mut rq), Err(RecvError::Full(2 + held)));
        retire(&mut rq, done).unwrap();
    }
    post(&mut rq).unwrap();
    retire(&mut rq, 3).unwrap();
    assert_eq!((rq.posted(), post(&mut rq)), (1, Err(RecvError::Full(4))), "the ring's end");
    // SAFETY: there is no device.
    unsafe { rq.reset() };
    for index in 0..4 {
        post(&mut rq).unwrap();
        retire(&mut rq, index).expect("nothing of what was done before the reset is left");
    }
}

#[test]
fn parts_that_cannot_be_are_refused() {
    let mut memory = recv_memory(4, 64);
    let parts = recv_parts(&mut memory, 0);
    // SAFETY: refused before anything is touched.
    let build = |parts| unsafe { RecvQueue::<PlainRecv>::from_parts(parts) }.err();
    // SAFETY: refused before anything is touched.
    let signed = unsafe { RecvQueue::<SignedRecv>::from_parts(RqParts { stride: 16, ..parts }) };
    let stride_of = |stride: u32, min| SetupError::NotPowerOfTwo {
        what: "bytes of a WQE of a receive queue",
        value: stride.into(),
        min,
        max: 4096,
    };
    assert_eq!(signed.err(), Some(stride_of(16, 32)), "no room for an entry");
    for wqe_cnt in [3, 65536] {
        let (what, value) = ("WQEs of a receive queue", wqe_cnt.into());
        let refused = SetupError::NotPowerOfTwo { what, value, min: 1, max: 1 << 15 };
        assert_eq!(build(RqParts { wqe_cnt, ..parts }), Some(refused));
    }
    for stride in [0, 8, 48, 8192] {
        assert_eq!(build(RqParts { stride, ..parts }), Some(stride_of(stride, 16)));
    }
    let misaligned = |what, address, alignment| SetupError::Misaligned { what, address, alignment };
    // SAFETY: within the buffers.
    let (buf, dbrec, shadow) = unsafe { (parts.buf.add(8), parts.dbrec.byte_add(2), parts.shadow.byte_add(1)) };
    assert_eq!(build(RqParts { buf, ..parts }), Some(misaligned("ring of a receive queue", buf.addr().get(), 16)));
    assert_eq!(
        build(RqParts { dbrec, ..parts }),
        Some(misaligned("doorbell record of a receive queue", dbrec.addr().get(), 4))
    );
    assert_eq!(
        build(RqParts { shadow, ..parts }),
        Some(misaligned("private memory of a receive queue", shadow.addr().get(), 8))
    );
}

/// Receives of its queue pair come from a shared queue.
#[test]
fn a_queue_without_a_ring_is_always_full() {
    let mut memory = recv_memory(4, 64);
    let parts = RqParts { buf: memory.record().cast(), wqe_cnt: 0, stride: 0, ..recv_parts(&mut memory, 0) };
    // SAFETY: as in `recv_queue`.
    let mut rq = unsafe { RecvQueue::<PlainRecv>::from_parts(parts) }.unwrap();
    assert_eq!((rq.capacity(), rq.posted(), rq.ring_addr()), (0, 0, memory.record().addr().get()));
    rq.set_depth(7);
    for list in [&[][..], &[sge(1, 1, 1)]] {
        // SAFETY: refused.
        assert_eq!(unsafe { rq.post_unchecked(WrId(1), list) }, Err(RecvError::Full(0)));
    }
    // SAFETY: refused.
    assert!(unsafe { rq.retire_index(0) }.is_err());
    assert_eq!(memory.counter(), 0xa5a5_a5a5, "nothing is written");
    // SAFETY: there is no device.
    unsafe { rq.reset() };
    assert_eq!((memory.counter(), memory.wqe(0), rq.posted()), (0, vec![0xa5; 64], 0));
}

/// Panics when it is dropped.
struct Bomb(NonZeroU64);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a buffer");
    }
}

// SAFETY: it names no memory.
unsafe impl DeviceBuffer for Bomb {
    fn sge(&self) -> Sge {
        sge(0, 0, 0)
    }

    fn into_wr_id(self) -> NonZeroU64 {
        std::mem::ManuallyDrop::new(self).0
    }

    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self {
        Self(wr_id)
    }
}

/// If the program could go on, completions from before the reset would hand out buffers of the device's.
#[test]
fn a_buffer_that_panics_in_a_reset_ends_the_process() {
    const NAME: &str = "own::a_buffer_that_panics_in_a_reset_ends_the_process";
    const CHILD: &str = "BLUEFLAME_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let mut memory = recv_memory(4, 64);
        let mut rq = recv_queue(&mut memory, 0).posting::<Bomb>().expect("nothing is posted");
        rq.post(Bomb(NonZeroU64::MIN)).map_err(std::mem::forget).expect("room");
        // SAFETY: there is no device.
        return unsafe { rq.reset() };
    }
    let child =
        Command::new(std::env::current_exe().expect("this program")).args(["--exact", NAME]).env(CHILD, "1").output();
    let child = child.expect("it starts");
    assert_eq!(child.status.signal(), Some(Signal::SIGABRT as i32), "{child:?}");
}

#[test]
fn the_largest_ring_and_the_largest_wqes_are_accepted() {
    for (wqe_cnt, stride) in [(32768, 16), (1, 4096)] {
        let mut memory = recv_memory(wqe_cnt, stride);
        let rq = recv_queue(&mut memory, 0);
        let expected = (wqe_cnt, stride as usize / 16, memory.buf().addr().get());
        assert_eq!((rq.capacity(), rq.max_sge(), rq.ring_addr()), expected);
    }
}

proptest! {
    #[test]
    fn a_receive_queue_takes_completions_in_any_order(
        steps in steps(), log in 0_u32..8, window in 1_u32..200, head: u16, in_order in 0_u8..3,
    ) {
        let mut memory = recv_memory(1 << log, 64);
        let mut rq = recv_queue(&mut memory, head);
        rq.set_depth(window);
        // The requests from the oldest outstanding one on, whose index is `oldest`; no tag if it is done.
        let mut model = std::collections::VecDeque::new();
        let (mut oldest, mut counter) = (head, head);
        let mut id = 0;
        for step in steps {
            match step {
                Step::Post(requests, ring) => {
                    let mut added = Vec::new();
                    let mut batch = rq.batch();
                    for lengths in &requests {
                        id += 1;
                        let list = entries(id, lengths);
                        let held = (model.len() + added.len()) as u32;
                        let outstanding = (model.iter().flatten().count() + added.len()) as u32;
                        let window = window.min(1 << log);
                        // SAFETY: there is no device.
                        let pushed = unsafe { batch.push_unchecked(WrId(id), &list) };
                        if held == 1 << log || outstanding >= window {
                            prop_assert_eq!(pushed, Err(RecvError::Full(held)));
                        } else {
                            prop_assert_eq!(pushed, Ok(()));
                            added.push((id, list));
                        }
                    }
                    if ring {
                        batch.ring_doorbell();
                        for (id, list) in added {
                            let index = usize::from(counter) & ((1 << log) - 1);
                            let bytes = memory.wqe(index);
                            let want = expected(&list, 4);
                            let used = list.iter().filter(|entry| entry.length != 0).count().min(3) * 16 + 16;
                            prop_assert_eq!(&bytes[..used], &want[..used]);
                            model.push_back(Some(WrId(id)));
                            counter = counter.wrapping_add(1);
                        }
                    }
                }
                Step::Complete(which) | Step::Hostile(which) => {
                    // Near the posted ones, or (`Hostile`) anywhere; mostly in order in a third of the runs.
                    let near = if in_order == 0 && which % 8 != 0 { 0 } else { which % (model.len() as u16 + 2) };
                    let index = if matches!(step, Step::Complete(_)) { oldest.wrapping_add(near) } else { which };
                    // SAFETY: there is no device.
                    let retired = unsafe { rq.retire_index(index) };
                    let place = model.get_mut(usize::from(index.wrapping_sub(oldest)));
                    prop_assert_eq!(retired, match place.map(Option::take) {
                        Some(Some(wr_id)) => Ok(wr_id),
                        Some(None) => Err(RetireError::CompletedTwice { wqe_counter: index }),
                        None => Err(RetireError::NotOutstanding { wqe_counter: index, oldest, next: counter }),
                    });
                    while model.front() == Some(&None) {
                        model.pop_front();
                        oldest = oldest.wrapping_add(1);
                    }
                }
            }
            prop_assert_eq!(rq.posted() as usize, model.iter().flatten().count());
            if counter != head {
                prop_assert_eq!(memory.counter(), u32::from(counter));
            }
        }
    }
}
