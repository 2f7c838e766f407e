//! Rules: which frames a receiver gets, as long as the rule lives.

use core::ptr::NonNull;

use blueflame_sys as sys;

use super::attr::FlowAttr;
use super::counters::FlowCounters;
use super::receiver::FrameReceiver;
use crate::cq::setup::Receiver;
use crate::flow::Flow;
use crate::verbs::error::{has_port, non_null};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Error, Qp};

/// Options of a rule besides its flow, for [`steer_with`](FrameReceiver::steer_with).
///
/// ```
/// # use blueflame::verbs::ethernet::RuleOptions;
/// let second = RuleOptions::default().port(2);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "options do nothing without a rule"]
pub struct RuleOptions<'a> {
    port: u8,
    counters: Option<&'a FlowCounters>,
}

impl Default for RuleOptions<'_> {
    /// Port 1, not counted.
    fn default() -> Self {
        Self { port: 1, counters: None }
    }
}

impl<'a> RuleOptions<'a> {
    /// The port that the rule is for, from 1.
    ///
    /// Linux looks at it only where one device represents several ports
    /// (`drivers/infiniband/hw/mlx5/fs.c`, `is_rep`): the representors of an embedded switch. On other devices, a rule
    /// is for all frames of the function, whichever port it names. In any case the port must exist.
    pub fn port(mut self, port: u8) -> Self {
        self.port = port;
        self
    }

    /// These counters count the frames that the rule matches.
    pub fn counters(mut self, counters: &'a FlowCounters) -> Self {
        self.counters = Some(counters);
        self
    }
}

/// A rule that steers frames to a receiver (`ibv_flow`). Dropping it removes it: frames that are on their way may still
/// arrive.
///
/// It keeps its receiver and its counters alive, so it may outlive their own values.
#[doc(alias = "ibv_flow")]
#[derive(Debug)]
#[must_use = "dropping a rule removes it"]
pub struct FlowRule {
    raw: NonNull<sys::ibv_flow>,
    under: Option<(Kept, Option<FlowCounters>)>,
}

/// The receiver of a rule, which must outlive the rule.
#[derive(Debug)]
enum Kept {
    Qp(#[expect(dead_code, reason = "kept alive")] Qp),
    Frames(#[expect(dead_code, reason = "kept alive")] FrameReceiver),
}

// SAFETY: used only to be destroyed once; libibverbs locks the state that this call shares.
unsafe impl Send for FlowRule {}
// SAFETY: `&self` gives out nothing but an address.
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
        let returned = unsafe { sys::ibv_destroy_flow(self.raw.as_ptr()) };
        // If the rule stays, frames still arrive at the receiver's buffers.
        drop_or_leak("flow rule", handle, returned, self.under.take());
    }
}

impl Qp {
    /// Steers the frames of `flow` to this queue pair's receive queue, as long as the returned rule lives. Several
    /// rules may lead to one queue pair.
    ///
    /// The queue pair must have the transport [`RawPacket`](crate::transport::RawPacket), and receive. It need not be
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
    /// [`Error::Setup`], [`Error::OutOfRange`] for a priority, [`Error::NoFrames`], or a failed call. `EPERM`: the
    /// process lacks `CAP_NET_RAW`. `EOPNOTSUPP`: the device cannot match a field, or has no sniffers. `EEXIST`: a rule
    /// with the same fields has another flow tag or action. The error's text says how to go on.
    #[doc(alias = "ibv_create_flow")]
    pub fn steer(&self, flow: &Flow) -> Result<FlowRule, Error> {
        self.steer_with(flow, &RuleOptions::default())
    }

    /// [Steers](Self::steer) for a port, or with counters.
    ///
    /// # Errors
    /// As [`steer`](Self::steer); [`Error::NoPort`], [`Error::ForeignDevice`] for counters.
    pub fn steer_with(&self, flow: &Flow, options: &RuleOptions<'_>) -> Result<FlowRule, Error> {
        if !self.receiver().is_some_and(Receiver::flow_tags) {
            return Err(Error::NoFrames { qpn: self.qpn() });
        }
        has_port(options.port, self.handle.device.ports)?;
        // SAFETY: alive, and kept by the rule.
        unsafe { create(self.as_raw(), flow, options, Kept::Qp(self.clone())) }
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
        self.steer_with(flow, &RuleOptions::default())
    }

    /// [Steers](Self::steer) for a port, or with counters.
    ///
    /// # Errors
    /// As [`Qp::steer_with`].
    pub fn steer_with(&self, flow: &Flow, options: &RuleOptions<'_>) -> Result<FlowRule, Error> {
        has_port(options.port, self.ports())?;
        // SAFETY: alive, and kept by the rule.
        unsafe { create(self.as_raw(), flow, options, Kept::Frames(self.clone())) }
    }
}

/// Makes a rule.
///
/// # Safety
/// The queue pair is alive, and `kept` keeps it so.
unsafe fn create(qp: *mut sys::ibv_qp, flow: &Flow, options: &RuleOptions<'_>, kept: Kept) -> Result<FlowRule, Error> {
    let mut attr = match options.counters {
        Some(counters) => {
            // SAFETY: the caller vouches for the queue pair; both contexts are written once.
            if unsafe { (*qp).context != (*counters.as_raw()).context } {
                return Err(Error::ForeignDevice { object: "flow rule", part: "flow counters" });
            }
            FlowAttr::counted(flow, options.port, counters)?
        }
        None => FlowAttr::new(flow, options.port)?,
    };
    // SAFETY: the caller vouches for the queue pair; the specifications are behind the attributes, which count them.
    // The rule keeps the counters that they name.
    let raw = non_null("ibv_create_flow", unsafe { sys::ibv_create_flow(qp, attr.as_mut_ptr()) })?;
    event!(DEBUG, "flow rule made", ?flow);
    Ok(FlowRule { raw, under: Some((kept, options.counters.cloned())) })
}
