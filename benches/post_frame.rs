//! Posting one Ethernet frame: typed, prepared, an order whose numbers change, and a delegated segment; see `common`.
//!
//! The device's ports must be Ethernet: `./run bench` starts it with `--link ethernet`.
mod common;

use std::hint::black_box;
use std::rc::Rc;

use blueflame::SendQueue;
use blueflame::arch::Wide;
use blueflame::db::ExclusiveRegister;
use blueflame::packet::{Host, Kind, Packet, Tcp4, Udp4};
use blueflame::types::WrId;
use blueflame::verbs::ethernet::Segment;
use blueflame::wqe::operations::{Frame, Prepared};
use blueflame::wqe::{self, Request};

use common::MESSAGES;
use common::clock::settle;
use common::contest::{Bench, Contestant, Group, Timed};
use common::floor::{FloorSq, floor};
use common::frames::{FRAME_BYTES, frame};
use common::libmlx5::{begin_frame, set_data, set_entry, theirs};
use common::ours::{Ours, entry, exclusive, ours, tag};
use common::rig::{ENTRIES, Frames, Rig, Service, Shape, Threads};

type Queue = SendQueue<Frames, ExclusiveRegister>;

const POINTER: Shape = Shape { service: Service::Frames { tso_header: 0 }, entries: ENTRIES, inline: 0, sge: 1 };
/// The shape also serves frames in the Ethernet segment: their WQEs take as many WQEBBs.
const INLINE: Shape = Shape { inline: FRAME_BYTES as u32, ..POINTER };

/// WQEBBs of a frame of 60 bytes in the WQE, and of an order.
const PAIR: usize = 2;
/// Messages of a cold slice, of which one is timed.
const COLD_MESSAGES: usize = 16;

/// Bytes of an order's frame: as many as two WQEBBs take.
const ORDER_BYTES: usize = 98;
/// Units of its WQE.
const ORDER_UNITS: usize = 4 * PAIR;
/// Bytes of its payload over TCP, with timestamps.
const PAYLOAD: usize = 32;

fn main() {
    let mut bench = Bench::new("post_frame");
    alone(&mut bench);
    order(&mut bench);
    cold(&mut bench);
    bench.finish();
}

/// A frame with a doorbell of its own, by BlueFlame.
fn alone(bench: &mut Bench) {
    let typed = ours(queues(INLINE), |sq, n| {
        sq.post(&wqe::frame().l3_checksum().l4_checksum().inline(frame(n)).signaled(tag(n))).expect("space");
    });
    let pointer = ours(queues(POINTER), |sq, n| {
        let request = wqe::frame().l3_checksum().l4_checksum().gather([entry(MESSAGES.get(n))]);
        // SAFETY: nobody looks at the memory that the entry names: the device sends nothing.
        unsafe { sq.post_unchecked(&request.signaled(tag(n))) }.expect("space");
    });
    Group::new("post frame", Timed::Post, 1, ENTRIES / PAIR)
        .case("floor", "", floor(INLINE, |sq, n| sq.post_wide::<true, _>(&sq.inline_frame(frame(n)))))
        .case("floor with wr_id", "floor", with_wr_id())
        .case("typed", "floor", typed)
        .case("prepared floor", "", prepared_floor())
        .case("prepared", "prepared floor", by_prepared())
        .case("ibv_wr default", "floor", ibv_wr(Threads::Any))
        .case("ibv_wr single-threaded", "floor", ibv_wr(Threads::One))
        .measure(bench);
    let by_hand = floor(POINTER, |sq, n| sq.post_wide::<true, _>(&sq.frame(MESSAGES.get(n)).map(Wide::new)));
    Group::new("post frame one entry", Timed::Post, 1, ENTRIES)
        .case("floor", "", by_hand)
        .case("typed", "floor", pointer)
        .case("ibv_wr default", "floor", ibv_wr_pointer(Threads::Any))
        .case("ibv_wr single-threaded", "floor", ibv_wr_pointer(Threads::One))
        .measure(bench);
}

