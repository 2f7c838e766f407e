//! Programs on wires that leave the host: UDP, interfaces, TAP devices and sockets. The hosts are network namespaces,
//! made without privilege, with a cable between them; and addresses of the loopback interface, which every machine has.
//!
//! Programs on several hosts belong here, programs of one host in the folder of their library.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{self, Command};
use std::time::Duration;

use super::pair::{Device, ends_of, free_port, launch_on, launcher, listens, long, preload};
use super::program::compiled;

/// A program with its arguments, and those of the client besides. `-g 1` is the host's IPv4 address.
type Case = (&'static str, &'static [&'static str]);

/// The cases of every run.
const SHORT: &[Case] = &[
    ("ibv_rc_pingpong", &["-g", "1", "-c", "-n", "200"]),
    ("ibv_ud_pingpong", &["-g", "1", "-c", "-n", "200"]),
    ("ib_send_bw", &["-n", "200", "-s", "20000"]),
    ("ib_write_lat", &["-n", "200"]),
];

/// What `--long` adds.
const LONG: &[Case] = &[
    // The link-local address.
    ("ibv_rc_pingpong", &["-g", "0", "-c"]),
    ("ibv_rc_pingpong", &["-g", "1", "-c", "-e", "-s", "100000"]),
    ("ibv_uc_pingpong", &["-g", "1", "-c"]),
    ("ibv_srq_pingpong", &["-g", "1", "-c"]),
    ("ib_send_lat", &["-n", "1000"]),
    ("ib_send_lat", &["-n", "1000", "-c", "UD"]),
    ("ib_send_bw", &["-n", "500", "-q", "4"]),
    ("ib_write_bw", &["-n", "500"]),
    ("ib_read_bw", &["-n", "500"]),
    ("ib_read_lat", &["-n", "500"]),
    ("ib_atomic_lat", &["-n", "500"]),
    ("ib_atomic_bw", &["-n", "500"]),
];

/// One of sixteen addresses of this process, in 127.0.0.0/8, so that two runs of the tests do not meet.
fn loopback(number: u32) -> Ipv4Addr {
    assert!(number < 1 << 4);
    Ipv4Addr::from(127 << 24 | (process::id() << 4 | number) & 0xff_ffff)
}

/// Whether this machine lets its users make namespaces. It must where `NEEDS_NAMESPACES` is set.
fn has_namespaces() -> bool {
    let mut make = Command::new("unshare");
    make.args(["--user", "--map-root-user", "--net", "sh", "-c", "ip link add a0 type veth peer name b0"]);
    let made = make.output();
    let has = made.as_ref().is_ok_and(|made| made.status.success());
    assert!(has || std::env::var_os("NEEDS_NAMESPACES").is_none(), "NEEDS_NAMESPACES, but {make:?}: {made:?}");
    has
}

/// Runs server and client on two hosts, by UDP; returns their output.
fn on_two_hosts(options: &str, port: &str, server: &str, client: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/two-hosts");
    // They do not share a network by memory.
    let directories = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let launched = |host: usize, command: &str| launched(&format!("--wire udp {options}"), &directories[host], command);
    in_namespaces(&[], &[script, port, &launched(1, server), &launched(0, client)])
}

/// A command line of the launcher.
fn launched(options: &str, fabric: &tempfile::TempDir, command: &str) -> String {
    let (launcher, object) = (env!("CARGO_BIN_EXE_softhca-run"), preload());
    format!("{launcher} {options} --preload {} --fabric {} -- {command}", object.display(), fabric.path().display())
}

/// Runs a command as root of a user namespace and a network namespace; returns its output.
fn in_namespaces(environment: &[(&str, &str)], command: &[&str]) -> String {
    let mut both = Command::new("timeout");
    both.args(["60", "unshare", "--user", "--map-root-user", "--net"]).args(command);
    both.envs(environment.iter().copied());
    let output = both.output().expect("the namespaces are made");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{command:?}: {:?}\n{text}", output.status);
    assert!(!text.contains("complaint"), "{command:?}:\n{text}");
    text
}

#[test]
fn programs_of_two_hosts_meet_by_udp() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let long = if long() { LONG } else { &[] };
    for (tool, arguments) in SHORT.iter().chain(long) {
        // Each host has all ports.
        let command = format!("{tool} -p 18700 {}", arguments.join(" "));
        on_two_hosts("", "18700", &command, &format!("{command} 10.47.0.2"));
    }
}

/// librdmacm: management datagrams between the well-known QPs of both hosts.
#[test]
fn connections_between_hosts_are_made() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let client = directory.path().join("client");
    // The server may not listen yet.
    let attempts = "for try in $(seq 50); do rping -c -a 10.47.0.2 -p 18704 -C 20 -v && exit; sleep 0.1; done; exit 1";
    fs::write(&client, attempts).expect("the script is written");
    let text = on_two_hosts("", "", "rping -s -a 10.47.0.2 -p 18704 -C 20", &format!("sh {}", client.display()));
    assert_eq!(text.matches("ping data: rdma-ping-").count(), 20, "{text}");
}

