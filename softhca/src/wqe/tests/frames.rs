//! WQEs of raw packets.
//!
//! Decoding of frames belongs here, their way to the port in `softhca/tests/ethernet`.

use super::*;

/// An Ethernet segment with these checksum flags and inline headers.
fn eth(cs_flags: u8, headers: &[u8]) -> Vec<u8> {
    let mut seg = vec![0, 0, 0, 0, cs_flags, 0, 0, 0, 0, 0, 0, 0, (headers.len() >> 8) as u8, headers.len() as u8];
    seg.extend(headers);
    seg.resize(seg.len().next_multiple_of(16), 0);
    seg
}

#[test]
fn a_frame_begins_in_the_ethernet_segment() {
    let header: Vec<u8> = (1..=100).collect();
    // None, as many as the segment itself has room for, the L2 headers of libmlx5, and more.
    for (len, units) in [(0, 1), (1, 1), (2, 1), (3, 2), (18, 2), (19, 3), (100, 8)] {
        let seg = eth(0, &header[..len]);
        assert_eq!(seg.len(), 16 * units);
        let found = fetch_at(0, &wqe(0x0a, &[&seg, &DATA]), Transport::RawPacket).unwrap();
        assert_eq!((found.headers, found.payload), (header[..len].to_vec(), Payload::Segs(smallvec![DATA_SEG])));
        assert_eq!(found.op, SendOp::Frame(Framing::default()));
    }
    let inline = [0x80, 0, 0, 4, 0xa, 0xb, 0xc, 0xd, 0, 0, 0, 0, 0, 0, 0, 0];
    for (flags, l3, l4) in [(0x40, true, false), (0x80, false, true), (0xc0, true, true)] {
        let found = fetch_at(0, &wqe(0x0a, &[&eth(flags, &header[..18]), &inline]), Transport::RawPacket).unwrap();
        assert_eq!(
            found.op,
            SendOp::Frame(Framing { checksums: Checksums { l3, l4, ..Checksums::default() }, ..Framing::default() })
        );
        assert_eq!(found.payload, Payload::Inline(vec![0xa, 0xb, 0xc, 0xd]));
    }
}

#[test]
fn a_large_packet_says_how_it_is_cut_up() {
    let mut seg = eth(0xc0, &[7; 54]);
    assert_eq!(fault(&wqe(0x0e, &[&seg, &DATA]), Transport::RawPacket), WqeFault::NoSegmentSize);
    seg[6..8].copy_from_slice(&1448_u16.to_be_bytes());
    let found = fetch_at(0, &wqe(0x0e, &[&seg, &DATA]), Transport::RawPacket).unwrap();
    let checksums = Checksums { l3: true, l4: true, ..Checksums::default() };
    assert_eq!(found.op, SendOp::Frame(Framing { checksums, mss: Some(1448), ..Framing::default() }));
    assert_eq!(found.headers, [7; 54]);
}

