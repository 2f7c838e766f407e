//! The port of a bond that a queue has.

use crate::firmware::call::Call;
use crate::firmware::status::Refusal;

/// The port in a field of a context (`lag_tx_port_affinity`): 0, or one of the bond.
pub(super) fn port(call: &Call<'_>, value: u64) -> Result<u8, Refusal> {
    let ports = call.device.bonded_ports().len();
    match u8::try_from(value) {
        Ok(port) if usize::from(port) <= ports => Ok(port),
        _ => Err(Refusal::parameter(format!("lag_tx_port_affinity {value}: the device bonds {ports} ports"))),
    }
}
