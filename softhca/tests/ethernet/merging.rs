//! Large receive offload: TCP segments that become one frame.
//!
//! Segments, the places of their data, the CQEs of merged frames and what ends a message belong here, TIRs and commands
//! in `merging/tirs.rs`. Fields by Linux' `struct mlx5_cqe64` and DPDK's `struct mlx5_cqe`; expected sums were computed apart.

use crate::frame::{frame, ipv4, mac, sum};
use crate::mailbox::Mail;
use crate::node::{Cq, ERR, Node, Queue, RDY, RST, op};
use crate::striding::{Sender, nodes, post, striding};
use proptest::prelude::*;
use softhca::config::Generation;
use softhca::firmware::Status;
use std::time::Duration;

mod tirs;

/// The shortest time of a session, and the longest.
const SHORT: u64 = 8;
const LONG: u64 = 1024;

/// A TCP segment and its frame's other headers.
#[derive(Clone, Debug)]
struct Tcp {
    ipv6: bool,
    tag: Vec<u8>,
    traffic_class: u8,
    ttl: u8,
    /// IPv4's flags and offset of a fragment.
    fragment: u16,
    ports: [u16; 2],
    sequence: u32,
    acknowledgement: u32,
    flags: u16,
    window: u16,
    options: Vec<u8>,
    data: Vec<u8>,
    /// Bytes behind the packet.
    padding: usize,
    /// XORed into the checksums of IPv4 and TCP.
    faults: [u16; 2],
}

/// Bytes of a segment's data, less than which are not merged.
const LEAST: usize = 1348;

/// The first segment of most tests.
fn first() -> Tcp {
    Tcp {
        ipv6: false,
        tag: vec![],
        traffic_class: 0,
        ttl: 64,
        fragment: 0x4000,
        ports: [40000, 80],
        sequence: 0xffff_ff00,
        acknowledgement: 0x0102_0304,
        flags: 0x10,
        window: 0x1112,
        options: vec![],
        data: vec![1; LEAST],
        padding: 0,
        faults: [0; 2],
    }
}

/// The option of time stamps, behind two NOPs (RFC 7323, appendix A).
fn stamps(sent: u32, returned: u32) -> Vec<u8> {
    [&[1, 1, 8, 10][..], &sent.to_be_bytes(), &returned.to_be_bytes()].concat()
}

impl Tcp {
    /// The segment behind this one, with `data`.
    fn next(&self, data: Vec<u8>) -> Self {
        Self { sequence: self.sequence.wrapping_add(self.data.len() as u32), data, ..self.clone() }
    }

    fn frame(&self) -> Vec<u8> {
        let mut tcp = [self.ports[0].to_be_bytes(), self.ports[1].to_be_bytes()].concat();
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.acknowledgement.to_be_bytes());
        tcp.extend(((5 + self.options.len() as u16 / 4) << 12 | self.flags).to_be_bytes());
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0; 4]);
        tcp.extend(&self.options);
        tcp.extend(&self.data);
        let addresses = if self.ipv6 {
            let address = |last| [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
            [address(1), address(2)].concat()
        } else {
            vec![10, 0, 0, 1, 10, 0, 0, 2]
        };
        let checksum = !sum(&[&addresses, &[0, 6], &(tcp.len() as u16).to_be_bytes(), &tcp]) ^ self.faults[1];
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        let mut ip = if self.ipv6 {
            let length = (tcp.len() as u16).to_be_bytes();
            vec![0x60 | self.traffic_class >> 4, self.traffic_class << 4, 0, 7, length[0], length[1], 6, self.ttl]
        } else {
            let length = (20 + tcp.len() as u16).to_be_bytes();
            let [high, low] = self.fragment.to_be_bytes();
            vec![0x45, self.traffic_class, length[0], length[1], 0, 9, high, low, self.ttl, 6, 0, 0]
        };
        ip.extend(addresses);
        if !self.ipv6 {
            let checksum = !sum(&[&ip]) ^ self.faults[0];
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        let kind: [u8; 2] = if self.ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] };
        [&mac(2)[..], &mac(1), &self.tag, &kind, &ip, &tcp, &vec![0xee; self.padding]].concat()
    }
}

