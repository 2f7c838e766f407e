//! Steering against a matcher that looks at every rule, and the effects of hostile rules.

use crate::ethernet::Headers;
use crate::steering::walk::*;
use proptest::prelude::*;

/// A key of which only two bytes count: so random rules meet.
fn key(bytes: [u8; 2]) -> Key {
    let mut key = Key::default();
    key.0[6..8].copy_from_slice(&bytes);
    key
}

/// The decision about a frame with these bytes in the place of its EtherType, and 60 bytes.
fn decide(steering: &mut Steering, direction: Direction, ether_type: [u8; 2]) -> Decision {
    let mut frame = [0; 60];
    frame[12..14].copy_from_slice(&ether_type);
    steering.decide(direction, &mut Passing::new(&frame, Headers::of(&frame).expect("headers"), 0, 0))
}

/// A copy of a frame as it came.
fn copy(tir: u32, tag: u32) -> FrameCopy {
    FrameCopy { tir, tag, metadata: 0, version: 0 }
}

fn forward(group: u32, value: Key, to: Vec<Destination>) -> Entry {
    let (verdict, counters) = (Verdict::Forward, vec![]);
    Entry { group, value, verdict, tag: 0, modification: None, destinations: to, counters }
}

#[test]
fn without_rules_frames_are_dropped_and_go_out() {
    let mut steering = Steering::default();
    assert_eq!(decide(&mut steering, Direction::Receive, [1, 2]), Decision::default());
    assert!(decide(&mut steering, Direction::Transmit, [1, 2]).allowed);
    for direction in Direction::ALL {
        let table = steering.create_table(direction, 0, 4, Miss::Default).unwrap();
        steering.set_root(direction, Some(table)).unwrap();
        assert_eq!(decide(&mut steering, direction, [1, 2]).allowed, direction == Direction::Transmit);
    }
}

#[test]
fn the_way_goes_up() {
    let mut steering = Steering::default();
    let rx = Direction::Receive;
    let low = steering.create_table(rx, 1, 4, Miss::Default).unwrap();
    let high = steering.create_table(rx, 2, 4, Miss::Default).unwrap();
    let group =
        |steering: &mut Steering, table| steering.create_group(rx, table, Group::new(0, 3, Key::default())).unwrap();
    let (of_low, of_high) = (group(&mut steering, low), group(&mut steering, high));
    for (table, of, to) in [(high, of_high, low), (low, of_low, low), (low, of_low, 99)] {
        let entry = forward(of, Key::default(), vec![Destination::Table(to)]);
        assert!(steering.set_entry(rx, table, 0, entry).is_err());
        assert!(steering.set_miss(rx, table, Miss::Table(to)).is_err());
    }
    let on = forward(of_low, Key::default(), vec![Destination::Tir(5), Destination::Table(high)]);
    steering.set_entry(rx, low, 0, on).unwrap();
    let counter = steering.create_counter().unwrap();
    let end = Entry { tag: 7, counters: vec![counter], ..forward(of_high, Key::default(), vec![Destination::Tir(6)]) };
    steering.set_entry(rx, high, 3, end).unwrap();
    steering.set_root(rx, Some(low)).unwrap();
    let decision = decide(&mut steering, rx, [0, 0]);
    assert_eq!(decision, Decision { allowed: false, copies: vec![copy(5, 0), copy(6, 7)] });
    let counted = steering.read_counter(counter, true).unwrap();
    assert_eq!((counted.packets, counted.octets), (1, 60));
    assert_eq!(steering.read_counter(counter, false).unwrap().packets, 0);
    // Everything that is used stays.
    assert!(matches!(steering.destroy_counter(counter), Err(Error::Busy { .. })));
    assert!(matches!(steering.destroy_group(rx, high, of_high), Err(Error::Busy { .. })));
    assert!(matches!(steering.destroy_table(rx, high), Err(Error::Busy { .. })));
    steering.remove_entry(rx, high, 3).unwrap();
    assert!(steering.remove_entry(rx, high, 3).is_err());
    steering.destroy_counter(counter).unwrap();
    steering.destroy_group(rx, high, of_high).unwrap();
    assert!(matches!(steering.destroy_table(rx, high), Err(Error::Busy { users: 1, .. })));
    steering.remove_entry(rx, low, 0).unwrap();
    steering.destroy_table(rx, high).unwrap();
    steering.destroy_group(rx, low, of_low).unwrap();
    steering.destroy_table(rx, low).unwrap();
    assert_eq!(decide(&mut steering, rx, [0, 0]), Decision::default());
}

