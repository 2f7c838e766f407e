//! The state machine: the transitions, the attributes that they need, and their effects.
//!
//! States belong here, the flush after a failure in `failures.rs`.

use crate::lab::*;
use softhca::context::{QpAttr, QpContext, QpState, Transport};
use softhca::error::{Error, Object};
use softhca::event::{Event, QpEvent};
use softhca::packet::Operation;

fn to(state: QpState) -> QpAttr {
    QpAttr { state: Some(state), ..QpAttr::default() }
}

#[test]
fn moves_need_exactly_their_attributes() {
    for transport in [Transport::Rc, Transport::Uc, Transport::Ud] {
        let mut lab = Lab::unconnected(Options { transport, ..Options::default() });
        let (qpn, peer) = (lab.a.qpn, lab.b.identity());
        let steps = [lab.a.init_attr(), lab.a.rtr_attr(peer), lab.a.rts_attr()];
        let mut from = QpState::Reset;
        for whole in steps {
            let state = whole.state.unwrap();
            for lacking in lacking_one(&whole) {
                let result = lab.a.device.modify_qp(qpn, &lacking);
                assert!(matches!(result, Err(Error::MissingAttr { .. })), "{transport:?} {state:?}: {result:?}");
            }
            let extra = QpAttr { rnr_retry: Some(1), timeout: Some(1), qkey: Some(1), ..whole };
            if state != QpState::Rts && transport != Transport::Ud {
                let result = lab.a.device.modify_qp(qpn, &extra);
                assert!(matches!(result, Err(Error::UnexpectedAttr { .. })), "{transport:?} {state:?}: {result:?}");
            }
            assert_eq!(lab.a.state(), from, "a refused move changes nothing");
            lab.a.modify(whole);
            from = state;
        }
    }
}

/// `whole` without one of its attributes, for each.
fn lacking_one(whole: &QpAttr) -> Vec<QpAttr> {
    let without: [fn(&mut QpAttr); 15] = [
        |a| a.pkey_index = None,
        |a| a.port = None,
        |a| a.access = None,
        |a| a.qkey = None,
        |a| a.path = None,
        |a| a.path_mtu = None,
        |a| a.dest_qpn = None,
        |a| a.rq_psn = None,
        |a| a.sq_psn = None,
        |a| a.max_dest_rd_atomic = None,
        |a| a.max_rd_atomic = None,
        |a| a.min_rnr_timer = None,
        |a| a.timeout = None,
        |a| a.retry_cnt = None,
        |a| a.rnr_retry = None,
    ];
    let mut all: Vec<_> = without
        .iter()
        .map(|remove| {
            let mut attr = *whole;
            remove(&mut attr);
            attr
        })
        .collect();
    all.retain(|attr| attr != whole);
    all
}

#[test]
fn there_are_no_other_moves() {
    let mut lab = Lab::new(Options::default());
    let qpn = lab.a.qpn;
    for state in [QpState::Init, QpState::Rtr, QpState::Sqe] {
        assert!(matches!(lab.a.device.modify_qp(qpn, &to(state)), Err(Error::BadTransition { .. })));
    }
    let wrong = QpAttr { cur_state: Some(QpState::Sqd), ..to(QpState::Rts) };
    assert!(matches!(lab.a.device.modify_qp(qpn, &wrong), Err(Error::BadTransition { .. })));
    lab.a.modify(QpAttr { cur_state: Some(QpState::Rts), ..to(QpState::Rts) });
    lab.a.modify(to(QpState::Err));
    assert!(matches!(lab.a.device.modify_qp(qpn, &to(QpState::Rts)), Err(Error::BadTransition { .. })));
    lab.a.modify(to(QpState::Reset));
    assert!(matches!(lab.a.device.modify_qp(qpn, &to(QpState::Err)), Err(Error::BadTransition { .. })));
}

