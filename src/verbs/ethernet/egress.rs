//! Rules for frames that leave: by the metadata of their requests, as long as the rule lives.

use core::ptr::NonNull;

use blueflame_sys as sys;

use crate::verbs::error::{in_range, non_null};
use crate::verbs::event::event;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Device, Error};

/// Where match parameters have the metadata of a request: register A, in the third set of fields (PRM
/// `fte_match_param.misc_parameters_2.metadata_reg_a`).
const METADATA: usize = 0xf0;
/// The bit of that set in `match_criteria_enable`.
const MISC_2: u8 = 1 << 3;
/// The least priority that Linux has (`MLX5_IB_FLOW_LAST_PRIO`).
const LAST_PRIORITY: u16 = 15;

/// The egress frames that a rule matches, and whether they leave. Egress frames come from all raw packet queue pairs of
/// the function; the kernel's frames have the metadata 0.
///
/// ```
/// use blueflame::verbs::ethernet::{Egress, EgressRule};
/// use blueflame::verbs::{Device, Error};
///
/// /// Frames leave if their requests have the metadata 7 (`Request::metadata`), and no others.
/// fn only_seven(device: &Device) -> Result<[EgressRule; 2], Error> {
///     let seven = device.steer_sends(&Egress::metadata(7))?;
///     Ok([seven, device.steer_sends(&Egress::any().priority(1).drop_frames())?])
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a description does nothing without `Device::steer_sends`"]
pub struct Egress {
    value: u32,
    mask: u32,
    priority: u16,
    drops: bool,
}

impl Egress {
    /// All frames.
    pub const fn any() -> Self {
        Self { value: 0, mask: 0, priority: 0, drops: false }
    }

    /// Frames whose request has this [metadata](crate::wqe::Request::metadata).
    pub const fn metadata(value: u32) -> Self {
        Self::masked_metadata(value, u32::MAX)
    }

    /// Frames whose request has these bits of metadata under `mask`.
    pub const fn masked_metadata(value: u32, mask: u32) -> Self {
        Self { value: value & mask, mask, ..Self::any() }
    }

    /// The priority among rules of frames that leave, 0 to 15: of those that match a frame, the least number decides.
    /// Default 0.
    pub const fn priority(mut self, priority: u16) -> Self {
        self.priority = priority;
        self
    }

    /// The device drops the frames. Their requests complete with success.
    pub const fn drop_frames(mut self) -> Self {
        self.drops = true;
        self
    }

    /// The metadata in match parameters.
    fn parameters(value: u32) -> sys::mlx5dv_flow_match_parameters {
        let mut parameters =
            sys::mlx5dv_flow_match_parameters { match_sz: sys::MATCH_BYTES, match_buf: [0; sys::MATCH_BYTES] };
        parameters.match_buf[METADATA..METADATA + 4].copy_from_slice(&value.to_be_bytes());
        parameters
    }
}

/// A rule of frames that leave. Dropping it removes it.
#[derive(Debug)]
#[must_use = "dropping a rule removes it"]
pub struct EgressRule {
    raw: NonNull<sys::ibv_flow>,
    matcher: Option<Matcher>,
}

// SAFETY: used only to be destroyed once; libibverbs locks the state that this call shares.
unsafe impl Send for EgressRule {}
// SAFETY: `&self` gives out nothing.
unsafe impl Sync for EgressRule {}

impl Drop for EgressRule {
    fn drop(&mut self) {
        // SAFETY: alive; written once.
        let handle = unsafe { (*self.raw.as_ptr()).handle };
        event!(DEBUG, "egress rule destroyed", handle);
        // SAFETY: made by `mlx5dv_create_flow`, and not used again.
        let returned = unsafe { sys::ibv_destroy_flow(self.raw.as_ptr()) };
        drop_or_leak("egress rule", handle, returned, self.matcher.take());
    }
}

/// The fields of a rule, which must outlive it, and be gone before the device is closed.
#[derive(Debug)]
struct Matcher {
    raw: NonNull<sys::mlx5dv_flow_matcher>,
    _device: Device,
}

impl Drop for Matcher {
    fn drop(&mut self) {
        // SAFETY: made by `mlx5dv_create_flow_matcher`; the rule is gone. If it stays, it does nothing.
        let _ = unsafe { sys::mlx5dv_destroy_flow_matcher(self.raw.as_ptr()) };
    }
}

impl Device {
    /// Lets the frames of `egress` leave, or drops them, as long as the returned rule lives. Frames that no rule
    /// matches leave.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a priority, or a failed call. `EPERM`: the process lacks `CAP_NET_RAW`. `EOPNOTSUPP`
    /// or `EINVAL`: the device, its firmware or the kernel has no such rules.
    #[doc(alias("mlx5dv_create_flow", "mlx5dv_create_flow_matcher"))]
    pub fn steer_sends(&self, egress: &Egress) -> Result<EgressRule, Error> {
        let Egress { value, mask, priority, drops } = *egress;
        in_range("priority of a rule", priority.into(), 0..=LAST_PRIORITY.into())?;
        let mut fields = Egress::parameters(mask);
        let mut attr = sys::mlx5dv_flow_matcher_attr {
            r#type: sys::IBV_FLOW_ATTR_NORMAL,
            flags: 0,
            priority,
            match_criteria_enable: if mask == 0 { 0 } else { MISC_2 },
            match_mask: &raw mut fields,
            comp_mask: sys::MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
            ft_type: sys::MLX5DV_FLOW_TABLE_TYPE_NIC_TX,
        };
        // SAFETY: the context is open; attributes and fields live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_flow_matcher(self.as_raw(), &raw mut attr) };
        let matcher = Matcher { raw: non_null("mlx5dv_create_flow_matcher", raw)?, _device: self.clone() };
        let mut values = Egress::parameters(value);
        let mut drop_them =
            sys::mlx5dv_flow_action_attr { r#type: sys::MLX5DV_FLOW_ACTION_DROP, obj: core::ptr::null_mut() };
        // SAFETY: the matcher is alive; values and actions live until the call returns, and are as many as is said.
        let raw = unsafe {
            let actions = usize::from(drops);
            sys::mlx5dv_create_flow(matcher.raw.as_ptr(), &raw mut values, actions, &raw mut drop_them)
        };
        let raw = non_null("mlx5dv_create_flow", raw)?;
        event!(DEBUG, "egress rule made", ?egress);
        Ok(EgressRule { raw, matcher: Some(matcher) })
    }
}
