//! Rows of hex dumps: the bytes that a line shows, for every known form of dump.
//!
//! | printed by | a row |
//! |---|---|
//! | libmlx5, older kernels | `00000000 00008813 10012abe 0dd0c1d3` |
//! | Linux' `print_hex_dump`, DPDK's `rte_hexdump` | `00000030: 00 00 00 00 9d 00 53 04 …`, with or without characters behind |
//! | `xxd`, `xxd -p` | `00000030: 0000 0000 9d00 5304 …  ......S.`, or digits alone |
//! | `hexdump -C`, `od -t x1` | <code>00000030  00 00 00 00 9d 00 53 04  … &#124;......S.&#124;</code> |
//! | `hexdump`, `od -x` | `0000030 0000 0000 009d 0453 …`: words as a little endian CPU loads them |
//! | `gdb`: `x/16xw`, `x/64xb` | `0x7ffe30 <cq+48>:  0x00000000  0x0453009d …`: words as a little endian CPU loads them |
//! | C, Python | `0x00, 0x00, 0x9d`, `\x00\x9d` |
//!
//! Any of them may have the time or a program's name in front.

use crate::options::Order;

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Bytes.
    Row(Row),
    /// `*`: rows like the last one are left out.
    Squeezed,
    /// Nothing: it may be between rows.
    Blank,
    /// Something else.
    Other,
}

/// A row of a dump.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The possible offsets of the row; there may be two ways to read one.
    offsets: Vec<u64>,
    bytes: Vec<u8>,
    /// Bytes in a word.
    word: usize,
    /// The order of a word's bytes, if the row's form implies one.
    order: Option<Order>,
    /// Whether the line has an offset, or only digits: other lines may be words of a log.
    sure: bool,
}

/// Least number of bytes in a row that has no offset and is not alone on its line.
const LEAST: usize = 4;
/// Most bytes that all `*` of an input stand for. The limit keeps a few lines from taking all memory.
pub(crate) const MOST_SQUEEZED: u64 = 1 << 16;

/// Reads a line.
pub(crate) fn line(text: &str) -> Line {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Line::Blank;
    }
    if trimmed == "*" {
        return Line::Squeezed;
    }
    // Characters follow a bar; a program's name may precede one.
    let (front, back) = trimmed.split_once('|').unwrap_or((trimmed, ""));
    row(front).or_else(|| row(back)).map_or(Line::Other, Line::Row)
}

/// A word of a line, and how many blanks are in front of it.
struct Token<'a> {
    text: &'a str,
    blanks: usize,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let separates = |c: char| c.is_whitespace() || ",;{}()[]\"'\\".contains(c);
    let mut tokens = Vec::new();
    let mut blanks = 0;
    for piece in text.split(separates) {
        if piece.is_empty() {
            blanks += 1;
        } else {
            tokens.push(Token { text: piece, blanks: blanks + 1 });
            blanks = 0;
        }
    }
    tokens
}

/// The digits of a group of whole bytes, and whether `0x` or `x` precedes them.
fn digits(token: &str) -> Option<(&str, bool)> {
    let bare = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).or_else(|| token.strip_prefix('x'));
    let digits = bare.unwrap_or(token);
    let whole = !digits.is_empty() && digits.len() % 2 == 0 && digits.bytes().all(|c| c.is_ascii_hexdigit());
    whole.then_some((digits, bare.is_some()))
}

fn number(token: &str, radix: u32) -> Option<u64> {
    u64::from_str_radix(token.strip_prefix("0x").unwrap_or(token), radix).ok()
}

