//! Receive memory pools: drivers make these in place of SRQs since devices have other commands (ISSI 1).

use super::layouts::{create_rmp_in, create_rmp_out, modify_rmp_in, query_rmp_out, rmp_bitmask, rmpc};
use super::ring;
use crate::firmware::call::Call;
use crate::firmware::commands::work_queue::wq;
use crate::firmware::layout::ViewMut;
use crate::firmware::objects::SrqKind;
use crate::firmware::status::{Refusal, Status};

/// `rmpc.state` (`MLX5_RMPC_STATE_*`).
const READY: u64 = 1;
const ERROR: u64 = 3;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let context = call.input.part(create_rmp_in::CTX);
    let state = context.get(rmpc::STATE);
    if state != READY {
        return Err(Refusal::parameter(format!("state {state}: a new pool is ready (1)")));
    }
    let basic = context.flag(rmpc::BASIC_CYCLIC_RCV_WQE);
    let view = context.part(rmpc::WQ);
    let new = ring::of_work_queue(call, SrqKind::Rmp, context, view, basic, &create_rmp_in::LAYOUT)?;
    let number = new.create(call)?;
    call.output.set(create_rmp_out::RMPN, number.into());
    Ok(())
}

pub(super) fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::number(call, &[SrqKind::Rmp])?;
    let (from, context) = (call.input.get(modify_rmp_in::RMP_STATE), call.input.part(modify_rmp_in::CTX));
    let current = if call.device.query_srq(number)?.failed { ERROR } else { READY };
    if from != current {
        return Err(Refusal::new(Status::BadResourceState, format!("state {from}, and the pool's is {current}")));
    }
    let to = context.get(rmpc::STATE);
    if to != READY || current != READY {
        return Err(Refusal::parameter(format!("from state {current} to {to}: a pool is ready (1) and stays so")));
    }
    if call.input.part(modify_rmp_in::BITMASK).flag(rmp_bitmask::LWM) {
        call.device.modify_srq_limit(number, context.part(rmpc::WQ).get(wq::LWM) as u16)?;
    }
    Ok(())
}

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::asked(call, &[SrqKind::Rmp])?;
    let (mut context, info) = ring::context(call, number, rmpc::LAYOUT.bytes)?;
    let mut view = ViewMut(&mut context);
    view.set(rmpc::STATE, if info.failed { ERROR } else { READY });
    let made = call.state.queues.srqs.contains_key(&number);
    ring::write_work_queue(&mut view.part(rmpc::WQ), &info, made);
    call.output.put(query_rmp_out::RMP_CONTEXT.at, &context);
    Ok(())
}
