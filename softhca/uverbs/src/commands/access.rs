//! The rights of peers and the device to memory, in the terms of the ABI and of the device.

use crate::abi::access;
use crate::process::Errno;
use softhca::context::Access;

/// The device's rights from the ABI's flags, by the kernel's rules: `EINVAL` for unknown flags, and for remote writes
/// and atomics to memory that may not be written locally; `EOPNOTSUPP` for what other devices can do.
pub(super) fn from_abi(flags: u32) -> Result<Access, Errno> {
    let known = access::LOCAL_WRITE
        | access::REMOTE_WRITE
        | access::REMOTE_READ
        | access::REMOTE_ATOMIC
        | access::MW_BIND
        | access::ZERO_BASED
        | access::ON_DEMAND
        | access::HUGETLB
        | access::FLUSH
        | access::OPTIONAL;
    let remote_change = flags & (access::REMOTE_WRITE | access::REMOTE_ATOMIC) != 0;
    if flags & !known != 0 || remote_change && flags & access::LOCAL_WRITE == 0 {
        return Err(Errno::EINVAL);
    }
    if flags & access::FLUSH != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(rights(flags))
}

/// The rights that a queue pair grants its peer. Linux reads these three flags and ignores all others
/// (`set_qpc_atomic_flags` and `mlx5_ib_modify_dct` in its `hw/mlx5/qp.c`). Receives need no right of the peer.
pub(super) fn of_peer(flags: u32) -> Access {
    Access { local_write: true, ..rights(flags) }
}

fn rights(flags: u32) -> Access {
    Access {
        local_write: flags & access::LOCAL_WRITE != 0,
        remote_write: flags & access::REMOTE_WRITE != 0,
        remote_read: flags & access::REMOTE_READ != 0,
        remote_atomic: flags & access::REMOTE_ATOMIC != 0,
    }
}

/// Whether memory with these flags is pinned for writing, as Linux decides it (`ib_access_writable`): a window that is
/// bound can give further rights.
pub(super) fn are_writable(flags: u32) -> bool {
    flags & (access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_ATOMIC | access::MW_BIND) != 0
}

/// The ABI's flags for the device's rights.
pub(super) fn to_abi(rights: Access) -> u32 {
    let flags = [
        (rights.local_write, access::LOCAL_WRITE),
        (rights.remote_write, access::REMOTE_WRITE),
        (rights.remote_read, access::REMOTE_READ),
        (rights.remote_atomic, access::REMOTE_ATOMIC),
    ];
    flags.into_iter().filter_map(|(granted, flag)| granted.then_some(flag)).sum()
}
