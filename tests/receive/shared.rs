//! Shared receive queues.
//!
//! Shared queues belong here, own ones in `own.rs`.

use blueflame::SetupError;
use blueflame::queue::recv::{SrqParts, SrqRecord};
use blueflame::queue::{RecvError, RetireError, SharedRecvQueue};
use blueflame::types::{Srqn, WrId};
use proptest::prelude::*;

use crate::memory::{Memory, Step, entries, expected, sge, steps};

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
    unsafe { srq.post_unchecked(WrId(1), &[sge(0x0102_0304_0506_0708, 0x1122_3344, 0xaabb_ccdd)]) }.unwrap();
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
    unsafe { srq.post_unchecked(WrId(2), &full) }.unwrap();
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
    let post = |srq: &mut SharedRecvQueue, id| unsafe { srq.post_unchecked(WrId(id), &[sge(id, 1, 1)]) };
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

/// Behind the records of the queue there is one that looks posted.
#[test]
fn no_record_behind_the_last_one_is_read() {
    let mut memory = Memory::<SrqRecord>::new(2, 32, 3);
    link(&mut memory, 0, 1);
    // SAFETY: the third record.
    unsafe { memory.shadow().add(2).write_bytes(0xff, 1) };
    // SAFETY: as in `srq`.
    let mut srq = unsafe { SharedRecvQueue::from_parts(srq_parts(&mut memory, 0, 1)) }.unwrap();
    assert_eq!(retire_index(&mut srq, 2), Err(RetireError::NotPosted { wqe_counter: 2 }));
    assert_eq!((srq.posted(), srq.ring_addr()), (0, memory.buf().addr().get()));
}

#[test]
fn a_dropped_batch_leaves_the_shared_queue_as_it_was() {
    let mut memory = srq_memory(4, 32);
    let mut srq = srq(&mut memory);
    for _ in 0..3 {
        let mut batch = srq.batch();
        for id in 0..3 {
            // SAFETY: there is no device.
            unsafe { batch.push_unchecked(WrId(id), &[]) }.unwrap();
        }
        // SAFETY: there is no device.
        assert_eq!(unsafe { batch.push_unchecked(WrId(3), &[]) }, Err(RecvError::Full(3)));
    }
    assert_eq!((srq.posted(), memory.counter()), (0, 0xa5a5_a5a5));
    assert_eq!(retire_index(&mut srq, 0), Err(RetireError::NotPosted { wqe_counter: 0 }));
    // SAFETY: there is no device.
    unsafe { srq.post_unchecked(WrId(7), &[]) }.unwrap();
    assert_eq!(retire_index(&mut srq, 0), Ok(WrId(7)));
}

#[test]
fn parts_and_free_lists_that_cannot_be_are_refused() {
    // SAFETY: the memory outlives the call, and nobody else uses it.
    let build = |parts| unsafe { SharedRecvQueue::from_parts(parts) };
    let broken_at = |index| Some(SetupError::FreeList { index });
    let broken = |from: u16, to: u16| {
        let mut memory = srq_memory(8, 32);
        link(&mut memory, from, to);
        build(srq_parts(&mut memory, 0, 7)).err()
    };
    assert_eq!(broken(3, 8), broken_at(8), "out of the ring");
    assert_eq!(broken(3, 0xffff), broken_at(0xffff));
    assert_eq!(broken(6, 2), broken_at(2), "a loop");
    assert_eq!(broken(3, 3), broken_at(3), "a loop of one");
    let mut memory = srq_memory(8, 32);
    assert_eq!(build(srq_parts(&mut memory, 0, 9)).err(), broken_at(7));
    for outside in [8, 9] {
        let list = build(srq_parts(&mut memory, outside, outside)).err();
        assert_eq!(list, broken_at(outside));
    }
    assert_eq!(build(srq_parts(&mut memory, 70000, 7)).err(), broken_at(70000));
    let parts = srq_parts(&mut memory, 0, 7);
    let (what, max) = ("WQEs of a shared receive queue", 1 << 15);
    let error = SetupError::OutOfRange { what, value: 1, min: 2, max };
    assert_eq!(build(SrqParts { wqe_cnt: 1, ..parts }).err(), Some(error));
    let what = "bytes of a WQE of a receive queue";
    let error = SetupError::NotPowerOfTwo { what, value: 16, min: 32, max: 4096 };
    assert_eq!(build(SrqParts { stride: 16, ..parts }).err(), Some(error));
    let misaligned = |what, address, alignment| SetupError::Misaligned { what, address, alignment };
    // SAFETY: within the buffers.
    let (buf, dbrec, shadow) = unsafe { (parts.buf.add(8), parts.dbrec.byte_add(2), parts.shadow.byte_add(1)) };
    let error = misaligned("ring of a receive queue", buf.addr().get(), 16);
    assert_eq!(build(SrqParts { buf, ..parts }).err(), Some(error));
    let error = misaligned("doorbell record of a receive queue", dbrec.addr().get(), 4);
    assert_eq!(build(SrqParts { dbrec, ..parts }).err(), Some(error));
    let error = misaligned("private memory of a receive queue", shadow.addr().get(), align_of::<SrqRecord>());
    assert_eq!(build(SrqParts { shadow, ..parts }).err(), Some(error));
    // A list that begins in the middle is as good as any.
    let queue = build(srq_parts(&mut memory, 5, 7)).unwrap();
    assert_eq!(queue.capacity(), 2);
}

proptest! {
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
                        match unsafe { batch.push_unchecked(WrId(id), &list) } {
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
