//! One UAR page: its layout, and the memory behind it.
//!
//! A page is a piece of a memfd. So a front end can map the same memory into the driver's address space, also in
//! another process, while the device keeps a mapping of its own. Ordinary memory gives no notice of a store. So the
//! device fills the bytes that it has taken with [`POISON`], and later looks for changes.
//!
//! Layout of a page: rdma-core `providers/mlx5/mlx5.h` (`MLX5_BF_OFFSET` 0x800, `MLX5_CQ_DOORBELL` 0x20), kernel
//! `include/linux/mlx5/device.h`.

use super::turns::{Taken, Turns};
use crate::error::Error;
use crate::memory::page_bytes;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes in a UAR page.
pub const UAR_PAGE_BYTES: usize = 4096;
/// Offset in bytes of the CQ arm doorbell: arm word, then CQN, both big endian.
pub const CQ_DOORBELL: usize = 0x20;
/// Offset in bytes of the doorbell of event queues that also arms them; a word of 32 bits, big endian: number (bits
/// 31:24) and consumer index (Linux `drivers/net/ethernet/mellanox/mlx5/core/lib/eq.h`, `eq_update_ci`).
pub const EQ_ARM_DOORBELL: usize = 0x40;
/// Offset in bytes of the one that only tells the consumer index.
pub const EQ_DOORBELL: usize = 0x48;
/// Offset in bytes of the doorbell of send queues without a doorbell record (rdma-core `tests/mlx5_base.py`,
/// `DB_BF_DBR_LESS_BUF_OFFSET`; GPUNetIO `src/doca_verbs_uar.cpp`, `DOCA_VERBS_UAR_DBR_LESS_DB_OFFSET`).
pub const RECORDLESS_DOORBELL: usize = 0x600;
/// Bytes of the CQ arm doorbell, and of a doorbell without BlueFlame copy.
pub const DOORBELL_BYTES: usize = 8;
/// Offset in bytes of the first BlueFlame register; registers follow one another to the end of the page.
pub const BLUEFLAME_OFFSET: usize = 0x800;
/// Bytes of one of a register's two halves, which drivers use in turn.
pub const BLUEFLAME_HALF_BYTES: usize = 0x100;
/// Bytes of a BlueFlame register.
const REGISTER_BYTES: usize = 2 * BLUEFLAME_HALF_BYTES;
/// BlueFlame registers of a page.
const REGISTERS: usize = (UAR_PAGE_BYTES - BLUEFLAME_OFFSET) / REGISTER_BYTES;
/// The device overwrites the bytes that it has taken with this byte. No doorbell begins with eight of them: QPN
/// 0xffffff is not a queue's, and opcode 0xff does not exist.
pub const POISON: u8 = 0xff;

/// A word without a doorbell.
const NONE: u32 = u32::from_ne_bytes([POISON; 4]);

/// Offsets in bytes of all BlueFlame halves of a page.
pub fn blueflame_halves() -> impl Iterator<Item = usize> {
    (BLUEFLAME_OFFSET..UAR_PAGE_BYTES).step_by(BLUEFLAME_HALF_BYTES)
}

/// A file that holds UAR pages. One serves many: a process may have fewer descriptors than pages.
#[derive(Clone, Debug)]
pub struct UarMemory(Arc<OwnedFd>);

impl UarMemory {
    /// UAR pages in a file of the caller's, such as the one that its driver maps them from: memory (a memfd), in which
    /// holes can be punched.
    #[must_use]
    pub fn in_file(file: OwnedFd) -> Self {
        Self(Arc::new(file))
    }

    /// The file.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// A file of no pages.
    pub(crate) fn new() -> Result<Self, Error> {
        let options = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(c"mlx5 UAR", options).map_err(|errno| Error::of_system("memfd_create", errno))?;
        // No process that gets the descriptor can take the memory away from under a mapping.
        fcntl_add_seals(&file, SealFlags::SHRINK).map_err(|errno| Error::of_system("F_ADD_SEALS", errno))?;
        Ok(Self(Arc::new(file)))
    }

    /// Allocates or frees the memory of the page at `offset`, by `mode`.
    fn allocate(&self, offset: u64, mode: FallocateFlags) -> Result<(), Error> {
        let done = fallocate(&self.0, mode, offset, UAR_PAGE_BYTES as u64);
        done.map_err(|errno| Error::of_system("fallocate", errno))
    }
}

