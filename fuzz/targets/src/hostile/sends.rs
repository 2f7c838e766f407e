//! A send queue, the requests that it has posted, and those that an honest device has completed.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::{CqId, CqeView, Side, Source};
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{PostError, RetireError, SendQueue};
use blueflame::types::{Qpn, SqPi, Wqebbs, WrId};
use blueflame::{transport, wqe};

use super::owners::{Holder, Owners, cqe, op, sent, sge};
use crate::memory::Arena;

/// WQEBBs of a ring.
const WQEBBS: u32 = 16;

/// A request that is outstanding.
struct Posted {
    index: u16,
    wqebbs: u16,
    id: u64,
    signaled: bool,
}

/// Memory of a send queue.
pub(super) struct Memory {
    pub(super) ring: Arena,
    pub(super) record: Arena,
    register: Arena,
    shadow: Box<[MaybeUninit<WqeRecord>]>,
}

impl Memory {
    pub(super) fn new() -> Self {
        let shadow = (0..WQEBBS).map(|_| MaybeUninit::uninit()).collect();
        let ring = Arena::new(WQEBBS as usize * 64, 0xa5);
        Self { ring, record: Arena::new(64, 0), register: Arena::new(512, 0), shadow }
    }

    /// The queue over this memory, which must outlive it.
    pub(super) fn queue(&mut self, qpn: u32, cq: CqId) -> SendQueue<transport::Rc> {
        let parts = SqParts {
            ring: self.ring.ptr(),
            wqebbs: WQEBBS,
            dbrec: self.record.ptr().cast(),
            qpn: Qpn::truncate(qpn),
            cq,
            max_inline: 256,
            max_sge: 16,
            signal_all: false,
            pi: SqPi(0),
            shadow: NonNull::from(&mut self.shadow[..]).cast(),
        };
        // SAFETY: memory of this value, which outlives the queue; only the "device" writes there besides it.
        unsafe {
            let register = ExclusiveRegister::from_parts(RegisterParts { reg: self.register.ptr(), size: 256 });
            SendQueue::from_parts(parts, register.expect("a register")).expect("a send queue")
        }
    }
}

pub(super) struct Sends {
    sq: SendQueue<transport::Rc>,
    pub(super) memory: Memory,
    holder: Holder,
    qpn: u32,
    outstanding: VecDeque<Posted>,
    /// How many of them, from the oldest on, the device has completed.
    completed: usize,
}

impl Sends {
    pub(super) fn new(holder: Holder, qpn: u32, cq: CqId) -> Self {
        let mut memory = Memory::new();
        let sq = memory.queue(qpn, cq);
        Self { sq, memory, holder, qpn, outstanding: VecDeque::new(), completed: 0 }
    }

    /// Posts requests: `bits` has two bits for each, whether it is signalled, and whether it takes two WQEBBs.
    pub(super) fn post(&mut self, owners: &mut Owners, count: u8, bits: u16, ring: bool) {
        let (mut pi, mut put) = (self.sq.pi(), Vec::new());
        let mut batch = self.sq.batch();
        for n in 0..u32::from(count % 8) {
            let (signaled, long) = (bits >> (2 * n) & 1 != 0, bits >> (2 * n + 1) & 1 != 0);
            let (id, before) = (owners.fresh(), batch.free());
            let (short, entries) = (wqe::send().gather([sge(id)]), wqe::send().gather([sge(id); 5]));
            // SAFETY: no device acts on it.
            let pushed = unsafe {
                match (signaled, long) {
                    (true, false) => batch.push_unchecked(&short.signaled(WrId(id))),
                    (false, false) => batch.push_unchecked(&short.wr_id(WrId(id))),
                    (true, true) => batch.push_unchecked(&entries.signaled(WrId(id))),
                    (false, true) => batch.push_unchecked(&entries.wr_id(WrId(id))),
                }
            };
            let wqebbs = before.0 - batch.free().0;
            match pushed {
                Ok(()) => put.push(Posted { index: pi.0, wqebbs, id, signaled }),
                Err(PostError::Full { .. }) => assert!(before.0 < 1 + u16::from(long)),
                Err(error) => panic!("{error}"),
            }
            pi = SqPi(pi.0.wrapping_add(wqebbs));
        }
        if ring {
            batch.ring_doorbell();
            put.iter().for_each(|posted| owners.lend(posted.id, self.holder));
            self.outstanding.extend(put);
        }
    }

