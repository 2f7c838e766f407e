//! TIRs that merge: their fields and limits, the time of a session, and the commands that end sessions.
//!
//! Tests of TIRs and commands belong here. Tests of segments belong in `merging.rs`.

use super::*;

/// The time is the nearest of the device's that is not longer, and runs from the first segment on.
#[test]
fn sessions_have_a_time() {
    for (usecs, period) in [(SHORT, 8), (15, 8), (16, 16), (32, 32), (1000, 32), (LONG, 1024), (0xffff, 1024)] {
        let mut bench = Bench::new(usecs, 255);
        assert_eq!(bench.b.device.next_deadline(), None);
        let one = first();
        bench.send(std::slice::from_ref(&one));
        let until = bench.b.device.next_deadline().unwrap();
        let left = until - bench.b.now;
        assert!(
            left < Duration::from_micros(period) && left + Duration::from_micros(4) > Duration::from_micros(period)
        );
        bench.b.now = until - Duration::from_micros(2);
        bench.send(&[one.next(vec![2; LEAST])]);
        // A segment does not make it longer.
        bench.b.now = until;
        bench.b.step();
        assert_eq!(bench.b.device.next_deadline(), None, "{usecs}");
        let merged: u8 = bench.poll_all().iter().map(|(segments, _)| segments).sum();
        assert_eq!(merged, 2);
    }
}

/// The versions of IP that a TIR does not merge are received one by one, and nothing says that they could be merged.
#[test]
fn a_tir_merges_what_its_mask_says() {
    for (mask, ipv6) in [(0, false), (1, true), (2, false)] {
        let mut bench = Bench::new(LONG, 255);
        let (usecs, units) = if mask == 0 { (0, 0) } else { (LONG, 255) };
        modify(&mut bench, mask, usecs, units).unwrap();
        let one = Tcp { ipv6, ..first() };
        bench.send(&[one.clone(), one.next(vec![2; LEAST])]);
        let len = one.frame().len() as u32;
        assert_eq!(bench.poll_all(), [(0, len), (0, len)], "{mask}");
    }
}

fn modify(bench: &mut Bench, mask: u64, usecs: u64, units: u64) -> Result<(), Status> {
    let mail = Mail::command("modify_tir_in", op::MODIFY_TIR).set("tirn", bench.tir).set("bitmask.packet_merge", 1);
    let mail = mail.set("ctx.packet_merge_mask", mask).set("ctx.lro_timeout_period_usecs", usecs);
    bench.b.bare(&mail.set("ctx.lro_max_ip_payload_size", units))
}

/// Sessions end before these commands, so no segment is lost.
#[test]
fn commands_end_sessions() {
    let whole = [(2, 54 + 2 * LEAST as u32)];
    let begun = || {
        let mut bench = Bench::new(LONG, 255);
        let one = first();
        bench.send(&[one.clone(), one.next(vec![2; LEAST])]);
        assert_eq!(bench.poll_all(), []);
        bench
    };
    let mut bench = begun();
    modify(&mut bench, 0, 0, 0).unwrap();
    assert_eq!(bench.poll_all(), whole);
    let mut bench = begun();
    let rqn = bench.rq.number;
    bench.b.modify_rq(rqn, RDY, RST).unwrap();
    assert_eq!(bench.poll_all(), whole);
    bench.wait();
    assert_eq!(bench.b.device.next_deadline(), None);
    let mut bench = begun();
    let rqn = bench.rq.number;
    bench.b.modify_rq(rqn, RDY, ERR).unwrap();
    bench.b.step();
    // Seven WQEs are flushed: not the one that was used.
    let found = bench.b.poll_all(&mut bench.cq);
    assert_eq!((found.len(), found[0].0, found[0].3), (8, 2, 54 + 2 * LEAST as u32));
    assert!(found[1..].iter().all(|cqe| (cqe.0, cqe.1) == (14, 5)));
    // Without its rule a TIR can go, and then its queue.
    let mut bench = begun();
    bench.b.bare(&Mail::command("delete_fte_in", op::DELETE_FTE).set("table_id", bench.table)).unwrap();
    bench.b.bare(&Mail::command("destroy_tir_in", op::DESTROY_TIR).set("tirn", bench.tir)).unwrap();
    assert_eq!(bench.poll_all(), whole);
    bench.b.bare(&Mail::command("destroy_rq_in", op::DESTROY_RQ).set("rqn", rqn)).unwrap();
    bench.wait();
}

