//! Where numbers and flags are, compared with Linux' header.

use super::*;
use crate::abi::mailbox::linux::{bytes, known};

/// The command that makes an object, the field of its number, and the field of its number when it is destroyed; the
/// fields of all commands that name it.
type Row = (u16, &'static str, &'static str, &'static [(u16, &'static str)]);

const ROWS: &[Row] = &[
    (0x200, "create_mkey_out.mkey_index", "destroy_mkey_in.mkey_index", &[(0x201, "query_mkey_in.mkey_index")]),
    (0x400, "create_cq_out.cqn", "destroy_cq_in.cqn", &[(0x402, "query_cq_in.cqn"), (0x403, "modify_cq_in.cqn")]),
    (
        0x500,
        "create_qp_out.qpn",
        "destroy_qp_in.qpn",
        &[
            (0x502, "rst2init_qp_in.qpn"),
            (0x503, "init2rtr_qp_in.qpn"),
            (0x504, "rtr2rts_qp_in.qpn"),
            (0x505, "rts2rts_qp_in.qpn"),
            (0x506, "sqerr2rts_qp_in.qpn"),
            (0x507, "qp_2err_in.qpn"),
            (0x50a, "qp_2rst_in.qpn"),
            (0x50b, "query_qp_in.qpn"),
            (0x50e, "init2init_qp_in.qpn"),
        ],
    ),
    (0x600, "create_psv_out.psv0_index", "destroy_psv_in.psvn", &[]),
    (0x700, "create_srq_out.srqn", "destroy_srq_in.srqn", &[(0x702, "query_srq_in.srqn")]),
    (
        0x705,
        "create_xrc_srq_out.xrc_srqn",
        "destroy_xrc_srq_in.xrc_srqn",
        &[(0x707, "query_xrc_srq_in.xrc_srqn"), (0x708, "arm_xrc_srq_in.xrc_srqn")],
    ),
    (
        0x710,
        "create_dct_out.dctn",
        "destroy_dct_in.dctn",
        &[(0x713, "query_dct_in.dctn"), (0x714, "drain_dct_in.dctn")],
    ),
    (
        0x717,
        "create_xrq_out.xrqn",
        "destroy_xrq_in.xrqn",
        &[
            (0x719, "query_xrq_in.xrqn"),
            (0x71a, "arm_xrq_in.xrqn"),
            (0x725, "query_xrq_in.xrqn"),
            (0x726, "arm_xrq_in.xrqn"),
            (0x727, "query_xrq_in.xrqn"),
            (0x729, "arm_xrq_in.xrqn"),
            (0x72a, "arm_xrq_in.xrqn"),
        ],
    ),
    (
        0x771,
        "alloc_q_counter_out.counter_set_id",
        "dealloc_q_counter_in.counter_set_id",
        &[(0x773, "query_q_counter_in.counter_set_id")],
    ),
    (
        0x782,
        "create_scheduling_element_out.scheduling_element_id",
        "destroy_scheduling_element_in.scheduling_element_id",
        &[
            (0x784, "query_scheduling_element_in.scheduling_element_id"),
            (0x785, "modify_scheduling_element_in.scheduling_element_id"),
        ],
    ),
    (0x800, "alloc_pd_out.pd", "dealloc_pd_in.pd", &[]),
    (0x806, "attach_to_mcg_in.qpn", "detach_from_mcg_in.qpn", &[]),
    (0x80e, "alloc_xrcd_out.xrcd", "dealloc_xrcd_in.xrcd", &[]),
    (0x816, "alloc_transport_domain_out.transport_domain", "dealloc_transport_domain_in.transport_domain", &[]),
    (
        0x827,
        "add_vxlan_udp_dport_in.vxlan_udp_port",
        "delete_vxlan_udp_dport_in.vxlan_udp_port",
        &[(0x827, "add_vxlan_udp_dport_in.vxlan_udp_port")],
    ),
    (
        0x829,
        "set_l2_table_entry_in.table_index",
        "delete_l2_table_entry_in.table_index",
        &[(0x829, "set_l2_table_entry_in.table_index"), (0x82a, "query_l2_table_entry_in.table_index")],
    ),
    (
        0x900,
        "create_tir_out.tirn",
        "destroy_tir_in.tirn",
        &[(0x901, "modify_tir_in.tirn"), (0x903, "query_tir_in.tirn")],
    ),
    (0x904, "create_sq_out.sqn", "destroy_sq_in.sqn", &[(0x905, "modify_sq_in.sqn"), (0x907, "query_sq_in.sqn")]),
    (
        0x908,
        "create_rq_out.rqn",
        "destroy_rq_in.rqn",
        &[(0x703, "arm_rq_in.srq_number"), (0x909, "modify_rq_in.rqn"), (0x90b, "query_rq_in.rqn")],
    ),
    (
        0x90c,
        "create_rmp_out.rmpn",
        "destroy_rmp_in.rmpn",
        &[(0x90d, "modify_rmp_in.rmpn"), (0x90f, "query_rmp_in.rmpn")],
    ),
    (
        0x912,
        "create_tis_out.tisn",
        "destroy_tis_in.tisn",
        &[(0x913, "modify_tis_in.tisn"), (0x915, "query_tis_in.tisn")],
    ),
    (
        0x916,
        "create_rqt_out.rqtn",
        "destroy_rqt_in.rqtn",
        &[(0x917, "modify_rqt_in.rqtn"), (0x919, "query_rqt_in.rqtn")],
    ),
    (
        0x930,
        "create_flow_table_out.table_id",
        "destroy_flow_table_in.table_id",
        &[(0x932, "query_flow_table_in.table_id"), (0x93c, "modify_flow_table_in.table_id")],
    ),
    (
        0x933,
        "create_flow_group_out.group_id",
        "destroy_flow_group_in.group_id",
        &[(0x935, "query_flow_group_in.group_id")],
    ),
    (
        0x936,
        "set_fte_in.flow_index",
        "delete_fte_in.flow_index",
        &[(0x936, "set_fte_in.flow_index"), (0x937, "query_fte_in.flow_index")],
    ),
    (
        0x939,
        "alloc_flow_counter_out.flow_counter_id",
        "dealloc_flow_counter_in.flow_counter_id",
        &[(0x93b, "query_flow_counter_in.flow_counter_id")],
    ),
    (
        0x93d,
        "alloc_packet_reformat_context_out.packet_reformat_id",
        "dealloc_packet_reformat_context_in.packet_reformat_id",
        &[(0x93f, "query_packet_reformat_context_in.packet_reformat_id")],
    ),
    (
        0x940,
        "alloc_modify_header_context_out.modify_header_id",
        "dealloc_modify_header_context_in.modify_header_id",
        &[(0x942, "query_modify_header_context_in.modify_header_id")],
    ),
    (
        0xa00,
        "general_obj_out_cmd_hdr.obj_id",
        "general_obj_in_cmd_hdr.obj_id",
        &[(0xa01, "general_obj_in_cmd_hdr.obj_id"), (0xa02, "general_obj_in_cmd_hdr.obj_id")],
    ),
];

