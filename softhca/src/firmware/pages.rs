//! Pages of host memory that a driver gives the device for the contexts of its objects.
//!
//! This device keeps contexts in its own memory, and never touches the pages: drivers cannot tell. Still it asks for
//! as many pages as its contexts would fill, waits for those that it lacks, and gives back the excess. So drivers do
//! the same as for hardware.

use crate::memory::HOST_BYTES;
use std::collections::BTreeSet;

/// Bytes of a page, for any page size of the host.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Pages before the driver asks for capabilities.
const BOOT: usize = 16;
/// Additional pages before `INIT_HCA`.
const INIT: usize = 64;
/// Of those, the ones that objects can have.
const FOR_OBJECTS: usize = 48;
/// Pages that the device asks for at a time, besides those that it lacks already. It gives pages back when it has
/// twice this number too many.
const STEP: usize = 64;
/// Fewer free pages than this, and the device asks for more.
const LOW: usize = 16;
/// Most pages in all: 16 GiB of contexts.
const MOST: usize = 1 << 22;

/// Bytes of an object's context.
const CONTEXT_BYTES: u64 = 512;
/// Bytes of a page in the list of a queue or of registered memory, or of a queue in an RQT.
const LISTED_BYTES: u64 = 8;

/// The pages that the device has.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    given: BTreeSet<u64>,
    /// Those in which contexts lie.
    used: usize,
    /// The device has asked the driver and has no answer yet.
    asked: bool,
    /// The driver has said that it has none to give.
    denied: bool,
}

/// Why pages are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPage {
    /// No page, or no address of the host's.
    Address(u64),
    /// It was given before.
    Twice(u64),
    /// They are too many.
    TooMany,
}

impl Pages {
    /// How many the device wants before the driver goes on: to boot.
    pub(crate) fn for_boot(&self) -> usize {
        BOOT.saturating_sub(self.given.len())
    }

    /// How many the device wants before it is initialized.
    pub(crate) fn for_init(&self) -> usize {
        (BOOT + INIT).saturating_sub(self.given.len())
    }

    /// How many it has.
    pub(crate) fn len(&self) -> usize {
        self.given.len()
    }

    /// Says how much there is to keep: objects, and entries of their lists.
    pub(crate) fn set_use(&mut self, objects: usize, listed: u64) {
        let bytes = objects as u64 * CONTEXT_BYTES + listed * LISTED_BYTES;
        let used = bytes.div_ceil(PAGE_BYTES) as usize;
        if used < self.used {
            // The device may ask again when it comes to that again.
            self.denied = false;
        }
        self.used = used;
    }

    /// Pages that hold no contexts; fewer than 0 are missing.
    fn free(&self) -> i64 {
        let fixed = BOOT + INIT - FOR_OBJECTS;
        self.given.len() as i64 - (fixed + self.used) as i64
    }

    /// Pages that are missing.
    fn lacking(&self) -> usize {
        usize::try_from(-self.free()).unwrap_or(0)
    }

    /// How many the device wants now; fewer than 0 are to be given back.
    pub(crate) fn wanted(&self) -> i32 {
        let free = self.free();
        let wanted = match free {
            ..0 => STEP as i64 - free,
            0.. if free < LOW as i64 => STEP as i64,
            0.. if free > (FOR_OBJECTS + 2 * STEP) as i64 => FOR_OBJECTS as i64 - free,
            0.. => 0,
        };
        wanted.clamp(-(MOST as i64), MOST as i64) as i32
    }

    /// The pages that the device now asks its driver for, if any. It asks once until the driver answers.
    pub(crate) fn ask(&mut self) -> Option<i32> {
        let wanted = self.wanted();
        if self.asked || wanted == 0 || self.denied && wanted > 0 {
            return None;
        }
        self.asked = true;
        Some(wanted)
    }

    /// The driver does not answer the request.
    pub(crate) fn forget_request(&mut self) {
        self.asked = false;
    }

