//! Flow tables as a kernel's driver keeps them for programs (Linux `drivers/infiniband/hw/mlx5/fs.c`, and below it
//! `drivers/net/ethernet/mellanox/mlx5/core/fs_core.c`). Each priority that has rules has a table. Frames go along the
//! chain of tables until a rule matches. Each table has a group for each mask.
//!
//! ```text
//!  root ──> priority 0 ── no match ──> priority 3 ── no match ──> leftovers ── no match: dropped
//!              │ group, mask A: entry, entry     └─ match: to TIRs; "do not trap" also goes on
//!              └ group, mask B: entry
//! ```

use super::flow_commands::{Destination, EntryContext, FlowCommands, action};
use super::flow_match::{FlowMatch, MATCH_BYTES};
use crate::process::Errno;
use std::collections::BTreeMap;

/// Entries of a table (`MLX5_FS_MAX_ENTRIES`), and groups that it is shared out to (`MLX5_FS_MAX_TYPES`).
const MAX_ENTRIES: u32 = 1 << 16;
const MAX_TYPES: u32 = 6;

/// Priorities of programs, each once for rules that do not trap and once for those that do; then one for rules that
/// match groups of stations alone, and one for all remaining frames.
const PROGRAMS: u8 = 16;
const MULTICAST: u8 = 2 * PROGRAMS;
const LEFTOVERS: u8 = MULTICAST + 1;
/// Rules for the remaining frames: those to groups of stations, and those to single ones.
const LEFTOVER_RULES: u32 = 2;

/// Which table a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowPriority {
    /// A priority of programs.
    Program(u8),
    /// Frames for groups of stations alone.
    Multicast,
    /// The frames that no other rule takes.
    Leftovers,
    /// Copies of all frames.
    Sniffer,
}

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct FlowRule {
    pub(crate) priority: FlowPriority,
    pub(crate) matching: FlowMatch,
    /// Tag of frames, if the rule has one.
    pub(crate) tag: Option<u32>,
    /// The list of actions that modify its frames, if it has one.
    pub(crate) modification: Option<u32>,
    pub(crate) drops: bool,
    /// Frames go on to the next priority, besides.
    pub(crate) goes_on: bool,
    /// Where received frames go. Those that leave, a rule lets through.
    pub(crate) tirn: Option<u32>,
    /// The flow counter that counts its frames, if any.
    pub(crate) counter: Option<u32>,
}

impl FlowRule {
    /// Its place in the chain (`ib_prio_to_core_prio`).
    fn place(&self) -> Result<u8, Errno> {
        match self.priority {
            // As the kernel says it.
            FlowPriority::Program(PROGRAMS..) => Err(Errno::ENOMEM),
            FlowPriority::Program(priority) => Ok(2 * priority + u8::from(!self.goes_on)),
            FlowPriority::Multicast => Ok(MULTICAST),
            FlowPriority::Leftovers => Ok(LEFTOVERS),
            // The only table of its direction.
            FlowPriority::Sniffer => Ok(0),
        }
    }

    fn targets(&self) -> Vec<Target> {
        let counter = self.counter.map(Target::Counter);
        let tir = if self.drops { None } else { self.tirn };
        let onward = (self.goes_on && !self.drops).then_some(Target::Onward);
        [Some(tir.map_or(Target::Nowhere, Target::Tir)), onward, counter].into_iter().flatten().collect()
    }
}

/// A rule that is there, to remove it.
#[derive(Debug)]
pub(crate) struct FlowHandle {
    place: u8,
    group: u32,
    index: u32,
    targets: Vec<Target>,
}

/// Where an entry sends frames. A counter is a destination, too, as in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Tir(u32),
    Onward,
    /// It drops them, or lets them through.
    Nowhere,
    Counter(u32),
}

/// An entry: several rules can match the same, and then frames go where each of them says.
struct Entry {
    matching: FlowMatch,
    tag: u32,
    modification: Option<u32>,
    drops: bool,
    /// How many rules say so.
    targets: BTreeMap<Target, u32>,
}

struct Group {
    number: u32,
    mask: Box<[u8; MATCH_BYTES]>,
    first: u32,
    size: u32,
    entries: BTreeMap<u32, Entry>,
}

struct Table {
    number: u32,
    entries: u32,
    /// Entries of a group, until there are too many groups; 0: one.
    group_size: u32,
    /// By first index.
    groups: Vec<Group>,
}

/// All tables of one type, by place in the chain.
pub(crate) struct FlowTables {
    chain: BTreeMap<u8, Table>,
    /// Entries of the largest table that the device has.
    most_entries: u32,
}

impl FlowTables {
    /// None yet, on a device whose tables have up to two to the power of `log_most` entries.
    pub(super) fn new(log_most: u32) -> Self {
        Self { chain: BTreeMap::new(), most_entries: 1_u32.checked_shl(log_most).unwrap_or(MAX_ENTRIES) }
    }

