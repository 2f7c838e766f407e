//! Destinations of requests that carry their address: datagrams, and requests of initiators of dynamic connections.

use blueflame::Sge;
use blueflame::db::Register;
use blueflame::queue::SendQueue;
use blueflame::transport::Transport;
use blueflame::types::{Qpn, WrId};
use blueflame::verbs::{AddressHandle, Endpoint, Path, ProtectionDomain};
use blueflame::wqe::address::{CompactAv, Destination};
use blueflame::wqe::operations::Addressed;
use blueflame::wqe::{self, SupportedOn};

use crate::Failure;

/// The other side, in the shortest possible form: `N` with an address vector of 16 bytes, `F` with one of 48.
pub(super) enum Peer<N, F> {
    Near(N),
    /// With the address handle, which keeps the kernel's record of the path alive.
    Far {
        to: F,
        _handle: AddressHandle,
    },
}

impl<N: Destination, F: Destination> Peer<N, F> {
    /// The queue pair or target at `remote`, in the form that `near` or `far` makes.
    ///
    /// # Errors
    /// A failed call.
    pub(super) fn new(
        pd: &ProtectionDomain,
        path: &Path,
        remote: &Endpoint,
        near: impl FnOnce(CompactAv, Qpn) -> N,
        far: impl FnOnce(&AddressHandle, Qpn) -> F,
    ) -> Result<Self, Failure> {
        // ANCHOR: address
        let handle = pd.address(&path.route(remote)?)?;
        Ok(match handle.compact() {
            Some(vector) => Self::Near(near(vector, remote.qpn)),
            None => Self::Far { to: far(&handle, remote.qpn), _handle: handle },
        })
        // ANCHOR_END: address
    }

    /// Sends it `message`.
    ///
    /// # Errors
    /// A full queue.
    ///
    /// # Safety
    /// As [`SendQueue::post_unchecked`].
    pub(super) unsafe fn send<T, R>(&self, sq: &mut SendQueue<T, R>, message: Sge, wr_id: WrId) -> Result<(), Failure>
    where
        T: Transport,
        R: Register,
        Addressed<wqe::operations::Send, N>: SupportedOn<T>,
        Addressed<wqe::operations::Send, F>: SupportedOn<T>,
    {
        // ANCHOR: send
        let send = wqe::send().gather([message]).signaled(wr_id);
        // SAFETY: the caller promises that the memory stays registered, and unwritten, until the request completes.
        unsafe {
            match self {
                Self::Near(to) => sq.post_unchecked(&send.to(*to))?,
                Self::Far { to, .. } => sq.post_unchecked(&send.to(*to))?,
            }
        }
        Ok(())
        // ANCHOR_END: send
    }
}
