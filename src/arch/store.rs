//! Register stores for CPUs whose ordinary store instructions reach device memory: all but s390x.

/// Writes one 8-byte doorbell to a device register.
///
/// On a 64-bit CPU it is one store instruction, hence one 8-byte write on the bus. A 32-bit CPU writes the word at the
/// lower address first, then the other, and takes a lock of this process around the two, so that other threads' doorbells do
/// not come between; both as rdma-core does (`util/mmio.c`, `pthread_mmio_write64_be`). Its lock is another: on a 32-bit CPU,
/// doorbells of this crate and of libmlx5 must not go to one register from two threads.
///
/// No ordering beyond that: bracket it with [`mmio_wc_start`](super::mmio_wc_start) and
/// [`mmio_flush_writes`](super::mmio_flush_writes).
///
/// `value_in_memory_order` is the register's bytes as a native `u64`: for a big-endian register, `value.to_be()`.
///
/// # Safety
///
/// `dst` is 8-byte aligned and valid for an 8-byte write; that write may make a device act on what the doorbell names.
#[inline(always)]
pub unsafe fn mmio_write64(dst: *mut u64, value_in_memory_order: u64) {
    #[cfg(target_pointer_width = "32")]
    let _turn = turn::take();
    // SAFETY: the caller's.
    unsafe { store64(dst, value_in_memory_order) };
}

/// Whose turn it is to store a doorbell.
#[cfg(target_pointer_width = "32")]
mod turn {
    use core::hint::spin_loop;
    use core::sync::atomic::{AtomicBool, Ordering};

    static TAKEN: AtomicBool = AtomicBool::new(false);

    /// Held for two stores, between which nothing can fail or block.
    pub(super) struct Turn(());

    pub(super) fn take() -> Turn {
        while TAKEN.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            spin_loop();
        }
        Turn(())
    }

    impl Drop for Turn {
        fn drop(&mut self) {
            TAKEN.store(false, Ordering::Release);
        }
    }
}

/// Eight bytes: one store, or two on a 32-bit CPU.
///
/// # Safety
///
/// As [`mmio_write64`].
#[inline(always)]
unsafe fn store64(dst: *mut u64, value_in_memory_order: u64) {
    #[cfg(target_pointer_width = "64")]
    // SAFETY: the caller vouches for 8 aligned, writable bytes. A volatile store of a machine word is never split,
    // merged or dropped.
    unsafe {
        dst.write_volatile(value_in_memory_order);
    }
    #[cfg(target_pointer_width = "32")]
    {
        let bytes = value_in_memory_order.to_ne_bytes();
        let [a, b, c, d, e, f, g, h] = bytes;
        let words = dst.cast::<u32>();
        // SAFETY: the same 8 bytes as two aligned words; volatile stores keep their order in the program.
        unsafe {
            words.write_volatile(u32::from_ne_bytes([a, b, c, d]));
            words.add(1).write_volatile(u32::from_ne_bytes([e, f, g, h]));
        }
    }
}

/// Writes one 64-byte block to a BlueFlame register, by 8-byte stores at ascending addresses.
///
/// The words should be in registers already: a block that is read back from the ring while its stores are still in
/// flight can cost a failed store forwarding. Ordering is the caller's, as for [`mmio_write64`].
///
/// # Safety
///
/// `dst` is 64-byte aligned and valid for a 64-byte write; that write may make a device execute the block as a WQE.
#[inline(always)]
#[cfg(not(target_arch = "aarch64"))]
pub unsafe fn mmio_copy64(dst: *mut u64, words: &[u64; 8]) {
    for (i, word) in words.iter().enumerate() {
        // SAFETY: `i` is at most 7, so this is within the 64 bytes that the caller vouches for.
        unsafe { store64(dst.add(i), *word) };
    }
}
