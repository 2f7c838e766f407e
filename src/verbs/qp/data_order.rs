//! Whether data arrives in order, asked of the device.

use blueflame_sys as sys;

use crate::memory_polling::InOrder;
use crate::verbs::Qp;

impl Qp {
    /// The promise that the bytes of each WRITE of the peer become visible to this CPU in ascending order. Then you may poll
    /// for the last byte instead of a completion ([`memory_polling`](crate::memory_polling) has the whole rule). The
    /// device is asked (`ibv_query_qp_data_in_order(3)`); it tells in RTS only.
    ///
    /// `None` means "not promised". It is the answer on every CPU but x86, from devices, kernels and libraries
    /// (libibverbs before 36) that cannot tell, and when the call fails. The promise does not hold for memory that is
    /// registered with [`Access::RELAXED_ORDERING`](crate::verbs::Access::RELAXED_ORDERING), and covers one WRITE, not
    /// two.
    #[doc(alias = "ibv_query_qp_data_in_order")]
    #[must_use]
    pub fn writes_in_order(&self) -> Option<InOrder> {
        // libmlx5 reads the state without a lock (rdma-core `providers/mlx5/verbs.c`, `mlx5_query_qp_data_in_order`).
        let _changing = self.changing();
        // SAFETY: the queue pair is alive.
        let promised = unsafe { sys::ibv_query_qp_data_in_order(self.as_raw(), sys::IBV_WR_RDMA_WRITE, 0) != 0 };
        promised.then_some(InOrder::promised())
    }
}
