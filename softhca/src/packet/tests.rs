use proptest::prelude::*;

use super::*;
use crate::context::Transport;

fn bth(opcode: Opcode) -> Bth {
    Bth {
        opcode,
        solicited: true,
        migrated: false,
        pkey: 0xffff,
        dest_qp: 0x12_3456,
        ack_request: true,
        psn: 0xab_cdef,
    }
}

fn opcode(code: u8) -> Opcode {
    Opcode::new(code).expect("a valid opcode")
}

/// Headers of the opcode, each field of its own value.
fn headers(code: u8) -> Headers {
    let carries = opcode(code).carries();
    Headers {
        bth: bth(opcode(code)),
        deth: carries.has(Carries::DETH).then_some(Deth { qkey: 0x1111_2222, src_qp: 0x33_4455 }),
        reth: carries.has(Carries::RETH).then_some(Reth { addr: 0x0102_0304_0506_0708, rkey: 0x090a_0b0c, len: 5 }),
        atomic: carries.has(Carries::ATOMIC).then_some(AtomicEth {
            addr: 0x0102_0304_0506_0708,
            rkey: 0x090a_0b0c,
            swap_add: 0x1112_1314_1516_1718,
            compare: 0x2122_2324_2526_2728,
        }),
        extended: carries.has(Carries::EXTENDED).then_some(ExtendedAtomicEth {
            addr: 0x0102_0304_0506_0708,
            rkey: 0x090a_0b0c,
            width: Width::Four,
            masked: Masked::Swap { compare: 1, compare_mask: 2, swap: 3, swap_mask: 4 },
        }),
        aeth: carries.has(Carries::AETH).then_some(Aeth { syndrome: AethSyndrome::Ack(31), msn: 0x66_7788 }),
        atomic_ack: carries.has(Carries::ATOMIC_ACK).then_some(AtomicAckEth { original: 0x3132_3334_3536_3738 }),
        imm: carries.has(Carries::IMM).then_some(ImmDt(0xdead_beef)),
        ieth: carries.has(Carries::IETH).then_some(Ieth(0xfeed_f00d)),
        xrc: carries.has(Carries::XRC).then_some(XrcEth(0xa1_a2a3)),
        dc: carries.has(Carries::DC).then_some(DcEth { source: 0x44_5566, connection: 0x7172_7374 }),
        connect: carries.has(Carries::CONNECT).then_some(ConnectEth {
            access_key: 0x8182_8384_8586_8788,
            log_mtu: 12,
            lifetime: 0x13,
        }),
        accept: carries.has(Carries::ACCEPT).then_some(AcceptEth { connection: 0x9192_9394 }),
    }
}

fn packet(headers: &Headers, payload: &[u8]) -> Vec<u8> {
    let mut draft = headers.build(payload.len()).expect("a valid packet");
    draft.payload_mut().copy_from_slice(payload);
    draft.finish()
}