/// The command that makes a TIR.
fn tir_mail(node: &Node, rqn: u64, mask: u64, usecs: u64, units: u64) -> Mail {
    Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.inline_rqn", rqn)
        .set("ctx.transport_domain", node.td)
        .set("ctx.packet_merge_mask", mask)
        .set("ctx.lro_timeout_period_usecs", usecs)
        .set("ctx.lro_max_ip_payload_size", units)
}

/// All frames go to a TIR that merges. Returns the TIR, and the table and the group of its rule.
fn merge_all(node: &mut Node, rqn: u64, usecs: u64, units: u64) -> (u64, (u64, u64)) {
    let mail = tir_mail(node, rqn, 3, usecs, units);
    let tir = node.number(mail, "create_tir_out", "tirn");
    (tir, node.take_all(tir))
}

/// Bytes of the first buffer of a WQE, and of the second one.
const BUFFERS: [u64; 2] = [100, 0x5000];

/// Where the buffers of a WQE are.
fn buffers(queue: &Queue, index: u16) -> [u64; 2] {
    let at = queue.buffers + u64::from(index) * 0x6000;
    [at, at + 0x800]
}

/// Posts WQEs of two buffers.
fn post_pairs(node: &mut Node, queue: &mut Queue, wqes: u16) {
    for _ in 0..wqes {
        let mut wqe = Vec::new();
        for (at, bytes) in buffers(queue, queue.posted).into_iter().zip(BUFFERS) {
            wqe.extend((bytes as u32).to_be_bytes());
            wqe.extend(node.key.to_be_bytes());
            wqe.extend(at.to_be_bytes());
        }
        node.memory.write(queue.pages[0] + u64::from(queue.posted) * 32, &wqe);
        queue.posted += 1;
    }
    node.memory.write(queue.record, &u32::from(queue.posted).to_be_bytes());
}

/// The first `bytes` bytes in the buffers of a WQE.
fn stored(node: &Node, queue: &Queue, index: u16, bytes: usize) -> Vec<u8> {
    let [first, second] = buffers(queue, index);
    let head = bytes.min(BUFFERS[0] as usize);
    [node.memory.read(first, head), node.memory.read(second, bytes - head)].concat()
}

/// A receiver whose cyclic queue has eight WQEs, and whose TIR merges for `usecs`, up to `units` of 256 bytes.
struct Bench {
    a: Sender,
    b: Node,
    cq: Cq,
    rq: Queue,
    tir: u64,
    table: u64,
    group: u64,
}

impl Bench {
    fn new(usecs: u64, units: u64) -> Self {
        let (a, mut b) = nodes(Generation::ConnectX6Dx);
        let cq = b.cq();
        let mut rq = b.rq(&cq, false, 0);
        rq.buffers = b.alloc(8 * 0x6000);
        post_pairs(&mut b, &mut rq, 8);
        let (tir, (table, group)) = merge_all(&mut b, rq.number, usecs, units);
        Self { a, b, cq, rq, tir, table, group }
    }

    fn send(&mut self, segments: &[Tcp]) {
        self.a.send(&segments.iter().map(Tcp::frame).collect::<Vec<_>>(), &mut self.b);
    }

    /// Has the rule carry out actions on each frame.
    fn modify_frames(&mut self, actions: &[[u8; 8]]) {
        let list = Mail::command("alloc_modify_header_context_in", op::ALLOC_MODIFY_HEADER)
            .set("num_of_actions", actions.len() as u64)
            .followed_by(&actions.concat());
        let id = self.b.number(list, "alloc_modify_header_context_out", "modify_header_id");
        // Forward and modify, in the place of a second rule that matches as much.
        self.b.bare(&Mail::command("delete_fte_in", op::DELETE_FTE).set("table_id", self.table)).unwrap();
        let rule = Node::rule(0, (self.table, self.group, 0), &[], 0x44, &[(2, self.tir)], &[]);
        self.b.bare(&rule.set("flow_context.modify_header_id", id)).unwrap();
    }

