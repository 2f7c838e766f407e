//! rdma-core's example programs and perftest, unmodified, on the software device: they must find it, talk to one
//! another through it, and find the data that they expect. A C program of our own makes the calls that they do not
//! make.
//!
//! Programs of rdma-core, perftest and MPI, and our own C programs, belong here. UCX belongs in `ucx.rs`; Rust programs
//! of the crate belong in `tests` of the workspace.

mod captures;
mod chaos;
mod containers;
mod devx;
mod frames;
mod host_devices;
mod hosts;
mod launcher;
mod links;
mod loading;
mod mpi;
mod netlink;
mod pair;
mod polls;
mod program;
mod rdma_cm;
mod rdma_core;
#[cfg(target_arch = "x86_64")]
mod sanitizers;
mod signals;
#[cfg(target_arch = "x86_64")]
mod strict;
mod sysfs;
mod umad;
#[cfg(target_arch = "x86_64")]
mod vfio;

use pair::{Device, STRICT, long, pair};
use program::{compiled, launch};
use std::time::Duration;

/// Options of a device whose network loses, doubles and reorders: per mille of all frames.
const LOSSY: &[&str] = &["--faults", "drop=5,dup=5,reorder=5,delay=2,seed=7"];
/// Doorbell registers that come with the context, and are shared.
const STATIC: &[&str] = &["--static-uars"];

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

/// How many messages a program exchanges that has one on its way at a time: two CPUs wait for each of them. The rings
/// of such programs have wrapped by then. Five is the least that perftest takes.
fn in_turn(many: u32) -> u32 {
    if long() { many } else { (many / 5).max(5) }
}

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
fn devices_are_found() {
    let (code, output) = launch(&["--devices", "3"], &["ibv_devices"], Duration::from_secs(20));
    assert_eq!(code, Some(0), "{output}");
    for device in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        assert!(output.contains(device), "{output}");
    }
}

#[test]
fn devices_describe_themselves() {
    let infiniband = [
        "transport:\t\t\tInfiniBand (0)",
        "vendor_id:\t\t\t0x02c9",
        "vendor_part_id:\t\t\t4119",
        "PORT_ACTIVE (4)",
        "port_lid:\t\t3",
    ];
    let ethernet = ["link_layer:\t\tEthernet", "::ffff:10.95.1.2, RoCE v2", "fe80::5fff:fe03:102, RoCE v2"];
    for (link, expected) in [("infiniband", &infiniband[..]), ("ethernet", &ethernet[..])] {
        let options = ["--link", link, "--devices", "2", "--ports", "2"];
        let (code, output) = launch(&options, &["ibv_devinfo", "-v"], Duration::from_secs(20));
        assert_eq!(code, Some(0), "{output}");
        for line in expected {
            assert!(output.contains(line), "{line:?} is not in:\n{output}");
        }
    }
}

#[test]
fn a_device_is_of_the_generation_asked_for() {
    for (generation, part, firmware) in [
        ("connectx5", "4119", "16.35.4030"),
        ("connectx6dx", "4125", "22.35.4030"),
        ("connectx7", "4129", "28.35.4030"),
        ("connectx8", "4131", "40.44.1036"),
    ] {
        let (code, output) = launch(&["--generation", generation], &["ibv_devinfo"], Duration::from_secs(20));
        assert_eq!(code, Some(0), "{output}");
        for line in [format!("vendor_part_id:\t\t\t{part}"), format!("fw_ver:\t\t\t\t{firmware}")] {
            assert!(output.contains(&line), "{line:?} is not in:\n{output}");
        }
    }
}

#[test]
fn calls_are_answered_as_by_the_kernel() {
    for name in ["api", "kernel", "regions"] {
        let (_directory, program) = compiled(name);
        for options in [&[][..], STRICT] {
            let (code, output) = launch(options, &[&program], Duration::from_secs(60));
            assert_eq!((code, output.as_str()), (Some(0), ""), "{name} {options:?}");
        }
        for options in [STATIC, &["--static-uars", "--strict"]] {
            let (code, output) = launch(options, &[&program, "static"], Duration::from_secs(60));
            assert_eq!((code, output.as_str()), (Some(0), ""), "{name} {options:?}");
        }
    }
}

/// These programs also run against Linux' software device (`./run interop`) and between hosts (`hosts`).
#[test]
fn every_operation_passes_between_programs() {
    let (_directory, program) = compiled("transport");
    // The device warns of each refused request, and many are refused on purpose.
    for options in [&["--log", "error"][..], &["--log", "error", "--link", "ethernet", "--mtu", "9000"]] {
        let gid: &[&str] = if options.contains(&"--link") { &["-g", "3"] } else { &[] };
        let cases = "rc uc ud atomics mixed srq rnr silent refusals invalidate".split(' ');
        pair(&Device::new(options), &program, &[gid, &cases.collect::<Vec<_>>()].concat());
    }
}

