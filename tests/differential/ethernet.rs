//! Raw packet queue pairs: frames as libmlx5 posts them, on a device that needs no inline headers and on one that does.
//!
//! Bytes of frames belong here, their delivery in `tests/loopback/frames.rs`.

use std::ptr::NonNull;

use blueflame::transport;
use blueflame::verbs::{Error, QueuePair, XrcTarget};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Service, Wr};
use proptest::prelude::*;

use crate::again::run_again;
use crate::compare::{FILL, units};
use crate::post::Way;
use crate::random;
use crate::sends::run;
use crate::twin::{Link, Twins, ring};
use crate::verbs::{Fabric, Geometry, NO_ETHER_TYPE};

/// The settings of the software device, which it reads when a program starts: Ethernet, and whether libmlx5 is told
/// that headers must be inline (`l2`: it copies 18 bytes then).
const LINK: &str = "SOFTHCA_LINK";
const INLINE_HEADERS: &str = "SOFTHCA_INLINE_HEADERS";
/// Bytes of the shortest frame: of fewer, libmlx5 posts none if it must copy headers.
const LEAST: u32 = 18;

impl<const HEADERS: usize> Link for transport::RawPacket<HEADERS>
where
    Self: Service,
{
    const COLUMN: &str = "raw packets";

    fn ready(pair: &mut QueuePair<Self>, fabric: &Fabric, _: Option<&XrcTarget>) -> Result<(), Error> {
        pair.activate(&fabric.device.port(1)?)
    }

    fn requests(fabric: &Fabric, max_sge: u32, max_inline: u32) -> BoxedStrategy<(Kind, Data)> {
        let data = random::data(fabric, max_sge, max_inline + HEADERS as u32).prop_map(|mut data| {
            match &mut data {
                Data::Inline(bytes) if bytes.len() < LEAST as usize => bytes.resize(LEAST as usize, 0x5a),
                Data::Sges(sges) if sges.is_empty() => return Data::Inline(vec![0xa5; LEAST as usize]),
                _ => {}
            }
            // A random frame is an IP packet once in a while, whose headers must be inline as well. The fabric's memory
            // avoids that the same way.
            if let Data::Inline(bytes) = &mut data {
                bytes[12] |= NO_ETHER_TYPE;
            }
            let missing = LEAST.saturating_sub(random::message_bytes(&data));
            if let Data::Sges(sges) = &mut data {
                // Not the last one: then headers are in several pieces.
                sges[0].length += missing;
            }
            data
        });
        let nothing = Data::Sges(Vec::new());
        prop_oneof![
            1 => Just((Kind::Nop, nothing)),
            12 => (any::<bool>(), data).prop_map(|(checksums, data)| (Kind::Frame(HEADERS, checksums), data)),
        ]
        .boxed()
    }
}

fn geometries<T: Link>() {
    run::<T>("two WQEBBs", Geometry { sends: 2, send_sge: 1, inline: 20, ..Geometry::default() }, 0);
    run::<T>("gathered", Geometry { sends: 6, send_sge: 4, ..Geometry::default() }, 0);
    run::<T>("inline", Geometry { sends: 5, send_sge: 3, inline: 200, ..Geometry::default() }, 0);
    run::<T>("all signalled", Geometry { sends: 9, inline: 60, signal_all: true, ..Geometry::default() }, 0);
}

/// Runs this test in a process of its own, on an Ethernet port of a device that needs `headers` inline. Says whether
/// this is that process.
pub(crate) fn alone(test: &str, headers: &str) -> bool {
    alone_as(test, (INLINE_HEADERS, headers))
}

/// Runs this test in a process of its own, on a device with another setting.
pub(crate) fn alone_as(test: &str, setting: (&str, &str)) -> bool {
    const INSIDE: &str = "BLUEFLAME_TEST_ETHERNET";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    run_again(&[test], &[(INSIDE, "1"), (LINK, "ethernet"), setting]);
    false
}

#[test]
fn no_inline_headers() {
    if alone("ethernet::no_inline_headers", "none") {
        geometries::<transport::RawPacket<0>>();
    }
}

