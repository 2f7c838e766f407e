//! Counters of a port: dropped packets by reason, congestion, and traffic. A script stands for the cable and for the peer.
//!
//! Counters of a port belong here, those of queues and objects in `softhca/tests/ethernet`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use softhca::config::{DeviceConfig, GidType, PortConfig};
use softhca::context::Transport;
use softhca::device::{HW_COUNTERS, hw_counter_names};
use softhca::embedded::{ConnectOptions, CqOptions, EmbeddedDevice, Endpoint, QpOptions};
use softhca::packet::{Bth, Deth, Headers, Opcode};
use softhca::wire::cable::Dropped;
use softhca::wire::{Frame, Grh, Macs, Route, Wire};

/// The peer: its QP and its GID.
const PEER: u32 = 0x77;
const PEER_GID: [u8; 16] = [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 9];
const RC_SEND_ONLY: u8 = 0x04;
const UD_SEND_ONLY: u8 = 0x64;
const QKEY: u32 = 0x1111;

#[derive(Default)]
struct Script {
    arriving: VecDeque<Frame>,
    dropped: VecDeque<(Dropped, u64)>,
    sent: Vec<Frame>,
    /// The peer has no room.
    is_full: bool,
}

struct Cable(Arc<Mutex<Script>>);

impl Wire for Cable {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let mut script = self.0.lock().unwrap();
        if script.is_full {
            return Err(frame);
        }
        script.sent.push(frame);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        self.0.lock().unwrap().arriving.pop_front()
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        self.0.lock().unwrap().dropped.pop_front()
    }
}

/// A device with a connected QP, and one for datagrams.
struct Bench {
    device: EmbeddedDevice,
    script: Arc<Mutex<Script>>,
    rc: u32,
    ud: u32,
}

impl Bench {
    fn new() -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        // The QPs have the first P_Key.
        let port = PortConfig { pkeys: vec![0xffff, 0x8001], ..PortConfig::ethernet(1) };
        let config = DeviceConfig::with_port(port);
        let mut device = EmbeddedDevice::new(config, Box::new(Cable(script.clone()))).unwrap();
        let cq = device.create_cq(CqOptions::new(16)).unwrap();
        let rc = device.create_qp(QpOptions::rc(cq.cqn)).unwrap().qpn;
        let peer = Endpoint { qpn: PEER, lid: 0, gid: PEER_GID, mtu: 1024 };
        device.connect_to(rc, &peer, &ConnectOptions::default()).unwrap();
        let ud = device.create_qp(QpOptions::new(Transport::Ud, cq.cqn)).unwrap().qpn;
        device.activate_ud(ud, QKEY).unwrap();
        Self { device, script, rc, ud }
    }

    /// The way from `sgid` to the device.
    fn route(&self, sgid: [u8; 16], traffic_class: u8) -> Route {
        let dgid = self.device.endpoint(self.rc).gid;
        let grh = Grh { kind: GidType::RoceV2, sgid, dgid, traffic_class, flow_label: 0, hop_limit: 64, udp_sport: 0 };
        Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() }
    }

    /// An empty SEND to the connected QP.
    fn send(&self, pkey: u16) -> Headers {
        Headers::new(Bth {
            opcode: Opcode::new(RC_SEND_ONLY).unwrap(),
            solicited: false,
            migrated: true,
            pkey,
            dest_qp: self.rc,
            ack_request: false,
            psn: 9,
        })
    }

    fn arrives(&mut self, route: Route, packet: Vec<u8>) {
        self.script.lock().unwrap().arriving.push_back(Frame::new(route, packet));
        self.device.step();
    }

    /// Notifications of congestion sent since the last call.
    fn notifications(&self) -> Vec<Frame> {
        self.script.lock().unwrap().sent.drain(..).filter(|frame| frame.packet[0] == 0x81).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        let place = hw_counter_names().iter().position(|&(_, known)| known == name).unwrap();
        self.device.device().hw_counters(1)[place]
    }
}

/// A packet without payload.
fn empty(headers: &Headers) -> Vec<u8> {
    headers.build(0).unwrap().finish()
}

#[test]
fn bytes_that_are_no_packet_are_counted_by_reason() {
    let mut bench = Bench::new();
    bench.script.lock().unwrap().dropped.extend([
        (Dropped::InvariantCrc { found: 1, expected: 2 }, 1),
        (Dropped::InvariantCrc { found: 3, expected: 2 }, 1 << 40),
        (Dropped::IpVersion(5), 1),
        (Dropped::Transport { len: 3 }, 1),
        (Dropped::OtherProtocol { ether_type: 0x806, protocol: 0, port: 0 }, 1),
        (Dropped::NoRoomHere, 1 << 40),
        (Dropped::NoRoomThere, 1 << 40),
    ]);
    bench.device.step();
    assert_eq!((bench.counter("rx_icrc_encapsulated"), bench.counter("port_rcv_errors")), (1 + (1 << 40), 2));
    // Right on the cable, and no packet all the same.
    let route = bench.route(PEER_GID, 0);
    bench.arrives(route, vec![0xff; 12]);
    assert_eq!(bench.counter("port_rcv_errors"), 3);
    assert_eq!(bench.device.device().hw_counters(2), [0; HW_COUNTERS]);
}

