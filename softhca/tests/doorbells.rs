//! Doorbells that a front end hands to the device. The device executes the WQEs that the register received, and
//! complains where a real device would silently do something else.
//!
//! Stores to registers and the complaints about them belong here. The requests that a doorbell starts belong in
//! `engine`.

#[expect(dead_code, reason = "what these tests need of it; `embedded.rs` uses all")]
mod driver;

use std::sync::atomic::{AtomicU64, Ordering};

use driver::{Poller, Sender, inline, put, raddr, summary};
use softhca::complaint::Complaint;
use softhca::config::{DeviceConfig, DoorbellSource, PortConfig};
use softhca::context::{QpAttr, QpState};
use softhca::embedded::{Buffer, ConnectOptions, CqOptions, EmbeddedDevice, QpOptions, RegisterOptions};
use softhca::event::{Event, QpEvent};
use softhca::query::CqFault;
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;

/// A QP connected to another one of the same device, and memory for it to write to.
struct Loop {
    hca: EmbeddedDevice,
    sq: Sender,
    cq: Poller,
    window: Buffer,
    half: usize,
}

impl Loop {
    /// A device that takes doorbells from calls only, and a CQ of `cqes` CQEs.
    fn new(cqes: u32, change: impl Fn(&mut QpOptions)) -> Self {
        Self::by(DoorbellSource::Calls, cqes, change)
    }

    /// A device that takes doorbells from elsewhere.
    fn by(doorbells: DoorbellSource, cqes: u32, change: impl Fn(&mut QpOptions)) -> Self {
        let mut config = DeviceConfig::with_port(PortConfig::infiniband(1));
        config.doorbells = doorbells;
        let (lids, gids) = (vec![1], config.ports[0].gids.clone());
        let qpns = config.qpn_first..config.qpn_first + config.qpn_count;
        let wire = Fabric::new().attach(Address { lids, gids, qpns }).unwrap();
        let mut hca = EmbeddedDevice::new(config, Box::new(wire)).unwrap();
        let cq = hca.create_cq(CqOptions::new(cqes)).unwrap();
        let [a, b] = [(); 2].map(|()| {
            let mut options = QpOptions::rc(cq.cqn);
            change(&mut options);
            hca.create_qp(options).unwrap()
        });
        hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
        let window = hca.buffer(4096).unwrap();
        Self { hca, sq: Sender::new(a), cq: Poller::new(cq), window, half: 0 }
    }

    /// Puts a WRITE of `bytes` to the window's beginning into the ring and the record; gives its 64 or more bytes.
    fn place(&mut self, bytes: &[u8]) -> Vec<u8> {
        let remote = raddr(self.window.addr(), self.window.rkey());
        let (_, wqe) = self.sq.place(0x08, 0x08, 0, &[&remote, &inline(bytes)]);
        put(self.sq.parts.dbrec.cast(), 4, &u32::from(self.sq.pi).to_be_bytes());
        wqe
    }

    /// Stores `stored` to the next half; halves alternate.
    fn ring(&mut self, stored: &[u8]) {
        let (uar, half) = (self.sq.parts.uar, 0x800 + self.half);
        self.hca.doorbell(uar, half, stored);
        self.half ^= 0x100;
    }

    fn move_to(&mut self, state: QpState) {
        let attr = QpAttr { state: Some(state), ..QpAttr::default() };
        self.hca.modify_qp(self.sq.parts.qpn, &attr).unwrap();
    }

    fn written(&mut self, len: usize) -> Vec<u8> {
        assert!(self.hca.run_until_idle());
        self.window.to_vec(0, len)
    }
}

#[test]
fn what_the_register_received_is_executed() {
    for (len, at) in [(3, 36), (100, 40), (100, 120), (200, 235)] {
        let mut l = Loop::new(64, |_| ());
        let bytes: Vec<u8> = (0..len).collect();
        let mut copy = l.place(&bytes);
        let ring = copy[at];
        copy[at] = 0xee;
        l.ring(&copy);
        let qpn = l.sq.parts.qpn;
        assert_eq!(l.hca.complaints(), [Complaint::CopyDiffers { qpn, index: 0, at, copied: 0xee, ring }]);
        let mut expected = bytes;
        // Control, address, and the inline data's length come first.
        expected[at - 36] = 0xee;
        assert_eq!(l.written(len.into()), expected, "{len} bytes, byte {at}");
        l.cq.expect();
        // The next one comes from the ring, as its doorbell is no copy.
        let wqe = l.place(b"ring");
        l.ring(&wqe[..8]);
        assert_eq!(l.written(4), b"ring");
        l.cq.expect();
        assert_eq!(l.hca.complaints(), []);
    }
}

