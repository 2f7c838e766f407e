//! The Ethernet segment of raw packets' WQEs (`struct mlx5_wqe_eth_seg`): checksums, where the headers are, sizes of
//! segments, metadata, and the first bytes of the frame.

use super::{DATA_SEG_BYTES, Segments, be16, be32, zero};
use crate::context::SqContext;
use crate::ethernet::{Checksums, StatedHeaders, StatedLayer, least_inline};
use crate::wqe::fault::WqeFault;
use crate::wqe::send::Framing;

/// Offsets in bytes into the segment. The inline headers go on behind it for as many 16-byte units as they need.
mod offset {
    pub(super) const OUTER_L4: usize = 0;
    pub(super) const OUTER_L3: usize = 1;
    pub(super) const INNER_L4: usize = 2;
    pub(super) const INNER_L3: usize = 3;
    pub(super) const CS_FLAGS: usize = 4;
    pub(super) const SOFTWARE_PARSER_FLAGS: usize = 5;
    pub(super) const MSS: usize = 6;
    pub(super) const METADATA: usize = 8;
    pub(super) const INLINE_HDR_SZ: usize = 12;
    pub(super) const INLINE_HDR: usize = 14;
}

/// `cs_flags`: checksum of the inner IP header (Linux `include/linux/mlx5/qp.h`, `MLX5_ETH_WQE_L3_INNER_CSUM`).
const INNER_L3: u8 = 1 << 4;
/// `cs_flags`: checksum of the inner TCP or UDP (`MLX5_ETH_WQE_L4_INNER_CSUM`).
const INNER_L4: u8 = 1 << 5;
/// `cs_flags`: checksum of the outer IP header (`MLX5_ETH_WQE_L3_CSUM`).
const L3: u8 = 1 << 6;
/// `cs_flags`: checksum of the outer TCP or UDP (`MLX5_ETH_WQE_L4_CSUM`).
const L4: u8 = 1 << 7;

/// `swp_flags`: kinds of the stated headers (`MLX5_ETH_WQE_SWP_INNER_L3_IPV6` and those beside it).
const INNER_L3_IPV6: u8 = 1 << 0;
const INNER_L4_UDP: u8 = 1 << 1;
const OUTER_L3_IPV6: u8 = 1 << 4;
const OUTER_L4_UDP: u8 = 1 << 5;
/// Bytes of a unit of the stated offsets.
const OFFSET_UNIT: usize = 2;

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

/// Takes the segment, whose inline headers must be those that the queue wants or more.
///
/// A WQE of several frames has one segment for all, so it has no place for the headers of each. Drivers use such
/// WQEs only where no headers need be inline (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`,
/// `mlx5e_tx_skb_supports_mpwqe`; DPDK `drivers/net/mlx5/mlx5_tx.c`, `mlx5_select_tx_function`, and `mlx5_tx.h`,
/// `mlx5_tx_able_to_empw`).
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, sq: &SqContext, frames: Frames) -> Result<EthSegment, WqeFault> {
    let (start, seg) = segs.take("Ethernet", DATA_SEG_BYTES)?;
    let stated = stated_headers(start, seg)?;
    if stated != StatedHeaders::default() && !sq.software_parser {
        return Err(WqeFault::NoSoftwareParser);
    }
    let flags = seg[offset::CS_FLAGS];
    if flags & !(INNER_L3 | INNER_L4 | L3 | L4) != 0 {
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
    let [l3, l4, inner_l3, inner_l4] = [L3, L4, INNER_L3, INNER_L4].map(|flag| flags & flag != 0);
    let checksums = Checksums { l3, l4, inner_l3, inner_l4 };
    let metadata = be32(seg, offset::METADATA);
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
    let needed = least_inline(sq.inline_headers, &headers);
    if len < needed {
        // Headers have a few hundred bytes at most.
        return Err(WqeFault::FewInlineHeaders { found, needed: needed as u16 });
    }
    Ok(EthSegment { framing: Framing { checksums, mss, many, stated, metadata }, headers })
}

/// Where the segment at `start` says that the headers are.
fn stated_headers(start: usize, seg: &[u8]) -> Result<StatedHeaders, WqeFault> {
    let flags = seg[offset::SOFTWARE_PARSER_FLAGS];
    let known = INNER_L3_IPV6 | INNER_L4_UDP | OUTER_L3_IPV6 | OUTER_L4_UDP;
    zero("reserved bits of swp_flags", start + offset::SOFTWARE_PARSER_FLAGS, (flags & !known).into())?;
    let layer = |l3: usize, l4: usize, ipv6: u8, udp: u8| StatedLayer {
        l3: usize::from(seg[l3]) * OFFSET_UNIT,
        l4: usize::from(seg[l4]) * OFFSET_UNIT,
        ipv6: flags & ipv6 != 0,
        udp: flags & udp != 0,
    };
    Ok(StatedHeaders {
        outer: layer(offset::OUTER_L3, offset::OUTER_L4, OUTER_L3_IPV6, OUTER_L4_UDP),
        inner: layer(offset::INNER_L3, offset::INNER_L4, INNER_L3_IPV6, INNER_L4_UDP),
    })
}
