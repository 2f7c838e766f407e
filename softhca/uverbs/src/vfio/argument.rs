//! Arguments of requests: structures that begin with their size, of which older programs know less, and newer ones
//! more.

use crate::process::{Errno, user};
use zerocopy::{FromBytes, IntoBytes};

/// The size that the structure at `at` states: at least `least`, the size that the request needs.
pub(super) fn size(at: u64, least: usize) -> Result<usize, Errno> {
    let mut argsz = [0; 4];
    user::read(at, &mut argsz)?;
    let argsz = u32::from_ne_bytes(argsz) as usize;
    if argsz < least { Err(Errno::EINVAL) } else { Ok(argsz) }
}

/// The structure at `at`, if it has at least `least` bytes; missing bytes are zero.
pub(super) fn read<T: FromBytes + IntoBytes>(at: u64, least: usize) -> Result<T, Errno> {
    let argsz = size(at, least)?;
    user::read_prefix(at, argsz)
}
