//! Queue pairs: creation and destruction.

use super::cq::Cq;
use super::dct::Dct;
use super::event_file;
use super::pair_rate::PairRate;
use super::pd::Pd;
use super::raw_receiver::RawReceiver;
use super::request::Request;
use super::rss::RssQp;
use super::srq::Srq;
use super::xrc_domain::Xrcd;
use crate::abi::mailbox::{creator, destroyer};
use crate::abi::mlx5::{CreateQp, CreateQpResp, MULTI_PACKET_ALLOWED, qp_flag, qp_resp};
use crate::abi::{EventsReported, QpCap, UHW_IN, UHW_OUT, qp_attr};
use crate::context::uars::Register;
use crate::context::{self, CommandId, Context, Rank, mapping};
use crate::device::limits::{MAX_QUEUE_WR, MAX_RQ_WQE};
use crate::device::{FrameQueue, Hca, Origin, Pinned, Source};
use crate::process::{Errno, capability, has_capability, lock};
use softhca::context::{DciStreams, QpContext, ReceiveSource, RqContext, SqContext, Transport};
use softhca::error::Object;
use softhca::firmware::{DRIVER, Uid};
use softhca_settings::Gid;
use std::sync::{Arc, Mutex};
use zerocopy::FromZeros;

/// A multicast group as a program names it, by GID and LID: on Ethernet, the LID means nothing.
pub(super) type Group = (Gid, u16);

/// Bytes of a send queue's building block.
const WQEBB_BYTES: u64 = 64;

/// `IB_UVERBS_QPT_DRIVER`: a kind that the driver's flags tell.
pub(super) const OF_DRIVER: u64 = 0xff;
/// `IB_UVERBS_QP_CREATE_SQ_SIG_ALL`.
pub(super) const FLAG_SQ_SIG_ALL: u32 = 1 << 12;
/// `IB_UVERBS_QP_CREATE_CVLAN_STRIPPING`: of QPs for raw packets.
const FLAG_CVLAN_STRIPPING: u32 = 1 << 9;
/// `IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK`.
const FLAG_BLOCK_MULTICAST_LOOPBACK: u32 = 1 << 1;

/// Bytes of a scatter entry.
const DATA_SEGMENT_BYTES: u32 = 16;

/// A queue pair.
pub(crate) struct Qp {
    /// Its QPN.
    pub(crate) number: u32,
    /// The answer to a query. It has only the receive ring, like `mlx5_ib`'s answer; libmlx5 fills in the rest.
    pub(crate) cap: QpCap,
    /// All requests complete with a CQE.
    pub(crate) signal_all: bool,
    /// Transport service.
    pub(super) transport: Transport,
    /// The rate at which it sends.
    pub(super) rate: PairRate,
    /// Where its events go.
    pub(super) events: Arc<Source>,
    needs: Needs,
    /// The multicast groups that it is in.
    pub(super) groups: Mutex<Vec<Group>>,
}

/// The needs of a QP.
pub(super) enum Needs {
    /// The objects that were made for it or that it keeps busy.
    Parts { kept: Box<Parts> },
    /// A target of XRC: its domain.
    Domain(Arc<Xrcd>),
}

/// The parts of a QP.
pub(super) struct Parts {
    _pinned: [Pinned; 3],
    /// Given back when the QP goes.
    _register: Register,
    /// Kept busy.
    _pd: Arc<Pd>,
    _cqs: [Arc<Cq>; 2],
    _srq: Option<Arc<Srq>>,
    /// The TIS of a QP that sends frames, and whose it is. Programs ask it for their transport domain.
    tis: Option<(Uid, u32)>,
    receiver: Option<RawReceiver>,
}

