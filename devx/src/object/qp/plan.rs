//! The configuration of a queue pair, and CREATE_QP, for any service. It does not depend on the queues over its rings.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex};

use blueflame::queue::AnyCq;
use blueflame::queue::recv::RqParts;
use blueflame::queue::send::SqParts;
use blueflame::types::{DS_BYTES, Ds, SqPi, WQEBB_BYTES, Wqebbs};

use super::super::cq::Cq;
use super::super::pd::Pd;
use super::super::uar::DoorbellPage;
use super::handle::{Handle, Qp};
use crate::check::in_range;
use crate::cmd::{CreateQpIn, CreateQpOut, PathMigration, RqType, SendDbrMode, ServiceType};
use crate::context::Object;
use crate::error::Error;
use crate::memory::{Record, Space, ThreadRings};
use crate::object::check_cq::{make_fresh, receiver, whole};
use crate::object::receives::shared::SharedReceives;
use crate::support::ask::{at_least, has};
use blueflame::queue::Shadow;

/// The configuration of a queue pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<'a> {
    pub(super) pd: &'a Pd,
    pub(super) rings: &'a ThreadRings,
    pub(super) send_cq: &'a dyn AnyCq<Cq>,
    pub(super) recv_cq: &'a dyn AnyCq<Cq>,
    pub(super) shared: Option<&'a SharedReceives>,
    pub(super) service: ServiceType,
    pub(super) sends: u32,
    pub(super) receives: u32,
    pub(super) send_sge: u32,
    pub(super) recv_sge: u32,
    pub(super) inline: u32,
    pub(super) user_index: u32,
    pub(super) memcpy: bool,
    /// Its WQEs have signatures.
    pub(super) signed: bool,
    /// Its requests may be about other queues.
    pub(super) master: bool,
    /// Its queues start when requests of other queues say so.
    pub(super) managed_sends: bool,
    pub(super) managed_receives: bool,
    /// Its send queue has no doorbell record.
    pub(super) recordless: bool,
}

/// A queue pair, and its raw parts, over which there is no queue yet.
pub(super) struct Made {
    pub(super) qp: Qp,
    pub(super) sq: SqParts,
    pub(super) rq: RqParts,
}

/// The user index of queues without one of their own, the same as in Linux (`MLX5_IB_DEFAULT_UIDX`).
const NO_USER_INDEX: u32 = 0xff_ffff;

/// Options of version 1: with any of it, the device offers all that it has (rdma-core `providers/mlx5/verbs.c`,
/// `create_qp`; UCX `UCT_IB_MLX5_DEVX_ECE_TRIG_RESP`).
const ECE_VERSION_1: u32 = 0x1000_0000;

/// DS of the remote address, and of an address vector.
const REMOTE_DS: usize = 1;
const ADDRESS_DS: usize = 3;

/// How large the rings of a queue pair are: receive WQEs first, the send ring behind.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Outstanding at most.
    depth: Wqebbs,
    /// WQEBBs of the largest request.
    largest: Wqebbs,
    /// WQEBBs of the send ring.
    wqebbs: u32,
    /// WQEs of the receive ring; 0 without one.
    wqes: u32,
    /// Bytes of each.
    stride: u32,
}

impl Shape {
    fn recv_bytes(&self) -> usize {
        self.wqes as usize * self.stride as usize
    }

    fn bytes(&self) -> usize {
        self.recv_bytes() + self.wqebbs as usize * WQEBB_BYTES
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        pd: &'a Pd,
        rings: &'a ThreadRings,
        send_cq: &'a dyn AnyCq<Cq>,
        recv_cq: &'a dyn AnyCq<Cq>,
        service: ServiceType,
    ) -> Self {
        Self {
            pd,
            rings,
            send_cq,
            recv_cq,
            shared: None,
            service,
            sends: 128,
            receives: 128,
            send_sge: 1,
            recv_sge: 1,
            inline: 0,
            user_index: NO_USER_INDEX,
            memcpy: false,
            signed: false,
            master: false,
            managed_sends: false,
            managed_receives: false,
            recordless: false,
        }
    }

    /// DS of a request between its control segment and its payload.
    fn operand_ds(&self) -> usize {
        match self.service {
            ServiceType::UD => ADDRESS_DS,
            ServiceType::DCI => ADDRESS_DS + REMOTE_DS,
            _ => REMOTE_DS,
        }
    }

