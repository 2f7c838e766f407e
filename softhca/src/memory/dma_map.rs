//! Host memory that another party shares with the device, range by range, as an IOMMU gives memory to a PCI function.
//! An address is the guest's physical address, or any other that the sharing party chooses for the range. Each range
//! lies somewhere in this process.
//!
//! Ranges come and go while the device runs. The party that takes a range away waits until the device no longer
//! touches it.

use super::host_memory::{DmaFault, HostMemory};
use super::process::update_u64;
use super::shared_copy::{copy_in, copy_out};
use parking_lot::RwLock;
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering, fence};
use thiserror::Error;

/// Most ranges of a map. A machine has tens.
pub const MAX_RANGES: usize = 1 << 16;

/// Why a range cannot be mapped or unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DmaMapError {
    /// It has no bytes, or goes past the last address.
    #[error("{len:#x} bytes at {addr:#x} are no range of addresses")]
    NoRange {
        /// Its first address.
        addr: u64,
        /// Its bytes.
        len: u64,
    },
    /// Some of its addresses are mapped already.
    #[error("{len:#x} bytes at {addr:#x} overlap the range at {other:#x}")]
    Overlaps {
        /// Its first address.
        addr: u64,
        /// Its bytes.
        len: u64,
        /// The first address of the other.
        other: u64,
    },
    /// It is to be unmapped, and ends within a range that was mapped as a whole.
    #[error("{len:#x} bytes at {addr:#x} cut the range at {other:#x}")]
    Cuts {
        /// Its first address.
        addr: u64,
        /// Its bytes.
        len: u64,
        /// The first address of the other.
        other: u64,
    },
    /// There are too many.
    #[error("there are {MAX_RANGES} ranges already")]
    TooMany,
}

/// Where a range lies in this process.
struct Range {
    /// The first address after it, as the device names it.
    end: u64,
    memory: NonNull<u8>,
    writable: bool,
    /// Keeps the memory there.
    _owner: Box<dyn Any + Send + Sync>,
}

// SAFETY: the pointer leads to memory that `_owner`, which may be sent, keeps valid; it is not tied to a thread.
unsafe impl Send for Range {}
// SAFETY: a shared reference gives access by the copies below only, each of which is atomic, word by word or byte by
// byte.
unsafe impl Sync for Range {}

/// Ranges of memory that a device reaches. Clones are the same map: one goes to the device, whose [`HostMemory`] it
/// is, one stays with the party that maps and unmaps.
#[derive(Clone, Default)]
pub struct DmaMap {
    /// By first address; disjoint.
    ranges: Arc<RwLock<BTreeMap<u64, Range>>>,
}

impl std::fmt::Debug for DmaMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ranges = self.ranges.read();
        f.debug_map().entries(ranges.iter().map(|(start, range)| (start, range.end))).finish()
    }
}

impl DmaMap {
    /// Nothing mapped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the device reach `len` bytes at `memory` by the address `addr`, and write to them if they are `writable`.
    ///
    /// # Errors
    /// [`DmaMapError`]; nothing is mapped then.
    ///
    /// # Safety
    /// As long as `owner` lives, the memory is valid for reads, and if it is `writable`, for writes; no reference to it
    /// exists. Others may store to it at any time, if they do it from other processes or by atomic accesses.
    pub unsafe fn insert(
        &self,
        addr: u64,
        memory: NonNull<u8>,
        len: u64,
        writable: bool,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<(), DmaMapError> {
        let end = end_of(addr, len)?;
        let mut ranges = self.ranges.write();
        if let Some((&other, _)) = overlapping(&ranges, addr, end).next() {
            return Err(DmaMapError::Overlaps { addr, len, other });
        }
        if ranges.len() >= MAX_RANGES {
            return Err(DmaMapError::TooMany);
        }
        ranges.insert(addr, Range { end, memory, writable, _owner: owner });
        Ok(())
    }

    /// Takes the ranges within `len` bytes at `addr` away, and drops their owners: none, if there are none. When it
    /// returns, the device no longer touches them.
    ///
    /// # Errors
    /// [`DmaMapError::NoRange`], or [`DmaMapError::Cuts`] if part of a range would be left; nothing is unmapped then.
    pub fn remove(&self, addr: u64, len: u64) -> Result<(), DmaMapError> {
        let end = end_of(addr, len)?;
        let mut ranges = self.ranges.write();
        let cut = overlapping(&ranges, addr, end).find(|&(&start, range)| start < addr || range.end > end);
        if let Some((&other, _)) = cut {
            return Err(DmaMapError::Cuts { addr, len, other });
        }
        let starts: Vec<u64> = overlapping(&ranges, addr, end).map(|(&start, _)| start).collect();
        let gone: Vec<_> = starts.iter().filter_map(|start| ranges.remove(start)).collect();
        drop(ranges);
        drop(gone);
        Ok(())
    }

    /// Takes all ranges away.
    pub fn clear(&self) {
        let gone = std::mem::take(&mut *self.ranges.write());
        drop(gone);
    }

    /// The ranges: first address, and bytes.
    #[must_use]
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.ranges.read().iter().map(|(&start, range)| (start, range.end - start)).collect()
    }

