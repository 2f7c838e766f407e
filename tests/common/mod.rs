//! The crate's queues over the software device in this process.

pub(crate) mod ops;
pub(crate) mod request;
pub(crate) mod traffic;

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;

use blueflame::cq::{CompletionQueue, CqParts, CqeView, Source};
use blueflame::db::{ExclusiveRegister, Register, RegisterParts};
use blueflame::queue::{
    BlueFlamePolicy, RecvError, RecvQueue, RqParts, SendQueue, SharedRecvQueue, SqParts, SrqParts, SrqRecord, WqeRecord,
};
use blueflame::transport::Transport;
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, Rkey, SqPi, Srqn, WrId};
use blueflame::{Remote, Sge};
use softhca::embedded::{self, Buffer, CqOptions, EmbeddedDevice, QpOptions, QpParts, RecvOptions, RegisterOptions};

/// The shape of one end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) sq_wqebbs: u32,
    pub(crate) max_inline: u32,
    pub(crate) max_sge: u32,
    pub(crate) signal_all: bool,
    pub(crate) register: RegisterOptions,
    pub(crate) policy: BlueFlamePolicy,
    pub(crate) recv_wqes: u32,
    pub(crate) recv_sges: u32,
    /// Receive from a shared queue.
    pub(crate) shared_recv: bool,
    pub(crate) cqes: u32,
    pub(crate) cqe_bytes: u32,
    /// Data of up to so many bytes comes in the CQE: 0, 32 or 64.
    pub(crate) scatter_to_cqe: u32,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            sq_wqebbs: 8,
            max_inline: 512,
            max_sge: 24,
            signal_all: false,
            register: RegisterOptions::Own,
            policy: BlueFlamePolicy::Prefer,
            recv_wqes: 4,
            recv_sges: 4,
            shared_recv: false,
            cqes: 16,
            cqe_bytes: 64,
            scatter_to_cqe: 0,
        }
    }
}

/// Private memory for a queue. It stays where it is when the value moves.
pub(crate) fn shadow<T>(len: u32) -> Vec<MaybeUninit<T>> {
    (0..len).map(|_| MaybeUninit::uninit()).collect()
}

/// Receive queue of either kind.
pub(crate) enum Receives {
    None,
    Own(RecvQueue),
    Shared(SharedRecvQueue),
}

impl Receives {
    /// # Safety
    /// As [`RecvQueue::post`].
    pub(crate) unsafe fn post(&mut self, id: u64, sges: &[Sge]) -> Result<(), RecvError> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::None => panic!("no receive queue"),
                Self::Own(queue) => queue.post(WrId(id), sges),
                Self::Shared(queue) => queue.post(WrId(id), sges),
            }
        }
    }

    /// Retires the receive that a completion is for.
    pub(crate) fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> u64 {
        match self {
            Self::None => panic!("no receive queue"),
            Self::Own(queue) => queue.retire(cqe).expect("a posted receive").0,
            Self::Shared(queue) => queue.retire(cqe).expect("a posted receive").0,
        }
    }

    /// The same by index, for completions that are not at hand any more.
    pub(crate) fn retire_index(&mut self, wqe_counter: u16) -> u64 {
        // SAFETY: callers give the index of each completion of the queue once.
        unsafe {
            match self {
                Self::None => panic!("no receive queue"),
                Self::Own(queue) => queue.retire_index(wqe_counter).expect("a posted receive").0,
                Self::Shared(queue) => queue.retire_index(wqe_counter).expect("a posted receive").0,
            }
        }
    }

    pub(crate) fn posted(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Own(queue) => queue.posted(),
            Self::Shared(queue) => queue.posted(),
        }
    }

    pub(crate) fn capacity(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Own(queue) => queue.capacity(),
            Self::Shared(queue) => queue.capacity(),
        }
    }
}

/// Private memory of the queues.
pub(crate) struct Shadows {
    _send: Vec<MaybeUninit<WqeRecord>>,
    _recv: Vec<MaybeUninit<u64>>,
    _srq: Vec<MaybeUninit<SrqRecord>>,
}

/// One end: a queue pair and its completion queue.
pub(crate) struct End<T: Transport, R: Register = ExclusiveRegister> {
    pub(crate) qpn: u32,
    pub(crate) sq: SendQueue<T, R>,
    pub(crate) rq: Receives,
    pub(crate) cq: CompletionQueue,
    /// The completion queue's ring. (A pointer that may go to another thread.)
    pub(crate) cqes: AtomicPtr<u8>,
    pub(crate) _shadows: Shadows,
}

impl<T: request::Service> End<T> {
    /// An end with its own register.
    pub(crate) fn new(hca: &mut EmbeddedDevice, shape: &Shape) -> Self {
        Self::with_register(hca, shape, |qp| {
            // SAFETY: the register belongs to the new queue pair, and this is the one value made of it.
            unsafe { ExclusiveRegister::from_parts(register(qp)) }.expect("a register")
        })
    }
}

