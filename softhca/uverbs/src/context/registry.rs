//! Information that processes with the same device file exchange. The file's descriptor can be passed on, and the
//! receiver may import the domains and regions of the others (`ibv_import_device` and its like). The kernel has one
//! table of objects per file. Here each process has its own device, and the file has the data for making the same
//! objects again.
//!
//! Another process may write anything here. The data is checked like any request. It gives access only to memory that
//! the kernel lets this process reach.

use crate::abi::mlx5::AllocUcontextResp;
use crate::process::{Errno, Mapping, user};
use rustix::fs::{SeekFrom, ftruncate, seek};
use softhca::uar::UarMemory;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Where in the file: by the rules for offsets of UAR pages, at the 32768th page that comes with a context. None has as
/// many.
const OFFSET: u64 = 0x8_0000_0000;
/// The most objects that can be imported; objects beyond that cannot.
const ENTRIES: usize = 1 << LOG_ENTRIES;
const LOG_ENTRIES: u32 = 12;
/// An object's name determines the first of the `PLACES` entries that it can have. So a search ends after these, also
/// in a program with a million regions.
const PLACES: usize = 64;
/// 64-bit words of an entry: its name, and [`Shared`].
const ENTRY_WORDS: usize = 8;
/// Words that hold what `GET_CONTEXT` has answered, before the entries; the first says that it has.
const ANSWER_WORDS: usize = 16;
/// The first word, once there is an answer; the second value if the context is a user of the device.
const ANSWERED: u64 = 1;
const OF_USER: u64 = 2;
/// Words by which other processes ask for commands, after the answer: the state, and where the process listens.
const CALL_WORDS: usize = 2;
/// Words before the entries.
const HEAD_WORDS: usize = ANSWER_WORDS + CALL_WORDS;
const WORDS: usize = HEAD_WORDS + ENTRIES * ENTRY_WORDS;
/// Values of the first of [`CALL_WORDS`]: another process wants to call; the maker of the file listens; it has closed
/// the file.
const CALLED: u64 = 1;
const LISTENS: u64 = 2;
const CLOSED: u64 = 3;

const _: () = assert!(size_of::<AllocUcontextResp>() <= (ANSWER_WORDS - 1) * 8);

/// Kinds of objects.
pub(crate) const DOMAIN: u32 = 1;
pub(crate) const REGION: u32 = 2;
/// A UAR page that was allocated by itself; its handle is its place among them.
pub(crate) const UAR: u32 = 3;
/// The name of an entry that is being filled in. (That of a free one is 0: there is no such kind.)
const RESERVED: u64 = u64::MAX;

/// An object as others see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(crate) struct Shared {
    /// The process that has made it.
    pub(crate) pid: u64,
    /// Of a region: its domain's handle.
    pub(crate) domain: u64,
    /// For a region: the program's rights, as in the ABI.
    pub(crate) access: u64,
    /// For a region: its address in the process.
    pub(crate) start: u64,
    /// Of a region: bytes.
    pub(crate) length: u64,
    /// Of a region: address that peers use.
    pub(crate) iova: u64,
    /// Of a region: its key.
    pub(crate) key: u64,
}

const _: () = assert!(size_of::<Shared>() == (ENTRY_WORDS - 1) * 8);

/// The mapped table of a device file.
pub(crate) struct Registry {
    words: Mapping,
}

/// This process, as the registry has it.
pub(crate) fn own_pid() -> u64 {
    (user::own_pid() as u32).into()
}

fn name(kind: u32, handle: u32) -> u64 {
    u64::from(kind) << 32 | u64::from(handle)
}

impl Registry {
    /// The table of `file`, empty if the file is new.
    pub(crate) fn of(file: &UarMemory) -> Result<Self, Errno> {
        const BYTES: usize = WORDS * 8;
        let end = OFFSET + BYTES as u64;
        // A file that others have grown further is left as it is; growing it costs no memory.
        if seek(file.fd(), SeekFrom::End(0))? < end {
            ftruncate(file.fd(), end)?;
        }
        Ok(Self { words: Mapping::of(file.fd().as_raw_fd(), OFFSET, BYTES)? })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has that many words, all bytes of which are valid, and lives as long as this does. `of`
        // has seen that the file is as long, and `device_file::own_descriptor` that no process can make it shorter.
        // Other processes also access it by atomic words.
        unsafe { std::slice::from_raw_parts(self.words.at().cast(), WORDS) }
    }

