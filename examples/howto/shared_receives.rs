//! One shared receive queue (SRQ) for two connections: any message takes the next buffer.

use blueflame::queue::Received;
use blueflame::transport::Rc;
use blueflame::verbs::{Buffer, Device, OwnedSrq};
use blueflame::{RecvError, WrId, wqe};
use howto::{End, Failure};

const RECEIVES: usize = 8;
/// Bytes of a buffer.
const BYTES: usize = 64;
const MESSAGES: usize = 20;

/// Posts buffer `n`; its number is the `wr_id`.
fn post(srq: &mut OwnedSrq, memory: &Buffer, n: usize) -> Result<(), RecvError> {
    let place = memory.sge_of(n * BYTES..(n + 1) * BYTES);
    // SAFETY: `main` keeps the memory longer than the queue, and reads a buffer after its completion only.
    unsafe { srq.post_unchecked(WrId(n as u64), &[place]) }
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;
    let memory = howto::buffer(&pd, RECEIVES * BYTES)?;
    let mut clients = [End::new(&pd)?, End::new(&pd)?];

    // ANCHOR: server
    let mut srq = pd.shared_recv_queue(RECEIVES as u32, 1)?;
    for n in 0..RECEIVES {
        post(&mut srq, &memory, n)?;
    }
    // Room for the shared receives, and for two completions of each connection's sends.
    let mut cq = device.completion_queue(srq.capacity() + 4).build()?;
    let serve = || pd.queue_pair::<Rc>(&cq, &cq).sends(1).shared_recv_queue(srq.handle()).build();
    let mut served = [serve()?, serve()?];
    // ANCHOR_END: server
    for (client, served) in clients.iter_mut().zip(&mut served) {
        howto::connect(&path, &mut client.pair, served)?;
    }

    let mut messages = [0; 2];
    for n in 0..MESSAGES {
        let client = usize::from(n % 3 == 0);
        let text = format!("message {n}");
        clients[client].pair.sq.post(&wqe::send().inline_slice(text.as_bytes()).signaled(WrId(n as u64)))?;
        clients[client].sent()?;

        // ANCHOR: receive
        let (from, Received { buffer: WrId(place), bytes, .. }) = howto::completion(&mut cq, |cqe| {
            // SAFETY: both queue pairs that complete here receive from this queue; each completion is polled once.
            unsafe { srq.complete(cqe) }.map(|received| (cqe.qpn(), received))
        })?;
        // ANCHOR_END: receive
        assert_eq!(from, served[client].qp.qpn(), "a completion names the connection");
        let start = place as usize * BYTES;
        assert_eq!(memory.to_vec(start..start + bytes as usize), text.as_bytes());
        messages[client] += 1;
        // ANCHOR: again
        post(&mut srq, &memory, place as usize)?;
        // ANCHOR_END: again
    }
    println!("{RECEIVES} shared receives have taken {} and {} messages of 2 connections", messages[0], messages[1]);
    Ok(())
}
