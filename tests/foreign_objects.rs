//! Each device numbers its objects, and each open has its own handles. So every call refuses objects of other devices,
//! and of the same device opened again: the kernel would take a foreign handle for an object of its own.
//!
//! A call that must refuse an object of another open device belongs here. Other refusals of setup belong in
//! `tests/verbs`.
//!
//! [`EXCHANGES`] has a line for each call and each object that the call takes; [`FRAMES`] those that need Ethernet
//! ports. The tests need three devices:
//!
//! ```text
//! softhca-run --devices 3 -- --skip frames
//! softhca-run --devices 3 --link ethernet -- frames
//! ```

#![cfg(feature = "verbs")]
#![forbid(unsafe_code)]

use std::time::Duration;

use blueflame::flow::Rss;
use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{Dci, DciStreams, RawPacket, Rc, Uc, Ud, XrcInitiator};
use blueflame::types::DcKey;
use blueflame::verbs::async_event::AsyncEvents;
use blueflame::verbs::ethernet::{FrameReceiver, OwnedWq, WqTable};
use blueflame::verbs::memory::{Change, DeviceMemory, MemoryWindow, WindowType};
use blueflame::verbs::receive::OwnedTagMatching;
use blueflame::verbs::{
    Access, CompletionChannel, Device, Error, OwnedCq, OwnedSrq, Path, Pool, ProtectionDomain, QueuePair, ThreadDomain,
    VerbsTransport, XrcDomain,
};
use blueflame::wqe::keys::WindowRights;

const TAGS: TagListSizes = TagListSizes { tags: 4, receives: 8, ..TagListSizes::DEFAULT };

/// One object of each kind, all of one open device.
struct Kit {
    name: &'static str,
    device: Device,
    pd: ProtectionDomain,
    cq: OwnedCq,
    srq: OwnedSrq,
    tags: OwnedTagMatching,
    xrcd: XrcDomain,
    channel: CompletionChannel,
    threads: ThreadDomain,
    memory: DeviceMemory,
    pool: std::cell::RefCell<Pool>,
    window: std::cell::RefCell<MemoryWindow>,
    events: AsyncEvents,
    pair: QueuePair<Rc>,
    path: Path,
}

impl Kit {
    fn new(name: &'static str, device: &str) -> Self {
        let device = Device::open(device)
            .unwrap_or_else(|error| panic!("{error}\nrun this by ./run test, or under softhca-run --devices 3"));
        let pd = device.protection_domain().expect("a PD");
        let cq = device.completion_queue(1024).build().expect("a CQ");
        let path = device.path(1, None).expect("a path");
        let pair = pd.queue_pair(&cq, &cq).build().expect("a queue pair");
        Self {
            name,
            srq: pd.shared_recv_queue(8, 1).expect("an SRQ"),
            tags: pd.tag_matching(&cq, &path, &TAGS).expect("tag matching"),
            xrcd: device.xrc_domain().expect("an XRC domain"),
            channel: device.completion_channel().expect("a channel"),
            threads: pd.thread_domain().expect("a thread domain"),
            memory: device.device_memory(64, 6).expect("device memory"),
            pool: Pool::new(&pd, 1 << 16, Access::MW_BIND | Access::ALL).expect("a pool").into(),
            window: pd.memory_window(WindowType::Type1).expect("a window").into(),
            events: device.async_events(),
            pair,
            path,
            cq,
            pd,
            device,
        }
    }

    /// A queue pair of transport `T` with these completion queues, on this kit's device.
    fn pair<T: VerbsTransport>(&self, sends: &Self, receives: &Self) -> Result<(), Error> {
        self.pd.queue_pair::<T>(&sends.cq, &receives.cq).build().map(drop)
    }
}

/// A call on objects of the first kit, which is given one of the second.
type Exchange<K> = fn(&K, &K) -> Result<(), Error>;

/// The object that the call makes or uses, the foreign object, and the call.
type Row<K> = (&'static str, &'static str, Exchange<K>);

