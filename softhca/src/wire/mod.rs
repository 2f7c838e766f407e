//! The way between devices: packets of the IB transport, carried by the [`Wire`] that the device was given. [`cable`]
//! makes the bytes of a packet. It must never know a queue, or the request in a packet.

mod address;
pub mod cable;
pub mod capture;
#[cfg(target_os = "linux")]
pub mod ethernet;
pub mod fault;
mod frame;
pub mod in_process;
pub mod loan;
mod outbox;
mod port;
mod segment;
#[cfg(target_os = "linux")]
pub mod shm;
pub mod slow;
#[cfg(test)]
pub(crate) mod test_frames;
#[cfg(target_os = "linux")]
pub mod udp;
#[cfg(target_os = "linux")]
mod watcher;

pub use address::{Address, Announcement, GSI_QPN};
pub use frame::{Frame, Grh, MULTICAST_QPN, Macs, Route, is_group};
pub(crate) use outbox::{Outbox, Sender};
pub use port::{Arrived, Fate, Wire};
pub(crate) use segment::Size;
