//! Capture files: pcapng (draft-ietf-opsawg-pcapng) and pcap (draft-ietf-opsawg-pcap), from any machine.
//!
//! Bytes may be anything. A file that ends in the middle, as a killed program leaves it, gives the packets before.

/// A packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Captured<'a> {
    /// Nanoseconds since 1970.
    pub(super) time: u64,
    pub(super) link: Link,
    /// The capturing machine has sent it.
    pub(super) is_outbound: bool,
    pub(super) bytes: &'a [u8],
    /// As the sniffer has it: any bytes.
    pub(super) comment: Option<&'a [u8]>,
}

/// The first header of a packet (`LINKTYPE_…` of tcpdump.org).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// Records of Endace's format.
    Erf,
    InfiniBand,
    Other,
}

impl Link {
    fn of(number: u32) -> Self {
        match number {
            1 => Self::Ethernet,
            197 => Self::Erf,
            247 => Self::InfiniBand,
            _ => Self::Other,
        }
    }
}

/// Block types of pcapng.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// A section's byte order: as it was written.
const ORDER: u32 = 0x1a2b_3c4d;
/// Options: of all blocks, of packets, and of interfaces.
const COMMENT: u16 = 1;
const FLAGS: u16 = 2;
const RESOLUTION: u16 = 9;
/// Bytes around a block's body: type, length, and the length again.
const AROUND: usize = 12;

/// Reads numbers in the order of their writer.
#[derive(Clone, Copy)]
struct Order {
    is_big: bool,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = *bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }
}

/// The form of a file.
enum Form {
    Pcapng,
    /// With the nanoseconds of its unit of time.
    Pcap(Order, u64),
}

fn form(file: &[u8]) -> Option<Form> {
    const MICROSECONDS: u32 = 0xa1b2_c3d4;
    const NANOSECONDS: u32 = 0xa1b2_3c4d;
    [Order { is_big: true }, Order { is_big: false }].into_iter().find_map(|order| match order.u32(file, 0)? {
        SECTION => Some(Form::Pcapng),
        MICROSECONDS => Some(Form::Pcap(order, 1000)),
        NANOSECONDS => Some(Form::Pcap(order, 1)),
        _ => None,
    })
}

/// The packets of a capture file; `None` if the bytes are none.
pub(super) fn packets(file: &[u8]) -> Option<Vec<Captured<'_>>> {
    Some(match form(file)? {
        Form::Pcapng => pcapng(file),
        Form::Pcap(order, unit) => pcap(file, order, unit),
    })
}

fn pcap(file: &[u8], order: Order, unit: u64) -> Vec<Captured<'_>> {
    const HEADER: usize = 24;
    const RECORD: usize = 16;
    /// The other bits say how long check sequences are.
    const LINK: u32 = 0xffff;
    let link = Link::of(order.u32(file, 20).unwrap_or(0) & LINK);
    let (mut all, mut at) = (Vec::new(), HEADER);
    while let (Some(seconds), Some(fraction), Some(len)) =
        (order.u32(file, at), order.u32(file, at + 4), order.u32(file, at + 8))
    {
        let Some(bytes) = slice(file, at + RECORD, len) else { break };
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * unit;
        all.push(Captured { time, link, is_outbound: false, bytes, comment: None });
        at += RECORD + bytes.len();
    }
    all
}

/// An interface of pcapng: its link, and nanoseconds per unit of time, as numerator and denominator.
struct Interface {
    link: Link,
    unit: (u128, u128),
}

fn pcapng(file: &[u8]) -> Vec<Captured<'_>> {
    let (mut all, mut rest) = (Vec::new(), file);
    let (mut order, mut interfaces) = (Order { is_big: false }, Vec::new());
    while let Some(kind) = order.u32(rest, 0) {
        if kind == SECTION {
            // This number reads the same in both orders.
            order = Order { is_big: Order { is_big: true }.u32(rest, 8) == Some(ORDER) };
            interfaces.clear();
        }
        let len = order.u32(rest, 4).and_then(|len| usize::try_from(len).ok());
        let Some(block) = len.filter(|&len| len >= AROUND).and_then(|len| rest.get(..len)) else { break };
        // Blocks are whole words.
        let Some(next) = rest.get(block.len().next_multiple_of(4)..) else { break };
        rest = next;
        let body = &block[8..block.len() - 4];
        match kind {
            INTERFACE => interfaces.push(interface(body, order)),
            ENHANCED_PACKET => all.extend(packet(body, order, &interfaces)),
            _ => {}
        }
    }
    all
}

