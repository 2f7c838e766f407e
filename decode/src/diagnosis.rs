//! Diagnoses of failures, and advice. The texts are those of [`blueflame::cq`] and [`blueflame_devx::cmd`].
use blueflame::cq::error::{KnownSyndrome, vendor_advice};
use blueflame::cq::{CqeOpcode, Syndrome, WcStatus};
use blueflame_devx::cmd::{Opcode, Status};

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
        None => Diagnosis { summary: status.to_string(), ..Diagnosis::default() },
    })
}

/// Diagnoses a command that the firmware refused.
pub(crate) fn of_command(opcode: Option<u16>, status: Option<u8>, syndrome: u64) -> Diagnosis {
    let what = opcode.map_or_else(|| "a command".to_owned(), |opcode| format!("{:?}", Opcode(opcode)));
    let mut diagnosis = Diagnosis::default();
    match status.map(Status) {
        Some(status) => {
            diagnosis.summary = format!("the firmware refused {what}: {status:?}, {}", status.text());
            diagnosis.advice.extend(status.hint().map(str::to_owned));
        }
        None => diagnosis.summary = format!("the firmware refused {what}"),
    }
    diagnosis.details.push(format!(
        "syndrome {syndrome:#x} names the firmware's check that failed. No public list exists: ask NVIDIA's support, \
         or search the web for the number"
    ));
    diagnosis
}