#[test]
fn values_are_checked() {
    let mut lab = Lab::unconnected(Options::default());
    let (qpn, peer) = (lab.a.qpn, lab.b.identity());
    let init = lab.a.init_attr();
    for bad in
        [QpAttr { port: Some(0), ..init }, QpAttr { port: Some(2), ..init }, QpAttr { pkey_index: Some(1), ..init }]
    {
        assert!(matches!(lab.a.device.modify_qp(qpn, &bad), Err(Error::BadValue { .. })), "{bad:?}");
    }
    lab.a.modify(init);
    let rtr = lab.a.rtr_attr(peer);
    for bad in [
        QpAttr { path_mtu: Some(1500), ..rtr },
        QpAttr { dest_qpn: Some(1 << 24), ..rtr },
        QpAttr { max_dest_rd_atomic: Some(17), ..rtr },
        QpAttr { min_rnr_timer: Some(32), ..rtr },
    ] {
        assert!(matches!(lab.a.device.modify_qp(qpn, &bad), Err(Error::BadValue { .. })), "{bad:?}");
    }
}

#[test]
fn query_tells_what_was_set_and_where_the_psns_are() {
    let mut lab = Lab::new(Options { psn: 0xff_ffff, ..Options::default() });
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"x"));
    lab.run();
    let (a, b) = (lab.a.device.query_qp(lab.a.qpn).unwrap(), lab.b.device.query_qp(lab.b.qpn).unwrap());
    assert_eq!((a.state, a.attr.sq_psn, a.attr.rq_psn), (QpState::Rts, Some(0), Some(0xff_ffff)));
    assert_eq!((b.attr.sq_psn, b.attr.rq_psn, b.attr.timeout), (Some(0xff_ffff), Some(0), Some(10)));
}

#[test]
fn reset_forgets_and_the_qp_lives_again() {
    let mut lab = Lab::new(Options::default());
    lab.b.script(|_| Fate::Drop);
    for _ in 0..5 {
        lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"x"));
        lab.a.post_recv(&[(lab.a.data, 64)]);
    }
    lab.run();
    for node in [&mut lab.a, &mut lab.b] {
        node.modify(to(QpState::Reset));
        (node.pi, node.rq_pi) = (0, 0);
        node.ring();
        node.script(|_| Fate::Deliver);
    }
    lab.settle();
    assert!(lab.a.poll_send().is_empty() && lab.a.poll_recv().is_empty(), "nothing is reported after a reset");
    let dbr_is_cleared_by_posting = &[(lab.a.data, 64)];
    lab.a.post_recv(dbr_is_cleared_by_posting);
    lab.connect();
    assert_eq!(lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"again")), 0);
    lab.b.post(&Wr::send().inline(b"hi"));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].wqe_counter, 0);
    assert_eq!((lab.a.poll_recv().len(), lab.b.poll_send().len()), (1, 1));
    assert_eq!(lab.b.memory.read(lab.b.data, 5), b"again");
}

/// UCX does not clear the record of a DCI that it resets, nor DPDK that of an SQ. Five WQEs are in the ring then, and
/// the record says so.
#[test]
fn a_stale_send_record_is_no_doorbell_after_a_reset() {
    for posted in [1, 5, 7] {
        let mut lab = Lab::new(Options::default());
        for _ in 0..5 {
            lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"old"));
        }
        lab.run();
        assert_eq!(lab.a.poll_send().len(), 5);
        for node in [&mut lab.a, &mut lab.b] {
            node.modify(to(QpState::Reset));
        }
        lab.b.memory.write(lab.b.data, b"---");
        lab.a.pi = 0;
        lab.connect();
        lab.run();
        assert_eq!((lab.a.poll_send().len(), lab.a.state()), (0, QpState::Rts), "nothing was posted");
        assert_eq!(lab.b.memory.read(lab.b.data, 3), b"---");
        // All before the device looks: it never sees the record with another index.
        for _ in 0..posted {
            lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"new"));
        }
        lab.run();
        let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| cqe.wqe_counter).collect();
        assert_eq!(done, (0..posted).collect::<Vec<u16>>());
        assert_eq!(lab.b.memory.read(lab.b.data, 3), b"new");
    }
}

/// Receives have no register: their record announces them, also if it is stale.
#[test]
fn a_stale_receive_record_announces_receives_after_a_reset() {
    let mut lab = Lab::new(Options::default());
    for _ in 0..3 {
        lab.b.post_recv(&[(lab.b.data, 64)]);
    }
    for node in [&mut lab.a, &mut lab.b] {
        node.modify(to(QpState::Reset));
    }
    lab.connect();
    lab.a.post(&Wr::send().inline(b"x"));
    lab.run();
    assert_eq!(lab.b.poll_recv().len(), 1);
}

