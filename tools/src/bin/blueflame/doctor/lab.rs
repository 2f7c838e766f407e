//! The laboratory of the checks: the device, memory, connected queue pairs, and waiting with patience.

use std::time::{Duration, Instant};

use blueflame::cq::mode::PollMode;
use blueflame::cq::{Cqe, CqeError, ErrorCqe};
use blueflame::db::{ExclusiveRegister, Register};
use blueflame::queue::Received;
use blueflame::transport::Rc;
use blueflame::verbs::{
    Access, Buffer, Device, OwnedCq, Path, Pool, ProtectionDomain, QpBuilder, QueuePair, VerbsTransport,
};
use blueflame::wqe::data::Data;
use blueflame::wqe::{Request, SupportedOn};
use blueflame::{CompleteError, CompletionQueue, WrId};
use blueflame_devx::Context;

use super::found::{Failure, ensure, in_time};
use crate::subject::Subject;

/// Requests of a queue pair in checks.
pub(crate) const DEPTH: u32 = 64;
/// Bytes of inline data.
pub(crate) const INLINE: u32 = 128;
/// Bytes of an end's memory.
pub(crate) const ROOM: usize = 1 << 16;

/// How long a wait takes the CPU, and how long it sleeps at a time afterwards.
const SPIN: Duration = Duration::from_millis(100);
const SLEEP: Duration = Duration::from_micros(100);

/// The laboratory of all checks.
pub(crate) struct Lab {
    pub(crate) subject: Subject,
    /// How long to wait for a completion.
    pub(crate) patience: Duration,
    /// How long measurements take.
    pub(crate) measure: Duration,
}

impl Lab {
    pub(crate) fn device(&self) -> &Device {
        &self.subject.device
    }

    pub(crate) fn pd(&self) -> &ProtectionDomain {
        &self.subject.pd
    }

    pub(crate) fn path(&self) -> Result<Path, Failure> {
        Ok(self.subject.path.clone()?)
    }

    pub(crate) fn devx(&self) -> Result<&Context, Failure> {
        self.subject.devx.as_ref().map_err(|error| error.as_str().into())
    }

    /// Registered memory, all rights permitted.
    pub(crate) fn memory(&self, bytes: usize) -> Result<Buffer, Failure> {
        memory(self.pd(), bytes)
    }

    /// Calls `look` until it finds a value. A long wait leaves the CPU to others.
    pub(crate) fn until<T>(
        &self,
        what: &str,
        mut look: impl FnMut() -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        let begin = Instant::now();
        loop {
            if let Some(found) = look()? {
                return Ok(found);
            }
            let waited = begin.elapsed();
            in_time(waited < self.patience, || format!("{what}: nothing within {:?}", self.patience))?;
            if waited < SPIN {
                std::thread::yield_now();
            } else {
                std::thread::sleep(SLEEP);
            }
        }
    }

    /// The next completion of a queue, which `take` gives to the queue of its request.
    pub(crate) fn completion<M: PollMode, T, E: Into<Failure>>(
        &self,
        what: &str,
        cq: &mut CompletionQueue<M>,
        mut take: impl FnMut(&Cqe<'_>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        self.until(what, || {
            let mut found = None;
            cq.poll_with(1, |cqe: Cqe<'_>| found = Some(take(&cqe)));
            found.transpose().map_err(|error| format!("{what}: {}", error.into()).into())
        })
    }

    /// The next completion of a queue, which must be the error of a request.
    pub(crate) fn error<M: PollMode, T, D>(
        &self,
        what: &str,
        cq: &mut CompletionQueue<M>,
        mut complete: impl FnMut(&Cqe<'_>) -> Result<T, CompleteError<D>>,
    ) -> Result<ErrorCqe, Failure> {
        self.until(what, || {
            let mut found = None;
            cq.poll_with(1, |cqe: Cqe<'_>| {
                found = Some(match complete(&cqe) {
                    Err(CompleteError::Failed {
                        error: CqeError::Completion(error) | CqeError::Aborted(error),
                        ..
                    }) => Ok(error),
                    Err(other) => Err(format!("{what}: {other}").into()),
                    Ok(_) => Err(format!("{what}: the request succeeded").into()),
                });
            });
            found.transpose()
        })
    }
}

/// Registered memory of a domain, all rights permitted.
pub(crate) fn memory(pd: &ProtectionDomain, bytes: usize) -> Result<Buffer, Failure> {
    Ok(Pool::new(pd, bytes, Access::ALL)?.take(bytes)?)
}

/// Bytes that tell their place, and differ by `seed`.
pub(crate) fn pattern(seed: u32, bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    (0..bytes)
        .map(|_| {
            // Xorshift of 32 bits.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 11) as u8
        })
        .collect()
}

/// One end of a connection. The fields are dropped in this order: the memory is registered longer than the queues that
/// may name it.
pub(crate) struct End<T: VerbsTransport = Rc, R: Register = ExclusiveRegister> {
    pub(crate) pair: QueuePair<T, R>,
    /// Of sends.
    pub(crate) sent: OwnedCq,
    /// Of receives.
    pub(crate) received: OwnedCq,
    pub(crate) memory: Buffer,
}

