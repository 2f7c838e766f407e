//! A network that loses packets, for as many messages as one likes: they arrive, buffers come back, and the process
//! grows no more. `SOAK` in the environment is the number of messages of each transport; `scripts/soak` sets it.
//!
//! Long runs belong here, other faults in `faults.rs`.

use blueflame::WrId;
use blueflame::cq::Side;
use blueflame::cq::cqe::Grh;
use blueflame::transport::{Rc, Signed, Uc, Ud};
use blueflame_testkit::ops::{Op, Tail, fixed, moderated, reliable};
use blueflame_testkit::request::{Data, Kind, Service, Whom, Wr};
use blueflame_testkit::{Buffer, Faults, Pair, Shape};
use softhca::wire::fault::FaultConfig;

use crate::traffic::Traffic;
use crate::{dynamic, initiators, xrc};

/// One packet of a hundred is lost.
const LOSS: FaultConfig = FaultConfig { drop: 10, duplicate: 0, reorder: 0, delay: 0, ecn: 0, seed: 27 };

/// Messages of an ordinary run.
const FEW: u64 = 400;

/// Calls `some`, which returns its number of messages, until there were enough of them. In a long run, which has the
/// process for itself, the last nine tenths take neither memory nor descriptors.
fn soak(name: &str, mut some: impl FnMut() -> u64) {
    let long = std::env::var("SOAK").ok().map(|count| count.parse::<u64>().expect("SOAK is a number"));
    let all = long.unwrap_or(FEW);
    let (mut done, mut first) = (0, None);
    while done < all {
        done += some();
        if first.is_none() && done >= all / 10 {
            first = Some(held());
        }
    }
    if let (Some(_), Some((pages, files))) = (long, first) {
        let now = held();
        println!("{name}: {done} messages, {pages} pages and {files} descriptors, then {} and {}", now.0, now.1);
        assert!(now.0 <= pages + 256, "{name} took a MiB");
        assert_eq!(now.1, files, "{name} left descriptors open");
    }
}

/// Pages of memory, and open files.
fn held() -> (usize, usize) {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let resident = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    (resident, std::fs::read_dir("/proc/self/fd").expect("Linux").count())
}

fn reliable_connections<T: Service>(name: &str) {
    let shape = Shape { sq_wqebbs: 4, recv_wqes: 4, ..Shape::SMALL };
    let mut ops = fixed(&reliable(&shape), FEW as usize);
    // For these the model registers new memory.
    ops.retain(|op| !matches!(op, Op::Send(_, Tail::Invalidate)));
    let ops = moderated(2, &shape, ops).expect("a moderation");
    let mut traffic = Traffic::<T>::over(LOSS, &shape, 512);
    soak(name, || {
        ops.iter().for_each(|(op, signaled)| traffic.post(op, *signaled));
        ops.len() as u64
    });
    traffic.finish();
}

#[test]
fn reliable_connections_carry_on() {
    reliable_connections::<Rc>("RC");
    reliable_connections::<Signed<Rc>>("RC with signatures");
}

#[test]
fn initiators_carry_on() {
    let asks = fixed(&initiators::asks(), 20).concat();
    let faults = Faults { network: LOSS, ..Faults::default() };
    let mut dc = dynamic::lab(Shape::SMALL, faults);
    soak("DC", || {
        asks.iter().for_each(|&ask| dc.ask(ask));
        asks.len() as u64
    });
    let mut xrc = xrc::lab(Shape::SMALL, faults);
    soak("XRC", || {
        asks.iter().for_each(|&ask| xrc.ask(ask));
        asks.len() as u64
    });
}

/// Bytes of a message, and of its receive.
const MESSAGE: usize = 64;
const SLOT: usize = Grh::BYTES + MESSAGE;

/// Messages without repetition: those that arrive are whole, and in order.
struct Unreliable<T: Service> {
    pair: Pair<T>,
    mailbox: Buffer,
    /// Bytes before a message.
    header: usize,
    sent: u64,
    latest: Option<u64>,
    arrived: u64,
}

impl<T: Service> Unreliable<T> {
    fn new(header: usize) -> Self {
        let shape = Shape { recv_wqes: 16, ..Shape::SMALL };
        let faults = Faults { network: LOSS, ..Faults::default() };
        let mut pair = Pair::<T>::builder().shape(shape).faults(faults).connect().expect("a pair");
        let mailbox = pair.far.buffer(SLOT * 16).expect("memory");
        for slot in 0..16 {
            // SAFETY: the device, which owns the slot, outlives the queue; so below.
            unsafe { pair.far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, SLOT)]) }.expect("room");
        }
        Self { pair, mailbox, header, sent: 0, latest: None, arrived: 0 }
    }

    fn bytes(number: u64) -> Vec<u8> {
        number.to_be_bytes().into_iter().cycle().zip(0..MESSAGE as u8).map(|(byte, n)| byte ^ n).collect()
    }

    fn send(&mut self, kind: Kind) {
        let wr = Wr::new(kind, Data::Inline(Self::bytes(self.sent)), self.sent);
        // SAFETY: the data is inline.
        unsafe { self.pair.near.post(&wr) }.expect("room");
        self.pair.run_until_idle().expect("an end");
        let Pair { near, far } = &mut self.pair;
        let cqe = near.cq.poll().expect("a completion");
        assert_eq!(cqe.check(), Ok(Side::Requester));
        assert_eq!(near.sq.retire(&cqe).expect("outstanding").wr_id, WrId(self.sent));
        self.sent += 1;
        while let Some(cqe) = far.cq.poll() {
            assert_eq!(cqe.check(), Ok(Side::Responder));
            assert_eq!(cqe.byte_len() as usize, self.header + MESSAGE);
            let slot = far.rq.retire(&cqe).expect("a posted receive");
            let found = self
                .mailbox
                .to_vec(slot.0 as usize * SLOT + self.header..slot.0 as usize * SLOT + self.header + MESSAGE);
            let number = self.latest.map_or(0, |latest| latest + 1)..self.sent;
            let number = number.clone().find(|&number| Self::bytes(number) == found);
            self.latest = Some(number.expect("a later message, and whole"));
            self.arrived += 1;
            // SAFETY: the device, which owns the slot, outlives the queue.
            unsafe { far.rq.post_unchecked(slot, &[self.mailbox.slot(slot.0 as usize, SLOT)]) }.expect("room");
        }
    }

    fn finish(self) {
        assert!((self.sent * 97 / 100..self.sent).contains(&self.arrived), "{} of {}", self.arrived, self.sent);
        assert_eq!((self.pair.near.sq.free(), self.pair.far.rq.posted()), (self.pair.near.sq.capacity(), 16));
        assert_eq!(self.pair.complaints(), []);
    }
}

#[test]
fn unreliable_services_carry_on() {
    let mut uc = Unreliable::<Uc>::new(0);
    soak("UC", || {
        (0..FEW).for_each(|_| uc.send(Kind::Send));
        FEW
    });
    uc.finish();
    let mut ud = Unreliable::<Ud>::new(Grh::BYTES);
    let to = Whom::Compact(ud.pair.far.address());
    soak("UD", || {
        (0..FEW).for_each(|_| ud.send(Kind::Datagram(to, None)));
        FEW
    });
    ud.finish();
}
