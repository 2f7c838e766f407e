//! TCP segments that the device merges into frames, on cyclic and striding queues, and the headers that software makes
//! of their completions.
//!
//! Merged frames belong here, other frames in `frames.rs` and `striding.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blueflame::WrId;
use blueflame::cq::cqe::{L4Header, Merged};
use blueflame::flow::Flow;
use blueflame::queue::striding::Strides;
use blueflame::verbs::{Access, Pool};
use blueflame::wqe;
use blueflame_devx::object::{Destination, FlowRule, Merging, Tir};

use crate::frames::Lab;
use crate::function;

/// Bytes of data of a segment, of which DPDK has the device's least in its log (`lro_min_mss_size`).
const DATA: usize = 1400;
/// Bytes of the headers.
const HEADERS: usize = 54;
/// Bytes between two frames in the memory that is sent.
const ROOM: usize = 2048;

/// The sum of words (RFC 1071), complemented.
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let sum: u32 = parts.concat().chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    (!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes()
}

/// The Ethernet, IPv4 and TCP headers of `bytes` bytes of data. The checksum of TCP also covers `data`.
fn headers(ttl: u8, sequence: u32, ack: u32, flags: u8, window: u16, data: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x45, 0];
    ip.extend(((40 + data.len()) as u16).to_be_bytes());
    ip.extend([0, 0, 0x40, 0, ttl, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = checksum(&[&ip]);
    ip[10..12].copy_from_slice(&sum);
    let mut tcp = vec![0x9c, 0x40, 0, 80];
    tcp.extend(sequence.to_be_bytes());
    tcp.extend(ack.to_be_bytes());
    tcp.extend([0x50, flags]);
    tcp.extend(window.to_be_bytes());
    tcp.extend([0; 4]);
    let length = ((20 + data.len()) as u16).to_be_bytes();
    let sum = checksum(&[&ip[12..], &[0, 6], &length, &tcp, data]);
    tcp[16..18].copy_from_slice(&sum);
    [&[2, 0, 0x5e, 0, 0x53, 1, 2, 0, 0x5e, 0, 0x53, 9, 8, 0][..], &ip, &tcp].concat()
}

/// The sum of words (RFC 1071).
fn sum(bytes: &[u8]) -> u16 {
    let [high, low] = checksum(&[bytes]);
    !u16::from_be_bytes([high, low])
}

/// Four segments, of which the third has another time to live, and the last has PSH; and what becomes of them.
fn stream() -> (Vec<Vec<u8>>, Vec<u8>, Merged) {
    let data: Vec<u8> = (0..4 * DATA).map(|at| (at * at / 7) as u8).collect();
    let segments = data.chunks(DATA).zip(0..).map(|(piece, n)| {
        let (ttl, flags) = (if n == 2 { 61 } else { 64 }, if n == 3 { 0x18 } else { 0x10 });
        let sequence = 0xffff_f000_u32.wrapping_add(n * DATA as u32);
        [headers(ttl, sequence, 0x0102_0304 + n, flags, 0x4000 + n as u16, piece), piece.to_vec()].concat()
    });
    let segments: Vec<Vec<u8>> = segments.collect();
    let whole = [&segments[0][..HEADERS], &data].concat();
    (segments, whole, Merged { segments: 4, push: true, min_ttl: 61, window: 0x4003, ack: 0x0102_0307 })
}

fn merging_tir(lab: &Lab, rq: &blueflame_devx::object::Rq) -> (Arc<Tir>, FlowRule) {
    let tir = Tir::direct(&lab.domain, rq).expect("CREATE_TIR");
    let merging = Merging { ipv4: true, ipv6: false, micros: 1024, max_bytes: Merging::MAX_BYTES };
    tir.set_merging(Some(merging)).expect("MODIFY_TIR");
    let tir = Arc::new(tir);
    let flow = Flow::any().ether_type(0x0800);
    let rule = FlowRule::of_flow(&lab.group, 0, &flow, &[Destination::Tir(&tir)], None).expect("a rule");
    (tir, rule)
}

/// Sends frames in one batch, and waits until they have left.
fn send(lab: &mut Lab, frames: &[Vec<u8>]) {
    let mut pool = Pool::new(&lab.verbs_pd, frames.len() * ROOM, Access::LOCAL_READ).expect("memory");
    let mut source = pool.take(frames.len() * ROOM).expect("all of it");
    let mut batch = lab.sq.batch();
    for (n, frame) in frames.iter().enumerate() {
        let (headers, rest) = frame.split_first_chunk::<18>().expect("so many");
        source.write(n * ROOM, rest);
        let frame = wqe::frame().inline_headers(headers).gather([source.sge_of(n * ROOM..n * ROOM + rest.len())]);
        // SAFETY: the memory outlives the wait below.
        unsafe { batch.push_unchecked(&frame.signaled(WrId(1))) }.expect("room");
    }
    batch.ring_doorbell();
    let (begin, mut sent) = (Instant::now(), 0);
    while sent < frames.len() {
        sent += lab.sends.poll_with(4, |cqe| lab.sq.retire(&cqe).map(drop).expect("outstanding"));
        assert!(begin.elapsed() < Duration::from_secs(20), "{sent} frames of {}", frames.len());
    }
}

#[test]
fn segments_become_frames() {
    let function = &function();
    let context = function.context();
    if !context.general().expect("capabilities").eth_net_offloads() {
        return;
    }
    let mut lab = Lab::new(context);
    let (segments, whole, expected) = stream();

    // One receive, which is long enough for all.
    let mut cq = lab.rings.completion_queue(&lab.page, 64).build().expect("a completion queue");
    let mut rq = lab.pd.recv_queue(&lab.rings, &cq, 16, 1).expect("a receive queue");
    let mut pool = Pool::new(&lab.verbs_pd, 2 << 13, Access::LOCAL_WRITE).expect("memory");
    let buffers = [(); 2].map(|()| pool.take(1 << 13).expect("half of it"));
    for (buffer, id) in buffers.iter().zip(1..) {
        // SAFETY: the buffer lives as long as the queue, and is read when its receive is complete.
        unsafe { rq.post_unchecked(WrId(id), &[buffer.sge()]) }.expect("room");
    }
    let kept = merging_tir(&lab, rq.handle());
    // The last one is alone: nothing was merged.
    let alone = segments[3].clone();
    let frames: Vec<_> = segments.iter().chain([&alone]).cloned().collect();
    send(&mut lab, &frames);
    let (begin, mut seen) = (Instant::now(), Vec::new());
    while seen.len() < 2 {
        cq.poll_with(2, |cqe| {
            let id = rq.retire(&cqe).expect("outstanding");
            let verdicts = (cqe.l3_ok(), cqe.l4_ok(), cqe.l4_header());
            seen.push((id, cqe.byte_len(), cqe.merged(), cqe.packet_sum(), verdicts));
        });
        assert!(begin.elapsed() < Duration::from_secs(20), "{seen:?}");
    }
    let verdicts = (true, true, L4Header::TcpAckAndData);
    let lens = [whole.len() as u32, alone.len() as u32];
    let sums = [&whole, &alone].map(|frame| sum(&frame[HEADERS..]));
    let found = [(WrId(1), lens[0], Some(expected), sums[0], verdicts), (WrId(2), lens[1], None, sums[1], verdicts)];
    assert_eq!(seen, found);
    for (buffer, frame) in buffers.iter().zip([&whole, &alone]) {
        let mut read = vec![0; frame.len()];
        buffer.read(0, &mut read);
        assert!(read == *frame, "the bytes of a frame of {}", frame.len());
    }
    drop((kept, rq, cq));

    // Strides that follow each other.
    let strides = Strides::new(8, 7).expect("possible");
    let mut cq = lab.rings.completion_queue(&lab.page, 4 * strides.count() + 1).build().expect("a completion queue");
    let bytes = 4 * strides.wqe_bytes() as usize;
    let mut pool = Pool::new(&lab.verbs_pd, bytes, Access::LOCAL_WRITE).expect("memory");
    let memory = pool.take(bytes).expect("all of it").strided(strides).expect("long enough");
    let mut rq = lab.pd.striding_recv_queue(&lab.rings, &cq, 2, memory).expect("a striding queue");
    let kept = merging_tir(&lab, rq.handle());
    let mut merges = 0;
    for round in 0..12 {
        send(&mut lab, &segments);
        let (begin, mut found) = (Instant::now(), 0);
        while found < expected.segments {
            cq.poll_with(2, |cqe| {
                cqe.check().expect("a success");
                let merged = cqe.merged();
                merges += u32::from(merged.is_some());
                let Some(frame) = rq.receive(&cqe).expect("the next strides") else { return };
                let mut read = vec![0; frame.len()];
                frame.read(0, &mut read);
                let first = found as usize;
                found += merged.map_or(1, |merged| merged.segments);
                let data = segments[first..found.into()].iter().flat_map(|segment| segment[HEADERS..].to_vec());
                let expected = [&segments[first][..HEADERS], &data.collect::<Vec<u8>>()].concat();
                assert!(read == expected, "round {round}: {merged:?}");
            });
            rq.refill();
            assert!(begin.elapsed() < Duration::from_secs(20), "{found} segments in round {round}");
        }
        assert_eq!(found, expected.segments);
    }
    assert!(merges > 0, "nothing was merged");
    drop(kept);
}
