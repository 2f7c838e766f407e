//! Mailboxes: the part of a command's input or output that has no room in its slot. Each holds 512 bytes and the
//! address of the next one.
//!
//! ```text
//!  byte 0          512            560      568       572   573    574       575
//!  │ data          │ reserved     │ next   │ number  │     │token │ctrl sig │ sig
//! ```

use super::delivery::Delivery;
use super::signature::{is_signed, sign};
use crate::memory::HostMemory;

/// Bytes of data in a mailbox.
pub(super) const DATA_BYTES: usize = 512;
/// Bytes of a mailbox.
pub(super) const MAILBOX_BYTES: usize = 576;
/// Alignment of a mailbox, in bytes.
const ALIGNMENT: u64 = 512;

/// Offsets in a mailbox: of its control part, which has a signature of its own, and of the fields in it.
const CONTROL: usize = DATA_BYTES;
const NEXT: usize = 560;
const NUMBER: usize = 568;
const TOKEN: usize = 573;
const CONTROL_SIGNATURE: usize = 574;
const SIGNATURE: usize = 575;

/// Which chain of a command it is. It decides how an error is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Input.
    In,
    /// Output.
    Out,
}

impl Direction {
    fn misaligned(self) -> Delivery {
        match self {
            Self::In => Delivery::InputPointer,
            Self::Out => Delivery::OutputPointer,
        }
    }

    fn too_short(self) -> Delivery {
        match self {
            Self::In => Delivery::InputLength,
            Self::Out => Delivery::OutputLength,
        }
    }
}

/// The facts about a chain before it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// Address of the first mailbox.
    pub(super) first: u64,
    /// The command's token, which each of its mailboxes has.
    pub(super) token: u8,
    /// Signatures are checked.
    pub(super) signed: bool,
    /// Input or output.
    pub(super) direction: Direction,
}

impl Chain {
    /// Follows the chain for `bytes` bytes; `f` gets each mailbox, and its address. The next pointer of the last one
    /// does not count: drivers use long chains for short inputs. Mailboxes are numbered, so a chain that comes back to
    /// itself ends.
    fn follow(
        &self,
        memory: &dyn HostMemory,
        bytes: usize,
        mut f: impl FnMut(u64, &[u8; MAILBOX_BYTES]),
    ) -> Result<(), Delivery> {
        let mut at = self.first;
        for number in 0..bytes.div_ceil(DATA_BYTES) as u32 {
            if at == 0 {
                return Err(self.direction.too_short());
            }
            if at % ALIGNMENT != 0 {
                return Err(self.direction.misaligned());
            }
            let mut mailbox = [0; MAILBOX_BYTES];
            memory.read(at, &mut mailbox).map_err(Delivery::Unreachable)?;
            let word = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| mailbox[at + byte]));
            if mailbox[TOKEN] != self.token {
                return Err(Delivery::Token);
            }
            if word(NUMBER) != number {
                return Err(Delivery::BlockNumber);
            }
            // The data of outputs is not there yet, and has no signature.
            let signed =
                is_signed(&mailbox[CONTROL..SIGNATURE]) && (self.direction == Direction::Out || is_signed(&mailbox));
            if self.signed && !signed {
                return Err(Delivery::Signature);
            }
            f(at, &mailbox);
            at = u64::from(word(NEXT)) << 32 | u64::from(word(NEXT + 4));
        }
        Ok(())
    }

    /// Appends `bytes` bytes from the chain to `input`.
    ///
    /// # Errors
    /// The fault of the chain.
    pub(super) fn read(&self, memory: &dyn HostMemory, bytes: usize, input: &mut Vec<u8>) -> Result<(), Delivery> {
        let end = input.len() + bytes;
        self.follow(memory, bytes, |_, mailbox| {
            let rest = end - input.len();
            input.extend_from_slice(&mailbox[..rest.min(DATA_BYTES)]);
        })
    }

    /// The mailboxes for `bytes` bytes: their addresses, and their present content. So the output of a command is sure
    /// to have a place before the command is carried out.
    ///
    /// # Errors
    /// The fault of the chain.
    pub(super) fn places(&self, memory: &dyn HostMemory, bytes: usize) -> Result<Vec<Place>, Delivery> {
        let mut places = Vec::new();
        self.follow(memory, bytes, |at, mailbox| {
            places.push(Place { at, control: std::array::from_fn(|byte| mailbox[CONTROL + byte]) });
        })?;
        Ok(places)
    }
}

/// A mailbox for output.
#[derive(Clone, Debug)]
pub(super) struct Place {
    at: u64,
    control: [u8; MAILBOX_BYTES - DATA_BYTES],
}

impl Place {
    /// Writes `data`, at most [`DATA_BYTES`], and the signatures.
    ///
    /// # Errors
    /// The mailbox cannot be reached any more.
    pub(super) fn write(&self, memory: &dyn HostMemory, data: &[u8]) -> Result<(), Delivery> {
        let mut mailbox = [0; MAILBOX_BYTES];
        mailbox[..data.len()].copy_from_slice(data);
        mailbox[CONTROL..].copy_from_slice(&self.control);
        sign(&mut mailbox[CONTROL..SIGNATURE], CONTROL_SIGNATURE - CONTROL);
        sign(&mut mailbox, SIGNATURE);
        memory.write(self.at, &mailbox).map_err(Delivery::Unreachable)
    }
}
