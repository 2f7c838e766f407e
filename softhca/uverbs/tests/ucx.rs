//! UCX's programs, unmodified, on the software device. UCX has a driver of its own for mlx5, beside its plain use of verbs: its
//! transports `rc_mlx5` and `ud_mlx5` get a queue's rings and registers from `mlx5dv` and do the rest themselves. What they
//! prove is that another encoder than libmlx5's has its WQEs executed, its doorbells heard and its CQEs understood.
//!
//! To know what memory comes and goes, UCX puts code of its own in the place of libc's `mmap`, and then asks the kernel
//! itself: its registers must be there all the same.

mod pair;

use pair::{Device, launch_on, pair};
use std::time::Duration;

const ITERATIONS: &str = "300";

/// Environment: objects by verbs, the protocol layer over these transports; `_v` and `_x` stand for all that one needs, such as a
/// UD queue pair for setting up RC ones.
const OVER_RC_VERBS: &[(&str, &str)] = &[BY_VERBS, ("UCX_TLS", "rc_v,self")];
const OVER_UD_VERBS: &[(&str, &str)] = &[BY_VERBS, ("UCX_TLS", "ud_v,self")];
const OVER_RC: &[(&str, &str)] = &[BY_VERBS, ("UCX_TLS", "rc_x,self")];
const OVER_UD: &[(&str, &str)] = &[BY_VERBS, ("UCX_TLS", "ud_x,self")];
const BY_VERBS: (&str, &str) = ("UCX_IB_MLX5_DEVX", "n");

/// Tests of the protocol layer.
const PROTOCOLS: &[&[&str]] = &[
    &["-t", "tag_lat"],
    &["-t", "tag_bw"],
    &["-t", "tag_bw", "-s", "100000"],
    &["-t", "stream_bw"],
    &["-t", "ucp_put_lat"],
    &["-t", "ucp_fadd"],
];

/// Those that only UCX's own driver is put to: every way of sending that the protocol layer has.
const MORE_PROTOCOLS: &[&[&str]] = &[
    &["-t", "tag_lat", "-s", "3000"],
    &["-t", "tag_sync_lat"],
    &["-t", "tag_lat", "-E", "sleep", "-I"],
    &["-t", "tag_lat", "-e"],
    &["-t", "tag_bw", "-D", "iov,iov", "-s", "100,2000,30"],
    &["-t", "tag_lat", "-T", "2", "-M", "multi"],
    &["-t", "ucp_am_bw", "-s", "3000"],
    &["-t", "ucp_put_bw", "-s", "100000"],
    &["-t", "ucp_get", "-s", "100000"],
    &["-t", "ucp_cswap"],
];

/// Tests of the transport layer: of RC, with messages in each of the forms that UCX sends them in: inline, copied, by
/// reference with an inline header.
const RC_TESTS: &[&[&str]] = &[
    &["-t", "am_lat"],
    &["-t", "am_lat", "-D", "shortiov"],
    &["-t", "am_bw", "-D", "bcopy", "-s", "2000"],
    &["-t", "am_bw", "-D", "zcopy", "-s", "4000"],
    &["-t", "put_lat"],
    &["-t", "put_bw"],
    &["-t", "put_bw", "-D", "bcopy", "-s", "2000"],
    &["-t", "put_bw", "-D", "zcopy", "-s", "100000"],
    &["-t", "get", "-D", "bcopy", "-s", "8"],
    &["-t", "get", "-D", "zcopy", "-s", "8192"],
    &["-t", "add_lat"],
    &["-t", "add_mr"],
    &["-t", "fadd"],
    &["-t", "cswap"],
];

/// Of UD.
const UD_TESTS: &[&[&str]] = &[
    &["-t", "am_lat"],
    &["-t", "am_bw", "-D", "bcopy", "-s", "2000"],
    &["-t", "am_bw", "-D", "zcopy"],
    &["-t", "am_bw", "-D", "zcopy", "-s", "1500"],
];

/// Both ends come through a test, and the client tells what it has measured.
fn measured(device: &Device, arguments: &[&str]) {
    let arguments = [&["-n", ITERATIONS, "-w", "10"], arguments].concat();
    let [_, client] = pair(device, "ucx_perftest", &arguments);
    let figures = client.lines().find_map(|line| line.strip_prefix("Final:"));
    let iterations = figures.and_then(|figures| figures.split_whitespace().next());
    assert!(iterations.is_some_and(|n| n != "0"), "{arguments:?}:\n{client}");
}

/// The tests of a transport, by name.
fn transport_tests(device: &Device, transport: &str, tests: &[&[&str]]) {
    tests.iter().for_each(|test| measured(device, &[&["-x", transport, "-d", "mlx5_0:1"], *test].concat()));
}

#[test]
fn its_transports_find_the_device() {
    for options in [&[][..], &["--strict"], &["--static-uars"], &["--link", "ethernet"]] {
        let device = Device { environment: &[BY_VERBS], ..Device::new(options) };
        let (code, output) = launch_on(&device, &["ucx_info", "-d"], Duration::from_secs(60));
        assert_eq!(code, Some(0), "{options:?}\n{output}");
        for transport in ["rc_verbs", "ud_verbs", "rc_mlx5", "ud_mlx5"] {
            assert!(output.contains(&format!("Transport: {transport}")), "{options:?}: no {transport} in\n{output}");
        }
        assert!(!output.contains("ERROR"), "{options:?}\n{output}");
    }
}

#[test]
fn its_protocols_run_over_plain_verbs() {
    for environment in [OVER_RC_VERBS, OVER_UD_VERBS] {
        let device = Device { environment, ..Device::new(&[]) };
        PROTOCOLS.iter().for_each(|arguments| measured(&device, arguments));
    }
}

#[test]
fn its_protocols_run_over_its_own_driver() {
    for environment in [OVER_RC, OVER_UD] {
        let device = Device { environment, ..Device::new(&[]) };
        PROTOCOLS.iter().chain(MORE_PROTOCOLS).for_each(|arguments| measured(&device, arguments));
        let device = Device { environment, ..Device::new(&["--link", "ethernet"]) };
        PROTOCOLS.iter().for_each(|arguments| measured(&device, arguments));
    }
}

#[test]
fn its_doorbells_are_seen_whatever_maps_the_registers() {
    for options in [&["--strict"][..], &["--strict", "--static-uars"], &["--strict", "--link", "ethernet"]] {
        for environment in [OVER_RC_VERBS, OVER_UD_VERBS, OVER_RC, OVER_UD] {
            let device = Device { environment, ..Device::new(options) };
            measured(&device, &["-t", "tag_lat"]);
        }
    }
}

#[test]
fn its_transport_tests_run() {
    let device = Device { environment: &[BY_VERBS], ..Device::new(&[]) };
    transport_tests(&device, "rc_verbs", &[RC_TESTS[0], RC_TESTS[3], RC_TESTS[6], RC_TESTS[9], RC_TESTS[10]]);
    transport_tests(&device, "ud_verbs", &UD_TESTS[..3]);
    for options in [&[][..], &["--link", "ethernet"]] {
        let device = Device { environment: &[BY_VERBS], ..Device::new(options) };
        transport_tests(&device, "rc_mlx5", RC_TESTS);
        transport_tests(&device, "ud_mlx5", UD_TESTS);
    }
}
