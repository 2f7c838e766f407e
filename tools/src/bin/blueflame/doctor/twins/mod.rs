//! Twin queues: the same requests through libmlx5 and through this crate must leave the same bytes in their rings.

mod compare;
mod keys;
mod pair;
mod request;
mod transports;
mod twin;
mod wraps;

use super::check::Check;
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "twins.rc",
        title: "RC: WQEs, receives and doorbell records are those of ibv_post_send, ibv_wr_* and ibv_post_recv",
        fault: "This crate encodes a request otherwise than the libmlx5 of this machine. The text has the first byte. \
                Report it with the release of rdma-core.",
        needs: &[Need::Link, Need::Address],
        run: transports::rc,
    },
    Check {
        id: "twins.ud",
        title: "UD: WQEs with the address of a handle are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address],
        run: transports::ud,
    },
    Check {
        id: "twins.xrc",
        title: "XRC: WQEs that name a shared receive queue are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address, Need::Xrc],
        run: transports::xrc,
    },
    Check {
        id: "twins.dc",
        title: "DC: WQEs with the address of a target are those of mlx5dv_wr_set_dc_addr",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address, Need::Dynamic],
        run: transports::dc,
    },
    Check {
        id: "twins.frames",
        title: "raw frames: WQEs are those of ibv_post_send and ibv_wr_*",
        fault: "As twins.rc.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw],
        run: transports::frames,
    },
    Check {
        id: "twins.keys",
        title: "indirect keys: WQEs that configure them are those of mlx5dv_wr_mr_list",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address],
        run: keys::keys,
    },
    Check {
        id: "twins.wraps",
        title: "RC: WQEs that wrap after each WQEBB, until the index of 16 bits begins again, with CQEs of 64 bytes",
        fault: "At the end of a ring, this crate writes or reads elsewhere than libmlx5. The text has the request.",
        needs: &[Need::Link, Need::Address],
        run: wraps::wraps,
    },
    Check {
        id: "twins.wraps_wide",
        title: "RC: WQEs that wrap after each WQEBB, with CQEs of 128 bytes",
        fault: "As twins.wraps.",
        needs: &[Need::Link, Need::Address, Need::WideCqes],
        run: wraps::wide,
    },
];
