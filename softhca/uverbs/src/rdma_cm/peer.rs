//! The other end of a conversation.

use crate::launch::settings;
use softhca::wire::shm;
use softhca_settings::Gid;

/// The other end of a conversation, and the address of ours that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Peer {
    /// The number of its QP 1.
    pub(super) qpn: u32,
    pub(super) gid: Gid,
    pub(super) own_gid: Gid,
}

impl Peer {
    /// Which life the peer's process is in. On another host it cannot be seen, and counts as alive.
    pub(super) fn life(&self) -> Option<u32> {
        let settings = settings()?;
        if settings.wire.leaves_the_host() { Some(0) } else { shm::life(&settings.fabric, self.qpn) }
    }
}
