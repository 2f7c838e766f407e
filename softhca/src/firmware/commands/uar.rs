//! UAR pages: where a driver rings doorbells.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    struct alloc_uar_in: command {}
    /// Output of `ALLOC_UAR`. The number is that of the page in the file of the device's own pages.
    struct alloc_uar_out: answer { UAR: 0x48, 24; }
    struct dealloc_uar_in: command { UAR: 0x48, 24; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x802, "ALLOC_UAR", alloc_uar_in, alloc_uar_out, alloc),
    command!(0x803, "DEALLOC_UAR", dealloc_uar_in, bare_out, dealloc),
];

fn alloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    let uar = call.device.alloc_uar()?;
    call.created(Object::Uar, uar);
    call.output.set(alloc_uar_out::UAR, uar.into());
    Ok(())
}

fn dealloc(call: &mut Call<'_>) -> Result<(), Refusal> {
    // This works with queues on the page: libmlx5 returns its pages before it destroys the queues that a program has
    // left, and Linux does not expect this to fail.
    call.destroy(Object::Uar, dealloc_uar_in::UAR, |device, uar| device.free_uar(uar))
}
