//! Interfaces of frames, tables of queues, and flow rules: the device's answers to queries, and later changes.
//!
//! Steering belongs here, queues of frames in `objects.rs`.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use blueflame::SetupError;
use blueflame::flow::Flow;
use blueflame_devx::cmd::{
    DestinationType, FlowTableType, FteMatchParam, HeaderField, PerProtocolNetworkingOffloadCaps, QueueState, Status,
    TirDispatch,
};
use blueflame_devx::mailbox::Structure;
use blueflame_devx::object::{
    Destination, FlowCounter, FlowGroup, FlowRule, FlowTable, HeaderAction, MatchCriteria, Merging, ModifyHeader,
    OwnedRq, Rqt, Rss, Tir, Tis, TransportDomain, Uar,
};
use blueflame_devx::{CapMode, Error, Object};
use blueflame_sys as sys;

use crate::end::Ground;
use crate::ground::ground;

/// Whether there are frames. InfiniBand has none.
fn frames(ground: &Ground) -> bool {
    ground.context.general().expect("capabilities").eth_net_offloads()
}

fn domain(ground: &Ground) -> TransportDomain {
    TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN")
}

fn queues<const N: usize>(ground: &Ground) -> [OwnedRq; N] {
    let uar = Uar::new(&ground.context).expect("a register");
    [(); N].map(|()| {
        let cq = ground.rings.completion_queue(uar.page(), 64).build().expect("a completion queue");
        ground.pd.recv_queue(&ground.rings, &cq, 16, 1).expect("a receive queue")
    })
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> Status {
    match result {
        Err(Error::Command(error)) => error.status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_priority_of_an_interface_of_sends_changes() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let domain = domain(&ground);
    let tis = Tis::new(&domain, 3).expect("CREATE_TIS");
    let context = tis.query().expect("QUERY_TIS");
    assert_eq!((context.prio(), context.transport_domain()), (3 << 1, domain.tdn()));
    tis.set_priority(5).expect("MODIFY_TIS");
    let context = tis.query().expect("QUERY_TIS");
    assert_eq!((context.prio(), context.transport_domain()), (5 << 1, domain.tdn()));
    let error = tis.set_priority(8).expect_err("priorities end at 7");
    assert_eq!(error, Error::OutOfRange { what: "priority", value: 8, min: 0, max: 7 });
    assert_eq!(tis.query().expect("QUERY_TIS").prio(), 5 << 1);
}

#[test]
fn a_table_gets_other_queues() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let [a, b, c] = queues(&ground);
    let [a, b, c] = [a.handle(), b.handle(), c.handle()];
    let table = Rqt::new(&[a, b, a, c].map(Clone::clone)).expect("CREATE_RQT");
    assert_eq!(table.query().expect("QUERY_RQT"), [a.rqn(), b.rqn(), a.rqn(), c.rqn()]);
    table.set_queues(&[c.clone(), a.clone()]).expect("MODIFY_RQT");
    assert_eq!(table.query().expect("QUERY_RQT"), [c.rqn(), a.rqn()]);
    let last = [b, b, c, a];
    table.set_queues(&last.map(Clone::clone)).expect("as many as it was made of");
    for count in [0, 8] {
        let error = table.set_queues(&vec![a.clone(); count]).expect_err("there is no such room");
        assert_eq!(error, Error::OutOfRange { what: "queues of a table", value: count as u64, min: 1, max: 4 });
    }
    let three = [a, b, c].map(Clone::clone);
    for refused in [table.set_queues(&three), Rqt::new(&three).map(drop)] {
        assert_eq!(refused, Err(Error::NotPowerOfTwo { what: "queues of a table", value: 3 }));
    }
    assert_eq!(table.query().expect("QUERY_RQT"), last.map(|queue| queue.rqn()));
}

#[test]
fn a_table_keeps_the_queues_that_it_got() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let [a, b] = queues(&ground);
    let table = Rqt::new(&[a.handle().clone()]).expect("CREATE_RQT");
    table.set_queues(&[b.handle().clone()]).expect("MODIFY_RQT");
    let number = b.handle().rqn();
    drop((a, b));
    let kept = table.queues();
    assert_eq!((table.query(), kept.len(), kept[0].rqn()), (Ok(vec![number]), 1, number));
    assert_eq!(kept[0].query().expect("QUERY_RQ").state(), QueueState::RDY);
}