    /// Lets the time of a session pass.
    fn wait(&mut self) {
        self.b.now += Duration::from_micros(LONG);
        self.b.step();
    }

    fn poll(&mut self) -> Option<[u8; 64]> {
        self.b.poll(&mut self.cq)
    }

    /// For each CQE: how many segments, and how many bytes.
    fn poll_all(&mut self) -> Vec<(u8, u32)> {
        std::iter::from_fn(|| self.poll()).map(|cqe| (cqe[32], be32(&cqe[44..]))).collect()
    }
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[test]
fn segments_become_one_frame() {
    let mut bench = Bench::new(LONG, 255);
    // The sequence number wraps around.
    let one = first();
    let two = Tcp { ttl: 60, window: 0x2122, acknowledgement: 0x0102_0305, ..one.next(vec![2; 1400]) };
    let three = Tcp { ttl: 61, window: 0x3132, ..two.next(vec![3; LEAST]) };
    bench.send(&[one.clone(), two, three]);
    assert_eq!(bench.poll(), None, "there may be more segments");
    bench.wait();
    let cqe = bench.poll().unwrap();
    let bytes = 54 + 2 * LEAST + 1400;
    // No PSH, the least TTL, the last window and acknowledgement number; the sum of the data.
    assert_eq!(cqe[4..12], [0, 60, 0x31, 0x32, 1, 2, 3, 5]);
    assert_eq!(cqe[20..22], [0x10, 0x10]);
    // Layers 2 to 4 are right, IPv4, TCP with ACK and data; three segments, the user's index.
    assert_eq!(cqe[28..36], [7, 0x48, 0, 0, 3, 0x12, 0x34, 0x56]);
    assert_eq!((be32(&cqe[44..]), &cqe[60..64]), (bytes as u32, &[0, 0, 0, 0x20][..]));
    let expected = [one.frame(), vec![2; 1400], vec![3; LEAST]].concat();
    assert_eq!(stored(&bench.b, &bench.rq, 0, bytes), expected);
    assert_eq!(bench.poll(), None);
    // Ports count the segments.
    let mail = Mail::command("query_vport_counter_in", op::QUERY_VPORT_COUNTER);
    let counted = bench.b.command(&mail, "query_vport_counter_out", 0).unwrap();
    let sent = 3 * 54 + 2 * LEAST + 1400;
    let unicast = ["packets", "octets"].map(|what| counted.get(&format!("received_eth_unicast.{what}")));
    assert_eq!(unicast, [3, sent as u64]);
}

/// Words of the sum go on over segments with an odd number of bytes.
#[test]
fn a_segment_with_psh_is_the_last() {
    for ipv6 in [false, true] {
        let mut bench = Bench::new(LONG, 255);
        let one = Tcp { ipv6, options: stamps(0x0a0b_0c0d, 1), data: vec![0x11; LEAST + 1], ..first() };
        let two = Tcp { options: stamps(0x0a0b_0c0e, 0x4142_4344), ..one.next(vec![0x22; LEAST + 3]) };
        let three = Tcp { flags: 0x18, ..two.next(vec![0x33; LEAST]) };
        let four = Tcp { flags: 0x18, ..three.next(vec![0x44; LEAST]) };
        bench.send(&[one.clone(), two, three.clone(), four]);
        let cqe = bench.poll().unwrap();
        let headers = if ipv6 { 86 } else { 66 };
        // PSH, and the time stamp is TCP's: of the last segment.
        assert_eq!((cqe[4], cqe[32], cqe[29]), (0xc0, 3, if ipv6 { 0x44 } else { 0x48 }));
        assert_eq!(cqe[48..56], [0x0a, 0x0b, 0x0c, 0x0e, 0x41, 0x42, 0x43, 0x44]);
        assert_eq!(cqe[20..22], [0xcc, 0xdd]);
        let bytes = headers + 3 * LEAST + 4;
        assert_eq!(be32(&cqe[44..]) as usize, bytes);
        let expected = [one.frame(), vec![0x22; LEAST + 3], vec![0x33; LEAST]].concat();
        assert_eq!(stored(&bench.b, &bench.rq, 0, bytes), expected);
        // One that is alone has the device's time.
        let cqe = bench.poll().unwrap();
        assert_eq!((cqe[4], cqe[32], be32(&cqe[44..]) as usize), (0x40, 1, headers + LEAST));
        assert_ne!(cqe[48..52], [0x0a, 0x0b, 0x0c, 0x0e]);
        assert_eq!(bench.poll(), None);
    }
}

/// Each of these ends the session, and has a frame of its own. 1: it began a session; 0: it cannot be merged.
#[test]
fn other_frames_end_the_session() {
    let one = Tcp { options: stamps(7, 8), ..first() };
    let next = one.next(vec![2; LEAST]);
    let change = |change: &dyn Fn(&mut Tcp)| {
        let mut next = next.clone();
        change(&mut next);
        next
    };
    let cases = [
        (1, change(&|tcp| tcp.sequence += 1)),
        (1, change(&|tcp| tcp.sequence = one.sequence)),
        (1, change(&|tcp| tcp.acknowledgement -= 1)),
        (1, change(&|tcp| tcp.options = stamps(6, 8))),
        (1, change(&|tcp| tcp.options = vec![])),
        (1, change(&|tcp| tcp.ports[0] += 1)),
        (1, change(&|tcp| tcp.ports[1] += 1)),
        (1, change(&|tcp| tcp.traffic_class = 3)),
        (1, change(&|tcp| tcp.fragment = 0)),
        (1, change(&|tcp| tcp.fragment = 0xc000)),
        (1, change(&|tcp| tcp.flags = 0x410)),
        (1, change(&|tcp| tcp.tag = vec![0x81, 0, 0, 5])),
        (1, change(&|tcp| tcp.ipv6 = true)),
        (0, change(&|tcp| tcp.data = vec![2; LEAST - 1])),
        (0, change(&|tcp| tcp.data = vec![])),
        (0, change(&|tcp| tcp.options = [stamps(7, 8), vec![1; 4]].concat())),
        (0, change(&|tcp| tcp.options = vec![1; 12])),
        (0, change(&|tcp| tcp.fragment = 0x2000)),
        (0, change(&|tcp| tcp.padding = 1)),
        (0, change(&|tcp| tcp.faults[0] = 1)),
        (0, change(&|tcp| tcp.faults[1] = 1)),
        (0, change(&|tcp| tcp.flags = 0)),
        (0, change(&|tcp| tcp.flags = 0x11)),
        (0, change(&|tcp| tcp.flags = 0x12)),
        (0, change(&|tcp| tcp.flags = 0x14)),
        (0, change(&|tcp| tcp.flags = 0x30)),
        (0, change(&|tcp| tcp.flags = 0x50)),
        (0, change(&|tcp| tcp.flags = 0x90)),
        (0, change(&|tcp| tcp.flags = 0x110)),
    ];
    for (n, (segments, other)) in cases.into_iter().enumerate() {
        let mut bench = Bench::new(LONG, 255);
        let frames = [one.frame(), other.frame()];
        bench.send(&[one.clone(), other.clone()]);
        bench.wait();
        let lens = [one.frame().len() as u32, other.frame().len() as u32];
        assert_eq!(bench.poll_all(), [(1, lens[0]), (segments, lens[1])], "{n}: {other:?}");
        for (index, frame) in frames.iter().enumerate() {
            assert_eq!(&stored(&bench.b, &bench.rq, index as u16, frame.len()), frame, "{n}");
        }
    }
    // Options of IP, and a frame without IP: the session ends, too. UDP begins none.
    let mut options = frame(mac(2), &[], &ipv4(false, ([10, 0, 0, 1], 40000), ([10, 0, 0, 2], 80), 1400));
    options[14] = 0x46;
    let udp = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 40000), ([10, 0, 0, 2], 80), 1400));
    for other in [options, udp, crate::striding::numbered(1, 60)] {
        let mut bench = Bench::new(LONG, 255);
        bench.a.send(&[one.frame(), other.clone(), next.frame()], &mut bench.b);
        bench.wait();
        let lens = [one.frame(), other, next.frame()].map(|frame| frame.len() as u32);
        assert_eq!(bench.poll_all(), [(1, lens[0]), (0, lens[1]), (1, lens[2])]);
    }
}

