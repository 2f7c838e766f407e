//! Pairs of every transport and shape.
//!
//! The testkit's own promises belong here. Tests of the crate on top of it belong in `tests/loopback` of the workspace.

use std::error::Error;
use std::time::{Duration, Instant};

use blueflame::cq::mode::{OncePerCall, Prefetch};
use blueflame::cq::{CqeError, WcStatus};
use blueflame::queue::OwningSendQueue;
use blueflame::queue::owning::DeviceBuffer;
use blueflame::{CompleteError, RetireError, Rkey, WrId, transport, wqe};
use blueflame_testkit::request::{Data, Kind, Service, Wr};
use blueflame_testkit::{Device, End, Pair, Receives, Shape, connect, connected_pair, run_until_idle};
use softhca::context::{QpAttr, QpState};
use softhca::embedded::{ConnectOptions, RegisterOptions};

type Outcome = Result<(), Box<dyn Error>>;

/// Sends a message by `kind` and checks its arrival.
fn message<T: Service>(mut pair: Pair<T>, threaded: bool) -> Outcome {
    let (mut ours, theirs) = (pair.near.buffer(64)?, pair.far.buffer(64)?);
    ours.write(0, b"a message");
    // SAFETY: the buffers are looked at when the requests have completed.
    unsafe {
        pair.far.rq.post_unchecked(WrId(7), &[theirs.sge(..)])?;
        pair.near.post(&Wr::new(Kind::Send, Data::Sges(vec![ours.sge(..9)]), 1))?;
    }
    let give_up = Instant::now() + Duration::from_secs(60);
    let arrived = loop {
        assert!(Instant::now() < give_up, "no message");
        if !threaded {
            pair.run_until_idle()?;
        }
        if let Some(cqe) = pair.far.cq.poll() {
            break cqe;
        }
    };
    let message = pair.far.rq.complete(&arrived)?;
    assert_eq!((message.buffer, message.bytes, message.imm), (WrId(7), 9, None));
    assert_eq!(theirs.to_vec(..9), b"a message");
    assert_eq!(pair.complaints(), []);
    Ok(())
}

#[test]
fn connected_transports() -> Outcome {
    message(connected_pair::<transport::Rc>()?, false)?;
    message(connected_pair::<transport::Uc>()?, false)?;
    message(Pair::<transport::Rc>::builder().ethernet().connect()?, false)
}

#[test]
fn raw_packets() -> Outcome {
    let mut pair = connected_pair::<transport::RawPacket>()?;
    let frame: Vec<u8> = (0..60).collect();
    // SAFETY: an inline request names no memory.
    unsafe { pair.near.post(&Wr::new(Kind::Frame(18, false), Data::Inline(frame.clone()), 1))? };
    pair.run_until_idle()?;
    let cqe = pair.near.cq.poll().expect("a completion");
    assert_eq!(pair.near.sq.complete(&cqe)?.wr_id, WrId(1));
    let sent = pair.near.device().take_frames();
    assert_eq!(sent.into_iter().map(|sent| sent.bytes).collect::<Vec<_>>(), [frame]);
    Ok(())
}

#[test]
fn shapes() -> Outcome {
    let usual = Shape::default();
    for shape in [
        Shape { register: RegisterOptions::OwnWithoutBlueFlame, ..usual },
        Shape { shared_recv: true, ..usual },
        Shape { cqe_bytes: 128, ..usual },
        Shape { sq_wqebbs: 1, recv_wqes: 1, cqes: 4, ..usual },
        // Rounded up.
        Shape { sq_wqebbs: 5, recv_wqes: 3, cqes: 9, ..usual },
    ] {
        message(Pair::<transport::Rc>::builder().shape(shape).connect()?, false)?;
    }
    Ok(())
}

