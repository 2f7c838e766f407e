//! Checks that memory is the ring of a completion queue.
use super::cqe::view::CqeView;
use super::id::CqId;
use super::opcode::CqeOpcode;
use super::ring::Ring;
use crate::setup::SetupError;
use crate::types::CqCi;

/// Checks that each CQE is marked as never written, or that the device can have written it. The completion of a send
/// must have a queue pair (applications never have number 0). Completions to be polled must be next to each other, from
/// `ci` on.
///
/// It refuses memory that is all zeros, which reads as completions. It accepts pending completions and leftovers of the
/// last pass over the ring, so a queue in use can be taken over. The device may write meanwhile. It writes in order:
/// looking from the last CQE to the first, each CQE before a completion found is a completion as well.
///
/// # Safety
///
/// The ring can be read (`Ring::new`).
pub(super) unsafe fn check(ring: &Ring, ci: CqCi) -> Result<(), SetupError> {
    let mut pending = false;
    for n in (0..ring.cqe_cnt()).rev() {
        let index = ci.add(n);
        let tail = ring.tail_at(index);
        let opcode = tail.op_own().opcode();
        // SAFETY: in this ring; any bytes will do.
        let cqe = CqeView::new(tail, CqId::NONE, unsafe { ring.fields(ring.place(index)) });
        let written = opcode != INVALID;
        let known = !matches!(CqeOpcode::new(opcode), CqeOpcode::Unknown(_));
        let owned = tail.is_software_owned();
        if written && (!known || opcode == REQUESTER && cqe.qpn().get() == 0) || pending && !owned {
            return Err(SetupError::WrittenCqe { slot: index.get() & (ring.cqe_cnt() - 1), opcode });
        }
        pending |= owned;
    }
    Ok(())
}

/// The opcode of a send's completion (`MLX5_CQE_REQ`), and of zeros. A received frame may have the flow tag 0.
const REQUESTER: u8 = 0;

/// The opcode of a CQE never written (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQE_INVALID`).
const INVALID: u8 = 0xf;
