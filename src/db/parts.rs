use core::ptr::NonNull;

/// Where a BlueFlame register is: what `mlx5dv_qp::bf` hands over, as plain numbers and pointers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterParts {
    /// The register's first half, inside a mapped UAR page (`mlx5dv_qp::bf.reg`). 8-byte aligned; with `size` not zero,
    /// aligned to twice `size`, so that the halves are told apart by one address bit.
    pub reg: NonNull<u8>,
    /// Bytes in one half, a power of two from 64 to 4096 (256 on ConnectX-4 and later). Zero when the register has no
    /// BlueFlame buffer (a UAR mapped non-cacheable): then only 8-byte doorbells are written, always to the same place
    /// (rdma-core `providers/mlx5/mlx5.c`, `mlx5dv_init_obj`: `bf.size` is set only for a register that has a buffer).
    pub size: u32,
}
