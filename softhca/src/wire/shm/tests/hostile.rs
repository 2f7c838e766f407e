//! Neighbours that break the rules, do not answer, or do not read.
//!
//! Tests of hostile neighbours belong here, of well-behaved ones in `tests.rs`.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::super::contacts::ARRIVAL_LIFE;
use super::super::ring::Writer;
use super::super::slot::Received;
use super::*;

/// A neighbour may advance its tail for ever. Each call of `recv` then drops a bounded number of records, and reports
/// that more wait.
#[test]
fn a_neighbour_that_only_advances_its_tail_holds_nobody_up() {
    let _alone = FORKING.lock();
    let (directory, mut a, mut b) = two();
    let connection = fabric(directory.path()).connect(0).unwrap().expect("the first instance");
    let (mut neighbour, memory) = Writer::create().unwrap();
    connection.send([&memory]).unwrap();
    let start = Instant::now();
    while a.inbound.is_empty() {
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(recv(&mut a), None);
    }
    // It is for no one. Zeros are empty packets by its route.
    neighbour.push(&frame(LID + 1, 0x40, 0)).unwrap();
    for _ in 0..100 {
        neighbour.claim_all();
        assert_eq!(recv(&mut a), None);
        assert!(!a.inbound[0].reader.is_empty() && a.is_holding(), "one call does not drop all");
    }
    // It stops; packets that another device has sent meanwhile arrive.
    b.send(numbered(LID, 0x40, 8, 7)).unwrap();
    assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 7)));
    let start = Instant::now();
    while !a.inbound.iter().all(|inbound| inbound.reader.is_empty()) {
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(recv(&mut a), None);
    }
    assert_eq!((recv(&mut a), a.is_holding()), (None, false));
}

/// Senders have [`SLOTS`] places. One that connects and hands over nothing keeps its own until another one needs it: it
/// may be no enemy, but have no CPU.
#[test]
fn mute_senders_make_room_for_others_only() {
    let _alone = FORKING.lock();
    // Both ends of all connections are ours.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let (directory, mut a, mut b) = two();
    let fabric = fabric(directory.path());
    let mute: Vec<_> = (0..SLOTS).map(|_| fabric.connect(0).unwrap().expect("the first instance")).collect();
    let is_closed = |connection: &slot::Connection| matches!(connection.receive(), Received::Closed);
    let begin = Instant::now();
    while begin.elapsed() < 2 * ARRIVAL_LIFE {
        assert_eq!((recv(&mut a), mute.iter().position(is_closed)), (None, None));
        thread::sleep(Duration::from_millis(50));
    }
    // One hands its ring over late, and one makes room.
    let (_, ring) = Writer::create().unwrap();
    mute[0].send([&ring]).unwrap();
    let begin = Instant::now();
    while a.inbound.is_empty() {
        assert!(begin.elapsed() < PATIENCE);
        assert_eq!(recv(&mut a), None);
    }
    b.send(numbered(LID, 0x40, 8, 7)).unwrap();
    assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 7)));
    assert_eq!((is_closed(&mute[0]), mute.iter().filter(|mute| is_closed(mute)).count()), (false, 1));
}

/// A peer that lives and is not stopped may be slow. It may also be hostile, and never answer.
#[test]
fn a_peer_that_owes_an_answer_for_too_long_is_waited_for_no_longer() {
    const LIFE: Duration = Duration::from_millis(200);
    let _alone = FORKING.lock();
    let directory = tempfile::tempdir().unwrap();
    // Debts are dated by the wire's last step, the earliest of which is its joining.
    let start = Instant::now();
    let (mut a, mut b) = (join(directory.path()).with_answer_life(LIFE), join(directory.path()));
    for psn in 0..4 {
        a.send(numbered(LID, 0x4040, 8, psn)).unwrap();
    }
    // It answers one frame of four, now and then.
    let mut waits = 0;
    while a.is_kept_waiting_by(0x4040) {
        waits += 1;
        assert!(start.elapsed() < PATIENCE, "for ever");
        if waits % 20 == 1 && waits < 60 {
            assert!(recv_within(&mut b, PATIENCE).is_some());
            b.flush(Arrived::Answered);
        }
        thread::sleep(Duration::from_millis(5));
        a.advance(Duration::ZERO);
    }
    assert!(start.elapsed() >= LIFE && waits > 0);
    // It has answered late, and owes the next answer from now on.
    while recv_within(&mut b, LIFE / 10).is_some() {}
    b.flush(Arrived::Answered);
    assert!(!a.is_kept_waiting_by(0x4040));
    a.send(numbered(LID, 0x4040, 8, 5)).unwrap();
    assert!(a.is_kept_waiting_by(0x4040));
}

/// Another process' part of a fabric, which obeys no rule: it has the memory of instance 0, and hands over a ring.
fn hostile_neighbour(directory: &Path, wire: &mut ShmWire) -> (slot::Connection, Vec<File>) {
    let connection = fabric(directory).connect(0).unwrap().expect("the first instance");
    let (_, ring) = Writer::create().unwrap();
    connection.send([&ring]).unwrap();
    let start = Instant::now();
    let own = loop {
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(recv(wire), None);
        if let Received::Memory(own, bell) = connection.receive() {
            break [Some(own), bell];
        }
    };
    (connection, own.into_iter().flatten().map(File::from).collect())
}

