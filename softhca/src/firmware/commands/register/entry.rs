//! A register, and the port that it belongs to.

use crate::config::{LinkLayer, PortConfig};
use crate::firmware::call::Call;
use crate::firmware::layout::{Layout, View, ViewMut};
use crate::firmware::status::{Refusal, Status};

/// A function that reads or writes a register. It gets the driver's bytes, and fills in the bytes for the driver.
pub(super) type Access = fn(&mut Call<'_>, View<'_>, &mut ViewMut<'_>) -> Result<(), Refusal>;

/// A register.
pub(super) struct Register {
    pub(super) id: u64,
    pub(super) layout: &'static Layout,
    pub(super) read: Option<Access>,
    /// Only the driver writes.
    pub(super) write: Option<Access>,
}

/// The port that a register names.
pub(super) fn port(call: &Call<'_>, number: u64) -> Result<(u8, PortConfig), Refusal> {
    let ports = &call.device.config().ports;
    let port = ports.get((number as usize).wrapping_sub(1));
    let port = port.ok_or_else(|| Refusal::parameter(format!("port {number} of {}", ports.len())))?;
    Ok((number as u8, port.clone()))
}

/// The Ethernet port that a register names.
pub(super) fn ethernet_port(call: &Call<'_>, number: u64) -> Result<u8, Refusal> {
    match port(call, number)? {
        (number, PortConfig { link: LinkLayer::Ethernet, .. }) => Ok(number),
        _ => Err(Refusal::new(Status::BadOperation, format!("port {number} is InfiniBand's"))),
    }
}
