//! Two queue pairs of one geometry, each connected to itself: one driven by libmlx5, one by this crate.

use std::rc::Rc;
use std::time::{Duration, Instant};

use blueflame::Remote;
use blueflame::cq::Cqe;
use blueflame::db::RegisterParts;
use blueflame::queue::{RecvQueue, RetireError, SendQueue};
use blueflame::types::{Psn, Qpn, WrId};
use blueflame::verbs::adopt::adopt_qp;
use blueflame::verbs::{AddressHandle, Error, Owned, OwnedCq, Qp, QueuePair, VerbsTransport, XrcTarget};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Service, Target, Wr};
use proptest::strategy::{BoxedStrategy, Just, Strategy as _};

use crate::addresses::addressed;
use crate::compare::{FILL, Place, RingRules, Rung, Window, is_signed, units};
use crate::completions::{self, Completion};
use crate::decoded;
use crate::post::{self, Receive, Way};
use crate::random::REMOTE;
use crate::verbs::{Fabric, Geometry, PolledCq, RawQp};

/// A transport whose queue pairs can be tested alone.
pub(crate) trait Link: VerbsTransport + Service {
    /// The column of `docs/operations.md`.
    const COLUMN: &str;

    /// Takes a new queue pair to RTS, connected to itself if it needs a peer, or to `target` if it has the transport
    /// XRC.
    fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, target: Option<&XrcTarget>) -> Result<(), Error>;

    /// Where requests of twins go that receive nothing themselves, whose completions go to these queues.
    fn receiver(_fabric: &Fabric, _geometry: &Geometry, _cqs: (&PolledCq, &OwnedCq)) -> Option<Box<dyn Receiver>> {
        None
    }

    /// Any request, for queues of up to `max_sge` entries and `max_inline` bytes.
    fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)>;

    /// A request that no receive is taken by.
    fn silent(fabric: &Fabric) -> Kind {
        Kind::Write(Remote { addr: fabric.buffer.addr() + REMOTE as u64, rkey: fabric.buffer.rkey() })
    }

    /// Whom a request is for.
    fn targets(_fabric: &Fabric) -> BoxedStrategy<Option<Target>> {
        Just(None).boxed()
    }
}

/// The receivers of twins that do not receive: libmlx5's, and this crate's.
pub(crate) trait Receiver {
    /// The numbers that completions have.
    fn numbers(&self) -> [u32; 2];

    /// Those that requests name.
    fn named(&self) -> [u32; 2] {
        self.numbers()
    }

    /// The peer of an initiator of XRC.
    fn xrc_targets(&self) -> Option<&[XrcTarget; 2]> {
        None
    }

    /// Posts receives to both. That the rings are equal is another test's to say.
    fn receive(&mut self, list: &[Receive]) -> Result<(), String>;

