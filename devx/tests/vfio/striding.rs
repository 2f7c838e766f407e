//! Frames to striding receive queues, with whole and with compressed completions of every format and layout.
//!
//! Striding queues by VFIO belong here, cyclic ones in `frames.rs`, those made by verbs in `tests/striding` of
//! `blueflame`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueflame::WrId;
use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::{
    BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat, Strided,
};
use blueflame::cq::mode::PollMode;
use blueflame::flow::Flow;
use blueflame::queue::Owned;
use blueflame::queue::striding::{Frame, Strides};
use blueflame::verbs::{Access, Pool};
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::object::{Cq, Destination, FlowRule, Tir};

use crate::frames::{EXPERIMENT, Lab};
use crate::function;

const BURST: usize = 16;
const ROOM: usize = 2048;
const TAG: u32 = 0xab_cdef;

/// The bytes of frame `number`.
fn bytes(number: usize, len: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 0x88, 0xb5];
    bytes.extend((bytes.len()..len).map(|at| (number * 31 + at * 7) as u8));
    bytes
}

fn checked(frame: &Frame, number: usize, len: usize) {
    let mut read = vec![0; frame.len()];
    frame.read(0, &mut read);
    assert_eq!((read == bytes(number, len), frame.flow_tag()), (true, TAG), "frame {number} of {len} bytes");
}

/// Bursts of frames: some of all lengths, some all short. All of a burst are kept until the burst after the next one.
fn exchange<M: PollMode>(lab: &mut Lab, mut cq: Owned<CompletionQueue<M>, Cq>, strides: Strides) {
    let memory = Pool::new(&lab.verbs_pd, 48 * strides.wqe_bytes() as usize, Access::LOCAL_WRITE).expect("memory");
    let memory = { memory }.take(48 * strides.wqe_bytes() as usize).expect("all of it").strided(strides).expect("long");
    let mut rq = lab.pd.striding_recv_queue(&lab.rings, &cq, 4, memory).expect("a striding queue");
    let context = rq.handle().query().expect("QUERY_RQ");
    assert_eq!((context.wq().wq_type().0, context.wq().two_byte_shift_en()), (3, strides.is_shifted()));
    let tir = Arc::new(Tir::direct(&lab.domain, rq.handle()).expect("CREATE_TIR"));
    let flow = Flow::any().ether_type(EXPERIMENT).flow_tag(TAG);
    let rule = FlowRule::of_flow(&lab.group, 0, &flow, &[Destination::Tir(&tir)], None).expect("a rule");
    let mut pool = Pool::new(&lab.verbs_pd, BURST * ROOM, Access::LOCAL_READ).expect("memory");
    let mut source = pool.take(BURST * ROOM).expect("all of it");
    let mut kept: Vec<(Frame, usize, usize)> = Vec::new();
    let (mut number, mut empty) = (0, 0);
    for round in 0..60_usize {
        let mut batch = lab.sq.batch();
        let lens: [usize; BURST] = std::array::from_fn(|n| match round % 2 {
            0 => 60 + (round * 977 + n * n * 131) % 1500,
            _ => 60,
        });
        for (n, len) in lens.into_iter().enumerate() {
            let bytes = bytes(number + n, len);
            let (headers, rest) = bytes.split_first_chunk::<18>().expect("so many");
            source.write(n * ROOM, rest);
            let frame = wqe::frame().inline_headers(headers).gather([source.sge_of(n * ROOM..n * ROOM + rest.len())]);
            // SAFETY: the memory is written again when the frames have left.
            unsafe { batch.push_unchecked(&frame.signaled(WrId(1))) }.expect("room");
        }
        batch.ring_doorbell();
        let (begin, mut sent, mut received) = (Instant::now(), 0, 0);
        while sent < BURST || received < BURST {
            sent += lab.sends.poll_with(BURST, |cqe| lab.sq.retire(&cqe).map(drop).expect("outstanding"));
            cq.poll_with(5, |cqe| {
                cqe.check().expect("a success");
                let Some(frame) = rq.receive(&cqe).expect("the next strides") else { return empty += 1 };
                let (frame, len) = (frame.keep(), lens[received]);
                checked(&frame, number + received, len);
                kept.push((frame, number + received, len));
                received += 1;
            });
            rq.refill();
            assert!(begin.elapsed() < Duration::from_secs(20), "{strides:?}: {received} frames of {BURST}");
        }
        number += BURST;
        kept.iter().for_each(|(frame, number, len)| checked(frame, *number, *len));
        kept.drain(..kept.len().saturating_sub(BURST));
    }
    assert!(empty > 0, "{strides:?}: no filler");
    drop((rule, tir));
}

fn compressed<F: MiniFormat, const ENHANCED: bool>(lab: &mut Lab, strides: Strides) {
    let cqes = 4 * strides.count() + 1 + 64;
    let cq =
        lab.rings.completion_queue(&lab.page, cqes).compressed::<F, ENHANCED>().build().expect("a completion queue");
    exchange(lab, cq, strides);
}

#[test]
fn frames_lie_in_strides_of_devx_queues() {
    let function = &function();
    let context = function.context();
    let general = context.general().expect("capabilities");
    if !general.eth_net_offloads() || !general.ext_stride_num_range() {
        return;
    }
    let mut lab = Lab::new(context);
    for (log_count, log_bytes) in [(8, 6), (4, 10), (9, 7)] {
        let strides = Strides::new(log_count, log_bytes).expect("possible");
        for strides in [strides, strides.two_byte_shift(true)] {
            let cq =
                lab.rings.completion_queue(&lab.page, 4 * strides.count() + 1).build().expect("a completion queue");
            exchange(&mut lab, cq, strides);
        }
    }
    let strides = Strides::new(8, 6).expect("possible");
    compressed::<Headers, BASIC>(&mut lab, strides);
    compressed::<Headers, ENHANCED>(&mut lab, strides);
    compressed::<Strided<FlowTag>, BASIC>(&mut lab, strides);
    compressed::<Strided<FlowTag>, ENHANCED>(&mut lab, strides);
    compressed::<ChecksumStride, BASIC>(&mut lab, strides);
    compressed::<ChecksumStride, ENHANCED>(&mut lab, strides);
    compressed::<Strided<Hash>, BASIC>(&mut lab, strides);
    compressed::<Strided<Hash>, ENHANCED>(&mut lab, strides);
    compressed::<Strided<Checksum>, BASIC>(&mut lab, strides);
    compressed::<Strided<Checksum>, ENHANCED>(&mut lab, strides);

    let cq = lab.rings.completion_queue(&lab.page, 4096).compressed::<FlowTag, BASIC>().build().expect("a queue");
    let mut pool = Pool::new(&lab.verbs_pd, 1 << 16, Access::LOCAL_WRITE).expect("memory");
    let memory = pool.take(1 << 16).expect("all of it").strided(strides).expect("long enough");
    let refused = lab.pd.striding_recv_queue(&lab.rings, &cq, 4, memory).expect_err("strides are not told");
    assert_eq!(refused, Error::NoStrides { cqn: cq.handle().cqn() });
}
