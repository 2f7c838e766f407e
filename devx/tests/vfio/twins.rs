//! Equal frames go to a queue that verbs made, on the process' own device, and to one that DevX made, on the function.
//! One wire joins both. The code that polls does not know the maker.
//!
//! Comparisons of both makers' receivers belong here. Queues of DevX alone belong in the other files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::{BASIC, ChecksumStride};
use blueflame::cq::mode::PollMode;
use blueflame::flow::{Flow, Rss};
use blueflame::queue::RecvQueue;
use blueflame::queue::striding::{StridedMemory, Strides, StridingRecvQueue};
use blueflame::verbs::ethernet::{FrameReceiver, WqTable};
use blueflame::verbs::{self, Access, Buffer, Device, Pool, ProtectionDomain};
use blueflame::{WrId, wqe};
use blueflame_devx::object::{Destination, FlowRule, Rqt, Tir};

use crate::frames::{EXPERIMENT, Lab};
use crate::function;

const ETHERTYPE_IPV4: u16 = 0x0800;
const UDP: u8 = 17;
const TAG: u32 = 0x12_3456;

/// A frame as a completion and the memory tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    /// WQE, and stride.
    place: (u16, u16),
    tag: u32,
    hash: Option<(u32, u8)>,
    verdicts: blueflame::cq::cqe::Verdicts,
    bytes: Vec<u8>,
}

impl Lab {
    /// Sends a frame of 60 bytes or more.
    fn send(&mut self, frame: &[u8]) {
        let (headers, rest) = frame.split_first_chunk::<18>().expect("so many");
        self.sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(1))).expect("room");
        let begin = Instant::now();
        while self.sends.poll_with(1, |cqe| self.sq.retire(&cqe).map(drop).expect("outstanding")) == 0 {
            assert!(begin.elapsed() < Duration::from_secs(20), "not sent");
        }
    }
}

/// Waits until the process' own device is on the wire: it joins a while after it was opened, and loses frames before.
fn joined(lab: &mut Lab, device: &Device, pd: &ProtectionDomain) {
    const OTHER_EXPERIMENT: u16 = 0x88b6;
    let mut cq = device.completion_queue(64).build().expect("a CQ");
    let mut wq = pd.work_queue(&cq).receives(16).build().expect("a work queue");
    let buffer = pool(pd, 64);
    // SAFETY: the memory goes after the queue, which is dropped first at the end of this function.
    (0..16).for_each(|n| unsafe { wq.post_unchecked(WrId(n), &[buffer.sge()]) }.expect("room"));
    let receiver = FrameReceiver::direct(pd, wq.handle()).expect("a receiver");
    let rule = receiver.steer(&Flow::any().ether_type(OTHER_EXPERIMENT)).expect("a rule");
    let mut probe = frame(0, 60);
    probe[12..14].copy_from_slice(&OTHER_EXPERIMENT.to_be_bytes());
    let begin = Instant::now();
    while cq.poll_with(1, |cqe| wq.retire(&cqe).map(drop).expect("outstanding")) == 0 {
        lab.send(&probe);
        std::thread::sleep(Duration::from_millis(1));
        assert!(begin.elapsed() < Duration::from_secs(20), "not on the wire");
    }
    drop((rule, receiver, wq));
}

fn pool(pd: &ProtectionDomain, bytes: usize) -> Buffer {
    { Pool::new(pd, bytes, Access::LOCAL_WRITE).expect("memory") }.take(bytes).expect("all of it")
}

/// Takes completions until there are `count` frames.
fn striding<M: PollMode>(cq: &mut CompletionQueue<M>, rq: &mut StridingRecvQueue, count: usize) -> Vec<Seen> {
    let (mut seen, begin) = (Vec::new(), Instant::now());
    while seen.len() < count {
        cq.poll_with(4, |cqe| {
            cqe.check().expect("a success");
            let Some(frame) = rq.receive(&cqe).expect("the next strides") else { return };
            let mut bytes = vec![0; frame.len()];
            frame.read(0, &mut bytes);
            let place = (cqe.wqe_id(), cqe.wqe_counter());
            // Compressed completions lack the hash, and the device of each maker compresses on its own.
            seen.push(Seen { place, tag: frame.flow_tag(), hash: None, verdicts: frame.verdicts(), bytes });
        });
        rq.refill();
        assert!(begin.elapsed() < Duration::from_secs(20), "{} frames of {count}", seen.len());
    }
    seen
}

/// A frame of the experiment, `len` bytes long.
fn frame(number: usize, len: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 0x88, 0xb5];
    bytes.extend((bytes.len()..len).map(|at| (number * 31 + at * 7) as u8));
    bytes
}

