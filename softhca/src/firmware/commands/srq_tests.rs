//! Shared receive queues of all kinds, by mailboxes whose bytes are computed by hand from Linux' `mlx5_ifc.h`.

use crate::config::LinkLayer;
use crate::context::{RqContext, SrqContext, TagContext, XrcContext};
use crate::error::Object;
use crate::event::Event;
use crate::firmware::pair_bench::{Node, Qp, SRQ_PAGES, SRQ_RECORD, connect, data_seg, mailbox, pair, settle, sparse};
use crate::firmware::status::Status;
use crate::memory::test_memory::BASE;

/// WQEs of all queues here: 128 of 64 bytes, so that a queue takes both of its pages.
const LOG_SIZE: u8 = 7;
const LOG_STRIDE: u8 = 6;

/// How a queue is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Srq,
    RmpLinked,
    RmpCyclic,
    RmpBasic,
    Xrq,
}

/// Opcodes of a kind's commands.
#[derive(PartialEq)]
struct Opcodes {
    create: [u8; 2],
    destroy: [u8; 2],
    query: [u8; 2],
    arm: [u8; 2],
}
use Kind::{RmpBasic, RmpCyclic, RmpLinked, Srq, Xrq};

const ALL: [Kind; 5] = [Srq, RmpLinked, RmpCyclic, RmpBasic, Xrq];

impl Kind {
    fn opcodes(self) -> Opcodes {
        match self {
            Srq => Opcodes { create: [7, 0], destroy: [7, 1], query: [7, 2], arm: [7, 3] },
            Xrq => Opcodes { create: [7, 0x17], destroy: [7, 0x18], query: [7, 0x19], arm: [7, 0x1a] },
            _ => Opcodes { create: [9, 0x0c], destroy: [9, 0x0e], query: [9, 0x0f], arm: [9, 0x0d] },
        }
    }

    /// Where its work queue begins in the mailboxes, and where its low watermark is.
    fn places(self) -> (usize, usize) {
        match self {
            Srq => (0x10, 0x2c),
            Xrq => (0x90, 0x96),
            _ => (0x50, 0x56),
        }
    }

    fn create(self, node: &Node) -> Vec<u8> {
        let pages: Vec<u8> = SRQ_PAGES.iter().flat_map(|page| (BASE + page * 4096).to_be_bytes()).collect();
        let opcode = self.opcodes().create;
        let (at, _) = self.places();
        let (pd, record) = (node.pd.to_be_bytes(), SRQ_RECORD.to_be_bytes());
        if self == Srq {
            // log_srq_size in the low bits of byte 0, log_rq_stride (less 4) in those of byte 4.
            let (size, stride) = ([LOG_SIZE], [LOG_STRIDE - 4]);
            let parts: [(usize, &[u8]); 6] =
                [(0, &opcode), (at, &size), (at + 4, &stride), (at + 0x18, &pd), (at + 0x28, &record), (0x110, &pages)];
            return mailbox(0x120, &parts);
        }
        let wq_type = [if matches!(self, RmpCyclic | RmpBasic) { 0x10 } else { 0 }];
        let sizes = [0, LOG_STRIDE, 0, LOG_SIZE];
        let end = if self == Xrq { 0x150 } else { 0x110 };
        let parts: [(usize, &[u8]); 6] =
            [(0, &opcode), (at, &wq_type), (at + 8, &pd), (at + 0x10, &record), (at + 0x20, &sizes), (end, &pages)];
        let mut bytes = mailbox(end + 16, &parts);
        match self {
            Xrq => bytes[0x18..0x1c].copy_from_slice(&node.cqn.to_be_bytes()),
            // Ready, and whether WQEs are basic.
            _ => (bytes[0x21], bytes[0x24]) = (0x10, if self == RmpBasic { 0x80 } else { 0 }),
        }
        bytes
    }

