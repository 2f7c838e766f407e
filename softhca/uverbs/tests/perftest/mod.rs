//! perftest: each program over each transport that it knows, with losses and shared registers.
//!
//! Programs of perftest belong here; over raw frames they belong in `frames`.

use crate::pair::{Device, STRICT, long, pair};
use crate::{LOSSY, STATIC, in_turn};

const PERFTEST: &[(&str, &[&str])] = &[
    ("ib_send_lat", &[]),
    ("ib_send_lat", &["-e"]),
    ("ib_send_lat", &["--use_old_post_send"]),
    ("ib_send_lat", &["--use-srq"]),
    ("ib_send_lat", &["-c", "UC"]),
    ("ib_send_lat", &["-c", "UD"]),
    ("ib_write_lat", &[]),
    ("ib_write_lat", &["--use_old_post_send"]),
    ("ib_write_lat", &["-c", "UC"]),
    ("ib_read_lat", &[]),
    ("ib_read_lat", &["-e"]),
    ("ib_atomic_lat", &[]),
    ("ib_atomic_lat", &["-A", "CMP_AND_SWAP"]),
    ("ib_send_bw", &[]),
    ("ib_send_bw", &["-q", "8"]),
    ("ib_send_bw", &["-e"]),
    ("ib_send_bw", &["-b"]),
    ("ib_send_bw", &["--use_old_post_send"]),
    ("ib_send_bw", &["--use-srq"]),
    ("ib_send_bw", &["-c", "UC"]),
    ("ib_send_bw", &["-c", "UD"]),
    // Not ib_send_lat: since release 23.04 it frees the name of the device by which it then leaves the multicast group.
    ("ib_send_bw", &["-c", "UD", "-g"]),
    ("ib_write_bw", &[]),
    ("ib_write_bw", &["-q", "8"]),
    ("ib_write_bw", &["--use_old_post_send"]),
    ("ib_write_bw", &["-c", "UC"]),
    ("ib_read_bw", &[]),
    ("ib_read_bw", &["-q", "8"]),
    ("ib_read_bw", &["-e"]),
    ("ib_atomic_bw", &[]),
    ("ib_atomic_bw", &["-q", "8"]),
    ("ib_send_bw", &["--odp"]),
    ("ib_write_lat", &["--odp"]),
    ("ib_read_bw", &["--odp"]),
];

/// perftest over dynamic connections: an initiator and a target on each side.
const DYNAMIC: &[(&str, &[&str])] = &[
    ("ib_send_lat", &["-c", "DC"]),
    ("ib_send_bw", &["-c", "DC", "-q", "4"]),
    ("ib_write_lat", &["-c", "DC"]),
    ("ib_write_bw", &["-c", "DC", "-q", "4"]),
    ("ib_read_lat", &["-c", "DC"]),
    ("ib_read_bw", &["-c", "DC"]),
    ("ib_atomic_lat", &["-c", "DC"]),
    ("ib_atomic_bw", &["-c", "DC", "-q", "4"]),
];

/// perftest over XRC: both sides have a domain of the same file, an initiator and a target.
const XRC: &[(&str, &[&str])] = &[
    ("ib_send_lat", &["-c", "XRC"]),
    ("ib_send_bw", &["-c", "XRC", "-q", "4"]),
    ("ib_send_bw", &["-c", "XRC", "-b"]),
    ("ib_write_lat", &["-c", "XRC"]),
    ("ib_write_bw", &["-c", "XRC", "-q", "4"]),
    ("ib_read_lat", &["-c", "XRC"]),
    ("ib_read_bw", &["-c", "XRC"]),
    ("ib_atomic_lat", &["-c", "XRC"]),
    ("ib_atomic_bw", &["-c", "XRC", "-q", "4"]),
];

/// All message sizes from 2 bytes to 8 MiB.
const ALL_SIZES: &[(&str, &[&str])] =
    &[("ib_send_bw", &["-a"]), ("ib_write_bw", &["-a"]), ("ib_read_bw", &["-a"]), ("ib_write_lat", &["-a"])];

