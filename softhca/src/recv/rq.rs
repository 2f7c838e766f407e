//! A QP's own receive ring: WQEs are consumed in the order of their places.

use super::wqe::{RecvWqe, posted, scatter_list, wqe_addr};
use crate::context::RqContext;
use crate::memory::HostMemory;
use crate::wqe::{DATA_SEG_BYTES, DataSegs, RECEIVE_BYTES, WqeFault, check_receive, of_index};
use smallvec::{SmallVec, smallvec};

/// A QP's own receive ring.
#[derive(Clone, Debug)]
pub(crate) struct Rq {
    ring: RqContext,
    /// Doorbell record; word 0 is the producer index. There is no register for receives: the record alone announces
    /// them. So a stale record does so after a reset, too. DPDK clears it "before moving queue to READY state"
    /// (`drivers/net/mlx5/mlx5_rxq.c`, `mlx5_rx_queue_start_primary`), and libmlx5 before the queue leaves the reset
    /// state (rdma-core `providers/mlx5/verbs.c`, `mlx5_modify_qp`).
    dbr: u64,
    /// WQEs consumed, 16 bits.
    taken: u16,
    /// Its WQEs are for Ethernet frames.
    frames: bool,
    /// Bytes of a WQE before its data segments.
    header: usize,
    /// Its WQEs begin with a signature.
    signed: Option<Signed>,
}

/// Additional inputs of the signatures of receive WQEs.
#[derive(Clone, Debug)]
struct Signed {
    qpn: u32,
    /// The index that the last WQE's signature was made for, by its [XOR](of_index). It is the WQE's own index, or its
    /// chain's first: libmlx5 signs all WQEs of one call with the index of the first (rdma-core `providers/mlx5/qp.c`,
    /// `mlx5_post_recv`). At most two entries, if the signatures cannot tell them apart.
    chain: Vec<u8>,
}

/// Bit 31 of a data segment's first word, in its first byte. In a queue of Ethernet frames it does not mean inline
/// data. It lets the device write bytes before the buffer, up to a line of the cache (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_main.c`, `MLX5_HW_START_PADDING`). This one has no use for that.
const MAY_PAD: u8 = 1 << 7;

/// Bytes of the segment with which WQEs of striding queues begin. In a linked list it names the next WQE; in a ring it
/// means nothing (`struct mlx5_wqe_srq_next_seg`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_mprq`;
/// NVIDIA/daqiri `daqiri_ibverbs_engine.cpp`, `devx_build_wqe`).
const NEXT_SEG_BYTES: usize = 16;

/// A WQE of at most so many bytes is read without an allocation.
const USUAL_BYTES: usize = 128;

impl Rq {
    /// An empty ring.
    #[must_use]
    pub(crate) fn new(ring: RqContext, dbr: u64) -> Self {
        Self { ring, dbr, taken: 0, frames: false, header: 0, signed: None }
    }

    /// An empty ring of WQEs for Ethernet frames.
    #[must_use]
    pub(crate) fn of_frames(ring: RqContext, dbr: u64) -> Self {
        Self { frames: true, ..Self::new(ring, dbr) }
    }

    /// An empty ring of WQEs that are each for several Ethernet frames.
    #[must_use]
    pub(crate) fn of_strides(ring: RqContext, dbr: u64) -> Self {
        Self { header: NEXT_SEG_BYTES, ..Self::of_frames(ring, dbr) }
    }

    /// Gives the ring's WQEs signatures for this queue pair.
    #[must_use]
    pub(crate) fn signed(self, qpn: u32) -> Self {
        Self { header: RECEIVE_BYTES, signed: Some(Signed { qpn, chain: Vec::new() }), ..self }
    }

    /// WQEs consumed, 16 bits.
    #[must_use]
    pub(crate) fn consumed(&self) -> u16 {
        self.taken
    }

    /// WQEs consumed, and WQEs posted as far as the record can be read, 16 bits.
    pub(crate) fn counters(&self, memory: &dyn HostMemory) -> (u16, u16) {
        (self.taken, memory.load_be32(self.dbr).map_or(self.taken, |record| (record & 0xffff) as u16))
    }

