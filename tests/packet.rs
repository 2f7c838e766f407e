//! Prepared packets against `etherparse`, which knows nothing of this crate: after any changes a packet is the one that
//! `etherparse` builds from the same values, and its checksums are those that `etherparse` computes.
//!
//! Bytes of packets and the parsing of frames belong here. Their WQEs belong in `tests/send_queue`, and their way
//! through a device in `tests/raw_packet`.

#![forbid(unsafe_code)]

use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use blueflame::packet::{self, Host, Kind, Packet, PacketError, Tagged, Tcp4, Tcp6, Udp4, Udp6};
use etherparse::err::packet::SliceError;
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TcpSlice, TransportSlice};
use proptest::prelude::*;

const HERE: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 1];
const THERE: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 2];

fn v4(from: [u8; 6], (address, port): ([u8; 4], u16)) -> Host<SocketAddrV4> {
    Host { mac: from, socket: SocketAddrV4::new(address.into(), port) }
}

fn v6(from: [u8; 6], (address, port): ([u8; 16], u16)) -> Host<SocketAddrV6> {
    Host { mac: from, socket: SocketAddrV6::new(address.into(), port, 0, 0) }
}

/// Computes all checksums of a frame anew, and compares. Returns the payload without padding.
fn payload_of(frame: &[u8]) -> Result<Vec<u8>, SliceError> {
    let sliced = SlicedPacket::from_ethernet(frame)?;
    let transport = sliced.transport.expect("UDP or TCP");
    let payload = match &transport {
        TransportSlice::Udp(udp) => udp.payload().to_vec(),
        TransportSlice::Tcp(tcp) => tcp.payload().to_vec(),
        other => panic!("{other:?}"),
    };
    let (expected, found) = match sliced.net.expect("IP") {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum(), "IPv4's header");
            match &transport {
                TransportSlice::Udp(udp) => (udp.to_header().calc_checksum_ipv4(&header, &payload), udp.checksum()),
                TransportSlice::Tcp(tcp) => {
                    (Ok(tcp_checksum(&[header.source, header.destination], tcp)), tcp.checksum())
                }
                _ => unreachable!("as above"),
            }
        }
        NetSlice::Ipv6(ip) => {
            let header = ip.header().to_header();
            match &transport {
                TransportSlice::Udp(udp) => (udp.to_header().calc_checksum_ipv6(&header, &payload), udp.checksum()),
                TransportSlice::Tcp(tcp) => {
                    (Ok(tcp_checksum(&[header.source, header.destination], tcp)), tcp.checksum())
                }
                _ => unreachable!("as above"),
            }
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(expected.expect("short enough"), found, "the transport's checksum");
    Ok(payload)
}

/// The checksum of a segment between these addresses, over all its bits: `TcpHeader` has no reserved ones.
fn tcp_checksum<const N: usize>(addresses: &[[u8; N]; 2], tcp: &TcpSlice<'_>) -> u16 {
    let length = (tcp.slice().len() as u32).to_be_bytes();
    let bytes = [addresses.as_flattened(), &length, &[0, 0, 0, 6], tcp.slice()].concat();
    let words = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)));
    // Without the checksum itself.
    let mut sum = words.sum::<u64>() - u64::from(tcp.checksum());
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// A change of any packet.
#[derive(Clone, Debug)]
enum Change {
    Payload(Vec<u8>),
    Part(usize, [u8; 3]),
    Word(usize, [u8; 2]),
    Hops(u8),
    Class(u8),
}

fn change() -> impl Strategy<Value = Change> {
    // Values that are all zeros or all ones, where ones' complement has two zeros, come often.
    let byte = prop_oneof![3 => any::<u8>(), 1 => Just(0), 1 => Just(0xff)];
    prop_oneof![
        prop::collection::vec(byte, 0..80).prop_map(Change::Payload),
        (0..80_usize, any::<[u8; 3]>()).prop_map(|(at, part)| Change::Part(at, part)),
        (0..80_usize, prop_oneof![Just([0; 2]), Just([0xff; 2]), any::<[u8; 2]>()])
            .prop_map(|(at, part)| Change::Word(at, part)),
        any::<u8>().prop_map(Change::Hops),
        any::<u8>().prop_map(Change::Class),
    ]
}

