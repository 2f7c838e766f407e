//! Runs each program of the how-to pages, and reads its output. Each program has a page and a test.
//!
//! The output of these programs belongs here, that of larger ones in `examples/tests`.
//!
//! The programs inherit the device from the environment. The first has all features except frames:
//!
//! ```text
//! softhca-run --generation connectx7 --
//! softhca-run --link ethernet --
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use blueflame::verbs::Device;
use blueflame::verbs::device::LinkLayer;
use blueflame_devx::Context;

/// A feature of the device that a program needs. Without it, the program fails with an error that has this text.
struct Needs {
    has: fn(&Device) -> bool,
    or: &'static str,
}

const ANY: Needs = Needs { has: |_| true, or: "" };
const XRC: Needs = Needs { has: |device| device.attr().xrc, or: "XRC" };
const ENCRYPTION: Needs = Needs { has: |device| device.attr().encryption.is_some(), or: "crypto" };
const WAIT_ON_TIME: Needs =
    Needs { has: |device| Context::over(device.clone()).wait_on_time().is_ok(), or: "wait_on_time" };
const WAIT_ON_DATA: Needs =
    Needs { has: |device| Context::over(device.clone()).wait_on_data().is_ok(), or: "wait_on_data" };
// No device matches tags on Ethernet.
const INFINIBAND: Needs = Needs { has: |device| !is_ethernet(device), or: "tag matching" };
const ETHERNET: Needs = Needs { has: is_ethernet, or: "no Ethernet port" };

fn is_ethernet(device: &Device) -> bool {
    device.port(1).expect("port 1").link_layer == LinkLayer::Ethernet
}

fn check(program: &str, needs: &Needs, lines: &[&str]) {
    let output = Command::new(program).output().expect("the program starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let complained = String::from_utf8_lossy(&output.stderr);
    let device = Device::options().devx(true).open_first().expect("run this by ./run test, or under softhca-run");
    if (needs.has)(&device) {
        assert!(output.status.success(), "{program}: {}\n{said}{complained}", output.status);
        let begin_alike = said.lines().zip(lines).all(|(said, line)| said.starts_with(line));
        assert!(begin_alike && said.lines().count() == lines.len(), "{program}: {said}not {lines:#?}");
    } else {
        assert_eq!(output.status.code(), Some(1), "{program}: {said}{complained}");
        assert!(complained.contains(needs.or) && said.is_empty(), "{program}: {said}{complained}");
    }
}

/// A test of each program, and the list of all: their names, their needs, the beginnings of their lines.
macro_rules! programs {
    ($($name:ident: $needs:expr, $lines:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check(env!(concat!("CARGO_BIN_EXE_", stringify!($name))), &$needs, &$lines);
            }
        )*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    aes_xts: ENCRYPTION, ["512 bytes were encrypted on the wire, and decrypted on their way back"];
    bursts: ANY, ["32 pages have arrived by one doorbell and one completion"];
    compressed_cqes: ANY, ["64 completions from a queue that the device compresses"];
    cross_channel: ANY, ["a message has started the prepared WRITE of another queue"];
    inline_and_gather: ANY, [
        "inline, gathered and both have arrived; 1024 bytes inline are refused, the limit is "
    ];
    memory: ANY, [
        "huge pages: 64 buffers of one registration",
        "registration cache: 1 region for 10 requests",
        "on-demand paging: written to a prefetched page, and to one that came by a fault",
        // Libraries and devices without handles are told.
        "DMA handle: ",
        "dma-buf: written to memory of another device",
        "memory window: 64 bytes lent, written and taken back",
        "indirect key: 2 pieces read as one region",
    ];
    messages: ANY, ["20 messages have arrived in 8 buffers"];
    prepare: ANY, ["8 prepared orders and a staged one have arrived"];
    raw_ethernet: ETHERNET, [
        "a frame of 60 bytes has left and arrived",
        "frames leave at 500 Mbit/s now",
        "a frame of a tunnel has left",
        "4 frames have left from one WQE"
    ];
    restart: ANY, ["20000 messages have arrived once each; 6 posters were killed"];
    shared_completion_queue: ANY, ["128 completions of 16 queue pairs, by one completion queue"];
    shared_receives: ANY, ["8 shared receives have taken 13 and 7 messages of 2 connections"];
    striding: ETHERNET, ["2000 frames have arrived in 4 buffers; another thread has read 20 of them"];
    t10_dif: ANY, ["2 blocks were signed; the device reports Some(Guard) at byte 520"];
    tag_matching: INFINIBAND, ["the device has matched tag 7, and left tag 9 to software"];
    timed_sends: WAIT_ON_TIME, ["a message has left 50ms after it was posted"];
    wait_for_word: WAIT_ON_DATA, ["a WRITE has waited until both parts of its page had come"];
    xrc: XRC, ["one connection has reached 2 shared receive queues"];
}

/// The program in Python of `docs/howto/testing.md`, by rdma-core's pyverbs.
#[test]
fn a_program_in_python() {
    let program = here().join("write.py");
    let output = Command::new("/usr/bin/python3").arg(&program).output().expect("python3 starts");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a WRITE of 5 bytes has arrived\n", "{complained}");
    assert!(output.status.success(), "{complained}");
}

/// The texts of the files in a folder whose names end in `end`, by their names without it.
fn texts(folder: &Path, end: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let text = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
        Some((name, fs::read_to_string(path).expect("UTF-8")))
    };
    paths.filter_map(text).collect()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The names of this folder's programs.
fn programs() -> BTreeSet<String> {
    let files = texts(here(), ".rs").into_iter().filter(|(_, text)| text.contains("\nfn main()"));
    files.map(|(name, _)| name).collect()
}

#[test]
fn each_program_has_a_test_and_is_in_the_help() {
    assert_eq!(programs(), TESTED.iter().map(|&name| name.to_owned()).collect());
    let help = fs::read_to_string(here().join("../../scripts/help/example")).expect("the text of `./run help example`");
    let missing: Vec<_> =
        programs().into_iter().filter(|name| !help.split_whitespace().any(|word| word == name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The code of each program, and the command that runs it, are on a page. `tools/tests/book.rs` compares the code.
#[test]
fn each_program_has_a_page() {
    let pages = texts(&here().join("../../docs/howto"), ".md");
    for name in programs() {
        let mark = format!("<!-- ../../examples/howto/{name}.rs:");
        let runs = |line: &str| line.starts_with("./run example") && line.split(' ').any(|word| word == name);
        let explains = |text: &String| text.contains(&mark) && text.lines().any(runs);
        assert!(pages.values().any(explains), "no page has the code of {name}, and the command that runs it");
    }
}
