//! Any commands in any order, and any frames: a status or a frame, and no harm.
//!
//! Arbitrary bytes belong here, single refusals in `refused.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Link, op, run};
use proptest::prelude::*;

/// Inputs of all commands of the Ethernet side.
const COMMANDS: [(&str, u64); 41] = [
    ("query_vport_counter_in", op::QUERY_VPORT_COUNTER),
    ("alloc_q_counter_in", op::ALLOC_Q_COUNTER),
    ("dealloc_q_counter_in", op::DEALLOC_Q_COUNTER),
    ("query_q_counter_in", op::QUERY_Q_COUNTER),
    ("create_tir_in", op::CREATE_TIR),
    ("modify_tir_in", op::MODIFY_TIR),
    ("destroy_tir_in", op::DESTROY_TIR),
    ("query_tir_in", op::QUERY_TIR),
    ("create_sq_in", op::CREATE_SQ),
    ("modify_sq_in", op::MODIFY_SQ),
    ("destroy_sq_in", op::DESTROY_SQ),
    ("query_sq_in", op::QUERY_SQ),
    ("create_rq_in", op::CREATE_RQ),
    ("modify_rq_in", op::MODIFY_RQ),
    ("destroy_rq_in", op::DESTROY_RQ),
    ("query_rq_in", op::QUERY_RQ),
    ("create_tis_in", op::CREATE_TIS),
    ("modify_tis_in", op::MODIFY_TIS),
    ("destroy_tis_in", op::DESTROY_TIS),
    ("query_tis_in", op::QUERY_TIS),
    ("create_rqt_in", op::CREATE_RQT),
    ("modify_rqt_in", op::MODIFY_RQT),
    ("destroy_rqt_in", op::DESTROY_RQT),
    ("query_rqt_in", op::QUERY_RQT),
    ("set_flow_table_root_in", op::SET_FLOW_TABLE_ROOT),
    ("create_flow_table_in", op::CREATE_FLOW_TABLE),
    ("destroy_flow_table_in", op::DESTROY_FLOW_TABLE),
    ("query_flow_table_in", op::QUERY_FLOW_TABLE),
    ("modify_flow_table_in", op::MODIFY_FLOW_TABLE),
    ("create_flow_group_in", op::CREATE_FLOW_GROUP),
    ("destroy_flow_group_in", op::DESTROY_FLOW_GROUP),
    ("query_flow_group_in", op::QUERY_FLOW_GROUP),
    ("set_fte_in", op::SET_FTE),
    ("query_fte_in", op::QUERY_FTE),
    ("delete_fte_in", op::DELETE_FTE),
    ("alloc_flow_counter_in", op::ALLOC_FLOW_COUNTER),
    ("dealloc_flow_counter_in", op::DEALLOC_FLOW_COUNTER),
    ("query_flow_counter_in", op::QUERY_FLOW_COUNTER),
    ("create_umem_in", op::CREATE_UMEM),
    ("alloc_transport_domain_in", op::ALLOC_TRANSPORT_DOMAIN),
    ("dealloc_transport_domain_in", op::DEALLOC_TRANSPORT_DOMAIN),
];

/// A command: its opcode, some of its bytes, the bytes behind it, and the room for its output.
type Hostile = (usize, Vec<(u16, u8)>, Vec<u8>, usize);

fn commands() -> impl Strategy<Value = Vec<Hostile>> {
    // Small numbers name objects, levels and indices that exist.
    let byte = prop_oneof![4 => 0..4_u8, 1 => any::<u8>()];
    let bytes = prop::collection::vec((any::<u16>(), byte), 0..6);
    let more = prop::collection::vec(0..3_u8, 0..24);
    prop::collection::vec((0..COMMANDS.len(), bytes, more, 0..0x400_usize), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn no_commands_do_harm(commands in commands(), frames in prop::collection::vec((any::<u8>(), 0..80_usize), 1..4)) {
        let Link { mut a, mut b, mut sq, .. } = Link::new(8);
        for (which, bytes, more, room) in commands {
            let (name, opcode) = COMMANDS[which];
            let mut mail = Mail::command(name, opcode).followed_by(&more);
            for (at, byte) in bytes {
                // The opcode stays, and most of the first bytes name objects.
                let at = 4 + usize::from(at) % if at & 1 == 0 { 28 } else { mail.bytes.len() - 4 };
                if let Some(place) = mail.bytes.get_mut(at) {
                    *place = byte;
                }
            }
            let mut output = vec![0xff; room];
            let status = b.firmware.execute(&mut b.device, &mail.bytes, &mut output);
            if let Some(&said) = output.first() {
                prop_assert_eq!(said, status as u8);
            }
        }
        for (byte, len) in frames {
            let mut whole = frame(mac(2), &[], &ipv4(byte & 1 == 0, ([byte; 4], 1), ([2; 4], 2), len));
            let at = usize::from(byte) % whole.len();
            whole[at] ^= byte;
            a.send(&mut sq, 0, &whole);
        }
        run(&mut [&mut a, &mut b]);
    }
}
