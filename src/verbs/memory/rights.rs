//! Refuses rights that are missing, too many, or not the device's to give.

use crate::verbs::Access;
use crate::verbs::device::open::Context;
use crate::verbs::error::Error;

/// `needs` must be among the rights.
pub(super) fn require(has: Access, needs: Access) -> Result<(), Error> {
    if has.contains(needs) { Ok(()) } else { Err(Error::AccessMissing { needs, has }) }
}

/// `not` must not be among the rights.
pub(super) fn refuse(has: Access, not: Access) -> Result<(), Error> {
    if has.contains(not) { Err(Error::AccessExcess { not }) } else { Ok(()) }
}

/// Refuses rights that the device cannot give.
pub(super) fn check(context: &Context, access: Access) -> Result<(), Error> {
    if access.contains(Access::ON_DEMAND) && !context.memory_attr()?.on_demand.explicit {
        return Err(Error::Unsupported { what: "registering memory on demand" });
    }
    Ok(())
}
