//! Events of setup, for `tracing` (feature `tracing`). Without the feature nothing is compiled; on the data path there
//! are none.

/// Reports an event: `event!(DEBUG, "completion queue made", cqn = 7)`. Fields are as `tracing` takes them.
macro_rules! event {
    ($level:ident, $text:literal $(, $($fields:tt)+)?) => {
        #[cfg(feature = "tracing")]
        ::tracing::event!(target: "blueflame", ::tracing::Level::$level, $($($fields)+,)? $text)
    };
}

pub(super) use event;
