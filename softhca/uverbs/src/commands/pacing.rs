//! Rates of send queues: entries for programs' own commands (Linux `drivers/infiniband/hw/mlx5/qos.c`), and those of
//! queue pairs for raw packets (`qp.c`, `__mlx5_ib_modify_qp` and `modify_raw_packet_qp_sq`).

use super::qp::Qp;
use super::request::Request;
use crate::abi::mlx5::DriverModifyQp;
use crate::context::{self, Context, Rank};
use crate::device::Hca;
use crate::process::{Errno, lock};
use softhca::context::{QpState, Transport};
use softhca::device::{Rate, RateMode};
use softhca::firmware::DRIVER;
use std::sync::Arc;

/// Attributes of `PP_OBJ_ALLOC`.
const HANDLE: u16 = 0x1000;
const CONTEXT: u16 = 0x1001;
const FLAGS: u16 = 0x1002;
const INDEX: u16 = 0x1003;
/// `MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX`.
const DEDICATED_INDEX: u64 = 1;
/// Bytes of `set_pp_rate_limit_context`.
const CONTEXT_BYTES: usize = 0x30;

/// An entry of the device's table.
pub(crate) struct PacketPacing {
    index: u16,
}

impl context::Object for PacketPacing {
    fn rank(&self) -> Rank {
        Rank::Rate
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.remove_rate(self.index)
    }
}

/// `PP_OBJ_ALLOC`: 0x1000 handle, 0x1001 the rate as the device has it, 0x1002 flags, 0x1003 index.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    if hca.capabilities.pacing.table_size == 0 || !hca.capabilities.pacing.user {
        return Err(Errno::EPROTONOSUPPORT);
    }
    // Only commands of programs can name the entry.
    if context.user() == DRIVER {
        return Err(Errno::EINVAL);
    }
    if !(1..=CONTEXT_BYTES).contains(&request.len(CONTEXT)) {
        return Err(Errno::EINVAL);
    }
    let [limit, burst, mode_and_typical]: [u32; 3] = request.input::<[u32; 3]>(CONTEXT)?.map(u32::from_be);
    let flags: u64 = request.input(FLAGS)?;
    if flags & !DEDICATED_INDEX != 0 {
        return Err(Errno::EINVAL);
    }
    let mode = match mode_and_typical >> 16 {
        0 => RateMode::Data,
        1 if hca.capabilities.pacing.wqes => RateMode::Wqes,
        _ => return Err(Errno::EINVAL),
    };
    let rate = Rate { limit, mode, burst, typical: mode_and_typical as u16 };
    let index = hca.add_rate(rate, flags & DEDICATED_INDEX != 0)?;
    let handle = context.insert(Arc::new(PacketPacing { index }));
    request.put(INDEX, &index)?;
    request.put_handle(HANDLE, handle)
}

/// Checks a change of a queue pair's rate, which is in the state `from`, on its way to `to`: the new rate.
pub(super) fn wanted(
    context: &Context,
    driver: &DriverModifyQp,
    qp: &Qp,
    kilobits: u32,
    (from, to): (QpState, QpState),
) -> Result<Option<Rate>, Errno> {
    // `ib_modify_qp_is_ok`.
    if qp.transport != Transport::RawPacket || to != QpState::Rts || !matches!(from, QpState::Rtr | QpState::Rts) {
        return Err(Errno::EINVAL);
    }
    let (burst, typical) = (driver.max_burst_sz, driver.typical_pkt_sz);
    let rate = Rate { limit: kilobits, mode: RateMode::Data, burst, typical };
    let pacing = context.hca.capabilities.pacing;
    let (burst, typical) = (rate.burst != 0, rate.typical != 0);
    if burst && !pacing.burst || typical && !pacing.typical || kilobits == 0 && (burst || typical) {
        return Err(Errno::EINVAL);
    }
    Ok((kilobits != 0).then_some(rate))
}

/// Gives a queue pair another rate, or none.
pub(super) fn change(hca: &Hca, qp: &Qp, rate: Option<Rate>) -> Result<(), Errno> {
    let mut now = lock(&qp.rate.0);
    if now.map(|(rate, _)| rate) == rate {
        return Ok(());
    }
    let new = rate.map(|rate| hca.add_rate(rate, false).map(|index| (rate, index))).transpose()?;
    let index = new.map_or(0, |(_, index)| index);
    hca.command(|device| device.pace(qp.number, index)).inspect_err(|_| {
        if index != 0 {
            if let Err(error) = hca.remove_rate(index) {
                log::warn!("rate {index} stays: {error:?}");
            }
        }
    })?;
    match std::mem::replace(&mut *now, new) {
        Some((_, before)) => hca.remove_rate(before),
        None => Ok(()),
    }
}
