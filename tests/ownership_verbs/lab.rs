//! The program: its operations, and the checks after each. It is the same for objects of libibverbs and for those made
//! by commands: `crate::host` has their types.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use arbitrary::Arbitrary;
use blueflame::cq::{CqeView, Source};
use blueflame::queue::owning::Refused;
use blueflame::queue::{Owned, OwningSendQueue, RecvQueue, SendQueue};
use blueflame::transport::{PlainRecv, Rc};
use blueflame::verbs::Buffer;
use blueflame::verbs::memory::PoolBuffer;
use blueflame::wqe;
use blueflame_fuzz_targets::ownership::parts::{Part, Queue, exchange_held, mend, swap_held};
use blueflame_fuzz_targets::ownership::{Label, Owners, Use, WORDS};

use crate::host::{Host, OwnedCq, Qp};
use crate::memory::{fill, words, words_of_window};

pub(crate) const PLACES: usize = 4;
/// Buffers of each host.
const PAGES: usize = 12;

/// One operation. Each number is taken modulo the count of its objects.
#[derive(Clone, Debug, Arbitrary)]
pub(crate) enum Op {
    /// A new completion queue; the one before is held, or dropped.
    Cq { at: u8, host: u8, hold: bool },
    /// A new queue pair with the completion queue of its place; the one before is held, or dropped. If it is busy,
    /// receives of the one before complete with errors, which are polled when the new one has receives, for messages
    /// that come then.
    Again { at: u8, hold: bool, busy: bool },
    /// A new queue pair with the completion queues of any places, and of any host.
    Build { at: u8, host: u8, sends: u8, recvs: u8, hold: bool },
    /// The error state: everything completes.
    Fail { at: u8 },
    /// Messages from buffers.
    Send { at: u8, words: u8, count: u8 },
    /// A WRITE of a buffer to a window, or a READ.
    Access { at: u8, words: u8, write: bool },
    /// Receives.
    Receive { at: u8, count: u8 },
    /// The devices have time.
    Wait,
    /// Polls, and offers what came to all queues, beginning with one.
    Poll { cq: u8, first: u8 },
    /// Holds a completion while the next things happen, and offers it then.
    Hold { cq: u8, meanwhile: u8, first: u8 },
    /// Exchanges handles, send queues, receive queues or completion queues.
    Swap { what: u8, a: u8, b: u8 },
    /// Exchanges what their holders hold.
    SwapHeld { what: u8, a: u8, b: u8 },
    /// RESET of a queue pair put together of the parts at three places (none, if the last number is beyond them), with
    /// some of the completion queues. If it succeeds, it is connected again.
    Reset { qp: u8, sends: u8, recvs: u8, cqs: u8 },
    /// The end of a connection, accounted for, of parts as for RESET, and with their completion queues.
    Drain { qp: u8, sends: u8, recvs: u8, cqs: u8 },
    /// RESET of the queue pair at one place, and another size of its completion queue.
    Renew { at: u8, cqs: u8, resize: bool },
    /// Drops one.
    Drop { what: u8, at: u8 },
}

pub(crate) type SendHolder = Owned<SendQueue<Rc>, Qp>;
pub(crate) type Sends = OwningSendQueue<SendHolder, PoolBuffer>;
pub(crate) type Recvs = Owned<RecvQueue<PlainRecv, PoolBuffer>, Qp>;

#[derive(Default)]
pub(crate) struct Place {
    pub(crate) qp: Option<(Qp, Label)>,
    pub(crate) sends: Option<Part<Sends>>,
    pub(crate) recvs: Option<Part<Recvs>>,
    pub(crate) cq: Option<Part<OwnedCq>>,
}

/// A queue pair that was made: its host and its completion queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) host: usize,
    pub(crate) sends: Label,
    pub(crate) recvs: Label,
}

pub(crate) struct Lab<'a> {
    pub(crate) hosts: &'a [Host; PLACES],
    windows: [Buffer; PLACES],
    pub(crate) places: [Place; PLACES],
    /// The program's.
    pages: Vec<PoolBuffer>,
    /// The hosts of buffers, by address.
    homes: BTreeMap<u64, usize>,
    owners: Owners,
    labels: u32,
    pub(crate) made: BTreeMap<Label, Made>,
    /// The hosts of completion queues.
    cqs: BTreeMap<Label, usize>,
    /// Queue pairs and completion queues of which buffers or completions were given up.
    pub(crate) lost: BTreeSet<Label>,
    /// Parts out of use.
    pub(crate) old_sends: Vec<Part<SendHolder>>,
    pub(crate) old_recvs: Vec<Part<Recvs>>,
    old_cqs: Vec<Part<OwnedCq>>,
}

