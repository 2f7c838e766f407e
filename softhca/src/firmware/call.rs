//! A command, and one that is being carried out.

use super::layout::{Layout, View, ViewMut, layout};
use super::owners::Uid;
use super::state::State;
use super::status::Refusal;
use crate::device::Device;
use crate::error::Object;

layout! {
    /// What every input begins with.
    general_obj_in_cmd_hdr: 0x8 bytes {
        OPCODE: 0x0, 16;
        UID: 0x10, 16;
        OP_MOD: 0x30, 16;
    }
}
layout! {
    /// What every output begins with.
    general_out: 0x8 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    }
}
layout! {
    /// An output that is nothing else.
    bare_out: 0x10 bytes {
        STATUS: 0x0, 8;
        SYNDROME: 0x20, 32;
    }
}

/// One command of the interpreter.
pub(crate) struct Command {
    pub(crate) opcode: u16,
    pub(crate) name: &'static str,
    /// Its input: at least this long, and with no bits set that have no name.
    pub(crate) input: &'static Layout,
    /// Bytes that its output has at least.
    pub(crate) output_bytes: usize,
    pub(crate) run: fn(&mut Call<'_>) -> Result<(), Refusal>,
}

/// A row of the table.
pub(crate) const fn command(
    opcode: u16,
    name: &'static str,
    input: &'static Layout,
    output: &Layout,
    run: fn(&mut Call<'_>) -> Result<(), Refusal>,
) -> Command {
    Command { opcode, name, input, output_bytes: output.bytes, run }
}

/// A command that is being carried out.
pub(crate) struct Call<'a> {
    /// What the firmware keeps.
    pub(crate) state: &'a mut State,
    pub(crate) device: &'a mut Device,
    /// On whose behalf; 0 is the driver itself.
    pub(crate) uid: Uid,
    pub(crate) op_mod: u16,
    pub(crate) input: View<'a>,
    pub(crate) output: ViewMut<'a>,
}

impl Call<'_> {
    /// Refuses an object that is not of the caller.
    pub(crate) fn check_owner(&self, kind: Object, number: u32) -> Result<(), Refusal> {
        self.state.owners.check(kind, number, self.uid)
    }

    /// Where the device finds `len` bytes at `offset` of user memory `number`, which an object that the device writes will
    /// lie in.
    pub(crate) fn umem_address(&self, number: u32, offset: u64, len: u64) -> Result<u64, Refusal> {
        self.check_owner(Object::Umem, number)?;
        let umem = self.state.umems.find(number)?;
        if !umem.writable {
            return Err(Refusal::parameter(format!("UMEM {number:#x} may not be written")));
        }
        umem.address(offset, len).ok_or_else(|| {
            let reason = format!("{len:#x} bytes at {offset:#x} of UMEM {number:#x}, which has {:#x}", umem.len);
            Refusal::parameter(reason)
        })
    }

    /// Counts an object in user memory `number`, which stays as long as the object does; `users` is +1 or -1.
    pub(crate) fn count_umem(&mut self, number: u32, users: i32) {
        if let Some(umem) = self.state.umems.get_mut(number) {
            umem.users = umem.users.saturating_add_signed(users);
        }
    }
}
