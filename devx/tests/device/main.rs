//! Objects on a device: this crate sends the commands through the installed libmlx5, and `blueflame` drives the queues.
//!
//! Commands that a device carries out belong here. A function without a kernel driver belongs in `vfio`, cleaning up
//! after failures in `failing_steps`.
//!
//! Needs an mlx5 device with DevX. `./run test` starts the software one so:
//!
//! ```text
//! softhca-run --
//! softhca-run --generation connectx6dx -- compressed_completions
//! softhca-run --link ethernet --generation connectx7 --
//! softhca-run --link ethernet --generation connectx7 --clock real-time --
//! softhca-run --link ethernet --generation connectx7 --clock both -- clock
//! softhca-run --generation connectx8 -- recordless messages
//! softhca-run --generation connectx8 --strict -- recordless
//! softhca-run --strict -- collapsed
//! softhca-run --bond -- states
//! softhca-run --link ethernet --inline-headers l2 -- headers_inline
//! softhca-run --link ethernet --inline-headers ip -- headers_inline
//! softhca-run --link ethernet --inline-headers tcp_udp -- headers_inline
//! softhca-run --devices 3 --link infiniband -- foreign
//! softhca-run --devices 3 --link ethernet -- foreign
//! softhca-run --no-write-combining --
//! softhca-run --generation connectx7 --faults drop=20,dup=10,reorder=10,seed=1 -- completion_queues
//! softhca-run --generation connectx7 --strict -- completion_queues
//! ```

mod block_signatures;
mod capabilities;
mod carried_out;
mod collapsed;
mod completion_queues;
#[path = "../../../tests/verbs/conversation.rs"]
mod conversation;
mod copies;
mod cross_channel;
mod datagrams;
mod dma_buf;
mod encryption;
mod end;
mod errors;
mod events;
mod every_command;
mod exported;
mod foreign;
mod ground;
#[path = "../failing_steps/kernel.rs"]
mod kernel;
mod lost_answers;
mod memory;
mod messages;
mod objects;
mod pacing;
mod receivers;
mod recordless;
mod shared;
mod states;
mod steering;
mod tags;
mod timestamps;
mod wqe_signatures;
