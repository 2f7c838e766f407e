//! Raw Ethernet: queues of frames, their interfaces to the wire, and the rules that steer received frames.

mod flow_fields;
pub(super) mod merging;
pub(super) mod modify_header;
pub(super) mod pacing;
pub(super) mod queues;
pub(super) mod rule;
pub(super) mod striding;
pub(super) mod table;
pub(super) mod tir;
pub(super) mod tis;
