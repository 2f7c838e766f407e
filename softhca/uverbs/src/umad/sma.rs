//! Subnet management agents: the answers of devices, and of the switch, to subnet management packets (IBTA vol. 1,
//! 14.2.5), from the facts that the launcher writes into sysfs.

use super::mad::{Mad, Status, method};
use super::subnet::{Place, Port, Subnet};
use softhca_settings::{self as settings, DEFAULT_PKEY};

/// Attributes.
pub(super) mod attribute {
    pub(in super::super) const NODE_DESCRIPTION: u16 = 0x10;
    pub(in super::super) const NODE_INFO: u16 = 0x11;
    pub(in super::super) const SWITCH_INFO: u16 = 0x12;
    pub(in super::super) const GUID_INFO: u16 = 0x14;
    pub(in super::super) const PORT_INFO: u16 = 0x15;
    pub(in super::super) const PKEY_TABLE: u16 = 0x16;
    pub(in super::super) const SL_TO_VL: u16 = 0x17;
    pub(in super::super) const FORWARDING: u16 = 0x19;
    pub(in super::super) const SM_INFO: u16 = 0x20;
}

/// Where an attribute is in the datagram, and its bytes.
const DATA: usize = 64;
pub(super) const DATA_BYTES: usize = 64;
/// A subnet management packet's version of its class.
const VERSION: u8 = 1;
/// In the modifier of `PortInfo`: the requester knows extended speeds.
const KNOWS_EXTENDED_SPEEDS: u32 = 1 << 31;

/// An attribute.
pub(super) type Attribute = [u8; DATA_BYTES];

/// The answer of the node at `place` to a packet; `None` if it has none.
pub(super) fn answer(subnet: Subnet<'_>, place: Place, mut request: Mad) -> Option<Mad> {
    if !request.is_get_or_set() {
        return None;
    }
    let found = if request.class_version() != VERSION {
        Err(Status::BadVersion)
    } else if request.method() != method::GET {
        Err(Status::Unsupported)
    } else {
        read(subnet, place, request.attribute(), request.modifier())
    };
    let result = found.map(|attribute| request.put(DATA, &attribute));
    Some(request.answer(result))
}

/// Attribute `number` of the node at `place`, or its part that `modifier` says.
pub(super) fn read(subnet: Subnet<'_>, place: Place, number: u16, modifier: u32) -> Result<Attribute, Status> {
    let mut data = [0; DATA_BYTES];
    let only = |block: u32| if modifier == block { Ok(()) } else { Err(Status::BadValue) };
    match (number, place) {
        (attribute::NODE_DESCRIPTION, _) => {
            let text = match place {
                Place::Device(port) => settings::node_description(port.device),
                Place::Switch(_) => settings::SWITCH_DESCRIPTION.to_owned(),
            };
            let text = &text.as_bytes()[..text.len().min(DATA_BYTES)];
            data[..text.len()].copy_from_slice(text);
        }
        (attribute::NODE_INFO, _) => node_info(&mut data, subnet, place),
        (attribute::PORT_INFO, _) => port_info(&mut data, subnet, place, modifier & !KNOWS_EXTENDED_SPEEDS)?,
        (attribute::GUID_INFO, Place::Device(port)) => {
            // The rest of the block's eight entries is empty.
            only(0)?;
            data[..8].copy_from_slice(&port_guid(subnet, port).to_be_bytes());
        }
        (attribute::PKEY_TABLE, _) => {
            // The upper half of the modifier is a port of a switch.
            let block = modifier & 0xffff;
            let is_there = matches!(place, Place::Device(_)) || modifier >> 16 <= subnet.switch_ports();
            if block != 0 || !is_there {
                return Err(Status::BadValue);
            }
            data[..2].copy_from_slice(&DEFAULT_PKEY.to_be_bytes());
        }
        // Each service level has the virtual lane of its number, of eight.
        (attribute::SL_TO_VL, _) => data[..8].copy_from_slice(&[0x01, 0x23, 0x45, 0x67, 0x01, 0x23, 0x45, 0x67]),
        (attribute::SWITCH_INFO, Place::Switch(_)) => {
            only(0)?;
            switch_info(&mut data);
        }
        (attribute::FORWARDING, Place::Switch(_)) => forwarding(&mut data, subnet, modifier)?,
        (attribute::SM_INFO, Place::Switch(_)) => sm_info(&mut data),
        _ => return Err(Status::Unsupported),
    }
    Ok(data)
}

fn port_guid(subnet: Subnet<'_>, port: Port) -> u64 {
    settings::port_guid(subnet.settings.number(port.device), port.number)
}

/// `NodeInfo` (IBTA vol. 1, 14.2.5.3).
fn node_info(data: &mut Attribute, subnet: Subnet<'_>, place: Place) {
    const ADAPTER: u8 = 1;
    const SWITCH: u8 = 2;
    let (kind, ports, node, guid, id, entry) = match place {
        Place::Device(port) => {
            let node = settings::node_guid(subnet.settings.number(port.device));
            let id = subnet.settings.generation.device_id();
            (ADAPTER, subnet.settings.ports, node, port_guid(subnet, port), id, port.number)
        }
        Place::Switch(entry) => {
            (SWITCH, subnet.switch_ports(), settings::SWITCH_GUID, settings::SWITCH_GUID, SWITCH_DEVICE_ID, entry)
        }
    };
    // At most 32 ports; identifiers have 16 bits.
    data[..4].copy_from_slice(&[1, VERSION, kind, ports as u8]);
    data[4..12].copy_from_slice(&node.to_be_bytes());
    data[12..20].copy_from_slice(&node.to_be_bytes());
    data[20..28].copy_from_slice(&guid.to_be_bytes());
    data[28..30].copy_from_slice(&PARTITIONS.to_be_bytes());
    data[30..32].copy_from_slice(&(id as u16).to_be_bytes());
    // A byte of the port, and three of the vendor.
    data[36..40].copy_from_slice(&(entry << 24 | settings::VENDOR_ID).to_be_bytes());
}

