//! A first connection: two queue pairs of one device, and a WRITE from one to the other.
//!
//! It takes no options and uses port 1 of the first mlx5 device, so it runs on the software device
//! (`./run example first_pair`) and on a NIC. `docs/tutorial/first-pair.md` explains each step, and the front page
//! shows the program.

// ANCHOR: program
use blueflame::verbs::{Access, Device, Pool};
use blueflame::{WrId, transport, wqe};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Memory that a peer may write, and two queue pairs that complete on one queue.
    let device = Device::open_first()?;
    let pd = device.protection_domain()?;
    let theirs = Pool::new(&pd, 4096, Access::REMOTE_WRITE)?.take(64)?;
    let mut cq = device.completion_queue(64).build()?;
    let mut near = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).no_receives().inline(64).build()?;
    let mut far = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).no_receives().build()?;

    // Connect them over port 1. Two machines exchange the endpoints over TCP: `connect_over`.
    let path = device.path(1, None)?;
    let (here, there) = (near.qp.endpoint(&path), far.qp.endpoint(&path));
    near.connect(&path, &here, &there)?;
    far.connect(&path, &there, &here)?;

    // Post, poll, complete.
    near.sq.post(&wqe::write(theirs.remote()).inline(b"hello, device!").signaled(WrId(1)))?;
    let done = loop {
        if let Some(cqe) = cq.poll() {
            break near.sq.complete(&cqe)?;
        }
    };

    let mut arrived = [0; 14];
    theirs.read(0, &mut arrived);
    assert_eq!(&arrived, b"hello, device!");
    println!("request {:?} is done: {}", done.wr_id, String::from_utf8_lossy(&arrived));
    Ok(())
}
// ANCHOR_END: program
