//! Results of queries of CQs, EQs and SRQs. Those of QPs: [`crate::qp::QpInfo`].

use crate::context::{CqContext, EqContext, SrqContext, TagContext, XrcContext};

/// Result of a query of a CQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqInfo {
    /// As it is now.
    pub context: CqContext,
    /// Index of the CQE to be written next, 24 bits (PRM, CQC.producer_counter).
    pub producer: u32,
    /// Index of the CQE that the host consumes next, as its doorbell record says; 24 bits (CQC.consumer_counter).
    pub consumer: u32,
    /// Index after the last CQE that counts as solicited, 24 bits (CQC.last_solicit_index).
    pub last_solicited: u32,
    /// `producer` when the last event was raised, 24 bits (CQC.last_notified_index).
    pub last_notified: u32,
    /// Which completions it is armed for.
    pub arming: CqArming,
    /// Why it takes no further CQEs, if so.
    pub fault: Option<CqFault>,
}

/// Which completions raise an event (CQC.st).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CqArming {
    /// None: it was not armed since it has been made, or since the last event.
    #[default]
    Fired,
    /// The next solicited one.
    Solicited,
    /// The next.
    Any,
}

/// Why a CQ takes no further CQEs (CQC.status).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqFault {
    /// The host has not consumed enough of them.
    Overrun,
    /// Its ring or its record could not be reached.
    Unreachable,
}

/// Result of a query of an event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqInfo {
    /// As it was created.
    pub context: EqContext,
    /// EQEs written, 24 bits (EQC.producer_counter).
    pub producer: u32,
    /// The EQE that the host reads next, as its last doorbell said; 24 bits (EQC.consumer_counter).
    pub consumer: u32,
    /// Whether the next EQE interrupts.
    pub state: EqState,
    /// It takes no further EQEs: it was full, or its ring could not be reached (EQC.status).
    pub failed: bool,
}

/// Whether the next EQE interrupts the host (EQC.st).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqState {
    /// It does.
    Armed,
    /// It was not armed since it has been made, or since the last interrupt.
    Fired,
}

/// Result of a query of an SRQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqInfo {
    /// As it was created.
    pub context: SrqContext,
    /// Its context as an SRQ of an XRC domain.
    pub xrc: Option<XrcContext>,
    /// How its list of tags stands, if it matches messages with tags.
    pub tags: Option<TagListInfo>,
    /// The armed limit; 0 once the event was raised.
    pub limit: u16,
    /// WQEs that are posted and not consumed.
    pub posted: u16,
    /// Its ring was found inconsistent.
    pub failed: bool,
}

/// How the list of tags of an SRQ stands (PRM `tag_matching_topology_context`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagListInfo {
    /// The context that it was created from.
    pub context: TagContext,
    /// Place of the tag that comes next.
    pub append_next_index: u16,
    /// Messages that had no tag in the list which software has seen, as it said last; 16 bits.
    pub sw_phase_cnt: u16,
    /// Such messages in all, 16 bits.
    pub hw_phase_cnt: u16,
}
