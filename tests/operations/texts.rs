//! The sentences about operations and transports in the crate's docs and error texts, made from the table.
//!
//! Sentences in the sources belong here, the page in `page.rs`.

use std::fs;

use crate::root;
use crate::table::{Row, columns, rows};

/// The transports' names in the texts, with the columns of each, the type, and the rows that its docs list.
const TRANSPORTS: [(&str, &str, &[&str]); 6] = [
    ("RC", "Rc", &["RC"]),
    ("UC", "Uc", &["UC"]),
    ("XRC", "XrcInitiator", &["XRC"]),
    ("UD", "Ud", &["UD", "UD, compact"]),
    ("DCI", "Dci", &["DCI", "DCI, compact", "DCI with streams"]),
    ("raw packets", "RawPacket", &["raw packets"]),
];

/// Names of operations that every transport has or lacks together.
const KINDS: [(&str, &[&str]); 13] = [
    ("NOP", &["Nop"]),
    ("SEND", &["Send", "SendImm"]),
    ("SEND with invalidate", &["SendInval"]),
    ("WRITE", &["Write", "WriteImm"]),
    ("READ", &["Read"]),
    (
        "atomics",
        &[
            "CompareSwap",
            "FetchAdd",
            "MaskedCompareSwap32",
            "MaskedCompareSwap64",
            "MaskedFetchAdd32",
            "MaskedFetchAdd64",
            "MaskedCompareSwap128",
            "MaskedFetchAdd128",
        ],
    ),
    ("memory windows", &["BindWindow", "Invalidate"]),
    ("indirect keys", &["ConfigureKey", "SetPsv"]),
    ("memory copies", &["Memcpy"]),
    ("WAIT and ENABLE", &["WaitCqe", "WaitTime", "SendEnable", "RecvEnable"]),
    ("DUMP", &["Dump"]),
    ("tag matching", &["TagAppend", "TagRemove", "TagSync"]),
    ("frames", &["Frame"]),
];

/// Whether the transport of these columns has the operation: in all its columns, or in none.
fn has(row: &Row, of: &[&str]) -> bool {
    let columns = columns();
    let cells = columns.iter().zip(&row.supported).filter(|(column, _)| of.contains(&column.name));
    let mut cells: Vec<bool> = cells.map(|(_, supported)| *supported).collect();
    cells.dedup();
    let [supported] = cells[..] else { panic!("{} differs within {of:?}", row.name) };
    supported
}

/// `Transports: RC, UC.`
fn transports(row: &Row) -> String {
    let names: Vec<_> = TRANSPORTS.iter().filter(|(.., of)| has(row, of)).map(|(name, ..)| *name).collect();
    let all = names.len() == TRANSPORTS.len();
    format!("Transports: {}.", if all { "all".to_owned() } else { names.join(", ") })
}

/// `NOP, SEND, WRITE`
fn operations(of: &[&str]) -> String {
    let rows = rows();
    let kinds = KINDS.iter().filter(|(kind, members)| {
        let members = members.iter().map(|name| rows.iter().find(|row| row.name == *name).expect("a row"));
        let mut cells: Vec<bool> = members.map(|row| has(row, of)).collect();
        cells.dedup();
        let [supported] = cells[..] else { panic!("{kind} differ on {of:?}") };
        supported
    });
    kinds.map(|(kind, _)| *kind).collect::<Vec<_>>().join(", ")
}

fn source(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The doc comment before `item`, in one line.
fn docs(source: &str, item: &str) -> Option<String> {
    let (before, _) = source.split_once(item)?;
    let lines: Vec<_> = before.lines().collect();
    let block = lines.iter().rev().take_while(|line| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("#[") || line.is_empty()
    });
    let mut block: Vec<_> = block.filter_map(|line| line.trim_start().strip_prefix("///")).map(str::trim).collect();
    block.reverse();
    Some(block.join(" "))
}

#[test]
fn every_operation_is_of_one_kind() {
    for row in rows() {
        let kinds = KINDS.iter().filter(|(_, members)| members.contains(&row.name)).count();
        assert_eq!(kinds, 1, "{} in the kinds of operations", row.name);
    }
}

#[test]
fn the_docs_of_each_operation_name_its_transports() {
    let files = ["table.rs", "frame/mod.rs"].map(|file| source(&format!("src/wqe/{file}")));
    for row in rows() {
        let items = [format!("\n    {}:", row.name), format!("\npub struct {}<", row.name)];
        let found = items.iter().find_map(|item| files.iter().find_map(|file| docs(file, item)));
        let found = found.unwrap_or_else(|| panic!("{} has no docs in these files", row.name));
        let wanted = transports(&row);
        assert!(found.contains(&wanted), "the docs of {} lack {wanted:?}: {found}", row.name);
    }
    let invalidate = rows().into_iter().find(|row| row.name == "SendInval").expect("a row");
    let builders = source("src/wqe/table.rs");
    let item = "    pub fn invalidate(self, rkey: Rkey) -> Request<'d, SendInval";
    let found = docs(&builders, item).expect("the builder");
    assert!(found.contains(&transports(&invalidate)), "the docs of `invalidate`: {found}");
}

#[test]
fn the_docs_of_each_transport_name_its_operations() {
    let file = source("src/transport.rs");
    for (_, name, of) in TRANSPORTS {
        let found = [";", "<"].iter().find_map(|end| docs(&file, &format!("\npub struct {name}{end}")));
        let wanted = format!("Operations: {}.", operations(of));
        let found = found.unwrap_or_else(|| panic!("{name} has no docs"));
        assert!(found.contains(&wanted), "the docs of {name} lack {wanted:?}: {found}");
    }
}

/// The notes below a compiler error of an unsupported operation.
#[test]
fn the_compiler_names_the_operations_of_each_transport() {
    let file = source("src/wqe/operation.rs");
    for (name, _, of) in TRANSPORTS {
        let wanted = format!("note = \"{name}: {}\"", operations(of));
        assert!(file.contains(&wanted), "src/wqe/operation.rs lacks {wanted}");
    }
}
