//! The streams of a DCI: which of them have failed.
//!
//! A request that fails takes its stream with it, and not the QP. Later requests in the same stream are flushed, until
//! the host resets the stream; all other streams go on. The QP fails when as many streams have failed as it was made
//! for (rdma-core `mlx5dv_dci_stream_id_reset(3)`). By the tests of rdma-core (`test_mlx5_dc.py`), the reset of a
//! stream that works fails.

use std::collections::BTreeSet;

use crate::context::DciStreams;

/// The failed streams of a DCI.
#[derive(Debug, Default)]
pub(in crate::qp) struct FailedStreams(BTreeSet<u16>);

impl FailedStreams {
    /// A request of `stream` has failed. `false`: by now, enough streams have failed that the QP fails.
    pub(in crate::qp) fn add(&mut self, stream: u16, made: DciStreams) -> bool {
        self.0.insert(stream);
        self.0.len() < made.most_failed()
    }

    /// Whether requests of `stream` are flushed.
    pub(in crate::qp) fn has(&self, stream: u16) -> bool {
        self.0.contains(&stream)
    }

    /// Requests of `stream` are executed again. `false` if it has not failed.
    pub(in crate::qp) fn reset(&mut self, stream: u16) -> bool {
        self.0.remove(&stream)
    }
}
