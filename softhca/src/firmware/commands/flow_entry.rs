//! Rules of flow tables.

use super::flow_table::{asked, named};
use super::match_param::{fte_match_param, key};
use super::work_queue::check_absent;
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::{Refusal, Status};
use crate::steering::{Destination, Entry, Verdict};

layout! {
    /// A rule.
    struct flow_context: 0x300 bytes {
        GROUP_ID: 0x20, 32;
        FLOW_TAG: 0x48, 24;
        ACTION: 0x70, 16;
        EXTENDED_DESTINATION: 0x80, 1;
        FLOW_SOURCE: 0x82, 2;
        ENCRYPT_DECRYPT_TYPE: 0x84, 4;
        DESTINATION_LIST_SIZE: 0x88, 24;
        FLOW_COUNTER_LIST_SIZE: 0xa8, 24;
        PACKET_REFORMAT_ID: 0xc0, 32;
        MODIFY_HEADER_ID: 0xe0, 32;
        ENCRYPT_DECRYPT_OBJ_ID: 0x120, 32;
    } parts { MATCH_VALUE: 0x200, fte_match_param; }
    /// Where it sends frames.
    struct dest_format_struct: 0x8 bytes {
        DESTINATION_TYPE: 0x0, 8;
        DESTINATION_ID: 0x8, 24;
        DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID: 0x20, 1;
        PACKET_REFORMAT: 0x21, 1;
        DESTINATION_ESWITCH_OWNER_VHCA_ID: 0x30, 16;
    }
    /// A flow counter that the rule counts with.
    struct flow_counter_list: 0x8 bytes { FLOW_COUNTER_ID: 0x0, 32; }
    /// `SET_FLOW_TABLE_ENTRY`, with a [`dest_format_struct`] for each destination, and then a [`flow_counter_list`] for
    /// each counter.
    struct set_fte_in: query 0x340 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
        IGNORE_FLOW_LEVEL: 0xc0, 1;
        MODIFY_ENABLE_MASK: 0xd8, 8;
        FLOW_INDEX: 0x100, 32;
    } parts { FLOW_CONTEXT: 0x200, flow_context; } list of 8 bytes
    struct query_fte_in: query 0x40 bytes {
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
        FLOW_INDEX: 0x100, 32;
    }
    /// Its output, with destinations and counters in the form of [`set_fte_in`].
    struct query_fte_out: answer 0x340 bytes {} parts { FLOW_CONTEXT: 0x200, flow_context; } list of 8 bytes
    struct delete_fte_in: query 0x40 bytes {
        OTHER_VPORT: 0x40, 1;
        VPORT_NUMBER: 0x50, 16;
        TABLE_TYPE: 0x80, 8;
        TABLE_ID: 0xa8, 24;
        FLOW_INDEX: 0x100, 32;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x936, "SET_FLOW_TABLE_ENTRY", set_fte_in, bare_out, set).with_modifiers(),
    command!(0x937, "QUERY_FLOW_TABLE_ENTRY", query_fte_in, query_fte_out, query),
    command!(0x938, "DELETE_FLOW_TABLE_ENTRY", delete_fte_in, bare_out, delete),
];

/// Features that no rule has here, as the capabilities say.
const ABSENT: [(Field, &str); 5] = [
    (flow_context::EXTENDED_DESTINATION, "reformatted packets"),
    (flow_context::FLOW_SOURCE, "an embedded switch"),
    (flow_context::ENCRYPT_DECRYPT_TYPE, "encryption"),
    (flow_context::PACKET_REFORMAT_ID, "reformatted packets"),
    (flow_context::ENCRYPT_DECRYPT_OBJ_ID, "encryption"),
];
/// Fields of destinations that are not supported.
const ABSENT_OF_DESTINATIONS: [(Field, &str); 3] = [
    (dest_format_struct::DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID, "an embedded switch"),
    (dest_format_struct::PACKET_REFORMAT, "reformatted packets"),
    (dest_format_struct::DESTINATION_ESWITCH_OWNER_VHCA_ID, "an embedded switch"),
];

/// `action` (`MLX5_FLOW_CONTEXT_ACTION_*`).
const ALLOW: u64 = 0x1;
const DROP: u64 = 0x2;
const FORWARD: u64 = 0x4;
const COUNT: u64 = 0x8;
const MODIFY: u64 = 0x40;

