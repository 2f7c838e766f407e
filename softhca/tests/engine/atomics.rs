//! Atomics: values, alignment, and that a repeated request does not happen twice.
//!
//! Atomics belong here, other operations in `operations.rs`.

use crate::lab::*;
use softhca::context::QpState;
use softhca::event::QpEvent;
use softhca::packet::Operation;

fn word(node: &Node, offset: u64) -> u64 {
    u64::from_ne_bytes(node.memory.read(node.data + offset, 8).try_into().unwrap())
}

#[test]
fn swap_and_add_give_the_old_value() {
    let mut lab = Lab::new(Options::default());
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    lab.b.memory.write(dst, &5u64.to_ne_bytes());
    lab.a.post(&Wr::add(dst, rkey, u64::MAX).sge(src, 8, key));
    lab.a.post(&Wr::swap(dst, rkey, 4, 0x1122_3344_5566_7788).sge(src + 8, 8, key));
    lab.a.post(&Wr::swap(dst, rkey, 4, 9).sge(src + 16, 8, key));
    lab.run();
    let done = lab.a.poll_send();
    let codes: Vec<_> = done.iter().map(|c| (c.opcode, c.wqe_opcode, c.byte_cnt)).collect();
    assert_eq!(codes, [(REQ, 0x12, 8), (REQ, 0x11, 8), (REQ, 0x11, 8)]);
    assert_eq!([word(&lab.a, 0), word(&lab.a, 8), word(&lab.a, 16)], [5, 4, 0x1122_3344_5566_7788]);
    assert_eq!(word(&lab.b, 0), 0x1122_3344_5566_7788, "the second swap did not find what it compared with");
}

#[test]
fn a_repeated_atomic_is_answered_and_not_executed() {
    let mut lab = Lab::new(Options::default());
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let mut lost = 0;
    lab.b.script(move |packet| {
        lost += 1;
        let is_answer = packet.headers.bth.opcode.operation() == Operation::AtomicAcknowledge;
        if is_answer && lost <= 6 { Fate::Drop } else { Fate::Deliver }
    });
    for i in 0..4 {
        lab.a.post(&Wr::add(dst, rkey, 10).sge(src + 8 * i, 8, key));
    }
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 4);
    assert_eq!([0, 8, 16, 24].map(|at| word(&lab.a, at)), [0, 10, 20, 30]);
    assert_eq!(word(&lab.b, 0), 40);
    assert!(lab.a.sent(Operation::FetchAdd).len() > 4);
}

#[test]
fn doubled_requests_happen_once() {
    let mut lab = Lab::new(Options { max_rd_atomic: 1, max_dest_rd_atomic: 1, ..Options::default() });
    lab.a.script(|_| Fate::Twice);
    lab.b.script(|_| Fate::Twice);
    for _ in 0..10 {
        lab.a.post(&Wr::add(lab.b.data, lab.b.key, 1).sge(lab.a.data, 8, lab.a.key));
        lab.settle();
    }
    assert_eq!(lab.a.poll_send().len(), 10);
    assert_eq!((word(&lab.a, 0), word(&lab.b, 0)), (9, 10));
    assert_eq!(lab.b.state(), QpState::Rts, "copies do not count against max_dest_rd_atomic");
}

/// UCX and libmlx5 disagree on the byte order of results in CQEs, so no CQE carries an atomic's result.
#[test]
fn small_results_do_not_go_into_the_cqe() {
    let mut lab = Lab::new(Options { scatter_to_cqe: 32, ..Options::default() });
    lab.b.memory.write(lab.b.data, &77u64.to_ne_bytes());
    lab.a.post(&Wr::add(lab.b.data, lab.b.key, 1).sge(lab.a.data, 8, lab.a.key));
    lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data + 8, 8, lab.a.key));
    lab.run();
    let done = lab.a.poll_send();
    assert_eq!((done[0].inline, word(&lab.a, 0)), (0, 77));
    assert_eq!((done[1].inline, &done[1].data[..8]), (1, &78u64.to_ne_bytes()[..]), "those of READs do");
}

