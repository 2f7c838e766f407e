//! Tables against a device that keeps to the rules, and refuses a command now and then.

use super::super::flow_commands::FlowDirection;
use super::*;
use crate::abi::mailbox::{Field, HEADER_BYTES, OP_MOD, OPCODE, field};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

const TABLE: Field = field(0xa8, 24);
const INDEX: Field = field(0x100, 32);
const GROUP: Field = field(0xc0, 32);
const MISS: Field = field(0xe8, 24);
const LEVEL: Field = field(0xc8, 8);

/// A table of the device.
#[derive(Default)]
struct Made {
    level: u64,
    next: u32,
    groups: BTreeSet<u32>,
    entries: BTreeMap<u32, Vec<u8>>,
}

/// A device's tables.
#[derive(Default)]
struct Tables {
    tables: BTreeMap<u32, Made>,
    root: u32,
    last: u32,
    commands: u32,
    /// The command that is refused.
    refused: Option<u32>,
}

impl Tables {
    /// Carries a command out. Panics on a command that a driver must not send.
    fn carry_out(&mut self, input: &[u8]) -> Result<[u8; HEADER_BYTES], Errno> {
        self.commands += 1;
        if self.refused == Some(self.commands) {
            return Err(Errno::EAGAIN);
        }
        let (table, mut output) = (TABLE.get32(input), [0; HEADER_BYTES]);
        let next = MISS.get32(input);
        let opcode = OPCODE.get(input);
        if matches!(opcode, 0x930 | 0x93c) && next != 0 {
            let level = if opcode == 0x930 { LEVEL.get(input) } else { self.tables[&table].level };
            assert!(self.tables[&next].level > level, "only up");
        }
        match opcode {
            0x930 => {
                self.last += 1;
                self.tables.insert(self.last, Made { level: LEVEL.get(input), next, ..Made::default() });
                field(0x48, 24).set(&mut output, self.last.into());
            }
            0x93c => self.tables.get_mut(&table).unwrap().next = next,
            0x931 => {
                assert!(self.root != table && self.tables.values().all(|other| other.next != table), "in use");
                assert!(self.tables.remove(&table).unwrap().groups.is_empty());
            }
            0x92f => {
                self.root = if OP_MOD.get(input) == 0 { table } else { 0 };
                assert!(self.root == 0 || self.tables.contains_key(&self.root));
            }
            0x933 => {
                self.last += 1;
                assert!(self.tables.get_mut(&table).unwrap().groups.insert(self.last));
                field(0x48, 24).set(&mut output, self.last.into());
            }
            0x934 => assert!(self.tables.get_mut(&table).unwrap().groups.remove(&GROUP.get32(input))),
            0x936 => {
                let before = self.tables.get_mut(&table).unwrap().entries.insert(INDEX.get32(input), input.to_vec());
                assert_eq!(before.is_some(), OP_MOD.get(input) == 1);
            }
            0x938 => drop(self.tables.get_mut(&table).unwrap().entries.remove(&INDEX.get32(input)).unwrap()),
            other => panic!("{other:#x}"),
        }
        Ok(output)
    }

    /// Tables on the way, as levels, and how many entries each has.
    fn way(&self) -> Vec<(u64, usize)> {
        let mut way = Vec::new();
        let mut next = self.root;
        while let Some(table) = self.tables.get(&next) {
            way.push((table.level, table.entries.len()));
            next = table.next;
        }
        assert_eq!(way.len(), self.tables.len(), "no table is off the way");
        way
    }
}

fn rule(priority: FlowPriority, value: u8, tirn: u32) -> FlowRule {
    let mut matching = FlowMatch::default();
    matching.add_bytes(8, &[255], &[value]);
    let (tirn, modification) = (Some(tirn), None);
    FlowRule { priority, matching, tag: None, modification, drops: false, goes_on: false, tirn, counter: None }
}

/// Rules of several priorities, two that match the same, one that goes on, and one of another mask.
fn rules() -> Vec<FlowRule> {
    let watching = FlowRule { goes_on: true, ..rule(FlowPriority::Program(2), 1, 30) };
    let mut wide = rule(FlowPriority::Program(4), 0, 31);
    wide.matching = FlowMatch::default();
    vec![
        rule(FlowPriority::Program(4), 1, 32),
        watching,
        rule(FlowPriority::Program(4), 1, 33),
        rule(FlowPriority::Program(4), 2, 32),
        wide,
        rule(FlowPriority::Multicast, 3, 32),
        rule(FlowPriority::Program(3), 1, 32),
        rule(FlowPriority::Leftovers, 0, 32),
    ]
}

