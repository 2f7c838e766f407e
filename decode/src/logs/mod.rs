//! Log lines about completions, WQEs, commands and devices. A line is cut into words and numbers once ([`words`]); each
//! file here reads one kind of line from them.

mod calls;
mod command;
mod completion;
mod errno;
mod fields;
mod health;
mod kernel;
mod status;
mod ucx;
mod words;

use self::fields::{number_field, part};
use crate::diagnosis;
use crate::options::Input;
use crate::report::{Diagnosis, Field, Kind, Record};

/// A line that announces a dump, or whose numbers have names of their own.
struct Form {
    /// Texts that the line contains, in this order.
    marks: &'static [&'static str],
    /// The kind of record that the line makes.
    kind: Kind,
    /// The content of a dump after the line.
    dump: Input,
    /// The labels that only this form has, and the fields of their numbers.
    own: &'static [(&'static [&'static str], &'static str)],
}

const fn announces(marks: &'static [&'static str], dump: Input) -> Form {
    Form { marks, kind: Kind::LoggedCompletion, dump, own: &[] }
}

/// The forms; the first that fits a line counts. Each names its source and follows the source's format strings.
const FORMS: &[Form] = &[
    // rdma-core providers/mlx5/cq.c.
    announces(&["got completion with error:"], Input::Cqe),
    // Linux drivers/net/ethernet/mellanox/mlx5/core/en/txrx.h; older kernels have sqn for qn.
    Form {
        marks: &["Error cqe on cqn", "syndrome"],
        kind: Kind::LoggedCompletion,
        dump: Input::Cqe,
        own: &[(&["opcode"], "op_own:opcode")],
    },
    // Linux drivers/net/ethernet/mellanox/mlx5/core/wq.c.
    Form {
        marks: &["WQE DUMP: WQ size"],
        kind: Kind::LoggedWqe,
        dump: Input::Wqe,
        own: &[
            (&["WQ", "size"], "wq_size"),
            (&["WQ", "cur", "size"], "wq_cur_size"),
            (&["WQE", "index"], "wqe_index"),
            (&["len"], "len"),
        ],
    },
    // Linux drivers/infiniband/hw/mlx5/cq.c, since 5.17 and before.
    announces(&["WC error:", "essage:"], Input::Cqe),
    announces(&["dump error cqe"], Input::Cqe),
    announces(&["error cqe on cqn"], Input::Cqe),
    // Linux drivers/net/ethernet/mellanox/mlx5/core/steering/hws/send.c.
    Form {
        marks: &["Bad OP in HWS SQ CQE:"],
        kind: Kind::LoggedCompletion,
        dump: Input::Cqe,
        own: &[(&["CQE"], "op_own:opcode")],
    },
    // DPDK drivers/net/mlx5/mlx5_tx.c and mlx5_rx.c; the names of its dump files tell the queue.
    announces(&["Unexpected CQE error syndrome", "CQN"], Input::Cqe),
    announces(&["MLX5 Error CQ"], Input::Cqe),
    Form { marks: &["MLX5 Error SQ:"], kind: Kind::LoggedWqe, dump: Input::Wqe, own: &[] },
    Form { marks: &["MLX5 Error RQ:"], kind: Kind::LoggedWqe, dump: Input::RecvWqe, own: &[] },
    // libxlio src/core/dev/cq_mgr_tx.cpp.
    Form {
        marks: &["cqe: syndrome=", "vendor=", "wqe_opcode_qpn="],
        kind: Kind::LoggedCompletion,
        dump: Input::Auto,
        own: &[(&["hw"], "rsvd1:hw_err_synd"), (&["type"], "rsvd1:hw_synd_type")],
    },
];

/// The kernel prints fewer numbers of a device's health (Linux `drivers/net/ethernet/mellanox/mlx5/core/health.c`).
const MOST_OF_HEALTH: usize = 64;

/// The content of a line, and the kind of a dump after it.
pub(crate) struct Told {
    pub(crate) record: Record,
    pub(crate) dump: Input,
    /// The digits of a WQE in the line itself.
    pub(crate) wqe: Option<String>,
}

/// Reads a line.
pub(crate) fn told(line: &str) -> Option<Told> {
    let form = FORMS.iter().find(|form| has(line, form.marks));
    let mut record = match form {
        Some(form) => announced(form, line),
        None => failure(line).or_else(|| ucx::wqe(line))?,
    };
    record.log.push(line.trim().to_owned());
    finish(&mut record);
    let wqe = line.split_once(" wqe=").map(|(_, rest)| rest.chars().take_while(char::is_ascii_hexdigit).collect());
    Some(Told { record, dump: form.map_or(Input::Auto, |form| form.dump), wqe })
}

