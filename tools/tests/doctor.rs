//! `blueflame info` and `blueflame doctor` on software devices: sound ones pass, and faults that are planted are found.
//!
//! Reports, planted faults and exit codes of both belong here. Comparisons that no device can make fail belong beside
//! the checks, in `tools/src/bin/blueflame`.
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet --generation connectx7 --
//! softhca-run --link ethernet --generation connectx7 --clock both -- sound real_time
//! softhca-run --link ethernet --generation connectx6dx --clock real-time -- sound
//! softhca-run --generation connectx7 -- sound
//! softhca-run --link ethernet --inline-headers l2 -- sound
//! softhca-run --no-write-combining -- sound
//! softhca-run --static-uars -- sound
//! softhca-run --link ethernet --generation connectx7 --strict -- strict_mode
//! softhca-run --link ethernet --ports 2 -- second_port
//! ```
//!
//! `docs/doctor-report.md` has the report of the first two devices. After a change:
//! `BLESS=1 ./run test tools/tests/doctor.rs -- page`.

#![cfg(feature = "device")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;

/// Checks, and the damage by which each must fail (`softhca-run --help`, `--damage`).
const PLANTED: &[(&str, &str)] = &[
    ("doorbells.nop", "cqe@61=1"),
    ("doorbells.copies", "data@0=1"),
    ("loopback.rc", "data@0=1"),
    ("loopback.rc", "cqe@47=1"),
    ("loopback.atomics", "data@0=1"),
    ("loopback.uc", "data@0=0x80"),
    ("loopback.in_order", "data@100=1"),
    ("loopback.large", "data@100=1"),
    ("loopback.second_port", "data@0=1"),
    ("loopback.ud", "data@41=1"),
    ("loopback.xrc", "data@0=1"),
    ("loopback.dc", "data@0=1"),
    ("loopback.shared", "data@0=1"),
    ("twins.keys", "data@0=1"),
    ("twins.wraps", "data@7=1"),
    ("twins.wraps_wide", "cqe@47=1"),
    ("completions.wraps", "data@7=1"),
    ("completions.wide", "cqe@47=1"),
    ("completions.inline", "cqe@0=1"),
    // Behind the messages: in the arrays of mini-CQEs.
    ("completions.compressed_hash", "data@63=1"),
    ("completions.compressed_checksum", "data@63=1"),
    ("clocks.free_running", "cqe@52=0x80"),
    ("clocks.real_time", "cqe@52=0x80"),
    ("errors.remote_access", "cqe@55=6"),
    ("errors.local_protection", "cqe@55=6"),
    ("errors.length", "cqe@55=6"),
    ("errors.no_receive", "cqe@55=6"),
    ("errors.no_answer", "cqe@55=6"),
    ("errors.flush", "cqe@55=6"),
    ("keys.window_2", "data@0=1"),
    ("keys.window_1", "data@0=1"),
    ("keys.indirect", "data@0=1"),
    ("keys.on_demand", "data@0=1"),
    ("keys.copy", "data@0=1"),
    ("keys.signature", "data@0=1"),
    ("keys.encryption", "data@0=1"),
    ("tags.matching", "data@0=1"),
    ("chains.completions", "data@0=1"),
    ("chains.word", "data@0=1"),
    // The clock seems to be two seconds ahead or behind.
    ("chains.time_near", "cqe@52=0x80"),
    ("chains.time_far", "cqe@52=0x80"),
    ("ethernet.frames", "data@20=1"),
    ("ethernet.frames", "cqe@59=1"),
    ("ethernet.sessions", "data@20=1"),
    ("ethernet.large_send", "data@60=1"),
    ("ethernet.striding", "data@20=1"),
    ("ethernet.striding_compressed", "data@20=1"),
    ("ethernet.pacing", "data@20=1"),
    // The kind of the header of layer 4, in the first of eight mini-CQEs.
    ("ethernet.header_minis", "data@0=0x10"),
    ("devx.rings", "data@0=1"),
    ("devx.frames", "data@20=1"),
    ("programs.pingpong", "data@0=1"),
    // A success becomes an error.
    ("programs.latency", "cqe@63=0xd0"),
];

/// Checks, and the scripts of failures by which each must fail (`docs/howto/chaos.md`).
const SCRIPTED: &[(&str, &str)] = &[
    ("loopback.shared", "[[event]]\nkind = \"srq-limit\"\nfate = \"never\"\n"),
    // CREATE_CQ.
    ("completions.formats", "[[refuse]]\nmailbox = 0x400\nnth = 2\nstatus = 0x03\n"),
];

/// Checks that fail for other reasons than a damaged write.
const OTHERWISE: &[&str] = &["environment.memory", "environment.pcie"];

