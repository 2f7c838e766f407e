//! Completion queues that commands change in use, and compressed completions.
//!
//! Completion queues belong here, events in `events.rs`.

use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, Hash, MiniFormat};
use blueflame::cq::setup::{CqParts, RoomError};
use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{self, MIN_INLINE_HEADERS};
use blueflame::types::WrId;
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::object::{Cq, OwnedCq, SharedReceives, Tis, TransportDomain, Uar};

use crate::end::{End, connected};
use crate::ground::ground;

#[test]
fn a_queue_grows_and_shrinks_under_traffic() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    a.cq.handle().oversubscribe();
    let mut next = 0;
    for (round, room) in [128, 16, 200, 2, 32, 1000, 64].into_iter().enumerate() {
        let waiting = (round % 3) as u64;
        for id in next..next + waiting {
            a.post(&wqe::write(b.buffer.remote()).inline(&id.to_ne_bytes()).signaled(WrId(id)));
        }
        // While requests are on their way.
        if waiting < room.into() {
            Cq::resize(&mut a.cq, &ground.rings, room).expect("resized");
            assert_eq!(a.cq.capacity(), (room + 1).next_power_of_two());
            assert_eq!(a.cq.handle().query().expect("QUERY_CQ").log_cq_size(), a.cq.capacity().trailing_zeros() as u8);
            assert_eq!(a.cq.handle().parts().buf.addr().get(), a.cq.ring_addr());
        }
        // As many as the ring has, and more.
        for id in next..next + waiting + 40 {
            if id >= next + waiting {
                a.post(&wqe::write(b.buffer.remote()).inline(&id.to_ne_bytes()).signaled(WrId(id)));
            }
            assert_eq!(a.completion().1, WrId(id));
        }
        next += waiting + 40;
    }
}

#[test]
fn a_queue_that_cannot_change_says_so_and_goes_on() {
    let ground = ground();
    let (mut a, b) = connected::<transport::Rc>(&ground);
    let error = Cq::resize(&mut a.cq, &ground.rings, 0).expect_err("no room");
    assert!(matches!(error, Error::OutOfRange { what: "CQEs", value: 0, .. }), "{error}");
    for id in 0..6 {
        a.post(&wqe::write(b.buffer.remote()).inline(b"x").signaled(WrId(id)));
    }
    // Until the last has come: nothing has been polled, so it is the sixth of the ring.
    wait("a completion", || ends(&a.cq.handle().parts())[5] >> 4 != 15);
    let error = Cq::resize(&mut a.cq, &ground.rings, 3).expect_err("less than its queues need");
    assert_eq!(refused(&a.cq, Err::<(), _>(error)), (3, 32, 0));
    a.cq.handle().oversubscribe();
    let error = Cq::resize(&mut a.cq, &ground.rings, 3).expect_err("six completions, four CQEs");
    assert!(matches!(error, Error::Command(_)), "{error}");
    for id in 0..6 {
        assert_eq!(a.completion().1, WrId(id));
    }
    // Another queue's ring is nobody's to move.
    let uar = Uar::new(&ground.context).expect("a register");
    let mut other = ground.rings.completion_queue(uar.page(), 4).build().expect("a completion queue");
    std::mem::swap(&mut *a.cq, &mut *other);
    let error = Cq::resize(&mut a.cq, &ground.rings, 100).expect_err("of another handle");
    assert!(matches!(error, Error::Parts { .. }), "{error}");
    std::mem::swap(&mut *a.cq, &mut *other);
    Cq::resize(&mut a.cq, &ground.rings, 100).expect("whole again");
}

/// A ring of one WQEBB has the next one begin 64 bytes behind a multiple of 128.
#[test]
fn cqes_of_128_bytes_lie_at_their_multiples_whatever_lies_before() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let mut kept = Vec::new();
    let mut cq = ground.rings.completion_queue(uar.page(), 4).cqe_bytes(128).build().expect("the first");
    for round in 0..4 {
        let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq);
        let odd = builder.sends(1).no_receives().build().expect("a queue pair");
        let other = ground.rings.completion_queue(uar.page(), 2).cqe_bytes(128).build();
        let other = other.unwrap_or_else(|error| panic!("round {round}: {error}"));
        Cq::resize(&mut cq, &ground.rings, 8 << round).unwrap_or_else(|error| panic!("round {round}: {error}"));
        for ring in [cq.handle().parts().buf, other.handle().parts().buf] {
            assert_eq!(ring.addr().get() % 128, 0, "round {round}");
        }
        let of_handle = cq.handle().parts().buf.addr().get();
        assert!((of_handle..of_handle + 128).contains(&cq.ring_addr()), "round {round}: {:#x}", cq.ring_addr());
        kept.push((odd, other));
    }
}

