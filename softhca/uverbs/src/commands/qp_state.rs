//! Queue pairs: state changes and queries, and how the ABI and the device say the same.

use super::access as rights;
use super::ah;
use super::dct::{self, Dct};
use super::mtu;
use super::pacing;
use super::port;
use super::qp::Qp;
use super::request::Request;
use super::rss::RssQp;
use crate::abi::mlx5::{DriverModifyQp, MODIFY_QP_OOO_DP, ModifyQpResp};
use crate::abi::qp_attr as mask;
use crate::abi::{ExModifyQp, ExModifyQpResp, ModifyQp, QpDest, QueryQp, QueryQpResp, UHW_IN, UHW_OUT, write};
use crate::context::Context;
use crate::device::Hca;
use crate::process::Errno;
use softhca::context::{Access, EXTENDED_ATOMICS, Path, PathGrh, QpAttr, QpState, Transport};
use softhca_settings::Link;
use std::sync::Arc;
use zerocopy::FromZeros;

/// `IB_MIG_MIGRATED`: the primary path is the only one.
const MIGRATED: u8 = 0;

/// `IB_QPS_RTR`.
const RTR: u8 = 2;

/// `enum ib_qp_state`.
const STATES: [QpState; 7] =
    [QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd, QpState::Sqe, QpState::Err];

fn state_from_abi(state: u8) -> Result<QpState, Errno> {
    STATES.get(usize::from(state)).copied().ok_or(Errno::EINVAL)
}

fn state_to_abi(state: QpState) -> u8 {
    STATES.iter().position(|&other| other == state).map_or(0, |state| state as u8)
}

fn path_from_abi(hca: &Hca, dest: &QpDest) -> Result<Path, Errno> {
    port::check_path(hca, dest.port_num.into(), dest.is_global != 0, dest.sgid_index)?;
    let grh = (dest.is_global != 0).then_some(PathGrh {
        dgid: dest.dgid,
        sgid_index: dest.sgid_index,
        flow_label: dest.flow_label & 0xf_ffff,
        hop_limit: dest.hop_limit,
        traffic_class: dest.traffic_class,
    });
    Ok(Path { dlid: dest.dlid, sl: dest.sl, src_path_bits: dest.src_path_bits, grh, dmac: [0; 6] })
}

/// The path of a QP of port `port`, as the kernel tells it (`to_rdma_ah_attr`): on Ethernet, all are global.
fn path_to_abi(path: Option<&Path>, port: u8, link: Link) -> QpDest {
    let mut dest = QpDest { port_num: port, ..FromZeros::new_zeroed() };
    // On Ethernet, a service level is a priority of frames, which is not told.
    if let (Some(path), Link::Infiniband) = (path, link) {
        (dest.dlid, dest.sl, dest.src_path_bits) = (path.dlid, path.sl, path.src_path_bits);
    }
    let grh = path.and_then(|path| path.grh);
    dest.is_global = (link == Link::Ethernet || grh.is_some()).into();
    if let Some(grh) = grh {
        dest.dgid = grh.dgid;
        dest.flow_label = grh.flow_label;
        dest.sgid_index = grh.sgid_index;
        dest.hop_limit = grh.hop_limit;
        dest.traffic_class = grh.traffic_class;
    }
    dest
}

/// How many READs and atomics a QP may have outstanding: its context has the logarithm, so that the least is 1.
fn outstanding(count: Option<u8>) -> u8 {
    count.unwrap_or(0).checked_next_power_of_two().unwrap_or(1 << 7)
}

/// The rights of a QP's peer. READs and atomics are none before any may be outstanding (`__mlx5_ib_modify_qp`).
fn told_rights(access: Access, max_dest_rd_atomic: Option<u8>) -> u32 {
    let answers = max_dest_rd_atomic.is_some_and(|count| count != 0);
    rights::to_abi(Access {
        local_write: false,
        remote_read: access.remote_read && answers,
        remote_atomic: access.remote_atomic && answers,
        ..access
    })
}

