//! The headers that frames must have inline.

use blueflame::transport::InlineLayers;

use crate::caps::CapMode;
use crate::check::in_range;
use crate::cmd::{InlineModeSource, MinInlineMode, PerProtocolNetworkingOffloadCaps, QueryNicVportContextIn};
use crate::context::Context;
use crate::error::Error;

/// The number of a mode of inline headers in contexts.
impl From<InlineLayers> for MinInlineMode {
    fn from(layers: InlineLayers) -> Self {
        match layers {
            InlineLayers::None => Self::NONE,
            InlineLayers::L2 => Self::L2,
            InlineLayers::Ip => Self::IP,
            InlineLayers::TcpUdp => Self::TCP_UDP,
            InlineLayers::InnerL2 => Self::INNER_L2,
            InlineLayers::InnerIp => Self::INNER_IP,
            InlineLayers::InnerTcpUdp => Self::INNER_TCP_UDP,
        }
    }
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

    /// `sqc.min_wqe_inline_mode` of a send queue whose frames all have their first `headers` bytes inline. The device
    /// needs no more than these.
    ///
    /// If the capability is `VPORT_CONTEXT`, drivers write the port's mode to the field. Otherwise they leave it 0
    /// (Linux `en_main.c`, `mlx5e_create_sq`; DPDK `drivers/common/mlx5/mlx5_devx_cmds.c`, `vport_inline_mode`).
    pub(crate) fn inline_mode_of(&self, headers: usize) -> Result<MinInlineMode, Error> {
        let needed = self.min_inline_mode()?;
        let most = MinInlineMode::INNER_TCP_UDP.0.into();
        in_range(
            "inline mode of a send queue",
            MinInlineMode::from(InlineLayers::of(headers)).0,
            needed.0.into()..=most,
        )?;
        let counts = self.inline_mode_source()? == InlineModeSource::VPORT_CONTEXT;
        Ok(if counts { needed } else { MinInlineMode::NONE })
    }

    fn inline_mode_source(&self) -> Result<InlineModeSource, Error> {
        Ok(self.capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current)?.wqe_inline_mode())
    }
}
