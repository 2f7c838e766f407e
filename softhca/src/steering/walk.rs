//! All flow tables of a device, and a frame's way through them.

use super::counter::FlowCounter;
use super::key::Key;
use super::modification::{Action, Modification};
use super::passing::Passing;
use super::table::{Destination, Direction, Entry, FlowTable, Group, Miss, Verdict};
use crate::error::{Error, Object};
use crate::table::Table;

/// Most flow tables of all directions, and most flow counters.
pub(crate) const MAX_TABLES: u32 = 1 << 16;
pub(crate) const MAX_COUNTERS: u32 = 1 << 20;
/// Most rules and groups of all tables together: a rule takes about 800 bytes of the device's memory.
const MAX_RULES: u32 = 1 << 20;
const MAX_GROUPS: u32 = 1 << 16;
/// Largest table, as log2 of its rules, and the highest level: Linux puts the last of its tables at 66.
pub(crate) const MAX_LOG_SIZE: u8 = 20;
pub(crate) const MAX_LEVEL: u8 = 127;
/// Most destinations of a rule, and most counters.
pub(crate) const MAX_TARGETS: usize = 16;
/// Most modifications, and most actions of one: DPDK counts on 16 in the root's table
/// (`drivers/net/mlx5/mlx5_flow.h`, `MLX5_ROOT_TBL_MODIFY_NUM`).
pub(crate) const MAX_MODIFICATIONS: u32 = 1 << 16;
pub(crate) const MAX_ACTIONS: usize = 16;
/// Most TIRs that a frame goes to, by the rules of all tables on its way. Those past it get no copy.
const MAX_COPIES: usize = 256;

/// The decision about a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// It goes out; of received frames, never.
    pub(crate) allowed: bool,
    /// TIRs that it goes to.
    pub(crate) copies: Vec<FrameCopy>,
}

/// A copy of a frame for a TIR, as the rules up to there have made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameCopy {
    pub(crate) tir: u32,
    /// Its tag; 0 is none.
    pub(crate) tag: u32,
    /// Register B.
    pub(crate) metadata: u32,
    /// Its bytes, as [`Passing::version`] has them.
    pub(crate) version: usize,
}

/// All flow tables.
#[derive(Debug)]
pub(crate) struct Steering {
    /// Tables of all directions. No two have the same number, because owners are kept by number.
    tables: Table<FlowTable>,
    /// By direction.
    roots: [Option<u32>; Direction::ALL.len()],
    counters: Table<FlowCounter>,
    modifications: Table<Modification>,
    rules: Quota,
    groups: Quota,
}

/// How many objects of a kind there are in all tables.
#[derive(Debug)]
struct Quota {
    object: Object,
    count: u32,
    limit: u32,
}

impl Quota {
    fn new(object: Object, limit: u32) -> Self {
        Self { object, count: 0, limit }
    }

    /// Refuses one more than the limit.
    fn check(&self) -> Result<(), Error> {
        match self.count < self.limit {
            true => Ok(()),
            false => Err(Error::Exhausted { object: self.object, limit: self.limit }),
        }
    }
}

impl Default for Steering {
    fn default() -> Self {
        Self::with_limits(MAX_RULES, MAX_GROUPS)
    }
}

impl Steering {
    /// No tables, and at most `rules` rules and `groups` groups.
    fn with_limits(rules: u32, groups: u32) -> Self {
        Self {
            tables: Table::new(Object::FlowTable, 1, MAX_TABLES),
            roots: Direction::ALL.map(|_| None),
            counters: Table::new(Object::FlowCounter, 1, MAX_COUNTERS),
            modifications: Table::new(Object::ModifyHeader, 1, MAX_MODIFICATIONS),
            rules: Quota::new(Object::FlowRule, rules),
            groups: Quota::new(Object::FlowGroup, groups),
        }
    }