/// Applies a change to a packet and to the payload that it should have.
fn apply<K: Kind, const N: usize>(packet: &mut Packet<K, N>, payload: &mut Vec<u8>, change: &Change) {
    let before = *packet.as_bytes();
    let outcome = match change {
        Change::Payload(bytes) => {
            let outcome = packet.set_payload(bytes);
            let (bytes, room) = (bytes.len(), Packet::<K, N>::ROOM);
            let expected = if bytes <= room { Ok(()) } else { Err(PacketError::Payload { bytes, room }) };
            assert_eq!(outcome, expected);
            outcome
        }
        Change::Part(at, part) => {
            let outcome = packet.set_part(*at, part);
            assert_eq!(outcome.is_ok(), at + 3 <= payload.len());
            outcome
        }
        Change::Word(at, part) => packet.set_part(*at, part),
        Change::Hops(hops) => {
            packet.set_hops(*hops);
            Ok(())
        }
        Change::Class(class) => {
            packet.set_traffic_class(*class);
            Ok(())
        }
    };
    if outcome.is_err() {
        assert_eq!(*packet.as_bytes(), before, "a refused change changes nothing");
        return;
    }
    match change {
        Change::Payload(bytes) => payload.clone_from(bytes),
        Change::Part(at, part) => payload[*at..at + 3].copy_from_slice(part),
        Change::Word(at, part) => payload[*at..at + 2].copy_from_slice(part),
        _ => {}
    }
}

/// The frame is right by itself, and as a new packet that is made from it.
fn check<K: Kind, const N: usize>(packet: &Packet<K, N>, payload: &[u8]) {
    let frame = packet.as_bytes();
    assert_eq!(payload_of(frame).expect("a packet"), payload);
    assert_eq!(packet.payload(), payload);
    assert!(frame[K::PAYLOAD + payload.len()..].iter().all(|&padding| padding == 0), "old bytes leave as padding");
    let again = Packet::<K, N>::from_frame(frame).expect("such a packet");
    assert_eq!((again.as_bytes(), again.payload()), (frame, payload));
    let parsed = packet::parse(frame).expect("a packet");
    assert_eq!((parsed.payload, parsed.protocol), (payload, K::PROTOCOL));
}

fn any_changes<K: Kind, const N: usize>(mut packet: Packet<K, N>, changes: &[Change]) -> Packet<K, N> {
    let mut payload = Vec::new();
    check(&packet, &payload);
    for change in changes {
        apply(&mut packet, &mut payload, change);
        check(&packet, &payload);
    }
    packet
}

fn numbers<K: Kind, const N: usize>(packet: &mut Packet<K, N>, (numbers, window, flags): ([u32; 2], u16, u8)) {
    let payload = packet.payload().to_vec();
    packet.set_sequence(numbers[0]);
    packet.set_acknowledgement(numbers[1]);
    packet.set_window(window);
    packet.set_flags(flags);
    assert_eq!(packet.sequence(), numbers[0]);
    check(packet, &payload);
    let sliced = SlicedPacket::from_ethernet(packet.as_bytes()).expect("a packet");
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
    assert_eq!([tcp.sequence_number(), tcp.acknowledgment_number()], numbers);
    assert_eq!((tcp.window_size(), tcp.slice()[13]), (window, flags));
}

type Numbers = ([u32; 2], u16, u8);

