//! Kept frames: their bytes stay, on any thread, as long as they are there.
//!
//! Kept frames belong here, frames that are read at once in `frames.rs`.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use blueflame::queue::striding::{Frame, Strides};
use blueflame::verbs::memory::Pages;
use blueflame::verbs::{Access, Memory};
use memmap2::MmapMut;
use proptest::prelude::*;

use crate::frames::{lengths, possible};
use crate::lab::{Lab, checked, port};
use crate::on_device::{device, wait_for};

/// Buffers of about 32 KiB.
fn strides() -> Strides {
    let all = possible();
    *all.iter().min_by_key(|strides| strides.wqe_bytes()).expect("one at least")
}

#[derive(Clone, Debug)]
enum Step {
    /// Send frames of these lengths; keep each whose bit is set.
    Receive(Vec<usize>, u32),
    /// Drop some of the kept frames: each at this index of those that are left.
    Drop(Vec<usize>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let receive = (prop::collection::vec(60_usize..4000, 1..24), any::<u32>()).prop_map(|(a, b)| Step::Receive(a, b));
    let drop = prop::collection::vec(any::<usize>(), 0..40).prop_map(Step::Drop);
    prop::collection::vec(prop_oneof![2 => receive, 1 => drop], 10..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// No byte of a kept frame changes, with any later frames, and any order of drops.
    #[test]
    fn no_byte_changes_under_a_kept_frame(steps in steps()) {
        // More buffers than frames that are kept at a time, and the new frames of a step.
        let mut lab = Lab::new((4, 80), strides());
        let mut kept: Vec<Frame> = Vec::new();
        for step in steps {
            match step {
                Step::Receive(lens, keep) => {
                    while kept.len() > 48 {
                        kept.swap_remove(kept.len() / 2);
                    }
                    lab.rq.refill();
                    prop_assert_eq!(lab.rq.posted(), 4);
                    let mut n = 0;
                    lab.exchange(&lens, |frame| {
                        if keep >> n & 1 != 0 {
                            kept.push(frame.keep());
                        }
                        n += 1;
                    });
                }
                Step::Drop(which) => {
                    for index in which {
                        if !kept.is_empty() {
                            kept.swap_remove(index % kept.len());
                        }
                    }
                }
            }
            kept.iter().for_each(|frame| _ = checked(frame));
        }
        kept.clear();
        lab.rq.refill();
        prop_assert_eq!(lab.rq.posted(), 4);
    }
}

#[test]
fn other_threads_read_and_drop() {
    let mut lab = Lab::new((4, 96), strides());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3_usize)
            .map(|worker| {
                let (give, take) = mpsc::sync_channel::<Frame>(8);
                scope.spawn(move || {
                    let mut held: Vec<Frame> = Vec::new();
                    for frame in take {
                        held.push(frame);
                        while held.len() > 5 + worker {
                            let number = checked(&held[0]) as usize;
                            drop(held.swap_remove(number % held.len()));
                        }
                    }
                    held.iter().for_each(|frame| _ = checked(frame));
                });
                give
            })
            .collect();
        for round in 0..60 {
            let mut n = round;
            // The threads hold fewer frames than there are buffers.
            wait_for("a completion", || {
                lab.rq.refill();
                (lab.rq.posted() == 4).then_some(())
            });
            lab.exchange(&lengths(round, 3000), |frame| {
                workers[n % workers.len()].send(frame.keep()).expect("the thread is there");
                n += 1;
            });
        }
        drop(workers);
    });
    lab.rq.refill();
    assert_eq!(lab.rq.posted(), 4, "all frames are gone");
}

#[test]
fn without_free_buffers_frames_are_lost_until_one_is_dropped() {
    let mut lab = Lab::new((2, 3), strides());
    let mut kept: Vec<Frame> = Vec::new();
    loop {
        let before = kept.len();
        lab.sender.send(&[(lab.next, 3000)]);
        lab.next += 1;
        let begin = Instant::now();
        while kept.len() == before && begin.elapsed() < Duration::from_millis(200) {
            lab.cq.poll_with(8, |cqe| kept.extend(lab.rq.receive(&cqe).expect("next").map(|frame| frame.keep())));
            std::thread::yield_now();
        }
        lab.rq.refill();
        if kept.len() == before {
            break;
        }
    }
    assert!(kept.len() >= 3 * lab.rq.memory().strides().wqe_bytes() as usize / 4096, "all buffers were used");
    assert_eq!(lab.rq.posted(), 0, "no buffer is free");
    kept.iter().for_each(|frame| _ = checked(frame));
    kept.clear();
    assert_eq!(lab.rq.refill(), 2);
    let again = lab.keep(&[60, 1000]);
    assert_eq!(again.len(), 2);
}

/// Memory that says when it is gone.
struct Watched(MmapMut, Arc<AtomicBool>);

// SAFETY: that of the map.
unsafe impl Memory for Watched {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        self.0.range()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
    }
}

#[test]
fn memory_goes_with_the_last_frame() {
    let (strides, gone) = (strides(), Arc::new(AtomicBool::new(false)));
    let is_gone = || gone.load(Ordering::SeqCst);
    {
        let _port = port();
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let (pages, _) = Pages::map(4 * strides.wqe_bytes() as usize).expect("memory");
        let buffer = pd.register(Watched(pages, Arc::clone(&gone)), Access::LOCAL_WRITE).expect("registered");
        let cq = device.completion_queue(4 * strides.count()).build().expect("a CQ");
        let rq = pd.work_queue(&cq).striding(buffer.strided(strides).expect("long")).build().expect("a queue");
        assert!(!is_gone());
        drop(rq);
        assert!(is_gone(), "nothing was kept");
    }
    let mut lab = Lab::new((4, 32), strides);
    // Frames of closed buffers, and of the one that is being filled.
    let mut kept = lab.keep(&lengths(1, 4000));
    drop(lab);
    kept.iter().for_each(|frame| _ = checked(frame));
    let last = kept.swap_remove(3);
    std::thread::spawn(move || drop(kept)).join().expect("dropped");
    checked(&last);
    std::thread::spawn(move || drop(last)).join().expect("dropped");
}
