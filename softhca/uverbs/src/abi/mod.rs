//! The uverbs ABI: objects, methods, attributes and write commands with their structures, as the kernel's uapi headers
//! have them (`rdma/rdma_user_ioctl_cmds.h`, `rdma/ib_user_ioctl_cmds.h`, `rdma/ib_user_ioctl_verbs.h`,
//! `rdma/ib_user_verbs.h`). Integers are in the CPU's byte order unless a field says otherwise.
//!
//! This is data only: nothing here is called.
//!
//! The structures leave out the `response` pointer only where a comment says so: commands that come through the
//! `INVOKE_WRITE` method still carry it, unused.

pub(crate) mod frames;
pub(crate) mod mailbox;
pub(crate) mod mlx5;
mod names;
mod structures;

pub(crate) use names::{command, object};
pub(crate) use structures::*;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `RDMA_VERBS_IOCTL`: `_IOWR(0x1b, 1, struct ib_uverbs_ioctl_hdr)`, whose header has 24 bytes.
pub(crate) const RDMA_VERBS_IOCTL: u64 = 0xc018_1b01;

/// Declares ABI structures: C layout, any bytes valid, no padding (the derives refuse it).
macro_rules! abi {
    ($($(#[$meta:meta])* struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
            #[repr(C)]
            pub(crate) struct $name { $($(#[$field_meta])* pub(crate) $field: $ty,)* }
        )*
    };
}
pub(crate) use abi;

abi! {
    /// `struct ib_uverbs_ioctl_hdr`.
    struct IoctlHdr {
        /// Bytes of header and attributes.
        length: u16,
        object_id: u16,
        method_id: u16,
        num_attrs: u16,
        reserved1: u64,
        driver_id: u32,
        reserved2: u32,
    }

    /// `struct ib_uverbs_attr`.
    struct AttrWire {
        attr_id: u16,
        /// Bytes of a pointed-to or inline value; 0 for handles and file descriptors.
        len: u16,
        flags: u16,
        /// Which variant of an enumeration, in the lower byte.
        attr_data: u16,
        /// Pointer, inline value, handle or file descriptor.
        data: u64,
    }
}

/// `UVERBS_ATTR_F_MANDATORY`.
pub(crate) const ATTR_MANDATORY: u16 = 1;
/// `UVERBS_ATTR_F_VALID_OUTPUT`.
pub(crate) const ATTR_VALID_OUTPUT: u16 = 2;
/// `RDMA_DRIVER_MLX5`.
pub(crate) const DRIVER_MLX5: u32 = 1;
/// `UVERBS_ATTR_UHW_IN`: the driver's part of a request.
pub(crate) const UHW_IN: u16 = 0x1000;
/// `UVERBS_ATTR_UHW_OUT`: the driver's part of a response.
pub(crate) const UHW_OUT: u16 = 0x1001;

/// `INVOKE_WRITE`'s attributes.
pub(crate) mod write {
    pub(crate) const CORE_IN: u16 = 0;
    pub(crate) const CORE_OUT: u16 = 1;
    pub(crate) const COMMAND: u16 = 2;
}

/// Asynchronous event types (`enum ib_event_type`).
pub(crate) mod async_event {
    pub(crate) const CQ_ERR: u32 = 0;
    pub(crate) const QP_FATAL: u32 = 1;
    pub(crate) const QP_REQ_ERR: u32 = 2;
    pub(crate) const QP_ACCESS_ERR: u32 = 3;
    pub(crate) const COMM_EST: u32 = 4;
    pub(crate) const SQ_DRAINED: u32 = 5;
    pub(crate) const DEVICE_FATAL: u32 = 8;
    pub(crate) const PORT_ACTIVE: u32 = 9;
    pub(crate) const PORT_ERR: u32 = 10;
    pub(crate) const SRQ_ERR: u32 = 14;
    pub(crate) const SRQ_LIMIT_REACHED: u32 = 15;
    pub(crate) const QP_LAST_WQE_REACHED: u32 = 16;
    pub(crate) const WQ_FATAL: u32 = 19;
}

/// Access flags (`enum ib_uverbs_access_flags`).
pub(crate) mod access {
    pub(crate) const LOCAL_WRITE: u32 = 1;
    pub(crate) const REMOTE_WRITE: u32 = 1 << 1;
    pub(crate) const REMOTE_READ: u32 = 1 << 2;
    pub(crate) const REMOTE_ATOMIC: u32 = 1 << 3;
    pub(crate) const MW_BIND: u32 = 1 << 4;
    pub(crate) const ZERO_BASED: u32 = 1 << 5;
    pub(crate) const ON_DEMAND: u32 = 1 << 6;
    pub(crate) const HUGETLB: u32 = 1 << 7;
    /// Placement of what FLUSH requests flush: global, persistent.
    pub(crate) const FLUSH: u32 = 3 << 8;
    /// The only hint with a name.
    pub(crate) const RELAXED_ORDERING: u32 = 1 << 20;
    /// Hints, which a device may ignore (`IB_UVERBS_ACCESS_OPTIONAL_RANGE`).
    pub(crate) const OPTIONAL: u32 = 0x3ff0_0000;
}

/// Attribute mask bits (`enum ib_qp_attr_mask`).
pub(crate) mod qp_attr {
    pub(crate) const STATE: u32 = 1;
    pub(crate) const CUR_STATE: u32 = 1 << 1;
    pub(crate) const EN_SQD_ASYNC_NOTIFY: u32 = 1 << 2;
    pub(crate) const ACCESS_FLAGS: u32 = 1 << 3;
    pub(crate) const PKEY_INDEX: u32 = 1 << 4;
    pub(crate) const PORT: u32 = 1 << 5;
    pub(crate) const QKEY: u32 = 1 << 6;
    pub(crate) const AV: u32 = 1 << 7;
    pub(crate) const PATH_MTU: u32 = 1 << 8;
    pub(crate) const TIMEOUT: u32 = 1 << 9;
    pub(crate) const RETRY_CNT: u32 = 1 << 10;
    pub(crate) const RNR_RETRY: u32 = 1 << 11;
    pub(crate) const RQ_PSN: u32 = 1 << 12;
    pub(crate) const MAX_QP_RD_ATOMIC: u32 = 1 << 13;
    pub(crate) const MIN_RNR_TIMER: u32 = 1 << 15;
    pub(crate) const SQ_PSN: u32 = 1 << 16;
    pub(crate) const MAX_DEST_RD_ATOMIC: u32 = 1 << 17;
    pub(crate) const PATH_MIG_STATE: u32 = 1 << 18;
    pub(crate) const DEST_QPN: u32 = 1 << 20;
    /// Of extended requests.
    pub(crate) const RATE_LIMIT: u32 = 1 << 25;
    /// The attributes that can change. Alternate paths and their migration cannot; rate limits are apart.
    pub(crate) const KNOWN: u32 =
        ((MAX_QP_RD_ATOMIC << 1) - 1) | MIN_RNR_TIMER | SQ_PSN | MAX_DEST_RD_ATOMIC | PATH_MIG_STATE | DEST_QPN;
}
