//! Shared receive queues: WQEs linked by index, consumed in the order of the links; or in a circle.
//!
//! Each WQE of a linked ring begins with `struct mlx5_wqe_srq_next_seg` (rdma-core `mlx5dv.h`). The driver links freed
//! WQEs at the tail in any order (`mlx5_free_srq_wqe`), so the device follows the link when it consumes the WQE.

use super::tag_list::TagList;
use super::wqe::{RecvWqe, posted, scatter_list, wqe_addr};
use crate::context::{SrqContext, SrqOrder, TagContext, XrcContext};
use crate::event::Event;
use crate::memory::HostMemory;
use crate::wqe::{DATA_SEG_BYTES, WqeFault};

/// Offset in bytes of the link in the next segment.
const NEXT_WQE_INDEX: usize = 2;

/// An SRQ.
#[derive(Clone, Debug)]
pub(crate) struct Srq {
    context: SrqContext,
    /// Its context as an SRQ of an XRC domain.
    xrc: Option<XrcContext>,
    /// The tags that messages are matched with, if they are.
    tags: Option<TagList>,
    /// Index of the next WQE to consume, where they are linked.
    head: u16,
    /// WQEs consumed, 16 bits; the doorbell record counts those posted.
    taken: u16,
    /// Raise the limit event below this; 0 = disarmed.
    limit: u16,
    /// The ring was found inconsistent; the event is raised once.
    failed: bool,
    /// QPs that use it.
    pub(crate) users: u32,
}

impl Srq {
    /// An SRQ; of an XRC domain, if `xrc` says so.
    pub(crate) fn new(context: SrqContext, xrc: Option<XrcContext>) -> Self {
        Self { limit: context.limit, context, xrc, tags: None, head: 0, taken: 0, failed: false, users: 0 }
    }

    /// An SRQ that matches messages with tags.
    pub(crate) fn with_tags(context: SrqContext, tags: TagContext) -> Self {
        Self { tags: Some(TagList::new(tags)), ..Self::new(context, None) }
    }

    /// The context that it was created from.
    #[must_use]
    pub(crate) fn context(&self) -> &SrqContext {
        &self.context
    }

    /// Its context as an SRQ of an XRC domain.
    #[must_use]
    pub(crate) fn xrc(&self) -> Option<XrcContext> {
        self.xrc
    }

    /// The tags that messages are matched with, if they are.
    pub(crate) fn tags(&self) -> Option<&TagList> {
        self.tags.as_ref()
    }

    /// The tags that messages are matched with, to be changed.
    pub(crate) fn tags_mut(&mut self) -> Option<&mut TagList> {
        self.tags.as_mut()
    }

