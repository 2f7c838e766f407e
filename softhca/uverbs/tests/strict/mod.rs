//! Strict mode, with programs that are hard on it, and with what it must complain of.

use crate::compiled;
use crate::pair::launch;
use std::time::Duration;

/// Options of a device on which everything is trapped and checked.
pub(crate) const STRICT: &[&str] = &["--strict"];
const PATIENCE: Duration = Duration::from_secs(60);

/// `./run test --long`: what takes minutes is done, too.
fn long() -> bool {
    std::env::var_os("LONG").is_some_and(|long| long == "1")
}

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
}

#[test]
fn stores_of_every_width_reach_the_device() {
    let (_directory, program) = compiled("strict");
    clean(&program, &["stores"]);
}

#[test]
fn what_is_no_plain_store_is_named() {
    let (_directory, program) = compiled("strict");
    let (code, output) = launch(STRICT, &[&program, "refused"], PATIENCE);
    assert_eq!(code, Some(70), "{output}");
    for expected in ["3 complaint(s)", "xadd at 0x800 is no plain store", "mov at 0x808 is no plain store"] {
        assert!(output.contains(expected), "{expected:?} is not in:\n{output}");
    }
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
