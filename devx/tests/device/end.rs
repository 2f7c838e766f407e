//! One end of a connection, made by commands, and what tests do with it.

use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::db::Register;
use blueflame::transport::Transport;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Buffer, Path, Pool, ProtectionDomain};
use blueflame::wqe::data::Data;
use blueflame::wqe::{Request, SupportedOn};
use blueflame_devx::Context;
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{OwnedCq, Pd, QpBuilder, QueuePair, Uar};

/// Bytes of each end's buffer.
pub(crate) const BUFFER: usize = 1 << 16;

/// The objects under both ends of a test.
pub(crate) struct Ground {
    pub(crate) context: Context,
    pub(crate) verbs_pd: ProtectionDomain,
    pub(crate) pd: Pd,
    pub(crate) rings: ThreadRings,
    pub(crate) path: Path,
}

impl Ground {
    pub(crate) fn over(context: Context, path: Path) -> Self {
        let verbs_pd = context.device().protection_domain().expect("a PD");
        let pd = Pd::of_verbs(&context, &verbs_pd).expect("its number");
        let rings = ThreadRings::new(&Rings::new(&context).expect("memory"));
        Self { context, verbs_pd, pd, rings, path }
    }
}

/// A queue pair with its completion queue and some memory.
pub(crate) struct End<T: Transport> {
    pub(crate) pair: QueuePair<T>,
    pub(crate) cq: OwnedCq,
    pub(crate) buffer: Buffer,
}

impl<T: Transport> End<T> {
    pub(crate) fn new(ground: &Ground) -> Self {
        Self::built(ground, |builder| builder)
    }

    /// With more options.
    pub(crate) fn built(ground: &Ground, options: impl FnOnce(QpBuilder<'_, T>) -> QpBuilder<'_, T>) -> Self {
        let uar = Uar::new(&ground.context).expect("a register");
        let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
        let builder = ground.pd.queue_pair::<T>(&ground.rings, &cq, &cq);
        let pair = options(builder.sends(16).receives(16).inline(64)).build_on(uar).expect("a queue pair");
        Self::over(ground, pair, cq)
    }

    pub(crate) fn over(ground: &Ground, pair: QueuePair<T>, cq: OwnedCq) -> Self {
        let mut pool = Pool::new(&ground.verbs_pd, BUFFER, Access::ALL).expect("memory");
        Self { pair, cq, buffer: pool.take(BUFFER).expect("all of it") }
    }

    pub(crate) fn post<O: SupportedOn<T>, D: Data>(&mut self, request: &Request<'_, O, D>) {
        // SAFETY: the buffers of both ends live as long as the ends, and tests wait for completions before they look.
        unsafe { self.pair.sq.post_unchecked(request) }.expect("room");
    }

    pub(crate) fn post_receive(&mut self, wr_id: u64) {
        let sge = self.buffer.sge();
        let rq = &mut self.pair.rq;
        // SAFETY: as for `post`.
        unsafe { rq.post_unchecked(WrId(wr_id), &[sge]) }.expect("room");
    }

    /// Waits for a completion, which must be good: of which side, of which request, of how many bytes.
    pub(crate) fn completion(&mut self) -> (Side, WrId, u32) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let mut done = None;
            let Self { pair, cq, .. } = self;
            cq.poll_with(1, |cqe| {
                let side = cqe.side().expect("of a request");
                let wr_id = match side {
                    Side::Requester => pair.sq.complete(&cqe).expect("a success").wr_id,
                    Side::Responder => pair.rq.complete(&cqe).expect("a success").buffer,
                };
                done = Some((side, wr_id, cqe.byte_len()));
            });
            if let Some(done) = done {
                return done;
            }
            assert!(Instant::now() < deadline, "no completion");
        }
    }

    pub(crate) fn bytes(&self, len: usize) -> Vec<u8> {
        self.buffer.to_vec(0..len)
    }
}

/// Connects a queue pair with an end.
pub(crate) fn connect<T: Transport, R: Register>(ground: &Ground, pair: &mut QueuePair<T, R>, peer: &mut End<T>) {
    let (here, there) = (pair.qp.endpoint(&ground.path), peer.pair.qp.endpoint(&ground.path));
    pair.qp.to_init(&ground.path).expect("INIT");
    pair.connect(&ground.path, &here, &there).expect("RTS");
    peer.pair.qp.to_init(&ground.path).expect("INIT");
    peer.pair.connect(&ground.path, &there, &here).expect("RTS");
}

/// Two ends that are connected with each other.
pub(crate) fn connected<T: Transport>(ground: &Ground) -> (End<T>, End<T>) {
    let (mut a, mut b) = (End::new(ground), End::new(ground));
    connect(ground, &mut a.pair, &mut b);
    (a, b)
}
