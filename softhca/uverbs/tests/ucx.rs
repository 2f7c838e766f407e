//! UCX's programs, unmodified and by their default settings, on the software device. To know what memory comes and goes, UCX
//! puts code of its own in the place of libc's `mmap`, and then asks the kernel itself: its registers must be there all
//! the same.

mod pair;

use pair::{Device, launch, pair};
use std::time::Duration;

const ITERATIONS: &str = "300";

/// The two ways that UCX's protocol layer goes over verbs; `_v` stands for all that one needs, such as a UD queue pair for
/// setting up RC ones.
const OVER_RC: &str = "rc_v,self";
const OVER_UD: &str = "ud_v,self";

/// Tests of the protocol layer.
const PROTOCOLS: &[&[&str]] = &[
    &["-t", "tag_lat"],
    &["-t", "tag_bw"],
    &["-t", "tag_bw", "-s", "100000"],
    &["-t", "stream_bw"],
    &["-t", "ucp_put_lat"],
    &["-t", "ucp_fadd"],
];

/// Tests of the transport layer: what each transport has.
const TRANSPORTS: &[(&str, &[&[&str]])] = &[
    (
        "rc_verbs",
        &[
            &["-t", "am_lat"],
            &["-t", "am_bw", "-D", "zcopy", "-s", "4000"],
            &["-t", "put_lat"],
            &["-t", "put_bw", "-D", "bcopy", "-s", "2000"],
            &["-t", "get", "-D", "zcopy", "-s", "8192"],
            &["-t", "add_lat"],
            &["-t", "fadd"],
            &["-t", "cswap"],
        ],
    ),
    ("ud_verbs", &[&["-t", "am_lat"], &["-t", "am_bw", "-D", "bcopy", "-s", "2000"], &["-t", "am_bw", "-D", "zcopy"]]),
];

/// Both ends come through a test, and the client tells what it has measured.
fn measured(device: &Device, arguments: &[&str]) {
    let arguments = [&["-n", ITERATIONS, "-w", "10"], arguments].concat();
    let [_, client] = pair(device, "ucx_perftest", &arguments);
    let figures = client.lines().find_map(|line| line.strip_prefix("Final:"));
    let iterations = figures.and_then(|figures| figures.split_whitespace().next());
    assert_eq!(iterations, Some(ITERATIONS), "{arguments:?}:\n{client}");
}

#[test]
fn its_transports_find_the_device() {
    for options in [&[][..], &["--strict"], &["--static-uars"], &["--link", "ethernet"]] {
        let (code, output) = launch(options, &["ucx_info", "-d"], Duration::from_secs(60));
        assert_eq!(code, Some(0), "{options:?}\n{output}");
        for transport in ["rc_verbs", "ud_verbs"] {
            assert!(output.contains(&format!("Transport: {transport}")), "{options:?}: no {transport} in\n{output}");
        }
        assert!(!output.contains("ERROR"), "{options:?}\n{output}");
    }
}

#[test]
fn its_protocols_run_over_both_transports() {
    for transports in [OVER_RC, OVER_UD] {
        let device = Device { environment: &[("UCX_TLS", transports)], ..Device::new(&[]) };
        PROTOCOLS.iter().for_each(|arguments| measured(&device, arguments));
    }
}

#[test]
fn its_doorbells_are_seen_whatever_maps_the_registers() {
    for options in [&["--strict"][..], &["--strict", "--static-uars"], &["--strict", "--link", "ethernet"]] {
        for transports in [OVER_RC, OVER_UD] {
            let device = Device { environment: &[("UCX_TLS", transports)], ..Device::new(options) };
            measured(&device, &["-t", "tag_lat"]);
        }
    }
}

#[test]
fn its_transport_tests_run() {
    for &(transport, tests) in TRANSPORTS {
        for test in tests {
            measured(&Device::new(&[]), &[&["-x", transport, "-d", "mlx5_0:1"], *test].concat());
        }
    }
}
