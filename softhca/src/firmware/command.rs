//! A command that is being carried out, and the table of all of them.

use super::Firmware;
use super::layout::{Layout, View, ViewMut, layout};
use super::owners::Uid;
use super::status::{Refusal, Status};
use crate::device::Device;
use crate::error::Object;

layout! {
    /// What every input begins with.
    general_obj_in_cmd_hdr: 0x8 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// What every output begins with.
    general_out: 0x8 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    }
}
layout! {
    /// An output that is nothing else.
    bare_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    }
}

/// One command of the interpreter.
pub(super) struct Command {
    pub(super) opcode: u16,
    pub(super) name: &'static str,
    /// Its input: at least this long, and with no bits set that have no name.
    pub(super) input: &'static Layout,
    /// Bytes that its output has at least.
    pub(super) output_bytes: usize,
    pub(super) run: fn(&mut Call<'_>) -> Result<(), Refusal>,
}

/// A row of the table.
pub(super) const fn command(
    opcode: u16,
    name: &'static str,
    input: &'static Layout,
    output: &Layout,
    run: fn(&mut Call<'_>) -> Result<(), Refusal>,
) -> Command {
    Command { opcode, name, input, output_bytes: output.bytes, run }
}

/// A command that is being carried out.
pub(super) struct Call<'a> {
    pub(super) firmware: &'a mut Firmware,
    pub(super) device: &'a mut Device,
    /// On whose behalf; 0 is the driver itself.
    pub(super) uid: Uid,
    pub(super) op_mod: u16,
    pub(super) input: View<'a>,
    pub(super) output: ViewMut<'a>,
}

impl Call<'_> {
    /// Refuses an object that is not of the caller.
    pub(super) fn check_owner(&self, kind: Object, number: u32) -> Result<(), Refusal> {
        self.firmware.owners.check(kind, number, self.uid)
    }
}

/// The commands, by room.
const COMMANDS: &[&[Command]] = &[super::pd::COMMANDS, super::uctx::COMMANDS, super::umem::COMMANDS];

/// Carries out one command.
pub(super) fn execute(firmware: &mut Firmware, device: &mut Device, input: &[u8], output: &mut [u8]) -> Status {
    output.fill(0);
    let result = checked(firmware, device, input, output);
    let header = View(input);
    let (status, syndrome) = match &result {
        Ok(()) => (Status::Ok, 0),
        Err(refusal) => {
            log::info!(
                "command {:#x}: {:?}: {}",
                header.get(general_obj_in_cmd_hdr::OPCODE),
                refusal.status,
                refusal.reason
            );
            // A refused command says nothing else.
            output.fill(0);
            (refusal.status, refusal.syndrome())
        }
    };
    let mut view = ViewMut(output);
    view.set(general_out::STATUS, status as u64);
    view.set(general_out::SYNDROME, syndrome.into());
    status
}

fn checked(firmware: &mut Firmware, device: &mut Device, input: &[u8], output: &mut [u8]) -> Result<(), Refusal> {
    let header = View(input);
    if input.len() < general_obj_in_cmd_hdr::LAYOUT.bytes {
        return Err(Refusal::new(Status::BadInputLength, format!("an input of {} bytes", input.len())));
    }
    let opcode = header.get(general_obj_in_cmd_hdr::OPCODE) as u16;
    let Some(command) = COMMANDS.iter().copied().flatten().find(|command| command.opcode == opcode) else {
        return Err(Refusal::new(Status::BadOperation, "no such command"));
    };
    let Command { name, input: layout, output_bytes, .. } = *command;
    if input.len() < layout.bytes {
        let reason = format!("{name}: an input of {} bytes, which has at least {}", input.len(), layout.bytes);
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    if output.len() < output_bytes {
        let reason = format!("{name}: room for {} bytes of output, which has {output_bytes}", output.len());
        return Err(Refusal::new(Status::BadOutputLength, reason));
    }
    if let Some(byte) = layout.reserved_byte_set(input) {
        return Err(Refusal::parameter(format!("{name}: reserved bits are set in byte {byte:#x}")));
    }
    let rest = &input[layout.bytes..];
    if layout.element == 0 && rest.iter().any(|&byte| byte != 0) {
        return Err(Refusal::new(Status::BadInputLength, format!("{name}: something follows the input")));
    }
    let uid = Uid(header.get(general_obj_in_cmd_hdr::UID) as u16);
    let op_mod = header.get(general_obj_in_cmd_hdr::OP_MOD) as u16;
    firmware.owners.check_uid(uid)?;
    (command.run)(&mut Call { firmware, device, uid, op_mod, input: header, output: ViewMut(output) })
}

/// All layouts of inputs, for the test that compares them with Linux' header.
#[cfg(test)]
pub(super) fn inputs() -> impl Iterator<Item = &'static Layout> {
    COMMANDS.iter().copied().flatten().map(|command| command.input)
}
