//! Receive queues against expected bytes, from poisoned memory, over many wraps and against hostile completions.
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::queue::{
    RecvError, RecvPartsError, RecvQueue, RetireError, RqParts, SharedRecvQueue, SrqParts, SrqRecord,
};
use blueflame::types::{Lkey, Qpn, Srqn, WrId};
use proptest::prelude::*;

const QPN: u32 = 0x12_3456;
const POISON: u128 = 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5;

/// The memory of a queue: ring, doorbell record, private tags.
struct Memory<T> {
    ring: Vec<u128>,
    record: Box<[u32; 2]>,
    shadow: Box<[MaybeUninit<T>]>,
    stride: usize,
}

impl<T> Memory<T> {
    fn new(wqe_cnt: u32, stride: u32, shadow_len: u32) -> Self {
        Self {
            ring: vec![POISON; (wqe_cnt * stride / 16) as usize],
            record: Box::new([0xa5a5_a5a5; 2]),
            shadow: Box::new_uninit_slice(shadow_len as usize),
            stride: stride as usize,
        }
    }

    fn wqe_cnt(&self) -> u32 {
        (self.ring.len() * 16 / self.stride) as u32
    }

    fn buf(&mut self) -> NonNull<u8> {
        NonNull::new(self.ring.as_mut_ptr()).unwrap().cast()
    }

    fn record(&mut self) -> NonNull<u32> {
        NonNull::from(&mut self.record[0])
    }

    fn shadow(&mut self) -> NonNull<MaybeUninit<T>> {
        NonNull::new(self.shadow.as_mut_ptr()).unwrap()
    }

    /// The bytes of one WQE, as the device would fetch them.
    fn wqe(&self, index: usize) -> Vec<u8> {
        // SAFETY: a plain copy of the ring's bytes; the queue under test is not running.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.ring.as_ptr().cast::<u8>(), std::mem::size_of_val(&self.ring[..]))
        };
        bytes[index * self.stride..][..self.stride].to_vec()
    }

    fn counter(&self) -> u32 {
        // SAFETY: the record is a live word; volatile because the queue writes it through a pointer.
        u32::from_be(unsafe { (&raw const self.record[0]).read_volatile() })
    }
}

fn recv_memory(wqe_cnt: u32, stride: u32) -> Memory<u64> {
    Memory::new(wqe_cnt, stride, RqParts::shadow_words(wqe_cnt))
}

fn recv_queue(memory: &mut Memory<u64>, head: u16) -> RecvQueue {
    let parts = RqParts {
        buf: memory.buf(),
        wqe_cnt: memory.wqe_cnt(),
        stride: memory.stride as u32,
        dbrec: memory.record(),
        qpn: Qpn::truncate(QPN),
        head,
        shadow: memory.shadow(),
    };
    // SAFETY: the memory outlives the queue in every test, and nobody else uses it.
    unsafe { RecvQueue::from_parts(parts) }.unwrap()
}

fn sge(addr: u64, bytes: u32, lkey: u32) -> Sge {
    Sge { addr, length: bytes, lkey: Lkey(lkey) }
}

