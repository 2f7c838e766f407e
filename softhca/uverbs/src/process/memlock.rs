//! The limit of pinned memory: `RLIMIT_MEMLOCK`, as the kernel applies it to a driver's pinned pages (`ib_umem_get`).

use super::capability::{IPC_LOCK, has_capability};
use super::errno::Errno;
use super::page::page_bytes;
use softhca_settings::Memlock;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages that this process has pinned.
static PINNED: AtomicU64 = AtomicU64::new(0);

/// Pinned pages, counted as long as this lives. A page that is pinned twice counts twice.
#[derive(Debug)]
pub(crate) struct Locked {
    pages: u64,
}

/// Why pages cannot be pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NotLocked {
    /// There are no such addresses.
    Overflow,
    /// Too many bytes, beside those that are pinned.
    PastLimit { bytes: u64, pinned: u64, limit: u64 },
}

impl From<NotLocked> for Errno {
    fn from(reason: NotLocked) -> Self {
        match reason {
            NotLocked::Overflow => Self::EINVAL,
            // Nothing may be locked at all (`can_do_mlock`).
            NotLocked::PastLimit { limit: 0, .. } => Self::EPERM,
            NotLocked::PastLimit { .. } => Self::ENOMEM,
        }
    }
}

impl fmt::Display for NotLocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow => f.write_str("memory past the last address cannot be pinned"),
            Self::PastLimit { bytes, pinned, limit } => write!(
                f,
                "{bytes} bytes beside {pinned} pinned ones exceed RLIMIT_MEMLOCK ({limit} bytes): raise it (ulimit -l, \
                or --ulimit memlock of podman and docker), or give softhca-run --memlock nobody"
            ),
        }
    }
}

impl Locked {
    /// Counts the pages of `len` bytes at `address`.
    pub(crate) fn new(rule: Memlock, address: u64, len: u64) -> Result<Self, NotLocked> {
        let page = page_bytes();
        let end = address.checked_add(len).and_then(|end| end.checked_next_multiple_of(page));
        let end = end.ok_or(NotLocked::Overflow)?;
        let pages = (end - address / page * page) / page;
        let limited = match rule {
            Memlock::Linux => !has_capability(IPC_LOCK),
            Memlock::Everybody => true,
            Memlock::Nobody => false,
        };
        let limit = if limited { soft_limit() } else { u64::MAX };
        let before = PINNED.fetch_add(pages, Ordering::Relaxed);
        let locked = Self { pages };
        if before + pages > limit / page || limit == 0 {
            return Err(NotLocked::PastLimit { bytes: pages * page, pinned: before * page, limit });
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
