//! UCX's programs, unmodified, on the software device. UCX has a driver of its own for mlx5, beside its plain use of
//! verbs: its transports `rc_mlx5`, `dc_mlx5` and `ud_mlx5` know rings, doorbells and completions themselves. With DevX
//! it does not even ask libmlx5 for queues: it gives the device's firmware the commands that make them. These runs
//! prove that the device understands mailboxes, WQEs, doorbells and CQEs as a second driver means them.
//!
//! To know what memory comes and goes, UCX puts code of its own in the place of libc's `mmap`, and then asks the kernel
//! itself: its registers must be there all the same.
//!
//! Programs of UCX belong here. All other C programs belong in `tools.rs`.

mod pair;

use pair::{Device, launch_on, long, pair};
use std::io::Write;
use std::process::Command;
use std::time::Duration;

/// Environment: where UCX has its objects from. With "y", it is an error if it cannot have them by DevX.
type Variable = (&'static str, &'static str);
const BY_VERBS: Variable = ("UCX_IB_MLX5_DEVX", "n");
const BY_DEVX: Variable = ("UCX_IB_MLX5_DEVX", "y");

/// Transports of the protocol layer. `_v` and `_x` stand for all that one needs, such as a UD queue pair for setting up
/// RC ones.
const RC_VERBS: Variable = ("UCX_TLS", "rc_v,self");
const UD_VERBS: Variable = ("UCX_TLS", "ud_v,self");
const RC: Variable = ("UCX_TLS", "rc_x,self");
const DC: Variable = ("UCX_TLS", "dc_x,self");
const UD: Variable = ("UCX_TLS", "ud_x,self");

/// With large frames: some of the tests of datagrams send more than the packets of others hold.
const ETHERNET: &[&str] = &["--link", "ethernet", "--mtu", "9000"];

/// Tests of the protocol layer.
const PROTOCOLS: &[&str] =
    &["tag_lat", "tag_bw", "tag_bw -s 30000", "stream_bw", "ucp_put_lat", "ucp_fadd", "tag_lat -s 3000"];

/// Those that only UCX's own driver is put to.
const MORE_PROTOCOLS: &[&str] = &[
    "tag_sync_lat",
    "tag_bw -D iov,iov -s 100,2000,30",
    "ucp_am_bw -s 3000",
    "ucp_put_bw -s 30000",
    "ucp_get -s 30000",
    "ucp_cswap",
];

/// Tests of the transport layer, with messages in each form that UCX sends them in: inline, copied, by reference with
/// an inline header.
const CONNECTED_TESTS: &[&str] = &[
    "am_lat",
    "am_lat -D shortiov",
    "am_bw -D bcopy -s 2000",
    "am_bw -D zcopy -s 4000",
    "put_lat",
    "put_bw",
    "put_bw -D bcopy -s 2000",
    "put_bw -D zcopy -s 30000",
    "get -D bcopy -s 8",
    "get -D zcopy -s 8192",
    "add_lat",
    "add_mr",
    "fadd",
    "cswap",
];
const UD_TESTS: &[&str] = &["am_lat", "am_bw -D bcopy -s 2000", "am_bw -D zcopy", "am_bw -D zcopy -s 1500"];
const RC_VERBS_TESTS: &[&str] = &["am_lat", "am_bw -D zcopy -s 4000", "put_bw -D bcopy -s 2000", "add_lat", "fadd"];

/// Both ends get through `tests`, one after the other, and the client prints its measurement of each. Returns the
/// output of both.
fn run(device: &Device, tests: &[&str], arguments: &[&str]) -> [String; 2] {
    let mut batch = tempfile::NamedTempFile::new().expect("a file for the tests");
    for (number, test) in tests.iter().enumerate() {
        writeln!(batch, "{number} -t {test}").expect("the tests are written");
    }
    let file = batch.path().to_str().expect("a path of letters");
    let arguments = [&["-b", file, "-n", "100", "-w", "5"], arguments].concat();
    let outputs = pair(device, "ucx_perftest", &arguments);
    let figures = outputs[1].lines().filter_map(|line| line.strip_prefix("Final:"));
    let measured = figures.filter(|line| line.split_whitespace().next().is_some_and(|iterations| iterations != "0"));
    assert_eq!(measured.count(), tests.len(), "{:?} {tests:?}:\n{}", device.environment, outputs[1]);
    outputs
}