#[test]
fn memory_windows_are_bound_and_taken_back() {
    let (_directory, program) = compiled("windows");
    // Each refusal makes a warning.
    for options in [&["--log", "error"][..], &["--log", "error", "--strict"], &["--log", "error", "--link", "ethernet"]]
    {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn the_clock_of_a_device_can_be_read() {
    let (_directory, program) = compiled("clock");
    for options in [&[][..], STRICT, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn a_peer_on_ethernet_is_a_neighbour() {
    let (_directory, program) = compiled("neighbours");
    for options in [&["--link", "ethernet"][..], &["--link", "ethernet", "--strict"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(30)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn an_open_device_can_be_passed_to_another_process() {
    let (_directory, program) = compiled("passed");
    for options in [&[][..], STRICT] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(30)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn memory_of_a_process_that_has_started_another_program_is_out_of_reach() {
    let (_directory, program) = compiled("passed");
    assert_eq!(launch(&[], &[&program, "exec"], Duration::from_secs(30)), (Some(0), String::new()));
}

#[test]
fn memory_that_only_looks_like_a_device_is_none() {
    let (_directory, program) = compiled("passed");
    assert_eq!(launch(&[], &[&program, "forged"], Duration::from_secs(30)), (Some(0), String::new()));
}

#[test]
fn the_child_of_a_fork_is_told_that_the_device_is_its_parents() {
    let (_directory, program) = compiled("forked");
    for options in [&[][..], STRICT, &["--link", "ethernet"]] {
        for case in ["commands", "manager", "doorbell", "store"] {
            let (code, output) = launch(options, &[&program, case], Duration::from_secs(30));
            let told = output.lines().all(|line| line.contains("a child of fork cannot use a device"));
            assert!(code == Some(0) && told && output.lines().count() == 1, "{options:?} {case}: {code:?}\n{output}");
        }
        for case in ["opens", "closes", "memory"] {
            let end = launch(options, &[&program, case], Duration::from_secs(60));
            assert_eq!(end, (Some(0), String::new()), "{options:?} {case}");
        }
    }
    let end = launch(&[], &[&program, "crowd"], Duration::from_secs(120));
    assert_eq!(end, (Some(0), String::new()));
}

#[test]
fn closing_all_descriptors_leaves_the_device_its_own() {
    let (_directory, program) = compiled("closing");
    for options in [&["--devices", "2"][..], &["--devices", "2", "--strict"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn functions_that_a_program_replaces_are_not_called_with_numbers_of_the_device() {
    let (_directory, program) = compiled("wrapped");
    for options in [&["--devices", "2"][..], &["--devices", "2", "--strict"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn receives_complete_in_any_order_if_a_queue_pair_asks() {
    let (_directory, program) = compiled("out_of_order");
    let unsupported = libc::EOPNOTSUPP.to_string();
    for (generation, errno) in [("connectx7", "0"), ("connectx5", &unsupported)] {
        let end = launch(&["--generation", generation], &[&program, errno], Duration::from_secs(20));
        assert_eq!(end, (Some(0), String::new()), "{generation}");
    }
}

#[test]
fn regions_carry_the_hints_of_their_dma_handles() {
    let (_directory, program) = compiled("dma_handles");
    for (generation, part) in [("connectx8", ""), ("connectx7", "none")] {
        let end = launch(&["--generation", generation], &[&program, part], Duration::from_secs(20));
        assert_eq!(end, (Some(0), String::new()), "{generation}");
    }
}

#[test]
fn regions_of_files_go_by_data_direct() {
    let (_directory, program) = compiled("data_direct");
    for (options, part) in [
        (&["--generation", "connectx8"][..], ""),
        (&["--generation", "connectx8", "--namespace=never"], ""),
        (&["--generation", "connectx8", "--devices", "3", "--vfio", "1"], ""),
        (&["--generation", "connectx7"], "none"),
    ] {
        let end = launch(options, &[&program, part], Duration::from_secs(20));
        assert_eq!(end, (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn what_may_be_pinned_is_limited() {
    let (_directory, program) = compiled("regions");
    let bound = ["--memlock", "everybody"];
    assert_eq!(launch(&bound, &[&program, "locked"], Duration::from_secs(20)), (Some(0), String::new()));
    // A user who may lock any memory is not bound, as on Linux: root, unless it lacks that right.
    // SAFETY: takes nothing and cannot fail.
    let root = unsafe { libc::geteuid() } == 0;
    let unprivileged: &[&str] = if root { &["setpriv", "--bounding-set=-ipc_lock"] } else { &[] };
    let command = [unprivileged, &[&program, "locked"]].concat();
    assert_eq!(launch(&[], &command, Duration::from_secs(20)), (Some(0), String::new()));
    // Nothing fails where nobody is bound.
    let (code, output) = launch(&["--memlock", "nobody"], &[&program, "locked"], Duration::from_secs(20));
    assert!(code == Some(1) && output.contains("errno == ENOMEM"), "{output}");
}

#[test]
fn memory_keys_are_limited() {
    let (code, output) = launch(&["--max-mr", "16"], &["ibv_devinfo", "-v"], Duration::from_secs(20));
    let shown = output.lines().any(|line| line.split_whitespace().eq(["max_mr:", "16"]));
    assert!(code == Some(0) && shown, "{output}");
    for number in ["0", "17", "2097152"] {
        let (code, output) = launch(&["--max-mr", number], &["true"], Duration::from_secs(20));
        assert!(code == Some(2) && output.contains("a power of two, 1 to 1048576"), "{output}");
    }
}

/// On other CPUs, an access without the right ends the program.
#[test]
#[cfg(target_arch = "x86_64")]
fn rights_to_memory_may_go() {
    let (_directory, program) = compiled("regions");
    let (code, output) = launch(&["--log", "off"], &[&program, "changed"], Duration::from_secs(60));
    // The launcher's words about the receive queue.
    let [summary, complaint] = output.lines().collect::<Vec<_>>()[..] else { panic!("{output}") };
    assert!(code == Some(0) && summary.contains("1 complaint(s)") && complaint.contains("DMA to unmapped"), "{output}");
}

#[test]
fn raw_packets_leave_as_they_were_posted() {
    let (_directory, program) = compiled("raw_packets");
    for inline_headers in ["none", "l2"] {
        let ethernet = ["--link", "ethernet", "--inline-headers", inline_headers];
        for mode in [&[][..], STRICT, STATIC, &["--sink"]] {
            let options = [&ethernet, mode].concat();
            assert_eq!(launch(&options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
        }
        let options = [&ethernet[..], &["--log", "softhca::ethernet=trace"]].concat();
        let (code, output) = launch(&options, &[&program, "one"], Duration::from_secs(20));
        // The program's frame, with the checksums that it asks for.
        let frame = "frame [02, 00, 00, 00, 00, 02, 02, 00, 00, 00, 00, 01, 08, 00, 45, 00, 00, 1f, 00, 00, 40, 00, \
                     40, 11, 26, cc, 0a, 00, 00, 01, 0a, 00, 00, 02, 00, 01, 00, 02, 00, 0b, e7, d0, 01, 02, 03]";
        assert!(code == Some(0) && output.contains(frame), "{output}");
    }
}

#[test]
fn dynamic_connections_work_as_libmlx5_drives_them() {
    let (_directory, program) = compiled("dynamic");
    for options in [&[][..], STRICT, STATIC, LOSSY, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn regions_without_memory_fill_and_drop() {
    let (_directory, program) = compiled("null_region");
    for options in [&[][..], STRICT, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn ends_negotiate_their_options() {
    let (_directory, program) = compiled("options");
    for options in [&[][..], STATIC, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn xrc_works_as_libmlx5_drives_it() {
    let (_directory, program) = compiled("xrc");
    for options in [&[][..], STRICT, STATIC, LOSSY, &["--link", "ethernet"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn multicast_groups_are_the_kernels() {
    let (_directory, program) = compiled("multicast");
    for options in [&[][..], STRICT, &["--link", "ethernet"], &["--link", "ethernet", "--strict"]] {
        assert_eq!(launch(options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
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

#[test]
fn perftest_over_xrc() {
    perftest(&[], 100, XRC);
    perftest(&["--link", "ethernet"], 50, &XRC[..2]);
    perftest(LOSSY, 50, &few(XRC));
}

#[test]
fn a_sink_completes_what_is_posted_when_it_is_stepped() {
    let (_directory, program) = compiled("sink");
    for options in [&["--sink"][..], &["--sink", "--link", "ethernet", "--devices", "2"]] {
        // The program has the device find a WQE that makes no sense: a warning.
        let options = [options, &["--log", "error"]].concat();
        assert_eq!(launch(&options, &[&program], Duration::from_secs(60)), (Some(0), String::new()), "{options:?}");
    }
    assert_eq!(launch(&[], &[&program, "no-sink"], Duration::from_secs(20)), (Some(0), String::new()));
    // Strict mode looks at stores in another thread; and nothing gets lost where nothing is sent.
    let has_strict_mode = cfg!(target_arch = "x86_64");
    for excluded in [STRICT, &["--faults", "drop=1"]].into_iter().filter(|&mode| has_strict_mode || mode != STRICT) {
        let (code, output) = launch(&[&["--sink"], excluded].concat(), &["true"], Duration::from_secs(20));
        assert_eq!(code, Some(2), "{output}");
    }
}

#[test]
fn the_programs_end_is_passed_on() {
    let end = |command: &[&str]| launch(&[], command, Duration::from_secs(20)).0;
    assert_eq!(end(&["true"]), Some(0));
    assert_eq!(end(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(end(&["sh", "-c", "kill -TERM $$"]), Some(128 + libc::SIGTERM));
    assert_eq!(end(&["/nowhere/at/all"]), Some(127));
    assert_eq!(end(&["/etc/passwd"]), Some(126));
    assert_eq!(launch(&["--faults", "drop=2000"], &["true"], Duration::from_secs(20)).0, Some(2));
}
