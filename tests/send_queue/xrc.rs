//! Requests of XRC by every way that the crate has, kept and changed.
//!
//! What only XRC has belongs here, its bytes in `tests/requests`, its delivery in `tests/loopback/xrc.rs`.

use blueflame::transport::XrcInitiator as Xrc;
use blueflame::types::WrId;
use blueflame::wqe;

use crate::golden::every_way;
use crate::requests::{LOCAL, REMOTE, SRQN};
use crate::rig::{Rig, Setup};

#[test]
fn every_way_writes_the_same() {
    let write = || wqe::write(REMOTE).to(SRQN).signaled(WrId(0));
    every_way!(Xrc, write(), 12, 0, |write| write.inline(&[9; 12]));
    every_way!(Xrc, write(), 13, 0, |write| write.inline(&[9; 13]));
    let read = || wqe::read(REMOTE).to(SRQN).signaled(WrId(0));
    every_way!(Xrc, read(), 0, 1, |read| read.scatter([LOCAL]));
}

/// Another place changes the memory that is named, and not the receiver of the request.
#[test]
fn prepared_requests_go_elsewhere_in_memory() {
    let elsewhere = REMOTE.at(0x1000);
    let rings = [true, false].map(|is_prepared| {
        let rig = Rig::new(Setup::default());
        let mut sq = rig.queue::<Xrc>();
        if is_prepared {
            let write = sq.prepare::<_, _, 12, 0>(&wqe::write(REMOTE).to(SRQN)).expect("within the limits");
            sq.post(&write.at(elsewhere).inline(&[3; 12])).expect("room");
        } else {
            sq.post(&wqe::write(elsewhere).to(SRQN).inline(&[3; 12])).expect("room");
        }
        rig.ring()
    });
    assert_eq!(rings[0], rings[1]);
    assert!(rings[0].windows(4).any(|bytes| bytes == SRQN.get().to_be_bytes()));
}
