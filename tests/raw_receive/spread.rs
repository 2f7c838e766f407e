//! Frames spread over queues by a hash, which is computed here again.
//!
//! Hashes belong here, rules with one receiver in `rules.rs`.

use std::net::IpAddr;

use blueflame::flow::{Flow, Masked, Rss};
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, WqTable};

use crate::frames::{Frame, TCP, UDP, packet};
use crate::lab::Lab;

/// Toeplitz' hash bit by bit (Microsoft, "RSS hashing functions"): a one in the input adds the 32 leftmost bits of the
/// key. Each bit of the input moves the key left by one.
fn toeplitz(key: &[u8; 40], input: &[u8]) -> u32 {
    let mut key: Vec<bool> = key.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 != 0)).collect();
    let mut hash = 0;
    for bit in input.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1 != 0)) {
        if bit {
            hash ^= key[..32].iter().fold(0, |bits, &bit| bits << 1 | u32::from(bit));
        }
        key.rotate_left(1);
    }
    hash
}

/// Source address, destination address, source port, destination port.
fn input(frame: &Frame) -> Vec<u8> {
    let ip = frame.ip.expect("a packet");
    let octets = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    [octets(ip.from), octets(ip.to), ip.ports.map(u16::to_be_bytes).concat()].concat()
}

/// Microsoft, "Verifying the RSS hash calculation": addresses and ports, the hash with ports, and that without.
const PUBLISHED: [(&str, &str, [u16; 2], u32, u32); 8] = [
    ("66.9.149.187", "161.142.100.80", [2794, 1766], 0x51cc_c178, 0x323e_8fc2),
    ("199.92.111.2", "65.69.140.83", [14230, 4739], 0xc626_b0ea, 0xd718_262a),
    ("24.19.198.95", "12.22.207.184", [12898, 38024], 0x5c2b_394a, 0xd2d0_a5de),
    ("38.27.205.30", "209.142.163.6", [48228, 2217], 0xafc7_327f, 0x8298_9176),
    ("153.39.163.191", "202.188.127.2", [44251, 1303], 0x10e8_28a2, 0x5d18_09c5),
    ("3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", [2794, 1766], 0x4020_7d3d, 0x2cc1_8cd5),
    ("3ffe:501:8::260:97ff:fe40:efab", "ff02::1", [14230, 4739], 0xdde5_1bbf, 0x0f0c_461c),
    ("3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", [44251, 38024], 0x02d1_feef, 0x4b61_e985),
];

/// Has a receiver over all queues of the laboratory get all frames.
fn spread(lab: &Lab, rss: &Rss) -> FlowRule {
    let queues: Vec<_> = lab.queues.iter().map(|queue| queue.wq.clone()).collect();
    let table = WqTable::new(&queues).expect("a table");
    let receiver = FrameReceiver::spread(&lab.pd, &table, rss).expect("a receiver");
    receiver.steer(&Flow::all_default()).expect("a rule")
}

#[test]
fn the_hash_here_is_the_published_one() {
    for (from, to, ports, with_ports, without) in PUBLISHED {
        let input = input(&packet(TCP, from, to, ports));
        let (addresses, _) = input.split_at(input.len() - 4);
        let hashes = (toeplitz(&Rss::PUBLISHED_KEY, &input), toeplitz(&Rss::PUBLISHED_KEY, addresses));
        assert_eq!(hashes, (with_ports, without), "{from} to {to}");
    }
}