/// What libmlx5 writes for these entries into a WQE of `max`, on poisoned memory (`providers/mlx5/qp.c`).
fn expected(entries: &[Sge], max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries.iter().filter(|entry| entry.length != 0) {
        bytes.extend(entry.length.to_be_bytes());
        bytes.extend(entry.lkey.0.to_be_bytes());
        bytes.extend(entry.addr.to_be_bytes());
    }
    if bytes.len() < max * 16 {
        bytes.extend([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    bytes.resize(max * 16, 0xa5);
    bytes
}

#[test]
fn golden_bytes_of_a_receive_wqe() {
    let mut memory = recv_memory(4, 64);
    let mut rq = recv_queue(&mut memory, 0);
    assert_eq!((rq.max_sge(), rq.capacity(), rq.posted()), (4, 4, 0));
    let list = [sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd), sge(7, 0, 7), sge(0x10, 0x7fff_ffff, 0x20)];
    // SAFETY: there is no device.
    unsafe { rq.post(WrId(1), &list) }.unwrap();
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

#[test]
fn bad_requests_leave_no_trace() {
    let mut memory = recv_memory(2, 32);
    let mut rq = recv_queue(&mut memory, 0);
    let one = sge(1, 1, 1);
    // SAFETY: there is no device, here and below.
    let post = |rq: &mut RecvQueue, list: &[Sge]| unsafe { rq.post(WrId(9), list) };
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
    let push = |batch: &mut blueflame::queue::RecvBatch<'_>, id| unsafe { batch.push(WrId(id), &[sge(id, 1, 1)]) };
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
    let post = |rq: &mut RecvQueue, id| unsafe { rq.post(WrId(id), &[sge(id, 1, 1)]) };
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
fn a_window_counts_outstanding_receives_where_the_ring_is_larger() {
    let mut memory = recv_memory(4, 16);
    let mut rq = recv_queue(&mut memory, 0);
    rq.set_window(2);
    // SAFETY: there is no device, here and below.
    let post = |rq: &mut RecvQueue| unsafe { rq.post(WrId(1), &[]) };
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
    let parts = RqParts {
        buf: memory.buf(),
        wqe_cnt: 4,
        stride: 64,
        dbrec: memory.record(),
        qpn: Qpn::truncate(QPN),
        head: 0,
        shadow: memory.shadow(),
    };
    // SAFETY: refused before anything is touched.
    let build = |parts| unsafe { RecvQueue::from_parts(parts) }.err();
    for wqe_cnt in [0, 3, 65536] {
        assert_eq!(build(RqParts { wqe_cnt, ..parts }), Some(RecvPartsError::WqeCount(wqe_cnt)));
    }
    for stride in [0, 8, 48, 8192] {
        assert_eq!(build(RqParts { stride, ..parts }), Some(RecvPartsError::Stride(stride)));
    }
    // SAFETY: within the buffers.
    let (buf, dbrec) = unsafe { (parts.buf.add(8), parts.dbrec.byte_add(2)) };
    assert_eq!(build(RqParts { buf, ..parts }), Some(RecvPartsError::BufferAlignment(buf.addr().get())));
    assert_eq!(build(RqParts { dbrec, ..parts }), Some(RecvPartsError::RecordAlignment(dbrec.addr().get())));
}

/// Links the free list as libmlx5 does (`providers/mlx5/srq.c`, `set_srq_buf_ll`): every WQE to the next.
fn link(memory: &mut Memory<SrqRecord>, from: u16, to: u16) {
    let at = usize::from(from) * memory.stride + 2;
    let bytes = memory.ring.as_mut_ptr().cast::<u8>();
    for (i, byte) in to.to_be_bytes().into_iter().enumerate() {
        // SAFETY: within the ring; the queue under test holds no references.
        unsafe { bytes.add(at + i).write(byte) };
    }
}

fn srq_memory(wqe_cnt: u32, stride: u32) -> Memory<SrqRecord> {
    let mut memory = Memory::new(wqe_cnt, stride, wqe_cnt);
    for index in 0..wqe_cnt as u16 - 1 {
        link(&mut memory, index, index + 1);
    }
    memory
}

fn srq_parts(memory: &mut Memory<SrqRecord>, head: u32, tail: u32) -> SrqParts {
    SrqParts {
        buf: memory.buf(),
        wqe_cnt: memory.wqe_cnt(),
        stride: memory.stride as u32,
        head,
        tail,
        dbrec: memory.record(),
        srqn: Srqn::new(5).unwrap(),
        counter: 0,
        shadow: memory.shadow(),
    }
}

fn srq(memory: &mut Memory<SrqRecord>) -> SharedRecvQueue {
    let tail = memory.wqe_cnt() - 1;
    // SAFETY: the memory outlives the queue in every test, and nobody else uses it.
    unsafe { SharedRecvQueue::from_parts(srq_parts(memory, 0, tail)) }.unwrap()
}

fn retire_index(srq: &mut SharedRecvQueue, wqe_counter: u16) -> Result<WrId, RetireError> {
    // SAFETY: there is no device.
    unsafe { srq.retire_index(wqe_counter) }
}

#[test]
fn golden_bytes_of_a_shared_receive_wqe() {
    let mut memory = srq_memory(4, 64);
    let mut srq = srq(&mut memory);
    assert_eq!((srq.max_sge(), srq.capacity(), srq.srqn().get()), (3, 3, 5));
    // SAFETY: there is no device.
    unsafe { srq.post(WrId(1), &[sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd)]) }.unwrap();
    #[rustfmt::skip]
    let golden = [
        0xa5, 0xa5, 0x00, 0x01, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5,
        0x11, 0x22, 0x33, 0x44, 0xaa, 0xbb, 0xcc, 0xdd, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5,
    ];
    assert_eq!(memory.wqe(0), golden);
    assert_eq!((memory.counter(), memory.record[1]), (1, 0xa5a5_a5a5));
    let full = [sge(1, 1, 1); 3];
    // SAFETY: there is no device.
    unsafe { srq.post(WrId(2), &full) }.unwrap();
    assert_eq!(memory.wqe(1)[16..], expected(&full, 3), "a full list has no terminator");
    // WQE 1 completes first: it is linked behind the tail, WQE 3.
    assert_eq!(retire_index(&mut srq, 1), Ok(WrId(2)));
    assert_eq!(memory.wqe(3)[2..4], [0, 1]);
    assert_eq!(memory.counter(), 2, "completions do not touch the record");
}

#[test]
fn hostile_completions_are_error_values() {
    let mut memory = srq_memory(4, 32);
    let mut srq = srq(&mut memory);
    for index in 0..=u16::MAX {
        assert_eq!(
            retire_index(&mut srq, index),
            Err(RetireError::NotPosted { wqe_counter: index }),
            "nothing is posted"
        );
    }
    // SAFETY: there is no device, here and below.
    let post = |srq: &mut SharedRecvQueue, id| unsafe { srq.post(WrId(id), &[sge(id, 1, 1)]) };
    for id in 0..3 {
        post(&mut srq, id).unwrap();
    }
    assert_eq!(post(&mut srq, 3), Err(RecvError::Full(3)));
    assert_eq!(retire_index(&mut srq, 3), Err(RetireError::NotPosted { wqe_counter: 3 }), "the tail is never posted");
    assert_eq!(retire_index(&mut srq, 1), Ok(WrId(1)));
    assert_eq!(
        retire_index(&mut srq, 1),
        Err(RetireError::NotPosted { wqe_counter: 1 }),
        "a second completion of one WQE"
    );
    assert_eq!(srq.posted(), 2);
}

#[test]
fn a_dropped_batch_leaves_the_shared_queue_as_it_was() {
    let mut memory = srq_memory(4, 32);
    let mut srq = srq(&mut memory);
    for _ in 0..3 {
        let mut batch = srq.batch();
        for id in 0..3 {
            // SAFETY: there is no device.
            unsafe { batch.push(WrId(id), &[]) }.unwrap();
        }
        // SAFETY: there is no device.
        assert_eq!(unsafe { batch.push(WrId(3), &[]) }, Err(RecvError::Full(3)));
    }
    assert_eq!((srq.posted(), memory.counter()), (0, 0xa5a5_a5a5));
    assert_eq!(retire_index(&mut srq, 0), Err(RetireError::NotPosted { wqe_counter: 0 }));
    // SAFETY: there is no device.
    unsafe { srq.post(WrId(7), &[]) }.unwrap();
    assert_eq!(retire_index(&mut srq, 0), Ok(WrId(7)));
}

#[test]
fn free_lists_that_cannot_be_are_refused() {
    // SAFETY: the memory outlives the call, and nobody else uses it.
    let build = |parts| unsafe { SharedRecvQueue::from_parts(parts) };
    let broken = |from: u16, to: u16| {
        let mut memory = srq_memory(8, 32);
        link(&mut memory, from, to);
        build(srq_parts(&mut memory, 0, 7)).err()
    };
    assert_eq!(broken(3, 8), Some(RecvPartsError::FreeList(8)), "out of the ring");
    assert_eq!(broken(3, 0xffff), Some(RecvPartsError::FreeList(0xffff)));
    assert_eq!(broken(6, 2), Some(RecvPartsError::FreeList(2)), "a loop");
    assert_eq!(broken(3, 3), Some(RecvPartsError::FreeList(3)), "a loop of one");
    let mut memory = srq_memory(8, 32);
    assert_eq!(build(srq_parts(&mut memory, 0, 9)).err(), Some(RecvPartsError::FreeList(7)));
    assert_eq!(build(srq_parts(&mut memory, 9, 9)).err(), Some(RecvPartsError::FreeList(9)));
    assert_eq!(build(srq_parts(&mut memory, 70000, 7)).err(), Some(RecvPartsError::FreeList(70000)));
    let parts = srq_parts(&mut memory, 0, 7);
    assert_eq!(build(SrqParts { wqe_cnt: 1, ..parts }).err(), Some(RecvPartsError::WqeCount(1)));
    assert_eq!(build(SrqParts { stride: 16, ..parts }).err(), Some(RecvPartsError::Stride(16)));
    // A list that begins in the middle is as good as any.
    let queue = build(srq_parts(&mut memory, 5, 7)).unwrap();
    assert_eq!(queue.capacity(), 2);
}

/// What may happen to a queue.
#[derive(Clone, Debug)]
enum Step {
    /// A batch of this many requests of these entry lengths; told to the device, or dropped.
    Post(Vec<Vec<u32>>, bool),
    /// A completion, of the posted request chosen by the number or (shared queue) of any WQE index.
    Complete(u16),
    Hostile(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let lengths = prop::collection::vec(prop_oneof![Just(0), 1_u32..0x8000_0000], 0..=4);
    let step = prop_oneof![
        (prop::collection::vec(lengths, 0..5), prop::bool::weighted(0.8))
            .prop_map(|(list, ring)| Step::Post(list, ring)),
        any::<u16>().prop_map(Step::Complete),
        any::<u16>().prop_map(Step::Hostile),
    ];
    prop::collection::vec(step, 0..80)
}

fn entries(id: u64, lengths: &[u32]) -> Vec<Sge> {
    lengths.iter().enumerate().map(|(i, bytes)| sge(id << 8 | i as u64, *bytes, id as u32)).collect()
}

proptest! {
    #[test]
    fn a_receive_queue_takes_completions_in_any_order(
        steps in steps(), log in 0_u32..8, window in 1_u32..200, head: u16, in_order in 0_u8..3,
    ) {
        let mut memory = recv_memory(1 << log, 64);
        let mut rq = recv_queue(&mut memory, head);
        rq.set_window(window);
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
                        let pushed = unsafe { batch.push(WrId(id), &list) };
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

    #[test]
    fn a_shared_queue_follows_its_links(steps in steps(), wqe_cnt in 2_u32..12) {
        let mut memory = srq_memory(wqe_cnt, 128);
        let mut srq = srq(&mut memory);
        // The device's side: it takes WQEs along the links in the ring.
        let mut device_next = 0_u16;
        let mut posted: Vec<(u16, WrId)> = Vec::new();
        let mut counter = 0_u16;
        let mut id = 0;
        for step in steps {
            match step {
                Step::Post(requests, ring) => {
                    let mut added = Vec::new();
                    let mut batch = srq.batch();
                    for lengths in &requests {
                        id += 1;
                        let list = entries(id, lengths);
                        // SAFETY: there is no device.
                        match unsafe { batch.push(WrId(id), &list) } {
                            Ok(()) => added.push((id, list)),
                            Err(error) => {
                                prop_assert_eq!(error, RecvError::Full(wqe_cnt - 1));
                                prop_assert_eq!(posted.len() + added.len(), wqe_cnt as usize - 1);
                            }
                        }
                    }
                    if ring {
                        batch.ring_doorbell();
                        for (id, list) in added {
                            let wqe = memory.wqe(device_next.into());
                            let used = list.iter().filter(|entry| entry.length != 0).count() * 16 + 16;
                            prop_assert_eq!(&wqe[16..16 + used], &expected(&list, 7)[..used]);
                            posted.push((device_next, WrId(id)));
                            device_next = u16::from_be_bytes([wqe[2], wqe[3]]);
                            counter = counter.wrapping_add(1);
                        }
                        if counter != 0 {
                            prop_assert_eq!(memory.counter(), u32::from(counter));
                        }
                    }
                }
                Step::Complete(which) => {
                    if !posted.is_empty() {
                        let (index, wr_id) = posted.swap_remove(usize::from(which) % posted.len());
                        prop_assert_eq!(retire_index(&mut srq, index), Ok(wr_id));
                    }
                }
                Step::Hostile(index) => {
                    let index = index % 16;
                    let known = posted.iter().position(|(posted, _)| *posted == index);
                    match known {
                        Some(at) => prop_assert_eq!(retire_index(&mut srq, index), Ok(posted.swap_remove(at).1)),
                        None => prop_assert_eq!(retire_index(&mut srq, index), Err(RetireError::NotPosted { wqe_counter: index })),
                    }
                }
            }
            prop_assert_eq!(srq.posted() as usize, posted.len());
        }
    }
}
