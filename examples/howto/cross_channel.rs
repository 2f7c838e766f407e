//! Cross channel: the device goes from one queue to the next by itself. A message's arrival starts a WRITE that was
//! prepared before, with no CPU in between.
//!
//! ```text
//!   caller ── message ──> receives (a completion queue)
//!                             └─ master: WAIT for it, then SEND_EN ──> slave: the prepared WRITE
//! ```
//!
//! Each of the three queue pairs is connected with itself: this program needs no other end.

use blueflame::db::Register;
use blueflame::transport::Rc;
use blueflame::verbs::{Device, Path};
use blueflame::{WrId, wqe};
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{Pd, QueuePair, Uar};
use blueflame_devx::{Context, Error};
use howto::Failure;

fn connect_to_itself<R: Register>(pair: &mut QueuePair<Rc, R>, path: &Path) -> Result<(), Error> {
    let itself = pair.qp.endpoint(path);
    pair.qp.to_init(path)?;
    pair.connect(path, &itself, &itself)
}

fn main() -> Result<(), Failure> {
    let context = Context::over(howto::open(Device::options().devx(true))?);
    let path = context.device().path(1, None)?;
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(&context, &verbs_pd)?;
    let rings = ThreadRings::new(&Rings::new(&context)?);
    let inbox = howto::buffer(&verbs_pd, 64)?;

    // ANCHOR: queues
    context.cross_channel()?;
    let (uar, master_uar) = (Uar::new(&context)?, Uar::new(&context)?);
    let completion_queue = || rings.completion_queue(uar.page(), 16).build();
    let (mut sends, mut receives, mut started, steps) =
        (completion_queue()?, completion_queue()?, completion_queue()?, completion_queue()?);
    // The master's requests may name other queues.
    let builder = pd.queue_pair::<Rc>(&rings, &steps, &steps).sends(8).no_receives();
    let mut master = builder.cross_channel().build_on(master_uar)?;
    // The slave has no doorbell: its requests wait until a master enables them.
    let builder = pd.queue_pair::<Rc>(&rings, &started, &started).sends(8).no_receives().inline(64);
    let mut slave = builder.build_managed()?;
    // The caller is a queue pair like any other.
    let builder = pd.queue_pair::<Rc>(&rings, &sends, &receives).sends(8).receives(8).inline(64);
    let mut caller = builder.build_on(uar)?;
    // ANCHOR_END: queues
    connect_to_itself(&mut master, &path)?;
    connect_to_itself(&mut slave, &path)?;
    connect_to_itself(&mut caller, &path)?;

    // ANCHOR: chain
    slave.sq.post(&wqe::write(inbox.remote()).inline(b"started").signaled(WrId(1)))?;
    let mut batch = master.sq.batch();
    batch.push(&wqe::wait_for_completion(receives.cqn(), receives.consumer_index()))?;
    // SAFETY: both queues are of one device. The request is posted at once, and completes before the slave goes.
    batch.push(&unsafe { slave.sq.enable() })?;
    batch.ring_doorbell();
    // ANCHOR_END: chain
    assert_eq!(inbox.to_vec(0..7), [0; 7], "nothing has come yet");

    let rq = &mut caller.rq;
    // SAFETY: a message of no bytes needs no memory.
    unsafe { rq.post_unchecked(WrId(2), &[])? };
    caller.sq.post(&wqe::send().signaled(WrId(3)))?;
    howto::completion(&mut sends, |cqe| caller.sq.complete(cqe))?;
    howto::completion(&mut started, |cqe| slave.sq.complete(cqe))?;
    assert_eq!(inbox.to_vec(0..7), b"started");
    // The completion that the device has waited for is still there for software.
    howto::completion(&mut receives, |cqe| rq.complete(cqe))?;
    println!("a message has started the prepared WRITE of another queue");
    Ok(())
}
