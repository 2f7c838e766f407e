//! Work queues: receive queues of Ethernet frames, of which tables consist (mlx5_ib `qp.c`, `mlx5_ib_create_wq` and
//! others).

use super::cq::Cq;
use super::event_file;
use super::pd::Pd;
use super::request::Request;
use crate::abi::frames::{CreateWq, CreateWqResp, DestroyWqResp, ModifyWq, wq_flag, wq_state};
use crate::abi::mailbox::{creator, destroyer};
use crate::abi::{UHW_IN, UHW_OUT, mlx5};
use crate::context::{self, CommandId, Context, Rank};
use crate::device::limits::MAX_RQ_WQE;
use crate::device::{EventPipe, FrameQueue, FrameQueueState, Hca, Origin, Pinned, Source, Strides};
use crate::process::{Errno, capability, has_capability, lock};
use softhca::firmware::Uid;
use std::sync::{Arc, Mutex};

/// Bytes of `struct mlx5_ib_create_wq` that a program must give: up to `single_stride_log_num_of_bytes`.
const LEAST_INPUT: usize = 40;
/// Bytes of `struct mlx5_ib_create_wq_resp`.
const DRIVER_OUTPUT: usize = 8;
/// `MLX5_WQ_FLAG_SIGNATURE`.
const SIGNATURE: u32 = 1;
/// `IB_WQT_RQ`, the one kind of work queue.
const RECEIVE: u32 = 0;

/// A work queue.
pub(crate) struct Wq {
    /// The device's number for it.
    pub(crate) number: u32,
    /// Whose it is.
    pub(crate) user: Uid,
    /// `enum ib_wq_state`.
    state: Mutex<u32>,
    events: Arc<Source>,
    _pinned: [Pinned; 2],
    /// Kept busy.
    _pd: Arc<Pd>,
    _cq: Arc<Cq>,
}

impl context::Object for Wq {
    fn rank(&self) -> Rank {
        Rank::Wq
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.carry_out_on(self.user, destroyer::RQ, self.number)?;
        hca.forget(Origin::Wq(self.number), &self.events);
        Ok(())
    }

    fn is_named(&self, id: CommandId) -> bool {
        id == CommandId::new(creator::RQ, self.number)
    }
}

/// The requested attributes, in either form of the request.
struct Wanted {
    pd: u32,
    cq: u32,
    user_handle: u64,
    kind: u32,
    max_wr: u32,
    flags: u32,
    pipe: Option<Arc<EventPipe>>,
}

/// Refuses features that the device lacks, as in mlx5_ib.
fn check_flags(flags: u32) -> Result<(), Errno> {
    if flags & wq_flag::DELAY_DROP != 0 && !has_capability(capability::SYS_RAWIO) {
        return Err(Errno::EPERM);
    }
    // No frame check sequences, no delays of drops, no padding.
    if flags & !wq_flag::CVLAN_STRIPPING != 0 { Err(Errno::EOPNOTSUPP) } else { Ok(()) }
}

/// The strides that a program asks for, if it does (`prepare_user_rq`).
fn strides(caps: [u32; 6], driver: &mlx5::CreateWq) -> Result<Option<Strides>, Errno> {
    if driver.comp_mask & !mlx5::CREATE_WQ_STRIDING != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    if driver.comp_mask == 0 {
        return Ok(None);
    }
    let [least_bytes, most_bytes, least_count, most_count, kinds, _] = caps;
    if kinds == 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let (log_bytes, log_count) = (driver.single_stride_log_num_of_bytes, driver.single_wqe_log_num_of_strides);
    if !(least_bytes..=most_bytes).contains(&log_bytes) || !(least_count..=most_count).contains(&log_count) {
        return Err(Errno::EINVAL);
    }
    Ok(Some(Strides { log_bytes, log_count, shifted: driver.two_byte_shift_en != 0 }))
}

/// log2 of WQEs, log2 of a WQE's bytes, and bytes of the buffer.
fn ring(driver: &mlx5::CreateWq, max_wr: u32, most: u32) -> Result<(u32, u32, u64), Errno> {
    let (count, shift) = (driver.rq_wqe_count, driver.rq_wqe_shift);
    if max_wr > most || count == 0 || count > most || shift > MAX_RQ_WQE.ilog2() {
        return Err(Errno::EINVAL);
    }
    Ok((count.ilog2(), shift, u64::from(count) << shift))
}

