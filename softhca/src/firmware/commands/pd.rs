//! Protection domains.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    struct alloc_pd_in: command {}
    struct alloc_pd_out: answer { PD: 0x48, 24; }
    struct dealloc_pd_in: command { PD: 0x48, 24; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x800, "ALLOC_PD", alloc_pd_in, alloc_pd_out, alloc),
    command!(0x801, "DEALLOC_PD", dealloc_pd_in, bare_out, dealloc),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let pd = call.device.alloc_pd()?;
    call.created(Object::Pd, pd);
    call.output.set(alloc_pd_out::PD, pd.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Pd, dealloc_pd_in::PD, |device, pd| device.free_pd(pd))
}