    /// The tag of our receive.
    fn retire(&mut self, cqe: &Cqe<'_>) -> Result<WrId, RetireError>;
}

/// Takes a queue pair to RTS, connected to itself.
pub(crate) fn connect_to_itself<T: Link>(pair: &mut QueuePair<T>, fabric: &Fabric) -> Result<(), Error> {
    let path = fabric.path();
    let itself = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
    pair.qp.to_init(&path)?;
    pair.connect(&path, &itself, &itself)
}

/// libmlx5's.
pub(crate) struct Theirs {
    /// For state changes; its queues were dropped unused.
    pub(crate) handle: Qp,
    pub(crate) raw: RawQp,
    pub(crate) send_cq: PolledCq,
    pub(crate) recv_cq: PolledCq,
}

/// This crate's.
pub(crate) struct Ours<T: VerbsTransport> {
    pub(crate) sq: Owned<SendQueue<T>, Qp>,
    pub(crate) rq: Owned<RecvQueue<T::RecvForm>, Qp>,
    pub(crate) raw: RawQp,
    pub(crate) send_cq: OwnedCq,
    pub(crate) recv_cq: OwnedCq,
}

pub(crate) struct Twins<T: Link> {
    /// Where an initiator's requests go.
    targets: Option<Box<dyn Receiver>>,
    pub(crate) theirs: Theirs,
    pub(crate) ours: Ours<T>,
    handles: Rc<[AddressHandle]>,
    rules: RingRules,
    windows: Option<[Window; 2]>,
    /// Whether the twins ring different halves of their registers; not known at first if libmlx5 has used its register
    /// before, as it goes on where it was.
    turned: Option<bool>,
    /// Index of the next WQEBB, modulo 2^16.
    pub(crate) pi: usize,
    /// WQEBBs and requests posted since the last completion: they still take up space.
    pub(crate) held: (usize, usize),
}

/// Bytes of a work queue.
pub(crate) fn ring(wq: &sys::mlx5dv_wq) -> Vec<u8> {
    let len = (wq.wqe_cnt * wq.stride) as usize;
    // SAFETY: the ring that libmlx5 allocated and filled; the device only reads it, and no driver writes it now.
    unsafe { core::slice::from_raw_parts(wq.buf.cast::<u8>(), len) }.to_vec()
}

fn fill(wq: &sys::mlx5dv_wq) {
    // SAFETY: the ring that libmlx5 allocated, before anything is posted.
    unsafe { wq.buf.cast::<u8>().write_bytes(FILL, (wq.wqe_cnt * wq.stride) as usize) };
}

/// Both words of a doorbell record.
pub(crate) fn record(parts: &sys::mlx5dv_qp) -> [u32; 2] {
    // SAFETY: two words that libmlx5 allocated.
    [0, 1].map(|n| u32::from_be(unsafe { parts.dbrec.add(n).read_volatile() }))
}

fn same<V: PartialEq + core::fmt::Debug>(what: &str, theirs: V, ours: V) -> Result<(), String> {
    if theirs == ours { Ok(()) } else { Err(format!("{what}: libmlx5 {theirs:02x?}, this crate {ours:02x?}")) }
}

impl<T: Link> Twins<T> {
    /// `fresh`: no queue pair of the fabric's device was rung for yet.
    pub(crate) fn new(fabric: &Fabric, geometry: &Geometry, fresh: bool) -> Self {
        const CQES: u32 = 1024;
        let (send_cq, recv_cq) = (
            PolledCq::new(&fabric.device, CQES, geometry.cqe_bytes),
            PolledCq::new(&fabric.device, CQES, geometry.cqe_bytes),
        );
        let cq = || fabric.device.completion_queue(CQES).cqe_bytes(geometry.cqe_bytes).build().expect("a CQ");
        let (our_send_cq, our_recv_cq) = (cq(), cq());
        // The whole ring is used, of which few requests are signalled.
        our_send_cq.handle().oversubscribe();
        let targets = T::receiver(fabric, geometry, (&recv_cq, &our_recv_cq));
        let target = |n: usize| targets.as_ref().and_then(|targets| Some(&targets.xrc_targets()?[n]));
        let srq = core::ptr::null_mut();
        let raw = RawQp::new(fabric, T::QP_TYPE, send_cq.as_raw(), recv_cq.as_raw(), srq, geometry);
        // SAFETY: alive as long as the handle in `Theirs`, where it comes first. The queues are dropped here and never
        // post.
        let mut pair = unsafe { adopt_qp::<T>(raw.raw) }.expect("adopt");
        T::ready(&mut pair, fabric, target(0)).expect("RTS");
        let theirs = Theirs { handle: pair.qp, raw, send_cq, recv_cq };

        let (send_cq, recv_cq) = (our_send_cq, our_recv_cq);
        let (raw_send, raw_recv) = (send_cq.handle().as_raw(), recv_cq.handle().as_raw());
        let raw = RawQp::new(fabric, T::QP_TYPE, raw_send, raw_recv, srq, geometry);
        // SAFETY: alive as long as the queues, which come first in `Ours`; new, in its own thread domain, and nobody
        // else's.
        let mut pair = unsafe { adopt_qp::<T>(raw.raw) }.expect("adopt");
        T::ready(&mut pair, fabric, target(1)).expect("RTS");
        let QueuePair { mut sq, rq, .. } = pair;
        let ring = sq.capacity();
        sq.set_depth(ring).expect("the whole ring");
        let ours = Ours { sq, rq, raw, send_cq, recv_cq };

        for (a, b) in [(theirs.raw.parts.sq, ours.raw.parts.sq), (theirs.raw.parts.rq, ours.raw.parts.rq)] {
            assert_eq!((a.wqe_cnt, a.stride), (b.wqe_cnt, b.stride), "twins of one geometry");
            fill(&a);
            fill(&b);
        }
        assert_eq!(theirs.raw.parts.bf.size, ours.raw.parts.bf.size);
        assert_eq!(u32::from(ours.sq.capacity().0), theirs.raw.parts.sq.wqe_cnt);
        assert_eq!(ours.sq.limits().max_inline, theirs.raw.cap.max_inline_data);
        assert_eq!(ours.sq.limits().max_sge, theirs.raw.cap.max_send_sge);

        let numbers = [theirs.raw.number(), ours.raw.number()];
        let named = targets.as_ref().map_or(numbers, |targets| targets.named());
        let rules = RingRules::new(theirs.raw.parts.sq.wqe_cnt, numbers, named, T::SIGNS);
        let window = |raw: &RawQp| {
            let reg = raw.parts.bf.reg.cast();
            Window::new(RegisterParts {
                reg: std::ptr::NonNull::new(reg).expect("a register"),
                size: raw.parts.bf.size,
            })
        };
        let windows = window(&theirs.raw).zip(window(&ours.raw)).map(|(a, b)| [a, b]);
        let named = T::INITIATOR || T::QP_TYPE == sys::IBV_QPT_UD;
        let handles = if named { Rc::clone(fabric.handles()) } else { Rc::default() };
        Self { targets, theirs, ours, handles, rules, windows, turned: fresh.then_some(false), pi: 0, held: (0, 0) }
    }

