//! Memory registered for rings, doorbell records and keys (UMEM).

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, Ordering};
use std::os::fd::{AsRawFd, BorrowedFd};

use blueflame::verbs::CallError;
use blueflame::verbs::memory::Pages;
use blueflame_sys as sys;
use memmap2::{Advice, MmapMut};

use crate::check::in_range;
use crate::cmd::UmemId;
use crate::context::Context;
use crate::error::Error;

/// Memory that commands can name: for rings, doorbell records, and memory keys. Dropping it ends the registration.
///
/// Its memory belongs to the device as much as to the program, so only its address is given out.
#[doc(alias("mlx5dv_devx_umem", "mlx5dv_devx_umem_reg", "mlx5dv_devx_umem_reg_ex"))]
#[derive(Debug)]
pub struct Umem {
    raw: NonNull<sys::mlx5dv_devx_umem>,
    start: NonNull<u8>,
    len: usize,
    device_pages: DevicePages,
    registered: bool,
    /// Another process has registered it.
    is_imported: bool,
    /// `None` for the caller's memory. Unmapped after the registration has ended.
    memory: Option<(MmapMut, Pages)>,
    context: Context,
}

// SAFETY: the registration is only ended; the memory is given out as an address.
unsafe impl Send for Umem {}
// SAFETY: shared use gives out an address, and its accesses to the memory are atomic.
unsafe impl Sync for Umem {}

/// Bytes of the device's smallest pages (`MLX5_ADAPTER_PAGE_SHIFT`). Memory is registered in such pages if possible.
pub(crate) const PAGE: usize = 4096;

/// Knowledge of the pages in which the device has the memory.
///
/// Firmware takes the pages of a ring from its UMEM: the ring begins at a multiple of 1/64 of a page (UCX
/// `src/uct/ib/mlx5/gdaki/gdaki.c`, `uct_rc_gdaki_calc_dev_ep_layout`, and its pull request 11103). Without
/// `pgsz_bitmap`, the kernel takes the largest pages that fit, and the program promises that its rings begin at offset
/// 0 (Linux `drivers/infiniband/hw/mlx5/devx.c`, `devx_umem_reg_cmd_alloc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DevicePages {
    /// They have [`PAGE`] bytes.
    Small,
    /// The memory's address is a multiple of them.
    Aligned,
    /// Nothing.
    Unknown,
}

/// The device's rights: write, for completions and received data; reading is always allowed.
const ACCESS: u32 = sys::IBV_ACCESS_LOCAL_WRITE;

impl Umem {
    /// Maps and registers at least `bytes` bytes, all zero, on huge pages if available.
    ///
    /// # Errors
    /// [`Error::Call`]: no memory, or too much of it locked (`ulimit -l`).
    pub fn new(context: &Context, bytes: usize) -> Result<Self, Error> {
        let (mut memory, pages) = Pages::map(bytes.max(1))?;
        // The device keeps using the pages that it knows, and they stay this process's, like verbs' rings.
        memory
            .advise(Advice::DontFork)
            .map_err(|error| CallError { call: "madvise", errno: error.raw_os_error().unwrap_or(libc::EIO) })?;
        let (start, len) = (NonNull::from(&mut memory[..]).cast(), memory.len());
        // SAFETY: mapped, and it stays mapped until the registration has ended, as it is a field of the value that ends
        // it.
        let mut umem = unsafe { Self::over(context, start, len) }?;
        umem.memory = Some((memory, pages));
        Ok(umem)
    }

    /// Registers the caller's memory, in pages of 4096 bytes if the kernel offers them
    /// ([`page_bytes`](Self::page_bytes)).
    ///
    /// # Errors
    /// [`Error::Call`].
    ///
    /// # Safety
    /// The memory is mapped readable and writable until the returned value is dropped. If objects that lie there could
    /// not be destroyed ([`Object::destroy`](crate::Object::destroy)), the registration does not end, and the memory
    /// must stay mapped for good. Objects that name this memory may tell the device to write to parts of it; nothing
    /// else uses these parts meanwhile. Accesses that are not atomic do not race with [`read`](Self::read) and
    /// [`write`](Self::write).
    pub unsafe fn over(context: &Context, start: NonNull<u8>, len: usize) -> Result<Self, Error> {
        // SAFETY: the caller vouches for the memory.
        let (raw, device_pages) = unsafe { register(context, start, len) }?;
        Ok(Self {
            raw,
            start,
            len,
            device_pages,
            registered: true,
            is_imported: false,
            memory: None,
            context: context.clone(),
        })
    }

