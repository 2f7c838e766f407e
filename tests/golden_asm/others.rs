//! Barriers that no hot function has: with these, every call of a barrier in the crate is in some listing (`sites.rs`).
//! Compiled with `benches/hot`, under the same rules; `setup_` functions are not on the data path, and under no rules.
use blueflame::cq::compressed::{BASIC, ChecksumStride, ENHANCED, Hash};
use blueflame::cq::{CompletionQueue, Cqe, Notify};
use blueflame::cq::mode::{Compressed, Conservative};
use blueflame::db::{ExclusiveRegister, OneFence, RecordlessRegister, ThreadRegister, TwoFences};
use blueflame::memory_polling::PolledMemory;
use blueflame::queue::{PostError, RecvError, SendQueue, SharedRecvQueue};
use blueflame::queue::striding::{Frame, StridingRecvQueue};
use blueflame::types::{Qpn, WrId};
use blueflame::{Sge, transport};

use crate::hot::{Completed, DoorbellFenceQueue, PreparedWrite};

type ThreadQueue = SendQueue<transport::Rc, &'static ThreadRegister>;

/// By a register of one thread.
#[unsafe(no_mangle)]
pub fn other_prepared_thread_register(sq: &mut ThreadQueue, write: &PreparedWrite, data: &[u8; 8]) -> Result<(), PostError> {
    sq.post(&write.inline(data))
}

#[unsafe(no_mangle)]
pub fn other_prepared_doorbell_fence(sq: &mut DoorbellFenceQueue, write: &PreparedWrite, data: &[u8; 8]) -> Result<(), PostError> {
    sq.post(&write.inline(data))
}

#[unsafe(no_mangle)]
pub fn other_flush_thread_register(register: &ThreadRegister) {
    register.flush();
}

#[unsafe(no_mangle)]
pub fn other_flush(register: &mut ExclusiveRegister<OneFence>) {
    register.flush();
}

#[unsafe(no_mangle)]
pub fn setup_with_mode(register: ExclusiveRegister<OneFence>) -> ExclusiveRegister<TwoFences> {
    register.with_mode()
}

#[unsafe(no_mangle)]
pub fn setup_recordless_with_mode(register: RecordlessRegister<OneFence>) -> RecordlessRegister<TwoFences> {
    register.with_mode()
}

#[unsafe(no_mangle)]
pub fn other_post_shared_receive(srq: &mut SharedRecvQueue, into: &[Sge], id: WrId) -> Result<(), RecvError> {
    // SAFETY: compiled to be looked at, and never run.
    unsafe { srq.post_unchecked(id, into) }
}

/// The frame of a completion, lent: its bytes and its flow tag.
#[unsafe(no_mangle)]
pub fn other_receive_frame(rq: &mut StridingRecvQueue, cqe: &Cqe<'_>) -> u64 {
    match rq.receive(cqe) {
        Ok(Some(frame)) => frame.len() as u64 + u64::from(frame.flow_tag()),
        _ => 0,
    }
}

/// Other threads may drop frames as well.
#[unsafe(no_mangle)]
pub fn other_drop_frame_shared(frame: Frame) {
    drop(frame);
}

/// Other threads may give buffers back as well.
#[unsafe(no_mangle)]
pub fn other_refill_shared(rq: &mut StridingRecvQueue) -> u32 {
    rq.refill()
}

#[unsafe(no_mangle)]
pub fn other_arm(cq: &mut CompletionQueue, which: Notify) {
    cq.arm(which);
}

/// Sixteen completions at most, of which the device packs those that are like each other, in the enhanced layout.
#[unsafe(no_mangle)]
pub fn other_poll_compressed_enhanced(cq: &mut CompletionQueue<Compressed<Hash, ENHANCED>>, done: &mut u64) -> usize {
    cq.poll_with(16, |cqe| *done += u64::from(cqe.wqe_counter()) + u64::from(cqe.byte_len()))
}

/// Up to 16 frames, of which the device packs those that are like each other, in the enhanced layout.
#[unsafe(no_mangle)]
pub fn other_receive_frames_enhanced(
    cq: &mut CompletionQueue<Compressed<ChecksumStride, ENHANCED>>,
    rq: &mut StridingRecvQueue,
    bytes: &mut u64,
) -> usize {
    rq.poll_with(cq, 16, |frame| *bytes += frame.len() as u64).unwrap_or(0)
}

#[unsafe(no_mangle)]
pub fn other_poll_conservative(cq: &mut CompletionQueue<Conservative>, done: &mut Completed) -> bool {
    let Some(cqe) = cq.poll() else { return false };
    done.sum += u64::from(cqe.wqe_counter()) + u64::from(cqe.byte_len());
    true
}

#[unsafe(no_mangle)]
pub fn setup_forget(cq: &mut CompletionQueue, qpn: Qpn) {
    cq.forget(qpn);
}

#[unsafe(no_mangle)]
pub fn setup_forget_compressed(cq: &mut CompletionQueue<Compressed<Hash, BASIC>>, qpn: Qpn) {
    cq.forget(qpn);
}

#[unsafe(no_mangle)]
pub fn setup_holds(cq: &CompletionQueue, qpn: Qpn) -> bool {
    cq.holds(qpn)
}

/// # Safety
/// As [`CompletionQueue::carry_over`].
#[unsafe(no_mangle)]
pub unsafe fn setup_carry_over(cq: &mut CompletionQueue, buf: core::ptr::NonNull<u8>, cqes: u32) -> bool {
    // SAFETY: the caller promises that the ring at `buf` is this queue's from now on, and that the old one is readable.
    unsafe { cq.carry_over(buf, cqes) }.is_ok()
}

#[unsafe(no_mangle)]
pub fn other_memory_arrived(place: &PolledMemory<'_>, flag: u8) -> bool {
    place.arrived(flag)
}