    /// Whether pages are missing that the driver is about to give.
    pub(super) fn are_awaited(&self) -> bool {
        self.lacking() > 0 && self.asked
    }

    /// Whether pages are missing, and none will come.
    pub(super) fn are_out(&self) -> bool {
        self.lacking() > 0 && !self.asked
    }

    /// The driver gives pages: all, or none if one cannot be.
    pub(crate) fn give(&mut self, pages: &[u64]) -> Result<(), BadPage> {
        if self.given.len() + pages.len() > MOST {
            return Err(BadPage::TooMany);
        }
        // Hardware takes address 0 for none.
        let is_page = |page: u64| page != 0 && page % PAGE_BYTES == 0 && page <= HOST_BYTES - PAGE_BYTES;
        if let Some(&page) = pages.iter().find(|&&page| !is_page(page)) {
            return Err(BadPage::Address(page));
        }
        let new: BTreeSet<u64> = pages.iter().copied().collect();
        if let Some(&page) = new.intersection(&self.given).next() {
            return Err(BadPage::Twice(page));
        }
        if new.len() < pages.len() {
            let mut seen = BTreeSet::new();
            let twice = pages.iter().find(|&&page| !seen.insert(page)).copied().unwrap_or_default();
            return Err(BadPage::Twice(twice));
        }
        self.given.extend(new);
        (self.asked, self.denied) = (false, false);
        Ok(())
    }

    /// The driver has none to give.
    pub(crate) fn deny(&mut self) {
        (self.asked, self.denied) = (false, true);
    }