#[test]
fn what_is_hashed_changes() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let table = Rqt::new(&[queue.handle().clone()]).expect("CREATE_RQT");
    let rss = Rss { fields: 3, ..Rss::tcp([0x5a; 40]) };
    let tir = Tir::spread(&domain, &table, &rss).expect("CREATE_TIR");
    let said = || {
        let context = tir.query().expect("QUERY_TIR");
        assert_eq!((context.disp_type(), context.indirect_table()), (TirDispatch::INDIRECT, table.rqtn()));
        assert_eq!(context.transport_domain(), domain.tdn());
        let fields = context.rx_hash_field_selector_outer();
        let (ipv6, udp) = (fields.l3_prot_type(), fields.l4_prot_type());
        let (key, symmetric) = (*context.rx_hash_toeplitz_key(), context.rx_hash_symmetric());
        Rss { key, fields: fields.selected_fields(), ipv6, udp, symmetric }
    };
    assert_eq!(said(), rss);
    let other = Rss { ipv6: true, symmetric: true, ..Rss::udp(std::array::from_fn(|n| n as u8)) };
    tir.set_hash(&other).expect("MODIFY_TIR");
    assert_eq!(said(), other);
    let error = tir.set_hash(&Rss { fields: 0, ..rss }).expect_err("nothing to hash");
    assert_eq!(error, Error::OutOfRange { what: "fields to hash", value: 0, min: 1, max: 0xf });
    assert_eq!(said(), other);

    let direct = Tir::direct(&domain, queue.handle()).expect("CREATE_TIR").query().expect("QUERY_TIR");
    assert_eq!((direct.disp_type(), direct.inline_rqn()), (TirDispatch::DIRECT, queue.handle().rqn()));
}

/// Merged frames themselves are in `vfio`: here the root of all rules is the kernel's.
#[test]
fn an_interface_merges_segments_within_the_devices_limits() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let tir = Tir::direct(&domain, queue.handle()).expect("CREATE_TIR");
    let said = || {
        let context = tir.query().expect("QUERY_TIR");
        (context.packet_merge_mask(), context.lro_timeout_period_usecs(), context.lro_max_ip_payload_size())
    };
    let merging = Merging { ipv4: true, ipv6: true, micros: 1024, max_bytes: 0x4321 };
    let caps = ground.context.capabilities::<PerProtocolNetworkingOffloadCaps>(CapMode::Current).expect("offloads");
    if !caps.lro_cap() {
        let error = tir.set_merging(Some(merging)).expect_err("no such capability");
        assert!(matches!(error, Error::Capability { found: 0, .. }), "{error:?}");
        return;
    }
    assert_eq!(said(), (0, 0, 0));
    tir.set_merging(Some(merging)).expect("MODIFY_TIR");
    assert_eq!(said(), (3, 1024, 0x43));
    tir.set_merging(Some(Merging { ipv4: false, max_bytes: Merging::MAX_BYTES, ..merging })).expect("MODIFY_TIR");
    assert_eq!(said(), (2, 1024, 255));
    for (max_bytes, value) in [(255, 255), (65281, 65281)] {
        let error = tir.set_merging(Some(Merging { max_bytes, ..merging })).expect_err("no such message");
        let what = "most bytes of merged segments";
        assert_eq!(error, Error::OutOfRange { what, value, min: 256, max: 65280 });
    }
    // No device merges for so short a time.
    let error = tir.set_merging(Some(Merging { micros: 0, ..merging })).expect_err("no time");
    assert!(matches!(error, Error::OutOfRange { value: 0, max: 0xffff, .. }), "{error:?}");
    assert_eq!(said(), (2, 1024, 255));
    tir.set_merging(None).expect("MODIFY_TIR");
    assert_eq!(said(), (0, 0, 0));
}

