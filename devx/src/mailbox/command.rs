//! Commands: which answer belongs to which mailbox, and how a mailbox may be sent.

use super::{Description, List, Structure};

/// Restricts [`Command`] to this crate's types: safe calls rely on that.
pub(crate) mod sealed {
    /// A command of this crate, alone or with a list behind it.
    pub trait Sealed {}
}

/// A mailbox that commands the firmware: a structure whose first 16 bits are the opcode, alone or with a list behind
/// it. Only this crate has commands. Send other bytes by `Context::execute_raw` and similar functions, which are
/// `unsafe`.
///
/// ```compile_fail,E0277
/// use blueflame_devx::cmd::QueryIssiOut;
/// use blueflame_devx::mailbox::{Command, How};
///
/// struct AnyBytes(Vec<u8>);
///
/// impl Command for AnyBytes {
///     type Out = QueryIssiOut;
///     const OPCODE: u16 = 0x10a;
///     const HOW: How = How::Executes;
///
///     fn bytes(&self) -> &[u8] {
///         &self.0
///     }
/// }
/// ```
pub trait Command: sealed::Sealed {
    /// The structure of the answer.
    type Out: Structure;
    /// `MLX5_CMD_OP_*`.
    const OPCODE: u16;
    /// How the command is sent. Code that sends it in another way does not compile.
    const HOW: How;

    /// The bytes to send.
    fn bytes(&self) -> &[u8];
}

impl<H: Structure + Command, E: Structure> sealed::Sealed for List<H, E> {}
impl<H: Structure + Command, E: Structure> Command for List<H, E> {
    type Out = H::Out;
    const OPCODE: u16 = H::OPCODE;
    const HOW: How = H::HOW;

    fn bytes(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// How a command is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The command is about no object, and makes nothing that must be destroyed: `mlx5dv_devx_general_cmd` sends it.
    Executes,
    /// The command makes an object: `mlx5dv_devx_obj_create` sends it, and the kernel knows how the object is
    /// destroyed.
    Creates,
    /// The command changes an object: `mlx5dv_devx_obj_modify` sends it.
    Modifies,
    /// The command makes an object, or changes an existing one: both calls send it.
    CreatesOrModifies,
    /// The command queries an object: `mlx5dv_devx_obj_query` sends it.
    Queries,
    /// The command may change the whole device: only `Context::execute_raw`, which is `unsafe`, sends it.
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
        impl $crate::mailbox::sealed::Sealed for $In {}

        impl $crate::mailbox::Command for $In {
            type Out = $Out;
            const OPCODE: u16 = Opcode::$opcode.0;
            const HOW: $crate::mailbox::How = $crate::mailbox::How::$how;

            fn bytes(&self) -> &[u8] {
                <Self as $crate::mailbox::Structure>::as_bytes(self)
            }
        }

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
