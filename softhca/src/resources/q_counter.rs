//! Q counters: they count the requests and the failures of a set of queues. Names are those of `query_q_counter_out`
//! in Linux' `include/linux/mlx5/mlx5_ifc.h`.

use super::Resources;
use crate::cq::Syndrome;

/// Counters of a set of queues; they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QCounter {
    /// RDMA WRITEs that arrived.
    pub(crate) rx_write_requests: u32,
    /// RDMA READs that arrived.
    pub(crate) rx_read_requests: u32,
    /// Atomics that arrived.
    pub(crate) rx_atomic_requests: u32,
    /// Packets that arrived and found no receive WQE.
    pub(crate) out_of_buffer: u32,
    /// Packets that arrived before one that was missing.
    pub(crate) out_of_sequence: u32,
    /// Packets that had arrived before.
    pub(crate) duplicate_request: u32,
    /// RNR NAKs for requests.
    pub(crate) rnr_nak_retry_err: u32,
    /// NAKs for requests that arrived before one that was missing.
    pub(crate) packet_seq_err: u32,
    /// Answers that did not come, while later ones did.
    pub(crate) implied_nak_seq_err: u32,
    /// Requests that were not acknowledged in time.
    pub(crate) local_ack_timeout_err: u32,
    /// Receives that were shorter than what arrived.
    pub(crate) resp_local_length_error: u32,
    /// Receives with a malformed WQE.
    pub(crate) resp_local_qp_error: u32,
    /// Receives whose keys did not permit the access.
    pub(crate) resp_local_protection: u32,
    /// Receives that ended in an error CQE.
    pub(crate) resp_cqe_error: u32,
    /// Receives that were flushed.
    pub(crate) resp_cqe_flush_error: u32,
    /// Peers' requests that were refused as invalid.
    pub(crate) resp_remote_invalid_request: u32,
    /// Peers' requests that were refused for their rights.
    pub(crate) resp_remote_access_errors: u32,
    /// Requests that were too long.
    pub(crate) req_local_length_error: u32,
    /// Requests with a malformed WQE.
    pub(crate) local_operation_error: u32,
    /// Requests whose keys did not permit the access.
    pub(crate) req_local_protection: u32,
    /// Requests that ended in an error CQE.
    pub(crate) req_cqe_error: u32,
    /// Requests with an answer that could not be one.
    pub(crate) req_bad_response: u32,
    /// Requests that the peer refused as invalid.
    pub(crate) req_remote_invalid_request: u32,
    /// Requests that the peer refused for their rights.
    pub(crate) req_remote_access_errors: u32,
    /// Requests that the peer could not carry out.
    pub(crate) req_remote_operation_errors: u32,
    /// Requests that were repeated too often.
    pub(crate) req_transport_retries_exceeded: u32,
    /// Changes of memory keys that were refused.
    pub(crate) req_mw_binding: u32,
    /// Requests that were flushed.
    pub(crate) req_cqe_flush_error: u32,
    /// Queues of the set.
    pub(crate) users: u32,
}

impl QCounter {
    /// A receive ended in an error CQE.
    fn receive_error(&mut self, syndrome: Syndrome) {
        let finer = match syndrome {
            Syndrome::LocalLength => Some(&mut self.resp_local_length_error),
            Syndrome::LocalQpOp => Some(&mut self.resp_local_qp_error),
            Syndrome::LocalProtection => Some(&mut self.resp_local_protection),
            Syndrome::WrFlush => Some(&mut self.resp_cqe_flush_error),
            _ => None,
        };
        for counter in [Some(&mut self.resp_cqe_error), finer].into_iter().flatten() {
            *counter = counter.wrapping_add(1);
        }
    }

    /// A request ended in an error CQE.
    fn request_error(&mut self, syndrome: Syndrome) {
        let finer = match syndrome {
            Syndrome::LocalLength => Some(&mut self.req_local_length_error),
            Syndrome::LocalQpOp => Some(&mut self.local_operation_error),
            Syndrome::LocalProtection => Some(&mut self.req_local_protection),
            Syndrome::MwBind => Some(&mut self.req_mw_binding),
            Syndrome::BadResponse => Some(&mut self.req_bad_response),
            Syndrome::RemoteInvalidRequest => Some(&mut self.req_remote_invalid_request),
            Syndrome::RemoteAccess => Some(&mut self.req_remote_access_errors),
            Syndrome::RemoteOp => Some(&mut self.req_remote_operation_errors),
            Syndrome::TransportRetryExceeded => Some(&mut self.req_transport_retries_exceeded),
            Syndrome::WrFlush => Some(&mut self.req_cqe_flush_error),
            _ => None,
        };
        for counter in [Some(&mut self.req_cqe_error), finer].into_iter().flatten() {
            *counter = counter.wrapping_add(1);
        }
    }
}

impl Resources {
    /// The counters of set `set`, and those of all queues.
    fn counting(&mut self, set: u8) -> impl Iterator<Item = &mut QCounter> {
        self.q_counters.get_mut(set.into()).into_iter().chain([&mut self.all_queues])
    }

    /// Something happened to a queue of set `set`; `counter` names what.
    pub(crate) fn count(&mut self, set: u8, counter: fn(&mut QCounter) -> &mut u32) {
        self.count_many(set, 1, counter);
    }

    /// Something happened `count` times.
    pub(crate) fn count_many(&mut self, set: u8, count: u32, counter: fn(&mut QCounter) -> &mut u32) {
        for set in self.counting(set) {
            let counter = counter(set);
            *counter = counter.wrapping_add(count);
        }
    }

    /// A request of a queue of set `set` ended in an error CQE.
    pub(crate) fn count_request_error(&mut self, set: u8, syndrome: Syndrome) {
        for counter in self.counting(set) {
            counter.request_error(syndrome);
        }
    }

    /// Something arrived for a queue of set `set` and found no receive WQE.
    pub(crate) fn count_out_of_buffer(&mut self, set: u8) {
        for counter in self.counting(set) {
            counter.out_of_buffer = counter.out_of_buffer.wrapping_add(1);
        }
    }

    /// A receive of a queue of set `set` ended in an error CQE.
    pub(crate) fn count_receive_error(&mut self, set: u8, syndrome: Syndrome) {
        for counter in self.counting(set) {
            counter.receive_error(syndrome);
        }
    }
}
