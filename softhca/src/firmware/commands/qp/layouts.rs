//! Layouts of the commands on queue pairs.

use crate::firmware::layout::layout;

layout! {
    /// Address path.
    struct ads: 0x2c bytes {
        FL: 0x0, 1;
        FREE_AR: 0x1, 1;
        PKEY_INDEX: 0x10, 16;
        GRH: 0x28, 1;
        MLID: 0x29, 7;
        RLID: 0x30, 16;
        ACK_TIMEOUT: 0x40, 5;
        SRC_ADDR_INDEX: 0x48, 8;
        LOG_RTM: 0x50, 4;
        STAT_RATE: 0x54, 4;
        HOP_LIMIT: 0x58, 8;
        TCLASS: 0x64, 8;
        FLOW_LABEL: 0x6c, 20;
        RGID_RIP: 0x80, 128;
        ECN: 0x108, 2;
        DSCP: 0x10a, 6;
        UDP_SPORT: 0x110, 16;
        DEI_CFI: 0x120, 1;
        ETH_PRIO: 0x121, 3;
        SL: 0x124, 4;
        VHCA_PORT_NUM: 0x128, 8;
        RMAC_47_32: 0x130, 16;
        RMAC_31_0: 0x140, 32;
    }
    /// QP context.
    struct qpc: 0xe8 bytes {
        STATE: 0x0, 4;
        LAG_TX_PORT_AFFINITY: 0x4, 4;
        ST: 0x8, 8;
        PM_STATE: 0x13, 2;
        REQ_E2E_CREDIT_MODE: 0x16, 2;
        OFFLOAD_TYPE: 0x18, 4;
        END_PADDING_MODE: 0x1c, 2;
        WQ_SIGNATURE: 0x20, 1;
        BLOCK_LB_MC: 0x21, 1;
        ATOMIC_LIKE_WRITE_EN: 0x22, 1;
        LATENCY_SENSITIVE: 0x23, 1;
        DRAIN_SIGERR: 0x25, 1;
        DP_ORDERING_0: 0x26, 1;
        DP_ORDERING_FORCE: 0x27, 1;
        PD: 0x28, 24;
        MTU: 0x40, 3;
        LOG_MSG_MAX: 0x43, 5;
        LOG_RQ_SIZE: 0x49, 4;
        LOG_RQ_STRIDE: 0x4d, 3;
        NO_SQ: 0x50, 1;
        LOG_SQ_SIZE: 0x51, 4;
        TS_FORMAT: 0x58, 2;
        DATA_IN_ORDER: 0x5a, 1;
        RLKY: 0x5b, 1;
        ULP_STATELESS_OFFLOAD_MODE: 0x5c, 4;
        COUNTER_SET_ID: 0x60, 8;
        UAR_PAGE: 0x68, 24;
        SEND_DBR_MODE: 0x80, 2;
        FULL_HANDSHAKE: 0x83, 1;
        USER_INDEX: 0x88, 24;
        LOG_PAGE_SIZE: 0xa3, 5;
        REMOTE_QPN: 0xa8, 24;
        LOG_ACK_REQ_FREQ: 0x380, 4;
        LOG_SRA_MAX: 0x388, 3;
        RETRY_COUNT: 0x38d, 3;
        RNR_RETRY: 0x390, 3;
        FRE: 0x394, 1;
        NEXT_SEND_PSN: 0x3c8, 24;
        LOG_NUM_DCI_STREAM_CHANNELS: 0x3e3, 5;
        CQN_SND: 0x3e8, 24;
        LOG_NUM_DCI_ERRORED_STREAMS: 0x403, 5;
        DETH_SQPN: 0x408, 24;
        LAST_ACKED_PSN: 0x448, 24;
        LOG_RRA_MAX: 0x488, 3;
        ATOMIC_MODE: 0x48c, 4;
        RRE: 0x490, 1;
        RWE: 0x491, 1;
        RAE: 0x492, 1;
        PAGE_OFFSET: 0x494, 6;
        DP_ORDERING_1: 0x49c, 1;
        CD_SLAVE_RECEIVE: 0x49d, 1;
        CD_SLAVE_SEND: 0x49e, 1;
        CD_MASTER: 0x49f, 1;
        MIN_RNR_NAK: 0x4a3, 5;
        NEXT_RCV_PSN: 0x4a8, 24;
        XRCD: 0x4c8, 24;
        CQN_RCV: 0x4e8, 24;
        DBR_ADDR: 0x500, 64;
        Q_KEY: 0x540, 32;
        RQ_TYPE: 0x565, 3;
        SRQN_RMPN_XRQN: 0x568, 24;
        RMSN: 0x588, 24;
        HW_SQ_WQEBB_COUNTER: 0x5a0, 16;
        SW_SQ_WQEBB_COUNTER: 0x5b0, 16;
        HW_RQ_COUNTER: 0x5c0, 32;
        SW_RQ_COUNTER: 0x5e0, 32;
        CS_REQ: 0x630, 8;
        CS_RES: 0x638, 8;
        DC_ACCESS_KEY: 0x640, 64;
        DBR_UMEM_VALID: 0x683, 1;
        DBR_UMEM_ID: 0x720, 32;
    } parts { PRIMARY_ADDRESS_PATH: 0xc0, ads; }
    /// Later additions to QP contexts.
    struct qpc_ext: 0xc0 bytes { MMO: 0x2, 1; DCI_STREAM_CHANNEL_ID: 0x10, 16; }
}
layout! {
    /// `CREATE_QP`, with the address of each page if its rings lie in no user memory.
    struct create_qp_in: command 0x110 bytes {
        OPT_PARAM_MASK: 0x80, 32;
        ECE: 0xa0, 32;
        WQ_UMEM_OFFSET: 0x800, 64;
        WQ_UMEM_ID: 0x840, 32;
        WQ_UMEM_VALID: 0x860, 1;
    } parts { QPC: 0xc0, qpc; } list of 8 bytes
    struct create_qp_out: answer { QPN: 0x48, 24; ECE: 0x60, 32; }
    struct destroy_qp_in: command { QPN: 0x48, 24; }
    struct qp_2err_in: command { QPN: 0x48, 24; }
    struct qp_2rst_in: command { QPN: 0x48, 24; }
    struct query_qp_in: query { QPN: 0x48, 24; }
    struct query_qp_out: answer 0x110 bytes {
        OPT_PARAM_MASK: 0x80, 32;
        ECE: 0xa0, 32;
    } parts { QPC: 0xc0, qpc; }
    struct rst2init_qp_out: answer { ECE: 0x60, 32; }
    struct init2init_qp_out: answer { ECE: 0x60, 32; }
    struct init2rtr_qp_out: answer { ECE: 0x60, 32; }
    struct rtr2rts_qp_out: answer { ECE: 0x60, 32; }
    struct rts2rts_qp_out: answer { ECE: 0x60, 32; }
}

