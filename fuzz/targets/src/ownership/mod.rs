//! A program without `unsafe` exchanges, takes apart, drops and holds its queues and completions, as safe code can.
//! Traffic is under way meanwhile, on two devices that give numbers out again. The device must not read or write a
//! buffer that was handed back, and no buffer is handed back twice.
#![forbid(unsafe_code)]

mod owners;
pub mod parts;

use std::collections::BTreeMap;

use blueflame::cq::{CqeView, Source};
use blueflame::queue::owning::Refused;
use blueflame::queue::{Owned, OwningSendQueue, RecvQueue, SendQueue};
use blueflame::transport::{self, PlainRecv};
use blueflame::{CompletionQueue, Qpn, wqe};
use blueflame_testkit::{
    Buffer, ConnectOptions, Device, DeviceOptions, End, Handle, Network, Receives, Shape, run_until_idle,
};
use softhca::context::{QpAttr, QpState};

use crate::page::{Page, collect};
pub use owners::{BYTES, Label, Owners, Use, WORDS};
use parts::{Part, Queue, exchange_held, mend, swap_held};

type SendHolder = Owned<SendQueue<transport::Rc>, Handle>;
type Sends = OwningSendQueue<SendHolder, Page>;
type Recvs = Owned<RecvQueue<PlainRecv, Page>, Handle>;
type Cq = Part<Owned<CompletionQueue, Handle>>;

/// Places for a queue pair's parts: two on each device.
const PLACES: usize = 4;
/// Buffers of each device.
const PAGES: usize = 16;

input_enum! {
    /// One operation of the program or of the devices. Each number is taken modulo the count of its objects.
    Op {
        /// Makes two queue pairs, connected with each other. The parts at their places before are held, or dropped.
        Connect { a: u8, b: u8, hold: bool },
        /// Destroys a queue pair, not its queues: its number is given out again.
        Destroy { at: u8 },
        /// Moves a queue pair to the error state: everything completes.
        Fail { at: u8 },
        /// Posts messages from buffers.
        Send { at: u8, words: u8, count: u8 },
        /// Posts a WRITE of a buffer to the peer's window, or with a key that is not good there.
        Write { at: u8, to: u8, words: u8 },
        /// Posts a READ of such a window into a buffer.
        Read { at: u8, from: u8, words: u8 },
        /// Posts a request without a buffer.
        Nop { at: u8 },
        /// Posts receives.
        Receive { at: u8, count: u8 },
        /// A device works.
        Step { device: u8, times: u8 },
        /// Both work until they have nothing left to do.
        Settle {},
        /// Polls, and offers what came to all queues, beginning with one.
        Poll { cq: u8, max: u8, first: u8 },
        /// Holds a completion while the next things happen, and offers it then.
        Hold { cq: u8, meanwhile: u8, first: u8 },
        /// Exchanges the send queues, the receive queues or the completion queues of two places.
        Swap { what: u8, a: u8, b: u8 },
        /// Exchanges what their holders hold.
        SwapHeld { what: u8, a: u8, b: u8 },
        /// Drops one.
        Drop { what: u8, at: u8 },
        /// Removes a queue pair's completions.
        Forget { cq: u8, of: u8 },
        /// Drops a buffer, and makes another.
        Renew { page: u8 },
    }
}

input_struct! {
    /// What happens.
    Input {
        ops: Vec<Op>,
    }
}

/// A queue pair as the device has it.
#[derive(Clone, Copy, Debug)]
struct Made {
    device: usize,
    qpn: Qpn,
    label: Label,
}

#[derive(Debug, Default)]
struct Place {
    sends: Option<Part<Sends>>,
    recvs: Option<Part<Recvs>>,
    cq: Option<Cq>,
    made: Option<Made>,
}

struct Lab {
    devices: [Device; 2],
    windows: [Buffer; 2],
    places: [Place; PLACES],
    /// The program's.
    pages: Vec<Page>,
    /// The devices of buffers, by address: their keys are good there.
    homes: BTreeMap<u64, usize>,
    owners: Owners,
    /// The devices of each queue pair that was made and of its peer, by label.
    labels: Vec<[usize; 2]>,
    /// Queue pairs of which buffers or completions were given up.
    lost: Vec<Label>,
    /// Parts out of use.
    old_sends: Vec<Part<SendHolder>>,
    old_recvs: Vec<Part<Recvs>>,
    old_cqs: Vec<Cq>,
}

/// Does it all.
///
/// # Panics
/// If a buffer has two owners.
pub fn run(input: &Input) {
    let mut lab = Lab::new();
    lab.run(&input.ops);
    lab.end();
    collect();
}

