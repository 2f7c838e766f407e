//! Ports on one network by a socket, and a peer that speaks QEMU's form by hand. TAP devices and packet sockets need
//! rights: `softhca/uverbs/tests/hosts` has them in namespaces.

use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::*;
use crate::config::GidType;
use crate::wire::cable::gid_of;
use crate::wire::frame::{Grh, Route};
use crate::wire::test_frames::numbered;

fn ip(host: u8) -> IpAddr {
    Ipv4Addr::new(10, 99, 0, host).into()
}

fn mac(host: u8) -> Mac {
    [2, 0, 0, 0, 9, host]
}

fn gid(host: u8) -> Gid {
    Gid { raw: gid_of(ip(host)), kind: GidType::RoceV2 }
}

fn join(path: &Path, host: u8) -> EthernetWire {
    EthernetWire::socket(path, mac(host), &[gid(host)]).unwrap()
}

/// The path of a network's socket, and its directory.
fn network() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("network");
    (directory, path)
}

/// A packet from one host to another.
fn packet(from: u8, to: u8, psn: u32) -> Frame {
    let grh = Grh {
        kind: GidType::RoceV2,
        sgid: gid(from).raw,
        dgid: gid(to).raw,
        traffic_class: 0,
        flow_label: 0,
        hop_limit: 64,
        udp_sport: 0,
    };
    let route = Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() };
    Frame { route, ..numbered(0, 0x41, 64, psn) }
}

/// Steps all ports until `found` finds something.
fn until<T>(wires: &mut [&mut EthernetWire], mut found: impl FnMut(&mut [&mut EthernetWire]) -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(found) = found(wires) {
            return found;
        }
        assert!(Instant::now() < deadline, "nothing comes");
        thread::sleep(Duration::from_micros(100));
    }
}

/// Sends a packet between two of the ports; the packet as it arrives.
fn pass(wires: &mut [&mut EthernetWire], (from, to): (usize, usize), frame: &Frame) -> Frame {
    let mut waiting = Some(frame.clone());
    until(wires, |wires| {
        if let Some(frame) = waiting.take() {
            waiting = wires[from].send(frame).err();
        }
        // All of them hear questions.
        let arrived: Vec<_> = wires.iter_mut().map(|wire| wire.recv()).collect();
        assert!(arrived.iter().enumerate().all(|(at, frame)| at == to || frame.is_none()), "{arrived:?}");
        arrived.into_iter().nth(to).flatten()
    })
}

#[test]
fn ports_of_a_network_find_each_other() {
    let (_directory, path) = network();
    let (mut a, mut b, mut c) = (join(&path, 1), join(&path, 2), join(&path, 3));
    let mut all = [&mut a, &mut b, &mut c];
    for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let sent = packet(from as u8 + 1, to as u8 + 1, 7);
        let found = pass(&mut all, (from, to), &sent);
        assert_eq!(found.packet, sent.packet);
        let macs = Macs { source: mac(from as u8 + 1), destination: mac(to as u8 + 1) };
        assert_eq!(found.route.macs, macs);
    }
    // To itself, without the network.
    let own = packet(2, 2, 8);
    assert_eq!(pass(&mut all, (1, 1), &own), own);
    // The driver knows the destination: no question.
    let mut d = join(&path, 4);
    let mut given = packet(4, 1, 9);
    given.route.macs.destination = mac(1);
    d.send(given).unwrap();
    let found = until(&mut [&mut a, &mut d], |wires| wires[0].recv());
    assert_eq!(found.packet, packet(4, 1, 9).packet);
}

#[test]
fn frames_reach_others_and_packets_for_others_do_not() {
    let (_directory, path) = network();
    let (mut a, mut b, mut c) = (join(&path, 1), join(&path, 2), join(&path, 3));
    let frame = [&[0xff; 6][..], &mac(2), &[8, 0], &[7; 46]].concat();
    b.send_ethernet(&frame);
    let mut all = [&mut a, &mut b, &mut c];
    let found = until(&mut all, |wires| {
        assert!(wires.iter_mut().all(|wire| wire.recv().is_none()));
        let heard = [wires[0].recv_ethernet(), wires[2].recv_ethernet()];
        heard.iter().any(Option::is_some).then_some(heard)
    });
    // The other one may come later.
    assert!(found.iter().flatten().all(|found| *found == frame));
    // A damaged packet counts where it was sent to.
    let mut damaged = cable::encode(&Frame {
        route: Route { macs: Macs { source: mac(2), destination: mac(1) }, ..packet(2, 1, 1).route },
        ..packet(2, 1, 1)
    })
    .unwrap();
    damaged[60] ^= 1;
    all[1].send_ethernet(&damaged);
    let reason = until(&mut all, |wires| {
        wires.iter_mut().for_each(|wire| assert!(wire.recv().is_none()));
        wires[0].next_dropped()
    });
    assert!(matches!(reason, (Dropped::InvariantCrc { .. }, 1)));
    assert_eq!((all[2].next_dropped(), all[1].next_dropped()), (None, None));
}

