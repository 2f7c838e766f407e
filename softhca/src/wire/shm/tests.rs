use std::thread;

use super::*;
use crate::config::GidType;
use crate::wire::test_frames::{FORKING, frame, numbered};
use crate::wire::{Grh, Macs, Route};

mod hostile;
mod loans;
mod processes;

const LID: u16 = 3;
const PATIENCE: Duration = Duration::from_secs(30);

fn join(directory: &Path) -> ShmWire {
    ShmWire::join(directory, &[LID], &[]).unwrap()
}

/// Two wires of one fabric, and its directory.
fn two() -> (tempfile::TempDir, ShmWire, ShmWire) {
    let directory = tempfile::tempdir().unwrap();
    let (a, b) = (join(directory.path()), join(directory.path()));
    (directory, a, b)
}

/// The slots of the fabric at `directory`, for a process that is no device.
fn fabric(directory: &Path) -> Directory {
    Directory::open(directory).unwrap()
}

/// Receives as a step at this moment does.
fn recv(wire: &mut ShmWire) -> Option<Frame> {
    wire.advance(Duration::ZERO);
    wire.recv()
}

/// Ends a step, and begins the next one.
fn next_step(wire: &mut ShmWire) {
    wire.flush(Arrived::Unanswered);
    wire.advance(Duration::ZERO);
}

fn recv_within(wire: &mut ShmWire, limit: Duration) -> Option<Frame> {
    let start = Instant::now();
    loop {
        match recv(wire) {
            None if start.elapsed() < limit => thread::sleep(Duration::from_micros(50)),
            other => return other,
        }
    }
}

#[test]
fn instances_of_one_device_have_qpns_of_their_own() {
    let _alone = FORKING.lock();
    let (directory, a, b) = two();
    assert_eq!(a.qpns(), 0x40..0x4000);
    assert_eq!(b.qpns(), 0x4040..0x8000);
    assert_eq!(slot::qp_qpns(SLOTS - 1), 0xff_c040..0xff_ffff);
    drop(a);
    assert_eq!(join(directory.path()).qpns(), 0x40..0x4000);
}

#[test]
fn lives_are_told_apart() {
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(life(directory.path(), 0x40), None);
    let a = join(directory.path());
    let first = life(directory.path(), 0x40);
    assert!(first.is_some() && life(directory.path(), 1) == first && life(directory.path(), 0x4040).is_none());
    drop(a);
    assert_eq!(life(directory.path(), 0x40), None);
    let _heir = join(directory.path());
    assert!(life(directory.path(), 0x40).is_some_and(|second| Some(second) != first));
}

#[test]
fn ethernet_frames_reach_all_others_and_packets_are_not_in_their_way() {
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    let mut wires: Vec<_> = (0..3).map(|_| join(directory.path())).collect();
    let frames: Vec<Vec<u8>> = (0..40).map(|number: u8| vec![number; 60 + usize::from(number) * 200]).collect();
    for (number, frame) in frames.iter().enumerate() {
        wires[1].send_ethernet(frame);
        wires[1].send(numbered(LID, 0x40, 8, number as u32)).unwrap();
    }
    for number in 0..frames.len() {
        assert_eq!(recv_within(&mut wires[0], PATIENCE), Some(numbered(LID, 0x40, 8, number as u32)));
    }
    // A device that gets no packets takes frames out all the same.
    assert_eq!(recv_within(&mut wires[2], Duration::from_millis(50)), None);
    for wire in [0, 2] {
        let found: Vec<_> = std::iter::from_fn(|| wires[wire].recv_ethernet()).collect();
        assert_eq!(found, frames);
    }
    assert_eq!((recv(&mut wires[1]), wires[1].recv_ethernet()), (None, None));
    // A device that takes no frames out loses frames. A device that has left leaves no trace.
    wires.pop();
    for _ in 0..1000 {
        wires[1].send_ethernet(&[7; 9000]);
    }
    while recv(&mut wires[0]).is_some() || !wires[0].inbound.iter().all(|inbound| inbound.reader.is_empty()) {}
    let found = std::iter::from_fn(|| wires[0].recv_ethernet()).count();
    assert!((100..1000).contains(&found), "{found}");
    let lost: Vec<_> = std::iter::from_fn(|| wires[1].next_dropped()).collect();
    assert_eq!(lost, [(Dropped::NoRoomThere, 1000 - found as u64)], "each is counted");
    // One that takes them out of the ring, and not from the wire, loses them there.
    for _ in 0..ETHERNET_FRAMES + 7 {
        wires[1].send_ethernet(&[9; 60]);
    }
    while recv(&mut wires[0]).is_some() || !wires[0].inbound.iter().all(|inbound| inbound.reader.is_empty()) {}
    assert_eq!(std::iter::from_fn(|| wires[0].recv_ethernet()).count(), ETHERNET_FRAMES);
    let lost: Vec<_> = std::iter::from_fn(|| wires[0].next_dropped()).collect();
    assert_eq!(lost, [(Dropped::NoRoomHere, 7)]);
    assert_eq!(wires[1].next_dropped(), None);
    // The next one in its place is found, as soon as it is seen that the other is gone.
    wires.push(join(directory.path()));
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        next_step(&mut wires[1]);
        wires[1].send_ethernet(&[8; 60]);
        assert_eq!(recv_within(&mut wires[2], Duration::from_millis(5)), None);
        if let Some(frame) = wires[2].recv_ethernet() {
            return assert_eq!(frame, [8; 60]);
        }
    }
    panic!("no frame reaches the next one");
}

