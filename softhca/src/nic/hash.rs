//! Hashes of frames, by which one of several receive queues is chosen.

use super::context::{HashContext, HashFunction};
use crate::ethernet::{Headers, L4};

/// `rss_hash_type` of a CQE (Linux `include/linux/mlx5/device.h`, `CQE_RSS_HTYPE_*`): bits 3:2 say of which version the
/// addresses were, bits 7:6 of which protocol the ports.
mod hash_type {
    pub(super) const IPV4: u8 = 1 << 2;
    pub(super) const IPV6: u8 = 2 << 2;
    pub(super) const TCP: u8 = 1 << 6;
    pub(super) const UDP: u8 = 2 << 6;
    pub(super) const IPSEC: u8 = 3 << 6;
}

/// A frame's hash, and the fields that it covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hash {
    pub(super) value: u32,
    /// As a CQE says it; 0: nothing, and then the hash is 0, too.
    pub(super) kind: u8,
}

/// Hashes a frame. A symmetric hash covers the OR and the XOR of both addresses, then those of both ports: Linux calls
/// it "symmetric OR-XOR" (`Documentation/networking/scaling.rst`; mlx5e's `supported_input_xfrm`,
/// `drivers/net/ethernet/mellanox/mlx5/core/en_ethtool.c`). No source says what becomes of one of them alone: here it
/// stays as it is.
pub(super) fn hash(context: &HashContext, headers: &Headers) -> Hash {
    let select = &context.select;
    let (mut tuple, mut kind) = (Vec::with_capacity(36), 0);
    let (mut ports, mut addresses, mut index) = ([const { None }; 2], [const { None }; 2], None);
    if let Some(ip) = headers.ip.as_ref().filter(|ip| (ip.version == 6) == select.ipv6) {
        let first = if select.ipv6 { 0 } else { 12 };
        addresses = [
            select.source_ip.then(|| ip.source[first..].to_vec()),
            select.destination_ip.then(|| ip.destination[first..].to_vec()),
        ];
        index = headers.security_index.filter(|_| select.security_index);
        let found = headers.ports.as_ref().filter(|ports| (ports.l4 == L4::Udp) == select.udp);
        if let Some(found) = found {
            ports = [
                select.source_port.then(|| found.source.to_be_bytes().to_vec()),
                select.destination_port.then(|| found.destination.to_be_bytes().to_vec()),
            ];
        }
    }
    if context.symmetric {
        (addresses, ports) = (or_xor(addresses), or_xor(ports));
    }
    for address in addresses.into_iter().flatten() {
        tuple.extend(address);
        kind |= if select.ipv6 { hash_type::IPV6 } else { hash_type::IPV4 };
    }
    for port in ports.into_iter().flatten() {
        tuple.extend(port);
        kind |= if select.udp { hash_type::UDP } else { hash_type::TCP };
    }
    // A packet with ports has no index.
    if let Some(index) = index {
        tuple.extend(index.to_be_bytes());
        kind |= hash_type::IPSEC;
    }
    let value = match context.function {
        _ if tuple.is_empty() => 0,
        HashFunction::None => return Hash::default(),
        HashFunction::InvertedXor8 => u32::from(!tuple.iter().fold(0, |xor, byte| xor ^ byte)),
        HashFunction::Toeplitz => toeplitz(&context.key, &tuple),
    };
    Hash { value, kind }
}

/// Both fields, so that their order does not matter.
fn or_xor(fields: [Option<Vec<u8>>; 2]) -> [Option<Vec<u8>>; 2] {
    let [Some(a), Some(b)] = &fields else { return fields };
    let of = |join: fn(u8, u8) -> u8| Some(a.iter().zip(b).map(|(&a, &b)| join(a, b)).collect());
    [of(|a, b| a | b), of(|a, b| a ^ b)]
}

