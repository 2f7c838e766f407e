//! The handle of a queue pair.

use std::sync::{Arc, Mutex};

use blueflame::queue::send::WqeRecord;
use blueflame::types::{Qpn, Wqebbs};
use blueflame::verbs::Ece;

use super::super::cq::Cq;
use crate::cmd::{Qpc, QpcState, QueryQpIn, ServiceType};
use crate::context::Object;
use crate::error::Error;
use blueflame::queue::Shadow;

/// Handle of a queue pair: its number, and its states. Cheap to clone; the queue pair is destroyed with the last handle
/// and queue.
#[derive(Clone, Debug)]
pub struct Qp {
    pub(super) handle: Arc<Handle>,
}

#[derive(Debug)]
pub(super) struct Handle {
    pub(super) object: Object,
    pub(super) qpn: Qpn,
    pub(super) service: ServiceType,
    /// The most WQEBBs that may be outstanding on the send queue once it is ready to send.
    pub(super) depth: Wqebbs,
    /// Held while the state changes. True if the answer to a RESET got lost.
    pub(super) changing: Mutex<bool>,
    /// The options that the device offered when it made it (ECE); 0: none.
    pub(super) ece: u32,
    /// Whether the device copies memory for it.
    pub(super) memcpy: bool,
    /// How many receives may be posted at a time.
    pub(super) receives: u32,
    /// Whether there are any, of its own queue or a shared one.
    pub(super) has_receives: bool,
    pub(super) _sq_shadow: Shadow<WqeRecord>,
    pub(super) _rq_shadow: Shadow<u64>,
    pub(super) send_cq: Cq,
    pub(super) recv_cq: Cq,
}

/// The option word of a mailbox, which is 0 without options.
pub(super) fn with_options(options: u32) -> Option<Ece> {
    (options != 0).then_some(Ece { vendor_id: Ece::MELLANOX, options })
}

impl Qp {
    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.handle.qpn
    }

    /// The service it offers.
    #[must_use]
    pub fn service(&self) -> ServiceType {
        self.handle.service
    }

    /// The object: for commands that this crate has no methods for, and for events.
    ///
    /// Do not move it to RESET or to RTS with this object: the queues here would not know.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Qpc, Error> {
        let mut inbox = QueryQpIn::new();
        inbox.set_qpn(self.qpn());
        Ok(self.object().query(&inbox)?.qpc().clone())
    }

    /// The options that the device enabled when the queue pair was connected, and before that all that it has; `None`
    /// without any. Asks the device.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn ece(&self) -> Result<Option<Ece>, Error> {
        let mut inbox = QueryQpIn::new();
        inbox.set_qpn(self.qpn());
        Ok(with_options(self.object().query(&inbox)?.ece()))
    }

    /// Queries the state.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn state(&self) -> Result<QpcState, Error> {
        Ok(self.query()?.state())
    }

    /// Whether both are handles of one queue pair.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }
}
