//! Frames from one device's send queue to another's receive queue.
//!
//! Two devices belong here, one in `loopback.rs`.

use crate::frame::{frame, ipv4, mac, sum};
use crate::mailbox::Mail;
use crate::node::{BUFFER, Link, Node, RDY, RST, op, pair, run};
use softhca::config::{DeviceConfig, PortConfig};
use softhca::context::InlineHeaders;
use softhca::firmware::Status;
use softhca::wire::in_process::Fabric;
use std::time::Duration;

/// The high and low parts of a MAC address in a match parameter.
const DMAC: [&str; 2] = ["outer_headers.dmac_47_16", "outer_headers.dmac_15_0"];

/// To the device whose address ends in `last`.
fn to(last: u8) -> [(&'static str, u64); 2] {
    let mac = mac(last);
    [
        (DMAC[0], u64::from(u32::from_be_bytes([mac[0], mac[1], mac[2], mac[3]]))),
        (DMAC[1], u64::from(u16::from_be_bytes([mac[4], mac[5]]))),
    ]
}

#[test]
fn rules_choose_frames_and_cqes_say_all_of_them() {
    for umem in [false, true] {
        let (mut a, mut b) = pair();
        let (mut a_cq, mut b_cq) = (a.cq(), b.cq());
        let mut sq = a.sq(&a_cq);
        let rq = b.rq(&b_cq, umem, 4);
        let tir = b.tir(rq.number);
        let counter = b.number(
            Mail::command("alloc_flow_counter_in", op::ALLOC_FLOW_COUNTER),
            "alloc_flow_counter_out",
            "flow_counter_id",
        );
        let table = b.table(0, 1);
        let group = b.group(0, table, [4, 7], &[(DMAC[0], 0xffff_ffff), (DMAC[1], 0xffff)]);
        let rule = Node::rule(0, (table, group, 5), &to(2), 4 | 8, &[(2, tir)], &[counter])
            .set("flow_context.flow_tag", 0x5a5b5c);
        b.bare(&rule).unwrap();

        // Without a root nothing is received.
        let packet = ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 100);
        let whole = frame(mac(2), &[], &packet);
        a.send(&mut sq, 0, &whole);
        run(&mut [&mut a, &mut b]);
        assert_eq!((a.poll_all(&mut a_cq).len(), b.poll(&mut b_cq)), (1, None));
        b.root(0, table);

        // The sums are the device's to fill in.
        let mut bare = whole.clone();
        bare[24..26].fill(0xee);
        bare[40..42].fill(0xee);
        a.send(&mut sq, 0xc0, &bare);
        a.send(&mut sq, 0, &frame(mac(3), &[], &packet));
        run(&mut [&mut a, &mut b]);
        assert_eq!(a.poll_all(&mut a_cq), [(0, 0, 1, 0), (0, 0, 2, 0)]);
        let cqe = b.poll(&mut b_cq).expect("a frame");
        assert_eq!(b.poll(&mut b_cq), None);
        assert_eq!(b.memory.read(rq.buffers, whole.len()), whole);

        let mut expected = [0; 64];
        expected[20..22].copy_from_slice(&sum(&[&packet]).to_be_bytes());
        // L2, L3 and L4 are right; UDP (2 << 4) over IPv4 (2 << 2); no tag taken out.
        expected[28..30].copy_from_slice(&[0b111, 0x28]);
        expected[32..36].copy_from_slice(&[0, 0x12, 0x34, 0x56]);
        expected[44..48].copy_from_slice(&(whole.len() as u32).to_be_bytes());
        expected[48..56].copy_from_slice(&cqe[48..56]);
        expected[56..60].copy_from_slice(&[0, 0x5a, 0x5b, 0x5c]);
        expected[63] = 2 << 4;
        assert_eq!(cqe, expected);
        assert_ne!(cqe[48..56], [0; 8], "a timestamp");

        let query = Mail::command("query_flow_counter_in", op::QUERY_FLOW_COUNTER).set("flow_counter_id", counter);
        let counted = b.command(&query.set("clear", 1), "query_flow_counter_out", 16).unwrap();
        let numbers = [&1_u64.to_be_bytes()[..], &(whole.len() as u64).to_be_bytes()].concat();
        assert_eq!(counted.bytes[16..], numbers);
        let query = Mail::command("query_vport_counter_in", op::QUERY_VPORT_COUNTER);
        let counted = b.command(&query, "query_vport_counter_out", 0).unwrap();
        assert_eq!(counted.get("received_eth_unicast.packets"), 3);
        assert_eq!(counted.get("received_eth_unicast.octets"), 3 * whole.len() as u64);
        assert_eq!(counted.get("transmitted_eth_unicast.packets"), 0);
        let counted = a.command(&query.set("clear", 1), "query_vport_counter_out", 0).unwrap();
        assert_eq!(counted.get("transmitted_eth_unicast.packets"), 3);
        let counted =
            a.command(&Mail::command("query_vport_counter_in", op::QUERY_VPORT_COUNTER), "query_vport_counter_out", 0);
        assert_eq!(counted.unwrap().get("transmitted_eth_unicast.packets"), 0);
    }
}

