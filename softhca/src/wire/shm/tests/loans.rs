//! Responders on loan between two wires of this process.
//!
//! Tests of loans between wires belong here, of a loan's place in memory in `loans.rs` of the wire.

use super::*;
use crate::memory::page_bytes;
use crate::wire::loan::{Grant, OneSided};

const KEY: u32 = 0x1807;
const PSN: u32 = 0xff_fffe;

/// An owner that has lent a responder to a borrower, with the memory behind the key.
struct Lab {
    directory: tempfile::TempDir,
    owner: ShmWire,
    borrower: ShmWire,
    /// Behind the key.
    memory: Vec<u8>,
    connection: u64,
}

impl Lab {
    /// They have met by a packet.
    fn new() -> Self {
        let (directory, mut owner, mut borrower) = two();
        let qpn = owner.qpns().start;
        borrower.send(numbered(LID, qpn, 8, 1)).unwrap();
        assert!(recv_within(&mut owner, PATIENCE).is_some());
        let connection = owner.sender().expect("by a ring");
        let start = Instant::now();
        // The owner says where its landing is when it answers.
        while !borrower.peers.iter().flatten().any(|peer| peer.landing().is_some()) && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(50));
        }
        Self { directory, owner, borrower, memory: vec![0; 4096], connection }
    }

    fn lend(&mut self) -> bool {
        let (qpn, peer) = self.ids();
        let address = self.memory.as_mut_ptr().expose_provenance() as u64;
        let grant = Grant { key: KEY, reads: true, writes: true, start: 0, len: self.memory.len() as u64, address };
        self.owner.lend(self.connection, &Loan { qpn, peer, psn: PSN, grants: vec![grant] })
    }

    /// The owner's queue pair and the borrower's.
    fn ids(&self) -> (u32, u32) {
        (self.owner.qpns().start, self.borrower.qpns().start)
    }

    /// Executes requests by the loan, for `bytes` in the borrower's process.
    fn execute(&mut self, psn: u32, write: bool, requests: &[OneSided], bytes: &mut [u8]) -> usize {
        let (qpn, from) = self.ids();
        let local = [(bytes.as_mut_ptr().expose_provenance() as u64, bytes.len())];
        let route = numbered(LID, qpn, 0, 0).route;
        self.borrower.execute(&Batch { qpn, from, psn, mtu: 1024, route: &route, write, requests, local: &local })
    }
}

fn request(addr: u64, len: u32) -> OneSided {
    OneSided { key: KEY, addr, len, span: 1 }
}

#[test]
fn a_loan_is_used_and_comes_back() {
    let _alone = FORKING.lock();
    let mut lab = Lab::new();
    let (qpn, from) = lab.ids();
    assert!(!lab.borrower.may_execute(qpn, from, PSN), "nothing is lent");
    assert!(lab.lend() && lab.borrower.may_execute(qpn, from, PSN));
    let wrong = [(qpn + 1, from, PSN), (qpn, from + 1, PSN), (qpn, from, PSN + 1)];
    assert!(!wrong.into_iter().any(|(qpn, from, psn)| lab.borrower.may_execute(qpn, from, psn)));
    let mut data = [1, 2, 3, 4, 5];
    assert_eq!(lab.execute(PSN, true, &[request(8, 2), request(4093, 3)], &mut data), 2);
    assert_eq!((&lab.memory[8..10], &lab.memory[4093..]), (&[1, 2][..], &[3, 4, 5][..]));
    assert_eq!(lab.execute(PSN, true, &[request(8, 2)], &mut [9, 9]), 0, "an old PSN");
    assert_eq!(lab.execute(0, false, &[request(4092, 4)], &mut data[..4]), 1);
    assert_eq!(data, [0, 3, 4, 5, 5]);
    let done = lab.owner.on_loan(qpn).unwrap();
    assert_eq!((done.psn, done.done.writes, done.done.reads), (1, 2, 1), "PSNs wrap");
    assert_eq!((done.done.requests.packets, done.done.answers.packets), (3, 3));
    assert_eq!(lab.owner.take_back(qpn, Duration::ZERO), Ok(Some(done)));
    assert!(!lab.borrower.may_execute(qpn, from, 1));
    assert_eq!(lab.owner.take_back(qpn, Duration::ZERO), Ok(None));
}

#[test]
fn what_is_not_granted_goes_by_packets() {
    let _alone = FORKING.lock();
    let mut lab = Lab::new();
    assert!(lab.lend());
    let strange = OneSided { key: KEY + 1, ..request(0, 1) };
    for refused in [request(4096, 1), request(4095, 2), request(u64::MAX, 1), strange] {
        assert_eq!(lab.execute(PSN, true, &[request(0, 1), refused], &mut [7, 8, 9]), 1, "{refused:?}");
        // Those before it are done.
        let (qpn, _) = lab.ids();
        assert_eq!(lab.owner.take_back(qpn, Duration::ZERO).unwrap().unwrap().psn, PSN + 1);
        assert!(lab.lend());
    }
    assert_eq!((lab.memory[0], &lab.memory[1..]), (7, &[0; 4095][..]));
}

/// A process that is gone, or has started another program, has no landing where it was.
#[test]
fn without_a_landing_nothing_is_written() {
    let _alone = FORKING.lock();
    let mut lab = Lab::new();
    assert!(lab.lend());
    let landing = lab.borrower.peers.iter().flatten().find_map(Peer::landing).expect("the owner's");
    // SAFETY: a page that only the kernel accesses, for peers.
    unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(landing.address as usize), page_bytes()) };
    for write in [true, false] {
        let mut data = [5; 4];
        assert_eq!(lab.execute(PSN, write, &[request(0, 4)], &mut data), 0);
    }
    assert_eq!(lab.memory, [0; 4096]);
}

#[test]
fn a_loan_in_use_is_waited_for() {
    let _alone = FORKING.lock();
    let mut lab = Lab::new();
    let (qpn, _) = lab.ids();
    assert!(lab.lend());
    lab.owner.lent[&qpn].put_in_use();
    let start = Instant::now();
    assert_eq!(lab.owner.take_back(qpn, Duration::from_millis(20)), Err(InUse));
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert!(!lab.lend(), "its place is taken");
    // A borrower that was killed gives nothing back.
    lab.borrower = join(lab.directory.path());
    let start = Instant::now();
    while lab.owner.take_back(qpn, Duration::ZERO) == Err(InUse) && start.elapsed() < PATIENCE {}
    assert_eq!(lab.owner.take_back(qpn, Duration::ZERO), Ok(None));
}

/// A program that captures its packets, for one, has the owner of the memory see them all.
#[test]
fn a_wire_without_loans_borrows_none() {
    let _alone = FORKING.lock();
    let mut lab = Lab::new();
    assert!(lab.lend());
    let (qpn, from) = lab.ids();
    assert!(lab.borrower.may_execute(qpn, from, PSN));
    lab.borrower = lab.borrower.without_loans();
    assert!(!lab.borrower.may_execute(qpn, from, PSN));
}
