//! Frames of tunnels, whose completions tell of the headers inside if the receiver was made for it.
//!
//! Completions of tunnels belong here. The device has tests of its own for each kind of tunnel
//! (`softhca/tests/ethernet/tunnels.rs`).

use blueflame::cq::cqe::{L3Header, L4Header};
use blueflame::cq::{CqeView, Source};
use blueflame::flow::{Flow, Rss};
use blueflame::transport::RawPacket;
use blueflame::verbs::ethernet::{FrameReceiver, WqTable};
use blueflame::verbs::{Access, Buffer, Pool};

use crate::frames::STATION;
use crate::lab::{Lab, Queue};
use crate::on_device::wait_for;

/// VXLAN (RFC 7348), with TCP inside. The outer UDP has no checksum.
///
/// The others by hand. The outer IPv4 header adds up to d972: 4500, 005e, 4000, 4011, 0a00, 0001, 0a00, 0002. The inner
/// one adds up to 4687: 4500, 002c, 4000, 4006, c0a8, 0001, c0a8, 0002, and the carry. TCP adds up to d69b: c0a8, 0001,
/// c0a8, 0002, 0006, 0018 of the pseudo-header; 0007, 0009, 0001, 0002, 5010, 0100; 0102, 0304; and the carry. The frame
/// has the complements.
const VXLAN: [u8; 108] = [
    // Ethernet, IPv4, UDP to port 4789, VXLAN's network 42.
    2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 8, 0, // to `STATION`
    0x45, 0, 0, 94, 0, 0, 0x40, 0, 64, 17, 0x26, 0x8d, 10, 0, 0, 1, 10, 0, 0, 2, //
    0x30, 0x39, 0x12, 0xb5, 0, 74, 0, 0, //
    8, 0, 0, 0, 0, 0, 42, 0, //
    // Ethernet, IPv4, TCP that acknowledges, and data.
    2, 0, 0x5e, 0, 0x53, 8, 2, 0, 0x5e, 0, 0x53, 7, 8, 0, //
    0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 6, 0xb9, 0x78, 192, 168, 0, 1, 192, 168, 0, 2, //
    0, 7, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0x29, 0x64, 0, 0, //
    1, 2, 3, 4,
];

/// Findings of the device: the header outside of a tunnel, the kinds of headers, and whether they are ok.
type Found = (Option<L3Header>, L3Header, L4Header, bool, bool);

fn found<S: Source>(cqe: &CqeView<S>) -> Found {
    cqe.check().expect("a success");
    (cqe.tunnel(), cqe.l3_header(), cqe.l4_header(), cqe.l3_ok(), cqe.l4_ok())
}

/// Each frame, the findings of a receiver that looks into tunnels, and those of another one. Only the first finds a fault
/// inside of the tunnel, as the outer UDP has no checksum.
fn expected() -> [(Vec<u8>, Found, Found); 3] {
    let (v4, inside) = (L3Header::Ipv4, L4Header::TcpAckAndData);
    let mut fault = VXLAN;
    fault[107] ^= 1;
    // The inner packet alone, and what Ethernet wants at least.
    let alone = [&VXLAN[..14], &VXLAN[64..], &[0x5a; 2]].concat();
    let outside = (None, v4, L4Header::Udp, true, true);
    let plain = (None, v4, inside, true, true);
    [
        (VXLAN.to_vec(), (Some(v4), v4, inside, true, true), outside),
        (fault.to_vec(), (Some(v4), v4, inside, true, false), outside),
        (alone, plain, plain),
    ]
}

