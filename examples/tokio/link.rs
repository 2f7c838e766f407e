//! A send queue whose requests are futures, and the task that completes them.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::Error;
use std::rc::Rc;

use blueflame::cq::{Cqe, CqeError};
use blueflame::verbs::async_event::AsyncEvents;
use blueflame::verbs::{Buffer, CompletionChannel, Owned, OwnedCq, Qp};
use blueflame::wqe::data::Data;
use blueflame::wqe::{Request, SupportedOn};
use blueflame::{CompleteError, Remote, SendQueue, WrId, transport, wqe};
use blueflame_async::Completions;
use common::Failure;
use tokio::io::unix::AsyncFd;
use tokio::sync::{Semaphore, oneshot};

/// Tells the completion queue from others of the device, should it be lost.
pub(crate) const CQ_CONTEXT: usize = 1;

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

/// Gives completions to the link as they come. Ends with an error alone: if the queue or the device is lost, for one.
pub(crate) async fn drive(
    link: Rc<Link>,
    mut cq: OwnedCq,
    channel: CompletionChannel,
    events: AsyncEvents,
) -> Result<(), Failure> {
    // ANCHOR: drive
    // SAFETY: the descriptors belong to channel and device, which keep them open and do not replace them.
    let (fd, events_fd) = unsafe { (AsyncFd::register(channel.clone()), AsyncFd::register(events.clone())) };
    let (fd, events_fd) = (fd.map_err(Error::from)?, events_fd.map_err(Error::from)?);
    let mut completions = Completions::new(
        &mut *cq,
        channel,
        move |cx| fd.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()),
        |cqe| Ok::<_, Infallible>(link.complete(cqe)),
    )
    .until_lost(
        events,
        CQ_CONTEXT,
        move |cx| events_fd.poll_read_ready(cx).map_ok(|mut guard| guard.clear_ready()),
        |event| eprintln!("{event:?}"),
    );
    while let Some(completed) = completions.next().await {
        // Either the stream has failed, or a completion is none of the link's.
        completed??;
    }
    // ANCHOR_END: drive
    Err("the completions have ended".into())
}
