//! Ordering towards a DMA device, and stores to its registers: one file per CPU architecture, the same names in each.
//!
//! | name | place | promise |
//! |---|---|---|
//! | [`to_device`] | descriptors written, before the doorbell record | the device sees the earlier stores if it sees a later one |
//! | [`from_device`] | an owner bit or a valid bit seen, before the rest is read | later loads see what the device stored before that bit |
//! | [`from_device_conservative`] | the same place | the same, by rdma-core's instruction where `from_device` is lighter |
//! | [`mmio_wc_start`] | before a store to write-combining MMIO | that store reaches the device after all earlier stores |
//! | [`mmio_flush_writes`] | after a store to write-combining MMIO | it leaves the CPU now, and nothing later combines with it |
//! | [`mmio_wc_hint`] | after a BlueFlame copy, where no barrier is wanted | none: full buffers leave soon, where the CPU can be told |
//! | [`mmio_write64`] | an 8-byte doorbell | one 8-byte store (on 32-bit CPUs two of 4 bytes, low address first, under a lock) |
//! | [`mmio_copy64`], [`mmio_copy64_packed`] | a BlueFlame block | 64 bytes by consecutive stores from registers, ascending addresses |
//!
//! [`copy`] has other instructions for the last of them, chosen when a program starts.
//!
//! The meanings are those of rdma-core's `util/udma_barrier.h` and `util/mmio.h`; each architecture's file cites the
//! instruction that rdma-core uses there and says where and why this crate differs. These are barriers between one CPU
//! and a device: for other threads use [`core::sync::atomic`].
//!
//! # Why assembly, and why without `nomem`
//!
//! An `asm!` block without the `nomem` option may read and write any memory whose address has escaped, so the compiler
//! moves no load or store of such memory across it: every barrier here is a compiler barrier first. `nomem` would take
//! that away while the instruction stayed in place. `preserves_flags` and `nostack` only speak of flags and stack.
//! `tests/arch_asm.rs` compiles these very files for every architecture and compares the instructions with a table.
//!
//! # Adding an architecture
//!
//! Write a file with the same names, add it to the list below and to `tests/arch_asm/expected.txt`.

pub mod copy;

/// Declares one architecture's module and re-exports its barriers under the common names.
macro_rules! architecture {
    ($name:ident, $cfg:meta) => {
        #[cfg($cfg)]
        mod $name;
        #[cfg($cfg)]
        pub use $name::{
            from_device, from_device_conservative, mmio_flush_writes, mmio_wc_hint, mmio_wc_start, to_device,
        };
    };
}

architecture!(x86_64, target_arch = "x86_64");
architecture!(x86, target_arch = "x86");
architecture!(aarch64, target_arch = "aarch64");
architecture!(arm, target_arch = "arm");
architecture!(powerpc64, target_arch = "powerpc64");
architecture!(powerpc, target_arch = "powerpc");
architecture!(riscv64, target_arch = "riscv64");
architecture!(s390x, target_arch = "s390x");
architecture!(loongarch64, target_arch = "loongarch64");
architecture!(mips64, target_arch = "mips64");
architecture!(sparc64, target_arch = "sparc64");

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "powerpc64",
    target_arch = "powerpc",
    target_arch = "riscv64",
    target_arch = "s390x",
    target_arch = "loongarch64",
    target_arch = "mips64",
    target_arch = "sparc64",
)))]
compile_error!("blueflame does not know this CPU's barriers towards a DMA device: add a file to src/arch");

#[cfg(target_arch = "s390x")]
mod mio;
#[cfg(target_arch = "s390x")]
pub use mio::{enable_pci_instructions, mmio_copy64, mmio_write64};

#[cfg(target_arch = "aarch64")]
pub use aarch64::mmio_copy64;

#[cfg(not(target_arch = "s390x"))]
mod store;
#[cfg(not(any(target_arch = "s390x", target_arch = "aarch64")))]
pub use store::mmio_copy64;
#[cfg(not(target_arch = "s390x"))]
pub use store::mmio_write64;

mod packed;
pub use packed::{Packed, mmio_copy64_packed};
mod prefetch;
pub use prefetch::{prefetch_read, prefetch_write};

#[cfg(test)]
mod tests;