    fn on(self, which: fn(Opcodes) -> [u8; 2], number: u32) -> Vec<u8> {
        mailbox(16, &[(0, &which(self.opcodes())), (8, &number.to_be_bytes())])
    }

    fn query(self, node: &mut Node, number: u32) -> Result<Vec<u8>, Status> {
        let input = self.on(|of| of.query, number);
        node.bench.execute(&input, if self == Xrq { 0x150 } else { 0x110 })
    }

    fn destroy(self, node: &mut Node, number: u32) -> Status {
        node.status(&self.on(|of| of.destroy, number))
    }

    /// Arms the limit: RMPs by a modification.
    fn arm(self, number: u32, limit: u8) -> Vec<u8> {
        let mut input = self.on(|of| of.arm, number);
        match self {
            Srq => input[7] = 1,
            Xrq => {}
            _ => {
                input.resize(0x110, 0);
                input[8] = 0x10;
                input[0x17] = 1;
                input[0x21] = 0x10;
                input[0x57] = limit;
                return input;
            }
        }
        input[15] = limit;
        input
    }

    /// Whether WQEs begin with a next segment, and whether the link in it counts.
    fn segments(self) -> (bool, bool) {
        (self != RmpBasic, !matches!(self, RmpCyclic | RmpBasic))
    }
}

/// Fills the ring: each WQE is one buffer of 1000 bytes. Linked ones follow each other backwards from 0.
fn fill(node: &Node, kind: Kind) {
    let (segment, linked) = kind.segments();
    for index in 0..128_u64 {
        let next = if linked { (index + 127) % 128 } else { 0x5555 } as u16;
        let mut wqe = vec![];
        if segment {
            wqe.extend([0, 0]);
            wqe.extend(next.to_be_bytes());
            wqe.extend([0; 12]);
        }
        wqe.extend(data_seg(BASE + 0x1000 + (index % 8) * 1024, 1000, node.key));
        wqe.extend(data_seg(0, 0, 0x100));
        node.write_in(SRQ_PAGES, index * 64, &wqe);
    }
}

#[test]
fn data_goes_to_the_wqes_of_each_kind_in_their_order() {
    for kind in ALL {
        let mut nodes = pair(LinkLayer::InfiniBand);
        let [sender, receiver] = &mut nodes;
        let number = receiver.number(&kind.create(receiver));
        sender.create_qp(&Qp { st: 0, srqn: None });
        receiver.create_qp(&Qp { st: 0, srqn: Some(number) });
        fill(receiver, kind);
        connect(&mut nodes);
        let (_, linked) = kind.segments();
        for round in 0..200_u16 {
            let [sender, receiver] = &mut nodes;
            receiver.write(SRQ_RECORD, &u32::from(round + 1).to_be_bytes());
            sender.write(BASE, &[round as u8; 16]);
            sender.post(0x0a, &data_seg(BASE, 16, sender.key), true);
            settle(&mut nodes);
            let [sender, receiver] = &mut nodes;
            assert_eq!(sender.poll().map(|cqe| cqe[63] >> 4), Some(0));
            let cqe = receiver.poll().unwrap_or_else(|| panic!("{kind:?}: message {round}"));
            let counter = u16::from_be_bytes([cqe[60], cqe[61]]);
            let index = if linked { (128 - round % 128) % 128 } else { round % 128 };
            assert_eq!(counter, if linked { index } else { round }, "{kind:?}");
            assert_eq!(receiver.read(BASE + 0x1000 + u64::from(index % 8) * 1024, 16), [round as u8; 16]);
        }
    }
}

