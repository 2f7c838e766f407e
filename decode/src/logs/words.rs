//! The words and numbers of a log line, and the label in front of a number: `vendor err 129`, `status: 0xc`,
//! `wc->status = 12`, `vendor_err_synd byte is 0x52`.
//!
//! A line is cut once, from left to right. A label is looked up among few words in front of its number, so time grows
//! with the line's length.

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Kind,
    /// Whether no blank is in front.
    glued: bool,
    /// The first byte after it in the line.
    pub(crate) end: usize,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier, or anything else of letters, digits and underscores. Times, addresses, versions and numbers with
    /// units are words.
    Word,
    /// A whole number, decimal or with `0x` in front.
    Number {
        /// Without its sign.
        value: u64,
        /// Whether a minus sign is in front.
        negative: bool,
    },
    /// Any other character.
    Mark,
}

/// Most identifiers of a label.
const MOST_IDENTIFIERS: usize = 3;
/// Most segments of a label: identifiers are cut at underscores and between `aB`.
const MOST_SEGMENTS: usize = 6;
/// Most tokens between a label and its number.
const MOST_FILLERS: usize = 6;

/// Words that may stand between a label and its number.
const FILLERS: &[&str] = &["is", "was", "code", "number", "num", "byte", "value", "of"];

/// Cuts a line.
pub(crate) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    let mut glued = false;
    while let Some(first) = line[at..].chars().next() {
        if first.is_whitespace() || first.is_control() {
            at += first.len_utf8();
            glued = false;
            continue;
        }
        let rest = &line[at..];
        let (len, number) = if is_word(first) { word(rest) } else { (first.len_utf8(), None) };
        let kind = match number {
            Some(value) => Kind::Number { value, negative: glued && is_minus(&tokens) },
            None if is_word(first) => Kind::Word,
            None => Kind::Mark,
        };
        tokens.push(Token { text: &rest[..len], kind, glued, end: at + len });
        at += len;
        glued = true;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether the last token is a minus sign, and no hyphen of a word.
fn is_minus(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [.., before, sign] if sign.text == "-" => !sign.glued || before.kind == Kind::Mark,
        [sign] => sign.text == "-",
        _ => false,
    }
}

/// The length of the word or number that `text` begins with, and the number.
fn word(text: &str) -> (usize, Option<u64>) {
    let run = |text: &str, is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        // A program may print the next word without a blank: `wrid 0x149vendor_err 0x51`.
        let len = run(digits, |c| c.is_ascii_hexdigit());
        if let (1.., Ok(value)) = (len, u64::from_str_radix(&digits[..len], 16)) {
            return (2 + len, Some(value));
        }
    }
    let mut len = run(text, is_word);
    let is_decimal = text[..len].bytes().all(|c| c.is_ascii_digit());
    if !is_decimal {
        return (len, None);
    }
    // `12.5`, `10.0.0.1`, `12:30:01` and `1,200` are no whole numbers, and neither is `12%`.
    let mut is_whole = true;
    while let Some(more) =
        text[len..].strip_prefix(['.', ':', ',']).filter(|more| more.starts_with(|c: char| c.is_ascii_digit()))
    {
        is_whole = false;
        len += 1 + run(more, is_word);
    }
    is_whole &= !text[len..].starts_with('%');
    (len, if is_whole { text[..len].parse().ok() } else { None })
}

impl<'a> Token<'a> {
    /// The number, if it is one that is not negative.
    pub(crate) const fn number(&self) -> Option<u64> {
        match self.kind {
            Kind::Number { value, negative: false } => Some(value),
            _ => None,
        }
    }

    /// Whether this is a number with `0x` in front.
    pub(crate) fn has_prefix(&self) -> bool {
        matches!(self.kind, Kind::Number { .. })
            && self.text.starts_with(['0'])
            && self.text[1..].starts_with(['x', 'X'])
    }

    /// The number as hexadecimal digits, even without `0x`. Letters alone are a word.
    pub(crate) fn hexadecimal(&self) -> Option<u64> {
        match self.kind {
            Kind::Number { value, .. } if self.has_prefix() => Some(value),
            Kind::Mark => None,
            _ if self.text.bytes().any(|c| c.is_ascii_digit()) => u64::from_str_radix(self.text, 16).ok(),
            _ => None,
        }
    }

    /// Whether it is this word, in any case.
    pub(crate) fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is one of these words, in any case.
    pub(crate) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// The segments of an identifier, last first.
    fn segments(&self) -> impl Iterator<Item = &'a str> {
        let mut rest = self.text;
        std::iter::from_fn(move || {
            rest = rest.trim_end_matches('_');
            let last = rest.chars().next_back()?;
            let mut start = rest.len() - last.len_utf8();
            let mut after = last;
            for (at, c) in rest[..start].char_indices().rev() {
                if c == '_' || c.is_lowercase() && after.is_uppercase() {
                    break;
                }
                (start, after) = (at, c);
            }
            let segment = &rest[start..];
            rest = &rest[..start];
            Some(segment)
        })
    }
}

/// The words in front of a number.
pub(crate) struct Label<'a> {
    /// Segments, last first, each with whether its identifier begins with it.
    segments: Vec<(&'a str, bool)>,
}