/// A CQE has one number for all of its segments.
#[test]
fn segments_of_different_metadata_stay_apart() {
    let one = first();
    let segments = [one.clone(), one.next(vec![2; LEAST])];
    let bytes = one.frame().len() as u32;
    // TCP's sequence number to register B; then the same number for all.
    let copy = [0x30, 0x59, 0, 0, 0, 0x50, 0, 0];
    let set = [0x10, 0x50, 0, 0, 0, 0, 0, 9];
    for (actions, expected) in [([copy], &[(1, bytes), (1, bytes)][..]), ([set], &[(2, bytes + LEAST as u32)])] {
        let mut bench = Bench::new(LONG, 255);
        bench.modify_frames(&actions);
        bench.send(&segments);
        bench.wait();
        assert_eq!(bench.poll_all(), expected, "{actions:?}");
    }
}

#[test]
fn rewritten_segments_are_merged() {
    let mut bench = Bench::new(LONG, 255);
    // TTL 9; the destination's last byte 77.
    bench.modify_frames(&[[0x10, 0x0a, 0, 8, 0, 0, 0, 9], [0x10, 0x16, 0, 8, 0, 0, 0, 77]]);
    let one = first();
    bench.send(&[one.clone(), Tcp { ttl: 33, ..one.next(vec![2; LEAST]) }]);
    bench.wait();
    let cqe = bench.poll().unwrap();
    assert_eq!((cqe[5], cqe[28], cqe[32]), (9, 7, 2), "TTL, layers, segments");
    let bytes = 54 + 2 * LEAST;
    let stored = stored(&bench.b, &bench.rq, 0, bytes);
    assert_eq!((stored[22], &stored[30..34], &stored[54 + LEAST..]), (9, &[10, 0, 0, 77][..], &[2; LEAST][..]));
    assert_eq!(sum(&[&stored[14..34]]), 0xffff);
}

