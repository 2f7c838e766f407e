//! UDP ports of VXLAN, to whose packets the device looks inside.

use crate::ethernet::VXLAN_PORT;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;
use crate::resources::MAX_VXLAN_PORTS;

layout! {
    struct add_vxlan_udp_dport_in: query { VXLAN_UDP_PORT: 0x70, 16; }
    struct delete_vxlan_udp_dport_in: query { VXLAN_UDP_PORT: 0x70, 16; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x827, "ADD_VXLAN_UDP_DPORT", add_vxlan_udp_dport_in, bare_out, add),
    command!(0x828, "DELETE_VXLAN_UDP_DPORT", delete_vxlan_udp_dport_in, bare_out, delete),
];

/// The usual port is there without being added. Linux adds it all the same
/// (`drivers/net/ethernet/mellanox/mlx5/core/lib/vxlan.c`, `mlx5_vxlan_create`).
fn add(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let port = call.input.get(add_vxlan_udp_dport_in::VXLAN_UDP_PORT) as u16;
    let ports = call.device.vxlan_ports();
    if port == VXLAN_PORT {
        return Ok(());
    }
    if ports.contains(&port) || ports.len() == MAX_VXLAN_PORTS {
        return Err(Refusal::parameter(format!("VXLAN on UDP port {port}: it is there, or {MAX_VXLAN_PORTS} others")));
    }
    ports.push(port);
    Ok(())
}

fn delete(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    let port = call.input.get(delete_vxlan_udp_dport_in::VXLAN_UDP_PORT) as u16;
    let ports = call.device.vxlan_ports();
    match ports.iter().position(|&known| known == port) {
        Some(at) => drop(ports.remove(at)),
        None if port == VXLAN_PORT => {}
        None => return Err(Refusal::parameter(format!("VXLAN on UDP port {port}, which was not added"))),
    }
    Ok(())
}
