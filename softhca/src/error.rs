//! Errors: why a command was refused. Faults of the data path have types of their own, beside the code that finds them.

use crate::context::{QpState, QueueState};
use crate::memory::DmaFault;
use std::io;
use thiserror::Error;

/// The kinds of numbered objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Object {
    /// UAR page.
    #[error("UAR page")]
    Uar,
    /// Protection domain.
    #[error("PD")]
    Pd,
    /// Transport domain.
    #[error("transport domain")]
    TransportDomain,
    /// XRC domain.
    #[error("XRC domain")]
    Xrcd,
    /// Key of encryption.
    #[error("DEK")]
    Dek,
    /// Memory key.
    #[error("mkey")]
    Mkey,
    /// Entry of a memory key's list.
    #[error("translation")]
    Translation,
    /// Completion queue.
    #[error("CQ")]
    Cq,
    /// Shared receive queue.
    #[error("SRQ")]
    Srq,
    /// Event queue.
    #[error("EQ")]
    Eq,
    /// Queue pair.
    #[error("QP")]
    Qp,
    /// Numbers without a queue pair, in a row.
    #[error("reserved QPNs")]
    ReservedQpns,
    /// Dynamically connected target.
    #[error("DCT")]
    Dct,
    /// User memory: pages that objects made by commands lie in.
    #[error("UMEM")]
    Umem,
    /// Send queue of Ethernet frames.
    #[error("SQ")]
    Sq,
    /// Receive queue of Ethernet frames.
    #[error("RQ")]
    Rq,
    /// Transport interface send.
    #[error("TIS")]
    Tis,
    /// Transport interface receive.
    #[error("TIR")]
    Tir,
    /// Table of receive queues.
    #[error("RQT")]
    Rqt,
    /// Flow table.
    #[error("flow table")]
    FlowTable,
    /// Group of rules of a flow table.
    #[error("flow group")]
    FlowGroup,
    /// Rule of a flow table.
    #[error("flow rule")]
    FlowRule,
    /// Flow counter.
    #[error("flow counter")]
    FlowCounter,
    /// List of modifications of headers.
    #[error("modify header context")]
    ModifyHeader,
    /// Counters of a set of queues.
    #[error("Q counter")]
    QCounter,
    /// Signature value.
    #[error("PSV")]
    Psv,
    /// Multicast group.
    #[error("multicast group")]
    Group,
    /// QP in a multicast group.
    #[error("multicast group member")]
    GroupMember,
}

/// Why a command was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// No such object, or no longer.
    #[error("no {object} {number:#x}")]
    NoSuch {
        /// Kind.
        object: Object,
        /// Number that was named.
        number: u32,
    },
    /// Other objects still refer to it, or the device of a peer uses it at this moment.
    #[error("{object} {number:#x} is in use by {users} other objects")]
    Busy {
        /// Kind.
        object: Object,
        /// Its number.
        number: u32,
        /// How many refer to it.
        users: u32,
    },
    /// All numbers of this kind are taken.
    #[error("no more than {limit} {object} objects")]
    Exhausted {
        /// Kind.
        object: Object,
        /// How many there can be.
        limit: u32,
    },
    /// A parameter is out of range.
    #[error("{what} is {value:#x}; permitted: {permitted}")]
    BadValue {
        /// The parameter.
        what: &'static str,
        /// The given value.
        value: u64,
        /// The permitted values.
        permitted: &'static str,
    },
    /// There is no such QP state transition, or the caller's idea of the current state is wrong.
    #[error("QP cannot go from {from:?} to {to:?}")]
    BadTransition {
        /// Current state.
        from: QpState,
        /// State asked for.
        to: QpState,
    },
    /// There is no such transition of a send or receive queue, or the caller's idea of the current state is wrong.
    #[error("a queue in {found:?} cannot go from {from:?} to {to:?}")]
    BadQueueTransition {
        /// Current state.
        found: QueueState,
        /// The caller's idea of it.
        from: QueueState,
        /// State asked for.
        to: QueueState,
    },
    /// A QP attribute that the transition needs is missing.
    #[error("{from:?} to {to:?} needs {attr}")]
    MissingAttr {
        /// Current state.
        from: QpState,
        /// State asked for.
        to: QpState,
        /// The attribute.
        attr: &'static str,
    },
    /// A QP attribute that the transition does not permit was given.
    #[error("{from:?} to {to:?} does not permit {attr}")]
    UnexpectedAttr {
        /// Current state.
        from: QpState,
        /// State asked for.
        to: QpState,
        /// The attribute.
        attr: &'static str,
    },
    /// The device cannot do this.
    #[error("not supported: {0}")]
    Unsupported(&'static str),
    /// A ring or a doorbell record is not reachable.
    #[error(transparent)]
    Dma(#[from] DmaFault),
    /// The operating system refused a resource.
    #[error("{what}: errno {errno}")]
    System {
        /// The request that it refused.
        what: &'static str,
        /// Its answer.
        errno: i32,
    },
}

impl Error {
    /// The operating system's refusal of a request: `what` names the call.
    pub(crate) fn of_system(what: &'static str, error: impl Into<io::Error>) -> Self {
        Self::System { what, errno: error.into().raw_os_error().unwrap_or(0) }
    }
}
