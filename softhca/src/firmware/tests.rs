//! Layouts, against Linux' header; and rules that hold for every command.

use super::call::bare_out;
use super::layout::Layout;
use super::owners::{DRIVER, SHARED, Uid};
use super::test_bench::{Bench, device};
use super::{Firmware, Status, capabilities, commands};
use crate::error::Object;
use std::collections::HashMap;

/// Structure, its bits, and its fields: first bit, bits.
type Known = HashMap<String, (usize, HashMap<String, (usize, usize)>)>;

/// The structures of `mlx5_ifc.h`, and the fields that other headers have.
pub(super) fn known() -> Known {
    let number = |text: &str| usize::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let tables = [include_str!("../../../devx/prm/mlx5_ifc.txt"), include_str!("../../../devx/prm/more.txt")];
    let mut known = Known::new();
    let mut structure = String::new();
    for line in tables.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            let (_, fields) = known.get_mut(&structure).expect("a structure");
            fields.insert(words[0].to_lowercase(), (number(words[1]), number(words[2])));
        } else {
            words[0].clone_into(&mut structure);
            known.entry(structure.clone()).or_insert((number(words[1]), HashMap::new()));
        }
    }
    known
}

/// Fields that the header names in another structure only, which has them in the same place: `layout` says why.
const NAMED_ELSEWHERE: [(&str, &str, &str); 2] =
    [("modify_cq_in", "cq_umem_offset", "create_cq_in"), ("modify_cq_in", "cq_umem_id", "create_cq_in")];

/// A field where the headers have reserved bits, with its first bit and its bits: `layout` says who names it.
const NAMED_BY_OTHERS: [(&str, &str, (usize, usize)); 2] =
    [("rqc", "dpp_mkey", (0xe0, 32)), ("create_dct_in", "ece_of_ucx", (0x280, 32))];

/// Structures that end here where rdma-core's header ends them. Linux' header ends them later (`mlx5_ifc.txt` has both
/// at its end): an encryption key without a key that software has wrapped, a QP without later additions to its context.
const SHORTER: [(&str, usize); 2] = [("encryption_key_obj", 0x100), ("query_qp_out", 0x110)];

pub(super) fn compare(layout: &Layout, known: &Known) {
    let Some((bits, fields)) = known.get(layout.name) else { panic!("{} is not in the header", layout.name) };
    // Parts that rdma-core has behind a structure of Linux are included.
    let behind =
        layout.parts.iter().filter_map(|part| fields.get(&part.name.to_lowercase())).map(|(at, bits)| at + bits);
    let behind = behind.fold(*bits, usize::max);
    let shorter = SHORTER.contains(&(layout.name, layout.bytes)) && layout.bytes * 8 < behind;
    assert!(layout.bytes * 8 == behind || shorter, "{}: {:#x} bytes, not {behind:#x} bits", layout.name, layout.bytes);
    for field in layout.fields {
        let name = field.name.to_lowercase();
        if NAMED_BY_OTHERS.contains(&(layout.name, &*name, (field.at, field.width))) {
            assert_eq!(fields.get(&name), None, "{}.{name}", layout.name);
            continue;
        }
        let elsewhere = NAMED_ELSEWHERE.iter().find(|&&(here, field, _)| here == layout.name && field == name);
        let fields = elsewhere.map_or(fields, |(_, _, there)| &known[*there].1);
        assert_eq!(fields.get(&name), Some(&(field.at, field.width)), "{}.{name}", layout.name);
    }
    for part in layout.parts {
        let name = part.name.to_lowercase();
        let &(at, bits) = fields.get(&name).unwrap_or_else(|| panic!("{}.{name}", layout.name));
        assert_eq!(at, part.at * 8, "{}.{name}", layout.name);
        // Bytes in a row, such as a key, are one field of many bits there.
        if part.layout.opaque && !known.contains_key(part.layout.name) {
            assert_eq!(bits, part.layout.bytes * 8, "{}.{name}", layout.name);
        } else {
            compare(part.layout, known);
        }
    }
}

#[test]
fn layouts_are_those_of_linux() {
    let known = known();
    // The outputs that are nothing but a status have a name for each command.
    compare(&Layout { name: "dealloc_pd_out", ..bare_out::LAYOUT }, &known);
    let mut count = 0;
    for command in commands::all() {
        compare(command.input, &known);
        if command.output.name != bare_out::LAYOUT.name {
            compare(command.output, &known);
        }
        count += 1;
    }
    for set in capabilities::sets() {
        compare(set.layout, &known);
    }
    assert!(count >= 2);
}