#[test]
fn fewer_wqes_than_the_limit_are_an_event_once() {
    for kind in ALL {
        let mut nodes = pair(LinkLayer::InfiniBand);
        let [sender, receiver] = &mut nodes;
        let number = receiver.number(&kind.create(receiver));
        sender.create_qp(&Qp { st: 0, srqn: None });
        receiver.create_qp(&Qp { st: 0, srqn: Some(number) });
        fill(receiver, kind);
        connect(&mut nodes);
        let [_, receiver] = &mut nodes;
        receiver.write(SRQ_RECORD, &4_u32.to_be_bytes());
        assert_eq!(receiver.status(&kind.arm(number, 129)), Status::BadParameter, "more than the queue holds");
        assert_eq!(receiver.status(&kind.arm(number, 3)), Status::Ok);
        let (_, lwm) = kind.places();
        let limit = |node: &mut Node| {
            let context = kind.query(node, number).expect("a context");
            u16::from_be_bytes([context[lwm], context[lwm + 1]])
        };
        assert_eq!(limit(receiver), 3, "{kind:?}");
        for left in [3, 2, 1_u32] {
            let [sender, _] = &mut nodes;
            sender.post(0x0a, &data_seg(BASE, 16, sender.key), true);
            settle(&mut nodes);
            let [_, receiver] = &mut nodes;
            let is_pool = matches!(kind, RmpLinked | RmpCyclic | RmpBasic);
            let expected: &[Event] = if left == 2 { &[Event::SrqLimit { srqn: number, is_pool }] } else { &[] };
            let mut events = receiver.events();
            events.retain(|event| !matches!(event, Event::Qp { .. }));
            assert_eq!(events, expected, "{kind:?}: {left} left");
            assert_eq!(limit(receiver), if left == 3 { 3 } else { 0 });
        }
    }
}

#[test]
fn a_pool_of_ucx_is_understood_and_reported() {
    // UCX 1.13 writes this (src/uct/ib/rc/accel/rc_mlx5_devx.c, `uct_rc_mlx5_devx_init_rx`), from its own
    // ib_mlx5_ifc.h: a cyclic queue of 16 WQEs of 32 bytes. The kernel adds that the UMEMs count.
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let user = node.bench.user();
    node.bench.firmware.set_owner(Object::Pd, node.pd, user);
    let umem = node.bench.umem(user, &[30, 28], 0, false);
    let fixed = [(0x0, 0x09), (0x1, 0x0c), (0x21, 0x10), (0x50, 0x10), (0x71, 0x05), (0x73, 0x04), (0x74, 0xc0)];
    let mut create = sparse(0x110, &fixed);
    create[2..4].copy_from_slice(&user.0.to_be_bytes());
    create[0x58..0x5c].copy_from_slice(&node.pd.to_be_bytes());
    create[0x60..0x68].copy_from_slice(&0x1ffc_u64.to_be_bytes());
    create[0x78..0x7c].copy_from_slice(&umem.to_be_bytes());
    create[0x7c..0x80].copy_from_slice(&umem.to_be_bytes());
    let number = node.number(&create);
    let context = RmpCyclic.query(node, number).expect("a context");
    assert_eq!(context[0x10..], create[0x10..]);
    assert_eq!(node.bench.state().umems.get(umem).map(|umem| umem.users), Some(2));
    let other = node.bench.user();
    let mut destroy = RmpCyclic.on(|of| of.destroy, number);
    destroy[2..4].copy_from_slice(&other.0.to_be_bytes());
    assert_eq!(node.status(&destroy), Status::BadResource);
    destroy[2..4].copy_from_slice(&user.0.to_be_bytes());
    assert_eq!(node.status(&destroy), Status::Ok);
    assert_eq!(node.bench.state().umems.get(umem).map(|umem| umem.users), Some(0));
}

