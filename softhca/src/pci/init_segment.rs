//! The initialization segment: the registers at the beginning of BAR 0. Numbers are big endian.
//!
//! | byte | register |
//! |---|---|
//! | 0x0, 0x4 | versions of firmware and command interface |
//! | 0x10, 0x14 | address of the command queue; owner of the interface; size and stride of the queue |
//! | 0x18 | doorbell of commands: a bit for each slot |
//! | 0x1fc | whether the device still starts, and its abilities before |
//! | 0x200 | health buffer: what went wrong |
//! | 0x1000 | internal timer, in ticks of CQE timestamps |
//! | 0x1010 | health counter |
//! | 0x1040 | the time, if timestamps can have it: seconds, nanoseconds |

use super::command_queue::{LOG_SLOTS, LOG_STRIDE};

/// Bytes of the segment.
pub(super) const BYTES: u64 = 0x2000;

/// Offsets of the registers in the segment.
const FIRMWARE_REVISION: u64 = 0x0;
const INTERFACE_REVISION: u64 = 0x4;
const QUEUE_HIGH: u64 = 0x10;
const QUEUE_LOW: u64 = 0x14;
const DOORBELL: u64 = 0x18;
const INITIALIZING: u64 = 0x1fc;
const HEALTH_TIME: u64 = 0x22c;
const HEALTH_FIRMWARE: u64 = 0x230;
const HEALTH_HARDWARE: u64 = 0x234;
const HEALTH_SEVERITY: u64 = 0x238;
const HEALTH_SYNDROME: u64 = 0x23c;
const TIMER_HIGH: u64 = 0x1000;
const TIMER_LOW: u64 = 0x1004;
const HEALTH_COUNTER: u64 = 0x1010;
const REAL_TIME_HIGH: u64 = 0x1040;
const REAL_TIME_LOW: u64 = 0x1044;

/// Revision of the command interface.
const INTERFACE: u32 = 5;
/// [`QUEUE_LOW`]: size and stride of the command queue, which only the device says.
const QUEUE_SHAPE: u32 = LOG_SLOTS << 4 | LOG_STRIDE;
/// [`QUEUE_LOW`]: owner of the interface, in bits 10:8; and the address.
const INTERFACE_SHIFT: u32 = 8;
const INTERFACE_MASK: u32 = 7;
const ADDRESS_MASK: u32 = !0xfff;
/// Owner of the interface: the driver; none; none, and the firmware restarts.
const FULL_DRIVER: u32 = 0;
const DISABLED: u32 = 1;
const SOFTWARE_RESET: u32 = 7;
/// [`INITIALIZING`]: bit 31, which is 0 here, is set while the device starts. A driver may restart the firmware (bit
/// 30); the interface can be the driver's (bit 24) or disabled (bit 25).
const CAN_DO: u32 = 1 << 30 | 1 << 25 | 1 << 24;
/// [`HEALTH_SEVERITY`]: the driver is asked to restart the firmware (bit 7 of the first byte); the severity is valid
/// (bit 3), and "critical" (2), as syslog counts.
const WANTS_RESET: u32 = (1 << 7 | 1 << 3 | 2) << 24;
/// [`HEALTH_SYNDROME`], in its second byte: internal error of the firmware (Linux
/// `MLX5_INITIAL_SEG_HEALTH_SYNDROME_FW_INTERNAL_ERR`).
const INTERNAL_ERROR: u32 = 1 << 16;

/// Register values that come from other parts of the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Version of the firmware.
    pub(super) firmware: [u16; 3],
    /// Number of the PCI device.
    pub(super) hardware: u16,
    /// Ticks of the internal timer.
    pub(super) timer: u64,
    /// Seconds since 1970 in the upper half, nanoseconds in the lower one; 0 of a device that has no such time.
    pub(super) real_time: u64,
    /// It advances as long as the device is well.
    pub(super) health_counter: u32,
    /// The device has failed, at this second.
    pub(super) failed_at: Option<u32>,
}

/// The request in a store to the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Commands are in these slots, a bit for each.
    Commands(u32),
    /// A driver begins: it has said where its command queue is.
    Begin,
    /// The driver gives the interface up, and everything with it.
    Disable,
    /// The firmware restarts. When it has, the interface is disabled.
    Restart,
}

/// The registers that a driver writes.
#[derive(Clone, Debug)]
pub(super) struct InitSegment {
    queue_high: u32,
    /// Address alone.
    queue_low: u32,
    /// Owner of the interface.
    interface: u32,
}

impl Default for InitSegment {
    /// No driver has the interface. So a driver notices that the function was reset behind its back.
    fn default() -> Self {
        Self { queue_high: 0, queue_low: 0, interface: DISABLED }
    }
}

impl InitSegment {
    /// The command queue's address, if the driver has said it and has the interface.
    pub(super) fn queue(&self) -> Option<u64> {
        let address = u64::from(self.queue_high) << 32 | u64::from(self.queue_low);
        (address != 0 && self.interface == FULL_DRIVER).then_some(address)
    }

