//! The offloads of frames that leave.

use blueflame::types::{DS_BYTES, Ds};
use blueflame::wqe::limits::FrameOffloads;

use crate::caps::CapMode;
use crate::cmd::{FlowTableNicCap, MinInlineMode, PerProtocolNetworkingOffloadCaps};
use crate::context::Context;
use crate::error::Error;

impl Context {
    /// The offloads that the device has for frames of its send queues, by `per_protocol_networking_offload_caps` and
    /// `flow_table_nic_cap`.
    ///
    /// There are WQEs of several frames ([`Session`](blueflame::queue::send::Session)) if the device has the capability
    /// (`enhanced_multi_pkt_send_wqe`), needs no headers inline, and takes WQEs of [`Ds::MAX`]. The first two are
    /// DPDK's conditions (`drivers/net/mlx5/linux/mlx5_os.c`, `mps`; `drivers/net/mlx5/mlx5_tx.c`,
    /// `mlx5_select_tx_function`).
    ///
    /// # Errors
    /// [`Error::Command`] if the device has no queues of frames.
    pub fn frame_offloads(&self) -> Result<FrameOffloads, Error> {
        let offloads = self.capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current)?;
        let largest = usize::from(Ds::MAX) * DS_BYTES;
        let multi_packet = offloads.enhanced_multi_pkt_send_wqe()
            && self.min_inline_mode()? == MinInlineMode::NONE
            && usize::from(self.general()?.max_wqe_sz_sq()) >= largest;
        let max_large_send = match offloads.max_lso_cap() {
            0 => 0,
            log => 1_u32.checked_shl(log.into()).unwrap_or(u32::MAX),
        };
        let inner_checksums = offloads.tunnel_stateless_vxlan()
            || offloads.tunnel_stateless_gre()
            || offloads.tunnel_stateless_geneve_tx()
            || offloads.tunnel_stateless_ip_over_ip()
            || offloads.tunnel_stateless_ip_over_ip_tx();
        Ok(FrameOffloads {
            multi_packet,
            inner_checksums,
            header_offsets: offloads.swp() && offloads.swp_csum(),
            header_offsets_of_large: offloads.swp() && offloads.swp_lso(),
            metadata: self.matches_metadata()?,
            max_large_send,
        })
    }

    /// Whether rules of frames that leave can match metadata.
    fn matches_metadata(&self) -> Result<bool, Error> {
        match self.capabilities::<FlowTableNicCap>(CapMode::Current) {
            Ok(tables) => {
                let tables = tables.flow_table_properties_nic_transmit();
                Ok(tables.ft_support() && tables.ft_field_support().metadata_reg_a())
            }
            // Without flow tables there are no such capabilities.
            Err(Error::Command(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }
}
