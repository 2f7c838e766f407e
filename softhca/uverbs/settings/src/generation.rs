//! Which ConnectX the devices are.

use crate::words::words;

words! {
    /// A generation of ConnectX, the oldest first.
    #[cfg_attr(feature = "clap", derive(clap::ValueEnum), value(rename_all = "lower"))]
    pub enum Generation {
        /// ConnectX-5 (MT27800).
        ConnectX5 = "connectx5",
        /// ConnectX-6 Dx (MT2892).
        ConnectX6Dx = "connectx6dx",
        /// ConnectX-7 (MT2910).
        ConnectX7 = "connectx7",
        /// ConnectX-8 (CX8).
        ConnectX8 = "connectx8",
    }
}

impl Generation {
    /// PCI device (Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`, `mlx5_core_pci_table`).
    #[must_use]
    pub fn device_id(self) -> u32 {
        match self {
            Self::ConnectX5 => 0x1017,
            Self::ConnectX6Dx => 0x101d,
            Self::ConnectX7 => 0x1021,
            Self::ConnectX8 => 0x1023,
        }
    }

    /// It has a second PCI function for memory of other devices (Linux `drivers/infiniband/hw/mlx5/data_direct.c`,
    /// `mlx5_data_direct_pci_table`).
    #[must_use]
    pub fn has_data_direct(self) -> bool {
        self == Self::ConnectX8
    }

    /// Firmware version: major, minor, sub-minor. Each generation has a major number of its own.
    #[must_use]
    pub fn firmware(self) -> [u16; 3] {
        match self {
            Self::ConnectX5 => [16, 35, 4030],
            Self::ConnectX6Dx => [22, 35, 4030],
            Self::ConnectX7 => [28, 35, 4030],
            Self::ConnectX8 => [40, 44, 1036],
        }
    }

    /// Board.
    #[must_use]
    pub fn board_id(self) -> &'static str {
        match self {
            Self::ConnectX5 => "SFT0000000001",
            Self::ConnectX6Dx => "SFT0000000002",
            Self::ConnectX7 => "SFT0000000003",
            Self::ConnectX8 => "SFT0000000004",
        }
    }
}

impl From<Generation> for softhca::config::Generation {
    fn from(generation: Generation) -> Self {
        match generation {
            Generation::ConnectX5 => Self::ConnectX5,
            Generation::ConnectX6Dx => Self::ConnectX6Dx,
            Generation::ConnectX7 => Self::ConnectX7,
            Generation::ConnectX8 => Self::ConnectX8,
        }
    }
}
