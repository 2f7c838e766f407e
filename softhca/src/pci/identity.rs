//! The identity of a function.

use crate::config::Generation;

/// NVIDIA (Mellanox).
pub(super) const VENDOR: u16 = 0x15b3;
/// The board; NVIDIA has none of this number.
pub(super) const SUBSYSTEM: u16 = 0x0007;

/// Number of the PCI device (Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`, `mlx5_core_pci_table`).
pub(super) fn device(generation: Generation) -> u16 {
    match generation {
        Generation::ConnectX5 => 0x1017,
        Generation::ConnectX6Dx => 0x101d,
        Generation::ConnectX7 => 0x1021,
        Generation::ConnectX8 => 0x1023,
    }
}

/// Version of the firmware: major, minor, sub-minor; as of the devices that the preloaded object shows.
pub(super) fn firmware(generation: Generation) -> [u16; 3] {
    match generation {
        Generation::ConnectX5 => [16, 35, 4030],
        Generation::ConnectX6Dx => [22, 35, 4030],
        Generation::ConnectX7 => [28, 35, 4030],
        Generation::ConnectX8 => [40, 44, 1036],
    }
}

/// Speed of the link, as the PCIe capability counts it: 3 is 8 GT/s, 4 is 16, 5 is 32, 6 is 64.
pub(super) fn link_speed(generation: Generation) -> u8 {
    match generation {
        Generation::ConnectX5 => 3,
        Generation::ConnectX6Dx => 4,
        Generation::ConnectX7 => 5,
        Generation::ConnectX8 => 6,
    }
}
