//! An open device, its domain and its memory.

use std::cell::RefCell;

use blueflame::transport::Rc;
use blueflame::types::Psn;
use blueflame::verbs::{
    Access, AnyCq, Buffer, BufferPool, Cq, Device, Error, OwnedCq, Path, Pool, PoolBuffer, ProtectionDomain, QueuePair,
};
use blueflame_fuzz_targets::ownership::{BYTES, WORDS};

/// An open device.
pub(crate) struct Host {
    device: Device,
    pd: ProtectionDomain,
    path: Path,
    pool: BufferPool,
    /// The memory that WRITEs and READs name.
    windows: RefCell<Pool>,
}

impl Host {
    pub(crate) fn new(name: &str) -> Self {
        let device = Device::open(name).unwrap_or_else(|error| {
            panic!("{error}\nrun this by ./run test, or under softhca-run --devices 2 --reuse-qpn")
        });
        let pd = device.protection_domain().expect("a PD");
        let path = device.path(1, None).expect("a path");
        let pool = BufferPool::new(&pd, BYTES as u32, Access::ALL).expect("a pool");
        let windows = RefCell::new(Pool::new(&pd, 1 << 20, Access::ALL).expect("a pool"));
        Self { device, pd, path, pool, windows }
    }

    pub(crate) fn page(&self) -> PoolBuffer {
        self.pool.take().expect("memory")
    }

    /// The memory of one case that WRITEs and READs name.
    pub(crate) fn window(&self, words: [u64; WORDS]) -> Buffer {
        let mut window = self.windows.borrow_mut().take(BYTES).expect("room for all cases");
        window.write(0, words.map(u64::to_ne_bytes).as_flattened());
        window
    }

    /// It has room for the requests of a few queue pairs.
    pub(crate) fn cq(&self) -> OwnedCq {
        self.device.completion_queue(120).build().expect("a completion queue")
    }

    /// A queue pair that completes to those queues.
    pub(crate) fn pair(&self, sends: &dyn AnyCq<Cq>, recvs: &dyn AnyCq<Cq>) -> Result<QueuePair<Rc>, Error> {
        self.pd.queue_pair(sends, recvs).sends(8).receives(4).build()
    }

    /// Goes to RTS: what it sends comes to itself.
    pub(crate) fn connect(&self, pair: &mut QueuePair<Rc>) {
        let itself = pair.qp.endpoint_with(&self.path, Psn::truncate(1));
        pair.qp.to_init(&self.path).expect("INIT");
        pair.sq.connect(&self.path, &itself, &itself).expect("connect");
    }
}

pub(crate) fn fill(words: [u64; WORDS], page: &mut PoolBuffer) {
    page.write(words.map(u64::to_ne_bytes).as_flattened());
}

pub(crate) fn words(page: &PoolBuffer) -> [u64; WORDS] {
    let mut bytes = [0; BYTES];
    page.read(&mut bytes);
    of_bytes(&bytes)
}

pub(crate) fn words_of_window(window: &Buffer) -> [u64; WORDS] {
    let mut bytes = [0; BYTES];
    window.read(0, &mut bytes);
    of_bytes(&bytes)
}

fn of_bytes(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}
