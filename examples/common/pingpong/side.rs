//! One side of the ping-pong: queues, buffers, and whose turn it is.

use std::time::{Duration, Instant};

use blueflame::CompleteError;
use blueflame::cq::{CqeError, Notify, Side, WcStatus};
use blueflame::types::WrId;
use blueflame::verbs::memory::POOL_ALIGN;
use blueflame::verbs::{Access, Buffer, Pool, ProtectionDomain};

use super::pattern::{compare, fill_pattern, is_c_fill};
use super::report::Report;
use super::{Parts, PingPongOptions, Queues};
use crate::{Failure, Role};

/// This many empty looks at the completion queue take microseconds. A NIC answers before that.
const LOOKS: u32 = 128;

/// The messages that this side expects from the peer.
#[derive(Clone, Copy, PartialEq)]
enum Peer {
    /// A server does not know its client before the first message.
    Unknown,
    /// Sends pattern k as its k-th message: this crate's client, and any server.
    Counts,
    /// Begins with its own fill, then sends back each message it received, one behind: the C client.
    LagsBehind,
}

/// One side of the exchange.
pub(super) struct PingPong<Q> {
    pub(super) queues: Q,
    /// Two, so that the next message is ready while the last is on its way.
    send: [Buffer; 2],
    receive: Vec<Buffer>,
    peer: Peer,
    verify: bool,
    events: bool,
    timeout: Duration,
    iters: u32,
    /// Scratch memory for the expected and the received message.
    expected: Vec<u8>,
    arrived: Vec<u8>,
    pub(super) report: Report,
}

impl<Q: Queues> PingPong<Q> {
    pub(super) fn new(
        queues: Q,
        pd: &ProtectionDomain,
        options: &PingPongOptions,
        role: Role,
    ) -> Result<Self, Failure> {
        let size = options.size as usize;
        let buffers = options.rx_depth as usize + 2;
        let mut pool = Pool::new(pd, buffers * (Q::HEADER + size + POOL_ALIGN), Access::LOCAL_WRITE)?;
        Ok(Self {
            queues,
            send: [pool.take(size)?, pool.take(size)?],
            receive: (0..options.rx_depth).map(|_| pool.take(Q::HEADER + size)).collect::<Result<_, _>>()?,
            peer: if role == Role::Client { Peer::Counts } else { Peer::Unknown },
            verify: !options.no_verify,
            events: options.events,
            timeout: Duration::from_secs(options.timeout),
            iters: options.iters,
            expected: vec![0; size],
            arrived: vec![0; size],
            report: Report::new(options, role, Q::MADE_BY),
        })
    }

    pub(super) fn post_receives(&mut self) -> Result<(), Failure> {
        for (wr_id, buffer) in self.receive.iter().enumerate() {
            // SAFETY: the buffer is read only after its completion, and lives as long as the queue.
            unsafe { self.queues.parts().rq.post(WrId(wr_id as u64), buffer.sge()) }?;
        }
        Ok(())
    }

    /// Makes message `k` ready to be sent.
    fn prepare(&mut self, k: u32) {
        fill_pattern(k, &mut self.expected);
        self.send[k as usize % 2].write(0, &self.expected);
    }

    fn post_send(&mut self, k: u32) -> Result<(), Failure> {
        let message = self.send[k as usize % 2].sge();
        // SAFETY: the buffer is written again for message k + 2 only, which is prepared after the completion of this
        // one was seen, and lives as long as the queue.
        unsafe { self.queues.send(message, WrId(k.into())) }
    }

