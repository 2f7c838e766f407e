//! Running devices by hand, on a clock that moves only when there is no other work.

use super::device::EmbeddedDevice;

/// How often [`run_until_idle`] waits for a timer or the wire before it gives up.
const MAX_WAITS: u32 = 1 << 16;

impl EmbeddedDevice {
    /// Steps the device until there is no more work: see [`run_until_idle`].
    pub fn run_until_idle(&mut self) -> bool {
        run_until_idle(&mut [self])
    }
}

/// Steps all devices until none has work left. When only timers are left, it moves the clock to the next one; all
/// devices share one clock from then on. False if it gave up because the work did not end: with a peer that is never
/// ready, say.
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
