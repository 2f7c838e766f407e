//! The options of a function.

use softhca::wire::in_process::Fabric;
use softhca_settings::{Generation, Link};
use std::path::PathBuf;

/// The network that a function is on.
#[derive(Clone, Debug)]
pub enum Network {
    /// The directory in which processes of one network meet.
    Shared(PathBuf),
    /// One within this process.
    Private(Fabric),
}

/// The identity of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortOptions {
    /// Number of the device: its GUIDs, addresses and GIDs are derived from it, as those of `softhca-run`'s devices.
    pub index: u32,
    /// Which ConnectX it is.
    pub generation: Generation,
    /// Link layer of its port.
    pub link: Link,
    /// Drivers may register memory by UMR. If not, they make a key for each region by a command.
    pub umr_registers: bool,
    /// Ethernet address, in place of the one derived from the number.
    pub mac: Option<[u8; 6]>,
}
