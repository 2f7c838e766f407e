//! Objects beside connected queue pairs: datagrams, dynamic connections, Ethernet queues, flow rules, counters.
//!
//! Objects belong here, rules in detail in `steering.rs`.

use std::sync::Arc;

use blueflame::queue::Done;
use blueflame::transport::MIN_INLINE_HEADERS;
use blueflame::types::WrId;
use blueflame::verbs::device::LinkLayer;
use blueflame::wqe;
use blueflame::wqe::limits::FrameOffloads;
use blueflame_devx::cmd::{
    FlowMeterAsoObj, FlowTableType, FteMatchParam, InlineModeSource, MinInlineMode, PerProtocolNetworkingOffloadCaps,
    QpcState, QueryNicVportContextIn, QueueState, RqType, ServiceType,
};
use blueflame_devx::mailbox::Structure;
use blueflame_devx::object::{
    Destination, FlowCounter, FlowGroup, FlowRule, FlowTable, GeneralObject, MatchCriteria, Psv, QCounter, Rqt, Rss,
    SharedReceives, Tir, Tis, TransportDomain, Uar, UarKind,
};
use blueflame_devx::{CapMode, Error, cmd};

use crate::end::Ground;
use crate::ground::ground;

#[test]
fn a_datagram_queue_pair_goes_to_rts() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let builder = ground.pd.raw_queue_pair(ServiceType::UD, &ground.rings, &cq, &cq);
    let raw = builder.sends(16).receives(16).build_on(uar).expect("a queue pair");
    raw.qp.start_datagrams(&ground.path, 0x1111_1111).expect("RTS");
    let context = raw.qp.query().expect("QUERY_QP");
    assert_eq!((context.state(), context.st(), context.q_key()), (QpcState::RTS, ServiceType::UD, 0x1111_1111));
    assert_eq!(context.log_msg_max(), 12, "of 4096 bytes, as Linux has it");
    assert_eq!((raw.sq.wqebbs, raw.rq.wqe_cnt), (16, 16));
    assert!(matches!(raw.qp.start_initiator(&ground.path), Err(Error::Foreign { .. })));
}

#[test]
fn an_initiator_and_a_target_are_made() {
    let ground = ground();
    let general = ground.context.general().expect("capabilities");
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let srq = ground.verbs_pd.shared_recv_queue(16, 1).expect("a shared receive queue of verbs");
    let shared = SharedReceives::of_verbs(&ground.context, srq.handle()).expect("of this device");
    let mut path = ground.path.clone();
    (path.service_level, path.traffic_class) = (3, 0x68);
    let made = ground.pd.dct(cq.handle(), &shared, &path, 0x5566);
    if !general.dct() {
        assert!(matches!(made, Err(Error::Capability { name: "cmd_hca_cap.dct", .. })), "{made:?}");
        return;
    }
    let dct = made.expect("a target");
    let context = dct.query().expect("QUERY_DCT");
    assert_eq!((context.dc_access_key(), context.cqn()), (0x5566, cq.cqn()));
    // RoCE v2 has the class as DSCP. Priorities of Ethernet and service levels of InfiniBand have fields of their own.
    let ethernet = path.port.link_layer == LinkLayer::Ethernet;
    let (priority, dscp) = if ethernet { (3, 0x68 >> 2) } else { (0, 0) };
    assert_eq!((context.tclass(), context.eth_prio(), context.dscp()), (0x68, priority, dscp));
    let builder = ground.pd.raw_queue_pair(ServiceType::DCI, &ground.rings, &cq, &cq);
    let raw = builder.sends(16).receives(0).build_on(uar).expect("an initiator");
    raw.qp.start_initiator(&path).expect("RTS");
    let context = raw.qp.query().expect("QUERY_QP");
    assert_eq!((context.state(), context.rae()), (QpcState::RTS, general.atomic()));
    let way = context.primary_address_path();
    assert_eq!((way.eth_prio(), way.sl()), if ethernet { (3, 0) } else { (0, 3) });
    assert_eq!(raw.rq.wqe_cnt, 0);
}

