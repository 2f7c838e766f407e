//! Forwarders' changes: the frames to expect back for a frame. The names are those of DPDK's testpmd (its user guide,
//! "set fwd").

use clap::ValueEnum;

use crate::frame::{self, ETHERNET, Kind};

/// How the forwarder changes a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Change {
    /// It swaps the Ethernet addresses.
    Macswap,
    /// It swaps the addresses of Ethernet and IP, and the ports.
    #[value(name = "5tswap")]
    FiveTuple,
}

/// All that happens to a frame on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) change: Change,
    /// Its NIC rewrites IPv4 packets before: [`rewrite`].
    pub(crate) rewritten: bool,
    /// The tag that it inserts.
    pub(crate) vlan: Option<u16>,
    /// The frames are sent with wrong checksums, and come back with right ones.
    pub(crate) checksums: bool,
    /// It cuts TCP data into pieces of this many bytes.
    pub(crate) segment: Option<usize>,
}

/// Swaps the `bytes` bytes at `at` with those that follow them.
fn swap(frame: &mut [u8], at: usize, bytes: usize) {
    let (first, second) = frame[at..at + 2 * bytes].split_at_mut(bytes);
    first.swap_with_slice(second);
}

impl Way {
    /// The frame to send in place of `frame`.
    pub(crate) fn sent(self, mut frame: Vec<u8>, kind: Kind) -> Vec<u8> {
        if self.checksums {
            frame::spoil(&mut frame, kind);
        }
        frame
    }

    /// The frames that come back for `frame`. The checksums of `frame` are right.
    pub(crate) fn expected(self, mut frame: Vec<u8>, kind: Kind) -> Vec<Vec<u8>> {
        if self.rewritten {
            rewrite(&mut frame, kind);
        }
        swap(&mut frame, 0, 6);
        if self.change == Change::FiveTuple {
            if let Some((at, each)) = kind.addresses() {
                swap(&mut frame, at, each);
            }
            if let Some((at, _)) = kind.transport() {
                swap(&mut frame, at, 2);
            }
        }
        let mut frames = match (self.segment, kind) {
            (Some(most), Kind::Tcp4 | Kind::Tcp6) if frame.len() - kind.headers() > most => {
                segments(&frame, kind, most)
            }
            _ => vec![frame],
        };
        if let Some(tag) = self.vlan {
            for frame in &mut frames {
                let [high, low] = tag.to_be_bytes();
                frame.splice(12..12, [0x81, 0x00, high, low]);
            }
        }
        frames
    }
}

/// The outcome of a rule that sends IPv4 packets to port 4000 of 192.0.2.9, with one hop less.
fn rewrite(frame: &mut [u8], kind: Kind) {
    if let (Kind::Udp4 | Kind::Tcp4, Some((at, _))) = (kind, kind.transport()) {
        frame[ETHERNET + 8] -= 1;
        frame[ETHERNET + 16..ETHERNET + 20].copy_from_slice(&[192, 0, 2, 9]);
        frame[at + 2..at + 4].copy_from_slice(&4000_u16.to_be_bytes());
        frame::sum_up(frame, kind);
    }
}

