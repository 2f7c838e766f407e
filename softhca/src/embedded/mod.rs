//! A device in the own process, without libibverbs: for tests, fuzzing and examples on any machine.
//!
//! An [`EmbeddedDevice`] owns its rings, doorbell records and UAR pages and hands out their raw parts as mlx5dv would.
//! Nothing runs by itself: the caller steps the device, or lets [`run_until_idle`] do it, on a clock that only moves
//! when nothing else is left to do. So every run is the same.
//!
//! ```
//! use softhca::embedded::{CqOptions, EmbeddedDevice, QpOptions};
//!
//! let mut hca = EmbeddedDevice::standalone()?;
//! let cq = hca.create_cq(CqOptions::new(16))?;
//! let qp = hca.create_qp(QpOptions::rc(cq.cqn))?;
//! assert_eq!((qp.sq.wqe_cnt, qp.sq.stride, qp.bf_size), (64, 64, 256));
//! # Ok::<(), softhca::error::Error>(())
//! ```

mod connect;
mod device;
mod direct;
mod memory;
mod parts;
mod queues;
mod registration;
mod run;
mod threaded;

pub use connect::{Endpoint, connect};
pub use device::EmbeddedDevice;
pub use memory::Buffer;
pub use parts::{ConnectOptions, CqOptions, CqParts, QpOptions, QpParts, RecvOptions, RegisterOptions, Ring, SrqParts};
pub use run::run_until_idle;
