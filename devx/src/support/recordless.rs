//! Support for send queues without a doorbell record.

use crate::caps::CapMode;
use crate::cmd::CmdHcaCap2;
use crate::context::Context;
use crate::error::Error;
use crate::support::ask::has;

impl Context {
    /// Whether send queues can do without a doorbell record
    /// ([`QpBuilder::build_recordless`](crate::object::QpBuilder::build_recordless)).
    ///
    /// # Errors
    /// [`Error::Capability`] if not, or [`Error::Command`].
    pub fn recordless_sends(&self) -> Result<(), Error> {
        let name = "cmd_hca_cap_2.send_dbr_mode_no_dbr_ext";
        let has_more = self.general()?.hca_cap_2();
        has(name, has_more && self.capabilities::<CmdHcaCap2>(CapMode::Current)?.send_dbr_mode_no_dbr_ext())
    }
}
