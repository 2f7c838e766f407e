//! `mlx5dv_devx_*` and `mlx5dv_pp_*`: firmware commands, and what they need.

use core::ffi::{c_int, c_void};

use crate::declare::{constants, functions, structures};
use crate::errno::{absent, failed};
use crate::verbs::ibv_context;

/// An object that a command has made. Its insides are the library's.
#[repr(C)]
#[derive(Debug)]
pub struct mlx5dv_devx_obj {
    _private: [u8; 0],
    _not_send: core::marker::PhantomData<*mut c_void>,
}

structures! {
    /// Memory that the device may use for rings, records and keys.
    struct mlx5dv_devx_umem {
        /// The number that identifies it in commands.
        umem_id: u32,
    }

    /// The memory to register.
    struct mlx5dv_devx_umem_in {
        /// Where it begins; for a dma-buf, the offset in it.
        addr: *mut c_void,
        /// Bytes.
        size: usize,
        /// `IBV_ACCESS_*`.
        access: u32,
        /// Acceptable page sizes, a bit each.
        pgsz_bitmap: u64,
        /// Which of the fields below are valid.
        comp_mask: u64,
        /// The dma-buf, with `MLX5DV_UMEM_MASK_DMABUF`.
        dmabuf_fd: c_int,
    }

    /// A page of doorbell registers.
    struct mlx5dv_devx_uar {
        /// The register.
        reg_addr: *mut c_void,
        /// The page.
        base_addr: *mut c_void,
        /// The number that identifies it in commands.
        page_id: u32,
        /// The offset to map the page from.
        mmap_off: libc::off_t,
        /// Which later fields are present: none.
        comp_mask: u64,
    }

    /// An entry of the device's table of rates.
    struct mlx5dv_pp {
        /// The number that identifies it in commands.
        index: u16,
    }

    /// A channel for answers to asynchronous queries.
    struct mlx5dv_devx_cmd_comp {
        /// Readable when an answer has arrived.
        fd: c_int,
    }

    /// The header of an answer.
    struct mlx5dv_devx_async_cmd_hdr {
        /// The caller's identifier.
        wr_id: u64,
        /// The outbox, of the requested length.
        out_data: [u8; 0],
    }

    /// A channel for events.
    struct mlx5dv_devx_event_channel {
        /// Readable when an event has arrived.
        fd: c_int,
    }

    /// The header of an event.
    struct mlx5dv_devx_async_event_hdr {
        /// The subscriber's cookie.
        cookie: u64,
        /// The EQE's data, unless the channel leaves them out.
        out_data: [u8; 0],
    }
}

constants! {
    /// `mlx5dv_devx_umem_in::dmabuf_fd` is valid.
    MLX5DV_UMEM_MASK_DMABUF: u64 = 1 << 0;
    /// `MLX5DV_UAR_ALLOC_TYPE_BF`: mapped with write combining, for BlueFlame.
    MLX5DV_UAR_ALLOC_TYPE_BF: u32 = 0;
    /// `MLX5DV_UAR_ALLOC_TYPE_NC`: mapped uncached, for doorbells of 8 bytes.
    MLX5DV_UAR_ALLOC_TYPE_NC: u32 = 1;
    /// `MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED`: the same, and each call gives another register (rdma-core 45,
    /// `providers/mlx5/mlx5_api.h`).
    MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED: u32 = 1 << 31;
    /// `MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX`: the entry is not shared with users of an equal rate.
    MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX: u32 = 1 << 0;
    /// `MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA`: events are the cookie alone.
    MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA: u32 = 1 << 0;
}

