//! One end of a connection: a queue pair and its completion queue.

use blueflame::SetupError;
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqId};
use blueflame::db::{ExclusiveRegister, Register, RegisterParts};
use blueflame::queue::recv::{RqParts, SrqParts};
use blueflame::queue::send::SqParts;
use blueflame::queue::{Owned, PostError, RecvQueue, SendQueue, SharedRecvQueue};
use blueflame::transport::Ud;
use blueflame::types::{CqCi, Cqn, Qpn, SqPi, Srqn};
use blueflame::wqe::UdAddress;
use blueflame::wqe::address::CompactAv;
use blueflame::wqe::limits::FrameOffloads;
use softhca::context::Transport;
use softhca::embedded::{self, ConnectOptions, CqOptions, Endpoint, QpOptions, QpParts, RecvOptions, RegisterOptions};

use crate::buffer::Buffer;
use crate::datagram::{QKEY, activate};
use crate::device::Device;
use crate::error::Error;
use crate::handle::{Handle, shadow};
use crate::parts::Parts;
use crate::receives::Receives;
use crate::request::{Service, Wr};
use crate::shape::Shape;

/// The software device's offloads for frames.
const OFFLOADS: FrameOffloads = FrameOffloads {
    multi_packet: true,
    inner_checksums: true,
    header_offsets: true,
    header_offsets_of_large: true,
    metadata: true,
    max_large_send: 1 << 18,
};

/// One end of a connection: the queues of a queue pair, and the completion queue of both.
///
/// The queues are the crate's own. A test uses them as a program uses the queues of `blueflame::verbs`.
#[derive(Debug)]
pub struct End<T: Service, R: Register = ExclusiveRegister> {
    /// Where requests are posted.
    pub sq: Owned<SendQueue<T, R>, Handle>,
    /// Where receives are posted.
    pub rq: Receives<T::RecvForm>,
    /// Where both complete.
    pub cq: Owned<CompletionQueue, Handle>,
    device: Device,
    parts: Parts<QpParts>,
    cq_parts: Parts<embedded::CqParts>,
}

impl<T: Service> End<T> {
    /// An end with a register of its own, not connected yet.
    ///
    /// # Errors
    /// [`Error::Device`] for a shape that the device does not support, [`Error::Setup`] for
    /// one that this crate does not support; [`Error::SharedRegister`].
    pub fn new(device: &Device, shape: &Shape) -> Result<Self, Error> {
        if let RegisterOptions::SharedWith(_) = shape.register {
            return Err(Error::SharedRegister);
        }
        // SAFETY: the register is of a page that the device makes for this queue pair, so this is the one value made of
        // it; the queue's handle keeps the device, which has the page.
        unsafe { Self::with_register(device, shape, |qp| ExclusiveRegister::from_parts(register(qp))) }
    }
}

