//! Completions of many queue pairs on one completion queue, each found by its number.
//!
//! Dispatch by queue pair number belongs here. One queue pair per completion queue belongs in `tests/verbs`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::types::Psn;
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents, QpEvent, SrqEvent};
use blueflame::verbs::device::LinkLayer;
use blueflame::verbs::{Access, Buffer, OwnedCq, OwnedSrq, Path, Pool, ProtectionDomain, QueuePair};
use blueflame::{ByQpn, WrId, transport, wqe};

use on_device::device;

const QUEUE_PAIRS: u64 = 64;
const ROUNDS: u64 = 5;

/// The program's state of each connection.
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
        let device = device();
        let port = device.port(1).expect("port 1");
        let sgid = (port.link_layer == LinkLayer::Ethernet).then(|| device.default_gid(&port).expect("a GID"));
        let pd = device.protection_domain().expect("a PD");
        let buffer = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(4096).expect("all of it");
        let cq = device.completion_queue(4095).build().expect("a CQ");
        Self { path: Path::new(port, sgid), pd, cq, buffer }
    }

    /// A connection to itself.
    fn connect(&self, name: u64) -> Connection {
        let builder = self.pd.queue_pair(&self.cq, &self.cq).sends(16).receives(16).inline(8);
        let mut pair = builder.build().expect("a queue pair");
        let itself = pair.qp.endpoint_with(&self.path, Psn::truncate(name as u32));
        pair.qp.to_init(&self.path).expect("INIT");
        pair.connect(&self.path, &itself, &itself).expect("RTS");
        Connection { name, pair, sent: Vec::new(), received: Vec::new() }
    }

    /// Sends a message from a connection to itself.
    fn exchange(&self, connection: &mut Connection, tag: u64) {
        let sge = [self.buffer.sge()];
        let receives = &mut connection.pair.rq;
        // SAFETY: the buffer is as old as the server, and nobody looks into it.
        unsafe { receives.post_unchecked(WrId(tag), &sge) }.expect("room");
        connection.pair.sq.post(&wqe::send().inline(&tag.to_ne_bytes()).signaled(WrId(tag))).expect("room");
    }

    /// Polls `count` completions and gives each to its connection. Returns the user indices that each number came with.
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
                        let receives = &mut connection.pair.rq;
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
        // libmlx5 gives each queue pair an index of its own, and the device puts it into all of its completions, sends
        // and receives.
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

/// One that is served: its own end, and the server's, whose receives are shared.
struct Client {
    own: QueuePair<transport::Rc>,
    served: QueuePair<transport::Rc>,
    sent: u64,
    received: Vec<u64>,
}

/// A server of many clients with few receives, which are shared.
struct Shop {
    server: Server,
    events: AsyncEvents,
    srq: OwnedSrq,
    /// Where the server's ends complete.
    cq: OwnedCq,
    clients: ByQpn<Client>,
    /// Receives that are not posted: each has eight bytes of the buffer.
    free: Vec<usize>,
    low: bool,
    refills: usize,
}

/// Receives that can be posted, and how many are left when the queue tells.
const STOCK: usize = 24;
const LOW: u32 = 7;

impl Shop {
    fn new(clients: usize) -> Self {
        let server = Server::new();
        let device = server.pd.device();
        let cq = device.completion_queue(1023).build().expect("a CQ");
        let srq = server.pd.shared_recv_queue(STOCK as u32, 1).expect("an SRQ");
        let (events, free) = (device.async_events(), (0..STOCK).collect());
        let mut shop = Self { server, events, srq, cq, clients: ByQpn::new(), free, low: true, refills: 0 };
        for _ in 0..clients {
            let Server { pd, cq, path, .. } = &shop.server;
            let builder = pd.queue_pair(cq, cq).sends(16).no_receives().inline(8);
            let mut own = builder.build().expect("a queue pair");
            let builder = pd.queue_pair(&shop.cq, &shop.cq);
            let mut served = builder.sends(1).shared_recv_queue(shop.srq.handle()).build().expect("a queue pair");
            let ends = [own.qp.endpoint(path), served.qp.endpoint(path)];
            for qp in [&own.qp, &served.qp] {
                qp.to_init(path).expect("INIT");
            }
            served.connect(path, &ends[1], &ends[0]).expect("RTS");
            own.connect(path, &ends[0], &ends[1]).expect("RTS");
            let client = Client { own, served, sent: 0, received: Vec::new() };
            assert!(shop.clients.insert(client.served.qp.qpn(), client).is_none());
        }
        shop
    }

