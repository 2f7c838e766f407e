//! Seeds of packets of others: a conversation of RC in each form of a file, and frames of each kind.

use std::fmt::Debug;
use std::str::FromStr;

use blueflame::packet::{Host, Kind, Packet, Tagged, Tcp4, Tcp6, Udp4, Udp6};
use blueflame_fuzz_targets::packets::Input;

/// Places in `Input::form`.
const INFINIBAND: u8 = 2;
const PCAP: u8 = 1 << 2;
const PCAP_BIG: u8 = 2 << 2;
const PCAPNG: u8 = 3 << 2;
const OPTIONS: u8 = 1 << 4;

const V4: [&str; 2] = ["10.0.0.1:4791", "10.0.0.2:4791"];
const V6: [&str; 2] = ["[fe80::1]:4791", "[fe80::2]:4791"];

/// A frame of this kind between two sockets.
fn frame<K: Kind<Socket: FromStr<Err: Debug>>>(sockets: [&str; 2]) -> Vec<u8> {
    let [a, b] = sockets.map(|text| Host { mac: [2; 6], socket: text.parse().expect("an address") });
    let mut packet = Packet::<K, 120>::new(&a, &b);
    packet.set_payload(b"a packet of others, and more").expect("room");
    packet.as_bytes().to_vec()
}

/// A packet of RC between LIDs 1 and 2.
fn rc([from, to]: [u8; 2], opcode: u8, psn: u32) -> Vec<u8> {
    let mut packet = vec![0, 2, 0, to, 0, 7, 0, from, opcode, 0, 0xff, 0xff];
    packet.extend([0x11_u32, 1 << 31 | psn].map(u32::to_be_bytes).concat());
    packet.extend([0x60, 0, 0, 1, b'd', b'a', b't', b'a', 0, 0]);
    packet
}

fn of(form: u8, packets: &[Vec<u8>]) -> Input {
    let cuts = packets.iter().map(|packet| packet.len() as u8).collect();
    Input { form, cuts, bytes: packets.concat() }
}

pub(crate) fn seeds() -> Vec<(&'static str, Input)> {
    let talk =
        [rc([1, 2], 0x04, 0), rc([2, 1], 0x11, 0), rc([1, 2], 0x0c, 1), rc([2, 1], 0x10, 1), rc([1, 2], 0x04, 2)];
    let frames = [
        frame::<Udp4>(V4),
        frame::<Udp6>(V6),
        frame::<Tcp4>(V4),
        frame::<Tcp4<12>>(V4),
        frame::<Tcp6>(V6),
        frame::<Tagged<Udp4>>(V4),
    ];
    let whole = [0xa1b2_c3d4_u32, 2 << 16 | 4, 0, 0, 0xffff, 247, 0, 0, 26, 26].map(u32::to_be_bytes).concat();
    vec![
        ("talk", of(PCAP | INFINIBAND, &talk)),
        ("talk_big", of(PCAP_BIG | INFINIBAND, &talk)),
        ("talk_next", of(PCAPNG | INFINIBAND, &talk)),
        ("talk_options", of(PCAPNG | INFINIBAND | OPTIONS, &talk)),
        ("frames", of(PCAP, &frames)),
        ("frames_options", of(PCAPNG | OPTIONS, &frames)),
        ("file", Input { form: 0, cuts: Vec::new(), bytes: [whole, rc([1, 2], 0x04, 0)].concat() }),
    ]
}
