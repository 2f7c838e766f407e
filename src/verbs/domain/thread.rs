//! Thread domains: the resources that the many queues of one thread share.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use blueflame_sys as sys;

use crate::arch::copy::{BlockCopy, DefaultCopy};
use crate::db::{FlushMode, RegisterParts, ThreadRegister, TwoFences};
use crate::verbs::domain::placement::Placement;
use crate::verbs::domain::protection::{ParentDomain, PdHandle};
use crate::verbs::domain::register::{Claim, bad_register};
use crate::verbs::{Error, ProtectionDomain};

/// The resources that the queues of one thread share (`ibv_td`): a doorbell register, and the memory of their doorbell
/// records and rings.
///
/// Queue pairs are made in it by [`QpBuilder::build_in`](crate::verbs::QpBuilder::build_in), completion queues by
/// [`CqBuilder::thread_domain`](crate::verbs::CqBuilder::thread_domain).
/// - **One register.** The queues ring it in turn, with no lock: hence they stay on the thread that made them
///   ([`ThreadRegister`]). How many thread domains there can be depends on the kernel. From Linux 5.7 on, with
///   rdma-core 29 and later, it allocates registers one by one, two to a page, as long as the device has pages. Before,
///   a context had the number that
///   [`DeviceAttr::max_dynamic_bfregs`](crate::verbs::device::DeviceAttr::max_dynamic_bfregs) tells, a few hundred.
///   Either way, each page is one more for the CPU to translate. Where write combining does not work, as in many
///   virtual machines, all thread domains have the context's one register. It has no BlueFlame, so each doorbell is one
///   8-byte store. (Kernels before 5.7 do not give out even that register, and the second queue pair of a thread domain
///   is refused.)
/// - **Dense records.** libmlx5 gives a record of 8 bytes a cache line; here eight lie in one line, on pages that
///   belong to this domain alone.
/// - **Rings on huge pages,** one behind the other, at all offsets of a page. With rings on pages of their own, entries
///   of equal index would fall into the same set of the caches.
///
/// # When it pays
///
/// It pays with many queues in use in turn, when the memory that they touch no longer stays in the first-level cache.
/// Then also call [`SendQueue::prefetch`](crate::SendQueue::prefetch) after posting to a queue. In this way, posting to
/// 256 queues took under half of the time, and to 1024 queues less than a third (`docs/performance/measurements.md`,
/// "Thread domains").
///
/// A few queues gain nothing, and may lose something: when the device has read a record for one queue, the CPU must get
/// the cache line back before it stores the record of another. For them use
/// [`QpBuilder::build`](crate::verbs::QpBuilder::build).
///
/// # Memory
///
/// Rings take huge pages, 2 MiB at a time. New queues reuse the memory of dropped ones; the domain gives it back with
/// the last of its objects.
#[doc(alias("ibv_td", "ibv_alloc_td", "ibv_alloc_parent_domain"))]
pub struct ThreadDomain<F: FlushMode = TwoFences, C: BlockCopy = DefaultCopy> {
    handle: Arc<ThreadDomainHandle>,
    copy: C,
    /// Known when the first queue pair is made.
    register: OnceCell<Rc<ThreadRegister<F, C>>>,
}

/// The part that every object made in the domain keeps alive.
#[derive(Debug)]
pub(crate) struct ThreadDomainHandle {
    // Given up before the register itself, which another queue may then get.
    claim: OnceLock<Claim>,
    parent: ParentDomain,
}

impl ThreadDomainHandle {
    pub(crate) fn raw(&self) -> *mut sys::ibv_pd {
        self.parent.raw()
    }

    pub(crate) fn pd(&self) -> &Arc<PdHandle> {
        self.parent.pd()
    }

    pub(crate) fn parent(&self) -> &ParentDomain {
        &self.parent
    }
}

impl<F: FlushMode, C: BlockCopy> fmt::Debug for ThreadDomain<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadDomain").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl ProtectionDomain {
    /// Makes a thread domain, for the queues of the calling thread.
    ///
    /// # Errors
    /// A failed call: of `ibv_alloc_td` if no register is left.
    pub fn thread_domain(&self) -> Result<ThreadDomain, Error> {
        self.thread_domain_with(DefaultCopy::default())
    }

    /// Makes a [thread domain](Self::thread_domain) with another flush mode of its doorbells, and another
    /// [routine](crate::arch::copy) that copies WQEs to BlueFlame:
    /// `thread_domain_with::<OneFence, _>(DefaultCopy::default())`. The table of [`FlushMode`] says when to use which
    /// mode.
    ///
    /// # Errors
    /// As [`thread_domain`](Self::thread_domain).
    pub fn thread_domain_with<F: FlushMode, C: BlockCopy>(&self, copy: C) -> Result<ThreadDomain<F, C>, Error> {
        let parent = ParentDomain::new(self, Some(Arc::new(Placement::new())))?;
        let handle = Arc::new(ThreadDomainHandle { claim: OnceLock::new(), parent });
        Ok(ThreadDomain { handle, copy, register: OnceCell::new() })
    }
}

impl<F: FlushMode, C: BlockCopy> ThreadDomain<F, C> {
    pub(in crate::verbs) fn handle(&self) -> &Arc<ThreadDomainHandle> {
        &self.handle
    }

    /// The register, of which a queue pair made in this domain has these parts.
    ///
    /// # Safety
    /// The parts are those of such a queue pair, mapped as long as the domain's handle lives.
    pub(in crate::verbs) unsafe fn register(&self, parts: RegisterParts) -> Result<Rc<ThreadRegister<F, C>>, Error> {
        let address = parts.reg.addr().get();
        if let Some(register) = self.register.get() {
            return if self.handle.claim.get().is_some_and(|claim| claim.address() == address) {
                Ok(Rc::clone(register))
            } else {
                let why = format!("the register at {address:#x} is not the thread domain's");
                Err(Error::Parts { object: "queue pair", why })
            };
        }
        let claim = Claim::new(parts)?;
        // SAFETY: libmlx5 gives the register to this thread domain alone, and the claim says that no other queue got it
        // before. Or it has no BlueFlame, and others store 8-byte doorbells there as well. The claim and the mapping
        // stay with the handle, which every queue pair of the domain holds.
        let register = unsafe { ThreadRegister::from_parts(parts) }.map_err(bad_register)?;
        let register = Rc::new(register.with_copy(self.copy));
        // Both are empty: they are filled here only, by the one thread that has `self`.
        let _ = self.handle.claim.set(claim);
        Ok(Rc::clone(self.register.get_or_init(|| register)))
    }
}
