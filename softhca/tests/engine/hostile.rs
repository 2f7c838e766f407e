//! Peers and hosts that send and post anything: no panic, no endless work, and never more packets than memory has room
//! for.
//!
//! Arbitrary bytes belong here, single wrong requests in `failures.rs`.

use crate::lab::*;
use proptest::prelude::*;
use softhca::context::Transport;
use softhca::event::QpEvent;
use softhca::packet::{
    Aeth, AethSyndrome, AtomicAckEth, AtomicEth, Bth, Carries, ExtendedAtomicEth, Headers, Ieth, ImmDt, Masked, Opcode,
    Reth, Width, XrcEth,
};
use softhca::wire::{Frame, Macs, Route, Wire};

/// A packet that parses, with fields close to those that the receiver expects.
#[derive(Clone, Debug)]
struct Forged {
    opcode: u8,
    srq: u8,
    psn: u32,
    addr: u64,
    len: u32,
    key: u8,
    syndrome: u8,
    payload: usize,
    ack_request: bool,
}

prop_compose! {
    fn forged()(
        opcode in 0u8..0x18,
        srq in 0u8..4,
        psn in prop_oneof![4 => 0x11cu32..0x130, 1 => 0..1u32 << 24],
        addr in prop_oneof![Just(0u64), 0..DATA_BYTES as u64, any::<u64>()],
        len in prop_oneof![Just(0u32), 1..3000u32, Just(1 << 31), any::<u32>()],
        key in 0u8..4,
        syndrome in any::<u8>(),
        payload in prop_oneof![Just(0usize), Just(256), Just(64), 0..=4096usize],
        ack_request: bool,
    ) -> Forged {
        Forged { opcode, srq, psn, addr, len, key, syndrome, payload, ack_request }
    }
}

impl Forged {
    fn packet(&self, node: &Node, transport: Transport) -> Option<Vec<u8>> {
        let service = match transport {
            Transport::Uc => 1 << 5,
            Transport::Xrc => 5 << 5,
            _ => 0,
        };
        let opcode = Opcode::new(self.opcode | service)?;
        let carries = opcode.carries();
        let rkey = if self.key == 0 { self.len } else { node.key };
        let addr = node.data.wrapping_add(self.addr);
        let headers = Headers {
            bth: Bth {
                opcode,
                solicited: false,
                migrated: true,
                pkey: 0xffff,
                dest_qp: node.qpn,
                ack_request: self.ack_request,
                psn: self.psn,
            },
            deth: None,
            reth: carries.has(Carries::RETH).then_some(Reth { addr, rkey, len: self.len }),
            extended: carries.has(Carries::EXTENDED).then_some(ExtendedAtomicEth {
                addr,
                rkey,
                width: if self.psn & 1 == 0 { Width::Four } else { Width::Eight },
                masked: Masked::Add { add: 1, boundary: 0 },
            }),
            atomic: carries.has(Carries::ATOMIC).then_some(AtomicEth { addr, rkey, swap_add: 1, compare: 0 }),
            aeth: carries
                .has(Carries::AETH)
                .then_some(Aeth { syndrome: AethSyndrome::from_code(self.syndrome), msn: self.len >> 8 }),
            atomic_ack: carries.has(Carries::ATOMIC_ACK).then_some(AtomicAckEth { original: 3 }),
            imm: carries.has(Carries::IMM).then_some(ImmDt(1)),
            ieth: carries.has(Carries::IETH).then_some(Ieth(rkey)),
            xrc: carries.has(Carries::XRC).then_some(XrcEth(node.srqn.unwrap_or(0) + u32::from(self.srq / 3))),
            dc: None,
            connect: None,
            accept: None,
        };
        let payload = if opcode.has_payload() { self.payload } else { 0 };
        headers.build(payload).ok().map(|draft| draft.finish())
    }
}

/// Each WQE index appears at most once in the completions.
fn assert_once(done: &[Cqe]) {
    let mut counters: Vec<_> = done.iter().map(|c| c.wqe_counter).collect();
    counters.sort_unstable();
    assert!(counters.windows(2).all(|two| two[0] != two[1]), "{done:?}");
}