    /// Has `each` work on the pieces in which the `len` bytes at `addr` lie here, in ascending order: a pointer to a
    /// piece, and where in the whole it begins and ends. They stay mapped meanwhile. `each` is not called unless all of
    /// them are mapped.
    fn with_pieces(
        &self,
        addr: u64,
        len: usize,
        write: bool,
        mut each: impl FnMut(*mut u8, std::ops::Range<usize>),
    ) -> Result<(), DmaFault> {
        let fault = DmaFault { addr, len };
        let end = addr.checked_add(len as u64).ok_or(fault)?;
        let ranges = self.ranges.read();
        let first = piece(&ranges, addr, write);
        match first {
            // Almost always: all of it is in one range.
            Some((pointer, there)) if there >= end => {
                each(pointer, 0..len);
                return Ok(());
            }
            _ if len == 0 => return Ok(()),
            _ => {}
        }
        let mut pieces = Vec::new();
        let mut at = addr;
        while at < end {
            let (pointer, there) = piece(&ranges, at, write).ok_or(fault)?;
            let next = there.min(end);
            // Both are at most `len` bytes from the start.
            pieces.push((pointer, (at - addr) as usize..(next - addr) as usize));
            at = next;
        }
        pieces.into_iter().for_each(|(pointer, part)| each(pointer, part));
        Ok(())
    }

    /// Has `access` work on the aligned word of `len` bytes at `addr`.
    fn with_word<T>(
        &self,
        addr: u64,
        len: usize,
        write: bool,
        access: impl FnOnce(*mut u8) -> T,
    ) -> Result<T, DmaFault> {
        let fault = DmaFault { addr, len };
        let end = addr.checked_add(len as u64).ok_or(fault)?;
        let ranges = self.ranges.read();
        match piece(&ranges, addr, write) {
            Some((pointer, there)) if there >= end && addr % (len as u64) == 0 && pointer.addr() % len == 0 => {
                Ok(access(pointer))
            }
            _ => Err(fault),
        }
    }
}

/// The end of a range of addresses.
fn end_of(addr: u64, len: u64) -> Result<u64, DmaMapError> {
    addr.checked_add(len).filter(|&end| end > addr).ok_or(DmaMapError::NoRange { addr, len })
}

/// The ranges that have addresses in `addr..end`, which is not empty.
fn overlapping(ranges: &BTreeMap<u64, Range>, addr: u64, end: u64) -> impl Iterator<Item = (&u64, &Range)> {
    let before = ranges.range(..=addr).next_back().filter(move |(_, range)| range.end > addr);
    before.into_iter().chain(ranges.range((Excluded(addr), Unbounded)).take_while(move |&(&start, _)| start < end))
}

