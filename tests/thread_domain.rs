//! Thread domains: libmlx5 as installed puts records and rings where this crate tells it, and the queues work there.
//!
//! Thread domains and the memory of their queues belong here. Queues on common registers belong in `tests/verbs`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! softhca-run --no-write-combining --
//! softhca-run --strict --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::rc;
use std::time::{Duration, Instant};

use blueflame::arch::{self, copy::DefaultCopy};
use blueflame::db::{DoorbellFence, FlushMode, OneFence, ThreadRegister, TwoFences};
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{Access, Buffer, Device, Error, OwnedCq, Pool, ProtectionDomain, QueuePair, ThreadDomain};
use blueflame::{transport, wqe};
use blueflame_sys as sys;

use on_device::device;

type Pair<F = TwoFences> = QueuePair<transport::Rc, rc::Rc<ThreadRegister<F>>>;

const PAGE: usize = 4096;
const LINE: usize = 64;

fn pair<F: FlushMode>(pd: &ProtectionDomain, domain: &ThreadDomain<F>, cq: &OwnedCq) -> Pair<F> {
    pd.queue_pair(cq, cq).sends(32).receives(32).inline(28).build_in(domain).expect("a queue pair")
}

/// libmlx5's data of a queue pair.
fn parts(pair: &Pair) -> sys::mlx5dv_qp {
    let mut out = sys::mlx5dv_qp::ZERO;
    let qp = sys::mlx5dv_pair { r#in: pair.qp.as_raw(), out: &raw mut out };
    let mut obj = sys::mlx5dv_obj { qp, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the queue pair is alive, `out` is ours.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP) }, 0);
    out
}

fn record(pair: &Pair) -> usize {
    parts(pair).dbrec.addr()
}

/// libmlx5's data of a completion queue: record, ring.
fn cq_parts(cq: &OwnedCq) -> (usize, usize) {
    let mut out = sys::mlx5dv_cq::ZERO;
    let raw: *mut sys::ibv_cq = cq.handle().as_raw();
    let mut obj = sys::mlx5dv_obj { cq: sys::mlx5dv_pair { r#in: raw, out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the completion queue is alive and nothing has completed, `out` is ours.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_CQ) }, 0);
    (out.dbrec.addr(), out.buf.addr())
}

/// Connects the queue pair to itself.
fn connect<F: FlushMode>(device: &Device, pair: &mut Pair<F>) {
    let path = device.path(1, None).expect("a path");
    let here = pair.qp.endpoint_with(&path, Psn::truncate(0x77));
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &here, &here).expect("connect");
}

/// Writes a few bytes by each queue pair in turn, waits for all completions, and looks at the bytes.
fn write_by_each<F: FlushMode>(pairs: &mut [Pair<F>], cq: &mut OwnedCq, buffer: &Buffer) {
    for (n, pair) in pairs.iter_mut().enumerate() {
        let number = (n as u64 + 1).to_le_bytes();
        let request = wqe::write(buffer.remote().at(8 * n as u64)).inline(&number);
        // SAFETY: inline, and the buffer is read when all is done.
        unsafe { pair.sq.post_unchecked(&request.signaled(WrId(n as u64))) }.expect("post");
        pair.sq.prefetch();
    }
    // The doorbells of `OneFence` may wait in the CPU until the next one.
    arch::mmio_flush_writes();
    let (begin, mut done) = (Instant::now(), 0);
    while done < pairs.len() {
        cq.poll_with(16, |cqe| {
            cqe.check().unwrap_or_else(|error| panic!("{error}"));
            let pair = pairs.iter_mut().find(|pair| pair.qp.qpn() == cqe.qpn()).expect("one of them");
            pair.sq.retire(&cqe).expect("outstanding");
            done += 1;
        });
        assert!(begin.elapsed() < Duration::from_secs(60), "{done} of {} completions", pairs.len());
        std::thread::yield_now();
    }
    for n in 0..pairs.len() as u64 {
        let mut bytes = [0; 8];
        buffer.read(8 * n as usize, &mut bytes);
        assert_eq!(u64::from_le_bytes(bytes), n + 1);
    }
}

#[test]
fn records_of_1024_queue_pairs_are_dense() {
    const PAIRS: usize = 1024;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let domain = pd.thread_domain().expect("a thread domain");
    let cq = device.completion_queue(65 * PAIRS as u32).build().expect("a completion queue");
    let pairs: Vec<_> = (0..PAIRS).map(|_| pair(&pd, &domain, &cq)).collect();

    let mut records: Vec<_> = pairs.iter().map(record).collect();
    records.sort_unstable();
    // 512 to a page, and pages need not be neighbours.
    for page in records.chunks(PAGE / 8) {
        assert_eq!(page[0] % PAGE, 0);
        assert!(page.windows(2).all(|pair| pair[1] == pair[0] + 8), "{page:x?}");
    }
    let registers: Vec<_> = pairs.iter().map(|pair| parts(pair).bf.reg.addr()).collect();
    assert!(registers.iter().all(|&register| register == registers[0]), "one register");

    // Rings do not overlap, and do not all begin at one offset of their pages.
    let ring = |pair| {
        let parts = parts(pair);
        let bytes = (parts.sq.wqe_cnt * parts.sq.stride) as usize;
        (parts.sq.buf.addr(), bytes)
    };
    let mut rings: Vec<_> = pairs.iter().map(ring).collect();
    rings.sort_unstable();
    assert!(rings.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
    let offsets: std::collections::BTreeSet<_> = rings.iter().map(|ring| ring.0 % PAGE).collect();
    assert!(offsets.len() >= 16, "{offsets:x?}");
}

#[test]
fn queues_of_a_thread_domain_work() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let domain = pd.thread_domain().expect("a thread domain");
    let mut cq = device.completion_queue(16 * 65).thread_domain(&domain).build().expect("a completion queue");
    let mut pairs: Vec<_> = (0..3).map(|_| pair(&pd, &domain, &cq)).collect();
    let (cq_record, cq_ring) = cq_parts(&cq);
    assert_eq!((cq_record % 8, cq_ring % PAGE), (0, 0));
    assert_eq!(record(&pairs[0]), cq_record + 8, "the completion queue's record is one of them");
    let mut pool = Pool::new(&pd, PAGE, Access::ALL).expect("a pool");
    let buffer = pool.take(PAGE).expect("all of it");
    for pair in &mut pairs {
        connect(&device, pair);
    }
    // More than a ring, so that indices wrap.
    for _ in 0..=parts(&pairs[0]).sq.wqe_cnt {
        write_by_each(&mut pairs, &mut cq, &buffer);
    }
}

fn works_with<F: FlushMode>() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let domain = pd.thread_domain_with::<F, _>(DefaultCopy::default()).expect("a thread domain");
    let mut cq = device.completion_queue(16 * 65).thread_domain(&domain).build().expect("a completion queue");
    let mut pairs: Vec<_> = (0..3).map(|_| pair(&pd, &domain, &cq)).collect();
    let mut pool = Pool::new(&pd, PAGE, Access::ALL).expect("a pool");
    let buffer = pool.take(PAGE).expect("all of it");
    for pair in &mut pairs {
        connect(&device, pair);
    }
    for _ in 0..4 {
        write_by_each(&mut pairs, &mut cq, &buffer);
    }
}

