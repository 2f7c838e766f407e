//! Objects of mlx5 NICs made by firmware commands (DevX) instead of verbs, for the data path of [`blueflame`].
//!
//! With verbs, a library decides where rings, doorbell records and registers lie. With firmware commands, the program
//! decides. Here many queues share one registration of huge pages, the records of a thread's queues are dense, and one
//! register serves any number of queues. The capabilities are checked before an object is made. If the firmware refuses
//! a command, the error has its status and syndrome. The data path is the same code: these objects hand over the same
//! raw parts as verbs.
//!
//! # A queue pair
//!
//! ```no_run
//! use std::net::TcpStream;
//!
//! use blueflame::verbs::{Access, Pool};
//! use blueflame::{Remote, WrId, transport, wqe};
//! use blueflame_devx::Context;
//! use blueflame_devx::memory::{Rings, ThreadRings};
//! use blueflame_devx::object::{Pd, Uar};
//!
//! fn exchange(mut stream: TcpStream) -> Result<(), Box<dyn std::error::Error>> {
//!     let context = Context::open_first()?;
//!     let verbs_pd = context.device().protection_domain()?;
//!     let pd = Pd::of_verbs(&context, &verbs_pd)?; // memory that verbs registers is for both
//!
//!     let rings = Rings::new(&context)?; // one registration, for all queues of the program
//!     let thread = ThreadRings::new(&rings); // this thread's doorbell records
//!     let uar = Uar::new(&context)?;
//!     let mut cq = thread.completion_queue(uar.page(), 64).build()?;
//!     let builder = pd.queue_pair::<transport::Rc>(&thread, &cq, &cq);
//!     let mut pair = builder.sends(16).no_receives().inline(64).build_on(uar)?;
//!
//!     let mut pool = Pool::new(&verbs_pd, 4096, Access::REMOTE_WRITE)?;
//!     let inbox = pool.take(64)?;
//!     let path = context.device().path(1, None)?;
//!     // The peer may have made its queue pair by verbs: the exchange is the same.
//!     let peer = pair.connect_over(&mut stream, &path, &inbox.remote().to_bytes())?;
//!     pair.sq.post(&wqe::write(Remote::from_bytes(&peer.data)?).inline(b"hello").signaled(WrId(1)))?;
//!     while cq.try_poll_with(1, |cqe| pair.sq.complete(&cqe).map(drop))? == 0 {}
//!     Ok(())
//! }
//! ```
//!
//! # Who owns what
//!
//! ```text
//!   Context ─── an open device, and what it has told of its capabilities
//!     │
//!     ├── Pd                    made by a command, or that of verbs
//!     │     ├── Mkey            of memory (Umem), or of pieces of other keys
//!     │     └── QueuePair { qp, sq, rq } ──────────────┐
//!     │                │                               │ each holds what it stands on
//!     ├── Uar ─────────┤ one queue's; ThreadUar: a     │ (an arrow up, or to the left),
//!     │   DoorbellPage │ thread's; SharedUar: a lock   │ so that the device destroys
//!     │                │                               │ them in the right order, in
//!     ├── Rings        │ one registration of huge      │ whatever order you drop them
//!     │     └── ThreadRings  rings, dense records      │
//!     │             ├──┘                               │
//!     │             └── OwnedCq ── Cq (handle) ────────┘
//!     │
//!     ├── EventChannel, Answers            events, and answers that come later
//!     └── TransportDomain ── Tis ── OwnedSq;  Tir ── Rqt ── OwnedRq;  FlowTable ── FlowGroup ── FlowRule
//! ```
//!
//! A handle is an `Arc`. An object is destroyed when its last holder is dropped, and the objects that it stands on go
//! after it.
//!
//! # The modules
//!
//! | module | contents |
//! |---|---|
//! | [`mailbox`] | mailboxes as bit fields with names, checked when the crate is compiled |
//! | [`cmd`] | the commands: one description each |
//! | `Context` | sends the commands; [`Caps`] are sets of capabilities, `Error` is the error |
//! | `memory` | registered memory (UMEM), rings and doorbell records in it |
//! | `object` | the objects that commands make, with builders that check the capabilities first |
//! | `vfio` | a PCI function that this program drives without a kernel driver |
//!
//! Without the feature `device` (on by default), the crate has mailboxes and commands alone: they build and print
//! mailboxes without libmlx5 and without a device.
//!
//! # A command of your own
//!
//! ```no_run
//! use blueflame_devx::{Context, Error, cmd};
//!
//! # fn f(context: &Context) -> Result<(), Error> {
//! let mut inbox = cmd::QueryHcaCapIn::new();
//! inbox.set_op_mod(cmd::CapabilitySelector { set: cmd::CapabilitySet::ROCE, current: true });
//! let outbox = context.execute(&inbox)?; // its type is the command's answer
//! println!("{outbox:?}"); // fields by name
//!
//! // A command that makes an object gives it, and the answer; it is destroyed when dropped.
//! // SAFETY: a protection domain writes to no memory.
//! let (object, outbox) = unsafe { context.create(&cmd::AllocPdIn::new()) }?;
//! println!("protection domain {:?}", outbox.pd());
//! # Ok(())
//! # }
//! ```
//!
//! # What is safe
//!
//! Posting a request that names memory is `unsafe`, just as in `blueflame`. Registering memory of your own is `unsafe`
//! as well (`memory::Umem::over`, `memory::Umem::of_dma_buf`), and so is importing what another process has
//! (`Object::import`, `memory::Umem::import`, `object::Uar::import`). The builders of `object` are safe. All objects
//! that a command names belong to one open device. An object of another device is refused (`Error::ForeignDevice`),
//! because its number would name another object. If an object cannot be destroyed, the objects and memory under it are
//! leaked. The device's answers are never trusted: each pattern of bits is a value. `execute` and `query` are safe for
//! typed commands that only query. Commands that make or change objects (`create`, `modify`), and commands as raw bytes
//! (`execute_raw`, `create_raw`, `query_raw`, `modify_raw`), are `unsafe`, because they can name any memory.

mod caps;
#[cfg(feature = "device")]
mod check;
pub mod cmd;
#[cfg(feature = "device")]
mod context;
#[cfg(feature = "device")]
mod error;
#[cfg(feature = "device")]
mod event;
#[cfg(feature = "device")]
mod export;
#[cfg(feature = "device")]
mod later;
pub mod mailbox;
#[cfg(feature = "device")]
pub mod memory;
#[cfg(feature = "device")]
pub mod object;
#[cfg(feature = "device")]
mod support;
#[cfg(feature = "device")]
mod told;
#[cfg(feature = "device")]
mod under;
#[cfg(feature = "device")]
pub mod vfio;

pub use caps::{CapMode, Capabilities, Caps, parse as parse_capabilities};
#[cfg(feature = "device")]
pub use context::{Context, EqNumber, Object};
#[cfg(feature = "device")]
pub use error::{CommandError, Error};
#[cfg(feature = "device")]
pub use event::{Event, EventChannel, EventType};
#[cfg(feature = "device")]
#[cfg(feature = "device")]
pub use later::{Answer, Answers};
#[cfg(feature = "device")]
pub use support::atomics::FetchedOrder;
