#![doc = include_str!("../README.md")]
// The names are those of C, which is what people look up.
#![allow(non_camel_case_types)]

pub mod available;
mod declare;
#[doc(hidden)]
pub mod declared;
mod errno;
mod library;
mod mlx5dv;
#[cfg(feature = "rdma-sys")]
pub mod rdma_sys;
mod verbs;

pub use declare::Uncalled;
#[doc(hidden)]
pub use declare::{Constant, Field, Function, Structure};
pub use library::Unavailable;
pub use mlx5dv::*;
pub use verbs::*;
