//! `blueflame top` as a program: a sample of a device whose counters move, of the queues of this process, and its exit
//! codes.
//!
//! Samples and exit codes belong here. Arithmetic and the screen belong beside the code, in
//! `tools/src/bin/blueflame/top`.
//!
//! ```text
//! softhca-run --link ethernet --
//! ```

#![cfg(feature = "device")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use blueflame::transport::Rc;
use blueflame::verbs::{Access, Device, Pool};
use blueflame::{WrId, wqe};
use serde_json::Value;

fn top(arguments: &str, sysfs: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blueflame"));
    command.arg("top").args(arguments.split_whitespace());
    if let Some(sysfs) = sysfs {
        command.env("SYSFS_PATH", sysfs).env("SOFTHCA_SYSFS", sysfs);
    }
    command.output().expect("runs")
}

fn sample(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn a_sample_has_the_ports_of_the_device() {
    let sample = sample(&top("--json --delay 0.1", None));
    let port = &sample["ports"][0];
    assert_eq!((&port["device"], &port["port"], &port["state"]), (&"mlx5_0".into(), &1.into(), &"ACTIVE".into()));
    assert_eq!(port["rate"], "100 Gb/sec (4X EDR)");
    let names: Vec<_> =
        port["counters"].as_array().expect("counters").iter().filter_map(|c| c["name"].as_str()).collect();
    for name in ["port_xmit_data", "port_rcv_packets", "out_of_buffer", "rx_read_requests"] {
        assert!(names.contains(&name), "no {name} in {names:?}");
    }
    let shown = top("--once --delay 0.1 -d mlx5_0", None);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    for part in ["mlx5_0 port 1, ACTIVE, 100 Gb/sec", "sent ", "out_of_buffer"] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
}

/// The speeds are those of a tree whose counters a test raises.
#[test]
fn speeds_are_those_of_the_counters() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = folder.path().join("class/infiniband/mlx5_7/ports/1");
    let write = |name: &str, value: u64| fs::write(port.join(name), format!("{value}\n")).expect("written");
    for part in ["counters", "hw_counters"] {
        fs::create_dir_all(port.join(part)).expect("made");
    }
    fs::write(port.join("state"), "4: ACTIVE\n").expect("written");
    let set = |words: u64, packets: u64, drops: u64| {
        for (name, value) in [("port_xmit_data", words), ("port_xmit_packets", packets)] {
            write(&format!("counters/{name}"), value);
        }
        write("hw_counters/out_of_buffer", drops);
    };
    set(1000, 100, 0);
    let sample = thread::scope(|scope| {
        let sample = scope.spawn(|| sample(&top("--json --delay 4 -d mlx5_7", Some(folder.path()))));
        thread::sleep(Duration::from_secs(2));
        set(251_000, 1100, 3);
        sample.join().expect("a sample")
    });
    let port = &sample["ports"][0];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{sample:#}"));
    let seconds = number(&port["seconds"]);
    assert!((4.0..30.0).contains(&seconds), "{seconds}");
    // 250,000 units of four bytes, and 1000 packets.
    assert!((number(&port["sent"]["bytes_per_second"]) * seconds - 1e6).abs() < 1.0, "{sample:#}");
    assert!((number(&port["sent"]["packets_per_second"]) * seconds - 1000.0).abs() < 0.01, "{sample:#}");
    assert!((number(&port["errors_per_second"]) * seconds - 3.0).abs() < 0.01, "{sample:#}");
}

/// This process has a queue pair that is connected to itself, and has sent 300 WRITEs of two WQEBBs.
#[test]
fn queues_have_the_counts_of_their_work() {
    const WRITES: u64 = 300;
    let device = Device::open_first().expect("run this by ./run test, or under softhca-run");
    let pd = device.protection_domain().expect("a PD");
    let memory = Pool::new(&pd, 4096, Access::ALL).expect("a pool").take(4096).expect("all of it");
    let mut cq = device.completion_queue(80).build().expect("a CQ");
    let mut pair =
        pd.queue_pair::<Rc>(&cq, &cq).sends(64).inline(64).receives::<WrId>(8).build().expect("a queue pair");
    let path = device.path(1, None).expect("a path");
    let itself = pair.qp.endpoint(&path);
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &itself, &itself).expect("RTS");
    for n in 0..WRITES {
        let request = wqe::write(memory.remote().at(0)).inline(&[1; 64]).signaled(WrId(n));
        pair.sq.post(&request).expect("room");
        let done = loop {
            match cq.poll() {
                Some(cqe) => break pair.sq.retire(&cqe).expect("outstanding").wr_id,
                None => thread::yield_now(),
            }
        };
        assert_eq!(done, WrId(n));
    }
    let pid = std::process::id();
    let sample = sample(&top(&format!("--queues --json --delay 0.1 --pid {pid} -d mlx5_0"), None));
    let queues = sample["queues"].as_array().expect("queues");
    let number = u64::from(pair.qp.qpn().get());
    let of = |kind: &str, number: u64| {
        let queue = queues.iter().find(|queue| queue["kind"] == kind && queue["number"] == number);
        queue.unwrap_or_else(|| panic!("no {kind} {number}: {sample:#}"))
    };
    let (own, completions) = (of("QP", number), of("CQ", u64::from(cq.cqn().get())));
    assert_eq!((&own["type"], &own["state"], &own["peer"]), (&"RC".into(), &"RTS".into(), &number.into()));
    assert_eq!((&own["pid"], &own["per_second"]["messages"]), (&pid.into(), &0.0.into()), "all was before");
    assert_eq!(own["counters"]["WQEBBs fetched"], 2 * WRITES);
    assert_eq!(own["counters"]["messages"], WRITES);
    assert_eq!(completions["counters"]["completions"], WRITES);
    let shown = top("--queues --once --delay 0.1", None);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(&format!("mlx5_0 QP {number:#x}, RC, RTS, peer {number:#x}, pid {pid}")), "{shown}");
    // The last reader has removed the folder.
    let tree = std::env::var("SOFTHCA_SYSFS").expect("under softhca-run");
    assert!(!Path::new(&tree).join("queues").exists());
}

/// Without the software device, the kernel is asked, which has no RDMA here.
#[test]
fn the_kernel_is_asked_where_there_is_no_software_device() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blueflame"));
    let output = command.args(["top", "--queues", "--json", "--delay", "0.1"]).env_remove("SOFTHCA_SYSFS").output();
    let output = output.expect("runs");
    let text = String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr });
    assert!(text.contains("RDMA netlink"), "{output:?}");
}

#[test]
fn exit_codes_tell_wrong_calls_from_failures() {
    let code = |arguments: &str| top(arguments, None).status.code();
    assert_eq!(code("--once -d mlx5_99"), Some(2));
    assert_eq!(code("--delay 0"), Some(2));
    assert_eq!(code("--pid 1"), Some(2));
    // The live view needs a terminal.
    let live = top("", None);
    assert_eq!(live.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&live.stderr).contains("--once"), "{live:?}");
}