impl<T: Service, R: Register> End<T, R> {
    /// An end with the register that `register` makes from the queue pair's parts: with another copy routine or flush
    /// mode, shared, or for the test to inspect.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and of `register`.
    ///
    /// # Safety
    /// The register's memory is that of the queue pair, or other memory that outlives the end.
    pub unsafe fn with_register(
        device: &Device,
        shape: &Shape,
        register: impl FnOnce(&QpParts) -> Result<R, SetupError>,
    ) -> Result<Self, Error> {
        let cq_parts = device.create_cq(CqOptions {
            cqe_bytes: shape.cqe_bytes,
            compression: shape.compression,
            ..CqOptions::new(shape.cqes)
        })?;
        // Other objects receive the messages of an initiator.
        let is_initiator = matches!(T::TRANSPORT, Transport::Dc | Transport::Xrc);
        let srq = match shape.shared_recv && !is_initiator {
            true => Some(device.create_srq(shape.recv_wqes, shape.recv_sges)?),
            false => None,
        };
        let recv = match &srq {
            Some(srq) => RecvOptions::Shared(srq.srqn),
            None if shape.recv_wqes == 0 || is_initiator => RecvOptions::None,
            None => RecvOptions::Own { wqes: shape.recv_wqes, max_sge: shape.recv_sges },
        };
        let parts = device.create_qp(QpOptions { recv, ..shape.qp_options::<T>(cq_parts.cqn) })?;
        let cq = completion_queue(device, &cq_parts)?;
        let sq = send_queue(device, &parts, cq.id(), shape, register(&parts)?)?;
        let rq = match (srq, parts.rq) {
            (Some(srq), _) => Receives::Shared(shared_recv_queue(device, &srq)?),
            (None, Some(ring)) => Receives::Own(recv_queue::<T>(device, &parts, cq.id(), &ring)?),
            (None, None) => Receives::None,
        };
        Ok(Self { sq, rq, cq, device: device.clone(), parts: Parts(parts), cq_parts: Parts(cq_parts) })
    }

    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        Qpn::truncate(self.parts.0.qpn)
    }

    /// Its device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// `len` bytes of memory registered with its device, zeroed, with every access right.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no key left.
    pub fn buffer(&self, len: usize) -> Result<Buffer, Error> {
        self.device.buffer(len)
    }

    /// Where a peer finds it.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        self.device.endpoint(self.qpn())
    }

    /// Makes it ready to send: connected to `peer`, which may be itself. Raw packet queues, datagram queues and
    /// initiators of dynamic connections have no peer, and become ready in the same way.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn connect(&self, peer: &Endpoint, options: &ConnectOptions) -> Result<(), Error> {
        connect_qp::<T>(&self.device, self.qpn(), peer, options)
    }

    /// Posts a request that is known only at run time.
    ///
    /// # Errors
    /// See [`PostError`].
    ///
    /// # Panics
    /// As [`Service::put`].
    ///
    /// # Safety
    /// The conditions of [`SendQueue::post_unchecked`]: the memory that the request names stays registered and unused
    /// until the request has completed.
    pub unsafe fn post(&mut self, wr: &Wr) -> Result<(), PostError> {
        // SAFETY: the caller promises that named memory stays registered and unused until the request has completed.
        unsafe { T::put(&mut *self.sq, wr) }
    }

    /// The raw parts of the queue pair, for a test that looks at rings and registers.
    #[must_use]
    pub fn parts(&self) -> &QpParts {
        &self.parts.0
    }

    /// The raw parts of the completion queue.
    #[must_use]
    pub fn cq_parts(&self) -> &embedded::CqParts {
        &self.cq_parts.0
    }
}

impl<R: Register> End<Ud, R> {
    /// The address of datagrams for it, on InfiniBand. Every datagram end may send there after `connect`, which gives a
    /// datagram end no peer.
    ///
    /// ```
    /// use blueflame::cq::cqe::Grh;
    /// use blueflame::{WrId, transport, wqe};
    ///
    /// let mut pair = blueflame_testkit::connected_pair::<transport::Ud>()?;
    /// let mailbox = pair.far.buffer(Grh::BYTES + 64)?;
    /// // SAFETY: the buffer is looked at when the datagram has arrived.
    /// unsafe { pair.far.rq.post_unchecked(WrId(7), &[mailbox.sge(..)])? };
    /// pair.near.sq.post(&wqe::send().to(pair.far.address()).inline(b"hello"))?;
    /// pair.run_until_idle()?;
    /// let cqe = pair.far.cq.poll().expect("a datagram");
    /// assert_eq!(cqe.src_qp(), pair.near.qpn());
    /// assert_eq!(mailbox.to_vec(Grh::BYTES..cqe.byte_len() as usize), b"hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn address(&self) -> UdAddress<CompactAv> {
        UdAddress::new(CompactAv::new(self.endpoint().lid), self.qpn(), QKEY)
    }
}

/// Makes a queue pair ready to send.
pub(crate) fn connect_qp<T: Service>(
    device: &Device,
    qpn: Qpn,
    peer: &Endpoint,
    options: &ConnectOptions,
) -> Result<(), Error> {
    match T::TRANSPORT {
        Transport::RawPacket => Ok(device.hca().activate_raw_packet(qpn.get())?),
        Transport::Ud => activate(device, qpn),
        Transport::Dc => Ok(device.hca().activate_dci(qpn.get(), options)?),
        _ => device.connect_qp(qpn, peer, options),
    }
}

/// Connects two ends with each other.
///
/// # Errors
/// [`Error::Device`].
pub fn connect<T: Service, R: Register, S: Register>(
    a: &End<T, R>,
    b: &End<T, S>,
    options: &ConnectOptions,
) -> Result<(), Error> {
    a.connect(&b.endpoint(), options)?;
    b.connect(&a.endpoint(), options)
}

