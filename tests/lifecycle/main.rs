//! The life of a queue pair on a device: what it takes and when, its end, its second life, whose it is, and what is said when
//! something is wrong.
//!
//! Needs an mlx5 device; the software one will do: `./run test` runs it under `softhca-run`.

mod adopted;
mod end;
mod foreign;
mod handshake;
mod modes;
mod states;
mod teardown;
mod texts;
