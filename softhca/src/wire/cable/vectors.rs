//! Packets that others have made, with their CRCs. Each is taken, and where this device sends such packets, made again.

use super::*;
use crate::wire::frame::Grh;

/// Bytes in hexadecimal, with spaces for the reader.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Frames 10 and 11 of `infiniband.pcap`, a sample capture of Wireshark's wiki that an Endace sniffer took between two
/// InfiniBand HCAs: RC SEND Only with an echo request over IPoIB, and its RC Acknowledge.
const RC_SEND: &str = "00020001001c0004 0440ffff00fc040780d40a55
    08000000 45000054 00004000 4001254e 0a000122 0a00003a 08008576 17020001 f7412b48 00000000 72290800 00000000
    10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b 2c2d2e2f 30313233 34353637 0acca5df 24a8";
const RC_ACK: &str = "0002000400070001 1140ffff0087040800d40a55 1f000001 a8035550 3081";

/// Frame 5 of the same capture: UD SEND Only to a multicast group, with a GRH.
const MULTICAST: &str = "0003c00000210004 6000000000541b00 fe800000000000000002c9020024f636
    ff12401bffff000000000000ffffffff 6440ffff00ffffff000020af 00000b1b00000405 08060000 00200800 14040001 80000405
    fe800000 00000000 0002c902 0024f636 0a000122 00000000 00000000 00000000 00000000 00000000 0a00003a bd6bd6a8 8883";

#[test]
fn packets_of_infiniband_hardware() {
    for (bytes, slid, dlid, opcode) in [(RC_SEND, 4, 1, 0x04), (RC_ACK, 1, 4, 0x11), (MULTICAST, 4, 0xc000, 0x64)] {
        let bytes = hex(bytes);
        let frame = decode(LinkLayer::InfiniBand, &bytes).unwrap();
        assert_eq!((frame.route.slid, frame.route.dlid, frame.packet[0]), (slid, dlid, opcode));
        assert_eq!(encode(&frame), Ok(bytes));
    }
    let group = decode(LinkLayer::InfiniBand, &hex(MULTICAST)).unwrap().route.grh.unwrap();
    assert_eq!((group.dgid[0], group.kind), (0xff, GidType::InfiniBand));
}

/// RoCE v1 computes the invariant CRC over a packet with a GRH, and counts the LRH as ones (IBTA annex A16.4.2). So the
/// hardware's packet behind an Ethernet header keeps its CRC.
#[test]
fn roce_v1_has_the_crc_of_infiniband_hardware() {
    let packet = hex(MULTICAST);
    let frame = [&[0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x89, 0x15][..], &packet[8..packet.len() - 2]].concat();
    let found = decode(LinkLayer::Ethernet, &frame).unwrap();
    let ib = decode(LinkLayer::InfiniBand, &packet).unwrap();
    assert_eq!(found.packet, ib.packet);
    assert_eq!(found.route.grh, Some(Grh { kind: GidType::RoceV1, ..ib.route.grh.unwrap() }));
    assert_eq!(encode(&found), Ok(frame));
}

/// The unit tests of scapy (`test/contrib/roce.uts`): a UC packet with an identification of 1144, and a congestion
/// notification that was captured on a ConnectX-4 Lx, with an identification of 0x718c.
const SCAPY_UC: &str = "248a07a8fa22 248a07a8fa22 0800 450100400478400040 11b4d5c0a80007c0a80007 c00012b7002caca2
    2460ffff000000d300cf1710 4630818be28935d90e9a95505401be885e500000 78f353f3";
const CONNECTX_CNP: &str = "e41d2dab2bc2 7cfe90643b32 0800 45c2003c718c4000401191610a0011010a001201 000012b700280000
    8100ffff4000011800000000 00000000000000000000000000000000 82fd002a";

#[test]
fn packets_of_roce_v2_over_ipv4() {
    let frame = decode(LinkLayer::Ethernet, &hex(SCAPY_UC)).unwrap();
    let grh = frame.route.grh.unwrap();
    assert_eq!(
        (frame.packet[0], grh.traffic_class, grh.hop_limit, &grh.sgid[12..]),
        (0x24, 1, 64, &[192, 168, 0, 7][..])
    );
    assert_eq!(frame.route.macs.destination, [0x24, 0x8a, 7, 0xa8, 0xfa, 0x22]);
    let frame = decode(LinkLayer::Ethernet, &hex(CONNECTX_CNP)).unwrap();
    // Opcode 0x81 and BECN, for QP 0x118.
    assert_eq!(frame.packet[..8], [0x81, 0, 0xff, 0xff, 0x40, 0, 1, 0x18]);
}

/// An RC SEND Only by scapy 2.8.0 (`scapy/contrib/roce.py`), which knows IPv6: flow label 0x12345, FECN, padding of 3.
const SCAPY_IPV6: &str = "020000000002 020000000001 86dd 6621234500201111 20010db8000000000000000000000001
    20010db8000000000000000000000002 c12312b700200000 0470ffff8012345680abcdef 68656c6c6f000000 a9cabf72";

#[test]
fn a_packet_of_roce_v2_over_ipv6() {
    let bytes = hex(SCAPY_IPV6);
    let frame = decode(LinkLayer::Ethernet, &bytes).unwrap();
    let grh = frame.route.grh.unwrap();
    assert_eq!((grh.traffic_class, grh.flow_label, grh.hop_limit), (0x62, 0x1_2345, 17));
    // Byte for byte, but for the source port, which scapy was given, and the CRC over it.
    let made = encode(&frame).unwrap();
    let (port, crc) = (54..56, bytes.len() - 4);
    assert_eq!(made[..port.start], bytes[..port.start]);
    assert_eq!(made[port.end..crc], bytes[port.end..crc]);
    assert_eq!(made[port], [0xe3, 0x41]);
}
