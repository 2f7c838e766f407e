//! Objects on a device: libmlx5 as installed, commands by this crate, the data path of `blueflame` over what they made.
//!
//! Needs an mlx5 device with DevX; the software one will do: `./run test` runs it under `softhca-run`.

mod capabilities;
mod completion_queues;
#[path = "../../../tests/verbs/conversation.rs"]
mod conversation;
mod copies;
mod cross_channel;
mod datagrams;
mod encryption;
mod end;
mod errors;
mod events;
mod every_command;
mod foreign;
mod ground;
mod memory;
mod messages;
mod objects;
mod receivers;
#[path = "../failing_steps/refuse.rs"]
mod refuse;
mod shared;
mod signatures;
mod states;
mod steering;
mod tags;
mod timestamps;
mod wqe_signatures;
