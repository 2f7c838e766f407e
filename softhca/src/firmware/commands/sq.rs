//! Send queues of Ethernet frames.

use super::work_queue::{CYCLIC, check_absent, check_created, state, state_bits, take, timestamp_format, wq};
use crate::context::{CrossChannel, InlineHeaders, QueueState, SqContext};
use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::{InlineMode, MAX_STATIC_SQ_LOG, has_clock_queues, inline_mode};
use crate::firmware::layout::{Field, View, ViewMut, layout};
use crate::firmware::status::Refusal;
use crate::nic::SendQueueContext;

layout! {
    /// SQ context.
    struct sqc: 0xf0 bytes {
        RLKY: 0x0, 1;
        CD_MASTER: 0x1, 1;
        FRE: 0x2, 1;
        FLUSH_IN_ERROR_EN: 0x3, 1;
        ALLOW_MULTI_PKT_SEND_WQE: 0x4, 1;
        MIN_WQE_INLINE_MODE: 0x5, 3;
        STATE: 0x8, 4;
        REG_UMR: 0xc, 1;
        ALLOW_SWP: 0xd, 1;
        HAIRPIN: 0xe, 1;
        NON_WIRE: 0xf, 1;
        STATIC_SQ_WQ: 0x10, 1;
        TS_FORMAT: 0x1a, 2;
        USER_INDEX: 0x28, 24;
        CQN: 0x48, 24;
        HAIRPIN_PEER_RQ: 0x68, 24;
        HAIRPIN_PEER_VHCA: 0x90, 16;
        TS_CQE_TO_DEST_CQN: 0xc8, 24;
        PACKET_PACING_RATE_LIMIT_INDEX: 0xf0, 16;
        TIS_LST_SZ: 0x100, 16;
        QOS_QUEUE_GROUP_ID: 0x110, 16;
        TIS_NUM_0: 0x168, 24;
    } parts { WQ: 0x180, wq; }
    /// `CREATE_SQ`, with the address of each page of its ring if that lies in no user memory.
    struct create_sq_in: command 0x110 bytes {} parts { CTX: 0x100, sqc; } list of 8 bytes
    struct create_sq_out: answer { SQN: 0x48, 24; }
    struct destroy_sq_in: command { SQN: 0x48, 24; }
    struct query_sq_in: query { SQN: 0x48, 24; }
    struct modify_sq_in: command 0x110 bytes {
        SQ_STATE: 0x40, 4;
        SQN: 0x48, 24;
        MODIFY_BITMASK: 0x80, 64;
    } parts { CTX: 0x100, sqc; }
    struct query_sq_out: answer 0x110 bytes {} parts { SQ_CONTEXT: 0x100, sqc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x904, "CREATE_SQ", create_sq_in, create_sq_out, create),
    command!(0x905, "MODIFY_SQ", modify_sq_in, bare_out, modify),
    command!(0x906, "DESTROY_SQ", destroy_sq_in, bare_out, destroy),
    command!(0x907, "QUERY_SQ", query_sq_in, query_sq_out, query),
];

/// Features that no SQ has here, as the capabilities say.
const ABSENT: [(Field, &str); 8] = [
    (sqc::RLKY, "reserved keys"),
    (sqc::FRE, "fast registration WQEs"),
    (sqc::REG_UMR, "UMR WQEs on an SQ"),
    (sqc::HAIRPIN, "hairpin"),
    (sqc::HAIRPIN_PEER_RQ, "hairpin"),
    (sqc::HAIRPIN_PEER_VHCA, "hairpin"),
    (sqc::TS_CQE_TO_DEST_CQN, "timestamps on another CQ"),
    (sqc::QOS_QUEUE_GROUP_ID, "queue groups"),
];

/// Of a queue that only ticks, on devices that have such: it executes the same NOPs again and again, and sends nothing
/// (DPDK `drivers/net/mlx5/mlx5_txpp.c`, `mlx5_txpp_create_clock_queue`).
const CLOCK_QUEUE: [(Field, &str); 2] =
    [(sqc::NON_WIRE, "queues that reach no wire"), (sqc::STATIC_SQ_WQ, "rings whose WQEs stay")];

