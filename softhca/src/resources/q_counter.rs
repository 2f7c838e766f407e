//! Q counters: what a set of queues could not do as it should. Names are those of `query_q_counter_out` in Linux'
//! `include/linux/mlx5/mlx5_ifc.h`.

use super::Resources;
use crate::cq::Syndrome;

/// Counters of a set of queues; they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QCounter {
    /// What arrived and found no receive WQE.
    pub(crate) out_of_buffer: u32,
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
}

impl Resources {
    /// Something arrived for a queue of set `set` and found no receive WQE.
    pub(crate) fn count_out_of_buffer(&mut self, set: u8) {
        if let Some(counter) = self.q_counters.get_mut(set.into()) {
            counter.out_of_buffer = counter.out_of_buffer.wrapping_add(1);
        }
    }

    /// A receive of a queue of set `set` ended in an error CQE.
    pub(crate) fn count_receive_error(&mut self, set: u8, syndrome: Syndrome) {
        if let Some(counter) = self.q_counters.get_mut(set.into()) {
            counter.receive_error(syndrome);
        }
    }
}
