//! One CQE read by `ibv_poll_cq` and by this crate: every field of `ibv_wc`.

use std::ptr::NonNull;

use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, Cqe, CqeError, CqeOpcode, Side, WcOpcode};
use blueflame::types::{CqCi, Cqn};
use blueflame_sys as sys;

use crate::verbs::CqeBytes;

/// `IBV_WC_GRH`, `IBV_WC_WITH_IMM`, `IBV_WC_WITH_INV` (rdma-core `libibverbs/verbs.h`).
const GRH: u32 = 1;
const WITH_IMM: u32 = 1 << 1;
const WITH_INV: u32 = 1 << 3;

/// A completion, as verbs reports it. `None` where it leaves the field alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Completion {
    pub(crate) status: u32,
    pub(crate) vendor_err: Option<u32>,
    pub(crate) opcode: Option<u32>,
    pub(crate) byte_len: Option<u32>,
    /// Immediate data as a number, or the key.
    pub(crate) imm_or_key: Option<u32>,
    pub(crate) wc_flags: u32,
    pub(crate) qp_num: u32,
    pub(crate) addressing: Option<Addressing>,
}

/// Where a message came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Addressing {
    slid: u16,
    sl: u8,
    src_qp: u32,
    dlid_path_bits: u8,
    pkey_index: u16,
}

impl Completion {
    /// Without the queue pair's number, and that of `source`, which sends to it.
    pub(crate) fn of_nobody(self, source: u32) -> Self {
        let addressing = self
            .addressing
            .map(|from| Addressing { src_qp: if from.src_qp == source { 0 } else { from.src_qp }, ..from });
        Self { qp_num: 0, addressing, ..self }
    }
}

/// As this crate reads it.
pub(crate) fn of_view(cqe: &Cqe<'_>) -> Completion {
    let blank = Completion {
        status: 0,
        vendor_err: None,
        opcode: None,
        byte_len: None,
        imm_or_key: None,
        wc_flags: 0,
        qp_num: cqe.qpn().get(),
        addressing: None,
    };
    let side = match cqe.check() {
        // The fields are the same where the data is.
        Ok(side) | Err(CqeError::DataInCqe { side, .. }) => side,
        Err(CqeError::Completion(error) | CqeError::Aborted(error)) => {
            return Completion {
                status: error.status() as u32,
                vendor_err: Some(error.vendor_err_synd.into()),
                qp_num: error.qpn.get(),
                ..blank
            };
        }
        Err(other) => panic!("no completion: {other}"),
    };
    let opcode = cqe.wc_opcode();
    match side {
        Side::Requester => Completion {
            opcode: opcode.ibv_value(),
            byte_len: match opcode {
                WcOpcode::RdmaRead => Some(cqe.byte_len()),
                WcOpcode::CompSwap | WcOpcode::FetchAdd => Some(8),
                _ => None,
            },
            // SEND_IMM and RDMA_WRITE_IMM.
            wc_flags: if matches!(cqe.request_opcode(), 0x0b | 0x09) { WITH_IMM } else { 0 },
            ..blank
        },
        Side::Responder => Completion {
            opcode: opcode.ibv_value(),
            byte_len: Some(cqe.byte_len()),
            imm_or_key: cqe.imm().or(cqe.invalidated_rkey().map(|key| key.0)),
            wc_flags: match cqe.opcode() {
                CqeOpcode::RespSendInv => WITH_INV,
                _ if cqe.imm().is_some() => WITH_IMM,
                _ => 0,
            } | if cqe.has_grh() { GRH } else { 0 },
            addressing: Some(Addressing {
                slid: cqe.slid(),
                sl: cqe.sl(),
                src_qp: cqe.src_qp().get(),
                dlid_path_bits: cqe.dlid_path_bits(),
                pkey_index: cqe.pkey_index(),
            }),
            ..blank
        },
    }
}

/// As libmlx5 reads it. `like` says which fields to take: where `ibv_wc` leaves them undefined there is nothing to
/// compare.
pub(crate) fn of_wc(wc: &sys::ibv_wc, like: &Completion) -> Completion {
    // Either is the same four bytes.
    let (imm, key) = (u32::from_be(wc.imm_data), wc.imm_data);
    Completion {
        status: wc.status,
        vendor_err: like.vendor_err.map(|_| wc.vendor_err),
        opcode: like.opcode.map(|_| wc.opcode),
        byte_len: like.byte_len.map(|_| wc.byte_len),
        imm_or_key: like.imm_or_key.map(|_| if wc.wc_flags & WITH_INV != 0 { key } else { imm }),
        wc_flags: wc.wc_flags,
        qp_num: wc.qp_num,
        addressing: like.addressing.map(|_| Addressing {
            slid: wc.slid,
            sl: wc.sl,
            src_qp: wc.src_qp,
            dlid_path_bits: wc.dlid_path_bits,
            pkey_index: wc.pkey_index,
        }),
    }
}

/// Has a [`CompletionQueue`] of one entry, in memory of its own, read `cqe`.
pub(crate) fn view<R>(cqe: &mut CqeBytes, see: impl FnOnce(&Cqe<'_>) -> R) -> R {
    let mut record = [0_u64; 1];
    let mut page = [0_u64; 8];
    let phase = cqe.bytes[cqe.size - 1] & 1;
    let parts = CqParts {
        buf: NonNull::from(&mut cqe.bytes).cast(),
        cqe_cnt: 1,
        cqe_size: cqe.size as u32,
        dbrec: NonNull::from(&mut record).cast(),
        cq_uar: NonNull::from(&mut page).cast(),
        cqn: Cqn::truncate(0),
        ci: CqCi::truncate(phase.into()),
    };
    // SAFETY: memory of this function's and its caller's, which nothing else uses while the queue lives.
    let mut queue: CompletionQueue = unsafe { CompletionQueue::from_parts(parts) }.expect("parts");
    let mut see = Some(see);
    let mut result = None;
    queue.poll_with(1, |cqe| result = see.take().map(|see| see(&cqe)));
    result.expect("a CQE")
}

/// Both readings of one CQE; they must be the same. Returns ours.
pub(crate) fn agree(cqe: &mut CqeBytes, wc: &sys::ibv_wc) -> Result<Completion, String> {
    let ours = view(cqe, of_view);
    let theirs = of_wc(wc, &ours);
    if ours == theirs {
        Ok(ours)
    } else {
        Err(format!(
            "one CQE, two readings\nlibmlx5    {theirs:?}\nthis crate {ours:?}\n{:02x?}",
            &cqe.bytes[..cqe.size]
        ))
    }
}
