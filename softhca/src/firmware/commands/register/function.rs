//! Registers of the whole function.

use super::entry::Register;
use crate::context::TimestampFormat;
use crate::firmware::call::Call;
use crate::firmware::layout::{View, ViewMut, layout};
use crate::firmware::status::Refusal;

layout! {
    /// Name of the node, a text for people (IBTA vol. 1, 14.2.5.2). Linux has it as `struct mlx5_reg_node_desc`.
    struct node_desc: 0x40 bytes opaque {}
    /// Byte order of the host. Linux has it as `struct mlx5_reg_host_endianness`.
    struct host_endianness: 0x10 bytes opaque {}
}

layout! {
    /// The clock. Of DPDK (`drivers/common/mlx5/mlx5_prm.h`, `mlx5_ifc_register_mtutc_bits`): Linux has the same as
    /// `mtutc_reg`, without the mode.
    struct register_mtutc: 0x1c bytes { TIME_STAMP_MODE: 0x0, 2; }
}

pub(super) const MTUTC: Register =
    Register { id: 0x9055, layout: &register_mtutc::LAYOUT, read: Some(clock_mode), write: None };
pub(super) const NODE_DESC: Register =
    Register { id: 0x6001, layout: &node_desc::LAYOUT, read: Some(name), write: Some(set_name) };
pub(super) const HOST_ENDIANNESS: Register =
    Register { id: 0x7004, layout: &host_endianness::LAYOUT, read: None, write: Some(set_byte_order) };

/// Byte 0 of `HOST_ENDIANNESS` (Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`, `MLX5_SET_HOST_ENDIANNESS`).
const HOST_IS: u8 = if cfg!(target_endian = "big") { 0x80 } else { 0 };

/// `MLX5_MTUTC_TIMESTAMP_MODE_INTERNAL_TIMER` or `_REAL_TIME`. How the clock is set is not there.
fn clock_mode(call: &mut Call<'_>, _given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let mode = match call.device.config().clock_format() {
        TimestampFormat::FreeRunning => 0,
        TimestampFormat::RealTime => 1,
    };
    register.set(register_mtutc::TIME_STAMP_MODE, mode);
    Ok(())
}

fn name(call: &mut Call<'_>, _given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    register.put(0, &call.state.node_name);
    Ok(())
}

fn set_name(call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    let name = given.0.first_chunk().ok_or_else(|| Refusal::parameter("64 bytes of a name"))?;
    call.state.node_name = *name;
    register.put(0, name);
    Ok(())
}

/// Atomics are in the byte order of the host that the device runs on, and in no other.
fn set_byte_order(_call: &mut Call<'_>, given: View<'_>, register: &mut ViewMut<'_>) -> Result<(), Refusal> {
    match given.0.split_first() {
        Some((&HOST_IS, rest)) if rest.iter().all(|&byte| byte == 0) => register.put(0, &[HOST_IS]),
        _ => return Err(Refusal::parameter("not the byte order of this host")),
    }
    Ok(())
}
