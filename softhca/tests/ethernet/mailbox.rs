//! Mailboxes by field names.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A field: first bit, bits, and the structure that it is, if it is one.
type Fields = HashMap<String, (usize, usize, Option<String>)>;

/// Structures: bits, and fields.
static KNOWN: LazyLock<HashMap<String, (usize, Fields)>> = LazyLock::new(|| {
    let number = |text: &str| usize::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let mut known: HashMap<String, (usize, Fields)> = HashMap::new();
    let mut structure = String::new();
    for line in include_str!("../../../devx/prm/mlx5_ifc.txt").lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            let inner = words.get(3).map(|&inner| inner.to_owned());
            let fields = &mut known.get_mut(&structure).expect("a structure").1;
            fields.entry(words[0].to_owned()).or_insert((number(words[1]), number(words[2]), inner));
        } else {
            words[0].clone_into(&mut structure);
            known.insert(structure.clone(), (number(words[1]), Fields::new()));
        }
    }
    known
});

/// First bit and bits of a field, by its path.
fn place(structure: &str, path: &str) -> (usize, usize) {
    let (mut at, mut structure) = (0, structure);
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let found = KNOWN.get(structure).and_then(|(_, fields)| fields.get(name));
        let (first, bits, inner) = found.unwrap_or_else(|| panic!("no {structure}.{name}"));
        at += first;
        if names.peek().is_none() {
            return (at, *bits);
        }
        structure = inner.as_deref().unwrap_or_else(|| panic!("{name} is no structure"));
    }
    panic!("an empty path")
}

/// Writes a number of up to 64 bits.
fn put(bytes: &mut [u8], (at, bits): (usize, usize), value: u64) {
    assert!(bits == 64 || value >> bits == 0, "{value:#x} has no room in {bits} bits");
    for bit in 0..bits {
        let place = at + bits - 1 - bit;
        let mask = 0x80 >> (place % 8);
        bytes[place / 8] = bytes[place / 8] & !mask | if value >> bit & 1 != 0 { mask } else { 0 };
    }
}

/// The input of a command, or its output.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    structure: &'static str,
    pub(crate) bytes: Vec<u8>,
}

impl Mail {
    /// Zeroes.
    pub(crate) fn new(structure: &'static str) -> Self {
        let bits = KNOWN.get(structure).unwrap_or_else(|| panic!("no {structure}")).0;
        Self { structure, bytes: vec![0; bits / 8] }
    }

    /// A command of this number.
    pub(crate) fn command(structure: &'static str, opcode: u64) -> Self {
        Self::new(structure).set("opcode", opcode)
    }

    /// With a field.
    pub(crate) fn set(mut self, path: &str, value: u64) -> Self {
        put(&mut self.bytes, place(self.structure, path), value);
        self
    }

    /// Puts bytes, beginning with the first byte of a field.
    pub(crate) fn put(mut self, path: &str, bytes: &[u8]) -> Self {
        let at = place(self.structure, path).0 / 8;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// With something behind it.
    pub(crate) fn followed_by(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// Appends numbers of 64 bits, such as page addresses.
    pub(crate) fn pages(self, pages: &[u64]) -> Self {
        let bytes: Vec<u8> = pages.iter().flat_map(|page| page.to_be_bytes()).collect();
        self.followed_by(&bytes)
    }

    /// A field.
    pub(crate) fn get(&self, path: &str) -> u64 {
        let (at, bits) = place(self.structure, path);
        let bit = |at: usize| u64::from(self.bytes[at / 8] >> (7 - at % 8) & 1);
        (at..at + bits).fold(0, |value, at| value << 1 | bit(at))
    }
}
