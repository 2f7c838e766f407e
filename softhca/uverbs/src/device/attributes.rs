//! The limits of a device, as a kernel driver reports them, from the firmware's general capabilities. Linux' own driver
//! gets the same answers of the device, so this file computes as it does (`drivers/infiniband/hw/mlx5/main.c`,
//! `mlx5_ib_query_device`).

use crate::abi::mailbox::Field;
use crate::abi::mlx5::{
    CQE_RES_FORMAT_CSUM, CQE_RES_FORMAT_CSUM_STRIDX, CQE_RES_FORMAT_HASH, DEVICE_CQE_128B_COMP, DEVICE_OOO_DP,
};

/// Of `cmd_hca_cap`.
mod cap {
    crate::abi::mailbox::fields! {
        pub(super) LOG_MAX_SRQ_SZ: 0x80, 8 = "cmd_hca_cap.log_max_srq_sz";
        pub(super) LOG_MAX_QP_SZ: 0x88, 8 = "cmd_hca_cap.log_max_qp_sz";
        pub(super) LOG_MAX_QP: 0x9b, 5 = "cmd_hca_cap.log_max_qp";
        pub(super) LOG_MAX_SRQ: 0xab, 5 = "cmd_hca_cap.log_max_srq";
        pub(super) LOG_MAX_CQ_SZ: 0xc8, 8 = "cmd_hca_cap.log_max_cq_sz";
        pub(super) LOG_MAX_CQ: 0xdb, 5 = "cmd_hca_cap.log_max_cq";
        pub(super) LOG_MAX_MKEY: 0xea, 6 = "cmd_hca_cap.log_max_mkey";
        pub(super) LOG_MAX_RA_REQ_QP: 0x14a, 6 = "cmd_hca_cap.log_max_ra_req_qp";
        pub(super) LOG_MAX_RA_RES_QP: 0x15a, 6 = "cmd_hca_cap.log_max_ra_res_qp";
        pub(super) PKEY_TABLE_SIZE: 0x190, 16 = "cmd_hca_cap.pkey_table_size";
        pub(super) LOCAL_CA_ACK_DELAY: 0x1ab, 5 = "cmd_hca_cap.local_ca_ack_delay";
        pub(super) UMR_MODIFY_ENTITY_SIZE_DISABLED: 0x207, 1 = "cmd_hca_cap.umr_modify_entity_size_disabled";
        pub(super) ATOMIC: 0x21e, 1 = "cmd_hca_cap.atomic";
        pub(super) QKV: 0x236, 1 = "cmd_hca_cap.qkv";
        pub(super) PKV: 0x237, 1 = "cmd_hca_cap.pkv";
        pub(super) XRC: 0x23c, 1 = "cmd_hca_cap.xrc";
        pub(super) LOG_PG_SZ: 0x258, 8 = "cmd_hca_cap.log_pg_sz";
        pub(super) MAX_WQE_SZ_SQ: 0x290, 16 = "cmd_hca_cap.max_wqe_sz_sq";
        pub(super) MAX_WQE_SZ_RQ: 0x2b0, 16 = "cmd_hca_cap.max_wqe_sz_rq";
        pub(super) MAX_QP_MCG: 0x2e7, 25 = "cmd_hca_cap.max_qp_mcg";
        pub(super) LOG_MAX_MCG: 0x318, 8 = "cmd_hca_cap.log_max_mcg";
        pub(super) LOG_MAX_PD: 0x32b, 5 = "cmd_hca_cap.log_max_pd";
        pub(super) DEVICE_FREQUENCY_KHZ: 0x4e0, 32 = "cmd_hca_cap.device_frequency_khz";
        pub(super) LOG_MAX_DCI_STREAM_CHANNELS: 0x58b, 5 = "cmd_hca_cap.log_max_dci_stream_channels";
        pub(super) LOG_MAX_DCI_ERRORED_STREAMS: 0x593, 5 = "cmd_hca_cap.log_max_dci_errored_streams";
        pub(super) TAG_MATCHING: 0x5f0, 1 = "cmd_hca_cap.tag_matching";
        pub(super) RNDV_OFFLOAD_RC: 0x5f1, 1 = "cmd_hca_cap.rndv_offload_rc";
        pub(super) LOG_TAG_MATCHING_LIST_SZ: 0x5f3, 5 = "cmd_hca_cap.log_tag_matching_list_sz";
        pub(super) MINI_CQE_RESP_STRIDE_INDEX: 0x5bc, 1 = "cmd_hca_cap.mini_cqe_resp_stride_index";
        pub(super) DP_ORDERING_OOO_ALL_RC: 0x334, 1 = "cmd_hca_cap.dp_ordering_ooo_all_rc";
        pub(super) CQE_COMPRESSION_128: 0x5be, 1 = "cmd_hca_cap.cqe_compression_128";
        pub(super) CQE_COMPRESSION: 0x5bf, 1 = "cmd_hca_cap.cqe_compression";
        pub(super) CQE_COMPRESSION_MAX_NUM: 0x5d0, 16 = "cmd_hca_cap.cqe_compression_max_num";
    }
}

