//! Transitions: what each takes of the context in its mailbox. Required fields are always taken, optional ones if
//! their bit is set. All others stay as they were: drivers send whole contexts.

use super::super::atomic_mode;
use super::codes::{ARMED, MIGRATED};
use super::layouts::{ads, init2rtr_qp_in, init2rtr_qp_out, qpc, qpc_ext, rts2rts_qp_in};
use super::path;
use super::service::{INIT2INIT, INIT2RTR, RST2INIT, RTR2RTS, RTS2RTS, RTS2SQD, Service, Transition, optional};
use crate::config::{Generation, LinkLayer, PortConfig};
use crate::context::{Access, QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::error::{Error, Object};
use crate::firmware::call::Call;
use crate::firmware::commands::lag;
use crate::firmware::layout::{Field, View, ViewMut};
use crate::firmware::status::{Refusal, Status};
use crate::qp::QpInfo;

/// `opt_param_mask_95_32`: which stream (`MLX5_QPC_OPT_MASK_32_DCI_STREAM_CHANNEL_ID`).
const DCI_STREAM_CHANNEL_ID: u64 = 1 << 0;
/// `opt_param_mask_95_32`: the UDP source port in the path (rdma-core `MLX5_QPC_OPT_MASK_32_UDP_SPORT`). Unlike the
/// others, it is not about the extension behind the context.
const UDP_SPORT: u64 = 1 << 2;
/// `opt_param_mask_95_32`: whether it copies memory (`MLX5_QPC_OPT_MASK_32_INIT2INIT_MMO`).
const INIT2INIT_MMO: u64 = 1 << 3;

/// Besides the work of all transitions, it sets whether a QP may copy memory (rdma-core `qp_enable_mmo`).
pub(super) fn init2init(call: &mut Call<'_>) -> Result<(), Refusal> {
    let has = call.device.config().generation.copies_if_enabled();
    let extension = Extension::of(call, if has { INIT2INIT_MMO } else { 0 })?;
    run(call, INIT2INIT)?;
    if extension.mask != 0 {
        call.device.let_qp_copy(qpn(call)?, extension.copies)?;
    }
    Ok(())
}

/// Besides the work of all transitions, it makes a stream work again (rdma-core `mlx5dv_dci_stream_id_reset`), and
/// changes the source port of a connection (`mlx5dv_modify_qp_udp_sport`).
pub(super) fn rts2rts(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = qpn(call)?;
    let context = call.device.query_qp(qpn)?.context;
    let ethernet = call.device.config().ports.iter().all(|port| port.link == LinkLayer::Ethernet);
    let has_port = ethernet && Service::of(&context)?.connected;
    let extension = Extension::of(call, DCI_STREAM_CHANNEL_ID | if has_port { UDP_SPORT } else { 0 })?;
    run(call, RTS2RTS)?;
    if extension.mask & DCI_STREAM_CHANNEL_ID != 0 {
        call.device.reset_dci_stream(qpn, extension.stream)?;
    }
    if extension.mask & UDP_SPORT != 0 {
        let port = call.input.part(rts2rts_qp_in::QPC).part(qpc::PRIMARY_ADDRESS_PATH).get(ads::UDP_SPORT) as u16;
        call.device.modify_qp(qpn, &QpAttr { udp_sport: Some(port), ..QpAttr::default() })?;
    }
    Ok(())
}

/// The extension behind a transition's context.
struct Extension {
    /// Which of the others count.
    mask: u64,
    stream: u16,
    copies: bool,
}

impl Extension {
    /// Those of `permitted` may count, and others are zeros.
    fn of(call: &Call<'_>, permitted: u64) -> Result<Self, Refusal> {
        let permitted = if call.input.flag(rts2rts_qp_in::QPC_EXT) { permitted } else { permitted & UDP_SPORT };
        let mask = call.input.get(rts2rts_qp_in::OPT_PARAM_MASK_95_32);
        let context = call.input.part(rts2rts_qp_in::QPC_DATA_EXT);
        let (stream, copies) = (context.get(qpc_ext::DCI_STREAM_CHANNEL_ID) as u16, context.flag(qpc_ext::MMO));
        let said = [(stream != 0, DCI_STREAM_CHANNEL_ID), (copies, INIT2INIT_MMO)];
        if mask & !permitted != 0 || said.into_iter().any(|(said, bit)| said && mask & bit == 0) {
            let reason = format!(
                "extended parameters {mask:#x}, stream {stream:#x} and mmo {copies}, of which {permitted:#x} are \
                permitted"
            );
            return Err(Refusal::parameter(reason));
        }
        Ok(Self { mask, stream, copies })
    }
}

/// To the error state, from all but reset.
pub(super) fn to_error(call: &mut Call<'_>) -> Result<(), Refusal> {
    to_state(call, QpState::Err).map(drop)
}

/// To reset, from any state. The QP is as it was created.
pub(super) fn to_reset(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = to_state(call, QpState::Reset)?;
    if let Some(record) = call.state.queues.qps.get_mut(&qpn) {
        record.qpc = record.created;
    }
    Ok(())
}

/// All transitions have their QP's number in the same place.
fn qpn(call: &Call<'_>) -> Result<u32, Refusal> {
    call.owned(Object::Qp, init2rtr_qp_in::QPN)
}

fn to_state(call: &mut Call<'_>, state: QpState) -> Result<u32, Refusal> {
    let qpn = qpn(call)?;
    call.device.modify_qp(qpn, &QpAttr { state: Some(state), ..QpAttr::default() }).map_err(refusal)?;
    Ok(qpn)
}

/// A transition from one state to another, with its context.
pub(super) fn run(call: &mut Call<'_>, transition: Transition) -> Result<(), Refusal> {
    let qpn = qpn(call)?;
    let info = call.device.query_qp(qpn)?;
    if info.state != transition.from {
        let reason = format!("QP is in {:?}, and not in {:?}", info.state, transition.from);
        return Err(Refusal::new(Status::BadQpState, reason));
    }
    let service = Service::of(&info.context)?;
    let mask = call.input.get32(init2rtr_qp_in::OPT_PARAM_MASK);
    let is_bonded = call.device.config().bonded && matches!(transition, INIT2INIT | INIT2RTR | RTS2RTS);
    let permitted = service.optional(transition) | if is_bonded { optional::LAG_TX_AFFINITY } else { 0 };
    if mask & !permitted != 0 {
        return Err(Refusal::parameter(format!(
            "optional parameters {mask:#x}, of which {permitted:#x} are permitted"
        )));
    }
    let view = call.input.part(init2rtr_qp_in::QPC);
    check(call, view, transition, mask, &info.context)?;
    let before = call.state.queues.qps.get(&qpn).copied();
    let ordering = before.map_or(0, |record| ordering(View(&record.qpc))) | ordering(view);
    let ece = Some(call.input.get32(init2rtr_qp_in::ECE)).filter(|&ece| ece != 0);
    let ports = &call.device.config().ports;
    let attr = Taken { service, transition, mask, view, info: &info, ordering, ece, ports };
    let attr = attr.attributes()?;
    let counter = counter(call, view, transition, mask)?;
    call.device.modify_qp(qpn, &attr).map_err(refusal)?;
    if let Some(counter) = counter {
        call.device.set_qp_counter(qpn, counter)?;
    }
    // A datagram is never longer than a packet.
    if transition == INIT2RTR && !service.datagram {
        call.device.set_qp_max_message(qpn, 1 << view.get(qpc::LOG_MSG_MAX))?;
    }

    let record = call.state.queues.qps.entry(qpn).or_default();
    let mut kept = ViewMut(&mut record.qpc);
    for field in kept_fields(transition, mask) {
        kept.set(*field, view.get(*field));
    }
    if transition == INIT2RTR {
        let from = view.part(qpc::PRIMARY_ADDRESS_PATH);
        let mut path = kept.part(qpc::PRIMARY_ADDRESS_PATH);
        path.put(0, from.0);
    }
    if transition == RTR2RTS {
        let from = view.part(qpc::PRIMARY_ADDRESS_PATH);
        kept.part(qpc::PRIMARY_ADDRESS_PATH).set(ads::LOG_RTM, from.get(ads::LOG_RTM));
    }
    // The others have no such field.
    if matches!(transition, RST2INIT | INIT2INIT | INIT2RTR | RTR2RTS | RTS2RTS) {
        let enabled = call.device.query_qp(qpn)?.attr.ece;
        call.output.set(init2rtr_qp_out::ECE, enabled.map_or(0, u64::from));
    }
    Ok(())
}

/// The Q counter that a transition gives the QP, if it does.
fn counter(call: &Call<'_>, view: View<'_>, transition: Transition, mask: u32) -> Result<Option<u8>, Refusal> {
    if transition != RST2INIT && mask & optional::COUNTER_SET_ID == 0 {
        return Ok(None);
    }
    let number = view.get(qpc::COUNTER_SET_ID) as u8;
    if number != 0 {
        call.check_use(Object::QCounter, number.into())?;
        call.device.find_q_counter(number)?;
    }
    Ok(Some(number))
}

/// Receives may complete in any order.
const IN_ANY_ORDER: u64 = 2;

/// How messages may be placed and complete (UCX `uct_ib_mlx5_devx_set_qpc_dp_ordering`): 0 in order, 1 WRITEs and READs
/// in any order, 2 receives as well.
pub(super) fn ordering(view: View<'_>) -> u64 {
    view.get(qpc::DP_ORDERING_1) << 1 | view.get(qpc::DP_ORDERING_0)
}

/// Fields that a transition takes and that only a query asks for.
fn kept_fields(transition: Transition, mask: u32) -> &'static [Field] {
    match transition {
        RST2INIT => {
            &[qpc::PM_STATE, qpc::COUNTER_SET_ID, qpc::DP_ORDERING_0, qpc::DP_ORDERING_1, qpc::DP_ORDERING_FORCE]
        }
        // A QP that connects by itself has no rights to change.
        INIT2RTR if mask & optional::RAE != 0 => {
            &[qpc::MTU, qpc::LOG_MSG_MAX, qpc::RAE, qpc::DP_ORDERING_0, qpc::DP_ORDERING_1, qpc::DP_ORDERING_FORCE]
        }
        INIT2RTR => &[qpc::MTU, qpc::LOG_MSG_MAX, qpc::DP_ORDERING_0, qpc::DP_ORDERING_1, qpc::DP_ORDERING_FORCE],
        RTR2RTS => &[qpc::LOG_ACK_REQ_FREQ],
        _ if mask & optional::COUNTER_SET_ID != 0 => &[qpc::COUNTER_SET_ID],
        _ => &[],
    }
}

