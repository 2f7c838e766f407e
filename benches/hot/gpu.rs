//! The hot functions as a library for NVIDIA GPUs. `scripts/cross-gpu` compiles it.
#![no_std]
extern crate blueflame;

#[allow(dead_code, reason = "only the functions with symbols are looked at")]
#[path = "mod.rs"]
mod hot;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
