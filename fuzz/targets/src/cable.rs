//! Any bytes on a cable: the device takes a packet or says why not, and a packet that it took is one that it can send.

use softhca::config::{GidType, LinkLayer};
use softhca::wire::cable::{decode, encode, link_of};
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
    let frame = frame(input);
    let Ok(mut bytes) = encode(&frame) else { return };
    assert_eq!(decode(link_of(&frame.route), &bytes), Ok(frame.clone()));
    for [at, value] in &input.damage {
        if let Some(byte) = bytes.get_mut(usize::from(*at)) {
            *byte = *value;
        }
    }
    bytes.truncate(bytes.len() - usize::from(input.cut).min(bytes.len()));
    take(link_of(&frame.route), &bytes);
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
    let grh = kind.map(|kind| Grh { kind, sgid: gid, dgid: gid, traffic_class, flow_label, hop_limit });
    let ethernet = matches!(kind, Some(GidType::RoceV1 | GidType::RoceV2));
    let packet = input.packet[..input.packet.len() & !3].to_vec();
    let macs = if ethernet { Macs { source: [2; 6], destination: [6; 6] } } else { Macs::default() };
    let (lid, sl) = if ethernet { (0, sl & 7) } else { (7, sl & 0xf) };
    Frame::new(Route { slid: lid, dlid: lid, sl, grh, macs }, packet)
}
