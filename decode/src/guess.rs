//! Guesses the kind of bytes if the caller does not name it.
use crate::options::{Input, Options};
use crate::report::{Kind, Record};
use crate::{cqe, doorbell, wqe};

/// Bytes of a WQEBB. Each WQE of a send queue begins at a WQEBB.
const WQEBB: usize = 64;

/// The bytes as the kind that `options` name. Empty only if there are no bytes, or if `options` name no kind and none
/// fits.
pub(crate) fn records(bytes: &[u8], options: &Options) -> Vec<Record> {
    let doorbells = |kind| bytes.chunks(8).map(|bytes| doorbell::one(bytes, kind)).collect();
    match options.input {
        _ if bytes.is_empty() => Vec::new(),
        Input::Auto => guess(bytes, options),
        Input::Wqe => sends(bytes, options),
        Input::RecvWqe => vec![wqe::receive(bytes, false)],
        Input::SrqWqe => vec![wqe::receive(bytes, true)],
        Input::Cqe => cqe::all(bytes, options.cqe_bytes),
        Input::MiniCqes => bytes.chunks(WQEBB).map(|bytes| cqe::mini_cqes(bytes, bytes.len() / 8)).collect(),
        Input::QpRecord => doorbells(Kind::QpRecord),
        Input::CqRecord => doorbells(Kind::CqRecord),
        Input::SqDoorbell => doorbells(Kind::SqDoorbell),
        Input::CqDoorbell => doorbells(Kind::CqDoorbell),
    }
}

/// A send ring, or the start of one: WQE after WQE. WQEBBs of zeros were never written and are left out.
fn sends(bytes: &[u8], options: &Options) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let here = &bytes[at..];
        let unused = here.len() >= WQEBB && here[..WQEBB] == [0; WQEBB];
        if !unused {
            records.push(wqe::send(here, options.transport));
        }
        let len = if unused { WQEBB } else { wqe::len(here) };
        at += len.next_multiple_of(WQEBB);
    }
    if records.is_empty() {
        records.push(wqe::send(bytes, options.transport));
    }
    records
}

fn guess(bytes: &[u8], options: &Options) -> Vec<Record> {
    if bytes.len() == 8 {
        let is_doorbell = wqe::is_first_word(bytes);
        let kind = if is_doorbell { Kind::SqDoorbell } else { Kind::QpRecord };
        let mut record = doorbell::one(bytes, kind);
        let fits = is_doorbell || record.notes.iter().all(|note| !note.contains("reserved"));
        record.notes.push("eight bytes may be a doorbell of another kind: say which by --kind".to_owned());
        return if fits { vec![record] } else { Vec::new() };
    }
    let odd = wqe::oddity(bytes, options.transport);
    let is_cqe = (64..=bytes.len()).step_by(64).take(2).any(|end| cqe::is_plausible(&bytes[end - 64..end]));
    match odd {
        // Most nonzero bytes of a CQE are in its second half, and make no sense as data segments.
        Some(0) => sends(bytes, options),
        _ if is_cqe && bytes.len() % 64 == 0 => cqe::all(bytes, options.cqe_bytes),
        Some(_) => sends(bytes, options),
        None => Vec::new(),
    }
}
