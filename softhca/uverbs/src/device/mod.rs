//! Devices as this process has them: the software device on a thread of its own, its network, its events, and the part
//! of the program's memory that it reaches. The module does not depend on files, handles and commands.

mod attributes;
mod capabilities;
mod clock;
mod counters_file;
mod dma;
mod events;
mod firmware;
mod flow_actions;
mod flow_commands;
mod flow_counters;
mod flow_match;
mod flow_tables;
mod flows;
mod frame_attributes;
mod frame_queues;
mod hca;
pub(crate) mod limits;
mod local_loopback;
mod network;
mod numbers_file;
mod pacing;
#[cfg(target_arch = "x86_64")]
mod pinned;
mod polled;
mod queues_file;
mod rate_commands;
mod rates;
mod reach;
mod record_file;
pub(crate) mod refusal;
pub(crate) mod resources;
mod scripted;
mod steering_tags;
mod stepped;
mod subscriptions;
pub(crate) mod tally;
mod targets;
mod users;
mod xrc_domains;
mod xrc_open;

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn crate::process::forked::StaticLock; 2] = [&hca::DEVICES, &network::CAPTURE];

pub(crate) use clock::ClockPages;
pub(crate) use counters_file::PortCounts;
pub(crate) use dma::Window;
pub(crate) use events::{EventPipe, Source};
pub(crate) use flow_commands::FlowDirection;
pub(crate) use flow_match::{FlowMatch, MATCH_BYTES};
pub(crate) use flow_tables::{FlowPriority, FlowRule};
pub(crate) use flows::Flows;
pub(crate) use frame_queues::{Dispatch, FrameQueue, FrameQueueState, Spread, Strides};
pub(crate) use hca::Hca;
pub(crate) use polled::Polled;
pub(crate) use reach::{Opened, Pinned};
pub(crate) use record_file::{RecordFile, RecordKind, Taken};
pub(crate) use steering_tags::MemoryType;
pub(crate) use stepped::{Origin, take_mads};
pub(crate) use subscriptions::{Receiver, Topic, queue_kind};
pub(crate) use xrc_domains::{Domain, Inode};
// For `vfio`.
#[cfg(target_arch = "x86_64")]
pub(crate) use {
    clock::Clock,
    hca::device_config,
    network::{Network, ports},
};
