//! The configuration space of an Ethernet controller with one BAR, and the capabilities that drivers of mlx5 look for.
//! Numbers are little endian. Layouts: PCI Express Base Specification, 7.5 (registers), 7.7 (MSI-X), 7.9 (vital product
//! data).

use super::gateway::{self, Gateway};
use super::{BAR_BYTES, MSIX_PBA_OFFSET, MSIX_TABLE_OFFSET, VECTORS};
use super::{identity, product_data};
use crate::config::Generation;

/// Bytes of the configuration space.
pub const CONFIG_BYTES: usize = 4096;

/// Registers of the header.
const VENDOR: usize = 0x00;
const DEVICE: usize = 0x02;
const COMMAND: usize = 0x04;
const STATUS: usize = 0x06;
const CLASS: usize = 0x08;
const CACHE_LINE: usize = 0x0c;
const BAR0: usize = 0x10;
const SUBSYSTEM_VENDOR: usize = 0x2c;
const SUBSYSTEM: usize = 0x2e;
const CAPABILITIES: usize = 0x34;
const INTERRUPT_LINE: usize = 0x3c;

/// Capabilities, where a ConnectX has them.
const POWER: usize = 0x40;
const PRODUCT_DATA: usize = 0x48;
const EXPRESS: usize = 0x60;
const MSIX: usize = 0x9c;
const GATEWAY: usize = 0xc0;

/// [`COMMAND`]: BAR 0 is decoded; the device reaches memory; the bits that can be set (also parity, SERR, no INTx).
const COMMAND_MEMORY: u16 = 1 << 1;
const COMMAND_MASTER: u16 = 1 << 2;
const COMMAND_BITS: u16 = COMMAND_MEMORY | COMMAND_MASTER | 1 << 6 | 1 << 8 | 1 << 10;
/// [`STATUS`]: there are capabilities.
const STATUS_CAPABILITIES: u16 = 1 << 4;
/// [`BAR0`]: 64 bits, prefetchable.
const BAR_KIND: u32 = 0b1100;
/// Power state in [`POWER`] + 4: D0 if 0.
const POWER_STATE: u16 = 3;
/// Device control in [`EXPRESS`] + 8: a 1 here resets the function, and it reads as 0.
const FUNCTION_LEVEL_RESET: u16 = 1 << 15;

/// Address of vital product data.
const PRODUCT_DATA_FLAG: u16 = 1 << 15;

/// Effect of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The function is to be reset.
    Reset,
}

/// The configuration space.
#[derive(Clone)]
pub(super) struct ConfigSpace {
    generation: Generation,
    bytes: Box<[u8; CONFIG_BYTES]>,
    /// Bits that drivers can change.
    writable: Box<[u8; CONFIG_BYTES]>,
    guid: u64,
    product_data: Vec<u8>,
    gateway: Gateway,
}

impl ConfigSpace {
    /// That of a board with this GUID.
    pub(super) fn new(generation: Generation, guid: u64) -> Self {
        let mut space = Self {
            generation,
            bytes: Box::new([0; CONFIG_BYTES]),
            writable: Box::new([0; CONFIG_BYTES]),
            guid,
            product_data: product_data::of(generation, guid),
            gateway: Gateway::new(),
        };
        space.put_header();
        space.put_power(PRODUCT_DATA);
        space.put_product_data(EXPRESS);
        space.put_express(MSIX);
        space.put_msix(GATEWAY);
        // Vendor-specific.
        space.put(GATEWAY, [0x09, 0, gateway::BYTES as u8]);
        space
    }

