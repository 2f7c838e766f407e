//! Striding receive queues: WQEs that each take several frames. Places of the frames, fields of the CQEs, the end of a
//! WQE, faults, and the limits of queues belong here. Compressed CQEs belong in `strided_sessions`.

use crate::frame::{frame, mac};
use crate::mailbox::Mail;
use crate::node::{Cq, ERR, Node, Queue, RDY, RQ_WQES, op, run};
use softhca::config::{DeviceConfig, Generation, PortConfig};
use softhca::wire::in_process::Fabric;

/// A receive queue, and its strides.
pub(crate) struct Striding {
    pub(crate) queue: Queue,
    pub(crate) strides: u32,
    pub(crate) stride: u32,
    pub(crate) shift: u32,
}

impl Striding {
    /// Bytes of a WQE's buffer.
    fn bytes(&self) -> u32 {
        self.strides * self.stride
    }

    /// Strides of a frame.
    pub(crate) fn needed(&self, len: usize) -> u32 {
        (len as u32 + self.shift).div_ceil(self.stride)
    }

    /// The address of a stride of the WQE with this number.
    fn at(&self, wqe: u16, stride: u32) -> u64 {
        self.queue.buffers + u64::from(wqe % RQ_WQES) * u64::from(self.bytes()) + u64::from(stride * self.stride)
    }
}

/// The command for a queue of 2^`log_count` strides of 2^`log_bytes` bytes.
fn mail(node: &mut Node, cq: &Cq, log_count: u64, log_bytes: u64, shifted: bool) -> (Mail, Queue) {
    let (mail, queue) = node.rq_mail(cq, false);
    let mail = mail
        .set("ctx.wq.wq_type", 3)
        .set("ctx.wq.log_wqe_num_of_strides", (log_count + 16 - 9) % 16)
        .set("ctx.wq.log_wqe_stride_size", log_bytes - 6)
        .set("ctx.wq.two_byte_shift_en", shifted.into());
    (mail, queue)
}

/// A queue that is ready, and has no WQEs.
pub(crate) fn striding(node: &mut Node, cq: &Cq, (log_count, log_bytes): (u64, u64), shifted: bool) -> Striding {
    let (mail, mut queue) = mail(node, cq, log_count, log_bytes, shifted);
    queue.number = node.number(mail, "create_rq_out", "rqn");
    node.modify_rq(queue.number, 0, RDY).unwrap();
    queue.buffers = node.alloc(u64::from(RQ_WQES) << (log_count + log_bytes));
    Striding { queue, strides: 1 << log_count, stride: 1 << log_bytes, shift: if shifted { 2 } else { 0 } }
}

/// Posts WQEs: a segment of a list, which says nothing, and a data segment.
pub(crate) fn post(node: &mut Node, rq: &mut Striding, wqes: u16) {
    post_with(node, rq, wqes, (rq.bytes(), node.key));
}

fn post_with(node: &mut Node, rq: &mut Striding, wqes: u16, (len, key): (u32, u32)) {
    for _ in 0..wqes {
        let index = rq.queue.posted % RQ_WQES;
        let address = rq.at(index, 0);
        let data = [&len.to_be_bytes()[..], &key.to_be_bytes(), &address.to_be_bytes()].concat();
        node.memory.write(rq.queue.pages[0] + u64::from(index) * 32, &[vec![0; 16], data].concat());
        rq.queue.posted = rq.queue.posted.wrapping_add(1);
    }
    node.memory.write(rq.queue.record, &u32::from(rq.queue.posted).to_be_bytes());
}

/// A device with a send queue, of whose frames `len` bytes long are sent to the other.
pub(crate) struct Sender {
    pub(crate) node: Node,
    cq: Cq,
    sq: Queue,
    buffer: u64,
}

/// The frame with this number.
pub(crate) fn numbered(number: u32, len: usize) -> Vec<u8> {
    let mut bytes = frame(mac(2), &[], &number.to_be_bytes());
    // No EtherType of IP.
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    bytes.extend((0..len).map(|at| (at as u32).wrapping_mul(number | 1) as u8));
    bytes.truncate(len);
    bytes
}

