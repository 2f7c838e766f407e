//! Modified headers, and registers of rules: what receive buffers, CQEs and the cable have of them. The lists of actions
//! are bytes by hand, after `set_action_in`, `add_action_in` and `copy_action_in` of Linux'
//! `include/linux/mlx5/mlx5_ifc.h`, and the numbers of `MLX5_ACTION_IN_FIELD_*` there.
//!
//! Frames that rules modify belong here, arbitrary lists of actions in `hostile.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{BUFFER, Cq, Node, Queue, op, pair, run};
use softhca::firmware::Status;

/// Types of tables, and actions of rules.
const RX: u64 = 0;
const TX: u64 = 1;
const ALLOW: u64 = 1;
const DROP: u64 = 2;
const FORWARD: u64 = 4;
const MODIFY: u64 = 0x40;
/// Destinations.
const TO_TABLE: u64 = 1;
const TO_TIR: u64 = 2;

/// The context of a list of actions.
fn alloc(kind: u64, actions: &[[u8; 8]]) -> Mail {
    let mail = Mail::command("alloc_modify_header_context_in", op::ALLOC_MODIFY_HEADER)
        .set("table_type", kind)
        .set("num_of_actions", actions.len() as u64);
    mail.followed_by(&actions.concat())
}

fn made(node: &mut Node, kind: u64, actions: &[[u8; 8]]) -> u64 {
    node.number(alloc(kind, actions), "alloc_modify_header_context_out", "modify_header_id")
}

fn dealloc(id: u64) -> Mail {
    Mail::command("dealloc_modify_header_context_in", op::DEALLOC_MODIFY_HEADER).set("modify_header_id", id)
}

/// Two devices: one sends, and the other has a receive queue behind a TIR.
struct Lab {
    a: Node,
    b: Node,
    a_cq: Cq,
    b_cq: Cq,
    sq: Queue,
    rq: Queue,
    tir: u64,
    taken: u64,
}

impl Lab {
    fn new() -> Self {
        let (mut a, mut b) = pair();
        let (a_cq, b_cq) = (a.cq(), b.cq());
        let sq = a.sq(&a_cq);
        let rq = b.rq(&b_cq, false, 16);
        let tir = b.tir(rq.number);
        Self { a, b, a_cq, b_cq, sq, rq, tir, taken: 0 }
    }

    /// Modifies all frames that arrive.
    fn modifying(actions: &[[u8; 8]]) -> Self {
        let mut lab = Self::new();
        let id = made(&mut lab.b, RX, actions);
        let (table, group) = lab.b.take_all(lab.tir);
        let to = [(TO_TIR, lab.tir)];
        let rule = Node::rule(RX, (table, group, 0), &[], FORWARD | MODIFY, &to, &[]);
        lab.b.bare(&rule.set("flow_context.modify_header_id", id)).unwrap();
        lab
    }

    /// Sends a frame, and returns the received frames and their CQEs.
    fn send(&mut self, frame: &[u8]) -> Vec<([u8; 64], Vec<u8>)> {
        self.a.send(&mut self.sq, 0, frame);
        run(&mut [&mut self.a, &mut self.b]);
        self.a.poll_all(&mut self.a_cq);
        let mut found = Vec::new();
        while let Some(cqe) = self.b.poll(&mut self.b_cq) {
            let bytes = usize::from(u16::from_be_bytes([cqe[46], cqe[47]]));
            found.push((cqe, self.b.memory.read(self.rq.buffers + self.taken * BUFFER, bytes)));
            self.taken += 1;
        }
        found
    }

    fn send_one(&mut self, frame: &[u8]) -> ([u8; 64], Vec<u8>) {
        let found: [_; 1] = self.send(frame).try_into().expect("one frame");
        found.into_iter().next().expect("one")
    }
}

const FROM: ([u8; 4], u16) = ([10, 0, 0, 1], 1000);
const TO: ([u8; 4], u16) = ([10, 0, 0, 2], 2000);