#[test]
fn a_queue_pair_takes_receives_from_a_shared_queue() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let srq = ground.pd.shared_recv_queue(&ground.rings, 30, 1).expect("a shared receive queue");
    assert_eq!(srq.capacity(), 31);
    let shared = SharedReceives::from(srq.handle());
    let builder = ground.pd.queue_pair::<blueflame::transport::Rc>(&ground.rings, &cq, &cq);
    let pair = builder.shared_receives(&shared).build_on(uar).expect("a queue pair");
    assert_eq!(pair.rq.capacity(), 0);
    let context = pair.qp.query().expect("QUERY_QP");
    assert_eq!((context.rq_type(), context.srqn_rmpn_xrqn()), (RqType::SRQ_RMP_XRC_SRQ_XRQ, srq.srqn()));
    srq.handle().arm(4).expect("MODIFY_RMP");
    assert_eq!(srq.handle().query().expect("QUERY_RMP").wq().lwm(), 4);
}

/// Whether the device speaks Ethernet: queues of frames need it.
fn ethernet(ground: &Ground) -> bool {
    let general = ground.context.general().expect("capabilities");
    general.eth_net_offloads()
}

#[test]
fn frames_leave_by_a_send_queue() {
    let ground = ground();
    let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
    if !ethernet(&ground) {
        return;
    }
    let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
    let uar = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    let mut cq = cq;
    let mut sq = ground.pd.send_queue::<MIN_INLINE_HEADERS>(&ground.rings, &cq, &tis, uar, 16).expect("a send queue");
    let context = sq.handle().query().expect("QUERY_SQ");
    assert_eq!(context.state(), QueueState::RDY);
    assert!(context.allow_swp());
    // This device needs nothing inline, so the field does not count.
    assert_eq!(context.min_wqe_inline_mode(), MinInlineMode::NONE);
    let frame: [u8; 64] = std::array::from_fn(|n| n as u8);
    let headers: &[u8; 18] = frame.first_chunk().expect("64 bytes");
    sq.post(&wqe::frame().inline_headers(headers).inline_slice(&frame[18..]).signaled(WrId(9))).expect("room");
    let mut done = None;
    while done.is_none() {
        cq.poll_with(1, |cqe| done = Some(sq.complete(&cqe).map(|done| done.wr_id)));
    }
    assert_eq!(done, Some(Ok(WrId(9))));
}

/// With write combining or not. Traffic by such registers is the rest of the suite on a device without.
#[test]
fn registers_without_blueflame_are_dedicated_where_libmlx5_has_them() {
    let context = ground().context;
    let place = |uar: &Uar| uar.parts().reg;
    let dedicated = Uar::with_kind(&context, UarKind::NonCachedDedicated);
    let (one, two) = (Uar::non_cached(&context).expect("a register"), Uar::non_cached(&context).expect("a register"));
    assert_eq!((one.parts().size, two.parts().size), (0, 0), "no BlueFlame");
    match dedicated {
        Ok(three) => {
            let all = [&one, &two, &three];
            assert!(all.iter().all(|uar| uar.page().kind() == UarKind::NonCachedDedicated));
            assert!(place(&one) != place(&two) && place(&two) != place(&three) && place(&one) != place(&three));
        }
        Err(Error::Call(error)) => {
            assert_eq!(error.errno, libc::EOPNOTSUPP, "{error}");
            assert_eq!([&one, &two].map(|uar| uar.page().kind()), [UarKind::NonCached; 2]);
            assert_eq!(place(&one), place(&two), "one of the context's");
        }
        Err(error) => panic!("{error}"),
    }
}

