//! Atomics that loom schedules, in place of those of `core`.

loom::lazy_static! {
    static ref TICK: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// A point at which the other thread may go on: loom has them before operations on its own types only, and of these
/// only where what another thread does matters to them, as here.
pub(crate) fn others_may_run() {
    TICK.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
}

pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::Ordering;

    use crate::fault::{self, Fault};

    /// The order that the program names, or none.
    fn order(named: Ordering) -> Ordering {
        if fault::is(Fault::Order) { Ordering::Relaxed } else { named }
    }

    #[derive(Debug)]
    pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

    impl AtomicBool {
        pub(crate) fn new(value: bool) -> Self {
            Self(loom::sync::atomic::AtomicBool::new(value))
        }

        pub(crate) fn load(&self, named: Ordering) -> bool {
            self.0.load(order(named))
        }

        pub(crate) fn store(&self, value: bool, named: Ordering) {
            self.0.store(value, order(named));
            crate::sync::others_may_run();
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            old: bool,
            new: bool,
            yes: Ordering,
            no: Ordering,
        ) -> Result<bool, bool> {
            if fault::is(Fault::Lock) {
                return Ok(old);
            }
            self.0.compare_exchange_weak(old, new, order(yes), order(no))
        }
    }
}