/// The offset in a token that ends with a colon.
fn offset(tokens: &[Token<'_>], at: usize) -> Option<u64> {
    let text = tokens[at].text.strip_suffix(':')?;
    // gdb: `0x7ffe30 <cq+48>:`
    let text = if text.ends_with('>') { tokens.get(at.checked_sub(1)?)?.text } else { text };
    number(text, 16)
}

fn row(text: &str) -> Option<Row> {
    let tokens = tokens(text);
    let is_offset =
        |at: &usize| offset(&tokens, *at).is_some() && tokens.get(at + 1).is_some_and(|t| digits(t.text).is_some());
    if let Some(at) = (0..tokens.len()).find(is_offset) {
        let mut row = groups(&tokens[at + 1..])?;
        row.offsets.extend(offset(&tokens, at));
        return Some(row);
    }
    // An offset without a colon is wider than the groups after it. `od` and `hexdump` may print seven digits.
    for at in 0..tokens.len().saturating_sub(1) {
        let (first, second) = (tokens[at].text, tokens[at + 1].text);
        let Some((group, false)) = digits(second) else { continue };
        let wider = matches!(first.len(), 4 | 6 | 7 | 8) && first.len() > group.len() && group.len() <= 8;
        let odd = first.len() == 7 && group.len() <= 16;
        if (wider || odd) && first.bytes().all(|c| c.is_ascii_hexdigit()) {
            let mut row = groups(&tokens[at + 1..])?;
            if row.word > 1 {
                row.order = Some(Order::Little);
            }
            row.offsets.extend(number(first, 16).into_iter().chain(number(first, 8)));
            return (row.bytes.len() >= LEAST || at == 0).then_some(row);
        }
    }
    // No offset: the longest run of groups.
    let mut best: Option<Row> = None;
    let mut at = 0;
    while at < tokens.len() {
        let Some(found) = groups(&tokens[at..]) else {
            at += 1;
            continue;
        };
        at += found.bytes.len().div_ceil(found.word);
        if best.as_ref().is_none_or(|best| best.bytes.len() < found.bytes.len()) {
            best = Some(found);
        }
    }
    let alone = best.as_ref().is_some_and(|row| row.bytes.len().div_ceil(row.word) == tokens.len());
    // A debugger prints words as the CPU loads them. But only an address proves that a debugger printed the words.
    best.filter(|row| alone || row.bytes.len() >= LEAST).map(|row| Row { order: None, sure: alone, ..row })
}

/// The groups at the start of `tokens`: all of one width except the last, up to the characters that some programs
/// append.
fn groups(tokens: &[Token<'_>]) -> Option<Row> {
    let (first, prefixed) = digits(tokens.first()?.text)?;
    let word = first.len() / 2;
    let order = (prefixed && word > 1).then_some(Order::Little);
    let mut bytes = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Some((group, of_prefixed)) = digits(token.text) else { break };
        let half_of_a_row = bytes.len() % 8 == 0 && bytes.len() < 16;
        if of_prefixed != prefixed
            || group.len() > first.len()
            || index > 0 && token.blanks >= 2 && !half_of_a_row && !prefixed
        {
            break;
        }
        bytes.extend((0..group.len() / 2).filter_map(|i| u8::from_str_radix(&group[2 * i..2 * i + 2], 16).ok()));
        if group.len() < first.len() {
            break;
        }
    }
    Some(Row { offsets: Vec::new(), bytes, word, order, sure: true })
}

/// Rows that belong together.
#[derive(Debug)]
pub(crate) struct Block {
    /// The line that it begins in.
    pub(crate) line: usize,
    /// Bytes as they are printed.
    rows: Vec<Vec<u8>>,
    word: usize,
    order: Option<Order>,
    /// The ways in which offsets can be read, so far; none if there are no offsets.
    ways: Vec<Way>,
    squeezed: bool,
    /// Whether this is a dump for sure, and not words of a log.
    pub(crate) sure: bool,
}

/// A way to read offsets: hexadecimal, or octal as `od` prints them.
#[derive(Debug)]
struct Way {
    /// The offset of the first row.
    base: u64,
    /// Bytes up to now.
    len: u64,
    /// How many bytes are left out in front of each row.
    gaps: Vec<u64>,
}

impl Way {
    /// How many bytes are left out in front of a row at `offset`; `None` if it cannot be the next.
    fn gap(&self, offset: u64, squeezed: bool) -> Option<u64> {
        let gap = offset.checked_sub(self.base)?.checked_sub(self.len)?;
        (squeezed == (gap > 0)).then_some(gap)
    }
}

impl Block {
    pub(crate) fn new(line: usize, row: Row) -> Self {
        let len = row.bytes.len() as u64;
        let ways = row.offsets.iter().map(|base| Way { base: *base, len, gaps: vec![0] });
        Self {
            line,
            word: row.word,
            order: row.order,
            ways: ways.collect(),
            rows: vec![row.bytes],
            squeezed: false,
            sure: row.sure,
        }
    }

    /// Notes that rows are left out here.
    pub(crate) fn squeeze(&mut self) {
        self.squeezed = true;
    }

    /// Takes an offset with nothing behind it, with which some dumps end, and tells whether it fits.
    pub(crate) fn end(&mut self, text: &str) -> bool {
        let text = text.trim();
        if self.ways.is_empty() || !matches!(text.len(), 6..=8) {
            return false;
        }
        let ends = [number(text, 16), number(text, 8)];
        let fits = |way: &Way, end: &Option<u64>| end.is_some_and(|end| way.gap(end, self.squeezed).is_some());
        // A way that does not come to this end was the wrong one, if another does.
        let fitting: Vec<bool> = self.ways.iter().zip(&ends).map(|(way, end)| fits(way, end)).collect();
        if fitting.contains(&true) {
            let mut fitting = fitting.into_iter();
            self.ways.retain(|_| fitting.next().unwrap_or(false));
            return true;
        }
        false
    }

    /// Takes a row; gives it back if it does not belong here. Rows that are left out may take `budget` bytes.
    pub(crate) fn push(&mut self, row: Row, budget: &mut u64) -> Result<(), Row> {
        if row.offsets.is_empty() != self.ways.is_empty() || row.word != self.word && row.bytes.len() > self.word {
            return Err(row);
        }
        if !self.ways.is_empty() {
            let gaps: Vec<_> =
                self.ways.iter().zip(&row.offsets).map(|(way, offset)| way.gap(*offset, self.squeezed)).collect();
            let most = gaps.iter().copied().flatten().max();
            let Some(most) = most.filter(|most| most <= budget) else { return Err(row) };
            *budget -= most;
            let mut kept = gaps.iter();
            self.ways.retain(|_| kept.next().is_some_and(Option::is_some));
            for (way, gap) in self.ways.iter_mut().zip(gaps.into_iter().flatten()) {
                way.gaps.push(gap);
                way.len += gap + row.bytes.len() as u64;
            }
            self.squeezed = false;
        }
        self.rows.push(row.bytes);
        Ok(())
    }

    /// The bytes as they are in memory, in the ways in which they can be read, likeliest first.
    pub(crate) fn readings(self, told: Option<Order>) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        let gaps = self.ways.first().map_or(&[][..], |way| &way.gaps);
        for (index, row) in self.rows.iter().enumerate() {
            let gap = gaps.get(index).copied().unwrap_or(0) as usize;
            let before = &self.rows[index.saturating_sub(1)];
            bytes.extend(before.iter().cycle().take(gap));
            bytes.extend(row);
        }
        let swapped =
            |bytes: &[u8]| bytes.chunks(self.word).flat_map(|word| word.iter().rev().copied()).collect::<Vec<_>>();
        match (self.word, told.or(self.order)) {
            (1, _) | (_, Some(Order::Big)) => vec![bytes],
            (_, Some(Order::Little)) => vec![swapped(&bytes)],
            (2 | 4 | 8, None) => {
                let swapped = swapped(&bytes);
                vec![bytes, swapped]
            }
            (_, None) => vec![bytes],
        }
    }
}
