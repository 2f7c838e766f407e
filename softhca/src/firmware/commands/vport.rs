//! The function's own port on the network: its state, GUIDs, GIDs and P_Keys. There are no other functions.

use crate::config::{LinkLayer, PortConfig};
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use crate::nic::AddressFilter;

layout! {
    struct query_vport_state_in: query { OTHER_VPORT: 0x40, 1; VPORT_NUMBER: 0x50, 16; }
    /// Output of `QUERY_VPORT_STATE`: 1 is up.
    struct query_vport_state_out: answer { ADMIN_STATE: 0x78, 4; STATE: 0x7c, 4; }
    /// A function's port.
    struct hca_vport_context: 0x200 bytes {
        HAS_RAW: 0x102, 1;
        GRH_REQUIRED: 0x103, 1;
        PORT_PHYSICAL_STATE: 0x110, 4;
        PORT_STATE: 0x118, 4;
        VPORT_STATE: 0x11c, 4;
        SYSTEM_IMAGE_GUID: 0x140, 64;
        PORT_GUID: 0x180, 64;
        NODE_GUID: 0x1c0, 64;
        LID: 0x300, 16;
    }
    struct query_hca_vport_context_in: query {
        OTHER_VPORT: 0x40, 1;
        PORT_NUM: 0x4c, 4;
        VPORT_NUMBER: 0x50, 16;
    }
    struct query_hca_vport_context_out: answer 0x210 bytes {} parts { HCA_VPORT_CONTEXT: 0x80, hca_vport_context; }
    struct query_hca_vport_gid_in: query {
        OTHER_VPORT: 0x40, 1;
        PORT_NUM: 0x4c, 4;
        VPORT_NUMBER: 0x50, 16;
        GID_INDEX: 0x70, 16;
    }
    /// Output of `QUERY_HCA_VPORT_GID`, with the GIDs.
    struct query_hca_vport_gid_out: answer { GIDS_NUM: 0x60, 16; } list of 16 bytes
    struct query_hca_vport_pkey_in: query {
        OTHER_VPORT: 0x40, 1;
        PORT_NUM: 0x4c, 4;
        VPORT_NUMBER: 0x50, 16;
        PKEY_INDEX: 0x70, 16;
    }
    /// Output of `QUERY_HCA_VPORT_PKEY`, with the P_Keys, each in a word of 32 bits.
    struct query_hca_vport_pkey_out: answer {} list of 4 bytes
    /// An Ethernet address.
    struct mac_address_layout: 0x8 bytes { MAC_ADDR_47_32: 0x10, 16; MAC_ADDR_31_0: 0x20, 32; }
    /// A function's Ethernet port.
    struct nic_vport_context: 0x100 bytes {
        MIN_WQE_INLINE_MODE: 0x5, 3;
        DISABLE_MC_LOCAL_LB: 0x1d, 1;
        DISABLE_UC_LOCAL_LB: 0x1e, 1;
        ROCE_EN: 0x1f, 1;
        MTU: 0x130, 16;
        SYSTEM_IMAGE_GUID: 0x140, 64;
        PORT_GUID: 0x180, 64;
        NODE_GUID: 0x1c0, 64;
        PROMISC_UC: 0x780, 1;
        PROMISC_MC: 0x781, 1;
        PROMISC_ALL: 0x782, 1;
        ALLOWED_LIST_TYPE: 0x785, 3;
        ALLOWED_LIST_SIZE: 0x790, 16;
    } parts { PERMANENT_ADDRESS: 0x7a0, mac_address_layout; }
    struct query_nic_vport_context_in: query {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        ALLOWED_LIST_TYPE: 0x65, 3;
    }
    /// Output of `QUERY_NIC_VPORT_CONTEXT`, with a list of the addresses or VLANs that the port lets in besides its
    /// own address. The list is cut to the available room.
    struct query_nic_vport_context_out: answer 0x110 bytes {} parts { NIC_VPORT_CONTEXT: 0x80, nic_vport_context; } list of 8 bytes
    /// A VLAN.
    struct vlan_layout: 0x8 bytes { VLAN: 0x14, 12; }
    struct modify_vport_state_in: query {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        ADMIN_STATE: 0x78, 4;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x750, "QUERY_VPORT_STATE", query_vport_state_in, query_vport_state_out, query_state).with_modifiers(),
    command!(0x751, "MODIFY_VPORT_STATE", modify_vport_state_in, bare_out, modify_state).with_modifiers(),
    command!(0x754, "QUERY_NIC_VPORT_CONTEXT", query_nic_vport_context_in, query_nic_vport_context_out, query_nic),
    command!(0x762, "QUERY_HCA_VPORT_CONTEXT", query_hca_vport_context_in, query_hca_vport_context_out, query_hca),
    command!(0x764, "QUERY_HCA_VPORT_GID", query_hca_vport_gid_in, query_hca_vport_gid_out, query_gids),
    command!(0x765, "QUERY_HCA_VPORT_PKEY", query_hca_vport_pkey_in, query_hca_vport_pkey_out, query_pkeys),
];

