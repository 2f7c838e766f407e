//! Memory windows: keys of pieces of a region, which requests bind and take back.

use core::fmt;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::types::{Qpn, Rkey};
use crate::verbs::access::Access;
use crate::verbs::domain::protection::{PdHandle, ProtectionDomain};
use crate::verbs::error::{Error, in_range, non_null};
use crate::verbs::event::event;
use crate::verbs::memory::buffer::Buffer;
use crate::verbs::memory::rights::require;
use crate::wqe::data::{Named, Nothing};
use crate::wqe::keys::{Window, WindowRights};
use crate::wqe::operations::{BindWindow, Invalidate};
use crate::wqe::{self, Request};

/// The type of a window ([`Window`] lists the differences).
#[doc(alias = "ibv_mw_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowType {
    /// Type 1: for the whole protection domain; rebound at any time.
    Type1,
    /// Type 2 (2B): for the peer of one queue pair, and invalidated before it is bound again.
    Type2,
}

const OBJECT: &str = "memory window";

/// A memory window (`ibv_alloc_mw`): lends a peer a piece of a region by one request, and takes it back by another.
/// Registering and deregistering would take a kernel call each. At first, the window is bound to nothing.
///
/// ```no_run
/// # use blueflame::verbs::{Buffer, Error, Owned, Qp};
/// # use blueflame::verbs::memory::MemoryWindow;
/// # use blueflame::wqe::{self, Fence};
/// # use blueflame::wqe::keys::WindowRights;
/// # use blueflame::{SendQueue, WrId, transport};
/// /// Lends the peer the first page, and tells it the key.
/// fn lend(sq: &mut Owned<SendQueue<transport::Rc>, Qp>, window: &mut MemoryWindow, page: &Buffer)
/// -> Result<(), Box<dyn std::error::Error>> {
///     let bind = window.bind(sq.qpn(), page, 0..4096, WindowRights::WRITE)?;
///     // SAFETY: the page lives until the window was taken back, and nobody minds what the peer writes there until then.
///     unsafe { sq.post_unchecked(&bind)? };
///     sq.post(&wqe::send().inline(&window.rkey().0.to_be_bytes()).fence(Fence::Small).signaled(WrId(1)))?;
///     Ok(())
/// }
/// ```
#[doc(alias("ibv_mw", "ibv_alloc_mw"))]
pub struct MemoryWindow {
    raw: NonNull<sys::ibv_mw>,
    kind: WindowType,
    /// The key after the last request that was made.
    rkey: Rkey,
    pd: Arc<PdHandle>,
}

// SAFETY: the window is only freed, once; libibverbs allows it from any thread.
unsafe impl Send for MemoryWindow {}
// SAFETY: shared use reads plain numbers.
unsafe impl Sync for MemoryWindow {}

impl fmt::Debug for MemoryWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWindow").field("kind", &self.kind).field("rkey", &self.rkey).finish_non_exhaustive()
    }
}

impl Drop for MemoryWindow {
    fn drop(&mut self) {
        // SAFETY: from `alloc_mw`, freed once; the domain is alive.
        let freed = unsafe { (*self.pd.context.raw()).ops.dealloc_mw.map(|free| free(self.raw.as_ptr())) };
        if freed != Some(0) {
            event!(WARN, "memory window cannot be freed");
        }
    }
}

