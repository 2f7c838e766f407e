//! Properties of bytes on a cable: decoding inverts encoding, and no bytes make it panic. Vectors are in `vectors`.

use proptest::prelude::*;

use super::*;
use crate::packet::{MAX_HEADERS, MAX_PAYLOAD};
use crate::wire::frame::{Grh, Macs};
use crate::wire::test_frames;

/// A route of each form.
fn route() -> impl Strategy<Value = Route> {
    let grh = (any::<[[u8; 16]; 2]>(), any::<[[u8; 4]; 2]>(), any::<(u8, u8)>(), 0_u32..1 << 20);
    let kinds = prop_oneof![
        Just(None),
        Just(Some(GidType::InfiniBand)),
        Just(Some(GidType::RoceV1)),
        Just(Some(GidType::RoceV2))
    ];
    (kinds, any::<bool>(), grh, any::<[u16; 2]>(), 0_u8..16, any::<[[u8; 6]; 2]>()).prop_map(
        |(
            kind,
            mapped,
            (gids, ip4, (traffic_class, hop_limit), flow_label),
            [slid, dlid],
            sl,
            [source, destination],
        )| {
            let ethernet = matches!(kind, Some(GidType::RoceV1 | GidType::RoceV2));
            let is_ip4 = mapped && kind == Some(GidType::RoceV2);
            let gid = |end: usize| {
                if is_ip4 { std::net::Ipv4Addr::from(ip4[end]).to_ipv6_mapped().octets() } else { gids[end] }
            };
            // IPv4 has no flow label.
            let flow_label = if is_ip4 { 0 } else { flow_label };
            let grh = kind.map(|kind| Grh {
                kind,
                sgid: gid(0),
                dgid: gid(1),
                traffic_class,
                flow_label,
                hop_limit,
                udp_sport: 0,
            });
            if ethernet {
                Route { slid: 0, dlid: 0, sl: sl & 7, grh, macs: Macs { source, destination } }
            } else {
                Route { slid, dlid, sl, grh, macs: Macs::default() }
            }
        },
    )
}

fn frame() -> impl Strategy<Value = Frame> {
    (route(), 0..=MAX_PAYLOAD, 0_u32..1 << 24, any::<u32>())
        .prop_map(|(route, len, qpn, psn)| Frame { route, ..test_frames::numbered(0, qpn, len, psn) })
}

/// The frame at the other end. Ethernet has service levels only in VLAN tags.
fn arrived(frame: &Frame) -> Frame {
    let sl = if link_of(&frame.route) == LinkLayer::Ethernet { 0 } else { frame.route.sl };
    Frame { route: Route { sl, ..frame.route }, ..frame.clone() }
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(frame in frame()) {
        let bytes = encode(&frame).unwrap();
        prop_assert_eq!(decode(link_of(&frame.route), &bytes), Ok(arrived(&frame)));
        let vcrc = if link_of(&frame.route) == LinkLayer::InfiniBand { 2 } else { 0 };
        prop_assert_eq!(octets(&frame.route, frame.packet.len()), bytes.len() - vcrc);
    }

    /// A bit that changes on the way is noticed, unless it is one that routers and switches change.
    #[test]
    fn a_changed_bit_is_noticed(frame in frame(), at: prop::sample::Index, bit in 0..8) {
        let mut bytes = encode(&frame).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        let link = link_of(&frame.route);
        if let Ok(found) = decode(link, &bytes) {
            prop_assert_eq!(link, LinkLayer::Ethernet);
            // The UDP checksum, the byte of FECN and BECN, addresses of the link, priorities, and the fields of IPv6
            // that change. IPv4 has a checksum over its own.
            let packets_differ = found.packet != frame.packet;
            let mut repaired = found.packet;
            repaired[4] = frame.packet[4];
            prop_assert_eq!(&repaired, &frame.packet);
            prop_assert_eq!(found.route.grh.unwrap().sgid, frame.route.grh.unwrap().sgid);
            prop_assert_eq!(found.route.grh.unwrap().dgid, frame.route.grh.unwrap().dgid);
            prop_assert!(!packets_differ || found.route == arrived(&frame).route);
        }
    }

    #[test]
    fn any_bytes_are_an_answer(link in prop_oneof![Just(LinkLayer::Ethernet), Just(LinkLayer::InfiniBand)], bytes: Vec<u8>) {
        let _ = decode(link, &bytes);
    }

    /// The bytes of a packet, cut and changed: nearer to a packet than any bytes.
    #[test]
    fn damaged_packets_are_an_answer(frame in frame(), cut: prop::sample::Index, changes: Vec<(prop::sample::Index, u8)>) {
        let mut bytes = encode(&frame).unwrap();
        bytes.truncate(cut.index(bytes.len() + 1));
        for (at, value) in changes {
            if let Some(byte) = bytes.get_mut(at.index(64)) {
                *byte = value;
            }
        }
        let _ = decode(link_of(&frame.route), &bytes);
    }
}

/// A RoCE v2 frame between 10.0.0.1 and 10.0.0.2.
pub(super) fn ip4_frame() -> Frame {
    let gid = |host| std::net::Ipv4Addr::new(10, 0, 0, host).to_ipv6_mapped().octets();
    let grh = Grh {
        kind: GidType::RoceV2,
        sgid: gid(1),
        dgid: gid(2),
        traffic_class: 2,
        flow_label: 0,
        hop_limit: 9,
        udp_sport: 0,
    };
    let route = Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() };
    Frame { route, ..test_frames::numbered(0, 0x41, 5, 7) }
}

