//! Captures of programs (`--pcap`): in the files, `tshark` finds the packets of both ends, nothing malformed, and the
//! packets that were dropped on purpose. The launcher gives each process a file of its own.
//!
//! Files of real programs belong here, the bytes of each packet in `softhca/src/wire`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::pair::{Device, launch_on};
use super::program::{compiled, launch};

/// Runs both ends of a ping-pong under one launcher; the captures of both, by size of their names.
///
/// With drops, an end can lose the last acknowledgement of its peer, whose program has ended: then both run again.
fn captured(directory: &Path, options: &[&str], port: &str, arguments: &str) -> Vec<PathBuf> {
    let file = directory.join("both.pcapng");
    let with_file = [options, &["--pcap", file.to_str().expect("a path of text")]].concat();
    let tool = format!("ibv_rc_pingpong -p {port} -n 50 -c {arguments}");
    let client = format!("for try in $(seq 50); do {tool} localhost && break; sleep 0.2; done");
    let both = format!("{tool} & {client}; wait $!");
    for attempts_left in (0..if options.contains(&"--faults") { 6 } else { 1 }).rev() {
        let (code, output) = launch_on(&Device::new(&with_file), &["sh", "-c", &both], Duration::from_secs(60));
        if code == Some(0) {
            break;
        }
        let is_last_lost = attempts_left > 0 && output.contains("transport retry counter exceeded");
        assert!(is_last_lost, "{code:?}: {output}");
        std::fs::read_dir(directory).expect("the directory").for_each(|entry| {
            std::fs::remove_file(entry.expect("a file").path()).expect("removed");
        });
    }
    let files = std::fs::read_dir(directory).expect("the directory").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort_by_key(|path| path.as_os_str().len());
    files
}

/// Values of a field of the packets that `filter` lets pass.
fn tshark(file: &Path, filter: &str, field: &str) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-Y", filter, "-T", "fields", "-e", field]);
    let output = command.output().expect("tshark runs: it is in the Debian package `tshark`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn check(options: &[&str], port: &str, arguments: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let files = captured(directory.path(), options, port, arguments);
    assert!(files.len() >= 2, "{files:?}");
    // The client may have tried before the server was there, and then its file has no packets.
    let talked: Vec<_> = files.iter().filter(|file| !tshark(file, "infiniband", "frame.number").is_empty()).collect();
    assert_eq!(talked.len(), 2, "{files:?}");
    for file in talked {
        assert_eq!(tshark(file, "_ws.malformed || !infiniband", "frame.number"), Vec::<String>::new());
        let (sends, acks) = ("infiniband.bth.opcode == 0 || infiniband.bth.opcode == 2", "infiniband.bth.opcode == 17");
        assert!(tshark(file, sends, "infiniband.bth.psn").len() >= 100, "SEND First and Last");
        assert!(tshark(file, acks, "infiniband.aeth.syndrome").iter().any(|syndrome| syndrome == "31"));
        let dropped = tshark(file, "frame.comment contains \"dropped\"", "frame.interface_name");
        assert_eq!(dropped.is_empty(), !options.contains(&"--faults"), "{dropped:?}");
        assert!(dropped.iter().all(|interface| interface == "mlx5_0-1"));
    }
}

#[test]
fn both_ends_are_captured_on_infiniband() {
    check(&[], "18591", "");
}

#[test]
fn both_ends_are_captured_on_ethernet_with_drops() {
    check(&["--link", "ethernet", "--faults", "drop=100,seed=5"], "18592", "-g 3");
}

/// The NAK's packet says which key it was, as does the launcher at the end.
#[test]
fn a_refusal_is_explained_in_the_capture_and_at_the_end() {
    const TITLE: &str = "softhca-run: why requests were refused or failed:";
    let (_directory, program) = compiled("explained");
    let patience = Duration::from_secs(30);
    for (options, poll, code, is_explained) in [
        (&[][..], "polls", "0", false),
        (&[], "polls", "3", true),
        (&[], "leaves", "0", true),
        (&["--explain=never"], "leaves", "3", false),
        (&["--explain=always"], "polls", "0", true),
        (&["--explain"], "polls", "0", true),
    ] {
        let (end, output) = launch(options, &[&program, poll, code], patience);
        assert_eq!((end, output.contains(TITLE)), (Some(code.parse().unwrap()), is_explained), "{options:?} {output}");
        assert_eq!(output.is_empty(), !is_explained, "{options:?} {poll} {output}");
        if is_explained {
            let says =
                |what| assert!(output.lines().filter(|line| line.contains(what)).count() == 1, "{what}: {output}");
            says(" names no memory: there is no such key, or no longer");
            says(" fails (remote access error): the peer has refused it: remote access error");
            let unread = output.contains("mlx5_0: an error completion was never polled");
            assert_eq!(unread, poll == "leaves", "{output}");
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("refused.pcapng");
    let options = ["--pcap", file.to_str().expect("a path of text")];
    assert_eq!(launch(&options, &[&program, "polls", "0"], patience), (Some(0), String::new()));
    let explained = "infiniband.aeth && frame.comment contains \"names no memory\"";
    let naks = tshark(&file, explained, "infiniband.aeth.syndrome.error_code");
    assert!(!naks.is_empty(), "a NAK has the reason as its comment");
}

/// Routers spread connections by these ports.
#[test]
fn a_connection_sends_from_the_port_that_libmlx5_sets() {
    let (_directory, program) = compiled("source_port");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("ports.pcapng");
    let options = ["--link", "ethernet", "--pcap", file.to_str().expect("a path of text")];
    assert_eq!(launch(&options, &[&program], Duration::from_secs(20)), (Some(0), String::new()));
    let ports = tshark(&file, "infiniband.bth.opcode == 10", "udp.srcport");
    let (first, last) = (ports.first().expect("the first WRITE"), ports.last().expect("the second WRITE"));
    assert!(first != "55555" && last == "55555", "{ports:?}");
}