#[test]
fn move_to_error_flushes_what_is_outstanding() {
    let mut lab = Lab::new(Options::default());
    lab.b.script(|_| Fate::Drop);
    let indices: Vec<u16> = (0..10).map(|_| lab.a.post(&Wr::nop().flags(0))).collect();
    lab.run();
    assert!(lab.a.poll_send().is_empty());
    let write = Wr::write(lab.b.data, lab.b.key).inline(b"x").flags(0);
    let indices: Vec<u16> = indices.iter().map(|_| lab.a.post(&write)).collect();
    lab.run();
    lab.a.modify(to(QpState::Err));
    lab.settle();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.wqe_counter, c.syndrome)).collect();
    assert_eq!(done, indices.iter().map(|&index| (index, 0x05)).collect::<Vec<_>>());
}

#[test]
fn draining_finishes_what_was_begun_and_starts_nothing() {
    let mut lab = Lab::new(Options { timeout: 14, ..Options::default() });
    lab.b.script(|_| Fate::Drop);
    let (dst, rkey) = (lab.b.data, lab.b.key);
    lab.a.post(&Wr::write(dst, rkey).inline(b"begun"));
    lab.run();
    lab.a.modify(QpAttr { sqd_event: Some(true), ..to(QpState::Sqd) });
    lab.a.post(&Wr::write(dst + 64, rkey).inline(b"later"));
    lab.run();
    assert!(lab.a.device.query_qp(lab.a.qpn).unwrap().draining);
    assert!(lab.a.events.is_empty());
    // The event is still wanted.
    lab.a.modify(QpAttr { timeout: Some(13), ..to(QpState::Sqd) });
    lab.b.script(|_| Fate::Deliver);
    lab.settle();
    assert_eq!(lab.a.events, [QpEvent::SqDrained]);
    assert!(!lab.a.device.query_qp(lab.a.qpn).unwrap().draining);
    assert_eq!((lab.a.poll_send().len(), lab.b.memory.read(dst + 64, 5)), (1, vec![0; 5]));
    lab.a.modify(QpAttr { timeout: Some(12), ..to(QpState::Sqd) });
    lab.a.modify(to(QpState::Rts));
    lab.settle();
    assert_eq!((lab.a.poll_send().len(), lab.b.memory.read(dst + 64, 5)), (1, b"later".to_vec()));
}

#[test]
fn packets_in_rtr_establish_and_are_not_answered_with_requests() {
    let mut lab = Lab::unconnected(Options::default());
    let (a, b) = (lab.a.identity(), lab.b.identity());
    lab.a.modify(lab.a.init_attr());
    lab.b.modify(lab.b.init_attr());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.b.modify(lab.b.rtr_attr(a));
    lab.a.modify(lab.a.rtr_attr(b));
    lab.a.modify(lab.a.rts_attr());
    lab.a.post(&Wr::send().inline(b"hello"));
    lab.b.post(&Wr::nop());
    lab.run();
    assert_eq!(lab.b.events, [QpEvent::CommunicationEstablished]);
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len(), lab.b.poll_send().len()), (1, 1, 0));
    lab.b.modify(lab.b.rts_attr());
    lab.run();
    assert_eq!(lab.b.poll_send().len(), 1);
}

#[test]
fn packets_of_strangers_are_dropped() {
    let mut lab = Lab::unconnected(Options::default());
    let (a, b) = (lab.a.identity(), lab.b.identity());
    lab.a.modify(lab.a.init_attr());
    lab.a.modify(lab.a.rtr_attr(b));
    lab.a.modify(lab.a.rts_attr());
    lab.b.modify(lab.b.init_attr());
    // b is connected to a QP behind another LID.
    lab.b.modify(lab.b.rtr_attr((7, a.1, a.2)));
    lab.b.modify(lab.b.rts_attr());
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"let me in"));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x15);
    assert_eq!(lab.b.memory.read(lab.b.data, 9), [0; 9]);
}

