//! Frames of a device's own queues come back in, unless a TIR does not want those of its transport domain.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Node, op, run};
use softhca::wire::in_process::Fabric;

#[test]
fn a_tir_can_block_what_its_own_transport_domain_sends() {
    let mut a = Node::new(&Fabric::new(), 1);
    let mut cq = a.cq();
    let tis = a.tis();
    let mut rq = a.rq(&cq, false, 0);
    let send_cq = a.cq();
    let mut sq = a.sq(&send_cq, Some(tis));
    let tir = a.tir(rq.number);
    a.take_all(tir);
    let packet = ipv4(true, ([1, 2, 3, 4], 1), ([5, 6, 7, 8], 2), 30);
    let own = a.td;
    let other = a.number(
        Mail::command("alloc_transport_domain_in", op::ALLOC_TRANSPORT_DOMAIN),
        "alloc_transport_domain_out",
        "transport_domain",
    );
    for domain in [own, other] {
        a.td = domain;
        let tis = a.tis();
        let mut foreign = a.sq(&send_cq, Some(tis));
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
