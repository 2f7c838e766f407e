//! Objects that commands make. Each holds the objects that it stands on. They are therefore destroyed in the right
//! order, in whatever order they are dropped.

mod address;
mod check_cq;
mod collapsed;
mod cq;
mod dct;
mod ethernet;
mod general;
mod keys;
mod pd;
mod qp;
mod receives;
mod simple;
mod tag_matching;
mod uar;

pub use blueflame::flow::Rss;
pub use blueflame::queue::AnyCq;
pub use collapsed::OwnedCollapsed;
pub use cq::{Cq, CqBuilder, OwnedCq};
pub use dct::Dct;
pub use ethernet::merging::Merging;
pub use ethernet::modify_header::{HeaderAction, ModifyHeader};
pub use ethernet::pacing::PacketPacing;
pub use ethernet::queues::{OwnedRq, OwnedSq, Rq, Sq};
pub use ethernet::rule::{Destination, FlowRule, FlowRuleContext};
pub use ethernet::striding::OwnedStridingRq;
pub use ethernet::table::{FlowGroup, FlowTable, MatchCriteria};
pub use ethernet::tir::{Rqt, Tir};
pub use ethernet::tis::Tis;
pub use general::{GeneralBody, GeneralObject};
pub use keys::encryption::{Dek, EncryptingKey, XtsKey};
pub use keys::mkey::{Mkey, Piece};
pub use keys::signature::SignatureKey;
pub use pd::Pd;
pub use qp::{Qp, QpBuilder, QueuePair, RawQp, RawQpBuilder};
pub use receives::shared::SharedReceives;
pub use receives::srq::{OwnedSrq, Srq};
pub use receives::xrq::{OwnedXrq, Xrq};
pub use simple::{FlowCounter, Psv, QCounter, TransportDomain, Xrcd};
pub use tag_matching::OwnedTagMatching;
pub use uar::{DoorbellPage, SharedUar, ThreadUar, Uar, UarKind};
