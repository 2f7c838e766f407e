//! Sinks are stepped by the program that uses them, so that nothing else runs while it measures itself.

use crate::device::Hca;
use crate::launch::settings;
use std::ffi::c_int;

/// Takes every doorbell rung so far, on all devices that are open, and writes the CQEs of everything it announces, on
/// the calling thread. To be found with `dlsym(RTLD_DEFAULT, "softhca_step")`; any thread may call it.
///
/// Doorbells are found in the doorbell records, which hold the truth however often and in whatever way the register was
/// written. A producer index in a record whose doorbell was not rung counts, too.
///
/// Returns the number of send WQEs that have completed, with a CQE or without; -1 if the devices are no sinks.
#[unsafe(no_mangle)]
pub extern "C" fn softhca_step() -> c_int {
    if !settings().is_some_and(|settings| settings.sink) {
        return -1;
    }
    let completed: u64 = Hca::opened().iter().map(|hca| hca.step_until_idle()).sum();
    c_int::try_from(completed).unwrap_or(c_int::MAX)
}