/// The rows of the page about the firmware are its commands, each with a proof that the page knows.
#[test]
fn the_book_has_all_commands_and_their_proofs() {
    let page = include_str!("../../../docs/firmware.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let words: Vec<&str> = rows.iter().filter(|row| row.len() == 3).map(|row| row[0]).collect();
    let found: Vec<String> = rows
        .iter()
        .filter(|row| row.len() == 5 && row[0].starts_with("0x"))
        .map(|row| {
            let known = row[4].split(", ").all(|word| words.contains(&word));
            assert!(known, "{}: {:?} is not one of {words:?}", row[1], row[4]);
            row[..4].join(" | ")
        })
        .collect();
    let mut all: Vec<&super::call::Command> = commands::all().collect();
    all.sort_by_key(|command| command.opcode);
    let all: Vec<String> = all
        .iter()
        .map(|command| {
            let (input, output) = (command.input.bytes, command.output.bytes);
            format!("{:#05x} | {} | {input:#x} | {output:#x}", command.opcode, command.name)
        })
        .collect();
    for row in &all {
        assert!(found.contains(row), "docs/firmware.md has no row: | {row} | ... |");
    }
    assert_eq!(found, all);
}

#[test]
fn what_is_no_command_is_refused_with_a_status_and_changes_nothing() {
    let (mut firmware, mut device) = (Firmware::new(), device());
    let mut output = [0xff; 16];
    assert_eq!(firmware.execute(&mut device, &[8, 0], &mut output), Status::BadInputLength);
    assert_eq!((output[0], &output[8..]), (0x50, &[0; 8][..]));
    for len in 0..8 {
        // The length is checked before the number of the command.
        let short = vec![0xff; len];
        assert_eq!(firmware.execute(&mut device, &short, &mut output), Status::BadInputLength, "{len} bytes");
    }
    let alloc_pd = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(firmware.execute(&mut device, &alloc_pd, &mut [0; 8]), Status::BadOutputLength);
    let mut reserved = alloc_pd;
    reserved[9] = 1;
    assert_eq!(firmware.execute(&mut device, &reserved, &mut output), Status::BadParameter);
    assert_ne!(output[4..8], [0; 4], "a syndrome");
    let mut of_nobody = alloc_pd;
    of_nobody[3] = 1;
    assert_eq!(firmware.execute(&mut device, &of_nobody, &mut output), Status::BadResource);
    assert_eq!(firmware.execute(&mut device, &[0xff; 16], &mut output), Status::BadOperation);
    assert_eq!(firmware.execute(&mut device, &alloc_pd, &mut output), Status::Ok);
    assert_eq!(output, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], "nothing was allocated before");
}

/// A mailbox of 0x40 bytes, of which these words are not 0.
fn mailbox(opcode: u16, uid: Uid, words: &[(usize, u32)]) -> Vec<u8> {
    let mut input = vec![0; 0x40];
    input[..2].copy_from_slice(&opcode.to_be_bytes());
    input[2..4].copy_from_slice(&uid.0.to_be_bytes());
    for &(at, word) in words {
        input[at..at + 4].copy_from_slice(&word.to_be_bytes());
    }
    input
}

#[test]
fn what_the_driver_shares_is_used_by_all_and_changed_by_none_of_them() {
    let mut bench = Bench::new();
    let user = bench.user();
    let number = |output: &[u8]| u32::from_be_bytes([0, output[9], output[10], output[11]]);

    // A counter set: read by all, cleared by the driver.
    let set = bench.execute(&mailbox(0x771, SHARED, &[]), 0x10).expect("a counter set")[0xb].into();
    const CLEAR: u32 = 1 << 31;
    assert!(bench.execute(&mailbox(0x773, user, &[(0x1c, set)])[..0x20], 0x100).is_ok());
    let clear = [(0x18, CLEAR), (0x1c, set)];
    assert_eq!(bench.execute(&mailbox(0x773, user, &clear)[..0x20], 0x100), Err(Status::BadResource));
    assert!(bench.execute(&mailbox(0x773, DRIVER, &clear)[..0x20], 0x100).is_ok());
    assert_eq!(bench.execute(&mailbox(0x772, user, &[(8, set)]), 0x10), Err(Status::BadResource));
    assert!(bench.execute(&mailbox(0x772, SHARED, &[(8, set)]), 0x10).is_ok());

    // A flow table: found and asked about by all, filled by the driver.
    let table = number(&bench.execute(&mailbox(0x930, SHARED, &[]), 0x10).expect("a flow table"));
    let named = [(0x14, table)];
    assert!(bench.execute(&mailbox(0x932, user, &named), 0x40).is_ok());
    let group = [&mailbox(0x933, user, &named)[..], &[0; 0x3c0]].concat();
    assert_eq!(bench.execute(&group, 0x10), Err(Status::BadResource));
    assert_eq!(bench.execute(&mailbox(0x931, user, &named), 0x10), Err(Status::BadResource));
    assert!(bench.execute(&mailbox(0x931, DRIVER, &named), 0x10).is_ok());

    // User memory: a user's object lies in it.
    let umem = bench.umem(SHARED, &[2], 0, true);
    let in_it = bench.call(user, |call| {
        call.in_umem(umem, 0, 64, true)?;
        call.created(Object::Cq, 7);
        Ok(())
    });
    assert_eq!(in_it, Ok(()));
    assert_eq!(bench.execute(&mailbox(0xa0a, user, &[(8, umem)])[..0x10], 0x10), Err(Status::BadResource));
    assert_eq!(bench.execute(&mailbox(0xa0a, DRIVER, &[(8, umem)])[..0x10], 0x10), Err(Status::ResourceBusy));

    // No user can even query an object that is the driver's own.
    let set = bench.execute(&mailbox(0x771, DRIVER, &[]), 0x10).expect("a counter set")[0xb].into();
    assert_eq!(bench.execute(&mailbox(0x773, user, &[(0x1c, set)])[..0x20], 0x100), Err(Status::BadResource));
}
