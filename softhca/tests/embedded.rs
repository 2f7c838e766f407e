//! The device as a driver sees it, through raw rings, records and registers.
//!
//! Whole programs on the device in their own process belong here. Single rules of a transport belong in `engine`.

mod driver;

use driver::{Doorbell, Poller, Receiver, Sender, atomic, data, get, inline, post_srq, put, raddr, summary};
use softhca::complaint::Complaint;
use softhca::context::{Access, Transport};
use softhca::embedded::{
    ConnectOptions, CqOptions, EmbeddedDevice, QpOptions, RecvOptions, RegisterOptions, connect, run_until_idle,
};
use softhca::error::Error;
use softhca::event::{DctEvent, Event};
use std::ptr::NonNull;

/// One device with two RC QPs connected to each other and a CQ for each.
struct Loop {
    hca: EmbeddedDevice,
    a: Sender,
    b: Sender,
    cq_a: Poller,
    cq_b: Poller,
}

impl Loop {
    fn new(change: impl Fn(&mut QpOptions)) -> Self {
        let mut hca = EmbeddedDevice::standalone().unwrap();
        let cqs = [(); 2].map(|()| hca.create_cq(CqOptions::new(64)).unwrap());
        let qps = cqs.map(|cq| {
            let mut options = QpOptions::rc(cq.cqn);
            change(&mut options);
            hca.create_qp(options).unwrap()
        });
        hca.connect_own(qps[0].qpn, qps[1].qpn, &ConnectOptions::default()).unwrap();
        let ([a, b], [cq_a, cq_b]) = (qps.map(Sender::new), cqs.map(Poller::new));
        Self { hca, a, b, cq_a, cq_b }
    }

    /// Runs the device, which must have no complaint about the driver.
    fn run(&mut self) {
        assert!(self.hca.run_until_idle());
        assert_eq!(self.hca.complaints(), []);
    }
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 256) as u8).collect()
}

#[test]
fn write_and_read_move_data() {
    let mut l = Loop::new(|_| ());
    let (mut src, dst) = (l.hca.buffer(10_000).unwrap(), l.hca.buffer(10_000).unwrap());
    src.write(0, &pattern(10_000));
    let remote = raddr(dst.addr(), dst.rkey());
    let segs = [data(4000, src.lkey(), src.addr()), data(6000, src.lkey(), src.addr() + 4000)];
    let index = l.a.post(0x08, 0, &[&remote, &segs[0], &segs[1]]);
    l.run();
    let cqe = l.cq_a.expect();
    assert_eq!(summary(&cqe), (0x08, l.a.parts.qpn, index, 0x00));
    assert_eq!(dst.to_vec(0, 10_000), pattern(10_000));

    let back = l.hca.buffer(10_000).unwrap();
    let index = l.b.post(0x10, 0, &[&raddr(src.addr(), src.rkey()), &data(10_000, back.lkey(), back.addr())]);
    l.run();
    let cqe = l.cq_b.expect();
    assert_eq!(summary(&cqe), (0x10, l.b.parts.qpn, index, 0x00));
    assert_eq!(cqe[44..48], 10_000u32.to_be_bytes());
    assert_eq!(back.to_vec(0, 10_000), pattern(10_000));
}

#[test]
fn send_with_immediate_fills_the_receive_wqe() {
    let mut l = Loop::new(|_| ());
    let buf = l.hca.buffer(128).unwrap();
    let mut rq = Receiver::new(&l.b.parts);
    rq.post(&[data(3, buf.lkey(), buf.addr()), data(100, buf.lkey(), buf.addr() + 50)]);
    l.a.post(0x0b, 0x0102_0304, &[&inline(b"hello, world")]);
    l.run();
    assert_eq!(summary(&l.cq_a.expect()).3, 0x00);
    let cqe = l.cq_b.expect();
    assert_eq!(summary(&cqe), (0, l.b.parts.qpn, 0, 0x30));
    assert_eq!(cqe[36..40], [1, 2, 3, 4]);
    assert_eq!(cqe[44..48], [0, 0, 0, 12]);
    assert_eq!((buf.to_vec(0, 4), buf.to_vec(50, 10)), (b"hel\0".to_vec(), b"lo, world\0".to_vec()));
}

