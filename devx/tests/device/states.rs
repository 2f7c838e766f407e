//! State changes of queue pairs beside those that connect them.
//!
//! States belong here, connecting in `messages.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::Cqe;
use blueflame::types::WrId;
use blueflame::verbs::device::LinkLayer;
use blueflame::verbs::{self, Access, Path, Pool};
use blueflame::{Sge, transport, wqe};
use blueflame_devx::Error;
use blueflame_devx::cmd::{Opcode, QpcState, Rts2sqdQpIn, Sqd2rtsQpIn, Status};
use blueflame_devx::mailbox::Command;
use blueflame_devx::object::Qp;

use crate::end::{End, connected};
use crate::ground::ground;

/// Waits for a completion: of which request, and whether it is good.
fn outcome<T: transport::Transport>(end: &mut End<T>) -> (WrId, bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut done = None;
        let End { pair, cq, .. } = end;
        cq.poll_with(1, |cqe| done = Some((pair.sq.retire(&cqe).expect("of this queue").wr_id, cqe.check().is_ok())));
        if let Some(done) = done {
            return done;
        }
        assert!(Instant::now() < deadline, "no completion");
    }
}

/// The rights of a peer: WRITE, READ.
fn rights(qp: &Qp) -> (bool, bool) {
    let context = qp.query().expect("QUERY_QP");
    (context.rwe(), context.rre())
}

#[test]
fn rights_change_in_init() {
    let ground = ground();
    let end = End::<transport::Rc>::new(&ground);
    let qp = &end.pair.qp;
    qp.to_init(&ground.path).expect("RST2INIT");
    assert_eq!(rights(qp), (true, true));
    qp.init_to_init(&Path { access: Access::REMOTE_READ, ..ground.path }).expect("INIT2INIT");
    assert_eq!((rights(qp), qp.state()), ((false, true), Ok(QpcState::INIT)));
}

#[test]
fn rights_change_in_rts() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    a.post(&wqe::write(b.buffer.remote()).inline(b"before").signaled(WrId(1)));
    assert_eq!(outcome(&mut a), (WrId(1), true));
    b.pair.qp.set_remote_access(Access::REMOTE_READ).expect("RTS2RTS");
    assert_eq!((rights(&b.pair.qp), b.pair.qp.state()), ((false, true), Ok(QpcState::RTS)));
    a.post(&wqe::read(b.buffer.remote()).scatter([a.buffer.sge_of(0..6)]).signaled(WrId(2)));
    assert_eq!(outcome(&mut a), (WrId(2), true));
    assert_eq!(a.bytes(6), b"before");
    a.post(&wqe::write(b.buffer.remote()).inline(b"after!").signaled(WrId(3)));
    assert_eq!(outcome(&mut a), (WrId(3), false));
    assert_eq!(b.bytes(6), b"before");
}

#[test]
fn a_send_queue_that_failed_sends_again() {
    let ground = ground();
    let (mut a, mut b) = connected::<transport::Uc>(&ground);
    let error = a.pair.qp.sqer_to_rts().expect_err("it is in RTS");
    assert_eq!(error, Error::WrongState { is: QpcState::RTS, to: QpcState::RTS });
    // Memory that the key is not of.
    let wrong = Sge { addr: 8, ..a.buffer.sge_of(0..8) };
    a.post(&wqe::send().gather([wrong]).signaled(WrId(1)));
    assert_eq!(outcome(&mut a), (WrId(1), false));
    assert_eq!(a.pair.qp.state(), Ok(QpcState::SQER));
    a.pair.qp.sqer_to_rts().expect("SQERR2RTS");
    assert_eq!(a.pair.qp.state(), Ok(QpcState::RTS));
    b.post_receive(2);
    a.post(&wqe::send().inline(b"again").signaled(WrId(3)));
    assert_eq!(outcome(&mut a), (WrId(3), true));
    assert_eq!((b.completion().1, b.bytes(5)), (WrId(2), b"again".to_vec()));
}

/// Sends a command that user space may not send.
fn refused_by_the_kernel<C: Command>(qp: &Qp, inbox: &C, opcode: Opcode) {
    // SAFETY: no command takes it to RESET or, from RTS, to a state that its queues do not know.
    let Err(Error::Command(error)) = (unsafe { qp.object().modify(inbox) }).map(drop) else { panic!("not refused") };
    assert_eq!((error.opcode, error.status, error.errno), (opcode, Status::OK, libc::EINVAL), "{error}");
    assert_eq!(error.hint(), Some("the kernel does not let user space send this command in this way"));
    assert_eq!(qp.state(), Ok(QpcState::RTS));
}

