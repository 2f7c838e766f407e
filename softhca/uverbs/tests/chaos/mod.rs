//! Chaos by the scripts of `docs/howto/chaos.md`. A program checks their effects. Another test kills a peer.
//!
//! Scripts of the launcher belong here, each kind of row by a virtual clock in `softhca/tests/engine/script.rs`.

use crate::pair::{STRICT, long};
use crate::program::{compiled, launch};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program on the script of this name. Gives its exit code, its output and the launcher's timeline.
fn play(program: &str, name: &str) -> (Option<i32>, String, Vec<String>) {
    let script = format!("{}/tests/chaos/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let (code, output) = launch(&["--script", &script], &[program, name], PATIENCE);
    let (printed, timeline) = output.split_once("softhca-run: what the script has done:\n").unwrap_or((&output, ""));
    (code, printed.to_owned(), timeline.lines().map(|line| line.trim().to_owned()).collect())
}

/// The program meets the effects of the script. The timeline has these lines in this order.
fn plays(name: &str, expected: &[&str]) {
    let (_directory, program) = compiled("chaos");
    let (code, printed, timeline) = play(&program, name);
    assert_eq!((code, printed.as_str()), (Some(0), ""), "{name}: {timeline:?}");
    let mut rest = timeline.iter();
    for what in expected {
        assert!(rest.any(|line| line.contains(what)), "{name}: no {what:?}, in order, in {timeline:#?}");
    }
}

#[test]
fn a_request_ends_with_12_and_0x81() {
    plays("retry", &["WQE 3 (index 0x2) completes with syndrome 0x15, vendor syndrome 0x81"]);
}

#[test]
fn a_limit_is_lost() {
    plays("limit", &["event 1 of kind srq-limit gets lost"]);
    let (_directory, program) = compiled("chaos");
    assert_eq!(launch(&[], &[&program, "no limit"], PATIENCE), (Some(0), String::new()), "without the script it comes");
}

#[test]
fn a_device_goes_away() {
    plays("removal", &["port 1 goes down", "port 1 comes up", "the device fails"]);
}

#[test]
fn commands_are_refused() {
    plays("refused", &["mailbox 0xa08 is refused with status 0x0f", "command 20 is refused with errno 12"]);
}

#[test]
fn messages_survive_a_storm() {
    let bad = "the network is bad: drop=200,latency=200,jitter=100";
    let all = ["receivers are not ready", bad, "the network is as before", "the device does nothing", "goes on"];
    plays("storm", &all);
}

#[test]
fn requests_to_a_killed_peer_end_once() {
    let (_directory, program) = compiled("killed");
    let (seeds, patience) = if long() { ("100", Duration::from_secs(600)) } else { ("4", PATIENCE) };
    let faults = ["--link", "ethernet", "--faults", "drop=10,dup=10,reorder=10,seed=1"];
    for options in [&[][..], STRICT, &faults] {
        let (code, output) = launch(options, &[&program, seeds], patience);
        assert_eq!((code, output.as_str()), (Some(0), ""), "{options:?}");
    }
}

/// On wires that lend no responder, all goes by packets.
#[test]
fn writes_and_reads_need_no_cpu_of_the_owner() {
    let (_directory, program) = compiled("one_sided");
    let faults = ["--faults", "drop=10,dup=10,reorder=10,seed=1"];
    let modes = [(&[][..], &[][..]), (&["--link", "ethernet"], &[]), (STRICT, &["packets"]), (&faults, &["packets"])];
    for (options, arguments) in modes {
        let (code, output) = launch(options, &[&[program.as_str()], arguments].concat(), PATIENCE);
        assert_eq!((code, output.as_str()), (Some(0), ""), "{options:?}");
    }
}

#[test]
fn a_message_is_acknowledged_however_its_receiver_leaves() {
    let (_directory, program) = compiled("leaving");
    let rounds = if long() { "100" } else { "5" };
    for way in ["exit", "_exit", "kill", "exec", "destroy", "deregister", "error", "reset"] {
        let (code, output) = launch(&[], &[&program, way, rounds], PATIENCE);
        assert_eq!((code, output.as_str()), (Some(0), ""), "{way}");
    }
    // On its way, a packet is in the memory of its sender.
    for way in ["exit", "_exit", "destroy"] {
        let (code, output) = launch(&["--faults", "latency=3000"], &[&program, way, "1"], PATIENCE);
        assert_eq!((code, output.as_str()), (Some(0), ""), "{way} on a slow network");
    }
}

#[test]
fn peers_meet_whatever_their_processes_have_become() {
    let (_directory, program) = compiled("leaving");
    // SAFETY: takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    for becomes in ["full", "user", "root"] {
        if is_root || becomes == "full" {
            let (code, output) = launch(&[], &[&program, "_exit", "1", becomes], PATIENCE);
            assert_eq!((code, output.as_str()), (Some(0), ""), "{becomes}");
        }
    }
}

#[test]
fn a_stopped_peer_is_waited_for_and_a_dead_one_is_not() {
    let (_directory, program) = compiled("leaving");
    for options in [&[][..], &["--link", "ethernet"]] {
        let (code, output) = launch(options, &[&program, "stop", "1"], PATIENCE);
        assert_eq!((code, output.as_str()), (Some(0), ""), "{options:?}");
    }
}

#[test]
fn a_script_that_makes_no_sense_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("script.toml");
    std::fs::write(&script, "[[wqe]]\nnth = 1\nsyndrome = 0x77\n").expect("a script");
    let path = script.to_str().expect("UTF-8");
    let (code, output) = launch(&["--script", path], &["true"], PATIENCE);
    assert!(code == Some(71) && output.contains(path) && output.contains("no syndrome 0x77"), "{output}");
    std::fs::write(&script, "").expect("a script");
    let (code, output) = launch(&["--script", path], &["true"], PATIENCE);
    assert!(code == Some(0) && output.contains("the script has done nothing: it has no rows"), "{output}");
}

#[test]
fn a_script_that_does_nothing_is_no_success() {
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("script.toml");
    let path = script.to_str().expect("UTF-8");
    // The program sends far less.
    std::fs::write(&script, "[[wqe]]\nnth = 100000\nsyndrome = 0x15\n").expect("a script");
    let play = |command: &[&str]| launch(&["--script", path], command, PATIENCE);
    let (code, output) = play(&["ibv_devices"]);
    let told = output.contains("the script has done nothing: no row has met its count or its time");
    assert!(code == Some(72) && told, "{code:?}: {output}");
    // The program's own failure says more.
    let (code, output) = play(&["sh", "-c", "exit 3"]);
    assert!(code == Some(3) && output.contains("has done nothing"), "{code:?}: {output}");
    // A seed is no row: it changes the faults of the option.
    std::fs::write(&script, "seed = 7\n").expect("a script");
    assert_eq!(play(&["true"]).0, Some(0));
}
