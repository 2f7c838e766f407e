//! How requests and receives fail: the syndromes of their error CQEs.

use crate::cq::Syndrome;
use crate::explanation::Reason;
use crate::memory::keys::fault::{MemcpyFault, UmrFault};
use crate::packet::NakCode;
use crate::recv::SrqFault;

/// Why a WQE ends in an error CQE.
///
/// NVIDIA publishes no vendor syndromes. Where reports from NICs show one beside a syndrome, the device writes it, and
/// the report is named. The others are softhca's own, and stay the same between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The host's driver acts on this syndrome.
    pub(crate) syndrome: Syndrome,
    /// The finer reason.
    pub(crate) vendor: u8,
    /// The hardware's syndrome, as in a report of this vendor syndrome; else 0.
    pub(crate) hardware: u8,
    /// The reason in words, with values.
    pub(crate) reason: Reason,
}

impl Failure {
    pub(crate) const fn new(syndrome: Syndrome, vendor: u8, reason: &'static str) -> Self {
        Self { syndrome, vendor, hardware: 0, reason: Reason::Is(reason) }
    }

    /// Gives the failure this reason.
    pub(crate) fn because(self, reason: impl Into<Reason>) -> Self {
        Self { reason: reason.into(), ..self }
    }

    const fn with_hardware(self, hardware: u8) -> Self {
        Self { hardware, ..self }
    }

    /// The send WQE is malformed: UCX issues 1151 and 3618. The hardware's syndrome is that of a line of libxlio,
    /// `log_cqe_error`; UCX's is 31.
    pub(crate) const BAD_WQE: Self =
        Self::new(Syndrome::LocalQpOp, 0x68, "the send WQE is malformed").with_hardware(0x9c);
    /// The address of a datagram names a source GID that the port does not have. Softhca's own.
    pub(crate) const BAD_ADDRESS: Self =
        Self::new(Syndrome::LocalQpOp, 0x22, "the address names a source GID that the port does not have");
    /// The receive WQE is malformed: UCX pull request 11444, where a maintainer names it so.
    pub(crate) const BAD_RECEIVE_WQE: Self =
        Self::new(Syndrome::LocalQpOp, 0xd6, "the receive WQE is malformed, or cannot be read");
    /// The message to send is longer than 2^31 bytes, or a datagram than the MTU. This and the next three are softhca's
    /// own.
    pub(crate) const MESSAGE_LENGTH: Self = Self::new(Syndrome::LocalLength, 0x10, "the message is too long");
    /// The Ethernet frame to send is shorter than its own header, or longer than the port takes.
    pub(crate) const FRAME_LENGTH: Self =
        Self::new(Syndrome::LocalLength, 0x12, "the frame is shorter than its header, or longer than the port takes");
    /// A copy is longer than the device's longest.
    pub(crate) const MEMCPY_LENGTH: Self =
        Self::new(Syndrome::LocalLength, 0x13, "the copy is longer than the longest");
    /// A WAIT whose action is an error found another value in memory. No source names the syndrome.
    pub(crate) const WAIT_CHECK: Self =
        Self::new(Syndrome::LocalQpOp, 0x23, "the word in memory does not have what the WAIT asks for");
    /// The message received is longer than the receive WQE.
    pub(crate) const RECEIVE_LENGTH: Self =
        Self::new(Syndrome::LocalLength, 0x11, "the message is longer than the receive WQE");
    /// A local key does not permit the access to the bytes to send, or to where the answer goes: a READ into memory
    /// without LOCAL_WRITE, for example (google/rdma-unit-test `unit/access_test.cc`, `MissingSrcLocalWrite`; Linux'
    /// `rxe_comp.c`, `do_read`). The numbers are those of SENDs from host memory: SPDK issue 961; UCX issue 6414, whose
    /// hardware syndrome is 0x92; FDio/csit issue 3988. 0x51 was met with memory of a GPU, 0x53 with frames.
    pub(crate) const LOCAL_PROTECTION: Self =
        Self::new(Syndrome::LocalProtection, 0x52, "a local key does not permit the access").with_hardware(0x93);
    /// A local key does not permit the access to the receive buffer: UCX pull request 9167.
    pub(crate) const RECEIVE_PROTECTION: Self =
        Self::new(Syndrome::LocalProtection, 0x32, "a local key does not permit the access").with_hardware(0x92);
    /// Flushed, from the send queue or the receive queue: nvme-cli issue 3268, NCCL issues 1353, 1405 and 1814.
    pub(crate) const FLUSH: Self = Self::new(Syndrome::WrFlush, 0xf9, "the QP is in the error state");
    /// The memory key to change is not there, not in the state that the request asks for, or not the QP's to change.
    /// This one and those up to `BAD_INVALIDATE` are softhca's own.
    pub(crate) const UMR_KEY: Self = Self::new(Syndrome::MwBind, 0x30, "the memory key cannot be changed");
    /// The change would give the memory key a state that no key can have.
    pub(crate) const UMR_CHANGE: Self = Self::new(Syndrome::MwBind, 0x31, "no memory key can have this state");
    /// The list of a memory key would become longer than the key or the device has room for.
    pub(crate) const UMR_LENGTH: Self =
        Self::new(Syndrome::MwBind, 0x32, "the list of the memory key would be too long");
    /// The signature value to set is not there, or not of the QP's protection domain.
    pub(crate) const PSV: Self = Self::new(Syndrome::MwBind, 0x33, "there is no such signature value");
    /// A READ or atomic answer of the wrong length, kind or syndrome.
    pub(crate) const BAD_RESPONSE: Self =
        Self::new(Syndrome::BadResponse, 0x60, "the answer is not one to this request");
    /// A WRITE with immediate data named a key that does not permit it.
    pub(crate) const REMOTE_WRITE: Self =
        Self::new(Syndrome::LocalAccess, 0x43, "the key of the WRITE with immediate data does not permit it");
    /// SEND with invalidate named a key that cannot be invalidated (IBTA vol. 1, 9.9.6.3, responder class J).
    pub(crate) const BAD_INVALIDATE: Self =
        Self::new(Syndrome::RemoteInvalidRequest, 0x71, "the key cannot be invalidated");
    /// The receive from an SRQ met a page that was not there (rdma-core `providers/mlx5/cq.c`, `is_odp_pfault_err`).
    pub(crate) const PAGE_FAULT: Self =
        Self::new(Syndrome::RemoteAborted, 0x93, "--faults odp or the script: a page of the receive is not there");
    /// The receive from an SRQ was begun for a packet out of sequence; or, of a DCT, for a message of which the rest
    /// never came. UCX takes the WQE back and goes on (`src/uct/ib/mlx5/ib_mlx5.h`, `UCT_IB_MLX5_CQE_VENDOR_SYND_PSN`).
    pub(crate) const OUT_OF_SEQUENCE: Self =
        Self::new(Syndrome::RemoteAborted, 0x99, "the rest of the message has not come in sequence");
    /// No answer after `retry_cnt` retries: UCX issues 2973, 5199 and more.
    pub(crate) const TRANSPORT_RETRY: Self = Self::new(Syndrome::TransportRetryExceeded, 0x81, "no answer");
    /// RNR NAK after `rnr_retry` retries. Users name this number beside the status; no public report has the CQE.
    pub(crate) const RNR_RETRY: Self = Self::new(Syndrome::RnrRetryExceeded, 0x87, "the peer has no receive posted");