    /// Posts all that is free, and asks to be told again.
    fn refill(&mut self) {
        for place in self.free.drain(..) {
            let sge = self.server.buffer.sge_of(place * 8..place * 8 + 8);
            // SAFETY: the buffer is as old as the server, and is read when the receive has completed.
            unsafe { self.srq.post_unchecked(WrId(place as u64), &[sge]) }.expect("room");
        }
        self.srq.handle().arm_limit(LOW).expect("armed");
        (self.low, self.refills) = (false, self.refills + 1);
    }

    /// Sees that the queue runs low.
    fn told(&mut self, event: AsyncEvent) {
        let limit = AsyncEvent::Srq { srqn: self.srq.handle().srqn(), kind: SrqEvent::LimitReached };
        if event == limit {
            assert!(!self.low, "told twice, asked once");
            self.low = true;
        } else {
            assert!(matches!(event, AsyncEvent::Qp { kind: QpEvent::CommunicationEstablished, .. }), "{event:?}");
        }
    }

    /// Takes the completions that have come.
    fn serve(&mut self) -> usize {
        if let Some(event) = self.events.wait_timeout(Duration::ZERO).expect("asked") {
            self.told(event);
        }
        let Self { srq, cq, clients, free, server, .. } = self;
        let done = cq.poll_with(16, |cqe| {
            assert_eq!(cqe.check(), Ok(Side::Responder));
            let client = clients.find(&cqe).expect("of one of them");
            // SAFETY: each client receives from there; polled once.
            let place = unsafe { srq.retire(&cqe) }.expect("posted").0 as usize;
            let mut bytes = [0; 8];
            server.buffer.read(place * 8, &mut bytes);
            client.received.push(u64::from_ne_bytes(bytes));
            free.push(place);
        });
        // Completions may lag behind the event.
        if self.low && self.free.len() > STOCK - LOW as usize {
            self.refill();
        }
        done
    }

    /// Each client sends, and all is received.
    fn round(&mut self) {
        let senders: ByQpn<_> = self.clients.iter().fold(ByQpn::new(), |mut all, (served, client)| {
            all.insert(client.own.qp.qpn(), served);
            all
        });
        for (_, client) in self.clients.iter_mut() {
            client.own.sq.post(&wqe::send().inline(&client.sent.to_ne_bytes()).signaled(WrId(0))).expect("room");
            client.sent += 1;
        }
        let (begin, wanted) = (Instant::now(), self.clients.len());
        let (mut sent, mut received) = (0, 0);
        while sent < wanted || received < wanted {
            received += self.serve();
            let Self { server, clients, .. } = self;
            sent += server.cq.poll_with(16, |cqe| {
                assert_eq!(cqe.check(), Ok(Side::Requester));
                let client = senders.get(cqe.qpn()).and_then(|&served| clients.get_mut(served)).expect("one of them");
                client.own.sq.retire(&cqe).expect("its own");
            });
            assert!(begin.elapsed() < Duration::from_secs(20), "{sent} sent, {received} received of {wanted}");
        }
    }
}

/// One shared queue, one completion queue, each completion found by its number, and more receives posted each time that
/// the queue tells that it runs low, and not before. A client that leaves takes none along.
#[test]
fn receives_of_many_clients_are_refilled_when_they_run_low() {
    let mut shop = Shop::new(12);
    shop.refill();
    (0..30).for_each(|_| shop.round());
    // 360 messages by 24 receives, of which 18 and more are used between two refills.
    assert!((15..=20).contains(&shop.refills), "{}", shop.refills);
    while shop.clients.len() > 9 {
        let leaving = shop.clients.iter().next().map(|(qpn, _)| qpn).expect("some");
        let client = shop.clients.remove(leaving).expect("there");
        assert_eq!(client.received, (0..client.sent).collect::<Vec<_>>());
        // Others may come meanwhile, that of the limit among them.
        let mut others = Vec::new();
        let patience = Duration::from_secs(20);
        let left = shop.events.leave_shared_queue(&client.served.qp, patience, |event| others.push(event));
        left.expect("told of its last WQE");
        others.into_iter().for_each(|event| shop.told(event));
        drop(client);
        (0..5).for_each(|_| shop.round());
    }
    assert!(shop.clients.iter().all(|(_, it)| it.received == (0..it.sent).collect::<Vec<_>>()));
    assert_eq!(shop.srq.posted() as usize + shop.free.len(), STOCK, "each receive is accounted for");
}
