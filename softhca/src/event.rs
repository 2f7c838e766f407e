//! Events: the device's reports to the host besides CQEs. Completion events and asynchronous events.

use crate::error::Object;
use crate::query::CqFault;

/// An event, in the order the device raised it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An armed CQ got a CQE that the arming asked for.
    Completion {
        /// The CQ.
        cqn: u32,
    },
    /// A CQ overran or could not be written; it takes no further CQEs.
    CqError {
        /// The CQ.
        cqn: u32,
        /// Which of the two.
        fault: CqFault,
    },
    /// Something happened to a QP.
    Qp {
        /// The QP.
        qpn: u32,
        /// The kind of event.
        kind: QpEvent,
    },
    /// Something happened to a DCT.
    Dct {
        /// The DCT.
        dctn: u32,
        /// The kind of event.
        kind: DctEvent,
    },
    /// The SRQ has fewer WQEs than its limit; the limit is disarmed.
    SrqLimit {
        /// The SRQ.
        srqn: u32,
        /// See [`crate::context::SrqContext::is_pool`].
        is_pool: bool,
    },
    /// The SRQ's ring could not be read or is inconsistent.
    SrqError {
        /// The SRQ.
        srqn: u32,
        /// See [`crate::context::SrqContext::is_pool`].
        is_pool: bool,
    },
    /// A receive queue of Ethernet frames has an error that no CQE can report.
    RqError {
        /// The queue.
        rqn: u32,
    },
    /// A send queue of Ethernet frames has an error that no CQE can report.
    SqError {
        /// The queue.
        sqn: u32,
    },
    /// The link of a port has changed its state ([`crate::device::Device::set_port_up`]): "port active" or "port
    /// error" of IBTA vol. 1, 11.6.3.
    Port {
        /// The port, from 1.
        port: u8,
        /// Packets can pass.
        up: bool,
    },
    /// Commands of a command queue are done ([`crate::device::Device::raise`]).
    CommandDone {
        /// Their slots: bit `n` for slot `n`.
        slots: u32,
    },
    /// The device asks its driver for pages of memory, or gives some back ([`crate::device::Device::raise`]).
    PageRequest {
        /// The function that they are for.
        function: u16,
        /// How many; fewer than 0 are given back.
        pages: i32,
    },
    /// The device has stopped ([`crate::device::Device::fail`]): "local catastrophic error" of IBTA vol. 1, 11.6.3.
    DeviceFatal,
}

/// Affiliated asynchronous events of a QP (IBTA vol. 1, 11.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpEvent {
    /// A packet arrived for a QP still in RTR.
    CommunicationEstablished,
    /// The send queue has drained after a move to SQD.
    SqDrained,
    /// Local error that no CQE can report.
    Fatal,
    /// The responder got a request it had to refuse as invalid.
    RequestError,
    /// The responder refused a request for its access rights.
    AccessError,
    /// The last WQE of an SRQ was consumed by a QP in the error state.
    LastWqeReached,
}

/// Affiliated asynchronous events of a DCT (Linux `include/linux/mlx5/device.h`, `MLX5_EVENT_TYPE_DCT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DctEvent {
    /// It was to be drained, and the last connection is closed.
    Drained,
    /// An initiator named a wrong access key. Raised once for each time that the event is armed.
    KeyViolation,
}

/// Bytes of an entry of an event queue.
pub const EQE_BYTES: usize = 64;