#[test]
fn a_bad_network_between_hosts_is_repaired() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let command = "ib_write_bw -p 18701 -n 200 -s 8000";
    on_two_hosts("--faults drop=10,dup=5,reorder=5,seed=3", "18701", command, &format!("{command} 10.47.0.2"));
}

/// `transport.c` is at both ends, as it is against Linux' software device (`./run interop`).
#[test]
fn every_operation_passes_between_hosts() {
    let (_directory, program) = compiled("transport");
    const CASES: &str = "rc uc ud atomics mixed srq rnr silent refusals invalidate -s 5000";
    if !has_namespaces() {
        let command = [&[&program, "-g", "0"], &CASES.split(' ').collect::<Vec<_>>()[..]].concat();
        return at_loopback_addresses(&command);
    }
    const LOSSES: &str = "--faults drop=10,dup=10,reorder=10,seed=5";
    for (options, cases) in [("", CASES), (LOSSES, "-l rc atomics mixed srq -s 5000")] {
        let command = format!("{program} -g 1 -p 18706 {cases}");
        on_two_hosts(options, "18706", &command, &format!("{command} 10.47.0.2"));
    }
}

/// Marks of a congested router, and notifications of them, are counted on both hosts.
#[test]
fn congestion_is_notified_and_counted() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let counters = "ib_write_bw -p 18702 -n 200 -s 8000 --tclass 2 \"$@\"; status=$?; sleep 0.2
        cd $SYSFS_PATH/class/infiniband/mlx5_0/ports/1/hw_counters
        echo np_ecn_marked_roce_packets $(cat np_ecn_marked_roce_packets) np_cnp_sent $(cat np_cnp_sent)
        echo rp_cnp_handled $(cat rp_cnp_handled) rx_icrc_encapsulated $(cat rx_icrc_encapsulated); exit $status";
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("counted");
    fs::write(&script, counters).expect("the script is written");
    let command = format!("sh {}", script.display());
    let text = on_two_hosts("--faults ecn=100,seed=3", "18702", &command, &format!("{command} 10.47.0.2"));
    let values = |name: &str| -> Vec<u64> {
        let words: Vec<_> = text.split_whitespace().collect();
        words.windows(2).filter(|pair| pair[0] == name).map(|pair| pair[1].parse().expect("a number")).collect()
    };
    let [marked, sent, handled, wrong] =
        ["np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rx_icrc_encapsulated"].map(values);
    assert!(marked.iter().sum::<u64>() >= 20 && marked.len() == 2, "{text}");
    assert!(sent.iter().zip(&marked).all(|(sent, marked)| sent <= marked), "{text}");
    assert!(sent.iter().sum::<u64>() > 0, "{text}");
    // One that leaves first may miss the last notifications.
    assert!(handled.iter().sum::<u64>() > 0 && handled.iter().sum::<u64>() <= sent.iter().sum(), "{text}");
    assert_eq!(wrong, [0, 0], "{text}");
}

