//! The exchange between the launcher and this process. Knows no device.

mod log;
mod repeated;
pub(crate) mod report;
mod settings;

pub(crate) use settings::{chaos, settings};
