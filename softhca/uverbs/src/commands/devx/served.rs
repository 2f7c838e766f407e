//! Commands on objects of this process that others ask for, and the method of UAR pages that they may ask for as well.

use super::calls::{self, DEREGISTER, DESTROY, FREE_UAR, MODIFY, QUERY};
use super::mailboxes::{self, Mailboxes};
use super::objects::{self, DevxObject};
use super::umem::Umem;
use crate::commands::request::Request;
use crate::commands::uar;
use crate::context::Context;
use crate::context::calls::{Answer, Call};
use crate::process::Errno;
use std::sync::Arc;

/// Carries out what another process asks for.
pub(crate) fn serve(context: &Arc<Context>, call: Call) -> Answer {
    let Call { method, handle, input, output_len } = call;
    let mut output = Vec::new();
    let result = context.hca.is_here().and_then(|()| match method {
        DESTROY => context.destroy::<DevxObject>(handle).map(drop),
        DEREGISTER => context.destroy::<Umem>(handle).map(drop),
        FREE_UAR => uar::free(context, handle),
        MODIFY | QUERY => {
            let mut mailboxes = Mailboxes::of(context, || Ok(input), output_len)?;
            let result = objects::execute(context, handle, &mut mailboxes, method == MODIFY);
            if mailboxes::has_output(&result) {
                output = mailboxes.output;
            }
            result
        }
        _ => Err(Errno::EOPNOTSUPP),
    });
    (output, result)
}

/// `UAR_OBJ_DESTROY`: 0x1000 handle.
pub(crate) fn free_uar(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    calls::destroy(context, request, FREE_UAR, |handle| uar::free(context, handle))
}
