//! Modify header contexts: lists of actions on headers and registers, which rules name.

use super::match_param::direction;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{View, layout};
use crate::firmware::status::{Refusal, Status};
use crate::steering::{Action, Direction, Field, Part};

layout! {
    /// Puts a number into bits of a field. A length of 0 is 32 bits.
    struct set_action_in: 0x8 bytes {
        ACTION_TYPE: 0x0, 4;
        FIELD: 0x4, 12;
        OFFSET: 0x13, 5;
        LENGTH: 0x1b, 5;
        DATA: 0x20, 32;
    }
    /// Copies bits of a field.
    struct copy_action_in: 0x8 bytes {
        ACTION_TYPE: 0x0, 4;
        SRC_FIELD: 0x4, 12;
        SRC_OFFSET: 0x13, 5;
        LENGTH: 0x1b, 5;
        DST_FIELD: 0x24, 12;
        DST_OFFSET: 0x33, 5;
    }
    /// `ALLOC_MODIFY_HEADER_CONTEXT`, with an action in the form of [`set_action_in`] or [`copy_action_in`] for each.
    struct alloc_modify_header_context_in: query { TABLE_TYPE: 0x60, 8; NUM_OF_ACTIONS: 0x78, 8; } list of 8 bytes
    struct alloc_modify_header_context_out: answer { MODIFY_HEADER_ID: 0x40, 32; }
    struct dealloc_modify_header_context_in: query { MODIFY_HEADER_ID: 0x40, 32; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(
        0x940,
        "ALLOC_MODIFY_HEADER_CONTEXT",
        alloc_modify_header_context_in,
        alloc_modify_header_context_out,
        alloc
    ),
    command!(0x941, "DEALLOC_MODIFY_HEADER_CONTEXT", dealloc_modify_header_context_in, bare_out, dealloc),
];

/// `action_type` (`MLX5_ACTION_TYPE_*`).
const SET: u64 = 1;
const ADD: u64 = 2;
const COPY: u64 = 3;

/// A field of frames of this direction.
fn field(direction: Direction, number: u64) -> Result<&'static Field, Refusal> {
    let field = Field::of(number as u16).ok_or_else(|| Refusal::parameter(format!("no field {number:#x}")))?;
    if field.is_of(direction) {
        Ok(field)
    } else {
        Err(Refusal::parameter(format!("field {number:#x} is not of frames that a {direction:?} table sees")))
    }
}

/// Bits of a field.
fn part(field: &'static Field, offset: u64, length: u64) -> Result<Part, Refusal> {
    let bits = if length == 0 { 32 } else { length };
    Part::new(field, offset as u8, bits as u8).ok_or_else(|| {
        let Field { number, width, .. } = field;
        Refusal::parameter(format!("{bits} bits from bit {offset} of field {number:#x}, which has {width}"))
    })
}

/// The sum has no bits to choose: Linux' `add_action_in` has neither an offset nor a length. DPDK says both
/// (`drivers/net/mlx5/mlx5_flow_dv.c`, `flow_dv_convert_modify_action`), those of the whole field.
fn summand(field: &'static Field, offset: u64, length: u64) -> Result<&'static Field, Refusal> {
    let Field { number, width, .. } = *field;
    if offset == 0 && (length == 0 || length == u64::from(width)) {
        return Ok(field);
    }
    let reason = format!("{length} bits from bit {offset} of field {number:#x}: a sum is of all its {width}");
    Err(Refusal::parameter(reason))
}

/// An action on frames of a direction.
fn action(direction: Direction, view: View<'_>) -> Result<Action, Refusal> {
    let kind = view.get(set_action_in::ACTION_TYPE);
    let layout = if kind == COPY { &copy_action_in::LAYOUT } else { &set_action_in::LAYOUT };
    if let Some(byte) = layout.reserved_byte_set(view.0) {
        return Err(Refusal::parameter(format!("reserved bits in byte {byte} of an action of type {kind}")));
    }
    let first = field(direction, view.get(set_action_in::FIELD))?;
    let (offset, length) = (view.get(set_action_in::OFFSET), view.get(set_action_in::LENGTH));
    let data = view.get32(set_action_in::DATA);
    match kind {
        SET => Ok(Action::Set(part(first, offset, length)?, data)),
        ADD => Ok(Action::Add(summand(first, offset, length)?, data)),
        COPY => {
            let to = field(direction, view.get(copy_action_in::DST_FIELD))?;
            let to = part(to, view.get(copy_action_in::DST_OFFSET), length)?;
            Ok(Action::Copy { from: part(first, offset, length)?, to })
        }
        other => Err(Refusal::parameter(format!("action_type {other}: 1 (set), 2 (add) or 3 (copy)"))),
    }
}

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let direction = direction(call.input.get(alloc_modify_header_context_in::TABLE_TYPE))?;
    if !matches!(direction, Direction::Receive | Direction::Transmit) {
        return Err(Refusal::parameter("table_type of a sniffer: its copies are not modified"));
    }
    let count = call.input.get(alloc_modify_header_context_in::NUM_OF_ACTIONS) as usize;
    let list: Vec<_> = call.input.list(&alloc_modify_header_context_in::LAYOUT).take(count).collect();
    if list.len() < count {
        let reason = format!("{count} actions, and the mailbox holds {}", list.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    let actions = list.into_iter().map(|view| action(direction, view)).collect::<Result<Vec<_>, _>>()?;
    let number = call.device.nic().steering().create_modification(direction, actions)?;
    call.created(Object::ModifyHeader, number);
    call.output.set(alloc_modify_header_context_out::MODIFY_HEADER_ID, number.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::ModifyHeader, dealloc_modify_header_context_in::MODIFY_HEADER_ID, |device, number| {
        device.nic().steering().destroy_modification(number)
    })
}
