//! The commands: each inbox, outbox and context as a structure with named fields.
//!
//! Names are those of `mlx5_ifc.h`. The driver sends `*_in`; the device answers with `*_out`. Each structure comes from
//! one description (see [`crate::mailbox`]). A test compares the descriptions with `devx/prm/mlx5_ifc.txt` and
//! `devx/prm/more.txt`.
//!
//! | file | contents |
//! |---|---|
//! | `opcode`, `status`, `ids` | the numbers that all commands share |
//! | `capability` | QUERY_HCA_CAP, and the device's capabilities |
//! | `domain` | protection, transport, XRC domains; doorbell pages |
//! | `mkey` | memory keys |
//! | `cq`, `qp` | completion queues, queue pairs |
//! | `srq`, `dct`, `wq` | shared receive queues of all kinds, targets of dynamic connections, the context that work queues share |
//! | `ethernet` | queues of raw Ethernet, the interfaces between them and the wire, flow tables, groups, rules, match fields |
//! | `counter` | counters |
//! | `psv`, `general_object` | signatures, and objects of other kinds |
//! | `function` | identity of the adapter, its registers, the function's Ethernet port |
//! | `all` | lists of all structures and commands |

mod all;
mod capability;
mod counter;
mod cq;
mod dct;
mod domain;
mod ethernet;
mod function;
mod general_object;
mod ids;
mod mkey;
mod opcode;
mod psv;
mod qp;
mod srq;
mod status;
mod wq;

pub use all::{COMMANDS, STRUCTURES};
pub use capability::flow_tables::*;
pub use capability::general::*;
pub use capability::query::*;
pub use capability::sets::*;
pub use counter::*;
pub use cq::*;
pub use dct::*;
pub use domain::*;
pub use ethernet::match_fields::*;
pub use ethernet::queues::*;
pub use ethernet::steering::*;
pub use ethernet::transport::*;
pub use function::adapter::*;
pub use function::register::*;
pub use function::vport::*;
pub use general_object::*;
pub use ids::*;
pub use mkey::*;
pub use opcode::Opcode;
pub use psv::*;
pub use qp::*;
pub use srq::*;
pub use status::Status;
pub use wq::*;
