//! Errors of objects and commands.

use blueflame::SetupError;
use blueflame::cq::setup::{ReceiverError, RoomError};
use blueflame::types::{Cqn, Qpn};
use blueflame::verbs::{self, CallError};

use crate::cmd::{Opcode, Status};

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The firmware refused a command, or the kernel refused it earlier.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The device lacks a needed capability. Nothing was sent.
    #[error("the device's {name} is {found}, but {needed} is needed")]
    Capability {
        /// The field of the capabilities: `set.field`, as `mlx5_ifc.h` names it.
        name: &'static str,
        /// The least value that is needed.
        needed: u64,
        /// The device's value.
        found: u64,
    },
    /// A mailbox has another opcode than its type. Nothing was sent.
    #[error("a mailbox of {of:?} has the opcode of {is:?}")]
    Opcode {
        /// The command of the type.
        of: Opcode,
        /// The opcode in its first two bytes.
        is: Opcode,
    },
    /// A number is out of range.
    #[error("{what} is {value}, but must be {min} to {max}")]
    OutOfRange {
        /// The name of the number.
        what: &'static str,
        /// The requested value.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// A number must be a power of two.
    #[error("{what} is {value}, but must be a power of two")]
    NotPowerOfTwo {
        /// The name of the number.
        what: &'static str,
        /// The requested value.
        value: u64,
    },
    /// An object belongs to another open device than the rest. Its number would name another object here. Nothing was
    /// sent.
    #[error("the {object} is of another open device")]
    ForeignDevice {
        /// Which object.
        object: &'static str,
    },
    /// The kernel chose the pages by which the device has the memory, and their size is unknown. The memory may
    /// therefore begin inside such a page, and firmware refuses a key whose first address has another offset in a page
    /// than its memory. The VFIO driver chooses pages in this way.
    #[error(
        "memory at {start:#x} is not aligned to {most:#x} bytes, the largest size that the device's pages may have"
    )]
    DevicePages {
        /// Where the memory begins.
        start: u64,
        /// The largest size that the device's pages may have, in bytes.
        most: u64,
    },
    /// Two objects do not belong together.
    #[error("the {object} was made with another {of}")]
    Foreign {
        /// Which object.
        object: &'static str,
        /// The object that both must have been made with.
        of: &'static str,
    },
    /// A receiver of frames must be the only receiver of its completion queue. The call would add one to a queue where
    /// others receive, or another receiver to a queue that has one. Give it a completion queue of its own. Nothing was
    /// sent.
    #[error("completion queue {:#x} cannot serve this receiver: {error}; use a separate one", cqn.get())]
    Receivers {
        /// The completion queue.
        cqn: Cqn,
        /// How many receive there, and which of them receives frames.
        #[source]
        error: ReceiverError,
    },
    /// Receives cannot complete on a [collapsed](blueflame::cq::CollapsedQueue) completion queue, which keeps the
    /// latest completion alone. Nothing was sent.
    #[error("completion queue {:#x} is collapsed: it is for a send queue, and nothing can receive there", cqn.get())]
    CollapsedReceives {
        /// The completion queue.
        cqn: Cqn,
    },
    /// A [collapsed](blueflame::cq::CollapsedQueue) completion queue serves one send queue at a time. The one before
    /// must be gone, and must have been [reset](crate::object::QueuePair::reset) before that. Nothing was sent.
    #[error(
        "completion queue {:#x} is collapsed and serves one send queue: reset that one and drop it, or use another \
         completion queue", cqn.get()
    )]
    CollapsedInUse {
        /// The completion queue.
        cqn: Cqn,
    },
    /// A completion queue is too small for the queues that are to complete there: it would overrun, and be lost with
    /// all of them. Make it larger, or [oversubscribe](crate::object::Cq::oversubscribe) it. Nothing was sent.
    #[error("completion queue {:#x} has {error}; make it larger, or oversubscribe it if fewer ever wait", cqn.get())]
    CqRoom {
        /// The completion queue.
        cqn: Cqn,
        /// How many completions fit, and how many may wait.
        #[source]
        error: RoomError,
    },
    /// New queues got the numbers of earlier queues with unpolled completions. These would pass for completions of the
    /// new queues. Poll the completion queue until it is empty, or call
    /// [`forget`](blueflame::CompletionQueue::forget) on it.
    #[error(
        "a new queue got the number {:#x} of an earlier one, whose completions in completion queue {:#x} are unpolled: \
         poll it until it is empty, or let it forget that number",
        number.get(),
        cqn.get()
    )]
    StaleCompletions {
        /// The number of one of them, of a queue pair or of a send queue.
        number: Qpn,
        /// The completion queue.
        cqn: Cqn,
    },
    /// Unpolled completions of an earlier receiver lie in the completion queue of a new receiver of frames. They would
    /// pass for the new receiver's, because completions of frames carry no queue number. Poll the queue until it is
    /// empty, or call [`forget`](blueflame::CompletionQueue::forget) with
    /// [`Whose::Receives`](blueflame::cq::setup::Whose::Receives) on it. Nothing was sent.
    #[error(
        "completion queue {:#x} has unpolled completions of an earlier receiver, and completions of frames have no \
         numbers: poll it until it is empty, or let it forget receives",
        cqn.get()
    )]
    StaleReceives {
        /// The completion queue.
        cqn: Cqn,
    },
    /// The strides of a receive queue or a flow are invalid, or the device does not support them. Nothing was sent.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A striding receive queue completes to a queue whose compressed completions do not say which strides they are of.
    /// Nothing was sent.
    #[error("mini-CQEs of completion queue {:#x} do not say which strides they are of: make it with the format \
        Strided<…>", cqn.get())]
    NoStrides {
        /// The completion queue.
        cqn: Cqn,
    },
    /// Only rules that the kernel makes can do that. Nothing was sent.
    #[error("a rule of DevX has no {what}: make the rule by verbs (`FrameReceiver::steer`)")]
    KernelOnly {
        /// The requested feature.
        what: &'static str,
    },
    /// The queue pair cannot go from its state to the requested one.
    #[error("the queue pair is in {is:?} and cannot go to {to:?}")]
    WrongState {
        /// The current state.
        is: crate::cmd::QpcState,
        /// The requested state.
        to: crate::cmd::QpcState,
    },
    /// The answer to the queue pair's RESET got lost. The device may be in RESET; the queues are not.
    /// [Reset](crate::object::QueuePair::reset) it again. Until this succeeds, it can go to the error state alone.
    #[error("queue pair {:#x} may be in RESET, but its queues are not: reset it again", qpn.get())]
    ResetUnknown {
        /// The queue pair.
        qpn: Qpn,
    },
    /// The device answered with something that this crate cannot use: parts of a queue, or an answer without the
    /// object. Every call that makes or queries an object may return it.
    #[error("the device made a {object} that this crate cannot drive: {why}")]
    Parts {
        /// Which object.
        object: &'static str,
        /// The reason why the crate cannot use it.
        why: String,
    },
    /// A call of libmlx5 that sends no command failed, or a system call did.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An error of verbs, for instance from opening the device.
    #[error(transparent)]
    Verbs(#[from] verbs::Error),
}

