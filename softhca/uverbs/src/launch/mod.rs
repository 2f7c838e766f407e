//! The exchange between the launcher and this process. Knows no device.

mod log;
mod repeated;
pub(crate) mod report;
mod restart;
mod settings;

pub(crate) use settings::{chaos, settings};
