//! Seals the traits: other crates cannot implement them.

pub trait Sealed {}
