//! Mailboxes: the bytes of commands, as types.
//!
//! A command to the firmware is a mailbox of big-endian bit fields, and the answer is another. [`mod@crate::cmd`]
//! describes each field once: its name in `mlx5_ifc.h` of Linux and rdma-core, its first bit, its width, its Rust type.
//! The macro `structures!` turns a description into a type with a getter and a setter for each field. At compile time
//! it checks that fields do not overlap and stay inside the structure. It keeps the description as data
//! ([`Description`]), from which `Debug` prints nonzero fields by name.
//!
//! ```
//! use blueflame::types::Cqn;
//! use blueflame_devx::cmd::CreateQpIn;
//!
//! let mut inbox = CreateQpIn::new();
//! inbox.qpc_mut().set_log_sq_size(7).set_cqn_snd(Cqn::truncate(0x12));
//! assert_eq!(
//!     format!("{inbox:?}"),
//!     "create_qp_in { opcode: CREATE_QP, qpc: qpc { log_sq_size: 7, cqn_snd: Cqn(18) } }"
//! );
//! ```
//!
//! Getters accept any bytes from the device: each pattern of bits is a value. Setters panic if a value has more bits
//! than its field, rather than truncate it. The builders of [`crate::object`] check such numbers first, and return
//! errors.

pub mod bits;
mod command;
mod describe;
mod list;
mod structure;
mod value;

pub(crate) use command::commands;
pub use command::{Command, CommandInfo, How};
pub use describe::{Bytes, Description, Field, Part};
pub use list::List;
pub use structure::Structure;
pub(crate) use structure::{fitting, part, part_mut, structures};
pub use value::Value;
pub(crate) use value::{identifiers, names};
