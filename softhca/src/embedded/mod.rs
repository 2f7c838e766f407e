//! Embedded devices: in the caller's process, without libibverbs, for tests, fuzzing and examples on any machine. They
//! must never know a driver's types, only addresses and sizes.
//!
//! An [`EmbeddedDevice`] also plays the kernel's part. It owns rings, doorbell records and UAR pages, creates queues
//! on them, and hands out their raw parts as `mlx5dv_init_obj` does ([`QpParts`], [`CqParts`], [`SrqParts`]). A driver
//! takes it from there.
//!
//! Nothing runs by itself: the caller steps the device, or lets [`run_until_idle`] do it, on a clock that moves only
//! when there is no other work. So every run is the same. To have it run by itself, give it to a
//! [`Runner`](crate::runner::Runner).
//!
//! ```
//! use softhca::embedded::{ConnectOptions, CqOptions, EmbeddedDevice, QpOptions, connect, run_until_idle};
//! use softhca::event::Event;
//!
//! // Two devices with a cable between them, a CQ and a reliable connection each.
//! let (mut a, mut b) = EmbeddedDevice::pair()?;
//! let (cq_a, cq_b) = (a.create_cq(CqOptions::new(16))?, b.create_cq(CqOptions::new(16))?);
//! let (qp_a, qp_b) = (a.create_qp(QpOptions::rc(cq_a.cqn))?, b.create_qp(QpOptions::rc(cq_b.cqn))?);
//! connect((&mut a, qp_a.qpn), (&mut b, qp_b.qpn), &ConnectOptions::default())?;
//! // What a driver needs to know.
//! assert_eq!((qp_a.sq.wqe_cnt, qp_a.sq.stride, qp_a.bf_size), (64, 64, 256));
//!
//! // Pull the cable.
//! b.set_port_up(1, false)?;
//! assert!(run_until_idle(&mut [&mut a, &mut b]));
//! assert_eq!(b.next_event(), Some(Event::Port { port: 1, up: false }));
//! # Ok::<(), softhca::error::Error>(())
//! ```

mod connect;
mod device;
mod direct;
mod dynamic;
mod memory;
mod parts;
mod queues;
mod registration;
mod run;
mod threaded;
mod xrc;

pub use connect::{Endpoint, connect};
pub use device::EmbeddedDevice;
pub use memory::Buffer;
pub use parts::{ConnectOptions, CqOptions, CqParts, QpOptions, QpParts, RecvOptions, RegisterOptions, Ring, SrqParts};
pub use run::run_until_idle;