/// Bit of `modify_bitmask` for the rate (Linux `include/linux/mlx5/mlx5_ifc.h`,
/// `MLX5_MODIFY_SQ_IN_MODIFY_BITMASK_PACKET_PACING_RATE_LIMIT_INDEX`).
const MODIFY_RATE: u64 = 1 << 0;

/// log2 of the bytes of a WQEBB, of which an SQ's ring consists.
const LOG_WQEBB: u8 = 6;
/// Bytes of the doorbell record, of which the second word is an SQ's.
const RECORD_BYTES: u64 = 8;

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_raw_tx()?;
    let view = call.input.part(create_sq_in::CTX);
    check_absent(view, &ABSENT)?;
    check_created(view.get(sqc::STATE))?;
    let timestamps = timestamp_format(call, view.get(sqc::TS_FORMAT))?;
    let inline_headers = inline_headers(call, view.get(sqc::MIN_WQE_INLINE_MODE))?;
    let multi_packet = allows_multi_packet(call, view)?;
    let rate = view.get(sqc::PACKET_PACING_RATE_LIMIT_INDEX) as u16;
    if !has_clock_queues(call.device.config()) {
        check_absent(view, &CLOCK_QUEUE)?;
    }
    let tis = match view.get(sqc::TIS_LST_SZ) {
        0 => None,
        _ if view.flag(sqc::NON_WIRE) => return Err(Refusal::parameter("a TIS of an SQ that reaches no wire")),
        1 => Some(view.get32(sqc::TIS_NUM_0)),
        other => return Err(Refusal::parameter(format!("tis_lst_sz {other}; at most 1"))),
    };
    let queue = view.part(sqc::WQ);
    let (pd, cqn, uar) = (queue.get32(wq::PD), view.get32(sqc::CQN), queue.get32(wq::UAR_PAGE));
    call.check_use(Object::Pd, pd)?;
    call.check_use(Object::Cq, cqn)?;
    call.check_use(Object::Uar, uar)?;
    if let Some(tis) = tis {
        call.check_use(Object::Tis, tis)?;
    }
    let place = take(call, queue, &create_sq_in::LAYOUT, RECORD_BYTES, &[CYCLIC])?;
    if place.log_stride != LOG_WQEBB {
        let reason = format!("log_wq_stride {}: that of a send queue is {LOG_WQEBB}", place.log_stride);
        return Err(Refusal::parameter(reason));
    }
    let static_ring = view.flag(sqc::STATIC_SQ_WQ);
    if static_ring && u64::from(place.log_size) > MAX_STATIC_SQ_LOG {
        let reason =
            format!("a static ring of 2^{} WQEBBs: log_max_static_sq_wq is {MAX_STATIC_SQ_LOG}", place.log_size);
        return Err(Refusal::parameter(reason));
    }
    let sqn = call.device.create_sq(SendQueueContext {
        pd,
        cqn,
        uar,
        ring: SqContext {
            buf: place.ring,
            log_size: place.log_size,
            inline_headers,
            multi_packet,
            software_parser: view.flag(sqc::ALLOW_SWP),
            is_recordless: false,
        },
        dbr: place.record,
        uidx: view.get32(sqc::USER_INDEX),
        timestamps,
        tis,
        flushes: view.flag(sqc::FLUSH_IN_ERROR_EN),
        cross_channel: CrossChannel {
            master: view.flag(sqc::CD_MASTER),
            slave_send: queue.flag(wq::CD_SLAVE),
            slave_receive: false,
        },
        static_ring,
    })?;
    if let Err(error) = call.device.pace(sqn, rate) {
        call.device.destroy_sq(sqn)?;
        return Err(error.into());
    }
    call.created(Object::Sq, sqn);
    call.state.contexts.add(Object::Sq, sqn, view.0);
    call.output.set(create_sq_out::SQN, sqn.into());
    Ok(())
}