/// Tries to make a send queue of frames with `HEADERS` bytes inline.
fn send_queue<const HEADERS: usize>(ground: &Ground, tis: &Tis) -> Result<MinInlineMode, Error> {
    let uar = Uar::new(&ground.context)?;
    let cq = ground.rings.completion_queue(uar.page(), 512).build()?;
    let sq = ground.pd.send_queue::<HEADERS>(&ground.rings, &cq, tis, uar, 16)?;
    Ok(sq.handle().query()?.min_wqe_inline_mode())
}

/// The test suite runs this on devices that need nothing inline (`wqe_inline_mode` NOT_REQUIRED), layer 2 (L2), and
/// more (VPORT_CONTEXT).
#[test]
fn frames_have_the_headers_inline_that_the_device_needs() {
    let ground = ground();
    if !ethernet(&ground) {
        return;
    }
    let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
    let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
    let offloads = ground.context.capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current);
    let source = offloads.expect("offloads").wqe_inline_mode();
    let port = ground.context.execute(&QueryNicVportContextIn::new()).expect("QUERY_NIC_VPORT_CONTEXT");
    let (needed, field) = match source {
        InlineModeSource::NOT_REQUIRED => (MinInlineMode::NONE, MinInlineMode::NONE),
        InlineModeSource::L2 => (MinInlineMode::L2, MinInlineMode::NONE),
        InlineModeSource::VPORT_CONTEXT => {
            let mode = port.nic_vport_context().min_wqe_inline_mode();
            (mode, mode)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(ground.context.min_inline_mode(), Ok(needed));
    let made = [
        send_queue::<0>(&ground, &tis),
        send_queue::<MIN_INLINE_HEADERS>(&ground, &tis),
        send_queue::<34>(&ground, &tis),
        send_queue::<42>(&ground, &tis),
    ];
    for (mode, made) in (0..).zip(made) {
        let what = "inline mode of a send queue";
        let too_few = Error::OutOfRange { what, value: mode, min: needed.0.into(), max: 7 };
        let expected = if mode >= needed.0.into() { Ok(field) } else { Err(too_few) };
        assert_eq!(made, expected, "mode {mode} where {source:?} says {needed:?}");
    }
}

/// Frames of one WQE leave by a queue that says that it has such WQEs. Devices that need headers inline have none.
#[test]
fn sessions_need_a_device_without_headers_inline() {
    let ground = ground();
    if !ethernet(&ground) {
        return;
    }
    let context = &ground.context;
    let taken = context.min_inline_mode() == Ok(MinInlineMode::NONE);
    let offloads = context.frame_offloads().expect("QUERY_HCA_CAP");
    // The software device cuts up 256 KiB.
    let all = FrameOffloads {
        multi_packet: taken,
        inner_checksums: true,
        header_offsets: true,
        header_offsets_of_large: true,
        metadata: true,
        max_large_send: 1 << 18,
    };
    assert_eq!(offloads, all);
    let domain = TransportDomain::new(context).expect("ALLOC_TRANSPORT_DOMAIN");
    let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
    let uar = Uar::new(context).expect("a register");
    let mut cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
    if !taken {
        let sq = ground.pd.send_queue::<42>(&ground.rings, &cq, &tis, uar, 16).expect("a send queue");
        assert!(
            !sq.limits().offloads.multi_packet && !sq.handle().query().expect("QUERY_SQ").allow_multi_pkt_send_wqe()
        );
        return;
    }
    let mut sq = ground.pd.send_queue::<0>(&ground.rings, &cq, &tis, uar, 16).expect("a send queue");
    assert!(sq.handle().query().expect("QUERY_SQ").allow_multi_pkt_send_wqe());
    for round in 0..20 {
        let mut batch = sq.batch();
        let mut session = batch.session(&wqe::frame().signaled(WrId(8 * round))).expect("room");
        for n in 0..8 {
            session.inline(&[n; 60]).expect("room");
        }
        session.close();
        batch.ring_doorbell();
        let mut done = None;
        while done.is_none() {
            cq.poll_with(1, |cqe| {
                assert_eq!(cqe.check().map(drop), Ok(()));
                done = sq.retire(&cqe).ok();
            });
        }
        let tags: Vec<WrId> = done.into_iter().flat_map(Done::wr_ids).collect();
        assert_eq!(tags, (8 * round..).take(8).map(WrId).collect::<Vec<_>>());
    }
}

#[test]
fn rules_send_to_queues_and_count() {
    let ground = ground();
    if !ethernet(&ground) {
        return;
    }
    let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
    let uar = Uar::new(&ground.context).expect("a register");
    let queues = [(); 2].map(|()| {
        let cq = ground.rings.completion_queue(uar.page(), 512).build().expect("a completion queue");
        ground.pd.recv_queue::<WrId>(&ground.rings, &cq, 16, 1).expect("a receive queue")
    });
    assert_eq!(queues[0].handle().query().expect("QUERY_RQ").state(), QueueState::RDY);
    let rqt = Rqt::new(&[queues[0].handle().clone(), queues[1].handle().clone()]).expect("CREATE_RQT");
    let rss = Rss { fields: 3, ..Rss::tcp([0x5a; 40]) };
    let spread = Arc::new(Tir::spread(&domain, &rqt, &rss).expect("CREATE_TIR"));
    let direct = Arc::new(Tir::direct(&domain, queues[0].handle()).expect("CREATE_TIR"));
    let table = FlowTable::new(&ground.context, FlowTableType::NIC_RX, 1, 4).expect("CREATE_FLOW_TABLE");
    let mut mask = FteMatchParam::zeroed();
    mask.outer_headers_mut().set_ethertype(0xffff);
    let criteria = MatchCriteria { outer_headers: true, ..MatchCriteria::default() };
    let group = FlowGroup::new(&table, 0, 7, criteria, &mask).expect("CREATE_FLOW_GROUP");
    let counter = Arc::new(FlowCounter::new(&ground.context).expect("ALLOC_FLOW_COUNTER"));
    let mut value = FteMatchParam::zeroed();
    value.outer_headers_mut().set_ethertype(0x0800);
    let to = [Destination::Tir(&spread)];
    let first = FlowRule::new(&group, 0, &value, &to, Some(&counter)).expect("a rule that counts");
    value.outer_headers_mut().set_ethertype(0x88b5);
    let second = FlowRule::new(&group, 1, &value, &[Destination::Tir(&direct)], None).expect("a rule");
    value.outer_headers_mut().set_ethertype(0x88b6);
    let third = FlowRule::new(&group, 2, &value, &[], None).expect("a rule that drops");
    let outside = FlowRule::new(&group, 8, &value, &[], None);
    assert!(matches!(outside, Err(Error::OutOfRange { .. })), "{outside:?}");
    let counted = counter.read(false).expect("QUERY_FLOW_COUNTER");
    assert_eq!((counted.packets(), counted.octets()), (0, 0));
    // The objects under the rules are dropped first here, and still destroyed last.
    drop((table, group, counter, spread, direct, rqt, queues));
    drop((first, second, third));
}

#[test]
fn counters_and_signature_values() {
    let ground = ground();
    let counters = QCounter::new(&ground.context).expect("ALLOC_Q_COUNTER");
    let all = counters.read(true).expect("QUERY_Q_COUNTER");
    assert_eq!(all.out_of_buffer(), 0);
    match Psv::new(&ground.pd) {
        Ok(psv) => assert_ne!(psv.index(), 0),
        Err(Error::Command(error)) => assert_eq!(error.status, cmd::Status::BAD_OP_ERR, "{error}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_general_object_is_made_if_the_device_has_its_kind() {
    let ground = ground();
    let mut meter = FlowMeterAsoObj::zeroed();
    meter.set_meter_aso_access_pd(ground.pd.pdn().get());
    let error = GeneralObject::new(&ground.context, &meter).expect_err("the device has no such kind");
    assert_eq!(error, Error::Capability { name: "cmd_hca_cap.general_obj_types", needed: 1, found: 0 });
}