/// Atomics of 4 bytes return the old value in network order (UCX `src/uct/ib/rc/base/rc_ep.c`), and the bytes beside
/// stay.
#[test]
fn masked_ones_touch_their_bits_only() {
    let mut lab = Lab::new(Options::default());
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    lab.b.memory.write(dst, &[0x1122_3344_u32, 0x5566_7788].map(u32::to_ne_bytes).concat());
    lab.b.memory.write(dst + 8, &0xffff_0001_ffff_8000_u64.to_ne_bytes());
    lab.a.post(&Wr::masked_swap(dst + 4, rkey, [0x88, 0xff, 0xaabb_ccdd, 0x00ff_ff00]).sge(src, 4, key));
    lab.a.post(&Wr::masked_swap(dst + 4, rkey, [0x89, 0xff, 0, u32::MAX]).sge(src + 4, 4, key));
    lab.a.post(&Wr::masked_add(dst + 8, rkey, 0x0001_0001_0001_8000, 0x8000_8000_8000_8000).sge(src + 8, 8, key));
    lab.run();
    let done: Vec<_> = lab.a.poll_send().iter().map(|c| (c.opcode, c.wqe_opcode, c.byte_cnt)).collect();
    assert_eq!(done, [(REQ, 0x14, 4), (REQ, 0x14, 4), (REQ, 0x15, 8)]);
    let found = [0x5566_7788_u32, 0x55bb_cc88].map(u32::to_be_bytes).concat();
    assert_eq!(lab.a.memory.read(src, 8), found);
    assert_eq!(word(&lab.a, 8), 0xffff_0001_ffff_8000);
    assert_eq!(lab.b.memory.read(dst, 8), [0x1122_3344_u32, 0x55bb_cc88].map(u32::to_ne_bytes).concat());
    assert_eq!(word(&lab.b, 8), 0x0000_0002_0000_0000, "nothing is carried from field to field");
    assert_eq!(lab.a.sent(Operation::ExtendedAtomic).len(), 3);
}

fn wide(node: &Node, offset: u64) -> [u8; 16] {
    node.memory.read(node.data + offset, 16).try_into().unwrap()
}

/// Atomics of 16 bytes return the old value in network order. Lost answers are repeated with both halves.
#[test]
fn masked_ones_of_16_bytes_are_repeated_and_happen_once() {
    let mut lab = Lab::new(Options::default());
    let mut answers = 0;
    lab.b.script(move |packet| {
        let is_answer = packet.headers.bth.opcode.operation() == Operation::AtomicAcknowledge;
        answers += u32::from(is_answer);
        if is_answer && answers <= 2 { Fate::Drop } else { Fate::Deliver }
    });
    let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
    let first = 0x1111_2222_3333_4444_ffff_ffff_ffff_ffff_u128;
    lab.b.memory.write(dst, &first.to_ne_bytes());
    let word = |n: u64| 16 * n;
    let top = 1_u128 << 63;
    lab.a.post(&Wr::masked_add_16(dst, rkey, 1, 0).sge(src, 16, key));
    lab.a.post(&Wr::masked_add_16(dst, rkey, u128::from(u64::MAX), top).sge(src + word(1), 16, key));
    let matching = [0x2222_3333 << 80, 0xffff_ffff << 80, u128::MAX, 0xff << 120 | 0xff];
    lab.a.post(&Wr::masked_swap_16(dst, rkey, matching).sge(src + word(2), 16, key));
    lab.a.post(&Wr::masked_swap_16(dst, rkey, [0, u128::MAX, 0, u128::MAX]).sge(src + word(3), 16, key));
    lab.settle();
    assert_eq!(lab.a.poll_send().iter().map(|c| (c.syndrome, c.byte_cnt)).collect::<Vec<_>>(), [(0, 16); 4]);
    let carried = 0x1111_2222_3333_4445_0000_0000_0000_0000_u128;
    let added = carried | u128::from(u64::MAX);
    let swapped = added | 0xff << 120;
    // The comparison is with the bits 80 to 111.
    assert_eq!(added >> 80 & 0xffff_ffff, 0x2222_3333);
    assert_eq!([0, 1, 2, 3].map(|n| wide(&lab.a, word(n))), [first, carried, added, swapped].map(u128::to_be_bytes));
    assert_eq!(wide(&lab.b, 0), swapped.to_ne_bytes(), "the last one did not find what it compared with");
    assert_eq!(wide(&lab.b, 16), [0; 16], "what lies behind stays");
    assert!(lab.a.sent(Operation::ExtendedAtomic).len() > 4);
}

