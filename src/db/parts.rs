use core::ptr::NonNull;

use crate::setup::SetupError;

/// The location of a BlueFlame register: the data of `mlx5dv_qp::bf` as plain numbers and pointers.
#[doc(alias("UAR", "mlx5dv_devx_uar"))]
#[derive(Clone, Copy, Debug)]
pub struct RegisterParts {
    /// The register's first half, inside a mapped UAR page (`mlx5dv_qp::bf.reg`). 8-byte aligned; with `size` not zero,
    /// aligned to twice `size`, so that the halves are told apart by one address bit.
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

    /// The same, but that no WQE is copied to them.
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
