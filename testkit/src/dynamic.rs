//! Targets of dynamic connections, which receive messages of initiators.

use blueflame::cq::CompletionQueue;
use blueflame::queue::Owned;
use blueflame::types::{DcKey, Qpn};
use blueflame::wqe::DcAddress;
use blueflame::wqe::address::CompactAv;
use softhca::embedded::{ConnectOptions, CqOptions, Endpoint};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::end::{completion_queue, shared_recv_queue};
use crate::error::Error;
use crate::handle::Handle;
use crate::receives::Receives;
use crate::shape::Shape;

/// The access key of every target.
pub const DC_KEY: DcKey = DcKey(0x1111_1111_2222_2222);

/// A target of dynamic connections: a shared receive queue, and a completion queue. Any number of initiators send to
/// it. An initiator is an [`End`](crate::End) of transport `Dci`.
///
/// ```
/// use blueflame::transport::Dci;
/// use blueflame::{WrId, wqe};
/// use blueflame_testkit::{ConnectOptions, DcTarget, End, Network, DeviceOptions, Shape, run_until_idle};
///
/// let network = Network::new();
/// let [here, there] = [1, 2].map(|n| network.device(DeviceOptions::infiniband(n)));
/// let (here, there) = (here?, there?);
/// let options = ConnectOptions::default();
/// let mut near = End::<Dci>::new(&here, &Shape::default())?;
/// near.connect(&near.endpoint(), &options)?;
/// let mut far = DcTarget::new(&there, &Shape::default(), &options)?;
/// let mailbox = far.buffer(64)?;
/// // SAFETY: the buffer is looked at when the message has arrived.
/// unsafe { far.rq.post_unchecked(WrId(7), &[mailbox.sge(..)])? };
/// near.sq.post(&wqe::send().to(far.address()).inline(b"hello"))?;
/// run_until_idle(&[&here, &there])?;
/// let cqe = far.cq.poll().expect("a message");
/// assert_eq!(mailbox.to_vec(..cqe.byte_len() as usize), b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DcTarget {
    /// Where receives are posted.
    pub rq: Receives,
    /// Where they complete.
    pub cq: Owned<CompletionQueue, Handle>,
    device: Device,
    dctn: Qpn,
}

impl DcTarget {
    /// A target with the receives and the completion queue of `shape`. It uses the MTU, the rights and the RNR timer of
    /// `options`.
    ///
    /// # Errors
    /// [`Error::Device`] for a shape that the device does not support, another variant for one that this crate does not
    /// support.
    pub fn new(device: &Device, shape: &Shape, options: &ConnectOptions) -> Result<Self, Error> {
        let cq = device.create_cq(CqOptions { cqe_bytes: shape.cqe_bytes, ..CqOptions::new(shape.cqes) })?;
        let srq = device.create_srq(shape.recv_wqes, shape.recv_sges)?;
        let dctn = device.hca().create_dct(srq.srqn, cq.cqn, DC_KEY.0, options)?;
        let rq = Receives::Shared(shared_recv_queue(device, &srq)?);
        Ok(Self { rq, cq: completion_queue(device, &cq)?, device: device.clone(), dctn: Qpn::truncate(dctn) })
    }

    /// The target's number.
    #[must_use]
    pub fn dctn(&self) -> Qpn {
        self.dctn
    }

    /// Its device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Where it is.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        self.device.endpoint(self.dctn)
    }

    /// The address of requests for it, on InfiniBand.
    #[must_use]
    pub fn address(&self) -> DcAddress<CompactAv> {
        DcAddress::new(CompactAv::new(self.endpoint().lid), self.dctn, DC_KEY)
    }

    /// `len` bytes of memory registered with its device, zeroed, with every access right.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no key left.
    pub fn buffer(&self, len: usize) -> Result<Buffer, Error> {
        self.device.buffer(len)
    }
}
