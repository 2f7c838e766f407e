//! The segments that hold a request's destination. Each has its field map (byte offsets, big endian) and its layout,
//! which assertions hold to the map. Knows no request.
use crate::layout::{Be16, Be32, Be64};
use crate::types::DS_BYTES;

layout! {
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
    #[doc(alias = "mlx5_base_av")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(C)]
    pub struct BaseAvSeg[DS_BYTES] {
        /// Q_Key in bits 63:32, or an access key.
        0 => pub key: Be64,
        /// [`EXTENDED_AV`] and the number of the queue pair or the DCT.
        8 => pub dqp_dct: Be32,
        /// Static rate in bits 7:4, service level in 3:0; on Ethernet the priority is in 3:1.
        12 => pub stat_rate_sl: u8,
        /// Path bits of the LID to send from in bits 6:0.
        13 => pub fl_mlid: u8,
        /// The LID to send to.
        14 => pub rlid: Be16,
    }
}

/// Marks an address vector as a full one, of 48 bytes (`MLX5_EXTENDED_UD_AV`).
pub const EXTENDED_AV: u32 = 1 << 31;

layout! {
    /// The rest of a full address vector, up to the GID (`struct mlx5_wqe_av` from offset 16).
    ///
    /// ```text
    ///   0  0 (32)
    ///   4  MAC address (48)
    ///  10  traffic class (8)
    ///  11  hop limit (8)
    ///  12  0 (1), has a GRH (1), 0 (2), index of the own GID (8), flow label (20)
    /// ```
    #[doc(alias = "mlx5_grh_av")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(C)]
    pub struct GrhAvSeg[DS_BYTES] {
        /// Zero.
        0 => pub reserved0: Be32,
        /// MAC address to send to, on Ethernet.
        4 => pub rmac: [u8; 6],
        /// Traffic class.
        10 => pub tclass: u8,
        /// Routers that a packet may cross.
        11 => pub hop_limit: u8,
        /// [`AV_GRH`] (on InfiniBand), index of the GID to send from in bits 27:20, flow label in 19:0.
        12 => pub grh_gid_fl: Be32,
    }
}

/// In `grh_gid_fl`: packets have a GRH. Packets on Ethernet always do, and there the bit is reserved (rdma-core
/// `providers/mlx5/verbs.c`, `mlx5_create_ah`).
pub const AV_GRH: u32 = 1 << 30;

layout! {
    /// Datagram segment: a full address vector (`struct mlx5_wqe_datagram_seg`).
    ///
    /// ```text
    ///   0  BaseAvSeg
    ///  16  GrhAvSeg
    ///  32  GID (128)
    /// ```
    #[doc(alias = "mlx5_wqe_datagram_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(C)]
    pub struct DatagramSeg[3 * DS_BYTES] {
        /// The destination, by LID or port.
        0 => pub base: BaseAvSeg,
        /// How the packet is routed.
        16 => pub grh: GrhAvSeg,
        /// The GID to send to.
        32 => pub rgid: [u8; 16],
    }
}

layout! {
    /// Segment of XRC requests, behind the control segment (rdma-core `providers/mlx5/wqe.h`,
    /// `struct mlx5_wqe_xrc_seg`).
    ///
    /// ```text
    ///   0  0 (8), number of the peer's shared receive queue (24)
    ///   4  0 (96)
    /// ```
    #[doc(alias = "mlx5_wqe_xrc_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct XrcSeg[DS_BYTES] {
        /// The shared receive queue that the request is for.
        0 => pub xrc_srqn: Be32,
        /// Not read by the device; zero here. libmlx5 leaves the ring's old bytes.
        4 => pub rsvd: [u8; 12],
    }
}
