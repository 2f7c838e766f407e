//! Objects of two contexts exchanged: each call takes each of its objects from another open device in turn, and refuses
//! it.
//!
//! The number of an object there is the number of another here, or of none.
//!
//! Objects of other devices belong here, wrong numbers in `errors.rs`.

use std::sync::Arc;

use blueflame::queue::tags::TagListSizes;
use blueflame::transport::{MIN_INLINE_HEADERS, Rc};
use blueflame::verbs::{self, Access, Device};
use blueflame_devx::cmd::{FlowTableType, FteMatchParam, HeaderField, QueryCqIn, ServiceType};
use blueflame_devx::mailbox::Structure;
use blueflame_devx::memory::Umem;
use blueflame_devx::object::{
    Cq, Destination, FlowCounter, FlowGroup, FlowRule, FlowTable, HeaderAction, MatchCriteria, Mkey, ModifyHeader,
    OwnedCq, OwnedRq, OwnedSrq, Pd, Rqt, Rss, SharedReceives, SharedUar, ThreadUar, Tir, Tis, TransportDomain, Uar,
};
use blueflame_devx::{Answers, Context, Error, EventChannel, EventType};

use crate::carried_out::list_at_exit;
use crate::end::Ground;

/// One of each object that others are made of.
struct Things {
    context: Context,
    ground: Ground,
    uar: ThreadUar,
    cq: OwnedCq,
    umem: Arc<Umem>,
    keys: [Mkey; 2],
    srq: OwnedSrq,
    shared: SharedReceives,
    verbs_srq: verbs::OwnedSrq,
    frames: Option<Frames>,
}

/// Those of Ethernet.
struct Frames {
    domain: TransportDomain,
    tis: Tis,
    rq: OwnedRq,
    rqt: Rqt,
    tir: Arc<Tir>,
    table: FlowTable,
    next: FlowTable,
    group: FlowGroup,
    counter: Arc<FlowCounter>,
}

const RSS: Rss = Rss { fields: 3, ..Rss::tcp([0x5a; 40]) };

impl Things {
    fn new(device: &str) -> Result<Self, Error> {
        let context = Context::over(Device::options().devx(true).open(device)?);
        let path = context.device().path(1, None)?;
        let ground = Ground::over(context.clone(), path);
        let uar = ThreadUar::new(&context)?;
        let cq = ground.rings.completion_queue(uar.page(), 512).build()?;
        let umem = Arc::new(Umem::new(&context, 1 << 14)?);
        let key = || Mkey::of_memory(&ground.pd, &umem, 0..1 << 13, Access::ALL);
        let keys = [key()?, key()?];
        let srq = ground.pd.shared_recv_queue(&ground.rings, 15, 1)?;
        let shared = SharedReceives::from(srq.handle());
        let verbs_srq = ground.verbs_pd.shared_recv_queue(16, 1)?;
        let frames = match context.general()?.eth_net_offloads() {
            true => Some(Frames::new(&ground, &uar)?),
            false => None,
        };
        Ok(Self { context, uar, cq, umem, keys, srq, shared, verbs_srq, frames, ground })
    }

    fn frames(&self) -> &Frames {
        self.frames.as_ref().expect("a device with Ethernet")
    }
}

impl Frames {
    fn new(ground: &Ground, uar: &ThreadUar) -> Result<Self, Error> {
        let domain = TransportDomain::new(&ground.context)?;
        let cq = ground.rings.completion_queue(uar.page(), 512).build()?;
        let rq = ground.pd.recv_queue(&ground.rings, &cq, 16, 1)?;
        let rqt = Rqt::new(&[rq.handle().clone(), rq.handle().clone()])?;
        let table = FlowTable::new(&ground.context, FlowTableType::NIC_RX, 1, 4)?;
        Ok(Self {
            tis: Tis::new(&domain, 0)?,
            tir: Arc::new(Tir::direct(&domain, rq.handle())?),
            next: FlowTable::new(&ground.context, FlowTableType::NIC_RX, 2, 4)?,
            group: FlowGroup::new(&table, 0, 15, MatchCriteria::default(), &FteMatchParam::zeroed())?,
            counter: Arc::new(FlowCounter::new(&ground.context)?),
            domain,
            rq,
            rqt,
            table,
        })
    }
}

