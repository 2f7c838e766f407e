//! What a program can have happen to the devices, as somebody at the machine could: found with `dlsym(RTLD_DEFAULT, …)`.

use crate::device::Hca;
use crate::process::Errno;
use softhca::device::Device;
use softhca::error::Error;
use std::ffi::c_int;

/// Takes the link of a port down (`up` = 0), as pulling its cable does, or up again. `device` is the number in `mlx5_N`, `port`
/// counts from 1. Whoever has the device open gets the event.
///
/// Returns 0; -1 with `errno` if this process has no such device open (`ENODEV`), or the device has no such port (`EINVAL`).
#[unsafe(no_mangle)]
pub extern "C" fn softhca_set_port(device: c_int, port: c_int, up: c_int) -> c_int {
    provoke(device, |device| device.set_port_up(u8::try_from(port).unwrap_or(0), up != 0))
}

/// Stops a device for good, as an internal error of its firmware does. Whoever has it open gets the event.
///
/// Returns 0; -1 with `errno` = `ENODEV` if this process has no such device open.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_fail(device: c_int) -> c_int {
    provoke(device, |device| {
        device.fail();
        Ok(())
    })
}

fn provoke(device: c_int, command: impl FnOnce(&mut Device) -> Result<(), Error>) -> c_int {
    let opened = Hca::opened().into_iter().find(|hca| u32::try_from(device) == Ok(hca.index));
    match opened.ok_or(Errno(libc::ENODEV)).and_then(|hca| hca.provoke(command)) {
        Ok(()) => 0,
        Err(error) => {
            error.set();
            -1
        }
    }
}
