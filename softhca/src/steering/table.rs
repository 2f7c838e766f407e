//! A flow table: rules at indices, in groups of one mask each. The lowest index that matches decides.

use super::key::Key;
use crate::error::{Error, Object};
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most groups of one table: a frame may be looked up in all of them.
const MAX_GROUPS: u32 = 1 << 12;

/// Which frames a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Those that arrive.
    Receive,
    /// Those that leave.
    Transmit,
    /// Copies of those that arrive.
    SniffReceived,
    /// Copies of those that leave.
    SniffTransmitted,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::Receive, Self::Transmit, Self::SniffReceived, Self::SniffTransmitted];
}

/// Treatment of frames that no rule of a table matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The default of the direction: received frames are dropped, frames to send go out.
    Default,
    /// They go on to another table.
    Table(u32),
}

/// Where a rule sends frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Destination {
    /// To another table.
    Table(u32),
    /// To a TIR.
    Tir(u32),
}

/// A rule's decision about frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They go out.
    Allow,
    /// They are dropped.
    Drop,
    /// They go to the rule's destinations.
    Forward,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The group that it belongs to.
    pub(crate) group: u32,
    /// Value of the frames under the group's mask.
    pub(crate) value: Key,
    /// Its decision.
    pub(crate) verdict: Verdict,
    /// Tag of frames, unless it is 0, 24 bits.
    pub(crate) tag: u32,
    /// The modification of frames before they go anywhere.
    pub(crate) modification: Option<u32>,
    /// With [`Verdict::Forward`]: TIRs, and at most one table, in the driver's order.
    pub(crate) destinations: Vec<Destination>,
    /// Counters of frames, in the driver's order.
    pub(crate) counters: Vec<u32>,
}

/// Rules with the same mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// First and last index.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Bits that count.
    pub(crate) mask: Key,
    /// Indices of rules by their match value.
    by_value: HashMap<Key, BTreeSet<u32>>,
}

impl Group {
    /// A group without rules.
    pub(crate) fn new(first: u32, last: u32, mask: Key) -> Self {
        Self { first, last, mask, by_value: HashMap::new() }
    }
}

/// A flow table.
#[derive(Debug)]
pub(crate) struct FlowTable {
    /// Which frames it is for.
    pub(super) direction: Direction,
    /// Frames go on to tables of higher levels only.
    pub(crate) level: u8,
    /// log2 of the indices.
    pub(crate) log_size: u8,
    /// Treatment of frames that no rule matches.
    pub(crate) miss: Miss,
    groups: Table<Group>,
    /// Groups by first index.
    in_order: BTreeMap<u32, u32>,
    entries: BTreeMap<u32, Entry>,
    /// Rules and tables that send frames here.
    pub(super) users: u32,
}

impl FlowTable {
    /// A table without groups.
    pub(super) fn new(direction: Direction, level: u8, log_size: u8, miss: Miss) -> Self {
        let groups = Table::new(Object::FlowGroup, 0, MAX_GROUPS);
        Self { direction, level, log_size, miss, groups, in_order: BTreeMap::new(), entries: BTreeMap::new(), users: 0 }
    }

    /// The rule for a frame, if there is one.
    pub(super) fn find(&self, key: &Key) -> Option<&Entry> {
        let index = self.in_order.values().find_map(|&group| {
            let group = self.groups.get(group)?;
            group.by_value.get(&key.masked(&group.mask))?.first().copied()
        })?;
        self.entries.get(&index)
    }

    /// Adds a group; refused if the table has no such indices, or they are another's.
    pub(super) fn add_group(&mut self, group: Group) -> Result<u32, Error> {
        let Group { first, last, .. } = group;
        if first > last || last >> self.log_size != 0 {
            let permitted = "a row of indices of the table";
            return Err(Error::BadValue { what: "last index of the group", value: last.into(), permitted });
        }
        let before = self.in_order.range(..=last).next_back().and_then(|(_, &group)| self.groups.get(group));
        if before.is_some_and(|before| before.last >= first) {
            let permitted = "indices that are no other group's";
            return Err(Error::BadValue { what: "first index of the group", value: first.into(), permitted });
        }
        let number = self.groups.reserve()?;
        self.in_order.insert(first, number);
        self.groups.insert(number, group);
        Ok(number)
    }

    /// A group.
    pub(crate) fn group(&self, number: u32) -> Result<&Group, Error> {
        self.groups.find(number)
    }

    /// Removes a group that has no rules.
    pub(super) fn remove_group(&mut self, number: u32) -> Result<(), Error> {
        let users = |group: &Group| group.by_value.values().map(|indices| indices.len() as u32).sum();
        let group = self.groups.remove_unused(number, users)?;
        self.in_order.remove(&group.first);
        Ok(())
    }

    /// Groups that it has.
    pub(super) fn group_count(&self) -> u32 {
        self.in_order.len() as u32
    }

    /// A rule.
    pub(crate) fn entry(&self, index: u32) -> Option<&Entry> {
        self.entries.get(&index)
    }

    /// Puts a rule at an index of its group, in place of the one there, which comes back.
    pub(super) fn set_entry(&mut self, index: u32, mut entry: Entry) -> Result<Option<Entry>, Error> {
        let group = self.groups.find(entry.group)?;
        if !(group.first..=group.last).contains(&index) {
            let permitted = "an index of the rule's group";
            return Err(Error::BadValue { what: "flow index", value: index.into(), permitted });
        }
        entry.value = entry.value.masked(&group.mask);
        let before = self.remove_entry(index);
        if let Some(group) = self.groups.get_mut(entry.group) {
            group.by_value.entry(entry.value).or_default().insert(index);
        }
        self.entries.insert(index, entry);
        Ok(before)
    }

    /// Removes a rule.
    pub(super) fn remove_entry(&mut self, index: u32) -> Option<Entry> {
        let entry = self.entries.remove(&index)?;
        if let Some(group) = self.groups.get_mut(entry.group) {
            if let Some(indices) = group.by_value.get_mut(&entry.value) {
                indices.remove(&index);
                if indices.is_empty() {
                    group.by_value.remove(&entry.value);
                }
            }
        }
        Some(entry)
    }
}
