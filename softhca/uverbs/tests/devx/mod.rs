//! Commands of the device, which C programs send as mailboxes through libmlx5 (`mlx5dv_devx_*`).
//!
//! Commands through libmlx5 belong here, each command by itself in `softhca/src/firmware`.

use crate::pair::STRICT;
use crate::program::{compiled, launch};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// The part of the program ends well, and the device has nothing to say.
fn clean(program: &str, options: &[&str], part: &str) {
    assert_eq!(launch(options, &[program, part], PATIENCE), (Some(0), String::new()), "{part} {options:?}");
}

#[test]
fn commands_are_answered_as_by_the_kernel() {
    let (_directory, program) = compiled("devx");
    let parts = ["objects", "memories", "numbers", "queries", "verbs-objects", "answers", "port-events", "users"];
    for part in parts.into_iter().chain(["files", "no-user", "children", "threads", "closing", "failed"]) {
        clean(&program, &[], part);
        clean(&program, STRICT, part);
        clean(&program, &["--static-uars"], part);
    }
    clean(&program, &["--memlock", "everybody"], "limited");
    clean(&program, STRICT, "non-cached");
}

#[test]
fn commands_are_refused_when_a_program_asks_for_it() {
    let (_directory, program) = compiled("refused");
    assert_eq!(launch(&[], &[&program], PATIENCE), (Some(0), String::new()));
}

/// Commands and verbs say the same of the device and its ports.
#[test]
fn commands_know_the_device_as_verbs_do() {
    let (_directory, program) = compiled("devx_identity");
    for generation in ["connectx5", "connectx6dx", "connectx7", "connectx8"] {
        clean(&program, &["--generation", generation], "infiniband");
        clean(&program, &["--generation", generation, "--link", "ethernet"], "ethernet");
    }
}

/// Queues made by commands, driven by hand.
#[test]
fn queues_made_by_commands_work_as_others_do() {
    let (_directory, program) = compiled("devx_rc");
    for options in [&[][..], STRICT, &["--static-uars"], &["--static-uars", "--strict"], &["--link", "ethernet"]] {
        clean(&program, options, "");
    }
    clean(&program, &[], "non-cached");
    clean(&program, STRICT, "non-cached");
}

/// Others that have a process's device file use its queues and objects; one is killed meanwhile.
#[test]
fn objects_are_used_from_other_processes() {
    let (_directory, program) = compiled("imported");
    for part in ["sent", "inherit", "closed"] {
        clean(&program, &[], part);
        clean(&program, &["--link", "ethernet"], part);
    }
}

/// Requests as no library makes them: the process goes on, and nothing stays.
#[test]
fn no_request_does_harm() {
    let (_directory, program) = compiled("devx_hostile");
    for (seed, options) in [("1", &[][..]), ("2", STRICT), ("3", &["--static-uars"])] {
        let outcome = launch(options, &[&program, seed, "20000"], PATIENCE);
        assert_eq!(outcome, (Some(0), String::new()), "{seed} {options:?}");
    }
}
