//! Everything that is declared in this package, as `tests/header.rs` compares it with the installed headers.

use crate::declare::{Constant, Function, Structure};
use crate::library::Unavailable;
use crate::{mlx5dv, verbs};

/// Structures.
pub const STRUCTURES: &[&[Structure]] =
    &[verbs::types::STRUCTURES, mlx5dv::types::STRUCTURES, mlx5dv::devx::STRUCTURES, mlx5dv::vfio::STRUCTURES];
/// Constants.
pub const CONSTANTS: &[&[Constant]] =
    &[verbs::enumerations::CONSTANTS, mlx5dv::constants::CONSTANTS, mlx5dv::devx::CONSTANTS, mlx5dv::vfio::CONSTANTS];
/// What came after the oldest releases that this package works with: headers and libraries have it, or not.
#[derive(Clone, Copy, Debug)]
pub struct Newer {
    /// The header that declares it.
    pub header: &'static str,
    /// Its structures.
    pub structures: &'static [Structure],
    /// Its constants.
    pub constants: &'static [Constant],
    /// The library of its functions.
    pub library: &'static str,
    /// Its functions.
    pub functions: &'static [Function],
    /// Whether the library that is found has them.
    pub available: fn() -> Result<(), &'static Unavailable>,
}

/// DMA handles, of rdma-core 59; Data Direct, of 54; exported objects, of 65. They are looked up with the feature `link`,
/// too.
pub const SEARCHED_ALWAYS: &[Newer] = &[
    Newer {
        header: "infiniband/verbs.h",
        structures: verbs::dma_handles::STRUCTURES,
        constants: verbs::dma_handles::CONSTANTS,
        library: "libibverbs.so.1",
        functions: verbs::dma_handles::FUNCTIONS,
        available: verbs::dma_handles::available,
    },
    Newer {
        header: "infiniband/mlx5dv.h",
        structures: &[],
        constants: mlx5dv::data_direct::CONSTANTS,
        library: "libmlx5.so.1",
        functions: mlx5dv::data_direct::FUNCTIONS,
        available: mlx5dv::data_direct::available,
    },
    Newer {
        header: "infiniband/mlx5dv.h",
        structures: mlx5dv::export::STRUCTURES,
        constants: &[],
        library: "libmlx5.so.1",
        functions: mlx5dv::export::FUNCTIONS,
        available: mlx5dv::export::available,
    },
];
/// Functions, and the library of each list.
pub const FUNCTIONS: &[(&str, &[Function])] = &[
    ("libibverbs.so.1", verbs::functions::FUNCTIONS),
    ("libibverbs.so.1", verbs::later::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::functions::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::devx::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::vfio::FUNCTIONS),
];