/// The port whose state a command queries or changes (`MLX5_VPORT_STATE_OP_MOD_VNIC_VPORT`,
/// `MLX5_VPORT_STATE_OP_MOD_UPLINK`): the function's port, or the one with the cable.
const OWN_VPORT: u16 = 0;
const UPLINK: u16 = 2;
/// The requested state (`MLX5_VPORT_ADMIN_STATE_*`). The function's own port follows the cable's whenever it is not
/// down.
const VPORT_DOWN: u64 = 0;
const VPORT_UP: u64 = 1;
const VPORT_AUTO: u64 = 2;

/// `enum ib_port_state` and the physical state: up, and disabled.
const PORT_DOWN: u64 = 1;
const PORT_ACTIVE: u64 = 4;
const PHYSICAL_DISABLED: u64 = 3;
const PHYSICAL_LINK_UP: u64 = 5;
/// The index that stands for all entries of a table.
const ALL: usize = 0xffff;

/// Refuses commands for another function's port. `fields` are those that name one.
fn own_only(call: &Call<'_>, fields: [Field; 2]) -> Result<(), Refusal> {
    match fields.map(|field| call.input.get(field)) {
        [0, 0] => Ok(()),
        [_, number] => Err(Refusal::parameter(format!("vport {number:#x}: there is no other"))),
    }
}

/// The port with this number; 0 is the first, too, for drivers of devices with one.
fn port(call: &Call<'_>, number: u64) -> Result<(u8, PortConfig), Refusal> {
    let number = number.max(1);
    let port = call.device.config().ports.get(number as usize - 1);
    let port = port.ok_or_else(|| Refusal::parameter(format!("port {number}")))?;
    Ok((number as u8, port.clone()))
}

fn query_state(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_vport_state_in::{OTHER_VPORT, VPORT_NUMBER};
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    let link = call.device.link(1)?;
    let (admin, up) = match call.op_mod {
        OWN_VPORT => (link.admits, link.is_up()),
        UPLINK => (link.is_enabled, link.is_port_up()),
        other => return Err(Refusal::parameter(format!("vport of kind {other}: there is no switch inside"))),
    };
    call.output.set(query_vport_state_out::ADMIN_STATE, admin.into());
    call.output.set(query_vport_state_out::STATE, up.into());
    Ok(())
}

fn modify_state(call: &mut Call<'_>) -> Result<(), Refusal> {
    use modify_vport_state_in::{ADMIN_STATE, OTHER_VPORT, VPORT_NUMBER};
    call.check_driver()?;
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    if !matches!(call.op_mod, OWN_VPORT | UPLINK) {
        return Err(Refusal::parameter(format!("vport of kind {}: there is no switch inside", call.op_mod)));
    }
    let admits = match call.input.get(ADMIN_STATE) {
        VPORT_DOWN => false,
        VPORT_UP | VPORT_AUTO => true,
        other => return Err(Refusal::parameter(format!("admin_state {other}"))),
    };
    call.device.change_link(1, |link| match call.op_mod {
        OWN_VPORT => link.admits = admits,
        _ => link.is_enabled = admits,
    })?;
    Ok(())
}

