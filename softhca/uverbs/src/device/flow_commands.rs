//! Commands on flow tables, as the kernel's driver gives them (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c`).

use super::flow_match::{FlowMatch, MATCH_BYTES};
use crate::abi::mailbox::{self, Field, HEADER_BYTES, OP_MOD, creator, field};
use crate::process::Errno;
use softhca::firmware::DRIVER;

/// Fields of all commands on flow tables, and of the command that makes one.
const TABLE_TYPE: Field = field(0x80, 8);
const TABLE: Field = field(0xa8, 24);
const CREATED: Field = field(0x48, 24);
/// `flow_table_context`, which all commands have in the same place.
const MISS_ACTION: Field = field(0xc4, 4);
const LEVEL: Field = field(0xc8, 8);
const LOG_SIZE: Field = field(0xd8, 8);
const MISS_TABLE: Field = field(0xe8, 24);
/// Of `modify_flow_table_in`, and the one thing that is modified (`MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID`).
const MODIFY_SELECT: Field = field(0x70, 16);
const MODIFY_MISS: u64 = 1;
const TABLE_BYTES: usize = 0x40;
const MODIFY_TABLE: u16 = 0x93c;
const DESTROY_TABLE: u16 = 0x931;
const SET_ROOT: u16 = 0x92f;
/// `op_mod` of `SET_FLOW_TABLE_ROOT` that says there is none.
const NO_ROOT: u64 = 1;

/// Of `create_flow_group_in`, and of `destroy_flow_group_in`.
const GROUP_BYTES: usize = 0x400;
const FIRST: Field = field(0xe0, 32);
const LAST: Field = field(0x120, 32);
const CRITERIA_ENABLE: Field = field(0x1f8, 8);
const CRITERIA: usize = 0x40;
const GROUP: Field = field(0xc0, 32);
const DESTROY_GROUP: u16 = 0x934;
const SHORT_BYTES: usize = 0x40;

/// Of `set_fte_in`, which destinations follow, then counters; and of `delete_fte_in`.
const ENTRY_BYTES: usize = 0x340;
const MODIFY_MASK: Field = field(0xd8, 8);
const INDEX: Field = field(0x100, 32);
const GROUP_OF_ENTRY: Field = field(0x220, 32);
const TAG: Field = field(0x248, 24);
const ACTION: Field = field(0x270, 16);
const DESTINATIONS: Field = field(0x288, 24);
const COUNTERS: Field = field(0x2a8, 24);
const VALUE: usize = 0x80;
const DELETE_ENTRY: u16 = 0x938;
/// `op_mod` that changes an entry, and the changed parts (`MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`): action, destinations
/// and counters.
const CHANGE: u64 = 1;
const CHANGED: u64 = 1 | 1 << 2 | 1 << 3;
/// Of `dest_format_struct`.
const DESTINATION_BYTES: usize = 8;
const DESTINATION_TYPE: Field = field(0x0, 8);
const DESTINATION_ID: Field = field(0x8, 24);
/// Of `flow_counter_list`, as long as a destination.
const COUNTER_ID: Field = field(0x0, 32);
/// `MLX5_IFC_FLOW_DESTINATION_TYPE_*`.
const TO_TABLE: u64 = 1;
const TO_TIR: u64 = 2;

/// `MLX5_FLOW_CONTEXT_ACTION_*`.
pub(super) mod action {
    pub(in crate::device) const ALLOW: u64 = 1;
    pub(in crate::device) const DROP: u64 = 2;
    pub(in crate::device) const FORWARD: u64 = 4;
    pub(in crate::device) const COUNT: u64 = 8;
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
        (self.carry_out)(&input).map(|output| CREATED.get32(&output))
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
        (self.carry_out)(&input).map(|output| CREATED.get32(&output))
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
        ACTION.set(&mut input, entry.action | counts);
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
    fn tables_are_where_linux_has_them() {
        for command in ["create_flow_table_in", "modify_flow_table_in"] {
            let context = |name: &str| known(&format!("{command}.flow_table_context.{name}"));
            assert_eq!(
                [MISS_ACTION, LEVEL, LOG_SIZE, MISS_TABLE],
                ["table_miss_action", "level", "log_size", "table_miss_id"].map(context),
                "{command}"
            );
            assert_eq!(bytes(command), TABLE_BYTES);
            assert_eq!(TABLE_TYPE, known(&format!("{command}.table_type")));
        }
        assert_eq!(CREATED, known("create_flow_table_out.table_id"));
        assert_eq!(MODIFY_SELECT, known("modify_flow_table_in.modify_field_select"));
        for command in [
            "modify_flow_table_in",
            "set_flow_table_root_in",
            "destroy_flow_table_in",
            "create_flow_group_in",
            "destroy_flow_group_in",
            "set_fte_in",
            "delete_fte_in",
        ] {
            let fields = ["table_type", "table_id"].map(|name| known(&format!("{command}.{name}")));
            assert_eq!([TABLE_TYPE, TABLE], fields, "{command}");
        }
        let short = ["set_flow_table_root_in", "destroy_flow_table_in", "destroy_flow_group_in", "delete_fte_in"];
        assert_eq!([SHORT_BYTES; 4], short.map(bytes));
    }

    #[test]
    fn groups_and_entries_are_where_linux_has_them() {
        let group = |name: &str| known(&format!("create_flow_group_in.{name}"));
        assert_eq!(
            [FIRST, LAST, CRITERIA_ENABLE],
            ["start_flow_index", "end_flow_index", "match_criteria_enable"].map(group)
        );
        assert_eq!((CRITERIA * 8, GROUP_BYTES), (group("match_criteria").at, bytes("create_flow_group_in")));
        assert_eq!([CREATED, GROUP], ["create_flow_group_out.group_id", "destroy_flow_group_in.group_id"].map(known));
        let context = |name: &str| known(&format!("set_fte_in.flow_context.{name}"));
        assert_eq!(
            [GROUP_OF_ENTRY, TAG, ACTION, DESTINATIONS, COUNTERS],
            ["group_id", "flow_tag", "action", "destination_list_size", "flow_counter_list_size"].map(context)
        );
        assert_eq!((VALUE * 8, ENTRY_BYTES), (context("match_value").at, bytes("set_fte_in")));
        assert_eq!(ENTRY_BYTES * 8, context("destination").at);
        let fields = ["set_fte_in.modify_enable_mask", "set_fte_in.flow_index", "delete_fte_in.flow_index"].map(known);
        assert_eq!([MODIFY_MASK, INDEX, INDEX], fields);
        let destination = |name: &str| known(&format!("dest_format_struct.{name}"));
        assert_eq!([DESTINATION_TYPE, DESTINATION_ID], ["destination_type", "destination_id"].map(destination));
        assert_eq!(COUNTER_ID, known("flow_counter_list.flow_counter_id"));
        assert_eq!(["dest_format_struct", "flow_counter_list"].map(bytes), [DESTINATION_BYTES; 2]);
        assert_eq!(bytes("fte_match_param"), MATCH_BYTES);
    }
}
