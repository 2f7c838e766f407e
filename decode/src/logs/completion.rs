//! Failed completions in any line: a status by number, by name or by text, and the numbers beside it.
//!
//! A name of `ibv_wc_status`, or a text that only `ibv_wc_status_str` has, is enough. A number is a status only if its
//! label says so, and if the line is about a completion. So counters, exit codes and errno keep their meaning.

use blueflame::cq::error::{KnownSyndrome, vendor_advice};
use blueflame::cq::{Syndrome, WcStatus};

use super::fields::number_field;
use super::status::{self, Named};
use super::words::{Label, Token, second};
use crate::names;
use crate::report::{Field, Value};

/// Labels of a status, which no other number has.
const STATUS: &[&[&str]] = &[
    &["wc", "status"],
    &["wc", "error"],
    &["wc", "err"],
    &["ibv", "status"],
    &["ib", "wc", "status"],
    &["ibv", "wc", "status"],
    &["prov", "err"],
    &["prov", "errno"],
    &["cqe", "error"],
    &["cqe", "err"],
    &["cqe", "status"],
];
/// Labels of a status in a line about a completion.
const MAYBE_STATUS: &[&[&str]] = &[&["status"], &["error"], &["err"]];
/// Labels of a syndrome. Some programs print the vendor's under them.
const SYNDROME: &[&[&str]] = &[&["syndrome"], &["syndrom"], &["synd"]];
/// Labels of a vendor syndrome.
const VENDOR: &[&[&str]] = &[
    &["vendor", "err"],
    &["vendor", "error"],
    &["vendor", "errno"],
    &["vendor", "syndrome"],
    &["vendor", "syndrom"],
    &["vendor", "synd"],
    &["vendor", "err", "synd"],
    &["vendor", "err", "syndrome"],
    &["vendor", "error", "syndrome"],
    &["vendor", "specific", "error"],
    &["vendor", "status"],
    &["vend", "err"],
    &["vend", "error"],
    &["vend", "synd"],
    &["vend", "syndrome"],
    &["vend", "syndrom"],
    &["vend"],
];
/// The label of a vendor syndrome in a line with a status. In other lines it is who made the device.
const MAYBE_VENDOR: &[&[&str]] = &[&["vendor"]];

/// The labels of other numbers, and their fields.
const OTHERS: &[(&[&str], &str)] = &[
    (&["qpn"], "qpn"),
    (&["qp", "num"], "qpn"),
    (&["qp"], "qpn"),
    (&["qn"], "qpn"),
    (&["sqn"], "qpn"),
    (&["rqn"], "qpn"),
    (&["cqn"], "cqn"),
    (&["wr", "id"], "wr_id"),
    (&["wrid"], "wr_id"),
    (&["wqe", "counter"], "wqe_counter"),
    (&["wqe", "cnt"], "wqe_counter"),
    (&["wqe"], "wqe_counter"),
    (&["wq", "ci"], "wq_ci"),
    (&["rq", "ci"], "rq_ci"),
    (&["cq", "ci"], "cq_ci"),
    (&["ci"], "ci"),
    (&["hw", "err", "synd"], "rsvd1:hw_err_synd"),
    (&["hw", "synd", "type"], "rsvd1:hw_synd_type"),
    (&["hw", "synd"], "rsvd1:hw_synd_type"),
    (&["source", "addr"], "source_addr"),
    (&["dest", "addr"], "dest_addr"),
    (&["dest", "rkey"], "dest_rkey"),
];
/// The opcode and the queue pair in one number.
const OPCODE_QPN: &[&[&str]] = &[&["wqe", "opcode", "qpn"], &["wqe", "qpn"]];
/// The field with the opcode of an error CQE.
const CQE_OPCODE: &str = "op_own:opcode";
/// `MLX5_CQE_REQ_ERR` and `MLX5_CQE_RESP_ERR` (rdma-core `providers/mlx5/mlx5dv.h`).
const ERROR_CQES: [u64; 2] = [13, 14];
/// Numbers of queues have 24 bits. A larger one is a pointer.
const MOST_QUEUE: u64 = 0xff_ffff;

