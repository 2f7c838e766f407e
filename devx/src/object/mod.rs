//! Objects: what commands make, each holding what it stands on, so that they are destroyed in the right order whatever order they
//! are dropped in.

mod address;
mod cq;
mod dct;
mod eth;
mod flow;
mod general;
mod linked;
mod mkey;
mod pd;
mod qp;
mod shadow;
mod shared;
mod simple;
mod srq;
mod uar;
mod xrq;

pub use cq::{Cq, CqBuilder, OwnedCq};
pub use dct::Dct;
pub use eth::{DevxInlineMode, OwnedRq, OwnedSq, Rq, Rqt, Rss, Sq, Tir, Tis};
pub use flow::{Destination, FlowGroup, FlowRule, FlowTable, MatchCriteria};
pub use general::{GeneralBody, GeneralObject};
pub use mkey::{Mkey, Piece};
pub use pd::Pd;
pub use qp::{ConnectError, DevxTransport, Qp, QpBuilder, QueuePair, RawQp, RawQpBuilder};
pub use shared::SharedReceives;
pub use simple::{FlowCounter, Psv, QCounter, TransportDomain, Xrcd};
pub use srq::{OwnedSrq, Srq};
pub use uar::{DoorbellPage, SharedUar, ThreadUar, Uar, UarKind};
pub use xrq::{OwnedXrq, Xrq};