fn make(context: &Arc<Context>, request: &Request, wanted: Wanted) -> Result<(u32, Arc<Wq>), Errno> {
    let hca = &context.hca;
    // Linux' driver has no such calls on InfiniBand ports.
    if hca.capabilities.frames.max_wq_type_rq == 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let pd: Arc<Pd> = context.get(wanted.pd)?;
    let cq: Arc<Cq> = context.get(wanted.cq)?;
    if wanted.kind != RECEIVE {
        return Err(Errno::EINVAL);
    }
    let room = request.len(UHW_OUT);
    if room != 0 && room < DRIVER_OUTPUT || request.len(UHW_IN) < LEAST_INPUT {
        return Err(Errno::EINVAL);
    }
    let driver: mlx5::CreateWq = request.input(UHW_IN)?;
    let strides = strides(hca.capabilities.frames.striding_rq_caps, &driver)?;
    let (log_size, log_stride, bytes) = ring(&driver, wanted.max_wr, 1 << hca.capabilities.frames.log_max_wq_size)?;
    let pinned = [Pinned::to_read(hca, driver.buf_addr, bytes)?, context.pin_record(driver.db_addr, 4)?];
    check_flags(wanted.flags)?;
    let events = Source::new(context.async_events(wanted.pipe), wanted.user_handle);
    let user = context.user();
    let number = hca.create_frame_queue(
        user,
        &FrameQueue {
            pd: pd.number,
            cqn: cq.number,
            ring: driver.buf_addr,
            record: driver.db_addr,
            log_size,
            log_stride,
            user_index: driver.user_index,
            timestamps: cq.timestamps(hca)?,
            strips_vlan: wanted.flags & wq_flag::CVLAN_STRIPPING != 0,
            signed: driver.flags & SIGNATURE != 0,
            strides,
        },
    )?;
    let state = Mutex::new(wq_state::RESET);
    let wq = Arc::new(Wq { number, user, state, events, _pinned: pinned, _pd: pd, _cq: cq });
    hca.know(Origin::Wq(number), &wq.events);
    Ok((context.insert(wq.clone()), wq))
}

fn put_driver_response(request: &Request) -> Result<(), Errno> {
    // `response_length`, which counts itself alone.
    request.put_optional(UHW_OUT, &(size_of::<u32>() as u32))
}

/// `WQ_CREATE`: 0 handle, 1 PD, 2 CQ, 3 user's handle, 4 type, 5 asynchronous event file, 6 WQEs, 7 scatter entries, 8
/// flags, 9 WQEs given, 10 scatter entries given, 11 number.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (max_wr, max_sge): (u32, u32) = (request.input(6)?, request.input(7)?);
    // Numbers of enumerations and flags have 8 bytes, and may be given in 4.
    let (flags, kind): (u64, u64) = (request.input(8)?, request.input(4)?);
    if flags & !u64::from(wq_flag::KNOWN) != 0 || kind != RECEIVE.into() {
        return Err(Errno::EINVAL);
    }
    let wanted = Wanted {
        pd: request.handle(1)?,
        cq: request.handle(2)?,
        user_handle: request.input(3)?,
        kind: RECEIVE,
        max_wr,
        flags: flags as u32,
        pipe: event_file::named(context, request, 5)?,
    };
    let (handle, wq) = make(context, request, wanted)?;
    request.put_handle(0, handle)?;
    request.put(9, &max_wr)?;
    request.put(10, &max_sge)?;
    request.put_optional(11, &wq.number)?;
    put_driver_response(request)
}

/// `CREATE_WQ`.
pub(crate) fn write_create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let core: CreateWq = request.core_in()?;
    if core.comp_mask != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let wanted = Wanted {
        pd: core.pd_handle,
        cq: core.cq_handle,
        user_handle: core.user_handle,
        kind: core.wq_type,
        max_wr: core.max_wr,
        flags: core.create_flags,
        pipe: None,
    };
    let (wq_handle, wq) = make(context, request, wanted)?;
    request.core_out(&CreateWqResp {
        comp_mask: 0,
        response_length: size_of::<CreateWqResp>() as u32,
        wq_handle,
        max_wr: core.max_wr,
        max_sge: core.max_sge,
        wqn: wq.number,
    })?;
    put_driver_response(request)
}

