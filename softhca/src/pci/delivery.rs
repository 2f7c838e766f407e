//! How a command got to the firmware, or why it did not.

use crate::memory::DmaFault;

/// How a command got to the firmware (Linux `drivers/net/ethernet/mellanox/mlx5/core/cmd.c`,
/// `MLX5_CMD_DELIVERY_STAT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// It was carried out, or refused: the output says which.
    Done,
    /// A signature is wrong.
    Signature,
    /// A mailbox has another token than its command.
    Token,
    /// A mailbox has another number than its place.
    BlockNumber,
    /// An address of the output's is not aligned.
    OutputPointer,
    /// An address of the input's is not aligned.
    InputPointer,
    /// The input is too short or too long, or its mailboxes end early.
    InputLength,
    /// The output is too short or too long, or its mailboxes end early.
    OutputLength,
    /// Reserved bytes are set.
    Reserved,
    /// The slot has no known type.
    Descriptor,
    /// An address leads nowhere.
    Unreachable(DmaFault),
}

impl Delivery {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Done => 0x00,
            Self::Signature => 0x01,
            Self::Token => 0x02,
            Self::BlockNumber => 0x03,
            Self::OutputPointer => 0x04,
            Self::InputPointer => 0x05,
            // The firmware could not fetch it, or not answer.
            Self::Unreachable(_) => 0x06,
            Self::InputLength => 0x07,
            Self::OutputLength => 0x08,
            Self::Reserved => 0x09,
            Self::Descriptor => 0x10,
        }
    }
}