/// Where in an entry its type, its subtype and its data are (Linux `include/linux/mlx5/device.h`, `struct mlx5_eqe`).
const TYPE: usize = 1;
const SUBTYPE: usize = 3;
const DATA: usize = 32;
/// Offset in the data of the number of a QP, an SRQ or a completed CQ (`struct mlx5_eqe_qp_srq`, `struct
/// mlx5_eqe_comp`). The number of a CQ in error (`struct mlx5_eqe_cq_err`) is there as well, and a port, in the upper
/// four bits (`struct mlx5_eqe_port_state`).
const QUEUE_NUMBER: usize = DATA + 24;
const FAILED_CQ: usize = DATA;
const CQ_SYNDROME: usize = DATA + 11;
const PORT: usize = DATA + 8;
/// Where finished slots of the command queue are (`struct mlx5_eqe_cmd`), and the function and the number of pages that
/// are asked for (`struct mlx5_eqe_page_req`).
const COMMAND_SLOTS: usize = DATA;
const PAGES_FUNCTION: usize = DATA;
const PAGES: usize = DATA + 4;
/// Subtypes of the event of a port (`enum` of `MLX5_PORT_CHANGE_SUBTYPE_*`).
const PORT_DOWN: u8 = 1;
const PORT_ACTIVE: u8 = 4;
/// Where the type of a queue is, and types (`MLX5_EVENT_QUEUE_TYPE_*`): 0 is a QP's.
const QUEUE_TYPE: usize = DATA + 20;
const RECEIVE_QUEUE: u8 = 1;
const SEND_QUEUE: u8 = 2;
/// Syndromes of a CQ in error (PRM, "CQ Error EQE").
const CQ_OVERRUN: u8 = 1;
const CQ_ACCESS_VIOLATION: u8 = 2;

impl Event {
    /// Its number (Linux `include/linux/mlx5/device.h`, `MLX5_EVENT_TYPE_*`), as masks of event queues and
    /// subscriptions name it.
    #[must_use]
    pub fn number(&self) -> u8 {
        match self {
            Self::Completion { .. } => 0x00,
            Self::CqError { .. } => 0x04,
            Self::Qp { kind: QpEvent::CommunicationEstablished, .. } => 0x02,
            Self::Qp { kind: QpEvent::SqDrained, .. } => 0x03,
            Self::Qp { kind: QpEvent::Fatal, .. } | Self::RqError { .. } | Self::SqError { .. } => 0x05,
            Self::Qp { kind: QpEvent::RequestError, .. } => 0x10,
            Self::Qp { kind: QpEvent::AccessError, .. } => 0x11,
            Self::Qp { kind: QpEvent::LastWqeReached, .. } => 0x13,
            Self::Dct { kind: DctEvent::Drained, .. } => 0x1c,
            Self::Dct { kind: DctEvent::KeyViolation, .. } => 0x1d,
            Self::SrqError { .. } => 0x12,
            Self::SrqLimit { .. } => 0x14,
            Self::DeviceFatal => 0x08,
            Self::Port { .. } => 0x09,
            Self::CommandDone { .. } => 0x0a,
            Self::PageRequest { .. } => 0x0b,
        }
    }

    /// The object that it is about, if it is about one: as a number of this kind. Shared receive queues of all kinds
    /// (SRQ, RMP, XRC SRQ, XRQ) have their numbers from one space, so that this is all that tells them apart.
    #[must_use]
    pub fn object(&self) -> Option<(Object, u32)> {
        match *self {
            Self::Completion { cqn } | Self::CqError { cqn, .. } => Some((Object::Cq, cqn)),
            Self::Qp { qpn, .. } => Some((Object::Qp, qpn)),
            Self::Dct { dctn, .. } => Some((Object::Dct, dctn)),
            Self::SrqLimit { srqn, .. } | Self::SrqError { srqn, .. } => Some((Object::Srq, srqn)),
            Self::RqError { rqn } => Some((Object::Rq, rqn)),
            Self::SqError { sqn } => Some((Object::Sq, sqn)),
            Self::Port { .. } | Self::CommandDone { .. } | Self::PageRequest { .. } | Self::DeviceFatal => None,
        }
    }