/// A WRITE whose payload has another length than its header says.
#[test]
fn a_write_of_another_length_than_its_header_says() {
    let (first, only) = (0x06, 0x0a);
    for (opcode, len, payload, is_taken) in [
        (only, 64, 64, true),
        (only, 64, 68, false),
        (only, 64, 60, false),
        (only, 0, 4, false),
        (only, 4, 0, false),
        (first, 512, 256, true),
        (first, 256, 256, false),
        (first, 252, 256, false),
    ] {
        let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
        let before = lab.b.fill(0, 1024, 1);
        let (psn, key) = (0x123, 1);
        let write = Forged { opcode, srq: 0, psn, addr: 64, len, key, syndrome: 0, payload, ack_request: true };
        let packet = write.packet(&lab.b, Transport::Rc).expect("a packet");
        let route = Route { slid: 1, dlid: 2, sl: 0, grh: None, macs: Macs::default() };
        lab.attach_stranger().send(Frame::new(route, packet)).expect("there is room");
        lab.run();
        let events: &[_] = if is_taken { &[] } else { &[QpEvent::RequestError] };
        assert_eq!(lab.b.events, events, "{payload} bytes of {len}");
        assert_eq!(lab.b.memory.read(lab.b.data, 1024) != before, is_taken, "{payload} bytes of {len}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_peer(
        packets in prop::collection::vec(forged(), 1..40),
        transport in prop_oneof![Just(Transport::Rc), Just(Transport::Uc), Just(Transport::Xrc)],
    ) {
        let options = Options { transport, mtu: 256, ..Options::default() };
        // XRC is attacked at a target, which sends nothing.
        let target = transport == Transport::Xrc;
        let mut lab = Lab::of(options.clone(), Options { srq: target, ..options });
        lab.connect();
        let mut attacker = lab.attach_stranger();
        // The attacker uses the peer's address, and the true peer's packets are lost.
        lab.a.script(|_| Fate::Drop);
        lab.b.script(|_| Fate::Drop);
        for i in 0..4u64 {
            lab.b.post_recv(&[(lab.b.data + 0x1000 * i, 0x300)]);
            let (local, key) = (lab.b.data + 0x8000, lab.b.key);
            if target {
                continue;
            }
            lab.b.post(&match i {
                _ if transport == Transport::Uc => Wr::write(lab.a.data, lab.a.key).sge(local, 600, key),
                0 => Wr::write(lab.a.data, lab.a.key).sge(local, 600, key),
                1 => Wr::read(lab.a.data, lab.a.key).sge(local, 1000, key),
                2 => Wr::add(lab.a.data, lab.a.key, 1).sge(local, 8, key),
                _ => Wr::send().sge(local, 10, key),
            });
        }
        lab.run();
        let route = Route { slid: 1, dlid: 2, sl: 0, grh: None, macs: Macs::default() };
        for forged in &packets {
            let Some(packet) = forged.packet(&lab.b, transport) else { continue };
            attacker.send(Frame::new(route, packet)).expect("there is room");
            lab.b.step(lab.now);
        }
        lab.run();
        assert_once(&lab.b.poll_send());
        let receives = lab.b.poll_recv();
        prop_assert!(receives.len() <= 4);
        assert_once(&receives);
    }

    #[test]
    fn any_ring(
        bytes in prop::collection::vec(any::<u8>(), 64 * 64),
        opcodes in prop::collection::vec(0u8..0x20, 64),
        sane in 0u8..4,
        doorbells in prop::collection::vec(any::<u16>(), 1..8),
        transport in prop_oneof![Just(Transport::Rc), Just(Transport::Ud), Just(Transport::Xrc)],
    ) {
        let options = Options { transport, ..Options::default() };
        let mut lab = Lab::of(options.clone(), Options { srq: transport == Transport::Xrc, ..options });
        lab.connect();
        lab.a.scribble(&bytes, &opcodes, sane);
        for pi in doorbells {
            lab.a.pi = pi % 100;
            lab.a.rq_pi = pi;
            lab.a.ring();
            lab.a.ring_recv();
            lab.run();
        }
        lab.settle();
        assert_once(&lab.a.poll_send());
    }
}
