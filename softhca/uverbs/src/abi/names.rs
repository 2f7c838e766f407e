//! The names of requests in the uverbs ABI: objects, and write commands (`rdma/ib_user_ioctl_cmds.h`,
//! `rdma/mlx5_user_ioctl_cmds.h`, `rdma/ib_user_verbs.h`).

/// Numbers with names: a constant for each, and all of them in a table.
macro_rules! numbers {
    ($number:ty: $($name:ident = $value:expr,)*) => {
        $(pub(crate) const $name: $number = $value;)*
        const NAMES: &[($number, &str)] = &[$(($name, stringify!($name))),*];
    };
}

/// `enum uverbs_default_objects`, and `enum mlx5_ib_objects` from 0x1000.
pub(crate) mod object {
    numbers! { u16:
        DEVICE = 0x0,
        PD = 0x1,
        COMP_CHANNEL = 0x2,
        CQ = 0x3,
        QP = 0x4,
        SRQ = 0x5,
        AH = 0x6,
        MR = 0x7,
        MW = 0x8,
        FLOW = 0x9,
        XRCD = 0xa,
        RWQ_IND_TBL = 0xb,
        WQ = 0xc,
        FLOW_ACTION = 0xd,
        DM = 0xe,
        COUNTERS = 0xf,
        ASYNC_EVENT = 0x10,
        DMAH = 0x11,
        MLX5_DEVX = 0x1000,
        MLX5_DEVX_OBJ = 0x1001,
        MLX5_DEVX_UMEM = 0x1002,
        MLX5_FLOW_MATCHER = 0x1003,
        MLX5_DEVX_ASYNC_CMD_FD = 0x1004,
        MLX5_DEVX_ASYNC_EVENT_FD = 0x1005,
        MLX5_VAR = 0x1006,
        MLX5_PP = 0x1007,
        MLX5_UAR = 0x1008,
        MLX5_STEERING_ANCHOR = 0x1009,
    }

    /// Names of all objects, for messages.
    pub(crate) fn name(id: u16) -> &'static str {
        let found = NAMES.iter().find(|(number, _)| *number == id);
        found.map_or("unknown object", |(_, name)| name.trim_start_matches("MLX5_"))
    }
}

/// Write commands (`enum ib_uverbs_write_cmds`); `EX` marks the extended ones.
pub(crate) mod command {
    pub(crate) const EX: u32 = 0x8000_0000;
    /// The bits that identify a command: its number (`IB_USER_VERBS_CMD_COMMAND_MASK`), and this mark.
    pub(crate) const BITS: u32 = EX | 0xff;
    numbers! { u32:
        GET_CONTEXT = 0,
        QUERY_DEVICE = 1,
        QUERY_PORT = 2,
        ALLOC_PD = 3,
        DEALLOC_PD = 4,
        CREATE_AH = 5,
        MODIFY_AH = 6,
        QUERY_AH = 7,
        DESTROY_AH = 8,
        REG_MR = 9,
        REG_SMR = 10,
        REREG_MR = 11,
        QUERY_MR = 12,
        DEREG_MR = 13,
        ALLOC_MW = 14,
        BIND_MW = 15,
        DEALLOC_MW = 16,
        CREATE_COMP_CHANNEL = 17,
        CREATE_CQ = 18,
        RESIZE_CQ = 19,
        DESTROY_CQ = 20,
        POLL_CQ = 21,
        PEEK_CQ = 22,
        REQ_NOTIFY_CQ = 23,
        CREATE_QP = 24,
        QUERY_QP = 25,
        MODIFY_QP = 26,
        DESTROY_QP = 27,
        POST_SEND = 28,
        POST_RECV = 29,
        ATTACH_MCAST = 30,
        DETACH_MCAST = 31,
        CREATE_SRQ = 32,
        MODIFY_SRQ = 33,
        QUERY_SRQ = 34,
        DESTROY_SRQ = 35,
        POST_SRQ_RECV = 36,
        OPEN_XRCD = 37,
        CLOSE_XRCD = 38,
        CREATE_XSRQ = 39,
        OPEN_QP = 40,
        EX_QUERY_DEVICE = EX | 1,
        EX_MODIFY_QP = EX | 26,
        EX_CREATE_FLOW = EX | 50,
        EX_DESTROY_FLOW = EX | 51,
        EX_CREATE_WQ = EX | 52,
        EX_MODIFY_WQ = EX | 53,
        EX_DESTROY_WQ = EX | 54,
        EX_CREATE_RWQ_IND_TBL = EX | 55,
        EX_DESTROY_RWQ_IND_TBL = EX | 56,
        EX_MODIFY_CQ = EX | 57,
    }

    /// Names of all commands, for messages. An extended one has the name of the plain one with its number.
    pub(crate) fn name(command: u32) -> &'static str {
        let found = NAMES.iter().find(|(number, _)| number & 0xff == command & 0xff);
        found.map_or("unknown command", |(_, name)| name.trim_start_matches("EX_"))
    }
}