#[test]
fn tables_come_and_go_with_their_rules() {
    let device = RefCell::new(Tables::default());
    let carry_out = |input: &[u8]| device.borrow_mut().carry_out(input);
    let commands = FlowCommands { carry_out: &carry_out, direction: FlowDirection::Received };
    let mut tables = FlowTables::new(20);
    let handles: Vec<_> = rules().iter().map(|rule| tables.add(&commands, rule).unwrap()).collect();
    // Priority 2, which continues, 3, 4, groups of stations, and all remaining frames; each a level above its place.
    assert_eq!(device.borrow().way(), [(5, 1), (8, 1), (10, 3), (33, 1), (34, 1)]);
    // The one that goes on goes to a TIR and to the table after it, whichever that is.
    let onward = |device: &Tables| {
        let table = &device.tables[&device.root];
        let list = &table.entries[&0][0x340..];
        assert_eq!(list[..8], [2, 0, 0, 30, 0, 0, 0, 0]);
        assert_eq!(list[8..12], [1, 0, 0, table.next as u8], "a table, the next one");
    };
    onward(&device.borrow());
    tables.remove(&commands, &handles[6]).unwrap();
    assert_eq!(device.borrow().way(), [(5, 1), (10, 3), (33, 1), (34, 1)]);
    onward(&device.borrow());
    for handle in handles.iter().enumerate().filter(|(index, _)| *index != 6).map(|(_, handle)| handle) {
        tables.remove(&commands, handle).unwrap();
    }
    assert_eq!((device.borrow().way(), device.borrow().root), (vec![], 0));
}

#[test]
fn what_matches_the_same_does_the_same() {
    let device = RefCell::new(Tables::default());
    let carry_out = |input: &[u8]| device.borrow_mut().carry_out(input);
    let commands = FlowCommands { carry_out: &carry_out, direction: FlowDirection::Received };
    let mut tables = FlowTables::new(20);
    let first = rule(FlowPriority::Program(0), 1, 5);
    let handle = tables.add(&commands, &first).unwrap();
    let drops = FlowRule { drops: true, ..first.clone() };
    let tagged = FlowRule { tag: Some(7), ..first.clone() };
    let modifying = FlowRule { modification: Some(0x0102_0304), ..first.clone() };
    assert_eq!(tables.add(&commands, &drops).unwrap_err(), Errno::EEXIST);
    assert_eq!(tables.add(&commands, &modifying).unwrap_err(), Errno::EEXIST);
    assert_eq!(tables.add(&commands, &tagged).unwrap_err(), Errno::EEXIST);
    let mut outside = first.clone();
    outside.matching.value[0] = 1;
    assert_eq!(tables.add(&commands, &outside).unwrap_err(), Errno::EINVAL);
    assert_eq!(tables.add(&commands, &rule(FlowPriority::Program(16), 1, 5)).unwrap_err(), Errno::ENOMEM);
    tables.remove(&commands, &handle).unwrap();
    let handles = [&tagged, &first].map(|rule| tables.add(&commands, rule).unwrap());
    handles.iter().for_each(|handle| tables.remove(&commands, handle).unwrap());
    // Forward (4) and modify (0x40), and the list of the first one.
    let other = FlowRule { modification: Some(9), tirn: Some(6), ..first.clone() };
    for rule in [&modifying, &other] {
        tables.add(&commands, rule).unwrap();
        let device = device.borrow();
        let entry = &device.tables[&device.root].entries[&0];
        assert_eq!((entry[0x4f], &entry[0x5c..0x60]), (0x44, &[1, 2, 3, 4][..]));
    }
    assert_eq!(tables.add(&commands, &first).unwrap_err(), Errno::EEXIST);
}

#[test]
fn a_table_is_shared_out_to_masks_until_it_is_full() {
    let device = RefCell::new(Tables::default());
    let carry_out = |input: &[u8]| device.borrow_mut().carry_out(input);
    let commands = FlowCommands { carry_out: &carry_out, direction: FlowDirection::Received };
    // Sixteen entries: six groups of two, and four of one.
    let mut tables = FlowTables::new(4);
    let masked = |mask: u8| {
        let mut rule = rule(FlowPriority::Program(0), 0, 5);
        rule.matching.mask[8] = mask;
        rule
    };
    for mask in 0..10 {
        tables.add(&commands, &masked(mask)).unwrap();
    }
    assert_eq!(tables.add(&commands, &masked(10)).unwrap_err(), Errno::ENOSPC);
    // The wide ones have room for another.
    let mut other = masked(1);
    other.matching.value[8] = 1;
    assert!(tables.add(&commands, &other).is_ok());
    let mut other = masked(9);
    other.matching.value[8] = 1;
    assert_eq!(tables.add(&commands, &other).unwrap_err(), Errno::ENOSPC);
}

#[test]
fn a_refused_command_leaves_nothing_behind() {
    for refused in 1.. {
        let device = RefCell::new(Tables { refused: Some(refused), ..Tables::default() });
        let carry_out = |input: &[u8]| device.borrow_mut().carry_out(input);
        let commands = FlowCommands { carry_out: &carry_out, direction: FlowDirection::Received };
        let mut tables = FlowTables::new(20);
        let mut handles = Vec::new();
        let mut failed = 0;
        for rule in rules() {
            match tables.add(&commands, &rule) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    assert_eq!(error, Errno::EAGAIN);
                    failed += 1;
                    handles.push(tables.add(&commands, &rule).unwrap());
                }
            }
        }
        for handle in &handles {
            if tables.remove(&commands, handle).is_err() {
                failed += 1;
                tables.remove(&commands, handle).unwrap();
            }
        }
        // A group or a table that could not go stays where it does nothing; nothing else is there.
        let device = device.borrow();
        let (left, entries) =
            (device.tables.len(), device.tables.values().map(|table| table.entries.len()).sum::<usize>());
        assert!(
            entries == 0 && left <= 1 && failed <= 1,
            "{refused}: {left} tables, {entries} entries, {failed} failed"
        );
        if device.commands < refused {
            assert_eq!((left, failed), (0, 0));
            break;
        }
    }
}
