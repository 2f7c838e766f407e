//! The sentences about operations and transports in the crate's docs and error texts, made from the table.
//!
//! Sentences in the sources belong here, the page in `page.rs`.

use std::fs;
use std::ops::Range;

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
    let mut kinds: Vec<(&str, bool)> = Vec::new();
    for row in rows() {
        let supported = has(&row, of);
        match kinds.last() {
            Some((kind, all)) if *kind == row.kind => assert_eq!(supported, *all, "{kind} differ on {of:?}"),
            _ => kinds.push((row.kind, supported)),
        }
    }
    kinds.into_iter().filter(|(_, supported)| *supported).map(|(kind, _)| kind).collect::<Vec<_>>().join(", ")
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

/// Where `file` has `start`, after `from`, up to the next `end`.
fn found(file: &str, from: usize, start: &str, end: &str) -> Range<usize> {
    let at = from + file[from..].find(start).unwrap_or_else(|| panic!("no {start:?}"));
    at..at + file[at..].find(end).unwrap_or_else(|| panic!("no {end:?} after {start:?}"))
}

/// Compares a file with what it should be, or writes it.
fn compare(path: &str, wanted: &str) {
    if std::env::var_os("BLESS").is_some() {
        return fs::write(root().join(path), wanted).expect("the file can be written");
    }
    let file = source(path);
    let wrong: Vec<_> = wanted.lines().filter(|line| !file.lines().any(|other| other == *line)).collect();
    assert!(file == wanted, "{path} lacks {wrong:#?}: BLESS=1 cargo test --no-default-features --test operations");
}

/// A sentence as lines of a doc comment, of at most 120 columns.
fn comment(sentence: &str) -> String {
    let mut lines = vec!["///".to_owned()];
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 120 => *line += &format!(" {word}"),
            _ => lines.push(format!("/// {word}")),
        }
    }
    lines.join("\n")
}

/// Its paragraph ends with the first dot at the end of a line.
#[test]
fn the_docs_of_each_transport_name_its_operations() {
    let path = "src/transport.rs";
    let mut file = source(path);
    for (_, name, of) in TRANSPORTS {
        let item = [";", "<"].iter().find_map(|end| file.find(&format!("\npub struct {name}{end}")));
        let item = item.unwrap_or_else(|| panic!("no {name}"));
        let docs = file[..item].rfind("\n\n").expect("a line before its docs");
        let place = found(&file, docs, "/// Operations: ", ".\n");
        assert!(place.end < item, "the docs of {name} list no operations");
        file.replace_range(place.start..=place.end, &comment(&format!("Operations: {}.", operations(of))));
    }
    compare(path, &file);
}

/// The notes below a compiler error of an unsupported operation.
#[test]
fn the_compiler_names_the_operations_of_each_transport() {
    let path = "src/wqe/operation.rs";
    let mut file = source(path);
    for (name, _, of) in TRANSPORTS {
        let place = found(&file, 0, &format!("note = \"{name}: "), "\",\n");
        file.replace_range(place, &format!("note = \"{name}: {}", operations(of)));
    }
    compare(path, &file);
}
