//! Frames of tunnels: checksums of inner headers, which the device finds by itself or by offsets of the WQE, and large
//! packets; what the CQEs of received ones say. And the metadata of WQEs, which rules of frames that leave can match.
//!
//! The fields of the Ethernet segment before the inline headers belong here; every combination of tunnels is in the
//! device's own tests (`softhca/src/ethernet`).

use crate::frame::{frame, ipv4, mac, sum};
use crate::mailbox::Mail;
use crate::node::{Cq, Node, Queue, RDY, RST, op, pair, run};
use softhca::firmware::Status;

/// An order inside of a tunnel: its checksums are right.
const INNER: ([u8; 4], [u8; 4]) = ([192, 168, 0, 1], [192, 168, 0, 2]);

fn inner() -> Vec<u8> {
    ipv4(false, (INNER.0, 7), (INNER.1, 9), 40)
}

/// The frame without the checksums of its inner packet, which begins at `at`.
fn without_checksums(mut frame: Vec<u8>, at: usize) -> Vec<u8> {
    frame[at + 10..at + 12].fill(0xee);
    frame[at + 20 + 16..at + 20 + 18].fill(0xee);
    frame
}

/// A UDP packet over IPv4, with right checksums, but for UDP's, which is 0: there is none.
fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x45, 0];
    ip.extend((28 + payload.len() as u16).to_be_bytes());
    ip.extend([0, 9, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let checksum = (!sum(&[&ip])).to_be_bytes();
    ip[10..12].copy_from_slice(&checksum);
    ip.extend([0x30, 0x39]);
    ip.extend(port.to_be_bytes());
    ip.extend((8 + payload.len() as u16).to_be_bytes());
    ip.extend([0, 0]);
    ip.extend(payload);
    ip
}

/// A frame of VXLAN to a UDP port, and where its inner packet is.
fn vxlan(port: u16) -> (Vec<u8>, usize) {
    let inside = frame(mac(9), &[], &inner());
    (frame(mac(2), &[], &udp(port, &[&[8, 0, 0, 0, 0, 1, 2, 0], &inside[..]].concat())), 14 + 20 + 8 + 8 + 14)
}

/// A frame of a tunnel that no device knows, and where its inner packet is: UDP, and four bytes.
fn unknown() -> (Vec<u8>, usize) {
    (frame(mac(2), &[], &udp(4000, &[&[1, 2, 3, 4], &inner()[..]].concat())), 14 + 20 + 8 + 4)
}

/// The fields of an Ethernet segment.
#[derive(Default)]
struct Segment {
    /// Outer L4 and L3, inner L4 and L3, in units of two bytes; kinds.
    stated: ([u8; 4], u8),
    cs_flags: u8,
    mss: u16,
    metadata: u32,
    /// Bytes inline.
    headers: usize,
}

/// Posts a frame.
fn post(node: &mut Node, queue: &mut Queue, segment: &Segment, frame: &[u8]) {
    let (inline, rest) = frame.split_at(segment.headers);
    let buffer = node.alloc(rest.len() as u64);
    node.memory.write(buffer, rest);
    let [high, low] = queue.posted.to_be_bytes();
    let mut eth = segment.stated.0.to_vec();
    eth.extend([segment.cs_flags, segment.stated.1]);
    eth.extend(segment.mss.to_be_bytes());
    eth.extend(segment.metadata.to_be_bytes());
    eth.extend((inline.len() as u16).to_be_bytes());
    eth.extend(inline);
    eth.resize(eth.len().next_multiple_of(16).max(16), 0);
    let opcode = if segment.mss == 0 { 0x0a } else { 0x0e };
    let mut wqe = vec![0, high, low, opcode];
    wqe.extend(((queue.number as u32) << 8 | (2 + eth.len() as u32 / 16)).to_be_bytes());
    wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
    wqe.extend(eth);
    wqe.extend((rest.len() as u32).to_be_bytes());
    wqe.extend(node.key.to_be_bytes());
    wqe.extend(buffer.to_be_bytes());
    node.post(queue, &wqe);
}

/// A sender with a queue, and a receiver that takes all frames.
struct Lab {
    a: Node,
    b: Node,
    a_cq: Cq,
    b_cq: Cq,
    sq: Queue,
    rq: Queue,
    taken: u64,
}

impl Lab {
    fn new(allow_swp: bool) -> Self {
        let (mut a, mut b) = pair();
        let (a_cq, b_cq) = (a.cq(), b.cq());
        let tis = a.tis();
        let (mail, mut sq) = a.sq_mail(&a_cq, Some(tis));
        sq.number = a.number(mail.set("ctx.allow_swp", allow_swp.into()), "create_sq_out", "sqn");
        a.modify_sq(sq.number, RST, RDY).unwrap();
        let rq = b.rq(&b_cq, false, 12);
        b.receive_all(rq.number);
        Self { a, b, a_cq, b_cq, sq, rq, taken: 0 }
    }

    /// Sends a frame, and takes those that arrive; the syndrome of the completion.
    fn send(&mut self, segment: &Segment, frame: &[u8]) -> (u8, Vec<Vec<u8>>) {
        post(&mut self.a, &mut self.sq, segment, frame);
        run(&mut [&mut self.a, &mut self.b]);
        let [(_, syndrome, ..)] = self.a.poll_all(&mut self.a_cq)[..] else { panic!("one completion") };
        let mut found = Vec::new();
        for (_, _, _, bytes) in self.b.poll_all(&mut self.b_cq) {
            found.push(self.b.memory.read(self.rq.buffers + self.taken * crate::node::BUFFER, bytes as usize));
            self.taken += 1;
        }
        (syndrome, found)
    }
}

impl Lab {
    /// Sends a frame as it is; the completion of its receive.
    fn receive(&mut self, frame: &[u8]) -> [u8; 64] {
        post(&mut self.a, &mut self.sq, &Segment { headers: 18, ..Segment::default() }, frame);
        run(&mut [&mut self.a, &mut self.b]);
        self.a.poll_all(&mut self.a_cq);
        self.b.poll(&mut self.b_cq).expect("received")
    }
}

#[test]
fn inner_checksums_of_known_tunnels() {
    let mut lab = Lab::new(false);
    let (whole, at) = vxlan(4789);
    let bare = without_checksums(whole.clone(), at);
    let (syndrome, found) = lab.send(&Segment { cs_flags: 0x70, ..Segment::default() }, &bare);
    assert_eq!((syndrome, found), (0, vec![whole.clone()]));
    // Not asked for, or a tunnel to a port that the device does not know: nothing changes.
    let (other, at) = vxlan(8472);
    let other_bare = without_checksums(other.clone(), at);
    for (cs_flags, frame) in [(0x40, &bare), (0x70, &other_bare)] {
        let (syndrome, found) = lab.send(&Segment { cs_flags, ..Segment::default() }, frame);
        assert_eq!((syndrome, &found[0]), (0, frame));
    }
    // The port is added, and taken back.
    let port = |add: bool, port| {
        let (structure, opcode) = match add {
            true => ("add_vxlan_udp_dport_in", op::ADD_VXLAN_UDP_DPORT),
            false => ("delete_vxlan_udp_dport_in", op::DELETE_VXLAN_UDP_DPORT),
        };
        Mail::command(structure, opcode).set("vxlan_udp_port", port)
    };
    lab.a.bare(&port(true, 8472)).unwrap();
    let asked = Segment { cs_flags: 0x30, ..Segment::default() };
    assert_eq!(lab.send(&asked, &other_bare), (0, vec![other]));
    lab.a.bare(&port(false, 8472)).unwrap();
    assert_eq!(lab.send(&asked, &other_bare), (0, vec![other_bare]));
    // As many as `max_vxlan_udp_ports`; the usual one, as Linux does it, does not count.
    for number in [4789, 1, 2, 3, 4] {
        lab.a.bare(&port(true, number)).unwrap();
    }
    for (add, number) in [(true, 5), (true, 1), (false, 9)] {
        assert_eq!(lab.a.bare(&port(add, number)), Err(Status::BadParameter), "{add} {number}");
    }
    lab.a.bare(&port(false, 4789)).unwrap();
}

#[test]
fn inner_checksums_by_the_offsets_of_the_wqe() {
    let (whole, at) = unknown();
    let bare = without_checksums(whole.clone(), at);
    // IPv4 everywhere; UDP outside, TCP inside.
    let stated = ([17, 7, (at as u8 + 20) / 2, at as u8 / 2], 0x20);
    let segment = Segment { stated, cs_flags: 0x70, ..Segment::default() };
    let mut lab = Lab::new(true);
    assert_eq!(lab.send(&segment, &bare), (0, vec![whole]));
    let (_, found) = lab.send(&Segment { stated: ([0; 4], 0), ..segment }, &bare);
    assert_eq!(found, std::slice::from_ref(&bare), "without offsets the device finds nothing");
    // A queue whose context does not allow it: an error of the WQE (IBV_WC_LOC_QP_OP_ERR), and no frame.
    let mut lab = Lab::new(false);
    assert_eq!(lab.send(&segment, &bare), (0x02, vec![]));
}

#[test]
fn large_packets_in_tunnels_arrive_in_frames() {
    for (known, mut lab) in [(true, Lab::new(false)), (false, Lab::new(true))] {
        let (whole, at) = if known { vxlan(4789) } else { unknown() };
        let headers = at + 40;
        let stated = if known { ([0; 4], 0) } else { ([17, 7, (at as u8 + 20) / 2, at as u8 / 2], 0x20) };
        let segment = Segment { stated, cs_flags: 0x70, mss: 15, headers, ..Segment::default() };
        let (syndrome, frames) = lab.send(&segment, &without_checksums(whole.clone(), at));
        assert_eq!((syndrome, frames.len()), (0, 3));
        let mut data: Vec<u8> = Vec::new();
        for (index, frame) in frames.iter().enumerate() {
            let bytes = if index == 2 { 10 } else { 15 };
            assert_eq!(frame.len(), headers + bytes);
            assert_eq!(frame[16..18], ((frame.len() - 14) as u16).to_be_bytes(), "outer IP's length");
            assert_eq!(frame[38..40], ((frame.len() - 34) as u16).to_be_bytes(), "outer UDP's length");
            assert_eq!(frame[at + 2..at + 4], ((frame.len() - at) as u16).to_be_bytes(), "inner IP's length");
            assert_eq!(frame[at + 24..at + 28], (1 + 15 * index as u32).to_be_bytes(), "sequence number");
            // Of a right header, the sum is all ones.
            let tcp = &frame[at + 20..];
            let pseudo = [&INNER.0[..], &INNER.1, &[0, 6], &(tcp.len() as u16).to_be_bytes()].concat();
            let sums = [sum(&[&frame[14..34]]), sum(&[&frame[at..at + 20]]), sum(&[&pseudo, tcp])];
            assert_eq!(sums, [0xffff; 3], "{index}");
            assert_eq!(frame[40..42], [0, 0], "UDP's checksum was not asked for");
            data.extend(&frame[headers..]);
        }
        assert_eq!(data, whole[headers..]);
    }
}

#[test]
fn rules_match_the_metadata_of_wqes() {
    let mut lab = Lab::new(false);
    let table = lab.a.table(1, 1);
    let field = "misc_parameters_2.metadata_reg_a";
    let dropped = lab.a.group(1, table, [0, 3], &[(field, 0xffff_ffff)]);
    let rest = lab.a.group(1, table, [4, 4], &[]);
    lab.a.bare(&Node::rule(1, (table, dropped, 1), &[(field, 0x0102_0304)], 2, &[], &[])).unwrap();
    lab.a.bare(&Node::rule(1, (table, rest, 4), &[], 1, &[], &[])).unwrap();
    lab.a.root(1, table);
    let (whole, _) = vxlan(4789);
    for (metadata, arrives) in [(0x0102_0304, 0), (0, 1), (0x0102_0305, 1), (0x8102_0304, 1)] {
        let (_, found) = lab.send(&Segment { metadata, ..Segment::default() }, &whole);
        assert_eq!(found.len(), arrives, "{metadata:#x}");
    }
    // A query gives the mask and the value back, and other fields of that set are refused.
    let query = Mail::command("query_flow_group_in", op::QUERY_FLOW_GROUP)
        .set("table_type", 1)
        .set("table_id", table)
        .set("group_id", dropped);
    let found = lab.a.command(&query, "query_flow_group_out", 0).unwrap();
    assert_eq!((found.get("match_criteria_enable"), found.get(&format!("match_criteria.{field}"))), (8, 0xffff_ffff));
    let other = Mail::command("create_flow_group_in", op::CREATE_FLOW_GROUP)
        .set("table_type", 1)
        .set("table_id", table)
        .set("start_flow_index", 8)
        .set("end_flow_index", 8)
        .set("match_criteria_enable", 8)
        .set("match_criteria.misc_parameters_2.psp_syndrome", 1);
    assert!(lab.a.command(&other, "create_flow_group_out", 0).is_err());
}

/// CQEs of a TIR with `tunneled_offload_en`. FreeBSD gives it to TIRs of VXLAN, mlx5_ib to QPs with
/// `MLX5DV_QP_CREATE_TUNNEL_OFFLOADS`. Bits of byte 0: DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `MLX5_CQE_RX_TUNNEL_PACKET`, `MLX5_CQE_RX_OUTER_PACKET`; of bytes 28 and 29: `MLX5_CQE_RX_*_HDR_VALID`,
/// `mlx5_set_ptype_table` of `drivers/net/mlx5/mlx5_rxtx.c`, whose kinds are those of the inner packet.
#[test]
fn completions_tell_of_the_headers_inside() {
    let mut lab = Lab::new(false);
    let rqn = lab.rq.number;
    let mail = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.inline_rqn", rqn)
        .set("ctx.transport_domain", lab.b.td)
        .set("ctx.tunneled_offload_en", 1);
    let tir = lab.b.number(mail, "create_tir_out", "tirn");
    lab.b.take_all(tir);
    let (whole, at) = vxlan(4789);
    // UDP, and TCP that acknowledges and has data; over IPv4.
    let (udp_alone, tcp_inside) = (2 << 4 | 2 << 2, 4 << 4 | 2 << 2);
    let changed = |at: usize| {
        let mut frame = whole.clone();
        frame[at] ^= 1;
        frame
    };
    let ipv6_outside = {
        let inside = &whole[14 + 20..];
        let mut ip = vec![0x60, 0, 0, 0];
        ip.extend((inside.len() as u16).to_be_bytes());
        ip.extend([17, 64]);
        ip.extend([0x20; 32]);
        ip.extend(inside);
        let mut frame = frame(mac(2), &[], &ip);
        frame[12..14].copy_from_slice(&[0x86, 0xdd]);
        frame
    };
    let fragment_inside = {
        let mut frame = whole.clone();
        // More fragments, and the checksum of the header without the bit before.
        frame[at + 6] |= 0x20;
        frame[at + 10..at + 12].fill(0);
        let checksum = (!sum(&[&frame[at..at + 20]])).to_be_bytes();
        frame[at + 10..at + 12].copy_from_slice(&checksum);
        frame
    };
    for (what, frame, tunnel, ok, kinds) in [
        ("VXLAN", whole.clone(), 1, 0b111, tcp_inside),
        ("over IPv6", ipv6_outside, 3, 0b111, tcp_inside),
        ("a fault in the inner TCP packet", changed(whole.len() - 1), 1, 0b011, tcp_inside),
        ("a fault in the inner IPv4 header", changed(at + 8), 1, 0b101, tcp_inside),
        ("a fault in the outer IPv4 header", changed(14 + 8), 1, 0b101, tcp_inside),
        ("a fragment inside", fragment_inside, 1, 0b011, 1 << 7 | 2 << 2),
        ("a port that the device does not know", vxlan(4788).0, 0, 0b111, udp_alone),
        ("no tunnel", frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 20)), 0, 0b111, udp_alone),
    ] {
        let cqe = lab.receive(&frame);
        assert_eq!((cqe[0], cqe[28], cqe[29]), (tunnel, ok, kinds), "{what}");
        // The sum is that of the outer packet: Linux takes the whole frame by it.
        if frame[12..14] == [8, 0] {
            assert_eq!(cqe[20..22], sum(&[&frame[14..]]).to_be_bytes(), "{what}");
        }
    }
}
