//! The data path of NVIDIA/Mellanox mlx5 NICs (ConnectX-4 and later, BlueField) from user space, in plain loads and
//! stores.
//!
//! An RDMA NIC moves data between the memories of two machines without their kernels. Your program stores a *request*
//! in memory and wakes the NIC by one store to the NIC. The NIC moves the data and stores a *completion* in memory,
//! which your program finds by polling. This crate does that with no system call, no allocation and no call into a C
//! library.
//!
//! Before that, the C library libibverbs opens the device, registers memory, makes queues and connects them (the module
//! `verbs`). `mlx5dv`, the interface of its mlx5 driver, returns the addresses of their rings and doorbells.
//!
//! # The words
//!
//! The short form of the book's glossary, `docs/glossary.md`:
//!
//! | word | meaning |
//! |---|---|
//! | **queue pair** (QP) | one end of a connection: a send queue and a receive queue. Its number is the QPN |
//! | **ring** | an array in memory that your program and the NIC walk round and round |
//! | **WQE** | work queue entry: one request as the NIC reads it, made of segments (control, remote address, data) |
//! | **WQEBB** | 64 bytes of a send ring. A WQE takes one or more |
//! | **DS** | 16 bytes of a WQE: the unit of its size |
//! | **doorbell** | tells the NIC about work. The *doorbell record*, a word in memory, says how far the ring is filled; a store to the *doorbell register*, in the NIC, wakes it |
//! | **BlueFlame** | a doorbell that carries the WQE itself, so that the NIC need not fetch it |
//! | **inline** | describes data that is in the WQE, not in registered memory |
//! | **CQE** | completion queue entry: 64 or 128 bytes that the NIC writes to the completion queue (CQ) when a request is done |
//! | **prepared request** | a request that is checked and put together once, and posted many times with other data |
//! | **owner bit** | the bit that distinguishes a new CQE from that of the last pass over the ring |
//! | **signalled** | describes a request that asks for a CQE. That CQE also completes the unsignalled requests before it |
//! | **retire** | to give a completed request's `wr_id` back to you, and its room in the ring to the queue. `complete` does so, and says whether the request succeeded |
//! | **`wr_id`** ([`WrId`]) | your identifier of a request, returned with its completion |
//! | **key** ([`Lkey`], [`Rkey`]) | names registered memory: to this side's NIC, and to the peer's requests |
//!
//! # Post
//!
#![cfg_attr(doc, doc = include_str!("../docs/pictures/posting.svg"))]
//!
//! <details><summary>the same as text, with the modules</summary>
//!
//! ```text
//!   wqe::write(remote).inline(&data)                     a request: a plain value            wqe
//!       │  SendQueue::post: is there room? then the segments are stored       queue ── wqe
//!       v
//!   ┌───────┬───────┬───────┬───────┬───────┐
//!   │  WQE  │  WQE  │  new  │       │       │            the ring, in memory
//!   └───────┴───────┴───────┴───────┴───────┘
//!       │  barrier: the WQE before the record                                        arch
//!       v
//!   doorbell record: producer index                      in memory                           db
//!       │  barrier: the record before the register                                   arch
//!       v
//!   register: the WQE again (BlueFlame), or 8 bytes      in the NIC; its halves alternate    db
//! ```
//!
//! </details>
//!
//! # Complete
//!
#![cfg_attr(doc, doc = include_str!("../docs/pictures/completing.svg"))]
//!
//! <details><summary>the same as text, with the modules</summary>
//!
//! ```text
//!   ┌───────┬───────┬───────┬───────┬───────┐
//!   │  CQE  │  CQE  │  CQE  │       │       │            the ring, written by the NIC
//!   └───────┴───────┴───────┴───────┴───────┘
//!       │  CompletionQueue::poll_with: a new one by its owner bit? barrier, then a view    cq ── arch
//!       v
//!   SendQueue::complete, RecvQueue::complete             the wr_id comes back, and the room; queue
//!       │                                                done, or why not: syndrome, status  cq
//!       v
//!   doorbell record of the CQ: consumer index            after each completion               cq
//! ```
//!
//! </details>
//!
//! # In code
//!
//! ```
//! use blueflame::{CompleteError, CompletionQueue, PostError, Remote, SendQueue, Sge, WrId, transport, wqe};
//!
//! /// Sends one order at once, then many pages by one doorbell.
//! ///
//! /// # Safety
//! /// The pages stay registered, and unchanged, until the requests have completed.
//! unsafe fn post(
//!     sq: &mut SendQueue<transport::Rc>,
//!     to: Remote,
//!     order: &[u8; 32],
//!     pages: &[Sge],
//! ) -> Result<(), PostError> {
//!     sq.post(&wqe::write(to).inline(order).signaled(WrId(1)))?; // inline bytes are copied
//!     let mut batch = sq.batch();
//!     for (n, &page) in (1..).zip(pages) {
//!         let write = wqe::write(to.at(4096 * n)).gather([page]).signaled(WrId(1 + n));
//!         // SAFETY: the caller vouches for the pages.
//!         unsafe { batch.push_unchecked(&write)? };
//!     }
//!     batch.ring_doorbell(); // a batch dropped without ringing is rewound
//!     Ok(())
//! }
//!
//! /// Sends the same kind of order again and again: all but its bytes is prepared.
//! fn quote(
//!     sq: &mut SendQueue<transport::Rc>,
//!     to: Remote,
//!     orders: &[[u8; 32]],
//! ) -> Result<(), PostError> {
//!     let write = sq.prepare::<_, _, 32, 0>(&wqe::write(to).signaled(WrId(0)))?;
//!     for order in orders {
//!         sq.post(&write.inline(order))?;
//!     }
//!     Ok(())
//! }
//!
//! fn complete(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>) {
//!     cq.poll_with(16, |cqe| match sq.complete(&cqe) {
//!         Ok(done) => println!("{:?}", done.wr_id),
//!         Err(CompleteError::Failed { done, error }) => eprintln!("{:?}: {error}", done.wr_id),
//!         Err(CompleteError::Foreign(error)) => eprintln!("{error}"), // not of this queue
//!     });
//! }
//! ```
//!
//! [`SendQueue::stage`] does everything except ring the doorbell, so only the doorbell is left at the critical moment.
//!
//! Whole programs: the example `quickstart` of `blueflame-testkit` is one page that runs without a NIC. Most of
//! those in `examples/` use queues made by `verbs`, and some use DevX or the testkit.
//!
//! # The modules
//!
//! | module | contents |
//! |---|---|
//! | [`types`] | numbers that driver and device exchange, one type each |
//! | [`tagged`] | the headers of tagged messages |
//! | [`flow`] | the frames that a receiver of raw Ethernet gets |
//! | [`arch`] | barriers and register stores, one file per CPU architecture |
//! | [`transport`] | the services a queue pair can offer, as types |
//! | [`wqe`] | requests, and how they are encoded; knows no queue |
//! | [`packet`] | UDP datagrams and TCP segments as frames: made once, changed for each post |
//! | [`db`] | doorbell records and registers, and who owns a register |
//! | [`cq`] | completions: polling, reading, waiting for events |
//! | [`queue`] | send, receive and shared receive queues: indices, room, identifiers |
//! | [`memory_polling`] | waiting for a peer's WRITE by its last byte, with no completion |
//! | [`encoding`] | the bytes that peers exchange before they connect |
//! | `ByQpn` | maps a completion of a shared completion queue to its owner; feature `std` |
//! | `verbs` | setup through libibverbs and libmlx5; feature `verbs`, on by default |
//!
//! Imports go one way, from the bottom of this table to its top. With `default-features = false`, the crate is
//! `no_std`, allocates nothing, and builds without libibverbs for each architecture of [`arch`]. Feature `serde`
//! implements serde's traits for endpoints and remote addresses. Feature `tracing` emits events during setup, and none
//! on the data path.
//!
//! # Who owns a doorbell register
//!
#![cfg_attr(doc, doc = include_str!("../docs/pictures/register.svg"))]
//!
//! Two CPUs that store to one register at a time mix their WQEs, and nothing reports it. So the type of a queue states
//! the threads that may ring: [`db`].
//!
//! # What is safe
//!
//! An `unsafe` call needs a promise that no type can hold; its docs state the promise. These calls are `unsafe`:
//!
//! - **Making a queue or a register of raw parts**: `from_parts`, and `RecordlessRegister::from_raw`. You vouch for the
//!   addresses of rings and registers.
//!   `TagMatching::new` joins a list and its command queue.
//! - **Going on with the queues of a program that has ended**: `SendQueue::resume`, and `SqParts::recorded` and
//!   `CqParts::recorded`, which read doorbell records. The device still executes the other program's requests.
//! - **Posting a request that names registered memory**: `post_unchecked`, on send, receive and shared receive queues
//!   alike; `push_unchecked` and `fill_unchecked` in batches; `stage_unchecked` before a doorbell. For requests chosen at
//!   run time there are `post_erased_unchecked`, `push_erased_unchecked` and `stage_erased_unchecked`. The NIC uses that
//!   memory until the request has completed, and no borrow lasts that long. `gather_unchecked` (frames of a session)
//!   and `append_unchecked` (tagged buffers) are `unsafe` for this reason as well.
//! - **Changing a list of tags by a request**: `wqe::tag_append`, `wqe::tag_remove` and `wqe::tag_sync`, by
//!   `post_unchecked`. The list's owner counts its own requests alone.
//! - **Starting another queue by a request**: `SendQueue::enable`, `RecvQueue::enable`. The request names an index,
//!   which later stands for other work.
//! - **Retiring by a completion that does not name its queue**: `SharedRecvQueue::complete`,
//!   `SharedRecvQueue::retire`, `repost` and `TagMatching::complete`, because most completions do not name a shared
//!   receive queue; `retire_index`, with any index.
//! - **Emptying or exchanging a ring**: `SendQueue::reset`, `RecvQueue::reset`, `StridingRecvQueue::reset`,
//!   `mark_unwritten`, `carry_over`, `change_ring`. The device must not be using it.
//! - **Polling as the completion queue was created**: `CompletionQueue::compressed`, `Owned::compressed`,
//!   `with_mode_unchecked`. `CqBuilder::ignore_overrun` makes a queue that must never overrun.
//! - **Memory**: `RawMemory::new`, `StridedMemory::over`, `SlotPool::add` and `PolledMemory::from_raw` take memory that
//!   you vouch for. `register_address_space` registers everything. `Buffer::as_slice`, `Buffer::as_mut_slice` and
//!   `FrameBytes::as_slice` borrow bytes that a peer may still write.
//! - **Objects of other code**: `adopt_context`, `take_context`, `adopt_pd`, `adopt_channel`, `adopt_cq`, `adopt_srq`,
//!   `adopt_qp`, `adopt_qp_shared`; `build_shared`, whose register libibverbs may ring as well; `Owned::new`, which
//!   joins a queue and the handle that destroys it.
//! - **Single stores to a device**: `mmio_write64`, `mmio_copy64`, `mmio_copy64_wide`, `enable_pci_instructions` and
//!   [`Wide`](arch::Wide) (`Wide::load`, `Wide::store`, `Wide::mmio_store`) in [`arch`]; `DoorbellRecord::send`,
//!   `DoorbellRecord::receive`, `DoorbellRecord::store`, `Half::write`, `Half::copy`,
//!   `Half::copy_wqebb` and `Half::copy_from_ring` in [`db`] and [`db::register`]; the methods of
//!   [`BlockCopy`](arch::copy::BlockCopy).
//! - **C functions of libibverbs**: all of `verbs::sys`.
//!
//! All other calls are safe:
//!
//! - **Posting a request that names no memory**, inline or empty, and posting to a queue that owns each buffer until
//!   its request has completed ([`RecvQueue::post`], [`OwningSendQueue`](queue::OwningSendQueue)).
//! - **Polling and completing.** The crate does not trust the NIC's writes: no bytes in a CQE can make it read or write
//!   out of bounds, loop or panic. A queue gives back only requests that one of its own completions reports done
//!   ([`complete`](SendQueue::complete)).
//!
//! # Without a NIC
//!
//! [`softhca`] is a software ConnectX in a process. [`blueflame-testkit`] connects queues of this crate over it in one
//! line. `softhca-run`, of [`softhca-uverbs`], makes any RDMA program find it as `mlx5_0`.
//!
#![cfg_attr(docsrs, doc = "[`softhca`]: https://docs.rs/softhca")]
#![cfg_attr(docsrs, doc = "[`blueflame-testkit`]: https://docs.rs/blueflame-testkit")]
#![cfg_attr(docsrs, doc = "[`softhca-uverbs`]: https://docs.rs/softhca-uverbs")]
// `cargo doc --workspace` puts the crates' pages side by side.
#![cfg_attr(not(docsrs), doc = "[`softhca`]: ../softhca/index.html")]
#![cfg_attr(not(docsrs), doc = "[`blueflame-testkit`]: ../blueflame_testkit/index.html")]
#![cfg_attr(not(docsrs), doc = "[`softhca-uverbs`]: ../softhca_uverbs/index.html")]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(all(test, not(feature = "std")))]
extern crate std;

mod hint;
#[macro_use]
mod layout;

pub mod arch;
#[cfg(feature = "std")]
mod by_qpn;
pub mod cq;
pub mod db;
pub mod encoding;
pub mod flow;
pub mod memory_polling;
pub mod packet;
pub mod queue;
mod sealed;
#[cfg(feature = "serde")]
mod serialize;
mod setup;
mod shared_copy;
pub mod tagged;
pub mod transport;
pub mod types;
#[cfg(feature = "verbs")]
pub mod verbs;
pub mod wqe;

#[cfg(feature = "std")]
pub use by_qpn::ByQpn;
pub use cq::CompletionQueue;
pub use queue::{CompleteError, PostError, RecvError, RecvQueue, RetireError, SendQueue, SharedRecvQueue};
pub use setup::SetupError;
pub use types::{Lkey, Qpn, Rkey, WrId};
pub use wqe::{Remote, Sge};
