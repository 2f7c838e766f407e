//! Subscribed events, and answers that come later.
//!
//! Events belong here, polling in `messages.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::Notify;
use blueflame::types::WrId;
use blueflame::{transport, wqe};
use blueflame_devx::cmd::{QpcState, QueryQpIn};
use blueflame_devx::{Answers, Error, EventChannel, EventType};

use crate::end::connected;
use crate::ground::ground;

#[test]
fn an_armed_completion_queue_sends_an_event() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    let channel = EventChannel::new(&ground.context).expect("a channel");
    channel.subscribe(Some(a.cq.handle().object()), &[EventType::COMP], 0x1234).expect("subscribed");
    a.cq.arm(Notify::Any);
    a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(1)));
    let event = channel.read().expect("an event").expect("the channel blocks");
    assert_eq!(event.cookie, 0x1234);
    assert_eq!(event.event_type(), Some(EventType::COMP), "{event:?}");
    assert_eq!(event.number(), Some(a.cq.cqn().get()), "{event:?}");
    assert_eq!(a.completion().1, WrId(1));
}

#[test]
fn events_wait_for_completions_or_a_time() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    let channel = EventChannel::new(&ground.context).expect("a channel");
    channel.subscribe(Some(a.cq.handle().object()), &[EventType::COMP], 1).expect("subscribed");
    let cq = a.cq.handle().clone();
    let moderation = || {
        let context = cq.query().expect("QUERY_CQ");
        (context.cq_max_count(), context.cq_period())
    };
    assert_eq!(moderation(), (0, 0));
    // More completions than there are: an event comes when its time has passed since the one before, and no sooner.
    cq.set_moderation(100, 4095).expect("MODIFY_CQ");
    assert_eq!(moderation(), (100, 4095));
    let begun = Instant::now();
    for id in 0..=1 {
        a.cq.arm(Notify::Any);
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
        channel.read().expect("an event").expect("the channel blocks");
        assert_eq!(a.completion().1, WrId(id));
    }
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_micros(4095), "{waited:?}");
    // The count equals the two requests: the second completion raises the event.
    cq.set_moderation(2, 4095).expect("MODIFY_CQ");
    a.cq.arm(Notify::Any);
    for id in 2..=3 {
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
    }
    channel.read().expect("an event").expect("the channel blocks");
    assert_eq!((a.completion().1, a.completion().1), (WrId(2), WrId(3)));

    let error = cq.set_moderation(1, 4096).expect_err("the field has 12 bits");
    assert_eq!(error, Error::OutOfRange { what: "microseconds of moderation", value: 4096, min: 0, max: 4095 });
    assert_eq!(moderation(), (2, 4095));
}

#[test]
fn an_event_without_data_is_its_tag() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    let channel = EventChannel::without_data(&ground.context).expect("a channel");
    channel.subscribe(Some(a.cq.handle().object()), &[EventType::COMP], 7).expect("subscribed");
    a.cq.arm(Notify::Any);
    a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(1)));
    let event = channel.read().expect("an event").expect("the channel blocks");
    assert_eq!((event.cookie, event.eqe.len(), event.event_type()), (7, 0, None));
}

#[test]
fn events_that_there_are_not_are_refused() {
    let ground = ground();
    let (a, _b) = connected::<transport::Rc>(&ground);
    let channel = EventChannel::new(&ground.context).expect("a channel");
    assert!(channel.subscribe(Some(a.cq.handle().object()), &[EventType(0x77)], 0).is_err());
}

#[test]
fn answers_come_later() {
    let ground = ground();
    let (a, b) = connected::<transport::Rc>(&ground);
    let answers = Answers::new(&ground.context).expect("a place");
    for (tag, end) in [(1, &a), (2, &b)] {
        let mut inbox = QueryQpIn::new();
        inbox.set_qpn(end.pair.qp.qpn());
        answers.ask(end.pair.qp.object(), &inbox, tag).expect("sent");
    }
    let mut remote = [None; 2];
    for _ in 0..2 {
        let answer = answers.take().expect("an answer").expect("it blocks");
        let out = answer.of::<QueryQpIn>().expect("QUERY_QP");
        assert_eq!(out.qpc().state(), QpcState::RTS);
        remote[answer.wr_id as usize - 1] = Some(out.qpc().remote_qpn());
    }
    assert_eq!(remote, [Some(b.pair.qp.qpn()), Some(a.pair.qp.qpn())]);
}
