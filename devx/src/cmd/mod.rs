//! The commands: each inbox, outbox and context as a structure with named fields.
//!
//! Names are those of `mlx5_ifc.h`. The driver sends `*_in`; the device answers with `*_out`. Names, offsets and sizes
//! come from `devx/prm/mlx5_ifc.txt` and `more.txt`, tables made from other drivers' headers. `devx/prm/structures.txt`
//! lists the structures and describes each.
//!
//! A new command takes its structures in `structures.txt`, a line in `commands`, and its number in `opcode`.
//!
//! | file | contents |
//! |---|---|
//! | `layouts` | the structures; made of tables, not written by hand |
//! | `commands` | which answer and which opcode belong to an inbox, and how it may be sent |
//! | `opcode`, `status` | the numbers that all commands share |
//! | `values` | types of fields: numbers of objects, and named values |

mod commands;
mod layouts;
mod opcode;
mod status;
mod values;

use blueflame::types::{Cqn, Psn, Qpn, Srqn};
pub use commands::COMMANDS;
pub use layouts::*;
pub use opcode::Opcode;
pub use status::Status;
pub use values::*;