    /// Consumes the next WQE; `None` if nothing is posted.
    ///
    /// # Errors
    /// [`WqeFault`] if the record cannot be read or says more than the ring holds.
    pub(crate) fn take(&mut self, memory: &dyn HostMemory) -> Result<Option<RecvWqe>, WqeFault> {
        let wqe = self.peek(memory)?;
        if wqe.is_some() {
            self.advance();
        }
        Ok(wqe)
    }

    /// Consumes the WQE that [`Self::peek`] has shown.
    pub(crate) fn advance(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    /// Whether there is a WQE that was not consumed.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub(crate) fn is_posted(&self, memory: &dyn HostMemory) -> Result<bool, WqeFault> {
        Ok(posted(&self.ring, self.dbr, self.taken, memory)?.is_some())
    }

    /// The next WQE, which is not consumed yet; `None` if nothing is posted.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub(crate) fn peek(&mut self, memory: &dyn HostMemory) -> Result<Option<RecvWqe>, WqeFault> {
        if !self.is_posted(memory)? {
            return Ok(None);
        }
        let counter = self.taken;
        let mut bytes: SmallVec<[u8; USUAL_BYTES]> = smallvec![0; 1 << self.ring.log_stride];
        let read = memory.read(wqe_addr(&self.ring, counter), &mut bytes);
        log::trace!("receive ring {:#x}: WQE {counter:#x} {bytes:02x?}", self.ring.buf);
        if self.frames {
            bytes.chunks_mut(DATA_SEG_BYTES).for_each(|seg| seg[0] &= !MAY_PAD);
        }
        let segs = read.map_err(WqeFault::from).and_then(|()| self.segments(&bytes, counter));
        Ok(Some(RecvWqe { counter, segs }))
    }

    /// The data segments of WQE `counter`, if its signature is right where it has one.
    fn segments(&mut self, wqe: &[u8], counter: u16) -> Result<DataSegs, WqeFault> {
        let segs = scatter_list(wqe, self.header)?;
        let Some(Signed { qpn, chain }) = &mut self.signed else { return Ok(segs) };
        let own = of_index(counter);
        chain.retain(|&index| index != own);
        chain.insert(0, own);
        check_receive(wqe, segs.len(), *qpn, chain)?;
        Ok(segs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ArrayMemory;
    use crate::memory::test_memory::BASE;
    use crate::wqe::DataSeg;

    /// Place of the doorbell record, after a ring of 4 WQEs of 32 bytes.
    const RECORD: usize = 128;

    fn setup() -> (Rq, ArrayMemory) {
        let memory = ArrayMemory::filled(BASE, 256, 0xa5);
        for index in 0..4u8 {
            let seg = [0, 0, 0, index, 0, 0, 0x18, index, 0, 0, 0, 0, 0, 0, 0x10, 0];
            memory.put(usize::from(index) * 32, &seg);
            memory.put(usize::from(index) * 32 + 16, &[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let ring = RqContext { buf: BASE, log_size: 2, log_stride: 5 };
        (Rq::new(ring, BASE + RECORD as u64), memory)
    }

    #[test]
    fn wqes_come_in_order_and_the_counter_wraps() {
        let (mut rq, memory) = setup();
        rq.taken = 0xfffe;
        memory.put(RECORD, &1u32.to_be_bytes());
        for (counter, len) in [(0xfffe, 2), (0xffff, 3), (0, 1 << 31)] {
            let lkey = 0x1800 + u32::from(counter & 3);
            let segs = Ok(smallvec![DataSeg { len, lkey, addr: 0x1000 }]);
            assert_eq!(rq.take(&memory), Ok(Some(RecvWqe { counter, segs })));
        }
        assert_eq!(rq.take(&memory), Ok(None));
    }

    #[test]
    fn a_full_wqe_has_no_end_mark() {
        let (mut rq, memory) = setup();
        memory.put(16, &[0, 0, 0, 9, 0, 0, 0x19, 0, 0, 0, 0, 0, 0, 0, 0x20, 0]);
        memory.put(RECORD, &4u32.to_be_bytes());
        let segs = rq.take(&memory).unwrap().unwrap().segs.unwrap();
        assert_eq!(segs.iter().map(|s| s.len).collect::<Vec<_>>(), [1 << 31, 9]);
    }

    #[test]
    fn buffers_of_frames_may_be_padded_at_their_start() {
        let (Rq { ring, dbr, .. }, memory) = setup();
        let mut rq = Rq::of_frames(ring, dbr);
        memory.put(0, &[0x80, 0, 5, 0xee]);
        memory.put(RECORD, &1u32.to_be_bytes());
        let segs = rq.take(&memory).unwrap().unwrap().segs;
        assert_eq!(segs, Ok(smallvec![DataSeg { len: 0x5ee, lkey: 0x1800, addr: 0x1000 }]));
    }

    #[test]
    fn wqes_of_strides_begin_with_a_segment_of_a_list() {
        let (Rq { ring, dbr, .. }, memory) = setup();
        let mut rq = Rq::of_strides(ring, dbr);
        memory.put(16, &[0, 1, 0, 0, 0, 0, 0x19, 0, 0, 0, 0, 0, 0, 0, 0x20, 0]);
        memory.put(RECORD, &1u32.to_be_bytes());
        let wqe = RecvWqe { counter: 0, segs: Ok(smallvec![DataSeg { len: 1 << 16, lkey: 0x1900, addr: 0x2000 }]) };
        // It is the next one until it is consumed.
        assert_eq!([rq.peek(&memory), rq.peek(&memory)], [Ok(Some(wqe.clone())), Ok(Some(wqe))]);
        assert_eq!((rq.consumed(), rq.is_posted(&memory)), (0, Ok(true)));
        rq.advance();
        assert_eq!((rq.consumed(), rq.is_posted(&memory), rq.peek(&memory)), (1, Ok(false), Ok(None)));
    }

    /// libmlx5 signs all receives of one call with the index of the first (`mlx5_post_recv`).
    #[test]
    fn a_signature_is_that_of_the_own_index_or_of_the_chain_s() {
        const QPN: u32 = 0x01_2345;
        // Of three chains: of three receives, of two, and of one with a wrong signature.
        let chains = [(0, 0_u8), (1, 0), (2, 0), (3, 3), (4, 3), (5, 0)];
        let memory = ArrayMemory::filled(BASE, 512, 0);
        for (at, index) in chains {
            // The segment of the signature, one of data, and the end mark.
            let mut wqe = [0; 48];
            wqe[16..32].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0x18, 7, 0, 0, 0, 0, 0, 0, 0x10, 0x30]);
            wqe[38] = 1;
            let sum = wqe[..32].iter().chain(&QPN.to_be_bytes()).fold(index, |sum, byte| sum ^ byte);
            wqe[4] = !sum;
            memory.put(at * 64, &wqe);
        }
        let record = BASE + 0x1f0;
        memory.put(0x1f0, &6_u32.to_be_bytes());
        let mut rq = Rq::new(RqContext { buf: BASE, log_size: 3, log_stride: 6 }, record).signed(QPN);
        let taken: Vec<bool> = (0..6).map(|_| rq.take(&memory).unwrap().unwrap().segs.is_ok()).collect();
        assert_eq!(taken, [true, true, true, true, true, false]);
    }

    #[test]
    fn inline_segments_and_overruns_are_faults() {
        let (mut rq, memory) = setup();
        memory.put(0, &[0x80, 0, 0, 4]);
        memory.put(RECORD, &1u32.to_be_bytes());
        let wqe = RecvWqe { counter: 0, segs: Err(WqeFault::InlineResult { at: 0 }) };
        assert_eq!(rq.take(&memory), Ok(Some(wqe)));
        assert_eq!(rq.take(&memory), Ok(None), "the WQE is consumed");
        memory.put(RECORD, &6u32.to_be_bytes());
        let fault = WqeFault::Overrun { index: 1, producer: 6, ahead: 5, entries: 4 };
        assert_eq!(rq.take(&memory), Err(fault));
    }
}
