//! Compressed CQEs: the device compresses similar completions into mini-CQEs, which saves bandwidth of the bus.

use blueflame::cq::compressed::Checksum;
use blueflame::transport::Rc;
use blueflame::verbs::{Device, QueuePair};
use blueflame::{WrId, wqe};
use howto::{End, Failure};

const MESSAGES: usize = 64;
/// Bytes of a buffer.
const BYTES: usize = 64;
/// Bytes that the first message is shorter than the last.
const STEPS: usize = 8;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;
    let memory = howto::buffer(&pd, MESSAGES * BYTES)?;
    let mut sender = End::new(&pd)?;

    // ANCHOR: build
    // The format says which field of a receive the mini-CQEs carry beside its length: here the checksum.
    let mut cq = device.completion_queue(129 + MESSAGES as u32).compressed::<Checksum>().build()?;
    let mut pair = pd.queue_pair::<Rc>(&cq, &cq).receives(MESSAGES as u32).build()?;
    // ANCHOR_END: build
    howto::connect(&path, &mut sender.pair, &mut pair)?;
    let QueuePair { mut rq, .. } = pair;
    let mut batch = rq.batch();
    for n in 0..MESSAGES {
        // SAFETY: the memory is registered longer than the queue lives, and read after the completion.
        unsafe { batch.push_unchecked(WrId(n as u64), &[memory.sge_of(n * BYTES..(n + 1) * BYTES)])? };
    }
    batch.ring_doorbell();

    // A burst, so that completions come close enough to one another to be compressed.
    let message: [u8; BYTES] = std::array::from_fn(|n| n as u8);
    let length = |n: usize| BYTES - STEPS + n * STEPS / MESSAGES;
    for half in [0..MESSAGES / 2, MESSAGES / 2..MESSAGES] {
        let last = half.end - 1;
        let mut batch = sender.pair.sq.batch();
        for n in half {
            let send = wqe::send().inline_slice(&message[..length(n)]);
            batch.push(&send.signaled_if(n == last, WrId(n as u64)))?;
        }
        batch.ring_doorbell();
        sender.sent()?;
    }

    // ANCHOR: poll
    // As for any other queue: each completion is expanded, in order, with its own length and index.
    let mut received = 0;
    howto::until(|| {
        cq.try_poll_with(16, |cqe| -> Result<(), Failure> {
            let message = rq.complete(&cqe)?;
            assert_eq!((message.buffer, message.bytes as usize), (WrId(received as u64), length(received)));
            received += 1;
            Ok(())
        })?;
        Ok((received == MESSAGES).then_some(()))
    })?;
    // ANCHOR_END: poll
    for n in 0..MESSAGES {
        assert_eq!(memory.to_vec(n * BYTES..n * BYTES + length(n)), message[..length(n)]);
    }
    println!("{received} completions from a queue that the device compresses");
    Ok(())
}
