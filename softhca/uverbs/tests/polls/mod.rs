//! Programs that poll, or yield the CPU, do the work of their device.
//!
//! Polls and yields that step a device belong here, the device's thread in `softhca/src/runner`.

use crate::pair::STRICT;
use crate::program::{compiled, launch};
use std::time::Duration;

/// Runs cases of `polls.c`, which get these arguments, too.
fn all_end_well(cases: &[&str], arguments: &[&str]) {
    let (_directory, program) = compiled("polls");
    let ends = |options: &[&str], case: &str| {
        let command = [&[&*program, case], arguments].concat();
        assert_eq!(launch(options, &command, Duration::from_secs(60)), (Some(0), String::new()), "{case}");
    };
    cases.iter().for_each(|case| ends(&[], case));
    ends(&["--link", "ethernet"], "steps");
    ends(STRICT, "strict");
}

#[test]
fn polls_step_the_device() {
    all_end_well(&["steps", "many", "past", "threads", "child", "cancelled", "commands", "exits"], &[]);
}

#[test]
fn yields_step_the_device() {
    all_end_well(&["steps", "threads", "child", "cancelled", "exits", "waits"], &["yields"]);
}

/// A step allocates, which a program's own allocator need not bear while it yields.
#[test]
fn yields_in_the_programs_allocator_step_nothing() {
    let (_directory, program) = compiled("allocator");
    assert_eq!(launch(&[], &[&program], Duration::from_secs(60)), (Some(0), String::new()));
}
