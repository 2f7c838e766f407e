//! Management datagrams by `/dev/infiniband/umadN`: infiniband-diags' programs, unmodified, and requests by hand.
//!
//! Programs that send management datagrams belong here, programs that only look into `/sys` in `sysfs`.

use crate::pair::{Device, launch_on};
use crate::program::launch;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the commands in one shell, and checks that each prints the texts after it, in their order.
fn prints(options: &[&str], commands: &[(&str, &[&str])]) {
    prints_on(&Device::new(options), commands);
}

fn prints_on(device: &Device, commands: &[(&str, &[&str])]) {
    const MARK: &str = "== ";
    let mut script = String::from("exec 2>&1; PATH=$PATH:/usr/sbin\n");
    for (command, _) in commands {
        script += &format!("echo '{MARK}'; {command}\n");
    }
    let fabric = device.fabric.path().to_str().expect("UTF-8");
    let (code, output) = launch_on(device, &["sh", "-c", &script, fabric], PATIENCE);
    assert!(code.is_some(), "{output}");
    let printed: Vec<_> = output.split(MARK).skip(1).collect();
    assert_eq!(printed.len(), commands.len(), "{output}");
    for ((command, texts), printed) in commands.iter().zip(printed) {
        let mut at = 0;
        for text in *texts {
            let found = printed[at..].find(text);
            assert!(found.is_some(), "{command}: no {text:?} in\n{printed}");
            at += found.unwrap_or(0) + text.len();
        }
    }
}

/// Programs print the facts of a port that are in sysfs.
#[test]
fn programs_ask_the_port_itself() {
    let commands: [(&str, &[&str]); 10] = [
        ("ibaddr", &["GID fe80::200:5f03:0:1 LID start 0x1 end 0x1\n"]),
        ("sminfo", &["sm lid 1000 sm guid 0x2005f0300010000", "priority 0 state 3 SMINFO_MASTER\n"]),
        (
            "smpquery nodeinfo 1",
            &[
                "NodeType:........................Channel Adapter\nNumPorts:........................1\n",
                "SystemGuid:......................0x02005f0300000000\n",
                "PortGuid:........................0x02005f0300000001\n",
                "DevId:...........................0x1017\n",
                "VendorId:........................0x0002c9\n",
            ],
        ),
        ("smpquery -D nodedesc 0", &["Node Description:...............mlx5_0 (software)\n"]),
        (
            "smpquery portinfo 1 1",
            &[
                "GidPrefix:.......................0xfe80000000000000\nLid:.............................1\n",
                "SMLid:...........................1000\nCapMask:.........................0x2651e848\n",
                "LinkWidthActive:.................4X\n",
                "LinkState:.......................Active\nPhysLinkState:...................LinkUp\n",
                "NeighborMTU:.....................4096\n",
                "GuidCap:.........................8\n",
                "LinkSpeedExtActive:..............25.78125 Gbps\n",
            ],
        ),
        ("smpquery guidinfo 1", &["   0: 0x02005f0300000001 0x0000000000000000", "8 guids capacity for this port\n"]),
        ("smpquery pkeys 1", &["   0: 0xffff 0x0000", "1 pkeys capacity for this port\n"]),
        ("smpquery sl2vl 1", &["| 0| 1| 2| 3| 4| 5| 6| 7| 0| 1|"]),
        ("ibportstate 1 1 query", &["LinkState:.......................Active\n"]),
        // A setting is refused with a status.
        ("ibportstate -e 1 1 disable", &["MAD completed with error status 0xc"]),
    ];
    prints(&[], &commands);
    prints(&["--namespace=never"], &commands[..3]);
}

