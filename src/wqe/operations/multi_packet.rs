//! Several frames in one WQE: the segments in front of the frames. Knows no queue.
use super::frame::Frame;
use super::frame_options::SharedOptions;
use super::service::Operation;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::opcode::Opcode;
use crate::wqe::request::Request;
use crate::wqe::sealed::Sealed;
use crate::wqe::sink::Sink;

/// The operation of a WQE of several frames ("enhanced multi-packet send"): one Ethernet segment for all, and for each
/// frame one data segment, or one inline segment. DPDK and Linux agree on the layout (DPDK
/// `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_burst_empw_simple`, `mlx5_tx_burst_empw_inline`; Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`, `mlx5e_tx_mpwqe_session_complete`, and `en/xdp.h`,
/// `mlx5e_xdp_mpwqe_add_dseg`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiPacket<X = ()>(Frame<(), X>);

impl<X> Sealed for MultiPacket<X> {}
impl<X: SharedOptions> Operation for MultiPacket<X> {
    const OPCODE: Opcode = Opcode::EnhancedMpsw;
    const DS: usize = <Frame<(), X> as Operation>::DS;
    const OFFLOADS: FrameOffloads = X::NEEDS;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        self.0.encode(sink);
    }
}

impl<X> Request<Frame<(), X>> {
    /// The same request, of several frames that follow. It has no frame yet.
    #[inline(always)]
    pub(crate) fn of_several(self) -> Request<MultiPacket<X>> {
        self.with_operation(MultiPacket)
    }
}

/// DS in front of the frames: control and Ethernet segment.
pub(crate) const MULTI_PACKET_HEAD_DS: usize = 1 + <MultiPacket as Operation>::DS;
