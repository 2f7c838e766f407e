//! Pages of doorbell registers, and the users of these registers.

use core::ptr::NonNull;
use std::fmt;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::Arc;

use blueflame::arch::copy::{BlockCopy, DefaultCopy};
use blueflame::db::{
    ExclusiveRegister, FlushMode, RecordlessRegister, RegisterParts, SharedRegister, ThreadRegister, TwoFences,
};
use blueflame_sys as sys;

use crate::check::in_range;
use crate::cmd::UarPage;
use crate::context::Context;
use crate::error::Error;
use crate::memory::{PAGE, host_page, last as last_error};

/// How a page of registers is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UarKind {
    /// With write combining: WQEs may be copied there. Not available in every virtual machine.
    BlueFlame,
    /// Uncached, for doorbells of 8 bytes, and given to this caller alone. It needs libmlx5 45 and a kernel that
    /// allocates pages on demand (rdma-core `providers/mlx5/verbs.c`, `_mlx5dv_devx_alloc_uar`). Others refuse it with
    /// `EOPNOTSUPP`.
    NonCachedDedicated,
    /// Uncached, for doorbells of 8 bytes. libmlx5 has one such page for each context, and gives it to all callers.
    NonCached,
}

/// A page of doorbell registers. Completion queues are made with it. It keeps the page mapped. Cheap to clone.
///
/// By itself it cannot ring; [`Uar`], [`ThreadUar`] and [`SharedUar`] can. Completion queues are armed by 8-byte stores
/// elsewhere in the page, which any number of queues may do.
#[derive(Clone, Debug)]
pub struct DoorbellPage {
    handle: Arc<Handle>,
}

/// Which process allocated a page.
#[derive(Debug)]
enum Origin {
    /// This one, by libmlx5.
    Allocated(NonNull<sys::mlx5dv_devx_uar>),
    /// Another one. It is mapped here, in as many bytes, from this offset of the file.
    Mapped(usize, u64),
}

#[derive(Debug)]
struct Handle {
    origin: Origin,
    id: UarPage,
    base: NonNull<u8>,
    kind: UarKind,
    context: Context,
}

// SAFETY: libmlx5 locks the list that a page goes back to; the page is only given out as an address.
unsafe impl Send for Handle {}
// SAFETY: libmlx5 locks the list that a page goes back to; the page is only given out as an address.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        match self.origin {
            // SAFETY: from `mlx5dv_devx_alloc_uar`, freed once; the queues that ring it held this, and are gone.
            Origin::Allocated(raw) => unsafe { sys::mlx5dv_devx_free_uar(raw.as_ptr()) },
            // SAFETY: mapped by `Uar::mapped`, unmapped once; the queues that ring it held this, and are gone.
            Origin::Mapped(bytes, _) => _ = unsafe { libc::munmap(self.base.as_ptr().cast(), bytes) },
        }
    }
}

impl DoorbellPage {
    /// The number that identifies it in commands.
    #[must_use]
    pub fn id(&self) -> UarPage {
        self.handle.id
    }

    /// Where the page is mapped.
    #[must_use]
    pub fn base(&self) -> NonNull<u8> {
        self.handle.base
    }

    /// How it is mapped.
    #[must_use]
    pub fn kind(&self) -> UarKind {
        self.handle.kind
    }

    /// The device that it belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.handle.context
    }
}

/// A doorbell register, not used yet. Give it to one queue alone ([`QpBuilder::build_on`](super::QpBuilder::build_on)),
/// to the queues of a thread ([`ThreadUar`]), or to any queues, under a lock ([`SharedUar`]).
///
/// Two queues cannot both own it:
///
/// ```compile_fail,E0382
/// # use blueflame::transport;
/// # use blueflame_devx::Error;
/// # use blueflame_devx::memory::ThreadRings;
/// # use blueflame_devx::object::{OwnedCq, Pd, Uar};
/// # fn f(pd: &Pd, rings: &ThreadRings, cq: &OwnedCq, uar: Uar) -> Result<(), Error> {
/// let first = pd.queue_pair::<transport::Rc>(rings, cq, cq).build_on(uar)?;
/// let second = pd.queue_pair::<transport::Rc>(rings, cq, cq).build_on(uar)?; // moved
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Uar {
    page: DoorbellPage,
    parts: RegisterParts,
}

// SAFETY: a register is not tied to a thread.
unsafe impl Send for Uar {}

impl Uar {
    /// Allocates a register: with BlueFlame, or without it where write combining does not work. DPDK falls back in the
    /// same way (`drivers/common/mlx5/mlx5_common.c`, `mlx5_devx_alloc_uar`).
    ///
    /// # Errors
    /// [`Error::Call`]: none is left.
    pub fn new(context: &Context) -> Result<Self, Error> {
        Self::with_kind(context, UarKind::BlueFlame).or_else(|_| Self::non_cached(context))
    }