#[test]
fn a_message_has_a_limit_and_a_wqe_its_end() {
    // TCP's header and two segments are 2716 bytes, with 11 units of room; three are 4064, with 16.
    for (units, expected) in [(10, [1, 1, 1]), (11, [2, 1, 0]), (15, [2, 1, 0]), (16, [3, 0, 0])] {
        let mut bench = Bench::new(LONG, units);
        let one = first();
        let two = one.next(vec![2; LEAST]);
        bench.send(&[one.clone(), two.clone(), two.next(vec![3; LEAST])]);
        bench.wait();
        let found: Vec<_> = bench.poll_all().into_iter().map(|(segments, _)| segments).collect();
        let expected: Vec<_> = expected.into_iter().filter(|&segments| segments > 0).collect();
        assert_eq!(found, expected, "{units}");
    }
    // The limit counts each byte: the TCP header, which has 20 bytes, or 32 with timestamps, and the data.
    for (options, last, expected) in [
        (vec![], 1448, vec![2]),
        (vec![], 1449, vec![1, 1]),
        (stamps(1, 2), 1436, vec![2]),
        (stamps(1, 2), 1437, vec![1, 1]),
    ] {
        let mut bench = Bench::new(LONG, 11);
        let one = Tcp { options, ..first() };
        bench.send(&[one.clone(), one.next(vec![2; last])]);
        bench.wait();
        let found: Vec<_> = bench.poll_all().into_iter().map(|(segments, _)| segments).collect();
        assert_eq!(found, expected, "{last}");
    }
    // The WQE has 20580 bytes: the headers and 15 segments.
    let mut bench = Bench::new(LONG, 255);
    let mut segments = vec![first()];
    for n in 2..=16 {
        segments.push(segments.last().unwrap().next(vec![n; LEAST]));
    }
    bench.send(&segments);
    bench.wait();
    assert_eq!(bench.poll_all(), [(15, 54 + 15 * LEAST as u32), (1, 54 + LEAST as u32)]);
    let data: Vec<u8> = segments[1..15].iter().flat_map(|segment| segment.data.clone()).collect();
    let whole = [segments[0].frame(), data].concat();
    assert_eq!(stored(&bench.b, &bench.rq, 0, whole.len()), whole);
    assert_eq!(stored(&bench.b, &bench.rq, 1, 54 + LEAST), segments[15].frame());
}

