//! Packets that this crate has prepared, on a wire: the device that receives them computes their checksums by itself.
//!
//! Packets on a wire belong here, their bytes in `tests/packet.rs`.

use std::net::{SocketAddrV4, SocketAddrV6};

use blueflame::flow::Flow;
use blueflame::packet::{self, Host, Kind, Packet, Tagged, Tcp4, Tcp6, Udp4, Udp6};
use blueflame::transport::RawPacket;
use blueflame::verbs::{OwnedCq, QueuePair};
use blueflame::{WrId, wqe};

use crate::frames::{SENDER, STATION};
use crate::lab::Lab;
use crate::on_device::wait_for;

struct Wire {
    lab: Lab,
    cq: OwnedCq,
    pair: QueuePair<RawPacket>,
}

impl Wire {
    fn new() -> Self {
        let lab = Lab::new(1);
        let cq = lab.device.completion_queue(64).build().expect("a CQ");
        let mut pair = lab.pd.queue_pair::<RawPacket>(&cq, &cq).sends(16).no_receives().build().expect("a QP");
        pair.activate(&lab.device.port(1).expect("port 1")).expect("ready to send");
        Self { lab, cq, pair }
    }

    /// Posts a prepared request with this frame in place of its own, by software's checksums or by the device's. Returns the frame as it arrived,
    /// and whether the receiving device has found its checksums right.
    fn send<const N: usize>(&mut self, first: &[u8; N], by_device: bool, frame: &[u8; N]) -> (Vec<u8>, bool, bool) {
        let request = wqe::frame().inline_headers(first);
        let request = if by_device { request.l3_checksum().l4_checksum() } else { request };
        let prepared = self.pair.sq.prepare::<_, _, 0, 0>(&request).expect("within the limits");
        self.pair.sq.post(&prepared.inline_headers(frame).signaled_if(true, WrId(1))).expect("room");
        wait_for("a completion", || {
            let cqe = self.cq.poll()?;
            cqe.check().expect("a success");
            Some(self.pair.sq.retire(&cqe).expect("outstanding"))
        });
        let queue = &mut self.lab.queues[0];
        wait_for("a completion", || {
            let cqe = queue.cq.poll()?;
            cqe.check().expect("a success");
            let (l3, l4, bytes) = (cqe.l3_ok(), cqe.l4_ok(), cqe.byte_len() as usize);
            let buffer = queue.rq.retire(&cqe).expect("outstanding");
            let frame = buffer.to_vec(0..bytes);
            queue.rq.post(buffer).expect("room");
            Some((frame, l3, l4))
        })
    }

    /// Sends states of a packet, of which the prepared request has only the first.
    fn carry<K: Kind, const N: usize>(&mut self, from: K::Socket, to: K::Socket) {
        let [from, to] = [(SENDER, from), (STATION, to)].map(|(mac, socket)| Host { mac, socket });
        let mut packet = Packet::<K, N>::new(&from, &to);
        let first = *packet.as_bytes();
        for (n, payload) in [&b"buy 100"[..], b"sell 20 at 17", b"", b"\xff\xff\x00\x00"].into_iter().enumerate() {
            packet.set_payload(payload).expect("room");
            packet.set_hops(n as u8 + 3);
            let bytes = packet.as_bytes();
            let (arrived, l3, l4) = self.send(&first, false, bytes);
            assert_eq!((&arrived[..], l4), (&bytes[..], true), "{payload:?}");
            assert_eq!(packet::parse(&arrived).expect("a packet").payload, payload);
            assert!(l3);
            // A wrong byte is found: else the device would not look.
            if let Some(at) = payload.len().checked_sub(1) {
                let mut wrong = *bytes;
                wrong[K::PAYLOAD + at] ^= 1;
                assert!(!self.send(&first, false, &wrong).2, "{payload:?}");
            }
            // The sending device computes the packet's own checksums.
            let mut without = *bytes;
            without[K::TRANSPORT + if K::PROTOCOL == 17 { 6 } else { 16 }] ^= 0x5a;
            if !K::V6 {
                without[K::IP + 10] ^= 0xa5;
            }
            assert_eq!(self.send(&first, true, &without), (bytes.to_vec(), l3, true), "{payload:?}");
        }
    }
}

#[test]
fn packets_arrive_with_right_checksums() {
    let mut wire = Wire::new();
    let _rule = wire.lab.receivers[0].steer(&Flow::mac(STATION)).expect("a rule");
    let v4 = ["10.0.0.1:4001", "10.0.0.2:4002"].map(|text| text.parse::<SocketAddrV4>().expect("an address"));
    let v6 = ["[2001:db8::1]:4001", "[2001:db8::2]:4002"].map(|text| text.parse::<SocketAddrV6>().expect("an address"));
    wire.carry::<Udp4, 60>(v4[0], v4[1]);
    wire.carry::<Tagged<Udp4>, 98>(v4[0], v4[1]);
    wire.carry::<Tcp4<12>, 98>(v4[0], v4[1]);
    wire.carry::<Udp6, 98>(v6[0], v6[1]);
    wire.carry::<Tcp6, 130>(v6[0], v6[1]);
}
