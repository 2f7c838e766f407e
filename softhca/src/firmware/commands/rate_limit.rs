//! Rates of send queues.

use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::capabilities::has_clock_queues;
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;
use crate::resources::{Rate, RateMode};

layout! {
    /// A rate.
    struct set_pp_rate_limit_context: 0x30 bytes {
        RATE_LIMIT: 0x0, 32;
        BURST_UPPER_BOUND: 0x20, 32;
        RATE_MODE: 0x4c, 4;
        TYPICAL_PACKET_SIZE: 0x50, 16;
    }
    struct set_pp_rate_limit_in: command 0x40 bytes {
        RATE_LIMIT_INDEX: 0x50, 16;
    } parts { CTX: 0x80, set_pp_rate_limit_context; }
}

pub(super) const COMMANDS: &[Command] = &[command!(0x780, "SET_PP_RATE_LIMIT", set_pp_rate_limit_in, bare_out, set)];

/// `rate_mode`: kbit/s of data, or WQEs a second (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_DATA_RATE`,
/// `MLX5_WQE_RATE`). The latter are a capability, `wqe_rate_pp`.
const DATA_RATE: u64 = 0;
const WQE_RATE: u64 = 1;

/// A driver sets entries, and clears them by zeros (Linux `drivers/net/ethernet/mellanox/mlx5/core/rl.c`,
/// `mlx5_set_pp_rate_limit_cmd`). `uid` says for whom: here, all users can refer to all entries.
fn set(call: &mut Call<'_>) -> Result<(), Refusal> {
    let index = call.input.get(set_pp_rate_limit_in::RATE_LIMIT_INDEX) as u16;
    let context = call.input.part(set_pp_rate_limit_in::CTX);
    let mode = match context.get(set_pp_rate_limit_context::RATE_MODE) {
        DATA_RATE => RateMode::Data,
        WQE_RATE if has_clock_queues(call.device.config()) => RateMode::Wqes,
        other => return Err(Refusal::parameter(format!("rate_mode {other} is not a capability of this device"))),
    };
    let rate = Rate {
        limit: context.get32(set_pp_rate_limit_context::RATE_LIMIT),
        mode,
        burst: context.get32(set_pp_rate_limit_context::BURST_UPPER_BOUND),
        typical: context.get(set_pp_rate_limit_context::TYPICAL_PACKET_SIZE) as u16,
    };
    let cleared = (rate.limit, rate.burst, rate.typical) == (0, 0, 0);
    Ok(call.device.set_rate(index, (!cleared).then_some(rate))?)
}
