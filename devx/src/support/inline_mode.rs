//! The headers that frames must have inline.

use blueflame::transport::{InlineIp, InlineL2, InlineMode, InlineNone, InlineTcpUdp};
use blueflame::types::{DS_BYTES, Ds};
use blueflame::wqe::limits::FrameOffloads;

use crate::caps::CapMode;
use crate::check::in_range;
use crate::cmd::{InlineModeSource, MinInlineMode, PerProtocolNetworkingOffloadCaps, QueryNicVportContextIn};
use crate::context::Context;
use crate::error::Error;

/// A mode of the data path, and its number in contexts.
pub trait DevxInlineMode: InlineMode {
    /// The number.
    const MODE: MinInlineMode;
}

impl DevxInlineMode for InlineNone {
    const MODE: MinInlineMode = MinInlineMode::NONE;
}
impl DevxInlineMode for InlineL2 {
    const MODE: MinInlineMode = MinInlineMode::L2;
}
impl DevxInlineMode for InlineIp {
    const MODE: MinInlineMode = MinInlineMode::IP;
}
impl DevxInlineMode for InlineTcpUdp {
    const MODE: MinInlineMode = MinInlineMode::TCP_UDP;
}

impl Context {
    /// The headers that the device needs inline in each frame. The capability states them, or the context of the
    /// function's port does. Linux queries both in the same way (`drivers/net/ethernet/mellanox/mlx5/core/vport.c`,
    /// `mlx5_query_min_inline`). If the device refuses the query of the context, the answer is
    /// [`L2`](MinInlineMode::L2).
    ///
    /// # Errors
    /// [`Error::Command`] if the device has no queues of frames.
    pub fn min_inline_mode(&self) -> Result<MinInlineMode, Error> {
        match self.inline_mode_source()? {
            InlineModeSource::NOT_REQUIRED => Ok(MinInlineMode::NONE),
            InlineModeSource::VPORT_CONTEXT => match self.execute(&QueryNicVportContextIn::new()) {
                Ok(answer) => Ok(answer.nic_vport_context().min_wqe_inline_mode()),
                Err(Error::Command(_)) => Ok(MinInlineMode::L2),
                Err(other) => Err(other),
            },
            _ => Ok(MinInlineMode::L2),
        }
    }

    /// `sqc.min_wqe_inline_mode` of a send queue whose frames all have the headers of `M` inline. The device needs no
    /// more than these.
    ///
    /// If the capability is `VPORT_CONTEXT`, drivers write the port's mode to the field. Otherwise they leave it 0
    /// (Linux `en_main.c`, `mlx5e_create_sq`; DPDK `drivers/common/mlx5/mlx5_devx_cmds.c`, `vport_inline_mode`).
    pub(crate) fn inline_mode_of<M: DevxInlineMode>(&self) -> Result<MinInlineMode, Error> {
        let needed = self.min_inline_mode()?;
        let most = MinInlineMode::INNER_TCP_UDP.0.into();
        in_range("inline mode of a send queue", M::MODE.0, needed.0.into()..=most)?;
        let counts = self.inline_mode_source()? == InlineModeSource::VPORT_CONTEXT;
        Ok(if counts { needed } else { MinInlineMode::NONE })
    }

    /// The offloads that the device has for frames of its send queues, by
    /// `per_protocol_networking_offload_caps`.
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
        Ok(FrameOffloads { multi_packet, max_large_send })
    }

    fn inline_mode_source(&self) -> Result<InlineModeSource, Error> {
        Ok(self.capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current)?.wqe_inline_mode())
    }
}
