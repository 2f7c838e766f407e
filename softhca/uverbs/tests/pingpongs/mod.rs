//! rdma-core's ping-pongs: over each transport, with losses, page faults and shared registers.
//!
//! The ping-pongs of rdma-core belong here; its other programs belong in `rdma_core`, perftest in `perftest`.

use crate::pair::{self, Device, STRICT, pair};
use crate::{LOSSY, STATIC, in_turn};

/// rdma-core's ping-pongs check with `-c` that the sent bytes arrive.
const PINGPONGS: &[(&str, &[&str])] = &[
    ("ibv_rc_pingpong", &["-c"]),
    ("ibv_rc_pingpong", &["-c", "-e"]),
    ("ibv_rc_pingpong", &["-c", "-N"]),
    ("ibv_rc_pingpong", &["-c", "-t"]),
    ("ibv_rc_pingpong", &["-c", "-s", "100000"]),
    ("ibv_rc_pingpong", &["-c", "-e", "-N", "-s", "100000", "-m", "1024"]),
    ("ibv_uc_pingpong", &["-c"]),
    ("ibv_uc_pingpong", &["-c", "-e"]),
    ("ibv_ud_pingpong", &["-c"]),
    ("ibv_ud_pingpong", &["-c", "-e"]),
    ("ibv_srq_pingpong", &["-c"]),
    ("ibv_srq_pingpong", &["-c", "-e"]),
];

/// Of those, what survives a network that loses frames.
const RELIABLE_PINGPONGS: &[(&str, &[&str])] = &[
    ("ibv_rc_pingpong", &["-c"]),
    ("ibv_rc_pingpong", &["-c", "-e"]),
    ("ibv_rc_pingpong", &["-c", "-s", "100000"]),
    ("ibv_srq_pingpong", &["-c"]),
];

fn pingpongs(device: &[&'static str], cases: &[(&str, &[&str])]) {
    let iterations = in_turn(200);
    for &(tool, arguments) in cases {
        let count = iterations.to_string();
        let arguments: Vec<&str> = [&["-n", &count], arguments].concat();
        for output in pair(&Device::new(device), tool, &arguments) {
            assert!(output.contains(&format!("{iterations} iters in")), "{tool} {arguments:?}:\n{output}");
            // It prints this when the bytes differ, and goes on.
            assert!(!output.contains("invalid data"), "{tool} {arguments:?}:\n{output}");
        }
    }
}

#[test]
fn pingpong() {
    pingpongs(&[], PINGPONGS);
}

/// valgrind hides the kernel's fast system calls, and knows of each byte whether it was written. Programs in it are too
/// slow for the timers of reliable connections.
#[test]
fn pingpong_under_valgrind() {
    let tool = "valgrind --quiet --error-exitcode=9 ibv_uc_pingpong";
    for output in pair(&Device::new(&[]), tool, &["-c", "-n", "5"]) {
        assert!(output.contains("5 iters in") && !output.contains("invalid data"), "{output}");
    }
}

#[test]
fn pingpong_strict() {
    pingpongs(STRICT, PINGPONGS);
}

#[test]
fn pingpong_lossy() {
    pingpongs(LOSSY, RELIABLE_PINGPONGS);
}

/// libmlx5 hides receives from an SRQ that met a page fault, and posts them again.
#[test]
fn pingpong_with_page_faults() {
    let faults = &["--faults", "odp=300", "--strict"];
    pingpongs(faults, &[("ibv_srq_pingpong", &["-c"]), ("ibv_srq_pingpong", &["-c", "-e"])]);
    // It does not hide those out of sequence: so it is seen that the device produces them.
    let (_, outputs) = pair::attempt(&Device::new(&["--faults", "psn=300"]), "ibv_srq_pingpong", &["-c"]);
    assert!(outputs.iter().any(|output| output.contains("aborted")), "{outputs:?}");
}

#[test]
fn pingpong_on_ethernet() {
    // GID 1 has type RoCE v2 and is made of the MAC address, GID 3 of the IPv4 address.
    let ethernet = &["--link", "ethernet", "--devices", "2", "--ports", "2"];
    let cases: &[(&str, &[&str])] = &[
        ("ibv_rc_pingpong", &["-c", "-g", "1"]),
        ("ibv_rc_pingpong", &["-c", "-g", "3", "-d", "mlx5_1", "-i", "2"]),
        ("ibv_ud_pingpong", &["-c", "-g", "1"]),
        ("ibv_srq_pingpong", &["-c", "-g", "3"]),
    ];
    pingpongs(ethernet, cases);
}

/// The commonest mistake with RoCE: one end takes a GID of version 1, the other one of version 2.
#[test]
fn pingpong_between_versions_of_roce_fails() {
    let device = Device::new(&["--link", "ethernet"]);
    let port = pair::free_port().to_string();
    let end = |gid| ["ibv_rc_pingpong", "-p", &port, "-g", gid];
    let client = [&end("1")[..], &["127.0.0.1"]].concat();
    let (ends, outputs) = pair::both(&device, &end("0"), &client, || pair::listens(port.parse().expect("a port")));
    assert!(ends[1].is_some_and(|status| !status.success()), "{outputs:?}");
    assert!(outputs[1].contains("transport retry counter exceeded"), "{outputs:?}");
}

#[test]
fn pingpong_with_static_registers() {
    pingpongs(STATIC, RELIABLE_PINGPONGS);
    pingpongs(&["--static-uars", "--strict"], RELIABLE_PINGPONGS);
}

/// With one client: of several, this program's server sends to each by the connections of all, for which they would
/// have to be one process, or of one device that processes share.
#[test]
fn xrc_pingpong() {
    let event = &["-e", "-n", "200", "-s", "100000", "-m", "1024"];
    let gid = &["-n", "200", "-g", "3"];
    for (device, arguments) in
        [(&[][..], &["-n", "200"][..]), (&[], event), (STRICT, event), (LOSSY, event), (&["--link", "ethernet"], gid)]
    {
        for output in pair(&Device::new(device), "ibv_xsrq_pingpong", arguments) {
            assert!(output.ends_with("success\n"), "{device:?} {arguments:?}:\n{output}");
        }
    }
}
