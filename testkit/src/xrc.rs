//! Extended reliable connections: domains, their shared receive queues, and the targets through which initiators reach
//! these queues.

use blueflame::cq::CompletionQueue;
use blueflame::queue::Owned;
use blueflame::types::{Qpn, Srqn};
use softhca::embedded::{ConnectOptions, CqOptions, Endpoint};

use crate::device::Device;
use crate::end::{completion_queue, shared_recv_queue};
use crate::error::Error;
use crate::handle::Handle;
use crate::receives::Receives;
use crate::shape::Shape;

/// A domain of XRC: any number of shared receive queues and targets. Each target is the other end of one initiator's
/// connection. An initiator is an [`End`](crate::End) of transport `XrcInitiator`, and each of its requests names one
/// of the queues.
///
/// ```
/// use blueflame::transport::XrcInitiator;
/// use blueflame::{WrId, wqe};
/// use blueflame_testkit::{ConnectOptions, Device, End, Shape, XrcDomain, run_until_idle};
///
/// let (here, there) = Device::pair()?;
/// let (shape, options) = (Shape::default(), ConnectOptions::default());
/// let domain = XrcDomain::new(&there)?;
/// let (target, mut far) = (domain.target()?, domain.receives(&shape)?);
/// let mut near = End::<XrcInitiator>::new(&here, &shape)?;
/// near.connect(&target.endpoint(), &options)?;
/// target.connect(&near.endpoint(), &options)?;
/// let mailbox = there.buffer(64)?;
/// // SAFETY: the buffer is looked at when the message has arrived.
/// unsafe { far.rq.post_unchecked(WrId(7), &[mailbox.sge(..)])? };
/// near.sq.post(&wqe::send().to(far.srqn()).inline(b"hello"))?;
/// run_until_idle(&[&here, &there])?;
/// let cqe = far.cq.poll().expect("a message");
/// let message = far.rq.complete(&cqe)?;
/// assert_eq!((message.buffer, message.bytes), (WrId(7), 5));
/// assert_eq!(mailbox.to_vec(..5), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct XrcDomain {
    device: Device,
    xrcd: u32,
}

impl XrcDomain {
    /// A new domain.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no domain left.
    pub fn new(device: &Device) -> Result<Self, Error> {
        let xrcd = device.hca().alloc_xrcd()?;
        Ok(Self { device: device.clone(), xrcd })
    }

    /// A target, not connected yet.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no queue pair left.
    pub fn target(&self) -> Result<XrcTarget, Error> {
        let qpn = self.device.hca().create_xrc_target(self.xrcd)?;
        Ok(XrcTarget { device: self.device.clone(), qpn: Qpn::truncate(qpn) })
    }

    /// A queue with the receives and the completion queue of `shape`.
    ///
    /// # Errors
    /// [`Error::Device`] for a shape that the device does not support, another variant for one that this crate does not
    /// support.
    pub fn receives(&self, shape: &Shape) -> Result<XrcReceives, Error> {
        let cq = self.device.create_cq(CqOptions { cqe_bytes: shape.cqe_bytes, ..CqOptions::new(shape.cqes) })?;
        let srq = self.device.hca().create_xrc_srq(self.xrcd, cq.cqn, shape.recv_wqes, shape.recv_sges)?;
        let rq = Receives::Shared(shared_recv_queue(&self.device, &srq)?);
        Ok(XrcReceives { rq, cq: completion_queue(&self.device, &cq)?, srqn: Srqn::truncate(srq.srqn) })
    }
}

/// The far end of an initiator's connection. See [`XrcDomain`].
#[derive(Clone, Debug)]
pub struct XrcTarget {
    device: Device,
    qpn: Qpn,
}

impl XrcTarget {
    /// Its number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.qpn
    }

    /// Where its initiator finds it.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        self.device.endpoint(self.qpn)
    }

    /// Connects it with its initiator.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn connect(&self, initiator: &Endpoint, options: &ConnectOptions) -> Result<(), Error> {
        self.device.connect_qp(self.qpn, initiator, options)
    }
}

/// A shared receive queue of a domain, and the completion queue of its receives. See [`XrcDomain`].
#[derive(Debug)]
pub struct XrcReceives {
    /// Where receives are posted.
    pub rq: Receives,
    /// Where they complete.
    pub cq: Owned<CompletionQueue, Handle>,
    srqn: Srqn,
}

impl XrcReceives {
    /// The number by which requests name it.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        self.srqn
    }
}