#[test]
fn a_repeated_masked_atomic_is_answered_and_not_executed() {
    let mut lab = Lab::new(Options::default());
    let mut answers = 0;
    lab.b.script(move |packet| {
        let is_answer = packet.headers.bth.opcode.operation() == Operation::AtomicAcknowledge;
        answers += u32::from(is_answer);
        if is_answer && answers <= 2 { Fate::Drop } else { Fate::Deliver }
    });
    for i in 0..4 {
        lab.a.post(&Wr::masked_add(lab.b.data, lab.b.key, 10, 0).sge(lab.a.data + 8 * i, 8, lab.a.key));
    }
    lab.settle();
    assert_eq!(lab.a.poll_send().len(), 4);
    assert_eq!([0, 8, 16, 24].map(|at| word(&lab.a, at)), [0, 10, 20, 30]);
    assert_eq!(word(&lab.b, 0), 40);
    assert!(lab.a.sent(Operation::ExtendedAtomic).len() > 4);
}

/// A queue pair answers those sizes that its atomic mode has (`QPC.atomic_mode`).
#[test]
fn the_responder_refuses_sizes_that_it_has_not() {
    for sizes in [0, 4, 8, 12, 16, 28] {
        for bytes in [4, 8, 16] {
            let permitted = sizes & bytes as u8 != 0;
            let mut lab = Lab::new(Options { extended_atomics: sizes, ..Options::default() });
            let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data, lab.b.key);
            let request = match bytes {
                4 => Wr::masked_swap(dst, rkey, [0, 0, 1, 1]),
                8 => Wr::masked_add(dst, rkey, 1, 0),
                _ => Wr::masked_add_16(dst, rkey, 1, 0),
            };
            lab.a.post(&request.sge(src, bytes, key));
            lab.run();
            let syndrome = lab.a.poll_send()[0].syndrome;
            assert_eq!(syndrome, if permitted { 0 } else { 0x12 }, "sizes {sizes}, of {bytes} bytes");
        }
    }
}

/// The responder refuses an address that is not a multiple of the operand's size, with any key (IBTA vol. 1, 9.4.5
/// and 9.7.4.2.2); the requester sends it.
#[test]
fn the_responder_refuses_unaligned_addresses() {
    for (bytes, beside) in [(8, 1), (8, 4), (4, 2), (16, 8)] {
        for wrong_key in [0, 1 << 8] {
            let mut lab = Lab::new(Options { extended_atomics: 28, ..Options::default() });
            let (src, key, dst, rkey) = (lab.a.data, lab.a.key, lab.b.data + beside, lab.b.key ^ wrong_key);
            let request = match bytes {
                4 => Wr::masked_swap(dst, rkey, [0, 0, 1, 1]),
                8 => Wr::swap(dst, rkey, 0, 1),
                _ => Wr::masked_add_16(dst, rkey, 1, 0),
            };
            lab.a.post(&request.sge(src, bytes, key));
            lab.settle();
            assert_eq!(lab.a.poll_send()[0].syndrome, 0x12, "{bytes} bytes at {beside}");
            assert_eq!(lab.b.memory.read(lab.b.data, 32), [0; 32], "nothing was done");
            assert_eq!((lab.b.state(), &lab.b.events[..]), (QpState::Err, &[QpEvent::RequestError][..]));
        }
    }
}
