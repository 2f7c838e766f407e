//! The frames that this program sends. A frame is a function of its number, so that nothing needs to be kept of it.
//!
//! Headers by RFC 791, 8200, 768 and 9293; checksums by RFC 1071. The rest of a frame is random bytes.

use std::ops::RangeInclusive;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET: usize = 14;
/// For experiments (IEEE Std 802, local experimental EtherTypes).
const EXPERIMENT: u16 = 0x88b5;
pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
/// A flag of TCP.
const PSH: u8 = 1 << 3;

/// Which headers a frame has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Ethernet alone.
    Plain,
    Udp4,
    Tcp4,
    Udp6,
    Tcp6,
}

impl Kind {
    /// Bytes of all headers.
    pub(crate) const fn headers(self) -> usize {
        ETHERNET
            + match self {
                Self::Plain => 0,
                Self::Udp4 => 20 + 8,
                Self::Tcp4 => 20 + 20,
                Self::Udp6 => 40 + 8,
                Self::Tcp6 => 40 + 20,
            }
    }

    /// Where the header of TCP or UDP begins, and its protocol.
    pub(crate) const fn transport(self) -> Option<(usize, u8)> {
        match self {
            Self::Plain => None,
            Self::Udp4 => Some((ETHERNET + 20, UDP)),
            Self::Tcp4 => Some((ETHERNET + 20, TCP)),
            Self::Udp6 => Some((ETHERNET + 40, UDP)),
            Self::Tcp6 => Some((ETHERNET + 40, TCP)),
        }
    }

    /// Where the addresses of IP begin, and bytes of one.
    pub(crate) const fn addresses(self) -> Option<(usize, usize)> {
        match self {
            Self::Plain => None,
            Self::Udp4 | Self::Tcp4 => Some((ETHERNET + 12, 4)),
            Self::Udp6 | Self::Tcp6 => Some((ETHERNET + 8, 16)),
        }
    }
}

/// A description of frames to send.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) to: [u8; 6],
    pub(crate) from: [u8; 6],
    /// In turn.
    pub(crate) kinds: Vec<Kind>,
    /// Bytes of a frame; more if the headers need more.
    pub(crate) bytes: RangeInclusive<usize>,
    /// Frames in a row are segments of one TCP message.
    pub(crate) stream: Option<Stream>,
}

/// A TCP message. Its segments are numbered as a NIC numbers those that it makes of one large frame, and the last one
/// has PSH.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) segments: u64,
    /// Bytes of data of each.
    pub(crate) data: usize,
}

/// Random numbers (splitmix64, of Steele, Lea and Flood).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Recipe {
    pub(crate) fn kind(&self, number: u64) -> Kind {
        self.kinds[(self.message(number).0 % self.kinds.len() as u64) as usize]
    }

    /// The message that frame `number` belongs to, and its place there.
    fn message(&self, number: u64) -> (u64, u64) {
        self.stream.map_or((number, 0), |stream| (number / stream.segments, number % stream.segments))
    }

    /// Frame `number`, all its checksums right.
    pub(crate) fn frame(&self, number: u64) -> Vec<u8> {
        let kind = self.kind(number);
        let (message, place) = self.message(number);
        let mut random = Random(message);
        let span = (self.bytes.end() - self.bytes.start() + 1) as u64;
        let bytes = self.bytes.start() + (random.next() % span) as usize;
        let bytes = self.stream.map_or(bytes, |stream| kind.headers() + stream.data).max(kind.headers() + 8);
        let mut frame = Vec::with_capacity(bytes + 8);
        frame.extend(self.to);
        frame.extend(self.from);
        let ports = random.next();
        match kind {
            Kind::Plain => frame.extend(EXPERIMENT.to_be_bytes()),
            Kind::Udp4 | Kind::Tcp4 => ipv4(&mut frame, kind, bytes - ETHERNET, ports),
            Kind::Udp6 | Kind::Tcp6 => ipv6(&mut frame, kind, bytes - ETHERNET - 40, ports),
        }
        if let Some((_, protocol)) = kind.transport() {
            transport(&mut frame, protocol, bytes, ports);
        }
        if let Some(stream) = self.stream {
            stream.place(&mut frame, kind, place);
            random = Random(!number);
        }
        frame.extend(number.to_be_bytes());
        while frame.len() < bytes {
            frame.extend(random.next().to_be_bytes());
        }
        frame.truncate(bytes);
        sum_up(&mut frame, kind);
        frame
    }
}

