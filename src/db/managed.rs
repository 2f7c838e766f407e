use super::register::{Half, Register, Stored};
use crate::arch::copy::DefaultCopy;
use crate::sealed::Sealed;

/// In the place of a register: the queue has no doorbell of its own, and its requests begin when a request of another
/// queue says so ([`SendQueue::enable`](crate::SendQueue::enable)). For queue pairs that were made so
/// (`QPC.cd_slave_send`).
///
/// Neither the record is written nor a register (as in DPDK, `drivers/crypto/mlx5/mlx5_crypto_gcm.c`, and in the
/// libmlx5 of MLNX_OFED 4.3, `CREATE_FLAG_NO_DOORBELL`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Managed;

impl Sealed for Managed {}
impl Register for Managed {
    type Copy = DefaultCopy;
    const HAS_RECORD: bool = false;
    const HAS_BLUEFLAME: bool = false;

    #[inline]
    fn size(&self) -> usize {
        0
    }

    #[inline(always)]
    fn ring_doorbell(&mut self, _: impl FnOnce(Half<'_, DefaultCopy>) -> Stored) {}
}
