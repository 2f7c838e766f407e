//! Chooses where libmlx5 puts doorbell records and rings, by a parent domain.
//!
//! By itself libmlx5 gives each record a cache line, and each ring pages of its own (rdma-core
//! `providers/mlx5/dbrec.c`, `buf.c`). Here records of eight bytes lie side by side, and rings one behind the other on
//! huge pages.

use core::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use blueflame_sys as sys;
use memmap2::MmapMut;

use crate::verbs::CallError;
use crate::verbs::domain::area::Area;
use crate::verbs::error::failed;
use crate::verbs::pages;

/// Records are mapped by the page.
const RECORD_CHUNK: usize = 4096;
/// Rings by the huge page.
const RING_CHUNK: usize = 1 << pages::HUGE_PAGE_BITS;

/// Memory of one thread's records and rings. No other thread has any of its pages, hence none of its cache lines.
#[derive(Debug)]
pub(crate) struct Placement {
    records: Mutex<Area>,
    rings: Mutex<Area>,
}

impl Placement {
    pub(crate) fn new() -> Self {
        Self {
            records: Mutex::new(Area::new(RECORD_CHUNK, record_pages)),
            rings: Mutex::new(Area::new(RING_CHUNK, |bytes| pages::map(bytes).map(|(memory, _)| memory))),
        }
    }

    /// The area that resources of this type are placed in; `None` leaves them to libmlx5.
    fn area(&self, resource_type: u64) -> Option<&Mutex<Area>> {
        match resource_type {
            sys::MLX5DV_RES_TYPE_DBR => Some(&self.records),
            sys::MLX5DV_RES_TYPE_QP | sys::MLX5DV_RES_TYPE_CQ => Some(&self.rings),
            _ => None,
        }
    }
}

fn record_pages(bytes: usize) -> Result<MmapMut, CallError> {
    MmapMut::map_anon(bytes).map_err(|error| failed("mmap", &error))
}

/// Has a parent domain place its objects by `placement`, which must outlive it.
pub(in crate::verbs) fn announce(placement: &Arc<Placement>, attr: &mut sys::ibv_parent_domain_init_attr) {
    attr.comp_mask |= sys::IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | sys::IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    attr.alloc = Some(allocate);
    attr.free = Some(free);
    attr.pd_context = Arc::as_ptr(placement).cast_mut().cast();
}

/// The space that a piece takes up. Rings of one size would all begin at the same offset of a page; at equal indices,
/// posts to them would fall into the same set of the CPU's caches. A gap of one alignment step between them spreads
/// them over the page. The alignment is the one that the queue pair's context can express (rdma-core
/// `providers/mlx5/verbs.c`, `mlx5_set_custom_qp_alignment`). It is a 64th of the buffer's size, rounded up to whole
/// pages and to a power of two, but no less than a WQE's stride.
fn spaced(size: usize, alignment: usize, resource_type: u64) -> usize {
    if resource_type == sys::MLX5DV_RES_TYPE_QP { size + alignment } else { size }
}

/// Allocates for libmlx5. Null and `errno` if there is no memory.
unsafe extern "C" fn allocate(
    _: *mut sys::ibv_pd,
    placement: *mut c_void,
    size: usize,
    alignment: usize,
    resource_type: u64,
) -> *mut c_void {
    // SAFETY: what `announce` passed, which outlives the parent domain and so this call.
    let placement = unsafe { &*placement.cast::<Placement>() };
    let Some(area) = placement.area(resource_type) else { return sys::IBV_ALLOCATOR_USE_DEFAULT };
    let mut area = area.lock().unwrap_or_else(PoisonError::into_inner);
    match area.allocate(spaced(size, alignment, resource_type), alignment) {
        Ok(piece) => piece.as_ptr().cast(),
        Err(error) => {
            // SAFETY: the C library's per-thread errno is always there to be written.
            unsafe { *libc::__errno_location() = error.errno };
            core::ptr::null_mut()
        }
    }
}

/// Takes back memory that [`allocate`] gave libmlx5.
unsafe extern "C" fn free(_: *mut sys::ibv_pd, placement: *mut c_void, piece: *mut c_void, resource_type: u64) {
    // SAFETY: as in `allocate`.
    let placement = unsafe { &*placement.cast::<Placement>() };
    if let Some(area) = placement.area(resource_type) {
        area.lock().unwrap_or_else(PoisonError::into_inner).free(piece.addr());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rings_begin_at_every_offset_of_a_page() {
        let placement = Arc::new(Placement::new());
        let context = Arc::as_ptr(&placement).cast_mut().cast();
        let mut offsets: Vec<_> = (0..64)
            // SAFETY: a placement that is alive, as `announce` passes it.
            .map(|_| unsafe { allocate(core::ptr::null_mut(), context, 4096, 64, sys::MLX5DV_RES_TYPE_QP) })
            .map(|ring| ring.addr() % 4096)
            .collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..64).map(|i| 64 * i).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_placed_is_left_to_the_library() {
        let placement = Arc::new(Placement::new());
        let context = Arc::as_ptr(&placement).cast_mut().cast();
        // SAFETY: a placement that is alive, as `announce` passes it.
        let srq = unsafe { allocate(core::ptr::null_mut(), context, 4096, 4096, sys::MLX5DV_RES_TYPE_DBR + 1) };
        assert_eq!(srq, sys::IBV_ALLOCATOR_USE_DEFAULT);
    }
}
