//! A packet that is made once, and changed for each post. Knows no queue.

use core::fmt;
use core::marker::PhantomData;
use core::net::{IpAddr, SocketAddr, SocketAddrV4};

use super::error::PacketError;
use super::kind::Kind;
use super::lanes::Lanes;
use super::parse::{IPV4, IPV6, TCP, UDP, VLAN};
use super::sum::{Change, Sum};
use crate::wqe::operations::Frame;
use crate::wqe::{self, Request};

/// The shortest frame of Ethernet without its frame check sequence, bytes (IEEE 802.3, `minFrameSize` of 64).
const SHORTEST: usize = 60;

/// A station of the network: one end of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host<S> {
    /// Its MAC address, or that of the router to it.
    pub mac: [u8; 6],
    /// Its IP address and port.
    pub socket: S,
}

impl<S: Copy + Into<SocketAddr>> Host<S> {
    /// A multicast group: its MAC address follows from its IP address (RFC 1112, section 6.4; RFC 2464, section 7).
    ///
    /// # Errors
    /// [`PacketError::NotGroup`].
    pub fn group(socket: S) -> Result<Self, PacketError> {
        let address = socket.into().ip();
        if !address.is_multicast() {
            return Err(PacketError::NotGroup { address });
        }
        let mac = match address {
            IpAddr::V4(address) => {
                let [_, b, c, d] = address.octets();
                [0x01, 0x00, 0x5e, b & 0x7f, c, d]
            }
            IpAddr::V6(address) => {
                let [.., a, b, c, d] = address.octets();
                [0x33, 0x33, a, b, c, d]
            }
        };
        Ok(Self { mac, socket })
    }
}

/// A frame of `N` bytes with a packet of kind `K`: headers, payload, and zeros up to the end. Its lengths and checksums
/// are right after each change.
///
/// A payload may be shorter than the frame has room for: the zeros behind the IP packet are padding, which receivers
/// ignore, as they do in every short Ethernet frame. So one WQE of a fixed size serves messages of several lengths.
///
/// A change of a few bytes updates the checksums by these bytes alone (RFC 1624). If the device is to compute them, use
/// [`request_by_device`](Self::request_by_device): it replaces those in the packet.
#[derive(Clone, Copy)]
pub struct Packet<K, const N: usize> {
    frame: Lanes<N>,
    /// Bytes of the payload.
    len: usize,
    /// The sum of IPv4's header, without its checksum.
    header: Sum,
    /// The sum of the transport header without its checksum, the pseudo header and the payload.
    segment: Sum,
    /// The sum of the payload.
    data: Sum,
    kind: PhantomData<K>,
}

impl<K, const N: usize> fmt::Debug for Packet<K, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet").field("bytes", &self.frame.bytes).field("payload", &self.len).finish_non_exhaustive()
    }
}

impl<K: Kind, const N: usize> Packet<K, N> {
    /// Bytes of the longest payload.
    pub const ROOM: usize = {
        assert!(N >= SHORTEST, "Ethernet's frames have 60 bytes at least");
        assert!(N >= K::PAYLOAD, "the headers are longer than the frame");
        assert!(N <= K::IP + 0xffff, "the frame is longer than an IP packet can be");
        N - K::PAYLOAD
    };

    const BLANK: Self =
        Self { frame: Lanes::ZERO, len: 0, header: Sum::ZERO, segment: Sum::ZERO, data: Sum::ZERO, kind: PhantomData };
    /// Places of checksums (RFC 791, 3.1; RFC 768; RFC 9293, 3.1).
    const HEADER_CHECKSUM: usize = K::IP + 10;
    const CHECKSUM: usize = K::TRANSPORT + if K::PROTOCOL == UDP { 6 } else { 16 };

    /// A packet without payload from one station to another. IPv4: not to be fragmented, identification 0, time to live
    /// 64. TCP: flags PSH and ACK, numbers and window 0, options that do nothing. VLAN tag: 0.
    #[must_use]
    pub fn new(from: &Host<K::Socket>, to: &Host<K::Socket>) -> Self {
        const { assert!(Self::ROOM < N) }
        let mut packet = Self::BLANK;
        packet.put(0, to.mac);
        packet.put(6, from.mac);
        if K::TAGGED {
            packet.put(12, VLAN.to_be_bytes());
        }
        if K::V6 {
            packet.put(K::IP - 2, IPV6.to_be_bytes());
            packet.put(K::IP, [0x60, 0, 0, 0, 0, 0, K::PROTOCOL, 64]);
        } else {
            packet.put(K::IP - 2, IPV4.to_be_bytes());
            packet.put(K::IP, [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, K::PROTOCOL]);
        }
        // IP's header ends with the addresses, and the other one begins with the ports.
        for (n, host) in [from, to].into_iter().enumerate() {
            let socket: SocketAddr = host.socket.into();
            match socket.ip() {
                IpAddr::V4(address) => packet.put(K::TRANSPORT - 8 + 4 * n, address.octets()),
                IpAddr::V6(address) => packet.put(K::TRANSPORT - 32 + 16 * n, address.octets()),
            }
            packet.put(K::TRANSPORT + 2 * n, socket.port().to_be_bytes());
        }
        if K::PROTOCOL == TCP {
            packet.put(K::TRANSPORT + 12, [((K::TRANSPORT_HEADER / 4) << 4) as u8, 0x18]);
            // No operation (RFC 9293, section 3.2).
            packet.frame.bytes.iter_mut().take(K::PAYLOAD).skip(K::TRANSPORT + 20).for_each(|option| *option = 1);
        }
        packet.begin();
        packet
    }

