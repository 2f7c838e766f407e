//! How requests and receives fail: syndromes of their error CQEs, with the device's own vendor syndromes.

use crate::cq::Syndrome;
use crate::packet::NakCode;
use crate::recv::SrqFault;
use crate::resources::{MemcpyFault, UmrFault};

/// Why a WQE ends in an error CQE. The vendor syndromes are softhca's own, and stay the same between versions. Those of
/// a ConnectX differ; NVIDIA does not publish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The host's driver acts on this syndrome.
    pub(crate) syndrome: Syndrome,
    /// The finer reason.
    pub(crate) vendor: u8,
}

impl Failure {
    const fn new(syndrome: Syndrome, vendor: u8) -> Self {
        Self { syndrome, vendor }
    }

    /// The send WQE is malformed.
    pub(crate) const BAD_WQE: Self = Self::new(Syndrome::LocalQpOp, 0x20);
    /// The address of a datagram names a source GID that the port does not have.
    pub(crate) const BAD_ADDRESS: Self = Self::new(Syndrome::LocalQpOp, 0x22);
    /// The receive WQE is malformed.
    pub(crate) const BAD_RECEIVE_WQE: Self = Self::new(Syndrome::LocalQpOp, 0x23);
    /// The message to send is longer than 2^31 bytes, or a datagram than the MTU.
    pub(crate) const MESSAGE_LENGTH: Self = Self::new(Syndrome::LocalLength, 0x10);
    /// The Ethernet frame to send is shorter than its own header, or longer than the port takes.
    pub(crate) const FRAME_LENGTH: Self = Self::new(Syndrome::LocalLength, 0x12);
    /// A copy is longer than the device's longest.
    pub(crate) const MEMCPY_LENGTH: Self = Self::new(Syndrome::LocalLength, 0x13);
    /// The message received is longer than the receive WQE.
    pub(crate) const RECEIVE_LENGTH: Self = Self::new(Syndrome::LocalLength, 0x11);
    /// A local key does not permit the access to the bytes to send.
    pub(crate) const SOURCE_PROTECTION: Self = Self::new(Syndrome::LocalProtection, 0x40);
    /// A local key does not permit the access to where the answer goes: a READ into memory without LOCAL_WRITE, for
    /// example (google/rdma-unit-test `unit/access_test.cc`, `MissingSrcLocalWrite`; Linux' `rxe_comp.c`, `do_read`).
    pub(crate) const RESULT_PROTECTION: Self = Self::new(Syndrome::LocalProtection, 0x41);
    /// A local key does not permit the access to the receive buffer.
    pub(crate) const RECEIVE_PROTECTION: Self = Self::new(Syndrome::LocalProtection, 0x42);
    /// Flushed from the send queue.
    pub(crate) const SEND_FLUSH: Self = Self::new(Syndrome::WrFlush, 0x50);
    /// Flushed from the receive queue.
    pub(crate) const RECEIVE_FLUSH: Self = Self::new(Syndrome::WrFlush, 0x51);
    /// The memory key to change is not there, not in the state that the request asks for, or not the QP's to change.
    pub(crate) const UMR_KEY: Self = Self::new(Syndrome::MwBind, 0x30);
    /// The change would give the memory key a state that no key can have.
    pub(crate) const UMR_CHANGE: Self = Self::new(Syndrome::MwBind, 0x31);
    /// The list of a memory key would become longer than the key or the device has room for.
    pub(crate) const UMR_LENGTH: Self = Self::new(Syndrome::MwBind, 0x32);
    /// The signature value to set is not there, or not of the QP's protection domain.
    pub(crate) const PSV: Self = Self::new(Syndrome::MwBind, 0x33);
    /// A READ or atomic answer of the wrong length, kind or syndrome.
    pub(crate) const BAD_RESPONSE: Self = Self::new(Syndrome::BadResponse, 0x60);
    /// A WRITE with immediate data named a key that does not permit it.
    pub(crate) const REMOTE_WRITE: Self = Self::new(Syndrome::LocalAccess, 0x43);
    /// SEND with invalidate named a key that cannot be invalidated (IBTA vol. 1, 9.9.6.3, responder class J).
    pub(crate) const BAD_INVALIDATE: Self = Self::new(Syndrome::RemoteInvalidRequest, 0x71);
    /// The receive from an SRQ met a page that was not there. These two are a ConnectX's own vendor syndromes.
    pub(crate) const PAGE_FAULT: Self = Self::new(Syndrome::RemoteAborted, 0x93);
    /// The receive from an SRQ was begun for a packet out of sequence; or, of a DCT, for a message of which the rest
    /// never came. UCX takes the WQE back and goes on.
    pub(crate) const OUT_OF_SEQUENCE: Self = Self::new(Syndrome::RemoteAborted, 0x99);
    /// No answer after `retry_cnt` retries.
    pub(crate) const TRANSPORT_RETRY: Self = Self::new(Syndrome::TransportRetryExceeded, 0x81);
    /// RNR NAK after `rnr_retry` retries.
    pub(crate) const RNR_RETRY: Self = Self::new(Syndrome::RnrRetryExceeded, 0x82);

    /// The failure of a request that a NAK refuses; `None` if the NAK asks for retransmission, or means nothing.
    pub(crate) fn of_nak(code: NakCode) -> Option<Self> {
        match code {
            NakCode::INVALID_REQUEST => Some(Self::new(Syndrome::RemoteInvalidRequest, 0x70)),
            NakCode::REMOTE_ACCESS => Some(Self::new(Syndrome::RemoteAccess, 0x73)),
            NakCode::REMOTE_OPERATIONAL => Some(Self::new(Syndrome::RemoteOp, 0x74)),
            _ => None,
        }
    }
    /// The failure of a UMR WQE whose change of a memory key was refused.
    pub(crate) fn of_umr(fault: &UmrFault) -> Self {
        match fault {
            UmrFault::Key(_)
            | UmrFault::NotEnabled(_)
            | UmrFault::State { .. }
            | UmrFault::Unbound(_)
            | UmrFault::OtherQp { .. }
            | UmrFault::NotPermitted { .. } => Self::UMR_KEY,
            UmrFault::Change { .. } => Self::UMR_CHANGE,
            UmrFault::Length { .. } | UmrFault::Formats { .. } | UmrFault::Full(_) => Self::UMR_LENGTH,
            UmrFault::List(_) => Self::SOURCE_PROTECTION,
        }
    }

    /// The failure of a WQE whose copy cannot be made.
    pub(crate) fn of_memcpy(fault: &MemcpyFault) -> Self {
        match fault {
            MemcpyFault::NotEnabled => Self::BAD_WQE,
            MemcpyFault::Length(_) => Self::MEMCPY_LENGTH,
            MemcpyFault::Source(_) => Self::SOURCE_PROTECTION,
            MemcpyFault::Destination(_) => Self::RESULT_PROTECTION,
        }
    }

    /// The failure of a receive from an SRQ that is made to fail.
    pub(crate) fn of_srq_fault(fault: SrqFault) -> Self {
        match fault {
            SrqFault::Page => Self::PAGE_FAULT,
            SrqFault::Sequence => Self::OUT_OF_SEQUENCE,
        }
    }
}
