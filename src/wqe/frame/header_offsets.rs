//! The offsets of a frame's headers, for the device's software parser. Knows no frame.
use crate::wqe::error::EncodeError;

/// The version of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ip {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// The protocol of the header behind an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum L4 {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// The IP header of one layer of a frame, and the header behind it. Offsets are bytes from the frame's start: even, and
/// at most [`HeaderOffsets::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadersAt {
    /// The version of the IP header.
    pub ip: Ip,
    /// The offset of the IP header, at least 2.
    pub l3: u16,
    /// The TCP or UDP header and its offset, if there is one.
    pub l4: Option<(L4, u16)>,
}

/// Where the headers of a frame are: the argument of [`Request::header_offsets`](crate::wqe::Request::header_offsets).
///
/// ```
/// use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
///
/// // Ethernet, IPv6, UDP, 8 bytes of a tunnel's header, Ethernet, IPv4, TCP.
/// let outer = HeadersAt { ip: Ip::V6, l3: 14, l4: Some((L4::Udp, 54)) };
/// let inner = HeadersAt { ip: Ip::V4, l3: 84, l4: Some((L4::Tcp, 104)) };
/// assert!(HeaderOffsets::new(outer, Some(inner)).is_ok());
/// ```
///
/// Linux and DPDK agree on the encoding (Linux `drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h`,
/// `mlx5e_set_eseg_swp`; DPDK `drivers/net/mlx5/mlx5_tx.h`, `txq_mbuf_to_swp`).
#[doc(alias("swp", "swp_offs", "swp_flags"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderOffsets {
    /// The offsets in the Ethernet segment's order: outer L4, outer L3, inner L4, inner L3, from the high byte on.
    pub(super) offsets: u32,
    pub(super) flags: u8,
}

/// Bits of `swp_flags` for the outer headers; those for the inner ones are four bits lower (Linux
/// `include/linux/mlx5/qp.h`, `MLX5_ETH_WQE_SWP_OUTER_L3_IPV6`, `MLX5_ETH_WQE_SWP_OUTER_L4_UDP`).
const OUTER_IPV6: u8 = 1 << 4;
const OUTER_UDP: u8 = 1 << 5;

impl HeaderOffsets {
    /// The largest offset, in bytes.
    pub const MAX: u16 = 2 * u8::MAX as u16;

    /// The offsets of the outer headers, and of those inside of a tunnel.
    ///
    /// # Errors
    /// [`EncodeError::HeaderOffset`]: an offset is odd, 0, or more than [`MAX`](Self::MAX).
    pub const fn new(outer: HeadersAt, inner: Option<HeadersAt>) -> Result<Self, EncodeError> {
        let (outer, outer_flags) = match encoded(outer) {
            Ok(encoded) => encoded,
            Err(error) => return Err(error),
        };
        let (inner, inner_flags) = match inner {
            None => (0, 0),
            Some(inner) => match encoded(inner) {
                Ok(encoded) => encoded,
                Err(error) => return Err(error),
            },
        };
        Ok(Self { offsets: outer << 16 | inner, flags: outer_flags | inner_flags >> 4 })
    }
}

/// The offsets of L4 and L3 in units of 2 bytes, and the flags of outer headers.
const fn encoded(headers: HeadersAt) -> Result<(u32, u8), EncodeError> {
    let ipv6 = match headers.ip {
        Ip::V4 => 0,
        Ip::V6 => OUTER_IPV6,
    };
    let l3 = match units(headers.l3) {
        Ok(units) => units,
        Err(error) => return Err(error),
    };
    let (udp, l4) = match headers.l4 {
        None => (0, 0),
        Some((protocol, at)) => match (protocol, units(at)) {
            (_, Err(error)) => return Err(error),
            (L4::Tcp, Ok(units)) => (0, units),
            (L4::Udp, Ok(units)) => (OUTER_UDP, units),
        },
    };
    Ok((l4 << 8 | l3, ipv6 | udp))
}

const fn units(bytes: u16) -> Result<u32, EncodeError> {
    if bytes == 0 || bytes % 2 != 0 || bytes > HeaderOffsets::MAX {
        return Err(EncodeError::HeaderOffset { bytes });
    }
    Ok((bytes / 2) as u32)
}