/// Transitions have the same mailboxes up to the end of the context, each under a name of its own: with `ECE` or
/// without. Some may go on behind the context.
macro_rules! transition {
    ($name:ident $(, $ece:ident: $at:literal)?) => {
        layout! {
            struct $name: command 0x110 bytes {
                QPN: 0x48, 24;
                OPT_PARAM_MASK: 0x80, 32;
                $($ece: $at, 32;)?
            } parts { QPC: 0xc0, qpc; }
        }
    };
    ($name:ident goes on) => {
        layout! {
            struct $name: command 0x1d0 bytes {
                QPC_EXT: 0x40, 1;
                QPN: 0x48, 24;
                OPT_PARAM_MASK: 0x80, 32;
                ECE: 0xa0, 32;
                OPT_PARAM_MASK_95_32: 0x840, 64;
            } parts {
                QPC: 0xc0, qpc;
                QPC_DATA_EXT: 0x880, qpc_ext;
            }
        }
    };
}
transition!(rst2init_qp_in, ECE: 0xa0);
transition!(init2init_qp_in goes on);
transition!(init2rtr_qp_in, ECE: 0xa0);
transition!(rtr2rts_qp_in, ECE: 0xa0);
transition!(rts2rts_qp_in goes on);
transition!(sqerr2rts_qp_in);
transition!(sqd2rts_qp_in);
