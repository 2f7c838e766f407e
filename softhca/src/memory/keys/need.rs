//! Needs: the right that a use of a memory key requires.

use crate::context::Access;
use std::fmt;

/// The right that a use of a key requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The device reads for its own host (SEND, WRITE).
    LocalRead,
    /// The device writes for its own host (receive, READ response).
    LocalWrite,
    /// A peer reads.
    RemoteRead,
    /// A peer writes.
    RemoteWrite,
    /// A peer does an atomic.
    RemoteAtomic,
}

/// As verbs name the right.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LocalRead => "local reads",
            Self::LocalWrite => "local writes (IBV_ACCESS_LOCAL_WRITE)",
            Self::RemoteRead => "reads by peers (IBV_ACCESS_REMOTE_READ)",
            Self::RemoteWrite => "writes by peers (IBV_ACCESS_REMOTE_WRITE)",
            Self::RemoteAtomic => "atomics by peers (IBV_ACCESS_REMOTE_ATOMIC)",
        })
    }
}

impl Need {
    /// The right that the same use requires of a piece of an indirect key's region. The indirect key decides the
    /// peers' rights. The pieces' keys decide the rights of the device for its own host, as with a memory window and
    /// its region (IBTA vol. 1, 10.6.7.2.6).
    pub(crate) fn of_piece(self) -> Self {
        match self {
            Self::LocalRead | Self::RemoteRead => Self::LocalRead,
            Self::LocalWrite | Self::RemoteWrite | Self::RemoteAtomic => Self::LocalWrite,
        }
    }

    /// A peer asks.
    pub(crate) fn is_remote(self) -> bool {
        matches!(self, Self::RemoteRead | Self::RemoteWrite | Self::RemoteAtomic)
    }

    pub(super) fn permitted_by(self, access: &Access) -> bool {
        match self {
            Self::LocalRead => true,
            Self::LocalWrite => access.local_write,
            Self::RemoteRead => access.remote_read,
            Self::RemoteWrite => access.remote_write,
            Self::RemoteAtomic => access.remote_atomic,
        }
    }
}
