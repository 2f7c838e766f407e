//! Shared receive queues.

use super::cq::Cq;
use super::event_file;
use super::pd::Pd;
use super::request::Request;
use super::xrc_domain::Xrcd;
use crate::abi::mailbox::creator;
use crate::abi::mlx5::{CreateSrq, CreateSrqResp};
use crate::abi::{EventsReported, ModifySrq, QuerySrq, QuerySrqResp, UHW_IN, UHW_OUT};
use crate::context::{self, CommandId, Context, Rank};
use crate::device::limits::{MAX_QUEUE_WR, MAX_RQ_WQE};
use crate::device::{Hca, Origin, Pinned, Source};
use crate::process::Errno;
use softhca::context::{RqContext, SrqContext, TagContext, XrcContext};
use softhca::error::Object;
use softhca::firmware::DRIVER;
use std::sync::Arc;

/// Bytes of the segment that links a WQE to the next, and of a data segment.
const SEGMENT_BYTES: u32 = 16;

/// `MLX5_IB_DEFAULT_UIDX`.
const NO_INDEX: u32 = 0xff_ffff;

/// A shared receive queue.
pub(crate) struct Srq {
    /// The device's number for it.
    pub(crate) number: u32,
    /// WQEs that can be posted at once.
    max_wr: u32,
    /// Scatter entries of a WQE.
    max_sge: u32,
    /// For an SRQ of an XRC domain: the domain and the CQ, which it keeps busy.
    xrc: Option<OfXrc>,
    /// It matches tags: its CQ, which is kept busy.
    tags: Option<Arc<Cq>>,
    events: Arc<Source>,
    _pinned: [Pinned; 2],
    /// Keeps the domain busy.
    _pd: Arc<Pd>,
}

impl context::Object for Srq {
    fn rank(&self) -> Rank {
        Rank::Srq
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.destroy(Object::Srq, self.number, |device| device.destroy_srq(self.number))?;
        hca.forget(Origin::Srq(self.number), &self.events);
        Ok(())
    }

    /// mlx5_ib makes plain SRQs as RMPs, and those that match tags as XRQs.
    fn is_named(&self, id: CommandId) -> bool {
        let creator = match (&self.xrc, &self.tags) {
            (Some(_), _) => creator::XRC_SRQ,
            (_, Some(_)) => creator::XRQ,
            _ => creator::RMP,
        };
        id == CommandId::new(creator, self.number)
    }
}

impl Srq {
    /// Whether it belongs to an XRC domain.
    pub(crate) fn is_xrc(&self) -> bool {
        self.xrc.is_some()
    }

    /// Whether it matches messages with tags.
    pub(crate) fn matches_tags(&self) -> bool {
        self.tags.is_some()
    }

    fn reported(&self) -> EventsReported {
        EventsReported { events_reported: self.events.retire() }
    }
}

/// The owners of an SRQ of an XRC domain: the domain, and the CQ of its receives.
type OfXrc = (Arc<Xrcd>, Arc<Cq>);

/// Further attributes of an SRQ.
enum Kind {
    /// Nothing.
    Basic,
    /// Of an XRC domain.
    Xrc(OfXrc),
    /// One that matches tags: the CQ, and log2 of the places of its list.
    Tags(Arc<Cq>, u8),
}