/// Every valid opcode, with the bytes of headers after the BTH. The list is independent of the table. It follows IBTA
/// vol. 1 table 35, with DETH 8, RETH 16, AtomicETH 28, AETH 4, AtomicAckETH 8, ImmDt 4, IETH 4. From 0xa0 on, XRC:
/// RC's with an XRCETH of 4 bytes in requests (annex A14). From 0xc0 on, DC: the same with 8 bytes that name the
/// connection, and Connect, Accept and Disconnect.
const EXTENDED_BYTES: [(u8, usize); 89] = [
    (0x00, 0),
    (0x01, 0),
    (0x02, 0),
    (0x03, 4),
    (0x04, 0),
    (0x05, 4),
    (0x06, 16),
    (0x07, 0),
    (0x08, 0),
    (0x09, 4),
    (0x0a, 16),
    (0x0b, 20),
    (0x0c, 16),
    (0x0d, 4),
    (0x0e, 0),
    (0x0f, 4),
    (0x10, 4),
    (0x11, 4),
    (0x12, 12),
    (0x13, 28),
    (0x14, 28),
    (0x16, 4),
    (0x17, 4),
    (0x1b, 80),
    (0x20, 0),
    (0x21, 0),
    (0x22, 0),
    (0x23, 4),
    (0x24, 0),
    (0x25, 4),
    (0x26, 16),
    (0x27, 0),
    (0x28, 0),
    (0x29, 4),
    (0x2a, 16),
    (0x2b, 20),
    (0x64, 8),
    (0x65, 12),
    (0xa0, 4),
    (0xa1, 4),
    (0xa2, 4),
    (0xa3, 8),
    (0xa4, 4),
    (0xa5, 8),
    (0xa6, 20),
    (0xa7, 4),
    (0xa8, 4),
    (0xa9, 8),
    (0xaa, 20),
    (0xab, 24),
    (0xac, 20),
    (0xad, 4),
    (0xae, 0),
    (0xaf, 4),
    (0xb0, 4),
    (0xb1, 4),
    (0xb2, 12),
    (0xb3, 32),
    (0xb4, 32),
    (0xb6, 8),
    (0xb7, 8),
    (0xbb, 84),
    (0xc0, 8),
    (0xc1, 8),
    (0xc2, 8),
    (0xc3, 12),
    (0xc4, 8),
    (0xc5, 12),
    (0xc6, 24),
    (0xc7, 8),
    (0xc8, 8),
    (0xc9, 12),
    (0xca, 24),
    (0xcb, 28),
    (0xcc, 24),
    (0xcd, 12),
    (0xce, 8),
    (0xcf, 12),
    (0xd0, 12),
    (0xd1, 12),
    (0xd2, 20),
    (0xd3, 36),
    (0xd4, 36),
    (0xd6, 12),
    (0xd7, 12),
    (0xd8, 20),
    (0xd9, 16),
    (0xda, 8),
    (0xdb, 88),
];

#[test]
fn the_opcodes_are_those_of_the_specification() {
    for code in 0..=u8::MAX {
        let expected = EXTENDED_BYTES.iter().find(|row| row.0 == code).map(|row| row.1);
        let found = Opcode::new(code).map(|op| {
            assert_eq!(op.code(), code);
            assert_eq!(Opcode::of(op.transport(), op.operation(), op.place(), op.tail()), Some(op));
            packet(&headers(code), &[]).len() - Bth::BYTES
        });
        assert_eq!(found, expected, "opcode {code:#04x}");
    }
    assert_eq!(Opcode::RC_ACKNOWLEDGE, opcode(0x11));
    assert_eq!(Opcode::RC_ATOMIC_ACKNOWLEDGE, opcode(0x12));
    assert_eq!(Opcode::RC_READ_REQUEST, opcode(0x0c));
    assert_eq!(Opcode::of(Transport::Uc, Operation::ReadRequest, Place::Only, Tail::None), None);
    assert_eq!(Opcode::of(Transport::Rc, Operation::Connect, Place::Only, Tail::None), None);
    assert_eq!(Opcode::of(Transport::Ud, Operation::Send, Place::First, Tail::None), None);
    assert_eq!(Opcode::of(Transport::Rc, Operation::Write, Place::Last, Tail::Invalidate), None);
}

#[test]
fn write_only_with_immediate_is_laid_out_as_the_specification_says() {
    let golden = [
        0x0b, 0xb0, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef, // BTH: SE, pad 3
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x00, 0x00, 0x00, 0x05, // RETH
        0xde, 0xad, 0xbe, 0xef, // ImmDt
        0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0x00, 0x00, 0x00, // payload, padding
    ];
    assert_eq!(packet(&headers(0x0b), &[0xa5; 5]), golden);
}

#[test]
fn atomic_and_its_acknowledgement_are_laid_out_as_the_specification_says() {
    let golden = [
        0x13, 0x80, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef, // BTH
        0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, // VA, R_Key
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // swap
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, // compare
    ];
    assert_eq!(packet(&headers(0x13), &[]), golden);
    let golden = [
        0x12, 0x80, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef, // BTH
        0x1f, 0x66, 0x77, 0x88, // AETH
        0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, // AtomicAckETH
    ];
    assert_eq!(packet(&headers(0x12), &[]), golden);
}

#[test]
fn datagram_and_invalidate_are_laid_out_as_the_specification_says() {
    let golden = [
        0x65, 0xc0, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x00, 0xab, 0xcd, 0xef, // BTH: SE, MigReq, no A
        0x11, 0x11, 0x22, 0x22, 0x00, 0x33, 0x44, 0x55, // DETH
        0xde, 0xad, 0xbe, 0xef, // ImmDt
    ];
    let mut datagram = headers(0x65);
    datagram.bth.migrated = true;
    datagram.bth.ack_request = false;
    assert_eq!(packet(&datagram, &[]), golden);
    assert_eq!(packet(&headers(0x17), &[])[12..], [0xfe, 0xed, 0xf0, 0x0d]);
}

