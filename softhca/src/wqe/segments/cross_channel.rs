//! Requests about other queues, and about the clock: WAIT, SEND_EN and RCV_EN (libmlx5 of MLNX_OFED 4.3 `src/wqe.h`,
//! `struct mlx5_wqe_wait_en_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_qseg`,
//! `struct mlx5_wqe_wseg`).

use super::{DATA_SEG_BYTES, Segments, be32, be64, zero};
use crate::wqe::fault::WqeFault;
use crate::wqe::opcode;
use crate::wqe::send::{Comparison, Enable, SendOp, WaitTime};

/// Opcode modifier of a WAIT for the clock (`MLX5_OPC_MOD_WAIT_TIME`). 0 is one for a CQ; 1, for data in memory, is not
/// something that this device has.
const TIME: u8 = 2;

/// In `operation`: wait until the comparison does not hold (`MLX5_WAIT_COND_INVERT`).
const INVERT: u32 = 0x10;

/// Whether the opcode has this modifier.
pub(in crate::wqe) fn has(opcode: u8, opmod: u8) -> bool {
    opmod == 0 || opcode == opcode::WAIT && opmod == TIME
}

/// The segment of `opcode`, which is the last.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, opcode: u8, opmod: u8) -> Result<SendOp, WqeFault> {
    let op = if opmod == TIME { SendOp::WaitTime(time(segs)?) } else { queue(segs, opcode)? };
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

/// A comparison with the clock. The key and the address are those of a WAIT for data, and mean nothing here.
fn time(segs: &mut Segments<'_>) -> Result<WaitTime, WqeFault> {
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
    Ok(WaitTime { comparison, inverted: operation & INVERT != 0, value: be64(seg, 16), mask: be64(seg, 24) })
}
