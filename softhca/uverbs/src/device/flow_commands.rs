//! Commands on flow tables, as the kernel's driver gives them (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c`).

use super::flow_match::{FlowMatch, MATCH_BYTES};
use crate::abi::mailbox::{self, HEADER_BYTES, NUMBER, OP_MOD, creator, fields, sizes};
use crate::process::Errno;
use softhca::firmware::DRIVER;

fields! {
    // Of all commands on flow tables.
    TABLE_TYPE: 0x80, 8 = "create_flow_table_in.table_type", "modify_flow_table_in.table_type",
        "set_flow_table_root_in.table_type", "destroy_flow_table_in.table_type", "create_flow_group_in.table_type",
        "destroy_flow_group_in.table_type", "set_fte_in.table_type", "delete_fte_in.table_type";
    TABLE: 0xa8, 24 = "modify_flow_table_in.table_id", "set_flow_table_root_in.table_id",
        "destroy_flow_table_in.table_id", "create_flow_group_in.table_id", "destroy_flow_group_in.table_id",
        "set_fte_in.table_id", "delete_fte_in.table_id";
    // `flow_table_context`, which the commands that have it have in the same place.
    MISS_ACTION: 0xc4, 4 = "create_flow_table_in.flow_table_context.table_miss_action",
        "modify_flow_table_in.flow_table_context.table_miss_action";
    LEVEL: 0xc8, 8 = "create_flow_table_in.flow_table_context.level", "modify_flow_table_in.flow_table_context.level";
    LOG_SIZE: 0xd8, 8 = "create_flow_table_in.flow_table_context.log_size",
        "modify_flow_table_in.flow_table_context.log_size";
    MISS_TABLE: 0xe8, 24 = "create_flow_table_in.flow_table_context.table_miss_id",
        "modify_flow_table_in.flow_table_context.table_miss_id";
    MODIFY_SELECT: 0x70, 16 = "modify_flow_table_in.modify_field_select";
    // Groups.
    FIRST: 0xe0, 32 = "create_flow_group_in.start_flow_index";
    LAST: 0x120, 32 = "create_flow_group_in.end_flow_index";
    CRITERIA_ENABLE: 0x1f8, 8 = "create_flow_group_in.match_criteria_enable";
    GROUP: 0xc0, 32 = "destroy_flow_group_in.group_id";
    // Entries.
    MODIFY_MASK: 0xd8, 8 = "set_fte_in.modify_enable_mask";
    INDEX: 0x100, 32 = "set_fte_in.flow_index", "delete_fte_in.flow_index";
    GROUP_OF_ENTRY: 0x220, 32 = "set_fte_in.flow_context.group_id";
    TAG: 0x248, 24 = "set_fte_in.flow_context.flow_tag";
    ACTION: 0x270, 16 = "set_fte_in.flow_context.action";
    MODIFY_HEADER_ID: 0x2e0, 32 = "set_fte_in.flow_context.modify_header_id";
    DESTINATIONS: 0x288, 24 = "set_fte_in.flow_context.destination_list_size";
    COUNTERS: 0x2a8, 24 = "set_fte_in.flow_context.flow_counter_list_size";
    DESTINATION_TYPE: 0x0, 8 = "dest_format_struct.destination_type";
    DESTINATION_ID: 0x8, 24 = "dest_format_struct.destination_id";
    COUNTER_ID: 0x0, 32 = "flow_counter_list.flow_counter_id";
}
sizes! {
    TABLE_BYTES: 0x40 = "create_flow_table_in", "modify_flow_table_in";
    SHORT_BYTES: 0x40 = "set_flow_table_root_in", "destroy_flow_table_in", "destroy_flow_group_in", "delete_fte_in";
    GROUP_BYTES: 0x400 = "create_flow_group_in";
    // Destinations follow, then counters, as long as a destination.
    ENTRY_BYTES: 0x340 = "set_fte_in";
    DESTINATION_BYTES: 0x8 = "dest_format_struct", "flow_counter_list";
}
const MODIFY_TABLE: u16 = 0x93c;
const DESTROY_TABLE: u16 = 0x931;
const SET_ROOT: u16 = 0x92f;
const DESTROY_GROUP: u16 = 0x934;
const DELETE_ENTRY: u16 = 0x938;
/// Where the match of a group, and that of an entry begin.
const CRITERIA: usize = 0x40;
const VALUE: usize = 0x80;
/// The one thing of a table that is modified (`MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID`).
const MODIFY_MISS: u64 = 1;
/// `op_mod` of `SET_FLOW_TABLE_ROOT` that says there is none.
const NO_ROOT: u64 = 1;
/// `op_mod` that changes an entry, and the changed parts (`MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`): action, destinations
/// and counters.
const CHANGE: u64 = 1;
const CHANGED: u64 = 1 | 1 << 2 | 1 << 3;
/// `MLX5_IFC_FLOW_DESTINATION_TYPE_*`.
const TO_TABLE: u64 = 1;
const TO_TIR: u64 = 2;

