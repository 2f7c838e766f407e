//! Runs each program for a moment and checks its output.
//!
//! Output and exit codes of the examples belong here. The crate's own behaviour belongs in `tests` of the workspace.
//!
//! The programs inherit the device from the environment:
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet -- pingpong rdma_operations multicast market_data order_entry packet_rate
//! softhca-run --strict -- --exact rc_pingpong devx_pingpong
//! softhca-run --wire udp:127.47.0.9 -- --exact rc_pingpong
//! ```

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use blueflame::verbs::Device;
use blueflame::verbs::device::LinkLayer;
use serde_json::Value;

/// Runs a program with `args`, separated by spaces; it must succeed. Returns its output.
fn run(program: &str, args: &str) -> String {
    let output = Command::new(program).args(args.split_whitespace()).output().expect("the program starts");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args}: {}\n{said}{complained}", output.status);
    said
}

/// A server that does not outlive the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Fails when it has ended, which is the good case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the client of a program against its server, as two processes that must succeed. Returns the client's output.
fn client(program: &str, args: &str) -> String {
    pair(program, (program, "localhost"), args)
}

/// Runs a client, with its arguments before those of both, against a server; both must succeed. Returns the client's
/// output.
fn pair(server: &str, (client, first): (&str, &str), args: &str) -> String {
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a port").port();
    let port = format!("-p{free}");
    let args = || args.split_whitespace();
    let started = Command::new(server).arg(&port).args(args()).stdout(Stdio::null()).spawn();
    let mut running = Server(started.unwrap_or_else(|error| panic!("{server}: {error}")));
    for _ in 0..1000 {
        let Output { status, stdout, stderr } =
            Command::new(client).arg(first).arg(&port).args(args()).output().expect("the client starts");
        let complained = String::from_utf8_lossy(&stderr);
        // The server may not listen yet.
        if complained.contains("connect to localhost") {
            thread::sleep(Duration::from_millis(10));
            continue;
        }
        assert!(status.success(), "the client {client} of {server}: {status}\n{complained}");
        assert!(running.0.wait().expect("the server ends").success(), "the server {server} of {client}");
        return String::from_utf8(stdout).expect("UTF-8");
    }
    panic!("the server {server} does not listen");
}

/// The program's output with `--json`.
fn json(program: &str, args: &str) -> Value {
    let said = run(program, &format!("{args} --json"));
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{program} {args}: {error} in {said:?}"))
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    macro_rules! all {
        ($($name:literal)*) => { [$(($name, env!(concat!("CARGO_BIN_EXE_", $name)))),*] };
    }
    for (name, program) in all!(
        "adopt" "dc_pingpong" "devx_pingpong" "market_data" "order_entry" "packet_rate" "rc_pingpong" "rdma_operations"
        "reconnect" "registration" "storage_target" "tokio" "ud_pingpong" "write_latency"
    ) {
        for line in run(program, "--help").lines() {
            assert!(line.chars().count() <= 80, "{name} --help: {} columns: {line}", line.chars().count());
        }
    }
}

/// An error is a sentence, and not the value that it has in the source; without its device, no end waits for another.
#[test]
fn a_missing_device_is_told_in_words() {
    for (program, arguments, code) in [
        (env!("CARGO_BIN_EXE_rc_pingpong"), "-d mlx5_99", 2),
        (env!("CARGO_BIN_EXE_write_latency"), "-d mlx5_99 localhost", 2),
        (env!("CARGO_BIN_EXE_multicast"), "no_such_if 239.0.0.1:1", 1),
    ] {
        let output = Command::new(program).args(arguments.split_whitespace()).output().expect("the program starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{program}: {output:?}");
        assert!(told.contains(" no ") && !told.contains('{') && !told.contains("Some("), "{program}: {told}");
    }
}

#[test]
fn first_pair() {
    assert_eq!(run(env!("CARGO_BIN_EXE_first_pair"), ""), "request WrId(1) is done: hello, device!\n");
}

#[test]
fn rc_pingpong() {
    let program = env!("CARGO_BIN_EXE_rc_pingpong");
    for how in ["", "--events"] {
        let report = json(program, &format!("--local -n 100 -s 3000 {how}"));
        assert_eq!((&report["messages"], &report["bytes_verified"]), (&200.into(), &300_000.into()));
        assert!(report["round_trip_us"]["p50"].as_f64().is_some_and(|us| us > 0.0), "{report}");
    }
}

