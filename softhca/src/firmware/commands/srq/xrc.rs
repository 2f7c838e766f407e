//! SRQs of an XRC domain, which only requests of XRC can name.

use super::layouts::{create_xrc_srq_in, create_xrc_srq_out, query_xrc_srq_out, xrc_srqc};
use super::plain::LOG_STRIDE_UNIT;
use super::ring::{self, New};
use crate::context::{SrqOrder, XrcContext};
use crate::firmware::call::Call;
use crate::firmware::layout::ViewMut;
use crate::firmware::objects::SrqKind;
use crate::firmware::placement::{PAGE_OFFSETS, Placement};
use crate::firmware::status::Refusal;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_xrc_srq_in::XRC_SRQ_CONTEXT_ENTRY);
    for field in [xrc_srqc::WQ_SIGNATURE, xrc_srqc::CONT_SRQ, xrc_srqc::RLKY] {
        ring::absent(view.get(field), field.name)?;
    }
    if call.input.flag(create_xrc_srq_in::XRC_SRQ_UMEM_VALID) || view.flag(xrc_srqc::DBR_UMEM_VALID) {
        // No public header says where their numbers are.
        return Err(Refusal::parameter("an XRC SRQ in user memory: page lists only are a capability of this device"));
    }
    let order = match view.flag(xrc_srqc::BASIC_CYCLIC_RCV_WQE) {
        true => SrqOrder::Cyclic { next_segment: false },
        false => SrqOrder::Linked,
    };
    let record = view.get(xrc_srqc::DB_RECORD_ADDR_H) << 32 | view.get(xrc_srqc::DB_RECORD_ADDR_L) << 2;
    let new = New {
        kind: SrqKind::Xrc,
        context: view,
        pd: view.get32(xrc_srqc::PD),
        order,
        log_size: view.get(xrc_srqc::LOG_XRC_SRQ_SIZE),
        log_stride: view.get(xrc_srqc::LOG_RQ_STRIDE) + LOG_STRIDE_UNIT,
        limit: view.get(xrc_srqc::LWM) as u16,
        ring: Placement {
            umem: None,
            pages: call.input.words(&create_xrc_srq_in::LAYOUT),
            log_page_size: view.get(xrc_srqc::LOG_PAGE_SIZE),
            page_offset: view.get(xrc_srqc::PAGE_OFFSET),
            page_offsets: PAGE_OFFSETS,
            len: 0,
            written: false,
        },
        record: (None, record),
        cqn: None,
        xrc: Some(XrcContext {
            xrcd: view.get32(xrc_srqc::XRCD),
            cqn: view.get32(xrc_srqc::CQN),
            uidx: match view.flag(xrc_srqc::USER_INDEX_EQUAL_XRC_SRQN) {
                true => None,
                false => ring::user_index(view.get32(xrc_srqc::USER_INDEX)),
            },
        }),
        tags: None,
    };
    let number = new.create(call)?;
    call.output.set(create_xrc_srq_out::XRC_SRQN, number.into());
    Ok(())
}

pub(super) fn arm(call: &mut Call<'_>) -> Result<(), Refusal> {
    match call.op_mod {
        // `MLX5_ARM_XRC_SRQ_IN_OP_MOD_XRC_SRQ`.
        1 => ring::arm(call, &[SrqKind::Xrc]),
        other => Err(Refusal::parameter(format!("op_mod {other}: 1 (XRC SRQ)"))),
    }
}

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::asked(call, &[SrqKind::Xrc])?;
    let (mut context, info) = ring::context(call, number, xrc_srqc::LAYOUT.bytes)?;
    let mut view = ViewMut(&mut context);
    view.set(xrc_srqc::STATE, info.failed.into());
    view.set(xrc_srqc::LWM, info.limit.into());
    view.set(xrc_srqc::WQE_CNT, info.posted.into());
    if let (Some(xrc), None) = (info.xrc, call.state.queues.srqs.get(&number)) {
        view.set(xrc_srqc::LOG_XRC_SRQ_SIZE, info.context.rq.log_size.into());
        view.set(xrc_srqc::LOG_RQ_STRIDE, u64::from(info.context.rq.log_stride).saturating_sub(LOG_STRIDE_UNIT));
        view.set(xrc_srqc::PD, info.context.pd.into());
        view.set(xrc_srqc::XRCD, xrc.xrcd.into());
        view.set(xrc_srqc::CQN, xrc.cqn.into());
        view.set(xrc_srqc::USER_INDEX, xrc.uidx.unwrap_or(number).into());
        view.set(xrc_srqc::DB_RECORD_ADDR_H, info.context.dbr >> 32);
        view.set(xrc_srqc::DB_RECORD_ADDR_L, (info.context.dbr & 0xffff_ffff) >> 2);
    }
    call.output.put(query_xrc_srq_out::XRC_SRQ_CONTEXT_ENTRY.at, &context);
    Ok(())
}
