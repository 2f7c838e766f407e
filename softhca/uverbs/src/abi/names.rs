//! The names of requests in the uverbs ABI: objects, and write commands (`rdma/ib_user_ioctl_cmds.h`,
//! `rdma/mlx5_user_ioctl_cmds.h`, `rdma/ib_user_verbs.h`).

/// `enum uverbs_default_objects`, and `enum mlx5_ib_objects` from 0x1000.
pub(crate) mod object {
    pub(crate) const DEVICE: u16 = 0;
    pub(crate) const PD: u16 = 1;
    pub(crate) const CQ: u16 = 3;
    pub(crate) const QP: u16 = 4;
    pub(crate) const SRQ: u16 = 5;
    pub(crate) const AH: u16 = 6;
    pub(crate) const MR: u16 = 7;
    pub(crate) const MW: u16 = 8;
    pub(crate) const FLOW: u16 = 9;
    pub(crate) const XRCD: u16 = 0xa;
    pub(crate) const RWQ_IND_TBL: u16 = 0xb;
    pub(crate) const WQ: u16 = 0xc;
    pub(crate) const DM: u16 = 0xe;
    pub(crate) const COUNTERS: u16 = 0xf;
    pub(crate) const ASYNC_EVENT: u16 = 0x10;
    pub(crate) const MLX5_DEVX: u16 = 0x1000;
    pub(crate) const MLX5_DEVX_OBJ: u16 = 0x1001;
    pub(crate) const MLX5_DEVX_UMEM: u16 = 0x1002;
    pub(crate) const MLX5_DEVX_ASYNC_CMD_FD: u16 = 0x1004;
    pub(crate) const MLX5_DEVX_ASYNC_EVENT_FD: u16 = 0x1005;
    pub(crate) const MLX5_FLOW_MATCHER: u16 = 0x1003;
    pub(crate) const MLX5_PP: u16 = 0x1007;
    pub(crate) const MLX5_UAR: u16 = 0x1008;

    /// Names of all objects, for messages.
    pub(crate) fn name(id: u16) -> &'static str {
        const CORE: [&str; 17] = [
            "DEVICE",
            "PD",
            "COMP_CHANNEL",
            "CQ",
            "QP",
            "SRQ",
            "AH",
            "MR",
            "MW",
            "FLOW",
            "XRCD",
            "RWQ_IND_TBL",
            "WQ",
            "FLOW_ACTION",
            "DM",
            "COUNTERS",
            "ASYNC_EVENT",
        ];
        const MLX5: [&str; 10] = [
            "DEVX",
            "DEVX_OBJ",
            "DEVX_UMEM",
            "FLOW_MATCHER",
            "DEVX_ASYNC_CMD_FD",
            "DEVX_ASYNC_EVENT_FD",
            "VAR",
            "PP",
            "UAR",
            "STEERING_ANCHOR",
        ];
        let table: &[&str] = if id < 0x1000 { &CORE } else { &MLX5 };
        table.get(usize::from(id & 0xfff)).copied().unwrap_or("unknown object")
    }
}

