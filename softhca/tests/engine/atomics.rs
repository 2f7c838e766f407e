//! Atomics: values, alignment, and that a repeated request does not happen twice.

use crate::lab::*;
use softhca::context::QpState;
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

#[test]
fn small_results_go_into_the_cqe() {
    let mut lab = Lab::new(Options { scatter_to_cqe: 32, ..Options::default() });
    lab.b.memory.write(lab.b.data, &77u64.to_ne_bytes());
    lab.a.post(&Wr::add(lab.b.data, lab.b.key, 1).sge(lab.a.data, 8, lab.a.key));
    lab.run();
    let done = lab.a.poll_send();
    assert_eq!((done[0].inline, &done[0].data[..8]), (1, &77u64.to_ne_bytes()[..]));
}
