//! A port's table of RoCE addresses. It is made with the device, as the network finds its ports by it.

use crate::config::GidType;
use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::layout;
use crate::firmware::status::{Refusal, Status};

layout! {
    /// An address. Its first 16 bytes are the GID.
    roce_addr_layout: 0x20 bytes {
        VLAN_VALID: 0x83, 1;
        VLAN_ID: 0x84, 12;
        SOURCE_MAC_47_32: 0x90, 16;
        SOURCE_MAC_31_0: 0xa0, 32;
        ROCE_L3_TYPE: 0xd4, 4;
        ROCE_VERSION: 0xd8, 8;
    }
}
layout! {
    /// `QUERY_ROCE_ADDRESS`.
    query_roce_address_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        ROCE_ADDRESS_INDEX: 0x40, 16;
        VHCA_PORT_NUM: 0x5c, 4;
    }
}
layout! {
    /// What it gives.
    query_roce_address_out: 0x30 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } parts {
        ROCE_ADDRESS: 0x80, roce_addr_layout;
    }
}

pub(super) const COMMANDS: &[Command] =
    &[command(0x760, "QUERY_ROCE_ADDRESS", &query_roce_address_in::LAYOUT, &query_roce_address_out::LAYOUT, query)];

/// `MLX5_ROCE_VERSION_1`, `MLX5_ROCE_VERSION_2`.
const VERSION_1: u64 = 0;
const VERSION_2: u64 = 2;
/// `MLX5_ROCE_L3_TYPE_IPV4`, `MLX5_ROCE_L3_TYPE_IPV6`.
const IPV4: u64 = 0;
const IPV6: u64 = 1;
/// First bytes of an IPv4 address in the form of IPv6 (RFC 4291, 2.5.5.2).
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let index = call.input.get(query_roce_address_in::ROCE_ADDRESS_INDEX);
    // 0 is the first port, too: devices with one do without the number.
    let number = call.input.get(query_roce_address_in::VHCA_PORT_NUM).max(1);
    let port = call.device.config().ports.get(number as usize - 1);
    let port = port.ok_or_else(|| Refusal::parameter(format!("port {number}")))?;
    let gid = port.gids.get(index as usize).copied();
    let gid = gid.ok_or_else(|| Refusal::new(Status::BadIndex, format!("entry {index} of {}", port.gids.len())))?;
    let [a, b, rest @ ..] = port.mac;
    let version = match gid.kind {
        GidType::RoceV1 => VERSION_1,
        GidType::RoceV2 => VERSION_2,
        GidType::InfiniBand => {
            return Err(Refusal::new(Status::BadOperation, "an InfiniBand port has no RoCE addresses"));
        }
    };
    let mut address = call.output.part(query_roce_address_out::ROCE_ADDRESS);
    address.put(0, &gid.raw);
    address.set(roce_addr_layout::SOURCE_MAC_47_32, u16::from_be_bytes([a, b]).into());
    address.set(roce_addr_layout::SOURCE_MAC_31_0, u32::from_be_bytes(rest).into());
    let is_ipv4 = version == VERSION_2 && gid.raw.starts_with(&MAPPED);
    address.set(roce_addr_layout::ROCE_L3_TYPE, if is_ipv4 { IPV4 } else { IPV6 });
    address.set(roce_addr_layout::ROCE_VERSION, version);
    Ok(())
}
