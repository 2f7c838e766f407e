//! Text: lines of logs, and dumps between them.
use std::borrow::Cow;

use crate::guess;
use crate::hex::{self, Block, Line};
use crate::logs;
use crate::options::{Input, Options};
use crate::report::{Kind, Record};

/// After this many other lines, a dump no longer belongs to the line that announced it.
const FAR: usize = 3;

/// The state of reading a text.
struct Reader<'a> {
    options: &'a Options,
    records: Vec<Record>,
    /// Dumps of unknown kind.
    unknown: Vec<Record>,
    /// The record of the latest log lines. A dump that follows belongs to it.
    pending: Option<Record>,
    /// The kind of the next dump.
    expected: Input,
    /// Other lines since the latest log line.
    since: usize,
    block: Option<Block>,
    squeezed: u64,
}

/// Everything in a text.
pub(crate) fn records(text: &str, options: &Options) -> Vec<Record> {
    let mut reader = Reader {
        options,
        records: Vec::new(),
        unknown: Vec::new(),
        pending: None,
        expected: Input::Auto,
        since: 0,
        block: None,
        squeezed: hex::MOST_SQUEEZED,
    };
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line);
    }
    reader.end_block();
    reader.end_pending();
    if reader.records.is_empty() { reader.unknown } else { reader.records }
}

impl Reader<'_> {
    fn line(&mut self, index: usize, line: &str) {
        let line = &without_colours(line);
        if let Some(told) = logs::told(line) {
            self.end_block();
            self.told(index, told);
            return;
        }
        if self.block.as_mut().is_some_and(|block| block.end(line)) {
            self.end_block();
            return;
        }
        match hex::line(line) {
            Line::Blank => {}
            Line::Squeezed => {
                if let Some(block) = &mut self.block {
                    block.squeeze();
                }
            }
            Line::Row(row) => {
                let rejected = match &mut self.block {
                    Some(block) => block.push(row, &mut self.squeezed).err(),
                    None => Some(row),
                };
                if let Some(row) = rejected {
                    self.end_block();
                    self.block = Some(Block::new(index, row));
                }
            }
            Line::Other => {
                self.end_block();
                self.since += 1;
                if self.since >= FAR {
                    self.end_pending();
                }
            }
        }
    }

    fn told(&mut self, index: usize, told: logs::Told) {
        let mut record = told.record;
        record.line = index;
        match self.pending.take() {
            Some(mut before) if self.since == 0 => match logs::join(&mut before, record) {
                None => record = before,
                Some(other) => {
                    self.records.extend(Some(before).filter(is_worth_showing));
                    record = other;
                }
            },
            before => self.records.extend(before.filter(is_worth_showing)),
        }
        self.since = 0;
        self.expected = told.dump;
        self.pending = Some(record);
        if let Some(Line::Row(row)) = told.wqe.map(|digits| hex::line(&digits)) {
            self.end_pending();
            self.expected = Input::Wqe;
            self.block = Some(Block::new(index, row));
            self.end_block();
        }
    }

    fn end_pending(&mut self) {
        self.expected = Input::Auto;
        self.records.extend(self.pending.take().filter(is_worth_showing));
    }

    fn end_block(&mut self) {
        let Some(block) = self.block.take() else { return };
        let (line, is_dump) = (block.line, block.sure);
        let input = if self.options.input == Input::Auto { self.expected } else { self.options.input };
        let options = Options { input, ..*self.options };
        let readings = block.readings(options.order);
        let sure = readings.len() == 1 && input != Input::Auto;
        let mut found = readings
            .iter()
            .map(|bytes| guess::records(bytes, &Options { input: Input::Auto, ..options }))
            .find(|records| records.first().is_some_and(|record| input == Input::Auto || agrees(input, record.kind)))
            .filter(|_| !sure)
            .or_else(|| (input != Input::Auto).then(|| guess::records(&readings[0], &options)))
            .unwrap_or_default();
        // Two words of a log could be a doorbell, but usually are not.
        let is_short = readings[0].len() < 16 && input == Input::Auto;
        match found.first_mut() {
            Some(_) if is_short => {
                for record in found.iter_mut().filter(|_| is_dump) {
                    record.line = line;
                    self.unknown.push(record.clone());
                }
            }
            Some(first) => {
                self.take_pending(first);
                for record in &mut found {
                    record.line = line;
                }
                self.records.append(&mut found);
            }
            None if readings[0].len() >= 8 && is_dump => {
                let mut record = Record::new(Kind::Unknown, format!("{} unknown bytes", readings[0].len()));
                record.line = line;
                record.bytes.clone_from(&readings[0]);
                record.notes.push("if you know what they are, say it by --kind".to_owned());
                self.unknown.push(record);
            }
            None => {}
        }
    }

    /// Adds the pending log lines to the record of the dump after them. If they do not fit it, they become their own
    /// record.
    fn take_pending(&mut self, record: &mut Record) {
        let belongs = |pending: &Record| match pending.kind {
            Kind::LoggedCompletion => record.kind == Kind::Cqe && self.expected == Input::Cqe,
            Kind::LoggedWqe => matches!(record.kind, Kind::SendWqe | Kind::RecvWqe),
            _ => false,
        };
        match self.pending.take() {
            Some(pending) if belongs(&pending) => {
                record.log = pending.log;
                let told = pending.parts.into_iter().filter(|part| !part.fields.is_empty());
                record.parts.extend(told);
            }
            other => self.records.extend(other.filter(is_worth_showing)),
        }
        self.expected = Input::Auto;
    }
}

/// The line without ANSI sequences that begin with `ESC [`: colours of a terminal would be part of words.
fn without_colours(line: &str) -> Cow<'_, str> {
    let Some((first, rest)) = line.split_once("\x1b[") else { return Cow::Borrowed(line) };
    let mut plain = first.to_owned();
    for piece in rest.split("\x1b[") {
        // Parameters, and a letter.
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(piece.len());
        plain.push_str(piece[end..].strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(&piece[end..]));
    }
    Cow::Owned(plain)
}

/// Whether the guessed kind is the announced one.
fn agrees(input: Input, kind: Kind) -> bool {
    matches!((input, kind), (Input::Wqe, Kind::SendWqe) | (Input::Cqe, Kind::Cqe))
}

/// Whether the record says something. A line that announces a missing dump has no fields.
fn is_worth_showing(record: &Record) -> bool {
    record.kind == Kind::Event || record.parts.iter().any(|part| !part.fields.is_empty())
}
