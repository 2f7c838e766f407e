//! Letting a target of dynamic connections go, as the kernel does: not before its initiators have left.

use super::hca::Hca;
use std::time::Duration;

/// How often the device is asked whether they have.
const LOOK: Duration = Duration::from_millis(1);
/// How often at most: past the half second after which the device takes a silent initiator for gone.
const LOOKS: u32 = 1000;

impl Hca {
    /// Lets no more initiators connect to DCT `number`, and waits until those that are connected have left. So what they have
    /// sent is acknowledged.
    ///
    /// Linux (`_mlx5_core_destroy_dct`) waits for the event without end, and leaves it to the device that there is one. Here an
    /// initiator that says nothing is soon taken for gone, but one that never stops asking (RNR retries without end, against a
    /// queue that nobody fills) would be waited for as long as it lives. It may be one of this process, whose context is being
    /// closed: then nobody is left to stop it, and the process would never end. So the wait has an end, and it is logged.
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