#[test]
fn register_b_is_in_the_cqe() {
    // Set, field 0x50, 32 bits.
    let mut lab = Lab::modifying(&[[0x10, 0x50, 0, 0, 0x12, 0x34, 0x56, 0x78]]);
    let sent = frame(mac(2), &[], &ipv4(true, FROM, TO, 5));
    let (cqe, found) = lab.send_one(&sent);
    assert_eq!((&cqe[36..40], found), (&[0x12, 0x34, 0x56, 0x78][..], sent));
}

#[test]
fn headers_are_rewritten_with_their_checksums() {
    let mut lab = Lab::modifying(&[
        // Set DMAC 47:16 and 15:0.
        [0x10, 0x04, 0, 0, 0x02, 0, 0, 0],
        [0x10, 0x05, 0, 16, 0, 0, 0, 0x77],
        // Set the IPv4 destination; copy half of it over the second half of the source.
        [0x10, 0x16, 0, 0, 192, 168, 7, 9],
        [0x30, 0x16, 16, 16, 0, 0x15, 0, 0],
        // TTL less one; DSCP 46; UDP destination 53, TCP destination 53.
        [0x20, 0x0a, 0, 0, 0, 0, 0, 0xff],
        [0x10, 0x06, 0, 6, 0, 0, 0, 46],
        [0x10, 0x0c, 0, 16, 0, 0, 0, 53],
        [0x10, 0x09, 0, 16, 0, 0, 0, 53],
    ]);
    for udp in [true, false] {
        let sent = frame(mac(2), &[], &ipv4(udp, FROM, TO, 5));
        let (cqe, found) = lab.send_one(&sent);
        // 192.168 is the upper half, and the lower half of the source becomes it.
        let mut packet = ipv4(udp, ([10, 0, 192, 168], FROM.1), ([192, 168, 7, 9], 53), 5);
        (packet[1], packet[8]) = (46 << 2, 63);
        packet[10..12].fill(0);
        let checksum = (!crate::frame::sum(&[&packet[..20]])).to_be_bytes();
        packet[10..12].copy_from_slice(&checksum);
        assert_eq!(found, frame(mac(0x77), &[], &packet), "UDP: {udp}");
        // Layers 2 to 4 without fault, and the sum of the received packet.
        assert_eq!((cqe[28], &cqe[36..40]), (7, &[0; 4][..]));
        assert_eq!(cqe[20..22], crate::frame::sum(&[&packet]).to_be_bytes());
    }
}

#[test]
fn later_tables_match_the_outcome_and_the_registers() {
    let mut lab = Lab::new();
    let node = &mut lab.b;
    let [first, second] = [0, 1].map(|level| node.table(RX, level));
    // Bits 8 to 15 of register C3 are 0x5a, and the destination's last byte becomes 9.
    let id = made(node, RX, &[[0x10, 0x54, 8, 8, 0, 0, 0, 0x5a], [0x10, 0x16, 0, 8, 0, 0, 0, 9]]);
    let all = node.group(RX, first, [0, 0], &[]);
    let rule = Node::rule(RX, (first, all, 0), &[], FORWARD | MODIFY, &[(TO_TABLE, second), (TO_TIR, lab.tir)], &[]);
    node.bare(&rule.set("flow_context.modify_header_id", id)).unwrap();
    const REGISTER: &str = "misc_parameters_2.metadata_reg_c_3";
    const LAST: &str = "outer_headers.dst_ipv4_dst_ipv6.ipv4_layout.ipv4";
    let by = node.group(RX, second, [0, 3], &[(REGISTER, 0xffff_ffff), (LAST, 0xff)]);
    let more = made(node, RX, &[[0x10, 0x50, 0, 0, 0, 0, 0, 1], [0x10, 0x16, 8, 8, 0, 0, 0, 8]]);
    for (index, register, last) in [(0, 0x5a00, 2), (1, 0, 9), (2, 0x5a00, 9)] {
        let value = [(REGISTER, register), (LAST, last)];
        let rule = Node::rule(RX, (second, by, index), &value, FORWARD | MODIFY, &[(TO_TIR, lab.tir)], &[]);
        let rule = rule.set("flow_context.flow_tag", index + 1).set("flow_context.modify_header_id", more);
        node.bare(&rule).unwrap();
    }
    node.root(RX, first);
    let found = lab.send(&frame(mac(2), &[], &ipv4(true, FROM, TO, 5)));
    let expected = [[10, 0, 0, 9], [10, 0, 8, 9]].map(|to| frame(mac(2), &[], &ipv4(true, FROM, (to, 2000), 5)));
    // The copy to the first table's TIR has neither the second one's tag nor its changes.
    let [(before, bytes_before), (after, bytes_after)] = &found[..] else { panic!("two copies: {found:?}") };
    assert_eq!([bytes_before, bytes_after], [&expected[0], &expected[1]]);
    assert_eq!((before[59], after[59], before[39], after[39]), (0, 3, 0, 1));
}