/// The GID that the C tool has to be told of on Ethernet.
fn gid_of_the_c_tool() -> String {
    let path = Device::open_first().expect("a device").path(1, None).expect("a path");
    path.sgid.map_or(String::new(), |entry| format!("-g {}", entry.index))
}

#[test]
fn ud_pingpong() {
    let program = env!("CARGO_BIN_EXE_ud_pingpong");
    for how in ["", "--events"] {
        let report = json(program, &format!("--local -n 100 -s 1000 {how}"));
        assert_eq!((&report["messages"], &report["bytes_verified"]), (&200.into(), &100_000.into()));
    }
    // The C tool as either side; on InfiniBand with GRHs and without.
    let port = Device::open_first().and_then(|device| device.port(1)).expect("a port");
    let gids = match port.link_layer {
        LinkLayer::InfiniBand => vec![String::new(), "-g 0".into()],
        LinkLayer::Ethernet => {
            let entries = Device::open_first().and_then(|device| device.gids(&port)).expect("the GID table");
            entries.iter().map(|entry| format!("-g {}", entry.index)).collect()
        }
    };
    for gid in gids {
        let both = format!("-n 100 -s 1000 -r 16 {gid}");
        assert!(pair("ibv_ud_pingpong", (program, "localhost"), &both).contains("100000 bytes verified"), "{gid}");
        assert!(pair(program, ("ibv_ud_pingpong", "localhost"), &both).contains("100 iters"), "{gid}");
    }
}

#[test]
fn dc_pingpong() {
    let program = env!("CARGO_BIN_EXE_dc_pingpong");
    for how in ["", "--events"] {
        let report = json(program, &format!("--local -n 100 -s 9000 {how}"));
        assert_eq!((&report["messages"], &report["bytes_verified"]), (&200.into(), &900_000.into()));
    }
    // Of two processes; by a GID, and so with addresses of 48 bytes, and on InfiniBand by LID.
    let gids = match Device::open_first().and_then(|device| device.port(1)).expect("a port").link_layer {
        LinkLayer::InfiniBand => ["", "-g 0"],
        LinkLayer::Ethernet => ["-g 0", "-g 1"],
    };
    for gid in gids {
        assert!(client(program, &format!("-n 100 -s 9000 {gid}")).contains("200 messages"), "{gid}");
    }
}

#[test]
fn devx_pingpong() {
    let (devx, verbs) = (env!("CARGO_BIN_EXE_devx_pingpong"), env!("CARGO_BIN_EXE_rc_pingpong"));
    for how in ["devx", "verbs", "devx --events", "verbs --events"] {
        let report = json(devx, &format!("--local -n 100 -s 3000 --peer {how}"));
        assert_eq!((&report["messages"], &report["bytes_verified"]), (&200.into(), &300_000.into()));
        assert_eq!(report["queues"], "DevX", "{report}");
    }
    // The peer cannot tell which library made the queues; rdma-core's program cannot tell it either.
    let both = format!("-n 100 -s 3000 {}", gid_of_the_c_tool());
    assert!(pair(devx, (verbs, "localhost"), &both).contains("queues by verbs: 200 messages"));
    assert!(pair(verbs, (devx, "localhost"), &both).contains("queues by DevX: 200 messages"));
    assert!(pair("ibv_rc_pingpong", (devx, "localhost"), &both).contains("300000 bytes verified"));
    assert!(pair(devx, ("ibv_rc_pingpong", "localhost"), &format!("{both} -r 16")).contains("100 iters"));
}

#[test]
fn rdma_operations() {
    let program = env!("CARGO_BIN_EXE_rdma_operations");
    for how in ["--wait spin", "--wait block", "--wait fd", "--handshake"] {
        let said = run(program, &format!("--local {how}"));
        assert_eq!(said.lines().filter(|line| line.starts_with("verified")).count(), 3, "{said}");
    }
    let said = client(program, "--handshake");
    assert!(said.contains("verified 21 bytes of the RDMA READ: \"RDMA read operation\""), "{said}");
}

