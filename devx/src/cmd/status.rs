//! The firmware's status of a command.

use crate::mailbox::names;

names! {
    /// The first byte of each outbox: `MLX5_CMD_STAT_*` of Linux' `include/linux/mlx5/device.h`.
    pub struct Status(u8) {
        OK = 0x0,
        INT_ERR = 0x1,
        BAD_OP_ERR = 0x2,
        BAD_PARAM_ERR = 0x3,
        BAD_SYS_STATE_ERR = 0x4,
        BAD_RES_ERR = 0x5,
        RES_BUSY = 0x6,
        NOT_READY = 0x7,
        LIM_ERR = 0x8,
        BAD_RES_STATE_ERR = 0x9,
        IX_ERR = 0xa,
        NO_RES_ERR = 0xf,
        BAD_QP_STATE_ERR = 0x10,
        BAD_PKT_ERR = 0x30,
        BAD_SIZE_OUTS_CQES_ERR = 0x40,
        BAD_INP_LEN_ERR = 0x50,
        BAD_OUTP_LEN_ERR = 0x51,
    }
}

impl Status {
    /// The meaning in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::OK => "done",
            Self::INT_ERR => "internal error",
            Self::BAD_OP_ERR => "unknown or unsupported command",
            Self::BAD_PARAM_ERR => "invalid parameter",
            Self::BAD_SYS_STATE_ERR => "the device is not ready for it",
            Self::BAD_RES_ERR => "no such object",
            Self::RES_BUSY => "object in use",
            Self::NOT_READY => "the firmware is not ready",
            Self::LIM_ERR => "limit exceeded",
            Self::BAD_RES_STATE_ERR => "the object is in the wrong state",
            Self::IX_ERR => "invalid index",
            Self::NO_RES_ERR => "out of resources",
            Self::BAD_QP_STATE_ERR => "the queue pair is in the wrong state",
            Self::BAD_PKT_ERR => "invalid packet",
            Self::BAD_SIZE_OUTS_CQES_ERR => "more completions outstanding than the new size has room for",
            Self::BAD_INP_LEN_ERR => "invalid length of the inbox",
            Self::BAD_OUTP_LEN_ERR => "invalid length of the outbox",
            _ => "unknown status",
        }
    }

    /// The usual cause, and how to fix it.
    #[must_use]
    pub const fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::BAD_OP_ERR => "this firmware does not know the command: look at the capabilities first",
            Self::BAD_PARAM_ERR => "a field has a value that is reserved, or goes beyond a capability",
            Self::BAD_RES_ERR => "an object that the command names does not exist, or is another's",
            Self::RES_BUSY => "something still uses the object: destroy that first",
            Self::NOT_READY => "the firmware is busy with something else: send the command again later",
            Self::LIM_ERR => "more than the device has of it: see its capabilities (log_max_*)",
            Self::BAD_QP_STATE_ERR => "the queue pair is in a state from which this cannot be done",
            Self::NO_RES_ERR => "the device has no more of these, or no memory for it",
            _ => return None,
        })
    }
}