/// Timestamps of a queue, as its context says: the clock since it was 0, or the time.
#[test]
fn timestamps_are_what_the_queue_asked_for() {
    let since_1970 = Duration::new(1_700_000_000, 600_000_000);
    // The default is the device's clock.
    for (format, has_time, is_time) in
        [(0, true, false), (1, true, true), (2, true, true), (0, false, false), (1, false, false)]
    {
        let fabric = Fabric::new();
        let [mut a, mut b] = [1, 2].map(|number| Node::at(&fabric, number, has_time.then_some(since_1970)));
        let (mut a_cq, mut b_cq, tis) = (a.cq(), b.cq(), a.tis());
        let (mail, mut sq) = a.sq_mail(&a_cq, Some(tis));
        assert_eq!(a.bare(&mail.clone().set("ctx.ts_format", 3)), Err(Status::BadParameter));
        sq.number = a.number(mail.set("ctx.ts_format", format), "create_sq_out", "sqn");
        a.modify_sq(sq.number, RST, RDY).unwrap();
        let (mail, mut rq) = b.rq_mail(&b_cq, false);
        rq.number = b.number(mail.set("ctx.ts_format", format), "create_rq_out", "rqn");
        b.modify_rq(rq.number, RST, RDY).unwrap();
        b.post_recv(&mut rq, 1, BUFFER as u32);
        b.receive_all(rq.number);
        a.send(&mut sq, 0, &frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 100)));
        let before = [a.now, b.now];
        run(&mut [&mut a, &mut b]);
        let after = [a.now, b.now];
        let cqes = [a.poll(&mut a_cq).expect("sent"), b.poll(&mut b_cq).expect("received")];
        for (cqe, span) in cqes.into_iter().zip(before.into_iter().zip(after)) {
            let stamp = u64::from_be_bytes(cqe[48..56].try_into().unwrap());
            let time = match is_time {
                true => Duration::new(stamp >> 32, stamp as u32) - since_1970,
                false => Duration::from_nanos(stamp),
            };
            assert!((span.0..=span.1).contains(&time), "format {format}: {stamp:#x} is {time:?}, not in {span:?}");
        }
    }
}

/// A device that has the time alone refuses 0, which drivers that know no formats leave there; one without it refuses
/// 2.
#[test]
fn timestamps_of_a_clock_that_the_device_has_not_are_refused() {
    let config = |real_time: Option<Duration>, real_time_only| DeviceConfig {
        real_time,
        real_time_only,
        ..DeviceConfig::with_port(PortConfig::ethernet(1))
    };
    let time = Some(Duration::from_secs(1_700_000_000));
    for (config, capability, fits) in [
        (config(None, false), 0, [true, true, false, false]),
        (config(time, true), 1, [false, true, true, false]),
        (config(time, false), 2, [true, true, true, false]),
    ] {
        let fabric = Fabric::new();
        let mut node = Node::of(&fabric, 1, config);
        let query = Mail::command("query_hca_cap_in", op::QUERY_HCA_CAP).set("op_mod", 1);
        let general = node.command(&query, "query_hca_cap_out", 0x1000 - 0x10).unwrap();
        // `sq_ts_format` and `rq_ts_format`.
        assert_eq!(general.bytes[0x10 + 0x440 / 8] >> 4, capability << 2 | capability);
        let (cq, tis) = (node.cq(), node.tis());
        for (format, fits) in (0..).zip(fits) {
            let (mail, _) = node.sq_mail(&cq, Some(tis));
            assert_eq!(node.bare(&mail.set("ctx.ts_format", format)).is_ok(), fits, "{format} of an SQ");
            let (mail, _) = node.rq_mail(&cq, false);
            let mut answer = [0; 16];
            let mail = mail.set("ctx.ts_format", format);
            let status = node.firmware.execute(&mut node.device, &mail.bytes, &mut answer);
            assert_eq!(status == Status::Ok, fits, "{format} of an RQ");
            // Seen on a NIC without the time (NVIDIA/daqiri, issue 283).
            assert!(fits || answer[4..8] == [0, 0x43, 0xd9, 0x8f], "{format}: {answer:x?}");
        }
    }
}