/// The record of a line with a form of its own. It may have no numbers.
fn announced(form: &Form, line: &str) -> Record {
    let tokens = words::tokens(line);
    let fields = match form.kind {
        Kind::LoggedCompletion => completion::read(&tokens, form.own).unwrap_or_else(|| labelled(&tokens, form.own)),
        _ => labelled(&tokens, form.own),
    };
    let mut record = Record::new(form.kind, "");
    record.parts.push(part(fields));
    record
}

/// The numbers with these labels, and the number of the completion queue.
fn labelled(tokens: &[words::Token<'_>], own: &[(&[&str], &'static str)]) -> Vec<Field> {
    let of = |at: usize| {
        let label = words::Label::of(tokens, at);
        let known = own.iter().find(|(words, _)| label.ends(words)).map(|(_, name)| *name);
        let name = known.or_else(|| label.ends(&["cqn"]).then_some("cqn"))?;
        Some(number_field(name, tokens[at].number()?))
    };
    (0..tokens.len()).filter_map(of).collect()
}

/// The record of any other line about a failure.
fn failure(line: &str) -> Option<Record> {
    let tokens = words::tokens(line);
    if let Some(mut record) =
        command::read(&tokens).or_else(|| health::read(&tokens, line)).or_else(|| kernel::read(&tokens))
    {
        // Advice names the device if the line does.
        if let (Some(diagnosis), Some(address)) = (&mut record.diagnosis, health::address(&tokens, line)) {
            for advice in &mut diagnosis.advice {
                *advice = advice.replace("ADDRESS", address);
            }
        }
        return Some(record);
    }
    let Some(mut fields) = completion::read(&tokens, &[]) else { return calls::read(&tokens) };
    fields.extend(completion::nics(line));
    let mut record = Record::new(Kind::LoggedCompletion, "");
    record.parts.push(part(fields));
    Some(record)
}

/// Interprets the numbers of a line: sets the record's title and diagnosis.
fn finish(record: &mut Record) {
    let qpn = record.number("qpn").map_or(String::new(), |qpn| format!(", queue pair {qpn:#x}"));
    match record.kind {
        Kind::LoggedCompletion => {
            record.title = format!("a failed request, from a log{qpn}");
            record.diagnosis = completion_diagnosis(record);
        }
        Kind::LoggedWqe => record.title = format!("a WQE, from a log{qpn}"),
        _ => {}
    }
}

fn completion_diagnosis(record: &Record) -> Option<Diagnosis> {
    let byte = |name| record.number(name).and_then(|value| u8::try_from(value).ok());
    let (vendor, opcode) = (byte("vendor_err_synd"), byte("op_own:opcode"));
    let mut diagnosis = match (byte("syndrome"), record.number("status"), vendor) {
        (Some(syndrome), ..) => diagnosis::of_syndrome(syndrome, vendor),
        (None, Some(status), _) => diagnosis::of_status(status, vendor)?,
        (None, None, Some(vendor)) => diagnosis::of_vendor(vendor),
        (None, None, None) => opcode.map(|_| diagnosis::of_error_cqe())?,
    };
    if let Some(side) = opcode.and_then(diagnosis::side_of_cqe) {
        diagnosis.details.insert(0, side.to_owned());
    }
    Some(diagnosis)
}

/// Adds a line's record to the one of the lines before it, if both are about one failure. Gives it back if not.
pub(crate) fn join(before: &mut Record, more: Record) -> Option<Record> {
    let fields = |record: &Record| record.parts.iter().flat_map(|part| part.fields.clone()).collect::<Vec<_>>();
    let (old, new) = (fields(before), fields(&more));
    let find = |field: &Field| old.iter().find(|old| old.name == field.name);
    let is_one = match (before.kind, more.kind) {
        // Some drivers take two lines for a failure: one with the queue, one with the syndrome.
        (Kind::LoggedCompletion, Kind::LoggedCompletion) => {
            let has_verdict = |record: &Record| record.number("status").or(record.number("syndrome")).is_some();
            new.iter().all(|field| find(field).is_none()) && !(has_verdict(before) && has_verdict(&more))
        }
        // The kernel prints the health of a device in a dozen lines.
        (Kind::Event, Kind::Event) => {
            before.title == health::TITLE
                && more.title == health::TITLE
                && old.len() < MOST_OF_HEALTH
                && new.iter().all(|field| find(field).is_none_or(|old| old.value == field.value))
        }
        _ => false,
    };
    if !is_one {
        return Some(more);
    }
    let added: Vec<_> = new.into_iter().filter(|field| find(field).is_none()).collect();
    before.log.extend(more.log);
    if let Some(part) = before.parts.first_mut() {
        part.fields.extend(added);
    }
    match (&mut before.diagnosis, more.diagnosis) {
        (Some(diagnosis), Some(more)) if before.kind == Kind::Event => health::join(diagnosis, more),
        _ => finish(before),
    }
    None
}

fn has(line: &str, marks: &[&str]) -> bool {
    let mut rest = line;
    marks.iter().all(|mark| match rest.split_once(mark) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}
