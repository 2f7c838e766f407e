//! Options of an embedded device's queues, and the raw parts that it hands out: the same facts that `mlx5dv_init_obj`
//! gives.

use crate::context::{Access, CqCompression, InlineHeaders, Transport};
use std::ptr::NonNull;

/// A CQ to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqOptions {
    /// CQEs, rounded up to a power of two; at most 2^`max_cqe_log` of the device's limits.
    pub cqes: u32,
    /// Bytes per CQE: 64 or 128.
    pub cqe_bytes: u32,
    /// When the ring is full: overwrite CQEs that the host has not consumed (`true`), or fail the CQ (`false`).
    pub ignore_overrun: bool,
    /// How completions are compressed, if they are.
    pub compression: Option<CqCompression>,
}

impl CqOptions {
    /// A CQ of `cqes` CQEs of 64 bytes, which fails when it overruns.
    #[must_use]
    pub fn new(cqes: u32) -> Self {
        Self { cqes, cqe_bytes: 64, ignore_overrun: false, compression: None }
    }
}

/// Receive WQEs of a QP to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvOptions {
    /// None.
    None,
    /// A ring of its own.
    Own {
        /// WQEs, rounded up to a power of two; at most 2^`max_wqe_log` of the device's limits.
        wqes: u32,
        /// Data segments (16 bytes) per WQE, rounded up to a power of two; at least 1.
        max_sge: u32,
    },
    /// An SRQ, by number.
    Shared(u32),
}

/// Register of a QP to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterOptions {
    /// The first register of a UAR page of its own, with BlueFlame.
    Own,
    /// The first register of a UAR page of its own, for 8-byte doorbells only (a UAR mapped non-cacheable).
    OwnWithoutBlueFlame,
    /// The register of another QP, by QPN.
    SharedWith(u32),
    /// That of a UAR page of its own for send queues without a doorbell record. 8-byte doorbells only.
    Recordless,
}

/// A QP to create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpOptions {
    /// Transport.
    pub transport: Transport,
    /// CQ of the send queue.
    pub send_cqn: u32,
    /// CQ of the receive queue.
    pub recv_cqn: u32,
    /// WQEBBs (64 bytes) of the send ring, rounded up to a power of two; at most 2^`max_wqe_log` of the device's
    /// limits.
    pub sq_wqebbs: u32,
    /// Receive WQEs.
    pub recv: RecvOptions,
    /// Register.
    pub register: RegisterOptions,
    /// Every send WQE completes with a CQE.
    pub signal_all: bool,
    /// READ and atomic results of up to this many bytes go into the CQE: 0, 32 or 64.
    pub scatter_to_cqe_req: u32,
    /// Received messages of up to this many bytes go into the CQE: 0, 32 or 64.
    pub scatter_to_cqe_res: u32,
    /// User index, 24 bits: the QP's CQEs carry it in `srqn_uidx`.
    pub uidx: u32,
    /// Raw packets: which of a frame's headers its WQE must hold.
    pub inline_headers: InlineHeaders,
    /// Its WQEs have signatures.
    pub signed: bool,
}

impl QpOptions {
    /// A QP with one CQ, 64 WQEBBs, 64 receive WQEs of up to 4 segments, and a register of its own.
    #[must_use]
    pub fn new(transport: Transport, cqn: u32) -> Self {
        Self {
            transport,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq_wqebbs: 64,
            recv: RecvOptions::Own { wqes: 64, max_sge: 4 },
            register: RegisterOptions::Own,
            signal_all: false,
            scatter_to_cqe_req: 0,
            scatter_to_cqe_res: 0,
            uidx: 0,
            inline_headers: InlineHeaders::None,
            signed: false,
        }
    }

    /// [`Self::new`] with a reliable connection.
    #[must_use]
    pub fn rc(cqn: u32) -> Self {
        Self::new(Transport::Rc, cqn)
    }

    /// [`Self::new`] for an initiator of dynamic connections, which receives nothing.
    #[must_use]
    pub fn dci(cqn: u32) -> Self {
        Self { recv: RecvOptions::None, ..Self::new(Transport::Dc, cqn) }
    }
}

/// A ring of WQEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// First WQE.
    pub buf: NonNull<u8>,
    /// WQEs (WQEBBs in a send ring), a power of two.
    pub wqe_cnt: u32,
    /// Bytes from one to the next.
    pub stride: u32,
}

/// A QP's raw parts (`struct mlx5dv_qp`). The pointers are valid as long as the device lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpParts {
    /// Number.
    pub qpn: u32,
    /// Send ring.
    pub sq: Ring,
    /// Receive ring, if it has one of its own.
    pub rq: Option<Ring>,
    /// Doorbell record: word 0 receive, word 1 send.
    pub dbrec: NonNull<u32>,
    /// BlueFlame register: its first half.
    pub bf_reg: NonNull<u8>,
    /// Bytes per half; 0 without BlueFlame.
    pub bf_size: u32,
    /// Index of the UAR page in which the register is.
    pub uar: u32,
}

/// A CQ's raw parts (`struct mlx5dv_cq`). The pointers are valid as long as the device lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqParts {
    /// Number.
    pub cqn: u32,
    /// First CQE.
    pub buf: NonNull<u8>,
    /// CQEs, a power of two.
    pub cqe_cnt: u32,
    /// Bytes per CQE.
    pub cqe_size: u32,
    /// Doorbell record: consumer index, arm word.
    pub dbrec: NonNull<u32>,
    /// UAR page on which it is armed, at offset 0x20.
    pub cq_uar: NonNull<u8>,
}

/// An SRQ's raw parts (`struct mlx5dv_srq`). The pointers are valid as long as the device lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqParts {
    /// Number.
    pub srqn: u32,
    /// Ring; all WQEs are linked, each to the next.
    pub ring: Ring,
    /// First free WQE.
    pub head: u32,
    /// Last free WQE; it is never posted.
    pub tail: u32,
    /// Doorbell record: one word.
    pub dbrec: NonNull<u32>,
}

/// How two QPs are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectOptions {
    /// Path MTU in bytes: 256, 512, 1024, 2048 or 4096; 0 means the smaller of the ports' MTUs.
    pub path_mtu: u32,
    /// First PSN in either direction, 24 bits.
    pub psn: u32,
    /// Rights of each peer.
    pub access: Access,
    /// READs and atomics outstanding at once, in each direction; at most the device's `max_rd_atomic` (RC).
    pub rd_atomic: u8,
    /// RNR NAK timer code, 0 to 31, of IBTA vol. 1, table 45: 1 is 10 us, 12 is 640 us, 0 is 655 ms (RC).
    pub min_rnr_timer: u8,
    /// Local ACK timeout code, 0 to 31: 4.096 us * 2^code, 14 is 67 ms; 0 waits without end (RC).
    pub timeout: u8,
    /// Transport retries, 0 to 7 (RC).
    pub retry_cnt: u8,
    /// RNR retries, 0 to 7; 7 means without end (RC).
    pub rnr_retry: u8,
    /// Receives complete in any order: see [`QpAttr::out_of_order`](crate::context::QpAttr::out_of_order).
    pub out_of_order: bool,
}

impl Default for ConnectOptions {
    /// The ports' MTU, all rights, 16 READs and atomics at once, and the timers and retries that examples of verbs
    /// programming commonly use.
    fn default() -> Self {
        Self {
            path_mtu: 0,
            psn: 0,
            access: Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true },
            rd_atomic: 16,
            min_rnr_timer: 12,
            timeout: 14,
            retry_cnt: 7,
            rnr_retry: 7,
            out_of_order: false,
        }
    }
}