/// Identifiers that only lines about completions have.
const SUBJECTS: &[&str] = &["wc", "wcs", "cqe", "cqes", "wr_id", "wrid"];
/// Words in front of `completion` in such lines, and behind `CQ`.
const BEFORE_COMPLETION: &[&str] =
    &["got", "bad", "work", "send", "sending", "recv", "receive", "cq", "error", "failed", "rdma", "poll", "polled"];
const BEHIND_CQ: &[&str] = &["error", "state", "completion", "err", "poll"];
const BEFORE_CQ: &[&str] = &["poll", "polling"];
/// Words of lines about calls, whose numbers are errno or exit codes.
const CALLS: &[&str] = &[
    "create", "created", "creating", "alloc", "allocate", "destroy", "modify", "register", "resize", "open", "exit",
    "exited", "errno",
];

/// A number, and its token.
#[derive(Clone, Copy)]
struct Labelled {
    at: usize,
    value: u64,
}

/// The fields of a failed completion in a line; `None` if the line reports none. `own` are labels that only this form
/// of line has.
pub(crate) fn read(tokens: &[Token<'_>], own: &[(&[&str], &'static str)]) -> Option<Vec<Field>> {
    let named = by_name(tokens);
    let (mut status, mut maybe, mut syndrome, mut success) = (None, None, None, false);
    let mut vendors: Vec<(usize, u64)> = Vec::new();
    let mut maybe_vendor = None;
    let mut others: Vec<Field> = cqe_opcode(tokens).into_iter().collect();
    let is_lustre = tokens.iter().any(|token| token.text.starts_with("kiblnd_"));
    let is_cqe = tokens.iter().any(|token| token.is("cqe"));
    for at in 0..tokens.len() {
        let token = &tokens[at];
        if token.number().is_none() && token.hexadecimal().is_none() {
            continue;
        }
        let label = Label::of(tokens, at);
        if let Some(field) =
            own.iter().find(|(words, _)| label.ends(words)).and_then(|(_, name)| Some((name, token.number()?)))
        {
            others.push(number_field(field.0, field.1));
            continue;
        }
        if label.ends_any(VENDOR) || label.ends_any(MAYBE_VENDOR) {
            let value = token.number().or_else(|| token.hexadecimal()).filter(|value| *value <= 0xff);
            match value {
                Some(value) if label.ends_any(VENDOR) => vendors.push((at, value)),
                Some(value) if maybe_vendor.is_none() => maybe_vendor = Some((at, value)),
                _ => {}
            }
            continue;
        }
        let bits = OPCODE_QPN.iter().any(|words| label.ends(words)).then(|| token.hexadecimal()).flatten();
        if let Some(both) = bits {
            others.push(number_field("qpn", both & MOST_QUEUE));
            others.push(Field {
                meaning: names::opcode(both >> 24 & 0xff).map(str::to_owned),
                ..number_field("opcode", both >> 24)
            });
            continue;
        }
        if label.ends(&["wr", "id"]) || label.ends(&["wrid"]) {
            others.extend(token.number().or_else(|| token.hexadecimal()).map(|value| number_field("wr_id", value)));
            continue;
        }
        let Some(value) = token.number() else { continue };
        let labelled = Labelled { at, value };
        if label.ends_any(SYNDROME) {
            syndrome = syndrome.or(Some(labelled));
        } else if label.ends_any(STATUS) && second(tokens, at).is_none() || is_compared_with_success(tokens, at) {
            success |= value == 0;
            status = status.or(Some(labelled).filter(|_| value != 0));
        } else if label.ends_any(MAYBE_STATUS) {
            success |= value == 0 && label.ends(&["status"]);
            maybe = maybe.or(Some(labelled).filter(|_| value != 0));
        } else if label.ends(&["failed"]) && is_lustre {
            // Lustre lnet/klnds/o2iblnd/o2iblnd_cb.c: the status of a work completion.
            status = status.or(Some(labelled).filter(|_| value != 0));
        } else if label.ends(&["opcode"]) {
            others.push(opcode(value, is_cqe));
        } else {
            other(tokens, at, &label, value, &mut others);
        }
    }
    let is_call = tokens.iter().any(|token| token.is_any(CALLS) || is_call(token.text));
    let is_about = !vendors.is_empty() || is_about_completions(tokens);
    let named = named.filter(|named| !named.common || is_about || is_rdma(tokens));
    if named.is_none() && status.is_none() && !is_call && is_about {
        status = maybe;
    }
    let numbered = status.filter(|status| status.value < 0x100);
    if named.is_none() && numbered.is_none() && success {
        return None;
    }
    let from = named.map_or_else(|| numbered.map_or(0, |status| status.at), |named| named.at);
    let vendor = named
        .and_then(|named| vendor_behind(tokens, &named))
        .or_else(|| vendors.iter().find(|(at, _)| *at > from).or(vendors.first()).copied())
        .or_else(|| maybe_vendor.filter(|_| named.is_some() || numbered.is_some() || syndrome.is_some()));
    let syndrome = syndrome.and_then(|found| Some((found.at, u8::try_from(found.value).ok()?)));
    compose(tokens, Verdict { named, numbered, syndrome, vendor }, is_about, others)
}