/// One that stores to each word that it can, once, costs at most one sleep: frames still go by the same ring, and each
/// sleep is ended.
#[test]
fn a_neighbour_that_writes_wherever_it_can_slows_nobody_down_for_good() {
    const ROUNDS: usize = 50;
    let _alone = FORKING.lock();
    let (directory, mut a, mut b) = two();
    let (_connection, memory) = hostile_neighbour(directory.path(), &mut a);
    b.send(numbered(LID, 0x40, 8, 0)).unwrap();
    assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 0)));
    let (senders, notify) = (a.inbound.len(), a.notify());
    // Before it has the answer of its peer, it cannot wake it.
    let start = Instant::now();
    let mut is_met = false;
    while !is_met {
        assert!(start.elapsed() < PATIENCE);
        let seen = notify.prepare();
        b.advance(Duration::ZERO);
        b.send(numbered(LID, 0x40, 8, 0)).unwrap();
        b.flush(Arrived::Unanswered);
        is_met = notify.prepare() != seen;
        notify.cancel();
        assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, 0)));
    }
    for stored in [0_u8, 1, 0x7f, 0xff] {
        let written = memory.iter().filter(|memory| memory.write_all_at(&[stored; 4096], 0).is_ok()).count();
        assert_eq!(written, 1, "the bell");
        // The sleep of that moment.
        notify.cancel();
        let mut awoken = 0;
        for psn in 0..ROUNDS as u32 {
            let seen = notify.prepare();
            b.advance(Duration::ZERO);
            b.send(numbered(LID, 0x40, 8, psn)).unwrap();
            b.flush(Arrived::Unanswered);
            awoken += usize::from(notify.prepare() != seen);
            notify.cancel();
            assert_eq!(recv_within(&mut a, PATIENCE), Some(numbered(LID, 0x40, 8, psn)));
        }
        assert_eq!(awoken, ROUNDS, "after stores of {stored:#x}");
        assert_eq!(a.inbound.len(), senders, "the sender reaches its peer once");
    }
}

#[test]
fn a_receiver_that_stopped_reading_holds_its_sender_up_for_a_bounded_time() {
    let (_directory, mut a, mut b) = two();
    while a.send(frame(LID, 0x4000, 4096)).is_ok() {}
    let start = Instant::now();
    while a.send(frame(LID, 0x4000, 4096)).is_err() {
        assert!(start.elapsed() < HEAD_OF_QUEUE_LIFE * 5);
        thread::sleep(Duration::from_millis(1));
    }
    assert!(start.elapsed() > HEAD_OF_QUEUE_LIFE / 2);
    while recv_within(&mut b, Duration::from_millis(100)).is_some() {}
    a.send(frame(LID, 0x4000, 12)).unwrap();
    assert_eq!(recv(&mut b), Some(frame(LID, 0x4000, 12)));
}

/// Damage to the files kills no process, and devices that have met go on.
#[test]
fn files_of_the_fabric_can_be_cut_off() {
    let (directory, mut a, mut b) = two();
    let pass = |from: &mut ShmWire, to: &mut ShmWire, qpn, psn| {
        from.send(numbered(LID, qpn, 4096, psn)).unwrap();
        assert_eq!(recv_within(to, PATIENCE), Some(numbered(LID, qpn, 4096, psn)));
    };
    pass(&mut a, &mut b, 0x4000, 1);
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        }
    }
    for psn in 2..600 {
        pass(&mut a, &mut b, 0x4000, psn);
        pass(&mut b, &mut a, 0x40, psn);
    }
}

/// A peer cannot hand over memory that it could take away later.
#[test]
fn senders_with_memory_that_is_not_sealed_are_not_let_in() {
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path());
    let fabric = fabric(directory.path());
    let good = Writer::create().unwrap().1;
    for (memory, is_let_in) in [(tempfile::tempfile().unwrap().into(), false), (good, true)] {
        let connection = fabric.connect(0).unwrap().unwrap();
        connection.send([&memory]).unwrap();
        let start = Instant::now();
        let answer = loop {
            assert_eq!(recv(&mut wire), None);
            match connection.receive() {
                Received::Nothing => assert!(start.elapsed() < PATIENCE),
                other => break other,
            }
            thread::sleep(Duration::from_micros(50));
        };
        assert_eq!(matches!(answer, Received::Memory(..)), is_let_in, "{answer:?}");
        assert_eq!(wire.inbound.len(), usize::from(is_let_in));
    }
}

#[test]
fn garbage_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let slots = directory.path().join(Directory::NAME);
    std::fs::create_dir(&slots).unwrap();
    std::fs::write(slots.join("slot-0001"), vec![0xff; 100]).unwrap();
    std::fs::write(slots.join("slot-0002.socket"), "no socket").unwrap();
    let (mut a, mut b) = (join(directory.path()), join(directory.path()));
    a.send(frame(LID, 0x8000, 8)).unwrap();
    a.send(frame(LID, 0xc000, 8)).unwrap();
    // One process has connected and is silent; another one is gone at once.
    let fabric = fabric(directory.path());
    let silent = fabric.connect(1).unwrap().unwrap();
    drop(fabric.connect(1).unwrap().unwrap());
    a.send(frame(LID, 0x4000, 8)).unwrap();
    assert_eq!(recv_within(&mut b, PATIENCE), Some(frame(LID, 0x4000, 8)));
    drop(silent);
}