#[test]
fn frames_in_strides_are_the_same_by_either_maker() {
    const WQES: u32 = 4;
    let function = &function();
    let context = function.context();
    let device = Device::open_first().expect("the process' own device");
    if !context.general().expect("capabilities").eth_net_offloads() || device.attr().striding.is_none() {
        return;
    }
    let mut lab = Lab::new(context);
    let pd = device.protection_domain().expect("a PD");
    joined(&mut lab, &device, &pd);
    for (strides, compressed) in [(9, 6), (9, 7)].into_iter().flat_map(|(count, bytes)| {
        let strides = Strides::new(count, bytes).expect("possible");
        [(strides, false), (strides.two_byte_shift(true), false), (strides, true)]
    }) {
        let memory = |pd: &ProtectionDomain| -> StridedMemory {
            pool(pd, 6 * strides.wqe_bytes() as usize).strided(strides).expect("long enough")
        };
        let cqes = WQES * strides.count() + 65;
        macro_rules! twins {
            ($by_verbs:expr, $by_devx:expr) => {{
                let (mut verbs_cq, mut devx_cq) = ($by_verbs.build().expect("a CQ"), $by_devx.build().expect("a CQ"));
                let builder = pd.work_queue(&verbs_cq).receives(WQES).striding(memory(&pd));
                let mut by_verbs = builder.build().expect("by verbs");
                let mut by_devx =
                    (lab.pd.striding_recv_queue(&lab.rings, &devx_cq, WQES, memory(&lab.verbs_pd))).expect("by DevX");
                let receiver = FrameReceiver::direct(&pd, by_verbs.handle()).expect("a receiver");
                let flow = Flow::any().ether_type(EXPERIMENT).flow_tag(TAG);
                let verbs_rule = receiver.steer(&flow).expect("a rule");
                let tir = Arc::new(Tir::direct(&lab.domain, by_devx.handle()).expect("CREATE_TIR"));
                let to = [Destination::Tir(&tir)];
                let devx_rule = FlowRule::of_flow(&lab.group, 0, &flow, &to, None).expect("a rule");
                // Past the end of every WQE, more than once.
                let frames = 6 * WQES as usize * strides.wqe_bytes() as usize / 40_000;
                for number in 0..frames.clamp(40, 200) {
                    let bytes = frame(number, 60 + number * 977 % 140);
                    lab.send(&bytes);
                    let verbs = striding(&mut verbs_cq, &mut by_verbs, 1);
                    let devx = striding(&mut devx_cq, &mut by_devx, 1);
                    assert_eq!(verbs, devx, "frame {number}");
                    assert_eq!((&verbs[0].bytes, verbs[0].tag), (&bytes, TAG));
                }
                drop((verbs_rule, devx_rule));
            }};
        }
        let own = || device.completion_queue(cqes);
        let made = || lab.rings.completion_queue(&lab.page, cqes);
        if compressed {
            twins!(own().compressed::<ChecksumStride>(), made().compressed::<ChecksumStride, BASIC>());
        } else {
            twins!(own(), made());
        }
    }
}

/// A UDP datagram in IPv4, without checksums.
fn datagram(from: ([u8; 4], u16), to: ([u8; 4], u16)) -> Vec<u8> {
    let mut frame = vec![2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 8, 0];
    frame.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, UDP, 0, 0]);
    frame.extend([from.0, to.0].concat());
    frame.extend([from.1, to.1, 26, 0].map(u16::to_be_bytes).concat());
    frame.resize(60, 0);
    frame
}

/// Toeplitz' hash bit by bit (Microsoft, "RSS hashing functions").
fn toeplitz(key: &[u8; 40], input: &[u8]) -> u32 {
    let bit = |bytes: &[u8], at: usize| u32::from(bytes[at / 8] >> (7 - at % 8) & 1);
    let window = |at: usize| (at..at + 32).fold(0, |bits, at| bits << 1 | bit(key, at));
    (0..input.len() * 8).filter(|&at| bit(input, at) == 1).fold(0, |hash, at| hash ^ window(at))
}

/// Queues of one maker.
struct Queues<C, Q> {
    queues: Vec<(C, Q)>,
    buffer: Buffer,
}

const QUEUES: usize = 4;
const RECEIVES: usize = 16;

impl<C, Q> Queues<C, Q>
where
    C: std::ops::DerefMut<Target = CompletionQueue>,
    Q: std::ops::DerefMut<Target = RecvQueue>,
{
    fn new(pd: &ProtectionDomain, mut make: impl FnMut() -> (C, Q)) -> Self {
        let mut this = Self { queues: (0..QUEUES).map(|_| make()).collect(), buffer: pool(pd, QUEUES * RECEIVES * 64) };
        (0..QUEUES).for_each(|queue| (0..RECEIVES).for_each(|n| this.post(queue, WrId(n as u64))));
        this
    }

    fn post(&mut self, queue: usize, id: WrId) {
        let at = (queue * RECEIVES + id.0 as usize) * 64;
        // SAFETY: a piece for each receive, of memory that goes after the queues.
        unsafe { self.queues[queue].1.post_unchecked(id, &[self.buffer.sge_of(at..at + 64)]) }.expect("room");
    }

    /// The next frame: which queue got it, and its hash.
    fn next(&mut self) -> (usize, Option<(u32, u8)>) {
        let begin = Instant::now();
        loop {
            for queue in 0..QUEUES {
                let (cq, rq) = &mut self.queues[queue];
                let mut found = None;
                cq.poll_with(1, |cqe| {
                    cqe.check().expect("a success");
                    let hash = cqe.rx_hash().map(|hash| (hash.value, hash.kind));
                    found = Some((rq.retire(&cqe).expect("outstanding"), hash));
                });
                if let Some((id, hash)) = found {
                    self.post(queue, id);
                    return (queue, hash);
                }
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "no frame");
        }
    }
}