    /// DS of the largest request.
    fn largest(&self) -> usize {
        let inline = (self.inline as usize + size_of::<u32>()).div_ceil(DS_BYTES);
        let payload = if self.inline == 0 { 0 } else { inline };
        // Control segment and operands.
        1 + self.operand_ds() + payload.max(self.send_sge as usize)
    }

    /// The WQEBBs that may be outstanding on the send queue: at least one request of the largest.
    pub(super) fn depth(&self) -> Wqebbs {
        let largest = Ds(self.largest().min(usize::from(Ds::MAX)) as u8).wqebbs();
        Wqebbs(u16::try_from(self.sends).unwrap_or(u16::MAX)).max(largest)
    }

    /// The sizes of the rings.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`].
    fn shape(&self) -> Result<Shape, Error> {
        in_range("gather entries", self.send_sge, 0..=61)?;
        in_range("bytes inline", self.inline, 0..=960)?;
        in_range("requests of a send queue", self.sends, 1..=1 << 15)?;
        in_range("requests of a receive queue", self.receives, 0..=1 << 15)?;
        // A signature takes the place of an entry.
        in_range("scatter entries", self.recv_sge, 1..=128 - u64::from(self.signed))?;
        in_range("user index", self.user_index, 0..=0xff_ffff)?;
        let ds = self.largest();
        in_range("DS of a request", ds as u64, 0..=Ds::MAX.into())?;
        let (largest, depth) = (Ds(ds as u8).wqebbs(), self.depth());
        let stride = DS_BYTES as u32 * (self.recv_sge + u32::from(self.signed)).next_power_of_two();
        // The send ring begins behind the receive ring, at a WQEBB.
        let least = (WQEBB_BYTES as u32 / stride).max(1);
        let wqes =
            if self.receives == 0 || self.shared.is_some() { 0 } else { self.receives.next_power_of_two().max(least) };
        let shape = Shape { depth, largest, wqebbs: u32::from(depth.0).next_power_of_two(), wqes, stride };
        self.check(&shape)?;
        Ok(shape)
    }

    fn has_receives(&self, shape: &Shape) -> bool {
        self.shared.is_some() || shape.wqes != 0
    }

    /// Checks the configuration against the device's capabilities.
    fn check(&self, shape: &Shape) -> Result<(), Error> {
        let general = self.pd.context().general()?;
        match self.service {
            ServiceType::RC => has("cmd_hca_cap.rc", general.rc())?,
            ServiceType::UC => has("cmd_hca_cap.uc", general.uc())?,
            ServiceType::UD => has("cmd_hca_cap.ud", general.ud())?,
            ServiceType::XRC => has("cmd_hca_cap.xrc", general.xrc())?,
            ServiceType::DCI => has("cmd_hca_cap.dct", general.dct())?,
            _ => {}
        }
        if self.memcpy {
            self.pd.context().max_memcpy()?;
        }
        if self.signed {
            has("cmd_hca_cap.wq_signature", general.wq_signature())?;
        }
        if self.master || self.managed_sends || self.managed_receives {
            self.pd.context().cross_channel()?;
        }
        let longest = shape.wqebbs.max(shape.wqes).trailing_zeros();
        at_least("cmd_hca_cap.log_max_qp_sz", general.log_max_qp_sz(), longest)?;
        let bytes = shape.largest.0 * WQEBB_BYTES as u16;
        at_least("cmd_hca_cap.max_wqe_sz_sq", general.max_wqe_sz_sq(), bytes)?;
        if shape.wqes != 0 {
            at_least("cmd_hca_cap.max_wqe_sz_rq", general.max_wqe_sz_rq(), shape.stride)?;
        }
        Ok(())
    }

    /// Makes the queue pair, with the doorbell register of `page`.
    pub(super) fn make(&self, page: &DoorbellPage) -> Result<Made, Error> {
        let cqs = (whole(self.send_cq)?.clone(), whole(self.recv_cq)?.clone());
        let shape = self.shape()?;
        let ring = self.rings.ring(shape.bytes(), WQEBB_BYTES)?;
        let record = self.rings.record()?;
        let mut inbox = self.inbox(&shape, &ring, &record, page);
        inbox.qpc_mut().set_ts_format(self.pd.context().qp_timestamps()?);
        if self.pd.context().general()?.ece_support() {
            inbox.set_ece(ECE_VERSION_1);
        }
        let (start, dbrec) = (ring.start(), record.start());
        let receiver = self.has_receives(&shape).then(|| receiver(&cqs.1)).transpose()?;
        let sends = cqs.0.reserve(shape.depth.0.into())?;
        let receives = match self.shared {
            Some(shared) => shared.reserve(&cqs.1)?,
            None => Some(Arc::new(cqs.1.reserve(self.receives)?)),
        };
        let completes = (receiver, sends, receives);
        let under = Arc::new((completes, ring, record, page.clone(), cqs, self.shared.cloned(), self.pd.clone()));
        let number = |out: &CreateQpOut| out.qpn();
        let cqs = [self.send_cq, self.recv_cq];
        let (object, out) = make_fresh(self.pd.context(), &inbox, &under, cqs, number)?;
        Ok(self.finish(object, &out, &shape, (start, dbrec)))
    }

