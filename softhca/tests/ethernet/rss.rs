//! The choice of a receive queue by a hash.
//!
//! RSS belongs here, other destinations in `transfer.rs`.

use crate::frame::{frame, ipv4, mac, sum};
use crate::mailbox::Mail;
use crate::node::{Cq, Node, Queue, op, pair, run};
use softhca::firmware::Status;

/// The key, connections and hashes of Microsoft's "Verifying the RSS hash calculation": with ports, and without.
const KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b,
    0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac,
    0x01, 0xfa,
];
type Connection = ([u8; 4], u16, [u8; 4], u16, u32, u32);
const CONNECTIONS: [Connection; 5] = [
    ([66, 9, 149, 187], 2794, [161, 142, 100, 80], 1766, 0x51cc_c178, 0x323e_8fc2),
    ([199, 92, 111, 2], 14230, [65, 69, 140, 83], 4739, 0xc626_b0ea, 0xd718_262a),
    ([24, 19, 198, 95], 12898, [12, 22, 207, 184], 38024, 0x5c2b_394a, 0xd2d0_a5de),
    ([38, 27, 205, 30], 48228, [209, 142, 163, 6], 2217, 0xafc7_327f, 0x8298_9176),
    ([153, 39, 163, 191], 44251, [202, 188, 127, 2], 1303, 0x10e8_28a2, 0x5d18_09c5),
];

fn rqt(node: &mut Node, max: u64, rqs: &[u64]) -> Result<u64, Status> {
    let list: Vec<u8> = rqs.iter().flat_map(|&rqn| (rqn as u32).to_be_bytes()).collect();
    let mail = Mail::command("create_rqt_in", op::CREATE_RQT)
        .set("rqt_context.rqt_max_size", max)
        .set("rqt_context.rqt_actual_size", rqs.len() as u64)
        .followed_by(&list);
    Ok(node.command(&mail, "create_rqt_out", 0)?.get("rqtn"))
}

/// A TIR of an RQT that hashes these fields of TCP over IPv4 by Toeplitz' function.
fn tir(node: &mut Node, rqtn: u64, fields: u64) -> u64 {
    let mail = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.disp_type", 1)
        .set("ctx.indirect_table", rqtn)
        .set("ctx.transport_domain", node.td)
        .set("ctx.rx_hash_fn", 2)
        .set("ctx.rx_hash_field_selector_outer.selected_fields", fields)
        .put("ctx.rx_hash_toeplitz_key", &KEY);
    node.number(mail, "create_tir_out", "tirn")
}

/// Four receive queues, each with its CQ.
fn queues(node: &mut Node) -> Vec<(Cq, Queue)> {
    (0..4)
        .map(|_| {
            let cq = node.cq();
            let rq = node.rq(&cq, false, 16);
            (cq, rq)
        })
        .collect()
}

/// A host that sends, and one with four receive queues.
struct Hosts {
    a: Node,
    sq: Queue,
    b: Node,
    queues: Vec<(Cq, Queue)>,
    numbers: Vec<u64>,
}

fn hosts() -> Hosts {
    let (mut a, mut b) = pair();
    let queues = queues(&mut b);
    let numbers = queues.iter().map(|(_, rq)| rq.number).collect();
    let cq = a.cq();
    let sq = a.sq(&cq);
    Hosts { a, sq, b, queues, numbers }
}

