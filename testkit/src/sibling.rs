//! Further queue pairs on the completion queue of an end.

use blueflame::db::{ExclusiveRegister, Register};
use blueflame::queue::Owned;
use blueflame::{Qpn, SendQueue};
use softhca::embedded::{ConnectOptions, Endpoint, QpOptions, QpParts, RecvOptions, RegisterOptions};

use crate::device::Device;
use crate::end::{End, connect_qp, recv_queue, register, send_queue};
use crate::error::Error;
use crate::handle::Handle;
use crate::parts::Parts;
use crate::receives::Receives;
use crate::request::Service;
use crate::shape::Shape;

/// A further queue pair on the completion queue of an [`End`], and on its shared receive queue if it has one. A server
/// has one for each of its clients.
///
/// ```
/// use blueflame::{WrId, transport, wqe};
/// use blueflame_testkit::{ConnectOptions, Device, End, Shape};
///
/// let (options, shape) = (ConnectOptions::default(), Shape { shared_recv: true, ..Shape::default() });
/// let (a, b) = Device::pair()?;
/// let mut server = End::<transport::Rc>::new(&a, &shape)?;
/// let mailbox = server.buffer(3 * 64)?;
/// let (mut siblings, mut clients) = (Vec::new(), Vec::new());
/// for n in 0..3 {
///     let (sibling, client) = (server.sibling(&shape)?, End::<transport::Rc>::new(&b, &Shape::default())?);
///     sibling.connect(&client.endpoint(), &options)?;
///     client.connect(&sibling.endpoint(), &options)?;
///     // SAFETY: the buffer is looked at when the messages have arrived.
///     unsafe { server.rq.post_unchecked(WrId(n), &[mailbox.slot(n as usize, 64)])? };
///     siblings.push(sibling);
///     clients.push(client);
/// }
/// clients[1].sq.post(&wqe::send().inline(b"from the second"))?;
/// blueflame_testkit::run_until_idle(&[&a, &b])?;
/// let cqe = server.cq.poll().expect("a message");
/// assert_eq!(cqe.qpn(), siblings[1].qpn());
/// assert_eq!(server.rq.complete(&cqe)?.buffer, WrId(0));
/// assert_eq!(mailbox.to_vec(..15), b"from the second");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sibling<T: Service> {
    /// Where its requests are posted. They complete to the end's queue.
    pub sq: Owned<SendQueue<T>, Handle>,
    /// Where its receives are posted; [`Receives::None`] if they are the end's, which are shared.
    pub rq: Receives<T::RecvForm>,
    device: Device,
    parts: Parts<QpParts>,
}

impl<T: Service, R: Register> End<T, R> {
    /// A further queue pair with a register of its own, which completes to this end's completion queue. The call
    /// ignores the settings of `shape` for the completion queue and for shared receives.
    ///
    /// # Errors
    /// As [`new`](End::new); [`Error::MixedUp`], [`Error::StaleCompletions`].
    pub fn sibling(&self, shape: &Shape) -> Result<Sibling<T>, Error> {
        if let RegisterOptions::SharedWith(_) = shape.register {
            return Err(Error::SharedRegister);
        }
        let device = self.device();
        let recv = match &self.rq {
            Receives::Shared(queue) => RecvOptions::Shared(queue.srqn().get()),
            _ if shape.recv_wqes == 0 => RecvOptions::None,
            _ => RecvOptions::Own { wqes: shape.recv_wqes, max_sge: shape.recv_sges },
        };
        let options = QpOptions { recv, ..shape.qp_options::<T>(self.cq_parts().cqn) };
        // Safe code can exchange the queues of two ends.
        if self.cq.ring_addr() != self.cq_parts().buf.addr().get() {
            return Err(Error::MixedUp);
        }
        let parts = device.create_qp(options)?;
        // Completions of an earlier queue pair with its number would pass for its own. No completion is lent: the queue
        // is borrowed.
        let qpn = Qpn::truncate(parts.qpn);
        if self.cq.holds(qpn) {
            device.destroy_qp(qpn)?;
            return Err(Error::StaleCompletions(qpn));
        }
        // SAFETY: as in `End::new`.
        let register = unsafe { ExclusiveRegister::from_parts(register(&parts)) }?;
        let rq = match parts.rq {
            Some(ring) => Receives::Own(recv_queue::<T>(device, &parts, self.cq.id(), &ring)?),
            None => Receives::None,
        };
        let sq = send_queue(device, &parts, self.cq.id(), shape, register)?;
        Ok(Sibling { sq, rq, device: device.clone(), parts: Parts(parts) })
    }
}

impl<T: Service> Sibling<T> {
    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        Qpn::truncate(self.parts.0.qpn)
    }

    /// Where a peer finds it.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        self.device.endpoint(self.qpn())
    }

    /// Makes it ready to send: connected to `peer`.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn connect(&self, peer: &Endpoint, options: &ConnectOptions) -> Result<(), Error> {
        connect_qp::<T>(&self.device, self.qpn(), peer, options)
    }
}
