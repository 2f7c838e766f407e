//! Requests about other queues, the clock, and a word of memory: WAIT, SEND_EN and RCV_EN (libmlx5 of MLNX_OFED 4.3
//! `src/wqe.h`, `struct mlx5_wqe_wait_en_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_qseg`,
//! `struct mlx5_wqe_wseg`; UCC `src/components/tl/mlx5/tl_mlx5_wqe.c`, `struct wait_on_data_seg`; NVIDIA's
//! post-wait-on-data-wqe `src/post_wod_wqe.c`, `struct wod_wait_on_data_seg`).

use super::{DATA_SEG_BYTES, Segments, be32, be64, zero};
use crate::wqe::condition::{Comparison, Condition};
use crate::wqe::fault::WqeFault;
use crate::wqe::opcode;
use crate::wqe::payload::DataSeg;
use crate::wqe::send::{Enable, SendOp, WaitData};

/// Opcode modifiers of a WAIT: for a word of memory and for the clock (`MLX5_OPC_MOD_WAIT_DATA`,
/// `MLX5_OPC_MOD_WAIT_TIME`). 0 is one for a CQ.
const DATA: u8 = 1;
const TIME: u8 = 2;

/// In `operation`: wait until the comparison does not hold (`MLX5_WAIT_COND_INVERT`).
const INVERT: u32 = 0x10;

/// Lowest bits of the word's address, which begins at a multiple of 8 (`ucc_tl_mlx5_post_wait_on_data`,
/// `post_wod_wqe`): what the device does while the condition does not hold. `ACTION_RETRY` of UCC, `WOD_RETRY`.
const RETRY: u64 = 0;
/// It completes in error: `ACTION_SEND_ERR_CQE` of UCC, `WOD_SEND_ERROR_CQE`. There is a third, `WOD_SQ_DRAIN` of
/// post-wait-on-data-wqe; no source says how it works, and this device has none.
const SEND_ERROR: u64 = 1;
/// The bits of these.
const ACTION: u64 = 7;

/// Whether the opcode has this modifier.
pub(in crate::wqe) fn has(opcode: u8, opmod: u8) -> bool {
    opmod == 0 || opcode == opcode::WAIT && matches!(opmod, DATA | TIME)
}

/// The segment of `opcode`, which is the last.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, opcode: u8, opmod: u8) -> Result<SendOp, WqeFault> {
    let op = match opmod {
        DATA => SendOp::WaitData(data(segs)?),
        TIME => SendOp::WaitTime(condition(segs)?.2),
        _ => queue(segs, opcode)?,
    };
    segs.end()?;
    Ok(op)
}

/// A queue's number and an index. libmlx5 counts the index on past the bits that the queue's own has.
fn queue(segs: &mut Segments<'_>, opcode: u8) -> Result<SendOp, WqeFault> {
    let (at, seg) = segs.take("queue", DATA_SEG_BYTES)?;
    zero("reserved", at, be64(seg, 0))?;
    let (index, number) = (be32(seg, 8), be32(seg, 12));
    zero("highest byte of the queue's number", at + 12, (number >> 24).into())?;
    let enable = Enable { qpn: number, index: index as u16 };
    Ok(match opcode {
        opcode::SEND_EN => SendOp::EnableSends(enable),
        opcode::RCV_EN => SendOp::EnableReceives(enable),
        _ => SendOp::WaitCqe { cqn: number, index: index & 0x00ff_ffff },
    })
}

/// A wait for a word of memory. The key is one of this side.
fn data(segs: &mut Segments<'_>) -> Result<WaitData, WqeFault> {
    let (at, seg, until) = condition(segs)?;
    let (lkey, va) = (be32(seg, 4), be64(seg, 8));
    let is_check = match va & ACTION {
        RETRY => false,
        SEND_ERROR => true,
        action => return Err(WqeFault::Reserved { field: "action", at: at + 15, value: action }),
    };
    Ok(WaitData { word: DataSeg { len: 8, lkey, addr: va & !ACTION }, until, is_check })
}

/// A wait segment, and where it is. The key and the address mean nothing to a WAIT for the clock.
fn condition<'a>(segs: &mut Segments<'a>) -> Result<(usize, &'a [u8], Condition), WqeFault> {
    let (at, seg) = segs.take("wait", 2 * DATA_SEG_BYTES)?;
    let operation = be32(seg, 0);
    let comparison = match operation & !INVERT {
        0 => Comparison::Always,
        1 => Comparison::Equal,
        2 => Comparison::Bigger,
        3 => Comparison::Smaller,
        4 => Comparison::CyclicBigger,
        5 => Comparison::CyclicSmaller,
        _ => return Err(WqeFault::Reserved { field: "operation", at, value: operation.into() }),
    };
    let inverted = operation & INVERT != 0;
    Ok((at, seg, Condition { comparison, inverted, value: be64(seg, 16), mask: be64(seg, 24) }))
}