/// Checks that no software device can make fail. Tests beside them give them wrong values.
const BESIDE: &[&str] = &[
    "environment.libraries",
    "doorbells.write_combining",
    "twins.rc",
    "twins.ud",
    "twins.xrc",
    "twins.dc",
    "twins.frames",
];

/// Checks without a planted fault: the device does not write the memory that they read.
const NONE: &[&str] = &["clocks.page"];

fn blueflame(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blueflame"));
    command.args(arguments).envs(environment.iter().copied()).output().expect("runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Examines the device with these arguments and variables. The exit code, and the report.
fn doctor(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let path = path.to_str().expect("a name");
    let output = blueflame(&[&["doctor", "--json", path], arguments].concat(), environment);
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), serde_json::from_str(&text).expect("JSON"))
}

fn word<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("no {field} in {row}"))
}

fn rows(report: &Value) -> &[Value] {
    report["checks"].as_array().expect("checks")
}

/// The capabilities that the device, its port or the process lacks.
fn lacking(report: &Value) -> BTreeSet<&str> {
    let all = report["device"]["capabilities"].as_array().expect("capabilities").iter();
    all.filter(|capability| capability["available"] == false).map(|capability| word(capability, "name")).collect()
}

/// Names in the list of checks.
fn listed() -> Vec<String> {
    let list = text(&blueflame(&["doctor", "--list"], &[]));
    list.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The exit code, the report and the page of all checks. They run once for all tests of a device.
fn whole() -> &'static (Option<i32>, Value, String) {
    static WHOLE: OnceLock<(Option<i32>, Value, String)> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.html");
        // The machine may be busy.
        let html = path.to_str().expect("a name");
        let (code, report) = doctor(&["--html", html, "--patience", "60"], &[]);
        (code, report, fs::read_to_string(path).expect("a page"))
    })
}

#[test]
fn sound_devices_pass() {
    let (code, report, page) = whole();
    let failed: Vec<_> = rows(report).iter().filter(|row| row["outcome"] == "failed").collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(*code, Some(0));
    let names: Vec<_> = rows(report).iter().map(|row| word(row, "id").to_owned()).collect();
    assert_eq!(names, listed(), "each check has a row");
    // A skipped check names a capability that is not there.
    let lacking = lacking(report);
    for row in rows(report).iter().filter(|row| row["outcome"] == "skipped") {
        assert!(lacking.contains(word(row, "missing")), "{row}");
    }
    let count = |outcome: &str| rows(report).iter().filter(|row| row["outcome"] == outcome).count();
    for outcome in ["passed", "failed", "skipped"] {
        assert_eq!(report["summary"][outcome], count(outcome), "{outcome}");
    }
    assert!(count("passed") > 30, "most checks run on any device");
    for row in rows(report) {
        assert!(page.contains(word(row, "id")), "{row}");
    }
    assert!(!page.contains("http"), "nothing outside of the page");
}

/// In strict mode, the device itself compares each copy in a register with the ring. The launcher tells its complaints.
/// Each doorbell takes milliseconds, so checks of many requests are left out.
#[test]
fn strict_mode_has_no_complaint() {
    let twins = ["rc", "ud", "xrc", "dc", "frames", "keys"].map(|check| format!("twins.{check}"));
    let loopback = ["rc", "atomics", "uc", "large", "ud", "xrc", "dc"].map(|check| format!("loopback.{check}"));
    let queues = twins.iter().chain(&loopback).map(String::as_str);
    let checks = ["doorbells.copies", "keys", "ethernet"].into_iter().chain(queues);
    let arguments: Vec<_> = checks.flat_map(|check| ["--only", check]).collect();
    let (code, report) = doctor(&arguments, &[]);
    assert_eq!((code, &report["summary"]["failed"]), (Some(0), &0.into()), "{report:#}");
}

/// The frames of all doctors go to the one address of the port; each receives its own alone.
#[test]
fn two_doctors_may_examine_a_port_at_once() {
    let together = || doctor(&["--only", "ethernet", "--only", "devx", "--only", "loopback"], &[]);
    let reports: Vec<_> = thread::scope(|scope| {
        let doctors: Vec<_> = (0..2).map(|_| scope.spawn(together)).collect();
        doctors.into_iter().map(|doctor| doctor.join().expect("a report")).collect()
    });
    for (code, report) in reports {
        assert_eq!(code, Some(0), "{report:#}");
    }
}

/// Whether a planted fault was found; a check that is skipped finds none.
fn finds(check: &str, damage: &str) -> bool {
    let (code, report) = doctor(&["--only", check, "--patience", "6"], &[("SOFTHCA_DAMAGE", damage)]);
    let [row] = rows(&report) else { panic!("one check: {report}") };
    match word(row, "outcome") {
        "skipped" => {
            assert!(lacking(&report).contains(word(row, "missing")), "{row}");
            return false;
        }
        outcome => assert_eq!(outcome, "failed", "{damage}: {row}"),
    }
    assert_eq!(code, Some(1), "{row}");
    assert!(!word(row, "means").is_empty());
    true
}