/// These attributes, from a request.
fn kind(context: &Context, request: &Request) -> Result<Kind, Errno> {
    const TYPE_BASIC: u64 = 0;
    const TYPE_XRC: u64 = 1;
    const TYPE_TM: u64 = 2;
    match request.input(9)? {
        TYPE_BASIC => Ok(Kind::Basic),
        TYPE_XRC => {
            let cq: Arc<Cq> = context.get(request.handle(3)?)?;
            Ok(Kind::Xrc((context.get(request.handle(2)?)?, cq)))
        }
        TYPE_TM => {
            let cq: Arc<Cq> = context.get(request.handle(3)?)?;
            // `mlx5_ib_create_srq` makes more places than tags, too.
            let tags: u32 = request.input(8)?;
            let log = tags.checked_ilog2().ok_or(Errno::EINVAL)? + 1;
            let most = u32::from(TagContext::MAX_LOG_LIST);
            if log > most { Err(Errno::EINVAL) } else { Ok(Kind::Tags(cq, log as u8)) }
        }
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// `SRQ_CREATE`. Its attributes are 0 handle, 1 PD, 2 XRC domain, 3 CQ, 4 user's handle, 5 WQEs less one, 6 scatter
/// entries, 7 limit. The others are 8 tags, 9 type, 10 asynchronous event file, 11 WQEs given, 12 scatter entries
/// given.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    let driver: CreateSrq = request.input(UHW_IN)?;
    let pd: Arc<Pd> = context.get(request.handle(1)?)?;
    let user_handle: u64 = request.input(4)?;
    let max_wr: u32 = request.input(5)?;
    let max_sge: u32 = request.input(6)?;
    let limit: u32 = request.input(7)?;
    let kind = kind(context, request)?;
    if driver.flags != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    // As mlx5_ib does: one WQE more than can be posted, since the list of free ones never runs empty; a power of two
    // of both WQEs and bytes.
    if max_wr >= MAX_QUEUE_WR || max_sge > u32::from(MAX_RQ_WQE) / SEGMENT_BYTES {
        return Err(Errno::EINVAL);
    }
    let stride = (SEGMENT_BYTES * (1 + max_sge)).next_power_of_two().max(32);
    let entries = (max_wr + 1).next_power_of_two();
    if stride > u32::from(MAX_RQ_WQE) || limit >= entries {
        return Err(Errno::EINVAL);
    }
    let rq = RqContext {
        buf: driver.buf_addr,
        log_size: entries.trailing_zeros() as u8,
        log_stride: stride.trailing_zeros() as u8,
    };
    let events = Source::new(context.async_events(event_file::named(context, request, 10)?), user_handle);
    let pinned =
        [Pinned::to_read(hca, driver.buf_addr, (entries * stride).into())?, context.pin_record(driver.db_addr, 4)?];
    let srq = SrqContext { pd: pd.number, rq, dbr: driver.db_addr, limit: limit as u16, ..SrqContext::default() };
    // CQEs of version 0 are asked for by the highest index; they have the SRQ's number.
    let uidx = (driver.uidx != NO_INDEX).then_some(driver.uidx & 0xff_ffff);
    let number = match &kind {
        Kind::Basic => hca.create(context.user(), Object::Srq, |device| device.create_srq(srq))?,
        // The driver's own, as in `create_srq_user`: commands of users cannot name it.
        Kind::Xrc((xrcd, cq)) => {
            let xrc = XrcContext { xrcd: xrcd.domain.number, cqn: cq.number, uidx };
            hca.create(DRIVER, Object::Srq, |device| device.create_xrc_srq(srq, xrc))?
        }
        Kind::Tags(cq, log_list) => {
            // Linux asks for rendezvous always.
            let tags = TagContext { cqn: cq.number, uidx, log_list: *log_list, rendezvous: true };
            hca.create(context.user(), Object::Srq, |device| device.create_tag_srq(srq, tags))?
        }
    };
    let (xrc, tags) = match kind {
        Kind::Basic => (None, None),
        Kind::Xrc(xrc) => (Some(xrc), None),
        Kind::Tags(cq, _) => (None, Some(cq)),
    };
    let max_sge = stride / SEGMENT_BYTES - 1;
    let srq = Arc::new(Srq { number, max_wr: entries - 1, max_sge, xrc, tags, events, _pinned: pinned, _pd: pd });
    hca.know(Origin::Srq(number), &srq.events);
    request.put_handle(0, context.insert(srq))?;
    request.put(11, &(entries - 1))?;
    request.put(12, &max_sge)?;
    request.put_optional(13, &number)?;
    request.put(UHW_OUT, &CreateSrqResp { srqn: number, reserved: 0 })
}

/// Destroys one: how many events the program has read.
pub(super) fn destroy(context: &Context, handle: u32) -> Result<EventsReported, Errno> {
    Ok(context.destroy::<Srq>(handle)?.reported())
}

/// `MODIFY_SRQ`: the limit; mlx5 cannot resize.
pub(crate) fn modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const ATTR_MAX_WR: u32 = 1;
    const ATTR_LIMIT: u32 = 1 << 1;
    let wanted: ModifySrq = request.core_in()?;
    let srq: Arc<Srq> = context.get(wanted.srq_handle).map_err(|_| Errno::EINVAL)?;
    if wanted.attr_mask & ATTR_MAX_WR != 0 {
        return Err(Errno::EINVAL);
    }
    if wanted.attr_mask & ATTR_LIMIT != 0 {
        if wanted.srq_limit > srq.max_wr {
            return Err(Errno::EINVAL);
        }
        // At most 32767.
        let limit = wanted.srq_limit as u16;
        context.hca.command(|device| device.modify_srq_limit(srq.number, limit))?;
    }
    Ok(())
}

/// `QUERY_SRQ`.
pub(crate) fn query(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: QuerySrq = request.core_in()?;
    let srq: Arc<Srq> = context.get(wanted.srq_handle).map_err(|_| Errno::EINVAL)?;
    let limit = context.hca.command(|device| device.query_srq_limit(srq.number))?;
    request.core_out(&QuerySrqResp { max_wr: srq.max_wr, max_sge: srq.max_sge, srq_limit: limit.into(), reserved: 0 })
}
