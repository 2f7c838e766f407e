//! The data path on one page: WRITE a message into the peer's memory, READ it back, check.
//!
//! `cargo run -p blueflame-testkit --example quickstart` needs no NIC and no system package: the device is a software
//! mlx5 in this process. With a NIC, `blueflame::verbs` makes the queues, and everything from "Post" on stays the same.

use std::error::Error;

use blueflame::{WrId, transport, wqe};
use blueflame_testkit as testkit;

// ANCHOR: program
fn main() -> Result<(), Box<dyn Error>> {
    // Two devices, a reliable connection between them, and memory registered with each.
    let mut pair = testkit::connected_pair::<transport::Rc>()?;
    let (ours, theirs) = (pair.near.buffer(4096)?, pair.far.buffer(4096)?);

    // Post two requests. The bytes to write travel inside the first. The peer executes requests in order, so the second
    // reads these bytes.
    pair.near.sq.post(&wqe::write(theirs.remote()).inline(b"hello, device!").signaled(WrId(1)))?;
    let read = wqe::read(theirs.remote()).scatter([ours.sge(..14)]).signaled(WrId(2));
    // SAFETY: `ours` stays registered, and is looked at when the READ has completed.
    unsafe { pair.near.sq.post_unchecked(&read)? };

    // A NIC works by itself; here the devices work until nothing is left to do.
    pair.run_until_idle()?;

    // Complete: each completion gives back the `wr_id` of a request, and its place in the ring.
    while let Some(cqe) = pair.near.cq.poll() {
        println!("request {:?} is done", pair.near.sq.complete(&cqe)?.wr_id);
    }
    assert_eq!((theirs.to_vec(..14), ours.to_vec(..14)), (b"hello, device!".to_vec(), b"hello, device!".to_vec()));
    println!("verified: written there, and read back");
    Ok(())
}
// ANCHOR_END: program