/// Both ends on this host, at two of its loopback addresses: all programs where hosts cannot be made.
#[test]
fn programs_meet_at_loopback_addresses() {
    let all = if has_namespaces() { 1 } else { SHORT.len() };
    for (tool, arguments) in &SHORT[..all] {
        let arguments = arguments.iter().map(|&argument| if argument == "1" { "0" } else { argument });
        at_loopback_addresses(&[tool].into_iter().copied().chain(arguments).collect::<Vec<_>>());
    }
}

/// Runs server and client of a program, each at an address of its own.
fn at_loopback_addresses(command: &[&str]) {
    let fabric = tempfile::tempdir().expect("a directory");
    let port = free_port();
    let text = port.to_string();
    let mut command = [command, &["-p", &text]].concat();
    let wires = [1, 2].map(|number| format!("udp:{}", loopback(number)));
    let server = launcher(&["--wire", &wires[1]], fabric.path(), &command);
    command.push("127.0.0.1");
    let client = launcher(&["--wire", &wires[0]], fabric.path(), &command);
    let (ends, outputs) = ends_of(server, client, || listens(port));
    let well = ends.iter().all(|end| end.is_some_and(|status| status.success()));
    assert!(well && !outputs.concat().contains("complaint"), "{command:?}: {ends:?}\n{}", outputs.concat());
}

/// RoCE and raw packets on interfaces of the hosts, beside their kernels.
#[test]
fn programs_use_interfaces_beside_their_kernels() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let fabric = tempfile::tempdir().expect("a directory");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/two-hosts");
    let rights = [("RIGHTS", "all")];
    let lists = if long() { &[SHORT, LONG][..] } else { &[&SHORT[..1]] };
    for (tool, arguments) in lists.iter().copied().flatten() {
        // The table has two entries for each address: the ping-pongs take that of IPv4 for RoCE v2.
        let arguments = arguments.join(" ").replace("-g 1", "-g 3").replace("-g 0", "-g 1");
        let command = format!("{tool} -p 18705 {arguments}");
        let server = launched("--wire raw:far0", &fabric, &command);
        let client = launched("--wire raw:near0", &fabric, &format!("{command} 10.47.0.2"));
        in_namespaces(&rights, &[script, "18705", &server, &client]);
    }
    let (_directory, program) = compiled("beside_kernel");
    let server = launched("--wire raw:far0", &fabric, &format!("{program} echo"));
    let text = in_namespaces(&rights, &[script, "", &server, &format!("{program} ask 10.47.0.2 near0")]);
    assert_eq!(text, "");
}

/// The host's kernel at the other end of a TAP device.
#[test]
fn a_program_answers_the_kernel_through_a_tap() {
    if !has_namespaces() || !Path::new("/dev/net/tun").exists() {
        return eprintln!("not run: users of this machine cannot make TAP devices");
    }
    let fabric = tempfile::tempdir().expect("a directory");
    let (_directory, program) = compiled("beside_kernel");
    let up = "ip addr add 10.95.7.254/16 dev tap7 && ip link set tap7 up";
    let command = format!("{program} echo '{up} && {program} ask 10.95.7.1 tap7'");
    let text = in_namespaces(&[], &["sh", "-c", &launched("--wire tap:tap7 --index 7", &fabric, &command)]);
    assert_eq!(text, "");
}

/// A network at a Unix socket, without any right.
#[test]
fn programs_meet_at_a_socket() {
    let fabric = tempfile::tempdir().expect("a directory");
    let wire = format!("socket:{}", fabric.path().join("network").display());
    const FEW: [Case; 2] = [("ibv_rc_pingpong", &["-g", "1", "-c", "-n", "30"]), ("ib_write_bw", &["-n", "50"])];
    let cases = if long() { [SHORT, LONG].concat() } else { FEW.to_vec() };
    for (tool, arguments) in cases {
        let arguments = arguments.iter().map(|&argument| if argument == "1" { "3" } else { argument });
        let port = free_port();
        let text = port.to_string();
        let mut command = vec![tool, "-p", &text];
        command.extend(arguments);
        let server = launcher(&["--wire", &wire, "--index", "1"], fabric.path(), &command);
        command.push("127.0.0.1");
        let client = launcher(&["--wire", &wire, "--index", "2"], fabric.path(), &command);
        let (ends, outputs) = ends_of(server, client, || listens(port));
        let well = ends.iter().all(|end| end.is_some_and(|status| status.success()));
        assert!(well && !outputs.concat().contains("complaint"), "{command:?}: {ends:?}\n{}", outputs.concat());
    }
}

