//! The segments that hold a request's destination. Each has its field map (byte offsets, big endian) and its layout,
//! which assertions hold to the map. Knows no request.
use core::mem::{offset_of, size_of};

use static_assertions::const_assert_eq;

use super::be::{Be16, Be32, Be64};
use crate::types::DS_BYTES;

/// Base of an address vector: a whole compact vector, or the beginning of a full one (rdma-core
/// `providers/mlx5/mlx5dv.h`, the first 16 bytes of `struct mlx5_wqe_av`; UCX `src/uct/ib/mlx5/ib_mlx5.h`,
/// `mlx5_base_av`).
///
/// ```text
///   0  Q_Key (32), 0 (32); or a DCT's access key (64)
///   8  1: a GrhAvSeg follows (1), 0 (7), queue pair or DCT number (24)
///  12  static rate (4), service level (4); on Ethernet static rate (4), priority (3), 0 (1)
///  13  force loopback (1), path bits of the own LID (7)
///  14  LID; with RoCE v2 the UDP source port
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct BaseAvSeg {
    /// Q_Key in bits 63:32, or an access key.
    pub key: Be64,
    /// [`EXTENDED_AV`] and the number of the queue pair or the DCT.
    pub dqp_dct: Be32,
    /// Static rate in bits 7:4, service level in 3:0; on Ethernet the priority is in 3:1.
    pub stat_rate_sl: u8,
    /// Path bits of the LID to send from in bits 6:0.
    pub fl_mlid: u8,
    /// The LID to send to.
    pub rlid: Be16,
}

const_assert_eq!(size_of::<BaseAvSeg>(), DS_BYTES);
const_assert_eq!(offset_of!(BaseAvSeg, key), 0);
const_assert_eq!(offset_of!(BaseAvSeg, dqp_dct), 8);
const_assert_eq!(offset_of!(BaseAvSeg, stat_rate_sl), 12);
const_assert_eq!(offset_of!(BaseAvSeg, fl_mlid), 13);
const_assert_eq!(offset_of!(BaseAvSeg, rlid), 14);

/// Marks an address vector as a full one, of 48 bytes (`MLX5_EXTENDED_UD_AV`).
pub const EXTENDED_AV: u32 = 1 << 31;

/// The rest of a full address vector, up to the GID (`struct mlx5_wqe_av` from offset 16).
///
/// ```text
///   0  0 (32)
///   4  MAC address (48)
///  10  traffic class (8)
///  11  hop limit (8)
///  12  0 (1), has a GRH (1), 0 (2), index of the own GID (8), flow label (20)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct GrhAvSeg {
    /// Zero.
    pub reserved0: Be32,
    /// MAC address to send to, on Ethernet.
    pub rmac: [u8; 6],
    /// Traffic class.
    pub tclass: u8,
    /// Routers that a packet may cross.
    pub hop_limit: u8,
    /// [`AV_GRH`] (on InfiniBand), index of the GID to send from in bits 27:20, flow label in 19:0.
    pub grh_gid_fl: Be32,
}

const_assert_eq!(size_of::<GrhAvSeg>(), DS_BYTES);
const_assert_eq!(offset_of!(GrhAvSeg, reserved0), 0);
const_assert_eq!(offset_of!(GrhAvSeg, rmac), 4);
const_assert_eq!(offset_of!(GrhAvSeg, tclass), 10);
const_assert_eq!(offset_of!(GrhAvSeg, hop_limit), 11);
const_assert_eq!(offset_of!(GrhAvSeg, grh_gid_fl), 12);

/// In `grh_gid_fl`: packets have a GRH. Packets on Ethernet always do, and there the bit is reserved (rdma-core
/// `providers/mlx5/verbs.c`, `mlx5_create_ah`).
pub const AV_GRH: u32 = 1 << 30;

/// Datagram segment: a full address vector (`struct mlx5_wqe_datagram_seg`).
///
/// ```text
///   0  BaseAvSeg
///  16  GrhAvSeg
///  32  GID (128)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct DatagramSeg {
    /// The destination, by LID or port.
    pub base: BaseAvSeg,
    /// How the packet is routed.
    pub grh: GrhAvSeg,
    /// The GID to send to.
    pub rgid: [u8; 16],
}

const_assert_eq!(size_of::<DatagramSeg>(), 3 * DS_BYTES);
const_assert_eq!(offset_of!(DatagramSeg, base), 0);
const_assert_eq!(offset_of!(DatagramSeg, grh), 16);
const_assert_eq!(offset_of!(DatagramSeg, rgid), 32);

/// Segment of XRC requests, behind the control segment (rdma-core `providers/mlx5/wqe.h`, `struct mlx5_wqe_xrc_seg`).
///
/// ```text
///   0  0 (8), number of the peer's shared receive queue (24)
///   4  0 (96)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct XrcSeg {
    /// The shared receive queue that the request is for.
    pub xrc_srqn: Be32,
    /// Not read by the device; zero here. libmlx5 leaves the ring's old bytes.
    pub rsvd: [u8; 12],
}

const_assert_eq!(size_of::<XrcSeg>(), DS_BYTES);
const_assert_eq!(offset_of!(XrcSeg, xrc_srqn), 0);
const_assert_eq!(offset_of!(XrcSeg, rsvd), 4);
