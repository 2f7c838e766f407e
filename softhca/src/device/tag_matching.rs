//! A device's SRQs that match messages with tags, and the QPs by which it fetches their rendezvous data.

use super::Device;
use super::check::value;
use crate::context::{ReceiveSource, SrqContext, TagContext, Transport};
use crate::error::{Error, Object};
use crate::recv::Srq;

impl Device {
    /// Creates an SRQ that matches messages with tags, as [`Self::create_srq`] does; returns its number.
    ///
    /// # Errors
    /// Those of [`Self::create_srq`]; [`Error::NoSuch`] for a CQ that does not exist; [`Error::BadValue`] for tags on a
    /// port of Ethernet.
    pub fn create_tag_srq(&mut self, context: SrqContext, tags: TagContext) -> Result<u32, Error> {
        let (uidx, log_list) = (tags.uidx.unwrap_or(0), tags.log_list);
        value("log2 of tags on Ethernet", log_list.into(), self.config().matches_tags(), "none")?;
        value("user index", uidx.into(), uidx < 1 << 24, "24 bits")?;
        value("log2 of tags", log_list.into(), log_list <= TagContext::MAX_LOG_LIST, "up to 7")?;
        self.resources.cqs.find(tags.cqn)?;
        let srqn = self.add_srq(Srq::with_tags(context, tags))?;
        self.hold_cq(tags.cqn)?;
        Ok(srqn)
    }

    /// Lets the device send by a QP that has no send queue. The device then fetches the rendezvous data of the
    /// messages that the QP receives (QPC.offload_type, "rendezvous").
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`] for a QP that has a send queue, or whose SRQ does not match tags.
    pub fn offload_rendezvous(&mut self, qpn: u32) -> Result<(), Error> {
        let context = self.find_qp(qpn)?.context();
        let ReceiveSource::Shared { srqn } = context.rq else {
            return value("QP", qpn.into(), false, "one with an SRQ");
        };
        value("QP", qpn.into(), context.sq.is_none(), "one without a send queue")?;
        value("SRQ", srqn.into(), self.resources.tag_list(srqn).is_some(), "one that matches tags")?;
        self.qps.find_mut(qpn)?.let_fetch();
        Ok(())
    }

    /// Refuses a service that has no tag matching here, if the SRQ has. RC alone has it on a NIC that does not say
    /// otherwise (`rndv_offload_dc`).
    pub(super) fn check_tags(&self, srqn: u32, transport: Transport) -> Result<(), Error> {
        match self.resources.tag_list(srqn) {
            // For such a QP there is no such SRQ.
            Some(_) if transport != Transport::Rc => Err(Error::NoSuch { object: Object::Srq, number: srqn }),
            _ => Ok(()),
        }
    }
}