#[test]
fn hashes_are_the_published_ones_and_choose_the_queue() {
    let Hosts { mut a, mut sq, mut b, mut queues, numbers } = hosts();
    let table = rqt(&mut b, 8, &numbers).unwrap();
    let (with_ports, without) = (tir(&mut b, table, 0xf), tir(&mut b, table, 3));
    let (flow_table, group) = b.take_all(with_ports);
    let mut order: Vec<usize> = (0..4).collect();
    for round in 0..3 {
        match round {
            1 => b.bare(&Node::rule(0, (flow_table, group, 0), &[], 4, &[(2, without)], &[])).unwrap(),
            2 => {
                // The table's queues in another order.
                order.reverse();
                let list: Vec<u8> = order.iter().flat_map(|&at| (numbers[at] as u32).to_be_bytes()).collect();
                let mail = Mail::command("modify_rqt_in", op::MODIFY_RQT)
                    .set("rqtn", table)
                    .set("bitmask.rqn_list", 1)
                    .set("ctx.rqt_actual_size", 4)
                    .followed_by(&list);
                b.bare(&mail).unwrap();
            }
            _ => {}
        }
        for (source, from, destination, to, tcp, ip) in CONNECTIONS {
            a.send(&mut sq, 0, &frame(mac(2), &[], &ipv4(false, (source, from), (destination, to), 10)));
            run(&mut [&mut a, &mut b]);
            let (hash, kind) = if round == 0 { (tcp, 0x44) } else { (ip, 0x04) };
            for (at, (cq, _)) in queues.iter_mut().enumerate() {
                let cqe = b.poll(cq);
                assert_eq!(cqe.is_some(), order[hash as usize % 4] == at, "round {round}: {hash:#x}, queue {at}");
                if let Some(cqe) = cqe {
                    assert_eq!((&cqe[12..16], cqe[16]), (&hash.to_be_bytes()[..], kind));
                }
            }
        }
    }
    let query = Mail::command("query_rqt_in", op::QUERY_RQT).set("rqtn", table);
    let found = b.command(&query, "query_rqt_out", 16).unwrap();
    assert_eq!((found.get("rqt_context.rqt_max_size"), found.get("rqt_context.rqt_actual_size")), (8, 4));
    let list: Vec<u8> = order.iter().flat_map(|&at| (numbers[at] as u32).to_be_bytes()).collect();
    assert_eq!(found.bytes[0x110..], list);
    assert_eq!(b.command(&query, "query_rqt_out", 12).unwrap_err(), Status::BadOutputLength);
}

