//! The other end of a conversation.

use crate::launch::settings;
use softhca::wire::shm;
use softhca_settings::Gid;

/// The other end of a conversation, and the address of ours that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    /// The number of its QP 1.
    pub(super) qpn: u32,
    pub(super) gid: Gid,
    pub(super) own_gid: Gid,
}

impl Peer {
    /// Which life the peer's process is in.
    pub(super) fn life(&self) -> Option<u32> {
        shm::life(&settings()?.fabric, self.qpn)
    }
}