impl ProtectionDomain {
    /// Makes a memory window.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device has none; a failed call.
    pub fn memory_window(&self, kind: WindowType) -> Result<MemoryWindow, Error> {
        const WHAT: &str = "memory windows";
        let attr = self.handle.context.attr();
        let has = match kind {
            WindowType::Type1 => attr.memory_windows,
            WindowType::Type2 => attr.memory_windows_2,
        };
        // SAFETY: the context is open.
        let alloc = unsafe { (*self.handle.context.raw()).ops.alloc_mw };
        let (Some(alloc), true) = (alloc, has) else { return Err(Error::Unsupported { what: WHAT }) };
        let number = match kind {
            WindowType::Type1 => sys::IBV_MW_TYPE_1,
            WindowType::Type2 => sys::IBV_MW_TYPE_2,
        };
        // SAFETY: the domain is alive.
        let raw = non_null("ibv_alloc_mw", unsafe { alloc(self.as_raw(), number) })?;
        let context = self.handle.context.raw();
        // `ibv_alloc_mw` of `verbs.h` fills in the fields that the library leaves.
        // SAFETY: a new window, which no other code has.
        let rkey = unsafe {
            (*raw.as_ptr()).context = context;
            (*raw.as_ptr()).pd = self.as_raw();
            (*raw.as_ptr()).r#type = number;
            Rkey((*raw.as_ptr()).rkey)
        };
        Ok(MemoryWindow { raw, kind, rkey, pd: Arc::clone(&self.handle) })
    }
}

/// The key after the next binding (`ibv_inc_rkey`): its lowest byte counts them.
const fn next(rkey: Rkey) -> Rkey {
    Rkey(rkey.0 & !0xff | rkey.0.wrapping_add(1) & 0xff)
}

impl MemoryWindow {
    /// The key by which the peer's requests name the window after the last request that was made here.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.rkey
    }

    /// Which one it is.
    #[must_use]
    pub fn kind(&self) -> WindowType {
        self.kind
    }

    /// A request, for the send queue of queue pair `qpn`, that binds it to a range of `buffer`: [`wqe::bind_window`]
    /// documents the obligations of its poster, and the requirements of the next request. The window has a new key from
    /// then on ([`Self::rkey`]).
    ///
    /// # Errors
    /// [`Error::AccessMissing`] if the registration is not for windows ([`Access::MW_BIND`]), or if `rights` permit
    /// changes to memory that may not be written; [`Error::ForeignDevice`] or [`Error::ForeignDomain`] for a buffer of
    /// another device or protection domain; [`Error::OutOfRange`] for more than an entry can name.
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    pub fn bind(
        &mut self,
        qpn: Qpn,
        buffer: &Buffer,
        range: Range<usize>,
        rights: WindowRights,
    ) -> Result<Request<'static, BindWindow, Named>, Error> {
        let local = if rights.change() { Access::LOCAL_WRITE } else { Access::LOCAL_READ };
        require(buffer.access(), Access::MW_BIND | local)?;
        self.pd.context.check(OBJECT, [(&**buffer.registration.pd()).into()])?;
        if self.pd.raw() != buffer.registration.pd().raw() {
            return Err(Error::ForeignDomain { object: OBJECT, part: "buffer" });
        }
        let most = u64::from(wqe::limits::MAX_SGE_BYTES);
        in_range("bytes of a memory window", range.len() as u64, 1..=most)?;
        let piece = buffer.sge_of(range);
        let (window, new) = (self.window(qpn), next(self.rkey));
        self.rkey = new;
        Ok(wqe::bind_window(window, new, piece, rights))
    }

    /// A request that takes the window back: its key gives no access once the request is done. Post the request for a
    /// type 2 window to the queue pair that has bound it. A type 1 window has a new key then.
    pub fn take_back(&mut self) -> Request<'static, Invalidate, Nothing> {
        match self.kind {
            WindowType::Type2 => wqe::local_invalidate(self.rkey),
            WindowType::Type1 => {
                let before = self.rkey;
                self.rkey = next(before);
                wqe::unbind_window(before, self.rkey)
            }
        }
    }

    /// As requests name it.
    fn window(&self, qpn: Qpn) -> Window {
        match self.kind {
            WindowType::Type1 => Window::Type1 { rkey: self.rkey },
            WindowType::Type2 => Window::Type2 { rkey: self.rkey, qpn },
        }
    }

    /// The raw window, for calls this crate does not wrap; its `rkey` is the one it was made with.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_mw {
        self.raw.as_ptr()
    }
}