#[test]
fn egress_frames_leave_rewritten() {
    let mut lab = Lab::new();
    lab.b.take_all(lab.tir);
    let [first, second] = [0, 1].map(|level| lab.a.table(TX, level));
    // Register A, and the source's address; a later rule matches both.
    let id = made(&mut lab.a, TX, &[[0x10, 0x49, 0, 0, 0, 0, 0, 7], [0x10, 0x02, 0, 16, 0, 0, 0x12, 0x34]]);
    let all = lab.a.group(TX, first, [0, 0], &[]);
    let rule = Node::rule(TX, (first, all, 0), &[], FORWARD | MODIFY, &[(TO_TABLE, second)], &[]);
    lab.a.bare(&rule.set("flow_context.modify_header_id", id)).unwrap();
    let by = [("misc_parameters_2.metadata_reg_a", 0xff), ("outer_headers.smac_15_0", 0xffff)];
    let group = lab.a.group(TX, second, [0, 3], &by);
    let value = [(by[0].0, 7), (by[1].0, 0x1234)];
    let ttl = made(&mut lab.a, TX, &[[0x10, 0x0a, 0, 8, 0, 0, 0, 1]]);
    let rule = Node::rule(TX, (second, group, 0), &value, ALLOW | MODIFY, &[], &[]);
    lab.a.bare(&rule.set("flow_context.modify_header_id", ttl)).unwrap();
    lab.a.root(TX, first);
    let sent = frame(mac(2), &[], &ipv4(false, FROM, TO, 5));
    let (cqe, found) = lab.send_one(&sent);
    let mut expected = sent.clone();
    expected[10..12].copy_from_slice(&[0x12, 0x34]);
    expected[14 + 8] = 1;
    // 63 less in the upper byte of a word: the checksum has as much more.
    let checksum = u16::from_be_bytes([sent[24], sent[25]]);
    let sum = u32::from(checksum) + 0x3f00;
    expected[24..26].copy_from_slice(&((sum & 0xffff) as u16 + (sum >> 16) as u16).to_be_bytes());
    assert_eq!((found, cqe[28], &cqe[36..40]), (expected, 7, &[0; 4][..]));
}

#[test]
fn frames_without_the_header_stay_as_they_are() {
    let mut lab = Lab::modifying(&[
        // IPv6's source and hop limit, a VLAN, TCP's sequence number.
        [0x10, 0x0d, 0, 0, 1, 2, 3, 4],
        [0x20, 0x47, 0, 0, 0, 0, 0, 0xff],
        [0x10, 0x17, 0, 12, 0, 0, 0, 5],
        [0x10, 0x59, 0, 0, 1, 2, 3, 4],
    ]);
    for sent in [frame(mac(2), &[], &ipv4(true, FROM, TO, 5)), [&mac(2)[..], &mac(1), &[0x88, 0xb5], &[7; 40]].concat()]
    {
        assert_eq!(lab.send_one(&sent).1, sent);
    }
    // With a tag and TCP.
    let sent = frame(mac(2), &[0x81, 0, 0xe0, 1], &ipv4(false, FROM, TO, 5));
    let (cqe, found) = lab.send_one(&sent);
    assert_eq!((&found[14..16], &found[42..46], cqe[28]), (&[0xe0, 5][..], &[1, 2, 3, 4][..], 7));
}