/// Other spellings of a slot's number are no slot.
#[test]
fn a_frame_reaches_each_slot_once() {
    let _alone = FORKING.lock();
    let (directory, mut a, mut b) = two();
    for name in ["slot-1.socket", "slot-00001.socket", "slot-+001.socket", "slot-+1.socket", "slot-0001.socket~"] {
        std::fs::write(directory.path().join(Directory::NAME).join(name), []).unwrap();
    }
    a.send_ethernet(&[7; 60]);
    a.send(numbered(LID, 0x4000, 8, 1)).unwrap();
    assert_eq!(recv_within(&mut b, PATIENCE), Some(numbered(LID, 0x4000, 8, 1)));
    assert_eq!(std::iter::from_fn(|| b.recv_ethernet()).collect::<Vec<_>>(), [[7; 60]]);
}

#[test]
fn frames_pass_between_instances_and_to_oneself() {
    let (_directory, mut a, mut b) = two();
    for psn in 0..100 {
        a.send(numbered(LID, 0x4000, psn as usize * 40, psn)).unwrap();
        b.send(numbered(LID, 0x40, psn as usize * 40, psn)).unwrap();
        a.send(numbered(LID, 0x41, 4, psn)).unwrap();
    }
    for psn in 0..100 {
        assert_eq!(recv_within(&mut b, PATIENCE), Some(numbered(LID, 0x4000, psn as usize * 40, psn)));
        assert_eq!(recv(&mut a), Some(numbered(LID, 0x41, 4, psn)));
    }
    for psn in 0..100 {
        assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, psn as usize * 40, psn)));
    }
    assert_eq!((recv(&mut a), recv(&mut b)), (None, None));
}

#[test]
fn frames_for_nobody_and_for_others_vanish() {
    let (_directory, mut a, mut b) = two();
    a.send(frame(LID + 1, 0x4000, 8)).unwrap();
    a.send(frame(LID + 1, 0x40, 8)).unwrap();
    a.send(frame(LID, 0x8000, 8)).unwrap();
    a.send(Frame { packet: vec![1; 5], ..frame(LID, 0x4000, 8) }).unwrap();
    assert_eq!((recv(&mut a), recv(&mut b)), (None, None));
}