#[test]
fn dynamic_connections_are_laid_out_as_this_device_does() {
    let bth = |opcode: u8| [opcode, 0x80, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef];
    let connection = [0x00, 0x44, 0x55, 0x66, 0x71, 0x72, 0x73, 0x74];
    let key = [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 12, 0x13, 0, 0];
    assert_eq!(packet(&headers(0xd8), &[]), [&bth(0xd8)[..], &connection, &key].concat());
    let accepted = [0x1f, 0x66, 0x77, 0x88, 0x91, 0x92, 0x93, 0x94];
    assert_eq!(packet(&headers(0xd9), &[]), [&bth(0xd9)[..], &connection, &accepted].concat());
    assert_eq!(packet(&headers(0xda), &[]), [&bth(0xda)[..], &connection].concat());
    // The others as RC's, with the connection between BTH and the rest.
    let rc = packet(&headers(0x13), &[]);
    assert_eq!(packet(&headers(0xd3), &[]), [&bth(0xd3)[..], &connection, &rc[12..]].concat());
}

#[test]
fn syndromes_keep_their_bits() {
    for code in 0..=u8::MAX {
        assert_eq!(AethSyndrome::from_code(code).code(), code);
    }
    assert_eq!(AethSyndrome::Nak(NakCode::REMOTE_ACCESS).code(), 0x62);
    assert_eq!(AethSyndrome::RnrNak(12).code(), 0x2c);
    assert_eq!(AethSyndrome::Ack(AethSyndrome::NO_CREDITS).code(), 0x1f);
    assert_eq!(AethSyndrome::from_code(0x40), AethSyndrome::Reserved(0x40));
}

#[test]
fn places_cover_a_message() {
    for place in [Place::First, Place::Middle, Place::Last, Place::Only] {
        assert_eq!(Place::of(place.begins(), place.ends()), place);
    }
    assert!(Place::Only.begins() && Place::Only.ends() && !Place::Middle.begins() && !Place::Middle.ends());
}

