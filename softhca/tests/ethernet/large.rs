//! The work of a send queue on packets of Linux' netdev: it segments large ones, and loses those that are too long. The
//! ports of both sides count the same.
//!
//! Large packets belong here, ordinary frames in `transfer.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Link, Node, Queue, op, run};

/// A WQE of one data segment behind this Ethernet segment (with its inline headers).
fn wqe(node: &mut Node, queue: &Queue, opcode: u8, ethernet: &[u8], data: &[u8]) -> Vec<u8> {
    let buffer = node.alloc(data.len() as u64);
    node.memory.write(buffer, data);
    let mut segments = ethernet.to_vec();
    segments.resize(segments.len().next_multiple_of(16), 0);
    segments.extend((data.len() as u32).to_be_bytes());
    segments.extend(node.key.to_be_bytes());
    segments.extend(buffer.to_be_bytes());
    let [high, low] = queue.posted.to_be_bytes();
    let mut wqe = vec![0, high, low, opcode];
    wqe.extend(((queue.number as u32) << 8 | (1 + segments.len() as u32 / 16)).to_be_bytes());
    wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
    wqe.extend(segments);
    wqe
}

/// Counters of a group (`PPCNT`) at these bytes.
fn counted(node: &mut Node, group: u32, at: &[usize]) -> Vec<u64> {
    let mut register = vec![0; 256];
    register[..4].copy_from_slice(&(1 << 16 | group).to_be_bytes());
    let mail = Mail::command("access_register_in", op::ACCESS_REG)
        .set("op_mod", 1)
        .set("register_id", 0x5008)
        .followed_by(&register);
    let output = node.command(&mail, "access_register_out", 256).unwrap();
    at.iter().map(|&at| u64::from_be_bytes(output.bytes[24 + at..32 + at].try_into().unwrap())).collect()
}

#[test]
fn large_packets_arrive_in_frames() {
    for udp in [false, true] {
        let Link { mut a, mut b, mut a_cq, mut b_cq, mut sq, rq, .. } = Link::new(8);
        let mut whole = frame(mac(2), &[], &ipv4(udp, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 1200));
        let headers = whole.len() - 1200;
        if udp {
            // As Linux does it: that of each frame, which the device leaves.
            whole[headers - 4..headers - 2].copy_from_slice(&408_u16.to_be_bytes());
        }
        let mut ethernet = vec![0, 0, 0, 0, 0xc0, 0, 1, 0x90, 0, 0, 0, 0, 0, headers as u8];
        ethernet.extend(&whole[..headers]);
        let large = wqe(&mut a, &sq, 0x0e, &ethernet, &whole[headers..]);
        a.post(&mut sq, &large);
        run(&mut [&mut a, &mut b]);
        assert_eq!(a.poll_all(&mut a_cq).len(), 1);
        let mut data = Vec::new();
        for (index, payload) in [400; 3].into_iter().enumerate() {
            let cqe = b.poll(&mut b_cq).expect("a frame");
            // Lengths and all checksums are right, of UDP, or of TCP with an ACK and data.
            assert_eq!(cqe[28..30], [7, if udp { 0x28 } else { 0x48 }]);
            assert_eq!(cqe[44..48], ((headers + payload) as u32).to_be_bytes());
            let found = b.memory.read(rq.buffers + index as u64 * crate::node::BUFFER, headers + payload);
            assert_eq!(found[18..20], (index as u16).to_be_bytes(), "the packet's number");
            data.extend(&found[headers..]);
        }
        assert_eq!((data, b.poll(&mut b_cq)), (whole[headers..].to_vec(), None));
        let octets = 1200 + 3 * (headers as u64 + 4);
        // Of IEEE 802.3: frames and bytes, sent and received.
        assert_eq!(counted(&mut a, 0, &[0, 8, 0x20, 0x28]), [3, 0, octets, 0]);
        assert_eq!(counted(&mut b, 0, &[0, 8, 0x20, 0x28]), [0, 3, 0, octets]);
    }
}

#[test]
fn too_long_frames_are_lost() {
    let Link { mut a, mut b, mut a_cq, mut b_cq, mut sq, rq, .. } = Link::new(8);
    let packet = ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 1000);
    let tagged = frame(mac(2), &[0x81, 0, 0x60, 5], &packet);
    let ethernet = [0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mail = |mtu: u16| {
        let [high, low] = mtu.to_be_bytes();
        Mail::command("access_register_in", op::ACCESS_REG)
            .set("register_id", 0x5003)
            .followed_by(&[0, 1, 0, 0, 0, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0])
    };
    // As long as the port permits, with the check sequence; and one byte longer. Then the sender's own port is shorter.
    for (of_a, of_b) in [(9000, tagged.len() + 4), (9000, tagged.len() + 3), (tagged.len() + 3, 9000)] {
        a.command(&mail(of_a as u16), "access_register_out", 16).unwrap();
        b.command(&mail(of_b as u16), "access_register_out", 16).unwrap();
        let send = wqe(&mut a, &sq, 0x0a, &ethernet, &tagged);
        a.post(&mut sq, &send);
        run(&mut [&mut a, &mut b]);
    }
    assert_eq!(a.poll_all(&mut a_cq), [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 2, 0)]);
    assert_eq!(b.poll_all(&mut b_cq).len(), 1);
    assert_eq!(b.memory.read(rq.buffers, tagged.len()), tagged);
    // Frames, and those that were too long: of IEEE 802.3 and of RFC 2863. All have priority 3.
    assert_eq!([counted(&mut a, 0, &[0]), counted(&mut a, 1, &[0x40])], [[2], [1]]);
    assert_eq!([counted(&mut b, 0, &[8, 0x60]), counted(&mut b, 1, &[0x18])], [vec![1, 1], vec![1]]);
}
