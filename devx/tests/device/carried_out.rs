//! The commands that the software device has carried out in this process, and the list of them that a process leaves.
//!
//! The expected contents of that list belong in `every_command.rs`.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::Once;

/// Names the file that a process of this program leaves its list in.
const LIST: &str = "DEVX_TESTS_COMMANDS";
/// Opcodes end before this.
const OPCODES: u16 = 0x1000;

/// How many mailboxes with an opcode the software device has carried out in this process; `None` on another device.
pub(crate) fn carried_out(opcode: u16) -> Option<u32> {
    let name: &CStr = c"softhca_carried_out";
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: the preloaded object's function of this name is of this type.
    (!symbol.is_null())
        .then(|| unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u16) -> u32>(symbol)(opcode) })
}

extern "C" fn leave_list() {
    let list = (0..OPCODES).filter(|&opcode| carried_out(opcode).is_some_and(|count| count > 0));
    let list: String = list.map(|opcode| format!("{opcode}\n")).collect();
    // The end of a process has no one to report to; the test itself misses absent commands.
    let _ = std::env::var(LIST).map(|file| std::fs::write(file, list));
}

/// Has the process of a command leave its list in `file`.
pub(crate) fn ask_for_list(command: &mut Command, file: &Path) {
    command.env(LIST, file);
}

/// Whether this process was asked for its list.
pub(crate) fn is_asked() -> bool {
    std::env::var_os(LIST).is_some()
}

/// Has this process leave its list at its end, if it is asked to.
pub(crate) fn list_at_exit() {
    static ONCE: Once = Once::new();
    if is_asked() {
        // SAFETY: the function takes what it needs from the environment.
        ONCE.call_once(|| assert_eq!(unsafe { libc::atexit(leave_list) }, 0));
    }
}
