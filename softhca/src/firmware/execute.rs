//! Carrying out one command: the checks of every command, and its end.

use super::call::{Call, Command, general_obj_in_cmd_hdr, general_out};
use super::commands;
use super::layout::{Layout, View, ViewMut};
use super::owners::Uid;
use super::state::State;
use super::status::{Refusal, Status};
use crate::device::Device;

/// Carries out one command.
pub(super) fn run(state: &mut State, device: &mut Device, input: &[u8], output: &mut [u8]) -> Status {
    output.fill(0);
    let result = checked(state, device, input, output);
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

fn checked(state: &mut State, device: &mut Device, input: &[u8], output: &mut [u8]) -> Result<(), Refusal> {
    let header = View(input);
    if input.len() < general_obj_in_cmd_hdr::LAYOUT.bytes {
        return Err(Refusal::new(Status::BadInputLength, format!("an input of {} bytes", input.len())));
    }
    let opcode = header.get(general_obj_in_cmd_hdr::OPCODE) as u16;
    let Some(command) = commands::all().find(|command| command.opcode == opcode) else {
        return Err(Refusal::new(Status::BadOperation, "no such command"));
    };
    let Command { name, input: layout, least, output: &Layout { bytes: output_bytes, .. }, least_room, .. } = *command;
    if input.len() < least {
        let reason = format!("{name}: an input of {} bytes, which has at least {least}", input.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    let whole;
    let input = if input.len() < layout.bytes {
        whole = [input, &vec![0; layout.bytes - input.len()]].concat();
        &whole
    } else {
        input
    };
    let header = View(input);
    if output.len() < least_room {
        let reason = format!("{name}: room for {} bytes of output, which has {output_bytes}", output.len());
        return Err(Refusal::new(Status::BadOutputLength, reason));
    }
    // Some structures of the header leave the user's number out, and yet each command has it: drivers set it in all.
    let mut body = input[..layout.bytes].to_vec();
    general_obj_in_cmd_hdr::LAYOUT.clear_named(&mut body);
    if let Some(byte) = layout.reserved_byte_set(&body) {
        return Err(Refusal::parameter(format!("{name}: reserved bits are set in byte {byte:#x}")));
    }
    let rest = &input[layout.bytes..];
    if layout.element == 0 && rest.iter().any(|&byte| byte != 0) {
        return Err(Refusal::new(Status::BadInputLength, format!("{name}: something follows the input")));
    }
    let uid = Uid(header.get(general_obj_in_cmd_hdr::UID) as u16);
    let op_mod = header.get(general_obj_in_cmd_hdr::OP_MOD) as u16;
    state.owners.check_uid(uid)?;
    if op_mod != 0 && !command.has_modifiers {
        return Err(Refusal::parameter(format!("{name}: modifier {op_mod:#x}, and it has none")));
    }
    state.life.check(command.opcode, command.makes_object())?;
    log::debug!("{name} for user {:#x}", uid.0);
    let mut run = |output: &mut [u8]| {
        let mut call = Call { state, device, uid, op_mod, input: header, output: ViewMut(output), taken: Vec::new() };
        finish(&mut call, command.run)
    };
    if output.len() >= output_bytes {
        return run(output);
    }
    let mut whole = vec![0; output_bytes];
    run(&mut whole)?;
    output.copy_from_slice(&whole[..output.len()]);
    Ok(())
}

/// Runs a command, and gives back the resources that it has taken for no object: all of them if the command is
/// refused.
pub(super) fn finish<T>(
    call: &mut Call<'_>,
    run: impl FnOnce(&mut Call<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let result = run(call);
    let taken = std::mem::take(&mut call.taken);
    call.give_back(taken);
    result
}
