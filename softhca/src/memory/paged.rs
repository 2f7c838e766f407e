//! Host memory with page lists: a list of pages from a driver has one address here, and can be reached there as if the
//! pages lay in a row. All other memory is reached as before.

use super::dma_map::DmaMap;
use super::host_memory::{DmaFault, HostMemory};
use std::collections::BTreeMap;

/// Bytes of the host's own addresses, from 0 on. Behind them are the lists.
pub(crate) const HOST_BYTES: u64 = 0xc000_0000_0000_0000;
/// The first address of a list.
const FIRST: u64 = HOST_BYTES;
/// No list ends here or later, so that an offset in a list cannot wrap.
const LAST: u64 = 0xffff_0000_0000_0000;

/// Pages that lie in a row here, wherever they lie in host memory.
#[derive(Debug)]
struct PageList {
    pages: Vec<u64>,
    page_bytes: u64,
}

impl PageList {
    fn len(&self) -> u64 {
        self.pages.len() as u64 * self.page_bytes
    }
}

/// Host memory, and page lists of it.
pub(crate) struct PagedMemory {
    host: Box<dyn HostMemory>,
    /// By address.
    lists: BTreeMap<u64, PageList>,
    /// Pages in all lists.
    listed: u64,
    next: u64,
}

impl PagedMemory {
    /// No lists yet.
    pub(crate) fn new(host: Box<dyn HostMemory>) -> Self {
        Self { host, lists: BTreeMap::new(), listed: 0, next: FIRST }
    }

    /// In the place of another one: no address leads anywhere.
    pub(crate) fn nowhere() -> Self {
        Self::new(Box::new(DmaMap::new()))
    }

    /// Forgets all lists. None of their addresses comes again.
    pub(crate) fn clear(&mut self) {
        self.lists.clear();
        self.listed = 0;
    }

    /// Pages in all lists.
    pub(crate) fn listed(&self) -> u64 {
        self.listed
    }

    /// Host memory itself.
    pub(crate) fn host(&self) -> &dyn HostMemory {
        &*self.host
    }

    /// Host memory itself.
    pub(crate) fn host_mut(&mut self) -> &mut dyn HostMemory {
        &mut *self.host
    }

    /// The address under which `pages` can be reached in a row. Each is the host address of a page of `page_bytes`
    /// bytes. Pages that lie in a row anyway have that address.
    ///
    /// # Errors
    /// [`DmaFault`] if a page is past the host's addresses: it might be one of another list. The pages may also need
    /// more addresses than are left.
    pub(crate) fn add(&mut self, pages: Vec<u64>, page_bytes: u64) -> Result<u64, DmaFault> {
        for &page in &pages {
            Self::check_host_address(page, page_bytes)?;
        }
        let in_a_row = |pair: &[u64]| pair[0].checked_add(page_bytes) == Some(pair[1]);
        let Some(&first) = pages.first() else { return Ok(0) };
        if pages.windows(2).all(in_a_row) {
            return Ok(first);
        }
        // Addresses are not used twice, so that a stale one reaches nothing. 2^62 bytes of them last.
        let at = self.next.checked_next_multiple_of(page_bytes.max(4096));
        let bytes = (pages.len() as u64).checked_mul(page_bytes);
        let end = at.zip(bytes).and_then(|(at, bytes)| at.checked_add(bytes)).filter(|&end| end < LAST);
        let (at, end) = at.zip(end).ok_or(DmaFault { addr: first, len: pages.len() })?;
        self.next = end;
        self.listed += pages.len() as u64;
        self.lists.insert(at, PageList { pages, page_bytes });
        Ok(at)
    }

    /// Refuses a range that is not wholly among the host's own addresses.
    pub(crate) fn check_host_address(addr: u64, len: u64) -> Result<(), DmaFault> {
        let fits = addr.checked_add(len).is_some_and(|end| end <= FIRST);
        if fits { Ok(()) } else { Err(DmaFault { addr, len: usize::try_from(len).unwrap_or(usize::MAX) }) }
    }

    /// Forgets a list that [`Self::add`] gave this address; of a row of pages there is nothing to forget.
    pub(crate) fn remove(&mut self, at: u64) {
        if let Some(list) = self.lists.remove(&at) {
            self.listed -= list.pages.len() as u64;
        }
    }

    /// Splits `len` bytes at `addr` by page; `f` gets the host address of each piece, and its place in the bytes.
    fn for_pieces(
        &self,
        addr: u64,
        len: usize,
        mut f: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), DmaFault>,
    ) -> Result<(), DmaFault> {
        if addr < FIRST {
            return f(addr, 0..len);
        }
        let fault = DmaFault { addr, len };
        let (start, list) = self.lists.range(..=addr).next_back().ok_or(fault)?;
        let mut offset = addr - start;
        if offset > list.len() || len as u64 > list.len() - offset {
            return Err(fault);
        }
        let mut done = 0;
        while done < len {
            let (page, within) = ((offset / list.page_bytes) as usize, offset % list.page_bytes);
            let n = (len - done).min((list.page_bytes - within) as usize);
            f(list.pages[page].checked_add(within).ok_or(fault)?, done..done + n)?;
            done += n;
            offset += n as u64;
        }
        Ok(())
    }

    /// The host address of `len` bytes that must be in one page.
    fn in_one_page(&self, addr: u64, len: usize) -> Result<u64, DmaFault> {
        if addr < FIRST {
            return Ok(addr);
        }
        let mut at = None;
        self.for_pieces(addr, len, |host, part| {
            if part.len() == len {
                at = Some(host);
            }
            Ok(())
        })?;
        at.ok_or(DmaFault { addr, len })
    }
}