/// The segments of a TCP frame, as a NIC makes them. Each continues the sequence number, and adds one to the IPv4
/// identification. The flags are the same in all: these frames have neither FIN nor PSH.
fn segments(frame: &[u8], kind: Kind, most: usize) -> Vec<Vec<u8>> {
    let (headers, data) = frame.split_at(kind.headers());
    let mut segments = Vec::new();
    for (n, piece) in data.chunks(most).enumerate() {
        let mut segment = [headers, piece].concat();
        let length = segment.len() - ETHERNET;
        let tcp = kind.headers() - 20;
        if kind == Kind::Tcp4 {
            segment[ETHERNET + 2..ETHERNET + 4].copy_from_slice(&(length as u16).to_be_bytes());
            frame::add(&mut segment[ETHERNET + 4..ETHERNET + 6], n);
        } else {
            segment[ETHERNET + 4..ETHERNET + 6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
        }
        frame::add(&mut segment[tcp + 4..tcp + 8], n * most);
        frame::sum_up(&mut segment, kind);
        segments.push(segment);
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Recipe;

    const PLAIN: Way = Way { change: Change::Macswap, rewritten: false, vlan: None, checksums: false, segment: None };

    fn tcp(bytes: usize) -> Vec<u8> {
        Recipe { to: [2; 6], from: [4; 6], kinds: vec![Kind::Tcp4], bytes: bytes..=bytes, stream: None }.frame(5)
    }

    #[test]
    fn swaps_go_as_deep_as_they_should() {
        let frame = tcp(100);
        let [mac] = &PLAIN.expected(frame.clone(), Kind::Tcp4)[..] else { panic!("one frame") };
        assert_eq!((&mac[..6], &mac[6..12], &mac[12..]), (&[4; 6][..], &[2; 6][..], &frame[12..]));
        let way = Way { change: Change::FiveTuple, ..PLAIN };
        let [all] = &way.expected(frame.clone(), Kind::Tcp4)[..] else { panic!("one frame") };
        assert_eq!([&all[26..30], &all[30..34]], [&frame[30..34], &frame[26..30]]);
        assert_eq!([&all[34..36], &all[36..38]], [&frame[36..38], &frame[34..36]]);
        // The order of words does not change their sum.
        let mut summed = all.clone();
        frame::sum_up(&mut summed, Kind::Tcp4);
        assert_eq!(&summed, all);
    }

    #[test]
    fn rewritten_packets_have_right_checksums() {
        let frame = tcp(100);
        let [found] = &Way { rewritten: true, ..PLAIN }.expected(frame.clone(), Kind::Tcp4)[..] else { panic!("one") };
        let mut summed = found.clone();
        frame::sum_up(&mut summed, Kind::Tcp4);
        assert_eq!(
            (&summed, found[22], &found[30..34], &found[36..38]),
            (found, 63, &[192, 0, 2, 9][..], &[15, 160][..])
        );
        assert_ne!((&found[24..26], &found[50..52]), (&frame[24..26], &frame[50..52]));
        let plain =
            Recipe { to: [2; 6], from: [4; 6], kinds: vec![Kind::Udp6], bytes: 100..=100, stream: None }.frame(5);
        let expected = PLAIN.expected(plain.clone(), Kind::Udp6);
        assert_eq!(Way { rewritten: true, ..PLAIN }.expected(plain, Kind::Udp6), expected);
    }

    #[test]
    fn a_tag_stands_before_the_ether_type() {
        let [tagged] = &Way { vlan: Some(0x6123), ..PLAIN }.expected(tcp(100), Kind::Tcp4)[..] else { panic!("one") };
        assert_eq!(tagged[12..18], [0x81, 0x00, 0x61, 0x23, 0x08, 0x00]);
        assert_eq!(tagged.len(), 104);
    }

    #[test]
    fn segments_have_all_the_data_in_order() {
        let frame = tcp(54 + 250);
        let segments = Way { segment: Some(100), ..PLAIN }.expected(frame.clone(), Kind::Tcp4);
        assert_eq!(segments.iter().map(Vec::len).collect::<Vec<_>>(), [154, 154, 104]);
        let data: Vec<u8> = segments.iter().flat_map(|segment| segment[54..].to_vec()).collect();
        assert_eq!(data, frame[54..]);
        let number = |frame: &[u8]| u32::from_be_bytes(frame[38..42].try_into().expect("four"));
        assert_eq!(number(&segments[2]), number(&frame).wrapping_add(200));
        let id = |frame: &[u8]| u16::from_be_bytes([frame[18], frame[19]]);
        assert_eq!(id(&segments[2]), id(&frame).wrapping_add(2));
    }
}
