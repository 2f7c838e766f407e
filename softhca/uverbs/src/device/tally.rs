//! Which mailboxes the devices of this process have carried out: for tests that every command is proved.

use std::sync::atomic::{AtomicU32, Ordering};

/// Opcodes end before this (`MLX5_CMD_OP_MAX`).
const OPCODES: usize = 0x1000;

static CARRIED_OUT: [AtomicU32; OPCODES] = [const { AtomicU32::new(0) }; OPCODES];

/// Counts a mailbox that was carried out.
pub(super) fn carried_out(opcode: u16) {
    if let Some(count) = CARRIED_OUT.get(usize::from(opcode)) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// How many mailboxes with this opcode were carried out, by all threads.
pub(crate) fn of(opcode: u16) -> u32 {
    CARRIED_OUT.get(usize::from(opcode)).map_or(0, |count| count.load(Ordering::Relaxed))
}
