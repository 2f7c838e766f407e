//! Devices run by the caller, on a clock that moves only when nothing else is left to do.

use super::device::EmbeddedDevice;

/// Times that [`run_until_idle`] waits for a timer or the wire before it gives up.
const MAX_WAITS: u32 = 1 << 16;

impl EmbeddedDevice {
    /// Steps until nothing is left to do, moving the clock on to each timer. False if there was no end to it.
    pub fn run_until_idle(&mut self) -> bool {
        run_until_idle(&mut [self])
    }
}

/// Steps all devices until none has anything left to do, moving their clock, which is the same for all from now on, to
/// the next timer whenever nothing else happens and no wire holds packets back. False if there was no end to it: a peer that is never ready, say.
pub fn run_until_idle(devices: &mut [&mut EmbeddedDevice]) -> bool {
    let mut now = devices.iter().map(|d| d.now).max().unwrap_or_default();
    for _ in 0..MAX_WAITS {
        while devices.iter_mut().fold(false, |worked, device| {
            device.now = now;
            worked | device.step()
        }) {}
        if devices.iter().any(|d| d.device.has_packets_waiting()) {
            continue;
        }
        match devices.iter().filter_map(|d| d.device.next_deadline()).min() {
            Some(deadline) => now = now.max(deadline),
            None => return true,
        }
    }
    false
}
