//! A firmware on a device, for unit tests: its host memory is [`BASE`] and the bytes behind it.

use super::call::Call;
use super::layout::{View, ViewMut};
use super::owners::Uid;
use super::state::State;
use super::status::{Refusal, Status};
use super::{Firmware, execute};
use crate::config::{DeviceConfig, PortConfig};
use crate::device::Device;
use crate::memory::ArrayMemory;
use crate::memory::test_memory::BASE;
use crate::wire::Address;
use crate::wire::in_process::Fabric;

/// Bytes of the host's memory.
pub(crate) const MEMORY_BYTES: usize = 0x4_0000;

/// A device with nothing on it.
pub(crate) fn device() -> Device {
    device_of(DeviceConfig::with_port(PortConfig::infiniband(1)))
}

fn device_of(config: DeviceConfig) -> Device {
    let wire = Fabric::new().attach(Address { qpns: 0x100..0x200, lids: vec![1], gids: vec![] }).expect("a wire");
    Device::new(config, Box::new(ArrayMemory::filled(BASE, MEMORY_BYTES, 0)), Box::new(wire)).expect("a device")
}

/// A firmware and its device.
pub(crate) struct Bench {
    pub(crate) firmware: Firmware,
    pub(crate) device: Device,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { firmware: Firmware::new(), device: device() }
    }

    /// A device with this configuration.
    pub(crate) fn of(config: DeviceConfig) -> Self {
        Self { firmware: Firmware::new(), device: device_of(config) }
    }

    /// Carries out a command with room for `room` bytes of output. Gives those if its status is 0.
    pub(crate) fn execute(&mut self, input: &[u8], room: usize) -> Result<Vec<u8>, Status> {
        let mut output = vec![0xff; room];
        match self.firmware.execute(&mut self.device, input, &mut output) {
            Status::Ok => Ok(output),
            status => Err(status),
        }
    }

    /// Runs a function as a command.
    pub(crate) fn call<T>(
        &mut self,
        uid: Uid,
        run: impl FnOnce(&mut Call<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Status> {
        let mut call = Call {
            state: &mut self.firmware.state,
            device: &mut self.device,
            uid,
            op_mod: 0,
            input: View(&[]),
            output: ViewMut(&mut []),
            taken: Vec::new(),
        };
        execute::finish(&mut call, run).map_err(|refusal| refusal.status)
    }

    /// The firmware's state.
    pub(crate) fn state(&mut self) -> &mut State {
        &mut self.firmware.state
    }

    /// A new user.
    pub(crate) fn user(&mut self) -> Uid {
        self.firmware.state.owners.add_user(0).expect("a user")
    }

    /// User memory of the pages at `pages`, which are numbers of 4096-byte pages of host memory; made as a driver does
    /// it.
    pub(crate) fn umem(&mut self, uid: Uid, pages: &[u64], offset: u32, writable: bool) -> u32 {
        self.umem_of(0, uid, pages, offset, writable)
    }

    /// [User memory](Self::umem) in pages of `4096 << log_page_size` bytes.
    pub(crate) fn umem_of(&mut self, log_page_size: u8, uid: Uid, pages: &[u64], offset: u32, writable: bool) -> u32 {
        let mut input = vec![0; 0x30 + 8 * pages.len()];
        input[0..4].copy_from_slice(&[0x0a, 0x08, (uid.0 >> 8) as u8, uid.0 as u8]);
        input[0x23] = log_page_size;
        input[0x24..0x28].copy_from_slice(&offset.to_be_bytes());
        input[0x28..0x30].copy_from_slice(&(pages.len() as u64).to_be_bytes());
        for (index, page) in pages.iter().enumerate() {
            let entry = (BASE + page * 4096) | 1 | u64::from(writable) << 1;
            input[0x30 + 8 * index..][..8].copy_from_slice(&entry.to_be_bytes());
        }
        let output = self.execute(&input, 16).expect("user memory");
        u32::from_be_bytes([0, output[9], output[10], output[11]])
    }
}