/// The field of an SQ counts if the port's context has the requirement. The capability tells whether it has (Linux
/// `mlx5_query_min_inline`).
#[test]
fn headers_are_needed_inline_as_the_capability_says() {
    use InlineHeaders::{Ip, L2, None, TcpUdp};
    // The capability, the port's mode, and for each mode of an SQ whether a frame with 18 bytes inline leaves; `false`
    // first where the SQ itself is refused.
    for (headers, capability, port, leaves) in [
        (None, 2, 0, [Some(true); 5]),
        (L2, 0, 1, [Some(true); 5]),
        (Ip, 1, 2, [Some(false), Some(false), Some(false), Some(false), Option::None]),
        (TcpUdp, 1, 3, [Some(false), Some(false), Some(false), Some(false), Option::None]),
    ] {
        let fabric = Fabric::new();
        let config = DeviceConfig { inline_headers: headers, ..DeviceConfig::with_port(PortConfig::ethernet(1)) };
        let mut node = Node::of(&fabric, 1, config);
        let query = Mail::command("query_hca_cap_in", op::QUERY_HCA_CAP).set("op_mod", 1 << 1 | 1);
        let offloads = node.command(&query, "query_hca_cap_out", 0x1000 - 0x10).unwrap();
        assert_eq!(offloads.bytes[0x10 + 2] >> 4 & 3, capability, "wqe_inline_mode for {headers:?}");
        let query = Mail::command("query_nic_vport_context_in", op::QUERY_NIC_VPORT_CONTEXT);
        let context = node.command(&query, "query_nic_vport_context_out", 0).unwrap();
        assert_eq!(context.get("nic_vport_context.min_wqe_inline_mode"), port, "{headers:?}");
        let (mut cq, tis) = (node.cq(), node.tis());
        for (mode, leaves) in (0..).zip(leaves) {
            let (mail, mut sq) = node.sq_mail(&cq, Some(tis));
            let made = node.command(&mail.set("ctx.min_wqe_inline_mode", mode), "create_sq_out", 0);
            assert_eq!(made.is_ok(), leaves.is_some(), "{headers:?}: an SQ of mode {mode}");
            let (Ok(made), Some(leaves)) = (made, leaves) else { continue };
            sq.number = made.get("sqn");
            node.modify_sq(sq.number, RST, RDY).unwrap();
            let whole = frame(mac(2), &[], &ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 100));
            node.send(&mut sq, 0, &whole);
            run(&mut [&mut node]);
            let done = node.poll_all(&mut cq);
            // A completion, or an error of the requester: "local QP operation".
            let expected = if leaves { (0, 0) } else { (13, 2) };
            assert_eq!((done[0].0, done[0].1), expected, "{headers:?}: a frame of an SQ of mode {mode}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_frame_is_in_its_cqe() {
    let Link { mut a, mut b, mut b_cq, mut sq, .. } = Link::new(8);
    let udp = frame(mac(2), &[], &ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30));
    let tcp = frame(mac(2), &[], &ipv4(false, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 0));
    let mut bad_l4 = udp.clone();
    bad_l4[50] ^= 1;
    let mut bad_l3 = udp.clone();
    bad_l3[22] ^= 1;
    let mut fragment = udp.clone();
    fragment[20] = 0x20;
    fragment[24..26].fill(0);
    let sum_of = |frame: &mut Vec<u8>| {
        let checksum = !sum(&[&frame[14..34]]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    };
    sum_of(&mut fragment);
    // One word of IPv4 options: "no operation". And IPv6 with options for the destination (RFC 8200, 4.6): padding.
    let mut options = udp.clone();
    (options[14], options[17]) = (0x46, options[17] + 4);
    options.splice(34..34, [1; 4]);
    options[24..26].fill(0);
    let checksum = !sum(&[&options[14..38]]);
    options[24..26].copy_from_slice(&checksum.to_be_bytes());
    let extended = [&udp[..12], &[0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 60, 9], &[0x20; 32], &[59, 0, 1, 4, 0, 0, 0, 0]];
    let extended = extended.concat();
    let mut arp = udp.clone();
    arp[13] = 6;
    for frame in [&udp, &tcp, &bad_l4, &bad_l3, &fragment, &options, &extended, &arp] {
        a.send(&mut sq, 0, frame);
    }
    run(&mut [&mut a, &mut b]);
    // Layers that are right, and header types: UDP, TCP with an ACK and no data, a fragment, options, no IP at all.
    for expected in [[7, 0x28], [7, 0x38], [3, 0x28], [5, 0x28], [3, 0x88], [7, 0x2a], [3, 0x06], [1, 0]] {
        let cqe = b.poll(&mut b_cq).expect("a frame");
        assert_eq!(cqe[28..30], expected);
    }
}

#[test]
fn a_tag_is_taken_out_if_it_is_asked_for() {
    let Link { mut a, mut b, mut b_cq, mut sq, rq, .. } = Link::new(8);
    let packet = ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30);
    let tagged = frame(mac(2), &[0x81, 0, 0xa0, 0x05], &packet);
    let service = frame(mac(2), &[0x88, 0xa8, 0, 7], &packet);
    for strip in [false, true] {
        // Bit 1 of the mask: VLAN stripping is disabled, or not.
        let mail = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rq.number).set("rq_state", RDY);
        let mail = mail.set("modify_bitmask", 2).set("ctx.state", RDY).set("ctx.vsd", (!strip).into());
        b.bare(&mail).unwrap();
        for (frame, stripped) in [(&tagged, strip), (&service, false)] {
            a.send(&mut sq, 0, frame);
            run(&mut [&mut a, &mut b]);
            let cqe = b.poll(&mut b_cq).expect("a frame");
            assert_eq!((cqe[29] & 1 != 0, &cqe[30..32]), (stripped, if stripped { &[0xa0, 5][..] } else { &[0, 0] }));
            let expected = if stripped { [&frame[..12], &frame[16..]].concat() } else { frame.clone() };
            let index = u64::from(u16::from_be_bytes([cqe[60], cqe[61]]));
            assert_eq!(b.memory.read(rq.buffers + index * BUFFER, expected.len()), expected);
            assert_eq!(cqe[44..48], (expected.len() as u32).to_be_bytes());
            assert_eq!(cqe[20..22], sum(&[&packet]).to_be_bytes());
        }
    }
}

