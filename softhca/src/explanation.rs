//! Why the device refuses a request of a peer, or completes a work request in error. A NAK has a code, and an error CQE
//! a syndrome; both say little. An [`Explanation`] says which key, range, right or limit it was.
//!
//! Nothing here runs while requests succeed. Explanations are kept until a front end takes them
//! ([`crate::device::Device::explanations`]); the NAK's packet in a capture has its reason as a comment.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::cq::Syndrome;
use crate::memory::keys::fault::{LocalFault, MemcpyFault, PsvFault, UmrFault};
use crate::memory::keys::mkey::KeyFault;
use crate::packet::NakCode;
use crate::recv::TagFault;
use crate::wqe::WqeFault;

/// Most explanations that wait to be taken. Later ones are only logged.
const KEPT: usize = 256;

/// A reason, with the values at hand and the limits that they exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Reason {
    /// A key does not give access.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// The keys of a scatter list do not give access, or the list is too short.
    #[error(transparent)]
    Local(#[from] LocalFault),
    /// The WQE is malformed.
    #[error(transparent)]
    Wqe(#[from] WqeFault),
    /// A memory key is not changed.
    #[error(transparent)]
    Umr(#[from] UmrFault),
    /// A copy cannot be made.
    #[error(transparent)]
    Memcpy(#[from] MemcpyFault),
    /// A signature value is not set.
    #[error(transparent)]
    Psv(#[from] PsvFault),
    /// A list of tags is not changed.
    #[error(transparent)]
    Tag(#[from] TagFault),
    /// There is one case, and no value.
    #[error("{0}")]
    Is(&'static str),
    /// An object that the WQE names.
    #[error("{what} {number:#x}, {is}")]
    Object {
        /// Kind of request and object.
        what: &'static str,
        /// Its number.
        number: u32,
        /// Its fault.
        is: &'static str,
    },
    /// The QP's attributes do not permit the operation.
    #[error("the responder's QP does not permit {operation}: its qp_access_flags lack {flag}")]
    NotEnabled {
        /// The operation.
        operation: &'static str,
        /// The flag of verbs.
        flag: &'static str,
    },
    /// The message is too long.
    #[error("a message of {len} bytes; {limit} are permitted")]
    MessageLength {
        /// Its bytes.
        len: u64,
        /// Most bytes.
        limit: u64,
    },
    /// The message does not fit into the receive WQE.
    #[error("a message of {len} bytes or more; the receive WQE has room for {room}")]
    ReceiveLength {
        /// Bytes up to now.
        len: u64,
        /// Bytes of the receive WQE's segments.
        room: u64,
    },
    /// A packet does not have the bytes that its message still needs.
    #[error("a packet with {len} bytes of a message of which {left} are left")]
    PacketLength {
        /// Bytes of the packet.
        len: u32,
        /// Bytes that the message still has.
        left: u32,
    },
    /// A packet's payload is no part of a message by this path MTU.
    #[error("a packet with {len} bytes, which no message has there with the path MTU of {mtu}")]
    PathMtu {
        /// Bytes.
        len: usize,
        /// The responder's path MTU.
        mtu: u32,
    },
    /// XRC: the target's domain lacks the SRQ.
    #[error("SRQ {srqn:#x} is not in XRC domain {xrcd:#x}")]
    NoSrq {
        /// SRQ number.
        srqn: u32,
        /// The target's XRC domain.
        xrcd: u32,
    },
    /// An atomic at an address that its size does not divide.
    #[error("an atomic of {bytes} bytes at {addr:#x}: not a multiple of {bytes}")]
    Alignment {
        /// Address.
        addr: u64,
        /// Bytes.
        bytes: u8,
    },
    /// An atomic of a size that the QP does not permit.
    #[error("an extended atomic of {bytes} bytes; the QP permits sizes {permitted:#x} (a bit a size)")]
    AtomicSize {
        /// Bytes.
        bytes: u8,
        /// The sizes that it permits, added.
        permitted: u8,
    },
    /// More READs and atomics than the responder takes.
    #[error("a READ or atomic more than max_dest_rd_atomic, which is {limit}")]
    Outstanding {
        /// The most.
        limit: usize,
    },
    /// No receive WQE.
    #[error("no receive is posted; {consumed} are consumed")]
    NoReceive {
        /// Receives consumed from the own ring, modulo 2^16.
        consumed: u16,
    },
    /// No receive WQE in a shared queue.
    #[error("no receive is posted to SRQ {srqn:#x}")]
    NoSharedReceive {
        /// SRQ number.
        srqn: u32,
    },
    /// The peer refused it.
    #[error("the peer has refused it: {}", nak_name(*.0))]
    Nak(NakCode),
    /// No answer.
    #[error("no answer after {retries} retries, {timeout:?} or more each")]
    NoAnswer {
        /// `retry_cnt`.
        retries: u8,
        /// The transport timer.
        timeout: Duration,
    },
    /// The peer has no receive WQE.
    #[error("the peer still has no receive posted after {retries} retries (rnr_retry)")]
    NotReady {
        /// `rnr_retry`.
        retries: u8,
    },
}

/// The request that a reason is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A request of the QP's peer, by QPN and PSN, which is answered with this NAK; `None`: with an RNR NAK.
    Request { peer: u32, psn: u32, nak: Option<NakCode> },
    /// A message of an unreliable connection, which is dropped.
    Message { peer: u32, psn: u32 },
    /// A send WQE, by its index.
    Send(u16, Syndrome),
    /// A receive WQE, by its index.
    Receive(u16, Syndrome),
}

/// Why the device has refused or failed something: one line for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub(crate) qpn: u32,
    pub(crate) subject: Subject,
    pub(crate) reason: Reason,
}

impl Explanation {
    /// The QP that has refused a request or failed a WQE; the RQ, for a receive of frames.
    #[must_use]
    pub fn qpn(&self) -> u32 {
        self.qpn
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { qpn, subject, reason } = self;
        match *subject {
            Subject::Request { peer, psn, nak } => {
                let nak = nak.map_or("RNR NAK", nak_name);
                write!(f, "QP {qpn:#x} refuses a request of QP {peer:#x} (PSN {psn:#x}, {nak}): {reason}")
            }
            Subject::Message { peer, psn } => {
                write!(f, "QP {qpn:#x} drops a message of QP {peer:#x} (PSN {psn:#x}): {reason}")
            }
            Subject::Send(index, syndrome) => {
                write!(f, "QP {qpn:#x}: send WQE {index:#x} fails ({}): {reason}", syndrome.name())
            }
            Subject::Receive(index, syndrome) => {
                write!(f, "QP {qpn:#x}: receive WQE {index:#x} fails ({}): {reason}", syndrome.name())
            }
        }
    }
}

/// The name of a NAK code (IBTA vol. 1, 9.7.5.2.8, table 45).
fn nak_name(code: NakCode) -> &'static str {
    match code {
        NakCode::PSN_SEQUENCE => "PSN sequence error",
        NakCode::INVALID_REQUEST => "invalid request",
        NakCode::REMOTE_ACCESS => "remote access error",
        NakCode::REMOTE_OPERATIONAL => "remote operational error",
        _ => "a NAK of no known code",
    }
}

/// Explanations that have not been taken yet.
#[derive(Debug, Default)]
pub(crate) struct Explanations(Vec<Explanation>);

impl Explanations {
    /// Logs and keeps one.
    #[cold]
    pub(crate) fn add(&mut self, qpn: u32, subject: Subject, reason: Reason) {
        let explanation = Explanation { qpn, subject, reason };
        log::info!("{explanation}");
        if self.0.len() < KEPT {
            self.0.push(explanation);
        }
    }

    /// Takes all.
    pub(crate) fn take(&mut self) -> Vec<Explanation> {
        std::mem::take(&mut self.0)
    }
}
