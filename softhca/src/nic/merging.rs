//! Large receive offload (LRO): consecutive TCP segments of a connection become one frame. It must never know a queue.
//!
//! The frame has the headers of its first segment, and the data of all. Its CQE has what software must change in the
//! headers (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_lro_update_hdr`; DPDK
//! `drivers/net/mlx5/mlx5_rx.c`, `mlx5_lro_update_hdr`).
//!
//! A segment has Ethernet, tags, IPv4 or IPv6 and TCP, and nothing else (DPDK `doc/guides/nics/mlx5.rst`, "LRO"). Both
//! drivers look for TCP right behind an IP header without options. No public source lists what else a NIC checks. Here
//! the checksums of a segment are right, its flags are ACK and perhaps PSH, and its options are none or the timestamps
//! of RFC 7323, appendix A. The headers equal those of the first segment, except the fields that the CQE reports,
//! the identification of IPv4 and the urgent pointer. The acknowledgement number and the timestamp do not go back.
//!
//! These end a session: a segment with PSH, another frame of the queue, a full message or WQE, and the timer (DPDK's
//! announcement of LRO, mails.dpdk.org/archives/dev/2019-May/132380.html). So a queue has one session at most, and its
//! frames stay in order.

use crate::cq::MergedSegments;
use crate::ethernet::{Headers, IPV4_HEADER, IPV6_HEADER, L4, Tag, sum};
use std::ops::Range;
use std::time::Duration;

/// The times in microseconds after which sessions can end (`lro_timer_supported_periods`), the bytes of TCP data that a
/// segment has at least (`lro_min_mss_size`): a ConnectX-6 Dx's, by the documentation of saeedtx/mlx5ctl.
pub(crate) const PERIODS_USECS: [u16; 4] = [8, 16, 32, 1024];
pub(crate) const MIN_DATA: u16 = 1348;
/// The unit of a message's most bytes (DPDK `drivers/net/mlx5/mlx5.h`, `MLX5_LRO_SEG_CHUNK_SIZE`; Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en/tir.c`, `mlx5e_tir_builder_build_packet_merge`).
pub(crate) const MESSAGE_UNIT: u32 = 256;

/// Offset of the flags in IPv4's header.
const IPV4_FLAGS: usize = 6;
/// Bytes of TCP's header, and of one with time stamps.
const TCP_HEADER: usize = 20;
const STAMPED_HEADER: usize = 32;
/// The option of time stamps behind two NOPs, without the stamps.
const STAMPS_OPTION: [u8; 4] = [1, 1, 8, 10];
/// Flags of TCP.
const PSH: u16 = 1 << 3;
const ACK: u16 = 1 << 4;

/// How a TIR merges segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merging {
    /// Which versions of IP.
    pub(crate) ipv4: bool,
    pub(crate) ipv6: bool,
    /// Most bytes of a message: TCP's header and the data. Linux calls it `lro_max_ip_payload_size`; DPDK counts so
    /// where `lro_max_msg_sz_mode` is 0 (`drivers/net/mlx5/mlx5_rxq.c`, `mlx5_max_lro_msg_size_adjust`).
    pub(crate) most: u32,
    /// How long a session lasts, from its first segment on.
    pub(crate) period: Duration,
}

/// The fields that all segments of a session share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    stations: [[u8; 6]; 2],
    tags: [Option<Tag>; 2],
    version: u8,
    traffic_class: u8,
    /// IPv4's: "don't fragment", and one that is reserved.
    flags: u8,
    flow_label: u32,
    addresses: [[u8; 16]; 2],
    ports: [u16; 2],
    /// Whether TCP's header has time stamps.
    is_stamped: bool,
    /// TCP's bits between the length of the header and the flags.
    reserved: u8,
    merging: Merging,
}

/// A frame that can be merged with others.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    flow: Flow,
    sequence: u32,
    acknowledgement: u32,
    window: u16,
    has_push: bool,
    ttl: u8,
    /// The sender's time stamp, and the one that it returns.
    stamps: [u32; 2],
    /// Bytes of TCP's header.
    header: usize,
    /// Where the frame has the data.
    pub(super) data: Range<usize>,
}

