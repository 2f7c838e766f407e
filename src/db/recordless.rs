use core::marker::PhantomData;
use core::ptr::NonNull;

use super::mode::{FlushMode, TwoFences};
use super::register::{Half, Register, Stored};
use crate::arch;
use crate::arch::copy::DefaultCopy;
use crate::sealed::Sealed;
use crate::setup::SetupError;

/// The register of a send queue without a doorbell record, which has one owner and no lock. For queue pairs that were
/// made so (`QPC.send_dbr_mode` 1; ConnectX-8 and later).
///
/// The doorbell alone tells the device how far the ring is filled, by the last WQE's index and length. So a post stores
/// the WQE, and then 8 bytes to the register: no record, and no BlueFlame copy, of which no public source speaks.
///
/// # One queue on a register
///
/// Where a doorbell record exists, a doorbell that is lost costs time: the next one announces the same WQEs. Here
/// nothing else announces them. Write combining may merge two stores to one place into the later one. That is harmless
/// if both are of one queue, and loses the WQEs of a queue if they are of two.
///
/// Sources: rdma-core 65 `tests/mlx5_base.py`, `post_send`; GPUNetIO 2.0 `doca_gpu_dev_verbs_submit_db_no_dbr`
/// (`include/device/doca_gpunetio_dev_verbs_qp.cuh`).
#[doc(alias("send_dbr_mode", "NO_DBR_EXT"))]
#[derive(Debug)]
pub struct RecordlessRegister<F: FlushMode = TwoFences> {
    register: NonNull<u64>,
    mode: PhantomData<F>,
}

// SAFETY: the register is device memory with no tie to a thread. It is not `Sync`: ringing takes `&mut self`, and the
// constructor's caller vouches that nothing else stores to the register.
unsafe impl<F: FlushMode> Send for RecordlessRegister<F> {}

impl RecordlessRegister {
    /// Offset in bytes of the register in its UAR page (`DB_BF_DBR_LESS_BUF_OFFSET`, rdma-core `tests/mlx5_base.py`;
    /// `DOCA_VERBS_UAR_DBR_LESS_DB_OFFSET`, GPUNetIO `src/doca_verbs_uar.cpp`).
    pub const OFFSET: usize = 0x600;

    /// Takes the register over, in rdma-core's order of barriers.
    ///
    /// # Errors
    /// [`SetupError::Misaligned`]: the address is no multiple of 8.
    ///
    /// # Safety
    /// 8 bytes at `register` must be valid for stores, as long as the value is used, with no reference to them. Nothing
    /// else may store there.
    pub unsafe fn from_raw(register: NonNull<u8>) -> Result<Self, SetupError> {
        SetupError::check_aligned("register of a queue without a record", register.addr().get(), size_of::<u64>())?;
        Ok(Self { register: register.cast(), mode: PhantomData })
    }
}

impl<F: FlushMode> RecordlessRegister<F> {
    /// Changes the flush mode.
    #[must_use]
    pub fn with_mode<M: FlushMode>(self) -> RecordlessRegister<M> {
        // The new mode may never flush doorbells that the old one has left in the CPU's buffers.
        arch::mmio_flush_writes();
        RecordlessRegister { register: self.register, mode: PhantomData }
    }
}

impl<F: FlushMode> Sealed for RecordlessRegister<F> {}
impl<F: FlushMode> Register for RecordlessRegister<F> {
    type Copy = DefaultCopy;
    const HAS_RECORD: bool = false;
    const HAS_BLUEFLAME: bool = false;

    #[inline]
    fn size(&self) -> usize {
        0
    }

    #[inline(always)]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, DefaultCopy>) -> Stored) {
        arch::mmio_wc_start();
        store(Half::new(self.register, DefaultCopy::default())).then::<F>();
    }
}