impl context::Object for Qp {
    fn rank(&self) -> Rank {
        Rank::Qp
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        if let Needs::Domain(xrcd) = &self.needs {
            return xrcd.close_target(hca, self.number, &self.events);
        }
        if let Some(receiver) = self.receiver() {
            receiver.release(hca, &self.events)?;
        }
        hca.destroy(Object::Qp, self.number, |device| device.destroy_qp(self.number))?;
        hca.forget(Origin::Qp(self.number), &self.events);
        if let Some((user, tisn)) = self.tis() {
            destroy_tis(hca, user, tisn);
        }
        self.rate.release(hca)
    }

    /// A QP for raw packets is a send queue and what receives.
    fn is_named(&self, id: CommandId) -> bool {
        let creator = if self.transport == Transport::RawPacket { creator::SQ } else { creator::QP };
        id == CommandId::new(creator, self.number)
            || self.tis().is_some_and(|(_, tisn)| id == CommandId::new(creator::TIS, tisn))
            || self.receiver().is_some_and(|receiver| receiver.is_named(id))
    }
}

impl Qp {
    /// A target of XRC that somebody has opened: with what `needs` says.
    pub(super) fn of_target(number: u32, events: Arc<Source>, needs: Needs) -> Self {
        let cap = FromZeros::new_zeroed();
        let rate = PairRate::default();
        let groups = Mutex::default();
        Self { number, cap, signal_all: false, transport: Transport::Xrc, rate, events, needs, groups }
    }

    pub(super) fn tis(&self) -> Option<(Uid, u32)> {
        match &self.needs {
            Needs::Parts { kept } => kept.tis,
            Needs::Domain(_) => None,
        }
    }

    /// The receiver of its frames.
    pub(super) fn receiver(&self) -> Option<&RawReceiver> {
        match &self.needs {
            Needs::Parts { kept } => kept.receiver.as_ref(),
            Needs::Domain(_) => None,
        }
    }

    /// Attributes that mean nothing to it, as it is one end of XRC (`modify_qp_mask` of the kernel).
    pub(super) fn ignored(&self) -> u32 {
        match (&self.needs, self.transport) {
            (Needs::Domain(_), _) => qp_attr::MAX_QP_RD_ATOMIC | qp_attr::RETRY_CNT | qp_attr::RNR_RETRY,
            (Needs::Parts { .. }, Transport::Xrc) => qp_attr::MAX_DEST_RD_ATOMIC | qp_attr::MIN_RNR_TIMER,
            (Needs::Parts { .. }, _) => 0,
        }
    }

    fn reported(&self) -> EventsReported {
        EventsReported { events_reported: self.events.retire() }
    }
}

/// log2 of a ring's size, which must be a power of two; `None` for no ring.
fn log_ring(count: u32) -> Result<Option<u8>, Errno> {
    match count {
        0 => Ok(None),
        _ if count.is_power_of_two() && count <= MAX_QUEUE_WR => Ok(Some(count.trailing_zeros() as u8)),
        _ => Err(Errno::EINVAL),
    }
}

/// Most bytes of data that fit into a CQE of `cqe_bytes`.
fn scatter_limit(cqe_bytes: u32) -> u32 {
    if cqe_bytes == 128 { 64 } else { 32 }
}

fn transport(qp_type: u64, flags: u32) -> Result<Transport, Errno> {
    match qp_type {
        2 => Ok(Transport::Rc),
        3 => Ok(Transport::Uc),
        4 => Ok(Transport::Ud),
        8 => Ok(Transport::RawPacket),
        OF_DRIVER if flags & qp_flag::TYPE_DCI != 0 => Ok(Transport::Dc),
        9 => Ok(Transport::Xrc),
        _ => Err(Errno::EINVAL),
    }
}

