//! The common part of the commands here: mailboxes copied in and out, and the user that they act for.

use crate::abi::mailbox::{HEADER_BYTES, OPCODE, UID, VHCA_TUNNEL_ID};
use crate::commands::request::Request;
use crate::context::Context;
use crate::process::Errno;
use softhca::firmware::{DRIVER, Status, Uid};

/// Queries open to all users: `QUERY_HCA_CAP`, `QUERY_HCA_VPORT_CONTEXT`, `QUERY_ESW_VPORT_CONTEXT`,
/// `QUERY_ESW_FUNCTIONS`.
const FOR_ALL: [u16; 4] = [0x100, 0x762, 0x752, 0x740];

/// A command that a program has sent.
pub(super) struct Mailboxes {
    pub(super) input: Vec<u8>,
    pub(super) output: Vec<u8>,
    /// Attribute that the output goes to.
    output_to: u16,
}

/// Whether a command with this result has an output: one that the device refuses has one, too.
pub(super) fn has_output(result: &Result<(), Errno>) -> bool {
    matches!(result, Ok(()) | Err(Errno::EREMOTEIO))
}

impl Mailboxes {
    /// The command in attribute `input_from`, on behalf of `context`, with as much room for its output as attribute
    /// `output_to` has. `EINVAL` for an input shorter than any mailbox; `EOPNOTSUPP` and `EINVAL` for a context that is
    /// no user.
    pub(super) fn copy_in(
        context: &Context,
        request: &Request,
        (input_from, output_to): (u16, u16),
    ) -> Result<Self, Errno> {
        let mailboxes = Self::of(context, || request.array(input_from), request.len(output_to))?;
        Ok(Self { output_to, ..mailboxes })
    }

    /// The command that `input` gives, on behalf of `context`, with `room` for its output. The errors of
    /// [`copy_in`](Self::copy_in).
    pub(super) fn of(
        context: &Context,
        input: impl FnOnce() -> Result<Vec<u8>, Errno>,
        room: usize,
    ) -> Result<Self, Errno> {
        if room < HEADER_BYTES {
            return Err(Errno::EINVAL);
        }
        Ok(Self { input: sent(context, input()?)?, output: vec![0; room], output_to: 0 })
    }

    /// Refuses commands for another function.
    pub(super) fn check_function(&self) -> Result<(), Errno> {
        if VHCA_TUNNEL_ID.get(&self.input) == 0 { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Has the device carry the command out. A refused one is an error, too, once its output is the program's.
    pub(super) fn execute(&mut self, context: &Context, request: &Request) -> Result<(), Errno> {
        self.try_execute(context, request)?;
        self.copy_out(request)
    }

    /// Has the device carry the command out. The caller still has to copy out the output of a command that succeeds.
    pub(super) fn try_execute(&mut self, context: &Context, request: &Request) -> Result<(), Errno> {
        let result = self.carry_out(context);
        if result == Err(Errno::EREMOTEIO) {
            self.copy_out(request)?;
        }
        result
    }

    /// Has the device carry the command out. `EREMOTEIO` if it refuses: its output says why.
    pub(super) fn carry_out(&mut self, context: &Context) -> Result<(), Errno> {
        if context.hca.has_failed() {
            return Err(Errno(libc::ENXIO));
        }
        let status = context.hca.execute(&self.input, &mut self.output);
        if status == Status::Ok { Ok(()) } else { Err(Errno::EREMOTEIO) }
    }

    pub(super) fn copy_out(&self, request: &Request) -> Result<(), Errno> {
        request.put_bytes(self.output_to, &self.output)
    }
}

/// The command in attribute `from`, on behalf of `context`.
pub(super) fn input(context: &Context, request: &Request, from: u16) -> Result<Vec<u8>, Errno> {
    sent(context, request.array(from)?)
}

/// The command in `input`, on behalf of `context`.
fn sent(context: &Context, mut input: Vec<u8>) -> Result<Vec<u8>, Errno> {
    if input.len() < HEADER_BYTES {
        return Err(Errno::EINVAL);
    }
    let user = sender(context, &input)?;
    UID.set(&mut input, user.0.into());
    Ok(input)
}

/// On whose behalf the command in `input` is (`devx_get_uid`).
fn sender(context: &Context, input: &[u8]) -> Result<Uid, Errno> {
    match context.user() {
        DRIVER if FOR_ALL.contains(&(OPCODE.get(input) as u16)) => context.hca.common_user().ok_or(Errno::EOPNOTSUPP),
        DRIVER => Err(Errno::EINVAL),
        user => Ok(user),
    }
}
