//! Each description of a structure against the tables made of the headers of other drivers: `prm/mlx5_ifc.txt`,
//! `prm/more.txt`.
//!
//! Layouts of commands belong here. The bytes of a whole mailbox belong in `golden.rs`.

use std::collections::BTreeMap;

use blueflame_devx::cmd::{COMMANDS, Opcode, STRUCTURES};
use blueflame_devx::mailbox::{CommandInfo, Description, How};

/// A field as the tables have it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fact {
    at: usize,
    bits: usize,
    inner: Option<String>,
}

#[derive(Default)]
struct Facts {
    bits: usize,
    fields: BTreeMap<String, Fact>,
}

fn number(text: &str) -> usize {
    usize::from_str_radix(text.strip_prefix("0x").expect("hexadecimal"), 16).expect("a number")
}

/// The structures of both tables.
fn tables() -> BTreeMap<String, Facts> {
    let mut structures: BTreeMap<String, Facts> = BTreeMap::new();
    let mut current = String::new();
    let text = concat!(include_str!("../prm/mlx5_ifc.txt"), include_str!("../prm/more.txt"));
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            // The rest may be the structure inside; otherwise it has names of the headers.
            let inner = words[3..].iter().find(|word| !["rdma-core", "dpdk", "ucx"].contains(word));
            let fact = Fact { at: number(words[1]), bits: number(words[2]), inner: inner.map(ToString::to_string) };
            let structure = structures.get_mut(&current).expect("a structure");
            assert_eq!(structure.fields.insert(words[0].to_lowercase(), fact), None, "{current}.{} twice", words[0]);
        } else {
            current = words[0].to_string();
            let structure = structures.entry(current.clone()).or_default();
            assert!([0, number(words[1])].contains(&structure.bits), "{current} has two sizes");
            structure.bits = number(words[1]);
        }
    }
    structures
}

/// Structures that end here as in rdma-core's header, and later in Linux' (`prm/mlx5_ifc.txt` has both at its end).
const SHORTER: [(&str, usize); 2] = [("encryption_key_obj", 0x800), ("query_qp_out", 0x880)];

/// Whether the table says that another header ends the structure after `bits`, too.
fn ends_there(name: &str, bits: usize) -> bool {
    let table = include_str!("../prm/mlx5_ifc.txt");
    let ends = |line: &str| line.starts_with(&format!("# {name} ")) && line.ends_with(&format!(": {bits:#x}"));
    SHORTER.contains(&(name, bits)) && table.lines().any(ends)
}

/// A description, in the form of the tables.
fn described(of: &Description) -> BTreeMap<String, Fact> {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, fact| assert_eq!(all.insert(name.trim_start_matches("r#").to_string(), fact), None);
    for field in of.fields {
        add(field.name, Fact { at: field.at, bits: field.width, inner: None });
    }
    for bytes in of.bytes {
        add(bytes.name, Fact { at: bytes.at, bits: bytes.len * 8, inner: None });
    }
    for part in of.parts {
        let many = if part.many == 1 { String::new() } else { format!("*{}", part.many) };
        let inner = Some(format!("{}{many}", part.inner.name));
        add(part.name, Fact { at: part.at, bits: part.inner.bits * part.many, inner });
    }
    all
}

#[test]
fn descriptions_agree_with_the_headers_of_other_drivers() {
    let tables = tables();
    let mut wrong = Vec::new();
    let mut fields = 0;
    for description in STRUCTURES.iter().flat_map(|of| of.iter()) {
        let name = description.name;
        let Some(facts) = tables.get(name) else {
            wrong.push(format!("{name}: no such structure"));
            continue;
        };
        if facts.bits != description.bits && !ends_there(name, description.bits) {
            wrong.push(format!("{name}: {:#x} bits, but {:#x}", description.bits, facts.bits));
        }
        let ours = described(description);
        fields += ours.len();
        for (field, at) in &ours {
            match facts.fields.get(field) {
                Some(fact) if fact == at => {}
                // Fields that depend on the command, or on a flag, are plain bytes here.
                Some(fact) if at.inner.is_none() && (fact.at, fact.bits) == (at.at, at.bits) => {}
                Some(fact) => wrong.push(format!("{name}.{field}: {at:?}, but {fact:?}")),
                None => wrong.push(format!("{name}.{field}: no such field")),
            }
        }
        // Lists have no size, and come after the structure; in a few places the headers differ about a name.
        for (field, fact) in
            facts.fields.iter().filter(|(_, fact)| fact.bits != 0 && fact.at + fact.bits <= description.bits)
        {
            let covered = ours.values().any(|our| our.at < fact.at + fact.bits && fact.at < our.at + our.bits);
            if !ours.contains_key(field) && !covered {
                wrong.push(format!("{name}.{field}: not described"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(fields > 1000, "only {fields} fields are described");
}

/// Safe calls send only commands that change nothing and name no memory.
#[test]
fn safe_commands_only_ask() {
    let safe = |info: &&CommandInfo| matches!(info.how, How::Executes | How::Queries);
    let asking: Vec<_> = COMMANDS.iter().flat_map(|of| of.iter()).filter(safe).collect();
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
    for description in STRUCTURES.iter().flat_map(|of| of.iter()) {
        let first = |name: &str, width| {
            description.fields.first().is_some_and(|field| (field.name, field.at, field.width) == (name, 0, width))
        };
        let part = |name: &str| description.parts.first().is_some_and(|part| part.at == 0 && part.inner.name == name);
        if description.name.ends_with("_in") {
            assert!(first("opcode", 16) || part("general_obj_in_cmd_hdr"), "{description:?}");
        } else if description.name.ends_with("_out") {
            assert!(first("status", 8) || part("general_obj_out_cmd_hdr"), "{description:?}");
        }
    }
}