fn query_hca(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_hca_vport_context_in::{OTHER_VPORT, PORT_NUM, VPORT_NUMBER};
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    let (number, port) = port(call, call.input.get(PORT_NUM))?;
    let up = call.device.port_is_up(number);
    let node_guid = call.device.config().node_guid;
    let ethernet = port.link == LinkLayer::Ethernet;
    let mut context = call.output.part(query_hca_vport_context_out::HCA_VPORT_CONTEXT);
    let mut set = |field, value: u64| context.set(field, value);
    set(hca_vport_context::HAS_RAW, ethernet.into());
    set(hca_vport_context::GRH_REQUIRED, ethernet.into());
    set(hca_vport_context::PORT_PHYSICAL_STATE, if up { PHYSICAL_LINK_UP } else { PHYSICAL_DISABLED });
    set(hca_vport_context::PORT_STATE, if up { PORT_ACTIVE } else { PORT_DOWN });
    set(hca_vport_context::VPORT_STATE, if up { PORT_ACTIVE } else { PORT_DOWN });
    set(hca_vport_context::SYSTEM_IMAGE_GUID, node_guid);
    set(hca_vport_context::NODE_GUID, node_guid);
    set(hca_vport_context::PORT_GUID, port.guid);
    set(hca_vport_context::LID, port.lid.into());
    Ok(())
}

/// The entries of a table that index `index` names, which have room in the output: each has `bytes` there.
fn entries<T: Copy>(call: &Call<'_>, table: &[T], index: u64, bytes: usize) -> Result<Vec<T>, Refusal> {
    let found = match index as usize {
        ALL => table,
        index => table
            .get(index..=index)
            .ok_or_else(|| Refusal::new(Status::BadIndex, format!("entry {index} of {}", table.len())))?,
    };
    let (room, needed) = (call.output.0.len(), query_hca_vport_gid_out::LAYOUT.bytes + found.len() * bytes);
    if room < needed {
        let reason = format!("room for {room} bytes of output, which has {needed}");
        return Err(Refusal::new(Status::BadOutputLength, reason));
    }
    Ok(found.to_vec())
}

fn query_gids(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_hca_vport_gid_in::{GID_INDEX, OTHER_VPORT, PORT_NUM, VPORT_NUMBER};
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    let (_, port) = port(call, call.input.get(PORT_NUM))?;
    let out = query_hca_vport_gid_out::LAYOUT;
    let gids = entries(call, &port.gids, call.input.get(GID_INDEX), out.element)?;
    call.output.set(query_hca_vport_gid_out::GIDS_NUM, gids.len() as u64);
    for (index, gid) in gids.iter().enumerate() {
        call.output.put(out.bytes + index * out.element, &gid.raw);
    }
    Ok(())
}

fn query_pkeys(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_hca_vport_pkey_in::{OTHER_VPORT, PKEY_INDEX, PORT_NUM, VPORT_NUMBER};
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    let (_, port) = port(call, call.input.get(PORT_NUM))?;
    let out = query_hca_vport_pkey_out::LAYOUT;
    let pkeys = entries(call, &port.pkeys, call.input.get(PKEY_INDEX), out.element)?;
    for (index, &pkey) in pkeys.iter().enumerate() {
        call.output.put(out.bytes + index * out.element, &u32::from(pkey).to_be_bytes());
    }
    Ok(())
}

