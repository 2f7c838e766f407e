//! Egress rules belong here, ingress rules in `tests/raw_receive`.

use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::types::WrId;
use blueflame::verbs::Error;
use blueflame::verbs::ethernet::Egress;
use blueflame::wqe;

use crate::lab::Lab;
use crate::{HEADERS, frame};

/// Rules of frames that leave match the metadata of their requests: some frames are dropped, and their requests
/// complete all the same.
#[test]
fn rules_of_frames_that_leave_match_metadata() {
    let mut lab = Lab::new();
    let device = lab.pd.device().clone();
    let _rule = lab.rule();
    let frame = [&frame(lab.station, 7)[..], &[8; 40]].concat();
    let (headers, rest) = frame.split_first_chunk::<HEADERS>().expect("so many");
    // No other test gives frames these numbers.
    let [dropped, masked, free] = [0x5eed_0001, 0x5eed_1100, 0x5eed_0002];
    let mut arrives = |metadata: u32| {
        lab.post(1);
        let request = wqe::frame().inline_headers(headers).metadata(metadata).inline_slice(rest);
        lab.sender.sq.post(&request.signaled(WrId(2))).expect("room");
        // This shorter one leaves in any case, and comes behind the other.
        lab.post(3);
        lab.deliver(true);
        let (begin, rq) = (Instant::now(), &mut lab.receiver.rq);
        let (mut sent, mut arrived, mut last) = (0, 0, false);
        while sent < 2 || !last {
            lab.cq.poll_with(16, |cqe| {
                cqe.check().expect("a dropped frame completes, too");
                if cqe.side() == Some(Side::Requester) {
                    lab.sender.sq.retire(&cqe).expect("outstanding");
                    sent += 1;
                } else {
                    rq.retire(&cqe).expect("outstanding");
                    last |= cqe.byte_len() == 60;
                    arrived += u32::from(cqe.byte_len() == 100);
                }
            });
            assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        }
        arrived
    };
    assert_eq!([dropped, masked, free].map(&mut arrives), [1; 3]);
    let rules = [
        device.steer_sends(&Egress::metadata(dropped).drop_frames()).expect("a rule"),
        device.steer_sends(&Egress::masked_metadata(masked, 0xffff_ff00).drop_frames()).expect("a rule"),
    ];
    assert_eq!([dropped, masked, masked | 0x55, masked | 0x200, free].map(&mut arrives), [0, 0, 0, 1, 1]);
    // A rule that comes first lets some of them through.
    let first = device.steer_sends(&Egress::metadata(masked).priority(0)).map(drop);
    assert!(first.is_ok(), "{first:?}");
    drop(rules);
    let behind = device.steer_sends(&Egress::masked_metadata(masked, 0xffff_ff00).priority(2).drop_frames());
    let first = device.steer_sends(&Egress::metadata(masked).priority(1)).expect("a rule");
    assert_eq!([masked, masked | 0x55].map(&mut arrives), [1, 0]);
    drop((first, behind.expect("a rule")));
    assert_eq!([dropped, masked].map(&mut arrives), [1; 2]);
    let refused = device.steer_sends(&Egress::any().priority(16));
    assert!(matches!(refused, Err(Error::OutOfRange { max: 15, .. })), "{refused:?}");
}