/// Has a receiver get the frames, over the only queue of the laboratory.
fn look(lab: &mut Lab, receiver: &FrameReceiver, looks_inside: bool) {
    let _rule = receiver.steer(&Flow::mac(STATION)).expect("a rule");
    for (frame, inside, outside) in expected() {
        lab.sender.send_bytes(&frame);
        let Queue { cq, rq, .. } = &mut lab.queues[0];
        let (found, arrived) = wait_for("a completion", || {
            let cqe = cq.poll()?;
            let (found, bytes) = (found(&cqe), cqe.byte_len() as usize);
            let buffer = rq.retire(&cqe).expect("outstanding");
            let arrived = buffer.to_vec(0..bytes);
            rq.post(buffer).expect("room");
            Some((found, arrived))
        });
        assert_eq!((found, arrived), (if looks_inside { inside } else { outside }, frame), "{looks_inside}");
    }
}

#[test]
fn work_queues_tell_of_headers_inside_if_their_receiver_looks_there() {
    let mut lab = Lab::new(1);
    let wq = lab.queues[0].wq.clone();
    let (table, rss) = (WqTable::new(std::slice::from_ref(&wq)).expect("a table"), Rss::udp(Rss::PUBLISHED_KEY));
    for (receiver, looks_inside) in [
        (FrameReceiver::into_tunnels(&lab.pd, &wq), true),
        (FrameReceiver::direct(&lab.pd, &wq), false),
        (FrameReceiver::spread_into_tunnels(&lab.pd, &table, &rss), true),
        (FrameReceiver::spread(&lab.pd, &table, &rss), false),
    ] {
        look(&mut lab, &receiver.expect("a receiver"), looks_inside);
    }
}

/// The hash covers the outer addresses and ports. Here, one flow inside has 16 outer ports.
#[test]
fn frames_of_tunnels_are_spread_by_the_outer_headers() {
    let mut lab = Lab::new(2);
    let queues: Vec<_> = lab.queues.iter().map(|queue| queue.wq.clone()).collect();
    let table = WqTable::new(&queues).expect("a table");
    let mut hashes = [true, false].map(|looks_inside| {
        let make = if looks_inside { FrameReceiver::spread_into_tunnels } else { FrameReceiver::spread };
        let receiver = make(&lab.pd, &table, &Rss::udp(Rss::PUBLISHED_KEY)).expect("a receiver");
        let _rule = receiver.steer(&Flow::mac(STATION)).expect("a rule");
        (0..16)
            .map(|port| {
                let mut frame = VXLAN;
                frame[35] = port;
                lab.sender.send_bytes(&frame);
                wait_for("a completion", || lab.queues.iter_mut().find_map(Queue::poll)).hash.expect("a hash")
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(hashes[0], hashes[1]);
    hashes[0].sort_unstable();
    hashes[0].dedup();
    assert_eq!(hashes[0].len(), 16);
}

#[test]
fn queue_pairs_tell_of_headers_inside_if_asked() {
    let mut lab = Lab::new(0);
    for looks_inside in [true, false] {
        let [sends, mut receives] = [(); 2].map(|()| lab.device.completion_queue(64).build().expect("a CQ"));
        let builder =
            lab.pd.queue_pair::<RawPacket>(&sends, &receives).sends(16).receives(4).into_tunnels(looks_inside);
        let mut pair = builder.build().expect("a raw packet queue pair: is it permitted?");
        let mut pool = Pool::new(&lab.pd, 2048, Access::LOCAL_WRITE).expect("a pool");
        let mut buffer: Option<Box<Buffer>> = Some(Box::new(pool.take(2048).expect("all of it")));
        pair.activate(&lab.device.port(1).expect("port 1")).expect("ready to send");
        let _rule = pair.qp.steer(&Flow::mac(STATION)).expect("a rule");
        for (frame, inside, outside) in expected() {
            pair.rq.post(buffer.take().expect("given back")).expect("room");
            lab.sender.send_bytes(&frame);
            let found = wait_for("a completion", || {
                let cqe = receives.poll()?;
                buffer = Some(pair.rq.retire(&cqe).expect("outstanding"));
                Some(found(&cqe))
            });
            assert_eq!(found, if looks_inside { inside } else { outside }, "{looks_inside}");
        }
    }
}
