//! Completion queues that change their size in use: libmlx5's by `ibv_resize_cq`, this crate's by its own call. Both
//! leave the same bytes in the new ring.
//!
//! Resizing belongs here, polling of the ring in `extended.rs` and `statuses.rs`.

use blueflame::queue::SendQueue;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{Owned, OwnedCq, Qp, QueuePair};
use blueflame::{Remote, transport, wqe};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Wr};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::cases;
use crate::post::{self, Way};
use crate::twin::{connect_to_itself, wait};
use crate::verbs::{Fabric, Geometry, PolledCq, RawQp};

type Rc = transport::Rc;

/// The events of a queue.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// This many requests complete, if there is room.
    Complete(u32),
    /// This many completions are polled, or fewer if fewer are there.
    Poll(u32),
    /// The queue is to have room for this many.
    Resize(u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (1..12_u32).prop_map(Op::Complete),
        2 => (1..12_u32).prop_map(Op::Poll),
        2 => prop_oneof![1..9_u32, 1..70_u32, Just(31)].prop_map(Op::Resize),
    ];
    proptest::collection::vec(op, 1..40)
}

/// Requests that may be outstanding.
const SENDS: u32 = 64;

/// Dropped in this order: queue pairs before their completion queues.
struct Pair {
    raw: RawQp,
    theirs: PolledCq,
    sq: Owned<SendQueue<Rc>, Qp>,
    ours: OwnedCq,
    /// Completions that nobody has polled, and requests ever.
    waiting: u32,
    posted: u64,
}

impl Pair {
    fn new(fabric: &Fabric, cqe_bytes: u16) -> Self {
        let geometry = Geometry { sends: SENDS, inline: 8, cqe_bytes, ..Geometry::default() };
        let theirs = PolledCq::new(&fabric.device, 31, cqe_bytes);
        let (kind, cq) = (sys::IBV_QPT_RC, theirs.as_raw());
        let raw = RawQp::new(fabric, kind, cq, cq, core::ptr::null_mut(), &geometry);
        // SAFETY: alive as long as this function's handle. The queues are dropped unused.
        let mut pair = unsafe { adopt_qp::<Rc>(raw.raw) }.expect("adopt");
        connect_to_itself(&mut pair, fabric).expect("RTS");
        drop(pair);
        let ours = fabric.device.completion_queue(31).cqe_bytes(cqe_bytes).build().expect("a CQ");
        // The test itself counts the waiting completions.
        ours.handle().oversubscribe();
        let pair = fabric.pd.queue_pair::<Rc>(&ours, &ours).sends(SENDS).no_receives().inline(8);
        let mut pair = pair.build().expect("a QP");
        let path = fabric.path();
        let itself = pair.qp.endpoint_with(&path, Psn::truncate(5));
        pair.connect(&path, &itself, &itself).expect("RTS");
        let QueuePair { sq, .. } = pair;
        assert_eq!(ours.capacity(), theirs.parts.cqe_cnt);
        Self { theirs, raw, sq, ours, waiting: 0, posted: 0 }
    }

    /// The last 64 bytes of the CQE in `slot` of this crate's ring.
    fn our_cqe(&self, slot: u32, cqe_bytes: u32) -> [u8; 64] {
        let fields =
            core::ptr::with_exposed_provenance::<[u8; 64]>(self.ours.ring_addr() + (slot * cqe_bytes) as usize);
        // SAFETY: a CQE of the ring; what the device may be writing is looked at again.
        unsafe { fields.read_volatile() }
    }

    fn complete(&mut self, fabric: &Fabric, count: u32) {
        let remote = Remote { addr: fabric.buffer.addr(), rkey: fabric.buffer.rkey() };
        for _ in 0..count {
            let id = self.posted;
            let wr = Wr::new(Kind::Write(remote), Data::Inline(vec![id as u8; 8]), id);
            post::send(self.raw.raw, Way::PostSend, &[wr], 1, &[]);
            self.sq.post(&wqe::write(remote).inline(&[id as u8; 8]).signaled(WrId(id))).expect("room");
            self.posted += 1;
        }
        self.waiting += count;
        if count == 0 {
            return;
        }
        let last = self.waiting - 1;
        wait("libmlx5's completions", || self.theirs.is_written(last).then_some(())).expect("all");
        let (size, count) = (self.theirs.parts.cqe_size, self.ours.capacity());
        let index = self.ours.consumer_index().get() + last;
        wait("our completions", || {
            let op_own = self.our_cqe(index & (count - 1), size)[63];
            (op_own >> 4 != 15 && u32::from(op_own & 1) == (index & count != 0) as u32).then_some(())
        })
        .expect("all");
    }