    /// The 32-bit register at byte `at`, a multiple of 4.
    pub(super) fn read(&self, at: u64, facts: &Facts) -> u32 {
        let [major, minor, sub_minor] = facts.firmware.map(u32::from);
        match at {
            FIRMWARE_REVISION => minor << 16 | major,
            INTERFACE_REVISION => INTERFACE << 16 | sub_minor,
            QUEUE_HIGH => self.queue_high,
            QUEUE_LOW => self.queue_low | self.interface << INTERFACE_SHIFT | QUEUE_SHAPE,
            INITIALIZING => CAN_DO,
            HEALTH_TIME => facts.failed_at.unwrap_or(0),
            HEALTH_FIRMWARE => major << 24 | minor << 16 | sub_minor,
            HEALTH_HARDWARE => facts.hardware.into(),
            HEALTH_SEVERITY => facts.failed_at.map_or(0, |_| WANTS_RESET),
            HEALTH_SYNDROME => facts.failed_at.map_or(0, |_| INTERNAL_ERROR),
            TIMER_HIGH => (facts.timer >> 32) as u32,
            TIMER_LOW => facts.timer as u32,
            REAL_TIME_HIGH => (facts.real_time >> 32) as u32,
            REAL_TIME_LOW => facts.real_time as u32,
            HEALTH_COUNTER => facts.health_counter,
            _ => 0,
        }
    }

    /// Stores to the 32-bit register at byte `at`, a multiple of 4: the bits of `mask` become those of `word`.
    pub(super) fn write(&mut self, at: u64, word: u32, mask: u32) -> Option<Request> {
        let merge = |old: u32| old & !mask | word & mask;
        match at {
            QUEUE_HIGH => {
                self.queue_high = merge(self.queue_high);
                None
            }
            QUEUE_LOW => {
                let merged = merge(self.queue_low | self.interface << INTERFACE_SHIFT);
                self.queue_low = merged & ADDRESS_MASK;
                match merged >> INTERFACE_SHIFT & INTERFACE_MASK {
                    FULL_DRIVER => {
                        self.interface = FULL_DRIVER;
                        Some(Request::Begin)
                    }
                    DISABLED => {
                        self.interface = DISABLED;
                        Some(Request::Disable)
                    }
                    SOFTWARE_RESET => {
                        // It takes no time.
                        self.interface = DISABLED;
                        Some(Request::Restart)
                    }
                    other => {
                        log::warn!("interface {other} in the initialization segment: there is none");
                        None
                    }
                }
            }
            DOORBELL => Some(Request::Commands(word & mask)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        firmware: [16, 35, 4030],
        hardware: 0x1017,
        timer: 0x1_0000_0002,
        real_time: 0x3_0000_0004,
        health_counter: 7,
        failed_at: None,
    };

    #[test]
    fn registers_are_where_linux_reads_them() {
        let segment = InitSegment::default();
        // By hand, from struct mlx5_init_seg and struct health_buffer.
        let expected = [
            (0x0, 0x0023_0010),
            (0x4, 0x0005_0fbe),
            (0x10, 0),
            (0x14, 0x156),
            (0x1fc, 0x4300_0000),
            (0x230, 0x1023_0fbe),
            (0x234, 0x1017),
            (0x238, 0),
            (0x23c, 0),
            (0x1000, 1),
            (0x1004, 2),
            (0x1010, 7),
            (0x1040, 3),
            (0x1044, 4),
            (0x1ffc, 0),
        ];
        for (at, word) in expected {
            assert_eq!(segment.read(at, &FACTS), word, "{at:#x}");
        }
        let failed = Facts { failed_at: Some(9), ..FACTS };
        let health = [0x22c, 0x238, 0x23c].map(|at| segment.read(at, &failed));
        assert_eq!(health, [9, 0x8a00_0000, 0x0001_0000]);
    }

    #[test]
    fn the_queue_is_there_while_the_driver_has_the_interface() {
        let mut segment = InitSegment::default();
        assert_eq!(segment.queue(), None);
        assert_eq!(segment.write(0x10, 1, !0), None);
        assert_eq!(segment.write(0x14, 0x1234_5000, !0), Some(Request::Begin));
        assert_eq!((segment.queue(), segment.read(0x14, &FACTS)), (Some(0x1_1234_5000), 0x1234_5056));
        assert_eq!(segment.write(0x14, 0x1234_5100, !0), Some(Request::Disable));
        assert_eq!((segment.queue(), segment.read(0x14, &FACTS)), (None, 0x1234_5156));
        assert_eq!(segment.write(0x14, 0x1234_5700, !0), Some(Request::Restart));
        assert_eq!(segment.read(0x14, &FACTS), 0x1234_5156, "it has started anew, and nobody has the interface");
        assert_eq!(segment.write(0x14, 0x1234_5300, !0), None);
        assert_eq!(segment.read(0x14, &FACTS), 0x1234_5156);
        // One byte of the doorbell.
        assert_eq!(segment.write(0x18, 0xffff_ffff, 0xff), Some(Request::Commands(0xff)));
        assert_eq!(segment.write(0x1c, 1, !0), None);
    }
}
