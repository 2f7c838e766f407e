//! Events: what the device reports to the host besides CQEs. Completion events and asynchronous events.

/// An event, in the order the device raised it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An armed CQ got a CQE that the arming asked for.
    Completion {
        /// The CQ.
        cqn: u32,
    },
    /// A CQ overran or could not be written; it takes no more CQEs.
    CqError {
        /// The CQ.
        cqn: u32,
    },
    /// Something happened to a QP.
    Qp {
        /// The QP.
        qpn: u32,
        /// What happened.
        kind: QpEvent,
    },
    /// The SRQ has fewer WQEs than its limit; the limit is disarmed.
    SrqLimit {
        /// The SRQ.
        srqn: u32,
    },
    /// The SRQ's ring could not be read or is inconsistent.
    SrqError {
        /// The SRQ.
        srqn: u32,
    },
    /// The link of a port has changed its state ([`crate::device::Device::set_port_up`]): "port active" or "port
    /// error" of IBTA vol. 1, 11.6.3.
    Port {
        /// The port, from 1.
        port: u8,
        /// Packets can pass.
        up: bool,
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
