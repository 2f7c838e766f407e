//! `softhca`: a software mlx5 device. A ConnectX that runs inside a process, for machines without a NIC.
//!
//! It reads WQEs, moves data and writes CQEs as a ConnectX does, from the layouts of the PRM. It shares no code, struct
//! or offset with any driver, so that a driver's mistake cannot cancel out against its own.
//!
//! # The device
//!
#![cfg_attr(doc, doc = include_str!("../pictures/device.svg"))]
//!
//! And by modules:
//!
//! ```text
//!   a driver: blueflame, libmlx5, your own code
//!      │ WQEs, doorbell records    │ doorbells             ▲ CQEs             ▲ events
//!      ▼                           ▼                       │                  │
//! ┌─ rings and buffers ──┐  ┌─ UAR pages ─┐        ┌─ rings of CQs ─┐         │
//! └────────▲─────────────┘  └──────┬──────┘        └───────▲────────┘         │
//! ═════════│═══ device ════════════│═══════════════════════│══════════════════│═════════
//!   memory: DMA, keys            uar: doorbells           cq: CQEs, arming    event
//!          ▲                       ▼                       ▲
//!          │             ┌──────── qp ─────────────────────┴─────┐
//!          ├── wqe ────> │ requester ── request packets ──> ...  │
//!          └── recv ───> │ responder <── request packets ── ...  │
//!                        └──────────▲────────────────────────────┘
//!                                   ▼ packet
//!                                 wire ──────────────> other devices: in the process, in other processes, on hosts
//! ```
//!
//! The first lines of each module state its task, and the knowledge that must stay out of it. Modules that only the
//! device itself needs (`cq`, `nic`, `recv`, `resources`, `steering`, `table` and others) are private.
//!
//! # Ways to use it
//!
//! | way | for | start at |
//! |---|---|---|
//! | embedded | tests, fuzzing, examples: the caller owns the device and steps it, so every run is the same | [`embedded`] |
//! | threaded | a device with a thread of its own: the program polls as with a NIC | [`runner`] |
//! | preloaded | unmodified libibverbs programs: the crate `softhca-uverbs` plays the kernel | its launcher, `softhca-run` |
//! | by VFIO | your own driver of a PCI function: the launcher plays the kernel's VFIO | its launcher, `softhca-run --vfio` |
//! | in a guest | Linux' own driver in a virtual machine: the crate `softhca-vfio-user` shows a PCI function | [`pci`], and its server, `softhca-vfio-user` |
//!
//! The core does no I/O and starts no thread. Its three connections are traits or queues. The core reaches host memory
//! through [`memory::HostMemory`] and other devices through [`wire::Wire`]. Doorbells come in by
//! [`device::Device::doorbell`], from the UAR pages or from the doorbell records ([`config::DoorbellSource`]). Objects
//! are created from contexts ([`context`]), as a driver's commands give them.
//!
//! # A driver in thirty lines
//!
//! A driver writes a WQE to the ring, then the doorbell record, then the register. The device answers with a CQE:
//!
//! ```
//! use softhca::embedded::{ConnectOptions, CqOptions, EmbeddedDevice, QpOptions};
//!
//! // What a kernel and libibverbs do: a CQ of 16 CQEs, a reliable connection, ready to send (here to itself).
//! let mut hca = EmbeddedDevice::standalone()?;
//! let cq = hca.create_cq(CqOptions::new(16))?;
//! let qp = hca.create_qp(QpOptions::rc(cq.cqn))?;
//! let itself = hca.endpoint(qp.qpn);
//! hca.connect_to(qp.qpn, &itself, &ConnectOptions::default())?;
//!
//! // A NOP, the smallest WQE: the control segment alone. WQE index 0, opcode 0, QPN, 1 DS, "completion wanted".
//! let mut wqe = [0; 16];
//! wqe[4..8].copy_from_slice(&(qp.qpn << 8 | 1).to_be_bytes());
//! wqe[11] = 0x08;
//! let doorbell = u64::from_ne_bytes(wqe[..8].try_into()?);
//! // SAFETY: the parts are valid as long as `hca` lives, and nobody else uses them.
//! unsafe {
//!     qp.sq.buf.cast::<[u8; 16]>().write(wqe); // the ring's first WQEBB
//!     qp.dbrec.add(1).write(1_u32.to_be()); // the send queue's producer index: 1 WQEBB
//!     qp.bf_reg.cast::<u64>().write_volatile(doorbell); // the WQE's first 8 bytes ring the doorbell
//! }
//! assert!(hca.run_until_idle());
//!
//! // SAFETY: the parts are valid as long as `hca` lives, and nobody else uses them.
//! let cqe = unsafe { cq.buf.cast::<[u8; 64]>().read() };
//! assert_eq!(cqe[63], 0x00, "opcode 0: a request is done; owner bit 0: first pass over the ring");
//! assert_eq!(cqe[57..60], qp.qpn.to_be_bytes()[1..]);
//! assert!(hca.complaints().is_empty(), "the driver made no mistake that the device can see");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//!
//! It does not model the speed of a NIC: it works as fast as the CPU that steps it. Slow links ([`wire::slow`]), timers
//! and timed sends follow its clock. It cannot show the effects of a missing barrier or of write combining on a PCIe
//! device. [`embedded`] has no calls for rules that steer Ethernet frames: they come by firmware commands
//! ([`firmware`]), into which `softhca-uverbs` turns the flows of verbs. `docs/firmware.md` of the repository lists the
//! capabilities of a ConnectX that it has and those that it lacks. A test compares that list with the answers to
//! `QUERY_HCA_CAP`.

mod busy_table;
pub mod complaint;
pub mod config;
pub mod context;
mod cq;
pub mod crypto;
pub mod device;
pub mod embedded;
pub mod eq;
pub mod error;
pub mod ethernet;
pub mod event;
pub mod explanation;
pub mod faults;
pub mod firmware;
pub mod gsi;
mod listed;
pub mod memory;
mod nic;
pub mod notify;
pub mod packet;
pub mod pci;
pub mod qp;
pub mod query;
mod recv;
mod resources;
pub mod runner;
mod runs;
pub mod script;
mod steering;
mod table;
mod thread;
pub mod uar;
pub mod wire;
pub mod wqe;
