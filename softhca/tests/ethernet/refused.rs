//! Impossible queues and rules, and objects that stay as long as another object names them.
//!
//! Refusals belong here, arbitrary bytes in `hostile.rs`.

use crate::mailbox::Mail;
use crate::node::{Node, RDY, RST, op, pair};
use softhca::error::Object;
use softhca::firmware::{Status, Uid};

/// Carries out variants of a command, each of which is refused; then the command itself.
fn refused(node: &mut Node, mail: &Mail, output: &'static str, variants: &[(&str, u64)]) -> u64 {
    for &(field, value) in variants {
        let variant = mail.clone().set(field, value);
        assert!(node.command(&variant, output, 0).is_err(), "{output} with {field} = {value:#x}");
    }
    let number = match output {
        "create_sq_out" => "sqn",
        "create_rq_out" => "rqn",
        "create_tis_out" => "tisn",
        "create_tir_out" => "tirn",
        "create_flow_table_out" => "table_id",
        _ => "group_id",
    };
    node.number(mail.clone(), output, number)
}

#[test]
fn what_is_no_capability_is_refused() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let tis_mail = Mail::command("create_tis_in", op::CREATE_TIS).set("ctx.transport_domain", a.td);
    let variants = [("ctx.tls_en", 1), ("ctx.underlay_qpn", 9), ("ctx.lag_tx_port_affinity", 1), ("ctx.pd", 1)];
    let tis = refused(&mut a, &tis_mail, "create_tis_out", &[&variants[..], &[("ctx.transport_domain", 99)]].concat());

    let (mail, _) = a.sq_mail(&cq, Some(tis));
    let variants = [
        ("ctx.rlky", 1),
        ("ctx.fre", 1),
        ("ctx.state", 1),
        ("ctx.reg_umr", 1),
        ("ctx.hairpin", 1),
        ("ctx.ts_format", 2),
        ("ctx.cqn", 99),
        ("ctx.packet_pacing_rate_limit_index", 1),
        ("ctx.packet_pacing_rate_limit_index", 128),
        ("ctx.tis_lst_sz", 2),
        ("ctx.tis_num_0", tis + 1),
        ("ctx.wq.wq_type", 0),
        ("ctx.wq.wq_type", 3),
        ("ctx.wq.wq_signature", 1),
        ("ctx.wq.pd", 99),
        ("ctx.wq.uar_page", 99),
        ("ctx.wq.dbr_addr", 4),
        ("ctx.wq.log_wq_stride", 5),
        ("ctx.wq.log_wq_sz", 8),
        ("ctx.wq.log_wq_sz", 31),
        ("ctx.wq.wq_umem_valid", 1),
        ("ctx.wq.dbr_umem_valid", 1),
        ("op_mod", 1),
        ("uid", 7),
    ];
    let sqn = refused(&mut a, &mail, "create_sq_out", &variants);

    let (mail, _) = a.rq_mail(&cq, false);
    // Behind this field is a key for the direct placement of packets. It means nothing in an RQ without that.
    let mail = mail.put("ctx.hairpin_peer_vhca", &[0, 0, 0, 0, 0x18, 0x42]);
    let variants = [
        ("ctx.rlky", 1),
        ("ctx.delay_drop_en", 1),
        ("ctx.scatter_fcs", 1),
        ("ctx.mem_rq_type", 1),
        ("ctx.state", 1),
        ("ctx.hairpin", 1),
        ("ctx.cqn", 99),
        ("ctx.counter_set_id", 3),
        ("ctx.wq.wq_type", 0),
        ("ctx.wq.wq_type", 2),
        ("ctx.wq.end_padding_mode", 3),
        ("ctx.wq.lwm", 4),
        ("ctx.wq.cd_slave", 1),
        ("ctx.wq.pd", 99),
        ("ctx.wq.log_wq_stride", 3),
        ("ctx.wq.log_wq_stride", 15),
        ("ctx.wq.log_wqe_num_of_strides", 1),
        ("ctx.wq.two_byte_shift_en", 1),
    ];
    let rqn = refused(&mut a, &mail, "create_rq_out", &variants);
    // Numbers of QPs, SQs and RQs are one space, and none is the other.
    assert_ne!(sqn, rqn);
    assert!(a.modify_sq(rqn, 0, 1).is_err() && a.modify_rq(sqn, 0, 1).is_err());
    let as_qp =
        [sqn, rqn].map(|number| a.device.query_qp(number as u32).is_ok() || a.device.destroy_qp(number as u32).is_ok());
    assert_eq!(as_qp, [false, false]);

    // A counter that is not there; 0 stands for none.
    let modify = Mail::command("modify_rq_in", op::MODIFY_RQ).set("rqn", rqn).set("modify_bitmask", 8);
    let modify = modify.set("ctx.state", 1);
    assert!(a.bare(&modify.clone().set("ctx.counter_set_id", 3)).is_err());
    a.bare(&modify).unwrap();

    let mail =
        Mail::command("create_tir_in", op::CREATE_TIR).set("ctx.inline_rqn", rqn).set("ctx.transport_domain", a.td);
    let variants = [
        ("ctx.disp_type", 1),
        ("ctx.disp_type", 2),
        ("ctx.tls_en", 1),
        ("ctx.lro_timeout_period_usecs", 1),
        ("ctx.packet_merge_mask", 1),
        ("ctx.lro_max_ip_payload_size", 1),
        ("ctx.inline_rqn", sqn),
        ("ctx.rx_hash_fn", 3),
        ("ctx.rx_hash_field_selector_outer.selected_fields", 0x20),
        ("ctx.rx_hash_field_selector_inner.selected_fields", 1),
        ("ctx.transport_domain", 99),
    ];
    refused(&mut a, &mail, "create_tir_out", &variants);
    // Fields inside of tunnels are alone.
    let mail = mail.set("ctx.tunneled_offload_en", 1).set("ctx.rx_hash_field_selector_inner.selected_fields", 3);
    let variants = [
        ("ctx.rx_hash_field_selector_inner.selected_fields", 0x20),
        ("ctx.rx_hash_field_selector_outer.selected_fields", 1),
        ("ctx.tunneled_offload_en", 0),
    ];
    refused(&mut a, &mail, "create_tir_out", &variants);
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let rq = a.rq(&cq, false, 0);
    let tir = a.tir(rq.number);
    let mail = Mail::command("create_flow_table_in", op::CREATE_FLOW_TABLE)
        .set("flow_table_context.level", 3)
        .set("flow_table_context.log_size", 4);
    let variants = [
        ("table_type", 2),
        ("table_type", 4),
        ("other_vport", 1),
        ("vport_number", 1),
        ("flow_table_context.reformat_en", 1),
        ("flow_table_context.decap_en", 1),
        ("flow_table_context.sw_owner", 1),
        ("flow_table_context.termination_table", 1),
        ("flow_table_context.table_miss_action", 1),
        ("flow_table_context.table_miss_action", 2),
        // A table, and misses that do not go to it.
        ("flow_table_context.table_miss_id", 1),
        ("flow_table_context.level", 128),
        ("flow_table_context.log_size", 21),
    ];
    let table = refused(&mut a, &mail, "create_flow_table_out", &variants);
    let mail = Mail::command("create_flow_group_in", op::CREATE_FLOW_GROUP)
        .set("table_id", table)
        .set("end_flow_index", 7)
        .set("match_criteria_enable", 1)
        .set("match_criteria.outer_headers.ethertype", 0xffff);
    let variants = [
        ("table_id", table + 1),
        ("table_type", 1),
        ("group_type", 1),
        ("match_definer_id", 1),
        ("end_flow_index", 16),
        ("start_flow_index", 8),
        ("match_criteria_enable", 0),
        ("match_criteria_enable", 5),
        ("match_criteria.misc_parameters.gre_protocol", 1),
        ("match_criteria.misc_parameters.outer_second_vid", 1),
        ("match_criteria.inner_headers.ethertype", 1),
    ];
    let group = refused(&mut a, &mail, "create_flow_group_out", &variants);
    assert!(a.command(&mail, "create_flow_group_out", 0).is_err(), "the indices are taken");
    let mail = Node::rule(0, (table, group, 2), &[("outer_headers.ethertype", 0x800)], 4, &[(2, tir)], &[]);
    for (field, value) in [
        ("flow_index", 8),
        ("ignore_flow_level", 1),
        ("op_mod", 1),
        ("op_mod", 2),
        ("flow_context.group_id", group + 1),
        ("flow_context.action", 0),
        ("flow_context.action", 1),
        ("flow_context.action", 2),
        ("flow_context.action", 6),
        ("flow_context.action", 8),
        ("flow_context.action", 0xc),
        ("flow_context.action", 0x40),
        ("flow_context.push_vlan.vid", 1),
        ("flow_context.extended_destination", 1),
        ("flow_context.flow_source", 1),
        ("flow_context.modify_header_id", 1),
        ("flow_context.packet_reformat_id", 1),
        ("flow_context.destination_list_size", 0),
        ("flow_context.destination_list_size", 2),
        ("flow_context.flow_counter_list_size", 1),
    ] {
        assert!(a.bare(&mail.clone().set(field, value)).is_err(), "{field} = {value:#x}");
    }
    for to in [(2, tir + 1), (1, table), (1, table + 1), (0, 0), (6, 1), (8, 0)] {
        let rule = Node::rule(0, (table, group, 2), &[], 4, &[to], &[]);
        assert!(a.bare(&rule).is_err(), "{to:?}");
    }
    a.bare(&mail).unwrap();
}

