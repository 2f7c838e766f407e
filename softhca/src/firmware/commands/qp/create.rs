//! Making and destroying QPs.

use super::codes::{ARMED, LOG_STRIDE_UNIT, MIGRATED, NO_RQ, OWN_RQ, SHARED_RQ};
use super::layouts::{create_qp_in, create_qp_out, destroy_qp_in, qpc};
use super::service::Service;
use crate::context::{CrossChannel, DciStreams, Privileges, QpContext, ReceiveSource, RqContext, SqContext, Transport};
use crate::error::Object;
use crate::firmware::call::Call;
use crate::firmware::capabilities::has_recordless_queues;
use crate::firmware::commands::lag;
use crate::firmware::commands::work_queue::timestamp_format;
use crate::firmware::layout::View;
use crate::firmware::objects::{QPC_BYTES, QpRecord};
use crate::firmware::placement::{PAGE_OFFSETS, Placement};
use crate::firmware::status::Refusal;
use crate::gsi::QP1;

/// `qpc.offload_type` (`MLX5_QPC_OFFLOAD_TYPE_RNDV`).
const RENDEZVOUS: u64 = 1;

/// `qpc.send_dbr_mode` (rdma-core `tests/mlx5_prm_structs.py`, `SendDbrMode`; UCX' `NO_DBR_INT`, 2, is no mode of this
/// device).
const WITH_RECORD: u64 = 0;
const WITHOUT_RECORD: u64 = 1;

/// Bytes of a QP's doorbell record.
const RECORD_BYTES: u64 = 8;

pub(super) fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let view = call.input.part(create_qp_in::QPC);
    let service = Service::of_context(view)?;
    if service.is_privileged() {
        call.check_driver()?;
    }
    check_capabilities(view)?;
    lag::port(call, view.get(qpc::LAG_TX_PORT_AFFINITY))?;
    let privileges = privileges(call, view, service)?;
    let mask = call.input.get32(create_qp_in::OPT_PARAM_MASK);
    if mask != 0 {
        return Err(Refusal::parameter(format!("optional parameters {mask:#x}, of which a new QP has none")));
    }
    for (kind, field) in [(Object::Pd, qpc::PD), (Object::Uar, qpc::UAR_PAGE)] {
        call.check_use(kind, view.get32(field))?;
    }
    // It serves all, and Linux leaves the field at 0.
    let pd = if service.transport == Transport::RegUmr { 0 } else { view.get32(qpc::PD) };
    let send_cqn = view.get32(qpc::CQN_SND);
    // Without receives, nothing is written to their CQ, and DPDK names none (`mlx5_devx_cmd_create_qp`).
    let recv_cqn = match (view.get(qpc::RQ_TYPE), view.get32(qpc::CQN_RCV)) {
        (NO_RQ, 0) => send_cqn,
        (_, cqn) => cqn,
    };
    for cqn in [send_cqn, recv_cqn] {
        call.check_use(Object::Cq, cqn)?;
    }
    let (sq, rq) = queues(call, view, service)?;
    let context = QpContext {
        transport: service.transport,
        pd,
        send_cqn,
        recv_cqn,
        sq,
        rq,
        dbr: if service.requests { record(call, view)? } else { 0 },
        uar: view.get32(qpc::UAR_PAGE),
        uidx: view.get32(qpc::USER_INDEX),
        timestamps: timestamp_format(call, view.get(qpc::TS_FORMAT))?,
        signal_all: false,
        scatter_to_cqe_req: scatter_bytes(view.get(qpc::CS_REQ), [0x11, 0x22])?,
        scatter_to_cqe_res: scatter_bytes(view.get(qpc::CS_RES), [0x1, 0x2])?,
        streams: streams(view),
        cross_channel: CrossChannel {
            master: view.flag(qpc::CD_MASTER),
            slave_send: view.flag(qpc::CD_SLAVE_SEND),
            slave_receive: view.flag(qpc::CD_SLAVE_RECEIVE),
        },
        static_ring: false,
        signed: view.flag(qpc::WQ_SIGNATURE),
        blocks_own_multicast: view.flag(qpc::BLOCK_LB_MC),
        privileges,
        ece: call.input.get32(create_qp_in::ECE),
    };
    let qpn = call.device.create_qp(context)?;
    if let Err(refused) = offload(call, view, qpn) {
        call.device.destroy_qp(qpn)?;
        return Err(refused);
    }
    call.created(Object::Qp, qpn);
    let mut given = [0; QPC_BYTES];
    given.copy_from_slice(&view.0[..QPC_BYTES]);
    call.state.queues.qps.insert(qpn, QpRecord { created: given, qpc: given, made: true });
    let accepted = call.device.qp_context(qpn)?.ece;
    call.output.set(create_qp_out::QPN, qpn.into());
    call.output.set(create_qp_out::ECE, accepted.into());
    Ok(())
}

