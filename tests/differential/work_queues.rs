//! Work queues of frames: the ring and the doorbell record as receives are posted, and completions of the same frames.
//!
//! Twins get every frame: a rule with the same fields leads to each. Work queues belong here, receives of queue pairs
//! in `sends.rs`.

use std::mem::ManuallyDrop;

use blueflame::flow::Flow;
use blueflame::queue::striding::Strides;
use blueflame::transport::RawPacket;
use blueflame::types::WrId;
use blueflame::verbs::ethernet::{FlowRule, FrameReceiver, OwnedWq, Wq};
use blueflame::verbs::memory::Pages;
use blueflame::verbs::{Access, OwnedCq, QueuePair};
use blueflame::{Sge, wqe};
use blueflame_sys as sys;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::again::on_ethernet;
use crate::compare::FILL;
use crate::completions::{self, Completion, of_view};
use crate::post::{self, Receive};
use crate::twin::wait;
use crate::verbs::{Fabric, NO_ETHER_TYPE, PolledCq};

/// The station of this process: others send frames on the same wire.
fn station() -> [u8; 6] {
    let [a, b, c, d] = std::process::id().to_be_bytes();
    [2, 0, a, b, c, d]
}

const TAG: u32 = 0x1234;
/// Bytes of a frame that are in the WQE.
const HEADERS: usize = 18;

/// A work queue of libmlx5's making, posted to and polled by libmlx5.
struct Theirs {
    raw: *mut sys::ibv_wq,
    parts: sys::mlx5dv_rwq,
    /// Of a queue that this crate destroys.
    cq: ManuallyDrop<PolledCq>,
}

impl Theirs {
    fn new(fabric: &Fabric, wq: &Wq, cq: &OwnedCq) -> Self {
        Self {
            raw: wq.as_raw(),
            parts: parts(wq),
            cq: ManuallyDrop::new(PolledCq::of(&fabric.device, cq.handle().as_raw())),
        }
    }

    /// Posts by `ibv_post_wq_recv`.
    fn post(&self, list: &[Receive]) {
        let mut bad = core::ptr::null_mut();
        // SAFETY: the queue is alive, the list lives until the call returns, the memory outlives the queue.
        post::receive(list, |first| unsafe {
            (*self.raw).post_recv.expect("libmlx5 posts")(self.raw, first, &raw mut bad)
        });
    }

    /// The next completion, which both libraries read alike.
    fn completion(&mut self) -> (Completion, WrId, [u8; 64]) {
        let (mut cqe, wc) = wait("their completion", || self.cq.poll()).expect("a CQE");
        let completion = completions::agree(&mut cqe, &wc).expect("one CQE, one reading");
        (completion, WrId(wc.wr_id), *cqe.bytes.first_chunk().expect("64 bytes"))
    }
}

fn parts(wq: &Wq) -> sys::mlx5dv_rwq {
    // SAFETY: numbers and pointers, for which zero is a value; the queue is alive.
    unsafe {
        let mut parts = sys::mlx5dv_rwq::ZERO;
        let rwq = sys::mlx5dv_pair { r#in: wq.as_raw(), out: &raw mut parts };
        let mut obj = sys::mlx5dv_obj { rwq, ..sys::mlx5dv_obj::ZERO };
        assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_RWQ), 0);
        parts
    }
}

fn fill(parts: &sys::mlx5dv_rwq) {
    // SAFETY: the ring that libmlx5 allocated, before anything is posted.
    unsafe { parts.buf.cast::<u8>().write_bytes(FILL, (parts.wqe_cnt * parts.stride) as usize) };
}

/// The ring, and the record's two words.
fn state(parts: &sys::mlx5dv_rwq) -> (Vec<u8>, [u32; 2]) {
    // SAFETY: the ring and the record that libmlx5 allocated; the device reads them only.
    unsafe {
        let byte = |n| parts.buf.cast::<u8>().add(n).read_volatile();
        let ring = (0..(parts.wqe_cnt * parts.stride) as usize).map(byte).collect();
        (ring, [0, 1].map(|word| u32::from_be(parts.dbrec.add(word).read_volatile())))
    }
}

