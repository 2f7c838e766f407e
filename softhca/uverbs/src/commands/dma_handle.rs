//! DMA handles (`ibv_alloc_dmah`): hints about the cache into which the device's accesses to memory should go (Linux
//! `drivers/infiniband/core/uverbs_std_types_dmah.c`, `drivers/infiniband/hw/mlx5/dmah.c`).

use super::request::Request;
use crate::context::{Context, Object, Rank};
use crate::device::{Hca, MemoryType};
use crate::process::{Errno, lock};
use softhca::context::TphContext;
use std::sync::Arc;

/// A DMA handle.
pub(crate) struct DmaHandle {
    /// For the keys of regions that are registered with it.
    pub(super) tph: TphContext,
}

impl Object for DmaHandle {
    fn rank(&self) -> Rank {
        Rank::DmaHandle
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        lock(&hca.steering_tags).remove(self.tph.steering_tag_index);
        Ok(())
    }
}

/// `DMAH_ALLOC`: 0 handle, 1 CPU, 2 memory type, 3 processing hint. A steering tag (1 and 2) is optional, the hint is
/// not (`mlx5_ib_alloc_dmah`).
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    /// PCIe has two bits for the hint.
    const HINTS: u8 = 3;
    check_supported(context)?;
    let memory_type = match request.variant(2) {
        None => None,
        Some(0) => Some(MemoryType::Volatile),
        Some(1) => Some(MemoryType::Persistent),
        // `uverbs_process_attr`.
        Some(_) => return Err(Errno::EOPNOTSUPP),
    };
    let cpu = request.optional::<u32>(1)?;
    if let Some(cpu) = cpu {
        check_cpu(cpu)?;
    }
    let processing_hint: u8 = request.input(3)?;
    if processing_hint > HINTS {
        return Err(Errno::EINVAL);
    }
    let steering_tag_index = match (cpu, memory_type) {
        (None, None) => 0,
        (Some(cpu), Some(memory_type)) => lock(&context.hca.steering_tags).add((cpu, memory_type))?,
        _ => return Err(Errno::EINVAL),
    };
    let handle = context.insert(Arc::new(DmaHandle { tph: TphContext { processing_hint, steering_tag_index } }));
    request.put_handle(0, handle)
}

/// `DMAH_FREE`: 0 handle. `EBUSY` while a region is registered with it.
pub(crate) fn free(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    check_supported(context)?;
    context.destroy::<DmaHandle>(request.handle(0)?).map(drop)
}

/// The DMA handle that attribute `id` names, if it is there.
pub(super) fn named_by(context: &Context, request: &Request, id: u16) -> Result<Option<Arc<DmaHandle>>, Errno> {
    let Some(handle) = request.optional_handle(id) else { return Ok(None) };
    check_supported(context)?;
    context.get(handle).map(Some)
}

/// A kernel does not know the object if the device's driver has no functions for it (mlx5_ib `mlx5_ib_stage_caps_init`;
/// `UAPI_DEF_OBJ_NEEDS_FN`).
fn check_supported(context: &Context) -> Result<(), Errno> {
    if context.hca.capabilities.tph { Ok(()) } else { Err(Errno::EPROTONOSUPPORT) }
}

/// The machine must have the CPU, and this thread be permitted to run on it.
fn check_cpu(cpu: u32) -> Result<(), Errno> {
    // SAFETY: takes a number, and returns one.
    let there = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    if !u64::try_from(there).is_ok_and(|there| u64::from(cpu) < there) {
        return Err(Errno::EINVAL);
    }
    // SAFETY: a set of CPUs is numbers, all of which may be 0.
    let mut permitted: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours, and has that size.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut permitted) } != 0 {
        return Err(Errno::last());
    }
    // A set has room for so many CPUs.
    let known = (cpu as usize) < size_of::<libc::cpu_set_t>() * 8;
    // SAFETY: the number is below the set's room.
    if known && unsafe { libc::CPU_ISSET(cpu as usize, &permitted) } { Ok(()) } else { Err(Errno::EPERM) }
}
