//! Receive queues of Ethernet frames.

use super::strides;
use super::work_queue::{
    CYCLIC, CYCLIC_STRIDING, check_absent, check_created, check_no_slave, state, state_bits, take, timestamp_format, wq,
};
use crate::context::RqContext;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, ViewMut, layout};
use crate::firmware::status::Refusal;
use crate::nic::ReceiveQueueContext;

layout! {
    /// RQ context.
    struct rqc: 0xf0 bytes {
        RLKY: 0x0, 1;
        DELAY_DROP_EN: 0x1, 1;
        SCATTER_FCS: 0x2, 1;
        VSD: 0x3, 1;
        MEM_RQ_TYPE: 0x4, 4;
        STATE: 0x8, 4;
        FLUSH_IN_ERROR_EN: 0xd, 1;
        HAIRPIN: 0xe, 1;
        TS_FORMAT: 0x1a, 2;
        USER_INDEX: 0x28, 24;
        CQN: 0x48, 24;
        COUNTER_SET_ID: 0x60, 8;
        RMPN: 0x88, 24;
        HAIRPIN_PEER_SQ: 0xa8, 24;
        HAIRPIN_PEER_VHCA: 0xd0, 16;
        DPP_MKEY: 0xe0, 32;
    } parts { WQ: 0x180, wq; }
    /// `CREATE_RQ`, with the address of each page of its ring if that lies in no user memory.
    struct create_rq_in: command 0x110 bytes {} parts { CTX: 0x100, rqc; } list of 8 bytes
    struct create_rq_out: answer { RQN: 0x48, 24; }
    struct destroy_rq_in: command { RQN: 0x48, 24; }
    struct query_rq_in: query { RQN: 0x48, 24; }
    struct modify_rq_in: command 0x110 bytes {
        RQ_STATE: 0x40, 4;
        RQN: 0x48, 24;
        MODIFY_BITMASK: 0x80, 64;
    } parts { CTX: 0x100, rqc; }
    struct query_rq_out: answer 0x110 bytes {} parts { RQ_CONTEXT: 0x100, rqc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x908, "CREATE_RQ", create_rq_in, create_rq_out, create),
    command!(0x909, "MODIFY_RQ", modify_rq_in, bare_out, modify),
    command!(0x90a, "DESTROY_RQ", destroy_rq_in, bare_out, destroy),
    command!(0x90b, "QUERY_RQ", query_rq_in, query_rq_out, query),
];

/// Features that no RQ has here, as the capabilities say. `DPP_MKEY` means nothing in an RQ that does not place
/// packets directly (its `mem_rq_type` says so), as none here: mellanox-hpc/ibverbs-tests (`tests/devx/mlx5_ifc.h`)
/// has the field, and sets it in others.
const ABSENT: [(Field, &str); 8] = [
    (rqc::RLKY, "reserved keys"),
    (rqc::DELAY_DROP_EN, "delays of drops"),
    (rqc::SCATTER_FCS, "frame check sequences in memory"),
    (rqc::MEM_RQ_TYPE, "RQs whose WQEs come from an RMP"),
    (rqc::RMPN, "RQs whose WQEs come from an RMP"),
    (rqc::HAIRPIN, "hairpin"),
    (rqc::HAIRPIN_PEER_SQ, "hairpin"),
    (rqc::HAIRPIN_PEER_VHCA, "hairpin"),
];

/// Bytes of the doorbell record's first word, which is an RQ's.
const RECORD_BYTES: u64 = 4;

/// The parts that `MODIFY_RQ` modifies (`MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_*`).
const MODIFY_VSD: u64 = 1 << 1;
const MODIFY_COUNTER: u64 = 1 << 3;

/// Firmware's syndrome for timestamps that the device does not have, seen for the time (NVIDIA/daqiri, issue 283).
const OTHER_CLOCK: u32 = 0x43_d98f;

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_rq_in::CTX);
    check_absent(view, &ABSENT)?;
    check_created(view.get(rqc::STATE))?;
    let timestamps = timestamp_format(call, view.get(rqc::TS_FORMAT));
    let timestamps = timestamps.map_err(|refusal| Refusal { known_syndrome: Some(OTHER_CLOCK), ..refusal })?;
    let queue = view.part(rqc::WQ);
    check_no_slave(queue)?;
    let (pd, cqn, counter) = (queue.get32(wq::PD), view.get32(rqc::CQN), view.get(rqc::COUNTER_SET_ID) as u8);
    if pd == 0 {
        // The queue that drops its frames, as Linux makes it: no key belongs to this domain, so nothing reaches a
        // buffer.
        call.check_driver()?;
    } else {
        call.check_use(Object::Pd, pd)?;
    }
    call.check_use(Object::Cq, cqn)?;
    // 0 is no set of counters.
    if counter != 0 {
        call.check_use(Object::QCounter, counter.into())?;
    }
    let strides = strides::of(call.device.config().generation, queue)?;
    let place = take(call, queue, &create_rq_in::LAYOUT, RECORD_BYTES, &[CYCLIC, CYCLIC_STRIDING])?;
    let rqn = call.device.create_rq(ReceiveQueueContext {
        pd,
        cqn,
        ring: RqContext { buf: place.ring, log_size: place.log_size, log_stride: place.log_stride },
        strides,
        dbr: place.record,
        uidx: view.get32(rqc::USER_INDEX),
        timestamps,
        counter,
        strips_vlan: !view.flag(rqc::VSD),
        flushes: view.flag(rqc::FLUSH_IN_ERROR_EN),
    })?;
    call.created(Object::Rq, rqn);
    call.state.contexts.add(Object::Rq, rqn, view.0);
    call.output.set(create_rq_out::RQN, rqn.into());
    Ok(())
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let rqn = call.owned(Object::Rq, modify_rq_in::RQN)?;
    let mask = call.input.get(modify_rq_in::MODIFY_BITMASK);
    if mask & !(MODIFY_VSD | MODIFY_COUNTER) != 0 {
        return Err(Refusal::parameter(format!("modify_bitmask {mask:#x}: VLAN stripping (2) and counter set (8)")));
    }
    let view = call.input.part(modify_rq_in::CTX);
    let from = state(call.input.get(modify_rq_in::RQ_STATE))?;
    let to = state(view.get(rqc::STATE))?;
    let strips_vlan = (mask & MODIFY_VSD != 0).then(|| !view.flag(rqc::VSD));
    let counter = (mask & MODIFY_COUNTER != 0).then(|| view.get(rqc::COUNTER_SET_ID) as u8);
    if let Some(counter) = counter.filter(|&counter| counter != 0) {
        call.check_use(Object::QCounter, counter.into())?;
    }
    Ok(call.device.modify_rq(rqn, (from, to), strips_vlan, counter)?)
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Rq, destroy_rq_in::RQN, |device, rqn| device.destroy_rq(rqn))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let rqn = call.usable(Object::Rq, query_rq_in::RQN)?;
    let (consumed, posted) = call.device.rq_counters(rqn)?;
    let mut context = call.state.contexts.get(Object::Rq, rqn);
    let rq = call.device.nic().rq(rqn)?;
    let mut view = ViewMut(&mut context);
    view.set(rqc::STATE, state_bits(rq.state()));
    view.set(rqc::VSD, u64::from(!rq.context().strips_vlan));
    view.set(rqc::COUNTER_SET_ID, rq.context().counter.into());
    let mut queue = view.part(rqc::WQ);
    queue.set(wq::HW_COUNTER, consumed.into());
    queue.set(wq::SW_COUNTER, posted.into());
    call.output.put(query_rq_out::RQ_CONTEXT.at, &context);
    Ok(())
}
