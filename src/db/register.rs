//! A register: where it is, and its turns. Each turn lends one half, and ends with the store that the device sees.

use core::marker::PhantomData;
use core::ptr::NonNull;

use super::mode::FlushMode;
use crate::arch;
use crate::arch::copy::{BlockCopy, DefaultCopy};
use crate::sealed::Sealed;
use crate::setup::SetupError;
use crate::types::{WQEBB_BYTES, WQEBB_DS};

/// Words in one WQEBB.
const WQEBB_WORDS: usize = WQEBB_BYTES / size_of::<u64>();

/// The location of a BlueFlame register: the data of `mlx5dv_qp::bf` as plain numbers and pointers.
#[doc(alias("UAR", "mlx5dv_devx_uar"))]
#[derive(Clone, Copy, Debug)]
pub struct RegisterParts {
    /// The register's first half, inside a mapped UAR page (`mlx5dv_qp::bf.reg`). It is 8-byte aligned. If `size` is
    /// not zero, it is aligned to twice `size`, so one address bit distinguishes the halves.
    pub reg: NonNull<u8>,
    /// Bytes in one half, a power of two from 64 to 2048 (256 on ConnectX-4 and later). Zero when the register has no
    /// BlueFlame buffer (a UAR mapped non-cacheable). This crate then writes 8-byte doorbells only, always to the same
    /// place. Other queues may use that place, too. rdma-core sets `bf.size` only for a register that has a buffer
    /// (`providers/mlx5/mlx5.c`, `mlx5dv_init_obj`).
    pub size: u32,
}

/// Which half of a register is due, and the distance to the other. The parts have been checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    due: NonNull<u64>,
    size: usize,
}

impl Halves {
    pub(super) fn new(parts: RegisterParts) -> Result<Self, SetupError> {
        let RegisterParts { reg, size } = parts;
        // Two larger halves do not fit a UAR page.
        if size != 0 {
            SetupError::check_power_of_two("bytes of a BlueFlame half, if not 0", size, 64, 2048)?;
        }
        let size = size as usize;
        let alignment = if size == 0 { size_of::<u64>() } else { 2 * size };
        SetupError::check_aligned("BlueFlame register", reg.addr().get(), alignment)?;
        Ok(Self { due: reg.cast(), size })
    }

    /// Halves of the same size at the start of a page.
    pub(super) const fn at(self, page: NonNull<u8>) -> Self {
        Self { due: page.cast(), size: self.size }
    }

    /// These halves, with no WQE copied to them.
    pub(super) const fn without_blueflame(self) -> Self {
        Self { due: self.due, size: 0 }
    }

    /// Bytes in one half; zero without BlueFlame.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// The half to store to now.
    #[inline]
    pub(super) const fn due(&self) -> NonNull<u64> {
        self.due
    }

    /// Makes the other half due. This is rdma-core's `offset ^= size`, applied to the address itself: its bit `size`
    /// tells the halves apart. With size zero nothing changes.
    #[inline]
    pub(super) fn alternate(&mut self) {
        // SAFETY: the pointer moves between the two halves of the register. The address is not zero: with the bit
        // `size` set it is at least `size`, and with the bit cleared again it is the aligned, non-null address of the
        // parts.
        self.due = unsafe { NonNull::new_unchecked(self.due.as_ptr().map_addr(|address| address ^ self.size)) };
    }
}

/// A doorbell register, and how its users take turns; see the [module's text](super).
///
/// Only this crate implements it: a queue relies on the size being true.
pub trait Register: Sealed {
    /// How WQEs are copied to it.
    type Copy: BlockCopy;

    /// Whether posts store the queue's doorbell record. If not, it stays as it is.
    #[doc(hidden)]
    const HAS_RECORD: bool = true;

    /// Whether WQEs may be copied to it, if its size permits.
    #[doc(hidden)]
    const HAS_BLUEFLAME: bool = true;

    /// Bytes in one half: the largest WQE that BlueFlame can carry. Zero if the register has no BlueFlame.
    fn size(&self) -> usize;

    /// Rings the doorbell: calls `store` with the half that is due, ordered after all earlier stores, and makes the
    /// other half due. The return value of `store` proves that it stored to the register, and determines the barrier
    /// that follows.
    ///
    /// The doorbell record must have been stored before. `store` must not ring a register that threads share: it would
    /// wait for itself.
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, Self::Copy>) -> Stored);
}

/// Proof of a store to a register. [`Half`]'s methods return it. It says whether they stored eight bytes or a whole WQE.
#[derive(Debug)]
#[must_use = "the register's mode must know what was stored"]
pub struct Stored {
    wqe: bool,
}

impl Stored {
    /// The barrier that mode `F` has after it.
    #[inline(always)]
    pub(super) fn then<F: FlushMode>(self) {
        if self.wqe {
            F::after_copy();
        } else {
            F::after_doorbell();
        }
    }
}

