//! Registers that programs read.

use crate::cmd::{Opcode, Status};
use crate::mailbox::{commands, names, structures};

structures! {
    /// Accesses a register, whose contents follow.
    pub struct AccessRegisterIn: "access_register_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, RegisterAccess;
        register_id: 0x50, 16, RegisterId;
        argument: 0x60, 32, u32;
    }

    /// Answer to [`AccessRegisterIn`]; the register's contents follow.
    pub struct AccessRegisterOut: "access_register_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// The device's clock.
    pub struct RegisterMtutc: "register_mtutc", 0xe0 {
        time_stamp_mode: 0x0, 2, TimeStampMode;
        time_stamp_state: 0x2, 2, u8;
        operation: 0x1c, 4, u8;
        freq_adjustment: 0x20, 32, u32;
        utc_sec: 0x80, 32, u32;
        utc_nsec: 0xa0, 32, u32;
        time_adjustment: 0xc0, 32, u32;
    }
}

commands! {
    AccessRegisterIn => AccessRegisterOut, ACCESS_REGISTER_USER, Controls;
}

names! {
    /// Whether a register is read or written (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `MLX5_ACCESS_REGISTER_IN_OP_MOD_READ`).
    pub struct RegisterAccess(u16) {
        /// It is written.
        WRITE = 0,
        /// It is read.
        READ = 1,
    }

    /// Which register (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_REGISTER_ID_*`).
    pub struct RegisterId(u16) {
        /// [`RegisterMtutc`].
        MTUTC = 0x9055,
    }

    /// The mode of the device's clock (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_MTUTC_TIMESTAMP_MODE_*`).
    pub struct TimeStampMode(u8) {
        /// Ticks of a free-running timer.
        INTERNAL_TIMER = 0,
        /// Seconds since 1970 and nanoseconds.
        REAL_TIME = 1,
    }
}