impl<T: request::Service, R: Register> End<T, R> {
    /// An end whose register is made by `ring_by`. The device must outlive it.
    pub(crate) fn with_register(hca: &mut EmbeddedDevice, shape: &Shape, ring_by: impl FnOnce(&QpParts) -> R) -> Self {
        let cq_parts = hca
            .create_cq(CqOptions { cqes: shape.cqes, cqe_bytes: shape.cqe_bytes, ignore_overrun: false })
            .expect("a CQ");
        let srq = shape.shared_recv.then(|| hca.create_srq(shape.recv_wqes, shape.recv_sges).expect("an SRQ"));
        let recv = match &srq {
            Some(srq) => RecvOptions::Shared(srq.srqn),
            None if shape.recv_wqes == 0 => RecvOptions::None,
            None => RecvOptions::Own { wqes: shape.recv_wqes, max_sge: shape.recv_sges },
        };
        let qp = hca
            .create_qp(QpOptions {
                sq_wqebbs: shape.sq_wqebbs,
                recv,
                register: shape.register,
                signal_all: shape.signal_all,
                scatter_to_cqe_req: shape.scatter_to_cqe,
                scatter_to_cqe_res: shape.scatter_to_cqe,
                ..QpOptions::new(T::TRANSPORT, cq_parts.cqn)
            })
            .expect("a QP");
        let mut send_shadow = shadow(qp.sq.wqe_cnt);
        let mut sq = send_queue(&qp, shape, &mut send_shadow, ring_by(&qp));
        sq.set_blueflame_policy(shape.policy);
        let (mut recv_shadow, mut srq_shadow) =
            (shadow(RqParts::shadow_words(shape.recv_wqes)), shadow(shape.recv_wqes));
        let rq = match srq {
            Some(parts) => Receives::Shared(shared_recv_queue(&parts, &mut srq_shadow)),
            None if qp.rq.is_none() => Receives::None,
            None => Receives::Own(recv_queue(&qp, &mut recv_shadow)),
        };
        Self {
            qpn: qp.qpn,
            sq,
            rq,
            cq: completion_queue(&cq_parts),
            cqes: AtomicPtr::new(cq_parts.buf.as_ptr()),
            _shadows: Shadows { _send: send_shadow, _recv: recv_shadow, _srq: srq_shadow },
        }
    }
}

/// Where a queue pair's register is.
pub(crate) fn register(qp: &QpParts) -> RegisterParts {
    RegisterParts { reg: qp.bf_reg, size: qp.bf_size }
}

fn send_queue<T: Transport, R: Register>(
    qp: &QpParts,
    shape: &Shape,
    shadow: &mut [MaybeUninit<WqeRecord>],
    register: R,
) -> SendQueue<T, R> {
    let parts = SqParts {
        ring: qp.sq.buf,
        wqebbs: qp.sq.wqe_cnt,
        dbrec: qp.dbrec,
        qpn: Qpn::new(qp.qpn).expect("24 bits"),
        max_inline: shape.max_inline,
        max_sge: shape.max_sge,
        signal_all: shape.signal_all,
        pi: SqPi(0),
        shadow: NonNull::from(shadow).cast(),
    };
    // SAFETY: parts of a queue pair that nobody else posts to; the shadow is kept beside the queue, and the device, which
    // owns the rest, outlives it.
    unsafe { SendQueue::from_parts(parts, register) }.expect("a send queue")
}

fn recv_queue(qp: &QpParts, shadow: &mut [MaybeUninit<u64>]) -> RecvQueue {
    let ring = qp.rq.expect("a receive ring");
    let parts = RqParts {
        buf: ring.buf,
        wqe_cnt: ring.wqe_cnt,
        stride: ring.stride,
        dbrec: qp.dbrec,
        qpn: Qpn::new(qp.qpn).expect("24 bits"),
        head: 0,
        shadow: NonNull::from(shadow).cast(),
    };
    // SAFETY: as in `send_queue`.
    unsafe { RecvQueue::from_parts(parts) }.expect("a receive queue")
}

fn shared_recv_queue(srq: &embedded::SrqParts, shadow: &mut [MaybeUninit<SrqRecord>]) -> SharedRecvQueue {
    let parts = SrqParts {
        buf: srq.ring.buf,
        wqe_cnt: srq.ring.wqe_cnt,
        stride: srq.ring.stride,
        head: srq.head,
        tail: srq.tail,
        dbrec: srq.dbrec,
        srqn: Srqn::new(srq.srqn).expect("24 bits"),
        counter: 0,
        shadow: NonNull::from(shadow).cast(),
    };
    // SAFETY: as in `send_queue`.
    unsafe { SharedRecvQueue::from_parts(parts) }.expect("a shared receive queue")
}

pub(crate) fn completion_queue(cq: &embedded::CqParts) -> CompletionQueue {
    let parts = CqParts {
        buf: cq.buf,
        cqe_cnt: cq.cqe_cnt,
        cqe_size: cq.cqe_size,
        dbrec: cq.dbrec,
        cq_uar: cq.cq_uar,
        cqn: Cqn::new(cq.cqn).expect("24 bits"),
        ci: CqCi::truncate(0),
    };
    // SAFETY: parts of a completion queue that nobody else polls; the device outlives it.
    unsafe { CompletionQueue::from_parts(parts) }.expect("a completion queue")
}

/// `len` bytes of `buffer` from byte `at` on, as this side names them.
pub(crate) fn sge(buffer: &Buffer, at: usize, len: usize) -> Sge {
    assert!(at + len <= buffer.len(), "{len} bytes at {at} of a buffer of {}", buffer.len());
    Sge { addr: buffer.addr() + at as u64, length: len as u32, lkey: Lkey(buffer.lkey()) }
}

/// Byte `at` of `buffer`, as the peer names it.
pub(crate) fn remote(buffer: &Buffer, at: usize) -> Remote {
    Remote { addr: buffer.addr() + at as u64, rkey: Rkey(buffer.rkey()) }
}

/// Moves the clock of all devices on to the next timer of any. False if none runs.
pub(crate) fn wait_for_timer(devices: &mut [&mut EmbeddedDevice]) -> bool {
    let Some(deadline) = devices.iter_mut().filter_map(|d| d.device().next_deadline()).min() else { return false };
    for device in devices {
        let by = deadline.saturating_sub(device.now());
        device.advance(by);
    }
    true
}