#[test]
fn a_striding_queue_has_the_segments_in_strides_that_follow_each_other() {
    for shifted in [false, true] {
        let (mut a, mut b) = nodes(Generation::ConnectX6Dx);
        let mut cq = b.cq();
        let mut rq = striding(&mut b, &cq, (3, 11), shifted);
        post(&mut b, &mut rq, 3);
        merge_all(&mut b, rq.queue.number, LONG, 255);
        let mut segments = vec![first()];
        for n in 2..=15 {
            segments.push(segments.last().unwrap().next(vec![n; LEAST]));
        }
        // A frame takes the first stride, so seven are left for ten segments; and then eight.
        let small = crate::striding::numbered(1, 60);
        let frames: Vec<_> = [small].into_iter().chain(segments.iter().map(Tcp::frame)).collect();
        a.send(&frames, &mut b);
        b.now += Duration::from_micros(LONG);
        b.step();
        let said: Vec<_> = std::iter::from_fn(|| b.poll(&mut cq))
            .map(|cqe| (cqe[32], be32(&cqe[44..]), u16::from_be_bytes([cqe[60], cqe[61]]), cqe[3]))
            .collect();
        let word = |strides: u32, segments: u32| strides << 16 | (54 + segments * LEAST as u32);
        let expected = [(0, 1 << 16 | 60, 0, 0), (10, word(7, 10), 1, 0), (5, word(4, 5), 0, 1)];
        assert_eq!(said, expected);
        let at = rq.queue.buffers + u64::from(rq.stride) + u64::from(rq.shift);
        let data: Vec<u8> = segments[1..10].iter().flat_map(|segment| segment.data.clone()).collect();
        assert_eq!(b.memory.read(at, 54 + 10 * LEAST), [segments[0].frame(), data].concat());
        // The next frame begins behind the strides that were taken.
        a.send(&[crate::striding::numbered(2, 60)], &mut b);
        let cqe = b.poll(&mut cq).unwrap();
        assert_eq!((cqe[32], &cqe[60..62], cqe[3]), (0, &[0, 4][..], 1));
    }
}

/// A buffer that cannot be written fails the WQE, and with it the queue, whichever segment meets it.
#[test]
fn a_fault_ends_the_session_in_error() {
    let mut bench = Bench::new(LONG, 255);
    // The first buffer of the first WQE holds the first segment. The second one's key does not exist.
    let [at, other] = buffers(&bench.rq, 0);
    let key = bench.b.key.to_be_bytes();
    let begin = [&(54 + LEAST as u32).to_be_bytes()[..], &key, &at.to_be_bytes()].concat();
    let end = [&0x5000_u32.to_be_bytes()[..], &[0, 0xde, 0xad, 0], &other.to_be_bytes()].concat();
    bench.b.memory.write(bench.rq.pages[0], &[begin, end].concat());
    let one = first();
    bench.send(&[one.clone(), one.next(vec![2; LEAST])]);
    let found = bench.b.poll_all(&mut bench.cq);
    assert_eq!((found.len(), found[0].0, found[0].1, found[0].2), (8, 14, 4, 0));
    assert!(found[1..].iter().all(|cqe| (cqe.0, cqe.1) == (14, 5)));
    assert_eq!(bench.b.device.next_deadline(), None);
    bench.wait();
    assert_eq!(bench.poll_all(), []);
}

