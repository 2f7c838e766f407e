//! Memory that several processes have mapped. Everything in it may change at any moment. So it is only copied from and
//! to, and reached through atomics; there is never a reference to its bytes.
//!
//! It has no name. The process that makes it seals it, then hands its descriptor to a peer. The seal keeps the file's
//! end in place: SIGBUS kills a process that touches a page behind the end of a file. Files in a directory cannot be
//! sealed, which is why a fabric has no memory in files (memfd_create(2), fcntl(2) "File Sealing"). Memory that its
//! maker alone writes to is sealed against the writes of others, too.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
use std::{
    ffi::c_void,
    io,
    ptr::NonNull,
    sync::atomic::{AtomicU32, AtomicU64},
};

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, memfd_create,
};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::descriptor::Descriptor;
use crate::memory::shared_copy::{copy_in, copy_out};

/// File system type of ordinary memory (`TMPFS_MAGIC`). Huge pages have another, and can run out when they are touched.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Why a line is fetched.
#[derive(Clone, Copy, Debug)]
pub(super) enum Prefetch {
    /// Loads.
    ToRead,
    /// Stores: other CPUs lose the line.
    ToWrite,
}

/// A shared mapping.
#[derive(Debug)]
pub(super) struct Shared {
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the mapping is the process's, and its bytes are only copied and reached through atomics.
unsafe impl Send for Shared {}
// SAFETY: the mapping is the process's, and its bytes are only copied and reached through atomics.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: our mapping, which nothing uses any more. A failure would leave it in place.
        let _ = unsafe { munmap(self.start.as_ptr(), self.len) };
    }
}

impl Shared {
    /// New memory of `len` bytes of zero, and its descriptor for peers. All of it is there: touching it cannot fail.
    pub(super) fn create(len: usize) -> io::Result<(Self, Descriptor)> {
        let file = new_file(len)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Self::map(&file, len, ProtFlags::READ | ProtFlags::WRITE)?, file))
    }

    /// New memory of `len` bytes of zero that peers can only read, and its descriptor for them.
    pub(super) fn create_read_only(len: usize) -> io::Result<(Self, Descriptor)> {
        let file = new_file(len)?;
        // This mapping stays writable.
        let map = Self::map(&file, len, ProtFlags::READ | ProtFlags::WRITE)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        match fcntl_add_seals(&file, seals | SealFlags::FUTURE_WRITE) {
            // Before Linux 5.1, only the peers' own mappings keep them from writing.
            Err(Errno::INVAL) => fcntl_add_seals(&file, seals)?,
            sealed => sealed?,
        }
        Ok((map, file))
    }

    /// Memory that a peer has made, if it has `len` bytes that no process can ever take away. A peer may punch holes
    /// into it: they read as zeros.
    pub(super) fn of_peer(file: &Descriptor, len: usize) -> io::Result<Self> {
        check(file, len)?;
        Self::map(file, len, ProtFlags::READ | ProtFlags::WRITE)
    }

    /// [A peer's memory](Self::of_peer) that this process only reads. Stores to it end the process.
    pub(super) fn read_only_of_peer(file: &Descriptor, len: usize) -> io::Result<Self> {
        check(file, len)?;
        Self::map(file, len, ProtFlags::READ)
    }

    fn map(file: &Descriptor, len: usize, protection: ProtFlags) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that nobody has.
        let start = unsafe { mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, file, 0) }?;
        Ok(Self { start: NonNull::new(start).expect("a mapping is not at address 0"), len })
    }

    /// Bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Address of `len` bytes at `at`.
    ///
    /// # Panics
    /// If they are not inside: offsets come from constants or are masked by the caller, never from shared memory.
    fn bytes(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= self.len() && len <= self.len() - at, "{len} bytes at {at} of {}", self.len());
        self.start.as_ptr().cast::<u8>().wrapping_add(at)
    }

    /// Has this CPU fetch the line at `at` while it goes on. Only on x86-64.
    ///
    /// # Panics
    /// If it is not inside: see [`Self::bytes`].
    #[inline]
    pub(super) fn prefetch(&self, at: usize, for_what: Prefetch) {
        let line = self.bytes(at, 1);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch changes no memory and no register, and has no faults.
        unsafe {
            match for_what {
                Prefetch::ToRead => asm!("prefetcht0 [{}]", in(reg) line, options(nostack, preserves_flags, readonly)),
                Prefetch::ToWrite => asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly)),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (line, for_what);
    }

    /// The aligned word at `at`.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at % 4 == 0);
        // SAFETY: inside the mapping (checked), which starts at a page and lives as long as `self`; aligned
        // (checked); all processes access it atomically.
        unsafe { AtomicU32::from_ptr(self.bytes(at, 4).cast()) }
    }

    /// The aligned word of 8 bytes at `at`.
    pub(super) fn long(&self, at: usize) -> &AtomicU64 {
        assert!(at % 8 == 0);
        // SAFETY: as in `word`.
        unsafe { AtomicU64::from_ptr(self.bytes(at, 8).cast()) }
    }

    /// Address of a `T` at `at`, for types made of atomics.
    pub(super) fn address<T>(&self, at: usize) -> NonNull<T> {
        assert!(at % align_of::<T>() == 0);
        NonNull::new(self.bytes(at, size_of::<T>()).cast()).expect("a mapping is not at address 0")
    }

    /// Copies out of the mapping. The bytes may be torn if another process writes them meanwhile.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) {
        // SAFETY: the source is inside the mapping (checked); `out` is private memory, so they do not overlap.
        // Another process may write the source meanwhile: then the bytes are unspecified, but any byte is a valid
        // u8.
        unsafe { copy_out(self.bytes(at, out.len()), out.as_mut_ptr(), out.len()) }
    }

    /// Copies into the mapping.
    pub(super) fn write(&self, at: usize, data: &[u8]) {
        // SAFETY: the destination is inside the mapping (checked), which is writable; `data` is private memory.
        unsafe { copy_in(data, self.bytes(at, data.len())) }
    }
}

