//! Requests about other queues ("cross channel"): wait for a completion, start another queue. Knows no queue. To wait
//! for a time, see [`ClockReading::wait_until`](crate::wqe::cross_channel::ClockReading::wait_until).
//!
//! These requests let the device go through the steps of a chain by itself. For example, it forwards a message
//! without a CPU in between. Their format is that of DPDK (`drivers/common/mlx5/mlx5_prm.h`), NVIDIA's DOCA, and the
//! libmlx5 of MLNX_OFED 4.3 (`IBV_EXP_WR_CQE_WAIT`, `IBV_EXP_WR_SEND_ENABLE`, `IBV_EXP_WR_RECV_ENABLE`). The libmlx5
//! of rdma-core neither posts them nor creates queue pairs for them; `blueflame-devx` creates such queue pairs.
use crate::types::{CqCi, Cqn, Qpn, SqPi};
use crate::wqe::data::{Entries, Given, Nothing, Sge, ToCarry};
use crate::wqe::request::Request;
use crate::wqe::seg::CompletionMode;
use crate::wqe::seg::QueueSeg;
use crate::wqe::table::{Dump, RecvEnable, SendEnable, WaitCqe};

/// Waits until the completion queue has the CQE with this index. The requests behind this one do not begin before
/// that. The next CQE to poll has the index
/// [`CompletionQueue::consumer_index`](crate::CompletionQueue::consumer_index), the one after it [`CqCi::add`]`(1)`,
/// and so on. The request does not wait for a CQE that has already arrived, polled or not, as long as it is among the
/// latest 2^23.
///
/// The queue pair must be a master (`QPC.cd_master`; `QpBuilder::cross_channel` of `blueflame-devx`). Others fail the
/// request. Send queues of frames need no master.
///
/// It asks for no completion unless you request one, and has the mode
/// [`OnFirstError`](crate::wqe::CompletionMode::OnFirstError);
/// [`wait_until`](crate::wqe::cross_channel::ClockReading::wait_until) gives the reason.
///
/// ```
/// use blueflame::types::Cqn;
/// use blueflame::{CompletionQueue, PostError, Remote, SendQueue, WrId, transport, wqe};
///
/// /// Tells `peer` of the next message that is received, as soon as it is there.
/// fn tell(sq: &mut SendQueue<transport::Rc>, receives: &CompletionQueue, cqn: Cqn, peer: Remote) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     batch.push(&wqe::wait_for_completion(cqn, receives.consumer_index()))?;
///     batch.push(&wqe::write(peer).inline(b"it is here").signaled(WrId(1)))?;
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
#[doc(alias = "MLX5_OPCODE_WAIT")]
#[inline(always)]
pub fn wait_for_completion(cqn: Cqn, index: CqCi) -> Request<'static, WaitCqe, Nothing> {
    Request::new([QueueSeg::new(index.get(), cqn.get()).into()]).completion(CompletionMode::OnFirstError)
}

/// Lets the send queue of `qpn` execute up to `index`.
#[inline(always)]
pub(crate) fn enable_sends(qpn: Qpn, index: SqPi) -> Request<'static, SendEnable, Nothing> {
    Request::new([QueueSeg::new(index.0.into(), qpn.get()).into()])
}

/// Lets the receive queue of `qpn` go up to `index`.
#[inline(always)]
pub(crate) fn enable_receives(qpn: Qpn, index: u16) -> Request<'static, RecvEnable, Nothing> {
    Request::new([QueueSeg::new(index.into(), qpn.get()).into()])
}

/// Reads the memory that the entries name, a packet's worth at most, and sends nothing (DUMP). When it has completed,
/// readers see the device's writes for earlier requests. DOCA posts one behind READs for that
/// (`doca_gpu_dev_verbs_wqe_prepare_dump`, with one byte). Linux posts them to show a device's TLS engine data that
/// was sent before.
///
/// ```
/// # use blueflame::{PostError, SendQueue, Sge, WrId, transport, wqe};
/// # fn read(sq: &mut SendQueue<transport::Rc>, byte: Sge) -> Result<(), PostError> {
/// // SAFETY: the byte stays registered until the request has completed, and nobody writes it.
/// unsafe { sq.post_unchecked(&wqe::dump([byte]).signaled(WrId(1))) }
/// # }
/// ```
/// ```compile_fail,E0277
/// # use blueflame::{SendQueue, Sge, transport, wqe};
/// # fn read(sq: &mut SendQueue<transport::Rc>, byte: Sge) {
/// let _ = sq.post(&wqe::dump([byte])); // it names memory
/// # }
/// ```
#[doc(alias = "MLX5_OPCODE_DUMP")]
#[inline(always)]
pub fn dump<const N: usize>(entries: [Sge; N]) -> Request<'static, Dump, Given<0, N>> {
    Request::<Dump, ToCarry>::new([]).gather(entries)
}

/// Builds a DUMP with as many entries as the slice has.
#[inline(always)]
pub fn dump_slice(entries: &[Sge]) -> Request<'_, Dump, Entries> {
    Request::<Dump, ToCarry>::new([]).gather_slice(entries)
}