#[test]
fn objects_stay_while_others_name_them_and_say_what_they_are() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let tis = a.tis();
    let sq = a.sq_on(&cq, Some(tis));
    let rq = a.rq(&cq, true, 0);
    let list = (rq.number as u32).to_be_bytes();
    let mail = Mail::command("create_rqt_in", op::CREATE_RQT)
        .set("rqt_context.rqt_max_size", 1)
        .set("rqt_context.rqt_actual_size", 1)
        .followed_by(&list);
    let rqt = a.number(mail, "create_rqt_out", "rqtn");
    let mail = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.disp_type", 1)
        .set("ctx.indirect_table", rqt)
        .set("ctx.transport_domain", a.td);
    let tir = a.number(mail, "create_tir_out", "tirn");
    let merge = Mail::command("modify_tir_in", op::MODIFY_TIR).set("tirn", tir).set("bitmask.packet_merge", 1);
    // Headers and data apart (`MLX5_TIRC_PACKET_MERGE_MASK_SHAMPO`).
    assert!(a.bare(&merge.set("ctx.packet_merge_mask", 4)).is_err());
    let mail = Mail::command("modify_rqt_in", op::MODIFY_RQT).set("rqtn", rqt).set("ctx.rqt_actual_size", 1);
    assert!(a.bare(&mail.clone().followed_by(&list)).is_err(), "nothing is selected");
    a.bare(&mail.set("bitmask.rqn_list", 1).followed_by(&list)).unwrap();
    let counter = a.number(
        Mail::command("alloc_flow_counter_in", op::ALLOC_FLOW_COUNTER),
        "alloc_flow_counter_out",
        "flow_counter_id",
    );
    let (low, high) = (a.table(0, 1), a.table(0, 2));
    let mail = Mail::command("modify_flow_table_in", op::MODIFY_FLOW_TABLE)
        .set("table_id", low)
        .set("modify_field_select", 1)
        .set("flow_table_context.table_miss_action", 1)
        .set("flow_table_context.table_miss_id", high);
    a.bare(&mail).unwrap();
    assert!(a.bare(&mail.clone().set("flow_table_context.table_miss_id", low)).is_err(), "a way that does not go up");
    for select in [0, 2, 3] {
        assert!(a.bare(&mail.clone().set("modify_field_select", select)).is_err(), "{select}");
    }
    let mask = [("outer_headers.ip_protocol", 0xff), ("misc_parameters.outer_second_vid", 0xfff)];
    let group = a.group(0, low, [2, 5], &mask);
    let value = [("outer_headers.ip_protocol", 17), ("outer_headers.frag", 1), ("misc_parameters.outer_second_vid", 7)];
    let to = [(2, tir), (1, high), (2, tir)];
    let rule = Node::rule(0, (low, group, 3), &value, 0xc, &to, &[counter]);
    a.bare(&rule.set("flow_context.flow_tag", 0x1234)).unwrap();
    a.root(0, low);

    let query = Mail::command("query_fte_in", op::QUERY_FTE).set("table_id", low).set("flow_index", 3);
    let found = a.command(&query, "query_fte_out", 32).unwrap();
    for (field, value) in [
        ("group_id", group),
        ("flow_tag", 0x1234),
        ("action", 0xc),
        ("destination_list_size", 3),
        ("flow_counter_list_size", 1),
        ("match_value.outer_headers.ip_protocol", 17),
        ("match_value.outer_headers.frag", 0),
        ("match_value.misc_parameters.outer_second_vid", 7),
    ] {
        assert_eq!(found.get(&format!("flow_context.{field}")), value, "{field}");
    }
    assert!(a.command(&query, "query_fte_out", 24).is_err(), "no room for four entries of 8 bytes");
    let listed: Vec<u64> = found.bytes[0x340..]
        .chunks(8)
        .map(|word| u64::from_be_bytes(word.try_into().expect("8 bytes")) >> 32)
        .collect();
    assert_eq!(listed, [2 << 24 | tir, 1 << 24 | high, 2 << 24 | tir, counter]);
    let query = Mail::command("query_flow_group_in", op::QUERY_FLOW_GROUP).set("table_id", low).set("group_id", group);
    let found = a.command(&query, "query_flow_group_out", 0).unwrap();
    let fields = ["start_flow_index", "end_flow_index", "match_criteria_enable"].map(|field| found.get(field));
    assert_eq!((fields, found.get("match_criteria.outer_headers.ip_protocol")), ([2, 5, 3], 0xff));
    let query = Mail::command("query_flow_table_in", op::QUERY_FLOW_TABLE).set("table_id", low);
    let found = a.command(&query, "query_flow_table_out", 0).unwrap();
    let context = ["level", "log_size", "table_miss_action", "table_miss_id"];
    assert_eq!(context.map(|field| found.get(&format!("flow_table_context.{field}"))), [1, 4, 1, high]);
    let query = Mail::command("query_tis_in", op::QUERY_TIS).set("tisn", tis);
    let modify = Mail::command("modify_tis_in", op::MODIFY_TIS).set("tisn", tis);
    for field in ["bitmask.lag_tx_port_affinity", "bitmask.strict_lag_tx_port_affinity"] {
        assert!(a.bare(&modify.clone().set(field, 1)).is_err(), "{field}");
    }
    let prio = modify.set("bitmask.prio", 1);
    a.bare(&prio.set("ctx.prio", 5)).unwrap();
    let found = a.command(&query, "query_tis_out", 0).unwrap();
    assert_eq!((found.get("tis_context.transport_domain"), found.get("tis_context.prio")), (a.td, 5));

    let destroy = |name, opcode, field: &str, number| Mail::command(name, opcode).set(field, number);
    let of_tis = destroy("destroy_tis_in", op::DESTROY_TIS, "tisn", tis);
    let of_sq = destroy("destroy_sq_in", op::DESTROY_SQ, "sqn", sq.number);
    let of_rq = destroy("destroy_rq_in", op::DESTROY_RQ, "rqn", rq.number);
    let of_rqt = destroy("destroy_rqt_in", op::DESTROY_RQT, "rqtn", rqt);
    let of_tir = destroy("destroy_tir_in", op::DESTROY_TIR, "tirn", tir);
    let of_counter = destroy("dealloc_flow_counter_in", op::DEALLOC_FLOW_COUNTER, "flow_counter_id", counter);
    let of_domain = destroy("dealloc_transport_domain_in", op::DEALLOC_TRANSPORT_DOMAIN, "transport_domain", a.td);
    let of_high = destroy("destroy_flow_table_in", op::DESTROY_FLOW_TABLE, "table_id", high);
    let of_low = destroy("destroy_flow_table_in", op::DESTROY_FLOW_TABLE, "table_id", low);
    let of_group = destroy("destroy_flow_group_in", op::DESTROY_FLOW_GROUP, "table_id", low).set("group_id", group);
    let of_rule = destroy("delete_fte_in", op::DELETE_FTE, "table_id", low).set("flow_index", 3);
    let all = [of_rule, of_group, of_low, of_high, of_counter, of_tir, of_rqt, of_rq, of_sq, of_tis, of_domain];
    // At first all are in use but the rule and the send queue; each is free when those before it are gone.
    for mail in all[1..].iter().filter(|mail| mail.get("opcode") != op::DESTROY_SQ) {
        assert_eq!(a.bare(mail), Err(Status::ResourceBusy), "{mail:?}");
    }
    for (at, mail) in all.iter().enumerate() {
        a.bare(mail).unwrap_or_else(|status| panic!("{at}: {mail:?}: {status:?}"));
        assert!(a.bare(mail).is_err(), "{mail:?} again");
    }
}