    /// Registers `len` bytes from `offset` on of a dma-buf, such as a GPU's memory, in pages of 4096 bytes. The program has
    /// them mapped at `start`. Rings may lie there ([`Rings::over`](super::Rings::over)).
    ///
    /// A register page for queues in such memory is better [uncached](crate::object::UarKind::NonCachedDedicated), if the
    /// other device rings it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `offset` or `start` is no multiple of 4096; [`Error::Call`]: `EOPNOTSUPP` from a libmlx5
    /// before 45, `EINVAL` or `EPROTONOSUPPORT` from kernels before 5.20, or for a file that is no dma-buf.
    ///
    /// # Safety
    /// As for [`over`](Self::over). The bytes at `start` are those of the dma-buf.
    #[doc(alias = "MLX5DV_UMEM_MASK_DMABUF")]
    pub unsafe fn of_dma_buf(
        context: &Context,
        dma_buf: BorrowedFd<'_>,
        offset: u64,
        start: NonNull<u8>,
        len: usize,
    ) -> Result<Self, Error> {
        in_range("offset in a dma-buf, bytes into its page", offset % PAGE as u64, 0..=0)?;
        in_range("mapping of a dma-buf, bytes into its page", (start.addr().get() % PAGE) as u64, 0..=0)?;
        let mut input = sys::mlx5dv_devx_umem_in {
            addr: core::ptr::without_provenance_mut(offset as usize),
            size: len,
            access: ACCESS,
            pgsz_bitmap: PAGE as u64,
            comp_mask: sys::MLX5DV_UMEM_MASK_DMABUF,
            dmabuf_fd: dma_buf.as_raw_fd(),
        };
        // SAFETY: the context is open; the caller vouches for the memory. The address is an offset in the file.
        let raw = NonNull::new(unsafe { sys::mlx5dv_devx_umem_reg_ex(context.raw(), &raw mut input) });
        let raw = raw.ok_or_else(|| last("mlx5dv_devx_umem_reg_ex"))?;
        let (device_pages, context) = (DevicePages::Small, context.clone());
        Ok(Self { raw, start, len, device_pages, registered: true, is_imported: false, memory: None, context })
    }

    /// The device it is registered with.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The number that identifies it in commands.
    #[must_use]
    pub fn id(&self) -> UmemId {
        // SAFETY: alive as long as `self`, and written once. An identifier of 32 bits is any number.
        UmemId::new(unsafe { self.raw.as_ref() }.umem_id).expect("32 bits")
    }

    /// Bytes of the pages in which the device has the memory: 4096. `None` if the kernel chose the pages, as the VFIO
    /// driver does, and kernels with larger pages of their own. A ring begins at a multiple of 1/64 of a page; in pages
    /// of unknown size, it begins at offset 0.
    #[must_use]
    pub fn page_bytes(&self) -> Option<usize> {
        (self.device_pages == DevicePages::Small).then_some(PAGE)
    }

    /// Returns an error if the program's and the device's addresses may differ in their offset in a page. Firmware
    /// refuses keys of such memory, with syndrome 0x317175 (UCX, pull request 8689).
    pub(crate) fn check_addresses(&self) -> Result<(), Error> {
        if self.device_pages != DevicePages::Unknown {
            return Ok(());
        }
        // The VFIO driver takes one page for all of it (rdma-core `providers/mlx5/mlx5_vfio.c`, `_vfio_devx_umem_reg`).
        let start = self.start.addr().get();
        let most = (start % PAGE).saturating_add(self.len).next_power_of_two().max(PAGE);
        if (start - start % PAGE) % most == 0 {
            return Ok(());
        }
        Err(Error::DevicePages { start: start as u64, most: most as u64 })
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
    /// Other threads and the device may write there at the same time: each byte then comes from one of them.
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
    /// If the memory has fewer bytes.
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

    /// A byte of the memory, inside of it. Copies go byte by byte. If one thread accesses the same memory by words and
    /// another by bytes, that is a race (`core::sync::atomic`, memory model).
    fn byte(&self, at: usize) -> &AtomicU8 {
        debug_assert!(at < self.len);
        // SAFETY: mapped as long as `self`, and inside. All accesses of safe code come from here, and are atomic, so
        // any number of threads may make them at a time. The caller of `over` promised that others do not race with
        // them; memory that was mapped here is reached by its address, in unsafe code alone. The device's writes are no
        // accesses of the program.
        unsafe { AtomicU8::from_ptr(self.start.add(at).as_ptr()) }
    }

    /// The kind of pages that the memory got; `None` for the caller's memory.
    #[must_use]
    pub fn pages(&self) -> Option<Pages> {
        self.memory.as_ref().map(|(_, pages)| *pages)
    }
}

impl Umem {
    /// Memory that another process has registered.
    ///
    /// # Safety
    /// `raw` was just imported into `context`. The conditions of [`import`](Self::import).
    pub(crate) unsafe fn imported(
        context: &Context,
        raw: NonNull<sys::mlx5dv_devx_umem>,
        start: NonNull<u8>,
        len: usize,
    ) -> Self {
        let (device_pages, context) = (DevicePages::Unknown, context.clone());
        Self { raw, start, len, device_pages, registered: true, is_imported: true, memory: None, context }
    }

