//! Queue pairs that wait for the completions of others, and queue pairs that others start: the device alone goes from
//! step to step.
//!
//! Cross-channel requests belong here, all others in `messages.rs`.

use std::time::{Duration, Instant, SystemTime};

use blueflame::cq::{CqeError, Side, Syndrome};
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::wqe::cross_channel::{DeviceClock, WaitError, WordCondition};
use blueflame::wqe::{self, Fence, Sge};
use blueflame_devx::Error;
use blueflame_devx::object::{OwnedCq, QueuePair, Uar};

use crate::end::{End, Ground, connected};
use crate::ground::ground;

/// A queue pair that is connected with itself, and takes requests about others.
struct Master {
    pair: QueuePair<Rc>,
    cq: OwnedCq,
}

impl Master {
    fn new(ground: &Ground, is_one: bool) -> Self {
        let uar = Uar::new(&ground.context).expect("a register");
        let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
        let builder = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).sends(16).no_receives();
        let builder = if is_one { builder.cross_channel() } else { builder };
        let mut pair = builder.build_on(uar).expect("a queue pair");
        let own = pair.qp.endpoint(&ground.path);
        pair.qp.to_init(&ground.path).expect("INIT");
        pair.connect(&ground.path, &own, &own).expect("RTS");
        Self { pair, cq }
    }
}

/// One queue pair receives a message, and another passes it on. Its own doorbell starts nothing.
#[test]
fn a_message_starts_another_queue() {
    let ground = ground();
    let (mut sender, mut receiver) = connected::<Rc>(&ground);
    let mut peer = End::<Rc>::new(&ground);
    let uar = Uar::new(&ground.context).expect("a register");
    let mut cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
    let builder = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).sends(16).no_receives().inline(64);
    let mut slave = builder.build_managed().expect("the device has it");
    assert!(slave.qp.query().expect("QUERY_QP").cd_slave_send());
    let (at_slave, at_peer) = (slave.qp.endpoint(&ground.path), peer.pair.qp.endpoint(&ground.path));
    slave.qp.to_init(&ground.path).expect("INIT");
    slave.connect(&ground.path, &at_slave, &at_peer).expect("RTS");
    peer.pair.qp.to_init(&ground.path).expect("INIT");
    peer.pair.connect(&ground.path, &at_peer, &at_slave).expect("RTS");
    let mut master = Master::new(&ground, true);
    assert!(master.pair.qp.query().expect("QUERY_QP").cd_master());

    for round in 0..40_u64 {
        let place = peer.buffer.remote();
        slave.sq.post(&wqe::write(place).inline(&round.to_ne_bytes())).expect("room");
        slave.sq.post(&wqe::write(place.at(8)).inline(&(!round).to_ne_bytes()).signaled(WrId(round))).expect("room");
        let mut batch = master.pair.sq.batch();
        batch.push(&wqe::wait_for_completion(receiver.cq.cqn(), receiver.cq.consumer_index())).expect("room");
        // SAFETY: of the same device, and posted at once.
        batch.push(&unsafe { slave.sq.enable() }.signaled(WrId(round))).expect("room");
        batch.ring_doorbell();
        assert_eq!(master.cq.poll_with(1, |_| ()), 0);
        assert_ne!(peer.bytes(16)[..8], round.wrapping_sub(u64::from(round == 0)).to_ne_bytes());

        receiver.post_receive(round);
        sender.post(&wqe::send().inline(b"go on").signaled(WrId(round)));
        assert_eq!(receiver.completion(), (Side::Responder, WrId(round), 5));
        let mut done = Vec::new();
        while done.is_empty() {
            cq.poll_with(1, |cqe| {
                cqe.check().expect("written");
                done.push(slave.sq.retire(&cqe).expect("of this queue").wr_id);
            });
        }
        assert_eq!((done, sender.completion().1), (vec![WrId(round)], WrId(round)));
        assert_eq!(peer.bytes(16), [round, !round].map(u64::to_ne_bytes).concat());
        let mut enabled = 0;
        while enabled == 0 {
            enabled = master.cq.poll_with(1, |cqe| {
                cqe.check().expect("a master of the same protection domain");
                master.pair.sq.retire(&cqe).expect("of this queue");
            });
        }
    }
}

#[test]
fn receives_wait_until_they_are_enabled() {
    let ground = ground();
    let mut master = Master::new(&ground, true);
    let mut receiver = End::<Rc>::built(&ground, |builder| builder.managed_receives());
    let mut sender = End::<Rc>::new(&ground);
    let ends = [receiver.pair.qp.endpoint(&ground.path), sender.pair.qp.endpoint(&ground.path)];
    for (end, [local, remote]) in [(&mut receiver, ends), (&mut sender, [ends[1], ends[0]])] {
        end.pair.qp.to_init(&ground.path).expect("INIT");
        end.pair.connect(&ground.path, &local, &remote).expect("RTS");
    }
    receiver.post_receive(1);
    sender.post(&wqe::send().inline(b"a message").signaled(WrId(2)));
    for _ in 0..1000 {
        assert_eq!(receiver.cq.poll_with(1, |_| ()), 0, "not yet");
    }
    // SAFETY: of the same device, and posted at once.
    let enable = unsafe { receiver.pair.rq.enable() };
    master.pair.sq.post(&enable).expect("room");
    assert_eq!(receiver.completion(), (Side::Responder, WrId(1), 9));
    assert_eq!(sender.completion().1, WrId(2));
}

