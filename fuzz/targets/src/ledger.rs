//! The WQEs that the host has posted and the device has completed. Each CQE must belong to an outstanding WQE, and a
//! flush accounts for all of them.

use std::collections::{BTreeSet, VecDeque};

use softhca::context::{DciStreams, QpState, ReceiveSource, SrqContext};
use softhca::device::Device;
use softhca::event::{Event, QpEvent};
use softhca::qp::QpInfo;

use super::dynamic;
use super::guard::{Cqe, Guarded};

/// Offsets in bytes into a CQE (`struct mlx5_cqe64`, `struct mlx5_err_cqe`).
mod offset {
    pub(super) const UIDX: usize = 32;
    pub(super) const SYNDROME: usize = 55;
    pub(super) const OPCODE_QPN: usize = 56;
    pub(super) const WQE_COUNTER: usize = 60;
    pub(super) const OP_OWN: usize = 63;
}

/// CQE opcodes (`MLX5_CQE_*`).
mod opcode {
    pub(super) const REQ: u8 = 0;
    pub(super) const RESP_WR_IMM: u8 = 1;
    pub(super) const RESP_SEND_INV: u8 = 4;
    pub(super) const REQ_ERR: u8 = 13;
    pub(super) const RESP_ERR: u8 = 14;
}

/// The syndrome of flushed WQEs (`MLX5_CQE_SYNDROME_WR_FLUSH_ERR`).
const FLUSHED: u8 = 5;
/// `fm_ce_se` bits 3:2 and their value that asks for a CQE (`MLX5_WQE_CTRL_CQ_UPDATE`).
const CE_MASK: u8 = 0xc;
const CQ_UPDATE: u8 = 8;
const ONLY_FIRST_ERROR: u8 = 4;

/// A send WQE that the device has fetched.
struct Posted {
    index: u16,
    signaled: bool,
    /// It completes only if no other has failed before it (`MLX5_COMP_ONLY_FIRST_ERR`).
    first_error_only: bool,
}

/// Receive WQEs: running numbers, 16 bits.
#[derive(Default)]
struct Receives {
    /// All before it are done.
    done: u16,
    /// Those behind it that are done, too.
    early: BTreeSet<u16>,
    /// The furthest that the record has announced.
    posted: u16,
}

impl Receives {
    /// The record says `producer`, which the device believes up to `most` past those done.
    fn announce(&mut self, producer: u16, most: u32) {
        let ahead = producer.wrapping_sub(self.done);
        if u32::from(ahead) <= most && ahead > self.posted.wrapping_sub(self.done) {
            self.posted = producer;
        }
    }

    fn complete(&mut self, qpn: u32) {
        assert_ne!(self.posted, self.done, "QP {qpn:#x}: a CQE of a receive WQE that nobody posted");
        self.done = self.done.wrapping_add(1);
    }

    /// [Completes](Self::complete) the WQE `counter`, which need not be the oldest.
    fn complete_any(&mut self, qpn: u32, counter: u16) {
        let (behind, posted) = (counter.wrapping_sub(self.done), self.posted.wrapping_sub(self.done));
        assert!(behind < posted, "QP {qpn:#x}: a CQE of receive WQE {counter:#x}, which is not outstanding");
        assert!(self.early.insert(counter), "QP {qpn:#x}: a second CQE of receive WQE {counter:#x}");
        while self.early.remove(&self.done) {
            self.done = self.done.wrapping_add(1);
        }
    }
}

/// A QP's WQEs.
struct Queue {
    qpn: u32,
    /// WQEBB index up to which the device has fetched.
    fetched: u16,
    /// Sends fetched that no CQE has accounted for, in order.
    outstanding: VecDeque<Posted>,
    /// Sends that have failed by themselves.
    failed: u32,
    /// Enough have failed that the rest is flushed, signalled or not.
    broken: bool,
    receives: Receives,
    /// The device has raised a fatal event: it cannot read the receive ring, or cannot report.
    fatal: bool,
}

impl Queue {
    fn new(qpn: u32) -> Self {
        let (outstanding, receives) = (VecDeque::new(), Receives::default());
        Self { qpn, fetched: 0, outstanding, failed: 0, broken: false, receives, fatal: false }
    }

    /// Notes the WQEs that the device has fetched; gives how many.
    fn note_fetched(&mut self, info: &QpInfo, device: &Device) -> u64 {
        let Some(sq) = info.context.sq else { return 0 };
        let ahead = info.sw_sq_wqebb_counter.wrapping_sub(info.hw_sq_wqebb_counter);
        assert!(u32::from(ahead) <= 1 << sq.log_size, "QP {:#x}: more WQEBBs are posted than the ring has", self.qpn);
        let mut count = 0;
        while self.fetched != info.hw_sq_wqebb_counter {
            let at = u64::from(self.fetched) % (1 << sq.log_size) * 64;
            let mut control = [0; 16];
            device.read_memory(sq.buf + at, &mut control).expect("the send ring");
            let announced = info.sw_sq_wqebb_counter.wrapping_sub(self.fetched);
            let wqebbs = u16::from(control[7]).div_ceil(4).clamp(1, announced.max(1));
            let left = info.hw_sq_wqebb_counter.wrapping_sub(self.fetched);
            assert!(wqebbs <= left, "QP {:#x}: the device went on inside of a WQE, {left} of {wqebbs}", self.qpn);
            let signaled = control[11] & CE_MASK == CQ_UPDATE || info.context.signal_all;
            let first_error_only = control[11] & CE_MASK == ONLY_FIRST_ERROR && !signaled;
            self.outstanding.push_back(Posted { index: self.fetched, signaled, first_error_only });
            self.fetched = self.fetched.wrapping_add(wqebbs);
            count += 1;
        }
        count
    }

