//! The server: receives numbers, and checks that none is missing.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::thread;

use blueflame::verbs::memory::POOL_ALIGN;
use blueflame::verbs::{Access, Pool};
use blueflame::{WrId, transport};
use common::{Failure, limited, prepared};

use crate::options::{DEPTH, Options};

/// Bytes of a message: a number.
const BYTES: usize = 8;

/// Receives numbers from one client after the other, until one says good-bye.
pub(crate) fn run(options: &Options, listener: &TcpListener) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let mut pool = Pool::new(&pd, DEPTH as usize * POOL_ALIGN, Access::LOCAL_WRITE)?;
    let buffers = (0..DEPTH).map(|_| pool.take(BYTES)).collect::<Result<Vec<_>, _>>()?;
    let mut cq = device.completion_queue(DEPTH + 2).build()?;
    let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(1).receives(DEPTH).build()?;
    loop {
        let mut stream = prepared(listener.accept()?.0)?;
        pair.qp.to_init(&path)?;
        let rq = pair.rq.as_mut().ok_or("the queue pair has no receive queue")?;
        for (n, buffer) in buffers.iter().enumerate() {
            // SAFETY: here and below, the buffer is read when its receive has completed, and lives as long as the
            // queue.
            unsafe { rq.post_unchecked(WrId(n as u64), &[buffer.sge()])? };
        }
        let peer = pair.connect_over(&mut limited(&mut stream), &path, &[])?;
        let rq = pair.rq.as_mut().ok_or("the queue pair has no receive queue")?;
        let first = u64::from_be_bytes(peer.data[..].try_into()?);
        let (mut next, mut total) = (first, None);
        while total.is_none_or(|total| next < total) {
            let received = cq.poll_with(16, |cqe| {
                let wr_id = rq.complete(&cqe)?.buffer;
                let buffer = &buffers[wr_id.0 as usize];
                let mut number = [0; BYTES];
                buffer.read(0, &mut number);
                // SAFETY: as above.
                unsafe { rq.post_unchecked(wr_id, &[buffer.sge()])? };
                let number = u64::from_be_bytes(number);
                if number != next {
                    return Err(Failure::Data(format!("number {number} in place of {next}")));
                }
                // The client chose the first number.
                next = next.wrapping_add(1);
                Ok(())
            })?;
            if received == 0 && total.is_none() && !quiet(&stream)? {
                // The total; or the client has ended without one, or connects again.
                let mut bytes = [0; BYTES];
                if limited(&mut stream).read_exact(&mut bytes).is_err() {
                    break;
                }
                total = Some(u64::from_be_bytes(bytes));
            }
        }
        println!("{} numbers from {first} on have arrived", next.wrapping_sub(first));
        if total.is_some() {
            return Ok(());
        }
        // As new for the next client; receives that completed meanwhile are sent again.
        pair.reset(&mut [&mut cq], |_| ())?;
    }
}

/// Whether the stream has neither bytes nor an end.
fn quiet(stream: &TcpStream) -> Result<bool, Failure> {
    stream.set_nonblocking(true)?;
    let quiet = stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    stream.set_nonblocking(false)?;
    thread::yield_now();
    Ok(quiet)
}
