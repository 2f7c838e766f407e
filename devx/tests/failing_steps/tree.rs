//! One of everything.

use std::any::Any;
use std::sync::Arc;

use blueflame::transport;
use blueflame::verbs::Access;
use blueflame_devx::cmd::QueryQpIn;
use blueflame_devx::memory::{Rings, ThreadRings, Umem};
use blueflame_devx::object::{EncryptingKey, Mkey, Pd, SharedUar, ThreadUar, Uar};
use blueflame_devx::{Answers, Context, Error, EventChannel, EventType};

/// The objects, each to be dropped at any time.
pub(crate) type Tree = Vec<Box<dyn Any>>;
/// Commands to the kernel that it takes, at least.
pub(crate) const LEAST_STEPS: u64 = 20;
/// Mailboxes of this crate among them, at least.
pub(crate) const LEAST_MAILBOXES: u64 = 11;

/// Makes one of everything, and queue pairs that are connected.
pub(crate) fn make(context: &Context) -> Result<Tree, Error> {
    let mut all: Tree = Vec::new();
    let mut keep = |one: Box<dyn Any>| all.push(one);

    // Domains, of commands and of verbs.
    let verbs_pd = context.device().protection_domain()?;
    keep(Box::new(Pd::of_verbs(context, &verbs_pd)?));
    let pd = Pd::new(context)?;
    keep(Box::new(verbs_pd));

    // Memory and its keys.
    let umem = Arc::new(Umem::new(context, 1 << 16)?);
    let key = Mkey::of_memory(&pd, &umem, 0..1 << 16, Access::ALL)?;
    let pieces = [key.piece(0..100)?, key.piece(5000..6000)?];
    keep(Box::new(Mkey::of_pieces(&pd, &pieces, Access::ALL)?));
    keep(Box::new(pieces));
    keep(Box::new(key));
    keep(Box::new(umem));
    // Their protection domain goes with them: a device without encryption has none.
    match EncryptingKey::new(&pd, 4) {
        Err(Error::Capability { .. }) => {}
        made => keep(Box::new(made?)),
    }

    // Queues, by each kind of register.
    let rings = Rings::new(context)?;
    let thread = ThreadRings::new(&rings);
    let (uar, shared, own) = (ThreadUar::new(context)?, SharedUar::over(Uar::new(context)?)?, Uar::new(context)?);
    let cq = thread.completion_queue(uar.page(), 64).build()?;
    let builder = || pd.queue_pair::<transport::Rc>(&thread, &cq, &cq).sends(8).receives::<blueflame::WrId>(8);
    let mut pair = builder().build_on(own)?;
    keep(Box::new(builder().build_shared(&shared)?));
    keep(Box::new(builder().build_in(&uar)?));
    // One that would lie in a registration of its own.
    let long = thread.completion_queue(uar.page(), 1 << 16).build()?;
    keep(Box::new(long));

    // Connected with itself.
    let path = context.device().path(1, None)?;
    let itself = pair.qp.endpoint(&path);
    pair.qp.to_init(&path)?;
    pair.connect(&path, &itself, &itself)?;

    // Events and answers.
    let channel = EventChannel::new(context)?;
    channel.subscribe(Some(cq.handle().object()), &[EventType::COMP], 1)?;
    let answers = Answers::new(context)?;
    let mut question = QueryQpIn::new();
    question.set_qpn(pair.qp.qpn());
    answers.ask(pair.qp.object(), &question, 1)?;

    keep(Box::new(channel));
    keep(Box::new(answers));
    keep(Box::new(pair));
    keep(Box::new(cq));
    keep(Box::new((uar, shared)));
    keep(Box::new(thread));
    keep(Box::new(rings));
    keep(Box::new(pd));
    Ok(all)
}
