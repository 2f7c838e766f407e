//! Work queues: their states, their sizes, and who may receive beside them.
//!
//! Work queues belong here, the rules that fill them in `rules.rs`.

use blueflame::WrId;
use blueflame::cq::{CqeError, WcStatus};
use blueflame::flow::{Flow, Rss};
use blueflame::transport::RawPacket;
use blueflame::verbs::ethernet::{FrameReceiver, OwnedWq, WqTable};
use blueflame::verbs::{Access, Buffer, Error, OwnedCq, Pool};

use crate::frames::{Frame, STATION, plain};
use crate::lab::{Lab, Queue};
use crate::on_device::{status, wait_for};

/// Memory of receives, and a work queue that gets the station's frames as long as the last value stays.
fn steered(lab: &Lab) -> (Buffer, OwnedCq, OwnedWq, impl Sized + use<>) {
    let buffer = Pool::new(&lab.pd, 4096, Access::LOCAL_WRITE).expect("a pool").take(4096).expect("all of it");
    let cq = lab.device.completion_queue(512).build().expect("a CQ");
    let wq = lab.pd.work_queue(&cq).receives(8).build().expect("a work queue");
    let receiver = FrameReceiver::direct(&lab.pd, wq.handle()).expect("a receiver");
    let rule = receiver.steer(&Flow::mac(STATION)).expect("a rule");
    (buffer, cq, wq, (rule, receiver))
}

#[test]
fn errors_flush_and_a_restart_receives_again() {
    let mut lab = Lab::new(0);
    let (buffer, mut cq, mut wq, _steered) = steered(&lab);
    for round in 0..3 {
        for tag in 0..3 {
            // SAFETY: the buffer outlives the queue, and nobody looks at it meanwhile.
            unsafe { wq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
        }
        lab.sender.send(&plain(STATION));
        let mut taken = |expected: Result<(), WcStatus>| {
            wait_for("a completion", || {
                let cqe = cq.poll()?;
                assert_eq!(status(&cqe), expected, "round {round}");
                Some(wq.retire(&cqe).expect("outstanding"))
            })
        };
        assert_eq!(taken(Ok(())), WrId(0));
        if round == 0 {
            wq.handle().to_error().expect("ERR");
            let mut taken = |tag| {
                wait_for("a completion", || {
                    let cqe = cq.poll()?;
                    let Err(CqeError::Completion(error) | CqeError::Aborted(error)) = cqe.check() else {
                        panic!("a success")
                    };
                    assert_eq!(error.status(), WcStatus::WrFlushErr);
                    assert_eq!(wq.retire(&cqe), Ok(WrId(tag)));
                    Some(())
                });
            };
            taken(1);
            taken(2);
            wq.restart(&mut cq, |_| panic!("all are polled")).expect("ready again");
        } else {
            // The flushed receives are in the completion queue, or will never be.
            let mut forgotten = 0;
            wq.restart(&mut cq, |_| forgotten += 1).expect("ready again");
            assert!(forgotten <= 2 && cq.poll().is_none());
        }
        assert_eq!(wq.posted(), 0);
    }
    let mut other = lab.device.completion_queue(512).build().expect("a CQ");
    assert_eq!(wq.restart(&mut other, drop_it), Err(Error::CqNotGiven { which: "receives" }));
}

fn drop_it(_: blueflame::cq::Cqe<'_>) {}

/// A clone of the handle moves the queue to the error state while it starts over.
#[test]
fn a_restart_ends_ready_whatever_clones_do() {
    let mut lab = Lab::new(0);
    let (buffer, mut cq, mut wq, _steered) = steered(&lab);
    let clone = wq.handle().clone();
    let post = |wq: &mut OwnedWq, tag| {
        // SAFETY: the buffer outlives the queue, and nobody looks at it meanwhile.
        unsafe { wq.post_unchecked(WrId(tag), &[buffer.sge()]) }.expect("room");
    };
    // The closure is the moment.
    for tag in 0..2 {
        post(&mut wq, tag);
    }
    lab.sender.send(&plain(STATION));
    wait_for("a completion", || cq.holds(blueflame::cq::setup::Whose::Receives).then_some(()));
    let mut forgotten = 0;
    wq.restart(&mut cq, |_| {
        forgotten += 1;
        clone.to_error().expect("ERR");
    })
    .expect("ready again");
    assert!(forgotten >= 1);
    // A flush of the old receives would complete this one.
    post(&mut wq, 7);
    assert!(cq.poll().is_none());
    lab.sender.send(&plain(STATION));
    let taken = wait_for("a completion", || {
        let cqe = cq.poll()?;
        Some((cqe.check().is_ok(), wq.retire(&cqe)))
    });
    assert_eq!(taken, (true, Ok(WrId(7))));
    // Any moment.
    std::thread::scope(|scope| {
        let (done, ends) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            while ends.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                // Fails while the queue is ready to be ready.
                let _ = clone.to_error();
            }
        });
        for _ in 0..100 {
            wq.restart(&mut cq, drop_it).expect("ready again");
        }
        drop(done);
    });
}

