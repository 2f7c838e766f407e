//! The functions of libc that the program calls and we answer, each for our files only; everything else goes on to
//! libc. They only tell our files from others; other modules know the answers. [`polls`] has three of libibverbs and
//! libmlx5.
//!
//! Variadic functions are defined with their last argument fixed: on the Linux ABIs integers are passed alike either
//! way.

mod answer;
pub mod descriptors;
pub mod ends;
#[cfg(all(has_naked_functions, any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod loading;
pub mod lookup;
mod paths;
pub mod polls;
pub mod positioned;
pub mod read;
pub mod signals;
pub mod sockets;
pub mod tree;
pub mod write;
#[cfg(all(has_naked_functions, any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod yields;

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn crate::process::forked::StaticLock; 1] = [&polls::CHANGES];
