//! Mailboxes: the bytes of commands, as types.
//!
//! A command to the firmware is a mailbox of big-endian bit fields, and so is the answer. [`mod@crate::cmd`] describes each
//! once: the name that `mlx5_ifc.h` of Linux and rdma-core has for a field, its first bit, its bits, its Rust type. The macro
//! `structures!` makes of that a type with a getter and a setter for each field, checks when the crate is compiled that fields
//! do not overlap and stay inside, and keeps the description as data ([`Description`]): `Debug` prints the fields that are not
//! zero by their names, and a test compares all descriptions with a table made of the headers (`devx/prm/mlx5_ifc.txt`).
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
//! Getters take whatever bytes the device wrote: each pattern of bits is a value. Setters panic if a value has more bits than
//! its field: no number silently becomes another. The builders of [`crate::object`] check such numbers before, and return errors.

pub mod bits;
mod command;
mod describe;
mod list;
mod structure;
mod value;

pub use command::{Command, CommandInfo, Controls, Creates, Executes, How, Inbox, Modifies, Outbox, Queries};
pub(crate) use command::{commands, sealed};
pub use describe::{Bytes, Description, Field, Part};
pub use list::{Element, List};
pub use structure::Structure;
pub(crate) use structure::{fitting, part, part_mut, structures};
pub use value::Value;
pub(crate) use value::{identifiers, names};