    /// An honest device completes a request that has asked for it, or fails any: its CQE.
    pub(super) fn complete(&mut self, owners: &mut Owners, n: u8, fails: bool) -> Option<[u8; 64]> {
        let due = self.outstanding.iter().enumerate().skip(self.completed);
        let due: Vec<usize> = due.filter(|(_, posted)| posted.signaled || fails).map(|(at, _)| at).collect();
        let at = *due.get(usize::from(n) % due.len().max(1))?;
        self.finish(owners, at);
        let operation = if fails { op::SEND_FAILED } else { op::SENT };
        let mut cqe = cqe(operation, self.qpn, self.outstanding[at].index, 0);
        if fails {
            // A local protection error (`MLX5_CQE_SYNDROME_LOCAL_PROT_ERR`).
            cqe[55] = 4;
        }
        Some(cqe)
    }

    /// Completes several requests, two at least, in one session.
    pub(super) fn session(&mut self, owners: &mut Owners, count: usize) -> Option<([u8; 64], Vec<[u8; 8]>)> {
        let due = self.outstanding.iter().enumerate().skip(self.completed);
        let due: Vec<usize> = due.filter(|(_, posted)| posted.signaled).map(|(at, _)| at).take(count).collect();
        let (&first, &last) = (due.first()?, due.last()?);
        if due.len() < 2 {
            return None;
        }
        self.finish(owners, last);
        let minis = due.iter().map(|&at| sent(self.outstanding[at].index)).collect();
        Some((cqe(op::SENT, self.qpn, self.outstanding[first].index, 0), minis))
    }

    fn finish(&mut self, owners: &mut Owners, last: usize) {
        self.completed = last + 1;
        self.outstanding.iter().take(self.completed).for_each(|posted| owners.finish(posted.id));
    }

    /// Gives the queue a completion. Returns whether it took it.
    pub(super) fn offer<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> bool {
        let is_ours = cqe.side() == Some(Side::Requester) && cqe.qpn().get() == self.qpn;
        let place = self.outstanding.iter().position(|posted| posted.index == cqe.wqe_counter());
        match (self.sq.retire(cqe), place.filter(|_| is_ours)) {
            (Ok(retired), Some(place)) => {
                assert_eq!(retired.wr_id.0, self.outstanding[place].id);
                let mut freed = 0;
                for posted in self.outstanding.drain(..=place) {
                    owners.back(posted.id, self.holder, is_honest);
                    freed += posted.wqebbs;
                }
                assert_eq!(retired.freed.0, freed);
                self.completed = self.completed.saturating_sub(place + 1);
                true
            }
            (Err(RetireError::NotOutstanding { .. } | RetireError::InsideWqe { .. }), None) => false,
            (Err(_), None) if !is_ours => false,
            (found, expected) => panic!("{found:?} of {cqe:?}, outstanding is {expected:?}"),
        }
    }

    /// The queue pair is reset, and its completions are forgotten.
    pub(super) fn reset(&mut self, owners: &mut Owners) {
        // SAFETY: the "device" takes nothing any more, and no completion is left or lent.
        unsafe { self.sq.reset() };
        self.sq.set_depth(Wqebbs(WQEBBS as u16)).expect("the ring's");
        assert_eq!(owners.give_up(self.holder), self.outstanding.len());
        self.outstanding.clear();
        self.completed = 0;
    }

    pub(super) fn check(&self, owners: &Owners) {
        let used: u16 = self.outstanding.iter().map(|posted| posted.wqebbs).sum();
        assert_eq!(self.sq.free().0 + used, self.sq.capacity().0);
        assert_eq!(owners.count(self.holder), self.outstanding.len());
    }
}
