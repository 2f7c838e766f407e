//! The data path of mlx5 NICs in plain loads and stores.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod arch;
pub mod cq;
pub mod db;
pub mod queue;
pub mod types;
#[cfg(feature = "verbs")]
pub mod verbs;
pub mod wqe;