#[test]
fn atomics_return_the_old_value() {
    let mut l = Loop::new(|_| ());
    let mut buf = l.hca.buffer(64).unwrap();
    buf.write(0, &40u64.to_ne_bytes());
    let remote = raddr(buf.addr(), buf.rkey());
    let result = data(8, buf.lkey(), buf.addr() + 8);
    l.a.post(0x12, 0, &[&remote, &atomic(2, 0), &result]);
    l.run();
    assert_eq!(summary(&l.cq_a.expect()).0, 0x12);
    assert_eq!((buf.to_vec(0, 8), buf.to_vec(8, 8)), (42u64.to_ne_bytes().to_vec(), 40u64.to_ne_bytes().to_vec()));
    l.a.post(0x11, 0, &[&remote, &atomic(7, 42), &result]);
    l.run();
    assert_eq!(summary(&l.cq_a.expect()).0, 0x11);
    assert_eq!((buf.to_vec(0, 8), buf.to_vec(8, 8)), (7u64.to_ne_bytes().to_vec(), 42u64.to_ne_bytes().to_vec()));
}

#[test]
fn tiny_rings_wrap_thousands_of_times() {
    let mut l = Loop::new(|o| {
        o.sq_wqebbs = 4;
        o.recv = RecvOptions::Own { wqes: 2, max_sge: 1 };
    });
    let buf = l.hca.buffer(4096).unwrap();
    let mut rq = Receiver::new(&l.b.parts);
    for i in 0..70_000u32 {
        let message = pattern(1 + (i % 140) as usize);
        rq.post(&[data(4096, buf.lkey(), buf.addr())]);
        let (index, wqe) = l.a.place(0x0a, 0x08, 0, &[&inline(&message)]);
        l.a.ring(&wqe, if i % 2 == 0 { Doorbell::Copy } else { Doorbell::Eight });
        l.run();
        assert_eq!(summary(&l.cq_a.expect()), (0x0a, l.a.parts.qpn, index, 0x00));
        let cqe = l.cq_b.expect();
        assert_eq!(summary(&cqe), (0, l.b.parts.qpn, i as u16, 0x20));
        assert_eq!(cqe[44..48], (message.len() as u32).to_be_bytes());
        assert_eq!(buf.to_vec(0, message.len()), message);
    }
}

#[test]
fn scatter_to_cqe() {
    let mut hca = EmbeddedDevice::standalone().unwrap();
    let cq = hca.create_cq(CqOptions { cqe_bytes: 128, ..CqOptions::new(16) }).unwrap();
    let options = QpOptions { scatter_to_cqe_req: 64, scatter_to_cqe_res: 64, ..QpOptions::rc(cq.cqn) };
    let [a, b] = [(); 2].map(|()| hca.create_qp(options).unwrap());
    hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
    let (mut src, dst) = (hca.buffer(64).unwrap(), hca.buffer(64).unwrap());
    src.write(0, &pattern(64));
    let (mut sq, mut cq) = (Sender::new(a), Poller::new(cq));
    sq.post(0x10, 0, &[&raddr(src.addr(), src.rkey()), &data(60, dst.lkey(), dst.addr())]);
    assert!(hca.run_until_idle());
    assert_eq!(get::<60>(cq.parts.buf, 0)[..], pattern(60));
    assert_eq!(summary(&cq.expect()).3, 0x08);
    assert_eq!(dst.to_vec(0, 64), [0; 64], "the buffer is left for the driver to fill");
    sq.post(0x10, 0, &[&raddr(src.addr(), src.rkey()), &data(20, dst.lkey(), dst.addr())]);
    assert!(hca.run_until_idle());
    let cqe = cq.expect();
    assert_eq!((&cqe[..20], summary(&cqe).3), (&pattern(20)[..], 0x04));
}

