//! The functions of libmlx5 that every release from rdma-core 37 on has.

use core::ffi::{c_int, c_void};

use super::types::*;
use crate::declare::functions;
use crate::errno::absent;
use crate::verbs::{
    ibv_context, ibv_cq_ex, ibv_cq_init_attr_ex, ibv_device, ibv_flow, ibv_qp, ibv_qp_ex, ibv_qp_init_attr_ex, ibv_wq,
    ibv_wq_init_attr,
};

functions! {
    "libmlx5.so.1", link "mlx5", replaceable false;

    "MLX5_1.0": {
        /// Queries the mlx5-specific attributes. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_query_device(ctx_in: *mut ibv_context, attrs_out: *mut mlx5dv_context) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.1": {
        /// Creates a CQ with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_cq(
            context: *mut ibv_context,
            cq_attr: *mut ibv_cq_init_attr_ex,
            mlx5_cq_attr: *mut mlx5dv_cq_init_attr
        ) -> *mut ibv_cq_ex, else absent();
    }

    "MLX5_1.2": {
        /// Hands out raw parts. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_init_obj(obj: *mut mlx5dv_obj, obj_type: u64) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.3": {
        /// Creates a QP with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_qp(
            context: *mut ibv_context,
            qp_attr: *mut ibv_qp_init_attr_ex,
            mlx5_qp_attr: *mut mlx5dv_qp_init_attr
        ) -> *mut ibv_qp, else absent();
        /// Creates a work queue with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_wq(
            context: *mut ibv_context,
            wq_init_attr: *mut ibv_wq_init_attr,
            mlx5_wq_attr: *mut mlx5dv_wq_init_attr
        ) -> *mut ibv_wq, else absent();
    }

    "MLX5_1.6": {
        /// Makes a matcher: the fields of frames that count. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_flow_matcher(
            context: *mut ibv_context,
            matcher_attr: *mut mlx5dv_flow_matcher_attr
        ) -> *mut mlx5dv_flow_matcher, else absent();
        /// Destroys it. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_destroy_flow_matcher(matcher: *mut mlx5dv_flow_matcher) -> c_int, else libc::ENOSYS;
        /// Makes a rule with the fields of a matcher. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_flow(
            matcher: *mut mlx5dv_flow_matcher,
            match_value: *mut mlx5dv_flow_match_parameters,
            num_actions: usize,
            actions_attr: *mut mlx5dv_flow_action_attr
        ) -> *mut ibv_flow, else absent();
    }

    "MLX5_1.7": {
        /// Opens a device with mlx5's own attributes. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_open_device(
            device: *mut ibv_device,
            attr: *mut mlx5dv_context_attr
        ) -> *mut ibv_context, else absent();
        /// Has the device carry out a command about no object. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_devx_general_cmd(
            context: *mut ibv_context,
            input: *const c_void,
            inlen: usize,
            output: *mut c_void,
            outlen: usize
        ) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.8": {
        /// Whether the device is driven by libmlx5. False if there is no libmlx5.
        fn mlx5dv_is_supported(device: *mut ibv_device) -> bool, else false;
    }

    "MLX5_1.10": {
        /// The queue pair with mlx5's own functions. Null if it was made without them.
        fn mlx5dv_qp_ex_from_ibv_qp_ex(qp: *mut ibv_qp_ex) -> *mut mlx5dv_qp_ex, else absent();
        /// Makes an indirect memory key. Null and `errno` on failure, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_create_mkey(mkey_init_attr: *mut mlx5dv_mkey_init_attr) -> *mut mlx5dv_mkey, else absent();
        /// Destroys it. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_destroy_mkey(mkey: *mut mlx5dv_mkey) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.14": {
        /// Changes the port of a bond that a queue pair has. Returns 0 or an errno.
        fn mlx5dv_modify_qp_lag_port(qp: *mut ibv_qp, port_num: u8) -> c_int, else libc::ENOSYS;
        /// The port of a bond that a queue pair has, and the one by which it sends now. Returns 0 or an errno.
        fn mlx5dv_query_qp_lag_port(
            qp: *mut ibv_qp,
            port_num: *mut u8,
            active_port_num: *mut u8,
        ) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.17": {
        /// Changes the UDP source port of a queue pair in RTS. Returns 0 or an errno.
        fn mlx5dv_modify_qp_udp_sport(qp: *mut ibv_qp, udp_sport: u16) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.21": {
        /// Makes a failed stream of an initiator work again. Returns 0 or an errno, `ENOSYS` if there is no libmlx5.
        fn mlx5dv_dci_stream_id_reset(qp: *mut ibv_qp, stream_id: u16) -> c_int, else libc::ENOSYS;
    }
}