#[test]
fn queues_of_a_thread_domain_work_in_each_flush_mode() {
    works_with::<TwoFences>();
    works_with::<DoorbellFence>();
    works_with::<OneFence>();
}

#[test]
fn freed_in_any_order_and_used_again() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let domain = pd.thread_domain().expect("a thread domain");
    let mut cq = device.completion_queue(16 * 65).build().expect("a completion queue");
    let mut pairs: Vec<_> = (0..16).map(|_| pair(&pd, &domain, &cq)).collect();
    let places: Vec<_> = pairs.iter().map(record).collect();
    // Every other one, from the middle outwards.
    let mut freed = Vec::new();
    for i in [7, 8, 5, 2, 0] {
        let gone = pairs.swap_remove(i);
        freed.push(record(&gone));
    }
    freed.sort_unstable();
    let again: Vec<_> = (0..freed.len()).map(|_| pair(&pd, &domain, &cq)).collect();
    assert_eq!(again.iter().map(record).collect::<Vec<_>>(), freed, "the lowest first");
    pairs.extend(again);
    let mut now: Vec<_> = pairs.iter().map(record).collect();
    now.sort_unstable();
    assert_eq!(now, places);
    // Only the queue pairs still hold the domain.
    drop(domain);
    let mut pool = Pool::new(&pd, PAGE, Access::ALL).expect("a pool");
    let buffer = pool.take(PAGE).expect("all of it");
    drop(pd);
    for pair in &mut pairs {
        // SAFETY: a new queue pair has two words of record.
        assert_eq!(unsafe { parts(pair).dbrec.cast::<u64>().read() }, 0, "zero at first");
        connect(&device, pair);
    }
    write_by_each(&mut pairs, &mut cq, &buffer);
}

#[test]
fn threads_share_no_line() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let make = || {
        let domain = pd.thread_domain().expect("a thread domain");
        let cq = device.completion_queue(20 * 65).thread_domain(&domain).build().expect("a completion queue");
        let pairs: Vec<_> = (0..20).map(|_| pair(&pd, &domain, &cq)).collect();
        let mut lines: Vec<_> = pairs.iter().map(|pair| record(pair) / LINE).collect();
        lines.push(cq_parts(&cq).0 / LINE);
        // The handles keep all this while the other thread makes its own.
        let handles: Vec<_> = pairs.iter().map(|pair| pair.qp.clone()).collect();
        let bf = parts(&pairs[0]).bf;
        (lines, (bf.reg.addr(), bf.size), handles)
    };
    let ((a, register_a, _keep_a), (b, register_b, _keep_b)) = std::thread::scope(|scope| {
        let (a, b) = (scope.spawn(make), scope.spawn(make));
        (a.join().expect("made"), b.join().expect("made"))
    });
    assert!(a.iter().all(|line| !b.contains(line)), "{a:x?} {b:x?}");
    // One for all where write combining does not work, and then without BlueFlame.
    assert_eq!(register_a.0 == register_b.0, register_a.1 == 0);
}

#[test]
fn domains_of_others_are_refused() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let other = device.protection_domain().expect("another PD");
    let domain = other.thread_domain().expect("a thread domain");
    let cq = device.completion_queue(16).build().expect("a completion queue");
    let error = pd.queue_pair::<transport::Rc>(&cq, &cq).build_in(&domain).expect_err("another PD's");
    assert_eq!(error, Error::ForeignDomain { object: "queue pair", part: "thread domain" });
    let opened_again = Device::open(device.name()).expect("open");
    let error = opened_again.completion_queue(16).thread_domain(&domain).build().expect_err("another device's");
    assert_eq!(error, Error::ForeignDevice { object: "completion queue", part: "thread domain" });
    assert!(error.to_string().contains("completion queue"), "{error}");
}