/// Linux `include/linux/mlx5/qp.h`, `struct mlx5_wqe_eth_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct
/// mlx5_wqe_eseg`, and `drivers/net/mlx5/mlx5_tx.h`, `txq_mbuf_to_swp`.
#[test]
fn inner_checksums_stated_headers_and_metadata() {
    let mut seg = eth(0x70, &[]);
    seg[..4].copy_from_slice(&[27, 7, 52, 42]);
    seg[5] = 0x31;
    seg[8..12].copy_from_slice(&[1, 2, 3, 4]);
    let checksums = Checksums { l3: true, l4: false, inner_l3: true, inner_l4: true };
    let stated = StatedHeaders {
        outer: StatedLayer { l3: 14, l4: 54, ipv6: true, udp: true },
        inner: StatedLayer { l3: 84, l4: 104, ipv6: true, udp: false },
    };
    let framing = Framing { checksums, stated, metadata: 0x0102_0304, ..Framing::default() };
    let found = fetch_at(0, &wqe(0x0a, &[&seg, &DATA]), Transport::RawPacket).unwrap();
    assert_eq!(found.op, SendOp::Frame(framing));
    let found = fetch_at(0, &wqe(0x29, &[&seg, &DATA, &DATA]), Transport::RawPacket).unwrap();
    assert_eq!(found.op, SendOp::Frame(Framing { many: true, ..framing }));
    seg[6..8].copy_from_slice(&1400_u16.to_be_bytes());
    let found = fetch_at(0, &wqe(0x0e, &[&seg, &DATA]), Transport::RawPacket).unwrap();
    assert_eq!(found.op, SendOp::Frame(Framing { mss: Some(1400), ..framing }));

    // Each bit by itself, and only on queues that may say where the headers are.
    let memory = ArrayMemory::filled(BASE, 256, 0);
    let without = SqContext { software_parser: false, ..SQ };
    for (at, bits) in [(0, 1), (1, 1), (2, 1), (3, 1), (5, 0x01), (5, 0x02), (5, 0x10), (5, 0x20)] {
        let mut seg = eth(0, &[]);
        seg[at] = bits;
        let found = fetch_at(0, &wqe(0x0a, &[&seg, &DATA]), Transport::RawPacket).unwrap();
        let SendOp::Frame(Framing { stated, .. }) = found.op else { panic!("{found:?}") };
        let layers = [stated.outer, stated.inner];
        let said = |of: fn(&StatedLayer) -> bool| layers.each_ref().map(of);
        let (l3, l4) = (said(|layer| layer.l3 == 2), said(|layer| layer.l4 == 2));
        let (ipv6, udp) = (said(|layer| layer.ipv6), said(|layer| layer.udp));
        let bit = |found: [bool; 2], outer: bool, inner: bool| assert_eq!(found, [outer, inner], "{at}, {bits:#x}");
        bit(l4, at == 0, at == 2);
        bit(l3, at == 1, at == 3);
        bit(ipv6, bits == 0x10, at == 5 && bits == 1);
        bit(udp, bits == 0x20, bits == 2);
        put_wqe(&memory, 0, &wqe(0x0a, &[&seg, &DATA]));
        let refused = fetch(&without, QPN, (Transport::RawPacket, false), 0, 4, Source::Ring(&memory));
        assert_eq!(refused, Err(WqeFault::NoSoftwareParser), "{at}, {bits:#x}");
    }
}

#[test]
fn ethernet_segments_that_make_no_sense() {
    let fault = |seg: &[u8]| fault(&wqe(0x0a, &[seg]), Transport::RawPacket);
    // The last is the bit that would have a VLAN tag put in.
    for (at, bits) in [(5, 0x04), (5, 0x08), (5, 0x40), (5, 0x80), (6, 1), (7, 1), (12, 0x80)] {
        let mut seg = eth(0, &[]);
        seg[at] = bits;
        assert!(matches!(fault(&seg), WqeFault::Reserved { at: word, .. } if (at + 13..=at + 16).contains(&word)));
    }
    for flags in [0x01, 0x02, 0x04, 0xf8] {
        assert_eq!(fault(&eth(flags, &[])), WqeFault::BadChecksumFlags(flags));
    }
    let mut seg = eth(0, &[0; 18]);
    seg[13] = 19;
    assert_eq!(fault(&seg), WqeFault::MissingSegment { segment: "inline headers", needs: 64, has: 48 });
    assert_eq!(fault(&[]), WqeFault::MissingSegment { segment: "Ethernet", needs: 32, has: 16 });

    let sq = SqContext { inline_headers: InlineHeaders::L2, ..SQ };
    let memory = ArrayMemory::filled(BASE, 256, 0);
    for (len, ok) in [(0, false), (17, false), (18, true)] {
        put_wqe(&memory, 0, &wqe(0x0a, &[&eth(0, &vec![7; len]), &DATA]));
        let found = fetch(&sq, QPN, (Transport::RawPacket, false), 0, 4, Source::Ring(&memory));
        assert_eq!(found.is_ok(), ok, "{found:?}");
        assert!(ok || found == Err(WqeFault::FewInlineHeaders { found: len as u16, needed: 18 }));
    }
}

