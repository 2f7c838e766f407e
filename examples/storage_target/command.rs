//! The command that an initiator sends.

use blueflame::Remote;

/// Blocks of each initiator.
pub(crate) const BLOCKS: u32 = 128;

/// A command: it fits one WQEBB inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// Whether to write the block, or to read it.
    pub(crate) write: bool,
    pub(crate) block: u32,
    /// Comes back as the answer's immediate data.
    pub(crate) tag: u16,
    /// The initiator's memory.
    pub(crate) memory: Remote,
}

impl Command {
    pub(crate) const BYTES: usize = 8 + Remote::BYTES;

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = self.write.into();
        bytes[2..4].copy_from_slice(&self.tag.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.block.to_be_bytes());
        bytes[8..].copy_from_slice(&self.memory.to_bytes());
        bytes
    }

    /// `None` for bytes that are no command.
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let [write @ (0 | 1), 0, t0, t1, b0, b1, b2, b3, memory @ ..] = *bytes else { return None };
        let memory = Remote::from_bytes(&memory).ok()?;
        Some(Self {
            write: write == 1,
            block: u32::from_be_bytes([b0, b1, b2, b3]),
            tag: u16::from_be_bytes([t0, t1]),
            memory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blueflame::Rkey;

    #[test]
    fn commands_come_back_from_bytes_and_others_do_not() {
        let memory = Remote { addr: 0x1234_5678_9abc_def0, rkey: Rkey(7) };
        let command = Command { write: true, block: 0x0102_0304, tag: 0xa5b6, memory };
        let bytes = command.to_bytes();
        assert_eq!(Command::from_bytes(&bytes), Some(command));
        for place in [0, 1, 8] {
            let mut bad = bytes;
            bad[place] = 0xff;
            assert_eq!(Command::from_bytes(&bad), None);
        }
    }
}
