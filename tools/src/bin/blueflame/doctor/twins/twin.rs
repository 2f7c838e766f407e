//! Twins: two queue pairs of one geometry, of which libmlx5 drives one and this crate the other.

use std::ops::Range;

use blueflame::WrId;
use blueflame::transport::Rc;
use blueflame::types::Psn;
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{OwnedCq, Qp, QueuePair, VerbsTransport};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, SupportedOn};

use super::compare::{Ring, Rules, fill, record, ring};
use super::pair::{Sizes, TheirPair, parts, poll};
use super::request::{Request, Way};
use crate::doctor::found::{Failure, ensure};
use crate::doctor::lab::{End, Lab, ROOM};

/// libmlx5's queue pair. Its queues in this crate were dropped unused.
pub(super) struct Theirs {
    /// For state changes.
    _qp: Qp,
    pub(super) pair: TheirPair,
    pub(super) sent: OwnedCq,
    pub(super) received: OwnedCq,
}

/// Twins of one geometry.
pub(super) struct Twins<T: VerbsTransport> {
    pub(super) theirs: Theirs,
    pub(super) ours: End<T>,
    rules: Rules,
    /// The index of the next WQEBB.
    pub(super) index: usize,
    pub(super) posted: usize,
}

impl<T: VerbsTransport> Twins<T> {
    /// `ready` takes each of the two to RTS: libmlx5's is 0, ours 1.
    pub(super) fn new(
        lab: &Lab,
        sizes: Sizes,
        ready: impl Fn(usize, &mut QueuePair<T>) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let cq = || lab.device().completion_queue(2 * sizes.sends).cqe_bytes(sizes.cqe_bytes).build();
        let (sent, received) = (cq()?, cq()?);
        let raw = TheirPair::new::<T>(lab, [&sent, &received], sizes)?;
        // SAFETY: alive as long as the handle in `Theirs`, which comes first there; new, and in a domain of its own.
        // The queues are dropped here, and never post.
        let mut adopted = unsafe { adopt_qp::<T>(raw.as_raw()) }?;
        ready(0, &mut adopted)?;
        let theirs = Theirs { _qp: adopted.qp, pair: raw, sent, received };

        let (sent, received) = (cq()?, cq()?);
        // The check of a whole ring uses all of it, and polls in between.
        sent.handle().oversubscribe();
        let builder = lab.pd().queue_pair::<T>(&sent, &received).sends(sizes.sends);
        let mut pair = builder.send_sge(sizes.send_sge).inline(sizes.inline).build()?;
        ready(1, &mut pair)?;
        let ours = End { pair, sent, received, memory: lab.memory(ROOM)? };
        let own = parts(ours.pair.qp.as_raw())?;
        for (theirs, ours) in [(theirs.pair.parts().sq, own.sq), (theirs.pair.parts().rq, own.rq)] {
            let [a, b] = [(theirs.wqe_cnt, theirs.stride), (ours.wqe_cnt, ours.stride)];
            ensure(a == b, || format!("rings of {a:?} and {b:?}: twins need one length"))?;
            // SAFETY: nothing was posted yet.
            unsafe {
                fill(&theirs);
                fill(&ours);
            }
        }
        Ok(Self { theirs, ours, rules: Rules::of(T::QP_TYPE), index: 0, posted: 0 })
    }

    /// The numbers of both queue pairs.
    fn numbers(&self) -> [u32; 2] {
        [self.theirs.pair.number(), self.ours.pair.qp.qpn().get()]
    }

    /// Both post a request, and wait for it. Compares the WQEs, and the doorbell records.
    pub(super) fn post<O: SupportedOn<T>, D: Data>(
        &mut self,
        lab: &Lab,
        way: Way,
        theirs: &Request<'_>,
        ours: &wqe::Request<'_, O, D>,
    ) -> Result<(), Failure> {
        // SAFETY: requests of twins name memory of our end, which is registered longer than either queue pair lives.
        unsafe { self.theirs.pair.post(way, &[*theirs]) }?;
        self.ours.post(ours)?;
        // Before the device refuses a wrong one.
        self.compare(way, 1)?;
        poll(lab, "libmlx5's request", &self.theirs.sent)?;
        self.ours.sent(lab, "our request").map(drop)
    }

    /// Compares the last `count` WQEs, and the doorbell records.
    pub(super) fn compare(&mut self, way: Way, count: usize) -> Result<(), Failure> {
        let own = parts(self.ours.pair.qp.as_raw())?;
        let rings = [Ring(&self.theirs.pair.parts().sq), Ring(&own.sq)];
        self.index += self.rules.compare(way, rings, self.numbers(), self.index, count)?;
        self.posted += count;
        let (theirs, ours) = (record(self.theirs.pair.parts()), record(&own));
        ensure(theirs == ours, || format!("doorbell records differ: libmlx5 {theirs:x?}, this crate {ours:x?}"))?;
        let index = self.index as u32 & 0xffff;
        ensure(ours[1] == index, || format!("the doorbell record has index {:#x}, not {index:#x}", ours[1]))
    }

    /// Both post a receive to a range of our memory.
    pub(super) fn receive(&mut self, wr_id: WrId, range: Range<usize>) -> Result<(), Failure> {
        let sge = self.ours.memory.sge_of(range);
        let rq = &mut self.ours.pair.rq;
        // SAFETY: the memory is registered longer than the queues live.
        unsafe {
            rq.post_unchecked(wr_id, &[sge])?;
            self.theirs.pair.receive(wr_id.0, sge)
        }
    }

    /// Compares the rings of receives as a whole.
    pub(super) fn compare_receives(&self) -> Result<(), Failure> {
        let own = parts(self.ours.pair.qp.as_raw())?;
        let (a, b) = (ring(&self.theirs.pair.parts().rq), ring(&own.rq));
        let differs = a.iter().zip(&b).position(|(a, b)| a != b);
        ensure(differs.is_none() && a.len() == b.len(), || format!("receive rings differ at byte {differs:?}"))
    }
}

impl Twins<Rc> {
    /// Each is connected to itself.
    pub(super) fn of_rc(lab: &Lab, sizes: Sizes) -> Result<Self, Failure> {
        let path = lab.path()?;
        Self::new(lab, sizes, |_, pair| {
            let itself = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
            pair.qp.to_init(&path)?;
            Ok(pair.connect(&path, &itself, &itself)?)
        })
    }
}