/// Of perftest, what survives a network that loses frames.
const RELIABLE_PERFTEST: &[(&str, &[&str])] = &[
    ("ib_send_lat", &[]),
    ("ib_send_bw", &["-q", "8"]),
    ("ib_write_lat", &[]),
    ("ib_write_bw", &["-q", "8"]),
    ("ib_read_lat", &[]),
    ("ib_read_bw", &["-q", "8"]),
    ("ib_atomic_lat", &[]),
    ("ib_atomic_bw", &["-q", "8"]),
];

/// The programs, or every third of them: lost packets are sent again in the same way for each.
fn few(programs: &[(&'static str, &'static [&'static str])]) -> Vec<(&'static str, &'static [&'static str])> {
    programs.iter().copied().step_by(if long() { 1 } else { 3 }).collect()
}

/// The rows of numbers under perftest's table heads.
fn results(output: &str) -> Vec<Vec<f64>> {
    let rows = output.lines().skip_while(|line| !line.trim_start().starts_with("#bytes"));
    rows.filter_map(|line| line.split_whitespace().map(|field| field.parse().ok()).collect::<Option<Vec<f64>>>())
        .filter(|row| row.len() > 2)
        .collect()
}

fn perftest(device: &[&'static str], iterations: u32, cases: &[(&str, &[&str])]) {
    for &(tool, arguments) in cases {
        let iterations = if tool.ends_with("_lat") { in_turn(iterations) } else { iterations };
        let count = iterations.to_string();
        let arguments: Vec<&str> = [&["-n", &count, "-F"], arguments].concat();
        let [_, client] = pair(&Device::new(device), tool, &arguments);
        let results = results(&client);
        let sizes = if arguments.contains(&"-a") { 23 } else { 1 };
        assert_eq!(results.len(), sizes, "{tool} {arguments:?}:\n{client}");
        // perftest counts CPU cycles, and on busy CPUs cannot tell how many there are in a second: then it says so and
        // shows zeros.
        let timed = !client.contains("Correlation coefficient");
        for result in results {
            // Bytes, iterations (of all queues), then the measured figures.
            let measured = !timed || result[2..].iter().any(|&value| value > 0.0);
            assert!(result[1] >= f64::from(iterations) && measured, "{client}");
        }
    }
}

#[test]
fn perftest_programs() {
    perftest(&[], 200, PERFTEST);
}

#[test]
fn perftest_strict() {
    // Traps make it likely that an event of the receiving CQ comes while ib_send_lat waits for one of the sending CQ.
    // Then ib_send_lat polls the sending CQ, finds nothing, and looks at a completion that it has not initialised.
    let cases = PERFTEST.iter().copied().filter(|&case| case != ("ib_send_lat", &["-e"][..]));
    // Operations are done as without traps: every second program shows that doorbells are seen.
    let cases: Vec<_> = cases.step_by(if long() { 1 } else { 2 }).collect();
    perftest(STRICT, 100, &cases);
}

#[test]
fn perftest_lossy() {
    // Losses are a matter of packets: a message of usual size has 64.
    perftest(LOSSY, in_turn(100), RELIABLE_PERFTEST);
}

#[test]
fn perftest_all_sizes() {
    // perftest counts the CPU's cycles in a second anew for each size, a quarter of a second long.
    let programs = if long() { ALL_SIZES } else { &ALL_SIZES[..1] };
    // Its buffers are larger than a user's usual limit of pinned memory.
    perftest(&["--memlock", "nobody"], 5, programs);
}

#[test]
fn perftest_over_dynamic_connections() {
    perftest(&[], 100, DYNAMIC);
    perftest(&["--link", "ethernet"], 50, &DYNAMIC[..2]);
    perftest(LOSSY, 50, &few(DYNAMIC));
}

#[test]
fn perftest_with_static_registers() {
    // More queues than registers, so that some are shared.
    perftest(STATIC, 100, &[("ib_write_bw", &["-q", "32", "-s", "64"]), ("ib_send_lat", &["-e"])]);
}

#[test]
fn perftest_over_xrc() {
    perftest(&[], 100, XRC);
    perftest(&["--link", "ethernet"], 50, &XRC[..2]);
    perftest(LOSSY, 50, &few(XRC));
}
