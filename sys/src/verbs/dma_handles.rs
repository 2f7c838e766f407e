//! DMA handles, and the registration that takes one: in libibverbs since rdma-core 59. They are looked up by themselves.

use core::ffi::{c_int, c_void};

use super::types::{ibv_context, ibv_mr, ibv_pd};
use crate::declare::{enumerations, functions, structures};
use crate::errno::absent;

enumerations! {
    /// Types of memory that a steering tag leads to.
    ibv_tph_mem_type: u8 {
        IBV_TPH_MEM_TYPE_VM = 0,
        IBV_TPH_MEM_TYPE_PM = 1,
    }

    /// Which fields of [`ibv_dmah_init_attr`] count.
    ibv_dmah_init_attr_mask: u32 {
        IBV_DMAH_INIT_ATTR_MASK_CPU_ID = 1 << 0,
        IBV_DMAH_INIT_ATTR_MASK_PH = 1 << 1,
        IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE = 1 << 2,
    }

    /// Which fields of [`ibv_mr_init_attr`] count.
    ibv_mr_init_attr_mask: u64 {
        IBV_REG_MR_MASK_IOVA = 1 << 0,
        IBV_REG_MR_MASK_ADDR = 1 << 1,
        IBV_REG_MR_MASK_FD = 1 << 2,
        IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
        IBV_REG_MR_MASK_DMAH = 1 << 4,
    }
}

structures! {
    /// A DMA handle.
    struct ibv_dmah {
        context: *mut ibv_context,
    }

    /// Attributes of a new DMA handle.
    struct ibv_dmah_init_attr {
        comp_mask: u32,
        cpu_id: u32,
        ph: u8,
        tph_mem_type: u8,
    }

    /// Attributes of a new memory region. Later releases have more behind these.
    struct ibv_mr_init_attr {
        length: usize,
        access: c_int,
        comp_mask: u64,
        iova: u64,
        addr: *mut c_void,
        fd: c_int,
        fd_offset: u64,
        dmah: *mut ibv_dmah,
    }
}

functions! {
    "libibverbs.so.1", link none, replaceable true;

    "IBVERBS_1.15": {
        /// Makes a DMA handle. Null and `errno` on failure.
        fn ibv_alloc_dmah(
            context: *mut ibv_context, attr: *mut ibv_dmah_init_attr,
        ) -> *mut ibv_dmah, else absent();
        /// Frees a DMA handle. Returns 0 or an errno: `EBUSY` while a region is registered with it.
        fn ibv_dealloc_dmah(dmah: *mut ibv_dmah) -> c_int, else libc::ENOSYS;
        /// Registers memory, or a dma-buf, with a DMA handle or without. Null and `errno` on failure.
        fn ibv_reg_mr_ex(pd: *mut ibv_pd, mr_init_attr: *mut ibv_mr_init_attr) -> *mut ibv_mr, else absent();
    }
}
