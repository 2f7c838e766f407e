//! Memory of the device: small, and as near to it as an inline request.

use core::fmt;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::verbs::access::Access;
use crate::verbs::device::open::{Context, Device};
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range, non_null, zero};
use crate::verbs::event::event;
use crate::verbs::memory::region::Region;
use crate::verbs::memory::rights::refuse;

/// Memory of the device (`ibv_alloc_dm`; the PRM's MEMIC). A request that gathers from it costs the device no fetch
/// over PCIe, as if the data were inline. You can send these bytes many times. Peers that poll or add to counters there
/// do not burden this machine's memory.
///
/// The CPU reaches it over PCIe, by combined stores and by loads, which are slow. It is written and read in words of 4
/// bytes.
#[doc(alias("ibv_dm", "ibv_alloc_dm", "MEMIC"))]
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    allocation: Arc<Allocation>,
}

/// The allocation that its registrations keep.
struct Allocation {
    raw: NonNull<sys::ibv_dm>,
    len: u64,
    context: Arc<Context>,
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocation").field("len", &self.len).finish_non_exhaustive()
    }
}

// SAFETY: libmlx5 copies by atomic words, which any number of threads may do at once, and locks nothing.
unsafe impl Send for Allocation {}
// SAFETY: libmlx5 copies by atomic words, which any number of threads may do at once.
unsafe impl Sync for Allocation {}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: from `alloc_dm`, freed once; registrations of it hold this object and are gone.
        let returned = unsafe { sys::ibv_free_dm(self.raw.as_ptr()) };
        if returned != 0 {
            event!(WARN, "device memory cannot be freed", errno = returned);
        }
    }
}

/// The unit in which the CPU writes and reads device memory. libmlx5 uses such words, "due to HW limitation"
/// (`mlx5_access_dm`).
const WORD: usize = 4;
/// Words copied at a time.
const WORDS: usize = 64;

impl Device {
    /// Allocates `bytes` bytes of device memory, all of it this program's, at a multiple of `1 << log_align` bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device has none; [`Error::OutOfRange`] for no bytes, or more than
    /// [`max_device_memory`](crate::verbs::memory::MemoryAttr::max_device_memory); a failed call: `ENOMEM` when others
    /// have allocated the memory.
    pub fn device_memory(&self, bytes: u64, log_align: u32) -> Result<DeviceMemory, Error> {
        let max = self.memory_attr()?.max_device_memory;
        if max == 0 {
            return Err(Error::Unsupported { what: "device memory" });
        }
        in_range("bytes of device memory", bytes, 1..=max)?;
        // At most a device's memory, which is far below 2^32.
        let mut attr = sys::ibv_alloc_dm_attr { length: bytes as usize, log_align_req: log_align, comp_mask: 0 };
        // SAFETY: the context is open; the attributes live until the call returns.
        let raw = non_null("ibv_alloc_dm", unsafe { sys::ibv_alloc_dm(self.context.raw(), &raw mut attr) })?;
        let context = Arc::clone(&self.context);
        Ok(DeviceMemory { allocation: Arc::new(Allocation { raw, len: bytes, context }) })
    }
}

impl DeviceMemory {
    pub(in crate::verbs) fn context(&self) -> &Context {
        &self.allocation.context
    }

    /// Bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an allocation has at least one byte")]
    pub fn len(&self) -> u64 {
        self.allocation.len
    }

    /// Whether the CPU may copy `bytes` bytes at `offset`.
    fn check(&self, offset: u64, bytes: usize) -> Result<(), Error> {
        in_range("offset in device memory", offset, 0..=self.len())?;
        in_range("bytes of device memory to copy", bytes as u64, 0..=self.len() - offset)?;
        in_range("offset in device memory modulo 4", offset % WORD as u64, 0..=0)?;
        in_range("bytes of device memory to copy modulo 4", (bytes % WORD) as u64, 0..=0)
    }

