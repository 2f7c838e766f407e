//! The limit of pinned memory: `RLIMIT_MEMLOCK`, as the kernel applies it to a driver's pinned pages (`ib_umem_get`).

use super::capability::{IPC_LOCK, has_capability};
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
            Memlock::Linux => !has_capability(IPC_LOCK),
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