#[test]
fn contexts_live_as_long_as_rules_name_them() {
    let mut lab = Lab::new();
    let node = &mut lab.b;
    let [one, other] = [1, 2].map(|last| made(node, RX, &[[0x10, 0x50, 0, 0, 0, 0, 0, last]]));
    assert_ne!(one, other);
    let (table, group) = node.take_all(lab.tir);
    let to = [(TO_TIR, lab.tir)];
    let rule = |id, action| {
        let rule = Node::rule(RX, (table, group, 0), &[], action, &to, &[]);
        rule.set("flow_context.modify_header_id", id)
    };
    node.bare(&rule(one, FORWARD | MODIFY)).unwrap();
    assert_eq!(node.bare(&dealloc(one)), Err(Status::ResourceBusy));
    let asked = Mail::command("query_fte_in", op::QUERY_FTE).set("table_id", table);
    let found = node.command(&asked, "query_fte_out", 8).unwrap();
    assert_eq!(found.get("flow_context.modify_header_id"), one);
    assert_eq!(found.get("flow_context.action"), FORWARD | MODIFY);
    // A change of the destinations alone keeps the context, and one of the action replaces it.
    let change = |id, action, mask| rule(id, action).set("op_mod", 1).set("modify_enable_mask", mask);
    node.bare(&change(0, FORWARD, 4)).unwrap();
    assert_eq!(node.bare(&dealloc(one)), Err(Status::ResourceBusy));
    node.bare(&change(other, FORWARD | MODIFY, 1)).unwrap();
    node.bare(&dealloc(one)).unwrap();
    assert_eq!(node.bare(&dealloc(one)), Err(Status::BadResource));
    assert_eq!(node.bare(&dealloc(other)), Err(Status::ResourceBusy));
    node.bare(&change(0, FORWARD, 1)).unwrap();
    node.bare(&dealloc(other)).unwrap();
    // A rule that goes has no use for it.
    let last = made(node, RX, &[[0x10, 0x50, 0, 0, 0, 0, 0, 1]]);
    node.bare(&rule(last, FORWARD | MODIFY)).unwrap();
    let delete = Mail::command("delete_fte_in", op::DELETE_FTE).set("table_id", table);
    node.bare(&delete).unwrap();
    node.bare(&dealloc(last)).unwrap();
    assert_eq!(lab.send(&frame(mac(2), &[], &ipv4(true, FROM, TO, 5))), []);
}

#[test]
fn a_context_is_its_makers() {
    let (mut node, _) = pair();
    let [user, other] = [(); 2].map(|()| node.number(Mail::command("create_uctx_in", 0xa04), "create_uctx_out", "uid"));
    let by = |mut mail: Mail, uid: u64| {
        mail.bytes[2..4].copy_from_slice(&(uid as u16).to_be_bytes());
        mail
    };
    let mail = by(alloc(RX, &[[0x10, 0x50, 0, 0, 0, 0, 0, 1]]), user);
    let id = node.number(mail, "alloc_modify_header_context_out", "modify_header_id");
    assert_eq!(node.bare(&by(dealloc(id), other)), Err(Status::BadResource));
    let table = node.number(
        by(Mail::command("create_flow_table_in", op::CREATE_FLOW_TABLE), other).set("flow_table_context.log_size", 1),
        "create_flow_table_out",
        "table_id",
    );
    let group = by(Mail::command("create_flow_group_in", op::CREATE_FLOW_GROUP).set("table_id", table), other);
    let group = node.number(group, "create_flow_group_out", "group_id");
    let rule = Node::rule(RX, (table, group, 0), &[], DROP | MODIFY, &[], &[]);
    let rule = by(rule.set("flow_context.modify_header_id", id), other);
    assert_eq!(node.bare(&rule), Err(Status::BadResource));
    let gone = by(Mail::command("destroy_uctx_in", 0xa06).set("uid", user), 0);
    assert_eq!(node.bare(&gone), Err(Status::ResourceBusy));
    node.bare(&by(dealloc(id), user)).unwrap();
    node.bare(&gone).unwrap();
}

