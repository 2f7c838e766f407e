//! What the launcher tells this process, and what it is told. Knows of no device.

pub(crate) mod report;
mod settings;

pub(crate) use settings::settings;
