//! A device's numbered objects other than QPs and keys: UAR pages, PDs, CQs and SRQs. XRC has a file of its own. How many
//! objects there are, of any kind.

use super::Device;
use super::check::{self, value};
use crate::context::{CqContext, PeriodStart, SrqContext, SrqOrder};
use crate::cq::{Cq, Moderation};
use crate::error::{Error, Object};
use crate::event::Event;
use crate::memory::HostMemory;
use crate::query::{CqInfo, SrqInfo};
use crate::recv::{Srq, TagList};
use crate::resources::Pd;
use crate::uar::{UAR_PAGE_BYTES, Uar, UarMemory};
use std::time::Duration;

impl Device {
    /// How many objects of its own it has, of each kind. The queues that send Ethernet frames are among the QPs.
    #[must_use]
    pub fn objects(&self) -> [(Object, usize); 10] {
        [
            (Object::Uar, self.doorbells.pages.len()),
            (Object::Pd, self.resources.pds.len()),
            (Object::Xrcd, self.xrcds.len()),
            (Object::Mkey, self.resources.mkeys.len()),
            (Object::Cq, self.resources.cqs.len()),
            (Object::Srq, self.resources.srqs.len()),
            (Object::Qp, self.qps.len()),
            (Object::ReservedQpns, self.reserved_qpns.len()),
            (Object::Dct, self.dcts.len()),
            (Object::Eq, self.resources.eqs.len()),
        ]
    }

    /// Allocates a UAR page; returns its index.
    ///
    /// # Errors
    /// [`Error::Exhausted`], [`Error::System`].
    pub fn alloc_uar(&mut self) -> Result<u32, Error> {
        let memory = self.uar_memory.clone();
        self.alloc_uar_in(&memory, |index| u64::from(index) * UAR_PAGE_BYTES as u64)
    }

    /// Allocates a UAR page in a file of the caller's; returns its index. `place` maps the index to the page's offset
    /// in the file, in bytes: a multiple of the page size.
    ///
    /// # Errors
    /// As [`Self::alloc_uar`].
    pub fn alloc_uar_in(&mut self, file: &UarMemory, place: impl FnOnce(u32) -> u64) -> Result<u32, Error> {
        let non_cached = self.doorbells.non_cached;
        let pages = &mut self.doorbells.pages;
        let index = pages.reserve()?;
        let mut uar = Uar::new(file, place(index))?;
        uar.non_cached = non_cached;
        pages.insert(index, uar);
        Ok(index)
    }

