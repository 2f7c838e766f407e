//! The functions of libibverbs that came after rdma-core 34. They are looked up by themselves.

use core::ffi::c_int;

use super::enumerations::ibv_wr_opcode;
use super::types::ibv_qp;
use crate::declare::functions;

functions! {
    "libibverbs.so.1", link "ibverbs", replaceable true;

    "IBVERBS_1.14": {
        /// Whether the bytes of an operation's data arrive in ascending order. 0: not promised.
        fn ibv_query_qp_data_in_order(qp: *mut ibv_qp, op: ibv_wr_opcode, flags: u32) -> c_int, else 0;
    }
}