    /// A CQE of send WQE `index`, with a syndrome if it is an error. Of a DCI with streams, a failure may stop one
    /// stream, or all.
    fn complete_send(&mut self, index: u16, syndrome: Option<u8>, streams: Option<DciStreams>) {
        let qpn = self.qpn;
        while let Some(front) = self.outstanding.pop_front() {
            if front.index == index {
                let due = front.signaled || syndrome.is_some();
                assert!(due, "QP {qpn:#x}: a CQE of WQE {index:#x}, which asked for none");
                assert!(!(self.broken && front.first_error_only), "QP {qpn:#x}: WQE {index:#x} is not the first error");
                assert!(!self.broken || syndrome == Some(FLUSHED), "QP {qpn:#x}: WQE {index:#x} is not flushed");
                self.failed += u32::from(syndrome.is_some_and(|syndrome| syndrome != FLUSHED));
                let ends = streams.is_none_or(|streams| self.failed >= 1 << streams.log_errored);
                self.broken |= syndrome.is_some() && ends;
                return;
            }
            // A WQE without a CQE has succeeded, and it asked for no CQE.
            let silent = !front.signaled && (!self.broken || front.first_error_only);
            assert!(silent, "QP {qpn:#x}: WQE {:#x} has no CQE, but {index:#x} has", front.index);
        }
        panic!("QP {qpn:#x}: a CQE of WQE {index:#x}, which is not outstanding");
    }

    /// In the error state, after all work: nothing is left.
    fn check_flushed(&self, info: &QpInfo, device: &Device, memory: &Guarded) {
        let Self { qpn, outstanding, receives, .. } = self;
        let context = &info.context;
        if matches!(info.state, QpState::Err | QpState::Sqe) && context.sq.is_some() {
            let (fetched, posted) = (info.hw_sq_wqebb_counter, info.sw_sq_wqebb_counter);
            assert_eq!(fetched, posted, "QP {qpn:#x}: send WQEs are not flushed");
            let owed = outstanding.iter().find(|posted| posted.signaled || self.broken && !posted.first_error_only);
            if let Some(owed) = owed.filter(|_| !memory.has_failed(context.send_cqn)) {
                panic!("QP {qpn:#x}: send WQE {:#x} is flushed without a CQE", owed.index);
            }
        }
        if let (QpState::Err, ReceiveSource::Own(rq), false) = (info.state, context.rq, self.fatal) {
            let producer = record(device, context.dbr);
            let ahead = u32::from(producer.wrapping_sub(receives.done));
            let flushed = ahead == 0 || ahead > 1 << rq.log_size || memory.has_failed(context.recv_cqn);
            assert!(flushed, "QP {qpn:#x}: {ahead} receive WQEs are not flushed");
        }
    }
}

/// The doorbell record at `addr`.
fn record(device: &Device, addr: u64) -> u16 {
    let mut word = [0; 4];
    device.read_memory(addr, &mut word).expect("the record");
    u32::from_be_bytes(word) as u16
}

/// All QPs' WQEs.
#[derive(Default)]
pub struct Ledger {
    queues: Vec<Queue>,
    /// The target of dynamic connections, and its CQ.
    dct: Option<(u32, u32)>,
    srq: Option<SrqContext>,
    shared: Receives,
    /// Receives of the SRQ that QPs may have taken with them when they were reset or destroyed.
    shared_lost: u32,
    /// Sends that the device has fetched, of all QPs, and those that were dropped by a reset or a destruction, at most.
    fetched: u64,
    dropped: u64,
}

impl Ledger {
    pub fn add_qp(&mut self, qpn: u32) {
        self.queues.push(Queue::new(qpn));
    }

    pub fn add_dct(&mut self, dctn: u32, cqn: u32) {
        self.dct = Some((dctn, cqn));
    }

    pub fn add_srq(&mut self, srq: SrqContext) {
        self.srq = Some(srq);
    }