#[test]
fn published_packets_have_the_published_hashes() {
    let mut lab = Lab::new(4);
    for (from, to, ports, with_ports, without) in PUBLISHED {
        let ipv6 = from.contains(':');
        // TCP is 1 and UDP 2 in bits 7:6, IPv4 is 1 and IPv6 2 in bits 3:2.
        let ip = if ipv6 { 8 } else { 4 };
        for (protocol, l4) in [(TCP, 0x40), (UDP, 0x80)] {
            let udp = protocol == UDP;
            for (fields, hash, kind) in [(0xf, with_ports, ip | l4), (3, without, ip)] {
                let _rule = spread(&lab, &Rss { fields, ipv6, udp, ..Rss::udp(Rss::PUBLISHED_KEY) });
                let frame = Frame { to: [2; 6], ..packet(protocol, from, to, ports) };
                let (who, received) = lab.who_gets(&frame, 1);
                assert_eq!((who, received.hash), (vec![hash as usize & 3], Some((hash, kind))), "{frame:?}");
            }
        }
        // Of another kind: not hashed, so to the first queue.
        let _rule = spread(&lab, &Rss { ipv6: !ipv6, ..Rss::tcp(Rss::PUBLISHED_KEY) });
        let (who, received) = lab.who_gets(&packet(TCP, from, to, ports), 1);
        assert_eq!((who, received.hash), (vec![0], None));
    }
}

#[test]
fn flows_are_spread_as_the_hash_says() {
    const FLOWS: u16 = 64;
    let mut lab = Lab::new(4);
    let key = std::array::from_fn(|at| (at as u8).wrapping_mul(151) ^ 0x3c);
    let _rule = spread(&lab, &Rss::udp(key));
    let mut shares = [0; 4];
    for flow in 0..FLOWS {
        let to = format!("10.{}.{}.1", flow % 7, flow % 11);
        let frame = packet(UDP, "10.9.9.9", &to, [1000 + flow, 5000 + flow % 5]);
        let hash = toeplitz(&key, &input(&frame));
        // A flow stays where it is.
        for _ in 0..2 {
            let (who, received) = lab.who_gets(&frame, 1);
            assert_eq!(
                (who, received.hash.map(|(value, _)| value)),
                (vec![hash as usize & 3], Some(hash)),
                "{frame:?}"
            );
        }
        shares[hash as usize & 3] += 1;
    }
    assert!(shares.iter().all(|&share| share >= FLOWS / 16), "{shares:?}");
}

#[test]
fn a_symmetric_key_keeps_both_directions_together() {
    let mut lab = Lab::new(4);
    let mut apart = 0;
    for (key, symmetric) in [(Rss::SYMMETRIC_KEY, true), (Rss::PUBLISHED_KEY, false)] {
        let _rule = spread(&lab, &Rss::tcp(key));
        for flow in 0..16 {
            let (here, there) = (format!("10.0.{flow}.1"), format!("192.168.1.{}", 7 * flow));
            let out = packet(TCP, &here, &there, [40000 + flow, 443]);
            let back = packet(TCP, &there, &here, [443, 40000 + flow]);
            let [(out, sent), (back, answered)] = [out, back].map(|frame| lab.who_gets(&frame, 1));
            assert!(!symmetric || (out == back && sent.hash == answered.hash));
            apart += usize::from(out != back);
        }
    }
    assert!(apart > 4, "the other key tells directions apart: {apart}");
}

#[test]
fn rules_of_one_table_serve_several_kinds() {
    let mut lab = Lab::new(2);
    let queues: Vec<_> = lab.queues.iter().map(|queue| queue.wq.clone()).collect();
    let table = WqTable::new(&queues).expect("a table");
    let any = || Masked::prefix([0, 0, 0, 0].into(), 0);
    let steer = |rss: Rss, flow: Flow| {
        FrameReceiver::spread(&lab.pd, &table, &rss).expect("a receiver").steer(&flow).expect("a rule")
    };
    let rules = [
        steer(Rss::udp(Rss::PUBLISHED_KEY), Flow::udp(any(), Masked::new(0, 0)).flow_tag(1)),
        steer(Rss::tcp(Rss::PUBLISHED_KEY), Flow::tcp(any(), Masked::new(0, 0)).flow_tag(2)),
    ];
    drop((table, queues));
    for (protocol, tag) in [(UDP, 1), (TCP, 2)] {
        for port in 0..8 {
            let frame = packet(protocol, "10.0.0.1", "10.0.0.2", [port, 9]);
            let hash = toeplitz(&Rss::PUBLISHED_KEY, &input(&frame));
            let (who, received) = lab.who_gets(&frame, 1);
            assert_eq!((who, received.tag), (vec![hash as usize & 1], tag));
        }
    }
    drop(rules);
}
