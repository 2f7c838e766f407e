//! WQEs of raw packets.

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
        assert_eq!((found.headers, found.payload), (header[..len].to_vec(), Payload::Segs(vec![DATA_SEG])));
        assert_eq!(found.op, SendOp::Frame(Framing::default()));
    }
    let inline = [0x80, 0, 0, 4, 0xa, 0xb, 0xc, 0xd, 0, 0, 0, 0, 0, 0, 0, 0];
    for (flags, l3, l4) in [(0x40, true, false), (0x80, false, true), (0xc0, true, true)] {
        let found = fetch_at(0, &wqe(0x0a, &[&eth(flags, &header[..18]), &inline]), Transport::RawPacket).unwrap();
        assert_eq!(found.op, SendOp::Frame(Framing { checksums: Checksums { l3, l4 }, ..Framing::default() }));
        assert_eq!(found.payload, Payload::Inline(vec![0xa, 0xb, 0xc, 0xd]));
    }
}

#[test]
fn a_large_packet_says_how_it_is_cut_up() {
    let mut seg = eth(0xc0, &[7; 54]);
    assert_eq!(fault(&wqe(0x0e, &[&seg, &DATA]), Transport::RawPacket), WqeFault::NoSegmentSize);
    seg[6..8].copy_from_slice(&1448_u16.to_be_bytes());
    let found = fetch_at(0, &wqe(0x0e, &[&seg, &DATA]), Transport::RawPacket).unwrap();
    let checksums = Checksums { l3: true, l4: true };
    assert_eq!(found.op, SendOp::Frame(Framing { checksums, tag: None, mss: Some(1448) }));
    assert_eq!(found.headers, [7; 54]);
}

#[test]
fn a_tag_is_in_the_place_of_headers() {
    let tagged = |bits: u16| {
        let mut seg = eth(0, &[]);
        seg[12..14].copy_from_slice(&bits.to_be_bytes());
        seg[14..16].copy_from_slice(&[0xa0, 5]);
        seg
    };
    for (bits, tag) in [(0x8000, [0x81, 0, 0xa0, 5]), (0x8001, [0x88, 0xa8, 0xa0, 5])] {
        let found = fetch_at(0, &wqe(0x0a, &[&tagged(bits), &DATA]), Transport::RawPacket).unwrap();
        assert_eq!(found.op, SendOp::Frame(Framing { tag: Some(tag), ..Framing::default() }));
        assert_eq!((found.headers, found.payload), (vec![], Payload::Segs(vec![DATA_SEG])));
    }
    let reserved = fault(&wqe(0x0a, &[&tagged(0x8002), &DATA]), Transport::RawPacket);
    assert!(matches!(reserved, WqeFault::Reserved { at: 28, .. }), "{reserved:?}");
    // A large packet has its tag in the headers.
    let mut large = tagged(0x8000);
    large[7] = 100;
    let few = fault(&wqe(0x0e, &[&large, &DATA]), Transport::RawPacket);
    assert!(matches!(few, WqeFault::FewInlineHeaders { .. }), "{few:?}");
}

#[test]
fn ethernet_segments_that_make_no_sense() {
    let fault = |seg: &[u8]| fault(&wqe(0x0a, &[seg]), Transport::RawPacket);
    for at in [0, 3, 5, 6, 7, 8, 11] {
        let mut seg = eth(0, &[]);
        seg[at] = 1;
        assert!(matches!(fault(&seg), WqeFault::Reserved { at: word, .. } if (at + 13..=at + 16).contains(&word)));
    }
    for flags in [0x01, 0x10, 0x20, 0xd0] {
        assert_eq!(fault(&eth(flags, &[])), WqeFault::BadChecksumFlags(flags));
    }
    let mut seg = eth(0, &[0; 18]);
    seg[13] = 19;
    assert_eq!(fault(&seg), WqeFault::MissingSegment { segment: "inline headers", needs: 64, has: 48 });
    assert_eq!(fault(&[]), WqeFault::MissingSegment { segment: "Ethernet", needs: 32, has: 16 });

    let sq = SqContext { inline_headers: InlineHeaders::L2, ..SQ };
    let memory = TestMemory::filled(256, 0);
    for (len, ok) in [(0, false), (17, false), (18, true)] {
        put_wqe(&memory, 0, &wqe(0x0a, &[&eth(0, &vec![7; len]), &DATA]));
        let found = fetch(&sq, QPN, (Transport::RawPacket, false), 0, 4, &memory);
        assert_eq!(found.is_ok(), ok, "{found:?}");
        assert!(ok || found == Err(WqeFault::FewInlineHeaders { found: len as u16, needed: 18 }));
    }
}
