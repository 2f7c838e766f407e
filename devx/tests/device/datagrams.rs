//! Requests whose WQEs these tests write by hand: of services without a queue type in `blueflame`. The address is that
//! of libmlx5.
//!
//! Hand-written WQEs belong here, those of the crate's queues in `messages.rs`.

use std::time::{Duration, Instant};

use blueflame::arch;
use blueflame::cq::Side;
use blueflame::db::DoorbellRecord;
use blueflame::queue::RecvQueue;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Buffer, Pool};
use blueflame_devx::cmd::{QpcState, ServiceType};
use blueflame_devx::object::{OwnedCq, RawQp, SharedReceives, Uar};
use blueflame_sys as sys;

use crate::end::Ground;
use crate::ground::ground;

/// Bytes of the global route header, or room for one, before each datagram.
const GRH: usize = 40;

/// The address of the port itself, as libmlx5 has it.
fn own_address(ground: &Ground, raw: &RawQp) -> sys::mlx5_wqe_av {
    let mut attr = ground.path.address(&raw.qp.endpoint(&ground.path)).expect("a way");
    // SAFETY: the domain is alive, the attributes are ours.
    let handle = unsafe { sys::ibv_create_ah(ground.verbs_pd.as_raw(), &raw mut attr) };
    assert!(!handle.is_null(), "an address handle");
    let mut out = sys::mlx5dv_ah { av: std::ptr::null_mut(), comp_mask: 0 };
    let pair = sys::mlx5dv_pair { r#in: handle.cast(), out: (&raw mut out).cast() };
    let mut asked = sys::mlx5dv_obj { ah: pair, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the handle is alive and libmlx5's; the answer is ours.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut asked, sys::MLX5DV_OBJ_AH) }, 0);
    // SAFETY: a part of the handle, which is alive; any bytes are a value.
    let address = unsafe { *out.av };
    // SAFETY: made above, destroyed once.
    assert_eq!(unsafe { sys::ibv_destroy_ah(handle) }, 0);
    address
}

/// Posts a SEND of 8 bytes as request `n`, to queue pair or target `to` whose key is `key` (big endian).
fn send(raw: &RawQp, n: u16, to: u32, key: u64, mut address: sys::mlx5_wqe_av, data: u64) {
    /// `MLX5_OPCODE_SEND`, `MLX5_WQE_CTRL_CQ_UPDATE`, `MLX5_EXTENDED_UD_AV`, `MLX5_INLINE_SEG`.
    const SEND: u32 = 0x0a;
    const CQ_UPDATE: u8 = 2 << 2;
    const EXTENDED: u32 = 1 << 31;
    const INLINE: u32 = 1 << 31;
    // Each request is two WQEBBs: control segment, address of 48 bytes, 12 bytes inline.
    let (pi, ds) = (n * 2, 5);
    address.key = key;
    address.dqp_dct = (EXTENDED | to).to_be();
    let mut wqe = [0_u8; 80];
    wqe[..4].copy_from_slice(&(u32::from(pi) << 8 | SEND).to_be_bytes());
    wqe[4..8].copy_from_slice(&(raw.qp.qpn().get() << 8 | ds).to_be_bytes());
    wqe[11] = CQ_UPDATE;
    wqe[64..68].copy_from_slice(&(INLINE | 8).to_be_bytes());
    wqe[68..76].copy_from_slice(&data.to_ne_bytes());
    let slot = usize::from(pi) % raw.sq.wqebbs as usize * 64;
    // SAFETY: the send ring has these two WQEBBs, and nothing is outstanding: tests wait for each request. The record
    // and the register are this queue pair's, and the request names no memory. An address vector is 48 bytes without
    // gaps.
    unsafe {
        let start = raw.sq.ring.add(slot);
        start.cast::<[u8; 80]>().write(wqe);
        start.add(16).cast::<sys::mlx5_wqe_av>().write(address);
        arch::to_device();
        DoorbellRecord::send(raw.sq.dbrec).store(pi.wrapping_add(2));
        arch::to_device();
        raw.register.reg.cast::<u64>().write_volatile(start.cast::<u64>().read());
    }
}

/// Waits for a good completion, and shows it.
fn completion<T>(cq: &mut OwnedCq, mut show: impl FnMut(&blueflame::cq::Cqe<'_>) -> T) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut done = None;
        cq.poll_with(1, |cqe| {
            cqe.check().unwrap_or_else(|error| panic!("{error}"));
            done = Some(show(&cqe));
        });
        if let Some(done) = done {
            return done;
        }
        assert!(Instant::now() < deadline, "no completion");
    }
}

fn completion_queue(ground: &Ground) -> OwnedCq {
    let uar = Uar::new(&ground.context).expect("a register");
    ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue")
}

fn buffer(ground: &Ground) -> Buffer {
    let mut pool = Pool::new(&ground.verbs_pd, 4096, Access::ALL).expect("memory");
    pool.take(4096).expect("all of it")
}

fn value(buffer: &Buffer, at: usize) -> u64 {
    let mut bytes = [0; 8];
    buffer.read(at, &mut bytes);
    u64::from_ne_bytes(bytes)
}

#[test]
fn datagrams_arrive() {
    const Q_KEY: u32 = 0x1111_1111;
    let ground = ground();
    let mut cqs = [(); 2].map(|()| completion_queue(&ground));
    let [a, b] = cqs.each_ref().map(|cq| {
        let uar = Uar::new(&ground.context).expect("a register");
        let builder = ground.pd.raw_queue_pair(ServiceType::UD, &ground.rings, cq, cq);
        let raw = builder.sends(16).receives(16).inline(8).build_on(uar).expect("a queue pair");
        raw.qp.start_datagrams(&ground.path, Q_KEY).expect("RTS");
        raw
    });
    // SAFETY: the parts are those of `b`, which outlives the queue; nobody else posts.
    let mut rq: RecvQueue = unsafe { RecvQueue::from_parts(b.rq) }.expect("its parts");
    let memory = buffer(&ground);
    let address = own_address(&ground, &a);
    for n in 0..40_u16 {
        // SAFETY: the memory outlives the queue pairs, and is read after the completion.
        unsafe { rq.post_unchecked(WrId(n.into()), &[memory.sge_of(0..GRH + 8)]) }.expect("room");
        let key = u64::from(Q_KEY.to_be());
        send(&a, n, b.qp.qpn().get(), key, address, 1000 + u64::from(n));
        let seen = completion(&mut cqs[1], |cqe| (cqe.side(), cqe.byte_len(), rq.retire(cqe).expect("posted")));
        assert_eq!(seen, (Some(Side::Responder), GRH as u32 + 8, WrId(n.into())));
        assert_eq!(value(&memory, GRH), 1000 + u64::from(n));
        assert_eq!(completion(&mut cqs[0], |cqe| cqe.side()), Some(Side::Requester));
    }
}

#[test]
fn an_initiator_sends_to_two_targets() {
    const KEY: u64 = 0x5566_7788;
    let ground = ground();
    if !ground.context.general().expect("capabilities").dct() {
        return;
    }
    let [mut sends, mut receives] = [(); 2].map(|()| completion_queue(&ground));
    let mut srq = ground.pd.shared_recv_queue(&ground.rings, 16, 1).expect("a pool");
    let shared = SharedReceives::from(srq.handle());
    let targets = [0, 1].map(|n| ground.pd.dct(receives.handle(), &shared, &ground.path, KEY + n).expect("a target"));
    let uar = Uar::new(&ground.context).expect("a register");
    let builder = ground.pd.raw_queue_pair(ServiceType::DCI, &ground.rings, &sends, &sends);
    let initiator = builder.sends(16).receives(0).inline(8).build_on(uar).expect("an initiator");
    initiator.qp.start_initiator(&ground.path).expect("RTS");
    let memory = buffer(&ground);
    let address = own_address(&ground, &initiator);
    for n in 0..40_u16 {
        // SAFETY: the memory outlives the targets, and is read after the completion.
        unsafe { srq.post_unchecked(WrId(n.into()), &[memory.sge_of(0..8)]) }.expect("room");
        let to = usize::from(n % 2);
        let key = (KEY + to as u64).to_be();
        send(&initiator, n, targets[to].dctn().get(), key, address, 2000 + u64::from(n));
        // SAFETY: nothing else completes there; polled once.
        let seen =
            completion(&mut receives, |cqe| (cqe.side(), cqe.byte_len(), unsafe { srq.retire(cqe) }.expect("posted")));
        assert_eq!(seen, (Some(Side::Responder), 8, WrId(n.into())));
        assert_eq!(value(&memory, 0), 2000 + u64::from(n));
        assert_eq!(completion(&mut sends, |cqe| cqe.side()), Some(Side::Requester));
    }
    // Of the first target, but with the key of the second.
    send(&initiator, 40, targets[0].dctn().get(), (KEY + 1).to_be(), address, 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut failed = None;
    while failed.is_none() {
        assert!(Instant::now() < deadline, "no completion");
        sends.poll_with(1, |cqe| failed = Some(cqe.check().is_err()));
    }
    assert_eq!((failed, initiator.qp.state()), (Some(true), Ok(QpcState::ERR)));
}