/// The headers that frames of an SQ with this field need inline. The field counts if the capability is VPORT_CONTEXT:
/// drivers write it in that case alone (Linux `en_main.c`, `mlx5e_create_sq`; DPDK `mlx5_devx_cmds.c`,
/// `vport_inline_mode`). In the other cases this device ignores it; no public source says if firmware refuses it. No
/// public source says either whether an SQ can have less than its port: here it cannot.
fn inline_headers(call: &Call<'_>, mode: u64) -> Result<InlineHeaders, Refusal> {
    let config = call.device.config();
    if inline_mode(config) != InlineMode::VportContext {
        return Ok(config.inline_headers);
    }
    let all = [InlineHeaders::None, InlineHeaders::L2, InlineHeaders::Ip, InlineHeaders::TcpUdp];
    let asked = all.into_iter().find(|&headers| headers as u64 == mode);
    let asked =
        asked.ok_or_else(|| Refusal::parameter(format!("min_wqe_inline_mode {mode}; at most 3 (TCP and UDP)")))?;
    Ok(asked.max(config.inline_headers))
}

/// Whether WQEs of an SQ may hold several frames. The contexts of programs' queues say so (Linux
/// `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp_sq`; DPDK `drivers/net/mlx5/mlx5_devx.c`,
/// `mlx5_txq_create_devx_sq_resources`). Those of Linux' netdev do not, and have such WQEs all the same (`en/params.c`,
/// `mlx5e_build_sq_param`; `en_main.c`, `mlx5e_create_sq`). So the field does not bind the driver of the function.
fn allows_multi_packet(call: &Call<'_>, view: View<'_>) -> Result<bool, Refusal> {
    let has = call.device.config().inline_headers == InlineHeaders::None;
    if !has {
        check_absent(view, &[(sqc::ALLOW_MULTI_PKT_SEND_WQE, "WQEs of several frames")])?;
    }
    Ok(has && (view.flag(sqc::ALLOW_MULTI_PKT_SEND_WQE) || call.check_driver().is_ok()))
}

fn modify(call: &mut Call<'_>) -> Result<(), Refusal> {
    let sqn = call.owned(Object::Sq, modify_sq_in::SQN)?;
    let mask = call.input.get(modify_sq_in::MODIFY_BITMASK);
    if mask & !MODIFY_RATE != 0 {
        return Err(Refusal::parameter(format!("modify_bitmask {mask:#x}: an SQ has its state and rate to modify")));
    }
    let from = state(call.input.get(modify_sq_in::SQ_STATE))?;
    let context = call.input.part(modify_sq_in::CTX);
    let (to, rate) = (state(context.get(sqc::STATE))?, context.get(sqc::PACKET_PACING_RATE_LIMIT_INDEX));
    if mask & MODIFY_RATE == 0 {
        return Ok(call.device.modify_sq(sqn, from, to)?);
    }
    // Linux changes the rate of a queue that becomes or is ready (`drivers/infiniband/hw/mlx5/qp.c`,
    // `modify_raw_packet_qp_sq`).
    if to != QueueState::Ready {
        return Err(Refusal::parameter("the rate of an SQ changes as it becomes or is ready"));
    }
    call.device.check_rate(rate as u16)?;
    call.device.modify_sq(sqn, from, to)?;
    call.device.pace(sqn, rate as u16)?;
    ViewMut(call.state.contexts.get_mut(Object::Sq, sqn)).set(sqc::PACKET_PACING_RATE_LIMIT_INDEX, rate);
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Sq, destroy_sq_in::SQN, |device, sqn| device.destroy_sq(sqn))
}

fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let sqn = call.usable(Object::Sq, query_sq_in::SQN)?;
    let info = call.device.query_sq(sqn)?;
    let mut context = call.state.contexts.get(Object::Sq, sqn);
    let mut view = ViewMut(&mut context);
    view.set(sqc::STATE, state_bits(info.state));
    let mut queue = view.part(sqc::WQ);
    queue.set(wq::HW_COUNTER, info.fetched.into());
    queue.set(wq::SW_COUNTER, info.announced.into());
    call.output.put(query_sq_out::SQ_CONTEXT.at, &context);
    Ok(())
}