#[test]
fn a_new_owner_of_a_slot_gets_nothing_that_was_for_the_old_one() {
    let _alone = FORKING.lock();
    let (directory, mut a, b) = two();
    a.send(numbered(LID, 0x4000, 8, 1)).unwrap();
    drop(b);
    a.send(numbered(LID, 0x4000, 8, 2)).unwrap();
    let mut b = join(directory.path());
    assert_eq!(b.qpns(), 0x4040..0x8000);
    // As soon as it is seen that the old one is gone.
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        a.send(numbered(LID, 0x4000, 8, 3)).unwrap();
        if let Some(frame) = recv_within(&mut b, Duration::from_millis(5)) {
            assert_eq!(frame, numbered(LID, 0x4000, 8, 3));
            break;
        }
    }
    // And the other way: a new sender in the slot of an old one, whose last frames still arrive.
    b.send(numbered(LID, 0x40, 8, 4)).unwrap();
    assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 4)));
    b.send(numbered(LID, 0x40, 8, 5)).unwrap();
    drop(b);
    let mut b = join(directory.path());
    b.send(numbered(LID, 0x40, 8, 6)).unwrap();
    let mut got = [(); 2].map(|()| recv_within(&mut a, PATIENCE).unwrap());
    got.sort_by_key(|frame| frame.packet[11]);
    assert_eq!(got, [5, 6].map(|psn| numbered(LID, 0x40, 8, psn)));
    assert_eq!(recv(&mut a), None);
}

/// Its first frames are its last: an acknowledgement, for example.
#[test]
fn frames_of_a_sender_that_has_gone_before_it_was_let_in_arrive() {
    let _alone = FORKING.lock();
    let (_directory, mut a, mut b) = two();
    a.send(numbered(LID, 0x4000, 8, 1)).unwrap();
    drop(a);
    assert_eq!(recv_within(&mut b, PATIENCE), Some(numbered(LID, 0x4000, 8, 1)));
    let start = Instant::now();
    while !b.inbound.is_empty() {
        assert!(start.elapsed() < PATIENCE, "its ring is kept for ever");
        assert_eq!(recv(&mut b), None);
    }
}

#[test]
fn a_sender_learns_whether_its_frames_are_answered() {
    let _alone = FORKING.lock();
    let (_directory, mut a, mut b) = two();
    let flush = |wire: &mut ShmWire, arrived| {
        wire.advance(Duration::ZERO);
        wire.flush(arrived);
    };
    assert!(!a.is_kept_waiting_by(0x4040), "nothing was sent");
    for psn in 0..3 {
        a.send(numbered(LID, 0x4040, 8, psn)).unwrap();
    }
    assert!(a.is_kept_waiting_by(0x4040) && !a.is_kept_waiting_by(0x8040) && !a.is_kept_waiting_by(0x40));
    assert!(recv_within(&mut b, PATIENCE).is_some());
    flush(&mut b, Arrived::Answered);
    assert!(a.is_kept_waiting_by(0x4040), "two are left");
    assert!((0..2).all(|_| recv_within(&mut b, PATIENCE).is_some()));
    flush(&mut b, Arrived::Unanswered);
    assert!(a.is_kept_waiting_by(0x4040));
    flush(&mut b, Arrived::Answered);
    assert!(!a.is_kept_waiting_by(0x4040));
    // A device that takes nothing on purpose is waited for as little as one that is dead.
    a.send(numbered(LID, 0x4040, 8, 3)).unwrap();
    assert!(a.is_kept_waiting_by(0x4040));
    flush(&mut b, Arrived::Ignored);
    assert!(!a.is_kept_waiting_by(0x4040));
    a.send(numbered(LID, 0x4040, 8, 4)).unwrap();
    assert!(a.is_kept_waiting_by(0x4040));
    drop(b);
    // The thread that listens sees it in a moment. The wire's own time stands still.
    let start = Instant::now();
    while a.is_kept_waiting_by(0x4040) {
        assert!(start.elapsed() < PATIENCE, "the dead are waited for");
        a.advance(Duration::ZERO);
    }
}

/// The first frame from a peer comes by a new connection, and the thread that lets it in may have no CPU.
#[test]
fn the_last_word_of_a_peer_is_heard() {
    let _alone = FORKING.lock();
    for leaves in [false, true].repeat(50) {
        let (_directory, mut a, mut b) = two();
        a.send(frame(LID, 0x4040, 8)).unwrap();
        let request = recv_within(&mut b, PATIENCE).expect("the request");
        b.send(numbered(LID, 0x40, 8, 1)).unwrap();
        b.flush(Arrived::Answered);
        let b = (!leaves).then_some((b, request));
        let answer = loop {
            if let Some(answer) = recv(&mut a) {
                break answer;
            }
            assert!(a.is_kept_waiting_by(0x4040), "the sender's timer runs, and the answer is there");
        };
        assert_eq!(answer, numbered(LID, 0x40, 8, 1));
        assert!(!a.is_kept_waiting_by(0x4040), "{b:?}");
    }
}

