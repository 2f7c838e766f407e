//! libmlx5's instructions for the same operations, its caller's loop included: for comparison, and not held against
//! anything.
//!
//! Under the software device in sink mode (`softhca-run --sink`), by the calls that the benchmarks time. All code that
//! is executed counts, in libibverbs' inline functions and in libmlx5.
use std::collections::BTreeMap;

use rdma_sys::ibv_qp_ex;

use crate::common::Message;
use crate::common::libmlx5::{
    INLINE, List, SIGNALED, Theirs, handle, inline_entry, set_dc_addr, set_inline, set_ud_addr,
};
use crate::common::rig::{QKEY, SMALL, Service, Shape, Threads, step};
use crate::step::{count, mark};

/// Operations counted, once and twice more: as many completions of 16 each as fit a ring.
const OPERATIONS: u64 = 4;
/// Completions of one call.
const BURST: usize = 16;
/// Requests completed before polls are counted.
const COMPLETED: u64 = 240;

/// Instructions of each case, rounded: per message, in a loop.
pub(crate) fn figures() -> Result<BTreeMap<String, u64>, String> {
    let mut figures = BTreeMap::new();
    for (threads, mode) in [(Threads::Any, "default"), (Threads::One, "single-threaded")] {
        let mut add = |case: &str, elements: usize, figure: Result<u64, String>| {
            let name = format!("{case} {mode}");
            let figure = figure.map_err(|error| format!("{name}: {error}"))? / elements as u64;
            println!("{name:<42} {figure:>9}");
            figures.insert(name, figure);
            Ok::<(), String>(())
        };
        let mut list = List::new(1, SIGNALED | INLINE);
        let mut idle = Theirs::new(SMALL, threads);
        add("post ibv_post_send", 1, each(|n| idle.post_send(list.load(n, inline_entry))))?;
        add("post ibv_wr", 1, each(|n| idle.wr(n, 1, |_| SIGNALED, set_inline)))?;
        let handle = handle();
        let mut initiator = Theirs::new(Shape { service: Service::Initiator, ..SMALL }, threads);
        let dv = initiator.dv;
        let to_target = |ex: *mut ibv_qp_ex, m: &Message| {
            set_dc_addr(dv, &handle, 7, 9);
            set_inline(ex, m);
        };
        add("post dc ibv_wr", 1, each(|n| initiator.wr(n, 1, |_| SIGNALED, to_target)))?;
        let mut datagrams = Theirs::new(Shape { service: Service::Datagrams, ..SMALL }, threads);
        let to_peer = |ex: *mut ibv_qp_ex, m: &Message| {
            set_ud_addr(ex, &handle, 7, QKEY.0);
            set_inline(ex, m);
        };
        add("post ud ibv_wr", 1, each(|n| datagrams.send(n, |_| SIGNALED, to_peer)))?;
        let mut posted = Theirs::new(SMALL, threads);
        for n in 0..COMPLETED {
            posted.post_send(list.load(n, inline_entry));
        }
        step();
        add("poll ibv_poll_cq(1)", 1, each(|_| used(posted.poll_cq::<1>(1))))?;
        add("poll ibv_poll_cq(16)", BURST, each(|_| used(posted.poll_cq::<BURST>(BURST))))?;
        add("poll ibv_start_poll", 1, each(|_| used(posted.start_poll::<1>(1))))?;
        add("poll empty ibv_poll_cq(1)", 1, each(|_| used(idle.poll_cq::<1>(1))))?;
    }
    Ok(figures)
}

/// What polling returns is looked at.
fn used(sum: u64) {
    std::hint::black_box(sum);
}

/// Instructions of one operation.
fn each(mut operation: impl FnMut(u64)) -> Result<u64, String> {
    let counts = count(None, || {
        // Code that the dynamic linker has yet to find.
        operation(0);
        for end in [OPERATIONS, 2 * OPERATIONS] {
            marked(&mut operation, end);
        }
    })?;
    let [once, _between, twice] = counts.parts[..] else { return Err(format!("three parts expected: {counts:?}")) };
    Ok((twice - once + OPERATIONS / 2) / OPERATIONS)
}

/// Works between two marks.
#[inline(never)]
fn marked(operation: &mut impl FnMut(u64), end: u64) {
    mark();
    for n in 0..std::hint::black_box(end) {
        operation(n);
    }
    mark();
}
