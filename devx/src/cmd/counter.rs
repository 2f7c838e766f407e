//! Counters.

use super::{Opcode, Pdn, Status};
use crate::mailbox::{commands, structures};

structures! {
    /// A counter of a flow.
    pub struct TrafficCounter: "traffic_counter", 0x80 {
        packets: 0x0, 64, u64;
        octets: 0x40, 64, u64;
    }

    /// Allocates a set of counters of queues.
    pub struct AllocQCounterIn: "alloc_q_counter_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocQCounterIn`].
    pub struct AllocQCounterOut: "alloc_q_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        counter_set_id: 0x58, 8, u8;
    }

    /// Queries a set of counters of queues.
    pub struct QueryQCounterIn: "query_q_counter_in", 0x100 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        vport_number: 0x50, 16, u16;
        clear: 0xc0, 1, bool;
        aggregate: 0xc1, 1, bool;
        counter_set_id: 0xf8, 8, u8;
    }

    /// Answer to [`QueryQCounterIn`].
    pub struct QueryQCounterOut: "query_q_counter_out", 0x800 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        rx_write_requests: 0x80, 32, u32;
        rx_read_requests: 0xc0, 32, u32;
        rx_atomic_requests: 0x100, 32, u32;
        rx_dct_connect: 0x140, 32, u32;
        out_of_buffer: 0x180, 32, u32;
        out_of_sequence: 0x1c0, 32, u32;
        duplicate_request: 0x200, 32, u32;
        rnr_nak_retry_err: 0x240, 32, u32;
        packet_seq_err: 0x280, 32, u32;
        implied_nak_seq_err: 0x2c0, 32, u32;
        local_ack_timeout_err: 0x300, 32, u32;
        req_rnr_retries_exceeded: 0x380, 32, u32;
        resp_local_length_error: 0x3c0, 32, u32;
        req_local_length_error: 0x3e0, 32, u32;
        resp_local_qp_error: 0x400, 32, u32;
        local_operation_error: 0x420, 32, u32;
        resp_local_protection: 0x440, 32, u32;
        req_local_protection: 0x460, 32, u32;
        resp_cqe_error: 0x480, 32, u32;
        req_cqe_error: 0x4a0, 32, u32;
        req_mw_binding: 0x4c0, 32, u32;
        req_bad_response: 0x4e0, 32, u32;
        req_remote_invalid_request: 0x500, 32, u32;
        resp_remote_invalid_request: 0x520, 32, u32;
        req_remote_access_errors: 0x540, 32, u32;
        resp_remote_access_errors: 0x560, 32, u32;
        req_remote_operation_errors: 0x580, 32, u32;
        req_transport_retries_exceeded: 0x5a0, 32, u32;
        cq_overflow: 0x5c0, 32, u32;
        resp_cqe_flush_error: 0x5e0, 32, u32;
        req_cqe_flush_error: 0x600, 32, u32;
        roce_adp_retrans: 0x640, 32, u32;
        roce_adp_retrans_to: 0x660, 32, u32;
        roce_slow_restart: 0x680, 32, u32;
        roce_slow_restart_cnps: 0x6a0, 32, u32;
        roce_slow_restart_trans: 0x6c0, 32, u32;
    }

    /// Allocates counters of flows.
    pub struct AllocFlowCounterIn: "alloc_flow_counter_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        pd: 0x48, 24, Pdn;
        flow_counter_bulk_log_size: 0x73, 5, u8;
        flow_counter_bulk: 0x78, 8, u8;
    }

    /// Answer to [`AllocFlowCounterIn`].
    pub struct AllocFlowCounterOut: "alloc_flow_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        flow_counter_id: 0x40, 32, u32;
    }

    /// Queries counters of flows, which follow the answer.
    pub struct QueryFlowCounterIn: "query_flow_counter_in", 0x100 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        mkey: 0x60, 32, u32;
        address: 0x80, 64, u64;
        clear: 0xc0, 1, bool;
        dump_to_memory: 0xc1, 1, bool;
        num_of_counters: 0xd0, 16, u16;
        flow_counter_id: 0xe0, 32, u32;
    }

    /// Answer to [`QueryFlowCounterIn`].
    pub struct QueryFlowCounterOut: "query_flow_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
}

commands! {
    AllocQCounterIn => AllocQCounterOut, ALLOC_Q_COUNTER, Creates;
    QueryQCounterIn => QueryQCounterOut, QUERY_Q_COUNTER, Queries;
    AllocFlowCounterIn => AllocFlowCounterOut, ALLOC_FLOW_COUNTER, Creates;
    QueryFlowCounterIn => QueryFlowCounterOut, QUERY_FLOW_COUNTER, Queries;
}