/// `QP_CREATE`, except for targets. Its attributes are 0 handle, 1 XRC domain, 2 PD, 3 SRQ, 4 send CQ, 5 receive CQ, 7
/// user's handle. The others are 8 capabilities, 9 type, 10 flags, 12 asynchronous event file, 13 capabilities given,
/// 14 QPN.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    let driver: CreateQp = request.input(UHW_IN)?;
    let qp_type: u64 = request.input(9)?;
    let transport = transport(qp_type, driver.flags)?;
    if transport == Transport::RawPacket {
        if !has_capability(capability::NET_RAW) {
            return Err(Errno::EPERM);
        }
        if context.answer.get().is_none_or(|answer| answer.cqe_version == 0) {
            return Err(Errno::EINVAL);
        }
    }
    let cap: QpCap = request.input(8)?;
    let user_handle: u64 = request.input(7)?;
    let flags: u32 = request.optional(10)?.unwrap_or(0);
    // Some of them would be other kinds of QPs, some other layouts of WQEs: not to be ignored.
    let raw = transport == Transport::RawPacket;
    let permitted = FLAG_SQ_SIG_ALL | if raw { FLAG_CVLAN_STRIPPING } else { FLAG_BLOCK_MULTICAST_LOOPBACK };
    let signed = driver.flags & qp_flag::SIGNATURE != 0;
    // Linux makes the two queues of raw packets without signatures, and libmlx5 signs all the same.
    let supported = qp_flag::SUPPORTED | if raw { qp_flag::TUNNEL_OFFLOADS } else { 0 };
    if flags & !permitted != 0 || driver.flags & !supported != 0 || raw && signed {
        return Err(Errno::EOPNOTSUPP);
    }
    let signal_all = flags & FLAG_SQ_SIG_ALL != 0;
    let pd: Arc<Pd> = context.get(request.handle(2)?)?;
    let send_cq: Arc<Cq> = context.get(request.handle(4)?)?;
    // An initiator of XRC has none, nor an SRQ.
    let xrc = transport == Transport::Xrc;
    let recv_cq: Arc<Cq> = if xrc { send_cq.clone() } else { context.get(request.handle(5)?)? };
    let srq: Option<Arc<Srq>> = request.optional_handle(3).map(|handle| context.get(handle)).transpose()?;
    // As the kernel does.
    let is_foreign = request.optional_handle(1).is_some() || srq.as_ref().is_some_and(|srq| xrc || srq.is_xrc());
    if is_foreign || xrc && driver.rq_wqe_count != 0 {
        return Err(Errno::EINVAL);
    }
    let events = Source::new(context.async_events(event_file::named(context, request, 12)?), user_handle);

    let qp_has_srq = srq.is_some();
    let log_stride = driver.rq_wqe_shift;
    let log_rq = if srq.is_some() { None } else { log_ring(driver.rq_wqe_count)? };
    if log_rq.is_some() && !(4..=MAX_RQ_WQE.ilog2()).contains(&log_stride) {
        return Err(Errno::EINVAL);
    }
    let rq_bytes = log_rq.map_or(0, |log| 1 << (u32::from(log) + log_stride));
    let log_sq = log_ring(driver.sq_wqe_count)?;
    let sq_bytes = log_sq.map_or(0, |log| WQEBB_BYTES << log);
    // The rings are one buffer, save those of raw packets, which are two objects in a ConnectX.
    if raw && log_rq.is_none() && log_sq.is_none() {
        return Err(Errno::EINVAL);
    }
    let (rings_bytes, sq_buf) = if raw {
        (rq_bytes, driver.sq_buf_addr)
    } else {
        (rq_bytes + sq_bytes, driver.buf_addr.checked_add(rq_bytes).ok_or(Errno::EFAULT)?)
    };
    let rq = match (&srq, log_rq) {
        // An initiator receives nothing, whatever libmlx5 has made room for. Frames have a queue of their own.
        _ if raw || transport == Transport::Dc => ReceiveSource::None,
        (Some(srq), _) => ReceiveSource::Shared { srqn: srq.number },
        (None, Some(log_size)) => {
            ReceiveSource::Own(RqContext { buf: driver.buf_addr, log_size, log_stride: log_stride as u8 })
        }
        (None, None) => ReceiveSource::None,
    };

    // mlx5_ib asks the device to put small results into CQEs of READs only if each READ has a CQE, or if the program
    // requests it. It never asks for XRC.
    let scatter = driver.flags & qp_flag::SCATTER_CQE != 0;
    let scatter_req = scatter
        && matches!(transport, Transport::Rc | Transport::Dc)
        && (signal_all || driver.flags & qp_flag::ALLOW_SCATTER_CQE != 0);
    let scatter_res = scatter && matches!(transport, Transport::Rc | Transport::Uc);

    let (timestamps, recv_timestamps) = (send_cq.timestamps(hca)?, recv_cq.timestamps(hca)?);
    // Those of raw packets are two queues (`get_qp_ts_format`).
    if !raw && timestamps != recv_timestamps {
        return Err(Errno::EOPNOTSUPP);
    }

    let mut register = Register::choose(context.static_uars.get(), &driver);
    if register.is_err() {
        mapping::add_unseen(context)?;
        register = Register::choose(context.static_uars.get(), &driver);
    }
    let register = register?;
    mapping::watch_unseen(context);
    let pinned = [
        Pinned::to_read(hca, driver.buf_addr, rings_bytes)?,
        Pinned::to_read(hca, sq_buf, if raw { sq_bytes } else { 0 })?,
        context.pin_record(driver.db_addr, 8)?,
    ];
    // Initiators of XRC are the driver's own (`_create_user_qp`): commands of users cannot name them.
    let user = if xrc { DRIVER } else { context.user() };
    let number = hca.create(user, Object::Qp, |device| {
        device.create_qp(QpContext {
            pd: pd.number,
            send_cqn: send_cq.number,
            recv_cqn: recv_cq.number,
            sq: log_sq.map(|log_size| SqContext {
                buf: sq_buf,
                log_size,
                inline_headers: hca.settings.inline_headers.into(),
                // Linux sets it the same way (`create_raw_packet_qp_sq`).
                multi_packet: hca.capabilities.frames.multi_packet_wqes & MULTI_PACKET_ALLOWED != 0,
                software_parser: hca.capabilities.frames.sw_parsing_caps[0] != 0,
                ..SqContext::default()
            }),
            rq,
            dbr: driver.db_addr,
            uar: register.page(),
            uidx: driver.uidx & 0xff_ffff,
            timestamps,
            scatter_to_cqe_req: if scatter_req { scatter_limit(send_cq.cqe_bytes) } else { 0 },
            scatter_to_cqe_res: if scatter_res { scatter_limit(recv_cq.cqe_bytes) } else { 0 },
            streams: (driver.flags & qp_flag::DCI_STREAM != 0)
                .then_some(DciStreams { log_channels: driver.dci_streams[0], log_errored: driver.dci_streams[1] }),
            signed,
            blocks_own_multicast: flags & FLAG_BLOCK_MULTICAST_LOOPBACK != 0,
            // Of raw packets, the two queues have none (`check_ucmd_data`).
            ece: if raw { 0 } else { driver.ece_options },
            // Without `signal_all`: libmlx5 asks for a CQE in every WQE.
            ..QpContext::new(transport)
        })
    })?;
    // As Linux, which leaves the queue that the program does not have to the device.
    if log_sq.is_none() && srq.as_ref().is_some_and(|srq| srq.matches_tags()) {
        hca.command(|device| device.offload_rendezvous(number))?;
    }
    let bfreg_index = register.number();
    let destroy_qp = || {
        if let Err(error) = hca.destroy(Object::Qp, number, |device| device.destroy_qp(number)) {
            log::warn!("QP {number:#x} stays: {error:?}");
        }
    };
    let sends_frames = raw && log_sq.is_some();
    let tisn = match sends_frames {
        true => {
            context.transport_domain().and_then(|domain| hca.create_tis(user, domain)).inspect_err(|_| destroy_qp())?
        }
        false => 0,
    };
    let receiver = log_rq.filter(|_| raw).map(|log_size| {
        let queue = FrameQueue {
            pd: pd.number,
            cqn: recv_cq.number,
            ring: driver.buf_addr,
            record: driver.db_addr,
            log_size: log_size.into(),
            log_stride,
            user_index: driver.uidx & 0xff_ffff,
            timestamps: recv_timestamps,
            strips_vlan: flags & FLAG_CVLAN_STRIPPING != 0,
            signed: false,
            strides: None,
        };
        RawReceiver::new(context, &queue, driver.flags & qp_flag::TUNNEL_OFFLOADS != 0, &events)
    });
    let receiver = receiver.transpose().inspect_err(|_| {
        destroy_qp();
        if sends_frames {
            destroy_tis(hca, user, tisn);
        }
    })?;
    let (rqn, tirn) = receiver.as_ref().map_or((0, 0), |receiver| (receiver.rqn, receiver.tirn));
    let ring = QpCap {
        max_recv_wr: log_rq.map_or(0, |log| 1 << log),
        max_recv_sge: log_rq.map_or(0, |_| (1 << log_stride) / DATA_SEGMENT_BYTES - u32::from(signed)),
        ..FromZeros::new_zeroed()
    };
    // A QP with an SRQ has no receive ring, even if the request asks for one.
    let told = if qp_has_srq { QpCap { max_recv_wr: 0, max_recv_sge: 0, ..cap } } else { cap };
    let qp = Arc::new(Qp {
        number,
        cap: ring,
        signal_all,
        transport,
        rate: PairRate::default(),
        events,
        groups: Mutex::default(),
        needs: Needs::Parts {
            kept: Box::new(Parts {
                _pinned: pinned,
                _register: register,
                _pd: pd,
                _cqs: [send_cq, recv_cq],
                _srq: srq,
                tis: sends_frames.then_some((user, tisn)),
                receiver,
            }),
        },
    });
    hca.know(Origin::Qp(number), &qp.events);
    request.put_handle(0, context.insert(qp))?;
    request.put(13, &told)?;
    // One for raw packets has the number of its send queue, or else of its receive queue.
    request.put(14, if raw && log_sq.is_none() { &rqn } else { &number })?;
    let sqn = if sends_frames { number } else { 0 };
    let ece_options = hca.command(|device| device.qp_context(number).map(|context| context.ece))?;
    let mut response = CreateQpResp { bfreg_index, ece_options, ..FromZeros::new_zeroed() };
    if raw && user != DRIVER {
        (response.rqn, response.sqn, response.tirn, response.tisn) = (rqn, sqn, tirn, tisn);
        response.comp_mask = if sends_frames { qp_resp::SQN | qp_resp::TISN } else { 0 };
        response.comp_mask |= if rqn != 0 { qp_resp::RQN | qp_resp::TIRN } else { 0 };
    }
    request.put(UHW_OUT, &response)
}

fn destroy_tis(hca: &Hca, user: Uid, tisn: u32) {
    if let Err(error) = hca.carry_out_on(user, destroyer::TIS, tisn) {
        log::warn!("TIS {tisn:#x} stays: {error:?}");
    }
}

/// Destroys one: how many events the program has read.
pub(super) fn destroy(context: &Context, handle: u32) -> Result<EventsReported, Errno> {
    if context.get::<Dct>(handle).is_ok() {
        return Ok(context.destroy::<Dct>(handle)?.reported());
    }
    if context.get::<RssQp>(handle).is_ok() {
        return Ok(context.destroy::<RssQp>(handle)?.reported());
    }
    // The program leaves its multicast groups first (`uverbs_free_qp` of the kernel).
    if context.get::<Qp>(handle).is_ok_and(|qp| !lock(&qp.groups).is_empty()) {
        return Err(Errno::EBUSY);
    }
    Ok(context.destroy::<Qp>(handle)?.reported())
}