impl<'a> Label<'a> {
    /// The label of the token at `at`.
    pub(crate) fn of(tokens: &[Token<'a>], at: usize) -> Self {
        let mut segments = Vec::new();
        let is_negative = matches!(tokens[at].kind, Kind::Number { negative: true, .. });
        let mut before = tokens[..at].iter().rev().peekable();
        for _ in 0..MOST_FILLERS {
            let is_filler = |token: &&Token<'_>| match token.kind {
                Kind::Mark => ":=([#\"'`<".contains(token.text) || is_negative && token.text == "-",
                Kind::Word => token.is_any(FILLERS),
                Kind::Number { .. } => false,
            };
            if before.next_if(|token| is_filler(token)).is_none() {
                break;
            }
        }
        for _ in 0..MOST_IDENTIFIERS {
            // The members of a structure: `wc.status`, `wc->status`.
            while before.next_if(|token| token.glued && [".", "-", ">"].contains(&token.text)).is_some() {}
            let Some(identifier) = before.next_if(|token| token.kind == Kind::Word) else { break };
            let first = segments.len();
            segments.extend(identifier.segments().take(MOST_SEGMENTS - first).map(|segment| (segment, false)));
            if segments.len() == MOST_SEGMENTS {
                break;
            }
            if let Some(last) = segments[first..].last_mut() {
                last.1 = true;
            }
        }
        Self { segments }
    }

    /// Whether it ends with these words: `["vendor", "err"]` fits `vendor err`, `wc.vendor_err` and `vendorErr`, but
    /// not `no_vendor_err`.
    pub(crate) fn ends(&self, words: &[&str]) -> bool {
        let count = words.len();
        self.segments.len() >= count
            && self.segments[count - 1].1
            && words.iter().rev().zip(&self.segments).all(|(word, (segment, _))| segment.eq_ignore_ascii_case(word))
    }

    /// Whether it ends with one of these.
    pub(crate) fn ends_any(&self, all: &[&[&str]]) -> bool {
        all.iter().any(|words| self.ends(words))
    }

    /// The segment in front of the last `count`.
    pub(crate) fn before(&self, count: usize) -> Option<&'a str> {
        self.segments.get(count).map(|(segment, _)| *segment)
    }
}

/// Whether the words at `at` are these, in any case, with nothing but blanks between.
pub(crate) fn phrase(tokens: &[Token<'_>], at: usize, words: &[&str]) -> bool {
    let here = tokens.get(at..).unwrap_or_default();
    here.len() >= words.len() && words.iter().zip(here).all(|(word, token)| token.is(word))
}

/// Whether these words are in a line, in this order.
pub(crate) fn in_order(tokens: &[Token<'_>], all: &[&[&str]]) -> bool {
    let mut from = 0;
    all.iter().all(|words| {
        let found = (from..tokens.len()).find(|at| phrase(tokens, *at, words));
        from = found.map_or(from, |at| at + words.len());
        found.is_some()
    })
}

/// Whether the line names this driver, or a device or a function of it.
pub(crate) fn is_mlx5(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| token.text.starts_with("mlx5"))
}

/// The second number of `4/0x51`, whose first is at `at`.
pub(crate) fn second(tokens: &[Token<'_>], at: usize) -> Option<u64> {
    match tokens.get(at + 1..at + 3)? {
        [slash, second] if slash.text == "/" && slash.glued && second.glued => second.number(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(line: &str) -> Vec<(u64, bool)> {
        let numbers = tokens(line).into_iter().filter_map(|token| match token.kind {
            Kind::Number { value, negative } => Some((value, negative)),
            _ => None,
        });
        numbers.collect()
    }

    #[test]
    fn whole_numbers_alone_are_numbers() {
        assert_eq!(
            numbers("a 12 0x1F 0x149vendor (3) x=4,y 5: 6/7"),
            [12, 0x1f, 0x149, 3, 4, 5, 6, 7].map(|n| (n, false))
        );
        assert_eq!(numbers("12.5 12% 12ms 10.0.0.1 12:30 1,200 1a v2 0x host-7:12 99999999999999999999"), []);
        assert_eq!(numbers("err(-22) = -5 -1 3-4"), [(22, true), (5, true), (1, true), (3, false), (4, false)]);
    }

    #[test]
    fn labels_are_whole_identifiers() {
        let ends = |line: &str, words: &[&str]| {
            let tokens = tokens(line);
            let at = tokens.iter().rposition(|token| matches!(token.kind, Kind::Number { .. })).expect("a number");
            Label::of(&tokens, at).ends(words)
        };
        for line in [
            "vendor err 129",
            "vendor_err=129",
            "x, vendor err: 129",
            "wc.vendor_err = 129",
            "wc->vendor_err 129",
            "vendorErr 129",
            "VENDOR ERR code is (129",
            "vendor-err 129",
        ] {
            assert!(ends(line, &["vendor", "err"]), "{line}");
        }
        for line in ["no_vendor_err 129", "vendor err, 129", "vendor err) 129", "vendor 1 err 129"] {
            assert!(!ends(line, &["vendor", "err"]), "{line}");
        }
        assert!(!ends("req_cqe_error 5", &["error"]));
    }
}
