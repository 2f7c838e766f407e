//! A receive WQE, and its place: the common part of an own ring and an SRQ.

use crate::context::RqContext;
use crate::memory::HostMemory;
use crate::wqe::{DATA_SEG_BYTES, DataSegs, INVALID_LKEY, WqeFault, data_seg};

/// A receive WQE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecvWqe {
    /// `wqe_counter` of its CQE: the running number of the WQE in an own ring, the index in an SRQ.
    pub counter: u16,
    /// Buffers, in order; or the fault of the WQE.
    pub segs: Result<DataSegs, WqeFault>,
}

/// How many WQEs are posted past `taken`, if any: from the record's producer index (16 bits).
pub(crate) fn posted(ring: &RqContext, dbr: u64, taken: u16, memory: &dyn HostMemory) -> Result<Option<u16>, WqeFault> {
    let producer = (memory.load_be32(dbr)? & 0xffff) as u16;
    let ahead = producer.wrapping_sub(taken);
    let entries = 1u32 << ring.log_size;
    if u32::from(ahead) > entries {
        return Err(WqeFault::Overrun { index: taken, producer, ahead, entries });
    }
    Ok((ahead != 0).then_some(ahead))
}

/// Address of the WQE with running number `counter`.
pub(crate) fn wqe_addr(ring: &RqContext, counter: u16) -> u64 {
    let slot = u64::from(counter) & ((1 << ring.log_size) - 1);
    ring.buf.wrapping_add(slot << ring.log_stride)
}

/// The data segments in `wqe` from byte `at` on, up to the one whose key ends the list.
pub(crate) fn scatter_list(wqe: &[u8], at: usize) -> Result<DataSegs, WqeFault> {
    let mut segs = DataSegs::new();
    for (i, bytes) in wqe[at..].chunks_exact(DATA_SEG_BYTES).enumerate() {
        let seg = data_seg(bytes).ok_or(WqeFault::InlineResult { at: at + i * DATA_SEG_BYTES })?;
        if seg.lkey == INVALID_LKEY {
            break;
        }
        segs.push(seg);
    }
    Ok(segs)
}