/// One UAR page.
#[derive(Debug)]
pub struct Uar {
    memory: UarMemory,
    offset: u64,
    addr: NonNull<u8>,
    /// Bytes of the mapping before the page: systems map whole pages of their own, which may be larger.
    before: usize,
    /// QPs and CQs created on it.
    pub(crate) users: u32,
    /// Its owner has given it back: no queue is created on it any more, and it goes with the last one.
    pub(crate) is_given_back: bool,
    /// The page is mapped so that the CPU does not combine stores to it: registers have no halves.
    pub(crate) non_cached: bool,
    /// Last doorbell of each register: offset of the half, and the doorbell.
    rung: [Option<(usize, [u8; DOORBELL_BYTES])>; REGISTERS],
    /// How the halves of each register are used, as far as looks at them show.
    turns: [Turns; REGISTERS],
}

// SAFETY: the mapping belongs to this value alone as far as its lifetime goes, is not tied to a thread, and all access
// to it is by atomic words.
unsafe impl Send for Uar {}

impl Uar {
    /// The page at byte `offset` of `memory`, filled with [`POISON`]. No other page is there.
    pub(crate) fn new(memory: &UarMemory, offset: u64) -> Result<Self, Error> {
        Self::in_pages_of(page_bytes(), memory, offset)
    }