    /// Exchanges all messages: the client begins, the server answers.
    pub(super) fn run(&mut self, role: Role) -> Result<(), Failure> {
        let client = role == Role::Client;
        let begin = Instant::now();
        let (mut sent, mut received, mut posted) = (0, 0, 0);
        self.prepare(0);
        let mut sent_at = Instant::now();
        if client {
            self.post_send(0)?;
            posted = 1;
            self.prepare(1);
        }
        while received < self.iters || sent < self.iters {
            let (side, wr_id) = self.next_completion()?;
            let mut to_verify = None;
            match side {
                Side::Requester => sent += 1,
                Side::Responder => {
                    // The server's time begins with its answer, so there is none for the first message.
                    if posted > 0 {
                        self.report.round_trips.record(sent_at.elapsed());
                    }
                    to_verify = Some((received, wr_id));
                    received += 1;
                }
            }
            // The next message goes when the last one was answered (client) or has arrived (server), and has left its
            // buffer. Send it before looking at the received message, because the peer waits.
            let due = if client { received } else { received.saturating_sub(1) };
            if posted < self.iters && received > 0 && due == posted && sent == posted {
                sent_at = Instant::now();
                self.post_send(posted)?;
                posted += 1;
                // Overwrites `expected`; hence verification prepares its own.
                self.prepare_unless_last(posted);
            }
            if let Some((k, wr_id)) = to_verify {
                self.look_at(k, wr_id)?;
            }
        }
        self.report.elapsed = begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn prepare_unless_last(&mut self, k: u32) {
        if k < self.iters {
            self.prepare(k);
        }
    }

    /// Verifies the `k`-th message, in receive buffer `wr_id`, and posts the buffer again.
    fn look_at(&mut self, k: u32, wr_id: WrId) -> Result<(), Failure> {
        let index = usize::try_from(wr_id.0).ok().filter(|&index| index < self.receive.len());
        let buffer = &self.receive[index.ok_or("a receive completed that was not posted")?];
        if self.verify {
            buffer.read(Q::HEADER, &mut self.arrived);
            if self.peer == Peer::Unknown {
                self.peer = if is_c_fill(&self.arrived) { Peer::LagsBehind } else { Peer::Counts };
            }
            match (self.peer, k) {
                // `is_c_fill` has just checked the first message of a C client.
                (Peer::LagsBehind, 0) => {}
                (Peer::LagsBehind, k) => compare(k, k - 1, &self.arrived, &mut self.expected)?,
                _ => compare(k, k, &self.arrived, &mut self.expected)?,
            }
            self.report.bytes_verified += self.arrived.len() as u64;
        }
        let buffer = buffer.sge();
        // SAFETY: the message in it was dealt with; otherwise as in `post_receives`.
        unsafe { self.queues.parts().rq.post(wr_id, buffer) }?;
        Ok(())
    }

    /// Waits for a completion. Returns its queue and the wr_id of the request.
    fn next_completion(&mut self) -> Result<(Side, WrId), Failure> {
        let mut idle = 0_u32;
        let mut since = None;
        loop {
            let Parts { cq, sq, rq } = self.queues.parts();
            if let Some(cqe) = cq.poll() {
                if cqe.side() != Some(Side::Responder) {
                    return Ok((Side::Requester, sq.complete(&cqe).map_err(explain)?.wr_id));
                }
                // SAFETY: all that completes here is of queue pairs that receive from there; polled once.
                let received = unsafe { rq.complete(&cqe) }.map_err(explain)?;
                let expected = Q::HEADER + self.expected.len();
                if received.bytes as usize != expected {
                    return Err(Failure::Data(format!("a message of {} bytes, not {expected}", received.bytes)));
                }
                return Ok((Side::Responder, received.buffer));
            }
            match self.events {
                // Armed and then found empty: any later completion raises an event.
                true if idle > 0 => {
                    if !self.queues.wait_for_event(self.timeout)? {
                        return Err(Failure::Silence(self.timeout));
                    }
                    self.queues.parts().cq.event_received();
                    idle = 0;
                }
                true => {
                    cq.arm(Notify::Any);
                    idle = 1;
                }
                false => {
                    idle += 1;
                    std::hint::spin_loop();
                    // A NIC would have answered. Others may need this CPU for the answer.
                    if idle.is_multiple_of(LOOKS) {
                        let since: &Instant = since.get_or_insert_with(Instant::now);
                        if since.elapsed() > self.timeout {
                            return Err(Failure::Silence(self.timeout));
                        }
                        std::thread::yield_now();
                    }
                }
            }
        }
    }
}

/// A failed completion, with its usual cause here.
fn explain<D>(error: CompleteError<D>) -> String {
    let hint = match error {
        CompleteError::Failed { error: CqeError::Completion(error), .. } => match error.status() {
            WcStatus::RetryExcErr => "is the peer still there, and are LID, GID and --mtu right on both sides?",
            WcStatus::RemInvReqErr | WcStatus::WrFlushErr => "do both sides have the same --mtu and --size?",
            WcStatus::LocLenErr => "do both sides have the same --size?",
            _ => return error.to_string(),
        },
        _ => return error.to_string(),
    };
    format!("{error}; {hint}")
}
