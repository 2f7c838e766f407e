//! Datagrams as libmlx5 posts them, to addresses that it has made of address handles; and the addresses themselves.
//!
//! Requests of UD belong here, those of initiators in `dynamic.rs`.

use blueflame::cq::cqe::{Grh, GrhKind};
use blueflame::transport;
use blueflame::types::{Qkey, Qpn};
use blueflame::verbs::device::{GidType, LinkLayer};
use blueflame::verbs::{AddressHandle, Error, QueuePair, Route, XrcTarget};
use blueflame::wqe::UdAddress;
use blueflame::wqe::address::{CompactAv, GlobalRoute, StaticRate};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Whom, Wr};
use proptest::prelude::*;

use crate::addresses::{ITSELF, OWN_KEY, QKEY};
use crate::again::on_ethernet;
use crate::cases;
use crate::completions;
use crate::post::{self, Way};
use crate::random;
use crate::sends::run;
use crate::twin::{Link, Twins, wait};
use crate::verbs::{Fabric, Geometry};

/// Signed or not.
macro_rules! datagrams {
    ($($transport:ty)*) => {
        $(impl Link for $transport {
            const COLUMN: &str = "UD";

            fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, _: Option<&XrcTarget>) -> Result<(), Error> {
                pair.activate(&fabric.path(), QKEY)
            }

            fn silent(fabric: &Fabric) -> Kind {
                let nobody = fabric.handles()[0].queue_pair(Qpn::truncate(0xff_0000), QKEY);
                Kind::Datagram(Whom::Full(nobody), None)
            }

            fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
                let vectors: Vec<_> = fabric.handles().iter().map(AddressHandle::vector).collect();
                let key = prop_oneof![
                    6 => Just(QKEY),
                    1 => any::<u32>().prop_map(|key| Qkey(key | OWN_KEY)),
                    // Nobody's: these are lost.
                    1 => (0..OWN_KEY).prop_map(Qkey),
                ];
                let number = prop_oneof![7 => Just(ITSELF), 1 => (0xff_0000..0xff_ffff_u32).prop_map(Qpn::truncate)];
                let whom = (prop::sample::select(vectors), number, key)
                    .prop_map(|(vector, qpn, qkey)| Whom::Full(UdAddress::new(vector, qpn, qkey)));
                let imm = prop_oneof![Just(None), any::<u32>().prop_map(Some)];
                let datagram = (whom, imm).prop_map(|(whom, imm)| Kind::Datagram(whom, imm));
                let longest = fabric.path().port.active_mtu.bytes();
                let data = random::data(fabric, max_sge, max_inline).prop_map(move |data| cut(data, longest));
                prop_oneof![1 => Just((Kind::Nop, Data::Sges(Vec::new()))), 12 => (datagram, data)].boxed()
            }
        })*
    };
}
datagrams! { transport::Ud transport::Signed<transport::Ud> }

/// As many of the entries as one packet has room for: a datagram is not longer.
fn cut(data: Data, longest: u32) -> Data {
    let Data::Sges(mut sges) = data else { return data };
    while sges.iter().map(|sge| sge.length).sum::<u32>() > longest {
        sges.pop();
    }
    Data::Sges(sges)
}

#[test]
fn the_index_wraps() {
    let large = Geometry { sends: 8, inline: 800, send_sge: 20, ..Geometry::default() };
    run::<transport::Ud>("index around 2^16", large, 0x1_0000 - 500);
}

fn geometries() {
    let run = run::<transport::Ud>;
    run("two WQEBBs", Geometry { sends: 1, send_sge: 1, receives: 1, recv_sge: 1, ..Geometry::default() }, 0);
    run("gathered", Geometry { sends: 6, send_sge: 16, recv_sge: 4, ..Geometry::default() }, 0);
    run("inline", Geometry { sends: 5, send_sge: 3, inline: 200, recv_sge: 3, ..Geometry::default() }, 0);
    run("long", Geometry { sends: 9, send_sge: 3, inline: 900, ..Geometry::default() }, 0);
    run("all signalled", Geometry { inline: 60, signal_all: true, cqe_bytes: 128, ..Geometry::default() }, 0);
}

#[test]
fn on_infiniband() {
    geometries();
}

#[test]
fn with_roce() {
    if on_ethernet("datagrams::with_roce") {
        geometries();
    }
}

/// For any route on InfiniBand, this crate makes libmlx5's address without a call.
#[test]
fn address_vectors_are_made_alike() {
    // `ibv_rate` and the device's code, for those that have one of their own.
    const RATES: [(u8, StaticRate); 10] = [
        (0, StaticRate::Port),
        (2, StaticRate::Gbps2_5),
        (3, StaticRate::Gbps10),
        (4, StaticRate::Gbps30),
        (5, StaticRate::Gbps5),
        (6, StaticRate::Gbps20),
        (7, StaticRate::Gbps40),
        (8, StaticRate::Gbps60),
        (9, StaticRate::Gbps80),
        (10, StaticRate::Gbps120),
    ];
    let fabric = Fabric::new();
    let parts = any::<(u16, u8, u8, bool, [u8; 16], u8, u32, u8, u8)>();
    let config = ProptestConfig { cases: cases(10_000), failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((lid, level, bits, global, dgid, index, label, hops, class) in parts, rate in 0..RATES.len())| {
        let grh = GlobalRoute { dgid, sgid_index: index, flow_label: label, hop_limit: hops, traffic_class: class };
        let route = Route {
            port: 1,
            lid,
            service_level: level,
            path_bits: bits,
            static_rate: RATES[rate].0,
            grh: global.then_some(grh),
        };
        let handle = fabric.pd.address(&route).expect("an address handle");
        let near = CompactAv::new(lid).service_level(level).path_bits(bits).static_rate(RATES[rate].1);
        prop_assert_eq!(handle.vector(), if global { near.with_grh(&grh) } else { near.to_full() });
        prop_assert_eq!(handle.compact(), (!global).then_some(near));
        prop_assert_eq!(*handle.route(), route);
    });
}

