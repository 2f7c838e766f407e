//! Messages, in buffers that the receive queue owns until they are filled: no `unsafe`.

use blueflame::transport::Rc;
use blueflame::verbs::{Access, BufferPool, Device};
use blueflame::{WrId, wqe};
use howto::{End, Failure};

/// Bytes of a buffer.
const BYTES: u32 = 64;
const RECEIVES: u32 = 8;
const MESSAGES: u32 = 20;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;
    let mut near = End::new(&pd)?;

    // ANCHOR: post
    let pool = BufferPool::new(&pd, BYTES, Access::LOCAL_WRITE)?;
    let mut cq = device.completion_queue(RECEIVES + 1).build()?;
    let mut far = pd.queue_pair::<Rc>(&cq, &cq).sends(1).receives(RECEIVES).build()?;
    for _ in 0..RECEIVES {
        far.rq.post(pool.take()?)?;
    }
    // ANCHOR_END: post
    let (here, there) = (near.pair.qp.endpoint(&path), far.qp.endpoint(&path));
    far.connect(&path, &there, &here)?;
    near.pair.connect(&path, &here, &there)?;

    for n in 0..MESSAGES {
        let sent = format!("message {n}");
        // ANCHOR: send
        near.pair.sq.post(&wqe::send().inline_slice(sent.as_bytes()).signaled(WrId(u64::from(n))))?;
        // ANCHOR_END: send
        near.sent()?;

        // ANCHOR: receive
        let received = howto::completion(&mut cq, |cqe| far.rq.complete(cqe))?;
        let mut message = [0; BYTES as usize];
        let message = &mut message[..received.bytes as usize];
        received.buffer.read(message);
        far.rq.post(received.buffer)?;
        // ANCHOR_END: receive
        assert_eq!(message, sent.as_bytes());
    }
    println!("{MESSAGES} messages have arrived in {RECEIVES} buffers");
    Ok(())
}
