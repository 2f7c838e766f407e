//! How a command ends that could not do its work.

#[cfg(feature = "device")]
use std::fmt;
#[cfg(feature = "device")]
use std::process::ExitCode;

use blueflame_decode::printable;

/// The exit code of a wrong call, and of every command that opens devices if the device is not there.
pub(crate) const WRONG_CALL: u8 = 2;

/// Tells why a command failed.
pub(crate) fn complain(error: &anyhow::Error) {
    eprintln!("blueflame: {}", printable(&format!("{error:#}")));
}

/// Tells why a command failed; its exit code, which is 1 unless the device is not there.
#[cfg(feature = "device")]
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    complain(error);
    if is_no_device(error) { ExitCode::from(WRONG_CALL) } else { ExitCode::FAILURE }
}

/// Whether no device is there, or none of the name that was asked for.
#[cfg(feature = "device")]
pub(crate) fn is_no_device(error: &anyhow::Error) -> bool {
    common::is_no_device(error.as_ref()) || error.is::<NoDevice>()
}

/// No RDMA device is in sysfs, or none of this name.
#[cfg(feature = "device")]
#[derive(Debug)]
pub(crate) struct NoDevice(pub(crate) Option<String>);

#[cfg(feature = "device")]
impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "no device {name}"),
            None => f.write_str("no RDMA devices: is the kernel's driver loaded (mlx5_ib)?"),
        }
    }
}

#[cfg(feature = "device")]
impl std::error::Error for NoDevice {}