/// The change that is wanted, without what means nothing to the QP.
fn attr_from_abi(hca: &Hca, wanted: &ModifyQp, ignored: u32) -> Result<QpAttr, Errno> {
    let bits = wanted.attr_mask & !ignored;
    let given = |bit| bits & bit != 0;
    if bits & !mask::KNOWN != 0 || given(mask::PATH_MIG_STATE) && wanted.path_mig_state != MIGRATED {
        return Err(Errno::EOPNOTSUPP);
    }
    let optional = |bit, value| given(bit).then_some(value);
    Ok(QpAttr {
        state: given(mask::STATE).then(|| state_from_abi(wanted.qp_state)).transpose()?,
        cur_state: given(mask::CUR_STATE).then(|| state_from_abi(wanted.cur_qp_state)).transpose()?,
        pkey_index: given(mask::PKEY_INDEX).then_some(wanted.pkey_index),
        port: optional(mask::PORT, wanted.port_num),
        access: given(mask::ACCESS_FLAGS).then(|| rights::of_peer(wanted.qp_access_flags)),
        // The kernel, too, gives the peer all atomics that the device has (`get_atomic_mode`).
        extended_atomics: given(mask::ACCESS_FLAGS).then_some(EXTENDED_ATOMICS),
        qkey: given(mask::QKEY).then_some(wanted.qkey),
        path: given(mask::AV).then(|| path_from_abi(hca, &wanted.dest)).transpose()?,
        path_mtu: given(mask::PATH_MTU).then(|| mtu::from_abi(wanted.path_mtu)).transpose()?,
        dest_qpn: given(mask::DEST_QPN).then_some(wanted.dest_qp_num),
        // The kernel, too, takes the lowest 24 bits.
        rq_psn: given(mask::RQ_PSN).then_some(wanted.rq_psn & 0xff_ffff),
        sq_psn: given(mask::SQ_PSN).then_some(wanted.sq_psn & 0xff_ffff),
        max_dest_rd_atomic: optional(mask::MAX_DEST_RD_ATOMIC, wanted.max_dest_rd_atomic),
        max_rd_atomic: optional(mask::MAX_QP_RD_ATOMIC, wanted.max_rd_atomic),
        min_rnr_timer: optional(mask::MIN_RNR_TIMER, wanted.min_rnr_timer),
        timeout: optional(mask::TIMEOUT, wanted.timeout),
        retry_cnt: optional(mask::RETRY_CNT, wanted.retry_cnt),
        rnr_retry: optional(mask::RNR_RETRY, wanted.rnr_retry),
        sqd_event: given(mask::EN_SQD_ASYNC_NOTIFY).then_some(wanted.en_sqd_async_notify != 0),
        out_of_order: None,
        in_order: None,
        udp_sport: None,
        lag_port: None,
        ece: None,
    })
}

/// Whether a QP has one peer, to which it has a path (`is_qp_type_connected`).
fn is_connected(transport: Transport) -> bool {
    matches!(transport, Transport::Rc | Transport::Uc | Transport::Xrc)
}

/// Whether the command for a transition has a field for options of enhanced connection establishment (mlx5_ib `qpc.c`,
/// `get_ece_from_mbox`).
fn negotiates(from: QpState, to: QpState) -> bool {
    use QpState::{Init, Reset, Rtr, Rts};
    matches!((from, to), (Reset | Init, Init) | (Init, Rtr) | (Rtr | Rts, Rts))
}

/// The parts of an extended change that a plain one lacks.
struct Extension {
    /// Kilobits per second; only its mask bit makes it count.
    rate_limit: u32,
    driver: DriverModifyQp,
}

