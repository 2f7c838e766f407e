//! Receives that queue pairs share: memory pools and extended queues; and kinds that only drivers can make.
//!
//! Shared receives belong here, lists of tags in `tags.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::queue::{Owned, SharedRecvQueue};
use blueflame::types::WrId;
use blueflame::verbs::{Access, Buffer, Pool};
use blueflame::{transport, wqe};
use blueflame_devx::cmd::{CreateSrqIn, CreateXrcSrqIn, Status, WqType};
use blueflame_devx::object::{OwnedCq, QueuePair, SharedReceives, Uar, Xrcd};
use blueflame_devx::{Error, EventChannel, EventType, Object};

use crate::end::{End, Ground};
use crate::ground::ground;

/// Receives of 64 bytes, more than the queues hold, so that their rings wrap.
const MESSAGES: u64 = 100;

/// The receivers of a shared queue: two queue pairs, and memory for their messages.
struct Receivers {
    pairs: [QueuePair<transport::Rc>; 2],
    cq: OwnedCq,
    buffer: Buffer,
}

impl Receivers {
    fn new(ground: &Ground, cq: OwnedCq, shared: &SharedReceives) -> Self {
        let pairs = [(); 2].map(|()| {
            let uar = Uar::new(&ground.context).expect("a register");
            let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq);
            builder.shared_receives(shared).build_on(uar).expect("a queue pair")
        });
        let mut pool = Pool::new(&ground.verbs_pd, 4096, Access::ALL).expect("memory");
        Self { pairs, cq, buffer: pool.take(4096).expect("all of it") }
    }

    /// Peers that are connected with the queue pairs.
    fn peers(&mut self, ground: &Ground) -> [End<transport::Rc>; 2] {
        self.pairs.each_mut().map(|pair| {
            let mut peer = End::<transport::Rc>::new(ground);
            let (here, there) = (pair.qp.endpoint(&ground.path), peer.pair.qp.endpoint(&ground.path));
            for (pair, local, remote) in [(pair, here, there), (&mut peer.pair, there, here)] {
                pair.qp.to_init(&ground.path).expect("INIT");
                pair.connect(&ground.path, &local, &remote).expect("RTS");
            }
            peer
        })
    }

    /// Posts a receive for message `n`, to the 64 bytes whose turn it is.
    fn post<H>(&self, srq: &mut Owned<SharedRecvQueue, H>, n: u64) {
        let at = n as usize % 64 * 64;
        let sge = self.buffer.sge_of(at..at + 64);
        // SAFETY: the buffer lives as long as the queue pairs, and the test waits for completions before it looks.
        unsafe { srq.post_unchecked(WrId(n), &[sge]) }.expect("room");
    }

    /// Waits for a receive: which, by which queue pair, and its bytes.
    fn receive<H>(&mut self, srq: &mut Owned<SharedRecvQueue, H>) -> (WrId, usize, [u8; 8]) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut done = None;
        while done.is_none() {
            assert!(Instant::now() < deadline, "no completion");
            let pairs = &self.pairs;
            self.cq.poll_with(1, |cqe| {
                cqe.check().unwrap_or_else(|error| panic!("{error}"));
                assert_eq!((cqe.side(), cqe.byte_len()), (Some(Side::Responder), 8));
                let by = pairs.iter().position(|pair| pair.qp.qpn() == cqe.qpn()).expect("one of both");
                // SAFETY: both receive from there; polled once.
                done = Some((unsafe { srq.retire(&cqe) }.expect("posted"), by));
            });
        }
        let (wr_id, by) = done.expect("polled");
        let mut bytes = [0; 8];
        self.buffer.read(wr_id.0 as usize % 64 * 64, &mut bytes);
        (wr_id, by, bytes)
    }
}

/// Sends messages to both queue pairs in turns; each takes the receive that is first in the shared queue.
fn serves_two<H>(ground: &Ground, cq: OwnedCq, shared: &SharedReceives, srq: &mut Owned<SharedRecvQueue, H>) {
    let mut receivers = Receivers::new(ground, cq, shared);
    let mut peers = receivers.peers(ground);
    for n in 0..20 {
        receivers.post(srq, n);
    }
    for n in 0..MESSAGES {
        let to = n as usize % 2;
        peers[to].post(&wqe::send().inline(&n.to_ne_bytes()).signaled(WrId(n)));
        assert_eq!(receivers.receive(srq), (WrId(n), to, n.to_ne_bytes()));
        assert_eq!(peers[to].completion().1, WrId(n));
        receivers.post(srq, n + 20);
    }
    assert_eq!(srq.posted(), 20);
}

#[test]
fn a_memory_pool_serves_two_queue_pairs() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let mut srq = ground.pd.shared_recv_queue(&ground.rings, 30, 1).expect("a pool");
    let shared = SharedReceives::from(srq.handle());
    serves_two(&ground, cq, &shared, &mut srq);
}