/// `enum ib_device_cap_flags`: the flags that Linux sets for every mlx5 device (ports change, are active, have a system
/// image GUID, and RNR NAKs are generated), and those that it sets by capability.
mod flag {
    pub(super) const BAD_PKEY_CNTR: u32 = 1 << 1;
    pub(super) const BAD_QKEY_CNTR: u32 = 1 << 2;
    pub(super) const ALWAYS: u32 = 1 << 5 | 1 << 10 | 1 << 11 | 1 << 12;
    /// Memory windows, also of type 2B, which the uverbs object makes. (Linux has them if the firmware reports
    /// `imaicl`. Its own drivers then also register in another way, so the firmware does not report it.)
    pub(super) const MEM_WINDOWS: u32 = 1 << 17 | 1 << 24;
    pub(super) const XRC: u32 = 1 << 20;
    pub(super) const MEM_MGT_EXTENSIONS: u32 = 1 << 21;
}

/// Bytes of a WQEBB, of a data segment, and of the control and remote address segments before a request's data
/// segments.
const WQEBB: u32 = 64;
const DATA_SEGMENT: u32 = 16;
const RC_OVERHEAD: u32 = 32;
/// Most bytes of a send WQE that Linux reckons with.
const MAX_SQ_WQE: u32 = 512;
/// Bytes of the largest WQE with one data segment that Linux reckons with, as a power of two: an XRC QP's, which
/// registers memory. Each WQE may need this many bytes, in whole WQEBBs.
const MAX_OVERHEAD: u32 = 256;

/// Of tag matching, as Linux has it (`MLX5_TM_MAX_RNDV_MSG_SIZE`, `MLX5_TM_MAX_SGE`, `IB_TM_CAP_RNDV_RC`).
const TM_MAX_RNDV_MSG_SIZE: u32 = 64;
const TM_MAX_SGE: u32 = 1;
const TM_CAP_RNDV_RC: u32 = 1;

/// The limits of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) page_size_cap: u64,
    pub(crate) cap_flags: u32,
    /// `struct mlx5_ib_cqe_comp_caps`: completions of a session, and formats.
    pub(crate) cqe_compression: [u32; 2],
    /// Of `struct mlx5_ib_query_device_resp::flags`.
    pub(crate) cqe_128_compression: u32,
    /// Of the same: the device has it for RC, UC and UD, or for none.
    pub(crate) out_of_order: u32,
    /// `struct mlx5_ib_dci_streams_caps`: log2 of the streams, and of how many may fail.
    pub(crate) dci_streams: [u8; 2],
    /// `struct ib_uverbs_tm_caps`: bytes of the longest announcement, tags, flags, operations, entries of a
    /// buffer; 0.
    pub(crate) tm_caps: [u32; 6],
    pub(crate) max_qp: u32,
    pub(crate) max_qp_wr: u32,
    pub(crate) max_send_sge: u32,
    pub(crate) max_recv_sge: u32,
    pub(crate) max_cq: u32,
    pub(crate) max_cqe: u32,
    pub(crate) max_mr: u32,
    pub(crate) max_mw: u32,
    pub(crate) max_pd: u32,
    pub(crate) max_qp_rd_atom: u32,
    pub(crate) max_qp_init_rd_atom: u32,
    pub(crate) max_srq: u32,
    pub(crate) max_srq_wr: u32,
    pub(crate) atomic_cap: u32,
    pub(crate) max_mcast_grp: u32,
    pub(crate) max_mcast_qp_attach: u32,
    pub(crate) max_pkeys: u16,
    pub(crate) local_ca_ack_delay: u8,
    pub(crate) core_clock_khz: u64,
}