    /// The packet in a frame, for instance one that another program has prepared or sent. Its lengths must be right;
    /// its checksums are computed anew.
    ///
    /// # Errors
    /// The frame is longer than `N`, or has no packet of this kind.
    pub fn from_frame(frame: &[u8]) -> Result<Self, PacketError> {
        const { assert!(Self::ROOM < N) }
        if frame.len() < K::PAYLOAD || frame.len() > N {
            return Err(PacketError::Frame { bytes: frame.len(), least: K::PAYLOAD, most: N });
        }
        let mut packet = Self::BLANK;
        packet.frame.bytes.iter_mut().zip(frame).for_each(|(to, from)| *to = *from);
        packet.is_of_kind()?;
        let most = frame.len() - K::IP;
        let (field, at, before) = if K::V6 {
            ("IPv6 payload length", K::IP + 4, K::TRANSPORT - K::IP)
        } else {
            ("IPv4 total length", K::IP + 2, 0)
        };
        let found = usize::from(packet.word(at));
        let least = K::PAYLOAD - K::IP - before;
        if found < least || found > most - before {
            return Err(PacketError::Length { field, found, least, most: most - before });
        }
        packet.len = found - least;
        if K::PROTOCOL == UDP {
            let (found, only) = (usize::from(packet.word(K::TRANSPORT + 4)), 8 + packet.len);
            if found != only {
                return Err(PacketError::Length { field: "UDP length", found, least: only, most: only });
            }
        }
        // Padding may have been any bytes.
        packet.frame.bytes.iter_mut().skip(K::PAYLOAD + packet.len).for_each(|padding| *padding = 0);
        packet.begin();
        Ok(packet)
    }

    /// Checks the fields that tell kinds from each other.
    fn is_of_kind(&self) -> Result<(), PacketError> {
        let field = |field, found, expected| {
            if found == expected { Ok(()) } else { Err(PacketError::Header { field, found, expected }) }
        };
        if K::TAGGED {
            field("EtherType", self.word(12), VLAN)?;
        }
        field("EtherType", self.word(K::IP - 2), if K::V6 { IPV6 } else { IPV4 })?;
        let [version, protocol] = [K::IP, K::IP + if K::V6 { 6 } else { 9 }].map(|at| self.word(at) >> 8);
        if K::V6 {
            field("IP version", version >> 4, 6)?;
        } else {
            field("IP version and header length", version, 0x45)?;
            if self.word(K::IP + 6) & 0x3fff != 0 {
                return Err(PacketError::Fragment);
            }
        }
        field("IP protocol", protocol, K::PROTOCOL.into())?;
        if K::PROTOCOL == TCP {
            field("TCP data offset", self.word(K::TRANSPORT + 12) >> 12, (K::TRANSPORT_HEADER / 4) as u16)?;
        }
        Ok(())
    }

    /// Writes the lengths, and computes all sums.
    fn begin(&mut self) {
        self.put_lengths();
        let sum = |bytes: &[u8]| Sum::of(bytes);
        self.data = sum(self.payload());
        if !K::V6 {
            self.put(Self::HEADER_CHECKSUM, [0; 2]);
            self.header = sum(self.frame.bytes.get(K::IP..K::TRANSPORT).unwrap_or_default());
        }
        self.put(Self::CHECKSUM, [0; 2]);
        // The pseudo header: addresses, protocol, length (RFC 9293, section 3.1; RFC 8200, section 8.1). IP's header
        // ends with the addresses.
        let addresses = if K::V6 { 32 } else { 8 };
        self.segment = sum(self.frame.bytes.get(K::TRANSPORT - addresses..K::PAYLOAD).unwrap_or_default())
            .and(Sum::word(K::PROTOCOL.into()))
            .and(Sum::word(self.segment_len()))
            .and(self.data);
        self.put_header_checksum();
        self.put_checksum();
    }

