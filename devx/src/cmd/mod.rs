//! The commands: each inbox, outbox and context as a structure with named fields.
//!
//! Names are those of `mlx5_ifc.h`; `*_in` is sent, `*_out` is answered. All come from one description each (see
//! [`crate::mailbox`]), which a test compares with `devx/prm/mlx5_ifc.txt` and `devx/prm/more.txt`.
//!
//! | file | what |
//! |---|---|
//! | `opcode`, `status`, `ids` | the numbers that all commands share |
//! | `query_hca_cap`, `cap_*` | what the device can do |
//! | `domain` | protection, transport, XRC domains; doorbell pages |
//! | `mkey` | memory keys |
//! | `cq`, `qp` | completion queues, queue pairs |
//! | `adapter` | what the adapter is |

mod adapter;
mod cap_flow;
mod cap_general;
mod cap_sets;
mod cq;
mod domain;
mod ids;
mod mkey;
mod opcode;
mod qp;
mod query_hca_cap;
mod status;

pub use adapter::*;
pub use cap_flow::*;
pub use cap_general::*;
pub use cap_sets::*;
pub use cq::*;
pub use domain::*;
pub use ids::*;
pub use mkey::*;
pub use opcode::Opcode;
pub use qp::*;
pub use query_hca_cap::*;
pub use status::Status;

/// All structures that this crate describes, a slice for each kind: for tests, and for tools that print mailboxes.
pub const STRUCTURES: &[&[&crate::mailbox::Description]] = &[
    adapter::STRUCTURES,
    cap_flow::STRUCTURES,
    cap_general::STRUCTURES,
    cap_sets::STRUCTURES,
    cq::STRUCTURES,
    domain::STRUCTURES,
    mkey::STRUCTURES,
    qp::STRUCTURES,
    query_hca_cap::STRUCTURES,
];
