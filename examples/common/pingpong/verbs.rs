//! Queues made by verbs.

use std::time::Duration;

use blueflame::Sge;
use blueflame::db::ExclusiveRegister;
use blueflame::transport;
use blueflame::types::WrId;
use blueflame::verbs::{Endpoint, Path, ProtectionDomain, QueuePair};

use super::event_cq::EventCq;
use super::{Parts, PingPongOptions, Queues, Receives, SENDS};
use crate::Failure;

/// A queue pair and a completion queue of `ibv_*` and `mlx5dv_*`.
pub struct Verbs {
    completed: EventCq,
    pair: QueuePair<transport::Rc>,
}

impl Verbs {
    /// Makes them, in INIT.
    ///
    /// # Errors
    /// A failed call.
    pub fn new(pd: &ProtectionDomain, path: &Path, options: &PingPongOptions) -> Result<Self, Failure> {
        let completed = EventCq::new(&pd.device(), options)?;
        let cq = &completed.cq;
        let pair = pd.queue_pair(cq, cq).sends(SENDS).receives(options.rx_depth).build()?;
        pair.qp.to_init(path)?;
        Ok(Self { completed, pair })
    }
}

impl Queues for Verbs {
    type Transport = transport::Rc;
    type Register = ExclusiveRegister;
    const MADE_BY: &'static str = "verbs";

    fn parts(&mut self) -> Parts<'_, transport::Rc, ExclusiveRegister> {
        let rq = &mut self.pair.rq;
        Parts { cq: &mut self.completed.cq, sq: &mut self.pair.sq, rq: Receives::Own(rq) }
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
        self.completed.wait(timeout)
    }
}