/// Linux `drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`, `mlx5e_tx_mpwqe_add_dseg`; DPDK
/// `drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_burst_empw_inline`: one Ethernet segment, then a segment for each frame.
#[test]
fn several_frames_are_a_segment_each() {
    let inline = |len: u8| {
        let mut seg = vec![0x80, 0, 0, len];
        seg.extend((0..len).map(|i| i ^ 0xff));
        seg.resize(seg.len().next_multiple_of(16), 0);
        seg
    };
    let part = |len: u8| Part::Inline((0..len).map(|i| i ^ 0xff).collect());
    let checksums = Checksums { l3: true, l4: true, ..Checksums::default() };
    let op = SendOp::Frame(Framing { checksums, many: true, ..Framing::default() });
    let segs: [&[u8]; 5] = [&eth(0xc0, &[]), &DATA, &inline(20), &inline(12), &DATA];
    let found = fetch_at(0, &wqe(0x29, &segs), Transport::RawPacket).unwrap();
    assert_eq!((&found.op, found.opcode, found.wqebbs), (&op, 0x29, 2));
    let parts = vec![Part::Seg(DATA_SEG), part(20), part(12), Part::Seg(DATA_SEG)];
    assert_eq!((found.headers, found.payload.split()), (vec![], parts.clone()));
    assert_eq!(found.payload, Payload::Mixed(parts));
    // One alone, of either kind.
    for (seg, part) in [(DATA.to_vec(), Part::Seg(DATA_SEG)), (inline(60), part(60))] {
        let found = fetch_at(0, &wqe(0x29, &[&eth(0xc0, &[]), &seg]), Transport::RawPacket).unwrap();
        assert_eq!((&found.op, found.payload.split()), (&op, vec![part]));
    }
}

#[test]
fn several_frames_have_nothing_of_their_own_but_a_segment() {
    let fault = |eth: &[u8], rest: &[u8]| fault(&wqe(0x29, &[eth, rest]), Transport::RawPacket);
    let reserved = |seg: &[u8]| match fault(seg, &DATA) {
        WqeFault::Reserved { at, .. } => at,
        other => panic!("{other:?}"),
    };
    // Headers inline, a tag to be put in, a size of segments.
    assert_eq!(reserved(&eth(0, &[7; 2])), 28);
    let with = |at: usize, bytes: [u8; 2]| {
        let mut seg = eth(0, &[]);
        seg[at..at + 2].copy_from_slice(&bytes);
        seg
    };
    assert_eq!([reserved(&with(12, [0x80, 0])), reserved(&with(6, [0, 100]))], [28, 22]);
    assert_eq!(fault(&eth(0x08, &[]), &DATA), WqeFault::BadChecksumFlags(0x08));
    let missing = WqeFault::MissingSegment { segment: "data", needs: 48, has: 32 };
    assert_eq!(fault(&eth(0, &[]), &[]), missing);
    // The older form: opcode 0x0e with modifier 1 (DPDK `MLX5_OPC_MOD_MPW`).
    let older = modified(0x0e, 1, &[&with(6, [0, 64]), &DATA]);
    assert_eq!(super::fault(&older, Transport::RawPacket), WqeFault::BadOpmod { opcode: 0x0e, opmod: 1 });
    assert_eq!(
        super::fault(&wqe(0x29, &[&DATA]), Transport::Rc),
        WqeFault::WrongTransport { opcode: 0x29, transport: Transport::Rc }
    );

    let memory = ArrayMemory::filled(BASE, 256, 0);
    put_wqe(&memory, 0, &wqe(0x29, &[&eth(0, &[]), &DATA]));
    let of = |sq: &SqContext| fetch(sq, QPN, (Transport::RawPacket, false), 0, 4, Source::Ring(&memory)).map(drop);
    assert_eq!(of(&SQ), Ok(()));
    assert_eq!(of(&SqContext { multi_packet: false, ..SQ }), Err(WqeFault::SingleFramesOnly));
    for (inline_headers, needed) in [(InlineHeaders::L2, 18), (InlineHeaders::Ip, 18), (InlineHeaders::TcpUdp, 18)] {
        let fault = WqeFault::FewInlineHeaders { found: 0, needed };
        assert_eq!(of(&SqContext { inline_headers, ..SQ }), Err(fault));
    }
}