#[test]
fn last_wqe_of_an_srq_is_reported_once() {
    let mut lab = Lab::new(Options { srq: true, ..Options::default() });
    for _ in 0..3 {
        lab.b.post_recv(&[(lab.b.data, 64)]);
    }
    lab.b.modify(to(QpState::Err));
    lab.settle();
    lab.settle();
    assert_eq!(lab.b.events, [QpEvent::LastWqeReached]);
    assert!(lab.b.poll_recv().is_empty(), "the WQEs belong to the SRQ");
}

#[test]
fn nothing_passes_a_port_that_is_down() {
    let mut lab = Lab::new(Options::default());
    lab.b.post_recv(&[(lab.b.data, 64)]);
    let down = |node: &mut Node, up| node.device.set_port_up(1, up).unwrap();

    down(&mut lab.b, false);
    assert_eq!(lab.b.device.next_event(), Some(Event::Port { port: 1, up: false }));
    down(&mut lab.b, false);
    assert_eq!(lab.b.device.next_event(), None, "no change, no event");
    lab.a.post(&Wr::send().inline(b"later"));
    lab.run();
    assert_eq!(lab.a.sent(Operation::Send).len(), 1);
    assert!(lab.b.poll_recv().is_empty(), "nothing arrives");
    down(&mut lab.b, true);
    assert_eq!(lab.b.device.next_event(), Some(Event::Port { port: 1, up: true }));
    lab.settle();
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (1, 1), "the connection lives");

    down(&mut lab.a, false);
    lab.a.post(&Wr::send().inline(b"never"));
    lab.settle();
    assert_eq!(lab.a.sent(Operation::Send).len(), 2, "nothing leaves; the two are those from before");
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x15, "retry exceeded");
    assert!(lab.a.device.set_port_up(2, true).is_err());
    assert!(!lab.a.device.port_is_up(1) && lab.b.device.port_is_up(1) && !lab.b.device.port_is_up(0));
}

#[test]
fn objects_in_use_stay() {
    let mut lab = Lab::unconnected(Options { srq: true, ..Options::default() });
    let node = &mut lab.a;
    let context = *node.device.qp_context(node.qpn).unwrap();
    assert!(matches!(node.device.free_pd(context.pd), Err(Error::Busy { users: 3, .. })), "a QP, an SRQ and a key");
    // A UAR page is the driver's no more, and goes with the last queue on it: a QP and two CQs.
    node.device.free_uar(context.uar).unwrap();
    for refused in [node.device.free_uar(context.uar), node.device.create_qp(context).map(drop)] {
        assert!(matches!(refused, Err(Error::NoSuch { object: Object::Uar, .. })), "{refused:?}");
    }
    // That of a QP alone with it.
    let uar = node.device.alloc_uar().unwrap();
    let qpn = node.device.create_qp(QpContext { uar, ..context }).unwrap();
    node.device.free_uar(uar).unwrap();
    assert!(node.device.uar(uar).is_some());
    node.device.destroy_qp(qpn).unwrap();
    assert!(node.device.uar(uar).is_none());
    node.device.destroy_qp(node.qpn).unwrap();
    node.device.destroy_srq(node.srqn.unwrap()).unwrap();
    node.device.destroy_cq(context.send_cqn).unwrap();
    assert!(node.device.uar(context.uar).is_some());
    node.device.destroy_cq(context.recv_cqn).unwrap();
    assert!(node.device.uar(context.uar).is_none());
    node.device.destroy_mkey(node.key).unwrap();
    node.device.free_pd(context.pd).unwrap();
}

#[test]
fn a_device_that_failed_does_nothing_more() {
    let mut lab = Lab::new(Options::default());
    lab.a.post(&Wr::nop());
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 1);
    lab.a.device.fail();
    lab.a.device.fail();
    assert_eq!(lab.a.device.next_event(), Some(Event::DeviceFatal));
    assert_eq!(lab.a.device.next_event(), None, "once");
    lab.a.post(&Wr::nop());
    lab.settle();
    assert!(lab.a.poll_send().is_empty());
    lab.b.post(&Wr::send().inline(b"nobody"));
    lab.settle();
    assert_eq!(lab.b.poll_send()[0].syndrome, 0x15, "retry exceeded");
}