/// The C peer of `rdma_operations`, compiled for messages of `bytes` bytes; it exists as long as the folder.
fn c_peer(bytes: usize) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("rdma_rc").display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rdma_rc.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let size = format!("-DBYTES={bytes}");
    let arguments = ["-Wall", "-Wextra", "-Werror", "-O1", &size, "-o", &program, source, "-libverbs"];
    let status = Command::new(&compiler).args(arguments).status().expect("a C compiler");
    assert!(status.success(), "{compiler} {arguments:?}");
    (folder, program)
}

#[test]
fn rdma_operations_with_the_manuals_c_program() {
    let program = env!("CARGO_BIN_EXE_rdma_operations");
    let port = Device::open_first().and_then(|device| device.port(1)).expect("a port");
    let gids = match port.link_layer {
        LinkLayer::InfiniBand => vec![String::new(), "-g 0".into()],
        LinkLayer::Ethernet => vec![gid_of_the_c_tool()],
    };
    // The texts of the manual, and of copies that lost spaces.
    for bytes in [21, 16] {
        let (_folder, peer) = c_peer(bytes);
        for gid in &gids {
            // The format of the C peer is one that C peers understand.
            assert!(pair(&peer, (&peer, "localhost"), gid).contains("verified: RDMA read opera"), "{gid}");
            let said = pair(&peer, (program, "localhost"), gid);
            assert!(said.contains(&format!("verified {bytes} bytes of the RDMA READ")), "{gid}: {said}");
            assert!(said.contains("RDMA WRITE completed"), "{gid}: {said}");
            let said = pair(program, (&peer, "localhost"), gid);
            let texts: Vec<_> = said.lines().map(|line| line.trim_end().trim_end_matches('\0').trim_end()).collect();
            let read = if bytes == 21 { "verified: RDMA read operation" } else { "verified: RDMA read operat" };
            assert_eq!(texts, ["verified: SEND operation", read], "{gid}");
        }
    }
}

#[test]
fn write_latency() {
    let program = env!("CARGO_BIN_EXE_write_latency");
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("histogram.svg");
    // Inline, from memory, and for a time.
    for (args, bytes) in [("-s 64 -n 200", 64), ("-s 100 -n 200", 100), ("-s 8 -I 0 -n 200", 8)] {
        let report = json(program, &format!("--local {args} --svg {}", svg.display()));
        assert_eq!((&report["bytes"], &report["iterations"]), (&bytes.into(), &200.into()), "{report}");
        assert!(report["latency_us"]["p99"].as_f64().is_some_and(|us| us > 0.0), "{report}");
    }
    assert!(std::fs::read_to_string(svg).expect("the histogram").contains("WRITE of 8 bytes"));
    let report = json(program, "--local -D 0.2");
    assert!(report["iterations"].as_u64().is_some_and(|iterations| iterations > 0), "{report}");
    let all = run(program, "--local -a -n 5 --json");
    assert_eq!(all.lines().count(), 23, "{all}");
}

/// Whether port 1 is an Ethernet port, which frames need.
fn is_ethernet() -> bool {
    Device::open_first().and_then(|device| device.port(1)).expect("a port").link_layer == LinkLayer::Ethernet
}

