//! Raw packet queue pairs. They have no peer, so their state changes need no address.

use rdma_sys as sys;

use crate::db::Register;
use crate::transport::{self, InlineLayers, InlineMode};
use crate::verbs::device::{Port, RateLimit, RateLimits};
use crate::verbs::error::zero;
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Error, QueuePair, VerbsTransport, ffi};

/// The process needs `CAP_NET_RAW` to make one, and the port must be Ethernet.
impl<M: InlineMode> VerbsTransport for transport::RawPacket<M> {
    const QP_TYPE: sys::ibv_qp_type::Type = sys::ibv_qp_type::IBV_QPT_RAW_PACKET;
    const RELIABLE: bool = false;
    const OPERAND_DS: usize = 2;
    const FLOW_TAGS: bool = true;
    const INLINE_LAYERS: Option<InlineLayers> = Some(M::LAYERS);
    const NAME: &'static str = "raw packet";
}

impl<M: InlineMode, R: Register> QueuePair<transport::RawPacket<M>, R> {
    /// RESET to INIT to RTR to RTS: frames may be posted from here on, and leave by `port`.
    ///
    /// Flow rules decide which frames arrive here: [`Qp::steer`](crate::verbs::Qp::steer) makes them.
    ///
    /// A rule may give its frames a [flow tag](crate::flow::Flow::flow_tag). Completions carry the tag in place of the
    /// number ([`flow_tag`](crate::cq::CqeView::flow_tag)), or 0 without a tag. So the queue pair must be the only
    /// receiver of its completion queue ([`Receiver`](crate::cq::setup::Receiver)): its receive queue takes every
    /// receive completion of that completion queue.
    ///
    /// # Errors
    /// [`Error::NoPort`], [`Error::WrongState`], [`Error::ResetElsewhere`], or a failed call.
    pub fn activate(&mut self, port: &Port) -> Result<(), Error> {
        type Mask = sys::ibv_qp_attr_mask;
        self.qp.check_port(port.number)?;
        let mut init = zeroed_attr(sys::ibv_qp_state::IBV_QPS_INIT);
        init.port_num = port.number;
        self.qp.modify(&mut init, Mask::IBV_QP_STATE | Mask::IBV_QP_PORT)?;
        let mut rtr = zeroed_attr(sys::ibv_qp_state::IBV_QPS_RTR);
        self.qp.modify(&mut rtr, Mask::IBV_QP_STATE)?;
        // Here libmlx5 has stored its own count of posted receives, which is zero, to the receive queue's record
        // (rdma-core `providers/mlx5/verbs.c`, `mlx5_modify_qp`).
        if let Some(rq) = &mut self.rq {
            rq.ring_again();
        }
        let mut rts = zeroed_attr(sys::ibv_qp_state::IBV_QPS_RTS);
        self.sq.open_by(&mut rts, Mask::IBV_QP_STATE)
    }

    /// Sets the rate at which frames leave, or removes it. The queue pair is ready to send
    /// ([`activate`](Self::activate)). A reset removes the rate.
    ///
    /// Frames posted earlier that have not left yet follow the new rate. Completions come as the frames leave.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], also if the device has no rates ([`DeviceAttr::rate_limits`]). A failed call: `EINVAL` if
    /// the queue pair is not ready to send, or if the device takes no bound of bursts; `ENOSPC` if all rates of the
    /// device are taken. Equal rates count once.
    ///
    /// [`DeviceAttr::rate_limits`]: crate::verbs::device::DeviceAttr::rate_limits
    #[doc(alias = "ibv_modify_qp_rate_limit")]
    pub fn set_rate_limit(&mut self, limit: Option<RateLimit>) -> Result<(), Error> {
        if let Some(limit) = limit {
            let rates = self.qp.handle.device.rate_limits;
            rates.unwrap_or(RateLimits { min: 1, max: 0 }).check(limit)?;
        }
        let limit = limit.unwrap_or(RateLimit::kilobits(0));
        let mut attr = sys::ibv_qp_rate_limit_attr {
            rate_limit: limit.rate(),
            max_burst_sz: limit.max_burst(),
            typical_pkt_sz: limit.typical(),
            comp_mask: 0,
        };
        // SAFETY: the queue pair is alive, the attributes are ours.
        zero("ibv_modify_qp_rate_limit", unsafe { ffi::modify_qp_rate_limit(self.qp.as_raw(), &raw mut attr) })?;
        Ok(())
    }
}
