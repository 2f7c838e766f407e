//! The data path of NVIDIA/Mellanox mlx5 NICs (ConnectX-4 and later, BlueField) from user space, in plain loads and stores.
//!
//! libibverbs opens the device, registers memory, makes queues and connects them. Then `mlx5dv` tells where the rings, the
//! doorbell records and the doorbell registers are, and from there on this crate needs no library: it writes work requests
//! into the ring, rings the doorbell, and reads completions.
//!
//! # The words
//!
//! A **WQE** (work queue entry) is one request in the form the device reads: 16-byte segments for control, remote address,
//! data or inline bytes. It lies in the send queue's ring, in blocks of 64 bytes (**WQEBB**).
//!
//! A **doorbell** says that there is work. It has two parts: the *doorbell record*, a word in memory that holds how far the
//! ring is filled, and the *register*, a place in the device's address space whose store wakes it. With **BlueFlame** a copy
//! of the WQE itself is stored to the register, and the device need not fetch it.
//!
//! A **CQE** (completion queue entry) is what the device writes when a request is done: 64 bytes, of which one bit says
//! whose the entry is, flipping on each pass over the ring.
//!
//! # Post
//!
//! ```text
//!   wqe::write(remote).inline(&data)                     a request: a plain value            wqe
//!       │  SendQueue::post: is there space? then segments, stored once        queue ── wqe
//!       v
//!   ┌───────┬───────┬───────┬───────┬───────┐
//!   │  WQE  │  WQE  │  new  │       │       │            the ring, in memory
//!   └───────┴───────┴───────┴───────┴───────┘
//!       │  barrier: the WQE before the record                                        arch
//!       v
//!   doorbell record: producer index                      in memory                           db
//!       │  barrier: the record before the register                                   arch
//!       v
//!   register: the WQE again (BlueFlame), or 8 bytes      in the device; its halves alternate  db
//! ```
//!
//! # Complete
//!
//! ```text
//!   ┌───────┬───────┬───────┬───────┬───────┐
//!   │  CQE  │  CQE  │  CQE  │       │       │            the ring, written by the device
//!   └───────┴───────┴───────┴───────┴───────┘
//!       │  CompletionQueue::poll_with: ours by the owner bit? barrier, then a view         cq ── arch
//!       v
//!   SendQueue::retire, RecvQueue::retire                 the tag comes back, the space too    queue
//!       │
//!       v
//!   cqe.check()                                          done, or why not: syndrome, status  cq
//!       │
//!       v
//!   CQ doorbell record: consumer index                   after each completion               cq
//! ```
//!
//! # In code
//!
//! ```
//! use blueflame::{CompletionQueue, PostError, Remote, SendQueue, Sge, WrId, transport, wqe};
//!
//! /// Sends one order at once, then many pages by one doorbell.
//! ///
//! /// # Safety
//! /// The pages stay registered, and unchanged, until the requests have completed.
//! unsafe fn post(sq: &mut SendQueue<transport::Rc>, to: Remote, order: &[u8; 32], pages: &[Sge]) -> Result<(), PostError> {
//!     sq.post(&wqe::write(to).inline(order).signaled(WrId(1)))?; // inline bytes are copied
//!     let mut batch = sq.batch();
//!     for &page in pages {
//!         // SAFETY: the caller vouches for the pages.
//!         unsafe { batch.push_unchecked(&wqe::write(to.at(4096)).gather([page]).signaled(WrId(2)))? };
//!     }
//!     batch.ring_doorbell(); // a batch dropped without ringing is rewound
//!     Ok(())
//! }
//!
//! /// Sends the same kind of order again and again: all but its bytes is prepared.
//! fn quote(sq: &mut SendQueue<transport::Rc>, to: Remote, orders: &[[u8; 32]]) -> Result<(), PostError> {
//!     let template = sq.template(wqe::write(to).inline_len::<32>().signaled(WrId(3)))?;
//!     for order in orders {
//!         sq.fire(&template, order)?;
//!     }
//!     Ok(())
//! }
//!
//! fn complete(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>) {
//!     cq.poll_with(16, |cqe| match (sq.retire(&cqe), cqe.check()) {
//!         (Ok(done), Ok(_)) => println!("{:?}", done.wr_id),
//!         (Ok(failed), Err(error)) => eprintln!("{:?}: {error}", failed.wr_id),
//!         (Err(error), _) => eprintln!("{error}"), // not of this queue
//!     });
//! }
//! ```
//!
//! And [`SendQueue::stage`] does everything except ring the doorbell, so that only that is left at the critical moment.
//!
//! `testkit/examples/quickstart.rs` is a whole program in one page that runs without a NIC; `rc_pingpong` and `rdma_operations` are two
//! over real queues.
//!
//! # The rooms
//!
//! | module | what is in it |
//! |---|---|
//! | [`types`] | numbers that driver and device exchange, one type each |
//! | [`arch`] | barriers and register stores, one file per CPU architecture |
//! | [`transport`] | the services a queue pair can offer, as types |
//! | [`wqe`] | requests, and how they are encoded; no queue, no I/O |
//! | [`db`] | doorbell records and registers, and who owns a register |
//! | [`cq`] | completions: polling, reading, waiting for events |
//! | [`queue`] | send, receive and shared receive queues: indices, space, tags |
//! | `verbs` | setup through libibverbs and libmlx5; feature `verbs`, on by default |
//!
//! Dependencies go one way, from the bottom of this table to its top. All but `verbs` is `no_std`, allocates nothing, and
//! builds for every architecture without libibverbs (`default-features = false`).
//!
//! # What is safe
//!
//! Making a queue of raw parts is `unsafe` (`from_parts`): it takes rings and registers by address. Posting a request that
//! names registered memory is `unsafe` (`post_unchecked` and its like, and receives): the device uses that memory until the
//! request has completed, and no borrow lasts that long. A request that names none, inline or empty, is posted safely; and
//! one whose buffer the queue owns until it has completed ([`OwningSendQueue`](queue::OwningSendQueue),
//! [`OwningRecvQueue`](queue::OwningRecvQueue)).
//!
//! Everything else is safe, and does not trust what the device writes: no bytes in a CQE can make it read or write out of
//! bounds, loop or panic. A queue takes back only what a completion of its own says is done
//! ([`retire`](SendQueue::retire)); an index from elsewhere takes an `unsafe` door.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(all(test, not(feature = "std")))]
extern crate std;

pub mod arch;
pub mod cq;
pub mod db;
pub mod queue;
pub mod transport;
pub mod types;
#[cfg(feature = "verbs")]
pub mod verbs;
pub mod wqe;

pub use cq::CompletionQueue;
pub use queue::{PostError, RecvError, RecvQueue, RetireError, SendQueue, SharedRecvQueue};
pub use types::{Lkey, Qpn, Rkey, WrId};
pub use wqe::{Remote, Sge};
