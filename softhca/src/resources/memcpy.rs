//! Copying memory by WQEs (MMO with the modifier DMA): from memory of this side to memory of this side.

use super::Resources;
use crate::config::Generation;
use crate::context::QpContext;
use crate::memory::Need;
use crate::memory::keys::fault::MemcpyFault;
use crate::memory::keys::mkey::Accessor;
use crate::wqe::{DataSeg, Memcpy};

/// log2 of the most bytes of a copy (`log_dma_mmo_max_size`).
pub(crate) const MAX_LOG_BYTES: u8 = 21;
/// Bytes of the memory that is the device's: as rdma-core has it (`MLX5_OPAQUE_BUF_LEN`). A copy writes only these
/// there: a syndrome, a reserved word, and the bytes that were scattered and gathered (DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_gga_compress_opaque`).
const SCRATCH_BYTES: u32 = 64;

impl Generation {
    /// Every QP of a transport that has copies may copy (`dma_mmo_sq`).
    pub(crate) fn copies_by_any(self) -> bool {
        self == Self::ConnectX6Dx
    }

    /// A QP may copy if it was enabled to, before it is connected (`dma_mmo_qp`).
    pub(crate) fn copies_if_enabled(self) -> bool {
        self >= Self::ConnectX7
    }
}

impl Resources {
    /// Executes a copying WQE. If source and destination overlap, the destination gets the bytes that were in the
    /// source.
    ///
    /// # Errors
    /// [`MemcpyFault`]; unless pieces of an indirect key turn out to be missing, nothing has been written then.
    pub(crate) fn memcpy(&self, qp: &QpContext, enabled: bool, copy: &Memcpy) -> Result<(), MemcpyFault> {
        let may = self.generation.copies_by_any() || enabled && self.generation.copies_if_enabled();
        if !may {
            return Err(MemcpyFault::NotEnabled);
        }
        if copy.from.len > 1 << MAX_LOG_BYTES {
            return Err(MemcpyFault::Length { len: copy.from.len, limit: 1 << MAX_LOG_BYTES });
        }
        let by = Accessor::from(qp);
        let scratch = DataSeg { len: SCRATCH_BYTES, lkey: copy.scratch_lkey, addr: copy.scratch_addr };
        self.check_local(by, scratch, Need::LocalWrite).map_err(MemcpyFault::Source)?;
        let mut bytes = vec![0; copy.from.len as usize];
        self.gather(by, &[copy.from], 0, &mut bytes).map_err(MemcpyFault::Source)?;
        self.check_local(by, copy.to, Need::LocalWrite).map_err(MemcpyFault::Destination)?;
        self.scatter(by, &[copy.to], 0, &bytes).map_err(MemcpyFault::Destination)?;
        let told = [0, 0, copy.to.len, copy.from.len].map(u32::to_be_bytes);
        self.scatter(by, &[scratch], 0, told.as_flattened()).map_err(MemcpyFault::Source)
    }
}
