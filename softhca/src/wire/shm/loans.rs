//! Loans of responders in the memory of a ring, behind its records: the ring's reader lends, its writer borrows.
//!
//! ```text
//! place: 0 state   4 wanted   8 QPN   12 peer's QPN   16 PSN   20 grants   24 WRITEs done   28 READs done
//!        32 counts of packets, of requests and of answers   256 grants: key u32, rights u32, start, bytes, address
//! ```
//! A queue pair's place follows from its number, so some lend nothing. The state says whose the place is: the owner's
//! (0), nobody's (1, on loan), or the borrower's (2) for as long as a request takes. Only the owner makes a loan out of
//! its place, and only from there a compare-and-swap of either side takes it. An owner that wants it back says so, and
//! the borrower leaves the next request to packets.
//!
//! Required: when the owner has taken a loan back, no access by it is under way, or begins.
//!
//! ```text
//! owner                                borrower
//! swap on loan -> owner's  // acquire  swap on loan -> borrower's  // acquire: the loan's terms
//! if it was on loan, it is back            the access
//!                                          PSN, counts
//!                                      state = on loan  // release: the access and the counts are done
//! ```
//!
//! Each side may be hostile, or die at any moment. It can harm the other one's own connection to it, and nothing else:
//! the owner believes the PSN and the counts, which peers may choose anyway. The borrower believes addresses in the
//! owner's process.

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
    time::{Duration, Instant},
};

use super::landing::Piece;
use super::memory::Shared;
use crate::wire::cable::Packets;
use crate::wire::loan::{Batch, Done, GRANTS, Grant, InUse, Loan, MOST, OneSided, Returned};

/// Places for loans in a ring.
const PLACES: u32 = 128;
const PLACE_BYTES: usize = 512;
/// Bytes of all places.
pub(super) const BYTES: usize = PLACES as usize * PLACE_BYTES;

/// States of a place.
const OWNERS: u32 = 0;
const ON_LOAN: u32 = 1;
const BORROWERS: u32 = 2;

const WANTED: usize = 4;
const QPN: usize = 8;
const PEER: usize = 12;
const PSN: usize = 16;
const COUNT: usize = 20;
const WRITES: usize = 24;
const READS: usize = 28;
const REQUESTS: usize = 32;
const ANSWERS: usize = REQUESTS + 8 * WORDS;
const GRANTED: usize = 256;
const GRANT_BYTES: usize = 32;

/// Counts of packets.
const WORDS: usize = 14;

/// PSNs have 24 bits.
const PSN_MASK: u32 = 0x00ff_ffff;

const READ_RIGHT: u32 = 1;
const WRITE_RIGHT: u32 = 2;

const _: () = assert!(ANSWERS + 8 * WORDS <= GRANTED && GRANTED + GRANTS * GRANT_BYTES <= PLACE_BYTES);

/// Time for the threads of a process that was killed to leave the kernel. The kernel closes its files before.
const DEATH: Duration = Duration::from_millis(10);

/// A place for a loan.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    shared: &'a Shared,
    at: usize,
}

impl<'a> Place<'a> {
    /// That of a queue pair, in the memory of a ring whose places begin at `first`.
    fn of(shared: &'a Shared, first: usize, qpn: u32) -> Self {
        Self { shared, at: first + (qpn % PLACES) as usize * PLACE_BYTES }
    }

    fn word(self, at: usize) -> &'a AtomicU32 {
        self.shared.word(self.at + at)
    }

    fn get(self, at: usize) -> u32 {
        self.word(at).load(Relaxed)
    }

    fn set(self, at: usize, value: u32) {
        self.word(at).store(value, Relaxed);
    }

    fn state(self) -> &'a AtomicU32 {
        self.word(0)
    }

    /// Takes the loan for one side. `Err` has the state that is in the way.
    fn take(self, by: u32) -> Result<(), u32> {
        self.state().compare_exchange(ON_LOAN, by, Acquire, Relaxed).map(drop)
    }

    fn set_grant(self, index: usize, grant: &Grant) {
        let at = GRANTED + index * GRANT_BYTES;
        let rights = if grant.reads { READ_RIGHT } else { 0 } | if grant.writes { WRITE_RIGHT } else { 0 };
        self.set(at, grant.key);
        self.set(at + 4, rights);
        for (place, value) in [grant.start, grant.len, grant.address].into_iter().enumerate() {
            self.shared.long(self.at + at + 8 + 8 * place).store(value, Relaxed);
        }
    }

    fn grant(self, index: usize) -> Grant {
        let at = GRANTED + index * GRANT_BYTES;
        let rights = self.get(at + 4);
        let [start, len, address] = [8, 16, 24].map(|place| self.shared.long(self.at + at + place).load(Relaxed));
        let (reads, writes) = (rights & READ_RIGHT != 0, rights & WRITE_RIGHT != 0);
        Grant { key: self.get(at), reads, writes, start, len, address }
    }

    /// The borrower has done something.
    fn add(self, done: &Done) {
        self.word(WRITES).fetch_add(done.writes, Relaxed);
        self.word(READS).fetch_add(done.reads, Relaxed);
        for (at, packets) in [(REQUESTS, &done.requests), (ANSWERS, &done.answers)] {
            for (place, count) in words(packets).into_iter().enumerate().filter(|(_, count)| *count != 0) {
                self.shared.long(self.at + at + 8 * place).fetch_add(count, Relaxed);
            }
        }
    }

    /// Everything that the borrower has done since it was last taken.
    fn done(self) -> Done {
        self.done_by(|word| word.load(Relaxed), |long| long.load(Relaxed))
    }

    /// Takes that.
    fn take_done(self) -> Done {
        self.done_by(|word| word.swap(0, Relaxed), |long| long.swap(0, Relaxed))
    }

    fn done_by(self, word: fn(&AtomicU32) -> u32, long: fn(&AtomicU64) -> u64) -> Done {
        let packets =
            |at: usize| packets(std::array::from_fn(|place| long(self.shared.long(self.at + at + 8 * place))));
        let [writes, reads] = [WRITES, READS].map(|at| word(self.word(at)));
        Done { writes, reads, requests: packets(REQUESTS), answers: packets(ANSWERS) }
    }
}

