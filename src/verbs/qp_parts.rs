//! From an `ibv_qp` to queues over its rings.

use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::Arc;

use rdma_sys as sys;

use super::device::{is_mlx5, query};
use super::error::zero;
use super::parts::{self, Shadow, fits, part};
use super::qp::{Domain, QpHandle, Under, VerbsTransport};
use super::register::{self, Claim};
use super::states::QpState;
use super::taken::Taken;
use super::{DeviceAttr, Error, Owned, Qp, QueuePair, ffi};
use crate::db::{Register, RegisterParts};
use crate::queue::{RecvQueue, RqParts, SendQueue, SqParts};
use crate::types::{Qpn, SqPi, Wqebbs};

pub(super) const OBJECT: &str = "queue pair";

/// The environment variable by which libmlx5 is told to sign the WQEs of queue pairs.
pub(super) const QP_SIGNATURE: &str = "MLX5_QP_SIGNATURE";

/// A queue pair and its raw parts, before its register is known to be whose.
pub(super) struct Made<T> {
    handle: QpHandle,
    parts: ffi::Mlx5dvQp,
    cap: sys::ibv_qp_cap,
    /// How many receives may be posted at a time.
    receives: u32,
    state: QpState,
    signal_all: bool,
    has_rq: bool,
    transport: PhantomData<T>,
}

impl<T: VerbsTransport> Made<T> {
    /// # Safety
    /// As [`adopt_qp`], but for the register.
    pub(super) unsafe fn adopt(qp: NonNull<sys::ibv_qp>) -> Result<Self, Error> {
        parts::unsigned(OBJECT, QP_SIGNATURE)?;
        // SAFETY: the caller vouches for the queue pair, which has its context and its type written once.
        let (context, kind) = unsafe { ((*qp.as_ptr()).context, (*qp.as_ptr()).qp_type) };
        if kind != T::QP_TYPE {
            return Err(Error::WrongTransport { is: type_name(kind), wanted: T::NAME });
        }
        // SAFETY: a live queue pair has an open context with a device.
        if !unsafe { is_mlx5((*context).device) }? {
            return Err(Error::Parts { object: OBJECT, why: "it is not of an mlx5 device".into() });
        }
        // SAFETY: as above; and the caller keeps it alive.
        unsafe { Self::new(qp, query(context)?, None) }
    }

    /// # Safety
    /// The queue pair is alive, of an mlx5 device, and stays so: with `under`, it is this value's to destroy.
    pub(super) unsafe fn new(
        raw: NonNull<sys::ibv_qp>,
        device: DeviceAttr,
        under: Option<Under>,
    ) -> Result<Self, Error> {
        // First of all the value that destroys it if the rest fails.
        let mut handle = QpHandle {
            raw,
            adopted: under.is_none(),
            qpn: Qpn::truncate(0),
            recv_qpn: Qpn::truncate(0),
            reliable: T::RELIABLE,
            device,
            window: Wqebbs(0),
            taken: None,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: None,
            _claim: None,
            under,
        };
        // SAFETY: the caller vouches for the queue pair.
        let parts = unsafe { parts::of_qp(raw) }?;
        // SAFETY: as above; written once.
        let (number, srq) = unsafe { ((*raw.as_ptr()).qp_num, (*raw.as_ptr()).srq) };
        handle.qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
        handle.recv_qpn = recv_number(&parts)?.unwrap_or(handle.qpn);
        handle.taken = Some(Taken::new(OBJECT, number, raw.addr().get())?);
        // SAFETY: integers and null pointers.
        let (mut attr, mut init): (sys::ibv_qp_attr, sys::ibv_qp_init_attr) = unsafe { core::mem::zeroed() };
        let mask = (sys::ibv_qp_attr_mask::IBV_QP_CAP | sys::ibv_qp_attr_mask::IBV_QP_STATE).0.cast_signed();
        // SAFETY: the queue pair is alive, both structures are ours.
        zero("ibv_query_qp", unsafe { sys::ibv_query_qp(raw.as_ptr(), &raw mut attr, mask, &raw mut init) })?;
        let has_rq = srq.is_null() && parts.rq.wqe_cnt != 0;
        let mut made = Self {
            handle,
            parts,
            cap: init.cap,
            receives: 0,
            state: QpState::from_raw(attr.qp_state),
            signal_all: init.sq_sig_all != 0,
            has_rq,
            transport: PhantomData,
        };
        // What libmlx5 takes (rdma-core `providers/mlx5/qp.c`, `mlx5_wq_overflow`).
        made.bound(Wqebbs(u16::try_from(init.cap.max_send_wr).unwrap_or(u16::MAX)), init.cap.max_recv_wr);
        Ok(made)
    }

    /// Bounds what the queues take at a time.
    pub(super) fn bound(&mut self, window: Wqebbs, receives: u32) {
        // A ring has at most 2^15 WQEBBs; `from_parts` refuses a larger one.
        self.handle.window = window.min(Wqebbs(u16::try_from(self.parts.sq.wqe_cnt).unwrap_or(u16::MAX)));
        self.receives = receives;
    }

    pub(super) fn register(&self) -> Result<RegisterParts, Error> {
        let reg = part(OBJECT, "doorbell register", self.parts.bf.reg)?;
        let parts = RegisterParts { reg, size: self.parts.bf.size };
        match self.handle.under.as_ref().map(|under| &under.domain) {
            Some(Domain::Own(parent)) => parent.check(parts)?,
            Some(Domain::Thread(thread)) => thread.parent().check(parts)?,
            Some(Domain::Protection) | None => {}
        }
        Ok(parts)
    }

