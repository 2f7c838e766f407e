//! libmlx5's instructions for the same operations, its caller's loop included: for comparison, and not held against
//! anything.
//!
//! Under the software device in sink mode (`softhca-run --sink`), by the calls that the benchmarks time. All code that
//! is executed counts, in libibverbs' inline functions and in libmlx5.
use std::collections::BTreeMap;

use blueflame::verbs::AddressHandle;
use blueflame_sys as sys;

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
        let small = || Theirs::new(SMALL, threads);
        let inlined = || (small(), List::new(1, SIGNALED | INLINE));
        let to = |service| (Theirs::new(Shape { service, ..SMALL }, threads), handle());
        let completed = || {
            let (mut queues, mut list) = inlined();
            for n in 0..COMPLETED {
                queues.post_send(list.load(n, inline_entry));
            }
            step();
            queues
        };
        add("post ibv_post_send", 1, each(inlined, |(queues, list), n| queues.post_send(list.load(n, inline_entry))))?;
        add("post ibv_wr", 1, each(small, |queues, n| queues.wr(n, 1, |_| SIGNALED, set_inline)))?;
        let to_target = |(queues, handle): &mut (Theirs, AddressHandle), n| {
            let dv = queues.dv;
            queues.wr(
                n,
                1,
                |_| SIGNALED,
                |ex: *mut sys::ibv_qp_ex, m: &Message| {
                    set_dc_addr(dv, handle, 7, 9);
                    set_inline(ex, m);
                },
            );
        };
        add("post dc ibv_wr", 1, each(|| to(Service::Initiator), to_target))?;
        let to_peer = |(queues, handle): &mut (Theirs, AddressHandle), n| {
            queues.send(
                n,
                |_| SIGNALED,
                |ex: *mut sys::ibv_qp_ex, m: &Message| {
                    set_ud_addr(ex, handle, 7, QKEY.0);
                    set_inline(ex, m);
                },
            );
        };
        add("post ud ibv_wr", 1, each(|| to(Service::Datagrams), to_peer))?;
        add("poll ibv_poll_cq(1)", 1, each(completed, |queues, _| used(queues.poll_cq::<1>(1))))?;
        add("poll ibv_poll_cq(16)", BURST, each(completed, |queues, _| used(queues.poll_cq::<BURST>(BURST))))?;
        add("poll ibv_start_poll", 1, each(completed, |queues, _| used(queues.start_poll::<1>(1))))?;
        add("poll empty ibv_poll_cq(1)", 1, each(small, |queues, _| used(queues.poll_cq::<1>(1))))?;
    }
    Ok(figures)
}

/// Uses the result of polling.
fn used(sum: u64) {
    std::hint::black_box(sum);
}

/// Instructions of one operation on the queues that `prepare` makes.
fn each<Q>(prepare: impl FnOnce() -> Q, mut operation: impl FnMut(&mut Q, u64)) -> Result<u64, String> {
    let counts = count(None, prepare, |queues| {
        // Code that the dynamic linker has yet to find.
        operation(queues, 0);
        for end in [OPERATIONS, 2 * OPERATIONS] {
            marked(queues, &mut operation, end);
        }
    })?;
    let [once, _between, twice] = counts.parts[..] else { return Err(format!("three parts expected: {counts:?}")) };
    Ok((twice - once + OPERATIONS / 2) / OPERATIONS)
}

/// Works between two marks.
#[inline(never)]
fn marked<Q>(queues: &mut Q, operation: &mut impl FnMut(&mut Q, u64), end: u64) {
    mark();
    for n in 0..std::hint::black_box(end) {
        operation(queues, n);
    }
    mark();
}
