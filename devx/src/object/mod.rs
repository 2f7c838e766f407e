//! Objects: what commands make, each holding what it stands on, so that they are destroyed in the right order whatever order they
//! are dropped in.

mod address;
mod cq;
mod mkey;
mod pd;
mod qp;
mod shadow;
mod uar;

pub use cq::{Cq, CqBuilder, OwnedCq};
pub use mkey::{Mkey, Piece};
pub use pd::Pd;
pub use qp::{ConnectError, DevxTransport, Qp, QpBuilder, QueuePair};
pub use uar::{DoorbellPage, SharedUar, ThreadUar, Uar, UarKind};