/// A neighbour that always has something to say.
#[test]
fn others_do_not_hide_that_a_peer_is_silent() {
    let _alone = FORKING.lock();
    let (directory, mut a, mut b) = two();
    let mut other = join(directory.path());
    a.send(frame(LID, 0x4040, 8)).unwrap();
    assert!(recv_within(&mut b, PATIENCE).is_some());
    b.flush(Arrived::Answered);
    other.send(frame(LID, 0x40, 8)).unwrap();
    let mut waits = 0;
    for _ in 0..5 {
        // Two queue pairs of a step wait for the same.
        let both = [a.is_kept_waiting_by(0x4040), a.is_kept_waiting_by(0x4040)];
        assert_eq!(both[0], both[1]);
        waits += u32::from(both[0]);
        other.send(frame(LID, 0x40, 8)).unwrap();
        a.advance(Duration::ZERO);
    }
    assert_eq!(waits, 1);
}

/// A peer is met with the descriptors, the root and the rights of the time when the device was opened.
#[test]
fn peers_meet_without_descriptors_of_their_process() {
    let directory = tempfile::tempdir().unwrap();
    let of_the_fabric = || {
        let open =
            std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        open.filter(|target| target.starts_with(directory.path())).count()
    };
    let (mut a, mut b) = (join(directory.path()), join(directory.path()));
    a.send(numbered(LID, 0x4000, 8, 1)).unwrap();
    assert_eq!(recv_within(&mut b, PATIENCE), Some(numbered(LID, 0x4000, 8, 1)));
    assert_eq!((of_the_fabric(), a.descriptors(), b.descriptors()), (0, vec![], vec![]));
    // A path would lead nowhere now. The folder that the threads are in is still the fabric's.
    let moved = directory.path().join("moved");
    std::fs::rename(directory.path().join(Directory::NAME), moved).unwrap();
    b.send(numbered(LID, 0x40, 8, 2)).unwrap();
    assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 2)));
}

#[test]
fn a_full_ring_gives_frames_back_until_there_is_room() {
    let (_directory, mut a, mut b) = two();
    let mut sent = 0;
    while a.send(numbered(LID, 0x4000, 4096, sent)).is_ok() {
        sent += 1;
        assert!(sent < 1000, "the ring has no end");
    }
    for psn in 0..sent {
        assert_eq!(recv_within(&mut b, PATIENCE), Some(numbered(LID, 0x4000, 4096, psn)));
    }
    a.send(numbered(LID, 0x4000, 4096, sent)).unwrap();
    assert_eq!(recv(&mut b), Some(numbered(LID, 0x4000, 4096, sent)));
}

#[test]
fn a_missing_directory_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let fault = ShmWire::join(&directory.path().join("none"), &[1], &[]).unwrap_err();
    assert!(matches!(fault, ShmError::Io { .. }), "{fault}");
}

#[test]
fn a_forked_child_that_drops_its_copy_leaves_the_slot_to_its_parent() {
    let _alone = FORKING.lock();
    let (directory, mut a, mut b) = two();
    // SAFETY: the child only drops its copy (memory is unmapped, files are closed) and exits at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(b);
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(join(directory.path()).qpns(), 0x8040..0xc000);
    a.send(frame(LID, 0x4000, 8)).unwrap();
    assert_eq!(recv_within(&mut b, PATIENCE), Some(frame(LID, 0x4000, 8)));
}

/// A packet for a QP at a GID.
fn to_gid(gid: Gid, dest_qp: u32) -> Frame {
    let grh = Grh {
        kind: gid.kind,
        sgid: gid.raw,
        dgid: gid.raw,
        traffic_class: 0,
        flow_label: 0,
        hop_limit: 64,
        udp_sport: 0,
    };
    Frame { route: Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() }, ..frame(0, dest_qp, 4) }
}