/// A packet, of which each post changes a part and its checksum. A post begins when the one before has been
/// executed, as if a signal had come.
fn order(bench: &mut Bench) {
    Group::new("order", Timed::Post, 1, ENTRIES / PAIR)
        .case(
            "floor",
            "",
            by_hand(datagram(), |wqe, base, n| {
                let number = n as u32;
                let sum = base + (number >> 16) + (number & 0xffff);
                // The unit begins with byte 34 of the packet. The checksum is at 40, the payload at 42.
                wqe[4] = wqe[4].or(unit(6, checksum(sum))).or(unit(8, number.to_be_bytes()));
            }),
        )
        .case(
            "prepared",
            "floor",
            shots(datagram(), |order, n| order.set_part(0, &(n as u32).to_be_bytes()).expect("room")),
        )
        .case(
            "delegated floor",
            "",
            by_hand(segment(), |wqe, base, n| {
                let payload = payload(n);
                // Unit 5 begins with byte 50 of the packet, the checksum. The payload is the last two units.
                wqe[5] = wqe[5].or(unit(0, checksum(base + sum(payload))));
                let half = |at: usize| Wide::from_bytes(*payload[at..].first_chunk().expect("32 bytes"));
                (wqe[6], wqe[7]) = (half(0), half(16));
            }),
        )
        .case("delegated", "delegated floor", shots(segment(), |order, n| order.set_payload(payload(n)).expect("room")))
        .measure(bench);
}

/// A prepared frame, after work that has taken all caches, TLBs and predictors.
fn cold(bench: &mut Bench) {
    Group::cold("cold frame", Timed::Post, COLD_MESSAGES)
        .case("floor", "", prepared_floor())
        .case("prepared", "floor", by_prepared())
        .case("prepared, warmed", "floor", warmed(false))
        .case("prepared, rehearsed", "floor", warmed(true))
        .case("ibv_wr default", "", ibv_wr(Threads::Any))
        .measure(bench);
}

/// This crate's queues.
fn queues(shape: Shape) -> Ours<ExclusiveRegister, Frames> {
    Ours::of(Rig::new(shape, Threads::Domain), exclusive)
}

fn ibv_wr(threads: Threads) -> impl Contestant {
    theirs(INLINE, threads, 1, |theirs, n| {
        theirs.frames(n, 1, |ex, n| {
            begin_frame(ex);
            set_data(ex, frame(n));
        });
    })
}

fn ibv_wr_pointer(threads: Threads) -> impl Contestant {
    theirs(POINTER, threads, 1, |theirs, n| {
        theirs.frames(n, 1, |ex, n| {
            begin_frame(ex);
            set_entry(ex, MESSAGES.get(n));
        });
    })
}

/// A floor with a duty of a queue that answers for its requests: it keeps `wr_id` and size for the completion.
fn with_wr_id() -> impl Contestant {
    let mut records = vec![[Wide::new([0; 2]); PAIR]; ENTRIES / PAIR].into_boxed_slice();
    floor(INLINE, move |sq, n| {
        // SAFETY: there are as many pairs of records as pairs of WQEBBs in the ring, and all WQEs are pairs.
        *unsafe { records.get_unchecked_mut(sq.slot() / PAIR) } = [PAIR as u64, 0].map(|wqebbs| Wide::new([n, wqebbs]));
        sq.post_wide::<true, _>(&sq.inline_frame(frame(n)));
    })
}

/// Frames whose control segment was composed before.
fn prepared_floor() -> impl Contestant {
    let mut prepared = None;
    floor(INLINE, move |sq, n| {
        let prepared = prepared.get_or_insert_with(|| sq.prepared_frame(frame(0)));
        sq.post_wide::<true, _>(&sq.patched_frame(prepared, frame(n)));
    })
}

/// A prepared frame, to which each post gives its bytes.
type Whole = Request<'static, Prepared<Frame<FRAME_BYTES>>>;

/// The words are not known to the compiler.
fn prepared(sq: &Queue) -> Whole {
    let request = wqe::frame().inline_headers(&[0; FRAME_BYTES]).signaled(WrId(0));
    black_box(sq.prepare(&request).expect("a size that the queue takes"))
}

/// One function for the rehearsal and the post.
#[inline(always)]
fn shoot(sq: &mut Queue, prepared: &Whole, n: u64) {
    sq.post(&prepared.inline_headers(frame(n))).expect("space");
}

fn by_prepared() -> impl Contestant {
    let queues = queues(INLINE);
    let prepared = prepared(&queues.sq);
    ours(queues, move |sq, n| shoot(sq, &prepared, n))
}

/// A request that is kept, and whose memory the queue was told to bring to the cache ahead; with `rehearse`, it has
/// also been posted to a queue that no device reads.
fn warmed(rehearse: bool) -> impl Contestant {
    #[inline(never)]
    fn shoot_apart(sq: &mut Queue, prepared: &Whole, n: u64) {
        shoot(sq, prepared, n);
    }
    let queues = queues(INLINE);
    let mut rehearsal = queues.sq.rehearsal(Box::leak(Box::default()));
    let prepared = Rc::new(prepared(&queues.sq));
    let shot = Rc::clone(&prepared);
    ours(queues, move |sq, n| shoot_apart(sq, &prepared, n)).warmed(move |ours| {
        ours.sq.warm(&*shot);
        if rehearse {
            shoot_apart(&mut rehearsal, &shot, 0);
            rehearsal.end_rehearsal().expect("no device has it");
        }
    })
}

