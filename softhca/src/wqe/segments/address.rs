//! Whom a WQE is for. The address vector of UD and DC (`struct mlx5_wqe_av`): a key, which they have each of their own,
//! and an address. The segment of XRC (`struct mlx5_wqe_xrc_seg`): an SRQ.

use super::{DATA_SEG_BYTES, Segments, be16, be32, be64, zero};
use crate::context::PathGrh;
use crate::wqe::fault::WqeFault;
use crate::wqe::send::{AddressVector, DcTarget, UdAddress};

/// Bit 31 of `dqp_dct`: the address vector has 48 bytes, not 16 (`MLX5_EXTENDED_UD_AV`).
const EXTENDED_AV: u32 = 1 << 31;
/// Bytes of the extended address vector (`struct mlx5_wqe_av`).
const EXTENDED_AV_BYTES: usize = 48;
/// Bit 30 of `grh_gid_fl`: the packet has a GRH.
const AV_GRH: u32 = 1 << 30;

/// Offsets in bytes into the vector.
mod offset {
    pub(super) const QKEY: usize = 0;
    pub(super) const DC_KEY: usize = 0;
    pub(super) const DQP: usize = 8;
    pub(super) const STAT_RATE_SL: usize = 12;
    pub(super) const FL_MLID: usize = 13;
    pub(super) const RLID: usize = 14;
    pub(super) const RMAC: usize = 20;
    pub(super) const TCLASS: usize = 26;
    pub(super) const HOP_LIMIT: usize = 27;
    pub(super) const GRH_GID_FL: usize = 28;
    pub(super) const RGID: usize = 32;
    pub(super) const SHORT_BYTES: usize = 16;
}

/// Takes the address vector of a datagram. Its reserved words may hold anything: UCX leaves old bytes of the ring
/// there (`uct_ud_mlx5_set_dgram_seg`).
pub(in crate::wqe) fn datagram(segs: &mut Segments<'_>) -> Result<UdAddress, WqeFault> {
    let (_, short) = segs.clone().take("address vector", offset::SHORT_BYTES)?;
    Ok(UdAddress { qkey: be32(short, offset::QKEY), vector: vector(segs)? })
}

/// Takes the address vector of a DCI's request.
pub(in crate::wqe) fn target(segs: &mut Segments<'_>) -> Result<DcTarget, WqeFault> {
    let (_, short) = segs.clone().take("address vector", offset::SHORT_BYTES)?;
    Ok(DcTarget { access_key: be64(short, offset::DC_KEY), vector: vector(segs)? })
}

/// Takes the number of the SRQ that a request of XRC is for. The rest of its segment may hold anything: libmlx5 leaves
/// old bytes of the ring there.
pub(in crate::wqe) fn srq(segs: &mut Segments<'_>) -> Result<u32, WqeFault> {
    let (start, seg) = segs.take("XRC", DATA_SEG_BYTES)?;
    let srqn = be32(seg, 0);
    zero("SRQ number bits 31:24", start, (srqn >> 24).into())?;
    Ok(srqn)
}

/// Takes an address vector, short or extended, all but its key.
fn vector(segs: &mut Segments<'_>) -> Result<AddressVector, WqeFault> {
    let before = segs.clone();
    let (start, short) = segs.take("address vector", offset::SHORT_BYTES)?;
    let dqp = be32(short, offset::DQP);
    // Bits 30:24 mean nothing, and may be anything: libmlx5 leaves the bits of its user's 32-bit `remote_qpn` there
    // (`_set_datagram_seg`).
    let mut address = AddressVector {
        dest_qpn: dqp & 0x00ff_ffff,
        stat_rate_sl: short[offset::STAT_RATE_SL],
        src_path_bits: short[offset::FL_MLID] & 0x7f,
        rlid: be16(short, offset::RLID),
        grh_present: false,
        grh: PathGrh { dgid: [0; 16], sgid_index: 0, flow_label: 0, hop_limit: 0, traffic_class: 0 },
        dmac: [0; 6],
    };
    if dqp & EXTENDED_AV == 0 {
        return Ok(address);
    }
    *segs = before;
    let (_, long) = segs.take("extended address vector", EXTENDED_AV_BYTES)?;
    let gid_fl = be32(long, offset::GRH_GID_FL);
    zero("address vector GRH bits", start + offset::GRH_GID_FL, (gid_fl & !AV_GRH & 0xf000_0000).into())?;
    address.dmac.copy_from_slice(&long[offset::RMAC..offset::RMAC + 6]);
    address.grh_present = gid_fl & AV_GRH != 0;
    address.grh = PathGrh {
        dgid: [0; 16],
        sgid_index: (gid_fl >> 20 & 0xff) as u8,
        flow_label: gid_fl & 0x000f_ffff,
        hop_limit: long[offset::HOP_LIMIT],
        traffic_class: long[offset::TCLASS],
    };
    address.grh.dgid.copy_from_slice(&long[offset::RGID..offset::RGID + 16]);
    Ok(address)
}
