//! Shared receive queues: two connections of the port with itself take receives from one queue.

use std::time::{Duration, Instant};

use blueflame::queue::Received;
use blueflame::transport::Rc;
use blueflame::types::Srqn;
use blueflame::verbs::async_event::{AsyncEvent, AsyncEvents, SrqEvent};
use blueflame::verbs::{Buffer, OwnedCq, OwnedSrq, QueuePair};
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{DEPTH, End, INLINE, Lab, connect, pattern};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[Check {
    id: "loopback.shared",
    title: "a shared receive queue: two connections, receives posted again in other orders, the limit's event",
    fault: "Messages reach wrong buffers once receives are posted again: the list of receives in the ring. If the text \
            has the event, the limit is at fault: do not rely on it.",
    needs: &[Need::Link, Need::Address],
    run: shared,
}];

/// Receives that are asked for, bytes of each, and messages until receives are posted again.
const RECEIVES: u32 = 16;
const SLOT: usize = 128;
const HELD: usize = 5;

/// Connections whose receiving ends share a queue.
struct Shared {
    near: [End<Rc>; 2],
    far: [QueuePair<Rc>; 2],
    srq: OwnedSrq,
    received: OwnedCq,
    memory: Buffer,
    sent: u32,
}

impl Shared {
    fn new(lab: &Lab) -> Result<Self, Failure> {
        let path = lab.path()?;
        let received = lab.device().completion_queue(6 * DEPTH).build()?;
        let srq = lab.pd().shared_recv_queue(RECEIVES, 1)?;
        let mut near = [End::new(lab)?, End::new(lab)?];
        let far = || lab.pd().queue_pair::<Rc>(&received, &received).shared_recv_queue(srq.handle()).build();
        let mut far = [far()?, far()?];
        for (near, far) in near.iter_mut().zip(&mut far) {
            connect(&path, &mut near.pair, far)?;
        }
        let memory = lab.memory(srq.capacity() as usize * SLOT)?;
        Ok(Self { near, far, srq, received, memory, sent: 0 })
    }

    fn post(&mut self, slot: usize) -> Result<(), Failure> {
        let place = self.memory.sge_of(slot * SLOT..(slot + 1) * SLOT);
        // SAFETY: the memory is registered longer than the queue lives, and read after completions.
        Ok(unsafe { self.srq.post_unchecked(WrId(slot as u64), &[place]) }?)
    }

    /// Sends a message over the connections in turns. The slot that it arrived in.
    fn message(&mut self, lab: &Lab) -> Result<usize, Failure> {
        let data = pattern(self.sent, 1 + self.sent as usize % INLINE as usize);
        let turn = self.sent as usize % 2;
        self.near[turn].run(lab, "a SEND", &wqe::send().imm(self.sent).inline_slice(&data[..]).signaled(WrId(1)))?;
        let Self { srq, received, .. } = self;
        let (qpn, Received { buffer, bytes, imm, .. }) = lab.completion("the receive of a SEND", received, |cqe| {
            // SAFETY: only receives of this queue complete here, and each completion is polled once.
            unsafe { srq.complete(cqe) }.map(|received| (cqe.qpn(), received))
        })?;
        let (id, len) = (buffer.0 as usize, bytes as usize);
        let expected = (self.far[turn].qp.qpn(), data.len(), Some(self.sent));
        ensure((qpn, len, imm) == expected, || format!("received {:?}, not {expected:?}", (qpn, len, imm)))?;
        same("a SEND", &data, &self.memory.to_vec(id * SLOT..id * SLOT + len))?;
        self.sent += 1;
        Ok(id)
    }
}

fn shared(lab: &Lab) -> Result<Seen, Failure> {
    let mut queue = Shared::new(lab)?;
    let places = queue.srq.capacity();
    (0..places as usize).try_for_each(|slot| queue.post(slot))?;
    // Some laps around the ring. Receives are posted again in reverse, so that the list in the ring has another order.
    let mut held = Vec::new();
    while queue.sent < 4 * places {
        held.push(queue.message(lab)?);
        if held.len() == HELD {
            held.drain(..).rev().try_for_each(|slot| queue.post(slot))?;
        }
    }
    held.drain(..).try_for_each(|slot| queue.post(slot))?;
    let (events, srqn) = (lab.device().async_events(), queue.srq.handle().srqn());
    let limit = places - 3;
    queue.srq.handle().arm_limit(limit)?;
    (0..2).try_for_each(|_| queue.message(lab).map(|slot| held.push(slot)))?;
    let early = limit_event(&events, srqn, Duration::ZERO)?;
    ensure(!early, || format!("the event of a limit of {limit} came at {} receives", places - 2))?;
    (0..2).try_for_each(|_| queue.message(lab).map(|slot| held.push(slot)))?;
    let came = limit_event(&events, srqn, lab.patience)?;
    ensure(came, || format!("no event of a limit of {limit} at {} receives", queue.srq.posted()))?;
    Ok(Seen::new("four laps around the ring by two connections; the limit's event came, and not early")
        .figure("receives", places)
        .figure("messages", queue.sent))
}

/// Whether the limit's event of a queue comes in time. Takes all events that come before.
fn limit_event(events: &AsyncEvents, srqn: Srqn, patience: Duration) -> Result<bool, Failure> {
    let deadline = Instant::now() + patience;
    while let Some(event) = events.wait_timeout(deadline.saturating_duration_since(Instant::now()))? {
        if event == (AsyncEvent::Srq { srqn, kind: SrqEvent::LimitReached }) {
            return Ok(true);
        }
    }
    Ok(false)
}
