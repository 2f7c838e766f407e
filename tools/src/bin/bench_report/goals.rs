//! The goals, as data: one row per figure.
use std::fmt::{self, Display, Formatter};

/// A figure to reach.
pub(crate) struct Goal {
    /// The goal that the figure is a part of.
    pub(crate) id: &'static str,
    /// The case that is to reach it.
    pub(crate) group: &'static str,
    pub(crate) x: Option<u64>,
    pub(crate) case: &'static str,
    pub(crate) bound: Bound,
}

/// The limit that a figure must keep.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// The case takes at most this many times as long as another case of its group.
    Within(f64, &'static str),
    /// The case takes at most this many times as long as itself at another point of the sweep's axis.
    WithinPoint(f64, u64),
    /// The case is at least this many times as fast as another case of its group.
    Faster(f64, &'static str),
    /// Nanoseconds a message, at most.
    Nanoseconds(f64),
    /// Instructions an operation, at most.
    Instructions(u64),
    /// Looked at by a test, and not here.
    Tested(&'static str),
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(times, case) => write!(f, "≤ {times:.2}× {case}"),
            Self::WithinPoint(times, x) => write!(f, "≤ {times:.2}× itself at {x}"),
            Self::Faster(times, case) => write!(f, "≥ {times:.1}× as fast as {case}"),
            Self::Nanoseconds(ns) => write!(f, "≤ {ns:.2} ns"),
            Self::Instructions(count) => write!(f, "≤ {count} instructions"),
            Self::Tested(by) => f.write_str(by),
        }
    }
}

use Bound::{Faster, Instructions, Nanoseconds, Tested, Within, WithinPoint};

const fn goal(id: &'static str, group: &'static str, case: &'static str, bound: Bound) -> Goal {
    Goal { id, group, x: None, case, bound }
}

const fn at(id: &'static str, group: &'static str, x: u64, case: &'static str, bound: Bound) -> Goal {
    Goal { id, group, x: Some(x), case, bound }
}

/// The meaning of each goal for readers of the page, in the page's order.
pub(crate) const MEANINGS: &[(&str, &str)] = &[
    ("P1", "a posted request costs little more than its stores, and one fence less than two"),
    ("P2", "a prepared request costs little more than its stores when it is posted"),
    ("P3", "a burst costs little more than its stores; one core feeds 215 million messages a second, polling included"),
    ("P4", "a polled completion costs little more than its loads, in this core's cache and in another's"),
    ("P5", "each is several times as fast as libmlx5, on equal rings in the same process"),
    ("P6", "deep rings and many queues cost little more than one small ring"),
    ("P7", "the hot functions have no call on the way to success, no panic and no bounds check"),
    ("P8", "a request by the 8-byte doorbell costs little more than its stores"),
    ("P9", "a shot into cold caches costs little more than its stores there"),
    ("P10", "a queue pair costs little more than the bare calls that create and connect it"),
    ("P12", "a frame of a striding queue costs little more than its loads"),
    ("P13", "finding the queue pair of a completion costs little, on a completion queue that queue pairs share"),
    ("P14", "frames that share a WQE cost little more than their stores, and much less than frames with a WQE each"),
    ("P15", "a lone frame costs little more than its stores, and so does an order whose payload changes"),
];

