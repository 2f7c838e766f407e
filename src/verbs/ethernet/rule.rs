//! Rules: which frames a receiver gets, as long as the rule lives.

use core::ptr::NonNull;

use rdma_sys as sys;

use super::attr::FlowAttr;
use super::receiver::FrameReceiver;
use crate::flow::Flow;
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Error, Qp, ffi};

/// The port that rules name. The kernel looks at it only where one device represents several ports; it must exist.
const PORT: u8 = 1;

/// A rule that steers frames to a receiver (`ibv_flow`). Dropping it removes it: frames that are on their way may still
/// arrive.
///
/// It keeps its receiver alive, so it may outlive the receiver's own value.
#[doc(alias = "ibv_flow")]
#[derive(Debug)]
#[must_use = "dropping a rule removes it"]
pub struct FlowRule {
    raw: NonNull<sys::ibv_flow>,
    receiver: Option<Kept>,
}

/// The receiver of a rule, which must outlive the rule.
#[derive(Debug)]
enum Kept {
    Qp(#[expect(dead_code, reason = "kept alive")] Qp),
    Frames(#[expect(dead_code, reason = "kept alive")] FrameReceiver),
}

// SAFETY: used only to be destroyed once; libibverbs locks the state that this call shares.
unsafe impl Send for FlowRule {}
// SAFETY: as above; `&self` gives out nothing but an address.
unsafe impl Sync for FlowRule {}

impl FlowRule {
    /// The raw rule; alive as long as `self`. Do not destroy it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_flow {
        self.raw.as_ptr()
    }
}

impl Drop for FlowRule {
    fn drop(&mut self) {
        // SAFETY: alive; written once.
        let handle = unsafe { (*self.raw.as_ptr()).handle };
        event!(DEBUG, "flow rule destroyed", handle);
        // SAFETY: made by `ibv_create_flow`, and not used again.
        let returned = unsafe { ffi::destroy_flow(self.raw.as_ptr()) };
        // If the rule stays, frames still arrive at the receiver's buffers.
        drop_or_leak("flow rule", handle, returned, self.receiver.take());
    }
}

impl Qp {
    /// Steers the frames of `flow` to this queue pair's receive queue, as long as the returned rule lives. Several
    /// rules may lead to one queue pair.
    ///
    /// The queue pair must be of [raw packets](crate::transport::RawPacket), and receive. It need not be
    /// [active](crate::verbs::QueuePair::activate) yet; before, the device drops its frames.
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// use blueflame::flow::Flow;
    /// use blueflame::transport::RawPacket;
    /// use blueflame::verbs::ethernet::FlowRule;
    /// use blueflame::verbs::{Error, QueuePair};
    ///
    /// fn receive_feed(pair: &QueuePair<RawPacket>) -> Result<FlowRule, Error> {
    ///     pair.qp.steer(&Flow::udp(Ipv4Addr::new(239, 1, 2, 3), 5001).flow_tag(7))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Flow`], [`Error::OutOfRange`] for a priority, [`Error::NoFrames`], or a failed call. `EPERM`: the
    /// process lacks `CAP_NET_RAW`. `EOPNOTSUPP`: the device cannot match a field, or has no sniffers. `EEXIST`: a rule
    /// with the same fields has another flow tag or action. The error's text says how to go on.
    #[doc(alias = "ibv_create_flow")]
    pub fn steer(&self, flow: &Flow) -> Result<FlowRule, Error> {
        if !self.handle.receiver.as_ref().is_some_and(|receiver| receiver.flow_tags()) {
            return Err(Error::NoFrames { qpn: self.qpn() });
        }
        // SAFETY: alive, and kept by the rule.
        let raw = unsafe { create(self.as_raw(), flow) }?;
        Ok(FlowRule { raw, receiver: Some(Kept::Qp(self.clone())) })
    }
}

impl FrameReceiver {
    /// Steers the frames of `flow` to the receiver's queues, as long as the returned rule lives. Several rules may lead
    /// to one receiver.
    ///
    /// # Errors
    /// As [`Qp::steer`].
    #[doc(alias = "ibv_create_flow")]
    pub fn steer(&self, flow: &Flow) -> Result<FlowRule, Error> {
        // SAFETY: alive, and kept by the rule.
        let raw = unsafe { create(self.as_raw(), flow) }?;
        Ok(FlowRule { raw, receiver: Some(Kept::Frames(self.clone())) })
    }
}

/// Makes a rule.
///
/// # Safety
/// The queue pair is alive and outlives the rule.
unsafe fn create(qp: *mut sys::ibv_qp, flow: &Flow) -> Result<NonNull<sys::ibv_flow>, Error> {
    let mut attr = FlowAttr::new(flow, PORT)?;
    // SAFETY: the caller vouches for the queue pair; the specifications are behind the attributes, which count them.
    let raw = non_null("ibv_create_flow", unsafe { ffi::create_flow(qp, attr.as_mut_ptr()) })?;
    event!(DEBUG, "flow rule made", ?flow);
    Ok(raw)
}
