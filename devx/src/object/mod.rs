//! Objects that commands make. Each holds the objects that it stands on. They are therefore destroyed in the right
//! order, in whatever order they are dropped.

mod address;
mod any_cq;
mod cq;
mod dct;
mod encryption;
mod eth;
mod flow;
mod formatted_key;
mod general;
mod linked;
mod mkey;
mod pd;
mod qp;
mod rule;
mod shadow;
mod shared;
mod signature_key;
mod simple;
mod srq;
mod tag_matching;
mod tir;
mod tis;
mod uar;
mod xrq;

pub use blueflame::queue::AnyCq;
pub use cq::{Cq, CqBuilder, OwnedCq};
pub use dct::Dct;
pub use encryption::{Dek, EncryptingKey, XtsKey};
pub use eth::{OwnedRq, OwnedSq, Rq, Sq};
pub use flow::{FlowGroup, FlowTable, MatchCriteria};
pub use general::{GeneralBody, GeneralObject};
pub use mkey::{Mkey, Piece};
pub use pd::Pd;
pub use qp::{ConnectError, DevxTransport, Qp, QpBuilder, QueuePair, RawQp, RawQpBuilder};
pub use rule::{Destination, FlowRule, FlowRuleContext};
pub use shared::SharedReceives;
pub use signature_key::SignatureKey;
pub use simple::{FlowCounter, Psv, QCounter, TransportDomain, Xrcd};
pub use srq::{OwnedSrq, Srq};
pub use tag_matching::{OwnedTagMatching, TagMatchingBuilder};
pub use tir::{Rqt, Rss, Tir};
pub use tis::Tis;
pub use uar::{DoorbellPage, SharedUar, ThreadUar, Uar, UarKind};
pub use xrq::{OwnedXrq, Xrq};