    /// The driver takes pages back, `most` at most: those that hold nothing, or all if the HCA is not initialized.
    pub(crate) fn take(&mut self, most: usize, is_initialized: bool) -> Vec<u64> {
        let spare = if is_initialized {
            usize::try_from(self.free() - FOR_OBJECTS as i64).unwrap_or(0)
        } else {
            self.given.len()
        };
        self.asked = false;
        (0..spare.min(most)).map_while(|_| self.given.pop_last()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{RqContext, TimestampFormat};
    use crate::firmware::test_bench::Bench;
    use crate::memory::test_memory::BASE;
    use crate::nic::{ReceiveQueueContext, RqtContext};

    fn pages(from: u64, count: usize) -> Vec<u64> {
        (from..).take(count).map(|page| page * PAGE_BYTES).collect()
    }

    fn initialized() -> Pages {
        let mut given = Pages::default();
        assert_eq!((given.for_boot(), given.for_init()), (16, 80));
        given.give(&pages(1, 16)).expect("pages");
        assert_eq!((given.for_boot(), given.for_init()), (0, 64));
        given.give(&pages(17, 64)).expect("pages");
        given.set_use(0, 0);
        assert_eq!((given.for_init(), given.wanted()), (0, 0));
        given
    }

    #[test]
    fn pages_are_taken_once_and_all_or_none() {
        let mut given = initialized();
        for (bad, why) in [
            (vec![0x100_0000, 0], BadPage::Address(0)),
            (vec![0x100_0000, 0x100_1800], BadPage::Address(0x100_1800)),
            (vec![u64::MAX - 0xfff], BadPage::Address(u64::MAX - 0xfff)),
            (vec![HOST_BYTES], BadPage::Address(HOST_BYTES)),
            (vec![0x100_0000, 0x1000], BadPage::Twice(0x1000)),
            (vec![0x100_0000, 0x100_1000, 0x100_1000], BadPage::Twice(0x100_1000)),
        ] {
            assert_eq!(given.give(&bad), Err(why));
            assert_eq!(given.len(), 80);
        }
        assert_eq!(given.give(&[0x100_0000, HOST_BYTES - PAGE_BYTES]), Ok(()));
    }

    #[test]
    fn there_is_a_most_that_is_looked_at() {
        // Page 0 is none, so nothing is taken in either case.
        for (count, why) in [(MOST, BadPage::Address(0)), (MOST + 1, BadPage::TooMany)] {
            assert_eq!(Pages::default().give(&vec![0; count]), Err(why), "{count}");
        }
    }

    #[test]
    fn the_device_asks_once_before_it_lacks_any_and_waits_for_those_that_it_lacks() {
        let mut given = initialized();
        given.set_use(8 * 32, 0);
        assert_eq!(given.ask(), None, "16 are free");
        given.set_use(8 * 32 + 1, 0);
        assert_eq!((given.ask(), given.are_awaited()), (Some(64), false));
        assert_eq!(given.ask(), None, "it has asked");
        given.set_use(8 * 48, 512);
        assert_eq!((given.ask(), given.are_awaited()), (None, true));
        given.give(&pages(1000, 64)).expect("pages");
        assert!(!given.are_awaited() && !given.are_out());
        given.set_use(8 * 120, 0);
        assert_eq!((given.ask(), given.are_awaited()), (Some(72), true));
        given.deny();
        assert_eq!((given.are_awaited(), given.are_out(), given.ask()), (false, true, None));
        given.set_use(8 * 100, 0);
        assert!(!given.are_out());
        assert_eq!(given.ask(), Some(64), "it asks again");
    }

    #[test]
    fn what_is_not_needed_goes_back() {
        let mut given = initialized();
        assert_eq!(given.take(100, true), [], "as many as there must be");
        given.give(&pages(1000, 200)).expect("pages");
        given.set_use(8, 0);
        assert_eq!(given.ask(), Some(-199));
        assert_eq!(given.ask(), None);
        assert_eq!(given.take(150, true).len(), 150);
        assert_eq!(given.take(150, true).len(), 49);
        assert_eq!(given.len(), 81);
        let all = given.take(1000, false);
        assert_eq!((all.len(), given.len()), (81, 0));
        assert_eq!(all.last(), Some(&0x1000));
    }

    /// A driver gives memory for each object of the device, also for small objects and long lists.
    #[test]
    fn objects_of_each_kind_fill_pages() {
        const QUEUES: u16 = 2048;
        let mut bench = Bench::new();
        let fixed = initialized().free() - 80;
        let used = |bench: &mut Bench| {
            bench.firmware.page_request(&bench.device, false);
            fixed - bench.state().life.pages.free()
        };
        assert_eq!(used(&mut bench), 0);
        let pd = bench.device.alloc_pd().unwrap();
        bench.device.create_psvs(pd, 79).unwrap();
        assert_eq!(used(&mut bench), 10, "80 contexts");
        for _ in 0..8 {
            bench.device.nic().steering().create_counter().unwrap();
        }
        assert_eq!(used(&mut bench), 11, "8 counters");
        let ring = RqContext { buf: BASE, log_size: 0, log_stride: 4 };
        let rq = ReceiveQueueContext {
            pd: 0,
            cqn: 0,
            ring,
            strides: None,
            dbr: BASE,
            uidx: 0,
            timestamps: TimestampFormat::FreeRunning,
            counter: 0,
            strips_vlan: false,
            flushes: false,
        };
        let nic = bench.device.nic();
        nic.add_rq(9, rq);
        let list = |count: u16| vec![9; count.into()];
        let rqt = || RqtContext { max_size: QUEUES, rqs: list(QUEUES) };
        let rqts: Vec<u32> = (0..7).map(|_| nic.create_rqt(rqt()).unwrap()).collect();
        assert_eq!(used(&mut bench), 12 + 7 * 4, "8 contexts, and 7 lists of 16 KiB");
        let nic = bench.device.nic();
        nic.modify_rqt(rqts[0], list(QUEUES / 2)).unwrap();
        nic.destroy_rqt(rqts[1]).unwrap();
        assert_eq!(used(&mut bench), 12 + 7 * 4 - 2 - 4, "half a list less, and a whole one; 7 contexts");
    }
}