fn equal(theirs: &sys::mlx5dv_rwq, ours: &sys::mlx5dv_rwq, when: &str) {
    let (theirs, ours) = (state(theirs), state(ours));
    let differs = theirs.0.iter().zip(&ours.0).position(|(a, b)| a != b);
    assert_eq!((differs, theirs.1), (None, ours.1), "{when}: first ring byte that differs, record");
}

/// Frames of the station, which the fabric's memory makes long.
struct Sender {
    cq: OwnedCq,
    pair: QueuePair<RawPacket>,
}

impl Sender {
    fn new(fabric: &Fabric) -> Self {
        let cq = fabric.device.completion_queue(64).build().expect("a CQ");
        let builder = fabric.pd.queue_pair::<RawPacket>(&cq, &cq).sends(16).no_receives().inline(64);
        let mut pair = builder.build().expect("a raw packet queue pair");
        pair.activate(&fabric.device.port(1).expect("port 1")).expect("ready to send");
        Self { cq, pair }
    }

    /// Sends a frame, and returns its bytes.
    fn send(&mut self, fabric: &Fabric, len: usize) -> Vec<u8> {
        let mut headers = [NO_ETHER_TYPE; HEADERS];
        headers[..6].copy_from_slice(&station());
        let rest = fabric.buffer.sge_of(0..len - HEADERS);
        // SAFETY: the fabric's memory, which nothing writes there.
        unsafe { self.pair.sq.post_unchecked(&wqe::frame().inline_headers(&headers).gather([rest]).signaled(WrId(1))) }
            .expect("room");
        let cqe = wait("send", || self.cq.poll().map(|cqe| (cqe.check(), self.pair.sq.retire(&cqe)))).expect("sent");
        assert!(cqe.0.is_ok() && cqe.1.is_ok(), "{cqe:?}");
        [headers.to_vec(), fabric.buffer.to_vec(0..len - HEADERS)].concat()
    }
}

/// Rules that give every frame to both.
fn steer(fabric: &Fabric, queues: [&Wq; 2]) -> [FlowRule; 2] {
    queues.map(|wq| {
        let receiver = FrameReceiver::direct(&fabric.pd, wq).expect("a receiver");
        receiver.steer(&Flow::mac(station()).flow_tag(TAG)).expect("a rule")
    })
}

struct Random(TestRng);

impl Random {
    /// A number below `n`, which is not 0.
    fn below(&mut self, n: u32) -> u32 {
        use proptest::prelude::Rng;
        self.0.next_u32() % n
    }

    /// Entries in the second half of the fabric's memory, some of no bytes. The last one has room for any frame here.
    fn entries(&mut self, fabric: &Fabric, most: u32) -> Vec<Sge> {
        let entry = |at: u32, len: u32| fabric.buffer.sge_of((1 << 19) + at as usize..(1 << 19) + (at + len) as usize);
        let before = self.below(most);
        let mut entries: Vec<_> = (0..before)
            .map(|_| {
                let len = if self.below(4) == 0 { 0 } else { 1 + self.below(40) };
                entry(self.below(1 << 16), len)
            })
            .collect();
        entries.push(entry(self.below(1 << 16), 200));
        entries
    }
}