#[test]
fn frames_that_leave_have_rules_of_their_own() {
    let Link { mut a, mut b, mut a_cq, mut b_cq, sq: mut first, .. } = Link::new(8);
    let mut second = a.sq(&a_cq);
    // Frames of the first queue are dropped, by its number.
    let (low, high) = (a.table(1, 1), a.table(1, 2));
    let by_queue = a.group(1, low, [0, 3], &[("misc_parameters.source_sqn", 0xff_ffff)]);
    let rest = a.group(1, low, [4, 4], &[]);
    let sqn = [("misc_parameters.source_sqn", first.number)];
    a.bare(&Node::rule(1, (low, by_queue, 1), &sqn, 2, &[], &[])).unwrap();
    a.bare(&Node::rule(1, (low, rest, 4), &[], 4, &[(1, high)], &[])).unwrap();
    let all = a.group(1, high, [0, 0], &[]);
    a.bare(&Node::rule(1, (high, all, 0), &[], 1, &[], &[])).unwrap();
    a.root(1, low);
    let whole = frame(mac(2), &[], &ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30));
    a.send(&mut first, 0, &whole);
    a.send(&mut second, 0, &whole);
    run(&mut [&mut a, &mut b]);
    assert_eq!((a.poll_all(&mut a_cq).len(), b.poll_all(&mut b_cq).len()), (2, 1));
    // Without a root all frames go out.
    let none = Mail::command("set_flow_table_root_in", op::SET_FLOW_TABLE_ROOT).set("op_mod", 1);
    a.bare(&none.set("table_type", 1).set("table_id", low)).unwrap();
    a.send(&mut first, 0, &whole);
    run(&mut [&mut a, &mut b]);
    assert_eq!(b.poll_all(&mut b_cq).len(), 1);
}

/// Hosts look at a frame as soon as they see its CQE, and at that by its last byte.
#[test]
fn a_frame_is_stored_before_its_cqe() {
    let Link { mut a, mut b, mut b_cq, mut sq, rq, .. } = Link::new(4);
    let whole = frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], 7), ([10, 0, 0, 2], 9), 1000));
    b.memory.take_stores();
    a.send(&mut sq, 0, &whole);
    run(&mut [&mut a, &mut b]);
    let stores = b.memory.take_stores();
    let (cqe, data) = stores.split_last().expect("the device has stored");
    let buffer = rq.buffers..rq.buffers + BUFFER;
    assert!(data.iter().all(|store| buffer.contains(&store.addr)), "{stores:?}");
    assert_eq!(data.iter().map(|store| store.len).sum::<usize>(), whole.len(), "{stores:?}");
    assert!(cqe.len == 64 && cqe.publishes && !buffer.contains(&cqe.addr), "{stores:?}");
    assert!(b.poll(&mut b_cq).is_some());
}
