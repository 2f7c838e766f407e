//! Q counters: they count the requests and the failures of a set of queues.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    struct alloc_q_counter_in: command {}
    struct alloc_q_counter_out: answer { COUNTER_SET_ID: 0x58, 8; }
    struct dealloc_q_counter_in: query { COUNTER_SET_ID: 0x58, 8; }
    struct query_q_counter_in: query 0x20 bytes { CLEAR: 0xc0, 1; COUNTER_SET_ID: 0xf8, 8; }
    /// Output of `QUERY_Q_COUNTER`: the fields that this device counts.
    struct query_q_counter_out: answer 0x100 bytes {
        RX_WRITE_REQUESTS: 0x80, 32;
        RX_READ_REQUESTS: 0xc0, 32;
        RX_ATOMIC_REQUESTS: 0x100, 32;
        OUT_OF_BUFFER: 0x180, 32;
        OUT_OF_SEQUENCE: 0x1c0, 32;
        DUPLICATE_REQUEST: 0x200, 32;
        RNR_NAK_RETRY_ERR: 0x240, 32;
        PACKET_SEQ_ERR: 0x280, 32;
        IMPLIED_NAK_SEQ_ERR: 0x2c0, 32;
        LOCAL_ACK_TIMEOUT_ERR: 0x300, 32;
        RESP_LOCAL_LENGTH_ERROR: 0x3c0, 32;
        REQ_LOCAL_LENGTH_ERROR: 0x3e0, 32;
        RESP_LOCAL_QP_ERROR: 0x400, 32;
        LOCAL_OPERATION_ERROR: 0x420, 32;
        RESP_LOCAL_PROTECTION: 0x440, 32;
        REQ_LOCAL_PROTECTION: 0x460, 32;
        RESP_CQE_ERROR: 0x480, 32;
        REQ_CQE_ERROR: 0x4a0, 32;
        REQ_BAD_RESPONSE: 0x4e0, 32;
        REQ_REMOTE_INVALID_REQUEST: 0x500, 32;
        RESP_REMOTE_INVALID_REQUEST: 0x520, 32;
        REQ_REMOTE_ACCESS_ERRORS: 0x540, 32;
        RESP_REMOTE_ACCESS_ERRORS: 0x560, 32;
        REQ_REMOTE_OPERATION_ERRORS: 0x580, 32;
        REQ_TRANSPORT_RETRIES_EXCEEDED: 0x5a0, 32;
        RESP_CQE_FLUSH_ERROR: 0x5e0, 32;
        REQ_CQE_FLUSH_ERROR: 0x600, 32;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x771, "ALLOC_Q_COUNTER", alloc_q_counter_in, alloc_q_counter_out, alloc),
    command!(0x772, "DEALLOC_Q_COUNTER", dealloc_q_counter_in, bare_out, dealloc),
    command!(0x773, "QUERY_Q_COUNTER", query_q_counter_in, query_q_counter_out, query),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.device.alloc_q_counter()?;
    call.created(Object::QCounter, number.into());
    call.output.set(alloc_q_counter_out::COUNTER_SET_ID, number.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.input.get(dealloc_q_counter_in::COUNTER_SET_ID) as u8;
    call.check_owner(Object::QCounter, number.into())?;
    call.device.dealloc_q_counter(number)?;
    call.destroyed(Object::QCounter, number.into());
    Ok(())
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.input.get(query_q_counter_in::COUNTER_SET_ID) as u8;
    let clear = call.input.flag(query_q_counter_in::CLEAR);
    // Only its owner or the driver may clear a counter.
    let check = if clear { Call::check_owner } else { Call::check_use };
    check(call, Object::QCounter, number.into())?;
    let counter = call.device.query_q_counter(number, clear)?;
    for (field, value) in [
        (query_q_counter_out::RX_WRITE_REQUESTS, counter.rx_write_requests),
        (query_q_counter_out::RX_READ_REQUESTS, counter.rx_read_requests),
        (query_q_counter_out::RX_ATOMIC_REQUESTS, counter.rx_atomic_requests),
        (query_q_counter_out::OUT_OF_BUFFER, counter.out_of_buffer),
        (query_q_counter_out::OUT_OF_SEQUENCE, counter.out_of_sequence),
        (query_q_counter_out::DUPLICATE_REQUEST, counter.duplicate_request),
        (query_q_counter_out::RNR_NAK_RETRY_ERR, counter.rnr_nak_retry_err),
        (query_q_counter_out::PACKET_SEQ_ERR, counter.packet_seq_err),
        (query_q_counter_out::IMPLIED_NAK_SEQ_ERR, counter.implied_nak_seq_err),
        (query_q_counter_out::LOCAL_ACK_TIMEOUT_ERR, counter.local_ack_timeout_err),
        (query_q_counter_out::RESP_LOCAL_LENGTH_ERROR, counter.resp_local_length_error),
        (query_q_counter_out::REQ_LOCAL_LENGTH_ERROR, counter.req_local_length_error),
        (query_q_counter_out::RESP_LOCAL_QP_ERROR, counter.resp_local_qp_error),
        (query_q_counter_out::LOCAL_OPERATION_ERROR, counter.local_operation_error),
        (query_q_counter_out::RESP_LOCAL_PROTECTION, counter.resp_local_protection),
        (query_q_counter_out::REQ_LOCAL_PROTECTION, counter.req_local_protection),
        (query_q_counter_out::RESP_CQE_ERROR, counter.resp_cqe_error),
        (query_q_counter_out::REQ_CQE_ERROR, counter.req_cqe_error),
        (query_q_counter_out::REQ_BAD_RESPONSE, counter.req_bad_response),
        (query_q_counter_out::REQ_REMOTE_INVALID_REQUEST, counter.req_remote_invalid_request),
        (query_q_counter_out::RESP_REMOTE_INVALID_REQUEST, counter.resp_remote_invalid_request),
        (query_q_counter_out::REQ_REMOTE_ACCESS_ERRORS, counter.req_remote_access_errors),
        (query_q_counter_out::RESP_REMOTE_ACCESS_ERRORS, counter.resp_remote_access_errors),
        (query_q_counter_out::REQ_REMOTE_OPERATION_ERRORS, counter.req_remote_operation_errors),
        (query_q_counter_out::REQ_TRANSPORT_RETRIES_EXCEEDED, counter.req_transport_retries_exceeded),
        (query_q_counter_out::RESP_CQE_FLUSH_ERROR, counter.resp_cqe_flush_error),
        (query_q_counter_out::REQ_CQE_FLUSH_ERROR, counter.req_cqe_flush_error),
    ] {
        call.output.set(field, value.into());
    }
    Ok(())
}