    /// The raw registration.
    pub(crate) fn as_raw(&self) -> *mut sys::mlx5dv_devx_umem {
        self.raw.as_ptr()
    }

    /// Ends the registration, once. Returns false if the device refuses: it may still use the memory, which stays
    /// mapped.
    pub(super) fn end(&mut self) -> bool {
        if self.is_imported {
            if core::mem::take(&mut self.registered) {
                // SAFETY: imported, ended once. The other process's registration stays.
                unsafe { sys::mlx5dv_devx_umem_unimport(self.raw.as_ptr()) };
            }
            return true;
        }
        // SAFETY: registered, ended once; objects that lie in it held this value, and are gone.
        let refused =
            core::mem::take(&mut self.registered) && unsafe { sys::mlx5dv_devx_umem_dereg(self.raw.as_ptr()) } != 0;
        if refused {
            core::mem::forget(self.memory.take());
        }
        !refused
    }
}

impl Drop for Umem {
    fn drop(&mut self) {
        self.end();
    }
}

/// Registers memory in the smallest pages that the kernel has.
///
/// # Safety
/// As for [`Umem::over`].
unsafe fn register(
    context: &Context,
    start: NonNull<u8>,
    len: usize,
) -> Result<(NonNull<sys::mlx5dv_devx_umem>, DevicePages), Error> {
    let addr = start.as_ptr().cast();
    // The largest page size for which the memory's first page begins a page, and all smaller sizes.
    let first = start.addr().get() as u64 & !(PAGE as u64 - 1);
    let aligned = first ^ first.wrapping_sub(1);
    for (pgsz_bitmap, pages) in [(PAGE as u64, DevicePages::Small), (aligned, DevicePages::Aligned)] {
        let mut input =
            sys::mlx5dv_devx_umem_in { addr, size: len, access: ACCESS, pgsz_bitmap, comp_mask: 0, dmabuf_fd: -1 };
        // SAFETY: the context is open; the caller vouches for the memory.
        let raw = unsafe { sys::mlx5dv_devx_umem_reg_ex(context.raw(), &raw mut input) };
        if let Some(raw) = NonNull::new(raw) {
            return Ok((raw, pages));
        }
        let error = last("mlx5dv_devx_umem_reg_ex");
        if !PAGES_REFUSED.contains(&error.errno) {
            return Err(error.into());
        }
    }
    // SAFETY: the context is open; the caller promises memory that stays mapped until the registration ends.
    let raw = unsafe { sys::mlx5dv_devx_umem_reg(context.raw(), addr, len, ACCESS) };
    match NonNull::new(raw) {
        Some(raw) => Ok((raw, DevicePages::Unknown)),
        None => Err(last("mlx5dv_devx_umem_reg").into()),
    }
}

/// Errors of libraries and kernels that lack these pages. `ENOSYS`, `EPROTONOSUPPORT`: no such function or attribute.
/// `EOPNOTSUPP`: the VFIO driver. `EINVAL`: the host's own pages are larger (Linux `drivers/infiniband/core/umem.c`,
/// `ib_umem_find_best_pgsz`).
const PAGES_REFUSED: [i32; 4] = [libc::ENOSYS, libc::EOPNOTSUPP, libc::EPROTONOSUPPORT, libc::EINVAL];

/// The failure that `errno` reports.
pub(crate) fn last(call: &'static str) -> CallError {
    CallError { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
}
