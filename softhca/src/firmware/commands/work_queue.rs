//! Work queues: their part of the contexts of queues of Ethernet frames and of pools of receives, and the states of the
//! former.

use crate::context::{QueueState, TimestampFormat};
use crate::firmware::call::Call;
use crate::firmware::layout::{Field, Layout, View, layout};
use crate::firmware::placement::{Placement, WQ_PAGE_OFFSETS};
use crate::firmware::status::Refusal;

layout! {
    /// Work queue.
    struct wq: 0xc0 bytes {
        WQ_TYPE: 0x0, 4;
        WQ_SIGNATURE: 0x4, 1;
        END_PADDING_MODE: 0x5, 2;
        CD_SLAVE: 0x7, 1;
        HDS_SKIP_FIRST_SGE: 0x20, 1;
        LOG2_HDS_BUF_SIZE: 0x21, 3;
        PAGE_OFFSET: 0x2b, 5;
        LWM: 0x30, 16;
        PD: 0x48, 24;
        UAR_PAGE: 0x68, 24;
        DBR_ADDR: 0x80, 64;
        HW_COUNTER: 0xc0, 32;
        SW_COUNTER: 0xe0, 32;
        LOG_WQ_STRIDE: 0x10c, 4;
        LOG_WQ_PG_SZ: 0x113, 5;
        LOG_WQ_SZ: 0x11b, 5;
        DBR_UMEM_VALID: 0x120, 1;
        WQ_UMEM_VALID: 0x121, 1;
        LOG_HAIRPIN_NUM_PACKETS: 0x123, 5;
        LOG_HAIRPIN_DATA_SZ: 0x12b, 5;
        LOG_WQE_NUM_OF_STRIDES: 0x134, 4;
        TWO_BYTE_SHIFT_EN: 0x138, 1;
        LOG_WQE_STRIDE_SIZE: 0x13d, 3;
        DBR_UMEM_ID: 0x140, 32;
        WQ_UMEM_ID: 0x160, 32;
        WQ_UMEM_OFFSET: 0x180, 64;
    }
}

/// WQEs one after the other (`MLX5_WQ_TYPE_CYCLIC`); the same, each for several frames
/// (`MLX5_WQ_TYPE_CYCLIC_STRIDING_RQ`).
pub(super) const CYCLIC: u64 = 1;
pub(super) const CYCLIC_STRIDING: u64 = 3;

/// Features that no work queue has here, as the capabilities say.
const ABSENT: [(Field, &str); 6] = [
    (wq::WQ_SIGNATURE, "signatures of WQEs"),
    (wq::HDS_SKIP_FIRST_SGE, "splitting of headers"),
    (wq::LOG2_HDS_BUF_SIZE, "splitting of headers"),
    (wq::LOG_HAIRPIN_NUM_PACKETS, "hairpin"),
    (wq::LOG_HAIRPIN_DATA_SZ, "hairpin"),
    // Padding up to a cache line is permitted, and this device never writes any.
    (Field { name: "", at: 0x5, width: 1 }, "this end padding mode"),
];

/// Features of striding queues.
const STRIDES: [(Field, &str); 3] = [
    (wq::LOG_WQE_NUM_OF_STRIDES, "strides of a queue that is not a striding one"),
    (wq::TWO_BYTE_SHIFT_EN, "shifts of two bytes of a queue that is not a striding one"),
    (wq::LOG_WQE_STRIDE_SIZE, "strides of a queue that is not a striding one"),
];

/// Refuses fields that stand for something which the device does not have.
pub(super) fn check_absent(view: View<'_>, absent: &[(Field, &str)]) -> Result<(), Refusal> {
    match absent.iter().find(|&&(field, _)| view.get(field) != 0) {
        None => Ok(()),
        Some((field, what)) => {
            let reason = format!("{}: {what} are not a capability of this device", field.name);
            Err(Refusal::parameter(reason))
        }
    }
}

/// Refuses a work queue of receives that another queue starts.
pub(super) fn check_no_slave(view: View<'_>) -> Result<(), Refusal> {
    check_absent(view, &[(wq::CD_SLAVE, "receives of work queues that another queue starts")])
}

/// Refuses features that no work queue has here but receive queues of frames.
pub(super) fn check_plain(view: View<'_>) -> Result<(), Refusal> {
    check_absent(view, &ABSENT)?;
    check_absent(view, &STRIDES)
}