/// A call of `here`, with one object of `there`.
type Line = (&'static str, fn(&Things, &Things) -> Result<(), Error>);

const ALL: &[Line] = &[
    ("completion queue, page", |here, there| here.ground.rings.completion_queue(there.uar.page(), 4).build().map(drop)),
    ("completion queue resized, rings", |here, there| {
        let mut cq = here.ground.rings.completion_queue(here.uar.page(), 4).build()?;
        Cq::resize(&mut cq, &there.ground.rings, 16)
    }),
    ("domain of verbs", |here, there| Pd::of_verbs(&here.context, &there.ground.verbs_pd).map(drop)),
    ("shared receives of verbs", |here, there| {
        SharedReceives::of_verbs(&here.context, there.verbs_srq.handle()).map(drop)
    }),
    ("queue pair, rings", |here, there| pair(here, there, here, here).map(drop)),
    ("queue pair, send completions", |here, there| pair(here, here, there, here).map(drop)),
    ("queue pair, receive completions", |here, there| pair(here, here, here, there).map(drop)),
    ("queue pair, shared receives", |here, there| {
        let (pd, rings, cq) = (&here.ground.pd, &here.ground.rings, &here.cq);
        pd.queue_pair::<Rc>(rings, cq, cq).shared_receives(&there.shared).build().map(drop)
    }),
    ("queue pair, its register", |here, there| {
        let (pd, rings, cq) = (&here.ground.pd, &here.ground.rings, &here.cq);
        pd.queue_pair::<Rc>(rings, cq, cq).build_on(Uar::new(&there.context)?).map(drop)
    }),
    ("queue pair, a thread's register", |here, there| {
        let (pd, rings, cq) = (&here.ground.pd, &here.ground.rings, &here.cq);
        pd.queue_pair::<Rc>(rings, cq, cq).build_in(&there.uar).map(drop)
    }),
    ("queue pair, a shared register", |here, there| {
        let (pd, rings, cq) = (&here.ground.pd, &here.ground.rings, &here.cq);
        let shared = SharedUar::over(Uar::new(&there.context)?)?;
        pd.queue_pair::<Rc>(rings, cq, cq).build_shared(&shared).map(drop)
    }),
    ("raw queue pair, its register", |here, there| {
        let (pd, rings, cq) = (&here.ground.pd, &here.ground.rings, &here.cq);
        pd.raw_queue_pair(ServiceType::UD, rings, cq, cq).build_on(Uar::new(&there.context)?).map(drop)
    }),
    ("shared receive queue, rings", |here, there| {
        here.ground.pd.shared_recv_queue(&there.ground.rings, 15, 1).map(drop)
    }),
    ("extended receive queue, rings", |here, there| {
        here.ground.pd.extended_recv_queue(&there.ground.rings, here.cq.handle(), 15, 1).map(drop)
    }),
    ("extended receive queue, completions", |here, there| {
        here.ground.pd.extended_recv_queue(&here.ground.rings, there.cq.handle(), 15, 1).map(drop)
    }),
    ("target, completions", |here, there| {
        here.ground.pd.dct(there.cq.handle(), &here.shared, &here.ground.path, 1).map(drop)
    }),
    ("target, shared receives", |here, there| {
        here.ground.pd.dct(here.cq.handle(), &there.shared, &here.ground.path, 1).map(drop)
    }),
    ("key, memory", |here, there| Mkey::of_memory(&here.ground.pd, &there.umem, 0..4096, Access::ALL).map(drop)),
    ("key, pieces", |here, there| {
        let pieces = [here.keys[0].piece(0..100)?, there.keys[1].piece(0..100)?];
        Mkey::of_pieces(&here.ground.pd, &pieces, Access::ALL).map(drop)
    }),
    ("key, equal pieces", |here, there| {
        let pieces = [here.keys[0].piece(0..4096)?, there.keys[1].piece(0..4096)?];
        Mkey::of_equal_pieces(&here.ground.pd, &pieces, Access::ALL).map(drop)
    }),
    ("event channel, object", |here, there| {
        EventChannel::new(&here.context)?.subscribe(Some(there.srq.handle().object()), &[EventType::SRQ_RQ_LIMIT], 1)
    }),
    ("answers, object", |here, there| {
        let mut question = QueryCqIn::new();
        question.set_cqn(there.cq.cqn());
        Answers::new(&here.context)?.ask(there.cq.handle().object(), &question, 1)
    }),
];

/// No device matches tags on Ethernet.
const OF_TAGS: &[Line] = &[
    ("tag matching, rings", |here, there| {
        let (ground, cq) = (&here.ground, &here.cq);
        ground.pd.tag_matching(&there.ground.rings, cq, &ground.path, &TagListSizes::DEFAULT).map(drop)
    }),
    ("tag matching, completions", |here, there| {
        let (ground, cq) = (&here.ground, &there.cq);
        ground.pd.tag_matching(&ground.rings, cq, &ground.path, &TagListSizes::DEFAULT).map(drop)
    }),
];

const OF_FRAMES: &[Line] = &[
    ("send queue, rings", |here, there| {
        let uar = Uar::new(&here.context)?;
        let ground = &here.ground;
        ground.pd.send_queue::<MIN_INLINE_HEADERS>(&there.ground.rings, &here.cq, &here.frames().tis, uar, 16).map(drop)
    }),
    ("send queue, completions", |here, there| {
        let uar = Uar::new(&here.context)?;
        let ground = &here.ground;
        ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &there.cq, &here.frames().tis, uar, 16).map(drop)
    }),
    ("send queue, interface", |here, there| {
        let uar = Uar::new(&here.context)?;
        let ground = &here.ground;
        ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &here.cq, &there.frames().tis, uar, 16).map(drop)
    }),
    ("send queue, register", |here, there| {
        let uar = Uar::new(&there.context)?;
        let ground = &here.ground;
        ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &here.cq, &here.frames().tis, uar, 16).map(drop)
    }),
    ("receive queue, rings", |here, there| {
        here.ground.pd.recv_queue::<blueflame::WrId>(&there.ground.rings, &here.cq, 16, 1).map(drop)
    }),
    ("receive queue, completions", |here, there| {
        here.ground.pd.recv_queue::<blueflame::WrId>(&here.ground.rings, &there.cq, 16, 1).map(drop)
    }),
    ("table of queues", |here, there| {
        Rqt::new(&[here.frames().rq.handle().clone(), there.frames().rq.handle().clone()]).map(drop)
    }),
    ("table of queues, others", |here, there| here.frames().rqt.set_queues(&[there.frames().rq.handle().clone()])),
    ("interface of a queue", |here, there| Tir::direct(&here.frames().domain, there.frames().rq.handle()).map(drop)),
    ("interface of a table", |here, there| Tir::spread(&here.frames().domain, &there.frames().rqt, &RSS).map(drop)),
    ("what a table misses", |here, there| here.frames().table.set_miss(Some(&there.frames().next))),
    ("rule, interface", |here, there| rule(here.frames(), &[Destination::Tir(&there.frames().tir)], None).map(drop)),
    ("rule, table", |here, there| rule(here.frames(), &[Destination::Table(&there.frames().next)], None).map(drop)),
    ("rule, counter", |here, there| rule(here.frames(), &[], Some(&there.frames().counter)).map(drop)),
    ("rule, list of actions on headers", |here, there| {
        let action = HeaderAction::set(HeaderField::METADATA_REG_B, 1);
        let list = Arc::new(ModifyHeader::new(&there.context, FlowTableType::NIC_RX, &[action])?);
        FlowRule::modifying(&here.frames().group, 0, &list, &FteMatchParam::zeroed(), &[], None).map(drop)
    }),
    ("rule, other destinations", |here, there| {
        rule(here.frames(), &[Destination::Tir(&here.frames().tir)], None)?
            .set_destinations(&[Destination::Tir(&there.frames().tir)])
    }),
];

