//! A send queue whose requests are futures, and the task that completes them.

use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::rc::Rc;
use std::time::Duration;

use blueflame::cq::{Cqe, CqeError, Notify};
use blueflame::verbs::{Buffer, CompletionChannel, Owned, OwnedCq, Qp};
use blueflame::wqe::data::Data;
use blueflame::wqe::{Request, SupportedOn};
use blueflame::{CompleteError, Remote, SendQueue, WrId, transport, wqe};
use common::Failure;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Semaphore, oneshot};

/// A send queue whose requests are futures.
pub(crate) struct Link {
    /// Goes before the buffers that its requests name.
    sq: RefCell<Owned<SendQueue<transport::Rc>, Qp>>,
    /// Requests on their way, each at the place that its `wr_id` tells.
    waiting: RefCell<Vec<Option<Waiting>>>,
    room: Semaphore,
}

struct Waiting {
    buffer: Buffer,
    done: oneshot::Sender<(Buffer, Result<(), CqeError>)>,
}

impl Link {
    pub(crate) fn new(sq: Owned<SendQueue<transport::Rc>, Qp>, depth: u32) -> Self {
        let waiting = RefCell::new((0..depth).map(|_| None).collect());
        Self { sq: RefCell::new(sq), waiting, room: Semaphore::new(depth as usize) }
    }

    /// WRITEs the buffer to the peer.
    pub(crate) async fn write(&self, buffer: Buffer, to: Remote) -> Result<Buffer, Failure> {
        let sge = [buffer.sge()];
        // SAFETY: the buffer's own memory.
        unsafe { self.perform(buffer, |wr_id| wqe::write(to).gather(sge).signaled(wr_id)) }.await
    }

    /// READs from the peer into the buffer.
    pub(crate) async fn read(&self, buffer: Buffer, from: Remote) -> Result<Buffer, Failure> {
        let sge = [buffer.sge()];
        // SAFETY: the buffer's own memory.
        unsafe { self.perform(buffer, |wr_id| wqe::read(from).scatter(sge).signaled(wr_id)) }.await
    }

    /// Posts a request when there is room and waits for its completion.
    ///
    /// # Safety
    /// The request names no memory but that of `buffer`.
    async unsafe fn perform<O: SupportedOn<transport::Rc>, D: Data>(
        &self,
        buffer: Buffer,
        request: impl FnOnce(WrId) -> Request<'static, O, D>,
    ) -> Result<Buffer, Failure> {
        self.room.acquire().await?.forget();
        // ANCHOR: perform
        let (done, completed) = oneshot::channel();
        {
            let mut waiting = self.waiting.borrow_mut();
            let place = waiting.iter().position(Option::is_none).ok_or("more permits than places")?;
            // SAFETY: the caller vouches for the request; the buffer is kept until the request has completed, or the
            // queue is gone, whatever becomes of this future.
            unsafe { self.sq.borrow_mut().post_unchecked(&request(WrId(place as u64)))? };
            waiting[place] = Some(Waiting { buffer, done });
        }
        let (buffer, outcome) = completed.await?;
        outcome?;
        Ok(buffer)
        // ANCHOR_END: perform
    }

    /// Gives a completed request's buffer back to its task.
    fn complete(&self, cqe: &Cqe<'_>) -> Result<(), Failure> {
        let (wr_id, outcome) = match self.sq.borrow_mut().complete(cqe) {
            Ok(done) => (done.wr_id, Ok(())),
            Err(CompleteError::Failed { done, error }) => (done.wr_id, Err(error)),
            Err(CompleteError::Foreign(error)) => return Err(error.into()),
        };
        let waiting = self.waiting.borrow_mut()[wr_id.0 as usize].take();
        let Waiting { buffer, done } = waiting.ok_or("a completion of no request")?;
        self.room.add_permits(1);
        // A task that was cancelled does not take it; then the buffer ends here.
        let _ = done.send((buffer, outcome));
        Ok(())
    }
}

/// Polls the completion queue when the channel reports an event. Ends with an error alone.
pub(crate) async fn drive(link: Rc<Link>, mut cq: OwnedCq, channel: CompletionChannel) -> Result<(), Failure> {
    // ANCHOR: drive
    // SAFETY: the descriptor is the channel's, which keeps it open and does not replace it.
    let channel = unsafe { AsyncFd::register(channel) }.map_err(Error::from)?;
    loop {
        // Armed first and then found empty: any later completion raises an event.
        cq.arm(Notify::Any);
        while cq.try_poll_with(16, |cqe| link.complete(&cqe))? > 0 {}
        let mut ready = channel.readable().await?;
        let event = ready.try_io(|channel| match channel.get_ref().wait_timeout(Duration::ZERO) {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(ErrorKind::WouldBlock.into()),
            Err(error) => Err(Error::other(error)),
        });
        match event {
            Ok(event) => drop(event?),
            // Not readable after all: tokio waits again.
            Err(_) => continue,
        }
        cq.event_received();
    }
    // ANCHOR_END: drive
}
