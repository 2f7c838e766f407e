//! Subnet administration: the tables of the subnet that its manager gives out (IBTA vol. 1, 15.2).
//!
//! A question has a template of a record, and a mask of the components in it that count. An answer of many records is
//! one message here: Linux puts the segments of a message together before a program reads it.

use super::groups::{self, Record, field as member};
use super::mad::{Mad, Status, method};
use super::sma::{self, attribute as smp};
use super::subnet::{Place, Port, Subnet};
use softhca_settings::{self as settings, DEFAULT_PKEY};
use std::ops::Range;

/// Attributes.
mod attribute {
    pub(super) const CLASS_PORT_INFO: u16 = 0x01;
    pub(super) const NODE: u16 = 0x11;
    pub(super) const PORT_INFO: u16 = 0x12;
    pub(super) const SL_TO_VL: u16 = 0x13;
    pub(super) const SWITCH_INFO: u16 = 0x14;
    pub(super) const FORWARDING: u16 = 0x15;
    pub(super) const SM_INFO: u16 = 0x18;
    pub(super) const LINK: u16 = 0x20;
    pub(super) const GUID_INFO: u16 = 0x30;
    pub(super) const SERVICE: u16 = 0x31;
    pub(super) const PKEY_TABLE: u16 = 0x33;
    pub(super) const PATH: u16 = 0x35;
    pub(super) const MEMBER: u16 = 0x38;
}

/// Fields of a datagram.
mod field {
    pub(super) const RMPP: usize = 24;
    /// Bytes of a record, in units of 8.
    pub(super) const RECORD_BYTES: usize = 44;
    pub(super) const MASK: usize = 48;
    pub(super) const DATA: usize = 56;
}
/// Its version of the class.
const VERSION: u8 = 2;
/// Bytes of records in a segment, and of all that RMPP counts.
const SEGMENT_BYTES: usize = 200;
const RMPP_BYTES: usize = 220;
/// In the modifier: of a template's capabilities, those set count.
const CAPABILITIES_CONTAIN: u32 = 1 << 31;
/// How long an answer takes at most, and how long a packet lives: 4.096 us times a power of two.
const RESPONSE_TIME: u8 = 18;

/// A component of a record: its bit in the mask, and its bytes.
type Component = (u32, Range<usize>);

/// A table.
struct Table {
    /// Bytes of a record, with its padding.
    record_bytes: usize,
    components: Vec<Component>,
    /// Components that any record fits.
    any: u64,
    records: Vec<Vec<u8>>,
}

/// The answer of the node at `place`; `None` if it has none.
pub(super) fn answer(subnet: Subnet<'_>, place: Place, mut request: Mad) -> Option<Vec<u8>> {
    let is_table = request.method() == method::GET_TABLE;
    let changes = matches!(request.method(), method::SET | method::DELETE);
    if !request.is_get_or_set() && !is_table && !changes {
        return None;
    }
    let found = if place != Place::Switch(0) || changes && request.attribute() != attribute::MEMBER {
        Err(Status::Unsupported)
    } else if request.class_version() != VERSION {
        Err(Status::BadVersion)
    } else if changes {
        let record: Record = request.array(field::DATA);
        let change = if request.method() == method::SET { groups::join } else { groups::leave };
        change(subnet, request.u64(field::MASK), &record).map(|record| (record.len() / 8, record.to_vec()))
    } else if request.attribute() == attribute::CLASS_PORT_INFO {
        let mut data = [0; SEGMENT_BYTES];
        data[..2].copy_from_slice(&[1, VERSION]);
        data[7] = RESPONSE_TIME;
        Ok((0, data.to_vec()))
    } else {
        find(subnet, &request, is_table)
    };
    let (units, records) = match found {
        Ok(found) => found,
        Err(status) => return Some(request.answer(Err(status)).0.to_vec()),
    };
    request.put(field::RECORD_BYTES, &(units as u16).to_be_bytes());
    let mut answer = request.answer(Ok(()));
    if is_table {
        put_rmpp(&mut answer, records.len());
    }
    let mut bytes = answer.0[..field::DATA].to_vec();
    bytes.extend(records);
    if !is_table {
        bytes.resize(answer.0.len(), 0);
    }
    Some(bytes)
}