/// The numbers of a line that say what failed.
struct Verdict {
    named: Option<Named>,
    numbered: Option<Labelled>,
    syndrome: Option<(usize, u8)>,
    vendor: Option<(usize, u64)>,
}

/// Decides which number is which, and makes the fields.
fn compose(tokens: &[Token<'_>], verdict: Verdict, is_about: bool, others: Vec<Field>) -> Option<Vec<Field>> {
    let Verdict { named, numbered, mut syndrome, mut vendor } = verdict;
    let number = named.map(|named| named.status as u64).or(numbered.map(|number| number.value));
    // A syndrome that is not the status's own is the vendor's: perftest's and old UCX's `syndrom 0x81`.
    if let (Some(number), Some((at, value)), None) = (number, syndrome, vendor) {
        if Syndrome::new(value).status() as u64 != number {
            (vendor, syndrome) = (Some((at, value.into())), None);
        }
    }
    if let Some(known) = named.and_then(|named| named.syndrome) {
        syndrome = Some((0, known as u8));
    }
    let vendor = vendor.map(|(at, value)| (at, base(&tokens[at], value, number, syndrome.map(|(_, value)| value))));
    let mut status = number.filter(|_| named.is_none_or(|named| named.syndrome.is_none()));
    // Some print the device's syndrome as the status. A vendor syndrome that belongs to it tells, and so does hex
    // where only a syndrome is so large.
    if let (None, None, Some(number)) = (named, syndrome, numbered) {
        let vendor = vendor.map(|(_, value)| value);
        let byte = u8::try_from(number.value).ok();
        if let Some(byte) = byte.filter(|byte| is_syndrome(*byte, vendor, tokens[number.at].has_prefix())) {
            (syndrome, status) = (Some((number.at, byte)), None);
        }
    }
    let has_opcode = others.iter().any(|field| field.name == CQE_OPCODE);
    let is_known = status.is_none_or(|status| WcStatus::ALL.iter().any(|known| *known as u64 == status));
    let has_syndrome =
        syndrome.is_some_and(|(_, value)| value != 0) && (is_about || named.is_some() || vendor.is_some());
    let has_vendor = vendor.is_some_and(|(_, value)| value != 0);
    if !is_known || !has_syndrome && !has_vendor && !has_opcode && status.is_none() {
        return None;
    }
    let mut fields = Vec::new();
    fields.extend(status.map(|status| number_field("status", status)));
    fields.extend(syndrome.map(|(_, value)| number_field("syndrome", value.into())));
    if let Some((at, value)) = vendor {
        let printed = tokens[at].text;
        let meaning = (!tokens[at].has_prefix()).then(|| format!("{printed} in the line"));
        fields.push(Field { meaning, ..number_field("vendor_err_synd", value.into()) });
    }
    // A program that prints the fields of a completion prints its opcode; another's may be its own.
    let has_fields = vendor.is_some() || numbered.is_some();
    for field in others.into_iter().filter(|field| field.name != "wc_opcode" || has_fields) {
        if fields.iter().all(|before| before.name != field.name) {
            fields.push(field);
        }
    }
    Some(fields)
}

/// A vendor syndrome whose base the line does not tell: decimal, unless only the hexadecimal one is a public value
/// beside this status. IPoIB of older kernels prints `vend_err 81` for 0x81, NCCL `vendor err 81` for 0x51.
fn base(token: &Token<'_>, value: u64, status: Option<u64>, syndrome: Option<u8>) -> u8 {
    let decimal = value as u8;
    let hexadecimal = token.hexadecimal().and_then(|value| u8::try_from(value).ok()).unwrap_or(decimal);
    let syndrome = syndrome.map(Syndrome::new).or_else(|| status.and_then(syndrome_of).map(Syndrome::Known));
    let is_public = |vendor| syndrome.is_some_and(|syndrome| vendor_advice(syndrome, vendor).is_some());
    if !is_public(decimal) && is_public(hexadecimal) { hexadecimal } else { decimal }
}

/// Whether a number that is labelled as a status is the device's syndrome.
fn is_syndrome(number: u8, vendor: Option<u8>, is_hex: bool) -> bool {
    let is_public = |syndrome| vendor.is_some_and(|vendor| vendor_advice(syndrome, vendor).is_some());
    let as_status = syndrome_of(number.into()).map(Syndrome::Known);
    let as_syndrome = Syndrome::new(number);
    let is_status = WcStatus::ALL.iter().any(|status| *status as u8 == number);
    match as_syndrome {
        Syndrome::Known(_) if as_status == Some(as_syndrome) => false,
        Syndrome::Known(_) => is_public(as_syndrome) && !as_status.is_some_and(is_public) || !is_status && is_hex,
        Syndrome::Unknown(_) => false,
    }
}

/// The syndrome that stands for a status.
fn syndrome_of(status: u64) -> Option<KnownSyndrome> {
    KnownSyndrome::ALL.iter().find(|known| known.status() as u64 == status).copied()
}

/// The first failure that the line names. Names that a program compares with are none.
fn by_name(tokens: &[Token<'_>]) -> Option<Named> {
    let mut first: Option<Named> = None;
    for at in 0..tokens.len() {
        let Some(named) = status::named(tokens, at) else { continue };
        let is_compared = at >= 2 && tokens[at - 1].text == "=" && ["=", "!"].contains(&tokens[at - 2].text);
        if named.status == WcStatus::Success || is_compared {
            continue;
        }
        // The device's syndrome says more than the status, and a name more than words.
        let better = match first {
            None => true,
            Some(before) => before.common && !named.common || before.syndrome.is_none() && named.syndrome.is_some(),
        };
        if better {
            first = Some(named);
        }
    }
    first
}

/// `(4/0x51)` behind a status is its number and the vendor's (Linux' RPC over RDMA).
fn vendor_behind(tokens: &[Token<'_>], named: &Named) -> Option<(usize, u64)> {
    let at = named.at + named.len;
    tokens.get(at).filter(|token| token.text == "(")?;
    let vendor = second(tokens, at + 1).filter(|vendor| *vendor <= 0xff)?;
    Some((at + 3, vendor))
}

/// `wc.status == IBV_WC_SUCCESS (12 vs. 0)`: a check that failed prints both sides.
fn is_compared_with_success(tokens: &[Token<'_>], at: usize) -> bool {
    at >= 2
        && tokens.get(at + 1).is_some_and(|token| token.is("vs"))
        && tokens[at - 2].text.ends_with("WC_SUCCESS")
        && tokens[at - 1].text == "("
}

/// The kind of error CQE that a line names: of a request, or of a receive.
fn cqe_opcode(tokens: &[Token<'_>]) -> Option<Field> {
    let named = |opcode: &u64| names::cqe_opcode(*opcode).is_some_and(|name| tokens.iter().any(|token| token.is(name)));
    ERROR_CQES.into_iter().find(named).map(|value| opcode(value, true))
}

fn is_call(word: &str) -> bool {
    word.starts_with("ibv_") && !["ibv_wc", "ibv_poll", "ibv_status"].iter().any(|prefix| word.starts_with(prefix))
}

fn is_about_completions(tokens: &[Token<'_>]) -> bool {
    let before = |at: usize, words: &[&str]| at > 0 && tokens[at - 1].is_any(words);
    let behind = |at: usize, words: &[&str]| tokens.get(at + 1).is_some_and(|token| token.is_any(words));
    (0..tokens.len()).any(|at| {
        let token = &tokens[at];
        token.is_any(SUBJECTS)
            || token.text.starts_with("ibv_wc")
            || token.text.starts_with("ibv_poll_cq")
            || (token.is("completion") || token.is("completions"))
                && (before(at, BEFORE_COMPLETION) || behind(at, &["with"]))
            || token.is("cq") && (behind(at, BEHIND_CQ) || before(at, BEFORE_CQ))
    })
}

/// Whether the line is about RDMA at all.
fn is_rdma(tokens: &[Token<'_>]) -> bool {
    let words = ["rdma", "infiniband", "roce", "qp", "qpn", "cq", "ib", "rkey", "lkey", "verbs", "local_nic"];
    tokens.iter().any(|token| {
        token.is_any(&words) || ["mlx5", "roce", "ibv_", "rdma_"].iter().any(|prefix| token.text.starts_with(prefix))
    })
}

/// The opcode that a line has: of the CQE, or of the completion. Of a failed completion, only wr_id, status, qp_num and
/// vendor_err are valid (ibv_poll_cq(3)).
fn opcode(value: u64, is_cqe: bool) -> Field {
    if is_cqe && ERROR_CQES.contains(&value) {
        return Field { meaning: names::cqe_opcode(value).map(str::to_owned), ..number_field(CQE_OPCODE, value) };
    }
    Field { meaning: Some("undefined in a failed completion".to_owned()), ..number_field("wc_opcode", value) }
}

/// A number that says where it failed.
fn other(tokens: &[Token<'_>], at: usize, label: &Label<'_>, value: u64, others: &mut Vec<Field>) {
    let Some((words, name)) = OTHERS.iter().find(|(words, _)| label.ends(words)) else { return };
    let is_queue = *name == "qpn" || *name == "cqn";
    let is_peers = label.before(words.len()).is_some_and(|before| ["remote", "dest", "peer"].contains(&before));
    if is_queue && (value > MOST_QUEUE || is_peers) {
        return;
    }
    others.push(number_field(name, value));
    // UCX: the type and the error.
    if *name == "rsvd1:hw_synd_type" {
        others.extend(second(tokens, at).map(|error| number_field("rsvd1:hw_err_synd", error)));
    }
}

/// The NICs that Mooncake names (`mooncake-transfer-engine/src/transport/rdma_transport/worker_pool.cpp`).
pub(crate) fn nics(line: &str) -> impl Iterator<Item = Field> {
    ["local_nic", "peer_nic"].into_iter().filter_map(move |name| {
        let behind = line.split_once(name)?.1.strip_prefix(": ")?;
        let nic = behind.split([',', ' ', ')']).next().filter(|nic| !nic.is_empty())?;
        Some(Field { name: name.into(), offset: 0, value: Value::Text(nic.to_owned()), meaning: None })
    })
}
