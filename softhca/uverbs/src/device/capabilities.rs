//! What the firmware says that it can do, as far as a kernel driver acts on it (`QUERY_HCA_CAP`).

use crate::abi::mailbox::{self, Field, OP_MOD, field};
use softhca::device::Device;
use softhca::firmware::{Firmware, Status};

const QUERY_HCA_CAP: u16 = 0x100;
/// Kinds of capabilities (`enum mlx5_cap_type`).
const GENERAL: u64 = 0;
/// Those that are in use now, and not the most that there could be.
const CURRENT: u64 = 1;
/// Bytes of `query_hca_cap_out`, and of what comes before the capabilities in it.
const OUTPUT_BYTES: usize = 0x1010;
const BEFORE: usize = 0x10;

/// Of `cmd_hca_cap`.
const LOG_MAX_UCTX: Field = field(0x463, 5);
const APU: Field = field(0x688, 1);
const UCTX_CAP: Field = field(0x6a0, 32);
const VHCA_TUNNEL_COMMANDS: Field = field(0x780, 64);

/// What a device can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// It can tell its users apart, who may send commands.
    pub(crate) users: bool,
    /// What users may be permitted to (`MLX5_UCTX_CAP_*`).
    pub(crate) user_caps: u32,
    /// CQs can be others' than a program's.
    pub(crate) apu: bool,
    /// Commands for another function pass.
    pub(crate) vhca_tunnel: bool,
}

impl Capabilities {
    /// Asks the firmware.
    pub(super) fn of(firmware: &mut Firmware, device: &mut Device) -> Self {
        let mut query = |kind: u64| {
            let mut input = mailbox::command(QUERY_HCA_CAP, 0, mailbox::HEADER_BYTES);
            OP_MOD.set(&mut input, kind << 1 | CURRENT);
            let mut output = vec![0; OUTPUT_BYTES];
            let status = firmware.execute(device, &input, &mut output);
            (status == Status::Ok).then(|| output.split_off(BEFORE))
        };
        let Some(general) = query(GENERAL) else {
            return Self { users: true, user_caps: 0, apu: false, vhca_tunnel: false };
        };
        Self {
            users: LOG_MAX_UCTX.get(&general) != 0,
            user_caps: UCTX_CAP.get32(&general),
            apu: APU.get(&general) != 0,
            vhca_tunnel: VHCA_TUNNEL_COMMANDS.get(&general) != 0,
        }
    }
}
