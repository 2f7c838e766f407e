//! Shared receive queues: the ring with its free list, and the doorbell record, as receives are posted and complete.
//!
//! Plain shared queues belong here, lists of tags in `tags.rs`.

use std::ptr::{NonNull, null_mut};

use blueflame::queue::SharedRecvQueue;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{Owned, OwnedCq, OwnedSrq, QueuePair, Srq};
use blueflame::{Sge, transport};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Service, Wr};
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::compare::FILL;
use crate::completions;
use crate::post::{self, Receive, Way};
use crate::twin::wait;
use crate::verbs::{Fabric, Geometry, PolledCq, RawQp, create_srq};

pub(crate) fn parts(srq: *mut sys::ibv_srq) -> sys::mlx5dv_srq {
    // SAFETY: numbers and pointers, for which zero is a value; the queue is alive.
    unsafe {
        let mut parts = sys::mlx5dv_srq::ZERO;
        parts.comp_mask = sys::MLX5DV_SRQ_MASK_SRQN;
        let mut obj =
            sys::mlx5dv_obj { srq: sys::mlx5dv_pair { r#in: srq, out: &raw mut parts }, ..sys::mlx5dv_obj::ZERO };
        assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_SRQ), 0);
        parts
    }
}

/// The WQEs that the free list links, and the record.
fn state(parts: &sys::mlx5dv_srq, wqes: u32) -> (Vec<u8>, u32) {
    // SAFETY: the ring and the record that libmlx5 allocated; the device reads them only.
    unsafe {
        let byte = |n| parts.buf.cast::<u8>().add(n).read_volatile();
        ((0..(wqes * parts.stride) as usize).map(byte).collect(), u32::from_be(parts.dbrec.read_volatile()))
    }
}

/// Posts receives to libmlx5's shared queue and to ours, but for entries of no bytes: libmlx5 44 writes these to a shared
/// queue, and the device takes them for 2 GiB.
pub(crate) fn post_both(
    theirs: NonNull<sys::ibv_srq>,
    ours: &mut Owned<SharedRecvQueue, Srq>,
    list: &[Receive],
) -> Result<(), String> {
    let some = |(id, sges): &Receive| (*id, sges.iter().filter(|sge| sge.length != 0).copied().collect());
    let (list, mut bad): (Vec<Receive>, _) = (list.iter().map(some).collect(), null_mut());
    // SAFETY: the queue is alive, the list lives until the call returns, the memory is the fabric's.
    post::receive(&list, |first| unsafe { sys::ibv_post_srq_recv(theirs.as_ptr(), first, &raw mut bad) });
    let mut batch = ours.batch();
    for (id, sges) in &list {
        // SAFETY: the fabric's memory, which outlives the queue.
        unsafe { batch.push_unchecked(WrId(*id), sges) }.map_err(|error| error.to_string())?;
    }
    batch.ring_doorbell();
    Ok(())
}

fn connect(fabric: &Fabric, pair: &mut QueuePair<transport::Rc>) {
    let path = fabric.path();
    let itself = pair.qp.endpoint_with(&path, Psn::truncate(7));
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &itself, &itself).expect("connect");
}

#[test]
fn rings_and_free_lists_are_equal() {
    let fabric = Fabric::new();
    for (receives, max_sge) in [(1, 1), (4, 3), (15, 1), (60, 7)] {
        lists(&fabric, receives, max_sge);
    }
}