/// `MLX5_FLOW_CONTEXT_ACTION_*`.
pub(super) mod action {
    pub(in crate::device) const ALLOW: u64 = 1;
    pub(in crate::device) const DROP: u64 = 2;
    pub(in crate::device) const FORWARD: u64 = 4;
    pub(in crate::device) const COUNT: u64 = 8;
    pub(in crate::device) const MODIFY: u64 = 0x40;
}

/// Where an entry sends frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Table(u32),
    Tir(u32),
}

/// An entry, as commands say it.
pub(super) struct EntryContext<'a> {
    pub(super) group: u32,
    pub(super) tag: u32,
    pub(super) action: u64,
    /// The list of actions that modify its frames.
    pub(super) modification: Option<u32>,
    pub(super) value: &'a [u8; MATCH_BYTES],
    pub(super) destinations: Vec<Destination>,
    /// Flow counters that count its frames.
    pub(super) counters: Vec<u32>,
}

/// Which frames tables are for (`FS_FT_NIC_RX`, `FS_FT_NIC_TX`), or copies of which frames (`FS_FT_SNIFFER_RX`,
/// `FS_FT_SNIFFER_TX`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FlowDirection {
    Received = 0,
    Sent = 1,
    SniffedReceived = 5,
    SniffedSent = 6,
}

/// The result of a command.
pub(super) type Carried = Result<[u8; HEADER_BYTES], Errno>;

/// Commands on tables of one type.
pub(super) struct FlowCommands<'a> {
    /// Carries a command out.
    pub(super) carry_out: &'a dyn Fn(&[u8]) -> Carried,
    pub(super) direction: FlowDirection,
}