/// Write commands (`enum ib_uverbs_write_cmds`); `EX` marks the extended ones.
pub(crate) mod command {
    pub(crate) const EX: u32 = 0x8000_0000;
    /// The bits that identify a command: its number (`IB_USER_VERBS_CMD_COMMAND_MASK`), and this mark.
    pub(crate) const BITS: u32 = EX | 0xff;
    pub(crate) const QUERY_DEVICE: u32 = 1;
    pub(crate) const QUERY_PORT: u32 = 2;
    pub(crate) const ALLOC_PD: u32 = 3;
    pub(crate) const DEALLOC_PD: u32 = 4;
    pub(crate) const CREATE_AH: u32 = 5;
    pub(crate) const DESTROY_AH: u32 = 8;
    pub(crate) const REG_MR: u32 = 9;
    pub(crate) const REREG_MR: u32 = 11;
    pub(crate) const DEREG_MR: u32 = 13;
    pub(crate) const ALLOC_MW: u32 = 14;
    pub(crate) const DEALLOC_MW: u32 = 16;
    pub(crate) const CREATE_COMP_CHANNEL: u32 = 17;
    pub(crate) const RESIZE_CQ: u32 = 19;
    pub(crate) const DESTROY_CQ: u32 = 20;
    pub(crate) const QUERY_QP: u32 = 25;
    pub(crate) const MODIFY_QP: u32 = 26;
    pub(crate) const DESTROY_QP: u32 = 27;
    pub(crate) const ATTACH_MCAST: u32 = 30;
    pub(crate) const DETACH_MCAST: u32 = 31;
    pub(crate) const MODIFY_SRQ: u32 = 33;
    pub(crate) const QUERY_SRQ: u32 = 34;
    pub(crate) const DESTROY_SRQ: u32 = 35;
    pub(crate) const OPEN_XRCD: u32 = 37;
    pub(crate) const CLOSE_XRCD: u32 = 38;
    pub(crate) const OPEN_QP: u32 = 40;
    pub(crate) const EX_QUERY_DEVICE: u32 = EX | 1;
    pub(crate) const EX_MODIFY_QP: u32 = EX | 26;
    pub(crate) const EX_CREATE_FLOW: u32 = EX | 50;
    pub(crate) const EX_DESTROY_FLOW: u32 = EX | 51;
    pub(crate) const EX_CREATE_WQ: u32 = EX | 52;
    pub(crate) const EX_MODIFY_WQ: u32 = EX | 53;
    pub(crate) const EX_DESTROY_WQ: u32 = EX | 54;
    pub(crate) const EX_CREATE_RWQ_IND_TBL: u32 = EX | 55;
    pub(crate) const EX_DESTROY_RWQ_IND_TBL: u32 = EX | 56;
    pub(crate) const EX_MODIFY_CQ: u32 = EX | 57;

    /// Names of all commands, for messages.
    pub(crate) fn name(number: u32) -> &'static str {
        const PLAIN: [&str; 41] = [
            "GET_CONTEXT",
            "QUERY_DEVICE",
            "QUERY_PORT",
            "ALLOC_PD",
            "DEALLOC_PD",
            "CREATE_AH",
            "MODIFY_AH",
            "QUERY_AH",
            "DESTROY_AH",
            "REG_MR",
            "REG_SMR",
            "REREG_MR",
            "QUERY_MR",
            "DEREG_MR",
            "ALLOC_MW",
            "BIND_MW",
            "DEALLOC_MW",
            "CREATE_COMP_CHANNEL",
            "CREATE_CQ",
            "RESIZE_CQ",
            "DESTROY_CQ",
            "POLL_CQ",
            "PEEK_CQ",
            "REQ_NOTIFY_CQ",
            "CREATE_QP",
            "QUERY_QP",
            "MODIFY_QP",
            "DESTROY_QP",
            "POST_SEND",
            "POST_RECV",
            "ATTACH_MCAST",
            "DETACH_MCAST",
            "CREATE_SRQ",
            "MODIFY_SRQ",
            "QUERY_SRQ",
            "DESTROY_SRQ",
            "POST_SRQ_RECV",
            "OPEN_XRCD",
            "CLOSE_XRCD",
            "CREATE_XSRQ",
            "OPEN_QP",
        ];
        const FROM_50: [&str; 8] = [
            "CREATE_FLOW",
            "DESTROY_FLOW",
            "CREATE_WQ",
            "MODIFY_WQ",
            "DESTROY_WQ",
            "CREATE_RWQ_IND_TBL",
            "DESTROY_RWQ_IND_TBL",
            "MODIFY_CQ",
        ];
        let index = (number & 0xff) as usize;
        match index.checked_sub(50) {
            Some(index) => FROM_50.get(index),
            None => PLAIN.get(index),
        }
        .copied()
        .unwrap_or("unknown command")
    }
}
