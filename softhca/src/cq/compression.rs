//! Compression: similar completions in fewer CQEs.
//!
//! Real devices wait a little for more. This device compresses only completions of the same step. Layouts: Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c` (`mlx5e_decompress_cqe`, `mlx5e_decompress_enhanced_cqe`), DPDK
//! `drivers/net/mlx5/mlx5_rx.c` (`mlx5_rx_poll_len`, `rxq_cq_to_mbuf`). The opcode of a request: Linux
//! `include/linux/mlx5/device.h`, `mlx5_mini_cqe8`. The headers of a packet: DPDK
//! `drivers/net/mlx5/mlx5_rxtx_vec_sse.h` (`rxq_cq_decompress_v`, bytes 0 and 8 of each pair).

use super::cqe::{CQE64_BYTES, Encoded};
use crate::context::{CqCompression, MiniFormat};

/// Completions of a session of the basic layout, at most (`cmd_hca_cap.cqe_compression_max_num`).
pub(crate) const MAX_SESSION: u32 = 64;
/// Mini-CQEs in one CQE of the basic layout, which they fill.
const ARRAY: usize = 8;
/// Mini-CQEs in one CQE of the enhanced layout.
const BLOCK: usize = 7;
/// Bytes of a mini-CQE.
const MINI_BYTES: usize = 8;

/// Bits 3:2 of the last byte of a CQE: it is compressed.
const COMPRESSED: u8 = 3 << 2;

/// The fields of a CQE, in bytes.
type Fields = [u8; CQE64_BYTES];

/// Offsets of the fields in which completions of one session may differ, and of those that mini-CQEs carry.
mod at {
    use std::ops::Range;

    pub(super) const HASH: Range<usize> = 12..16;
    pub(super) const HASH_KIND: usize = 16;
    pub(super) const SUM: Range<usize> = 20..22;
    pub(super) const HEADERS: usize = 29;
    pub(super) const SEGMENTS: usize = 32;
    pub(super) const APP: usize = 40;
    pub(super) const BYTE_CNT: Range<usize> = 44..48;
    pub(super) const TIMESTAMP: Range<usize> = 48..56;
    pub(super) const REQUEST: usize = 56;
    pub(super) const TAG: Range<usize> = 57..60;
    pub(super) const COUNTER: Range<usize> = 60..62;
    pub(super) const OP_OWN: usize = 63;
}

/// A CQE of a session, and its place.
pub(super) struct Piece {
    /// Places after the next one to be written.
    pub(super) ahead: u32,
    /// The bytes written there.
    pub(super) fields: Fields,
    /// Whether it has an owner bit of its own. Hosts read CQEs without one because of a CQE that has one.
    pub(super) is_owned: bool,
}

/// Completions that wait to be written.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    waiting: Vec<Fields>,
    /// One of them counts as solicited.
    pub(super) is_solicited: bool,
    /// The latest completion, if the next one can be compressed with it.
    latest: Option<Latest>,
}

/// A completion, and the WQE counter that the next one of the same queue has.
#[derive(Clone, Copy, Debug)]
struct Latest {
    fields: Fields,
    next_counter: u16,
}

impl Latest {
    fn new(cqe: &Encoded) -> Self {
        Self { fields: *cqe.fields(), next_counter: counter(cqe.fields()).wrapping_add(cqe.span()) }
    }
}

impl Session {
    /// How many wait.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Whether `next` can be one of the completions that wait, or the first of them, and how many there may be is not
    /// reached.
    pub(super) fn takes(&self, compression: CqCompression, next: &Encoded) -> bool {
        let room = if compression.enhanced { BLOCK } else { MAX_SESSION as usize };
        match &self.latest {
            Some(latest) => self.waiting.len() < room && is_like(compression.format, latest, next.fields()),
            None => {
                !compression.enhanced && self.waiting.is_empty() && may_be_compressed(compression.format, next.fields())
            }
        }
    }

    /// Has a completion wait.
    pub(super) fn add(&mut self, next: &Encoded, is_solicited: bool) {
        self.waiting.push(*next.fields());
        self.is_solicited |= is_solicited;
        self.latest = Some(Latest::new(next));
    }

    /// Notes a completion that was written by itself, and whether the next ones can be compressed with it.
    pub(super) fn written(&mut self, compression: CqCompression, cqe: &Encoded) {
        let may_follow = compression.enhanced && may_be_compressed(compression.format, cqe.fields());
        self.latest = may_follow.then(|| Latest::new(cqe));
    }