/// The fabric is one switch, whose manager answers.
#[test]
fn programs_discover_the_fabric() {
    prints(
        &["--devices", "2", "--ports", "2"],
        &[
            (
                "ibnetdiscover",
                &[
                    "Switch\t4 \"S-02005f0300010000\"\t\t# \"softhca fabric\" base port 0 lid 1000 lmc 0\n",
                    "[3]\t\"H-02005f0300000100\"[1](2005f0300000101) \t\t# \"mlx5_1 (software)\" lid 3 4xEDR\n",
                    "Ca\t2 \"H-02005f0300000000\"",
                    "[2](2005f0300000002) \t\"S-02005f0300010000\"[2]\t\t# lid 2 lmc 0 \"softhca fabric\" lid 1000 4xEDR",
                ],
            ),
            (
                "iblinkinfo -l",
                &["\"softhca fabric\"", "4X      25.78125 Gbps Active/  LinkUp", "\"mlx5_0 (software)\""],
            ),
            ("ibroute 1000", &["0x0003 003 : (Channel Adapter portguid 0x02005f0300000101", "5 valid lids dumped"]),
            (
                "ibtracert 1 4",
                &["[1] -> switch port {0x02005f0300010000}[1]", "[4] -> ca port {0x02005f0300000102}[2]"],
            ),
            ("smpquery nodedesc 4", &["mlx5_1 (software)\n"]),
            ("smpquery -D nodedesc 0,1,3", &["mlx5_1 (software)\n"]),
            ("smpquery -C mlx5_1 -P 2 -D nodeinfo 0,2", &["NumPorts:........................4\n"]),
            // A way through a device, and a LID that no port has.
            ("smpquery -t 20 -D nodedesc 0,1,3,1", &["node info query failed"]),
            ("smpquery -t 20 nodedesc 9", &["node info query failed"]),
            ("smpquery -e -t 20 -D nodedesc 0,2", &["send failed; Invalid argument"]),
            ("saquery", &["NodeDescription.........softhca fabric\n", "port_guid...............0x02005f0300000102\n"]),
            ("saquery PIR 4/2", &["EndPortLid..............4\n", "SMLid:...........................1000\n"]),
            (
                "saquery -p --src-to-dst 1:4",
                &["dgid....................fe80::200:5f03:0:102\n", "rate....................0x90\n"],
            ),
            ("saquery PR | grep -c PathRecord", &["25\n"]),
            ("saquery -s", &["EndPortLid..............1000\n"]),
            ("saquery VLAR", &["MAD Method/Attribute combination is not supported"]),
            ("smpquery -G nodedesc 0x02005f0300000101", &["mlx5_1 (software)\n"]),
            ("ibqueryerrors", &["3 nodes checked, 0 bad nodes found\n", "8 ports checked"]),
            ("ibhosts", &["Ca\t: 0x02005f0300000100 ports 2 \"mlx5_1 (software)\"\n"]),
            ("ibswitches", &["Switch\t: 0x02005f0300010000 ports 4 \"softhca fabric\" base port 0 lid 1000 lmc 0\n"]),
        ],
    );
}

/// The counters are those in sysfs, of packets of all programs, and a program can clear them.
#[test]
fn counters_are_those_of_sysfs() {
    let script = r#"
        exec 2>&1; PATH=$PATH:/usr/sbin
        /usr/bin/python3 "$0" >/dev/null
        counters=/sys/class/infiniband/mlx5_0/ports/1/counters
        for i in $(seq 200); do
            before=$(cat $counters/port_xmit_packets); sleep 0.05
            [ "$before" -ge 2 ] && [ "$(cat $counters/port_xmit_packets)" = "$before" ] && break
        done
        show() { perfquery $1 | sed -n 's/Port\(Xmit\|Rcv\)\(Data\|Pkts\):\.*/\1 \2 /p'; }
        expect() { for name in xmit_data rcv_data xmit_packets rcv_packets; do cat $counters/port_$name; done; }
        for option in "" -x; do
            [ "$(show $option | cut -d' ' -f3)" = "$(expect)" ] || { echo "perfquery $option"; show $option; expect; }
        done
        # The other end of the cable.
        [ "$(perfquery 1000 1 | grep PortRcvPkts | tr -dc 0-9)" = "$before" ] || perfquery 1000 1
        perfquery -R; show
        for i in $(seq 200); do [ "$(cat $counters/port_xmit_packets)" = 0 ] && break; sleep 0.01; done; expect"#;
    // A WRITE from a port to itself: a packet, and its acknowledgement.
    let write = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/howto/write.py");
    let (code, output) = launch(&[], &["bash", "-c", script, write], PATIENCE);
    assert_eq!((code, output.as_str()), (Some(0), "Xmit Data 0\nRcv Data 0\nXmit Pkts 0\nRcv Pkts 0\n0\n0\n0\n0\n"));
}

/// Nothing comes across a pulled cable.
#[test]
fn a_pulled_cable_is_seen() {
    prints(
        &["--devices", "2"],
        &[
            ("touch $0/mlx5_1-1.down; smpquery -t 20 nodedesc 3", &["node info query failed"]),
            ("smpquery -t 20 -D nodedesc 0,1,2", &["node info query failed"]),
            (
                "smpquery portinfo 1000 2",
                &["LinkState:.......................Down\nPhysLinkState:...................Polling"],
            ),
            ("rm $0/mlx5_1-1.down; smpquery nodedesc 3", &["mlx5_1 (software)\n"]),
        ],
    );
}

