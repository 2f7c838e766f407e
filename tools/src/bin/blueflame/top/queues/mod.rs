//! A view per queue. The software device counts the work of each; a NIC's kernel tells which queues there are.

mod kernel;
mod queue;
mod reading;
mod software;
mod view;

pub(super) use queue::Wanted;
pub(super) use reading::{Sample, Source, print};
pub(super) use view::live;