    /// The CQEs to write for the waiting completions, in this order. They wait no longer.
    pub(super) fn end(&mut self, compression: CqCompression) -> Vec<Piece> {
        let waiting = std::mem::take(&mut self.waiting);
        self.is_solicited = false;
        if compression.enhanced {
            return waiting.chunks(BLOCK).map(|block| self::block(compression.format, block)).collect();
        }
        self.latest = None;
        let [first, rest @ ..] = waiting.as_slice() else { return Vec::new() };
        if rest.is_empty() {
            return vec![Piece { ahead: 0, fields: *first, is_owned: true }];
        }
        let mut title = *first;
        title[at::BYTE_CNT].copy_from_slice(&(waiting.len() as u32).to_be_bytes());
        title[at::OP_OWN] |= COMPRESSED;
        let arrays = waiting.chunks(ARRAY).enumerate().map(|(n, array)| Piece {
            ahead: if n == 0 { 1 } else { (n * ARRAY) as u32 },
            fields: minis(compression.format, array),
            is_owned: false,
        });
        arrays.chain([Piece { ahead: 0, fields: title, is_owned: true }]).collect()
    }
}

/// The CQE of up to seven mini-CQEs.
fn block(format: MiniFormat, block: &[Fields]) -> Piece {
    let mut fields = minis(format, block);
    fields[at::OP_OWN] = ((block.len() - 1) as u8) << 4 | COMPRESSED;
    Piece { ahead: 0, fields, is_owned: true }
}

fn minis(format: MiniFormat, all: &[Fields]) -> Fields {
    let mut bytes = [0; CQE64_BYTES];
    for (to, from) in bytes.chunks_mut(MINI_BYTES).zip(all) {
        to.copy_from_slice(&mini(format, from));
    }
    bytes
}

/// The mini-CQE of one completion.
fn mini(format: MiniFormat, cqe: &Fields) -> [u8; MINI_BYTES] {
    let mut mini = [0; MINI_BYTES];
    mini[4..].copy_from_slice(&cqe[at::BYTE_CNT]);
    if is_request(cqe) {
        mini[..2].copy_from_slice(&cqe[at::COUNTER]);
        mini[2] = cqe[at::REQUEST];
        return mini;
    }
    if has_counter(format) {
        mini[2..4].copy_from_slice(&cqe[at::COUNTER]);
    }
    match format {
        MiniFormat::Hash => mini[..4].copy_from_slice(&cqe[at::HASH]),
        MiniFormat::Checksum | MiniFormat::ChecksumStride => mini[..2].copy_from_slice(&cqe[at::SUM]),
        MiniFormat::FlowTag => {
            // Its highest byte takes the place of the highest of the number of bytes.
            let [high, middle, low] = [0, 1, 2].map(|n| cqe[at::TAG.start + n]);
            (mini[0], mini[1], mini[4]) = (middle, low, high);
        }
        MiniFormat::Headers => mini[0] = cqe[at::HEADERS],
    }
    mini
}

fn has_counter(format: MiniFormat) -> bool {
    matches!(format, MiniFormat::FlowTag | MiniFormat::ChecksumStride | MiniFormat::Headers)
}

fn is_request(cqe: &Fields) -> bool {
    cqe[at::OP_OWN] >> 4 == 0
}

/// Successes with no data in the CQE: of requests, or receives.
fn may_be_compressed(format: MiniFormat, cqe: &Fields) -> bool {
    // A mini-CQE has no room for tags, nor for what becomes of the headers of merged segments. Drivers look for the
    // latter in the title (DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst`), so it would be that of all.
    let is_whole = cqe[at::APP] == 0 && cqe[at::SEGMENTS] == 0;
    let is_success = is_whole && cqe[at::OP_OWN] >> 4 <= 4 && cqe[at::OP_OWN] & COMPRESSED == 0;
    is_success && (format != MiniFormat::FlowTag || is_request(cqe) || cqe[at::BYTE_CNT.start] == 0)
}

fn counter(cqe: &Fields) -> u16 {
    u16::from_be_bytes([cqe[at::COUNTER.start], cqe[at::COUNTER.start + 1]])
}

/// Whether the two can belong to one session: they differ only in the fields that mini-CQEs carry, and in those that
/// each packet has of its own.
///
/// So a session of a striding queue belongs to one WQE, as drivers expect: only the title has the WQE's number (DPDK
/// `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq`; Linux `en_rx.c`, `mlx5e_handle_rx_cqe_mpwrq`). Without an index
/// in each mini-CQE, drivers add up the strides (Linux `en_rx.c`, `mlx5e_decompress_cqe`).
fn is_like(format: MiniFormat, before: &Latest, next: &Fields) -> bool {
    let common = |cqe: &Fields| {
        let mut common = *cqe;
        for own in [at::BYTE_CNT, at::TIMESTAMP, at::COUNTER, at::HASH, at::SUM] {
            common[own].fill(0);
        }
        if is_request(cqe) {
            common[at::REQUEST] = 0;
        }
        match format {
            // The kind of hash is the title's.
            MiniFormat::Hash => {}
            _ => common[at::HASH_KIND] = 0,
        }
        match format {
            MiniFormat::FlowTag if !is_request(cqe) => common[at::TAG].fill(0),
            MiniFormat::Headers => common[at::HEADERS] = 0,
            _ => {}
        }
        common
    };
    let follows = counter(next) == before.next_counter;
    may_be_compressed(format, next)
        && common(&before.fields) == common(next)
        && (follows || is_request(next) || has_counter(format))
}