    /// The entries that can be that of `name`.
    fn entries(&self, name: u64) -> impl Iterator<Item = (&AtomicU64, &[AtomicU64])> {
        // 2^64 divided by the golden ratio: consecutive names begin far from each other.
        let first = name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LOG_ENTRIES);
        let entries = &self.words()[HEAD_WORDS..];
        (0..PLACES).filter_map(move |place| {
            let at = (first as usize + place) % ENTRIES * ENTRY_WORDS;
            entries.get(at..at + ENTRY_WORDS)?.split_first()
        })
    }

    /// Tells others what `GET_CONTEXT` has answered, and whether the context is a user of the device.
    pub(crate) fn answer(&self, answer: &AllocUcontextResp, is_user: bool) {
        let mut words = [0_u64; ANSWER_WORDS - 1];
        words.as_mut_bytes()[..size_of_val(answer)].copy_from_slice(answer.as_bytes());
        let (set, places) = self.words()[..ANSWER_WORDS].split_at(1);
        store(places, &words);
        set[0].store(if is_user { OF_USER } else { ANSWERED }, Ordering::Release);
    }

    /// The answer of `GET_CONTEXT`, and whether the context is a user of the device.
    pub(crate) fn answered(&self) -> Option<(AllocUcontextResp, bool)> {
        let (set, places) = self.words()[..ANSWER_WORDS].split_at(1);
        let is_user = match set[0].load(Ordering::Acquire) {
            ANSWERED => false,
            OF_USER => true,
            _ => return None,
        };
        let mut words = [0_u64; ANSWER_WORDS - 1];
        load(places, &mut words);
        AllocUcontextResp::read_from_prefix(words.as_bytes()).ok().map(|(answer, _)| (answer, is_user))
    }

    fn call_words(&self) -> (&AtomicU64, &AtomicU64) {
        let words = &self.words()[ANSWER_WORDS..HEAD_WORDS];
        (&words[0], &words[1])
    }

    /// Asks the maker of the file to listen, unless it does.
    pub(crate) fn call(&self) {
        // It has listened meanwhile, or somebody else has called.
        let _ = self.call_words().0.compare_exchange(0, CALLED, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Whether another process asks this one to listen.
    pub(crate) fn is_called(&self) -> bool {
        self.call_words().0.load(Ordering::Relaxed) == CALLED
    }

    /// Tells others that this process listens, at a place with this number.
    pub(crate) fn listens(&self, at: u64) {
        let (state, place) = self.call_words();
        place.store(at, Ordering::Relaxed);
        state.store(LISTENS, Ordering::Release);
    }

    /// Tells others that this process, which has made the file, has closed it.
    pub(crate) fn closes(&self) {
        self.call_words().0.store(CLOSED, Ordering::Release);
    }

    /// The place where the maker of the file listens, once it does. `EIO` if it has closed the file.
    pub(crate) fn listener(&self) -> Result<Option<u64>, Errno> {
        let (state, place) = self.call_words();
        match state.load(Ordering::Acquire) {
            LISTENS => Ok(Some(place.load(Ordering::Relaxed))),
            CLOSED => Err(Errno::EIO),
            _ => Ok(None),
        }
    }

    /// Tells others of an object of this process.
    pub(crate) fn publish(&self, kind: u32, handle: u32, object: &Shared) {
        let name = name(kind, handle);
        let free = self
            .entries(name)
            .find(|(entry, _)| entry.compare_exchange(0, RESERVED, Ordering::AcqRel, Ordering::Relaxed).is_ok());
        let Some((entry, places)) = free else { return };
        let mut words = [0_u64; ENTRY_WORDS - 1];
        words.as_mut_bytes().copy_from_slice(object.as_bytes());
        store(places, &words);
        entry.store(name, Ordering::Release);
    }

    /// The object is gone.
    pub(crate) fn withdraw(&self, kind: u32, handle: u32, pid: u64) {
        let name = name(kind, handle);
        for (entry, places) in self.entries(name) {
            let same = entry.load(Ordering::Acquire) == name;
            if same && places[0].load(Ordering::Relaxed) == pid {
                entry.store(0, Ordering::Release);
            }
        }
    }

    /// The object of this kind and handle that another process has made.
    pub(crate) fn find(&self, kind: u32, handle: u32, own_pid: u64) -> Result<Shared, Errno> {
        let name = name(kind, handle);
        let found = |(entry, places): (&AtomicU64, &[AtomicU64])| {
            if entry.load(Ordering::Acquire) != name {
                return None;
            }
            let mut words = [0_u64; ENTRY_WORDS - 1];
            load(places, &mut words);
            let mut object = Shared::new_zeroed();
            object.as_mut_bytes().copy_from_slice(words.as_bytes());
            // Still the same one.
            std::sync::atomic::fence(Ordering::Acquire);
            (entry.load(Ordering::Relaxed) == name && object.pid != own_pid).then_some(object)
        };
        self.entries(name).find_map(found).ok_or(Errno::ENOENT)
    }
}

fn store(places: &[AtomicU64], words: &[u64]) {
    places.iter().zip(words).for_each(|(place, &word)| place.store(word, Ordering::Relaxed));
}

fn load(places: &[AtomicU64], words: &mut [u64]) {
    places.iter().zip(words).for_each(|(place, word)| *word = place.load(Ordering::Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{FromRawFd, OwnedFd};

    #[test]
    fn others_find_what_is_published_until_it_is_withdrawn() {
        // SAFETY: the name is a string that ends with a zero byte; the descriptor is new.
        let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"registry".as_ptr(), 0)) };
        let file = UarMemory::in_file(file);
        let [one, other] = [(); 2].map(|()| Registry::of(&file).unwrap());
        let region = Shared { pid: 7, domain: 1, access: 3, start: 0x1000, length: 64, iova: 0, key: 0x1802 };
        one.publish(REGION, 5, &region);
        one.publish(DOMAIN, 5, &Shared { pid: 7, ..Shared::default() });
        assert_eq!(other.find(REGION, 5, 8), Ok(region));
        assert_eq!(other.find(REGION, 6, 8), Err(Errno::ENOENT));
        assert_eq!(one.find(REGION, 5, 7), Err(Errno::ENOENT), "its own");
        other.withdraw(REGION, 5, 8);
        assert_eq!(other.find(REGION, 5, 8), Ok(region), "not the other's to withdraw");
        one.withdraw(REGION, 5, 7);
        assert_eq!(other.find(REGION, 5, 8), Err(Errno::ENOENT));
        assert!(other.find(DOMAIN, 5, 8).is_ok());
        assert!(other.answered().is_none());
        let answer = AllocUcontextResp { qp_tab_size: 9, dump_fill_mkey: 4, ..FromZeros::new_zeroed() };
        for is_user in [false, true] {
            one.answer(&answer, is_user);
            let found = other.answered().map(|(found, is_user)| (found.as_bytes().to_vec(), is_user));
            assert_eq!(found, Some((answer.as_bytes().to_vec(), is_user)));
        }
    }

    #[test]
    fn a_call_is_heard_once() {
        // SAFETY: the name is a string that ends with a zero byte; the descriptor is new.
        let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"registry".as_ptr(), 0)) };
        let file = UarMemory::in_file(file);
        let [maker, other] = [(); 2].map(|()| Registry::of(&file).unwrap());
        assert_eq!((maker.is_called(), other.listener()), (false, Ok(None)));
        other.call();
        assert_eq!((maker.is_called(), other.listener()), (true, Ok(None)));
        maker.listens(7);
        other.call();
        assert_eq!((maker.is_called(), other.listener()), (false, Ok(Some(7))));
        maker.closes();
        other.call();
        assert_eq!((maker.is_called(), other.listener()), (false, Err(Errno::EIO)));
    }

    #[test]
    fn a_full_table_keeps_what_it_has() {
        // SAFETY: the name is a string that ends with a zero byte; the descriptor is new.
        let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"registry".as_ptr(), 0)) };
        let registry = Registry::of(&UarMemory::in_file(file)).unwrap();
        // Twice the number that has room.
        let handles = || 0..2 * ENTRIES as u32;
        for handle in handles() {
            registry.publish(DOMAIN, handle, &Shared { pid: 7, ..Shared::default() });
        }
        let (kept, lost): (Vec<_>, Vec<_>) = handles().partition(|&handle| registry.find(DOMAIN, handle, 8).is_ok());
        assert!(lost[0] > ENTRIES as u32 * 3 / 4, "{} has no room in a table with as many entries", lost[0]);
        assert_eq!(kept.len(), ENTRIES, "each place is taken");
        assert_eq!(registry.find(DOMAIN, lost[0], 8), Err(Errno::ENOENT));
    }
}