/// `max_ft_level` and `log_max_ft_size`: the last level, and the largest table.
#[test]
fn a_table_has_a_last_level_and_a_largest_size() {
    let mut steering = Steering::default();
    for (level, log_size, is_made) in [(127, 20, true), (128, 20, false), (127, 21, false)] {
        let made = steering.create_table(Direction::Receive, level, log_size, Miss::Default);
        assert_eq!(made.is_ok(), is_made, "{level} {log_size}");
    }
}

#[test]
fn the_root_ends_with_its_table_and_with_no_other() {
    let mut steering = Steering::default();
    let rx = Direction::Receive;
    let [root, other] = [(); 2].map(|()| steering.create_table(rx, 0, 4, Miss::Default).unwrap());
    steering.set_root(rx, Some(root)).unwrap();
    steering.destroy_table(rx, other).unwrap();
    assert!(steering.has_root(rx));
    steering.destroy_table(rx, root).unwrap();
    assert!(!steering.has_root(rx));
}

#[test]
fn a_rule_has_16_destinations_and_counters_at_most_and_one_table() {
    let mut steering = Steering::default();
    let rx = Direction::Receive;
    let tables = [0, 1, 1].map(|level| steering.create_table(rx, level, 4, Miss::Default).unwrap());
    let group = steering.create_group(rx, tables[0], Group::new(0, 3, Key::default())).unwrap();
    let counters: Vec<u32> = (0..17).map(|_| steering.create_counter().unwrap()).collect();
    let [one, other] = [1, 2].map(|at| Destination::Table(tables[at]));
    for (to, counters, is_set) in [
        (vec![Destination::Tir(1); 16], &counters[..16], true),
        (vec![Destination::Tir(1); 17], &[], false),
        (vec![Destination::Tir(1)], &counters[..], false),
        (vec![Destination::Tir(1), one], &[], true),
        (vec![one, other], &[], false),
        (vec![one, one], &[], false),
    ] {
        let entry = Entry { counters: counters.to_vec(), ..forward(group, Key::default(), to) };
        assert_eq!(steering.set_entry(rx, tables[0], 0, entry.clone()).is_ok(), is_set, "{entry:?}");
    }
}

#[test]
fn all_tables_together_have_a_most_of_rules_and_of_groups() {
    let mut steering = Steering::with_limits(3, 2);
    let [rx, tx] = [Direction::Receive, Direction::Transmit];
    let tables = [rx, tx].map(|direction| steering.create_table(direction, 0, 4, Miss::Default).unwrap());
    let group = |at| Group::new(at, at + 3, Key::default());
    let groups = [0, 1].map(|at| steering.create_group([rx, tx][at], tables[at], group(0)).unwrap());
    let no_group = Error::Exhausted { object: Object::FlowGroup, limit: 2 };
    assert_eq!(steering.create_group(rx, tables[0], group(4)), Err(no_group));
    let drop = |group| Entry { verdict: Verdict::Drop, ..forward(group, Key::default(), vec![]) };
    for (direction, at, index) in [(rx, 0, 0), (rx, 0, 1), (tx, 1, 0)] {
        steering.set_entry(direction, tables[at], index, drop(groups[at])).unwrap();
    }
    let no_rule = Error::Exhausted { object: Object::FlowRule, limit: 3 };
    for (direction, at, index) in [(rx, 0, 2), (tx, 1, 1)] {
        assert_eq!(steering.set_entry(direction, tables[at], index, drop(groups[at])), Err(no_rule.clone()));
    }
    // One takes the place of another, and one that goes makes room.
    assert!(steering.set_entry(tx, tables[1], 0, drop(groups[1])).unwrap().is_some());
    assert!(steering.set_entry(tx, tables[1], 9, drop(groups[1])).is_err());
    steering.remove_entry(tx, tables[1], 0).unwrap();
    assert!(steering.remove_entry(tx, tables[1], 0).is_err());
    steering.destroy_group(tx, tables[1], groups[1]).unwrap();
    assert!(steering.destroy_group(tx, tables[1], groups[1]).is_err());
    assert!(steering.set_entry(rx, tables[0], 9, drop(groups[0])).is_err(), "past the group");
    assert!(steering.create_group(rx, tables[0], group(0)).is_err(), "another's indices");
    steering.set_entry(rx, tables[0], 2, drop(groups[0])).unwrap();
    assert!(steering.set_entry(rx, tables[0], 3, drop(groups[0])).is_err());
    let more = steering.create_group(rx, tables[0], group(4)).unwrap();
    assert!(steering.create_group(rx, tables[0], group(8)).is_err());
    steering.destroy_group(rx, tables[0], more).unwrap();
}

