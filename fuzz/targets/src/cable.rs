//! Any bytes on a cable, or in a datagram: the device takes a packet or says why not, and a packet that it took is one
//! that it can send. A switch that learns from them knows where each goes.

use softhca::config::{GidType, LinkLayer};
use softhca::wire::cable::{Datagram, ROCE_PORT, decode, decode_datagram, encode, encode_datagram, ip_of, link_of};
use softhca::wire::ethernet::{Switch, Way};
use softhca::wire::{Frame, Grh, Macs, Route};

input_struct! {
    /// A packet, and its damage.
    Input {
        /// Bytes from BTH on; the last ones that make no whole word are left out.
        packet: Vec<u8>,
        /// Low 3 bits: no GRH, InfiniBand, RoCE v1, v2 over IPv4, v2 over IPv6.
        kind: u8,
        /// Service level, traffic class, hop limit, flow label.
        levels: [u8; 6],
        /// Bytes that change: place and value.
        damage: Vec<[u8; 2]>,
        /// Bytes that are cut off at the end.
        cut: u8,
        /// In place of all that: the bytes as they are, on Ethernet or InfiniBand.
        bytes: Vec<u8>,
        ethernet: bool,
    }
}

/// Sends, damages and takes it.
pub fn run(input: &Input) {
    let link = if input.ethernet { LinkLayer::Ethernet } else { LinkLayer::InfiniBand };
    take(link, &input.bytes);
    switch(&input.bytes);
    let frame = frame(input);
    datagram(&frame, input);
    let Ok(mut bytes) = encode(&frame) else { return };
    // Frames of Ethernet have no service level without a VLAN tag.
    let sl = if link_of(&frame.route) == LinkLayer::Ethernet { 0 } else { frame.route.sl };
    let arrived = Frame { route: Route { sl, ..frame.route }, ..frame.clone() };
    assert_eq!(decode(link_of(&frame.route), &bytes), Ok(arrived));
    for [at, value] in &input.damage {
        if let Some(byte) = bytes.get_mut(usize::from(*at)) {
            *byte = *value;
        }
    }
    bytes.truncate(bytes.len() - usize::from(input.cut).min(bytes.len()));
    take(link_of(&frame.route), &bytes);
}

/// The packet as the payload of a datagram, whole and damaged.
fn datagram(frame: &Frame, input: &Input) {
    let Ok(mut bytes) = encode_datagram(frame, ROCE_PORT) else { return };
    let Some(grh) = frame.route.grh else { return };
    let (source, destination) = (ip_of(grh.sgid), ip_of(grh.dgid));
    let header = Datagram { source, destination, source_port: ROCE_PORT, traffic_class: grh.traffic_class };
    let found = decode_datagram(&header, &bytes).expect("what was sent is taken");
    assert_eq!((&found.packet, found.route.grh.map(|grh| grh.dgid)), (&frame.packet, Some(grh.dgid)));
    for [at, value] in &input.damage {
        if let Some(byte) = bytes.get_mut(usize::from(*at)) {
            *byte = *value;
        }
    }
    bytes.truncate(bytes.len() - usize::from(input.cut).min(bytes.len()));
    let _ = decode_datagram(&header, &bytes);
    let _ = decode_datagram(&Datagram { source_port: ROCE_PORT ^ 1, ..header }, &input.bytes);
}

/// A frame goes back to the port where its sender was heard, or nowhere.
fn switch(frame: &[u8]) {
    let mut switch = Switch::default();
    if switch.pass(1, frame) == Way::Nowhere || frame[6] & 1 != 0 {
        return;
    }
    let mut answer = frame.to_vec();
    let (to, from) = answer.split_at_mut(6);
    to.swap_with_slice(&mut from[..6]);
    assert_eq!(switch.pass(2, &answer), Way::Port(1));
    switch.forget(1);
    assert_eq!(switch.pass(2, &answer), Way::Others);
}

fn take(link: LinkLayer, bytes: &[u8]) {
    if let Ok(frame) = decode(link, bytes) {
        let again = encode(&frame).expect("a packet that arrived has a length that can be sent");
        assert_eq!(decode(link_of(&frame.route), &again).map(|frame| frame.packet), Ok(frame.packet));
    }
}

fn frame(input: &Input) -> Frame {
    let [sl, traffic_class, hop_limit, label @ ..] = input.levels;
    let mut ip4 = [0; 16];
    ip4[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, sl]);
    let (kind, gid, flow_label) = match input.kind & 7 {
        0 => (None, [1; 16], 0),
        1 => (Some(GidType::InfiniBand), [2; 16], u32::from_be_bytes([0, label[0] & 0xf, label[1], label[2]])),
        2 => (Some(GidType::RoceV1), [3; 16], 5),
        3 => (Some(GidType::RoceV2), ip4, 0),
        _ => (Some(GidType::RoceV2), [4; 16], u32::from_be_bytes([0, label[0] & 0xf, label[1], label[2]])),
    };
    let grh = kind.map(|kind| Grh { kind, sgid: gid, dgid: gid, traffic_class, flow_label, hop_limit, udp_sport: 0 });
    let ethernet = matches!(kind, Some(GidType::RoceV1 | GidType::RoceV2));
    let packet = input.packet[..input.packet.len() & !3].to_vec();
    let macs = if ethernet { Macs { source: [2; 6], destination: [6; 6] } } else { Macs::default() };
    let (lid, sl) = if ethernet { (0, sl & 7) } else { (7, sl & 0xf) };
    Frame::new(Route { slid: lid, dlid: lid, sl, grh, macs }, packet)
}
