//! The ends of a run: queue pairs made for a plan, connected with the peer's, and divided among threads.

use blueflame::transport::{Dci, PlainRecv, Rc, Transport, Uc, Ud, XrcInitiator};
use blueflame::types::Srqn;
use blueflame::verbs::{Path, ProtectionDomain, VerbsTransport};
use common::{Failure, Role};

use super::frames::FrameLane;
use super::keys::{Keys, Sides};
use super::lane::{Ends, Lane, QKEY};
use super::meeting::Meeting;
use super::plan::{Atomic, Figure, Plan, Service, Verb};
use super::recorder::Recorder;
use super::stream::{self, Job, Signs};
use super::turns;
use super::work::{Adds, Direct, Reads, Sends, Swaps, WithAddress, Work, Writes};

/// The queues of a thread.
pub(super) trait Bench: Send {
    /// Prepares for messages of a size.
    fn begin(&mut self, job: &Job);

    /// Runs this end.
    ///
    /// # Errors
    /// A completion with an error, or silence.
    fn run(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure>;
}

impl<T, W> Bench for Vec<Lane<T, W>>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
    Lane<T, W>: Send,
{
    fn begin(&mut self, job: &Job) {
        for lane in self {
            lane.begin(job.size, job.plan.inline);
        }
    }

    fn run(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        match (job.plan.figure, &mut self[..]) {
            (Figure::Lat, [lane]) if job.begins => turns::begin(lane, job, recorder, signs),
            (Figure::Lat, [lane]) => turns::answer(lane, job, recorder, signs),
            (_, lanes) => stream::run(lanes, job, recorder, signs),
        }
    }
}

impl Bench for FrameLane {
    fn begin(&mut self, _: &Job) {}

    fn run(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        self.run(job, recorder, signs)
    }
}

/// The parts of an end.
pub(super) struct Parts<'a> {
    pub(super) pd: &'a ProtectionDomain,
    pub(super) path: &'a Path,
    pub(super) role: Role,
    pub(super) meeting: &'a mut Meeting,
}

