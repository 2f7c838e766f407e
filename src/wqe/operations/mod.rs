//! The operations of requests, as types: each names its opcode, its segments and its transports. A function of
//! [`wqe`](crate::wqe) begins a request of each.
pub(super) mod copy;
pub(super) mod frame;
pub(super) mod frame_options;
pub(super) mod frame_request;
pub(super) mod header_offsets;
pub(super) mod multi_packet;
pub(super) mod service;
pub(super) mod table;

pub use super::keys::configure::ConfigureKey;
pub use super::keys::window::{BindWindow, Invalidate};
pub use super::payload::NoLocalMemory;
pub use super::tags::entry::TagOperation;
pub use copy::Opaque;
pub use frame::Frame;
pub use frame_options::{FrameOptions, InnerChecksums, Large, Metadata, Parsed, SharedOptions};
pub use header_offsets::{HeaderOffsets, HeadersAt, Ip, L4};
pub use table::{
    CompareSwap, Dump, FetchAdd, MaskedCompareSwap32, MaskedCompareSwap64, MaskedCompareSwap128, MaskedFetchAdd32,
    MaskedFetchAdd64, MaskedFetchAdd128, Memcpy, Nop, Read, RecvEnable, Send, SendEnable, SendImm, SendInval, SetPsv,
    TagAppend, TagRemove, TagSync, WaitCqe, WaitTime, Write, WriteImm,
};