#[test]
fn a_second_program_at_an_address_is_refused() {
    let address = loopback(3);
    let options = ["--wire", &format!("udp:{address}")];
    // The first one listens (state 0A) when it has its device.
    let script = "ibv_rc_pingpong -g 0 -p 18703 & until grep -q ':490F .* 0A ' /proc/net/tcp /proc/net/tcp6; do
        kill -0 $! || break; sleep 0.05; done; ibv_devinfo; status=$?; kill $!; exit $status";
    let (code, output) = launch_on(&Device::new(&options), &["sh", "-c", script], Duration::from_secs(30));
    assert!(code != Some(0), "{output}");
    assert!(output.contains(&format!("UDP port 4791 of {address}: Address already in use")), "{output}");
}

#[test]
fn impossible_wires_are_refused_with_their_reason() {
    let udp = format!("udp:{}", loopback(4));
    for (options, reason) in [
        (&["--wire", &udp, "--link", "infiniband"][..], "--link infiniband is impossible"),
        (&["--wire", &udp, "--devices", "2"], "one device with one port"),
        (&["--wire", &udp, "--ports", "2"], "one device with one port"),
        (&["--wire", "udp:192.0.2.1"], "192.0.2.1: Cannot assign requested address"),
        (&["--wire", "udp:host"], "`host` is no IP address"),
        (&["--wire", "tcp"], "`tcp` is none of"),
        (&["--wire", "raw:none"], "no interface none is up"),
        (&["--wire", "socket:/x", "--link", "infiniband"], "--wire socket:/x carries Ethernet"),
    ] {
        let (code, output) = launch_on(&Device::new(options), &["true"], Duration::from_secs(30));
        assert!(code != Some(0) && output.contains(reason), "{options:?}: {code:?} {output}");
    }
}

/// The table of GIDs is that of the addresses: their order, their types, and no others.
#[test]
fn gids_are_the_hosts_addresses() {
    let addresses = [5, 6].map(loopback);
    let options = ["--wire", &format!("udp:{},{}", addresses[0], addresses[1])];
    let script = "cd $SYSFS_PATH/class/infiniband/mlx5_0/ports/1; cat gids/* gid_attrs/types/* gid_attrs/ndevs/*";
    let (code, output) = launch_on(&Device::new(&options), &["sh", "-c", script], Duration::from_secs(30));
    let gids = addresses.map(|address| {
        let [a, b, c, d] = address.octets();
        format!("0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}")
    });
    let expected = [&gids[0], &gids[1], "RoCE v2", "RoCE v2", "lo", "lo"];
    assert_eq!((code, output.lines().collect::<Vec<_>>()), (Some(0), expected.to_vec()));
}

/// UCX takes the first IPv4 address, and asks the host for a route to it by the interface that sysfs says.
#[test]
fn an_ipv4_address_with_a_route_comes_first() {
    if !has_namespaces() {
        return eprintln!("not run: users of this machine cannot make network namespaces");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let read = "cd $SYSFS_PATH/class/infiniband/mlx5_0/ports/1; cat gids/3 gid_attrs/ndevs/3";
    let look = launched("--link ethernet", &directory, &format!("sh -c '{read}'"));
    let route = "ip link add a0 type veth peer name b0 && ip link set a0 up && ip route add 10.95.0.0/16 dev a0";
    let text = in_namespaces(&[], &["sh", "-c", &format!("ip link set lo up && {look} && {route} && {look}")]);
    let address = "0000:0000:0000:0000:0000:ffff:";
    let expected = [&format!("{address}7f00:0001"), "lo", &format!("{address}0a5f:0001"), "a0"];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected.to_vec());
}
