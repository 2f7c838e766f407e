//! Devices on threads of their own, and two threads that spin on completions, as programs do.
//!
//! Threads belong here, devices that the test steps in all other files.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{Buffer, End, Pair, Shape};

const MESSAGES: u64 = 2000;
const BYTES: usize = 200;
const PATIENCE: Duration = Duration::from_secs(60);

fn message(n: u64, from: u8) -> Vec<u8> {
    (0..BYTES as u64).map(|i| (n * 7 + i) as u8 ^ from).collect()
}

/// Sends, and receives the answer, or the other way round; every byte is looked at.
fn ping_pong(mut end: End<transport::Rc>, mut buffer: Buffer, first: bool) {
    let (me, other) = if first { (0x10, 0x20) } else { (0x20, 0x10) };
    let give_up = Instant::now() + PATIENCE;
    let receive = |end: &mut End<transport::Rc>, buffer: &Buffer, slot: u64| {
        // SAFETY: the slot's last message has been looked at; the device outlives the queue.
        unsafe { end.rq.post_unchecked(WrId(slot), &[buffer.slot(slot as usize, BYTES)]) }.expect("room");
    };
    (0..4).for_each(|slot| receive(&mut end, &buffer, slot));
    // The first one begins; the other's n-th message answers the n-th it received.
    let turn = |received: u64| if first { received } else { received.saturating_sub(1) };
    let (mut sent, mut received, mut completed) = (0, 0, 0);
    while received < MESSAGES || completed < MESSAGES {
        if sent < MESSAGES && (first || received > 0) && sent == turn(received) && sent == completed {
            let at = 4 * BYTES;
            buffer.write(at, &message(sent, me));
            let request = wqe::send().gather([buffer.sge(at..at + BYTES)]).signaled(WrId(sent));
            // SAFETY: the bytes are written again when the request is complete.
            unsafe { end.sq.post_unchecked(&request) }.expect("room");
            sent += 1;
        }
        let Some(cqe) = end.cq.poll() else {
            assert!(Instant::now() < give_up, "sent {sent}, received {received}, completed {completed}");
            spin_loop();
            std::thread::yield_now();
            continue;
        };
        match cqe.check().expect("success") {
            Side::Requester => {
                assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(completed));
                completed += 1;
            }
            Side::Responder => {
                let slot = end.rq.retire(&cqe).expect("a posted receive").0;
                assert_eq!(slot, received % 4);
                assert!(
                    buffer.to_vec(slot as usize * BYTES..slot as usize * BYTES + BYTES) == message(received, other),
                    "message {received}"
                );
                received += 1;
                receive(&mut end, &buffer, slot);
            }
        }
    }
}

#[test]
fn two_devices_and_two_programs() {
    let pair = Pair::<transport::Rc>::builder().shape(Shape::SMALL).threaded().connect().expect("a pair");
    let (a, b) = (pair.near.device().clone(), pair.far.device().clone());
    let (ours, theirs) = (a.buffer(5 * BYTES).expect("memory"), b.buffer(5 * BYTES).expect("memory"));
    let Pair { near, far } = pair;
    std::thread::scope(|scope| {
        scope.spawn(|| ping_pong(near, ours, true));
        scope.spawn(|| ping_pong(far, theirs, false));
    });
    for device in [a, b] {
        assert_eq!((device.next_event(), device.complaints()), (None, Vec::new()));
    }
}