/// So drivers find out whether a NOP was executed from the register or from the ring. No other byte of a NOP may
/// differ, and none of another request.
#[test]
fn a_nop_may_ask_for_a_completion_in_the_register_only() {
    let mut l = Loop::new(64, |_| ());
    let (qpn, silent, flags) = (l.sq.parts.qpn, 0, 11);
    let record = |l: &Loop| put(l.sq.parts.dbrec.cast(), 4, &u32::from(l.sq.pi).to_be_bytes());
    let nop = |l: &mut Loop, change: fn(&mut [u8])| {
        let (_, mut copy) = l.sq.place(0x00, silent, 0, &[]);
        record(l);
        change(&mut copy);
        l.ring(&copy);
        assert!(l.hca.run_until_idle());
        l.hca.complaints()
    };
    assert_eq!(nop(&mut l, |copy| copy[11] = 0x08), []);
    assert_eq!(summary(&l.cq.expect()), (0x00, qpn, 0, 0x00));
    let solicited = nop(&mut l, |copy| copy[11] = 0x0a);
    assert_eq!(solicited, [Complaint::CopyDiffers { qpn, index: 1, at: flags, copied: 0x0a, ring: silent }]);
    l.cq.expect();
    let remote = raddr(l.window.addr(), l.window.rkey());
    let (_, mut write) = l.sq.place(0x08, silent, 0, &[&remote, &inline(b"data")]);
    record(&l);
    write[flags] = 0x08;
    l.ring(&write);
    assert_eq!(l.hca.complaints(), [Complaint::CopyDiffers { qpn, index: 2, at: flags, copied: 0x08, ring: silent }]);
}

#[test]
fn several_copies_are_each_executed_in_their_turn() {
    let mut l = Loop::new(64, |_| ());
    let copies: Vec<_> = [b"first", b"other", b"third"].iter().map(|bytes| l.place(&bytes[..])).collect();
    for copy in &copies {
        l.ring(copy);
    }
    // The ring is no longer needed.
    put(l.sq.parts.sq.buf, 0, &[0x77; 3 * 64]);
    assert_eq!(l.written(5), b"third");
    for index in 0..3 {
        assert_eq!(summary(&l.cq.expect()), (0x08, l.sq.parts.qpn, index, 0x00));
    }
}

#[test]
fn a_copy_that_is_not_whole_only_rings() {
    let mut l = Loop::new(64, |_| ());
    let copy = l.place(&[5; 60]);
    l.ring(&copy[..64]);
    assert_eq!(l.written(60), [5; 60]);
    assert_eq!(l.hca.complaints(), []);
    l.cq.expect();
}

#[test]
fn a_copy_of_what_was_flushed_is_forgotten() {
    let mut l = Loop::new(64, |_| ());
    let copy = l.place(b"stale");
    l.ring(&copy);
    l.move_to(QpState::Err);
    assert!(l.hca.run_until_idle());
    assert_eq!(summary(&l.cq.expect()).3, 0xd2);
    l.move_to(QpState::Reset);
    l.sq.pi = 0;
    let itself = l.hca.endpoint(l.sq.parts.qpn);
    l.hca.connect_to(l.sq.parts.qpn, &itself, &ConnectOptions::default()).unwrap();
    let wqe = l.place(b"fresh");
    l.ring(&wqe[..8]);
    assert_eq!(l.written(5), b"fresh");
}

#[test]
fn halves_must_alternate() {
    let mut l = Loop::new(64, |_| ());
    let (uar, qpn) = (l.sq.parts.uar, l.sq.parts.qpn);
    let ring_at = |l: &mut Loop, offset: usize| {
        let wqe = l.place(b"bytes");
        l.hca.doorbell(uar, offset, &wqe[..8]);
        assert_eq!(l.written(5), b"bytes");
        l.cq.expect();
        l.hca.complaints()
    };
    assert_eq!(ring_at(&mut l, 0x900), []);
    assert_eq!(ring_at(&mut l, 0x800), []);
    assert_eq!(ring_at(&mut l, 0x800), [Complaint::SameHalf { uar, qpn, offset: 0x800 }]);
    // Another register of the page has halves of its own.
    assert_eq!(ring_at(&mut l, 0xb00), []);
    assert_eq!(ring_at(&mut l, 0x900), []);
    // A new queue on the page may begin with any half.
    l.hca.create_qp(QpOptions { register: RegisterOptions::SharedWith(qpn), ..QpOptions::rc(l.cq.parts.cqn) }).unwrap();
    assert_eq!(ring_at(&mut l, 0x900), []);
}

#[test]
fn registers_without_write_combining_have_one_half() {
    let mut l = Loop::new(64, |options| options.register = RegisterOptions::OwnWithoutBlueFlame);
    for _ in 0..3 {
        let wqe = l.place(b"bytes");
        l.half = 0;
        l.ring(&wqe[..8]);
        assert_eq!(l.written(5), b"bytes");
        l.cq.expect();
        assert_eq!(l.hca.complaints(), []);
    }
}

