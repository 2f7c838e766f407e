//! Signature values (PSVs), which formats of memory keys name.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    /// `CREATE_PSV`.
    create_psv_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        NUM_PSV: 0x40, 4;
        PD: 0x48, 24;
    }
}
layout! {
    /// Its output.
    create_psv_out: 0x20 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
        PSV0_INDEX: 0x88, 24;
        PSV1_INDEX: 0xa8, 24;
        PSV2_INDEX: 0xc8, 24;
        PSV3_INDEX: 0xe8, 24;
    }
}
layout! {
    /// `DESTROY_PSV`.
    destroy_psv_in: 0x10 bytes {
        OPCODE: 0x0, 16;
        OP_MOD: 0x30, 16;
        PSVN: 0x48, 24;
    }
}

pub(super) const COMMANDS: &[Command] = &[
    command(0x600, "CREATE_PSV", &create_psv_in::LAYOUT, &create_psv_out::LAYOUT, create),
    command(0x601, "DESTROY_PSV", &destroy_psv_in::LAYOUT, &bare_out::LAYOUT, destroy),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let pd = call.input.get32(create_psv_in::PD);
    call.check_use(Object::Pd, pd)?;
    let places = [
        create_psv_out::PSV0_INDEX,
        create_psv_out::PSV1_INDEX,
        create_psv_out::PSV2_INDEX,
        create_psv_out::PSV3_INDEX,
    ];
    let count = call.input.get(create_psv_in::NUM_PSV) as usize;
    let Some(places) = places.get(..count).filter(|places| !places.is_empty()) else {
        return Err(Refusal::parameter(format!("{count} signature values at once; 1 to 4")));
    };
    for (number, place) in call.device.create_psvs(pd, places.len())?.into_iter().zip(places) {
        call.created(Object::Psv, number);
        call.output.set(*place, number.into());
    }
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    let number = call.input.get32(destroy_psv_in::PSVN);
    call.check_owner(Object::Psv, number)?;
    call.device.destroy_psv(number)?;
    call.destroyed(Object::Psv, number);
    Ok(())
}
