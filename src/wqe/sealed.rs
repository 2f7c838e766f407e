//! Seals the traits of this room: a queue relies on their sizes being true.

pub trait Sealed {}