    pub(super) fn finish<R: Register>(mut self, register: R, claim: Option<Claim>) -> Result<QueuePair<T, R>, Error> {
        let raw = self.parts;
        let dbrec = part(OBJECT, "doorbell record", raw.dbrec)?;
        // A queue pair goes on where its doorbell record says it is: at 0 when new.
        // SAFETY: two words that libmlx5 allocated; nothing else writes them while nothing is posted.
        let counters = unsafe { [dbrec.read(), dbrec.add(1).read()] }.map(|word: u32| u32::from_be(word) as u16);
        if raw.sq.stride as usize != crate::types::WQEBB_BYTES {
            let why = format!("send WQEBBs of {} bytes", raw.sq.stride);
            return Err(Error::Parts { object: OBJECT, why });
        }
        let bad = |object| move |error: &dyn core::fmt::Display| Error::Parts { object, why: error.to_string() };

        let sq_shadow = Shadow::new(raw.sq.wqe_cnt);
        let sq = SqParts {
            ring: part(OBJECT, "send ring", raw.sq.buf)?,
            wqebbs: raw.sq.wqe_cnt,
            dbrec,
            qpn: self.handle.qpn,
            max_inline: self.cap.max_inline_data,
            max_sge: self.cap.max_send_sge,
            signal_all: self.signal_all,
            pi: SqPi(counters[ffi::MLX5_SND_DBR]),
            shadow: sq_shadow.start(),
        };
        self.handle._sq_shadow = sq_shadow;
        // SAFETY: libmlx5 describes its own ring; ring, record and shadow live in the handle, which goes after the queue
        // (`Owned`); nobody else posts, which is in the contract of adopting and what `Qp::as_raw` warns of.
        let mut sq = unsafe { SendQueue::from_parts(sq, register) }.map_err(|error| bad("send queue")(&error))?;
        sq.set_blueflame_policy(register::blueflame_policy());
        let window = if self.state.takes_sends() { self.handle.window } else { Wqebbs(0) };
        sq.set_window(window).map_err(|error| bad("send queue")(&error))?;

        let rq = if self.has_rq {
            let shadow = Shadow::new(RqParts::shadow_words(raw.rq.wqe_cnt));
            let rq = RqParts {
                buf: part(OBJECT, "receive ring", raw.rq.buf)?,
                wqe_cnt: raw.rq.wqe_cnt,
                stride: raw.rq.stride,
                dbrec,
                qpn: self.handle.recv_qpn,
                head: counters[ffi::MLX5_RCV_DBR],
                shadow: shadow.start(),
            };
            self.handle._rq_shadow = Some(shadow);
            // SAFETY: as for the send queue.
            let mut rq = unsafe { RecvQueue::from_parts(rq) }.map_err(|error| bad("receive queue")(&error))?;
            rq.set_window(self.receives);
            Some(rq)
        } else {
            None
        };

        self.handle._claim = claim;
        let qp = Qp { handle: Arc::new(self.handle) };
        Ok(QueuePair {
            // SAFETY: the handle keeps the queue pair; these are the only queues over its rings.
            sq: unsafe { Owned::new(sq, qp.clone(), SendQueue::ring_addr) },
            // SAFETY: as above.
            rq: rq.map(|rq| unsafe { Owned::new(rq, qp.clone(), RecvQueue::ring_addr) }),
            qp,
        })
    }
}

/// What verbs calls a type of queue pair.
fn type_name(kind: sys::ibv_qp_type::Type) -> String {
    match kind {
        sys::ibv_qp_type::IBV_QPT_RC => "RC".into(),
        sys::ibv_qp_type::IBV_QPT_UC => "UC".into(),
        sys::ibv_qp_type::IBV_QPT_UD => "UD".into(),
        sys::ibv_qp_type::IBV_QPT_RAW_PACKET => "raw packet".into(),
        sys::ibv_qp_type::IBV_QPT_XRC_SEND => "XRC (sending side)".into(),
        sys::ibv_qp_type::IBV_QPT_XRC_RECV => "XRC (receiving side)".into(),
        sys::ibv_qp_type::IBV_QPT_DRIVER => "the driver's own".into(),
        other => format!("ibv_qp_type {other}"),
    }
}

/// The numbers that completions of sends and of receives carry: one for both, but for raw packets.
///
/// # Safety
/// The queue pair is alive and of an mlx5 device.
pub(super) unsafe fn numbers(raw: NonNull<sys::ibv_qp>) -> Result<[Qpn; 2], Error> {
    // SAFETY: the caller's.
    let parts = unsafe { parts::of_qp(raw) }?;
    // SAFETY: as above; written once.
    let number = unsafe { (*raw.as_ptr()).qp_num };
    let qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
    Ok([qpn, recv_number(&parts)?.unwrap_or(qpn)])
}

/// The number of the receive queue where it has its own, as those of raw packet queue pairs have: completions of receives carry
/// it (Linux `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp`).
fn recv_number(parts: &ffi::Mlx5dvQp) -> Result<Option<Qpn>, Error> {
    if parts.comp_mask & ffi::MLX5DV_QP_MASK_RAW_QP_HANDLES == 0 || parts.rqn == 0 {
        return Ok(None);
    }
    fits(OBJECT, "receive queue's number", parts.rqn, Qpn::new(parts.rqn)).map(Some)
}