/// A frame is looked up in each group of a table on its way.
#[test]
fn a_table_has_4096_groups_at_most() {
    let mut steering = Steering::default();
    let rx = Direction::Receive;
    let tables = [(); 2].map(|()| steering.create_table(rx, 0, 13, Miss::Default).unwrap());
    let group = |at| Group::new(at, at, Key::default());
    for at in 0..4096 {
        steering.create_group(rx, tables[0], group(at)).unwrap();
    }
    let refusal = Error::Exhausted { object: Object::FlowGroup, limit: 4096 };
    assert_eq!(steering.create_group(rx, tables[0], group(4096)), Err(refusal));
    assert!(steering.create_group(rx, tables[1], group(0)).is_ok(), "another table");
    steering.destroy_group(rx, tables[0], 7).unwrap();
    assert!(steering.create_group(rx, tables[0], group(4096)).is_ok());
}

/// Rules of many tables on a frame's way have 15 TIRs each.
#[test]
fn a_frame_goes_to_256_tirs_at_most() {
    let mut steering = Steering::default();
    let rx = Direction::Receive;
    let mut next = None;
    for level in (0..20).rev() {
        let table = steering.create_table(rx, level, 0, Miss::Default).unwrap();
        let group = steering.create_group(rx, table, Group::new(0, 0, Key::default())).unwrap();
        let tirs = (0..15).map(|n| Destination::Tir(u32::from(level) * 15 + n));
        let to = tirs.chain(next.map(Destination::Table)).collect();
        steering.set_entry(rx, table, 0, forward(group, Key::default(), to)).unwrap();
        next = Some(table);
    }
    steering.set_root(rx, next).unwrap();
    let copies = Vec::from_iter((0..256).map(|tir| copy(tir, 0)));
    assert_eq!(decide(&mut steering, rx, [0, 0]).copies, copies);
}

#[test]
fn what_fits_no_direction_is_refused() {
    let mut steering = Steering::default();
    for direction in [Direction::Receive, Direction::Transmit] {
        let table = steering.create_table(direction, 0, 4, Miss::Default).unwrap();
        let group = steering.create_group(direction, table, Group::new(0, 3, Key::default())).unwrap();
        let to = |destinations| forward(group, Key::default(), destinations);
        let bad = match direction {
            Direction::Transmit => to(vec![Destination::Tir(1)]),
            _ => Entry { verdict: Verdict::Allow, ..to(vec![]) },
        };
        let dropping = Entry { verdict: Verdict::Drop, ..to(vec![]) };
        for entry in [
            bad,
            to(vec![]),
            to(vec![Destination::Tir(1); 17]),
            Entry { destinations: vec![Destination::Table(table)], ..dropping.clone() },
            Entry { counters: vec![9], ..dropping.clone() },
            Entry { group: 9, ..dropping.clone() },
        ] {
            assert!(steering.set_entry(direction, table, 0, entry.clone()).is_err(), "{direction:?}: {entry:?}");
        }
        assert!(steering.set_entry(direction, table, 4, dropping.clone()).is_err(), "past the group");
        assert!(steering.set_entry(direction, table, 3, dropping).is_ok());
        let mut mask = Key::default();
        mask.0[24] = 1;
        for group in [Group::new(4, 5, mask), Group::new(3, 4, Key::default()), Group::new(5, 16, Key::default())] {
            assert!(steering.create_group(direction, table, group).is_err());
        }
    }
}

/// One step of a random test.
#[derive(Clone, Debug)]
enum Step {
    Set { table: usize, index: u32, value: [u8; 2], to: u8, tag: u32 },
    Remove { table: usize, index: u32 },
    Miss { table: usize, to: Option<usize> },
    Root(Option<usize>),
    Frame([u8; 2]),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || [0..3_u8, 0..3_u8];
    let step = prop_oneof![
        4 => (0..4_usize, 0..16_u32, bytes(), 0..6_u8, 0..3_u32)
            .prop_map(|(table, index, value, to, tag)| Step::Set { table, index, value, to, tag }),
        1 => (0..4_usize, 0..16_u32).prop_map(|(table, index)| Step::Remove { table, index }),
        1 => (0..4_usize, prop::option::of(0..4_usize)).prop_map(|(table, to)| Step::Miss { table, to }),
        1 => prop::option::of(0..4_usize).prop_map(Step::Root),
        4 => bytes().prop_map(Step::Frame),
    ];
    prop::collection::vec(step, 0..80)
}

