//! Messages, WRITEs and READs on queues of every kind.
//!
//! Traffic belongs here, special memory in `regions.rs`.

use std::os::fd::AsFd;
use std::time::Duration;

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::cq::{Notify, Side};
use blueflame::db::OneFence;
use blueflame::queue::OwningSendQueue;
use blueflame::transport;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Buffer, OwnedCq, Pool};
use blueflame::wqe;

use crate::conversation;
use crate::end::{End, connect, connected, end};
use crate::on_device::{device, wait_for};

#[test]
fn rc_sends_writes_reads_and_adds() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    conversation::messages(&mut a, &mut b);
}

#[test]
fn masked_atomics_change_their_bits_only() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    conversation::masked_atomics(&mut a, &mut b);
    conversation::large_masked_atomics(&mut a, &mut b);
}

#[test]
fn uc_sends_and_writes() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Uc>(&device, &pd);
    b.post_receive(1);
    a.post(&wqe::send().inline(b"unreliable").imm(0xabcd).signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 10));
    assert_eq!(b.bytes(10), b"unreliable");
    b.post_receive(3);
    a.post(&wqe::write(b.buffer.remote().at(100)).inline(b"written").imm(1).signaled(WrId(4)));
    assert_eq!(a.completion().1, WrId(4));
    assert_eq!(b.completion(), (Side::Responder, WrId(3), 7));
    assert_eq!(b.bytes(107)[100..], *b"written");
}

#[test]
fn rings_wrap_many_times() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (mut a, mut b) = connected::<transport::Rc>(&device, &pd);
    for round in 0..2000_u64 {
        b.post_receive(round);
        let len = (round * 37 % 64 + 1) as usize;
        let message: Vec<u8> = (0..len as u64).map(|i| (round + i) as u8).collect();
        a.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(round)));
        assert_eq!(b.completion(), (Side::Responder, WrId(round), len as u32));
        assert_eq!(a.completion().1, WrId(round));
        assert_eq!(b.bytes(len), message, "round {round}");
    }
}

/// Messages on queues whose WQEs are copied by one routine, in the other flush mode.
struct CopiedMessages;

impl CopyVisitor for CopiedMessages {
    type Output = ();

    fn run<C: BlockCopy>(self, copy: C) {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let [mut a, mut b] = [(), ()].map(|()| {
            let cq = device.completion_queue(64).build().expect("a completion queue");
            let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).receives(16).inline(200);
            let pair = builder.build_with::<OneFence, _>(copy).expect("a queue pair");
            End::new(&pd, cq, pair)
        });
        connect(&device, &mut a.pair, &mut b.pair);
        // One WQEBB, whose words are in registers when it is copied, and several, which are copied out of the ring.
        for (tag, len) in (0..).zip([8, 32, 60, 120, 200]) {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8 ^ 0x55).collect();
            b.post_receive(tag);
            match <&[u8; 8]>::try_from(&*bytes) {
                Ok(bytes) => a.post(&wqe::send().inline(bytes).signaled(WrId(tag))),
                Err(_) => a.post(&wqe::send().inline_slice(&bytes).signaled(WrId(tag))),
            }
            a.sq.flush();
            assert_eq!((a.completion().1, b.completion()), (WrId(tag), (Side::Responder, WrId(tag), len)));
            assert_eq!(b.bytes(bytes.len()), bytes, "{}", C::ROUTINE);
        }
    }
}

#[test]
fn every_copy_routine_reaches_the_device() {
    // The software device's registers lack the kind of memory that ST64B needs.
    for routine in CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b) {
        routine.dispatch(CopiedMessages).expect("available");
    }
}

#[test]
fn large_cqes_and_several_gather_entries() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(257).cqe_bytes(128).build().expect("a CQ of 128-byte CQEs");
    let pair = pd.queue_pair::<transport::Rc>(&cq, &cq).send_sge(4).recv_sge(2).build().expect("a queue pair");
    let mut a = End::new(&pd, cq, pair);
    let mut b = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.pair, &mut b.pair);
    b.post_receive(1);
    a.buffer.write(0, b"one two three");
    let pieces = [a.buffer.sge_of(8..13), a.buffer.sge_of(3..4), a.buffer.sge_of(0..3)];
    a.post(&wqe::send().gather_slice(&pieces).signaled(WrId(2)));
    assert_eq!(b.completion().2, 9);
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.bytes(9), b"three one");
}

