//! Frames made by hand.

/// Adds 16-bit words, and the carries.
pub(crate) fn sum(parts: &[&[u8]]) -> u16 {
    let bytes: Vec<u8> = parts.concat();
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum = words.sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A MAC address of the tests.
pub(crate) fn mac(last: u8) -> [u8; 6] {
    [0x02, 0, 0, 0, 0, last]
}

/// An IPv4 packet of UDP or TCP with `data` bytes behind the ports' header, and right checksums.
pub(crate) fn ipv4(udp: bool, from: ([u8; 4], u16), to: ([u8; 4], u16), data: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..data).map(|i| i as u8).collect();
    let mut l4 = [from.1.to_be_bytes(), to.1.to_be_bytes()].concat();
    if udp {
        l4.extend(((8 + data) as u16).to_be_bytes());
        l4.extend([0, 0]);
    } else {
        // ACK alone.
        l4.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    }
    l4.extend(payload);
    let protocol = if udp { 17 } else { 6 };
    let pseudo = [&from.0[..], &to.0, &[0, protocol], &(l4.len() as u16).to_be_bytes()].concat();
    let checksum = (!sum(&[&pseudo, &l4])).to_be_bytes();
    let at = if udp { 6 } else { 16 };
    l4[at..at + 2].copy_from_slice(&checksum);
    let mut ip = vec![0x45, 0];
    ip.extend(((20 + l4.len()) as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    ip.extend(from.0);
    ip.extend(to.0);
    let checksum = (!sum(&[&ip])).to_be_bytes();
    ip[10..12].copy_from_slice(&checksum);
    [ip, l4].concat()
}

/// A frame of an IPv4 packet.
pub(crate) fn frame(to: [u8; 6], tag: &[u8], packet: &[u8]) -> Vec<u8> {
    [&to[..], &mac(0xaa), tag, &[0x08, 0x00], packet].concat()
}
