//! The limits of one request. Knows no request.
use core::fmt;

/// The most bytes one scatter/gather entry can name: 2^31 - 1. The data segment's byte count has 31 bits (bit 31 marks
/// an inline segment). The device reads 0 as 2^31. Verbs has no way to ask for that, and this crate has none either.
pub const MAX_SGE_BYTES: u32 = 0x7fff_ffff;

/// The most bytes of a copy: 2^31, which is a byte count of 0. A device's limit may be lower
/// ([`Opaque::max_bytes`](crate::wqe::operations::Opaque::max_bytes)).
pub const MAX_MEMCPY_BYTES: u32 = 1 << 31;

/// A memory key's list in memory begins at a multiple of this many bytes, as in Linux (`include/linux/mlx5/device.h`,
/// `MLX5_UMR_ALIGN`).
pub const KEY_LIST_ALIGN: u64 = 2048;

/// The limits on one request that the queue was created with.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes inline (`max_inline_data`).
    pub max_inline: u32,
    /// Scatter/gather entries (`max_send_sge`).
    pub max_sge: u32,
    /// The offloads of the device for frames of the queue.
    pub offloads: FrameOffloads,
}

impl Limits {
    /// No inline bytes, no entries, and no offloads.
    pub(crate) const NONE: Self = Self { max_inline: 0, max_sge: 0, offloads: FrameOffloads::NONE };

    /// Whether each limit is at least as large as in `needs`.
    #[inline(always)]
    pub(crate) const fn cover(&self, needs: Self) -> bool {
        self.max_inline >= needs.max_inline && self.max_sge >= needs.max_sge
    }
}

/// The offloads that a frame needs, a bit for each of [`FrameOffload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OffloadBits(u8);

impl OffloadBits {
    /// None.
    pub(crate) const NONE: Self = Self(0);

    /// These and another one.
    ///
    /// Offsets replace the device's own search for inner headers, and those of large sends are an offload of their own.
    #[inline(always)]
    pub(super) const fn and(self, offload: FrameOffload) -> Self {
        let all = self.0 | 1 << offload as u8;
        let offsets = all & 1 << FrameOffload::HeaderOffsets as u8 != 0;
        let large = all & 1 << FrameOffload::LargeSends as u8 != 0;
        let of_large = if offsets && large { 1 << FrameOffload::HeaderOffsetsOfLarge as u8 } else { 0 };
        let inner = if offsets { 1 << FrameOffload::InnerChecksums as u8 } else { 0 };
        Self((all | of_large) & !inner)
    }
}

/// The offloads that the device has for the frames of a queue
/// ([`SendQueue::set_frame_offloads`](crate::queue::SendQueue::set_frame_offloads)). Other queues have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameOffloads {
    /// WQEs of several frames ([`Session`](crate::queue::send::Session); `enhanced_multi_pkt_send_wqe`).
    pub multi_packet: bool,
    /// [Checksums of the headers inside of a tunnel](crate::wqe::Request::inner_l3_checksum), which the device finds by
    /// itself (one of `tunnel_stateless_vxlan`, `tunnel_stateless_gre` and so on).
    pub inner_checksums: bool,
    /// [Offsets of headers](crate::wqe::Request::header_offsets), for checksums (`swp`, `swp_csum`).
    pub header_offsets: bool,
    /// Offsets of headers of large sends (`swp`, `swp_lso`).
    pub header_offsets_of_large: bool,
    /// [Metadata](crate::wqe::Request::metadata), which rules of frames that leave can match (`metadata_reg_a`).
    pub metadata: bool,
    /// The most bytes of payload of a [large send](crate::wqe::Request::large), 2^`max_lso_cap`; 0: there are none.
    pub max_large_send: u32,
}

/// An offload of [`FrameOffloads`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameOffload {
    /// [`FrameOffloads::max_large_send`] of at least one byte.
    LargeSends,
    /// [`FrameOffloads::inner_checksums`].
    InnerChecksums,
    /// [`FrameOffloads::header_offsets`].
    HeaderOffsets,
    /// [`FrameOffloads::header_offsets_of_large`].
    HeaderOffsetsOfLarge,
    /// [`FrameOffloads::metadata`].
    Metadata,
}

impl FrameOffloads {
    /// None of them.
    pub const NONE: Self = Self {
        multi_packet: false,
        inner_checksums: false,
        header_offsets: false,
        header_offsets_of_large: false,
        metadata: false,
        max_large_send: 0,
    };

    /// The first offload of `needs` that is not here. Bytes of large sends are compared where they are known.
    #[inline(always)]
    pub(crate) fn missing(&self, needs: OffloadBits) -> Option<FrameOffload> {
        if needs == OffloadBits::NONE {
            return None;
        }
        FrameOffload::ALL.into_iter().find(|&offload| needs.0 & 1 << offload as u8 != 0 && !self.has(offload))
    }

    #[inline(always)]
    const fn has(&self, offload: FrameOffload) -> bool {
        match offload {
            FrameOffload::LargeSends => self.max_large_send != 0,
            FrameOffload::InnerChecksums => self.inner_checksums,
            FrameOffload::HeaderOffsets => self.header_offsets,
            FrameOffload::HeaderOffsetsOfLarge => self.header_offsets_of_large,
            FrameOffload::Metadata => self.metadata,
        }
    }
}

impl FrameOffload {
    const ALL: [Self; 5] =
        [Self::LargeSends, Self::InnerChecksums, Self::HeaderOffsets, Self::HeaderOffsetsOfLarge, Self::Metadata];
}

impl fmt::Display for FrameOffload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LargeSends => "large sends",
            Self::InnerChecksums => "checksums of inner headers",
            Self::HeaderOffsets => "offsets of headers (software parser)",
            Self::HeaderOffsetsOfLarge => "offsets of headers of large sends (software parser)",
            Self::Metadata => "metadata for rules",
        })
    }
}
