//! A PCI function and a driver of it: written from what Linux' driver does, with offsets of its own, over memory of the
//! test's.
//!
//! Registers, command slots and pages of the function belong here. Its vfio-user server belongs in `vfio-user/tests`.

mod config;
mod doorbells;
mod driver;
mod events;
mod hostile;
mod life;
mod memory;
mod pages;
mod registers;
mod signatures;