#[test]
fn an_extended_queue_serves_two_queue_pairs() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let cqn = cq.cqn();
    let made = ground.pd.extended_recv_queue(&ground.rings, cq.handle(), 30, 1);
    if ground.context.general().expect("capabilities").log_max_xrq() == 0 {
        assert!(matches!(made, Err(Error::Capability { name: "cmd_hca_cap.log_max_xrq", .. })), "{made:?}");
        return;
    }
    let mut xrq = made.expect("an extended queue");
    assert_eq!(xrq.capacity(), 31);
    let shared = SharedReceives::from(xrq.handle());
    serves_two(&ground, cq, &shared, &mut xrq);
    let context = xrq.handle().query().expect("QUERY_XRQ");
    let wq = context.wq();
    assert_eq!((context.cqn(), wq.pd(), wq.wq_type()), (cqn, ground.pd.pdn(), WqType::LINKED_LIST));
    assert_eq!((wq.log_wq_sz(), wq.log_wq_stride(), wq.lwm()), (5, 5, 0));
    xrq.handle().arm(4).expect("ARM_XRQ");
    assert_eq!(xrq.handle().query().expect("QUERY_XRQ").wq().lwm(), 4);
    let error = xrq.handle().arm(33).expect_err("more than it holds");
    assert!(matches!(&error, Error::Command(error) if error.status == Status::BAD_PARAM_ERR), "{error}");
}

/// Fewer receives than were asked for are an event of `object`, whose number is that of the queue.
fn tells_of_few<H>(
    ground: &Ground,
    cq: OwnedCq,
    shared: &SharedReceives,
    srq: &mut Owned<SharedRecvQueue, H>,
    (object, arm): (&Object, impl FnOnce() -> Result<(), Error>),
) {
    let channel = EventChannel::new(&ground.context).expect("a channel");
    channel.subscribe(Some(object), &[EventType::SRQ_RQ_LIMIT], 9).expect("subscribed");
    let mut receivers = Receivers::new(ground, cq, shared);
    let [mut peer, _] = receivers.peers(ground);
    for n in 0..3 {
        receivers.post(srq, n);
    }
    arm().expect("armed");
    peer.post(&wqe::send().inline(&[0; 8]).signaled(WrId(1)));
    assert_eq!(receivers.receive(srq).0, WrId(0));
    let event = channel.read().expect("an event").expect("the channel blocks");
    assert_eq!((event.cookie, event.event_type()), (9, Some(EventType::SRQ_RQ_LIMIT)));
    assert_eq!(event.number(), Some(shared.number().get()), "{event:?}");
}

#[test]
fn few_receives_of_a_memory_pool_are_an_event() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let mut srq = ground.pd.shared_recv_queue(&ground.rings, 30, 1).expect("a pool");
    let handle = srq.handle().clone();
    let shared = SharedReceives::from(&handle);
    tells_of_few(&ground, cq, &shared, &mut srq, (handle.object(), || handle.arm(3)));
}

#[test]
fn few_receives_of_an_extended_queue_are_an_event() {
    let ground = ground();
    if ground.context.general().expect("capabilities").log_max_xrq() == 0 {
        return;
    }
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let mut xrq = ground.pd.extended_recv_queue(&ground.rings, cq.handle(), 30, 1).expect("an extended queue");
    let handle = xrq.handle().clone();
    let shared = SharedReceives::from(&handle);
    tells_of_few(&ground, cq, &shared, &mut xrq, (handle.object(), || handle.arm(3)));
}

/// How the firmware refuses to make an object.
fn refusal<T: std::fmt::Debug>(made: Result<T, Error>) -> Status {
    match made {
        Err(Error::Command(error)) => error.status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn queues_without_registered_memory_are_for_drivers() {
    let ground = ground();
    let mut inbox = CreateSrqIn::new();
    inbox.srq_context_entry_mut().set_log_srq_size(4).set_log_rq_stride(1).set_pd(ground.pd.pdn());
    // SAFETY: refused, as it has no pages.
    assert_eq!(refusal(unsafe { ground.context.create(&inbox) }), Status::BAD_INP_LEN_ERR);

    let Ok(domain) = Xrcd::new(&ground.context) else { return };
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let mut inbox = CreateXrcSrqIn::new();
    let context = inbox.xrc_srq_context_entry_mut();
    context.set_log_xrc_srq_size(4).set_log_rq_stride(1).set_pd(ground.pd.pdn());
    context.set_cqn(cq.cqn()).set_xrcd(domain.xrcdn());
    // The kernel says of each that it is in registered memory (`devx_set_umem_valid`).
    // SAFETY: refused, as nobody can say in which.
    assert_eq!(refusal(unsafe { ground.context.create(&inbox) }), Status::BAD_PARAM_ERR);
}
