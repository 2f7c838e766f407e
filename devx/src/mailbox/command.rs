//! Commands: which answer belongs to which mailbox, and how a mailbox may be sent.

use super::{Description, List, Structure};

/// A mailbox that commands the firmware: a structure whose first 16 bits are the opcode, alone or with a list behind
/// it. Send other bytes by `Context::execute_raw` and similar functions, which are `unsafe`.
///
/// # Safety
/// The first 16 bits of [`bytes`](Self::bytes) are [`OPCODE`](Self::OPCODE), unless a setter has changed them. Safe
/// calls send a command that [executes](How::Executes) or [queries](How::Queries). Such a command gives the device no
/// memory, regardless of its other bits.
///
/// ```compile_fail,E0200
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
pub unsafe trait Command {
    /// The structure of the answer.
    type Out: Structure;
    /// `MLX5_CMD_OP_*`.
    const OPCODE: u16;
    /// How the command is sent. Code that sends it in another way does not compile.
    const HOW: How;

    /// The bytes to send.
    fn bytes(&self) -> &[u8];
}

// SAFETY: the header is a command, and the list behind it belongs to the same command.
unsafe impl<H: Structure + Command, E: Structure> Command for List<H, E> {
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
        /// All commands that this crate describes.
        pub const COMMANDS: &[$crate::mailbox::CommandInfo] = &[$($crate::mailbox::CommandInfo {
            opcode: Opcode::$opcode.0,
            input: <$In as $crate::mailbox::Structure>::DESCRIPTION,
            output: <$Out as $crate::mailbox::Structure>::DESCRIPTION,
            how: $crate::mailbox::How::$how,
        }),*];
        $(
        // SAFETY: `new` sets the opcode. Each table says of no command that names memory that it executes or queries.
        unsafe impl $crate::mailbox::Command for $In {
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
