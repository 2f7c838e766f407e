//! The commands: each inbox, outbox and context as a structure with named fields.
//!
//! Names are those of `mlx5_ifc.h`. The driver sends `*_in`; the device answers with `*_out`. Each structure comes from
//! one description (see [`crate::mailbox`]). A test compares the descriptions with `devx/prm/mlx5_ifc.txt` and
//! `devx/prm/more.txt`.
//!
//! | file | contents |
//! |---|---|
//! | `opcode`, `status`, `ids` | the numbers that all commands share |
//! | `query_hca_cap`, `cap_*` | the device's capabilities |
//! | `domain` | protection, transport, XRC domains; doorbell pages |
//! | `mkey` | memory keys |
//! | `cq`, `qp` | completion queues, queue pairs |
//! | `srq`, `dct`, `wq` | shared receive queues of all kinds, targets of dynamic connections, the context that work queues share |
//! | `sq_rq`, `tis_tir` | queues of raw Ethernet, and the interfaces between them and the wire |
//! | `flow`, `flow_match`, `counter` | flow tables, groups, rules, match fields, counters |
//! | `psv`, `general_object` | signatures, and objects of other kinds |
//! | `adapter`, `register`, `vport` | identity of the adapter, its registers, the function's Ethernet port |
//! | `all` | lists of all structures and commands |

mod adapter;
mod all;
mod cap_flow;
mod cap_general;
mod cap_sets;
mod counter;
mod cq;
mod dct;
mod domain;
mod flow;
mod flow_match;
mod general_object;
mod ids;
mod mkey;
mod opcode;
mod psv;
mod qp;
mod query_hca_cap;
mod register;
mod sq_rq;
mod srq;
mod status;
mod tis_tir;
mod vport;
mod wq;

pub use adapter::*;
pub use all::{COMMANDS, STRUCTURES};
pub use cap_flow::*;
pub use cap_general::*;
pub use cap_sets::*;
pub use counter::*;
pub use cq::*;
pub use dct::*;
pub use domain::*;
pub use flow::*;
pub use flow_match::*;
pub use general_object::*;
pub use ids::*;
pub use mkey::*;
pub use opcode::Opcode;
pub use psv::*;
pub use qp::*;
pub use query_hca_cap::*;
pub use register::*;
pub use sq_rq::*;
pub use srq::*;
pub use status::Status;
pub use tis_tir::*;
pub use vport::*;
pub use wq::*;