#[test]
fn a_queue_is_of_its_kind_and_stays_while_it_is_used() {
    for kind in ALL {
        let mut nodes = pair(LinkLayer::InfiniBand);
        let [node, _] = &mut nodes;
        let number = node.number(&kind.create(node));
        for other in [Srq, RmpLinked, Xrq] {
            if other.opcodes() != kind.opcodes() {
                assert_eq!(other.query(node, number), Err(Status::BadResource), "{kind:?} as {other:?}");
                assert_eq!(other.destroy(node, number), Status::BadResource);
                assert_eq!(node.status(&other.arm(number, 1)), Status::BadResource);
            }
        }
        node.create_qp(&Qp { st: 0, srqn: Some(number) });
        assert_eq!(kind.destroy(node, number), Status::ResourceBusy);
        let destroy = node.on_qp(1);
        assert_eq!(node.status(&destroy), Status::Ok);
        let free_pd = sparse(16, &[(0, 8), (1, 1), (11, node.pd as u8)]);
        assert_eq!(node.status(&free_pd), Status::ResourceBusy);
        let destroy_cq = sparse(16, &[(0, 4), (1, 1), (11, node.cqn as u8)]);
        if kind == Xrq {
            assert_eq!(node.status(&destroy_cq), Status::ResourceBusy);
        }
        assert_eq!(kind.destroy(node, number), Status::Ok);
        assert_eq!(kind.destroy(node, number), Status::BadResource);
        assert_eq!(kind.query(node, number), Err(Status::BadResource));
        assert_eq!(node.status(&destroy_cq), Status::Ok);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let cases: [(Kind, usize, u8, Status); 21] = [
        (Srq, 0x14, 0x82, Status::BadParameter),       // WQE signatures
        (Srq, 0x14, 0x00, Status::BadParameter),       // WQEs of 16 bytes, which have no room for a link
        (Srq, 0x2b, 0x77, Status::BadResource),        // PD
        (Srq, 0x10, 0x08, Status::BadInputLength),     // too few pages
        (Srq, 0x3f, 0x81, Status::BadParameter),       // a record that is not aligned
        (RmpLinked, 0x21, 0x00, Status::BadParameter), // a pool that is not ready
        (RmpLinked, 0x50, 0x20, Status::BadParameter), // several strides
        (RmpLinked, 0x24, 0x80, Status::BadParameter), // a linked list without links
        (RmpLinked, 0x50, 0x08, Status::BadParameter), // WQE signatures
        (RmpLinked, 0x76, 0x01, Status::BadParameter), // a number of strides
        (RmpLinked, 0x71, 0x04, Status::BadParameter), // WQEs of 16 bytes
        (RmpCyclic, 0x57, 0x81, Status::BadParameter), // a limit of 129 of 128
        (RmpCyclic, 0x22, 0x01, Status::BadParameter), // a bit without a name
        (Xrq, 0x12, 0x02, Status::BadParameter),       // another topology than tag matching
        (Xrq, 0x13, 0x01, Status::BadParameter),       // rendezvous without tags
        (Xrq, 0x30, 0x70, Status::BadParameter),       // a list without tags
        (Xrq, 0x33, 0x01, Status::BadParameter),       // a list that has begun
        (Xrq, 0x1f, 0x01, Status::BadParameter),       // for dynamic connections (UCX)
        (Xrq, 0x1b, 0x77, Status::BadResource),        // CQ
        (Xrq, 0x90, 0x30, Status::BadParameter),       // several strides
        (Xrq, 0x90, 0x08, Status::BadParameter),       // WQE signatures
    ];
    for (kind, at, byte, status) in cases {
        let mut input = kind.create(node);
        input[at] = byte;
        assert_eq!(node.status(&input), status, "{kind:?}, byte {at:#x}");
    }
    let number = node.number(&RmpCyclic.create(node));
    // The first of those that this device has for QPs and SRQs.
    assert_eq!(number, 0x100 * u32::from(node.lid), "what was refused took no number");
    let mut full = RmpCyclic.create(node);
    full[0x57] = 0x80;
    node.number(&full);
    let mut arm = RmpCyclic.arm(number, 1);
    arm[8] = 0x30;
    assert_eq!(node.status(&arm), Status::BadResourceState);
    arm[8] = 0x10;
    arm[0x21] = 0x30;
    assert_eq!(node.status(&arm), Status::BadParameter);
    let mut arm = Srq.arm(number, 1);
    arm[7] = 3;
    assert_eq!(node.status(&arm), Status::BadParameter);
}

#[test]
fn a_queue_of_an_xrc_domain_is_for_no_other_service() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let xrcd = node.number(&sparse(16, &[(0, 8), (1, 0x0e)]));
    let mut create = Srq.create(node);
    create[1] = 5;
    create[0x15..0x18].copy_from_slice(&xrcd.to_be_bytes()[1..]);
    create[0x19..0x1c].copy_from_slice(&node.cqn.to_be_bytes()[1..]);
    for (at, byte, status) in [
        (0x17, 9, Status::BadResource),     // no such domain
        (0x1b, 9, Status::BadResource),     // no such CQ
        (0x5c, 0x80, Status::BadParameter), // in user memory
        (0x18, 0x01, Status::BadParameter), // its record in user memory
    ] {
        let mut input = create.clone();
        input[at] = byte;
        assert_eq!(node.status(&input), status, "byte {at:#x}");
    }
    let number = node.number(&create);
    let on = |opcode: u8, number: u32| mailbox(16, &[(0, &[7, opcode]), (8, &number.to_be_bytes())]);
    node.write(SRQ_RECORD, &5_u32.to_be_bytes());
    let mut arm = on(8, number);
    (arm[7], arm[15]) = (1, 2);
    assert_eq!(node.status(&arm), Status::Ok);
    let context = node.bench.execute(&on(7, number), 0x110).expect("a context");
    let mut expected = create[0x10..0x50].to_vec();
    (expected[0x1d], expected[0x1f]) = (2, 5);
    assert_eq!(context[0x10..0x50], expected);
    assert_eq!(node.status(&node.qp_mailbox(&Qp { st: 0, srqn: Some(number) })), Status::BadResource);
    let free = |opcode: [u8; 2], number: u32| mailbox(16, &[(0, &opcode), (8, &number.to_be_bytes())]);
    let cqn = node.cqn;
    assert_eq!(node.status(&free([8, 0x0f], xrcd)), Status::ResourceBusy);
    assert_eq!(node.status(&free([4, 1], cqn)), Status::ResourceBusy);
    assert_eq!(node.status(&on(6, number)), Status::Ok);
    assert_eq!(node.status(&free([8, 0x0f], xrcd)), Status::Ok);
    assert_eq!(node.status(&free([4, 1], cqn)), Status::Ok);
}

