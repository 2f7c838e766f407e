//! Registers of ports and of the device, which a driver reads.

use crate::config::{LinkLayer, PortConfig};
use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};

layout! {
    /// `ACCESS_REG`, with the register. Bit 0 of the modifier asks for it; without, it is written.
    access_register_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        REGISTER_ID: 0x50, 16;
        ARGUMENT: 0x60, 32;
    } list of 4 bytes
}
layout! {
    /// What it gives, with the register.
    access_register_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } list of 4 bytes
}
layout! {
    /// Type and speed of a port.
    ptys_reg: 0x40 bytes {
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
layout! {
    /// Longest frames or packets of a port.
    pmtu_reg: 0x10 bytes {
        LOCAL_PORT: 0x8, 8;
        MAX_MTU: 0x20, 16;
        ADMIN_MTU: 0x40, 16;
        OPER_MTU: 0x60, 16;
    }
}

pub(super) const COMMANDS: &[Command] =
    &[command(0x805, "ACCESS_REG", &access_register_in::LAYOUT, &access_register_out::LAYOUT, access).with_modifiers()];

const PMTU: u64 = 0x5003;
const PTYS: u64 = 0x5004;
const HOST_ENDIANNESS: u64 = 0x7004;

/// 100 Gb/s, as the uverbs object tells the rate: 4 lanes (`MLX5_PTYS_WIDTH_4X`) of EDR, 100GBASE-CR4.
const IB_WIDTH_4X: u64 = 1 << 2;
const IB_EDR: u64 = 1 << 5;
const ETH_100GBASE_CR4: u64 = 1 << 20;
/// Kinds of ports that `PTYS` is asked about (`MLX5_PTYS_IB`, `MLX5_PTYS_EN`).
const KIND_IB: u64 = 1;
const KIND_ETHERNET: u64 = 4;
/// Longest frame.
const MAX_FRAME: u64 = 9216;
/// Byte 0 of `HOST_ENDIANNESS` (Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`, `MLX5_SET_HOST_ENDIANNESS`).
const HOST_IS: u8 = if cfg!(target_endian = "big") { 0x80 } else { 0 };

fn access(call: &mut Call<'_>) -> Result<(), Refusal> {
    let register = call.input.get(access_register_in::REGISTER_ID);
    let given = call.input.0.get(access_register_in::LAYOUT.bytes..).unwrap_or(&[]);
    let read = match call.op_mod {
        0 => false,
        1 => true,
        other => return Err(Refusal::parameter(format!("modifier {other:#x}"))),
    };
    if call.input.get(access_register_in::ARGUMENT) != 0 {
        return Err(Refusal::parameter("an argument, which the registers here do not have"));
    }
    match (register, read) {
        (PTYS, true) => give(call, given, ptys_reg::LAYOUT.bytes, speed),
        (PMTU, true) => give(call, given, pmtu_reg::LAYOUT.bytes, longest),
        (HOST_ENDIANNESS, false) => {
            call.check_driver()?;
            // Atomics are in the byte order of the host that the device runs on, and in no other.
            match given.split_first() {
                Some((&HOST_IS, rest)) if rest.iter().all(|&byte| byte == 0) => Ok(()),
                _ => Err(Refusal::parameter("not the byte order of this host")),
            }
        }
        (PTYS | PMTU, false) => Err(Refusal::new(Status::BadOperation, format!("register {register:#x} is read only"))),
        _ => Err(Refusal::new(Status::BadOperation, format!("no register {register:#x}"))),
    }
}

/// Fills a register of `bytes` bytes into the output: `fill` sees the port, and what the driver has written of the register.
fn give(
    call: &mut Call<'_>,
    given: &[u8],
    bytes: usize,
    fill: fn(&PortConfig, View<'_>, &mut ViewMut<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let at = access_register_out::LAYOUT.bytes;
    if given.len() < bytes {
        return Err(Refusal::new(Status::BadInputLength, format!("{} of {bytes} bytes of the register", given.len())));
    }
    if call.output.0.len() < at + bytes {
        return Err(Refusal::new(Status::BadOutputLength, format!("no room for {bytes} bytes of the register")));
    }
    let given = View(given);
    let number = given.get(ptys_reg::LOCAL_PORT);
    let ports = &call.device.config().ports;
    let port = ports.get((number as usize).wrapping_sub(1));
    let port = port.ok_or_else(|| Refusal::parameter(format!("port {number} of {}", ports.len())))?;
    let mut register = ViewMut(&mut call.output.0[at..at + bytes]);
    register.set(ptys_reg::LOCAL_PORT, number);
    fill(port, given, &mut register)
}

fn speed(port: &PortConfig, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let kind = given.get(ptys_reg::PROTO_MASK);
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
        // Of the other kind the port has no speed at all.
        (KIND_IB | KIND_ETHERNET, _) => {}
        _ => return Err(Refusal::parameter(format!("ports of kind {kind}"))),
    }
    Ok(())
}

/// In InfiniBand's units: bytes of a packet's payload. On Ethernet: of a frame.
fn longest(port: &PortConfig, _given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let (max, now) = match port.link {
        LinkLayer::InfiniBand => (4096, port.active_mtu.into()),
        LinkLayer::Ethernet => (MAX_FRAME, MAX_FRAME),
    };
    register.set(pmtu_reg::MAX_MTU, max);
    register.set(pmtu_reg::ADMIN_MTU, now);
    register.set(pmtu_reg::OPER_MTU, now);
    Ok(())
}
