//! Raw packet queue pairs: libibverbs and libmlx5 as installed, frames posted by this crate.
//!
//! Setup and traffic of raw packet queue pairs belong here. The bytes of frames' requests belong in `tests/send_queue`
//! and `tests/differential`.
//!
//! Needs an mlx5 device with an Ethernet port, and `CAP_NET_RAW`. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --link ethernet --inline-headers none --
//! softhca-run --link ethernet --inline-headers l2 --
//! softhca-run --link ethernet --inline-headers ip --
//! softhca-run --link ethernet --inline-headers tcp_udp --
//! softhca-run --link ethernet --inline-headers l2 --no-write-combining --
//! softhca-run --link ethernet --inline-headers l2 --strict --
//! ```

#![cfg(feature = "verbs")]

mod activation;
mod egress;
mod ends;
mod frames;
mod headers;
mod lab;
#[path = "../linked_ibverbs/mod.rs"]
mod linked_ibverbs;
#[path = "../on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
mod receivers;

use blueflame::cq::{CqeCopy, WcStatus};
use blueflame::flow::Flow;
use blueflame::queue::RetireError;
use blueflame::transport;
use blueflame::types::WrId;
use blueflame::verbs::ethernet::FlowRule;
use blueflame::verbs::{OwnedCq, ProtectionDomain, QueuePair};
use blueflame::wqe;

use on_device::{device, status, wait_for};

/// Frames with as many headers inline as any device of these runs needs, and the least bytes of them.
type Frames = transport::RawPacket<HEADERS>;
const HEADERS: usize = 42;

fn pair(pd: &ProtectionDomain, cq: &OwnedCq) -> QueuePair<Frames> {
    pd.queue_pair(cq, cq).sends(16).receives(16).inline(100).build().expect("a raw packet queue pair: is it permitted?")
}

/// The next completion, and the index of its request.
fn completion(
    cq: &mut OwnedCq,
    mut retire: impl FnMut(&CqeCopy<'_>) -> Result<WrId, RetireError>,
) -> (Result<(), WcStatus>, WrId) {
    wait_for("a completion", || {
        let cqe = cq.poll()?;
        Some((status(&cqe), retire(&cqe).expect("outstanding")))
    })
}

/// The EtherType of frames in these tests: one for experiments.
const EXPERIMENT: u16 = 0x88b5;

/// A rule by which frames of [`EXPERIMENT`] for one station arrive at a queue pair, until it is dropped.
fn rule<const HEADERS: usize>(
    pair: &QueuePair<transport::RawPacket<HEADERS>>,
    station: [u8; 6],
    tag: Option<u32>,
) -> FlowRule {
    let flow = Flow::mac(station).ether_type(EXPERIMENT);
    pair.qp.steer(&tag.map_or(flow, |tag| flow.flow_tag(tag))).expect("a rule")
}

/// A frame to a station, of as many bytes as Ethernet wants at least.
fn frame(station: [u8; 6], byte: u8) -> [u8; 60] {
    let mut frame = [byte; 60];
    frame[..6].copy_from_slice(&station);
    frame[6..12].copy_from_slice(&[2, 0, 0x5e, 0, 0x53, 9]);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());
    frame
}

fn send(sq: &mut QueuePair<Frames>, cq: &mut OwnedCq, bytes: &[u8; 60]) {
    let (headers, rest) = bytes.split_first_chunk::<HEADERS>().expect("so many");
    sq.sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(1))).expect("room");
    assert_eq!(completion(cq, |cqe| sq.sq.retire(cqe).map(|done| done.wr_id)), (Ok(()), WrId(1)));
}

/// The setting of the software device that says which headers it needs inline; absent on a NIC.
const INLINE_HEADERS: &str = "SOFTHCA_INLINE_HEADERS";