fn words(counts: &Packets) -> [u64; WORDS] {
    let Packets { packets, bytes, octets, on_cable, sizes } = *counts;
    let mut words = [packets, bytes, octets, on_cable, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    words[4..].copy_from_slice(&sizes);
    words
}

fn packets(words: [u64; WORDS]) -> Packets {
    let [packets, bytes, octets, on_cable, sizes @ ..] = words;
    Packets { packets, bytes, octets, on_cable, sizes }
}

/// A loan, as its owner sees it.
#[derive(Debug)]
pub(super) struct Lent {
    /// The ring's memory.
    shared: Arc<Shared>,
    first: usize,
    qpn: u32,
    /// The borrower is gone.
    closed: Arc<AtomicBool>,
}

impl Lent {
    /// Lends a responder. `None` if its place is taken.
    pub(super) fn new(shared: Arc<Shared>, first: usize, closed: Arc<AtomicBool>, loan: &Loan) -> Option<Self> {
        let lent = Self { shared, first, qpn: loan.qpn, closed };
        let place = lent.place();
        if place.state().load(Acquire) != OWNERS {
            return None;
        }
        for (at, value) in [(WANTED, 0), (QPN, loan.qpn), (PEER, loan.peer), (PSN, loan.psn)] {
            place.set(at, value);
        }
        place.set(COUNT, loan.grants.len().min(GRANTS) as u32);
        loan.grants.iter().take(GRANTS).enumerate().for_each(|(index, grant)| place.set_grant(index, grant));
        // The work of an earlier borrower was counted when its loan came back.
        place.take_done();
        place.state().store(ON_LOAN, Release);
        Some(lent)
    }

    fn place(&self) -> Place<'_> {
        Place::of(&self.shared, self.first, self.qpn)
    }

    /// As if the borrower were in the middle of a request.
    #[cfg(test)]
    pub(super) fn put_in_use(&self) {
        self.place().state().store(BORROWERS, Relaxed);
    }

    /// How far the borrower is.
    pub(super) fn state(&self) -> Returned {
        let place = self.place();
        Returned { psn: place.get(PSN) & PSN_MASK, done: place.done() }
    }

    /// The borrower's work since the last call.
    pub(super) fn done(&self) -> Done {
        self.place().take_done()
    }

    /// Takes it back, at the latest after `patience`.
    pub(super) fn take_back(&self, patience: Duration) -> Result<Returned, InUse> {
        let place = self.place();
        let mut since = None;
        while place.take(OWNERS) == Err(BORROWERS) {
            place.set(WANTED, 1);
            if self.closed.load(Acquire) {
                // The borrower was killed in the middle of a request, which is as if it had never come.
                std::thread::sleep(DEATH);
                place.state().store(OWNERS, Release);
                break;
            }
            let now = Instant::now();
            if now - *since.get_or_insert(now) >= patience {
                return Err(InUse);
            }
            // It may need this CPU.
            std::thread::yield_now();
        }
        // Any other state is a hostile borrower's, and means no more than that the place is the owner's again.
        place.state().store(OWNERS, Release);
        Ok(Returned { psn: place.get(PSN) & PSN_MASK, done: place.take_done() })
    }
}

/// The borrower's side: whether queue pair `from` may now execute a request with `psn` for queue pair `qpn`.
pub(super) fn is_on_loan(shared: &Shared, first: usize, (qpn, from, psn): (u32, u32, u32)) -> bool {
    let place = Place::of(shared, first, qpn);
    place.state().load(Relaxed) == ON_LOAN && is_for(place, (qpn, from, psn))
}

