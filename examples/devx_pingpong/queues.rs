//! Queues made by commands of the firmware.

use std::time::Duration;

use blueflame::Sge;
use blueflame::db::ExclusiveRegister;
use blueflame::queue::{Owned, SendQueue};
use blueflame::transport;
use blueflame::types::WrId;
use blueflame::verbs::{Endpoint, Path, ProtectionDomain};
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{OwnedCq, Pd, Qp, QueuePair, Uar};
use blueflame_devx::{Context, EventChannel, EventType};
use common::Failure;
use common::pingpong::{Parts, PingPongOptions, Queues, Receives, SENDS, completions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// A queue pair and a completion queue, both in one registered piece of memory.
pub(crate) struct Devx {
    cq: OwnedCq,
    pair: QueuePair<transport::Rc>,
    channel: Option<EventChannel>,
    /// Kept alive for the queues; they use memory that the ping-pong registers in the same protection domain.
    _pd: Pd,
}

impl Devx {
    /// Makes them, in INIT: CREATE_CQ, CREATE_QP, RST2INIT_QP.
    pub(crate) fn new(
        context: &Context,
        pd: &ProtectionDomain,
        path: &Path,
        options: &PingPongOptions,
    ) -> Result<Self, Failure> {
        // ANCHOR: make
        // Verbs registers memory. The queues use its keys, so they must belong to its protection domain.
        let pd = Pd::of_verbs(context, pd)?;
        let rings = ThreadRings::new(&Rings::new(context)?);
        let uar = Uar::new(context)?;
        let cq = rings.completion_queue(uar.page(), completions(options)).build()?;
        let channel = if options.events { Some(EventChannel::new(context)?) } else { None };
        if let Some(channel) = &channel {
            channel.subscribe(Some(cq.handle().object()), &[EventType::COMP], 0)?;
        }
        let pair =
            pd.queue_pair::<transport::Rc>(&rings, &cq, &cq).sends(SENDS).receives(options.rx_depth).build_on(uar)?;
        // ANCHOR_END: make
        pair.qp.to_init(path)?;
        Ok(Self { cq, pair, channel, _pd: pd })
    }
}

impl Queues for Devx {
    type Transport = transport::Rc;
    type Register = ExclusiveRegister;
    const MADE_BY: &'static str = "DevX";

    fn parts(&mut self) -> Parts<'_, transport::Rc, ExclusiveRegister> {
        let sq: &mut Owned<SendQueue<transport::Rc>, Qp> = &mut self.pair.sq;
        let rq = &mut self.pair.rq;
        Parts { cq: &mut self.cq, sq, rq: Receives::Own(rq) }
    }

    unsafe fn send(&mut self, message: Sge, wr_id: WrId) -> Result<(), Failure> {
        // SAFETY: the caller promises that the memory stays registered and unchanged until it has completed.
        unsafe { self.parts().send(message, wr_id) }
    }

    fn endpoint(&self, path: &Path) -> Endpoint {
        self.pair.qp.endpoint(path)
    }

    fn connect(&mut self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Failure> {
        Ok(self.pair.connect(path, local, remote)?)
    }

    fn wait_for_event(&self, timeout: Duration) -> Result<bool, Failure> {
        let channel = self.channel.as_ref().ok_or("nobody has subscribed to events")?;
        let timeout = Timespec::try_from(timeout)?;
        if poll(&mut [PollFd::new(channel, PollFlags::IN)], Some(&timeout))? == 0 {
            return Ok(false);
        }
        Ok(channel.read()?.is_some())
    }
}
