//! The Ethernet side of the firmware: queues, RSS and rules made by mailboxes, and frames that go their ways between
//! two devices. Mailboxes are composed by the names of Linux' `mlx5_ifc.h` from the table of facts
//! (`devx/prm/mlx5_ifc.txt`), and by no layout of the firmware's own.
//!
//! Frames, steering and their queues belong here. RoCE transports belong in `engine`.

#[path = "../engine/arena.rs"]
mod arena;
mod clock_queue;
mod frame;
mod hostile;
mod large;
mod linux;
mod loopback;
mod mailbox;
mod merging;
mod modified;
mod multi_packet;
mod node;
mod pacing;
mod refused;
mod rss;
mod states;
mod strided_sessions;
mod striding;
mod transfer;
mod tunnels;
