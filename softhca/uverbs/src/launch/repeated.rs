//! Lines that say the same of other numbers: the first few are shown, later ones counted.
//!
//! A driver that makes one mistake makes it with each request, so 50,000 lines would hide all others.

use std::collections::BTreeMap;

/// Lines of a kind that are shown before only every tenth, hundredth and so on is.
const SHOWN: u64 = 5;
/// Kinds that are told apart. Lines of further kinds count as one.
const MOST_KINDS: usize = 1000;

/// Lines of one kind.
#[derive(Debug)]
struct Kind {
    seen: u64,
    /// Lines since the last one that was shown.
    held: u64,
    last: String,
}

/// The lines up to now, by kind.
#[derive(Debug, Default)]
pub(crate) struct Repeated(BTreeMap<String, Kind>);

impl Repeated {
    /// No lines yet.
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes a line. `Some` if it is to be shown: how many lines of its kind before it were not.
    pub(crate) fn take(&mut self, line: &str) -> Option<u64> {
        let mut kind = without_numbers(line);
        if self.0.len() >= MOST_KINDS && !self.0.contains_key(&kind) {
            kind.clear();
        }
        let kind = self.0.entry(kind).or_insert(Kind { seen: 0, held: 0, last: String::new() });
        kind.seen += 1;
        if kind.seen <= SHOWN || is_power_of_ten(kind.seen) {
            return Some(std::mem::take(&mut kind.held));
        }
        kind.held += 1;
        line.clone_into(&mut kind.last);
        None
    }

    /// Takes the lines that were not shown: the last one of each kind, and how many there were before it.
    pub(crate) fn take_held(&mut self) -> Vec<(String, u64)> {
        let held = self.0.values_mut().filter(|kind| kind.held > 0);
        held.map(|kind| (std::mem::take(&mut kind.last), std::mem::take(&mut kind.held) - 1)).collect()
    }
}

/// How many lines are not shown, as the end of the one that is.
pub(crate) fn more(count: u64) -> String {
    match count {
        0 => String::new(),
        count => format!(" … and {count} more like this"),
    }
}

fn is_power_of_ten(mut number: u64) -> bool {
    while number >= 10 && number % 10 == 0 {
        number /= 10;
    }
    number == 1
}

/// `line` with each number, decimal or hexadecimal, replaced by `#`.
fn without_numbers(line: &str) -> String {
    let mut kind = String::with_capacity(line.len());
    let mut in_number = false;
    for letter in line.chars() {
        in_number = letter.is_ascii_digit() || (in_number && letter.is_ascii_alphanumeric());
        if !in_number {
            kind.push(letter);
        } else if !kind.ends_with('#') {
            kind.push('#');
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_make_a_kind() {
        let line = "mlx5_0: QP 0xfa1: WQE 12 has 0 bytes of a";
        assert_eq!(without_numbers(line), "mlx#_#: QP #: WQE # has # bytes of a");
    }

    #[test]
    fn the_first_are_shown_and_the_others_counted() {
        let mut lines = Repeated::new();
        let shown: Vec<_> = (0..50_541).filter_map(|qpn| Some((qpn, lines.take(&format!("QP {qpn}: no"))?))).collect();
        let first = (0..5).map(|qpn| (qpn, 0));
        assert_eq!(shown, first.chain([(9, 4), (99, 89), (999, 899), (9999, 8999)]).collect::<Vec<_>>());
        assert_eq!(lines.take("QP 7: yes"), Some(0), "another kind");
        assert_eq!(lines.take_held(), [("QP 50540: no".to_owned(), 40_540)]);
        assert_eq!(lines.take_held(), []);
        assert_eq!(lines.take("QP 7: no"), None);
        assert_eq!(lines.take_held(), [("QP 7: no".to_owned(), 0)]);
        assert_eq!((more(0), more(40_540)), (String::new(), " … and 40540 more like this".to_owned()));
    }

    #[test]
    fn any_number_of_kinds_takes_bounded_memory() {
        let mut lines = Repeated::new();
        // Letters only, so that each is a kind.
        let word = |mut n: u32| {
            std::iter::repeat_with(|| {
                let letter = char::from(b'a' + (n % 26) as u8);
                n /= 26;
                letter
            })
            .take(5)
            .collect::<String>()
        };
        let shown = (0..5000).filter(|&n| lines.take(&word(n)).is_some()).count();
        assert_eq!((lines.0.len(), shown), (MOST_KINDS + 1, MOST_KINDS + 5 + 3));
    }
}
