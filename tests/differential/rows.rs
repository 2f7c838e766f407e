//! The requests of `tests/requests`, whose bytes were worked out by hand: libmlx5 writes the same.
//!
//! Requests with bytes by hand belong here, random ones in the file of their service.

use blueflame::transport::{Dci, DciStreams, Rc, Uc, Ud, XrcInitiator};
use blueflame::verbs::Route;
use blueflame::wqe::Fence;
use blueflame_testkit::request::{Data, Kind, Target};

use crate::compare::{FILL, Place, RingRules};
use crate::post::{self, Way};
use crate::requests::{self, Destination, NUMBER, ROUTE, Row, SRQN};
use crate::twin::{Link, Twins, ring, wait};
use crate::verbs::{Fabric, Geometry};

/// Whether libmlx5 has the request: masked atomics and other fences it has not, NOPs not by `ibv_post_send`.
fn is_posted(row: &Row, way: Way) -> bool {
    let fence = matches!(row.wr.fence, Fence::None | Fence::SmallAndReads) && !row.wr.first_error_only;
    fence && !matches!(row.wr.kind, Kind::Extended(..)) && (row.wr.kind != Kind::Nop || way == Way::WrBuilders)
}

/// Posts each row to a queue pair in the error state, where it names memory that nobody looks at.
fn check<T: Link>(rows: &[Row], ways: &[Way], geometry: Geometry) {
    let fabric = Fabric::new();
    let geometry = Geometry { sends: 16, send_sge: 5, inline: 60, ..geometry };
    let mut twins = Twins::<T>::new(&fabric, &geometry, true);
    twins.theirs.handle.to_error().expect("ERR");
    // `requests::near`, whose rate is that of 40 Gbit/s, and `requests::far`.
    let route = Route { port: 1, lid: 0x1234, service_level: 3, path_bits: 0x7e, static_rate: 7, grh: Some(ROUTE) };
    let handles = [fabric.pd.address(&route).expect("an address handle")];
    assert_eq!(handles[0].vector(), requests::far());
    let number =
        if rows.iter().any(|row| matches!(row.wr.to, Some(Target::Srq(_)))) { SRQN.get() } else { NUMBER.get() };
    let raw = &twins.theirs.raw;
    let (wqebbs, ours) = (raw.parts.sq.wqe_cnt as usize, 0x00c0_ffee);
    let mut rules = RingRules::new(raw.parts.sq.wqe_cnt, [raw.number(), ours], [number; 2], false);
    let (mut by_hand, mut pi, mut posted) = (vec![FILL; wqebbs * 64], 0_usize, 0);
    for &way in ways {
        for row in rows.iter().filter(|row| is_posted(row, way)) {
            post::send(raw.raw, way, std::slice::from_ref(&row.wr), raw.cap.max_send_sge, &handles);
            let mut wqe = row.wqe.concat();
            wqe[1..3].copy_from_slice(&(pi as u16).to_be_bytes());
            let place = Place { slot: pi % wqebbs, ds: row.wqe.len() };
            for (n, byte) in wqe.into_iter().enumerate() {
                by_hand[(place.slot * 64 + n) % (wqebbs * 64)] = byte;
            }
            rules.written(&row.wr, place, way);
            let same = rules.compare(&ring(&raw.parts.sq), &by_hand);
            assert_eq!(same, Ok(()), "{}, by {way:?}", row.name);
            wait("a completion of the queue pair in error", || twins.theirs.send_cq.poll()).expect(&row.name);
            pi += place.wqebbs();
            posted += 1;
        }
    }
    let inline = rows.iter().filter(|row| matches!(row.wr.data, Data::Inline(_))).count();
    assert!(posted > wqebbs && inline > 0, "{posted} requests, {inline} of them inline");
}

const BOTH: &[Way] = &[Way::PostSend, Way::WrBuilders];

/// The rows of a destination, with the NOPs.
fn rows(to: Destination) -> Vec<Row> {
    [requests::rows(to), requests::nops()].concat()
}

#[test]
fn on_connections() {
    check::<Rc>(&rows(Destination::Reliable), BOTH, Geometry::default());
    check::<Uc>(&rows(Destination::Unreliable), BOTH, Geometry::default());
}

#[test]
fn for_shared_receive_queues() {
    check::<XrcInitiator>(&rows(requests::srq()), BOTH, Geometry::default());
}

/// libmlx5 has no other than full address vectors.
#[test]
fn as_datagrams() {
    check::<Ud>(&rows(requests::full_datagram()), BOTH, Geometry::default());
}

/// `ibv_post_send` has no word for a target.
#[test]
fn for_dynamic_targets() {
    check::<Dci>(&rows(requests::full_target()), &[Way::WrBuilders], Geometry::default());
    let geometry = Geometry { streams: Some([2, 1]), ..Geometry::default() };
    check::<DciStreams>(&rows(requests::stream()), &[Way::WrBuilders], geometry);
}
