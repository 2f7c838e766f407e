//! Seals the traits of this crate.

/// Only this crate implements the traits that build on this one, because users cannot name it. Queues rely on the
/// sizes, barriers and layouts that its implementations give, and no other crate can check them.
pub trait Sealed {}