impl Parts<'_> {
    /// Makes the queues of the meeting's plan, and connects them.
    ///
    /// # Errors
    /// A failed call, or a peer that speaks otherwise.
    pub(super) fn benches(&mut self) -> Result<Vec<Box<dyn Bench>>, Failure> {
        let plan = self.meeting.plan().clone();
        let Plan { service, verb, atomic, .. } = plan;
        macro_rules! every {
            ($made:ident) => {
                match (verb, atomic) {
                    (Verb::Send, _) => self.$made(&plan, |_| Sends),
                    (Verb::Write, _) => self.$made(&plan, |to| Writes(to.memory)),
                    (Verb::Read, _) => self.$made(&plan, |to| Reads(to.memory)),
                    (Verb::Atomic, Atomic::FetchAdd) => self.$made(&plan, |to| Adds(to.memory)),
                    (Verb::Atomic, Atomic::CompareSwap) => self.$made(&plan, |to| Swaps(to.memory)),
                    (Verb::Frame, _) => Err("frames have no queue pairs of this kind".into()),
                }
            };
        }
        match (service, verb) {
            (Service::Rc, _) => every!(reliable),
            (Service::Uc, Verb::Send) => self.connected::<Uc, _>(&plan, |_| Sends),
            (Service::Uc, _) => self.connected::<Uc, _>(&plan, |to| Writes(to.memory)),
            (Service::Ud, _) => self.datagrams(&plan),
            (Service::Dc, _) => every!(dynamic),
            (Service::Xrc, _) => every!(extended),
            (Service::Raw, _) => {
                let part = (self.role, &mut *self.meeting);
                let lane = FrameLane::new(self.pd, self.path, &plan, plan.largest(), part)?;
                Ok(vec![Box::new(lane)])
            }
        }
    }

    fn reliable<V>(&mut self, plan: &Plan, verb: impl Fn(&Keys) -> V) -> Result<Vec<Box<dyn Bench>>, Failure>
    where
        Direct<V>: Work<Rc>,
        V: Copy + Send + 'static,
    {
        self.connected::<Rc, V>(plan, verb)
    }

    fn connected<T, V>(&mut self, plan: &Plan, verb: impl Fn(&Keys) -> V) -> Result<Vec<Box<dyn Bench>>, Failure>
    where
        T: VerbsTransport + Transport<RecvForm = PlainRecv>,
        Direct<V>: Work<T>,
        V: Copy + Send + 'static,
    {
        let receives = if plan.is_received() { plan.rx_depth } else { 0 };
        let path = self.path.clone();
        self.meet::<T, _>(
            plan,
            |parts| {
                let ends = Ends::<T>::new(parts.pd, plan, parts.meeting.page, |builder| builder.receives(receives))?;
                ends.pair.qp.to_init(&path)?;
                Ok(ends)
            },
            |ends, mine, theirs| begin_to_send(ends, &path, &mine.sends, &theirs.receives),
            |_, _, theirs| Ok(Direct(verb(&theirs.receives))),
        )
    }

    fn datagrams(&mut self, plan: &Plan) -> Result<Vec<Box<dyn Bench>>, Failure> {
        let mtu = self.meeting.mtu().bytes() as usize;
        if plan.largest() > mtu {
            return Err(format!("a datagram of these ports has {mtu} bytes at most: choose another --size").into());
        }
        let path = self.path.clone();
        self.meet::<Ud, _>(
            plan,
            |parts| {
                let depth = plan.rx_depth;
                let mut ends = Ends::<Ud>::new(parts.pd, plan, parts.meeting.page, |builder| builder.receives(depth))?;
                ends.pair.activate(&path, QKEY)?;
                Ok(ends)
            },
            |_, _, _| Ok(()),
            |parts, ends, theirs| Ok(WithAddress(Sends, ends.datagrams_to(parts.pd, &path, &theirs.receives)?)),
        )
    }

    fn dynamic<V>(&mut self, plan: &Plan, verb: impl Fn(&Keys) -> V) -> Result<Vec<Box<dyn Bench>>, Failure>
    where
        WithAddress<V, blueflame::wqe::DcAddress>: Work<Dci>,
        V: Copy + Send + 'static,
    {
        let path = self.path.clone();
        self.meet::<Dci, _>(
            plan,
            |parts| {
                let ends = Ends::<Dci>::new(parts.pd, plan, parts.meeting.page, |builder| builder)?;
                let mut ends = ends.with_target(parts.pd, &path, plan.rx_depth)?;
                ends.pair.activate(&path)?;
                Ok(ends)
            },
            |_, _, _| Ok(()),
            |parts, ends, Sides { receives, .. }| {
                Ok(WithAddress(verb(receives), ends.target_at(parts.pd, &path, receives)?))
            },
        )
    }

    fn extended<V>(&mut self, plan: &Plan, verb: impl Fn(&Keys) -> V) -> Result<Vec<Box<dyn Bench>>, Failure>
    where
        WithAddress<V, Srqn>: Work<XrcInitiator>,
        V: Copy + Send + 'static,
    {
        let path = self.path.clone();
        let (both, is_client) = (plan.has_two_sides(), self.role == Role::Client);
        self.meet::<XrcInitiator, _>(
            plan,
            |parts| {
                let ends = Ends::<XrcInitiator>::new(parts.pd, plan, parts.meeting.page, |builder| builder)?;
                ends.pair.qp.to_init(&path)?;
                ends.with_xrc_target(parts.pd, &path, plan.rx_depth)
            },
            |ends, mine, theirs| {
                // An end that does not send, or does not receive, has no peer for the other queue pair.
                if both || !is_client {
                    let target = ends.xrc_target().ok_or("no target")?;
                    target.connect(&path, &mine.receives.endpoint, &theirs.sends.endpoint)?;
                }
                if both || is_client {
                    begin_to_send(ends, &path, &mine.sends, &theirs.receives)?;
                }
                Ok(())
            },
            |_, _, Sides { receives, .. }| Ok(WithAddress(verb(receives), receives.srqn)),
        )
    }

    /// Makes the queue pairs, exchanges their keys, connects them, and divides them among threads.
    fn meet<T, W>(
        &mut self,
        plan: &Plan,
        make: impl Fn(&Self) -> Result<Ends<T>, Failure>,
        connect: impl Fn(&mut Ends<T>, &Sides, &Sides) -> Result<(), Failure>,
        work: impl Fn(&Self, &mut Ends<T>, &Sides) -> Result<W, Failure>,
    ) -> Result<Vec<Box<dyn Bench>>, Failure>
    where
        T: VerbsTransport + Transport<RecvForm = PlainRecv>,
        W: Work<T> + 'static,
    {
        let mut ends = (0..plan.queues).map(|_| make(self)).collect::<Result<Vec<_>, _>>()?;
        let mine: Vec<Sides> = ends.iter().map(|ends| ends.keys(self.path)).collect();
        let theirs = self.meeting.keys(&mine)?;
        for (ends, (mine, theirs)) in ends.iter_mut().zip(mine.iter().zip(&theirs)) {
            connect(ends, mine, theirs)?;
            if plan.is_received() {
                ends.post_receives(plan.rx_depth as usize)?;
            }
        }
        // A peer may send once it knows that this end is connected, before the first size begins.
        let theirs = self.meeting.connected(&mine)?;
        let mut lanes = Vec::new();
        for (mut ends, theirs) in ends.drain(..).zip(&theirs) {
            let work = work(self, &mut ends, theirs)?;
            lanes.push(Lane::new(ends, work));
        }
        let per_thread = plan.queues / plan.threads;
        let mut benches: Vec<Box<dyn Bench>> = Vec::new();
        while !lanes.is_empty() {
            let rest = lanes.split_off(per_thread.min(lanes.len()));
            benches.push(Box::new(std::mem::replace(&mut lanes, rest)));
        }
        Ok(benches)
    }
}

/// Connects the queue pair that sends with the peer's that receives.
fn begin_to_send<T>(ends: &mut Ends<T>, path: &Path, mine: &Keys, theirs: &Keys) -> Result<(), Failure>
where
    T: VerbsTransport,
{
    // The peer answers at most `out_reads` READs at once.
    let mut path = path.clone();
    path.max_rd_atomic = path.max_rd_atomic.min(theirs.out_reads.max(1));
    Ok(ends.pair.connect(&path, &mine.endpoint, &theirs.endpoint)?)
}