/// Whether queue pair `qpn` has lent a place to queue pair `from`, and expects `psn`.
fn is_for(place: Place<'_>, (qpn, from, psn): (u32, u32, u32)) -> bool {
    place.get(WANTED) == 0 && [QPN, PEER, PSN].map(|at| place.get(at)) == [qpn, from, psn]
}

/// Executes requests on the borrower's side, and returns how many. `copy` gets the places in the owner's process of those
/// that are granted, and returns how many bytes it has copied, in order.
pub(super) fn execute(shared: &Shared, first: usize, batch: &Batch<'_>, copy: impl FnOnce(&[Piece]) -> usize) -> usize {
    let place = Place::of(shared, first, batch.qpn);
    if place.take(BORROWERS).is_err() {
        return 0;
    }
    let mut there = [Piece::default(); MOST];
    let granted = if is_for(place, (batch.qpn, batch.from, batch.psn)) { grant(place, batch, &mut there) } else { 0 };
    let mut left = if granted > 0 { copy(&there[..granted]) } else { 0 };
    let are_done = |request: &&OneSided| match left.checked_sub(request.len as usize) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let done = batch.requests[..granted].iter().take_while(are_done);
    let (count, psns) = done.fold((0, 0_u32), |(count, psns), request| (count + 1, psns + request.span));
    if count > 0 {
        place.set(PSN, batch.psn.wrapping_add(psns) & PSN_MASK);
        place.add(&batch.done(count));
    }
    // A hostile owner may have taken it. Then it is the owner's business.
    let _ = place.state().compare_exchange(BORROWERS, ON_LOAN, AcqRel, Relaxed);
    count
}

/// Finds the places of requests in the owner's process; how many are granted, one after the other.
fn grant(place: Place<'_>, batch: &Batch<'_>, there: &mut [Piece; MOST]) -> usize {
    let count = (place.get(COUNT) as usize).min(GRANTS);
    let grants: [Grant; GRANTS] = std::array::from_fn(|index| place.grant(index));
    let address_of = |request: &OneSided| {
        let grant = grants[..count].iter().find(|grant| grant.key == request.key)?;
        grant.address_of(batch.write, request.addr, request.len.into())
    };
    let found = batch.requests.iter().map_while(|request| Some((address_of(request)?, request.len as usize)));
    there.iter_mut().zip(found).map(|(piece, (address, len))| *piece = Piece { address, len }).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::loan::GRANTS;

    const LOAN: Loan = Loan { qpn: 0x4040, peer: 0x40, psn: 7, grants: Vec::new() };

    /// A borrower may leave anything in the place. The owner gets the place back, with some PSN and some counts.
    #[test]
    fn a_hostile_borrower_keeps_nothing() {
        let (shared, _file) = Shared::create(BYTES).unwrap();
        let shared = Arc::new(shared);
        let lend = || Lent::new(shared.clone(), 0, Arc::default(), &LOAN);
        for state in [OWNERS, ON_LOAN, 3, u32::MAX] {
            let lent = lend().expect("a place");
            for at in (4..PLACE_BYTES).step_by(4) {
                lent.place().set(at, u32::MAX);
            }
            lent.place().state().store(state, Relaxed);
            let returned = lent.take_back(Duration::ZERO).expect("back");
            assert_eq!(returned.psn, PSN_MASK);
        }
        let other = Loan { qpn: LOAN.qpn + PLACES, ..LOAN };
        let first = lend().expect("a place");
        assert!(Lent::new(shared.clone(), 0, Arc::default(), &other).is_none(), "both have one place");
        assert!(first.take_back(Duration::ZERO).is_ok());
        assert!(Lent::new(shared.clone(), 0, Arc::default(), &other).is_some());
    }

    /// A hostile owner counts more grants than there are.
    #[test]
    fn a_loan_has_so_many_grants() {
        let (shared, _file) = Shared::create(BYTES).unwrap();
        let grant = |key| Grant { key, reads: true, writes: true, start: 0, len: 8, address: 64 * u64::from(key) };
        let loan = Loan { grants: (1..=GRANTS as u32).map(grant).collect(), ..LOAN };
        let lent = Lent::new(Arc::new(shared), 0, Arc::default(), &loan).expect("a place");
        lent.place().set(COUNT, u32::MAX);
        let route = crate::wire::test_frames::frame(1, 2, 0).route;
        let found = |key| {
            let requests = [OneSided { key, addr: 4, len: 4, span: 1 }];
            let (qpn, from, psn) = (LOAN.qpn, LOAN.peer, LOAN.psn);
            let batch =
                Batch { qpn, from, psn, mtu: 1024, route: &route, write: true, requests: &requests, local: &[] };
            let mut there = None;
            let count = execute(&lent.shared, 0, &batch, |pieces| {
                there = pieces.first().copied();
                0
            });
            assert_eq!(count, 0, "nothing was copied");
            there.map(|piece| piece.address)
        };
        assert_eq!([0, 1, 4, 5].map(found), [None, Some(68), Some(260), None]);
    }
}