    /// WQEBBs of the rings.
    pub(crate) fn wqebbs(&self) -> usize {
        self.theirs.raw.parts.sq.wqe_cnt as usize
    }

    /// Posts `list` to both, with one doorbell each, and compares rings, records and registers. `batch`: this crate
    /// posts a list of one by a batch, too. Says how the registers were rung.
    pub(crate) fn send(&mut self, way: Way, batch: bool, list: &[Wr]) -> Result<Rung, String> {
        let windows = self.windows;
        if let Some([theirs, _]) = windows {
            theirs.poison();
        }
        let named = self.targets.as_ref().map_or(self.numbers(), |targets| targets.named());
        let [to_them, to_us] = named.map(|number| addressed(list, number));
        post::send(self.theirs.raw.raw, way, &to_them, self.theirs.raw.cap.max_send_sge, &self.handles);
        // Before ours is rung: without BlueFlame it is the same register.
        let their_register = windows.map(|[theirs, ours]| {
            let stored = theirs.read();
            ours.poison();
            stored
        });
        if let ([wr], false) = (&to_us[..], batch) {
            // SAFETY: registered memory of the fabric, which outlives the queues, and which nothing looks at meanwhile;
            // so below.
            unsafe { T::put(&mut *self.ours.sq, wr) }.map_err(|error| format!("{wr:?}: {error}"))?;
        } else {
            let mut batch = self.ours.sq.batch();
            for wr in &to_us {
                // SAFETY: registered memory of the fabric, which outlives the queues; nothing looks at it meanwhile.
                unsafe { T::put(&mut batch, wr) }.map_err(|error| format!("{wr:?}: {error}"))?;
            }
            batch.ring_doorbell();
        }
        let mut last = Place { slot: 0, ds: 0 };
        let [their_ring, our_ring] = [&self.theirs.raw, &self.ours.raw].map(|raw| ring(&raw.parts.sq));
        for (wr, to_them) in list.iter().zip(&to_them) {
            last = Place { slot: self.pi % self.wqebbs(), ds: units(wr) };
            let [wqe, ours] = [&their_ring, &our_ring].map(|ring| last.wqe(ring));
            if T::SIGNS {
                same("signature", is_signed(&wqe), true)?;
                same("our signature", is_signed(&ours), true)?;
            }
            decoded::agrees(to_them, &wqe, T::QP_TYPE, self.theirs.raw.number(), self.pi)?;
            self.rules.written(wr, last, way);
            self.pi = (self.pi + last.wqebbs()) & 0xffff;
            self.held = (self.held.0 + last.wqebbs(), self.held.1 + 1);
        }
        self.rules.compare(&their_ring, &our_ring)?;
        same("doorbell record", record(&self.theirs.raw.parts), record(&self.ours.raw.parts))?;
        same("producer index", self.pi as u32, record(&self.ours.raw.parts)[1])?;
        match (their_register, windows) {
            (Some(theirs), Some([_, ours])) => {
                self.rules.compare_register(last, &theirs, &ours.read(), &mut self.turned)
            }
            _ => Ok(Rung::Unseen),
        }
    }

