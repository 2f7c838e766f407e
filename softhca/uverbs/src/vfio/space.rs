//! The memory that functions of a container can reach: I/O virtual addresses, and the memory of the process behind
//! them.
//!
//! VFIO pins pages; this module does not. If the process unmaps a page, an access by the function is a fault of the
//! function, and causes no signal (`process::guarded`). If the process maps another page there, the function reaches
//! that page.

use super::abi::IovaRange;
use crate::process::{Errno, Locked, guarded, page_bytes};
use parking_lot::RwLock;
use softhca::memory::{DmaFault, HostMemory};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Mappings of a container (`dma_entry_limit`).
pub(super) const MAX_MAPPINGS: usize = 65535;

/// The valid addresses: the range of PCs' IOMMUs, without the window to which interrupts are written. The first page is
/// left out as well, as on machines whose firmware reserves it. libmlx5 gives the function pages from the first valid
/// address on. Firmware takes address 0 for no page (Linux `drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c`,
/// `alloc_system_page`).
pub(super) const RANGES: [IovaRange; 2] =
    [IovaRange { start: 0x1000, end: 0xfedf_ffff }, IovaRange { start: 0xfef0_0000, end: (1 << 48) - 1 }];

/// A mapping.
#[derive(Debug)]
struct Mapping {
    len: u64,
    /// Address in the process.
    address: u64,
    /// Whether the function may read it.
    readable: bool,
    writable: bool,
    _locked: Locked,
}

/// The addresses of a container.
#[derive(Debug, Default)]
pub(super) struct AddressSpace {
    /// By first address; disjoint.
    mappings: RwLock<BTreeMap<u64, Mapping>>,
}

/// A program's request for a mapping.
pub(super) struct Request {
    pub(super) iova: u64,
    pub(super) len: u64,
    pub(super) address: u64,
    pub(super) readable: bool,
    pub(super) writable: bool,
}

impl AddressSpace {
    /// Maps memory of this process, as `vfio_dma_do_map` does.
    pub(super) fn map(&self, request: &Request, rule: softhca_settings::Memlock) -> Result<(), Errno> {
        let &Request { iova, len, address, readable, writable } = request;
        let aligned = (iova | len | address) % page_bytes() == 0;
        let last = len.checked_sub(1).and_then(|last| iova.checked_add(last)).ok_or(Errno::EINVAL)?;
        if !aligned || address.checked_add(len - 1).is_none() || !(readable || writable) {
            return Err(Errno::EINVAL);
        }
        if self.overlaps(iova, last) {
            return Err(Errno::EEXIST);
        }
        if self.available() == 0 {
            return Err(Errno::ENOSPC);
        }
        if !RANGES.iter().any(|range| range.start <= iova && last <= range.end) {
            return Err(Errno::EINVAL);
        }
        let locked = Locked::new(rule, address, len)?;
        // Without the lock: it can take long, and the function goes on meanwhile.
        guarded::touch(address, len, writable)?;
        let mut mappings = self.mappings.write();
        if overlaps(&mappings, iova, last) {
            return Err(Errno::EEXIST);
        }
        mappings.insert(iova, Mapping { len, address, readable, writable, _locked: locked });
        Ok(())
    }

    /// Unmaps all mappings from `iova` to `last`, as the second version of type 1 does: none may be cut. How many bytes
    /// they had. The function is past its last access when this returns.
    pub(super) fn unmap(&self, iova: u64, last: u64) -> Result<u64, Errno> {
        let mut mappings = self.mappings.write();
        let begins_before =
            mappings.range(..iova).next_back().is_some_and(|(at, mapping)| at + (mapping.len - 1) >= iova);
        let ends_after = mappings.range(..=last).next_back().is_some_and(|(at, mapping)| at + (mapping.len - 1) > last);
        if begins_before || ends_after {
            return Err(Errno::EINVAL);
        }
        let found: Vec<u64> = mappings.range(iova..=last).map(|(&at, _)| at).collect();
        Ok(found.iter().filter_map(|at| mappings.remove(at)).map(|mapping| mapping.len).sum())
    }

    /// Unmaps everything.
    pub(super) fn clear(&self) -> u64 {
        let mappings = std::mem::take(&mut *self.mappings.write());
        mappings.values().map(|mapping| mapping.len).sum()
    }

    /// How many mappings more there can be.
    pub(super) fn available(&self) -> usize {
        MAX_MAPPINGS - self.mappings.read().len()
    }

    fn overlaps(&self, iova: u64, last: u64) -> bool {
        overlaps(&self.mappings.read(), iova, last)
    }

