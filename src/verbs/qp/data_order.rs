//! Whether data arrives in order, asked of the device.

use core::ffi::c_int;
use std::sync::OnceLock;

use rdma_sys as sys;

use crate::verbs::Qp;
use crate::verbs::ffi::Library;

/// `ibv_query_qp_data_in_order` of libibverbs 36 and later.
type Query = unsafe extern "C" fn(*mut sys::ibv_qp, sys::ibv_wr_opcode::Type, u32) -> c_int;

impl Qp {
    /// Whether the bytes of each WRITE of the peer become visible to this CPU in ascending order. If so, you may poll
    /// for the last byte instead of a completion ([`memory_polling`](crate::memory_polling) has the whole rule). The
    /// device is asked (`ibv_query_qp_data_in_order(3)`); it tells in RTS only.
    ///
    /// `false` means "not promised". It is the answer on every CPU but x86, from devices, kernels and libraries
    /// (libibverbs before 36) that cannot tell, and when the call fails. `true` does not hold for memory that is
    /// registered with [`Access::RELAXED_ORDERING`](crate::verbs::Access::RELAXED_ORDERING), and covers one WRITE, not
    /// two.
    #[must_use]
    pub fn writes_in_order(&self) -> bool {
        static QUERY: OnceLock<Option<Query>> = OnceLock::new();
        let query = QUERY.get_or_init(|| {
            let address = Library::open("libibverbs.so.1").ok()?.find("ibv_query_qp_data_in_order").ok()?;
            // SAFETY: a function of that name has this type (`verbs.h`).
            Some(unsafe { core::mem::transmute::<*mut core::ffi::c_void, Query>(address) })
        });
        // libmlx5 reads the state without a lock (rdma-core `providers/mlx5/verbs.c`, `mlx5_query_qp_data_in_order`).
        let _changing = self.changing();
        // SAFETY: the queue pair is alive.
        query.is_some_and(|query| unsafe { query(self.as_raw(), sys::ibv_wr_opcode::IBV_WR_RDMA_WRITE, 0) } != 0)
    }
}
