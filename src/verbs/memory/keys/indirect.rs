//! Indirect memory keys: one key for memory in several places, which requests set.

use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::types::{Lkey, Rkey};
use crate::verbs::domain::protection::{PdHandle, ProtectionDomain};
use crate::verbs::error::{Error, in_range, non_null};
use crate::verbs::event::event;
use crate::wqe::data::{Nothing, SameList};
use crate::wqe::operations::{ConfigureKey, Invalidate};
use crate::wqe::{self, Remote, Request, Sge};

/// An indirect memory key (`mlx5dv_create_mkey`): requests put memory of other keys behind it. By this key, that memory
/// is one region, even if it lies in several places. At first, the key gives access to nothing.
///
/// ```no_run
/// # use blueflame::verbs::{Buffer, Error, Owned, Qp};
/// # use blueflame::verbs::memory::IndirectKey;
/// # use blueflame::wqe::{self, Fence};
/// # use blueflame::wqe::keys::KeyRights;
/// # use blueflame::{Remote, SendQueue, WrId, transport};
/// /// Writes the odd halves of a page's first 4 KiB to the peer, in a row.
/// fn write_halves(
///     sq: &mut Owned<SendQueue<transport::Rc>, Qp>, key: &IndirectKey, page: &Buffer, to: Remote,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     let half = [wqe::keys::Strided { addr: page.addr() + 256, bytes: 256, stride: 512, lkey: page.lkey() }];
///     let configure = key.configure().rights(KeyRights::NONE).interleaved(8, &half);
///     let write = wqe::write(to).gather([key.sge(0, 8 * 256)]).fence(Fence::Small).signaled(WrId(1));
///     let mut batch = sq.batch();
///     // SAFETY: the page stays until the write is done, and nobody changes it.
///     unsafe {
///         batch.push_unchecked(&configure)?;
///         batch.push_unchecked(&write)?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
#[doc(alias("mlx5dv_mkey", "mlx5dv_create_mkey"))]
pub struct IndirectKey {
    raw: NonNull<sys::mlx5dv_mkey>,
    key: u32,
    entries: u16,
    _pd: Arc<PdHandle>,
}

// SAFETY: the key is only destroyed, once; libmlx5 locks the state that its calls share.
unsafe impl Send for IndirectKey {}
// SAFETY: shared use reads plain numbers.
unsafe impl Sync for IndirectKey {}

impl fmt::Debug for IndirectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndirectKey").field("key", &self.key).field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl Drop for IndirectKey {
    fn drop(&mut self) {
        // SAFETY: from `mlx5dv_create_mkey`, destroyed once; the domain is alive.
        if unsafe { sys::mlx5dv_destroy_mkey(self.raw.as_ptr()) } != 0 {
            event!(WARN, "indirect memory key cannot be destroyed");
        }
    }
}

/// Most entries: the counter has 16 bits, and counts in fours.
const MAX_ENTRIES: u64 = 0xfffc;

impl ProtectionDomain {
    /// Makes an indirect memory key, with room for a list of `entries`: 1 to 65532. A list that repeats takes one more
    /// entry. libmlx5 makes the key by a firmware command. So the device must have been opened with the right to such
    /// commands (DevX); by default it is, where the kernel permits it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; a failed call.
    pub fn indirect_key(&self, entries: u16) -> Result<IndirectKey, Error> {
        self.indirect_key_with(entries, sys::MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT)
    }

    /// Makes an [indirect key](Self::indirect_key) that encrypts: a request sets how ([`Request::formats`]). Before
    /// that request, the key gives access to nothing.
    /// [`DeviceAttr::encryption`](crate::verbs::device::DeviceAttr::encryption) says whether the device has such keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on a device that does not encrypt; the errors of [`indirect_key`](Self::indirect_key).
    pub fn encrypting_key(&self, entries: u16) -> Result<IndirectKey, Error> {
        if self.handle.context.attr().encryption.is_none() {
            return Err(Error::Unsupported { what: "memory keys that encrypt" });
        }
        let flags = sys::MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | sys::MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO;
        self.indirect_key_with(entries, flags)
    }

    fn indirect_key_with(&self, entries: u16, create_flags: u32) -> Result<IndirectKey, Error> {
        in_range("entries of an indirect memory key", entries.into(), 1..=MAX_ENTRIES)?;
        let mut attr = sys::mlx5dv_mkey_init_attr { pd: self.as_raw(), create_flags, max_entries: entries };
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = non_null("mlx5dv_create_mkey", unsafe { sys::mlx5dv_create_mkey(&raw mut attr) })?;
        // SAFETY: a new key, which no other code has.
        let key = unsafe { (*raw.as_ptr()).lkey };
        Ok(IndirectKey { raw, key, entries: attr.max_entries, _pd: Arc::clone(&self.handle) })
    }
}

impl IndirectKey {
    /// Its number, by which peers' requests name it.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        Rkey(self.key)
    }

    /// Its number, by which this side's requests name it: the same.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        Lkey(self.key)
    }

    /// Entries that its list has room for: as many as were asked for, or up to three more.
    #[must_use]
    pub fn entries(&self) -> u16 {
        self.entries
    }

    /// A request that sets the memory behind the key, and the rights to it. [`wqe::configure_key`] documents the
    /// obligations of its poster, and the requirements of the next request.
    pub fn configure(&self) -> Request<'static, ConfigureKey, SameList> {
        wqe::configure_key(self.rkey(), self.entries)
    }

    /// A request that ends all access by the key, until the key is configured again.
    pub fn take_back(&self) -> Request<'static, Invalidate, Nothing> {
        wqe::local_invalidate(self.rkey())
    }

    /// Byte `offset` of the memory behind the key, for peers' requests.
    #[must_use]
    pub fn remote(&self, offset: u64) -> Remote {
        Remote { addr: offset, rkey: self.rkey() }
    }

    /// Bytes of the memory behind the key, for this side's requests.
    #[must_use]
    pub fn sge(&self, offset: u64, length: u32) -> Sge {
        Sge { addr: offset, length, lkey: self.lkey() }
    }

    /// The raw key, for calls this crate does not wrap.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::mlx5dv_mkey {
        self.raw.as_ptr()
    }
}