    /// The failure of a request that a NAK refuses; `None` if the NAK asks for retransmission, or means nothing. Sources
    /// are charm++ issue 2532 and UCX issue 1770; UCX issue 1569 and libfabric issue 4283; UCX issue 5472.
    pub(crate) fn of_nak(code: NakCode) -> Option<Self> {
        let (syndrome, vendor) = match code {
            NakCode::INVALID_REQUEST => (Syndrome::RemoteInvalidRequest, 0x8a),
            NakCode::REMOTE_ACCESS => (Syndrome::RemoteAccess, 0x88),
            NakCode::REMOTE_OPERATIONAL => (Syndrome::RemoteOp, 0x89),
            _ => return None,
        };
        Some(Self { syndrome, vendor, hardware: 0, reason: Reason::Nak(code) })
    }

    /// The failure of a UMR WQE whose change of a memory key was refused.
    pub(crate) fn of_umr(fault: &UmrFault) -> Self {
        let failure = match fault {
            UmrFault::Key(_)
            | UmrFault::NotEnabled(_)
            | UmrFault::State { .. }
            | UmrFault::Unbound(_)
            | UmrFault::OtherQp { .. }
            | UmrFault::NotPermitted { .. } => Self::UMR_KEY,
            UmrFault::Change { .. } => Self::UMR_CHANGE,
            UmrFault::Length { .. } | UmrFault::Formats { .. } | UmrFault::Full(_) => Self::UMR_LENGTH,
            UmrFault::List(_) => Self::LOCAL_PROTECTION,
        };
        failure.because(*fault)
    }

    /// The failure of a WQE whose copy cannot be made.
    pub(crate) fn of_memcpy(fault: &MemcpyFault) -> Self {
        let failure = match fault {
            MemcpyFault::NotEnabled => Self::BAD_WQE,
            MemcpyFault::Length { .. } => Self::MEMCPY_LENGTH,
            MemcpyFault::Source(_) | MemcpyFault::Destination(_) => Self::LOCAL_PROTECTION,
        };
        failure.because(*fault)
    }

    /// The failure of a receive from an SRQ that is made to fail.
    pub(crate) fn of_srq_fault(fault: SrqFault) -> Self {
        match fault {
            SrqFault::Page => Self::PAGE_FAULT,
            SrqFault::Sequence => Self::OUT_OF_SEQUENCE
                .because(Reason::Is("--faults psn or the script: the receive was begun out of sequence")),
        }
    }
}