#[test]
fn nobody_at_an_address_is_no_hang() {
    let (_directory, path) = network();
    let (mut a, _b) = (join(&path, 1), join(&path, 2));
    let mut waiting = Some(packet(1, 77, 0));
    let begin = Instant::now();
    until(&mut [&mut a], |wires| {
        waiting = wires[0].send(waiting.take()?).err();
        waiting.is_none().then_some(())
    });
    assert!(begin.elapsed() >= Duration::from_millis(900));
}

/// A virtual machine, by QEMU's form: the length in four bytes, then the frame.
#[test]
fn a_virtual_machine_is_on_the_network() {
    let (_directory, path) = network();
    let mut port = join(&path, 1);
    let mut machine = UnixStream::connect(&path).unwrap();
    let question = [
        &[0xff; 6][..],
        &mac(9),
        &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
        &mac(9),
        &[10, 99, 0, 9, 0, 0, 0, 0, 0, 0, 10, 99, 0, 1],
    ]
    .concat();
    // In two pieces.
    machine.write_all(&[0, 0, 0, 42, 0xff]).unwrap();
    assert!(port.recv().is_none());
    machine.write_all(&question[1..]).unwrap();
    machine.set_nonblocking(true).unwrap();
    let answer = until(&mut [&mut port], |wires| {
        assert!(wires[0].recv().is_none());
        let mut bytes = [0; 64];
        machine.read(&mut bytes).ok().map(|len| bytes[..len].to_vec())
    });
    assert_eq!(answer[..10], [0, 0, 0, 42, 2, 0, 0, 0, 9, 9]);
    assert_eq!(answer[4 + 20..4 + 28], [0, 2, 2, 0, 0, 0, 9, 1]);
    // A program's own queue sees the question, too.
    assert_eq!(port.recv_ethernet(), Some(question));
}

#[test]
fn nonsense_ends_a_connection_and_not_the_network() {
    let (_directory, path) = network();
    let mut hub = join(&path, 1);
    for nonsense in [[0xff; 4], [0, 0, 0, 0], [0, 2, 0, 0]] {
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(&nonsense).unwrap();
        peer.write_all(&[7; 100]).unwrap();
        peer.set_nonblocking(true).unwrap();
        until(&mut [&mut hub], |wires| {
            assert!(wires[0].recv().is_none());
            // The end, or a reset because bytes were left unread.
            match peer.read(&mut [0; 8]) {
                Ok(0) => Some(()),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Some(()),
                _ => None,
            }
        });
    }
    // One that never reads.
    let _silent = UnixStream::connect(&path).unwrap();
    let mut other = join(&path, 2);
    assert!(hub.recv().is_none());
    for _ in 0..3000 {
        hub.send_ethernet(&[&[0xff; 6][..], &mac(1), &[8, 0], &[0; 1000]].concat());
        while other.recv().is_some() {}
        while other.recv_ethernet().is_some() {}
    }
    let sent = packet(2, 1, 5);
    assert_eq!(pass(&mut [&mut hub, &mut other], (1, 0), &sent).packet, sent.packet);
}

/// Leaves the socket of a switch that was killed. It never listened: a child that another test forks at this moment has
/// copies of all descriptors, and connections to its copy of a listener would succeed.
fn leave_socket(path: &Path) {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
}

#[test]
fn a_socket_of_the_dead_is_replaced_and_the_last_one_removes_it() {
    let (directory, path) = network();
    leave_socket(&path);
    assert!(path.exists());
    let hub = join(&path, 1);
    let peer = join(&path, 2);
    drop(hub);
    assert!(!path.exists());
    drop(peer);
    let missing = EthernetWire::socket(&directory.path().join("no/where"), mac(1), &[]);
    assert_eq!(missing.err().map(|error| error.kind()), Some(io::ErrorKind::NotFound));
}

/// None of them removes the socket at which another has just begun to listen.
#[test]
fn those_that_begin_together_are_on_one_network() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..500 {
        let path = directory.path().join(round.to_string());
        if round % 2 == 1 {
            leave_socket(&path);
        }
        let together = Barrier::new(2);
        let begin = |host| {
            together.wait();
            join(&path, host)
        };
        let (mut a, mut b) = thread::scope(|scope| {
            let other = scope.spawn(|| begin(2));
            (begin(1), other.join().unwrap())
        });
        // The switch lets the other one in, so that no question is lost.
        assert_eq!((a.recv(), b.recv()), (None, None));
        let sent = packet(1, 2, 7);
        assert_eq!(pass(&mut [&mut a, &mut b], (0, 1), &sent).packet, sent.packet, "round {round}");
    }
}

