//! This crate's queues.
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::{CompletionQueue, Side};
use blueflame::db::{ExclusiveRegister, RecordlessRegister, Register, SharedRegister};
use blueflame::queue::SendQueue;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::transport::Transport;
use blueflame::types::{Lkey, Qpn, Rkey, SqPi, WrId};
use blueflame::{Remote, Sge, transport};

use super::Message;
use super::contest::{Player, Poll, Queues, Work};
use super::floor_cq::{Fields, Sum};
use super::rig::{Rig, Shape, Threads};

/// A send queue and its completion queue.
pub(crate) struct Ours<R: Register, T: Transport = transport::Rc> {
    pub(crate) sq: SendQueue<T, R>,
    pub(crate) cq: CompletionQueue,
    pub(crate) rig: Rig,
    _shadow: Box<[MaybeUninit<WqeRecord>]>,
}

/// The register for one queue.
pub(crate) fn exclusive(rig: &Rig) -> ExclusiveRegister {
    // SAFETY: mapped as long as the rig lives, beside which this is kept; the queue pair is in its own thread domain,
    // and each rig is used for one queue.
    unsafe { ExclusiveRegister::from_parts(rig.register()) }.expect("a register")
}

/// The place of the rig's register, for a queue without a doorbell record.
pub(crate) fn recordless(rig: &Rig) -> RecordlessRegister {
    // SAFETY: as in `exclusive`.
    unsafe { RecordlessRegister::from_raw(rig.register().reg) }.expect("a register")
}

/// The register for several queues.
pub(crate) fn shared(rig: &Rig) -> &'static SharedRegister {
    // SAFETY: as in `exclusive`; the value outlives the mapping, but its only user does not.
    Box::leak(Box::new(unsafe { SharedRegister::from_parts(rig.register()) }.expect("a register")))
}

impl<R: Register> Ours<R> {
    pub(crate) fn new(shape: Shape, register: impl FnOnce(&Rig) -> R) -> Self {
        Self::over(Rig::new(shape, Threads::Domain), register)
    }

    pub(crate) fn over(rig: Rig, register: impl FnOnce(&Rig) -> R) -> Self {
        Self::of(rig, register)
    }
}

impl<R: Register, T: Transport> Ours<R, T> {
    /// Makes queues of the transport in the rig's shape.
    pub(crate) fn of(rig: Rig, register: impl FnOnce(&Rig) -> R) -> Self {
        // SAFETY: libmlx5 describes its own ring and record, which live as long as the rig; nobody else polls.
        let cq = unsafe { CompletionQueue::from_parts(rig.cq_parts()) }.expect("a queue");
        let mut shadow = Box::new_uninit_slice(rig.shape.entries);
        let parts = SqParts {
            ring: rig.send_ring().cast(),
            wqebbs: rig.shape.entries as u32,
            dbrec: rig.record(),
            qpn: Qpn::new(rig.number()).expect("24 bits"),
            cq: cq.id(),
            max_inline: rig.shape.inline,
            max_sge: rig.shape.sge,
            signal_all: false,
            pi: SqPi(0),
            shadow: NonNull::from(&mut *shadow).cast(),
        };
        // SAFETY: libmlx5 describes its own ring and record, which live as long as the rig. The shadow has a record for
        // each WQEBB, and is kept beside the queue. No other code stores to any of them.
        let sq = unsafe { SendQueue::from_parts(parts, register(&rig)) }.expect("a queue");
        Self { sq, cq, rig, _shadow: shadow }
    }

    /// Takes `count` completions, up to `N` by one call, and their requests back one by one; returns the sum of their
    /// `wr_id`s.
    #[inline(always)]
    pub(crate) fn poll_tags<const N: usize>(&mut self, count: usize) -> u64 {
        let (sq, mut sum) = (&mut self.sq, 0);
        for _ in 0..count / N {
            self.cq.poll_with(N, |cqe| {
                if let (Ok(Side::Requester), Ok(done)) = (cqe.check(), sq.retire(&cqe)) {
                    sum += done.wr_id.0 & 0xffff;
                }
            });
        }
        sum
    }

    /// Takes `count` completions, up to `N` by one call, and all requests back at the end; returns the sum of their
    /// indices.
    #[inline(always)]
    pub(crate) fn poll_fields<const N: usize>(&mut self, count: usize) -> u64 {
        let (mut sum, mut last) = (Sum::default(), 0);
        for _ in 0..count / N {
            self.cq.poll_with(N, |cqe| {
                if let Ok(Side::Requester) = cqe.check() {
                    last = cqe.wqe_counter();
                    sum.add(Fields { counter: last, qpn: cqe.qpn().get(), bytes: cqe.byte_len() });
                }
            });
        }
        self.take_back(last);
        sum.finish()
    }

    /// Takes `count` completions by copies of CQEs, and all requests back at the end.
    #[inline(always)]
    pub(crate) fn poll_copies(&mut self, count: usize) -> u64 {
        let (mut sum, mut last) = (Sum::default(), 0);
        for _ in 0..count {
            if let Some(cqe) = self.cq.poll()
                && cqe.check() == Ok(Side::Requester)
            {
                last = cqe.wqe_counter();
                sum.add(Fields { counter: last, qpn: cqe.qpn().get(), bytes: cqe.byte_len() });
            }
        }
        self.take_back(last);
        sum.finish()
    }

    /// Space up to the request of this index; nothing if it is free already, as after polling an empty queue.
    fn take_back(&mut self, last: u16) {
        // SAFETY: the index of a completion, or of none.
        let _ = unsafe { self.sq.retire_index(last) };
    }
}

impl<R: Register, T: Transport> Queues for Ours<R, T> {
    fn rigs(&self) -> Vec<&Rig> {
        vec![&self.rig]
    }
}

/// The destination of a message.
#[inline(always)]
pub(crate) fn remote(m: &Message) -> Remote {
    Remote { addr: m.addr, rkey: Rkey(m.rkey) }
}

/// The memory of a message.
#[inline(always)]
pub(crate) fn entry(m: &Message) -> Sge {
    Sge { addr: m.local, length: m.bytes, lkey: Lkey(m.lkey) }
}

/// The `wr_id` of the `n`th message.
#[inline(always)]
pub(crate) fn tag(n: u64) -> WrId {
    WrId(n)
}

/// Queues that post message by message, and poll.
pub(crate) fn ours<R: Register, T: Transport>(
    queues: Ours<R, T>,
    mut post: impl FnMut(&mut SendQueue<T, R>, u64),
) -> Player<Ours<R, T>, impl Work<Ours<R, T>>, impl Poll<Ours<R, T>>> {
    Player::new(
        queues,
        move |ours: &mut Ours<R, T>, first, count| {
            for n in first..first + count as u64 {
                post(&mut ours.sq, n);
            }
        },
        |ours: &mut Ours<R, T>, count| ours.poll_tags::<1>(count),
    )
}
