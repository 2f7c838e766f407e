//! Commands: which answer belongs to which mailbox, and how a mailbox may be sent.

use super::{Description, Element, List, Structure};

/// Restricts the traits of this file to this crate's types: safe calls rely on that.
pub(crate) mod sealed {
    /// A command of this crate.
    pub trait Command {}
    /// A command, or one with a list.
    pub trait Inbox {}
    /// A structure, or one with a list.
    pub trait Outbox {}
}

/// A mailbox that commands the firmware: a structure whose first 16 bits are the opcode. Only this crate has commands.
/// Send other bytes by `Context::execute_raw` and similar functions, which are `unsafe`.
///
/// ```compile_fail,E0277
/// use blueflame_devx::cmd::QueryIssiIn;
/// use blueflame_devx::mailbox::Inbox;
///
/// struct AnyBytes(Vec<u8>);
///
/// impl Inbox for AnyBytes {
///     type Command = QueryIssiIn;
///
///     fn bytes(&self) -> &[u8] {
///         &self.0
///     }
/// }
/// ```
pub trait Command: Structure + sealed::Command {
    /// The structure of the answer.
    type Out: Structure;
    /// `MLX5_CMD_OP_*`.
    const OPCODE: u16;
}

/// An inbox: a [`Command`], alone or with a list behind it.
pub trait Inbox: sealed::Inbox {
    /// The command.
    type Command: Command;

    /// The bytes to send.
    fn bytes(&self) -> &[u8];
}

impl<T: Command> sealed::Inbox for T {}
impl<T: Command> Inbox for T {
    type Command = T;

    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<T: Command, E: Element> sealed::Inbox for List<T, E> {}
impl<T: Command, E: Element> Inbox for List<T, E> {
    type Command = T;

    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// An outbox: a structure, alone or with a list behind it.
pub trait Outbox: sealed::Outbox {
    /// The bytes for the answer.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl<T: Structure> sealed::Outbox for T {}
impl<T: Structure> Outbox for T {
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_bytes_mut()
    }
}

impl<T: Structure, E: Element> sealed::Outbox for List<T, E> {}
impl<T: Structure, E: Element> Outbox for List<T, E> {
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.as_bytes_mut()
    }
}

/// A command about no object, which makes nothing that must be destroyed: `mlx5dv_devx_general_cmd` sends it.
pub trait Executes: Command {}

/// A command that makes an object: `mlx5dv_devx_obj_create` sends it, and the kernel knows how the object is destroyed.
pub trait Creates: Command {}

/// A command that changes an object: `mlx5dv_devx_obj_modify` sends it.
pub trait Modifies: Command {}

/// A command that queries an object: `mlx5dv_devx_obj_query` sends it.
pub trait Queries: Command {}

/// A command that may change the whole device: only `Context::execute_raw`, which is `unsafe`, sends it.
pub trait Controls: Command {}

/// How a command is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As one that [`Executes`].
    Executes,
    /// As one that [`Creates`].
    Creates,
    /// As one that [`Modifies`].
    Modifies,
    /// As one that [`Queries`].
    Queries,
    /// As one that [`Controls`].
    Controls,
}

/// A command, as data.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// `MLX5_CMD_OP_*`.
    pub opcode: u16,
    /// The structure of the inbox.
    pub input: &'static Description,
    /// The structure of the outbox.
    pub output: &'static Description,
    /// How it is sent.
    pub how: How,
}

/// Declares the outbox and the opcode of each inbox, and how it is sent.
macro_rules! commands {
    ($($In:ident => $Out:ident, $opcode:ident, $how:ident;)*) => {
        /// The commands of this file.
        pub(crate) const COMMANDS: &[$crate::mailbox::CommandInfo] = &[$($crate::mailbox::CommandInfo {
            opcode: Opcode::$opcode.0,
            input: <$In as $crate::mailbox::Structure>::DESCRIPTION,
            output: <$Out as $crate::mailbox::Structure>::DESCRIPTION,
            how: $crate::mailbox::How::$how,
        }),*];
        $(
        impl $crate::mailbox::sealed::Command for $In {}

        impl $crate::mailbox::Command for $In {
            type Out = $Out;
            const OPCODE: u16 = Opcode::$opcode.0;
        }

        impl $crate::mailbox::$how for $In {}

        impl $In {
            /// The command with only its opcode set.
            #[must_use]
            pub fn new() -> Self {
                let mut inbox = <Self as $crate::mailbox::Structure>::zeroed();
                inbox.set_opcode(Opcode::$opcode);
                inbox
            }
        }

        impl Default for $In {
            fn default() -> Self {
                Self::new()
            }
        }
    )*};
}
pub(crate) use commands;
