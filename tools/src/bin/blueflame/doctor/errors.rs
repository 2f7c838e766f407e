//! Errors that are forced: the syndrome, the vendor's syndrome, and their texts.

use blueflame::cq::{ErrorCqe, Syndrome, WcStatus};
use blueflame::transport::Rc;
use blueflame::types::{Lkey, Rkey};
use blueflame::wqe::{self, Sge};
use blueflame::{Remote, WrId};

use super::check::Check;
use super::found::{Failure, Seen, ensure};
use super::lab::{Lab, connected, connected_by};
use crate::need::Need;

const NEEDS: &[Need] = &[Need::Link, Need::Address];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "errors.remote_access",
        title: "a WRITE by a wrong rkey: the remote access error",
        fault: "The device lets a peer write where it must not, or reports another error than the specification's.",
        needs: NEEDS,
        run: remote_access,
    },
    Check {
        id: "errors.local_protection",
        title: "a WRITE from memory with a wrong lkey: the local protection error",
        fault: "As errors.remote_access, for the memory of the poster.",
        needs: NEEDS,
        run: local_protection,
    },
    Check {
        id: "errors.length",
        title: "a message longer than its receive: errors at both ends",
        fault: "Messages that are too long are cut in silence, or reported as other errors.",
        needs: NEEDS,
        run: length,
    },
    Check {
        id: "errors.no_receive",
        title: "a message without a receive, after two retries",
        fault: "The device does not report a receiver that is not ready, or waits for ever.",
        needs: NEEDS,
        run: no_receive,
    },
    Check {
        id: "errors.no_answer",
        title: "a WRITE to a queue pair in the error state: retries exceeded",
        fault: "The device does not report a peer that is gone, or waits for ever.",
        needs: NEEDS,
        run: no_answer,
    },
    Check {
        id: "errors.flush",
        title: "requests behind a failed one are flushed, signalled or not",
        fault: "Requests behind an error get lost: programs that count completions would wait for ever.",
        needs: NEEDS,
        run: flush,
    },
];

/// The error's line for the report; fails if it has another status.
fn told(what: &str, error: &ErrorCqe, expected: WcStatus) -> Result<(String, String), Failure> {
    let syndrome = match error.syndrome {
        Syndrome::Known(known) => format!("{:#04x} {}", known as u8, known.name()),
        Syndrome::Unknown(value) => format!("{value:#04x}"),
    };
    let vendor = error.vendor_advice().map_or(String::new(), |text| format!(" ({text})"));
    let line = format!("syndrome {syndrome}, vendor {:#04x}{vendor}: {}", error.vendor_err_synd, error.status().text());
    ensure(error.status() == expected, || format!("{what}: {line}; {} was expected", expected.name()))?;
    Ok((what.to_owned(), line))
}

fn seen(text: &str, lines: impl IntoIterator<Item = (String, String)>) -> Seen {
    lines.into_iter().fold(Seen::new(text), |seen, (name, line)| seen.figure(name, line))
}

fn remote_access(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, far) = connected::<Rc>(lab)?;
    let place = far.memory.remote();
    let wrong = Remote { rkey: Rkey(place.rkey.0 ^ 0xff), ..place };
    near.post(&wqe::write(wrong).inline(b"forbidden").signaled(WrId(1)))?;
    let error = near.send_error(lab, "the WRITE")?;
    let line = told("at the writer", &error, WcStatus::RemAccessErr)?;
    ensure(far.memory.to_vec(0..9) == [0; 9], || "the bytes were written all the same".into())?;
    Ok(seen("refused with the remote access error", [line]))
}

fn local_protection(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, far) = connected::<Rc>(lab)?;
    let sge = near.memory.sge_of(0..64);
    let wrong = Sge { lkey: Lkey(sge.lkey.0 ^ 0xff), ..sge };
    near.post(&wqe::write(far.memory.remote()).gather([wrong]).signaled(WrId(1)))?;
    let error = near.send_error(lab, "the WRITE")?;
    let line = told("at the writer", &error, WcStatus::LocProtErr)?;
    Ok(seen("refused with the local protection error", [line]))
}

fn length(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    far.receive(WrId(1), 0..16)?;
    near.post(&wqe::send().inline(&[7; 17]).signaled(WrId(2)))?;
    let sender = told("at the sender", &near.send_error(lab, "the SEND")?, WcStatus::RemInvReqErr)?;
    let receiver = told("at the receiver", &far.receive_error(lab, "the receive")?, WcStatus::LocLenErr)?;
    Ok(seen("an invalid request for the sender, a length error for the receiver", [sender, receiver]))
}

fn no_receive(lab: &Lab) -> Result<Seen, Failure> {
    let mut path = lab.path()?;
    // Two retries of 0.01 ms.
    (path.rnr_retry, path.min_rnr_timer) = (2, 1);
    let (mut near, _far) = connected_by::<Rc>(lab, &path)?;
    near.post(&wqe::send().inline(b"anybody?").signaled(WrId(1)))?;
    let line = told("at the sender", &near.send_error(lab, "the SEND")?, WcStatus::RnrRetryExcErr)?;
    Ok(seen("the sender gave up", [line]))
}

fn no_answer(lab: &Lab) -> Result<Seen, Failure> {
    let mut path = lab.path()?;
    // One retry after 4 ms; devices have a least timeout of their own, which may be longer.
    (path.retry_cnt, path.timeout) = (1, 10);
    let (mut near, far) = connected_by::<Rc>(lab, &path)?;
    far.pair.qp.to_error()?;
    near.post(&wqe::write(far.memory.remote()).inline(b"anybody?").signaled(WrId(1)))?;
    let line = told("at the writer", &near.send_error(lab, "the WRITE")?, WcStatus::RetryExcErr)?;
    Ok(seen("the writer gave up", [line]))
}

fn flush(lab: &Lab) -> Result<Seen, Failure> {
    let (mut near, far) = connected::<Rc>(lab)?;
    let place = far.memory.remote();
    let wrong = Remote { rkey: Rkey(place.rkey.0 ^ 0xff), ..place };
    let mut batch = near.pair.sq.batch();
    batch.push(&wqe::write(wrong).inline(b"forbidden").signaled(WrId(1)))?;
    batch.push(&wqe::write(place).inline(b"behind"))?;
    batch.push(&wqe::write(place).inline(b"behind").signaled(WrId(3)))?;
    batch.ring_doorbell();
    told("the first", &near.send_error(lab, "the first WRITE")?, WcStatus::RemAccessErr)?;
    let second = told("the second", &near.send_error(lab, "the unsignalled WRITE behind")?, WcStatus::WrFlushErr)?;
    let third = told("the third", &near.send_error(lab, "the WRITE behind")?, WcStatus::WrFlushErr)?;
    ensure(far.memory.to_vec(0..6) == [0; 6], || "a flushed WRITE was executed".into())?;
    Ok(seen("both requests behind were flushed", [second, third]))
}