/// Completion queues of an end.
pub(crate) fn queues(lab: &Lab) -> Result<[OwnedCq; 2], Failure> {
    let cq = || lab.device().completion_queue(2 * DEPTH).build();
    Ok([cq()?, cq()?])
}

/// The geometry of queue pairs in checks.
pub(crate) fn geometry<T: VerbsTransport>(builder: QpBuilder<'_, T>) -> QpBuilder<'_, T> {
    builder.sends(DEPTH).send_sge(2).inline(INLINE).receives(DEPTH)
}

impl<T: VerbsTransport> End<T> {
    /// An end, in RESET.
    pub(crate) fn new(lab: &Lab) -> Result<Self, Failure> {
        Self::over(lab, queues(lab)?)
    }

    /// An end that completes on these queues.
    pub(crate) fn over(lab: &Lab, [sent, received]: [OwnedCq; 2]) -> Result<Self, Failure> {
        let pair = geometry(lab.pd().queue_pair::<T>(&sent, &received)).build()?;
        Ok(Self { pair, sent, received, memory: lab.memory(ROOM)? })
    }
}

impl<T: VerbsTransport, R: Register> End<T, R> {
    /// Posts a request that names memory of this end, or none.
    pub(crate) fn post<O: SupportedOn<T>, D: Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), Failure> {
        // SAFETY: requests of checks name memory of their ends, which is registered longer than the queues live, and
        // is looked at after completions.
        Ok(unsafe { self.pair.sq.post_unchecked(request) }?)
    }

    /// Waits for the next completion of a send.
    pub(crate) fn sent(&mut self, lab: &Lab, what: &str) -> Result<WrId, Failure> {
        let Self { pair, sent, .. } = self;
        Ok(lab.completion(what, sent, |cqe| pair.sq.complete(cqe))?.wr_id)
    }

    /// Posts a request, and waits for its completion.
    pub(crate) fn run<O: SupportedOn<T>, D: Data>(
        &mut self,
        lab: &Lab,
        what: &str,
        request: &Request<'_, O, D>,
    ) -> Result<(), Failure> {
        self.post(request)?;
        let done = self.sent(lab, what)?;
        ensure(done == request.id(), || format!("{what}: the completion is of {done:?}, not of {:?}", request.id()))
    }

    /// Waits for an error of the next send.
    pub(crate) fn send_error(&mut self, lab: &Lab, what: &str) -> Result<ErrorCqe, Failure> {
        let Self { pair, sent, .. } = self;
        lab.error(what, sent, |cqe| pair.sq.complete(cqe))
    }

    /// Posts a receive to a range of this end's memory.
    pub(crate) fn receive(&mut self, wr_id: WrId, range: std::ops::Range<usize>) -> Result<(), Failure> {
        let rq = &mut self.pair.rq;
        // SAFETY: the memory is registered longer than the queue lives, and is read after the completion.
        Ok(unsafe { rq.post_unchecked(wr_id, &[self.memory.sge_of(range)]) }?)
    }

    /// Waits for the next message: its receive, its bytes, and its immediate data.
    pub(crate) fn received(&mut self, lab: &Lab, what: &str) -> Result<(WrId, usize, Option<u32>), Failure> {
        let Self { pair, received, .. } = self;
        let rq = &mut pair.rq;
        let Received { buffer, bytes, imm, .. } = lab.completion(what, received, |cqe| rq.complete(cqe))?;
        Ok((buffer, bytes as usize, imm))
    }

    /// Waits for an error of the next receive.
    pub(crate) fn receive_error(&mut self, lab: &Lab, what: &str) -> Result<ErrorCqe, Failure> {
        let Self { pair, received, .. } = self;
        let rq = &mut pair.rq;
        lab.error(what, received, |cqe| rq.complete(cqe))
    }
}

/// Connects two queue pairs of the device: from RESET to RTS.
pub(crate) fn connect<T, R, S>(
    path: &Path,
    near: &mut QueuePair<T, R>,
    far: &mut QueuePair<T, S>,
) -> Result<(), Failure>
where
    T: VerbsTransport,
    R: Register,
    S: Register,
{
    let (here, there) = (near.qp.endpoint(path), far.qp.endpoint(path));
    near.qp.to_init(path)?;
    far.qp.to_init(path)?;
    far.connect(path, &there, &here)?;
    near.connect(path, &here, &there)?;
    Ok(())
}

/// Two ends on the port that are connected with each other.
pub(crate) fn connected<T: VerbsTransport>(lab: &Lab) -> Result<(End<T>, End<T>), Failure> {
    connected_by(lab, &lab.path()?)
}

/// Two ends on the port that are connected by a path with other attributes.
pub(crate) fn connected_by<T: VerbsTransport>(lab: &Lab, path: &Path) -> Result<(End<T>, End<T>), Failure> {
    let (mut near, mut far) = (End::new(lab)?, End::new(lab)?);
    connect(path, &mut near.pair, &mut far.pair)?;
    Ok((near, far))
}
