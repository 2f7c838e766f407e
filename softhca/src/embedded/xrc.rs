//! XRC: domains, their SRQs, and targets. Initiators are QPs like others ([`QpOptions::xrc`]).

use super::device::EmbeddedDevice;
use super::parts::{QpOptions, RecvOptions, SrqParts};
use crate::context::{QpContext, ReceiveSource, Transport, XrcContext};
use crate::error::Error;

impl QpOptions {
    /// [`Self::new`] for an initiator of XRC, which receives nothing.
    #[must_use]
    pub fn xrc(cqn: u32) -> Self {
        Self { recv: RecvOptions::None, ..Self::new(Transport::Xrc, cqn) }
    }
}

impl EmbeddedDevice {
    /// Allocates an XRC domain; gives its number.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn alloc_xrcd(&mut self) -> Result<u32, Error> {
        self.device.alloc_xrcd()
    }

    /// Creates an SRQ of domain `xrcd`, which completes on CQ `cqn`: as [`create_srq`](Self::create_srq).
    ///
    /// # Errors
    /// Those, and [`Error::NoSuch`] for a domain or CQ that does not exist.
    pub fn create_xrc_srq(&mut self, xrcd: u32, cqn: u32, wqes: u32, max_sge: u32) -> Result<SrqParts, Error> {
        let xrc = XrcContext { xrcd, cqn, uidx: None };
        self.srq(wqes, max_sge, |device, context| device.create_xrc_srq(context, xrc))
    }

    /// Creates a target in the reset state, whose initiator reaches the SRQs of domain `xrcd`; gives its number.
    /// [`connect_to`](Self::connect_to) connects it.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for a domain that does not exist; [`Error::Exhausted`].
    pub fn create_xrc_target(&mut self, xrcd: u32) -> Result<u32, Error> {
        self.device.create_qp(QpContext { rq: ReceiveSource::Domain { xrcd }, ..QpContext::new(Transport::Xrc) })
    }
}
