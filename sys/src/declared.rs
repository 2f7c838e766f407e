//! Everything that is declared in this package, as `tests/header.rs` compares it with the installed headers.

use crate::declare::{Constant, Function, Structure};
use crate::{mlx5dv, verbs};

/// Structures.
pub const STRUCTURES: &[&[Structure]] =
    &[verbs::types::STRUCTURES, mlx5dv::types::STRUCTURES, mlx5dv::devx::STRUCTURES, mlx5dv::vfio::STRUCTURES];
/// Constants.
pub const CONSTANTS: &[&[Constant]] =
    &[verbs::enumerations::CONSTANTS, mlx5dv::constants::CONSTANTS, mlx5dv::devx::CONSTANTS, mlx5dv::vfio::CONSTANTS];
/// Structures that headers have since rdma-core 59.
pub const STRUCTURES_SINCE_59: &[Structure] = verbs::dma_handles::STRUCTURES;
/// Constants that headers have since rdma-core 59.
pub const CONSTANTS_SINCE_59: &[Constant] = verbs::dma_handles::CONSTANTS;
/// Functions of libibverbs since rdma-core 59.
pub const FUNCTIONS_SINCE_59: &[Function] = verbs::dma_handles::FUNCTIONS;
/// Functions, and the library of each list.
pub const FUNCTIONS: &[(&str, &[Function])] = &[
    ("libibverbs.so.1", verbs::functions::FUNCTIONS),
    ("libibverbs.so.1", verbs::later::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::functions::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::devx::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::vfio::FUNCTIONS),
];