/// Twins of one geometry, over many turns of the ring.
fn cyclic(fabric: &Fabric, receives: u32, max_sge: u32, random: &mut Random) {
    let cq = || -> OwnedCq { fabric.device.completion_queue(256).build().expect("a CQ") };
    let (their_cq, mut our_cq) = (cq(), cq());
    let make = |cq: &OwnedCq| -> OwnedWq {
        fabric.pd.work_queue(cq).receives(receives).recv_sge(max_sge).build().expect("a work queue")
    };
    let (their_wq, mut our_wq) = (make(&their_cq), make(&our_cq));
    let (mut theirs, ours) = (Theirs::new(fabric, their_wq.handle(), &their_cq), parts(our_wq.handle()));
    assert_eq!((theirs.parts.wqe_cnt, theirs.parts.stride), (ours.wqe_cnt, ours.stride));
    fill(&theirs.parts);
    fill(&ours);
    let _rules = steer(fabric, [their_wq.handle(), our_wq.handle()]);
    let (mut sender, mut posted) = (Sender::new(fabric), 0);
    for round in 0..60_u64 {
        let count = random.below(receives - posted + 1);
        let list: Vec<Receive> =
            (0..count).map(|n| (round * 1000 + u64::from(n), random.entries(fabric, max_sge))).collect();
        if !list.is_empty() {
            theirs.post(&list);
            let mut batch = our_wq.batch();
            for (id, sges) in &list {
                // SAFETY: the fabric's memory, which outlives the queue.
                unsafe { batch.push_unchecked(WrId(*id), sges) }.expect("room");
            }
            batch.ring_doorbell();
            posted += count;
        }
        equal(&theirs.parts, &ours, "posted");
        for _ in 0..random.below(posted + 1).min(8) {
            let len = 60 + random.below(100) as usize;
            sender.send(fabric, len);
            let (completion, id, _) = theirs.completion();
            assert_eq!((completion.status, completion.byte_len), (0, Some(len as u32)));
            let ours = wait("our completion", || {
                let mut seen = None;
                our_cq.poll_with(1, |cqe| seen = Some((of_view(&cqe), our_wq.retire(&cqe))));
                seen
            })
            .expect("ours");
            assert_eq!(ours, (completion, Ok(id)));
            assert_eq!(completion.qp_num, TAG, "completions of frames have the flow tag there");
            posted -= 1;
        }
        equal(&theirs.parts, &ours, "completed");
    }
}

#[test]
fn cyclic_receives() {
    if !on_ethernet("work_queues::cyclic_receives") {
        return;
    }
    let fabric = Fabric::new();
    let mut random = Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    for (receives, max_sge) in [(1, 1), (4, 3), (16, 1), (13, 7)] {
        cyclic(&fabric, receives, max_sge, &mut random);
    }
}

