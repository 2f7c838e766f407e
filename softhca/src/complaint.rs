//! Complaints: a driver's mistakes that a real device would not report. Strict front ends show them.

use crate::context::QpState;
use crate::memory::DmaFault;
use log::Level;
use thiserror::Error;

/// Most complaints that wait to be taken. Later ones are only logged.
const KEPT: usize = 256;

/// Complaints that have not been taken yet.
#[derive(Debug, Default)]
pub struct Complaints(Vec<Complaint>);

impl Complaints {
    /// Logs and keeps one.
    pub fn add(&mut self, complaint: Complaint) {
        log::log!(complaint.level(), "{complaint}");
        if self.0.len() < KEPT {
            self.0.push(complaint);
        }
    }

    /// Takes all.
    #[must_use]
    pub fn take(&mut self) -> Vec<Complaint> {
        std::mem::take(&mut self.0)
    }
}

/// A driver's mistake that a real device would not report: it would do nothing, or something that the driver did not
/// mean.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Complaint {
    /// A store that is no doorbell.
    #[error("UAR page {uar:#x}: {len} bytes stored at {offset:#x} are no doorbell")]
    NotADoorbell {
        /// Page.
        uar: u32,
        /// Offset in bytes.
        offset: usize,
        /// Bytes.
        len: usize,
    },
    /// A doorbell for a QP that does not exist.
    #[error("doorbell on UAR page {uar:#x} for QP {qpn:#x}, which does not exist")]
    NoSuchQp {
        /// Page.
        uar: u32,
        /// QPN in the doorbell.
        qpn: u32,
    },
    /// A doorbell for a QP or CQ that was created on another UAR page; it was not taken.
    #[error("doorbell on UAR page {uar:#x} for {number:#x}, which belongs to page {expected:#x}")]
    WrongUar {
        /// Page.
        uar: u32,
        /// QPN or CQN in the doorbell.
        number: u32,
        /// Its page.
        expected: u32,
    },
    /// A doorbell for a QP without send queue.
    #[error("doorbell for QP {0:#x}, which has no send queue")]
    NoSendQueue(u32),
    /// The first bytes of a WQE were stored to the register, but the doorbell record does not announce that WQE.
    #[error("doorbell of QP {qpn:#x} shows a WQE that ends at {end:#x}; the doorbell record says {record:#x}")]
    RecordMismatch {
        /// QP.
        qpn: u32,
        /// Index after the WQE in the register.
        end: u16,
        /// Index in the record.
        record: u16,
    },
    /// A doorbell in the register for the other kind of send queues; it was not taken.
    #[error(
        "doorbell of QP {qpn:#x} at {offset:#x}: queues without a doorbell record ring at 0x600, others from 0x800"
    )]
    OtherRegister {
        /// QP.
        qpn: u32,
        /// Offset in bytes in the UAR page.
        offset: usize,
    },
    /// The doorbell of a queue without a record announces more WQEBBs than the ring has.
    #[error("doorbell of QP {qpn:#x} shows a WQE that ends at {end:#x}; the ring ends {wqebbs} WQEBBs after {next:#x}")]
    BeyondRing {
        /// QP.
        qpn: u32,
        /// Index after the WQE in the register.
        end: u16,
        /// Index of the WQE that is fetched next.
        next: u16,
        /// WQEBBs of the ring.
        wqebbs: u32,
    },
    /// The BlueFlame copy differs from the ring.
    #[error("BlueFlame copy of WQE {index:#x} of QP {qpn:#x} differs at byte {at}: {copied:#04x}, ring {ring:#04x}")]
    CopyDiffers {
        /// QP.
        qpn: u32,
        /// Index of the WQE.
        index: u16,
        /// First byte that differs, from the WQE's start.
        at: usize,
        /// The byte stored to the register.
        copied: u8,
        /// The byte in the ring.
        ring: u8,
    },
    /// A doorbell for a CQ that does not exist.
    #[error("arm doorbell on UAR page {uar:#x} for CQ {cqn:#x}, which does not exist")]
    NoSuchCq {
        /// Page.
        uar: u32,
        /// CQN in the doorbell.
        cqn: u32,
    },
    /// The arm word has reserved bits set.
    #[error("arm word {word:#010x} of CQ {cqn:#x} has reserved bits")]
    BadArmWord {
        /// CQ.
        cqn: u32,
        /// Word.
        word: u32,
    },
    /// A CQ was armed with the sequence number of requests that several events have answered: the driver does not count
    /// its events. Hardware may take the request for an answered one, and raise no event.
    #[error("CQ {cqn:#x} armed with {word:#010x}; {events} events have answered requests of its sequence number")]
    ArmUncounted {
        /// CQ.
        cqn: u32,
        /// Word.
        word: u32,
        /// Events in a row.
        events: u32,
    },
    /// The arm word in the doorbell record is older than the one in the register.
    #[error("CQ {cqn:#x} armed with {word:#010x}; the doorbell record still says {record:#010x}")]
    ArmMismatch {
        /// CQ.
        cqn: u32,
        /// Word in the register.
        word: u32,
        /// Word in the record.
        record: u32,
    },
    /// Two doorbells in a row were stored to the same half of a register. A CPU that combines stores may merge them
    /// into one.
    #[error("UAR page {uar:#x}: half {offset:#x} was rung twice in a row, now by QP {qpn:#x}; halves take turns")]
    SameHalf {
        /// Page.
        uar: u32,
        /// QPN in the doorbell.
        qpn: u32,
        /// Offset of the half in bytes.
        offset: usize,
    },
    /// A send doorbell for a QP that cannot send yet: drivers refuse to post before RTS.
    #[error("doorbell of QP {qpn:#x} in state {state:?}, before RTS")]
    NotReadyToSend {
        /// QP.
        qpn: u32,
        /// Its state.
        state: QpState,
    },
    /// More CQEs were due than the CQ holds. It takes no further CQEs.
    #[error("CQ {cqn:#x} of {cqes} CQEs overran: consumer index {consumer:#x}, producer {producer:#x}")]
    CqOverrun {
        /// CQ.
        cqn: u32,
        /// CQEs that it holds.
        cqes: u32,
        /// Consumer index in its doorbell record.
        consumer: u32,
        /// CQEs written, 24 bits.
        producer: u32,
    },
    /// A doorbell for an event queue that does not exist.
    #[error("doorbell on UAR page {uar:#x} for EQ {eqn:#x}, which does not exist")]
    NoSuchEq {
        /// Page.
        uar: u32,
        /// Number in the doorbell.
        eqn: u32,
    },
    /// A doorbell of an event queue has a consumer index past the written EQEs, or further behind them than the ring
    /// is long. It was not taken.
    #[error("EQ {eqn:#x}: consumer index {consumer:#x} in the doorbell, producer {producer:#x}")]
    BadEqConsumer {
        /// Event queue.
        eqn: u32,
        /// Index in the doorbell.
        consumer: u32,
        /// EQEs written, 24 bits.
        producer: u32,
    },
    /// More asynchronous events came than an event queue holds. It takes no further EQEs.
    #[error("EQ {eqn:#x} of {eqes} EQEs overran")]
    EqOverrun {
        /// Event queue.
        eqn: u32,
        /// EQEs that it holds.
        eqes: u32,
    },
    /// The memory of a queue (ring or doorbell record) cannot be read or written.
    #[error("queue {number:#x}: {fault}")]
    Unreachable {
        /// QPN or CQN.
        number: u32,
        /// Access that failed.
        fault: DmaFault,
    },
}

impl Complaint {
    /// The level of its message: a warning of a mistake; information of what a front end may find to be none.
    fn level(&self) -> Level {
        match self {
            // A driver that has not read the events cannot have counted them. The core does not know what was read.
            Self::ArmUncounted { .. } => Level::Info,
            _ => Level::Warn,
        }
    }
}
