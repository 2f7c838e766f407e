//! The Ethernet segment of raw packets' WQEs (`struct mlx5_wqe_eth_seg`): checksums, sizes of segments, and the first
//! bytes of the frame.

use super::{DATA_SEG_BYTES, Segments, be16, be32, zero};
use crate::context::InlineHeaders;
use crate::ethernet::{Checksums, least_inline};
use crate::wqe::fault::WqeFault;
use crate::wqe::send::Framing;

/// Offsets in bytes into the segment. The inline headers go on behind it for as many 16-byte units as they need.
mod offset {
    pub(super) const SOFTWARE_PARSER: usize = 0;
    pub(super) const CS_FLAGS: usize = 4;
    pub(super) const SOFTWARE_PARSER_FLAGS: usize = 5;
    pub(super) const MSS: usize = 6;
    pub(super) const METADATA: usize = 8;
    pub(super) const INLINE_HDR_SZ: usize = 12;
    pub(super) const INLINE_HDR: usize = 14;
}

/// `cs_flags`: checksum of the outer IP header (`MLX5_ETH_WQE_L3_CSUM`).
const L3: u8 = 1 << 6;
/// `cs_flags`: checksum of the outer TCP or UDP (`MLX5_ETH_WQE_L4_CSUM`).
const L4: u8 = 1 << 7;

/// Bits of the headers' size. Bit 15 would have a VLAN tag put in (`MLX5_ETH_WQE_INSERT_VLAN`), which no ConnectX has
/// enabled (Linux commit ade89d1f2486).
const INLINE_HDR_SZ: u16 = (1 << 10) - 1;

/// Frames in a WQE's data segments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::wqe) enum Frames {
    /// A frame.
    One,
    /// A packet to be cut up.
    Large,
    /// A frame each.
    Many,
}

/// The content of the segment.
pub(in crate::wqe) struct EthSegment {
    pub(in crate::wqe) framing: Framing,
    pub(in crate::wqe) headers: Vec<u8>,
}

/// Takes the segment, whose inline headers must be those that `wanted` says or more.
///
/// Software parsing and metadata for flow steering are not things that this device has.
///
/// A WQE of several frames has one segment for all, so it has no place for the headers of each. Drivers use such
/// WQEs only where no headers need be inline (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`,
/// `mlx5e_tx_skb_supports_mpwqe`; DPDK `drivers/net/mlx5/mlx5_tx.c`, `mlx5_select_tx_function`, and `mlx5_tx.h`,
/// `mlx5_tx_able_to_empw`).
pub(in crate::wqe) fn take(
    segs: &mut Segments<'_>,
    wanted: InlineHeaders,
    frames: Frames,
) -> Result<EthSegment, WqeFault> {
    let (start, seg) = segs.take("Ethernet", DATA_SEG_BYTES)?;
    for (field, at, value) in [
        ("Ethernet segment word 0", offset::SOFTWARE_PARSER, be32(seg, offset::SOFTWARE_PARSER)),
        ("Ethernet segment byte 5", offset::SOFTWARE_PARSER_FLAGS, seg[offset::SOFTWARE_PARSER_FLAGS].into()),
        ("Ethernet segment word 2", offset::METADATA, be32(seg, offset::METADATA)),
    ] {
        zero(field, start + at, value.into())?;
    }
    let flags = seg[offset::CS_FLAGS];
    if flags & !(L3 | L4) != 0 {
        return Err(WqeFault::BadChecksumFlags(flags));
    }
    let mss = match (frames, be16(seg, offset::MSS)) {
        (Frames::Large, 0) => return Err(WqeFault::NoSegmentSize),
        (Frames::Large, mss) => Some(mss),
        (_, mss) => {
            zero("mss without TSO", start + offset::MSS, mss.into())?;
            None
        }
    };
    let checksums = Checksums { l3: flags & L3 != 0, l4: flags & L4 != 0 };
    let found = be16(seg, offset::INLINE_HDR_SZ);
    let many = frames == Frames::Many;
    if many {
        zero("inline headers of several frames", start + offset::INLINE_HDR_SZ, found.into())?;
    }
    zero("a VLAN tag to be put in", start + offset::INLINE_HDR_SZ, (found & !INLINE_HDR_SZ).into())?;
    let len = usize::from(found);
    // There is room for the first two in the segment itself, whether they are there or not.
    let here = len.min(DATA_SEG_BYTES - offset::INLINE_HDR);
    let mut headers = seg[offset::INLINE_HDR..offset::INLINE_HDR + here].to_vec();
    let (_, rest) = segs.take("inline headers", (len - here).next_multiple_of(DATA_SEG_BYTES))?;
    headers.extend(&rest[..len - here]);
    let needed = least_inline(wanted, &headers);
    if len < needed {
        // Headers have a few hundred bytes at most.
        return Err(WqeFault::FewInlineHeaders { found, needed: needed as u16 });
    }
    Ok(EthSegment { framing: Framing { checksums, mss, many }, headers })
}
