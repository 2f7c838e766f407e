//! Send queues on memory that stands in for a device: what lies in the ring, the doorbell record and the register.
mod atomics;
mod cross_channel;
mod datagrams;
mod dynamic;
mod encryption;
mod ethernet;
mod golden;
mod key_lists;
mod memcpy;
mod oracle;
mod properties;
mod register;
mod retire;
mod rig;
mod signatures;
mod window;
mod xrc;
