//! Memory polling on the software device: the last byte of a WRITE tells that the message is there.
//!
//! Polling of memory belongs here. Polling of completion queues belongs in `pairs.rs`.

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use blueflame::memory_polling::PolledMemory;
use blueflame::{WrId, transport, wqe};
use blueflame_testkit::{Buffer, Pair, connected_pair};

type Outcome = Result<(), Box<dyn Error>>;

fn polled(buffer: &Buffer) -> PolledMemory<'_> {
    let len = NonZeroUsize::new(buffer.len()).expect("not empty");
    // SAFETY: registered memory that lives as long as the borrow, and that only the device writes.
    unsafe { PolledMemory::from_raw(buffer.ptr(), len) }
}

/// Message number `n` with its flag.
fn message<const N: usize>(n: u32) -> [u8; N] {
    let mut message = [n as u8 ^ 0x5a; N];
    message[N - 1] = (n % 255) as u8 + 1;
    message
}

#[test]
fn a_message_is_there_when_its_flag_is() -> Outcome {
    let mut pair = connected_pair::<transport::Rc>()?;
    let target = pair.far.buffer(32)?;
    let place = polled(&target);
    for n in 0..600 {
        let bytes = message::<32>(n);
        pair.near.sq.post(&wqe::write(target.remote()).inline(&bytes).signaled(WrId(n.into())))?;
        assert!(!place.arrived(bytes[31]), "not before the device has worked");
        pair.run_until_idle()?;
        assert!(place.arrived(bytes[31]));
        let mut payload = [0; 31];
        place.read(0, &mut payload).expect("all of it");
        assert_eq!(payload, bytes[..31]);
        let cqe = pair.near.cq.poll().expect("a completion");
        assert_eq!(pair.near.sq.complete(&cqe)?.wr_id, WrId(n.into()));
    }
    assert!(pair.far.cq.poll().is_none(), "no completion on this side");
    Ok(())
}

/// Messages of many packets, gathered from memory, between devices that run by themselves: no byte of a message is
/// older than its flag.
#[test]
fn nothing_of_a_message_is_missing_when_its_flag_is_seen() -> Outcome {
    const LEN: usize = 3000;
    let mut pair = Pair::<transport::Rc>::builder().threaded().connect()?;
    let (target, mut source) = (pair.far.buffer(LEN)?, pair.near.buffer(LEN)?);
    let place = polled(&target);
    let mut payload = vec![0; LEN - 1];
    let begin = Instant::now();
    for n in 0..300 {
        let bytes = message::<LEN>(n);
        source.write(0, &bytes);
        // SAFETY: the buffer is written again when the request has completed.
        unsafe {
            pair.near.sq.post_unchecked(&wqe::write(target.remote()).gather([source.sge(..)]).signaled(WrId(1)))?
        };
        while !place.arrived(bytes[LEN - 1]) {
            assert!(begin.elapsed() < Duration::from_secs(60), "message {n} does not come");
            std::hint::spin_loop();
        }
        place.read(0, &mut payload).expect("all of it");
        assert!(payload == bytes[..LEN - 1], "message {n}");
        loop {
            assert!(begin.elapsed() < Duration::from_secs(60), "message {n} does not complete");
            if let Some(cqe) = pair.near.cq.poll() {
                pair.near.sq.complete(&cqe)?;
                break;
            }
            std::thread::yield_now();
        }
    }
    Ok(())
}