/// The tests of the transport layer, over the transport of this name.
fn run_transport(device: &Device, transport: &str, tests: &[&str]) -> [String; 2] {
    run(device, tests, &["-x", transport, "-d", "mlx5_0:1"])
}

#[test]
fn its_transports_find_the_device() {
    for (objects, dc) in [(BY_VERBS, false), (BY_DEVX, true)] {
        for options in [&[][..], &["--strict"], &["--static-uars"], ETHERNET] {
            let device = Device { environment: &[objects], ..Device::new(options) };
            let (code, output) = launch_on(&device, &["ucx_info", "-d"], Duration::from_secs(60));
            assert_eq!(code, Some(0), "{options:?}\n{output}");
            let transports = ["rc_verbs", "ud_verbs", "rc_mlx5", "ud_mlx5"].into_iter().chain(dc.then_some("dc_mlx5"));
            for transport in transports {
                assert!(
                    output.contains(&format!("Transport: {transport}")),
                    "{options:?}: no {transport} in\n{output}"
                );
            }
            assert!(!output.contains("ERROR"), "{options:?}\n{output}");
        }
    }
}

#[test]
fn its_protocols_run() {
    for environment in [&[BY_VERBS, RC_VERBS][..], &[BY_VERBS, UD_VERBS]] {
        let device = Device { environment, ..Device::new(&[]) };
        run(&device, PROTOCOLS, &[]);
    }
    let all = [PROTOCOLS, MORE_PROTOCOLS].concat();
    for environment in [[BY_VERBS, RC], [BY_VERBS, UD], [BY_DEVX, RC], [BY_DEVX, DC], [BY_DEVX, UD]] {
        let device = Device { environment: &environment, ..Device::new(&[]) };
        run(&device, &all, &[]);
        // The objects differ by their maker, not by the link.
        if long() || environment[0] == BY_DEVX {
            let device = Device { environment: &environment, ..Device::new(ETHERNET) };
            run(&device, PROTOCOLS, &[]);
        }
    }
}

/// It arms its CQs, and waits for the events of both in one channel. Over UD, a thread of its own polls besides.
#[test]
fn it_sleeps_until_there_are_completions() {
    for environment in [[BY_VERBS, RC], [BY_DEVX, RC], [BY_DEVX, DC], [BY_DEVX, UD]] {
        let device = Device { environment: &environment, ..Device::new(&[]) };
        run(&device, &["tag_lat -E sleep", "tag_bw -E sleep"], &["-I"]);
    }
}

#[test]
fn its_protocols_run_in_several_threads() {
    for environment in [[BY_VERBS, RC], [BY_DEVX, RC], [BY_DEVX, DC]] {
        let device = Device { environment: &environment, ..Device::new(&[]) };
        run(&device, &["tag_lat", "tag_bw -s 3000"], &["-T", "2", "-M", "multi"]);
    }
}

#[test]
fn its_doorbells_are_seen_whatever_maps_the_registers() {
    let queues =
        [[BY_DEVX, RC], [BY_VERBS, RC_VERBS], [BY_VERBS, UD_VERBS], [BY_VERBS, RC], [BY_DEVX, UD], [BY_DEVX, DC]];
    // Registers are the same on either link: one kind of queue shows it.
    let on_ethernet = if long() { &queues[..] } else { &queues[..1] };
    for (options, queues) in [
        (&["--strict"][..], &queues[..]),
        (&["--strict", "--static-uars"], &queues),
        (&["--strict", "--link", "ethernet"], on_ethernet),
    ] {
        for environment in queues {
            let device = Device { environment, ..Device::new(options) };
            run(&device, &["tag_lat"], &[]);
        }
    }
}

#[test]
fn its_transport_tests_run() {
    let device = Device { environment: &[BY_VERBS], ..Device::new(&[]) };
    run_transport(&device, "rc_verbs", RC_VERBS_TESTS);
    run_transport(&device, "ud_verbs", &UD_TESTS[..3]);
    for options in [&[][..], ETHERNET] {
        // The objects differ by their maker, not by the link.
        if long() || options.is_empty() {
            let by_verbs = Device { environment: &[BY_VERBS], ..Device::new(options) };
            run_transport(&by_verbs, "rc_mlx5", CONNECTED_TESTS);
        }
        let by_verbs = Device { environment: &[BY_VERBS], ..Device::new(options) };
        run_transport(&by_verbs, "ud_mlx5", UD_TESTS);
        let by_devx = Device { environment: &[BY_DEVX], ..Device::new(options) };
        run_transport(&by_devx, "rc_mlx5", CONNECTED_TESTS);
        run_transport(&by_devx, "dc_mlx5", CONNECTED_TESTS);
    }
}

