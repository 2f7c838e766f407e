//! A device's targets of dynamic connections. Their numbers are from the QPNs: packets find both by the same field.

use super::Device;
use super::check::value;
use crate::config::LinkLayer;
use crate::context::{DctContext, Transport};
use crate::error::{Error, Object};
use crate::event::Event;
use crate::qp::dc::target::{Dct, DctInfo};
use std::time::Duration;

impl Device {
    /// Creates a DCT, to which initiators can connect at once; returns its number.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for a PD, CQ or SRQ that does not exist; [`Error::BadValue`]; [`Error::Exhausted`].
    pub fn create_dct(&mut self, context: DctContext) -> Result<u32, Error> {
        let context = DctContext { ece: self.config.accepted_ece(context.ece), ..context };
        let c = &context;
        let port = usize::from(c.port)
            .checked_sub(1)
            .and_then(|index| self.config.ports.get(index))
            .ok_or(Error::BadValue { what: "port", value: c.port.into(), permitted: "1 to the number of ports" })?;
        let pkeys = port.pkeys.len();
        let mtu = matches!(c.mtu, 256 | 512 | 1024 | 2048 | 4096);
        value("DCT MTU", c.mtu.into(), mtu, "256, 512, 1024, 2048 or 4096")?;
        let pkey = c.pkey_index;
        value("P_Key index", pkey.into(), usize::from(pkey) < pkeys, "an index into the port's P_Key table")?;
        let gid = c.sgid_index;
        let known = port.gid(gid).is_some() || port.link == LinkLayer::InfiniBand && gid == 0;
        value("GID index", gid.into(), known, "an index into the port's GID table")?;
        value("RNR timer", c.min_rnr_timer.into(), c.min_rnr_timer < 32, "0 to 31")?;
        let scatter = c.scatter_to_cqe_res;
        value("scatter-to-CQE bytes", scatter.into(), matches!(scatter, 0 | 32 | 64), "0, 32 or 64")?;
        self.resources.pds.find(c.pd)?;
        self.resources.cqs.find(c.cqn)?;
        self.check_plain_srq(c.srqn)?;
        self.check_tags(c.srqn, Transport::Dc)?;
        let number = self.qps.hold()?;
        self.count_dct(&context, |users| *users += 1);
        self.dcts.insert(number, Dct::new(number, context));
        Ok(number)
    }

    /// State of a DCT.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_dct(&self, number: u32) -> Result<DctInfo, Error> {
        Ok(self.dct(number)?.query())
    }

    /// Lets no further initiators connect to a DCT. When all that are connected have left,
    /// [`crate::event::DctEvent::Drained`] is raised; an initiator that says nothing for half a second counts as gone.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn drain_dct(&mut self, number: u32) -> Result<(), Error> {
        self.dct_mut(number)?.drain();
        self.busy_dcts.insert(number);
        Ok(())
    }

    /// The next initiator that names a wrong access key raises [`crate::event::DctEvent::KeyViolation`].
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn arm_dct(&mut self, number: u32) -> Result<(), Error> {
        self.dct_mut(number)?.arm();
        Ok(())
    }

    /// Destroys a DCT, drained or not. Requests of initiators that are connected run into their retry limits.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn destroy_dct(&mut self, number: u32) -> Result<(), Error> {
        self.dct_mut(number)?;
        if let Some(mut dct) = self.dcts.remove(&number) {
            self.busy_dcts.remove(&number);
            dct.close_all(&mut self.resources);
            self.count_dct(dct.context(), |users| *users -= 1);
            self.qps.release(number);
        }
        self.resources.eqs.forget(|e| matches!(*e, Event::Dct { dctn, .. } if dctn == number));
        Ok(())
    }

    /// Lets the busy ones do a bounded amount of work. `true` if there was any.
    pub(super) fn step_dcts(&mut self, now: Duration) -> bool {
        let mut worked = false;
        let Self { dcts, busy_dcts, resources, owes_answers, .. } = self;
        busy_dcts.retain(|number| {
            let Some(dct) = dcts.get_mut(number) else { return false };
            worked |= dct.step(resources, now);
            *owes_answers |= dct.owes_answers();
            !dct.is_idle()
        });
        worked
    }

    fn dct(&self, number: u32) -> Result<&Dct, Error> {
        self.dcts.get(&number).ok_or(Error::NoSuch { object: Object::Dct, number })
    }

    fn dct_mut(&mut self, number: u32) -> Result<&mut Dct, Error> {
        self.dcts.get_mut(&number).ok_or(Error::NoSuch { object: Object::Dct, number })
    }

    /// Applies `count` to the use counts of everything that a DCT refers to.
    fn count_dct(&mut self, c: &DctContext, count: impl Fn(&mut u32)) {
        let srq = self.resources.srqs.get_mut(c.srqn).map(|s| &mut s.users);
        let cq = self.resources.cqs.get_mut(c.cqn).map(|cq| &mut cq.users);
        let pd = self.resources.pds.get_mut(c.pd).map(|p| &mut p.users);
        [srq, cq, pd].into_iter().flatten().for_each(&count);
    }
}