/// `destination_type` (`MLX5_IFC_FLOW_DESTINATION_TYPE_*`).
const TO_TABLE: u64 = 1;
const TO_TIR: u64 = 2;

/// `op_mod` of `SET_FLOW_TABLE_ENTRY`: a new rule, or changes of the one that is there.
const NEW: u16 = 0;
const CHANGE: u16 = 1;
/// The changed parts (bits `MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`).
const CHANGE_ACTION: u64 = 1 << 0;
const CHANGE_TAG: u64 = 1 << 1;
const CHANGE_DESTINATIONS: u64 = 1 << 2;
const CHANGE_COUNTERS: u64 = 1 << 3;
const CHANGE_ALL: u64 = CHANGE_ACTION | CHANGE_TAG | CHANGE_DESTINATIONS | CHANGE_COUNTERS;

/// A destination of the caller's.
fn destination(call: &Call<'_>, view: View<'_>) -> Result<Destination, Refusal> {
    check_absent(view, &ABSENT_OF_DESTINATIONS)?;
    let number = view.get32(dest_format_struct::DESTINATION_ID);
    match view.get(dest_format_struct::DESTINATION_TYPE) {
        TO_TABLE => {
            call.check_use(Object::FlowTable, number)?;
            Ok(Destination::Table(number))
        }
        TO_TIR => {
            call.check_use(Object::Tir, number)?;
            Ok(Destination::Tir(number))
        }
        other => Err(Refusal::parameter(format!("destination_type {other}: 1 (flow table) or 2 (TIR)"))),
    }
}

/// The modify header context of the caller's that a rule names.
fn modification(call: &Call<'_>, action: u64, number: u32) -> Result<Option<u32>, Refusal> {
    match (action & MODIFY != 0, number) {
        (false, 0) => Ok(None),
        (false, _) => {
            let reason = format!("modify_header_id {number:#x} where action {action:#x} modifies nothing (0x40)");
            Err(Refusal::parameter(reason))
        }
        (true, _) => {
            call.check_use(Object::ModifyHeader, number)?;
            Ok(Some(number))
        }
    }
}

/// The rule in a mailbox.
fn entry(call: &Call<'_>) -> Result<(Entry, u64), Refusal> {
    let view = call.input.part(set_fte_in::FLOW_CONTEXT);
    check_absent(view, &ABSENT)?;
    let action = view.get(flow_context::ACTION);
    let verdict = match action & !(COUNT | MODIFY) {
        ALLOW => Verdict::Allow,
        DROP => Verdict::Drop,
        FORWARD => Verdict::Forward,
        _ => {
            let reason =
                format!("action {action:#x}: one of allow (1), drop (2) and forward (4), count (8), modify (0x40)");
            return Err(Refusal::parameter(reason));
        }
    };
    let count = |field| view.get(field) as usize;
    let (to, counts) = (count(flow_context::DESTINATION_LIST_SIZE), count(flow_context::FLOW_COUNTER_LIST_SIZE));
    let list: Vec<_> = call.input.list(&set_fte_in::LAYOUT).take(to + counts).collect();
    if list.len() < to + counts {
        let reason = format!("{to} destinations and {counts} counters, and the mailbox holds {}", list.len());
        return Err(Refusal::new(Status::BadInputLength, reason));
    }
    let (destinations, counters) = list.split_at(to);
    let destinations: Result<Vec<_>, _> = destinations.iter().map(|&view| destination(call, view)).collect();
    let counters: Vec<u32> = counters.iter().map(|view| view.get32(flow_counter_list::FLOW_COUNTER_ID)).collect();
    counters.iter().try_for_each(|&counter| call.check_use(Object::FlowCounter, counter))?;
    let entry = Entry {
        modification: modification(call, action, view.get32(flow_context::MODIFY_HEADER_ID))?,
        group: view.get32(flow_context::GROUP_ID),
        value: key(view.part(flow_context::MATCH_VALUE)),
        verdict,
        tag: view.get32(flow_context::FLOW_TAG),
        destinations: destinations?,
        counters,
    };
    Ok((entry, action))
}

