//! Changing the function's Ethernet port: which frames of its own come back in, and how long a frame may be.

use super::vport::nic_vport_context;
use super::work_queue::check_absent;
use crate::config::LinkLayer;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::{Refusal, Status};
use crate::nic::MAX_MTU;

layout! {
    /// Which fields are modified.
    modify_nic_vport_field_select: 0x4 bytes {
        DISABLE_UC_LOCAL_LB: 0x14, 1;
        DISABLE_MC_LOCAL_LB: 0x15, 1;
        MTU: 0x19, 1;
        ROCE_EN: 0x1e, 1;
    }
}
layout! {
    /// `MODIFY_NIC_VPORT_CONTEXT`. Other fields have no selection here: the port lets in frames to all addresses, so that rules
    /// alone choose, and its GUIDs are the configuration's.
    modify_nic_vport_context_in: 0x200 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
    } parts {
        FIELD_SELECT: 0x60, modify_nic_vport_field_select;
        NIC_VPORT_CONTEXT: 0x800, nic_vport_context;
    }
}

pub(super) const COMMANDS: &[Command] =
    &[command(0x755, "MODIFY_NIC_VPORT_CONTEXT", &modify_nic_vport_context_in::LAYOUT, &bare_out::LAYOUT, modify)];

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
    if select.flag(modify_nic_vport_field_select::ROCE_EN) && !context.flag(nic_vport_context::ROCE_EN) {
        return Err(Refusal::parameter("roce_en 0: RoCE cannot be turned off here"));
    }
    let mtu = context.get(nic_vport_context::MTU) as u16;
    let sets_mtu = select.flag(modify_nic_vport_field_select::MTU);
    if sets_mtu && !(1..=MAX_MTU).contains(&mtu) {
        return Err(Refusal::parameter(format!("mtu {mtu}: 1 to {MAX_MTU}")));
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
    Ok(())
}