/// Refuses features that the device lacks, as its capabilities say.
fn check_capabilities(view: View<'_>) -> Result<(), Refusal> {
    let absent = [
        (qpc::ATOMIC_LIKE_WRITE_EN, "atomic-like writes"),
        (qpc::END_PADDING_MODE, "padding of received data"),
        (qpc::DRAIN_SIGERR, "signature pipelining"),
        (qpc::ULP_STATELESS_OFFLOAD_MODE, "stateless offloads of IPoIB"),
    ];
    if let Some((_, what)) = absent.into_iter().find(|&(field, _)| view.get(field) != 0) {
        return Err(Refusal::parameter(format!("{what}: not a capability of this device")));
    }
    let credits = view.get(qpc::REQ_E2E_CREDIT_MODE);
    if credits > 1 {
        return Err(Refusal::parameter(format!("req_e2e_credit_mode {credits}: at most 1")));
    }
    match view.get(qpc::PM_STATE) {
        ARMED | MIGRATED => Ok(()),
        other => Err(Refusal::parameter(format!("pm_state {other}: 3 (migrated), as there are no alternate paths"))),
    }
}

/// Leaves the send queue to the device, if the context says so.
fn offload(call: &mut Call<'_>, view: View<'_>, qpn: u32) -> Result<(), Refusal> {
    match view.get(qpc::OFFLOAD_TYPE) {
        0 => Ok(()),
        RENDEZVOUS => Ok(call.device.offload_rendezvous(qpn)?),
        other => Err(Refusal::parameter(format!("offload_type {other}: 0 or 1 (rendezvous)"))),
    }
}

/// The privileges that a kernel gives a QP of its own.
fn privileges(call: &Call<'_>, view: View<'_>, service: &Service) -> Result<Privileges, Refusal> {
    // Linux sets a 1 in this field if there is more than one queue that sends as QP 1.
    let source = view.get32(qpc::DETH_SQPN);
    let sends_as_qp1 = service.qp1 || source != 0;
    if source > QP1 || sends_as_qp1 && !service.datagram {
        return Err(Refusal::parameter(format!("deth_sqpn {source:#x}: 1, of a QP of datagrams")));
    }
    let privileges = Privileges {
        reserved_lkey: view.flag(qpc::RLKY),
        fast_registration: view.flag(qpc::FRE),
        sends_as_qp1,
        is_qp1: service.qp1,
    };
    if privileges != Privileges::default() {
        call.check_driver()?;
    }
    Ok(privileges)
}

/// The streams of an initiator. Both fields are zeros if it has no streams. They are also zeros for one stream that
/// fails with its first request, which is the same. The device refuses streams of other QPs.
fn streams(view: View<'_>) -> Option<DciStreams> {
    let streams = DciStreams {
        log_channels: view.get(qpc::LOG_NUM_DCI_STREAM_CHANNELS) as u8,
        log_errored: view.get(qpc::LOG_NUM_DCI_ERRORED_STREAMS) as u8,
    };
    ((streams.log_channels, streams.log_errored) != (0, 0)).then_some(streams)
}

