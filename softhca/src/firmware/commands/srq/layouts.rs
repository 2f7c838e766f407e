//! Layouts of the commands on shared receive queues of all kinds.

use crate::firmware::commands::work_queue::wq;
use crate::firmware::layout::{layout, mailboxes};

layout! {
    /// Receive memory pool context.
    rmpc: 0xf0 bytes {
        STATE: 0x8, 4;
        BASIC_CYCLIC_RCV_WQE: 0x20, 1;
    } parts {
        WQ: 0x180, wq;
    }
}
layout! {
    /// The list of tags of an extended receive queue.
    tag_matching_topology_context: 0x10 bytes {
        LOG_MATCHING_LIST_SZ: 0x0, 4;
        APPEND_NEXT_INDEX: 0x10, 16;
        SW_PHASE_CNT: 0x20, 16;
        HW_PHASE_CNT: 0x30, 16;
    }
}
layout! {
    /// Extended receive queue context.
    xrqc: 0x140 bytes {
        STATE: 0x0, 4;
        RLKEY: 0x4, 1;
        TOPOLOGY: 0x14, 4;
        OFFLOAD: 0x1c, 4;
        USER_INDEX: 0x28, 24;
        CQN: 0x48, 24;
        DC: 0x7f, 1;
    } parts {
        TAG_MATCHING_TOPOLOGY_CONTEXT: 0x100, tag_matching_topology_context;
        WQ: 0x400, wq;
    }
}
layout! {
    /// Shared receive queue context.
    srqc: 0x40 bytes {
        STATE: 0x0, 4;
        LOG_SRQ_SIZE: 0x4, 4;
        WQ_SIGNATURE: 0x20, 1;
        CONT_SRQ: 0x21, 1;
        RLKY: 0x23, 1;
        LOG_RQ_STRIDE: 0x25, 3;
        XRCD: 0x28, 24;
        PAGE_OFFSET: 0x40, 6;
        CQN: 0x48, 24;
        LOG_PAGE_SIZE: 0x82, 6;
        PD: 0xc8, 24;
        LWM: 0xe0, 16;
        WQE_CNT: 0xf0, 16;
        DBR_ADDR: 0x140, 64;
    }
}
layout! {
    /// XRC shared receive queue context.
    xrc_srqc: 0x40 bytes {
        STATE: 0x0, 4;
        LOG_XRC_SRQ_SIZE: 0x4, 4;
        WQ_SIGNATURE: 0x20, 1;
        CONT_SRQ: 0x21, 1;
        RLKY: 0x23, 1;
        BASIC_CYCLIC_RCV_WQE: 0x24, 1;
        LOG_RQ_STRIDE: 0x25, 3;
        XRCD: 0x28, 24;
        PAGE_OFFSET: 0x40, 6;
        DBR_UMEM_VALID: 0x47, 1;
        CQN: 0x48, 24;
        USER_INDEX_EQUAL_XRC_SRQN: 0x80, 1;
        LOG_PAGE_SIZE: 0x82, 6;
        USER_INDEX: 0x88, 24;
        PD: 0xc8, 24;
        LWM: 0xe0, 16;
        WQE_CNT: 0xf0, 16;
        DB_RECORD_ADDR_H: 0x140, 32;
        DB_RECORD_ADDR_L: 0x160, 30;
    }
}
layout! {
    /// The fields that a modification of a receive memory pool changes.
    rmp_bitmask: 0x8 bytes {
        LWM: 0x3f, 1;
    }
}
layout! {
    /// `CREATE_RMP`, with the address of each page if its ring lies in no user memory.
    create_rmp_in: 0x110 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    } parts {
        CTX: 0x100, rmpc;
    } list of 8 bytes
}
mailboxes! {
    create_rmp_out: answer { RMPN: 0x48, 24 }
    create_xrq_out: answer { XRQN: 0x48, 24 }
    create_srq_out: answer { SRQN: 0x48, 24 }
    create_xrc_srq_out: answer { XRC_SRQN: 0x48, 24 }
}
layout! {
    /// `MODIFY_RMP`.
    modify_rmp_in: 0x110 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
        RMP_STATE: 0x40, 4;
        RMPN: 0x48, 24;
    } parts {
        BITMASK: 0x80, rmp_bitmask;
        CTX: 0x100, rmpc;
    }
}
layout! {
    /// Output of `QUERY_RMP`.
    query_rmp_out: 0x110 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } parts {
        RMP_CONTEXT: 0x100, rmpc;
    }
}
layout! {
    /// `CREATE_XRQ`, with the address of each page if its ring lies in no user memory.
    create_xrq_in: 0x150 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    } parts {
        XRQ_CONTEXT: 0x80, xrqc;
    } list of 8 bytes
}
layout! {
    /// Output of `QUERY_XRQ`.
    query_xrq_out: 0x150 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } parts {
        XRQ_CONTEXT: 0x80, xrqc;
    }
}
layout! {
    /// `CREATE_SRQ`, with the address of each page.
    create_srq_in: 0x110 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    } parts {
        SRQ_CONTEXT_ENTRY: 0x80, srqc;
    } list of 8 bytes
}
layout! {
    /// Output of `QUERY_SRQ`.
    query_srq_out: 0x110 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } parts {
        SRQ_CONTEXT_ENTRY: 0x80, srqc;
    }
}
layout! {
    /// `CREATE_XRC_SRQ`, with the address of each page.
    create_xrc_srq_in: 0x110 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
        XRC_SRQ_UMEM_VALID: 0x2e0, 1;
    } parts {
        XRC_SRQ_CONTEXT_ENTRY: 0x80, xrc_srqc;
    } list of 8 bytes
}
layout! {
    /// Output of `QUERY_XRC_SRQ`.
    query_xrc_srq_out: 0x110 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    } parts {
        XRC_SRQ_CONTEXT_ENTRY: 0x80, xrc_srqc;
    }
}

/// Commands on one queue that take its number, and others that take a limit as well, are the same but for their names.
macro_rules! on_a_queue {
    ($name:ident, $number:ident $(, $limit:ident: $at:literal)?) => {
        layout! {
            /// A command on one queue.
            $name: 0x10 bytes {
                OPCODE: 0x0, 16;
                UID: 0x10, 16;
                OP_MOD: 0x30, 16;
                $number: 0x48, 24;
                $($limit: $at, 16;)?
            }
        }
    };
    ($name:ident, $number:ident without a user $(, $limit:ident: $at:literal)?) => {
        layout! {
            /// A command on one queue, in whose structure the header leaves the user out.
            $name: 0x10 bytes {
                OPCODE: 0x0, 16;
                OP_MOD: 0x30, 16;
                $number: 0x48, 24;
                $($limit: $at, 16;)?
            }
        }
    };
}
on_a_queue!(destroy_srq_in, SRQN);
on_a_queue!(query_srq_in, SRQN without a user);
on_a_queue!(arm_rq_in, SRQ_NUMBER, LWM: 0x70);
on_a_queue!(destroy_xrc_srq_in, XRC_SRQN);
on_a_queue!(query_xrc_srq_in, XRC_SRQN without a user);
on_a_queue!(arm_xrc_srq_in, XRC_SRQN, LWM: 0x70);
on_a_queue!(destroy_rmp_in, RMPN);
on_a_queue!(query_rmp_in, RMPN without a user);
on_a_queue!(destroy_xrq_in, XRQN);
on_a_queue!(query_xrq_in, XRQN without a user);
on_a_queue!(arm_xrq_in, XRQN without a user, LWM: 0x70);