/// Without a WQE segments are lost, and counted, like all frames.
#[test]
fn a_session_needs_a_wqe() {
    let mut bench = Bench::new(LONG, 255);
    let one = first();
    let with_psh = Tcp { flags: 0x18, ..one.clone() };
    bench.send(&vec![with_psh; 8]);
    bench.send(&[one.clone(), one.next(vec![2; LEAST])]);
    bench.wait();
    assert_eq!(bench.poll_all().len(), 8);
    post_pairs_again(&mut bench);
    bench.send(&[one.clone(), one.next(vec![2; LEAST])]);
    bench.wait();
    assert_eq!(bench.poll_all(), [(2, 54 + 2 * LEAST as u32)]);
}

/// Posts the first WQE's place again.
fn post_pairs_again(bench: &mut Bench) {
    let index = u64::from(bench.rq.posted);
    let wqe = bench.b.memory.read(bench.rq.pages[0], 32);
    bench.b.memory.write(bench.rq.pages[0] + index * 32, &wqe);
    bench.rq.posted += 1;
    bench.b.memory.write(bench.rq.record, &u32::from(bench.rq.posted).to_be_bytes());
}

/// A mini-CQE has no room for the values of the headers.
#[test]
fn merged_frames_have_whole_completions() {
    for layout in [0, 1] {
        let (mut a, mut b) = nodes(Generation::ConnectX7);
        let fields = [("cqe_comp_en", 1), ("mini_cqe_res_format", 1), ("cqe_compression_layout", layout)];
        let mut cq = b.cq_with(&fields);
        let mut rq = b.rq(&cq, false, 0);
        rq.buffers = b.alloc(8 * 0x6000);
        post_pairs(&mut b, &mut rq, 8);
        merge_all(&mut b, rq.number, LONG, 255);
        let one = Tcp { flags: 0x18, ..first() };
        let two = Tcp { flags: 0x18, ..one.next(vec![2; LEAST]) };
        a.send(&[one.frame(), two.frame()], &mut b);
        for _ in 0..2 {
            let cqe = b.poll(&mut cq).unwrap();
            assert_eq!((cqe[32], cqe[63] & 0xfe), (1, 0x20), "{layout}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Damaged segments in any order, by both kinds of queue: the CQEs count each frame once, and each byte of its data.
    #[test]
    fn no_segments_do_harm(
        strided in any::<bool>(),
        steps in prop::collection::vec((0..6_u32, 0..3_u8, any::<u16>(), any::<u8>(), 0..1500_u64), 1..14),
    ) {
        let (mut a, mut b) = nodes(Generation::ConnectX6Dx);
        let mut cq = b.cq();
        let rqn = if strided {
            let mut rq = striding(&mut b, &cq, (4, 11), false);
            post(&mut b, &mut rq, 8);
            rq.queue.number
        } else {
            let mut rq = b.rq(&cq, false, 0);
            rq.buffers = b.alloc(14 * 0x6000);
            post_pairs(&mut b, &mut rq, 14);
            rq.number
        };
        merge_all(&mut b, rqn, SHORT, 30);
        let (mut sent, mut found) = ((0, 0), (0, 0));
        let mut last = first();
        for (jump, flow, place, flip, pause) in steps {
            let mut tcp = last.next(vec![flow; LEAST + usize::from(flip & 3)]);
            tcp.ports[0] = 40000 + u16::from(flow / 2);
            if jump == 5 {
                tcp.sequence = tcp.sequence.wrapping_add(1);
            }
            last = tcp.clone();
            let mut bytes = tcp.frame();
            if jump == 4 {
                let at = usize::from(place) % 80;
                bytes[at] ^= flip;
            }
            sent = (sent.0 + 1, sent.1 + bytes.len() as u32 - 54);
            a.send(&[bytes], &mut b);
            b.now += Duration::from_micros(if pause < 1000 { 0 } else { pause });
            b.step();
        }
        b.now += Duration::from_micros(LONG);
        b.step();
        while let Some(cqe) = b.poll(&mut cq) {
            prop_assert_eq!(cqe[63] >> 4, 2);
            let count = be32(&cqe[44..]);
            if count >> 31 == 0 {
                found = (found.0 + u32::from(cqe[32].max(1)), found.1 + (count & 0xffff) - 54);
            }
        }
        prop_assert_eq!(found, sent);
        prop_assert_eq!(b.device.next_deadline(), None);
    }
}
