//! Raw parts that a value keeps for tests that look at them.

/// Addresses, to look at.
#[derive(Debug)]
pub(crate) struct Parts<P>(pub(crate) P);

// SAFETY: plain numbers and addresses; code that follows an address says why that is right, in any thread.
unsafe impl<P> Send for Parts<P> {}
// SAFETY: plain numbers and addresses; code that follows an address says why that is right, in any thread.
unsafe impl<P> Sync for Parts<P> {}