#[test]
fn a_message_in_its_completion() -> Outcome {
    let shape = Shape { scatter_to_cqe: 32, ..Shape::default() };
    let mut pair = Pair::<transport::Rc>::builder().far(shape).connect()?;
    let mailbox = pair.far.buffer(64)?;
    // SAFETY: the buffer is looked at when the message has arrived.
    unsafe { pair.far.rq.post_unchecked(WrId(7), &[mailbox.sge(..)])? };
    pair.near.sq.post(&wqe::send().inline(b"short"))?;
    pair.run_until_idle()?;
    let cqe = pair.far.cq.poll().expect("a message");
    let mut bytes = [0; 32];
    let len = cqe.copy_inline(&mut bytes)?;
    assert_eq!(&bytes[..len], b"short");
    assert_eq!(mailbox.to_vec(..5), [0; 5]);
    Ok(())
}

#[test]
fn on_threads() -> Outcome {
    message(Pair::<transport::Rc>::builder().threaded().connect()?, true)?;
    let lossy = Pair::<transport::Rc>::builder().threaded().faults("drop=100,seed=3".parse()?);
    message(lossy.connect()?, true)?;
    let pair = Pair::<transport::Rc>::builder().threaded().connect()?;
    assert!(pair.run_until_idle().is_err(), "nobody else steps them");
    assert!(!pair.step());
    Ok(())
}

/// A link around half the world: the clock is virtual, so the test takes no such time.
#[test]
fn a_distant_peer_answers_after_the_way_there_and_back() -> Outcome {
    let options = ConnectOptions { timeout: 18, ..ConnectOptions::default() };
    let far = "latency=100000,rate=100".parse()?;
    let mut pair = Pair::<transport::Rc>::builder().faults(far).options(options).connect()?;
    let (inbox, outbox) = (pair.far.buffer(1 << 16)?, pair.near.buffer(1 << 16)?);
    let began = pair.near.device().now();
    // SAFETY: both buffers live until the completion.
    unsafe { pair.near.sq.post_unchecked(&wqe::write(inbox.remote()).gather([outbox.sge(..)]).signaled(WrId(1)))? };
    pair.run_until_idle()?;
    pair.near.sq.complete(&pair.near.cq.poll().expect("a completion"))?;
    let took = (pair.near.device().now() - began).as_millis();
    // 524 kbit and headers at 100 Mbit/s, and twice 100 ms.
    assert!((205..=207).contains(&took), "{took} ms");
    Ok(())
}

#[test]
fn a_receiver_that_is_never_ready() -> Outcome {
    let options = ConnectOptions { rnr_retry: 2, ..ConnectOptions::default() };
    let shape = Shape { recv_wqes: 0, ..Shape::default() };
    let mut pair = Pair::<transport::Rc>::builder().shape(shape).options(options).connect()?;
    pair.near.sq.post(&wqe::send().inline(b"hello"))?;
    // Virtual time: it does not take long.
    pair.run_until_idle()?;
    let cqe = pair.near.cq.poll().expect("a completion");
    let Err(CqeError::Completion(error)) = cqe.check() else { panic!("the receiver was never ready") };
    assert_eq!(error.status(), WcStatus::RnrRetryExcErr);
    // SAFETY: there is no queue that could take it.
    assert!(unsafe { pair.far.rq.post_unchecked(WrId(0), &[]) }.is_err());
    assert!(pair.far.rq.complete(&cqe).is_err());

    let mut pair = Pair::<transport::Rc>::builder().shape(shape).connect()?;
    pair.near.sq.post(&wqe::send().inline(b"hello"))?;
    assert!(pair.run_until_idle().is_err(), "retries for ever");
    Ok(())
}

/// A request that has completed is not executed again: its buffer was given back.
#[test]
fn safe_code_cannot_reset_a_queue_pair_with_live_queues() -> Outcome {
    let mut pair = connected_pair::<transport::Rc>()?;
    let (near, far, qpn) = (pair.near.device().clone(), pair.far.device().clone(), pair.near.qpn());
    let (page, source, target) = (Box::new(pair.near.buffer(64)?), pair.far.buffer(64)?, pair.far.endpoint());
    let mut sq = OwningSendQueue::new(pair.near.sq).map_err(|_| "something is outstanding")?;
    sq.read(wqe::read(source.remote()), page, 64).map_err(|refused| refused.error)?;
    run_until_idle(&[&near, &far])?;
    let mut page = sq.complete(&pair.near.cq.poll().ok_or("no completion")?)?.ok_or("no buffer")?;
    page.write(0, b"mine again");

    let attr = QpAttr { state: Some(QpState::Reset), ..QpAttr::default() };
    let refused = near.modify_qp(qpn, &attr);
    // Were it not refused, these lines would read into the page again.
    let connected = near.connect_qp(qpn, &target, &ConnectOptions::default());
    sq.post(wqe::nop())?;
    run_until_idle(&[&near, &far])?;
    assert_eq!(page.to_vec(..10), b"mine again");
    assert!(matches!(refused, Err(blueflame_testkit::Error::Reset(refused)) if refused == qpn), "{refused:?}");
    assert!(connected.is_err(), "it is connected already");
    Ok(())
}

