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
mod perftest;
mod pingpongs;
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

/// How many messages a program exchanges that has one on its way at a time: two CPUs wait for each of them. The rings
/// of such programs have wrapped by then. Five is the least that perftest takes.
fn in_turn(many: u32) -> u32 {
    if long() { many } else { (many / 5).max(5) }
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
