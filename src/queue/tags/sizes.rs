//! How large a list of tagged buffers and its queues are.

use crate::queue::recv::capacity;

/// How large a list of tagged buffers and its queues are. `verbs::ProtectionDomain::tag_matching` and `Pd::tag_matching`
/// of `blueflame-devx` take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagListSizes {
    /// Tags on the list at a time, 1 to 32767.
    pub tags: u32,
    /// Operations on the list that may be outstanding at a time. `None` is twice the number of tags plus two, or the
    /// device's limit if that is known and lower.
    pub operations: Option<u32>,
    /// Buffers for messages that match nothing.
    ///
    /// Ask for 33 or more on a NIC. UCX never makes such a queue with fewer (`src/uct/ib/mlx5/ib_mlx5.h`,
    /// `UCT_IB_MLX5_XRQ_MIN_UWQ_POST`), and gives no reason. The effect of fewer on a NIC is undocumented, so this
    /// crate does not refuse fewer.
    pub receives: u32,
    /// Scatter entries of each of these buffers. A tagged buffer is always one.
    pub recv_sge: u32,
}

impl TagListSizes {
    /// 64 tags, 128 receives of one entry, and the operations that they may need.
    pub const DEFAULT: Self = Self { tags: 64, operations: None, receives: 128, recv_sge: 1 };

    /// The operations that may be outstanding.
    #[must_use]
    pub const fn most_operations(&self) -> u32 {
        match self.operations {
            Some(operations) => operations,
            None => self.tags.saturating_mul(2).saturating_add(2),
        }
    }

    /// The most completions that can wait in the completion queue: one of each operation, two of each tag, and one of
    /// each buffer that the shared receive queue has place for. It is one more, for the drain of the command queue.
    #[must_use]
    pub const fn completions(&self) -> u32 {
        let of_tags = self.tags.saturating_mul(2).saturating_add(self.most_operations()).saturating_add(1);
        of_tags.saturating_add(capacity(self.receives))
    }
}

impl Default for TagListSizes {
    fn default() -> Self {
        Self::DEFAULT
    }
}
