//! Queue pairs: what the device asks of one. Until the transports are in place, a QP stays in the reset state and
//! every transition is refused.

use crate::context::{QpAttr, QpContext, QpState};
use crate::error::Error;
use crate::host::Host;
use crate::packet::Packet;
use crate::wire::Route;
use std::time::Duration;

/// State and attributes of a QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpInfo {
    /// Current state.
    pub state: QpState,
    /// What has been set.
    pub attr: QpAttr,
}

/// A queue pair.
#[derive(Debug)]
pub struct Qp {
    attr: QpAttr,
}

impl Qp {
    pub(crate) fn new(_qpn: u32, _context: QpContext) -> Self {
        Self { attr: QpAttr::default() }
    }

    pub(crate) fn modify(&mut self, _host: &mut Host, _attr: &QpAttr) -> Result<(), Error> {
        Err(Error::Unsupported("QP state changes"))
    }

    pub(crate) fn query(&self) -> QpInfo {
        QpInfo { state: QpState::Reset, attr: self.attr }
    }

    pub(crate) fn send_doorbell(&mut self, _producer: u16) {}

    pub(crate) fn step(&mut self, _host: &mut Host, _now: Duration) -> bool {
        false
    }

    pub(crate) fn receive(&mut self, _host: &mut Host, _route: &Route, _packet: &Packet<'_>, _now: Duration) {}

    pub(crate) fn deadline(&self) -> Option<Duration> {
        None
    }
}
