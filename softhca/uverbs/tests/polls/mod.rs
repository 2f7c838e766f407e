//! Programs that poll, or yield the CPU, do the work of their device.
//!
//! Polls and yields that step a device belong here, the device's thread in `softhca/src/runner`.

use crate::pair::STRICT;
use crate::program::{compiled, launch};
use std::time::Duration;

#[test]
fn polls_step_the_device() {
    let (_directory, program) = compiled("polls");
    let ends = |options: &[&str], case: &str| launch(options, &[&program, case], Duration::from_secs(60));
    for case in ["steps", "many", "past", "threads", "child", "cancelled", "commands", "exits"] {
        assert_eq!(ends(&[], case), (Some(0), String::new()), "{case}");
    }
    assert_eq!(ends(&["--link", "ethernet"], "steps"), (Some(0), String::new()));
    assert_eq!(ends(STRICT, "strict"), (Some(0), String::new()));
}

#[test]
fn yields_step_the_device() {
    let (_directory, program) = compiled("polls");
    let ends = |options: &[&str], case: &str| launch(options, &[&program, case, "yields"], Duration::from_secs(60));
    for case in ["steps", "threads", "child", "cancelled", "exits", "waits"] {
        assert_eq!(ends(&[], case), (Some(0), String::new()), "{case}");
    }
    assert_eq!(ends(&["--link", "ethernet"], "steps"), (Some(0), String::new()));
    assert_eq!(ends(STRICT, "strict"), (Some(0), String::new()));
}

/// A step allocates, which a program's own allocator need not bear while it yields.
#[test]
fn yields_in_the_programs_allocator_step_nothing() {
    let (_directory, program) = compiled("allocator");
    assert_eq!(launch(&[], &[&program], Duration::from_secs(60)), (Some(0), String::new()));
}
