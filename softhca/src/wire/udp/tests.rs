//! Wires between addresses of the loopback interface, which every host has. Each test has addresses of its own, and so
//! has each run.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use super::*;
use crate::wire::cable::Datagram;
use crate::wire::frame::{Grh, Macs, Route};
use crate::wire::test_frames::numbered;

/// One of sixteen addresses of this process, in 127.0.0.0/8.
fn loopback(number: u32) -> IpAddr {
    assert!(number < 1 << 4);
    Ipv4Addr::from(127 << 24 | (std::process::id() << 4 | number) & 0xff_ffff).into()
}

fn wire(ip: IpAddr) -> UdpWire {
    UdpWire::bind(&[ip.into()]).unwrap()
}

/// A packet with this PSN.
fn frame(from: IpAddr, to: IpAddr, psn: u32) -> Frame {
    let grh = Grh {
        kind: GidType::RoceV2,
        sgid: gid_of(from),
        dgid: gid_of(to),
        traffic_class: 0,
        flow_label: 0,
        hop_limit: 1,
        udp_sport: 0,
    };
    let route = Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() };
    Frame { route, ..numbered(0, 0x41, 64, psn) }
}

fn with_class(frame: Frame, traffic_class: u8) -> Frame {
    let grh = frame.route.grh.map(|grh| Grh { traffic_class, ..grh });
    Frame { route: Route { grh, ..frame.route }, ..frame }
}

/// The next packet, for which it waits.
fn next(wire: &mut UdpWire) -> Frame {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(frame) = wire.recv() {
            return frame;
        }
        assert!(Instant::now() < deadline, "no packet");
        std::thread::sleep(Duration::from_micros(50));
    }
}

fn exchange(a: IpAddr, b: IpAddr) {
    let (mut near, mut far) = (wire(a), wire(b));
    assert_eq!(near.gids(), [Gid { raw: gid_of(a), kind: GidType::RoceV2 }]);
    for (psn, class) in [(1, 0), (2, 0xb8), (3, 3)] {
        near.send(with_class(frame(a, b, psn), class)).unwrap();
        let found = next(&mut far);
        assert_eq!(found.packet, frame(a, b, psn).packet);
        let grh = found.route.grh.unwrap();
        assert_eq!((grh.sgid, grh.dgid, grh.traffic_class), (gid_of(a), gid_of(b), class));
    }
    assert_eq!((far.recv(), far.next_dropped()), (None, None));
}

#[test]
fn packets_cross_with_their_traffic_class() {
    exchange(loopback(1), loopback(2));
}

#[test]
fn packets_cross_over_ipv6() {
    // The only loopback address of IPv6: the device talks to itself.
    let ip = std::net::Ipv6Addr::LOCALHOST.into();
    let mut wire = match UdpWire::bind(&[IpAddr::into(ip)]) {
        Ok(wire) => wire,
        Err(error) => {
            assert_eq!(error.io().kind(), io::ErrorKind::AddrNotAvailable, "{error}");
            return eprintln!("not run: the host has no IPv6");
        }
    };
    for class in [0, 0xb9] {
        wire.send(with_class(frame(ip, ip, 5), class)).unwrap();
        if cfg!(target_endian = "big") && wire.has_warned {
            return eprintln!("not run: qemu-user does not translate an int beside a datagram");
        }
        let found = next(&mut wire);
        assert_eq!((found.packet, found.route.grh.unwrap().traffic_class), (frame(ip, ip, 5).packet, class));
    }
}

#[test]
fn an_arrival_wakes_the_device() {
    let (a, b) = (loopback(3), loopback(4));
    let (mut near, mut far) = (wire(a), wire(b));
    for psn in 0..20 {
        assert_eq!(far.recv(), None);
        let notify = far.notify();
        let (seen, start) = (notify.prepare(), Instant::now());
        near.send(frame(a, b, psn)).unwrap();
        notify.wait(seen, Duration::from_secs(20));
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(next(&mut far).packet, frame(a, b, psn).packet);
    }
}

#[test]
fn a_port_has_one_owner_and_the_error_names_it() {
    let ip = loopback(5);
    let first = wire(ip);
    let error = UdpWire::bind(&[ip.into()]).unwrap_err();
    assert_eq!(error.io().kind(), io::ErrorKind::AddrInUse);
    assert!(error.to_string().starts_with(&format!("UDP port 4791 of {ip}: ")), "{error}");
    drop(first);
    wire(ip);
    let foreign = UdpWire::bind(&[IpAddr::from([192, 0, 2, 1]).into()]).unwrap_err();
    assert_eq!(foreign.io().kind(), io::ErrorKind::AddrNotAvailable);
}