#[test]
fn what_no_rule_matches_goes_to_another_table() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let table = |level| FlowTable::new(&ground.context, FlowTableType::NIC_RX, level, 4).expect("CREATE_FLOW_TABLE");
    let (first, second) = (table(3), table(4));
    let context = first.query().expect("QUERY_FLOW_TABLE");
    assert_eq!((context.level(), context.log_size()), (3, 4));
    let miss = |of: &FlowTable| {
        let context = of.query().expect("QUERY_FLOW_TABLE");
        (context.table_miss_action(), context.table_miss_id())
    };
    assert_eq!(miss(&first), (0, 0));
    first.set_miss(Some(&second)).expect("MODIFY_FLOW_TABLE");
    assert_eq!(miss(&first), (1, second.id()));
    // Packets never go back.
    let status = refused(second.set_miss(Some(&first)));
    assert_eq!((status, miss(&second)), (Status::BAD_PARAM_ERR, (0, 0)));
    // The table is kept where packets go to it.
    let id = second.id();
    drop(second);
    assert_eq!(miss(&first), (1, id));
    let kept = first.miss().expect("set above");
    assert_eq!((kept.id(), kept.query().expect("QUERY_FLOW_TABLE").level()), (id, 4));
    first.set_miss(None).expect("MODIFY_FLOW_TABLE");
    assert_eq!((miss(&first), first.miss().is_none()), ((0, 0), true));
}

#[test]
fn a_rule_gets_other_destinations() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let tir = Arc::new(Tir::direct(&domain, queue.handle()).expect("CREATE_TIR"));
    let table = |level| FlowTable::new(&ground.context, FlowTableType::NIC_RX, level, 4).expect("CREATE_FLOW_TABLE");
    let (first, second) = (table(1), table(2));
    let mut mask = FteMatchParam::zeroed();
    mask.outer_headers_mut().set_ethertype(0xffff);
    let criteria = MatchCriteria { outer_headers: true, ..MatchCriteria::default() };
    let group = FlowGroup::new(&first, 2, 7, criteria, &mask).expect("CREATE_FLOW_GROUP");
    let said = group.query().expect("QUERY_FLOW_GROUP");
    assert_eq!((said.start_flow_index(), said.end_flow_index(), said.match_criteria_enable()), (2, 7, 1));
    assert_eq!(said.match_criteria(), &mask);

    let counter = Arc::new(FlowCounter::new(&ground.context).expect("ALLOC_FLOW_COUNTER"));
    let mut value = FteMatchParam::zeroed();
    value.outer_headers_mut().set_ethertype(0x88b5);
    let to = [Destination::Tir(&tir)];
    let mut rule = FlowRule::new(&group, 3, &value, &to, Some(&counter)).expect("SET_FLOW_TABLE_ENTRY");
    // Forward is 4, drop 2, count 8.
    let says = |rule: &FlowRule, action: u16, to: &[(DestinationType, u32)]| {
        let said = rule.query().expect("QUERY_FLOW_TABLE_ENTRY");
        assert_eq!((said.context.action(), said.context.group_id()), (action, group.id()));
        assert_eq!(said.context.match_value(), &value);
        let found: Vec<_> = said.to.iter().map(|to| (to.destination_type(), to.destination_id())).collect();
        assert_eq!((&*found, &*said.counters), (to, &[counter.id()][..]));
    };
    let (to_tir, to_table) = ((DestinationType::TIR, tir.tirn().get()), (DestinationType::FLOW_TABLE, second.id()));
    says(&rule, 4 | 8, &[to_tir]);
    rule.set_destinations(&[Destination::Table(&second)]).expect("SET_FLOW_TABLE_ENTRY");
    says(&rule, 4 | 8, &[to_table]);
    assert_eq!(Arc::strong_count(&tir), 1, "what it sent to before is not kept");
    rule.set_destinations(&[]).expect("SET_FLOW_TABLE_ENTRY");
    says(&rule, 2 | 8, &[]);
    // A rule that is refused changes nothing: its own table is not above it.
    let status = refused(rule.set_destinations(&[Destination::Table(&first)]));
    assert_eq!(status, Status::BAD_PARAM_ERR);
    says(&rule, 2 | 8, &[]);
    rule.set_destinations(&to).expect("SET_FLOW_TABLE_ENTRY");
    says(&rule, 4 | 8, &[to_tir]);
    assert_eq!(Arc::strong_count(&tir), 2);
}

