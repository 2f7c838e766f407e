//! Everything that is declared in this package, as `tests/header.rs` compares it with the installed headers.

use crate::declare::{Constant, Function, Structure};
use crate::{mlx5dv, verbs};

/// Structures.
pub const STRUCTURES: &[&[Structure]] =
    &[verbs::types::STRUCTURES, mlx5dv::types::STRUCTURES, mlx5dv::devx::STRUCTURES, mlx5dv::vfio::STRUCTURES];
/// Constants.
pub const CONSTANTS: &[&[Constant]] =
    &[verbs::enumerations::CONSTANTS, mlx5dv::constants::CONSTANTS, mlx5dv::devx::CONSTANTS, mlx5dv::vfio::CONSTANTS];
/// Functions, and the library of each list.
pub const FUNCTIONS: &[(&str, &[Function])] = &[
    ("libibverbs.so.1", verbs::functions::FUNCTIONS),
    ("libibverbs.so.1", verbs::later::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::functions::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::devx::FUNCTIONS),
    ("libmlx5.so.1", mlx5dv::vfio::FUNCTIONS),
];
