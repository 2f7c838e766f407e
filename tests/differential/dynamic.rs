//! Requests of initiators as libmlx5 posts them (`mlx5dv_wr_set_dc_addr`, `mlx5dv_wr_set_dc_addr_stream`). Each twin
//! has a target, which receives them.
//!
//! Requests of DC belong here, connections of targets in `tests/dynamic.rs`.

use std::ptr::NonNull;

use blueflame::cq::Cqe;
use blueflame::queue::RetireError;
use blueflame::transport;
use blueflame::types::{DcKey, DciStream, WrId};
use blueflame::verbs::device::LinkLayer;
use blueflame::verbs::{AddressHandle, Dct, Error, OwnedCq, OwnedSrq, QueuePair, XrcTarget};
use blueflame::wqe::DcAddress;
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Target};
use proptest::prelude::*;

use crate::addresses::ITSELF;
use crate::again::on_ethernet;
use crate::post::Receive;
use crate::random;
use crate::sends::run;
use crate::shared_receives::post_both;
use crate::twin::{Link, Receiver};
use crate::verbs::{Fabric, Geometry, PolledCq, create_srq};

/// The access key of all targets.
const KEY: DcKey = DcKey(0x0123_4567_89ab_cdef);
/// The targets of two initiators.
pub(crate) struct Targets {
    theirs: RawTarget,
    ours: Dct,
    srq: OwnedSrq,
}

/// A target as a C program makes it.
struct RawTarget {
    raw: NonNull<sys::ibv_qp>,
    srq: NonNull<sys::ibv_srq>,
}

impl RawTarget {
    fn new(fabric: &Fabric, geometry: &Geometry, cq: &PolledCq) -> Self {
        let srq = create_srq(fabric, geometry.receives, geometry.recv_sge);
        // SAFETY: everything named is alive; attributes are plain numbers and pointers, for which zero is a value, and
        // live until the calls return.
        unsafe {
            let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
            (attr.send_cq, attr.recv_cq, attr.srq) = (cq.as_raw(), cq.as_raw(), srq.as_ptr());
            (attr.qp_type, attr.pd) = (sys::IBV_QPT_DRIVER, fabric.pd.as_raw());
            attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
            let mut mlx5 = sys::mlx5dv_qp_init_attr {
                comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | sys::MLX5DV_QP_INIT_ATTR_MASK_DC,
                create_flags: sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
                dc_init_attr: sys::mlx5dv_dc_init_attr { dc_type: sys::MLX5DV_DCTYPE_DCT, dct_access_key: KEY.0 },
                ..Default::default()
            };
            let raw = sys::mlx5dv_create_qp(fabric.device.as_raw(), &raw mut attr, &raw mut mlx5);
            let raw = NonNull::new(raw).expect("a target");
            let path = fabric.path();
            let mut attr = sys::ibv_qp_attr::ZERO;
            (attr.qp_state, attr.port_num) = (sys::IBV_QPS_INIT, 1);
            attr.qp_access_flags = 0xf;
            let mask = sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_ACCESS_FLAGS;
            assert_eq!(sys::ibv_modify_qp(raw.as_ptr(), &raw mut attr, mask as i32), 0, "INIT");
            attr.qp_state = sys::IBV_QPS_RTR;
            (attr.path_mtu, attr.min_rnr_timer) = (path.mtu as sys::ibv_mtu, 12);
            (attr.ah_attr.port_num, attr.ah_attr.is_global) = (1, path.sgid.is_some().into());
            attr.ah_attr.grh.sgid_index = path.sgid.map_or(0, |entry| entry.index);
            attr.ah_attr.grh.hop_limit = 64;
            let mask = sys::IBV_QP_STATE | sys::IBV_QP_PATH_MTU | sys::IBV_QP_MIN_RNR_TIMER | sys::IBV_QP_AV;
            assert_eq!(sys::ibv_modify_qp(raw.as_ptr(), &raw mut attr, mask as i32), 0, "RTR");
            Self { raw, srq }
        }
    }
}

impl Drop for RawTarget {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once, the user before what it uses.
        unsafe {
            assert_eq!(sys::ibv_destroy_qp(self.raw.as_ptr()), 0);
            assert_eq!(sys::ibv_destroy_srq(self.srq.as_ptr()), 0);
        }
    }
}

impl Targets {
    pub(crate) fn new(fabric: &Fabric, geometry: &Geometry, their_cq: &PolledCq, our_cq: &OwnedCq) -> Self {
        let theirs = RawTarget::new(fabric, geometry, their_cq);
        let srq = fabric.pd.shared_recv_queue(geometry.receives, geometry.recv_sge).expect("an SRQ");
        let ours = fabric.pd.target(our_cq, srq.handle()).build(&fabric.path(), KEY).expect("a target");
        Self { theirs, ours, srq }
    }
}