#[test]
fn flows_of_verbs_are_rules_of_tables() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let tir = Arc::new(Tir::direct(&domain, queue.handle()).expect("CREATE_TIR"));
    let table = FlowTable::new(&ground.context, FlowTableType::NIC_RX, 1, 4).expect("CREATE_FLOW_TABLE");
    let flow = |last, port| Flow::udp(Ipv4Addr::new(239, 1, 2, last), port);
    let group = FlowGroup::of_flow(&table, 0, 7, &flow(1, 1)).expect("CREATE_FLOW_GROUP");
    let said = group.query().expect("QUERY_FLOW_GROUP");
    assert_eq!((said.match_criteria_enable(), said.match_criteria()), (1, group.mask()));

    // Other values of the same fields, with a tag. The tag stays when the destination changes.
    let to = [Destination::Tir(&tir)];
    let tagged = flow(2, 5001).flow_tag(0xab_cdef);
    let mut rule = FlowRule::of_flow(&group, 3, &tagged, &to, None).expect("SET_FLOW_TABLE_ENTRY");
    let tag = |rule: &FlowRule| rule.query().expect("QUERY_FLOW_TABLE_ENTRY").context.flow_tag();
    assert_eq!(tag(&rule), 0xab_cdef);
    let context = rule.query().expect("QUERY_FLOW_TABLE_ENTRY").context;
    let headers = context.match_value().outer_headers();
    assert_eq!((headers.udp_dport(), headers.dst_ipv4_dst_ipv6()[12..].to_vec()), (5001, vec![239, 1, 2, 2]));
    rule.set_destinations(&[]).expect("SET_FLOW_TABLE_ENTRY");
    assert_eq!(tag(&rule), 0xab_cdef);
    let plain = FlowRule::of_flow(&group, 4, &flow(3, 1).drop_frames(), &[], None).expect("SET_FLOW_TABLE_ENTRY");
    let context = plain.query().expect("QUERY_FLOW_TABLE_ENTRY").context;
    assert_eq!((context.flow_tag(), context.action()), (0, 2));

    let refused =
        |flow: Flow, to: &[Destination<'_>]| FlowRule::of_flow(&group, 5, &flow, to, None).expect_err("refused");
    assert_eq!(refused(flow(1, 1).source_port(1), &to), Error::Foreign { object: "group", of: "set of fields" });
    assert_eq!(refused(Flow::all_default(), &to), Error::KernelOnly { what: "default or sniffer" });
    assert!(matches!(refused(flow(1, 1).dont_trap(), &to), Error::KernelOnly { .. }));
    assert!(matches!(refused(flow(1, 1).priority(1), &to), Error::OutOfRange { value: 1, max: 0, .. }));
    assert!(matches!(refused(flow(1, 1).drop_frames(), &to), Error::OutOfRange { value: 1, max: 0, .. }));
    assert!(matches!(refused(flow(1, 1), &[]), Error::OutOfRange { value: 0, min: 1, .. }));
    assert_eq!(
        refused(flow(1, 1).vlan(5000), &to),
        Error::Setup(SetupError::OutOfRange { what: "VLAN of a flow", value: 5000, min: 0, max: 4095 })
    );
    let tag = FlowRule::tagged(&group, 5, 1 << 24, &FteMatchParam::zeroed(), &to, None).expect_err("24 bits");
    assert_eq!(tag, Error::OutOfRange { what: "flow tag", value: 1 << 24, min: 0, max: 0xff_ffff });
}

