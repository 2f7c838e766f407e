//! The device's capabilities for frames: tunnels, the software parser, large sends, rates.

use blueflame_sys as sys;

use crate::verbs::Error;
use crate::verbs::device::rate::RateLimits;
use crate::verbs::error::zero;

/// Tunnels whose inner headers a device finds in frames (`enum mlx5dv_tunnel_offloads`).
#[doc(alias = "tunnel_offloads_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnels {
    /// VXLAN.
    pub vxlan: bool,
    /// GRE.
    pub gre: bool,
    /// Geneve.
    pub geneve: bool,
}

impl Tunnels {
    /// Whether there is any.
    pub(super) const fn any(self) -> bool {
        self.vxlan || self.gre || self.geneve
    }

    pub(super) fn of(caps: u32) -> Self {
        let has = |flag: u32| caps & flag != 0;
        Self {
            vxlan: has(sys::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN),
            gre: has(sys::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE),
            geneve: has(sys::MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE),
        }
    }
}

/// The software parser of a device for frames (`struct mlx5dv_sw_parsing_caps`).
#[doc(alias = "sw_parsing_caps")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoftwareParser {
    /// It finds the headers for checksums.
    pub checksums: bool,
    /// It finds the headers of large sends.
    pub large_sends: bool,
}

impl SoftwareParser {
    pub(super) fn of(caps: sys::mlx5dv_sw_parsing_caps) -> Self {
        let raw = caps.supported_qpts & 1 << sys::IBV_QPT_RAW_PACKET != 0;
        let has = |flags: u32| raw && caps.sw_parsing_offloads & flags == flags;
        Self {
            checksums: has(sys::MLX5DV_SW_PARSING | sys::MLX5DV_SW_PARSING_CSUM),
            large_sends: has(sys::MLX5DV_SW_PARSING | sys::MLX5DV_SW_PARSING_LSO),
        }
    }
}

/// Most bytes of payload of a raw packet queue pair's large send (`ibv_tso_caps`), 0 if there are none, and the rates of
/// such queue pairs. The provider may tell neither.
///
/// # Safety
/// The context is open.
pub(super) unsafe fn extended(context: *mut sys::ibv_context) -> Result<(u32, Option<RateLimits>), Error> {
    let mut attr = sys::ibv_device_attr_ex::ZERO;
    // SAFETY: the caller vouches for the context, the structure is ours.
    match unsafe { sys::ibv_query_device_ex(context, core::ptr::null(), &raw mut attr) } {
        libc::EOPNOTSUPP => return Ok((0, None)),
        returned => zero("ibv_query_device_ex", returned)?,
    }
    let caps = attr.tso_caps;
    let raw_packets = caps.supported_qpts & 1 << sys::IBV_QPT_RAW_PACKET != 0;
    Ok((if raw_packets { caps.max_tso } else { 0 }, RateLimits::of(&attr.packet_pacing_caps)))
}