fn set(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, table) = named(call)?;
    check_absent(call.input, &[(set_fte_in::IGNORE_FLOW_LEVEL, "ways from table to table that do not go up")])?;
    let index = call.input.get32(set_fte_in::FLOW_INDEX);
    let (mut entry, action) = entry(call)?;
    let mask = call.input.get(set_fte_in::MODIFY_ENABLE_MASK);
    match call.op_mod {
        NEW => {}
        CHANGE if mask & !CHANGE_ALL == 0 => {
            let kept = call.device.nic().steering().table(direction, table)?.entry(index);
            let kept = kept.ok_or_else(|| Refusal::new(Status::BadIndex, format!("no rule at index {index:#x}")))?;
            entry.group = kept.group;
            entry.value = kept.value;
            if mask & CHANGE_ACTION == 0 {
                (entry.verdict, entry.modification) = (kept.verdict, kept.modification);
            }
            if mask & CHANGE_TAG == 0 {
                entry.tag = kept.tag;
            }
            if mask & CHANGE_DESTINATIONS == 0 {
                entry.destinations.clone_from(&kept.destinations);
            }
            if mask & CHANGE_COUNTERS == 0 {
                entry.counters.clone_from(&kept.counters);
            }
        }
        other => {
            let reason = format!("op_mod {other}, modify_enable_mask {mask:#x}: 0, or 1 with bits of {CHANGE_ALL:#x}");
            return Err(Refusal::parameter(reason));
        }
    }
    let given = call.op_mod == NEW || mask & (CHANGE_ACTION | CHANGE_COUNTERS) == CHANGE_ACTION | CHANGE_COUNTERS;
    if given && (action & COUNT != 0) == entry.counters.is_empty() {
        let reason = format!("action {action:#x} with {} flow counters", entry.counters.len());
        return Err(Refusal::parameter(reason));
    }
    Ok(call.device.nic().set_entry(direction, table, index, entry)?)
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, table) = asked(call)?;
    let index = call.input.get32(query_fte_in::FLOW_INDEX);
    let entry = call.device.nic().steering().table(direction, table)?.entry(index);
    let entry = entry.ok_or_else(|| Refusal::new(Status::BadIndex, format!("no rule at index {index:#x}")))?;
    let (first, element) = (query_fte_out::LAYOUT.bytes, query_fte_out::LAYOUT.element);
    let listed = entry.destinations.len() + entry.counters.len();
    if call.output.0.len() < first + listed * element {
        let reason = format!("{} bytes have no room for {listed} destinations and counters", call.output.0.len());
        return Err(Refusal::new(Status::BadOutputLength, reason));
    }
    let verdict = match entry.verdict {
        Verdict::Allow => ALLOW,
        Verdict::Drop => DROP,
        Verdict::Forward => FORWARD,
    };
    let mut view = call.output.part(query_fte_out::FLOW_CONTEXT);
    view.set(flow_context::GROUP_ID, entry.group.into());
    view.set(flow_context::FLOW_TAG, entry.tag.into());
    let counts = if entry.counters.is_empty() { 0 } else { COUNT };
    let modifies = if entry.modification.is_some() { MODIFY } else { 0 };
    view.set(flow_context::ACTION, verdict | counts | modifies);
    view.set(flow_context::MODIFY_HEADER_ID, entry.modification.unwrap_or(0).into());
    view.set(flow_context::DESTINATION_LIST_SIZE, entry.destinations.len() as u64);
    view.set(flow_context::FLOW_COUNTER_LIST_SIZE, entry.counters.len() as u64);
    view.put(flow_context::MATCH_VALUE.at, &entry.value.0);
    let places = call.output.0[first..].chunks_exact_mut(element);
    let listed = entry.destinations.iter().map(|&to| Ok(to)).chain(entry.counters.iter().map(|&counter| Err(counter)));
    for (place, item) in places.zip(listed) {
        let mut place = ViewMut(place);
        let (kind, number) = match item {
            Ok(Destination::Table(number)) => (TO_TABLE, number),
            Ok(Destination::Tir(number)) => (TO_TIR, number),
            Err(counter) => {
                place.set(flow_counter_list::FLOW_COUNTER_ID, counter.into());
                continue;
            }
        };
        place.set(dest_format_struct::DESTINATION_TYPE, kind);
        place.set(dest_format_struct::DESTINATION_ID, number.into());
    }
    Ok(())
}

fn delete(call: &mut Call<'_>) -> Result<(), Refusal> {
    let (direction, table) = named(call)?;
    Ok(call.device.nic().remove_entry(direction, table, call.input.get32(delete_fte_in::FLOW_INDEX))?)
}
