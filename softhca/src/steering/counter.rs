//! Flow counters.

/// Counts of a flow counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowCounter {
    /// Frames.
    pub(crate) packets: u64,
    /// Bytes of frames, without their check sequences.
    pub(crate) octets: u64,
    /// Rules that count with it.
    pub(super) users: u32,
}

impl FlowCounter {
    /// Counts a frame.
    pub(super) fn add(&mut self, octets: u64) {
        self.packets += 1;
        self.octets += octets;
    }

    /// Returns its counts, and sets them to 0 if `clear` is set.
    pub(super) fn read(&mut self, clear: bool) -> Self {
        let read = *self;
        if clear {
            (self.packets, self.octets) = (0, 0);
        }
        read
    }
}