    /// As at first.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.generation, self.guid);
    }

    /// BAR 0 answers.
    pub(super) fn decodes_memory(&self) -> bool {
        self.get16(COMMAND) & COMMAND_MEMORY != 0 && self.is_powered()
    }

    /// The device may reach memory and interrupt.
    pub(super) fn masters_bus(&self) -> bool {
        self.get16(COMMAND) & COMMAND_MASTER != 0 && self.is_powered()
    }

    fn is_powered(&self) -> bool {
        self.get16(POWER + 4) & POWER_STATE == 0
    }

    /// Reads from byte `at` on; zeros past the end.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) {
        // Registers of the gateway that this looks at, each once.
        let mut looked = None;
        for (index, byte) in out.iter_mut().enumerate() {
            let at = at.saturating_add(index);
            *byte = match at.checked_sub(GATEWAY) {
                Some(within @ 4..gateway::BYTES) => {
                    let register = within & !3;
                    let (_, word) = looked
                        .filter(|&(known, _)| known == register)
                        .unwrap_or_else(|| (register, self.gateway.read(register)));
                    looked = Some((register, word));
                    word.to_le_bytes()[within % 4]
                }
                _ => self.bytes.get(at).copied().unwrap_or(0),
            };
        }
    }

    /// Writes from byte `at` on. Bytes past the end are lost, as are pieces of the gateway's registers.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> Option<Change> {
        for (index, &byte) in bytes.iter().enumerate() {
            let Some(at) = at.checked_add(index).filter(|&at| at < CONFIG_BYTES) else { break };
            let mask = self.writable[at];
            self.bytes[at] = self.bytes[at] & !mask | byte & mask;
            if at == PRODUCT_DATA + 3 {
                self.look_up();
            }
            let register = at.checked_sub(GATEWAY).filter(|within| (4..gateway::BYTES).contains(within));
            let register = register.filter(|register| register % 4 == 0);
            if let (Some(register), Some(word)) = (register, bytes[index..].first_chunk()) {
                self.gateway.write(register, u32::from_le_bytes(*word));
            }
        }
        let control = self.get16(EXPRESS + 8);
        (control & FUNCTION_LEVEL_RESET != 0).then_some(Change::Reset)
    }

    /// Vital product data: bit 15 of the address turns when data has been read (to 1) or written (to 0). None of it can
    /// be written.
    fn look_up(&mut self) {
        let address = self.get16(PRODUCT_DATA + 2);
        if address & PRODUCT_DATA_FLAG == 0 {
            let at = usize::from(address);
            let data = std::array::from_fn(|byte| self.product_data.get(at + byte).copied().unwrap_or(0));
            self.put::<4>(PRODUCT_DATA + 4, data);
        }
        self.put(PRODUCT_DATA + 2, (address ^ PRODUCT_DATA_FLAG).to_le_bytes());
    }

    fn get16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        self.bytes[at..at + N].copy_from_slice(&value);
    }

    fn permit<const N: usize>(&mut self, at: usize, bits: [u8; N]) {
        self.writable[at..at + N].copy_from_slice(&bits);
    }

    fn put_header(&mut self) {
        self.put(VENDOR, identity::VENDOR.to_le_bytes());
        self.put(DEVICE, identity::device(self.generation).to_le_bytes());
        self.permit(COMMAND, COMMAND_BITS.to_le_bytes());
        self.put(STATUS, STATUS_CAPABILITIES.to_le_bytes());
        // Revision 0; an Ethernet controller.
        self.put(CLASS, [0, 0x00, 0x00, 0x02]);
        self.permit(CACHE_LINE, [0xff]);
        self.put(BAR0, BAR_KIND.to_le_bytes());
        self.permit(BAR0, (!(BAR_BYTES - 1)).to_le_bytes());
        self.put(SUBSYSTEM_VENDOR, identity::VENDOR.to_le_bytes());
        self.put(SUBSYSTEM, identity::SUBSYSTEM.to_le_bytes());
        self.put(CAPABILITIES, [POWER as u8]);
        // There is no interrupt pin: MSI-X only.
        self.permit(INTERRUPT_LINE, [0xff]);
    }

    /// Power management, version 3: no PME; a change from D3 to D0 keeps the function as it is.
    fn put_power(&mut self, next: usize) {
        self.put(POWER, [0x01, next as u8, 0x03, 0x00, 1 << 3, 0, 0, 0]);
        self.permit(POWER + 4, [POWER_STATE as u8]);
    }

    /// Vital product data: an address, and the data there.
    fn put_product_data(&mut self, next: usize) {
        self.put(PRODUCT_DATA, [0x03, next as u8]);
        self.permit(PRODUCT_DATA + 2, [0xff; 6]);
    }

    /// PCI Express, version 2: an endpoint that can be reset by itself.
    fn put_express(&mut self, next: usize) {
        let speed = identity::link_speed(self.generation);
        self.put(EXPRESS, [0x10, next as u8, 0x02, 0x00]);
        // Payloads of 512 bytes, extended tags, role-based errors, function-level reset.
        self.put(EXPRESS + 4, (2_u32 | 1 << 5 | 1 << 15 | 1 << 28).to_le_bytes());
        // Error reporting, relaxed ordering, payload, extended tags, no snoop, read request, reset.
        self.permit(EXPRESS + 8, 0xf97f_u16.to_le_bytes());
        // Relaxed ordering, no snoop, read requests of 512 bytes.
        self.put(EXPRESS + 8, (1_u16 << 4 | 1 << 11 | 2 << 12).to_le_bytes());
        // Its link has 16 lanes, and trains to that.
        self.put(EXPRESS + 0x0c, (u32::from(speed) | 16 << 4).to_le_bytes());
        self.permit(EXPRESS + 0x10, [0x43, 0x00]);
        self.put(EXPRESS + 0x12, (u16::from(speed) | 16 << 4).to_le_bytes());
        // Completion timeouts can be chosen or switched off.
        self.put(EXPRESS + 0x24, 0x1f_u32.to_le_bytes());
        self.permit(EXPRESS + 0x28, [0x1f]);
        // Speeds up to this one.
        self.put(EXPRESS + 0x2c, ((2_u32 << speed) - 2).to_le_bytes());
        self.put(EXPRESS + 0x30, [speed]);
    }

    /// MSI-X, table and pending bits in BAR 0.
    fn put_msix(&mut self, next: usize) {
        self.put(MSIX, [0x11, next as u8]);
        self.put(MSIX + 2, (VECTORS - 1).to_le_bytes());
        self.permit(MSIX + 2, 0xc000_u16.to_le_bytes());
        self.put(MSIX + 4, (MSIX_TABLE_OFFSET as u32).to_le_bytes());
        self.put(MSIX + 8, (MSIX_PBA_OFFSET as u32).to_le_bytes());
    }
}
