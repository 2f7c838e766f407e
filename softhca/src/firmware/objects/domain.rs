//! Domains: numbers that other objects name.

/// A transport domain.
#[derive(Debug, Default)]
pub(crate) struct Domain {
    /// Objects that name it, which it outlives.
    pub(crate) users: u32,
}
