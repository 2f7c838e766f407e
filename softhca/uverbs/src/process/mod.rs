//! This process and its kernel: error numbers, locks, libc behind our own definitions, memory, descriptors. The module
//! does not depend on devices.

pub(crate) mod allocator;
mod cancellation;
pub(crate) mod capability;
mod credentials;
mod elsewhere;
mod errno;
mod event_fd;
pub(crate) mod fds;
pub(crate) mod forked;
#[cfg(target_arch = "x86_64")]
pub(crate) mod guarded;
mod identity;
pub(crate) mod kind;
mod lock;
pub(crate) mod lock_file;
mod mapping;
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
pub(crate) use event_fd::EventFd;
pub(crate) use identity::{Identity, identity};
pub(crate) use lock::lock;
pub(crate) use mapping::Mapping;
pub(crate) use memlock::Locked;
pub(crate) use page::page_bytes;
pub(crate) use shared_file::SharedFile;

/// Runs the test of this name in a process of its own, unless this is that process: for tests that fork. A child has the
/// files of its parent, and with them the locks that other tests have let go.
#[cfg(test)]
pub(crate) fn is_repeated_alone(test: &str) -> bool {
    const ALONE: &str = "SOFTHCA_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let mut again = std::process::Command::new(std::env::current_exe().expect("a test program"));
    let output = again.args(["--exact", test]).env(ALONE, "").output().expect("the test program starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    true
}