impl Sender {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let mut node = Node::new(fabric, 1);
        let cq = node.cq();
        let sq = node.sq(&cq);
        let buffer = node.alloc(16 * 0x4000);
        Self { node, cq, sq, buffer }
    }

    /// Sends frames to `to`, up to 16 of them, and waits until they are there.
    pub(crate) fn send(&mut self, frames: &[Vec<u8>], to: &mut Node) {
        assert!(frames.len() <= 16);
        for (n, frame) in frames.iter().enumerate() {
            let (node, buffer) = (&mut self.node, self.buffer + n as u64 * 0x4000);
            node.memory.write(buffer, frame);
            let [high, low] = self.sq.posted.to_be_bytes();
            let mut wqe = vec![0, high, low, 0x0a];
            wqe.extend(((self.sq.number as u32) << 8 | 3).to_be_bytes());
            wqe.extend([0, 0, 0, 0x08, 0, 0, 0, 0]);
            wqe.extend([0; 16]);
            wqe.extend((frame.len() as u32).to_be_bytes());
            wqe.extend(node.key.to_be_bytes());
            wqe.extend(buffer.to_be_bytes());
            node.post(&mut self.sq, &wqe);
        }
        run(&mut [&mut self.node, to]);
        assert_eq!(self.node.poll_all(&mut self.cq).len(), frames.len());
    }
}

/// A sender, and a receiver of this generation.
pub(crate) fn nodes(generation: Generation) -> (Sender, Node) {
    let fabric = Fabric::new();
    let config = DeviceConfig { generation, ..DeviceConfig::with_port(PortConfig::ethernet(2)) };
    (Sender::new(&fabric), Node::of(&fabric, 2, config))
}

/// A sender, and a receiver of this generation with a CQ and a queue for all frames.
fn receiver(generation: Generation, logs: (u64, u64), shifted: bool) -> (Sender, Node, Cq, Striding) {
    let (a, mut b) = nodes(generation);
    let cq = b.cq();
    let rq = striding(&mut b, &cq, logs, shifted);
    b.receive_all(rq.queue.number);
    (a, b, cq, rq)
}

/// Fields of a CQE: opcode, `byte_cnt`, index of the stride, number of the WQE.
fn said(cqe: [u8; 64]) -> (u8, u32, u16, u16) {
    let be16 = |at: usize| u16::from_be_bytes([cqe[at], cqe[at + 1]]);
    (cqe[63] >> 4, u32::from_be_bytes([cqe[44], cqe[45], cqe[46], cqe[47]]), be16(60), be16(2))
}

fn poll_said(node: &mut Node, cq: &mut Cq) -> Vec<(u8, u32, u16, u16)> {
    std::iter::from_fn(|| node.poll(cq)).map(said).collect()
}

#[test]
fn frames_lie_in_strides_and_never_in_two_wqes() {
    let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX6Dx, (3, 11), false);
    post(&mut b, &mut rq, 2);
    let lens = [100, 3000, 2048, 5000, 3000, 60];
    let frames: Vec<_> = lens.iter().zip(1..).map(|(&len, number)| numbered(number, len)).collect();
    a.send(&frames, &mut b);
    let word = |strides: u32, len: usize| strides << 16 | len as u32;
    // One stride is left when the fifth frame comes, which takes two: a filler ends the WQE.
    let expected = [
        (2, word(1, 100), 0, 0),
        (2, word(2, 3000), 1, 0),
        (2, word(1, 2048), 3, 0),
        (2, word(3, 5000), 4, 0),
        (2, 1 << 31 | 1 << 16, 7, 0),
        (2, word(2, 3000), 0, 1),
        (2, word(1, 60), 2, 1),
    ];
    assert_eq!(poll_said(&mut b, &mut cq), expected);
    for (n, (wqe, stride)) in [(0, 0), (0, 1), (0, 3), (0, 4), (1, 0), (1, 2)].into_iter().enumerate() {
        assert_eq!(b.memory.read(rq.at(wqe, stride), lens[n]), frames[n], "frame {n}");
    }
    // The WQE in use is not consumed.
    let query = Mail::command("query_rq_in", op::QUERY_RQ).set("rqn", rq.queue.number);
    let found = b.command(&query, "query_rq_out", 0).unwrap();
    let fields = ["hw_counter", "sw_counter", "wq_type", "log_wqe_num_of_strides", "log_wqe_stride_size"];
    assert_eq!(fields.map(|field| found.get(&format!("rq_context.wq.{field}"))), [1, 2, 3, 10, 5]);
}