    /// Decides about a frame. Counters of the rules on its way count it, and modifications modify it.
    pub(crate) fn decide(&mut self, direction: Direction, passing: &mut Passing<'_>) -> Decision {
        let default = direction == Direction::Transmit;
        let mut decision = Decision::default();
        let (tables, counters) = (&self.tables, &mut self.counters);
        let octets = passing.frame().0.len() as u64;
        let (mut next, mut tag) = (self.roots[direction as usize], 0);
        // Without a root, or past the last table, the direction's default holds.
        while let Some(table) = next.and_then(|number| tables.get(number)) {
            let Some(entry) = table.find(&passing.key) else {
                next = match table.miss {
                    Miss::Default => None,
                    Miss::Table(number) => Some(number),
                };
                continue;
            };
            for &counter in &entry.counters {
                if let Some(counter) = counters.get_mut(counter) {
                    counter.add(octets);
                }
            }
            if entry.tag != 0 {
                tag = entry.tag;
            }
            if let Some(modification) = entry.modification.and_then(|number| self.modifications.get(number)) {
                modification.apply(passing);
            }
            match entry.verdict {
                Verdict::Allow => return Decision { allowed: default, ..decision },
                Verdict::Drop => return decision,
                Verdict::Forward => {}
            }
            next = None;
            let metadata = passing.registers.b;
            for &destination in &entry.destinations {
                match destination {
                    Destination::Tir(tir) if decision.copies.len() < MAX_COPIES => {
                        let version = passing.keep();
                        decision.copies.push(FrameCopy { tir, tag, metadata, version });
                    }
                    Destination::Tir(_) => {}
                    Destination::Table(number) => next = Some(number),
                }
            }
            if next.is_none() {
                return decision;
            }
        }
        Decision { allowed: default, ..decision }
    }

    /// Makes a table.
    pub(crate) fn create_table(
        &mut self,
        direction: Direction,
        level: u8,
        log_size: u8,
        miss: Miss,
    ) -> Result<u32, Error> {
        let check = |what, value: u8, limit: u8, permitted| match value {
            value if value > limit => Err(Error::BadValue { what, value: value.into(), permitted }),
            _ => Ok(()),
        };
        check("level", level, MAX_LEVEL, "up to the device's max_ft_level")?;
        check("log2 of rules", log_size, MAX_LOG_SIZE, "up to the device's log_max_ft_size")?;
        self.check_way(direction, level, miss)?;
        let number = self.tables.reserve()?;
        self.count_miss(miss, 1);
        self.tables.insert(number, FlowTable::new(direction, level, log_size, miss));
        Ok(number)
    }

    /// A table of this direction.
    pub(crate) fn table(&self, direction: Direction, number: u32) -> Result<&FlowTable, Error> {
        let missing = Error::NoSuch { object: Object::FlowTable, number };
        self.tables.get(number).filter(|table| table.direction == direction).ok_or(missing)
    }

    fn table_mut(&mut self, direction: Direction, number: u32) -> Result<&mut FlowTable, Error> {
        self.table(direction, number)?;
        self.tables.find_mut(number)
    }

    /// Changes where frames go that no rule of a table matches.
    pub(crate) fn set_miss(&mut self, direction: Direction, number: u32, miss: Miss) -> Result<(), Error> {
        let table = self.table(direction, number)?;
        let before = table.miss;
        self.check_way(direction, table.level, miss)?;
        self.count_miss(miss, 1);
        self.count_miss(before, -1);
        self.table_mut(direction, number)?.miss = miss;
        Ok(())
    }

    /// Removes a table that has no groups, and that no rule and no other table sends frames to. If it was the root, no
    /// root is left.
    pub(crate) fn destroy_table(&mut self, direction: Direction, number: u32) -> Result<(), Error> {
        self.table(direction, number)?;
        let table = self.tables.remove_unused(number, |table| table.users + table.group_count())?;
        self.count_miss(table.miss, -1);
        let root = &mut self.roots[direction as usize];
        *root = root.filter(|&root| root != number);
        Ok(())
    }

