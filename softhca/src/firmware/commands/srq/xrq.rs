//! Extended receive queues: without tag matching, which the capabilities say that the device does not have.

use super::layouts::{create_xrq_in, create_xrq_out, query_xrq_out, xrqc};
use super::ring;
use crate::firmware::call::Call;
use crate::firmware::layout::ViewMut;
use crate::firmware::objects::SrqKind;
use crate::firmware::status::Refusal;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let context = call.input.part(create_xrq_in::XRQ_CONTEXT);
    for field in [xrqc::TOPOLOGY, xrqc::OFFLOAD, xrqc::RLKEY] {
        ring::absent(context.get(field), field.name)?;
    }
    let view = context.part(xrqc::WQ);
    let mut new = ring::of_work_queue(call, SrqKind::Xrq, context, view, false, &create_xrq_in::LAYOUT)?;
    new.cqn = Some(context.get32(xrqc::CQN));
    let number = new.create(call)?;
    call.output.set(create_xrq_out::XRQN, number.into());
    Ok(())
}

pub(super) fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    ring::destroy(call, SrqKind::Xrq)
}

pub(super) fn arm(call: &mut Call<'_>) -> Result<(), Refusal> {
    ring::arm(call, &[SrqKind::Xrq])
}

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = ring::asked(call, &[SrqKind::Xrq])?;
    let (mut context, info) = ring::context(call, number, xrqc::LAYOUT.bytes)?;
    let mut view = ViewMut(&mut context);
    view.set(xrqc::STATE, info.failed.into());
    ring::write_work_queue(&mut view.part(xrqc::WQ), &info, true);
    call.output.put(query_xrq_out::XRQ_CONTEXT.at, &context);
    Ok(())
}
