//! Counters of flow rules: how many frames rules have matched, and how many bytes those had.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::verbs::device::open::Context;
use crate::verbs::error::{non_null, zero};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Device, Error};

/// Places of the two counts in the array that the kernel fills in.
const FRAMES: usize = 0;
const BYTES: usize = 1;

/// Counts of frames (`ibv_counters`), for rules that name them ([`RuleOptions`](super::RuleOptions)). Several rules
/// may share them. Cheap to clone.
///
/// The device counts, so counting costs a program nothing. A rule that drops its frames counts them, too.
///
/// ```
/// use std::net::Ipv4Addr;
///
/// use blueflame::flow::Flow;
/// use blueflame::verbs::ethernet::{FlowCounts, FrameReceiver, RuleOptions};
/// use blueflame::verbs::{Device, Error};
///
/// fn count_feed(device: &Device, receiver: &FrameReceiver) -> Result<FlowCounts, Error> {
///     let counters = device.flow_counters()?;
///     let feed = Flow::udp(Ipv4Addr::new(239, 1, 2, 3), 5001);
///     let _rule = receiver.steer_with(&feed, &RuleOptions::default().counters(&counters))?;
///     counters.read()
/// }
/// ```
#[doc(alias("ibv_counters", "ibv_create_counters"))]
#[derive(Clone, Debug)]
pub struct FlowCounters {
    pub(super) handle: Arc<CountersHandle>,
}

#[derive(Debug)]
pub(super) struct CountersHandle {
    raw: NonNull<sys::ibv_counters>,
    context: Option<Arc<Context>>,
}

// SAFETY: used only to make rules, to be read and to be destroyed once; libmlx5 and the kernel lock all three.
unsafe impl Send for CountersHandle {}
// SAFETY: shared use only makes rules and reads the counters; libmlx5 and the kernel lock both.
unsafe impl Sync for CountersHandle {}

impl Drop for CountersHandle {
    fn drop(&mut self) {
        // SAFETY: made by `ibv_create_counters`; the rules that count with it held this object and are gone.
        let returned = unsafe { sys::ibv_destroy_counters(self.raw.as_ptr()) };
        drop_or_leak("flow counters", 0, returned, self.context.take());
    }
}

/// The counts of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Frames that matched, also those for which a receiver had no buffer.
    pub frames: u64,
    /// Their bytes, from the destination's MAC address to the end of the payload. Whether a NIC also counts the frame
    /// check sequence, no public source says.
    pub bytes: u64,
}

impl Device {
    /// Makes counters, for rules to be made with [`steer_with`](super::FrameReceiver::steer_with).
    ///
    /// # Errors
    /// A failed call. `EOPNOTSUPP`: libmlx5 or the kernel (before Linux 4.18) has no counters of flows.
    #[doc(alias("ibv_create_counters", "ibv_attach_counters_point_flow"))]
    pub fn flow_counters(&self) -> Result<FlowCounters, Error> {
        let context = &self.context;
        let mut attr = sys::ibv_counters_init_attr { comp_mask: 0 };
        // SAFETY: the context is open; the attributes live until the call returns.
        let raw = unsafe { sys::ibv_create_counters(context.raw(), &raw mut attr) };
        let raw = non_null("ibv_create_counters", raw)?;
        let handle = CountersHandle { raw, context: Some(Arc::clone(context)) };
        for (counter_desc, index) in [(sys::IBV_COUNTER_PACKETS, FRAMES), (sys::IBV_COUNTER_BYTES, BYTES)] {
            let mut attr = sys::ibv_counter_attach_attr { counter_desc, index: index as u32, comp_mask: 0 };
            // SAFETY: just made; without a flow, so that the next flow that names it has them.
            let returned =
                unsafe { sys::ibv_attach_counters_point_flow(raw.as_ptr(), &raw mut attr, core::ptr::null_mut()) };
            zero("ibv_attach_counters_point_flow", returned)?;
        }
        event!(DEBUG, "flow counters made");
        Ok(FlowCounters { handle: Arc::new(handle) })
    }
}

impl FlowCounters {
    /// Reads the counts, which go on from rule to rule. At least one rule must have these counters.
    ///
    /// # Errors
    /// A failed call. `EINVAL`: no rule has these counters, or none has them any more.
    #[doc(alias = "ibv_read_counters")]
    pub fn read(&self) -> Result<FlowCounts, Error> {
        let mut counts = [0_u64; 2];
        // SAFETY: alive; the array has as many elements as the call says.
        let returned = unsafe { sys::ibv_read_counters(self.as_raw(), counts.as_mut_ptr(), counts.len() as u32, 0) };
        zero("ibv_read_counters", returned)?;
        Ok(FlowCounts { frames: counts[FRAMES], bytes: counts[BYTES] })
    }

    /// The raw counters; alive as long as `self`. Do not destroy them.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_counters {
        self.handle.raw.as_ptr()
    }
}
