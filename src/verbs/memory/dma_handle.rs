//! DMA handles: hints that say into which CPU's cache the device's writes should go.

use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::verbs::device::open::{Context, Device};
use crate::verbs::error::{Error, non_null};
use crate::verbs::event::event;

/// The next user of the memory: a processing hint of PCIe (PCIe Base 6.2, 2.2.7.1: the PH field of a TLP).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ProcessingHint {
    /// The device and the CPU, often.
    Bidirectional = 0,
    /// The device, often.
    Requester = 1,
    /// The CPU, often: data that it will read.
    Target = 2,
    /// The CPU, often and soon.
    TargetWithPriority = 3,
}

/// The kind of memory behind the cache (`ibv_tph_mem_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TphMemory {
    /// Volatile memory.
    Volatile = sys::IBV_TPH_MEM_TYPE_VM,
    /// Persistent memory.
    Persistent = sys::IBV_TPH_MEM_TYPE_PM,
}

/// A DMA handle (`ibv_dmah`): hints on PCIe that bring the device's writes into the cache of the CPU that will read
/// them (TPH: TLP processing hints). Memory gets them by
/// [`ProtectionDomain::register_with_dma_handle`](crate::verbs::ProtectionDomain::register_with_dma_handle). Cheap to
/// clone. Its registrations keep it.
///
/// A hint: the platform decides what it does.
#[doc(alias("ibv_dmah", "ibv_alloc_dmah", "TPH"))]
#[derive(Clone, Debug)]
pub struct DmaHandle {
    handle: Arc<Handle>,
}

/// The handle that its registrations keep.
struct Handle {
    raw: NonNull<sys::ibv_dmah>,
    context: Arc<Context>,
}

impl DmaHandle {
    pub(in crate::verbs) fn context(&self) -> &Context {
        &self.handle.context
    }

    pub(super) fn as_raw(&self) -> *mut sys::ibv_dmah {
        self.handle.raw.as_ptr()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

// SAFETY: a number of the kernel's, written once, which libibverbs reads in calls from any thread.
unsafe impl Send for Handle {}
// SAFETY: a number of the kernel's, written once, which several threads may read.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: from `ibv_alloc_dmah`, freed once; registrations with it hold this object and are gone.
        let returned = unsafe { sys::ibv_dealloc_dmah(self.raw.as_ptr()) };
        if returned != 0 {
            event!(WARN, "DMA handle cannot be freed", errno = returned);
        }
    }
}

impl Device {
    /// Makes a DMA handle. With `cache`, the number of a CPU and the kind of memory, writes go to the cache of that CPU.
    ///
    /// ```no_run
    /// use blueflame::verbs::memory::{ProcessingHint, TphMemory};
    /// use blueflame::verbs::{Access, Buffer, Error, Memory, ProtectionDomain};
    ///
    /// /// Memory that the thread on CPU 3 reads right after peers have written it.
    /// fn inbox(pd: &ProtectionDomain, memory: impl Memory) -> Result<Buffer, Error> {
    ///     let cache = Some((3, TphMemory::Volatile));
    ///     let handle = pd.device().dma_handle(ProcessingHint::TargetWithPriority, cache)?;
    ///     pd.register_with_dma_handle(memory, Access::REMOTE_WRITE, &handle)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Library`] with a libibverbs before rdma-core 59; [`Error::Unsupported`] where device, kernel (before
    /// Linux 6.17) or libmlx5 has no handles; a failed call. Its error is `EINVAL` if the machine has no such CPU, or
    /// the platform no tag for it (Linux `pcie_tph_get_cpu_st`). It is `ENODEV` without ACPI, and `EPERM` if the calling
    /// thread may not run on the CPU. It is `EBUSY` if the device's table of tags is full.
    pub fn dma_handle(&self, hint: ProcessingHint, cache: Option<(u32, TphMemory)>) -> Result<DmaHandle, Error> {
        sys::available::dma_handles()?;
        let mut attr = sys::ibv_dmah_init_attr {
            comp_mask: sys::IBV_DMAH_INIT_ATTR_MASK_PH,
            ph: hint as u8,
            ..sys::ibv_dmah_init_attr::ZERO
        };
        if let Some((cpu, memory)) = cache {
            (attr.cpu_id, attr.tph_mem_type) = (cpu, memory as u8);
            attr.comp_mask |= sys::IBV_DMAH_INIT_ATTR_MASK_CPU_ID | sys::IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE;
        }
        // SAFETY: the context is open; the attributes live until the call returns.
        let raw = non_null("ibv_alloc_dmah", unsafe { sys::ibv_alloc_dmah(self.context.raw(), &raw mut attr) })
            .map_err(|error| Error::from(error).unsupported("DMA handles"))?;
        Ok(DmaHandle { handle: Arc::new(Handle { raw, context: Arc::clone(&self.context) }) })
    }
}
