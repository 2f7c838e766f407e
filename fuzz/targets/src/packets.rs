//! Any bytes as packets of others: in a capture file, which the decoder reads, and as a frame, whose headers the crate
//! reads.

use blueflame::packet::{Kind, Packet, Tagged, Tcp4, Tcp6, Udp4, Udp6, parse};
use blueflame_decode::capture::capture;

input_struct! {
    /// Packets, and the file that has them.
    Input {
        /// Bits: the link; the form of the file, of which one is the bytes as they are; whether packets have options.
        form: u8,
        /// How the bytes are cut into packets, in bytes. The last packet has the rest.
        cuts: Vec<u8>,
        /// The packets.
        bytes: Vec<u8>,
    }
}

/// `LINKTYPE_…`: Ethernet, Endace's records, InfiniBand, and another one.
const LINKS: [u32; 4] = [1, 197, 247, 101];

/// Reads the file, and each packet.
pub fn run(input: &Input) {
    let packets = cut(&input.bytes, &input.cuts);
    packets.iter().for_each(|frame| read(frame));
    let link = LINKS[usize::from(input.form & 3)];
    let file = match input.form >> 2 & 3 {
        0 => input.bytes.clone(),
        1 => pcap(0xa1b2_c3d4, link, &packets, u32::to_le_bytes),
        2 => pcap(0xa1b2_3c4d, link, &packets, u32::to_be_bytes),
        _ => pcapng(link, &packets, input.form & 16 != 0),
    };
    let Some(found) = capture(&file) else { return };
    assert!(found.packets <= file.len() as u64 / 12, "{} packets in {} bytes", found.packets, file.len());
    let text = found.to_string();
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "nothing that does something to a terminal");
}

fn cut<'a>(mut bytes: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let mut packets = Vec::new();
    for &len in cuts {
        let (packet, rest) = bytes.split_at(bytes.len().min(len.into()));
        packets.push(packet);
        bytes = rest;
    }
    packets.push(bytes);
    packets
}

/// A frame is an error, or its payload lies in it. A frame that a packet takes is one of its kind.
fn read(frame: &[u8]) {
    if let Ok(parsed) = parse(frame) {
        let (frame, payload) = (frame.as_ptr_range(), parsed.payload.as_ptr_range());
        assert!(frame.start <= payload.start && payload.end <= frame.end);
    }
    take::<Udp4, 200>(frame);
    take::<Udp6, 200>(frame);
    take::<Tcp4, 200>(frame);
    take::<Tcp4<12>, 200>(frame);
    take::<Tcp6, 200>(frame);
    take::<Tagged<Udp4>, 200>(frame);
}

fn take<K: Kind, const N: usize>(frame: &[u8]) {
    if let Ok(packet) = Packet::<K, N>::from_frame(frame) {
        assert!(parse(packet.as_bytes()).is_ok(), "taken, but no packet");
    }
}

fn pcap(magic: u32, link: u32, packets: &[&[u8]], order: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let mut file = [magic, 2 << 16 | 4, 0, 0, 0xffff, link].map(order).concat();
    for packet in packets {
        let len = packet.len() as u32;
        file.extend([0, 0, len, len].map(order).concat());
        file.extend(*packet);
    }
    file
}

/// Each packet has its first bytes as a comment, if there are options.
fn pcapng(link: u32, packets: &[&[u8]], options: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let padding = body.len().next_multiple_of(4) - body.len();
        let len = (12 + body.len() + padding) as u32;
        file.extend([kind, len].map(u32::to_le_bytes).concat());
        file.extend(body);
        file.extend(vec![0; padding]);
        file.extend(len.to_le_bytes());
    };
    block(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX].map(u32::to_le_bytes).concat());
    block(1, &[link, 0xffff].map(u32::to_le_bytes).concat());
    for packet in packets {
        let len = packet.len() as u32;
        let mut body = [0, 0, 0, len, len].map(u32::to_le_bytes).concat();
        body.extend(*packet);
        body.resize(body.len().next_multiple_of(4), 0);
        if options {
            let comment = &packet[..packet.len().min(8)];
            for (code, value) in [(1_u16, comment), (2, &packet[..packet.len().min(4)])] {
                body.extend([code, value.len() as u16].map(u16::to_le_bytes).concat());
                body.extend(value);
                body.resize(body.len().next_multiple_of(4), 0);
            }
        }
        block(6, &body);
    }
    file
}