/// The device's state that a number means to programs.
fn state_from_abi(state: u32) -> Result<FrameQueueState, Errno> {
    match state {
        wq_state::RESET => Ok(FrameQueueState::Reset),
        wq_state::READY => Ok(FrameQueueState::Ready),
        wq_state::ERROR => Ok(FrameQueueState::Error),
        _ => Err(Errno::EINVAL),
    }
}

/// `MODIFY_WQ`.
pub(crate) fn modify(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const STATE: u32 = 1;
    const CURRENT_STATE: u32 = 1 << 1;
    const FLAGS: u32 = 1 << 2;
    let core: ModifyWq = request.core_in()?;
    if core.attr_mask == 0 || core.attr_mask > STATE | CURRENT_STATE | FLAGS {
        return Err(Errno::EINVAL);
    }
    let wq: Arc<Wq> = context.get(core.wq_handle)?;
    let given = |bit, value| if core.attr_mask & bit != 0 { Some(value) } else { None };
    let mut state = lock(&wq.state);
    let from = given(CURRENT_STATE, core.curr_wq_state).unwrap_or(*state);
    let to = given(STATE, core.wq_state).unwrap_or(from);
    let way = (state_from_abi(from)?, state_from_abi(to)?);
    if request.len(UHW_IN) < size_of::<mlx5::ModifyWq>() {
        return Err(Errno::EINVAL);
    }
    let driver: mlx5::ModifyWq = request.input(UHW_IN)?;
    if driver.comp_mask != 0 || driver.reserved != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let mut strips_vlan = None;
    if let Some(mask) = given(FLAGS, core.flags_mask) {
        if mask & wq_flag::CVLAN_STRIPPING != 0 {
            strips_vlan = Some(core.flags & wq_flag::CVLAN_STRIPPING != 0);
        }
        if mask & wq_flag::END_PADDING != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
    }
    context.hca.modify_frame_queue(wq.user, wq.number, way, strips_vlan)?;
    *state = to;
    Ok(())
}

/// Destroys one: how many events the program has read.
pub(super) fn destroy(context: &Context, handle: u32) -> Result<DestroyWqResp, Errno> {
    let events_reported = context.destroy::<Wq>(handle)?.events.retire();
    let response_length = size_of::<DestroyWqResp>() as u32;
    Ok(DestroyWqResp { comp_mask: 0, response_length, events_reported, reserved: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::FromZeros;

    /// `prepare_user_rq`. libmlx5 refuses the same numbers before it asks (`create_wq`).
    #[test]
    fn strides_are_refused_as_in_linux() {
        let caps = [6, 13, 9, 16, 1 << 8, 0];
        let asked = |comp_mask: u32, log_bytes: u32, log_count: u32| mlx5::CreateWq {
            comp_mask,
            single_stride_log_num_of_bytes: log_bytes,
            single_wqe_log_num_of_strides: log_count,
            two_byte_shift_en: 2,
            ..mlx5::CreateWq::new_zeroed()
        };
        let refusal = |caps, driver: mlx5::CreateWq| strides(caps, &driver).err();
        for (log_bytes, log_count) in [(5, 9), (14, 9), (6, 8), (6, 17), (u32::MAX, 9), (6, u32::MAX)] {
            assert_eq!(refusal(caps, asked(1, log_bytes, log_count)), Some(Errno::EINVAL), "{log_bytes}, {log_count}");
        }
        assert_eq!(refusal(caps, asked(2, 6, 9)), Some(Errno::EOPNOTSUPP));
        assert_eq!(refusal([0; 6], asked(1, 6, 9)), Some(Errno::EOPNOTSUPP));
        // Without the bit, the fields mean nothing.
        assert!(strides([0; 6], &asked(0, 99, 99)).is_ok_and(|strides| strides.is_none()));
        let made = strides(caps, &asked(1, 13, 16)).ok().flatten().expect("strides");
        assert_eq!((made.log_bytes, made.log_count, made.shifted), (13, 16, true));
    }
}
