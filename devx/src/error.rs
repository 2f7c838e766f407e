//! What can go wrong.

use blueflame::cq::ReceiverError;
use blueflame::types::Cqn;
use blueflame::verbs::{self, CallError};

use crate::cmd::{Opcode, Status};

/// Why something could not be made or done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The firmware refused a command, or the kernel did before it.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The device cannot do what was asked for. Nothing was sent.
    #[error("the device's {name} is {found}, but {needed} is needed")]
    Capability {
        /// The field of the capabilities: `set.field`, as `mlx5_ifc.h` has it.
        name: &'static str,
        /// What it must be at least.
        needed: u64,
        /// What it is.
        found: u64,
    },
    /// A mailbox has another opcode than its type. Nothing was sent.
    #[error("a mailbox of {of:?} has the opcode of {is:?}")]
    Opcode {
        /// The command that the type is of.
        of: Opcode,
        /// The opcode in its first two bytes.
        is: Opcode,
    },
    /// A number is out of range.
    #[error("{what} is {value}, but must be {min} to {max}")]
    OutOfRange {
        /// What the number is.
        what: &'static str,
        /// What was asked for.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// A number must be a power of two.
    #[error("{what} is {value}, but must be a power of two")]
    NotPowerOfTwo {
        /// What the number is.
        what: &'static str,
        /// What was asked for.
        value: u64,
    },
    /// An object is of another open device than the rest: what it is called here is another. Nothing was sent.
    #[error("the {object} is of another open device")]
    ForeignDevice {
        /// Which object.
        object: &'static str,
    },
    /// The kernel chose the pages in which the device has the memory, and they may not begin where the program's do: so there are no keys
    /// by the program's addresses. The VFIO driver is like that.
    #[error(
        "memory at {start:#x} does not begin at a multiple of {most:#x} bytes, which the device's pages of it may have"
    )]
    DevicePages {
        /// Where the memory begins.
        start: u64,
        /// Bytes that a page may have.
        most: u64,
    },
    /// Two objects do not belong together.
    #[error("the {object} was made with another {of}")]
    Foreign {
        /// Which object.
        object: &'static str,
        /// What both must have been made with.
        of: &'static str,
    },
    /// A receiver of frames must be the only receiver of its completion queue: one is to be made where others receive, or another where
    /// one is. Give it a completion queue of its own. Nothing was sent.
    #[error("completion queue {:#x} cannot serve this receiver: {error}; make one for it", cqn.get())]
    Receivers {
        /// The completion queue.
        cqn: Cqn,
        /// How many receive there, and which of them receives frames.
        #[source]
        error: ReceiverError,
    },
    /// Completions of an earlier receiver lie in the completion queue of a new receiver of frames, unpolled. They would pass for the new
    /// one's, as completions of frames have no number. Poll the queue until it is empty, or call
    /// [`forget`](blueflame::CompletionQueue::forget) with [`Whose::Receives`](blueflame::cq::Whose::Receives) on it. Nothing was sent.
    #[error(
        "completions of an earlier receiver lie unpolled in completion queue {:#x}, and completions of frames have no number that tells \
         them apart: poll it until it is empty, or let it forget receives",
        cqn.get()
    )]
    StaleReceives {
        /// The completion queue.
        cqn: Cqn,
    },
    /// The queue pair does not go from one state to the other.
    #[error("the queue pair is in {is:?} and cannot go to {to:?}")]
    WrongState {
        /// The state it is in.
        is: crate::cmd::QpcState,
        /// The state it was to go to.
        to: crate::cmd::QpcState,
    },
    /// The device answered with something that this crate cannot use.
    #[error("the device made a {object} that this crate cannot drive: {why}")]
    Parts {
        /// Which object.
        object: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A call of libmlx5 that is no command, or of the system.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Opening the device, or something else that verbs did.
    #[error(transparent)]
    Verbs(#[from] verbs::Error),
}

/// A command that failed.
///
/// With [`status`](Self::status) OK, the kernel refused it before the firmware saw it, or did not hand the answer on; then `errno`
/// says why. Else the firmware refused it. The syndrome tells NVIDIA's support where in the firmware; there is no public list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// What was to be done.
    pub opcode: Opcode,
    /// What the firmware says.
    pub status: Status,
    /// Why, in the firmware's own numbers.
    pub syndrome: u32,
    /// What the kernel says: a number of `errno.h`.
    pub errno: i32,
}

impl CommandError {
    /// What usually is behind it, and what to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match (self.status, self.errno) {
            (Status::OK, libc::EPERM | libc::EACCES) => {
                "the context was not opened for DevX, or the command needs a privilege (CAP_NET_RAW, CAP_SYS_RAWIO)"
            }
            // The kernel asks for the privilege once (Linux `drivers/infiniband/hw/mlx5/devx.c`, `mlx5_ib_devx_create`).
            (Status::BAD_PARAM_ERR, _) if matches!(self.opcode, Opcode::CREATE_SQ | Opcode::CREATE_TIS) => {
                "a field has a value that is reserved, or goes beyond a capability; or the process had no CAP_NET_RAW when it opened \
                 the context: what it gets later does not count"
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
}
