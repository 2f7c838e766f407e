//! Rates of send queues (packet pacing).
//!
//! Rates by commands belong here, those of verbs' queues in `tests/packet_pacing.rs`.

use std::time::{Duration, Instant};

use blueflame::types::WrId;
use blueflame::verbs::device::{RateLimit, RateLimits};
use blueflame::wqe;
use blueflame_devx::Error;
use blueflame_devx::object::{PacketPacing, Tis, TransportDomain, Uar};

use crate::ground::ground;

/// At 1 Mbit/s, a frame of 125 bytes takes a millisecond. The first one leaves at once.
#[test]
fn a_send_queue_keeps_to_its_rate() {
    let ground = ground();
    let context = &ground.context;
    if !context.general().expect("capabilities").eth_net_offloads() {
        assert_eq!(context.rate_limits(), Ok(None));
        assert!(matches!(PacketPacing::new(context, RateLimit::kilobits(1)), Err(Error::Capability { .. })));
        return;
    }
    assert_eq!(context.rate_limits(), Ok(Some(RateLimits { min: 1, max: 100_000_000 })));
    let domain = TransportDomain::new(context).expect("ALLOC_TRANSPORT_DOMAIN");
    let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
    let uar = Uar::new(context).expect("a register");
    let mut cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
    let mut sq = ground.pd.send_queue::<0>(&ground.rings, &cq, &tis, uar, 64).expect("a send queue");
    let mut send = |sq: &mut blueflame_devx::object::OwnedSq<0>| {
        let begin = Instant::now();
        for id in 0..21 {
            sq.post(&wqe::frame().inline(&[0x5a; 125]).signaled(WrId(id))).expect("room");
        }
        let mut done = 0;
        while done < 21 {
            cq.poll_with(32, |cqe| {
                cqe.check().expect("success");
                done += u64::from(sq.retire(&cqe).is_ok());
            });
            assert!(begin.elapsed() < Duration::from_secs(60), "no completion");
        }
        begin.elapsed()
    };
    let rate = PacketPacing::new(context, RateLimit::kilobits(1000).typical_frame(125)).expect("a rate");
    let same = PacketPacing::new(context, rate.limit()).expect("the same");
    let own = PacketPacing::dedicated(context, rate.limit()).expect("one of its own");
    assert!(rate.index() != 0 && rate.index() == same.index() && rate.index() != own.index());
    sq.handle().pace(Some(&rate)).expect("MODIFY_SQ");
    let index = || sq.handle().query().expect("QUERY_SQ").packet_pacing_rate_limit_index();
    assert_eq!(index(), rate.index());
    // The queue keeps the entry.
    drop((rate, same));
    assert!(send(&mut sq) >= Duration::from_millis(20));
    sq.handle().pace(None).expect("MODIFY_SQ");
    assert_eq!(sq.handle().query().expect("QUERY_SQ").packet_pacing_rate_limit_index(), 0);
    let quickest = (0..20).map(|_| send(&mut sq)).min().expect("some rounds");
    assert!(quickest < Duration::from_millis(20), "{quickest:?}");
    let beyond = PacketPacing::new(context, RateLimit::kilobits(100_000_001));
    assert!(matches!(beyond, Err(Error::Verbs(_))), "{beyond:?}");
}
