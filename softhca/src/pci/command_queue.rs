//! The command queue: 32 slots of 64 bytes in a page of the host's memory. A driver fills a slot, gives it to the
//! device, and rings; the device answers in the same slot and gives it back.
//!
//! ```text
//!  byte 0     4        8          16        32         48          56        60     61   62   63
//!  │ type     │ length │ mailboxes│ input   │ output   │ mailboxes │ length  │token │sig │    │ status, owner
//!  │          └─ of input ────────┴─────────┘ └─ of output ────────┴─────────┘
//! ```

use super::delivery::Delivery;
use super::mailbox_chain::{Chain, DATA_BYTES, Direction};
use super::signature::{is_signed, sign};
use crate::device::Device;
use crate::firmware::Firmware;

/// log2 of the slots.
pub(super) const LOG_SLOTS: u32 = 5;
/// log2 of a slot's bytes.
pub(super) const LOG_STRIDE: u32 = 6;
const SLOT_BYTES: usize = 1 << LOG_STRIDE;

/// Offsets of the fields in a slot.
const TYPE: usize = 0;
const INPUT_LENGTH: usize = 4;
const INPUT_MAILBOX: usize = 8;
const INPUT: usize = 16;
const OUTPUT: usize = 32;
const OUTPUT_MAILBOX: usize = 48;
const OUTPUT_LENGTH: usize = 56;
const TOKEN: usize = 60;
const SIGNATURE: usize = 61;
const STATUS: usize = 63;
/// Bytes of input, and of output, in the slot itself.
const INLINE_BYTES: usize = 16;
/// Reserved bytes.
const RESERVED: [usize; 4] = [1, 2, 3, 62];

/// The slot is the device's (in byte [`STATUS`]); the other bits are the delivery status.
const OWNER: u8 = 1;
/// The one type there is: a command by PCI.
const COMMAND: u8 = 7;
/// Bytes of the header of inputs and outputs: the number of the command, and the status.
const HEADER_BYTES: usize = 8;
/// Most bytes of an input or an output: the pages of the longest list that a driver may name are fewer.
const MAX_BYTES: usize = 1 << 25;

/// A slot as the driver filled it.
struct Slot([u8; SLOT_BYTES]);

impl Slot {
    fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(std::array::from_fn(|byte| self.0[at + byte]))
    }

    fn address(&self, at: usize) -> u64 {
        u64::from(self.word(at)) << 32 | u64::from(self.word(at + 4))
    }

    fn chain(&self, direction: Direction, signed: bool) -> Chain {
        let at = match direction {
            Direction::In => INPUT_MAILBOX,
            Direction::Out => OUTPUT_MAILBOX,
        };
        Chain { first: self.address(at), token: self.0[TOKEN], signed, direction }
    }

    /// Carries out the command, and puts its output into slot and mailboxes.
    fn run(&mut self, device: &mut Device, firmware: &mut Firmware) -> Result<(), Delivery> {
        let signed = firmware.checks_signatures();
        if self.0[TYPE] != COMMAND {
            return Err(Delivery::Descriptor);
        }
        if RESERVED.iter().any(|&at| self.0[at] != 0) {
            return Err(Delivery::Reserved);
        }
        if signed && !is_signed(&self.0) {
            return Err(Delivery::Signature);
        }
        let (length, room) = (self.word(INPUT_LENGTH) as usize, self.word(OUTPUT_LENGTH) as usize);
        if !(HEADER_BYTES..=MAX_BYTES).contains(&length) {
            return Err(Delivery::InputLength);
        }
        if !(HEADER_BYTES..=MAX_BYTES).contains(&room) {
            return Err(Delivery::OutputLength);
        }
        let memory = device.host_memory();
        let mut input = self.0[INPUT..INPUT + length.min(INLINE_BYTES)].to_vec();
        self.chain(Direction::In, signed).read(memory, length - input.len(), &mut input)?;
        let places = self.chain(Direction::Out, signed).places(memory, room.saturating_sub(INLINE_BYTES))?;

        log::trace!("command, with room for {room:#x} bytes of output: {input:02x?}");
        let mut output = vec![0; room];
        firmware.execute(device, &input, &mut output);

        let (first, rest) = output.split_at(room.min(INLINE_BYTES));
        self.0[OUTPUT..OUTPUT + first.len()].copy_from_slice(first);
        for (place, data) in places.iter().zip(rest.chunks(DATA_BYTES)) {
            place.write(device.host_memory(), data)?;
        }
        Ok(())
    }
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There is none, or no way to answer.
    Nothing,
    /// It waits for pages.
    Waits,
    /// The slot is the driver's again.
    Answered,
}

/// Carries out the command in slot `index` of the queue at `queue`.
pub(super) fn run(device: &mut Device, firmware: &mut Firmware, queue: u64, index: u32) -> Outcome {
    let at = queue + u64::from(index) * SLOT_BYTES as u64;
    let mut slot = Slot([0; SLOT_BYTES]);
    if let Err(fault) = device.host_memory().read(at, &mut slot.0) {
        log::warn!("command slot {index}: {fault}");
        return Outcome::Nothing;
    }
    if slot.0[STATUS] & OWNER == 0 {
        log::warn!("command slot {index}: the doorbell rang, and the slot is the driver's");
        return Outcome::Nothing;
    }
    if firmware.has_to_wait(&slot.0[INPUT..OUTPUT]) {
        return Outcome::Waits;
    }
    let delivery = slot.run(device, firmware).err().unwrap_or(Delivery::Done);
    if delivery != Delivery::Done {
        log::warn!("command slot {index}: {delivery:?}");
    }
    slot.0[STATUS] = delivery.number() << 1;
    sign(&mut slot.0, SIGNATURE);
    match device.host_memory().write_last_byte_last(at, &slot.0) {
        Ok(()) => Outcome::Answered,
        Err(fault) => {
            log::warn!("command slot {index}: {fault}");
            Outcome::Nothing
        }
    }
}
