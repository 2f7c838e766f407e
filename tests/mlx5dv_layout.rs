//! Segments and constants of this crate that `mlx5dv.h` has under names of its own: a C program prints sizes, offsets and
//! values.
//!
//! Names of this crate belong here. Declarations of the libraries belong in `sys/tests/header.rs`.

#![cfg(feature = "verbs")]

mod c_header;

use std::mem::offset_of;

use blueflame::cq::compressed::{Checksum, ChecksumStride, Hash, MiniFormat};
use blueflame::wqe::seg::{DatagramSeg, EXTENDED_AV};

#[test]
fn segments_agree_with_the_installed_header() {
    let fields = [
        ("key", offset_of!(DatagramSeg, base.key)),
        ("dqp_dct", offset_of!(DatagramSeg, base.dqp_dct)),
        ("stat_rate_sl", offset_of!(DatagramSeg, base.stat_rate_sl)),
        ("fl_mlid", offset_of!(DatagramSeg, base.fl_mlid)),
        ("rlid", offset_of!(DatagramSeg, base.rlid)),
        ("reserved0", offset_of!(DatagramSeg, grh.reserved0)),
        ("rmac", offset_of!(DatagramSeg, grh.rmac)),
        ("tclass", offset_of!(DatagramSeg, grh.tclass)),
        ("hop_limit", offset_of!(DatagramSeg, grh.hop_limit)),
        ("grh_gid_fl", offset_of!(DatagramSeg, grh.grh_gid_fl)),
        ("rgid", offset_of!(DatagramSeg, rgid)),
    ];
    let mut table: Vec<(String, u64)> =
        fields.map(|(field, offset)| (format!("offsetof(struct mlx5_wqe_av, {field})"), offset as u64)).into();
    for (expression, value) in [
        ("sizeof(struct mlx5_wqe_av)", size_of::<DatagramSeg>() as u64),
        ("sizeof(struct mlx5_wqe_datagram_seg)", size_of::<DatagramSeg>() as u64),
        ("(uint32_t)MLX5_EXTENDED_UD_AV", EXTENDED_AV.into()),
        ("MLX5DV_CQE_RES_FORMAT_HASH", Hash::MLX5DV.map_or(0, Into::into)),
        ("MLX5DV_CQE_RES_FORMAT_CSUM", Checksum::MLX5DV.map_or(0, Into::into)),
        ("MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX", ChecksumStride::MLX5DV.map_or(0, Into::into)),
    ] {
        table.push((expression.into(), value));
    }
    c_header::compare("#include <infiniband/mlx5dv.h>", &table);
}
