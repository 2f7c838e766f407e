//! Multicast: the members of groups, their copies of datagrams, and the sender's own copy.
//!
//! Groups belong here, datagrams to one receiver in `datagrams.rs`.

use crate::lab::*;
use softhca::config::LinkLayer;
use softhca::context::{CrossChannel, Transport};
use softhca::error::{Error, Object};

/// The QPN of a group, and a LID of one.
const GROUP_QPN: u32 = 0xff_ffff;
const GROUP_LID: u16 = 0xc123;
const GROUP: [u8; 16] = [0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
const OTHER: [u8; 16] = [0xff; 16];

fn options(link: LinkLayer) -> Options {
    Options { transport: Transport::Ud, link, ..Options::default() }
}

fn to(gid: [u8; 16]) -> Wr {
    Wr::send().inline(b"to all").to(GROUP_LID, GROUP_QPN, QKEY, Some(gid))
}

#[test]
fn each_member_gets_a_datagram_and_so_does_its_sender() {
    for link in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        let mut lab = Lab::new(options(link));
        let peer = lab.a.identity();
        let mut first = lab.b.beside(CrossChannel::default(), peer);
        // Twice is once.
        for _ in 0..2 {
            lab.a.device.attach_to_group(lab.a.qpn, GROUP).unwrap();
            for qpn in [lab.b.qpn, first.qpn] {
                lab.b.device.attach_to_group(qpn, GROUP).unwrap();
            }
        }
        for at in [0, 200] {
            lab.b.post_recv(&[(lab.b.data + at, 100)]);
            lab.b.turn(&mut first);
        }
        lab.a.post_recv(&[(lab.a.data, 100)]);
        for gid in [GROUP, OTHER] {
            lab.a.post(&to(gid));
        }
        lab.run();
        assert_eq!(lab.a.poll_send().len(), 2);
        let got = [lab.a.poll_recv(), lab.b.poll_recv()];
        assert_eq!(got.each_ref().map(Vec::len), [1, 2], "{link:?}");
        assert!(got.iter().flatten().all(|cqe| (cqe.opcode, cqe.byte_cnt) == (RECV, 46)));
        assert!(got.iter().flatten().all(|cqe| cqe.flags_rqpn & 0xff_ffff == lab.a.qpn));
        for (memory, at) in
            [(&lab.a.memory, lab.a.data), (&lab.b.memory, lab.b.data), (&lab.b.memory, lab.b.data + 200)]
        {
            let area = memory.read(at, 46);
            assert_eq!((&area[8..24], &area[24..40]), (&lab.a.identity().1[..], &GROUP[..]));
            assert_eq!(&area[40..], b"to all");
        }
    }
}

#[test]
fn a_sender_can_do_without_its_own_copy() {
    for blocks_own_multicast in [false, true] {
        let mut lab = Lab::new(Options { blocks_own_multicast, ..options(LinkLayer::InfiniBand) });
        for node in [&mut lab.a, &mut lab.b] {
            node.device.attach_to_group(node.qpn, GROUP).unwrap();
            node.post_recv(&[(node.data, 100)]);
        }
        lab.a.post(&to(GROUP));
        lab.run();
        assert_eq!((lab.a.poll_recv().len(), lab.b.poll_recv().len()), (usize::from(!blocks_own_multicast), 1));
    }
}

#[test]
fn one_that_has_left_gets_nothing() {
    let mut lab = Lab::new(options(LinkLayer::Ethernet));
    let qpn = lab.b.qpn;
    let peer = lab.a.identity();
    let doomed = lab.b.beside(CrossChannel::default(), peer);
    lab.b.post_recv(&[(lab.b.data, 100), (lab.b.data + 200, 100)]);
    for number in [lab.b.qpn, doomed.qpn] {
        lab.b.device.attach_to_group(number, GROUP).unwrap();
    }
    // A QP that is destroyed leaves its groups.
    lab.b.device.destroy_qp(doomed.qpn).unwrap();
    lab.a.post(&to(GROUP));
    lab.run();
    assert_eq!(lab.b.poll_recv().len(), 1);
    lab.b.device.detach_from_group(lab.b.qpn, GROUP).unwrap();
    lab.a.post(&to(GROUP));
    // Neither a unicast GID nor none is a group's.
    let (_, gid, _) = lab.b.identity();
    lab.a.post(&to(gid));
    lab.run();
    assert!(lab.b.poll_recv().is_empty());
    let missing = |number| Err(Error::NoSuch { object: Object::GroupMember, number });
    assert_eq!(lab.b.device.detach_from_group(lab.b.qpn, GROUP), missing(lab.b.qpn));
    let bad = lab.b.device.attach_to_group(lab.b.qpn, gid);
    assert!(matches!(bad, Err(Error::BadValue { value: 0xfe, .. })), "{bad:?}");
    let gone = Err(Error::NoSuch { object: Object::Qp, number: qpn });
    assert_eq!(lab.b.device.attach_to_group(qpn, GROUP), gone);
    let mut connected = Lab::new(Options::default());
    let refused = connected.a.device.attach_to_group(connected.a.qpn, GROUP);
    assert!(matches!(refused, Err(Error::Unsupported(_))), "{refused:?}");
}

#[test]
fn a_group_has_as_many_members_as_the_device_announces() {
    let mut lab = Lab::new(options(LinkLayer::InfiniBand));
    let peer = lab.a.identity();
    let mut numbers = vec![lab.b.qpn];
    while numbers.len() <= 240 {
        lab.b.beside(CrossChannel::default(), peer);
        numbers.push(lab.b.qpn);
    }
    for &number in &numbers[..240] {
        lab.b.device.attach_to_group(number, GROUP).unwrap();
    }
    let full = Err(Error::Exhausted { object: Object::GroupMember, limit: 240 });
    assert_eq!(lab.b.device.attach_to_group(numbers[240], GROUP), full);
    lab.b.device.attach_to_group(numbers[240], OTHER).unwrap();
}