    /// Adds a rule: `EEXIST` if another one that matches the same does otherwise.
    pub(super) fn add(&mut self, commands: &FlowCommands<'_>, rule: &FlowRule) -> Result<FlowHandle, Errno> {
        let place = rule.place()?;
        // A field that does not count must not be set.
        if rule.matching.value.iter().zip(&*rule.matching.mask).any(|(value, mask)| value & !mask != 0) {
            return Err(Errno::EINVAL);
        }
        if !self.chain.contains_key(&place) {
            self.add_table(commands, place)?;
        }
        let next = self.after(place);
        let table = self.chain.get_mut(&place).ok_or(Errno::EINVAL)?;
        let added = table.add(commands, rule, next);
        if added.is_err() {
            self.remove_if_empty(commands, place);
        }
        let (group, index) = added?;
        Ok(FlowHandle { place, group, index, targets: rule.targets() })
    }

    /// Removes a rule.
    pub(super) fn remove(&mut self, commands: &FlowCommands<'_>, handle: &FlowHandle) -> Result<(), Errno> {
        let next = self.after(handle.place);
        let table = self.chain.get_mut(&handle.place).ok_or(Errno::EINVAL)?;
        table.remove(commands, handle, next)?;
        self.remove_if_empty(commands, handle.place);
        Ok(())
    }

    /// The table after `place`.
    fn after(&self, place: u8) -> Option<u32> {
        self.chain.range(place + 1..).next().map(|(_, table)| table.number)
    }

    fn add_table(&mut self, commands: &FlowCommands<'_>, place: u8) -> Result<(), Errno> {
        let (most, types) = match place {
            _ if commands.sniffs() => (1, 1),
            LEFTOVERS => (LEFTOVER_RULES, LEFTOVER_RULES),
            _ => (MAX_ENTRIES, MAX_TYPES),
        };
        let entries = most.min(self.most_entries);
        let log_size = entries.ilog2() as u8;
        // Tables may send frames on to higher levels only.
        let number = commands.create_table(place + 1, log_size, self.after(place))?;
        let group_size = entries / (types + 1);
        if let Err(error) = self.lead_to(commands, place, Some(number)) {
            undone(self.lead_to(commands, place, self.after(place)));
            undone(commands.destroy_table(number));
            return Err(error);
        }
        self.chain.insert(place, Table { number, entries, group_size, groups: Vec::new() });
        Ok(())
    }

    /// Removes a table without rules. If it cannot go, it stays in the chain, where it does nothing.
    fn remove_if_empty(&mut self, commands: &FlowCommands<'_>, place: u8) {
        let Some(table) = self.chain.get(&place).filter(|table| table.groups.is_empty()) else { return };
        let number = table.number;
        let gone = self.lead_to(commands, place, self.after(place)).and_then(|()| commands.destroy_table(number));
        if gone.is_ok() {
            self.chain.remove(&place);
        } else {
            undone(self.lead_to(commands, place, Some(number)));
        }
    }

    /// Makes the table before `place` in the chain continue with table `to`.
    fn lead_to(&mut self, commands: &FlowCommands<'_>, place: u8, to: Option<u32>) -> Result<(), Errno> {
        let Some((_, before)) = self.chain.range_mut(..place).next_back() else { return commands.set_root(to) };
        commands.set_next(before.number, to)?;
        for group in &before.groups {
            for (&index, entry) in &group.entries {
                if entry.targets.contains_key(&Target::Onward) {
                    commands.set_entry(before.number, index, &entry.context(commands, group.number, to), true)?;
                }
            }
        }
        Ok(())
    }
}

impl Table {
    /// Adds a rule; the group and the index of its entry.
    fn add(&mut self, commands: &FlowCommands<'_>, rule: &FlowRule, next: Option<u32>) -> Result<(u32, u32), Errno> {
        let same_mask = |group: &&mut Group| group.mask == rule.matching.mask;
        for group in self.groups.iter_mut().filter(same_mask) {
            let number = group.number;
            let found = group.entries.iter_mut().find(|(_, entry)| entry.matching.value == rule.matching.value);
            if let Some((&index, entry)) = found {
                entry.join(rule)?;
                let context = entry.context(commands, number, next);
                if let Err(error) = commands.set_entry(self.number, index, &context, true) {
                    entry.leave(&rule.targets());
                    return Err(error);
                }
                return Ok((number, index));
            }
        }
        let number = match self
            .groups
            .iter()
            .find(|group| group.mask == rule.matching.mask && group.entries.len() < group.size as usize)
        {
            Some(group) => group.number,
            None => self.add_group(commands, &rule.matching)?,
        };
        let group = self.groups.iter_mut().find(|group| group.number == number).ok_or(Errno::EINVAL)?;
        let index = (group.first..).find(|index| !group.entries.contains_key(index)).ok_or(Errno::ENOSPC)?;
        let mut entry = Entry {
            matching: rule.matching.clone(),
            tag: rule.tag.unwrap_or(0),
            modification: rule.modification,
            drops: rule.drops,
            targets: BTreeMap::new(),
        };
        entry.join(rule)?;
        match commands.set_entry(self.number, index, &entry.context(commands, number, next), false) {
            Ok(()) => {
                group.entries.insert(index, entry);
                Ok((number, index))
            }
            Err(error) => {
                self.remove_if_empty(commands, number);
                Err(error)
            }
        }
    }