/// A command that failed.
///
/// If [`status`](Self::status) is OK, the kernel refused the command before the firmware saw it, or did not pass the
/// answer on; `errno` then says why. Otherwise the firmware refused the command. The syndrome tells NVIDIA's support
/// the place in the firmware; no public list exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// The operation of the command.
    pub opcode: Opcode,
    /// The firmware's status.
    pub status: Status,
    /// The firmware's own code for the reason.
    pub syndrome: u32,
    /// The kernel's error, a number of `errno.h`.
    pub errno: i32,
}

impl CommandError {
    /// Whether the device may have carried the command out: it did not refuse, and neither did the kernel before it.
    ///
    /// A kernel has few errors for a refusal: those below. libmlx5's VFIO driver has others, after the device has begun.
    /// It fails with `EINTR` if a signal comes. It fails with `ENOMEM` or `ENOSPC` if it has no pages for the device.
    /// (rdma-core `providers/mlx5/mlx5_vfio.c`, `mlx5_vfio_wait_event`.)
    pub(crate) fn may_be_done(&self) -> bool {
        const REFUSED: [i32; 6] =
            [libc::EPERM, libc::EACCES, libc::EINVAL, libc::EOPNOTSUPP, libc::ENOSYS, libc::EPROTONOSUPPORT];
        self.status == Status::OK && !REFUSED.contains(&self.errno)
    }

    /// The usual cause, and how to fix it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match (self.status, self.errno) {
            (Status::OK, libc::EPERM | libc::EACCES) => {
                "the context was not opened for DevX, or the command needs a privilege (CAP_NET_RAW, CAP_SYS_RAWIO)"
            }
            // The kernel checks the privilege once (Linux `drivers/infiniband/hw/mlx5/devx.c`, `mlx5_ib_devx_create`).
            (Status::BAD_PARAM_ERR, _) if matches!(self.opcode, Opcode::CREATE_SQ | Opcode::CREATE_TIS) => {
                "a field has a value that is reserved, or goes beyond a capability; or the process had no CAP_NET_RAW \
                 when it opened the context: what it gets later does not count"
            }
            (Status::OK, libc::EOPNOTSUPP | libc::ENOSYS | libc::EPROTONOSUPPORT) => {
                "this kernel or libmlx5 has no DevX, or not this part of it"
            }
            (Status::OK, libc::EINVAL) => "the kernel does not let user space send this command in this way",
            (Status::OK, _) => return None,
            (status, _) => return status.hint(),
        })
    }
}

impl core::fmt::Display for CommandError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { opcode, status, syndrome, errno } = self;
        if *status == Status::OK {
            write!(f, "{opcode:?} failed: {}", std::io::Error::from_raw_os_error(*errno))?;
        } else {
            write!(f, "{opcode:?} failed: {status:?}, {}, syndrome {syndrome:#x}", status.text())?;
        }
        match self.hint() {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for CommandError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_privilege_is_a_parameter_of_frame_queues() {
        let hint =
            |opcode, status, errno| CommandError { opcode, status, syndrome: 0, errno }.hint().unwrap_or_default();
        for opcode in [Opcode::CREATE_SQ, Opcode::CREATE_TIS] {
            let hint = hint(opcode, Status::BAD_PARAM_ERR, libc::EREMOTEIO);
            assert!(hint.contains("CAP_NET_RAW when it opened the context"), "{hint}");
        }
        assert_eq!(Some(hint(Opcode::CREATE_CQ, Status::BAD_PARAM_ERR, libc::EREMOTEIO)), Status::BAD_PARAM_ERR.hint());
        assert!(hint(Opcode::CREATE_SQ, Status::OK, libc::EPERM).contains("CAP_NET_RAW"));
    }

    #[test]
    fn firmware_that_is_not_ready_says_so() {
        let (opcode, status) = (Opcode::CREATE_CQ, Status(7));
        let error = CommandError { opcode, status, syndrome: 0x1234, errno: libc::EREMOTEIO };
        assert_eq!(
            error.to_string(),
            "CREATE_CQ failed: NOT_READY, the firmware is not ready, syndrome 0x1234; the firmware is busy with \
             something else: send the command again later"
        );
    }
}