/// The header of the first segment of a message (IBTA vol. 1, 13.6.2).
fn put_rmpp(answer: &mut Mad, bytes: usize) {
    const RMPP_VERSION: u8 = 1;
    const DATA: u8 = 1;
    const ACTIVE: u8 = 1;
    const FIRST: u8 = 2;
    const LAST: u8 = 4;
    let segments = bytes.div_ceil(SEGMENT_BYTES).max(1);
    let flags = ACTIVE | FIRST | if segments == 1 { LAST } else { 0 };
    // Each segment repeats the header of the class. A table has less than 2^17 bytes.
    let length = (bytes + segments * (RMPP_BYTES - SEGMENT_BYTES)) as u32;
    answer.put(field::RMPP, &[RMPP_VERSION, DATA, flags, 0, 0, 0, 0, 1]);
    answer.put(field::RMPP + 8, &length.to_be_bytes());
}

/// The records that the template of `request` fits, and the units that each has. Only a table can be empty.
fn find(subnet: Subnet<'_>, request: &Mad, is_table: bool) -> Result<(usize, Vec<u8>), Status> {
    let table = table(subnet, request.attribute()).ok_or(Status::Unsupported)?;
    let mask = request.u64(field::MASK);
    let known = table.components.iter().fold(table.any, |known, (bit, _)| known | 1 << bit);
    if mask & !known != 0 {
        return Err(Status::InvalidRequest);
    }
    let template = &request.0[field::DATA..];
    let contains = request.attribute() == attribute::PORT_INFO && request.modifier() & CAPABILITIES_CONTAIN != 0;
    let fits = |record: &&Vec<u8>| {
        table.components.iter().filter(|(bit, _)| mask >> bit & 1 != 0).all(|(bit, bytes)| {
            let (wanted, found) = (&template[bytes.clone()], &record[bytes.clone()]);
            if contains && *bit == PORT_CAPABILITIES {
                wanted.iter().zip(found).all(|(wanted, found)| wanted & !found == 0)
            } else {
                wanted == found
            }
        })
    };
    let records: Vec<_> = table.records.iter().filter(fits).collect();
    if !is_table && records.len() != 1 {
        // One path of several is as good as another.
        match records.first() {
            None => return Err(Status::NoRecords),
            Some(_) if request.attribute() != attribute::PATH => return Err(Status::TooManyRecords),
            Some(_) => {}
        }
    }
    let count = if is_table { records.len() } else { 1 };
    let mut bytes = Vec::new();
    for record in &records[..count] {
        bytes.extend_from_slice(record);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    Ok((table.record_bytes / 8, bytes))
}

/// The component of `PortInfoRecord` that is the port's capabilities.
const PORT_CAPABILITIES: u32 = 7;

/// The table of an attribute; `None` if the manager has none.
fn table(subnet: Subnet<'_>, number: u16) -> Option<Table> {
    let places: Vec<(u16, Place)> = ends(subnet);
    let switch = [(settings::SWITCH_LID, Place::Switch(0))];
    let devices = &places[1..];
    // A record of a LID, the rest of its key, and an attribute of the node.
    let of = |places: &[(u16, Place)], key: &[u8], attribute, modifier| -> Vec<Vec<u8>> {
        let record = |&(lid, place): &(u16, Place)| {
            let attribute = sma::read(subnet, place, attribute, modifier).ok()?;
            Some([&lid.to_be_bytes(), key, &attribute].concat())
        };
        places.iter().filter_map(record).collect()
    };
    let lid: Component = (0, 0..2);
    let mut any = 0;
    let (record_bytes, components, records) = match number {
        attribute::NODE => {
            let infos = of(&places, &[0; 2], smp::NODE_INFO, 0).into_iter();
            let names = places.iter().map(|(_, place)| sma::read(subnet, *place, smp::NODE_DESCRIPTION, 0));
            let mut records = Vec::new();
            for (info, name) in infos.zip(names) {
                // 40 of the 64 bytes are used.
                records.push([&info[..44], &name.unwrap_or([0; sma::DATA_BYTES]), &[0; 4]].concat());
            }
            let components =
                vec![lid, (4, 6..7), (5, 7..8), (6, 8..16), (7, 16..24), (8, 24..32), (10, 34..36), (14, 44..108)];
            (112, components, records)
        }
        attribute::PORT_INFO => {
            let mut records = Vec::new();
            for place in devices {
                if let (_, Place::Device(port)) = place {
                    // At most 2.
                    records.extend(of(std::slice::from_ref(place), &[port.number as u8, 0], smp::PORT_INFO, 0));
                }
            }
            for port in 0..=subnet.switch_ports() {
                records.extend(of(&switch, &[port as u8, 0], smp::PORT_INFO, port));
            }
            let capabilities = (PORT_CAPABILITIES, 24..28);
            (72, vec![lid, (1, 2..3), (2, 3..4), (4, 12..20), (5, 20..22), (6, 22..24), capabilities], records)
        }
        attribute::SL_TO_VL => {
            let cut = |record: Vec<u8>| record[..16].to_vec();
            let records = of(&places, &[0; 6], smp::SL_TO_VL, 0).into_iter().map(cut).collect();
            (16, vec![lid, (1, 2..3), (2, 3..4)], records)
        }
        attribute::SWITCH_INFO => {
            let cut = |record: Vec<u8>| record[..24].to_vec();
            (24, vec![lid], of(&switch, &[0; 2], smp::SWITCH_INFO, 0).into_iter().map(cut).collect())
        }
        attribute::FORWARDING => {
            let blocks = 0..=settings::SWITCH_LID / sma::DATA_BYTES as u16;
            let record = |block: u16| {
                let [high, low] = block.to_be_bytes();
                of(&switch, &[high, low, 0, 0, 0, 0], smp::FORWARDING, block.into())
            };
            (72, vec![lid, (1, 2..4)], blocks.flat_map(record).collect())
        }
        attribute::SM_INFO => {
            let cut = |record: Vec<u8>| record[..25].to_vec();
            (32, vec![lid], of(&switch, &[0; 2], smp::SM_INFO, 0).into_iter().map(cut).collect())
        }
        attribute::LINK => (8, vec![lid, (1, 2..3), (2, 3..4), (3, 4..6)], links(subnet)),
        attribute::GUID_INFO => (72, vec![lid, (1, 2..3)], of(devices, &[0; 6], smp::GUID_INFO, 0)),
        attribute::PKEY_TABLE => {
            let mut records = Vec::new();
            for place in &places {
                let number = if let Place::Device(port) = place.1 { port.number as u8 } else { 0 };
                records.extend(of(std::slice::from_ref(place), &[0, 0, number, 0, 0, 0], smp::PKEY_TABLE, 0));
            }
            (72, vec![lid, (1, 2..4), (2, 4..5)], records)
        }
        attribute::PATH => {
            // Whether it is reversible, and how many are wanted.
            any = 1 << 11 | 1 << 12;
            let components = vec![(2, 8..24), (3, 24..40), (4, 40..42), (5, 42..44), (10, 48..49), (13, 50..52)];
            (64, components, paths(subnet, &places))
        }
        attribute::MEMBER => {
            // All others but what names a group or a member.
            any = 0x3_ff70;
            let named = [(0, member::MGID), (1, member::PORT_GID), (2, member::QKEY), (3, member::MLID)];
            let components = named.into_iter().chain([(7, member::PKEY)]).collect();
            (groups::RECORD_BYTES, components, groups::all(subnet).iter().map(|record| record.to_vec()).collect())
        }
        // There is no service.
        attribute::SERVICE => (176, vec![], vec![]),
        _ => return None,
    };
    Some(Table { record_bytes, components, any, records })
}

/// The places with a LID: the switch, and the ports of devices.
fn ends(subnet: Subnet<'_>) -> Vec<(u16, Place)> {
    let switch = (settings::SWITCH_LID, Place::Switch(0));
    std::iter::once(switch).chain(subnet.ports().map(|port| (subnet.lid(port), Place::Device(port)))).collect()
}

/// A record for each direction of each cable that is plugged in.
fn links(subnet: Subnet<'_>) -> Vec<Vec<u8>> {
    let record = |port: Port| {
        let ends = [(subnet.lid(port), port.number), (settings::SWITCH_LID, subnet.switch_port(port))];
        [(0, 1), (1, 0)].map(|(from, to): (usize, usize)| {
            let [[high, low], [to_high, to_low]] = [ends[from].0, ends[to].0].map(u16::to_be_bytes);
            // At most 32 ports.
            vec![high, low, ends[from].1 as u8, ends[to].1 as u8, to_high, to_low]
        })
    };
    subnet.ports().filter(|port| subnet.is_up(*port)).flat_map(record).collect()
}

/// A path from each port to each, if the cables of both are plugged in.
fn paths(subnet: Subnet<'_>, places: &[(u16, Place)]) -> Vec<Vec<u8>> {
    /// "Exactly", of a limit.
    const EXACTLY: u8 = 2 << 6;
    /// 4096 bytes; 100 Gb/s.
    const MTU: u8 = 5;
    const RATE: u8 = 16;
    let there: Vec<_> = places
        .iter()
        .filter_map(|&(lid, place)| {
            let guid = match place {
                Place::Device(port) if !subnet.is_up(port) => return None,
                Place::Device(port) => settings::port_guid(subnet.settings.number(port.device), port.number),
                Place::Switch(_) => settings::SWITCH_GUID,
            };
            Some((lid, u128::from(settings::SUBNET_PREFIX) << 64 | u128::from(guid)))
        })
        .collect();
    let path = |from: &(u16, u128), to: &(u16, u128)| {
        let mut record = vec![0; 64];
        let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
        put(8, &to.1.to_be_bytes());
        put(24, &from.1.to_be_bytes());
        put(40, &to.0.to_be_bytes());
        put(42, &from.0.to_be_bytes());
        // Reversible, and one path.
        put(49, &[1 << 7 | 1]);
        put(50, &DEFAULT_PKEY.to_be_bytes());
        put(54, &[EXACTLY | MTU, EXACTLY | RATE, EXACTLY | RESPONSE_TIME]);
        record
    };
    there.iter().flat_map(|from| there.iter().map(move |to| path(from, to))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::umad::test_settings;
    use softhca::gsi::MAD_BYTES;

    /// The answer to a question: method, attribute, mask, and bytes of the template.
    fn ask(method: u8, attribute: u16, mask: u64, template: &[(usize, &[u8])]) -> Vec<u8> {
        let settings = test_settings("infiniband");
        let mut mad = Mad([0; MAD_BYTES]);
        mad.put(0, &[1, 3, VERSION, method]);
        mad.put(16, &attribute.to_be_bytes());
        mad.put(field::MASK, &mask.to_be_bytes());
        template.iter().for_each(|(at, bytes)| mad.put(field::DATA + at, bytes));
        answer(Subnet { settings: &settings }, Place::Switch(0), mad).unwrap()
    }

    fn status(answer: &[u8]) -> u16 {
        u16::from_be_bytes([answer[4], answer[5]])
    }

    #[test]
    fn one_record_is_found_by_its_components() {
        let guid = |port: u64| (0x0200_5f03_0000_0000 | port).to_be_bytes();
        let node = ask(method::GET, 0x11, 1 << 8, &[(24, &guid(0x201))]);
        assert_eq!((node.len(), node[3], status(&node), &node[44..46]), (256, 0x81, 0, &[0, 14][..]));
        // LID 5 is that of port 1 of the third device.
        assert_eq!((&node[56..58], &node[100..115]), (&[0, 5][..], &b"mlx5_2 (softwar"[..]));
        assert_eq!(status(&ask(method::GET, 0x11, 1 << 8, &[(24, &guid(0x301))])), 0x300, "no such port");
        assert_eq!(status(&ask(method::GET, 0x11, 0, &[])), 0x400, "one of several");
        assert_eq!(status(&ask(method::GET, 0x11, 1 << 60, &[])), 0x200, "no such component");
        assert_eq!(status(&ask(method::GET, 0x99, 0, &[])), 0xc, "no such table");
        assert_eq!(status(&ask(method::SET, 0x35, 0, &[])), 0xc, "no path can be made");
        assert_eq!(status(&ask(method::SET, 0x38, 0, &[])), 0x600, "no group is named");
        let path = ask(method::GET, 0x35, 1 << 4 | 1 << 5 | 1 << 12, &[(40, &[0, 6, 0, 1])]);
        assert_eq!((status(&path), &path[56 + 16..56 + 24]), (0, &guid(0x202)[..]));
    }

    #[test]
    fn a_table_is_one_message() {
        let table = ask(method::GET_TABLE, 0x35, 0, &[]);
        // From each of seven to each of seven; in 16 segments, each with 20 bytes more.
        assert_eq!((table.len(), table[3], &table[44..46]), (56 + 49 * 64, 0x92, &[0, 8][..]));
        assert_eq!(table[24..36], [1, 1, 3, 0, 0, 0, 0, 1, 0, 0, 0x0d, 0x80]);
        let empty = ask(method::GET_TABLE, 0x38, 0, &[]);
        assert_eq!((empty.len(), status(&empty), &empty[24..28]), (56, 0, &[1, 1, 7, 0][..]));
        // The only port whose capabilities have the bit of a manager is the switch's.
        let settings = test_settings("infiniband");
        let mut mad = Mad([0; MAD_BYTES]);
        mad.put(0, &[1, 3, VERSION, method::GET_TABLE]);
        mad.put(16, &[0, 0x12, 0, 0, 0x80, 0, 0, 0]);
        mad.put(field::MASK, &(1_u64 << PORT_CAPABILITIES).to_be_bytes());
        mad.put(field::DATA + 24, &[0, 0, 0, 2]);
        let managers = answer(Subnet { settings: &settings }, Place::Switch(0), mad).unwrap();
        assert_eq!((managers.len(), &managers[56..59]), (56 + 72, &[3, 0xe8, 0][..]));
    }
}