    /// The frame, `N` bytes, without the frame check sequence.
    #[inline(always)]
    pub const fn as_bytes(&self) -> &[u8; N] {
        &self.frame.bytes
    }

    /// The payload.
    #[inline]
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.frame.bytes.get(K::PAYLOAD..K::PAYLOAD + self.len).unwrap_or_default()
    }

    /// The request that sends this frame. The whole frame is in the WQE's Ethernet segment.
    #[inline(always)]
    pub fn request(&self) -> Request<'_, Frame<N>> {
        wqe::frame().inline_headers(&self.frame.bytes)
    }

    /// Returns the [request](Self::request) to send the packet; the device computes the checksums.
    #[inline(always)]
    pub fn request_by_device(&self) -> Request<'_, Frame<N>> {
        let request = self.request().l4_checksum();
        if K::V6 { request } else { request.l3_checksum() }
    }

    /// Replaces the payload.
    ///
    /// # Errors
    /// [`PacketError::Payload`] beyond [`ROOM`](Self::ROOM).
    #[inline]
    pub fn set_payload(&mut self, payload: &[u8]) -> Result<(), PacketError> {
        let (bytes, room) = (payload.len(), Self::ROOM);
        if bytes > room {
            return Err(PacketError::Payload { bytes, room });
        }
        self.frame.put(K::PAYLOAD, payload);
        // Bytes of a longer payload would leave as padding.
        if let Some(padding) = self.frame.bytes.get_mut(K::PAYLOAD + bytes..K::PAYLOAD + self.len) {
            padding.fill(0);
        }
        let data = Sum::of(payload);
        let mut segment = self.segment.changed(Change::of_sums(self.data, data));
        if bytes != self.len {
            let (old_ip, old) = (self.ip_len(), self.segment_len());
            self.len = bytes;
            let (new_ip, new) = (self.ip_len(), self.segment_len());
            segment = segment.changed(Change::of_word(old, new));
            // UDP's length is in the pseudo header and in its own.
            if K::PROTOCOL == UDP {
                segment = segment.changed(Change::of_word(old, new));
            }
            self.header = self.header.changed(Change::of_word(old_ip, new_ip));
            self.put_lengths();
            self.put_header_checksum();
        }
        (self.segment, self.data) = (segment, data);
        self.put_checksum();
        Ok(())
    }

    /// Replaces bytes inside the payload, from its byte `at` on.
    ///
    /// # Errors
    /// [`PacketError::Payload`] beyond the present payload's end.
    #[inline(always)]
    pub fn set_part<const M: usize>(&mut self, at: usize, part: &[u8; M]) -> Result<(), PacketError> {
        let room = self.len.min(Self::ROOM);
        let bytes = at.saturating_add(M);
        let beyond = PacketError::Payload { bytes, room };
        if bytes > room {
            return Err(beyond);
        }
        let place = self.frame.bytes.get(K::PAYLOAD..).and_then(|payload| payload.get(at..)?.first_chunk::<M>());
        let Some(place) = place else { return Err(beyond) };
        let mut change = Change::of(place, part);
        if at % 2 != 0 {
            change = change.one_place_later();
        }
        self.data = self.data.changed(change);
        self.segment = self.segment.changed(change);
        self.frame.put(K::PAYLOAD + at, part);
        self.put_checksum();
        Ok(())
    }

    /// Sets the time to live, or hop limit.
    pub fn set_hops(&mut self, hops: u8) {
        if K::V6 {
            self.put(K::IP + 7, [hops]);
        } else {
            self.set_header(K::IP + 8, [hops, K::PROTOCOL]);
        }
    }

    /// Sets IPv4's type of service, or IPv6's traffic class: DSCP (6 bits) and ECN (2).
    pub fn set_traffic_class(&mut self, class: u8) {
        if K::V6 {
            let label = self.word(K::IP) & 0xf;
            self.put(K::IP, (0x6000 | u16::from(class) << 4 | label).to_be_bytes());
        } else {
            self.set_header(K::IP, [0x45, class]);
        }
    }

    fn ip_len(&self) -> u16 {
        (K::PAYLOAD - K::IP + self.len) as u16
    }

    fn segment_len(&self) -> u16 {
        (K::TRANSPORT_HEADER + self.len) as u16
    }

    fn put_lengths(&mut self) {
        if K::V6 {
            self.put(K::IP + 4, self.segment_len().to_be_bytes());
        } else {
            self.put(K::IP + 2, self.ip_len().to_be_bytes());
        }
        if K::PROTOCOL == UDP {
            self.put(K::TRANSPORT + 4, self.segment_len().to_be_bytes());
        }
    }

    #[inline(always)]
    fn put_header_checksum(&mut self) {
        if !K::V6 {
            self.put(Self::HEADER_CHECKSUM, self.header.checksum().to_ne_bytes());
        }
    }

    #[inline(always)]
    fn put_checksum(&mut self) {
        let checksum = match self.segment.checksum() {
            // Zero would mean "no checksum" (RFC 768).
            0 if K::PROTOCOL == UDP => 0xffff,
            checksum => checksum,
        };
        self.put(Self::CHECKSUM, checksum.to_ne_bytes());
    }

    /// Changes bytes of IPv4's header, from an even place on.
    #[inline(always)]
    fn set_header<const M: usize>(&mut self, at: usize, new: [u8; M]) {
        let old: [u8; M] = self.get(at);
        self.put(at, new);
        self.header = self.header.changed(Change::of(&old, &new));
        self.put_header_checksum();
    }

    /// Changes bytes of the transport header, from an even place on.
    #[inline(always)]
    fn set_transport<const M: usize>(&mut self, at: usize, new: [u8; M]) {
        let old: [u8; M] = self.get(at);
        self.put(at, new);
        self.segment = self.segment.changed(Change::of(&old, &new));
        self.put_checksum();
    }

    /// Bytes at a place known by type.
    #[inline(always)]
    fn get<const M: usize>(&self, at: usize) -> [u8; M] {
        self.frame.bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; M])
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes(self.get(at))
    }

    /// Writes bytes to a place known by type.
    #[inline(always)]
    fn put<const M: usize>(&mut self, at: usize, new: [u8; M]) {
        self.frame.put(at, &new);
    }
}

