//! Copies of memory: the segments of an MMO WQE with the modifier DMA (rdma-core `providers/mlx5/wqe.h`,
//! `struct mlx5_mmo_wqe`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_gga_wqe`).

use super::{DATA_SEG_BYTES, Segments, be32, be64, data_seg, zero};
use crate::wqe::fault::WqeFault;
use crate::wqe::payload::DataSeg;
use crate::wqe::send::Memcpy;

/// Takes all segments after the control segment. The last word of the control segment means nothing here: libmlx5
/// leaves old bytes of the ring there.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>) -> Result<Memcpy, WqeFault> {
    let (start, seg) = segs.take("MMO metadata", DATA_SEG_BYTES)?;
    zero("MMO control", start, be32(seg, 0).into())?;
    let (scratch_lkey, scratch_addr) = (be32(seg, 4), be64(seg, 8));
    let from = memory(segs, "source")?;
    let to = memory(segs, "destination")?;
    if from.len != to.len {
        return Err(WqeFault::MemcpyLength { from: from.len, to: to.len });
    }
    segs.end()?;
    Ok(Memcpy { scratch_lkey, scratch_addr, from, to })
}

fn memory(segs: &mut Segments<'_>, what: &'static str) -> Result<DataSeg, WqeFault> {
    let (at, seg) = segs.take(what, DATA_SEG_BYTES)?;
    data_seg(seg).ok_or(WqeFault::InlineResult { at })
}