#[test]
fn two_zeros_align_the_ip_header() {
    let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX5, (9, 6), true);
    post(&mut b, &mut rq, 1);
    b.memory.write(rq.at(0, 0), &[0xa5; 512]);
    let frames = [61, 63, 100].map(|len| numbered(len as u32, len));
    a.send(&frames, &mut b);
    // They are not in the length, but they are in the strides.
    let expected = [(2, 1 << 16 | 61, 0, 0), (2, 2 << 16 | 63, 1, 0), (2, 2 << 16 | 100, 3, 0)];
    assert_eq!(poll_said(&mut b, &mut cq), expected);
    for (stride, frame) in [(0, &frames[0]), (1, &frames[1]), (3, &frames[2])] {
        assert_eq!(b.memory.read(rq.at(0, stride), frame.len() + 3), [&[0, 0], &frame[..], &[0xa5]].concat());
    }
}

/// Random frames against a model of the consumer, which posts a WQE again when its strides add up: DPDK
/// `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq`.
#[test]
fn strides_add_up_to_wqes_while_rings_wrap() {
    for (generation, logs, shifted) in [
        (Generation::ConnectX5, (9, 6), false),
        (Generation::ConnectX7, (3, 11), true),
        (Generation::ConnectX7, (8, 6), true),
    ] {
        let (mut a, mut b, mut cq, mut rq) = receiver(generation, logs, shifted);
        post(&mut b, &mut rq, RQ_WQES);
        let (mut wqe, mut consumed, mut fillers, mut seed) = (0_u16, 0, 0, 1_u32);
        let mut number = 0;
        while wqe < 3 * RQ_WQES {
            let frames: Vec<_> = (0..12)
                .map(|_| {
                    number += 1;
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    numbered(number, 60 + (seed >> 16) as usize % if seed & 0x8000 == 0 { 100 } else { 8000 })
                })
                .collect();
            a.send(&frames, &mut b);
            let mut frames = frames.iter();
            while let Some(cqe) = b.poll(&mut cq) {
                let (opcode, word, index, id) = said(cqe);
                assert_eq!((opcode, id, u32::from(index)), (2, wqe, consumed));
                let strides = word >> 16 & 0x3fff;
                if word >> 31 != 0 {
                    fillers += 1;
                    let next = frames.clone().next().expect("a frame that did not fit");
                    assert!(rq.needed(next.len()) > strides, "a filler of {strides} before {} bytes", next.len());
                    assert_eq!(strides, rq.strides - consumed);
                } else {
                    let frame = frames.next().expect("a frame");
                    assert_eq!((word & 0xffff, strides), (frame.len() as u32, rq.needed(frame.len())));
                    let at = rq.at(wqe, consumed);
                    let expected = [&vec![0; rq.shift as usize], frame].map(Vec::as_slice).concat();
                    assert_eq!(b.memory.read(at, expected.len()), expected);
                }
                consumed += strides;
                assert!(consumed <= rq.strides);
                if consumed == rq.strides {
                    (wqe, consumed) = (wqe + 1, 0);
                    post(&mut b, &mut rq, 1);
                }
            }
            assert!(frames.next().is_none(), "a frame is missing");
        }
        assert!(fillers > 5, "{logs:?}: {fillers}");
    }
}

#[test]
fn frames_without_a_wqe_are_lost() {
    let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX6Dx, (3, 11), false);
    let mail = Mail::command("alloc_q_counter_in", op::ALLOC_Q_COUNTER);
    let counter = b.number(mail, "alloc_q_counter_out", "counter_set_id");
    let modify = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rq.queue.number).set("rq_state", RDY);
    let modify = modify.set("modify_bitmask", 8).set("ctx.state", RDY).set("ctx.counter_set_id", counter);
    b.bare(&modify).unwrap();
    post(&mut b, &mut rq, 1);
    let long = |number: u32| numbered(number, 6000);
    a.send(&[long(1), long(2), long(3), long(4)], &mut b);
    // Two take three strides each. For the third two are left, and no other WQE.
    let filler = (2, 1 << 31 | 2 << 16, 6, 0);
    assert_eq!(poll_said(&mut b, &mut cq)[2..], [filler]);
    let query = Mail::command("query_q_counter_in", op::QUERY_Q_COUNTER).set("counter_set_id", counter);
    assert_eq!(b.command(&query, "query_q_counter_out", 0).unwrap().get("out_of_buffer"), 2);
    post(&mut b, &mut rq, 1);
    a.send(&[long(5)], &mut b);
    assert_eq!(poll_said(&mut b, &mut cq), [(2, 3 << 16 | 6000, 0, 1)]);
}