    /// Allocates a register without BlueFlame: a dedicated one, or the context's if no dedicated one exists.
    ///
    /// # Errors
    /// [`Error::Call`]: the kernel has no such registers.
    pub fn non_cached(context: &Context) -> Result<Self, Error> {
        Self::with_kind(context, UarKind::NonCachedDedicated).or_else(|_| Self::with_kind(context, UarKind::NonCached))
    }

    /// Allocates a register of this kind.
    ///
    /// # Errors
    /// [`Error::Call`]: none is left, write combining does not work, or libmlx5 or the kernel does not have the kind;
    /// [`Error::Parts`].
    #[doc(alias = "mlx5dv_devx_alloc_uar")]
    pub fn with_kind(context: &Context, kind: UarKind) -> Result<Self, Error> {
        let flags = match kind {
            UarKind::BlueFlame => sys::MLX5DV_UAR_ALLOC_TYPE_BF,
            UarKind::NonCachedDedicated => sys::MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED,
            UarKind::NonCached => sys::MLX5DV_UAR_ALLOC_TYPE_NC,
        };
        // SAFETY: the context is open.
        let raw = NonNull::new(unsafe { sys::mlx5dv_devx_alloc_uar(context.raw(), flags) })
            .ok_or_else(|| last_error("mlx5dv_devx_alloc_uar"))?;
        // SAFETY: allocated, and written before it was given out.
        let (register, base, id) =
            unsafe { ((*raw.as_ptr()).reg_addr, (*raw.as_ptr()).base_addr, (*raw.as_ptr()).page_id) };
        let why = |why: String| Error::Parts { object: "doorbell register", why };
        let handle = Handle {
            origin: Origin::Allocated(raw),
            id: UarPage::new(id).unwrap_or_default(),
            base: NonNull::new(base.cast()).unwrap_or(NonNull::dangling()),
            kind,
            context: context.clone(),
        };
        // From here on, dropping `page` frees it if something is wrong.
        let page = DoorbellPage { handle: Arc::new(handle) };
        let (Some(reg), Some(_), Some(_)) = (NonNull::new(register.cast()), NonNull::new(base), UarPage::new(id))
        else {
            return Err(why(format!("page {id:#x} at {base:?}, register at {register:?}")));
        };
        Ok(Self { page, parts: RegisterParts { reg, size: half_bytes(context, kind)? } })
    }

    /// Where the device file has the page, and where the register is in the page.
    pub(crate) fn place(&self) -> (u64, usize) {
        let mmap_off = match self.page.handle.origin {
            // SAFETY: allocated, and written before it was given out.
            Origin::Allocated(raw) => unsafe { (*raw.as_ptr()).mmap_off as u64 },
            Origin::Mapped(_, mmap_off) => mmap_off,
        };
        (mmap_off, self.parts.reg.addr().get() - self.page.base().addr().get())
    }

    /// Maps the page with number `id`, which the device file has at `mmap_off`, and uses the register at byte
    /// `register` of it.
    ///
    /// # Errors
    /// As [`import`](Self::import).
    ///
    /// # Safety
    /// The conditions of [`import`](Self::import).
    pub(crate) unsafe fn mapped(
        context: &Context,
        kind: UarKind,
        (mmap_off, register): (u64, u64),
        id: u32,
    ) -> Result<Self, Error> {
        let id = UarPage::new(id).ok_or(Error::OutOfRange {
            what: "number of a register page",
            value: id.into(),
            min: 0,
            max: 0xff_ffff,
        })?;
        let size = half_bytes(context, kind)?;
        let last = PAGE as u64 - u64::from(size.max(8)) * if size == 0 { 1 } else { 2 };
        in_range("byte of a register in its page", register, 0..=last)?;
        let bytes = host_page();
        let fd = context.device().cmd_fd().as_raw_fd();
        // SAFETY: a new mapping at an address that the kernel chooses. The kernel checks the offset.
        let mapped = unsafe {
            libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_WRITE, libc::MAP_SHARED, fd, mmap_off as libc::off_t)
        };
        let base = if mapped == libc::MAP_FAILED { None } else { NonNull::new(mapped.cast()) };
        let base = base.ok_or_else(|| last_error("mmap"))?;
        let handle = Handle { origin: Origin::Mapped(bytes, mmap_off), id, base, kind, context: context.clone() };
        // SAFETY: inside of the page, as was checked.
        let reg = unsafe { base.add(register as usize) };
        Ok(Self { page: DoorbellPage { handle: Arc::new(handle) }, parts: RegisterParts { reg, size } })
    }

    /// The page that it is in.
    #[must_use]
    pub fn page(&self) -> &DoorbellPage {
        &self.page
    }

    /// The register as raw parts: for `from_parts` of [`blueflame::db`].
    #[must_use]
    pub fn parts(&self) -> RegisterParts {
        self.parts
    }

    /// The register, for one queue.
    pub(super) fn exclusive<F: FlushMode, C: BlockCopy>(
        self,
        copy: C,
    ) -> Result<(ExclusiveRegister<F, C>, DoorbellPage), Error> {
        // SAFETY: mapped as long as the page, which the queue's object keeps; libmlx5 has given it to this value alone,
        // or it has no BlueFlame, and others store 8-byte doorbells there.
        let register = unsafe { ExclusiveRegister::from_parts(self.parts) }.map_err(bad)?;
        Ok((register.with_mode::<F>().with_copy(copy), self.page))
    }
}

