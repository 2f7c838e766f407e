//! Resets, drains and successors of queue pairs that have frames outstanding belong here, traffic in `frames.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::cq::setup::Whose;
use blueflame::transport;
use blueflame::types::WrId;
use blueflame::verbs::{Drained, Error};

use crate::lab::Lab;
use crate::{Frames, pair};

#[test]
fn a_reset_forgets_the_receives_of_its_own_queue_pair() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.post(1);
    lab.deliver(true);
    // The tag of the receive is the sender's number. It stays.
    let mut forgotten = Vec::new();
    lab.sender.reset(&mut [&mut lab.cq, &mut lab.none], |cqe| forgotten.push(cqe.side())).expect("RESET");
    assert_eq!(forgotten, [Some(Side::Requester)]);
    assert_eq!(lab.received(), (Ok(()), WrId(1)));

    lab.sender.activate(&lab.port).expect("ready to send again");
    for tag in 2..4 {
        lab.post(tag);
    }
    lab.deliver(false);
    drop(rule);
    let mut forgotten = Vec::new();
    lab.receiver.reset(&mut [&mut lab.cq], |cqe| forgotten.push((cqe.side(), cqe.flow_tag()))).expect("RESET");
    assert_eq!(forgotten, [(Some(Side::Responder), lab.sender.qp.qpn().get())]);
    assert_eq!(lab.receiver.rq.posted(), 0);
    // A completion from before would be taken for that of this request, which has the same index.
    lab.receiver.activate(&lab.port).expect("ready to send again");
    lab.post(4);
    assert!(lab.cq.poll().is_none());
    let rule = lab.rule();
    lab.deliver(false);
    assert_eq!(lab.received(), (Ok(()), WrId(4)));
    drop(rule);
}

#[test]
fn frames_left_behind_retire_nothing_of_the_next_receiver() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    lab.post(1);
    lab.deliver(false);
    drop(rule);
    let Lab { pd, receiver, mut cq, sender, buffer, .. } = lab;
    drop(receiver);
    let made = pd.queue_pair::<Frames>(&cq, &cq).build();
    assert!(matches!(&made, Err(Error::StaleReceives { cqn }) if *cqn == cq.handle().cqn()), "{made:?}");
    // Others may: the tag is not their number.
    drop(pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("another number"));
    assert_eq!(cq.forget(Whose::Receives), 1);
    drop((pair(&pd, &cq), sender, buffer));
}

#[test]
fn a_drain_accounts_for_frames() {
    let mut lab = Lab::new();
    let rule = lab.rule();
    for tag in 0..3 {
        lab.post(tag);
    }
    lab.deliver(true);
    drop(rule);
    let mut drain = lab.receiver.drain().expect("ERR");
    let (mut receives, mut others) = (Vec::new(), 0);
    let begin = Instant::now();
    while !drain.is_done() {
        lab.cq.poll_with(16, |cqe| match drain.take(&cqe).expect("outstanding") {
            Some(Drained::Receive(tag)) => receives.push((tag.0, cqe.check().is_ok())),
            Some(other) => panic!("{other:?}"),
            None => others += 1,
        });
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
    }
    assert_eq!((receives, others), (vec![(0, true), (1, false), (2, false)], 1));
}