#[test]
fn a_switch_leaves_the_socket_of_another_one() {
    let (_directory, path) = network();
    let old = join(&path, 1);
    std::fs::remove_file(&path).unwrap();
    let mut new = join(&path, 2);
    drop(old);
    let mut peer = join(&path, 3);
    let sent = packet(3, 2, 7);
    assert_eq!(pass(&mut [&mut new, &mut peer], (1, 0), &sent).packet, sent.packet);
}

/// Has the device read the waiting frames for a while. How often it is woken in the second half, in a tenth of a
/// second.
pub(super) fn wakes(wire: &mut EthernetWire) -> u32 {
    let notify = wire.notify();
    let [_, wakes] = [(); 2].map(|()| {
        let (end, mut wakes) = (Instant::now() + Duration::from_millis(100), 0);
        loop {
            let seen = notify.prepare();
            assert_eq!(wire.recv(), None);
            notify.wait(seen, end.saturating_duration_since(Instant::now()));
            if Instant::now() >= end {
                break wakes;
            }
            wakes += 1;
        }
    });
    wakes
}

/// Somebody waits whom the switch cannot let in: the listener can be read all the time.
#[test]
fn a_peer_that_is_not_let_in_keeps_nobody_awake() {
    let (_directory, path) = network();
    let mut hub = join(&path, 1);
    let connect = || UnixStream::connect(&path).unwrap();
    let mut peers: VecDeque<_> = (0..65).map(|_| connect()).collect();
    let frame = [&[0xff; 6][..], &mac(9), &[8, 0], &[7; 46]].concat();
    peers[64].write_all(&[&[0, 0, 0, 60][..], &frame].concat()).unwrap();
    let woken = wakes(&mut hub);
    assert!(woken < 3 && hub.recv_ethernet().is_none(), "{woken} times");
    // Another one leaves.
    peers.pop_front();
    let found = until(&mut [&mut hub], |wires| {
        assert!(wires[0].recv().is_none());
        wires[0].recv_ethernet()
    });
    assert_eq!(found, frame);
    // With room, those that come wake it again.
    peers.drain(..2);
    wakes(&mut hub);
    let seen = hub.notify().prepare();
    assert_eq!(hub.recv(), None);
    let begin = Instant::now();
    peers.push_back(connect());
    hub.notify().wait(seen, Duration::from_secs(20));
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_arrival_wakes_the_device() {
    let (_directory, path) = network();
    let (mut hub, mut peer) = (join(&path, 1), join(&path, 2));
    until(&mut [&mut hub], |wires| {
        assert!(wires[0].recv().is_none());
        (wires[0].link.watched().len() == 2).then_some(())
    });
    for _ in 0..20 {
        while hub.recv().is_some() || hub.recv_ethernet().is_some() {}
        let notify = hub.notify();
        let (seen, begin) = (notify.prepare(), Instant::now());
        peer.send_ethernet(&[&[0xff; 6][..], &mac(2), &[8, 0]].concat());
        notify.wait(seen, Duration::from_secs(20));
        assert!(begin.elapsed() < Duration::from_secs(10));
        until(&mut [&mut hub], |wires| {
            assert!(wires[0].recv().is_none());
            wires[0].recv_ethernet()
        });
    }
}

/// A peer that floods the switch holds no call up: each call takes at most `BATCH` frames, and reports that more wait.
#[test]
fn a_peer_with_frames_for_others_holds_nobody_up() {
    let (_directory, path) = network();
    let mut hub = join(&path, 1);
    let mut peer = UnixStream::connect(&path).unwrap();
    // Shorter than an Ethernet header, so the switch passes it to nobody.
    let nowhere = [&[0, 0, 0, 13][..], &[0; 13]].concat();
    let frame = [&[0xff; 6][..], &mac(9), &[8, 0], &[7; 46]].concat();
    let broadcast = [&[0, 0, 0, 60][..], &frame].concat();
    peer.write_all(&[nowhere.repeat(1000), broadcast.clone()].concat()).unwrap();
    assert_eq!((hub.recv(), hub.recv_ethernet(), hub.is_holding()), (None, None, true));
    let mut calls = 1;
    while hub.advance(Duration::ZERO) {
        assert_eq!(hub.recv(), None);
        calls += 1;
    }
    assert_eq!((calls, hub.recv_ethernet(), hub.is_holding()), (1001_usize.div_ceil(BATCH), Some(frame), false));
    // Frames for the device's own queues behave alike.
    peer.write_all(&broadcast.repeat(BATCH + 1)).unwrap();
    assert_eq!((hub.recv(), hub.is_holding()), (None, true));
    assert_eq!(std::iter::from_fn(|| hub.recv_ethernet()).count(), BATCH);
    // A stalled device does not receive. It must not be told of work again and again.
    assert_eq!([hub.advance(Duration::ZERO), hub.advance(Duration::ZERO)], [true, false]);
    assert_eq!(hub.recv(), None);
    assert_eq!((std::iter::from_fn(|| hub.recv_ethernet()).count(), hub.is_holding()), (1, false));
}

/// A peer whose bytes come one by one holds no call up: each call reads once of each peer.
#[test]
fn a_frame_that_comes_in_parts_takes_as_many_calls() {
    let (_directory, path) = network();
    let mut hub = join(&path, 1);
    let mut peer = UnixStream::connect(&path).unwrap();
    assert_eq!(hub.recv(), None);
    while hub.advance(Duration::ZERO) {}
    // Longer than one read.
    let frame = [&[0xff; 6][..], &mac(9), &[8, 0], &[7; 0x1_0ff2]].concat();
    let seen = hub.notify().prepare();
    peer.write_all(&[&(frame.len() as u32).to_be_bytes()[..], &frame].concat()).unwrap();
    hub.notify().wait(seen, Duration::from_secs(20));
    let seen = hub.notify().prepare();
    assert_eq!((hub.recv(), hub.is_holding()), (None, false));
    assert!(hub.recv_ethernet().is_none(), "all of it at once");
    // The rest is not forgotten.
    let begin = Instant::now();
    hub.notify().wait(seen, Duration::from_secs(20));
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(hub.recv(), None);
    assert!(hub.recv_ethernet() == Some(frame));
}

/// Frames that were lost since the last call: here, and at the other end.
fn lost(wire: &mut EthernetWire) -> [u64; 2] {
    let dropped: Vec<_> = std::iter::from_fn(|| wire.next_dropped()).collect();
    [Dropped::NoRoomHere, Dropped::NoRoomThere].map(|reason| {
        let of_reason = dropped.iter().filter(|(found, _)| *found == reason);
        of_reason.map(|(_, count)| count).sum()
    })
}

/// Complete frames that a peer of the switch finds.
fn frames_of(hub: &mut EthernetWire, peer: &mut UnixStream, frame: &[u8]) -> u64 {
    let mut bytes = Vec::new();
    peer.set_nonblocking(true).unwrap();
    loop {
        assert_eq!(hub.recv(), None);
        let before = bytes.len();
        let _ = peer.read_to_end(&mut bytes);
        if bytes.len() == before {
            break;
        }
    }
    assert_eq!(bytes.len() % (4 + frame.len()), 0);
    (bytes.len() / (4 + frame.len())) as u64
}

#[test]
fn each_frame_that_is_lost_counts() {
    const SENT: u64 = 5000;
    let (_directory, path) = network();
    let mut hub = join(&path, 1);
    let mut silent = UnixStream::connect(&path).unwrap();
    let frame = [&[0xff; 6][..], &mac(1), &[8, 0], &[0; 1000]].concat();
    // The switch sends to a peer that does not read.
    assert_eq!(hub.recv(), None);
    for _ in 0..SENT {
        hub.send_ethernet(&frame);
    }
    let found = frames_of(&mut hub, &mut silent, &frame);
    assert!(found < SENT);
    assert_eq!(lost(&mut hub), [0, SENT - found]);
    // A peer sends to a switch that does not read, and then to one that has no room for all.
    let mut peer = join(&path, 2);
    for _ in 0..SENT {
        peer.send_ethernet(&frame);
    }
    for _ in 0..SENT {
        assert_eq!((hub.recv(), peer.recv()), (None, None));
        peer.send_ethernet(&frame);
    }
    // More calls than it takes.
    for _ in 0..SENT {
        assert_eq!((hub.recv(), peer.recv()), (None, None));
    }
    let arrived = std::iter::from_fn(|| hub.recv_ethernet()).count() as u64;
    let ([_, at_peer], [here, there]) = (lost(&mut peer), lost(&mut hub));
    assert!([at_peer, here, there].iter().all(|&lost| lost > 0), "{at_peer} {here} {there}");
    assert_eq!(at_peer + here + arrived, 2 * SENT);
    // The switch has passed them on to the peer that did not read.
    assert_eq!(frames_of(&mut hub, &mut silent, &frame) + there, 2 * SENT - at_peer);
}

#[test]
fn a_neighbour_is_found_before_packets_go_to_it() {
    let (_directory, path) = network();
    let mut a = join(&path, 1);
    let (own, there) = (gid(1).raw, gid(2).raw);
    assert_eq!(a.neighbour(own, own), Some(mac(1)));
    assert_eq!(a.neighbour(own, there), None, "nobody is there yet");
    let mut b = join(&path, 2);
    let found = until(&mut [&mut a, &mut b], |wires| {
        wires.iter_mut().for_each(|wire| assert_eq!(wire.recv(), None));
        wires[0].neighbour(own, there)
    });
    assert_eq!(found, mac(2));
}