#[test]
fn shared_receive_queue() {
    let mut hca = EmbeddedDevice::standalone().unwrap();
    let cq = hca.create_cq(CqOptions::new(16)).unwrap();
    let srq = hca.create_srq(8, 3).unwrap();
    assert_eq!((srq.head, srq.tail, srq.ring.stride), (0, 7, 64));
    let options = QpOptions { recv: RecvOptions::Shared(srq.srqn), ..QpOptions::rc(cq.cqn) };
    let [a, b] = [(); 2].map(|()| hca.create_qp(options).unwrap());
    hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
    hca.modify_srq_limit(srq.srqn, 1).unwrap();
    let buf = hca.buffer(64).unwrap();
    for i in 0..2 {
        post_srq(&srq, i, &[data(16, buf.lkey(), buf.addr() + 16 * u64::from(i))]);
    }
    let (mut to_b, mut to_a, mut cq) = (Sender::new(a), Sender::new(b), Poller::new(cq));
    to_b.place(0x0a, 0, 0, &[&inline(b"first")]);
    let (_, wqe) = to_b.place(0x00, 0, 0, &[]);
    to_b.ring(&wqe, Doorbell::Eight);
    assert!(hca.run_until_idle());
    assert_eq!(summary(&cq.expect()), (0, b.qpn, 0, 0x20));
    assert_eq!(hca.next_event(), None);
    to_a.post(0x0a, 0, &[&inline(b"second")]);
    assert!(hca.run_until_idle());
    let cqes = [summary(&cq.expect()), summary(&cq.expect())];
    assert!(cqes.contains(&(0, a.qpn, 1, 0x20)) && cqes.contains(&(0x0a, b.qpn, 0, 0x00)), "{cqes:?}");
    assert_eq!(hca.next_event(), Some(Event::SrqLimit { srqn: srq.srqn, is_pool: false }));
    assert_eq!(buf.to_vec(0, 22), *b"first\0\0\0\0\0\0\0\0\0\0\0second");
    assert!(matches!(hca.destroy_srq(srq.srqn), Err(Error::Busy { users: 2, .. })));
}

#[test]
fn arming_gives_events() {
    let mut l = Loop::new(|_| ());
    let cqn = l.cq_a.parts.cqn;
    l.cq_a.arm(0);
    l.run();
    assert_eq!(l.hca.next_event(), None);
    for expected in [Some(Event::Completion { cqn }), None] {
        l.a.post(0x00, 0, &[]);
        l.run();
        l.cq_a.expect();
        assert_eq!(l.hca.next_event(), expected);
    }
}

#[test]
fn a_bad_wqe_completes_with_an_error_and_the_rest_is_flushed() {
    let mut l = Loop::new(|_| ());
    let (first, _) = l.a.place(0x3f, 0x08, 0, &[]);
    let (second, wqe) = l.a.place(0x00, 0x08, 0, &[]);
    l.a.ring(&wqe, Doorbell::Eight);
    l.run();
    let cqe = l.cq_a.expect();
    assert_eq!((summary(&cqe), cqe[55]), ((0x3f, l.a.parts.qpn, first, 0xd2), 0x02));
    let cqe = l.cq_a.expect();
    assert_eq!((summary(&cqe), cqe[55]), ((0x00, l.a.parts.qpn, second, 0xd2), 0x05));
    assert!(l.cq_a.poll().is_none());
}

#[test]
fn a_page_of_another_arms_nothing() {
    let mut l = Loop::new(|_| ());
    let (cqn, uar) = (l.cq_a.parts.cqn, l.b.parts.uar);
    // The first register lies 0x800 into its page, so this is the place where CQs of that page are armed.
    let page = l.b.parts.bf_reg.as_ptr().wrapping_sub(0x800);
    let arm = [[0; 4], cqn.to_be_bytes()].concat();
    put(NonNull::new(page).unwrap(), 0x20, &arm);
    l.hca.step();
    let found = l.hca.complaints();
    let wrong = |complaint: &Complaint| matches!(complaint, Complaint::WrongUar { uar: on, number, .. } if (*on, *number) == (uar, cqn));
    assert!(found.iter().any(wrong), "{found:?}");
    l.a.post(0x00, 0, &[]);
    l.run();
    l.cq_a.expect();
    assert_eq!(l.hca.next_event(), None);
}

