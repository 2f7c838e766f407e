//! Performance management agents: the counters of ports (IBTA vol. 1, 16.1.3), which are those in sysfs.

use super::mad::{Mad, Status, method};
use super::subnet::{Place, Port, Subnet};
use crate::device::PortCounts;
use softhca::gsi::MAD_BYTES;

/// Attributes.
mod attribute {
    pub(super) const CLASS_PORT_INFO: u16 = 0x01;
    pub(super) const COUNTERS: u16 = 0x12;
    pub(super) const EXTENDED: u16 = 0x1d;
}

/// Where an attribute is in the datagram.
const DATA: usize = 64;
/// A performance datagram's version of its class.
const VERSION: u8 = 1;
/// Ability: extended counters of words and packets, without those of unicast and multicast.
const EXTENDED_WITHOUT_CASTS: u16 = 1 << 10;
/// How long an answer takes at most: 4.096 us times a power of two.
const RESPONSE_TIME: u8 = 18;

/// A counter in an attribute: its name in sysfs, its bit in the selection, its place, and its bytes.
type Row = (&'static str, u16, usize, usize);

/// Of `PortCounters`. A counter stays at its largest value.
const COUNTERS: [Row; 7] = [
    ("link_downed", 1 << 2, 7, 1),
    ("port_rcv_errors", 1 << 3, 8, 2),
    ("port_rcv_constraint_errors", 1 << 8, 17, 1),
    ("port_xmit_data", 1 << 12, 24, 4),
    ("port_rcv_data", 1 << 13, 28, 4),
    ("port_xmit_packets", 1 << 14, 32, 4),
    ("port_rcv_packets", 1 << 15, 36, 4),
];

/// Of `PortCountersExtended`.
const EXTENDED: [Row; 4] = [
    ("port_xmit_data", 1 << 0, 8, 8),
    ("port_rcv_data", 1 << 1, 16, 8),
    ("port_xmit_packets", 1 << 2, 24, 8),
    ("port_rcv_packets", 1 << 3, 32, 8),
];

/// The answer of the node at `place`; `None` if it has none.
pub(super) fn answer(subnet: Subnet<'_>, place: Place, mut request: Mad) -> Option<Mad> {
    if !request.is_get_or_set() {
        return None;
    }
    let result =
        if request.class_version() == VERSION { run(subnet, place, &mut request) } else { Err(Status::BadVersion) };
    Some(request.answer(result))
}

fn run(subnet: Subnet<'_>, place: Place, request: &mut Mad) -> Result<(), Status> {
    let is_get = request.method() == method::GET;
    let rows = match request.attribute() {
        attribute::CLASS_PORT_INFO if is_get => {
            request.put(DATA, &[0; MAD_BYTES - DATA]);
            request.put(DATA, &[1, VERSION]);
            request.put(DATA + 2, &EXTENDED_WITHOUT_CASTS.to_be_bytes());
            request.put(DATA + 4, &[0, 0, 0, RESPONSE_TIME]);
            return Ok(());
        }
        attribute::COUNTERS => &COUNTERS[..],
        attribute::EXTENDED => &EXTENDED[..],
        _ => return Err(Status::Unsupported),
    };
    let selected: u32 = request.u8(DATA + 1).into();
    if !is_get {
        set(subnet, place, selected, rows, request)?;
    }
    let counts = Counts::of(subnet, place, selected)?;
    // After the selections.
    request.put(DATA + 4, &[0; MAD_BYTES - DATA - 4]);
    for &(name, _, at, bytes) in rows {
        let count = counts.named(name).min(u64::MAX >> (64 - 8 * bytes));
        request.put(DATA + at, &count.to_be_bytes()[8 - bytes..]);
    }
    Ok(())
}

/// Sets the counters that the request selects.
fn set(subnet: Subnet<'_>, place: Place, port: u32, rows: &[Row], request: &Mad) -> Result<(), Status> {
    // The switch's counters are those of the cables' other ends.
    let Place::Device(entry) = place else { return Err(Status::Unsupported) };
    let counts = counts(subnet, Port { number: port, ..entry })?;
    let selection = request.u16(DATA + 2);
    for &(name, bit, at, bytes) in rows {
        if selection & bit != 0 {
            let value = (0..bytes).fold(0, |value, byte| value << 8 | u64::from(request.u8(DATA + at + byte)));
            counts.set(name, value);
        }
    }
    Ok(())
}

/// The counters of a device's port.
fn counts(subnet: Subnet<'_>, port: Port) -> Result<PortCounts, Status> {
    if !(1..=subnet.settings.ports).contains(&port.number) {
        return Err(Status::BadValue);
    }
    Ok(PortCounts::open(subnet.settings, port.device, port.number))
}

/// The counters of a port of any node.
enum Counts {
    Own(PortCounts),
    /// One end of a cable receives the packets that the other sends.
    OfOtherEnd(PortCounts),
    /// The switch's own port counts nothing.
    None,
}

impl Counts {
    fn of(subnet: Subnet<'_>, place: Place, port: u32) -> Result<Self, Status> {
        match place {
            Place::Device(entry) => counts(subnet, Port { number: port, ..entry }).map(Self::Own),
            Place::Switch(_) if port == 0 => Ok(Self::None),
            Place::Switch(_) => counts(subnet, subnet.behind(port).ok_or(Status::BadValue)?).map(Self::OfOtherEnd),
        }
    }

    fn named(&self, name: &str) -> u64 {
        match self {
            Self::Own(counts) => counts.get(name),
            Self::OfOtherEnd(counts) => match name {
                "port_xmit_data" => counts.get("port_rcv_data"),
                "port_rcv_data" => counts.get("port_xmit_data"),
                "port_xmit_packets" => counts.get("port_rcv_packets"),
                "port_rcv_packets" => counts.get("port_xmit_packets"),
                "link_downed" => counts.get(name),
                _ => 0,
            },
            Self::None => 0,
        }
    }
}
