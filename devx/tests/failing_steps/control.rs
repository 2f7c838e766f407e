//! The requests that a program can make of the software device (`softhca-run --help`).

use std::ffi::{c_char, c_int, c_void};

use blueflame_devx::cmd::Status;

use crate::kernel::function;

/// How many commands this thread has given to the kernel.
pub(crate) fn commands() -> u64 {
    // SAFETY: the preloaded object's function of this name is of this type; likewise below.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(function(c"softhca_commands"))() }
}

/// The firmware refuses this thread's `nth` mailbox from now on; 0: none.
pub(crate) fn refuse_mailbox(nth: u64, status: Status) {
    let refuse = function(c"softhca_refuse_mailbox");
    // SAFETY: as above.
    let refuse = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, u16, u8) -> c_int>(refuse) };
    assert_eq!(refuse(nth, 0, status.0), 0, "the device knows {status:?}");
}

/// How many objects of each kind the first device has.
pub(crate) fn objects() -> String {
    let mut text = [0_u8; 512];
    let objects = function(c"softhca_objects");
    // SAFETY: as above; there is as much room as is said.
    let len = unsafe {
        std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, *mut c_char, usize) -> isize>(objects)(
            0,
            text.as_mut_ptr().cast(),
            text.len(),
        )
    };
    let len = usize::try_from(len).expect("the first device is open");
    String::from_utf8(text[..len].to_vec()).expect("UTF-8")
}
