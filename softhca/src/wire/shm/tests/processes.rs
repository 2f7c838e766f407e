//! Rings between processes, which also die. Each test runs this test binary again as another process, which does what
//! [`ROLE`] says.
//!
//! Tests of several processes belong here, of several instances in one process in `tests.rs`.

use std::{
    env,
    process::{Child, Command, Stdio},
    thread,
};

use super::*;

const ROLE: &str = "SOFTHCA_TEST_ROLE";
const DIRECTORY: &str = "SOFTHCA_TEST_DIRECTORY";
const MESSAGES: u32 = 20_000;
const MOVES: u8 = 50;

fn spawn(role: &str, directory: &Path) -> Child {
    let _alone = FORKING.lock();
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "wire::shm::tests::processes::other_process", "--nocapture"])
        .env(ROLE, role)
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test of its own: the part of the other process.
#[test]
fn other_process() {
    let (Ok(role), Some(directory)) = (env::var(ROLE), env::var_os(DIRECTORY)) else { return };
    let mut wire = join(Path::new(&directory));
    let notify = wire.notify();
    let next = |wire: &mut ShmWire| loop {
        if let Some(frame) = recv(wire) {
            break frame;
        }
        let seen = notify.prepare();
        if let Some(frame) = recv(wire) {
            notify.cancel();
            break frame;
        }
        notify.wait(seen, Duration::from_millis(5));
    };
    match role.as_str() {
        // Send each frame back, whole.
        "echo" => {
            wire.send(frame(LID, 0x40, 0)).unwrap();
            for _ in 0..MESSAGES {
                let Frame { route, mut packet, .. } = next(&mut wire);
                packet[5..8].copy_from_slice(&[0, 0, 0x40]);
                let mut frame = Frame::new(route, packet);
                while let Err(back) = wire.send(frame) {
                    frame = back;
                    thread::yield_now();
                }
            }
        }
        // Read a little, then nothing more, until killed.
        "stuck" => {
            wire.send(frame(LID, 0x40, 0)).unwrap();
            for _ in 0..10 {
                next(&mut wire);
            }
            thread::sleep(Duration::from_secs(60));
        }
        // Send nothing more, and receive nothing, until killed.
        "mute" => {
            wire.send(frame(LID, 0x40, 0)).unwrap();
            thread::sleep(Duration::from_secs(60));
        }
        // Write as fast as it goes, until killed in the middle of it.
        "flood" => {
            for psn in 0.. {
                let mut frame = numbered(LID, 0x40, 4096, psn);
                while let Err(back) = wire.send(frame) {
                    frame = back;
                }
            }
        }
        // Be at one address after the other, and get the packets for the present one.
        "moving" => {
            for number in 1..=MOVES {
                wire.announce(Announcement { gids: vec![gid(number)], owns_gsi: true, groups: Vec::new() });
                wire.send(numbered(LID, 0x40, 4, number.into())).unwrap();
                for qpn in [0x4000, GSI_QPN] {
                    let arrived = next(&mut wire);
                    assert_eq!(
                        (arrived.route.grh.unwrap().dgid[0], Packet::dest_qp(&arrived.packet)),
                        (number, Some(qpn))
                    );
                }
            }
        }
        other => panic!("role {other}"),
    }
}