fn interface(body: &[u8], order: Order) -> Interface {
    let link = Link::of(order.u16(body, 0).unwrap_or(0).into());
    let resolution = options(body, 8, order).find(|&(code, _)| code == RESOLUTION).and_then(|(_, value)| value.first());
    let unit = match resolution.copied().unwrap_or(6) {
        // A power of 2, or of 10: the number of units in a second.
        binary if binary & 0x80 != 0 => (1_000_000_000, 1_u128 << (binary & 0x3f)),
        decimal => (1_000_000_000, 10_u128.pow(u32::from(decimal).min(30))),
    };
    Interface { link, unit }
}

fn packet<'a>(body: &'a [u8], order: Order, interfaces: &[Interface]) -> Option<Captured<'a>> {
    const BYTES_AT: usize = 20;
    let interface = interfaces.get(order.u32(body, 0)? as usize)?;
    let units = u128::from(order.u32(body, 4)?) << 32 | u128::from(order.u32(body, 8)?);
    let bytes = slice(body, BYTES_AT, order.u32(body, 12)?)?;
    let (mut comment, mut is_outbound) = (None, false);
    for (code, value) in options(body, BYTES_AT + bytes.len().next_multiple_of(4), order) {
        match code {
            COMMENT => comment = Some(value),
            FLAGS => is_outbound = order.u32(value, 0).is_some_and(|flags| flags & 3 == 2),
            _ => {}
        }
    }
    let time = (units * interface.unit.0 / interface.unit.1) as u64;
    Some(Captured { time, link: interface.link, is_outbound, bytes, comment })
}

/// The options from byte `at` on: code and value.
fn options(body: &[u8], mut at: usize, order: Order) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (code, len) = (order.u16(body, at)?, order.u16(body, at + 2)?);
        let value = slice(body, at + 4, len.into()).filter(|_| code != 0)?;
        at += 4 + value.len().next_multiple_of(4);
        Some((code, value))
    })
}

fn slice(bytes: &[u8], at: usize, len: u32) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(usize::try_from(len).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of pcapng, in the given order.
    fn block(kind: u32, body: &[u8], is_big: bool) -> Vec<u8> {
        let number = |n: u32| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
        let len = number((body.len() + AROUND) as u32);
        [&number(kind)[..], &len, body, &len].concat()
    }

    #[test]
    fn pcapng_is_read_in_both_orders() {
        for is_big in [false, true] {
            let n32 = |n: u32| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
            let n16 = |n: u16| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
            let section = [&n32(ORDER)[..], &n16(1), &n16(0), &[0xff; 8]].concat();
            let resolution = [&n16(RESOLUTION)[..], &n16(1), &[9, 0, 0, 0], &[0; 4]].concat();
            let interface = [&n16(1)[..], &n16(0), &n32(0), &resolution].concat();
            let options = [&n16(COMMENT)[..], &n16(3), b"why\0", &n16(FLAGS), &n16(4), &n32(2), &[0; 4]].concat();
            let packet = [&n32(0)[..], &n32(1), &n32(5), &n32(3), &n32(3), &[7, 8, 9, 0], &options].concat();
            let file = [
                block(SECTION, &section, is_big),
                block(INTERFACE, &interface, is_big),
                block(0xbad, &[0; 8], is_big),
                block(ENHANCED_PACKET, &packet, is_big),
            ]
            .concat();
            let expected = Captured {
                time: (1 << 32) + 5,
                link: Link::Ethernet,
                is_outbound: true,
                bytes: &[7, 8, 9],
                comment: Some(b"why"),
            };
            assert_eq!(packets(&file), Some(vec![expected]));
            for len in 0..file.len() {
                assert!(packets(&file[..len]).is_none_or(|packets| packets.is_empty()), "{len}");
            }
        }
    }

    #[test]
    fn pcap_is_read() {
        let header = [&0xa1b2_c3d4_u32.to_le_bytes()[..], &[0; 16], &247_u32.to_le_bytes()].concat();
        let record = [2_u32, 3, 1, 1].map(u32::to_le_bytes).concat();
        let file = [&header[..], &record, &[0xaa], &record].concat();
        let expected =
            Captured { time: 2_000_003_000, link: Link::InfiniBand, is_outbound: false, bytes: &[0xaa], comment: None };
        assert_eq!(packets(&file), Some(vec![expected]));
        assert_eq!(packets(b"no capture"), None);
        assert_eq!(packets(b""), None);
    }
}
