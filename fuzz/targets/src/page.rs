//! Buffers that queues own, each of which notices if it is handed back twice.

use std::cell::RefCell;
use std::num::NonZeroU64;

use blueflame::Sge;
use blueflame::queue::owning::DeviceBuffer;
use blueflame_testkit::Buffer;

thread_local! {
    /// The buffers that queues have, or had: a `wr_id` is a place here, plus one, and is given out once.
    static LENT: RefCell<Vec<Option<Page>>> = const { RefCell::new(Vec::new()) };
}

/// A registered buffer. A queue leaks its buffers when it is dropped. Here it has only numbers, and [`collect`] frees
/// the buffers.
#[derive(Debug)]
pub struct Page(pub Buffer);

// SAFETY: from `into_wr_id` to `from_wr_id` the page is in `LENT`, where nothing reaches its memory. The device shares
// the memory's ownership, so it stays valid also where `collect` drops the page.
unsafe impl DeviceBuffer for Page {
    fn sge(&self) -> Sge {
        self.0.sge(..)
    }

    fn into_wr_id(self) -> NonZeroU64 {
        LENT.with_borrow_mut(|lent| {
            lent.push(Some(self));
            NonZeroU64::new(lent.len() as u64).expect("one page at least")
        })
    }

    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self {
        let page = LENT.with_borrow_mut(|lent| lent.get_mut(wr_id.get() as usize - 1).and_then(Option::take));
        page.unwrap_or_else(|| panic!("buffer {wr_id} is handed back twice"))
    }
}

/// Frees this thread's pages that queues have not handed back. Call it when the queues are gone.
pub fn collect() {
    LENT.take();
}