#[test]
fn frames_are_spread_alike_by_either_maker() {
    let function = &function();
    let context = function.context();
    if !context.general().expect("capabilities").eth_net_offloads() {
        return;
    }
    let device = Device::open_first().expect("the process' own device");
    let mut lab = Lab::new(context);
    let pd = device.protection_domain().expect("a PD");
    joined(&mut lab, &device, &pd);
    let mut by_verbs = Queues::new(&pd, || {
        let cq = device.completion_queue(64).build().expect("a CQ");
        let wq = pd.work_queue(&cq).receives(RECEIVES as u32).build().expect("a work queue");
        (cq, wq)
    });
    let mut by_devx = Queues::new(&lab.verbs_pd, || {
        let cq = lab.rings.completion_queue(&lab.page, 64).build().expect("a CQ");
        let rq = lab.pd.recv_queue(&lab.rings, &cq, RECEIVES as u32, 1).expect("a receive queue");
        (cq, rq)
    });
    let handles: Vec<_> = by_verbs.queues.iter().map(|(_, wq)| wq.handle().clone()).collect();
    let wq_table = WqTable::new(&handles).expect("a table");
    let handles: Vec<_> = by_devx.queues.iter().map(|(_, rq)| rq.handle().clone()).collect();
    let rqt = Rqt::new(&handles).expect("CREATE_RQT");
    let flow = Flow::any().ether_type(ETHERTYPE_IPV4);
    let rss = Rss::udp(std::array::from_fn(|at| (at as u8).wrapping_mul(151) ^ 0x3c));

    let receiver = FrameReceiver::spread(&pd, &wq_table, &rss).expect("a receiver");
    let verbs_rule = receiver.steer(&flow).expect("a rule");
    let tir = Arc::new(Tir::spread(&lab.domain, &rqt, &rss).expect("CREATE_TIR"));
    let devx_rule = FlowRule::of_flow(&lab.group, 1, &flow, &[Destination::Tir(&tir)], None).expect("a rule");
    let ends = |n: u8| (([10, 1, n, 7], 1000 + u16::from(n)), ([192, 168, 9, n.wrapping_mul(7)], 5000));
    let mut shares = [0; QUEUES];
    for (from, to) in (0..32).map(ends) {
        for (from, to) in [(from, to), (to, from)] {
            lab.send(&datagram(from, to));
            let input = [&from.0[..], &to.0, &from.1.to_be_bytes(), &to.1.to_be_bytes()].concat();
            let hash = toeplitz(&rss.key, &input);
            let expected = (hash as usize % QUEUES, Some((hash, 0x84)));
            assert_eq!((by_verbs.next(), by_devx.next()), (expected, expected));
            shares[expected.0] += 1;
        }
    }
    assert!(shares.iter().all(|&share| share > 4), "{shares:?}");

    // By DevX alone: both directions to one queue.
    drop(verbs_rule);
    let symmetric = Rss { symmetric: true, ..rss };
    let refused = FrameReceiver::spread(&pd, &wq_table, &symmetric).expect_err("not by verbs");
    assert_eq!(refused, verbs::Error::Unsupported { what: "symmetric hashes by verbs" });
    tir.set_hash(&symmetric).expect("MODIFY_TIR");
    let mut shares = [0; QUEUES];
    for (from, to) in (0..32).map(ends) {
        let pairs = from.0.iter().zip(&to.0);
        let or: Vec<u8> = pairs.clone().map(|(a, b)| a | b).collect();
        let xor: Vec<u8> = pairs.map(|(a, b)| a ^ b).collect();
        let ports = [from.1 | to.1, from.1 ^ to.1].map(u16::to_be_bytes).concat();
        let hash = toeplitz(&symmetric.key, &[or, xor, ports].concat());
        for (from, to) in [(from, to), (to, from)] {
            lab.send(&datagram(from, to));
            assert_eq!(by_devx.next(), (hash as usize % QUEUES, Some((hash, 0x84))), "{from:?} {to:?}");
        }
        shares[hash as usize % QUEUES] += 1;
    }
    assert!(shares.iter().all(|&share| share > 0), "{shares:?}");
    drop(devx_rule);
}
