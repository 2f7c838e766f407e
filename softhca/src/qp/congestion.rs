//! Congestion, as receivers of RoCE v2 tell senders of it (IBTA annex A17.9): a router on the way has marked a packet,
//! and the receiver sends a notification back. Senders count notifications, and send no slower: there is no rate
//! control.

use std::time::Duration;

use super::qp_core::QpCore;
use crate::config::GidType;
use crate::context::Transport;
use crate::packet::cnp;
use crate::resources::Resources;
use crate::wire::{Frame, Grh, Route};

/// ECN bits of a traffic class: "congestion experienced" is both (RFC 3168, 5).
const ECN: u8 = 3;
/// A QP notifies its peer at most once in this time: the default of `np_min_time_between_cnps` of Linux' driver.
const INTERVAL: Duration = Duration::from_micros(4);

/// Whether a packet that came by `route` has met congestion.
pub(super) fn is_marked(route: &Route) -> bool {
    route.grh.as_ref().is_some_and(|grh| grh.kind == GidType::RoceV2 && grh.traffic_class & ECN == ECN)
}

/// Notifications of a QP.
#[derive(Debug, Default)]
pub(super) struct Notices {
    /// When the latest one left.
    latest: Option<Duration>,
}

impl Notices {
    /// A packet with the mark has arrived. A datagram's sender is not told: its QP has no peer to slow down for.
    pub(super) fn notice(&mut self, qp: &QpCore, resources: &mut Resources, now: Duration) {
        let Some(port) = qp.attr.port else { return };
        resources.count_at(port, |counters| &mut counters.np_ecn_marked_roce_packets);
        let is_early = self.latest.is_some_and(|latest| now < latest + INTERVAL);
        // Without room none is sent: the next packet with the mark asks again.
        let may_send = !is_early && qp.may_send(resources);
        let Some(Route { grh: Some(grh), .. }) = qp.route.filter(|_| may_send) else { return };
        if !matches!(qp.transport(), Transport::Rc | Transport::Uc | Transport::Xrc) {
            return;
        }
        self.latest = Some(now);
        let route =
            qp.route.map(|route| Route { grh: Some(Grh { traffic_class: cnp::TRAFFIC_CLASS, ..grh }), ..route });
        if let Some(route) = route {
            resources.count_at(port, |counters| &mut counters.np_cnp_sent);
            qp.send(resources, Frame::new(route, cnp::notification(qp.dest_qpn(), qp.pkey)));
        }
    }
}
