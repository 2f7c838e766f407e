//! Frames of a device's own queues come back in, unless a TIR excludes those of its transport domain.
//!
//! Loopback belongs here, two devices in `transfer.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Node, op, pair, run};
use softhca::wire::in_process::Fabric;

#[test]
fn a_tir_can_block_what_its_own_transport_domain_sends() {
    let mut a = Node::new(&Fabric::new(), 1);
    let mut cq = a.cq();
    let tis = a.tis();
    let mut rq = a.rq(&cq, false, 0);
    let send_cq = a.cq();
    let mut sq = a.sq_on(&send_cq, Some(tis));
    let tir = a.receive_all(rq.number);
    let packet = ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30);
    let own = a.td;
    let other = a.number(
        Mail::command("alloc_transport_domain_in", op::ALLOC_TRANSPORT_DOMAIN),
        "alloc_transport_domain_out",
        "transport_domain",
    );
    for domain in [own, other] {
        a.td = domain;
        let mut foreign = a.sq(&send_cq);
        for block in 0..4 {
            let mail = Mail::command("modify_tir_in", op::MODIFY_TIR).set("tirn", tir).set("bitmask.self_lb_en", 1);
            a.bare(&mail.set("ctx.self_lb_block", block)).unwrap();
            for (multicast, to) in [(false, mac(1)), (true, [0x33, 0x33, 0, 0, 0, 1]), (true, [0xff; 6])] {
                let sq = if domain == own { &mut sq } else { &mut foreign };
                a.post_recv(&mut rq, 1, 2048);
                a.send(sq, 0, &frame(to, &[], &packet));
                run(&mut [&mut a]);
                let blocked = domain == own && block & if multicast { 2 } else { 1 } != 0;
                let found = a.poll_all(&mut cq).len();
                assert_eq!(found, usize::from(!blocked), "{domain:#x}, {block}, {to:02x?}");
                // The WQE is still there for the next frame.
                rq.posted -= u16::from(blocked);
            }
        }
    }
}

/// DPDK makes its TIR for drops so, before it has a transport domain.
#[test]
fn a_tir_without_a_transport_domain_has_no_senders_to_block() {
    let mut a = Node::new(&Fabric::new(), 1);
    let (mut cq, send_cq) = (a.cq(), a.cq());
    let rq = a.rq(&cq, false, 16);
    let mut sq = a.sq(&send_cq);
    let mail = Mail::command("create_tir_in", op::CREATE_TIR).set("ctx.inline_rqn", rq.number);
    let tir = a.number(mail.set("ctx.self_lb_block", 3), "create_tir_out", "tirn");
    a.take_all(tir);
    let packet = ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30);
    for to in [mac(1), [0xff; 6]] {
        a.send(&mut sq, 0, &frame(to, &[], &packet));
    }
    run(&mut [&mut a]);
    assert_eq!(a.poll_all(&mut cq).len(), 2);
}

/// Commands that change these fields of the port.
fn port(fields: &[(&str, u64)]) -> Mail {
    fields.iter().fold(
        Mail::command("modify_nic_vport_context_in", op::MODIFY_NIC_VPORT_CONTEXT),
        |mail, (field, value)| {
            mail.set(&format!("field_select.{field}"), 1).set(&format!("nic_vport_context.{field}"), *value)
        },
    )
}

#[test]
fn a_port_keeps_its_own_frames_out_when_it_is_told_to() {
    let mut a = Node::new(&Fabric::new(), 1);
    let (mut cq, send_cq) = (a.cq(), a.cq());
    let rq = a.rq(&cq, false, 16);
    let mut sq = a.sq(&send_cq);
    a.receive_all(rq.number);
    let packet = ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30);
    for (unicast, multicast) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0)] {
        let fields = [("disable_uc_local_lb", unicast), ("disable_mc_local_lb", multicast)];
        let mail = port(&fields);
        // As Linux does it before it makes anything else: 512 bytes, and these bits.
        assert_eq!((mail.bytes.len(), mail.get("field_select")), (512, 0xc00));
        a.bare(&mail).unwrap();
        a.send(&mut sq, 0, &frame(mac(1), &[], &packet));
        a.send(&mut sq, 0, &frame([0xff; 6], &[], &packet));
        run(&mut [&mut a]);
        assert_eq!(a.poll_all(&mut cq).len() as u64, 2 - unicast - multicast);
        let query = Mail::command("query_nic_vport_context_in", op::QUERY_NIC_VPORT_CONTEXT);
        let found = a.command(&query, "query_nic_vport_context_out", 0).unwrap();
        for (field, value) in fields {
            assert_eq!(found.get(&format!("nic_vport_context.{field}")), value);
        }
    }
    // RoCE is turned off, and on again.
    a.bare(&port(&[("roce_en", 0)])).unwrap();
    a.bare(&port(&[("roce_en", 1)])).unwrap();
    for field in ["node_guid", "port_guid", "min_inline"] {
        let mail = port(&[]).set(&format!("field_select.{field}"), 1);
        assert!(a.bare(&mail).is_err(), "{field}");
    }
}

#[test]
fn frames_that_are_longer_than_the_port_takes_are_lost() {
    let (mut a, mut b) = pair();
    let (mut cq, send_cq) = (b.cq(), a.cq());
    let rq = b.rq(&cq, false, 16);
    b.receive_all(rq.number);
    let mut sq = a.sq(&send_cq);
    let whole = frame(mac(2), &[], &ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 100));
    let len = whole.len() as u64;
    for (mtu, arrives) in [(len + 4, 1), (len + 3, 0), (9220, 1)] {
        b.bare(&port(&[("mtu", mtu)])).unwrap();
        a.send(&mut sq, 0, &whole);
        run(&mut [&mut a, &mut b]);
        assert_eq!(b.poll_all(&mut cq).len(), arrives, "{mtu}");
    }
    assert!(b.bare(&port(&[("mtu", 9221)])).is_err() && b.bare(&port(&[("mtu", 0)])).is_err());
}
