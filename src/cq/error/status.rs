//! Errors of requests: the device's syndromes, and the verbs status that each stands for.
use core::fmt;

/// Declares a C-like enum with a value, the C name and a text per variant.
macro_rules! named_values {
    (
        $(#[$doc:meta])* $name:ident: $repr:ty;
        $($(#[$vdoc:meta])* $variant:ident = $value:literal, $c_name:literal, $text:literal;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr($repr)]
        pub enum $name {
            $(
                #[doc = concat!("`", $c_name, "`: ", $text, ".")]
                #[doc(alias = $c_name)]
                $variant = $value,
            )+
        }

        impl $name {
            /// Every value, in numerical order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in the C headers.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $c_name,)+ }
            }

            /// The meaning, as text for people.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} ({})", self.text(), self.name())
            }
        }
    };
}

named_values! {
    /// The status of a completion, with the values of `ibv_wc_status` (rdma-core `libibverbs/verbs.h`).
    ///
    /// The meanings are in IBTA vol. 1, 11.6.2, "Completion return status".
    #[doc(alias("ibv_wc_status", "ibv_wc_status_str"))]
    WcStatus: u32;
    Success = 0, "IBV_WC_SUCCESS", "the request completed";
    LocLenErr = 1, "IBV_WC_LOC_LEN_ERR", "a local buffer is too short for the message, or the message exceeds what \
        the port can carry";
    LocQpOpErr = 2, "IBV_WC_LOC_QP_OP_ERR", "the local queue pair found the request malformed or not allowed";
    LocEecOpErr = 3, "IBV_WC_LOC_EEC_OP_ERR", "the local end-to-end context found the request malformed (RD, unused)";
    LocProtErr = 4, "IBV_WC_LOC_PROT_ERR", "a local key does not cover the buffer or does not allow the access";
    WrFlushErr = 5, "IBV_WC_WR_FLUSH_ERR", "the queue pair is in the error state; this request was not executed";
    MwBindErr = 6, "IBV_WC_MW_BIND_ERR", "binding a memory window failed";
    BadRespErr = 7, "IBV_WC_BAD_RESP_ERR", "the responder sent an unexpected transport opcode";
    LocAccessErr = 8, "IBV_WC_LOC_ACCESS_ERR", "a remote write with immediate hit a local protection error";
    RemInvReqErr = 9, "IBV_WC_REM_INV_REQ_ERR", "the responder found the request invalid";
    RemAccessErr = 10, "IBV_WC_REM_ACCESS_ERR", "the remote key does not cover the address or does not allow the \
        access";
    RemOpErr = 11, "IBV_WC_REM_OP_ERR", "the responder could not complete the request";
    RetryExcErr = 12, "IBV_WC_RETRY_EXC_ERR", "the responder did not answer, after all retries";
    RnrRetryExcErr = 13, "IBV_WC_RNR_RETRY_EXC_ERR", "the responder had no receive buffer posted, after all retries";
    LocRddViolErr = 14, "IBV_WC_LOC_RDD_VIOL_ERR", "the reliable datagram domains differ (RD, unused)";
    RemInvRdReqErr = 15, "IBV_WC_REM_INV_RD_REQ_ERR", "the responder found the reliable datagram invalid (RD, unused)";
    RemAbortErr = 16, "IBV_WC_REM_ABORT_ERR", "the request was aborted";
    InvEecnErr = 17, "IBV_WC_INV_EECN_ERR", "the end-to-end context number is invalid (RD, unused)";
    InvEecStateErr = 18, "IBV_WC_INV_EEC_STATE_ERR", "the end-to-end context is in the wrong state (RD, unused)";
    FatalErr = 19, "IBV_WC_FATAL_ERR", "the device failed";
    RespTimeoutErr = 20, "IBV_WC_RESP_TIMEOUT_ERR", "the responder timed out";
    GeneralErr = 21, "IBV_WC_GENERAL_ERR", "the device reported an error that has no status of its own";
    TmErr = 22, "IBV_WC_TM_ERR", "a tag matching list operation failed";
    TmRndvIncomplete = 23, "IBV_WC_TM_RNDV_INCOMPLETE", "a tag matching rendezvous needs software to finish it";
}

named_values! {
    /// A syndrome this crate knows (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQE_SYNDROME_*`).
    KnownSyndrome: u8;
    LocalLength = 0x01, "MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR", "local length error";
    LocalQpOp = 0x02, "MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR", "local queue pair operation error";
    LocalProt = 0x04, "MLX5_CQE_SYNDROME_LOCAL_PROT_ERR", "local protection error";
    WrFlush = 0x05, "MLX5_CQE_SYNDROME_WR_FLUSH_ERR", "flushed, the queue pair is in the error state";
    MwBind = 0x06, "MLX5_CQE_SYNDROME_MW_BIND_ERR", "memory window bind error";
    BadResp = 0x10, "MLX5_CQE_SYNDROME_BAD_RESP_ERR", "bad response";
    LocalAccess = 0x11, "MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR", "local access error";
    RemoteInvalReq = 0x12, "MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR", "the remote side found the request invalid";
    RemoteAccess = 0x13, "MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR", "remote access error";
    RemoteOp = 0x14, "MLX5_CQE_SYNDROME_REMOTE_OP_ERR", "remote operation error";
    TransportRetryExc = 0x15, "MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR", "transport retries exceeded";
    RnrRetryExc = 0x16, "MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR", "receiver-not-ready retries exceeded";
    RemoteAborted = 0x22, "MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR", "aborted by the remote side";
}

impl KnownSyndrome {
    /// The verbs status it stands for (rdma-core `providers/mlx5/cq.c`, `mlx5_handle_error_cqe`).
    #[must_use]
    pub const fn status(self) -> WcStatus {
        match self {
            Self::LocalLength => WcStatus::LocLenErr,
            Self::LocalQpOp => WcStatus::LocQpOpErr,
            Self::LocalProt => WcStatus::LocProtErr,
            Self::WrFlush => WcStatus::WrFlushErr,
            Self::MwBind => WcStatus::MwBindErr,
            Self::BadResp => WcStatus::BadRespErr,
            Self::LocalAccess => WcStatus::LocAccessErr,
            Self::RemoteInvalReq => WcStatus::RemInvReqErr,
            Self::RemoteAccess => WcStatus::RemAccessErr,
            Self::RemoteOp => WcStatus::RemOpErr,
            Self::TransportRetryExc => WcStatus::RetryExcErr,
            Self::RnrRetryExc => WcStatus::RnrRetryExcErr,
            Self::RemoteAborted => WcStatus::RemAbortErr,
        }
    }
}

/// The syndrome byte of an error CQE.
#[doc(alias = "mlx5_err_cqe")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// One of the thirteen that rdma-core knows.
    Known(KnownSyndrome),
    /// Any other value; it maps to [`WcStatus::GeneralErr`], as in rdma-core.
    Unknown(u8),
}

impl Syndrome {
    /// The syndrome with this value.
    #[inline]
    #[must_use]
    pub fn new(value: u8) -> Self {
        match KnownSyndrome::ALL.iter().find(|known| **known as u8 == value) {
            Some(known) => Self::Known(*known),
            None => Self::Unknown(value),
        }
    }

    /// The byte in the CQE.
    #[must_use]
    pub const fn value(self) -> u8 {
        match self {
            Self::Known(known) => known as u8,
            Self::Unknown(value) => value,
        }
    }

    /// The verbs status it stands for.
    #[must_use]
    pub const fn status(self) -> WcStatus {
        match self {
            Self::Known(known) => known.status(),
            Self::Unknown(_) => WcStatus::GeneralErr,
        }
    }
}

impl fmt::Display for Syndrome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => write!(f, "syndrome {:#04x}, {}", *known as u8, known.text()),
            Self::Unknown(value) => write!(f, "unknown syndrome {value:#04x}"),
        }
    }
}
