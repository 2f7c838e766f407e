//! Completion queues.

use super::event_file;
use super::request::Request;
use crate::abi::mailbox::creator;
use crate::abi::mlx5::{
    self, CQ_FLAG_REAL_TIME, CQ_FLAG_UAR_PAGE_INDEX, CQE_RES_FORMAT_CSUM, CQE_RES_FORMAT_CSUM_STRIDX,
    CQE_RES_FORMAT_HASH, CreateCqResp,
};
use crate::abi::{DestroyCqResp, ExModifyCq, ResizeCq, ResizeCqResp, UHW_IN, UHW_OUT};
use crate::context::{self, CommandId, Context, Rank, mapping};
use crate::device::limits::{COMP_VECTORS, MAX_CQE};
use crate::device::{Hca, Origin, Pinned, Source};
use crate::process::{Errno, lock};
use softhca::context::{CqCompression, CqContext, MiniFormat, PeriodStart, TimestampFormat};
use softhca::error::Object;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// `enum ib_uverbs_ex_create_cq_flags`.
const FLAG_TIMESTAMP: u32 = 1;
const FLAG_IGNORE_OVERRUN: u32 = 1 << 1;

/// A completion queue.
pub(crate) struct Cq {
    /// The device's number for it.
    pub(crate) number: u32,
    /// Bytes per CQE.
    pub(crate) cqe_bytes: u32,
    /// The program wants the time in timestamps.
    real_time: bool,
    /// It asks for timestamps.
    timestamps: bool,
    completions: Arc<Source>,
    errors: Arc<Source>,
    ring: Mutex<Pinned>,
    _record: Pinned,
}

impl context::Object for Cq {
    fn rank(&self) -> Rank {
        Rank::Cq
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.destroy(Object::Cq, self.number, |device| device.destroy_cq(self.number))?;
        hca.forget(Origin::Completion(self.number), &self.completions);
        hca.forget(Origin::Cq(self.number), &self.errors);
        Ok(())
    }

    fn is_named(&self, id: CommandId) -> bool {
        id == CommandId::new(creator::CQ, self.number)
    }
}

impl Cq {
    /// The kind of timestamps of queues that complete here (mlx5_ib `qp.c`, `get_ts_format`).
    pub(super) fn timestamps(&self, hca: &Hca) -> Result<TimestampFormat, Errno> {
        let has = hca.capabilities;
        match (self.real_time, self.timestamps) {
            (true, _) if has.real_time => Ok(TimestampFormat::RealTime),
            (true, _) => Err(Errno::EOPNOTSUPP),
            (false, true) if !has.free_running => Err(Errno::EOPNOTSUPP),
            (false, _) => Ok(has.default_timestamps()),
        }
    }

    fn reported(&self) -> DestroyCqResp {
        DestroyCqResp { comp_events_reported: self.completions.retire(), async_events_reported: self.errors.retire() }
    }
}

/// Entries of a ring for `cqe` usable ones, as log2, by the kernel's rule.
fn log_entries(cqe: u32) -> Result<u8, Errno> {
    if cqe == 0 || cqe > MAX_CQE {
        return Err(Errno::EINVAL);
    }
    Ok((cqe + 1).next_power_of_two().trailing_zeros() as u8)
}