impl Lab {
    fn new() -> Self {
        let network = Network::new();
        let devices = [1, 2].map(|lid| {
            let mut options = DeviceOptions::infiniband(lid);
            options.config.reuse_qpns = true;
            network.device(options).expect("a device")
        });
        let mut owners = Owners::default();
        let windows = devices.each_ref().map(|device| {
            let mut window = device.buffer(BYTES).expect("memory");
            fill(owners.window(), &mut window);
            window
        });
        let mut homes = BTreeMap::new();
        let pages = (0..2 * PAGES).map(|n| {
            let page = new_page(&devices[n % 2], &mut owners);
            homes.insert(page.0.addr(), n % 2);
            page
        });
        let pages = pages.collect();
        Self {
            devices,
            windows,
            places: Default::default(),
            pages,
            homes,
            owners,
            labels: Vec::new(),
            lost: Vec::new(),
            old_sends: Vec::new(),
            old_recvs: Vec::new(),
            old_cqs: Vec::new(),
        }
    }

    fn run(&mut self, ops: &[Op]) {
        let mut rest = ops;
        while let Some((op, tail)) = rest.split_first() {
            rest = match op {
                Op::Hold { cq, meanwhile, first } => {
                    let (inner, after) = tail.split_at(tail.len().min(usize::from(meanwhile % 16)));
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

    fn step(&mut self, op: &Op) {
        match *op {
            Op::Connect { a, b, hold } => self.connect(place(a), place(b), hold),
            Op::Destroy { at } => {
                if let Some(made) = self.places[place(at)].made.take() {
                    self.devices[made.device].destroy_qp(made.qpn).expect("it is there");
                    self.lost.push(made.label);
                }
            }
            Op::Fail { at } => self.fail(place(at)),
            Op::Send { at, words, count } => {
                for _ in 0..=count % 4 {
                    let words = usize::from(words) % (WORDS + 1);
                    self.post(place(at), Use::Send(words));
                }
            }
            Op::Write { at, to, words } => self.access(place(at), to, Use::Write(usize::from(words) % (WORDS + 1))),
            Op::Read { at, from, words } => self.access(place(at), from, Use::Read(usize::from(words) % (WORDS + 1))),
            Op::Nop { at } => {
                if let Some(sends) = &mut self.places[place(at)].sends {
                    // The ring may be full.
                    let _ = sends.value.post(wqe::nop());
                }
            }
            Op::Receive { at, count } => (0..=count % 4).for_each(|_| self.receive(place(at))),
            Op::Step { device, times } => {
                for _ in 0..times {
                    self.devices[usize::from(device % 2)].step();
                }
            }
            Op::Settle {} => self.settle(),
            Op::Poll { cq, max, first } => self.poll(place(cq), usize::from(max), first),
            Op::Swap { what, a, b } => self.swap(what, place(a), place(b)),
            Op::SwapHeld { what, a, b } => self.swap_held(what, place(a), place(b)),
            Op::Drop { what, at } => self.drop_part(what, place(at)),
            Op::Forget { cq, of } => {
                if let (Some(made), Some(cq)) = (self.places[place(of)].made, &mut self.places[place(cq)].cq) {
                    cq.value.forget(made.qpn);
                    self.lost.push(cq.held);
                }
            }
            Op::Renew { page } => {
                if !self.pages.is_empty() {
                    let page = self.pages.swap_remove(usize::from(page) % self.pages.len());
                    self.owners.dropped(page.0.addr());
                    let home = self.homes.remove(&page.0.addr()).expect("each has one");
                    // Its key stays: peers and requests may name it. New memory has another.
                    drop(page);
                    let page = new_page(&self.devices[home], &mut self.owners);
                    self.homes.insert(page.0.addr(), home);
                    self.pages.push(page);
                }
            }
            Op::Hold { .. } => unreachable!("`run` does it"),
        }
    }

    fn connect(&mut self, a: usize, b: usize, hold: bool) {
        if a == b {
            return;
        }
        for at in [a, b] {
            if let Some(made) = self.places[at].made.take() {
                self.devices[made.device].destroy_qp(made.qpn).expect("it is there");
                self.lost.push(made.label);
            }
            for what in 0..3 {
                if hold { self.put_away(what, at) } else { self.drop_part(what, at) }
            }
        }
        let ends = [a, b].map(|at| {
            let end = End::<transport::Rc>::new(&self.devices[at / 2], &Shape::SMALL).expect("an end");
            (at, end)
        });
        // A message without a receive fails soon.
        let options = ConnectOptions { timeout: 8, retry_cnt: 1, min_rnr_timer: 1, rnr_retry: 2, ..Default::default() };
        blueflame_testkit::connect(&ends[0].1, &ends[1].1, &options).expect("connected");
        for (at, end) in ends {
            let label = Label(self.labels.len() as u32);
            self.labels.push([at / 2, (a + b - at) / 2]);
            let made = Made { device: at / 2, qpn: end.qpn(), label };
            let End { sq, rq, cq, .. } = end;
            let Receives::Own(rq) = rq else { unreachable!("its shape has receives of its own") };
            self.places[at] = Place {
                sends: Some(Part::new(Sends::new(sq).expect("nothing is posted"), label)),
                recvs: Some(Part::new(rq.posting().expect("nothing is posted"), label)),
                cq: Some(Part::new(cq, label)),
                made: Some(made),
            };
        }
    }

    fn fail(&mut self, at: usize) {
        if let Some(made) = self.places[at].made {
            let error = QpAttr { state: Some(QpState::Err), ..QpAttr::default() };
            self.devices[made.device].modify_qp(made.qpn, &error).expect("ERR, from any state");
        }
    }

    /// Takes a buffer with a key that is good for a queue.
    fn page_for(&mut self, queue: Option<Label>) -> Option<Page> {
        let [device, _] = self.labels[queue?.0 as usize];
        let at = self.pages.iter().rposition(|page| self.homes[&page.0.addr()] == device)?;
        Some(self.pages.remove(at))
    }

    fn post(&mut self, at: usize, with: Use) {
        let Some(mut page) = self.page_for(self.places[at].sends.as_ref().map(|part| part.held)) else { return };
        let Some(sends) = &mut self.places[at].sends else { return };
        let Use::Send(words) = with else { unreachable!("a message") };
        fill(self.owners.lend(page.0.addr(), sends.held, with), &mut page.0);
        let posted = sends.value.gather(wqe::send(), page, words as u32 * 8);
        if let Err(refused) = posted {
            let label = sends.held;
            self.refused(refused, label);
        }
    }

    fn access(&mut self, at: usize, window: u8, with: Use) {
        let Some(label) = self.places[at].sends.as_ref().map(|part| part.held) else { return };
        let [_, peer] = self.labels[label.0 as usize];
        // Now and then the key is bad there.
        let remote = self.windows[if window < 240 { peer } else { 1 - peer }].remote();
        let Some(mut page) = self.page_for(Some(label)) else { return };
        let Some(sends) = &mut self.places[at].sends else { return };
        fill(self.owners.lend(page.0.addr(), label, with), &mut page.0);
        let posted = match with {
            Use::Write(words) => sends.value.gather(wqe::write(remote), page, words as u32 * 8),
            Use::Read(words) => sends.value.read(wqe::read(remote), page, words as u32 * 8),
            Use::Send(_) | Use::Receive => unreachable!("it names a window"),
        };
        if let Err(refused) = posted {
            self.refused(refused, label);
        }
    }

    fn receive(&mut self, at: usize) {
        let Some(mut page) = self.page_for(self.places[at].recvs.as_ref().map(|part| part.held)) else { return };
        let Some(recvs) = &mut self.places[at].recvs else { return };
        fill(self.owners.lend(page.0.addr(), recvs.held, Use::Receive), &mut page.0);
        if let Err(refused) = recvs.value.post(page) {
            let label = recvs.held;
            self.refused(refused, label);
        }
    }

    fn refused<E>(&mut self, refused: Refused<E, Page>, by: Label) {
        let mut page = refused.buffer;
        fill(self.owners.refused(page.0.addr(), by), &mut page.0);
        self.pages.push(page);
    }

    fn settle(&self) {
        run_until_idle(&self.devices.each_ref()).expect("an end");
    }

    fn poll(&mut self, at: usize, max: usize, first: u8) {
        let Some(mut cq) = self.places[at].cq.take() else { return };
        cq.value.poll_with(max, |cqe| self.offer(&cqe, cq.held, first));
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
                self.lost.push(cq.held);
                self.old_cqs.push(cq);
            }
            none => *none = Some(cq),
        }
    }

    /// Offers a completion of that queue pair to all queues, twice. Only its own may take it, and once.
    fn offer<S: Source>(&mut self, cqe: &CqeView<S>, of: Label, first: u8) {
        let success = cqe.check().is_ok().then_some(cqe.byte_len() as usize);
        let mut taken = 0;
        for n in 0..4 * PLACES {
            let which = (usize::from(first) + n) % (2 * PLACES);
            let place = &mut self.places[which / 2];
            let (back, by) = match (which % 2, &mut place.sends, &mut place.recvs) {
                (0, Some(sends), _) => (sends.value.retire(cqe), sends.held),
                (1, _, Some(recvs)) => (recvs.value.retire(cqe).map(Some), recvs.held),
                _ => continue,
            };
            let Ok(page) = back else { continue };
            if let Some(mut page) = page {
                let words = words(&page.0);
                fill(self.owners.back(page.0.addr(), by, words, success), &mut page.0);
                self.pages.push(page);
            }
            assert_eq!(by, of, "a queue took a completion of another's completion queue");
            taken += 1;
        }
        assert!(taken <= 1, "a completion was taken {taken} times");
    }

    fn swap(&mut self, what: u8, a: usize, b: usize) {
        let Ok([a, b]) = self.places.get_disjoint_mut([a, b]) else { return };
        match what % 3 {
            0 => std::mem::swap(&mut a.sends, &mut b.sends),
            1 => std::mem::swap(&mut a.recvs, &mut b.recvs),
            _ => std::mem::swap(&mut a.cq, &mut b.cq),
        }
    }

    fn swap_held(&mut self, what: u8, a: usize, b: usize) {
        let Ok([a, b]) = self.places.get_disjoint_mut([a, b]) else { return };
        self.lost.extend(match what % 3 {
            0 => exchange_held(&mut a.sends, &mut b.sends, &mut self.old_sends),
            1 => exchange_held(&mut a.recvs, &mut b.recvs, &mut self.old_recvs),
            _ => swap_held(&mut a.cq, &mut b.cq),
        });
    }

    /// Drops one of the parts at a place. A part that holds another's is kept, since dropping it leaks.
    fn drop_part(&mut self, what: u8, at: usize) {
        fn whole<V>(part: &mut Option<Part<V>>, lost: &mut Vec<Label>) -> bool {
            lost.extend(part.iter().map(|part| part.held));
            let whole = part.as_ref().is_some_and(Part::is_whole);
            if whole {
                *part = None;
            }
            whole
        }
        let place = &mut self.places[at];
        let dropped = match what % 3 {
            0 => whole(&mut place.sends, &mut self.lost),
            1 => whole(&mut place.recvs, &mut self.lost),
            _ => whole(&mut place.cq, &mut self.lost),
        };
        if !dropped {
            self.put_away(what, at);
        }
    }

    fn put_away(&mut self, what: u8, at: usize) {
        let place = &mut self.places[at];
        match what % 3 {
            0 => place.sends.take().into_iter().for_each(|part| {
                self.lost.push(part.held);
                self.old_sends.push(part.map(Queue::into_holder));
            }),
            1 => place.recvs.take().into_iter().for_each(|part| {
                self.lost.push(part.held);
                self.old_recvs.push(part.map(Queue::into_holder));
            }),
            _ => place.cq.take().into_iter().for_each(|part| {
                self.lost.push(part.held);
                self.old_cqs.push(part);
            }),
        }
    }

    /// Nothing of the program's has changed.
    fn check(&self) {
        for page in &self.pages {
            self.owners.check(page.0.addr(), words(&page.0));
        }
        for window in &self.windows {
            self.owners.check_window(words(window));
        }
    }

    /// All queue pairs fail, so every buffer comes back whose queue and completion queue are still there.
    fn end(&mut self) {
        self.settle();
        self.check();
        (0..PLACES).for_each(|at| self.fail(at));
        self.settle();
        for at in 0..PLACES {
            self.poll(at, usize::MAX, at as u8);
        }
        self.check();
        for made in self.places.iter().filter_map(|place| place.made) {
            if !self.lost.contains(&made.label) {
                assert_eq!(self.owners.lent_to(made.label), 0, "{made:?} kept buffers of requests that completed");
            }
        }
        // So that everything is dropped whole, and nothing leaks.
        for at in 0..PLACES {
            (0..3).for_each(|what| self.put_away(what, at));
        }
        mend(&mut self.old_sends, Sends::swap);
        mend(&mut self.old_recvs, Recvs::swap);
        mend(&mut self.old_cqs, |a, b| std::mem::swap(&mut **a, &mut **b));
    }
}

fn place(n: u8) -> usize {
    usize::from(n) % PLACES
}

fn new_page(device: &Device, owners: &mut Owners) -> Page {
    let mut page = Page(device.buffer(BYTES).expect("memory"));
    fill(owners.mine(page.0.addr()), &mut page.0);
    page
}

fn fill(words: [u64; WORDS], buffer: &mut Buffer) {
    buffer.write(0, words.map(u64::to_ne_bytes).as_flattened());
}

fn words(buffer: &Buffer) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    let bytes = buffer.to_vec(..BYTES);
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}