#[test]
fn what_cannot_be_made_is_an_error() -> Outcome {
    let device = Device::standalone()?;
    let usual = Shape::default();
    for shape in [
        Shape { sq_wqebbs: 1 << 20, ..usual },
        Shape { recv_sges: 1 << 10, ..usual },
        Shape { cqe_bytes: 65, ..usual },
        Shape { cqes: 1 << 30, ..usual },
        Shape { register: RegisterOptions::SharedWith(0x100), ..usual },
    ] {
        let error = End::<transport::Rc>::new(&device, &shape).expect_err("no such queue");
        assert!(!error.to_string().is_empty(), "{error:?}");
    }
    assert!(Pair::<transport::Rc>::builder().faults("drop=1000".parse()?).path_mtu(300).connect().is_err());
    assert!(device.deregister(Rkey(0x4242)).is_err());
    Ok(())
}

/// Queue pairs of one device, and a queue that is moved to where another was: it works on.
#[test]
fn queues_change_places() -> Outcome {
    let device = Device::standalone()?;
    let shape = Shape::SMALL;
    let (mut a, mut b) = (End::<transport::Rc>::new(&device, &shape)?, End::<transport::Rc>::new(&device, &shape)?);
    connect(&a, &b, &ConnectOptions::default())?;
    let inbox = b.buffer(16)?;
    std::mem::swap(&mut *a.sq, &mut *b.sq);
    drop(a);
    b.sq.post(&wqe::write(inbox.remote()).inline(b"still there"))?;
    device.run_until_idle()?;
    assert_eq!(inbox.to_vec(..11), b"still there");
    Ok(())
}

/// A queue outlives everything except the objects that it needs.
#[test]
fn a_queue_keeps_its_device() -> Outcome {
    let Pair { near, far } = connected_pair::<transport::Rc>()?;
    let mut sq = near.sq;
    drop((near.rq, near.cq, far));
    sq.post(&wqe::nop())?;
    sq.handle().device().run_until_idle()?;
    Ok(())
}

/// Boxed buffers are for queues that own them: no `unsafe`.
#[test]
fn owning_queues() -> Outcome {
    let mut pair = connected_pair::<transport::Rc>()?;
    let (mut page, inbox) = (Box::new(pair.near.buffer(64)?), pair.far.buffer(64)?);
    page.write(0, b"owned");
    assert_eq!(DeviceBuffer::sge(&page).length, 64);
    let mut sq = OwningSendQueue::new(pair.near.sq).map_err(|_| "something is outstanding")?;
    sq.gather(wqe::write(inbox.remote()), page, 5).map_err(|refused| refused.error)?;
    run_until_idle(&[pair.near.cq.handle().device(), pair.far.device()])?;
    let cqe = pair.near.cq.poll().expect("a completion");
    let page = sq.complete(&cqe)?.expect("its buffer");
    assert_eq!((page.to_vec(..5), inbox.to_vec(..5)), (b"owned".to_vec(), b"owned".to_vec()));
    assert!(matches!(pair.near.rq, Receives::Own(_)));
    Ok(())
}

#[test]
fn completion_queues_of_another_mode() -> Outcome {
    let mut pair = connected_pair::<transport::Rc>()?;
    let mut cq = pair.near.cq.with_mode::<OncePerCall<Prefetch>>();
    for n in 0..100 {
        pair.near.sq.post(&wqe::nop().signaled(WrId(n)))?;
        run_until_idle(&[cq.handle().device(), pair.far.device()])?;
        let taken: Result<_, Box<dyn Error>> = cq.try_poll_with(16, |cqe| {
            assert_eq!(pair.near.sq.complete(&cqe)?.wr_id, WrId(n));
            Ok(())
        });
        assert_eq!(taken?, 1);
    }
    Ok(())
}