/// A sender of another kind: its packets count their identifications up, and leave from a port of their own.
#[test]
fn senders_with_other_identifications_are_heard() {
    let (a, b) = (loopback(6), loopback(7));
    let mut far = wire(b);
    let sender = UdpSocket::bind((a, 0)).unwrap();
    // Connected: Linux counts up.
    sender.connect((b, ROCE_PORT)).unwrap();
    let source_port = sender.local_addr().unwrap().port();
    let mut corrected = 0;
    for psn in 0..4 {
        // The sender takes its identification for 0x100 + PSN, and the receiver finds out.
        let bytes = with_identification(&frame(a, b, psn), source_port, 0x100 + psn as u16);
        let header = Datagram { source: a, destination: b, source_port, traffic_class: 0 };
        corrected += usize::from(bytes != encode_datagram(&frame(a, b, psn), source_port).unwrap());
        assert!(decode_datagram(&header, &bytes).is_ok());
        sender.send(&bytes).unwrap();
        assert_eq!(next(&mut far).packet, frame(a, b, psn).packet);
    }
    assert_eq!(corrected, 4);
}

/// The payload of a packet with an identification: by the frame that a port would send.
fn with_identification(frame: &Frame, source_port: u16, identification: u16) -> Vec<u8> {
    let grh = frame.route.grh.unwrap();
    let ip = |gid: [u8; 16]| <[u8; 4]>::try_from(&gid[12..]).unwrap();
    let len = frame.packet.len() + 4;
    let mut masked = vec![0xff; 8];
    masked.extend([0x45, 0xff]);
    masked.extend((28 + len as u16).to_be_bytes());
    masked.extend(identification.to_be_bytes());
    masked.extend([0x40, 0, 0xff, 17, 0xff, 0xff]);
    masked.extend(ip(grh.sgid));
    masked.extend(ip(grh.dgid));
    masked.extend(source_port.to_be_bytes());
    masked.extend(ROCE_PORT.to_be_bytes());
    masked.extend((8 + len as u16).to_be_bytes());
    masked.extend([0xff; 2]);
    let mut packet = frame.packet.clone();
    packet[4] = 0xff;
    masked.extend(packet);
    [&frame.packet[..], &crc32fast::hash(&masked).to_le_bytes()].concat()
}

#[test]
fn damaged_datagrams_are_dropped_with_their_reason() {
    let (a, b) = (loopback(8), loopback(9));
    let mut far = wire(b);
    let sender = UdpSocket::bind((a, 0)).unwrap();
    let good = encode_datagram(&frame(a, b, 7), sender.local_addr().unwrap().port()).unwrap();
    let mut damaged = good.clone();
    damaged[20] ^= 1;
    for bytes in [&damaged[..], &good[..10], &vec![0; DATAGRAM + 4], &[], &good] {
        sender.send_to(bytes, (b, ROCE_PORT)).unwrap();
    }
    assert_eq!(next(&mut far).packet, frame(a, b, 7).packet);
    let reasons: Vec<_> = std::iter::from_fn(|| far.next_dropped()).collect();
    let short = |len| (Dropped::Transport { len }, 1);
    assert!(matches!(reasons[0], (Dropped::InvariantCrc { .. }, 1)), "{reasons:?}");
    assert_eq!(reasons[1..], [short(6), short(DATAGRAM + 4), short(0)]);
}

#[test]
fn packets_that_no_socket_can_send_are_lost() {
    let (a, b) = (loopback(10), loopback(11));
    let mut near = wire(a);
    near.send(frame(b, a, 1)).unwrap();
    near.send(Frame { route: Route { grh: None, ..frame(a, b, 1).route }, ..frame(a, b, 1) }).unwrap();
    let v1 = frame(a, b, 1);
    let grh = v1.route.grh.map(|grh| Grh { kind: GidType::RoceV1, ..grh });
    near.send(Frame { route: Route { grh, ..v1.route }, ..v1 }).unwrap();
    near.send(frame(a, std::net::Ipv6Addr::LOCALHOST.into(), 1)).unwrap();
    near.send(Frame { packet: vec![0; 3], ..frame(a, b, 1) }).unwrap();
    assert_eq!(near.recv(), None);
}

#[test]
fn a_datagram_to_a_group_reaches_all_members_and_its_sender_if_it_is_one() {
    // A group of this run's.
    let group = IpAddr::from(Ipv4Addr::from(239 << 24 | std::process::id() & 0xff_ffff));
    let members = [10, 11, 12].map(loopback);
    let mut wires = members.map(wire);
    let join = |wire: &mut UdpWire, groups: &[IpAddr]| {
        wire.announce(Announcement {
            groups: groups.iter().map(|&ip| gid_of(ip)).collect(),
            ..Announcement::default()
        });
    };
    join(&mut wires[0], &[group]);
    join(&mut wires[2], &[group]);
    let datagram = |psn| {
        let frame = frame(members[0], group, psn);
        let mut packet = frame.packet;
        packet[5..8].copy_from_slice(&[0xff; 3]);
        Frame { packet, ..frame }
    };
    wires[0].send(datagram(1)).unwrap();
    for member in [0, 2] {
        let found = next(&mut wires[member]);
        let grh = found.route.grh.unwrap();
        assert_eq!((grh.sgid, grh.dgid), (gid_of(members[0]), gid_of(group)));
        assert_eq!(found.packet, datagram(1).packet);
    }
    assert_eq!(wires[1].recv(), None);
    // A member that leaves gets no more.
    join(&mut wires[2], &[]);
    wires[0].send(datagram(2)).unwrap();
    assert_eq!(next(&mut wires[0]).packet, datagram(2).packet);
    assert_eq!(wires[2].recv(), None);
}