#[test]
fn others_are_told_that_they_are_no_masters() {
    let ground = ground();
    let mut plain = Master::new(&ground, false);
    plain.pair.sq.post(&wqe::wait_for_completion(plain.cq.cqn(), plain.cq.consumer_index())).expect("room");
    let mut found = None;
    while found.is_none() {
        plain.cq.poll_with(1, |cqe| found = cqe.check().err());
    }
    let Some(CqeError::Completion(error)) = found else { panic!("{found:?}") };
    assert_eq!(error.syndrome, Syndrome::new(0x02));
    match ground.context.wait_on_time() {
        Ok(()) => {}
        Err(Error::Capability { name, .. }) => assert_eq!(name, "cmd_hca_cap.wait_on_time"),
        Err(other) => panic!("{other}"),
    }
}

/// The time of the next completion, by the device's clock, and its queue. It must be good.
fn stamped(end: &mut End<Rc>) -> (u64, WrId) {
    let End { pair, cq, .. } = end;
    let mut done = None;
    while done.is_none() {
        cq.poll_with(1, |cqe| {
            cqe.check().expect("good");
            let tag = match cqe.side().expect("of a request") {
                Side::Requester => pair.sq.retire(&cqe).expect("of this queue").wr_id,
                Side::Responder => pair.rq.retire(&cqe).expect("of this queue"),
            };
            done = Some((cqe.timestamp(), tag));
        });
    }
    done.expect("found")
}

/// A message behind a WAIT for the clock leaves when the time has come; behind one for a time that is past, at once.
/// The clock is the device's: the queues here have timestamps that run freely, also where it shows real time.
#[test]
fn messages_wait_for_the_clock() {
    /// How long they wait; without the WAIT they take far less.
    const WAITS: Duration = Duration::from_millis(50);
    let ground = ground();
    if ground.context.wait_on_time().is_err() {
        return;
    }
    let khz = ground.context.general().expect("capabilities").device_frequency_khz();
    let ticks = WAITS.as_millis() as u64 * u64::from(khz);
    let clock = ground.context.clock().expect("a clock");
    // As the clock has it, `WAITS` after `now` or before it.
    let later = |now: u64, is_ahead: bool| match clock == DeviceClock::REAL_TIME {
        true => {
            let now = Duration::new(now >> 32, now as u32);
            let time = if is_ahead { now + WAITS } else { now - WAITS };
            time.as_secs() << 32 | u64::from(time.subsec_nanos())
        }
        false if is_ahead => now + ticks,
        false => now - ticks,
    };
    let (mut sender, mut receiver) = connected::<Rc>(&ground);
    sender.post(&wqe::nop().signaled(WrId(0)));
    let (mut stamp, _) = stamped(&mut sender);
    for round in 1..4 {
        receiver.post_receive(round);
        // At the end, one that is past.
        let is_ahead = round != 3;
        let now = if clock == DeviceClock::REAL_TIME { system_time() } else { stamp };
        let wait = clock.at(now).wait_until(later(now, is_ahead)).expect("within four seconds");
        let begun = Instant::now();
        let mut batch = sender.pair.sq.batch();
        batch.push(&wait).expect("room");
        batch.push(&wqe::send().inline(b"it is time").signaled(WrId(round))).expect("room");
        batch.ring_doorbell();
        let (received, tag) = stamped(&mut receiver);
        assert_eq!(tag, WrId(round));
        let (sent, tag) = stamped(&mut sender);
        assert_eq!(tag, WrId(round));
        if clock != DeviceClock::REAL_TIME {
            let time = later(now, is_ahead);
            assert!(received > time, "received at {received}, {} ticks early", time.wrapping_sub(received));
            assert!(sent > time, "sent at {sent}, {} ticks early", time.wrapping_sub(sent));
        } else if is_ahead {
            assert!(begun.elapsed() > WAITS / 2, "sent after {:?}", begun.elapsed());
        }
        stamp = sent;
    }
    let error = clock.at(0).wait_until(1 << 40).expect_err("minutes ahead");
    assert!(matches!(error, WaitError::OutOfReach { now: 0, .. }), "{error}");
}

/// A WRITE behind a WAIT leaves when a peer's atomics have brought the word to the number, as in UCC's all-to-all
/// (`src/components/tl/mlx5/alltoall/alltoall_coll.c`).
#[test]
fn messages_wait_for_a_word() {
    let ground = ground();
    match ground.context.wait_on_data() {
        Ok(()) => {}
        Err(Error::Capability { name, .. }) => return assert_eq!(name, "cmd_hca_cap.wait_on_data"),
        Err(other) => panic!("{other}"),
    }
    let (mut near, mut far) = connected::<Rc>(&ground);
    // The device's atomics count in this CPU's order.
    let until = WordCondition::equals(3_u64.to_be());
    let word = near.buffer.sge();
    let mut batch = near.pair.sq.batch();
    // SAFETY: the buffer lives as long as the queue.
    unsafe { batch.push_unchecked(&wqe::wait_for_word(word.addr, word.lkey, until).expect("aligned")) }.expect("room");
    let write = wqe::write(far.buffer.remote().at(64)).inline(b"three").fence(Fence::SmallAndReads);
    batch.push(&write.signaled(WrId(9))).expect("room");
    batch.ring_doorbell();
    let (count, result) = (near.buffer.remote(), Sge { length: 8, ..far.buffer.sge() });
    for n in 1..=3 {
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(near.cq.poll_with(1, |_| ()), 0, "not yet");
        let add = wqe::fetch_add(count, 1).result(result.addr, result.lkey);
        // SAFETY: the buffer lives as long as the queue.
        unsafe { far.pair.sq.post_unchecked(&add.signaled(WrId(n))) }.expect("room");
        assert_eq!(far.completion().1, WrId(n));
    }
    assert_eq!(near.completion().1, WrId(9));
    assert_eq!(far.bytes(69)[64..], *b"three");
}

/// The time, as a device that shows it has it.
fn system_time() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    time.as_secs() << 32 | u64::from(time.subsec_nanos())
}
