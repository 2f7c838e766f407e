//! Diagnoses of failures, and advice. The texts are those of [`blueflame::cq`] and [`blueflame_devx::cmd`].
use blueflame::cq::error::{KnownSyndrome, vendor_advice};
use blueflame::cq::{CqeOpcode, Syndrome, WcStatus};
use blueflame_devx::cmd::Status;

use crate::layout::cqe as layout;
use crate::names;
use crate::report::Diagnosis;

/// Diagnoses a CQE of 64 bytes, if it reports a failure.
pub(crate) fn of_cqe(cqe64: &[u8], opcode: CqeOpcode) -> Option<Diagnosis> {
    let get = |name| layout::ERR_CQE.get(cqe64, name);
    match opcode {
        CqeOpcode::ReqErr | CqeOpcode::RespErr => {
            let mut diagnosis = of_syndrome(get("syndrome") as u8, Some(get("vendor_err_synd") as u8));
            let (qpn, wqe) = (get("s_wqe_opcode_qpn:qpn"), get("wqe_counter"));
            let request = if opcode == CqeOpcode::ReqErr {
                names::opcode(get("s_wqe_opcode_qpn:s_wqe_opcode")).unwrap_or("a request of unknown opcode")
            } else {
                "a receive"
            };
            diagnosis.details.insert(0, format!("failed request: {request}, queue pair {qpn:#x}, WQE {wqe:#06x}"));
            Some(diagnosis)
        }
        CqeOpcode::SigErr => Some(Diagnosis {
            summary: "a signature check of a memory key found data that does not fit its signature".to_owned(),
            ..Diagnosis::default()
        }),
        _ => None,
    }
}

/// Diagnoses the numbers of an error CQE. Pass `None` if a log has no vendor syndrome.
pub(crate) fn of_syndrome(value: u8, vendor: Option<u8>) -> Diagnosis {
    let syndrome = Syndrome::new(value);
    let status = syndrome.status();
    let mut diagnosis = Diagnosis { summary: format!("{status}: {syndrome}"), ..Diagnosis::default() };
    diagnosis.details.extend(side(status).map(str::to_owned));
    diagnosis.advice.extend(syndrome.advice().iter().map(|advice| (*advice).to_owned()));
    if let Some(vendor) = vendor {
        diagnosis.details.push(match vendor_advice(syndrome, vendor) {
            Some(known) => format!("vendor syndrome {vendor:#04x}: {known}"),
            None => {
                format!("vendor syndrome {vendor:#04x}, for which no public list exists: ask NVIDIA's support")
            }
        });
    }
    diagnosis
}

/// Diagnoses a verbs status, as programs print it, by the syndrome that maps to it if there is one.
pub(crate) fn of_status(number: u64, vendor: Option<u8>) -> Option<Diagnosis> {
    let status = WcStatus::ALL.iter().find(|status| **status as u64 == number)?;
    let known = KnownSyndrome::ALL.iter().find(|known| known.status() == *status);
    Some(match known {
        Some(known) => of_syndrome(*known as u8, vendor),
        None => {
            let vendor = vendor.map(|vendor| format!("vendor syndrome {vendor:#04x}"));
            let details = side(*status).map(str::to_owned).into_iter().chain(vendor).collect();
            Diagnosis { summary: status.to_string(), details, ..Diagnosis::default() }
        }
    })
}

/// Diagnoses a vendor syndrome without a status.
pub(crate) fn of_vendor(vendor: u8) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        summary: format!("a request failed; the line has only the vendor syndrome, {vendor:#04x}"),
        ..Diagnosis::default()
    };
    for known in KnownSyndrome::ALL {
        if let Some(text) = vendor_advice(Syndrome::Known(*known), vendor) {
            diagnosis.details.push(format!("it is known beside {}: {text}", known.status().name()));
        }
    }
    diagnosis.advice.push("look for the status of the completion: it says more than the vendor syndrome".to_owned());
    diagnosis
}

/// Diagnoses an error CQE of which a log has no syndrome.
pub(crate) fn of_error_cqe() -> Diagnosis {
    Diagnosis {
        summary: "a request failed; the line does not have the syndrome of its CQE".to_owned(),
        details: Vec::new(),
        advice: vec!["look for the syndrome, byte 0x37 of the CQE, or the dump of the CQE".to_owned()],
    }
}

/// The side that an error CQE with this opcode belongs to.
pub(crate) fn side_of_cqe(opcode: u8) -> Option<&'static str> {
    match CqeOpcode::new(opcode) {
        CqeOpcode::ReqErr => Some("the CQE is a requester's: a send, WRITE, READ or atomic failed"),
        CqeOpcode::RespErr => Some("the CQE is a responder's: a receive failed"),
        _ => None,
    }
}

/// The side that found the error, and the side to look at.
const fn side(status: WcStatus) -> Option<&'static str> {
    Some(match status {
        WcStatus::LocLenErr | WcStatus::LocQpOpErr | WcStatus::LocProtErr | WcStatus::MwBindErr => {
            "side: this one found the error in its own request, receive or memory"
        }
        WcStatus::LocAccessErr => "side: this one found the error in a request of the peer",
        WcStatus::RemInvReqErr | WcStatus::RemAccessErr | WcStatus::RemOpErr => {
            "side: the peer refused a request of this one (NAK); look at both"
        }
        WcStatus::BadRespErr => "side: this one found the error in an answer of the peer",
        WcStatus::RetryExcErr => "side: this one gave up; look at the peer and at the path to it",
        WcStatus::RnrRetryExcErr => "side: this one gave up; look at the receives of the peer",
        WcStatus::WrFlushErr => "side: either; this is a consequence of an earlier error, not the cause",
        _ => return None,
    })
}

/// Diagnoses `what`, a command that the firmware refused.
pub(crate) fn of_command(what: &str, status: Option<u8>, syndrome: u64) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    match status.map(Status) {
        Some(status) => {
            diagnosis.summary = format!("the firmware refused {what}: {status:?}, {}", status.text());
            diagnosis.advice.extend(status.hint().map(str::to_owned));
        }
        None => diagnosis.summary = format!("the firmware refused {what}"),
    }
    if syndrome == 0 {
        diagnosis.details.push("syndrome 0: the firmware names no check that failed".to_owned());
        return diagnosis;
    }
    diagnosis.details.push(format!(
        "syndrome {syndrome:#x} names the firmware's check that failed. No public list exists: ask NVIDIA's support, \
         or search the web for the number"
    ));
    diagnosis
}
