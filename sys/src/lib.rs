#![doc = include_str!("../README.md")]
// The names are those of C, which is what people look up.
#![allow(non_camel_case_types)]

pub mod available;
mod declare;
mod library;
mod mlx5dv;
mod verbs;

pub use declare::{Constant, Field, Function, Structure};
pub use library::{Library, Unavailable};
pub use mlx5dv::*;
pub use verbs::*;

/// A function that this package never calls.
pub type Uncalled = Option<unsafe extern "C" fn()>;

/// Everything that is declared here, as `tests/header.rs` compares it with the installed headers.
#[doc(hidden)]
pub mod declared {
    use crate::{Constant, Function, Structure, mlx5dv, verbs};

    /// Structures.
    pub const STRUCTURES: &[&[Structure]] =
        &[verbs::types::STRUCTURES, mlx5dv::types::STRUCTURES, mlx5dv::devx::STRUCTURES, mlx5dv::vfio::STRUCTURES];
    /// Constants.
    pub const CONSTANTS: &[&[Constant]] = &[
        verbs::enumerations::CONSTANTS,
        mlx5dv::constants::CONSTANTS,
        mlx5dv::devx::CONSTANTS,
        mlx5dv::vfio::CONSTANTS,
    ];
    /// Functions, and the library of each list.
    pub const FUNCTIONS: &[(&str, &[Function])] = &[
        ("libibverbs.so.1", verbs::functions::FUNCTIONS),
        ("libibverbs.so.1", verbs::later::FUNCTIONS),
        ("libmlx5.so.1", mlx5dv::functions::FUNCTIONS),
        ("libmlx5.so.1", mlx5dv::devx::FUNCTIONS),
        ("libmlx5.so.1", mlx5dv::vfio::FUNCTIONS),
    ];
}

/// Null, with `errno` = `ENOSYS`: what a function returns whose library is missing.
fn absent<T>() -> *mut T {
    set_errno(libc::ENOSYS);
    core::ptr::null_mut()
}

/// -1, with `errno` = `ENOSYS`.
fn failed() -> core::ffi::c_int {
    set_errno(libc::ENOSYS);
    -1
}

/// Sets the C library's `errno`.
fn set_errno(errno: core::ffi::c_int) {
    // SAFETY: the C library's per-thread errno is always there to be written.
    unsafe { *libc::__errno_location() = errno };
}