    /// The armed limit; 0 = disarmed.
    #[must_use]
    pub(crate) fn limit(&self) -> u16 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: u16) {
        self.limit = limit;
    }

    /// WQEs that are posted and not consumed; 0 if the record cannot be read or holds an impossible value.
    #[must_use]
    pub(crate) fn posted(&self, memory: &dyn HostMemory) -> u16 {
        posted(&self.context.rq, self.context.dbr, self.taken, memory).ok().flatten().unwrap_or(0)
    }

    /// Its ring was found inconsistent.
    #[must_use]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Consumes the next WQE. Besides it comes the event that follows, if any: the limit was reached, or, once, the
    /// ring was found inconsistent.
    pub(crate) fn take(
        &mut self,
        srqn: u32,
        memory: &dyn HostMemory,
    ) -> (Result<Option<RecvWqe>, WqeFault>, Option<Event>) {
        let is_pool = self.context.is_pool;
        match self.consume(memory) {
            Ok(None) => (Ok(None), None),
            Ok(Some((wqe, limit_reached))) => {
                (Ok(Some(wqe)), limit_reached.then_some(Event::SrqLimit { srqn, is_pool }))
            }
            Err(fault) => {
                let first = !std::mem::replace(&mut self.failed, true);
                (Err(fault), first.then_some(Event::SrqError { srqn, is_pool }))
            }
        }
    }

    /// Consumes the next WQE. The flag says that the limit was reached.
    fn consume(&mut self, memory: &dyn HostMemory) -> Result<Option<(RecvWqe, bool)>, WqeFault> {
        let ring = &self.context.rq;
        let Some(ahead) = posted(ring, self.context.dbr, self.taken, memory)? else {
            return Ok(None);
        };
        let (counter, segments) = match self.context.order {
            SrqOrder::Linked => (self.head, DATA_SEG_BYTES),
            SrqOrder::Cyclic { next_segment: true } => (self.taken, DATA_SEG_BYTES),
            SrqOrder::Cyclic { next_segment: false } => (self.taken, 0),
        };
        let mut bytes = vec![0; 1 << ring.log_stride];
        memory.read(wqe_addr(ring, counter), &mut bytes)?;
        if self.context.order == SrqOrder::Linked {
            let next = u16::from_be_bytes([bytes[NEXT_WQE_INDEX], bytes[NEXT_WQE_INDEX + 1]]);
            let entries = 1u32 << ring.log_size;
            if u32::from(next) >= entries {
                return Err(WqeFault::BadLink { index: counter, next, entries });
            }
            self.head = next;
        }
        self.taken = self.taken.wrapping_add(1);
        let limit_reached = ahead - 1 < self.limit;
        if limit_reached {
            self.limit = 0;
        }
        Ok(Some((RecvWqe { counter, segs: scatter_list(&bytes, segments) }, limit_reached)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::RqContext;
    use crate::memory::ArrayMemory;
    use crate::memory::test_memory::BASE;
    use crate::wqe::{DataSeg, DataSegs};
    use smallvec::smallvec;

    /// Place of the doorbell record, after a ring of 4 WQEs of 64 bytes.
    const RECORD: usize = 256;

    /// WQEs 0 -> 2 -> 1 -> 3, each with two segments of its index + 1 bytes and the end mark.
    fn setup(limit: u16) -> (Srq, ArrayMemory) {
        let memory = ArrayMemory::filled(BASE, 512, 0xa5);
        for (index, next) in [(0u8, 2), (2, 1), (1, 3), (3, 0)] {
            let at = usize::from(index) * 64;
            memory.put(at + 2, &[0, next]);
            let seg = [0, 0, 0, index + 1, 0, 0, 0x18, index, 0, 0, 0, 0, 0, 0, 0x10, 0];
            memory.put(at + 16, &seg);
            memory.put(at + 32, &seg);
            memory.put(at + 48, &[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let rq = RqContext { buf: BASE, log_size: 2, log_stride: 6 };
        (Srq::new(SrqContext { pd: 1, rq, dbr: BASE + RECORD as u64, limit, ..SrqContext::default() }, None), memory)
    }

    fn post(memory: &ArrayMemory, counter: u16) {
        memory.put(RECORD, &u32::from(counter).to_be_bytes());
    }

    #[test]
    fn wqes_come_in_the_order_of_their_links() {
        let (mut srq, memory) = setup(0);
        post(&memory, 0);
        assert_eq!(srq.consume(&memory), Ok(None));
        post(&memory, 3);
        for index in [0u16, 2, 1] {
            let seg = DataSeg { len: u32::from(index) + 1, lkey: 0x1800 + u32::from(index), addr: 0x1000 };
            let wqe = RecvWqe { counter: index, segs: Ok(smallvec![seg; 2]) };
            assert_eq!(srq.consume(&memory), Ok(Some((wqe, false))));
        }
        assert_eq!(srq.consume(&memory), Ok(None));
    }

    #[test]
    fn a_circle_takes_them_in_turn_and_counts_on() {
        for next_segment in [true, false] {
            let (mut srq, memory) = setup(0);
            srq.context.order = SrqOrder::Cyclic { next_segment };
            srq.taken = 0xffff;
            if !next_segment {
                // Where the link was, another segment.
                (0..4)
                    .for_each(|index| memory.put(index * 64, &[0, 0, 0, 9, 0, 0, 0x19, 0, 0, 0, 0, 0, 0, 0, 0x10, 0]));
            }
            post(&memory, 2);
            assert_eq!(srq.posted(&memory), 3);
            for counter in [0xffffu16, 0, 1] {
                let len = u32::from(counter % 4) + 1;
                let seg = DataSeg { len, lkey: 0x1800 + len - 1, addr: 0x1000 };
                let wqe = srq.consume(&memory).unwrap().unwrap().0;
                assert_eq!(wqe.counter, counter);
                let segs = wqe.segs.unwrap();
                let more = (!next_segment).then_some(DataSeg { len: 9, lkey: 0x1900, addr: 0x1000 });
                assert_eq!(segs, more.into_iter().chain([seg; 2]).collect::<DataSegs>());
            }
            assert_eq!(srq.consume(&memory), Ok(None));
        }
    }

    #[test]
    fn the_limit_is_reported_once() {
        let (mut srq, memory) = setup(2);
        post(&memory, 3);
        let limits: Vec<bool> = (0..3).map(|_| srq.consume(&memory).unwrap().unwrap().1).collect();
        assert_eq!(limits, [false, true, false]);
        assert_eq!(srq.limit(), 0);
    }

    #[test]
    fn bad_links_and_counters() {
        let (mut srq, memory) = setup(0);
        post(&memory, 5);
        let fault = WqeFault::Overrun { index: 0, producer: 5, ahead: 5, entries: 4 };
        assert_eq!(srq.consume(&memory), Err(fault));
        post(&memory, 1);
        memory.put(2, &[0, 4]);
        assert_eq!(srq.consume(&memory), Err(WqeFault::BadLink { index: 0, next: 4, entries: 4 }));
        assert!(!srq.has_failed());
        for event in [Some(Event::SrqError { srqn: 7, is_pool: false }), None] {
            let (taken, told) = srq.take(7, &memory);
            assert!(taken.is_err() && srq.has_failed());
            assert_eq!(told, event, "once");
        }
    }
}