#[test]
fn numbers_are_where_linux_has_them() {
    assert_eq!(ROWS.len(), KINDS.len());
    for &(create, made, doomed, named) in ROWS {
        let kind = KINDS.iter().find(|kind| kind.create == create).expect(made);
        let (is_output, place) = match kind.number {
            Number::Output(place) => (true, place),
            Number::Input(place) => (false, place),
        };
        let structure = |path: &str| path.split_once('.').expect("a field").0.to_owned();
        assert_eq!((is_output, place), (structure(made).contains("_out"), known(made)), "{made}");
        let (_, length, place) = kind.destroy;
        assert_eq!((length, place), (bytes(&structure(doomed)).max(HEADER_BYTES), known(doomed)), "{doomed}");
        let mut found: Vec<_> = kind.named.iter().map(|&(opcode, _, place)| (opcode, place)).collect();
        found.sort_by_key(|&(opcode, _)| opcode);
        assert_eq!(found, named.iter().map(|&(opcode, path)| (opcode, known(path))).collect::<Vec<_>>(), "{made}");
    }
}

#[test]
fn what_is_in_user_memory_says_so_where_linux_does() {
    let in_wq = |context: &str| ["dbr_umem_valid", "wq_umem_valid"].map(|flag| format!("{context}.wq.{flag}")).to_vec();
    let rows: &[(u16, Vec<String>)] = &[
        (creator::CQ, vec!["create_cq_in.cq_context.dbr_umem_valid".into(), "create_cq_in.cq_umem_valid".into()]),
        (creator::QP, vec!["create_qp_in.qpc.dbr_umem_valid".into(), "create_qp_in.wq_umem_valid".into()]),
        (
            0x705,
            vec![
                "create_xrc_srq_in.xrc_srq_context_entry.dbr_umem_valid".into(),
                "create_xrc_srq_in.xrc_srq_umem_valid".into(),
            ],
        ),
        (0x717, in_wq("create_xrq_in.xrq_context")),
        (creator::SQ, in_wq("create_sq_in.ctx")),
        (creator::RQ, in_wq("create_rq_in.ctx")),
        (creator::RMP, in_wq("create_rmp_in.ctx")),
    ];
    for kind in KINDS {
        let row = rows.iter().find(|&&(create, _)| create == kind.create);
        let flags: Vec<_> = row.map_or(&[][..], |(_, flags)| flags).iter().map(|flag| known(flag)).collect();
        assert_eq!(kind.in_umem, flags, "{:#x}", kind.create);
    }
    assert_eq!(CQ_IN_UMEM, known("modify_cq_in.cq_umem_valid"));
}