/// Where a work queue lies.
pub(super) struct Place {
    /// Address of its ring.
    pub(super) ring: u64,
    /// Address of its doorbell record, of which the first word is receives', and the second sends'.
    pub(super) record: u64,
    /// log2 of its WQEs, and of the bytes of one.
    pub(super) log_size: u8,
    pub(super) log_stride: u8,
}

/// Takes the memory of a work queue, of which the record has `record_bytes`. Its ring's pages follow the mailbox
/// `input`. `types`: the types that it can have.
pub(super) fn take(
    call: &mut Call<'_>,
    view: View<'_>,
    input: &Layout,
    record_bytes: u64,
    types: &[u64],
) -> Result<Place, Refusal> {
    check_absent(view, &ABSENT)?;
    check_absent(view, &[(wq::LWM, "low watermarks of queues of Ethernet frames")])?;
    let kind = view.get(wq::WQ_TYPE);
    if !types.contains(&kind) {
        return Err(Refusal::parameter(format!("wq_type {kind}: this device has {types:?} for such a queue")));
    }
    if kind != CYCLIC_STRIDING {
        check_absent(view, &STRIDES)?;
    }
    let (log_size, log_stride) = (view.get(wq::LOG_WQ_SZ), view.get(wq::LOG_WQ_STRIDE));
    let valid = view.flag(wq::WQ_UMEM_VALID);
    let ring = call.ring(Placement {
        umem: valid.then(|| (view.get32(wq::WQ_UMEM_ID), view.get(wq::WQ_UMEM_OFFSET))),
        pages: call.input.words(input),
        log_page_size: view.get(wq::LOG_WQ_PG_SZ),
        page_offset: view.get(wq::PAGE_OFFSET),
        page_offsets: WQ_PAGE_OFFSETS,
        len: 1 << (log_size + log_stride),
        written: false,
    })?;
    let umem = view.flag(wq::DBR_UMEM_VALID).then(|| view.get32(wq::DBR_UMEM_ID));
    let record = call.record(umem, view.get(wq::DBR_ADDR), record_bytes)?;
    Ok(Place { ring, record, log_size: log_size as u8, log_stride: log_stride as u8 })
}

/// Refuses a new queue in another state than reset.
pub(super) fn check_created(bits: u64) -> Result<(), Refusal> {
    match state(bits)? {
        QueueState::Reset => Ok(()),
        _ => Err(Refusal::parameter(format!("a new queue in state {bits}, and not in reset (0)"))),
    }
}

/// The timestamps that two bits of a queue's context ask for (`MLX5_TIMESTAMP_FORMAT_*`): free running, the default,
/// or real time. The default is the device's clock: real time if the device has it.
///
/// A device of the time alone refuses 0, which older drivers leave there (DPDK, commit d61381ad46d0); one without
/// refuses 2 (NVIDIA/daqiri, issue 283).
pub(super) fn timestamp_format(call: &Call<'_>, bits: u64) -> Result<TimestampFormat, Refusal> {
    let config = call.device.config();
    match bits {
        0 if config.has_free_running() => Ok(TimestampFormat::FreeRunning),
        1 if !config.has_real_time() => Ok(TimestampFormat::FreeRunning),
        1 => Ok(TimestampFormat::RealTime),
        2 if config.has_real_time() => Ok(TimestampFormat::RealTime),
        0 => Err(Refusal::parameter("ts_format 0 (free running): not a capability of this device")),
        2 => Err(Refusal::parameter("ts_format 2 (real time): not a capability of this device")),
        other => Err(Refusal::parameter(format!("ts_format {other}: 0 (free running), 1 (default) or 2 (real time)"))),
    }
}

/// The state that four bits say (`MLX5_SQC_STATE_*`, `MLX5_RQC_STATE_*`).
pub(super) fn state(bits: u64) -> Result<QueueState, Refusal> {
    match bits {
        0 => Ok(QueueState::Reset),
        1 => Ok(QueueState::Ready),
        3 => Ok(QueueState::Error),
        other => Err(Refusal::parameter(format!("state {other}: 0 (reset), 1 (ready) or 3 (error)"))),
    }
}

/// The four bits of a state.
pub(super) fn state_bits(state: QueueState) -> u64 {
    match state {
        QueueState::Reset => 0,
        QueueState::Ready => 1,
        QueueState::Error => 3,
    }
}
