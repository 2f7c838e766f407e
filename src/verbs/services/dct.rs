//! Targets of dynamic connections (DCT): initiators send to them. A target posts nothing, so it has no queue of this
//! crate: receives come from a shared queue.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::types::{DcKey, Psn, Qpn};
use crate::verbs::cq::any::{Completes, left_behind, receiver, whole};
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::error::{has_port, non_null, zero};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::parts::fits;
use crate::verbs::qp::builder::{TRIES, Unfit};
use crate::verbs::qp::initiator::DYNAMIC;
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Access, AnyCq, Cq, Endpoint, Error, Path, ProtectionDomain, Srq};

/// A target of dynamic connections (DCT): any initiator that knows its [address](Self::endpoint) and its
/// [key](Self::key) can send to it, and, where the target's rights permit, read and write memory of its protection
/// domain. Cheap to clone.
///
/// ```no_run
/// use blueflame::types::{DcKey, WrId};
/// use blueflame::verbs::{Device, Path};
/// use blueflame::{transport, wqe};
///
/// fn loop_back(device: &Device, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
///     let pd = device.protection_domain()?;
///     let cq = device.completion_queue(64).build()?;
///     let srq = pd.shared_recv_queue(16, 1)?;
///     let target = pd.target(&cq, srq.handle()).build(path, DcKey(0x1234))?;
///
///     let mut initiator = pd.queue_pair::<transport::Dci>(&cq, &cq).inline(64).build()?;
///     initiator.activate(path)?;
///     // The peer has told its endpoint and its key.
///     let handle = pd.address(&path.route(&target.endpoint(path))?)?;
///     let to = handle.target(target.dctn(), target.key());
///     initiator.sq.post(&wqe::send().to(to).inline(b"hello").signaled(WrId(1)))?;
///     Ok(())
/// }
/// ```
///
/// Receives are those of the [shared queue](crate::verbs::OwnedSrq) that it was made with; their completions name the
/// target in [`qpn`](crate::cq::CqeView::qpn). Completions that are unpolled when the target is dropped stay in the
/// completion queue; [`forget`](crate::CompletionQueue::forget) takes them out.
#[doc(alias = "MLX5DV_DCTYPE_DCT")]
#[derive(Clone, Debug)]
pub struct Dct {
    handle: Arc<DctHandle>,
}

#[derive(Debug)]
struct DctHandle {
    raw: NonNull<sys::ibv_qp>,
    dctn: Qpn,
    key: DcKey,
    /// The objects that it was made from; `None` once it is destroyed.
    under: Option<Arc<Under>>,
}

/// The objects that a target is made from.
type Under = (Cq, Srq, Arc<PdHandle>, Completes);

// SAFETY: only the destruction, by the single owner, touches the object; libibverbs locks the state that it shares.
unsafe impl Send for DctHandle {}
// SAFETY: shared use reads numbers that never change, and gives out an address.
unsafe impl Sync for DctHandle {}

impl Drop for DctHandle {
    fn drop(&mut self) {
        event!(DEBUG, "target destroyed", dctn = self.dctn.get());
        // SAFETY: made by `mlx5dv_create_qp`.
        let returned = unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
        drop_or_leak("target", self.dctn.get(), returned, self.under.take());
    }
}

/// Builder of a target.
#[derive(Clone)]
pub struct DctBuilder<'a> {
    pd: &'a ProtectionDomain,
    cq: &'a dyn AnyCq<Cq>,
    srq: &'a Srq,
    scatter_to_cqe: bool,
}

impl ProtectionDomain {
    /// Begins a target of dynamic connections that takes receives from `srq` and completes them on `cq`.
    #[must_use]
    pub fn target<'a>(&'a self, cq: &'a dyn AnyCq<Cq>, srq: &'a Srq) -> DctBuilder<'a> {
        DctBuilder { pd: self, cq, srq, scatter_to_cqe: false }
    }
}

