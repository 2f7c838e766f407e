//! The limits of one request. Knows no request.

/// The most bytes one scatter/gather entry can name: 2^31 - 1. The data segment's byte count has 31 bits (bit 31 marks
/// an inline segment). The device reads 0 as 2^31. Verbs has no way to ask for that, and this crate has none either.
pub const MAX_SGE_BYTES: u32 = 0x7fff_ffff;

/// The most bytes of a copy: 2^31, which is a byte count of 0. A device's limit may be lower
/// ([`Opaque::max_bytes`](crate::wqe::operations::Opaque::max_bytes)).
pub const MAX_MEMCPY_BYTES: u32 = 1 << 31;

/// A memory key's list in memory begins at a multiple of so many bytes, as in Linux (`include/linux/mlx5/device.h`,
/// `MLX5_UMR_ALIGN`).
pub const KEY_LIST_ALIGN: u64 = 2048;

/// The limits on one request that the queue was created with.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes inline (`max_inline_data`).
    pub max_inline: u32,
    /// Scatter/gather entries (`max_send_sge`).
    pub max_sge: u32,
}

impl Limits {
    /// No inline bytes and no entries.
    pub(crate) const NONE: Self = Self { max_inline: 0, max_sge: 0 };

    /// Whether each limit is at least as large as in `needs`.
    #[inline(always)]
    pub(crate) const fn cover(&self, needs: Self) -> bool {
        self.max_inline >= needs.max_inline && self.max_sge >= needs.max_sge
    }
}
