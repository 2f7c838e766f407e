//! Events of setup, for `tracing` (feature `tracing`). Without the feature nothing is compiled; on the data path there
//! are none.
//!
//! A subscriber is the program's code. Its panic ends here, because it may come between a change of the device and the
//! change of the queues that must follow, or before an object is destroyed.

/// Reports an event: `event!(DEBUG, "completion queue made", cqn = 7)`. Fields are as `tracing` takes them.
macro_rules! event {
    ($level:ident, $text:literal $(, $($fields:tt)+)?) => {
        #[cfg(feature = "tracing")]
        $crate::verbs::event::contained(|| {
            ::tracing::event!(target: "blueflame", ::tracing::Level::$level, $($($fields)+,)? $text);
        })
    };
}

/// Reports, and loses the event if the subscriber panics.
#[cfg(feature = "tracing")]
pub(super) fn contained(report: impl FnOnce()) {
    if let Err(thrown) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(report)) {
        // Dropping it may panic as well.
        core::mem::forget(thrown);
    }
}

pub(super) use event;
