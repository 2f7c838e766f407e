//! Valid commands that fail on request, for tests of a program's reaction.
//!
//! Each thread arranges its own, beside those of the launcher's script ([`super::scripted`]), for one command to come.
//! So tests in several threads of one program do not meet.

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

/// How a command to the kernel fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Before anything is done.
    Refused(i32),
    /// It is carried out, and its answer gets lost.
    AnswerLost(i32),
}

thread_local! {
    static COMMAND: Cell<Option<Plan<Failure>>> = const { Cell::new(None) };
    static MAILBOX: Cell<Option<MailboxPlan>> = const { Cell::new(None) };
}

/// Has the calling thread's `nth` command to the kernel from now on, from 1, fail; `nth` = 0: none.
pub(crate) fn fail_command(nth: u64, failure: Failure) {
    COMMAND.set(nth.checked_sub(1).map(|before| Plan { before, end: failure }));
}

/// Has the firmware refuse, with `status`, the calling thread's `nth` mailbox with this opcode (0 = any) from now on,
/// from 1; `nth` = 0: none.
pub(crate) fn refuse_mailbox(nth: u64, opcode: u16, status: Status) {
    MAILBOX.set(nth.checked_sub(1).map(|before| Plan { before, end: (opcode, status) }));
}

/// Whether the command that the calling thread gives now is to be refused. If not, the error to give after it.
pub(crate) fn of_command() -> Result<Result<(), Errno>, Errno> {
    if let Some(errno) = scripted::of_command() {
        return Err(Errno(errno));
    }
    match due(COMMAND.take()) {
        Ok(Failure::Refused(errno)) => Err(Errno(errno)),
        Ok(Failure::AnswerLost(errno)) => Ok(Err(Errno(errno))),
        Err(later) => {
            COMMAND.set(later);
            Ok(Ok(()))
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
    fn the_one_command_fails_and_none_after_it() {
        let end = || of_command().map(|after| after.map_err(|errno| errno.0)).map_err(|errno| errno.0);
        for (failure, expected) in [
            (Failure::Refused(libc::ENOMEM), Err(libc::ENOMEM)),
            (Failure::AnswerLost(libc::EINTR), Ok(Err(libc::EINTR))),
        ] {
            fail_command(3, failure);
            let ends: Vec<_> = (0..5).map(|_| end()).collect();
            assert_eq!(ends, [Ok(Ok(())), Ok(Ok(())), expected, Ok(Ok(())), Ok(Ok(()))]);
            fail_command(1, failure);
            fail_command(0, failure);
            assert_eq!(end(), Ok(Ok(())));
        }
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
