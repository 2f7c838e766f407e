//! Runs each program for a moment and looks at what it says. By way of `./run test`, which starts this on the software device;
//! the programs inherit the device from the environment.

use std::process::Command;

use serde_json::Value;

/// Runs a program with `args`, separated by spaces; it must succeed. What it prints.
fn run(program: &str, args: &str) -> String {
    let output = Command::new(program).args(args.split_whitespace()).output().expect("the program starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args}: {}\n{said}{complained}", output.status);
    said
}

/// What it prints with `--json`.
fn json(program: &str, args: &str) -> Value {
    let said = run(program, &format!("{args} --json"));
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{program} {args}: {error} in {said:?}"))
}

#[test]
fn rc_pingpong() {
    let program = env!("CARGO_BIN_EXE_rc_pingpong");
    for how in ["", "--events"] {
        let report = json(program, &format!("--local -n 100 -s 3000 {how}"));
        assert_eq!((&report["messages"], &report["bytes_verified"]), (&200.into(), &300_000.into()));
        assert!(report["round_trip_us"]["p50"].as_f64().is_some_and(|us| us > 0.0), "{report}");
    }
}

#[test]
fn rdma_operations() {
    for how in ["spin", "block", "fd"] {
        let said = run(env!("CARGO_BIN_EXE_rdma_operations"), &format!("--local --wait {how}"));
        assert_eq!(said.lines().filter(|line| line.starts_with("verified")).count(), 3, "{said}");
    }
}

#[test]
fn write_latency() {
    let program = env!("CARGO_BIN_EXE_write_latency");
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("histogram.svg");
    // Inline, from memory, and for a time.
    for (args, bytes) in [("-s 64 -n 200", 64), ("-s 100 -n 200", 100), ("-s 8 -I 0 -n 200", 8)] {
        let report = json(program, &format!("--local {args} --svg {}", svg.display()));
        assert_eq!((&report["bytes"], &report["iterations"]), (&bytes.into(), &200.into()), "{report}");
        assert!(report["latency_us"]["p99"].as_f64().is_some_and(|us| us > 0.0), "{report}");
    }
    assert!(std::fs::read_to_string(svg).expect("the histogram").contains("WRITE of 8 bytes"));
    let report = json(program, "--local -D 0.2");
    assert!(report["iterations"].as_u64().is_some_and(|iterations| iterations > 10), "{report}");
    let all = run(program, "--local -a -n 5 --json");
    assert_eq!(all.lines().count(), 23, "{all}");
}

#[test]
fn storage_target() {
    let report = json(env!("CARGO_BIN_EXE_storage_target"), "--local -D 0.9 -s 1000");
    let initiators = report["initiators"].as_array().expect("a list");
    assert_eq!(initiators.len(), 4, "{report}");
    for one in initiators {
        assert!(one["bytes_verified"].as_u64().is_some_and(|bytes| bytes >= 1000), "{report}");
    }
    let deaths = report["deaths"].as_array().expect("a list");
    assert_eq!((deaths.len(), &deaths[0]["number"]), (1, &3.into()), "{report}");
    assert!(deaths[0]["others_meanwhile"].as_u64().is_some_and(|commands| commands > 0), "{report}");
}

#[test]
fn reconnect() {
    let report = json(env!("CARGO_BIN_EXE_reconnect"), "--local -D 2");
    let last = report["deaths"].as_array().and_then(|deaths| deaths.last()).expect("a death");
    assert!(last["error"].as_str().is_some_and(|error| error.contains("did not answer")), "{report}");
    assert!(report["messages"].as_u64() > last["resumed_at"].as_u64(), "{report}");
}

#[test]
fn tokio() {
    let program = env!("CARGO_BIN_EXE_tokio");
    // More tasks than requests may be outstanding, and fewer.
    for args in ["--tasks 8 -t 3 -n 20 -s 5000", "--tasks 1 -t 4 -n 20 -s 1"] {
        let report = json(program, &format!("--local {args}"));
        let tasks = if args.contains("--tasks 8") { 8 } else { 1 };
        assert_eq!(report["round_trips"], 20 * tasks, "{report}");
        assert!(report["bytes_verified"].as_u64() >= report["round_trips"].as_u64(), "{report}");
    }
}

#[test]
fn adopt() {
    let said = run(env!("CARGO_BIN_EXE_adopt"), "");
    assert!(said.contains("written and read back: 96 bytes") && said.contains("received:"), "{said}");
}
