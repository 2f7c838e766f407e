//! Extended receive queues, with tag matching and without.

use super::layouts::{create_xrq_in, create_xrq_out, query_xrq_out, tag_matching_topology_context as tags, xrqc};
use super::ring;
use crate::context::TagContext;
use crate::firmware::call::Call;
use crate::firmware::layout::{View, ViewMut};
use crate::firmware::objects::SrqKind;
use crate::firmware::status::Refusal;

/// `xrqc.topology` (`MLX5_XRQC_TOPOLOGY_*`): without tags, and with.
const NO_SPECIAL_TOPOLOGY: u64 = 0;
const TAG_MATCHING: u64 = 1;

/// `xrqc.offload` (`MLX5_XRQC_OFFLOAD_RNDV`): the device fetches rendezvous data.
const RENDEZVOUS: u64 = 1;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let context = call.input.part(create_xrq_in::XRQ_CONTEXT);
    for field in [xrqc::RLKEY, xrqc::DC] {
        ring::absent(context.get(field), field.name)?;
    }
    let view = context.part(xrqc::WQ);
    let mut new = ring::of_work_queue(call, SrqKind::Xrq, context, view, false, &create_xrq_in::LAYOUT)?;
    new.cqn = Some(context.get32(xrqc::CQN));
    new.tags = tag_matching(context)?;
    let number = new.create(call)?;
    call.output.set(create_xrq_out::XRQN, number.into());
    Ok(())
}

/// The tag matching that the context asks for.
fn tag_matching(context: View<'_>) -> Result<Option<TagContext>, Refusal> {
    let (topology, offload) = (context.get(xrqc::TOPOLOGY), context.get(xrqc::OFFLOAD));
    let list = context.part(xrqc::TAG_MATCHING_TOPOLOGY_CONTEXT);
    // The device reports these fields once the queue is in use; a new queue must leave them 0.
    for field in [tags::APPEND_NEXT_INDEX, tags::SW_PHASE_CNT, tags::HW_PHASE_CNT] {
        ring::absent(list.get(field), field.name)?;
    }
    match (topology, offload) {
        (NO_SPECIAL_TOPOLOGY, 0) => {
            ring::absent(list.get(tags::LOG_MATCHING_LIST_SZ), tags::LOG_MATCHING_LIST_SZ.name)?;
            Ok(None)
        }
        (TAG_MATCHING, 0 | RENDEZVOUS) => Ok(Some(TagContext {
            cqn: context.get32(xrqc::CQN),
            uidx: ring::user_index(context.get32(xrqc::USER_INDEX)),
            log_list: list.get(tags::LOG_MATCHING_LIST_SZ) as u8,
            rendezvous: offload == RENDEZVOUS,
        })),
        _ => Err(Refusal::parameter(format!(
            "topology {topology} with offload {offload}: 0 and 0, or 1 (tag matching) with 0 or 1 (rendezvous)"
        ))),
    }
}

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::asked(call, &[SrqKind::Xrq])?;
    let (mut context, info) = ring::context(call, number, xrqc::LAYOUT.bytes)?;
    let made = call.state.queues.srqs.contains_key(&number);
    let mut view = ViewMut(&mut context);
    view.set(xrqc::STATE, info.failed.into());
    if let Some(is) = info.tags {
        let mut list = view.part(xrqc::TAG_MATCHING_TOPOLOGY_CONTEXT);
        list.set(tags::LOG_MATCHING_LIST_SZ, is.context.log_list.into());
        list.set(tags::APPEND_NEXT_INDEX, is.append_next_index.into());
        list.set(tags::SW_PHASE_CNT, is.sw_phase_cnt.into());
        list.set(tags::HW_PHASE_CNT, is.hw_phase_cnt.into());
        if !made {
            view.set(xrqc::TOPOLOGY, TAG_MATCHING);
            view.set(xrqc::OFFLOAD, is.context.rendezvous.into());
            view.set(xrqc::CQN, is.context.cqn.into());
            view.set(xrqc::USER_INDEX, is.context.uidx.unwrap_or(number).into());
        }
    }
    ring::write_work_queue(&mut view.part(xrqc::WQ), &info, made);
    call.output.put(query_xrq_out::XRQ_CONTEXT.at, &context);
    Ok(())
}
