//! How devices under test and their QPs are made.

use softhca::config::{Generation, GidType, LinkLayer, SrqFaults};
use softhca::context::*;
use softhca::wire::fault::FaultConfig;
use std::time::Duration;

/// How a pair is made.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    pub(crate) streams: Option<DciStreams>,
    pub(crate) cross_channel: CrossChannel,
    pub(crate) signed: bool,
    /// UD: the QP's own datagrams to groups are not for it.
    pub(crate) blocks_own_multicast: bool,
    pub(crate) link: LinkLayer,
    pub(crate) mtu: u32,
    pub(crate) psn: u32,
    pub(crate) sq_log: u8,
    pub(crate) rq_log: u8,
    pub(crate) srq: bool,
    /// The SRQ matches messages with tags; log2 of the places in its list.
    pub(crate) tags_log: Option<u8>,
    pub(crate) scatter_to_cqe: u32,
    pub(crate) max_rd_atomic: u8,
    pub(crate) max_dest_rd_atomic: u8,
    pub(crate) timeout: u8,
    pub(crate) retry_cnt: u8,
    pub(crate) rnr_retry: u8,
    pub(crate) min_rnr_timer: u8,
    pub(crate) access: Access,
    pub(crate) extended_atomics: u8,
    pub(crate) grh: bool,
    /// Ethernet: types of the entries of the GID table, which all have the same GID.
    pub(crate) gid_types: Vec<GidType>,
    pub(crate) sink: bool,
    pub(crate) out_of_order: bool,
    pub(crate) inline_headers: InlineHeaders,
    pub(crate) multi_packet: bool,
    pub(crate) software_parser: bool,
    pub(crate) srq_faults: SrqFaults,
    /// Packets of WRITEs per thousand that are placed late.
    pub(crate) late_writes: u16,
    pub(crate) generation: Generation,
    /// The real time at 0 of the devices' clocks, if they know it.
    pub(crate) real_time: Option<Duration>,
    /// The network's own faults.
    pub(crate) faults: FaultConfig,
    /// Most bytes of payload in a frame of several packets; 0: each frame is one packet.
    pub(crate) segment_bytes: usize,
}

pub(crate) const ALL: Access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };

impl Default for Options {
    fn default() -> Self {
        Self {
            transport: Transport::Rc,
            streams: None,
            cross_channel: CrossChannel::default(),
            signed: false,
            blocks_own_multicast: false,
            link: LinkLayer::InfiniBand,
            mtu: 1024,
            psn: 0x123,
            sq_log: 6,
            rq_log: 4,
            srq: false,
            tags_log: None,
            scatter_to_cqe: 0,
            max_rd_atomic: 4,
            max_dest_rd_atomic: 4,
            timeout: 10,
            retry_cnt: 3,
            rnr_retry: 2,
            min_rnr_timer: 12,
            access: ALL,
            extended_atomics: EXTENDED_ATOMICS,
            grh: false,
            gid_types: vec![GidType::RoceV2],
            sink: false,
            out_of_order: false,
            inline_headers: InlineHeaders::None,
            multi_packet: true,
            software_parser: true,
            srq_faults: SrqFaults::default(),
            late_writes: 0,
            generation: Generation::default(),
            real_time: None,
            faults: FaultConfig::default(),
            segment_bytes: 0,
        }
    }
}

impl Options {
    /// Of those who give up late, on a bad network: many small packets, whose numbers wrap.
    pub(crate) fn patient(faults: FaultConfig) -> Self {
        Self { mtu: 256, psn: 0xff_ffc0, retry_cnt: 7, rnr_retry: 7, min_rnr_timer: 1, faults, ..Self::default() }
    }
}
