//! Faults of the program, for negative controls.

use std::cell::Cell;

/// A fault of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// No flush before the lock opens.
    Flush,
    /// The lock lets each thread in.
    Lock,
    /// The lock orders nothing.
    Order,
}

thread_local! {
    /// The fault. (The model's threads are one of the system's.)
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Makes the fault from here on, or none.
pub(crate) fn make(fault: Option<Fault>) {
    FAULT.set(fault);
}

pub(crate) fn is(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}