    /// Takes the device's progress since the last call: the QPs' indices, the CQEs, the events.
    pub fn observe(&mut self, device: &mut Device, memory: &Guarded) {
        self.drop_queues(device);
        for queue in &mut self.queues {
            let info = device.query_qp(queue.qpn).expect("a QP");
            self.fetched += queue.note_fetched(&info, device);
            if let ReceiveSource::Own(rq) = info.context.rq {
                let producer = record(device, info.context.dbr);
                // The WQE at hand has been taken and not been done.
                queue.receives.announce(producer, (1 << rq.log_size) + 1);
            }
        }
        if let Some(srq) = &self.srq {
            let producer = record(device, srq.dbr);
            let connections =
                self.dct.and_then(|(dctn, _)| device.query_dct(dctn).ok()).map_or(0, |dct| dct.connections);
            let at_hand = self.queues.len() as u32 + connections as u32;
            self.shared.announce(producer, (1 << srq.rq.log_size) + at_hand + self.shared_lost);
        }
        for cqe in memory.take_cqes() {
            self.complete(&cqe, device);
        }
        assert!(device.sends_completed() <= self.fetched, "more sends are complete than were fetched");
        while let Some(event) = device.next_event() {
            match event {
                Event::CqError { cqn, .. } => memory.fail_cq(cqn),
                Event::Qp { qpn, kind: QpEvent::Fatal } => {
                    self.queues.iter_mut().filter(|queue| queue.qpn == qpn).for_each(|queue| queue.fatal = true);
                }
                _ => {}
            }
        }
        for queue in &mut self.queues {
            let state = device.query_qp(queue.qpn).expect("a QP").state;
            queue.broken &= matches!(state, QpState::Err | QpState::Sqe);
        }
    }

    /// Forgets what QPs had that are gone, or in the reset state.
    fn drop_queues(&mut self, device: &Device) {
        let (dropped, lost) = (&mut self.dropped, &mut self.shared_lost);
        self.queues.retain_mut(|queue| {
            let state = device.query_qp(queue.qpn).map(|info| info.state);
            if matches!(state, Ok(state) if state != QpState::Reset) {
                return true;
            }
            *dropped += queue.outstanding.len() as u64;
            *lost += 1;
            *queue = Queue::new(queue.qpn);
            state.is_ok()
        });
    }

    fn complete(&mut self, cqe: &Cqe, device: &Device) {
        let word =
            |at: usize| u32::from_be_bytes([cqe.bytes[at], cqe.bytes[at + 1], cqe.bytes[at + 2], cqe.bytes[at + 3]]);
        let (qpn, opcode) = (word(offset::OPCODE_QPN) & 0xff_ffff, cqe.bytes[offset::OP_OWN] >> 4);
        let counter = (word(offset::WQE_COUNTER) >> 16) as u16;
        if let Some((dctn, cqn)) = self.dct.filter(|(dctn, _)| *dctn == qpn) {
            assert_eq!((cqe.cqn, word(offset::UIDX) & 0xff_ffff), (cqn, dynamic::UIDX), "of DCT {dctn:#x}");
            assert!(
                matches!(opcode, opcode::RESP_WR_IMM..=opcode::RESP_SEND_INV | opcode::RESP_ERR),
                "DCT {dctn:#x} has a CQE with opcode {opcode}"
            );
            return self.shared.complete(dctn);
        }
        let queue = self.queues.iter_mut().find(|queue| queue.qpn == qpn);
        let Some(queue) = queue else { panic!("a CQE of QP {qpn:#x}, which does not exist") };
        let context = device.qp_context(qpn).expect("a QP");
        assert_eq!(word(offset::UIDX) & 0xff_ffff, context.uidx, "the user index of QP {qpn:#x}");
        match opcode {
            opcode::REQ | opcode::REQ_ERR => {
                assert_eq!(cqe.cqn, context.send_cqn, "the CQ of QP {qpn:#x}'s sends");
                let syndrome = (opcode == opcode::REQ_ERR).then_some(cqe.bytes[offset::SYNDROME]);
                queue.complete_send(counter, syndrome, context.streams);
            }
            opcode::RESP_WR_IMM..=opcode::RESP_SEND_INV | opcode::RESP_ERR => {
                assert_eq!(cqe.cqn, context.recv_cqn, "the CQ of QP {qpn:#x}'s receives");
                let unordered = device.query_qp(qpn).expect("a QP").attr.out_of_order == Some(true);
                match (context.rq, &self.srq) {
                    (ReceiveSource::Own(_), _) if unordered => queue.receives.complete_any(qpn, counter),
                    (ReceiveSource::Own(_), _) => {
                        assert_eq!(counter, queue.receives.done, "QP {qpn:#x}: the next receive WQE");
                        queue.receives.complete(qpn);
                    }
                    (ReceiveSource::Shared { .. }, Some(srq)) => {
                        assert!(u32::from(counter) < 1 << srq.rq.log_size, "an index that the SRQ does not have");
                        self.shared.complete(qpn);
                    }
                    _ => panic!("QP {qpn:#x} cannot receive"),
                }
            }
            _ => panic!("a CQE with opcode {opcode}"),
        }
    }

    /// When the device has nothing left to do: QPs in error have nothing outstanding.
    pub fn check_flushed(&self, device: &Device, memory: &Guarded) {
        for queue in &self.queues {
            queue.check_flushed(&device.query_qp(queue.qpn).expect("a QP"), device, memory);
        }
    }

    /// When all QPs are in error, or reset, and flushed: every send is complete, save those that were dropped.
    pub fn check_all_complete(&self, device: &Device) {
        let missing = self.fetched - device.sends_completed();
        assert!(missing <= self.dropped, "{missing} sends never completed, of which {} may", self.dropped);
    }
}
