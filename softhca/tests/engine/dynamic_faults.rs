//! Dynamic connections on a network that loses, doubles and reorders, and among peers that send anything.
//!
//! Faults of DC belong here, orderly connections in `dynamic.rs`.

use crate::lab::*;
use crate::net::{KEY, Net, Target};
use proptest::prelude::*;
use softhca::context::{DctState, QpState, Transport};
use softhca::event::QpEvent;
use softhca::packet::{
    AcceptEth, Aeth, AethSyndrome, AtomicAckEth, AtomicEth, Bth, Carries, ConnectEth, DcEth, ExtendedAtomicEth,
    Headers, Ieth, ImmDt, Masked, Opcode, Operation, Reth, Width,
};
use softhca::wire::fault::FaultConfig;
use softhca::wire::in_process::{InProcessWire, QUEUE_FRAMES};
use softhca::wire::{Frame, Macs, Route, Wire};

/// The way from a stranger to the target.
const OF_STRANGER: Route =
    Route { slid: 99, dlid: 2, sl: 0, grh: None, macs: Macs { source: [0; 6], destination: [0; 6] } };

/// A small generator of the tests' own, so that a seed means the same for ever.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Each request changes something once and once only: a counter at its target.
#[test]
fn everything_is_done_once_on_a_bad_network() {
    for seed in 1..=20 {
        let faults =
            FaultConfig { drop: 20, duplicate: 30, reorder: 30, delay: 20, seed: seed * 100, ..FaultConfig::default() };
        let mut net = Net::new(4, Options { rq_log: 6, ..Options::patient(faults) });
        let targets: Vec<Target> = (0..4).map(|node| net.target(node)).collect();
        let mut dice = Dice(seed);
        let (mut added, mut sent) = ([0u64; 4], [0usize; 4]);
        for node in 0..4 {
            for i in 0..64 {
                let data = net.nodes[node].data + 0x2_0000 + 0x800 * i;
                net.nodes[node].post_recv(&[(data, 0x800)]);
            }
        }
        for round in 0..20u64 {
            for from in 0..4 {
                let to = dice.roll(4) as usize;
                let (data, key) = (net.nodes[to].data, net.nodes[to].key);
                let (at, own) = (net.nodes[from].data, net.nodes[from].key);
                let wr = match dice.roll(3) {
                    0 => {
                        added[to] += round + 1;
                        Wr::add(data, key, round + 1).sge(at + 0x100, 8, own)
                    }
                    1 if sent[to] < 60 => {
                        sent[to] += 1;
                        Wr::send().with_imm(round as u32).sge(at + 0x1000, 700, own)
                    }
                    _ => Wr::write(data + 0x1_0000 + 0x1000 * from as u64, key).sge(at + 0x1000, 1200, own),
                };
                net.nodes[from].post(&targets[to].of(wr));
            }
        }
        net.settle();
        for node in 0..4 {
            let done = net.nodes[node].poll_send();
            assert!(done.iter().all(|cqe| cqe.opcode == REQ), "seed {seed}, node {node}: {done:?}");
            assert_eq!(done.len(), 20, "seed {seed}");
            let data = net.nodes[node].data;
            let counter = net.nodes[node].memory.read(data, 8);
            assert_eq!(counter, added[node].to_ne_bytes(), "seed {seed}, node {node}");
            let received = net.nodes[node].poll_recv();
            assert_eq!(received.len(), sent[node], "seed {seed}, node {node}");
            assert!(received.iter().all(|cqe| cqe.byte_cnt == 700), "seed {seed}, node {node}: {received:?}");
        }
    }
}

