//! The code after adoption, the same for every crate that made the objects. It connects the queue pair with itself,
//! then writes and reads back memory of the foreign protection domain.

use std::error::Error;
use std::time::{Duration, Instant};

use blueflame::verbs::{Access, Device, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::{SendQueue, WrId, transport, wqe};

/// Longer than 64 bytes: other libraries' queue pairs let the device put up to 64 bytes into the completion instead of
/// the buffer.
const MESSAGE: &[u8; 96] =
    b"written through the queues of one crate, into memory of another crate's protection domain -- 96.";

/// Connects `pair` with itself, WRITEs and READs.
pub(crate) fn run(
    device: &Device,
    pd: &ProtectionDomain,
    pair: &mut QueuePair<transport::Rc>,
    cq: &mut OwnedCq,
) -> Result<(), Box<dyn Error>> {
    let mut pool = Pool::new(pd, 4096, Access::ALL)?;
    let (mut source, target) = (pool.take(MESSAGE.len())?, pool.take(MESSAGE.len())?);
    let path = device.path(1, None)?;
    let itself = pair.qp.endpoint(&path);
    pair.qp.to_init(&path)?;
    pair.connect(&path, &itself, &itself)?;

    source.write(0, MESSAGE);
    // SAFETY: here and below, both buffers are left alone until the request has completed, and live longer.
    unsafe { pair.sq.post_unchecked(&wqe::write(target.remote()).gather([source.sge()]).signaled(WrId(1)))? };
    completed(cq, &mut pair.sq)?;
    source.fill(0);
    // SAFETY: both buffers are left alone until the request has completed, and live longer.
    unsafe { pair.sq.post_unchecked(&wqe::read(target.remote()).scatter([source.sge()]).signaled(WrId(2)))? };
    completed(cq, &mut pair.sq)?;
    let mut back = [0; MESSAGE.len()];
    source.read(0, &mut back);
    if &back != MESSAGE {
        return Err("other bytes came back".into());
    }
    println!("written and read back: {} bytes by queue pair {:#x}", back.len(), pair.qp.qpn().get());
    Ok(())
}

/// Waits for one completion.
fn completed(cq: &mut OwnedCq, sq: &mut SendQueue<transport::Rc>) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        if let Some(cqe) = cq.poll() {
            sq.complete(&cqe)?;
            return Ok(());
        }
        std::thread::yield_now();
    }
    Err("no completion".into())
}