/// Bits of the mask: action, tag, destinations, counters (Linux `mlx5_ifc.h`,
/// `MLX5_SET_FTE_MODIFY_ENABLE_MASK_*`).
#[test]
fn a_change_of_a_rule_keeps_the_rest() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let rq = a.rq(&cq, false, 0);
    let (tir, other) = (a.tir(rq.number), a.tir(rq.number));
    let alloc = Mail::command("alloc_flow_counter_in", op::ALLOC_FLOW_COUNTER);
    let counter = a.number(alloc, "alloc_flow_counter_out", "flow_counter_id");
    let table = a.table(0, 1);
    let group = a.group(0, table, [0, 3], &[("outer_headers.ip_protocol", 0xff)]);
    let rule = |protocol, action, to: &[(u64, u64)], counters: &[u64]| {
        Node::rule(0, (table, group, 1), &[("outer_headers.ip_protocol", protocol)], action, to, counters)
    };
    let change =
        |mail: Mail, mask, tag| mail.set("op_mod", 1).set("modify_enable_mask", mask).set("flow_context.flow_tag", tag);
    let forward = rule(6, 4, &[(2, other)], &[]);
    assert!(a.bare(&change(forward.clone(), 2, 0x11)).is_err(), "there is no rule yet");
    a.bare(&rule(17, 4, &[(2, tir)], &[]).set("flow_context.flow_tag", 0x11)).unwrap();
    for (mail, why) in [
        (change(forward.clone(), 0x10, 1), "an unknown bit"),
        (change(forward.clone(), 2, 1).set("op_mod", 2), "an unknown modifier"),
        (change(rule(17, 0xc, &[(2, tir)], &[]), 9, 1), "no counter to count with"),
        (change(rule(17, 4, &[(2, tir)], &[counter]), 9, 1), "a counter, and no count"),
    ] {
        assert!(a.bare(&mail).is_err(), "{why}");
    }
    let query = Mail::command("query_fte_in", op::QUERY_FTE).set("table_id", table).set("flow_index", 1);
    for (mail, expected, list) in [
        (change(forward.clone(), 2, 0x22), [0x22, 4], vec![2 << 24 | tir]),
        (change(forward.clone(), 4, 0x33), [0x22, 4], vec![2 << 24 | other]),
        (change(rule(6, 0xc, &[(2, tir)], &[counter]), 9, 0x33), [0x22, 0xc], vec![2 << 24 | other, counter]),
        (change(rule(6, 2, &[], &[]), 5, 0x33), [0x22, 0xa], vec![counter]),
    ] {
        a.bare(&mail).unwrap();
        let found = a.command(&query, "query_fte_out", 16).unwrap();
        let fields = ["flow_tag", "action"].map(|field| found.get(&format!("flow_context.{field}")));
        assert_eq!((fields, found.get("flow_context.match_value.outer_headers.ip_protocol")), (expected, 17));
        let listed = found.bytes[0x340..].chunks(8).map(|word| u64::from_be_bytes(word.try_into().unwrap()) >> 32);
        assert_eq!(listed.filter(|&entry| entry != 0).collect::<Vec<_>>(), list);
    }
}

