//! Which requests go the short way, and where the others are kept. Knows no queue.
use crate::transport::Transport;
use crate::types::Ds;
use crate::wqe::{Limits, WQEBB_DS, WorkRequest};

/// The size of a request that fits one or two WQEBBs by type, and is composed in CPU registers; zero for others.
pub(in crate::queue) const fn composed_ds<T: Transport, W: WorkRequest<T>>() -> Ds {
    match W::MAX_DS {
        // At most 8.
        Some(ds) if ds <= 2 * WQEBB_DS => Ds(ds as u8),
        _ => Ds(0),
    }
}

/// The WQEBBs of such a request: one or two; zero for others.
const fn composed_wqebbs<T: Transport, W: WorkRequest<T>>() -> u16 {
    composed_ds::<T, W>().wqebbs().0
}

/// Whether a request fits one WQEBB by type, and has the size that its type states.
#[inline(always)]
pub(in crate::queue) fn is_short<T: Transport, W: WorkRequest<T>>(limits: &Limits, request: &W) -> bool {
    (const { composed_wqebbs::<T, W>() == 1 }) && request.has_static_size(limits)
}

/// Whether a request fits two WQEBBs by type, has the size that its type states, and the queue takes it.
#[inline(always)]
pub(in crate::queue) fn takes_pair<T: Transport, W: WorkRequest<T>>(limits: &Limits, request: &W) -> bool {
    (const { composed_wqebbs::<T, W>() == 2 }) && request.has_static_size(limits) && limits.cover(W::NEEDS)
}

/// Whether a request is short, and the queue takes it.
#[inline(always)]
pub(in crate::queue) fn takes_short<T: Transport, W: WorkRequest<T>>(limits: &Limits, request: &W) -> bool {
    is_short::<T, W>(limits, request) && limits.cover(W::NEEDS)
}

/// Runs `exception`. For requests of no fixed size by type, it is the rule, and runs in line. For other requests it is
/// rare: the request has less in it than its type says, or more than the queue takes. There it runs out of line, so
/// that it takes no CPU registers from the common case. `exception` must own the request, so that the request need not
/// be in memory.
#[inline(always)]
pub(in crate::queue) fn unless_composed<T: Transport, W: WorkRequest<T>, O>(exception: impl FnOnce() -> O) -> O {
    if const { composed_wqebbs::<T, W>() == 0 } { exception() } else { out_of_line(exception) }
}

#[cold]
#[inline(never)]
fn out_of_line<O>(work: impl FnOnce() -> O) -> O {
    work()
}
