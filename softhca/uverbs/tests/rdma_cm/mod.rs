//! Debian's librdmacm, unmodified, on Ethernet ports: rdma-core's and libfabric's programs connect through it.
//!
//! Connections of librdmacm belong here, between hosts in `hosts`.

use crate::pair::{Device, both, free_port, listens};
use crate::program::{compiled, launch};
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const ETHERNET: &[&str] = &["--link", "ethernet"];
/// Packets may have 4096 bytes.
const LARGE_FRAMES: &[&str] = &["--link", "ethernet", "--mtu", "9000"];
const STRICT: &[&str] = &["--link", "ethernet", "--strict"];
/// A network that doubles, reorders and delays frames: per mille.
const UNSTEADY: &[&str] = &["--link", "ethernet", "--faults", "dup=20,reorder=20,delay=5,seed=11"];
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether a program of `device`'s network listens on `port` of the connection manager, in any port space.
/// `src/rdma_cm/ports.rs` describes the files.
fn manager_listens(device: &Device, port: u16) -> bool {
    const LISTENING: u32 = 1 << 3;
    ports(device).filter(|path| path.to_string_lossy().contains(&format!("-{port:05}-"))).any(|path| {
        let Ok(file) = fs::File::open(path) else { return false };
        let mut record = [0; 8];
        let _ = file.read_exact_at(&mut record, 0);
        let flags = u32::from_ne_bytes([record[4], record[5], record[6], record[7]]);
        // The process that has bound it holds its lock until it ends. One that makes the file does not have it yet, and
        // would not get it beside this one.
        // SAFETY: a descriptor that is open.
        flags & LISTENING != 0 && unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } != 0
    })
}

/// The files of the ports that are bound.
fn ports(device: &Device) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = fs::read_dir(device.fabric.path()).expect("the network's directory").flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains("/cm-port-"))
}

/// Runs a server that listens on `port`, and a client; the outputs. Each network has ports of its own, so that
/// programs' usual ones are free.
fn connect(options: &[&str], port: u16, server: &[&str], client: &[&str]) -> [String; 2] {
    let device = Device::new(options);
    let (ends, outputs) = both(&device, server, client, || manager_listens(&device, port));
    let shown = format!("server:\n{}\nclient:\n{}", outputs[0], outputs[1]);
    let well = ends.iter().all(|end| end.is_some_and(|status| status.success()));
    assert!(well && !shown.contains("complaint"), "{options:?} {server:?} {client:?} ended with {ends:?}\n{shown}");
    outputs
}

#[test]
fn ucmatose_connects_and_exchanges() {
    for options in [ETHERNET, STRICT] {
        for arguments in [&["-c", "1"][..], &["-c", "20", "-C", "20", "-S", "4000"]] {
            let server = [&["ucmatose"], arguments].concat();
            let outputs = connect(options, 7471, &server, &[&server[..], &["-s", "127.0.0.1"]].concat());
            assert!(outputs.iter().all(|output| output.contains("return status 0")), "{outputs:?}");
        }
    }
}

#[test]
fn rping_checks_its_data() {
    let exchange = |options: &[&str], listen: &str, to: &str| {
        let common = ["rping", "-C", "50", "-V", "-S", "1000", "-a"];
        connect(options, 7174, &[&common[..], &[listen, "-s"]].concat(), &[&common[..], &[to, "-c"]].concat());
    };
    for options in [ETHERNET, STRICT, UNSTEADY] {
        exchange(options, "127.0.0.1", "127.0.0.1");
    }
    // IPv6; a loopback address, which is all addresses; and the second device's own address.
    exchange(ETHERNET, "::1", "::1");
    exchange(ETHERNET, "127.0.0.1", "10.95.0.1");
    exchange(&["--link", "ethernet", "--devices", "2"], "0.0.0.0", "10.95.1.1");
}

/// InfiniBand ports have no IP addresses here. librdmacm's event has a number alone.
#[test]
fn on_infiniband_the_log_says_which_option_is_missing() {
    let (code, output) = launch(&[], &["rping", "-c", "-a", "127.0.0.1", "-C", "1"], PATIENCE);
    assert_ne!(code, Some(0), "{output}");
    assert!(output.contains("ADDR_ERROR, error -19"), "{output}");
    assert!(
        output.contains("127.0.0.1 is no address of these ports") && output.contains("--link ethernet"),
        "{output}"
    );
    // A server that listens on all addresses asks for none.
    let (_, output) = launch(&[], &["timeout", "1", "rping", "-s", "-C", "1"], PATIENCE);
    assert!(!output.contains("--link ethernet"), "{output}");
}

#[test]
fn udaddy_finds_its_peer_and_exchanges() {
    for (options, bytes) in [(ETHERNET, "1000"), (STRICT, "1000"), (LARGE_FRAMES, "4000")] {
        for arguments in [&["-c", "1"][..], &["-c", "5", "-C", "20", "-S", bytes]] {
            let server = [&["udaddy"], arguments].concat();
            let outputs = connect(options, 7174, &server, &[&server[..], &["-s", "127.0.0.1"]].concat());
            assert!(outputs.iter().all(|output| output.contains("return status 0")), "{outputs:?}");
        }
    }
}

