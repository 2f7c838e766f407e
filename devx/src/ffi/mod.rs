//! `mlx5dv_devx_*` of libmlx5, declared by hand after rdma-core's `providers/mlx5/mlx5dv.h`.
//!
//! `devx/tests/mlx5dv_devx.rs` compiles a C program against the installed header and compares every size, offset,
//! constant and function type. The library is loaded when a function is first called, and not linked, as in
//! `blueflame::verbs::ffi`.

mod functions;
pub mod vfio;

use core::ffi::{c_int, c_void};

pub use functions::*;

/// A protection domain's parts (`struct mlx5dv_pd`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5dvPd {
    /// The number that identifies it in commands.
    pub pdn: u32,
    /// Which later fields are requested: none.
    pub comp_mask: u64,
}

/// An address handle's parts (`struct mlx5dv_ah`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvAh {
    /// The address vector for WQEs.
    pub av: *mut Mlx5WqeAv,
    /// Which later fields are requested: none.
    pub comp_mask: u64,
}

/// An address vector (`struct mlx5_wqe_av`), big endian.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Mlx5WqeAv {
    /// Q_Key, or access key of a DCT.
    pub key: u64,
    /// Queue pair, or DCT.
    pub dqp_dct: u32,
    /// Rate and service level.
    pub stat_rate_sl: u8,
    /// Force loopback, and the lower bits of the LID.
    pub fl_mlid: u8,
    /// LID; on Ethernet with RoCE v2 the UDP source port.
    pub rlid: u16,
    /// Reserved.
    pub reserved0: [u8; 4],
    /// MAC.
    pub rmac: [u8; 6],
    /// Traffic class.
    pub tclass: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Whether there is a GRH, index of the GID, flow label.
    pub grh_gid_fl: u32,
    /// GID.
    pub rgid: [u8; 16],
}

/// `mlx5dv_init_obj`: the parts of an address handle are asked for.
pub const MLX5DV_OBJ_AH: u64 = 1 << 5;
/// `mlx5dv_init_obj`: the parts of a protection domain are asked for.
pub const MLX5DV_OBJ_PD: u64 = 1 << 6;

/// An object that a command has made. Its insides are the library's.
#[repr(C)]
pub struct Mlx5dvDevxObj {
    _private: [u8; 0],
}

/// Memory that the device may use for rings, records and keys (`struct mlx5dv_devx_umem`).
#[repr(C)]
#[derive(Debug)]
pub struct Mlx5dvDevxUmem {
    /// The number that identifies it in commands.
    pub umem_id: u32,
}

/// The memory to register (`struct mlx5dv_devx_umem_in`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvDevxUmemIn {
    /// Where it begins; for a dma-buf, the offset in it.
    pub addr: *mut c_void,
    /// Bytes.
    pub size: usize,
    /// `IBV_ACCESS_*`.
    pub access: u32,
    /// Acceptable page sizes, a bit each.
    pub pgsz_bitmap: u64,
    /// Which of the fields below are valid.
    pub comp_mask: u64,
    /// The dma-buf, with [`MLX5DV_UMEM_MASK_DMABUF`].
    pub dmabuf_fd: c_int,
}

/// [`Mlx5dvDevxUmemIn::dmabuf_fd`] is valid.
pub const MLX5DV_UMEM_MASK_DMABUF: u64 = 1 << 0;

/// A page of doorbell registers (`struct mlx5dv_devx_uar`).
#[repr(C)]
#[derive(Debug)]
pub struct Mlx5dvDevxUar {
    /// The register.
    pub reg_addr: *mut c_void,
    /// The page.
    pub base_addr: *mut c_void,
    /// The number that identifies it in commands.
    pub page_id: u32,
    /// The offset to map the page from.
    pub mmap_off: libc::off_t,
    /// Which later fields are present: none.
    pub comp_mask: u64,
}

/// `MLX5DV_UAR_ALLOC_TYPE_BF`: mapped with write combining, for BlueFlame.
pub const MLX5DV_UAR_ALLOC_TYPE_BF: u32 = 0;
/// `MLX5DV_UAR_ALLOC_TYPE_NC`: mapped uncached, for doorbells of 8 bytes.
pub const MLX5DV_UAR_ALLOC_TYPE_NC: u32 = 1;
/// `MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED`: the same, and each call gives another register (rdma-core 45,
/// `providers/mlx5/mlx5_api.h`).
pub const MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED: u32 = 1 << 31;

/// An entry of the device's table of rates (`struct mlx5dv_pp`).
#[repr(C)]
#[derive(Debug)]
pub struct Mlx5dvPp {
    /// The number that identifies it in commands.
    pub index: u16,
}

/// `_MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX`: the entry is not shared with users of an equal rate.
pub const MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX: u32 = 1 << 0;

/// A channel for answers to asynchronous queries (`struct mlx5dv_devx_cmd_comp`).
#[repr(C)]
#[derive(Debug)]
pub struct Mlx5dvDevxCmdComp {
    /// Readable when an answer has arrived.
    pub fd: c_int,
}

/// The header of an answer (`struct mlx5dv_devx_async_cmd_hdr`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvDevxAsyncCmdHdr {
    /// The caller's identifier.
    pub wr_id: u64,
    /// The outbox, of the requested length.
    pub out_data: [u8; 0],
}

/// A channel for events (`struct mlx5dv_devx_event_channel`).
#[repr(C)]
#[derive(Debug)]
pub struct Mlx5dvDevxEventChannel {
    /// Readable when an event has arrived.
    pub fd: c_int,
}

/// The header of an event (`struct mlx5dv_devx_async_event_hdr`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvDevxAsyncEventHdr {
    /// The subscriber's cookie.
    pub cookie: u64,
    /// The EQE's data, unless the channel leaves them out.
    pub out_data: [u8; 0],
}

/// `MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA`: events are the cookie alone.
pub const MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA: u32 = 1 << 0;
