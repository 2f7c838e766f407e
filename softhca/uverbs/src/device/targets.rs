//! Letting a target of dynamic connections go, as the kernel does: not before its initiators have left.

use super::hca::Hca;
use std::time::Duration;

/// How often the device is asked whether they have.
const LOOK: Duration = Duration::from_millis(1);
/// How often at most: past the half second after which the device takes a silent initiator for gone.
const LOOKS: u32 = 1000;

impl Hca {
    /// Lets no more initiators connect to DCT `number`, and waits until the connected ones have left. So all of their
    /// messages are acknowledged.
    ///
    /// Linux (`_mlx5_core_destroy_dct`) waits for the event without a limit, and relies on the device to send it. Here
    /// a silent initiator soon counts as gone. But an initiator that never stops asking (RNR retries without a limit,
    /// against an empty queue) would delay the end for its whole life. It may belong to this process, whose context is
    /// being closed: then nothing stops it, and the process would never end. So the wait has a limit, and is logged.
    pub(crate) fn drain_dct(&self, number: u32) {
        for _ in 0..LOOKS {
            let connected = self.command(|device| {
                device.drain_dct(number)?;
                Ok(device.query_dct(number)?.connections)
            });
            if !matches!(connected, Ok(1..)) || !self.has_thread() {
                return;
            }
            std::thread::sleep(LOOK);
        }
        log::warn!("DCT {number:#x} is destroyed with initiators connected");
    }
}