/// An order in a frame of two WQEBBs.
type Order<K> = Packet<K, ORDER_BYTES>;

fn datagram() -> Order<Udp4> {
    with_payload(Order::new(&host(1), &host(2)), &[0; Order::<Udp4>::ROOM])
}

/// A segment with the numbers that the kernel has told.
fn segment() -> Order<Tcp4<12>> {
    let mut order = Order::new(&host(1), &host(2));
    let segment = Segment {
        sequence: 0x1234_5678,
        acknowledgement: 0x9abc_def0,
        window: 501,
        timestamp: Some(0x0102_0304),
        room: 1 << 16,
        max_payload: 1448,
    };
    segment.put(&mut order, segment.timestamp_option()).expect("room for the timestamp");
    with_payload(order, &[0; PAYLOAD])
}

fn host(last: u8) -> Host<std::net::SocketAddrV4> {
    Host { mac: [2, 0, 0x5e, 0, 0x53, last], socket: std::net::SocketAddrV4::new([192, 0, 2, last].into(), 5000) }
}

fn with_payload<K: Kind>(mut order: Order<K>, payload: &[u8]) -> Order<K> {
    order.set_payload(payload).expect("room");
    order
}

/// The payload of the `n`th segment.
#[inline(always)]
fn payload(n: u64) -> &'static [u8; PAYLOAD] {
    frame(n).first_chunk().expect("a frame is longer")
}

/// Posts an order that `change` has changed.
fn shots<K: Kind>(mut order: Order<K>, change: impl Fn(&mut Order<K>, u64)) -> impl Contestant {
    let queues = queues(INLINE);
    ours(queues, move |sq, n| {
        settle();
        change(&mut order, n);
        sq.post(&order.request().signaled(WrId(0))).expect("space");
    })
}

/// Posts a changed order by hand. The order's checksum and changing bytes are zero, and `change` gets the sum of all
/// other words.
fn by_hand<K: Kind>(order: Order<K>, change: impl Fn(&mut [Wide; ORDER_UNITS], u32, u64)) -> impl Contestant {
    // RFC 768; RFC 9293, section 3.1.
    let at = K::TRANSPORT + if K::PROTOCOL == 17 { 6 } else { 16 };
    let mut bytes = *order.as_bytes();
    let base = u32::from(!u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    bytes[at..at + 2].fill(0);
    let mut prepared = None;
    floor(INLINE, move |sq: &mut FloorSq, n| {
        settle();
        let mut wqe: [Wide; ORDER_UNITS] = *prepared.get_or_insert_with(|| sq.prepared_frame(&bytes));
        wqe[0] = wqe[0].or(sq.index());
        change(&mut wqe, base, n);
        sq.post_wide::<true, _>(&wqe);
    })
}

/// 16 bytes, zero but for some at a place.
#[inline(always)]
fn unit<const N: usize>(at: usize, bytes: [u8; N]) -> Wide {
    let mut all = [0; 16];
    all[at..at + N].copy_from_slice(&bytes);
    Wide::from_bytes(all)
}

/// The bytes of a checksum, by the sum of its words (RFC 1071). UDP has another form of zero, which one of 65536
/// datagrams needs.
#[inline(always)]
fn checksum(sum: u32) -> [u8; 2] {
    let folded = (sum >> 16) + (sum & 0xffff);
    let folded = (folded >> 16) + (folded & 0xffff);
    (!(folded as u16)).to_be_bytes()
}

/// The sum of the words of a payload, less than 2^21.
#[inline(always)]
fn sum(payload: &[u8; PAYLOAD]) -> u32 {
    let words = (0..PAYLOAD).step_by(4);
    let wide: u64 = words
        .map(|at| u64::from(u32::from_ne_bytes([payload[at], payload[at + 1], payload[at + 2], payload[at + 3]])))
        .sum();
    // In this machine's byte order (RFC 1071, section 2, B).
    let folded = (wide >> 32) + (wide >> 16 & 0xffff) + (wide & 0xffff);
    let folded = (folded >> 16) + (folded & 0xffff);
    u32::from(u16::from_be(((folded >> 16) + (folded & 0xffff)) as u16))
}
