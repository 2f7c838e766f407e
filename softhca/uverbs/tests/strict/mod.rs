//! Strict mode, with programs that are hard on it, and with mistakes that it must report.
//!
//! Trapped stores belong here, other signals in `signals`.

use crate::pair::{STRICT, long};
use crate::program::{compiled, launch};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// The program ends well, and the device has nothing to say.
fn clean(program: &str, arguments: &[&str]) {
    let command = [&[program], arguments].concat();
    assert_eq!(launch(STRICT, &command, PATIENCE), (Some(0), String::new()), "{arguments:?}");
}

#[test]
fn arms_of_two_threads_on_one_page_are_not_lost() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["arms", "5000"]);
    for _ in 0..if long() { 200 } else { 0 } {
        clean(&program, &["arms", "500"]);
    }
}

#[test]
fn handlers_of_the_program_ring_doorbells_at_any_moment() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["timer", "500"]);
}

#[test]
fn signals_that_the_program_blocks_or_handles_are_its_own() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["masks"]);
    clean(&program, &["own-faults"]);
    clean(&program, &["breakpoint"]);
    clean(&program, &["sent-traps"]);
}

#[test]
fn a_step_whose_reason_the_cpu_has_lost_ends_no_program() {
    let (_directory, program) = compiled("strict");
    for name in ["stores", "breakpoint", "own-faults"] {
        clean(&program, &["without-reasons", name]);
    }
}

#[test]
fn handlers_need_next_to_nothing_of_a_small_stack() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["small-stack"]);
}

#[test]
fn stores_of_every_width_reach_the_device() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["stores"]);
}

/// The program sees nothing of it, and the device complains, of this.
fn complained_of(name: &str, expected: &[&str]) {
    let (_directory, program) = compiled("strict");
    let (code, output) = launch(STRICT, &[&program, name], PATIENCE);
    assert_eq!(code, Some(70), "{output}");
    assert!(output.contains(&format!("{} complaint(s)", expected.len())), "{output}");
    assert!(!output.contains("not so"), "{output}");
    for expected in expected {
        assert!(output.contains(expected), "{expected:?} is not in:\n{output}");
    }
}

#[test]
fn what_is_no_plain_store_is_named() {
    let [xadd, mov, load] = ["xadd at 0x800 is no", "mov at 0x800 is no", "mov at 0x808 is no"];
    complained_of("refused", &[xadd, mov, load]);
}

#[test]
fn the_copy_is_executed_even_if_it_differs_from_the_ring() {
    complained_of("differs", &["BlueFlame copy of WQE 0x0 of QP 0x40 differs at byte 37: 0x22, ring 0x11"]);
}

#[test]
fn the_same_half_twice_is_complained_of() {
    let repeated = "half 0x800 was rung twice in a row";
    complained_of("same-half", &[repeated, repeated]);
}

#[test]
fn a_doorbell_before_rts_is_complained_of() {
    complained_of("before-rts", &["in state Init, before RTS"]);
}

#[test]
fn a_doorbell_on_the_page_of_another_queue_is_complained_of() {
    complained_of("wrong-page", &["which belongs to page"]);
}

#[test]
fn an_event_that_is_not_counted_is_complained_of() {
    complained_of("uncounted", &["5 events have answered requests of its sequence number"]);
}

#[test]
fn an_overrun_is_complained_of() {
    complained_of("overrun", &["CQ 0x1 of 2 CQEs overran"]);
    let (_directory, program) = compiled("strict");
    let (code, output) = launch(&[], &[&program, "overrun"], PATIENCE);
    assert!(code == Some(0) && output.contains("overran"), "{code:?} {output}");
}

#[test]
fn a_doorbell_of_nobody_is_complained_of() {
    let (_directory, program) = compiled("api");
    let (code, output) = launch(STRICT, &[&program, "ring-wrongly"], PATIENCE);
    assert_eq!(code, Some(70), "{output}");
    assert!(output.contains("1 complaint(s)") && output.contains("QP 0xfffe, which does not exist"), "{output}");
    // Nobody looks at stores otherwise.
    assert_eq!(launch(&[], &[&program, "ring-wrongly"], PATIENCE), (Some(0), String::new()));
}

#[test]
fn complaints_that_repeat_are_counted() {
    let (_directory, program) = compiled("api");
    let (code, output) = launch(STRICT, &[&program, "ring-wrongly", "1234"], PATIENCE);
    assert_eq!(code, Some(70), "{output}");
    assert!(output.contains("1234 complaint(s)"), "{output}");
    let lines: Vec<_> = output.lines().filter(|line| line.contains("QP 0xfffe, which does not exist")).collect();
    // In the log, and again in the summary: the first 5, the 10th, 100th, 1000th and the last.
    assert_eq!(lines.len(), 18, "{output}");
    for held in [4, 89, 899, 233] {
        let more = format!("… and {held} more like this");
        assert_eq!(lines.iter().filter(|line| line.ends_with(&more)).count(), 2, "{more}: {output}");
    }
}
