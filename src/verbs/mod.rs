//! Setup through libibverbs and libmlx5: devices, memory, queues, connections. Feature `verbs`, on by default.
//!
//! Nothing here is on the hot path. Objects are made by the ordinary verbs; then `mlx5dv` hands out their rings,
//! records and registers, and this crate's queues take them over:
//!
//! ```text
//!   Device ── ProtectionDomain ── Buffer, Pool            memory the device may reach
//!     │            │
//!     │            ├── QpBuilder ──> QueuePair { qp, sq, rq }
//!     │            └── OwnedSrq           │    │     └── Owned<RecvQueue, Qp>
//!     ├── OwnedCq ───────┘ handle         │    └──────── Owned<SendQueue, Qp>    connect (RTR, RTS), post
//!     └── CompletionChannel               └───────────── Qp                      INIT, error
//! ```
//!
//! Two programs run this code, connected by a TCP stream. Each sends the other a WRITE:
//!
//! ```no_run
//! use std::net::TcpStream;
//!
//! use blueflame::verbs::{Access, Device, Pool};
//! use blueflame::{Remote, WrId, transport, wqe};
//!
//! fn exchange(mut stream: TcpStream) -> Result<(), Box<dyn std::error::Error>> {
//!     let device = Device::open_first()?;
//!     let pd = device.protection_domain()?;
//!     let mut cq = device.completion_queue(64).build()?;
//!     let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).no_receives().inline(64).build()?;
//!     let mut pool = Pool::new(&pd, 4096, Access::REMOTE_WRITE)?;
//!     let inbox = pool.take(64)?;
//!
//!     // Port 1 and its usual GID; each side tells the other where it may write.
//!     let path = device.path(1, None)?;
//!     let peer = pair.connect_over(&mut stream, &path, &inbox.remote().to_bytes())?;
//!     let theirs = Remote::from_bytes(&peer.data)?;
//!
//!     let order = pair.qp.writes_in_order().ok_or("the last byte may come first")?;
//!
//!     pair.sq.post(&wqe::write(theirs).inline(b"hello\x01").signaled(WrId(1)))?;
//!     let (place, mut hello) = (inbox.polled(0..6, order), [0; 5]);
//!     while !place.arrived(1) {}
//!     place.read(0, &mut hello)?;
//!     let done = loop {
//!         if let Some(cqe) = cq.poll() {
//!             break pair.sq.complete(&cqe)?;
//!         }
//!     };
//!     println!("request {:?} is done", done.wr_id);
//!     Ok(())
//! }
//! ```
//!
//! Datagram queue pairs have no peer: [`QueuePair::activate`] makes one ready to send (RTS), and each request names its
//! destination. A [`Route`] says how to get there: it is made from the peer's [`Endpoint`], or from a datagram of the
//! peer. libmlx5 makes an [`AddressHandle`] from it.
//!
//! Dynamic connections are made by the device: an initiator ([`transport::Dci`](crate::transport::Dci)) is activated
//! likewise, and each of its requests names a target at the peer, a [`Dct`]. [`AddressHandle::target`] makes the
//! address of that target.
//!
//! [`ProtectionDomain::tag_matching`] makes a list of tagged buffers. The device matches messages against this list.
//!
//! An [`XrcDomain`] has the receiving ends of extended reliable connections.
//!
//! [`AsyncEvents`](async_event::AsyncEvents) reports the events of all these objects, other than completions: a queue
//! pair that failed, a link that went down.
//!
//! Every object keeps alive the objects that it was made from, so the order of drops does not matter ([`Owned`]).
//!
//! Each queue pair is made in a thread domain of its own ([`QpBuilder::build`]). So it has its own doorbell register
//! and may use BlueFlame with no lock. Where write combining does not work, all queue pairs have one register for
//! 8-byte doorbells, which needs no lock, either. A thread with many queues makes them in one [`ThreadDomain`]. Adopt
//! objects that other libraries made: [`adopt`].
//!
//! With the feature `tracing`, setup is reported under the target `blueflame`: objects made and destroyed with their
//! numbers (DEBUG), devices opened and connections (INFO), failures (WARN). The data path reports nothing. A subscriber
//! must not ask for the state of a queue pair, nor change it: the state is locked while an event of it is reported.
//!
//! With the feature `serde`, the values that peers tell each other ([`Endpoint`], [`Remote`](crate::Remote)) can be
//! serialized.
//!
//! libibverbs and libmlx5 are not linked but looked up when the first device is opened ([`sys`]; [`Error::Library`] if
//! one is missing). So crates that bring a `libmlx5` of their own (`rdma-mummy-sys`, `sideway`) may be in the same
//! program. With the feature `link`, both are linked.

mod access;
mod adopted;
pub mod async_event;
mod connect;
mod contexts;
pub mod correlation;
mod cq;
pub mod device;
mod domain;
mod error;
pub mod ethernet;
mod event;
mod in_use;
mod leak;
mod link;
pub mod memory;
mod pages;
mod parts;
mod qp;
pub mod receive;
mod services;
mod srq;
mod state;
mod wait;

/// The declarations of libibverbs and libmlx5, for calls that this crate does not wrap.
pub use blueflame_sys as sys;

/// Objects that other libraries made.
pub mod adopt {
    pub use super::adopted::{adopt_channel, adopt_context, adopt_pd, adopt_qp, adopt_qp_shared, take_context};
    pub use super::cq::queue::adopt_cq;
    pub use super::srq::adopt_srq;
}

pub use crate::queue::{AnyCq, Owned};
pub use access::Access;
pub use connect::address::{AddressCache, AddressHandle};
pub use connect::ece::Ece;
pub use connect::endpoint::Endpoint;
pub use connect::path::Path;
pub use connect::route::Route;
pub use cq::channel::{CompletionChannel, CqEvent};
pub use cq::queue::{Cq, CqBuilder, OwnedCq};
pub use device::open::{Device, OpenOptions, device_names};
pub use domain::protection::ProtectionDomain;
pub use domain::thread::ThreadDomain;
pub use domain::xrc::XrcDomain;
pub use error::{CallError, Error};
pub use memory::buffer::Buffer;
pub use memory::pieces::HugeBuffer;
pub use memory::pool::fixed::Pool;
pub use memory::pool::slabs::BufferPool;
pub use memory::source::Memory;
pub use qp::builder::QpBuilder;
pub use qp::handshake;
pub use qp::lag_port::LagPort;
pub use qp::pair::{Qp, QueuePair, VerbsTransport};
pub use qp::teardown::{Drain, Drained};
pub use services::dct::{Dct, DctBuilder};
pub use services::xrc_target::XrcTarget;
pub use srq::{OwnedSrq, Srq};
pub use state::QpState;