/// Where to aim.
///
/// P5 names no mode of libmlx5 for polls and bursts: they are held against both. Where P5 speaks of two figures, the
/// larger one is against libmlx5 as it is by default, with its locks, and the smaller one against
/// `MLX5_SINGLE_THREADED=1`.
pub(crate) const GOALS: &[Goal] = &[
    // A typed post by BlueFlame against the same stores by hand.
    goal("P1", "post", "typed two fences", Within(1.10, "floor two fences")),
    goal("P1", "post", "typed two fences", Within(1.10, "floor with wr_id")),
    goal("P1", "post", "typed one fence", Within(1.10, "floor one fence")),
    goal("P1", "post", "typed shared", Within(1.10, "floor shared")),
    goal("P1", "post", "typed two fences", Instructions(58)),
    goal("P1", "post", "typed one fence", Instructions(58)),
    goal("P1", "post", "typed one fence", Within(0.80, "typed two fences")),
    // The same without a doorbell record, by an 8-byte doorbell.
    goal("P1", "post", "recordless", Within(1.10, "recordless floor")),
    goal("P1", "post", "recordless", Within(0.85, "typed two fences")),
    goal("P1", "post", "recordless", Instructions(50)),
    // A prepared request, patched and fired.
    goal("P2", "post", "prepared two fences", Within(1.15, "prepared floor two fences")),
    goal("P2", "post", "prepared one fence", Within(1.15, "prepared floor one fence")),
    goal("P2", "post", "prepared two fences", Instructions(37)),
    goal("P2", "post", "prepared one fence", Instructions(37)),
    // Many requests, one doorbell.
    goal("P3", "burst of 16", "batch", Within(1.15, "floor")),
    goal("P3", "burst of 64", "batch", Within(1.15, "floor")),
    goal("P3", "burst of 16 and poll", "blueflame", Nanoseconds(4.65)),
    goal("P3", "burst of 64 and poll", "blueflame", Nanoseconds(4.65)),
    // A completion, from this core's cache and from another's.
    goal("P4", "poll", "poll_with(1) fields", Within(1.15, "floor fields")),
    goal("P4", "poll", "poll() copy", Within(1.15, "floor copy")),
    goal("P4", "poll", "poll_with(16) fields", Within(1.15, "floor fields 16")),
    goal("P4", "poll other core", "poll_with(1) fields", Within(1.15, "floor fields")),
    goal("P4", "poll other core", "poll() copy", Within(1.15, "floor copy")),
    goal("P4", "poll other core", "poll_with(16) fields", Within(1.15, "floor fields 16")),
    goal("P4", "poll", "poll_with(1) fields", Instructions(40)),
    // The goal is for a 64-byte read of which one value is used: that of three fields, uncopied, is 40.
    goal("P4", "poll", "poll() copy, index", Instructions(28)),
    // libmlx5 on equal rings in the same process.
    goal("P5", "post", "typed two fences", Faster(3.0, "ibv_wr single-threaded")),
    goal("P5", "post", "typed two fences", Faster(4.5, "ibv_wr default")),
    goal("P5", "post", "typed one fence", Faster(4.0, "ibv_wr single-threaded")),
    goal("P5", "post", "typed one fence", Faster(6.0, "ibv_wr default")),
    goal("P5", "post", "prepared two fences", Faster(5.0, "ibv_wr single-threaded")),
    goal("P5", "post", "prepared two fences", Faster(8.0, "ibv_wr default")),
    goal("P5", "poll", "poll_with(1) fields", Faster(8.0, "ibv_poll_cq(1) single-threaded")),
    goal("P5", "poll", "poll_with(1) fields", Faster(8.0, "ibv_poll_cq(1) default")),
    goal("P5", "poll", "poll_with(16) fields", Faster(5.0, "ibv_poll_cq(16) single-threaded")),
    goal("P5", "poll", "poll_with(16) fields", Faster(5.0, "ibv_poll_cq(16) default")),
    goal("P5", "burst of 64", "batch", Faster(6.0, "ibv_post_send list single-threaded")),
    goal("P5", "burst of 64", "batch", Faster(6.0, "ibv_post_send list default")),
    // Deep rings and many queues.
    at("P6", "ring depth", 32768, "typed", WithinPoint(1.3, 64)),
    at("P6", "queues", 256, "typed", WithinPoint(1.8, 1)),
    at("P6", "queues", 256, "typed dense, prefetched", WithinPoint(1.8, 1)),
    at("P6", "queues", 1024, "typed dense", Within(0.5, "typed")),
    at("P6", "queues", 1024, "typed dense, prefetched", Within(0.5, "typed")),
    // Set-up to RTS.
    at("P10", "set-up", 1, "blueflame", Within(1.05, "by hand")),
    at("P10", "set-up", 64, "blueflame", Within(1.05, "by hand")),
    at("P10", "set-up", 512, "blueflame", Within(1.05, "by hand")),
    // After work that has taken all caches, TLBs and predictors.
    goal("P9", "cold post", "prepared", Within(1.30, "prepared floor")),
    goal("P9", "cold post", "prepared", Faster(4.0, "ibv_wr default")),
    goal("P9", "cold post", "prepared, rehearsed", Within(0.75, "prepared")),
    goal("P9", "cold frame", "prepared", Within(1.30, "floor")),
    goal("P9", "cold frame", "prepared", Faster(4.0, "ibv_wr default")),
    // Frames of a striding queue, from this core's cache.
    goal("P12", "receive frames", "plain", Within(1.15, "floor plain")),
    goal("P12", "receive frames", "compressed", Within(1.15, "floor compressed")),
    goal("P12", "receive frames", "by tag", Within(1.15, "floor by tag")),
    goal("P12", "receive frames", "of 4 queues", Within(1.15, "floor of 4 queues")),
    goal("P12", "receive frames", "plain", Within(1.15, "floor plain with duties")),
    goal("P12", "receive frames", "compressed", Within(1.15, "floor compressed with duties")),
    goal("P12", "receive frames", "by tag", Within(1.15, "floor by tag with duties")),
    goal("P12", "receive frames", "of 4 queues", Within(1.15, "floor of 4 queues with duties")),
    goal("P12", "receive frames", "compressed", Instructions(30)),
    // A shared CQ: finding the queue pair of a completion, against knowing it beforehand.
    goal("P13", "shared CQ", "64, ByQpn", Within(1.15, "64, order known")),
    // Frames that share a WQE: against stores by hand, and against a WQE for each frame.
    goal("P14", "frames inline 8", "session", Within(1.20, "floor session")),
    goal("P14", "frames inline 15", "session", Within(1.20, "floor session")),
    goal("P14", "frames pointer 8", "session", Within(1.20, "floor session")),
    goal("P14", "frames pointer 32", "session", Within(1.20, "floor session")),
    goal("P14", "frames inline 8", "session", Within(0.60, "single batch")),
    goal("P14", "frames inline 15", "session", Within(0.60, "single batch")),
    goal("P14", "frames pointer 8", "session", Within(0.60, "single batch")),
    goal("P14", "frames pointer 32", "session", Within(0.60, "single batch")),
    goal("P14", "frames inline 8", "session", Instructions(25)),
    goal("P14", "frames inline 15", "session", Instructions(25)),
    goal("P14", "frames pointer 8", "session", Instructions(25)),
    goal("P14", "frames pointer 32", "session", Instructions(25)),
    goal("P14", "large send", "typed", Within(1.10, "floor")),
    // A frame with a doorbell of its own.
    goal("P15", "post frame", "typed", Within(1.10, "floor")),
    goal("P15", "post frame", "typed", Within(1.10, "floor with wr_id")),
    goal("P15", "post frame one entry", "typed", Within(1.10, "floor")),
    goal("P15", "post frame", "prepared", Within(1.15, "prepared floor")),
    // An order: the time begins with the signal, and ends with the doorbell.
    goal("P15", "order", "prepared", Within(1.15, "floor")),
    goal("P15", "order", "delegated", Within(1.15, "delegated floor")),
    goal("P7", "hot functions", "disassembly", Tested("success without calls, no panic, no bounds branch: a test")),
    // A lone request by an 8-byte doorbell.
    goal("P8", "post doorbell", "typed two fences", Within(1.10, "floor two fences")),
    goal("P8", "post doorbell", "typed two fences", Within(1.10, "floor with wr_id")),
    goal("P8", "post doorbell", "typed one fence", Within(1.10, "floor one fence")),
    goal("P8", "post doorbell one entry", "typed two fences", Within(1.10, "floor two fences")),
    goal("P8", "post doorbell", "typed two fences", Instructions(60)),
    goal("P8", "post doorbell one entry", "typed two fences", Instructions(60)),
];