#[test]
fn multicast() {
    let start = |group: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_multicast"));
        command.args(["lo", group]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    if !is_ethernet() {
        let output = start("239.7.9.1:6001").wait_with_output().expect("it ends");
        assert!(
            !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("no RDMA device is behind lo"),
            "{output:?}"
        );
        return;
    }
    let mut receiver = Server(start("239.7.9.1:6001"));
    let lines = BufReader::new(receiver.0.stdout.take().expect("a pipe")).lines();
    let (send, said) = mpsc::channel();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let next = || said.recv_timeout(Duration::from_secs(30)).expect("a line, and soon");
    assert_eq!(next(), "1 rules");
    run(env!("CARGO_BIN_EXE_market_data"), "--interface lo --publish -n 3 -A 239.7.9.1:6001 -B 239.7.9.2:6002");
    for _ in 0..3 {
        assert_eq!(next(), "line 1: a frame of 98 bytes, 28 of them payload");
    }
}

#[test]
fn market_data() {
    let program = env!("CARGO_BIN_EXE_market_data");
    if !is_ethernet() {
        let output = Command::new(program).arg("--local").output().expect("the program starts");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && complained.contains("no network interface"), "{complained}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("histogram.svg");
    // There are as many receives as frames: nothing gets lost by itself.
    let args = format!("--local -n 400 -r 1024 --lose 100 --every 20 --svg {}", svg.display());
    let report = json(program, &args);
    assert_eq!((&report["messages"], &report["frames"]), (&398.into(), &serde_json::json!([396, 398])), "{report}");
    assert_eq!(report["gaps"], serde_json::json!([[200, 200], [400, 400]]), "{report}");
    assert!(report["first"][1].as_u64() >= Some(2), "B alone has messages 100 and 300: {report}");
    assert!(report["error_us"].as_f64().is_some_and(|us| us > 0.0), "{report}");
    assert!(std::fs::read_to_string(svg).expect("the histogram").contains("from the wire"));
    // Two processes, by the name of the interface; other groups, which nothing else sends to.
    let lines = "--interface lo -A 239.7.7.1:6001 -B 239.7.7.2:6002 -n 50 -r 1024";
    let receiver = Command::new(program).args(lines.split_whitespace()).arg("--json").stdout(Stdio::piped()).spawn();
    let receiver = receiver.expect("the program starts");
    let mut receiver = Server(receiver);
    // It has line A's rule when the kernel knows of line B's group, 239.7.7.2, here as a word of x86.
    for _ in 0..1000 {
        if std::fs::read_to_string("/proc/net/igmp").expect("the kernel's table").contains("020707EF") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    run(program, &format!("{lines} --publish"));
    assert!(receiver.0.wait().expect("it ends").success());
    let report: Value = serde_json::from_reader(receiver.0.stdout.take().expect("a pipe")).expect("JSON");
    assert_eq!((&report["messages"], &report["gaps"]), (&50.into(), &serde_json::json!([])), "{report}");
}

#[test]
fn order_entry() {
    if !is_ethernet() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_order_entry");
    // Other groups than those of `market_data`, as both tests run at a time.
    let lines = "-A 239.7.8.1:6001 -B 239.7.8.2:6002 --venue 239.7.8.3:6003";
    let said = run(program, &format!("--local -n 200 -r 1024 --every 100 --evict 64 --json {lines}"));
    let kinds: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!([&kinds[0]["kind"], &kinds[1]["kind"]], ["cold", "warm"], "{said}");
    // 25 of the numbers 1 to 200 have prices above 895: bits 63:54 of their product with 0x9e3779b97f4a7c15.
    let count = |kind: &Value| kind["orders"].as_u64().expect("a number");
    assert_eq!(count(&kinds[0]) + count(&kinds[1]), 25, "{said}");
    for kind in kinds.iter().filter(|kind| count(kind) > 0) {
        assert!(kind["decide_us"]["p50"].as_f64().is_some_and(|us| us > 0.0), "{said}");
    }
}

#[test]
fn packet_rate() {
    if !is_ethernet() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_packet_rate");
    let device = Device::open_first().expect("a device");
    if !device.attr().multi_packet || device.attr().striding.is_none() {
        let output = Command::new(program).args(["--local", "--striding"]).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("histogram.svg");
    for how in [
        "",
        "--session 8",
        "--session 16 --gather -s 1514",
        "--gather --striding",
        "--striding --compress --session 4 -l 63",
        "--run forward --session 3 -s 200",
        "--run forward --striding --compress",
    ] {
        // The receiver passes its ring several times. The sender and the receiver have a line each.
        let said = run(program, &format!("--local -n 5000 --json --svg {} {how}", svg.display()));
        let sides: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(sides.len(), 2, "{how}: {said}");
        for side in &sides {
            assert_eq!(side["frames"], 5000, "{how}: {said}");
            assert!(side["frames_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{how}: {said}");
            assert!(side["frame_us"]["p50"].as_f64().is_some_and(|us| us > 0.0), "{how}: {said}");
        }
        let receives = |side: &&Value| side["run"] == if how.contains("forward") { "forward" } else { "receive" };
        assert_eq!(sides.iter().filter(receives).count(), 1, "{how}: {said}");
    }
    assert!(std::fs::read_to_string(svg).expect("the histogram").contains("CPU time"));
    // Two processes. The receiver does not say when it is ready: the sender sends until it has ended.
    let receiver =
        Command::new(program).args(["--interface", "lo", "-n", "300", "--json"]).stdout(Stdio::piped()).spawn();
    let mut receiver = Server(receiver.expect("the program starts"));
    for _ in 0..100 {
        run(program, "--interface lo --run send -n 50");
        if receiver.0.try_wait().expect("a state").is_some() {
            break;
        }
    }
    assert!(receiver.0.wait().expect("it ends").success());
    let report: Value = serde_json::from_reader(receiver.0.stdout.take().expect("a pipe")).expect("JSON");
    assert!(report["frames"].as_u64() >= Some(300), "{report}");
}

#[test]
fn storage_target() {
    let report = json(env!("CARGO_BIN_EXE_storage_target"), "--local -D 0.9 -s 1000");
    let initiators = report["initiators"].as_array().expect("a list");
    assert_eq!(initiators.len(), 4, "{report}");
    for one in initiators {
        assert!(one["bytes_verified"].as_u64().is_some_and(|bytes| bytes >= 1000), "{report}");
    }
    let deaths = report["deaths"].as_array().expect("a list");
    assert_eq!((deaths.len(), &deaths[0]["number"]), (1, &3.into()), "{report}");
    assert!(deaths[0]["others_meanwhile"].as_u64().is_some_and(|commands| commands > 0), "{report}");
}

#[test]
fn reconnect() {
    let report = json(env!("CARGO_BIN_EXE_reconnect"), "--local -D 2");
    let last = report["deaths"].as_array().and_then(|deaths| deaths.last()).expect("a death");
    assert!(last["error"].as_str().is_some_and(|error| error.contains("did not answer")), "{report}");
    assert!(report["messages"].as_u64() > last["resumed_at"].as_u64(), "{report}");
}

#[test]
fn tokio() {
    let program = env!("CARGO_BIN_EXE_tokio");
    // More tasks than requests may be outstanding, and fewer.
    for args in ["--tasks 8 -t 3 -n 20 -s 5000", "--tasks 1 -t 4 -n 20 -s 1"] {
        let report = json(program, &format!("--local {args}"));
        let tasks = if args.contains("--tasks 8") { 8 } else { 1 };
        assert_eq!(report["round_trips"], 20 * tasks, "{report}");
        assert!(report["bytes_verified"].as_u64() >= report["round_trips"].as_u64(), "{report}");
    }
}

#[test]
fn registration() {
    let said = run(env!("CARGO_BIN_EXE_registration"), "--max-bytes 65536 --rounds 1 --json");
    let sizes: Vec<u64> = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line["huge_pages"] == false)
        .inspect(|line| assert!(line["register_us"].as_f64().is_some_and(|us| us > 0.0), "{line}"))
        .filter_map(|line| line["bytes"].as_u64())
        .collect();
    // Touched before, and not.
    assert_eq!(sizes, [4096, 4096, 65536, 65536]);
}

#[test]
fn two_processes() {
    let said = client(env!("CARGO_BIN_EXE_write_latency"), "-n 100 -s 16");
    assert!(said.starts_with("16 bytes, 100 exchanges"), "{said}");
    let said = client(env!("CARGO_BIN_EXE_tokio"), "-n 10");
    assert!(said.starts_with("80 round trips, 327680 bytes verified"), "{said}");
    let said = client(env!("CARGO_BIN_EXE_rdma_operations"), "");
    assert!(said.contains("RDMA READ") && said.contains("RDMA WRITE completed"), "{said}");
}

#[test]
fn exit_codes() {
    let program = env!("CARGO_BIN_EXE_write_latency");
    for (args, code, text) in [
        (&["--no-such-option"][..], 2, "unexpected argument"),
        (&["--local", "-a", "-s", "8"], 2, "cannot be used with"),
        (&["localhost", "-p1"], 1, "connect to localhost:1"),
        (&["--local", "-d", "no_such_device"], 2, "no_such_device"),
        (&["--local", "-m", "1000"], 1, "the MTU must be"),
        (&["--local", "-i", "77"], 1, "port"),
    ] {
        let output = Command::new(program).args(args).output().expect("the program starts");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {complained}");
        assert!(complained.contains(text), "{args:?}: {complained}");
    }
}

#[test]
fn adopt() {
    let said = run(env!("CARGO_BIN_EXE_adopt"), "");
    assert!(said.contains("written and read back: 96 bytes") && said.contains("received:"), "{said}");
}