#[test]
fn wrong_doorbells_are_complained_of() {
    let mut l = Loop::new(|_| ());
    let qpn = l.a.parts.qpn;
    let complaint = |l: &mut Loop| {
        l.hca.step();
        l.hca.complaints()
    };

    // A copy that differs from the ring.
    let (_, mut wqe) = l.a.place(0x0a, 0x08, 0, &[&inline(b"abc")]);
    wqe[21] = b'X';
    l.a.ring(&wqe, Doorbell::Copy);
    let differs = Complaint::CopyDiffers { qpn, index: 0, at: 21, copied: b'X', ring: b'b' };
    assert_eq!(complaint(&mut l), [differs]);

    // A register written before the record.
    let (index, wqe) = l.a.place(0x00, 0x08, 0, &[]);
    l.a.pi = index;
    l.a.ring(&wqe, Doorbell::Eight);
    l.a.pi = index + 1;
    assert_eq!(complaint(&mut l), [Complaint::RecordMismatch { qpn, end: index + 1, record: index }]);

    // Another QP's register, and a QPN that does not exist.
    put(l.b.parts.bf_reg, 0, &wqe[..8]);
    put(l.b.parts.dbrec.cast(), 4, &[0; 4]);
    let found = complaint(&mut l);
    let wrong = Complaint::WrongUar { uar: l.b.parts.uar, number: qpn, expected: l.a.parts.uar };
    assert!(found.contains(&wrong), "{found:?}");
    put(l.b.parts.bf_reg, 0, &[0, 0, 0, 0, 0x12, 0x34, 0x56, 1]);
    let nobody = Complaint::NoSuchQp { uar: l.b.parts.uar, qpn: 0x12_3456 };
    assert_eq!(complaint(&mut l), [nobody]);

    // Arm words.
    put(l.cq_a.parts.cq_uar, 0x20, &[0x80, 0, 0, 0, 0, 0, 0, 0]);
    assert!(matches!(complaint(&mut l)[..], [Complaint::NoSuchCq { cqn: 0, .. }]));
    // The register alone: the record still holds its first value. Then both, and the record newer than the register.
    let cqn = l.cq_a.parts.cqn;
    put(l.cq_a.parts.cq_uar, 0x20, &[[0, 0, 0, 1], cqn.to_be_bytes()].concat());
    assert_eq!(complaint(&mut l), [Complaint::ArmMismatch { cqn, word: 1, record: 0 }]);
    l.cq_a.arm(1);
    assert_eq!(complaint(&mut l), []);
    l.cq_a.arm(1);
    put(l.cq_a.parts.dbrec.cast(), 4, &[0x10, 0, 0, 1]);
    assert_eq!(complaint(&mut l), []);
    l.cq_a.arm(0x4000_0000);
    let bad = Complaint::BadArmWord { cqn: l.cq_a.parts.cqn, word: 0x4000_0000 };
    assert_eq!(complaint(&mut l), [bad]);
}

/// Where registers are trapped, a store to one is a message that may lie around while the device serves what later
/// records announce.
#[test]
fn a_doorbell_may_be_rings_behind_its_record() {
    let mut l = Loop::new(|_| ());
    let (uar, ring) = (l.a.parts.uar, l.a.parts.sq.wqe_cnt);
    let (_, first) = l.a.place(0x00, 0x00, 0, &[]);
    let mut last = first.clone();
    for round in 0..3 {
        for left in (0..ring - u32::from(round == 0)).rev() {
            (_, last) = l.a.place(0x00, if left == 0 { 0x08 } else { 0 }, 0, &[]);
        }
        put(l.a.parts.dbrec.cast(), 4, &u32::from(l.a.pi).to_be_bytes());
        l.hca.doorbell(uar, 0x800 + (round & 1) * 0x100, &last[..8]);
        l.run();
        l.cq_a.expect();
    }
    assert_eq!(l.hca.complaints(), []);
    l.hca.doorbell(uar, 0x900, &first[..8]);
    assert_eq!(l.hca.complaints(), []);
    // No ring has room for the requests that this record announces.
    let record = l.a.pi.wrapping_add(ring as u16 + 1);
    put(l.a.parts.dbrec.cast(), 4, &u32::from(record).to_be_bytes());
    l.hca.doorbell(uar, 0x800, &last[..8]);
    assert_eq!(l.hca.complaints(), [Complaint::RecordMismatch { qpn: l.a.parts.qpn, end: l.a.pi, record }]);
}

