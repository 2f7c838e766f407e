//! The device: setting up a context, and the device's abilities. The figures are those of a ConnectX-5, unless they
//! depend on the software device.

use super::devx::served;
use super::request::Request;
use crate::abi::mlx5::{
    ALLOC_UCONTEXT_CORE_CLOCK, ALLOC_UCONTEXT_DUMP_FILL, ALLOC_UCONTEXT_ECE, ALLOC_UCONTEXT_MKEY_TAG,
    ALLOC_UCONTEXT_REAL_TIME, ALLOC_UCTX_DEVX, AllocUcontextReq, AllocUcontextResp, CLOCK_INFO_V1, DEVICE_SCAT2CQE_DCT,
    DeviceResp, LIB_CAP_DYN_UAR,
};
use crate::abi::{ExQueryDevice, ExQueryDeviceResp, QueryDeviceResp, UHW_IN, UHW_OUT, write};
use crate::context::Context;
use crate::context::uars::{self, StaticUars};
use crate::device::Hca;
use crate::device::limits::{COMP_VECTORS, MAX_QUEUE_WR, MAX_RQ_WQE, MAX_SQ_WQE};
use crate::process::Errno;
use softhca_settings::{self as settings, InlineHeaders};
use std::sync::Arc;
use zerocopy::FromZeros;

/// Scatter/gather entries of a READ (Linux `MLX5_MAX_SGE_RD`).
const MAX_SGE_RD: u32 = 30;

/// On-demand paging (`enum ibv_odp_general_caps`): regions of memory that is not pinned, and one of all of it.
const ODP_SUPPORT: u64 = 1;
const ODP_SUPPORT_IMPLICIT: u64 = 1 << 1;
/// `enum mlx5_user_inline_mode`: the headers that a raw packet's WQE must contain.
const INLINE_MODE_NONE: u8 = 1;
const INLINE_MODE_L2: u8 = 2;
const INLINE_MODE_IP: u8 = 3;
const INLINE_MODE_TCP_UDP: u8 = 4;

/// `GET_CONTEXT`: attributes 0 and 1 are outputs, the rest is the driver's.
pub(crate) fn get_context(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: AllocUcontextReq = request.input(UHW_IN)?;
    if context.answer.get().is_some() {
        // Set up already.
        return Err(Errno::EINVAL);
    }
    if wanted.flags & !ALLOC_UCTX_DEVX != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let hca = &context.hca;
    let has_user = wanted.flags & ALLOC_UCTX_DEVX != 0;
    // Libraries that cannot allocate UARs one by one get theirs with the context.
    let static_uars = hca.settings.static_uars || wanted.lib_caps & LIB_CAP_DYN_UAR == 0;
    let mut tot_bfregs = 0;
    let mut num_dyn_bfregs = 0;
    if wanted.total_num_bfregs == 0 || wanted.num_low_latency_bfregs >= wanted.total_num_bfregs {
        return Err(Errno::EINVAL);
    }
    if has_user {
        context.become_user()?;
    }
    if static_uars {
        let uars = StaticUars::new(
            (hca, context.user()),
            &context.file,
            wanted.total_num_bfregs,
            wanted.num_low_latency_bfregs,
        )
        .inspect_err(|_| context.end_user())?;
        tot_bfregs = uars.registers();
        num_dyn_bfregs = uars::MAX_DYNAMIC_REGISTERS;
        let _ = context.static_uars.set(Arc::new(uars));
    }
    context.show_clock().inspect_err(|_| context.end_user())?;
    let response = AllocUcontextResp {
        qp_tab_size: hca.capabilities.attributes.max_qp,
        // Left out where write combining does not work (`set_ucontext_resp`).
        bf_reg_size: if hca.settings.no_write_combining { 0 } else { uars::REGISTER_BYTES },
        tot_bfregs,
        cache_line_size: 64,
        max_sq_desc_sz: MAX_SQ_WQE,
        max_rq_desc_sz: MAX_RQ_WQE,
        max_send_wqebb: MAX_QUEUE_WR,
        max_recv_wr: MAX_QUEUE_WR,
        max_srq_recv_wr: hca.capabilities.attributes.max_srq_wr + 1,
        num_ports: hca.settings.ports as u16,
        comp_mask: ALLOC_UCONTEXT_CORE_CLOCK
            | ALLOC_UCONTEXT_MKEY_TAG
            | if hca.capabilities.dump_fill_mkey.is_some() { ALLOC_UCONTEXT_DUMP_FILL } else { 0 }
            | if hca.capabilities.ece { ALLOC_UCONTEXT_ECE } else { 0 }
            | if hca.capabilities.real_time { ALLOC_UCONTEXT_REAL_TIME } else { 0 },
        response_length: size_of::<AllocUcontextResp>() as u32,
        cqe_version: wanted.max_cqe_version.min(1),
        // Extended QUERY_DEVICE and CREATE_AH carry a driver's part.
        cmds_supp_uhw: 3,
        eth_min_inline: match hca.settings.inline_headers {
            InlineHeaders::None => INLINE_MODE_NONE,
            InlineHeaders::L2 => INLINE_MODE_L2,
            InlineHeaders::Ip => INLINE_MODE_IP,
            InlineHeaders::TcpUdp => INLINE_MODE_TCP_UDP,
        },
        clock_info_versions: CLOCK_INFO_V1,
        // Of its page.
        hca_core_clock_offset: 0,
        log_uar_size: 12,
        num_uars_per_page: 1,
        num_dyn_bfregs,
        dump_fill_mkey: hca.capabilities.dump_fill_mkey.unwrap_or(0),
        ..FromZeros::new_zeroed()
    };
    let _ = context.answer.set(response);
    context.registry.answer(&response, has_user);
    if has_user {
        context.serve(served::serve);
    }
    put_context(request, UHW_OUT, &response)
}

