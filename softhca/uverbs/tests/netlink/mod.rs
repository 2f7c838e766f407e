//! The kernel's `NETLINK_RDMA`, as iproute2's `rdma` and libibverbs ask it.
//!
//! Questions by netlink belong here, looks into `/sys` in `sysfs`.

use crate::pair::{Device, launch_on};
use crate::program::launch;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a script of the shell, which succeeds; its output, without the spaces at the ends of lines.
fn printed(options: &[&str], script: &str) -> String {
    let (code, output) = launch(options, &["sh", "-c", script], PATIENCE);
    assert_eq!(code, Some(0), "{script}\n{output}");
    trimmed(&output)
}

fn trimmed(output: &str) -> String {
    output.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Its views of an InfiniBand device, with a namespace and without.
#[test]
fn rdma_shows_devices_links_and_resources() {
    let views = "rdma dev; rdma link show; rdma link show mlx5_0/1; rdma resource show; rdma system show";
    let link = "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 1 sm_lid 1000 lmc 0 state ACTIVE \
                physical_state LINK_UP\n";
    for namespace in ["--namespace", "--namespace=never"] {
        let expected = [
            "0: mlx5_0: node_type ca",
            " fw 16.35.4030 node_guid 0200:5f03:0000:0000 sys_image_guid 0200:5f03:0000:0000\n",
            link,
            link,
            "0: mlx5_0: pd 0 cq 0 qp 0 cm_id 0 mr 0 ctx 0 srq 0\n",
            // Newer releases of iproute2 print "monitor off" between the two.
            "netns shared ",
            "copy-on-fork on",
        ];
        let (code, output) = launch(&[namespace], &["sh", "-c", views], PATIENCE);
        if namespace == "--namespace" && output.contains("permits no namespace") {
            eprintln!("this machine permits no namespaces");
            continue;
        }
        let (output, mut at) = (trimmed(&output), 0);
        for text in expected {
            let found = output[at..].find(text);
            assert!(code == Some(0) && found.is_some(), "{namespace}: no {text:?} in\n{output}");
            at += found.unwrap_or(0) + text.len();
        }
    }
}

#[test]
fn rdma_shows_ports_on_ethernet_as_json() {
    let options = ["--link", "ethernet", "--devices", "16", "--ports", "2"];
    let output = printed(&options, "rdma -j link; rdma dev | wc -l; ibv_devices | wc -l; rdma -d link show mlx5_9/2");
    // One port has the machine's addresses, and the interface of one, not `lo` unless there is no other.
    let interfaces = "cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/* 2>/dev/null | grep -vx lo || echo lo";
    let interfaces = printed(&options, interfaces);
    let port = |device: u32, port: u32, interface: &str| {
        let index = std::fs::read_to_string(format!("/sys/class/net/{interface}/ifindex")).expect("an interface");
        format!(
            r#"{{"ifindex":{device},"ifname":"mlx5_{device}","port":{port},"state":"ACTIVE","physical_state":"LINK_UP","netdev":"{interface}","netdev_index":{}}}"#,
            index.trim()
        )
    };
    assert!(interfaces.lines().any(|interface| output.contains(&port(0, 1, interface))), "{output}");
    for (device, number) in [(0, 2), (15, 2)] {
        assert!(output.contains(&port(device, number, "lo")), "{output}");
    }
    // `ibv_devices` has two lines of headings. Newer releases of iproute2 end the last line before the bracket.
    assert!(output.replace("\n]", "]").contains("}]\n16\n18\n"), "{output}");
    assert!(output.ends_with("caps: <CM, OTHER_LOCAL_CHANGES>\n"), "{output}");
}

/// The state of links is that in sysfs.
#[test]
fn rdma_shows_a_pulled_cable() {
    let device = Device::new(&[]);
    let fabric = device.fabric.path().to_str().expect("UTF-8");
    let (code, output) = launch_on(&device, &["sh", "-c", "touch \"$0/mlx5_0-1.down\"; rdma link", fabric], PATIENCE);
    assert!(code == Some(0) && output.contains("state DOWN physical_state POLLING"), "{output}");
}

/// A program has the resources that it has made, until it is killed. Programs of other processes count them.
#[test]
fn resources_of_other_programs_are_counted() {
    let script = r#"
        until_there() { for i in $(seq 500); do rdma resource | grep "$1" && break; sleep 0.01; done; }
        "$@" >/dev/null 2>&1 & program=$!
        until_there "$0"; kill -KILL $program; { wait $program; } 2>/dev/null; rdma resource"#;
    let none = "0: mlx5_0: pd 0 cq 0 qp 0 cm_id 0 mr 0 ctx 0 srq 0\n";
    let srq = "pd 1 cq 1 qp 16 cm_id 0 mr 1 ctx 1 srq 1";
    let cases: [(&str, &str, &[&str]); 3] = [
        ("infiniband", "pd 1 cq 1 qp 1 cm_id 0 mr 1 ctx 1 srq 0", &["ibv_rc_pingpong"]),
        ("infiniband", srq, &["ibv_srq_pingpong"]),
        // librdmacm has a domain for each device.
        ("ethernet", "pd 1 cq 0 qp 0 cm_id 1 mr 0 ctx 1 srq 0", &["rping", "-s", "-a", "10.95.0.1"]),
    ];
    for (link, counts, program) in cases {
        let command = [&["sh", "-c", script, counts], program].concat();
        let (code, output) = launch(&["--link", link], &command, PATIENCE);
        let lines = trimmed(&output);
        assert!(code == Some(0) && lines.contains(&format!("0: mlx5_0: {counts}\n{none}")), "{output}");
    }
}

/// Requests by hand, and the number that each is acknowledged with.
#[test]
fn requests_are_refused_as_by_linux() {
    let script = r#"
import errno, os, socket, struct
NETLINK, RDMA, REQUEST, ACK, DUMP = 16, 20, 1, 4, 0x300
device = lambda number: struct.pack("HHI", 8, 1, number)
port = lambda number: struct.pack("HHI", 8, 3, number)
kind = lambda text: struct.pack("HH", 5 + len(text), 69) + text + bytes(4 - len(text) % 4)
def message(op, attributes=b"", flags=REQUEST, client=5):
    return struct.pack("IHHII", 16 + len(attributes), client << 10 | op, flags, 7, 0) + attributes
def ask(*messages, send=lambda s, data: s.send(data)):
    with socket.socket(NETLINK, socket.SOCK_RAW, RDMA) as s:
        s.settimeout(5)
        assert send(s, b"".join(messages)) == len(b"".join(messages))
        answers = []
        s.setblocking(False)
        while True:
            try: data, sender = s.recvfrom(65536)
            except BlockingIOError: return answers
            length, what, flags, sequence, own = struct.unpack("IHHII", data[:16])
            assert (length, sequence, own) == (len(data), 7, s.getsockname()[0]), data
            answers.append(-struct.unpack("i", data[16:20])[0] if what == 2 else what)
GET, DONE = 5 << 10 | 1, 3
for answers, request in [
    ([GET], message(1, device(0))),
    ([GET, 0], message(1, device(0), REQUEST | ACK)),
    ([GET, DONE], message(1, flags=REQUEST | DUMP | ACK)),
    ([errno.EINVAL], message(1, device(1))),
    ([errno.EINVAL], message(1)),
    ([errno.EINVAL], message(1, b"\3\0\1\0")),
    ([errno.EINVAL], message(1, b"\6\0\1\0\0\0\0\0")),
    ([GET], message(5, device(0) + port(1))),
    ([errno.EINVAL], message(5, device(0) + port(0))),
    ([errno.EINVAL], message(5, device(0) + port(2))),
    ([errno.EINVAL], message(5, flags=REQUEST | DUMP)),
    ([5 << 10 | 5, DONE], message(5, device(0), REQUEST | DUMP)),
    ([errno.EOPNOTSUPP], message(15, kind(b"rdma_cm"))),
    ([5 << 10 | 15], message(15, kind(b"uverbs") + device(0))),
    ([errno.EINVAL], message(15, kind(b"uverbs"))),
    ([errno.EINVAL], message(15)),
    ([5 << 10 | 15], message(15, kind(b"umad") + device(0) + port(1))),
    ([errno.EINVAL], message(15, kind(b"umad") + device(0))),
    ([errno.EOPNOTSUPP], message(15, kind(b"issm") + device(0) + port(1))),
    ([errno.EOPNOTSUPP], message(10, device(0), REQUEST | DUMP)),
    ([errno.EOPNOTSUPP], message(0, client=4)),
    ([], message(1, device(0), 0)),
    ([0], message(1, device(0), ACK)),
    ([], b"\0" * 16),
    ([], b"\1"),
    ([], b""),
    ([GET, GET], message(1, device(0)) * 2),
]:
    assert ask(request) == answers, (request, ask(request), answers)
request = message(1, device(0))
for send in [
    lambda s, data: s.sendto(data, (0, 0)),
    lambda s, data: s.sendmsg([data[:5], b"", data[5:]]),
    lambda s, data: s.bind((0, 0)) or s.send(data),
    lambda s, data: os.write(s.fileno(), data),
]:
    assert ask(request, send=send) == [GET]
with socket.socket(NETLINK, socket.SOCK_RAW, RDMA) as s:
    try: s.send(bytes(1 << 17))
    except OSError as error: assert error.errno == errno.EMSGSIZE
    else: assert False
    # Answers that are not read fill the socket, and nothing waits.
    try:
        while True: s.send(request)
    except BlockingIOError: pass
"#;
    let (code, output) = launch(&[], &["/usr/bin/python3", "-c", script], PATIENCE);
    assert_eq!((code, output.as_str()), (Some(0), ""));
}
