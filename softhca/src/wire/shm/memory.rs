//! A file mapped by several processes. Everything in it may change at any moment, so it is only copied from, copied
//! to and reached through atomics; no reference to its bytes is ever made.

use std::{fs::File, io, mem::MaybeUninit, ptr::NonNull, sync::atomic::AtomicU32};

use memmap2::{MmapOptions, MmapRaw};

use crate::shared_copy::{copy_in, copy_out};

/// A shared mapping.
#[derive(Debug)]
pub(super) struct Shared {
    map: MmapRaw,
}

impl Shared {
    /// Maps the first `len` bytes of the file, which must have that many (else touching them would raise SIGBUS).
    pub(super) fn map(file: &File, len: usize) -> io::Result<Self> {
        let have = file.metadata()?.len();
        if have < len as u64 {
            let what = format!("file of {have} bytes where {len} are needed");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        }
        Ok(Self { map: MmapOptions::new().len(len).map_raw(file)? })
    }

    /// Bytes.
    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// Address of `len` bytes at `at`.
    ///
    /// # Panics
    /// If they are not inside: offsets come from constants or are masked by the caller, never from shared memory.
    fn bytes(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= self.len() && len <= self.len() - at, "{len} bytes at {at} of {}", self.len());
        self.map.as_mut_ptr().wrapping_add(at)
    }

    /// The aligned word at `at`.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4));
        // SAFETY: inside the mapping (checked), which starts at a page and lives as long as `self`; aligned
        // (checked); all processes access it atomically.
        unsafe { AtomicU32::from_ptr(self.bytes(at, 4).cast()) }
    }

    /// Address of a `T` at `at`, for types made of atomics.
    pub(super) fn address<T>(&self, at: usize) -> NonNull<T> {
        assert!(at.is_multiple_of(align_of::<T>()));
        NonNull::new(self.bytes(at, size_of::<T>()).cast()).expect("a mapping is not at address 0")
    }

    /// Copies out of the mapping. The bytes may be torn if another process writes them meanwhile.
    pub(super) fn read(&self, at: usize, out: &mut [MaybeUninit<u8>]) {
        // SAFETY: the source is inside the mapping (checked); `out` is private memory, so they do not overlap.
        // Another process may write the source meanwhile: then the bytes are unspecified, but any byte is a valid
        // u8.
        unsafe { copy_out(self.bytes(at, out.len()), out.as_mut_ptr().cast(), out.len()) }
    }

    /// Copies into the mapping.
    pub(super) fn write(&self, at: usize, data: &[u8]) {
        // SAFETY: the destination is inside the mapping (checked), which is writable; `data` is private memory.
        unsafe { copy_in(data, self.bytes(at, data.len())) }
    }

    /// Copies `N` bytes out of the mapping.
    pub(super) fn read_array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [MaybeUninit::uninit(); N];
        self.read(at, &mut bytes);
        // SAFETY: `read` has initialised all of them.
        bytes.map(|byte| unsafe { byte.assume_init() })
    }
}