impl HostMemory for PagedMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.host.map(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.host.unmap(addr, len);
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.for_pieces(addr, out.len(), |host, part| self.host.read(host, &mut out[part]))
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        if addr >= FIRST {
            // Nothing is written unless all of it can be.
            self.for_pieces(addr, data.len(), |host, part| self.host.read(host, &mut vec![0; part.len()]))?;
        }
        self.for_pieces(addr, data.len(), |host, part| self.host.write(host, &data[part]))
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.host.load_be32(self.in_one_page(addr, 4)?)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.host.fetch_update_u64(self.in_one_page(addr, 8)?, f)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.host.write_last_byte_last(self.in_one_page(addr, data.len())?, data)
    }
}

#[cfg(test)]
mod tests {
    use super::super::array::ArrayMemory;
    use super::super::test_memory::BASE;
    use super::*;

    #[test]
    fn pages_in_a_row_keep_their_address() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x4000, 0)));
        assert_eq!(memory.add(vec![BASE, BASE + 0x1000, BASE + 0x2000], 0x1000), Ok(BASE));
        memory.remove(BASE);
    }

    #[test]
    fn other_pages_are_reached_one_by_one_and_not_past_their_end() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x4000, 0)));
        let other = memory.add(vec![BASE + 0x1000, BASE], 0x1000).expect("an address");
        let pages = [3, 1, 2].map(|page| BASE + page * 0x1000).to_vec();
        let at = memory.add(pages, 0x1000).expect("an address");
        memory.write(at + 0xffe, &[1, 2, 3, 4]).expect("two pages");
        let mut out = [0; 2];
        memory.host().read(BASE + 0x3ffe, &mut out).expect("host memory");
        assert_eq!(out, [1, 2]);
        memory.host().read(BASE + 0x1000, &mut out).expect("host memory");
        assert_eq!(out, [3, 4]);
        assert_eq!(memory.load_be32(at + 0x1000), Ok(0x0304_0000));
        assert!(memory.fetch_update_u64(at + 0xffc, &mut |word| word).is_err(), "not in one page");
        assert!(memory.read(at + 0x2fff, &mut out).is_err());
        assert!(memory.read(at + 0x3000, &mut []).is_ok());
        assert!(memory.read(u64::MAX, &mut out).is_err());
        memory.remove(at);
        assert!(memory.read(at, &mut out).is_err());
        assert!(memory.read(other, &mut out).is_ok());
    }

    #[test]
    fn nothing_is_written_unless_all_of_it_can_be() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x2000, 0)));
        let at = memory.add(vec![BASE + 0x1000, BASE + 0x9000], 0x1000).expect("an address");
        assert!(memory.write(at + 0xfff, &[1, 2]).is_err());
        let mut out = [9];
        memory.read(at + 0xfff, &mut out).expect("the first page");
        assert_eq!(out, [0]);
    }

    #[test]
    fn nothing_is_written_from_the_first_address_on_unless_all_of_it_can_be() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x2000, 0)));
        assert_eq!(memory.add(vec![BASE + 0x1000, BASE + 0x9000], 0x1000), Ok(FIRST));
        assert!(memory.write(FIRST, &[1; 0x1001]).is_err());
        let mut out = [9];
        memory.read(FIRST, &mut out).expect("the first page");
        assert_eq!(out, [0]);
    }

    #[test]
    fn lists_have_the_addresses_up_to_the_last() {
        const PAGE: u64 = 1 << 48;
        const PAGES: u64 = (LAST - FIRST) / PAGE;
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x1000, 0)));
        // Up to the last address, and past it.
        for pages in [PAGES, PAGES + 1] {
            assert!(memory.add(vec![0; pages as usize], PAGE).is_err(), "{pages:#x}");
        }
        assert_eq!(memory.add(vec![0; PAGES as usize - 1], PAGE), Ok(FIRST));
        assert!(memory.add(vec![0; 2], PAGE).is_err(), "less is left");
    }

    #[test]
    fn pages_are_mapped_where_the_host_has_them() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x1000, 0)));
        // SAFETY: the array is there as long as the memory.
        let mut map = |addr, len| unsafe { memory.map(addr, len) };
        assert_eq!(map(BASE, 0x1000), Ok(()));
        assert_eq!(map(BASE, 0x1001), Err(DmaFault { addr: BASE, len: 0x1001 }));
    }

    #[test]
    fn nowhere_is_no_memory() {
        let mut memory = PagedMemory::nowhere();
        let fault = |len| DmaFault { addr: BASE, len };
        // SAFETY: there is nothing to map.
        assert_eq!(unsafe { memory.map(BASE, 1) }, Err(fault(1)));
        assert_eq!(memory.read(BASE, &mut [0; 2]), Err(fault(2)));
        assert_eq!(memory.write(BASE, &[0; 3]), Err(fault(3)));
        assert_eq!(memory.write_last_byte_last(BASE, &[0; 3]), Err(fault(3)));
        assert_eq!(memory.load_be32(BASE), Err(fault(4)));
        assert_eq!(memory.fetch_update_u64(BASE, &mut |word| word), Err(fault(8)));
    }

    #[test]
    fn a_list_cannot_name_the_addresses_of_another() {
        let mut memory = PagedMemory::new(Box::new(ArrayMemory::filled(BASE, 0x2000, 0)));
        let other = memory.add(vec![BASE + 0x1000, BASE], 0x1000).expect("an address");
        for pages in [vec![other], vec![BASE, other], vec![FIRST - 0x1000, FIRST], vec![u64::MAX - 0xfff]] {
            assert!(memory.add(pages.clone(), 0x1000).is_err(), "{pages:x?}");
        }
        assert!(memory.add(vec![1 << 62, 0], 1 << 62).is_err(), "more addresses than there are");
        assert!(memory.add(vec![BASE + 0x1000, BASE], 0x1000).is_ok());
    }
}
