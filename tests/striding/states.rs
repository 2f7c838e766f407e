//! Errors, and starting over.
//!
//! Errors in use belong here, refusals at creation in `limits.rs`.

use blueflame::cq::{CqeError, WcStatus};

use crate::frames::{lengths, possible};
use crate::lab::{Lab, checked};
use crate::on_device::wait_for;

#[test]
fn errors_flush_and_a_restart_receives_again() {
    for strides in possible() {
        let mut lab = Lab::new((4, 32), strides);
        for round in 0..3 {
            let kept = lab.keep(&lengths(round, 4000));
            let outstanding = lab.rq.posted();
            lab.rq.handle().to_error().expect("ERR");
            if round > 0 {
                // One completion for each WQE, the one that was being filled included.
                let mut flushed = 0;
                wait_for("a completion", || {
                    lab.cq.poll_with(8, |cqe| {
                        let Err(CqeError::Completion(error)) = cqe.check() else { panic!("a success") };
                        assert_eq!(error.status(), WcStatus::WrFlushErr);
                        assert!(lab.rq.receive(&cqe).expect("outstanding").is_none());
                        flushed += 1;
                    });
                    (flushed == outstanding).then_some(())
                });
            }
            lab.rq.restart(&mut lab.cq, |_| ()).expect("ready again");
            kept.iter().for_each(|frame| _ = checked(frame));
            drop(kept);
            lab.rq.refill();
            assert_eq!(lab.rq.posted(), 4, "round {round}");
        }
        lab.exchange(&lengths(9, 4000), |_| ());
    }
}
