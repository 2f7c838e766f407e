//! Registers of frames, which rules set and match.

/// Registers that a frame has on its way through the tables of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    /// An egress frame begins with the number of its WQE (`flow_table_metadata`).
    pub(crate) a: u32,
    /// A received frame's CQE has it (`ft_metadata`).
    pub(crate) b: u32,
    /// The others, which later tables match.
    pub(crate) c: [u32; 8],
}