/// A rule of libmlx5's for frames to a station sends them to an interface that a command has made, and to no other
/// object (Linux `drivers/infiniband/hw/mlx5/devx.c`, `mlx5_ib_devx_is_flow_dest`). `blueflame doctor` sends frames so.
#[test]
fn rules_of_libmlx5_lead_to_interfaces() {
    /// `MLX5DV_FLOW_ACTION_DEST_DEVX`, and the outer headers among the fields that count.
    const TO_DEVX: u32 = 5;
    const OUTER: u8 = 1;
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let tir = Tir::direct(&domain, queue.handle()).expect("CREATE_TIR");
    let fields = |dmac| {
        let mut fields = FteMatchParam::zeroed();
        fields.outer_headers_mut().set_dmac_47_16(dmac);
        let mut match_buf = [0; sys::MATCH_BYTES];
        let bytes = fields.as_bytes();
        match_buf[..bytes.len()].copy_from_slice(bytes);
        sys::mlx5dv_flow_match_parameters { match_sz: sys::MATCH_BYTES, match_buf }
    };
    let mut mask = fields(u32::MAX);
    let mut attr = sys::mlx5dv_flow_matcher_attr {
        r#type: 0,
        flags: 0,
        priority: 0,
        match_criteria_enable: OUTER,
        match_mask: &raw mut mask,
        comp_mask: 0,
        ft_type: 0,
    };
    // SAFETY: the context is open; attributes and fields live until the call returns.
    let matcher = unsafe { sys::mlx5dv_create_flow_matcher(ground.context.device().as_raw(), &raw mut attr) };
    assert!(!matcher.is_null(), "{}", io::Error::last_os_error());
    // Of documentation (RFC 7042, 2.1.2).
    let mut values = fields(0x0000_5e00);
    let mut rule = |to: &Object| {
        let mut action = sys::mlx5dv_flow_action_attr { r#type: TO_DEVX, obj: to.as_raw().cast() };
        // SAFETY: matcher and object are alive; values and the action live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_flow(matcher, &raw mut values, 1, &raw mut action) };
        if raw.is_null() { Err(io::Error::last_os_error().raw_os_error()) } else { Ok(raw) }
    };
    assert_eq!(rule(queue.handle().object()), Err(Some(libc::EINVAL)), "a queue is no destination");
    let made = rule(tir.object()).expect("a rule");
    // SAFETY: made above, each destroyed once, the rule before its matcher.
    unsafe {
        assert_eq!(sys::ibv_destroy_flow(made), 0);
        assert_eq!(sys::mlx5dv_destroy_flow_matcher(matcher), 0);
    }
}

/// Lists of actions on headers: what a rule says of its own, also after its destinations have changed, and how long it
/// keeps the list.
#[test]
fn a_rule_modifies_headers() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let (domain, [queue]) = (domain(&ground), queues(&ground));
    let tir = Arc::new(Tir::direct(&domain, queue.handle()).expect("CREATE_TIR"));
    let make = |actions: &[HeaderAction]| ModifyHeader::new(&ground.context, FlowTableType::NIC_RX, actions);
    let whole = [
        HeaderAction::set(HeaderField::METADATA_REG_B, 0x0102_0304),
        HeaderAction::Set { field: HeaderField::METADATA_REG_C_3, offset: 8, bits: 4, value: 9 },
        HeaderAction::Add { field: HeaderField::IPV4_TTL, value: 0xff },
        HeaderAction::Copy { from: (HeaderField::DIPV4, 16), to: (HeaderField::SIPV4, 0), bits: 16 },
    ];
    let list = Arc::new(make(&whole).expect("ALLOC_MODIFY_HEADER_CONTEXT"));
    let other = make(&whole[..1]).expect("ALLOC_MODIFY_HEADER_CONTEXT");
    assert_ne!(list.id(), other.id());
    let table = FlowTable::new(&ground.context, FlowTableType::NIC_RX, 1, 4).expect("CREATE_FLOW_TABLE");
    let all = FteMatchParam::zeroed();
    let group = FlowGroup::new(&table, 0, 3, MatchCriteria::default(), &all).expect("CREATE_FLOW_GROUP");
    let to = [Destination::Tir(&tir)];
    let mut rule = FlowRule::modifying(&group, 0, &list, &all, &to, None).expect("SET_FLOW_TABLE_ENTRY");
    // Forward is 4, drop 2, modify 0x40.
    let says = |rule: &FlowRule| {
        let said = rule.query().expect("QUERY_FLOW_TABLE_ENTRY").context;
        (said.action(), said.modify_header_id())
    };
    assert_eq!(says(&rule), (0x44, list.id()));
    rule.set_destinations(&[]).expect("SET_FLOW_TABLE_ENTRY");
    assert_eq!((says(&rule), Arc::strong_count(&list)), ((0x42, list.id()), 3));
    drop(rule);
    assert_eq!(Arc::strong_count(&list), 1, "the rule alone kept it");
    let plain = FlowRule::new(&group, 0, &all, &to, None).expect("SET_FLOW_TABLE_ENTRY");
    assert_eq!(says(&plain), (4, 0));

    // A list for one kind of tables is none for another.
    let sends = FlowTable::new(&ground.context, FlowTableType::NIC_TX, 1, 4).expect("CREATE_FLOW_TABLE");
    let group = FlowGroup::new(&sends, 0, 3, MatchCriteria::default(), &all).expect("CREATE_FLOW_GROUP");
    let status = refused(FlowRule::modifying(&group, 0, &list, &all, &[], None));
    assert_eq!(status, Status::BAD_PARAM_ERR);
}

