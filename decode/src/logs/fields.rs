//! Records that come from log lines, and their fields.

use crate::names;
use crate::report::{Diagnosis, Field, Kind, Part, Record, Value};

/// The fields of a line.
pub(super) fn part(fields: Vec<Field>) -> Part {
    Part { name: "log line".into(), offset: 0, bytes: 0, fields }
}

/// A number: decimal or hexadecimal as people expect its field, with the name of its value if it has one.
pub(super) fn number_field(name: &'static str, number: u64) -> Field {
    let value = match name {
        "status" | "cq_ci" | "wq_ci" | "rq_ci" | "ci" | "len" | "wq_size" | "wq_cur_size" | "wr_id" | "err"
        | "errno" | "uid" | "module" | "queue" | "fatal_error" | "wc_opcode" => Value::Dec(number),
        _ => Value::Hex(number, 8),
    };
    let meaning = match name {
        "syndrome" => names::syndrome(number),
        "status" => names::status(number),
        _ => None,
    };
    Field { name: name.into(), offset: 0, value, meaning: meaning.map(str::to_owned) }
}

/// Words of the line.
pub(super) fn text_field(name: &'static str, text: String) -> Field {
    Field { name: name.into(), offset: 0, value: Value::Text(text), meaning: None }
}

/// The record of an event.
pub(super) fn event(title: &str, summary: &str, advice: &[&str], fields: Vec<Field>) -> Record {
    let mut record = Record::new(Kind::Event, title);
    record.diagnosis = Some(Diagnosis {
        summary: summary.to_owned(),
        details: Vec::new(),
        advice: advice.iter().map(|advice| (*advice).to_owned()).collect(),
    });
    record.parts.push(part(fields));
    record
}