/// The device has moved when the queue cannot follow: its old ring must be nobody else's then.
#[test]
fn two_queues_never_poll_one_ring() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let mut cq = ground.rings.completion_queue(uar.page(), 4).cqe_bytes(128).build().expect("the first");
    let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq);
    let _odd = builder.sends(1).no_receives().build().expect("a queue pair");
    let resized = Cq::resize(&mut cq, &ground.rings, 8);
    // Its last CQE may end 64 bytes before.
    let ring = cq.ring_addr()..cq.ring_addr() + 128 * cq.capacity() as usize - 64;
    let others: Vec<_> =
        (0..16).map(|_| ground.rings.completion_queue(uar.page(), 4).build().expect("another")).collect();
    for other in &others {
        assert!(!ring.contains(&other.ring_addr()), "{:#x} lies in {ring:#x?} after {resized:?}", other.ring_addr());
    }
}

fn wait(what: &str, ready: impl Fn() -> bool) {
    let begin = Instant::now();
    while !ready() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no {what}");
        std::thread::yield_now();
    }
}

/// The last byte of each CQE.
fn ends(parts: &CqParts) -> Vec<u8> {
    let at = |n: u32| ((n + 1) * parts.cqe_size - 1) as usize;
    // SAFETY: in the ring, which is there as long as the queue.
    (0..parts.cqe_cnt).map(|n| unsafe { parts.buf.add(at(n)).read_volatile() }).collect()
}

/// The PCI device ID of a ConnectX-6, which introduced the enhanced layout (Linux, "net/mlx5e: Support enhanced CQE
/// compression"). Earlier adapters have lower numbers (`drivers/net/ethernet/mellanox/mlx5/core/main.c`,
/// `mlx5_core_pci_table`).
const CONNECTX6: u32 = 0x101b;

/// Messages to and from a queue whose completions are compressed: each has its completion. At least some must have been
/// compressed.
fn compressed<F: MiniFormat, const ENHANCED: bool>(cqe_bytes: u16) {
    const BURST: u64 = 12;
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 64).cqe_bytes(cqe_bytes).compressed::<F, ENHANCED>().build();
    let enhanced = ground.context.general().expect("capabilities").enhanced_cqe_compression();
    let part = ground.context.device().attr().vendor_part_id;
    assert_eq!(enhanced, part >= CONNECTX6, "the enhanced layout of part {part}");
    if ENHANCED && !enhanced {
        return assert!(matches!(cq, Err(Error::Capability { .. })), "the device has no such layout");
    }
    let mut cq = cq.expect("a completion queue");
    let parts = cq.handle().parts();
    let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq);
    let mut pair = builder.sends(16).receives(16).inline(64).build_on(uar).expect("a queue pair");
    let mut peer = End::<transport::Rc>::new(&ground);
    let (here, there) = (pair.qp.endpoint(&ground.path), peer.pair.qp.endpoint(&ground.path));
    for (pair, local, remote) in [(&mut pair, here, there), (&mut peer.pair, there, here)] {
        pair.qp.to_init(&ground.path).expect("INIT");
        pair.connect(&ground.path, &local, &remote).expect("RTS");
    }
    let (mut sent, mut received, mut minis) = (0, 0, 0);
    for round in 0..20 {
        for id in 0..BURST {
            // SAFETY: the buffer lives as long as the queue, and nobody looks at it.
            unsafe { pair.rq.post_unchecked(WrId(id), &[peer.buffer.sge_of(4096..8192)]) }.expect("room");
        }
        let mut batch = pair.sq.batch();
        for id in 0..BURST {
            batch.push(&wqe::write(peer.buffer.remote()).inline(&[1; 16]).signaled(WrId(id))).expect("room");
        }
        batch.ring_doorbell();
        let mut batch = peer.pair.sq.batch();
        for id in 0..BURST {
            let signaled = wqe::send().inline(&[2; 10]).signaled(WrId(id));
            batch.push(&signaled).expect("room");
        }
        batch.ring_doorbell();
        for _ in 0..BURST {
            peer.completion();
        }
        let begin = Instant::now();
        while sent + received < 2 * BURST * (round + 1) {
            let now_compressed = ends(&parts).iter().filter(|&&end| end & 0xc == 0xc && end >> 4 <= 6).count();
            minis = minis.max(now_compressed);
            cq.poll_with(16, |cqe| match cqe.check().unwrap_or_else(|error| panic!("{error}")) {
                Side::Requester => {
                    assert_eq!(pair.sq.retire(&cqe).expect("outstanding").wr_id, WrId(sent % BURST));
                    sent += 1;
                }
                Side::Responder => {
                    let done = pair.rq.retire(&cqe).expect("posted");
                    assert_eq!((done, cqe.byte_len()), (WrId(received % BURST), 10));
                    received += 1;
                }
            });
            assert!(begin.elapsed() < Duration::from_secs(20), "{sent} and {received} completions in round {round}");
        }
    }
    assert!(minis > 0, "nothing was compressed");
}

