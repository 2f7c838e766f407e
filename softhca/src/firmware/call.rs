//! A command, and one that is being carried out.

use super::holds::Hold;
use super::layout::{Field, Layout, View, ViewMut, layout};
use super::owners::{DRIVER, RAW_TX, Uid};
use super::state::State;
use super::status::{Refusal, Status};
use crate::device::Device;
use crate::error::Object;

layout! {
    /// Header of every input.
    struct general_obj_in_cmd_hdr: command 0x8 bytes {}
    /// Header of every output.
    struct general_out: answer 0x8 bytes {}
    /// An output that is nothing else.
    struct bare_out: answer {}
}

/// One command of the interpreter.
pub(crate) struct Command {
    pub(crate) opcode: u16,
    pub(crate) name: &'static str,
    /// Its input, with no bits set that have no name.
    pub(crate) input: &'static Layout,
    /// Bytes that the input has at least. Missing bytes of the layout count as zeros: older drivers do not know them.
    pub(crate) least: usize,
    /// Its output, for which there must be room.
    pub(crate) output: &'static Layout,
    /// The least room for the output, in bytes: older drivers do not know the rest, and do not get it.
    pub(crate) least_room: usize,
    /// It has modifiers, and looks at [`Call::op_mod`]. For all other commands the modifiers must be 0.
    pub(crate) has_modifiers: bool,
    pub(crate) run: fn(&mut Call<'_>) -> Result<(), Refusal>,
}

/// A row of the table: opcode, name, the layouts of input and output, and the function that carries it out.
macro_rules! command {
    ($opcode:literal, $name:literal, $input:ident, $output:ident, $run:expr) => {
        $crate::firmware::call::Command {
            opcode: $opcode,
            name: $name,
            input: &$input::LAYOUT,
            least: $input::LAYOUT.bytes,
            output: &$output::LAYOUT,
            least_room: $output::LAYOUT.bytes,
            has_modifiers: false,
            run: $run,
        }
    };
}
pub(crate) use command;

impl Command {
    /// It makes an object.
    pub(super) fn makes_object(&self) -> bool {
        self.name.starts_with("CREATE_") || self.name.starts_with("ALLOC_")
    }

    /// Gives the command modifiers.
    pub(crate) const fn with_modifiers(self) -> Self {
        Self { has_modifiers: true, ..self }
    }

    /// Lets the input end after `bytes` bytes.
    pub(crate) const fn with_least(self, bytes: usize) -> Self {
        Self { least: bytes, ..self }
    }

    /// Lets the output be cut after `bytes` bytes.
    pub(crate) const fn with_least_room(self, bytes: usize) -> Self {
        Self { least_room: bytes, ..self }
    }
}

/// A command that is being carried out.
pub(crate) struct Call<'a> {
    /// The firmware's state.
    pub(crate) state: &'a mut State,
    pub(crate) device: &'a mut Device,
    /// The user that sends it; 0 is the driver itself.
    pub(crate) uid: Uid,
    pub(crate) op_mod: u16,
    pub(crate) input: View<'a>,
    pub(crate) output: ViewMut<'a>,
    /// Memory that this command has taken, and no object has yet.
    pub(super) taken: Vec<Hold>,
}

impl Call<'_> {
    /// Refuses a user: the command is the driver's own.
    pub(crate) fn check_driver(&self) -> Result<(), Refusal> {
        if self.uid == DRIVER {
            return Ok(());
        }
        Err(Refusal::new(Status::BadOperation, format!("user {} does what only the driver may", self.uid.0)))
    }

    /// Refuses a user who may not send Ethernet frames of its own making.
    pub(crate) fn check_raw_tx(&self) -> Result<(), Refusal> {
        self.state.owners.check_cap(self.uid, RAW_TX)
    }

    /// Refuses an object that the caller may not change: it is another user's, or all use it.
    pub(crate) fn check_owner(&self, kind: Object, number: u32) -> Result<(), Refusal> {
        self.state.owners.check(kind, number, self.uid)
    }

    /// Refuses an object that the caller may neither use nor query: it is another user's.
    pub(crate) fn check_use(&self, kind: Object, number: u32) -> Result<(), Refusal> {
        self.state.owners.check_use(kind, number, self.uid)
    }

    /// The object that `field` of the input names, which the caller [may change](Self::check_owner).
    pub(crate) fn owned(&self, kind: Object, field: Field) -> Result<u32, Refusal> {
        let number = self.input.get32(field);
        self.check_owner(kind, number)?;
        Ok(number)
    }

    /// The object that `field` of the input names, which the caller [may use](Self::check_use).
    pub(crate) fn usable(&self, kind: Object, field: Field) -> Result<u32, Refusal> {
        let number = self.input.get32(field);
        self.check_use(kind, number)?;
        Ok(number)
    }
}
