//! Operations on the list of tags of an SRQ: the segment of a TAG_MATCHING WQE (rdma-core `providers/mlx5/wqe.h`,
//! `struct mlx5_wqe_tm_seg`), and, where a tag is appended, its buffer.

use super::{DATA_SEG_BYTES, INVALID_LKEY, Segments, be16, be64, data_seg, zero};
use crate::wqe::changes::{Append, TagChange, TagOp};
use crate::wqe::fault::WqeFault;

/// `opcode`, in the upper half of its byte (`MLX5_TM_OPCODE_*`).
const NOP: u8 = 0;
const APPEND: u8 = 1;
const REMOVE: u8 = 2;

/// `flags` (`MLX5_SRQ_FLAG_TM_*`).
const SW_CNT: u8 = 1 << 6;
const CQE_REQ: u8 = 1 << 7;

/// Takes all that follows the control segment. Fields that an operation does not use may hold anything: libmlx5 and
/// UCX leave old bytes of the ring there.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>) -> Result<TagOp, WqeFault> {
    let (at, seg) = segs.take("tag matching", 2 * DATA_SEG_BYTES)?;
    let (opcode, flags) = (seg[0], seg[1]);
    zero("flags", at + 1, (flags & !(SW_CNT | CQE_REQ)).into())?;
    zero("reserved", at + 4, be16(seg, 4).into())?;
    zero("reserved", at + 8, be64(seg, 8))?;
    let index = be16(seg, 2);
    let change = match (opcode >> 4, opcode & 0xf) {
        (NOP, 0) => TagChange::None,
        (REMOVE, 0) => TagChange::Remove { index },
        (APPEND, 0) => {
            let (at, buffer) = segs.take("data", DATA_SEG_BYTES)?;
            let buffer = data_seg(buffer).ok_or(WqeFault::InlineResult { at })?;
            TagChange::Append(Append {
                next: index,
                tag: be64(seg, 16),
                mask: be64(seg, 24),
                buffer: (buffer.lkey != INVALID_LKEY).then_some(buffer),
            })
        }
        _ => return Err(WqeFault::BadTagOperation(opcode)),
    };
    segs.end()?;
    Ok(TagOp { change, sw_phase: (flags & SW_CNT != 0).then(|| be16(seg, 6)), completes: flags & CQE_REQ != 0 })
}