/// libmlx5 writes the segment of a striding queue 16 bytes too early (`tests/striding/libmlx5.rs`). So the test moves
/// it, as callers of `mlx5dv_create_wq` write it. Segment, record and completions are libmlx5's.
fn striding(fabric: &Fabric, strides: Strides) {
    const WQES: u32 = 2;
    let cq = || -> OwnedCq { fabric.device.completion_queue(WQES * strides.count()).build().expect("a CQ") };
    let (their_cq, mut our_cq) = (cq(), cq());
    let memory = || {
        let (pages, _) = Pages::map((WQES * strides.wqe_bytes()) as usize).expect("memory");
        fabric.pd.register(pages, Access::LOCAL_WRITE).expect("registered")
    };
    let (their_memory, our_memory) = (memory(), memory());
    let at = [&their_memory, &our_memory].map(|memory| (memory.as_ptr(), memory.addr(), memory.lkey()));
    let make = |cq: &OwnedCq, memory: blueflame::verbs::Buffer| {
        let memory = memory.strided(strides).expect("long enough");
        fabric.pd.work_queue(cq).receives(WQES).striding(memory).build().expect("a striding queue")
    };
    let (their_wq, mut our_wq) = (make(&their_cq, their_memory), make(&our_cq, our_memory));
    let state = |to| {
        let mut attr = sys::ibv_wq_attr::ZERO;
        (attr.attr_mask, attr.wq_state) = (sys::IBV_WQ_ATTR_STATE, to);
        // SAFETY: alive; the crate's queue over it is not used any more.
        assert_eq!(unsafe { sys::ibv_modify_wq(their_wq.handle().as_raw(), &raw mut attr) }, 0);
    };
    let mut theirs = Theirs::new(fabric, their_wq.handle(), &their_cq);
    // The buffers that this crate has posted come back.
    state(sys::IBV_WQS_ERR);
    for _ in 0..WQES {
        assert_eq!(theirs.completion().0.status, sys::IBV_WC_WR_FLUSH_ERR);
    }
    state(sys::IBV_WQS_RESET);
    fill(&theirs.parts);
    state(sys::IBV_WQS_RDY);
    let segment =
        |n: u32| Sge { addr: at[0].1 + u64::from(n * strides.wqe_bytes()), length: strides.wqe_bytes(), lkey: at[0].2 };
    let list: Vec<Receive> = (0..WQES).map(|n| (n.into(), vec![segment(n)])).collect();
    theirs.post(&list);
    for n in 0..WQES {
        // SAFETY: a WQE of 32 bytes, which the device does not read before a frame comes: there is no rule yet.
        unsafe {
            let wqe = theirs.parts.buf.cast::<[u8; 16]>().add(2 * n as usize);
            wqe.add(1).write(wqe.read());
            wqe.write([0; 16]);
        }
    }
    let ours = parts(our_wq.handle());
    // All bytes are equal except the memory's address and key.
    let named = |(ring, record): (Vec<u8>, [u32; 2]), (_, addr, lkey): (_, u64, blueflame::types::Lkey)| {
        let wqes = ring.chunks(32).map(|wqe| {
            let key = u32::from_be_bytes(*wqe[20..].first_chunk().expect("4 bytes"));
            let place = u64::from_be_bytes(*wqe[24..].first_chunk().expect("8 bytes"));
            (wqe[..20].to_vec(), key == lkey.0, place - addr)
        });
        (wqes.collect::<Vec<_>>(), record)
    };
    assert_eq!(named(self::state(&theirs.parts), at[0]), named(self::state(&ours), at[1]));

    let _rules = steer(fabric, [their_wq.handle(), our_wq.handle()]);
    let (mut sender, mut random) = (Sender::new(fabric), Random(TestRng::deterministic_rng(RngAlgorithm::ChaCha)));
    let (mut frames, mut fillers) = (0, 0);
    // The second WQE is begun, and not ended: this crate would post the buffer of the first one again.
    while fillers == 0 || frames < 30 {
        let bytes = sender.send(fabric, 60 + random.below(1400) as usize);
        loop {
            let (completion, _, cqe) = theirs.completion();
            let (reading, place, frame) = wait("our completion", || {
                let mut seen = None;
                our_cq.poll_with(1, |cqe| {
                    let place = (cqe.wqe_id(), cqe.wqe_counter());
                    let frame = our_wq.receive(&cqe).expect("the next strides");
                    let read = frame.map(|frame| {
                        let mut read = vec![0; frame.len()];
                        frame.read(0, &mut read);
                        (read, frame.as_ptr().addr().get() - at[1].0.addr().get())
                    });
                    seen = Some((of_view(&cqe), place, read));
                });
                seen
            })
            .expect("ours");
            // libmlx5 takes the whole word, strides included, for the length.
            assert_eq!(reading, completion);
            let [id, counter] = [2, 60].map(|at| u16::from_be_bytes([cqe[at], cqe[at + 1]]));
            assert_eq!((id, counter), place, "WQE and stride");
            let Some((read, offset)) = frame else {
                fillers += 1;
                continue;
            };
            assert_eq!(completion.byte_len.expect("a receive") & 0xffff, bytes.len() as u32);
            assert!(read == bytes);
            // SAFETY: the same place of their memory, which is registered; the device has completed the frame.
            let their_bytes = unsafe { core::slice::from_raw_parts(at[0].0.add(offset).as_ptr(), bytes.len()) };
            assert!(their_bytes == bytes, "the frame lies at the same place");
            frames += 1;
            break;
        }
    }
}

#[test]
fn striding_receives() {
    if !on_ethernet("work_queues::striding_receives") {
        return;
    }
    let fabric = Fabric::new();
    for shifted in [false, true] {
        striding(&fabric, Strides::new(9, 6).expect("on every device").two_byte_shift(shifted));
    }
}
