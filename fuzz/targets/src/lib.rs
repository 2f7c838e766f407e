//! The work of the fuzz targets on their input, apart from libFuzzer, so that the repository's tests can also run the
//! seeds.

#[macro_use]
pub mod encode;
pub mod cable;
mod copies;
pub mod cqe_parse;
mod cqe_ring;
mod datagrams;
pub mod decode;
pub mod device_fetch;
pub mod devx_outbox;
pub mod dynamic;
pub mod firmware;
mod formats;
pub mod frames;
pub mod guard;
pub mod hostile;
mod keys;
pub mod ledger;
pub mod memory;
pub mod mini_cqe;
pub mod network;
pub mod ownership;
pub mod packets;
pub mod page;
pub mod pci_function;
pub mod queue_ops;
pub mod request;
pub mod sessions;
pub mod striding;
mod tags;
mod waits;
pub mod wqe_build;