fn pair(here: &Things, rings: &Things, sends: &Things, receives: &Things) -> Result<(), Error> {
    let builder = here
        .ground
        .pd
        .queue_pair::<Rc>(&rings.ground.rings, &sends.cq, &receives.cq)
        .sends(16)
        .receives::<blueflame::WrId>(4);
    builder.build().map(drop)
}

fn rule(of: &Frames, to: &[Destination<'_>], counter: Option<&Arc<FlowCounter>>) -> Result<FlowRule, Error> {
    FlowRule::new(&of.group, 0, &FteMatchParam::zeroed(), to, counter)
}

/// The calls that took a foreign object, or that fail with their own.
fn wrong(what: &str, table: &[Line], here: &Things, there: &Things) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, call) in table {
        match call(here, here) {
            Ok(()) | Err(Error::Capability { .. }) => {}
            Err(error) => wrong.push(format!("{name}, of one context: {error}")),
        }
        match call(here, there) {
            Err(Error::ForeignDevice { .. }) => {}
            Err(error) => wrong.push(format!("{name}, of {what}: {error}")),
            Ok(()) => wrong.push(format!("{name}, of {what}: taken")),
        }
    }
    wrong
}

#[test]
fn no_call_takes_an_object_of_another_open_device() {
    list_at_exit();
    let names = verbs::device_names().expect("devices");
    let open = |device: &str| Things::new(device).unwrap_or_else(|error| panic!("{device}: {error}"));
    let here = open(&names[0]);
    // This device opened once more, and each other one: numbers begin alike there.
    let mut others = vec![("another context", open(&names[0]))];
    others.extend(names[1..].iter().map(|name| ("another device", open(name))));
    let mut all = Vec::new();
    for (what, there) in &others {
        all.extend(wrong(what, ALL, &here, there));
        if here.context.general().expect("capabilities").tag_matching() {
            all.extend(wrong(what, OF_TAGS, &here, there));
        }
        if here.frames.is_some() && there.frames.is_some() {
            all.extend(wrong(what, OF_FRAMES, &here, there));
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}
