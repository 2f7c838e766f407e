//! An open device, and the objects that libibverbs makes on it.

use std::thread::sleep;
use std::time::Duration;

use blueflame::cq::Cqe;
use blueflame::db::ExclusiveRegister;
use blueflame::transport::Rc;
use blueflame::verbs::memory::PoolBuffer;
pub(crate) use blueflame::verbs::{AnyCq, Cq, OwnedCq, Qp, QueuePair};
use blueflame::verbs::{Device, Error, Path, ProtectionDomain};

use crate::memory::Memory;

/// Queue pairs whose receive queues own their buffers.
pub(crate) type Pair = QueuePair<Rc, ExclusiveRegister, PoolBuffer>;

/// An open device.
pub(crate) struct Host {
    device: Device,
    pd: ProtectionDomain,
    path: Path,
    pub(crate) memory: Memory,
}

impl Host {
    pub(crate) fn new(name: &str) -> Self {
        let device = Device::open(name).unwrap_or_else(|error| {
            panic!("{error}\nrun this by ./run test, or under softhca-run --devices 2 --reuse-qpn")
        });
        let pd = device.protection_domain().expect("a PD");
        let path = device.path(1, None).expect("a path");
        let memory = Memory::new(&pd);
        Self { device, pd, path, memory }
    }

    /// It has room for the requests of a few queue pairs.
    pub(crate) fn cq(&self) -> OwnedCq {
        self.device.completion_queue(120).build().expect("a completion queue")
    }

    pub(crate) fn resize(&self, cq: &mut OwnedCq, cqes: u32) -> Result<(), Error> {
        cq.resize(cqes)
    }

    /// A queue pair that completes to those queues.
    pub(crate) fn pair(&self, sends: &OwnedCq, recvs: &OwnedCq) -> Result<Pair, Error> {
        self.pd.queue_pair(sends, recvs).sends(8).receives(4).build()
    }

    /// Goes to RTS, connected to itself.
    pub(crate) fn connect(&self, pair: &mut Pair) {
        // Packets of an earlier queue pair with this number may be on their way: another first PSN keeps them out.
        let itself = pair.qp.endpoint(&self.path);
        pair.qp.to_init(&self.path).expect("INIT");
        pair.connect(&self.path, &itself, &itself).expect("connect");
    }
}

/// Ends a connection, and has some time for its completions. `each` gets every completion of the queue, and whether the
/// connection took it. Returns whether the end has begun.
pub(crate) fn drain(pair: &mut Pair, cq: &mut OwnedCq, each: &mut dyn FnMut(&Cqe<'_>, bool)) -> bool {
    let Ok(mut drain) = pair.drain() else { return false };
    for _ in 0..10 {
        cq.poll_with(usize::MAX, |cqe| {
            let taken = matches!(drain.take(&cqe), Ok(Some(_)));
            each(&cqe, taken);
        });
        if drain.is_done() {
            break;
        }
        sleep(Duration::from_micros(100));
    }
    true
}
