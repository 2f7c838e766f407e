//! The options that a queue pair agrees on with its peer (ECE).

use blueflame_sys as sys;

use crate::verbs::error::zero;
use crate::verbs::{Ece, Error, Qp};

impl Qp {
    /// The options of the queue pair; `None` without any. Before the first state change, these are all that the device
    /// has. After a change that [named some](Self::set_ece), they are those that the device enabled. RESET does not bring
    /// the first ones back, because libmlx5 keeps the last.
    ///
    /// libmlx5 answers: the device is not asked. `None` is also the answer of devices, kernels (before Linux 5.8) and
    /// libraries that do not negotiate, of raw packets, and between `set_ece` and the next state change.
    #[doc(alias = "ibv_query_ece")]
    #[must_use]
    pub fn ece(&self) -> Option<Ece> {
        // libmlx5 stores the answer with each state change, without a lock.
        let _changing = self.changing();
        let mut ece = sys::ibv_ece::ZERO;
        // SAFETY: the queue pair is alive, and the structure is ours.
        let returned = unsafe { sys::ibv_query_ece(self.as_raw(), &raw mut ece) };
        (returned == 0 && ece.options != 0).then_some(Ece { vendor_id: ece.vendor_id, options: ece.options })
    }

    /// Asks for other options, with the next state change. [`to_rtr`](Self::to_rtr) asks for the peer's by itself, unless
    /// the [endpoint](crate::verbs::Endpoint::ece) has none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if device, kernel or library do not negotiate; [`Error::Call`]: `EINVAL` for another
    /// vendor's options.
    #[doc(alias = "ibv_set_ece")]
    pub fn set_ece(&self, ece: Ece) -> Result<(), Error> {
        let _changing = self.changing();
        let mut ece = sys::ibv_ece { vendor_id: ece.vendor_id, options: ece.options, comp_mask: 0 };
        // SAFETY: the queue pair is alive, and the structure is ours.
        let set = zero("ibv_set_ece", unsafe { sys::ibv_set_ece(self.as_raw(), &raw mut ece) });
        set.map_err(|error| Error::from(error).unsupported("enhanced connection establishment (ECE)"))
    }

    /// Asks for the options of a peer, if both ends have options of one vendor.
    pub(in crate::verbs) fn agree(&self, peers: Option<Ece>) -> Result<(), Error> {
        match (self.ece(), peers) {
            (Some(own), Some(peers)) if own.vendor_id == peers.vendor_id => self.set_ece(peers),
            _ => Ok(()),
        }
    }
}