/// Where `addr` lies here, and the address at which its range ends.
fn piece(ranges: &BTreeMap<u64, Range>, addr: u64, write: bool) -> Option<(*mut u8, u64)> {
    let (start, range) = ranges.range(..=addr).next_back()?;
    if addr >= range.end || (write && !range.writable) {
        return None;
    }
    // Within the range, which is as long as a mapping of this process can be.
    let pointer = range.memory.as_ptr().wrapping_add((addr - start) as usize);
    Some((pointer, range.end))
}

impl HostMemory for DmaMap {
    /// The memory is there already: this looks whether it is.
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        self.with_pieces(addr, len, false, |_, _| {})
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let len = out.len();
        self.with_pieces(addr, len, false, |from, part| {
            let to = &mut out[part];
            // SAFETY: `with_pieces` gives memory of a range, of this length, which stays mapped for the call. `to`
            // cannot overlap it: no reference to it exists. Others may store to it meanwhile; the copy is an atomic
            // one.
            unsafe { copy_out(from, to.as_mut_ptr(), to.len()) };
        })
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.with_pieces(addr, data.len(), true, |to, part| {
            // SAFETY: as in `read`; the range is writable.
            unsafe { copy_in(&data[part], to) };
        })
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        let word = self.with_word(addr, 4, false, |at| {
            // SAFETY: within a range, and aligned. Volatile rather than atomic, which would ask for memory that can be
            // written; an aligned word is one load either way.
            unsafe { at.cast::<u32>().read_volatile() }
        })?;
        fence(Ordering::Acquire);
        Ok(u32::from_be(word))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.with_word(addr, 8, true, |at| {
            // SAFETY: within a writable range, and aligned.
            unsafe { update_u64(at.cast(), f) }
        })
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let all = data.len();
        self.with_pieces(addr, all, true, |to, part| {
            let is_last = part.end == all;
            match data[part].split_last() {
                Some((&last, rest)) if is_last => {
                    // SAFETY: as in `write`; a byte is always aligned.
                    unsafe {
                        copy_in(rest, to);
                        AtomicU8::from_ptr(to.add(rest.len())).store(last, Ordering::Release);
                    }
                }
                Some((&last, rest)) => {
                    // SAFETY: as in `write`.
                    unsafe {
                        copy_in(rest, to);
                        copy_in(&[last], to.add(rest.len()));
                    }
                }
                None => {}
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memmap2::{MmapMut, MmapRaw};
    use std::sync::atomic::AtomicBool;

    const PAGE: u64 = 4096;

    /// Says when it is dropped.
    struct Owner(Arc<AtomicBool>);

    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// Pages of zeros, for a map and its test.
    #[derive(Clone)]
    struct Pages(Arc<MmapRaw>);

    impl Pages {
        fn new(pages: u64) -> Self {
            Self(Arc::new(MmapMut::map_anon((pages * PAGE) as usize).unwrap().into()))
        }

        fn ptr(&self) -> NonNull<u8> {
            NonNull::new(self.0.as_mut_ptr()).unwrap()
        }

        fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
            assert!(at + N <= self.0.len());
            let mut out = [0; N];
            // SAFETY: within the pages, just checked.
            unsafe { copy_out(self.0.as_ptr().add(at), out.as_mut_ptr(), N) };
            out
        }
    }

    /// `pages` pages at `addr`.
    fn add(map: &DmaMap, addr: u64, pages: u64, writable: bool) -> Result<Pages, DmaMapError> {
        let memory = Pages::new(pages);
        // SAFETY: the owner has the memory.
        unsafe { map.insert(addr, memory.ptr(), pages * PAGE, writable, Box::new(memory.clone())) }?;
        Ok(memory)
    }

    #[test]
    fn words_are_aligned_on_both_sides_and_in_one_range() {
        let map = DmaMap::new();
        let memory = add(&map, 0x1000, 1, true).unwrap();
        add(&map, 0x2000, 1, true).unwrap();
        // SAFETY: the owner has the memory.
        unsafe {
            let odd = memory.ptr().add(2);
            map.insert(0x1_0000, odd, 64, true, Box::new(memory.clone())).unwrap();
        }
        map.write(0x1000, &[0x12, 0x34, 0x56, 0x78]).unwrap();
        assert_eq!(map.load_be32(0x1000), Ok(0x1234_5678));
        for addr in [0x1001, 0x1002, 0x1ffe, 0x2ffe, 0x1_0000, 0x1_0002, 0x1_0040] {
            assert_eq!(map.load_be32(addr), Err(DmaFault { addr, len: 4 }));
        }
        for addr in [0x1004, 0x1ffc, 0x2ffc, 0x1_0000] {
            assert_eq!(map.fetch_update_u64(addr, &mut |_| 1), Err(DmaFault { addr, len: 8 }));
        }
        assert!(map.fetch_update_u64(0x1ff8, &mut |_| 1).is_ok());
    }

    #[test]
    fn the_number_of_ranges_is_bounded() {
        let map = DmaMap::new();
        let memory = Pages::new(1);
        // SAFETY: the owner has the memory.
        let add = |addr| unsafe { map.insert(addr, memory.ptr(), 1, false, Box::new(memory.clone())) };
        for addr in 0..MAX_RANGES as u64 {
            add(addr).unwrap();
        }
        assert_eq!(add(MAX_RANGES as u64), Err(DmaMapError::TooMany));
        map.remove(0, 1).unwrap();
        add(0).unwrap();
    }

    #[test]
    fn ranges_are_reached_by_their_addresses_and_nothing_else_is() {
        let map = DmaMap::new();
        let memory = add(&map, 0x10_0000, 2, true).unwrap();
        map.write(0x10_0ffe, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.bytes(0xffe), [1, 2, 3, 4]);
        let mut out = [0; 4];
        map.read(0x10_0ffe, &mut out).unwrap();
        assert_eq!(out, [1, 2, 3, 4]);
        for addr in [0, 0xf_ffff, 0x10_1ffd, 0x10_2000, u64::MAX - 2] {
            let fault = Err(DmaFault { addr, len: 4 });
            assert_eq!(map.read(addr, &mut out), fault);
            assert_eq!(map.write(addr, &out), fault);
            assert_eq!(map.write_last_byte_last(addr, &out), fault);
        }
        assert_eq!(map.read(0x10_2000, &mut []), Ok(()));
        // SAFETY: it maps nothing.
        assert!(unsafe { map.clone().map(0x10_0000, 8193) }.is_err());
        // SAFETY: it maps nothing.
        assert!(unsafe { map.clone().map(0x10_0000, 8192) }.is_ok());
    }

    #[test]
    fn an_access_across_ranges_is_whole_or_is_not_at_all() {
        let map = DmaMap::new();
        let low = add(&map, 0, 1, true).unwrap();
        let high = add(&map, PAGE, 1, true).unwrap();
        let data: Vec<u8> = (1..=64).collect();
        map.write_last_byte_last(PAGE - 32, &data).unwrap();
        assert_eq!((&low.bytes::<32>(4064)[..], &high.bytes::<32>(0)[..]), (&data[..32], &data[32..]));
        let mut out = vec![0; 64];
        map.read(PAGE - 32, &mut out).unwrap();
        assert_eq!(out, data);
        assert!(map.write(2 * PAGE - 32, &data).is_err());
        assert_eq!(high.bytes(4064), [0; 32]);
        add(&map, 2 * PAGE, 1, false).unwrap();
        assert!(map.read(2 * PAGE - 32, &mut out).is_ok());
        assert!(map.write(2 * PAGE - 32, &data).is_err(), "it cannot be written");
        assert_eq!(high.bytes(4064), [0; 32]);
    }

    #[test]
    fn words_are_aligned_and_in_one_range() {
        let map = DmaMap::new();
        add(&map, 0, 1, true).unwrap();
        add(&map, PAGE, 1, false).unwrap();
        map.write(8, &0x0102_0304_0506_0708_u64.to_be_bytes()).unwrap();
        assert_eq!((map.load_be32(8), map.load_be32(12)), (Ok(0x0102_0304), Ok(0x0506_0708)));
        assert!(map.load_be32(10).is_err());
        assert!(map.load_be32(2 * PAGE).is_err());
        assert_eq!(map.load_be32(PAGE), Ok(0));
        map.write(16, &5_u64.to_ne_bytes()).unwrap();
        assert_eq!(map.fetch_update_u64(16, &mut |word| word + 1), Ok(5));
        assert_eq!(map.fetch_update_u64(16, &mut |word| word), Ok(6));
        assert!(map.fetch_update_u64(20, &mut |word| word).is_err());
        assert!(map.fetch_update_u64(PAGE, &mut |word| word).is_err(), "it cannot be written");
        let odd = DmaMap::new();
        let memory = Pages::new(1);
        // SAFETY: the owner has the memory, which is longer.
        let inserted = unsafe {
            let at = memory.ptr().add(1);
            odd.insert(0, at, 63, true, Box::new(memory))
        };
        assert_eq!(inserted, Ok(()));
        assert!(odd.load_be32(0).is_err(), "aligned for the device, not here");
        assert!(odd.fetch_update_u64(0, &mut |word| word).is_err());
        assert!(odd.write(0, &[1; 63]).is_ok());
    }

    #[test]
    fn ranges_neither_overlap_nor_are_cut() {
        let map = DmaMap::new();
        add(&map, 4 * PAGE, 2, true).unwrap();
        let len = 2 * PAGE;
        for addr in [3 * PAGE, 4 * PAGE, 5 * PAGE] {
            assert_eq!(add(&map, addr, 2, true).map(drop), Err(DmaMapError::Overlaps { addr, len, other: 4 * PAGE }));
        }
        assert_eq!(
            add(&map, 0, 16, true).map(drop),
            Err(DmaMapError::Overlaps { addr: 0, len: 16 * PAGE, other: 4 * PAGE })
        );
        assert_eq!(map.remove(0, 0), Err(DmaMapError::NoRange { addr: 0, len: 0 }));
        assert_eq!(map.remove(PAGE, u64::MAX), Err(DmaMapError::NoRange { addr: PAGE, len: u64::MAX }));
        add(&map, 2 * PAGE, 2, true).unwrap();
        add(&map, 6 * PAGE, 2, true).unwrap();
        assert_eq!(map.remove(3 * PAGE, len), Err(DmaMapError::Cuts { addr: 3 * PAGE, len, other: 2 * PAGE }));
        assert_eq!(map.remove(4 * PAGE, PAGE), Err(DmaMapError::Cuts { addr: 4 * PAGE, len: PAGE, other: 4 * PAGE }));
        assert_eq!(map.remove(4 * PAGE, len), Ok(()));
        assert_eq!(map.ranges(), [(2 * PAGE, len), (6 * PAGE, len)]);
        assert_eq!(map.remove(4 * PAGE, len), Ok(()), "nothing is there");
        assert_eq!(map.remove(0, u64::MAX), Ok(()));
        assert_eq!(map.ranges(), []);
    }

    #[test]
    fn who_unmaps_waits_for_the_device() {
        let map = DmaMap::new();
        let gone = Arc::new(AtomicBool::new(false));
        let memory = Pages::new(1);
        let owner = (Owner(gone.clone()), memory);
        // SAFETY: the owner has the memory.
        unsafe { map.insert(0, owner.1.ptr(), PAGE, true, Box::new(owner)) }.unwrap();
        let (inside, is_inside) = std::sync::mpsc::channel();
        let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
        let device = map.clone();
        let accesses = std::thread::spawn(move || {
            device.fetch_update_u64(0, &mut |word| {
                inside.send(()).unwrap();
                may_go_on.recv().unwrap();
                word
            })
        });
        is_inside.recv().unwrap();
        let other = map.clone();
        let unmaps = std::thread::spawn(move || other.remove(0, PAGE));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!unmaps.is_finished() && !gone.load(Ordering::SeqCst), "the device is in it");
        go_on.send(()).unwrap();
        assert_eq!(accesses.join().unwrap(), Ok(0));
        assert_eq!(unmaps.join().unwrap(), Ok(()));
        assert!(gone.load(Ordering::SeqCst));
        assert!(map.read(0, &mut [0]).is_err());
    }
}
