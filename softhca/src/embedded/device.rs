//! The device itself: how it is made, stepped and watched.

use super::memory::Allocation;
use crate::complaint::Complaint;
use crate::config::{DeviceConfig, LinkLayer, PortConfig};
use crate::device::Device;
use crate::error::Error;
use crate::ethernet::SentFrame;
use crate::event::Event;
use crate::memory::ProcessMemory;
use crate::wire::in_process::Fabric;
use crate::wire::{Address, Wire};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A device in the caller's process. See the [module](super) for an example.
pub struct EmbeddedDevice {
    /// Before the memory, so that it goes first when dropped.
    pub(super) device: Device,
    /// Rings and records.
    pub(super) rings: Vec<Arc<Allocation>>,
    /// Registered memory, by key.
    pub(super) regions: BTreeMap<u32, Region>,
    /// Registers, by QPN.
    pub(super) registers: BTreeMap<u32, Register>,
    pub(super) pd: u32,
    pub(super) now: Duration,
}

/// The memory behind a key. The key's own context does not tell it reliably: an invalidation sets its length to 0.
pub(super) struct Region {
    pub(super) addr: u64,
    pub(super) len: usize,
    /// The memory, if it is a [`Buffer`](super::memory::Buffer)'s.
    pub(super) _memory: Option<Arc<Allocation>>,
}

/// A QP's register.
#[derive(Clone, Copy)]
pub(super) struct Register {
    /// Index of its UAR page.
    pub(super) uar: u32,
    /// Bytes of a half; 0 without BlueFlame.
    pub(super) size: u32,
}

impl EmbeddedDevice {
    /// A device of this configuration on this wire.
    ///
    /// # Errors
    /// [`Error::BadValue`] for an invalid configuration; [`Error::System`] if there is no memory for a UAR page.
    pub fn new(config: DeviceConfig, wire: Box<dyn Wire>) -> Result<Self, Error> {
        let mut device = Device::new(config, Box::new(ProcessMemory::new()), wire)?;
        let pd = device.alloc_pd()?;
        Ok(Self {
            device,
            rings: Vec::new(),
            regions: BTreeMap::new(),
            registers: BTreeMap::new(),
            pd,
            now: Duration::ZERO,
        })
    }

    /// A device with one InfiniBand port of LID 1, without connection to other devices. Its QPs can talk to each
    /// other.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn standalone() -> Result<Self, Error> {
        Self::on_fabric(&Fabric::new(), PortConfig::infiniband(1), |wire| wire)
    }

    /// Two devices, with InfiniBand ports of LIDs 1 and 2, connected to each other.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn pair() -> Result<(Self, Self), Error> {
        Self::pair_with(|wire| wire)
    }

    /// Makes a [pair](Self::pair) with a wire of the caller's: `f` wraps each device's wire, in a fault injector for
    /// instance.
    ///
    /// # Errors
    /// [`Error::System`].
    pub fn pair_with(mut f: impl FnMut(Box<dyn Wire>) -> Box<dyn Wire>) -> Result<(Self, Self), Error> {
        let fabric = Fabric::new();
        let a = Self::on_fabric(&fabric, PortConfig::infiniband(1), &mut f)?;
        let b = Self::on_fabric(&fabric, PortConfig::infiniband(2), &mut f)?;
        Ok((a, b))
    }

    /// A device with this port, connected to a fabric.
    ///
    /// # Errors
    /// [`Error::BadValue`] if the fabric has a device of this address; [`Error::System`].
    pub fn on_fabric(
        fabric: &Fabric,
        port: PortConfig,
        f: impl FnOnce(Box<dyn Wire>) -> Box<dyn Wire>,
    ) -> Result<Self, Error> {
        let config = DeviceConfig::with_port(port);
        let port = &config.ports[0];
        let address = Address {
            lids: Vec::from_iter((port.link == LinkLayer::InfiniBand).then_some(port.lid)),
            gids: port.gids.clone(),
            qpns: config.qpn_first..config.qpn_first + config.qpn_count,
        };
        let wire = fabric.attach(address).map_err(|_| Error::BadValue {
            what: "port LID",
            value: port.lid.into(),
            permitted: "an address that no other device on the fabric has",
        })?;
        Self::new(config, f(Box::new(wire)))
    }

    /// The protection domain of everything made here.
    #[must_use]
    pub fn pd(&self) -> u32 {
        self.pd
    }

    /// The Ethernet frames that raw packet QPs have sent since the last call: see [`Device::take_frames`].
    pub fn take_frames(&mut self) -> Vec<SentFrame> {
        self.device.take_frames()
    }

    /// One step of the device at the present time. True if it did anything.
    pub fn step(&mut self) -> bool {
        self.device.step(self.now)
    }

    /// The device's clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Moves the clock on.
    pub fn advance(&mut self, by: Duration) {
        self.now += by;
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.device.next_event()
    }

    /// The driver's mistakes that were found since the last call: see [`Device::complaints`].
    pub fn complaints(&mut self) -> Vec<Complaint> {
        self.device.complaints()
    }
}