proptest! {
    #[test]
    fn udp_over_ipv4(
        from in any::<([u8; 4], u16)>(), to in any::<([u8; 4], u16)>(), id in any::<u16>(),
        changes in prop::collection::vec(change(), 0..12),
    ) {
        let mut packet = any_changes(Packet::<Udp4, 98>::new(&v4(HERE, from), &v4(THERE, to)), &changes);
        packet.set_identification(id);
        check(&packet, packet.payload());
        let parsed = packet::parse(packet.as_bytes()).expect("a packet");
        prop_assert_eq!([parsed.source, parsed.destination], [SocketAddr::from(from), SocketAddr::from(to)]);
    }

    #[test]
    fn udp_over_ipv6_behind_a_tag(
        from in any::<([u8; 16], u16)>(), to in any::<([u8; 16], u16)>(), tag in any::<u16>(),
        changes in prop::collection::vec(change(), 0..12),
    ) {
        let mut packet = any_changes(Packet::<Tagged<Udp6>, 120>::new(&v6(HERE, from), &v6(THERE, to)), &changes);
        packet.set_vlan(tag);
        check(&packet, packet.payload());
        prop_assert_eq!(&packet.as_bytes()[12..16], &[&[0x81, 0][..], &tag.to_be_bytes()].concat()[..]);
    }

    #[test]
    fn tcp_over_ipv4(
        from in any::<([u8; 4], u16)>(), to in any::<([u8; 4], u16)>(), all in any::<(Numbers, [u8; 8])>(),
        changes in prop::collection::vec(change(), 0..12),
    ) {
        let mut packet = any_changes(Packet::<Tcp4<12>, 130>::new(&v4(HERE, from), &v4(THERE, to)), &changes);
        let (numbered, [a, b, c, d, e, f, g, h]) = all;
        numbers(&mut packet, numbered);
        // Two NOPs, and timestamps (RFC 7323, section 3.2).
        packet.set_options(&[1, 1, 8, 10, a, b, c, d, e, f, g, h]);
        check(&packet, packet.payload());
    }

    #[test]
    fn tcp_over_ipv6(
        from in any::<([u8; 16], u16)>(), to in any::<([u8; 16], u16)>(), numbered in any::<Numbers>(),
        changes in prop::collection::vec(change(), 0..12),
    ) {
        let mut packet = any_changes(Packet::<Tcp6, 140>::new(&v6(HERE, from), &v6(THERE, to)), &changes);
        numbers(&mut packet, numbered);
    }

    /// Frames that `etherparse` has built are taken, and come out as they were, but for their padding.
    #[test]
    fn frames_of_others(
        from in any::<([u8; 4], u16)>(), to in any::<([u8; 4], u16)>(), hops in any::<u8>(),
        payload in prop::collection::vec(any::<u8>(), 18..60), padding in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let builder = PacketBuilder::ethernet2(HERE, THERE).ipv4(from.0, to.0, hops).udp(from.1, to.1);
        let mut frame = Vec::new();
        builder.write(&mut frame, &payload).expect("memory");
        let len = frame.len();
        frame.extend(&padding);
        let packet = Packet::<Udp4, 110>::from_frame(&frame).expect("such a packet");
        prop_assert_eq!(&packet.as_bytes()[..len], &frame[..len]);
        check(&packet, &payload);
    }

    /// No bytes make the parser or the packet panic, also where most of the frame is right.
    #[test]
    fn hostile_frames(
        flips in prop::collection::vec((0..98_usize, any::<u8>()), 0..4), len in 0..=98_usize, tcp in any::<bool>(),
    ) {
        let (here, there) = (v4(HERE, ([10, 0, 0, 1], 1)), v4(THERE, ([10, 0, 0, 2], 2)));
        let mut frame = if tcp {
            *Packet::<Tcp4, 98>::new(&here, &there).as_bytes()
        } else {
            *Packet::<Udp4, 98>::new(&here, &there).as_bytes()
        };
        for (at, byte) in flips {
            frame[at] = byte;
        }
        let frame = &frame[..len];
        if let Ok(parsed) = packet::parse(frame) {
            prop_assert!(parsed.payload.len() <= frame.len());
        }
        if let Ok(packet) = Packet::<Udp4, 98>::from_frame(frame) {
            payload_of(packet.as_bytes()).expect("taken, so a packet");
        }
        if let Ok(packet) = Packet::<Tcp4, 98>::from_frame(frame) {
            payload_of(packet.as_bytes()).expect("taken, so a packet");
        }
    }
}