#[test]
fn what_is_left_of_a_wqe_is_flushed() {
    let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX6Dx, (3, 11), false);
    post(&mut b, &mut rq, 2);
    a.send(&[numbered(1, 3000)], &mut b);
    assert_eq!(poll_said(&mut b, &mut cq).len(), 1);
    b.modify_rq(rq.queue.number, RDY, ERR).unwrap();
    b.step();
    let flushed: Vec<_> = std::iter::from_fn(|| b.poll(&mut cq)).collect();
    // In an error CQE, the index of the stride has a place of its own, and the WQE's number is the counter, too.
    let found: Vec<_> = flushed.iter().map(|cqe| (said(*cqe), cqe[20..22].to_vec(), cqe[55])).collect();
    assert_eq!(found, [((14, 6 << 16, 0, 0), vec![0, 2], 5), ((14, 8 << 16, 1, 1), vec![0, 0], 5)]);
    // The queue begins anew.
    b.modify_rq(rq.queue.number, ERR, 0).unwrap();
    rq.queue.posted = 0;
    b.modify_rq(rq.queue.number, 0, RDY).unwrap();
    post(&mut b, &mut rq, 1);
    a.send(&[numbered(2, 60)], &mut b);
    assert_eq!(poll_said(&mut b, &mut cq), [(2, 1 << 16 | 60, 0, 0)]);
}

#[test]
fn faults_of_the_host_stop_the_queue() {
    const PROTECTION: u8 = 0x04;
    const QP_OPERATION: u8 = 0x02;
    let whole = 8 << 11;
    for (len, bad_key, syndrome, strides) in
        [(whole, true, PROTECTION, 2), (whole - 1, false, QP_OPERATION, 8), (2048, false, QP_OPERATION, 8)]
    {
        let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX6Dx, (3, 11), false);
        let key = b.key ^ if bad_key { 1 } else { 0 };
        post_with(&mut b, &mut rq, 1, (len, key));
        a.send(&[numbered(1, 3000)], &mut b);
        let cqe = b.poll(&mut cq).expect("an error");
        assert_eq!((said(cqe), cqe[55]), ((14, strides << 16, 0, 0), syndrome), "{len}");
        // The strides of all CQEs are those of the WQE.
        let rest = if strides == 8 { vec![] } else { vec![(14, 6 << 16, 0, 0)] };
        assert_eq!(poll_said(&mut b, &mut cq), rest);
        a.send(&[numbered(2, 60)], &mut b);
        assert_eq!(poll_said(&mut b, &mut cq), []);
    }
}

/// A ring has as many WQEs as places, so a WQE that is posted again while it is in use is one too many.
#[test]
fn a_wqe_that_is_posted_again_too_early_stops_the_queue() {
    let (mut a, mut b, mut cq, mut rq) = receiver(Generation::ConnectX6Dx, (3, 11), false);
    post(&mut b, &mut rq, RQ_WQES);
    a.send(&[numbered(1, 60)], &mut b);
    post(&mut b, &mut rq, 1);
    a.send(&[numbered(2, 60)], &mut b);
    assert_eq!(poll_said(&mut b, &mut cq), [(2, 1 << 16 | 60, 0, 0)]);
    let query = Mail::command("query_rq_in", op::QUERY_RQ).set("rqn", rq.queue.number);
    assert_eq!(b.command(&query, "query_rq_out", 0).unwrap().get("rq_context.state"), ERR);
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (generation, fewest) in [(Generation::ConnectX5, 9), (Generation::ConnectX6Dx, 3), (Generation::ConnectX7, 3)] {
        let (_, mut b) = nodes(generation);
        let cq = b.cq();
        let (mail, _) = mail(&mut b, &cq, 9, 6, false);
        for (log_count, log_bytes) in (3..19).flat_map(|count| (6..14).map(move |bytes| (count, bytes))) {
            let variant = mail.clone().set("ctx.wq.log_wqe_num_of_strides", (log_count + 16 - 9) % 16);
            let variant = variant.set("ctx.wq.log_wqe_stride_size", log_bytes - 6);
            let permitted = (fewest..17).contains(&log_count) && log_count + log_bytes >= 14;
            let made = b.command(&variant, "create_rq_out", 0).is_ok();
            assert_eq!(made, permitted, "{generation:?}: 2^{log_count} strides of 2^{log_bytes}");
        }
        for (field, value) in [("log_wq_stride", 4), ("wq_type", 1), ("wq_type", 2), ("wq_signature", 1)] {
            let variant = mail.clone().set(&format!("ctx.wq.{field}"), value);
            // 2^9 strides of 2^6 bytes are fields of 0, as in a queue without strides.
            let refused = b.command(&variant, "create_rq_out", 0).is_err();
            assert_eq!(refused, (field, value) != ("wq_type", 1), "{field} {value}");
        }
    }
}
