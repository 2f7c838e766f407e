//! The commands of a device file, as a kernel answers them: one file for each object. The device carries the command
//! out. No command knows its table.

mod access;
mod advise;
mod ah;
mod counters;
mod cq;
mod data_direct;
mod dct;
mod device;
mod devx;
mod dm;
mod dma_handle;
mod event_file;
mod flow;
mod flow_action;
mod flow_matcher;
mod flow_spec;
mod ioctl;
pub(crate) mod mcast;
mod mr;
mod mtu;
mod mw;
mod pacing;
mod pair_rate;
mod pd;
mod port;
mod qp;
mod qp_kind;
mod qp_state;
mod raw_receiver;
mod request;
mod rss;
mod srq;
pub mod tally;
mod uar;
mod wq;
mod wq_table;
mod xrc_domain;
mod xrc_target;

pub(crate) use ioctl::run;
