//! The common parts of shared receive queues of all kinds: a ring, a record, a limit, and a number from one space.

use super::layouts::{arm_rq_in, destroy_srq_in};
use crate::context::{RqContext, SrqContext, SrqOrder, TagContext, XrcContext};
use crate::error::Object;
use crate::firmware::call::Call;
use crate::firmware::commands::work_queue::{check_no_slave, check_plain, wq};
use crate::firmware::layout::{Layout, View, ViewMut};
use crate::firmware::objects::{SrqKind, SrqRecord};
use crate::firmware::placement::{Placement, WQ_PAGE_OFFSETS};
use crate::firmware::status::Refusal;
use crate::query::SrqInfo;

/// Bytes of the doorbell record that count.
const RECORD_BYTES: u64 = 4;

/// `wq.wq_type` (`MLX5_WQ_TYPE_*`).
const LINKED_LIST: u64 = 0;
const CYCLIC: u64 = 1;

/// A new queue, as its mailbox describes it.
pub(super) struct New<'a> {
    pub(super) kind: SrqKind,
    /// Its context.
    pub(super) context: View<'a>,
    pub(super) pd: u32,
    pub(super) order: SrqOrder,
    /// log2 of WQEs, and of bytes per WQE.
    pub(super) log_size: u64,
    pub(super) log_stride: u64,
    pub(super) limit: u16,
    /// Where its ring lies, without how long it is.
    pub(super) ring: Placement,
    /// User memory of its record, and the address.
    pub(super) record: (Option<u32>, u64),
    /// CQ that an extended receive queue names.
    pub(super) cqn: Option<u32>,
    /// Additional context of a queue in an XRC domain.
    pub(super) xrc: Option<XrcContext>,
    /// Additional context of a queue that matches tags.
    pub(super) tags: Option<TagContext>,
}

impl New<'_> {
    /// Makes it; its number.
    pub(super) fn create(self, call: &mut Call<'_>) -> Result<u32, Refusal> {
        call.check_use(Object::Pd, self.pd)?;
        if u32::from(self.limit) > 1 << self.log_size.min(31) {
            return Err(Refusal::parameter(format!("a limit of {} of 2^{} WQEs", self.limit, self.log_size)));
        }
        if let Some(cqn) = self.cqn {
            call.check_use(Object::Cq, cqn)?;
            call.device.query_cq(cqn)?;
        }
        if let Some(xrc) = self.xrc {
            call.check_use(Object::Xrcd, xrc.xrcd)?;
            call.check_use(Object::Cq, xrc.cqn)?;
        }
        let (umem, at) = self.record;
        if at % RECORD_BYTES != 0 {
            return Err(Refusal::parameter(format!("a doorbell record at {at:#x}: not a multiple of {RECORD_BYTES}")));
        }
        let len = 1_u64 << (self.log_size + self.log_stride);
        let buf = call.ring(Placement { len, ..self.ring })?;
        let dbr = call.record(umem, at, RECORD_BYTES)?;
        let context = SrqContext {
            pd: self.pd,
            rq: RqContext { buf, log_size: self.log_size as u8, log_stride: self.log_stride as u8 },
            order: self.order,
            is_pool: self.kind == SrqKind::Rmp,
            dbr,
            limit: self.limit,
        };
        let srqn = match (self.xrc, self.tags) {
            (Some(xrc), _) => call.device.create_xrc_srq(context, xrc)?,
            (_, Some(tags)) => call.device.create_tag_srq(context, tags)?,
            _ => call.device.create_srq(context)?,
        };
        call.created(Object::Srq, srqn);
        if let Some(cqn) = self.cqn {
            call.device.hold_cq(cqn)?;
        }
        let record = SrqRecord { kind: self.kind, context: self.context.0.to_vec(), cqn: self.cqn };
        call.state.queues.srqs.insert(srqn, record);
        Ok(srqn)
    }
}

/// A new queue, as its work queue describes it; `basic` is `basic_cyclic_rcv_wqe`. Its pages follow the mailbox
/// `input`.
pub(super) fn of_work_queue<'a>(
    call: &Call<'_>,
    kind: SrqKind,
    context: View<'a>,
    view: View<'_>,
    basic: bool,
    input: &Layout,
) -> Result<New<'a>, Refusal> {
    let order = match (view.get(wq::WQ_TYPE), basic) {
        (LINKED_LIST, false) => SrqOrder::Linked,
        (CYCLIC, basic) => SrqOrder::Cyclic { next_segment: !basic },
        (other, _) => {
            let reason = format!("wq_type {other}: 0 (linked list) or 1 (cyclic, which alone may be basic)");
            return Err(Refusal::parameter(reason));
        }
    };
    check_plain(view)?;
    check_no_slave(view)?;
    // The device reports these fields of queues that count. Pools do not.
    for field in [wq::HW_COUNTER, wq::SW_COUNTER] {
        absent(view.get(field), field.name)?;
    }
    let umem = (view.get32(wq::WQ_UMEM_ID), view.get(wq::WQ_UMEM_OFFSET));
    Ok(New {
        kind,
        context,
        pd: view.get32(wq::PD),
        order,
        log_size: view.get(wq::LOG_WQ_SZ),
        log_stride: view.get(wq::LOG_WQ_STRIDE),
        limit: view.get(wq::LWM) as u16,
        ring: Placement {
            umem: view.flag(wq::WQ_UMEM_VALID).then_some(umem),
            pages: call.input.words(input),
            log_page_size: view.get(wq::LOG_WQ_PG_SZ),
            page_offset: view.get(wq::PAGE_OFFSET),
            page_offsets: WQ_PAGE_OFFSETS,
            len: 0,
            written: false,
        },
        record: (view.flag(wq::DBR_UMEM_VALID).then(|| view.get32(wq::DBR_UMEM_ID)), view.get(wq::DBR_ADDR)),
        cqn: None,
        xrc: None,
        tags: None,
    })
}