#[test]
fn a_checksum_of_zero_is_sent_as_ones() {
    let mut packet = Packet::<Udp4, 60>::new(&v4(HERE, ([10, 0, 0, 1], 1)), &v4(THERE, ([10, 0, 0, 2], 2)));
    let mut seen = 0;
    for word in 0..=u16::MAX {
        packet.set_payload(&word.to_be_bytes()).expect("room");
        let checksum = &packet.as_bytes()[40..42];
        assert_ne!(checksum, [0, 0], "that says there is none (RFC 768)");
        seen += u32::from(checksum == [0xff, 0xff]);
    }
    // One word makes the sum 0xffff.
    assert_eq!(seen, 1);
}

#[test]
fn frames_of_other_kinds_are_refused_with_the_field() {
    let (here, there) = (v4(HERE, ([10, 0, 0, 1], 1)), v4(THERE, ([10, 0, 0, 2], 2)));
    let udp = *Packet::<Udp4, 60>::new(&here, &there).as_bytes();
    let header = |field, found, expected| Some(PacketError::Header { field, found, expected });
    let error = Packet::<Tcp4, 60>::from_frame(&udp).err();
    assert_eq!(error, header("IP protocol", 17, 6));
    assert_eq!(
        Packet::<Udp6, 80>::from_frame(&[&udp[..], &[0; 20]].concat()).err(),
        header("EtherType", 0x800, 0x86dd)
    );
    assert_eq!(Packet::<Tagged<Udp4>, 64>::from_frame(&udp).err(), header("EtherType", 0x800, 0x8100));
    let tcp = *Packet::<Tcp4, 60>::new(&here, &there).as_bytes();
    let error = Packet::<Tcp4<12>, 80>::from_frame(&[&tcp[..], &[0; 20]].concat()).err();
    assert_eq!(error, header("TCP data offset", 5, 8));
    let bytes = 61;
    let error = Packet::<Udp4, 60>::from_frame(&[0; 61]).err();
    assert_eq!(error, Some(PacketError::Frame { bytes, least: 42, most: 60 }));
    assert_eq!(error.expect("just seen").to_string(), "a frame of 61 bytes, 42 to 60 possible");
    let set = |at: usize, to: u8| {
        let mut frame = udp;
        frame[at] = to;
        (Packet::<Udp4, 60>::from_frame(&frame).err(), packet::parse(&frame).err())
    };
    // A total length beyond the frame, and below the headers; UDP's length beyond IP's; a fragment; a length of
    // options.
    let length = |field, found, least, most| Some(PacketError::Length { field, found, least, most });
    assert_eq!(set(17, 47), (length("IPv4 total length", 47, 28, 46), length("IPv4 total length", 47, 20, 46)));
    assert_eq!(set(17, 27).0, length("IPv4 total length", 27, 28, 46));
    assert_eq!(set(39, 9), (length("UDP length", 9, 8, 8), length("UDP length", 9, 8, 8)));
    assert_eq!(set(20, 0x20), (Some(PacketError::Fragment), Some(PacketError::Fragment)));
    assert_eq!(set(14, 0x44).1, header("IP version and header length", 0x44, 0x45));
}

#[test]
fn addresses_of_groups_have_their_stations() {
    let group = |text: &str| Host::<SocketAddrV4>::group(text.parse().expect("an address"));
    // RFC 1112, section 6.4: 23 bits of the address.
    assert_eq!(group("239.129.2.3:5001").map(|host| host.mac), Ok([0x01, 0x00, 0x5e, 0x01, 0x02, 0x03]));
    let address = "10.1.2.3".parse().expect("an address");
    assert_eq!(group("10.1.2.3:5001"), Err(PacketError::NotGroup { address }));
    let group = Host::<SocketAddrV6>::group("[ff12::1:2345:6789]:5001".parse().expect("an address"));
    // RFC 2464, section 7.
    assert_eq!(group.map(|host| host.mac), Ok([0x33, 0x33, 0x23, 0x45, 0x67, 0x89]));
}
