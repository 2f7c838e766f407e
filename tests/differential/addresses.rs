//! Receivers of requests: stand-ins for the sender's own receiver, the number in their place, and address handles.
//!
//! Numbers and addresses in requests of both drivers belong here, the requests in the file of their service.

use blueflame::types::{Qkey, Qpn, Srqn};
use blueflame::verbs::device::{LinkLayer, Port};
use blueflame::verbs::{AddressHandle, ProtectionDomain, Route};
use blueflame::wqe::DcAddress;
use blueflame::wqe::address::{AddressVector, GlobalRoute};
use blueflame_testkit::request::{Kind, Target, Whom, Wr};

/// The Q_Key of all twins.
pub(crate) const QKEY: Qkey = Qkey(0x1234_5678);
/// Stands for the queue pair itself, or for an initiator's own target. The queue pair 0 is that of the subnet manager,
/// which no request here is for.
pub(crate) const ITSELF: Qpn = Qpn::truncate(0);
/// Bit 31 of a request's Q_Key: the sender's own is meant.
pub(crate) const OWN_KEY: u32 = 1 << 31;

/// Whether a request is a datagram to its own queue pair, or for the initiator's own target.
pub(crate) fn is_to_itself(wr: &Wr) -> bool {
    wr.to.is_some() || is_own(&wr.kind)
}

fn is_own(kind: &Kind) -> bool {
    matches!(kind, Kind::Datagram(whom, _) if whom.qpn() == ITSELF)
}

/// Whether it is a datagram that arrives there.
pub(crate) fn arrives(kind: &Kind) -> bool {
    let Kind::Datagram(Whom::Full(address), _) = kind else { return false };
    is_own(kind) && (address.qkey() == QKEY || address.qkey().0 & OWN_KEY != 0)
}

/// The requests as a queue pair posts them for its own receiver, of that number: itself, or an initiator's target.
pub(crate) fn addressed(list: &[Wr], number: u32) -> Vec<Wr> {
    let address = |wr: &Wr| match wr.kind {
        _ if wr.to.is_some() => aimed(wr, Qpn::truncate(number)),
        Kind::Datagram(whom, imm) if is_own(&wr.kind) => {
            Wr { kind: Kind::Datagram(whom.with_qpn(Qpn::truncate(number)), imm), ..wr.clone() }
        }
        _ => wr.clone(),
    };
    list.iter().map(address).collect()
}

/// The request for the target, or on XRC the shared receive queue, of that number.
fn aimed(wr: &Wr, dctn: Qpn) -> Wr {
    fn aim<const MORE: usize>(address: DcAddress<AddressVector<MORE>>, dctn: Qpn) -> DcAddress<AddressVector<MORE>> {
        assert_eq!(address.dctn(), ITSELF);
        DcAddress::new(address.vector(), dctn, address.key())
    }
    let to = wr.to.map(|to| match to {
        Target::Compact(address) => Target::Compact(aim(address, dctn)),
        Target::Full(address) => Target::Full(aim(address, dctn)),
        Target::Stream(to) => Target::Stream(aim(to.address(), dctn).on(to.stream())),
        Target::Srq(_) => Target::Srq(Srqn::truncate(dctn.get())),
    });
    Wr { to, ..wr.clone() }
}

/// Handles for the port's own addresses, of every form.
pub(crate) fn handles(pd: &ProtectionDomain, port: &Port) -> Vec<AddressHandle> {
    let plain = Route { port: 1, lid: port.lid, service_level: 0, path_bits: 0, static_rate: 0, grh: None };
    let mut routes = Vec::new();
    for (n, entry) in pd.device().gids(port).expect("the GID table").into_iter().enumerate() {
        let grh = |flow_label, hop_limit, traffic_class| {
            Some(GlobalRoute { dgid: entry.gid.0, sgid_index: entry.index, flow_label, hop_limit, traffic_class })
        };
        routes.push(Route { grh: grh(0, 64, 0), ..plain });
        routes.push(Route { service_level: 5, grh: grh(0x1_2345 + n as u32, 3, 0xa4), ..plain });
        routes.push(Route { static_rate: 2, grh: grh(0xf_ffff, 255, 1), ..plain });
    }
    if port.link_layer == LinkLayer::InfiniBand {
        routes.extend((0..16).map(|level| Route { service_level: level, static_rate: 10 - level / 2, ..plain }));
    }
    assert!(routes.len() >= 9, "addresses of several forms: {routes:?}");
    routes.iter().map(|route| pd.address(route).expect("an address handle")).collect()
}