impl Attributes {
    /// By the general capabilities.
    pub(super) fn of(general: &[u8]) -> Self {
        let log = |field: Field| 1_u32.checked_shl(field.get32(general)).unwrap_or(0);
        let has = |field: Field, flag: u32| if field.get(general) != 0 { flag } else { 0 };
        let registers = has(cap::UMR_MODIFY_ENTITY_SIZE_DISABLED, flag::MEM_MGT_EXTENSIONS) == 0;
        Self {
            page_size_cap: u64::from(log(cap::LOG_PG_SZ)).wrapping_neg(),
            cap_flags: flag::ALWAYS
                | has(cap::PKV, flag::BAD_PKEY_CNTR)
                | has(cap::QKV, flag::BAD_QKEY_CNTR)
                | flag::MEM_WINDOWS
                | has(cap::XRC, flag::XRC)
                | if registers { flag::MEM_MGT_EXTENSIONS } else { 0 },
            // As Linux' `mlx5_ib_query_device`.
            cqe_compression: match cap::CQE_COMPRESSION.get(general) {
                0 => [0; 2],
                _ => [
                    cap::CQE_COMPRESSION_MAX_NUM.get32(general),
                    u32::from(CQE_RES_FORMAT_HASH | CQE_RES_FORMAT_CSUM)
                        | has(cap::MINI_CQE_RESP_STRIDE_INDEX, CQE_RES_FORMAT_CSUM_STRIDX.into()),
                ],
            },
            cqe_128_compression: has(cap::CQE_COMPRESSION_128, DEVICE_CQE_128B_COMP),
            out_of_order: has(cap::DP_ORDERING_OOO_ALL_RC, DEVICE_OOO_DP),
            dci_streams: [cap::LOG_MAX_DCI_STREAM_CHANNELS, cap::LOG_MAX_DCI_ERRORED_STREAMS]
                .map(|field| field.get(general) as u8),
            tm_caps: match (cap::TAG_MATCHING.get(general), cap::RNDV_OFFLOAD_RC.get(general)) {
                (0, _) => [0; 6],
                (_, rendezvous) => {
                    let [bytes, flags] = if rendezvous == 0 { [0; 2] } else { [TM_MAX_RNDV_MSG_SIZE, TM_CAP_RNDV_RC] };
                    let tags = log(cap::LOG_TAG_MATCHING_LIST_SZ).saturating_sub(1);
                    [bytes, tags, flags, log(cap::LOG_MAX_QP_SZ), TM_MAX_SGE, 0]
                }
            },
            max_qp: log(cap::LOG_MAX_QP),
            max_qp_wr: log(cap::LOG_MAX_QP_SZ) * WQEBB / MAX_OVERHEAD,
            max_send_sge: (cap::MAX_WQE_SZ_SQ.get32(general).min(MAX_SQ_WQE).saturating_sub(RC_OVERHEAD))
                / DATA_SEGMENT,
            max_recv_sge: cap::MAX_WQE_SZ_RQ.get32(general) / DATA_SEGMENT,
            max_cq: log(cap::LOG_MAX_CQ),
            max_cqe: log(cap::LOG_MAX_CQ_SZ).saturating_sub(1),
            max_mr: log(cap::LOG_MAX_MKEY),
            max_mw: log(cap::LOG_MAX_MKEY),
            max_pd: log(cap::LOG_MAX_PD),
            max_qp_rd_atom: log(cap::LOG_MAX_RA_REQ_QP),
            max_qp_init_rd_atom: log(cap::LOG_MAX_RA_RES_QP),
            max_srq: log(cap::LOG_MAX_SRQ),
            max_srq_wr: log(cap::LOG_MAX_SRQ_SZ).saturating_sub(1),
            // Atomic with respect to other requests through this device (IB_ATOMIC_HCA).
            atomic_cap: has(cap::ATOMIC, 1),
            max_mcast_grp: log(cap::LOG_MAX_MCG),
            max_mcast_qp_attach: cap::MAX_QP_MCG.get32(general),
            // 128 << n entries.
            max_pkeys: 128_u16.checked_shl(cap::PKEY_TABLE_SIZE.get32(general)).unwrap_or(0),
            local_ca_ack_delay: cap::LOCAL_CA_ACK_DELAY.get(general) as u8,
            core_clock_khz: cap::DEVICE_FREQUENCY_KHZ.get(general),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_that_linux_shows() {
        let mut general = vec![0; 0x100];
        for (field, value) in [
            (cap::LOG_MAX_QP, 18),
            (cap::LOG_MAX_QP_SZ, 15),
            (cap::LOG_MAX_SRQ_SZ, 15),
            (cap::MAX_WQE_SZ_SQ, 1024),
            (cap::MAX_WQE_SZ_RQ, 512),
            (cap::LOG_PG_SZ, 12),
            (cap::XRC, 1),
        ] {
            field.set(&mut general, value);
        }
        // As ibv_devinfo showed them in a guest whose kernel, Linux 6.12.107, drove the device.
        let found = Attributes::of(&general);
        assert_eq!((found.max_qp, found.max_qp_wr, found.max_srq_wr), (262_144, 8192, 32_767));
        assert_eq!((found.max_send_sge, found.max_recv_sge), (30, 32));
        assert_eq!(found.page_size_cap, 0xffff_ffff_ffff_f000);
        assert_eq!((found.max_mcast_grp, found.max_mcast_qp_attach, found.max_pkeys), (1, 0, 128));
        assert_eq!(found.cap_flags & !flag::MEM_WINDOWS, 0x0030_1c20);
    }
}
