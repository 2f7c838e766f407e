//! The barrier after a store to a register, chosen by type.
use crate::arch;
use crate::sealed::Sealed;

/// The barrier after a doorbell. Before it there is always [`arch::mmio_wc_start`].
///
/// | mode | after an 8-byte doorbell | after a BlueFlame copy | who does so | for |
/// |---|---|---|---|---|
/// | [`TwoFences`] (default) | flush | flush | rdma-core `providers/mlx5/qp.c`, `post_send_db` | every program; required when threads take turns on a register without [`flush`](super::ExclusiveRegister::flush) |
/// | [`DoorbellFence`] | flush | [hint](arch::mmio_wc_hint): `dgh` on AArch64, nothing on x86, elsewhere a flush | UCX `ib_mlx5.inl`, `UCT_IB_MLX5_MMIO_MODE_BF_POST` | one thread that posts small requests one by one: the copy fills its buffer, which leaves by itself |
/// | [`OneFence`] | nothing | nothing | this crate | one thread that posts without pause, or calls `flush` before it goes idle |
///
/// A flush is [`arch::mmio_flush_writes`]. [`SharedRegister`](super::SharedRegister) has no mode: it flushes before it
/// unlocks, as rdma-core does. UCX differs for registers that threads share: in `BF_POST_MT` it flushes and takes no
/// lock, because its callers take turns; in `DB_LOCK` it unlocks first. `./run bench post` and `./run bench doorbell`
/// have a case for each mode.
///
/// # Why a flush may be left out
///
/// rdma-core flushes so that the doorbells of two CPUs that take turns on one register cannot overtake each other in
/// write-combining buffers. Where one thread at a time rings, order needs no flush. The next store to the same half
/// comes two doorbells later, and the same CPU executes at least one [`arch::mmio_wc_start`] between. That barrier
/// drains the buffers on x86 (`sfence`) and waits for the store on Arm (`dsb st`). The application moves a queue to
/// another thread by a synchronising operation, which is not such a barrier: flush before the move.
///
/// While one thread rings, only time is at risk without a flush: nothing bounds how long the *last* doorbell may stay
/// in the CPU. An 8-byte doorbell leaves its buffer partly filled, and such a buffer can linger. A copy of 64 bytes
/// fills its buffer, and CPUs send full buffers by themselves: that is UCX's argument for [`DoorbellFence`]. This
/// project has measured none of this on the write-combining memory of a device.
pub trait FlushMode: Sealed + 'static {
    /// After an 8-byte doorbell.
    fn after_doorbell();
    /// After a copy to BlueFlame.
    fn after_copy();
}

/// A flush after each store: rdma-core's order, and the default. See [`FlushMode`].
#[derive(Clone, Copy, Debug)]
pub struct TwoFences;

/// A flush after 8-byte doorbells; none after a copy to BlueFlame. UCX's order, but on AArch64 UCX has the lighter
/// `dmb oshst` for the flush (`src/ucs/arch/aarch64/cpu.h`, `ucs_memory_bus_store_fence`). See [`FlushMode`].
#[derive(Clone, Copy, Debug)]
pub struct DoorbellFence;

/// No flush: the next doorbell's barrier does it. See [`FlushMode`].
#[derive(Clone, Copy, Debug)]
pub struct OneFence;

impl Sealed for TwoFences {}
impl FlushMode for TwoFences {
    #[inline(always)]
    fn after_doorbell() {
        arch::mmio_flush_writes();
    }

    #[inline(always)]
    fn after_copy() {
        arch::mmio_flush_writes();
    }
}

impl Sealed for DoorbellFence {}
impl FlushMode for DoorbellFence {
    #[inline(always)]
    fn after_doorbell() {
        arch::mmio_flush_writes();
    }

    #[inline(always)]
    fn after_copy() {
        arch::mmio_wc_hint();
    }
}

impl Sealed for OneFence {}
impl FlushMode for OneFence {
    #[inline(always)]
    fn after_doorbell() {}

    #[inline(always)]
    fn after_copy() {}
}
