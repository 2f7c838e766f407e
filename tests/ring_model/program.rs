//! The program: the crate's own queues, and the numbers of the requests that are done.

use std::mem::MaybeUninit;

use crate::cq::{CompletionQueue, CqId, CqeView, Source};
use crate::db::{ExclusiveRegister, RegisterParts};
use crate::device::{LKEY, QPN, data, length, new_ring};
use crate::faults;
use crate::memory;
use crate::pointer::{self, NonNull};
use crate::queue::recv::shared::{SharedRecvQueue, SrqParts, SrqRecord};
use crate::queue::send::parts::{SqParts, WqeRecord};
use crate::queue::send::queue::SendQueue;
use crate::transport::Rc;
use crate::types::{CqCi, Cqn, Lkey, Qpn, SqPi, Srqn, WrId};
use crate::wqe;

/// A completion queue of `cqes` CQEs, in a schedule that begins.
pub(crate) fn completion_queue(cqes: u32) -> CompletionQueue {
    memory::power_cycle();
    faults::begin();
    new_ring(memory::CQ, cqes);
    let parts = crate::cq::setup::CqParts {
        buf: pointer::at(memory::CQ),
        cqe_cnt: cqes,
        cqe_size: 64,
        dbrec: pointer::at(memory::CQ_RECORD),
        cq_uar: pointer::at(memory::UAR),
        cqn: Cqn::truncate(1),
        ci: CqCi::truncate(0),
    };
    // SAFETY: the parts are places of the model's memory, of this schedule alone.
    unsafe { CompletionQueue::from_parts(parts) }.expect("parts that can be")
}

/// Sends, one outstanding at a time, or two.
pub(crate) struct Sender {
    sq: SendQueue<Rc>,
    shadow: Box<[MaybeUninit<WqeRecord>; 2]>,
    posted: u32,
    done: u32,
    /// All that it sends.
    messages: u32,
}

impl Sender {
    pub(crate) fn new(cq: CqId, messages: u32) -> Self {
        let mut shadow = Box::new([MaybeUninit::uninit(); 2]);
        let parts = SqParts {
            ring: pointer::at(memory::SEND),
            wqebbs: 2,
            dbrec: pointer::at(memory::QP_RECORD),
            qpn: Qpn::truncate(QPN),
            cq,
            max_inline: 28,
            max_sge: 1,
            signal_all: true,
            pi: SqPi(0),
            shadow: NonNull::from(&mut *shadow).cast(),
        };
        let register = RegisterParts { reg: pointer::at(memory::REGISTER), size: memory::HALF as u32 * 4 };
        // SAFETY: the parts are places of the model's memory, of this schedule alone.
        let register = unsafe { ExclusiveRegister::from_parts(register) }.expect("parts that can be");
        // SAFETY: the parts are places of the model's memory, of this schedule alone; the shadow is this value's.
        let sq = unsafe { SendQueue::from_parts(parts, register) }.expect("parts that can be");
        Self { sq, shadow, posted: 0, done: 0, messages }
    }

    pub(crate) fn post(&mut self) {
        if self.posted < self.messages {
            let bytes = data(self.posted).to_be_bytes();
            self.sq.post(&wqe::send().inline(&bytes).wr_id(WrId(self.posted.into()))).expect("room");
            self.posted += 1;
        }
    }

    /// Posts two requests, and rings once.
    pub(crate) fn post_batch(&mut self) {
        let mut batch = self.sq.batch();
        for _ in 0..2 {
            let bytes = data(self.posted).to_be_bytes();
            batch.push(&wqe::send().inline(&bytes).wr_id(WrId(self.posted.into()))).expect("room");
            self.posted += 1;
        }
        batch.ring_doorbell();
    }

    /// Completes the next request.
    fn complete<S: Source>(&mut self, cqe: &CqeView<S>) {
        let retired = self.sq.retire(cqe).expect("outstanding");
        assert_eq!(retired.wr_id, WrId(self.done.into()));
        assert_eq!(cqe.byte_len(), length(self.done));
        self.done += 1;
    }

    /// Polls, and posts the next request in the place of each that is done.
    pub(crate) fn poll(&mut self, cq: &mut CompletionQueue) {
        cq.poll_with(2, |cqe| {
            self.complete(&cqe);
            self.post();
        });
    }

    /// Polls one completion, copied, and posts the next request then.
    pub(crate) fn poll_one(&mut self, cq: &mut CompletionQueue) {
        if let Some(cqe) = cq.poll() {
            self.complete(&cqe);
            self.post();
        }
    }

    pub(crate) fn end(self) {
        assert_eq!((self.posted, self.done), (self.messages, self.messages), "lost");
        assert_eq!(self.sq.free(), self.sq.capacity());
        drop(self.shadow);
    }
}

/// Receives by a shared queue. Each receive has a buffer of its own, of one word.
pub(crate) struct Receiver {
    srq: SharedRecvQueue,
    shadow: Box<[MaybeUninit<SrqRecord>]>,
    posted: u32,
    done: Vec<u32>,
    messages: u32,
}

impl Receiver {
    /// A queue of `wqes` WQEs, one of which stays free.
    pub(crate) fn new(wqes: u32, messages: u32) -> Self {
        // The link of the last one is no WQE's.
        for wqe in 0..wqes {
            memory::store(memory::SHARED + wqe as usize * 8, (wqe + 1).to_be());
        }
        let mut shadow: Box<[_]> = vec![MaybeUninit::uninit(); wqes as usize].into();
        let parts = SrqParts {
            buf: pointer::at(memory::SHARED),
            wqe_cnt: wqes,
            stride: 32,
            head: 0,
            tail: wqes - 1,
            dbrec: pointer::at(memory::SHARED_RECORD),
            srqn: Srqn::truncate(1),
            counter: 0,
            shadow: NonNull::new(shadow.as_mut_ptr()).expect("not null"),
        };
        // SAFETY: the parts are places of the model's memory, of this schedule alone; the shadow is this value's.
        let srq = unsafe { SharedRecvQueue::from_parts(parts) }.expect("parts that can be");
        Self { srq, shadow, posted: 0, done: Vec::new(), messages }
    }

    pub(crate) fn post(&mut self) {
        if self.posted < self.messages {
            let buffer = pointer::at::<u32>(memory::DATA + self.posted as usize).addr().get();
            let sge = wqe::Sge { addr: buffer as u64, length: 4, lkey: Lkey(LKEY) };
            // SAFETY: the model's device writes the word alone, which is there until the schedule ends.
            unsafe { self.srq.post_unchecked(WrId(self.posted.into()), &[sge]) }.expect("room");
            self.posted += 1;
        }
    }

    /// Polls, and posts another buffer in the place of each that is filled.
    pub(crate) fn poll(&mut self, cq: &mut CompletionQueue) {
        cq.poll_with(2, |cqe| {
            // SAFETY: the only queue that completes there, and the view is given once.
            let WrId(number) = unsafe { self.srq.retire(&cqe) }.expect("posted");
            let number = number as u32;
            assert!(!self.done.contains(&number), "receive {number} completed twice");
            assert_eq!(cqe.byte_len(), length(number));
            assert_eq!(
                memory::load(memory::DATA + number as usize),
                data(number).to_be(),
                "the data of receive {number}"
            );
            self.done.push(number);
            self.post();
        });
    }

    pub(crate) fn end(self) {
        assert_eq!(self.done.len(), self.messages as usize, "lost");
        assert_eq!(self.srq.posted(), 0);
        drop(self.shadow);
    }
}
