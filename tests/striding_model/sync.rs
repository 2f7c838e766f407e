//! Atomics that loom schedules, in place of those of `core`. One access of the checked file can have a weaker ordering.

use std::cell::Cell;
use std::sync::LazyLock;

/// An access of the checked file: the function that it is in, the operation, and the ordering in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weakened {
    pub(crate) function: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) ordering: atomic::Ordering,
}

thread_local! {
    /// The access to weaken. (The model's threads are one of the system's.)
    static WEAKENED: Cell<Option<Weakened>> = const { Cell::new(None) };
    /// How often that access was made.
    static MADE: Cell<usize> = const { Cell::new(0) };
}

loom::lazy_static! {
    static ref TICK: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// A point at which other threads may go on. Loom swaps an access with the last one that it depends on, and only with
/// that: a compare-and-swap right behind the same thread's load is not swapped with another thread's load before.
pub(crate) fn others_may_run() {
    TICK.fetch_add(1, atomic::Ordering::Relaxed);
}

/// Weakens an access from here on, or none.
pub(crate) fn weaken(access: Option<Weakened>) {
    WEAKENED.set(access);
    MADE.set(0);
}

/// How often the weakened access was made.
pub(crate) fn made() -> usize {
    MADE.get()
}

/// The function of each line of the checked file.
static FUNCTIONS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut function = "";
    let lines = include_str!("../../src/queue/striding/memory.rs").lines().map(|line| {
        if let Some((_, rest)) = line.split_once("fn ")
            && line.trim_end().ends_with('{')
        {
            function = rest.split(['(', '<']).next().unwrap_or(rest);
        }
        function
    });
    lines.collect()
});

/// The ordering of an access that the checked file makes at its line `line`.
fn ordering(line: u32, operation: &str, ordering: atomic::Ordering) -> atomic::Ordering {
    match WEAKENED.get() {
        Some(access)
            if access.operation == operation
                && access.function == FUNCTIONS[line as usize - 1]
                && ordering != atomic::Ordering::Relaxed =>
        {
            assert_ne!(ordering, access.ordering, "{access:?} is no change");
            MADE.set(MADE.get() + 1);
            access.ordering
        }
        _ => ordering,
    }
}

pub(crate) mod atomic {
    use std::panic::Location;

    pub(crate) use loom::sync::atomic::Ordering;

    use super::ordering;

    /// Each has the operations that the checked file uses, or could use.
    macro_rules! atomics {
        ($($name:ident of $number:ty),*) => {$(
            #[derive(Debug)]
            pub(crate) struct $name(loom::sync::atomic::$name);

            #[allow(dead_code, reason = "neither number has all of them")]
            impl $name {
                pub(crate) fn new(value: $number) -> Self {
                    Self(loom::sync::atomic::$name::new(value))
                }

                #[track_caller]
                pub(crate) fn load(&self, order: Ordering) -> $number {
                    self.0.load(ordering(Location::caller().line(), "load", order))
                }

                #[track_caller]
                pub(crate) fn store(&self, value: $number, order: Ordering) {
                    self.0.store(value, ordering(Location::caller().line(), "store", order));
                }

                #[track_caller]
                pub(crate) fn swap(&self, value: $number, order: Ordering) -> $number {
                    self.0.swap(value, ordering(Location::caller().line(), "swap", order))
                }

                #[track_caller]
                pub(crate) fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                    self.0.fetch_add(value, ordering(Location::caller().line(), "fetch_add", order))
                }

                #[track_caller]
                pub(crate) fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                    self.0.fetch_sub(value, ordering(Location::caller().line(), "fetch_sub", order))
                }

                #[track_caller]
                pub(crate) fn compare_exchange_weak(
                    &self,
                    old: $number,
                    new: $number,
                    yes: Ordering,
                    no: Ordering,
                ) -> Result<$number, $number> {
                    let yes = ordering(Location::caller().line(), "compare_exchange_weak", yes);
                    self.0.compare_exchange_weak(old, new, yes, no)
                }
            }
        )*};
    }

    atomics!(AtomicU32 of u32, AtomicUsize of usize);
}
