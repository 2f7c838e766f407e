//! A function, the thread that steps it, and its place on a network.

use crate::backend::Backend;
use crate::options::{Network, PortOptions};
use crate::stepped::Stepped;
use crate::vectors::Vectors;
use parking_lot::Mutex;
use softhca::config::{DeviceConfig, DoorbellSource, LinkLayer, PortConfig};
use softhca::device::Device;
use softhca::error::Error;
use softhca::memory::DmaMap;
use softhca::notify::Notify;
use softhca::pci::Function;
use softhca::runner::Runner;
use softhca::wire::in_process::AddressTaken;
use softhca::wire::shm::{ShmError, ShmWire};
use softhca::wire::{Address, Wire};
use softhca_settings::{Mishaps, node_guid, plain_port};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error as ThisError;

/// The port of a function: there is one.
const PORT: u32 = 1;
/// QPNs of the first device of a private network, and of each after it.
const PRIVATE_QPNS: u32 = 1 << 16;

/// Why there is no function.
#[derive(Debug, ThisError)]
pub enum EndpointError {
    /// The network cannot be joined.
    #[error(transparent)]
    Network(#[from] ShmError),
    /// Two devices of a private network have the same number.
    #[error(transparent)]
    Taken(#[from] AddressTaken),
    /// The device cannot be made.
    #[error(transparent)]
    Device(#[from] Error),
    /// The system has no thread to give.
    #[error("the device's thread does not start")]
    Thread(#[from] io::Error),
}

/// A function that runs, on a network, for whoever connects to its socket.
pub struct Endpoint {
    pub(crate) backend: Backend,
    /// Stops the thread when dropped.
    _runner: Runner,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("memory", &self.backend.memory).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Makes a function, joins the network with it, and starts its thread.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub fn start(options: &PortOptions, network: &Network) -> Result<Self, EndpointError> {
        let port = port(options);
        let Joined { wire, qpns, notify } = join(options, network, &port)?;
        let config = DeviceConfig {
            generation: options.generation.into(),
            node_guid: node_guid(options.index),
            qpn_first: qpns.start,
            qpn_count: qpns.end - qpns.start,
            doorbells: DoorbellSource::Calls,
            umr_registers: options.umr_registers,
            ..DeviceConfig::with_port(port)
        };
        let (memory, vectors) = (DmaMap::new(), Vectors::new());
        let device = Device::new(config, Box::new(memory.clone()), wire)?;
        let function = Function::new(device, Box::new(vectors.clone()));
        let mishaps = match network {
            Network::Shared(directory) => Some(Mishaps::new(directory, options.index, PORT)),
            Network::Private(_) => None,
        };
        let function = Arc::new(Mutex::new(Stepped { function, mishaps }));
        let unheard = |event| log::debug!("nobody hears of {event:?}");
        let runner = Runner::start(function.clone(), notify.clone(), None, unheard)?;
        Ok(Self { backend: Backend { function, notify, memory, vectors }, _runner: runner })
    }
}

/// The port that a function has.
fn port(options: &PortOptions) -> PortConfig {
    let mut port = plain_port(options.link, options.index, PORT);
    if port.link == LinkLayer::Ethernet {
        port.mac = options.mac.unwrap_or(port.mac);
        // The guest's kernel derives them from those of its network interfaces.
        port.gids.clear();
    }
    port
}

/// A place on a network.
struct Joined {
    wire: Box<dyn Wire>,
    qpns: Range<u32>,
    notify: Notify,
}

fn join(options: &PortOptions, network: &Network, port: &PortConfig) -> Result<Joined, EndpointError> {
    let lids: Vec<u16> = Some(port.lid).filter(|&lid| lid != 0).into_iter().collect();
    match network {
        Network::Shared(directory) => {
            let wire = ShmWire::join(directory, &lids, &port.gids)?;
            Ok(Joined { qpns: wire.qpns(), notify: wire.notify(), wire: Box::new(wire) })
        }
        Network::Private(fabric) => {
            let first = PRIVATE_QPNS * (options.index + 1);
            let qpns = first..first + PRIVATE_QPNS;
            let wire = fabric.attach(Address { lids, gids: port.gids.clone(), qpns: qpns.clone() })?;
            Ok(Joined { qpns, notify: wire.notify(), wire: Box::new(wire) })
        }
    }
}