/// A server's queue pairs: one completion queue, receives of their own, and each client's message at the right one.
#[test]
fn siblings_complete_to_one_queue() -> Outcome {
    let (a, b) = Device::pair()?;
    let options = ConnectOptions::default();
    let mut server = End::<transport::Rc>::new(&a, &Shape::default())?;
    let client = End::<transport::Rc>::new(&b, &Shape::SMALL)?;
    connect(&server, &client, &options)?;
    let (mut siblings, mut clients) = (Vec::new(), vec![client]);
    for _ in 0..3 {
        let (sibling, client) = (server.sibling(&Shape::SMALL)?, End::new(&b, &Shape::SMALL)?);
        sibling.connect(&client.endpoint(), &options)?;
        client.connect(&sibling.endpoint(), &options)?;
        siblings.push(sibling);
        clients.push(client);
    }
    let mailbox = server.buffer(4 * 64)?;
    for (n, client) in clients.iter_mut().enumerate() {
        let rq = if n == 0 { &mut server.rq } else { &mut siblings[n - 1].rq };
        // SAFETY: the buffer is looked at when the messages have arrived.
        unsafe { rq.post_unchecked(WrId(n as u64), &[mailbox.slot(n, 64)])? };
        client.sq.post(&wqe::send().inline(&[n as u8; 5]))?;
    }
    run_until_idle(&[&a, &b])?;
    let mut arrived = 0;
    while let Some(cqe) = server.cq.poll() {
        let sibling = siblings.iter_mut().find(|sibling| sibling.qpn() == cqe.qpn());
        let n = sibling.map_or(&mut server.rq, |sibling| &mut sibling.rq).complete(&cqe)?.buffer.0 as usize;
        assert_eq!(mailbox.to_vec(64 * n..64 * n + 5), [n as u8; 5]);
        arrived += 1;
    }
    assert_eq!(arrived, 4);
    // They stay when the end is gone, and answer.
    drop(server);
    let inbox = clients[3].buffer(8)?;
    siblings[2].sq.post(&wqe::write(inbox.remote()).inline(b"answer"))?;
    run_until_idle(&[&a, &b])?;
    assert_eq!(inbox.to_vec(..6), b"answer");
    assert_eq!((a.complaints(), b.complaints()), (vec![], vec![]));
    Ok(())
}

/// Devices number their queue pairs each for itself: the numbers of the two ends are equal.
#[test]
fn a_completion_of_another_device_retires_nothing() {
    let mut pair = connected_pair::<transport::Rc>().expect("a pair");
    assert_eq!(pair.near.qpn(), pair.far.qpn(), "what the test stands on");
    pair.near.sq.post(&wqe::nop().signaled(WrId(1))).expect("room");
    pair.run_until_idle().expect("an end");
    let held = pair.near.cq.poll().expect("a completion");
    // Not done: the device takes no step.
    pair.far.sq.post(&wqe::nop().signaled(WrId(2))).expect("room");
    let (completion, queue) = (held.cq(), pair.far.cq.id());
    let foreign = RetireError::WrongCompletionQueue { completion, queue };
    assert_eq!(pair.far.sq.complete(&held), Err(CompleteError::Foreign(foreign)));
    assert_eq!(pair.near.sq.complete(&held).expect("its own").wr_id, WrId(1));
}

/// A further queue pair of an end is made for the end's own completion queue.
#[test]
fn a_sibling_on_an_exchanged_completion_queue_is_refused() {
    let mut pair = connected_pair::<transport::Rc>().expect("a pair");
    std::mem::swap(&mut *pair.near.cq, &mut *pair.far.cq);
    let refused = pair.near.sibling(&Shape::default()).err();
    assert!(matches!(refused, Some(blueflame_testkit::Error::MixedUp)), "{refused:?}");
    std::mem::swap(&mut *pair.near.cq, &mut *pair.far.cq);
    drop(pair.near.sibling(&Shape::default()).expect("its own"));
}
