//! The transport engine, as two hosts see it: rings in, CQEs and memory out.
//!
//! The rules of transports and operations belong here. Frames and steering belong in `ethernet`, commands in the unit
//! tests of `src/firmware`.

mod arena;
mod atomics;
mod connecting;
mod contexts;
mod copies;
mod cqe;
mod cross_channel;
mod datagrams;
mod dynamic;
mod dynamic_faults;
mod every;
mod explanations;
mod failures;
mod hostile;
mod lab;
mod late_writes;
mod loss;
mod multicast;
mod net;
mod operations;
mod options;
mod out_of_order;
mod port_counters;
mod raw_packets;
mod responses;
mod roce;
mod script;
mod segments;
mod sink;
mod states;
mod store_order;
mod streams;
mod tags;
mod tags_faults;
mod tap;
mod unreliable;
mod wr;
mod xrc;