/// libmlx5 copies these headers, 18 bytes, in every mode but "none" (rdma-core `providers/mlx5/mlx5.c`,
/// `eth_min_inline_size`). This crate refuses them where the device needs more: `tests/raw_packet/headers.rs`.
#[test]
fn inline_headers() {
    if alone("ethernet::inline_headers", "l2") {
        geometries::<transport::RawPacket>();
    }
}

/// Has libmlx5 write a large send of `frame`, of which `headers` bytes are inline headers, and take it back.
fn large_send_taken_back(qp: NonNull<sys::ibv_qp>, frame: &[u8], headers: usize) {
    let (headers, data) = frame.split_at(headers);
    // SAFETY: the queue pair is alive and was created with these operations; the bytes live until the request is given
    // up.
    unsafe {
        let ex = sys::ibv_qp_to_qp_ex(qp.as_ptr());
        sys::ibv_wr_start(ex);
        ((*ex).wr_id, (*ex).wr_flags) = (0, sys::IBV_SEND_SIGNALED);
        sys::ibv_wr_send_tso(ex, headers.as_ptr().cast_mut().cast(), headers.len() as u16, 0);
        sys::ibv_wr_set_inline_data(ex, data.as_ptr().cast_mut().cast(), data.len());
        sys::ibv_wr_abort(ex);
    }
}

/// For inline headers of other sizes than 18 libmlx5 has no SEND. Its large sends lay them out alike, so both write one
/// and take it back, at every place of the ring.
#[test]
fn longer_inline_headers() {
    const SEND: u8 = 0x0a;
    const TSO: u8 = 0x0e;
    if !alone("ethernet::longer_inline_headers", "none") {
        return;
    }
    let fabric = Fabric::new();
    let geometry = Geometry { sends: 2, inline: 300, tso_header: 130, ..Geometry::default() };
    let (mut place, mut places) = (0, 1);
    while place < places {
        // Requests that were taken back stay in the ring, so each place has twins of its own.
        let mut twins = Twins::<transport::RawPacket<0>>::new(&fabric, &geometry, place == 0);
        places = twins.wqebbs();
        while twins.pi < place {
            let next = Wr::new(Kind::Frame(0, false), Data::Inline(vec![FILL; 28]), 1);
            twins.send(Way::PostSend, false, &[next]).expect("the same bytes");
            twins.send_completion().expect("sent");
        }
        for (headers, data) in [18, 34, 42, 66, 130].into_iter().flat_map(|h| [0, 1, 12, 52, 150].map(|d| (h, d))) {
            // Data behind headers that come to the ring's end, or go around it, libmlx5 44 writes to wrong places,
            // which may be outside of the ring.
            let behind_headers = 30 + headers..usize::next_multiple_of(30 + headers, 16);
            if data != 0 && place * 64 + behind_headers.end >= places * 64 {
                continue;
            }
            let frame: Vec<u8> = (0..headers + data).map(|n| n as u8 | 1).collect();
            large_send_taken_back(twins.theirs.raw.raw, &frame, headers);
            let wr = Wr::new(Kind::Frame(headers, false), Data::Inline(frame), 0);
            let mut batch = twins.ours.sq.batch();
            // SAFETY: inline.
            unsafe { Service::put(&mut batch, &wr) }.expect("room");
            drop(batch);
            let (theirs, ours) = (ring(&twins.theirs.raw.parts.sq), ring(&twins.ours.raw.parts.sq));
            let end = behind_headers.end + if data == 0 { 0 } else { 4 + data };
            for n in 0..units(&wr) * 16 {
                let at = (place * 64 + n) % ours.len();
                let pair = (theirs[at], ours[at]);
                let holds = match n {
                    3 => pair == (TSO, SEND),
                    // Queue pair's number.
                    4..7 => true,
                    // Immediate data, and a value that no field has.
                    _ if (12..16).contains(&n) || behind_headers.contains(&n) || n >= end => pair.1 == 0,
                    _ => pair.0 == pair.1,
                };
                assert!(holds, "at {place}, {headers} bytes of headers, {data} of data: byte {n} is {pair:02x?}");
            }
        }
        place += 1;
    }
}
