//! The receivers of one completion queue: a receiver of frames is the only one.
//!
//! Receivers of one queue belong here, shared receives in `shared.rs`.

use std::any::Any;

use blueflame::cq::setup::ReceiverError;
use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{MIN_INLINE_HEADERS, Rc};
use blueflame_devx::Error;
use blueflame_devx::cmd::ServiceType;
use blueflame_devx::object::{OwnedCq, OwnedRq, SharedReceives, Tis, TransportDomain, Uar};

use crate::end::Ground;
use crate::ground::ground;

fn completion_queue(ground: &Ground) -> OwnedCq {
    let uar = Uar::new(&ground.context).expect("a register");
    ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue")
}

fn frames(ground: &Ground, cq: &OwnedCq) -> Result<OwnedRq, Error> {
    ground.pd.recv_queue(&ground.rings, cq, 16, 1)
}

fn refused<T>(made: Result<T, Error>) -> ReceiverError {
    match made {
        Err(Error::Receivers { error, .. }) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("made"),
    }
}

type Line = (&'static str, fn(&Ground, &OwnedCq) -> Result<Box<dyn Any>, Error>);

/// Each object that receives on a completion queue.
const OTHERS: &[Line] = &[
    ("queue pair", |ground, cq| Ok(Box::new(ground.pd.queue_pair::<Rc>(&ground.rings, cq, cq).build()?))),
    ("queue pair, shared receives", |ground, cq| {
        let srq = ground.pd.shared_recv_queue(&ground.rings, 15, 1)?;
        let shared = SharedReceives::from(srq.handle());
        let pair = ground.pd.queue_pair::<Rc>(&ground.rings, cq, cq).shared_receives(&shared).build()?;
        Ok(Box::new((srq, pair)))
    }),
    ("raw queue pair", |ground, cq| {
        let builder = ground.pd.raw_queue_pair(ServiceType::UD, &ground.rings, cq, cq);
        Ok(Box::new(builder.build_on(Uar::new(&ground.context)?)?.qp))
    }),
    ("target", |ground, cq| {
        let srq = ground.pd.shared_recv_queue(&ground.rings, 15, 1)?;
        let target = ground.pd.dct(cq.handle(), &SharedReceives::from(srq.handle()), &ground.path, 1)?;
        Ok(Box::new((srq, target)))
    }),
    ("extended receive queue", |ground, cq| {
        Ok(Box::new(ground.pd.extended_recv_queue(&ground.rings, cq.handle(), 15, 1)?))
    }),
    ("list of tags", |ground, cq| {
        Ok(Box::new(ground.pd.tag_matching(&ground.rings, cq, &ground.path, &TagListSizes::DEFAULT)?))
    }),
];

#[test]
fn a_receive_queue_of_frames_is_the_only_receiver() {
    let ground = ground();
    if !ground.context.general().expect("capabilities").eth_net_offloads() {
        return;
    }
    let (cq, other) = (completion_queue(&ground), completion_queue(&ground));
    let first = frames(&ground, &cq).expect("a receive queue");
    assert_eq!(refused(frames(&ground, &cq)), ReceiverError { flow_tags: true, receivers: 1 });
    for (name, make) in OTHERS {
        match make(&ground, &cq) {
            Err(Error::Capability { .. }) => {}
            made => assert_eq!(refused(made), ReceiverError { flow_tags: false, receivers: 1 }, "{name}"),
        }
    }
    // Sends may complete there.
    let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
    let (tis, uar) = (Tis::new(&domain, 0).expect("CREATE_TIS"), Uar::new(&ground.context).expect("a register"));
    let sends = ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &cq, &tis, uar, 16).expect("a send queue");
    let pair = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &other).build().expect("receives elsewhere");
    let none = ground.pd.queue_pair::<Rc>(&ground.rings, &cq, &cq).no_receives().build().expect("no receives");
    assert_eq!(refused(frames(&ground, &other)), ReceiverError { flow_tags: true, receivers: 1 });
    drop((sends, pair, none));

    // The other way around, once it is gone: handles count, too.
    let handle = first.handle().clone();
    drop(first);
    assert_eq!(refused(OTHERS[0].1(&ground, &cq)).receivers, 1);
    drop(handle);
    for (name, make) in OTHERS {
        let made = match make(&ground, &cq) {
            Err(Error::Capability { .. }) => continue,
            made => made.unwrap_or_else(|error| panic!("{name}: {error}")),
        };
        let error = refused(frames(&ground, &cq));
        assert!(error.flow_tags && error.receivers >= 1, "{name}: {error}");
        drop(made);
        drop(frames(&ground, &cq).unwrap_or_else(|error| panic!("after {name}: {error}")));
    }
}
