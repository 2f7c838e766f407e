//! The schedules: a program that posts and polls, and a device beside it. Schedules belong here, faults of the program
//! in `controls.rs`.

use loom::thread;

use crate::cq::{CompletionQueue, Notify};
use crate::device::{Completions, Receives, Sends, is_armed};
use crate::memory;
use crate::pointer;
use crate::program::{Receiver, Sender, completion_queue};

/// Turns of the device beside the program, and looks of the program at the completion queue.
const TURNS: usize = 3;

/// Repeats an action, and lets the other side go on between.
fn by_turns(mut action: impl FnMut()) {
    for _ in 0..TURNS {
        action();
        thread::yield_now();
    }
}

/// One request outstanding; the next takes its place.
pub(crate) fn posts_and_polls() {
    one_by_one(Sender::poll);
}

/// One request outstanding; its completion is copied.
pub(crate) fn posts_and_copies() {
    one_by_one(Sender::poll_one);
}

fn one_by_one(poll: fn(&mut Sender, &mut CompletionQueue)) {
    let mut cq = completion_queue(2);
    let mut sender = Sender::new(cq.id(), 3);
    sender.post();
    let mut device = Sends::new(Completions::new(memory::CQ, 2));
    let thread = thread::spawn(move || {
        by_turns(|| device.turn());
        device
    });
    by_turns(|| poll(&mut sender, &mut cq));
    let mut device = thread.join().expect("no panic");
    for _ in 0..3 {
        device.turn();
        poll(&mut sender, &mut cq);
    }
    sender.end();
}

/// Two requests by one doorbell, beside a device that looks already.
pub(crate) fn posts_a_batch() {
    let mut cq = completion_queue(4);
    let mut sender = Sender::new(cq.id(), 2);
    let mut device = Sends::new(Completions::new(memory::CQ, 4));
    let thread = thread::spawn(move || {
        device.turn();
        device
    });
    sender.post_batch();
    sender.poll(&mut cq);
    let mut device = thread.join().expect("no panic");
    for _ in 0..3 {
        device.turn();
        sender.poll(&mut cq);
    }
    sender.end();
}

fn receives(wqes: u32, cqes: u32, messages: u32, reversed: bool) {
    let mut cq = completion_queue(cqes);
    let mut receiver = Receiver::new(wqes, messages);
    (1..wqes).for_each(|_| receiver.post());
    let mut device = Receives::new(Completions::new(memory::CQ, cqes), wqes, reversed);
    let thread = thread::spawn(move || {
        by_turns(|| device.turn());
        device
    });
    by_turns(|| receiver.poll(&mut cq));
    let mut device = thread.join().expect("no panic");
    for _ in 0..messages {
        device.turn();
        receiver.poll(&mut cq);
    }
    receiver.end();
}

/// One receive posted; the next takes its place.
pub(crate) fn receives_one_by_one() {
    receives(2, 2, 3, false);
}

/// Two receives posted, which complete out of order.
pub(crate) fn receives_out_of_order() {
    receives(3, 4, 3, true);
}

/// The completion queue goes on in another ring, with a completion that was not polled, and with requests outstanding.
pub(crate) fn resizes() {
    let mut cq = completion_queue(4);
    let mut sender = Sender::new(cq.id(), 3);
    sender.post();
    let mut device = Sends::new(Completions::new(memory::CQ, 4));
    let thread = thread::spawn(move || {
        for _ in 0..TURNS {
            device.turn();
            device.resize(2);
        }
        device
    });
    sender.poll(&mut cq);
    // SAFETY: the new ring, of which the device does not know yet.
    unsafe { crate::cq::setup::mark_unwritten(pointer::at(memory::NEW_CQ), 2, 64) };
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::Release);
    memory::store(memory::COMMAND, 1);
    let answered = memory::load(memory::ANSWER) != 0;
    let (mut device, mut thread) = (None, Some(thread));
    if !answered {
        let mut stopped = thread.take().expect("once").join().expect("no panic");
        stopped.resize(2);
        device = Some(stopped);
    }
    // The command's answer is ordered before all that follows it, as a system call orders it.
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::Acquire);
    // SAFETY: marked above, and the device has answered.
    unsafe { cq.carry_over(pointer::at(memory::NEW_CQ), 2) }.expect("the device does its part");
    sender.poll(&mut cq);
    let mut device = device.unwrap_or_else(|| thread.take().expect("not joined").join().expect("no panic"));
    for _ in 0..3 {
        device.turn();
        sender.poll(&mut cq);
    }
    sender.end();
}

/// The program asks for an event.
pub(crate) fn arms() {
    let mut cq = completion_queue(2);
    let thread = thread::spawn(|| [(); 2].iter().any(|()| is_armed()));
    cq.arm(Notify::Any);
    cq.event_received();
    cq.arm(Notify::Solicited);
    thread.join().expect("no panic");
    assert!(is_armed());
}

pub(crate) fn every_schedule(of: fn()) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.max_branches = 20_000;
    // Loom's stack of 32 KiB is too small for code that is not optimized and all in line.
    model.check(move || {
        let program = thread::Builder::new().stack_size(1 << 20).spawn(of).expect("a thread");
        program.join().expect("no panic");
    });
}

/// A test for each.
macro_rules! tests {
    ($($name:ident: $schedules:ident;)*) => {$(
        #[test]
        fn $name() {
            every_schedule($schedules);
        }
    )*};
}

tests! {
    a_request_takes_the_place_of_one_that_is_done: posts_and_polls;
    completions_are_copied_whole: posts_and_copies;
    a_batch_is_published_whole: posts_a_batch;
    a_shared_receive_takes_the_place_of_one_that_is_done: receives_one_by_one;
    shared_receives_complete_out_of_order: receives_out_of_order;
    a_resized_queue_loses_no_completion: resizes;
    the_record_of_a_request_to_arm_precedes_its_doorbell: arms;
}