    /// Posts receives to both, and compares rings and records.
    pub(crate) fn receive(&mut self, list: &[Receive]) -> Result<(), String> {
        if let Some(targets) = &mut self.targets {
            return targets.receive(list);
        }
        let rq = &mut self.ours.rq;
        let raw = self.theirs.raw.raw.as_ptr();
        let mut bad = core::ptr::null_mut();
        // With signatures, libmlx5 gives each of a list the index of the first.
        let one_by_one = T::SIGNS && self.pi % 2 == 0;
        for list in list.chunks(if one_by_one { 1 } else { list.len() }) {
            // SAFETY: the queue pair is alive, the list lives until the call returns, the memory is the fabric's.
            post::receive(list, |first| unsafe { sys::ibv_post_recv(raw, first, &raw mut bad) });
        }
        let mut batch = rq.batch();
        for (id, sges) in list {
            // SAFETY: the fabric's memory, as above.
            unsafe { batch.push_unchecked(WrId(*id), sges) }.map_err(|error| error.to_string())?;
        }
        batch.ring_doorbell();
        let mut rings = [&self.theirs.raw, &self.ours.raw].map(|raw| ring(&raw.parts.rq));
        if T::SIGNS {
            let stride = self.theirs.raw.parts.rq.stride as usize;
            let first = (record(&self.ours.raw.parts)[0] as usize).wrapping_sub(list.len());
            for n in 0..if one_by_one { list.len() } else { 1 } {
                let wqe = (first.wrapping_add(n) & 0xffff) % (rings[0].len() / stride);
                let numbers = self.numbers().map(|number| number.to_be_bytes().iter().fold(0, |sum, byte| sum ^ byte));
                // All bytes except those of the number, which differs.
                let [theirs, ours] = [0, 1].map(|twin| rings[twin][wqe * stride + 4] ^ numbers[twin]);
                same("signature of a receive", theirs, ours)?;
            }
            rings.iter_mut().for_each(|ring| ring.chunks_mut(stride).for_each(|wqe| wqe[4] = 0));
        }
        let [theirs, ours] = rings;
        same("receive ring", theirs, ours)?;
        same("doorbell record", record(&self.theirs.raw.parts), record(&self.ours.raw.parts))
    }

    /// The next completion of the send queues. It frees the places of all requests up to its own.
    pub(crate) fn send_completion(&mut self) -> Result<Completion, String> {
        let (mut cqe, wc) = wait("libmlx5's send completion", || self.theirs.send_cq.poll())?;
        let theirs = completions::agree(&mut cqe, &wc)?;
        let (ours, index) = wait("our send completion", || one(&mut self.ours.send_cq, |cqe| cqe.wqe_counter()))?;
        // SAFETY: of a completion of this queue, used once.
        let retired = unsafe { self.ours.sq.retire_index(index) }.map_err(|error| error.to_string())?;
        same("wr_id", wc.wr_id, retired.wr_id.0)?;
        self.held = (0, 0);
        let numbers = self.numbers();
        alike(theirs, ours, numbers, numbers)
    }

    /// The next completion of the receive queues.
    pub(crate) fn recv_completion(&mut self) -> Result<Completion, String> {
        let (mut cqe, wc) = wait("libmlx5's receive completion", || self.theirs.recv_cq.poll())?;
        let theirs = completions::agree(&mut cqe, &wc)?;
        let Ours { rq, recv_cq, .. } = &mut self.ours;
        let (ours, id) = wait("our receive completion", || {
            one(recv_cq, |cqe| match &mut self.targets {
                Some(targets) => targets.retire(cqe),
                None => rq.retire(cqe),
            })
        })?;
        same("wr_id", wc.wr_id, id.map_err(|error| error.to_string())?.0)?;
        alike(theirs, ours, self.receivers(), self.numbers())
    }

    /// The numbers that receive a twin's messages to itself.
    fn receivers(&self) -> [u32; 2] {
        self.targets.as_ref().map_or(self.numbers(), |targets| targets.numbers())
    }

    fn numbers(&self) -> [u32; 2] {
        [self.theirs.raw.number(), self.ours.raw.number()]
    }

    pub(crate) fn qpn(&self) -> Qpn {
        self.ours.sq.qpn()
    }
}

/// Two completions of the same request. They differ in the numbers of the queue pairs at both ends.
fn alike(theirs: Completion, ours: Completion, numbers: [u32; 2], sources: [u32; 2]) -> Result<Completion, String> {
    same("QPN", [theirs.qp_num, ours.qp_num], numbers)?;
    same("completion", theirs.of_nobody(sources[0]), ours.of_nobody(sources[1]))?;
    Ok(theirs)
}

/// The next completion of one of our queues: its fields, and the result of `f`.
fn one<R>(cq: &mut OwnedCq, f: impl FnOnce(&Cqe<'_>) -> R) -> Option<(Completion, R)> {
    let mut found = None;
    let mut f = Some(f);
    cq.poll_with(1, |cqe: Cqe<'_>| {
        found = f.take().map(|f| (completions::of_view(&cqe), f(&cqe)));
    });
    found
}

pub(crate) fn wait<R>(what: &str, mut ready: impl FnMut() -> Option<R>) -> Result<R, String> {
    let begin = Instant::now();
    loop {
        if let Some(result) = ready() {
            return Ok(result);
        }
        if begin.elapsed() > Duration::from_secs(20) {
            return Err(format!("no {what}"));
        }
        std::thread::yield_now();
    }
}