    /// Calls `access` for the pieces of `len` bytes at `iova`: with their addresses, and where in the range they are.
    /// If some of it may not be accessed so, nothing is.
    fn each(
        &self,
        (iova, len): (u64, usize),
        may: impl Fn(&Mapping) -> bool,
        mut access: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), Errno>,
    ) -> Result<(), DmaFault> {
        let fault = DmaFault { addr: iova, len };
        let mappings = self.mappings.read();
        let piece = |done: usize| {
            let at = iova.checked_add(done as u64)?;
            let (start, mapping) = mappings.range(..=at).next_back().filter(|(_, mapping)| may(mapping))?;
            let offset = at - start;
            let here = mapping.len.checked_sub(offset).filter(|&left| left > 0)?.min((len - done) as u64) as usize;
            Some((mapping.address + offset, done..done + here))
        };
        let mut checked = 0;
        while checked < len {
            checked = piece(checked).ok_or(fault)?.1.end;
        }
        let mut done = 0;
        while done < len {
            let (address, range) = piece(done).ok_or(fault)?;
            done = range.end;
            access(address, range).map_err(|_| fault)?;
        }
        Ok(())
    }
}

fn overlaps(mappings: &BTreeMap<u64, Mapping>, iova: u64, last: u64) -> bool {
    mappings.range(..=last).next_back().is_some_and(|(at, mapping)| at + (mapping.len - 1) >= iova)
}

/// The memory of a function: that of the container that its group is in, if it is in one.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachment(Arc<RwLock<Option<Arc<AddressSpace>>>>);

impl Attachment {
    /// From now on, the function reaches `space`, or nothing.
    pub(super) fn attach(&self, space: Option<Arc<AddressSpace>>) {
        *self.0.write() = space;
    }

    fn with<T>(&self, fault: DmaFault, run: impl FnOnce(&AddressSpace) -> Result<T, DmaFault>) -> Result<T, DmaFault> {
        run(self.0.read().as_deref().ok_or(fault)?)
    }
}

fn readable(mapping: &Mapping) -> bool {
    mapping.readable
}

fn writable(mapping: &Mapping) -> bool {
    mapping.writable
}