impl Stream {
    /// Turns the headers of a message's first segment into those of its segment `place`.
    fn place(self, frame: &mut [u8], kind: Kind, place: u64) {
        let tcp = kind.headers() - 20;
        if kind == Kind::Tcp4 {
            add(&mut frame[ETHERNET + 4..ETHERNET + 6], place as usize);
        }
        add(&mut frame[tcp + 4..tcp + 8], place as usize * self.data);
        if place + 1 == self.segments {
            frame[tcp + 13] |= PSH;
        }
    }
}

/// Adds to a number in network order, which wraps.
pub(crate) fn add(number: &mut [u8], mut more: usize) {
    for byte in number.iter_mut().rev() {
        more += usize::from(*byte);
        *byte = more as u8;
        more >>= 8;
    }
}

fn ipv4(frame: &mut Vec<u8>, kind: Kind, total: usize, random: u64) {
    frame.extend(IPV4.to_be_bytes());
    frame.extend([0x45, 0]);
    frame.extend((total as u16).to_be_bytes());
    let [a, b, c, d, ..] = random.rotate_left(17).to_be_bytes();
    // An identification, and "do not fragment".
    frame.extend([a, b, 0x40, 0, 64, kind.transport().map_or(0, |(_, protocol)| protocol), 0, 0]);
    frame.extend([10, 1, c, d, 10, 2, d, c]);
}

fn ipv6(frame: &mut Vec<u8>, kind: Kind, payload: usize, random: u64) {
    frame.extend(IPV6.to_be_bytes());
    frame.extend([0x60, 0, 0, 0]);
    frame.extend((payload as u16).to_be_bytes());
    frame.extend([kind.transport().map_or(0, |(_, protocol)| protocol), 64]);
    let [a, b, ..] = random.rotate_left(29).to_be_bytes();
    for last in [[1, a, b], [2, b, a]] {
        frame.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        frame.extend(last);
    }
}

fn transport(frame: &mut Vec<u8>, protocol: u8, bytes: usize, random: u64) {
    let [a, b, c, d, e, f, g, h] = random.to_be_bytes();
    // Not below 1024, where forwarders may look for protocols.
    frame.extend([a | 0x80, b, c | 0x80, d]);
    if protocol == UDP {
        frame.extend(((bytes - frame.len() + 4) as u16).to_be_bytes());
        frame.extend([0, 0]);
    } else {
        // Sequence number, acknowledgment, five words of header, ACK, window.
        frame.extend([e, f, g, h, a, c, e, g, 0x50, 0x10, b, d, 0, 0, 0, 0]);
    }
}