fn lists(fabric: &Fabric, receives: u32, max_sge: u32) {
    let geometry = Geometry { sends: 64, inline: 32, ..Geometry::default() };
    // libmlx5's.
    let (mut send_cq, mut recv_cq) = (PolledCq::new(&fabric.device, 256, 64), PolledCq::new(&fabric.device, 256, 64));
    let srq = create_srq(fabric, receives, max_sge);
    let (a, b) = (send_cq.as_raw(), recv_cq.as_raw());
    let raw = RawQp::new(fabric, sys::IBV_QPT_RC, a, b, srq.as_ptr(), &geometry);
    // SAFETY: alive as long as the handle; the queue is dropped here and never posts.
    let mut pair = unsafe { adopt_qp::<transport::Rc>(raw.raw) }.expect("adopt");
    connect(fabric, &mut pair);
    let their_qp = pair.qp;
    // This crate's.
    let mut our_srq: OwnedSrq = fabric.pd.shared_recv_queue(receives, max_sge).expect("an SRQ");
    let cq = || -> OwnedCq { fabric.device.completion_queue(256).build().expect("a CQ") };
    let (mut our_send, mut our_recv) = (cq(), cq());
    let (a, b) = (our_send.handle().as_raw(), our_recv.handle().as_raw());
    let our_raw = RawQp::new(fabric, sys::IBV_QPT_RC, a, b, our_srq.handle().as_raw(), &geometry);
    // SAFETY: new, in its own thread domain; destroyed after the queues below are dropped.
    let mut pair = unsafe { adopt_qp::<transport::Rc>(our_raw.raw) }.expect("adopt");
    connect(fabric, &mut pair);
    let QueuePair { qp: our_qp, mut sq, rq } = pair;
    assert_eq!(rq.capacity(), 0);

    let (theirs, ours) = (parts(srq.as_ptr()), parts(our_srq.handle().as_raw()));
    assert_eq!((theirs.stride, theirs.head, theirs.tail), (ours.stride, ours.head, ours.tail));
    let wqes = theirs.tail + 1;
    for parts in [&theirs, &ours] {
        for n in 0..wqes {
            // SAFETY: the scatter entries of each WQE, behind the link.
            unsafe {
                let wqe = parts.buf.cast::<u8>().add((n * parts.stride) as usize);
                wqe.add(16).write_bytes(FILL, parts.stride as usize - 16);
            }
        }
    }
    let equal = |when: &str| {
        let (theirs, ours) = (state(&theirs, wqes), state(&ours, wqes));
        let differs = theirs.0.iter().zip(&ours.0).position(|(a, b)| a != b);
        assert_eq!((differs, theirs.1), (None, ours.1), "{when}: first ring byte that differs, record");
    };
    let mut random = Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mut posted = 0;
    for round in 0..120_u64 {
        let count = random.below(wqes - 1 - posted + 1);
        let list: Vec<Receive> = (0..count)
            .map(|n| {
                (round * 1000 + u64::from(n), (0..1 + random.below(max_sge)).map(|_| random.entry(fabric)).collect())
            })
            .collect();
        if !list.is_empty() {
            post_both(srq, &mut our_srq, &list).expect("room");
            posted += count;
        }
        equal("posted");
        for n in 0..random.below(posted + 1) {
            let wr = Wr::new(Kind::SendImm(n), Data::Inline(vec![n as u8; 1 + n as usize % 20]), round);
            post::send(raw.raw, Way::PostSend, std::slice::from_ref(&wr), geometry.send_sge, &[]);
            // SAFETY: inline.
            unsafe { transport::Rc::put(&mut *sq, &wr) }.expect("room");
            let (mut cqe, wc) = wait("receive", || recv_cq.poll()).expect("theirs");
            let completion = completions::agree(&mut cqe, &wc).expect("equal");
            assert_eq!((completion.status, completion.imm_or_key), (0, Some(n)));
            // SAFETY: nothing else completes there; polled once.
            let retire = || our_recv.poll().map(|cqe| unsafe { our_srq.retire(&cqe) });
            let id = wait("receive", retire).expect("ours").expect("posted");
            assert_eq!(id, WrId(wc.wr_id));
            wait("send", || send_cq.poll()).expect("theirs");
            wait("send", || our_send.poll().map(|cqe| sq.retire(&cqe))).expect("ours").expect("posted");
            posted -= 1;
            equal("completed");
        }
    }
    drop((their_qp, raw, sq, our_qp, our_raw));
    // SAFETY: its queue pair is gone.
    assert_eq!(unsafe { sys::ibv_destroy_srq(srq.as_ptr()) }, 0);
}

struct Random(TestRng);

impl Random {
    /// A number below `n`, which is not 0.
    fn below(&mut self, n: u32) -> u32 {
        use proptest::prelude::Rng;
        self.0.next_u32() % n
    }

    /// Long enough for any message of these tests, so that one entry is.
    fn entry(&mut self, fabric: &Fabric) -> Sge {
        let at = self.below(1 << 16) as usize;
        fabric.buffer.sge_of(at..at + 20 + self.below(100) as usize)
    }
}