/// Copies of packets of an earlier connection come when the next one is there, or after it.
#[test]
fn late_copies_of_an_earlier_connection_do_nothing() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let (data, key, at, own) = (net.nodes[1].data, net.nodes[1].key, net.nodes[0].data, net.nodes[0].key);
    let copies = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let taken = copies.clone();
    net.nodes[0].script(move |packet| {
        taken.lock().unwrap().push((packet.headers, packet.payload.to_vec()));
        Fate::Deliver
    });
    let mut stranger = net.stranger();
    for round in 1..=3u64 {
        net.nodes[0].post(&target.of(Wr::add(data, key, 1).sge(at, 8, own)));
        net.run();
        let so_far = copies.lock().unwrap().clone();
        replay(&mut stranger, &so_far);
        net.run();
        assert_eq!(net.nodes[1].memory.read(data, 8), round.to_ne_bytes());
        // Another request on the live connection, after all that.
        net.nodes[0].post(&target.of(Wr::write(data + 64, key).inline(b"alive")));
        net.run();
        net.settle();
        replay(&mut stranger, &so_far);
        net.run();
        assert_eq!(net.nodes[1].memory.read(data, 8), round.to_ne_bytes());
    }
    assert_eq!(net.nodes[0].poll_send().iter().filter(|cqe| cqe.opcode == REQ).count(), 6);
}

fn replay(stranger: &mut InProcessWire, packets: &[(Headers, Vec<u8>)]) {
    for (headers, payload) in packets {
        let mut draft = headers.build(payload.len()).unwrap();
        draft.payload_mut().copy_from_slice(payload);
        stranger
            .send(Frame::new(Route { slid: 1, dlid: 2, sl: 0, grh: None, macs: Macs::default() }, draft.finish()))
            .unwrap();
    }
}

/// Each packet of the handshake is lost in turn, or doubled.
#[test]
fn connecting_is_repeated_as_requests_are() {
    for operation in [Operation::Connect, Operation::Accept, Operation::Disconnect] {
        for fate in [Fate::Drop, Fate::Twice, Fate::Late] {
            let mut net = Net::new(3, Options::default());
            let targets = [net.target(1), net.target(2)];
            for node in 0..3 {
                let mut seen = 0;
                net.nodes[node].script(move |packet| {
                    let hit = packet.headers.bth.opcode.operation() == operation;
                    seen += u32::from(hit);
                    if hit && seen % 2 == 1 { fate } else { Fate::Deliver }
                });
            }
            for round in 0..6usize {
                let node = 1 + round % 2;
                let (data, key) = (net.nodes[node].data, net.nodes[node].key);
                net.nodes[0].post(&targets[round % 2].of(Wr::write(data, key).inline(&[round as u8])));
            }
            let done = net.complete(0, 6);
            assert!(done.iter().all(|cqe| cqe.opcode == REQ), "{operation:?}: {done:?}");
            net.settle();
            assert_eq!([net.connections(1, targets[0]), net.connections(2, targets[1])], [0, 0], "{operation:?}");
        }
    }
    // Nobody is there at all.
    let mut net = Net::new(1, Options::default());
    let nobody = Target { lid: 77, dctn: 0x999, gid: None };
    net.nodes[0].post(&nobody.of(Wr::send().inline(b"x")));
    assert_eq!(net.complete(0, 1)[0].syndrome, 0x15);
    assert_eq!((net.nodes[0].sent(Operation::Connect).len(), net.nodes[0].state()), (4, QpState::Err));
}

/// The link of the target's port is down for a while: packets of that time are repeated.
#[test]
fn a_cable_that_is_pulled_and_plugged_in_again_loses_nothing() {
    let (mut net, target, _) = Net::to_one(Options { retry_cnt: 7, ..Options::default() });
    let (data, key, at, own) = (net.nodes[1].data, net.nodes[1].key, net.nodes[0].data, net.nodes[0].key);
    for round in 1..=4u64 {
        net.nodes[1].device.set_port_up(1, false).unwrap();
        net.nodes[0].post(&target.of(Wr::add(data, key, 1).sge(at, 8, own)));
        net.run();
        assert!(net.nodes[0].poll_send().is_empty());
        net.nodes[1].device.set_port_up(1, true).unwrap();
        assert_eq!(net.complete(0, 1)[0].opcode, REQ);
        assert_eq!(net.nodes[1].memory.read(data, 8), round.to_ne_bytes());
        // Every second time without a connection.
        if round % 2 == 0 {
            net.settle();
        }
    }
}

