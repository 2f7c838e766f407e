//! Kinds of packets: their headers, whose places are known by type.

use core::marker::PhantomData;
use core::net::{IpAddr, SocketAddrV4, SocketAddrV6};

use crate::sealed::Sealed;

/// Bytes of the MAC addresses and the EtherType.
const ETHERNET: usize = 14;
/// Bytes of a VLAN tag (IEEE 802.1Q).
const TAG: usize = 4;

/// An address and a port of one IP version: [`SocketAddrV4`] or [`SocketAddrV6`].
pub trait Socket: Sealed + Copy {
    /// Whether it is IPv6's.
    const V6: bool;

    /// Bytes of the address.
    const ADDRESS: usize;

    /// The address.
    fn address(&self) -> IpAddr;

    /// The address, at the front of as many bytes as IPv6 needs; then the port.
    #[doc(hidden)]
    fn parts(&self) -> ([u8; 16], u16);
}

impl Sealed for SocketAddrV4 {}
impl Socket for SocketAddrV4 {
    const V6: bool = false;
    const ADDRESS: usize = 4;

    fn address(&self) -> IpAddr {
        (*self.ip()).into()
    }

    fn parts(&self) -> ([u8; 16], u16) {
        let [a, b, c, d] = self.ip().octets();
        ([a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], self.port())
    }
}

impl Sealed for SocketAddrV6 {}
impl Socket for SocketAddrV6 {
    const V6: bool = true;
    const ADDRESS: usize = 16;

    fn address(&self) -> IpAddr {
        (*self.ip()).into()
    }

    fn parts(&self) -> ([u8; 16], u16) {
        (self.ip().octets(), self.port())
    }
}

/// The headers of a packet: Ethernet, IP without options or extension headers, UDP or TCP.
pub trait Kind: Sealed + Copy {
    /// The addresses.
    type Socket: Socket;

    /// TCP's options: an array of bytes, empty for UDP.
    type Options: AsRef<[u8]> + Copy;

    /// Whether the frame has a VLAN tag.
    const TAGGED: bool;

    /// The IP protocol: 17 for UDP, 6 for TCP.
    const PROTOCOL: u8;

    /// Bytes of the header of UDP or TCP.
    const TRANSPORT_HEADER: usize;

    /// Where IP's header begins, in bytes from the frame's first.
    const IP: usize = ETHERNET + if Self::TAGGED { TAG } else { 0 };

    /// Where UDP's or TCP's header begins.
    const TRANSPORT: usize = Self::IP + if Self::Socket::V6 { 40 } else { 20 };

    /// Where the payload begins.
    const PAYLOAD: usize = Self::TRANSPORT + Self::TRANSPORT_HEADER;
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct Udp<S>(PhantomData<S>);

impl<S> Sealed for Udp<S> {}
impl<S: Socket> Kind for Udp<S> {
    type Socket = S;
    type Options = [u8; 0];
    const TAGGED: bool = false;
    const PROTOCOL: u8 = 17;
    const TRANSPORT_HEADER: usize = 8;
}

/// A TCP segment with so many bytes of options: a multiple of 4, up to 40.
#[derive(Clone, Copy, Debug)]
pub struct Tcp<S, const OPTIONS: usize = 0>(PhantomData<S>);

impl<S, const OPTIONS: usize> Sealed for Tcp<S, OPTIONS> {}
impl<S: Socket, const OPTIONS: usize> Kind for Tcp<S, OPTIONS> {
    type Socket = S;
    type Options = [u8; OPTIONS];
    const TAGGED: bool = false;
    const PROTOCOL: u8 = 6;
    const TRANSPORT_HEADER: usize = {
        assert!(OPTIONS % 4 == 0 && OPTIONS <= 40, "TCP's options are a multiple of 4 bytes, up to 40");
        20 + OPTIONS
    };
}

/// A packet of kind `K` behind a VLAN tag.
#[derive(Clone, Copy, Debug)]
pub struct Tagged<K>(PhantomData<K>);

impl<K> Sealed for Tagged<K> {}
impl<K: Kind> Kind for Tagged<K> {
    type Socket = K::Socket;
    type Options = K::Options;
    const TAGGED: bool = true;
    const PROTOCOL: u8 = K::PROTOCOL;
    const TRANSPORT_HEADER: usize = K::TRANSPORT_HEADER;
}

/// A UDP datagram over IPv4.
pub type Udp4 = Udp<SocketAddrV4>;
/// A UDP datagram over IPv6.
pub type Udp6 = Udp<SocketAddrV6>;
/// A TCP segment over IPv4, with so many bytes of options.
pub type Tcp4<const OPTIONS: usize = 0> = Tcp<SocketAddrV4, OPTIONS>;
/// A TCP segment over IPv6, with so many bytes of options.
pub type Tcp6<const OPTIONS: usize = 0> = Tcp<SocketAddrV6, OPTIONS>;