/// The number of a new user that may send frames.
fn user(node: &mut Node) -> u64 {
    let mail = Mail::command("create_uctx_in", 0xa04).set("uctx.cap", 1);
    node.number(mail, "create_uctx_out", "uid")
}

#[test]
fn a_users_receive_queue_names_objects_of_the_user() {
    let (mut a, _) = pair();
    let cq = a.cq();
    let [uid, other] = [user(&mut a), user(&mut a)];
    let counter = |node: &mut Node, uid: u64| {
        let mail = Mail::command("alloc_q_counter_in", op::ALLOC_Q_COUNTER).set("uid", uid);
        node.number(mail, "alloc_q_counter_out", "counter_set_id")
    };
    let (own, foreign) = (counter(&mut a, uid), counter(&mut a, other));
    for (kind, number) in [(Object::Pd, a.pd), (Object::Cq, cq.cqn)] {
        a.firmware.set_owner(kind, number as u32, Uid(uid as u16));
    }
    let (mail, _) = a.rq_mail(&cq, false);
    let mail = mail.set("uid", uid);
    for (field, value, status) in [
        ("ctx.counter_set_id", foreign, Status::BadResource),
        // The queue that drops its frames is the driver's.
        ("ctx.wq.pd", 0, Status::BadOperation),
    ] {
        assert_eq!(a.bare(&mail.clone().set(field, value)), Err(status), "{field} = {value}");
    }
    let of_driver = mail.clone().set("uid", 0).set("ctx.wq.pd", 0);
    a.command(&of_driver, "create_rq_out", 0).unwrap();
    // 0 is no counter, which nobody has to own.
    a.command(&mail, "create_rq_out", 0).unwrap();
    let rqn = a.number(mail.set("ctx.counter_set_id", own), "create_rq_out", "rqn");

    let modify = |from, to, mask: u64, counter: u64| {
        Mail::command("modify_rq_in", op::MODIFY_RQ)
            .set("uid", uid)
            .set("rqn", rqn)
            .set("rq_state", from)
            .set("modify_bitmask", mask)
            .set("ctx.state", to)
            .set("ctx.counter_set_id", counter)
    };
    assert_eq!(a.bare(&modify(RST, RDY, 8, foreign)), Err(Status::BadResource));
    // Mask bits that name no part of the queue.
    for mask in [1, 4, 0x10, 8 | 1] {
        assert_eq!(a.bare(&modify(RST, RDY, mask, own)), Err(Status::BadParameter), "{mask:#x}");
    }
    a.bare(&modify(RST, RDY, 8, own)).unwrap();
    a.bare(&modify(RDY, RDY, 8, 0)).unwrap();
    let free = Mail::command("dealloc_q_counter_in", op::DEALLOC_Q_COUNTER);
    a.bare(&free.set("counter_set_id", own)).unwrap();
}