/// A target whose CQ takes no further CQEs cannot report, so it serves no initiator.
#[test]
fn a_target_whose_queue_overruns_serves_nobody() {
    let (mut net, target, _) = Net::to_one(Options { rq_log: 3, ..Options::default() });
    let data = net.nodes[1].data;
    // Room for 32 CQEs, of which the host takes none.
    for round in 0..5 {
        for i in 0..7 {
            net.nodes[1].post_recv(&[(data, 64)]);
            net.nodes[0].post(&target.of(Wr::send().inline(&[round * 7 + i])));
        }
        net.run();
    }
    let info = net.nodes[1].device.query_dct(target.dctn).unwrap();
    assert_eq!((info.state, info.connections), (DctState::Drained, 0));
    net.nodes[0].poll_send();
    net.nodes[1].post_recv(&[(data, 64)]);
    net.nodes[0].post(&target.of(Wr::send().inline(b"more")));
    assert_eq!(net.complete(0, 1)[0].syndrome, 0x15, "nobody answers");
}

/// An initiator whose CQ overruns is in error, and its target does not wait for it.
#[test]
fn an_initiator_whose_queue_overruns_leaves() {
    let (mut net, target, (data, key)) = Net::to_one(Options { sq_log: 3, ..Options::default() });
    // Room for 16 CQEs, of which the host takes none.
    for round in 0..5 {
        for _ in 0..4 {
            net.nodes[0].post(&target.of(Wr::write(data, key).inline(&[round])));
        }
        net.run();
    }
    assert_eq!((net.nodes[0].state(), net.connections(1, target)), (QpState::Err, 0));
    assert_eq!(net.nodes[0].events, [QpEvent::Fatal]);
}

/// More initiators than a target has room for: the others wait as for a receiver that is not ready.
#[test]
fn a_target_that_is_full_lets_others_wait() {
    let (mut net, target, (data, key)) = Net::to_one(Options { rnr_retry: 7, min_rnr_timer: 20, ..Options::default() });
    let mut stranger = net.stranger();
    let connect = |stranger: &mut InProcessWire, source| {
        let connect = ConnectEth { access_key: KEY, log_mtu: 8, lifetime: 10 };
        let packet = handshake(target.dctn, DcEth { source, connection: 5 }, Some(connect));
        stranger.send(Frame::new(OF_STRANGER, packet)).unwrap();
    };
    for source in 0..5000 {
        connect(&mut stranger, source);
        if source % 100 == 0 {
            net.run();
        }
    }
    net.run();
    assert_eq!(net.connections(1, target), 4096);
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"later")));
    net.run();
    assert!(net.nodes[0].poll_send().is_empty());
    // Those that never sent a request are forgotten, and there is room.
    assert_eq!(net.complete(0, 1)[0].opcode, REQ);
    assert_eq!(net.connections(1, target), 1);
}

/// The number of an attempt is the stranger's to choose: refusals of all attempts wait in one queue.
#[test]
fn refusals_that_nobody_reads_do_not_pile_up() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let mut stranger = net.stranger();
    let now = net.now;
    for connection in 1..=10_000 {
        let connect = ConnectEth { access_key: KEY + 1, log_mtu: 8, lifetime: 10 };
        let packet = handshake(target.dctn, DcEth { source: 0, connection }, Some(connect));
        stranger.send(Frame::new(OF_STRANGER, packet)).unwrap();
        net.nodes[1].step(now);
    }
    assert_eq!(net.nodes[1].device.query_dct(target.dctn).unwrap().key_violations, 10_000);
    let mut refusals = 0;
    while stranger.recv().is_some() {
        refusals += 1;
        net.nodes[1].step(now);
    }
    // Those that have a place in the stranger's queue, and those of one sender that wait.
    assert_eq!(refusals, QUEUE_FRAMES + 64);
}