    /// The entry of an event queue that tells it, in memory order. The event queue's own, signature and owner, are 0.
    #[must_use]
    pub fn entry(&self) -> [u8; EQE_BYTES] {
        let mut bytes = [0; EQE_BYTES];
        bytes[TYPE] = self.number();
        bytes[QUEUE_TYPE] = match self {
            Self::RqError { .. } | Self::SrqLimit { is_pool: true, .. } | Self::SrqError { is_pool: true, .. } => {
                RECEIVE_QUEUE
            }
            Self::SqError { .. } => SEND_QUEUE,
            _ => 0,
        };
        let mut put = |at: usize, number: u32| bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        match *self {
            Self::Completion { cqn } => put(QUEUE_NUMBER, cqn),
            Self::CqError { cqn, fault } => {
                put(FAILED_CQ, cqn);
                bytes[CQ_SYNDROME] = match fault {
                    CqFault::Overrun => CQ_OVERRUN,
                    CqFault::Unreachable => CQ_ACCESS_VIOLATION,
                };
            }
            Self::RqError { rqn } => put(QUEUE_NUMBER, rqn),
            Self::SqError { sqn } => put(QUEUE_NUMBER, sqn),
            Self::Qp { qpn, .. } => put(QUEUE_NUMBER, qpn),
            Self::Dct { dctn, .. } => put(QUEUE_NUMBER, dctn),
            Self::SrqLimit { srqn, .. } | Self::SrqError { srqn, .. } => put(QUEUE_NUMBER, srqn),
            Self::Port { port, up } => {
                bytes[SUBTYPE] = if up { PORT_ACTIVE } else { PORT_DOWN };
                bytes[PORT] = port << 4;
            }
            Self::CommandDone { slots } => put(COMMAND_SLOTS, slots),
            Self::PageRequest { function, pages } => {
                put(PAGES_FUNCTION, function.into());
                put(PAGES, pages as u32);
            }
            Self::DeviceFatal => {}
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that are not 0.
    fn set(event: Event) -> Vec<(usize, u8)> {
        event.entry().into_iter().enumerate().filter(|&(_, byte)| byte != 0).collect()
    }

    #[test]
    fn entries_are_those_of_linux() {
        // By hand, from struct mlx5_eqe and the structures of its data.
        assert_eq!(set(Event::Completion { cqn: 0x1_0203 }), [(57, 1), (58, 2), (59, 3)]);
        assert_eq!(set(Event::CqError { cqn: 7, fault: CqFault::Overrun }), [(1, 4), (35, 7), (43, 1)]);
        assert_eq!(set(Event::CqError { cqn: 7, fault: CqFault::Unreachable }), [(1, 4), (35, 7), (43, 2)]);
        assert_eq!(set(Event::RqError { rqn: 9 }), [(1, 5), (52, 1), (59, 9)]);
        assert_eq!(set(Event::SqError { sqn: 9 }), [(1, 5), (52, 2), (59, 9)]);
        assert_eq!(set(Event::SrqLimit { srqn: 9, is_pool: false }), [(1, 0x14), (59, 9)]);
        // Linux tells subscribers of a pool by this type (`get_legacy_obj_type` in drivers/infiniband/hw/mlx5/devx.c).
        assert_eq!(set(Event::SrqLimit { srqn: 9, is_pool: true }), [(1, 0x14), (52, 1), (59, 9)]);
        assert_eq!(set(Event::SrqError { srqn: 9, is_pool: true }), [(1, 0x12), (52, 1), (59, 9)]);
        let last = Event::Qp { qpn: 0x100, kind: QpEvent::LastWqeReached };
        assert_eq!(set(last), [(1, 0x13), (58, 1)]);
        let drained = Event::Dct { dctn: 0x1_0203, kind: DctEvent::Drained };
        assert_eq!(set(drained), [(1, 0x1c), (57, 1), (58, 2), (59, 3)]);
        assert_eq!(set(Event::Port { port: 1, up: true }), [(1, 9), (3, 4), (40, 0x10)]);
        assert_eq!(set(Event::Port { port: 2, up: false }), [(1, 9), (3, 1), (40, 0x20)]);
        assert_eq!(set(Event::CommandDone { slots: 0x8000_0001 }), [(1, 0x0a), (32, 0x80), (35, 1)]);
        let returned = Event::PageRequest { function: 0x102, pages: -2 };
        assert_eq!(set(returned), [(1, 0x0b), (34, 1), (35, 2), (36, 0xff), (37, 0xff), (38, 0xff), (39, 0xfe)]);
    }
}
