//! The firmware: a driver's commands, as mailboxes of raw bytes, carried out on the objects of a [`Device`]. It must
//! never know who sends them: a kernel's command queue, or a program through `mlx5dv_devx_*`.
//!
//! ```text
//!  mailbox in ──> execute: length, reserved bits, user ──> commands: pd | mkey | cq | qp | ... ──> Device
//!  mailbox out <── status, syndrome, what the command gives <──────┘
//! ```
//!
//! Each file of `commands` has the commands of one kind of object: their layouts (`layout`) and their actions. Their
//! state is in `state`; `objects` are those that the device does not know. Layouts are from Linux'
//! `include/linux/mlx5/mlx5_ifc.h`, and a test compares all of them with it.
//!
//! It is strict: an input that is too short, has reserved bits set, or names another user's object is refused, and
//! then nothing has changed. A refusal is logged with its reason, since a driver sees a status and a number only.

mod call;
mod capabilities;
mod commands;
mod execute;
mod holds;
#[cfg(test)]
mod hostile_tests;
pub(crate) mod layout;
mod life;
mod objects;
mod owners;
mod pages;
#[cfg(test)]
pub(crate) mod pair_bench;
mod placement;
mod state;
mod status;
#[cfg(test)]
pub(crate) mod test_bench;
#[cfg(test)]
mod tests;

pub use owners::{DRIVER, Uid};
pub use status::Status;

use crate::device::Device;
use crate::error::{Error, Object};
use call::Command;
use life::{Life, Stage};
use state::State;
use std::collections::BTreeMap;

/// A command: for tables of commands, and for programs that try all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its number.
    pub opcode: u16,
    /// Name in the PRM, without `MLX5_CMD_OP_`.
    pub name: &'static str,
    /// Bytes that its input has at least; a list may follow.
    pub input_bytes: usize,
    /// Bytes that its output has at least; a list may follow.
    pub output_bytes: usize,
}

/// All commands.
pub fn commands() -> impl Iterator<Item = CommandInfo> {
    commands::all().map(|command| CommandInfo {
        opcode: command.opcode,
        name: command.name,
        input_bytes: command.input.bytes,
        output_bytes: command.output.bytes,
    })
}

/// The firmware of one device.
#[derive(Debug)]
pub struct Firmware {
    state: State,
}

impl Default for Firmware {
    fn default() -> Self {
        Self::new()
    }
}

impl Firmware {
    /// A firmware that has carried out nothing yet. Its caller plays the kernel's part: the HCA is ready for users'
    /// commands.
    #[must_use]
    pub fn new() -> Self {
        Self { state: State::new(Stage::Given) }
    }

    /// The firmware of an HCA that has just got power: a driver has to start it, by `ENABLE_HCA`, pages and `INIT_HCA`.
    #[must_use]
    pub fn at_power_on() -> Self {
        Self { state: State::new(Stage::Off) }
    }

    /// Carries out the command in `input` on `device`, and fills `output` with the status, its syndrome and the
    /// command's results. Any bytes may come in. The status is also returned, because an output of less than 8 bytes
    /// cannot hold it.
    pub fn execute(&mut self, device: &mut Device, input: &[u8], output: &mut [u8]) -> Status {
        execute::run(&mut self.state, device, input, output)
    }

    /// Whether the command in `input` has to wait for pages of host memory that the driver is about to give.
    #[must_use]
    pub fn has_to_wait(&self, input: &[u8]) -> bool {
        let opcode = input.first_chunk().map(|&bytes| u16::from_be_bytes(bytes));
        let command = commands::all().find(|command| Some(command.opcode) == opcode);
        command.is_some_and(Command::makes_object) && self.state.life.objects_have_to_wait()
    }

    /// How many pages of host memory the driver is to be asked for after a command, if it can be asked; fewer than 0
    /// are to be given back. `None` if the device needs no others, or has asked before and waits for `MANAGE_PAGES`.
    pub fn page_request(&mut self, device: &Device, can_ask: bool) -> Option<i32> {
        let Life { pages, stage, .. } = &mut self.state.life;
        pages.set_use(device.contexts(), device.listed());
        if !can_ask {
            // The driver does not answer the earlier request.
            pages.forget_request();
        }
        if can_ask && *stage == Stage::Initialized { pages.ask() } else { None }
    }

    /// How many pages of host memory the device has from its driver.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.state.life.pages.len()
    }

    /// Whether the driver signs its commands, and expects the device to look.
    #[must_use]
    pub fn checks_signatures(&self) -> bool {
        self.state.life.checksum == life::Checksum::Signed
    }

    /// The driver's name for itself, once the driver has given it.
    #[must_use]
    pub fn driver(&self) -> Option<&str> {
        self.state.life.driver.as_deref()
    }

    /// How many objects there are, by the names of their kinds: the device's own, and those that users have made.
    #[must_use]
    pub fn objects(&self, device: &Device) -> BTreeMap<String, usize> {
        let mut counts = self.state.owners.counts();
        counts.extend(device.objects().map(|(kind, count)| (kind.to_string(), count)));
        counts.retain(|_, count| *count > 0);
        counts
    }

    /// Says that an object which was made on the device itself, and by no command, is user `uid`'s.
    pub fn set_owner(&mut self, kind: Object, number: u32, uid: Uid) {
        self.state.owners.add(kind, number, uid);
    }

    /// Forgets the owner that [`Self::set_owner`] set.
    pub fn forget_owner(&mut self, kind: Object, number: u32) {
        self.state.owners.remove(kind, number);
        self.state.queues.remove(kind, number);
    }

    /// Declares an event queue with this number that no command has made; CQs of all users can name it
    /// ([`Device::declare_eq`]).
    ///
    /// # Errors
    /// The errors of [`Device::declare_eq`].
    pub fn declare_eq(&mut self, device: &mut Device, eqn: u32) -> Result<(), Error> {
        device.declare_eq(eqn)?;
        self.state.owners.add(Object::Eq, eqn, owners::SHARED);
        Ok(())
    }

    /// The event queue that a CQ's events go to, if a command has made the CQ.
    #[must_use]
    pub fn eq_of_cq(&self, cqn: u32) -> Option<u32> {
        self.state.queues.cqs.get(&cqn).filter(|cq| cq.made).map(commands::eqn)
    }
}