/// Applies a change, and gives the driver's response to an extended one.
fn apply(context: &Context, wanted: &ModifyQp, extension: Option<&Extension>) -> Result<ModifyQpResp, Errno> {
    let ece = extension.map_or(0, |extension| extension.driver.ece_options);
    let ece = if context.hca.capabilities.ece { ece } else { 0 };
    if let Ok(dct) = context.get::<Dct>(wanted.qp_handle) {
        if extension.is_some_and(|extension| extension.driver.comp_mask != 0) {
            return Err(Errno::EOPNOTSUPP);
        }
        return dct::modify(context, &dct, wanted, ece);
    }
    if context.get::<RssQp>(wanted.qp_handle).is_ok() {
        return Err(Errno::ENOSYS);
    }
    let qp: Arc<Qp> = context.get(wanted.qp_handle).map_err(|_| Errno::EINVAL)?;
    let mut attr = attr_from_abi(&context.hca, wanted, qp.ignored() | mask::RATE_LIMIT)?;
    let from = context.hca.command(|device| device.query_qp(qp.number))?.state;
    let to = attr.state.unwrap_or(from);
    let negotiates = qp.transport != Transport::RawPacket && negotiates(from, to);
    attr.ece = (negotiates && ece != 0).then_some(ece);
    let rate = match extension {
        Some(Extension { rate_limit, driver }) if wanted.attr_mask & mask::RATE_LIMIT != 0 => {
            Some(pacing::wanted(context, driver, &qp, *rate_limit, (from, to))?)
        }
        _ if wanted.attr_mask & mask::RATE_LIMIT != 0 => return Err(Errno::EOPNOTSUPP),
        _ => None,
    };
    let settings = &context.hca.settings;
    // A sink has no network, and connects to nobody.
    let has_neighbours = settings.link == Link::Ethernet && !settings.sink;
    if attr.path.is_some() && is_connected(qp.transport) && has_neighbours {
        // The device finds the address itself when it sends; the kernel looks before (`_ib_modify_qp`,
        // `ib_resolve_eth_dmac`).
        ah::mac_of(&context.hca, wanted.dest.port_num, wanted.dest.sgid_index, &wanted.dest.dgid)?;
    }
    let to_init = (from, to) == (QpState::Reset, QpState::Init);
    let lag_port = if to_init { context.next_lag_port() } else { 0 };
    // Linux does so for the kinds of QP that the device can (`get_dp_ooo_cap`), in the move to INIT.
    if extension.is_some_and(|extension| extension.driver.comp_mask & MODIFY_QP_OOO_DP != 0) {
        let can = context.hca.capabilities.attributes.out_of_order != 0;
        if !can || !matches!(qp.transport, Transport::Rc | Transport::Uc | Transport::Ud) {
            return Err(Errno::EOPNOTSUPP);
        }
        attr.out_of_order = to_init.then_some(true);
    }
    let tis = qp.tis().filter(|_| lag_port != 0);
    attr.lag_port = (lag_port != 0 && tis.is_none()).then_some(lag_port);
    context.hca.command(|device| device.modify_qp(qp.number, &attr))?;
    if let Some(tis) = tis {
        context.hca.set_lag_port(tis, lag_port)?;
    }
    if let Some(rate) = rate {
        pacing::change(&context.hca, &qp, rate)?;
    }
    // A queue that is not ready has none (`modify_raw_packet_qp_sq`).
    if matches!(attr.state, Some(QpState::Reset | QpState::Err)) {
        qp.rate.release(&context.hca)?;
    }
    if let Some((receiver, to)) = qp.receiver().zip(attr.state) {
        receiver.follow(&context.hca, to)?;
    }
    let mut response = ModifyQpResp::new_zeroed();
    if qp.transport != Transport::RawPacket {
        response.response_length = size_of::<ModifyQpResp>() as u32;
    }
    if negotiates {
        response.ece_options = context.hca.command(|device| device.query_qp(qp.number))?.attr.ece.unwrap_or(0);
    }
    Ok(response)
}

/// `MODIFY_QP`.
pub(crate) fn modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: ModifyQp = request.core_in()?;
    // A target's number would have no place in the response.
    if wanted.qp_state == RTR && context.get::<Dct>(wanted.qp_handle).is_ok() {
        return Err(Errno::EINVAL);
    }
    apply(context, &wanted, None).map(drop)
}

