//! Receivers of Ethernet frames: queue pairs for raw packets, work queues, tables of them, and flows.
//!
//! Receivers by verbs belong here, those by mailboxes in `softhca/tests/ethernet`.

use crate::pair::STRICT;
use crate::program::{compiled, launch};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const ETHERNET: [&str; 2] = ["--link", "ethernet"];

/// Programs that pass on Linux' own driver of the device, too: `./run guest`.
#[test]
fn flows_and_hashes_say_who_receives() {
    let ((directory, frames), (_other, queues)) = (compiled("frames"), compiled("work_queues"));
    for mode in [&[][..], STRICT, &["--static-uars"], &["--generation", "connectx7"]] {
        let options = [&ETHERNET, mode].concat();
        for program in [&frames, &queues] {
            assert_eq!(launch(&options, &[program], PATIENCE), (Some(0), String::new()), "{options:?}");
        }
    }
    assert_eq!(launch(&[], &[&queues, "infiniband"], PATIENCE), (Some(0), String::new()));
    // With a cable, whose other end nobody has.
    let wire = format!("socket:{}", directory.path().join("cable").display());
    let alone = ["--link", "ethernet", "--wire", &wire];
    assert_eq!(launch(&alone, &[&frames, "alone"], PATIENCE), (Some(0), String::new()));
    // The one complaint is that of the CQ.
    let (code, output) = launch(&ETHERNET, &[&queues, "full"], PATIENCE);
    assert!(code == Some(0) && output.contains("has 1 complaint(s)") && output.contains("overran"), "{output}");
    assert!(!output.contains("not so"), "{output}");
}

#[test]
fn flows_modify_headers_and_registers() {
    let (_directory, program) = compiled("modified");
    for mode in [&[][..], STRICT, &["--generation", "connectx7"]] {
        // The device's messages about bad lists are no fault of the program.
        let options = [&ETHERNET, mode, &["--log", "error"]].concat();
        assert_eq!(launch(&options, &[&program], PATIENCE), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn one_wqe_sends_several_frames() {
    let (_directory, program) = compiled("multi_packet");
    for mode in [&[][..], STRICT, &["--static-uars"]] {
        // The device's messages about bad WQEs are no fault of the program.
        let options = [&ETHERNET, mode, &["--log", "error"]].concat();
        assert_eq!(launch(&options, &[&program], PATIENCE), (Some(0), String::new()), "{options:?}");
    }
    for headers in ["l2", "ip"] {
        let options = [&ETHERNET[..], &["--inline-headers", headers]].concat();
        // The one complaint is that of the WQE.
        let (code, output) = launch(&options, &[&program, "headers"], PATIENCE);
        assert!(code == Some(0) && !output.contains("not so"), "{headers}: {code:?}\n{output}");
    }
}

#[test]
fn one_wqe_receives_several_frames() {
    let (_directory, program) = compiled("striding");
    for (generation, fewest) in [("connectx5", "9"), ("connectx6dx", "3"), ("connectx7", "3"), ("connectx8", "3")] {
        for mode in [&[][..], STRICT] {
            let options = [&ETHERNET, &["--generation", generation], mode].concat();
            assert_eq!(launch(&options, &[&program, fewest], PATIENCE), (Some(0), String::new()), "{options:?}");
        }
    }
}

/// perftest with frames of its own making. It meets nobody by TCP: the client begins when the server says that it
/// receives.
#[test]
fn perftest_with_frames() {
    let script = r#"
        tool=$1 said=$2; shift 2
        stdbuf -oL $tool --server -d mlx5_0 -B 02:00:00:00:00:02 -E 02:00:00:00:00:01 -F -n 200 "$@" >$said 2>&1 &
        until grep -q 'attached\|spec_info' $said; do kill -0 $! || break; sleep 0.1; done
        sleep 1
        $tool --client -d mlx5_0 -B 02:00:00:00:00:01 -E 02:00:00:00:00:02 -F -n 200 "$@" && wait $! && cat $said"#;
    let directory = tempfile::tempdir().expect("a directory for what is said");
    let said = directory.path().join("said").display().to_string();
    let udp = ["-j", "10.0.0.2", "-J", "10.0.0.1", "-k", "4000", "-K", "5000"];
    for (tool, arguments) in
        [("raw_ethernet_bw", &[][..]), ("raw_ethernet_bw", &udp), ("raw_ethernet_lat", &[]), ("raw_ethernet_lat", &udp)]
    {
        let command = [&["sh", "-c", script, "sh", tool, &said], arguments].concat();
        let (code, output) = launch(&ETHERNET, &command, PATIENCE);
        // A row of results of each side: bytes, iterations.
        let rows = output.lines().filter(|line| line.split_whitespace().nth(1) == Some("200")).count();
        assert!(code == Some(0) && rows == 2, "{tool} {arguments:?}: {code:?}\n{output}");
    }
}
