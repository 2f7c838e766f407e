//! Where Linux' header has the fields of mailboxes, for tests to compare with.

use super::{Field, field};

const TABLE_OF_LINUX: &str = include_str!("../../../../../devx/prm/mlx5_ifc.txt");

fn number(text: &str) -> usize {
    usize::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number")
}

/// Where Linux' header has a field, which may be in structures inside: `create_cq_in.cq_context.dbr_addr`.
pub(crate) fn known(path: &str) -> Field {
    let mut names = path.split('.');
    let mut structure = names.next().expect("a structure");
    let mut found = field(0, 0);
    for name in names {
        let body = TABLE_OF_LINUX.lines().skip_while(|line| line.split(' ').next() != Some(structure)).skip(1);
        let fields = body.take_while(|line| line.starts_with(' ')).map(|line| line.split_whitespace().collect());
        let words: Vec<&str> = fields.into_iter().find(|words: &Vec<&str>| words[0] == name).expect(path);
        found = Field { at: found.at + number(words[1]), width: number(words[2]) };
        structure = words.get(3).copied().unwrap_or_default();
    }
    found
}

/// Bytes of a structure.
pub(crate) fn bytes(structure: &str) -> usize {
    let line = TABLE_OF_LINUX.lines().find(|line| line.split(' ').next() == Some(structure)).expect(structure);
    number(line.split(' ').nth(1).expect("a size")) / 8
}
