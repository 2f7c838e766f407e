//! A receive queue, and a shared one: the buffers that they have posted, and those that an honest device has filled.

use std::collections::{BTreeMap, VecDeque};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::{CqId, CqeError, CqeFormat, CqeOpcode, CqeView, Side, Source};
use blueflame::queue::recv::{RqParts, SrqBatch, SrqParts, SrqRecord};
use blueflame::queue::{RecvError, RecvQueue, RetireError, SharedRecvQueue};
use blueflame::types::{Qpn, Srqn, WrId};

use super::owners::{Holder, Owners, cqe, op, received, sge};
use crate::memory::Arena;

/// WQEs of each ring.
const WQES: u32 = 8;

/// A posted buffer.
#[derive(Debug)]
struct Posted {
    id: u64,
    /// The device has filled it.
    filled: bool,
    /// It was handed back, before an older one.
    done: bool,
}

/// The bytes of a message in a CQE.
fn message(id: u64) -> [u8; 64] {
    [id as u8; 64]
}

/// The form of an honest completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// The message is in the CQE (scatter to CQE).
    Inline,
    /// It is in the first half of a CQE of 128 bytes.
    InlineInFront,
    Failed,
    /// The receive ended by no fault of its own, and nothing was received: it can be posted again.
    Aborted,
}

/// The syndrome of an aborted receive (`MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR`).
const ABORTED: u8 = 0x22;

/// A completion to write: the CQE, and the bytes in front of it.
pub(super) type Filled = ([u8; 64], Option<[u8; 64]>);

fn filled(form: Form, qpn: u32, counter: u16, id: u64) -> Filled {
    let [inline, in_front] = [1 << 2, 2 << 2];
    match form {
        Form::Plain => (cqe(op::RECEIVED, qpn, counter, 4096), None),
        Form::Inline => {
            let mut cqe = cqe(op::RECEIVED | inline, qpn, counter, 32);
            cqe[..32].copy_from_slice(&message(id)[..32]);
            (cqe, None)
        }
        Form::InlineInFront => (cqe(op::RECEIVED | in_front, qpn, counter, 64), Some(message(id))),
        Form::Failed => (cqe(op::RECEIVE_FAILED, qpn, counter, 0), None),
        Form::Aborted => {
            let mut cqe = cqe(op::RECEIVE_FAILED, qpn, counter, 0);
            cqe[55] = ABORTED;
            (cqe, None)
        }
    }
}

/// The message that an honest device has put into the CQE is that of the buffer.
fn check_message<S: Source>(cqe: &CqeView<S>, id: u64) {
    let mut bytes = [0; 64];
    match (cqe.format(), cqe.copy_inline(&mut bytes)) {
        (CqeFormat::Inline32 | CqeFormat::Inline64, Ok(len)) => assert_eq!(bytes[..len], message(id)[..len]),
        (CqeFormat::Plain, Err(_)) => {}
        (format, copied) => panic!("{format:?}: {copied:?}"),
    }
}

/// A queue pair's own receive queue.
pub(super) struct Receives {
    rq: RecvQueue,
    pub(super) ring: Arena,
    pub(super) record: Arena,
    _shadow: Box<[MaybeUninit<u64>]>,
    qpn: u32,
    /// From the oldest outstanding on.
    outstanding: VecDeque<Posted>,
    oldest: u16,
}

impl Receives {
    pub(super) fn new(qpn: u32, cq: CqId) -> Self {
        let (ring, record) = (Arena::new(WQES as usize * 32, 0xa5), Arena::new(64, 0));
        let mut shadow: Box<[_]> = (0..RqParts::shadow_words(WQES)).map(|_| MaybeUninit::uninit()).collect();
        let parts = RqParts {
            buf: ring.ptr(),
            wqe_cnt: WQES,
            stride: 32,
            dbrec: record.ptr().cast(),
            qpn: Qpn::truncate(qpn),
            cq,
            flow_tags: false,
            head: 0,
            shadow: NonNull::from(&mut shadow[..]).cast(),
        };
        // SAFETY: memory of this value, which outlives the queue; only the "device" writes there besides it.
        let rq = unsafe { RecvQueue::from_parts(parts) }.expect("a receive queue");
        Self { rq, ring, record, _shadow: shadow, qpn, outstanding: VecDeque::new(), oldest: 0 }
    }

    pub(super) fn post(&mut self, owners: &mut Owners, count: u8, ring: bool) {
        let mut put = Vec::new();
        let mut batch = self.rq.batch();
        for _ in 0..count % 8 {
            let id = owners.fresh();
            // SAFETY: no device acts on it.
            let pushed = unsafe { batch.push_unchecked(WrId(id), &[sge(id)]) };
            let has_room = self.outstanding.len() + put.len() < WQES as usize;
            assert_eq!(pushed, if has_room { Ok(()) } else { Err(RecvError::Full(WQES)) });
            if has_room {
                put.push(Posted { id, filled: false, done: false });
            }
        }
        if ring {
            batch.ring_doorbell();
            put.iter().for_each(|posted| owners.lend(posted.id, Holder::Receive));
            self.outstanding.extend(put);
        }
    }

