//! `src/cmd/layouts.rs` matches the tables of `prm`: `mlx5_ifc.txt` and `more.txt`, made of other drivers' headers, and
//! `structures.txt`. `BLESS=1` writes it anew.
//!
//! Layouts of commands belong here. The bytes of a whole mailbox belong in `golden.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use blueflame_devx::cmd::{COMMANDS, Opcode, STRUCTURES};
use blueflame_devx::mailbox::{CommandInfo, How};

/// A field as the headers have it.
#[derive(Clone)]
struct Field {
    name: String,
    at: usize,
    bits: usize,
    /// The structure inside, and how many of them.
    inner: Option<(String, usize)>,
}

/// A structure as the headers have it.
#[derive(Default)]
struct Facts {
    bits: usize,
    fields: Vec<Field>,
}

/// A structure as `structures.txt` has it.
struct Wanted {
    name: String,
    rust: String,
    /// Where it ends, if it ends before the last field of the headers.
    bits: Option<usize>,
    docs: Vec<String>,
    types: BTreeMap<String, String>,
    left_out: BTreeSet<String>,
}

fn number(text: &str) -> usize {
    usize::from_str_radix(text.strip_prefix("0x").expect("hexadecimal"), 16).expect("a number")
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty())
}

/// The facts of the headers, from both tables.
fn facts() -> BTreeMap<String, Facts> {
    let mut all: BTreeMap<String, Facts> = BTreeMap::new();
    let mut current = String::new();
    for line in lines(concat!(include_str!("../prm/mlx5_ifc.txt"), include_str!("../prm/more.txt"))) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            // The rest may be the structure inside; otherwise it has names of the headers.
            let inner = words[3..].iter().find(|word| !["rdma-core", "dpdk", "ucx"].contains(word));
            let inner = inner.map(|inner| match inner.split_once('*') {
                Some((inner, many)) => (inner.to_string(), many.parse().expect("a number")),
                None => (inner.to_string(), 1),
            });
            let field = Field { name: words[0].to_lowercase(), at: number(words[1]), bits: number(words[2]), inner };
            let structure = all.get_mut(&current).expect("a structure");
            assert!(structure.fields.iter().all(|other| other.name != field.name), "{current}.{} twice", field.name);
            structure.fields.push(field);
        } else {
            current = words[0].to_string();
            let structure = all.entry(current.clone()).or_default();
            assert!([0, number(words[1])].contains(&structure.bits), "{current} has two sizes");
            structure.bits = number(words[1]);
        }
    }
    all
}

/// `create_cq_in` is `CreateCqIn`, and `qp_2err_in` is `Qp2ErrIn`.
fn type_name(structure: &str) -> String {
    let mut name = String::new();
    for word in structure.split('_') {
        let letter = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len() - 1);
        name += &word[..letter];
        name += &word[letter..=letter].to_uppercase();
        name += &word[letter + 1..];
    }
    name
}

/// The structures of this crate, and the types of fields in all structures.
fn wanted() -> (Vec<Wanted>, BTreeMap<String, String>) {
    let (mut all, mut everywhere) = (Vec::<Wanted>::new(), BTreeMap::new());
    for line in lines(include_str!("../prm/structures.txt")) {
        let (first, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim_start(), ""));
        match (line.starts_with(' '), first, all.last_mut()) {
            (false, "*", _) => {}
            (false, ..) => {
                let (head, doc) = line.split_once(": ").unwrap_or((line, ""));
                let (head, bits) = match head.split_once(" of ") {
                    Some((head, bits)) => (head, Some(number(bits))),
                    None => (head, None),
                };
                let (name, rust) = match head.split_once(" as ") {
                    Some((name, rust)) => (name, rust.to_string()),
                    None => (head, type_name(head)),
                };
                let docs = match doc {
                    "" => vec![format!("Answer to [`{}In`].", rust.strip_suffix("Out").expect("an answer"))],
                    doc => vec![doc.to_string()],
                };
                let (name, types, left_out) = (name.to_string(), BTreeMap::new(), BTreeSet::new());
                all.push(Wanted { name, rust, bits, docs, types, left_out });
            }
            (true, "|", Some(structure)) => structure.docs.push(rest.to_string()),
            (true, "-", Some(structure)) => assert!(structure.left_out.insert(rest.to_string()), "{line} twice"),
            (true, field, Some(structure)) => {
                assert_eq!(structure.types.insert(field.to_string(), rest.to_string()), None, "{line} twice");
            }
            (true, field, None) => {
                assert_eq!(everywhere.insert(field.to_string(), rest.to_string()), None, "{line} twice")
            }
        }
    }
    (all, everywhere)
}

/// The type of a number without a type of its own.
fn plain(bits: usize) -> &'static str {
    match bits {
        1 => "bool",
        2..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    }
}

