//! An open device, and the objects that commands make on it.

use blueflame::cq::Cqe;
use blueflame::db::ExclusiveRegister;
use blueflame::transport::Rc;
use blueflame::verbs::Path;
use blueflame::verbs::memory::PoolBuffer;
use blueflame_devx::memory::{Rings, ThreadRings};
pub(crate) use blueflame_devx::object::{AnyCq, Cq, OwnedCq, Qp, QueuePair};
use blueflame_devx::object::{Pd, Uar};
use blueflame_devx::{Context, Error};

use crate::memory::Memory;

/// Queue pairs whose receive queues own their buffers.
pub(crate) type Pair = QueuePair<Rc, ExclusiveRegister, PoolBuffer>;

/// An open device.
pub(crate) struct Host {
    pd: Pd,
    rings: ThreadRings,
    path: Path,
    pub(crate) memory: Memory,
}

impl Host {
    pub(crate) fn new(name: &str) -> Self {
        let context = Context::open(name).unwrap_or_else(|error| {
            panic!("{error}\nrun this by ./run test, or under softhca-run --devices 2 --reuse-qpn")
        });
        let verbs_pd = context.device().protection_domain().expect("a PD");
        let pd = Pd::of_verbs(&context, &verbs_pd).expect("its number");
        let rings = ThreadRings::new(&Rings::new(&context).expect("memory"));
        let path = context.device().path(1, None).expect("a path");
        Self { pd, rings, path, memory: Memory::new(&verbs_pd) }
    }

    /// It has room for the requests of a few queue pairs.
    pub(crate) fn cq(&self) -> OwnedCq {
        let uar = Uar::new(self.pd.context()).expect("a register");
        self.rings.completion_queue(uar.page(), 120).build().expect("a completion queue")
    }

    pub(crate) fn resize(&self, cq: &mut OwnedCq, cqes: u32) -> Result<(), Error> {
        Cq::resize(cq, &self.rings, cqes)
    }

    /// A queue pair that completes to those queues.
    pub(crate) fn pair(&self, sends: &OwnedCq, recvs: &OwnedCq) -> Result<Pair, Error> {
        self.pd.queue_pair(&self.rings, sends, recvs).sends(8).receives(4).build()
    }

    /// Goes to RTS, connected to itself.
    pub(crate) fn connect(&self, pair: &mut Pair) {
        // Packets of an earlier queue pair with this number may be on their way: another first PSN keeps them out.
        let itself = pair.qp.endpoint(&self.path);
        pair.qp.to_init(&self.path).expect("INIT");
        pair.connect(&self.path, &itself, &itself).expect("connect");
    }
}

/// Queue pairs made by commands have no such call: nothing begins.
pub(crate) fn drain(_: &mut Pair, _: &mut OwnedCq, _: &mut dyn FnMut(&Cqe<'_>, bool)) -> bool {
    false
}