#[test]
fn compressed_completions_of_the_basic_layout() {
    compressed::<Hash, BASIC>(64);
    compressed::<Checksum, BASIC>(128);
    compressed::<ChecksumStride, BASIC>(64);
}

#[test]
fn compressed_completions_of_the_enhanced_layout() {
    compressed::<Hash, ENHANCED>(64);
    compressed::<ChecksumStride, ENHANCED>(128);
}

/// The numbers of a refusal: room, completions that wait already, and those of the refused queue.
fn refused<T>(cq: &OwnedCq, made: Result<T, Error>) -> (u32, u64, u32) {
    match made.map(|_| ()) {
        Err(Error::CqRoom { cqn, error: RoomError { room, reserved, completions } }) => {
            assert_eq!(cqn, cq.handle().cqn());
            (room, reserved, completions)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn queues_fill_a_completion_queue_to_its_last_place() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
    assert_eq!((cq.capacity(), cq.room()), (128, 127));
    let build = |sends, receives| {
        let builder =
            ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq).sends(sends).receives::<WrId>(receives);
        (builder.send_completions() + builder.recv_completions(), builder.build())
    };
    let (first, second) = (build(30, 33), build(32, 32));
    assert_eq!(first.0 + second.0, 127);
    let (first, second) = (first.1.expect("there is room"), second.1.expect("as many as fit"));
    let error = build(1, 0).1.map(drop);
    assert!(error.as_ref().is_err_and(|error| error.to_string().contains("128 may wait there unpolled")), "{error:?}");
    assert_eq!(refused(&cq, error), (127, 127, 1));
    drop(first);
    let mut third = build(30, 33).1.expect("its places are free again");
    assert!(third.sq.set_depth(blueflame::types::Wqebbs(32)).is_err(), "the ring has two more, for which is no place");
    drop((second, third));
    cq.handle().oversubscribe();
    drop(build(128, 128).1.expect("the caller answers for the sum"));
}

#[test]
fn every_kind_of_queue_counts() {
    let ground = ground();
    let uar = || Uar::new(&ground.context).expect("a register");
    let page = uar();
    let small = ground.rings.completion_queue(page.page(), 4).build().expect("a completion queue");
    let large = ground.rings.completion_queue(page.page(), 64).build().expect("a completion queue");
    let srq = ground.pd.shared_recv_queue(&ground.rings, 15, 1).expect("a shared receive queue");
    let shared = SharedReceives::from(srq.handle());
    let pair = |recv_cq| {
        let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &large, recv_cq).sends(1);
        builder.shared_receives(&shared).build()
    };
    assert_eq!(refused(&small, pair(&small)), (7, 0, 15));
    // Two queue pairs take the same 15 receives.
    drop([pair(&large).expect("room"), pair(&large).expect("room")]);
    let general = ground.context.general().expect("capabilities");
    if general.dct() {
        assert_eq!(refused(&small, ground.pd.dct(small.handle(), &shared, &ground.path, 1)), (7, 0, 15));
    }
    if general.tag_matching() {
        let sizes = TagListSizes { tags: 5, receives: 8, ..TagListSizes::DEFAULT };
        let list = ground.pd.tag_matching(&ground.rings, &small, &ground.path, &sizes);
        assert_eq!(refused(&small, list), (7, 0, 15 + 2 * 5));
    }
    if general.eth_net_offloads() {
        let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
        let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
        let sends = ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &small, &tis, uar(), 8).map(drop);
        assert_eq!(refused(&small, sends), (7, 0, 8));
        assert_eq!(refused(&small, ground.pd.recv_queue::<WrId>(&ground.rings, &small, 8, 1)), (7, 0, 8));
    }
}