/// The half of a register that is due, lent for one doorbell. If it could be kept for longer, it could be stored to
/// without the lock and the barriers that the store needs:
///
/// ```compile_fail,E0521
/// # use blueflame::db::Register;
/// fn keep(mut register: impl Register) {
///     let mut kept = None;
///     register.ring_doorbell(|half| -> blueflame::db::register::Stored {
///         kept = Some(half);
///         panic!()
///     });
/// }
/// ```
#[derive(Debug)]
pub struct Half<'turn, C: BlockCopy = DefaultCopy>(NonNull<u64>, C, PhantomData<&'turn mut u64>);

impl<'turn, C: BlockCopy> Half<'turn, C> {
    #[inline]
    pub(super) const fn new(half: NonNull<u64>, copy: C) -> Self {
        Self(half, copy, PhantomData)
    }

    /// The 8-byte doorbell: the first word of the (last) WQE's control segment, in memory order. The device fetches the
    /// WQEs from the ring.
    ///
    /// # Safety
    /// The WQEs up to the doorbell record's index must be complete, and name memory that stays registered and alive
    /// until they complete.
    #[inline]
    pub unsafe fn write(self, first_word: u64) -> Stored {
        // SAFETY: the register's constructor vouches for the address, the caller for the device's actions.
        unsafe { arch::mmio_write64(self.0.as_ptr(), first_word) };
        Stored { wqe: false }
    }

    /// Copies one WQEBB to BlueFlame: the WQE itself is the doorbell.
    ///
    /// # Safety
    /// The conditions of [`write`](Self::write); the register must have a size of at least 64 bytes.
    #[inline]
    pub unsafe fn copy(self, words: &[u64; WQEBB_WORDS]) -> Stored {
        // SAFETY: the register's constructor vouches for the address, the caller for its size and for the device's
        // actions.
        unsafe { self.1.copy(self.0.as_ptr(), words) };
        Stored { wqe: true }
    }

    /// This half, copied to by another routine.
    pub(crate) fn with_copy<D: BlockCopy>(self, copy: D) -> Half<'turn, D> {
        Half(self.0, copy, PhantomData)
    }

    /// Copies a WQE of `N` DS, whole WQEBBs, to BlueFlame from CPU registers.
    ///
    /// # Safety
    /// The conditions of [`write`](Self::write); the register must have at least the WQE's size.
    #[inline(always)]
    pub(crate) unsafe fn copy_held<const N: usize>(self, wqe: &[C::Held; N]) -> Stored {
        const { assert!(N % WQEBB_DS == 0, "whole WQEBBs") }
        for (n, wqebb) in wqe.chunks_exact(WQEBB_DS).enumerate() {
            if let Some(wqebb) = wqebb.first_chunk() {
                // SAFETY: the register's constructor vouches for the address, the caller for its size and for the
                // device's actions.
                unsafe { self.1.copy_held(self.0.as_ptr().byte_add(n * WQEBB_BYTES), *wqebb) };
            }
        }
        Stored { wqe: true }
    }

    /// Copies one WQEBB that lies in the ring to BlueFlame.
    ///
    /// # Safety
    /// The conditions of [`copy`](Self::copy); `wqebb` must be valid for reads of 64 bytes and 8-byte aligned.
    #[inline(always)]
    pub unsafe fn copy_wqebb(self, wqebb: NonNull<u64>) -> Stored {
        // SAFETY: the register's constructor vouches for the address, the caller for its size, for the WQEBB and for
        // the device's actions.
        unsafe { self.1.copy_wqebb(self.0.as_ptr(), wqebb.as_ptr()) };
        Stored { wqe: true }
    }

    /// Copies a WQE of `wqebbs` WQEBBs from the ring to BlueFlame, starting at WQEBB `place` and going on at the ring's
    /// start where it ends (rdma-core `providers/mlx5/qp.c`, `mlx5_bf_copy`).
    ///
    /// # Safety
    /// The conditions of [`write`](Self::write); the register must have a size of at least `wqebbs * 64` bytes; `ring`
    /// must be valid for reads of `ring_wqebbs * 64` bytes and 8-byte aligned, and `place < ring_wqebbs`.
    #[inline]
    pub unsafe fn copy_from_ring(self, ring: NonNull<u64>, ring_wqebbs: usize, place: usize, wqebbs: usize) -> Stored {
        let mut place = place;
        for n in 0..wqebbs {
            // SAFETY: `place` stays below the ring's size, `n` below the WQE's; the caller vouches for both and for the
            // device's actions.
            unsafe {
                let wqebb = ring.add(place * WQEBB_WORDS);
                self.1.copy_wqebb(self.0.add(n * WQEBB_WORDS).as_ptr(), wqebb.as_ptr());
            }
            place += 1;
            if place == ring_wqebbs {
                place = 0;
            }
        }
        Stored { wqe: true }
    }
}
