//! Copy routines, measured by NOPs on a queue of the software device, which takes whole copies out of the register.
//!
//! The choice of a routine belongs here, requests by each routine in `copies.rs`.
use std::cell::Cell;

use blueflame::SetupError;
use blueflame::arch::copy::CopyRoutine;
use blueflame::queue::send::Probe;
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_testkit::{ConnectOptions, Device, End, RegisterOptions, Shape};

/// Slices of each routine.
const ROUNDS: usize = 65;

/// The routines that can be tried on ordinary memory: ST64B faults there.
fn routines() -> impl Iterator<Item = CopyRoutine> {
    CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b)
}

/// A queue of `wqebbs` WQEBBs on a device.
fn queue(wqebbs: u32, shape: Shape) -> (Device, End<transport::Rc>) {
    let hca = Device::standalone().expect("a device");
    let end = End::new(&hca, &Shape { sq_wqebbs: wqebbs, ..shape }).expect("an end");
    end.connect(&end.endpoint(), &ConnectOptions::default()).expect("a connection");
    (hca, end)
}

fn probe(hca: &Device, end: &mut End<transport::Rc>) -> Result<Probe, SetupError> {
    let time = Cell::new(0);
    // The first slices seem faster: a median does not see them.
    let clock = || time.replace(time.get() + if time.get() < 630 { 63 } else { 630 });
    let probe = end.sq.probe(&mut end.cq, routines(), clock, || hca.run_until_idle().is_ok());
    assert_eq!(hca.complaints(), []);
    probe
}

/// Each NOP is executed once, so each is new; and the device has two at a time, each in a half of its own.
#[test]
fn nops_are_fresh_and_their_copies_taken() {
    // The ring's NOPs must not complete, even where libmlx5 would have each request complete.
    for signal_all in [false, true] {
        let (hca, mut end) = queue(2, Shape { signal_all, ..Shape::SMALL });
        let probe = probe(&hca, &mut end).expect("a probe");
        assert!(probe.costs().eq(routines().map(|routine| (routine, 630.0))));
        assert!(probe.taken().eq(routines().map(|routine| (routine, 1.0))), "{probe:?}");
        assert_eq!(probe.pick(), CopyRoutine::default_for_cpu());
        assert_eq!(usize::from(end.sq.pi().0), 2 * ROUNDS * routines().count());
        assert_eq!((end.sq.free(), end.cq.poll().is_none()), (end.sq.capacity(), true));
        end.sq.post(&wqe::nop().signaled(WrId(7))).expect("space");
        hca.run_until_idle().expect("an end");
        let cqe = end.cq.poll().expect("a completion");
        assert_eq!(end.sq.retire(&cqe).expect("outstanding").wr_id, WrId(7));
    }
}

/// A device that looks only when all are posted finds the last two copies; the others it fetches.
#[test]
fn what_is_fetched_is_not_counted() {
    let (hca, mut end) = queue(64, Shape { cqes: 64, ..Shape::SMALL });
    let probe = probe(&hca, &mut end).expect("a probe");
    assert!(probe.costs().eq(routines().map(|routine| (routine, 10.0))));
    assert!(probe.taken().eq(routines().map(|routine| (routine, 1.0 / 63.0))), "{probe:?}");
}

#[test]
fn a_completion_queue_bounds_the_slices() {
    let (hca, mut end) = queue(64, Shape { cqes: 4, ..Shape::SMALL });
    let probe = probe(&hca, &mut end).expect("a probe");
    assert!(probe.costs().eq(routines().map(|routine| (routine, 210.0))));
}

#[test]
fn what_cannot_be_measured_is_said_and_nothing_posted() {
    let (hca, mut end) = queue(1, Shape::SMALL);
    let what = "WQEBBs of a send ring to probe";
    assert_eq!(probe(&hca, &mut end), Err(SetupError::OutOfRange { what, value: 1, min: 2, max: 1 << 15 }));
    let (hca, mut end) = queue(8, Shape { register: RegisterOptions::OwnWithoutBlueFlame, ..Shape::SMALL });
    let what = "bytes of a BlueFlame half to probe";
    assert_eq!(probe(&hca, &mut end), Err(SetupError::OutOfRange { what, value: 0, min: 64, max: 2048 }));
    let (hca, mut end) = queue(8, Shape::SMALL);
    let lacking = CopyRoutine::ALL.into_iter().find(|routine| routine.check().is_err()).expect("another CPU's");
    let refused = end.sq.probe(&mut end.cq, [CopyRoutine::Words, lacking], || 0, || true);
    assert!(matches!(refused, Err(SetupError::CopyUnavailable { routine, .. }) if routine == lacking.name()));
    assert_eq!(end.sq.pi().0, 0);
    end.sq.post(&wqe::nop().signaled(WrId(0))).expect("space");
    let (what, outstanding) = ("send queue to probe", 1);
    assert_eq!(probe(&hca, &mut end), Err(SetupError::Outstanding { what, outstanding }));
    assert_eq!(end.sq.pi().0, 1);
}

#[test]
fn a_device_that_does_not_answer_ends_it() {
    let (hca, mut end) = queue(8, Shape::SMALL);
    let mut waited = 0;
    let wait = || {
        waited += 1;
        waited < 3
    };
    let timeout = SetupError::ProbeTimeout { outstanding: 8 };
    assert_eq!(end.sq.probe(&mut end.cq, routines(), || 0, wait), Err(timeout));
    // Outstanding requests still complete.
    hca.run_until_idle().expect("an end");
    while let Some(cqe) = end.cq.poll() {
        end.sq.retire(&cqe).expect("outstanding");
    }
    assert_eq!(end.sq.free(), end.sq.capacity());
}

#[test]
fn completions_of_another_queue_end_it() {
    let (_hca, mut end) = queue(8, Shape::SMALL);
    let (other_hca, mut other) = queue(8, Shape::SMALL);
    // The numbers of both queue pairs are the same; those of outstanding requests are not.
    for n in 0..8 {
        other.sq.post(&wqe::nop().signaled(WrId(n))).expect("space");
        other_hca.run_until_idle().expect("an end");
        let cqe = other.cq.poll().expect("a completion");
        other.sq.retire(&cqe).expect("outstanding");
    }
    other.sq.post(&wqe::nop().signaled(WrId(8))).expect("space");
    other_hca.run_until_idle().expect("an end");
    let probe = end.sq.probe(&mut other.cq, routines(), || 0, || true);
    let foreign = matches!(probe, Err(SetupError::ProbeCompletion { opcode: 0, syndrome: None, wqe_counter: 8, .. }));
    assert!(foreign, "{probe:?}");
}