    /// The page at byte `offset` of `memory`, on a system with pages of `page` bytes.
    fn in_pages_of(page: usize, memory: &UarMemory, offset: u64) -> Result<Self, Error> {
        memory.allocate(offset, FallocateFlags::empty())?;
        let (prot, flags, fd) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, memory.0.as_raw_fd());
        let before = (offset % page as u64) as usize;
        let (start, len) = ((offset - before as u64) as libc::off64_t, before + UAR_PAGE_BYTES);
        // SAFETY: a new mapping at an address that the kernel chooses replaces nothing.
        let mapped = unsafe { libc::mmap64(std::ptr::null_mut(), len, prot, flags, fd, start) };
        let mapped = NonNull::new(mapped.cast::<u8>()).filter(|_| mapped != libc::MAP_FAILED);
        let mapped = mapped.ok_or_else(|| Error::of_system("mmap", io::Error::last_os_error()))?;
        // SAFETY: the mapping has so many bytes before the page.
        let addr = unsafe { mapped.add(before) };
        let uar = Self {
            memory: memory.clone(),
            offset,
            addr,
            before,
            users: 0,
            is_given_back: false,
            non_cached: false,
            rung: [None; REGISTERS],
            turns: [Turns::default(); REGISTERS],
        };
        uar.poison(0, UAR_PAGE_BYTES);
        Ok(uar)
    }

    /// The device's own mapping: [`UAR_PAGE_BYTES`] bytes, valid as long as the page is allocated. In embedded use, the
    /// driver in the same process stores its doorbells here.
    #[must_use]
    pub fn addr(&self) -> NonNull<u8> {
        self.addr
    }

    /// The memory behind the page, to map elsewhere at [`Self::offset`].
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.memory.0.as_fd()
    }

    /// Offset in bytes of the page in [`Self::fd`].
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Notes a doorbell in the half at byte `offset`. Returns `true` if halves must alternate on this register, and
    /// its previous doorbell was a different one in the same half. A CPU may combine two doorbells in one half into
    /// one; rdma-core (`providers/mlx5/qp.c`, `post_send_db`) alternates after each doorbell of either kind. A
    /// repetition of the same doorbell does not count: UCX copies a WQEBB by `memmove`, which stores all of it twice
    /// on CPUs with registers of 64 bytes.
    pub(crate) fn repeats_half(&mut self, offset: usize, doorbell: [u8; DOORBELL_BYTES]) -> bool {
        let register = offset.checked_sub(BLUEFLAME_OFFSET).and_then(|at| self.rung.get_mut(at / REGISTER_BYTES));
        let last = register.and_then(|last| last.replace((offset, doorbell)));
        last.is_some_and(|(half, last)| half == offset && last != doorbell) && !self.non_cached
    }

    /// A new queue begins to use the page: earlier doorbells have left the CPU long ago.
    pub(crate) fn begin_anew(&mut self) {
        self.rung = [None; REGISTERS];
        // Its driver may be another one than that of queues that are gone.
        if self.users == 0 {
            self.turns = [Turns::default(); REGISTERS];
        }
    }

    /// The 32-bit word at byte `at`, a multiple of 4, of the page.
    fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at % 4 == 0 && at < UAR_PAGE_BYTES, "no word at {at:#x} of a UAR page");
        // SAFETY: inside of the mapping and aligned, by the assertion and the page's alignment. The mapping lives as
        // long as `self`; whoever else stores to it does so like a device register, by whole words.
        unsafe { AtomicU32::from_ptr(self.addr.as_ptr().add(at).cast()) }
    }

    /// Copies `out.len()` bytes, a multiple of 4, from byte `at` on.
    ///
    /// Required order: a device that sees a doorbell then sees the doorbell record that the driver stored before it.
    ///
    /// ```text
    /// driver                        device
    /// record = producer index       if the register's word has changed   // acquire
    /// barrier to the register           load_be32(record)                // this producer index, or a later one
    /// register = first 8 bytes
    /// ```
    pub(crate) fn read(&self, at: usize, out: &mut [u8]) {
        for (i, bytes) in out.chunks_exact_mut(4).enumerate() {
            bytes.copy_from_slice(&self.word(at + 4 * i).load(Ordering::Acquire).to_ne_bytes());
        }
    }

    /// Fills `len` bytes, a multiple of 4, from byte `at` on with [`POISON`].
    pub(crate) fn poison(&self, at: usize, len: usize) {
        for i in (0..len).step_by(4) {
            self.word(at + i).store(u32::from_ne_bytes([POISON; 4]), Ordering::Release);
        }
    }

    /// Takes the lower half of a doorbell at byte `at`, which has the queue's number, if one was stored there. The
    /// acquire is that of [`Self::read`].
    pub(crate) fn take_number(&self, at: usize) -> Option<u32> {
        let word = self.word(at + 4);
        // A driver may store again at any time: a load and a store would lose that.
        let stored = if word.load(Ordering::Acquire) == NONE { NONE } else { word.swap(NONE, Ordering::AcqRel) };
        (stored != NONE).then(|| u32::from_be(stored))
    }

    /// Takes the doorbell of a send queue without a record, if there is one. In one piece: nothing else tells its index.
    pub(super) fn take_recordless(&self) -> Option<[u8; DOORBELL_BYTES]> {
        const NONE: u64 = u64::from_ne_bytes([POISON; DOORBELL_BYTES]);
        // SAFETY: inside of the mapping and aligned; whoever else stores there does so by whole words of 8 bytes.
        let register = unsafe { AtomicU64::from_ptr(self.addr.as_ptr().add(RECORDLESS_DOORBELL).cast()) };
        let stored =
            if register.load(Ordering::Acquire) == NONE { NONE } else { register.swap(NONE, Ordering::AcqRel) };
        (stored != NONE).then(|| stored.to_ne_bytes())
    }

    /// Whether there is a send doorbell in any register. Almost never: each step asks.
    pub(super) fn is_rung(&self) -> bool {
        blueflame_halves().any(|half| self.word(half + 4).load(Ordering::Relaxed) != NONE)
    }

    /// Takes the send doorbells of all registers: the numbers of their queues, and whether there may have been more,
    /// which these have replaced.
    pub(super) fn take_rung(&mut self) -> (Vec<u32>, bool) {
        let mut turns = self.turns;
        let taken: [Taken; REGISTERS] = std::array::from_fn(|register| {
            let at = BLUEFLAME_OFFSET + register * REGISTER_BYTES;
            turns[register].take(|half| self.take_number(at + half * BLUEFLAME_HALF_BYTES))
        });
        self.turns = turns;
        let stored: Vec<u32> = taken.iter().flat_map(|taken| taken.halves).flatten().collect();
        // In a page without write combining, each half is a register of its own, for any number of queues.
        let may_miss = taken.iter().any(|taken| taken.may_miss) || self.non_cached && !stored.is_empty();
        // The lowest byte is the length of the WQE.
        (stored.into_iter().map(|stored| stored >> 8).collect(), may_miss)
    }

    /// The eight bytes at `at` if something was stored there since they were poisoned.
    pub(crate) fn doorbell(&self, at: usize) -> Option<[u8; DOORBELL_BYTES]> {
        let mut bytes = [0; DOORBELL_BYTES];
        self.read(at, &mut bytes);
        (bytes != [POISON; DOORBELL_BYTES]).then_some(bytes)
    }
}

