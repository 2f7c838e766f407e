//! The device, and makers of queue pairs on it: verbs of this crate, calls by hand, and commands.
use std::rc::Rc;

use blueflame::db::{Register, ThreadRegister};
use blueflame::transport;
use blueflame::verbs::{Device, OwnedCq, Path, ProtectionDomain, QueuePair, ThreadDomain};

use crate::bare::{Bare, Domain, Shape};
use crate::devx::Devx;
use crate::shape::PSN;

/// Bytes registered at once for the rings of DevX: room for all that are made at a time.
const REGISTERED: usize = 32 << 20;

/// The device with everything that queue pairs need.
pub(crate) struct Rig {
    cq: OwnedCq,
    pub(crate) pd: ProtectionDomain,
    pub(crate) path: Path,
    domain: ThreadDomain,
    pub(crate) bare_domain: Rc<Domain>,
    pub(crate) devx: Devx,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let device = Device::options().devx(true).open_first();
        let device = device.unwrap_or_else(|error| panic!("{error}\nrun this by ./run bench"));
        let path = device.path(1, None).expect("a path");
        let pd = device.protection_domain().expect("a PD");
        // Nothing is posted, so nothing completes.
        let cq = device.completion_queue(1023).build().expect("a CQ");
        cq.handle().oversubscribe();
        let (domain, bare_domain) = (pd.thread_domain().expect("a thread domain"), Domain::new(&pd));
        let devx = Devx::new(&device, REGISTERED);
        Self { cq, pd, path, domain, bare_domain, devx }
    }

    fn connect<R: Register>(&self, mut pair: QueuePair<transport::Rc, R>) -> QueuePair<transport::Rc, R> {
        let itself = pair.qp.endpoint_with(&self.path, PSN);
        pair.qp.to_init(&self.path).expect("INIT");
        pair.connect(&self.path, &itself, &itself).expect("RTS");
        pair
    }

    pub(crate) fn ours(&self, shape: Shape) -> QueuePair<transport::Rc> {
        let builder = self.pd.queue_pair(&self.cq, &self.cq).sends(shape.sends);
        self.connect(builder.receives(shape.receives).inline(shape.inline).build().expect("a queue pair"))
    }

    pub(crate) fn ours_of_one_thread(&self, shape: Shape) -> QueuePair<transport::Rc, Rc<ThreadRegister>> {
        let builder = self.pd.queue_pair(&self.cq, &self.cq).sends(shape.sends);
        let builder = builder.receives(shape.receives).inline(shape.inline);
        self.connect(builder.build_in(&self.domain).expect("a queue pair"))
    }

    pub(crate) fn theirs(&self, shape: Shape) -> Bare {
        self.theirs_in(&Domain::new(&self.pd), shape)
    }

    pub(crate) fn theirs_in(&self, domain: &Rc<Domain>, shape: Shape) -> Bare {
        let mut bare = Bare::new(domain, self.cq.handle(), shape);
        bare.connect(&self.path, PSN);
        bare
    }
}
