//! The calling thread's rights (`capabilities(7)`).

/// May send and receive raw packets.
pub(crate) const NET_RAW: u32 = 13;
/// May lock any memory.
pub(crate) const IPC_LOCK: u32 = 14;
/// May do input and output past the drivers.
pub(crate) const SYS_RAWIO: u32 = 17;

/// Whether the calling thread has capability `number`, below 32, as root usually does.
pub(crate) fn has_capability(number: u32) -> bool {
    /// `_LINUX_CAPABILITY_VERSION_3`: two sets of 32 capabilities.
    const VERSION: u32 = 0x2008_0522;
    // struct __user_cap_header_struct: version, process (0 = the caller).
    let mut header = [VERSION, 0];
    // struct __user_cap_data_struct, twice: effective, permitted, inheritable.
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: both point to locals of the sizes that this version asks for.
    let known = unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) } == 0;
    known && sets[0][0] & 1 << number != 0
}
