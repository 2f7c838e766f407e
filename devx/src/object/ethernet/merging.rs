//! TCP segments that the device merges into one frame (large receive offload).

use super::tir::Tir;
use crate::caps::CapMode;
use crate::check::in_range;
use crate::cmd::{ModifyTirIn, PerProtocolNetworkingOffloadCaps};
use crate::error::Error;
use crate::support::ask::has;

/// `packet_merge_mask` (Linux `include/linux/mlx5/mlx5_ifc.h`, `MLX5_TIRC_PACKET_MERGE_MASK_IPV4_LRO` and `_IPV6_LRO`;
/// DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_TIRC_LRO_ENABLE_MASK_*`).
const IPV4: u8 = 1 << 0;
const IPV6: u8 = 1 << 1;

/// How a device merges consecutive TCP segments of a connection into one frame (large receive offload).
///
/// The completion of a merged frame has what software must change in its headers
/// ([`CqeView::merged`](blueflame::cq::CqeView::merged)). A receive's buffers hold at least a whole message and its
/// headers, or messages are shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Merging {
    /// Segments in IPv4 are merged.
    pub ipv4: bool,
    /// Segments in IPv6 are merged. With neither, none are.
    pub ipv6: bool,
    /// How long the device waits for further segments, in microseconds. Devices have few such times
    /// (`lro_timer_supported_periods`), and take the nearest that is not longer.
    pub micros: u16,
    /// Most bytes of a message: TCP's header and the data. The device counts units of 256 bytes; a rest is dropped.
    pub max_bytes: u32,
}

impl Merging {
    /// Bytes of the unit in which devices count messages (DPDK `drivers/net/mlx5/mlx5.h`, `MLX5_LRO_SEG_CHUNK_SIZE`;
    /// Linux `drivers/net/ethernet/mellanox/mlx5/core/en/tir.c`, `mlx5e_tir_builder_build_packet_merge`).
    pub const UNIT: u32 = 256;
    /// The most bytes that a message can have.
    pub const MAX_BYTES: u32 = u8::MAX as u32 * Self::UNIT;
}

impl Tir {
    /// Merges TCP segments from now on, or with `None` none (MODIFY_TIR).
    ///
    /// # Errors
    /// [`Error::Capability`] if the device merges no segments, [`Error::OutOfRange`] if it merges none for so short a
    /// time or into messages of such a size, [`Error::Command`].
    #[doc(alias("lro_enable_mask", "lro_timeout_period_usecs", "lro_max_ip_payload_size", "lro_max_msg_sz"))]
    pub fn set_merging(&self, merging: Option<Merging>) -> Result<(), Error> {
        let mut inbox = ModifyTirIn::new();
        inbox.set_tirn(self.tirn());
        inbox.bitmask_mut().set_packet_merge(true);
        if let Some(Merging { ipv4, ipv6, micros, max_bytes }) = merging {
            let caps = self.object().context().capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current)?;
            has("per_protocol_networking_offload_caps.lro_cap", caps.lro_cap())?;
            let [a, b, c, d, ..] = *caps.lro_timer_supported_periods();
            let shortest = u32::from_be_bytes([a, b, c, d]);
            in_range("microseconds to wait for segments", micros, shortest.into()..=u16::MAX.into())?;
            in_range("most bytes of merged segments", max_bytes, Merging::UNIT.into()..=Merging::MAX_BYTES.into())?;
            let mask = if ipv4 { IPV4 } else { 0 } | if ipv6 { IPV6 } else { 0 };
            if mask != 0 {
                let context = inbox.ctx_mut().set_packet_merge_mask(mask).set_lro_timeout_period_usecs(micros);
                context.set_lro_max_ip_payload_size((max_bytes / Merging::UNIT) as u8);
            }
        }
        self.object().change(&inbox).map(drop)
    }
}
