//! The initialization segment: the registers at the beginning of BAR 0. Numbers are big endian.

use super::command_queue::{LOG_SLOTS, LOG_STRIDE};

/// Bytes of the segment that are registers.
pub(super) const BYTES: u64 = 0x2000;

/// Where in the segment is what.
const FIRMWARE_REVISION: u64 = 0x0;
const INTERFACE_REVISION: u64 = 0x4;
const QUEUE_HIGH: u64 = 0x10;
const QUEUE_LOW: u64 = 0x14;
const DOORBELL: u64 = 0x18;
const INITIALIZING: u64 = 0x1fc;
const HEALTH: u64 = 0x200;
const HEALTH_FIRMWARE: u64 = HEALTH + 0x30;
const HEALTH_HARDWARE: u64 = HEALTH + 0x34;
const TIMER_HIGH: u64 = 0x1000;
const TIMER_LOW: u64 = 0x1004;
const HEALTH_COUNTER: u64 = 0x1010;

/// Revision of the command interface.
const INTERFACE: u32 = 5;
/// Size and stride of the command queue, in the low byte of [`QUEUE_LOW`].
const QUEUE_SHAPE: u32 = LOG_SLOTS << 4 | LOG_STRIDE;
/// Whose the interface is: bits 10:8 of [`QUEUE_LOW`]. 0 is the driver's.
const INTERFACE_MASK: u32 = 7 << 8;
/// Address bits of [`QUEUE_LOW`].
const ADDRESS_MASK: u32 = !0xfff;

/// What registers say that others know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Version of the firmware.
    pub(super) firmware: [u16; 3],
    /// Number of the PCI device.
    pub(super) hardware: u16,
    /// Ticks of the internal timer.
    pub(super) timer: u64,
    /// It advances as long as the device is well.
    pub(super) health_counter: u32,
}

/// What a store to the segment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Commands are in these slots, a bit for each.
    Commands(u32),
}

/// The registers that a driver writes.
#[derive(Clone, Debug, Default)]
pub(super) struct InitSegment {
    queue_high: u32,
    queue_low: u32,
}

impl InitSegment {
    /// The command queue's address, if the driver has said it and has the interface.
    pub(super) fn queue(&self) -> Option<u64> {
        let address = u64::from(self.queue_high) << 32 | u64::from(self.queue_low & ADDRESS_MASK);
        (address != 0 && self.queue_low & INTERFACE_MASK == 0).then_some(address)
    }

    /// The 32-bit register at byte `at`, a multiple of 4.
    pub(super) fn read(&self, at: u64, facts: &Facts) -> u32 {
        let [major, minor, sub_minor] = facts.firmware.map(u32::from);
        match at {
            FIRMWARE_REVISION => minor << 16 | major,
            INTERFACE_REVISION => INTERFACE << 16 | sub_minor,
            QUEUE_HIGH => self.queue_high,
            QUEUE_LOW => self.queue_low | QUEUE_SHAPE,
            // Bit 31 while the device starts.
            INITIALIZING => 0,
            HEALTH_FIRMWARE => major << 24 | minor << 16 | sub_minor,
            HEALTH_HARDWARE => facts.hardware.into(),
            TIMER_HIGH => (facts.timer >> 32) as u32,
            TIMER_LOW => facts.timer as u32,
            HEALTH_COUNTER => facts.health_counter,
            _ => 0,
        }
    }

    /// Stores to the 32-bit register at byte `at`, a multiple of 4: the bits of `mask` become those of `word`.
    pub(super) fn write(&mut self, at: u64, word: u32, mask: u32) -> Option<Request> {
        let merge = |old: u32| old & !mask | word & mask;
        match at {
            QUEUE_HIGH => self.queue_high = merge(self.queue_high),
            QUEUE_LOW => self.queue_low = merge(self.queue_low) & (ADDRESS_MASK | INTERFACE_MASK),
            DOORBELL => return Some(Request::Commands(word & mask)),
            _ => {}
        }
        None
    }
}
