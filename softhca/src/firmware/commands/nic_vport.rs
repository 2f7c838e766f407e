//! Changing the function's Ethernet port: its address, the addresses and VLANs that it lets in, the loopback of its
//! own frames, the longest frame, and whether there is RoCE.

use super::vport::{list, mac_address_layout, mac_of, nic_vport_context, vlan_layout};
use super::work_queue::check_absent;
use crate::config::LinkLayer;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::{Refusal, Status};
use crate::nic::{LOG_MAX_MULTICAST, LOG_MAX_UNICAST, LOG_MAX_VLANS, MAX_MTU};

layout! {
    /// Which fields are modified.
    struct modify_nic_vport_field_select: 0x4 bytes {
        DISABLE_UC_LOCAL_LB: 0x14, 1;
        DISABLE_MC_LOCAL_LB: 0x15, 1;
        MTU: 0x19, 1;
        PROMISC: 0x1b, 1;
        PERMANENT_ADDRESS: 0x1c, 1;
        ADDRESSES_LIST: 0x1d, 1;
        ROCE_EN: 0x1e, 1;
    }
    /// `MODIFY_NIC_VPORT_CONTEXT`, with a list of the addresses or VLANs that the port lets in. GUIDs have no
    /// selection here: they are the configuration's.
    struct modify_nic_vport_context_in: query 0x200 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
    } parts {
        FIELD_SELECT: 0x60, modify_nic_vport_field_select;
        NIC_VPORT_CONTEXT: 0x800, nic_vport_context;
    } list of 8 bytes
}

pub(super) const COMMANDS: &[Command] =
    &[command!(0x755, "MODIFY_NIC_VPORT_CONTEXT", modify_nic_vport_context_in, bare_out, modify)];

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let absent = [
        (modify_nic_vport_context_in::OTHER_VPORT, "vports of other functions"),
        (modify_nic_vport_context_in::VPORT_NUMBER, "vports of other functions"),
    ];
    check_absent(call.input, &absent)?;
    if call.device.config().ports.first().is_none_or(|port| port.link != LinkLayer::Ethernet) {
        return Err(Refusal::new(Status::BadOperation, "an InfiniBand port is no NIC's"));
    }
    let select = call.input.part(modify_nic_vport_context_in::FIELD_SELECT);
    let context = call.input.part(modify_nic_vport_context_in::NIC_VPORT_CONTEXT);
    let mtu = context.get(nic_vport_context::MTU) as u16;
    let sets_mtu = select.flag(modify_nic_vport_field_select::MTU);
    if sets_mtu && !(1..=MAX_MTU).contains(&mtu) {
        return Err(Refusal::parameter(format!("mtu {mtu}: 1 to {MAX_MTU}")));
    }
    let list = match select.flag(modify_nic_vport_field_select::ADDRESSES_LIST) {
        true => Some(read_list(call)?),
        false => None,
    };
    if select.flag(modify_nic_vport_field_select::PERMANENT_ADDRESS) {
        call.device.set_port_mac(1, mac_of(context.part(nic_vport_context::PERMANENT_ADDRESS)))?;
    }
    if select.flag(modify_nic_vport_field_select::ROCE_EN) {
        let on = context.flag(nic_vport_context::ROCE_EN);
        call.device.change_link(1, |link| link.has_transport = on)?;
    }
    let nic = call.device.nic();
    if sets_mtu {
        nic.mtu = mtu;
    }
    if select.flag(modify_nic_vport_field_select::DISABLE_UC_LOCAL_LB) {
        nic.loops_unicast = !context.flag(nic_vport_context::DISABLE_UC_LOCAL_LB);
    }
    if select.flag(modify_nic_vport_field_select::DISABLE_MC_LOCAL_LB) {
        nic.loops_multicast = !context.flag(nic_vport_context::DISABLE_MC_LOCAL_LB);
    }
    let filter = &mut nic.filter;
    if select.flag(modify_nic_vport_field_select::PROMISC) {
        filter.any_unicast = context.flag(nic_vport_context::PROMISC_UC);
        filter.any_multicast = context.flag(nic_vport_context::PROMISC_MC);
        filter.any = context.flag(nic_vport_context::PROMISC_ALL);
    }
    match list {
        Some(List::Unicast(list)) => filter.unicast = list,
        Some(List::Multicast(list)) => filter.multicast = list,
        Some(List::Vlans(list)) => filter.vlans = list,
        None => {}
    }
    Ok(())
}

/// A list that replaces the one before.
enum List {
    Unicast(Vec<[u8; 6]>),
    Multicast(Vec<[u8; 6]>),
    Vlans(Vec<u16>),
}

/// The list that follows the context; the context names its kind.
fn read_list(call: &Call<'_>) -> Result<List, Refusal> {
    let context = call.input.part(modify_nic_vport_context_in::NIC_VPORT_CONTEXT);
    let (kind, size) =
        (context.get(nic_vport_context::ALLOWED_LIST_TYPE), context.get(nic_vport_context::ALLOWED_LIST_SIZE));
    let (layout, log_max) = match kind {
        list::UNICAST => (&mac_address_layout::LAYOUT, LOG_MAX_UNICAST),
        list::MULTICAST => (&mac_address_layout::LAYOUT, LOG_MAX_MULTICAST),
        list::VLAN => (&vlan_layout::LAYOUT, LOG_MAX_VLANS),
        _ => return Err(Refusal::parameter(format!("list {kind}; there are those of unicast, multicast and VLANs"))),
    };
    let entries: Vec<_> = call.input.list(&modify_nic_vport_context_in::LAYOUT).take(size as usize).collect();
    if size > 1 << log_max {
        return Err(Refusal::new(
            Status::LimitExceeded,
            format!("a list of {size}, of which 2^{log_max} are possible"),
        ));
    }
    if entries.len() as u64 != size {
        return Err(Refusal::new(Status::BadInputLength, format!("{} entries of a list of {size}", entries.len())));
    }
    if let Some(byte) = entries.iter().find_map(|entry| layout.reserved_byte_set(entry.0)) {
        return Err(Refusal::parameter(format!("reserved bits are set in byte {byte:#x} of an entry")));
    }
    let macs = || entries.iter().map(|&entry| mac_of(entry)).collect();
    Ok(match kind {
        list::UNICAST => List::Unicast(macs()),
        list::MULTICAST => List::Multicast(macs()),
        _ => List::Vlans(entries.iter().map(|entry| entry.get(vlan_layout::VLAN) as u16).collect()),
    })
}
