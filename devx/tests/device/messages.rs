//! Messages, WRITEs and READs over queues that commands made.
//!
//! Connected services belong here, others in `objects.rs`.

use std::os::unix::net::UnixStream;

use blueflame::cq::Side;
use blueflame::types::WrId;
use blueflame::verbs::{self, Access, Ece, Endpoint, Pool, handshake};
use blueflame::wqe;
use blueflame::{Remote, transport};
use blueflame_devx::Error;
use blueflame_devx::cmd::QpcState;

use crate::conversation;
use crate::end::{End, connected};
use crate::ground::ground;

#[test]
fn rc_sends_writes_reads_and_adds() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Rc>(&ground);
    conversation::messages(&mut a, &mut b);
}

#[test]
fn masked_atomics_change_their_bits_only() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Rc>(&ground);
    ground.context.extended_atomics::<u32>().expect("the device has them");
    ground.context.extended_atomics::<u64>().expect("of either size");
    conversation::masked_atomics(&mut a, &mut b);
    ground.context.extended_atomics::<u128>().expect("and of the large one");
    conversation::large_masked_atomics(&mut a, &mut b);
}

#[test]
fn uc_sends_and_writes() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Uc>(&ground);
    b.post_receive(1);
    a.post(&wqe::send().inline(b"unreliable").imm(0xabcd).signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.completion(), (Side::Responder, WrId(1), 10));
    assert_eq!(b.bytes(10), b"unreliable");
}

#[test]
fn rings_wrap_many_times() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Rc>(&ground);
    for n in 0..200_u64 {
        b.post_receive(n);
        a.post(&wqe::send().inline(&n.to_ne_bytes()).signaled(WrId(n)));
        assert_eq!(b.completion(), (Side::Responder, WrId(n), 8));
        assert_eq!(a.completion().1, WrId(n));
        assert_eq!(b.bytes(8), n.to_ne_bytes());
    }
}

#[test]
fn the_device_says_what_it_was_told() {
    let ground = ground();
    let (a, b) = connected::<transport::Rc>(&ground);
    let qpc = a.pair.qp.query().expect("QUERY_QP");
    assert_eq!(qpc.state(), QpcState::RTS);
    assert_eq!(qpc.remote_qpn(), b.pair.qp.qpn());
    assert_eq!((qpc.log_sq_size(), qpc.log_rq_size(), qpc.log_rq_stride()), (4, 4, 0));
    assert_eq!((qpc.cqn_snd(), qpc.cqn_rcv()), (a.cq.cqn(), a.cq.cqn()));
    assert_eq!(qpc.pd(), ground.pd.pdn());
    assert_eq!(a.cq.handle().query().expect("QUERY_CQ").log_cq_size(), 7, "one place of 64 would stay free");
}

#[test]
fn a_queue_pair_is_reset_and_connected_again() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Rc>(&ground);
    a.post(&wqe::write(b.buffer.remote()).inline(b"first").signaled(WrId(1)));
    assert_eq!(a.completion().1, WrId(1));
    for end in [&mut a, &mut b] {
        end.pair.qp.to_error().expect("ERR");
        assert_eq!(end.pair.qp.state().expect("QUERY_QP"), QpcState::ERR);
        let End { pair, cq, .. } = end;
        pair.reset(&mut [cq], |_| ()).expect("RESET");
        assert_eq!(pair.qp.state().expect("QUERY_QP"), QpcState::RST);
    }
    let (at_a, at_b) = (a.pair.qp.endpoint(&ground.path), b.pair.qp.endpoint(&ground.path));
    for (end, local, remote) in [(&mut a, at_a, at_b), (&mut b, at_b, at_a)] {
        end.pair.qp.to_init(&ground.path).expect("INIT");
        end.pair.qp.init_to_init(&ground.path).expect("INIT again");
        end.pair.connect(&ground.path, &local, &remote).expect("RTS");
    }
    a.post(&wqe::write(b.buffer.remote()).inline(b"second").signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    assert_eq!(b.bytes(6), b"second");
}

