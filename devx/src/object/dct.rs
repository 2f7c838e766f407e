//! Targets of dynamic connections.

use blueflame::verbs::device::{GidType, LinkLayer};
use blueflame::verbs::{Access, Path};

use super::check_cq::receiver;
use super::cq::Cq;
use super::pd::Pd;
use super::receives::shared::SharedReceives;
use crate::check::in_range;
use crate::cmd::{CreateDctIn, Dctc, Dctn, PathMtu, QueryDctIn};
use crate::context::Object;
use crate::error::Error;
use crate::support::ask::has;

/// A target of dynamically connected queue pairs (DCT). Any initiator that knows its key can send to its number.
#[derive(Debug)]
pub struct Dct {
    object: Object,
    dctn: Dctn,
}

impl Pd {
    /// Makes a target that takes receives from `shared` and completes them on `cq`. Initiators that know `access_key`
    /// get the access of `path`; its RNR timer and MTU apply to them.
    ///
    /// # Errors
    /// [`Error::Capability`], [`Error::OutOfRange`], [`Error::ForeignDevice`], [`Error::Receivers`],
    /// [`Error::Command`].
    pub fn dct(&self, cq: &Cq, shared: &SharedReceives, path: &Path, access_key: u64) -> Result<Dct, Error> {
        let context = self.context();
        path.check()?;
        let general = context.general()?;
        has("cmd_hca_cap.dct", general.dct())?;
        in_range("port", path.port.number, 1..=general.num_ports().into())?;
        let allows = |right: Access| path.access.bits() & right.bits() & !Access::LOCAL_WRITE.bits() != 0;
        let mut inbox = CreateDctIn::new();
        let target = inbox.dct_context_entry_mut();
        target
            .set_pd(self.pdn())
            .set_cqn(cq.cqn())
            .set_srqn_xrqn(shared.number().get())
            .set_rre(allows(Access::REMOTE_READ))
            .set_rwe(allows(Access::REMOTE_WRITE))
            .set_min_rnr_nak(path.min_rnr_timer)
            .set_dc_access_key(access_key)
            .set_mtu(PathMtu(path.mtu as u8).0)
            .set_port(path.port.number)
            .set_pkey_index(path.pkey_index)
            .set_my_addr_index(path.sgid.map_or(0, |entry| entry.index))
            .set_hop_limit(path.hop_limit)
            .set_tclass(path.traffic_class);
        // As UCX (`src/uct/ib/mlx5/dc/dc_mlx5_devx.c`, `uct_dc_mlx5_iface_devx_create_dct`): the traffic class is set
        // for RoCE v2 as well, because old firmware uses it there. The priority is Linux'
        // (`drivers/infiniband/hw/mlx5/qp.c`, `mlx5_ib_modify_dct`).
        if path.port.link_layer == LinkLayer::Ethernet {
            target.set_eth_prio(path.service_level & 7);
        }
        if path.gid_type() == Some(GidType::RoceV2) {
            target.set_dscp(path.traffic_class >> 2);
        }
        if general.atomic() && allows(Access::REMOTE_ATOMIC) {
            target.set_rae(true).set_atomic_mode(context.atomic_mode()?);
        }
        let under = (receiver(cq)?, shared.reserve(cq)?, shared.clone(), cq.clone(), self.clone());
        let (object, out) = context.make(&inbox, under)?;
        Ok(Dct { object, dctn: out.dctn() })
    }
}

impl Dct {
    /// The number that initiators send to.
    #[must_use]
    pub fn dctn(&self) -> Dctn {
        self.dctn
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Dctc, Error> {
        let mut inbox = QueryDctIn::new();
        inbox.set_dctn(self.dctn);
        Ok(self.object.query(&inbox)?.dct_context_entry().clone())
    }
}
