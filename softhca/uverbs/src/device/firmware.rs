//! The device's firmware: commands as mailboxes, and whose an object is that was made without them.

use super::hca::{Hca, refused};
use super::{refusal, tally};
use crate::abi::mailbox::{self, HEADER_BYTES, NUMBER, OPCODE, STATUS, SYNDROME};
use crate::process::Errno;
use softhca::device::Device;
use softhca::error::{Error, Object};
use softhca::firmware::{Status, Uid};
use std::collections::BTreeMap;

/// The syndrome of a command that is refused because a test has arranged it: one that no reason has.
const ARRANGED: u64 = 0xa44a_46ed;

impl Hca {
    /// How many objects the device has, by kind.
    pub(crate) fn objects(&self) -> BTreeMap<String, usize> {
        let core = self.core.lock();
        core.firmware.objects(&core.device)
    }

    /// Carries out the command in `input`, and fills `output`.
    pub(crate) fn execute(&self, input: &[u8], output: &mut [u8]) -> Status {
        let opcode = OPCODE.get(input) as u16;
        if let Some(status) = refusal::of_mailbox(opcode) {
            output.fill(0);
            STATUS.set(output, status as u64);
            SYNDROME.set(output, ARRANGED);
            return status;
        }
        let mut core = self.after_doorbells();
        let core = &mut *core;
        let status = core.firmware.execute(&mut core.device, input, output);
        // The events of a command are delivered before its answer.
        core.deliver_all();
        if status == Status::Ok {
            tally::carried_out(opcode);
        }
        status
    }

    /// Carries out the command in `input`, whose output has the usual size.
    pub(crate) fn carry_out(&self, input: &[u8]) -> Result<[u8; HEADER_BYTES], Errno> {
        let mut output = [0; HEADER_BYTES];
        match self.execute(input, &mut output) {
            Status::Ok => Ok(output),
            status => Err(command_errno(status)),
        }
    }

    /// Carries out a command about object `number` that needs nothing else. Those that destroy fail with `EBUSY` if
    /// something uses the object.
    pub(crate) fn carry_out_on(&self, user: Uid, opcode: u16, number: u32) -> Result<(), Errno> {
        let mut input = mailbox::command(opcode, user.0, HEADER_BYTES);
        NUMBER.set(&mut input, number.into());
        self.carry_out(&input).map(drop)
    }

    /// Has the device make an object on behalf of `user`; its number.
    pub(crate) fn create(
        &self,
        user: Uid,
        kind: Object,
        create: impl FnOnce(&mut Device) -> Result<u32, Error>,
    ) -> Result<u32, Errno> {
        let mut core = self.core.lock();
        let number = create(&mut core.device).map_err(|error| refused(&error))?;
        core.firmware.set_owner(kind, number, user);
        Ok(number)
    }

    /// Has the device destroy what [`Self::create`] has made. Before anybody can get its number for another object, it
    /// is nobody's.
    pub(crate) fn destroy(
        &self,
        kind: Object,
        number: u32,
        destroy: impl FnOnce(&mut Device) -> Result<(), Error>,
    ) -> Result<(), Errno> {
        let mut core = self.after_doorbells();
        destroy(&mut core.device).map_err(|error| refused(&error))?;
        core.firmware.forget_owner(kind, number);
        Ok(())
    }
}

/// The kernel's error number for a command that has ended so (`cmd_status_to_err`).
pub(crate) fn command_errno(status: Status) -> Errno {
    match status {
        Status::ResourceBusy => Errno::EBUSY,
        Status::LimitExceeded => Errno::ENOMEM,
        Status::NotReady | Status::NoResources => Errno::EAGAIN,
        Status::InternalError | Status::BadSystemState | Status::BadInputLength | Status::BadOutputLength => Errno::EIO,
        _ => Errno::EINVAL,
    }
}