#[test]
fn faults_name_what_is_wrong() {
    let good = packet(&headers(0x0a), &[1, 2, 3]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    assert_eq!(Packet::parse(&[]), Err(PacketFault::Truncated { len: 0 }));
    assert_eq!(Packet::parse(&good[..27]), Err(PacketFault::Truncated { len: 27 }));
    assert_eq!(Packet::parse(&good[..31]), Err(PacketFault::Unpadded { len: 31 }));
    assert_eq!(Packet::parse(&changed(0, 0x15)), Err(PacketFault::Opcode(0x15)));
    assert_eq!(Packet::parse(&changed(1, 0x91)), Err(PacketFault::Version(1)));
    assert_eq!(Packet::parse(&good[..28]), Err(PacketFault::Padding { pad: 1, len: 0 }));
    assert_eq!(Packet::parse(&changed(0, 0x0c)), Err(PacketFault::Payload { opcode: 0x0c, len: 3 }));
    let mut odd = headers(0x0a);
    odd.imm = Some(ImmDt(1));
    assert_eq!(odd.build(0), Err(PacketFault::Headers(0x0a)));
    odd.imm = None;
    odd.reth = None;
    assert_eq!(odd.build(0), Err(PacketFault::Headers(0x0a)));
    assert_eq!(headers(0x0c).build(1), Err(PacketFault::Payload { opcode: 0x0c, len: 1 }));
    assert_eq!(headers(0x04).build(4097), Err(PacketFault::Payload { opcode: 0x04, len: 4097 }));
}

/// All packets of a segment but the last are full, and the last is not empty. So their number and the possible MTUs
/// (IBTA vol. 1, 9.6) bound the length.
#[test]
fn a_segment_has_a_length_that_so_many_packets_can_have() {
    for (code, packets, len, possible) in [
        (0x01, 2, 256, false),
        (0x01, 2, 257, true),
        (0x01, 2, 2 * 4096, true),
        (0x01, 2, 2 * 4096 + 1, false),
        (0x01, 16, 15 * 256, false),
        (0x01, 16, MAX_SEGMENT, true),
        (0x01, 17, MAX_SEGMENT, true),
        (0x01, 17, MAX_SEGMENT + 1, false),
        (0x01, 1, 100, true),
        (0x01, 0, 100, false),
        (0x01, 0, 0, false),
        // READ response; UC, XRC and DC.
        (0x0e, 2, 512, true),
        (0x21, 2, 512, true),
        (0xa1, 2, 512, true),
        (0xc1, 2, 512, true),
        // A READ request and an acknowledgement have no payload; datagrams have one packet.
        (0x0c, 2, 512, false),
        (0x11, 2, 512, false),
        (0x64, 2, 512, false),
    ] {
        let headers = headers(code);
        let expected = if possible { Ok(()) } else { Err(PacketFault::Payload { opcode: code, len }) };
        assert_eq!(headers.build_segment(len, packets).map(drop), expected, "{code:#x}: {packets} of {len} bytes");
        let mut bytes = packet(&headers, &[]);
        bytes.resize(bytes.len() + len.next_multiple_of(4), 0);
        bytes[1] |= (len.wrapping_neg() as u8 & 3) << 4;
        let parsed = Packet::of(&bytes, packets).map(|parsed| {
            assert_eq!((parsed.payload.len(), parsed.packets), (len, packets));
        });
        assert_eq!(parsed, expected, "{code:#x}: {packets} of {len} bytes");
    }
}

proptest! {
    #[test]
    fn what_was_built_is_parsed(
        row in 0..EXTENDED_BYTES.len(),
        payload in prop::collection::vec(any::<u8>(), 0..=MAX_PAYLOAD),
        (solicited, migrated, ack_request) in any::<(bool, bool, bool)>(),
        pkey: u16,
        dest_qp in 0..1u32 << 24,
        psn in 0..1u32 << 24,
        words: [u64; 3],
        half: u32,
    ) {
        let opcode = opcode(EXTENDED_BYTES[row].0);
        let mut headers = headers(opcode.code());
        headers.bth = Bth { opcode, solicited, migrated, pkey, dest_qp, ack_request, psn };
        headers.reth = headers.reth.map(|_| Reth { addr: words[0], rkey: half, len: words[1] as u32 });
        headers.atomic =
            headers.atomic.map(|_| AtomicEth { addr: words[0], rkey: half, swap_add: words[1], compare: words[2] });
        headers.extended = headers.extended.map(|_| ExtendedAtomicEth {
            addr: words[0],
            rkey: half,
            width: [Width::Four, Width::Eight, Width::Sixteen][half as usize % 3],
            masked: if half & 2 == 0 {
                Masked::Add { add: words[1].into(), boundary: u128::from(words[2]) << 64 }
            } else {
                Masked::Swap {
                    compare: u128::from(words[0]) << 64 | u128::from(words[1]),
                    compare_mask: words[1].into(),
                    swap: u128::from(words[2]) << 32,
                    swap_mask: half.into(),
                }
            },
        });
        headers.aeth = headers.aeth.map(|_| Aeth { syndrome: AethSyndrome::from_code(half as u8), msn: half >> 8 });
        headers.deth = headers.deth.map(|_| Deth { qkey: half, src_qp: words[0] as u32 >> 8 });
        let payload = if opcode.has_payload() { &payload[..] } else { &[] };
        let bytes = packet(&headers, payload);
        prop_assert_eq!(bytes.len() % 4, 0);
        prop_assert_eq!(Packet::parse(&bytes), Ok(Packet { headers, payload, packets: 1 }));
        prop_assert_eq!(Packet::dest_qp(&bytes), Some(dest_qp));
    }

    #[test]
    fn any_bytes_parse_or_fail(mut bytes in prop::collection::vec(any::<u8>(), 0..80), valid: bool) {
        if let (true, Some(first)) = (valid, bytes.first_mut()) {
            *first = EXTENDED_BYTES[usize::from(*first) % EXTENDED_BYTES.len()].0;
        }
        let _ = Packet::dest_qp(&bytes);
        if let Ok(parsed) = Packet::parse(&bytes) {
            let again = packet(&parsed.headers, parsed.payload);
            prop_assert_eq!(Packet::parse(&again), Ok(parsed));
        }
    }
}
