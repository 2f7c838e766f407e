//! Commands that the launcher's script refuses, counted over all threads of the process.

use crate::launch::{chaos, report};
use crate::process::forked;
use softhca::firmware::Status;
use softhca_settings::Refusal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Each, and how many commands have counted.
fn refusals() -> &'static [(Refusal, AtomicU64)] {
    static REFUSALS: OnceLock<Vec<(Refusal, AtomicU64)>> = OnceLock::new();
    let chaos = chaos();
    forked::once(&REFUSALS, || {
        let refusals = chaos.map_or_else(Vec::new, softhca_settings::Chaos::refusals);
        refusals.into_iter().map(|refusal| (refusal, AtomicU64::new(0))).collect()
    })
    .as_slice()
}

/// A command counts for `refusal`: whether it is the one.
fn is_due(counted: &AtomicU64, nth: u64) -> bool {
    counted.fetch_add(1, Ordering::Relaxed) + 1 == nth
}

/// The `errno` of the command to the kernel that is given now, if it is refused.
pub(super) fn of_command() -> Option<i32> {
    let mut found = None;
    for (refusal, counted) in refusals() {
        match *refusal {
            Refusal::Command { nth, errno } if is_due(counted, nth) => {
                report::happening("kernel", &format!("command {nth} is refused with errno {errno}"));
                found = Some(errno);
            }
            _ => {}
        }
    }
    found
}

/// The status of the mailbox with `opcode` that is given now, if it is refused.
pub(super) fn of_mailbox(opcode: u16) -> Option<Status> {
    let mut found = None;
    for (refusal, counted) in refusals() {
        match *refusal {
            Refusal::Mailbox { opcode: counts, nth, status }
                if (counts == 0 || counts == opcode) && is_due(counted, nth) =>
            {
                report::happening("firmware", &format!("mailbox {opcode:#05x} is refused with status {status:#04x}"));
                found = Status::from_number(status);
            }
            _ => {}
        }
    }
    found
}