/// UCX's own timeout is a second: one that costs less, and still leaves a busy machine's device half a second to
/// answer.
#[test]
fn lost_packets_are_sent_again() {
    let faults = ["--faults", "drop=10,dup=5,reorder=5,seed=4"];
    let patience =
        [("UCX_RC_MLX5_TIMEOUT", "67ms"), ("UCX_DC_MLX5_TIMEOUT", "67ms"), ("UCX_WARN_UNUSED_ENV_VARS", "n")];
    let environment = [&patience[..], &[BY_DEVX]].concat();
    let device = Device { environment: &environment, ..Device::new(&faults) };
    for transport in ["rc_mlx5", "dc_mlx5"] {
        run_transport(&device, transport, &["am_lat", "put_bw -D zcopy -s 30000", "fadd"]);
    }
}

/// The data, which `ucx_perftest` does not compare, between two devices, by a program of ours. Rendezvous reads, or
/// writes if it is told to. If UCX asks the firmware for its capabilities, the device executes atomics by UCX's WQEs:
/// all are masked except InfiniBand's of 8 bytes. Otherwise UCX sends active messages in their place.
#[test]
fn its_data_are_what_was_sent() {
    let (_directory, program) = data_program();
    let command = [&program, "mlx5_0:1", "mlx5_1:1"];
    let log = ["--devices", "2", "--log", "warn,softhca::firmware=debug,softhca_uverbs::commands=trace"];
    let told = [("UCX_LOG_LEVEL", "info"), ("UCX_WARN_UNUSED_ENV_VARS", "n")];
    const LOSSES: &[&str] = &["--faults", "drop=10,dup=5,reorder=5,seed=4"];
    const QUICK: &[Variable] = &[("UCX_RC_MLX5_TIMEOUT", "67ms"), ("UCX_DC_MLX5_TIMEOUT", "67ms")];
    const WRITING: &[Variable] = &[("UCX_RNDV_SCHEME", "put_zcopy")];
    for (objects, transport, options, more) in [
        (BY_DEVX, RC, &[][..], &[][..]),
        (BY_DEVX, UD, &[], &[]),
        (BY_DEVX, DC, &[], &[]),
        (BY_VERBS, RC, &[], &[]),
        (BY_DEVX, RC, &[], WRITING),
        (BY_DEVX, RC, ETHERNET, &[]),
        (BY_DEVX, DC, ETHERNET, &[]),
        (BY_DEVX, RC, LOSSES, QUICK),
        (BY_DEVX, DC, LOSSES, QUICK),
    ] {
        let (options, environment) = ([&log, options].concat(), [&told, &[objects, transport], more].concat());
        let device = Device { environment: &environment, ..Device::new(&options) };
        let (code, output) = launch_on(&device, &command, Duration::from_secs(120));
        assert_eq!(code, Some(0), "{options:?} {environment:?}\n{output}");
        assert!(output.contains("\ncompared "), "{output}");
        for complaint in ["ERROR", "complaint"] {
            assert!(!output.contains(complaint), "{options:?} {environment:?}\n{output}");
        }
        // Each end has told UCX's name of what carries its messages.
        let name = match transport {
            RC => "rc_mlx5",
            DC => "dc_mlx5",
            _ => "ud_mlx5",
        };
        for end in 0..2 {
            assert!(output.contains(&format!(" am({name}/mlx5_{end}:1)")), "{environment:?}\n{output}");
            let atomics = format!(" amo({name}/mlx5_{end}:1)");
            assert_eq!(output.contains(&atomics), objects == BY_DEVX && transport != UD, "{environment:?}\n{output}");
        }
        // UCX has UD's queue pairs from libmlx5 always, also the ones for setting up others: one at each end.
        let (made, keys) = (commands(&output, "CREATE_QP"), commands(&output, "CREATE_MKEY"));
        if objects == BY_VERBS {
            assert_eq!((made, keys), (0, 0), "{output}");
        } else {
            assert!(used_by_verbs(&output) <= 2 && keys > 0, "{environment:?}\n{output}");
            assert_eq!(transport == UD, made == 0, "{environment:?}\n{output}");
        }
    }
}