/// Requests by hand, and how they end. Ethernet ports have no QP 0.
#[test]
fn bad_requests_are_refused_as_by_linux() {
    let script = r#"
import errno, fcntl, os, random, select, stat, struct, sys, time
ethernet = sys.argv[1] == "ethernet"
REGISTER, UNREGISTER, PKEY, REGISTER2 = 0xc01c1b01, 0x40041b02, 0x1b03, 0xc0281b04
def fails(error, run, *arguments):
    try: run(*arguments)
    except OSError as found: assert found.errno == error, (found, error, arguments)
    else: assert False, (error, arguments)
def register(fd, qpn, kind, rmpp=0):
    request = bytearray(struct.pack("I16xBBB3xBx", 77, qpn, kind, 1, rmpp))
    fcntl.ioctl(fd, REGISTER, request)
    return struct.unpack("I", request[:4])[0]
def umad(agent, kind=1, method=1, attribute=0x11, lid=1, timeout=1000, retries=0, tid=5, qpn=None, base=1, modifier=0):
    if qpn is None: qpn = 0 if kind in (1, 0x81) else 1
    header = struct.pack("5I", agent, 0, timeout, retries, 0) + struct.pack(">IIH34x", qpn, 0, lid)
    return header + struct.pack(">BBBBHHQHHI", base, kind, 1, method, 0, 0, tid, attribute, 0, modifier) + bytes(232)
path = "/dev/infiniband/umad0"
number = os.stat(path)
assert stat.S_ISCHR(number.st_mode) and os.stat("/dev/infiniband/umad1").st_rdev == number.st_rdev + 1, number
fails(errno.ENOENT, os.open, "/dev/infiniband/umad2", os.O_RDWR)
assert open("/sys/class/infiniband_mad/umad1/dev").read() == "231:1\n"
assert open("/sys/class/infiniband_mad/umad1/port").read() == "2\n"
fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
assert os.fstat(fd).st_rdev == number.st_rdev
fcntl.ioctl(fd, PKEY)
fails(errno.EINVAL, os.write, fd, umad(0))
if ethernet:
    fails(errno.EPROTONOSUPPORT, register, fd, 0, 1)
else:
    assert register(fd, 0, 1) == 0
for qpn, kind, rmpp in [(2, 0, 0), (1, 1, 0), (0, 4, 0), (1, 80, 0), (1, 0x30, 0), (1, 4, 1), (1, 3, 2)]:
    fails(errno.EINVAL, register, fd, qpn, kind, rmpp)
agents = [register(fd, 1, 4) for _ in range(31 + ethernet)]
assert agents == list(range(not ethernet, 32)), agents
fails(errno.ENOMEM, register, fd, 1, 4)
for agent in agents[1:]:
    fcntl.ioctl(fd, UNREGISTER, struct.pack("I", agent))
fails(errno.EINVAL, fcntl.ioctl, fd, UNREGISTER, struct.pack("I", agents[1]))
fails(errno.EINVAL, fcntl.ioctl, fd, UNREGISTER, struct.pack("I", 32))
fails(errno.EINVAL, fcntl.ioctl, fd, PKEY)
fails(errno.ENOTTY, fcntl.ioctl, fd, 0x1b09)
fails(errno.EFAULT, fcntl.ioctl, fd, REGISTER, 8)
# Python copies up to 1024 bytes, and some releases do not copy them back after an error.
flags = bytearray(struct.pack("IIBBHIQQIB3x", 0, 1, 4, 1, 0, 1, 0, 0, 0, 0)).ljust(1025, b"\0")
fails(errno.EINVAL, fcntl.ioctl, fd, REGISTER2, flags)
assert flags[12:16] == bytes(4)
flags[8:16] = struct.pack("BBHI", 4, 1, 0, 0)
fcntl.ioctl(fd, REGISTER2, flags)
performance = agents[0]
fails(errno.EAGAIN, os.read, fd, 320)
fails(errno.EINVAL, os.read, fd, 63)
assert select.select([fd], [fd], [], 0)[:2] == ([], [fd])
def answer():
    assert select.select([fd], [], [], 5)[0] == [fd]
    fails(errno.EINVAL, os.read, fd, 64)
    data = os.read(fd, 500)
    agent, status, _, _, length = struct.unpack("5I", data[:20])
    method, code = struct.unpack(">BH", data[67:70])
    return (agent, status, len(data) - 64, method, code, struct.unpack(">Q", data[72:80])[0] & 0xffffffff)
LOST, ANSWERED = errno.ETIMEDOUT, 0x81
def ask(expected, *arguments, **names):
    os.write(fd, umad(*arguments, **names))
    found = answer()
    assert found[1:5] == expected, (found, expected, arguments, names)
if ethernet:
    # Addresses of Ethernet are GIDs.
    fails(errno.EINVAL, os.write, fd, umad(performance, 4))
    own = bytes.fromhex(open("/sys/class/infiniband/mlx5_0/ports/1/gids/1").read().replace(":", ""))
    for gid, expected in [(own, (0, 256, ANSWERED, 0)), (b"\1" * 16, (LOST, 24, 1, 0))]:
        data = umad(performance, 4, timeout=20)
        data = data[:32] + b"\1\1\0\0" + gid + data[52:80] + b"\0\1" + data[82:]
        os.write(fd, data)
        assert answer()[1:5] == expected
else:
    ask((0, 256, ANSWERED, 0), 0)
    for attribute, modifier, method, code in [
        (0x99, 0, 1, 0xc), (0x15, 3, 1, 0x1c), (0x14, 1, 1, 0x1c), (0x16, 1, 1, 0x1c), (0x15, 1, 2, 0xc), (0x20, 0, 1, 0xc),
        (0x12, 0, 1, 0xc),
    ]:
        ask((0, 256, ANSWERED, code), 0, attribute=attribute, modifier=modifier, method=method)
    # Lost: another version of the format, a method that nobody answers, the wrong queue pair, no such LID.
    for lost in [dict(base=2), dict(method=3), dict(qpn=1), dict(lid=77), dict(kind=4)]:
        ask((LOST, 24, lost.get("method", 1), 0), 0, timeout=10, retries=1, **lost)
    ask((0, 256, ANSWERED, 0x1c), performance, 4, attribute=0x12)
    ask((0, 256, ANSWERED, 0xc), performance, 9)
    # A second request of the same transaction, while the first waits.
    os.write(fd, umad(0, lid=77, tid=1, timeout=1000000))
    fails(errno.EINVAL, os.write, fd, umad(0, lid=77, tid=1))
    # A later request whose time is shorter ends first, and a reader waits.
    os.set_blocking(fd, True)
    os.write(fd, umad(0, lid=77, tid=2, timeout=20))
    assert os.read(fd, 320)[72 + 7] == 2
    os.set_blocking(fd, False)
    # Without a time, nothing comes back. The other port has a file of its own.
    os.write(fd, umad(0, timeout=0))
    fails(errno.EAGAIN, os.read, fd, 320)
agent = performance if ethernet else 0
for length in range(64 + 36): fails(errno.EINVAL, os.write, fd, umad(agent)[:length])
fails(errno.EINVAL, os.write, fd, umad(agent) + b"\0")
random.seed(1)
sent = 0
for length in range(64, 321):
    data = bytearray(random.randbytes(length))
    data[:4] = struct.pack("I", agent)
    if length % 2: data[8:12] = struct.pack("I", 1); data[28:33] = umad(agent)[28:33]
    try: sent += os.write(fd, data) > 0
    except OSError as error: assert error.errno == errno.EINVAL, error
assert sent > 0
# An older program: no P_Key index, so a shorter header.
old = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
register(old, 1, 4)
fails(errno.EINVAL, fcntl.ioctl, old, PKEY)
if not ethernet:
    data = umad(0, 4)
    os.write(old, data[:56] + data[64:])
    assert len(os.read(old, 312)) == 312
os.close(old)
# The child of a fork has the file, as a daemon has those of its parent.
while select.select([fd], [], [], 0.05)[0]: os.read(fd, 500)
child = os.fork()
if child == 0:
    if not ethernet:
        ask((0, 256, ANSWERED, 0), 0)
        ask((LOST, 24, 1, 0), 0, timeout=10, lid=77)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
os.close(fd)
fails(errno.EBADF, os.write, fd, umad(0))
"#;
    for link in ["infiniband", "ethernet"] {
        let (code, output) = launch(
            &["--link", link, "--ports", "2"],
            &["/usr/bin/python3", "-W", "ignore", "-c", script, link],
            PATIENCE,
        );
        assert_eq!((code, output.as_str()), (Some(0), ""), "{link}");
    }
}
