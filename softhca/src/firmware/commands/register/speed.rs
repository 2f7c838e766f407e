//! Speeds of a port.

use super::entry::{Register, port};
use crate::config::LinkLayer;
use crate::firmware::call::Call;
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::Refusal;

layout! {
    /// Type and speed of a port.
    struct ptys_reg: 0x40 bytes {
        LOCAL_PORT: 0x8, 8;
        PROTO_MASK: 0x1d, 3;
        ETH_PROTO_CAPABILITY: 0x60, 32;
        IB_LINK_WIDTH_CAPABILITY: 0x80, 16;
        IB_PROTO_CAPABILITY: 0x90, 16;
        ETH_PROTO_ADMIN: 0xc0, 32;
        IB_LINK_WIDTH_ADMIN: 0xe0, 16;
        IB_PROTO_ADMIN: 0xf0, 16;
        ETH_PROTO_OPER: 0x120, 32;
        IB_LINK_WIDTH_OPER: 0x140, 16;
        IB_PROTO_OPER: 0x150, 16;
    }
}

pub(super) const PTYS: Register =
    Register { id: 0x5004, layout: &ptys_reg::LAYOUT, read: Some(speed), write: Some(set_speed) };

/// 100 Gb/s, as the uverbs object tells the rate: 4 lanes (`MLX5_PTYS_WIDTH_4X`) of EDR, 100GBASE-CR4.
const IB_WIDTH_4X: u64 = 1 << 2;
const IB_EDR: u64 = 1 << 5;
const ETH_100GBASE_CR4: u64 = 1 << 20;
/// Kinds of ports that the register is asked about (`MLX5_PTYS_IB`, `MLX5_PTYS_EN`).
const KIND_IB: u64 = 1;
const KIND_ETHERNET: u64 = 4;

fn speed(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let number = given.get(ptys_reg::LOCAL_PORT);
    let (_, port) = port(call, number)?;
    let kind = given.get(ptys_reg::PROTO_MASK);
    register.set(ptys_reg::LOCAL_PORT, number);
    register.set(ptys_reg::PROTO_MASK, kind);
    match (kind, port.link) {
        (KIND_IB, LinkLayer::InfiniBand) => {
            use ptys_reg::{IB_LINK_WIDTH_ADMIN, IB_LINK_WIDTH_CAPABILITY, IB_LINK_WIDTH_OPER};
            use ptys_reg::{IB_PROTO_ADMIN, IB_PROTO_CAPABILITY, IB_PROTO_OPER};
            for width in [IB_LINK_WIDTH_CAPABILITY, IB_LINK_WIDTH_ADMIN, IB_LINK_WIDTH_OPER] {
                register.set(width, IB_WIDTH_4X);
            }
            for speed in [IB_PROTO_CAPABILITY, IB_PROTO_ADMIN, IB_PROTO_OPER] {
                register.set(speed, IB_EDR);
            }
        }
        (KIND_ETHERNET, LinkLayer::Ethernet) => {
            for speed in [ptys_reg::ETH_PROTO_CAPABILITY, ptys_reg::ETH_PROTO_ADMIN, ptys_reg::ETH_PROTO_OPER] {
                register.set(speed, ETH_100GBASE_CR4);
            }
        }
        // The port has no speed at all of the other kind.
        (KIND_IB | KIND_ETHERNET, _) => {}
        _ => return Err(Refusal::parameter(format!("ports of kind {kind}"))),
    }
    Ok(())
}

#[cfg(test)]
pub(super) const LAYOUTS: [&crate::firmware::layout::Layout; 1] = [&ptys_reg::LAYOUT];

/// There is one speed, so a driver can only say that it is the one.
fn set_speed(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    speed(call, given, register)?;
    let register = View(register.0);
    for field in [ptys_reg::ETH_PROTO_ADMIN, ptys_reg::IB_LINK_WIDTH_ADMIN, ptys_reg::IB_PROTO_ADMIN] {
        let (wanted, there) = (given.get(field), register.get(field));
        if wanted != there {
            return Err(Refusal::parameter(format!("{} {wanted:#x}; there is {there:#x} only", field.name)));
        }
    }
    Ok(())
}
