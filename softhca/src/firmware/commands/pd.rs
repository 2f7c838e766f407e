//! Protection domains.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    /// `ALLOC_PD`.
    alloc_pd_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// Its output.
    alloc_pd_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        PD: 0x48, 24;
    }
}
layout! {
    /// `DEALLOC_PD`.
    dealloc_pd_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
        PD: 0x48, 24;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command(0x800, "ALLOC_PD", &alloc_pd_in::LAYOUT, &alloc_pd_out::LAYOUT, alloc),
    command(0x801, "DEALLOC_PD", &dealloc_pd_in::LAYOUT, &bare_out::LAYOUT, dealloc),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let pd = call.device.alloc_pd()?;
    call.created(Object::Pd, pd);
    call.output.set(alloc_pd_out::PD, pd.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let pd = call.input.get32(dealloc_pd_in::PD);
    call.check_owner(Object::Pd, pd)?;
    call.device.free_pd(pd)?;
    call.destroyed(Object::Pd, pd);
    Ok(())
}
