//! The uverbs front end of [`softhca`]: a shared object that, preloaded into a program, answers the system calls of
//! libibverbs, libmlx5 and librdmacm, so that these libraries, unmodified, work with the software device.
//!
//! ```text
//!  program -- libibverbs -- libmlx5 --stores--> rings, doorbell records, UAR pages (memory of the process)
//!                |open, ioctl, mmap                    ^
//!            [interpose] -- commands -- context -- device = softhca::Device on a thread -- softhca::wire
//! ```
//!
//! Each module uses modules further down the table, and none further up:
//!
//! | module | contents |
//! | --- | --- |
//! | [`interpose`], [`control`], [`sink`] | the functions that programs call: libc's, and two kinds of our own |
//! | `vfio` | PCI functions for programs that drive them, `/dev/vfio` |
//! | `netlink` | the answers of the kernel's `NETLINK_RDMA` |
//! | `rdma_cm` | the connection manager, `/dev/infiniband/rdma_cm` |
//! | `umad` | management datagrams, `/dev/infiniband/umadN` |
//! | [`commands`] | the commands of a device file |
//! | `context` | an open device file: its objects, its UAR pages |
//! | `device` | the software device with its thread, network, events and memory |
//! | `strict` | strict mode: each store to a UAR page is trapped |
//! | `launch` | the launcher's settings, and the report to it |
//! | `process` | this process and its kernel |
//! | `abi` | the structures of the kernel's interface |
//!
//! A sink ([`softhca::config::DeviceConfig::sink`]) has no thread and no network: the program steps it by calling
//! `softhca_step` ([`sink`]).
//!
//! By [`control`], a program takes a link down, makes a device fail, or makes it refuse a command. It also gets the
//! number of objects, and of commands that were carried out. [`commands::tally`] counts its commands.
//!
//! `softhca-run`, the launcher, makes a sysfs tree that lists the devices, and preloads this object. An open device is
//! a file of memory that holds its UAR pages, so that `mmap` works on it whoever calls the kernel.
//!
//! The file's descriptor can be duplicated, and passed to another process, which may import the protection domains and
//! regions that it finds there (`context::registry`). Each process has its own device. The device reaches a region of
//! another process as a debugger does (`process_vm_readv`), so it needs that permission, and the other process must
//! still exist. Atomics in such a region fail, queues of verbs cannot be shared, and a region that is destroyed is
//! destroyed in one process.
//!
//! Objects and memory of DevX stay in the process that has opened the file. Another process that imports them
//! (`mlx5dv_devx_obj_import`) maps that process's UAR pages, and shares the memory of rings and records by a file. Its
//! commands on the objects go to that process (`context::calls`). They end with `EIO` once that process has closed the
//! file; the kernel keeps objects until the last descriptor is closed. Not served are events and asynchronous queries
//! of imported objects, and new objects that name imported ones. Strict mode maps no UAR page of another process,
//! because it cannot trap the stores for it.
//!
//! Programs can send the device's commands themselves, as mailboxes (`mlx5dv_devx_*`): `commands::devx` does the work
//! of the kernel's driver before and after, and `softhca::firmware` carries them out. Each context is a user of the
//! device, which also owns verbs' objects.
//!
//! A child cannot use devices that were opened before its fork, because it has no device thread. They stay the
//! parent's: the child's commands end with `EACCES`, its doorbells with SIGSEGV, and a message says why
//! (`process::forked`). The child can close them, open its own, or start another program. A program is not kept from
//! closing a descriptor of the object by its number, or from giving the number to another file (`dup2`). Closing a
//! range of descriptors spares them.

mod abi;
mod at_fork;
pub mod commands;
mod context;
pub mod control;
mod device;
pub mod interpose;
mod launch;
mod netlink;
mod process;
mod rdma_cm;
pub mod sink;
mod strict;
mod umad;
#[cfg(target_arch = "x86_64")]
mod vfio;
#[cfg(not(target_arch = "x86_64"))]
#[path = "vfio/unsupported.rs"]
mod vfio;
