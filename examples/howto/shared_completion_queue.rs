//! One completion queue for many queue pairs: each completion finds its owner by the queue pair's number.

use std::array;

use blueflame::cq::Side;
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::transport::Rc;
use blueflame::verbs::{Buffer, Device, Owned, OwnedCq, Path, ProtectionDomain, Qp};
use blueflame::{ByQpn, WrId, wqe};
use howto::Failure;

const CONNECTIONS: usize = 16;
const MESSAGES: u64 = 4;
/// Bytes of a message.
const BYTES: usize = 8;

/// The queues of a connection, and its counts.
struct Connection {
    sq: Owned<SendQueue<Rc>, Qp>,
    rq: Owned<RecvQueue, Qp>,
    sent: u64,
    received: u64,
}

/// A connection of a queue pair with itself: this program needs no other end.
fn connection(pd: &ProtectionDomain, path: &Path, cq: &OwnedCq) -> Result<Connection, Failure> {
    // ANCHOR: build
    // 17 + 16 completions at most: the queue has room for those of all connections.
    let mut pair = pd.queue_pair::<Rc>(cq, cq).sends(16).receives(16).inline(BYTES as u32).build()?;
    // ANCHOR_END: build
    let itself = pair.qp.endpoint(path);
    pair.qp.to_init(path)?;
    pair.connect(path, &itself, &itself)?;
    let rq = pair.rq;
    Ok(Connection { sq: pair.sq, rq, sent: 0, received: 0 })
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;
    let buffers: Vec<Buffer> = howto::buffer(&pd, 128 * CONNECTIONS)?.chunks(128);
    let mut cq = device.completion_queue(33 * CONNECTIONS as u32).build()?;

    // ANCHOR: fill
    let mut connections = ByQpn::new();
    for _ in 0..CONNECTIONS {
        let connection = connection(&pd, &path, &cq)?;
        connections.insert(connection.sq.qpn(), connection);
    }
    // ANCHOR_END: fill
    for ((_, connection), buffer) in connections.iter_mut().zip(&buffers) {
        for n in 0..MESSAGES {
            let at = n as usize * BYTES;
            // SAFETY: the buffers are registered longer than the queues live, and are read after all completions.
            unsafe { connection.rq.post_unchecked(WrId(n), &[buffer.sge_of(at..at + BYTES)])? };
            connection.sq.post(&wqe::send().inline(&n.to_ne_bytes()).signaled(WrId(n)))?;
        }
    }

    // ANCHOR: poll
    let mut polled = 0;
    howto::until(|| {
        polled += cq.try_poll_with(16, |cqe| -> Result<(), Failure> {
            // No owner: the queue pair is gone, but its completion was still waiting.
            let Some(connection) = connections.find(&cqe) else { return Ok(()) };
            match cqe.side() {
                Some(Side::Responder) => {
                    assert_eq!(connection.rq.complete(&cqe)?.buffer, WrId(connection.received), "in order");
                    connection.received += 1;
                }
                // The send queue refuses a completion of no request.
                Some(Side::Requester) | None => {
                    assert_eq!(connection.sq.complete(&cqe)?.wr_id, WrId(connection.sent), "in order");
                    connection.sent += 1;
                }
            }
            Ok(())
        })?;
        let is_done = connections.iter().all(|(_, it)| it.sent == MESSAGES && it.received == MESSAGES);
        Ok(is_done.then_some(()))
    })?;
    // ANCHOR_END: poll
    let expected: [u64; MESSAGES as usize] = array::from_fn(|n| n as u64);
    let expected = expected.map(u64::to_ne_bytes).concat();
    assert!(buffers.iter().all(|buffer| buffer.to_vec(0..expected.len()) == expected));
    println!("{polled} completions of {CONNECTIONS} queue pairs, by one completion queue");
    Ok(())
}
