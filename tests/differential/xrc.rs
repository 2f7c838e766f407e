//! XRC: requests that name a shared receive queue, as libmlx5 posts them, and their arrival.
//!
//! Requests of XRC belong here, domains and targets in `tests/xrc.rs`.

use std::ptr::NonNull;

use blueflame::cq::Cqe;
use blueflame::queue::RetireError;
use blueflame::transport::{Signed, XrcInitiator};
use blueflame::types::{Psn, Srqn, WrId};
use blueflame::verbs::{Error, OwnedCq, OwnedSrq, QueuePair, XrcDomain, XrcTarget};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Target};
use proptest::prelude::*;

use crate::post::Receive;
use crate::random;
use crate::sends::run;
use crate::shared_receives::{parts, post_both};
use crate::twin::{Link, Receiver};
use crate::verbs::{Fabric, Geometry, PolledCq};

/// The twins' destinations: a target each, and a shared receive queue each, of libmlx5 and of this crate.
struct Far {
    targets: [XrcTarget; 2],
    theirs: TheirSrq,
    our_srq: OwnedSrq,
}

/// One that libmlx5 drives.
struct TheirSrq {
    raw: NonNull<sys::ibv_srq>,
    _domain: XrcDomain,
}

impl Drop for TheirSrq {
    fn drop(&mut self) {
        // SAFETY: made below, and destroyed once.
        assert_eq!(unsafe { sys::ibv_destroy_srq(self.raw.as_ptr()) }, 0);
    }
}

impl TheirSrq {
    fn new(fabric: &Fabric, domain: &XrcDomain, geometry: &Geometry, cq: &PolledCq) -> Self {
        let mut attr = sys::ibv_srq_init_attr_ex::ZERO;
        attr.attr = sys::ibv_srq_attr { max_wr: geometry.receives, max_sge: geometry.recv_sge, srq_limit: 0 };
        attr.comp_mask = sys::IBV_SRQ_INIT_ATTR_TYPE
            | sys::IBV_SRQ_INIT_ATTR_PD
            | sys::IBV_SRQ_INIT_ATTR_XRCD
            | sys::IBV_SRQ_INIT_ATTR_CQ;
        attr.srq_type = sys::IBV_SRQT_XRC;
        (attr.pd, attr.xrcd, attr.cq) = (fabric.pd.as_raw(), domain.as_raw(), cq.as_raw());
        // SAFETY: all three are alive; the attributes live until the call returns.
        let raw = unsafe { sys::ibv_create_srq_ex(fabric.device.as_raw(), &raw mut attr) };
        Self { raw: NonNull::new(raw).expect("ibv_create_srq_ex"), _domain: domain.clone() }
    }
}

impl Receiver for Far {
    fn numbers(&self) -> [u32; 2] {
        self.targets.each_ref().map(|target| target.qp().qpn().get())
    }

    fn named(&self) -> [u32; 2] {
        [parts(self.theirs.raw.as_ptr()).srqn, self.our_srq.handle().srqn().get()]
    }

    fn xrc_targets(&self) -> Option<&[XrcTarget; 2]> {
        Some(&self.targets)
    }

    fn receive(&mut self, list: &[Receive]) -> Result<(), String> {
        post_both(self.theirs.raw, &mut self.our_srq, list)
    }

    fn retire(&mut self, cqe: &Cqe<'_>) -> Result<WrId, RetireError> {
        // SAFETY: a completion of the target, of which each is given here once.
        unsafe { self.our_srq.retire(cqe) }
    }
}

/// Signed or not.
macro_rules! initiators {
    ($($transport:ty)*) => {
        $(impl Link for $transport {
            const COLUMN: &str = "XRC";

            fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, target: Option<&XrcTarget>) -> Result<(), Error> {
                let (path, target) = (fabric.path(), target.expect("an initiator has a target"));
                let here = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
                let there = target.endpoint(&path);
                target.qp().to_init(&path)?;
                target.connect(&path, &there, &here)?;
                pair.qp.to_init(&path)?;
                pair.connect(&path, &here, &there)
            }

            fn receiver(fabric: &Fabric, geometry: &Geometry, cqs: (&PolledCq, &OwnedCq)) -> Option<Box<dyn Receiver>> {
                let domain = fabric.device.xrc_domain().expect("an XRC domain");
                let (receives, sge) = (geometry.receives, geometry.recv_sge);
                let our_srq = fabric.pd.xrc_shared_recv_queue(&domain, cqs.1.handle(), receives, sge).expect("an XRC SRQ");
                let targets = [(); 2].map(|()| domain.target().expect("a target"));
                Some(Box::new(Far { targets, theirs: TheirSrq::new(fabric, &domain, geometry, cqs.0), our_srq }))
            }

            fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
                random::request(fabric, true, max_sge, max_inline)
            }

            /// Each twin's own: which number it has is not known here.
            fn targets(_fabric: &Fabric) -> BoxedStrategy<Option<Target>> {
                Just(Some(Target::Srq(Srqn::truncate(0)))).boxed()
            }
        })*
    };
}
initiators! { XrcInitiator Signed<XrcInitiator> }

#[test]
fn initiators() {
    let run = run::<XrcInitiator>;
    run("one WQEBB", Geometry { sends: 1, send_sge: 1, receives: 1, recv_sge: 1, ..Geometry::default() }, 0);
    run("tiny", Geometry { sends: 2, send_sge: 3, ..Geometry::default() }, 0);
    run("inline", Geometry { sends: 5, inline: 200, recv_sge: 3, ..Geometry::default() }, 0);
    run("many entries", Geometry { sends: 6, send_sge: 20, inline: 100, ..Geometry::default() }, 0);
    run("all signalled", Geometry { inline: 400, cqe_bytes: 128, signal_all: true, ..Geometry::default() }, 0);
}
