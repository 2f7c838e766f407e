//! Raw Ethernet: receive queues of frames, receivers over several of them, the rules that steer frames there,
//! and the kernel's interfaces.
//!
//! ```text
//!   OwnedWq ─────────┐
//!                    ├─ Wq ──> WqTable ──> FrameReceiver ──┐ steer(&Flow)
//!   OwnedStridingWq ─┘                                     ├──────────────> FlowRule
//!   QueuePair<RawPacket> ── Qp ────────────────────────────┘
//! ```
//!
//! Each arrow keeps the object at its start alive, so the order of drops does not matter.
pub(super) mod attr;
pub(super) mod counters;
pub(super) mod delegated;
pub(super) mod egress;
pub(super) mod interface;
pub(super) mod membership;
pub(super) mod receiver;
pub(super) mod rule;
pub(super) mod striding;
pub(super) mod table;
pub(super) mod work_queue;

pub use attr::FlowAttr;
pub use counters::{FlowCounters, FlowCounts};
pub use delegated::{DelegatedTcp, Segment};
pub use egress::{Egress, EgressRule};
pub use interface::Interface;
pub use membership::{Membership, Promiscuous};
pub use receiver::FrameReceiver;
pub use rule::{FlowRule, RuleOptions};
pub use striding::{OwnedStridingWq, StridingWqBuilder};
pub use table::WqTable;
pub use work_queue::{OwnedWq, Wq, WqBuilder};
