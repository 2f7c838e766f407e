//! Functions by which a program causes accidents of devices, and asks devices about themselves: found with
//! `dlsym(RTLD_DEFAULT, …)`.

use crate::device::refusal::{self, Failure};
use crate::device::{Hca, tally};
use crate::process::Errno;
use softhca::device::Device;
use softhca::error::Error;
use softhca::firmware::Status;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// Takes the link of a port down (`up` = 0), as pulling its cable does, or up again. `device` is the number in
/// `mlx5_N`, `port` counts from 1. Programs that have the device open get the event.
///
/// Returns 0; -1 with `errno` if this process has no such device open (`ENODEV`), or the device has no such port
/// (`EINVAL`).
#[unsafe(no_mangle)]
pub extern "C" fn softhca_set_port(device: c_int, port: c_int, up: c_int) -> c_int {
    provoke(device, |device| device.set_port_up(u8::try_from(port).unwrap_or(0), up != 0))
}

/// Stops a device for good, as an internal error of its firmware does. Programs that have it open get the event.
///
/// Returns 0; -1 with `errno` = `ENODEV` if this process has no such device open.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_fail(device: c_int) -> c_int {
    provoke(device, |device| {
        device.fail();
        Ok(())
    })
}

/// Has the calling thread's `nth` command from now on (`RDMA_VERBS_IOCTL`, as `softhca_commands` counts them), from 1,
/// fail with `errno`, before anything is done. Those after it do not. `nth` = 0 takes that back.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_refuse(nth: u64, errno: c_int) {
    refusal::fail_command(nth, Failure::Refused(errno));
}

/// Has the calling thread's `nth` command fail with `errno` after it is carried out, as if its answer had got lost.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_lose_answer(nth: u64, errno: c_int) {
    refusal::fail_command(nth, Failure::AnswerLost(errno));
}

/// Has the firmware refuse the calling thread's `nth` mailbox with this opcode (0 = any), with `status`
/// (`MLX5_CMD_STAT_*`). Mailboxes that a kernel sends on the thread's behalf count as well.
///
/// Returns 0; -1 with `errno` = `EINVAL` if there is no such status.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_refuse_mailbox(nth: u64, opcode: u16, status: u8) -> c_int {
    let Some(status) = Status::from_number(status).filter(|status| *status != Status::Ok) else {
        Errno::EINVAL.set();
        return -1;
    };
    refusal::refuse_mailbox(nth, opcode, status);
    0
}

/// How many mailboxes with this opcode the devices of this process have carried out, for whatever thread.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_carried_out(opcode: u16) -> u32 {
    tally::of(opcode)
}

/// How many times a poll or a yield of this program has found work for a device: the calling thread did it.
///
/// Returns -1 with `errno` = `ENODEV` if this process has no such device open.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_steps_by_polls(device: c_int) -> i64 {
    let Some(hca) = opened(device) else {
        Errno(libc::ENODEV).set();
        return -1;
    };
    hca.steps_by_polls().try_into().unwrap_or(i64::MAX)
}

/// The hint of a memory key to the host's caches (TPH): the processing hint times 256, plus the index of the
/// steering tag. Verbs cannot ask for it.
///
/// Returns -1 with `errno` if this process has no such device open (`ENODEV`), or no such key with a hint (`ENOENT`).
#[unsafe(no_mangle)]
pub extern "C" fn softhca_tph(device: c_int, key: u32) -> c_int {
    let hint = opened(device).ok_or(Errno::ENODEV).and_then(|hca| hca.command(|device| Ok(device.tph(key))));
    match hint.and_then(|hint| hint.ok_or(Errno::ENOENT)) {
        Ok(hint) => c_int::from(hint.processing_hint) << 8 | c_int::from(hint.steering_tag_index),
        Err(error) => {
            error.set();
            -1
        }
    }
}

/// Writes to `text`, of `room` bytes, how many objects of each kind a device has in this process: a C string,
/// `kind=count` with commas between them, by name.
///
/// Returns the bytes of the whole text without its final zero, even if the room was too small for it. Returns -1 with
/// `errno` = `ENODEV` if this process has no such device open.
///
/// # Safety
/// `text` has room for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softhca_objects(device: c_int, text: *mut c_char, room: usize) -> isize {
    let Some(hca) = opened(device) else {
        Errno(libc::ENODEV).set();
        return -1;
    };
    let counts: Vec<String> = hca.objects().into_iter().map(|(kind, count)| format!("{kind}={count}")).collect();
    let counts = counts.join(",").into_bytes();
    let fits = counts.len().min(room.saturating_sub(1));
    if room > 0 {
        // SAFETY: at most `room` bytes, for which there is room by the caller.
        unsafe {
            text.cast::<u8>().copy_from_nonoverlapping(counts.as_ptr(), fits);
            text.add(fits).write(0);
        }
    }
    counts.len() as isize
}

/// Device `mlx5_N`, if this process has it open.
fn opened(device: c_int) -> Option<Arc<Hca>> {
    Hca::opened().into_iter().find(|hca| u32::try_from(device) == Ok(hca.index))
}

fn provoke(device: c_int, command: impl FnOnce(&mut Device) -> Result<(), Error>) -> c_int {
    match opened(device).ok_or(Errno(libc::ENODEV)).and_then(|hca| hca.provoke(command)) {
        Ok(()) => 0,
        Err(error) => {
            error.set();
            -1
        }
    }
}
