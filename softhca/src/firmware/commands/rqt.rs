//! RQT: receive queues to choose from by a hash.

use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, Layout, View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use crate::nic::RqtContext;

layout! {
    /// RQT context, less the list of its queues.
    struct rqtc: 0xf0 bytes {
        LIST_Q_TYPE: 0xa5, 3;
        RQT_MAX_SIZE: 0xb0, 16;
        RQ_VHCA_ID_FORMAT: 0xc0, 1;
        RQT_ACTUAL_SIZE: 0xd0, 16;
    }
    /// One of its queues.
    struct rq_num: 0x4 bytes { RQ_NUM: 0x8, 24; }
    /// `CREATE_RQT`, with a [`rq_num`] for each queue.
    struct create_rqt_in: command 0x110 bytes {} parts { RQT_CONTEXT: 0x100, rqtc; } list of 4 bytes
    struct create_rqt_out: answer { RQTN: 0x48, 24; }
    struct destroy_rqt_in: command { RQTN: 0x48, 24; }
    struct query_rqt_in: query { RQTN: 0x48, 24; }
    /// Which fields are modified.
    struct rqt_bitmask: 0x8 bytes { RQN_LIST: 0x3f, 1; }
    /// `MODIFY_RQT`, with a [`rq_num`] for each queue.
    struct modify_rqt_in: command 0x110 bytes {
        RQTN: 0x48, 24;
    } parts {
        BITMASK: 0x80, rqt_bitmask;
        CTX: 0x100, rqtc;
    } list of 4 bytes
    /// Output of `QUERY_RQT`, with a [`rq_num`] for each queue.
    struct query_rqt_out: answer 0x110 bytes {} parts { RQT_CONTEXT: 0x100, rqtc; } list of 4 bytes
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x916, "CREATE_RQT", create_rqt_in, create_rqt_out, create),
    command!(0x917, "MODIFY_RQT", modify_rqt_in, bare_out, modify),
    command!(0x918, "DESTROY_RQT", destroy_rqt_in, bare_out, destroy),
    command!(0x919, "QUERY_RQT", query_rqt_in, query_rqt_out, query),
];

/// Features that no RQT has here, as the capabilities say.
const ABSENT: [(Field, &str); 2] =
    [(rqtc::LIST_Q_TYPE, "tables of other queues than RQs"), (rqtc::RQ_VHCA_ID_FORMAT, "queues of other functions")];

/// The queues that follow a mailbox, as many as its context says, all of them the caller's.
fn queues(call: &Call<'_>, view: View<'_>, input: &Layout) -> Result<Vec<u32>, Refusal> {
    check_absent(view, &ABSENT)?;
    let count = view.get(rqtc::RQT_ACTUAL_SIZE) as usize;
    let rqs: Vec<u32> = call.input.list(input).take(count).map(|number| number.get32(rq_num::RQ_NUM)).collect();
    if rqs.len() < count {
        let reason = format!("rqt_actual_size {count}, and the mailbox holds {}", rqs.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    rqs.iter().try_for_each(|&rqn| call.check_use(Object::Rq, rqn))?;
    Ok(rqs)
}

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_rqt_in::RQT_CONTEXT);
    let rqs = queues(call, view, &create_rqt_in::LAYOUT)?;
    let max_size = view.get(rqtc::RQT_MAX_SIZE) as u16;
    let rqtn = call.device.nic().create_rqt(RqtContext { max_size, rqs })?;
    call.created(Object::Rqt, rqtn);
    call.output.set(create_rqt_out::RQTN, rqtn.into());
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let rqtn = call.owned(Object::Rqt, modify_rqt_in::RQTN)?;
    if !call.input.part(modify_rqt_in::BITMASK).flag(rqt_bitmask::RQN_LIST) {
        return Err(Refusal::parameter("a modification of nothing: only the list of queues can be modified"));
    }
    let rqs = queues(call, call.input.part(modify_rqt_in::CTX), &modify_rqt_in::LAYOUT)?;
    call.device.end_merging();
    Ok(call.device.nic().modify_rqt(rqtn, rqs)?)
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Rqt, destroy_rqt_in::RQTN, |device, rqtn| device.nic().destroy_rqt(rqtn))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let rqtn = call.usable(Object::Rqt, query_rqt_in::RQTN)?;
    let rqt = call.device.nic().rqt(rqtn)?;
    let room = (call.output.0.len() - query_rqt_out::LAYOUT.bytes) / query_rqt_out::LAYOUT.element;
    if room < rqt.rqs.len() {
        let reason = format!("room for {room} queues, of which there are {}", rqt.rqs.len());
        return Err(Refusal::new(Status::BadOutputLength, reason));
    }
    let mut view = call.output.part(query_rqt_out::RQT_CONTEXT);
    view.set(rqtc::RQT_MAX_SIZE, rqt.max_size.into());
    view.set(rqtc::RQT_ACTUAL_SIZE, rqt.rqs.len() as u64);
    for (at, &rqn) in rqt.rqs.iter().enumerate() {
        let at = query_rqt_out::LAYOUT.bytes + at * query_rqt_out::LAYOUT.element;
        ViewMut(&mut call.output.0[at..]).set(rq_num::RQ_NUM, rqn.into());
    }
    Ok(())
}