impl Drop for Uar {
    fn drop(&mut self) {
        // SAFETY: unmaps what `new` mapped, once; references handed out by `word` do not outlive `self`.
        unsafe { libc::munmap(self.addr.as_ptr().sub(self.before).cast(), self.before + UAR_PAGE_BYTES) };
        // If it fails the memory stays until the index comes back.
        let _ = self.memory.allocate(self.offset, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = UAR_PAGE_BYTES as u64;

    #[test]
    fn what_is_stored_is_seen_until_poisoned() {
        let uar = Uar::new(&UarMemory::new().unwrap(), 3 * PAGE).unwrap();
        assert_eq!(blueflame_halves().collect::<Vec<_>>(), [0x800, 0x900, 0xa00, 0xb00, 0xc00, 0xd00, 0xe00, 0xf00]);
        assert_eq!(uar.doorbell(0x900), None);
        uar.word(0x904).store(0x0102_0304u32.to_be(), Ordering::Relaxed);
        assert_eq!(uar.doorbell(0x900), Some([0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]));
        uar.poison(0x900, 8);
        assert_eq!(uar.doorbell(0x900), None);
    }

    #[test]
    fn the_queues_that_were_rung_are_taken_once() {
        let mut uar = Uar::new(&UarMemory::new().unwrap(), 0).unwrap();
        let ring =
            |uar: &Uar, half: usize, qpn: u32| uar.word(half + 4).store((qpn << 8 | 3).to_be(), Ordering::Release);
        assert_eq!((uar.is_rung(), uar.take_rung()), (false, (vec![], false)));
        ring(&uar, 0x800, 0x1234);
        ring(&uar, 0xf00, 7);
        assert!(uar.is_rung());
        assert_eq!(uar.take_rung(), (vec![0x1234, 7], true), "drivers are not known yet");
        ring(&uar, 0x900, 8);
        ring(&uar, 0xe00, 9);
        assert_eq!(uar.take_rung(), (vec![8, 9], false));
        assert_eq!(uar.take_rung(), (vec![], false));
        uar.non_cached = true;
        assert_eq!(uar.take_rung(), (vec![], false));
        ring(&uar, 0x800, 8);
        assert_eq!(uar.take_rung(), (vec![8], true));
        assert_eq!(uar.take_number(CQ_DOORBELL), None);
        uar.word(CQ_DOORBELL + 4).store(5_u32.to_be(), Ordering::Release);
        assert_eq!([uar.take_number(CQ_DOORBELL), uar.take_number(CQ_DOORBELL)], [Some(5), None]);
    }

    #[test]
    fn the_memory_cannot_be_taken_away() {
        let memory = UarMemory::new().unwrap();
        let uar = Uar::new(&memory, PAGE).unwrap();
        let file = std::fs::File::from(memory.fd().try_clone_to_owned().unwrap());
        file.set_len(0).unwrap_err();
        assert_eq!(uar.doorbell(0x900), None);
    }

    #[test]
    fn memory_that_cannot_be_mapped_is_an_error() {
        let memory = UarMemory::new().unwrap();
        // Such a descriptor is enough to allocate a page, and not enough to map it.
        let only_written = std::fs::File::options().write(true).open(format!("/proc/self/fd/{}", memory.0.as_raw_fd()));
        let refused = Uar::new(&UarMemory::in_file(only_written.unwrap().into()), 0);
        assert!(matches!(refused, Err(Error::System { .. })), "{refused:?}");
    }

    #[test]
    fn halves_take_turns() {
        let mut uar = Uar::new(&UarMemory::new().unwrap(), 0).unwrap();
        let mut posted = 0;
        let mut ring = |uar: &mut Uar, half| {
            posted += 1;
            uar.repeats_half(half, [posted; 8])
        };
        let rings = [0x900, 0x800, 0x800, 0xf00, 0x800, 0xe00, 0xf00].map(|half| ring(&mut uar, half));
        assert_eq!(rings, [false, false, true, false, true, false, false]);
        uar.begin_anew();
        assert!(!ring(&mut uar, 0xf00));
        uar.non_cached = true;
        assert!(!ring(&mut uar, 0xf00));
    }

    #[test]
    fn a_doorbell_may_be_stored_twice() {
        let mut uar = Uar::new(&UarMemory::new().unwrap(), 0).unwrap();
        assert!(!uar.repeats_half(0x800, [1; 8]));
        assert!(!uar.repeats_half(0x800, [1; 8]), "nothing is lost if the CPU makes one of both");
        assert!(uar.repeats_half(0x800, [2; 8]));
    }

    #[test]
    fn pages_are_apart() {
        // On this system, and on those with larger pages, of which each has several.
        for system in [page_bytes(), 1 << 13, 1 << 16] {
            let memory = UarMemory::new().unwrap();
            let [one, other] = [2, 1].map(|page| Uar::in_pages_of(system, &memory, page * PAGE).unwrap());
            one.word(CQ_DOORBELL).store(0, Ordering::Relaxed);
            assert_eq!(other.doorbell(CQ_DOORBELL), None);
            drop(one);
            assert_eq!(Uar::in_pages_of(system, &memory, 2 * PAGE).unwrap().doorbell(CQ_DOORBELL), None);
            assert_eq!((other.offset(), other.doorbell(CQ_DOORBELL)), (PAGE, None));
        }
    }
}
