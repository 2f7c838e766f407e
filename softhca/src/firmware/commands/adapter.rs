//! The device's identity: adapter, interface, and commands that concern no object.

use crate::config::Generation;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    /// The adapter.
    struct query_adapter_param_block: 0x100 bytes { IEEE_VENDOR_ID: 0xc8, 24; VSD_VENDOR_ID: 0xf0, 16; }
    struct query_adapter_in: query {}
    /// `QUERY_ISSI`: the version of the interface.
    struct query_issi_in: query {}
    struct set_issi_in: query { CURRENT_ISSI: 0x50, 16; }
    struct nop_in: query {}
    struct query_lag_in: command {}
    struct query_adapter_out: answer 0x110 bytes {} parts { QUERY_ADAPTER_STRUCT: 0x80, query_adapter_param_block; }
    /// Output of `QUERY_ISSI`: the version in use, and a bit for each supported version.
    struct query_issi_out: answer 0x70 bytes { CURRENT_ISSI: 0x50, 16; SUPPORTED_ISSI_DW0: 0x360, 32; }
    /// Ports that are one.
    struct lagc: 0x8 bytes { LAG_STATE: 0x1d, 3; TX_REMAP_AFFINITY_2: 0x34, 4; TX_REMAP_AFFINITY_1: 0x3c, 4; }
    struct query_lag_out: answer {} parts { CTX: 0x40, lagc; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x101, "QUERY_ADAPTER", query_adapter_in, query_adapter_out, query_adapter),
    command!(0x10a, "QUERY_ISSI", query_issi_in, query_issi_out, query_issi),
    command!(0x10b, "SET_ISSI", set_issi_in, bare_out, set_issi),
    command!(0x80d, "NOP", nop_in, bare_out, |_| Ok(())),
    command!(0x842, "QUERY_LAG", query_lag_in, query_lag_out, query_lag),
];

/// Mellanox' first block of Ethernet addresses (OUI).
const VENDOR: u64 = 0x02c9;
/// The interface whose commands these are.
const ISSI: u64 = 1;
/// First byte of the board's name in the adapter (`vsd_contd_psid`, 16 bytes).
const BOARD_AT: usize = 0xf0;

/// Name of the board: the same as of the object that is preloaded.
fn board(generation: Generation) -> &'static [u8] {
    match generation {
        Generation::ConnectX5 => b"SFT0000000001",
        Generation::ConnectX6Dx => b"SFT0000000002",
        Generation::ConnectX7 => b"SFT0000000003",
        Generation::ConnectX8 => b"SFT0000000004",
    }
}

fn query_adapter(call: &mut Call<'_>) -> Result<(), Refusal> {
    let board = board(call.device.config().generation);
    let mut adapter = call.output.part(query_adapter_out::QUERY_ADAPTER_STRUCT);
    adapter.set(query_adapter_param_block::IEEE_VENDOR_ID, VENDOR);
    adapter.set(query_adapter_param_block::VSD_VENDOR_ID, VENDOR);
    adapter.put(BOARD_AT, board);
    Ok(())
}

fn query_issi(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.output.set(query_issi_out::CURRENT_ISSI, ISSI);
    call.output.set(query_issi_out::SUPPORTED_ISSI_DW0, 1 << ISSI);
    Ok(())
}

/// There is one interface, so a driver can only say that it is the one.
fn set_issi(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.check_driver()?;
    match call.input.get(set_issi_in::CURRENT_ISSI) {
        ISSI => Ok(()),
        other => Err(Refusal::parameter(format!("interface {other}; there is {ISSI} only"))),
    }
}

/// `lag_state`: there is a bond. Drivers compare with 0 (rdma-core `providers/mlx5/mlx5.c`, `_mlx5dv_query_qp_lag_port`;
/// UCX `src/uct/ib/mlx5/dv/ib_mlx5dv_md.c`).
const BONDED: u64 = 1;

/// The bond, and by which of its ports the queues of each send. Without a bond, all is 0.
fn query_lag(call: &mut Call<'_>) -> Result<(), Refusal> {
    let Some([first, second]) = call.device.lag_mapping() else { return Ok(()) };
    let mut context = call.output.part(query_lag_out::CTX);
    context.set(lagc::LAG_STATE, BONDED);
    context.set(lagc::TX_REMAP_AFFINITY_1, first.into());
    context.set(lagc::TX_REMAP_AFFINITY_2, second.into());
    Ok(())
}
