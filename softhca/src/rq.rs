//! Receive WQEs: a QP's own ring, or an SRQ's, behind one call.

use crate::context::{ReceiveSource, RqContext};
use crate::memory::HostMemory;
use crate::resources::Resources;
use crate::wqe::{DATA_SEG_BYTES, DataSeg, INVALID_LKEY, WqeFault, data_seg};

/// A receive WQE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecvWqe {
    /// What its CQE says in `wqe_counter`: the running number of the WQE in an own ring, the index in an SRQ.
    pub counter: u16,
    /// Buffers, in order; or what is wrong with the WQE.
    pub segs: Result<Vec<DataSeg>, WqeFault>,
}

/// Where a QP's receive WQEs come from, with the state of its own ring.
#[derive(Clone, Debug)]
pub enum RecvQueue {
    /// The QP cannot receive.
    None,
    /// Its own ring.
    Own(Rq),
    /// An SRQ.
    Shared {
        /// SRQ number.
        srqn: u32,
    },
}

impl RecvQueue {
    /// As the QP's context says; `dbr` is the QP's doorbell record.
    #[must_use]
    pub fn new(source: ReceiveSource, dbr: u64) -> Self {
        match source {
            ReceiveSource::None => Self::None,
            ReceiveSource::Own(ring) => Self::Own(Rq::new(ring, dbr)),
            ReceiveSource::Shared { srqn } => Self::Shared { srqn },
        }
    }

    /// Consumes the next receive WQE; `None` if nothing is posted.
    ///
    /// # Errors
    /// [`WqeFault`] if the record or the ring is not as it must be, so that there is no telling which WQE is next. A
    /// fault of an SRQ has raised its event.
    pub fn take(&mut self, resources: &mut Resources) -> Result<Option<RecvWqe>, WqeFault> {
        match self {
            Self::None => Ok(None),
            Self::Own(rq) => rq.take(&*resources.memory),
            Self::Shared { srqn } => resources.take_shared(*srqn),
        }
    }
}

/// A QP's own receive ring.
#[derive(Clone, Debug)]
pub struct Rq {
    ring: RqContext,
    /// Doorbell record; word 0 is the producer index.
    dbr: u64,
    /// WQEs consumed, 16 bits.
    taken: u16,
}

impl Rq {
    /// An empty ring.
    #[must_use]
    pub fn new(ring: RqContext, dbr: u64) -> Self {
        Self { ring, dbr, taken: 0 }
    }

    fn take(&mut self, memory: &dyn HostMemory) -> Result<Option<RecvWqe>, WqeFault> {
        let Some(_) = posted(&self.ring, self.dbr, self.taken, memory)? else {
            return Ok(None);
        };
        let counter = self.taken;
        self.taken = self.taken.wrapping_add(1);
        let mut bytes = vec![0; 1 << self.ring.log_stride];
        let read = memory.read(wqe_addr(&self.ring, counter), &mut bytes);
        let segs = read.map_err(WqeFault::from).and_then(|()| scatter_list(&bytes, 0));
        Ok(Some(RecvWqe { counter, segs }))
    }
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
pub(crate) fn scatter_list(wqe: &[u8], at: usize) -> Result<Vec<DataSeg>, WqeFault> {
    let mut segs = Vec::new();
    for (i, bytes) in wqe[at..].chunks_exact(DATA_SEG_BYTES).enumerate() {
        let seg = data_seg(bytes).ok_or(WqeFault::InlineResult { at: at + i * DATA_SEG_BYTES })?;
        if seg.lkey == INVALID_LKEY {
            break;
        }
        segs.push(seg);
    }
    Ok(segs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_memory::{BASE, TestMemory};

    /// Place of the doorbell record, after a ring of 4 WQEs of 32 bytes.
    const RECORD: usize = 128;

    fn setup() -> (Rq, TestMemory) {
        let memory = TestMemory::filled(256, 0xa5);
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
            let segs = Ok(vec![DataSeg { len, lkey, addr: 0x1000 }]);
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