    /// An honest device fills the `n`th buffer: the oldest, unless it places data out of order.
    pub(super) fn fill(&mut self, owners: &mut Owners, n: u8, form: Form) -> Option<Filled> {
        let mut due = self.outstanding.iter_mut().enumerate().filter(|(_, posted)| !posted.filled);
        let (at, posted) = due.nth(usize::from(n))?;
        posted.filled = true;
        owners.finish(posted.id);
        Some(filled(form, self.qpn, self.oldest.wrapping_add(at as u16), posted.id))
    }

    /// It fills buffers one behind the other, two at least, and reports them in one session.
    pub(super) fn session(&mut self, owners: &mut Owners, count: usize) -> Option<([u8; 64], Vec<[u8; 8]>)> {
        let first = self.outstanding.iter().position(|posted| !posted.filled)?;
        let run = self.outstanding.iter_mut().skip(first).take_while(|posted| !posted.filled).take(count);
        let run: Vec<&mut Posted> = run.collect();
        if run.len() < 2 {
            return None;
        }
        let index = self.oldest.wrapping_add(first as u16);
        let minis = (0..run.len() as u16).map(|n| received(index.wrapping_add(n), 4096)).collect();
        for posted in run {
            posted.filled = true;
            owners.finish(posted.id);
        }
        Some((cqe(op::RECEIVED, self.qpn, index, 4096), minis))
    }

    /// Gives the queue a completion. Returns whether it took it.
    pub(super) fn offer<S: Source>(&mut self, cqe: &CqeView<S>, owners: &mut Owners, is_honest: bool) -> bool {
        let is_ours = cqe.side() == Some(Side::Responder) && cqe.qpn().get() == self.qpn;
        let counter = cqe.wqe_counter();
        let place = self.outstanding.get_mut(usize::from(counter.wrapping_sub(self.oldest)));
        let answer = self.rq.retire(cqe);
        let taken = match (answer, place.filter(|_| is_ours)) {
            (Ok(id), Some(posted)) if !posted.done => {
                assert_eq!(id.0, posted.id);
                posted.done = true;
                owners.back(posted.id, Holder::Receive, is_honest);
                if is_honest && cqe.opcode() != CqeOpcode::RespErr {
                    check_message(cqe, id.0);
                }
                true
            }
            (Err(RetireError::CompletedTwice { wqe_counter }), Some(posted)) if posted.done => {
                assert_eq!(wqe_counter, counter);
                false
            }
            (Err(RetireError::NotOutstanding { .. }), None) => false,
            (Err(_), None) if !is_ours => false,
            (found, expected) => panic!("{found:?} of {cqe:?}, which is {expected:?}"),
        };
        while self.outstanding.pop_front_if(|posted| posted.done).is_some() {
            self.oldest = self.oldest.wrapping_add(1);
        }
        taken
    }

    /// The queue pair is reset, and its completions are forgotten.
    pub(super) fn reset(&mut self, owners: &mut Owners) {
        // SAFETY: the "device" takes nothing any more, and no completion is left or lent.
        unsafe { self.rq.reset() };
        let lent = self.outstanding.iter().filter(|posted| !posted.done).count();
        assert_eq!(owners.give_up(Holder::Receive), lent);
        self.outstanding.clear();
        self.oldest = 0;
    }

    pub(super) fn check(&self, owners: &Owners) {
        let posted = self.outstanding.iter().filter(|posted| !posted.done).count();
        assert_eq!((self.rq.posted() as usize, owners.count(Holder::Receive)), (posted, posted));
    }
}

/// The memory and the posted buffers of a shared receive queue. The queue is elsewhere.
pub(super) struct Shared {
    pub(super) ring: Arena,
    pub(super) record: Arena,
    shadow: Box<[MaybeUninit<SrqRecord>]>,
    holder: Holder,
    /// The number of the queue pair whose messages arrive here.
    qpn: u32,
    posted: BTreeMap<u16, Posted>,
    /// Free WQEs in order.
    free: VecDeque<u16>,
}

impl Shared {
    pub(super) fn new(holder: Holder, qpn: u32) -> Self {
        let ring = Arena::new(WQES as usize * 32, 0);
        for index in 0..WQES - 1 {
            ring.scribble((index * 32 + 2) as usize, &((index + 1) as u16).to_be_bytes());
        }
        let shadow = (0..WQES).map(|_| MaybeUninit::uninit()).collect();
        let free = (0..WQES as u16).collect();
        Self { ring, record: Arena::new(64, 0), shadow, holder, qpn, posted: BTreeMap::new(), free }
    }

    /// The queue over this memory, which must outlive it.
    pub(super) fn queue(&mut self) -> SharedRecvQueue {
        let parts = SrqParts {
            buf: self.ring.ptr(),
            wqe_cnt: WQES,
            stride: 32,
            head: 0,
            tail: WQES - 1,
            dbrec: self.record.ptr().cast(),
            srqn: Srqn::truncate(self.qpn),
            counter: 0,
            shadow: NonNull::from(&mut self.shadow[..]).cast(),
        };
        // SAFETY: memory of this value, which outlives the queue; only the "device" writes there besides it.
        unsafe { SharedRecvQueue::from_parts(parts) }.expect("a shared receive queue")
    }