/// Each connection has a queue, which stays when the connection has ended.
#[test]
fn answers_of_ended_connections_do_not_pile_up() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let mut stranger = net.stranger();
    let now = net.now;
    for connection in 1..=10_000 {
        let connect = ConnectEth { access_key: KEY, log_mtu: 8, lifetime: 10 };
        for connect in [Some(connect), None] {
            let packet = handshake(target.dctn, DcEth { source: 0, connection }, connect);
            stranger.send(Frame::new(OF_STRANGER, packet)).unwrap();
        }
        // As many packets as a step takes.
        if connection % 8 == 0 {
            net.nodes[1].step(now);
            assert_eq!(net.connections(1, target), 0);
        }
    }
    let mut answers = 0;
    while stranger.recv().is_some() {
        answers += 1;
        if answers % 500 == 0 {
            net.nodes[1].step(now);
        }
    }
    // Beside those in the stranger's queue: one for each connection that there may be, and refusals.
    assert_eq!(answers, QUEUE_FRAMES + 4096 + 64);
}

#[test]
fn other_partitions_are_not_let_in() {
    let (mut net, target, _) = Net::to_one(Options::default());
    let mut stranger = net.stranger();
    for (pkey, connections) in [(0x1234, 0), (0x8001, 0), (0x7fff, 1), (0xffff, 2)] {
        let connect = ConnectEth { access_key: KEY, log_mtu: 8, lifetime: 31 };
        let mut packet = handshake(target.dctn, DcEth { source: pkey, connection: 5 }, Some(connect));
        packet[2..4].copy_from_slice(&(pkey as u16).to_be_bytes());
        stranger.send(Frame::new(OF_STRANGER, packet)).unwrap();
        net.run();
        assert_eq!(net.connections(1, target), connections, "P_Key {pkey:#x}");
    }
    // One that names another's connection does not end it.
    for (source, left) in [(0x1111, 2), (0xffff, 1)] {
        let packet = handshake(target.dctn, DcEth { source, connection: 2 }, None);
        stranger.send(Frame::new(OF_STRANGER, packet)).unwrap();
        net.run();
        assert_eq!(net.connections(1, target), left);
    }
}

fn handshake(dctn: u32, dc: DcEth, connect: Option<ConnectEth>) -> Vec<u8> {
    let operation = if connect.is_some() { 0xd8 } else { 0xda };
    let mut headers = Headers::new(Bth {
        opcode: Opcode::new(operation).unwrap(),
        solicited: false,
        migrated: true,
        pkey: 0xffff,
        dest_qp: dctn,
        ack_request: true,
        psn: 0x123,
    });
    headers.dc = Some(dc);
    headers.connect = connect;
    headers.build(0).unwrap().finish()
}

/// A packet that parses, with fields close to those that a receiver expects.
#[derive(Clone, Debug)]
struct Forged {
    opcode: u8,
    to_target: bool,
    psn: u32,
    source: u32,
    connection: u32,
    key: u8,
    log_mtu: u8,
    addr: u64,
    len: u32,
    syndrome: u8,
    payload: usize,
}

prop_compose! {
    fn forged()(
        opcode in 0xc0u8..0xdb,
        to_target: bool,
        psn in prop_oneof![4 => 0x120u32..0x12a, 1 => 0..1u32 << 24],
        source in prop_oneof![Just(0x100u32), Just(0x200), Just(0x201), any::<u32>()],
        connection in prop_oneof![0u32..6, any::<u32>()],
        key in 0u8..4,
        log_mtu in prop_oneof![3 => Just(8u8), 1 => any::<u8>()],
        addr in prop_oneof![Just(0u64), 0..DATA_BYTES as u64, any::<u64>()],
        len in prop_oneof![Just(0u32), 1..3000u32, any::<u32>()],
        syndrome in any::<u8>(),
        payload in prop_oneof![Just(0usize), Just(256), 0..=4096usize],
    ) -> Forged {
        Forged { opcode, to_target, psn, source, connection, key, log_mtu, addr, len, syndrome, payload }
    }
}

