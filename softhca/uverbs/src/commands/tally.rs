//! How many commands a program has given to devices: for tests and benchmarks of what set-up costs.

use std::cell::Cell;

thread_local! {
    static COMMANDS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a command of the calling thread.
pub(crate) fn count() {
    COMMANDS.set(COMMANDS.get() + 1);
}

/// How many commands (`RDMA_VERBS_IOCTL`) the calling thread has given to devices of ours, refused ones among them.
/// Commands of other threads do not count. Programs find it by `dlsym(RTLD_DEFAULT, "softhca_commands")`.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_commands() -> u64 {
    COMMANDS.get()
}
