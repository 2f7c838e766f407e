//! Cutting one large TCP or UDP packet up into frames (TSO): the headers of each are those of the whole, with the
//! differing fields filled in. As Linux' own segmentation does it (`net/ipv4/tcp_offload.c`,
//! `net/ipv4/udp_offload.c`).

use super::checksums::{Checksums, fill_checksums, find_headers};
use super::protocols::{IPV4, IPV6_HEADER, TCP};

/// Most bytes of the payload of one large packet, as log2.
pub(crate) const LOG_MAX_LARGE: u8 = 18;
/// Most frames that it is cut up into.
pub(crate) const MAX_SEGMENTS: usize = 4096;

/// Flags of TCP that only the last segment has, and only the first (RFC 9293, 3.1; RFC 3168, 6.1.2).
const FIN: u8 = 1 << 0;
const PSH: u8 = 1 << 3;
const CWR: u8 = 1 << 7;

/// The frames that carry `payload` behind `headers`, up to `mss` bytes of it each. `None` if the headers are not those
/// of TCP or UDP to their very end, or there would be too many frames.
pub(crate) fn segments(headers: &[u8], payload: &[u8], mss: usize) -> Option<Vec<Vec<u8>>> {
    let found = find_headers(headers)?;
    let count = payload.len().div_ceil(mss.max(1)).max(1);
    if count > MAX_SEGMENTS {
        return None;
    }
    let one = |index: usize| {
        let start = index * mss;
        let part = payload.get(start..payload.len().min(start + mss))?;
        let mut frame = [headers, part].concat();
        let end = frame.len();
        if found.ether_type == IPV4 {
            put(&mut frame, found.at + 2, u16::try_from(end - found.at).ok()?);
            let id = u16::from_be_bytes([headers[found.at + 4], headers[found.at + 5]]);
            put(&mut frame, found.at + 4, id.wrapping_add(index as u16));
        } else {
            put(&mut frame, found.at + 4, u16::try_from(end - found.at - IPV6_HEADER).ok()?);
        }
        let next = found.next;
        if found.protocol == TCP {
            let sequence = u32::from_be_bytes(headers[next + 4..next + 8].try_into().ok()?);
            frame[next + 4..next + 8].copy_from_slice(&sequence.wrapping_add(start as u32).to_be_bytes());
            let flags = &mut frame[next + 13];
            *flags &= if index + 1 < count { !(FIN | PSH) } else { 0xff };
            *flags &= if index > 0 { !CWR } else { 0xff };
        } else {
            put(&mut frame, next + 4, u16::try_from(end - next).ok()?);
        }
        // Lengths have changed, so that no checksum of before is right.
        fill_checksums(&mut frame, Checksums { l3: true, l4: true });
        Some(frame)
    };
    (0..count).map(one).collect()
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::headers::{Headers, L4};
    use super::*;
    use proptest::prelude::*;

    /// Headers of a packet whose lengths say nothing, as Linux gives them: 10.0.0.1 to 10.0.0.2, or the like of IPv6.
    fn headers(tag: bool, ipv6: bool, tcp: bool, flags: u8) -> Vec<u8> {
        let mut headers = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        if tag {
            headers.extend([0x81, 0, 0, 5]);
        }
        let protocol = if tcp { 6 } else { 17 };
        if ipv6 {
            headers.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, protocol, 64]);
            headers.extend([[0x20; 16], [0x30; 16]].concat());
        } else {
            headers.extend([8, 0, 0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        headers.extend([0x12, 0x34, 0, 80]);
        if tcp {
            headers.extend([0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 2, 0x80, flags, 1, 0, 0, 0, 0, 0]);
            headers.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        } else {
            headers.extend([0; 4]);
        }
        headers
    }

    #[test]
    fn what_differs_between_segments_is_filled_in() {
        let headers = headers(false, false, true, FIN | PSH | CWR | 0x10);
        let payload: Vec<u8> = (0..250).collect();
        let frames = segments(&headers, &payload, 100).expect("segments");
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [166, 166, 116]);
        assert_eq!(
            frames.iter().map(|frame| frame[16..20].to_vec()).collect::<Vec<_>>(),
            [[0, 152, 0xff, 0xff], [0, 152, 0, 0], [0, 102, 0, 1]]
        );
        let sequences: Vec<_> =
            frames.iter().map(|frame| u32::from_be_bytes(frame[38..42].try_into().unwrap())).collect();
        assert_eq!(sequences, [0xffff_fff0, 0x54, 0xb8]);
        assert_eq!(frames.iter().map(|frame| frame[47]).collect::<Vec<_>>(), [CWR | 0x10, 0x10, FIN | PSH | 0x10]);
    }

    #[test]
    fn datagrams_have_their_own_lengths() {
        let frames = segments(&headers(false, true, false, 0), &[7; 25], 10).expect("segments");
        let lengths: Vec<_> = frames.iter().map(|frame| (frame[19], frame[59])).collect();
        assert_eq!(lengths, [(18, 18), (18, 18), (13, 13)]);
    }

    #[test]
    fn what_cannot_be_cut_up_is_refused() {
        let whole = headers(false, false, true, 0x10);
        assert_eq!(segments(&whole[..whole.len() - 1], &[0; 10], 5), None);
        assert_eq!(segments(&[&whole[..], &[0]].concat(), &[0; 10], 5), None);
        let mut icmp = whole.clone();
        icmp[23] = 1;
        assert_eq!(segments(&icmp, &[0; 10], 5), None);
        let mut fragment = whole.clone();
        fragment[20] = 0x20;
        assert_eq!(segments(&fragment, &[0; 10], 5), None);
        assert_eq!(segments(&whole, &vec![0; MAX_SEGMENTS + 1], 1), None);
        assert_eq!(segments(&whole, &[], 5).map(|frames| frames.len()), Some(1));
    }

    proptest! {
        #[test]
        fn segments_are_whole_packets_that_make_up_the_payload(
            (tag, ipv6, tcp) in any::<(bool, bool, bool)>(), payload in prop::collection::vec(any::<u8>(), 1..5000), mss in 2..1500usize,
        ) {
            let headers = headers(tag, ipv6, tcp, 0x18);
            let frames = segments(&headers, &payload, mss).expect("segments");
            let mut found = Vec::<u8>::new();
            for frame in &frames {
                let parsed = Headers::of(frame).expect("headers");
                let (ip, ports) = (parsed.ip.expect("IP"), parsed.ports.expect("ports"));
                prop_assert!(ip.checksum_ok && ports.checksum_ok && ip.end == frame.len());
                prop_assert_eq!(matches!(ports.l4, L4::Tcp { .. }), tcp);
                prop_assert!(frame.len() <= headers.len() + mss);
                found.extend(&frame[headers.len()..]);
            }
            prop_assert_eq!(found, payload);
        }

        #[test]
        fn no_headers_do_harm(headers in prop::collection::vec(any::<u8>(), 0..100), len in 0..3000usize, mss in 0..2000usize) {
            let _ = segments(&headers, &vec![0; len], mss);
        }
    }
}