/// Sends itself a datagram by each handle, and compares the way back with that of `ibv_init_ah_from_wc`.
fn ways_back() -> Vec<Option<GrhKind>> {
    let fabric = Fabric::new();
    let mut twins = Twins::<transport::Ud>::new(&fabric, &Geometry::default(), true);
    let (theirs, port) = (twins.theirs.raw.raw, fabric.path().port);
    let gids = fabric.device.gids(&port).expect("the GID table");
    let mut kinds = Vec::new();
    for handle in fabric.handles().iter() {
        let place = fabric.buffer.sge_of(0..64);
        let mut bad = core::ptr::null_mut();
        // SAFETY: the queue pair and the memory are alive.
        post::receive(&[(1, vec![place])], |first| unsafe { sys::ibv_post_recv(theirs.as_ptr(), first, &raw mut bad) });
        let whom = Whom::Full(handle.queue_pair(Qpn::truncate(twins.theirs.raw.number()), QKEY));
        let wr = Wr::new(Kind::Datagram(whom, None), Data::Inline(Vec::new()), 2);
        post::send(theirs, Way::PostSend, &[wr], 1, fabric.handles());
        wait("send", || twins.theirs.send_cq.poll()).expect("sent");
        let (mut cqe, mut wc) = wait("receive", || twins.theirs.recv_cq.poll()).expect("received");
        let mut header = [0; Grh::BYTES];
        fabric.buffer.read(0, &mut header);

        let mut attr = sys::ibv_ah_attr::ZERO;
        let grh = header.as_mut_ptr().cast();
        // SAFETY: the device is open; all three are ours, and the header has as many bytes as `struct ibv_grh`.
        let found = unsafe { sys::ibv_init_ah_from_wc(fabric.device.as_raw(), 1, &raw mut wc, grh, &raw mut attr) };
        assert_eq!(found, 0, "{:?}", handle.route());

        let sgid = handle.route().grh.map(|grh| gids[usize::from(grh.sgid_index)]);
        let path = blueflame::verbs::Path::new(port, sgid);
        let header = Grh::new(header);
        let back = completions::view(&mut cqe, |cqe| path.route_back(cqe, &header)).expect("a way back");
        // SAFETY: every view of the union is sixteen bytes.
        let dgid = unsafe { attr.grh.dgid.raw };
        let kind = back.grh.map(|_| header.kind());
        let theirs = GlobalRoute {
            dgid,
            sgid_index: attr.grh.sgid_index,
            // Of IPv4, libibverbs takes it from bytes that mean nothing.
            flow_label: if kind == Some(GrhKind::Ipv4) { 0 } else { attr.grh.flow_label },
            hop_limit: attr.grh.hop_limit,
            traffic_class: attr.grh.traffic_class,
        };
        assert_eq!(back.grh, (attr.is_global != 0).then_some(theirs), "{:?}", handle.route());
        assert_eq!((back.port, back.lid, back.path_bits), (attr.port_num, attr.dlid, attr.src_path_bits));
        if port.link_layer == LinkLayer::InfiniBand {
            assert_eq!(back.service_level, attr.sl);
        }
        // It is the way here.
        if let (Some(there), Some(here)) = (handle.route().grh, back.grh) {
            assert_eq!(
                (here.dgid, here.sgid_index, here.traffic_class),
                (there.dgid, there.sgid_index, there.traffic_class)
            );
            if kind != Some(GrhKind::Ipv4) {
                assert_eq!(here.flow_label, there.flow_label);
            }
        }
        let expected = sgid.map(|entry| match entry.kind {
            GidType::RoceV2 if entry.gid.is_ipv4() => GrhKind::Ipv4,
            GidType::RoceV2 => GrhKind::Ipv6,
            _ => GrhKind::GlobalRoute,
        });
        assert_eq!(kind, expected, "{:?}", handle.route());
        kinds.push(kind);
    }
    twins.held = (0, 0);
    kinds
}

#[test]
fn answers_go_where_libibverbs_sends_them() {
    let kinds = ways_back();
    assert!(kinds.contains(&None) && kinds.contains(&Some(GrhKind::GlobalRoute)), "{kinds:?}");
}

#[test]
fn answers_go_where_libibverbs_sends_them_with_roce() {
    if on_ethernet("datagrams::answers_go_where_libibverbs_sends_them_with_roce") {
        let kinds = ways_back();
        for kind in [GrhKind::GlobalRoute, GrhKind::Ipv4, GrhKind::Ipv6] {
            assert!(kinds.contains(&Some(kind)), "{kind:?} in {kinds:?}");
        }
    }
}