/// `QUERY_CONTEXT`: attributes as of `GET_CONTEXT`, but for 0x1000, which is the driver's output.
pub(crate) fn query_context(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    put_context(request, 0x1000, context.answer.get().ok_or(Errno::EINVAL)?)
}

fn put_context(request: &Request, driver: u16, response: &AllocUcontextResp) -> Result<(), Errno> {
    request.put_optional(0, &COMP_VECTORS)?;
    // Optional access flags of memory regions are understood (IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS).
    request.put_optional(1, &1_u64)?;
    request.put(driver, response)
}

/// `enum ib_device_cap_flags`.
fn capabilities(hca: &Hca) -> u32 {
    let has = hca.capabilities;
    has.attributes.cap_flags | has.frames.cap_flags
}

fn base(context: &Context) -> QueryDeviceResp {
    let hca = &context.hca;
    let [major, minor, sub_minor] = hca.settings.generation.firmware().map(u64::from);
    let guid = settings::node_guid(hca.settings.number(hca.index)).to_be_bytes();
    let has = hca.capabilities.attributes;
    // All processes on the fabric share the device's QPs, and each has numbers for a part of them.
    let max_qp = has.max_qp.min(hca.queue_numbers);
    QueryDeviceResp {
        fw_ver: major << 32 | minor << 16 | sub_minor,
        node_guid: guid,
        sys_image_guid: guid,
        max_mr_size: u64::MAX,
        page_size_cap: has.page_size_cap,
        vendor_id: settings::VENDOR_ID,
        vendor_part_id: hca.settings.generation.device_id(),
        hw_ver: 0,
        max_qp,
        max_qp_wr: has.max_qp_wr,
        device_cap_flags: capabilities(hca),
        max_sge: has.max_send_sge.min(has.max_recv_sge),
        max_sge_rd: MAX_SGE_RD,
        max_cq: has.max_cq,
        max_cqe: has.max_cqe,
        max_mr: has.max_mr,
        max_mw: has.max_mw,
        max_pd: has.max_pd,
        max_qp_rd_atom: has.max_qp_rd_atom,
        max_res_rd_atom: has.max_qp_rd_atom.wrapping_mul(max_qp),
        max_qp_init_rd_atom: has.max_qp_init_rd_atom,
        atomic_cap: has.atomic_cap,
        max_mcast_grp: has.max_mcast_grp,
        max_mcast_qp_attach: has.max_mcast_qp_attach,
        max_total_mcast_qp_attach: has.max_mcast_grp.wrapping_mul(has.max_mcast_qp_attach),
        max_ah: i32::MAX as u32,
        max_srq: has.max_srq,
        max_srq_wr: has.max_srq_wr,
        // A receive WQE of an SRQ begins with a 16-byte segment that links it.
        max_srq_sge: has.max_recv_sge.saturating_sub(1),
        max_pkeys: has.max_pkeys,
        local_ca_ack_delay: has.local_ca_ack_delay,
        phys_port_cnt: hca.settings.ports as u8,
        ..FromZeros::new_zeroed()
    }
}

/// `QUERY_DEVICE`.
pub(crate) fn query_device(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let _: u64 = request.core_in()?;
    if request.len(write::CORE_OUT) < size_of::<QueryDeviceResp>() {
        return Err(Errno::ENOSPC);
    }
    request.core_out(&base(context))
}

/// Extended `QUERY_DEVICE`.
pub(crate) fn ex_query_device(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let query: ExQueryDevice = request.core_in()?;
    if query.comp_mask != 0 || query.reserved != 0 {
        return Err(Errno::EINVAL);
    }
    let room = request.len(write::CORE_OUT);
    let hca = &context.hca;
    let frames = hca.capabilities.frames;
    let [rc, uc, ud, xrc_odp_caps] = hca.capabilities.on_demand;
    request.core_out(&ExQueryDeviceResp {
        base: base(context),
        response_length: room.min(size_of::<ExQueryDeviceResp>()) as u32,
        odp_general_caps: ODP_SUPPORT | ODP_SUPPORT_IMPLICIT,
        odp_transport_caps: [rc, uc, ud],
        timestamp_mask: i64::MAX as u64,
        hca_core_clock: hca.capabilities.attributes.core_clock_khz,
        device_cap_flags_ex: capabilities(hca).into(),
        rss_caps: frames.rss_caps,
        max_wq_type_rq: frames.max_wq_type_rq,
        raw_packet_caps: frames.raw_packet_caps,
        tm_caps: hca.capabilities.attributes.tm_caps,
        max_cq_moderation_count: u16::MAX,
        max_cq_moderation_period: 4095,
        max_dm_size: hca.capabilities.device_memory,
        xrc_odp_caps,
        ..FromZeros::new_zeroed()
    })?;
    let response = DeviceResp {
        response_length: size_of::<DeviceResp>() as u32,
        flags: DEVICE_SCAT2CQE_DCT
            | hca.capabilities.attributes.cqe_128_compression
            | hca.capabilities.attributes.out_of_order,
        cqe_comp_caps: hca.capabilities.attributes.cqe_compression,
        tso_caps: frames.tso_caps,
        rss_caps: frames.hash_caps,
        packet_pacing_caps: hca.capabilities.pacing.caps(),
        multi_pkt_send_wqes: frames.multi_packet_wqes,
        sw_parsing_caps: frames.sw_parsing_caps,
        tunnel_offloads_caps: frames.tunnel_offloads,
        striding_rq_caps: frames.striding_rq_caps,
        dci_streams_caps: hca.capabilities.attributes.dci_streams,
        ..FromZeros::new_zeroed()
    };
    request.put_optional(UHW_OUT, &response)
}
