//! NVIDIA GPUs: a kernel that posts to queues in memory that the device, too, can reach, and rings their registers, which
//! the host has mapped for the GPU. Inline assembly is not stable on this architecture. A fence compiles to
//! `fence.acq_rel.sys`, which orders the accesses of one thread for all observers in the system, the NIC among them. It
//! is a compiler barrier like the `asm!` blocks of the other architectures.
//!
//! rdma-core has no code for GPUs. The sources are NVIDIA's GPUNetIO at 467c76a
//! (`include/device/doca_gpunetio_dev_verbs_common.cuh`, `doca_gpunetio_dev_verbs_qp.cuh`) and DeepEP
//! (`csrc/kernels/ibgda_device.cuh`).
//!
//! Doorbells are `st.volatile`, which PTX treats as a relaxed store of system scope. GPUNetIO stores by `st.mmio`, where
//! the compiler has it, and DeepEP by `st.release.sys`.
use core::sync::atomic::{Ordering, fence};

/// Orders stores to descriptors before a later store that lets the device look at them (the doorbell record).
///
/// GPUNetIO `doca_gpu_dev_verbs_update_dbr`: `fence.release.sys`. DeepEP `ibgda_update_dbr`: the record itself is stored
/// by `st.release.sys`.
#[inline(always)]
pub fn to_device() {
    fence(Ordering::Release);
}

/// Orders the load that saw the device's owner bit before the loads of data that the device wrote earlier.
///
/// GPUNetIO `doca_gpu_dev_verbs_fence_acquire`: `fence.acquire.sys`.
#[inline(always)]
pub fn from_device() {
    fence(Ordering::Acquire);
}

/// Same as [`from_device`], which already is that of the whole system.
#[inline(always)]
pub fn from_device_conservative() {
    fence(Ordering::Acquire);
}

/// Orders all earlier stores, to memory or registers, before a later store to a register. Implies [`to_device`].
///
/// GPUNetIO `doca_gpu_dev_common_ring_db`: `fence.release.sys`. DeepEP `ibgda_ring_db`: the doorbell itself is stored by
/// `st.release.sys`.
#[inline(always)]
pub fn mmio_wc_start() {
    fence(Ordering::Release);
}

/// Keeps later stores from passing the store to a register.
///
/// Neither source has any: their next doorbell begins with a fence, and so does ours. It stays for programs that store to
/// registers by themselves.
#[inline(always)]
pub fn mmio_flush_writes() {
    fence(Ordering::Release);
}

/// Follows a BlueFlame copy where no barrier is wanted.
///
/// It equals [`mmio_flush_writes`]: the compiler has no barrier for itself alone (LLVM refuses one thread's fence).
#[inline(always)]
pub fn mmio_wc_hint() {
    mmio_flush_writes();
}