/// UCX tells the device which tags it waits for, and the device matches its messages with them: small ones, and those
/// that it fetches itself (UCX's own headers, in requests that UCX writes). All bytes are compared. On Ethernet this
/// release of UCX stops itself (`rc_mlx5_devx.c:376`, an assertion that a path has a UDP port).
#[test]
fn the_device_matches_its_tags() {
    let (_directory, program) = data_program();
    let command = [&program, "mlx5_0:1", "mlx5_1:1"];
    let log = ["--devices", "2", "--log", "warn,softhca::firmware=debug,softhca::qp=debug"];
    let told = [
        ("UCX_WARN_UNUSED_ENV_VARS", "n"),
        ("UCX_RC_MLX5_TIMEOUT", "67ms"),
        ("UCX_RC_MLX5_TM_ENABLE", "y"),
        ("UCX_TM_THRESH", "0"),
    ];
    const LOSSES: &[&str] = &["--faults", "drop=10,dup=5,reorder=5,seed=4"];
    for (objects, options) in [(BY_DEVX, LOSSES), (BY_VERBS, &["--strict"][..])] {
        let (options, environment) = ([&log, options].concat(), [&told[..], &[objects, RC]].concat());
        let device = Device { environment: &environment, ..Device::new(&options) };
        let (code, output) = launch_on(&device, &command, Duration::from_secs(120));
        assert_eq!(code, Some(0), "{options:?} {environment:?}\n{output}");
        assert!(output.contains("\ncompared ") && !output.contains("complaint"), "{output}");
        assert_eq!(commands(&output, "CREATE_XRQ"), if objects == BY_DEVX { 2 } else { 0 }, "{output}");
        for matched in ["a message is for tag", "bytes is for tag"] {
            assert!(output.contains(matched), "{options:?} {environment:?}: {matched}\n{output}");
        }
    }
}

/// `ucx_data.c`, compiled; it is there as long as the directory.
fn data_program() -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = directory.path().join("ucx_data").display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ucx_data.c");
    let flags = Command::new("pkg-config").args(["--cflags", "--libs", "ucx"]).output();
    let flags = flags.ok().filter(|flags| flags.status.success()).expect("UCX's headers are installed (libucx-dev)");
    let flags = String::from_utf8(flags.stdout).expect("flags of letters");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-Wall", "-Wextra", "-O1", "-o", &program, source]).args(flags.split_whitespace());
    assert!(command.status().is_ok_and(|status| status.success()), "{command:?}");
    (directory, program)
}

/// UCX uses DevX: firmware commands make each queue that it uses, and the memory key for atomics. libmlx5 does not know
/// these queues, so the WQEs in them are UCX's.
#[test]
fn by_devx_it_makes_all_queues_itself() {
    let options = ["--log", "warn,softhca::firmware=debug,softhca_uverbs::commands=trace"];
    let tests = ["am_lat", "put_bw", "add_lat"];
    let device = Device { environment: &[BY_DEVX], ..Device::new(&options) };
    for output in run_transport(&device, "rc_mlx5", &tests) {
        assert_eq!(used_by_verbs(&output), 0, "{output}");
        for command in [
            "CREATE_RMP",
            "CREATE_QP",
            "RST2INIT_QP",
            "INIT2RTR_QP",
            "RTR2RTS_QP",
            "2ERR_QP",
            "DESTROY_QP",
            "DESTROY_RMP",
        ] {
            assert_eq!(commands(&output, command), tests.len(), "{command} in {output}");
        }
        assert!(commands(&output, "CREATE_MKEY") > 0, "{output}");
        assert_eq!(commands(&output, "CREATE_MKEY"), commands(&output, "DESTROY_MKEY"), "{output}");
        assert_eq!(commands(&output, "CREATE_UMEM"), commands(&output, "DESTROY_UMEM"), "{output}");
    }
    let device = Device { environment: &[BY_VERBS], ..Device::new(&options) };
    for output in run_transport(&device, "rc_mlx5", &tests) {
        assert!(used_by_verbs(&output) >= tests.len(), "{output}");
        assert_eq!(commands(&output, "CREATE_QP"), 0, "{output}");
    }
}

/// How often a program has given this command to the firmware, by its log.
fn commands(log: &str, command: &str) -> usize {
    log.matches(&format!("softhca::firmware::execute] {command} for user")).count()
}

/// The number of queue pairs that a program made by verbs and used. UCX also makes some to probe the limits, and
/// destroys them with the next command.
fn used_by_verbs(log: &str) -> usize {
    let created = log.split("QP_CREATE: done").skip(1);
    let used = created.filter(|rest| !rest.lines().nth(1).is_some_and(|next| next.contains("QP_DESTROY: done")));
    used.count()
}
