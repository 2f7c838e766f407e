//! The control segment, with which every send WQE begins (`struct mlx5_wqe_ctrl_seg`): offsets in bytes, and its flags.

use crate::wqe::fault::WqeFault;
use crate::wqe::opcode;
use crate::wqe::send::Fence;

pub(in crate::wqe) const OPMOD: usize = 0;
pub(in crate::wqe) const INDEX: usize = 1;
pub(in crate::wqe) const OPCODE: usize = 3;
pub(in crate::wqe) const QPN_DS: usize = 4;
/// The signature, which a device checks only if the QP was made with signatures. It reads streams only if the QP was
/// made with streams. On QPs without streams, UCX leaves old bytes of the ring in this field, and perftest still counts
/// streams up.
pub(in crate::wqe) const SIGNATURE: usize = 8;
/// A DCI's stream (`dci_stream_channel_id`).
pub(in crate::wqe) const STREAM: usize = 9;
pub(in crate::wqe) const FM_CE_SE: usize = 11;
pub(in crate::wqe) const IMM: usize = 12;
pub(in crate::wqe) const BYTES: usize = 16;

/// `fm_ce_se`: fence mode in bits 7:5, completion mode in bits 3:2, solicited in bit 1.
///
/// Completion mode 0 gives a CQE for an error only, mode 1 for the first error of the queue only
/// ([`first_error_only`]), mode 2 always. This device lacks mode 3, which adds an event queue entry. Fence modes 2 to
/// 4 all wait for outstanding READs and atomics.
pub(in crate::wqe) fn flags(byte: u8) -> Result<(bool, bool, Fence), WqeFault> {
    let bad = Err(WqeFault::BadFlags(byte));
    if byte & 0b0001_0001 != 0 {
        return bad;
    }
    let signaled = match byte >> 2 & 3 {
        0 | 1 => false,
        2 => true,
        _ => return bad,
    };
    let fence = match byte >> 5 {
        0 => Fence::None,
        1 => Fence::Small,
        2 | 4 => Fence::Full,
        3 => Fence::Strong,
        _ => return bad,
    };
    Ok((signaled, byte & 2 != 0, fence))
}

/// Whether `fm_ce_se` asks for a CQE for the first error of the queue only, so not for WQEs that are flushed after it
/// (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_COMP_ONLY_FIRST_ERR`).
pub(in crate::wqe) fn first_error_only(byte: u8) -> bool {
    byte >> 2 & 3 == 1
}

/// Whether byte `at` of a WQE may differ between the register (`copied`) and the ring (`ring`); `control` is the WQE's
/// beginning in the ring. A NOP may ask for a completion in the register only: so a driver learns which of the two was
/// executed (Linux `drivers/net/ethernet/mellanox/mlx5/core/wc.c`, `mlx5_wc_post_nop`). Its signature, where it has
/// one, is another then.
pub(crate) fn may_differ(control: [u8; 8], at: usize, ring: u8, copied: u8) -> bool {
    const CQ_UPDATE: u8 = 0x08;
    control[OPCODE] == opcode::NOP && (at == FM_CE_SE && copied == ring | CQ_UPDATE || at == SIGNATURE)
}
