//! Objects that other libraries made: contexts, protection domains, channels and queue pairs.
//! ([`adopt_cq`](crate::verbs::adopt::adopt_cq) and [`adopt_srq`](crate::verbs::adopt::adopt_srq) are beside their
//! queues.)
//!
//! Crates that bind libibverbs have types of their own for the same structures, so cast:
//! `adopt_pd(NonNull::new(pd).expect("a PD").cast())`. This crate never destroys an adopted object.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::db::{ExclusiveRegister, SharedRegister};
#[cfg(doc)]
use crate::queue::SendQueue;
#[cfg(doc)]
use crate::verbs::Owned;
use crate::verbs::device::DeviceAttr;
use crate::verbs::domain::register::{self, Claim};
use crate::verbs::qp::pair::VerbsTransport;
use crate::verbs::qp::queues::Made;
use crate::verbs::{CompletionChannel, Device, Error, ProtectionDomain, QueuePair};

/// Uses a device that another library has opened. It works like one that was opened here, but dropping it does not
/// close it.
///
/// The kernel gives out each asynchronous event ([`Device::async_events`]) once: either this crate or the other library
/// gets it, whichever asks first.
///
/// # Errors
/// [`Error::NotMlx5`], [`Error::Library`], or a failed call.
///
/// # Safety
/// `context` is open, and stays so until the returned device, its clones, and everything made of them are dropped.
pub unsafe fn adopt_context(context: NonNull<sys::ibv_context>) -> Result<Device, Error> {
    // SAFETY: the caller promises that the context is open, and outlives the device and everything made of it.
    unsafe { Device::adopt(context) }
}

/// Takes over a device that the caller has opened by one of libmlx5's own calls, and that answers no verbs queries. For
/// example, libmlx5's driver for functions that a program has by VFIO answers none. `attr` gives the device's
/// attributes instead. The device is closed (`ibv_close_device`) when the last object made of it is gone.
///
/// # Safety
/// `context` is open and of libmlx5. No other code closes it.
#[must_use]
pub unsafe fn take_context(context: NonNull<sys::ibv_context>, name: &str, attr: DeviceAttr) -> Device {
    Device::over(context, false, name.to_owned(), attr)
}

/// Uses a protection domain that another library has made: buffers and [pools](crate::verbs::Pool) registered in it
/// work with the queue pairs of both.
///
/// # Errors
/// [`Error::NotMlx5`], [`Error::Library`], or a failed call.
///
/// # Safety
/// `pd` is alive, and stays so, as does its context, until the returned domain, its clones, and everything made of them
/// are dropped.
pub unsafe fn adopt_pd(pd: NonNull<sys::ibv_pd>) -> Result<ProtectionDomain, Error> {
    // SAFETY: the caller promises that `pd` and its context outlive the returned domain and everything made of it.
    unsafe { ProtectionDomain::adopt(pd) }
}

/// Uses a completion channel that another library has made, for [completion queues of this
/// crate](crate::verbs::CqBuilder::channel), or to wait for those of the other. [`CompletionChannel::wait`]
/// acknowledges each event that it takes.
///
/// # Safety
/// `channel` is alive, and stays so until the returned channel, its clones, and every completion queue of this crate
/// that was made with it are dropped. Code that takes events by other calls acknowledges them.
#[must_use]
pub unsafe fn adopt_channel(channel: NonNull<sys::ibv_comp_channel>) -> CompletionChannel {
    // SAFETY: the caller promises that `channel` outlives the returned channel and every completion queue made with it.
    unsafe { CompletionChannel::adopt(channel) }
}

/// Takes over a queue pair that another library made, with a register of its own.
///
/// By default, libmlx5 has the device put received messages of up to 32 bytes (64 with 128-byte CQEs) into the CQE and
/// not into the buffer. If the queue pair signals all requests, the results of READs and atomics go there as well. The
/// device does not say which queue pairs do this: libmlx5 takes it from a flag of creation, or from
/// `MLX5_SCATTER_TO_CQE`. Each CQE does: [`check`](crate::cq::CqeView::check) then returns
/// [`CqeError::DataInCqe`](crate::cq::CqeError::DataInCqe).
///
/// The queues accept as many requests as libmlx5 would (`max_send_wr`, `max_recv_wr` of `ibv_query_qp`), and sends from
/// RTS on. If other code connects the queue pair, call [`QueuePair::refresh`] then.
///
/// Adopt its completion queues first ([`adopt_cq`](crate::verbs::adopt::adopt_cq)): completions of a completion queue
/// that is adopted later retire none of its requests.
///
/// # Errors
/// If the queue pair is not libmlx5's or not of transport `T`, if this crate cannot drive its parts, or if another
/// queue of this crate uses its register. [`Error::Receivers`] if it, or another queue pair of this crate that receives
/// on the same completion queue, receives raw packets.
///
/// # Safety
/// - `qp` is alive, and stays so until the returned queues and every clone of the handle are dropped. It is not
///   destroyed, nor moved to RESET.
/// - Nothing is outstanding on it: every request posted so far has completed and was polled.
/// - Nothing posts to it in any other way from here on.
/// - Its completion queues hold no completion of an earlier queue pair with the same number, and none is lent
///   ([`CompletionQueue::holds`](crate::CompletionQueue::holds)). If it receives raw packets, no completion of a
///   receive ([`Whose::Receives`](crate::cq::setup::Whose::Receives)) is left there, and no queue pair that this crate
///   does not know receives there.
/// - It was made with WQE signatures (the environment variable `MLX5_QP_SIGNATURE` makes libmlx5 ask for them) if `T`
///   is [`Signed`](crate::transport::Signed), and without otherwise.
/// - Nothing else rings its doorbell register: it was made in a thread domain of its own (`ibv_alloc_td`,
///   `ibv_alloc_parent_domain`). If other queues of this crate ring it, use [`adopt_qp_shared`]. If another library
///   rings it, no function of this crate can adopt the queue pair.
#[doc(alias = "mlx5dv_init_obj")]
pub unsafe fn adopt_qp<T: VerbsTransport>(qp: NonNull<sys::ibv_qp>) -> Result<QueuePair<T>, Error> {
    // SAFETY: the caller vouches for the queue pair.
    let made = unsafe { Made::<T>::adopt(qp) }?;
    let parts = made.register()?;
    let claim = Claim::new(parts)?;
    // SAFETY: mapped as long as the queue pair lives; the caller vouches for those outside this crate, the claim for
    // those inside.
    let register = unsafe { ExclusiveRegister::from_parts(parts) }.map_err(register::bad_register)?;
    made.finish(register, Some(claim))
}

/// Takes over a queue pair that another library made, on a register that other queues of this crate may also have.
///
/// # Errors
/// As [`adopt_qp`].
///
/// # Safety
/// The conditions of [`adopt_qp`], except that other queues of this crate may ring its register. The lock that they
/// take does not stop another library.
pub unsafe fn adopt_qp_shared<T: VerbsTransport>(
    qp: NonNull<sys::ibv_qp>,
) -> Result<QueuePair<T, Arc<SharedRegister>>, Error> {
    // SAFETY: the caller vouches for the queue pair.
    let made = unsafe { Made::<T>::adopt(qp) }?;
    // SAFETY: mapped as long as the queue pair lives; the caller vouches for those outside this crate.
    let register = unsafe { register::shared(made.register()?) }?;
    made.finish(register, None)
}