#[test]
fn packets_of_other_partitions_and_keys_are_counted() {
    let mut bench = Bench::new();
    let (route, wrong) = (bench.route(PEER_GID, 0), empty(&bench.send(0x8001)));
    bench.arrives(route, wrong);
    assert_eq!((bench.counter("port_rcv_constraint_errors"), bench.counter("out_of_sequence")), (1, 0));
    let right = empty(&bench.send(0xffff));
    bench.arrives(route, right);
    assert_eq!((bench.counter("port_rcv_constraint_errors"), bench.counter("out_of_sequence")), (1, 1));
    let bth = Bth { opcode: Opcode::new(UD_SEND_ONLY).unwrap(), dest_qp: bench.ud, ..bench.send(0xffff).bth };
    let datagram = |qkey| empty(&Headers { deth: Some(Deth { qkey, src_qp: PEER }), ..Headers::new(bth) });
    bench.arrives(route, datagram(QKEY + 1));
    bench.arrives(route, datagram(QKEY));
    assert_eq!(bench.device.device().key_violations(1), (1, 1));
    // The second one found no receive WQE.
    assert_eq!(bench.counter("out_of_buffer"), 1);
}

#[test]
fn marks_of_congestion_are_notified_at_most_every_four_microseconds() {
    let mut bench = Bench::new();
    let packet = empty(&bench.send(0xffff));
    for unmarked in [0, 1, 2, 0xfc] {
        let route = bench.route(PEER_GID, unmarked);
        bench.arrives(route, packet.clone());
    }
    assert_eq!((bench.counter("np_ecn_marked_roce_packets"), bench.notifications().len()), (0, 0));
    let marked = bench.route(PEER_GID, 0x03);
    for (microseconds, notified) in [(0, 1), (3, 0), (1, 1), (4, 1)] {
        bench.device.advance(Duration::from_micros(microseconds));
        bench.arrives(marked, packet.clone());
        let notifications = bench.notifications();
        assert_eq!(notifications.len(), notified, "after {microseconds} us");
        for Frame { route, packet, .. } in notifications {
            assert_eq!(packet, [&[0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0x77][..], &[0; 20]].concat());
            let grh = route.grh.unwrap();
            assert_eq!((grh.dgid, grh.traffic_class), (PEER_GID, 0xc2));
        }
    }
    assert_eq!((bench.counter("np_ecn_marked_roce_packets"), bench.counter("np_cnp_sent")), (4, 3));
    // A stranger's packets are not the connection's.
    let stranger = bench.route([7; 16], 3);
    bench.arrives(stranger, packet);
    assert_eq!(bench.counter("np_ecn_marked_roce_packets"), 4);
}

#[test]
fn notifications_that_nobody_reads_do_not_pile_up() {
    let mut bench = Bench::new();
    let (marked, packet) = (bench.route(PEER_GID, 0x03), empty(&bench.send(0xffff)));
    bench.script.lock().unwrap().is_full = true;
    for _ in 0..1000 {
        bench.device.advance(Duration::from_micros(4));
        bench.arrives(marked, packet.clone());
    }
    bench.script.lock().unwrap().is_full = false;
    bench.device.step();
    let sent = bench.notifications().len();
    assert!((1..=64).contains(&sent), "{sent}");
    assert_eq!(bench.counter("np_cnp_sent"), sent as u64);
}

#[test]
fn notifications_that_arrive_are_counted() {
    let mut bench = Bench::new();
    let [_, a, b, c] = bench.rc.to_be_bytes();
    let notification = [&[0x81, 0, 0xff, 0xff, 0x40, a, b, c][..], &[0; 20]].concat();
    let (peer, stranger) = (bench.route(PEER_GID, 0xc2), bench.route([7; 16], 0xc2));
    bench.arrives(peer, notification.clone());
    bench.arrives(stranger, notification.clone());
    let unknown = [&[0x81, 0, 0xff, 0xff, 0x40, 0xff, 0, 0][..], &[0; 20]].concat();
    bench.arrives(peer, unknown);
    assert_eq!((bench.counter("rp_cnp_handled"), bench.counter("rp_cnp_ignored")), (1, 2));
    // Too short for one: no packet at all.
    bench.arrives(peer, notification[..24].to_vec());
    assert_eq!(bench.counter("port_rcv_errors"), 1);
}

#[test]
fn traffic_is_counted_both_ways_and_so_are_links_that_go_down() {
    let mut bench = Bench::new();
    let (route, packet) = (bench.route(PEER_GID, 0), empty(&bench.send(0xffff)));
    // Not the packet that is due: a NAK goes back.
    bench.arrives(route, packet.clone());
    bench.device.step();
    let sent: Vec<u64> = bench.script.lock().unwrap().sent.iter().map(|frame| frame.packet.len() as u64).collect();
    assert_eq!(sent.len(), 1);
    let counters = |names: [&str; 2]| names.map(|name| bench.counter(name));
    assert_eq!(counters(["port_rcv_packets", "port_rcv_data"]), [1, packet.len() as u64 / 4]);
    assert_eq!(counters(["port_xmit_packets", "port_xmit_data"]), [1, sent[0] / 4]);
    assert_eq!(bench.counter("link_downed"), 0);
    bench.device.set_port_up(1, false).unwrap();
    assert_eq!(bench.counter("link_downed"), 1);
}
