//! Queues that work when another queue's request says so.
use super::recv::queue::RecvQueue;
use super::send::queue::SendQueue;
use crate::db::Managed;
use crate::transport::{RecvForm, Transport};
use crate::wqe::data::Nothing;
use crate::wqe::operations::{RecvEnable, SendEnable};
use crate::wqe::{Request, enable_receives, enable_sends};

impl<T: Transport> SendQueue<T, Managed> {
    /// A request for another queue, which makes the device execute everything posted here so far (SEND_EN). Later posts
    /// need another such request.
    ///
    /// That queue must be a master of the same protection domain (`QpBuilder::cross_channel` of `blueflame-devx`).
    /// Otherwise it gets a completion with an error. Queues with a doorbell of their own have no such request:
    ///
    /// ```
    /// use blueflame::db::Managed;
    /// use blueflame::{PostError, SendQueue, WrId, transport, wqe};
    ///
    /// fn tell(slave: &mut SendQueue<transport::Rc, Managed>, master: &mut SendQueue<transport::Rc>) -> Result<(), PostError> {
    ///     slave.post(&wqe::send().inline(b"when I am told to").signaled(WrId(1)))?;
    ///     // SAFETY: the master is of the same device, and the request is posted at once.
    ///     master.post(&unsafe { slave.enable() })
    /// }
    /// ```
    /// ```compile_fail,E0599
    /// # use blueflame::{SendQueue, transport};
    /// fn enable(sq: &SendQueue<transport::Rc>) {
    ///     let _ = unsafe { sq.enable() };
    /// }
    /// ```
    ///
    /// # Safety
    /// You post the request to a queue of the same device, and before 2^15 more WQEBBs are posted here. It completes
    /// before this queue pair is reset or destroyed. It names an index modulo 2^16: executed later, or by another
    /// device, it has the device execute old requests of the ring, whose memory may be in use again.
    #[inline]
    pub unsafe fn enable(&self) -> Request<'static, SendEnable, Nothing> {
        enable_sends(self.qpn(), self.pi())
    }
}

impl<F: RecvForm, B> RecvQueue<F, B> {
    /// A request for a send queue, which makes the device receive into everything posted here so far (RCV_EN). The
    /// queue pair must have been created for this (`QPC.cd_slave_receive`; `QpBuilder::managed_receives` of
    /// `blueflame-devx`). Such a queue pair receives into nothing else. For any other queue pair, the request completes
    /// with an error.
    ///
    /// # Safety
    /// You post the request to a queue of the same device, and before 2^15 more receives are posted here. It completes
    /// before this queue pair is reset or destroyed. It names an index modulo 2^16: executed later, or by another
    /// device, it has the device execute old requests of the ring, whose memory may be in use again.
    #[inline]
    pub unsafe fn enable(&self) -> Request<'static, RecvEnable, Nothing> {
        enable_receives(self.qpn(), self.head())
    }
}
