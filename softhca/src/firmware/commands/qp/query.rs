//! `QUERY_QP`: the driver's values of a QP, and over them the values that the device knows better.

use super::super::atomic_mode;
use super::codes::{LOG_STRIDE_UNIT, NO_RQ, OWN_RQ, SHARED_RQ};
use super::layouts::{ads, qpc, query_qp_in, query_qp_out};
use super::path;
use super::service::Service;
use super::transition::ordering;
use crate::context::{QpState, ReceiveSource, Transport};
use crate::error::Object;
use crate::firmware::call::Call;
use crate::firmware::layout::{Field, View, ViewMut};
use crate::firmware::status::Refusal;
use crate::qp::QpInfo;

pub(super) fn query(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = call.usable(Object::Qp, query_qp_in::QPN)?;
    let info = call.device.query_qp(qpn)?;
    let record = call.state.queues.qps.get(&qpn).copied().unwrap_or_default();
    let mut context = record.qpc;
    let mut view = ViewMut(&mut context);
    created(&mut view, &info)?;
    if !record.made {
        view.set(qpc::DBR_ADDR, info.context.dbr);
        view.set(qpc::CQN_RCV, info.context.recv_cqn.into());
    }
    modified(&mut view, &info);
    let is_asked_for = ordering(View(&record.qpc)) == 0;
    let has_late_writes = call.device.config().late_writes.rate > 0 && info.attr.in_order != Some(true);
    view.set(qpc::DATA_IN_ORDER, (is_asked_for && !has_late_writes).into());
    let port = info.attr.port.and_then(|port| call.device.config().ports.get(usize::from(port) - 1));
    if let (Some(path), Some(port)) = (&info.attr.path, port) {
        path::write(&mut view.part(qpc::PRIMARY_ADDRESS_PATH), path, port);
    }
    call.output.set(query_qp_out::ECE, info.attr.ece.map_or(0, u64::from));
    call.output.put(query_qp_out::QPC.at, &context);
    Ok(())
}

/// The values that the QP was created from.
fn created(view: &mut ViewMut<'_>, info: &QpInfo) -> Result<(), Refusal> {
    let context = &info.context;
    view.set(qpc::ST, Service::of(context)?.st.into());
    view.set(qpc::PD, context.pd.into());
    view.set(qpc::CQN_SND, context.send_cqn.into());
    view.set(qpc::UAR_PAGE, context.uar.into());
    view.set(qpc::USER_INDEX, context.uidx.into());
    view.set(qpc::NO_SQ, context.sq.is_none().into());
    view.set(qpc::LOG_SQ_SIZE, context.sq.map_or(0, |sq| sq.log_size.into()));
    view.set(qpc::LOG_NUM_DCI_STREAM_CHANNELS, context.streams.map_or(0, |streams| streams.log_channels.into()));
    view.set(qpc::LOG_NUM_DCI_ERRORED_STREAMS, context.streams.map_or(0, |streams| streams.log_errored.into()));
    match context.rq {
        ReceiveSource::Own(rq) => {
            view.set(qpc::RQ_TYPE, OWN_RQ);
            view.set(qpc::LOG_RQ_SIZE, rq.log_size.into());
            view.set(qpc::LOG_RQ_STRIDE, u64::from(rq.log_stride) - LOG_STRIDE_UNIT);
        }
        ReceiveSource::Shared { srqn } => {
            view.set(qpc::RQ_TYPE, SHARED_RQ);
            view.set(qpc::SRQN_RMPN_XRQN, srqn.into());
        }
        ReceiveSource::Domain { xrcd } => {
            view.set(qpc::RQ_TYPE, SHARED_RQ);
            view.set(qpc::XRCD, xrcd.into());
        }
        // An initiator of XRC keeps the driver's value, which may be any.
        ReceiveSource::None if context.transport == Transport::Xrc => {}
        ReceiveSource::None => view.set(qpc::RQ_TYPE, NO_RQ),
    }
    Ok(())
}

/// The values that have changed since.
fn modified(view: &mut ViewMut<'_>, info: &QpInfo) {
    let attr = &info.attr;
    view.set(qpc::STATE, state_code(info));
    let mut set = |field: Field, value: Option<u64>| {
        if let Some(value) = value {
            view.set(field, value);
        }
    };
    set(qpc::LAG_TX_PORT_AFFINITY, attr.lag_port.map(u64::from));
    set(qpc::MTU, attr.path_mtu.map(|mtu| u64::from(mtu.ilog2()) - 7));
    set(qpc::REMOTE_QPN, attr.dest_qpn.map(u64::from));
    set(qpc::NEXT_RCV_PSN, attr.rq_psn.map(u64::from));
    set(qpc::NEXT_SEND_PSN, attr.sq_psn.map(u64::from));
    set(qpc::LAST_ACKED_PSN, attr.sq_psn.map(|_| info.last_acked_psn.into()));
    set(qpc::Q_KEY, attr.qkey.map(u64::from));
    set(qpc::RRE, attr.access.map(|access| access.remote_read.into()));
    set(qpc::RWE, attr.access.map(|access| access.remote_write.into()));
    set(qpc::RAE, attr.access.map(|access| access.remote_atomic.into()));
    set(qpc::ATOMIC_MODE, attr.extended_atomics.map(atomic_mode::of));
    set(qpc::LOG_RRA_MAX, attr.max_dest_rd_atomic.map(log2_at_least));
    set(qpc::LOG_SRA_MAX, attr.max_rd_atomic.map(log2_at_least));
    set(qpc::MIN_RNR_NAK, attr.min_rnr_timer.map(u64::from));
    set(qpc::RETRY_COUNT, attr.retry_cnt.map(u64::from));
    set(qpc::RNR_RETRY, attr.rnr_retry.map(u64::from));
    set(qpc::DP_ORDERING_1, attr.out_of_order.map(u64::from));
    set(qpc::RMSN, Some(info.rmsn.into()));
    set(qpc::HW_SQ_WQEBB_COUNTER, Some(info.hw_sq_wqebb_counter.into()));
    set(qpc::SW_SQ_WQEBB_COUNTER, Some(info.sw_sq_wqebb_counter.into()));
    set(qpc::HW_RQ_COUNTER, Some(info.hw_rq_counter.into()));
    set(qpc::SW_RQ_COUNTER, Some(info.sw_rq_counter.into()));
    let mut path = view.part(qpc::PRIMARY_ADDRESS_PATH);
    // SPDK connects a new QP on the port that a query names (`lib/mlx5/mlx5_qp.c`, `mlx5_qp_get_port_pkey_idx`).
    path.set(ads::VHCA_PORT_NUM, attr.port.unwrap_or(1).into());
    path.set(ads::PKEY_INDEX, attr.pkey_index.unwrap_or(0).into());
    path.set(ads::ACK_TIMEOUT, attr.timeout.unwrap_or(0).into());
    if let Some(port) = attr.udp_sport {
        path.set(ads::UDP_SPORT, port.into());
    }
}

/// `qpc.state` (Linux `include/linux/mlx5/qp.h`, `MLX5_QP_STATE_*`).
fn state_code(info: &QpInfo) -> u64 {
    match info.state {
        QpState::Reset => 0,
        QpState::Init => 1,
        QpState::Rtr => 2,
        QpState::Rts => 3,
        QpState::Sqe => 4,
        QpState::Sqd if info.draining => 7,
        QpState::Sqd => 5,
        QpState::Err => 6,
    }
}

/// The exponent of the smallest power of two that is no less (Linux `fls(n - 1)`).
fn log2_at_least(count: u8) -> u64 {
    count.max(1).next_power_of_two().ilog2().into()
}