#[test]
fn draining_is_for_drivers() {
    let ground = ground();
    let (a, _b) = connected::<transport::Rc>(&ground);
    let mut inbox = Rts2sqdQpIn::new();
    inbox.set_qpn(a.pair.qp.qpn());
    refused_by_the_kernel(&a.pair.qp, &inbox, Opcode::RTS2SQD_QP);
    let mut inbox = Sqd2rtsQpIn::new();
    inbox.set_qpn(a.pair.qp.qpn());
    refused_by_the_kernel(&a.pair.qp, &inbox, Opcode::SQD_RTS_QP);
}

#[test]
fn the_closure_of_a_reset_finds_empty_queues() {
    let ground = ground();
    let path = Path { rnr_retry: 0, ..ground.path };
    let (mut a, mut b) = connected::<transport::Rc>(&ground);
    let mut peer = End::<transport::Rc>::new(&ground);
    let mut pool = Pool::new(&ground.verbs_pd, 4096, Access::ALL).expect("a pool");
    let mut rq = a.pair.rq.posting().expect("nothing is posted");
    rq.post(Box::new(pool.take(64).expect("room"))).expect("room");
    b.pair.sq.post(&wqe::send().inline(b"first").signaled(WrId(1))).expect("room");
    let mut first = None;
    while first.is_none() {
        a.cq.poll_with(1, |cqe| first = rq.retire(&cqe).ok());
    }
    let mut first = first.expect("a message");
    first.write(0, b"mine again");
    a.pair.rq = rq.posting().expect("nothing is posted");
    a.pair.sq.post(&wqe::nop().signaled(WrId(2))).expect("room");
    let qp = a.pair.qp.clone();
    while !a.cq.holds(qp.qpn()) {}
    // A clone of the handle connects again, while the queues are in the middle of a reset.
    let mut lent = 0;
    let reconnect = |_: Cqe<'_>| {
        lent += 1;
        let (here, there) = (qp.endpoint(&path), peer.pair.qp.endpoint(&path));
        qp.to_init(&path).expect("INIT");
        qp.to_rtr(&path, &there).expect("RTR");
        peer.pair.qp.to_init(&path).expect("INIT");
        peer.pair.connect(&path, &there, &here).expect("RTS");
        peer.pair.sq.post(&wqe::send().inline(b"second").signaled(WrId(3))).expect("room");
        while !peer.cq.holds(peer.pair.qp.qpn()) {}
    };
    a.pair.reset(&mut [&mut a.cq], reconnect).expect("RESET");
    assert_eq!(lent, 1);
    assert!(peer.cq.poll().is_some_and(|cqe| cqe.check().is_err()), "no receive was posted");
    assert_eq!(first.to_vec(0..10), b"mine again", "a message has overwritten a buffer that was handed back");
}

/// The software device has them on Ethernet. `softhca/uverbs/tests/captures` sees the port in packets.
#[test]
fn source_ports_change_in_rts() {
    let ground = ground();
    let ethernet = ground.path.port.link_layer == LinkLayer::Ethernet;
    let (a, b) = connected::<transport::Rc>(&ground);
    let of = |qp: &Qp| qp.query().expect("a context").primary_address_path().udp_sport();
    let before = of(&b.pair.qp);
    match a.pair.qp.set_udp_source_port(55_555) {
        Ok(()) => assert_eq!((of(&a.pair.qp), of(&b.pair.qp), ethernet), (55_555, before, true)),
        Err(error) => assert!(!ethernet && matches!(error, Error::Capability { .. }), "{error}"),
    }
    let cq = ground.context.device().completion_queue(64).build().expect("a completion queue of verbs");
    let builder = ground.verbs_pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).receives::<WrId>(16);
    let mut pair = builder.build().expect("a queue pair of verbs");
    let unsupported = Err(verbs::Error::Unsupported { what: "another UDP source port" });
    assert_eq!(pair.qp.set_udp_source_port(55_555), unsupported, "in RESET");
    let itself = pair.qp.endpoint(&ground.path);
    pair.connect(&ground.path, &itself, &itself).expect("RTS");
    assert_eq!(pair.qp.set_udp_source_port(55_555), if ethernet { Ok(()) } else { unsupported });
}

/// The software device has them with `--bond`.
#[test]
fn ports_of_bonds_change_in_rts() {
    let ground = ground();
    let (a, _b) = connected::<transport::Rc>(&ground);
    let of = |qp: &Qp| qp.query().expect("a context").lag_tx_port_affinity();
    let ports = ground.context.general().expect("capabilities").num_lag_ports();
    match a.pair.qp.set_lag_port(2) {
        Ok(()) => assert_eq!((of(&a.pair.qp), ports), (2, 2)),
        Err(error) => assert!(ports == 1 && matches!(error, Error::Capability { .. }), "{error}"),
    }
    if ports == 2 {
        let refused = a.pair.qp.set_lag_port(3).expect_err("two ports");
        assert!(matches!(refused, Error::Command { .. }) && of(&a.pair.qp) == 2, "{refused}");
    }
}
