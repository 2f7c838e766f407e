//! Barriers towards a DMA device, and stores to its registers: one file per CPU architecture, with the same names in
//! each. It does not depend on queues or CQEs, and sees a WQE only as blocks of 16 and 64 bytes.
//!
//! | name | where | promise |
//! |---|---|---|
//! | [`to_device`] | after the WQE, before the doorbell record | a device that sees the record sees the WQE |
//! | [`mmio_wc_start`] | after the record, before a store to the register | that store reaches the device after all earlier stores |
//! | [`mmio_flush_writes`] | after a store to the register | the store leaves the CPU now, and no later one combines with it |
//! | [`mmio_wc_hint`] | after a store to the register, where no barrier is wanted | none; it hints to the CPU to send full buffers soon |
//! | [`from_device`] | after the owner bit, before the rest of the CQE | later loads see everything that the device stored before that bit |
//! | [`from_device_conservative`] | after the owner bit, before the rest of the CQE | that of `from_device`, by rdma-core's instruction where `from_device` is lighter |
//! | [`mmio_write64`] | an 8-byte doorbell | one store of 8 bytes (on 32-bit CPUs two of 4, low address first, under a lock) |
//! | [`mmio_copy64`], [`mmio_copy64_wide`] | a copy of one WQEBB to BlueFlame | 64 bytes by consecutive stores from CPU registers, ascending addresses |
//!
//! Each barrier has an example of what must hold before and after it. [`copy`] has other instructions for the last
//! row; a program chooses one when it starts.
//!
//! `to_device`, `from_device` and the `mmio_` names mean the same as in rdma-core's `util/udma_barrier.h` and
//! `util/mmio.h`; `mmio_wc_hint` and `from_device_conservative` are this crate's. Each architecture's file cites
//! rdma-core's instruction, or Linux' on 32-bit Arm, which rdma-core lacks. It says where this crate differs and why.
//! The barriers order one CPU's accesses for a device; between threads use [`core::sync::atomic`].
//!
//! # Why assembly, and why without `nomem`
//!
//! An `asm!` block without the `nomem` option may read and write any memory whose address has escaped. So the compiler
//! moves no load or store of such memory across it: every barrier here is a compiler barrier first. With `nomem` the
//! compiler could move them, although the instruction stayed in place. `preserves_flags` and `nostack` concern flags
//! and stack only. `tests/arch_asm.rs` compiles these very files for every architecture and compares the instructions
//! with a table.
//!
//! # Adding an architecture
//!
//! Write a file with the same names, add it to the list below and to `tests/arch_asm/expected.txt`.

pub mod copy;

/// Declares one architecture's module and re-exports its barriers under the common names. The documentation here
/// states each barrier's purpose and the conditions before and after it. The architecture's file states the
/// instruction and the reason.
macro_rules! architecture {
    ($name:ident, $cfg:meta) => {
        #[cfg($cfg)]
        mod $name;

        /// The WQE is complete before the index says so.
        ///
        /// ```
        /// # use blueflame::arch;
        /// # let (mut wqe, mut record) = ([0u64; 8], 0u32);
        /// // 1. The whole WQE, in ordinary memory.
        /// wqe[0] = 0x0800_0000_0000_002a;
        /// // 2. A device that sees the index below sees the WQE above.
        /// arch::to_device();
        /// // 3. From here on the device may read the WQE, doorbell or none.
        /// record = 1u32.to_be();
        /// # assert_ne!((wqe[0], record), (0, 0));
        /// ```
        #[cfg($cfg)]
        pub use $name::to_device;

        /// The owner bit is read before the rest of the CQE, and before the data that the CQE reports.
        ///
        /// ```
        /// # use blueflame::arch;
        /// # let (op_own, byte_cnt, buffer) = (1u8, 1u32, [7u8; 64]);
        /// // 1. The device stored this byte last.
        /// if op_own & 1 == 1 {
        ///     // 2. Loads below see what it stored before that byte.
        ///     arch::from_device();
        ///     // 3. The length and the data of this message, not those of the ring's last pass.
        ///     let data = &buffer[..byte_cnt as usize];
        /// #   assert_eq!(data, [7]);
        /// }
        /// ```
        #[cfg($cfg)]
        pub use $name::from_device;

        /// For the same place as [`from_device`], with the same promise.
        #[cfg($cfg)]
        pub use $name::from_device_conservative;

        /// The record holds the index before the register is stored to.
        ///
        /// ```
        /// # use blueflame::arch;
        /// # let mut record = 0u32;
        /// # let mut page = [0u64; 64];
        /// # let register = page.as_mut_ptr();
        /// // 1. The index, in ordinary memory.
        /// record = 1u32.to_be();
        /// // 2. The device that the store below wakes sees the record above, and the WQE before it.
        /// arch::mmio_wc_start();
        /// // 3. Wakes the device, which reads the record. SAFETY: 8 bytes at an aligned address.
        /// unsafe { arch::mmio_write64(register, 0x2a) };
        /// # assert_eq!((record, page[0]), (1u32.to_be(), 0x2a));
        /// ```
        #[cfg($cfg)]
        pub use $name::mmio_wc_start;

        /// The doorbell is on its way before anything else is stored to the register.
        ///
        /// ```
        /// # use blueflame::arch;
        /// # let mut page = [0u64; 64];
        /// # let register = page.as_mut_ptr();
        /// // 1. May still be in a buffer of this CPU. SAFETY: 8 bytes at an aligned address; so below.
        /// unsafe { arch::mmio_write64(register, 1) };
        /// // 2. The CPU sends the buffer. Another CPU may ring from here on.
        /// arch::mmio_flush_writes();
        /// // 3. Reaches the device second, and as a store of its own.
        /// unsafe { arch::mmio_write64(register, 2) };
        /// # assert_eq!(page[0], 2);
        /// ```
        #[cfg($cfg)]
        pub use $name::mmio_flush_writes;

        /// Promises nothing: it hints to the CPU to send a buffer that the copy has filled soon, where the CPU has
        /// such a hint.
        ///
        /// ```
        /// # use blueflame::arch;
        /// # #[repr(align(64))]
        /// # struct Page([u64; 64]);
        /// # let mut page = Page([0; 64]);
        /// # let (register, wqe) = (page.0.as_mut_ptr(), [7u64; 8]);
        /// // 1. Fills a buffer of 64 bytes. SAFETY: 64 bytes at an aligned address.
        /// unsafe { arch::mmio_copy64(register, &wqe) };
        /// // 2. The CPU gains nothing by keeping it.
        /// arch::mmio_wc_hint();
        /// # assert_eq!(page.0[7], 7);
        /// ```
        #[cfg($cfg)]
        pub use $name::mmio_wc_hint;
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
architecture!(nvptx64, target_arch = "nvptx64");

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
    target_arch = "nvptx64",
)))]
compile_error!("blueflame does not know this CPU's barriers towards a DMA device: add a file to src/arch");

// `Wide` has its words in the order of memory, and vectors of this target have not.
#[cfg(all(target_arch = "aarch64", target_endian = "big"))]
compile_error!("blueflame does not support big-endian AArch64");

#[cfg(target_arch = "s390x")]
mod mio;
#[cfg(target_arch = "s390x")]
mod pci;
#[cfg(target_arch = "s390x")]
pub(crate) use mio::pci_instructions;
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

pub(crate) mod ds;
mod wide;
pub use wide::{Wide, mmio_copy64_wide};
mod prefetch;
pub use prefetch::{prefetch_read, prefetch_write};

#[cfg(test)]
mod tests;
