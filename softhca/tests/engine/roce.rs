//! RoCE's two versions are two networks: the type of the GID is part of the address.
//!
//! Addresses belong here, payloads in `operations.rs`.

use crate::lab::*;
use softhca::config::{GidType, LinkLayer};
use softhca::context::{Path, Transport};
use softhca::error::Error;

fn ethernet(transport: Transport, gid_types: &[GidType]) -> Options {
    Options { link: LinkLayer::Ethernet, transport, gid_types: gid_types.to_vec(), ..Options::default() }
}

/// Connected QPs, with these entries of their ports' GID tables as source.
fn connected(options: Options, sgid_index: [u8; 2]) -> Lab {
    let mut lab = Lab::unconnected(options);
    let (a, b) = (lab.a.identity(), lab.b.identity());
    for (node, peer, sgid_index) in [(&mut lab.a, b, sgid_index[0]), (&mut lab.b, a, sgid_index[1])] {
        node.modify(node.init_attr());
        let mut attr = node.rtr_attr(peer);
        attr.path.as_mut().unwrap().grh.as_mut().unwrap().sgid_index = sgid_index;
        node.modify(attr);
        node.modify(node.rts_attr());
    }
    lab
}

#[test]
fn connections_need_the_same_version_on_both_sides() {
    for (transport, refused) in [(Transport::Rc, 0x15), (Transport::Uc, 0)] {
        for (index, reached) in [([0, 0], true), ([1, 1], true), ([0, 1], false), ([1, 0], false)] {
            let mut lab = connected(ethernet(transport, &[GidType::RoceV1, GidType::RoceV2]), index);
            lab.b.post_recv(&[(lab.b.data, 64)]);
            lab.a.post(&Wr::send().inline(b"hello"));
            lab.settle();
            let syndrome = lab.a.poll_send()[0].syndrome;
            assert_eq!(syndrome, if reached { 0 } else { refused }, "{transport:?} {index:?}");
            assert_eq!(lab.b.poll_recv().len(), usize::from(reached), "{transport:?} {index:?}");
        }
    }
}

/// RoCE has no LIDs: an address is a GID (IBTA annex A16.4.1).
#[test]
fn a_path_on_ethernet_has_a_grh() {
    for transport in [Transport::Rc, Transport::Uc] {
        let mut lab = Lab::unconnected(ethernet(transport, &[GidType::RoceV2]));
        let (qpn, peer) = (lab.a.qpn, lab.b.identity());
        lab.a.modify(lab.a.init_attr());
        let mut attr = lab.a.rtr_attr(peer);
        let path = attr.path.unwrap();
        attr.path = Some(Path { grh: None, ..path });
        let refused = lab.a.device.modify_qp(qpn, &attr);
        assert!(matches!(refused, Err(Error::BadValue { what: "path without a GRH", .. })), "{refused:?}");
        attr.path = Some(path);
        lab.a.modify(attr);
    }
}

#[test]
fn a_port_takes_datagrams_of_the_versions_it_has_the_gid_for() {
    for (there, reached) in [(GidType::RoceV2, true), (GidType::RoceV1, false)] {
        let near = ethernet(Transport::Ud, &[GidType::RoceV2]);
        let far = ethernet(Transport::Ud, &[there]);
        let mut lab = Lab::of(near, far);
        lab.connect();
        let (lid, gid, qpn) = lab.b.identity();
        lab.b.post_recv(&[(lab.b.data, 100)]);
        lab.a.post(&Wr::send().inline(b"hello").to(lid, qpn, QKEY, Some(gid)));
        lab.settle();
        assert_eq!(lab.a.poll_send()[0].opcode, REQ, "the sender is not told");
        assert_eq!(lab.b.poll_recv().len(), usize::from(reached));
    }
}

/// Which header the receive buffer begins with, the CQE tells where InfiniBand's has the service level.
#[test]
fn the_cqe_of_a_datagram_tells_the_kind_of_its_header() {
    for (kind, expected) in [(GidType::RoceV1, 0), (GidType::RoceV2, 0x9)] {
        let mut lab = Lab::new(ethernet(Transport::Ud, &[kind]));
        let (lid, gid, qpn) = lab.b.identity();
        lab.b.post_recv(&[(lab.b.data, 100)]);
        lab.a.post(&Wr::send().inline(b"hello").to(lid, qpn, QKEY, Some(gid)));
        lab.settle();
        assert_eq!(lab.b.poll_recv()[0].flags_rqpn >> 24 & 0xf, expected, "{kind:?}");
    }
}
