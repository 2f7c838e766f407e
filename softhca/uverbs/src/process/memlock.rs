//! How much memory may be pinned: `RLIMIT_MEMLOCK`, as the kernel applies it to what a driver pins (`ib_umem_get`).

use super::errno::Errno;
use super::page::page_bytes;
use softhca_settings::Memlock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages that this process has pinned.
static PINNED: AtomicU64 = AtomicU64::new(0);

/// Pinned pages, counted as long as this lives. A page that is pinned twice counts twice.
#[derive(Debug)]
pub(crate) struct Locked {
    pages: u64,
}

impl Locked {
    /// Counts the pages of `len` bytes at `address`: `ENOMEM` past the soft limit.
    pub(crate) fn new(rule: Memlock, address: u64, len: u64) -> Result<Self, Errno> {
        let page = page_bytes();
        let end = address.checked_add(len).and_then(|end| end.checked_next_multiple_of(page)).ok_or(Errno::EINVAL)?;
        let pages = (end - address / page * page) / page;
        let limited = match rule {
            Memlock::Linux => !may_lock_any(),
            Memlock::Everybody => true,
            Memlock::Nobody => false,
        };
        let limit = if limited { soft_limit() } else { u64::MAX };
        // Nothing may be locked at all (`can_do_mlock`).
        if limit == 0 {
            return Err(Errno::EPERM);
        }
        let before = PINNED.fetch_add(pages, Ordering::Relaxed);
        let locked = Self { pages };
        if before + pages > limit / page {
            log::info!("{pages} pages beside the {before} pinned ones are past RLIMIT_MEMLOCK, {limit} bytes");
            return Err(Errno::ENOMEM);
        }
        Ok(locked)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        PINNED.fetch_sub(self.pages, Ordering::Relaxed);
    }
}

/// The soft limit, in bytes; `u64::MAX` if there is none.
fn soft_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills in a local.
    if unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) } != 0 { u64::MAX } else { limit.rlim_cur }
}

/// Whether the calling thread has `CAP_IPC_LOCK`, as root usually does.
fn may_lock_any() -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    /// `_LINUX_CAPABILITY_VERSION_3`: two sets of 32 capabilities.
    const VERSION: u32 = 0x2008_0522;
    // struct __user_cap_header_struct: version, process (0 = the caller).
    let mut header = [VERSION, 0];
    // struct __user_cap_data_struct, twice: effective, permitted, inheritable.
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: both point to locals of the sizes that this version asks for.
    let known = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) } == 0;
    known && sets[0][0] & 1 << CAP_IPC_LOCK != 0
}
