//! A burst: many requests, one doorbell, one completion.

use blueflame::verbs::Device;
use blueflame::{WrId, wqe};
use howto::Failure;

const PAGES: usize = 32;
/// Bytes of a page.
const BYTES: usize = 1024;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let (mut near, mut far) = howto::connected(&pd)?;
    let to = far.buffer.remote();
    let data: Vec<u8> = (0..PAGES * BYTES).map(|n| (n / 3) as u8).collect();
    near.buffer.write(0, &data);

    // ANCHOR: burst
    let mut batch = near.pair.sq.batch();
    for n in 0..PAGES {
        let (at, is_last) = (n * BYTES, n + 1 == PAGES);
        let page = near.buffer.sge_of(at..at + BYTES);
        let write = wqe::write(to.at(at as u64)).gather([page]).signaled_if(is_last, WrId(n as u64));
        // SAFETY: the buffer is registered longer than the queue lives, and nobody writes it before `sent`.
        unsafe { batch.push_unchecked(&write)? };
    }
    batch.ring_doorbell();
    // ANCHOR_END: burst
    // One completion for all: requests of a queue pair complete in order.
    assert_eq!(near.sent()?, WrId(PAGES as u64 - 1));
    assert_eq!(far.buffer.to_vec(0..data.len()), data);

    let messages = [*b"first...", *b"second..", *b"third...", *b"fourth.."];
    // ANCHOR: batch_of
    let mut burst = near.pair.sq.batch_of(messages.len())?;
    burst.fill(|n| wqe::write(to.at(8 * n as u64)).inline(&messages[n]).signaled(WrId(n as u64)))?;
    burst.ring_doorbell();
    // ANCHOR_END: batch_of
    for n in 0..messages.len() {
        assert_eq!(near.sent()?, WrId(n as u64));
    }
    assert_eq!(far.buffer.to_vec(0..32), messages.as_flattened());

    let room = near.pair.sq.free();
    // ANCHOR: rewound
    let mut batch = near.pair.sq.batch();
    batch.push(&wqe::send().inline(b"never sent"))?;
    drop(batch);
    // ANCHOR_END: rewound
    assert_eq!(near.pair.sq.free(), room);

    // ANCHOR: receives
    let rq = &mut far.pair.rq;
    let mut batch = rq.batch();
    for n in 0..16 {
        let place = far.buffer.sge_of(n * 64..(n + 1) * 64);
        // SAFETY: the buffer is registered longer than the queue lives, and read after the completion.
        unsafe { batch.push_unchecked(WrId(n as u64), &[place])? };
    }
    batch.ring_doorbell();
    // ANCHOR_END: receives
    near.pair.sq.post(&wqe::send().inline(b"sent").signaled(WrId(0)))?;
    assert_eq!((near.sent()?, far.received()?), (WrId(0), (WrId(0), 4)));
    assert_eq!(far.buffer.to_vec(0..4), b"sent");
    println!("{PAGES} pages have arrived by one doorbell and one completion");
    Ok(())
}
