//! Valid commands that are refused on request, for tests of a program's reaction.
//!
//! Each thread arranges its own, beside those of the launcher's script ([`super::scripted`]), for one command to come, so that tests in several threads of one program do not meet.

use super::scripted;
use crate::process::Errno;
use softhca::firmware::Status;
use std::cell::Cell;

/// Which of the commands to come is refused, and how.
#[derive(Clone, Copy, Debug)]
struct Plan<T> {
    /// How many are let through before it.
    before: u64,
    /// Its result.
    end: T,
}

/// A mailbox to come: the opcode that counts (0 = any), and the status it ends with.
type MailboxPlan = Plan<(u16, Status)>;

thread_local! {
    static COMMAND: Cell<Option<Plan<i32>>> = const { Cell::new(None) };
    static MAILBOX: Cell<Option<MailboxPlan>> = const { Cell::new(None) };
}

/// Has the calling thread's `nth` command to the kernel from now on, from 1, fail with `errno` before anything is done;
/// `nth` = 0: none.
pub(crate) fn refuse_command(nth: u64, errno: i32) {
    COMMAND.set(nth.checked_sub(1).map(|before| Plan { before, end: errno }));
}

/// Has the firmware refuse, with `status`, the calling thread's `nth` mailbox with this opcode (0 = any) from now on,
/// from 1; `nth` = 0: none.
pub(crate) fn refuse_mailbox(nth: u64, opcode: u16, status: Status) {
    MAILBOX.set(nth.checked_sub(1).map(|before| Plan { before, end: (opcode, status) }));
}

/// Whether the command that the calling thread gives now is to be refused.
pub(crate) fn of_command() -> Result<(), Errno> {
    if let Some(errno) = scripted::of_command() {
        return Err(Errno(errno));
    }
    match due(COMMAND.take()) {
        Ok(errno) => Err(Errno(errno)),
        Err(later) => {
            COMMAND.set(later);
            Ok(())
        }
    }
}

/// The status that a mailbox with `opcode`, which the calling thread sends now, is refused with.
pub(super) fn of_mailbox(opcode: u16) -> Option<Status> {
    if let Some(status) = scripted::of_mailbox(opcode) {
        return Some(status);
    }
    let plan = MAILBOX.take();
    if plan.is_some_and(|plan| plan.end.0 != 0 && plan.end.0 != opcode) {
        MAILBOX.set(plan);
        return None;
    }
    match due(plan) {
        Ok((_, status)) => Some(status),
        Err(later) => {
            MAILBOX.set(later);
            None
        }
    }
}

/// The plan for a command that counts: its result, or the plan for later ones.
fn due<T>(plan: Option<Plan<T>>) -> Result<T, Option<Plan<T>>> {
    match plan {
        Some(Plan { before: 0, end }) => Ok(end),
        Some(Plan { before, end }) => Err(Some(Plan { before: before - 1, end })),
        None => Err(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_command_is_refused_and_none_after_it() {
        refuse_command(3, libc::ENOMEM);
        let ends: Vec<_> = (0..5).map(|_| of_command().map_err(|errno| errno.0)).collect();
        assert_eq!(ends, [Ok(()), Ok(()), Err(libc::ENOMEM), Ok(()), Ok(())]);
        refuse_command(1, libc::ENOMEM);
        refuse_command(0, 0);
        assert!(of_command().is_ok());
    }

    #[test]
    fn mailboxes_count_by_their_opcode() {
        let refused = Some(Status::NoResources);
        refuse_mailbox(2, 0x500, Status::NoResources);
        assert_eq!([0x500, 0x400, 0x500, 0x500].map(of_mailbox), [None, None, refused, None]);
        refuse_mailbox(2, 0, Status::NoResources);
        assert_eq!([0x500, 0x400, 0x500].map(of_mailbox), [None, refused, None]);
        std::thread::scope(|scope| {
            refuse_mailbox(1, 0, Status::LimitExceeded);
            scope.spawn(|| assert_eq!(of_mailbox(0x500), None)).join().unwrap();
        });
        assert_eq!(of_mailbox(0x500), Some(Status::LimitExceeded));
    }
}
