//! Completions of many queue pairs on one completion queue, each found by its number.
//!
//! Needs an mlx5 device; the software one will do: `./run test` runs it under `softhca-run`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::types::Psn;
use blueflame::verbs::{Access, Buffer, Device, LinkLayer, OwnedCq, Path, Pool, ProtectionDomain, QueuePair};
use blueflame::{ByQpn, WrId, transport, wqe};

const QUEUE_PAIRS: u64 = 64;
const ROUNDS: u64 = 5;

/// What a program has for each of its connections.
struct Connection {
    name: u64,
    pair: QueuePair<transport::Rc>,
    sent: Vec<u64>,
    received: Vec<u64>,
}

struct Server {
    path: Path,
    pd: ProtectionDomain,
    cq: OwnedCq,
    buffer: Buffer,
}

impl Server {
    fn new() -> Self {
        let device = Device::open_first()
            .unwrap_or_else(|error| panic!("{error}\nrun this by ./run test, or under softhca-run"));
        let port = device.port(1).expect("port 1");
        let sgid = (port.link_layer == LinkLayer::Ethernet).then(|| device.default_gid(&port).expect("a GID"));
        let pd = device.protection_domain().expect("a PD");
        let buffer = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(4096).expect("all of it");
        let cq = device.completion_queue(4095).build().expect("a CQ");
        Self { path: Path::new(port, sgid), pd, cq, buffer }
    }

    /// A connection to itself.
    fn connect(&self, name: u64) -> Connection {
        let builder = self.pd.queue_pair(self.cq.handle(), self.cq.handle()).sends(16).receives(16).inline(8);
        let mut pair = builder.build().expect("a queue pair");
        let itself = pair.qp.endpoint_with(&self.path, Psn::truncate(name as u32));
        pair.qp.to_init(&self.path).expect("INIT");
        pair.sq.connect(&self.path, &itself, &itself).expect("RTS");
        Connection { name, pair, sent: Vec::new(), received: Vec::new() }
    }

    /// Sends a message from a connection to itself.
    fn exchange(&self, connection: &mut Connection, tag: u64) {
        let sge = [self.buffer.sge()];
        let receives = connection.pair.rq.as_mut().expect("its own receives");
        // SAFETY: the buffer is as old as the server, and nobody looks into it.
        unsafe { receives.post(WrId(tag), &sge) }.expect("room");
        connection.pair.sq.post(&wqe::send().inline(&tag.to_ne_bytes()).signaled(WrId(tag))).expect("room");
    }

    /// Polls so many completions and gives each to its connection. Returns the user indices that each number came with.
    fn poll(&mut self, connections: &mut ByQpn<Connection>, count: usize) -> BTreeMap<u32, BTreeSet<u32>> {
        let (begin, mut polled, mut indices) = (Instant::now(), 0, BTreeMap::<_, BTreeSet<_>>::new());
        while polled < count {
            polled += self.cq.poll_with(16, |cqe| {
                indices.entry(cqe.qpn().get()).or_default().insert(cqe.uidx());
                let connection = connections.find(&cqe).expect("of one of them");
                match cqe.check().expect("success") {
                    Side::Requester => {
                        let done = connection.pair.sq.retire(&cqe).expect("its own");
                        connection.sent.push(done.wr_id.0);
                    }
                    Side::Responder => {
                        let receives = connection.pair.rq.as_mut().expect("its own receives");
                        connection.received.push(receives.retire(&cqe).expect("its own").0);
                    }
                }
            });
            assert!(begin.elapsed() < Duration::from_secs(20), "{polled} of {count}");
        }
        assert_eq!(polled, count);
        indices
    }
}

#[test]
fn each_completion_finds_its_connection() {
    let mut server = Server::new();
    let mut connections = ByQpn::new();
    for name in 0..QUEUE_PAIRS {
        let connection = server.connect(name);
        assert_eq!(connection.pair.qp.recv_qpn(), connection.pair.qp.qpn());
        assert!(connections.insert(connection.pair.qp.qpn(), connection).is_none());
    }
    for round in 0..ROUNDS {
        connections.iter_mut().for_each(|(_, it)| server.exchange(it, it.name * ROUNDS + round));
        let indices = server.poll(&mut connections, 2 * QUEUE_PAIRS as usize);
        // libmlx5 gives each queue pair an index of its own, and the device puts it into all of its completions, sends and receives.
        let distinct: BTreeSet<_> = indices.values().flatten().collect();
        assert_eq!((indices.len(), distinct.len()), (QUEUE_PAIRS as usize, QUEUE_PAIRS as usize), "{indices:?}");
        assert!(indices.values().all(|of_one| of_one.len() == 1), "{indices:?}");
    }
    for (qpn, it) in connections.iter() {
        let tags: Vec<_> = (0..ROUNDS).map(|round| it.name * ROUNDS + round).collect();
        assert_eq!((qpn, &it.sent, &it.received), (it.pair.qp.qpn(), &tags, &tags));
    }
}

#[test]
fn connections_come_and_go() {
    let mut server = Server::new();
    let mut connections = ByQpn::new();
    for name in 0..40 {
        let connection = server.connect(name);
        connections.insert(connection.pair.qp.qpn(), connection);
        connections.iter_mut().for_each(|(_, it)| server.exchange(it, name));
        let count = 2 * connections.len();
        server.poll(&mut connections, count);
        assert!(connections.iter().all(|(_, it)| it.sent.last() == Some(&name) && it.received.last() == Some(&name)));
        if name % 3 == 2 {
            let oldest = connections.iter().min_by_key(|(_, it)| it.name).map(|(qpn, _)| qpn).expect("there are some");
            drop(connections.remove(oldest));
            assert!(connections.get(oldest).is_none());
        }
    }
    assert_eq!(connections.len(), 40 - 13);
}