/// `CQ_CREATE`: 0 handle, 1 CQEs less one, 2 user's handle, 3 channel, 4 completion vector, 5 flags, 6 CQEs given less
/// one, 7 asynchronous event file.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    let driver: mlx5::CreateCq = request.input(UHW_IN)?;
    let user_handle: u64 = request.input(2)?;
    let vector: u32 = request.input(4)?;
    let flags: u32 = request.optional(5)?.unwrap_or(0);
    let log_size = log_entries(request.input(1)?)?;
    if vector >= COMP_VECTORS || !matches!(driver.cqe_size, 64 | 128) {
        return Err(Errno::EINVAL);
    }
    if flags & !(FLAG_TIMESTAMP | FLAG_IGNORE_OVERRUN) != 0
        || driver.flags & !(CQ_FLAG_UAR_PAGE_INDEX | CQ_FLAG_REAL_TIME) != 0
    {
        return Err(Errno::EOPNOTSUPP);
    }
    // As Linux' `create_cq_user`; all devices have these formats, for both sizes.
    let format = |format| match format {
        CQE_RES_FORMAT_HASH => Ok(MiniFormat::Hash),
        CQE_RES_FORMAT_CSUM => Ok(MiniFormat::Checksum),
        CQE_RES_FORMAT_CSUM_STRIDX => Ok(MiniFormat::ChecksumStride),
        _ => Err(Errno::EINVAL),
    };
    let format = (driver.cqe_comp_en == 1).then(|| format(driver.cqe_comp_res_format)).transpose()?;
    let compression = format.map(|format| CqCompression { format, enhanced: false });
    let uar = match context.static_uars.get() {
        _ if driver.flags & CQ_FLAG_UAR_PAGE_INDEX != 0 => driver.uar_page_index.into(),
        Some(uars) => uars.first_page(),
        None => return Err(Errno::EINVAL),
    };
    mapping::watch_unseen(context);
    let completions = Source::new(event_file::named(context, request, 3)?, user_handle);
    let errors = Source::new(context.async_events(event_file::named(context, request, 7)?), user_handle);
    let ring = Pinned::new(hca, driver.buf_addr, u64::from(driver.cqe_size) << log_size, true)?;
    let record = context.pin_record(driver.db_addr, 8)?;
    let number = hca.create(context.user(), Object::Cq, |device| {
        device.create_cq(CqContext {
            cqe_bytes: driver.cqe_size,
            ignore_overrun: flags & FLAG_IGNORE_OVERRUN != 0,
            compression,
            ..CqContext::new(driver.buf_addr, log_size, driver.db_addr, uar)
        })
    })?;
    let cq = Arc::new(Cq {
        number,
        cqe_bytes: driver.cqe_size,
        real_time: driver.flags & CQ_FLAG_REAL_TIME != 0,
        timestamps: flags & FLAG_TIMESTAMP != 0,
        completions,
        errors,
        ring: Mutex::new(ring),
        _record: record,
    });
    hca.know(Origin::Completion(number), &cq.completions);
    hca.know(Origin::Cq(number), &cq.errors);
    request.put_handle(0, context.insert(cq))?;
    request.put(6, &((1_u32 << log_size) - 1))?;
    request.put(UHW_OUT, &CreateCqResp { cqn: number, reserved: 0 })
}

/// Destroys one: how many events the program has read.
pub(super) fn destroy(context: &Context, handle: u32) -> Result<DestroyCqResp, Errno> {
    Ok(context.destroy::<Cq>(handle)?.reported())
}

/// `RESIZE_CQ`: the program has a new ring, and copies the content of the old one itself.
pub(crate) fn resize(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: ResizeCq = request.core_in()?;
    let driver: mlx5::ResizeCq = request.input(UHW_IN)?;
    let hca = &context.hca;
    let cq: Arc<Cq> = context.get(wanted.cq_handle).map_err(|_| Errno::EINVAL)?;
    let log_size = log_entries(wanted.cqe)?;
    if u32::from(driver.cqe_size) != cq.cqe_bytes {
        return Err(Errno::EINVAL);
    }
    let ring = Pinned::new(hca, driver.buf_addr, u64::from(cq.cqe_bytes) << log_size, true)?;
    hca.command(|device| device.resize_cq(cq.number, driver.buf_addr, log_size, cq.cqe_bytes))?;
    *lock(&cq.ring) = ring;
    request.core_out(&ResizeCqResp { cqe: (1 << log_size) - 1, reserved: 0 })
}

/// Extended `MODIFY_CQ`: event moderation; the period is in microseconds.
pub(crate) fn modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const ATTR_MODERATE: u32 = 1;
    const MAX_PERIOD: u16 = 4095;
    let wanted: ExModifyCq = request.core_in()?;
    let cq: Arc<Cq> = context.get(wanted.cq_handle).map_err(|_| Errno::EINVAL)?;
    if wanted.attr_mask & !ATTR_MODERATE != 0 || wanted.reserved != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if wanted.cq_period > MAX_PERIOD {
        return Err(Errno::EINVAL);
    }
    if wanted.attr_mask & ATTR_MODERATE != 0 {
        let period = Duration::from_micros(wanted.cq_period.into());
        context.hca.command(|device| device.moderate_cq(cq.number, wanted.cq_count, period, PeriodStart::Event))?;
    }
    Ok(())
}
