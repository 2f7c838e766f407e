//! This process and its kernel: error numbers, locks, libc behind our own definitions, memory, descriptors. Knows
//! nothing of devices.

mod cancellation;
pub(crate) mod capability;
mod credentials;
mod elsewhere;
mod errno;
pub(crate) mod fds;
pub(crate) mod forked;
#[cfg(target_arch = "x86_64")]
pub(crate) mod guarded;
mod identity;
pub(crate) mod kind;
mod lock;
pub(crate) mod lock_file;
mod memlock;
mod page;
pub(crate) mod provider;
pub(crate) mod real;
pub(crate) mod route;
mod shared_file;
pub(crate) mod user;

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn forked::StaticLock; 2] = [&fds::FILES, &forked::MAKING];

pub(crate) use cancellation::uncancelled;
pub(crate) use capability::has_capability;
pub(crate) use credentials::Credentials;
pub(crate) use elsewhere::Elsewhere;
pub(crate) use errno::Errno;
pub(crate) use identity::{Identity, identity};
pub(crate) use lock::lock;
pub(crate) use memlock::Locked;
pub(crate) use page::page_bytes;
pub(crate) use shared_file::SharedFile;