#[test]
fn what_destroys_an_object_has_what_made_it() {
    for path in [("other_vport", OTHER_VPORT), ("vport_number", VPORT), ("table_type", TABLE_TYPE), ("table_id", TABLE)]
    {
        for structure in ["create_flow_group_in", "destroy_flow_group_in", "set_fte_in", "delete_fte_in"] {
            assert_eq!(path.1, known(&format!("{structure}.{}", path.0)));
        }
    }
    let mut input = vec![0; 0x40];
    OPCODE.set(&mut input, 0x930);
    UID.set(&mut input, 5);
    VPORT.set(&mut input, 3);
    TABLE_TYPE.set(&mut input, 7);
    let kind = created_by(&input).expect("a flow table");
    let mailbox = kind.destruction(&input, 0x12_3456);
    assert_eq!(mailbox.len(), 0x40);
    let all = [OPCODE, UID, VPORT, TABLE_TYPE, TABLE].map(|place| place.get(&mailbox));
    assert_eq!(all, [0x931, 5, 3, 7, 0x12_3456]);
}

#[test]
fn some_commands_make_an_object_or_change_one() {
    let mut input = vec![0; 0x40];
    OPCODE.set(&mut input, creator::FLOW_TABLE_ENTRY.into());
    FLOW_INDEX.set(&mut input, 9);
    assert!(created_by(&input).is_some() && named_by(&input, Use::Modify).is_none());
    OP_MOD.set(&mut input, 1);
    let id = CommandId::new(creator::FLOW_TABLE_ENTRY, 9);
    assert!(created_by(&input).is_none() && named_by(&input, Use::Modify) == Some(id));
    OPCODE.set(&mut input, creator::PSV.into());
    assert!(created_by(&input).is_none(), "none");
    PSVS.set(&mut input, 1);
    assert!(created_by(&input).is_some());
    OPCODE.set(&mut input, 0xa02);
    let general = CommandId { creator: creator::GENERAL_OBJECT, kind: 1, number: N32.get32(&input) };
    assert_eq!(named_by(&input, Use::Query), Some(general));
    assert_eq!(named_by(&input, Use::Modify), None);
    OPCODE.set(&mut input, 0x801);
    assert!(created_by(&input).is_none() && named_by(&input, Use::Query).is_none());
}