#[test]
fn processes_exchange_frames_of_all_sizes() {
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path());
    let mut child = spawn("echo", directory.path());
    assert!(recv_within(&mut wire, PATIENCE).is_some(), "the other process is up");
    let message = |psn: u32, qpn| numbered(LID, qpn, psn as usize % 4097, psn);
    let (mut sent, mut got) = (0, 0);
    while got < MESSAGES {
        while sent < MESSAGES && sent - got < 300 && wire.send(message(sent, 0x4000)).is_ok() {
            sent += 1;
        }
        if let Some(frame) = recv_within(&mut wire, PATIENCE) {
            let mut expected = message(got, 0x4000);
            expected.packet[5..8].copy_from_slice(&[0, 0, 0x40]);
            assert!(frame == expected, "message {got}");
            got += 1;
        } else {
            panic!("message {got} of {sent} is missing");
        }
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_process_is_at_the_address_that_it_has_now() {
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path());
    let mut child = spawn("moving", directory.path());
    for number in 1..=MOVES {
        let here = recv_within(&mut wire, PATIENCE).expect("the other process is at its next address");
        assert_eq!(here, numbered(LID, 0x40, 4, number.into()));
        for qpn in [0x4000, GSI_QPN] {
            // Where it was, where it will be, and where it is.
            for at in [number - 1, number + 1, number] {
                wire.send(to_gid(gid(at), qpn)).unwrap();
            }
        }
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_dies_frees_its_sender_and_its_slot() {
    let directory = tempfile::tempdir().unwrap();
    // Only death ends its waiting, however long this machine takes to kill a process.
    let mut wire = join(directory.path()).with_head_of_queue_life(PATIENCE);
    let mut child = spawn("stuck", directory.path());
    assert!(recv_within(&mut wire, PATIENCE).is_some(), "the other process is up");
    while wire.send(frame(LID, 0x4000, 4096)).is_ok() {}
    child.kill().unwrap();
    child.wait().unwrap();
    let start = Instant::now();
    next_step(&mut wire);
    while wire.send(frame(LID, 0x4000, 4096)).is_err() {
        assert!(start.elapsed() < PATIENCE / 2, "death is noticed before the head of queue lifetime is over");
        thread::sleep(Duration::from_millis(1));
        next_step(&mut wire);
    }
    let mut heir = join(directory.path());
    assert_eq!(heir.qpns(), 0x4040..0x8000);
    wire.send(frame(LID, 0x4000, 64)).unwrap();
    assert_eq!(recv_within(&mut heir, PATIENCE), Some(frame(LID, 0x4000, 64)));
}

#[test]
fn a_writer_that_dies_leaves_only_whole_frames() {
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path());
    for round in 0..5 {
        let mut child = spawn("flood", directory.path());
        let mut psn = 0;
        while psn < 500 * (round + 1) {
            let got = recv_within(&mut wire, PATIENCE).expect("a frame");
            assert!(got == numbered(LID, 0x40, 4096, psn), "frame {psn}");
            psn += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        while let Some(got) = recv(&mut wire) {
            assert!(got == numbered(LID, 0x40, 4096, psn), "frame {psn}");
            psn += 1;
        }
        assert!(wire.inbound.len() <= 2, "rings of the dead are let go");
    }
}

/// A NIC answers while its program is stopped. This device cannot, so its peers wait.
#[test]
fn a_stopped_process_is_waited_for() {
    const LIFE: Duration = Duration::from_millis(50);
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path()).with_answer_life(LIFE);
    let mut child = spawn("mute", directory.path());
    assert!(recv_within(&mut wire, PATIENCE).is_some(), "the other process is up");
    // SAFETY: signals to a child that nobody has waited for.
    let signal = |signal| assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    signal(libc::SIGSTOP);
    wire.send(frame(LID, 0x4000, 8)).unwrap();
    let owed = Instant::now();
    while owed.elapsed() < LIFE * 6 {
        wire.advance(Duration::ZERO);
        assert!(wire.is_kept_waiting_by(0x4000), "after {:?}", owed.elapsed());
        thread::sleep(LIFE / 5);
    }
    signal(libc::SIGCONT);
    while wire.is_kept_waiting_by(0x4000) {
        assert!(owed.elapsed() < PATIENCE, "it runs, and owes an answer for ever");
        thread::sleep(LIFE / 5);
        wire.advance(Duration::ZERO);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// However long it was stopped, it has as much time as any other from then on. The wire's own time is the test's.
#[test]
fn a_process_that_goes_on_has_time_to_answer() {
    const LIFE: Duration = Duration::from_secs(60);
    let directory = tempfile::tempdir().unwrap();
    let mut wire = join(directory.path()).with_answer_life(LIFE);
    let mut child = spawn("mute", directory.path());
    assert!(recv_within(&mut wire, PATIENCE).is_some(), "the other process is up");
    let is_stopped_by = |signal, wire: &ShmWire| {
        // SAFETY: signals to a child that nobody has waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let start = Instant::now();
        while wire.contacts.is_stopped(child.id()) != (signal == libc::SIGSTOP) {
            assert!(start.elapsed() < PATIENCE, "signal {signal} does nothing");
        }
    };
    is_stopped_by(libc::SIGSTOP, &wire);
    wire.send(frame(LID, 0x4000, 8)).unwrap();
    for (after, signal) in [(Duration::ZERO, None), (LIFE * 2, Some(libc::SIGCONT)), (LIFE / 2, None)] {
        wire.now = Some(wire.now() + after);
        assert!(wire.is_kept_waiting_by(0x4000), "{after:?} later");
        if let Some(signal) = signal {
            is_stopped_by(signal, &wire);
        }
    }
    wire.now = Some(wire.now() + LIFE);
    assert!(!wire.is_kept_waiting_by(0x4000), "it runs, and owes an answer for ever");
    child.kill().unwrap();
    child.wait().unwrap();
}
