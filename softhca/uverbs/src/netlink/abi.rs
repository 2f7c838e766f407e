//! Numbers of netlink (`linux/netlink.h`) and of its family RDMA (`rdma/rdma_netlink.h`). Lengths are in bytes.

/// Flags of messages.
pub(super) mod flag {
    pub(in super::super) const REQUEST: u16 = 0x1;
    pub(in super::super) const MULTI: u16 = 0x2;
    pub(in super::super) const ACK: u16 = 0x4;
    /// Of requests: `NLM_F_ROOT | NLM_F_MATCH`.
    pub(in super::super) const DUMP: u16 = 0x300;
    /// In acknowledgements: only the header of the request follows.
    pub(in super::super) const CAPPED: u16 = 0x100;
}

/// `struct nlmsghdr`: length, type, flags, sequence number, port.
pub(super) const HEADER_BYTES: usize = 16;
/// `struct nlattr`: length, type.
pub(super) const ATTR_HEADER_BYTES: usize = 4;
/// Types of messages from here on are the families' own (`NLMSG_MIN_TYPE`).
pub(super) const FIRST_TYPE: u16 = 0x10;
pub(super) const NLMSG_ERROR: u16 = 2;
pub(super) const NLMSG_DONE: u16 = 3;
/// Mark of an attribute of attributes.
pub(super) const NLA_F_NESTED: u16 = 1 << 15;
/// Bits of an attribute's type without its marks.
pub(super) const NLA_TYPE_MASK: u16 = !(NLA_F_NESTED | 1 << 14);

/// `RDMA_NL_NLDEV`: the client that knows devices.
const NLDEV: u16 = 5;

/// Types of messages: `RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_…)`.
pub(super) mod command {
    const fn number(op: u16) -> u16 {
        (super::NLDEV << 10) + op
    }
    pub(in super::super) const GET: u16 = number(1);
    pub(in super::super) const PORT_GET: u16 = number(5);
    pub(in super::super) const SYS_GET: u16 = number(6);
    pub(in super::super) const RES_GET: u16 = number(9);
    pub(in super::super) const GET_CHARDEV: u16 = number(15);
}

/// `RDMA_NLDEV_ATTR_…`.
pub(super) mod attr {
    pub(in super::super) const DEV_INDEX: u16 = 1;
    pub(in super::super) const DEV_NAME: u16 = 2;
    /// A port; in descriptions of devices, the number of ports.
    pub(in super::super) const PORT_INDEX: u16 = 3;
    pub(in super::super) const CAP_FLAGS: u16 = 4;
    pub(in super::super) const FW_VERSION: u16 = 5;
    pub(in super::super) const NODE_GUID: u16 = 6;
    pub(in super::super) const SYS_IMAGE_GUID: u16 = 7;
    pub(in super::super) const SUBNET_PREFIX: u16 = 8;
    pub(in super::super) const LID: u16 = 9;
    pub(in super::super) const SM_LID: u16 = 10;
    pub(in super::super) const LMC: u16 = 11;
    pub(in super::super) const PORT_STATE: u16 = 12;
    pub(in super::super) const PORT_PHYS_STATE: u16 = 13;
    pub(in super::super) const DEV_NODE_TYPE: u16 = 14;
    pub(in super::super) const RES_SUMMARY: u16 = 15;
    pub(in super::super) const RES_SUMMARY_ENTRY: u16 = 16;
    pub(in super::super) const RES_SUMMARY_ENTRY_NAME: u16 = 17;
    pub(in super::super) const RES_SUMMARY_ENTRY_CURR: u16 = 18;
    pub(in super::super) const NDEV_INDEX: u16 = 50;
    pub(in super::super) const NDEV_NAME: u16 = 51;
    pub(in super::super) const SYS_NETNS_MODE: u16 = 66;
    pub(in super::super) const DEV_PROTOCOL: u16 = 67;
    pub(in super::super) const CHARDEV_TYPE: u16 = 69;
    pub(in super::super) const CHARDEV_NAME: u16 = 70;
    pub(in super::super) const CHARDEV_ABI: u16 = 71;
    pub(in super::super) const CHARDEV: u16 = 72;
    pub(in super::super) const UVERBS_DRIVER_ID: u16 = 73;
    pub(in super::super) const SYS_COPY_ON_FORK: u16 = 93;
}

/// `RDMA_NODE_IB_CA`.
pub(super) const NODE_CA: u8 = 1;
/// `RDMA_DRIVER_MLX5` (`rdma/ib_user_ioctl_verbs.h`).
pub(super) const DRIVER_MLX5: u32 = 1;
/// Network namespaces share devices, as they do unless an administrator separates them.
pub(super) const NETNS_SHARED: u8 = 1;