impl<K: Kind<Socket = SocketAddrV4>, const N: usize> Packet<K, N> {
    /// Sets IPv4's identification.
    #[inline(always)]
    pub fn set_identification(&mut self, identification: u16) {
        self.set_header(K::IP + 4, identification.to_be_bytes());
    }
}

impl<K: Kind, const N: usize> Packet<super::Tagged<K>, N> {
    /// Sets the VLAN tag: priority (3 bits), drop eligible (1), identifier (12).
    #[inline(always)]
    pub fn set_vlan(&mut self, tag: u16) {
        self.put(14, tag.to_be_bytes());
    }
}

/// TCP's own fields. For UDP, these functions do not compile:
///
/// ```compile_fail,E0080
/// use blueflame::packet::{Packet, Udp4};
///
/// let _: fn(&Packet<Udp4, 98>) -> u32 = Packet::sequence;
/// ```
impl<K: Kind, const N: usize> Packet<K, N> {
    const IS_TCP: () = assert!(K::PROTOCOL == TCP, "only TCP has such fields");

    /// TCP's sequence number: that of the first byte of the payload.
    #[inline(always)]
    #[must_use]
    pub fn sequence(&self) -> u32 {
        const { Self::IS_TCP };
        u32::from_be_bytes(self.get(K::TRANSPORT + 4))
    }

    /// Sets TCP's sequence number.
    #[inline(always)]
    pub fn set_sequence(&mut self, sequence: u32) {
        const { Self::IS_TCP };
        self.set_transport(K::TRANSPORT + 4, sequence.to_be_bytes());
    }

    /// Sets TCP's acknowledgement number.
    #[inline(always)]
    pub fn set_acknowledgement(&mut self, acknowledgement: u32) {
        const { Self::IS_TCP };
        self.set_transport(K::TRANSPORT + 8, acknowledgement.to_be_bytes());
    }

    /// Sets TCP's flags, 8 bits: FIN 1, SYN 2, RST 4, PSH 8, ACK 0x10, URG 0x20, ECE 0x40, CWR 0x80.
    pub fn set_flags(&mut self, flags: u8) {
        const { Self::IS_TCP };
        self.set_transport(K::TRANSPORT + 12, [((K::TRANSPORT_HEADER / 4) << 4) as u8, flags]);
    }

    /// Sets TCP's window field, in units of the connection's window scale.
    #[inline(always)]
    pub fn set_window(&mut self, window: u16) {
        const { Self::IS_TCP };
        self.set_transport(K::TRANSPORT + 14, window.to_be_bytes());
    }

    /// Sets TCP's options.
    #[inline(always)]
    pub fn set_options(&mut self, options: &K::Options) {
        const { Self::IS_TCP };
        let (options, at) = (options.as_ref(), K::TRANSPORT + 20);
        if let Some(old) = self.frame.bytes.get(at..at + options.len()) {
            self.segment = self.segment.changed(Change::of_sums(Sum::of(old), Sum::of(options)));
            self.frame.put(at, options);
            self.put_checksum();
        }
    }
}