    pub(super) fn post(&mut self, mut batch: SrqBatch<'_>, owners: &mut Owners, count: u8, ring: bool) {
        let mut put = Vec::new();
        for _ in 0..count % 8 {
            let id = owners.fresh();
            // SAFETY: no device acts on it.
            let pushed = unsafe { batch.push_unchecked(WrId(id), &[sge(id)]) };
            let has_room = self.free.len() - put.len() > 1;
            assert_eq!(pushed, if has_room { Ok(()) } else { Err(RecvError::Full(WQES - 1)) });
            if has_room {
                put.push(id);
            }
        }
        if ring {
            batch.ring_doorbell();
            for id in put {
                owners.lend(id, self.holder);
                let index = self.free.pop_front().expect("one was free");
                self.posted.insert(index, Posted { id, filled: false, done: false });
            }
        }
    }

    /// An honest device fills the `n`th buffer.
    pub(super) fn fill(&mut self, owners: &mut Owners, n: u8, form: Form) -> Option<Filled> {
        let due = self.posted.values().filter(|posted| !posted.filled).count().max(1);
        let mut left = self.posted.iter_mut().filter(|(_, posted)| !posted.filled);
        let (&index, posted) = left.nth(usize::from(n) % due)?;
        posted.filled = true;
        owners.finish(posted.id);
        Some(filled(form, self.qpn, index, posted.id))
    }

    /// Completes several receives in one session, if mini-CQEs have indices.
    pub(super) fn session(&mut self, owners: &mut Owners, count: usize) -> Option<([u8; 64], Vec<[u8; 8]>)> {
        let due: Vec<u16> =
            self.posted.iter().filter(|(_, posted)| !posted.filled).map(|(&index, _)| index).take(count).collect();
        if due.len() < 2 {
            return None;
        }
        for index in &due {
            let posted = self.posted.get_mut(index).expect("just found");
            posted.filled = true;
            owners.finish(posted.id);
        }
        let minis = due.iter().map(|&index| received(index, 4096)).collect();
        Some((cqe(op::RECEIVED, self.qpn, due[0], 4096), minis))
    }

    /// The buffer that a completion with this index hands back, if there is one.
    pub(super) fn take(&mut self, index: u16, owners: &mut Owners, is_honest: bool) -> Option<WrId> {
        let posted = self.posted.remove(&index)?;
        self.free.push_back(index);
        owners.back(posted.id, self.holder, is_honest);
        Some(WrId(posted.id))
    }

    /// Gives the queue a completion of the queue pair whose messages arrive here. Returns whether it took it.
    pub(super) fn offer<S: Source>(
        &mut self,
        srq: &mut SharedRecvQueue,
        cqe: &CqeView<S>,
        owners: &mut Owners,
        is_honest: bool,
    ) -> bool {
        if cqe.qpn().get() != self.qpn {
            return false;
        }
        if matches!(cqe.check(), Err(CqeError::Aborted(error)) if error.side == Side::Responder) {
            return self.again(srq, cqe, owners);
        }
        // SAFETY: this queue pair receives from this queue, and each completion is offered once.
        let answer = unsafe { srq.retire(cqe) };
        let is_receive = cqe.side() == Some(Side::Responder);
        let expected = is_receive.then(|| self.take(cqe.wqe_counter(), owners, is_honest)).flatten();
        assert_eq!(answer.ok(), expected, "{cqe:?}");
        if let Some(id) = expected.filter(|_| is_honest && cqe.opcode() != CqeOpcode::RespErr) {
            check_message(cqe, id.0);
        }
        expected.is_some()
    }

    /// Gives the queue a completion of an aborted receive: its buffer goes to the next free WQE.
    fn again<S: Source>(&mut self, srq: &mut SharedRecvQueue, cqe: &CqeView<S>, owners: &mut Owners) -> bool {
        let index = cqe.wqe_counter();
        let entries = |index: u16| self.ring.bytes()[usize::from(index) * 32 + 16..][..16].to_vec();
        let before = self.posted.get(&index).map(|_| entries(index));
        // SAFETY: this queue pair receives from this queue, and each completion is offered once.
        let answer = unsafe { srq.repost(cqe) };
        let Some(before) = before else {
            assert_eq!(answer, Err(RetireError::NotPosted { wqe_counter: index }));
            return false;
        };
        let next = *self.free.front().expect("the tail is free");
        assert_eq!(entries(next), before, "receive {index}, posted again at {next}");
        let posted = self.posted.remove(&index).expect("posted");
        assert_eq!(answer, Ok(WrId(posted.id)));
        self.free.push_back(index);
        self.free.pop_front();
        owners.again(posted.id);
        self.posted.insert(next, Posted { id: posted.id, filled: false, done: false });
        true
    }

    pub(super) fn check(&self, srq: &SharedRecvQueue, owners: &Owners) {
        assert_eq!((srq.posted() as usize, owners.count(self.holder)), (self.posted.len(), self.posted.len()));
        assert_eq!(self.free.len() + self.posted.len(), WQES as usize);
    }
}