#[test]
fn doorbells_before_rts_are_complained_of() {
    let mut l = Loop::new(64, |_| ());
    let qpn = l.sq.parts.qpn;
    l.move_to(QpState::Reset);
    let wqe = l.place(b"early");
    l.ring(&wqe[..8]);
    assert_eq!(l.hca.complaints(), [Complaint::NotReadyToSend { qpn, state: QpState::Reset }]);
    assert!(l.hca.run_until_idle());
    assert!(l.cq.poll().is_none());
}

/// The register of queues without a record.
const RECORDLESS: usize = 0x600;

/// The doorbell alone announces WQEs; it does not if it is wrong, and the record counts for nothing.
#[test]
fn without_a_record_the_doorbell_says_all() {
    let mut l = Loop::new(64, |options| options.register = RegisterOptions::Recordless);
    let (uar, qpn, dbrec) = (l.sq.parts.uar, l.sq.parts.qpn, l.sq.parts.dbrec);
    let first = l.place(b"first");
    put(dbrec.cast(), 4, &0x1234_u32.to_be_bytes());
    assert_eq!(l.written(5), [0; 5], "no doorbell");
    l.hca.doorbell(uar, 0x800, &first[..8]);
    assert_eq!(l.written(5), [0; 5]);
    assert_eq!(l.hca.complaints(), [Complaint::OtherRegister { qpn, offset: 0x800 }]);
    l.hca.doorbell(uar, RECORDLESS, &first[..8]);
    assert_eq!((l.written(5), l.hca.complaints()), (b"first".to_vec(), vec![]));
    l.cq.expect();
    // The last of several tells of all, by its index and length.
    l.place(&[1; 100]);
    let last = l.place(&[2; 50]);
    l.hca.doorbell(uar, RECORDLESS, &last[..8]);
    assert_eq!((l.written(51), l.hca.complaints()), ([&[2; 50][..], &[1]].concat(), vec![]));
    l.cq.expect();
    l.cq.expect();
    let wqebbs = l.sq.parts.sq.wqe_cnt;
    let far = [&[0][..], &(wqebbs as u16 + 5).to_be_bytes(), &last[3..8]].concat();
    l.hca.doorbell(uar, RECORDLESS, &far);
    let beyond = Complaint::BeyondRing { qpn, end: wqebbs as u16 + 7, next: 6, wqebbs };
    assert_eq!((l.written(1), l.hca.complaints()), (vec![2], vec![beyond]));
    let strange = [&last[..4], &[0, 0, 1, 2]].concat();
    l.hca.doorbell(uar, RECORDLESS, &strange);
    assert_eq!(l.hca.complaints(), [Complaint::NoSuchQp { uar, qpn: 1 }]);
    let mut ordinary = Loop::new(64, |_| ());
    let (uar, qpn) = (ordinary.sq.parts.uar, ordinary.sq.parts.qpn);
    let wqe = ordinary.place(b"record");
    ordinary.hca.doorbell(uar, RECORDLESS, &wqe[..8]);
    assert_eq!(ordinary.written(6), [0; 6]);
    assert_eq!(ordinary.hca.complaints(), [Complaint::OtherRegister { qpn, offset: RECORDLESS }]);
}

#[test]
fn a_doorbell_without_a_record_is_found_in_the_register() {
    for source in [DoorbellSource::Registers, DoorbellSource::Records, DoorbellSource::RungRecords] {
        let mut l = Loop::by(source, 64, |options| options.register = RegisterOptions::Recordless);
        for text in [b"looked for", b"found once"] {
            let wqe = l.place(text);
            let word = u64::from_ne_bytes(wqe[..8].try_into().unwrap());
            // SAFETY: the queue's register, at which the device looks by whole words.
            unsafe { AtomicU64::from_ptr(l.sq.parts.bf_reg.as_ptr().cast()) }.store(word, Ordering::Release);
            assert_eq!(l.written(10), text, "{source:?}");
            l.cq.expect();
        }
    }
}

#[test]
fn an_overrun_is_complained_of_and_takes_its_queue_pairs_along() {
    let mut l = Loop::new(2, |_| ());
    let (qpn, cqn) = (l.sq.parts.qpn, l.cq.parts.cqn);
    for _ in 0..4 {
        let wqe = l.place(b"bytes");
        l.ring(&wqe[..8]);
    }
    assert!(l.hca.run_until_idle());
    assert_eq!(l.hca.complaints(), [Complaint::CqOverrun { cqn, cqes: 2, consumer: 0, producer: 2 }]);
    let events: Vec<_> = std::iter::from_fn(|| l.hca.next_event()).collect();
    assert_eq!(events, [Event::CqError { cqn, fault: CqFault::Overrun }, Event::Qp { qpn, kind: QpEvent::Fatal }]);
    assert_eq!(l.hca.device().query_qp(qpn).unwrap().state, QpState::Err);
    assert_eq!([summary(&l.cq.expect()).2, summary(&l.cq.expect()).2], [0, 1]);
    assert!(l.cq.poll().is_none());
}
