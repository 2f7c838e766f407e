//! Queue pairs by commands of the firmware.
use std::rc::Rc;

use blueflame::db::{Register, ThreadRegister};
use blueflame::transport;
use blueflame::verbs::{Device, Endpoint, Path};
use blueflame_devx::Context;
use blueflame_devx::memory::{Rings, RingsUse, ThreadRings};
use blueflame_devx::object::{OwnedCq, Pd, QueuePair, ThreadUar, Uar};

use crate::bare::Shape;
use crate::shape::PSN;

/// Memory of the queue pairs: all rings and records in one registration.
pub(crate) struct Devx {
    context: Context,
    pd: Pd,
    rings: ThreadRings,
    uar: ThreadUar,
    cq: OwnedCq,
}

impl Devx {
    /// Opens DevX with `bytes` bytes registered at once.
    pub(crate) fn new(device: &Device, bytes: usize) -> Self {
        let context = Context::over(device.clone());
        let rings = Rings::builder(&context).chunk_bytes(bytes).build().expect("a registration");
        let rings = ThreadRings::new(&rings);
        let pd = Pd::new(&context).expect("ALLOC_PD");
        let uar = ThreadUar::new(&context).expect("a register");
        let cq = rings.completion_queue(uar.page(), 1023).build().expect("a CQ");
        // Nothing is posted, so nothing completes.
        cq.handle().oversubscribe();
        Self { context, pd, rings, uar, cq }
    }

    /// How much memory the rings take.
    pub(crate) fn memory(&self) -> RingsUse {
        self.rings.rings().in_use()
    }

    /// A queue pair with a register of its own, connected with itself.
    pub(crate) fn of_its_own(&self, shape: Shape, path: &Path) -> QueuePair<transport::Rc> {
        let uar = Uar::new(&self.context).expect("a register");
        let builder = self.pd.queue_pair(&self.rings, &self.cq, &self.cq).sends(shape.sends);
        let builder = builder.receives(shape.receives).inline(shape.inline);
        connect(builder.build_on(uar).expect("a queue pair"), path)
    }

    /// One of those of a thread.
    pub(crate) fn of_one_thread(&self, shape: Shape, path: &Path) -> QueuePair<transport::Rc, Rc<ThreadRegister>> {
        let builder = self.pd.queue_pair(&self.rings, &self.cq, &self.cq).sends(shape.sends);
        let builder = builder.receives(shape.receives).inline(shape.inline);
        connect(builder.build_in(&self.uar).expect("a queue pair"), path)
    }
}

fn connect<R: Register>(mut pair: QueuePair<transport::Rc, R>, path: &Path) -> QueuePair<transport::Rc, R> {
    let itself = Endpoint { psn: PSN, ..pair.qp.endpoint(path) };
    pair.qp.to_init(path).expect("INIT");
    pair.connect(path, &itself, &itself).expect("RTS");
    pair
}