/// Calls that work on ports of both kinds.
const EXCHANGES: &[Row<Kit>] = &[
    ("queue pair", "completion queue", |own, given| own.pair::<Rc>(given, own)),
    ("queue pair", "completion queue", |own, given| own.pair::<Rc>(own, given)),
    ("queue pair", "completion queue", |own, given| own.pair::<Uc>(given, given)),
    ("queue pair", "completion queue", |own, given| own.pair::<Ud>(own, given)),
    ("queue pair", "completion queue", |own, given| own.pair::<Dci>(given, own)),
    ("queue pair", "completion queue", |own, given| own.pair::<Dci>(own, given)),
    ("queue pair", "completion queue", |own, given| own.pair::<DciStreams>(own, given)),
    ("queue pair", "completion queue", |own, given| own.pair::<XrcInitiator>(given, own)),
    ("queue pair", "completion queue", |own, given| own.pair::<XrcInitiator>(own, given)),
    ("queue pair", "shared receive queue", |own, given| {
        let builder = own.pd.queue_pair::<Rc>(&own.cq, &own.cq);
        builder.shared_recv_queue(given.srq.handle()).build().map(drop)
    }),
    ("queue pair", "shared receive queue", |own, given| {
        let builder = own.pd.queue_pair::<Ud>(&own.cq, &own.cq);
        builder.shared_recv_queue(given.srq.handle()).build().map(drop)
    }),
    ("queue pair", "thread domain", |own, given| {
        own.pd.queue_pair::<Rc>(&own.cq, &own.cq).build_in(&given.threads).map(drop)
    }),
    ("completion queue", "thread domain", |own, given| {
        own.device.completion_queue(8).thread_domain(&given.threads).build().map(drop)
    }),
    ("completion queue", "completion channel", |own, given| {
        own.device.completion_queue(8).channel(&given.channel).build().map(drop)
    }),
    ("target", "completion queue", |own, given| {
        own.pd.target(&given.cq, own.srq.handle()).build(&own.path, DcKey(1)).map(drop)
    }),
    ("target", "shared receive queue", |own, given| {
        own.pd.target(&own.cq, given.srq.handle()).build(&own.path, DcKey(1)).map(drop)
    }),
    ("receiver of tagged messages", "completion queue", |own, given| {
        own.pd.tag_receiver(given.cq.handle(), own.tags.shared_receives().handle()).map(drop)
    }),
    ("receiver of tagged messages", "shared receive queue", |own, given| {
        own.pd.tag_receiver(own.cq.handle(), given.tags.shared_receives().handle()).map(drop)
    }),
    ("shared receive queue", "completion queue", |own, given| {
        own.pd.tag_matching(&given.cq, &own.path, &TAGS).map(drop)
    }),
    ("shared receive queue", "completion queue", |own, given| {
        own.pd.xrc_shared_recv_queue(&own.xrcd, given.cq.handle(), 8, 1).map(drop)
    }),
    ("shared receive queue", "XRC domain", |own, given| {
        own.pd.xrc_shared_recv_queue(&given.xrcd, own.cq.handle(), 8, 1).map(drop)
    }),
    ("memory region", "device memory", |own, given| {
        own.pd.register_device_memory(&given.memory, 0..64, Access::ALL).map(drop)
    }),
    ("memory region", "protection domain", |own, given| {
        let buffer = Pool::new(&own.pd, 4096, Access::ALL)?.take(4096)?;
        buffer.reregister(Change::new().domain(&given.pd)).map(drop).map_err(|not| not.error)
    }),
    ("memory window", "buffer", |own, given| {
        let buffer = given.pool.borrow_mut().take(64)?;
        let bind = own.window.borrow_mut().bind(own.pair.qp.qpn(), &buffer, 0..64, WindowRights::READ);
        bind.map(drop)
    }),
    ("events of a device", "queue pair", |own, given| {
        let pair = given.pd.queue_pair::<Rc>(&given.cq, &given.cq);
        let pair = pair.shared_recv_queue(given.srq.handle()).build()?;
        pair.qp.to_init(&given.path)?;
        own.events.leave_shared_queue(&pair.qp, Duration::from_secs(2), drop)
    }),
];