    /// Adds a group in the first gap that is wide enough (`alloc_auto_flow_group`).
    fn add_group(&mut self, commands: &FlowCommands<'_>, matching: &FlowMatch) -> Result<u32, Errno> {
        let wide = self.groups.iter().filter(|group| group.size == self.group_size).count();
        let size = if wide < MAX_TYPES as usize { self.group_size.max(1) } else { 1 };
        let (mut first, mut at) = (0, 0);
        for group in &self.groups {
            if first + size <= group.first {
                break;
            }
            (first, at) = (group.first + group.size, at + 1);
        }
        if first + size > self.entries {
            return Err(Errno::ENOSPC);
        }
        let number = commands.create_group(self.number, (first, first + size - 1), matching)?;
        self.groups.insert(at, Group { number, mask: matching.mask.clone(), first, size, entries: BTreeMap::new() });
        Ok(number)
    }

    fn remove(&mut self, commands: &FlowCommands<'_>, handle: &FlowHandle, next: Option<u32>) -> Result<(), Errno> {
        let group = self.groups.iter_mut().find(|group| group.number == handle.group).ok_or(Errno::EINVAL)?;
        let entry = group.entries.get_mut(&handle.index).ok_or(Errno::EINVAL)?;
        let before = entry.targets.clone();
        entry.leave(&handle.targets);
        let done = if entry.targets.is_empty() {
            commands.delete_entry(self.number, handle.index)
        } else {
            commands.set_entry(self.number, handle.index, &entry.context(commands, handle.group, next), true)
        };
        if done.is_err() {
            entry.targets = before;
            return done;
        }
        if entry.targets.is_empty() {
            group.entries.remove(&handle.index);
        }
        self.remove_if_empty(commands, handle.group);
        Ok(())
    }

    fn remove_if_empty(&mut self, commands: &FlowCommands<'_>, number: u32) {
        let empty = |group: &Group| group.number == number && group.entries.is_empty();
        if let Some(at) = self.groups.iter().position(empty) {
            if commands.destroy_group(self.number, number).is_ok() {
                self.groups.remove(at);
            }
        }
    }
}

impl Entry {
    /// A rule with the same match must have the same action (`check_conflicting_ftes`). Of two lists that modify headers,
    /// the first one holds: the kernel does not compare them.
    fn join(&mut self, rule: &FlowRule) -> Result<(), Errno> {
        let modifies = rule.modification.is_some() == self.modification.is_some();
        if rule.drops != self.drops || !modifies || rule.tag.is_some_and(|tag| tag != self.tag) {
            return Err(Errno::EEXIST);
        }
        for target in rule.targets() {
            *self.targets.entry(target).or_default() += 1;
        }
        Ok(())
    }

    /// A rule with these targets is gone.
    fn leave(&mut self, targets: &[Target]) {
        for target in targets {
            if let Some(users) = self.targets.get_mut(target) {
                *users -= 1;
            }
        }
        self.targets.retain(|_, users| *users > 0);
    }

    fn context(&self, commands: &FlowCommands<'_>, group: u32, next: Option<u32>) -> EntryContext<'_> {
        let destination = |target: &Target| match *target {
            Target::Tir(tirn) => Some(Destination::Tir(tirn)),
            Target::Onward => next.map(Destination::Table),
            Target::Nowhere | Target::Counter(_) => None,
        };
        let counter = |target: &Target| match *target {
            Target::Counter(number) => Some(number),
            _ => None,
        };
        // The table comes last, since targets are in order.
        let destinations: Vec<_> = self.targets.keys().filter_map(destination).collect();
        let action = match (self.drops, commands.sends()) {
            (true, _) => action::DROP,
            (false, false) => action::FORWARD,
            (false, true) => action::ALLOW,
        };
        let counters = self.targets.keys().filter_map(counter).collect();
        let (tag, modification) = (self.tag, self.modification);
        EntryContext { group, tag, action, modification, value: &self.matching.value, destinations, counters }
    }
}

/// Taking something back has failed: the device has more than it should have.
fn undone(result: Result<(), Errno>) {
    if let Err(error) = result {
        log::warn!("a flow table stays: {error:?}");
    }
}

#[cfg(test)]
mod tests;
