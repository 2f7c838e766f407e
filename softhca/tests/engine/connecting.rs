//! The handshake of dynamic connections: attempts, lifetimes, and responses that an initiator believes.
//!
//! Requests to connect and their answers belong here, networks that lose them in `dynamic_faults.rs`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::lab::*;
use crate::net::Net;
use softhca::packet::{AcceptEth, Aeth, AethSyndrome, Bth, DcEth, Headers, Opcode, Operation};
use softhca::wire::{Frame, Macs, Route, Wire};

/// A request to connect that is repeated is the same attempt, and makes no second connection.
#[test]
fn a_repeated_attempt_is_one_connection() {
    let (mut net, target, (data, key)) = Net::to_one(Options::default());
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let seen = attempts.clone();
    net.nodes[0].script(move |packet| {
        if packet.headers.connect.is_some() {
            seen.lock().unwrap().push(packet.headers.dc.map(|dc| dc.connection));
        }
        Fate::Deliver
    });
    net.nodes[1].script(|_| Fate::Drop);
    net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"once")));
    for _ in 0..3 {
        net.run();
        assert_eq!(net.connections(1, target), 1);
        net.now = net.nodes[0].device.next_deadline().expect("the timer runs");
    }
    net.nodes[1].script(|_| Fate::Deliver);
    assert_eq!(net.complete(0, 1)[0].opcode, REQ);
    assert_eq!(net.connections(1, target), 1);
    let attempts = attempts.lock().unwrap();
    assert_eq!(*attempts, [attempts[0]; 4]);
}

/// A target keeps a connection longer than its initiator is idle and then repeats a request, and longest for an
/// initiator whose timer never runs out: its code is 0 (IBTA vol. 1, 9.9.2.1.1).
#[test]
fn a_connection_lives_longer_than_its_initiator_tries() {
    for (timeout, lifetime) in [(0, 31), (1, 13), (7, 13), (8, 14), (14, 20), (25, 31), (26, 31), (31, 31)] {
        let (mut net, target, _) = Net::to_one(Options { timeout, ..Options::default() });
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        net.nodes[0].script(move |packet| {
            seen.lock().unwrap().extend(packet.headers.connect.map(|connect| connect.lifetime));
            Fate::Drop
        });
        net.nodes[0].post(&target.of(Wr::send().inline(b"x")));
        net.run();
        assert_eq!(*asked.lock().unwrap(), [lifetime], "{timeout}");
    }
}

/// An initiator with a short timer still has its connection after a pause. UCX's tests set 100 µs, and met status 12.
#[test]
fn a_connection_outlives_a_pause() {
    let (mut net, target, (data, key)) = Net::to_one(Options { timeout: 5, ..Options::default() });
    for _ in 0..3 {
        net.nodes[0].post(&target.of(Wr::write(data, key).inline(b"again")));
        net.run();
        net.now += Duration::from_millis(9);
        net.run();
    }
    assert_eq!(net.nodes[0].poll_send().iter().map(|cqe| cqe.syndrome).collect::<Vec<_>>(), [0; 3]);
    assert_eq!(net.nodes[0].sent(Operation::Connect).len(), 1);
}

/// A response to an initiator from the address of the target.
fn respond(net: &Net, opcode: u8, dc: DcEth, syndrome: u8, accept: Option<AcceptEth>) {
    let mut headers = Headers::new(Bth {
        opcode: Opcode::new(opcode).unwrap(),
        solicited: false,
        migrated: true,
        pkey: 0xffff,
        dest_qp: net.nodes[0].qpn,
        ack_request: false,
        psn: 0x123,
    });
    (headers.dc, headers.accept) = (Some(dc), accept);
    headers.aeth = Some(Aeth { syndrome: AethSyndrome::from_code(syndrome), msn: 0 });
    let route = Route { slid: 2, dlid: 1, sl: 0, grh: None, macs: Macs::default() };
    net.stranger().send(Frame::new(route, headers.build(0).unwrap().finish())).unwrap();
}

/// An initiator hears the target that it has asked, in this attempt, and then the one that it is connected to.
#[test]
fn an_initiator_hears_its_target_alone() {
    const ACKNOWLEDGE: u8 = 0xd1;
    const ACCEPT: u8 = 0xd9;
    const ACK: u8 = 0x1f;
    const SEQUENCE: u8 = 0x60;
    const REMOTE_ACCESS: u8 = 0x62;
    let accept = Some(AcceptEth { connection: 77 });
    // Target, attempt and connection: this initiator's, or numbers with these differences. Whether it has a connection
    // then, and the syndrome of the request.
    for (opcode, [source, attempt], syndrome, connected, failed) in [
        (ACCEPT, [0, 0], ACK, true, None),
        (ACCEPT, [1, 0], ACK, false, None),
        (ACCEPT, [0, 1], ACK, false, None),
        (ACCEPT, [1, 1], ACK, false, None),
        (ACKNOWLEDGE, [0, 0], REMOTE_ACCESS, false, Some(0x13)),
        (ACKNOWLEDGE, [1, 0], REMOTE_ACCESS, false, None),
        (ACKNOWLEDGE, [0, 1], REMOTE_ACCESS, false, None),
        (ACKNOWLEDGE, [0, 0], SEQUENCE, false, None),
    ] {
        let (mut net, target, _) = Net::to_one(Options::default());
        net.nodes[1].script(|_| Fate::Drop);
        let asked = Arc::new(Mutex::new(0));
        let seen = asked.clone();
        net.nodes[0].script(move |packet| {
            if packet.headers.connect.is_some() {
                *seen.lock().unwrap() = packet.headers.dc.unwrap().connection;
            }
            Fate::Deliver
        });
        net.nodes[0].post(&target.of(Wr::send().inline(b"x")));
        net.run();
        let dc = DcEth { source: target.dctn + source, connection: *asked.lock().unwrap() + attempt };
        respond(&net, opcode, dc, syndrome, accept.filter(|_| opcode == ACCEPT));
        net.run();
        let name = format!("{opcode:#x} {source} {attempt} {syndrome:#x}");
        assert_eq!(net.nodes[0].sent(Operation::Send).len(), usize::from(connected), "{name}");
        assert_eq!(net.nodes[0].sent(Operation::Connect).len(), 1, "{name}");
        let done: Vec<_> = net.nodes[0].poll_send().iter().map(|cqe| cqe.syndrome).collect();
        assert_eq!(done, failed.into_iter().collect::<Vec<_>>(), "{name}");
        if !connected {
            continue;
        }
        // Connected: acknowledgements of other connections and targets say nothing.
        for (dc, completed) in [
            (DcEth { source: target.dctn, connection: 76 }, 0),
            (DcEth { source: target.dctn + 1, connection: 77 }, 0),
            (DcEth { source: target.dctn, connection: *asked.lock().unwrap() }, 0),
            (DcEth { source: target.dctn, connection: 77 }, 1),
        ] {
            respond(&net, ACKNOWLEDGE, dc, ACK, None);
            net.run();
            assert_eq!(net.nodes[0].poll_send().len(), completed, "{dc:?}");
        }
    }
}
