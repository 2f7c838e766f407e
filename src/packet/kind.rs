//! Kinds of packets: their headers, whose places are known by type.

use core::marker::PhantomData;
use core::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::sealed::Sealed;

/// Bytes of the MAC addresses and the EtherType.
const ETHERNET: usize = 14;
/// Bytes of a VLAN tag (IEEE 802.1Q).
const TAG: usize = 4;

/// The headers of a packet: Ethernet, IP without options or extension headers, UDP or TCP.
pub trait Kind: Sealed + Copy {
    /// The addresses: [`SocketAddrV4`] or [`SocketAddrV6`].
    type Socket: Copy + Into<SocketAddr>;

    /// Whether they are of IPv6.
    const V6: bool;

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
    const TRANSPORT: usize = Self::IP + if Self::V6 { 40 } else { 20 };

    /// Where the payload begins.
    const PAYLOAD: usize = Self::TRANSPORT + Self::TRANSPORT_HEADER;
}

/// A UDP datagram between addresses of type `S`.
#[derive(Clone, Copy, Debug)]
pub struct Udp<S>(PhantomData<S>);

/// A TCP segment between addresses of type `S`, with `OPTIONS` bytes of options: a multiple of 4, up to 40.
#[derive(Clone, Copy, Debug)]
pub struct Tcp<S, const OPTIONS: usize = 0>(PhantomData<S>);

/// Both protocols over an IP version.
macro_rules! over {
    ($Socket:ty, $v6:literal) => {
        impl Sealed for Udp<$Socket> {}
        impl Kind for Udp<$Socket> {
            type Socket = $Socket;
            type Options = [u8; 0];
            const V6: bool = $v6;
            const TAGGED: bool = false;
            const PROTOCOL: u8 = 17;
            const TRANSPORT_HEADER: usize = 8;
        }

        impl<const OPTIONS: usize> Sealed for Tcp<$Socket, OPTIONS> {}
        impl<const OPTIONS: usize> Kind for Tcp<$Socket, OPTIONS> {
            type Socket = $Socket;
            type Options = [u8; OPTIONS];
            const V6: bool = $v6;
            const TAGGED: bool = false;
            const PROTOCOL: u8 = 6;
            const TRANSPORT_HEADER: usize = {
                assert!(OPTIONS % 4 == 0 && OPTIONS <= 40, "TCP's options are a multiple of 4 bytes, up to 40");
                20 + OPTIONS
            };
        }
    };
}

over!(SocketAddrV4, false);
over!(SocketAddrV6, true);

/// A packet of kind `K` behind a VLAN tag.
#[derive(Clone, Copy, Debug)]
pub struct Tagged<K>(PhantomData<K>);

impl<K> Sealed for Tagged<K> {}
impl<K: Kind> Kind for Tagged<K> {
    type Socket = K::Socket;
    type Options = K::Options;
    const V6: bool = K::V6;
    const TAGGED: bool = true;
    const PROTOCOL: u8 = K::PROTOCOL;
    const TRANSPORT_HEADER: usize = K::TRANSPORT_HEADER;
}

/// A UDP datagram over IPv4.
pub type Udp4 = Udp<SocketAddrV4>;
/// A UDP datagram over IPv6.
pub type Udp6 = Udp<SocketAddrV6>;
/// A TCP segment over IPv4, with `OPTIONS` bytes of options.
pub type Tcp4<const OPTIONS: usize = 0> = Tcp<SocketAddrV4, OPTIONS>;
/// A TCP segment over IPv6, with `OPTIONS` bytes of options.
pub type Tcp6<const OPTIONS: usize = 0> = Tcp<SocketAddrV6, OPTIONS>;