/// The description of a structure, as the macro `structures!` takes it.
fn description(
    of: &Wanted,
    facts: &Facts,
    everywhere: &BTreeMap<String, String>,
    known: &BTreeMap<&str, &str>,
) -> String {
    let bits = of.bits.unwrap_or(facts.bits);
    let mut sections = BTreeMap::from([("", String::new()), ("bytes", String::new()), ("parts", String::new())]);
    let mut arrays = String::new();
    if let Some(bits) = of.bits {
        let ends = |line: &str| line.starts_with(&format!("# {} ", of.name)) && line.ends_with(&format!(": {bits:#x}"));
        assert!(include_str!("../prm/mlx5_ifc.txt").lines().any(ends), "no header ends {} at {bits:#x}", of.name);
    }
    let mut types = of.types.clone();
    let is_left_out = |field: &Field| of.left_out.contains(&field.name);
    let overlap = |a: &Field, b: &Field| a.at < b.at + b.bits && b.at < a.at + a.bits;
    for name in &of.left_out {
        let field = facts.fields.iter().find(|field| field.name == *name);
        let field = field.unwrap_or_else(|| panic!("{} has no {name} to leave out", of.name));
        let other = facts.fields.iter().find(|other| !is_left_out(other) && overlap(field, other));
        // A part may also be of a structure that this crate does not have: then nothing has its bits.
        let of_others = field.inner.as_ref().is_some_and(|(inner, _)| !known.contains_key(inner.as_str()));
        assert!(other.is_some() || of_others, "{}.{name} is left out, and no other field has its bits", of.name);
    }
    // A list behind the structure has no bits.
    for field in facts.fields.iter().filter(|field| field.bits > 0 && !is_left_out(field)) {
        let Field { name, at, bits: width, inner } = field;
        if at + width > bits {
            // A field that begins behind the structure is a list.
            assert!(*at >= bits || of.bits.is_some(), "{}.{name} leaves its structure", of.name);
            continue;
        }
        let ident = if name == "type" { "r#type" } else { name };
        let own = types.remove(name);
        let inner = inner.as_ref().and_then(|(inner, many)| Some((known.get(inner.as_str())?, many)));
        assert!(own.is_none() || inner.is_none() && *width <= 64, "{}.{name} is no number, and has a type", of.name);
        match inner {
            Some((inner, 1)) => writeln!(sections.get_mut("parts").unwrap(), "        {ident}: {at:#x}, {inner};"),
            Some((inner, many)) => writeln!(arrays, "        {ident}: {at:#x}, {many}, {inner};"),
            None if *width > 64 => {
                writeln!(sections.get_mut("bytes").unwrap(), "        {ident}: {at:#x}, {};", width / 8)
            }
            None => {
                let own = own.as_ref().or_else(|| everywhere.get(name));
                let ty = own.map_or_else(|| plain(*width), |own| own.as_str());
                writeln!(sections.get_mut("").unwrap(), "        {ident}: {at:#x}, {width}, {ty};")
            }
        }
        .unwrap();
    }
    assert!(types.is_empty(), "{} has no {types:?}", of.name);
    let mut text = String::new();
    for doc in &of.docs {
        writeln!(text, "    /// {doc}").unwrap();
    }
    let text = text.replace("/// \n", "///\n");
    let mut text =
        text + &format!("    pub struct {}: \"{}\", {bits:#x} {{\n{}    }}\n", of.rust, of.name, sections[""]);
    for (name, section) in [("bytes", &sections["bytes"]), ("parts", &sections["parts"]), ("arrays", &arrays)] {
        if !section.is_empty() {
            write!(text, "    {name} {{\n{section}    }}\n").unwrap();
        }
    }
    text
}

/// `layouts.rs`, whole.
fn layouts() -> String {
    let (facts, (wanted, everywhere)) = (facts(), wanted());
    let known: BTreeMap<&str, &str> = wanted.iter().map(|of| (of.name.as_str(), of.rust.as_str())).collect();
    let descriptions: Vec<String> = wanted
        .iter()
        .map(|of| {
            let facts = facts.get(&of.name).unwrap_or_else(|| panic!("the tables have no {}", of.name));
            description(of, facts, &everywhere, &known)
        })
        .collect();
    format!(
        "\
//! The structures of mailboxes. Made of the tables of `devx/prm` by `devx/tests/layouts.rs`; not written by hand.

use super::*;
use crate::mailbox::structures;

structures! {{
{}}}
",
        descriptions.join("\n")
    )
}

#[test]
fn the_layouts_are_what_the_tables_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cmd/layouts.rs");
    let made = layouts();
    if std::env::var_os("BLESS").is_some() {
        // This program was compiled with the earlier file, so it cannot look at the new one.
        return std::fs::write(path, &made).expect("written");
    }
    let there = std::fs::read_to_string(path).expect("read");
    let other = made.lines().zip(there.lines()).find(|(made, there)| made != there);
    assert!(made == there, "BLESS=1 cargo test -p blueflame-devx --test layouts writes it anew: {other:?}");
    // The compiled structures match the written ones.
    assert_eq!(STRUCTURES.len(), wanted().0.len());
    assert!(STRUCTURES.iter().map(|of| of.fields.len()).sum::<usize>() > 1000);
}

/// Safe calls send only commands that change nothing and name no memory.
#[test]
fn safe_commands_only_ask() {
    let safe = |info: &&CommandInfo| matches!(info.how, How::Executes | How::Queries);
    let asking: Vec<_> = COMMANDS.iter().filter(safe).collect();
    for info in &asking {
        let name = Opcode(info.opcode).name().expect("an opcode of this crate");
        assert!(name.starts_with("QUERY_"), "{name} is safe to send");
    }
    assert!(asking.len() > 20, "only {} commands ask", asking.len());
}

#[test]
fn commands_have_the_names_of_their_structures() {
    // An inbox begins with its opcode and an outbox with its status, in the same places: what finds errors relies on
    // it.
    for description in STRUCTURES {
        let first = |name: &str, width| {
            description.fields.first().is_some_and(|field| (field.name, field.at, field.width) == (name, 0, width))
        };
        let part = |name: &str| description.parts.first().is_some_and(|part| part.at == 0 && part.inner.name == name);
        // An action on headers is no mailbox, but an element of one.
        if description.name.ends_with("_action_in") {
            assert!(first("action_type", 4), "{description:?}");
        } else if description.name.ends_with("_in") {
            assert!(first("opcode", 16) || part("general_obj_in_cmd_hdr"), "{description:?}");
        } else if description.name.ends_with("_out") {
            assert!(first("status", 8) || part("general_obj_out_cmd_hdr"), "{description:?}");
        }
    }
}