/// The sender waits for three seconds after it has joined, which the receiver has for its start.
#[test]
fn members_of_a_multicast_group_get_its_messages() {
    for options in [ETHERNET, STRICT] {
        let device = Device::new(options);
        let member = ["mckey", "-m", "239.1.2.3", "-b", "10.95.0.1", "-c", "2", "-C", "10"];
        let (ends, outputs) = both(&device, &member, &[&member[..], &["-s"]].concat(), || true);
        let shown = format!("receiver:\n{}\nsender:\n{}", outputs[0], outputs[1]);
        assert!(ends.iter().all(|end| end.is_some_and(|status| status.success())), "{ends:?}\n{shown}");
        for output in &outputs {
            assert_eq!(output.matches("joined dgid: ::ffff:239.1.2.3 mlid 0x0 sl 0").count(), 2, "{shown}");
            assert!(output.contains("data transfers complete") && !output.contains("complaint"), "{shown}");
        }
    }
}

#[test]
fn programs_connect_in_the_port_space_of_infiniband() {
    for kind in ["r", "x"] {
        let server = ["rdma_xserver", "-c", kind];
        let [server, client] = connect(ETHERNET, 7471, &server, &["rdma_xclient", "-s", "127.0.0.1", "-c", kind]);
        assert!(server.contains("end 0") && client.contains("end 0"), "{kind}: {server}\n{client}");
    }
}

#[test]
fn rdma_client_meets_rdma_server() {
    let [server, client] = connect(ETHERNET, 7471, &["rdma_server"], &["rdma_client", "-s", "127.0.0.1"]);
    assert!(server.contains("rdma_server: end 0") && client.contains("rdma_client: end 0"), "{server}\n{client}");
}

#[test]
fn libfabric_connects_over_verbs() {
    // The server tells the client its address over TCP, and both go on over verbs. Reliable datagrams ("rdm") are left
    // out: libfabric puts them on connections. If it learns that a connection ended before it has looked for the last
    // message, it discards that message and then waits for it. The largest datagram is as long as the path MTU.
    for (options, endpoint, largest) in
        [(ETHERNET, "msg", "1m"), (ETHERNET, "dgram", "1k"), (LARGE_FRAMES, "dgram", "4k")]
    {
        let device = Device::new(options);
        let port = free_port();
        let text = port.to_string();
        let common = ["fi_pingpong", "-p", "verbs", "-e", endpoint, "-I", "50", "-c"];
        let server = [&common[..], &["-B", &text]].concat();
        let client = [&common[..], &["-P", &text, "127.0.0.1"]].concat();
        let (ends, outputs) = both(&device, &server, &client, || listens(port));
        let well = ends.iter().all(|end| end.is_some_and(|status| status.success()));
        assert!(well, "{endpoint}: {ends:?}\nserver:\n{}\nclient:\n{}", outputs[0], outputs[1]);
        assert!(outputs.iter().all(|output| output.lines().any(|line| line.starts_with(largest))), "{outputs:?}");
    }
}

#[test]
fn failures_are_told_as_by_the_kernel() {
    // IB_CM_REJ_INVALID_SERVICE_ID; IB_SIDR_UNSUPPORTED; no way to the address; no IP addresses on InfiniBand ports.
    let cases = [
        (ETHERNET, "ucmatose", "127.0.0.1", "RDMA_CM_EVENT_REJECTED, error: 8"),
        (ETHERNET, "udaddy", "127.0.0.1", "RDMA_CM_EVENT_UNREACHABLE, error: 1"),
        (ETHERNET, "ucmatose", "198.51.100.1", "RDMA_CM_EVENT_ADDR_ERROR, error: -113"),
        (&[], "ucmatose", "127.0.0.1", "RDMA_CM_EVENT_ADDR_ERROR, error: -19"),
    ];
    for (options, tool, address, expected) in cases {
        let (code, output) = launch(options, &[tool, "-s", address], PATIENCE);
        assert!(code.is_some_and(|code| code != 0) && output.contains(expected), "{tool} {address}: {output}");
    }
}

#[test]
fn connections_calls_and_errors_are_those_of_the_kernel() {
    let (_directory, program) = compiled("rdma_cm");
    for options in [ETHERNET, STRICT] {
        assert_eq!(launch(options, &[&program], PATIENCE), (Some(0), String::new()), "{options:?}");
    }
}

#[test]
fn commands_and_messages_may_be_anything() {
    let (_directory, program) = compiled("rdma_cm");
    let quiet = [ETHERNET, &["--log", "error"]].concat();
    assert_eq!(launch(&quiet, &[&program, "hostile"], PATIENCE), (Some(0), String::new()));
}

#[test]
fn an_event_channel_is_for_the_user_who_opened_it() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("only root can become another user");
    }
    let (_directory, program) = compiled("rdma_cm");
    let (code, output) = launch(ETHERNET, &[&program, "user"], PATIENCE);
    let told = "a process cannot use an event channel that it opened as another user or group";
    assert!(code == Some(0) && output.lines().count() == 1 && output.contains(told), "{code:?} {output}");
}

#[test]
fn the_end_of_a_process_is_a_disconnection() {
    let device = Device::new(ETHERNET);
    let listens = || manager_listens(&device, 7174);
    let client = ["rping", "-c", "-a", "127.0.0.1"];
    // A signal kills it in the middle: its output for each message has no reader. The client goes on until it is told.
    let (ends, outputs) = both(&device, &["sh", "-c", "rping -s -v | head -n 1"], &client, listens);
    assert!(ends[1].is_some() && outputs[1].contains("DISCONNECT EVENT"), "{ends:?}\n{outputs:?}");
    // The dead's port is free.
    let client = [&client[..], &["-C", "1"]].concat();
    for _ in 0..2 {
        let (ends, outputs) = both(&device, &["rping", "-s", "-C", "1"], &client, listens);
        assert!(ends.iter().all(|end| end.is_some_and(|status| status.success())), "{ends:?}\n{outputs:?}");
    }
    assert_eq!(ports(&device).count(), 0, "ports that nobody has are left");
}