/// Bytes in one half of a register in a page of this kind; 0 without BlueFlame.
fn half_bytes(context: &Context, kind: UarKind) -> Result<u32, Error> {
    match kind {
        UarKind::NonCachedDedicated | UarKind::NonCached => Ok(0),
        // Two halves make a register (Linux `drivers/infiniband/hw/mlx5/main.c`, `bf_reg_size`; rdma-core
        // `providers/mlx5/mlx5.c`, `bf->buf_size`).
        UarKind::BlueFlame => {
            let general = context.general()?;
            Ok(if general.bf() { (1 << general.log_bf_reg_size()) / 2 } else { 0 })
        }
    }
}

/// The register of a page for a send queue without a doorbell record.
pub(super) fn recordless(uar: Uar) -> Result<(RecordlessRegister, DoorbellPage), Error> {
    // SAFETY: inside of the page, which is mapped as long as the queue's object keeps it. libmlx5 has given a dedicated
    // page, or one with BlueFlame, to this value alone.
    let register = unsafe { RecordlessRegister::from_raw(uar.page.base().add(RecordlessRegister::OFFSET)) };
    Ok((register.map_err(bad)?, uar.page))
}

/// A register that the queues of one thread ring in turn, without a lock. Those queues therefore stay on the thread:
///
/// ```compile_fail,E0277
/// # use blueflame::transport;
/// # use blueflame_devx::Error;
/// # use blueflame_devx::memory::ThreadRings;
/// # use blueflame_devx::object::{OwnedCq, Pd, ThreadUar};
/// # fn f(pd: &Pd, rings: &ThreadRings, cq: &OwnedCq, uar: &ThreadUar) -> Result<(), Error> {
/// let pair = pd.queue_pair::<transport::Rc>(rings, cq, cq).build_in(uar)?;
/// std::thread::spawn(move || drop(pair)); // not `Send`
/// # Ok(())
/// # }
/// ```
pub struct ThreadUar<F: FlushMode = TwoFences, C: BlockCopy = DefaultCopy> {
    page: DoorbellPage,
    register: Rc<ThreadRegister<F, C>>,
}

impl<F: FlushMode, C: BlockCopy> fmt::Debug for ThreadUar<F, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadUar").field("page", &self.page).finish_non_exhaustive()
    }
}

impl ThreadUar {
    /// Allocates a register for the queues of the calling thread.
    ///
    /// # Errors
    /// As [`Uar::new`].
    pub fn new(context: &Context) -> Result<Self, Error> {
        Self::over(Uar::new(context)?, DefaultCopy::default())
    }
}

impl<F: FlushMode, C: BlockCopy> ThreadUar<F, C> {
    /// The queues of the calling thread share `uar`, and copy by `copy`.
    ///
    /// # Errors
    /// [`Error::Parts`]: invalid parts of a register.
    pub fn over(uar: Uar, copy: C) -> Result<Self, Error> {
        // SAFETY: mapped as long as the page, which each queue's object keeps; given to this value alone, as in
        // `Uar::exclusive`.
        let register = unsafe { ThreadRegister::from_parts(uar.parts) }.map_err(bad)?;
        Ok(Self { page: uar.page, register: Rc::new(register.with_copy(copy)) })
    }

    /// The page that it is in.
    #[must_use]
    pub fn page(&self) -> &DoorbellPage {
        &self.page
    }

    pub(super) fn register(&self) -> Rc<ThreadRegister<F, C>> {
        Rc::clone(&self.register)
    }
}

/// A register that any queues ring, under a lock. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SharedUar {
    page: DoorbellPage,
    register: Arc<SharedRegister>,
}

impl SharedUar {
    /// Any queues share `uar`.
    ///
    /// # Errors
    /// [`Error::Parts`]: invalid parts of a register.
    pub fn over(uar: Uar) -> Result<Self, Error> {
        // SAFETY: as in `ThreadUar::over`.
        let register = unsafe { SharedRegister::from_parts(uar.parts) }.map_err(bad)?;
        Ok(Self { page: uar.page, register: Arc::new(register) })
    }

    /// The page that it is in.
    #[must_use]
    pub fn page(&self) -> &DoorbellPage {
        &self.page
    }

    pub(super) fn register(&self) -> Arc<SharedRegister> {
        Arc::clone(&self.register)
    }
}

fn bad(error: blueflame::SetupError) -> Error {
    Error::Parts { object: "doorbell register", why: error.to_string() }
}
