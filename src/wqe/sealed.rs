//! Keeps the traits of this room its own: a queue relies on their sizes being true.

pub trait Sealed {}