    /// Says with which table the way of frames begins; `None`: with none.
    pub(crate) fn set_root(&mut self, direction: Direction, root: Option<u32>) -> Result<(), Error> {
        if let Some(number) = root {
            self.table(direction, number)?;
        }
        self.roots[direction as usize] = root;
        Ok(())
    }

    /// Whether the way of frames begins with a table.
    pub(crate) fn has_root(&self, direction: Direction) -> bool {
        self.roots[direction as usize].is_some()
    }

    /// Adds a group of rules to a table.
    pub(crate) fn create_group(&mut self, direction: Direction, table: u32, group: Group) -> Result<u32, Error> {
        if let Some(byte) = group.mask.outside(&Key::supported()) {
            let permitted = "fields that the device says it can match";
            return Err(Error::BadValue { what: "byte of the match criteria", value: byte as u64, permitted });
        }
        self.groups.check()?;
        let number = self.table_mut(direction, table)?.add_group(group)?;
        self.groups.count += 1;
        Ok(number)
    }

    /// Removes a group that has no rules.
    pub(crate) fn destroy_group(&mut self, direction: Direction, table: u32, group: u32) -> Result<(), Error> {
        self.table_mut(direction, table)?.remove_group(group)?;
        self.groups.count -= 1;
        Ok(())
    }

    /// Puts a rule at an index of a table, in place of the one there, which comes back. Its TIRs are the caller's to
    /// check.
    pub(crate) fn set_entry(
        &mut self,
        direction: Direction,
        table: u32,
        index: u32,
        entry: Entry,
    ) -> Result<Option<Entry>, Error> {
        self.check_entry(direction, table, &entry)?;
        if self.table(direction, table)?.entry(index).is_none() {
            self.rules.check()?;
        }
        let (next, counters, modification) = (next_table(&entry), entry.counters.clone(), entry.modification);
        let before = self.table_mut(direction, table)?.set_entry(index, entry)?;
        self.count_table(next, 1);
        self.count_counters(&counters, 1);
        self.count_modification(modification, 1);
        match &before {
            Some(before) => self.release(before),
            None => self.rules.count += 1,
        }
        Ok(before)
    }

    /// Removes a rule, which comes back.
    pub(crate) fn remove_entry(&mut self, direction: Direction, table: u32, index: u32) -> Result<Entry, Error> {
        let removed = self.table_mut(direction, table)?.remove_entry(index);
        let permitted = "the index of a rule";
        let entry = removed.ok_or(Error::BadValue { what: "flow index", value: index.into(), permitted })?;
        self.release(&entry);
        self.rules.count -= 1;
        Ok(entry)
    }

    /// How many tables, groups, rules, counters and modifications there are.
    pub(crate) fn contexts(&self) -> usize {
        let numbered = self.tables.len() + self.counters.len() + self.modifications.len();
        numbered + (self.groups.count + self.rules.count) as usize
    }

    /// Makes a flow counter.
    pub(crate) fn create_counter(&mut self) -> Result<u32, Error> {
        let number = self.counters.reserve()?;
        self.counters.insert(number, FlowCounter::default());
        Ok(number)
    }

    /// Returns the counts of a flow counter, and sets them to 0 if `clear` is set.
    pub(crate) fn read_counter(&mut self, number: u32, clear: bool) -> Result<FlowCounter, Error> {
        Ok(self.counters.find_mut(number)?.read(clear))
    }

    /// Removes a flow counter that no rule counts with.
    pub(crate) fn destroy_counter(&mut self, number: u32) -> Result<(), Error> {
        self.counters.remove_unused(number, |counter| counter.users).map(drop)
    }

    /// Makes a modification of frames of one direction.
    pub(crate) fn create_modification(&mut self, direction: Direction, actions: Vec<Action>) -> Result<u32, Error> {
        if !(1..=MAX_ACTIONS).contains(&actions.len()) {
            let (value, permitted) = (actions.len() as u64, "1 up to the device's max_modify_header_actions");
            return Err(Error::BadValue { what: "number of actions", value, permitted });
        }
        let number = self.modifications.reserve()?;
        self.modifications.insert(number, Modification { direction, actions, users: 0 });
        Ok(number)
    }

