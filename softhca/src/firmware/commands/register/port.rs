//! State of a port, its longest frames, and pauses.

use super::entry::{Register, ethernet_port, port};
use crate::config::LinkLayer;
use crate::firmware::call::Call;
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::Refusal;
use crate::nic::MAX_MTU;

layout! {
    /// State of a port: the requested one, and the present one.
    struct paos_reg: 0x10 bytes {
        SWID: 0x0, 8;
        LOCAL_PORT: 0x8, 8;
        ADMIN_STATUS: 0x14, 4;
        OPER_STATUS: 0x1c, 4;
        ASE: 0x20, 1;
        EE: 0x21, 1;
        E: 0x3e, 2;
    }
    /// Longest frames or packets of a port.
    struct pmtu_reg: 0x10 bytes {
        LOCAL_PORT: 0x8, 8;
        MAX_MTU: 0x20, 16;
        ADMIN_MTU: 0x40, 16;
        OPER_MTU: 0x60, 16;
    }
    /// Pauses that a port asks for and obeys, of all traffic and by priority.
    struct pfcc_reg: 0x20 bytes {
        LOCAL_PORT: 0x8, 8;
        PRIO_MASK_TX: 0x28, 8;
        PRIO_MASK_RX: 0x38, 8;
        PPTX: 0x40, 1;
        APTX: 0x41, 1;
        PFCTX: 0x48, 8;
        PPRX: 0x60, 1;
        APRX: 0x61, 1;
        PFCRX: 0x68, 8;
    }
}

pub(super) const PAOS: Register =
    Register { id: 0x5006, layout: &paos_reg::LAYOUT, read: Some(state), write: Some(set_state) };
pub(super) const PMTU: Register =
    Register { id: 0x5003, layout: &pmtu_reg::LAYOUT, read: Some(longest), write: Some(set_longest) };
pub(super) const PFCC: Register =
    Register { id: 0x5007, layout: &pfcc_reg::LAYOUT, read: Some(pauses), write: Some(set_pauses) };

/// `MLX5_PORT_UP`, `MLX5_PORT_DOWN`.
const UP: u64 = 1;
const DOWN: u64 = 2;

fn state(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let (number, _) = port(call, given.get(paos_reg::LOCAL_PORT))?;
    let link = call.device.link(number)?;
    let name = |up| if up { UP } else { DOWN };
    register.set(paos_reg::LOCAL_PORT, number.into());
    register.set(paos_reg::ADMIN_STATUS, name(link.is_enabled));
    register.set(paos_reg::OPER_STATUS, name(link.is_port_up()));
    Ok(())
}

/// Takes the port down or up. Its changes are always events of the command interface, so there is nothing to choose of
/// those.
fn set_state(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let (number, _) = port(call, given.get(paos_reg::LOCAL_PORT))?;
    if given.flag(paos_reg::EE) {
        return Err(Refusal::parameter("ee: all changes are events"));
    }
    if given.flag(paos_reg::ASE) {
        let enabled = match given.get(paos_reg::ADMIN_STATUS) {
            UP => true,
            DOWN => false,
            other => return Err(Refusal::parameter(format!("admin_status {other}; there are up and down"))),
        };
        call.device.change_link(number, |link| link.is_enabled = enabled)?;
    }
    state(call, given, register)
}

/// In InfiniBand's units: bytes of a packet's payload. On Ethernet: of a frame with its check sequence.
fn longest(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let number = given.get(pmtu_reg::LOCAL_PORT);
    let (number, port) = port(call, number)?;
    let (max, now) = match (port.link, number) {
        (LinkLayer::InfiniBand, _) => (4096, port.active_mtu as u16),
        (LinkLayer::Ethernet, 1) => (MAX_MTU, call.device.nic().port_mtu),
        (LinkLayer::Ethernet, _) => (MAX_MTU, MAX_MTU),
    };
    register.set(pmtu_reg::LOCAL_PORT, number.into());
    register.set(pmtu_reg::MAX_MTU, max.into());
    register.set(pmtu_reg::ADMIN_MTU, now.into());
    register.set(pmtu_reg::OPER_MTU, now.into());
    Ok(())
}

fn set_longest(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let number = ethernet_port(call, given.get(pmtu_reg::LOCAL_PORT))?;
    let mtu = given.get(pmtu_reg::ADMIN_MTU) as u16;
    if number != 1 || !(1..=MAX_MTU).contains(&mtu) {
        return Err(Refusal::parameter(format!("MTU {mtu} of port {number}: 1 to {MAX_MTU}, of port 1")));
    }
    call.device.set_port_mtu(number, mtu)?;
    longest(call, given, register)
}

/// Ports never pause here.
fn pauses(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let number = ethernet_port(call, given.get(pfcc_reg::LOCAL_PORT))?;
    register.set(pfcc_reg::LOCAL_PORT, number.into());
    Ok(())
}

fn set_pauses(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    use pfcc_reg::{APRX, APTX, PFCRX, PFCTX, PPRX, PPTX};
    for field in [PPTX, APTX, PFCTX, PPRX, APRX, PFCRX] {
        if given.get(field) != 0 {
            return Err(Refusal::parameter(format!("{}: ports here do not pause", field.name)));
        }
    }
    pauses(call, given, register)
}

#[cfg(test)]
pub(super) const LAYOUTS: [&crate::firmware::layout::Layout; 3] =
    [&paos_reg::LAYOUT, &pmtu_reg::LAYOUT, &pfcc_reg::LAYOUT];