impl<'a> Lab<'a> {
    pub(crate) fn new(hosts: &'a [Host; PLACES]) -> Self {
        let mut owners = Owners::default();
        let windows = hosts.each_ref().map(|host| host.memory.window(owners.window()));
        let mut homes = BTreeMap::new();
        let pages = (0..PLACES * PAGES).map(|n| {
            let mut page = hosts[n % PLACES].memory.page();
            homes.insert(page.addr(), n % PLACES);
            fill(owners.mine(page.addr()), &mut page);
            page
        });
        let pages = pages.collect();
        Self {
            hosts,
            windows,
            places: Default::default(),
            pages,
            homes,
            owners,
            labels: 0,
            made: BTreeMap::new(),
            cqs: BTreeMap::new(),
            lost: BTreeSet::new(),
            old_sends: Vec::new(),
            old_recvs: Vec::new(),
            old_cqs: Vec::new(),
        }
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub(crate) fn run(&mut self, ops: &[Op]) {
        let mut rest = ops;
        while let Some((op, tail)) = rest.split_first() {
            rest = match op {
                Op::Hold { cq, meanwhile, first } => {
                    let (inner, after) = tail.split_at(tail.len().min(usize::from(meanwhile % 8)));
                    self.hold(place(*cq), inner, *first);
                    after
                }
                _ => {
                    self.step(op);
                    tail
                }
            };
            self.check();
        }
    }

    pub(crate) fn step(&mut self, op: &Op) {
        match *op {
            Op::Cq { at, host, hold } => {
                self.remove(3, place(at), hold);
                let label = self.label();
                self.cqs.insert(label, place(host));
                self.places[place(at)].cq = Some(Part::new(self.hosts[place(host)].cq(), label));
            }
            Op::Again { at, hold, busy } => {
                let Some(cq) = &self.places[place(at)].cq else { return };
                let host = self.cqs[&cq.held] as u8;
                if busy {
                    [Op::Receive { at, count: 3 }, Op::Fail { at }].iter().for_each(|op| self.step(op));
                    self.wait_for_completions(place(at));
                }
                self.step(&Op::Build { at, host, sends: at, recvs: at, hold });
                if busy {
                    let ops = [
                        Op::Receive { at, count: 3 },
                        Op::Poll { cq: at, first: at },
                        Op::Send { at, words: WORDS as u8, count: 1 },
                        Op::Wait,
                    ];
                    ops.iter().for_each(|op| self.step(op));
                }
            }
            Op::Build { at, host, sends, recvs, hold } => {
                (0..3).for_each(|what| self.remove(what, place(at), hold));
                self.build(place(at), place(host), [place(sends), place(recvs)]);
            }
            Op::Fail { at } => {
                if let Some((qp, _)) = &self.places[place(at)].qp {
                    qp.to_error().expect("ERR, from any state");
                }
            }
            Op::Send { at, words, count } => {
                (0..=count % 4).for_each(|_| self.post(place(at), Use::Send(usize::from(words) % (WORDS + 1))));
            }
            Op::Access { at, words, write } => {
                let words = usize::from(words) % (WORDS + 1);
                self.post(place(at), if write { Use::Write(words) } else { Use::Read(words) });
            }
            Op::Receive { at, count } => (0..=count % 4).for_each(|_| self.receive(place(at))),
            Op::Wait => sleep(Duration::from_micros(500)),
            Op::Poll { cq, first } => self.poll(place(cq), first),
            Op::Swap { what, a, b } => {
                let Some([a, b]) = both(&mut self.places, place(a), place(b)) else { return };
                match what % 4 {
                    0 => std::mem::swap(&mut a.qp, &mut b.qp),
                    1 => std::mem::swap(&mut a.sends, &mut b.sends),
                    2 => std::mem::swap(&mut a.recvs, &mut b.recvs),
                    _ => std::mem::swap(&mut a.cq, &mut b.cq),
                }
            }
            Op::SwapHeld { what, a, b } => self.swap_held(what, place(a), place(b)),
            Op::Reset { qp, sends, recvs, cqs } => self.reset([qp, sends, recvs].map(usize::from), cqs),
            Op::Drain { qp, sends, recvs, cqs } => self.drain([qp, sends, recvs].map(usize::from), cqs),
            Op::Renew { at, cqs, resize } => {
                let at = place(at);
                self.reset([at; 3], cqs | 1 << at);
                if let (true, Some(cq)) = (resize, &mut self.places[at].cq) {
                    let host = &self.hosts[self.cqs[&cq.holder]];
                    let resized = host.resize(&mut cq.value, 120 + 100 * u32::from(cqs % 3));
                    assert_eq!(
                        resized.is_ok(),
                        cq.is_whole(),
                        "{resized:?}: holder {:?}, held {:?}",
                        cq.holder,
                        cq.held
                    );
                }
            }
            Op::Drop { what, at } => self.remove(what, place(at), false),
            Op::Hold { .. } => unreachable!("`run` does it"),
        }
    }

    /// Waits until completions of the queue pair at a place are in the completion queue there, for some time.
    fn wait_for_completions(&self, at: usize) {
        let Place { qp: Some((qp, _)), cq: Some(cq), .. } = &self.places[at] else { return };
        let begin = Instant::now();
        while !cq.value.holds(qp.qpn()) && begin.elapsed() < Duration::from_millis(5) {
            sleep(Duration::from_micros(50));
        }
    }

    fn build(&mut self, at: usize, host: usize, cqs: [usize; 2]) {
        let [Some(sends), Some(recvs)] = cqs.map(|at| self.places[at].cq.as_ref()) else { return };
        let own = [sends, recvs].iter().all(|cq| cq.is_whole() && self.cqs[&cq.held] == host);
        let built = self.hosts[host].pair(&sends.value, &recvs.value);
        // Of each number that is free, an unpolled completion may be left: then none is made.
        let Ok(mut pair) = built else { return };
        assert!(own, "a queue pair was made with a completion queue of another open, or with an exchanged one");
        let made = Made { host, sends: sends.held, recvs: recvs.held };
        self.hosts[host].connect(&mut pair);
        let label = self.label();
        self.made.insert(label, made);
        let place = &mut self.places[at];
        place.qp = Some((pair.qp, label));
        place.sends = Some(Part::new(Sends::new(pair.sq).expect("nothing is posted"), label));
        place.recvs = Some(Part::new(pair.rq, label));
    }

    /// Takes a buffer of a host: its key is good there.
    fn page_of(&mut self, host: usize) -> Option<PoolBuffer> {
        let at = self.pages.iter().rposition(|page| self.homes[&page.addr()] == host)?;
        Some(self.pages.remove(at))
    }

    fn post(&mut self, at: usize, with: Use) {
        let Some(host) = self.places[at].sends.as_ref().map(|part| self.made[&part.held].host) else { return };
        let (Some(mut page), Some(sends)) = (self.page_of(host), &mut self.places[at].sends) else { return };
        let remote = self.windows[host].remote();
        fill(self.owners.lend(page.addr(), sends.held, with), &mut page);
        let posted = match with {
            Use::Send(words) => sends.value.gather(wqe::send(), page, words as u32 * 8),
            Use::Write(words) => sends.value.gather(wqe::write(remote), page, words as u32 * 8),
            Use::Read(words) => sends.value.read(wqe::read(remote), page, words as u32 * 8),
            Use::Receive => unreachable!("no request"),
        };
        if let Err(refused) = posted {
            let label = sends.held;
            self.refused(refused, label);
        }
    }

    fn receive(&mut self, at: usize) {
        let Some(host) = self.places[at].recvs.as_ref().map(|part| self.made[&part.held].host) else { return };
        let (Some(mut page), Some(recvs)) = (self.page_of(host), &mut self.places[at].recvs) else { return };
        fill(self.owners.lend(page.addr(), recvs.held, Use::Receive), &mut page);
        if let Err(refused) = recvs.value.post(page) {
            let label = recvs.held;
            self.refused(refused, label);
        }
    }

    fn refused<E>(&mut self, refused: Refused<E, PoolBuffer>, by: Label) {
        let mut page = refused.buffer;
        fill(self.owners.refused(page.addr(), by), &mut page);
        self.pages.push(page);
    }

    fn poll(&mut self, at: usize, first: u8) {
        let Some(mut cq) = self.places[at].cq.take() else { return };
        cq.value.poll_with(usize::MAX, |cqe| self.offer(&cqe, cq.held, first));
        self.places[at].cq = Some(cq);
    }

    fn hold(&mut self, at: usize, meanwhile: &[Op], first: u8) {
        let Some(mut cq) = self.places[at].cq.take() else { return self.run(meanwhile) };
        let held = cq.value.poll();
        self.run(meanwhile);
        if let Some(cqe) = held {
            self.offer(&cqe, cq.held, first);
        }
        // Its place may have another by now.
        match &mut self.places[at].cq {
            Some(_) => {
                self.lost.insert(cq.held);
                self.old_cqs.push(cq);
            }
            none => *none = Some(cq),
        }
    }

    /// Offers a completion of that completion queue to all queues, twice. Only a queue that completes there may take
    /// it, and once.
    pub(crate) fn offer<S: Source>(&mut self, cqe: &CqeView<S>, of: Label, first: u8) {
        let success = cqe.check().is_ok().then_some(cqe.byte_len() as usize);
        let mut taken = 0;
        for n in 0..4 * PLACES {
            let which = (usize::from(first) + n) % (2 * PLACES);
            let place = &mut self.places[which / 2];
            let (back, by, to) = match (which % 2, &mut place.sends, &mut place.recvs) {
                (0, Some(sends), _) => (sends.value.retire(cqe), sends.held, self.made[&sends.held].sends),
                (1, _, Some(recvs)) => (recvs.value.retire(cqe).map(Some), recvs.held, self.made[&recvs.held].recvs),
                _ => continue,
            };
            let Ok(page) = back else { continue };
            let mut page = page.expect("each request has a buffer");
            let words = words(&page);
            fill(self.owners.back(page.addr(), by, words, success), &mut page);
            self.pages.push(page);
            assert_eq!(to, of, "a queue took a completion of another's completion queue");
            taken += 1;
        }
        assert!(taken <= 1, "a completion was taken {taken} times");
    }

    fn swap_held(&mut self, what: u8, a: usize, b: usize) {
        let Some([a, b]) = both(&mut self.places, a, b) else { return };
        self.lost.extend(match what % 3 {
            0 => exchange_held(&mut a.sends, &mut b.sends, &mut self.old_sends),
            1 => exchange_held(&mut a.recvs, &mut b.recvs, &mut self.old_recvs),
            _ => swap_held(&mut a.cq, &mut b.cq),
        });
    }

    /// Takes one of the parts out of its place: to hold it, or to drop it. One that holds another's is held, since
    /// dropping it leaks.
    fn remove(&mut self, what: u8, at: usize, hold: bool) {
        let place = &mut self.places[at];
        match what % 4 {
            0 => place.qp = None,
            1 => {
                if let Some(part) = place.sends.take() {
                    self.lost.insert(part.held);
                    if hold || !part.is_whole() {
                        self.old_sends.push(part.map(Queue::into_holder));
                    }
                }
            }
            2 => {
                if let Some(part) = place.recvs.take() {
                    self.lost.insert(part.held);
                    if hold || !part.is_whole() {
                        self.old_recvs.push(part.map(Queue::into_holder));
                    }
                }
            }
            _ => {
                if let Some(part) = place.cq.take() {
                    self.lost.insert(part.held);
                    if hold || !part.is_whole() {
                        self.old_cqs.push(part);
                    }
                }
            }
        }
    }

    /// Nothing of the program's has changed.
    fn check(&self) {
        for page in &self.pages {
            self.owners.check(page.addr(), words(page));
        }
    }

    /// All queue pairs fail, so every buffer comes back whose queue and completion queue are still there.
    pub(crate) fn end(&mut self) {
        self.check();
        (0..PLACES as u8).for_each(|at| self.step(&Op::Fail { at }));
        let left = |lab: &Self| {
            let there = |label: &Label| {
                let cq = |label| lab.places.iter().any(|place| place.cq.as_ref().is_some_and(|cq| cq.held == label));
                let failed = lab.places.iter().any(|place| place.qp.as_ref().is_some_and(|(_, at)| at == label));
                failed && cq(lab.made[label].sends) && cq(lab.made[label].recvs)
            };
            let whole = lab.made.keys().filter(|label| !lab.lost.contains(label) && there(label));
            whole.map(|label| lab.owners.lent_to(*label)).sum::<usize>()
        };
        let begin = Instant::now();
        loop {
            (0..PLACES).for_each(|at| self.poll(at, at as u8));
            match left(self) {
                0 => break,
                left => assert!(begin.elapsed() < Duration::from_secs(10), "{left} buffers did not come back"),
            }
            sleep(Duration::from_micros(200));
        }
        self.check();
        for window in &self.windows {
            self.owners.check_window(words_of_window(window));
        }
        // So that everything is dropped whole, and nothing leaks.
        for at in 0..PLACES {
            (0..4).for_each(|what| self.remove(what, at, true));
        }
        mend(&mut self.old_sends, Sends::swap);
        mend(&mut self.old_recvs, Recvs::swap);
        mend(&mut self.old_cqs, |a, b| std::mem::swap(&mut **a, &mut **b));
    }
}

fn place(n: u8) -> usize {
    usize::from(n) % PLACES
}

/// Two places, unless they are one.
fn both(places: &mut [Place; PLACES], a: usize, b: usize) -> Option<[&mut Place; 2]> {
    let (low, high) = places.split_at_mut_checked(a.max(b))?;
    let (first, second) = (low.get_mut(a.min(b))?, high.first_mut()?);
    Some(if a < b { [first, second] } else { [second, first] })
}
