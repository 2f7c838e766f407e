//! The 40 bytes in front of a received datagram. Knows no completion.

/// The network header of a received datagram: the first 40 bytes of its buffer, from which a reply finds its way.
///
/// A [`Ud`](crate::transport::Ud) queue pair scatters 40 bytes before each message: a buffer for messages of up to *n*
/// bytes has `Grh::BYTES + n`, and [`byte_len`](crate::cq::CqeView::byte_len) counts them. They are defined if
/// [`has_grh`](crate::cq::CqeView::has_grh) says so: always with RoCE, on InfiniBand if the sender used a GRH.
///
/// ```
/// use blueflame::cq::cqe::Grh;
///
/// /// The message in a buffer that a completion told to have `byte_len` bytes.
/// fn message(buffer: &[u8], byte_len: u32) -> Option<&[u8]> {
///     let (_, message) = Grh::split(buffer.get(..byte_len as usize)?)?;
///     Some(message)
/// }
/// assert_eq!(message(&[7; 64], 42), Some([7, 7].as_slice()));
/// assert_eq!(message(&[7; 64], 39), None);
/// ```
///
/// ```text
///          InfiniBand, RoCE v1, RoCE v2 with IPv6                    RoCE v2 with IPv4
///    0     6 (4), traffic class (8), flow label (20)                 not defined (20 bytes)
///    4     bytes that follow (16), next header (8), hop limit (8)
///    8     source GID (128)                                      20  IPv4 header: 4 (4), 5 (4), type of service (8), ...
///   24     destination GID (128)                                 32  source (32), destination (32)
/// ```
/// (IBTA vol. 1, 8.3 and annexes A16, A17.)
#[doc(alias = "ibv_grh")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grh([u8; Grh::BYTES]);

/// The kind of a datagram's network header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrhKind {
    /// A global route header, of InfiniBand or of RoCE v1.
    GlobalRoute,
    /// An IPv6 header, of RoCE v2.
    Ipv6,
    /// An IPv4 header, of RoCE v2, in the last 20 bytes.
    Ipv4,
    /// None of them: no network header. Check `has_grh` first.
    Unknown,
}

/// Where the IPv4 header begins.
const IPV4: usize = 20;
/// Next headers: UDP, and InfiniBand's own (IBTA vol. 1, 8.3; libibverbs `verbs.c`, `IB_NEXT_HDR`).
const UDP: u8 = 17;
const IB: u8 = 0x1b;

impl Grh {
    /// Bytes of the header, whichever it is.
    pub const BYTES: usize = 40;