functions! {
    "libmlx5.so.1", link "mlx5", replaceable false;

    "MLX5_1.7": {
        /// Sends a command that makes an object. Null and `errno` on failure.
        fn mlx5dv_devx_obj_create(
            context: *mut ibv_context, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
        ) -> *mut mlx5dv_devx_obj, else absent();
        /// Sends a command that asks an object. Returns 0 or an errno.
        fn mlx5dv_devx_obj_query(
            obj: *mut mlx5dv_devx_obj, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
        ) -> c_int, else libc::ENOSYS;
        /// Sends a command that changes an object. Returns 0 or an errno.
        fn mlx5dv_devx_obj_modify(
            obj: *mut mlx5dv_devx_obj, r#in: *const c_void, inlen: usize, out: *mut c_void, outlen: usize,
        ) -> c_int, else libc::ENOSYS;
        /// Destroys an object. Returns 0 or an errno.
        fn mlx5dv_devx_obj_destroy(obj: *mut mlx5dv_devx_obj) -> c_int, else libc::ENOSYS;
        /// Registers memory. Null and `errno` on failure.
        fn mlx5dv_devx_umem_reg(
            ctx: *mut ibv_context, addr: *mut c_void, size: usize, access: u32,
        ) -> *mut mlx5dv_devx_umem, else absent();
        /// Ends a registration. Returns 0 or an errno.
        fn mlx5dv_devx_umem_dereg(umem: *mut mlx5dv_devx_umem) -> c_int, else libc::ENOSYS;
        /// Allocates and maps a page of doorbell registers. Null and `errno` on failure.
        fn mlx5dv_devx_alloc_uar(context: *mut ibv_context, flags: u32) -> *mut mlx5dv_devx_uar, else absent();
        /// Frees a page of doorbell registers.
        fn mlx5dv_devx_free_uar(devx_uar: *mut mlx5dv_devx_uar);
        /// Queries the number of the event queue that serves an interrupt vector. Returns 0 or an errno.
        fn mlx5dv_devx_query_eqn(context: *mut ibv_context, vector: u32, eqn: *mut u32) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.9": {
        /// Makes a channel for answers to asynchronous queries. Null and `errno` on failure.
        fn mlx5dv_devx_create_cmd_comp(context: *mut ibv_context) -> *mut mlx5dv_devx_cmd_comp, else absent();
        /// Ends it.
        fn mlx5dv_devx_destroy_cmd_comp(cmd_comp: *mut mlx5dv_devx_cmd_comp);
        /// Sends a query of an object without waiting for the answer. Returns 0 or an errno.
        fn mlx5dv_devx_obj_query_async(
            obj: *mut mlx5dv_devx_obj, r#in: *const c_void, inlen: usize, outlen: usize, wr_id: u64,
            cmd_comp: *mut mlx5dv_devx_cmd_comp,
        ) -> c_int, else libc::ENOSYS;
        /// Takes an answer. Returns 0 or an errno.
        fn mlx5dv_devx_get_async_cmd_comp(
            cmd_comp: *mut mlx5dv_devx_cmd_comp, cmd_resp: *mut mlx5dv_devx_async_cmd_hdr, cmd_resp_len: usize,
        ) -> c_int, else libc::ENOSYS;
    }

    "MLX5_1.11": {
        /// Makes a channel for events. Null and `errno` on failure.
        fn mlx5dv_devx_create_event_channel(
            context: *mut ibv_context, flags: u32,
        ) -> *mut mlx5dv_devx_event_channel, else absent();
        /// Ends it.
        fn mlx5dv_devx_destroy_event_channel(event_channel: *mut mlx5dv_devx_event_channel);
        /// Subscribes a channel to events of an object, or of the device. Returns 0 or an errno.
        fn mlx5dv_devx_subscribe_devx_event(
            event_channel: *mut mlx5dv_devx_event_channel, obj: *mut mlx5dv_devx_obj, events_sz: u16, events_num: *mut u16,
            cookie: u64,
        ) -> c_int, else libc::ENOSYS;
        /// Subscribes an eventfd to events. Returns 0 or an errno.
        fn mlx5dv_devx_subscribe_devx_event_fd(
            event_channel: *mut mlx5dv_devx_event_channel, fd: c_int, obj: *mut mlx5dv_devx_obj, event_num: u16,
        ) -> c_int, else libc::ENOSYS;
        /// Takes an event. Returns how many bytes were read, or -1 and `errno`.
        fn mlx5dv_devx_get_event(
            event_channel: *mut mlx5dv_devx_event_channel, event_data: *mut mlx5dv_devx_async_event_hdr, event_resp_len: usize,
        ) -> isize, else failed() as isize;
    }

    "MLX5_1.13": {
        /// Takes an entry of the device's table of rates. Null and `errno` on failure.
        fn mlx5dv_pp_alloc(
            context: *mut ibv_context, pp_context_sz: usize, pp_context: *const c_void, flags: u32,
        ) -> *mut mlx5dv_pp, else absent();
        /// Gives it back.
        fn mlx5dv_pp_free(pp: *mut mlx5dv_pp);
    }

    "MLX5_1.19": {
        /// Registers memory, with further attributes. Null and `errno` on failure.
        fn mlx5dv_devx_umem_reg_ex(
            ctx: *mut ibv_context, umem_in: *mut mlx5dv_devx_umem_in,
        ) -> *mut mlx5dv_devx_umem, else absent();
    }
}
