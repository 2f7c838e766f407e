//! Registers of ports and of the device, which a driver reads and writes.
//!
//! Each file has those of one kind: their layouts, and the effects of reading and writing them.

mod counters;
mod entry;
mod function;
mod port;
mod speed;
#[cfg(test)]
mod tests;

use crate::firmware::call::{Call, Command, command};
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use entry::Register;

layout! {
    /// `ACCESS_REG`, with the register. Bit 0 of the modifier asks for it; without, it is written.
    struct access_register_in: query { REGISTER_ID: 0x50, 16; ARGUMENT: 0x60, 32; } list of 4 bytes
    /// Its output, with the register.
    struct access_register_out: answer {} list of 4 bytes
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x805, "ACCESS_REG", access_register_in, access_register_out, |call| { access(call, &REGISTERS) })
        .with_modifiers(),
    // Of DPDK (`drivers/common/mlx5/mlx5_prm.h`, `MLX5_CMD_OP_ACCESS_REGISTER_USER`).
    command!(0xb0c, "ACCESS_REGISTER_USER", access_register_in, access_register_out, |call| {
        access(call, &REGISTERS_OF_USERS)
    })
    .with_modifiers(),
];

/// All registers. Requests for others are refused, and Linux' driver does without them: pins, clocks and modules,
/// lanes and error correction, buffers, and the counters of PCI Express.
const REGISTERS: [&Register; 8] = [
    &port::PMTU,
    &speed::PTYS,
    &port::PAOS,
    &port::PFCC,
    &counters::PPCNT,
    &function::NODE_DESC,
    &function::HOST_ENDIANNESS,
    &function::MTUTC,
];

/// Those that programs read (`cmd_hca_cap.access_register_user`).
const REGISTERS_OF_USERS: [&Register; 1] = [&function::MTUTC];

fn access(call: &mut Call<'_>, registers: &[&Register]) -> Result<(), Refusal> {
    let id = call.input.get(access_register_in::REGISTER_ID);
    let read = match call.op_mod {
        0 => false,
        1 => true,
        other => return Err(Refusal::parameter(format!("modifier {other:#x}"))),
    };
    if call.input.get(access_register_in::ARGUMENT) != 0 {
        return Err(Refusal::parameter("an argument, which the registers here do not have"));
    }
    let absent = |reason: String| Refusal::new(Status::BadOperation, reason);
    let register = registers.iter().find(|register| register.id == id);
    let register = register.ok_or_else(|| absent(format!("no register {id:#x}")))?;
    let way = if read { register.read } else { register.write };
    let way = way.ok_or_else(|| absent(format!("register {id:#x} is {} only", if read { "write" } else { "read" })))?;
    if !read {
        call.check_driver()?;
    }
    let (at, bytes) = (access_register_out::LAYOUT.bytes, register.layout.bytes);
    let given = call.input.0.get(access_register_in::LAYOUT.bytes..).unwrap_or(&[]);
    // DPDK gives nothing of a register that it reads (`drivers/common/mlx5/mlx5_devx_cmds.c`,
    // `mlx5_devx_cmd_register_read`).
    let nothing = vec![0; bytes];
    let given = if given.is_empty() && register.write.is_none() { &nothing } else { given };
    if given.len() < bytes {
        return Err(Refusal::new(Status::BadInputLength, format!("{} of {bytes} bytes of the register", given.len())));
    }
    if call.output.0.len() < at + bytes {
        return Err(Refusal::new(Status::BadOutputLength, format!("no room for {bytes} bytes of the register")));
    }
    let mut filled = vec![0; bytes];
    way(call, View(given), &mut ViewMut(&mut filled))?;
    call.output.put(at, &filled);
    Ok(())
}