impl HostMemory for Attachment {
    /// Never: programs map for a container.
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        Err(DmaFault { addr, len })
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.with(DmaFault { addr, len: out.len() }, |space| {
            space.each((addr, out.len()), readable, |address, range| guarded::read(address, &mut out[range]))
        })
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.with(DmaFault { addr, len: data.len() }, |space| {
            space.each((addr, data.len()), writable, |address, range| {
                // SAFETY: the program has mapped it for the function to write, and it stays mapped during this.
                unsafe { guarded::write(address, &data[range]) }
            })
        })
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        let fault = DmaFault { addr, len: 4 };
        if addr % 4 != 0 {
            return Err(fault);
        }
        let mut word = 0;
        // Mappings are pages, so the word is in one piece.
        self.with(fault, |space| {
            space.each((addr, 4), readable, |address, _| {
                word = guarded::load32(address)?;
                Ok(())
            })
        })?;
        Ok(u32::from_be(word))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let fault = DmaFault { addr, len: 8 };
        if addr % 8 != 0 {
            return Err(fault);
        }
        let mut old = 0;
        let may = |mapping: &Mapping| mapping.readable && mapping.writable;
        self.with(fault, |space| {
            space.each((addr, 8), may, |address, _| {
                // SAFETY: as in `write`.
                old = unsafe { guarded::update64(address, f) }?;
                Ok(())
            })
        })?;
        Ok(old)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        // Copies go in ascending order, which is the order in which other threads see the stores of this CPU. (Its copy
        // instructions, which do not keep it, are not used.)
        self.write(addr, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict;
    use softhca_settings::Memlock;

    const PAGE: u64 = 4096;

    /// Four pages of memory.
    fn memory() -> u64 {
        memory_at(0)
    }

    /// At `place`, or where the kernel likes.
    fn memory_at(place: usize) -> u64 {
        strict::take_over().expect("handlers");
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory; the place is a hint, and present mappings stay.
        let at = unsafe { libc::mmap(std::ptr::without_provenance_mut(place), 4 * 4096, prot, flags, -1, 0) };
        assert!(at != libc::MAP_FAILED && (place == 0 || at.addr() == place), "mapped at {at:?}");
        at as u64
    }

    fn map(space: &AddressSpace, iova: u64, len: u64, address: u64) -> Result<(), Errno> {
        space.map(&Request { iova, len, address, readable: true, writable: true }, Memlock::Nobody)
    }

    #[test]
    fn mappings_are_whole_pages_apart_from_each_other() {
        let (space, at) = (AddressSpace::default(), memory());
        assert_eq!(map(&space, 0x10_0000, 2 * PAGE, at), Ok(()));
        for (iova, len, address, error) in [
            (0x10_0800, PAGE, at, Errno::EINVAL),
            (0x20_0000, PAGE / 2, at, Errno::EINVAL),
            (0x20_0000, PAGE, at + 1, Errno::EINVAL),
            (0x20_0000, 0, at, Errno::EINVAL),
            (u64::MAX - 4095, 2 * PAGE, at, Errno::EINVAL),
            (0xfede_f000 + 0x1_0000, 2 * PAGE, at, Errno::EINVAL),
            (1 << 48, PAGE, at, Errno::EINVAL),
            (0, PAGE, at, Errno::EINVAL),
            (1 << 32, 1 << 46, at, Errno::EFAULT),
            (0x20_0000, PAGE, 0, Errno::EFAULT),
            (0x10_0000, PAGE, at, Errno::EEXIST),
            (0x10_1000, PAGE, at, Errno::EEXIST),
            (0x0f_f000, 4 * PAGE, at, Errno::EEXIST),
        ] {
            assert_eq!(map(&space, iova, len, address), Err(error), "{iova:#x} {len:#x} {address:#x}");
        }
        assert_eq!(space.available(), MAX_MAPPINGS - 1);
        let rights = Request { iova: 0, len: PAGE, address: at, readable: false, writable: false };
        assert_eq!(space.map(&rights, Memlock::Nobody), Err(Errno::EINVAL));
    }

    #[test]
    fn mappings_are_unmapped_whole() {
        let (space, at) = (AddressSpace::default(), memory());
        map(&space, 0x1000, 2 * PAGE, at).expect("mapped");
        map(&space, 0x3000, PAGE, at).expect("mapped");
        map(&space, 0x8000, PAGE, at).expect("mapped");
        for (from, to) in [(0x1000, 0x1fff), (0x2000, 0x3fff), (0x1800, 0x2fff), (0x3000, 0x8000)] {
            assert_eq!(space.unmap(from, to), Err(Errno::EINVAL), "{from:#x} {to:#x}");
        }
        assert_eq!(space.unmap(0x4000, 0x7fff), Ok(0));
        assert_eq!(space.unmap(0, 0x3fff), Ok(3 * PAGE));
        assert_eq!(space.clear(), PAGE);
        assert_eq!(space.unmap(0, u64::MAX), Ok(0));
    }

    #[test]
    fn the_function_reaches_what_is_mapped_and_as_long_as_it_is() {
        let (space, at) = (Arc::new(AddressSpace::default()), memory());
        let memory = Attachment::default();
        assert!(memory.read(0x1000, &mut [0]).is_err());
        memory.attach(Some(space.clone()));
        // Two pages that are the other way round in the process.
        map(&space, 0x1000, PAGE, at + PAGE).expect("mapped");
        map(&space, 0x2000, PAGE, at).expect("mapped");
        memory.write(0x1ffe, &[1, 2, 3, 4]).expect("both pages");
        let bytes = |address: u64| {
            let mut out = [0; 2];
            guarded::read(address, &mut out).map(|()| out)
        };
        assert_eq!((bytes(at + 2 * PAGE - 2), bytes(at)), (Ok([1, 2]), Ok([3, 4])));
        let mut out = [0; 4];
        assert_eq!((memory.read(0x1ffe, &mut out), out), (Ok(()), [1, 2, 3, 4]));
        assert!(memory.write(0x2ffe, &[9; 4]).is_err());
        assert_eq!(bytes(at + PAGE - 2), Ok([0, 0]), "nothing is written if something is not mapped");
        assert_eq!(memory.fetch_update_u64(0x2008, &mut |word| word + 7), Ok(0));
        assert_eq!(memory.load_be32(0x2008), Ok(7_u32.swap_bytes()));
        assert!(memory.load_be32(0x2002).is_err() && memory.fetch_update_u64(0x2004, &mut |word| word).is_err());
        space.unmap(0x1000, 0x1fff).expect("unmapped");
        assert!(memory.read(0x1ffe, &mut out).is_err());
        memory.attach(None);
        assert!(memory.read(0x2000, &mut out).is_err());
    }

    #[test]
    fn rights_are_the_mappings() {
        let (space, at) = (Arc::new(AddressSpace::default()), memory());
        let memory = Attachment::default();
        memory.attach(Some(space.clone()));
        for (iova, readable, writable) in [(0x1000, true, false), (0x2000, false, true)] {
            let request = Request { iova, len: PAGE, address: at, readable, writable };
            space.map(&request, Memlock::Nobody).expect("mapped");
        }
        assert!(memory.read(0x1000, &mut [0]).is_ok() && memory.write(0x1000, &[0]).is_err());
        assert!(memory.read(0x2000, &mut [0]).is_err() && memory.write(0x2000, &[0]).is_ok());
        for iova in [0x1000, 0x2000] {
            assert!(memory.fetch_update_u64(iova, &mut |word| word).is_err());
        }
    }

    #[test]
    fn what_the_program_unmaps_is_a_fault_of_the_functions() {
        // Far from where the kernel puts memory: what other tests map meanwhile does not come into the hole.
        let (space, at) = (Arc::new(AddressSpace::default()), memory_at(1 << 40));
        let memory = Attachment::default();
        memory.attach(Some(space.clone()));
        map(&space, PAGE, 4 * PAGE, at).expect("mapped");
        // SAFETY: this test's own.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(at as usize), 4096) };
        assert!(memory.read(PAGE, &mut [0]).is_err() && memory.write(PAGE, &[0]).is_err());
        assert!(memory.load_be32(PAGE).is_err() && memory.fetch_update_u64(PAGE, &mut |word| word).is_err());
        assert!(memory.read(2 * PAGE, &mut [0]).is_ok());
    }
}