/// No Mellanox switch has it: programs treat those in ways of their own.
const SWITCH_DEVICE_ID: u32 = 0x0001;
/// Entries of a P_Key table.
const PARTITIONS: u16 = 1;
/// Capabilities of the switch: it has the subnet manager, and knows extended speeds (IBTA vol. 1, table 146).
const SWITCH_CAPABILITIES: u32 = 1 << 1 | 1 << 14;

/// `PortInfo` of port `number` (IBTA vol. 1, 14.2.5.6); 0 is the port of entry at a device, and the switch's own.
fn port_info(data: &mut Attribute, subnet: Subnet<'_>, place: Place, number: u32) -> Result<(), Status> {
    /// 4 lanes, of 1 or 4; 25 Gb/s a lane (EDR), of all speeds up to that.
    const WIDTHS: [u8; 3] = [0x03, 0x03, 0x02];
    const SPEEDS: u8 = 0x7;
    const SPEED: u8 = 4;
    const EXTENDED_SPEEDS: u8 = 0x3;
    const EXTENDED_SPEED: u8 = 2;
    /// 4096 bytes.
    const MTU: u8 = 5;
    /// Eight lanes.
    const VIRTUAL_LANES: u8 = 4;
    /// As verbs report it: 4.096 us times a power of two.
    const SUBNET_TIMEOUT: u8 = 18;
    let (port, lid, capabilities, entry, guids) = match place {
        Place::Device(entry) => {
            let number = if number == 0 { entry.number } else { number };
            let port = Port { number, ..entry };
            if number > subnet.settings.ports {
                return Err(Status::BadValue);
            }
            let capabilities = settings::port_capabilities(subnet.settings.link);
            (Some(port), subnet.lid(port), capabilities, entry.number, settings::INFINIBAND_GIDS)
        }
        Place::Switch(entry) if number == 0 => (None, settings::SWITCH_LID, SWITCH_CAPABILITIES, entry, 1),
        Place::Switch(entry) => (Some(subnet.behind(number).ok_or(Status::BadValue)?), 0, 0, entry, 0),
    };
    // Active and linked up, as a switch's own port always is; or down and polling.
    let (state, physical) = if port.is_none_or(|port| subnet.is_up(port)) { (4, 5) } else { (1, 2) };
    data[8..16].copy_from_slice(&settings::SUBNET_PREFIX.to_be_bytes());
    data[16..18].copy_from_slice(&lid.to_be_bytes());
    if lid != 0 {
        data[18..20].copy_from_slice(&settings::sm_lid(subnet.settings.link).to_be_bytes());
    }
    data[20..24].copy_from_slice(&capabilities.to_be_bytes());
    data[28] = entry as u8;
    data[29..32].copy_from_slice(&WIDTHS);
    data[32] = SPEEDS << 4 | state;
    // A link that goes down polls.
    data[33] = physical << 4 | 2;
    data[35] = SPEED << 4 | SPEEDS;
    data[36] = MTU << 4;
    data[37] = VIRTUAL_LANES << 4;
    data[41] = MTU;
    data[43] = VIRTUAL_LANES << 4;
    data[50] = guids as u8;
    data[51] = SUBNET_TIMEOUT;
    data[52] = SUBNET_TIMEOUT;
    data[62] = EXTENDED_SPEED << 4 | EXTENDED_SPEEDS;
    data[63] = EXTENDED_SPEEDS;
    Ok(())
}

/// `SwitchInfo` (IBTA vol. 1, 14.2.5.4): a linear table of unicast LIDs, and none of multicast.
fn switch_info(data: &mut Attribute) {
    data[..2].copy_from_slice(&FORWARDING_ENTRIES.to_be_bytes());
    data[6..8].copy_from_slice(&settings::SWITCH_LID.to_be_bytes());
}

/// Entries that a table of unicast LIDs can have: one for each.
const FORWARDING_ENTRIES: u16 = 0xc000;

/// A block of the linear forwarding table (IBTA vol. 1, 14.2.5.10): a port for each LID.
fn forwarding(data: &mut Attribute, subnet: Subnet<'_>, block: u32) -> Result<(), Status> {
    const NO_PORT: u8 = 255;
    if block >= u32::from(FORWARDING_ENTRIES) / DATA_BYTES as u32 {
        return Err(Status::BadValue);
    }
    let first = block * DATA_BYTES as u32;
    data.fill(NO_PORT);
    let own = std::iter::once((settings::SWITCH_LID, 0));
    for (lid, port) in own.chain(subnet.ports().map(|port| (subnet.lid(port), subnet.switch_port(port)))) {
        let entry = u32::from(lid).checked_sub(first).and_then(|index| data.get_mut(index as usize));
        if let Some(entry) = entry {
            *entry = port as u8;
        }
    }
    Ok(())
}

/// `SMInfo` (IBTA vol. 1, 14.2.5.13).
fn sm_info(data: &mut Attribute) {
    const MASTER: u8 = 3;
    data[..8].copy_from_slice(&settings::SWITCH_GUID.to_be_bytes());
    // It has set the subnet up once, and has had nothing to do since.
    data[16..20].copy_from_slice(&1_u32.to_be_bytes());
    data[20] = MASTER;
}
