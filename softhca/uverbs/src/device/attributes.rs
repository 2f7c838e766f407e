//! The limits of a device, as a kernel driver reports them, from the firmware's general capabilities. Linux' own driver
//! gets the same answers of the device, so this file computes as it does (`drivers/infiniband/hw/mlx5/main.c`,
//! `mlx5_ib_query_device`).

use crate::abi::mailbox::{Field, field};
use crate::abi::mlx5::{CQE_RES_FORMAT_CSUM, CQE_RES_FORMAT_CSUM_STRIDX, CQE_RES_FORMAT_HASH, DEVICE_CQE_128B_COMP};

/// Of `cmd_hca_cap`.
mod cap {
    use super::{Field, field};

    pub(super) const LOG_MAX_SRQ_SZ: Field = field(0x80, 8);
    pub(super) const LOG_MAX_QP_SZ: Field = field(0x88, 8);
    pub(super) const LOG_MAX_QP: Field = field(0x9b, 5);
    pub(super) const LOG_MAX_SRQ: Field = field(0xab, 5);
    pub(super) const LOG_MAX_CQ_SZ: Field = field(0xc8, 8);
    pub(super) const LOG_MAX_CQ: Field = field(0xdb, 5);
    pub(super) const LOG_MAX_MKEY: Field = field(0xea, 6);
    pub(super) const LOG_MAX_RA_REQ_QP: Field = field(0x14a, 6);
    pub(super) const LOG_MAX_RA_RES_QP: Field = field(0x15a, 6);
    pub(super) const PKEY_TABLE_SIZE: Field = field(0x190, 16);
    pub(super) const LOCAL_CA_ACK_DELAY: Field = field(0x1ab, 5);
    pub(super) const UMR_MODIFY_ENTITY_SIZE_DISABLED: Field = field(0x207, 1);
    pub(super) const ATOMIC: Field = field(0x21e, 1);
    pub(super) const QKV: Field = field(0x236, 1);
    pub(super) const PKV: Field = field(0x237, 1);
    pub(super) const XRC: Field = field(0x23c, 1);
    pub(super) const LOG_PG_SZ: Field = field(0x258, 8);
    pub(super) const MAX_WQE_SZ_SQ: Field = field(0x290, 16);
    pub(super) const MAX_WQE_SZ_RQ: Field = field(0x2b0, 16);
    pub(super) const MAX_QP_MCG: Field = field(0x2e7, 25);
    pub(super) const LOG_MAX_MCG: Field = field(0x318, 8);
    pub(super) const LOG_MAX_PD: Field = field(0x32b, 5);
    pub(super) const DEVICE_FREQUENCY_KHZ: Field = field(0x4e0, 32);
    pub(super) const LOG_MAX_DCI_STREAM_CHANNELS: Field = field(0x58b, 5);
    pub(super) const LOG_MAX_DCI_ERRORED_STREAMS: Field = field(0x593, 5);
    pub(super) const TAG_MATCHING: Field = field(0x5f0, 1);
    pub(super) const RNDV_OFFLOAD_RC: Field = field(0x5f1, 1);
    pub(super) const LOG_TAG_MATCHING_LIST_SZ: Field = field(0x5f3, 5);
    pub(super) const MINI_CQE_RESP_STRIDE_INDEX: Field = field(0x5bc, 1);
    pub(super) const CQE_COMPRESSION_128: Field = field(0x5be, 1);
    pub(super) const CQE_COMPRESSION: Field = field(0x5bf, 1);
    pub(super) const CQE_COMPRESSION_MAX_NUM: Field = field(0x5d0, 16);
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
    use crate::abi::mailbox::linux::known;

    #[test]
    fn capabilities_are_where_linux_has_them() {
        let fields = [
            ("log_max_srq_sz", cap::LOG_MAX_SRQ_SZ),
            ("log_max_qp_sz", cap::LOG_MAX_QP_SZ),
            ("log_max_qp", cap::LOG_MAX_QP),
            ("log_max_srq", cap::LOG_MAX_SRQ),
            ("log_max_cq_sz", cap::LOG_MAX_CQ_SZ),
            ("log_max_cq", cap::LOG_MAX_CQ),
            ("log_max_mkey", cap::LOG_MAX_MKEY),
            ("log_max_ra_req_qp", cap::LOG_MAX_RA_REQ_QP),
            ("log_max_ra_res_qp", cap::LOG_MAX_RA_RES_QP),
            ("pkey_table_size", cap::PKEY_TABLE_SIZE),
            ("local_ca_ack_delay", cap::LOCAL_CA_ACK_DELAY),
            ("umr_modify_entity_size_disabled", cap::UMR_MODIFY_ENTITY_SIZE_DISABLED),
            ("atomic", cap::ATOMIC),
            ("qkv", cap::QKV),
            ("pkv", cap::PKV),
            ("xrc", cap::XRC),
            ("log_pg_sz", cap::LOG_PG_SZ),
            ("max_wqe_sz_sq", cap::MAX_WQE_SZ_SQ),
            ("max_wqe_sz_rq", cap::MAX_WQE_SZ_RQ),
            ("max_qp_mcg", cap::MAX_QP_MCG),
            ("log_max_mcg", cap::LOG_MAX_MCG),
            ("log_max_pd", cap::LOG_MAX_PD),
            ("device_frequency_khz", cap::DEVICE_FREQUENCY_KHZ),
            ("log_max_dci_stream_channels", cap::LOG_MAX_DCI_STREAM_CHANNELS),
            ("tag_matching", cap::TAG_MATCHING),
            ("rndv_offload_rc", cap::RNDV_OFFLOAD_RC),
            ("log_tag_matching_list_sz", cap::LOG_TAG_MATCHING_LIST_SZ),
            ("log_max_dci_errored_streams", cap::LOG_MAX_DCI_ERRORED_STREAMS),
        ];
        for (name, field) in fields {
            assert_eq!(field, known(&format!("cmd_hca_cap.{name}")), "{name}");
        }
    }

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