/// Receivers of frames of one open device.
struct Frames {
    name: &'static str,
    pd: ProtectionDomain,
    cq: OwnedCq,
    wq: OwnedWq,
    table: WqTable,
}

impl Frames {
    fn new(name: &'static str, device: &str) -> Self {
        let device = Device::open(device).unwrap_or_else(|error| panic!("{error}\nrun this by ./run test"));
        let pd = device.protection_domain().expect("a PD");
        let [cq, receives] = [(); 2].map(|()| device.completion_queue(512).build().expect("a CQ"));
        let wq = pd.work_queue(&receives).build().expect("a work queue");
        let table = WqTable::new(&[wq.handle().clone(), wq.handle().clone()]).expect("a table");
        // The queue holds its completion queue.
        drop(receives);
        Self { name, pd, cq, wq, table }
    }
}

/// As [`EXCHANGES`].
const FRAMES: &[Row<Frames>] = &[
    ("work queue", "completion queue", |own, given| own.pd.work_queue(&given.cq).build::<blueflame::WrId>().map(drop)),
    ("table of work queues", "work queue", |own, given| {
        WqTable::new(&[own.wq.handle().clone(), given.wq.handle().clone()]).map(drop)
    }),
    ("receiver of frames", "work queue", |own, given| FrameReceiver::direct(&own.pd, given.wq.handle()).map(drop)),
    ("receiver of frames", "table of work queues", |own, given| {
        FrameReceiver::spread(&own.pd, &given.table, &Rss::udp(Rss::PUBLISHED_KEY)).map(drop)
    }),
    ("queue pair", "completion queue", |own, given| {
        own.pd.queue_pair::<RawPacket>(&own.cq, &given.cq).build().map(drop)
    }),
];

/// Each device, by its name in messages, and one of them opened twice.
const OPENS: [(&str, &str); 3] = [("mlx5_0", "mlx5_0"), ("mlx5_0 opened again", "mlx5_0"), ("mlx5_1", "mlx5_1")];

/// Makes each exchange between each two kits.
fn all_refused<K>(kits: &[K], name: fn(&K) -> &'static str, exchanges: &[Row<K>]) {
    let mut accepted = Vec::new();
    for &(object, part, exchange) in exchanges {
        for own in kits {
            // The call works by itself, so that nothing else is why it fails.
            exchange(own, own).unwrap_or_else(|error| panic!("{object} with its own {part}: {error}"));
            for given in kits.iter().filter(|given| name(given) != name(own)) {
                let result = exchange(own, given);
                if result != Err(Error::ForeignDevice { object, part }) {
                    accepted.push(format!("{object} of {} with the {part} of {}: {result:?}", name(own), name(given)));
                }
            }
        }
    }
    assert!(accepted.is_empty(), "{} not refused:\n{}", accepted.len(), accepted.join("\n"));
}

#[test]
fn objects_of_other_opens_are_refused() {
    all_refused(&OPENS.map(|(name, device)| Kit::new(name, device)), |kit| kit.name, EXCHANGES);
}

#[test]
fn receivers_of_frames_of_other_opens_are_refused() {
    all_refused(&OPENS.map(|(name, device)| Frames::new(name, device)), |kit| kit.name, FRAMES);
}

/// The kernel would send completions to its own queue with the same handle.
#[test]
fn completions_never_go_to_a_queue_of_another_open() {
    let [own, given] = ["mlx5_0", "mlx5_0 opened again"].map(|name| Kit::new(name, "mlx5_0"));
    let error = own.pair::<Rc>(&given, &given).expect_err("refused");
    let text = error.to_string();
    assert!(
        text.contains("queue pair") && text.contains("completion queue") && text.contains("another open"),
        "{text}"
    );
}