#[test]
fn planted_faults_are_found() {
    let found = PLANTED.iter().filter(|(check, damage)| finds(check, damage)).count();
    assert!(found > 25, "only {found} checks ran");
}

#[test]
fn scripted_failures_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    let (script, timeline) = (file("script.toml"), file("timeline"));
    for (check, text) in SCRIPTED {
        fs::write(&script, text).expect("written");
        let environment = [("SOFTHCA_SCRIPT", script.as_str()), ("SOFTHCA_TIMELINE", timeline.as_str())];
        let (code, report) = doctor(&["--only", check, "--patience", "0.3"], &environment);
        assert_eq!((code, &rows(&report)[0]["outcome"]), (Some(1), &"failed".into()), "{report}");
    }
}

/// Devices of one port skip the check.
#[test]
fn the_second_port_is_examined() {
    let (code, report) = doctor(&["--only", "loopback.second_port"], &[]);
    assert_eq!(code, Some(0), "{report}");
    let (planted, damage) = PLANTED.iter().find(|(check, _)| *check == "loopback.second_port").expect("a fault");
    let has_two = std::env::var("SOFTHCA_PORTS").is_ok_and(|ports| ports == "2");
    let outcome = if has_two { "passed" } else { "skipped" };
    assert_eq!(word(&rows(&report)[0], "outcome"), outcome);
    assert_eq!(finds(planted, damage), has_two);
}

/// Only queues of Ethernet ports have real time.
#[test]
fn a_wrong_real_time_is_found() {
    let planted = PLANTED.iter().filter(|(check, _)| *check == "clocks.real_time");
    let mut found = planted.filter(|(check, damage)| finds(check, damage)).count();
    let (_, report) = doctor(&["--only", "clocks.page"], &[]);
    found += usize::from(lacking(&report).contains("real-time timestamps"));
    assert_eq!(found, 1);
}

#[test]
fn each_check_has_a_fault_or_says_that_it_has_none() {
    let all: BTreeSet<String> = listed().into_iter().collect();
    let others = [OTHERWISE, BESIDE, NONE].concat();
    let found = PLANTED.iter().chain(SCRIPTED).map(|(check, _)| *check);
    let known: BTreeSet<String> = found.chain(others.iter().copied()).map(str::to_owned).collect();
    assert_eq!(all, known);
    assert!(PLANTED.iter().all(|(check, _)| !others.contains(check)));
}

#[test]
fn too_little_locked_memory_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    // Enough for queues.
    let script = "ulimit -l 3000 && exec \"$0\" doctor --only environment.memory --json \"$1\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_blueflame")]).arg(&path);
    let output = command.env("SOFTHCA_MEMLOCK", "everybody").output().expect("runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: Value = serde_json::from_str(&fs::read_to_string(path).expect("a report")).expect("JSON");
    assert_eq!(rows(&report)[0]["outcome"], "failed", "{report}");
}

/// Copies a tree with its symbolic links.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (kind, target) = (entry.file_type().expect("a kind"), to.join(entry.file_name()));
        if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).expect("a link"), target).expect("a link");
        } else if kind.is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::write(target, fs::read(entry.path()).expect("read")).expect("written");
        }
    }
}

#[test]
fn a_slow_slot_is_found() {
    let tree = std::env::var("SOFTHCA_SYSFS").expect("run by ./run test, or under softhca-run");
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("sys");
    copy(Path::new(&tree), &root);
    let width = fs::canonicalize(root.join("class/infiniband/mlx5_0/device")).expect("a function");
    fs::write(width.join("current_link_width"), "8\n").expect("written");
    let sysfs = root.to_str().expect("a name");
    let (code, report) = doctor(&["--only", "environment.pcie"], &[("SYSFS_PATH", sysfs), ("SOFTHCA_SYSFS", sysfs)]);
    assert_eq!((code, &rows(&report)[0]["outcome"]), (Some(1), &"failed".into()), "{report}");
    assert!(word(&rows(&report)[0], "seen").contains("63 Gbit/s"), "{report}");
}

#[test]
fn without_a_link_the_rest_is_checked() {
    let fabric = tempfile::tempdir().expect("a folder");
    fs::write(fabric.path().join("mlx5_0-1.down"), []).expect("written");
    let fabric = fabric.path().to_str().expect("a name");
    let (code, report) = doctor(&[], &[("SOFTHCA_FABRIC", fabric)]);
    assert_eq!(code, Some(0), "{report:#}");
    let outcome = |id: &str| {
        let row = rows(&report).iter().find(|row| row["id"] == id).expect("a row");
        (word(row, "outcome").to_owned(), row["missing"].as_str().map(str::to_owned))
    };
    assert_eq!(outcome("doorbells.nop"), ("passed".to_owned(), None));
    assert_eq!(outcome("loopback.rc"), ("skipped".to_owned(), Some("a link that is up".to_owned())));
}

