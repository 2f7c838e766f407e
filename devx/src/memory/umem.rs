//! Memory registered for rings, doorbell records and keys (UMEM).

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, Ordering};

use blueflame::verbs::{CallError, Pages};
use memmap2::MmapMut;

use crate::cmd::UmemId;
use crate::context::Context;
use crate::error::Error;
use crate::ffi;

/// Memory that commands can name: for rings, doorbell records, and memory keys. Registered until dropped.
///
/// Its memory belongs to the device as much as to the program, so it is only given out as an address.
#[derive(Debug)]
pub struct Umem {
    raw: NonNull<ffi::Mlx5dvDevxUmem>,
    start: NonNull<u8>,
    len: usize,
    /// `None` for memory of somebody else's. Unmapped after the registration has ended.
    memory: Option<(MmapMut, Pages)>,
    context: Context,
}

// SAFETY: the registration is only ended; the memory is given out as an address.
unsafe impl Send for Umem {}
// SAFETY: as above.
unsafe impl Sync for Umem {}

/// What the device may do: write, for completions and received data; reading is always allowed.
const ACCESS: u32 = rdma_sys::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;

impl Umem {
    /// Maps and registers at least so many bytes, all zero, on huge pages if there are any.
    ///
    /// # Errors
    /// [`Error::Call`]: no memory, or too much of it locked (`ulimit -l`).
    pub fn new(context: &Context, bytes: usize) -> Result<Self, Error> {
        let (mut memory, pages) = Pages::map(bytes.max(1))?;
        let (start, len) = (NonNull::from(&mut memory[..]).cast(), memory.len());
        // SAFETY: mapped, and it stays mapped until the registration has ended, as it is a field of the value that ends it.
        let mut umem = unsafe { Self::over(context, start, len) }?;
        umem.memory = Some((memory, pages));
        Ok(umem)
    }

    /// Registers memory of the caller's.
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// The memory is mapped readable and writable until the returned value is dropped; for good, if objects that lie there could not be
    /// destroyed ([`Object::destroy`](crate::Object::destroy)), for then the registration does not end. What the device is told to write there, by objects
    /// that name this memory, nobody else uses meanwhile. Accesses that are not atomic do not race with [`read`](Self::read) and
    /// [`write`](Self::write).
    pub unsafe fn over(context: &Context, start: NonNull<u8>, len: usize) -> Result<Self, Error> {
        // SAFETY: the context is open; the caller vouches for the memory.
        let raw = unsafe { ffi::mlx5dv_devx_umem_reg(context.raw(), start.as_ptr().cast(), len, ACCESS) };
        let Some(raw) = NonNull::new(raw) else {
            return Err(last("mlx5dv_devx_umem_reg").into());
        };
        Ok(Self { raw, start, len, memory: None, context: context.clone() })
    }

    /// The device it is registered with.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What commands call it.
    #[must_use]
    pub fn id(&self) -> UmemId {
        // SAFETY: alive as long as `self`, and written once. An identifier of 32 bits is any number.
        UmemId::new(unsafe { self.raw.as_ref() }.umem_id).expect("32 bits")
    }

    /// Where the memory begins.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `data` into the memory, from byte `offset` on.
    ///
    /// Other threads, and the device, may write there at the same time: each byte is then that of one of them.
    ///
    /// # Panics
    /// If it does not fit.
    #[track_caller]
    pub fn write(&self, offset: usize, data: &[u8]) {
        assert!(
            offset <= self.len && data.len() <= self.len - offset,
            "{} bytes at {offset} of {}",
            data.len(),
            self.len
        );
        for (n, &byte) in data.iter().enumerate() {
            self.byte(offset + n).store(byte, Ordering::Relaxed);
        }
    }

    /// Copies bytes from `offset` on out of the memory.
    ///
    /// # Panics
    /// If there are not as many.
    #[track_caller]
    pub fn read(&self, offset: usize, out: &mut [u8]) {
        assert!(
            offset <= self.len && out.len() <= self.len - offset,
            "{} bytes at {offset} of {}",
            out.len(),
            self.len
        );
        for (n, byte) in out.iter_mut().enumerate() {
            *byte = self.byte(offset + n).load(Ordering::Relaxed);
        }
    }

    /// A byte of the memory, inside of it.
    fn byte(&self, at: usize) -> &AtomicU8 {
        debug_assert!(at < self.len);
        // SAFETY: mapped as long as `self`, and inside. All accesses of safe code come from here, and are atomic, so any number of threads
        // may make them at a time. The caller of `over` promised that others do not race with them; memory that was mapped here is reached by
        // its address, in unsafe code alone. The device's writes are no accesses of the program.
        unsafe { AtomicU8::from_ptr(self.start.add(at).as_ptr()) }
    }

    /// Which pages it got; `None` for memory of the caller's.
    #[must_use]
    pub fn pages(&self) -> Option<Pages> {
        self.memory.as_ref().map(|(_, pages)| *pages)
    }
}

impl Drop for Umem {
    /// If the device refuses to end the registration, it may still use the memory: that stays mapped.
    fn drop(&mut self) {
        // SAFETY: registered by `mlx5dv_devx_umem_reg`, ended once; objects that lie in it held this value, and are gone.
        if unsafe { ffi::mlx5dv_devx_umem_dereg(self.raw.as_ptr()) } != 0 {
            core::mem::forget(self.memory.take());
        }
    }
}

/// The failure that `errno` tells of.
pub(crate) fn last(call: &'static str) -> CallError {
    CallError { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}