#[test]
fn two_queue_pairs_share_a_receive_queue() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut srq = pd.shared_recv_queue(8, 1).expect("an SRQ");
    let srq_handle = srq.handle().clone();
    let mut pool = Pool::new(&pd, 8 * 128, Access::LOCAL_WRITE).expect("a pool");
    let receive: Vec<Buffer> = (0..8).map(|_| pool.take(128).expect("room")).collect();
    for (tag, buffer) in receive.iter().enumerate() {
        // SAFETY: looked at after completion, and alive longer than the queue pairs.
        unsafe { srq.post_unchecked(WrId(tag as u64), &[buffer.sge()]) }.expect("post");
    }
    let mut cq = device.completion_queue(512).build().expect("a CQ");
    let build = |cq: &OwnedCq| {
        let builder = pd.queue_pair::<transport::Rc>(cq, cq);
        builder.shared_recv_queue(&srq_handle).build().expect("a queue pair")
    };
    let (mut x, mut y) = (build(&cq), build(&cq));
    assert_eq!(x.rq.capacity(), 0);
    let (mut a, mut b) = (end::<transport::Rc>(&device, &pd), end::<transport::Rc>(&device, &pd));
    connect(&device, &mut a.pair, &mut x);
    connect(&device, &mut b.pair, &mut y);
    for (sender, text) in [(&mut a, b"from a"), (&mut b, b"from b")] {
        sender.post(&wqe::send().inline(text).signaled(WrId(0)));
        sender.completion();
        let tag = wait_for("a message", || {
            let cqe = cq.poll()?;
            assert_eq!(cqe.check(), Ok(Side::Responder));
            // SAFETY: nothing else completes there; polled once.
            Some(unsafe { srq.retire(&cqe) }.expect("posted"))
        });
        let mut bytes = [0; 6];
        receive[tag.0 as usize].read(0, &mut bytes);
        assert_eq!(&bytes, text);
    }
    assert_eq!(srq.posted(), 6);
}

#[test]
fn events_wake_a_sleeper() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let channel = device.completion_channel().expect("a channel");
    let cq = device.completion_queue(257).channel(&channel).context(0xfeed).build().expect("a CQ");
    let pair = pd.queue_pair::<transport::Rc>(&cq, &cq).build().expect("a queue pair");
    let mut b = End::new(&pd, cq, pair);
    let mut a = end::<transport::Rc>(&device, &pd);
    connect(&device, &mut a.pair, &mut b.pair);
    assert_eq!(channel.wait_timeout(Duration::ZERO), Ok(None), "nothing is armed");
    for round in 0..3 {
        b.post_receive(round);
        b.cq.arm(Notify::Any);
        assert!(b.cq.poll().is_none());
        a.post(&wqe::send().inline(b"wake up").signaled(WrId(round)));
        let event = channel.wait_timeout(Duration::from_secs(20)).expect("no error").expect("an event");
        assert_eq!(event.context, 0xfeed);
        b.cq.event_received();
        assert_eq!(b.completion(), (Side::Responder, WrId(round), 7));
        a.completion();
    }
    a.post(&wqe::send().inline(b"not armed").signaled(WrId(9)));
    b.post_receive(9);
    b.completion();
    assert_eq!(channel.wait_timeout(Duration::from_millis(50)), Ok(None), "an event without arming");
    assert!(channel.as_fd().try_clone_to_owned().is_ok());
}

#[test]
fn queues_that_own_their_buffers_give_them_back() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (a, b) = connected::<transport::Rc>(&device, &pd);
    let mut pool = Pool::new(&pd, 1 << 13, Access::ALL).expect("a pool");
    let mut page = || Box::new(pool.take(64).expect("room"));
    let mut sq = OwningSendQueue::new(a.pair.sq).expect("nothing is outstanding");
    let mut rq = b.pair.rq.posting().expect("nothing is posted");
    let (mut send_cq, mut recv_cq) = (a.cq, b.cq);
    for n in 0..20_u8 {
        let mut message = page();
        message.fill(n);
        rq.post(page()).expect("room");
        sq.gather(wqe::send(), message, 40).expect("room");
        wait_for("a send", || send_cq.poll().map(|cqe| sq.retire(&cqe).expect("outstanding").expect("a buffer")));
        let received = wait_for("a receive", || recv_cq.poll().map(|cqe| rq.retire(&cqe).expect("posted")));
        let mut bytes = [0xff; 41];
        received.read(0, &mut bytes);
        assert_eq!((&bytes[..40], bytes[40]), (&[n; 40][..], 0));
    }
}
