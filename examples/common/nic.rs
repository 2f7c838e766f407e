//! The NIC of programs that send and receive frames: by its network interface, or by its RDMA device and port.

use blueflame::verbs::Device;
use blueflame::verbs::ethernet::Interface;
use clap::Args;

use crate::Failure;

/// The options that name the NIC. The letters are perftest's.
#[derive(Args, Clone, Debug)]
pub struct NicOptions {
    /// Network interface, whose RDMA device is used
    #[arg(long, conflicts_with = "ib_dev")]
    pub interface: Option<String>,
    /// RDMA device [default: the first mlx5 device]
    #[arg(short = 'd', long, visible_alias = "device")]
    pub ib_dev: Option<String>,
    /// Port of the device
    #[arg(short, long, default_value_t = 1)]
    pub ib_port: u8,
}

impl NicOptions {
    /// Opens the device, and finds the network interface of its port.
    ///
    /// # Errors
    /// No such device, or none with an Ethernet port.
    pub fn open(&self) -> Result<(Device, Interface), Failure> {
        let device = match (&self.interface, &self.ib_dev) {
            (Some(name), _) => Device::of_interface(name)?,
            (None, Some(name)) => Device::open(name)?,
            (None, None) => Device::open_first()?,
        };
        let interface = match &self.interface {
            Some(name) => Interface::named(name)?,
            None => device.interface(&device.port(self.ib_port)?)?.ok_or("the port has no network interface")?,
        };
        Ok((device, interface))
    }
}