    /// CREATE_QP.
    fn inbox(&self, shape: &Shape, ring: &Space, record: &Record, page: &DoorbellPage) -> CreateQpIn {
        let mut inbox = CreateQpIn::new();
        inbox.set_wq_umem_valid(true).set_wq_umem_id(ring.umem()).set_wq_umem_offset(ring.offset());
        let qpc = inbox.qpc_mut();
        qpc.set_st(self.service)
            .set_pm_state(PathMigration::MIGRATED)
            .set_pd(self.pd.pdn())
            .set_uar_page(page.id())
            .set_user_index(self.user_index)
            .set_cqn_snd(self.send_cq.any_handle().cqn())
            .set_cqn_rcv(self.recv_cq.any_handle().cqn())
            .set_log_sq_size(shape.wqebbs.trailing_zeros() as u8)
            .set_wq_signature(self.signed)
            .set_cd_master(self.master)
            .set_cd_slave_send(self.managed_sends)
            .set_cd_slave_receive(self.managed_receives)
            .set_send_dbr_mode(if self.recordless { SendDbrMode::NO_DBR_EXT } else { SendDbrMode::DBR_VALID })
            .set_dbr_umem_valid(true)
            .set_dbr_umem_id(record.umem())
            .set_dbr_addr(record.offset());
        if let Some(shared) = self.shared {
            qpc.set_rq_type(RqType::SRQ_RMP_XRC_SRQ_XRQ).set_srqn_rmpn_xrqn(shared.number());
        } else if shape.wqes == 0 {
            qpc.set_rq_type(RqType::ZERO_SIZE);
        } else {
            qpc.set_rq_type(RqType::REGULAR)
                .set_log_rq_size(shape.wqes.trailing_zeros() as u8)
                .set_log_rq_stride((shape.stride / DS_BYTES as u32).trailing_zeros() as u8);
        }
        inbox
    }

    fn finish(
        &self,
        object: Object,
        out: &CreateQpOut,
        shape: &Shape,
        (ring, dbrec): (NonNull<u8>, NonNull<u32>),
    ) -> Made {
        let qpn = out.qpn();
        let room = shape.largest.0 as usize * WQEBB_BYTES - (1 + self.operand_ds()) * DS_BYTES;
        let sq_shadow = Shadow::new(shape.wqebbs);
        let sq = SqParts {
            // SAFETY: the send ring lies behind the receive ring, in the same space.
            ring: unsafe { ring.add(shape.recv_bytes()) },
            wqebbs: shape.wqebbs,
            dbrec,
            qpn,
            cq: self.send_cq.any_id(),
            max_inline: room.saturating_sub(size_of::<u32>()) as u32,
            max_sge: (room / DS_BYTES) as u32,
            signal_all: false,
            pi: SqPi(0),
            shadow: sq_shadow.start(),
        };
        let rq_shadow = Shadow::new(RqParts::shadow_words(shape.wqes));
        let rq = RqParts {
            buf: ring,
            wqe_cnt: shape.wqes,
            stride: shape.stride,
            dbrec,
            qpn,
            cq: self.recv_cq.any_id(),
            flow_tags: false,
            head: 0,
            shadow: rq_shadow.start(),
        };
        let handle = Handle {
            object,
            qpn,
            service: self.service,
            depth: shape.depth,
            changing: Mutex::new(false),
            ece: out.ece(),
            memcpy: self.memcpy,
            receives: self.receives,
            has_receives: self.has_receives(shape),
            _sq_shadow: sq_shadow,
            _rq_shadow: rq_shadow,
            send_cq: self.send_cq.any_handle().clone(),
            recv_cq: self.recv_cq.any_handle().clone(),
        };
        Made { qp: Qp { handle: Arc::new(handle) }, sq, rq }
    }
}
