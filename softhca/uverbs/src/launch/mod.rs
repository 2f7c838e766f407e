//! The exchange between the launcher and this process. Knows no device.

pub(crate) mod report;
mod settings;

pub(crate) use settings::{chaos, settings};