    fn poll(&mut self, count: u32) {
        for _ in 0..count {
            let (_, wc) = self.theirs.poll().expect("written");
            let mut seen = None;
            let Self { ours, sq, .. } = self;
            ours.poll_with(1, |cqe| seen = Some((cqe.check(), sq.retire(&cqe).expect("outstanding").wr_id.0)));
            assert_eq!((seen.expect("written").1, 0), (wc.wr_id, wc.status));
            self.waiting -= 1;
        }
        if count != 0 {
            // SAFETY: their record, and ours after it: words that libmlx5 has allocated.
            let told = unsafe { self.theirs.parts.dbrec.read_volatile() };
            assert_eq!((u32::from_be(told), self.ours.consumer_index().get()), (self.theirs.ci(), self.theirs.ci()));
        }
    }

    fn resize(&mut self, cqes: u32) {
        let (before, ci) = (self.ours.capacity(), self.ours.consumer_index());
        let theirs = self.theirs.resize(cqes);
        let ours = self.ours.resize(cqes);
        assert_eq!(theirs == 0, ours.is_ok(), "{cqes}: {ours:?}, {theirs}");
        if let Err(error) = ours {
            assert!(self.waiting > 0 && (self.ours.capacity(), self.ours.consumer_index()) == (before, ci), "{error}");
        }
        self.compare();
    }

    /// The rings: whose each CQE is, and the bytes of those that wait, but for the queue pair's number and user index,
    /// and times.
    fn compare(&self) {
        let (count, size) = (self.theirs.parts.cqe_cnt, self.theirs.parts.cqe_size);
        assert_eq!((self.ours.capacity(), self.ours.consumer_index().get()), (count, self.theirs.ci()));
        for slot in 0..count {
            let at = self.theirs.parts.buf.cast::<u8>().wrapping_add(((slot + 1) * size - 64) as usize);
            // SAFETY: a CQE of libmlx5's ring, which nobody writes now.
            let mut theirs = unsafe { at.cast::<[u8; 64]>().read_volatile() };
            let mut ours = self.our_cqe(slot, size);
            assert_eq!(theirs[63], ours[63], "op_own of CQE {slot} of {count}");
            let waits = slot.wrapping_sub(self.theirs.ci()) & (count - 1) < self.waiting;
            for cqe in [&mut theirs, &mut ours] {
                [32..36, 48..56, 57..60].into_iter().for_each(|own| cqe[own].fill(0));
            }
            assert!(!waits || theirs == ours, "CQE {slot} of {count}:\n{theirs:02x?}\n{ours:02x?}");
        }
    }
}

#[test]
fn what_waits_is_carried_over_alike() {
    let fabric = Fabric::new();
    for cqe_bytes in [64, 128] {
        let mut pair = Pair::new(&fabric, cqe_bytes);
        let (mut moved, mut refused) = (0, 0);
        let mut runner = TestRunner::new(Config {
            cases: cases(150),
            max_shrink_iters: 0,
            failure_persistence: None,
            ..Config::default()
        });
        let run = std::cell::RefCell::new(|list: Vec<Op>| {
            for op in list {
                match op {
                    Op::Complete(n) => {
                        let room = pair.ours.capacity().min(SENDS).saturating_sub(2);
                        pair.complete(&fabric, n.min(room.saturating_sub(pair.waiting)));
                    }
                    Op::Poll(n) => pair.poll(n.min(pair.waiting)),
                    Op::Resize(n) => {
                        let before = pair.ours.capacity();
                        pair.resize(n);
                        let changed = pair.ours.capacity() != before;
                        moved += u32::from(changed && pair.waiting > 0);
                        refused += u32::from(!changed && (n + 1).next_power_of_two() != before);
                    }
                }
            }
            Ok(())
        });
        runner.run(&ops(), |list| (run.borrow_mut())(list)).expect("the same");
        assert!(moved >= 50 && refused >= 5, "too few: {moved} moved with completions waiting, {refused} refused");
        pair.poll(pair.waiting);
    }
}

/// Queue pairs that are made after: the builder looks for completions that carry their numbers in the new ring.
#[test]
fn a_queue_that_moved_serves_new_queue_pairs() {
    let fabric = Fabric::new();
    let mut pair = Pair::new(&fabric, 64);
    pair.complete(&fabric, 3);
    pair.resize(200);
    let other = fabric.pd.queue_pair::<Rc>(&pair.ours, &pair.ours).sends(4).no_receives().build();
    drop(other.expect("a QP"));
    pair.poll(3);
    assert_eq!(pair.ours.poll_with(1, |_| ()), 0);
}
