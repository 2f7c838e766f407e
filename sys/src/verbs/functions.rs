//! The functions of libibverbs that every release from rdma-core 34 on has.

use core::ffi::{c_char, c_int, c_void};

use super::types::*;
use crate::declare::functions;
use crate::errno::{absent, failed};

functions! {
    "libibverbs.so.1", link "ibverbs", replaceable true;

    "IBVERBS_1.1": {
        /// The devices, ended by a null pointer; their number goes to `num_devices`. Null and `errno` on failure.
        fn ibv_get_device_list(num_devices: *mut c_int) -> *mut *mut ibv_device, else absent();
        /// Frees a list of devices. Open devices stay open.
        fn ibv_free_device_list(list: *mut *mut ibv_device);
        /// A device's name.
        fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char, else absent::<c_char>();
        /// Opens a device. Null and `errno` on failure.
        fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context, else absent();
        /// Closes a device. Returns 0 or an errno.
        fn ibv_close_device(context: *mut ibv_context) -> c_int, else libc::ENOSYS;
        /// Waits for an asynchronous event. Returns 0, or -1 and `errno`.
        fn ibv_get_async_event(context: *mut ibv_context, event: *mut ibv_async_event) -> c_int, else failed();
        /// Gives an event back.
        fn ibv_ack_async_event(event: *mut ibv_async_event);
        /// Queries a device. Returns 0 or an errno.
        fn ibv_query_device(context: *mut ibv_context, device_attr: *mut ibv_device_attr) -> c_int, else libc::ENOSYS;
        /// Makes a protection domain. Null and `errno` on failure.
        fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd, else absent();
        /// Frees a protection domain, a parent domain too. Returns 0 or an errno.
        fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int, else libc::ENOSYS;
        /// Registers memory. Null and `errno` on failure.
        fn ibv_reg_mr(
            pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_int,
        ) -> *mut ibv_mr, else absent();
        /// Changes a memory region. Returns 0, an errno, or `IBV_REREG_MR_ERR_*`.
        fn ibv_rereg_mr(
            mr: *mut ibv_mr, flags: c_int, pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_int,
        ) -> c_int, else libc::ENOSYS;
        /// Ends a registration. Returns 0 or an errno.
        fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int, else libc::ENOSYS;
        /// Makes a completion queue. Null and `errno` on failure.
        fn ibv_create_cq(
            context: *mut ibv_context, cqe: c_int, cq_context: *mut c_void, channel: *mut ibv_comp_channel,
            comp_vector: c_int,
        ) -> *mut ibv_cq, else absent();
        /// Changes the size of a completion queue. Returns 0 or an errno.
        fn ibv_resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int, else libc::ENOSYS;
        /// Destroys a completion queue. Returns 0 or an errno.
        fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int, else libc::ENOSYS;
        /// Waits for a completion event. Returns 0, or -1 and `errno`.
        fn ibv_get_cq_event(
            channel: *mut ibv_comp_channel, cq: *mut *mut ibv_cq, cq_context: *mut *mut c_void,
        ) -> c_int, else failed();
        /// Gives completion events back.
        fn ibv_ack_cq_events(cq: *mut ibv_cq, nevents: u32);
        /// Makes a shared receive queue. Null and `errno` on failure.
        fn ibv_create_srq(
            pd: *mut ibv_pd, srq_init_attr: *mut ibv_srq_init_attr,
        ) -> *mut ibv_srq, else absent();
        /// Changes the limits of a shared receive queue. Returns 0 or an errno.
        fn ibv_modify_srq(
            srq: *mut ibv_srq, srq_attr: *mut ibv_srq_attr, srq_attr_mask: c_int,
        ) -> c_int, else libc::ENOSYS;
        /// Queries the limits of a shared receive queue. Returns 0 or an errno.
        fn ibv_query_srq(srq: *mut ibv_srq, srq_attr: *mut ibv_srq_attr) -> c_int, else libc::ENOSYS;
        /// Destroys a shared receive queue. Returns 0 or an errno.
        fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int, else libc::ENOSYS;
        /// Makes a queue pair. Null and `errno` on failure.
        fn ibv_create_qp(pd: *mut ibv_pd, qp_init_attr: *mut ibv_qp_init_attr) -> *mut ibv_qp, else absent();
        /// Changes a queue pair. Returns 0 or an errno.
        fn ibv_modify_qp(qp: *mut ibv_qp, attr: *mut ibv_qp_attr, attr_mask: c_int) -> c_int, else libc::ENOSYS;
        /// Queries a queue pair. Returns 0 or an errno.
        fn ibv_query_qp(
            qp: *mut ibv_qp, attr: *mut ibv_qp_attr, attr_mask: c_int, init_attr: *mut ibv_qp_init_attr,
        ) -> c_int, else libc::ENOSYS;
        /// Destroys a queue pair. Returns 0 or an errno.
        fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int, else libc::ENOSYS;
        /// Makes an address handle. Null and `errno` on failure.
        fn ibv_create_ah(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah, else absent();
        /// The address of a datagram's sender. Returns 0, or -1 and `errno`.
        fn ibv_init_ah_from_wc(
            context: *mut ibv_context, port_num: u8, wc: *mut ibv_wc, grh: *mut ibv_grh, ah_attr: *mut ibv_ah_attr,
        ) -> c_int, else failed();
        /// An address handle of a datagram's sender. Null and `errno` on failure.
        fn ibv_create_ah_from_wc(
            pd: *mut ibv_pd, wc: *mut ibv_wc, grh: *mut ibv_grh, port_num: u8,
        ) -> *mut ibv_ah, else absent();
        /// Destroys an address handle. Returns 0 or an errno.
        fn ibv_destroy_ah(ah: *mut ibv_ah) -> c_int, else libc::ENOSYS;
    }

    "IBVERBS_1.0": {
        /// Makes a channel for completion events. Null and `errno` on failure.
        fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel, else absent();
        /// Destroys a channel. Returns 0 or an errno.
        fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int, else libc::ENOSYS;
    }

    "IBVERBS_1.6": {
        /// A queue pair with its functions that build requests. Null if it was made without them.
        fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex, else absent();
    }

    "IBVERBS_1.8": {
        /// Registers memory that peers address from `iova` on. Null and `errno` on failure.
        fn ibv_reg_mr_iova2(
            pd: *mut ibv_pd, addr: *mut c_void, length: usize, iova: u64, access: u32,
        ) -> *mut ibv_mr, else absent();
    }

    "IBVERBS_1.10": {
        /// A context on an open device file, which it closes in the end. Null and `errno` on failure.
        fn ibv_import_device(cmd_fd: c_int) -> *mut ibv_context, else absent();
        /// Asks for options with the next state change of a queue pair. Returns 0 or an errno.
        fn ibv_set_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int, else libc::ENOSYS;
        /// The options of a queue pair. Returns 0 or an errno.
        fn ibv_query_ece(qp: *mut ibv_qp, ece: *mut ibv_ece) -> c_int, else libc::ENOSYS;
    }

    "IBVERBS_1.11": {
        /// An entry of a port's table of GIDs; `entry_size` is that of [`ibv_gid_entry`]. Returns 0 or an errno:
        /// `ENODATA` for an empty entry. `verbs.h` calls it `ibv_query_gid_ex`.
        fn _ibv_query_gid_ex(
            context: *mut ibv_context, port_num: u32, gid_index: u32, entry: *mut ibv_gid_entry, flags: u32,
            entry_size: usize,
        ) -> c_int, else libc::ENOSYS;
    }

    "IBVERBS_1.12": {
        /// Registers a dma-buf. Null and `errno` on failure.
        fn ibv_reg_dmabuf_mr(
            pd: *mut ibv_pd, offset: u64, length: usize, iova: u64, fd: c_int, access: c_int,
        ) -> *mut ibv_mr, else absent();
    }
}
