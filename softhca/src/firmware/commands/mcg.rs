//! Multicast groups of QPs.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    struct attach_to_mcg_in: query 0x20 bytes { QPN: 0x48, 24; MULTICAST_GID: 0x80, 128; }
    struct detach_from_mcg_in: query 0x20 bytes { QPN: 0x48, 24; MULTICAST_GID: 0x80, 128; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x806, "ATTACH_TO_MCG", attach_to_mcg_in, bare_out, attach),
    command!(0x807, "DETACH_FROM_MCG", detach_from_mcg_in, bare_out, detach),
];

fn attach(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = call.owned(Object::Qp, attach_to_mcg_in::QPN)?;
    Ok(call.device.attach_to_group(qpn, call.input.bytes(attach_to_mcg_in::MULTICAST_GID))?)
}

fn detach(call: &mut Call<'_>) -> Result<(), Refusal> {
    let qpn = call.owned(Object::Qp, detach_from_mcg_in::QPN)?;
    Ok(call.device.detach_from_group(qpn, call.input.bytes(detach_from_mcg_in::MULTICAST_GID))?)
}