impl Forged {
    fn packet(&self, node: &Node, dctn: u32) -> Option<Vec<u8>> {
        let opcode = Opcode::new(self.opcode)?;
        let carries = opcode.carries();
        let rkey = if self.key == 0 { self.len } else { node.key };
        let addr = node.data.wrapping_add(self.addr);
        let has = |header| carries.has(header);
        let access_key = if self.key == 0 { 0 } else { KEY };
        let headers = Headers {
            bth: Bth {
                opcode,
                solicited: false,
                migrated: true,
                pkey: 0xffff,
                dest_qp: if self.to_target { dctn } else { node.qpn },
                ack_request: true,
                psn: self.psn,
            },
            deth: None,
            xrc: None,
            dc: has(Carries::DC).then_some(DcEth { source: self.source & 0xff_ffff, connection: self.connection }),
            reth: has(Carries::RETH).then_some(Reth { addr, rkey, len: self.len }),
            extended: has(Carries::EXTENDED).then_some(ExtendedAtomicEth {
                addr,
                rkey,
                width: if self.psn & 1 == 0 { Width::Four } else { Width::Eight },
                masked: Masked::Add { add: 1, boundary: 0 },
            }),
            atomic: has(Carries::ATOMIC).then_some(AtomicEth { addr, rkey, swap_add: 1, compare: 0 }),
            aeth: has(Carries::AETH)
                .then_some(Aeth { syndrome: AethSyndrome::from_code(self.syndrome), msn: self.len >> 8 }),
            atomic_ack: has(Carries::ATOMIC_ACK).then_some(AtomicAckEth { original: 3 }),
            imm: has(Carries::IMM).then_some(ImmDt(1)),
            ieth: has(Carries::IETH).then_some(Ieth(rkey)),
            connect: has(Carries::CONNECT).then_some(ConnectEth { access_key, log_mtu: self.log_mtu, lifetime: 10 }),
            accept: has(Carries::ACCEPT).then_some(AcceptEth { connection: self.connection }),
        };
        let payload = if opcode.has_payload() { self.payload } else { 0 };
        headers.build(payload).ok().map(|draft| draft.finish())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_peer(packets in prop::collection::vec(forged(), 1..60)) {
        let mut net = Net::new(2, Options { mtu: 256, ..Options::default() });
        let [target, far] = [net.target(1), net.target(0)];
        let mut attacker = net.stranger();
        let (local, key) = (net.nodes[1].data + 0x8000, net.nodes[1].key);
        for i in 0..4u64 {
            let data = net.nodes[1].data + 0x1000 * i;
            net.nodes[1].post_recv(&[(data, 0x300)]);
        }
        // The attacker uses the other's address, and some of the true peer's packets are lost.
        let mut count = 0;
        net.nodes[0].script(move |_| {
            count += 1;
            if count % 3 == 0 { Fate::Drop } else { Fate::Deliver }
        });
        let remote = (net.nodes[0].data, net.nodes[0].key);
        for wr in [
            Wr::write(remote.0, remote.1).sge(local, 600, key),
            Wr::read(remote.0, remote.1).sge(local, 1000, key),
            Wr::add(remote.0, remote.1, 1).sge(local, 8, key),
            Wr::send().sge(local, 10, key),
        ] {
            net.nodes[1].post(&far.of(wr));
        }
        let route = Route { slid: 1, dlid: 2, sl: 0, grh: None, macs: Macs::default() };
        for forged in &packets {
            let Some(packet) = forged.packet(&net.nodes[1], target.dctn) else { continue };
            attacker.send(Frame::new(route, packet)).expect("there is room");
            let now = net.now;
            net.nodes[1].step(now);
            net.nodes[0].step(now);
        }
        net.run();
        prop_assert!(net.nodes[1].poll_send().len() <= 4);
        prop_assert!(net.nodes[1].poll_recv().len() <= 4);
    }

    #[test]
    fn any_ring(
        bytes in prop::collection::vec(any::<u8>(), 64 * 64),
        opcodes in prop::collection::vec(0u8..0x20, 64),
        sane in 0u8..4,
        doorbells in prop::collection::vec(any::<u16>(), 1..8),
    ) {
        let mut net = Net::new(1, Options::default());
        prop_assert_eq!(net.nodes[0].device.qp_context(net.nodes[0].qpn).unwrap().transport, Transport::Dc);
        net.nodes[0].scribble(&bytes, &opcodes, sane);
        for pi in doorbells {
            net.nodes[0].pi = pi % 100;
            net.nodes[0].ring();
            net.run();
        }
        net.settle();
        prop_assert!(net.nodes[0].poll_send().len() <= 100);
    }
}