/// The reason why a frame is dropped after `change`, with the header's checksum right again.
fn dropped(change: impl FnOnce(&mut Vec<u8>)) -> Dropped {
    let mut bytes = encode(&ip4_frame()).unwrap();
    change(&mut bytes);
    bytes[24..26].fill(0);
    let sum = crate::ethernet::sum::fold(crate::ethernet::sum::add(0, &bytes[14..34]));
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    decode(LinkLayer::Ethernet, &bytes).unwrap_err()
}

#[test]
fn each_check_has_its_reason() {
    assert_eq!(dropped(|bytes| bytes[14] = 0x65), Dropped::IpVersion(6));
    assert_eq!(dropped(|bytes| bytes[14] = 0x46), Dropped::IpOptions(6));
    assert_eq!(dropped(|bytes| bytes[20] = 0x20), Dropped::Fragment(0x2000));
    assert_eq!(dropped(|bytes| bytes[17] -= 4), Dropped::Length { announced: 32, there: 28 });
    assert_eq!(dropped(|bytes| bytes[16] = 9), Dropped::Length { announced: 0x900 + 52, there: 52 });
    assert_eq!(dropped(|bytes| bytes[23] = 6), Dropped::OtherProtocol { ether_type: 0x800, protocol: 6, port: 0 });
    assert_eq!(
        dropped(|bytes| bytes[37] = 5),
        Dropped::OtherProtocol { ether_type: 0x800, protocol: 17, port: 0x1205 }
    );
    assert!(matches!(dropped(|bytes| bytes[60] ^= 1), Dropped::InvariantCrc { .. }));
    // The CRC covers the identification, the DF bit, and the source port.
    for at in [19, 20, 35] {
        assert!(matches!(dropped(|bytes| bytes[at] ^= 0x40), Dropped::InvariantCrc { .. }), "byte {at}");
    }
    let mut bytes = encode(&ip4_frame()).unwrap();
    bytes[25] ^= 1;
    assert!(matches!(decode(LinkLayer::Ethernet, &bytes), Err(Dropped::HeaderChecksum(_))));
    bytes[12..14].copy_from_slice(&[8, 6]);
    let other = Dropped::OtherProtocol { ether_type: 0x806, protocol: 0, port: 0 };
    assert_eq!(decode(LinkLayer::Ethernet, &bytes), Err(other));
}

/// libmlx5 reports service level 2 for a datagram of RoCE v2 over IPv4, and answers with that level. QEMU's NIC drops
/// frames with a tag of VLAN 0 unless the guest asks for this VLAN: so Linux' rxe got no answer.
#[test]
fn a_service_level_makes_no_vlan_tag_and_a_tag_tells_one() {
    let mut frame = ip4_frame();
    let untagged = encode(&frame).unwrap();
    frame.route.sl = 2;
    assert_eq!(encode(&frame).unwrap(), untagged);
    let mut tagged = untagged;
    tagged.splice(12..12, [0x81, 0, 0x40, 0]);
    assert_eq!(decode(LinkLayer::Ethernet, &tagged), Ok(frame));
}

#[test]
fn a_link_may_pad_frames() {
    let mut bytes = encode(&ip4_frame()).unwrap();
    bytes.extend([0; 12]);
    assert_eq!(decode(LinkLayer::Ethernet, &bytes), Ok(ip4_frame()));
}

#[test]
fn links_of_infiniband_are_checked() {
    let good = encode(&test_frames::frame(2, 0x41, 8)).unwrap();
    let dropped = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good[..good.len() - 2].to_vec();
        change(&mut bytes);
        bytes.extend(crc::variant(&bytes).to_le_bytes());
        decode(LinkLayer::InfiniBand, &bytes).unwrap_err()
    };
    assert_eq!(dropped(&|bytes| bytes[0] = 1), Dropped::LinkVersion(1));
    assert_eq!(dropped(&|bytes| bytes[1] = 1), Dropped::RawPacket(1));
    assert_eq!(dropped(&|bytes| bytes[5] += 1), Dropped::Length { announced: 36, there: 32 });
    assert!(matches!(dropped(&|bytes| bytes[3] ^= 1), Dropped::InvariantCrc { .. }));
    let mut bytes = good.clone();
    bytes[20] ^= 1;
    assert!(matches!(decode(LinkLayer::InfiniBand, &bytes), Err(Dropped::VariantCrc { .. })));
    // The virtual lane may change, and then the link computes its CRC anew.
    let mut moved = good[..good.len() - 2].to_vec();
    moved[0] = 0x30;
    moved.extend(crc::variant(&moved).to_le_bytes());
    assert_eq!(decode(LinkLayer::InfiniBand, &moved), Ok(test_frames::frame(2, 0x41, 8)));
}

#[test]
fn what_no_port_sends_has_no_bytes() {
    let frame = |len| Frame { packet: vec![4; len], ..ip4_frame() };
    for len in [0, 8, 11, 13, MAX_HEADERS + MAX_PAYLOAD + 4] {
        assert_eq!(encode(&frame(len)), Err(Dropped::Transport { len }));
    }
    assert!(encode(&frame(12)).is_ok());
}
