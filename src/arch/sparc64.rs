//! SPARC V9. Inline assembly is not stable on this architecture. The sequentially consistent fence compiles to a
//! `membar` of all four kinds, which includes the required ones. It is a compiler barrier like the `asm!` blocks of
//! the other architectures.
use core::sync::atomic::{Ordering, fence};

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// rdma-core `util/udma_barrier.h`, `udma_to_device_barrier`: `membar #StoreStore`.
#[inline(always)]
pub fn to_device() {
    fence(Ordering::SeqCst);
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// rdma-core `util/udma_barrier.h`, `udma_from_device_barrier`: `membar #LoadLoad`.
#[inline(always)]
pub fn from_device() {
    fence(Ordering::SeqCst);
}

/// Same as [`from_device`], which already is the full barrier.
#[inline(always)]
pub fn from_device_conservative() {
    fence(Ordering::SeqCst);
}

/// Orders all earlier stores, to memory or registers, before a later store to write-combining MMIO. Implies
/// [`to_device`].
///
/// rdma-core `util/udma_barrier.h`, `mmio_wc_start`: `membar #StoreStore`.
#[inline(always)]
pub fn mmio_wc_start() {
    fence(Ordering::SeqCst);
}

/// Keeps later stores from passing or combining with the store to a register.
///
/// rdma-core `util/udma_barrier.h`, `mmio_flush_writes`: `membar #StoreStore`.
#[inline(always)]
pub fn mmio_flush_writes() {
    fence(Ordering::SeqCst);
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: we do not know when a full buffer leaves by itself here, and UCX does not say.
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
