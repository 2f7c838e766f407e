//! Programs with handlers and faults of their own, and the handlers that every open device has.
//!
//! Signals without strict mode belong here, trapped stores in `strict`.

use crate::pair::STRICT;
use crate::program::{compiled, launch};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

fn ends(options: &[&str], program: &str, case: &str) -> (Option<i32>, String) {
    let (code, output) = launch(options, &[program, case], PATIENCE);
    // The launcher's message about a program that a signal ended follows.
    (code, output.lines().filter(|line| *line == "handler" || line.contains("not so")).collect::<Vec<_>>().join(" "))
}

#[test]
fn handlers_are_called_as_the_kernel_would() {
    let (_directory, program) = compiled("signals");
    let died = |signal| Some(128 + signal);
    for options in [&[][..], STRICT] {
        for case in ["ignored", "other-ways", "in-handlers", "unwound"] {
            assert_eq!(ends(options, &program, case), (Some(0), String::new()), "{case} {options:?}");
        }
        assert_eq!(ends(options, &program, "ignored-fault"), (died(libc::SIGSEGV), String::new()));
        assert_eq!(ends(options, &program, "ignored-breakpoint"), (died(libc::SIGTRAP), String::new()));
        assert_eq!(ends(options, &program, "once"), (died(libc::SIGSEGV), "handler handler".to_owned()));
        assert_eq!(ends(options, &program, "reporter"), (died(libc::SIGSEGV), "handler".to_owned()));
    }
}

#[test]
fn a_thread_that_blocks_everything_steps_a_device() {
    let (_directory, program) = compiled("signals");
    assert_eq!(ends(&["--sink"], &program, "blocked"), (Some(0), String::new()));
}
