//! WQEs of several frames ("enhanced multi-packet WQE", opcode 0x29) on send queues made by mailboxes. The frames
//! arrive, the ports count each of them, and queues of programs need permission.
//!
//! Execution of these WQEs belongs here, their decoding in `softhca/src/wqe/tests/frames.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{BUFFER, Link, Node, PAGE, Queue, RDY, RST, op, run};
use softhca::config::{DeviceConfig, PortConfig};
use softhca::context::InlineHeaders;
use softhca::wire::in_process::Fabric;

/// A WQE of these frames; every second one is inline.
fn session(node: &mut Node, queue: &Queue, frames: &[Vec<u8>]) -> Vec<u8> {
    // Checksums of layers 3 and 4, for all.
    let mut segments = vec![0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (n, frame) in frames.iter().enumerate() {
        let len = frame.len() as u32;
        if n % 2 == 1 {
            segments.extend((len | 1 << 31).to_be_bytes());
            segments.extend(frame);
            segments.resize(segments.len().next_multiple_of(16), 0);
        } else {
            let buffer = node.alloc(len.into());
            node.memory.write(buffer, frame);
            segments.extend(len.to_be_bytes());
            segments.extend(node.key.to_be_bytes());
            segments.extend(buffer.to_be_bytes());
        }
    }
    let [high, low] = queue.posted.to_be_bytes();
    let mut wqe = vec![0, high, low, 0x29];
    wqe.extend(((queue.number as u32) << 8 | (1 + segments.len() as u32 / 16)).to_be_bytes());
    wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
    wqe.extend(segments);
    wqe
}

/// Frames and bytes that the vport has sent and received, to one station and to groups.
fn counted(node: &mut Node) -> [u64; 8] {
    let mail = Mail::command("query_vport_counter_in", op::QUERY_VPORT_COUNTER);
    let out = node.command(&mail, "query_vport_counter_out", 0).unwrap();
    let of = |kind: &str, way: &str| ["packets", "octets"].map(|what| out.get(&format!("{way}_eth_{kind}.{what}")));
    let [sent, received] = ["transmitted", "received"].map(|way| [of("unicast", way), of("multicast", way)]);
    let all: Vec<u64> = [sent, received].into_iter().flatten().flatten().collect();
    all.try_into().expect("eight numbers")
}

#[test]
fn each_frame_arrives_and_is_counted() {
    let Link { mut a, mut b, mut a_cq, mut b_cq, mut sq, rq, .. } = Link::new(8);
    let to = |last: u8, data: usize| {
        let station = if last == 0 { [1, 0, 0x5e, 0, 0, 1] } else { mac(last) };
        frame(station, &[], &ipv4(last % 2 == 0, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), data))
    };
    let frames = [to(2, 18), to(0, 40), to(2, 1000), to(3, 30)];
    let mut without_sums = frames.clone();
    without_sums.iter_mut().for_each(|frame| frame[24..26].fill(0xee));
    let wqe = session(&mut a, &sq, &without_sums);
    a.post(&mut sq, &wqe);
    run(&mut [&mut a, &mut b]);
    assert_eq!(a.poll_all(&mut a_cq), [(0, 0, 0, 0)], "one CQE");
    let lens = frames.clone().map(|frame| frame.len() as u32);
    let arrived: Vec<_> = lens.iter().enumerate().map(|(n, &len)| (2, 0, n as u16, len)).collect();
    assert_eq!(b.poll_all(&mut b_cq), arrived);
    for (n, frame) in frames.iter().enumerate() {
        assert_eq!(b.memory.read(rq.buffers + n as u64 * BUFFER, frame.len()), *frame, "frame {n}");
    }
    let octets = |of: &[usize]| of.iter().map(|&n| u64::from(lens[n])).sum::<u64>();
    let (unicast, multicast) = (octets(&[0, 2, 3]), octets(&[1]));
    assert_eq!(counted(&mut a), [3, unicast, 1, multicast, 0, 0, 0, 0]);
    assert_eq!(counted(&mut b), [0, 0, 0, 0, 3, unicast, 1, multicast]);
}

