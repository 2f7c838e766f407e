//! Register stores for CPUs whose ordinary store instructions reach device memory: all but s390x.

/// Writes one 8-byte doorbell to a device register.
///
/// On a 64-bit CPU it is one store instruction, hence one 8-byte write on the bus. A 32-bit CPU writes the word at the
/// lower address first, then the other. A process-wide lock keeps other threads' doorbells from coming between the
/// two. Both are as in rdma-core (`util/mmio.c`, `pthread_mmio_write64_be`), but its lock is a different one. So on a
/// 32-bit CPU, do not ring one register through this crate and through libmlx5 from two threads.
///
/// On a 32-bit CPU, do not post or arm in a signal handler. If the signal interrupts a doorbell of the same thread,
/// the handler waits for the lock forever.
///
/// It orders nothing else: bracket it with [`mmio_wc_start`](super::mmio_wc_start) and
/// [`mmio_flush_writes`](super::mmio_flush_writes).
///
/// `value_in_memory_order` is the register's bytes as a native `u64`: for a big-endian register, `value.to_be()`.
///
/// # Safety
///
/// `dst` is 8-byte aligned and valid for an 8-byte write; that write may make a device act on the work that the
/// doorbell names.
#[inline(always)]
pub unsafe fn mmio_write64(dst: *mut u64, value_in_memory_order: u64) {
    #[cfg(target_pointer_width = "32")]
    let _turn = turn::take();
    // SAFETY: the caller promises 8 aligned, writable bytes, and that the device may do the work that the doorbell
    // names.
    unsafe { store64(dst, value_in_memory_order) };
}

/// The lock around the two stores of a doorbell.
#[cfg(target_pointer_width = "32")]
mod turn {
    use core::hint::spin_loop;
    use core::sync::atomic::{AtomicBool, Ordering};

    static TAKEN: AtomicBool = AtomicBool::new(false);

    /// Held for two stores; nothing between them can fail or block.
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

/// Writes one WQEBB to a BlueFlame register, by 8-byte stores at ascending addresses.
///
/// The words should be in CPU registers already. Loading them from the ring while the stores to it are still under way
/// can cost a failed store forwarding. The caller brackets the copy with barriers, as for [`mmio_write64`].
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