/// Extended `MODIFY_QP`: a rate limit follows, and the driver has a part.
pub(crate) fn ex_modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let base: ModifyQp = request.core_in()?;
    // The rate is 0 where a program leaves it out.
    let ExModifyQp { rate_limit, .. } = request.input(write::CORE_IN)?;
    let driver: DriverModifyQp = request.optional(UHW_IN)?.unwrap_or_else(FromZeros::new_zeroed);
    if driver.comp_mask & !MODIFY_QP_OOO_DP != 0 || driver.reserved != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let response = apply(context, &base, Some(&Extension { rate_limit, driver }))?;
    request.put_optional(UHW_OUT, &response)?;
    let response = ExModifyQpResp { comp_mask: 0, response_length: size_of::<ExModifyQpResp>() as u32 };
    request.put_optional(write::CORE_OUT, &response)
}

/// `QUERY_QP`.
pub(crate) fn query(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: QueryQp = request.core_in()?;
    if let Ok(dct) = context.get::<Dct>(wanted.qp_handle) {
        return request.core_out(&dct::query(&dct, wanted.attr_mask)?);
    }
    if context.get::<RssQp>(wanted.qp_handle).is_ok() {
        return Err(Errno::ENOSYS);
    }
    let qp: Arc<Qp> = context.get(wanted.qp_handle).map_err(|_| Errno::EINVAL)?;
    let info = context.hca.command(|device| device.query_qp(qp.number))?;
    let attr = &info.attr;
    let state = state_to_abi(info.state);
    let link = context.hca.settings.link;
    if qp.transport == Transport::RawPacket {
        // The only attribute of its queues is their state (`query_raw_packet_qp_state`).
        return request.core_out(&QueryQpResp {
            cap: qp.cap,
            qp_state: state,
            cur_qp_state: state,
            port_num: 1,
            sq_sig_all: qp.signal_all.into(),
            ..FromZeros::new_zeroed()
        });
    }
    // Firmware names port 1 for a new one, or SPDK could not connect it (`lib/mlx5/mlx5_qp.c`,
    // `mlx5_qp_get_port_pkey_idx`). Linux' driver then reports an address as well (`to_rdma_ah_attr`).
    let port = attr.port.unwrap_or(1);
    let dest = match is_connected(qp.transport) {
        true => path_to_abi(attr.path.as_ref(), port, link),
        false => FromZeros::new_zeroed(),
    };
    let response = QueryQpResp {
        dest,
        alt_dest: FromZeros::new_zeroed(),
        cap: qp.cap,
        qkey: attr.qkey.unwrap_or(0),
        rq_psn: attr.rq_psn.unwrap_or(0),
        sq_psn: attr.sq_psn.unwrap_or(0),
        dest_qp_num: attr.dest_qpn.unwrap_or(0),
        qp_access_flags: attr.access.map_or(0, |access| told_rights(access, attr.max_dest_rd_atomic)),
        pkey_index: attr.pkey_index.unwrap_or(0),
        alt_pkey_index: 0,
        qp_state: state,
        cur_qp_state: state,
        path_mtu: attr.path_mtu.map_or(0, mtu::to_abi),
        path_mig_state: MIGRATED,
        sq_draining: info.draining.into(),
        max_rd_atomic: outstanding(attr.max_rd_atomic),
        max_dest_rd_atomic: outstanding(attr.max_dest_rd_atomic),
        min_rnr_timer: attr.min_rnr_timer.unwrap_or(0),
        port_num: port,
        timeout: attr.timeout.unwrap_or(0),
        retry_cnt: attr.retry_cnt.unwrap_or(0),
        rnr_retry: attr.rnr_retry.unwrap_or(0),
        alt_port_num: 0,
        alt_timeout: 0,
        sq_sig_all: qp.signal_all.into(),
        reserved: [0; 5],
    };
    request.core_out(&response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_the_round_trip() {
        for abi in 0..7 {
            assert_eq!(state_to_abi(state_from_abi(abi).unwrap()), abi);
        }
        assert_eq!(state_from_abi(7), Err(Errno::EINVAL));
    }
}