#[test]
fn a_queue_pair_of_verbs_is_a_peer_like_any() {
    let ground = ground();
    let mut a = End::<transport::Rc>::new(&ground);
    let mut cq = ground.context.device().completion_queue(64).build().expect("a completion queue of verbs");
    let builder = ground.verbs_pd.queue_pair::<transport::Rc>(&cq, &cq);
    let mut b = builder.sends(16).receives::<WrId>(16).inline(64).build().expect("a queue pair of verbs");
    let (mut here, mut there) = UnixStream::pair().expect("a stream");
    let key = a.buffer.remote();
    std::thread::scope(|scope| {
        let (a, path) = (&mut a, &ground.path);
        let ours = scope.spawn(move || a.pair.connect_over(&mut here, path, &key.to_bytes()).expect("RTS"));
        let theirs = b.connect_over(&mut there, path, b"of verbs").expect("RTS");
        assert_eq!(Remote::from_bytes(&theirs.data), Ok(key));
        assert_eq!(ours.join().expect("connected").data, b"of verbs");
    });
    b.sq.post(&wqe::write(key).inline(b"from verbs").signaled(WrId(1))).expect("room");
    let mut done = 0;
    while done == 0 {
        done = cq.poll_with(1, |cqe| {
            cqe.check().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(b.sq.retire(&cqe).map(|done| done.wr_id), Ok(WrId(1)));
        });
    }
    assert_eq!(a.bytes(10), b"from verbs");
    // And the other way round.
    let mut pool = Pool::new(&ground.verbs_pd, 4096, Access::ALL).expect("memory");
    let inbox = pool.take(64).expect("all of it");
    a.post(&wqe::write(inbox.remote()).inline(b"from devx").signaled(WrId(2)));
    assert_eq!(a.completion().1, WrId(2));
    let mut bytes = [0; 9];
    inbox.read(0, &mut bytes);
    assert_eq!(&bytes, b"from devx");
}

/// The software device has version 1 of the options, and no option of it.
#[test]
fn ends_of_commands_and_of_verbs_agree_on_options() {
    let ground = ground();
    let version_1 = Ece { vendor_id: Ece::MELLANOX, options: 0x1000_0000 };
    let cq = ground.context.device().completion_queue(64).build().expect("a completion queue of verbs");
    for (told, enabled) in [(None, Some(version_1)), (Some(7), None), (Some(0x1000_0007), Some(version_1))] {
        let mut a = End::<transport::Rc>::new(&ground);
        let builder = ground.verbs_pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).receives::<WrId>(16);
        let mut b = builder.build().expect("a queue pair of verbs");
        assert_eq!(a.pair.qp.ece(), Ok(Some(version_1)));
        let (at_a, at_b) = (a.pair.qp.endpoint(&ground.path), b.qp.endpoint(&ground.path));
        assert_eq!((at_a.ece, at_b.ece), (Some(version_1), Some(version_1)));
        let ece = told.map(|options| Ece { options, ..version_1 });
        a.pair.qp.to_init(&ground.path).expect("INIT");
        a.pair.connect(&ground.path, &at_a, &Endpoint { ece, ..at_b }).expect("RTS");
        b.connect(&ground.path, &at_b, &at_a).expect("RTS");
        assert_eq!((a.pair.qp.ece(), b.qp.ece()), (Ok(enabled), Some(version_1)), "told {told:x?}");
    }
}

#[test]
fn a_peer_that_gave_up_is_told_apart() {
    let ground = ground();
    let mut a = End::<transport::Rc>::new(&ground);
    let (mut here, mut there) = UnixStream::pair().expect("a stream");
    handshake::give_up(&mut there).expect("told");
    let error = a.pair.connect_over(&mut here, &ground.path, &[]).expect_err("the peer gave up");
    assert!(matches!(error, Error::Verbs(verbs::Error::PeerFailed)), "{error}");
}