/// Toeplitz' hash (Microsoft, "RSS hashing functions"): for each bit set, the 32 bits of the key from its place on.
fn toeplitz(key: &[u8; 40], data: &[u8]) -> u32 {
    let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (7 - at % 8) & 1 != 0;
    let mut window = u32::from_be_bytes([key[0], key[1], key[2], key[3]]);
    let mut hash = 0;
    for at in 0..data.len() * 8 {
        if bit(data, at) {
            hash ^= window;
        }
        // The longest tuple has 36 bytes, and 4 more are the window's.
        window = window << 1 | u32::from(at + 32 < key.len() * 8 && bit(key, at + 32));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::super::context::HashSelect;
    use super::*;

    /// The key of Microsoft's "Verifying the RSS hash calculation".
    const KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca,
        0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b,
        0xbe, 0xac, 0x01, 0xfa,
    ];

    const ALL: HashSelect = HashSelect {
        ipv6: false,
        udp: false,
        source_ip: true,
        destination_ip: true,
        source_port: true,
        destination_port: true,
        security_index: false,
    };

    fn context(select: HashSelect) -> HashContext {
        HashContext { function: HashFunction::Toeplitz, symmetric: false, key: KEY, select, inside: false }
    }

    fn tcp4(source: [u8; 4], destination: [u8; 4], ports: [u16; 2]) -> Headers {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0]);
        frame.extend(source);
        frame.extend(destination);
        frame.extend(ports.map(u16::to_be_bytes).concat());
        frame.resize(54, 0);
        Headers::of(&frame).expect("headers")
    }

    fn tcp6(source: [u16; 8], destination: [u16; 8], ports: [u16; 2]) -> Headers {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64]);
        frame.extend(source.map(u16::to_be_bytes).concat());
        frame.extend(destination.map(u16::to_be_bytes).concat());
        frame.extend(ports.map(u16::to_be_bytes).concat());
        frame.resize(74, 0);
        Headers::of(&frame).expect("headers")
    }

    #[test]
    fn the_published_examples() {
        let addresses_alone = HashSelect { source_port: false, destination_port: false, ..ALL };
        for (source, destination, ports, with_ports, without) in [
            ([66, 9, 149, 187], [161, 142, 100, 80], [2794, 1766], 0x51cc_c178, 0x323e_8fc2),
            ([199, 92, 111, 2], [65, 69, 140, 83], [14230, 4739], 0xc626_b0ea, 0xd718_262a),
        ] {
            let headers = tcp4(source, destination, ports);
            assert_eq!(hash(&context(ALL), &headers), Hash { value: with_ports, kind: 0x44 });
            assert_eq!(hash(&context(addresses_alone), &headers), Hash { value: without, kind: 0x04 });
        }
        let ipv6 = HashSelect { ipv6: true, ..ALL };
        let source = [0x3ffe, 0x2501, 0x200, 0x1fff, 0, 0, 0, 7];
        let destination = [0x3ffe, 0x2501, 0x200, 3, 0, 0, 0, 1];
        let headers = tcp6(source, destination, [2794, 1766]);
        assert_eq!(hash(&context(ipv6), &headers), Hash { value: 0x4020_7d3d, kind: 0x48 });
        let alone = HashSelect { ipv6: true, ..addresses_alone };
        assert_eq!(hash(&context(alone), &headers), Hash { value: 0x2cc1_8cd5, kind: 0x08 });
    }

    #[test]
    fn the_index_of_ipsec_is_hashed_where_ports_are_otherwise() {
        let select = HashSelect { source_port: false, destination_port: false, security_index: true, ..ALL };
        for (protocol, header) in [(50, vec![]), (51, vec![6, 4, 0, 0])] {
            let mut frame = vec![0; 12];
            frame.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0]);
            frame.extend([66, 9, 149, 187, 161, 142, 100, 80]);
            frame.extend(header);
            frame.extend([2794_u16, 1766].map(u16::to_be_bytes).concat());
            frame.resize(54, 0);
            let headers = Headers::of(&frame).expect("headers");
            assert_eq!(hash(&context(select), &headers), Hash { value: 0x51cc_c178, kind: 0xc4 });
            assert_eq!(hash(&context(ALL), &headers), Hash { value: 0x323e_8fc2, kind: 0x04 });
        }
    }

    #[test]
    fn what_a_frame_does_not_have_is_not_hashed() {
        let headers = tcp4([1, 2, 3, 4], [5, 6, 7, 8], [1, 2]);
        assert_eq!(hash(&context(HashSelect { ipv6: true, ..ALL }), &headers), Hash::default());
        assert_eq!(hash(&context(HashSelect { udp: true, ..ALL }), &headers).kind, 0x04);
        assert_eq!(hash(&context(HashSelect::default()), &headers), Hash::default());
        let none = HashContext { function: HashFunction::None, ..context(ALL) };
        assert_eq!(hash(&none, &headers), Hash::default());
        let xor = HashContext { function: HashFunction::InvertedXor8, ..context(ALL) };
        assert_eq!(hash(&xor, &headers), Hash { value: 0xff ^ (8 ^ 3), kind: 0x44 });
    }

    #[test]
    fn both_directions_have_the_same_symmetric_hash() {
        let symmetric = HashContext { symmetric: true, ..context(ALL) };
        let there = tcp4([66, 9, 149, 187], [161, 142, 100, 80], [2794, 1766]);
        let back = tcp4([161, 142, 100, 80], [66, 9, 149, 187], [1766, 2794]);
        assert_eq!(hash(&symmetric, &there), hash(&symmetric, &back));
        assert_ne!(hash(&context(ALL), &there), hash(&context(ALL), &back));
        // As a packet of the OR and the XOR: (66 | 161).(9 | 142).…, (66 ^ 161).(9 ^ 142).…
        let joined = tcp4([227, 143, 245, 251], [227, 135, 241, 235], [2794 | 1766, 2794 ^ 1766]);
        assert_eq!(hash(&symmetric, &there), hash(&context(ALL), &joined));
        // One of them alone stays.
        let source = HashSelect { destination_ip: false, destination_port: false, ..ALL };
        let [plain, symmetric] =
            [false, true].map(|symmetric| hash(&HashContext { symmetric, ..context(source) }, &there));
        assert_eq!(plain, symmetric);
    }
}