/// Refuses features that the device lacks, as its capabilities say, if the transition takes them.
fn check(call: &Call<'_>, view: View<'_>, transition: Transition, mask: u32, made: &QpContext) -> Result<(), Refusal> {
    let parameter = |what: &str, value: u64| Err(Refusal::parameter(format!("{what} {value} is no capability")));
    if takes_lag_port(transition, mask) {
        lag::port(call, view.get(qpc::LAG_TX_PORT_AFFINITY))?;
    }
    let path_state = view.get(qpc::PM_STATE);
    let takes_path_state = transition == RST2INIT || mask & optional::PM_STATE != 0;
    if takes_path_state && !matches!(path_state, ARMED | MIGRATED) {
        return parameter("pm_state", path_state);
    }
    // The QP has been made with it, or not. Linux says so of targets of XRC, too, which post nothing.
    let posts = made.sq.is_some() || matches!(made.rq, ReceiveSource::Own(_));
    if transition == RST2INIT && view.flag(qpc::RLKY) && posts && !made.privileges.reserved_lkey {
        return parameter("the reserved key", 1);
    }
    let source = view.get(qpc::DETH_SQPN);
    if source != 0 && !made.privileges.sends_as_qp1 {
        return parameter("deth_sqpn", source);
    }
    let ordering = ordering(view);
    let most = if call.device.config().generation >= Generation::ConnectX7 { IN_ANY_ORDER } else { 0 };
    let forced = view.flag(qpc::DP_ORDERING_FORCE) && most == 0;
    if matches!(transition, RST2INIT | INIT2RTR) && (ordering > most || forced) {
        return parameter("dp_ordering", ordering);
    }
    // Its capabilities are about RC.
    let forced = view.part(qpc::PRIMARY_ADDRESS_PATH).flag(ads::FL);
    if transition == INIT2RTR && forced && made.transport != Transport::Rc {
        return parameter("fl", 1);
    }
    let log_msg_max = view.get(qpc::LOG_MSG_MAX);
    let most = u64::from(call.device.config().limits.max_msg.ilog2());
    if transition == INIT2RTR && log_msg_max > most {
        return parameter("log_msg_max", log_msg_max);
    }
    Ok(())
}