/// The one's complement sum of words, added to `sum`.
fn words(bytes: &[u8], sum: u32) -> u32 {
    let mut sum = sum;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

/// Where a frame's checksums are: of IPv4, and of TCP or UDP.
fn checksums(kind: Kind) -> [Option<usize>; 2] {
    let ip = matches!(kind, Kind::Udp4 | Kind::Tcp4).then_some(ETHERNET + 10);
    let transport = kind.transport().map(|(at, protocol)| at + if protocol == UDP { 6 } else { 16 });
    [ip, transport]
}

/// Puts the right checksums into a frame.
pub(crate) fn sum_up(frame: &mut [u8], kind: Kind) {
    let [ip, transport] = checksums(kind);
    if let Some(at) = ip {
        frame[at..at + 2].fill(0);
        let sum = !(words(&frame[ETHERNET..ETHERNET + 20], 0) as u16);
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    if let (Some(at), Some((begin, protocol)), Some((addresses, each))) =
        (transport, kind.transport(), kind.addresses())
    {
        frame[at..at + 2].fill(0);
        let pseudo = u32::from(protocol) + (frame.len() - begin) as u32;
        let sum = words(&frame[addresses..addresses + 2 * each], pseudo);
        let sum = !(words(&frame[begin..], sum) as u16);
        // Zero would mean "no checksum" (RFC 768, RFC 8200).
        let sum = if sum == 0 && protocol == UDP { 0xffff } else { sum };
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Makes all checksums of a frame wrong.
pub(crate) fn spoil(frame: &mut [u8], kind: Kind) {
    for at in checksums(kind).into_iter().flatten() {
        frame[at] ^= 0x55;
        // It must not be zero, which would mean "no checksum".
        frame[at + 1] |= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(kinds: &[Kind]) -> Recipe {
        Recipe { to: [2; 6], from: [4; 6], kinds: kinds.to_vec(), bytes: 60..=200, stream: None }
    }

    /// The example of RFC 1071, section 3.
    #[test]
    fn sums_are_those_of_the_rfc() {
        assert_eq!(words(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0), 0xddf2);
    }

    #[test]
    fn addition_carries_and_wraps() {
        let mut number = [0xff, 0xff, 0xff, 0xf0];
        add(&mut number, 0x1234);
        assert_eq!(number, [0, 0, 0x12, 0x24]);
    }

    /// Segments continue each other, but for the checksums and the data.
    #[test]
    fn a_message_has_its_segments_in_a_row() {
        let stream = Some(Stream { segments: 3, data: 100 });
        let recipe = Recipe { stream, ..recipe(&[Kind::Tcp4, Kind::Tcp6]) };
        let frames: Vec<_> = (0..9).map(|number| recipe.frame(number)).collect();
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [154, 154, 154, 174, 174, 174, 154, 154, 154]);
        let word = |frame: &[u8], at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().expect("four"));
        for (message, at) in [(0, 34), (3, 54), (6, 34)] {
            let [first, second, third] = [0, 1, 2].map(|place| &frames[message + place]);
            assert_eq!(word(second, at + 4), word(first, at + 4).wrapping_add(100));
            assert_eq!(word(third, at + 4), word(first, at + 4).wrapping_add(200));
            assert_eq!([first, second, third].map(|frame| frame[at + 13]), [0x10, 0x10, 0x18]);
            assert_eq!((&first[at..at + 4], &first[at + 8..at + 12]), (&third[at..at + 4], &third[at + 8..at + 12]));
            assert_ne!(first[at + 28..], second[at + 28..]);
        }
        let id = |frame: &[u8]| u16::from_be_bytes([frame[18], frame[19]]);
        assert_eq!(id(&frames[2]), id(&frames[0]).wrapping_add(2));
        assert_ne!(frames[0][34..38], frames[6][34..38]);
    }

    /// A receiver's check: with its checksum, data adds up to all ones.
    #[test]
    fn frames_have_the_bytes_and_sums_that_they_should() {
        for kind in [Kind::Plain, Kind::Udp4, Kind::Tcp4, Kind::Udp6, Kind::Tcp6] {
            let recipe = recipe(&[kind]);
            for number in 0..200 {
                let frame = recipe.frame(number);
                assert!((60..=200).contains(&frame.len()), "{kind:?}: {} bytes", frame.len());
                if matches!(kind, Kind::Udp4 | Kind::Tcp4) {
                    assert_eq!(words(&frame[14..34], 0), 0xffff);
                    assert_eq!(usize::from(u16::from_be_bytes([frame[16], frame[17]])), frame.len() - 14);
                }
                if let (Some((begin, protocol)), Some((addresses, each))) = (kind.transport(), kind.addresses()) {
                    let pseudo = u32::from(protocol) + (frame.len() - begin) as u32;
                    let sum = words(&frame[addresses..addresses + 2 * each], pseudo);
                    assert_eq!(words(&frame[begin..], sum), 0xffff, "{kind:?} {number}");
                    assert_eq!(frame[kind.headers()..][..8], number.to_be_bytes());
                }
                let mut bad = frame.clone();
                spoil(&mut bad, kind);
                assert_eq!(bad != frame, kind != Kind::Plain);
                sum_up(&mut bad, kind);
                assert_eq!(bad, frame);
            }
        }
    }
}
