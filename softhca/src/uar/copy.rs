//! BlueFlame copies: a WQE's bytes as a register receives them, compared with the same WQE in the ring.

use super::page::{BLUEFLAME_HALF_BYTES, DOORBELL_BYTES};
use crate::complaint::Complaint;
use crate::context::SqContext;
use crate::memory::HostMemory;
use crate::wqe::{copy_from_ring, may_differ};

/// The WQE whose copy a half of a register is receiving.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlueFlameCopy {
    /// QPN in its control segment.
    pub(super) qpn: u32,
    /// Index of its first WQEBB.
    pub(super) index: u16,
    /// Bytes of the WQE, by the size in its control segment.
    pub(super) bytes: usize,
}

impl BlueFlameCopy {
    /// The whole WQE, if `stored` holds all of it and more than a doorbell. `stored` begins with the WQE's first byte.
    pub(super) fn whole<'a>(&self, stored: &'a [u8]) -> Option<&'a [u8]> {
        stored.get(..self.bytes).filter(|wqe| wqe.len() > DOORBELL_BYTES)
    }

    /// Compares `stored`, a piece of the copy from byte `at` of the WQE on, with the ring `sq`. Returns a complaint if
    /// they differ.
    pub(super) fn compare(
        &self,
        sq: &SqContext,
        at: usize,
        stored: &[u8],
        memory: &dyn HostMemory,
    ) -> Result<(), Complaint> {
        let Self { qpn, index, bytes } = *self;
        // A copy consists of whole WQEBBs; past the WQE's end, its bytes mean nothing.
        let stored = &stored[..stored.len().min(bytes.saturating_sub(at))];
        let mut control = [0; DOORBELL_BYTES];
        let mut ring = [0; BLUEFLAME_HALF_BYTES];
        let ring = &mut ring[..stored.len()];
        copy_from_ring(sq, index, 0, &mut control, memory)
            .and_then(|()| copy_from_ring(sq, index, at, ring, memory))
            .map_err(|fault| Complaint::Unreachable { number: qpn, fault })?;
        // The WQE may have completed, and its place may hold another one, before the copy arrives: then there is
        // nothing to compare with. A WQE that the driver never put into the ring is found when it is fetched.
        if u16::from_be_bytes([control[1], control[2]]) != index {
            return Ok(());
        }
        let differs = |i: usize| ring[i] != stored[i] && !may_differ(control, at + i, ring[i], stored[i]);
        match (0..ring.len()).find(|&i| differs(i)) {
            None => Ok(()),
            Some(i) => Err(Complaint::CopyDiffers { qpn, index, at: at + i, copied: stored[i], ring: ring[i] }),
        }
    }
}