/// Whether a transition gives the QP a port of the bond.
fn takes_lag_port(transition: Transition, mask: u32) -> bool {
    transition == RST2INIT || mask & optional::LAG_TX_AFFINITY != 0
}

/// The sources of a transition's attributes.
struct Taken<'a> {
    service: &'static Service,
    transition: Transition,
    mask: u32,
    view: View<'a>,
    info: &'a QpInfo,
    ordering: u64,
    /// The options of enhanced connection establishment, if the driver names any.
    ece: Option<u32>,
    ports: &'a [PortConfig],
}

impl Taken<'_> {
    /// The changes that the device is to make.
    fn attributes(&self) -> Result<QpAttr, Refusal> {
        let mut attr = QpAttr { state: Some(self.transition.to), ece: self.ece, ..QpAttr::default() };
        let path = self.view.part(qpc::PRIMARY_ADDRESS_PATH);
        let to_init = self.transition == RST2INIT;
        if to_init || self.has(optional::PKEY_INDEX) {
            attr.pkey_index = Some(path.get(ads::PKEY_INDEX) as u16);
        }
        if to_init || self.has(optional::PRI_PORT) {
            attr.port = Some(path.get(ads::VHCA_PORT_NUM) as u8);
        }
        if takes_lag_port(self.transition, self.mask) {
            attr.lag_port = Some(self.view.get(qpc::LAG_TX_PORT_AFFINITY) as u8);
        }
        if self.service.datagram {
            attr.qkey = (to_init || self.has(optional::Q_KEY)).then(|| self.view.get32(qpc::Q_KEY));
        } else if self.service.initiator || self.service.transport == Transport::RegUmr {
            // It answers no requests.
        } else if to_init || self.has(optional::RRE | optional::RAE | optional::RWE) {
            attr.access = Some(self.access(to_init));
        }
        if self.has(optional::RNR_TIMEOUT) {
            attr.min_rnr_timer = Some(self.view.get(qpc::MIN_RNR_NAK) as u8);
        }
        match self.transition {
            RST2INIT | INIT2RTR if !self.service.initiator => {
                attr.out_of_order = (self.ordering & 2 != 0).then_some(true);
                let insists = self.view.flag(qpc::DP_ORDERING_FORCE) && self.ordering == 0;
                attr.in_order = insists.then_some(true);
            }
            RTS2SQD => attr.sqd_event = Some(true),
            _ => {}
        }
        if attr.access.is_some() || self.transition == INIT2RTR {
            let mode = self.view.get(qpc::ATOMIC_MODE);
            attr.extended_atomics = (mode != 0).then(|| atomic_mode::extended(mode)).transpose()?;
        }
        match self.transition {
            INIT2RTR => self.add_receiving(&mut attr)?,
            RTR2RTS => self.add_sending(&mut attr),
            _ => {}
        }
        Ok(attr)
    }

    fn has(&self, bits: u32) -> bool {
        self.mask & bits != 0
    }

    /// The rights of peers: the present ones, with each right changed whose bit is set.
    fn access(&self, all: bool) -> Access {
        let before = self.info.attr.access.unwrap_or_default();
        let right = |bit: u32, field: Field, before: bool| match all || self.has(bit) {
            true => self.view.flag(field),
            false => before,
        };
        let reliable = self.service.reliable;
        Access {
            local_write: true,
            remote_write: right(optional::RWE, qpc::RWE, before.remote_write),
            remote_read: reliable && right(optional::RRE, qpc::RRE, before.remote_read),
            remote_atomic: reliable && right(optional::RAE, qpc::RAE, before.remote_atomic),
        }
    }

    /// Adds the attributes that a QP needs to receive.
    fn add_receiving(&self, attr: &mut QpAttr) -> Result<(), Refusal> {
        let ads = self.view.part(qpc::PRIMARY_ADDRESS_PATH);
        let number = self.info.attr.port.unwrap_or(0);
        let named = ads.get(ads::VHCA_PORT_NUM);
        if named != 0 && named != u64::from(number) {
            let reason = format!("port {named}, and the QP is on port {number}");
            return Err(Refusal::new(Status::BadIndex, reason));
        }
        if self.service.connected {
            let port = usize::from(number).checked_sub(1).and_then(|index| self.ports.get(index));
            let port = port.ok_or_else(|| Refusal::new(Status::BadIndex, format!("no port {number}")))?;
            attr.path = Some(path::read(ads, port)?);
            attr.udp_sport = Some(ads.get(ads::UDP_SPORT) as u16);
            attr.dest_qpn = Some(self.view.get32(qpc::REMOTE_QPN));
            attr.rq_psn = Some(self.view.get32(qpc::NEXT_RCV_PSN));
        }
        if self.service.connected || self.service.initiator {
            attr.path_mtu = Some(mtu_bytes(self.view)?);
        }
        if self.service.connected && self.service.reliable && self.service.responds {
            attr.max_dest_rd_atomic = Some(1 << self.view.get(qpc::LOG_RRA_MAX));
            attr.min_rnr_timer = Some(self.view.get(qpc::MIN_RNR_NAK) as u8);
        }
        Ok(())
    }

    /// Adds the attributes that it needs to send.
    fn add_sending(&self, attr: &mut QpAttr) {
        if self.service.transport == Transport::RegUmr {
            return;
        }
        attr.sq_psn = Some(self.view.get32(qpc::NEXT_SEND_PSN));
        if self.service.reliable {
            let ads = self.view.part(qpc::PRIMARY_ADDRESS_PATH);
            attr.timeout = Some(ads.get(ads::ACK_TIMEOUT) as u8);
        }
        if self.service.reliable && self.service.requests {
            attr.max_rd_atomic = Some(1 << self.view.get(qpc::LOG_SRA_MAX));
            attr.retry_cnt = Some(self.view.get(qpc::RETRY_COUNT) as u8);
            attr.rnr_retry = Some(self.view.get(qpc::RNR_RETRY) as u8);
        }
    }
}

/// Bytes of `qpc.mtu` (IBTA vol. 1, 9.6: 1 is 256 bytes, and each more is twice as much).
fn mtu_bytes(view: View<'_>) -> Result<u32, Refusal> {
    match view.get(qpc::MTU) {
        code @ 1..=5 => Ok(128 << code),
        code => Err(Refusal::parameter(format!("mtu {code}: 1 (256 bytes) to 5 (4096 bytes)"))),
    }
}

/// An index past its table has a status of its own.
fn refusal(error: Error) -> Refusal {
    match error {
        Error::BadValue { what: "port" | "pkey_index" | "sgid_index", .. } => {
            Refusal::new(Status::BadIndex, error.to_string())
        }
        _ => error.into(),
    }
}