#[test]
fn tables_that_change_end_sessions() {
    let (mut a, mut b) = nodes(Generation::ConnectX6Dx);
    let mut cqs = [b.cq(), b.cq()];
    let mut queues = [b.rq(&cqs[0], false, 0), b.rq(&cqs[1], false, 0)];
    for queue in &mut queues {
        queue.buffers = b.alloc(8 * 0x6000);
        post_pairs(&mut b, queue, 8);
    }
    let rqt = |command: &str, opcode: u64, rqn: u64| {
        let (ctx, input) =
            if command == "create" { ("rqt_context", "create_rqt_in") } else { ("ctx", "modify_rqt_in") };
        Mail::command(input, opcode)
            .set(&format!("{ctx}.rqt_max_size"), 1)
            .set(&format!("{ctx}.rqt_actual_size"), 1)
            .followed_by(&(rqn as u32).to_be_bytes())
    };
    let rqtn = b.number(rqt("create", op::CREATE_RQT, queues[0].number), "create_rqt_out", "rqtn");
    let mail = tir_mail(&b, 0, 3, LONG, 255).set("ctx.disp_type", 1).set("ctx.indirect_table", rqtn);
    let tir = b.number(mail, "create_tir_out", "tirn");
    b.take_all(tir);
    let one = first();
    let two = one.next(vec![2; LEAST]);
    a.send(&[one.frame(), two.frame()], &mut b);
    assert_eq!(b.poll(&mut cqs[0]), None);
    let mail = rqt("modify", op::MODIFY_RQT, queues[1].number).set("rqtn", rqtn).set("bitmask.rqn_list", 1);
    b.bare(&mail).unwrap();
    assert_eq!(b.poll(&mut cqs[0]).map(|cqe| cqe[32]), Some(2));
    a.send(&[two.next(vec![3; LEAST]).frame()], &mut b);
    b.now += Duration::from_micros(LONG);
    b.step();
    assert_eq!([b.poll(&mut cqs[0]), b.poll(&mut cqs[1])].map(|cqe| cqe.map(|cqe| cqe[32])), [None, Some(1)]);
}

#[test]
fn a_failed_device_completes_no_session() {
    let mut bench = Bench::new(LONG, 255);
    bench.send(&[first()]);
    bench.b.device.fail();
    bench.b.bare(&Mail::command("delete_fte_in", op::DELETE_FTE).set("table_id", bench.table)).unwrap();
    bench.b.bare(&Mail::command("destroy_tir_in", op::DESTROY_TIR).set("tirn", bench.tir)).unwrap();
    bench.wait();
    assert_eq!(bench.poll_all(), []);
}

#[test]
fn tirs_have_the_fields_that_they_were_given() {
    let mut bench = Bench::new(32, 40);
    let names = ["packet_merge_mask", "lro_timeout_period_usecs", "lro_max_ip_payload_size"];
    let query = |bench: &mut Bench| {
        let mail = Mail::command("query_tir_in", op::QUERY_TIR).set("tirn", bench.tir);
        let found = bench.b.command(&mail, "query_tir_out", 0).unwrap();
        names.map(|name| found.get(&format!("tir_context.{name}")))
    };
    assert_eq!(query(&mut bench), [3, 32, 40]);
    modify(&mut bench, 1, 100, 255).unwrap();
    assert_eq!(query(&mut bench), [1, 100, 255]);
    let refused = [(4, 32, 40), (8, 32, 40), (7, 32, 40), (1, 7, 40), (1, 0, 40), (3, 32, 0), (0, 32, 0), (0, 0, 1)];
    for (mask, usecs, units) in refused {
        assert!(modify(&mut bench, mask, usecs, units).is_err(), "{mask} {usecs} {units}");
        let mail = tir_mail(&bench.b, bench.rq.number, mask, usecs, units);
        assert!(bench.b.command(&mail, "create_tir_out", 0).is_err(), "{mask} {usecs} {units}");
    }
    assert_eq!(query(&mut bench), [1, 100, 255]);
    modify(&mut bench, 0, 0, 0).unwrap();
    assert_eq!(query(&mut bench), [0; 3]);
}
