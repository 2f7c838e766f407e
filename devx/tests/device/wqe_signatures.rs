//! Queue pairs whose WQEs have signatures, in both directions.
//!
//! WQE signatures belong here, block signatures in `block_signatures.rs`.

use blueflame::cq::Side;
use blueflame::transport::{Rc, Signed};
use blueflame::types::WrId;
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::object::Uar;

use crate::end::{End, connected};
use crate::ground::ground;

#[test]
fn signed_messages_arrive() {
    let ground = ground();
    let (mut a, mut b) = connected::<Signed<Rc>>(&ground);
    assert!(a.pair.qp.query().expect("QUERY_QP").wq_signature());
    let post = |end: &mut End<Signed<Rc>>, ids: [u64; 2]| {
        let sge = end.buffer.sge();
        let rq = &mut end.pair.rq;
        assert_eq!(rq.max_sge(), 1);
        let mut batch = rq.batch();
        for id in ids {
            // SAFETY: the buffer lives as long as the end, and the test waits for completions before it looks.
            unsafe { batch.push_unchecked(WrId(id), &[sge]) }.expect("room");
        }
        batch.ring_doorbell();
    };
    for round in 0..20_u64 {
        post(&mut b, [round, !round]);
        let far = b.buffer.remote();
        let send = a.pair.sq.prepare::<_, _, 8, 0>(&wqe::send().signaled(WrId(round))).expect("taken");
        a.pair.sq.post(&send.inline(&round.to_ne_bytes())).expect("room");
        assert_eq!(b.completion(), (Side::Responder, WrId(round), 8));
        assert_eq!(b.bytes(8), round.to_ne_bytes());
        a.post(&wqe::write(far.at(64)).inline(&[round as u8; 60]).imm(7).signaled(WrId(round)));
        assert_eq!((a.completion().1, b.completion().1), (WrId(round), WrId(!round)));
        assert_eq!(b.bytes(124)[64..], [round as u8; 60]);
        assert_eq!(a.completion().1, WrId(round));
        std::mem::swap(&mut a, &mut b);
    }
}

/// The signature takes the place of an entry.
#[test]
fn a_signed_receive_has_one_entry_less() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 8).build().expect("a completion queue");
    let made = ground.pd.queue_pair::<Signed<Rc>>(&ground.rings, &cq, &cq).recv_sge(128).build().map(drop);
    assert_eq!(made, Err(Error::OutOfRange { what: "scatter entries", value: 128, min: 1, max: 127 }));
    let made = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).recv_sge(129).build().map(drop);
    assert_eq!(made, Err(Error::OutOfRange { what: "scatter entries", value: 129, min: 1, max: 128 }));
}