/// Where a queue pair's register is.
#[must_use]
pub fn register(qp: &QpParts) -> RegisterParts {
    RegisterParts { reg: qp.bf_reg, size: qp.bf_size }
}

/// The number of an object of the device.
fn number<N>(number: Option<N>) -> N {
    number.expect("the device's numbers have 24 bits")
}

pub(crate) fn send_queue<T: Service, R: Register>(
    device: &Device,
    qp: &QpParts,
    cq: CqId,
    shape: &Shape,
    register: R,
) -> Result<Owned<SendQueue<T, R>, Handle>, Error> {
    let (place, memory) = shadow(qp.sq.wqe_cnt);
    let parts = SqParts {
        ring: qp.sq.buf,
        wqebbs: qp.sq.wqe_cnt,
        dbrec: qp.dbrec,
        qpn: number(Qpn::new(qp.qpn)),
        cq,
        max_inline: shape.max_inline,
        max_sge: shape.max_sge,
        signal_all: shape.signal_all,
        pi: SqPi(0),
        shadow: place,
    };
    // SAFETY: parts of a new queue pair that nobody else posts to; the handle keeps the device, which owns ring and
    // record, and the shadow. It completes to `cq`, of which the callers say that it has nothing of an earlier one with
    // its number.
    unsafe {
        let mut queue = SendQueue::from_parts(parts, register)?;
        queue.set_blueflame_policy(shape.policy);
        if T::TRANSPORT == Transport::RawPacket {
            queue.set_frame_offloads(OFFLOADS);
        }
        Ok(Owned::new(queue, Handle::new(device, memory), SendQueue::ring_addr))
    }
}

pub(crate) fn recv_queue<T: Service>(
    device: &Device,
    qp: &QpParts,
    cq: CqId,
    ring: &embedded::Ring,
) -> Result<Owned<RecvQueue<T::RecvForm>, Handle>, Error> {
    let (place, memory) = shadow(RqParts::shadow_words(ring.wqe_cnt));
    let parts = RqParts {
        buf: ring.buf,
        wqe_cnt: ring.wqe_cnt,
        stride: ring.stride,
        dbrec: qp.dbrec,
        qpn: number(Qpn::new(qp.qpn)),
        cq,
        flow_tags: false,
        head: 0,
        shadow: place,
    };
    // SAFETY: as in `send_queue`.
    unsafe {
        let queue = RecvQueue::from_parts(parts)?;
        Ok(Owned::new(queue, Handle::new(device, memory), RecvQueue::ring_addr))
    }
}

pub(crate) fn shared_recv_queue(
    device: &Device,
    srq: &embedded::SrqParts,
) -> Result<Owned<SharedRecvQueue, Handle>, Error> {
    let (place, memory) = shadow(srq.ring.wqe_cnt);
    let parts = SrqParts {
        buf: srq.ring.buf,
        wqe_cnt: srq.ring.wqe_cnt,
        stride: srq.ring.stride,
        head: srq.head,
        tail: srq.tail,
        dbrec: srq.dbrec,
        srqn: number(Srqn::new(srq.srqn)),
        counter: 0,
        shadow: place,
    };
    // SAFETY: as in `send_queue`.
    unsafe {
        let queue = SharedRecvQueue::from_parts(parts)?;
        Ok(Owned::new(queue, Handle::new(device, memory), SharedRecvQueue::ring_addr))
    }
}

pub(crate) fn completion_queue(
    device: &Device,
    cq: &embedded::CqParts,
) -> Result<Owned<CompletionQueue, Handle>, Error> {
    let parts = CqParts {
        buf: cq.buf,
        cqe_cnt: cq.cqe_cnt,
        cqe_size: cq.cqe_size,
        dbrec: cq.dbrec,
        cq_uar: cq.cq_uar,
        cqn: number(Cqn::new(cq.cqn)),
        ci: CqCi::truncate(0),
    };
    // SAFETY: as in `send_queue`, and nobody else polls it.
    unsafe {
        let queue = CompletionQueue::from_parts(parts)?;
        Ok(Owned::new(queue, Handle::new(device, Box::new(())), CompletionQueue::ring_addr))
    }
}