impl Receiver for Targets {
    fn numbers(&self) -> [u32; 2] {
        // SAFETY: alive; written when it went to RTR.
        [unsafe { (*self.theirs.raw.as_ptr()).qp_num }, self.ours.dctn().get()]
    }

    fn receive(&mut self, list: &[Receive]) -> Result<(), String> {
        post_both(self.theirs.srq, &mut self.srq, list)
    }

    fn retire(&mut self, cqe: &Cqe<'_>) -> Result<WrId, RetireError> {
        // SAFETY: a completion of the target, of which each is given here once.
        unsafe { self.srq.retire(cqe) }
    }
}

/// Addresses of the initiator's own target, by each handle that leads there: one of RoCE answers from its GID only.
fn addresses(fabric: &Fabric) -> impl Strategy<Value = DcAddress> + use<> {
    let path = fabric.path();
    let reaches = |handle: &&AddressHandle| match (path.port.link_layer, path.sgid, handle.route().grh) {
        (LinkLayer::Ethernet, Some(own), Some(to)) => to.sgid_index == own.index,
        _ => true,
    };
    let vectors: Vec<_> = fabric.handles().iter().filter(reaches).map(AddressHandle::vector).collect();
    assert!(vectors.len() >= 3, "addresses of several forms");
    prop::sample::select(vectors).prop_map(|vector| DcAddress::new(vector, ITSELF, KEY))
}

/// The targets of an initiator without streams.
fn targets(fabric: &Fabric) -> BoxedStrategy<Option<Target>> {
    addresses(fabric).prop_map(|address| Some(Target::Full(address))).boxed()
}

/// Targets of an initiator with streams: without a stream, a request uses stream 0.
fn targets_by_streams(fabric: &Fabric) -> BoxedStrategy<Option<Target>> {
    let to = |(address, stream): (DcAddress, Option<u16>)| match stream {
        Some(stream) => Target::Stream(address.on(DciStream(stream))),
        None => Target::Full(address),
    };
    (addresses(fabric), prop::option::of(any::<u16>())).prop_map(move |of| Some(to(of))).boxed()
}

macro_rules! initiators {
    ($($transport:ty, $column:literal, $targets:path;)*) => {
        $(impl Link for $transport {
            const COLUMN: &str = $column;

            fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, _: Option<&XrcTarget>) -> Result<(), Error> {
                pair.activate(&fabric.path())
            }

            fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
                random::request(fabric, true, max_sge, max_inline)
            }

            fn receiver(fabric: &Fabric, geometry: &Geometry, cqs: (&PolledCq, &OwnedCq)) -> Option<Box<dyn Receiver>> {
                Some(Box::new(Targets::new(fabric, geometry, cqs.0, cqs.1)))
            }

            fn targets(fabric: &Fabric) -> BoxedStrategy<Option<Target>> {
                $targets(fabric)
            }
        })*
    };
}
initiators! {
    transport::Dci, "DCI", targets;
    transport::Signed<transport::Dci>, "DCI", targets;
    transport::DciStreams, "DCI with streams", targets_by_streams;
    transport::Signed<transport::DciStreams>, "DCI with streams", targets_by_streams;
}

fn geometries(entries: u32) {
    let run = run::<transport::Dci>;
    run("two WQEBBs", Geometry { sends: 1, send_sge: 1, receives: 1, recv_sge: 1, ..Geometry::default() }, 0);
    run("gathered", Geometry { sends: 6, send_sge: entries, recv_sge: 4, ..Geometry::default() }, 0);
    run("inline", Geometry { sends: 5, send_sge: 3, inline: 200, recv_sge: 3, ..Geometry::default() }, 0);
    run("long", Geometry { sends: 9, send_sge: 3, inline: 800, ..Geometry::default() }, 0);
    run("all signalled", Geometry { inline: 60, signal_all: true, cqe_bytes: 128, ..Geometry::default() }, 0);
}

#[test]
fn on_infiniband() {
    geometries(13);
}

#[test]
fn with_roce() {
    if on_ethernet("dynamic::with_roce") {
        geometries(3);
    }
}

#[test]
fn streams() {
    let geometry = Geometry { sends: 5, send_sge: 3, inline: 60, streams: Some([2, 1]), ..Geometry::default() };
    run::<transport::DciStreams>("streams", geometry, 0);
}

#[test]
fn the_index_wraps() {
    let large = Geometry { sends: 8, inline: 800, send_sge: 20, ..Geometry::default() };
    run::<transport::Dci>("index around 2^16", large, 0x1_0000 - 500);
}