/// A send queue of a program, with a CQ of one CQE; the address of the CQE.
fn of_program(node: &mut Node, allowed: bool) -> (Queue, u64) {
    let uctx = Mail::command("create_uctx_in", 0xa04).set("uctx.cap", 1);
    let uid = node.number(uctx, "create_uctx_out", "uid");
    let make = |node: &mut Node, input: &'static str, opcode: u64, output: &'static str, field: &str| {
        node.number(Mail::command(input, opcode).set("uid", uid), output, field)
    };
    let uar = make(node, "alloc_uar_in", 0x802, "alloc_uar_out", "uar");
    let pd = make(node, "alloc_pd_in", 0x800, "alloc_pd_out", "pd");
    let domain = "alloc_transport_domain_in";
    let td = make(node, domain, op::ALLOC_TRANSPORT_DOMAIN, "alloc_transport_domain_out", "transport_domain");
    let tis = Mail::command("create_tis_in", op::CREATE_TIS).set("uid", uid).set("ctx.transport_domain", td);
    let tis = node.number(tis, "create_tis_out", "tisn");
    // The send ring, the CQE, and the records.
    let pages = [0; 3].map(|_| node.alloc(PAGE));
    let [ring, cqe, records] = pages;
    node.memory.write(cqe + 63, &[0xf1]);
    let umem = Mail::command("create_umem_in", op::CREATE_UMEM).set("uid", uid).set("umem.num_of_mtt", 3);
    let umem = node.number(umem.pages(&pages.map(|page| page | 3)), "create_umem_out", "umem_id");
    let cq = Mail::command("create_cq_in", op::CREATE_CQ)
        .set("uid", uid)
        .set("cq_umem_valid", 1)
        .set("cq_umem_id", umem)
        .set("cq_umem_offset", PAGE)
        .set("cq_context.dbr_umem_valid", 1)
        .set("cq_context.dbr_umem_id", umem)
        .set("cq_context.dbr_addr", 2 * PAGE)
        .set("cq_context.uar_page", uar)
        .set("cq_context.c_eqn_or_apu_element", 2);
    let cqn = node.number(cq, "create_cq_out", "cqn");
    let sq = Mail::command("create_sq_in", op::CREATE_SQ)
        .set("uid", uid)
        .set("ctx.allow_multi_pkt_send_wqe", allowed.into())
        .set("ctx.cqn", cqn)
        .set("ctx.tis_lst_sz", 1)
        .set("ctx.tis_num_0", tis)
        .set("ctx.wq.wq_type", 1)
        .set("ctx.wq.pd", pd)
        .set("ctx.wq.uar_page", uar)
        .set("ctx.wq.log_wq_stride", 6)
        .set("ctx.wq.log_wq_sz", 6)
        .set("ctx.wq.wq_umem_valid", 1)
        .set("ctx.wq.wq_umem_id", umem)
        .set("ctx.wq.dbr_umem_valid", 1)
        .set("ctx.wq.dbr_umem_id", umem)
        .set("ctx.wq.dbr_addr", 2 * PAGE + 64);
    let number = node.number(sq, "create_sq_out", "sqn");
    node.modify_sq(number, RST, RDY).unwrap();
    (Queue { number, pages: vec![ring], record: records + 64, posted: 0, buffers: 0 }, cqe)
}

/// DPDK sets the bit for each of its queues (`drivers/net/mlx5/mlx5_devx.c`, `mlx5_txq_create_devx_sq_resources`), and
/// Linux for those of verbs. Linux' own queues lack it: see the test above.
#[test]
fn queues_of_programs_have_to_say_that_they_want_it() {
    for allowed in [false, true] {
        let mut a = Node::new(&Fabric::new(), 1);
        let (mut sq, cqe) = of_program(&mut a, allowed);
        let bytes = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 18));
        // Inline, as the program has no memory key: the second of two.
        let mut wqe = session(&mut a, &sq, &[vec![0; 16], bytes.clone()]);
        wqe.drain(32..48);
        wqe[7] -= 1;
        a.post(&mut sq, &wqe);
        a.step();
        let cqe = a.memory.read(cqe, 64);
        let expected = if allowed { (0x00, 0) } else { (0xd2, 0x02) };
        assert_eq!((cqe[63], if allowed { 0 } else { cqe[55] }), expected);
        let sent: Vec<_> = a.device.take_frames().into_iter().map(|frame| frame.bytes).collect();
        assert_eq!(sent, if allowed { vec![bytes] } else { vec![] });
    }
}

#[test]
fn a_device_that_needs_headers_inline_has_no_such_wqes() {
    for inline_headers in [InlineHeaders::None, InlineHeaders::L2, InlineHeaders::Ip] {
        let config = DeviceConfig { inline_headers, ..DeviceConfig::with_port(PortConfig::ethernet(1)) };
        let mut a = Node::of(&Fabric::new(), 1, config);
        let has = inline_headers == InlineHeaders::None;
        // Capabilities of Ethernet offloads, those in force.
        let mail = Mail::command("query_hca_cap_in", op::QUERY_HCA_CAP).set("op_mod", 1 << 1 | 1);
        let out = a.command(&mail, "query_hca_cap_out", 0).unwrap();
        let bits = &out.bytes[16..];
        assert_eq!((bits[2] >> 6, bits[3] >> 5 & 1), if has { (1, 1) } else { (0, 0) }, "{inline_headers:?}");
        let cq = a.cq();
        let (mail, _) = a.sq_mail(&cq, None);
        let made = a.command(&mail.set("ctx.allow_multi_pkt_send_wqe", 1), "create_sq_out", 0);
        assert_eq!(made.is_ok(), has, "{inline_headers:?}");
    }
}