    /// The header with these bytes.
    #[inline]
    #[must_use]
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// Splits the contents of a datagram's buffer into header and message; `None` for fewer than 40 bytes.
    #[inline]
    #[must_use]
    pub fn split(received: &[u8]) -> Option<(Self, &[u8])> {
        let (header, message) = received.split_first_chunk()?;
        Some((Self(*header), message))
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The kind of the header, read from its bytes as libibverbs does (`libibverbs/verbs.c`, `get_grh_header_version`).
    /// If the bytes fit IPv4 and another kind, the header is IPv4 if its checksum is right.
    #[must_use]
    pub fn kind(&self) -> GrhKind {
        let header = &self.0;
        let (version, ip) = (header[0] >> 4, header[IPV4]);
        let may_be_ipv4 = if version == 6 { ip & 0xf == 5 && self.ipv4_checksum_is_right() } else { ip >> 4 == 4 };
        match (may_be_ipv4, version, header[6]) {
            (true, ..) => GrhKind::Ipv4,
            (false, 6, UDP) => GrhKind::Ipv6,
            (false, 6, IB) => GrhKind::GlobalRoute,
            _ => GrhKind::Unknown,
        }
    }

    /// Whether the last 20 bytes have the checksum of an IPv4 header (RFC 1071).
    fn ipv4_checksum_is_right(&self) -> bool {
        let (_, header) = self.0.split_at(IPV4);
        let sum: u32 = header.chunks_exact(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        folded == 0xffff
    }

    fn word(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    fn gid(&self, ipv6: usize, ipv4: usize) -> [u8; 16] {
        let mut gid = [0; 16];
        if self.kind() == GrhKind::Ipv4 {
            gid[10..12].fill(0xff);
            gid[12..].copy_from_slice(&self.0[ipv4..ipv4 + 4]);
        } else {
            gid.copy_from_slice(&self.0[ipv6..ipv6 + 16]);
        }
        gid
    }

    /// The GID it comes from; an IPv4 address mapped into IPv6.
    #[must_use]
    pub fn source_gid(&self) -> [u8; 16] {
        self.gid(8, IPV4 + 12)
    }

    /// The GID it is for: one of this port's, or of a multicast group.
    #[must_use]
    pub fn destination_gid(&self) -> [u8; 16] {
        self.gid(24, IPV4 + 16)
    }

    /// Whether it is for a multicast group.
    #[must_use]
    pub fn is_multicast(&self) -> bool {
        match self.kind() {
            GrhKind::Ipv4 => self.0[IPV4 + 16] >> 4 == 0xe,
            _ => self.0[24] == 0xff,
        }
    }

    /// Traffic class: DSCP and ECN bits, with RoCE v2.
    #[must_use]
    pub fn traffic_class(&self) -> u8 {
        match self.kind() {
            GrhKind::Ipv4 => self.0[IPV4 + 1],
            _ => (self.word() >> 20) as u8,
        }
    }

    /// Flow label, 20 bits; IPv4 has none, and it is 0.
    #[must_use]
    pub fn flow_label(&self) -> u32 {
        match self.kind() {
            GrhKind::Ipv4 => 0,
            _ => self.word() & 0x000f_ffff,
        }
    }

    /// Routers that the packet could still have crossed.
    #[must_use]
    pub fn hop_limit(&self) -> u8 {
        match self.kind() {
            GrhKind::Ipv4 => self.0[IPV4 + 8],
            _ => self.0[7],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header from 10.0.0.1 to 10.0.0.2, worked out by hand.
    const HEADER: [u8; 20] = [0x45, 0x6a, 0, 0x30, 0, 0, 0x40, 0, 0x40, 0x11, 0x26, 0x51, 10, 0, 0, 1, 10, 0, 0, 2];

    fn ipv4(before: u8) -> Grh {
        let mut bytes = [before; Grh::BYTES];
        bytes[IPV4..].copy_from_slice(&HEADER);
        Grh(bytes)
    }

    fn ipv6(next: u8) -> Grh {
        let mut bytes: [u8; Grh::BYTES] = core::array::from_fn(|i| i as u8);
        bytes[..8].copy_from_slice(&[0x6a, 0xbc, 0xde, 0xf0, 0, 0, next, 0x3f]);
        Grh(bytes)
    }

    #[test]
    fn ipv4_is_in_the_last_bytes() {
        for before in [0, 0x60, 0xa5] {
            let header = ipv4(before);
            assert_eq!(header.kind(), GrhKind::Ipv4);
            assert_eq!(header.source_gid(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]);
            assert_eq!(header.destination_gid(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2]);
            assert_eq!((header.traffic_class(), header.flow_label(), header.hop_limit()), (0x6a, 0, 0x40));
            assert!(!header.is_multicast());
        }
        // Where the bytes fit both kinds, the checksum decides.
        let mut wrong = ipv4(0x60);
        wrong.0[39] = 3;
        assert_eq!(wrong.kind(), GrhKind::Unknown);
    }

    #[test]
    fn ipv6_and_global_route_header_have_the_same_fields() {
        for (next, kind) in [(UDP, GrhKind::Ipv6), (IB, GrhKind::GlobalRoute), (6, GrhKind::Unknown)] {
            let header = ipv6(next);
            assert_eq!(header.kind(), kind);
            assert_eq!(header.source_gid(), core::array::from_fn(|i| i as u8 + 8));
            assert_eq!(header.destination_gid(), core::array::from_fn(|i| i as u8 + 24));
            assert_eq!((header.traffic_class(), header.flow_label(), header.hop_limit()), (0xab, 0xcdef0, 0x3f));
            assert!(!header.is_multicast());
        }
    }

    #[test]
    fn header_and_message_are_told_apart() {
        let bytes: [u8; 43] = core::array::from_fn(|i| i as u8);
        let (header, message) = Grh::split(&bytes).expect("a header");
        assert_eq!((header.bytes().as_slice(), message), (&bytes[..40], [40, 41, 42].as_slice()));
        assert_eq!(Grh::split(&bytes[..40]).map(|(_, message)| message.len()), Some(0));
        assert_eq!(Grh::split(&bytes[..39]), None);
    }
}