#[test]
fn impossible_header_actions_are_refused() {
    let ground = ground();
    if !frames(&ground) {
        return;
    }
    let make = |kind, actions: &[HeaderAction]| ModifyHeader::new(&ground.context, kind, actions).map(drop);
    let (rx, field) = (FlowTableType::NIC_RX, HeaderField::METADATA_REG_C_0);
    let set = HeaderAction::set(field, 1);
    assert_eq!(make(rx, &[set; 16]), Ok(()));
    let (what, min, max) = ("actions on headers", 1, 16);
    assert_eq!(make(rx, &[set; 17]), Err(Error::OutOfRange { what, value: 17, min, max }));
    assert_eq!(make(rx, &[]), Err(Error::OutOfRange { what, value: 0, min, max }));
    let bits = |offset, bits| make(rx, &[HeaderAction::Set { field, offset, bits, value: 1 }]);
    let what = "bits of a header action";
    assert_eq!(bits(0, 0), Err(Error::OutOfRange { what, value: 0, min: 1, max: 32 }));
    assert_eq!(bits(0, 33), Err(Error::OutOfRange { what, value: 33, min: 1, max: 32 }));
    let what = "first bit of a header action";
    assert_eq!(bits(1, 32), Err(Error::OutOfRange { what, value: 1, min: 0, max: 0 }));
    let copy = |from, to| make(rx, &[HeaderAction::Copy { from: (field, from), to: (field, to), bits: 30 }]);
    assert_eq!((copy(2, 2), copy(3, 0)), (Ok(()), Err(Error::OutOfRange { what, value: 3, min: 0, max: 2 })));
    assert_eq!(copy(0, 4), Err(Error::OutOfRange { what, value: 4, min: 0, max: 2 }));
    let (what, unknown) = ("number of a header's field", HeaderField(0x1000));
    let number = Err(Error::OutOfRange { what, value: 0x1000, min: 0, max: 0xfff });
    assert_eq!(make(rx, &[HeaderAction::set(unknown, 1)]), number);
    assert_eq!(make(rx, &[HeaderAction::Add { field: unknown, value: 1 }]), number);
    for (from, to) in [(unknown, field), (field, unknown)] {
        assert_eq!(make(rx, &[HeaderAction::Copy { from: (from, 0), to: (to, 0), bits: 1 }]), number);
    }
    let name = "flow_table_prop_layout.max_modify_header_actions";
    let none = Error::Capability { name, needed: 1, found: 0 };
    assert_eq!(make(FlowTableType::FDB, &[set]), Err(none));
    // The device refuses what it does not know: a number of no field, and a register of the other direction.
    for (kind, field) in [
        (rx, HeaderField(0x31)),
        (rx, HeaderField::METADATA_REG_A),
        (FlowTableType::NIC_TX, HeaderField::METADATA_REG_B),
    ] {
        assert_eq!(refused(make(kind, &[HeaderAction::set(field, 1)])), Status::BAD_PARAM_ERR, "{field:?}");
    }
}