    /// Copies `data` to `offset`. A request that is posted later finds the data there: ringing the doorbell flushes
    /// combined stores first ([`arch::mmio_wc_start`](crate::arch::mmio_wc_start)).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless offset and length are multiples of 4 inside the allocation.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
        self.check(offset, data.len())?;
        let raw = self.allocation.raw.as_ptr();
        for (n, bytes) in data.chunks(WORDS * WORD).enumerate() {
            let mut words = [0_u32; WORDS];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(WORD)) {
                *word = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            let at = offset + (n * WORDS * WORD) as u64;
            // SAFETY: the memory is allocated, the range inside; the words are ours.
            let copied = unsafe { (*raw).memcpy_to_dm.map(|copy| copy(raw, at, words.as_ptr().cast(), bytes.len())) };
            zero("ibv_memcpy_to_dm", copied.unwrap_or(libc::EOPNOTSUPP))?;
        }
        Ok(())
    }

    /// Copies from `offset` into `out`.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        self.check(offset, out.len())?;
        let raw = self.allocation.raw.as_ptr();
        for (n, bytes) in out.chunks_mut(WORDS * WORD).enumerate() {
            let mut words = [0_u32; WORDS];
            let at = offset + (n * WORDS * WORD) as u64;
            // SAFETY: as in `write`.
            let copied =
                unsafe { (*raw).memcpy_from_dm.map(|copy| copy(words.as_mut_ptr().cast(), raw, at, bytes.len())) };
            zero("ibv_memcpy_from_dm", copied.unwrap_or(libc::EOPNOTSUPP))?;
            for (word, bytes) in words.iter().zip(bytes.chunks_exact_mut(WORD)) {
                bytes.copy_from_slice(&word.to_ne_bytes());
            }
        }
        Ok(())
    }
}

/// Registered device memory, which it keeps: requests name it by offsets, from 0 on.
pub type DeviceRegion = Region<DeviceMemory>;

impl ProtectionDomain {
    /// Registers the bytes `range` of device memory for what `access` permits.
    ///
    /// ```no_run
    /// # use blueflame::verbs::{Access, Device, ProtectionDomain};
    /// # use blueflame::{Remote, SendQueue, WrId, transport, wqe};
    /// # fn post(device: &Device, pd: &ProtectionDomain, sq: &mut SendQueue<transport::Rc>, there: Remote)
    /// #     -> Result<(), Box<dyn std::error::Error>> {
    /// let near = device.device_memory(4096, 6)?;
    /// let region = pd.register_device_memory(&near, 0..4096, Access::LOCAL_READ)?;
    /// near.write(64, b"sent many times.")?;
    /// let entry = region.sge_of(64, 16).ok_or("outside")?;
    /// // SAFETY: the region lives until the completion has come.
    /// unsafe { sq.post_unchecked(&wqe::write(there).gather([entry]).signaled(WrId(1)))? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a range that is empty or leaves the memory; [`Error::AccessExcess`] for
    /// [`Access::ON_DEMAND`]; [`Error::ForeignDevice`]; a failed call.
    #[doc(alias = "ibv_reg_dm_mr")]
    pub fn register_device_memory(
        &self,
        memory: &DeviceMemory,
        range: Range<u64>,
        access: Access,
    ) -> Result<DeviceRegion, Error> {
        in_range("end of a range of device memory", range.end, 1..=memory.len())?;
        in_range("start of a range of device memory", range.start, 0..=range.end - 1)?;
        refuse(access, Access::ON_DEMAND)?;
        self.handle.context.check("memory region", [memory.into()])?;
        let len = range.end - range.start;
        let flags = access.bits() | sys::IBV_ACCESS_ZERO_BASED;
        // SAFETY: domain and memory are alive and of one device; the region keeps the memory.
        unsafe {
            let mr =
                sys::ibv_reg_dm_mr(self.as_raw(), memory.allocation.raw.as_ptr(), range.start, len as usize, flags);
            Region::over("ibv_reg_dm_mr", mr, access, memory.clone(), self, (0, len))
        }
    }
}