#[test]
fn stores_in_pieces_are_one_copy() {
    let mut l = Loop::new(|_| ());
    let (uar, qpn) = (l.a.parts.uar, l.a.parts.qpn);
    let (_, wqe) = l.a.place(0x0a, 0x08, 0, &[&inline(&pattern(100))]);
    put(l.a.parts.dbrec.cast(), 4, &u32::from(l.a.pi).to_be_bytes());
    for (i, piece) in wqe.chunks(8).enumerate() {
        l.hca.doorbell(uar, 0x900 + 8 * i, piece);
    }
    assert_eq!(l.hca.complaints(), []);
    l.hca.doorbell(uar, 0x900 + 24, &[0x5a; 8]);
    let found = l.hca.complaints();
    assert!(matches!(found[..], [Complaint::CopyDiffers { at: 24, copied: 0x5a, .. }]), "{found:?}");
    for (offset, len) in [(0, 8), (0x20, 4), (0x800, 4), (0xff8, 16), (0x7f8, 16), (usize::MAX, 8), (0xa08, 8)] {
        l.hca.doorbell(uar, offset, &vec![0; len]);
        assert_eq!(l.hca.complaints(), [Complaint::NotADoorbell { uar, offset, len }], "{offset:#x} {len}");
    }
    l.hca.doorbell(uar, 0x800, &[0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(l.hca.complaints(), [Complaint::NoSuchQp { uar, qpn: 0 }]);
    assert_ne!(qpn, 0);
}

#[test]
fn objects_in_use_stay() {
    let mut l = Loop::new(|o| o.register = RegisterOptions::OwnWithoutBlueFlame);
    assert_eq!(l.a.parts.bf_size, 0);
    let (qpn, cqn) = (l.a.parts.qpn, l.cq_a.parts.cqn);
    let buf = l.hca.buffer(1).unwrap();
    assert!(matches!(l.hca.destroy_cq(cqn), Err(Error::Busy { users: 2, .. })));
    l.hca.destroy_qp(qpn).unwrap();
    assert!(matches!(l.hca.destroy_qp(qpn), Err(Error::NoSuch { .. })));
    l.hca.destroy_cq(cqn).unwrap();
    l.hca.deregister(buf.lkey()).unwrap();
    assert!(matches!(l.hca.deregister(buf.lkey()), Err(Error::NoSuch { .. })));
    assert_eq!(buf.to_vec(0, 1), [0], "the memory outlives its key");
}

/// A driver that still has a queue's parts may store to them: the memory stays, and the device no longer looks at it.
#[test]
fn parts_outlive_their_objects() {
    let mut l = Loop::new(|_| ());
    l.hca.destroy_qp(l.a.parts.qpn).unwrap();
    l.hca.destroy_cq(l.cq_a.parts.cqn).unwrap();
    let index = l.a.post(0x0a, 0, &[&inline(b"to nobody")]);
    l.cq_a.arm(1);
    l.cq_a.publish();
    // No new queue gets its page.
    let cq = l.hca.create_cq(CqOptions::new(4)).unwrap();
    let qp = l.hca.create_qp(QpOptions::rc(cq.cqn)).unwrap();
    assert!(qp.uar != l.a.parts.uar && qp.bf_reg != l.a.parts.bf_reg && cq.cq_uar != l.cq_a.parts.cq_uar);
    let shared = QpOptions { register: RegisterOptions::SharedWith(l.a.parts.qpn), ..QpOptions::rc(cq.cqn) };
    assert!(matches!(l.hca.create_qp(shared), Err(Error::NoSuch { .. })), "a register of no QP");
    assert!(l.hca.run_until_idle());
    assert_eq!(index, 0);
    assert_eq!(l.cq_a.poll(), None);
}

#[test]
fn keys_protect_memory() {
    let read_only = Access { local_write: true, remote_read: true, ..Access::default() };
    let mut l = Loop::new(|_| ());
    let buf = l.hca.buffer_with(64, read_only).unwrap();
    let src = l.hca.buffer(64).unwrap();
    let index = l.a.post(0x08, 0, &[&raddr(buf.addr(), buf.rkey()), &data(8, src.lkey(), src.addr())]);
    l.run();
    let cqe = l.cq_a.expect();
    assert_eq!((summary(&cqe), cqe[55]), ((0x08, l.a.parts.qpn, index, 0xd2), 0x13), "remote access error");
    assert_eq!(buf.to_vec(0, 8), [0; 8]);

    let mut l = Loop::new(|_| ());
    let (src, dst) = (l.hca.buffer(64).unwrap(), l.hca.buffer(64).unwrap());
    let index = l.a.post(0x08, 0, &[&raddr(dst.addr(), dst.rkey()), &data(8, src.lkey(), src.addr() + 57)]);
    l.run();
    let cqe = l.cq_a.expect();
    assert_eq!((summary(&cqe), cqe[55]), ((0x08, l.a.parts.qpn, index, 0xd2), 0x04), "local protection error");
}

/// Deregistering unmaps all that was registered, also when a peer has invalidated the key before.
#[test]
fn an_invalidated_key_is_deregistered_whole() {
    let mut l = Loop::new(|_| ());
    let buf = l.hca.buffer(64).unwrap();
    Receiver::new(&l.b.parts).post(&[]);
    l.a.post(0x01, buf.rkey(), &[]);
    l.run();
    assert_eq!(summary(&l.cq_b.expect()).3, 0x40, "SEND with invalidate");
    let reach = |l: &mut Loop| l.hca.device().read_memory(buf.addr(), &mut [0; 64]);
    reach(&mut l).unwrap();
    l.hca.deregister(buf.lkey()).unwrap();
    reach(&mut l).unwrap_err();
}

#[test]
fn two_devices_and_uc() {
    let (mut x, mut y) = EmbeddedDevice::pair().unwrap();
    let (cq_x, cq_y) = (x.create_cq(CqOptions::new(4)).unwrap(), y.create_cq(CqOptions::new(4)).unwrap());
    let a = x.create_qp(QpOptions::new(Transport::Uc, cq_x.cqn)).unwrap();
    let b = y.create_qp(QpOptions::new(Transport::Uc, cq_y.cqn)).unwrap();
    connect((&mut x, a.qpn), (&mut y, b.qpn), &ConnectOptions::default()).unwrap();
    let (mut src, dst) = (x.buffer(9000).unwrap(), y.buffer(9000).unwrap());
    src.write(0, &pattern(9000));
    let mut rq = Receiver::new(&b);
    rq.post(&[data(9000, dst.lkey(), dst.addr())]);
    let mut sq = Sender::new(a);
    sq.post(0x0a, 0, &[&data(9000, src.lkey(), src.addr())]);
    assert!(run_until_idle(&mut [&mut x, &mut y]));
    assert_eq!(summary(&Poller::new(cq_x).expect()).0, 0x0a);
    assert_eq!(Poller::new(cq_y).expect()[44..48], 9000u32.to_be_bytes());
    assert_eq!(dst.to_vec(0, 9000), pattern(9000));
}

#[test]
fn datagrams_carry_their_source() {
    let mut hca = EmbeddedDevice::standalone().unwrap();
    let cq = hca.create_cq(CqOptions::new(16)).unwrap();
    let [a, b] = [(); 2].map(|()| hca.create_qp(QpOptions::new(Transport::Ud, cq.cqn)).unwrap());
    for qp in [a, b] {
        hca.activate_ud(qp.qpn, 0x1111_1111).unwrap();
    }
    let buf = hca.buffer(256).unwrap();
    Receiver::new(&b).post(&[data(256, buf.lkey(), buf.addr())]);
    let mut av = [0; 48];
    av[..4].copy_from_slice(&0x1111_1111u32.to_be_bytes());
    av[8..12].copy_from_slice(&(0x8000_0000 | b.qpn).to_be_bytes());
    av[15] = 1;
    let (mut sq, mut cq) = (Sender::new(a), Poller::new(cq));
    let (_, wqe) = sq.place(0x0a, 0, 0, &[&av, &inline(b"datagram")]);
    sq.ring(&wqe, Doorbell::Copy);
    assert!(hca.run_until_idle());
    assert_eq!(hca.complaints(), []);
    let cqe = cq.expect();
    assert_eq!(summary(&cqe), (0, b.qpn, 0, 0x20));
    assert_eq!(cqe[44..48], [0, 0, 0, 48], "40 bytes for the GRH, and the data");
    assert_eq!(cqe[22..24], [0, 1], "source LID");
    assert_eq!(cqe[24..28], a.qpn.to_be_bytes(), "no GRH, service level 0, source QPN");
    assert_eq!(buf.to_vec(40, 8), b"datagram");
}

/// N targets cost an initiator one connection at a time, and no part of the queue.
#[test]
fn one_initiator_writes_to_a_thousand_targets() {
    const TARGETS: usize = 1000;
    let (mut near, mut far) = EmbeddedDevice::pair().unwrap();
    let options = ConnectOptions::default();
    let cq = near.create_cq(CqOptions::new(2048)).unwrap();
    let dci = near.create_qp(QpOptions::dci(cq.cqn)).unwrap();
    near.activate_dci(dci.qpn, &options).unwrap();
    let (srq, far_cq) = (far.create_srq(16, 1).unwrap(), far.create_cq(CqOptions::new(16)).unwrap());
    let key = |at: usize| 0x1_0000_0000 + at as u64;
    let targets: Vec<u32> =
        (0..TARGETS).map(|at| far.create_dct(srq.srqn, far_cq.cqn, key(at), &options).unwrap()).collect();
    let lid = far.endpoint(0).lid;
    let words = far.buffer(8 * TARGETS).unwrap();
    let (mut sender, mut poller) = (Sender::new(dci), Poller::new(cq));
    for (at, dctn) in targets.iter().enumerate() {
        let mut address = [0; 16];
        address[..8].copy_from_slice(&key(at).to_be_bytes());
        address[8..12].copy_from_slice(&dctn.to_be_bytes());
        address[14..].copy_from_slice(&lid.to_be_bytes());
        let place = raddr(words.addr() + 8 * at as u64, words.rkey());
        sender.post(0x08, 0, &[&address, &place, &inline(&key(at).to_le_bytes())]);
        if at % 32 == 31 || at + 1 == TARGETS {
            assert!(run_until_idle(&mut [&mut near, &mut far]));
        }
    }
    for _ in 0..TARGETS {
        assert_eq!(poller.expect()[63] >> 4, 0);
    }
    assert_eq!(words.to_vec(0, 8 * TARGETS), (0..TARGETS).flat_map(|at| key(at).to_le_bytes()).collect::<Vec<_>>());
    assert_eq!((near.complaints(), far.complaints()), (vec![], vec![]));
    assert!(targets.iter().all(|&dctn| far.query_dct(dctn).unwrap().connections == 0));
    let dctn = targets[0];
    far.drain_dct(dctn).unwrap();
    assert!(run_until_idle(&mut [&mut far]));
    assert_eq!(far.next_event(), Some(Event::Dct { dctn, kind: DctEvent::Drained }));
    far.destroy_dct(dctn).unwrap();
}