#[test]
fn a_report_on_standard_output_is_alone_there() {
    let output = blueflame(&["doctor", "--only", "environment.memory", "--json", "-"], &[]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON, and nothing else");
    assert_eq!(report["checks"].as_array().map(Vec::len), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("environment.memory"), "{output:?}");
}

#[test]
fn exit_codes_tell_wrong_calls_from_failures() {
    let code = |arguments: &[&str]| blueflame(arguments, &[]).status.code();
    assert_eq!(code(&["doctor", "-d", "mlx5_99"]), Some(2));
    assert_eq!(code(&["doctor", "--only", "nothing.such"]), Some(2));
    assert_eq!(code(&["doctor", "--patience", "-1"]), Some(2));
    assert_eq!(code(&["doctor", "--only", "environment"]), Some(0));
    assert_eq!(code(&["doctor", "--only", "environment.memory", "--json", "/no/such/folder/file"]), Some(2));
    assert_eq!(code(&["info", "-d", "mlx5_99"]), Some(2));
}

#[test]
fn colours_are_for_terminals() {
    let escape = |arguments: &[&str]| text(&blueflame(arguments, &[])).contains('\x1b');
    for command in [["doctor", "--only", "environment"].as_slice(), &["info"]] {
        assert!(!escape(command), "a pipe");
        assert!(escape(&[command, &["--color", "always"]].concat()));
    }
}

#[test]
fn info_tells_what_the_device_can_do() {
    let output = blueflame(&["info", "--json"], &[]);
    assert_eq!(output.status.code(), Some(0));
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let device = &info["devices"][0];
    assert_eq!(word(device, "name"), "mlx5_0");
    assert_eq!(word(device, "vendor_id"), "0x02c9");
    assert_eq!(device["register"]["device_memory"], false, "a software device");
    let port = &device["ports"][0];
    assert_eq!((word(port, "state"), word(port, "rate")), ("Active", "100 Gb/sec (4X EDR)"));
    assert!(!port["gids"].as_array().expect("GIDs").is_empty());
    let is_ethernet = word(port, "link_layer") == "Ethernet";
    for capability in device["capabilities"].as_array().expect("capabilities") {
        assert_eq!(capability["available"] == true, capability.get("why_not").is_none(), "{capability}");
        if word(capability, "name") == "an Ethernet port" {
            assert_eq!(capability["available"], is_ethernet);
        }
    }
    // The text output has these facts, too.
    let shown = text(&blueflame(&["info", "-d", "mlx5_0"], &[]));
    for part in ["firmware", "doorbell register", "ordinary memory", "what the crate can do on mlx5_0", "libmlx5 of"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// The device's heading in `docs/doctor-report.md`, if the page has this device.
fn heading(report: &Value) -> Option<&'static str> {
    let lacking = lacking(report);
    if lacking.contains("BlueFlame") || !lacking.contains("real-time timestamps") {
        return None;
    }
    match (word(&report["device"], "vendor_part_id"), word(&report["device"]["ports"][0], "link_layer")) {
        ("0x1017", "InfiniBand") => Some("## ConnectX-5, InfiniBand\n\n"),
        ("0x1021", "Ethernet") => Some("## ConnectX-7, Ethernet\n\n"),
        _ => None,
    }
}

/// The report as a table. Seconds and figures are left out, as they differ from run to run.
fn table(report: &Value) -> String {
    let mut table = "| check | outcome | seen |\n|---|---|---|\n".to_owned();
    for row in rows(report) {
        let seen = match word(row, "outcome") {
            "skipped" => format!("needs {}: {}", word(row, "missing"), word(row, "seen")),
            _ => word(row, "seen").to_owned(),
        };
        let cells =
            [word(row, "id"), word(row, "title"), word(row, "outcome"), &seen].map(|cell| cell.replace('|', "\\|"));
        let [id, title, outcome, seen] = cells;
        table += &format!("| `{id}`: {title} | {outcome} | {seen} |\n");
    }
    table
}

#[test]
fn the_page_has_this_report() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/doctor-report.md");
    let page = fs::read_to_string(path).expect("the page");
    let (_, report, _) = whole();
    let Some(heading) = heading(report) else { return };
    let (before, rest) = page.split_once(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let (found, after) = rest.find("\n## ").map_or((rest, ""), |end| rest.split_at(end));
    let table = table(report);
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, format!("{before}{heading}{table}{after}")).expect("written");
    } else {
        for (found, row) in found.lines().zip(table.lines()) {
            assert_eq!(found, row, "BLESS=1 ./run test tools/tests/doctor.rs -- page");
        }
        assert_eq!(found.lines().count(), table.lines().count());
    }
}