    /// Says that the program maps a UAR page without write combining: its registers have no halves that alternate.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn set_non_cached(&mut self, uar: u32) -> Result<(), Error> {
        self.doorbells.pages.find_mut(uar)?.non_cached = true;
        Ok(())
    }

    /// Says the same of all pages that will be allocated.
    pub fn set_all_non_cached(&mut self) {
        self.doorbells.non_cached = true;
    }

    /// The UAR page with this index.
    #[must_use]
    pub fn uar(&self, index: u32) -> Option<&Uar> {
        self.doorbells.pages.get(index)
    }

    /// Frees a UAR page: now, or with the last queue that was created on it, for which the device keeps it. No queue
    /// can be created on it any more.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn free_uar(&mut self, index: u32) -> Result<(), Error> {
        self.doorbells.give_back(index)
    }

    /// Allocates a protection domain; returns its number.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn alloc_pd(&mut self) -> Result<u32, Error> {
        let pd = self.resources.pds.reserve()?;
        self.resources.pds.insert(pd, Pd { users: 0 });
        Ok(pd)
    }

    /// Frees a protection domain.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while keys or queues belong to it.
    pub fn free_pd(&mut self, pd: u32) -> Result<(), Error> {
        self.resources.pds.remove_unused(pd, |p| p.users).map(drop)
    }

    /// Creates a CQ; returns its number. The driver has marked all CQEs as invalid (opcode 15).
    ///
    /// # Errors
    /// [`Error::NoSuch`] UAR; [`Error::BadValue`]; [`Error::Dma`] if ring or record are not mapped;
    /// [`Error::Exhausted`].
    pub fn create_cq(&mut self, context: CqContext) -> Result<u32, Error> {
        check::cq(&context, &self.config.limits, &*self.resources.memory)?;
        self.resources.memory.load_be32(context.dbr)?;
        self.doorbells.check_queue(context.uar)?;
        let cqn = self.resources.cqs.reserve()?;
        let mut cq = Cq::new(context);
        if self.config.doorbells.has_records() {
            cq.poison_arm_word(&*self.resources.memory)?;
        }
        self.doorbells.pages.find_mut(context.uar)?.users += 1;
        self.resources.cqs.insert(cqn, cq);
        self.doorbells.follow_cq(cqn, &context);
        Ok(cqn)
    }

    /// Moves a CQ to another ring: `buf` is its host address, `log_size` log2 of its CQEs, `cqe_bytes` is 64 or 128.
    /// The last CQE in the old ring has opcode 5 (`MLX5_CQE_RESIZE_CQ`). The driver copies the CQEs before it that it
    /// has not consumed, each to the index after its old one.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`], also if the CQEs that the host has not consumed do not fit;
    /// [`Error::Dma`].
    pub fn resize_cq(&mut self, cqn: u32, buf: u64, log_size: u8, cqe_bytes: u32) -> Result<(), Error> {
        let context = CqContext { buf, log_size, cqe_bytes, ..*self.resources.cqs.find(cqn)?.context() };
        check::cq(&context, &self.config.limits, &*self.resources.memory)?;
        let now = self.resources.now;
        self.resources.cqs.find_mut(cqn)?.resize(context, &*self.resources.memory, now)
    }

    /// Returns the context and the position of a CQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_cq(&self, cqn: u32) -> Result<CqInfo, Error> {
        Ok(self.resources.cqs.find(cqn)?.info(&*self.resources.memory))
    }

    /// Contexts and positions of all CQs, by number.
    pub fn completion_queues(&self) -> impl Iterator<Item = (u32, CqInfo)> {
        self.resources.cqs.iter().map(|(number, cq)| (number, cq.info(&*self.resources.memory)))
    }

    /// Holds events of an armed CQ back until it has got `count` CQEs since the last event, or until `period` has
    /// passed since what `start` says. If one of the two is 0, each CQE raises its event at once, as in a new CQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn moderate_cq(&mut self, cqn: u32, count: u16, period: Duration, start: PeriodStart) -> Result<(), Error> {
        self.resources.cqs.find_mut(cqn)?.set_moderation(Moderation { count, period, start });
        Ok(())
    }

    /// Says whether a CQ overwrites CQEs that have not been consumed ([`CqContext::ignore_overrun`]).
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn set_ignore_overrun(&mut self, cqn: u32, ignore: bool) -> Result<(), Error> {
        self.resources.cqs.find_mut(cqn)?.set_ignore_overrun(ignore);
        Ok(())
    }

    /// Says that another object uses a CQ, which cannot be destroyed until [`Self::release_cq`].
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn hold_cq(&mut self, cqn: u32) -> Result<(), Error> {
        self.resources.cqs.find_mut(cqn)?.users += 1;
        Ok(())
    }

    /// Ends the use that [`Self::hold_cq`] began.
    pub(crate) fn release_cq(&mut self, cqn: u32) {
        if let Some(cq) = self.resources.cqs.get_mut(cqn) {
            cq.users -= 1;
        }
    }

    /// Destroys a CQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while QPs use it.
    pub fn destroy_cq(&mut self, cqn: u32) -> Result<(), Error> {
        let cq = self.resources.cqs.remove_unused(cqn, |c| c.users)?;
        self.release_uar(cq.context().uar);
        self.doorbells.forget_cq(cq.context().uar, cqn);
        if let Some(eqn) = cq.eqn {
            self.resources.eqs.release(eqn, cqn);
        }
        self.resources
            .eqs
            .forget(|e| matches!(*e, Event::Completion { cqn: n } | Event::CqError { cqn: n, .. } if n == cqn));
        Ok(())
    }

    /// Creates an SRQ; returns its number. The driver has linked its WQEs, if its order is by links.
    ///
    /// # Errors
    /// [`Error::NoSuch`] PD; [`Error::BadValue`]; [`Error::Dma`]; [`Error::Exhausted`].
    pub fn create_srq(&mut self, context: SrqContext) -> Result<u32, Error> {
        self.add_srq(Srq::new(context, None))
    }

    /// Adds an SRQ. The objects that it names, besides its protection domain, are known to exist.
    pub(super) fn add_srq(&mut self, srq: Srq) -> Result<u32, Error> {
        let context = *srq.context();
        let has_link = context.order != SrqOrder::Cyclic { next_segment: false };
        let fits = context.rq.log_stride >= 5 || !has_link;
        value("SRQ stride log", context.rq.log_stride.into(), fits, "at least 5 (32 bytes)")?;
        check::rq(&context.rq, &self.config.limits, &*self.resources.memory)?;
        self.resources.memory.load_be32(context.dbr)?;
        let pd = self.resources.pds.find_mut(context.pd)?;
        let srqn = self.resources.srqs.reserve()?;
        pd.users += 1;
        self.resources.srqs.insert(srqn, srq);
        Ok(srqn)
    }

    /// Arms the limit event of an SRQ: raised once, when a WQE is consumed and fewer than `limit` are left. 0 disarms.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::BadValue`] past the ring's size.
    pub fn modify_srq_limit(&mut self, srqn: u32, limit: u16) -> Result<(), Error> {
        let srq = self.resources.srqs.find_mut(srqn)?;
        value("SRQ limit", limit.into(), u32::from(limit) <= 1 << srq.context().rq.log_size, "up to the ring's size")?;
        srq.set_limit(limit);
        Ok(())
    }

    /// The armed limit of an SRQ; 0 once the event was raised.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_srq_limit(&self, srqn: u32) -> Result<u16, Error> {
        Ok(self.resources.srqs.find(srqn)?.limit())
    }

    /// Returns the context and the present state of an SRQ.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub fn query_srq(&self, srqn: u32) -> Result<SrqInfo, Error> {
        let srq = self.resources.srqs.find(srqn)?;
        let posted = srq.posted(&*self.resources.memory);
        Ok(SrqInfo {
            context: *srq.context(),
            xrc: srq.xrc(),
            tags: srq.tags().map(TagList::info),
            limit: srq.limit(),
            posted,
            failed: srq.has_failed(),
        })
    }

    /// Destroys an SRQ. An SRQ of an XRC domain goes even if there are targets; their peers can no longer name it.
    ///
    /// # Errors
    /// [`Error::NoSuch`]; [`Error::Busy`] while QPs use it.
    pub fn destroy_srq(&mut self, srqn: u32) -> Result<(), Error> {
        let srq = self.resources.srqs.remove_unused(srqn, |s| s.users)?;
        self.release_pd(srq.context().pd);
        if let Some(xrc) = srq.xrc() {
            self.end_xrc_srq(srqn, xrc);
        }
        if let Some(tags) = srq.tags() {
            self.release_cq(tags.context().cqn);
        }
        self.resources
            .eqs
            .forget(|e| matches!(*e, Event::SrqLimit { srqn: n, .. } | Event::SrqError { srqn: n, .. } if n == srqn));
        Ok(())
    }

    pub(super) fn release_pd(&mut self, pd: u32) {
        if let Some(pd) = self.resources.pds.get_mut(pd) {
            pd.users -= 1;
        }
    }

    pub(super) fn release_uar(&mut self, uar: u32) {
        if let Some(page) = self.doorbells.pages.get_mut(uar) {
            page.users -= 1;
        }
        self.doorbells.free_given_back(uar);
    }
}
