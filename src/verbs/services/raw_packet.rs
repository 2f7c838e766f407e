//! Raw packet queue pairs. They have no peer, so their state changes need no address.

use blueflame_sys as sys;

use crate::db::Register;
use crate::queue::owning::Posted;
use crate::transport::{self, InlineLayers};
use crate::verbs::device::{Port, RateLimit, RateLimits};
use crate::verbs::error::zero;
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Error, QpState, QueuePair, VerbsTransport};

/// The process needs `CAP_NET_RAW` to make one, and the port must be Ethernet.
impl<const HEADERS: usize> VerbsTransport for transport::RawPacket<HEADERS> {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_RAW_PACKET;
    const RELIABLE: bool = false;
    const CONNECTED: bool = false;
    const OPERAND_DS: usize = 2;
    const FLOW_TAGS: bool = true;
    const INLINE_LAYERS: Option<InlineLayers> = Some(InlineLayers::of(HEADERS));
    const NAME: &'static str = "raw packet";
}

impl<const HEADERS: usize, R: Register, B: Posted> QueuePair<transport::RawPacket<HEADERS>, R, B> {
    /// RESET to INIT to RTR to RTS: frames may be posted from here on, and leave by `port`.
    ///
    /// Flow rules decide which frames arrive here: [`Qp::steer`](crate::verbs::Qp::steer) makes them.
    ///
    /// A rule may give its frames a [flow tag](crate::flow::Flow::flow_tag). Completions carry the tag in place of the
    /// number ([`flow_tag`](crate::cq::CqeView::flow_tag)), or 0 without a tag. So the queue pair must be the only
    /// receiver of its completion queue ([`Receiver`](crate::cq::setup::Receiver)): its receive queue takes every
    /// receive completion of that completion queue.
    ///
    /// Both queues are in this value and its own, because their doorbell records change. The queue pair is in RESET. If
    /// a call fails on the way, [`reset`](Self::reset) leads back there. Receives that were posted before are the
    /// device's from RTR on: it drops frames that come earlier.
    ///
    /// # Errors
    /// [`Error::MixedUp`] if a queue is another object's, [`Error::NoPort`], or [`Error::WrongState`] if it is not in
    /// RESET: nothing has changed then. [`Error::ResetElsewhere`], or a failed call.
    pub fn activate(&mut self, port: &Port) -> Result<(), Error> {
        self.whole()?;
        self.qp.check_port(port.number)?;
        self.make_ready_to_receive(port)?;
        self.sq.open_by(&mut zeroed_attr(sys::IBV_QPS_RTS), sys::IBV_QP_STATE)
    }

    /// RESET to INIT to RTR.
    ///
    /// The device's receive queue is ready in INIT already, and a queue pair must not receive before RTR. So libmlx5
    /// leaves the record at zero until then, and stores its own count of posted receives in RTR, which is zero here
    /// (rdma-core `providers/mlx5/verbs.c`, `mlx5_modify_qp`). Had the device taken a receive before, it would have
    /// counted beyond that zero, and executed old WQEs. So this queue's record is zero as well, from RESET to RTR.
    fn make_ready_to_receive(&mut self, port: &Port) -> Result<(), Error> {
        let qp = &self.qp;
        // Nothing else changes the state until the record has its count again.
        let _changing = qp.changing();
        let is = qp.state_alone()?;
        if is != QpState::Reset {
            return Err(Error::WrongState { is, to: QpState::Init });
        }
        // SAFETY: in RESET, where the device takes no receives.
        unsafe { self.rq.withhold() };
        let mut init = zeroed_attr(sys::IBV_QPS_INIT);
        init.port_num = port.number;
        let made = qp
            .modify_alone(&mut init, sys::IBV_QP_STATE | sys::IBV_QP_PORT)
            .and_then(|()| qp.modify_alone(&mut zeroed_attr(sys::IBV_QPS_RTR), sys::IBV_QP_STATE));
        // After a failure as well: a later post would store the count anyway.
        self.rq.ring_again();
        made
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
        zero("ibv_modify_qp_rate_limit", unsafe { sys::ibv_modify_qp_rate_limit(self.qp.as_raw(), &raw mut attr) })?;
        Ok(())
    }
}