/// As Linux (`create_xrq_cmd`) and UCX (`uct_rc_mlx5_devx_init_rx_tm`) ask for it.
#[test]
fn an_extended_queue_may_match_tags() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let mut create = Xrq.create(node);
    (create[0x12], create[0x13]) = (1, 1);
    create[0x15..0x18].copy_from_slice(&[0xab, 0xcd, 0xef]);
    create[0x30] = 0x80;
    assert_eq!(node.status(&create), Status::BadParameter, "more places than there can be");
    create[0x30] = 0x70;
    let number = node.number(&create);
    assert_eq!(Xrq.query(node, number).expect("a context")[0x10..], create[0x10..0x150]);
    let rendezvous = |node: &Node, number| node.bench.device.query_srq(number).expect("it is there").tags;
    assert_eq!(rendezvous(node, number).map(|tags| tags.context.rendezvous), Some(true));
    let mut without = create.clone();
    without[0x13] = 0;
    let number_without = node.number(&without);
    assert_eq!(rendezvous(node, number_without).map(|tags| tags.context.rendezvous), Some(false));
    // Bytes of a QP's context: offload_type, no_sq.
    let qp = |node: &Node, st: u8, offload: u8, no_sq: u8| {
        let mut input = node.qp_mailbox(&Qp { st, srqn: Some(number) });
        input[0x1b] = offload << 4;
        input[0x22] |= no_sq << 7;
        input
    };
    for (st, offload, no_sq, status) in [
        (0, 1, 0, Status::BadParameter), // its send queue is the driver's
        (0, 2, 1, Status::BadParameter), // another offload
        (1, 0, 0, Status::BadResource),  // a service that has no tag matching
    ] {
        let input = qp(node, st, offload, no_sq);
        assert_eq!(node.status(&input), status, "{st} {offload} {no_sq}");
    }
    let plain = node.qp_mailbox(&Qp { st: 0, srqn: None });
    let mut input = plain.clone();
    (input[0x1b], input[0x22]) = (0x10, plain[0x22] | 0x80);
    assert_eq!(node.status(&input), Status::BadParameter, "its receives match no tags");
    assert_eq!(Xrq.destroy(node, number), Status::Ok, "what was refused does not use it");
    let number = node.number(&create);
    let mut input = node.qp_mailbox(&Qp { st: 0, srqn: Some(number) });
    (input[0x1b], input[0x22]) = (0x10, input[0x22] | 0x80);
    node.create_qp_by(&input);
    assert_eq!(Xrq.destroy(node, number), Status::ResourceBusy);
}

