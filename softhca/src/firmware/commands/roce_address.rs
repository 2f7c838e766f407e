//! A port's table of RoCE addresses. Its entries reach the device.
//!
//! An entry names the Ethernet address and the VLAN of the interface that it is of. The device's wire finds ports by
//! GID alone. So the Ethernet address is only kept for queries, and entries with a VLAN are refused: they
//! would not keep VLANs apart.

use crate::config::{Gid, GidType, LinkLayer};
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::ROCE_ADDRESSES;
use crate::firmware::layout::layout;
use crate::firmware::status::{Refusal, Status};

layout! {
    /// An address.
    struct roce_addr_layout: 0x20 bytes {
        SOURCE_L3_ADDRESS: 0x0, 128;
        VLAN_VALID: 0x83, 1;
        VLAN_ID: 0x84, 12;
        SOURCE_MAC_47_32: 0x90, 16;
        SOURCE_MAC_31_0: 0xa0, 32;
        ROCE_L3_TYPE: 0xd4, 4;
        ROCE_VERSION: 0xd8, 8;
    }
    struct query_roce_address_in: query { ROCE_ADDRESS_INDEX: 0x40, 16; VHCA_PORT_NUM: 0x5c, 4; }
    struct query_roce_address_out: answer 0x30 bytes {} parts { ROCE_ADDRESS: 0x80, roce_addr_layout; }
}

layout! {
    /// `SET_ROCE_ADDRESS`: an address of zeros is none.
    struct set_roce_address_in: query 0x30 bytes {
        ROCE_ADDRESS_INDEX: 0x40, 16;
        VHCA_PORT_NUM: 0x5c, 4;
    } parts { ROCE_ADDRESS: 0x80, roce_addr_layout; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x760, "QUERY_ROCE_ADDRESS", query_roce_address_in, query_roce_address_out, query),
    command!(0x761, "SET_ROCE_ADDRESS", set_roce_address_in, bare_out, set),
];

/// `MLX5_ROCE_VERSION_1`, `MLX5_ROCE_VERSION_2`.
const VERSION_1: u64 = 0;
const VERSION_2: u64 = 2;
/// `MLX5_ROCE_L3_TYPE_IPV4`, `MLX5_ROCE_L3_TYPE_IPV6`.
const IPV4: u64 = 0;
const IPV6: u64 = 1;
/// First bytes of an IPv4 address in the form of IPv6 (RFC 4291, 2.5.5.2).
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Number of the port and index of the entry that a mailbox names, on an Ethernet port.
fn entry(call: &Call<'_>, port: u64, index: u64) -> Result<(u8, u8), Refusal> {
    // 0 is the first port, too: devices with one do without the number.
    let number = port.max(1);
    let port = call.device.config().ports.get(number as usize - 1);
    let port = port.ok_or_else(|| Refusal::parameter(format!("port {number}")))?;
    if port.link != LinkLayer::Ethernet {
        return Err(Refusal::new(Status::BadOperation, "an InfiniBand port has no RoCE addresses"));
    }
    if index >= ROCE_ADDRESSES.into() {
        return Err(Refusal::new(Status::BadIndex, format!("entry {index} of {ROCE_ADDRESSES}")));
    }
    Ok((number as u8, index as u8))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_roce_address_in::{ROCE_ADDRESS_INDEX, VHCA_PORT_NUM};
    let (number, index) = entry(call, call.input.get(VHCA_PORT_NUM), call.input.get(ROCE_ADDRESS_INDEX))?;
    let port = &call.device.config().ports[usize::from(number) - 1];
    let Some(gid) = port.gid(index) else { return Ok(()) };
    let mac = call.state.roce_macs.get(&(number, index)).copied().unwrap_or(port.mac);
    let [a, b, rest @ ..] = mac;
    let version = if gid.kind == GidType::RoceV2 { VERSION_2 } else { VERSION_1 };
    let mut address = call.output.part(query_roce_address_out::ROCE_ADDRESS);
    address.put(0, &gid.raw);
    address.set(roce_addr_layout::SOURCE_MAC_47_32, u16::from_be_bytes([a, b]).into());
    address.set(roce_addr_layout::SOURCE_MAC_31_0, u32::from_be_bytes(rest).into());
    address.set(roce_addr_layout::ROCE_L3_TYPE, if is_ipv4(gid) { IPV4 } else { IPV6 });
    address.set(roce_addr_layout::ROCE_VERSION, version);
    Ok(())
}

fn is_ipv4(gid: Gid) -> bool {
    gid.kind == GidType::RoceV2 && gid.raw.starts_with(&MAPPED)
}

fn set(call: &mut Call<'_>) -> Result<(), Refusal> {
    use set_roce_address_in::{ROCE_ADDRESS_INDEX, VHCA_PORT_NUM};
    call.check_driver()?;
    let (number, index) = entry(call, call.input.get(VHCA_PORT_NUM), call.input.get(ROCE_ADDRESS_INDEX))?;
    let address = call.input.part(set_roce_address_in::ROCE_ADDRESS);
    let raw = address.bytes(roce_addr_layout::SOURCE_L3_ADDRESS);
    if raw == Gid::FREE.raw {
        call.device.set_gid(number, index, None)?;
        call.state.roce_macs.remove(&(number, index));
        return Ok(());
    }
    let kind = match address.get(roce_addr_layout::ROCE_VERSION) {
        VERSION_1 => GidType::RoceV1,
        VERSION_2 => GidType::RoceV2,
        other => return Err(Refusal::parameter(format!("roce_version {other}: there are 1 and 2, which are 0 and 2"))),
    };
    let gid = Gid { raw, kind };
    if address.flag(roce_addr_layout::VLAN_VALID) {
        let reason = format!("VLAN {}: the wire finds ports by GID alone", address.get(roce_addr_layout::VLAN_ID));
        return Err(Refusal::new(Status::BadOperation, reason));
    }
    let l3 = address.get(roce_addr_layout::ROCE_L3_TYPE);
    if kind == GidType::RoceV2 && (l3 == IPV4) != is_ipv4(gid) || l3 > IPV6 {
        return Err(Refusal::parameter(format!("roce_l3_type {l3} is not that of the address")));
    }
    let mac = address.get(roce_addr_layout::SOURCE_MAC_47_32) << 32 | address.get(roce_addr_layout::SOURCE_MAC_31_0);
    let [_, _, mac @ ..] = mac.to_be_bytes();
    call.device.set_gid(number, index, Some(gid))?;
    call.state.roce_macs.insert((number, index), mac);
    Ok(())
}
