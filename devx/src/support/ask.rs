//! Queries of capabilities, and the checks that run before an object is made.

use crate::caps::{CapMode, Capabilities, Caps};
use crate::cmd::{CapabilitySelector, CmdHcaCap, QueryHcaCapIn};
use crate::context::Context;
use crate::error::Error;

impl Context {
    /// A set of capabilities. The context queries the firmware once for each set and mode, at the first use.
    ///
    /// ```no_run
    /// use blueflame_devx::{CapMode, Context, Error, cmd};
    ///
    /// # fn f(context: &Context) -> Result<(), Error> {
    /// let general = context.capabilities::<cmd::CmdHcaCap>(CapMode::Current)?;
    /// println!("{} queue pairs at most", 1_u32 << general.log_max_qp());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Command`]: the firmware refuses a set that the device lacks. The general capabilities list the sets.
    pub fn capabilities<T: Capabilities>(&self, mode: CapMode) -> Result<Caps<T>, Error> {
        let selector = CapabilitySelector { set: T::SET, current: mode == CapMode::Current };
        if let Some(answer) = self.told().get(selector) {
            return Ok(Caps::of(answer));
        }
        let mut inbox = QueryHcaCapIn::new();
        inbox.set_op_mod(selector);
        let answer = self.told().keep(selector, self.execute(&inbox)?);
        Ok(Caps::of(answer))
    }

    /// The general capabilities in force.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn general(&self) -> Result<Caps<CmdHcaCap>, Error> {
        self.capabilities(CapMode::Current)
    }
}

/// Returns an error unless `found`, the device's value of capability `name`, is at least `needed`.
pub(crate) fn at_least(name: &'static str, found: impl Into<u64>, needed: impl Into<u64>) -> Result<(), Error> {
    let (found, needed) = (found.into(), needed.into());
    if found < needed { Err(Error::Capability { name, needed, found }) } else { Ok(()) }
}

/// Returns an error if the device lacks capability `name`.
pub(crate) fn has(name: &'static str, found: bool) -> Result<(), Error> {
    at_least(name, found, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_capability() {
        let error = at_least("cmd_hca_cap.log_max_qp_sz", 15_u8, 16_u8).expect_err("more than there is");
        assert_eq!(error.to_string(), "the device's cmd_hca_cap.log_max_qp_sz is 15, but 16 is needed");
        assert_eq!(at_least("x", 16_u8, 16_u8), Ok(()));
    }
}
