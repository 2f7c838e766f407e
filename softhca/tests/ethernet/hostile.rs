//! Any commands in any order, and any frames: a status or a frame, and no harm.
//!
//! Arbitrary bytes belong here, single refusals in `refused.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Link, Node, op, run};
use proptest::prelude::*;

/// Inputs of all commands of the Ethernet side.
const COMMANDS: [(&str, u64); 43] = [
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
    ("alloc_modify_header_context_in", op::ALLOC_MODIFY_HEADER),
    ("dealloc_modify_header_context_in", op::DEALLOC_MODIFY_HEADER),
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

/// Most numbers of fields that a list of actions can name, and ECN's, which is apart.
fn field_number() -> impl Strategy<Value = u8> {
    prop_oneof![31 => 0..0x60_u8, 1 => Just(0x73)]
}

/// The command that makes a list of actions.
fn modification(actions: &[[u8; 8]]) -> Mail {
    Mail::command("alloc_modify_header_context_in", op::ALLOC_MODIFY_HEADER)
        .set("num_of_actions", actions.len() as u64)
        .followed_by(&actions.concat())
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

    /// Lists of any actions that the device accepts, on any frames.
    #[test]
    fn no_modifications_do_harm(
        actions in prop::collection::vec((1..4_u8, field_number(), 0..32_u8, 0..32_u8, any::<[u8; 4]>()), 1..80),
        // Actions of a list.
        length in 1..17_usize,
        frames in prop::collection::vec(prop::collection::vec(prop_oneof![0..8_u8, any::<u8>()], 0..90), 1..6),
    ) {
        let Link { mut a, mut b, mut b_cq, mut sq, rq, .. } = Link::new(8);
        let accepted = actions.into_iter().filter_map(|(kind, field, offset, length, data)| {
            // A field to copy to is one of the same numbers.
            let [d0, d1, d2, d3] = data;
            let [d0, d1, d2, d3] = if kind == 3 { [0, d1 % 0x60, d2 % 32, 0] } else { [d0, d1, d2, d3] };
            let action = [kind << 4, field, offset, length, d0, d1, d2, d3];
            b.command(&modification(&[action]), "alloc_modify_header_context_out", 0).is_ok().then_some(action)
        });
        let accepted: Vec<_> = accepted.collect();
        let lists: Vec<u64> = accepted
            .chunks(length)
            .map(|actions| b.number(modification(actions), "alloc_modify_header_context_out", "modify_header_id"))
            .collect();
        // A table for each, and one whose rule sends frames to the receive queue.
        let count = lists.len() as u64;
        let tables: Vec<u64> = (0..=count).map(|level| b.table(0, level)).collect();
        for (at, list) in lists.iter().enumerate() {
            let group = b.group(0, tables[at], [0, 0], &[]);
            let rule = Node::rule(0, (tables[at], group, 0), &[], 0x44, &[(1, tables[at + 1])], &[]);
            b.bare(&rule.set("flow_context.modify_header_id", *list)).unwrap();
        }
        let (last, tir) = (tables[lists.len()], b.tir(rq.number));
        let group = b.group(0, last, [0, 0], &[]);
        b.bare(&Node::rule(0, (last, group, 0), &[], 4, &[(2, tir)], &[])).unwrap();
        b.root(0, tables[0]);
        let mut lengths = Vec::new();
        for bytes in frames {
            let udp = bytes.len() % 2 == 0;
            let packet = ipv4(udp, ([1; 4], 1), ([2; 4], 2), bytes.len());
            // The outer tag is a service's.
            let tags = [0x88, 0xa8, 0x20, 1, 0x81, 0, 0, 2];
            let mut whole = match bytes.len() % 3 {
                0 => frame(mac(2), &[], &packet),
                1 => frame(mac(2), &tags[8 - 4 * (bytes.len() / 3 % 3).min(2)..], &packet),
                _ => {
                    let l4 = &packet[20..];
                    let length = (l4.len() as u16).to_be_bytes();
                    let next = if udp { 17 } else { 6 };
                    let header = [&[0x60, 0, 0, 0, length[0], length[1], next, 64][..], &[1; 16], &[2; 16]].concat();
                    [&mac(2)[..], &mac(1), &[0x86, 0xdd], &header, l4].concat()
                }
            };
            for (at, byte) in bytes.iter().enumerate() {
                whole[12 + at] ^= byte & if at < 4 { 0x07 } else { 0xff };
            }
            a.send(&mut sq, 0, &whole);
            lengths.push(whole.len() as u32);
        }
        run(&mut [&mut a, &mut b]);
        let received: Vec<u32> = b.poll_all(&mut b_cq).into_iter().map(|(.., length)| length).collect();
        prop_assert_eq!(received, lengths);
    }
}
