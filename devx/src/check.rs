//! Numbers that callers give, checked before they are written to a mailbox.

use core::ops::RangeInclusive;

use crate::error::Error;

/// Whether `value` lies in `range`.
pub(crate) fn in_range(what: &'static str, value: impl Into<u64>, range: RangeInclusive<u64>) -> Result<(), Error> {
    let value = value.into();
    if range.contains(&value) {
        Ok(())
    } else {
        Err(Error::OutOfRange { what, value, min: *range.start(), max: *range.end() })
    }
}
