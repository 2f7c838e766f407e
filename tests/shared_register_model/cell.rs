//! Cells that loom checks, in place of those of `core`.

/// A cell that detects an access that is not ordered after the last one.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T> {
    accesses: loom::cell::UnsafeCell<()>,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { accesses: loom::cell::UnsafeCell::new(()), value: std::cell::UnsafeCell::new(value) }
    }

    pub(crate) fn get(&self) -> *mut T {
        self.accesses.with_mut(|_| ());
        self.value.get()
    }
}
