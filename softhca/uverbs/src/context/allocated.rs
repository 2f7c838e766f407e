//! UAR pages that a program allocates one by one, and where its device file has them.

use super::objects::{Object, Rank};
use crate::device::Hca;
use crate::process::{Errno, lock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The pages of a device file, by the place that each has among them.
#[derive(Debug, Default)]
pub(crate) struct Allocated {
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    /// Pages, as the device numbers them.
    pages: BTreeMap<u32, u32>,
    /// Places from here on have never been taken.
    untouched: u32,
}

impl Places {
    /// The lowest free place, as the kernel gives them out (`rdma_user_mmap_entry_insert`). A free place may still be
    /// mapped. It stays with the program until it is unmapped.
    fn free(&self, is_mapped: impl Fn(u32) -> bool) -> u32 {
        let again = (0..self.untouched).find(|place| !self.pages.contains_key(place) && !is_mapped(*place));
        again.unwrap_or(self.untouched)
    }
}

impl Allocated {
    /// The page at `place`.
    pub(super) fn page(&self, place: u32) -> Option<u32> {
        lock(&self.places).pages.get(&place).copied()
    }

    /// A new page, made by `make` at a free place, as an object and its place.
    pub(crate) fn add(
        self: &Arc<Self>,
        is_mapped: impl Fn(u32) -> bool,
        make: impl FnOnce(u32) -> Result<u32, Errno>,
    ) -> Result<(UarPage, u32), Errno> {
        let mut places = lock(&self.places);
        let place = places.free(is_mapped);
        let index = make(place)?;
        places.pages.insert(place, index);
        places.untouched = places.untouched.max(place + 1);
        Ok((UarPage { index, place, of: self.clone() }, place))
    }
}

/// A page allocated by itself.
pub(crate) struct UarPage {
    /// The device's number for it.
    pub(crate) index: u32,
    place: u32,
    of: Arc<Allocated>,
}

impl UarPage {
    /// Its place among the pages of its file.
    pub(crate) fn place(&self) -> u32 {
        self.place
    }
}

impl Object for UarPage {
    fn rank(&self) -> Rank {
        Rank::Uar
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        // Queues of the program may still use it; the device keeps it for them.
        hca.free_uar(self.index)?;
        lock(&self.of.places).pages.remove(&self.place);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_place_that_is_not_mapped_is_taken() {
        let allocated = Arc::new(Allocated::default());
        let add = |mapped: &[u32]| {
            let (page, place) = allocated.add(|place| mapped.contains(&place), |place| Ok(100 + place)).unwrap();
            assert_eq!((page.index, allocated.page(place)), (100 + place, Some(100 + place)));
            place
        };
        assert_eq!([add(&[]), add(&[]), add(&[])], [0, 1, 2]);
        for place in [0, 1] {
            lock(&allocated.places).pages.remove(&place);
        }
        assert_eq!(allocated.page(0), None);
        assert_eq!([add(&[0]), add(&[0]), add(&[])], [1, 3, 0]);
        assert!(allocated.add(|_| false, |_| Err(Errno::EINVAL)).is_err());
        assert_eq!(add(&[]), 4, "what fails takes no place");
    }
}
