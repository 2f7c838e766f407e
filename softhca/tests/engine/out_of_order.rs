//! Receives that complete in another order than that of their WQEs.
//!
//! The order of receives belongs here, that of stores in `store_order.rs`.

use crate::lab::*;
use softhca::context::{QpAttr, QpState, Transport};
use softhca::error::Error;

const MESSAGES: u64 = 12;

fn lab(transport: Transport, srq: bool) -> Lab {
    let mut lab = Lab::new(Options { transport, srq, out_of_order: true, ..Options::default() });
    for n in 0..MESSAGES {
        lab.b.post_recv(&[(lab.b.data + 64 * n, 64)]);
    }
    lab
}

#[test]
fn each_completion_names_its_wqe() {
    for (transport, srq) in [(Transport::Rc, false), (Transport::Rc, true), (Transport::Uc, false)] {
        let mut lab = lab(transport, srq);
        for n in 0..MESSAGES {
            lab.a.post_silently(&Wr::send().inline(&[n as u8 + 1; 5]));
        }
        lab.a.ring();
        lab.settle();
        let counters: Vec<u16> = lab.b.poll_recv().iter().map(|cqe| cqe.wqe_counter).collect();
        assert!(!counters.is_sorted(), "{transport:?}: {counters:?} is an order");
        let mut sorted = counters.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, Vec::from_iter(0..MESSAGES as u16), "{transport:?}");
        for n in 0..MESSAGES {
            assert_eq!(lab.b.memory.read(lab.b.data + 64 * n, 5), [n as u8 + 1; 5], "{transport:?}");
        }
    }
}

#[test]
fn what_arrived_before_an_error_is_reported_before_the_flush() {
    let mut lab = lab(Transport::Rc, false);
    for n in 0..4 {
        lab.a.post_silently(&Wr::send().inline(&[n; 5]));
    }
    // Longer than its receive WQE.
    lab.a.post_silently(&Wr::send().sge(lab.a.data, 65, lab.a.key));
    lab.a.ring();
    lab.settle();
    assert_eq!(lab.b.state(), QpState::Err);
    let cqes = lab.b.poll_recv();
    assert_eq!(cqes.len(), MESSAGES as usize);
    let mut good: Vec<u16> = cqes.iter().filter(|cqe| cqe.syndrome == 0).map(|cqe| cqe.wqe_counter).collect();
    good.sort_unstable();
    assert_eq!(good, [0, 1, 2, 3]);
    let flushed = cqes.iter().position(|cqe| cqe.syndrome == 0x05).expect("flushed ones");
    assert!(cqes[flushed..].iter().all(|cqe| cqe.syndrome == 0x05), "the flush comes last");
}

#[test]
fn it_is_decided_before_the_qp_receives() {
    let mut lab = Lab::unconnected(Options::default());
    lab.b.modify(lab.b.init_attr());
    lab.b.modify(QpAttr { out_of_order: Some(true), ..lab.b.rtr_attr(lab.a.identity()) });
    let late = QpAttr { out_of_order: Some(true), ..lab.b.rts_attr() };
    let refused = lab.b.device.modify_qp(lab.b.qpn, &late);
    let (from, to) = (QpState::Rtr, QpState::Rts);
    assert_eq!(refused, Err(Error::UnexpectedAttr { from, to, attr: "out_of_order" }));
}