fn query_nic(call: &mut Call<'_>) -> Result<(), Refusal> {
    use query_nic_vport_context_in::{ALLOWED_LIST_TYPE, OTHER_VPORT, VPORT_NUMBER};
    own_only(call, [OTHER_VPORT, VPORT_NUMBER])?;
    let (_, port) = port(call, 1)?;
    if port.link != LinkLayer::Ethernet {
        return Err(Refusal::new(Status::BadOperation, "an InfiniBand port is no NIC's"));
    }
    let kind = call.input.get(ALLOWED_LIST_TYPE);
    let (node_guid, inline_headers) = (call.device.config().node_guid, call.device.config().inline_headers);
    let roce = call.device.link(1)?.has_transport;
    let nic = call.device.nic();
    let (mtu, unicast, multicast) = (nic.mtu, nic.loops_unicast, nic.loops_multicast);
    let filter = nic.filter.clone();
    let list = entries_of(&filter, kind)?;
    let mut context = call.output.part(query_nic_vport_context_out::NIC_VPORT_CONTEXT);
    context.set(nic_vport_context::MIN_WQE_INLINE_MODE, inline_headers as u64);
    context.set(nic_vport_context::DISABLE_MC_LOCAL_LB, (!multicast).into());
    context.set(nic_vport_context::DISABLE_UC_LOCAL_LB, (!unicast).into());
    context.set(nic_vport_context::ROCE_EN, roce.into());
    context.set(nic_vport_context::MTU, mtu.into());
    context.set(nic_vport_context::SYSTEM_IMAGE_GUID, node_guid);
    context.set(nic_vport_context::PORT_GUID, port.guid);
    context.set(nic_vport_context::NODE_GUID, node_guid);
    context.set(nic_vport_context::PROMISC_UC, filter.any_unicast.into());
    context.set(nic_vport_context::PROMISC_MC, filter.any_multicast.into());
    context.set(nic_vport_context::PROMISC_ALL, filter.any.into());
    context.set(nic_vport_context::ALLOWED_LIST_TYPE, kind);
    context.set(nic_vport_context::ALLOWED_LIST_SIZE, list.len() as u64);
    let address = context.part(nic_vport_context::PERMANENT_ADDRESS);
    address.0.copy_from_slice(&mac_entry(port.mac));
    let out = query_nic_vport_context_out::LAYOUT;
    for (index, entry) in list.iter().enumerate() {
        call.output.put(out.bytes + index * out.element, entry);
    }
    Ok(())
}

/// Lists of the addresses and VLANs that a port lets in (`MLX5_NVPRT_LIST_TYPE_*`).
pub(super) mod list {
    pub(crate) const UNICAST: u64 = 0;
    pub(crate) const MULTICAST: u64 = 1;
    pub(crate) const VLAN: u64 = 2;
}

/// The entries of one of the lists.
fn entries_of(filter: &AddressFilter, kind: u64) -> Result<Vec<[u8; 8]>, Refusal> {
    Ok(match kind {
        list::UNICAST => filter.unicast.iter().map(|&mac| mac_entry(mac)).collect(),
        list::MULTICAST => filter.multicast.iter().map(|&mac| mac_entry(mac)).collect(),
        list::VLAN => filter.vlans.iter().map(|&vlan| vlan_entry(vlan)).collect(),
        _ => return Err(Refusal::parameter(format!("list {kind}; there are those of unicast, multicast and VLANs"))),
    })
}

fn mac_entry(mac: [u8; 6]) -> [u8; 8] {
    let [a, b, c, d, e, f] = mac;
    [0, 0, a, b, c, d, e, f]
}

fn vlan_entry(vlan: u16) -> [u8; 8] {
    let mut entry = [0; 8];
    ViewMut(&mut entry).set(vlan_layout::VLAN, vlan.into());
    entry
}

/// The Ethernet address in a structure.
pub(super) fn mac_of(view: View<'_>) -> [u8; 6] {
    let high = view.get(mac_address_layout::MAC_ADDR_47_32) << 32;
    let [_, _, mac @ ..] = (high | view.get(mac_address_layout::MAC_ADDR_31_0)).to_be_bytes();
    mac
}
