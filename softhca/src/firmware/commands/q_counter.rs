//! Q counters: what a set of queues could not do as it should.

use super::work_queue::check_op_mod;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    /// `ALLOC_Q_COUNTER`.
    alloc_q_counter_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// What it gives.
    alloc_q_counter_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        COUNTER_SET_ID: 0x58, 8;
    }
}
layout! {
    /// `DEALLOC_Q_COUNTER`.
    dealloc_q_counter_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        COUNTER_SET_ID: 0x58, 8;
    }
}
layout! {
    /// `QUERY_Q_COUNTER`.
    query_q_counter_in: 0x20 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        CLEAR: 0xc0, 1;
        COUNTER_SET_ID: 0xf8, 8;
    }
}
layout! {
    /// What it gives; what this device counts of it.
    query_q_counter_out: 0x100 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        OUT_OF_BUFFER: 0x180, 32;
        RESP_LOCAL_LENGTH_ERROR: 0x3c0, 32;
        RESP_LOCAL_QP_ERROR: 0x400, 32;
        RESP_LOCAL_PROTECTION: 0x440, 32;
        RESP_CQE_ERROR: 0x480, 32;
        RESP_CQE_FLUSH_ERROR: 0x5e0, 32;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command(0x771, "ALLOC_Q_COUNTER", &alloc_q_counter_in::LAYOUT, &alloc_q_counter_out::LAYOUT, alloc),
    command(0x772, "DEALLOC_Q_COUNTER", &dealloc_q_counter_in::LAYOUT, &bare_out::LAYOUT, dealloc),
    command(0x773, "QUERY_Q_COUNTER", &query_q_counter_in::LAYOUT, &query_q_counter_out::LAYOUT, query),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    check_op_mod(call)?;
    let number = call.device.alloc_q_counter()?;
    call.created(Object::QCounter, number.into());
    call.output.set(alloc_q_counter_out::COUNTER_SET_ID, number.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    check_op_mod(call)?;
    let number = call.input.get(dealloc_q_counter_in::COUNTER_SET_ID) as u8;
    call.check_owner(Object::QCounter, number.into())?;
    call.device.dealloc_q_counter(number)?;
    call.destroyed(Object::QCounter, number.into());
    Ok(())
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    check_op_mod(call)?;
    let number = call.input.get(query_q_counter_in::COUNTER_SET_ID) as u8;
    call.check_owner(Object::QCounter, number.into())?;
    let counter = call.device.query_q_counter(number, call.input.flag(query_q_counter_in::CLEAR))?;
    for (field, value) in [
        (query_q_counter_out::OUT_OF_BUFFER, counter.out_of_buffer),
        (query_q_counter_out::RESP_LOCAL_LENGTH_ERROR, counter.resp_local_length_error),
        (query_q_counter_out::RESP_LOCAL_QP_ERROR, counter.resp_local_qp_error),
        (query_q_counter_out::RESP_LOCAL_PROTECTION, counter.resp_local_protection),
        (query_q_counter_out::RESP_CQE_ERROR, counter.resp_cqe_error),
        (query_q_counter_out::RESP_CQE_FLUSH_ERROR, counter.resp_cqe_flush_error),
    ] {
        call.output.set(field, value.into());
    }
    Ok(())
}