/// As libmlx5's queues are asked about by commands: the kernel's driver has made them.
#[test]
fn queues_that_no_command_has_made_are_of_their_kinds() {
    let mut nodes = pair(LinkLayer::InfiniBand);
    let [node, _] = &mut nodes;
    let rq = RqContext { buf: BASE + SRQ_PAGES[1] * 4096, log_size: 5, log_stride: LOG_STRIDE };
    let (pd, dbr, cqn) = (node.pd, SRQ_RECORD, node.cqn);
    let context = SrqContext { pd, rq, dbr, ..SrqContext::default() };
    let device = &mut node.bench.device;
    let plain = device.create_srq(context).expect("an SRQ");
    let tags = TagContext { cqn, uidx: Some(0xab_cdef), log_list: 6, rendezvous: true };
    let tagged = device.create_tag_srq(context, tags).expect("an SRQ that matches tags");
    let xrcd = device.alloc_xrcd().expect("a domain");
    let of_domain = device.create_xrc_srq(context, XrcContext { xrcd, cqn, uidx: None }).expect("an SRQ of a domain");

    // QUERY_XRC_SRQ is no command of the kinds above.
    let by_xrc = |node: &mut Node, number: u32| {
        node.bench.execute(&mailbox(16, &[(0, &[7, 7]), (8, &number.to_be_bytes())]), 0x110).is_ok()
    };
    for (number, expected) in [
        (plain, [true, true, false, false]),
        (tagged, [false, false, true, false]),
        (of_domain, [false, false, false, true]),
    ] {
        let [srq, rmp, xrq] = [Srq, RmpLinked, Xrq].map(|kind| kind.query(node, number).is_ok());
        assert_eq!([srq, rmp, xrq, by_xrc(node, number)], expected, "{number:#x}");
    }
    // Size, stride, domain and record are where a command that makes a queue has them.
    for (kind, number) in [(Srq, plain), (RmpLinked, plain), (Xrq, tagged)] {
        let told = kind.query(node, number).expect("a context");
        let (at, _) = kind.places();
        let (domain, record) = if kind == Srq { (at + 0x18, at + 0x28) } else { (at + 8, at + 0x10) };
        let sizes = if kind == Srq { [told[at], told[at + 4] + 4] } else { [told[at + 0x23], told[at + 0x21]] };
        assert_eq!(sizes, [5, LOG_STRIDE], "{kind:?}");
        assert_eq!(told[domain..domain + 4], pd.to_be_bytes(), "{kind:?}");
        assert_eq!(told[record..record + 8], dbr.to_be_bytes(), "{kind:?}");
    }
    // Topology and offload, user index, CQ, and the size of the list.
    let told = Xrq.query(node, tagged).expect("a context");
    assert_eq!((&told[0x12..0x18], &told[0x18..0x1c]), (&[1, 1, 0, 0xab, 0xcd, 0xef][..], &cqn.to_be_bytes()[..]));
    assert_eq!(told[0x30], 0x60);
}