impl FlowCommands<'_> {
    /// Whether it is about frames that leave.
    pub(super) fn sends(&self) -> bool {
        self.direction == FlowDirection::Sent
    }

    /// Whether it is about copies of frames.
    pub(super) fn sniffs(&self) -> bool {
        matches!(self.direction, FlowDirection::SniffedReceived | FlowDirection::SniffedSent)
    }

    fn command(&self, opcode: u16, table: u32, bytes: usize) -> Vec<u8> {
        let mut input = mailbox::command(opcode, DRIVER.0, bytes);
        TABLE_TYPE.set(&mut input, self.direction as u64);
        TABLE.set(&mut input, table.into());
        input
    }

    /// Makes a table; frames that no rule of it matches go on to `next`.
    pub(super) fn create_table(&self, level: u8, log_size: u8, next: Option<u32>) -> Result<u32, Errno> {
        let mut input = self.command(creator::FLOW_TABLE, 0, TABLE_BYTES);
        LEVEL.set(&mut input, level.into());
        LOG_SIZE.set(&mut input, log_size.into());
        set_miss(&mut input, next);
        (self.carry_out)(&input).map(|output| NUMBER.get32(&output))
    }

    /// Says where frames go on to that no rule of `table` matches.
    pub(super) fn set_next(&self, table: u32, next: Option<u32>) -> Result<(), Errno> {
        let mut input = self.command(MODIFY_TABLE, table, TABLE_BYTES);
        MODIFY_SELECT.set(&mut input, MODIFY_MISS);
        set_miss(&mut input, next);
        (self.carry_out)(&input).map(drop)
    }

    pub(super) fn destroy_table(&self, table: u32) -> Result<(), Errno> {
        (self.carry_out)(&self.command(DESTROY_TABLE, table, SHORT_BYTES)).map(drop)
    }

    /// Says with which table the way of frames begins.
    pub(super) fn set_root(&self, root: Option<u32>) -> Result<(), Errno> {
        let mut input = self.command(SET_ROOT, root.unwrap_or(0), TABLE_BYTES);
        OP_MOD.set(&mut input, if root.is_some() { 0 } else { NO_ROOT });
        (self.carry_out)(&input).map(drop)
    }

    /// Makes a group of rules with the mask of `matching`.
    pub(super) fn create_group(
        &self,
        table: u32,
        (first, last): (u32, u32),
        matching: &FlowMatch,
    ) -> Result<u32, Errno> {
        let mut input = self.command(creator::FLOW_GROUP, table, GROUP_BYTES);
        FIRST.set(&mut input, first.into());
        LAST.set(&mut input, last.into());
        CRITERIA_ENABLE.set(&mut input, matching.sets());
        input[CRITERIA..CRITERIA + MATCH_BYTES].copy_from_slice(&*matching.mask);
        (self.carry_out)(&input).map(|output| NUMBER.get32(&output))
    }

    pub(super) fn destroy_group(&self, table: u32, group: u32) -> Result<(), Errno> {
        let mut input = self.command(DESTROY_GROUP, table, SHORT_BYTES);
        GROUP.set(&mut input, group.into());
        (self.carry_out)(&input).map(drop)
    }

    /// Makes the entry at `index`, or changes its action.
    pub(super) fn set_entry(
        &self,
        table: u32,
        index: u32,
        entry: &EntryContext<'_>,
        change: bool,
    ) -> Result<(), Errno> {
        let mut input = self.command(creator::FLOW_TABLE_ENTRY, table, ENTRY_BYTES);
        if change {
            OP_MOD.set(&mut input, CHANGE);
            MODIFY_MASK.set(&mut input, CHANGED);
        }
        INDEX.set(&mut input, index.into());
        GROUP_OF_ENTRY.set(&mut input, entry.group.into());
        TAG.set(&mut input, entry.tag.into());
        let counts = if entry.counters.is_empty() { 0 } else { action::COUNT };
        let modifies = if entry.modification.is_some() { action::MODIFY } else { 0 };
        ACTION.set(&mut input, entry.action | counts | modifies);
        MODIFY_HEADER_ID.set(&mut input, entry.modification.unwrap_or(0).into());
        DESTINATIONS.set(&mut input, entry.destinations.len() as u64);
        COUNTERS.set(&mut input, entry.counters.len() as u64);
        input[VALUE..VALUE + MATCH_BYTES].copy_from_slice(entry.value);
        for &to in &entry.destinations {
            let mut place = [0; DESTINATION_BYTES];
            let (kind, number) = match to {
                Destination::Table(number) => (TO_TABLE, number),
                Destination::Tir(number) => (TO_TIR, number),
            };
            DESTINATION_TYPE.set(&mut place, kind);
            DESTINATION_ID.set(&mut place, number.into());
            input.extend(place);
        }
        for &counter in &entry.counters {
            let mut place = [0; DESTINATION_BYTES];
            COUNTER_ID.set(&mut place, counter.into());
            input.extend(place);
        }
        (self.carry_out)(&input).map(drop)
    }

    pub(super) fn delete_entry(&self, table: u32, index: u32) -> Result<(), Errno> {
        let mut input = self.command(DELETE_ENTRY, table, SHORT_BYTES);
        INDEX.set(&mut input, index.into());
        (self.carry_out)(&input).map(drop)
    }
}

fn set_miss(input: &mut [u8], next: Option<u32>) {
    MISS_ACTION.set(input, next.is_some().into());
    MISS_TABLE.set(input, next.unwrap_or(0).into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::{bytes, known};

    #[test]
    fn matches_and_lists_are_where_linux_has_them() {
        assert_eq!(CRITERIA * 8, known("create_flow_group_in.match_criteria").at);
        assert_eq!(VALUE * 8, known("set_fte_in.flow_context.match_value").at);
        assert_eq!(ENTRY_BYTES * 8, known("set_fte_in.flow_context.destination").at);
        assert_eq!(bytes("fte_match_param"), MATCH_BYTES);
    }
}