/// Microsoft's connections inside of GRE: the hash is that of the inner headers (Linux `drivers/infiniband/hw/mlx5/qp.c`,
/// `create_rss_raw_qp_tir`, `rx_hash_field_selector_inner`). A frame without a tunnel has no hash, and goes to the first
/// queue.
#[test]
fn the_hash_can_be_that_of_the_headers_inside() {
    let Hosts { mut a, mut sq, mut b, mut queues, numbers } = hosts();
    let table = rqt(&mut b, 4, &numbers).unwrap();
    let mail = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.disp_type", 1)
        .set("ctx.indirect_table", table)
        .set("ctx.transport_domain", b.td)
        .set("ctx.rx_hash_fn", 2)
        .set("ctx.tunneled_offload_en", 1)
        .set("ctx.rx_hash_field_selector_inner.selected_fields", 0xf)
        .put("ctx.rx_hash_toeplitz_key", &KEY);
    let tir = b.number(mail, "create_tir_out", "tirn");
    b.take_all(tir);
    for (source, from, destination, to, tcp, _) in CONNECTIONS {
        let inner = ipv4(false, (source, from), (destination, to), 10);
        let mut outer = vec![0x45, 0];
        outer.extend((24 + inner.len() as u16).to_be_bytes());
        outer.extend([0, 9, 0x40, 0, 64, 47, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let checksum = (!sum(&[&outer])).to_be_bytes();
        outer[10..12].copy_from_slice(&checksum);
        outer.extend([0, 0, 8, 0]);
        for (packet, hash, kind) in [([&outer[..], &inner].concat(), tcp, 0x44), (inner, 0, 0)] {
            a.send(&mut sq, 0, &frame(mac(2), &[], &packet));
            run(&mut [&mut a, &mut b]);
            for (at, (cq, _)) in queues.iter_mut().enumerate() {
                let cqe = b.poll(cq);
                assert_eq!(cqe.is_some(), hash as usize % 4 == at, "{hash:#x}, queue {at}");
                if let Some(cqe) = cqe {
                    assert_eq!((&cqe[12..16], cqe[16]), (&hash.to_be_bytes()[..], kind));
                    assert_eq!(cqe[0], u8::from(kind != 0), "a tunnel");
                }
            }
        }
    }
}

#[test]
fn the_hash_of_a_tir_can_be_changed() {
    let Hosts { mut a, mut sq, mut b, mut queues, numbers } = hosts();
    let table = rqt(&mut b, 4, &numbers).unwrap();
    let tirn = tir(&mut b, table, 0xf);
    b.take_all(tirn);
    // Inverted XOR of the addresses alone.
    let mail = Mail::command("modify_tir_in", op::MODIFY_TIR)
        .set("tirn", tirn)
        .set("bitmask.hash", 1)
        .set("ctx.rx_hash_fn", 1)
        .set("ctx.rx_hash_field_selector_outer.selected_fields", 3);
    b.bare(&mail).unwrap();
    a.send(
        &mut sq,
        0,
        &frame(mac(2), &[], &ipv4(false, ([0x12, 0x34, 0x56, 0x78], 5), ([0x9a, 0xbc, 0xde, 0xf1], 6), 10)),
    );
    run(&mut [&mut a, &mut b]);
    let hash = !(0x12 ^ 0x34 ^ 0x56 ^ 0x78 ^ 0x9a ^ 0xbc ^ 0xde ^ 0xf1_u8);
    let cqe = b.poll(&mut queues[usize::from(hash) % 4].0).expect("a frame");
    assert_eq!(cqe[12..17], [0, 0, 0, hash, 0x04]);
    let query = Mail::command("query_tir_in", op::QUERY_TIR).set("tirn", tirn);
    let found = b.command(&query, "query_tir_out", 0).unwrap();
    assert_eq!((found.get("tir_context.rx_hash_fn"), found.get("tir_context.indirect_table")), (1, table));
    assert_eq!(found.bytes[0x20 + 0x28..0x20 + 0x50], [0; 40], "the key was modified, too");
    assert_eq!(found.get("tir_context.disp_type"), 1);
}

#[test]
fn tables_of_queues_that_cannot_be_are_refused() {
    let (mut a, _) = pair();
    let numbers: Vec<u64> = queues(&mut a).iter().map(|(_, rq)| rq.number).collect();
    for (max, rqs, status) in [
        (4, &numbers[..3], Status::BadParameter),
        (2, &numbers[..], Status::BadParameter),
        (2049, &numbers[..], Status::BadParameter),
        (4096, &numbers[..], Status::BadParameter),
        (4, &[], Status::BadParameter),
        (4, &[numbers[0], 5][..], Status::BadResource),
    ] {
        assert_eq!(rqt(&mut a, max, rqs), Err(status), "{max}, {rqs:?}");
    }
    let short = Mail::command("create_rqt_in", op::CREATE_RQT)
        .set("rqt_context.rqt_max_size", 4)
        .set("rqt_context.rqt_actual_size", 4)
        .followed_by(&[0; 12]);
    assert_eq!(a.bare(&short), Err(Status::BadInputLength));
    // `log_max_rqt_size` is 11.
    rqt(&mut a, 2048, &numbers).unwrap();
}

/// IPsec: an IPv4 packet of ESP, whose security parameters index is hashed if the TIR says so
/// (`MLX5_HASH_FIELD_SEL_IPSEC_SPI`). Bits 7:6 of the hash's kind say it.
#[test]
fn a_security_index_is_hashed_where_it_is_selected() {
    let Hosts { mut a, mut sq, mut b, mut queues, numbers } = hosts();
    let table = rqt(&mut b, 4, &numbers).unwrap();
    let (source, _, destination, _, _, of_addresses) = CONNECTIONS[0];
    let mut packet = vec![0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 50, 0, 0];
    packet.extend([source, destination].concat());
    let checksum = (!sum(&[&packet])).to_be_bytes();
    packet[10..12].copy_from_slice(&checksum);
    packet.extend([0x11, 0x22, 0x33, 0x44, 0, 0, 0, 1, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55]);
    let whole = frame(mac(2), &[], &[&packet[..], &[0; 10]].concat());
    let mut placed = None;
    for (fields, kind) in [(3, 0x04), (0x13, 0xc4)] {
        let to = tir(&mut b, table, fields);
        match placed {
            None => placed = Some(b.take_all(to)),
            Some((table, group)) => b.bare(&Node::rule(0, (table, group, 0), &[], 4, &[(2, to)], &[])).unwrap(),
        }
        a.send(&mut sq, 0, &whole);
        run(&mut [&mut a, &mut b]);
        let cqe = queues.iter_mut().find_map(|(cq, _)| b.poll(cq)).expect("a frame");
        assert_eq!(cqe[16], kind, "{fields:#x}");
        let hash = u32::from_be_bytes([cqe[12], cqe[13], cqe[14], cqe[15]]);
        assert_eq!(hash == of_addresses, kind == 0x04, "{hash:#x}");
    }
}