#[test]
fn impossible_actions_are_refused() {
    let (mut node, _) = pair();
    let refused = |node: &mut Node, mail: &Mail| node.command(mail, "alloc_modify_header_context_out", 0).err();
    for (kind, action, why) in [
        (RX, [0x00, 0x50, 0, 0, 0, 0, 0, 1], "no action"),
        (RX, [0x40, 0x50, 0, 0, 0, 0, 0, 1], "an unknown action"),
        (RX, [0x10, 0x00, 0, 0, 0, 0, 0, 1], "no field"),
        (RX, [0x10, 0x31, 0, 16, 0, 0, 0, 1], "an inner field"),
        (RX, [0x1f, 0xff, 0, 0, 0, 0, 0, 1], "an unknown field"),
        (RX, [0x10, 0x49, 0, 0, 0, 0, 0, 1], "register A of a received frame"),
        (TX, [0x10, 0x50, 0, 0, 0, 0, 0, 1], "register B of an egress frame"),
        (TX, [0x30, 0x51, 0, 0, 0, 0x50, 0, 0], "register B of an egress frame"),
        (RX, [0x30, 0x49, 0, 0, 0, 0x51, 0, 0], "register A of a received frame"),
        (RX, [0x10, 0x05, 0, 0, 0, 0, 0, 1], "32 bits of 16"),
        (RX, [0x10, 0x05, 1, 16, 0, 0, 0, 1], "17 bits of 16"),
        (RX, [0x10, 0x51, 31, 2, 0, 0, 0, 1], "33 bits of 32"),
        (RX, [0x20, 0x0a, 1, 7, 0, 0, 0, 1], "a part of a sum"),
        (RX, [0x20, 0x0a, 0, 7, 0, 0, 0, 1], "a part of a sum"),
        (RX, [0x30, 0x0a, 0, 0, 0, 0x51, 0, 0], "32 bits from 8"),
        (RX, [0x30, 0x51, 0, 16, 0, 0x0a, 0, 0], "16 bits to 8"),
        (RX, [0x30, 0x51, 0, 8, 0, 0x31, 0, 0], "to an inner field"),
        (RX, [0x10, 0x51, 0x20, 0, 0, 0, 0, 1], "reserved bits"),
        (RX, [0x30, 0x51, 0, 0, 0, 0x52, 0, 1], "reserved bits"),
        (2, [0x10, 0x51, 0, 0, 0, 0, 0, 1], "an eSwitch"),
        (5, [0x10, 0x51, 0, 0, 0, 0, 0, 1], "a sniffer"),
    ] {
        // Not the second of two, either.
        let well = [0x10, 0x51, 0, 0, 0, 0, 0, 1];
        for actions in [&[action][..], &[well, action]] {
            assert_eq!(refused(&mut node, &alloc(kind, actions)), Some(Status::BadParameter), "{why}");
        }
    }
    let set = [0x10, 0x51, 0, 0, 0, 0, 0, 1];
    assert_eq!(refused(&mut node, &alloc(RX, &[])), Some(Status::BadParameter));
    assert_eq!(refused(&mut node, &alloc(RX, &[set; 17])), Some(Status::BadParameter));
    assert_eq!(refused(&mut node, &alloc(RX, &[set; 2]).set("num_of_actions", 3)), Some(Status::BadInputLength));
    assert_eq!(refused(&mut node, &alloc(RX, &[set; 16])), None);
    assert_eq!(refused(&mut node, &alloc(RX, &[[0x20, 0x0a, 0, 8, 0, 0, 0, 0xff]])), None);
}

#[test]
fn rules_name_contexts_of_their_own_tables() {
    let mut lab = Lab::new();
    let node = &mut lab.b;
    let [received, sent] = [RX, TX].map(|kind| made(node, kind, &[[0x10, 0x51, 0, 0, 0, 0, 0, 1]]));
    for (kind, right, wrong) in [(RX, received, sent), (TX, sent, received)] {
        let table = node.table(kind, 0);
        let group = node.group(kind, table, [0, 3], &[]);
        let set = |node: &mut Node, action, id| {
            let rule = Node::rule(kind, (table, group, 0), &[], action, &[], &[]);
            node.bare(&rule.set("flow_context.modify_header_id", id))
        };
        assert!(set(node, DROP | MODIFY, wrong).is_err());
        assert_eq!(set(node, DROP, right), Err(Status::BadParameter), "a context and no action");
        assert_eq!(set(node, DROP | MODIFY, 0), Err(Status::BadResource), "an action and no context");
        assert_eq!(set(node, DROP | MODIFY, 99), Err(Status::BadResource));
        set(node, DROP | MODIFY, right).unwrap();
    }
}