    /// Removes a modification that no rule names.
    pub(crate) fn destroy_modification(&mut self, number: u32) -> Result<(), Error> {
        self.modifications.remove_unused(number, |modification| modification.users).map(drop)
    }

    /// Whether a rule's verdict fits its direction and its destinations, and all that it names exists.
    fn check_entry(&self, direction: Direction, table: u32, entry: &Entry) -> Result<(), Error> {
        let level = self.table(direction, table)?.level;
        let receives = direction != Direction::Transmit;
        if entry.verdict == Verdict::Allow && receives {
            return Err(Error::Unsupported("a rule of received or copied frames that allows them"));
        }
        let onward = entry.destinations.iter().filter(|to| matches!(to, Destination::Table(_))).count();
        if onward > 1 {
            // More would let a few rules make any number of copies.
            return Err(Error::Unsupported("a rule with more than one table to go on to"));
        }
        if !receives && onward < entry.destinations.len() {
            return Err(Error::Unsupported("a TIR as the destination of frames that leave"));
        }
        let forwards = entry.verdict == Verdict::Forward;
        for (what, found, ok) in [
            ("destinations", entry.destinations.len(), forwards != entry.destinations.is_empty()),
            ("destinations", entry.destinations.len(), entry.destinations.len() <= MAX_TARGETS),
            ("flow counters", entry.counters.len(), entry.counters.len() <= MAX_TARGETS),
        ] {
            if !ok {
                let permitted = "1 to 16 with a forward, else none; up to 16 counters";
                return Err(Error::BadValue { what, value: found as u64, permitted });
            }
        }
        for &counter in &entry.counters {
            self.counters.find(counter)?;
        }
        if let Some(number) = entry.modification {
            if self.modifications.find(number)?.direction != direction {
                return Err(Error::Unsupported("a modify header context of another table type"));
            }
        }
        next_table(entry).map_or(Ok(()), |number| self.check_way(direction, level, Miss::Table(number)))
    }

    /// A rule is gone: the objects that it named have one user less.
    fn release(&mut self, entry: &Entry) {
        self.count_table(next_table(entry), -1);
        self.count_counters(&entry.counters, -1);
        self.count_modification(entry.modification, -1);
    }

    fn count_modification(&mut self, number: Option<u32>, users: i32) {
        if let Some(modification) = number.and_then(|number| self.modifications.get_mut(number)) {
            modification.users = modification.users.saturating_add_signed(users);
        }
    }

    fn count_counters(&mut self, counters: &[u32], users: i32) {
        for &number in counters {
            if let Some(counter) = self.counters.get_mut(number) {
                counter.users = counter.users.saturating_add_signed(users);
            }
        }
    }

    /// Refuses a jump to a table that does not exist, has another direction, or has no higher level: frames could loop.
    fn check_way(&self, direction: Direction, level: u8, to: Miss) -> Result<(), Error> {
        let Miss::Table(number) = to else { return Ok(()) };
        let found = self.table(direction, number)?.level;
        if found <= level {
            let permitted = "above that of the table before";
            return Err(Error::BadValue { what: "level of the next table", value: found.into(), permitted });
        }
        Ok(())
    }

    fn count_miss(&mut self, miss: Miss, users: i32) {
        if let Miss::Table(number) = miss {
            self.count_table(Some(number), users);
        }
    }

    fn count_table(&mut self, number: Option<u32>, users: i32) {
        if let Some(table) = number.and_then(|number| self.tables.get_mut(number)) {
            table.users = table.users.saturating_add_signed(users);
        }
    }
}

/// The table to which a rule sends frames on, if it does.
fn next_table(entry: &Entry) -> Option<u32> {
    entry.destinations.iter().find_map(|&to| match to {
        Destination::Table(number) => Some(number),
        Destination::Tir(_) => None,
    })
}

#[cfg(test)]
mod tests;