#[test]
fn a_work_queue_is_the_only_receiver() {
    let lab = Lab::new(1);
    let cq = &lab.queues[0].cq;
    for refused in
        [lab.pd.work_queue(cq).build::<WrId>().map(drop), lab.pd.queue_pair::<RawPacket>(cq, cq).build().map(drop)]
    {
        assert!(matches!(refused, Err(Error::Receivers { .. })), "{refused:?}");
    }
    lab.pd.queue_pair::<RawPacket>(cq, cq).no_receives().build().map(drop).expect("sends may complete there");
}

#[test]
fn frames_left_behind_keep_the_next_queue_away() {
    let mut lab = Lab::new(1);
    let rule = lab.receivers[0].steer(&Flow::mac(STATION)).expect("a rule");
    lab.sender.send(&plain(STATION));
    wait_for("a completion", || lab.queues[0].cq.holds(blueflame::cq::setup::Whose::Receives).then_some(()));
    drop(rule);
    lab.receivers.clear();
    let Queue { mut cq, rq, wq } = lab.queues.pop().expect("one");
    drop((rq, wq));
    let refused = lab.pd.work_queue(&cq).build::<WrId>().map(drop);
    assert_eq!(refused, Err(Error::StaleReceives { cqn: cq.handle().cqn() }));
    assert_eq!(cq.forget(blueflame::cq::setup::Whose::Receives), 1);
    lab.pd.work_queue(&cq).build::<WrId>().map(drop).expect("nothing is left");
}

#[test]
fn sizes_are_checked() {
    let lab = Lab::new(3);
    let cq = lab.device.completion_queue(512).build().expect("a CQ");
    let sizes = [
        lab.pd.work_queue(&cq).receives(0).build::<WrId>(),
        lab.pd.work_queue(&cq).receives((1 << 15) + 1).build(),
        lab.pd.work_queue(&cq).recv_sge(0).build(),
        lab.pd.work_queue(&cq).recv_sge(1 << 20).build(),
    ];
    for made in sizes {
        assert!(matches!(made, Err(Error::OutOfRange { .. })), "{made:?}");
    }
    let queues: Vec<_> = lab.queues.iter().map(|queue| queue.wq.clone()).collect();
    let none = Error::OutOfRange { what: "queues of a table", value: 0, min: 1, max: 8192 };
    assert_eq!(WqTable::new(&[]).map(drop), Err(none));
    let three = Error::NotPowerOfTwo { what: "queues of a table", value: 3 };
    assert_eq!(WqTable::new(&queues).map(drop), Err(three));
    let table = WqTable::new(&queues[..2]).expect("a table");
    let rss = |fields| Rss { fields, ..Rss::udp(Rss::PUBLISHED_KEY) };
    for fields in [0, 0x10] {
        let made = FrameReceiver::spread(&lab.pd, &table, &rss(fields)).map(drop);
        let value = fields.into();
        assert_eq!(made, Err(Error::OutOfRange { what: "fields to hash", value, min: 1, max: 15 }));
    }
    // As many entries as a work queue is asked for.
    let wq = lab.pd.work_queue(&cq).receives(5).recv_sge(3).build::<blueflame::WrId>().expect("a work queue");
    assert!(wq.max_sge() >= 3 && wq.capacity() >= 5, "{wq:?}");
}

#[test]
fn vlan_tags_are_taken_out_if_asked_for() {
    let mut lab = Lab::new(1);
    let cq = lab.device.completion_queue(512).build().expect("a CQ");
    let wq = lab.pd.work_queue(&cq).receives(16).strip_vlan(true).build().expect("a work queue");
    lab.queues.push(Queue::over(&lab.pd, cq, wq));
    let tagged = Frame { vlan: Some(0xe02a), ..plain(STATION) };
    for number in 0..2 {
        let receiver = FrameReceiver::direct(&lab.pd, &lab.queues[number].wq).expect("a receiver");
        let _rule = receiver.steer(&Flow::mac(STATION)).expect("a rule");
        let (who, received) = lab.who_gets(&tagged, 1);
        assert_eq!(who, [number]);
        let (tag, bytes) = match number {
            0 => (None, tagged.bytes()),
            _ => (Some(0xe02a), [&tagged.bytes()[..12], &tagged.bytes()[16..]].concat()),
        };
        assert_eq!((received.vlan, received.bytes), (tag, bytes));
    }
}
