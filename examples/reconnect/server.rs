//! The server: receives numbers, and checks that none is missing.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::thread;

use blueflame::transport;
use blueflame::verbs::{Access, BufferPool};
use common::{Failure, limited, prepared};

use crate::options::{DEPTH, Options};

/// Bytes of a message: a number.
const BYTES: usize = 8;

/// Receives numbers from one client after the other, until one says good-bye.
pub(crate) fn run(options: &Options, listener: &TcpListener) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let pool = BufferPool::new(&pd, BYTES as u32, Access::LOCAL_WRITE)?;
    let mut cq = device.completion_queue(DEPTH + 2).build()?;
    let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(1).receives(DEPTH).build()?;
    loop {
        let mut stream = prepared(listener.accept()?.0)?;
        pair.qp.to_init(&path)?;
        for _ in 0..DEPTH {
            pair.rq.post(pool.take()?).map_err(|refused| refused.error)?;
        }
        let peer = pair.connect_over(&mut limited(&mut stream), &path, &[])?;
        let first = u64::from_be_bytes(peer.data[..].try_into()?);
        let (mut next, mut total) = (first, None);
        while total.is_none_or(|total| next < total) {
            let received = cq.try_poll_with(16, |cqe| {
                let received = pair.rq.complete(&cqe).map_err(|error| Failure::Data(error.to_string()))?;
                let mut number = [0; BYTES];
                received.buffer.read(&mut number);
                pair.rq.post(received.buffer).map_err(|refused| refused.error)?;
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
        // As new for the next client. The buffers are the pool's again; what arrived meanwhile is sent once more.
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