impl Segment {
    /// The segment in a frame, if it is one that can be merged.
    pub(super) fn of(merging: Merging, frame: &[u8], headers: &Headers) -> Option<Self> {
        let ip = headers.ip.as_ref().filter(|ip| if ip.version == 6 { merging.ipv6 } else { merging.ipv4 })?;
        let ports = headers.ports.as_ref().filter(|ports| ports.checksum_ok)?;
        let L4::Tcp { flags, .. } = ports.l4 else { return None };
        let tcp_at = ip.at + if ip.version == 6 { IPV6_HEADER } else { IPV4_HEADER };
        let tcp = frame.get(tcp_at..)?;
        let header = usize::from(tcp.get(12)? >> 4) * 4;
        let is_stamped = header == STAMPED_HEADER && tcp.get(TCP_HEADER..)?.starts_with(&STAMPS_OPTION);
        let is_plain = ip.checksum_ok
            && !ip.options
            && !ip.fragment
            && ip.end == frame.len()
            && flags & !PSH == ACK
            && (header == TCP_HEADER || is_stamped);
        let data = tcp_at + header..frame.len();
        if !is_plain || data.len() < MIN_DATA.into() {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let flow = Flow {
            stations: [headers.destination, headers.source],
            tags: headers.tags,
            version: ip.version,
            traffic_class: ip.traffic_class,
            flags: if ip.version == 6 { 0 } else { frame[ip.at + IPV4_FLAGS] & 0xc0 },
            flow_label: ip.flow_label,
            addresses: [ip.source, ip.destination],
            ports: [ports.source, ports.destination],
            is_stamped,
            reserved: tcp[12] & 0x0e,
            merging,
        };
        Some(Self {
            flow,
            sequence: word(4),
            acknowledgement: word(8),
            window: u16::from_be_bytes([tcp[14], tcp[15]]),
            has_push: flags & PSH != 0,
            ttl: ip.ttl,
            stamps: if is_stamped { [word(24), word(28)] } else { [0; 2] },
            header,
            data,
        })
    }
}

/// The segments that a frame has so far.
#[derive(Clone, Debug)]
pub(super) struct Session {
    last: Segment,
    /// A message of 255 units has 48 of [`MIN_DATA`] bytes at most.
    segments: u8,
    /// Bytes of data, and the sum of their words.
    bytes: usize,
    sum: u64,
    min_ttl: u8,
    /// When it ends.
    pub(super) until: Duration,
}

impl Session {
    /// A session that begins with a segment of this frame.
    pub(super) fn new(segment: Segment, frame: &[u8], now: Duration) -> Self {
        Self {
            segments: 1,
            bytes: segment.data.len(),
            sum: sum::add(0, &frame[segment.data.clone()]),
            min_ttl: segment.ttl,
            until: now + segment.flow.merging.period,
            last: segment,
        }
    }

    /// Whether a segment continues it, and the message may be as long.
    pub(super) fn takes(&self, next: &Segment) -> bool {
        let Self { last, bytes, .. } = self;
        let is_behind = |number: u32, before: u32| number.wrapping_sub(before) > i32::MAX as u32;
        next.flow == last.flow
            && next.sequence == last.sequence.wrapping_add(last.data.len() as u32)
            && !is_behind(next.acknowledgement, last.acknowledgement)
            && !is_behind(next.stamps[0], last.stamps[0])
            && next.header + bytes + next.data.len() <= last.flow.merging.most as usize
    }

    /// Continues it with a segment of this frame, which it [takes](Self::takes).
    pub(super) fn add(&mut self, next: &Segment, frame: &[u8]) {
        let words = sum::add(0, &frame[next.data.clone()]);
        // Behind an odd number of bytes, each one stands in the other half of a word.
        self.sum += if self.bytes % 2 == 0 { words } else { u64::from((!sum::fold(words)).swap_bytes()) };
        self.bytes += next.data.len();
        self.segments += 1;
        self.min_ttl = self.min_ttl.min(next.ttl);
        self.last = next.clone();
    }

    /// Whether its last segment ends it.
    pub(super) fn is_over(&self) -> bool {
        self.last.has_push
    }

    /// The values for its CQE, and the sum of its data. The sum replaces that of the packet, because drivers change the
    /// headers and add them themselves.
    pub(super) fn report(&self) -> (MergedSegments, u16) {
        let Self { last, segments, min_ttl, .. } = self;
        let merged = MergedSegments {
            segments: *segments,
            has_push: last.has_push,
            min_ttl: *min_ttl,
            window: last.window,
            acknowledgement: last.acknowledgement,
            stamps: (last.flow.is_stamped && *segments > 1).then_some(last.stamps),
        };
        (merged, !sum::fold(self.sum))
    }
}