impl DctBuilder<'_> {
    /// Lets small messages arrive in the CQE in place of the buffer, as
    /// [`QpBuilder::scatter_to_cqe`](crate::verbs::QpBuilder::scatter_to_cqe). Off by default.
    #[must_use]
    pub fn scatter_to_cqe(mut self, on: bool) -> Self {
        self.scatter_to_cqe = on;
        self
    }

    /// Makes the target, and takes it from RESET to INIT to RTR, where it stays. In RTR, the device gives the target
    /// its number, and serves initiators that know `key` from then on. The path gives the target's port, GID and
    /// partition, and the rights of initiators to memory ([`Path::access`]).
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::MixedUp`] if the completion queue is another handle's,
    /// [`Error::ForeignDevice`], [`Error::Receivers`], [`Error::CqRoom`], [`Error::NoPort`], [`Error::OutOfRange`],
    /// [`Error::PathWithoutGid`], [`Error::StaleCompletions`], or a failed call.
    pub fn build(self, path: &Path, key: DcKey) -> Result<Dct, Error> {
        path.check()?;
        let cq = whole(self.cq)?;
        self.pd.handle.context.check("target", [cq.into(), self.srq.into()])?;
        let receiver = Some(receiver(self.cq, false)?);
        let completes = Completes { receiver, sends: None, _receives: self.srq.reserve(cq)? };
        let device = self.pd.handle.context.attr();
        has_port(path.port.number, device.ports)?;
        if path.gid_type().is_none() {
            return Err(Error::PathWithoutGid { port: path.port.number });
        }
        let under = Arc::new((cq.clone(), self.srq.clone(), Arc::clone(&self.pd.handle), completes));
        let mut unfit = Vec::new();
        let ((raw, under), dctn) = loop {
            let (made, dctn) = self.make(path, key, &under)?;
            let Some((qpn, cq)) = left_behind([dctn; 2], [self.cq; 2]) else { break (made.keep(), dctn) };
            unfit.push(made);
            if unfit.len() == TRIES {
                return Err(Error::StaleCompletions { qpn, cqn: cq.cqn() });
            }
        };
        event!(DEBUG, "target made", dctn = dctn.get(), srqn = self.srq.srqn().get());
        Ok(Dct { handle: Arc::new(DctHandle { raw, dctn, key, under: Some(under) }) })
    }

    /// A target in RTR, and its number.
    fn make(&self, path: &Path, key: DcKey, under: &Arc<Under>) -> Result<(Unfit<Arc<Under>>, Qpn), Error> {
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        let cq = self.cq.any_handle().as_raw();
        (attr.send_cq, attr.recv_cq, attr.srq) = (cq, cq, self.srq.as_raw());
        attr.qp_type = sys::IBV_QPT_DRIVER;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
        attr.pd = self.pd.as_raw();
        let mut mlx5 = sys::mlx5dv_qp_init_attr {
            comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | sys::MLX5DV_QP_INIT_ATTR_MASK_DC,
            create_flags: if self.scatter_to_cqe { 0 } else { sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE },
            dc_init_attr: sys::mlx5dv_dc_init_attr { dc_type: sys::MLX5DV_DCTYPE_DCT, dct_access_key: key.0 },
            ..sys::mlx5dv_qp_init_attr::default()
        };
        let context = self.pd.handle.context.raw();
        // SAFETY: context, domain and queues are alive, and of one context; the attributes live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5) };
        let raw = non_null("mlx5dv_create_qp", raw).map_err(|error| match error.errno {
            libc::EOPNOTSUPP => Error::Unsupported { what: DYNAMIC },
            _ => error.into(),
        })?;
        let made = Unfit::new(raw, Arc::clone(under));

        let mut init = zeroed_attr(sys::IBV_QPS_INIT);
        (init.pkey_index, init.port_num) = (path.pkey_index, path.port.number);
        // Remote rights only, and those that the device can do: the kernel refuses more.
        let device = self.pd.handle.context.attr();
        let atomics = if device.atomics { Access::REMOTE_ATOMIC.bits() } else { 0 };
        let possible = Access::REMOTE_WRITE.bits() | Access::REMOTE_READ.bits() | atomics;
        init.qp_access_flags = path.access.bits() & possible & !Access::LOCAL_WRITE.bits();
        let mask = sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_ACCESS_FLAGS;
        // SAFETY: just made; the structure is ours. So below.
        zero("ibv_modify_qp to INIT", unsafe { sys::ibv_modify_qp(raw.as_ptr(), &raw mut init, mask as libc::c_int) })?;

        let mut rtr = zeroed_attr(sys::IBV_QPS_RTR);
        rtr.path_mtu = path.mtu as sys::ibv_mtu;
        rtr.min_rnr_timer = path.min_rnr_timer;
        // Only this side's part of the path: answers go where requests come from.
        rtr.ah_attr.port_num = path.port.number;
        rtr.ah_attr.sl = path.service_level;
        if let Some(entry) = path.sgid {
            rtr.ah_attr.is_global = 1;
            rtr.ah_attr.grh.sgid_index = entry.index;
            (rtr.ah_attr.grh.hop_limit, rtr.ah_attr.grh.traffic_class) = (path.hop_limit, path.traffic_class);
        }
        let mask = sys::IBV_QP_STATE | sys::IBV_QP_PATH_MTU | sys::IBV_QP_MIN_RNR_TIMER | sys::IBV_QP_AV;
        // SAFETY: just made; the structure is ours.
        zero("ibv_modify_qp to RTR", unsafe { sys::ibv_modify_qp(raw.as_ptr(), &raw mut rtr, mask as libc::c_int) })?;
        // SAFETY: alive; libmlx5 has written the number in the call above (`modify_dct` of `providers/mlx5/verbs.c`).
        let number = unsafe { (*raw.as_ptr()).qp_num };
        let dctn = fits("target", "number", number, Qpn::new(number))?;
        Ok((made, dctn))
    }
}

impl Dct {
    /// The target's number (PRM "DCTN"), which is also that of its completions' [`qpn`](crate::cq::CqeView::qpn).
    #[must_use]
    pub fn dctn(&self) -> Qpn {
        self.handle.dctn
    }

    /// The key that its initiators' requests carry.
    #[must_use]
    pub fn key(&self) -> DcKey {
        self.handle.key
    }

    /// The endpoint where initiators reach it; `path` is the path that it was made with. Tell initiators this endpoint
    /// and [the key](Self::key). A target has no PSN of its own; the endpoint says 0.
    #[must_use]
    pub fn endpoint(&self, path: &Path) -> Endpoint {
        path.endpoint(self.dctn(), Psn::truncate(0))
    }

    /// The raw object, an `ibv_qp`; alive as long as `self`: for queries. Do not destroy it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_qp {
        self.handle.raw.as_ptr()
    }
}