fn gid(number: u8) -> Gid {
    Gid { raw: [number; 16], kind: GidType::RoceV2 }
}

#[test]
fn addresses_change_while_devices_live() {
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    let mut wires: Vec<_> = (0..4).map(|_| ShmWire::join(directory.path(), &[], &[]).unwrap()).collect();
    let qpn = wires[1].qpns().start;
    let announce = |wires: &mut Vec<ShmWire>, index: usize, gids: &[Gid], owns_gsi| {
        wires[index].announce(Announcement { gids: gids.to_vec(), owns_gsi, groups: Vec::new() });
    };
    let short = Duration::from_millis(20);
    wires[0].send(to_gid(gid(7), qpn)).unwrap();
    let start = Instant::now();
    while wires[1].inbound.first().is_none_or(|inbound| !inbound.reader.is_empty()) {
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(recv(&mut wires[1]), None);
    }
    announce(&mut wires, 1, &[gid(7)], true);
    wires[0].send(to_gid(gid(7), qpn)).unwrap();
    assert_eq!(recv_within(&mut wires[1], PATIENCE), Some(to_gid(gid(7), qpn)));
    // QP 1: of all that have the address and answer, also of the sender itself, but not of others.
    announce(&mut wires, 2, &[gid(7), gid(8)], true);
    announce(&mut wires, 3, &[gid(7)], false);
    announce(&mut wires, 0, &[gid(8)], true);
    wires[2].send(to_gid(gid(7), GSI_QPN)).unwrap();
    assert_eq!(recv_within(&mut wires[1], PATIENCE), Some(to_gid(gid(7), GSI_QPN)));
    assert_eq!(recv_within(&mut wires[2], PATIENCE), Some(to_gid(gid(7), GSI_QPN)));
    for index in [0, 3, 1, 2] {
        assert_eq!(recv_within(&mut wires[index], short), None, "{index}");
    }
    // Frames under way to an address that was given up are lost.
    wires[0].send(to_gid(gid(7), qpn)).unwrap();
    announce(&mut wires, 1, &[], true);
    assert_eq!(recv_within(&mut wires[1], short), None);
}

#[test]
fn a_datagram_to_a_group_reaches_all_members_and_its_sender_if_it_is_one() {
    const GROUP: [u8; 16] = [0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    let mut wires = [(); 3].map(|()| join(directory.path()));
    for member in [0, 2] {
        wires[member].announce(Announcement { groups: vec![GROUP], ..Announcement::default() });
    }
    let grh = Grh {
        kind: GidType::InfiniBand,
        sgid: [0xfe; 16],
        dgid: GROUP,
        traffic_class: 0,
        flow_label: 0,
        hop_limit: 1,
        udp_sport: 0,
    };
    let datagram = frame(0xc001, 0xff_ffff, 16);
    let datagram = Frame { route: Route { grh: Some(grh), ..datagram.route }, ..datagram };
    for sender in 0..3 {
        wires[sender].advance(Duration::ZERO);
        wires[sender].send(datagram.clone()).unwrap();
        for member in [0, 2] {
            assert_eq!(recv_within(&mut wires[member], PATIENCE), Some(datagram.clone()), "{sender} to {member}");
        }
        assert_eq!(recv(&mut wires[1]), None, "{sender}");
    }
}

#[test]
fn a_neighbour_is_there_as_long_as_it_has_the_gid() {
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    let gid = |last| Gid { raw: [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last], kind: GidType::RoceV2 };
    let with = |gids: &[Gid]| ShmWire::join(directory.path(), &[], gids).unwrap();
    let mut a = with(&[gid(1)]);
    let mut has = |last| a.neighbour(gid(1).raw, gid(last).raw).is_some();
    assert_eq!([1, 2, 3].map(&mut has), [true, false, false]);
    let mut b = with(&[gid(2), gid(3)]);
    assert_eq!([2, 3, 4].map(&mut has), [true, true, false]);
    b.announce(Announcement { gids: vec![gid(4)], ..Announcement::default() });
    assert_eq!([2, 3, 4].map(&mut has), [false, false, true]);
    drop(b);
    assert!(!has(4));
}
