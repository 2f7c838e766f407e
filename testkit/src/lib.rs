//! Tests of programs that use [`blueflame`], without a NIC, a driver or a kernel module: a software mlx5 device
//! ([`softhca`]) inside the test, and the crate's own queues over it.
//!
//! ```
//! use blueflame::{WrId, transport, wqe};
//! use blueflame_testkit as testkit;
//!
//! let mut pair = testkit::connected_pair::<transport::Rc>()?;
//! let inbox = pair.far.buffer(64)?;
//! pair.near.sq.post(&wqe::write(inbox.remote()).inline(b"hello").signaled(WrId(1)))?;
//! pair.run_until_idle()?;
//! let cqe = pair.near.cq.poll().expect("a completion");
//! assert_eq!(pair.near.sq.complete(&cqe)?.wr_id, WrId(1));
//! assert_eq!(inbox.to_vec(..5), b"hello");
//! assert_eq!(pair.complaints(), []);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is here
//!
//! | | |
//! |---|---|
//! | [`connected_pair`], [`Pair`] | two connected ends, each on a device of its own |
//! | [`End`] | a send queue, a receive queue and a completion queue, as `blueflame::verbs` would make them |
//! | [`DcTarget`] | a target of dynamic connections, for ends that are initiators |
//! | [`XrcDomain`] | receive queues and targets of extended reliable connections, likewise |
//! | [`Sibling`] | a further queue pair on the same completion queue and shared receive queue, as a server has for each client |
//! | [`Shape`] | sizes of the rings, inline limit, BlueFlame or none, shared receives, data in completions |
//! | [`Device`], [`Network`] | any number of devices, stepped by the test or on threads of their own; faults |
//! | [`Buffer`] | registered memory |
//! | [`request`] | requests as values, for those known only at run time |
//! | [`ops`] | requests without addresses, for generators and models; with the features `proptest` and `arbitrary`, generators |
//!
//! # Stepping
//!
//! By default nothing happens until the test lets it: [`Pair::run_until_idle`], or [`Pair::step`] for one step. Timers
//! run on a clock that moves only when nothing else is left to do, so a test with retries takes no time, and every run
//! is the same. With [`PairBuilder::threaded`] the devices run by themselves, as real ones do.
//!
//! # What it proves, and what not
//!
//! The device decodes the queues' memory by layouts of its own. It also reports errors that a real NIC handles silently
//! ([`Device::complaints`]). It cannot show how CPU and NIC order their accesses, nor the cost of accesses on the bus.

mod buffer;
mod datagram;
mod device;
mod dynamic;
mod end;
mod error;
mod handle;
pub mod ops;
mod pair;
mod parts;
mod receives;
pub mod request;
mod shape;
mod sibling;
mod wr;
mod xrc;

pub use buffer::Buffer;
pub use datagram::QKEY;
pub use device::{Device, DeviceOptions, Network, run_until_idle, wait_for_timer};
pub use dynamic::{DC_KEY, DcTarget};
pub use end::{End, connect, register};
pub use error::Error;
pub use handle::Handle;
pub use pair::{Pair, PairBuilder, connected_pair};
pub use receives::Receives;
pub use shape::Shape;
pub use sibling::Sibling;
pub use softhca;
pub use softhca::embedded::{ConnectOptions, Endpoint, RegisterOptions};
pub use softhca::faults::Faults;
pub use xrc::{XrcDomain, XrcReceives, XrcTarget};

/// The examples in the repository's front page and book are compiled: here, where the crates that they use are at hand.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/howto/testing.md")]
#[doc = include_str!("../../docs/howto/captures.md")]
#[doc = include_str!("../README.md")]
mod pages {}