/// The user index that the CQEs of a queue carry; `None` is the queue's own number, which the kernel asks for by the
/// highest index (`MLX5_IB_DEFAULT_UIDX`: CQEs of version 0).
pub(super) fn user_index(given: u32) -> Option<u32> {
    const NONE: u32 = 0xff_ffff;
    (given != NONE).then_some(given)
}

/// Refuses a field that stands for something which the device does not have.
pub(super) fn absent(value: u64, name: &str) -> Result<(), Refusal> {
    if value == 0 {
        Ok(())
    } else {
        Err(Refusal::parameter(format!("{name} {value}: not a capability of this device")))
    }
}

/// The number in the mailbox, if it is that of a queue of one of `kinds`, and the caller's. All commands on one queue
/// have it in the same place.
pub(super) fn number(call: &Call<'_>, kinds: &[SrqKind]) -> Result<u32, Refusal> {
    let number = call.owned(Object::Srq, destroy_srq_in::SRQN)?;
    of_kinds(call, number, kinds)
}

/// The [`number`] of a command that only asks: the queue may be one that all use.
pub(super) fn asked(call: &Call<'_>, kinds: &[SrqKind]) -> Result<u32, Refusal> {
    let number = call.usable(Object::Srq, destroy_srq_in::SRQN)?;
    of_kinds(call, number, kinds)
}

/// `number`, if it names a queue of one of `kinds`. A queue that no command has made belongs to an XRC domain, or it is
/// both an SRQ and an RMP: the kernel makes its SRQs as RMPs.
fn of_kinds(call: &Call<'_>, number: u32, kinds: &[SrqKind]) -> Result<u32, Refusal> {
    let info = call.device.query_srq(number)?;
    let is_one = match call.state.queues.srqs.get(&number) {
        Some(record) => kinds.contains(&record.kind),
        None if info.xrc.is_some() => kinds.contains(&SrqKind::Xrc),
        None if info.tags.is_some() => kinds.contains(&SrqKind::Xrq),
        None => kinds.contains(&SrqKind::Srq) || kinds.contains(&SrqKind::Rmp),
    };
    if is_one { Ok(number) } else { Err(Refusal::resource(format!("{number:#x} is not one of {kinds:?}"))) }
}

/// Destroys it, unless QPs use it.
pub(super) fn destroy(call: &mut Call<'_>, kind: SrqKind) -> Result<(), Refusal> {
    let number = number(call, &[kind])?;
    call.device.destroy_srq(number)?;
    call.destroyed(Object::Srq, number);
    if let Some(cqn) = call.state.queues.srqs.remove(&number).and_then(|record| record.cqn) {
        call.device.release_cq(cqn);
    }
    Ok(())
}

/// Arms the event for fewer WQEs than the mailbox's limit, which all commands have in the same place.
pub(super) fn arm(call: &mut Call<'_>, kinds: &[SrqKind]) -> Result<(), Refusal> {
    let number = number(call, kinds)?;
    let limit = call.input.get(arm_rq_in::LWM) as u16;
    Ok(call.device.modify_srq_limit(number, limit)?)
}

/// The context of queue `number` as it was given, of `bytes` bytes, and the queue's present state.
pub(super) fn context(call: &Call<'_>, number: u32, bytes: usize) -> Result<(Vec<u8>, SrqInfo), Refusal> {
    let record = call.state.queues.srqs.get(&number);
    let context = record.map_or_else(|| vec![0; bytes], |record| record.context.clone());
    Ok((context, call.device.query_srq(number)?))
}

/// Writes the present state of a queue over its work queue.
pub(super) fn write_work_queue(view: &mut ViewMut<'_>, info: &SrqInfo, made: bool) {
    view.set(wq::LWM, info.limit.into());
    if !made {
        view.set(wq::PD, info.context.pd.into());
        view.set(wq::LOG_WQ_SZ, info.context.rq.log_size.into());
        view.set(wq::LOG_WQ_STRIDE, info.context.rq.log_stride.into());
        view.set(wq::DBR_ADDR, info.context.dbr);
    }
}