/// A new file of `len` bytes of zero, without seals.
fn new_file(len: usize) -> io::Result<Descriptor> {
    let file = Descriptor::from(memfd_create(c"softhca fabric", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    fallocate(&file, FallocateFlags::empty(), 0, len as u64)?;
    Ok(file)
}

/// Whether a file has `len` bytes that no process can ever take away.
fn check(file: &Descriptor, len: usize) -> io::Result<()> {
    let refused = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let kind = fstatfs(file)?.f_type;
    if i128::from(kind) != i128::from(TMPFS_MAGIC) {
        return refused(format!("memory on a file system of type {kind:#x}"));
    }
    // The seals first: the size that is looked at afterwards can then only grow.
    let seals = fcntl_get_seals(file)?;
    if !seals.contains(SealFlags::SHRINK) {
        return refused(format!("memory that can be cut off: its seals are {seals:?}"));
    }
    let have = fstat(file)?.st_size;
    if i128::from(have) < len as i128 {
        return refused(format!("memory of {have} bytes where {len} are needed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::Ordering;

    #[test]
    fn what_is_handed_out_cannot_be_cut_off() {
        let (ours, file) = Shared::create(8192).unwrap();
        let theirs = Shared::of_peer(&file, 8192).unwrap();
        let file = File::from(file);
        file.set_len(0).unwrap_err();
        theirs.write(8184, b"the end!");
        let mut end = [0; 8];
        ours.read(8184, &mut end);
        assert_eq!(end, *b"the end!");
    }

    #[test]
    fn what_is_to_be_read_cannot_be_written() {
        let (ours, file) = Shared::create_read_only(4096).unwrap();
        let theirs = Shared::read_only_of_peer(&file, 4096).unwrap();
        ours.word(64).store(7, Ordering::Relaxed);
        assert_eq!(theirs.word(64).load(Ordering::Relaxed), 7);
        if fcntl_get_seals(&file).unwrap().contains(SealFlags::FUTURE_WRITE) {
            let denied = Shared::of_peer(&file, 4096).unwrap_err();
            assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied, "a hostile peer maps it as it likes");
            File::from(file).write_at(&[0; 4096], 0).unwrap_err();
        }
        assert_eq!(theirs.word(64).load(Ordering::Relaxed), 7);
    }

    #[test]
    fn what_could_be_cut_off_is_not_mapped() {
        let refused = |file: File| Shared::of_peer(&file.into(), 4096).unwrap_err();
        let on_disk = tempfile::tempfile().unwrap();
        on_disk.set_len(4096).unwrap();
        refused(on_disk);
        let memory = |flags| File::from(memfd_create(c"test", flags).unwrap());
        for flags in [MemfdFlags::CLOEXEC, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING] {
            let unsealed = memory(flags);
            unsealed.set_len(4096).unwrap();
            assert!(refused(unsealed).to_string().contains("cut off"));
        }
        let short = memory(MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        short.set_len(4095).unwrap();
        fcntl_add_seals(&short, SealFlags::SHRINK).unwrap();
        assert!(refused(short).to_string().contains("4095 bytes"));
        // A kernel may have none: then there is nothing to refuse.
        if let Ok(huge) = memfd_create(c"test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB) {
            let huge = File::from(huge);
            huge.set_len(1 << 30).unwrap();
            fcntl_add_seals(&huge, SealFlags::SHRINK).unwrap();
            assert!(refused(huge).to_string().contains("file system"));
        }
    }
}
