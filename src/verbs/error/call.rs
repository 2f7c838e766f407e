//! Failed calls, and what to do about them.

use core::fmt;

/// A failed call into libibverbs or libmlx5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The function, as `verbs.h` or `mlx5dv.h` calls it.
    pub call: &'static str,
    /// The error number of `errno.h`.
    pub errno: i32,
}

impl CallError {
    /// The failure that `errno` names.
    pub(crate) fn last(call: &'static str) -> Self {
        Self { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) }
    }

    /// The usual cause of this error of this call, and the remedy.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match (self.call, self.errno) {
            ("ibv_reg_mr_iova2" | "ibv_reg_mr_ex", libc::ENOMEM) => {
                "memory cannot be pinned: raise the locked-memory limit (ulimit -l, or LimitMEMLOCK= of the service)"
            }
            ("ibv_reg_mr_iova2" | "ibv_reg_mr_ex", libc::EFAULT) => "part of the range is not mapped, or is read-only",
            ("ibv_reg_dmabuf_mr" | "mlx5dv_reg_dmabuf_mr", libc::EINVAL) => {
                "the file must be a dma-buf with that many bytes, and the address have its offset into a page"
            }
            ("ibv_alloc_dmah", libc::EINVAL | libc::ENODEV) => {
                "the machine lacks the CPU, or its platform names no cache of it to devices: ask for the hint alone"
            }
            ("ibv_alloc_dm", libc::ENOMEM) => {
                "others have the device's memory: MemoryAttr::max_device_memory is all that there is"
            }
            ("ibv_open_device", libc::EACCES | libc::EPERM) => {
                "no permission to open /dev/infiniband/uverbs*: check its mode or the container's devices"
            }
            ("ibv_query_gid_ex", libc::EINVAL) => "the port's GID table has no such index",
            ("ibv_alloc_td", libc::EOPNOTSUPP | libc::ENOSPC | libc::ENOMEM) => {
                "no doorbell register is left for a thread domain: close queue pairs, or create this one with \
                 build_shared()"
            }
            ("ibv_modify_qp to RTR", libc::EINVAL) => {
                "the path is refused: check the GID index of both sides (RoCE version, VLAN) and the path MTU"
            }
            ("ibv_modify_qp to RTR" | "ibv_create_ah", libc::ETIMEDOUT | libc::ENETUNREACH | libc::EHOSTUNREACH) => {
                "the peer's GID did not resolve to a MAC address: check that the two interfaces reach each other"
            }
            ("ibv_create_counters", libc::EOPNOTSUPP | libc::EPROTONOSUPPORT) => {
                "libmlx5 or the kernel has no counters of flows, which came with Linux 4.18"
            }
            ("ibv_read_counters", libc::EINVAL) => "no rule has these counters now: read them while a rule lives",
            ("ibv_create_flow" | "mlx5dv_create_flow" | "mlx5dv_create_flow_matcher", libc::EPERM) => {
                "a rule for frames needs CAP_NET_RAW: run as root, or give it to the program (setcap cap_net_raw+ep)"
            }
            ("ibv_create_flow", libc::EOPNOTSUPP) => {
                "the device or its kernel driver has no such rules: sniffers need a capability that few devices have, \
                 and ports without Ethernet have no rules"
            }
            ("ibv_create_flow", libc::EINVAL) => {
                "the kernel refused a field or the port: leave fields out one by one to find which"
            }
            ("ibv_create_flow", libc::EEXIST) => {
                "a rule with the same fields and priority has another flow tag or action: remove that rule, or change \
                 the priority of this one"
            }
            ("ibv_create_flow", libc::ENOSPC | libc::ENOMEM) => {
                "the table of this priority is full, or memory is: use fewer different sets of fields, or another \
                 priority"
            }
            ("ibv_create_wq", libc::EINVAL) => {
                "the device has no queues of this length: ask for fewer receives or scatter entries"
            }
            ("ibv_create_wq" | "mlx5dv_create_wq", libc::EOPNOTSUPP) => {
                "the port has no receivers of frames (is its link layer Ethernet?), or the device lacks the clock that \
                 the completion queue asks for: free_running, real_time"
            }
            ("ibv_create_rwq_ind_table", libc::EOPNOTSUPP) => {
                "the port has no receivers of frames: is its link layer Ethernet?"
            }
            ("mlx5dv_create_qp", libc::EOPNOTSUPP) => {
                "the device lacks the clock that a completion queue asks for (free_running, real_time), or both queues \
                 ask for different ones; a receiver of frames needs an Ethernet port"
            }
            ("ibv_create_rwq_ind_table", libc::EINVAL) => "the device has no tables of this length: use fewer queues",
            ("mlx5dv_create_qp", libc::EPERM) => {
                "frames need CAP_NET_RAW: run as root, or give it to the program (setcap cap_net_raw+ep)"
            }
            ("socket", libc::EPERM) => {
                "promiscuous mode needs CAP_NET_RAW: run as root, or give it to the program (setcap cap_net_raw+ep)"
            }
            ("TCP_REPAIR", libc::EPERM) => {
                "delegated sends need CAP_NET_ADMIN: run as root, or give it to the program (setcap cap_net_admin+ep)"
            }
            ("mmap", libc::ENOMEM) => {
                "so much memory cannot be mapped: ask for less, or raise the limit (ulimit -v, vm.overcommit_memory)"
            }
            (_, libc::ENOMEM) => {
                "rings are pinned memory: raise the locked-memory limit (ulimit -l), or ask for shorter queues"
            }
            (_, libc::EBUSY) => "an object made from this one is still in use",
            _ => return None,
        })
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.call, std::io::Error::from_raw_os_error(self.errno))?;
        match self.hint() {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for CallError {}

/// The pointer, or the error that `errno` names if the pointer is null.
pub(crate) fn non_null<T>(call: &'static str, pointer: *mut T) -> Result<core::ptr::NonNull<T>, CallError> {
    core::ptr::NonNull::new(pointer).ok_or_else(|| CallError::last(call))
}

/// The failure of a system call that the standard library reports.
pub(crate) fn failed(call: &'static str, error: &std::io::Error) -> CallError {
    CallError { call, errno: error.raw_os_error().unwrap_or(libc::EIO) }
}

/// Success, or the error number a call returned: most return it, some return -1 and set `errno`.
pub(crate) fn zero(call: &'static str, returned: core::ffi::c_int) -> Result<(), CallError> {
    match returned {
        0 => Ok(()),
        negative if negative < 0 => Err(CallError::last(call)),
        errno => Err(CallError { call, errno }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_values_become_error_numbers() {
        assert_eq!(zero("call", 0), Ok(()));
        assert_eq!(zero("call", libc::EINVAL), Err(CallError { call: "call", errno: libc::EINVAL }));
        // SAFETY: the C library's errno of this thread.
        unsafe { *libc::__errno_location() = libc::ENOSPC };
        assert_eq!(zero("call", -1), Err(CallError { call: "call", errno: libc::ENOSPC }));
        assert_eq!(non_null::<u8>("call", core::ptr::null_mut()), Err(CallError { call: "call", errno: libc::ENOSPC }));
    }
}
