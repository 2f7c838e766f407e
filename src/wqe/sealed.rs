//! Seals the traits of this module: a queue relies on their sizes being true.

pub trait Sealed {}
