//! The uverbs front end of [`softhca`]: a shared object that, preloaded into a program, answers the system calls of
//! libibverbs and libmlx5, so that both, unmodified, work with the software device.
//!
//! ```text
//!  program -- libibverbs -- libmlx5 --stores--> rings, doorbell records, UAR pages (memory of the process)
//!                |open, ioctl, mmap                    ^
//!            [interpose] -- [ioctl] -- objects -- [hca] = softhca::Device on a thread -- softhca::wire::shm
//! ```
//!
//! A sink ([`softhca::config::DeviceConfig::sink`]) has no thread and no network: the program steps it by calling
//! `softhca_step` ([`sink`]).
//!
//! [`control`] has what a program can have happen to a device: a link that goes down, a failure. [`tally`] counts its commands.
//!
//! `softhca-run`, the launcher, makes a sysfs tree that says that there are devices and preloads this object.
//! An open device is a file of memory that holds its UAR pages, so that `mmap` works on it whoever calls the kernel.
//!
//! Its descriptor can be duplicated, and passed to another process, which may import the protection domains and regions that
//! it finds there (`registry`). Each process has a device of its own; that of the one reaches a region of the other as a
//! debugger does (`process_vm_readv`), so it must be permitted to, and the other one must still be there. Atomics in such a
//! region fail, queues cannot be shared, and an object that is destroyed is destroyed in one process.
//!
//! What cannot be taken over: devices opened before a fork (the child has no device thread). The child can close them, or start
//! another program: they stay the parent's.

mod abi;
mod abi_mlx5;
mod abi_names;
mod advise;
mod ah;
mod cables;
mod context;
pub mod control;
mod cq;
mod device;
mod device_file;
mod dma;
mod errno;
mod events;
mod fds;
mod hca;
pub mod interpose;
mod ioctl;
mod memlock;
mod memory;
mod mr;
mod port;
mod qp;
mod qp_state;
pub mod rdma_cm;
mod registry;
mod report;
mod shared_file;
pub mod sink;
mod srq;
#[cfg(target_arch = "x86_64")]
mod strict;
#[cfg(not(target_arch = "x86_64"))]
#[path = "strict_unsupported.rs"]
mod strict;
pub mod tally;
mod uar;
mod user;