/// The send ring and where receives come from. Both rings are in one place: the receive ring, and behind it the send
/// ring.
fn queues(
    call: &mut Call<'_>,
    view: View<'_>,
    service: &Service,
) -> Result<(Option<SqContext>, ReceiveSource), Refusal> {
    let log_sq_size = view.get(qpc::LOG_SQ_SIZE);
    let log_rq_size = view.get(qpc::LOG_RQ_SIZE);
    let log_stride = view.get(qpc::LOG_RQ_STRIDE) + LOG_STRIDE_UNIT;
    // The receive queue in an initiator's context does not count; UCX leaves it at 0, and Linux names an SRQ that an
    // initiator of XRC does not use. A target of XRC uses neither the SRQ that it names nor its CQs.
    let rq_type = if service.responds { view.get(qpc::RQ_TYPE) } else { NO_RQ };
    if !service.requests {
        let xrcd = view.get32(qpc::XRCD);
        call.check_use(Object::Xrcd, xrcd)?;
        for field in [qpc::CQN_SND, qpc::CQN_RCV] {
            call.device.query_cq(view.get32(field))?;
        }
        return Ok((None, ReceiveSource::Domain { xrcd }));
    }
    let rq_bytes = if rq_type == OWN_RQ { 1_u64 << (log_rq_size + log_stride) } else { 0 };
    let sq_bytes = if view.flag(qpc::NO_SQ) { 0 } else { 64_u64 << log_sq_size };
    let mut at = 0;
    if rq_bytes + sq_bytes != 0 {
        let umem = (call.input.get32(create_qp_in::WQ_UMEM_ID), call.input.get(create_qp_in::WQ_UMEM_OFFSET));
        at = call.ring(Placement {
            umem: call.input.flag(create_qp_in::WQ_UMEM_VALID).then_some(umem),
            pages: call.input.words(&create_qp_in::LAYOUT),
            log_page_size: view.get(qpc::LOG_PAGE_SIZE),
            page_offset: view.get(qpc::PAGE_OFFSET),
            page_offsets: PAGE_OFFSETS,
            len: rq_bytes + sq_bytes,
            written: false,
        })?;
    }
    let rq = match rq_type {
        OWN_RQ => ReceiveSource::Own(RqContext { buf: at, log_size: log_rq_size as u8, log_stride: log_stride as u8 }),
        SHARED_RQ => {
            let srqn = view.get32(qpc::SRQN_RMPN_XRQN);
            call.check_use(Object::Srq, srqn)?;
            ReceiveSource::Shared { srqn }
        }
        NO_RQ => ReceiveSource::None,
        other => return Err(Refusal::parameter(format!("rq_type {other}: 0 (own), 1 (shared) or 3 (none)"))),
    };
    let is_recordless = is_recordless(call, view)?;
    let ring = SqContext { buf: at + rq_bytes, log_size: log_sq_size as u8, is_recordless, ..SqContext::default() };
    Ok(((sq_bytes != 0).then_some(ring), rq))
}

/// Whether the send queue has no doorbell record.
fn is_recordless(call: &Call<'_>, view: View<'_>) -> Result<bool, Refusal> {
    match view.get(qpc::SEND_DBR_MODE) {
        WITH_RECORD => Ok(false),
        WITHOUT_RECORD if has_recordless_queues(call.device.config()) => Ok(true),
        mode => Err(Refusal::parameter(format!("send_dbr_mode {mode}: not a capability of this device"))),
    }
}

/// Where the doorbell record lies.
fn record(call: &mut Call<'_>, view: View<'_>) -> Result<u64, Refusal> {
    let umem = view.flag(qpc::DBR_UMEM_VALID).then(|| view.get32(qpc::DBR_UMEM_ID));
    let at = view.get(qpc::DBR_ADDR);
    if at % RECORD_BYTES != 0 {
        return Err(Refusal::parameter(format!("a doorbell record at {at:#x}: not a multiple of {RECORD_BYTES}")));
    }
    call.record(umem, at, RECORD_BYTES)
}

/// Bytes that go into a CQE (`MLX5_QPC_CS_REQ_*`, `MLX5_QPC_CS_RES_*`): of `codes`, the first is 32, the second 64.
fn scatter_bytes(code: u64, codes: [u64; 2]) -> Result<u32, Refusal> {
    match code {
        0 => Ok(0),
        code if code == codes[0] => Ok(32),
        code if code == codes[1] => Ok(64),
        code => Err(Refusal::parameter(format!("scatter to CQE {code:#x}: 0, {:#x} or {:#x}", codes[0], codes[1]))),
    }
}

pub(super) fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = call.owned(Object::Qp, destroy_qp_in::QPN)?;
    call.device.destroy_qp(qpn)?;
    call.destroyed(Object::Qp, qpn);
    call.state.queues.qps.remove(&qpn);
    Ok(())
}
