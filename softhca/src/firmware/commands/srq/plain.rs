//! SRQs by their oldest commands, which take page lists only.

use super::layouts::{create_srq_in, create_srq_out, query_srq_out, srqc};
use super::ring::{self, New};
use crate::context::SrqOrder;
use crate::firmware::call::Call;
use crate::firmware::layout::ViewMut;
use crate::firmware::objects::SrqKind;
use crate::firmware::placement::{PAGE_OFFSETS, Placement};
use crate::firmware::status::Refusal;

/// `log_rq_stride` plus this is log2 of bytes.
pub(super) const LOG_STRIDE_UNIT: u64 = 4;

/// `op_mod` of `ARM_RQ` (`MLX5_ARM_RQ_IN_OP_MOD_*`).
const ARM_SRQ: u16 = 1;
const ARM_XRQ: u16 = 2;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_srq_in::SRQ_CONTEXT_ENTRY);
    for field in [srqc::WQ_SIGNATURE, srqc::CONT_SRQ, srqc::RLKY] {
        ring::absent(view.get(field), field.name)?;
    }
    let new = New {
        kind: SrqKind::Srq,
        context: view,
        pd: view.get32(srqc::PD),
        order: SrqOrder::Linked,
        log_size: view.get(srqc::LOG_SRQ_SIZE),
        log_stride: view.get(srqc::LOG_RQ_STRIDE) + LOG_STRIDE_UNIT,
        limit: view.get(srqc::LWM) as u16,
        ring: Placement {
            umem: None,
            pages: call.input.words(&create_srq_in::LAYOUT),
            log_page_size: view.get(srqc::LOG_PAGE_SIZE),
            page_offset: view.get(srqc::PAGE_OFFSET),
            page_offsets: PAGE_OFFSETS,
            len: 0,
            written: false,
        },
        record: (None, view.get(srqc::DBR_ADDR)),
        // Its context has room for a CQ and an XRC domain, of which the kernel gives those of an XRC SRQ only.
        cqn: None,
        xrc: None,
        tags: None,
    };
    let number = new.create(call)?;
    call.output.set(create_srq_out::SRQN, number.into());
    Ok(())
}

pub(super) fn arm(call: &mut Call<'_>) -> Result<(), Refusal> {
    match call.op_mod {
        ARM_SRQ => ring::arm(call, &[SrqKind::Srq]),
        ARM_XRQ => ring::arm(call, &[SrqKind::Xrq]),
        other => Err(Refusal::parameter(format!("op_mod {other}: 1 (SRQ) or 2 (XRQ)"))),
    }
}

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::asked(call, &[SrqKind::Srq])?;
    let (mut context, info) = ring::context(call, number, srqc::LAYOUT.bytes)?;
    let mut view = ViewMut(&mut context);
    view.set(srqc::STATE, info.failed.into());
    view.set(srqc::LWM, info.limit.into());
    view.set(srqc::WQE_CNT, info.posted.into());
    if !call.state.queues.srqs.contains_key(&number) {
        view.set(srqc::LOG_SRQ_SIZE, info.context.rq.log_size.into());
        view.set(srqc::LOG_RQ_STRIDE, u64::from(info.context.rq.log_stride).saturating_sub(LOG_STRIDE_UNIT));
        view.set(srqc::PD, info.context.pd.into());
        view.set(srqc::DBR_ADDR, info.context.dbr);
    }
    call.output.put(query_srq_out::SRQ_CONTEXT_ENTRY.at, &context);
    Ok(())
}
