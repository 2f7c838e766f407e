//! The PCI store instructions of s390x (z15 and later). Code for machines that lack them is elsewhere.
use core::arch::asm;

/// `pcistgi`: stores the low 8 bytes of `value` at the PCI I/O address `dst` (rdma-core `util/s390_mmio_insn.h`,
/// `.insn rre,0xb9d40000`). The second operand is an even/odd register pair, address and length; r2 and r3 here.
///
/// # Safety
///
/// The machine has the instruction, and `dst` is an 8-byte aligned address in a mapped PCI register page.
#[inline(always)]
pub(super) unsafe fn pci_store(dst: *mut u64, value: u64) {
    // SAFETY: the caller vouches for instruction and address. The pair is r2/r3, the value r4; the condition code
    // changes and is not promised.
    unsafe {
        asm!(
            ".insn rre,0xb9d40000,%r4,%r2",
            inout("r2") dst => _,
            inout("r3") 8u64 => _,
            in("r4") value,
            options(nostack)
        );
    }
}

/// `pcistbi`: stores 64 bytes from `src` at the PCI I/O address `dst` as one block (rdma-core `util/s390_mmio_insn.h`,
/// `.insn rsy,0xeb00000000d4`).
///
/// # Safety
///
/// The machine has the instruction; `dst` is a 64-byte aligned address in a mapped PCI register page, so the block does
/// not cross a 4096-byte boundary; `src` is readable for 64 bytes and 8-byte aligned.
#[inline(always)]
pub(super) unsafe fn pci_store_block(dst: *mut u64, src: *const u64) {
    // SAFETY: the caller vouches for instruction and addresses. r2 holds the length, r3 the destination, r4 the source;
    // the condition code changes and is not promised.
    unsafe {
        asm!(
            ".insn rsy,0xeb00000000d4,%r2,%r3,0(%r4)",
            inout("r2") 64u64 => _,
            in("r3") dst,
            in("r4") src,
            options(nostack)
        );
    }
}