/// A model of steering that looks at every rule of every table.
#[derive(Default)]
struct Naive {
    rules: BTreeMap<(usize, u32), ([u8; 2], u8, u32)>,
    miss: [Option<usize>; 4],
    root: Option<usize>,
}

use std::collections::BTreeMap;

/// Masks of a table's four groups, of four indices each.
const MASKS: [[u8; 2]; 4] = [[0xff, 0xff], [0xff, 0], [0, 0x01], [0, 0]];

impl Naive {
    fn decide(&self, frame: [u8; 2]) -> Vec<FrameCopy> {
        let (mut tag, mut at) = (0, self.root);
        let mut copies = Vec::new();
        while let Some(table) = at {
            let matched = (0..16).find_map(|index| {
                let &(value, to, with) = self.rules.get(&(table, index))?;
                let mask = MASKS[index as usize / 4];
                (0..2).all(|i| frame[i] & mask[i] == value[i] & mask[i]).then_some((to, with))
            });
            let Some((to, with)) = matched else {
                at = self.miss[table];
                continue;
            };
            if with != 0 {
                tag = with;
            }
            match to {
                0 => break,
                1 => {
                    copies.push(copy(100, tag));
                    break;
                }
                _ => {
                    copies.push(copy(to.into(), tag));
                    at = Some(usize::from(to) - 2);
                }
            }
        }
        copies
    }
}

proptest! {
    /// Any rules, in any order: the engine and the naive matcher agree, and a way that does not go up is refused.
    #[test]
    fn it_decides_as_a_naive_matcher_does(steps in steps()) {
        let rx = Direction::Receive;
        let mut steering = Steering::default();
        let mut naive = Naive::default();
        let tables: Vec<u32> =
            (0..4).map(|level| steering.create_table(rx, level, 4, Miss::Default).unwrap()).collect();
        let mut groups = Vec::new();
        for &table in &tables {
            // In another order than that of their indices.
            let mut of_table = [0; 4];
            for at in [2, 0, 3, 1_usize] {
                let first = at as u32 * 4;
                of_table[at] = steering.create_group(rx, table, Group::new(first, first + 3, key(MASKS[at]))).unwrap();
            }
            groups.push(of_table);
        }
        for step in steps {
            match step {
                Step::Set { table, index, value, to, tag } => {
                    let destinations = match to {
                        0 => vec![],
                        1 => vec![Destination::Tir(100)],
                        to => vec![Destination::Tir(to.into()), Destination::Table(tables[usize::from(to) - 2])],
                    };
                    let verdict = if to == 0 { Verdict::Drop } else { Verdict::Forward };
                    let group = groups[table][index as usize / 4];
                    let entry = Entry { verdict, tag, ..forward(group, key(value), destinations) };
                    let set = steering.set_entry(rx, tables[table], index, entry);
                    let goes_up = to < 2 || usize::from(to) - 2 > table;
                    prop_assert_eq!(set.is_ok(), goes_up);
                    if goes_up {
                        naive.rules.insert((table, index), (value, to, tag));
                    }
                }
                Step::Remove { table, index } => {
                    let removed = steering.remove_entry(rx, tables[table], index);
                    prop_assert_eq!(removed.is_ok(), naive.rules.remove(&(table, index)).is_some());
                }
                Step::Miss { table, to } => {
                    let miss = to.map_or(Miss::Default, |to| Miss::Table(tables[to]));
                    let set = steering.set_miss(rx, tables[table], miss);
                    let goes_up = to.is_none_or(|to| to > table);
                    prop_assert_eq!(set.is_ok(), goes_up);
                    if goes_up {
                        naive.miss[table] = to;
                    }
                }
                Step::Root(root) => {
                    steering.set_root(rx, root.map(|root| tables[root])).unwrap();
                    naive.root = root;
                }
                Step::Frame(bytes) => {
                    let decision = decide(&mut steering, rx, bytes);
                    prop_assert_eq!((decision.copies, decision.allowed), (naive.decide(bytes), false));
                }
            }
        }
    }
}
